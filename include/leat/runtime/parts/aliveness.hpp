#pragma once
// Partitions a plan's nodes into liveness classes: the nodes of a class are always dead or alive together. A node is dead if a value that
// it needs comes from a branch that is not taken. The analysis is static: for each node it collects the conditions under which the node is
// alive ("this Switch chose its second output", "this frame's iteration runs"); nodes with equal sets of conditions are in one class. "This
// node that may block has finished" is a condition too, so that the nodes of a class can wait together without delaying any other node.
//
// Two rules keep the sets small. A Merge of both branches of one Switch needs what both branches need, except that Switch. In a regular
// loop, such as those of `while_loop`, all Enters are in one class, hence also all NextIterations and all Exits, and all values of an
// iteration are in one class. A Merge or a loop of any other form is a condition of its own.

#include <leat/runtime/plan/run_plan.hpp>

#include <map>

namespace leat::runtime {

class aliveness {
 public:
  explicit aliveness(const run_plan& plan) : plan_(plan), irregular_(std::max<std::size_t>(plan.frames.size(), 1), false) {
    for (int round = 0; !find(); ++round)
      if (round == most_rounds) irregular_.assign(irregular_.size(), true);
  }

  /// The liveness class of a node: nodes of one frame with the same number are dead or alive together.
  int of(int node) const { return needs_[static_cast<std::size_t>(node)]; }

 private:
  static constexpr int most_rounds = 3;
  static constexpr std::size_t most_conditions = 64;
  using conditions = std::vector<int>;  // sorted; the outputs of a Switch have an even number and the next one

  struct frame_facts {
    int enters = -1;
    int nexts = -1;
    int exits = -1;
    int condition = -1;
    bool waits = false;
  };

  const plan_node& at(int i) const { return plan_.nodes[static_cast<std::size_t>(i)]; }
  int new_condition() { return std::exchange(next_condition_, next_condition_ + 2); }
  int set_of(conditions c) {
    const auto [at, fresh] = ids_.try_emplace(std::move(c), static_cast<int>(sets_.size()));
    if (fresh) sets_.push_back(&at->first);
    return at->second;
  }
  int alone() { return set_of({new_condition()}); }
  int both(int a, int b) {
    if (a == b || sets_[static_cast<std::size_t>(b)]->empty()) return a;
    if (sets_[static_cast<std::size_t>(a)]->empty()) return b;
    const auto [known, fresh] = unions_.try_emplace(std::minmax(a, b), -1);
    if (!fresh) return known->second;
    const conditions &x = *sets_[static_cast<std::size_t>(a)], &y = *sets_[static_cast<std::size_t>(b)];
    conditions all;
    std::set_union(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(all));
    return known->second = all.size() > most_conditions ? alone() : set_of(std::move(all));
  }

  static bool is_identity(const plan_node& n) {
    return n.node != nullptr && n.node->owner->at(n.node->index).op->kind == op_kind::identity;
  }
  // The conditions under which a source's value is alive.
  int given(const plan_source& s) {
    const plan_node& n = at(s.node);
    if (n.kind != flow::branch) return given_[static_cast<std::size_t>(s.node)];
    plan_source which = n.inputs[1];
    while (is_identity(at(which.node))) which = at(which.node).inputs[0];
    const auto [known, fresh] = switches_.try_emplace({which.node, which.port}, 0);
    if (fresh) known->second = new_condition();
    return both(given_[static_cast<std::size_t>(s.node)], set_of({known->second + std::min(s.port, 1)}));
  }
  // The common conditions of both branches of one Switch, without that Switch; -1 if the operands are not such a pair.
  int joined(int a, int b) {
    const conditions &x = *sets_[static_cast<std::size_t>(a)], &y = *sets_[static_cast<std::size_t>(b)];
    conditions of_one, of_other, common;
    std::set_difference(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(of_one));
    std::set_difference(y.begin(), y.end(), x.begin(), x.end(), std::back_inserter(of_other));
    if (of_one.size() != 1 || of_other.size() != 1 || (of_one[0] ^ of_other[0]) != 1) return -1;
    std::set_intersection(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(common));
    return set_of(std::move(common));
  }

  static bool agree(int& known, int now) {
    if (known < 0) known = now;
    return known == now;
  }

  // Computes the conditions of each node; returns false if a loop turned out to be irregular.
  bool find() {
    ids_.clear();
    sets_.clear();
    unions_.clear();
    switches_.clear();
    next_condition_ = 0;
    const int nothing = set_of({});
    needs_.assign(plan_.nodes.size(), nothing);
    given_.assign(plan_.nodes.size(), nothing);
    std::vector<frame_facts> facts(irregular_.size());
    std::vector<bool> now_irregular(irregular_.size(), false);
    for (const plan_node& n : plan_.nodes)
      if (n.waits)
        for (int f = n.frame; f > 0; f = plan_.frames[static_cast<std::size_t>(f)].parent)
          facts[static_cast<std::size_t>(f)].waits = true;
    for (auto& f : facts) f.condition = alone();

    for (int i = 0; i < static_cast<int>(plan_.nodes.size()); ++i) {
      const plan_node& n = at(i);
      const auto frame = static_cast<std::size_t>(n.frame);
      int needs = nothing;
      bool comes_back = false;
      for (const auto& s : n.inputs) {
        if (s.node >= i) comes_back = true;
        else if (n.kind != flow::merge) needs = both(needs, given(s));
      }
      for (const int c : n.controls) needs = both(needs, given_[static_cast<std::size_t>(c)]);
      int gives = -1;
      switch (n.kind) {
        case flow::merge:
          if (comes_back) {
            const bool is_usual =
                n.inputs.size() == 2 && at(n.inputs[0].node).kind == flow::enter && at(n.inputs[1].node).kind == flow::next;
            if (!is_usual) now_irregular[frame] = true;
            needs = irregular_[frame] ? alone() : both(needs, facts[frame].condition);
          } else {
            const int joint = n.inputs.size() == 2 ? joined(given(n.inputs[0]), given(n.inputs[1])) : -1;
            needs = joint < 0 ? alone() : both(needs, joint);
          }
          break;
        case flow::enter: {
          const auto child = static_cast<std::size_t>(n.child);
          if (!agree(facts[child].enters, needs)) now_irregular[child] = true;
          gives = irregular_[child] ? alone() : facts[child].condition;
          break;
        }
        case flow::exit:
          if (!agree(facts[frame].exits, needs)) now_irregular[frame] = true;
          if (irregular_[frame] || facts[frame].enters < 0) gives = alone();
          else gives = facts[frame].waits ? both(facts[frame].enters, facts[frame].condition) : facts[frame].enters;
          break;
        case flow::next:
          if (!agree(facts[frame].nexts, needs)) now_irregular[frame] = true;
          break;
        case flow::trigger:
        case flow::send: needs = alone(); break;
        case flow::receive:
        case flow::branch:
        case flow::plain:
        case flow::feed:
          if (n.waits || comes_back) needs = both(needs, alone());
          break;
      }
      needs_[static_cast<std::size_t>(i)] = needs;
      given_[static_cast<std::size_t>(i)] = gives < 0 ? needs : gives;
    }
    bool stays = true;
    for (std::size_t f = 0; f < irregular_.size(); ++f)
      if (now_irregular[f] && !irregular_[f]) {
        irregular_[f] = true;
        stays = false;
      }
    return stays;
  }

  const run_plan& plan_;
  std::vector<bool> irregular_;  // indexed by frame
  int next_condition_ = 0;
  std::map<conditions, int> ids_;
  std::vector<const conditions*> sets_;
  std::map<std::pair<int, int>, int> unions_;
  std::map<std::pair<int, int>, int> switches_;
  std::vector<int> needs_;
  std::vector<int> given_;  // of a Switch: without the chosen branch
};

}  // namespace leat::runtime
