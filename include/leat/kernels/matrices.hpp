#pragma once
// Kernels of operators on stacks of matrices, as work items for any device: each item is one matrix. On the CPU threads share the matrices,
// and what a matrix of a small size needs is code of its own (cpu/matrices.hpp).

#include <leat/kernels/linalg/cholesky.hpp>
#include <leat/kernels/linalg/lu.hpp>
#include <leat/kernels/linalg/triangular.hpp>
#include <leat/kernels/stacked_matmul.hpp>
#include <leat/ops/decompositions.hpp>

namespace leat::kernels {

/// Base of such kernels. A kernel has a function `decompose(k, n)` for matrix k, where the size n may be a constant; its result is whether
/// the matrix is one that `problem()` does not speak of. Only nodes of graphs with names are checked: then a failure is an error.
struct matrices_kernel {
  static constexpr bool may_refuse = false;
  static constexpr bool unrolls = true;  // whether small sizes get code of their own
  std::int64_t count = 0, n = 0;
  bool is_checked = false;
  constexpr std::int64_t items() const { return count; }
};
template <class Kernel>
concept of_matrices = std::is_base_of_v<matrices_kernel, Kernel>;
template <template <class> class Kernel>
struct kernel_of_matrices : kernel_without_indices<Kernel> {
  static constexpr dtype takes[]{dtype::float32, dtype::float64};
};

template <class T>
struct cholesky_kernel : matrices_kernel {
  const T* a;
  T* l;
  cholesky_kernel(void* const* p, const step_numbers& s) : a(static_cast<const T*>(p[0])), l(static_cast<T*>(p[1])) {
    n = s.size(0, s.rank(0) - 1);
    count = n == 0 ? 0 : s.product(0, 0, s.rank(0) - 2);
  }
  static const char* problem() { return ""; }
  std::int64_t work() const { return cubic_work(n, n) / 6 + 1; }
  template <class N>
  constexpr bool decompose(std::int64_t k, N size) const {
    return decompose_cholesky(a + k * size * size, l + k * size * size, size);
  }
  constexpr void operator()(std::int64_t k) const { decompose(k, n); }
};
template <>
struct kernel_of<cholesky_op> : kernel_of_matrices<cholesky_kernel> {};

template <class T>
struct triangular_solve_kernel : matrices_kernel {
  const T* a;
  const T* b;
  T* x;
  matrix_stacks stacks;
  std::int64_t columns;
  bool is_lower, is_adjoint;
  triangular_solve_kernel(void* const* p, const step_numbers& s)
      : a(static_cast<const T*>(p[0])),
        b(static_cast<const T*>(p[1])),
        x(static_cast<T*>(p[2])),
        stacks(s.extents(0) + 1, s.rank(0), s.extents(1) + 1, s.rank(1), false, false),
        columns(stacks.n),
        is_lower(s.attribute(0) != 0),
        is_adjoint(s.attribute(1) != 0) {
    n = stacks.m;
    count = n * columns == 0 ? 0 : stacks.count;
  }
  static const char* problem() { return ""; }
  std::int64_t work() const { return cubic_work(n, columns) / 2 + 1; }
  template <class N>
  constexpr bool decompose(std::int64_t k, N size) const {
    const T* const from = b + stacks.place(stacks.step_b, k);
    T* const to = x + k * size * columns;
    for (std::int64_t i = 0; i < size * columns; ++i) to[i] = from[i];
    solve_triangular<false>(matrix_view<T>(a + stacks.place(stacks.step_a, k), size, is_adjoint), is_lower != is_adjoint, size, to,
                            columns);
    return true;
  }
  constexpr void operator()(std::int64_t k) const { decompose(k, n); }
};
template <>
struct kernel_of<matrix_triangular_solve_op> : kernel_of_matrices<triangular_solve_kernel> {};

template <class T>
struct lu_kernel : matrices_kernel {
  const T* a;
  T* out;
  lu_kernel(void* const* p, const step_numbers& s) : a(static_cast<const T*>(p[0])), out(static_cast<T*>(p[1])) {
    n = s.size(0, s.rank(0) - 1);
    count = n == 0 ? 0 : s.product(0, 0, s.rank(0) - 2);
  }
  static const char* problem() { return ""; }
  std::int64_t work() const { return cubic_work(n, n) / 3 + 1; }
  template <class N>
  constexpr bool decompose(std::int64_t k, N size) const {
    T* const lu = out + 2 * k * size * size;
    T* const pivots = lu + size * size;
    decompose_lu(a + k * size * size, lu, size, [&](std::int64_t row, std::int64_t other) { pivots[row] = static_cast<T>(other); });
    return true;
  }
  constexpr void operator()(std::int64_t k) const { decompose(k, n); }
};
template <>
struct kernel_of<lu_op> : kernel_of_matrices<lu_kernel> {};

template <class T>
struct lu_solve_kernel : matrices_kernel {
  const T* packed;
  const T* b;
  T* x;
  std::int64_t columns;
  bool is_adjoint;
  inverse_check check;
  lu_solve_kernel(void* const* p, const step_numbers& s)
      : packed(static_cast<const T*>(p[0])),
        b(static_cast<const T*>(p[1])),
        x(static_cast<T*>(p[2])),
        columns(s.size(1, s.rank(1) - 1)),
        is_adjoint(s.attribute(0) != 0),
        check(static_cast<inverse_check>(s.attribute(1))) {
    n = s.size(1, s.rank(1) - 2);
    count = n * columns == 0 ? 0 : s.product(1, 0, s.rank(1) - 2);
    is_checked = check != inverse_check::none;
  }
  const char* problem() const {
    return check == inverse_check::of_inverse ? "Input is not invertible." : "Input matrix is not invertible.";
  }
  std::int64_t work() const { return cubic_work(n, columns) + 1; }
  template <class N>
  constexpr bool decompose(std::int64_t k, N size) const {
    const T* const lu = packed + 2 * k * size * size;
    const T* const from = b + k * size * columns;
    T* const to = x + k * size * columns;
    for (std::int64_t i = 0; i < size * columns; ++i) to[i] = from[i];
    solve_by_lu(lu, lu + size * size, is_adjoint, size, to, columns);
    bool is_regular = true;
    for (std::int64_t i = 0; i < size; ++i) is_regular = is_regular && scalar_math<T>::abs(lu[i * size + i]) > T(0);
    return is_regular;
  }
  constexpr void operator()(std::int64_t k) const { decompose(k, n); }
};
template <>
struct kernel_of<lu_solve_op> : kernel_of_matrices<lu_solve_kernel> {};

template <class T>
struct lu_determinant_kernel : matrices_kernel {
  const T* packed;
  T* out;
  bool as_logarithm;
  lu_determinant_kernel(void* const* p, const step_numbers& s)
      : packed(static_cast<const T*>(p[0])), out(static_cast<T*>(p[1])), as_logarithm(s.attribute(0) != 0) {
    n = s.size(0, s.rank(0) - 1);
    count = s.product(0, 0, s.rank(0) - 3);
  }
  static const char* problem() { return ""; }
  std::int64_t work() const { return n + 1; }
  template <class N>
  constexpr bool decompose(std::int64_t k, N size) const {
    const T* const lu = packed + 2 * k * size * size;
    const T* const pivots = lu + size * size;
    if (as_logarithm) {
      const auto found = logarithm_of_determinant(lu, pivots, size);
      out[2 * k] = found.sign;
      out[2 * k + 1] = found.logarithm;
    } else {
      out[k] = determinant_by_lu(lu, pivots, size);
    }
    return true;
  }
  constexpr void operator()(std::int64_t k) const { decompose(k, n); }
};
template <>
struct kernel_of<lu_determinant_op> : kernel_of_matrices<lu_determinant_kernel> {};

}  // namespace leat::kernels
