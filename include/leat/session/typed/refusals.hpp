#pragma once
// Compile-time refusals of a session and their messages: expressions that contradict each other, runs with fetches and feeds that do not
// fit, and calls with a variable of another session.

#include <leat/expr/feed.hpp>
#include <leat/expr/fetch.hpp>
#include <leat/session/typed/table.hpp>

#include <ranges>

namespace leat::detail {

// Whether an array or number can be assigned to a variable.
template <class V, class Array>
struct value_check {
  static constexpr message text() {
    message m;
    if constexpr (!std::is_arithmetic_v<Array>)
      m = array_problem<V, Array>("assign: ", "the variable");
    else if constexpr (V::rank != 0)
      m << "assign: a number for a variable that is not a scalar";
    else if constexpr (std::is_floating_point_v<Array> && !is_floating(V::type))
      m << "assign: a fraction for a variable of integers";
    return m;
  }
  static constexpr bool ok = text().size == 0;
  using problem = error_in_expression<problem_text<value_check>(), operand_text<V>()>;
};

// Whether a prepared run may keep a feed. Named objects are kept by reference; unnamed numbers and views are copied, and views are read
// where they point to. A temporary array owns its elements, so the caller could not change them between runs.
template <class A>
inline constexpr bool is_view = std::ranges::enable_view<A>;
template <class A>
  requires requires { typename A::temporary_type; }  // xtensor's name of the type of an array that could hold a view's elements
inline constexpr bool is_view<A> = !std::is_same_v<typename A::temporary_type, A>;
template <class Feed>
struct kept_check {
  using array = typename Feed::array_type;
  static constexpr bool ok = !Feed::is_owned || std::is_arithmetic_v<array> || is_view<array>;
  static constexpr message text() {
    return message{} << "prepare: the feed of \"" << structure_with<typename Feed::leaf::identity>::name
                     << "\" is an array without a name, which nobody could fill anew: give it a name, and feed that";
  }
  using problem = error_in_expression<problem_text<kept_check>(), operand_text<typename Feed::leaf>()>;
};
// The refusal of the first wrong feed.
template <class... Feeds>
struct kept_refusal {};
template <class Feed, class... Feeds>
struct kept_refusal<Feed, Feeds...> : std::conditional_t<kept_check<Feed>::ok, kept_refusal<Feeds...>, kept_check<Feed>> {};

struct not_in_session {
  static constexpr message text() { return message{} << "the session has no such variable"; }
};

// Whether a feed of one of these placeholders determines the size of a named dimension.
template <class... LeafIds>
constexpr bool says_size([[maybe_unused]] std::int64_t dimension) {
  [[maybe_unused]] const auto is_of = [&]<class LeafId>(const LeafId*) {
    if constexpr (requires { structure_with<LeafId>::extent; }) {
      constexpr shape extent = structure_with<LeafId>::extent;
      for (int a = 0; a < extent.rank; ++a)
        if (extent[a] == dimension) return true;
    }
    return false;
  };
  return (false || ... || is_of(static_cast<const LeafIds*>(nullptr)));
}

// Errors of a program, and of its feeds.
template <class Table, class Fetches, class... LeafIds>
struct program_check;
template <class... Es, class... Fs, class... LeafIds>
struct program_check<session_table<Es...>, fetch_targets<Fs...>, LeafIds...> {
  using program = program_table<Fs...>;
  static constexpr message text() {
    message m;
    m << program::problem().view();
    if (m.size > 0) return m;
    std::uint64_t missing = 0;
    for (int b = 0; b < program::view.buffers(); ++b) {
      const auto info = program::view.buffer_at(b);
      if (info.where == storage::feed && missing == 0 && !(false || ... || (LeafIds::hash == info.id))) missing = info.id;
    }
    std::int64_t unknown = 0;
    for (int k = 0; k < program::view.names(); ++k)
      if (!says_size<LeafIds...>(program::view.name(k))) unknown = program::view.name(k);
    if (missing == 0 && unknown == 0) return m;
    graph g;  // needed only for the message
    (flatten<Fs>(g), ...);
    for (const node& n : g.nodes)
      if (n.id == missing && n.op->kind == op_kind::placeholder && m.size == 0)
        m << "placeholder \"" << n.name << "\" is not fed: " << describe(n.result, g).view() << " is needed";
    if (m.size > 0) return m;
    if (const std::string_view name = g.text_of(unknown); name != "?") m << "dimension \"" << name << "\"";
    else m << "a named dimension";  // made by a pass, without a name
    return m << " has no size: no placeholder that has it is fed";
  }
};

// All errors of a run that are found at compile time.
template <class Table, class Fetches, class... LeafIds>
struct run_check;
template <class Table, class... Fs, class... LeafIds>
struct run_check<Table, fetch_targets<Fs...>, LeafIds...> {
  using table = Table;
  static constexpr message text() {
    message m;
    int k = 0;
    auto fetched = [&](std::uint64_t id) {
      ++k;
      if (m.size == 0 && !table::view.has(id))
        m << "fetch " << k << " is not part of the session: give it to the session's constructor";
    };
    (fetched(Fs::identity::hash), ...);
    if (m.size > 0) return m;
    [[maybe_unused]] auto known = [&]<class LeafId>(const LeafId*) {
      if (m.size == 0 && !table::view.has(LeafId::hash))
        m << "feed of \"" << structure_with<LeafId>::name << "\": the session has no such placeholder or parameter";
    };
    (known(static_cast<const LeafIds*>(nullptr)), ...);
    if (m.size > 0) return m;
    const std::uint64_t fed[]{LeafIds::hash..., 0};  // nvcc does not expand the pack within the function below
    [[maybe_unused]] auto once = [&]<class LeafId>(const LeafId*) {
      int times = 0;
      for (const std::uint64_t id : fed) times += id == LeafId::hash ? 1 : 0;
      if (m.size == 0 && times > 1)
        m << "\"" << structure_with<LeafId>::name << "\" is fed twice in one run";
    };
    (once(static_cast<const LeafIds*>(nullptr)), ...);
    if (m.size > 0) return m;
    return program_check<Table, fetch_targets<Fs...>, LeafIds...>::text();
  }
  static constexpr message found = text();
  static constexpr bool ok = found.size == 0;
  struct words {
    static constexpr message text() { return found; }
  };
  struct refusal {
    using problem = error_in_expression<problem_text<words>()>;
  };
};

// Refused calls are declared with short type names, so that the compiler's output does not grow with the session.
template <class SessionId, class FetchId, class... LeafIds>
using why_run = typename run_check<structure_with<SessionId>, structure_with<FetchId>, LeafIds...>::refusal::problem;
template <class SessionId, class V>
inline constexpr bool session_has_variable = structure_with<SessionId>::view.find_variable(V::identity::hash) >= 0;
template <class SessionId, class P>
inline constexpr bool session_has_number = P::rank == 0 && structure_with<SessionId>::view.find_number(P::identity::hash) >= 0;
// Empty for arguments that are not expressions, because clang computes a function's result type before its constraints.
template <class... Vs>
struct variable_refusal {};
template <tensor_expression... Vs>
struct variable_refusal<Vs...> {
  using problem = error_in_expression<problem_text<not_in_session>(), operand_text<Vs>()...>;
};
template <class V, class Array>
struct value_refusal {};
template <tensor_expression V, class Array>
struct value_refusal<V, Array> : value_check<V, Array> {};
template <class SessionId>
struct refused_calls {
  template <class FetchId, class... LeafIds>
    requires(!run_check<structure_with<SessionId>, structure_with<FetchId>, LeafIds...>::ok)
  why_run<SessionId, FetchId, LeafIds...> run(const fetched<FetchId>&, const fed<LeafIds>&...) = delete;
  template <class FetchId, class... LeafIds>
    requires(!run_check<structure_with<SessionId>, structure_with<FetchId>, LeafIds...>::ok)
  why_run<SessionId, FetchId, LeafIds...> prepare(const fetched<FetchId>&, const fed<LeafIds>&...) = delete;
  template <class FetchId, feed_binding... Feeds>
    requires(run_check<structure_with<SessionId>, structure_with<FetchId>, typename Feeds::leaf::identity...>::ok &&
             !(kept_check<Feeds>::ok && ...))
  typename kept_refusal<Feeds...>::problem prepare(const fetched<FetchId>&, const Feeds&...) = delete;
  template <tensor_expression V>
    requires(!session_has_variable<SessionId, V>)
  typename variable_refusal<V>::problem value(const V&) const = delete;
  template <tensor_expression V>
    requires(!session_has_variable<SessionId, V>)
  typename variable_refusal<V>::problem is_initialized(const V&) const = delete;
  template <tensor_expression... Vs>
    requires(sizeof...(Vs) > 0 && !(session_has_variable<SessionId, Vs> && ...))
  typename variable_refusal<Vs...>::problem initialize(const Vs&...) = delete;
  template <tensor_expression V, class Array>
    requires(!session_has_variable<SessionId, V> && !session_has_number<SessionId, V>)
  typename variable_refusal<V>::problem assign(const V&, const Array&) = delete;
  template <tensor_expression V, class Array>
    requires(session_has_variable<SessionId, V> && !value_check<V, Array>::ok)
  typename value_refusal<V, Array>::problem assign(const V&, const Array&) = delete;

  LEAT_OTHERWISE("run(fetch(a, b), x = array, ...) takes what to fetch, then feeds") run(...) LEAT_DELETED;
  LEAT_OTHERWISE("prepare(fetch(a, b), x = array, ...) takes what to fetch, then feeds") prepare(...) LEAT_DELETED;
  LEAT_OTHERWISE("run_traced(trace, fetch(a, b), x = array, ...) takes a trace, what to fetch, then feeds") run_traced(...) LEAT_DELETED;
  LEAT_OTHERWISE("value(w) takes the variable itself, not its name") value(...) const LEAT_DELETED;
  LEAT_OTHERWISE("is_initialized(w) takes the variable itself, not its name") is_initialized(...) const LEAT_DELETED;
  LEAT_OTHERWISE("initialize() starts all variables, initialize(w, b) these: the variables themselves, not their names")
  initialize(anything, ...) LEAT_DELETED;
  LEAT_OTHERWISE("assign(w, array) takes the variable itself, then an array, vector or number that has a name") assign(...) LEAT_DELETED;
  LEAT_OTHERWISE("planned(fetch(a, b)) takes what was fetched") planned(...) LEAT_DELETED;
  LEAT_OTHERWISE("arena_bytes(fetch(a, b)) takes what was fetched") arena_bytes(...) LEAT_DELETED;
};
template <class Table>
struct refused_calls_by;
template <class... Es>
struct refused_calls_by<session_table<Es...>> {
  using type = refused_calls<typename short_name<id<expressions_hash<902, Es...>>, session_table<Es...>>::type>;
};
template <class Table>
using refused_calls_of = typename refused_calls_by<Table>::type;

template <literal_text... Words>
struct refused_session {};
template <literal_text... Words>
inline constexpr bool is_operation<refused_session<Words...>> = true;
template <template <class...> class Table, class... Es>
struct session_check {
  static constexpr bool ok = false;
  struct refusal {
    using problem = refused_session<>;
  };
};
template <template <class...> class Table, expression... Es>
struct session_check<Table, Es...> {
  static constexpr bool ok = Table<Es...>::problem().size == 0;
  struct words {
    static constexpr message text() { return Table<Es...>::problem(); }
  };
  struct refusal {
    using problem = refused_session<problem_text<words>()>;
  };
};

}  // namespace leat::detail
