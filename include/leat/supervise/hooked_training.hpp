#pragma once
// What monitored sessions, supervisors and supervised loops share: the hooks and their calls when training begins, runs and ends; what ends
// training (a hook, the program, a signal, a thread); the threads of hooks and queue runners, whose failure ends the run that may wait for
// them; and new sessions after tasks of a cluster went away. The owner adds what differs: how values are prepared, services, typed values.
// Source: TensorFlow 1.x `_HookedSession`, `_CoordinatedSession` and `_RecoverableSession`, which wrap one another there.

#include <leat/core/function_bodies.hpp>
#include <leat/supervise/checkpoint_saver.hpp>
#include <leat/supervise/coordinator.hpp>
#include <leat/supervise/hooked_run.hpp>
#include <leat/supervise/session_manager.hpp>
#include <leat/supervise/session_run_hook.hpp>
#include <leat/supervise/signals.hpp>

#include <atomic>
#include <exception>
#include <functional>
#include <iosfwd>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>

namespace leat::detail {

/// A graph, and where the values of a new session come from.
struct trained_graph {
  graph& owner;
  const session_options& session;
  bool is_chief;     // other processes wait until the model is ready
  seconds max_wait;  // how long they wait
  saver* saves;      // restores the newest checkpoint; null: nothing is restored
  const std::string& folder;
  const saved_parts& parts;
  const scaffold* its_scaffold = nullptr;
  output step{};  // counts the steps; empty for the graph's global step
};

/// Declared behind the session that its threads use, so that they end before it does.
class hooked_training {
 public:
  /// `max_recoveries`: how many consecutive losses of a task may be followed by a new session. `log`: null is standard error.
  /// Errors: invalid_argument for a hook that is null.
  hooked_training(hook_list hooks, int max_recoveries, seconds stop_grace_period, std::ostream* log);
  hooked_training(const hooked_training&) = delete;
  hooked_training& operator=(const hooked_training&) = delete;

  const hook_list& hooks() const { return hooks_; }
  std::ostream& log() const;

  // ---- the beginning ----

  /// Calls `begin` of the hooks. `owner`: the default graph meanwhile; null for typed expressions, whose steps are always counted.
  void begin(graph* owner);
  /// SIGINT and SIGTERM end training from now on.
  void watch_signals();
  /// Training begins after an earlier one was closed.
  void begin_anew();

  // ---- sessions ----

  /// Makes a session in which all variables have values, and logs the step at which training continues, on a single machine only after a
  /// recovery. `how` is completed by the newest checkpoint, and by the values that the servers still have.
  std::unique_ptr<graph_session> make_session(const trained_graph& of, session_preparation how);
  /// Makes the coordinator of a session's threads. `stopped` is called when it stops, with the exception of a thread, or null.
  coordinator& make_threads(std::function<void(const std::exception_ptr&)> stopped = {});
  /// Calls `after_create_session` of the hooks.
  void after_create_session(watched_session& s);
  /// Calls `make` until it succeeds: as long as tasks go away, `drop` is called, and another session is made.
  /// Errors: those of `make`, after too many failures or a signal also those that mean the loss of a task.
  void make_in_turn(const std::function<void()>& make, const std::function<void()>& drop);
  /// Ends the threads and closes the session, if there is one. Returns the first exception; none after the loss of a task, since training
  /// continues in another session, or was over.
  std::exception_ptr end_session(graph_session* s);
  // The same in parts. Threads that have not ended after the grace period still use the session, which is to be closed before
  // `drop_threads` waits for them.
  void request_threads_to_end();
  std::exception_ptr stop_threads();
  void drop_threads();
  /// Null while there is no session.
  coordinator* threads() const { return threads_.get(); }
  /// Whether the session ends, so that a stop of its threads is not that of training.
  bool is_ending() const { return is_ending_; }

  // ---- runs ----

  /// Errors: the exception of a thread, or failed_precondition, if a hook has requested a stop, or `should_stop` has returned true.
  void check_run() const;
  /// Before each attempt to run. Errors: the exception of a thread.
  void begin_run();
  /// Runs fetches with the hooks. Errors: those of `run_with_hooks`, or their cause.
  hooked_results run(graph_session& s, watched_session& watched, std::span<const fetch_item> fetches, const feed_list& feeds,
                     const run_options& how);
  /// Called in the handler of a run's exception. Rethrows it, or the exception of the thread for which the run waited; an expired deadline
  /// with what the hooks know of its cause. Notes the end of the input.
  [[noreturn]] void rethrow_cause(watched_session& s);

  // ---- what ends training ----

  void request_stop_by_hook() { stop_by_hook_ = true; }
  void request_stop() { stop_by_program_ = true; }
  /// The signal that ended training; 0 if none did.
  int stopped_by_signal() const;
  /// Whether a hook, the program or a signal requested the end.
  bool is_stopped() const { return stop_by_hook_ || stop_by_program_ || stopped_by_signal() != 0; }
  /// The same, or a thread stopped the others, or training was closed. If true, no run may follow.
  bool should_stop() const;

  // ---- new sessions ----

  /// Whether an exception means that a task went away, so that training continues in a new session.
  bool is_loss(const std::exception_ptr& failure) const { return max_recoveries_ > 0 && is_loss_of_task(failure); }
  /// Whether a thread's run failed by such an exception.
  bool lost_by_thread(const coordinator& c) const;
  bool lost_by_thread() const { return threads_ != nullptr && lost_by_thread(*threads_); }
  /// Counts a failure. Returns whether another session may be made.
  bool may_recover() { return ++failures_ <= max_recoveries_; }
  /// Runs, and again after each loss of a task. `recover` is called in the exception's handler; it makes a new session, or rethrows.
  template <class Run, class Recover>
  auto repeated(Run run, Recover recover) -> decltype(run()) {
    for (;;) {
      try {
        auto results = run();
        failures_ = 0;
        return results;
      } catch (const aborted& e) {
        recover(e);
      } catch (const unavailable& e) {
        recover(e);
      }
    }
  }
  /// Counts a new session that replaces one that was lost.
  void count_recovery() { ++recoveries_; }
  int recoveries() const { return recoveries_; }
  /// While an object exists, `is_recovering` is true.
  struct recovery {
    explicit recovery(hooked_training& t) : of(t) { of.is_recovering_ = true; }
    recovery(const recovery&) = delete;
    recovery& operator=(const recovery&) = delete;
    ~recovery() { of.is_recovering_ = false; }
    hooked_training& of;
  };
  bool is_recovering() const { return is_recovering_; }

  // ---- the end ----

  bool is_closed() const { return closed_; }
  /// Returns false if training was closed already.
  bool mark_closed() { return !std::exchange(closed_, true); }
  /// Whether an exception ends training, that is, one is being handled that did not begin before training, and is not the end of the input.
  bool ends_by_exception() const { return std::uncaught_exceptions() > exceptions_ && !input_ended_; }
  /// Calls `before_end` of all hooks, and then `end`. Each ends at the first exception; the first of both is returned.
  std::exception_ptr end_hooks(watched_session& s, bool is_stopped);
  /// Restores what signals did before, and keeps the signal that came.
  void end_signals();
  /// Calls `end_hooks` if there is a session, and then `drop`, which ends it and returns what failed. A second call does nothing.
  /// Errors: the first exception.
  void close(watched_session* s, const std::function<std::exception_ptr()>& drop);
  /// The same without `end_hooks`, as after an exception. Nothing is thrown.
  void abandon(const std::function<std::exception_ptr()>& drop) noexcept;
  /// For destructors: logs what `close` throws.
  void log_errors_of(const char* what, const std::function<void()>& close) const;

 private:
  std::string explain_wait(watched_session& s) const;
  void tell(graph_session& s, watched_session& its, const std::string& what) const;

  hook_list hooks_;
  std::mutex calling_hooks_;
  int max_recoveries_;
  seconds stop_grace_period_;
  std::ostream* log_;
  std::unique_ptr<stop_signals> signals_;
  int signal_ = 0;  // kept after the end
  std::unique_ptr<coordinator> threads_;
  // Cancelled when one of the threads fails, because a run may wait for something that thread was to do.
  std::shared_ptr<cancellation> thread_failed_;
  std::atomic<bool> is_ending_{false};  // the threads are being ended
  std::atomic<bool> stop_by_hook_{false};
  std::atomic<bool> stop_by_program_{false};
  mutable std::atomic<bool> seen_{false};  // the program has seen that training is over
  std::atomic<bool> input_ended_{false};   // the last run threw out_of_range
  bool closed_ = false;
  int exceptions_ = std::uncaught_exceptions();  // when training began
  std::atomic<bool> is_recovering_{false};
  std::atomic<int> recoveries_{0};
  std::atomic<int> failures_{0};  // consecutive
};

}  // namespace leat::detail

#if LEAT_WITH_BODIES
#include <leat/supervise/impl/hooked_training.hpp>
#endif
