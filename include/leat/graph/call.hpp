#pragma once
// Nodes of defined operators (graph/operator_definition.hpp): inputs are checked against the definition, attributes follow from
// the inputs or are the defaults, results get dtypes and shapes. Builders and the import of files both come through here.

#include <leat/graph/known_value.hpp>
#include <leat/graph/operator_definition.hpp>

namespace leat {

/// A node of a defined operator: `call_operator(g, "Switch", {x, condition})`. Inputs may be arrays, which become constants named
/// after the argument; attributes that follow from the inputs or have defaults need not be given.
/// Errors: invalid_argument, in TensorFlow's words, where inputs or attributes do not fit the definition; unimplemented for a
/// type that is not defined.
graph_operation call_operator(graph& g, std::string_view type, std::span<const number_argument> given, attribute_map attributes = {},
                              std::string_view name = {}, std::vector<int> waits = {});
inline graph_operation call_operator(graph& g, std::string_view type, std::initializer_list<number_argument> given,
                                     attribute_map attributes = {}, std::string_view name = {}, std::vector<int> waits = {}) {
  return call_operator(g, type, std::span<const number_argument>(given.begin(), given.size()), std::move(attributes), name,
                       std::move(waits));
}

}  // namespace leat
