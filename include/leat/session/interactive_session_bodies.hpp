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
