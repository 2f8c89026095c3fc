#pragma once
// Sessions of typed expressions on the CPU: compiled whole by the C++ compiler or, in sources that define LEAT_PLANNED_SESSIONS, planned at
// run time (planned_session.hpp).

#ifdef LEAT_PLANNED_SESSIONS
#include <leat/session/typed/planned_session.hpp>
// A separate namespace distinguishes these types from those of sources that were compiled without the macro.
#define LEAT_SESSIONS_BEGIN inline namespace planned_sessions {
#define LEAT_SESSIONS_END }
#else
#include <leat/session/typed/basic_session.hpp>
#define LEAT_SESSIONS_BEGIN
#define LEAT_SESSIONS_END
#endif

namespace leat {

LEAT_SESSIONS_BEGIN
#ifdef LEAT_PLANNED_SESSIONS
using session_device = planning_device;
#else
using session_device = cpu::device;
#endif
template <class... Es>
using check_of_session = detail::session_check<detail::choose_table<session_device>::type, Es...>;

/// Runs expressions: `session s{loss, prediction, train}; s.initialize(); auto [l] = s.run(fetch(loss, train), x = xs);`.
/// It has the variables of the expressions that it is constructed from. Each distinct set of fetches is compiled once, by the C++ compiler.
/// Different sessions may run in different threads at once; one session runs in one thread at a time and throws failed_precondition when it
/// is entered twice.
template <expression... Es>
class session : public basic_session<session_device, Es...> {
  using basic_session<session_device, Es...>::basic_session;
  session(const session&) = delete;  // a session stays where it is made: pass a reference, or hold a std::unique_ptr to it
  session& operator=(const session&) = delete;  // a session stays what it is: its variables are set by assign(w, array)
};

/// The type of a session of expressions that contradict each other; its name makes the compiler print the reason.
template <detail::literal_text... Words>
class session<detail::refused_session<Words...>> {
 public:
  session(...) = delete;
};

template <expression... Es>
  requires(check_of_session<Es...>::ok)
session(const Es&...) -> session<Es...>;
template <expression... Es>
  requires(!check_of_session<Es...>::ok)
session(const Es&...) -> session<typename check_of_session<Es...>::refusal::problem>;
template <class G, class... More>
  requires(std::is_same_v<G, graph> || std::is_same_v<G, output>)
session(const G&, const More&...) -> session<
    detail::refused_session<LEAT_WORDS("a graph built at run time is run by graph_session s(g) of <leat/session/graph_session.hpp>; "
                                       "session s{a, b, ...} takes typed expressions")>>;
session(...)
    -> session<detail::refused_session<LEAT_WORDS("session s{a, b, ...} takes expressions: what is fetched and done in its runs; "
                                                  "a graph built at run time is run by graph_session")>>;

LEAT_SESSIONS_END

/// A session on another device: `auto s = session_on<thrust_omp>(loss, train);`.
template <class Device, expression... Es>
  requires requires { Device::shares_memory; }
basic_session<Device, Es...> session_on(const Es&... expressions) {
  return basic_session<Device, Es...>(expressions...);
}
LEAT_OTHERWISE_OF(session_on, "<device>(a, b, ...) takes a device, such as cpu::device or thrust_omp, and expressions");

}  // namespace leat
