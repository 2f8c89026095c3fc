#pragma once
// Products of stacks of matrices, as work items for any device: each item is one element of the result. On the CPU each matrix is a product
// of its own (cpu/stacked_matmul.hpp).

#include <leat/kernels/whole_array.hpp>
#include <leat/ops/stacked_matmul.hpp>

namespace leat::kernels {

/// The matrices of two stacks [..., m, k] and [..., k, n] whose axes before the last two broadcast.
struct matrix_stacks {
  int rank = 0;  // of the stack of results
  std::int64_t outer[max_rank]{}, step_a[max_rank]{}, step_b[max_rank]{};
  std::int64_t count = 1, m = 0, k = 0, n = 0, lda = 0, ldb = 0;
  bool ta = false, tb = false;

  /// Of arrays of these shapes, which fit.
  constexpr matrix_stacks(const std::int64_t* a, int rank_a, const std::int64_t* b, int rank_b, bool transpose_a, bool transpose_b)
      : rank(std::max(rank_a, rank_b) - 2), lda(a[rank_a - 1]), ldb(b[rank_b - 1]), ta(transpose_a), tb(transpose_b) {
    m = a[rank_a - (ta ? 1 : 2)];
    k = a[rank_a - (ta ? 2 : 1)];
    n = b[rank_b - (tb ? 2 : 1)];
    std::int64_t step = m * k, other_step = k * n;
    for (int i = 1; i <= rank; ++i) {
      const std::int64_t x = i <= rank_a - 2 ? a[rank_a - 2 - i] : 1, y = i <= rank_b - 2 ? b[rank_b - 2 - i] : 1;
      outer[rank - i] = x == 1 ? y : x;
      step_a[rank - i] = x == 1 ? 0 : step;
      step_b[rank - i] = y == 1 ? 0 : other_step;
      step *= x;
      other_step *= y;
      count *= outer[rank - i];
    }
  }
  /// The first element of the matrices of product `at`.
  constexpr std::int64_t place(const std::int64_t* steps, std::int64_t at) const {
    std::int64_t found = 0;
    for (int i = rank - 1; i >= 0; --i) {
      found += at % outer[i] * steps[i];
      at /= outer[i];
    }
    return found;
  }
};

/// Item k: element k of all products, summed in order.
template <class T>
struct stacked_products_kernel {
  static constexpr bool may_refuse = false;
  const T* a;
  const T* b;
  T* out;
  matrix_stacks s;
  stacked_products_kernel(const T* left, const T* right, T* to, const matrix_stacks& stacks) : a(left), b(right), out(to), s(stacks) {}
  stacked_products_kernel(void* const* p, const step_numbers& n)
      : a(static_cast<const T*>(p[0])), b(static_cast<const T*>(p[1])), out(static_cast<T*>(p[2])),
        s(n.extents(0) + 1, n.rank(0), n.extents(1) + 1, n.rank(1), n.attribute(0) != 0, n.attribute(1) != 0) {}
  std::int64_t items() const { return s.count * s.m * s.n; }
  std::int64_t work() const { return s.k + 1; }
  constexpr void operator()(std::int64_t item) const {
    const std::int64_t at = item / (s.m * s.n), row = item / s.n % s.m, column = item % s.n;
    const T* const x = a + s.place(s.step_a, at) + row * (s.ta ? 1 : s.lda);
    const T* const y = b + s.place(s.step_b, at) + column * (s.tb ? s.ldb : 1);
    const std::int64_t along = s.ta ? s.lda : 1, down = s.tb ? 1 : s.ldb;
    T sum = T(0);
    for (std::int64_t i = 0; i < s.k; ++i) sum = scalar_math<T>::add(sum, scalar_math<T>::multiply(x[i * along], y[i * down]));
    out[item] = sum;
  }
};
template <>
struct kernel_of<stacked_products_op> : kernel_without_indices<stacked_products_kernel> {
  static constexpr dtype takes[]{dtype::float32, dtype::float64, dtype::int32, dtype::int64};
};

}  // namespace leat::kernels
