#pragma once
// Running a plan, node by node. Without control flow that is a list in order. With it, TensorFlow's rules: a value is alive or
// dead (a branch not taken), a node with a dead input is dead, a Merge takes what is alive; Enter opens a frame, NextIteration
// begins the frame's next iteration, Exit leaves it; a frame is done when nothing in it can run any more. Of what is ready, the
// oldest iteration goes first. Source: TensorFlow's executor (White paper, "Implementation of control flow").

#include <leat/session/dynamic/plan.hpp>
#include <leat/session/trace.hpp>

namespace leat::dynamic {

/// Calls a node's kernel, and tells the run's trace.
inline void run_traced(const plan_node& n, kernel_context& c) {
  const trace_scope timed(c.step.trace, c.step.traced_run, n.node->name(), std::string(n.node->type), source_text(*n.node));
  (*n.run)(c);
}

/// Calls a node's kernel. Errors: the kernel's, with the node behind the text.
inline void call_kernel(const plan_node& n, step_state& step, std::span<token> inputs, std::span<token> results) {
  try {
    for (std::size_t k = 0; k < inputs.size(); ++k)
      if (n.late[k] && inputs[k].variable != nullptr) inputs[k].value = {};
    kernel_context c(*n.node, step, inputs, results);
    if (step.trace == nullptr) (*n.run)(c);
    else run_traced(n, c);
    if (n.snapshot)
      for (token& t : results)
        if (t.variable != nullptr && t.variable->is_initialized()) t.value = t.variable->read();
  } catch (const error& e) {
    std::string more = node_text(*n.node);
    for (const token& t : inputs)
      if (t.value) more += "\n\t   input " + std::to_string(&t - inputs.data()) + ": " + dtype_name(t.value.type()) + " " + brackets(t.value.extent());
    rethrow_with(e, more);
  }
}

/// What a fetch takes from a result.
inline tensor_value fetched_value(const plan_node& n, const token& t) {
  if (t.variable == nullptr || t.value) return t.value;
  try {
    return t.variable->read();
  } catch (const error& e) {
    rethrow_with(e, n.node != nullptr ? node_text(*n.node) : std::string{});
  }
}

class straight_run {
 public:
  straight_run(const run_plan& plan, step_state& step) : plan_(plan), step_(step) {}

  std::vector<tensor_value> run(std::span<const tensor_value> feeds) {
    std::vector<token> slots(static_cast<std::size_t>(plan_.results));
    std::vector<tensor_value> fetched(plan_.fetches.size());
    std::vector<token> inputs;
    for (std::size_t k = 0; k < plan_.feeds.size(); ++k)
      if (plan_.feeds[k] >= 0) slot(slots, {plan_.feeds[k], 0}).value = feeds[k];
    int since = 0;
    for (int i : plan_.order) {
      const plan_node& n = plan_.nodes[static_cast<std::size_t>(i)];
      if (n.kind != flow::feed) {
        if (++since % 16 == 0) step_.check();
        inputs.clear();
        for (std::size_t k = 0; k < n.inputs.size(); ++k) {
          token& from = slot(slots, n.inputs[k]);
          if (n.last_use[k]) inputs.push_back(std::move(from));
          else inputs.push_back(from);
        }
        call_kernel(n, step_, inputs, {slots.data() + n.first_result, static_cast<std::size_t>(n.results)});
      }
      for (int f : plan_.fetches_of[static_cast<std::size_t>(i)])
        fetched[static_cast<std::size_t>(f)] = fetched_value(n, slot(slots, plan_.fetches[static_cast<std::size_t>(f)]));
    }
    return fetched;
  }

 private:
  token& slot(std::vector<token>& slots, const plan_source& s) const {
    return slots[static_cast<std::size_t>(plan_.nodes[static_cast<std::size_t>(s.node)].first_result + s.port)];
  }
  const run_plan& plan_;
  step_state& step_;
};

class framed_run {
 public:
  framed_run(const run_plan& plan, step_state& step) : plan_(plan), step_(step), fetched_(plan.fetches.size()), is_there_(plan.fetches.size(), false) {}

  std::vector<tensor_value> run(std::span<const tensor_value> feeds) {
    root_.id = 0;
    iteration& first = begin_iteration(root_, 0);
    for (std::size_t i = 0; i < plan_.nodes.size(); ++i) {
      const plan_node& n = plan_.nodes[i];
      if (n.frame == 0 && n.inputs.empty() && n.controls.empty()) make_ready(root_, first, 0, static_cast<int>(i), false);
    }
    int since = 0;
    while (!ready_.empty()) {
      if (++since % 16 == 0) step_.check();
      const item it = ready_.top();
      ready_.pop();
      process(it, feeds);
    }
    for (std::size_t k = 0; k < fetched_.size(); ++k)
      if (!is_there_[k]) {
        const plan_node& n = plan_.nodes[static_cast<std::size_t>(plan_.fetches[k].node)];
        throw invalid_argument("Retval[" + std::to_string(k) + "] does not have value: the branch of the node was not taken" +
                               (n.node != nullptr ? node_text(*n.node) : std::string{}));
      }
    return std::move(fetched_);
  }

 private:
  struct frame;
  struct iteration {
    std::uint64_t serial = 0;
    std::vector<token> inputs;       // of all nodes of the frame
    std::vector<int> waits;          // for inputs and controls; of a Merge for controls alone
    std::vector<int> dead;           // dead inputs
    std::vector<char> live;          // a Merge has a live input
    std::vector<char> started;
    int outstanding = 0;             // nodes that are ready or run
    int frames = 0;                  // below this iteration
  };
  struct frame {
    int id = 0;
    frame* parent = nullptr;
    int parent_iteration = 0;
    std::map<int, iteration> iterations;
    int last = 0;
    int enters_left = 0;
    std::vector<std::pair<int, token>> invariants;  // an Enter that holds for all iterations, and what came
    std::vector<int> dead_exits;
    std::map<std::pair<int, int>, std::unique_ptr<frame>> children;
  };
  struct item {
    std::uint64_t serial;
    bool writes;
    int node;
    frame* in;
    int iteration;
    bool dead;
    bool operator<(const item& o) const {  // what is largest comes first
      if (serial != o.serial) return serial > o.serial;
      if (writes != o.writes) return writes;
      return node > o.node;
    }
  };

  const plan_node& at(int i) const { return plan_.nodes[static_cast<std::size_t>(i)]; }

  iteration& begin_iteration(frame& f, int number) {
    iteration& it = f.iterations[number];
    const plan_frame& s = plan_.frames[static_cast<std::size_t>(f.id)];
    it.serial = serials_++;
    it.inputs.resize(static_cast<std::size_t>(s.inputs));
    it.waits.assign(static_cast<std::size_t>(s.nodes), -1);
    it.dead.assign(static_cast<std::size_t>(s.nodes), 0);
    it.live.assign(static_cast<std::size_t>(s.nodes), 0);
    it.started.assign(static_cast<std::size_t>(s.nodes), 0);
    return it;
  }
  void make_ready(frame& f, iteration& it, int number, int node, bool dead) {
    const plan_node& n = at(node);
    it.started[static_cast<std::size_t>(n.place)] = 1;
    ++it.outstanding;
    ready_.push({it.serial, n.writes, node, &f, number, dead && n.kind != flow::trigger});
  }

  // A value or the news of its absence comes to a node. `from_enter`: it comes from an Enter.
  void arrive(frame& f, int number, const plan_edge& e, const token* value, bool dead, bool from_enter) {
    iteration& it = f.iterations.at(number);
    const plan_node& n = at(e.node);
    const auto p = static_cast<std::size_t>(n.place);
    if (it.waits[p] < 0)
      it.waits[p] = static_cast<int>(n.controls.size()) + (n.kind == flow::merge ? 0 : static_cast<int>(n.inputs.size()));
    if (n.kind == flow::merge) {
      if (e.port < 0) {
        --it.waits[p];
      } else if (!dead) {
        if (it.live[p] == 0 && it.started[p] == 0) it.inputs[static_cast<std::size_t>(n.first_input + e.input)] = *value;
        it.live[p] = 1;
      } else {
        it.dead[p] += from_enter ? static_cast<int>(n.inputs.size()) : 1;
      }
      if (it.started[p] != 0 || it.waits[p] > 0) return;
      if (it.live[p] != 0) make_ready(f, it, number, e.node, false);
      else if (it.dead[p] >= static_cast<int>(n.inputs.size())) make_ready(f, it, number, e.node, true);
      return;
    }
    if (dead) ++it.dead[p];
    else if (e.port >= 0) it.inputs[static_cast<std::size_t>(n.first_input + e.input)] = *value;
    if (--it.waits[p] == 0) make_ready(f, it, number, e.node, it.dead[p] > 0);
  }

  void process(const item& it, std::span<const tensor_value> feeds) {
    const plan_node& n = at(it.node);
    frame& f = *it.in;
    results_.assign(static_cast<std::size_t>(n.results), token{{}, nullptr, it.dead});
    if (!it.dead) {
      if (n.kind == flow::feed) {
        for (std::size_t k = 0; k < plan_.feeds.size(); ++k)
          if (plan_.feeds[k] == it.node) results_[0].value = feeds[k];
      } else {
        iteration& here = f.iterations.at(it.iteration);
        call_kernel(n, step_, {here.inputs.data() + n.first_input, n.inputs.size()}, results_);
        for (std::size_t k = 0; k < n.inputs.size(); ++k) here.inputs[static_cast<std::size_t>(n.first_input) + k] = {};
      }
      if (n.frame == 0)
        for (int k : plan_.fetches_of[static_cast<std::size_t>(it.node)]) {
          const token& t = results_[static_cast<std::size_t>(plan_.fetches[static_cast<std::size_t>(k)].port)];
          if (t.dead) continue;
          fetched_[static_cast<std::size_t>(k)] = fetched_value(n, t);
          is_there_[static_cast<std::size_t>(k)] = true;
        }
    }
    std::vector<token> given;
    given.swap(results_);
    propagate(it, n, given);
    results_.swap(given);
    --f.iterations.at(it.iteration).outstanding;
    clean(f, it.iteration);
  }

  void propagate(const item& it, const plan_node& n, const std::vector<token>& given) {
    frame& f = *it.in;
    switch (n.kind) {
      case flow::enter: {
        frame& child = find_child(f, it.iteration, n);
        if (n.constant_enter) {
          token t = given[0];
          t.dead = it.dead;
          child.invariants.emplace_back(it.node, t);
          for (int k = 0; k <= child.last; ++k)
            if (child.iterations.contains(k)) send(child, k, n, given, it.dead);
        } else {
          send(child, 0, n, given, it.dead);
        }
        --child.enters_left;
        clean(child, 0);
        break;
      }
      case flow::exit:
        if (it.dead) {
          if (it.iteration == f.last) f.dead_exits.push_back(it.node);
        } else {
          send(*f.parent, f.parent_iteration, n, given, false);
          if (plan_.frames[static_cast<std::size_t>(n.frame)].parent == 0) take_exit(n, it.node, given);
        }
        break;
      case flow::next:
        if (it.dead) break;
        if (it.iteration == f.last) {
          ++f.last;
          f.dead_exits.clear();
          begin_iteration(f, f.last);
          for (const auto& [enter, value] : f.invariants) send(f, f.last, at(enter), {value}, value.dead);
        }
        send(f, it.iteration + 1, n, given, false);
        break;
      default: send(f, it.iteration, n, given, it.dead); break;
    }
  }
  // An Exit stands in its frame, but its value is one of the frame outside.
  void take_exit(const plan_node& n, int index, const std::vector<token>& given) {
    for (int k : plan_.fetches_of[static_cast<std::size_t>(index)]) {
      fetched_[static_cast<std::size_t>(k)] = fetched_value(n, given[0]);
      is_there_[static_cast<std::size_t>(k)] = true;
    }
  }

  void send(frame& f, int number, const plan_node& n, const std::vector<token>& given, bool dead) {
    const bool from_enter = n.kind == flow::enter;
    for (const plan_edge& e : n.out) {
      if (e.port < 0) {
        arrive(f, number, e, nullptr, dead, from_enter);
      } else {
        const token& t = given[static_cast<std::size_t>(e.port)];
        arrive(f, number, e, &t, dead || t.dead, from_enter);
      }
    }
  }

  frame& find_child(frame& f, int number, const plan_node& enter) {
    auto& child = f.children[{number, enter.child}];
    if (child == nullptr) {
      child = std::make_unique<frame>();
      child->id = enter.child;
      child->parent = &f;
      child->parent_iteration = number;
      child->enters_left = plan_.frames[static_cast<std::size_t>(enter.child)].enters;
      begin_iteration(*child, 0);
      ++f.iterations.at(number).frames;
    }
    return *child;
  }

  // Forgets iterations in which nothing can happen any more, then the frame.
  void clean(frame& f, int number) {
    while (true) {
      const auto found = f.iterations.find(number);
      if (found == f.iterations.end()) return;
      const iteration& it = found->second;
      if (it.outstanding > 0 || it.frames > 0 || &f == &root_) return;
      if (number == 0 ? f.enters_left > 0 : f.iterations.contains(number - 1)) return;
      f.iterations.erase(found);
      if (!f.iterations.contains(number + 1)) break;
      ++number;
    }
    if (!f.iterations.empty() || f.enters_left > 0) return;
    frame& parent = *f.parent;
    const int outer = f.parent_iteration;
    const int id = f.id;
    const std::vector<int> exits = std::move(f.dead_exits);
    for (int e : exits) send(parent, outer, at(e), {token{{}, nullptr, true}}, true);
    parent.children.erase({outer, id});
    --parent.iterations.at(outer).frames;
    clean(parent, outer);
  }

  const run_plan& plan_;
  step_state& step_;
  frame root_;
  std::uint64_t serials_ = 0;
  std::priority_queue<item> ready_;
  std::vector<token> results_;
  std::vector<tensor_value> fetched_;
  std::vector<bool> is_there_;
};

/// Runs a plan with these feeds; gives what is fetched.
inline std::vector<tensor_value> run_plan_once(const run_plan& plan, step_state& step, std::span<const tensor_value> feeds) {
  if (plan.has_control_flow) return framed_run(plan, step).run(feeds);
  return straight_run(plan, step).run(feeds);
}

}  // namespace leat::dynamic
