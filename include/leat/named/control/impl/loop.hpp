#pragma once
// Implementation of loop.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/control/branch.hpp>
#include <leat/named/control/control_flow.hpp>
#include <leat/named/control/loop.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/named/graph/call.hpp>

namespace leat::detail {

LEAT_FUNCTION bool shape_within(const shape& one, const shape& wide) {
  if (!wide.has_rank()) return true;
  if (one.rank != wide.rank) return false;
  for (int i = 0; i < one.rank; ++i)
    if (wide[i] >= 0 && one[i] != wide[i]) return false;
  return true;
}

LEAT_FUNCTION output reference_or_plain(const output& o, std::string_view type, std::string_view reference_type) {
  const bool is_reference = is_reference_result(*o.owner().at(o.index()).op, o.port());
  if (const op_info* const known = is_reference ? nullptr : find_operator(type))
    return o.owner().named().build(o.owner(), *known, std::array{o}, {}, type);
  return call_operator(o.owner(), is_reference ? reference_type : type, {o}).result();
}

LEAT_FUNCTION output merge_of(const output& a, std::string_view name) {
  const bool is_reference = is_reference_result(*a.owner().at(a.index()).op, a.port());
  return call_operator(a.owner(), is_reference ? "RefMerge" : "Merge", {a, a}, {}, name).result();
}

LEAT_FUNCTION output next_iteration(const output& merge, const output& value) {
  graph& g = value.owner();
  const output next = reference_or_plain(value, "NextIteration", "RefNextIteration");
  g.named().set_input(g, merge.index(), 1, next.index());
  return next;
}

LEAT_FUNCTION void check_one_iteration(named_part& nodes, const output& merge, const output& next, std::string_view scope) {
  const output entered = nodes.input(merge.owner(), nodes.input(merge.owner(), merge.index(), 0).index(), 0);
  if (base_of(to_data_type(merge.type())) != base_of(to_data_type(next.type())))
    throw invalid_argument("Input tensor '" + entered.name() + "' enters the loop with dtype " + dtype_text(entered) + ", but has dtype " +
                           dtype_text(next) + " after one iteration." + nodes.place(scope));
  if (!shape_within(next.extent(), merge.extent()))
    throw invalid_argument("Input tensor '" + entered.name() + "' enters the loop with shape " + leat::shape_text(entered.extent()) +
                           ", but has shape " + leat::shape_text(next.extent()) +
                           " after one iteration. To allow the shape to vary across iterations, use the `shape_invariants` argument of "
                           "while_loop to specify a less-specific shape." +
                           nodes.place(scope));
}

LEAT_FUNCTION std::vector<output> build_loop(while_context& context, const loop_function& condition, const loop_function& body,
                                             const std::vector<output>& variables, const std::vector<shape_value>& invariants,
                                             std::string_view scope) {
  graph& g = context.owner();
  named_part& nodes = g.named();
  const inside_context inside(nodes, &context);
  context.begin_with(variables);
  std::vector<output> real;
  for (const output& v : variables) real.push_back(context.outer() != nullptr ? context.outer()->bring_in(v) : v);
  std::vector<output> enters;
  {
    const outside_contexts free(nodes);
    for (const output& v : real) enters.push_back(context.enter(v, false));
  }
  output pivot;
  for (flow_context* c = context.outer(); c != nullptr && !static_cast<bool>(pivot); c = c->outer())
    if (c->branch() == nullptr) pivot = c->loop()->control_pivot();
  for (std::size_t k = 0; k < enters.size(); ++k) {
    if (static_cast<bool>(pivot) && is_loop_constant(g, real[k].index())) nodes.add_control(g, enters[k].index(), pivot.index());
    if (invariants.empty()) continue;
    if (!shape_within(real[k].extent(), invariants[k]))
      throw invalid_argument("The shape invariant specified for " + real[k].name() +
                             " is not compatible with the initial shape of the loop " + "variable. It enters the loop with shape " +
                             leat::shape_text(real[k].extent()) + ", but the specified shape invariant is " +
                             leat::shape_text(invariants[k]) + "." + nodes.place(scope));
    g.at(enters[k].index()).result.extent = invariants[k];
  }
  for (const output& e : enters) context.adopt(e);
  context.begin_with(enters);
  context.enters = enters;
  std::vector<output> merges;
  for (const output& e : enters) merges.push_back(merge_of(e));
  context.pivot_for_predicate = merges[0];

  const branch_result held = condition(merges);
  if (held.items.size() != 1 || !std::holds_alternative<operand_value>(held.items[0]))
    throw invalid_argument("while_loop: the condition gives one tensor, a bool" + nodes.place(scope));
  const output predicate = as_tensor(g, std::get<operand_value>(held.items[0]));
  nodes.settle_names(g);
  context.pivot = call_operator(g, "LoopCond", {predicate}).result();
  std::vector<graph_operation> switches;
  for (const output& m : merges) switches.push_back(switch_where(m, context.pivot));
  std::vector<output> inner;
  for (const auto& s : switches) inner.push_back(reference_or_plain(s.result(1), "Identity", "RefIdentity"));
  context.pivot_for_body = inner[0];

  const branch_result made = body(inner);
  if (made.items.size() != merges.size())
    throw invalid_argument("Number of inputs and outputs of body must match loop_vars: " + std::to_string(merges.size()) + ", " +
                           std::to_string(made.items.size()) + nodes.place(scope));
  std::vector<output> results;
  for (const auto& item : made.items) {
    if (!std::holds_alternative<operand_value>(item))
      throw invalid_argument("while_loop: the body gives an operation; control_dependencies makes a tensor wait for it" +
                             nodes.place(scope));
    results.push_back(as_tensor(g, std::get<operand_value>(item)));
    if (!static_cast<bool>(results.back()) || &results.back().owner() != &g)
      throw invalid_argument("while_loop: the body gives a tensor of another graph" + nodes.place(scope));
  }
  nodes.settle_names(g);
  std::vector<output> nexts;
  for (std::size_t k = 0; k < results.size(); ++k) {
    check_one_iteration(nodes, merges[k], results[k], scope);
    nexts.push_back(next_iteration(merges[k], results[k]));
  }
  for (const auto& s : switches) context.exits.push_back(reference_or_plain(s.result(0), "Exit", "RefExit"));
  context.hand_out(context.exits);
  return context.exits;
}

LEAT_FUNCTION std::vector<output> make_loop(loop_function condition, loop_function body, const std::vector<operand_value>& variables,
                                            const while_options& options, const std::source_location& where) {
  if (variables.empty()) throw invalid_argument("No loop variables provided");
  if (options.parallel_iterations < 1)
    throw invalid_argument("`parallel_iterations` must be a positive integer, got " + std::to_string(options.parallel_iterations));
  if (!options.shape_invariants.empty() && options.shape_invariants.size() != variables.size())
    throw invalid_argument("while_loop: " + std::to_string(options.shape_invariants.size()) + " shape invariants for " +
                           std::to_string(variables.size()) + " variables");
  graph& g = graph_of(variables);
  const default_graph_scope here(g);
  named_part& nodes = g.named();
  const source_scope line(g, where);
  const name_scope scope(g, options.name);
  nodes.settle_names(g);
  std::vector<shape_value> invariants = options.shape_invariants;
  std::vector<output> real;
  if (options.maximum_iterations) {
    const output most = as_tensor(g, *options.maximum_iterations, "maximum_iterations");
    if (!may_equal(most.extent(), shape{}))
      throw invalid_argument("maximum_iterations must be a scalar, saw shape: " + leat::shape_text(most.extent()));
    real.push_back(nodes.make_constant(g, {most.type(), {}, 0}, "iteration_counter"));
    if (!invariants.empty()) invariants.insert(invariants.begin(), shape_value(shape{}));
    const auto rest = [](const std::vector<output>& all) { return std::vector<output>(all.begin() + 1, all.end()); };
    condition = [condition, most, rest](const std::vector<output>& all) {
      const output below = less(all[0], most, "Less");
      const branch_result given = condition(rest(all));
      if (given.items.size() != 1 || !std::holds_alternative<operand_value>(given.items[0])) return given;
      return as_branch_result(logical_and(below, std::get<operand_value>(given.items[0]), "LogicalAnd"));
    };
    body = [body, rest](const std::vector<output>& all) {
      branch_result next = as_branch_result(add(all[0], 1, "add"));
      const branch_result given = body(rest(all));
      next.items.insert(next.items.end(), given.items.begin(), given.items.end());
      return next;
    };
  }
  for (const operand_value& v : variables) {
    real.push_back(as_tensor(g, v));
    if (!static_cast<bool>(real.back())) throw invalid_argument("while_loop: a variable that is no node of a graph");
  }
  nodes.check_graph(g, real);
  const bool is_nested = nodes.context != nullptr;
  auto& context = nodes.keep(std::make_unique<while_context>(
      g, "while_context",
      loop_settings{
          .parallel_iterations = options.parallel_iterations, .back_prop = options.back_prop, .swap_memory = options.swap_memory}));
  if (!is_nested) nodes.while_contexts.push_back(&context);
  std::vector<output> results = build_loop(context, condition, body, real, invariants, without_slash(scope.text()));
  if (options.maximum_iterations) results.erase(results.begin());
  return results;
}

}  // namespace leat::detail
