#pragma once
// A typed session that plans its programs when it is made: what it is asked for is checked by the compiler as `session`'s is, and the
// passes run at the first use of a set of fetches, over the graph of its expressions. So the compiler's work is the checks,
// however deep the model; the interpreter (cpu/interpret.hpp) runs what was planned. Include <leat/planned.hpp>.

#include <leat/typed/basic_session.hpp>
#include <leat/typed/planned/planned_table.hpp>

namespace leat {

/// The CPU, for sessions that plan their programs when they are made.
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

/// As `session`, planned when it is made: `planned_session s{loss, train}; s.initialize(); auto [l] = s.run(fetch(loss, train), x = xs);`.
/// Errors: those of `session`; invalid_argument when it is made of an operator of the program's own that is not registered
/// (`register_operator`, `cpu::register_kernel`).
template <expression... Es>
class planned_session : public basic_session<planning_device, Es...> {
  using basic_session<planning_device, Es...>::basic_session;
  planned_session(const planned_session&) = delete;  // a session stays where it is made
  planned_session& operator=(const planned_session&) = delete;
};

/// What a planned session of expressions that cannot stand together is: the compiler prints why.
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
