#pragma once
// The class graph_session and its prepared calls. The bodies of its non-template functions are in impl/graph_session.hpp. See
// graph_session.hpp.

#include <leat/cpu/configuration.hpp>
#include <leat/proto/node_def.hpp>
#include <leat/runtime/state/run_arguments.hpp>
#include <leat/session/fetch_feed.hpp>
#include <leat/session/run_calls.hpp>

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace leat {

class random_table;
class remote_session;
class resource_table;
class variable_slot;
struct kernel_node;

/// Options of a session; those of a single run are `run_options`.
struct session_options {
  /// Where the session's steps run: "" in this process; "tcp://host:port" on a server of a cluster (<leat/cluster.hpp>), on which variables
  /// outlive the session.
  std::string target{};
  /// With a target: how long the constructor waits until all tasks of the cluster answer, in milliseconds.
  std::int64_t start_timeout_in_ms = 60'000;
  /// With a target: devices that the session may use, such as "/job:ps", "/job:worker/task:1"; empty for all. It does not wait for other
  /// tasks.
  std::vector<std::string> device_filters{};
  /// If a node's device type or device number does not exist, the node runs on the CPU. A job that does not exist remains an error.
  bool allow_soft_placement = false;
  /// Logs the device of each node, once.
  bool log_device_placement = false;
  /// Time limit, in milliseconds, of a run whose own options set none: 10 minutes. 0: no limit.
  std::int64_t operation_timeout_in_ms = 600'000;
  /// Where Print and the placement log write; null: standard error.
  std::ostream* log = nullptr;
  /// Compiles runs to fused programs if possible; otherwise each node runs by itself. Results are equal apart from rounding.
  bool fuse = true;
  /// How many nodes of one run may execute concurrently. 0: `cpu::thread_count()`. 1: one after the other, so that a node that blocks
  /// delays the rest of its run. Without LEAT_USE_TBB it is 1.
  int inter_op_parallelism_threads = 0;
  /// How many threads one node, or one program, may use. 0: `cpu::thread_count()`, which is also the maximum. 1: only the thread that runs
  /// it. Results do not depend on it.
  int intra_op_parallelism_threads = 0;
  /// Limit on the bytes of all arrays at one time: values in running steps, variables, results that the caller keeps, memory of programs.
  /// 0: only the system's limit. An allocation beyond it throws resource_exhausted, naming the node. Arrays of up to 64 bytes, fed arrays,
  /// and the graph itself do not count.
  std::int64_t memory_limit_in_bytes = 0;
  /// Limit on the bytes that the session's programs keep between runs, including those for other shapes. The least recently used programs
  /// are dropped, and are compiled again when their shapes return; the running one is always kept. Errors: invalid_argument below 0.
  std::int64_t program_memory_in_bytes = std::int64_t{256} << 20;
  /// The folder in which nodes of the graph (SaveV2, RestoreV2 and their kin) may read and write files; empty: they may not. A graph is
  /// untrusted, so it reaches nothing outside, whatever names it is fed. Relative names are relative to the folder. With a target, the
  /// servers' `server_options::file_root` counts instead.
  std::string file_root{};
  /// The device of all nodes, as shown in the placement log and in errors. The sessions of a server have other devices.
  std::string device = "/job:localhost/replica:0/task:0/device:CPU:0";
  /// Variables and queues that several sessions share; null: the session has its own.
  std::shared_ptr<resource_table> resources = nullptr;
  /// Positions of random sequences, shared by sessions that run subgraphs of one graph; null: the session has its own.
  std::shared_ptr<random_table> random_numbers = nullptr;
};

namespace runtime {
struct prepared_run;
class plain_program;
}  // namespace runtime

class graph_session;

/// Fetches and feeds that are resolved once: `auto step = s.prepare({loss, train}, {x, y}); step(xs, ys);`. It must not outlive its
/// session. One call at a time.
class graph_callable {
 public:
  /// Runs with these values, in the order of the feeds. The results are valid until the next call. Errors: those of `graph_session::run`.
  template <class... Values>
  const std::vector<tensor_value>& operator()(const Values&... values) {
    static_assert(sizeof...(Values) <= 64);
    if (feeds_.size() != sizeof...(Values)) feeds_.resize(sizeof...(Values));
    std::size_t k = 0;
    (feed(k++, values), ...);
    static_cast<void>(k);
    const std::vector<tensor_value>& results = run(feeds_, options_);
    for (tensor_value& v : feeds_) v.end_feed();
    return results;
  }
  /// Runs with these values, in the order of the feeds. The results are valid until the next call. Errors: those of `graph_session::run`.
  const std::vector<tensor_value>& call(std::span<const tensor_value> values);
  /// Like `call(values)`, with options for this call. Errors: those of `graph_session::run`.
  const std::vector<tensor_value>& call(std::span<const tensor_value> values, const run_options& how);
  /// Releases the results of the last call (`run_options::lends_results`).
  void release() {
    for (tensor_value& result : results_) result = {};
  }
  /// The results of the last call; empty values before the first. The next call reuses their memory if it has no other holder.
  const std::vector<tensor_value>& results() const { return results_; }
  /// Memory for a result of the next call, instead of that of the last result; used if it has the result's dtype and shape.
  void place_result(std::size_t k, tensor_value memory) { results_.at(k) = std::move(memory); }
  /// Memory for the value of a feed that goes to another task without being copied; an empty value if there is none, as in a session
  /// without a target.
  tensor_value feed_memory(std::size_t k, dtype type, const shape& extent);

 private:
  friend class graph_session;
  graph_callable(graph_session& owner, std::shared_ptr<runtime::prepared_run> prepared, run_options options);
  // Sets the value of a feed, in the memory of the last call's value if possible.
  template <class V>
  void feed(std::size_t k, const V& value) {
    tensor_value& to = feeds_[k];
    if constexpr (value_element<V>) {
      if (k >= types_.size() || types_[k] == array_dtype_of<V>) return to.set_number(value);
      const tensor_value given(value);
      to = detail::converted(given, types_[k]);
      if (!to) to = given;
    } else if constexpr (requires { detail::lend_to(to, value); }) {
      detail::lend_to(to, value);
    } else {
      to = tensor_value(value);
    }
  }
  const std::vector<tensor_value>& run(std::span<const tensor_value> values, const run_options& how);

  graph_session* owner_;
  std::shared_ptr<runtime::prepared_run> prepared_;
  std::weak_ptr<runtime::plain_program> last_;  // program of the last call
  run_options options_;
  std::vector<dtype> types_;  // dtypes of the feeds
  std::vector<tensor_value> feeds_;
  std::vector<tensor_value> fetched_;
  bool in_order_ = true;  // whether result k is fetch k, for all k
  std::vector<tensor_value> results_;
};

/// Runs a graph; see graph_session.hpp. Thread-safe. Source: TensorFlow 1.x `Session`.
class graph_session : public run_calls<graph_session> {
 public:
  /// A session of the default graph.
  explicit graph_session(session_options options = {}) : graph_session(default_graph(), options) {}
  /// A session of a graph, which must outlive it. Errors: invalid_argument for options out of range; with a target, those of connecting to
  /// it.
  explicit graph_session(graph& g, session_options options = {});
  graph_session(const graph_session&) = delete;
  graph_session& operator=(const graph_session&) = delete;
  ~graph_session();

  /// The session's graph.
  graph& owner() const { return graph_; }
  const session_options& options() const { return options_; }

  // ---- running: `run` of run_calls.hpp, and `prepare` ----

  /// Resolves fetches and feeds once, for repeated calls. Errors: invalid_argument if one of them is not in the graph or may not be fetched
  /// or fed; failed_precondition if the session is closed or the graph is empty. Source: TensorFlow `Session.make_callable`.
  graph_callable prepare(std::initializer_list<fetch_item> fetches, std::initializer_list<feed_key> feeds = {},
                         const run_options& how = {});
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

  // ---- devices ----

  /// The devices that the session uses; with a target, those of the tasks that match `device_filters`. Source: TensorFlow
  /// `Session.list_devices`.
  std::vector<std::string> list_devices();
  /// The subgraph that each device runs for these fetches and feeds, as graphs that can be shown and saved. A run on several devices is cut
  /// into subgraphs with `_Send` and `_Recv` between them; devices without nodes are left out. Errors: those that `run` throws before it
  /// executes nodes. Source: TensorFlow `RunMetadata.partition_graphs`.
  std::vector<std::pair<std::string, graph_def>> part_graphs(std::initializer_list<fetch_item> fetches,
                                                             std::initializer_list<feed_key> feeds = {});

  // ---- variables ----

  /// Why no run can execute a node, whatever is fed: its operator has no kernel, or its results have a dtype that no array has. Empty if a
  /// run can, as far as operator and dtypes show.
  std::string refusal_of(const graph_operation& node);

  /// Whether a variable has a value in this session.
  bool is_initialized(const output& variable);
  /// The current value of a variable. Errors: failed_precondition if it has none; invalid_argument if it is not a variable of the graph.
  tensor_value value(const output& variable);
  /// Sets the value of a variable. Errors: invalid_argument if the dtype or shape differs from the graph's.
  void assign(const output& variable, const tensor_value& value);
  /// Sets the value of a variable to elements that are shared, not copied, until a run writes to the variable, such as mapped pages of a
  /// file. Nothing else may write to them; borrowed elements must have an owner or outlive the session. They do not count toward
  /// `memory_limit_in_bytes`. An empty value leaves the variable without a value. Errors: as `assign`.
  void adopt(const output& variable, const tensor_value& value);
  /// The names of the graph's variables that have no value. Source: `report_uninitialized_variables`.
  std::vector<std::string> uninitialized_variables();
  /// Drops the variables and queues of a container; of all containers if no name is given. Errors: failed_precondition during a run of the
  /// graph. Source: TensorFlow `Session.reset`.
  void reset(std::string_view container = {});

  /// The positions of the random sequences of all nodes that have drawn numbers. Together with the variables, they are the state from which
  /// training can be resumed. Errors: with a target, those of `run`.
  random_positions random_state();
  /// Sets the positions of the random sequences of these nodes. Names that the graph does not have are ignored. Errors: with a target,
  /// those of `run`.
  void set_random_state(const random_positions& positions);

  /// Sets the host function for nodes with this token, for graphs from files or to replace the function that the graph was built with.
  /// Errors: unimplemented with a target.
  void register_host_function(std::string_view token_text, session_function f);

  /// The bytes that count toward `memory_limit_in_bytes` now; 0 if there is no limit.
  std::int64_t memory_in_bytes() const;

  /// The number of runs that were one fused program.
  std::int64_t fused_runs() const;
  /// How often a fused subgraph of another run was executed: a branch, a loop's iteration, nodes between random numbers.
  std::int64_t fused_parts() const;
  /// Approximate number of bytes that this session's programs hold now: code, constants and memory for intermediate results.
  std::int64_t program_bytes() const;

  /// State that the session keeps between runs: variables, queues, iterators. With a target it is kept by the tasks, and this table is
  /// empty.
  resource_table& resources();

  /// The connection to the target, or null if there is none. For savers.
  remote_session* at_target() const;

  /// Closes the session: current runs fail with `cancelled`, later ones with failed_precondition.
  void close();

 private:
  friend class graph_callable;
  friend class run_calls<graph_session>;

  std::vector<tensor_value> run_list(std::span<const fetch_item> fetches, const feed_list& feeds, const run_options& how);

  void check_open() const;

  std::shared_ptr<runtime::prepared_run> prepared(std::span<const fetch_item> fetches, const std::vector<output>& feeds);

  // `last`: the program of the caller's last run. It is tried first, and runs directly if it needs no state of a run.
  bool execute_at_once(runtime::prepared_run& p, std::span<const tensor_value> feeds, std::vector<tensor_value>& fetched,
                       const run_options& how, const std::weak_ptr<runtime::plain_program>& last);
  void execute(runtime::prepared_run& p, std::span<const tensor_value> feeds, std::vector<tensor_value>& fetched, const run_options& how,
               std::weak_ptr<runtime::plain_program>& last);
  void execute_in_two(runtime::prepared_run& p, std::span<const tensor_value> feeds, std::vector<tensor_value>& fetched,
                      const run_options& how, std::weak_ptr<runtime::plain_program>& last);

  static void check_feed(const output& tensor, const tensor_value& value);
  static std::string place_text(const output& tensor);

  kernel_node* kernel_node_of(int index);

  void check_variable(const output& variable) const;
  variable_slot& slot(const output& variable);
  // The value in the form that the variable holds; a scalar is converted to its dtype.
  static tensor_value fitting(const output& variable, const tensor_value& value);

  // Places every node of the graph on a device, even nodes that no run needs.
  void place_nodes();

  graph& graph_;
  session_options options_;
  struct kept;
  std::unique_ptr<kept> kept_;
};

}  // namespace leat
