#pragma once
// Supervises a training program: initializes the model or restores it from the newest checkpoint, saves at an interval, writes summaries,
// and stops its threads in order. The program keeps its own loop:
//
//   supervisor sv({.logdir = "log", .save_model_secs = 60});
//   auto s = sv.managed_session();
//   while (!sv.should_stop()) s.run(train);
//   sv.stop();
//
// Checkpoints are taken between two runs of the managed session, so that each holds the state after a whole step.
//
// In a cluster (`session.target`), if a run of the managed session fails with `aborted` or `unavailable`, a new session is made and the run
// is tried again: the chief restores the newest checkpoint, unless the servers still hold all variables, and the other processes wait until
// the model is ready. Source: TensorFlow 1.x `train.Supervisor`.

#include <leat/core/function_bodies.hpp>
#include <leat/session/run_calls.hpp>
#include <leat/supervise/checkpoint_saver.hpp>
#include <leat/supervise/coordinator.hpp>
#include <leat/supervise/queue_runner.hpp>
#include <leat/supervise/session_manager.hpp>
#include <leat/supervise/session_run_hook.hpp>
#include <leat/supervise/summary_saver.hpp>

#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace leat {

/// Requests the object that a supervisor makes by default.
struct use_default_t {};
/// Requests the object that a supervisor makes by default.
inline constexpr use_default_t use_default{};

/// An option that is given, made by default, or, as `{}`, absent.
template <class T>
class choice {
 public:
  choice() = default;
  choice(use_default_t) : is_default_(true) {}
  template <class V>
    requires std::convertible_to<V, T>
  choice(V&& given) : held_(std::forward<V>(given)) {}
  /// Whether the object is made by default.
  bool is_default() const { return is_default_; }
  /// What was given, if anything was.
  const std::optional<T>& held() const { return held_; }

 private:
  std::optional<T> held_;
  bool is_default_ = false;
};

/// Options of a supervisor.
struct supervisor_options {
  graph* owner = nullptr;  // null is the default graph
  choice<output> ready_op = use_default;
  choice<output> ready_for_local_init_op = use_default;
  bool is_chief = true;
  choice<graph_operation> init = use_default;  // initializes the variables if there is no checkpoint
  feed_list init_feeds{};
  std::function<void(graph_session&)> init_fn{};
  choice<graph_operation> local_init = use_default;
  std::string logdir{};                  // folder of checkpoints and event files; empty: none are written
  choice<output> summary = use_default;  // run every save_summaries_secs; `{}`: the program calls summary_computed
  choice<saver> save = use_default;      // `{}`: nothing is saved or restored
  choice<output> global_step = use_default;
  double save_summaries_secs = 120;  // 0: never
  double save_model_secs = 600;      // 0: never
  double stop_grace_secs = 120;
  std::string checkpoint_basename = "model.ckpt";
  choice<std::shared_ptr<summary::file_writer>> summary_writer = use_default;
  saved_parts parts{};  // saved and restored with the variables
  /// Hooks of the managed session, called as by a monitored session: around its runs, and when it begins and ends. For example, each
  /// replica adds its sync_replicas_hook.
  hook_list hooks{};
  double max_wait_secs = 7200;  // how long other processes wait for the chief's initialization
  bool stop_on_signals = true;  // SIGINT and SIGTERM end training; the model is saved if saving is enabled
  session_options session{};
  /// With a target: how many consecutive runs may fail with `aborted` or `unavailable` and be tried again in a new session; 0: such a
  /// failure is an error. It is also an error if the graph has queue runners, because their threads use the session.
  int max_recoveries = 100;
  std::ostream* log = nullptr;  // log of waits and recoveries, and of what a destructor cannot throw; null is standard error
};

class supervisor;

/// A supervisor's session. Its destructor stops the supervisor. Its runs (session/run_calls.hpp) are those of `graph_session`, with the
/// supervisor's hooks. They also throw what hooks throw, and the exceptions that ended the hooks' threads.
class supervised_session : public run_calls<supervised_session> {
 public:
  supervised_session(supervised_session&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)) {}
  supervised_session(const supervised_session&) = delete;
  supervised_session& operator=(const supervised_session&) = delete;
  ~supervised_session();

  /// The value of a variable. Errors: those of `graph_session::value`, and those of a run.
  tensor_value value(const output& variable);
  /// The underlying session; its runs and prepared runs call no hooks, do not wait for a checkpoint that is being taken, and are not tried
  /// again. A recovery replaces it by another object and closes the old one.
  graph_session& get() const;
  graph_session& operator*() const { return get(); }
  graph_session* operator->() const { return &get(); }
  operator graph_session&() const { return get(); }

 private:
  friend class supervisor;
  friend class run_calls<supervised_session>;
  explicit supervised_session(supervisor& owner) : owner_(&owner) {}
  std::vector<tensor_value> run_list(std::span<const fetch_item> fetches, const feed_list& feeds, const run_options& how);
  supervisor* owner_;
};

/// Initializes or restores a model, saves it, and stops in order; the program keeps its own loop.
class supervisor {
 public:
  /// Makes the missing operations, and finalizes the graph. Errors: invalid_argument, naming the variable, for a variable without a device
  /// if this is not the chief, that is, if there are replicas.
  explicit supervisor(supervisor_options options = {});
  supervisor(const supervisor&) = delete;
  supervisor& operator=(const supervisor&) = delete;
  ~supervisor();

  /// Makes the session, restores or initializes it, and starts queue runners and, if this is the chief, its threads.
  /// Errors: failed_precondition, naming the variables without a value; deadline_exceeded if no process initializes them.
  supervised_session prepare_or_wait_for_session(bool start_standard_services = true);
  [[nodiscard]] supervised_session managed_session() { return prepare_or_wait_for_session(); }
  /// Calls `body(session)` and stops. out_of_range means the end of the input; other exceptions of the body propagate.
  template <class Body>
  void managed(Body body) {
    {
      auto s = prepare_or_wait_for_session();
      try {
        body(s);
      } catch (const out_of_range&) {
      } catch (...) {
        detail::stop_because(coord(), std::current_exception());
      }
      stop();
    }
  }

  /// Whether training is over: a stop was requested, a signal arrived, or the supervisor has stopped.
  bool should_stop() const;
  void request_stop() { coord().request_stop(); }
  void request_stop(std::exception_ptr reason) { coord().request_stop(std::move(reason)); }
  /// Calls `before_end` and `end` of the hooks, unless an exception ends training; stops all threads, and closes the event file and the
  /// session. A second call does nothing. Errors: the exception of a request to stop; what hooks throw.
  void stop();
  /// Waits for a request to stop. Returns whether it came before the timeout.
  bool wait_for_stop(seconds timeout) const;
  /// The signal that ended training; 0 if none did.
  int stopped_by_signal() const;
  /// How many times the session was recreated.
  int recoveries() const;

  /// Calls `f` now and every `interval_secs` seconds on a thread of its own, until the supervisor stops. Source: `Supervisor.loop`.
  void loop(double interval_secs, std::function<void()> f);
  /// Starts the threads that save, write summaries and count steps. Errors: failed_precondition if this is not the chief.
  void start_standard_services();
  /// Writes a summary that the program ran, under this step, or the global step. Errors: failed_precondition without an event file.
  void summary_computed(const tensor_value& summary, std::optional<std::int64_t> global_step = {});
  /// Saves now, between two runs. Returns the checkpoint's name. Errors: failed_precondition without logdir or saver; deadline_exceeded if
  /// runs leave no gap for a minute.
  std::string save_model();

  /// The coordinator of the threads that the supervisor starts.
  coordinator& coord() const;
  /// Whether this process initializes variables, and saves.
  bool is_chief() const;
  /// LOGDIR/model.ckpt; empty if nothing is saved.
  const std::string& save_path() const;
  /// The saver. Errors: failed_precondition if there is none.
  leat::saver& saver();
  /// Null if there is none.
  const std::shared_ptr<summary::file_writer>& summary_writer() const;
  const session_preparation& preparation() const;
  graph_operation init_op() const { return preparation().init_op; }
  output ready_op() const { return preparation().ready_op; }
  graph_operation local_init_op() const { return preparation().local_init_op; }
  output summary_op() const;
  output global_step() const;
  /// The session. Errors: failed_precondition before it was made, and after `stop`.
  graph_session& session() const;

 private:
  friend class supervised_session;
  struct kept;
  std::unique_ptr<kept> kept_;
};

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/supervise/impl/supervisor.hpp>
#endif
