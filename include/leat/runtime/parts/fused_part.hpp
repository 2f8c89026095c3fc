#pragma once
// A subgraph of a plan that runs as one node: as one program, compiled for the shapes of its inputs; or node by node if there is no such
// program or it failed, so that the error names the failing node.

#include <leat/runtime/programs/program_cache.hpp>

namespace leat::runtime {

class fused_part final : public plan_part {
 public:
  static constexpr std::int64_t most_known = 4096;

  graph* owner = nullptr;
  run_plan plan;                           // its feeds are the subgraph's inputs, its fetches the results used elsewhere
  std::vector<int> known_feeds;            // feeds whose elements are fixed: sizes, axes; at most `most_known` elements each
  std::vector<const kernel_node*> givers;  // indexed by result: the node that computes it
  int computing = 0;                       // nodes that do more than forward values or look at shapes

  void run(step_state& step, std::span<token> inputs, std::span<token> results) override {
    if (!run_program(step, inputs, results)) run_nodes(step, inputs, results);
  }
  std::int64_t work(std::span<const token> inputs) const override {
    std::int64_t most = 0;
    for (const token& t : inputs) most = std::max(most, extent_of(t).elements());
    return times(most, computing);
  }
  const kernel_node& giver(int result) const override { return *givers[static_cast<std::size_t>(result)]; }

 private:
  bool run_program(step_state& step, std::span<token> inputs, std::span<token> results) {
    std::vector<tensor_value> values;
    values.reserve(inputs.size());
    for (const token& t : inputs) {
      if (t.variable == nullptr || t.value) values.push_back(t.value);
      else if (t.variable->is_initialized()) values.push_back(t.variable->read());
      else return false;
    }
    for (const int k : known_feeds)
      if (values[static_cast<std::size_t>(k)].elements() > most_known) return false;
    const auto program = programs_.find(*owner, plan, step, values, known_feeds);
    if (program == nullptr) return false;
    try {
      std::vector<tensor_value> fetched(givers.size());
      if (keeps_.load(std::memory_order_relaxed)) give_memory(program->results_for(values), fetched);
      if (!program->run(values, fetched, step, programs_)) return false;
      keep_memory(fetched);
      for (std::size_t k = 0; k < fetched.size(); ++k) results[k] = {std::move(fetched[k]), nullptr, false};
      step.session.part_runs.fetch_add(1, std::memory_order_relaxed);
      return true;
    } catch (const cancelled&) {
      throw;
    } catch (const deadline_exceeded&) {
      throw;
    } catch (const error&) {
      return false;  // runs node by node, so that the error names the node
    } catch (const std::bad_alloc&) {
      return false;  // runs node by node, which needs less memory
    }
  }
  void run_nodes(step_state& step, std::span<const token> inputs, std::span<token> results) {
    std::vector<token> slots(static_cast<std::size_t>(plan.results));
    for (std::size_t k = 0; k < inputs.size(); ++k) result_at(plan, slots, {plan.feeds[k], 0}) = inputs[k];
    std::vector<token> given;
    for (const int i : plan.order) {
      const plan_node& n = plan.nodes[static_cast<std::size_t>(i)];
      if (n.kind == flow::feed) continue;
      step.check();
      take_inputs(plan, n, slots, given);
      call_kernel(n, step, given, {slots.data() + n.first_result, static_cast<std::size_t>(n.results)});
    }
    for (std::size_t k = 0; k < plan.fetches.size(); ++k) results[k] = result_at(plan, slots, plan.fetches[k]);
  }
  // Reuses the memory of large results that have no other holder, which saves page faults in each iteration of a loop. Two sets of results
  // are kept, because an iteration still reads the results of the previous one.
  void give_memory(const std::vector<tensor_info>& wanted, std::vector<tensor_value>& results) {
    const std::lock_guard lock(guard_);
    for (auto& list : kept_)
      for (std::size_t k = 0; k < list.size() && k < wanted.size(); ++k)
        if (!results[k] && list[k].is_alone() && list[k].type() == wanted[k].type && list[k].extent() == wanted[k].extent)
          results[k] = std::move(list[k]);
  }
  void keep_memory(const std::vector<tensor_value>& results) {
    constexpr std::size_t large = 1 << 17;
    const auto is_kept = [](const tensor_value& r) { return r.bytes() >= large && !r.is_borrowed(); };
    const bool some = std::any_of(results.begin(), results.end(), is_kept);
    if (!some && !keeps_.load(std::memory_order_relaxed)) return;
    const std::lock_guard lock(guard_);
    std::swap(kept_[0], kept_[1]);
    kept_[0].assign(results.size(), {});
    for (std::size_t k = 0; k < results.size(); ++k)
      if (is_kept(results[k])) kept_[0][k] = results[k];
    const auto is_there = [](const tensor_value& v) { return static_cast<bool>(v); };
    const auto holds = [&](const auto& list) { return std::any_of(list.begin(), list.end(), is_there); };
    keeps_.store(holds(kept_[0]) || holds(kept_[1]), std::memory_order_relaxed);
  }

  program_cache programs_;
  std::mutex guard_;
  std::array<std::vector<tensor_value>, 2> kept_;  // the most recent first
  std::atomic<bool> keeps_{false};                 // whether `kept_` holds any
};

}  // namespace leat::runtime
