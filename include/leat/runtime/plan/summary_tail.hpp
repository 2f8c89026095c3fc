#pragma once
// Splits a run in two: the computation, which may be one program, and the summaries of its results, which make strings and have kernels. So
// a training step that is fetched together with its merged summaries runs as the same program as without them, not as single nodes and
// subgraphs.

#include <leat/runtime/plan/run_plan.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace leat::runtime {

/// Two runs that together do the work of one.
struct run_in_two {
  std::vector<output> fetches;     // of the first run: the run's own fetches, then what summaries take
  std::vector<int> targets;        // of the first run
  std::vector<output> tail_feeds;  // of the second run: what summaries take
  std::vector<output> tail_fetches;
  std::vector<int> tail_targets;
  std::vector<int> sources;  // by fetch: index among the first run's fetches, or -1 - k for the second's fetch k
};

/// Empty if the run has no summaries or has control flow, if another node depends on a summary, or if a summary has control inputs or reads
/// a variable when it runs.
inline std::optional<run_in_two> cut_summaries(graph& g, const run_plan& plan, const std::vector<output>& fetches,
                                               const std::vector<int>& targets, const std::vector<output>& feeds) {
  if (plan.has_control_flow || !plan.has_effects) return std::nullopt;
  const auto at = [&](int i) -> const plan_node& { return plan.nodes[static_cast<std::size_t>(i)]; };
  const auto is_summary = [&](int i) { return at(i).node != nullptr && g.at(at(i).node->index).op->what.is_summary; };
  // String constants that summaries take, such as tags, are copied into the second run.
  const auto is_text = [&](int i) {
    return at(i).node != nullptr && at(i).controls.empty() && g.at(at(i).node->index).op->kind == op_kind::constant &&
           size_of(g.at(at(i).node->index).result.type) == 0;
  };
  run_in_two made;
  std::map<std::pair<int, int>, bool> taken;
  std::vector<int> summary_of(static_cast<std::size_t>(g.size()), 0);
  bool some = false;
  for (int i = 0; i < static_cast<int>(plan.nodes.size()); ++i) {
    const plan_node& n = at(i);
    if (is_summary(i)) {
      some = true;
      summary_of[static_cast<std::size_t>(n.node->index)] = 1;
      if (!n.controls.empty()) return std::nullopt;
      for (std::size_t k = 0; k < n.inputs.size(); ++k) {
        const plan_source& s = n.inputs[k];
        if (n.inputs[k].late) return std::nullopt;
        if (is_summary(s.node) || is_text(s.node) || !taken.emplace(std::pair(s.node, s.port), true).second) continue;
        std::size_t fed = 0;
        while (fed < plan.feeds.size() && plan.feeds[fed] != s.node) ++fed;
        made.tail_feeds.push_back(fed < feeds.size() ? feeds[fed] : output(g, at(s.node).node->index, s.port));
      }
      continue;
    }
    for (const plan_source& s : n.inputs)
      if (is_summary(s.node)) return std::nullopt;
    for (const int c : n.controls)
      if (is_summary(c)) return std::nullopt;
  }
  if (!some) return std::nullopt;
  const auto from_summary = [&](const output& o) {
    const bool is_fed =
        std::any_of(feeds.begin(), feeds.end(), [&](const output& f) { return f.index() == o.index() && f.port() == o.port(); });
    return !is_fed && summary_of[static_cast<std::size_t>(o.index())] != 0;
  };
  for (const output& f : fetches) {
    std::vector<output>& list = from_summary(f) ? made.tail_fetches : made.fetches;
    const auto place = static_cast<int>(list.size());
    list.push_back(f);
    made.sources.push_back(from_summary(f) ? -1 - place : place);
  }
  made.fetches.insert(made.fetches.end(), made.tail_feeds.begin(), made.tail_feeds.end());
  for (const int t : targets) (summary_of[static_cast<std::size_t>(t)] != 0 ? made.tail_targets : made.targets).push_back(t);
  return made;
}

}  // namespace leat::runtime
