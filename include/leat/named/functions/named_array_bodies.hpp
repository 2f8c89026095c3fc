#pragma once
// Implementation of named_array.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/named_array.hpp>

namespace leat {

LEAT_FUNCTION output argmax(const operand_value& x, const index_list& axis, std::string_view name,
                     const std::source_location& where) {
  const std::int64_t numbers[]{0, static_cast<std::int64_t>(dtype::int64)};
  return detail::call_with(info_of<argmax_op>, x, std::span(&axis.argument(), 1), std::span(numbers), name, "ArgMax", where);
}

LEAT_FUNCTION output argmin(const operand_value& x, const index_list& axis, std::string_view name,
                     const std::source_location& where) {
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
