#pragma once
// Branches and loops in TensorFlow 1.x's form: an input from outside of a branch passes through a `Switch`, one from outside of a loop
// through an `Enter`, and a node without inputs gets a control input from the pivot, which is live when the branch is taken or an
// iteration begins. This happens whenever a node is made while a context is open; programs only call `cond` and `while_loop`
// (named/control/control.hpp). Source: TensorFlow `CondContext`, `WhileContext`.

#include <leat/core/function_bodies.hpp>
#include <leat/graph/known_operators.hpp>
#include <leat/named/graph/graph_operation.hpp>
#include <leat/named/graph/named_part.hpp>
#include <leat/proto/operator_names.hpp>

#include <set>

namespace leat {

namespace detail {

class flow_context;
class cond_context;
class while_context;

// During its lifetime new nodes are made outside of all branches and loops, without control inputs.
class outside_contexts {
 public:
  explicit outside_contexts(named_nodes& nodes) : nodes_(&nodes), context_(std::exchange(nodes.context, nullptr)) {
    controls_.swap(nodes.controls);
  }
  outside_contexts(const outside_contexts&) = delete;
  outside_contexts& operator=(const outside_contexts&) = delete;
  ~outside_contexts() {
    controls_.swap(nodes_->controls);
    nodes_->context = context_;
  }

 private:
  named_nodes* nodes_;
  control_flow_context* context_;
  std::vector<named_nodes::control_frame> controls_;
};

// During its lifetime new nodes are made in this context, which may be none.
class inside_context {
 public:
  inside_context(named_nodes& nodes, control_flow_context* context) : nodes_(&nodes), outer_(std::exchange(nodes.context, context)) {}
  inside_context(const inside_context&) = delete;
  inside_context& operator=(const inside_context&) = delete;
  ~inside_context() { nodes_->context = outer_; }

 private:
  named_nodes* nodes_;
  control_flow_context* outer_;
};

// `Switch`, or `RefSwitch` of a reference, colocated with the tensor.
graph_operation switch_where(const output& data, const output& predicate, std::string_view name = "Switch");

// ---- common to branches and loops ----

class flow_context : public control_flow_context {
 public:
  using tensor_key = std::pair<int, int>;
  static tensor_key key(const output& o) { return {o.index(), o.port()}; }

  flow_context(graph& g, std::string name)
      : g_(&g), nodes_(&g.named()), outer_(static_cast<flow_context*>(nodes_->context)), name_(std::move(name)) {}

  graph& owner() const { return *g_; }
  flow_context* outer() const { return outer_; }
  const std::string& name() const { return name_; }
  /// The innermost loop that this is or is in, or null.
  virtual while_context* loop() = 0;
  virtual cond_context* branch() { return nullptr; }
  /// The tensor as seen inside: itself, or the node that brings it in, made if missing.
  virtual output bring_in(const output& o) = 0;
  /// Registers a tensor that was made inside.
  void know(const output& o) { known_.insert(key(o)); }
  /// Makes this the current context; `pop` restores the previous one. Source: TensorFlow's `Enter` and `Exit`.
  void push() { before_.push_back(std::exchange(nodes_->context, this)); }
  void pop() {
    nodes_->context = before_.back();
    before_.pop_back();
  }
  /// Registers this context's results with the outer one.
  void hand_out(std::span<const output> results) {
    if (outer_ == nullptr) return;
    for (const output& o : results) outer_->know(o);
  }
  void check_use(const node_request& request, control_flow_context* user, const output& input) override;

 protected:
  // Removes and returns control inputs of another loop, which cannot be waited for across loops.
  std::vector<int> take_external(std::vector<int>& controls);

  graph* g_;
  named_part* nodes_;
  flow_context* outer_;
  std::string name_;
  std::set<tensor_key> known_;
  std::map<tensor_key, output> brought_in_;
  std::vector<control_flow_context*> before_;
};

/// The context of a node; `result_context` is that of its results, which for a loop's Exit is outside of it.
inline flow_context* context_of(const graph& g, int index) { return static_cast<flow_context*>(nodes_of(g).record(index).context); }
inline flow_context* result_context(const graph& g, int index) {
  flow_context* const its = context_of(g, index);
  return its != nullptr && is_exit(g.at(index).op->type) ? its->outer() : its;
}
inline while_context* loop_of(const graph& g, int index) {
  flow_context* const its = context_of(g, index);
  return its == nullptr ? nullptr : its->loop();
}
bool is_loop_constant(graph& g, int index);
/// Whether this node switches a variable of its own loop.
bool is_loop_switch(graph& g, int index);

// ---- a branch ----

class cond_context final : public flow_context {
 public:
  cond_context(graph& g, const output& predicate, const output& pivot, int branch)
      : flow_context(g, g.named().names.unique_name("cond_text")), predicate_(predicate), pivot_(pivot), branch_(branch) {
    know(predicate);
    brought_in_.emplace(key(predicate), predicate);
    know(pivot);
    nodes_->record(pivot.index()).context = this;
  }
  while_context* loop() override { return outer_ == nullptr ? nullptr : outer_->loop(); }
  cond_context* branch() override { return this; }
  const output& predicate() const { return predicate_; }
  const output& pivot() const { return pivot_; }
  /// The result of a `Switch` that it takes: 1 if the predicate holds.
  int side() const { return branch_; }

  output bring_in(const output& o) override;
  /// A result of the branch. A tensor made outside, as in `[&] { return x; }`, gets a `Switch` of its own.
  output result(const output& o);

  void admit(const node_request& request, std::vector<output>& inputs, std::vector<int>& controls) override;
  void note(int index) override;

 private:
  output bring_into_outer(const output& o) {
    if (outer_ == nullptr) return o;
    const output from = outer_->bring_in(o);
    know(from);
    brought_in_[key(from)] = from;
    return from;
  }

  output predicate_;
  output pivot_;
  int branch_;
};

// ---- a loop ----

/// A gradient loop's view of its forward loop: named/gradients/control_flow_gradient.hpp.
class loop_gradient {
 public:
  loop_gradient() = default;
  loop_gradient(const loop_gradient&) = delete;
  loop_gradient& operator=(const loop_gradient&) = delete;
  virtual ~loop_gradient() = default;
  virtual while_context* forward() = 0;
  /// The forward loop's value in the iteration that is differentiated.
  virtual output kept_value(const output& o) = 0;
};

struct loop_settings {
  std::int64_t parallel_iterations = 10;
  bool back_prop = true;
  bool swap_memory = false;
};

class while_context final : public flow_context {
 public:
  while_context(graph& g, std::string_view name, const loop_settings& how)
      : flow_context(g, g.named().names.unique_name(name)), settings(how) {}

  const loop_settings settings;
  output pivot_for_predicate;  // control input of nodes without inputs
  output pivot_for_body;
  output pivot;  // the result of `LoopCond`
  std::vector<output> enters;
  std::vector<output> exits;
  std::unique_ptr<loop_gradient> gradient;  // of a gradient loop

  while_context* loop() override { return this; }
  output control_pivot() const { return static_cast<bool>(pivot_for_body) ? pivot_for_body : pivot_for_predicate; }

  output enter(const output& o, bool is_constant, std::string_view enter_name = {});
  /// Moves an `Enter` made outside of all contexts into this loop, with those outer control inputs that it may wait for.
  void adopt(const output& enter);
  /// Resets the known tensors to the loop's variables.
  void begin_with(std::span<const output> values) {
    known_.clear();
    for (const output& o : values) know(o);
  }

  output bring_in(const output& o) override;

  /// Shapes and sizes of forward values are computed in the forward loop, so that it saves them and not the tensors.
  control_flow_context* home_of(const node_request& request) override;
  void admit(const node_request& request, std::vector<output>& inputs, std::vector<int>& controls) override;
  void note(int index) override;

 private:
  static const op_info& info_of_identity() {
    const op_info* identity = find_operator("Identity");
    if (identity == nullptr) throw failed_precondition("the operators are not registered");
    return *identity;
  }
};

bool is_loop_switch(graph& g, int index);

inline std::vector<int> flow_context::take_external(std::vector<int>& controls) {
  std::vector<int> external;
  while_context* const here = loop();
  if (here == nullptr) return external;
  std::vector<int> internal;
  for (int c : controls) {
    flow_context* const its = result_context(*g_, c);
    (its != nullptr && its->loop() == here ? internal : external).push_back(c);
  }
  controls = std::move(internal);
  return external;
}

// A node's inputs may only come from its own context or those around it.
inline void flow_context::check_use(const node_request& request, control_flow_context* user, const output& input) {
  flow_context* const from = result_context(*g_, input.index());
  auto* const to = static_cast<flow_context*>(user);
  if (from == nullptr || from == to) return;
  while_context* const from_loop = from->loop();
  while_context* const to_loop = to == nullptr ? nullptr : to->loop();
  const auto contains = [](while_context* inner, while_context* outer) {
    if (outer == nullptr) return true;
    for (flow_context* c = inner; c != nullptr; c = c->outer())
      if (c == outer) return true;
    return false;
  };
  const std::string_view type = request.op->type;
  bool valid = false;
  if (to_loop == nullptr) valid = from_loop == nullptr || is_enter(type) || is_switch(type);
  else if (contains(to_loop, from_loop)) valid = true;
  else if (to_loop->gradient != nullptr)
    valid = contains(to_loop->gradient->forward(), from_loop) ||
            (from_loop->outer() != nullptr && to_loop->gradient->forward() == from_loop->outer());
  if (!valid && from_loop != nullptr && from_loop->gradient != nullptr)
    valid = to_loop != nullptr && from_loop->gradient->forward() == to_loop;
  if (valid) return;
  const std::string name = nodes_->record(input.index()).name;
  if (to_loop != nullptr)
    throw invalid_argument("Cannot use '" + request.name + "' as input to '" + name +
                           "' because they are in different while loops: " + describe(input) + nodes_->place(request.name));
  throw invalid_argument("Cannot use '" + name + "' as input to '" + request.name + "' because '" + name + "' is in a while loop" +
                         nodes_->place(request.name));
}

}  // namespace detail

/// Whether a run may fetch this tensor: inside a branch or a loop it may have no value, or several.
inline bool is_fetchable(const output& o) { return o.owner().named().record(o.index()).fetchable; }
/// Whether a run may feed this tensor.
inline bool is_feedable(const output& o) { return o.owner().named().record(o.index()).feedable; }
/// Makes runs refuse to feed this tensor. Source: `prevent_feeding`.
inline void prevent_feeding(const output& o) { o.owner().named().record(o.index()).feedable = false; }
/// The same for fetching. Source: `prevent_fetching`.
inline void prevent_fetching(const output& o) { o.owner().named().record(o.index()).fetchable = false; }

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/control/control_flow_bodies.hpp>
#endif
