#pragma once
// Hooks watch the runs of a supervised session: what they return before a run is fetched and fed beside what the program asked for, and
// after it they look at the results. They are called in order: `begin` while the graph still takes nodes, `after_create_session`, then
// `before_run` and `after_run` of all hooks around each run, and `before_end` and `end` when training is over in order: not after an exception,
// but after out_of_range, which is the end of the input. One class of hooks serves sessions of graphs and of typed expressions.
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

/// The session that hooks watch.
class watched_session {
 public:
  virtual ~watched_session() = default;
  /// The session of a graph; null for typed expressions.
  virtual graph_session* of_graph() = 0;
  /// Whether training steps are counted.
  virtual bool has_global_step() const = 0;
  /// The number of training steps so far. Errors: failed_precondition if they are not counted.
  virtual std::int64_t global_step() = 0;
  /// The current values of the variables, by name; not copied where the session shares them.
  virtual session_values variables() = 0;
  /// Fetches outside of a step, without hooks. Of typed expressions: the values of the last step, by name.
  virtual std::vector<tensor_value> evaluate(std::span<const fetch_item> fetches, const feed_list& feeds) = 0;
  /// Saves and restores variables with a saver.
  virtual std::string save(saver& to, const std::string& prefix, std::int64_t step, const save_options& how) = 0;
  virtual void restore(const saver& from, const checkpoint_path& path) = 0;
  /// The summaries that the last step of typed expressions gave; null for graphs, which have operations for them.
  virtual const summary::value_list* step_summary() const { return nullptr; }
  /// The operations that the session was prepared with; null for typed expressions.
  virtual const scaffold* its_scaffold() const { return nullptr; }
};

/// What `begin` is told.
struct begin_context {
  graph* owner = nullptr;        // the graph, which takes nodes; null for typed expressions
  bool has_global_step = false;  // whether training steps are counted
};

/// What a hook asks of a run.
struct session_run_args {
  std::vector<fetch_item> fetches{};
  feed_list feeds{};
  run_trace* trace = nullptr;  // records the run; of one hook at most
};

/// A run, as hooks see it.
class session_run_context {
 public:
  session_run_context(watched_session& s, std::span<const fetch_item> fetches, const feed_list& feeds)
      : session_(&s), fetches_(fetches), feeds_(&feeds) {}
  watched_session& session() const { return *session_; }
  /// What the program fetches and feeds, without what hooks add.
  std::span<const fetch_item> original_fetches() const { return fetches_; }
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

/// The results of a run.
struct session_run_values {
  std::span<const tensor_value> results;  // of the hook's fetches, in their order
  const feed_list* feeds;                 // of the run: those of the program and of all hooks
  seconds took{0};                        // the run without hooks
};

class session_run_hook {
 public:
  session_run_hook() = default;
  session_run_hook(const session_run_hook&) = delete;
  session_run_hook& operator=(const session_run_hook&) = delete;
  virtual ~session_run_hook() = default;

  /// Once, before the graph is finalized.
  virtual void begin(const begin_context&) {}
  /// Whenever a session was made and its variables have values: at the start, and after a recovery.
  virtual void after_create_session(watched_session&, coordinator&) {}
  virtual session_run_args before_run(session_run_context&) { return {}; }
  virtual void after_run(session_run_context&, const session_run_values&) {}
  /// Once, when training ends in order, before `end` of any hook: whoever must wait for others waits here, so that what is saved at the end holds
  /// their steps too. `is_stopped`: a hook, the program or a signal asked for the end; otherwise the program had no more data.
  virtual void before_end(watched_session&, bool /*is_stopped*/) {}
  /// Once, when training has ended in order; the session still runs.
  virtual void end(watched_session&) {}
  /// What a run waited for that ended at its deadline, for the error's message. Empty: the hook does not know.
  virtual std::string explain_wait(watched_session&) { return {}; }
};

using hook = std::shared_ptr<session_run_hook>;
using hook_list = std::vector<hook>;

namespace detail {

/// Errors: failed_precondition in TensorFlow's words.
inline void require_global_step(bool has, const char* user) {
  if (!has) throw failed_precondition(std::string("Global step should be created to use ") + user + ".");
}

}  // namespace detail

}  // namespace leat
