#pragma once
// Makes nodes of defined operators (named/graph/operator_definition.hpp): checks inputs against the definition, infers attributes or takes
// their defaults, and infers dtypes and shapes of the results. Used by functions that build graphs and by the import of files.

#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/part.hpp>

namespace leat {

/// Makes a node of a defined operator: `call_operator(g, "Switch", {x, condition})`. Arrays as inputs become constants, named after the
/// argument; attributes that follow from the inputs or have defaults may be omitted.
/// Errors: invalid_argument, with TensorFlow's message, if inputs or attributes do not match the definition; unimplemented for an operator
/// that is not defined.
graph_operation call_operator(graph& g, std::string_view type, std::span<const number_argument> given, attribute_map attributes = {},
                              std::string_view name = {}, std::vector<int> waits = {});
graph_operation call_operator(graph& g, std::string_view type, std::initializer_list<number_argument> given, attribute_map attributes = {},
                              std::string_view name = {}, std::vector<int> waits = {});

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/graph/impl/call.hpp>
#endif
