#pragma once
// Variables at parameter servers, as seen by a worker with compiled steps: a graph of the variables and of the updates that the training
// steps make to them, run by a session with a target. Gradients are fed and new values are fetched, so a step is one call to each server
// and one answer. worker_session.hpp adds the compiled half.

#include <leat/core/function_bodies.hpp>
#include <leat/named/exchange/any_expression.hpp>
#include <leat/named/scopes/cluster_spec.hpp>
#include <leat/named/scopes/replica_device_setter.hpp>
#include <leat/session/graph_session_class.hpp>
#include <leat/train/named/optimizer.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace leat {

/// Where the variables of a `worker_session` are stored, and how old their values may be.
struct worker_options {
  /// A server of the cluster, "tcp://host:port", preferably the one in the worker's own process: `here.target()`.
  std::string target{};
  /// The cluster whose tasks of the job `ps_job` hold the variables; without a cluster, the target's task holds them.
  std::optional<cluster_spec> cluster{};
  std::string ps_job = "ps";
  /// Assigns variables to these tasks; round-robin if empty.
  placement_strategy strategy{};
  /// Separates the variables from those of the same names in other containers.
  std::string container{};
  /// How many of the session's own pushes may be missing in the values that a step uses: with 0 each push waits for its answer; with n up
  /// to n pushes are in flight while the next steps are computed.
  int staleness = 0;
  /// Synchronous training: each update applies the mean of the gradients of this many workers, all of which set this option; 0: the
  /// gradients of each worker are applied as they arrive.
  int replicas = 0;
  /// The number of this worker among them, from 0; each worker has a different one.
  int replica = 0;
  /// How long to wait for answers of the tasks: at the start, and for each later call; 0 means no limit.
  std::int64_t start_timeout_in_ms = 60'000;
  std::int64_t operation_timeout_in_ms = 600'000;
};

/// Where the time of a `worker_session`'s training steps went, summed over `steps` runs since `measure_steps()`. The remainder of `total`
/// is the session's own work between them.
struct worker_times {
  std::int64_t steps = 0;
  std::chrono::nanoseconds total{};
  /// Requesting values before the step, and copying received values into the session's memory.
  std::chrono::nanoseconds reading{};
  /// Running the step's compiled or planned program.
  std::chrono::nanoseconds computing{};
  /// Messages with gradients and new values, including the time to build them and to wake waiting threads.
  std::chrono::nanoseconds network{};
  /// The servers' share: the updates, and their waits, in synchronous training for the other workers. With staleness it is all of the time
  /// in which a run waited for pushes, because the messages of pushes are not part of a run.
  std::chrono::nanoseconds waiting{};
};

namespace cluster {

/// Measures consecutive intervals and adds each to one of a step's times; reads no clock if there are no sums to add them to.
class step_watch {
 public:
  using clock = std::chrono::steady_clock;
  explicit step_watch(worker_times* sums) : sums_(sums) {
    if (sums_ != nullptr) began_ = last_ = clock::now();
  }
  void give(std::chrono::nanoseconds worker_times::* what) {
    if (sums_ == nullptr) return;
    const clock::time_point now = clock::now();
    step_.*what += now - last_;
    last_ = now;
  }
  /// The same for an exchange with the servers, which took `nanoseconds_at_servers` of the interval.
  void give_exchange(std::int64_t nanoseconds_at_servers) {
    if (sums_ == nullptr) return;
    const clock::time_point now = clock::now();
    const std::chrono::nanoseconds at_servers =
        std::min<std::chrono::nanoseconds>(std::chrono::nanoseconds(nanoseconds_at_servers), now - last_);
    step_.waiting += at_servers;
    step_.network += now - last_ - at_servers;
    last_ = now;
  }
  /// Adds the step's times to the sums; not called for a step that fails.
  void end_step() {
    if (sums_ == nullptr) return;
    ++sums_->steps;
    sums_->total += clock::now() - began_;
    for (const auto what : {&worker_times::reading, &worker_times::computing, &worker_times::network, &worker_times::waiting})
      sums_->*what += step_.*what;
  }

 private:
  worker_times* sums_;
  worker_times step_{};
  clock::time_point began_, last_;
};

/// A variable at the servers.
struct parameter {
  std::string name{};
  detail::any_expression leaf{};
  bool is_copied = false;  // the worker computes with a copy, which each step updates
};
/// Rows of a variable's gradient in what is sent; their indices follow them.
struct sent_rows {
  std::size_t position = 0;
  std::int64_t rows_of_variable = 0;
  std::string variable{};
  bool one_by_one = false;  // rows with equal indices are not added, because the servers' step is linear in them
};
/// What a training step runs at the servers.
struct parameter_step {
  detail::any_expression update{};
  std::vector<detail::any_expression> gradients{};  // placeholders for the gradients
  std::vector<sent_rows> rows{};                    // the gradients that are sent as rows
};
/// Rows of a variable, selected by indices that are fed.
struct parameter_rows {
  std::size_t variable = 0;
  detail::any_expression indices{};
};
/// Values of placeholders and parameters by name.
using named_values = std::vector<std::pair<std::string_view, tensor_value>>;

/// The servers' half of a `worker_session`.
class parameter_client {
 public:
  /// Errors: those of the session's start; invalid_argument for options out of range.
  parameter_client(const worker_options& options, std::vector<parameter> variables, std::vector<parameter_rows> rows,
                   std::vector<parameter_step> steps);
  parameter_client(const parameter_client&) = delete;
  parameter_client& operator=(const parameter_client&) = delete;
  ~parameter_client();

  int staleness() const { return options_.staleness; }
  /// The current values of the copied variables, in their order.
  const std::vector<tensor_value>& read();
  /// As `read`, and then for each set bit of `which` the rows with that number, selected by indices in the same order. Does not wait for
  /// pushes in flight.
  const std::vector<tensor_value>& read_rows(std::uint32_t which, std::span<const tensor_value> indices);
  /// Applies gradients, and returns the copied variables' values after the update; `extra` are fed in addition. With staleness, returns
  /// when no more pushes than that are in flight, with the last values that arrived; null if none arrived since the last call. Pushed
  /// gradients must stay unchanged until then. Rows with equal indices are added before they are sent. `time_at_servers`, if given,
  /// receives the nanoseconds that the servers took, with staleness more than the duration of the call. Errors: those of the run; with
  /// staleness also those of earlier pushes.
  const std::vector<tensor_value>* push(std::size_t step, std::span<tensor_value> gradients, const named_values& extra,
                                        std::int64_t* time_at_servers = nullptr);
  /// Memory for the k-th gradient that a step pushes, from which it is sent to its server without a copy; an empty value if there is none.
  tensor_value gradient_memory(std::size_t step, std::size_t k, dtype type, const shape& extent);
  /// Releases the values that `read`, `read_rows` or `push` returned last, because they may refer to a message's memory.
  void release();
  /// Waits until no push is in flight. Errors: those of the pushes.
  void finish();
  /// Synchronous training: updates no longer wait for this worker, until it pushes again. Errors: those of the run.
  void leave();

  bool is_initialized(std::size_t variable);
  tensor_value value(std::size_t variable);
  void assign(std::size_t variable, const tensor_value& value);
  /// Initializes the variables that exist only at the servers (slots).
  void initialize_slots();
  /// The names of variables without a value, including slots.
  std::vector<std::string> uninitialized();

  graph& owner() { return graph_; }
  graph_session& session() { return *session_; }

 private:
  struct kept_step {
    std::vector<output> gradients;
    std::vector<sent_rows> rows;
    std::vector<output> fetches;  // the copies after the update
    std::vector<graph_operation> targets;
    // Synchronous training: contributes gradients and waits for the update. Results: the copies after the update, and at last whether the
    // update is still to be applied, by this worker.
    std::vector<output> given;
    std::optional<graph_callable> give;
    std::optional<graph_callable> plain;                               // without extra feeds
    std::map<std::vector<std::string>, graph_callable> with_settings;  // by the names of the extra feeds
  };
  struct waiting_push {
    std::size_t step = 0;
    std::vector<tensor_value> feeds;
    named_values extra;
  };

  void build(const std::vector<parameter_step>& steps);
  // Synchronous training.
  void give_to_rounds(std::vector<variable_gradient>& pairs);
  void finish_round(kept_step& step, const std::vector<graph_operation>& gives, const std::string& trained);
  void make_membership();
  const std::vector<tensor_value>& run_round(std::size_t step, std::span<const tensor_value> gradients, const named_values& extra,
                                             std::int64_t* time_at_servers);
  bool is_synchronous() const { return options_.replicas > 0; }
  static device_function placed_by(const worker_options& options);
  graph_callable& callable(kept_step& step, const named_values& extra);
  const std::vector<tensor_value>& run(std::size_t step, std::span<const tensor_value> gradients, const named_values& extra,
                                       std::int64_t* time_at_servers);
  void send();

  std::uint64_t generation_;  // fork generation
  worker_options options_;
  std::vector<parameter> variables_;
  std::vector<parameter_rows> rows_;
  graph graph_;
  std::vector<output> outputs_;
  std::vector<output> slots_;
  graph_operation slots_init_;
  output report_;
  std::vector<kept_step> steps_;
  std::unique_ptr<graph_session> session_;
  std::optional<graph_callable> read_;
  std::vector<output> indices_, gathered_;  // of `rows_`
  std::map<std::uint32_t, graph_callable> read_rows_;
  std::vector<tensor_value> feeds_;
  graph_callable* lender_ = nullptr;  // the callable that returned the last results
  const std::vector<tensor_value>& lend(graph_callable& from, std::span<const tensor_value> feeds, std::int64_t* time_at_servers = nullptr);

  // Synchronous training (runtime/kernels/replicas.hpp).
  struct round_nodes {
    output rounds;
    std::map<int, output> gradients;                  // by variable
    std::vector<std::vector<graph_operation>> gives;  // by step
    std::vector<std::string> trained;                 // by step: a text that names the trained variables
    graph_operation join, leave;
  };
  round_nodes round_;
  bool has_joined_ = false;  // set with the first push
  bool has_left_ = false;

  // Pushes in flight, with staleness.
  std::mutex guard_;
  std::condition_variable changed_;
  std::deque<waiting_push> queue_;  // the first is being sent
  std::vector<tensor_value> latest_;
  std::vector<tensor_value> taken_;
  std::exception_ptr failure_;
  bool stopping_ = false;
  std::thread sender_;
};

}  // namespace cluster

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/cluster/impl/parameter_client.hpp>
#endif
