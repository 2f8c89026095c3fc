#pragma once
// Implementation of known_operators.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/graph/known_operators.hpp>

namespace leat {

LEAT_FUNCTION const op_info* find_operator(std::string_view type) {
  return detail::operators().find(type, &detail::known_operator::of_files);
}

LEAT_FUNCTION std::vector<std::string_view> known_operator_types() {
  return detail::operators().keys(&detail::known_operator::of_files);
}

}  // namespace leat
