#pragma once
// Where the axis of many models is in the operands and the result of an operator, and how many elements each model has of an array.

#include <leat/passes/moved_elements.hpp>
#include <leat/passes/unroll.hpp>

namespace leat::passes::detail {

class model_axes {
 public:
  static constexpr int shared = -1;  // the value has no axis of models: all models share one array
  static constexpr int impossible = -2;
  static constexpr std::int64_t most_elements = stacked_matmul_op::largest_matrix;

  constexpr explicit model_axes(const graph& from) : from_(from) {}

  /// Whether a shape has many models along an axis and few elements for each model.
  static constexpr bool is_small(const shape& s, int axis, std::int64_t most = most_elements) {
    std::int64_t elements = 1;
    for (int i = 0; i < s.rank; ++i) {
      if (i == axis) continue;
      if (s[i] <= 0 || s[i] > most) return false;
      elements *= s[i];
    }
    return axis < s.rank && (s[axis] < 0 || s[axis] > 1) && elements <= most;
  }
  static constexpr std::int64_t elements_of_model(const shape& s, int axis) {
    std::int64_t elements = 1;
    for (int i = 0; i < s.rank; ++i)
      if (i != axis) elements *= s[i];
    return elements;
  }
  /// The position of an element within a model, in row-major order, and its place.
  static constexpr std::int64_t position(const shape& s, int axis, const std::int64_t* place) {
    std::int64_t k = 0;
    for (int d = 0; d < s.rank; ++d)
      if (d != axis) k = k * s[d] + place[d];
    return k;
  }
  static constexpr void place_of(const shape& s, int axis, std::int64_t k, std::int64_t* place) {
    for (int d = s.rank; d-- > 0;) {
      place[d] = d == axis ? 0 : k % s[d];
      if (d != axis) k /= s[d];
    }
  }
  /// The axis of models of array `s` if `vmap` made it one of more models than small arrays have elements; -1 if there is none.
  constexpr int found_in(const shape& s, std::int64_t most) const {
    for (int a = 0; a < s.rank; ++a)
      for (const std::int64_t count : from_.models)
        if (s[a] == count && (count < 0 || count > most_elements) && is_small(s, a, most)) return a;
    return shared;
  }

  /// Whether a node is a decomposition of each model's matrix, or a system that it solves.
  static constexpr bool is_decomposed([[maybe_unused]] const graph& g, [[maybe_unused]] const node& n) {
#if defined(__CUDACC__)
    return false;  // nvcc takes memory of this pass for leaked; its programs keep the kernels, which give the same bits
#else
    return small_matrices::knows(g, n, 1);
#endif
  }
  static constexpr bool is_view(const node& n) {
    return is_operator<transpose_op>(*n.op) || is_operator<reshape_op>(*n.op) || is_operator<slice_op>(*n.op);
  }

  /// The axes of a reduction's operand that are reduced, as bits, and whether the result keeps them.
  constexpr int reduced(const node& n) const {
    std::int64_t attribute[max_rank + 1]{};
    for (int k = 0; k < n.attribute_count; ++k) attribute[k] = from_.attribute(n, k);
    return rule::reduced_axes(attribute, n.attribute_count, from_.at(from_.input(n, 0)).result.extent.rank);
  }
  constexpr bool keeps(const node& n) const { return n.attribute_count > 0 && from_.attribute(n, 0) != 0; }

  /// The axis of models of input `k`, given that of the result.
  constexpr int operand_axis(const node& n, int k, int axis) const {
    const shape& own = n.result.extent;
    const shape& source = from_.at(from_.input(n, k)).result.extent;
    if (is_operator<transpose_op>(*n.op)) return permuted(n, axis);
    if (is_operator<reshape_op>(*n.op)) return reshaped_axis(own, axis, source);
    if (is_operator<slice_op>(*n.op)) return source[axis] == own[axis] ? axis : impossible;
    if (moved_elements::are_joined(n.op->code)) return joined_axis(n, source, axis);
    if (n.op->kind == op_kind::reduction) return unreduced(n, axis);
    if (is_decomposed(from_, n)) {
      const int matrix = is_operator<lu_solve_op>(*n.op) && k == 0 ? 3 : 2;
      return axis > 0 ? impossible : source.rank == matrix ? shared : source[0] == own[0] ? 0 : impossible;
    }
    const int a = axis - (own.rank - source.rank);
    if (a < 0 || source[a] == 1) return shared;
    return source[a] == own[axis] ? a : impossible;
  }
  constexpr int result_axis(const node& n, int k, int axis) const {
    for (int a = 0; a < n.result.extent.rank; ++a)
      if (operand_axis(n, k, a) == axis) return a;
    return impossible;
  }

 private:
  static constexpr std::int64_t before(const shape& s, int axis) {
    std::int64_t all = 1;
    for (int i = 0; i < axis; ++i) all *= s[i];
    return all;
  }
  // The axis of a reshaped array that corresponds to axis `a` of the array before.
  static constexpr int reshaped_axis(const shape& from, int a, const shape& to) {
    for (int i = 0; i < a; ++i)
      if (from[i] <= 0) return impossible;
    for (int b = 0; b < to.rank; ++b) {
      if (to[b] == from[a] && before(to, b) == before(from, a)) return b;
      if (to[b] <= 0) break;
    }
    return impossible;
  }
  constexpr int permuted(const node& n, int d) const {
    std::int64_t attribute[max_rank + 1]{};
    for (int k = 0; k < n.attribute_count; ++k) attribute[k] = from_.attribute(n, k);
    return transpose_op::axis(attribute, n.attribute_count, n.result.extent.rank, d);
  }
  // The axis of a reduction's operand that is axis `a` of its result; the axis itself is not reduced.
  constexpr int unreduced(const node& n, int a) const {
    const int mask = reduced(n);
    for (int d = 0, left = 0; d < from_.at(from_.input(n, 0)).result.extent.rank; ++d) {
      const bool is_reduced = (mask >> d & 1) != 0;
      if (is_reduced && !keeps(n)) continue;
      if (left++ == a) return is_reduced ? impossible : d;
    }
    return impossible;
  }
  // The axis of an operand that keeps its elements where arrays are put together along other axes.
  constexpr int joined_axis(const node& n, const shape& source, int axis) const {
    const int rank = n.result.extent.rank;
    const int code = n.op->code;
    if (code == operator_record<concat_op>::code) return axis == rule::axis_of(from_.attribute(n, 0), rank) ? impossible : axis;
    if (code == operator_record<pad_op>::code) return source[axis] == n.result.extent[axis] ? axis : impossible;
    if (code == operator_record<reverse_op>::code) {
      for (int j = 0; j < n.attribute_count; ++j)
        if (rule::axis_of(from_.attribute(n, j), rank) == axis) return impossible;
      return axis;
    }
    const int matrix = code == operator_record<matrix_diag_part_op>::code ? 1 : 2;  // the axes of a matrix in the result
    return axis < rank - matrix ? axis : impossible;
  }

  const graph& from_;
};

}  // namespace leat::passes::detail
