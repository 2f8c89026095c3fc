#pragma once
// Makes sessions whose variables have values: restored from a checkpoint, or initialized, or, where another process initializes them,
// waited for. Source: TensorFlow 1.x `SessionManager`.

#include <leat/core/function_bodies.hpp>
#include <leat/supervise/scaffold.hpp>

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
};

/// A session that is ready: what `restore` or else init_op and init_fn, and then local_init_op, gave values.
/// Errors: failed_precondition, naming the variables without a value.
std::unique_ptr<graph_session> prepare_session(graph& g, const session_options& options, const session_preparation& how);
/// The same for a process that does not initialize: looks every `poll` seconds whether the model is ready.
/// Errors: deadline_exceeded after `max_wait`.
std::unique_ptr<graph_session> wait_for_session(graph& g, const session_options& options, const session_preparation& how, seconds max_wait,
                                                seconds poll = seconds(1));

namespace detail {
/// "" if a model is ready, otherwise why not: "Variables not initialized: w, b".
std::string why_not_ready(graph_session& s, const output& ready_op);
/// A node in protobuf's text form, or "None".
std::string node_text(const graph_operation& op);
}  // namespace detail

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/supervise/session_manager_bodies.hpp>
#endif
