#pragma once
// One call of a node's kernel in a run: its errors name the node, its time is recorded in the trace, and its results are complete before
// others read them.

#include <leat/inspect/trace.hpp>
#include <leat/runtime/plan/run_planner.hpp>

namespace leat::runtime {

/// Calls a node's kernel and records it in the run's trace.
inline void run_traced(const plan_node& n, kernel_context& c) {
  const trace_scope timed(c.step.trace, c.step.traced_run, n.node->name(), std::string(n.node->type), source_text(*n.node));
  (*n.run)(c);
}

// Kernels that move elements rely on the dtypes of the graph, but a stack, a queue or a host function may return another one, so every
// result is checked. Handles are checked where they are used.
inline void check_results(const plan_node& n, std::span<const token> results) {
  for (std::size_t k = 0; k < n.result_types.size(); ++k) {
    const token& t = results[k];
    const dtype said = n.result_types[k];
    if (t.value.type() == said || !t.value || t.value.type() == resource_dtype || said == dtype::invalid) [[likely]]
      continue;
    throw invalid_argument("result " + std::to_string(k) + " is " + dtype_name(t.value.type()) + ", which the graph says is " +
                           dtype_name(said));
  }
}

/// Calls a node's kernel. Errors: the kernel's, with the node appended to the message.
inline void call_kernel(const plan_node& n, step_state& step, std::span<token> inputs, std::span<token> results) {
  if (n.part != nullptr) return n.part->run(step, inputs, results);
  try {
    for (std::size_t k = 0; k < inputs.size(); ++k)
      if (inputs[k].variable != nullptr && n.inputs[k].late) inputs[k].value = {};
    kernel_context c(*n.node, step, inputs, results);
    if (step.trace == nullptr) (*n.run)(c);
    else run_traced(n, c);
    check_results(n, results);
    if (n.snapshot)
      for (token& t : results)
        if (t.variable != nullptr && t.variable->is_initialized()) t.value = t.variable->read();
  } catch (const error& e) {
    std::string more = node_text(*n.node);
    for (const token& t : inputs)
      if (t.value)
        more += "\n\t   input " + std::to_string(&t - inputs.data()) + ": " + dtype_name(t.value.type()) + " " + brackets(t.value.extent());
    rethrow_with(e, more);
  } catch (const std::bad_alloc&) {
    throw resource_exhausted("not enough memory" + node_text(*n.node));
  } catch (const std::length_error&) {
    throw resource_exhausted("more elements than a list can have" + node_text(*n.node));
  }
}

/// The place of a result among those of all nodes.
inline token& result_at(const run_plan& plan, std::vector<token>& results, const plan_source& s) {
  return results[static_cast<std::size_t>(plan.nodes[static_cast<std::size_t>(s.node)].first_result + s.port)];
}
/// Collects a node's inputs in a plan without control flow; moves those that are used for the last time.
inline void take_inputs(const run_plan& plan, const plan_node& n, std::vector<token>& results, std::vector<token>& inputs) {
  inputs.clear();
  for (std::size_t k = 0; k < n.inputs.size(); ++k) {
    token& from = result_at(plan, results, n.inputs[k]);
    if (n.inputs[k].last_use) inputs.push_back(std::move(from));
    else inputs.push_back(from);
  }
}

/// Whether a node is enough work to be worth another thread.
inline bool is_heavy(const plan_node& n, std::span<const token> inputs) {
  if (n.work == work_kind::none) return false;
  return (n.part != nullptr ? n.part->work(inputs) : work_of(n.work, *n.node, inputs)) >= heavy_work;
}

/// The node of the graph that computes a result.
inline const kernel_node& giver_of(const plan_node& n, int result) { return n.part != nullptr ? n.part->giver(result) : *n.node; }

/// The value that a fetch of a result returns.
inline tensor_value fetched_value(const plan_node& n, const token& t) {
  if (t.variable == nullptr || t.value) return t.value;
  try {
    return t.variable->read();
  } catch (const error& e) {
    rethrow_with(e, n.node != nullptr ? node_text(*n.node) : std::string{});
  }
}

}  // namespace leat::runtime
