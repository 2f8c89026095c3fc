#pragma once
// Computes typed expressions without an explicit session: makes a session, initializes its variables, and runs it. For experiments; for
// steps that run repeatedly, make a session.
//
//   auto y = evaluate(softmax(x), x = xs);
//   auto [a, b] = evaluate(fetch(mean, largest), x = xs);

#include <leat/session/typed/session.hpp>

namespace leat {

LEAT_SESSIONS_BEGIN
/// The values of expressions, as a tuple. Errors: as `session::run`.
template <class... Es, feed_binding... Feeds>
  requires(tensor_expression<Es> && ...)
auto evaluate(const fetch_list<Es...>& fetches, const Feeds&... feeds) {
  return std::apply(
      [&](const Es&... es) {
        session s{es...};
        s.initialize();
        return s.run(fetches, feeds...);
      },
      fetches.targets);
}
/// The value of one expression: a number for a scalar, else an array. Errors: as `session::run`.
template <tensor_expression E, feed_binding... Feeds>
auto evaluate(const E& e, const Feeds&... feeds) {
  return std::get<0>(evaluate(fetch(e), feeds...));
}

LEAT_SESSIONS_END

}  // namespace leat
