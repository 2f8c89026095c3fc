#pragma once
// Implementation of initial_value.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/control/branch.hpp>
#include <leat/named/control/control_flow.hpp>
#include <leat/named/graph/call.hpp>
#include <leat/named/graph/lookup.hpp>
#include <leat/named/scopes/scopes.hpp>
#include <leat/named/variables/initial_value.hpp>

namespace leat {

LEAT_FUNCTION output is_variable_initialized(const output& variable, std::string_view name, const std::source_location& where) {
  graph& g = variable.owner();
  const source_scope line(g, where);
  constexpr std::string_view of_reference = "IsVariableInitialized", of_handle = "VarIsInitializedOp";
  if (g.named().is_handle(variable))
    return call_operator(g, of_handle, {variable}, {}, name == of_reference ? of_handle : name).result();
  return call_operator(g, of_reference, {variable}, {}, name).result();
}

}  // namespace leat

namespace leat::detail {

LEAT_FUNCTION output value_or(const output& variable, const output& otherwise, const std::source_location& where) {
  graph& g = variable.owner();
  named_part& nodes = g.named();
  const outside_contexts free(nodes);
  return cond(
      is_variable_initialized(variable, "IsVariableInitialized", where),
      [&] {
        if (nodes.is_handle(variable)) return nodes.value_of(variable);
        return nodes.raw(g, "Identity", std::array{variable}, {{"T", variable.type()}}, {{variable.type(), variable.extent()}}, "read")
            .result();
      },
      [&] { return otherwise; }, "cond", where);
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION output initialized_value(const output& variable, const std::source_location& where) {
  const auto& known = variable.owner().named().first_values;
  const auto first = known.find(variable.index());
  if (first == known.end()) throw invalid_argument("initialized_value: " + describe(variable) + " is not a variable with a first value");
  return detail::value_or(variable, first->second, where);
}

}  // namespace leat
