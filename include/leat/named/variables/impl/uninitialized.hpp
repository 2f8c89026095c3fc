#pragma once
// Implementation of uninitialized.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/definitions/shapes.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/named/functions/slice.hpp>
#include <leat/named/graph/lookup.hpp>
#include <leat/named/variables/initial_value.hpp>
#include <leat/named/variables/uninitialized.hpp>

namespace leat {

LEAT_FUNCTION output report_uninitialized_variables(std::vector<output> variables, std::string_view name,
                                                    const std::source_location& where) {
  graph& g = variables.empty() ? default_graph() : variables.front().owner();
  named_part& nodes = g.named();
  const source_scope line(g, where);
  const name_scope scope(g, name);
  if (variables.empty()) return nodes.make_constant(g, tensor_literal(data_type::string, shapes::vector_of(0), {}), "Const");
  std::vector<number_argument> answers;
  std::vector<std::string> texts;
  for (const output& v : variables) {
    answers.push_back(is_variable_initialized(v, "IsVariableInitialized", where));
    texts.push_back(nodes.record(v.index()).name);
  }
  const output all = call_operator(g, "Pack", answers, {}, "stack").result();
  const output missing = logical_not(all, "LogicalNot", where);
  const output names =
      nodes.make_constant(g, tensor_literal(data_type::string, shapes::vector_of(static_cast<std::int64_t>(texts.size())), texts), "Const");
  return boolean_mask(names, missing, "boolean_mask", where);
}

LEAT_FUNCTION output report_uninitialized_variables(std::string_view name, const std::source_location& where) {
  std::vector<output> all;
  for (const auto& list : {collection::global_variables, collection::local_variables})
    for (const auto& item : get_collection(default_graph(), list))
      if (const auto* v = std::get_if<output>(&item)) all.push_back(*v);
  return report_uninitialized_variables(all, name, where);
}

}  // namespace leat
