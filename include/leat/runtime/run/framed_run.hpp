#pragma once
// Executes a plan by TensorFlow's rules: a value is alive or dead (of a branch that was not taken); a node with a dead input is dead; a
// Merge forwards its live input; Enter opens a frame, NextIteration starts the frame's next iteration, Exit leaves it; a frame is done when
// nothing in it can run any more. Of the ready nodes, those of the oldest iteration run first. Nodes that are heavy or may block run in the
// thread pool (crew.hpp) while something else is ready; the leader runs all other nodes and owns the state of the run. Source: TensorFlow's
// executor (white paper "Implementation of control flow").

#include <leat/runtime/run/crew.hpp>
#include <leat/runtime/run/node_call.hpp>
#include <leat/runtime/state/tensor_exchange.hpp>

namespace leat::runtime {

class framed_run final : crew_lead {
 public:
  framed_run(const run_plan& plan, step_state& step, std::span<const tensor_value> feeds)
      : plan_(plan), step_(step), feeds_(feeds), fetched_(plan.fetches.size()), is_there_(plan.fetches.size(), false) {}

  std::vector<tensor_value> run() {
    iteration& first = begin_iteration(root_, 0);
    for (std::size_t i = 0; i < plan_.nodes.size(); ++i) {
      const plan_node& n = plan_.nodes[i];
      if (n.frame == 0 && n.inputs.empty() && n.controls.empty()) make_ready(root_, first, 0, static_cast<int>(i), false);
    }
    return go_on();
  }
  /// Continues a plan without control flow after its first `nodes_done` nodes, given their results and the values fetched so far.
  std::vector<tensor_value> run(std::size_t nodes_done, std::vector<token>& slots, std::vector<tensor_value> fetched) {
    fetched_ = std::move(fetched);
    iteration& first = begin_iteration(root_, 0);
    for (std::size_t at = nodes_done; at < plan_.order.size(); ++at) {
      const int i = plan_.order[at];
      const plan_node& n = this->at(i);
      if (n.inputs.empty() && n.controls.empty() && n.held_by == 0) make_ready(root_, first, 0, i, false);
    }
    for (std::size_t at = 0; at < nodes_done; ++at) first.started[static_cast<std::size_t>(this->at(plan_.order[at]).place)] = 1;
    for (std::size_t at = 0; at < nodes_done; ++at) {
      const int i = plan_.order[at];
      const plan_node& n = this->at(i);
      for (const plan_edge& e : n.out)
        if (!has_started(first, e.node))
          arrive(root_, 0, e, {.value = e.port < 0 ? nullptr : &slots[static_cast<std::size_t>(n.first_result + e.port)]});
      for (const int later : n.then)
        if (!has_started(first, later)) arrive(root_, 0, {-1, later, 0}, {});
      for (const int k : plan_.fetches_of[static_cast<std::size_t>(i)]) is_there_[static_cast<std::size_t>(k)] = true;
    }
    slots.clear();
    return go_on();
  }

 private:
  struct frame;
  struct iteration {
    std::uint64_t serial = 0;
    std::vector<token> inputs;  // of all nodes of the frame
    std::vector<int> waits;     // missing inputs and controls; for a Merge, only controls
    std::vector<int> dead;      // number of dead inputs
    std::vector<char> live;     // whether a Merge has a live input
    std::vector<char> started;
    int outstanding = 0;  // nodes that are ready or running
    int frames = 0;       // number of child frames of this iteration
  };
  struct frame {
    int id = 0;
    frame* parent = nullptr;
    int parent_iteration = 0;
    std::map<int, iteration> iterations;
    int last = 0;
    int ahead = 0;  // iterations up to this one may run before earlier ones have ended
    int enters_left = 0;
    std::vector<std::pair<int, token>> invariants;  // the Enter of each loop invariant, and its value
    std::vector<int> dead_exits;
    std::map<std::pair<int, int>, std::unique_ptr<frame>> children;
  };
  struct item {
    std::uint64_t serial;
    bool writes;
    bool waits;
    int node;
    frame* in;
    int iteration;
    bool dead;
    bool operator<(const item& o) const {  // std::priority_queue returns the largest item first
      if (waits != o.waits) return waits;
      if (serial != o.serial) return serial > o.serial;
      if (writes != o.writes) return writes;
      return node > o.node;
    }
  };

  struct node_job final : crew_job {
    node_job(const plan_node& its_node, step_state& its_step, const item& its_item) : node(its_node), step(its_step), what(its_item) {}
    void run() override {
      const memory_scope metered(step.session.meter);
      call_kernel(node, step, inputs, results);
    }
    const plan_node& node;
    step_state& step;
    item what;
    std::vector<token> inputs;
    std::vector<token> results;
  };

  // Waits for tensors from other devices while other nodes run.
  struct receive_job final : crew_job {
    explicit receive_job(step_state& its_step) : step(its_step) { waits = true; }
    void run() override { step.exchange->wait(step); }
    step_state& step;
  };

  const plan_node& at(int i) const { return plan_.nodes[static_cast<std::size_t>(i)]; }

  iteration& begin_iteration(frame& f, int number) {
    if (spare_) {  // reuses its allocations
      spare_.key() = number;
      f.iterations.insert(std::move(spare_));
    }
    iteration& it = f.iterations[number];
    const plan_frame& s = plan_.frames[static_cast<std::size_t>(f.id)];
    it.serial = serials_++;
    it.inputs.resize(static_cast<std::size_t>(s.inputs));
    it.outstanding = it.frames = 0;
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
    ready_.push({it.serial, n.writes, n.waits && !dead, node, &f, number, dead && n.kind != flow::trigger && n.kind != flow::send});
  }
  bool has_started(const iteration& it, int node) const { return it.started[static_cast<std::size_t>(at(node).place)] != 0; }

  /// What comes along an edge: a value, none along a control dependency.
  struct arrival {
    token* value = nullptr;
    bool is_dead = false;
    bool is_from_enter = false;
    bool is_given_away = false;  // there is no other consumer
  };
  enum class liveness : bool { alive, dead };
  enum class results : bool { are_kept, are_given_away };

  // Delivers an arrival to a node.
  void arrive(frame& f, int number, const plan_edge& e, const arrival& a) {
    iteration& it = f.iterations.at(number);
    const plan_node& n = at(e.node);
    const auto p = static_cast<std::size_t>(n.place);
    const auto enter = [&] {
      token& in = it.inputs[static_cast<std::size_t>(n.first_input + e.input)];
      if (a.is_given_away) in = std::move(*a.value);
      else in = *a.value;
    };
    if (it.waits[p] < 0)
      it.waits[p] = n.held_by + static_cast<int>(n.controls.size()) + (n.kind == flow::merge ? 0 : static_cast<int>(n.inputs.size()));
    if (n.kind == flow::merge) {
      if (e.port < 0) {
        --it.waits[p];
      } else if (!a.is_dead) {
        if (it.live[p] == 0 && it.started[p] == 0) enter();
        it.live[p] = 1;
      } else {
        it.dead[p] += a.is_from_enter ? static_cast<int>(n.inputs.size()) : 1;
      }
      if (it.started[p] != 0 || it.waits[p] > 0) return;
      if (it.live[p] != 0) make_ready(f, it, number, e.node, false);
      else if (it.dead[p] >= static_cast<int>(n.inputs.size())) make_ready(f, it, number, e.node, true);
      return;
    }
    if (a.is_dead) ++it.dead[p];
    else if (e.port >= 0) enter();
    if (--it.waits[p] == 0) make_ready(f, it, number, e.node, it.dead[p] > 0);
  }

  std::vector<tensor_value> go_on() {
    try {
      advance();
    } catch (...) {
      if (crew_ == nullptr) throw;
      crew_->fail(std::current_exception());
    }
    if (crew_ != nullptr) crew_->run();
    for (std::size_t k = 0; k < fetched_.size(); ++k)
      if (!is_there_[k]) {
        const plan_node& n = plan_.nodes[static_cast<std::size_t>(plan_.fetches[k].node)];
        throw invalid_argument("Retval[" + std::to_string(k) + "] does not have value: the branch of the node was not taken" +
                               (n.node != nullptr ? node_text(giver_of(n, plan_.fetches[k].port)) : std::string{}));
      }
    return std::move(fetched_);
  }

  bool advance() override {
    while (true) {
      if (ready_.empty() && !free_held()) {
        flush();
        if (!receive()) return false;
        continue;
      }
      if (crew_ != nullptr && crew_->has_news()) return true;
      if (++since_ % 16 == 0) step_.check();
      else step_.check_calls();
      const item it = ready_.top();
      ready_.pop();
      flush_before(it);
      if (must_wait(it)) held_.push_back(it);
      else if (!it.dead && at(it.node).kind == flow::receive) take_or_wait(it);
      else if (!it.dead && is_job(it)) hand_out(it);
      else process(it);
    }
  }
  void finish(crew_job& done) override {
    if (dynamic_cast<receive_job*>(&done) != nullptr) {
      is_receiving_ = false;
      return;
    }
    auto& job = static_cast<node_job&>(done);
    if (job.waits) std::erase(waiting_out_, std::pair(job.what.node, job.what.in));
    else --heavy_out_;
    conclude(job.what, job.node, job.results);
  }

  // A frame's iterations run one after the other, so that stateful nodes (random numbers, stacks) see them in order. Later iterations begin
  // only while a node waits for others and nothing else is left to do, because one of their nodes may be what it waits for. The waiting
  // node itself does not begin in a later iteration before it has ended.
  bool must_wait(const item& it) const {
    if (it.in->iterations.begin()->first == it.iteration) return false;
    return it.iteration > it.in->ahead || is_out(it);
  }
  bool is_out(const item& it) const {
    return it.waits && std::find(waiting_out_.begin(), waiting_out_.end(), std::pair(it.node, it.in)) != waiting_out_.end();
  }
  bool free_held() {
    if (held_.empty() || heavy_out_ > 0) return false;
    for (std::size_t k = 0; k < held_.size();) {
      frame& f = *held_[k].in;
      const int allowed = plan_.frames[static_cast<std::size_t>(f.id)].parallel_iterations;
      if (is_out(held_[k]) || held_[k].iteration >= f.iterations.begin()->first + allowed) {
        ++k;
        continue;
      }
      f.ahead = std::max(f.ahead, held_[k].iteration);
      ready_.push(held_[k]);
      held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(k));
    }
    return !ready_.empty();
  }
  void begin_held(frame& f) {
    if (f.iterations.empty()) return;
    const int oldest = f.iterations.begin()->first;
    for (std::size_t k = 0; k < held_.size();) {
      if (held_[k].in != &f || held_[k].iteration > oldest) {
        ++k;
        continue;
      }
      ready_.push(held_[k]);
      held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }

  // Whether a node runs as a job: it may block while others must go on, or it is heavy and others may run concurrently.
  bool is_job(const item& it) {
    const plan_node& n = at(it.node);
    const bool alone = crew_ == nullptr && ready_.empty() && expected_.empty();
    if (n.waits) return step_.threads_for_waiting && !(alone && held_.empty());
    if (n.kind == flow::send) return false;
    return !alone && step_.threads != 1 && is_heavy(n, inputs_of(it));
  }
  // ---- tensors to and from other devices ----

  // Sends held-back tensors before this thread waits or computes for long, because other devices wait for them.
  void flush() {
    if (std::exchange(has_sent_, false)) step_.exchange->flush();
  }
  void flush_before(const item& it) {
    if (!has_sent_ || it.dead) return;
    const plan_node& n = at(it.node);
    if (n.kind == flow::send) return;
    if (n.waits || is_heavy(n, inputs_of(it))) flush();
  }

  void take_or_wait(const item& it) {
    if (step_.exchange == nullptr) process(it);  // its kernel reports the error
    else if (!take(it)) expected_.push_back(it);
  }
  bool take(const item& it) {
    const plan_node& n = at(it.node);
    std::vector<token> given(static_cast<std::size_t>(n.results));
    if (!step_.exchange->take(n.node->integer("_edge"), given.at(0).value)) return false;
    item taken = it;
    taken.dead = given[0].dead = !given[0].value;
    conclude(taken, n, given);
    return true;
  }
  bool take_arrived() {
    std::vector<item> open;
    open.swap(expected_);
    bool any = false;
    for (const item& it : open) {
      if (take(it)) any = true;
      else expected_.push_back(it);
    }
    return any;
  }
  // Called when nothing else is ready. Returns false if there is nothing to do before a job ends.
  bool receive() {
    if (expected_.empty()) return false;
    if (take_arrived()) return true;
    if (crew_ == nullptr) {
      step_.exchange->wait(step_);
      return true;
    }
    if (!std::exchange(is_receiving_, true)) crew_->give(std::make_unique<receive_job>(step_), false);
    return false;
  }

  void hand_out(const item& it) {
    const plan_node& n = at(it.node);
    if (crew_ == nullptr) crew_ = std::make_shared<crew>(step_, static_cast<crew_lead&>(*this));
    auto job = std::make_unique<node_job>(n, step_, it);
    job->waits = n.waits;
    const std::span<token> given = inputs_of(it);
    job->inputs.assign(std::make_move_iterator(given.begin()), std::make_move_iterator(given.end()));
    for (token& t : given) t = {};
    job->results.resize(static_cast<std::size_t>(n.results));
    if (n.waits) waiting_out_.emplace_back(it.node, it.in);
    else ++heavy_out_;
    crew_->give(std::move(job), !ready_.empty());
  }
  std::span<token> inputs_of(const item& it) {
    const plan_node& n = at(it.node);
    return {it.in->iterations.at(it.iteration).inputs.data() + n.first_input, n.inputs.size()};
  }

  void process(const item& it) {
    const plan_node& n = at(it.node);
    std::vector<token> given;
    given.swap(results_);
    given.resize(static_cast<std::size_t>(n.results));
    if (it.dead) {
      for (token& t : given) t.dead = true;
    } else {
      if (n.kind == flow::feed) {
        for (std::size_t k = 0; k < plan_.feeds.size(); ++k)
          if (plan_.feeds[k] == it.node) given[0].value = feeds_[k];
      } else {
        const std::span<token> inputs = inputs_of(it);
        call_kernel(n, step_, inputs, given);
        has_sent_ = has_sent_ || (n.kind == flow::send && step_.exchange != nullptr);
        for (token& t : inputs) t = {};
      }
    }
    conclude(it, n, given);
    given.clear();
    results_.swap(given);
  }
  // Propagates a node's results.
  void conclude(const item& it, const plan_node& n, std::vector<token>& given) {
    frame& f = *it.in;
    if (!it.dead && n.frame == 0)
      for (int k : plan_.fetches_of[static_cast<std::size_t>(it.node)]) {
        const token& t = given[static_cast<std::size_t>(plan_.fetches[static_cast<std::size_t>(k)].port)];
        if (t.dead) continue;
        fetched_[static_cast<std::size_t>(k)] = fetched_value(n, t);
        is_there_[static_cast<std::size_t>(k)] = true;
      }
    propagate(it, n, given);
    for (const int later : n.then) arrive(f, it.iteration, {-1, later, 0}, {});
    --f.iterations.at(it.iteration).outstanding;
    clean(f, it.iteration);
  }

  void propagate(const item& it, const plan_node& n, std::vector<token>& given) {
    frame& f = *it.in;
    switch (n.kind) {
      case flow::enter: {
        frame& child = find_child(f, it.iteration, n);
        if (n.constant_enter) {
          token t = given[0];
          t.dead = it.dead;
          child.invariants.emplace_back(it.node, t);
          for (int k = 0; k <= child.last; ++k)
            if (child.iterations.contains(k)) send(child, k, n, given, liveness_of(it), results::are_kept);
        } else {
          send(child, 0, n, given, liveness_of(it), results::are_given_away);
        }
        --child.enters_left;
        clean(child, 0);
        break;
      }
      case flow::exit:
        if (it.dead) {
          if (it.iteration == f.last) f.dead_exits.push_back(it.node);
        } else {
          if (plan_.frames[static_cast<std::size_t>(n.frame)].parent == 0) take_exit(n, it.node, given);
          send(*f.parent, f.parent_iteration, n, given, liveness::alive, results::are_given_away);
        }
        break;
      case flow::next:
        if (it.dead) break;
        if (it.iteration == f.last) {
          ++f.last;
          f.dead_exits.clear();
          begin_iteration(f, f.last);
          for (auto& [enter, value] : f.invariants)
            send(f, f.last, at(enter), {&value, 1}, value.dead ? liveness::dead : liveness::alive, results::are_kept);
        }
        send(f, it.iteration + 1, n, given, liveness::alive, results::are_given_away);
        break;
      default: send(f, it.iteration, n, given, liveness_of(it), results::are_given_away); break;
    }
  }
  // An Exit belongs to its frame, its value to the parent frame.
  void take_exit(const plan_node& n, int index, const std::vector<token>& given) {
    for (int k : plan_.fetches_of[static_cast<std::size_t>(index)]) {
      fetched_[static_cast<std::size_t>(k)] = fetched_value(n, given[0]);
      is_there_[static_cast<std::size_t>(k)] = true;
    }
  }

  static liveness liveness_of(const item& it) { return it.dead ? liveness::dead : liveness::alive; }
  void send(frame& f, int number, const plan_node& n, std::span<token> given, liveness how, results which) {
    const bool is_dead = how == liveness::dead;
    const bool is_from_enter = n.kind == flow::enter;
    for (const plan_edge& e : n.out) {
      if (e.port < 0) {
        arrive(f, number, e, {.is_dead = is_dead, .is_from_enter = is_from_enter});
      } else {
        token& t = given[static_cast<std::size_t>(e.port)];
        arrive(f, number, e,
               {.value = &t,
                .is_dead = is_dead || t.dead,
                .is_from_enter = is_from_enter,
                .is_given_away = which == results::are_given_away && given.size() == 1 && &e == &n.out.back()});
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

  // Deletes iterations in which nothing can happen any more, then the frame.
  void clean(frame& f, int number) {
    while (true) {
      const auto found = f.iterations.find(number);
      if (found == f.iterations.end()) return;
      const iteration& it = found->second;
      if (it.outstanding > 0 || it.frames > 0 || &f == &root_) return;
      if (number == 0 ? f.enters_left > 0 : f.iterations.contains(number - 1)) return;
      spare_ = f.iterations.extract(found);
      spare_.mapped().inputs.clear();  // keeps the memory, not the values
      if (!held_.empty()) begin_held(f);
      if (!f.iterations.contains(number + 1)) break;
      ++number;
    }
    if (!f.iterations.empty() || f.enters_left > 0) return;
    frame& parent = *f.parent;
    const int outer = f.parent_iteration;
    const int id = f.id;
    const std::vector<int> exits = std::move(f.dead_exits);
    for (int e : exits) {
      token absent{{}, nullptr, true};
      send(parent, outer, at(e), {&absent, 1}, liveness::dead, results::are_given_away);
    }
    parent.children.erase({outer, id});
    --parent.iterations.at(outer).frames;
    clean(parent, outer);
  }

  const run_plan& plan_;
  step_state& step_;
  std::span<const tensor_value> feeds_;
  frame root_;
  std::map<int, iteration>::node_type spare_;  // an ended iteration whose memory is reused
  std::uint64_t serials_ = 0;
  std::priority_queue<item> ready_;
  std::vector<item> held_;  // nodes of later iterations that must wait
  std::shared_ptr<crew> crew_;
  std::vector<item> expected_;  // nodes that wait for a tensor from another device
  bool is_receiving_ = false;   // a job waits for these tensors
  bool has_sent_ = false;       // tensors were sent since the last flush
  int heavy_out_ = 0;           // heavy jobs that have not finished
  std::vector<std::pair<int, frame*>> waiting_out_;
  unsigned since_ = 0;
  std::vector<token> results_;
  std::vector<tensor_value> fetched_;
  std::vector<bool> is_there_;
};

}  // namespace leat::runtime
