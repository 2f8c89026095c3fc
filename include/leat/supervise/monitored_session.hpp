#pragma once
// A session that supervises training: it initializes or restores the model, calls hooks around each run, starts the graph's queue runners,
// and stops in order when a hook, another thread or a signal requests it.
//
//   monitored_session s({.hooks = {stop_at_step(2000)}});
//   s.loop([&] { s.run(train); });            // the same: while (!s.should_stop()) s.run(train); s.close();
//
// If a run fails with `aborted` or `unavailable`, a new session is made from the newest checkpoint and the run is tried again. In a cluster
// the values are kept if the servers still hold all of them, that is, if only a worker or the chief was away; if they do not, the chief
// restores, and the other processes wait.
// Source: TensorFlow 1.x `train.MonitoredSession`, `MonitoredTrainingSession`, `SingularMonitoredSession`.

#include <leat/core/function_bodies.hpp>
#include <leat/session/run_calls.hpp>
#include <leat/supervise/checkpoint_saver.hpp>
#include <leat/supervise/scaffold.hpp>
#include <leat/supervise/session_run_hook.hpp>

#include <functional>
#include <memory>
#include <string>

namespace leat {

/// Options of a monitored session.
struct monitored_options {
  graph* owner = nullptr;  // the graph; null is the default graph
  /// Whether this process initializes and saves. Other processes wait until the model is ready.
  bool is_chief = true;
  std::shared_ptr<leat::scaffold> scaffold{};  // the operations that prepare a session, as far as the program gives them
  /// Folder of the checkpoints: the newest one is restored, if there is one, and the chief saves into it. If empty, nothing is saved.
  std::string checkpoint_dir{};
  std::optional<std::int64_t> save_checkpoint_steps{};  // if neither is given, every 600 seconds; 0: never
  std::optional<seconds> save_checkpoint_secs{};
  std::shared_ptr<saver> its_saver{};  // by default the scaffold's saver, or one of all variables
  saved_parts parts{};                 // saved and restored with the variables: a data pipeline, or a program's own state
  /// Folder of the summaries; if empty, checkpoint_dir.
  std::string summary_dir{};
  std::optional<std::int64_t> save_summaries_steps{};  // if neither is given, every 100 steps; 0: never
  std::optional<seconds> save_summaries_secs{};
  std::int64_t log_step_count_steps = 100;  // interval of logging steps per second; 0: never
  hook_list hooks{};
  hook_list chief_only_hooks{};    // called before the others; ignored unless this is the chief
  seconds max_wait{7200};          // for the model to become ready, unless this is the chief
  seconds stop_grace_period{120};  // for queue runners to end
  /// How many consecutive runs may fail with `aborted` or `unavailable` and be tried again in a new session; 0: such a failure is an error.
  int max_recoveries = 100;
  bool stop_on_signals = true;  // SIGINT and SIGTERM end training after the current run; see signals.hpp
  session_options session{};
  std::ostream* log = nullptr;  // log of waits and recoveries, and of what a destructor cannot throw; null is standard error
};

namespace detail {
/// The hooks in the order of their calls: the chief's, those that the options request, in the order of TensorFlow's
/// MonitoredTrainingSession, and the others.
hook_list hooks_of(const monitored_options& o);
}  // namespace detail

/// The argument that `run_step_fn` passes to its function. Source: `StepContext`.
class step_context;

/// A session with hooks that is recreated when tasks of the cluster go away. Its runs (session/run_calls.hpp) are those of `graph_session`,
/// with the hooks. In addition they throw failed_precondition after a hook requested a stop, after `should_stop` returned true, and in a
/// closed session; and what hooks throw.
class monitored_session : public run_calls<monitored_session> {
 public:
  /// Calls `begin` of the hooks, finalizes the graph, makes the session, and calls `after_create_session`.
  /// Errors: failed_precondition, naming the variables without a value; deadline_exceeded if no process initializes them; what hooks throw.
  explicit monitored_session(monitored_options options = {});
  monitored_session(const monitored_session&) = delete;
  monitored_session& operator=(const monitored_session&) = delete;
  /// Closes the session if it is still open: in order, unless an exception is being handled; errors of hooks are logged. An exception of a
  /// run that means the end of the input does not count as an error.
  LEAT_INLINE virtual ~monitored_session();

  /// Calls a function that may run fetches with hooks and without them. Source: `run_step_fn`.
  template <class F>
  auto run_step_fn(F f);

  /// Whether training is over: a hook, `request_stop`, the coordinator or a signal requested a stop, or the session is closed.
  bool should_stop() const;
  /// Ends training after the current run. Thread-safe.
  void request_stop();
  /// The signal that ended training, SIGINT or SIGTERM; 0 if none did.
  int stopped_by_signal() const;

  /// Calls `body` until training is over, and closes the session. out_of_range, thrown by a run or by the body, means the end of the input.
  /// After other exceptions the hooks' `end` is not called.
  template <class Body>
  void loop(Body body) {
    within([&] {
      while (!should_stop()) body();
    });
  }
  /// Calls `body` once, and closes the session as `loop` does. Corresponds to TensorFlow's `with` statement.
  template <class Body>
  void within(Body body) {
    try {
      body();
    } catch (const out_of_range&) {
    } catch (...) {
      abandon();
      throw;
    }
    close();
  }

  /// Calls `before_end` and `end` of the hooks, stops threads and closes the session. A second call does nothing. Errors: what hooks and
  /// threads threw.
  void close();
  /// Closes the session without calling `before_end` and `end` of the hooks, as after an exception.
  void abandon() noexcept;
  bool is_closed() const;

  /// The underlying session, for runs without hooks and for reading variables. A recovery replaces it by another object.
  /// Errors: failed_precondition if it is closed.
  graph_session& session();
  /// The number of training steps. Errors: failed_precondition if the graph has no global step.
  std::int64_t global_step();
  coordinator& coordinated();
  const leat::scaffold& its_scaffold() const;
  /// How many times the session was recreated.
  int recoveries() const;

 private:
  friend class run_calls<monitored_session>;
  std::vector<tensor_value> run_list(std::span<const fetch_item> fetches, const feed_list& feeds, const run_options& how);

  struct kept;
  std::unique_ptr<kept> kept_;
};

/// What the function of `monitored_session::run_step_fn` gets: the session with and without its hooks. Source: TensorFlow `StepContext`.
class step_context {
 public:
  explicit step_context(monitored_session& s) : session_(&s) {}
  /// The session itself; its runs call no hook.
  graph_session& session() const { return session_->session(); }
  /// A run that calls the hooks, as `monitored_session::run`.
  template <graph_fetch F>
  auto run_with_hooks(const F& fetches, const feed_list& feeds = {}) const {
    return session_->run(fetches, feeds);
  }
  /// Asks the session to stop: `should_stop` is true from now on.
  void request_stop() const { session_->request_stop(); }

 private:
  monitored_session* session_;
};

template <class F>
auto monitored_session::run_step_fn(F f) {
  return f(step_context(*this));
}

/// A monitored session with checkpoints, summaries and a step counter, all of which checkpoint_dir enables.
using monitored_training_session = monitored_session;

/// A monitored session that is never recreated, so that its underlying session stays the same. It restores from checkpoint_dir, and saves
/// only through hooks. Source: `SingularMonitoredSession`.
class singular_monitored_session : public monitored_session {
 public:
  explicit singular_monitored_session(monitored_options options = {}) : monitored_session(without_recovery(std::move(options))) {}
  /// The underlying session, for runs without hooks.
  graph_session& raw_session() { return session(); }

 private:
  static monitored_options without_recovery(monitored_options o) {
    o.max_recoveries = 0;
    o.save_checkpoint_steps = o.save_summaries_steps = o.log_step_count_steps = 0;
    o.save_checkpoint_secs = o.save_summaries_secs = std::nullopt;
    return o;
  }
};

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/supervise/impl/monitored_session.hpp>
#endif
