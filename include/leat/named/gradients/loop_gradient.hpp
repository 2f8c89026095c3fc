#pragma once
// Gradients through branches and loops of graphs with names, as TensorFlow 1.x makes them. The gradient of a `Switch` is a `Merge`, that of
// a `Merge` a `Switch`. The gradient of a loop is a backward loop: it counts down the iterations that the forward loop counted up, and pops
// the forward loop's values from stacks, to which the forward loop pushes them. Loop-invariant values are used directly, and their
// gradients are summed in the loop. A nested loop pushes its own iteration count. Source: TensorFlow `control_flow_state`,
// `control_flow_grad`; Yu et al., "Dynamic Control Flow in Large-Scale Machine Learning".

#include <leat/named/control/control_flow.hpp>
#include <leat/named/control/loop.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/named/gradients/nodes.hpp>
#include <leat/named/graph/call.hpp>
#include <leat/named/graph/lookup.hpp>

namespace leat::detail {

inline tensor_info info_of_tensor(const output& o) { return {o.type(), o.extent()}; }

// Zeros of a shape given by a tensor.
inline output zeros_in_shape(const output& sizes, const tensor_info& like) {
  graph& g = sizes.owner();
  named_part& nodes = g.named();
  const name_scope scope(g, "zeros");
  const output zero = nodes.make_constant(g, {like.type, {}, 0}, "Const");
  const output made =
      nodes.raw(g, "Fill", std::array{sizes, zero}, {{"T", like.type}, {"index_type", dtype::int32}}, {like}, scope.text()).result();
  nodes.record(made.index()).complete = false;
  return made;
}
// The shape of a tensor as a node, even if it is static.
inline output shape_at_run_time(const output& o) {
  shape sizes;
  sizes.push(o.extent().has_rank() ? o.extent().rank : unknown_dimension);
  return o.owner()
      .named()
      .raw(o.owner(), "Shape", std::array{o}, {{"T", o.type()}, {"out_type", dtype::int32}}, {{dtype::int32, sizes}})
      .result();
}
inline output zeros_like_node(const output& o) {
  return o.owner().named().raw(o.owner(), "ZerosLike", std::array{o}, {{"T", o.type()}}, {info_of_tensor(o)}, "zeros_like").result();
}
inline output zero_constant(const output& like, std::string_view name = "Const") {
  graph& g = like.owner();
  return g.named().make_constant(g, {like.type(), like.extent(), 0}, name);
}

// A gradient's loop takes what the forward loop pushed onto stacks, which say nothing of where their elements came from.
inline const std::string no_second_order =
    "Second-order gradient for while loops not supported. Where the number of iterations is known, make them as nodes one after the other; "
    "or write the first gradient as a loop of your own, which has a gradient like any other loop";

// The sum of two gradients, which may be lists.
inline output sum_of_two(const output& a, const output& b) { return is_list(a.type()) ? add_n_node({a, b}) : add(a, b); }
// What zeros like a tensor are made from: its shape, or for a list the list.
inline output model_of_zeros(const output& o) { return is_list(o.type()) ? o : shape_at_run_time(o); }
inline output zeros_from(const output& model, const output& like) {
  return is_list(like.type()) ? zeros_like_node(model) : zeros_in_shape(model, info_of_tensor(like));
}
// Whether zeros like a tensor are a constant.
inline bool has_constant_zeros(const output& o) { return o.extent().is_static() && !is_list(o.type()); }

// ---- one loop -------------------------------------------------------------------------------------------------------

// A forward loop and its backward loop.
class named_loop_gradient final : public loop_gradient {
 public:
  using tensor_key = std::pair<int, int>;

  // Counts the iterations of the forward loop, and opens the backward loop, which owns the returned object. `outer` belongs to the
  // enclosing loop.
  static named_loop_gradient& make(while_context& forward, named_loop_gradient* outer) {
    auto made = std::make_unique<named_loop_gradient>(forward, outer);
    named_loop_gradient& kept = *made;
    kept.open(std::move(made));
    return kept;
  }
  named_loop_gradient(while_context& forward, named_loop_gradient* outer)
      : g_(forward.owner()),
        nodes_(g_.named()),
        forward_(forward),
        outer_(outer),
        forward_exits(forward.exits),
        pending_exits(static_cast<int>(forward.exits.size())) {}

  while_context* forward() override { return &forward_; }
  while_context& backward() { return *backward_; }
  named_loop_gradient* outer() { return outer_; }

  output kept_value(const output& o) override {
    if (const auto known = history.find(key(o)); known != history.end()) return known->second;
    output current = o;
    named_loop_gradient* from = this;
    output real;
    output stack;
    while (true) {
      const int entered = loop_constant_of(current);
      if (entered >= 0) {
        current = nodes_.input(g_, entered, 0);
        from = from->outer_;
        if (from != nullptr) continue;
        real = backward_->bring_in(current);  // invariant in all loops
      } else if (const tensor_proto* contents = current.port() == 0 ? nodes_.contents_of(g_, current.index()) : nullptr) {
        real = copy_of_constant(current, *contents);
      } else {
        backward_->pop();
        stack = from->push_forward(current);
        backward_->push();
      }
      break;
    }
    if (!static_cast<bool>(real)) {
      real = from->pop_backward(stack, current);
      if (from != this) real = backward_->bring_in(real);
    }
    history[key(o)] = real;
    return real;
  }

  // Adds a stack to which the forward loop pushes a value in each iteration. Called in the context of the gradients.
  output push_forward(const output& value, bool dead_branch = false) {
    flow_context* const current = static_cast<flow_context*>(nodes_.context);
    const outside_contexts free(nodes_);
    output stack;
    {
      const inside_context there(nodes_, current);
      const colocate_with with{control_input(value)};
      const output size = nodes_.make_constant(g_, std::int32_t{-1}, "Const");
      stack =
          call_operator(g_, "StackV2", {size}, {{"elem_type", base_of(to_data_type(value.type()))}, {"stack_name", ""}}, "f_acc").result();
    }
    const output entered = forward_.bring_in(stack);
    flow_context* const its = result_context(g_, value.index());
    const attribute_map how{{"swap_memory", forward_.settings.swap_memory}};
    int push = -1;
    if (its == &forward_) {
      const inside_context there(nodes_, &forward_);
      push = call_operator(g_, "StackPushV2", {entered, value}, how).index();
      nodes_.add_control(g_, forward_next_.index(), push);
    } else {
      if (its == nullptr || its->branch() == nullptr)
        refuse_gradient(g_, value.index(), "what a loop within the loop computes is needed outside of it");
      {
        const inside_context there(nodes_, dead_branch ? its->outer() : its);
        push = call_operator(g_, "StackPushV2", {entered, value}, how).index();
      }
      if (dead_branch) nodes_.record(push).context = its;
      nodes_.add_control(g_, forward_sync(), push);
    }
    nodes_.add_control(g_, push, nodes_.input(g_, forward_next_.index(), 0).index());
    return stack;
  }
  // Pops the value that the forward loop pushed in this iteration. If the push is in a branch, the pop is guarded by the same predicate.
  output pop_backward(output stack, const output& value, bool dead_branch = false) {
    flow_context* const its_stack = context_of(g_, stack.index());
    cond_context* guard = nullptr;
    for (flow_context* c = context_of(g_, value.index()); c != nullptr && c != its_stack && guard == nullptr; c = c->outer())
      guard = c->branch();
    output popped;
    {
      const outside_contexts free(nodes_);
      const inside_context there(nodes_, backward_);
      if (guard != nullptr) {
        output predicate = guard->predicate();
        for (named_loop_gradient* s = this; s != nullptr; s = s->outer_)
          if (const auto known = s->history.find(key(guard->predicate())); known != s->history.end()) {
            predicate = known->second;
            break;
          }
        stack = switch_where(stack, predicate).result(dead_branch ? 1 - guard->side() : guard->side());
      }
      popped = call_operator(g_, "StackPopV2", {stack}, {{"elem_type", base_of(to_data_type(value.type()))}}).result();
      set_shape(popped, value.extent());
    }
    if (backward_->settings.parallel_iterations > 1) nodes_.add_control(g_, backward_sync(), popped.index());
    return popped;
  }
  // The predicate that a branch had in this iteration of the forward loop. Called inside the backward loop.
  output kept_predicate(const output& predicate) {
    if (const auto known = history.find(key(predicate)); known != history.end()) return known->second;
    backward_->pop();
    const output stack = push_forward(predicate);
    backward_->push();
    return history[key(predicate)] = pop_backward(stack, predicate);
  }

  // The gradient of a loop invariant: the sum over all iterations. Called inside the loop.
  output summed_up(const graph_operation& enter, const output& part) {
    while_context& loop = *backward_;
    loop.pop();
    output zero;
    if (has_constant_zeros(part)) {
      const inside_context there(nodes_, loop.outer());
      zero = zero_constant(part, "b_acc");
    } else if (outer_ != nullptr) {
      output sizes;
      {
        const inside_context there(nodes_, forward_.outer());
        sizes = model_of_zeros(nodes_.input(g_, enter.index(), 0));
      }
      const output stack = outer_->push_forward(sizes);
      const inside_context there(nodes_, loop.outer());
      zero = zeros_from(outer_->pop_backward(stack, sizes), part);
    } else {
      const inside_context there(nodes_, loop.outer());
      zero = zeros_from(model_of_zeros(nodes_.input(g_, enter.index(), 0)), part);
    }
    loop.push();
    loop.know(zero);
    const output entered = loop.enter(zero, false, "b_acc");
    loop.enters.push_back(entered);
    const output merged = merge_of(entered, "b_acc");
    const graph_operation sides = call_operator(g_, "Switch", {merged, loop.pivot});
    const output next = reference_or_plain(sum_of_two(sides.result(1), part), "NextIteration", "RefNextIteration");
    nodes_.set_input(g_, merged.index(), 1, next.index());
    const output result = call_operator(g_, "Exit", {sides.result(0)}, {}, "b_acc").result();
    loop.exits.push_back(result);
    loop.hand_out(std::array{result});
    return result;
  }

 private:
  graph& g_;
  named_part& nodes_;
  while_context& forward_;
  named_loop_gradient* outer_;
  while_context* backward_ = nullptr;
  output forward_next_;  // the iteration count for the next iteration
  output backward_next_;
  int forward_sync_ = -1;
  int backward_sync_ = -1;

 public:
  const std::vector<output> forward_exits;
  int pending_exits;
  std::vector<output> deferred_exits;
  std::vector<output> unused_exits;
  std::map<tensor_key, output> history;   // forward values, as available in the backward loop
  std::map<int, output> merge_of_switch;  // by the forward `Switch`: the gradient's `Merge`

 private:
  static tensor_key key(const output& o) { return {o.index(), o.port()}; }

  // The `Enter` of a loop invariant from which a value comes; -1 for any other value.
  int loop_constant_of(const output& o) const {
    int index = o.index();
    while (true) {
      const op_info& op = *g_.at(index).op;
      const bool is_identity = is_operator<identity_op>(op) || (op.what.forwards && op.what.forwards_reference);
      if (op.what.control != flow::branch && !is_identity) break;
      index = nodes_.input(g_, index, 0).index();
    }
    return is_loop_constant(g_, index) ? index : -1;
  }
  output copy_of_constant(const output& o, const tensor_proto& contents) {
    const std::string its_name = nodes_.names.node_name("Const");
    node_request request{.op = g_.at(o.index()).op, .name = its_name};
    std::vector<std::int64_t> numbers;
    for (int k = 0; k < g_.at(o.index()).attribute_count; ++k) numbers.push_back(g_.attribute(g_.at(o.index()), k));
    request.numbers = numbers;
    request.attributes["dtype"] = contents.dtype;
    request.attributes["value"] = contents;
    request.results = {info_of_tensor(o)};
    request.complete = nodes_.record(o.index()).complete;
    return {g_, nodes_.append(g_, std::move(request))};
  }

  void open(std::unique_ptr<named_loop_gradient> self) {
    flow_context* const around = outer_ != nullptr ? static_cast<flow_context*>(&outer_->forward_) : forward_.outer();
    output count;
    {
      if (around != nullptr) around->push();
      count = count_forward();
      if (around != nullptr) around->pop();
    }
    output stack;
    if (outer_ != nullptr) {
      outer_->forward_.know(count);
      stack = outer_->push_forward(count);
      outer_->backward_->push();
    } else if (around != nullptr) {
      around->push();
    }
    auto& loop = nodes_.keep(std::make_unique<while_context>(g_, forward_.name(), forward_.settings));
    backward_ = &loop;
    loop.gradient = std::move(self);
    if (outer_ != nullptr) {
      count_backward(outer_->pop_backward(stack, count));
      outer_->backward_->pop();
    } else {
      count_backward(count);
      if (around != nullptr) around->pop();
    }
  }
  output count_forward() {
    const output zero = nodes_.make_constant(g_, std::int32_t{0}, "f_count");
    // The pushes of one execution of an inner loop come before those of the next execution.
    if (outer_ != nullptr) nodes_.add_control(g_, zero.index(), nodes_.input(g_, outer_->forward_next_.index(), 0).index());
    forward_.push();
    forward_.know(zero);
    const output entered = forward_.enter(zero, false, "f_count");
    forward_.enters.push_back(entered);
    const output merged = merge_of(entered);
    const graph_operation sides = call_operator(g_, "Switch", {merged, forward_.pivot});
    forward_next_ = reference_or_plain(add(sides.result(1), 1), "NextIteration", "RefNextIteration");
    nodes_.set_input(g_, merged.index(), 1, forward_next_.index());
    const output total = call_operator(g_, "Exit", {sides.result(0)}, {}, "f_count").result();
    forward_.exits.push_back(total);
    forward_.hand_out(std::array{total});
    forward_.pop();
    return total;
  }
  void count_backward(const output& count) {
    while_context& loop = *backward_;
    const output one = nodes_.make_constant(g_, std::int32_t{1}, "b_count");
    loop.push();
    loop.know(count);
    const output entered = loop.enter(count, false, "b_count");
    loop.enters.push_back(entered);
    const output merged = merge_of(entered);
    loop.pivot_for_predicate = merged;
    const output more = greater_equal(merged, one);
    loop.pivot = call_operator(g_, "LoopCond", {more}, {}, "b_count").result();
    const graph_operation sides = call_operator(g_, "Switch", {merged, loop.pivot});
    const output left = subtract(sides.result(1), one);
    loop.pivot_for_body = left;
    backward_next_ = reference_or_plain(left, "NextIteration", "RefNextIteration");
    nodes_.set_input(g_, merged.index(), 1, backward_next_.index());
    const output done = call_operator(g_, "Exit", {sides.result(0)}, {}, "b_count").result();
    loop.exits.push_back(done);
    if (outer_ != nullptr) nodes_.add_control(g_, outer_->backward_sync(), done.index());
    loop.hand_out(std::array{done});
    loop.pop();
  }
  // Orders the pushes (`forward_sync`) and the pops (`backward_sync`) of one iteration before those of the next.
  int forward_sync() { return sync(forward_sync_, "f_sync", forward_, forward_next_); }
  int backward_sync() { return sync(backward_sync_, "b_sync", *backward_, backward_next_); }
  int sync(int& known, std::string_view name, while_context& loop, const output& next) {
    if (known >= 0) return known;
    {
      const outside_contexts free(nodes_);
      known = call_operator(g_, "ControlTrigger", {}, {}, name).index();
    }
    nodes_.record(known).context = &loop;
    nodes_.add_control(g_, next.index(), known);
    return known;
  }
};

// The backward loop of the current context, or null.
inline named_loop_gradient* current_loop_gradient(named_part& nodes) {
  auto* const current = static_cast<flow_context*>(nodes.context);
  while_context* const loop = current == nullptr ? nullptr : current->loop();
  return loop == nullptr ? nullptr : static_cast<named_loop_gradient*>(loop->gradient.get());
}

// ---- all loops of one gradient --------------------------------------------------------------------------------------

class loop_gradients {
 public:
  explicit loop_gradients(graph& g) : g_(g), nodes_(g.named()) {}

  bool any() const { return !loops_.empty(); }
  std::vector<named_loop_gradient*>& all() { return order_; }

  // Adds the loop that the exit `index` leaves. Called in the context of the gradients.
  void add(int index) {
    while_context* const forward = loop_of(g_, index);
    if (loops_.contains(forward)) return;
    while_context* around = forward->outer() == nullptr ? nullptr : forward->outer()->loop();
    const auto known = loops_.find(around);
    named_loop_gradient* const outer = around == nullptr || known == loops_.end() ? nullptr : known->second;
    order_.push_back(&named_loop_gradient::make(*forward, outer));
    loops_[forward] = order_.back();
  }
  // The loop of a node; with `before`, that of its result, which for an exit is the enclosing loop.
  named_loop_gradient* of(int index, bool before) const {
    flow_context* const its = before ? result_context(g_, index) : context_of(g_, index);
    while_context* const loop = its == nullptr ? nullptr : its->loop();
    const auto known = loops_.find(loop);
    return loop == nullptr || known == loops_.end() ? nullptr : known->second;
  }

  // Zeros as the gradient of a loop's result that is not used.
  output zeros_for_exit(const output& o) {
    while_context* const forward = loop_of(g_, o.index());
    while_context* const around = forward->outer() == nullptr ? nullptr : forward->outer()->loop();
    const auto known = loops_.find(around);
    named_loop_gradient* const outer = around == nullptr || known == loops_.end() ? nullptr : known->second;
    if (outer == nullptr) return has_constant_zeros(o) ? zero_constant(o, "zeros") : zeros_like_node(o);
    if (has_constant_zeros(o)) {
      const inside_context there(nodes_, &outer->backward());
      return zero_constant(o, "zeros");
    }
    output sizes;
    {
      const inside_context there(nodes_, forward->outer());
      sizes = model_of_zeros(o);
    }
    const output stack = outer->push_forward(sizes);
    const inside_context there(nodes_, &outer->backward());
    return zeros_from(outer->pop_backward(stack, sizes), o);
  }

  // Zeros for a result that the ys do not depend on; empty for a loop's own `Switch`. Called inside the backward loop.
  output zeros_for(const output& o) {
    if (is_loop_switch(g_, o.index())) return {};
    named_loop_gradient* const state = of(o.index(), false);
    if (state == nullptr) return zeros_outside_loop(o);
    flow_context* const its = context_of(g_, o.index());
    const bool dead = g_.at(o.index()).op->what.control == flow::branch && its->branch() != nullptr;
    if (has_constant_zeros(o)) {
      const output zero = zero_constant(o);
      if (!dead) return zero;
      return switch_where(zero, state->kept_predicate(its->branch()->predicate())).result(1 - its->branch()->side());
    }
    output sizes;
    if (dead) {
      cond_context* const branch = its->branch();
      output taken;
      {
        const inside_context there(nodes_, branch->outer());
        taken = switch_where(nodes_.input(g_, o.index(), 0), branch->predicate()).result(1 - branch->side());
        sizes = model_of_zeros(taken);
      }
      nodes_.record(taken.index()).context = branch;
      nodes_.record(sizes.index()).context = branch;
    } else {
      const inside_context there(nodes_, its);
      sizes = model_of_zeros(o);
    }
    if (dead) static_cast<void>(state->kept_predicate(its->branch()->predicate()));
    state->backward().pop();
    const output stack = state->push_forward(sizes, dead);
    state->backward().push();
    return zeros_from(state->pop_backward(stack, sizes, dead), o);
  }
  // Zeros for a result of a node outside of these loops. For a node in a branch they are made so that they are live if the other branch is
  // taken.
  static output zeros_outside_loop(const output& o) {
    graph& g = o.owner();
    flow_context* const its = context_of(g, o.index());
    if (g.at(o.index()).op->what.control != flow::branch || its == nullptr || its->branch() == nullptr) return zeros_like_node(o);
    cond_context* const branch = its->branch();
    const output taken = call_operator(g, "Switch", {g.named().input(g, o.index(), 0), branch->predicate()}).result(1 - branch->side());
    if (is_list(o.type())) return zeros_like_node(taken);
    const output pivot = g.named().build(g, info_of<identity_op>, std::array{taken}, {}, "Identity");
    const output sizes = shape_at_run_time(taken);
    const control_dependencies there({pivot});
    return zeros_in_shape(sizes, info_of_tensor(o));
  }

  // Completes the gradients of variables whose next value does not depend on the current one: they are zero except in the last iteration.
  void settle() {
    for (named_loop_gradient* state : order_)
      for (const auto& [index, merge] : state->merge_of_switch) {
        const output first = nodes_.input(g_, merge.index(), 0);
        if (nodes_.input(g_, merge.index(), 1).index() != first.index()) continue;
        while_context& loop = state->backward();
        output zero;
        if (!has_constant_zeros(first)) {
          const inside_context there(nodes_, loop.outer());
          const output entered = nodes_.input(g_, first.index(), 0);
          zero = zeros_from(model_of_zeros(entered), entered);
        }
        const inside_context there(nodes_, &loop);
        if (!static_cast<bool>(zero)) zero = zero_constant(first);
        next_iteration(merge, zero);
      }
  }

 private:
  graph& g_;
  named_part& nodes_;
  std::map<while_context*, named_loop_gradient*> loops_;
  std::vector<named_loop_gradient*> order_;
};

}  // namespace leat::detail
