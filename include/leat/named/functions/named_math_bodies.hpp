#pragma once
// Implementation of named_math.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/named_math.hpp>
#include <leat/named/functions/named_operand.hpp>

namespace leat {

LEAT_FUNCTION output cast(const operand_value& x, dtype to, std::string_view name,
                   const std::source_location& where) {
  if (x.tensor() != nullptr && x.tensor()->type() == to) return *x.tensor();
  const std::int64_t numbers[]{static_cast<std::int64_t>(to)};
  return detail::call_named(info_of<cast_op>, {x}, numbers, name, "Cast", where);
}

LEAT_FUNCTION output clip_by_value(const output& x, const operand_value& low, const operand_value& high, std::string_view name,
                            const std::source_location& where) {
  const name_scope scope(x.owner(), name.empty() ? "clip_by_value" : name);
  return detail::call_named(info_of<maximum_op>, {minimum(x, high, "Minimum", where), low}, {}, scope.text(), {}, where);
}

}  // namespace leat
