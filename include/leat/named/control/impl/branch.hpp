#pragma once
// Implementation of branch.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/control/branch.hpp>
#include <leat/named/control/control_flow.hpp>
#include <leat/named/functions/operand.hpp>
#include <leat/named/graph/call.hpp>

namespace leat::detail {

LEAT_FUNCTION output as_tensor(graph& g, const operand_value& value, std::string_view name) {
  return value.tensor() != nullptr ? g.named().value_of(*value.tensor()) : g.named().make_constant(g, *value.literal(), name);
}

LEAT_FUNCTION output with_dependencies(const std::vector<control_input>& waits, const output& tensor) {
  graph& g = tensor.owner();
  const default_graph_scope here(g);
  const name_scope scope(g, "control_dependency");
  const colocate_with there{control_input(tensor)};
  const control_dependencies first(waits);
  return g.named().build(g, info_of<identity_op>, std::array{tensor}, {}, scope.text());
}

LEAT_FUNCTION std::vector<control_input> unused_in(flow_context& context, int first) {
  graph& g = context.owner();
  named_part& nodes = g.named();
  std::set<int> used;
  for (int i = first; i < g.size(); ++i) {
    for (int k = 0; k < nodes.input_count(g, i); ++k) used.insert(nodes.input(g, i, k).index());
    for (int k = 0; k < g.at(i).control_count; ++k) used.insert(g.control(g.at(i), k));
  }
  std::vector<control_input> list;
  for (int i = first; i < g.size(); ++i)
    if (result_context(g, i) == &context && !used.contains(i)) list.emplace_back(graph_operation(g, i));
  return list;
}

LEAT_FUNCTION std::vector<output> build_branch(cond_context& context, const branch_function& function) {
  graph& g = context.owner();
  const inside_context inside(g.named(), &context);
  const int first = g.size();
  const branch_result given = function();
  std::vector<output> results;
  if (given.returns_nothing) {
    results.push_back(with_dependencies(unused_in(context, first), context.pivot()));
  } else {
    for (const auto& item : given.items) {
      if (const auto* operation = std::get_if<graph_operation>(&item)) {
        if (&operation->owner() != &g) throw invalid_argument("Operation '" + operation->name() + "' is not an element of this graph.");
        results.push_back(with_dependencies({*operation}, context.pivot()));
      } else {
        const output tensor = as_tensor(g, std::get<operand_value>(item));
        if (!static_cast<bool>(tensor)) throw invalid_argument("cond: a branch gives an operand that is no node of a graph");
        if (&tensor.owner() != &g) throw invalid_argument(describe(tensor) + " is not an element of this graph.");
        g.named().settle_names(g);
        results.push_back(context.result(tensor));
      }
    }
  }
  context.hand_out(results);
  return results;
}

LEAT_FUNCTION std::vector<output> build_cond(const output& predicate, const branch_function& true_function,
                                             const branch_function& false_function, std::string_view name) {
  graph& g = predicate.owner();
  named_part& nodes = g.named();
  const name_scope scope(g, name);
  nodes.name_number(g, predicate, "pred");
  const output p = nodes.value_of(predicate);
  const graph_operation sides = call_operator(g, "Switch", {p, p});
  const auto identity_of = [&](const output& o, std::string_view its_name) {
    return nodes.build(g, info_of<identity_op>, std::array{o}, {}, its_name);
  };
  const output pivot_true = identity_of(sides.result(1), "switch_t");
  const output pivot_false = identity_of(sides.result(0), "switch_f");
  const output id = identity_of(p, "pred_id");
  for (int index : {sides.index(), pivot_true.index(), pivot_false.index(), id.index()}) nodes.record(index).fetchable = false;

  const bool is_nested = nodes.context != nullptr;
  auto& context_true = nodes.keep(std::make_unique<cond_context>(g, id, pivot_true, 1));
  const std::vector<output> of_true = build_branch(context_true, true_function);
  auto& context_false = nodes.keep(std::make_unique<cond_context>(g, id, pivot_false, 0));
  const std::vector<output> of_false = build_branch(context_false, false_function);
  if (of_true.size() != of_false.size())
    throw invalid_argument("Incompatible return types of true_fn and false_fn: " + std::to_string(of_true.size()) + " and " +
                           std::to_string(of_false.size()) + " results" + nodes.place(without_slash(scope.text())));
  if (of_true.empty())
    throw invalid_argument("true_fn and false_fn must return at least one result." + nodes.place(without_slash(scope.text())));
  for (std::size_t k = 0; k < of_true.size(); ++k)
    if (base_of(to_data_type(of_true[k].type())) != base_of(to_data_type(of_false[k].type())))
      throw invalid_argument("Outputs of true_fn and false_fn must have the same type: " + describe(of_true[k]) + " and " +
                             describe(of_false[k]) + nodes.place(without_slash(scope.text())));
  std::vector<output> merged;
  for (std::size_t k = 0; k < of_true.size(); ++k) {
    const bool both_references = is_reference_result(*g.at(of_true[k].index()).op, of_true[k].port()) &&
                                 is_reference_result(*g.at(of_false[k].index()).op, of_false[k].port());
    merged.push_back(call_operator(g, both_references ? "RefMerge" : "Merge", {of_false[k], of_true[k]}, {}, "Merge").result());
  }
  if (!is_nested)
    for (cond_context* c : {&context_true, &context_false}) nodes.cond_contexts.push_back(c);
  return merged;
}

}  // namespace leat::detail
