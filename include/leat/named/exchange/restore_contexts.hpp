#pragma once
// Finds the branches and loops of a graph that was read from a file, which has their nodes but does not say what belongs to them. Gradients
// need it: they run back through a loop, and through the branch that was taken. A node belongs to what its inputs come from: an `Enter`
// begins a loop, an `Exit` ends it, a `Switch` of which one result is used begins a branch, a `Merge` ends two. Where the nodes say
// something else, nothing is found, and a gradient through the loop is refused as before.

#include <leat/named/control/control_flow.hpp>
#include <leat/named/graph/call.hpp>
#include <leat/ops/array_shape.hpp>

#include <array>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace leat::detail {

class context_finder {
 public:
  /// `made`: the nodes that were read, operands before their users but for back edges of loops.
  context_finder(graph& g, std::vector<int> made)
      : g_(g), nodes_(g.named()), made_(std::move(made)), loop_condition_(&nodes_.operator_or_opaque("LoopCond")) {}

  /// Gives the nodes their contexts, all or none of them.
  void run() {
    if (!has_loop()) return;
    find_users();
    is_sound_ = true;
    for (const int i : made_) {
      if (!is_sound_) break;
      enter(i);
    }
    for (const auto& [name, loop] : loops_) is_sound_ = is_sound_ && is_whole(*loop);
    is_sound_ = is_sound_ && leaves_all();
    if (is_sound_) return;
    for (const int i : made_) nodes_.record(i).context = nullptr;
  }

 private:
  using tensor_key = std::pair<int, int>;
  struct branch_key {
    flow_context* outer;
    tensor_key predicate;
    int side;
    auto operator<=>(const branch_key&) const = default;
  };
  flow control_of(int i) const { return g_.at(i).op->what.control; }

  bool has_loop() const {
    for (const int i : made_)
      if (control_of(i) == flow::enter) return true;
    return false;
  }
  void find_users() {
    for (const int i : made_)
      for (int k = 0; k < nodes_.input_count(g_, i); ++k) {
        const output in = nodes_.input(g_, i, k);
        if (control_of(in.index()) != flow::branch || in.port() > 1 || nodes_.input_count(g_, in.index()) < 2) continue;
        uses_[in.index()][static_cast<std::size_t>(in.port())] = true;
        // A branch's pivot: the predicate, behind its own `Switch`.
        if (!is_operator<identity_op>(*g_.at(i).op) || k > 0) continue;
        const output predicate = nodes_.input(g_, in.index(), 1), data = nodes_.input(g_, in.index(), 0);
        if (key(data) == key(predicate)) pivots_.emplace(std::pair(origin(predicate), in.port()), i);
      }
  }
  static tensor_key key(const output& o) { return {o.index(), o.port()}; }
  /// The predicate that copies of it stand for: TensorFlow 1.x gives each branch a copy.
  tensor_key origin(output o) const {
    for (int copies = 0; copies < 16 && is_operator<identity_op>(*g_.at(o.index()).op) && nodes_.input_count(g_, o.index()) > 0; ++copies)
      o = nodes_.input(g_, o.index(), 0);
    return key(o);
  }

  /// The innermost of two contexts, one of which must be around the other.
  flow_context* inner_of(flow_context* a, flow_context* b) {
    if (a == b || b == nullptr) return a;
    for (flow_context* c = a; c != nullptr; c = c->outer())
      if (c == b) return a;
    for (flow_context* c = b; c != nullptr; c = c->outer())
      if (c == a) return b;
    if (a == nullptr) return b;
    is_sound_ = false;
    return a;
  }
  flow_context* context_of_result(const output& o) const {
    const auto its = by_port_.find(key(o));
    return its != by_port_.end() ? its->second : result_context(g_, o.index());
  }
  flow_context* around(int i, bool without_back_edge = false) {
    flow_context* found = nullptr;
    for (int k = 0; k < nodes_.input_count(g_, i); ++k) {
      const output in = nodes_.input(g_, i, k);
      if (without_back_edge && control_of(in.index()) == flow::next) continue;
      found = inner_of(found, context_of_result(in));
    }
    const node& n = g_.at(i);
    for (int k = 0; k < n.control_count; ++k) found = inner_of(found, result_context(g_, g_.control(n, k)));
    return found;
  }

  void put(int i, flow_context* its) {
    node_record& r = nodes_.record(i);
    r.context = its;
    if (its == nullptr) return;
    const bool fetchable = r.fetchable, feedable = r.feedable;
    its->note(i);
    r.fetchable = fetchable;
    r.feedable = feedable;
  }
  /// Whether there may be one more context in this one: each of them knows what is made in those within.
  bool has_room(flow_context* outer) {
    int depth = 0;
    for (flow_context* c = outer; c != nullptr; c = c->outer()) ++depth;
    is_sound_ = is_sound_ && depth < most_depth;
    return depth < most_depth;
  }
  /// The innermost context, which must be a loop.
  while_context* as_loop(flow_context* its) {
    while_context* const loop = its == nullptr || its->branch() != nullptr ? nullptr : its->loop();
    is_sound_ = is_sound_ && loop != nullptr;
    return loop;
  }

  void enter(int i) {
    const flow control = control_of(i);
    const int least = control == flow::branch ? 2 : control == flow::enter || control == flow::exit || control == flow::merge ? 1 : 0;
    if (nodes_.input_count(g_, i) < least) {
      is_sound_ = false;
      return;
    }
    if (control == flow::enter) return enter_loop(i);
    if (control == flow::exit) return leave_loop(i);
    if (control == flow::branch) return begin_branch(i);
    if (control == flow::merge) return merge(i);
    flow_context* const its = around(i);
    put(i, its);
    if (g_.at(i).op == loop_condition_) {
      while_context* const loop = as_loop(its);
      if (loop == nullptr) return;
      is_sound_ = is_sound_ && !static_cast<bool>(loop->pivot);
      loop->pivot = {g_, i};
    }
    if (!is_operator<identity_op>(*g_.at(i).op) || nodes_.input_count(g_, i) == 0) return;
    const output in = nodes_.input(g_, i, 0);
    if (control_of(in.index()) != flow::branch || in.port() != 1 || !is_variable_switch(in.index())) return;
    if (while_context* const loop = as_loop(its); loop != nullptr && !static_cast<bool>(loop->pivot_for_body))
      loop->pivot_for_body = {g_, i};
  }
  bool is_variable_switch(int i) const { return g_.at(nodes_.input(g_, i, 1).index()).op == loop_condition_; }

  void enter_loop(int i) {
    const attribute_map& attributes = nodes_.record(i).attributes;
    const auto* name = attributes.find("frame_name");
    const auto* frame = name != nullptr ? name->get_if<std::string>() : nullptr;
    const auto* iterations = attributes.find("parallel_iterations");
    const auto* parallel = iterations != nullptr ? iterations->get_if<std::int64_t>() : nullptr;
    if (frame == nullptr) {
      is_sound_ = false;
      return;
    }
    flow_context* const outer = around(i);
    while_context*& loop = loops_[*frame];
    if (loop == nullptr) {
      if (!has_room(outer)) return;
      const inside_context there(nodes_, outer);
      loop = &nodes_.keep(std::make_unique<while_context>(g_, std::string(*frame),
                                                          loop_settings{.parallel_iterations = parallel != nullptr ? *parallel : 10},
                                                          while_context::frame_exists{}));
    }
    is_sound_ = is_sound_ && inner_of(loop->outer(), outer) == loop->outer();
    put(i, loop);
    if (!is_loop_constant(g_, i)) loop->enters.emplace_back(g_, i);
  }
  void leave_loop(int i) {
    while_context* const loop = as_loop(around(i));
    if (loop == nullptr) return;
    put(i, loop);
    const output left{g_, i}, from = nodes_.input(g_, i, 0);
    loop->exits.push_back(left);
    loop->hand_out(std::span(&left, 1));
    left_.insert(from.index());
  }

  void begin_branch(int i) {
    const output data = nodes_.input(g_, i, 0), predicate = nodes_.input(g_, i, 1);
    flow_context* const base = around(i);
    if (is_variable_switch(i)) {
      put(i, as_loop(base));
      switches_.push_back(i);
      return;
    }
    const std::array<bool, 2> used = uses_[i];
    if (used[0] != used[1]) {
      const int side = used[1] ? 1 : 0;
      put(i, branch(base, predicate, side));
      return;
    }
    put(i, base);
    // One node for both branches: its gradient is that of no branch, which loops and branches around it do not allow.
    is_sound_ = is_sound_ && (base == nullptr || !used[0] || key(data) == key(predicate));
    for (int side = 0; side < 2 && used[0]; ++side) by_port_[{i, side}] = branch(base, predicate, side);
  }
  cond_context* branch(flow_context* outer, const output& predicate, int side) {
    cond_context*& made = branches_[{outer, origin(predicate), side}];
    if (made != nullptr || !has_room(outer)) return made;
    const auto [first, last] = pivots_.equal_range({origin(predicate), side});
    int tried = 0;
    for (auto at = first; at != last && made == nullptr && tried < most_tried; ++at, ++tried) {
      if (around(nodes_.input(g_, at->second, 0).index()) != outer) continue;
      const inside_context there(nodes_, outer);
      made = &nodes_.keep(std::make_unique<cond_context>(g_, predicate, output{g_, at->second}, side, "cond_text"));
    }
    is_sound_ = is_sound_ && made != nullptr;
    return made;
  }

  void merge(int i) {
    const int count = nodes_.input_count(g_, i);
    bool has_back_edge = false;
    for (int k = 0; k < count; ++k) has_back_edge = has_back_edge || control_of(nodes_.input(g_, i, k).index()) == flow::next;
    if (has_back_edge) {
      while_context* const loop = as_loop(around(i, true));
      if (loop == nullptr) return;
      put(i, loop);
      if (!static_cast<bool>(loop->pivot_for_predicate)) loop->pivot_for_predicate = {g_, i};
      return;
    }
    if (count != 2) {
      is_sound_ = false;
      return;
    }
    std::array<cond_context*, 2> sides{};
    bool is_shared = false;
    for (int k = 0; k < 2; ++k) {
      const output in = nodes_.input(g_, i, k);
      flow_context* const its = context_of_result(in);
      sides[static_cast<std::size_t>(k)] = its == nullptr ? nullptr : its->branch();
      is_shared = is_shared || by_port_.contains(key(in));
    }
    const auto [no, yes] = sides;
    if (no == nullptr || yes == nullptr || no->outer() != yes->outer() || no->side() != 0 || yes->side() != 1 ||
        origin(no->predicate()) != origin(yes->predicate()) || (is_shared && no->outer() != nullptr)) {
      is_sound_ = false;
      return;
    }
    put(i, no->outer());
  }

  /// Whether a gradient finds all that it needs of a loop: a value of a variable that does not leave the loop would lose its gradient.
  bool is_whole(const while_context& loop) const {
    return static_cast<bool>(loop.pivot) && static_cast<bool>(loop.pivot_for_predicate) && static_cast<bool>(loop.pivot_for_body);
  }
  bool leaves_all() const {
    for (const int i : switches_) {
      const dtype type = g_.at(i).result.type;
      if ((is_floating(type) || type == static_cast<dtype>(data_type::variant)) && !left_.contains(i)) return false;
    }
    return true;
  }

  static constexpr int most_depth = 64, most_tried = 1000;

  graph& g_;
  named_part& nodes_;
  std::vector<int> made_;
  const op_info* loop_condition_;
  bool is_sound_ = false;
  std::unordered_map<int, std::array<bool, 2>> uses_;      // by Switch: which results are used
  std::multimap<std::pair<tensor_key, int>, int> pivots_;  // by predicate and side
  std::map<tensor_key, flow_context*> by_port_;            // of a Switch that both branches use
  std::map<std::string, while_context*> loops_;            // by name of the frame
  std::map<branch_key, cond_context*> branches_;
  std::vector<int> switches_;  // of loops' variables
  std::set<int> left_;         // those of them that leave the loop
};

}  // namespace leat::detail
