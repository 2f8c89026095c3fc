#pragma once
// Operators that move elements, as views or as steps of their own: which element of which operand each element of the result is.

#include <leat/core/list.hpp>
#include <leat/ops/array.hpp>
#include <leat/ops/diagonals.hpp>
#include <leat/ops/reorder.hpp>

namespace leat::passes::detail {

struct moved_elements {
  static constexpr bool are_viewed(int code) {
    return code == operator_record<transpose_op>::code || code == operator_record<reshape_op>::code ||
           code == operator_record<slice_op>::code;
  }
  /// Whether an operator puts elements of arrays together, as a step of its own.
  static constexpr bool are_joined(int code) {
    return code == operator_record<concat_op>::code || code == operator_record<pad_op>::code ||
           code == operator_record<reverse_op>::code || code == operator_record<matrix_diag_op>::code ||
           code == operator_record<matrix_set_diag_op>::code || code == operator_record<matrix_diag_part_op>::code ||
           code == operator_record<matrix_band_part_op>::code;
  }

  /// An element of an operand; a zero if the input is negative.
  struct source {
    int input = 0;
    std::int64_t position = 0;
  };
  static constexpr source zero{-1, 0};

  /// Where the element at `index` of the result, element `k` in row-major order, comes from.
  static constexpr source at(const graph& g, const node& n, const std::int64_t* index, std::int64_t k) {
    const int code = n.op->code;
    const shape& from = extent_of(g, n, 0);
    const int rank = from.rank;
    if (code == operator_record<reshape_op>::code) return {0, k};
    std::int64_t place[max_rank]{};
    for (int d = 0; d < rank; ++d) place[d] = index[d];
    if (code == operator_record<transpose_op>::code) {
      std::int64_t attribute[max_rank + 1]{};
      for (int j = 0; j < n.attribute_count; ++j) attribute[j] = g.attribute(n, j);
      for (int d = 0; d < rank; ++d) place[transpose_op::axis(attribute, n.attribute_count, rank, d)] = index[d];
    } else if (code == operator_record<slice_op>::code) {
      for (int d = 0; d < rank; ++d) place[d] += g.attribute(n, d);
    } else if (code == operator_record<pad_op>::code) {
      for (int d = 0; d < rank; ++d) {
        place[d] -= g.attribute(n, d);
        if (place[d] < 0 || place[d] >= from[d]) return zero;
      }
    } else if (code == operator_record<reverse_op>::code) {
      for (int j = 0; j < n.attribute_count; ++j) {
        const int axis = rule::axis_of(g.attribute(n, j), rank);
        place[axis] = from[axis] - 1 - place[axis];
      }
    } else if (code == operator_record<concat_op>::code) {
      const int axis = rule::axis_of(g.attribute(n, 0), rank);
      int part = 0;
      for (; place[axis] >= extent_of(g, n, part)[axis]; ++part) place[axis] -= extent_of(g, n, part)[axis];
      return {part, position_of(extent_of(g, n, part), place)};
    } else {
      return on_diagonal(g, n, index);
    }
    return {0, position_of(from, place)};
  }

 private:
  static constexpr const shape& extent_of(const graph& g, const node& n, int k) { return g.at(g.input(n, k)).result.extent; }
  static constexpr std::int64_t position_of(const shape& extent, const std::int64_t* index) {
    std::int64_t position = 0;
    for (int a = 0; a < extent.rank; ++a) position = position * extent[a] + index[a];
    return position;
  }
  static constexpr source on_diagonal(const graph& g, const node& n, const std::int64_t* index) {
    const int code = n.op->code;
    const shape& from = extent_of(g, n, 0);
    const int last = n.result.extent.rank - 1;
    if (code == operator_record<matrix_diag_part_op>::code) {
      std::int64_t place[max_rank]{};
      for (int d = 0; d <= last; ++d) place[d] = index[d];
      place[last + 1] = index[last];
      return {0, position_of(from, place)};
    }
    const std::int64_t row = index[last - 1], column = index[last];
    if (code == operator_record<matrix_diag_op>::code) return row == column ? source{0, position_of(from, index)} : zero;
    if (code == operator_record<matrix_set_diag_op>::code)
      return row == column ? source{1, position_of(extent_of(g, n, 1), index)} : source{0, position_of(from, index)};
    const std::int64_t below = g.attribute(n, 0), above = g.attribute(n, 1);
    const bool is_in = (below < 0 || row - column <= below) && (above < 0 || column - row <= above);
    return is_in ? source{0, position_of(from, index)} : zero;
  }
};

}  // namespace leat::passes::detail
