#pragma once
// Rows of a variable that are looked up and written, of which optimizers make their steps for gradients of lookups (train/optimizer.hpp).
// A gradient of rows is a pair: indices, and for each a row of values. The rows of equal indices are added first; the sum is stored where
// the index occurs first, and the other positions count for nothing. So shapes stay those of the indices, whatever they hold.
// Source: TensorFlow `IndexedSlices`, `_deduplicate_indexed_slices`, `SparseApply...`.

#include <leat/ops/state.hpp>

namespace leat::passes {

/// For each index the position of the first one that equals it, or -1 for a negative index, which is no row. Attributes: the number of
/// rows, and 1 if equal indices count one by one: then each is its own first.
/// Shapes: indices [i…]; result int64 [i…]. Errors: invalid_argument if an index is not less than the number of rows.
struct first_rows_op {
  static constexpr std::string_view type = "FirstRows";
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list& x) {
    if (x.type(0) != dtype::int32 && x.type(0) != dtype::int64) return inference::wrong("indices are int32 or int64");
    return {dtype::int64, x.extent(0)};
  }
};

/// Refuses indices of which there is no row, and gives nothing: what is left of a lookup whose rows are read where they lie, and of
/// `first_rows_op` where equal indices count one by one. Operands: indices [i…]. Attribute: 1 if a negative index is refused, too.
/// Errors: invalid_argument.
struct check_rows_op {
  static constexpr std::string_view type = "CheckRows";
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list& x) { return {x.type(0), x.extent(0)}; }
};

/// Sums of rows of equal indices, each at the position of the first; 0 elsewhere. Operands: rows [i…, d…], what `first_rows_op` gives [i…].
struct sum_equal_rows_op {
  static constexpr std::string_view type = "SumEqualRows";
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list& x) {
    if (!is_floating(x.type(0)) || x.type(1) != dtype::int64) return inference::wrong("takes floating-point rows and their positions");
    return {x.type(0), x.extent(0)};
  }
};

/// variable[indices[i]] = rows[i], or -= where the first attribute is 1, at each position that is the first of its index. The second one is
/// that of `first_rows_op`: with 1, rows of equal indices are subtracted one by one, in order, and a step has no operand for positions.
/// The result is the variable. Operands: the variable [n, d…], rows [i…, d…], indices [i…], what `first_rows_op` gives [i…].
struct write_rows_op {
  static constexpr std::string_view type = "WriteRows";
  static constexpr op_kind kind = op_kind::assign;
  static constexpr inference infer(const operand_list& x) {
    if (x.type(0) != x.type(1)) return inference::wrong("dtypes differ");
    return {x.type(0), x.extent(0)};
  }
};

/// Whether equal indices count one by one, of a node that finds positions or writes rows: positions are not needed then, only the check.
constexpr bool counts_one_by_one(const graph& g, const node& n) { return n.attribute_count > 1 && g.attribute(n, 1) != 0; }

}  // namespace leat::passes
