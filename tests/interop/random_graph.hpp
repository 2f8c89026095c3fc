#pragma once
// A graph by chance: operators of random_operators.hpp inside scopes, devices and control dependencies, counters that are
// updated in a given order, gradients of what has them; and what is to be run of it. The same seed gives the same graph.

#include "random_operators.hpp"

#include <memory>

namespace interop {

/// A graph, its plan, and how often the library had no gradient where the generator asked for one.
struct random_graph {
  std::unique_ptr<leat::graph> graph = std::make_unique<leat::graph>();
  run_plan plan;
  std::vector<std::string> refusals;
};

namespace detail {

class grower {
 public:
  grower(leat::graph& g, std::uint64_t seed) : g_(g), p_(g, seed) {}

  void run(random_graph& made) {
    const int most = p_.random.between(12, 60);
    for (int i = 0; i < 3; ++i) p_.leaf(p_.random.chance(80) ? dtype::float32 : some_type(p_), p_.some_sizes(1, 2));
    while (steps_ < most) block(0);
    counters();
    slopes(made);
    leat::global_variables_initializer();
    plan();
    made.plan = std::move(p_.plan);
  }

 private:
  // A few operators, and blocks within this one, under a scope of some kind.
  void block(int depth) {
    std::optional<leat::name_scope> names;
    std::optional<leat::variable_scope> variables;
    std::optional<leat::device> place;
    std::optional<leat::control_dependencies> waits;
    std::optional<leat::colocate_with> beside;
    const auto scope_names = std::vector<std::string>{"layer", "tower", "block", "a/b"};
    switch (p_.random.below(8)) {
      case 0:
      case 1: names.emplace(p_.random.one_of(scope_names)); break;
      case 2: variables.emplace(p_.random.one_of(scope_names), leat::variable_scope_options{.reuse = leat::AUTO_REUSE}); break;
      case 3:
        place.emplace(p_.random.one_of(std::vector<std::string>{"/cpu:0", "/device:CPU:0", "/job:ps/task:1", "/job:worker", "/gpu:1",
                                                                 "/job:worker/replica:0/task:3/device:GPU:0", ""}));
        break;
      case 4: {
        std::vector<leat::control_input> on;
        for (int n = p_.random.between(1, 3); n > 0; --n) on.push_back(p_.any(some_type(p_)).tensor);
        if (p_.random.chance(20)) on.push_back(leat::no_op());
        if (p_.random.chance(20)) on.push_back(leat::group(on, "group"));
        waits.emplace(on);
        break;
      }
      case 5:
        if (depth > 0 && p_.random.chance(30)) waits.emplace(nullptr);
        break;
      case 6:
        if (p_.random.chance(30)) beside.emplace(p_.any(dtype::float32).tensor);
        break;
      default: break;
    }
    for (int n = p_.random.between(1, 8); n > 0; --n, ++steps_) {
      if (depth < 3 && p_.random.chance(15)) block(depth + 1);
      else p_.random.one_of(all_makers()).make(p_);
    }
  }

  // Variables that are written. Every read comes after a write and before the next one, so that results are the same in any
  // order that the dependencies allow. A read is copied by an addition: a reference may show a later write.
  void counters() {
    for (int n = p_.random.below(3); n > 0; --n) {
      const dtype type = p_.random.chance(60) ? dtype::float32 : p_.random.chance(50) ? dtype::int32 : dtype::int64;
      const sizes s = p_.some_sizes(0, 2);
      const auto v = leat::variable(p_.literal(type, s), "counter");
      std::vector<leat::control_input> after;
      for (int k = p_.random.between(1, 3); k > 0; --k) {
        const leat::control_dependencies order(after);
        const value by = p_.sized(type, s);
        leat::output written;
        switch (p_.random.below(3)) {
          case 0: written = leat::assign(v, by.tensor); break;
          case 1: written = leat::assign_add(v, by.tensor); break;
          default: written = leat::assign_sub(v, by.tensor);
        }
        const leat::control_dependencies then({written});
        const auto seen = leat::add(leat::read_value(v), leat::tensor_literal(type, {}, 0), "seen");
        updates_.push_back(written.operation().name());
        value kept{seen, s, 1000, false, by.repeats};
        watched_.push_back(kept);
        after.push_back(seen);
      }
    }
  }

  void slopes(random_graph& made) {
    if (p_.leaves.empty()) return;
    for (int n = p_.random.below(3); n > 0; --n) {
      const auto y = p_.find([](const value& v) { return v.smooth && leat::is_floating(v.tensor.type()) && v.bound <= 30; });
      if (!y) return;
      std::vector<leat::output> xs;
      std::vector<value> of;
      for (const value& leaf : p_.leaves)
        if (leaf.tensor.type() == y->tensor.type() && p_.random.chance(70)) {
          xs.push_back(leaf.tensor);
          of.push_back(leaf);
        }
      if (xs.empty()) return;
      leat::output of_what = y->tensor;
      if (p_.random.chance(60)) of_what = leat::reduce_mean(of_what, leat::all_axes, leat::keep_dims::no, "loss");
      try {
        const auto slopes = leat::gradients({of_what}, xs);
        for (std::size_t k = 0; k < slopes.size(); ++k)
          if (slopes[k]) watched_.push_back({slopes[k], of[k].actual, 1e6, false, y->repeats && of[k].repeats});
      } catch (const leat::unimplemented& e) {
        made.refusals.emplace_back(e.what());
      }
    }
  }

  // Initialize; fetch what nothing uses, and all that is watched; update; fetch again.
  void plan() {
    std::set<std::string> used;
    for (const auto& op : leat::get_operations(g_))
      for (const auto& in : op.inputs()) used.insert(in.name());
    std::vector<std::string> fetches;
    std::set<std::string> fetched;
    const auto fetch = [&](const value& v) {
      const auto name = leat::value_of(v.tensor).name();
      if (fetched.insert(name).second) fetches.push_back(name);
    };
    for (const value& v : p_.values)
      if (!used.contains(v.tensor.name()) && g_.at(v.tensor.index()).op->kind != leat::op_kind::placeholder) fetch(v);
    for (const value& v : watched_) fetch(v);
    p_.plan.runs = {{"init"}, fetches};
    if (!updates_.empty()) {
      p_.plan.runs.push_back(updates_);
      p_.plan.runs.push_back(fetches);
    }
  }

  leat::graph& g_;
  pool p_;
  int steps_ = 0;
  std::vector<value> watched_;
  std::vector<std::string> updates_;
};

}  // namespace detail

/// The graph of a seed.
inline random_graph make_random_graph(std::uint64_t seed) {
  random_graph made;
  const auto scope = made.graph->as_default();
  detail::grower(*made.graph, seed).run(made);
  made.graph->named().settle_names(*made.graph);
  return made;
}

}  // namespace interop
