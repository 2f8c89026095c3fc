#pragma once
// Slices of named graphs, by positions, ranges and steps along each axis: `index(x, {0})` is NumPy's x[0], `index(x, {along::all(),
// along::from(1)})` is x[:, 1:]. Each becomes one StridedSlice node. Source: TensorFlow `strided_slice`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/array.hpp>
#include <leat/named/graph/call.hpp>
#include <leat/ops/axis_index.hpp>

namespace leat {

/// The masks of a strided slice, as in TensorFlow: one bit per entry, for an omitted begin or end, an ellipsis, a new axis, a removed axis.
struct slice_options {
  std::int64_t begin_mask = 0;        // entries whose `begin` is ignored: from the first element
  std::int64_t end_mask = 0;          // entries whose `end` is ignored: to the last element
  std::int64_t ellipsis_mask = 0;     // the entry that stands for as many axes as are left
  std::int64_t new_axis_mask = 0;     // entries that insert an axis of size 1
  std::int64_t shrink_axis_mask = 0;  // entries that take one element and drop the axis
};

/// The elements from `begin` up to, but without, `end` in steps of `strides`, along the first axes. Source: `strided_slice`.
/// Errors: invalid_argument for a step of 0, a position out of range, or more entries than axes.
output strided_slice(const operand_value& x, const index_list& begin, const index_list& end, const index_list& strides,
                     const slice_options& masks = {}, std::string_view name = "StridedSlice",
                     const std::source_location& where = std::source_location::current());

/// NumPy's x[entries...]. Errors: as for `strided_slice`.
output index(const output& x, const std::vector<axis_index>& entries, std::string_view name = "strided_slice",
             const std::source_location& where = std::source_location::current());

/// The elements or slices of `params` at the index tuples in the last axis of `indices`. Shapes: params [d0, …, dn], indices [..., k];
/// result [..., dk, …, dn]. Dtypes: indices int32 or int64. Source: `gather_nd`.
output gather_nd(const operand_value& params, const operand_value& indices, std::string_view name = "GatherNd",
                 const std::source_location& where = std::source_location::current());

/// The `k` largest elements along the last axis, and their indices, int32. Both are sorted from the largest down, even if `sorted` is
/// false. Among equal elements the lower index comes first; NaN is above all other values. Shapes: x [..., n]; results [..., k].
/// Dtypes: numeric; `k` int32, a value or a tensor. Errors in a run: invalid_argument unless 0 ≤ k ≤ n. Source: `top_k`.
std::pair<output, output> top_k(const operand_value& x, const operand_value& k = 1, bool sorted = true, std::string_view name = "TopKV2",
                                const std::source_location& where = std::source_location::current());

/// The indices at which a bool tensor is true, int64 [count, rank]. Source: `where` of one argument.
output where_true(const operand_value& condition, std::string_view name = "Where",
                  const std::source_location& where = std::source_location::current());
/// x where the condition holds, y elsewhere. Shapes: all equal; a condition of rank 1 selects rows. `select` broadcasts instead.
/// Source: `where` of TensorFlow 1.x.
output choose(const output& condition, const output& x, const output& y, std::string_view name = "Select",
              const std::source_location& where = std::source_location::current());

/// The elements, or slices, of x where the mask is true; the mask covers the first k dimensions of x. Shapes: x [d0, …, dn], mask [d0, …];
/// result [count, dk, …, dn]. Source: `boolean_mask`.
/// Errors: invalid_argument if the rank of the mask is 0 or unknown, or its shape does not fit.
output boolean_mask(const output& x, const output& mask, std::string_view name = "boolean_mask",
                    const std::source_location& where = std::source_location::current());

/// Options of cumulative functions.
struct cumulative_options {
  bool exclusive = false;  // each result excludes the element at its own position
  bool reverse = false;    // accumulates from the end of the axis
};
/// The cumulative sum along an axis. Shapes: result like x. Source: `cumsum`.
output cumsum(const operand_value& x, std::int32_t axis = 0, cumulative_options options = {}, std::string_view name = "Cumsum",
              const std::source_location& where = std::source_location::current());
/// The cumulative product along an axis. Shapes: result like x. Source: `cumprod`.
output cumprod(const operand_value& x, std::int32_t axis = 0, cumulative_options options = {}, std::string_view name = "Cumprod",
               const std::source_location& where = std::source_location::current());
/// x with the order of its elements reversed along these axes. Source: `reverse`.
output reverse(const operand_value& x, const index_list& axes, std::string_view name = "ReverseV2",
               const std::source_location& where = std::source_location::current());

/// Sums of rows by segment: result[i] = Σ data[k] over the k with segment_ids[k] = i, and zeros for an empty segment. Rows with negative
/// ids are dropped. `num_segments` is an integer, or a tensor with one. Shapes: ids [k…], data [k…, d…]; result [num_segments, d…].
/// Dtypes: numeric; ids and num_segments int32 or int64. Errors in a run: invalid_argument for an id that is not below num_segments.
/// Source: `unsorted_segment_sum`.
output unsorted_segment_sum(const operand_value& data, const operand_value& segment_ids, const operand_value& num_segments,
                            std::string_view name = {}, const std::source_location& where = std::source_location::current());

/// The maximum, minimum or product of the rows of each segment; arguments as for `unsorted_segment_sum`. An empty segment gives the lowest
/// value of the dtype for the maximum, the highest for the minimum, and 1 for the product. Source: `unsorted_segment_max`,
/// `unsorted_segment_min`, `unsorted_segment_prod`.
output unsorted_segment_max(const operand_value& data, const operand_value& segment_ids, const operand_value& num_segments,
                            std::string_view name = {}, const std::source_location& where = std::source_location::current());
output unsorted_segment_min(const operand_value& data, const operand_value& segment_ids, const operand_value& num_segments,
                            std::string_view name = {}, const std::source_location& where = std::source_location::current());
output unsorted_segment_prod(const operand_value& data, const operand_value& segment_ids, const operand_value& num_segments,
                             std::string_view name = {}, const std::source_location& where = std::source_location::current());

/// Sum, mean, product, maximum or minimum of the rows of each segment: result[i] is computed from data[k] over the k with segment_ids[k] =
/// i. An empty segment gives 0, for products 1. The last id determines the number of segments. Shapes: ids [k], data [k, d…]; result [last
/// id + 1, d…]. Dtypes: numeric; ids int32 or int64. Errors in a run: invalid_argument for ids that are negative or not sorted.
/// Source: `segment_sum`, `segment_mean`, `segment_prod`, `segment_max`, `segment_min`.
output segment_sum(const operand_value& data, const operand_value& segment_ids, std::string_view name = "SegmentSum",
                   const std::source_location& where = std::source_location::current());
output segment_mean(const operand_value& data, const operand_value& segment_ids, std::string_view name = "SegmentMean",
                    const std::source_location& where = std::source_location::current());
output segment_prod(const operand_value& data, const operand_value& segment_ids, std::string_view name = "SegmentProd",
                    const std::source_location& where = std::source_location::current());
output segment_max(const operand_value& data, const operand_value& segment_ids, std::string_view name = "SegmentMax",
                   const std::source_location& where = std::source_location::current());
output segment_min(const operand_value& data, const operand_value& segment_ids, std::string_view name = "SegmentMin",
                   const std::source_location& where = std::source_location::current());

/// `num` values at equal distances from `start` to `stop`, both included; with `num` = 1 only `start`. Shapes: start and stop []; result
/// [num]. Source: `lin_space`.
output lin_space(const operand_value& start, const operand_value& stop, std::int32_t num, std::string_view name = "LinSpace",
                 const std::source_location& where = std::source_location::current());

/// Ones of the shape and dtype of x. Source: `ones_like`.
output ones_like(const output& x, std::string_view name = "ones_like", const std::source_location& where = std::source_location::current());

/// One-hot rows of length `depth`: `on` at the index and `off` elsewhere. Shapes: indices [...]; result [..., depth]. Source: `one_hot`.
output one_hot(const operand_value& indices, std::int32_t depth, const tensor_literal& on = 1.0f, const tensor_literal& off = 0.0f,
               std::string_view name = "one_hot", const std::source_location& where = std::source_location::current());
/// `one_hot` with the new axis at position `axis` of the result: 0 to the rank of the indices, or -1 for the last.
output one_hot(const operand_value& indices, std::int32_t depth, const tensor_literal& on, const tensor_literal& off, std::int32_t axis,
               std::string_view name = "one_hot", const std::source_location& where = std::source_location::current());

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/functions/impl/slice.hpp>
#endif
