#pragma once
// Rewrites a plan so that each subgraph found by part_finder.hpp becomes one node that contains a plan.

#include <leat/runtime/parts/part_finder.hpp>
#include <leat/runtime/plan/plan_order.hpp>

#include <set>

namespace leat::runtime {

class part_writer {
 public:
  part_writer(graph& g, const run_plan& plan)
      : g_(g), from_(plan), finder_(g, plan), borders_(finder_.parts().size()), new_place_(plan.nodes.size(), -1) {}

  run_plan write() {
    if (borders_.empty()) return from_;
    find_borders();
    for (std::size_t p = 0; p < borders_.size(); ++p) make_inner(static_cast<int>(p));
    make_nodes();
    connect();
    find_ways();
    return std::move(made_);
  }

 private:
  struct source_less {
    bool operator()(const plan_source& a, const plan_source& b) const { return std::pair(a.node, a.port) < std::pair(b.node, b.port); }
  };
  // A subgraph's inputs and results, by node indices of the old plan.
  struct border {
    std::vector<plan_source> inputs;
    std::set<int> controls;
    std::vector<plan_source> results;
    std::map<plan_source, int, source_less> place_of_result;
    std::shared_ptr<fused_part> part;
    int node = -1;  // index in the new plan
  };

  const plan_node& at(int i) const { return from_.nodes[static_cast<std::size_t>(i)]; }
  int part_of(int i) const { return finder_.part_of(i); }
  border& border_of(int part) { return borders_[static_cast<std::size_t>(part)]; }

  void find_borders() {
    is_needed_.resize(from_.nodes.size());
    for (std::size_t i = 0; i < is_needed_.size(); ++i) is_needed_[i] = !finder_.is_constant(static_cast<int>(i));
    const auto use = [&](const plan_source& s) {
      is_needed_[static_cast<std::size_t>(s.node)] = true;
      if (part_of(s.node) < 0) return;
      border& b = border_of(part_of(s.node));
      if (b.place_of_result.try_emplace(s, static_cast<int>(b.results.size())).second) b.results.push_back(s);
    };
    for (const auto& f : from_.fetches) use(f);
    for (std::size_t i = 0; i < from_.nodes.size(); ++i) {
      const plan_node& n = from_.nodes[i];
      const int mine = part_of(static_cast<int>(i));
      const auto wait_for = [&](int c) {
        if (mine >= 0 && part_of(c) == mine) return;
        is_needed_[static_cast<std::size_t>(c)] = true;
        if (mine >= 0) border_of(mine).controls.insert(c);
      };
      for (const int c : n.controls) wait_for(c);
      for (const auto& s : n.inputs) {
        if (mine >= 0 && finder_.is_constant(s.node))
          for (const int c : at(s.node).controls) wait_for(c);
        else if (mine < 0 || part_of(s.node) != mine) use(s);
      }
    }
  }

  // Makes a plan of the members. The subgraph's inputs become its feeds.
  void make_inner(int p) {
    border& b = border_of(p);
    const std::vector<int>& members = finder_.parts()[static_cast<std::size_t>(p)];
    b.part = std::make_shared<fused_part>();
    b.part->owner = &g_;
    b.part->computing = finder_.computing(p);
    run_plan& inner = b.part->plan;
    const auto add = [&](plan_node n) {
      n.first_result = inner.results;
      inner.results += n.results;
      n.out.clear();
      n.controls.clear();
      n.then.clear();
      n.held_by = n.frame = 0;
      inner.nodes.push_back(std::move(n));
      inner.order.push_back(static_cast<int>(inner.order.size()));
      return inner.order.back();
    };
    std::map<plan_source, int, source_less> feeds;
    std::set<int> known;
    for (const int i : members)
      for (std::size_t k = 0; k < at(i).inputs.size(); ++k) {
        const plan_source& s = at(i).inputs[k];
        if (part_of(s.node) == p || finder_.is_constant(s.node)) continue;
        const auto [found, fresh] = feeds.try_emplace(s, static_cast<int>(feeds.size()));
        if (fresh) {
          plan_node feed;
          feed.kind = flow::feed;
          feed.results = 1;
          inner.feeds.push_back(add(std::move(feed)));
          b.inputs.push_back(s);
        }
        if (finder_.wants_value(i, static_cast<int>(k))) known.insert(found->second);
      }
    b.part->known_feeds.assign(known.begin(), known.end());
    std::map<int, int> places;  // of members and constants: old index to new index
    const auto inner_source = [&](const plan_source& s) -> plan_source {
      if (const auto fed = feeds.find(s); fed != feeds.end()) return {fed->second, 0};
      const auto [found, fresh] = places.try_emplace(s.node, -1);
      if (fresh) found->second = add(at(s.node));
      return {found->second, s.port};
    };
    for (const int i : members) {
      plan_node n = at(i);
      for (plan_source& s : n.inputs) s = inner_source(s);
      places[i] = add(std::move(n));
    }
    for (const auto& s : b.results) {
      inner.fetches.push_back(inner_source(s));
      b.part->givers.push_back(at(s.node).node);
    }
    inner.fetches_of.resize(inner.nodes.size());
    connect_inputs(inner);
    find_last_uses(inner);
  }
  static void connect_inputs(run_plan& plan) {
    for (std::size_t i = 0; i < plan.nodes.size(); ++i)
      for (std::size_t k = 0; k < plan.nodes[i].inputs.size(); ++k) {
        const plan_source& s = plan.nodes[i].inputs[k];
        plan.nodes[static_cast<std::size_t>(s.node)].out.push_back({s.port, static_cast<int>(i), static_cast<int>(k)});
      }
  }

  // A subgraph takes the position of its first member.
  void make_nodes() {
    const auto add = [&](plan_node n) {
      n.out.clear();
      n.first_result = made_.results;
      made_.results += n.results;
      made_.nodes.push_back(std::move(n));
      return static_cast<int>(made_.nodes.size()) - 1;
    };
    for (std::size_t i = 0; i < from_.nodes.size(); ++i) {
      const int p = part_of(static_cast<int>(i));
      if (p < 0) {
        if (is_needed_[i]) new_place_[i] = add(from_.nodes[i]);
        continue;
      }
      border& b = border_of(p);
      if (b.node < 0) {
        plan_node n;
        n.node = at(finder_.parts()[static_cast<std::size_t>(p)].back()).node;
        n.part = b.part;
        n.frame = from_.nodes[i].frame;
        n.work = work_kind::elements;
        n.results = static_cast<int>(b.results.size());
        for (const plan_source& s : b.inputs) n.inputs.push_back({s});
        n.controls.assign(b.controls.begin(), b.controls.end());
        b.node = add(std::move(n));
      }
      new_place_[i] = b.node;
    }
  }

  int moved(int node) const { return new_place_[static_cast<std::size_t>(node)]; }
  plan_source moved(const plan_source& s) {
    const int p = part_of(s.node);
    return {moved(s.node), p < 0 ? s.port : border_of(p).place_of_result.at(s)};
  }
  void connect() {
    for (plan_node& n : made_.nodes) {
      for (plan_source& s : n.inputs) s = moved(s);
      for (int& c : n.controls) c = moved(c);
      std::sort(n.controls.begin(), n.controls.end());
      n.controls.erase(std::unique(n.controls.begin(), n.controls.end()), n.controls.end());
      for (int& later : n.then) later = moved(later);
    }
    connect_inputs(made_);
    for (std::size_t i = 0; i < made_.nodes.size(); ++i)
      for (const int c : made_.nodes[i].controls) made_.nodes[static_cast<std::size_t>(c)].out.push_back({-1, static_cast<int>(i), 0});
    for (plan_node& n : made_.nodes) n.is_fetched = false;
    for (const auto& f : from_.fetches) made_.fetches.push_back(moved(f));
    made_.enter_fetches();
    for (const int f : from_.feeds) made_.feeds.push_back(f < 0 ? -1 : moved(f));
  }
  void find_ways() {
    made_.has_control_flow = from_.has_control_flow;
    made_.has_effects = from_.has_effects;
    made_.frames = from_.frames;
    if (made_.has_control_flow) {
      number_places(made_);
    } else {
      find_order(made_);
      find_last_uses(made_);
      find_overlaps(made_);
    }
  }

  graph& g_;
  const run_plan& from_;
  part_finder finder_;
  std::vector<border> borders_;
  std::vector<bool> is_needed_;  // of constants: whether nodes outside of subgraphs use them
  std::vector<int> new_place_;
  run_plan made_;
};

/// The same plan with its compilable subgraphs as single nodes.
inline run_plan with_programs(graph& g, const run_plan& plan) { return part_writer(g, plan).write(); }

}  // namespace leat::runtime
