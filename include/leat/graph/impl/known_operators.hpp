#pragma once
// Implementation of known_operators.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/graph/known_operators.hpp>

namespace leat {

LEAT_FUNCTION const op_info* find_operator(std::string_view type) {
  auto& table = detail::operators();
  const std::lock_guard lock(table.guard);
  const auto at = table.by_type.find(type);
  return at == table.by_type.end() ? nullptr : at->second;
}

LEAT_FUNCTION std::vector<std::string_view> known_operator_types() {
  auto& table = detail::operators();
  const std::lock_guard lock(table.guard);
  std::vector<std::string_view> types;
  for (const auto& [type, info] : table.by_type) types.push_back(type);
  return types;
}

}  // namespace leat
