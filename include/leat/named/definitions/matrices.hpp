#pragma once
// Definitions of decompositions of matrices that have several results, and of least squares. Those with one result are classes
// (ops/solve.hpp, ops/decompositions.hpp). Source: TensorFlow's operators of the same names.

#include <leat/core/fill.hpp>
#include <leat/named/definitions/shapes.hpp>
#include <leat/ops/matrix_rules.hpp>

#include <algorithm>

namespace leat::detail {

/// Whether the rank of input 0, which must be matrices, is known.
inline bool has_matrices(const shape_context& c) {
  const shape& s = c.input(0).extent;
  if (!s.has_rank()) return false;
  if (s.rank < 2) c.fail("Shape must be at least rank 2 but is rank " + std::to_string(s.rank));
  return true;
}
/// The number of rows and columns of square matrices.
inline std::int64_t square_size(const shape_context& c) {
  const shape& s = c.input(0).extent;
  const std::int64_t m = rule::matrices::rows(s), n = rule::matrices::columns(s);
  if (!may_equal(m, n)) c.fail("Dimensions must be equal, but are " + std::to_string(m) + " and " + std::to_string(n));
  return rule::square_matrices::size(s);
}
/// A shape of the stack of matrices of input 0 and further sizes.
inline shape behind_stack(const shape_context& c, std::initializer_list<std::int64_t> sizes) {
  shape s = rule::matrices::stack(c.input(0).extent);
  for (const std::int64_t n : sizes) s.push(n);
  return s;
}
inline std::int64_t smaller_size(std::int64_t m, std::int64_t n) {
  return m == 0 || n == 0 ? 0 : m < 0 || n < 0 ? unknown_dimension : std::min(m, n);
}

inline void qr_shapes(shape_context& c) {
  if (!has_matrices(c)) return;
  const std::int64_t m = rule::matrices::rows(c.input(0).extent), n = rule::matrices::columns(c.input(0).extent);
  const std::int64_t between = c.flag("full_matrices") ? m : smaller_size(m, n);
  c.set(0, behind_stack(c, {m, between}));
  c.set(1, behind_stack(c, {between, n}));
}
inline void eigen_shapes(shape_context& c) {
  if (!c.flag("compute_v", true)) c.set(1, shapes::vector_of(0));
  if (!has_matrices(c)) return;
  const std::int64_t n = square_size(c);
  c.set(0, behind_stack(c, {n}));
  if (c.flag("compute_v", true)) c.set(1, behind_stack(c, {n, n}));
}
inline void svd_shapes(shape_context& c) {
  const bool has_vectors = c.flag("compute_uv", true), is_full = c.flag("full_matrices");
  for (int k = 1; k < 3 && !has_vectors; ++k) c.set(k, shapes::vector_of(0));
  if (!has_matrices(c)) return;
  const std::int64_t m = rule::matrices::rows(c.input(0).extent), n = rule::matrices::columns(c.input(0).extent);
  const std::int64_t least = smaller_size(m, n);
  c.set(0, behind_stack(c, {least}));
  if (!has_vectors) return;
  c.set(1, behind_stack(c, {m, is_full ? m : least}));
  c.set(2, behind_stack(c, {n, is_full ? n : least}));
}
inline void lu_shapes(shape_context& c) {
  if (!has_matrices(c)) return;
  const std::int64_t n = square_size(c);
  c.set(0, behind_stack(c, {n, n}));
  c.set(1, behind_stack(c, {n}));
}
inline void least_squares_shape(shape_context& c) {
  const shape &a = c.input(0).extent, &b = c.input(1).extent;
  if (c.input(2).extent.has_rank() && c.input(2).extent.rank != 0)
    c.fail("Shape must be rank 0 but is rank " + std::to_string(c.input(2).extent.rank));
  if (!has_matrices(c) || !b.has_rank()) return;
  if (b.rank != a.rank) c.fail("All input tensors must have the same rank.");
  if (!may_equal(rule::matrices::stack(a), rule::matrices::stack(b))) c.fail("All input tensors must have the same outer dimensions.");
  if (!may_equal(rule::matrices::rows(a), rule::matrices::rows(b))) c.fail("Input matrix and rhs are incompatible.");
  c.set(0, behind_stack(c, {rule::matrices::columns(a), rule::matrices::columns(b)}));
}

LEAT_FILL(fill_matrix_definitions) {
  constexpr facts pure{.is = nature::pure, .work = work_kind::product};
  define_operator("LogMatrixDeterminant(input: T) -> (sign: T, log_abs_determinant: T)", pure, [](shape_context& c) {
    if (!has_matrices(c)) return;
    square_size(c);
    c.set_all(behind_stack(c, {}));
  });
  define_operator("Qr(input: T) -> (q: T, r: T); full_matrices: bool = false", pure, qr_shapes);
  define_operator("SelfAdjointEigV2(input: T) -> (e: T, v: T); compute_v: bool = true", pure, eigen_shapes);
  for (const char* type : {"SelfAdjointEig", "BatchSelfAdjointEig"})
    define_operator(std::string(type) + "(input: T) -> (output: T)", pure, [](shape_context& c) {
      if (!has_matrices(c)) return;
      const std::int64_t n = square_size(c);
      c.set(0, behind_stack(c, {n < 0 ? unknown_dimension : n + 1, n}));
    });
  define_operator("Svd(input: T) -> (s: T, u: T, v: T); compute_uv: bool = true; full_matrices: bool = false", pure, svd_shapes);
  define_operator("Lu(input: T) -> (lu: T, p: output_idx_type); output_idx_type: {int32, int64} = int32", pure, lu_shapes);
  define_operator("MatrixSolveLs(matrix: T, rhs: T, l2_regularizer: float64) -> (output: T); fast: bool = true", pure, least_squares_shape);
}

}  // namespace leat::detail
