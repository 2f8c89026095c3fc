#pragma once
// Shape rules shared by several defined operators.

#include <leat/named/graph/graph_operation.hpp>
#include <leat/named/graph/operator_definition.hpp>

namespace leat::shapes {

/// The shape [n].
inline shape vector_of(std::int64_t n) {
  shape s;
  s.push(n < 0 ? unknown_dimension : n);
  return s;
}
inline const shape scalar{};

/// The shape of the variable that a node takes as its first input; unknown behind a handle that control flow has passed on.
inline shape of_variable(const shape_context& c) {
  return c.input(0).type == static_cast<dtype>(data_type::resource) ? shape::unknown() : c.input(0).extent;
}
/// All results are scalars.
inline void numbers(shape_context& c) { c.set_all(scalar); }
/// All results have the shape [2], TensorFlow's shape of handles of stacks and accumulators, although they are scalars.
inline void two_elements(shape_context& c) {
  shape pair;
  pair.push(2);
  c.set_all(pair);
}
/// All results have the shape [N].
template <int N>
inline void vector_of_numbers(shape_context& c) {
  c.set_all(vector_of(N));
}
/// All results have the shape of input `K`.
template <int K = 0>
inline void like(shape_context& c) {
  c.set_all(c.input(K).extent);
}
/// Result k has the shape of input k.
inline void each(shape_context& c) {
  for (int k = 0; k < c.result_count() && k < c.input_count(); ++k) c.set(k, c.input(k).extent);
}
/// All results have the inputs' shape, as far as the inputs determine it; these must be compatible.
inline void all_equal(shape_context& c) {
  shape extent = c.input(0).extent;
  for (int k = 1; k < c.input_count(); ++k) {
    if (!may_equal(extent, c.input(k).extent)) c.fail("Dimensions must be equal");
    extent = known_of(extent, c.input(k).extent);
  }
  c.set_all(extent);
}
/// The result has the broadcast shape of two inputs, as far as it is known.
inline void broadcast(shape_context& c) {
  const shape& a = c.input(0).extent;
  const shape& b = c.input(1).extent;
  if (!a.has_rank() || !b.has_rank()) return;
  shape result;
  const int rank = std::max(a.rank, b.rank);
  for (int i = 0; i < rank; ++i) {
    const auto x = i < rank - a.rank ? 1 : a[i - (rank - a.rank)];
    const auto y = i < rank - b.rank ? 1 : b[i - (rank - b.rank)];
    if (x == 1) result.push(y);
    else if (y == 1 || x == y) result.push(x);
    else if (x >= 0 && y >= 0) c.fail("Incompatible shapes: " + leat::shape_text(a) + " vs. " + leat::shape_text(b));
    else result.push(x >= 0 ? x : y >= 0 ? y : unknown_dimension);
  }
  c.set_all(result);
}
/// Resolves an axis that may be negative. Errors: invalid_argument if it is out of range.
inline int axis(const shape_context& c, std::int64_t given, int rank) {
  const auto at = given < 0 ? given + rank : given;
  if (at < 0 || at >= rank)
    c.fail("axis " + std::to_string(given) + " is not in the range [" + std::to_string(-rank) + ", " + std::to_string(rank) + ")");
  return static_cast<int>(at);
}
/// The shape that an integer input holds, as far as it is known.
inline shape from_numbers(const shape_context& c, int k) {
  const auto numbers = c.numbers(k);
  if (!numbers || numbers->size() > static_cast<std::size_t>(max_rank)) return shape::unknown();
  shape s;
  for (auto n : *numbers) s.push(n < 0 ? unknown_dimension : n);
  return s;
}
/// The only element of an input, if it is known.
inline std::optional<std::int64_t> number(const shape_context& c, int k) {
  const auto numbers = c.numbers(k);
  if (!numbers || numbers->size() != 1) return std::nullopt;
  return (*numbers)[0];
}
/// The shape of a matrix with several times the columns of another.
inline shape times_wider(const shape& matrix, std::int64_t times) {
  shape wide = matrix;
  if (!wide.has_rank() || wide.rank != 2) return wide;
  if (wide[1] < 0 || !multiplies(matrix[1], times, wide.dim[1])) wide.dim[1] = unknown_dimension;
  return wide;
}
/// Checks that input `k` has this rank, if its rank is known. Errors: invalid_argument.
inline void want_rank(const shape_context& c, int k, int rank) {
  const shape& s = c.input(k).extent;
  if (s.has_rank() && s.rank != rank)
    c.fail("Shape must be rank " + std::to_string(rank) + " but is rank " + std::to_string(s.rank) + " for input " + std::to_string(k));
}

}  // namespace leat::shapes
