#pragma once
// Runs a plan node by node. A plan without control flow runs in a fixed order on one thread, until it reaches a node that others may run
// concurrently with; the rest of the plan is then executed like a plan with control flow (framed_run.hpp).

#include <leat/runtime/run/framed_run.hpp>

namespace leat::runtime {

/// State that a plan without control flow keeps for its next run: storage for all results, in which the constants remain. Thread-safe.
class kept_results {
 public:
  /// Hands out the storage; it is new if there is none or if another run has it. Returns whether it contains the constants.
  bool take(std::vector<token>& results, std::size_t count) {
    {
      const std::lock_guard lock(guard_);
      results.swap(results_);
    }
    const bool has_constants = !results.empty();
    results.resize(count);
    return has_constants;
  }
  /// Takes the storage back after a run and removes all values that are not constants.
  void give_back(const run_plan& plan, std::vector<token>& results) {
    if (results.size() > most) return;
    for (const plan_node& n : plan.nodes)
      for (int k = 0; k < n.results && !n.is_constant; ++k) {
        token& t = results[static_cast<std::size_t>(n.first_result + k)];
        if (t.value || t.variable != nullptr) t = {};
      }
    const std::lock_guard lock(guard_);
    results.swap(results_);
  }

 private:
  static constexpr std::size_t most = 1 << 16;
  std::mutex guard_;
  std::vector<token> results_;
};

class straight_run {
 public:
  straight_run(const run_plan& plan, step_state& step) : plan_(plan), step_(step) {}

  std::vector<tensor_value> run(std::span<const tensor_value> feeds, kept_results& kept) {
    std::vector<token> slots;
    const bool has_constants = kept.take(slots, static_cast<std::size_t>(plan_.results)) && step_.trace == nullptr;
    std::vector<tensor_value> fetched(plan_.fetches.size());
    std::vector<token> inputs;
    for (std::size_t k = 0; k < plan_.feeds.size(); ++k)
      if (plan_.feeds[k] >= 0) result_at(plan_, slots, {plan_.feeds[k], 0}).value = feeds[k];
    const bool may_overlap = (plan_.overlaps && step_.threads > 1) || (plan_.waits_overlap && step_.threads_for_waiting);
    int since = 0;
    for (std::size_t at = 0; at < plan_.order.size(); ++at) {
      const int i = plan_.order[at];
      const plan_node& n = plan_.nodes[static_cast<std::size_t>(i)];
      if (n.kind != flow::feed && !(n.is_constant && has_constants)) {
        if (++since % 16 == 0) step_.check();
        else step_.check_calls();
        if (run_function(n, slots, may_overlap)) {
          give_fetches(i, n, slots, fetched);
          continue;
        }
        take_inputs(plan_, n, slots, inputs);
        if (may_overlap && is_for_threads(n, inputs)) {
          for (std::size_t k = 0; k < inputs.size(); ++k)
            if (n.inputs[k].last_use) result_at(plan_, slots, n.inputs[k]) = std::move(inputs[k]);
          return framed_run(plan_, step_, feeds).run(at, slots, std::move(fetched));
        }
        call_kernel(n, step_, inputs, {slots.data() + n.first_result, static_cast<std::size_t>(n.results)});
      }
      give_fetches(i, n, slots, fetched);
    }
    kept.give_back(plan_, slots);
    return fetched;
  }

 private:
  static constexpr std::int64_t light = 1024;  // elements of one function: too few to be worth another thread

  // Runs a node whose program is one function (node_program.hpp) directly on the stored values. Returns false if it is not one.
  bool run_function(const plan_node& n, std::vector<token>& slots, bool may_overlap) const {
    if (n.node == nullptr || n.part != nullptr || step_.trace != nullptr) return false;
    const node_function* const f = n.node->function.load(std::memory_order_acquire);
    if (f == nullptr || (may_overlap && f->size() > light)) return false;
    const auto input = [&](int k) -> token& { return result_at(plan_, slots, n.inputs[static_cast<std::size_t>(k)]); };
    const auto is_last = [&](int k) -> bool { return n.inputs[static_cast<std::size_t>(k)].last_use; };
    const int count = static_cast<int>(n.inputs.size());
    try {
      if (!f->run(count, input, is_last, slots[static_cast<std::size_t>(n.first_result)])) return false;
    } catch (const error&) {
      return false;  // no memory: the kernel's call reports it with the node's name
    }
    for (int k = 0; k < count; ++k)
      if (is_last(k)) input(k) = {};
    return true;
  }
  void give_fetches(int i, const plan_node& n, std::vector<token>& slots, std::vector<tensor_value>& fetched) const {
    if (!n.is_fetched) return;
    for (int f : plan_.fetches_of[static_cast<std::size_t>(i)])
      fetched[static_cast<std::size_t>(f)] = fetched_value(n, result_at(plan_, slots, plan_.fetches[static_cast<std::size_t>(f)]));
  }

  // Whether other nodes may have to run concurrently with this one. The order is such that before a node that waits all nodes that do not
  // wait have run.
  bool is_for_threads(const plan_node& n, std::span<const token> inputs) const {
    if (n.waits) return plan_.waits_overlap && step_.threads_for_waiting;
    return plan_.overlaps && step_.threads > 1 && is_heavy(n, inputs);
  }

  const run_plan& plan_;
  step_state& step_;
};

/// Runs a plan with these feeds; returns the fetched values.
inline std::vector<tensor_value> run_plan_once(const run_plan& plan, step_state& step, std::span<const tensor_value> feeds,
                                               kept_results& kept) {
  if (plan.has_control_flow) return framed_run(plan, step, feeds).run();
  return straight_run(plan, step).run(feeds, kept);
}

}  // namespace leat::runtime
