#pragma once
// Implicit sessions: each thread has a stack of default sessions, and `eval` and `run` use the top one. An `interactive_session` is the
// default session during its lifetime.
//
//   interactive_session s;
//   run(global_variables_initializer());
//   const float now = eval(loss, {{x, data}});
//
// Source: TensorFlow `InteractiveSession`, `Session.as_default`, `Tensor.eval`, `Operation.run`.

#include <leat/core/function_bodies.hpp>
#include <leat/session/graph_session.hpp>

namespace leat {

namespace detail {
std::vector<graph_session*>& default_sessions();
}  // namespace detail

/// The innermost default session of this thread, or null.
graph_session* default_session();

/// Makes a session this thread's default session during the lifetime of the object.
class default_session_scope {
 public:
  explicit default_session_scope(graph_session& s);
  default_session_scope(const default_session_scope&) = delete;
  default_session_scope& operator=(const default_session_scope&) = delete;
  ~default_session_scope();

 private:
  graph_session* session_;
};

/// Makes `s` the default session during the lifetime of the result: `const auto here = as_default(s);`
inline default_session_scope as_default(graph_session& s) { return default_session_scope(s); }

/// A session that is the default session during its lifetime. If a graph is given, that graph is the default graph for as long.
class interactive_session : public graph_session {
 public:
  explicit interactive_session(session_options options = {}) : graph_session(options), scope_(*this) {}
  explicit interactive_session(graph& g, session_options options = {})
      : graph_session(g, options), graph_scope_(std::in_place, g), scope_(*this) {
    g.named();
  }

 private:
  std::optional<default_graph_scope> graph_scope_;
  default_session_scope scope_;
};

namespace detail {
graph_session& session_for(const graph& owner, graph_session* given, const char* what, const char* call);
}  // namespace detail

/// The value of a tensor in the given session, or in the default session.
/// Errors: invalid_argument if there is no session or it belongs to another graph; those of `graph_session::run`.
tensor_value eval(const output& tensor, const feed_list& feeds = {}, graph_session* session = nullptr);
inline tensor_value eval(const output& tensor, const feed_list& feeds, graph_session& session) { return eval(tensor, feeds, &session); }
tensor_value eval(const output& tensor, graph_session& session);
/// Like `eval`, with the value converted to a number or array: `eval<float>(loss)`.
template <class T>
T eval(const output& tensor, const feed_list& feeds = {}, graph_session* session = nullptr) {
  return eval(tensor, feeds, session).template as<T>();
}

/// Runs an operation in the given session, or in the default session. Errors: as `eval`.
void run(const graph_operation& operation, const feed_list& feeds = {}, graph_session* session = nullptr);
inline void run(const graph_operation& operation, const feed_list& feeds, graph_session& session) { run(operation, feeds, &session); }
inline void run(const graph_operation& operation, graph_session& session) { run(operation, {}, &session); }

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/session/impl/interactive_session.hpp>
#endif
