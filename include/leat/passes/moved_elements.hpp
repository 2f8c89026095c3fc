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

  /// An element of an operand, by its index along each axis; a zero if the input is negative.
  struct source {
    int input = -1;
    std::int64_t place[max_rank]{};
  };

  /// Where the element at `index` of the result comes from. Sizes may be names along axes that keep their elements. Not of a reshape.
  static constexpr source at(const graph& g, const node& n, const std::int64_t* index) {
    const int code = n.op->code;
    const shape& from = extent_of(g, n, 0);
    const int rank = from.rank;
    source found;
    std::int64_t* const place = found.place;
    for (int d = 0; d < rank; ++d) place[d] = index[d];
    if (code == operator_record<transpose_op>::code) {
      std::int64_t attribute[max_rank + 1]{};
      for (int j = 0; j < n.attribute_count; ++j) attribute[j] = g.attribute(n, j);
      for (int d = 0; d < rank; ++d) place[transpose_op::axis(attribute, n.attribute_count, rank, d)] = index[d];
    } else if (code == operator_record<slice_op>::code) {
      for (int d = 0; d < rank; ++d) place[d] += g.attribute(n, d);
    } else if (code == operator_record<pad_op>::code) {
      for (int d = 0; d < rank; ++d) {
        if (from[d] < 0) continue;
        place[d] -= g.attribute(n, d);
        if (place[d] < 0 || place[d] >= from[d]) return found;
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
      found.input = part;
      return found;
    } else {
      return on_diagonal(g, n, index);
    }
    found.input = 0;
    return found;
  }
  /// The position in row-major order.
  static constexpr std::int64_t position_of(const shape& extent, const std::int64_t* index) {
    std::int64_t position = 0;
    for (int a = 0; a < extent.rank; ++a) position = position * extent[a] + index[a];
    return position;
  }

 private:
  static constexpr const shape& extent_of(const graph& g, const node& n, int k) { return g.at(g.input(n, k)).result.extent; }
  static constexpr source on_diagonal(const graph& g, const node& n, const std::int64_t* index) {
    const int code = n.op->code;
    const int last = n.result.extent.rank - 1;
    source found;
    for (int d = 0; d <= last; ++d) found.place[d] = index[d];
    if (code == operator_record<matrix_diag_part_op>::code) {
      found.place[last + 1] = index[last];
      found.input = 0;
      return found;
    }
    const std::int64_t row = index[last - 1], column = index[last];
    if (code == operator_record<matrix_diag_op>::code) {
      if (row == column) found.input = 0;
    } else if (code == operator_record<matrix_set_diag_op>::code) {
      found.input = row == column ? 1 : 0;
    } else {
      const std::int64_t below = g.attribute(n, 0), above = g.attribute(n, 1);
      if ((below < 0 || row - column <= below) && (above < 0 || column - row <= above)) found.input = 0;
    }
    return found;
  }
};

}  // namespace leat::passes::detail
