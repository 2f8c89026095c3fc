#pragma once
// Definitions of decompositions of matrices that have several results. Those with one result are classes (ops/solve.hpp,
// ops/decompositions.hpp). Source: TensorFlow's operators of the same names.

#include <leat/core/fill.hpp>
#include <leat/named/definitions/shapes.hpp>
#include <leat/ops/matrix_parts.hpp>

namespace leat::detail {

/// The shape of input 0, which must be matrices, or nothing if its rank is unknown.
inline bool has_matrices(const shape_context& c) {
  const shape& s = c.input(0).extent;
  if (!s.has_rank()) return false;
  if (s.rank < 2) c.fail("Shape must be at least rank 2 but is rank " + std::to_string(s.rank));
  return true;
}
/// The size of square matrices.
inline std::int64_t square_size(const shape_context& c) {
  const shape& s = c.input(0).extent;
  const std::int64_t m = rule::matrices::rows(s), n = rule::matrices::columns(s);
  if (!may_equal(m, n)) c.fail("Dimensions must be equal, but are " + std::to_string(m) + " and " + std::to_string(n));
  return rule::square_matrices::size(s);
}

LEAT_FILL(fill_matrix_definitions) {
  constexpr facts pure{.is = nature::pure, .work = work_kind::product};
  define_operator("LogMatrixDeterminant(input: T) -> (sign: T, log_abs_determinant: T)", pure, [](shape_context& c) {
    if (!has_matrices(c)) return;
    square_size(c);
    c.set_all(rule::matrices::stack(c.input(0).extent));
  });
}

}  // namespace leat::detail
