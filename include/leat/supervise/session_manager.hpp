#pragma once
// Makes sessions in which all variables have values: restored from a checkpoint, initialized, or, if another process initializes them,
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

/// How the variables of a new session get their values.
struct session_preparation {
  graph_operation init_op{};                      // initializes all variables
  feed_list init_feeds{};                         // what it is fed
  std::function<void(graph_session&)> init_fn{};  // called after it
  output ready_op{};                              // the names of variables without a value; the session is ready if there are none
  output ready_for_local_init_op{};               // the same, before `local_init_op` runs
  graph_operation local_init_op{};                // initializes local variables and tables
  /// Restores the newest checkpoint; false if there is none.
  std::function<bool(graph_session&)> restore{};
  /// Called for a session with a target if the servers hold values of all global variables. Returns whether the values are kept, so that
  /// nothing is restored or initialized. If empty, they are not kept.
  std::function<bool(graph_session&)> keep{};
  /// Log of what a session waits for; null is standard error.
  std::ostream* log = nullptr;
};

/// Makes a session that is ready: keeps the servers' values if `keep` returns true; if not, calls `restore`, and if that returns false runs
/// init_op and init_fn. Then runs local_init_op.
/// Errors: failed_precondition, naming the variables without a value.
std::unique_ptr<graph_session> prepare_session(graph& g, const session_options& options, const session_preparation& how);
/// Makes a session in a process that does not initialize: checks whether the model is ready, first at short intervals and then every `poll`
/// seconds. With a target it logs the variables for which it waits, and a task of the cluster may go away in the meantime, and come back.
/// Errors: deadline_exceeded after `max_wait`, with a target naming the variables without a value.
std::unique_ptr<graph_session> wait_for_session(graph& g, const session_options& options, const session_preparation& how, seconds max_wait,
                                                seconds poll = seconds(1));

namespace detail {
/// "" if the model is ready; if not, the reason: "Variables not initialized: w, b".
std::string why_not_ready(graph_session& s, const output& ready_op);
/// Whether this exception of a run, or of making a session, means that a task has gone away or was restarted, so that a new session may
/// succeed.
bool is_loss_of_task(const std::exception_ptr& e);
/// `keep` of a chief: whether a graph's variables at the servers belong to the training with checkpoints in this folder, that is, are at
/// the newest checkpoint's step or later. They are then at least as new as what could be restored.
bool goes_on_from_servers(watched_session& s, const std::string& folder);
/// Pauses between attempts: none at first, then each longer than the last, up to a second.
class growing_pause {
 public:
  void wait();

 private:
  std::chrono::milliseconds next_{0};
};
/// A node in protobuf's text format, or "None".
std::string node_text(const graph_operation& op);
}  // namespace detail

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/supervise/impl/session_manager.hpp>
#endif
