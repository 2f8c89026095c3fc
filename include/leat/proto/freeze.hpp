#pragma once
// Freezes a graph: each variable becomes a constant of the same name with a given value, and nodes that read the variable read the
// constant. So a trained model is a single file. Nodes that write variables must not remain: with fetches, the graph is first cut down to
// the subgraph that they need. Works on file data, whether or not the library knows the operators.
// Source: TensorFlow 1.x `graph_util.convert_variables_to_constants`, `extract_sub_graph`.

#include <leat/core/function_bodies.hpp>
#include <leat/proto/graph_def.hpp>
#include <leat/proto/operator_names.hpp>
#include <leat/proto/tensor_contents.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace leat {

/// Values of variables, by node name.
using variable_values = std::map<std::string, tensor_proto, std::less<>>;

namespace detail {

// The node's name in "name", "name:1" or "^name".
inline std::string_view node_of_input(std::string_view text) {
  if (text.starts_with('^')) text.remove_prefix(1);
  return text.substr(0, text.find(':'));
}

inline bool is_variable(const node_def& node) { return is_kept_variable(node.op) || node.op == "VarHandleOp"; }

// TensorFlow's operators that take a variable's reference, not its value.
bool takes_variable_itself(std::string_view op);

bool may_hold(const tensor_shape_proto& variable, const tensor_shape_proto& value);

std::string listed(std::vector<std::string_view> names);

}  // namespace detail

/// The subgraph that these fetches ("name" or "name:0") need, in the graph's order. Errors: not_found for a fetch or an input that names no
/// node. Source: `extract_sub_graph`.
graph_def extract_sub_graph(const graph_def& def, const std::vector<std::string>& fetches);

/// The graph with constants in place of all variables; with fetches, cut down to the subgraph that they need. Values of variables that the
/// fetches do not need are ignored. Nodes keep their names, devices and colocations; `ReadVariableOp` becomes `Identity`.
/// Errors: failed_precondition, naming all variables without a value, or a node that takes a variable's reference, such as an assignment;
/// invalid_argument, naming the variable, for a value of another dtype or an incompatible shape; not_found for a value that belongs to no
/// variable, and for a fetch that names no node.
/// Source: `convert_variables_to_constants`.
graph_def freeze(const graph_def& def, const variable_values& values, const std::vector<std::string>& fetches = {});

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/proto/impl/freeze.hpp>
#endif
