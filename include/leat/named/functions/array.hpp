#pragma once
// Reductions, and functions that rearrange arrays, in named graphs. Axes and shapes are arrays or tensors: `reduce_mean(x, {1})`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/operand.hpp>
#include <leat/named/graph/part.hpp>

namespace leat {

/// Axes, sizes or positions: a list, a single value, or an integer tensor.
class index_list {
 public:
  index_list(std::int32_t one);
  index_list(std::initializer_list<std::int32_t> list);
  index_list(const std::vector<std::int32_t>& list);
  index_list(const tensor_literal& literal);
  index_list(const output& tensor);
  index_list(const index_list&);
  index_list(index_list&&) noexcept;
  index_list& operator=(const index_list&);
  index_list& operator=(index_list&&) noexcept;
  ~index_list();
  const number_argument& argument() const { return held_; }

 private:
  number_argument held_;
};

namespace detail {
output call_with(const op_info& op, const operand_value& x, std::span<const number_argument> arguments,
                 std::span<const std::int64_t> numbers, std::string_view name, std::string_view default_name,
                 const std::source_location& where);
}  // namespace detail

/// Whether a reduction keeps the reduced axes as dimensions of 1.
enum class keep_dims : bool { no, yes };
/// A reduction over all axes: `reduce_sum(x, all_axes, keep_dims::yes)`.
struct all_axes_tag {};
/// All axes of a reduction: `reduce_sum(x, all_axes, keep_dims::yes)`.
inline constexpr all_axes_tag all_axes{};

#define LEAT_NAMED_REDUCTION(function)                                                                                        \
  output function(const operand_value& x, const index_list& axes, keep_dims keep = keep_dims::no, std::string_view name = {}, \
                  const std::source_location& where = std::source_location::current());                                       \
  output function(const operand_value& x, all_axes_tag, keep_dims keep = keep_dims::no, std::string_view name = {},           \
                  const std::source_location& where = std::source_location::current());

/// Reductions along `axes`, or `all_axes`. Shapes: x without the axes, or with these as 1. Dtypes: numeric; bool for `reduce_all` and
/// `reduce_any`.
/// Errors: invalid_argument if an axis is out of range or named twice. Source: TensorFlow functions of the same names.
LEAT_NAMED_REDUCTION(reduce_sum)
LEAT_NAMED_REDUCTION(reduce_mean)
LEAT_NAMED_REDUCTION(reduce_max)
LEAT_NAMED_REDUCTION(reduce_min)
LEAT_NAMED_REDUCTION(reduce_prod)
LEAT_NAMED_REDUCTION(reduce_euclidean_norm)
LEAT_NAMED_REDUCTION(reduce_all)
LEAT_NAMED_REDUCTION(reduce_any)

#undef LEAT_NAMED_REDUCTION

/// The index of the largest element along an axis, int64; among equal elements the first. Shapes: result like x without the axis.
/// Dtypes: numeric.
/// Source: `argmax`.
output argmax(const operand_value& x, const index_list& axis, std::string_view name = {},
              const std::source_location& where = std::source_location::current());
/// The index of the smallest element along an axis, int64; among equal elements the first. Shapes: result like x without the axis.
/// Dtypes: numeric.
/// Source: `argmin`.
output argmin(const operand_value& x, const index_list& axis, std::string_view name = {},
              const std::source_location& where = std::source_location::current());

/// The elements of x in row-major order, in another shape; one dimension of -1 is computed from the others. Errors: invalid_argument if the
/// number of elements differs.
/// Source: `reshape`.
output reshape(const operand_value& x, const index_list& shape, std::string_view name = {},
               const std::source_location& where = std::source_location::current());
/// x with permuted axes: result axis k is axis perm[k] of x. Errors: invalid_argument if `perm` is not a permutation of the axes.
/// Source: `transpose`.
output transpose(const operand_value& x, const index_list& perm, std::string_view name = {},
                 const std::source_location& where = std::source_location::current());
/// x with a new dimension of 1 before an axis. Shapes: x of rank r; result of rank r + 1. Source: `expand_dims`.
output expand_dims(const operand_value& x, const index_list& axis, std::string_view name = {},
                   const std::source_location& where = std::source_location::current());
/// x without its dimensions of 1: without all of them, or those of `axes`. Errors: invalid_argument if a dimension at `axes` is not 1.
/// Source: `squeeze`.
output squeeze(const operand_value& x, const std::vector<std::int64_t>& axes, std::string_view name = {},
               const std::source_location& where = std::source_location::current());
/// x broadcast to a shape. Errors: invalid_argument if x does not broadcast to it. Source: `broadcast_to`.
output broadcast_to(const operand_value& x, const index_list& shape, std::string_view name = {},
                    const std::source_location& where = std::source_location::current());
inline output broadcast_to(const output& x, std::initializer_list<std::int32_t> sizes, std::string_view name = {},
                           const std::source_location& where = std::source_location::current()) {
  return broadcast_to(operand_value(x), index_list(sizes), name, where);
}
/// The slice of x that starts at `begin` and has the shape `size`; a size of -1 extends to the end of the axis. Source: `slice`.
output slice(const operand_value& x, const index_list& begin, const index_list& size, std::string_view name = {},
             const std::source_location& where = std::source_location::current());
/// x padded with zeros; `paddings` has a row [before, after] for each axis. Shapes: each dimension grows by before + after.
/// Source: `pad`.
output pad(const operand_value& x, const tensor_literal& paddings, std::string_view name = {},
           const std::source_location& where = std::source_location::current());
/// Slices along the first axis, by index: result[i…] = params[indices[i…]]. Shapes: params [n, d…], indices [i…]; result [i…, d…].
/// Errors in a run: invalid_argument if an index is out of range. Source: `gather`.
output gather(const operand_value& params, const operand_value& indices, std::string_view name = {},
              const std::source_location& where = std::source_location::current());
/// Arrays concatenated along an axis. Shapes: equal except along the axis, where sizes add up. Dtypes: equal.
/// Errors: invalid_argument for an empty list. Source: `concat`.
output concat(const std::vector<output>& values, std::int32_t axis, std::string_view name = {},
              const std::source_location& where = std::source_location::current());

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/functions/impl/array.hpp>
#endif
