#pragma once
// Hooks observe the runs of a supervised session. The fetches and feeds that a hook returns before a run are added to those of the program,
// and after the run the hook receives its results. Order of calls: `begin` while nodes can still be added to the graph,
// `after_create_session`, then `before_run` and `after_run` of all hooks around each run, and `before_end` and `end` when training ends in
// order, that is, normally or with out_of_range, the end of the input, but not after other exceptions. The same classes of hooks serve
// sessions of graphs and of typed expressions.
// Source: TensorFlow 1.x `train.SessionRunHook`, `SessionRunArgs`, `SessionRunContext`, `SessionRunValues`.

#include <leat/checkpoint/saver.hpp>
#include <leat/session/graph_session.hpp>
#include <leat/session/graph_variables.hpp>
#include <leat/summary/value_list.hpp>
#include <leat/supervise/coordinator.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace leat {

class scaffold;

/// The session as hooks see it.
class watched_session {
 public:
  virtual ~watched_session() = default;
  /// The graph session; null for typed expressions.
  virtual graph_session* of_graph() = 0;
  /// Whether training steps are counted.
  virtual bool has_global_step() const = 0;
  /// The number of training steps so far. Errors: failed_precondition if they are not counted.
  virtual std::int64_t global_step() = 0;
  /// The current values of the variables, by name; shared with the session without a copy where possible.
  virtual session_values variables() = 0;
  /// Runs fetches outside of a step, without hooks. For typed expressions: the values of the last step, by name.
  virtual std::vector<tensor_value> evaluate(std::span<const fetch_item> fetches, const feed_list& feeds) = 0;
  /// Saves and restores variables with a saver.
  virtual std::string save(saver& to, const std::string& prefix, std::int64_t step, const save_options& how) = 0;
  virtual void restore(const saver& from, const checkpoint_path& path) = 0;
  /// The summaries of the last step of typed expressions; null for graphs, where operations compute summaries.
  virtual const summary::value_list* step_summary() const { return nullptr; }
  /// The operations that prepared the session; null for typed expressions.
  virtual const scaffold* its_scaffold() const { return nullptr; }
};

/// The argument of `begin`.
struct begin_context {
  graph* owner = nullptr;        // the graph, to which nodes can be added; null for typed expressions
  bool has_global_step = false;  // whether training steps are counted
};

/// What a hook adds to a run.
struct session_run_args {
  std::vector<fetch_item> fetches{};
  feed_list feeds{};
  run_trace* trace = nullptr;  // records the run; at most one hook may give a trace
};

/// A run, as hooks see it.
class session_run_context {
 public:
  session_run_context(watched_session& s, std::span<const fetch_item> fetches, const feed_list& feeds)
      : session_(&s), fetches_(fetches), feeds_(&feeds) {}
  /// The session that runs.
  watched_session& session() const { return *session_; }
  /// The fetches and feeds of the program, without those of hooks.
  std::span<const fetch_item> original_fetches() const { return fetches_; }
  /// The feeds of the program, without those of hooks.
  const feed_list& original_feeds() const { return *feeds_; }
  /// Ends training after this run.
  void request_stop() { stop_ = true; }
  bool stop_requested() const { return stop_; }

 private:
  watched_session* session_;
  std::span<const fetch_item> fetches_;
  const feed_list* feeds_;
  bool stop_ = false;
};

/// The results of a run, as a hook receives them.
struct session_run_values {
  std::span<const tensor_value> results;  // of the hook's fetches, in their order
  const feed_list* feeds;                 // of the run: those of the program and of all hooks
  seconds took{0};                        // duration of the run without hooks
};

/// Base class of hooks. By default each function does nothing.
class session_run_hook {
 public:
  session_run_hook() = default;
  session_run_hook(const session_run_hook&) = delete;
  session_run_hook& operator=(const session_run_hook&) = delete;
  virtual ~session_run_hook() = default;

  /// Called once, before the graph is finalized.
  virtual void begin(const begin_context&) {}
  /// Called whenever a session was made and its variables have values: at the start, and after a recovery.
  virtual void after_create_session(watched_session&, coordinator&) {}
  /// Called before each run. Returns the fetches and feeds to add to it.
  virtual session_run_args before_run(session_run_context&) { return {}; }
  /// Called after each run, with the results of the fetches that `before_run` added.
  virtual void after_run(session_run_context&, const session_run_values&) {}
  /// Called once, when training ends in order, before `end` of any hook. A hook that must wait for other processes waits here, so that the
  /// final checkpoint includes their steps. `is_stopped`: a hook, the program or a signal requested the end; if false, the program had no
  /// more data.
  virtual void before_end(watched_session&, bool /*is_stopped*/) {}
  /// Called once, when training has ended in order; the session can still run.
  virtual void end(watched_session&) {}
  /// Explains, for the error's message, what a run waited for when it reached its deadline. Empty if the hook does not know.
  virtual std::string explain_wait(watched_session&) { return {}; }
};

/// A hook, as sessions hold it: several sessions may share one.
using hook = std::shared_ptr<session_run_hook>;
/// Hooks in the order in which they are called.
using hook_list = std::vector<hook>;

namespace detail {

/// Errors: failed_precondition with TensorFlow's message if there is no global step.
inline void require_global_step(bool has, const char* user) {
  if (!has) throw failed_precondition(std::string("Global step should be created to use ") + user + ".");
}

}  // namespace detail

}  // namespace leat
