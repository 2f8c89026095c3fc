#pragma once
// Implementation of named_array.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/array.hpp>

namespace leat {

LEAT_FUNCTION index_list::index_list(std::int32_t one) : held_(tensor_literal(one)) {}
LEAT_FUNCTION index_list::index_list(std::initializer_list<std::int32_t> list) : held_(tensor_literal(list)) {}
LEAT_FUNCTION index_list::index_list(const std::vector<std::int32_t>& list) : held_(tensor_literal(list)) {}
LEAT_FUNCTION index_list::index_list(const tensor_literal& literal) : held_(literal) {}
LEAT_FUNCTION index_list::index_list(const output& tensor) : held_(tensor) {}
LEAT_FUNCTION index_list::index_list(const index_list&) = default;
LEAT_FUNCTION index_list::index_list(index_list&&) noexcept = default;
LEAT_FUNCTION index_list& index_list::operator=(const index_list&) = default;
LEAT_FUNCTION index_list& index_list::operator=(index_list&&) noexcept = default;
LEAT_FUNCTION index_list::~index_list() = default;

#define LEAT_NAMED_REDUCTION(function, definition)                                                                            \
  LEAT_FUNCTION output function(const operand_value& x, const index_list& axes, keep_dims keep, std::string_view name,        \
                                const std::source_location& where) {                                                          \
    const std::int64_t numbers[]{keep == keep_dims::yes};                                                                     \
    return detail::call_with(info_of<definition>, x, std::span(&axes.argument(), 1), numbers, name, definition::type, where); \
  }                                                                                                                           \
  LEAT_FUNCTION output function(const operand_value& x, all_axes_tag, keep_dims keep, std::string_view name,                  \
                                const std::source_location& where) {                                                          \
    const std::int64_t numbers[]{keep == keep_dims::yes};                                                                     \
    return detail::call_with(info_of<definition>, x, {}, numbers, name, definition::type, where);                             \
  }

LEAT_NAMED_REDUCTION(reduce_sum, sum_op)
LEAT_NAMED_REDUCTION(reduce_mean, mean_op)
LEAT_NAMED_REDUCTION(reduce_max, max_op)
LEAT_NAMED_REDUCTION(reduce_min, min_op)
LEAT_NAMED_REDUCTION(reduce_prod, prod_op)
LEAT_NAMED_REDUCTION(reduce_euclidean_norm, euclidean_norm_op)
LEAT_NAMED_REDUCTION(reduce_all, all_op)
LEAT_NAMED_REDUCTION(reduce_any, any_op)

#undef LEAT_NAMED_REDUCTION

}  // namespace leat

namespace leat {

LEAT_FUNCTION output argmax(const operand_value& x, const index_list& axis, std::string_view name, const std::source_location& where) {
  const std::int64_t numbers[]{0, static_cast<std::int64_t>(dtype::int64)};
  return detail::call_with(info_of<argmax_op>, x, std::span(&axis.argument(), 1), std::span(numbers), name, "ArgMax", where);
}

LEAT_FUNCTION output argmin(const operand_value& x, const index_list& axis, std::string_view name, const std::source_location& where) {
  const std::int64_t numbers[]{0, static_cast<std::int64_t>(dtype::int64)};
  return detail::call_with(info_of<argmin_op>, x, std::span(&axis.argument(), 1), std::span(numbers), name, "ArgMin", where);
}

LEAT_FUNCTION output slice(const operand_value& x, const index_list& begin, const index_list& size, std::string_view name,
                           const std::source_location& where) {
  const number_argument both[]{begin.argument(), size.argument()};
  return detail::call_with(info_of<slice_op>, x, both, {}, name, "Slice", where);
}

LEAT_FUNCTION output concat(const std::vector<output>& values, std::int32_t axis, std::string_view name,
                            const std::source_location& where) {
  if (values.empty()) throw invalid_argument("concat: nothing to put together");
  graph& g = values.front().owner();
  const source_scope line(g, where);
  const std::int64_t numbers[]{axis};
  return g.named().build(g, info_of<concat_op>, values, numbers, name.empty() ? "concat" : name);
}

}  // namespace leat

namespace leat::detail {

LEAT_FUNCTION output call_with(const op_info& op, const operand_value& x, std::span<const number_argument> arguments,
                               std::span<const std::int64_t> numbers, std::string_view name, std::string_view default_name,
                               const std::source_location& where) {
  return call_named(op, {x}, numbers, name, default_name, where, 0, arguments);
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION output reshape(const operand_value& x, const index_list& shape, std::string_view name, const std::source_location& where) {
  return detail::call_with(info_of<reshape_op>, x, std::span(&shape.argument(), 1), {}, name, "Reshape", where);
}

LEAT_FUNCTION output transpose(const operand_value& x, const index_list& perm, std::string_view name, const std::source_location& where) {
  return detail::call_with(info_of<transpose_op>, x, std::span(&perm.argument(), 1), {}, name, "transpose", where);
}

LEAT_FUNCTION output expand_dims(const operand_value& x, const index_list& axis, std::string_view name, const std::source_location& where) {
  return detail::call_with(info_of<expand_dims_op>, x, std::span(&axis.argument(), 1), {}, name, "ExpandDims", where);
}

LEAT_FUNCTION output squeeze(const operand_value& x, const std::vector<std::int64_t>& axes, std::string_view name,
                             const std::source_location& where) {
  return detail::call_with(info_of<squeeze_op>, x, {}, axes, name, "Squeeze", where);
}

LEAT_FUNCTION output broadcast_to(const operand_value& x, const index_list& shape, std::string_view name,
                                  const std::source_location& where) {
  return detail::call_with(info_of<broadcast_to_op>, x, std::span(&shape.argument(), 1), {}, name, "BroadcastTo", where);
}

LEAT_FUNCTION output pad(const operand_value& x, const tensor_literal& paddings, std::string_view name, const std::source_location& where) {
  const number_argument only[]{paddings};
  return detail::call_with(info_of<pad_op>, x, only, {}, name, "Pad", where);
}

LEAT_FUNCTION output gather(const operand_value& params, const operand_value& indices, std::string_view name,
                            const std::source_location& where) {
  return detail::call_named(info_of<gather_op>, {params, indices}, {}, name, "GatherV2", where, 2);
}

}  // namespace leat
