#pragma once
// The traversal from the ys back to the xs, which makes the gradients' nodes (named_gradient.hpp).

#include <leat/named/control/control_flow.hpp>
#include <leat/named/gradients/loop_gradient.hpp>
#include <leat/named/gradients/way.hpp>
#include <leat/named/gradients/writer.hpp>

#include <queue>

namespace leat::detail {

// The traversal from the ys back to the xs. Source: TensorFlow's `_GradientsHelper`; the order in which it visits nodes determines the
// names of sums.
class gradient_walk {
 public:
  gradient_walk(graph& g, std::vector<output> ys, std::vector<output> xs, const std::vector<output>& stops)
      : g_(g), nodes_(g.named()), ys_(std::move(ys)), xs_(std::move(xs)), loops_(g) {
    mark();
    for (const output& x : xs_) {
      bool stands_first = true;
      for (int k = 0; k < nodes_.input_count(g_, x.index()); ++k)
        stands_first = stands_first && pending_[at(nodes_.input(g_, x.index(), k).index())] == 0;
      if (stands_first) stops_.insert(x.index());
    }
    for (const output& s : stops) stops_.insert(s.index());
    refuse_early();
  }

  /// The gradients of the xs. The scope `scope` is open and contains the seeds. With `gated`, all gradients of a node's inputs become
  /// available together, by TensorFlow's `tuple`.
  gradient_list run(const std::vector<output>& seeds, const std::string& scope, bool gated) {
    const default_graph_scope here(g_);
    const bool held = std::exchange(nodes_.position_held, true);
    const struct back {
      named_nodes& nodes;
      bool held;
      control_flow_context* context;
      ~back() {
        nodes.position_held = held;
        nodes.context = context;
      }
    } restore{nodes_, held, nodes_.context};
    nodes_.names.set_scope(scope);
    for (int index : exits_) loops_.add(index);
    for (std::size_t k = 0; k < ys_.size(); ++k) given_[{ys_[k].index(), ys_[k].port()}].emplace_back(seeds[k]);
    std::unordered_set<int> queued;
    for (const output& y : ys_)
      if (between_[at(y.index())] != 0 && pending_[at(y.index())] == 0 && queued.insert(y.index()).second) ready_.push(y.index());
    if (loops_.any()) begin_with_unused_exits(queued);
    while (!ready_.empty()) {
      const int index = ready_.front();
      ready_.pop();
      visit(index, scope, gated);
      nodes_.names.set_scope(scope);
      for (int k = 0; k < nodes_.input_count(g_, index); ++k) settle(nodes_.input(g_, index, k));
    }
    loops_.settle();
    gradient_list result;
    for (const output& x : xs_) {
      const auto known = given_.find({x.index(), x.port()});
      result.push_back(known == given_.end() || known->second.empty() ? gradient_value{} : sum(known->second));
    }
    return result;
  }

 private:
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }
  // A dtype that an import does not know may be floating point, and so may the elements of a list.
  static bool may_pass(dtype type) { return gets_zeros(type) || type == dtype::invalid; }
  // Whether a result without a gradient gets zeros as one.
  static bool gets_zeros(dtype type) { return is_differentiable(type) || is_list(type); }
  tensor_info info(int index, int port) const { return port == 0 ? g_.at(index).result : nodes_.further_result(index, port); }

  // Marks the nodes between the xs and the ys: those that depend on an x through tensors with gradients, and on which a y depends.
  void mark() {
    const auto size = static_cast<std::size_t>(g_.size());
    std::vector<std::vector<std::pair<int, int>>> users(size);  // by node: the users of its results, each with the result's number
    for (int i = 0; i < g_.size(); ++i)
      for (int k = 0; k < nodes_.input_count(g_, i); ++k) {
        const output in = nodes_.input(g_, i, k);
        users[at(in.index())].emplace_back(i, in.port());
      }
    // A pop depends on the pushes to its stack.
    const auto stack_of = [&](int i) {
      int stack = nodes_.input(g_, i, 0).index();
      while (nodes_.input_count(g_, stack) > 0 && g_.at(stack).op->what.state != state_role::stack)
        stack = nodes_.input(g_, stack, 0).index();
      return stack;
    };
    std::map<int, std::vector<int>> pops;
    for (int i = 0; i < g_.size(); ++i)
      if (g_.at(i).op->what.state == state_role::pop) pops[stack_of(i)].push_back(i);
    if (!pops.empty())
      for (int i = 0; i < g_.size(); ++i)
        if (g_.at(i).op->what.state == state_role::push)
          for (int pop : pops[stack_of(i)]) users[at(i)].emplace_back(pop, 0);
    std::vector<char> reached(size, 0);
    std::vector<int> open;
    for (const output& x : xs_)
      if (std::exchange(reached[at(x.index())], char{1}) == 0) open.push_back(x.index());
    while (!open.empty()) {
      const int i = open.back();
      open.pop_back();
      for (const auto& [user, port] : users[at(i)])
        if (may_pass(info(i, port).type) && std::exchange(reached[at(user)], char{1}) == 0) open.push_back(user);
    }
    between_.assign(size, 0);
    pending_.assign(size, 0);
    std::vector<int> found;
    for (const output& y : ys_)
      if (reached[at(y.index())] != 0 && std::exchange(between_[at(y.index())], char{1}) == 0) found.push_back(y.index());
    for (std::size_t k = 0; k < found.size(); ++k)
      for (int i = 0; i < nodes_.input_count(g_, found[k]); ++i) {
        const int from = nodes_.input(g_, found[k], i).index();
        if (reached[at(from)] != 0 && std::exchange(between_[at(from)], char{1}) == 0) found.push_back(from);
      }
    // If one exit of a loop is needed, all of its exits are.
    std::set<control_flow_context*> loops;
    for (std::size_t k = 0; k < found.size(); ++k) {
      if (g_.at(found[k]).op->what.control != flow::exit) continue;
      while_context* const loop = loop_of(g_, found[k]);
      if (loop == nullptr) {
        if (gets_a_gradient(found[k]))
          refuse_gradient(g_, found[k],
                          "Failed to call gradients on a while loop without its context: it was read from a file, which does not say it");
        continue;
      }
      if (loop->gradient) refuse_gradient(g_, found[k], no_second_order);
      if (!loops.insert(loop).second) continue;
      exits_.push_back(found[k]);
      for (const output& o : loop->exits)
        if (std::exchange(between_[at(o.index())], char{1}) == 0) found.push_back(o.index());
    }
    for (int index : found)
      for (int k = 0; k < nodes_.input_count(g_, index); ++k) {
        const int from = nodes_.input(g_, index, k).index();
        if (between_[at(from)] != 0) ++pending_[at(from)];
      }
  }

  // If one result of a loop is needed, the gradients of its unused results start as zeros.
  void begin_with_unused_exits(const std::unordered_set<int>& queued) {
    for (named_loop_gradient* state : loops_.all()) {
      for (const output& o : state->forward_exits) {
        if (pending_[at(o.index())] != 0) continue;
        --state->pending_exits;
        if (!queued.contains(o.index())) state->unused_exits.push_back(o);
        if (state->pending_exits == 0)
          for (const output& unused : state->unused_exits) begin_with_zeros(unused);
      }
      for (const output& o : state->forward()->enters) {
        if (at(o.index()) >= pending_.size() || pending_[at(o.index())] != 0) continue;
        pending_[at(o.index())] = 1;
        between_[at(o.index())] = 1;
      }
    }
  }
  void begin_with_zeros(const output& o) {
    if (!gets_zeros(o.type())) return;
    given_[{o.index(), o.port()}].emplace_back(loops_.zeros_for_exit(o));
    ready_.push(o.index());
  }
  bool has_gradient(const output& o) const {
    const auto known = given_.find({o.index(), o.port()});
    return known != given_.end() && !known->second.empty();
  }
  // Records that one user of a tensor has been visited.
  void settle(const output& in) {
    const int from = in.index();
    if (at(from) >= between_.size() || between_[at(from)] == 0) return;
    const bool is_ready = --pending_[at(from)] == 0;
    if (!is_ready && !(pending_[at(from)] > 0 && loops_.any() && is_loop_switch(g_, from))) return;
    named_loop_gradient* const state = g_.at(from).op->what.control == flow::exit ? loops_.of(from, false) : nullptr;
    if (state == nullptr) {
      ready_.push(from);
      return;
    }
    // A loop's exits are processed together, when the gradients of all of them are known.
    state->deferred_exits.push_back(in);
    if (--state->pending_exits != 0) return;
    bool any = false;
    for (const output& o : state->deferred_exits) {
      if (has_gradient(o)) {
        any = true;
        ready_.push(o.index());
      } else {
        state->unused_exits.push_back(o);
      }
    }
    for (const output& o : state->unused_exits) {
      if (any && gets_zeros(o.type())) given_[{o.index(), o.port()}].emplace_back(loops_.zeros_for_exit(o));
      ready_.push(o.index());
    }
  }

  gradient_way way_of(int index) const {
    const op_info& op = *g_.at(index).op;
    return nodes_.record(index).results == 0 ? gradient_way::nothing : gradient_way_of(op);
  }
  [[noreturn]] void refuse_unknown(int index) const {
    refuse_gradient(g_, index, "no gradient is known of this operator: register_gradient says how it is passed");
  }
  // Reports an operator without a known gradient before the first node is made, if a gradient may reach it.
  void refuse_early() const {
    std::vector<char> gets(static_cast<std::size_t>(g_.size()), 0);
    std::vector<int> open;
    const auto reach = [&](const output& o) {
      if (between_[at(o.index())] != 0 && may_pass(info(o.index(), o.port()).type) && std::exchange(gets[at(o.index())], char{1}) == 0)
        open.push_back(o.index());
    };
    for (const output& y : ys_) reach(y);
    while (!open.empty()) {
      const int index = open.back();
      open.pop_back();
      const gradient_way way = way_of(index);
      if (stops_.contains(index) || way == gradient_way::nothing) continue;
      if (way == gradient_way::unknown) refuse_unknown(index);
      for (int k = 0; k < nodes_.input_count(g_, index); ++k) reach(nodes_.input(g_, index, k));
    }
  }
  // Whether any result of the node can have a gradient.
  bool gets_a_gradient(int index) const {
    for (int port = 0; port < nodes_.record(index).results; ++port)
      if (may_pass(info(index, port).type)) return true;
    return false;
  }

  gradient_value sum(std::vector<gradient_value>& parts) {
    if (parts.size() < 2) return parts.empty() ? gradient_value{} : parts[0];
    bool sparse = true;
    for (const auto& p : parts) sparse = sparse && p.is_sparse();
    gradient_value made;
    if (sparse) {
      made = joined(parts);
    } else {
      std::vector<output> all;
      for (const auto& p : parts) all.push_back(densified(p));
      made = gradient_value(add_up(all));
    }
    parts.assign(1, made);
    return made;
  }
  // Sums the gradients of each device first, then these sums.
  output add_up(const std::vector<output>& all) {
    std::map<std::string, std::vector<output>> by_device;
    for (const output& o : all) by_device[o.operation().device()].push_back(o);
    std::vector<output> sums;
    for (auto& [device, these] : by_device) {
      std::vector<int> outer;
      outer.swap(nodes_.colocations);
      nodes_.colocations.push_back(these.front().index());
      const struct back {
        named_nodes& nodes;
        std::vector<int>& outer;
        ~back() { nodes.colocations.swap(outer); }
      } restore{nodes_, outer};
      sums.push_back(add_together(these));
    }
    return add_together(sums);
  }
  output add_together(const std::vector<output>& all) {
    if (all.size() == 1) return all[0];
    return add_n_node(all);
  }

  void visit(int index, const std::string& scope, bool gated) {
    const graph_operation op(g_, index);
    const int results = nodes_.record(index).results;
    gradient_list dys;
    bool any = false;
    nodes_.names.set_scope(scope);
    named_loop_gradient* const before = loops_.of(index, true);
    if (before != nullptr) before->backward().push();
    for (int port = 0; port < results; ++port) {
      const auto known = given_.find({index, port});
      dys.push_back(known == given_.end() ? gradient_value{} : sum(known->second));
      // The backward loop takes a single tensor, so that a sparse gradient is made dense outside of it.
      if (dys.back().is_sparse() && g_.at(index).op->what.control == flow::exit) dys.back() = densified(dys.back());
      any = any || static_cast<bool>(dys.back());
    }
    if (before != nullptr) before->backward().pop();
    const gradient_way way = way_of(index);
    if (!any || stops_.contains(index) || way == gradient_way::nothing) return;
    if (way == gradient_way::unknown) refuse_unknown(index);
    named_loop_gradient* const state = loops_.of(index, false);
    if (state != nullptr) state->backward().push();
    std::vector<bool> given;
    for (int port = 0; port < results; ++port) given.push_back(static_cast<bool>(dys[at(port)]));
    for (int port = 0; port < results; ++port)
      if (!static_cast<bool>(dys[at(port)]) && gets_zeros(info(index, port).type))
        if (const output zero = loops_.any() ? loops_.zeros_for(op.result(port)) : loop_gradients::zeros_outside_loop(op.result(port)))
          dys[at(port)] = zero;
    const name_scope inner(g_, op.name() + "_grad");
    const gradient_call call(op, std::move(dys), std::move(given));
    gradient_list parts = way == gradient_way::function ? find_gradient(op.type())(call) : gradient_by_class(call);
    if (static_cast<int>(parts.size()) > nodes_.input_count(g_, index))
      refuse_gradient(g_, index,
                      "its gradient's function gives " + std::to_string(parts.size()) + " gradients for " +
                          std::to_string(nodes_.input_count(g_, index)) + " inputs");
    for (gradient_value& p : parts)
      if (static_cast<bool>(p)) p.values = nodes_.value_of(p.values);
    if (gated) gate(parts);
    for (std::size_t k = 0; k < parts.size(); ++k) {
      if (!static_cast<bool>(parts[k])) continue;
      const output in = nodes_.input(g_, index, static_cast<int>(k));
      if (!parts[k].is_sparse() && in.extent().has_rank()) set_shape(parts[k].values, in.extent());
      given_[{in.index(), in.port()}].push_back(parts[k]);
    }
    if (state != nullptr) state->backward().pop();
  }

  // Makes all of the gradients available together, as `tuple` does, without a device.
  void gate(gradient_list& parts) {
    std::vector<output> some;
    for (const auto& p : parts)
      for (const output& o : {p.values, p.indices, p.dense_shape})
        if (static_cast<bool>(o)) some.push_back(o);
    std::size_t count = 0;
    for (const auto& p : parts) count += static_cast<bool>(p) ? 1 : 0;
    if (count < 2) return;
    std::vector<int> outer;
    outer.swap(nodes_.colocations);
    nodes_.devices.push_back({.what = named_nodes::device_frame::kind::clear, .spec = {}, .function = {}});
    const struct back {
      named_nodes& nodes;
      std::vector<int>& outer;
      ~back() {
        nodes.devices.pop_back();
        nodes.colocations.swap(outer);
      }
    } restore{nodes_, outer};
    std::vector<output> gated;
    for (const auto& p : parts)
      if (static_cast<bool>(p)) gated.push_back(p.values);
    const std::vector<output> made = tuple(gated);
    std::size_t next = 0;
    for (auto& p : parts)
      if (static_cast<bool>(p)) p.values = made[next++];
  }

  graph& g_;
  named_part& nodes_;
  std::vector<output> ys_;
  std::vector<output> xs_;
  std::vector<char> between_;
  std::vector<int> pending_;  // by node between the xs and the ys: number of users not visited yet
  std::vector<int> exits_;  // one per loop
  loop_gradients loops_;
  std::unordered_set<int> stops_;
  std::queue<int> ready_;
  std::map<std::pair<int, int>, std::vector<gradient_value>> given_;
};

}  // namespace leat::detail
