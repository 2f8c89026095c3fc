#pragma once
// Running graphs at run time, as TensorFlow 1.x's Session does: a session belongs to a graph, has variables of its own, and is
// asked for tensors and operations.
//
//   graph_session s(g);
//   s.run(global_variables_initializer());
//   const float loss = s.run(mean, {{x, data}});
//   const auto [value, step] = s.run<float, std::int64_t>({mean, counter}, {{x, data}});
//
// Runs of several threads may overlap; each variable is read and written under a lock of its own. The graph may grow between
// runs, not during one. What a run does is planned once for each set of fetches and feeds (dynamic/plan.hpp).

#include <leat/graph/device.hpp>
#include <leat/session/dynamic/constants.hpp>
#include <leat/session/dynamic/executor.hpp>
#include <leat/session/dynamic/fetch_feed.hpp>
#include <leat/session/dynamic/plain.hpp>
#ifndef LEAT_SEPARATE_KERNELS
#include <leat/session/kernels.hpp>
#endif

#include <iostream>

namespace leat {

struct session_options {
  /// A device type or number that is not there gives way to the CPU; a job that is not there never does.
  bool allow_soft_placement = false;
  /// Tells where each node is placed, once.
  bool log_device_placement = false;
  /// How long a run may take where its own options do not say: 10 minutes; 0 is without limit.
  std::int64_t operation_timeout_in_ms = 600'000;
  /// Where Print and the log of placement write: standard error where there is none.
  std::ostream* log = nullptr;
  /// Runs as fused programs what can be; otherwise every node by itself, which gives the same results but for rounding.
  bool fuse = true;
};

struct run_options {
  /// 0: as the session's options say.
  std::int64_t timeout_in_ms = 0;
  /// Stops the run from another thread.
  const cancellation* cancel = nullptr;
  /// Is told what ran, and how long it took.
  run_trace* trace = nullptr;
};

namespace dynamic {

/// A set of fetches and feeds, ready to run.
struct prepared_run {
  std::vector<output> fetches;      // those that are tensors
  std::vector<int> places;          // of each thing asked for: its place among the fetches, -1 for an operation
  std::vector<output> feeds;
  run_plan plan;

  /// The program for these values, made where there is none yet; null where there is to be none.
  std::shared_ptr<plain_program> program_for(graph& g, step_state& step, std::span<const tensor_value> values) {
    const std::lock_guard lock(guard);
    for (auto& p : programs)
      if (p->fits(values)) return p;
    if (made >= most_programs) return nullptr;
    ++made;
    std::optional<trace_scope> timed;
    if (step.trace != nullptr) timed.emplace(step.trace, step.traced_run, "make a program", "Plan");
    plain_builder builder(g, plan, step);
    std::shared_ptr<plain_program> p = builder.make(values);
    if (p == nullptr) {
      if (builder.lacks_values()) --made;
      else if (++failed >= 3 && programs.empty()) made = most_programs;  // it is not one that can
      return nullptr;
    }
    programs.push_back(p);
    return p;
  }
  /// A program's variables have changed: their shapes, or they are gone.
  void forget(const std::shared_ptr<plain_program>& p) {
    const std::lock_guard lock(guard);
    std::erase(programs, p);
  }

 private:
  static constexpr int most_programs = 64;  // shapes that keep changing are run node by node
  std::mutex guard;
  std::vector<std::shared_ptr<plain_program>> programs;
  int made = 0;
  int failed = 0;
};

/// The graph takes no nodes while this lives.
class graph_in_use {
 public:
  explicit graph_in_use(named_part& nodes) : nodes_(nodes) { nodes_.runs.fetch_add(1, std::memory_order_acq_rel); }
  graph_in_use(const graph_in_use&) = delete;
  graph_in_use& operator=(const graph_in_use&) = delete;
  ~graph_in_use() { nodes_.runs.fetch_sub(1, std::memory_order_acq_rel); }

 private:
  named_part& nodes_;
};

}  // namespace dynamic

class graph_session;

/// Fetches and feeds that were looked up once: `auto step = s.prepare({loss, train}, {x, y}); step(xs, ys);`. It belongs to its
/// session and must not outlive it; one call at a time.
class graph_callable {
 public:
  /// Runs with these values, in the order in which the feeds were named. The results are valid until the next call.
  template <class... Values>
  const std::vector<tensor_value>& operator()(const Values&... values) {
    static_assert(sizeof...(Values) <= 64);
    feeds_.clear();
    (feeds_.push_back(value_for(feeds_.size(), values)), ...);
    return run();
  }
  const std::vector<tensor_value>& call(std::span<const tensor_value> values) {
    feeds_.assign(values.begin(), values.end());
    return run();
  }

 private:
  friend class graph_session;
  graph_callable(graph_session& owner, std::shared_ptr<dynamic::prepared_run> prepared, run_options options)
      : owner_(&owner), prepared_(std::move(prepared)), options_(options), results_(prepared_->places.size()) {
    feeds_.reserve(prepared_->feeds.size());
  }
  template <class V>
  tensor_value value_for(std::size_t k, const V& value) const {
    if constexpr (element_type<V>) {
      const tensor_value given(value);
      if (k >= prepared_->feeds.size()) return given;
      tensor_value fits = detail::converted(given, prepared_->feeds[k].type());
      return fits ? fits : given;
    } else if constexpr (requires { detail::lend(value); }) {
      return detail::lend(value);
    } else {
      return tensor_value(value);
    }
  }
  const std::vector<tensor_value>& run();

  graph_session* owner_;
  std::shared_ptr<dynamic::prepared_run> prepared_;
  run_options options_;
  std::vector<tensor_value> feeds_;
  std::vector<tensor_value> fetched_;
  std::vector<tensor_value> results_;
};

class graph_session {
 public:
  /// A session of the default graph.
  explicit graph_session(session_options options = {}) : graph_session(default_graph(), options) {}
  explicit graph_session(graph& g, session_options options = {}) : graph_(g), options_(options) { state_.log = options.log; }
  graph_session(const graph_session&) = delete;
  graph_session& operator=(const graph_session&) = delete;
  ~graph_session() { close(); }

  graph& owner() const { return graph_; }
  const session_options& options() const { return options_; }

  // ---- running ----

  /// What is fetched, in its structure; an operation gives no value. Errors: invalid_argument for what is not fed or does not
  /// fit, failed_precondition for variables without a value, out_of_range, cancelled and deadline_exceeded of queues and waits,
  /// unimplemented for operators without a kernel; what kernels throw, naming the node and the line that made it.
  template <graph_fetch F>
  typename detail::fetch_structure<F>::result run(const F& fetches, const feed_list& feeds = {}, const run_options& how = {}) {
    std::vector<fetch_item> list;
    detail::fetch_structure<F>::flatten(fetches, list);
    std::vector<tensor_value> results = run_list(list, feeds, how);
    auto at = results.begin();
    return detail::fetch_structure<F>::rebuild(fetches, at);
  }
  std::vector<tensor_value> run(std::initializer_list<fetch_item> fetches, const feed_list& feeds = {}, const run_options& how = {}) {
    return run_list({fetches.begin(), fetches.size()}, feeds, how);
  }
  /// The same as these types: `auto [a, b] = s.run<float, xt::xarray<float>>({loss, w})`.
  template <class T, class... Ts>
    requires detail::run_result<T>
  auto run(std::initializer_list<fetch_item> fetches, const feed_list& feeds = {}, const run_options& how = {}) {
    if (fetches.size() != 1 + sizeof...(Ts))
      throw invalid_argument(std::to_string(fetches.size()) + " fetches as " + std::to_string(1 + sizeof...(Ts)) + " types");
    const auto results = run_list({fetches.begin(), fetches.size()}, feeds, how);
    std::size_t at = 0;
    if constexpr (sizeof...(Ts) == 0) {
      return results[at].template as<T>();
    } else {
      const auto next = [&]() -> const tensor_value& { return results[at++]; };
      return std::tuple<T, Ts...>{next().template as<T>(), next().template as<Ts>()...};  // braces: from left to right
    }
  }
  template <class T>
    requires detail::run_result<T>
  T run(const fetch_item& fetch, const feed_list& feeds = {}, const run_options& how = {}) {
    return run_list({&fetch, 1}, feeds, how)[0].template as<T>();
  }
  /// Looks fetches and feeds up once.
  graph_callable prepare(std::initializer_list<fetch_item> fetches, std::initializer_list<feed_key> feeds = {}, const run_options& how = {}) {
    std::vector<output> fed;
    for (const auto& f : feeds) fed.push_back(f.resolve(graph_));
    return {*this, prepared({fetches.begin(), fetches.size()}, fed), how};
  }
  template <graph_fetch F>
  graph_callable prepare(const F& fetches, std::initializer_list<feed_key> feeds = {}, const run_options& how = {}) {
    std::vector<fetch_item> list;
    detail::fetch_structure<F>::flatten(fetches, list);
    std::vector<output> fed;
    for (const auto& f : feeds) fed.push_back(f.resolve(graph_));
    return {*this, prepared(list, fed), how};
  }
  template <graph_fetch F>
  graph_callable prepare(const F& fetches, const std::vector<output>& feeds, const run_options& how = {}) {
    std::vector<fetch_item> list;
    detail::fetch_structure<F>::flatten(fetches, list);
    return {*this, prepared(list, feeds), how};
  }

  // ---- variables ----

  /// Whether a variable has a value in this session.
  bool is_initialized(const output& variable) { return slot(variable).is_initialized(); }
  /// What it holds. Errors: failed_precondition where it has no value.
  tensor_value value(const output& variable) { return slot(variable).read(); }
  /// Gives it a value from outside. Errors: invalid_argument for another dtype or shape than the graph says.
  void assign(const output& variable, const tensor_value& value) {
    variable_slot& s = slot(variable);
    tensor_value fits = value.type() == s.type() ? value : value.extent().rank == 0 ? detail::converted(value, s.type()) : tensor_value{};
    if (!fits) throw invalid_argument("the variable '" + s.name() + "' is " + dtype_name(s.type()) + ", the value " + dtype_name(value.type()));
    if (!may_equal(s.extent(), value.extent()))
      throw invalid_argument("the variable '" + s.name() + "' has shape " + brackets(s.extent()) + ", the value " + brackets(value.extent()));
    s.assign(fits.copy());
  }
  /// The names of a graph's variables that have no value yet. Source: `report_uninitialized_variables`.
  std::vector<std::string> uninitialized_variables() {
    std::vector<std::string> names;
    for (const char* kind : {"variables", "local_variables"})
      for (const output& v : get_tensors(graph_, kind))
        if (!is_initialized(v)) names.push_back(v.operation().name());
    return names;
  }
  /// Forgets what a container holds: variables, queues. Without a name: everything.
  void reset(std::string_view container = {}) {
    const std::lock_guard lock(guard_);
    if (graph_.named().runs.load() > 0) throw failed_precondition("reset while the session runs");
    state_.resources.clear(container);
  }

  /// What a host function's node calls, by its token: for graphs from files, or in place of what the graph was built with.
  void register_host_function(std::string_view token_text, session_function f) {
    const std::lock_guard lock(guard_);
    state_.host_functions.insert_or_assign(std::string(token_text), std::move(f));
  }

  /// How many runs were one fused program.
  std::int64_t fused_runs() const { return fused_runs_.load(std::memory_order_relaxed); }

  /// Ends the session: runs under way fail with `cancelled`, later ones with failed_precondition.
  void close() { state_.closed.store(true); }

 private:
  friend class graph_callable;

  std::vector<tensor_value> run_list(std::span<const fetch_item> fetches, const feed_list& feeds, const run_options& how) {
    std::vector<output> fed;
    std::vector<tensor_value> values;
    for (const feed_item& f : feeds.items()) {
      fed.push_back(f.tensor.resolve(graph_));
      values.push_back(f.value);
      if (f.adapts && f.value.type() != fed.back().type())
        if (tensor_value fits = detail::converted(f.value, fed.back().type())) values.back() = std::move(fits);
    }
    const auto p = prepared(fetches, fed);
    std::vector<tensor_value> fetched;
    execute(*p, values, fetched, how);
    std::vector<tensor_value> results;
    for (int place : p->places) results.push_back(place < 0 ? tensor_value{} : fetched[static_cast<std::size_t>(place)].kept());
    return results;
  }

  void check_open() const {
    if (state_.closed.load(std::memory_order_relaxed)) throw failed_precondition("Attempted to use a closed Session.");
  }

  std::shared_ptr<dynamic::prepared_run> prepared(std::span<const fetch_item> fetches, const std::vector<output>& feeds) {
    const std::lock_guard lock(guard_);
    check_open();
    if (graph_.size() == 0) throw failed_precondition("The Session graph is empty. Add operations to the graph before calling run().");
    graph_.named().settle_names(graph_);
    place_nodes();
    auto made = std::make_shared<dynamic::prepared_run>();
    std::vector<int> key;
    std::vector<int> targets;
    for (const fetch_item& f : fetches) {
      const graph_element e = f.resolve(graph_);
      if (const auto* operation = std::get_if<graph_operation>(&e)) {
        targets.push_back(operation->index());
        made->places.push_back(-1);
        key.insert(key.end(), {operation->index(), -1});
      } else {
        const output& tensor = std::get<output>(e);
        made->places.push_back(static_cast<int>(made->fetches.size()));
        made->fetches.push_back(tensor);
        key.insert(key.end(), {tensor.index(), tensor.port()});
      }
    }
    key.push_back(-2);
    for (const output& f : feeds) key.insert(key.end(), {f.index(), f.port()});
    auto& known = plans_[key];
    if (known == nullptr) {
      made->feeds = feeds;
      made->plan = dynamic::planner(graph_, [this](int index) { return kernel_node_of(index); }).make(made->fetches, targets, feeds);
      known = std::move(made);
    }
    return known;
  }

  void execute(dynamic::prepared_run& p, std::span<const tensor_value> feeds, std::vector<tensor_value>& fetched, const run_options& how) {
    if (feeds.size() != p.feeds.size())
      throw invalid_argument(std::to_string(feeds.size()) + " values for " + std::to_string(p.feeds.size()) + " feeds");
    check_open();
    for (std::size_t k = 0; k < feeds.size(); ++k) check_feed(p.feeds[k], feeds[k]);
    step_state step(state_);
    step.cancel = how.cancel;
    step.check();
    const dynamic::graph_in_use frozen(graph_.named());
    std::optional<trace_scope> timed;
    if (how.trace != nullptr) {
      step.traced_run = (step.trace = how.trace)->begin_run();
      timed.emplace(step.trace, step.traced_run, "run", "Session");
    }
    if (options_.fuse && !p.plan.has_control_flow && (step.trace == nullptr || step.trace->detail() == trace_detail::steps))
      if (const auto program = p.program_for(graph_, step, feeds)) {
        try {
          if (program->run(feeds, fetched, step)) {
            fused_runs_.fetch_add(1, std::memory_order_relaxed);
            return;
          }
          p.forget(program);
        } catch (const error&) {
          // nothing was written: node by node, the error says where
        }
      }
    // a program waits for nothing; nodes may
    step.timeout_in_ms = how.timeout_in_ms > 0 ? how.timeout_in_ms : options_.operation_timeout_in_ms;
    if (step.timeout_in_ms > 0) step.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(step.timeout_in_ms);
    fetched = dynamic::run_plan_once(p.plan, step, feeds);
  }

  static void check_feed(const output& tensor, const tensor_value& value) {
    if (!value) throw invalid_argument("no value for the tensor '" + tensor.name() + "'");
    if (value.type() != tensor.type() && to_data_type(tensor.type()) != data_type::invalid)
      throw invalid_argument("Cannot feed a value of " + dtype_name(value.type()) + " for Tensor '" + tensor.name() + "', which has dtype " +
                             dtype_name(tensor.type()) + place_text(tensor));
    if (!may_equal(tensor.extent(), value.extent()))
      throw invalid_argument("Cannot feed value of shape " + shape_text(value.extent()) + " for Tensor " + tensor.name() + ", which has shape " +
                             shape_text(tensor.extent()) + place_text(tensor));
  }
  static std::string place_text(const output& tensor) {
    const source_position at = tensor.operation().made_at();
    return at.line == 0 ? std::string{} : std::string(" (made at ") + at.file + ":" + std::to_string(at.line) + ")";
  }

  kernel_node* kernel_node_of(int index) {
    auto& n = kernel_nodes_[index];
    if (n == nullptr) {
      n = std::make_unique<kernel_node>();
      n->owner = &graph_;
      n->index = index;
      n->type = graph_.at(index).op->type;
      n->record = &graph_.named().record(index);
    }
    return n.get();
  }

  variable_slot& slot(const output& variable) {
    const graph& g = graph_;
    if (&variable.owner() != &graph_ || g.at(variable.index()).op->kind != op_kind::variable)
      throw invalid_argument((static_cast<bool>(variable) ? describe(variable) : std::string("nothing")) + " is not a variable of this session's graph");
    const std::lock_guard lock(guard_);
    kernel_node& n = *kernel_node_of(variable.index());
    step_state step(state_);
    token result;
    kernel_context c(n, step, {}, {&result, 1});
    return dynamic::slot_of(c);
  }

  // Every node of the graph must have a place, also those that nobody asks for.
  void place_nodes() {
    constexpr const char* here = "/job:localhost/replica:0/task:0/device:CPU:0";
    const named_part& nodes = graph_.named();
    for (; placed_ < graph_.size(); ++placed_) {
      const node_record& r = nodes.record(placed_);
      if (!r.device.empty()) {
        const device_spec d = parse_device(r.device);
        const bool other_process = (d.job && *d.job != "localhost") || (d.replica && *d.replica != 0) || (d.task && *d.task != 0);
        const bool other_device = (d.type && *d.type != "CPU") || (d.index && *d.index != 0);
        if (other_process || (other_device && !options_.allow_soft_placement)) {
          std::string text = "Cannot assign a device for operation " + r.name + ": node " + r.name + " was explicitly assigned to " + std::string(r.device) +
                             " but available devices are [ " + here + " ]. Make sure the device specification refers to a valid device.";
          if (r.made_at.line != 0) text += std::string(" It was made at ") + r.made_at.file + ":" + std::to_string(r.made_at.line);
          throw invalid_argument(text);
        }
      }
      if (options_.log_device_placement) {
        const std::lock_guard lock(state_.log_guard);
        (state_.log != nullptr ? *state_.log : std::cerr) << r.name << ": (" << graph_.at(placed_).op->type << "): " << here << "\n";
      }
    }
  }

  graph& graph_;
  session_options options_;
  session_state state_;
  std::mutex guard_;
  std::unordered_map<int, std::unique_ptr<kernel_node>> kernel_nodes_;
  std::map<std::vector<int>, std::shared_ptr<dynamic::prepared_run>> plans_;
  int placed_ = 0;
  std::atomic<std::int64_t> fused_runs_{0};
};

inline const std::vector<tensor_value>& graph_callable::run() {
  // the results of the last call are written again, unless somebody keeps them
  for (std::size_t k = 0; k < results_.size(); ++k)
    if (const int place = prepared_->places[k]; place >= 0 && static_cast<std::size_t>(place) < fetched_.size())
      fetched_[static_cast<std::size_t>(place)] = std::move(results_[k]);
  owner_->execute(*prepared_, feeds_, fetched_, options_);
  for (std::size_t k = 0; k < results_.size(); ++k)
    if (const int place = prepared_->places[k]; place >= 0) {
      tensor_value& from = fetched_[static_cast<std::size_t>(place)];
      results_[k] = from.is_borrowed() ? from.copy() : std::move(from);
    }
  feeds_.clear();
  return results_;
}

}  // namespace leat
