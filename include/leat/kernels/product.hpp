#pragma once
// The product of two matrices, element by element: where no library and no SIMD registers multiply.

#include <leat/kernels/cluster/lanes.hpp>

#include <cstdint>
#include <utility>

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
  constexpr void operator()(std::int64_t item) const {
    elements<false>(static_cast<Size>(item / n), static_cast<Size>(item % n), std::integer_sequence<int, 0>{});
  }
  /// Several elements at once, with their sums in registers: neighbors in a row, or in a column if `Down`.
  template <bool Down, int... E>
  [[gnu::always_inline]] constexpr void elements(Size row, Size column, std::integer_sequence<int, E...>) const {
    using math = typename scalar_lanes::template math<T>;
    T sum[]{(static_cast<void>(E), T(0))...};
    const T* x = a + row * a_row;
    const T* y = b + column * b_column;
    for (Size i = 0; i < k; ++i, x += a_column, y += b_row)
      ((sum[E] = math::add(sum[E], math::multiply(x[Down ? E * a_row : 0], y[Down ? 0 : E * b_column]))), ...);
    (finish(c[(row + (Down ? E : 0)) * ldc + column + (Down ? 0 : E)], sum[E]), ...);
  }

 private:
  [[gnu::always_inline]] constexpr void finish(T& to, T sum) const {
    using math = typename scalar_lanes::template math<T>;
    sum = math::multiply(sum, scale != nullptr ? math::multiply(alpha, *scale) : alpha);
    to = beta == T(0) ? sum : math::add(sum, math::multiply(beta, to));
  }
};

template <class T, class Size>
constexpr product_items<T, Size> product_of(bool ta, bool tb, Size n, Size k, T alpha, const T* scale, const T* a, Size lda, const T* b,
                                            Size ldb, T beta, T* c, Size ldc) {
  return {a, b, c, scale, n, k, ta ? Size(1) : lda, ta ? lda : Size(1), tb ? Size(1) : ldb, tb ? ldb : Size(1), ldc, alpha, beta};
}

}  // namespace leat::kernels
