#pragma once
// Linearizes a plan without control flow: finds the order in which one thread runs it, the last use of each value, and whether several
// threads can run nodes concurrently.

#include <leat/runtime/plan/run_plan.hpp>

#include <algorithm>
#include <queue>

namespace leat::runtime {

/// Orders the nodes: writes of variables late, nodes that may block last, all others in order of creation. Errors: invalid_argument if
/// there is a cycle.
inline void find_order(run_plan& plan) {
  const std::size_t n = plan.nodes.size();
  const auto at = [&](int i) -> const plan_node& { return plan.nodes[static_cast<std::size_t>(i)]; };
  plan.order.clear();
  plan.order.reserve(n);
  // If all edges lead from earlier nodes to later ones, then the nodes that neither write nor block, and do not depend on such a node, come
  // first and are already in order.
  std::vector<char> done(n, 0);
  const auto leads_back = [&](std::size_t i) {
    const plan_node& p = plan.nodes[i];
    const auto is_later = [&](int node) { return node >= static_cast<int>(i); };
    return p.held_by > 0 || std::any_of(p.inputs.begin(), p.inputs.end(), [&](const plan_source& s) { return is_later(s.node); }) ||
           std::any_of(p.controls.begin(), p.controls.end(), is_later);
  };
  const auto is_done = [&](int node) { return done[static_cast<std::size_t>(node)] != 0; };
  std::size_t i = 0;
  for (; i < n && !leads_back(i); ++i) {
    const plan_node& p = plan.nodes[i];
    done[i] = !p.waits && !p.writes &&
              std::all_of(p.inputs.begin(), p.inputs.end(), [&](const plan_source& s) { return is_done(s.node); }) &&
              std::all_of(p.controls.begin(), p.controls.end(), is_done);
    if (done[i] != 0) plan.order.push_back(static_cast<int>(i));
  }
  if (i < n) {
    plan.order.clear();
    done.assign(n, 0);
  }
  if (plan.order.size() == n) return;

  std::vector<std::size_t> waits(n);
  using item = std::pair<int, int>;
  std::priority_queue<item, std::vector<item>, std::greater<>> ready;
  const auto arrive = [&](int node) {
    if (--waits[static_cast<std::size_t>(node)] == 0) ready.emplace(at(node).waits ? 2 : at(node).writes ? 1 : 0, node);
  };
  for (i = 0; i < n; ++i) {
    if (done[i] != 0) continue;
    const plan_node& p = plan.nodes[i];
    waits[i] = static_cast<std::size_t>(p.held_by) + 1;
    for (const plan_source& s : p.inputs) waits[i] += is_done(s.node) ? 0 : 1;
    for (const int c : p.controls) waits[i] += is_done(c) ? 0 : 1;
    arrive(static_cast<int>(i));
  }
  while (!ready.empty()) {
    const int next = ready.top().second;
    ready.pop();
    plan.order.push_back(next);
    for (const plan_edge& e : at(next).out) arrive(e.node);
    for (const int later : at(next).then) arrive(later);
  }
  if (plan.order.size() != n) throw invalid_argument("the graph has a cycle that is no loop");
}

/// Marks each input that is the last use of its value. Constants are kept for the next run.
inline void find_last_uses(run_plan& plan) {
  const auto slot = [&](const plan_source& s) {
    return static_cast<std::size_t>(plan.nodes[static_cast<std::size_t>(s.node)].first_result + s.port);
  };
  std::vector<bool> used(static_cast<std::size_t>(plan.results), false);
  for (const auto& f : plan.fetches) used[slot(f)] = true;
  for (auto i = plan.order.rbegin(); i != plan.order.rend(); ++i) {
    plan_node& n = plan.nodes[static_cast<std::size_t>(*i)];
    for (std::size_t k = n.inputs.size(); k-- > 0;) {
      const std::size_t s = slot(n.inputs[k]);
      n.inputs[k].last_use = !used[s] && !plan.nodes[static_cast<std::size_t>(n.inputs[k].node)].is_constant;
      used[s] = true;
    }
  }
}

/// Whether some of the nodes that satisfy `counts` are independent of each other, that is, not all of them are on one path.
template <class Counts>
bool has_overlap(const run_plan& plan, Counts counts) {
  std::vector<int> behind(plan.nodes.size(), 0);
  int all = 0, longest = 0;
  for (int i : plan.order) {
    const plan_node& n = plan.nodes[static_cast<std::size_t>(i)];
    int most = 0;
    for (const auto& s : n.inputs) most = std::max(most, behind[static_cast<std::size_t>(s.node)]);
    for (int c : n.controls) most = std::max(most, behind[static_cast<std::size_t>(c)]);
    const int one = counts(n) ? 1 : 0;
    all += one;
    longest = std::max(longest, behind[static_cast<std::size_t>(i)] = most + one);
  }
  return longest < all;
}

/// Numbers the nodes within their frames.
inline void number_places(run_plan& plan) {
  for (plan_frame& f : plan.frames) f.nodes = f.inputs = 0;
  for (plan_node& n : plan.nodes) {
    plan_frame& f = plan.frames[static_cast<std::size_t>(n.frame)];
    n.place = f.nodes++;
    n.first_input = f.inputs;
    f.inputs += static_cast<int>(n.inputs.size());
  }
}

/// Determines whether several threads can run nodes of a plan without control flow concurrently, and prepares the plan for that.
inline void find_overlaps(run_plan& plan) {
  const bool any_waits = std::any_of(plan.nodes.begin(), plan.nodes.end(), [](const plan_node& n) { return n.waits; });
  plan.waits_overlap = any_waits && has_overlap(plan, [](const plan_node& n) { return n.waits; });
  plan.overlaps = plan.waits_overlap || has_overlap(plan, [](const plan_node& n) { return n.waits || n.work != work_kind::none; });
  if (!plan.overlaps) return;
  plan.frames.assign(1, {});
  number_places(plan);
}

}  // namespace leat::runtime
