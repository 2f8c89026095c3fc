#pragma once
// Operators on rows of a variable, of which optimizers build their steps for gradients of lookups (train/optimizer.hpp). Such a gradient is
// a pair: indices, and a row of values for each. Rows with equal indices are added first. The sum is stored at the first position of the
// index, and the other positions are ignored, so that shapes stay those of the indices, whatever the values of the indices are. Source:
// TensorFlow `IndexedSlices`, `_deduplicate_indexed_slices`, `SparseApply...`.

#include <leat/ops/state.hpp>

namespace leat::passes {

/// For each index, the position of the first index that equals it, or -1 for a negative index, which has no row. Attributes: the number of
/// rows, and 1 if equal indices are treated one by one, so that each is the first of its own. Shapes: indices [i…]; result int64 [i…].
/// Errors: invalid_argument if an index is not less than the number of rows.
struct first_rows_op {
  static constexpr std::string_view type = "FirstRows";
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list& x) {
    if (x.type(0) != dtype::int32 && x.type(0) != dtype::int64) return inference::wrong("indices are int32 or int64");
    return {dtype::int64, x.extent(0)};
  }
};

/// Checks that indices are less than the number of rows; it has no result. It remains of a lookup whose rows are read in place, and of
/// `first_rows_op` if equal indices are treated one by one. Operands: indices [i…]. Attribute: 1 if negative indices are rejected, too.
/// Errors: invalid_argument.
struct check_rows_op {
  static constexpr std::string_view type = "CheckRows";
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list& x) { return {x.type(0), x.extent(0)}; }
};

/// Sums of rows with equal indices, each at the first position of its index; 0 elsewhere. Operands: rows [i…, d…], and the result of
/// `first_rows_op` [i…].
struct sum_equal_rows_op {
  static constexpr std::string_view type = "SumEqualRows";
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list& x) {
    if (!is_floating(x.type(0)) || x.type(1) != dtype::int64) return inference::wrong("takes floating-point rows and their positions");
    return {x.type(0), x.extent(0)};
  }
};

/// variable[indices[i]] = rows[i], or -= if the first attribute is 1, at each first position of an index. The second attribute is that of
/// `first_rows_op`: if it is 1, rows with equal indices are subtracted one by one, in order, and the step has no operand for positions. The
/// result is the variable. Operands: the variable [n, d…], rows [i…, d…], indices [i…], and the result of `first_rows_op` [i…].
struct write_rows_op {
  static constexpr std::string_view type = "WriteRows";
  static constexpr op_kind kind = op_kind::assign;
  static constexpr inference infer(const operand_list& x) {
    if (x.type(0) != x.type(1)) return inference::wrong("dtypes differ");
    return {x.type(0), x.extent(0)};
  }
};

/// Whether a node that finds positions or writes rows treats equal indices one by one. It then needs no positions, only the check.
constexpr bool counts_one_by_one(const graph& g, const node& n) { return n.attribute_count > 1 && g.attribute(n, 1) != 0; }

}  // namespace leat::passes
