#pragma once
// All variables of a session at once: their values by name, restored by name, and frozen to constants.

#include <leat/named/exchange/export.hpp>
#include <leat/proto/freeze.hpp>
#include <leat/session/graph_session.hpp>

namespace leat {

/// Values of variables by node name.
using session_values = std::map<std::string, tensor_value, std::less<>>;

namespace detail {

inline std::string name_list(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "'" : ", '") + name + "'";
  return text;
}

}  // namespace detail

/// A graph's variables except local ones, by name. Source: what TensorFlow's `Saver` saves.
inline std::map<std::string, output, std::less<>> saved_variables(graph& g) {
  std::vector<char> is_local(static_cast<std::size_t>(g.size()), 0);
  for (const output& v : get_tensors(g, collection::local_variables)) is_local[static_cast<std::size_t>(v.index())] = 1;
  std::map<std::string, output, std::less<>> list;
  g.named().settle_names(g);
  for (int i = 0; i < g.size(); ++i)
    if (g.at(i).op->kind == op_kind::variable && is_local[static_cast<std::size_t>(i)] == 0)
      list.emplace(g.named().record(i).name, output(g, i));
  return list;
}

/// The current values of these variables. Each is read separately: a concurrent run may write between two reads.
/// Errors: failed_precondition, naming all that have no value.
inline session_values values_of(graph_session& s, const std::map<std::string, output, std::less<>>& variables) {
  session_values values;
  std::vector<std::string> missing;
  for (const auto& [name, variable] : variables) {
    if (!s.is_initialized(variable)) missing.push_back(name);
    else values.emplace(name, s.value(variable));
  }
  if (!missing.empty())
    throw failed_precondition("variables without a value: " + detail::name_list(missing) +
                              "; run their initializers first");
  return values;
}
inline session_values values_of(graph_session& s) { return values_of(s, saved_variables(s.owner())); }

/// Assigns all non-local variables of the session's graph, or none if anything is wrong.
/// Errors: invalid_argument, naming all variables without a value, values without a variable, and mismatched dtypes or shapes.
inline void restore_values(graph_session& s, const session_values& values) {
  const auto variables = saved_variables(s.owner());
  std::vector<std::string> missing, extra;
  std::string problems;
  for (const auto& [name, variable] : variables) {
    const auto at = values.find(name);
    if (at == values.end()) {
      missing.push_back(name);
      continue;
    }
    if (at->second.type() != variable.type() || !may_equal(variable.extent(), at->second.extent()))
      problems += "; the variable '" + name + "' is " + dtype_name(variable.type()) + " " +
                  brackets(variable.extent()) + ", its value " + dtype_name(at->second.type()) + " " +
                  brackets(at->second.extent());
  }
  for (const auto& [name, value] : values)
    if (!variables.contains(name)) extra.push_back(name);
  if (!missing.empty()) problems += "; there are no values for the variables " + detail::name_list(missing);
  if (!extra.empty()) problems += "; the graph has no variables " + detail::name_list(extra);
  if (!problems.empty()) throw invalid_argument(problems.substr(2));
  for (const auto& [name, variable] : variables) s.assign(variable, values.find(name)->second);
}

/// The subgraph that the fetches ("y", "y:0") need, with variables replaced by constants of their current values.
/// Errors: those of `freeze`; failed_precondition for a needed variable without a value.
/// Source: `convert_variables_to_constants`.
inline graph_def freeze(graph_session& s, const std::vector<std::string>& fetches) {
  const graph_def part = extract_sub_graph(export_graph(s.owner()), fetches);
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
