#pragma once
// Makes sessions whose variables have values: restored from a checkpoint, or initialized, or, where another process initializes them,
// waited for. Source: TensorFlow 1.x `SessionManager`.

#include <leat/core/function_bodies.hpp>
#include <leat/supervise/scaffold.hpp>
#include <leat/supervise/session_run_hook.hpp>

#include <chrono>
#include <exception>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>

namespace leat {

/// How a new session gets its values.
struct session_preparation {
  graph_operation init_op{};
  feed_list init_feeds{};
  std::function<void(graph_session&)> init_fn{};
  output ready_op{};
  output ready_for_local_init_op{};
  graph_operation local_init_op{};
  /// Restores the newest checkpoint; false if there is none.
  std::function<bool(graph_session&)> restore{};
  /// Of a session with a target whose global variables all have values at the servers: whether they stay, and nothing is restored or
  /// initialized. Without it they do not.
  std::function<bool(graph_session&)> keep{};
  /// Where it is told what a session waits for; null is standard error.
  std::ostream* log = nullptr;
};

/// A session that is ready: what `restore` or else init_op and init_fn, and then local_init_op, gave values.
/// Errors: failed_precondition, naming the variables without a value.
std::unique_ptr<graph_session> prepare_session(graph& g, const session_options& options, const session_preparation& how);
/// The same for a process that does not initialize: looks whether the model is ready, at first often and then every `poll` seconds, and
/// says for which variables it waits. A task of the cluster may go away meanwhile, and come back.
/// Errors: deadline_exceeded after `max_wait`, naming the variables without a value.
std::unique_ptr<graph_session> wait_for_session(graph& g, const session_options& options, const session_preparation& how, seconds max_wait,
                                                seconds poll = seconds(1));

namespace detail {
/// "" if a model is ready, otherwise why not: "Variables not initialized: w, b".
std::string why_not_ready(graph_session& s, const output& ready_op);
/// Whether this is the exception of a run, or of making a session, that a new session may mend: a task has gone away, or was started anew.
bool is_loss_of_task(const std::exception_ptr& e);
/// A chief's `keep`: whether a graph's variables at the servers are those of the training whose checkpoints are in a folder, that is,
/// at the newest one's step or further. They are then newer than what could be restored.
bool goes_on_from_servers(watched_session& s, const std::string& folder);
/// Pauses between attempts: none at first, then longer each time, up to a second.
class growing_pause {
 public:
  void wait();

 private:
  std::chrono::milliseconds next_{0};
};
/// A node in protobuf's text form, or "None".
std::string node_text(const graph_operation& op);
}  // namespace detail

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/supervise/session_manager_bodies.hpp>
#endif
