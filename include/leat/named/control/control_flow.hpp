#pragma once
// Branches and loops in TensorFlow 1.x's form. An input from outside of a branch passes through a `Switch`, one from outside of a loop
// through an `Enter`. A node without inputs gets a control input from the pivot, which is live when the branch is taken or an iteration
// begins. All this happens whenever a node is made while a context is open; programs only call `cond` and `while_loop`
// (named/control/control.hpp). Source: TensorFlow `CondContext`, `WhileContext`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/named.hpp>
#include <leat/named/scopes/scopes.hpp>

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

// During its lifetime new nodes are made in this context; null means outside of all branches and loops.
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

// `Switch`, or for a reference `RefSwitch`, colocated with the tensor.
inline graph_operation switch_where(const output& data, const output& predicate, std::string_view name = "Switch") {
  named_part& nodes = data.owner().named();
  std::vector<int> outer{data.index()};
  outer.swap(nodes.colocations);
  const struct back {
    named_part& nodes;
    std::vector<int>& outer;
    ~back() { nodes.colocations.swap(outer); }
  } restore{nodes, outer};
  const bool is_reference = is_reference_result(*data.owner().at(data.index()).op, data.port());
  return call_operator(data.owner(), is_reference ? "RefSwitch" : "Switch", {data, predicate}, {}, name);
}

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
  /// This context if it is a loop, or the innermost loop around it; null if there is none.
  virtual while_context* loop() = 0;
  virtual cond_context* branch() { return nullptr; }
  /// The tensor as nodes inside the context see it: the tensor itself, or the node that brings it in, which is made on first use.
  virtual output bring_in(const output& o) = 0;
  /// Registers a tensor that was made inside the context.
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
  LEAT_INLINE void check_use(const node_request& request, control_flow_context* user, const output& input) override;

 protected:
  // Removes and returns the control inputs that are outside of this context's loop, because nodes cannot wait across loops.
  std::vector<int> take_external(std::vector<int>& controls);

  graph* g_;
  named_part* nodes_;
  flow_context* outer_;
  std::string name_;
  std::set<tensor_key> known_;
  std::map<tensor_key, output> brought_in_;
  std::vector<control_flow_context*> before_;
};

/// The context of a node; `result_context` is that of its results, which for a loop's Exit is outside of the loop.
inline flow_context* context_of(const graph& g, int index) { return static_cast<flow_context*>(nodes_of(g).record(index).context); }
inline flow_context* result_context(const graph& g, int index) {
  flow_context* const its = context_of(g, index);
  return its != nullptr && g.at(index).op->what.control == flow::exit ? its->outer() : its;
}
inline while_context* loop_of(const graph& g, int index) {
  flow_context* const its = context_of(g, index);
  return its == nullptr ? nullptr : its->loop();
}
inline bool is_loop_constant(graph& g, int index) {
  if (g.at(index).op->what.control != flow::enter) return false;
  const auto* a = nodes_of(g).record(index).attributes.find("is_constant");
  const auto* value = a != nullptr ? a->get_if<bool>() : nullptr;
  return value != nullptr && *value;
}
/// Whether this node switches a variable of its own loop.
inline bool is_loop_switch(graph& g, int index);

// ---- a branch ----

class cond_context final : public flow_context {
 public:
  cond_context(graph& g, const output& predicate, const output& pivot, int branch)
      : cond_context(g, predicate, pivot, branch, g.named().names.unique_name("cond_text")) {}
  cond_context(graph& g, const output& predicate, const output& pivot, int branch, std::string name)
      : flow_context(g, std::move(name)), predicate_(predicate), pivot_(pivot), branch_(branch) {
    know(predicate);
    brought_in_.emplace(key(predicate), predicate);
    know(pivot);
    nodes_->record(pivot.index()).context = this;
  }
  while_context* loop() override { return outer_ == nullptr ? nullptr : outer_->loop(); }
  cond_context* branch() override { return this; }
  const output& predicate() const { return predicate_; }
  const output& pivot() const { return pivot_; }
  /// Which result of a `Switch` the branch uses: 1 if it is taken when the predicate holds, else 0.
  int side() const { return branch_; }

  output bring_in(const output& o) override {
    if (known_.contains(key(o))) {
      const auto at = brought_in_.find(key(o));
      return at == brought_in_.end() ? o : at->second;
    }
    know(o);
    const output from = bring_into_outer(o);
    output made;
    {
      const outside_contexts free(*nodes_);
      made = switch_where(from, predicate_).result(branch_);
    }
    nodes_->record(made.index()).fetchable = false;
    nodes_->record(made.index()).context = this;
    for (flow_context* c = this; c != nullptr; c = c->outer()) c->know(made);
    brought_in_[key(o)] = made;
    return made;
  }
  /// A result of the branch. A tensor made outside, as in `[&] { return x; }`, gets a `Switch` of its own.
  output result(const output& o) {
    if (known_.contains(key(o))) {
      const auto at = brought_in_.find(key(o));
      return at == brought_in_.end() ? o : at->second;
    }
    know(o);
    const output made = switch_where(bring_into_outer(o), predicate_).result(branch_);
    brought_in_[key(o)] = made;
    return made;
  }

  void admit(const node_request& request, std::vector<output>& inputs, std::vector<int>& controls) override {
    if (inputs.empty()) {
      take_external(controls);
      bool waits_inside = false;
      for (int c : controls)
        for (flow_context* its = context_of(*g_, c); its != nullptr; its = its->outer()) waits_inside = waits_inside || its == this;
      if (!waits_inside) controls.push_back(pivot_.index());
      return;
    }
    for (std::size_t k = 0; k < inputs.size(); ++k)
      if (k >= 64 || (request.open_inputs >> k & 1) == 0) inputs[k] = bring_in(inputs[k]);
    take_external(controls);
  }
  void note(int index) override {
    node_record& r = nodes_->record(index);
    for (int port = 0; port < r.results; ++port)
      for (flow_context* c = this; c != nullptr; c = c->outer()) c->know({*g_, index, port});
    if (outer_ != nullptr || g_->at(index).op->what.control != flow::exit) r.fetchable = r.feedable = false;
  }

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

/// How a gradient loop accesses its forward loop; implemented in named/gradients/loop_gradient.hpp.
class loop_gradient {
 public:
  loop_gradient() = default;
  loop_gradient(const loop_gradient&) = delete;
  loop_gradient& operator=(const loop_gradient&) = delete;
  virtual ~loop_gradient() = default;
  virtual while_context* forward() = 0;
  /// The value that the tensor had in the forward iteration whose gradient is computed.
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

  /// A loop whose nodes exist.
  struct frame_exists {};
  while_context(graph& g, std::string frame, const loop_settings& how, frame_exists) : flow_context(g, std::move(frame)), settings(how) {}

  const loop_settings settings;
  output pivot_for_predicate;  // control input of nodes without inputs
  output pivot_for_body;
  output pivot;  // the result of `LoopCond`
  std::vector<output> enters;
  std::vector<output> exits;
  std::unique_ptr<loop_gradient> gradient;  // set for a gradient loop only

  while_context* loop() override { return this; }
  output control_pivot() const { return static_cast<bool>(pivot_for_body) ? pivot_for_body : pivot_for_predicate; }

  output enter(const output& o, bool is_constant, std::string_view enter_name = {}) {
    const bool is_reference = is_reference_result(*g_->at(o.index()).op, o.port());
    const output made =
        call_operator(*g_, is_reference ? "RefEnter" : "Enter", {o},
                      {{"frame_name", name_}, {"is_constant", is_constant}, {"parallel_iterations", settings.parallel_iterations}},
                      enter_name)
            .result();
    nodes_->record(made.index()).feedable = false;
    return made;
  }
  /// Moves an `Enter` that was made outside of all contexts into this loop, with those outer control inputs that it may wait for.
  void adopt(const output& enter) {
    const output from = nodes_->input(*g_, enter.index(), 0);
    for (int c : nodes_->waits_for(std::span(&from, 1))) {
      flow_context* const its = result_context(*g_, c);
      while_context* const outer_loop = outer_ == nullptr ? nullptr : outer_->loop();
      flow_context* around = outer_;
      bool keeps = true;
      while (around != its && keeps) {
        keeps = around != nullptr && around != outer_loop;
        if (keeps) around = around->outer();
      }
      if (keeps) nodes_->add_control(*g_, enter.index(), c);
    }
    nodes_->record(enter.index()).context = this;
    nodes_->note_waiting(enter.index());
  }
  /// Resets the known tensors to the loop's variables.
  void begin_with(std::span<const output> values) {
    known_.clear();
    for (const output& o : values) know(o);
  }

  output bring_in(const output& o) override {
    if (known_.contains(key(o)) || nodes_->record(o.index()).context == this) {
      const auto at = brought_in_.find(key(o));
      return at == brought_in_.end() ? o : at->second;
    }
    know(o);
    auto* const current = static_cast<flow_context*>(nodes_->context);
    while_context* const backward = current == nullptr ? nullptr : current->loop();
    if (backward != nullptr && backward->gradient) {
      flow_context* const its = result_context(*g_, o.index());
      if (its != nullptr && its->loop() == backward->gradient->forward()) {
        const output kept = backward->gradient->kept_value(o);
        brought_in_[key(o)] = kept;
        return kept;
      }
    }
    const output from = outer_ == nullptr ? o : outer_->bring_in(o);
    output made;
    {
      const outside_contexts free(*nodes_);
      made = enter(from, true);
    }
    adopt(made);
    know(made);
    brought_in_[key(o)] = made;
    return made;
  }

  /// Nodes that depend only on the shape of a forward value, or on the size of a list, are made in the forward loop, so that it saves sizes
  /// instead of whole tensors.
  control_flow_context* home_of(const node_request& request) override {
    if (gradient == nullptr || request.inputs.empty()) return this;
    if (const looks_at its = request.op->what.depends_on; its != looks_at::shape && its != looks_at::list_size) return this;
    flow_context* const its = context_of(*g_, request.inputs[0].index());
    if (its == nullptr || its->loop() != gradient->forward()) return this;
    return result_context(*g_, request.inputs[0].index()) == its ? its : this;
  }
  void admit(const node_request& request, std::vector<output>& inputs, std::vector<int>& controls) override {
    std::vector<int> external;
    if (inputs.empty()) {
      external = take_external(controls);
      if (controls.empty()) controls.push_back(control_pivot().index());
    } else {
      bool is_free = true;  // depends on no iteration, and so would run even without one
      for (std::size_t k = 0; k < inputs.size(); ++k) {
        if (k < 64 && (request.open_inputs >> k & 1) != 0) {
          is_free = false;
          continue;
        }
        inputs[k] = bring_in(inputs[k]);
        is_free = is_free && is_loop_constant(*g_, inputs[k].index());
      }
      external = take_external(controls);
      if (is_free && controls.empty()) controls.push_back(control_pivot().index());
    }
    // Control inputs from outside the loop are brought in as values.
    for (int c : external) {
      if (nodes_->record(c).results == 0) continue;
      const outside_contexts free(*nodes_);
      const inside_context here(*nodes_, this);
      const output first[]{output(*g_, c)};
      controls.push_back(nodes_->build(*g_, info_of_identity(), first, {}, "Identity").index());
    }
  }
  void note(int index) override {
    node_record& r = nodes_->record(index);
    for (int port = 0; port < r.results; ++port) know({*g_, index, port});
    if (outer_ != nullptr || g_->at(index).op->what.control != flow::exit) r.fetchable = r.feedable = false;
  }

 private:
  static const op_info& info_of_identity() {
    const op_info* identity = find_operator("Identity");
    if (identity == nullptr) throw failed_precondition("the operators are not registered");
    return *identity;
  }
};

inline bool is_loop_switch(graph& g, int index) {
  if (g.at(index).op->what.control != flow::branch) return false;
  flow_context* const its = context_of(g, index);
  if (its == nullptr || its->branch() != nullptr) return false;
  const output by = g.named().input(g, index, 1);
  return static_cast<bool>(its->loop()->pivot) && by.index() == its->loop()->pivot.index();
}

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
  const flow control = request.op->what.control;
  bool valid = false;
  if (to_loop == nullptr) valid = from_loop == nullptr || control == flow::enter || control == flow::branch;
  else if (contains(to_loop, from_loop)) valid = true;
  else if (to_loop->gradient != nullptr)
    valid = contains(to_loop->gradient->forward(), from_loop) ||
            (from_loop->outer() != nullptr && to_loop->gradient->forward() == from_loop->outer());
  if (!valid && from_loop != nullptr && from_loop->gradient != nullptr)
    valid = to_loop != nullptr && from_loop->gradient->forward() == to_loop;
  if (valid) return;
  const std::string name = nodes_->record(input.index()).name, its_name(request.name);
  if (to_loop != nullptr)
    throw invalid_argument("Cannot use '" + its_name + "' as input to '" + name +
                           "' because they are in different while loops: " + describe(input) + nodes_->place(request.name));
  throw invalid_argument("Cannot use '" + name + "' as input to '" + its_name + "' because '" + name + "' is in a while loop" +
                         nodes_->place(request.name));
}

}  // namespace detail

/// Whether a run may fetch this tensor: inside a branch or a loop a tensor may have no value, or several.
inline bool is_fetchable(const output& o) { return o.owner().named().record(o.index()).fetchable; }
/// Whether a run may feed this tensor.
inline bool is_feedable(const output& o) { return o.owner().named().record(o.index()).feedable; }
/// Makes runs refuse to feed this tensor. Source: `prevent_feeding`.
inline void prevent_feeding(const output& o) { o.owner().named().record(o.index()).feedable = false; }
/// Makes runs refuse to fetch this tensor. Source: `prevent_fetching`.
inline void prevent_fetching(const output& o) { o.owner().named().record(o.index()).fetchable = false; }

}  // namespace leat
