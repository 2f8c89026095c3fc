#pragma once
// Slices of named graphs, by positions, ranges and steps along each axis: `index(x, {0})` is NumPy's x[0], `index(x, {along::all(),
// along::from(1)})` is x[:, 1:]. Each becomes one StridedSlice node. Source: TensorFlow `strided_slice`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/named_array.hpp>
#include <leat/named/graph/call.hpp>

namespace leat {

/// An entry of `index`: a position, which removes its axis, or a result of the functions in `along`.
class axis_index {
 public:
  enum class kind { position, range, new_axis, rest };
  axis_index(std::int32_t position) : kind_(kind::position), begin_(position) {}
  axis_index(kind k, std::optional<std::int32_t> begin, std::optional<std::int32_t> end, std::int32_t step)
      : kind_(k), begin_(begin), end_(end), step_(step) {}
  kind what() const { return kind_; }
  const std::optional<std::int32_t>& begin() const { return begin_; }
  const std::optional<std::int32_t>& end() const { return end_; }
  std::int32_t step() const { return step_; }

 private:
  kind kind_;
  std::optional<std::int32_t> begin_;
  std::optional<std::int32_t> end_;
  std::int32_t step_ = 1;
};

namespace along {
/// The whole axis, `:`, or each `step`-th element of it, `::step`.
inline axis_index all(std::int32_t step = 1) { return {axis_index::kind::range, {}, {}, step}; }
/// `begin:`; negative numbers count from the end.
inline axis_index from(std::int32_t begin, std::int32_t step = 1) { return {axis_index::kind::range, begin, {}, step}; }
/// `:end`.
inline axis_index until(std::int32_t end, std::int32_t step = 1) { return {axis_index::kind::range, {}, end, step}; }
/// `begin:end`.
inline axis_index between(std::int32_t begin, std::int32_t end, std::int32_t step = 1) {
  return {axis_index::kind::range, begin, end, step};
}
/// A new axis of size 1.
inline axis_index new_axis() { return {axis_index::kind::new_axis, {}, {}, 1}; }
/// All axes that the other entries do not name, `...`; at most once.
inline axis_index rest() { return {axis_index::kind::rest, {}, {}, 1}; }
}  // namespace along

/// The masks of a strided slice as in TensorFlow, one bit per entry: omitted begin or end, ellipsis, new axis, removed axis.
struct slice_options {
  std::int64_t begin_mask = 0;
  std::int64_t end_mask = 0;
  std::int64_t ellipsis_mask = 0;
  std::int64_t new_axis_mask = 0;
  std::int64_t shrink_axis_mask = 0;
};

/// The elements from `begin` to before `end` in steps of `strides`, along the first axes. Source: `strided_slice`.
/// Errors: invalid_argument for a step of 0, a position out of range, more entries than axes.
output strided_slice(const operand_value& x, const index_list& begin, const index_list& end, const index_list& strides,
                     const slice_options& masks = {}, std::string_view name = "StridedSlice",
                     const std::source_location& where = std::source_location::current());

/// x[entries...]. Errors: as `strided_slice`.
output index(const output& x, const std::vector<axis_index>& entries, std::string_view name = "strided_slice",
             const std::source_location& where = std::source_location::current());

/// The elements or slices of `params` at the index tuples in the last axis of `indices`. Shapes: params [d0, …, dn], indices [..., k];
/// result [..., dk, …, dn]. Dtypes: indices int32 or int64. Source: `gather_nd`.
output gather_nd(const operand_value& params, const operand_value& indices, std::string_view name = "GatherNd",
                 const std::source_location& where = std::source_location::current());

/// The `k` largest elements along the last axis, and their indices, int32: both sorted from the largest down, whatever `sorted` says.
/// The lower index comes first among equals; NaN is above all numbers. Shapes: x [..., n]; results [..., k]. Dtypes: numbers.
/// `k` is an int32, or a tensor of one. Errors in a run: invalid_argument unless 0 ≤ k ≤ n. Source: `top_k`.
std::pair<output, output> top_k(const operand_value& x, const operand_value& k = 1, bool sorted = true, std::string_view name = "TopKV2",
                                const std::source_location& where = std::source_location::current());

/// The indices at which a bool tensor is true, int64 [count, rank]. Source: `where` of one argument.
output where_true(const operand_value& condition, std::string_view name = "Where",
                  const std::source_location& where = std::source_location::current());
/// x where the condition holds, y elsewhere, all of one shape; a condition of rank 1 selects rows. Source: `where` of TensorFlow 1.x.
/// `select` broadcasts.
output choose(const output& condition, const output& x, const output& y, std::string_view name = "Select",
              const std::source_location& where = std::source_location::current());

/// The elements, or rows, of x where the mask, over its first k dimensions, is true. Shapes: x [d0, …, dn], mask [d0, …]; result
/// [count, dk, …, dn]. Source: `boolean_mask`.
/// Errors: invalid_argument if the rank of the mask is 0 or unknown, or its shape does not fit.
output boolean_mask(const output& x, const output& mask, std::string_view name = "boolean_mask",
                    const std::source_location& where = std::source_location::current());

/// Options of cumulative functions.
struct cumulative_options {
  bool exclusive = false;  // excludes the element itself
  bool reverse = false;    // starts at the end
};
/// The cumulative sum along an axis. Shapes: result like x. Source: `cumsum`.
output cumsum(const operand_value& x, std::int32_t axis = 0, cumulative_options options = {}, std::string_view name = "Cumsum",
              const std::source_location& where = std::source_location::current());
/// The cumulative product along an axis. Shapes: result like x. Source: `cumprod`.
output cumprod(const operand_value& x, std::int32_t axis = 0, cumulative_options options = {}, std::string_view name = "Cumprod",
               const std::source_location& where = std::source_location::current());
/// x reversed along these axes. Source: `reverse`.
output reverse(const operand_value& x, const index_list& axes, std::string_view name = "ReverseV2",
               const std::source_location& where = std::source_location::current());

/// Sums of rows by segment: result[i] = Σ data[k] over segment_ids[k] = i, a row of zeros where there is none; negative ids are dropped.
/// `num_segments` is an integer, or a tensor of one. Shapes: ids [k…], data [k…, d…]; result [num_segments, d…]. Dtypes: numbers; ids and
/// num_segments int32 or int64. Errors in a run: invalid_argument for an id that is not below num_segments. Source:
/// `unsorted_segment_sum`.
output unsorted_segment_sum(const operand_value& data, const operand_value& segment_ids, const operand_value& num_segments,
                            std::string_view name = {}, const std::source_location& where = std::source_location::current());

/// The largest, the smallest, the product of the rows of each segment, likewise; where there is none, the least number of the dtype, the
/// largest, 1. Source: `unsorted_segment_max`, `unsorted_segment_min`, `unsorted_segment_prod`.
output unsorted_segment_max(const operand_value& data, const operand_value& segment_ids, const operand_value& num_segments,
                            std::string_view name = {}, const std::source_location& where = std::source_location::current());
output unsorted_segment_min(const operand_value& data, const operand_value& segment_ids, const operand_value& num_segments,
                            std::string_view name = {}, const std::source_location& where = std::source_location::current());
output unsorted_segment_prod(const operand_value& data, const operand_value& segment_ids, const operand_value& num_segments,
                             std::string_view name = {}, const std::source_location& where = std::source_location::current());

/// Sum, mean, product, largest and smallest of the rows of each segment: result[i] of data[k] over segment_ids[k] = i; zeros where there is
/// none, of products ones. The last id says how many segments there are. Shapes: ids [k], data [k, d…]; result [last id + 1, d…].
/// Dtypes: numbers; ids int32 or int64. Errors in a run: invalid_argument for ids that are negative or not sorted. Source: `segment_sum`
/// and its kin.
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

/// `num` numbers in equal steps from start to stop, scalars that are both among them; of one number start. Source: `lin_space`.
output lin_space(const operand_value& start, const operand_value& stop, std::int32_t num, std::string_view name = "LinSpace",
                 const std::source_location& where = std::source_location::current());

/// Ones of the shape and dtype of x. Source: `ones_like`.
output ones_like(const output& x, std::string_view name = "ones_like", const std::source_location& where = std::source_location::current());

/// Rows of `depth` numbers, `on` at the index and `off` elsewhere. Shapes: indices [...]; result [..., depth]. Source: `one_hot`.
output one_hot(const operand_value& indices, std::int32_t depth, const tensor_literal& on = 1.0f, const tensor_literal& off = 0.0f,
               std::string_view name = "one_hot", const std::source_location& where = std::source_location::current());
/// The same along a new axis of the result, from 0 to the rank of the indices, or -1 for the last.
output one_hot(const operand_value& indices, std::int32_t depth, const tensor_literal& on, const tensor_literal& off, std::int32_t axis,
               std::string_view name = "one_hot", const std::source_location& where = std::source_location::current());

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/functions/named_slice_bodies.hpp>
#endif
