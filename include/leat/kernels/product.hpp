#pragma once
// The product of two matrices, element by element: where no library and no SIMD registers multiply.

#include <leat/kernels/cluster/lanes.hpp>

#include <cstdint>

namespace leat::kernels {

/// Item i: one element of C = alpha scale op(A) op(B) + beta C, summed in order. `Size` is the type of sizes and positions.
template <class T, class Size = std::int64_t>
struct product_items {
  const T* a;
  const T* b;
  T* c;
  const T* scale;
  Size n, k, a_row, a_column, b_row, b_column, ldc;
  T alpha, beta;
  constexpr void operator()(std::int64_t item) const { element(static_cast<Size>(item / n), static_cast<Size>(item % n)); }
  constexpr void element(Size row, Size column) const {
    using math = typename scalar_lanes::template math<T>;
    T sum = T(0);
    for (Size i = 0; i < k; ++i)
      sum = math::add(sum, math::multiply(a[row * a_row + i * a_column], b[i * b_row + column * b_column]));
    sum = math::multiply(sum, scale != nullptr ? math::multiply(alpha, *scale) : alpha);
    T& to = c[row * ldc + column];
    to = beta == T(0) ? sum : math::add(sum, math::multiply(beta, to));
  }
};

template <class T, class Size>
constexpr product_items<T, Size> product_of(bool ta, bool tb, Size n, Size k, T alpha, const T* scale, const T* a, Size lda, const T* b,
                                            Size ldb, T beta, T* c, Size ldc) {
  return {a, b, c, scale, n, k, ta ? Size(1) : lda, ta ? lda : Size(1), tb ? Size(1) : ldb, tb ? ldb : Size(1), ldc, alpha, beta};
}

}  // namespace leat::kernels
