#pragma once
// Implementation of graph_variables.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/session/graph_variables.hpp>

namespace leat {

LEAT_FUNCTION std::map<std::string, output, std::less<>> saved_variables(graph& g) {
  std::vector<char> is_local(static_cast<std::size_t>(g.size()), 0);
  for (const output& v : get_tensors(g, collection::local_variables)) is_local[static_cast<std::size_t>(v.index())] = 1;
  std::map<std::string, output, std::less<>> list;
  g.named().settle_names(g);
  for (int i = 0; i < g.size(); ++i)
    if (g.at(i).op->kind == op_kind::variable && is_local[static_cast<std::size_t>(i)] == 0)
      list.emplace(g.named().record(i).name, output(g, i));
  return list;
}

LEAT_FUNCTION session_values values_of(graph_session& s, const std::map<std::string, output, std::less<>>& variables) {
  session_values values;
  std::vector<std::string> missing;
  for (const auto& [name, variable] : variables) {
    if (!s.is_initialized(variable)) missing.push_back(name);
    else values.emplace(name, s.value(variable));
  }
  if (!missing.empty())
    throw failed_precondition("variables without a value: " + detail::name_list(missing) + "; run their initializers first");
  return values;
}

}  // namespace leat

namespace leat::detail {

LEAT_FUNCTION bool fits_variable(const output& variable, const tensor_value& value) {
  return value.type() == variable.type() && may_equal(variable.extent(), value.extent());
}
LEAT_FUNCTION std::string misfit_text(const std::string& name, const output& variable, const tensor_value& value) {
  return "the variable '" + name + "' is " + dtype_name(variable.type()) + " " + brackets(variable.extent()) + ", its value " +
         dtype_name(value.type()) + " " + brackets(value.extent());
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION void restore_values(graph_session& s, const session_values& values) {
  const auto variables = saved_variables(s.owner());
  std::vector<std::string> missing, extra;
  std::string problems;
  for (const auto& [name, variable] : variables) {
    const auto at = values.find(name);
    if (at == values.end()) missing.push_back(name);
    else if (!detail::fits_variable(variable, at->second)) problems += "; " + detail::misfit_text(name, variable, at->second);
  }
  for (const auto& [name, value] : values)
    if (!variables.contains(name)) extra.push_back(name);
  if (!missing.empty()) problems += "; there are no values for the variables " + detail::name_list(missing);
  if (!extra.empty()) problems += "; the graph has no variables " + detail::name_list(extra);
  if (!problems.empty()) throw invalid_argument(problems.substr(2));
  for (const auto& [name, variable] : variables) s.assign(variable, values.find(name)->second);
}

LEAT_FUNCTION std::map<std::string, std::string, std::less<>> restore_known_values(graph_session& s, const session_values& values) {
  std::map<std::string, std::string, std::less<>> left_out;
  for (const auto& [name, variable] : saved_variables(s.owner())) {
    const auto at = values.find(name);
    if (at == values.end()) left_out.emplace(name, "there is no value for the variable '" + name + "'");
    else if (!detail::fits_variable(variable, at->second)) left_out.emplace(name, detail::misfit_text(name, variable, at->second));
    else s.assign(variable, at->second);
  }
  return left_out;
}

LEAT_FUNCTION graph_def freeze(graph_session& s, const std::vector<std::string>& fetches) {
  graph_def part = extract_sub_graph(export_graph(s.owner()), fetches);
  part.library = library_for(s.owner().named(), part.nodes);
  variable_values values;
  for (const node_def& node : part.nodes) {
    if (!detail::is_variable(node)) continue;
    const output variable = get_tensor_by_name(s.owner(), node.name + ":0");
    if (variable.owner().at(variable.index()).op->kind == op_kind::variable && s.is_initialized(variable))
      values.emplace(node.name, s.value(variable).proto());
  }
  return freeze(part, values, fetches);
}

}  // namespace leat
