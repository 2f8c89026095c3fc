#pragma once
// Kernels of decompositions of matrices that have several results, and of least squares. The algorithms are those of typed expressions
// (kernels/linalg/). Source: TensorFlow's operators of the same names.

#include <leat/core/fill.hpp>
#include <leat/cpu/matrices.hpp>
#include <leat/cpu/scratch.hpp>
#include <leat/kernels/linalg/least_squares.hpp>
#include <leat/kernels/spectra.hpp>
#include <leat/named/definitions/shapes.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/walk.hpp>

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace leat::runtime {

/// The matrices of input 0. Errors: invalid_argument, with TensorFlow's message, if it has none.
struct input_matrices {
  shape stack;
  std::int64_t count = 1, rows = 0, columns = 0;

  explicit input_matrices(kernel_context& c) {
    const shape& s = c.extent(0);
    if (s.rank < 2) throw invalid_argument("Input tensor 0 must have rank >= 2, got " + std::to_string(s.rank));
    stack = rule::matrices::stack(s);
    count = product(stack, 0, stack.rank);
    rows = rule::matrices::rows(s);
    columns = rule::matrices::columns(s);
  }
  void want_square() const {
    if (rows != columns) throw invalid_argument("Input matrix must be square.");
  }
  std::int64_t elements() const { return rows * columns; }
  tensor_value result(dtype type, std::initializer_list<std::int64_t> sizes) const {
    shape s = stack;
    for (const std::int64_t n : sizes) s.push(n);
    return {type, s};
  }
  /// Calls f(matrix k, memory of `elements` elements of T), whose results say whether all is well, for all matrices.
  template <class T, class F>
  bool each(std::int64_t work, std::int64_t memory, F f) const {
    return cpu::run_matrices(count, work, [&](std::int64_t begin, std::int64_t end) {
      const cpu::scratch<T> held(memory + 1);
      bool are_fine = true;
      for (std::int64_t k = begin; k < end; ++k) are_fine = f(k, held.get()) && are_fine;
      return are_fine;
    });
  }
};

/// Whether no result has an element. Then there is nothing to do for any number of matrices.
inline bool are_empty(std::initializer_list<const tensor_value*> results) {
  return std::ranges::all_of(results, [](const tensor_value* v) { return v->elements() == 0; });
}

inline void run_log_determinant(kernel_context& c) {
  const tensor_value in = c.input(0);
  const input_matrices of(c);
  of.want_square();
  const std::int64_t n = of.rows;
  tensor_value sign = of.result(in.type(), {}), logarithm = of.result(in.type(), {});
  with_fraction(in.type(), [&]<class T>(T) {
    const T* const from = in.values<T>().data();
    T *const signs = sign.values<T>().data(), *const logarithms = logarithm.values<T>().data();
    of.each<T>(kernels::cubic_work(n, n), n * (n + 1), [&](std::int64_t k, T* lu) {
      T* const pivots = lu + n * n;
      kernels::decompose_lu(from + k * n * n, lu, n, [&](std::int64_t row, std::int64_t other) { pivots[row] = static_cast<T>(other); });
      const auto found = kernels::logarithm_of_determinant(lu, pivots, n);
      signs[k] = found.sign;
      logarithms[k] = found.logarithm;
      return true;
    });
  });
  c.set(0, std::move(sign));
  c.set(1, std::move(logarithm));
}

inline void run_lu(kernel_context& c) {
  const tensor_value in = c.input(0);
  const input_matrices of(c);
  of.want_square();
  const std::int64_t n = of.rows;
  const dtype index = c.node.attribute<data_type>("output_idx_type", data_type::int32) == data_type::int64 ? dtype::int64 : dtype::int32;
  tensor_value lu = of.result(in.type(), {n, n}), order = of.result(index, {n});
  const auto run = [&]<class T, class Index>(T, Index) {
    const T* const from = in.values<T>().data();
    T* const to = lu.values<T>().data();
    Index* const places = order.values<Index>().data();
    const bool are_regular = of.each<T>(kernels::cubic_work(n, n), 0, [&](std::int64_t k, T*) {
      Index* const its = places + k * n;
      for (std::int64_t i = 0; i < n; ++i) its[i] = static_cast<Index>(i);
      return kernels::decompose_lu(from + k * n * n, to + k * n * n, n,
                                   [&](std::int64_t row, std::int64_t other) { std::swap(its[row], its[other]); });
    });
    if (!are_regular) throw invalid_argument("Input is not invertible.");
  };
  with_fraction(in.type(), [&]<class T>(T) {
    if (are_empty({&lu, &order})) return;
    if (index == dtype::int64) run(T(), std::int64_t());
    else run(T(), std::int32_t());
  });
  c.set(0, std::move(lu));
  c.set(1, std::move(order));
}

inline void run_qr(kernel_context& c) {
  const tensor_value in = c.input(0);
  const input_matrices of(c);
  const qr_sizes sizes{of.rows, of.columns, c.node.flag("full_matrices")};
  tensor_value q = of.result(in.type(), {sizes.m, sizes.between()}), r = of.result(in.type(), {sizes.between(), sizes.n});
  with_fraction(in.type(), [&]<class T>(T) {
    if (are_empty({&q, &r})) return;
    const T* const from = in.values<T>().data();
    T *const qs = q.values<T>().data(), *const rs = r.values<T>().data();
    of.each<T>(2 * kernels::cubic_work(sizes.least(), sizes.m + sizes.n), sizes.scratch(), [&](std::int64_t k, T* memory) {
      kernels::decompose_qr(from + k * of.elements(), sizes, qs + k * sizes.m * sizes.between(), rs + k * sizes.between() * sizes.n,
                            memory);
      return true;
    });
  });
  c.set(0, std::move(q));
  c.set(1, std::move(r));
}

/// The eigenvalues, ascending, and the eigenvectors, as columns, of symmetric matrices.
inline std::pair<tensor_value, tensor_value> symmetric_eigen(kernel_context& c, const input_matrices& of, bool has_vectors) {
  const tensor_value in = c.input(0);
  of.want_square();
  const std::int64_t n = of.rows;
  tensor_value values = of.result(in.type(), {n}),
               vectors = has_vectors ? of.result(in.type(), {n, n}) : tensor_value(in.type(), shapes::vector_of(0));
  with_fraction(in.type(), [&]<class T>(T) {
    if (are_empty({&values})) return;
    const T* const from = in.values<T>().data();
    T *const to = values.values<T>().data(), *const columns = vectors.values<T>().data();
    const bool are_fine = of.each<T>(8 * kernels::cubic_work(n, n), n * n + kernels::eigen_scratch(n + 1), [&](std::int64_t k, T* memory) {
      T* const rest = memory + n * n;
      if (has_vectors) return kernels::decompose_symmetric(from + k * n * n, n, to + k * n, columns + k * n * n, memory, rest);
      return kernels::decompose_symmetric(from + k * n * n, n, to + k * n, memory, static_cast<T*>(nullptr), rest);
    });
    if (!are_fine) throw invalid_argument("Self-adjoint eigen decomposition was not successful. The input might not be valid.");
  });
  return {std::move(values), std::move(vectors)};
}
inline void run_symmetric_eigen(kernel_context& c) {
  auto [values, vectors] = symmetric_eigen(c, input_matrices(c), c.node.flag("compute_v", true));
  c.set(0, std::move(values));
  c.set(1, std::move(vectors));
}
/// The older form, whose one result has the eigenvalues in a row above the eigenvectors.
inline void run_stacked_eigen(kernel_context& c) {
  const input_matrices of(c);
  const auto [values, vectors] = symmetric_eigen(c, of, true);
  const std::int64_t n = of.rows;
  tensor_value made = of.result(c.type(0), {n + 1, n});
  with_fraction(c.type(0), [&]<class T>(T) {
    if (made.elements() == 0) return;
    const T *value = values.template values<T>().data(), *vector = vectors.template values<T>().data();
    T* to = made.values<T>().data();
    for (std::int64_t k = 0; k < of.count; ++k, value += n, vector += n * n) {
      to = std::copy_n(value, n, to);
      to = std::copy_n(vector, n * n, to);
    }
  });
  c.set(0, std::move(made));
}

inline void run_svd(kernel_context& c) {
  const tensor_value in = c.input(0);
  const input_matrices of(c);
  const bool has_vectors = c.node.flag("compute_uv", true);
  const svd_sizes sizes{of.rows, of.columns, has_vectors && c.node.flag("full_matrices"), has_vectors};
  const tensor_value none(in.type(), shapes::vector_of(0));
  tensor_value s = of.result(in.type(), {sizes.least()});
  tensor_value u = has_vectors ? of.result(in.type(), {sizes.m, sizes.columns_of_u()}) : none;
  tensor_value v = has_vectors ? of.result(in.type(), {sizes.n, sizes.columns_of_v()}) : none;
  with_fraction(in.type(), [&]<class T>(T) {
    if (are_empty({&s, &u, &v})) return;
    const T* const from = in.values<T>().data();
    T *const to = s.values<T>().data(), *const us = has_vectors ? u.values<T>().data() : nullptr,
             *const vs = has_vectors ? v.values<T>().data() : nullptr;
    of.each<T>(16 * kernels::cubic_work(sizes.least(), sizes.m + sizes.n), sizes.scratch(), [&](std::int64_t k, T* memory) {
      return kernels::decompose_svd(from + k * of.elements(), sizes, to + k * sizes.least(),
                                    has_vectors ? us + k * sizes.m * sizes.columns_of_u() : nullptr,
                                    has_vectors ? vs + k * sizes.n * sizes.columns_of_v() : nullptr, memory);
    });
  });
  c.set(0, std::move(s));
  c.set(1, std::move(u));
  c.set(2, std::move(v));
}

inline void run_least_squares(kernel_context& c) {
  const tensor_value in = c.input(0), right = c.input(1);
  const input_matrices of(c);
  const shape& b = right.extent();
  if (b.rank != c.extent(0).rank) throw invalid_argument("All input tensors must have the same rank.");
  if (!(rule::matrices::stack(b) == of.stack)) throw invalid_argument("All input tensors must have the same outer dimensions.");
  if (rule::matrices::rows(b) != of.rows) throw invalid_argument("Input matrix and rhs are incompatible.");
  if (c.extent(2).rank != 0) throw invalid_argument("l2_regularizer must be scalar, got shape " + brackets(c.extent(2)));
  const double regularizer = c.input(2).values<double>()[0];
  if (!(regularizer >= 0)) throw invalid_argument("l2_regularizer must be >= 0.");
  const bool is_fast = c.node.flag("fast", true);
  const kernels::least_squares_sizes sizes{of.rows, of.columns, rule::matrices::columns(b)};
  tensor_value x = of.result(in.type(), {sizes.n, sizes.columns});
  if (x.elements() == 0) return c.set(0, std::move(x));
  with_fraction(in.type(), [&]<class T>(T) {
    const T *const from = in.values<T>().data(), *const beside = right.values<T>().data();
    T* const to = x.values<T>().data();
    if (sizes.m == 0) {
      std::fill_n(to, x.elements(), T(0));
      return;
    }
    const std::int64_t work = (is_fast ? 1 : 16) * kernels::cubic_work(sizes.least(), sizes.m + sizes.n + sizes.columns);
    const bool are_regular = of.each<T>(work, sizes.scratch(), [&](std::int64_t k, T* memory) {
      const T *const a = from + k * of.elements(), *const its = beside + k * sizes.m * sizes.columns;
      T* const result = to + k * sizes.n * sizes.columns;
      if (is_fast) return kernels::solve_by_products(a, its, static_cast<T>(regularizer), sizes, result, memory);
      kernels::solve_by_singular_values(a, its, sizes, result, memory);
      return true;
    });
    if (!are_regular)
      throw invalid_argument(
          "Input matrix was rank deficient or ill-conditioned. Try setting fast=False or provide a larger l2_regularizer > 0.");
  });
  c.set(0, std::move(x));
}

LEAT_FILL(fill_matrix_kernels) {
  register_kernel("LogMatrixDeterminant", run_log_determinant);
  register_kernel("Lu", run_lu);
  register_kernel("Qr", run_qr);
  register_kernel("SelfAdjointEigV2", run_symmetric_eigen);
  register_kernels({"SelfAdjointEig", "BatchSelfAdjointEig"}, run_stacked_eigen);
  register_kernel("Svd", run_svd);
  register_kernel("MatrixSolveLs", run_least_squares);
}

}  // namespace leat::runtime
