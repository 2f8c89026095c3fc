#pragma once
// The class graph_session, and calls that it prepares; its functions that are no templates are graph_session_functions.hpp's.
// See graph_session.hpp.

#include <leat/graph/separate.hpp>
#include <leat/session/dynamic/fetch_feed.hpp>
#include <leat/session/dynamic/kernel.hpp>

#include <iosfwd>

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
  /// How many nodes of one run may work at the same time: 0 for as many as `cpu::thread_count()` says; 1 for one after the other, and
  /// then a node that waits holds up the others of its run. Without LEAT_USE_TBB it is 1.
  int inter_op_parallelism_threads = 0;
  /// How many threads one node, or one program, of this session's runs may use at most: 0 for as many as `cpu::thread_count()` says,
  /// which is the most in any case; 1 for the thread that runs it alone. Results do not depend on it.
  int intra_op_parallelism_threads = 0;
  /// How many bytes arrays may take at the same time: values of runs that are under way, variables, results that the program keeps, the
  /// memory of programs. 0: as many as the system has. What would take more is resource_exhausted and names the node; numbers of up to
  /// 64 bytes, what the program feeds, and the graph itself do not count.
  std::int64_t memory_limit_in_bytes = 0;
  /// How much memory the programs of this session may keep between runs, those for other shapes included: 256 MiB unless told
  /// otherwise. What was not used for longest is dropped, and made anew when its shapes come again; the program that runs stays
  /// whatever it needs. Errors: invalid_argument below 0.
  std::int64_t program_memory_in_bytes = std::int64_t{256} << 20;
};

struct run_options {
  /// 0: as the session's options say.
  std::int64_t timeout_in_ms = 0;
  /// Stops the run from another thread.
  const cancellation* cancel = nullptr;
  /// Records what ran, and how long it took.
  run_trace* trace = nullptr;
};

namespace dynamic {
struct prepared_run;
class plain_program;
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
  graph_callable(graph_session& owner, std::shared_ptr<dynamic::prepared_run> prepared, run_options options);
  template <class V>
  tensor_value value_for(std::size_t k, const V& value) const {
    if constexpr (element_type<V>) {
      const tensor_value given(value);
      if (k >= types_.size()) return given;
      tensor_value fits = detail::converted(given, types_[k]);
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
  std::weak_ptr<dynamic::plain_program> last_;  // the program of the last call
  run_options options_;
  std::vector<dtype> types_;  // of the feeds
  std::vector<tensor_value> feeds_;
  std::vector<tensor_value> fetched_;
  std::vector<tensor_value> results_;
};

class graph_session {
 public:
  /// A session of the default graph.
  explicit graph_session(session_options options = {}) : graph_session(default_graph(), options) {}
  explicit graph_session(graph& g, session_options options = {});
  graph_session(const graph_session&) = delete;
  graph_session& operator=(const graph_session&) = delete;
  ~graph_session();

  graph& owner() const { return graph_; }
  const session_options& options() const { return options_; }

  // ---- running ----

  /// What is fetched, in its structure; an operation gives no value. Errors: invalid_argument for what is not fed or does not
  /// fit, failed_precondition for variables without a value, out_of_range, cancelled and deadline_exceeded of queues and waits,
  /// unimplemented for operators without a kernel, resource_exhausted for arrays that there is no memory for; what kernels throw, naming
  /// the node and the line that made it.
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
  graph_callable prepare(std::initializer_list<fetch_item> fetches, std::initializer_list<feed_key> feeds = {},
                         const run_options& how = {}) {
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
  void assign(const output& variable, const tensor_value& value);
  /// The names of a graph's variables that have no value yet. Source: `report_uninitialized_variables`.
  std::vector<std::string> uninitialized_variables();
  /// Forgets what a container holds: variables, queues. Without a name: everything.
  void reset(std::string_view container = {});

  /// What a host function's node calls, by its token: for graphs from files, or in place of what the graph was built with.
  void register_host_function(std::string_view token_text, session_function f);

  /// The bytes that count for `memory_limit_in_bytes` now; 0 where there is no limit.
  std::int64_t memory_in_bytes() const { return state_.meter != nullptr ? state_.meter->used() : 0; }

  /// How many runs were one fused program.
  std::int64_t fused_runs() const { return fused_runs_.load(std::memory_order_relaxed); }
  /// How many times parts of other runs were: of a branch, of a loop's iteration, of what lies between random numbers.
  std::int64_t fused_parts() const { return state_.part_runs.load(std::memory_order_relaxed); }
  /// Bytes that the programs of this session hold now: what they consist of, roughly, and their memory for intermediate results.
  std::int64_t program_bytes() const { return state_.programs->held(); }

  /// Ends the session: runs under way fail with `cancelled`, later ones with failed_precondition.
  void close() { state_.closed.store(true); }

 private:
  friend class graph_callable;

  std::vector<tensor_value> run_list(std::span<const fetch_item> fetches, const feed_list& feeds, const run_options& how);

  void check_open() const {
    if (state_.closed.load(std::memory_order_relaxed)) throw failed_precondition("Attempted to use a closed Session.");
  }

  std::shared_ptr<dynamic::prepared_run> prepared(std::span<const fetch_item> fetches, const std::vector<output>& feeds);

  // `last`: the program of the caller's last run; it is tried first.
  void execute(dynamic::prepared_run& p, std::span<const tensor_value> feeds, std::vector<tensor_value>& fetched, const run_options& how,
               std::weak_ptr<dynamic::plain_program>& last);

  static void check_feed(const output& tensor, const tensor_value& value);
  static std::string place_text(const output& tensor);

  kernel_node* kernel_node_of(int index);

  variable_slot& slot(const output& variable);

  // Every node of the graph must have a place, also those that nobody asks for.
  void place_nodes();

  graph& graph_;
  session_options options_;
  session_state state_;
  std::mutex guard_;
  std::unordered_map<int, std::unique_ptr<kernel_node>> kernel_nodes_;
  std::map<std::vector<int>, std::shared_ptr<dynamic::prepared_run>> plans_;
  int placed_ = 0;
  std::atomic<std::int64_t> fused_runs_{0};
};

}  // namespace leat
