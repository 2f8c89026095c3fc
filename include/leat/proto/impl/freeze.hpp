#pragma once
// Implementation of freeze.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/proto/freeze.hpp>
#include <leat/proto/graph_def.hpp>
#include <leat/proto/producer.hpp>
#include <leat/proto/tensor_contents.hpp>

namespace leat::detail {

LEAT_FUNCTION bool takes_variable_itself(std::string_view op) {
  static constexpr std::string_view names[]{"Assign",       "AssignAdd",       "AssignSub",    "CountUpTo",     "IsVariableInitialized",
                                            "RefEnter",     "RefExit",         "RefIdentity",  "RefMerge",      "RefNextIteration",
                                            "RefSelect",    "RefSwitch",       "ScatterAdd",   "ScatterDiv",    "ScatterMax",
                                            "ScatterMin",   "ScatterMul",      "ScatterNdAdd", "ScatterNdMax",  "ScatterNdMin",
                                            "ScatterNdSub", "ScatterNdUpdate", "ScatterSub",   "ScatterUpdate", "StridedSliceAssign"};
  return std::find(std::begin(names), std::end(names), op) != std::end(names) || op.starts_with("Apply") || op.starts_with("SparseApply");
}

LEAT_FUNCTION bool may_hold(const tensor_shape_proto& variable, const tensor_shape_proto& value) {
  if (variable.unknown_rank) return true;
  if (variable.dims.size() != value.dims.size()) return false;
  for (std::size_t i = 0; i < value.dims.size(); ++i)
    if (variable.dims[i].size >= 0 && variable.dims[i].size != value.dims[i].size) return false;
  return true;
}

LEAT_FUNCTION std::string listed(std::vector<std::string_view> names) {
  std::sort(names.begin(), names.end());
  std::string text;
  for (auto name : names) text += (text.empty() ? "'" : ", '") + std::string(name) + "'";
  return text;
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION graph_def extract_sub_graph(const graph_def& def, const std::vector<std::string>& fetches) {
  std::unordered_map<std::string_view, std::size_t> by_name;
  for (std::size_t i = 0; i < def.nodes.size(); ++i) by_name.emplace(def.nodes[i].name, i);
  std::vector<char> needed(def.nodes.size(), 0);
  std::vector<std::size_t> open;
  const auto need = [&](std::string_view text) {
    const auto at = by_name.find(detail::node_of_input(text));
    if (at == by_name.end()) throw not_found("there is no node '" + std::string(detail::node_of_input(text)) + "' in the graph");
    if (needed[at->second] != 0) return;
    needed[at->second] = 1;
    open.push_back(at->second);
  };
  for (const auto& fetch : fetches) need(fetch);
  while (!open.empty()) {
    const std::size_t i = open.back();
    open.pop_back();
    for (const auto& input : def.nodes[i].inputs) need(input);
  }
  graph_def part{.nodes = {}, .versions = def.versions, .library = def.library};
  for (std::size_t i = 0; i < def.nodes.size(); ++i)
    if (needed[i] != 0) part.nodes.push_back(def.nodes[i]);
  return part;
}

LEAT_FUNCTION graph_def freeze(const graph_def& def, const variable_values& values, const std::vector<std::string>& fetches) {
  std::vector<std::string_view> nothing;
  {
    std::unordered_map<std::string_view, bool> variables;
    for (const node_def& node : def.nodes)
      if (detail::is_variable(node)) variables.emplace(node.name, true);
    for (const auto& [name, value] : values)
      if (!variables.contains(name)) nothing.push_back(name);
  }
  if (!nothing.empty()) throw not_found("freeze: the graph has no variables " + detail::listed(nothing));

  graph_def frozen = fetches.empty() ? def : extract_sub_graph(def, fetches);
  std::unordered_map<std::string_view, const node_def*> variables;  // names are those of the input graph, which stay valid
  std::vector<std::string_view> missing;
  for (const node_def& node : frozen.nodes) {
    if (!detail::is_variable(node)) continue;
    variables.emplace(node.name, &node);
    if (!values.contains(node.name)) missing.push_back(node.name);
  }
  if (!missing.empty()) throw failed_precondition("freeze: no values for the variables " + detail::listed(missing));

  for (const node_def& node : frozen.nodes)
    for (const std::string& input : node.inputs) {
      if (input.starts_with('^')) continue;
      const auto at = variables.find(detail::node_of_input(input));
      if (at == variables.end()) continue;
      const bool handle = at->second->op == "VarHandleOp";
      if (handle ? node.op != "ReadVariableOp" : detail::takes_variable_itself(node.op))
        throw failed_precondition("freeze: the node '" + node.name + "' (" + node.op + ") takes the variable '" + at->second->name +
                                  "' itself, which a constant cannot be: name fetches that do without this node");
    }

  std::vector<std::size_t> reads;
  for (std::size_t i = 0; i < frozen.nodes.size(); ++i)
    if (frozen.nodes[i].op == "ReadVariableOp" && !frozen.nodes[i].inputs.empty() &&
        variables.contains(detail::node_of_input(frozen.nodes[i].inputs[0])))
      reads.push_back(i);
  for (std::size_t i : reads) {
    node_def& node = frozen.nodes[i];
    node.op = "Identity";
    const auto* type = node.attributes.find("dtype");
    const attribute_value copy = type != nullptr ? *type : attribute_value{};
    node.attributes.erase("dtype");
    node.attributes["T"] = copy;
  }
  for (node_def& node : frozen.nodes) {
    if (!detail::is_variable(node)) continue;
    const tensor_proto& value = values.find(node.name)->second;
    if (const auto problem = problem_of(value); !problem.empty())
      throw invalid_argument("freeze: the value of the variable '" + node.name + "': " + problem);
    const auto* type = node.attributes.find("dtype");
    const auto* dtype_said = type != nullptr ? type->get_if<data_type>() : nullptr;
    const auto shape_said = declared_shape(node, frozen.versions.producer);
    if (dtype_said == nullptr) throw invalid_argument("freeze: the variable '" + node.name + "' lacks the attribute dtype");
    if (*dtype_said != value.dtype || (shape_said && !detail::may_hold(*shape_said, value.shape)))
      throw invalid_argument("freeze: the variable '" + node.name + "' is " + name_of_data_type(*dtype_said) + " " +
                             (shape_said ? to_text(*shape_said) : "?") + ", its value " + name_of_data_type(value.dtype) + " " +
                             to_text(value.shape));
    attribute_map attributes{{"dtype", *dtype_said}, {"value", value}};
    if (const auto* with = node.attributes.find("_class")) attributes["_class"] = *with;
    node.op = "Const";
    node.attributes = std::move(attributes);
    std::erase_if(node.inputs, [](const std::string& input) { return !input.starts_with('^'); });
  }
  return frozen;
}

}  // namespace leat
