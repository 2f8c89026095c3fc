#pragma once
// The state that a session keeps for a set of fetches and feeds: its plan, and the programs compiled from it.

#include <leat/runtime/parts/plan_parts.hpp>
#include <leat/runtime/run/executor.hpp>
#include <leat/session/session_target.hpp>

#include <memory>

namespace leat {

namespace runtime {

/// A set of fetches and feeds, ready to run.
struct prepared_run {
  std::vector<output> fetches;  // the fetches that are tensors
  std::vector<int> places;      // indexed by requested item: its index among the fetches; -1: an operation
  std::vector<output> feeds;
  run_plan plan;
  program_cache programs;
  kept_results results, results_in_parts;  // for runs node by node
  std::shared_ptr<remote_run> remote;  // of a session with a target; then there is no plan

  // Set if only summaries keep the plan from being a program: `first` is the computation, and its last fetches feed the summaries in
  // `tail`.
  std::unique_ptr<prepared_run> first, tail;
  std::vector<int> sources;  // by fetch: see run_in_two

  /// The plan for a run node by node, with its compilable subgraphs as single nodes.
  const run_plan& plan_in_parts(graph& g) {
    std::call_once(parted_, [&] { parts_ = with_programs(g, plan); });
    return parts_;
  }

 private:
  std::once_flag parted_;
  run_plan parts_;
};

/// Prevents the graph from accepting new nodes during the lifetime of the object.
class graph_in_use {
 public:
  explicit graph_in_use(named_part& nodes) : nodes_(nodes) { nodes_.runs.fetch_add(1, std::memory_order_acq_rel); }
  graph_in_use(const graph_in_use&) = delete;
  graph_in_use& operator=(const graph_in_use&) = delete;
  ~graph_in_use() { nodes_.runs.fetch_sub(1, std::memory_order_acq_rel); }

 private:
  named_part& nodes_;
};

}  // namespace runtime

}  // namespace leat
