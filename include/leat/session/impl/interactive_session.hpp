#pragma once
// Implementation of interactive_session.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/session/interactive_session.hpp>

namespace leat {

LEAT_FUNCTION default_session_scope::~default_session_scope() {
  auto& stack = detail::default_sessions();  // not always the innermost: interactive sessions may end in any order
  const auto at = std::find(stack.rbegin(), stack.rend(), session_);
  if (at != stack.rend()) stack.erase(std::next(at).base());
}

}  // namespace leat

namespace leat::detail {

LEAT_FUNCTION graph_session& session_for(const graph& owner, graph_session* given, const char* what, const char* call) {
  graph_session* const s = given != nullptr ? given : default_session();
  if (s == nullptr)
    throw invalid_argument(
        std::string("Cannot ") + what + " using `" + call +
        "()`: No default session is registered. Make one with `as_default(session)` or an `interactive_session`, or pass a session to `" +
        call + "`");
  if (&s->owner() != &owner)
    throw invalid_argument(std::string("Cannot use the ") + (given != nullptr ? "given" : "default") + " session to " + what +
                           ": its graph is different from the session's graph. Pass a session of that graph to `" + call + "`");
  return *s;
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION graph_session* default_session() {
  const auto& stack = detail::default_sessions();
  return stack.empty() ? nullptr : stack.back();
}

LEAT_FUNCTION tensor_value eval(const output& tensor, const feed_list& feeds, graph_session* session) {
  if (!static_cast<bool>(tensor)) throw invalid_argument("eval of what is no node of a graph");
  return detail::session_for(tensor.owner(), session, "evaluate tensor", "eval").run(tensor, feeds);
}

LEAT_FUNCTION void run(const graph_operation& operation, const feed_list& feeds, graph_session* session) {
  if (!operation) throw invalid_argument("run of what is no node of a graph");
  detail::session_for(operation.owner(), session, "execute operation", "run").run(operation, feeds);
}

}  // namespace leat

namespace leat::detail {

LEAT_FUNCTION std::vector<graph_session*>& default_sessions() {
  thread_local std::vector<graph_session*> stack;
  return stack;
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION default_session_scope::default_session_scope(graph_session& s) : session_(&s) { detail::default_sessions().push_back(&s); }

LEAT_FUNCTION tensor_value eval(const output& tensor, graph_session& session) { return eval(tensor, {}, &session); }

}  // namespace leat
