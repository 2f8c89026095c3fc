#pragma once
// A typed session that plans its programs at run time. The compiler checks its arguments as it does for `session`; the passes run at the
// first use of a set of fetches, on the graph of its expressions. So compilation consists only of the checks, however deep the model; the
// interpreter (cpu/interpret.hpp) runs the planned programs. Include <leat/planned.hpp>.

#include <leat/session/typed/basic_session.hpp>
#include <leat/session/typed/planned/planned_table.hpp>

namespace leat {

/// The CPU, for sessions that plan their programs at run time.
struct planning_device : cpu::device {
  static constexpr bool plans_programs = true;
};

namespace detail {
template <>
struct choose_table<planning_device> {
  template <class... Es>
  using type = planned_table<Es...>;
  template <class Table, class... Fs>
  using program = interpreted_program<Table, Fs...>;
};
}  // namespace detail

/// Like `session`, with programs planned at run time: `planned_session s{loss, train}; s.initialize(); auto [l] = s.run(fetch(loss, train),
/// x = xs);`.
/// Errors: those of `session`; invalid_argument at construction for a user-defined operator that is not registered (`register_operator`,
/// `cpu::register_kernel`).
template <expression... Es>
class planned_session : public basic_session<planning_device, Es...> {
  using basic_session<planning_device, Es...>::basic_session;
  planned_session(const planned_session&) = delete;  // a session stays where it is made
  planned_session& operator=(const planned_session&) = delete;
};

/// The type of a planned session of expressions that contradict each other; its name makes the compiler print the reason.
template <detail::literal_text... Words>
class planned_session<detail::refused_session<Words...>> {
 public:
  planned_session(...) = delete;
};

template <expression... Es>
  requires(detail::session_check<detail::planned_table, Es...>::ok)
planned_session(const Es&...) -> planned_session<Es...>;
template <expression... Es>
  requires(!detail::session_check<detail::planned_table, Es...>::ok)
planned_session(const Es&...) -> planned_session<typename detail::session_check<detail::planned_table, Es...>::refusal::problem>;
planned_session(...) -> planned_session<
    detail::refused_session<LEAT_WORDS("planned_session s{a, b, ...} takes expressions: what is fetched and done in its runs")>>;

}  // namespace leat
