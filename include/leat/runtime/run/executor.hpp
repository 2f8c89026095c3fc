#pragma once
// Runs a plan node by node. Without control flow the nodes run in a fixed order on one thread, until one is reached that others
// may run beside; the rest of the plan is then executed as plans with control flow are (framed_run.hpp).

#include <leat/runtime/run/framed_run.hpp>

namespace leat::runtime {

class straight_run {
 public:
  straight_run(const run_plan& plan, step_state& step) : plan_(plan), step_(step) {}

  std::vector<tensor_value> run(std::span<const tensor_value> feeds) {
    std::vector<token> slots(static_cast<std::size_t>(plan_.results));
    std::vector<tensor_value> fetched(plan_.fetches.size());
    std::vector<token> inputs;
    for (std::size_t k = 0; k < plan_.feeds.size(); ++k)
      if (plan_.feeds[k] >= 0) result_at(plan_, slots, {plan_.feeds[k], 0}).value = feeds[k];
    const bool may_overlap = (plan_.overlaps && step_.threads > 1) || (plan_.waits_overlap && step_.threads_for_waiting);
    int since = 0;
    for (std::size_t at = 0; at < plan_.order.size(); ++at) {
      const int i = plan_.order[at];
      const plan_node& n = plan_.nodes[static_cast<std::size_t>(i)];
      if (n.kind != flow::feed) {
        if (++since % 16 == 0) step_.check();
        else step_.check_calls();
        take_inputs(plan_, n, slots, inputs);
        if (may_overlap && is_for_threads(n, inputs)) {
          for (std::size_t k = 0; k < inputs.size(); ++k)
            if (n.last_use[k]) result_at(plan_, slots, n.inputs[k]) = std::move(inputs[k]);
          return framed_run(plan_, step_, feeds).run(at, slots, std::move(fetched));
        }
        call_kernel(n, step_, inputs, {slots.data() + n.first_result, static_cast<std::size_t>(n.results)});
      }
      for (int f : plan_.fetches_of[static_cast<std::size_t>(i)])
        fetched[static_cast<std::size_t>(f)] = fetched_value(n, result_at(plan_, slots, plan_.fetches[static_cast<std::size_t>(f)]));
    }
    return fetched;
  }

 private:
  // Whether other nodes may have to run beside this one. When it is one that waits, all nodes that do not wait have run.
  bool is_for_threads(const plan_node& n, std::span<const token> inputs) const {
    if (n.waits) return plan_.waits_overlap && step_.threads_for_waiting;
    return plan_.overlaps && step_.threads > 1 && is_heavy(n, inputs);
  }

  const run_plan& plan_;
  step_state& step_;
};

/// Runs a plan with these feeds; returns the fetched values.
inline std::vector<tensor_value> run_plan_once(const run_plan& plan, step_state& step, std::span<const tensor_value> feeds) {
  if (plan.has_control_flow) return framed_run(plan, step, feeds).run();
  return straight_run(plan, step).run(feeds);
}

}  // namespace leat::runtime
