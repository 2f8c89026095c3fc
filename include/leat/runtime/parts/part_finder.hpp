#pragma once
// Partitions a plan that cannot be compiled whole (control flow, random numbers, queues, host functions) into subgraphs that can. Nodes
// form a subgraph if they are pure, are in one frame and one liveness class, wait for the same nodes (aliveness.hpp), and have the same
// level: then no path between two of them leaves the subgraph. Inputs that are sizes, axes or indices must depend on shapes and constants
// alone, because a program is compiled for their values.

#include <leat/runtime/parts/aliveness.hpp>
#include <leat/runtime/parts/fused_part.hpp>

namespace leat::runtime {

class part_finder {
 public:
  part_finder(graph& g, const run_plan& plan) : g_(g), plan_(plan), alive_(plan), nodes_(plan.nodes.size()) {
    put_in_sequence();
    for (const int i : sequence_) classify(i);
    if (find_levels()) collect();
  }

  /// The members of each subgraph, in an order in which they can run.
  const std::vector<std::vector<int>>& parts() const { return parts_; }
  /// The subgraph that a node is a member of, or -1.
  int part_of(int node) const { return facts(node).part; }
  /// Whether a node is a constant, which each subgraph copies.
  bool is_constant(int node) const { return facts(node).is_constant; }
  /// Whether the program of a member is compiled for the elements of an input.
  bool wants_value(int member, int k) const {
    const plan_node& n = at(member);
    const op_info& op = op_of(n);
    if (op.what.looks_at_shape_alone()) return false;
    if (facts(member).is_stable) return true;
    const int inputs = static_cast<int>(n.inputs.size());
    if (op.what.values.contains(k, inputs)) return true;
    return op.infer != nullptr && k >= inputs - number_inputs_of(op, *n.node->record);
  }
  /// The number of members that do more than forward values or look at shapes.
  int computing(int part) const {
    const auto& all = parts_[static_cast<std::size_t>(part)];
    return static_cast<int>(std::count_if(all.begin(), all.end(), [&](int i) { return computes(i); }));
  }

 private:
  struct node_facts {
    int rank = 0;  // position in topological order
    int level = 0;
    int part = -1;
    bool is_constant = false;
    bool is_member = false;    // whether it can be a member
    bool is_stable = false;    // a few integers that depend on shapes and constants alone
    bool is_variable = false;  // its result is a variable, not a value
    std::vector<int> held_by;
  };

  const plan_node& at(int i) const { return plan_.nodes[static_cast<std::size_t>(i)]; }
  node_facts& facts(int i) { return nodes_[static_cast<std::size_t>(i)]; }
  const node_facts& facts(int i) const { return nodes_[static_cast<std::size_t>(i)]; }
  const op_info& op_of(const plan_node& n) const { return *g_.at(n.node->index).op; }

  // Finds a topological order of the nodes, ignoring the back edges of loops.
  void put_in_sequence() {
    if (plan_.has_control_flow)
      for (std::size_t i = 0; i < plan_.nodes.size(); ++i) sequence_.push_back(static_cast<int>(i));
    else sequence_ = plan_.order;
    for (std::size_t k = 0; k < sequence_.size(); ++k) facts(sequence_[k]).rank = static_cast<int>(k);
    for (std::size_t i = 0; i < plan_.nodes.size(); ++i)
      for (const int later : plan_.nodes[i].then) facts(later).held_by.push_back(static_cast<int>(i));
  }
  bool comes_before(int a, int b) const { return facts(a).rank < facts(b).rank; }

  void classify(int i) {
    const plan_node& n = at(i);
    if (n.node == nullptr) return;
    const op_info& op = op_of(n);
    node_facts& f = facts(i);
    f.is_variable = gives_variable(i);
    if (f.is_variable) return;
    if (op.what.state == state_role::push) pushed_[stack_of(n.inputs[0])].push_back(n.inputs[1]);
    f.is_stable = is_stable(i);
    if (n.kind != flow::plain || n.waits || n.writes) return;
    if (std::any_of(n.inputs.begin(), n.inputs.end(), [](const plan_input& in) { return in.late; })) return;
    for (int k = 0; k < n.results; ++k)
      if (size_of(output(g_, n.node->index, k).type()) == 0) return;
    if (op.kind == op_kind::constant) {
      f.is_constant = true;
      return;
    }
    for (const auto& s : n.inputs)
      if (!comes_before(s.node, i) || size_of(type_of(s)) == 0) return;
    if (f.is_stable || op.what.passes_on() || op.what.looks_at_shape_alone()) {
      f.is_member = true;
      return;
    }
    if (!op.what.is_pure() || n.inputs.empty() || !row_facts(op).may_have_rows(op, type_of(n.inputs[0]))) return;
    for (int k = 0; k < static_cast<int>(n.inputs.size()); ++k)
      if (wants_value(i, k) && !facts(n.inputs[static_cast<std::size_t>(k)].node).is_stable) return;
    f.is_member = true;
  }
  bool gives_variable(int i) const {
    const plan_node& n = at(i);
    const op_info& op = op_of(n);
    if (op.what.makes_variable() || n.writes) return true;
    if (!op.what.forwards && n.kind == flow::plain) return false;
    return std::any_of(n.inputs.begin(), n.inputs.end(),
                       [&](const plan_source& s) { return comes_before(s.node, i) && facts(s.node).is_variable; });
  }
  bool is_stable(int i) const {
    const plan_node& n = at(i);
    const op_info& op = op_of(n);
    for (int k = 0; k < n.results; ++k) {
      const output o(g_, n.node->index, k);
      if (!is_integer(o.type()) || (o.extent().is_static() && o.extent().elements() > fused_part::most_known)) return false;
    }
    const auto from_stable = [&](const plan_source& s) { return comes_before(s.node, i) && facts(s.node).is_stable; };
    if (n.kind == flow::branch) return from_stable(n.inputs[0]);
    if (op.what.state == state_role::pop) {
      const auto pushed = pushed_.find(stack_of(n.inputs[0]));
      return pushed != pushed_.end() && std::all_of(pushed->second.begin(), pushed->second.end(), from_stable);
    }
    const bool passes = op.what.passes_on() || n.kind == flow::enter;
    if (!passes && (n.kind != flow::plain || !op.what.is_pure())) return false;
    if (op.kind == op_kind::constant || op.what.looks_at_shape_alone()) return true;
    return !n.inputs.empty() && std::all_of(n.inputs.begin(), n.inputs.end(), from_stable);
  }
  // The stack that a handle refers to, so that sizes that a loop saves for the loop of its gradient are still known to be sizes.
  int stack_of(plan_source handle) const {
    while (at(handle.node).node != nullptr && (at(handle.node).kind == flow::enter || op_of(at(handle.node)).what.passes_on()))
      handle = at(handle.node).inputs[0];
    return handle.node;
  }
  dtype type_of(const plan_source& s) const {
    const plan_node& n = at(s.node);
    return n.node != nullptr ? output(g_, n.node->index, s.port).type() : n.fed;
  }
  bool computes(int i) const {
    const leat::facts& what = op_of(at(i)).what;
    return !facts(i).is_stable && !what.passes_on() && !what.looks_at_shape_alone() && !what.reshapes;
  }

  bool go_together(int a, int b) const {
    return facts(a).is_member && facts(b).is_member && at(a).frame == at(b).frame && alive_.of(a) == alive_.of(b);
  }
  // Computes the levels. Returns false if they do not converge, which happens in no graph that runs.
  bool find_levels() {
    std::vector<std::vector<int>> enters(plan_.frames.size());
    for (const int i : sequence_)
      if (at(i).kind == flow::enter) enters[static_cast<std::size_t>(at(i).child)].push_back(i);
    for (std::size_t round = 0; round < plan_.frames.size() + 3; ++round) {
      bool stays = true;
      for (const int i : sequence_) {
        int level = level_of(i);
        if (at(i).kind == flow::exit)  // an iteration may use results of the previous one
          for (const int e : enters[static_cast<std::size_t>(at(i).frame)]) level = std::max(level, facts(e).level + 1);
        stays = stays && level == facts(i).level;
        facts(i).level = level;
      }
      if (stays) return true;
    }
    return false;
  }
  int level_of(int i) {
    int level = 0;
    const auto comes_after = [&](int j) {
      if (comes_before(j, i)) level = std::max(level, facts(j).level + (go_together(j, i) ? 0 : 1));
    };
    for (const auto& s : at(i).inputs) {
      if (!facts(i).is_member || !facts(s.node).is_constant) comes_after(s.node);
      else
        for (const int c : at(s.node).controls) comes_after(c);  // the subgraph's copy of the constant waits for the same nodes
    }
    for (const int c : at(i).controls) comes_after(c);
    for (const int h : facts(i).held_by) comes_after(h);
    return level;
  }

  void collect() {
    std::map<std::tuple<int, int, int>, std::vector<int>> groups;
    for (const int i : sequence_)
      if (facts(i).is_member) groups[{at(i).frame, alive_.of(i), facts(i).level}].push_back(i);
    for (auto& [key, members] : groups) {
      if (std::count_if(members.begin(), members.end(), [&](int i) { return computes(i); }) < 2) continue;
      for (const int i : members) facts(i).part = static_cast<int>(parts_.size());
      parts_.push_back(std::move(members));
    }
  }

  graph& g_;
  const run_plan& plan_;
  aliveness alive_;
  std::vector<node_facts> nodes_;
  std::map<int, std::vector<plan_source>> pushed_;  // indexed by stack
  std::vector<int> sequence_;
  std::vector<std::vector<int>> parts_;
};

}  // namespace leat::runtime
