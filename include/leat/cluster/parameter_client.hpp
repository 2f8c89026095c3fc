#pragma once
// Variables at parameter servers, as a worker sees them whose step is compiled: a graph of the variables and of the updates that its
// training steps make to them, run by a session with a target. Gradients are fed, new values are fetched; so a step is one call to each
// server and one answer. worker_session.hpp adds the compiled half.

#include <leat/core/function_bodies.hpp>
#include <leat/named/exchange/any_expression.hpp>
#include <leat/named/scopes/cluster_spec.hpp>
#include <leat/named/scopes/replica_device_setter.hpp>
#include <leat/named/train/named_optimizer.hpp>
#include <leat/session/graph_session_class.hpp>

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

/// Where the variables of a `worker_session` live, and how old their values may be.
struct worker_options {
  /// A server of the cluster, "tcp://host:port", best that of the worker's own process: `here.target()`.
  std::string target{};
  /// The cluster whose tasks of the job `ps_job` hold the variables; without one, the target's task does.
  std::optional<cluster_spec> cluster{};
  std::string ps_job = "ps";
  /// Which of them holds which variable; round-robin if empty.
  placement_strategy strategy{};
  /// Keeps the variables apart from those of the same names in other containers.
  std::string container{};
  /// How many of the session's own pushes a step's values may lack: 0 waits for the answer to each; with n up to n are under way while
  /// the next steps are computed.
  int staleness = 0;
  /// Synchronous training: each update is made of the mean of the gradients of so many workers, all of which ask for it; 0: gradients of each
  /// worker are applied as they come.
  int replicas = 0;
  /// This worker's number among them, from 0: each has its own.
  int replica = 0;
  /// How long to wait until the tasks answer, at the start; and for each call after it, 0 without limit.
  std::int64_t start_timeout_in_ms = 60'000;
  std::int64_t operation_timeout_in_ms = 600'000;
};

/// Where the time of a `worker_session`'s training steps went, summed up over `steps` runs since `measure_steps()`. What is left of `total`
/// is the session's own work between them.
struct worker_times {
  std::int64_t steps = 0;
  std::chrono::nanoseconds total{};
  /// Asking for values before the step, and putting values that came into the session's memory.
  std::chrono::nanoseconds reading{};
  /// The step's compiled or planned program.
  std::chrono::nanoseconds computing{};
  /// Messages with gradients and new values, and what it takes to make them and to wake who waits for them.
  std::chrono::nanoseconds network{};
  /// The servers' part of it: the updates, and what they wait for, in synchronous training the other workers. With staleness all of a
  /// run's time in which it waited for pushes, whose messages are no part of a run.
  std::chrono::nanoseconds waiting{};
};

namespace cluster {

/// Gives the time since it last did so to one of a step's times; without sums to add them to it does not look at the clock.
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
  /// The same of an exchange with the servers, who had so much of it.
  void give_exchange(std::int64_t nanoseconds_at_servers) {
    if (sums_ == nullptr) return;
    const clock::time_point now = clock::now();
    const std::chrono::nanoseconds at_servers =
        std::min<std::chrono::nanoseconds>(std::chrono::nanoseconds(nanoseconds_at_servers), now - last_);
    step_.waiting += at_servers;
    step_.network += now - last_ - at_servers;
    last_ = now;
  }
  /// Adds the step's times to the sums; a step that fails does not come to this.
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
  bool is_copied = false;  // whether the worker computes with a copy, which each step brings up to date
};
/// Rows of a variable's gradient among what is sent; their indices follow them.
struct sent_rows {
  std::size_t position = 0;
  std::int64_t rows_of_variable = 0;
  std::string variable{};
  bool one_by_one = false;  // rows of equal indices are not added: the servers' step is linear in them
};
/// What a training step does at the servers.
struct parameter_step {
  detail::any_expression update{};
  std::vector<detail::any_expression> gradients{};  // placeholders that it takes them from
  std::vector<sent_rows> rows{};                    // among them
};
/// Rows of a variable, by indices that are fed.
struct parameter_rows {
  std::size_t variable = 0;
  detail::any_expression indices{};
};
/// Values of placeholders and parameters by name.
using named_values = std::vector<std::pair<std::string_view, tensor_value>>;

class parameter_client {
 public:
  /// Errors: those of the session's start; invalid_argument for options out of range.
  parameter_client(const worker_options& options, std::vector<parameter> variables, std::vector<parameter_rows> rows,
                   std::vector<parameter_step> steps);
  parameter_client(const parameter_client&) = delete;
  parameter_client& operator=(const parameter_client&) = delete;
  ~parameter_client();

  int staleness() const { return options_.staleness; }
  /// The copied variables' current values, in their order.
  const std::vector<tensor_value>& read();
  /// The same, then for each bit of `which` the rows of that number, by indices in the same order. Does not wait for pushes under way.
  const std::vector<tensor_value>& read_rows(std::uint32_t which, std::span<const tensor_value> indices);
  /// Applies gradients, and gives the copied variables' values after that; `extra` are fed beside them. With staleness, returns when no
  /// more pushes than that are under way, with the last values that came; none if none have come since the last call. What is pushed
  /// must stay as it is until then. Rows of equal indices are added before they are sent. `time_at_servers`, if it is given, gets the
  /// nanoseconds that the servers had of it, with staleness more than the call takes. Errors: those of the run; with staleness also those
  /// of earlier pushes.
  const std::vector<tensor_value>* push(std::size_t step, std::span<tensor_value> gradients, const named_values& extra,
                                        std::int64_t* time_at_servers = nullptr);
  /// Memory for a gradient of a step, the k-th that it pushes, which goes to its server without being copied; an empty value where there is
  /// none.
  tensor_value gradient_memory(std::size_t step, std::size_t k, dtype type, const shape& extent);
  /// Lets go of the values that `read`, `read_rows` or `push` gave last: they may be a message's memory.
  void release();
  /// Waits until no push is under way. Errors: those of the pushes.
  void finish();
  /// Synchronous: updates do not wait for this worker any more, until it pushes again. Errors: those of the run.
  void leave();

  bool is_initialized(std::size_t variable);
  tensor_value value(std::size_t variable);
  void assign(std::size_t variable, const tensor_value& value);
  /// Gives the variables that only the servers have (slots) their first values.
  void initialize_slots();
  /// The names of variables without a value, slots included.
  std::vector<std::string> uninitialized();

  graph& owner() { return graph_; }
  graph_session& session() { return *session_; }

 private:
  struct kept_step {
    std::vector<output> gradients;
    std::vector<sent_rows> rows;
    std::vector<output> fetches;  // the copies after the update
    std::vector<graph_operation> targets;
    // Synchronous: gives gradients and waits for the update: the copies after it, and at last whether it is still to be applied, by this worker.
    std::vector<output> given;
    std::optional<graph_callable> give;
    std::optional<graph_callable> plain;                               // without extra feeds
    std::map<std::vector<std::string>, graph_callable> with_settings;  // by their names
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

  std::uint64_t generation_;  // of forks
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
  graph_callable* lender_ = nullptr;  // whose results were given last
  const std::vector<tensor_value>& lend(graph_callable& from, std::span<const tensor_value> feeds, std::int64_t* time_at_servers = nullptr);

  // Synchronous training (runtime/kernels/kernels_replicas.hpp).
  struct round_nodes {
    output rounds;
    std::map<int, output> gradients;                  // of each variable
    std::vector<std::vector<graph_operation>> gives;  // of each step
    std::vector<std::string> trained;                 // by each: its variables, in words
    graph_operation join, leave;
  };
  round_nodes round_;
  bool has_joined_ = false;  // with the first push
  bool has_left_ = false;

  // Pushes under way, with staleness.
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
#include <leat/cluster/parameter_client_bodies.hpp>
#endif
