#pragma once
// What static sessions refuse, at compile time: sizes that only a run knows, and whatever would need the heap.

#include <leat/expr/fetch.hpp>
#include <leat/expr/scaled_initializers.hpp>
#include <leat/session/static/run_steps.hpp>
#include <leat/session/typed/refusals.hpp>

namespace leat::detail {

/// The expressions of a list of fetches, and its program.
template <class Step>
struct static_step;
template <class... Fs>
struct static_step<fetch_list<Fs...>> {
  using targets = fetch_targets<typename fetch_target<Fs>::type...>;
  using program = static_program<typename fetch_target<Fs>::type...>;
  static constexpr std::uint64_t hash = fetch_targets_hash<typename fetch_target<Fs>::type...>;
};
template <class... Targets>
struct static_table;
template <class... Fs>
struct static_table<fetch_targets<Fs...>> {
  using type = session_table<Fs...>;
  using numbers = carried_union<Fs...>;
};
template <class... As, class... Bs, class... More>
struct static_table<fetch_targets<As...>, fetch_targets<Bs...>, More...> : static_table<fetch_targets<As..., Bs...>, More...> {};
/// The variables and numbers of all steps of a static session.
template <class... Steps>
using static_table_of = typename static_table<typename static_step<Steps>::targets...>::type;
/// The numbers that their expressions carry.
template <class... Steps>
using static_numbers_of = typename static_table<typename static_step<Steps>::targets...>::numbers;

// The first node that keeps a graph from a static session, and why, or nothing.
constexpr message static_graph_problem(const graph& g) {
  message m;
  for (const node& n : g.nodes) {
    const bool is_named = n.op->kind == op_kind::placeholder || n.op->kind == op_kind::variable;
    const auto start = n.op->kind == op_kind::variable ? static_cast<initializer_kind>(g.attribute(n, 0)) : initializer_kind::zeros;
    for (int a = 0; a < n.result.extent.rank && m.size == 0; ++a)
      if (n.result.extent[a] < 0)
        m << n.op->type << " \"" << n.name << "\", " << describe(n.result, g).view()
          << ": a static session needs all sizes as numbers: placeholder<\"x\", float, 32, 10>()";
    if (m.size > 0) return m;
    if (n.op->kind == op_kind::number && n.result.extent.rank > 0)
      return m << "constant array " << describe(n.result, g).view()
               << ": its elements are on the heap; in a static session feed it, or write numbers, constant<0.5f, 4>()";
    if (is_named && start == initializer_kind::array)
      return m << "variable \"" << n.name << "\" starts from an array, which is on the heap; in a static session start it from zeros, and "
               << "assign the array";
    if (is_named && start == initializer_kind::orthogonal)
      return m << "variable \"" << n.name << "\" starts from orthogonal(), which needs the heap; in a static session start it from zeros, "
               << "and assign the matrix";
    if (const auto problem = matrix_problem(start, n.result.extent); is_named && !problem.empty())
      return m << "variable \"" << n.name << "\": " << problem;
    if (is_named && is_random(start) && !is_floating(n.result.type))
      return m << "variable \"" << n.name << "\" cannot start from random numbers: they are float32 or float64";
  }
  return m;
}

// The operator of the first step that a static session cannot run, or nothing.
template <class Program, int Step>
constexpr std::string_view refused_operator() {
  constexpr auto info = Program::view.step_at(Step);
  if constexpr (!info.is_cluster) {
    using op = operator_with<info.code>;
    if constexpr (!runs_statically<op>()) return op::type;
  }
  return {};
}
template <class Program>
constexpr std::string_view refused_operator_of() {
  return []<std::size_t... Step>(std::index_sequence<Step...>) {
    std::string_view found;
    static_cast<void>(((found = refused_operator<Program, static_cast<int>(Step)>(), !found.empty()) || ...));
    return found;
  }(std::make_index_sequence<static_cast<std::size_t>(Program::view.steps())>{});
}

template <class Step>
struct static_problem;
template <class... Fs>
struct static_problem<fetch_list<Fs...>> {
  static constexpr message graph_text = [] {
    graph g;
    (flatten<typename fetch_target<Fs>::type>(g), ...);
    return static_graph_problem(g);
  }();
  static constexpr message text() {
    message m;
    if constexpr (graph_text.size > 0) {
      return graph_text;
    } else {
      using program = program_table<typename fetch_target<Fs>::type...>;
      m << program::problem().view();
      if (const auto refused = refused_operator_of<program>(); m.size == 0 && !refused.empty())
        m << "operator \"" << refused << "\" has no kernel for static sessions: it would need the heap, files or streams";
      return m;
    }
  }
};

/// Whether steps fit a static session, and if not, why.
template <class... Steps>
struct static_check {
  static constexpr message found = [] {
    message m = static_table_of<Steps...>::problem();
    ((m.size == 0 ? void(m = static_problem<Steps>::text()) : void()), ...);
    return m;
  }();
  static constexpr bool ok = found.size == 0;
  struct words {
    static constexpr message text() { return found; }
  };
  using problem = refused_session<problem_text<words>()>;
};

// The number of elements of an array's type, or -1 if only a run knows it.
template <class A>
constexpr std::int64_t fixed_size() {
  if constexpr (std::is_arithmetic_v<A>) return 1;
  else if constexpr (requires { std::tuple_size<A>::value; }) return static_cast<std::int64_t>(std::tuple_size<A>::value);
  else if constexpr (requires { requires A::extent != static_cast<std::size_t>(-1); }) return static_cast<std::int64_t>(A::extent);
  else return -1;
}
// Whether an array can hold the elements of `E`, as far as its type says.
template <class E, class Array>
constexpr message static_array_problem(std::string_view what) {
  message m;
  if constexpr (shaped_array<Array>)
    m << what << "a static session takes numbers, std::array and std::span, row-major; of an xtensor give std::span(a.data(), a.size())";
  else if constexpr (fixed_size<Array>() >= 0 && fixed_size<Array>() != E::extent.elements())
    m << what << "the array has " << static_cast<long long>(fixed_size<Array>()) << " elements, the expression "
      << static_cast<long long>(E::extent.elements());
  return m;
}
template <class T>
constexpr message static_argument_problem(std::string_view what) {
  if constexpr (requires { typename T::leaf; }) return static_array_problem<typename T::leaf, typename T::array_type>(what);
  else if constexpr (requires { T::target::rank; })
    return static_array_problem<typename T::target, std::remove_pointer_t<decltype(T::array)>>(what);
  else if constexpr (tensor_expression<T>)
    return message{} << what << "a static session returns no values: into(loss, number), or into(y, array); of what only has an effect "
                    << "fetch group(update)";
  else return message{};
}
template <class V, class Array>
struct static_array_check {
  static constexpr message text() { return static_array_problem<V, Array>("assign: "); }
  static constexpr bool ok = text().size == 0;
  using problem = error_in_expression<problem_text<static_array_check>(), operand_text<V>()>;
};

/// The steps of a session, as a type without content.
template <class... Steps>
struct static_steps {
  using table = static_table_of<Steps...>;
  static constexpr std::uint64_t hash = [] {
    std::uint64_t h = mix(903, sizeof...(Steps));
    ((h = mix(h, static_step<Steps>::hash)), ...);
    return h;
  }();
  static constexpr bool has(std::uint64_t step) { return ((static_step<Steps>::hash == step) || ...); }
};

template <class Steps, class Fetches, class... Feeds>
struct static_run_check;
template <class Steps, class... Fs, class... Feeds>
struct static_run_check<Steps, fetch_list<Fs...>, Feeds...> {
  using of_any_session =
      run_check<typename Steps::table, fetch_targets<typename fetch_target<Fs>::type...>, typename Feeds::leaf::identity...>;
  static constexpr message found = [] {
    message m;
    int k = 0;
    const auto look = [&](const message& problem) {
      if (m.size == 0) m = problem;
    };
    (look(static_argument_problem<Fs>((message{} << "fetch " << static_cast<long long>(++k) << ": ").view())), ...);
    const auto feed = [](std::string_view name) { return message{} << "feed of \"" << name << "\": "; };
    static_cast<void>(feed);
    (look(static_argument_problem<Feeds>(feed(structure_with<typename Feeds::leaf::identity>::name).view())), ...);
    return m;
  }();
  static constexpr bool is_step = Steps::has(static_step<fetch_list<Fs...>>::hash);
  static constexpr bool ok = of_any_session::ok && is_step && found.size == 0;
  static constexpr bool only_this_refuses = of_any_session::ok && is_step && found.size > 0;
  struct words {
    static constexpr message text() { return found; }
  };
};
template <class Steps, class Fetches, class... Feeds>
struct static_run_refusal {
  using problem = error_in_expression<problem_text<typename static_run_check<Steps, Fetches, Feeds...>::words>()>;
};

struct no_static_step {
  static constexpr message text() {
    return message{} << "these fetches are no step of the static session: give fetch(a, b) to its constructor, too, because it is "
                     << "planned there";
  }
};

// Calls that only static sessions refuse. `Id` stands for the steps, so that the compiler's output does not grow with the session.
template <class Id>
struct static_refused_calls {
  template <class FetchId, class... LeafIds>
    requires(run_check<typename structure_with<Id>::table, structure_with<FetchId>, LeafIds...>::ok &&
             !structure_with<Id>::has(FetchId::hash))
  error_in_expression<problem_text<no_static_step>()> run(const fetched<FetchId>&, const fed<LeafIds>&...) = delete;
  template <class... Fs, feed_binding... Feeds>
    requires(static_run_check<structure_with<Id>, fetch_list<Fs...>, Feeds...>::only_this_refuses)
  typename static_run_refusal<structure_with<Id>, fetch_list<Fs...>, Feeds...>::problem run(const fetch_list<Fs...>&,
                                                                                           const Feeds&...) = delete;
  template <tensor_expression V, class Array>
    requires(structure_with<Id>::table::view.find_variable(V::identity::hash) >= 0 && value_check<V, Array>::ok &&
             !static_array_check<V, Array>::ok)
  typename static_array_check<V, Array>::problem assign(const V&, const Array&) = delete;
};
template <class... Steps>
using static_refused_calls_of =
    static_refused_calls<typename short_name<id<static_steps<Steps...>::hash>, static_steps<Steps...>>::type>;

}  // namespace leat::detail
