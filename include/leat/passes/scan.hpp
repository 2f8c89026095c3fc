#pragma once
// Loops as typed expressions: `scan(f, state, xs)` and `fold(f, state, xs)`. `f` is called once, by the compiler, with tensors of one step;
// the expressions that it gives are the body of the loop (loop_body.hpp), which is compiled once, whatever the number of steps. Expressions
// that f captures are computed once, before the loop. Source: JAX's scan; Bradbury et al. 2018.

#include <leat/expr/leaf.hpp>
#include <leat/expr/tensor_list.hpp>
#include <leat/ops/comparison.hpp>
#include <leat/passes/batching.hpp>
#include <leat/passes/loops.hpp>

#include <array>
#include <tuple>
#include <type_traits>
#include <utility>

namespace leat {

namespace detail {

// What a step is given: a state, or its entry of a sequence.
template <std::uint64_t Hash, class T, class Dims>
struct step_leaf : no_numbers {
  static constexpr std::uint64_t hash = Hash;
  template <class E>
  static constexpr int enter(graph& g) {
    dimension_names<Dims>::enter(g);
    return g.add_leaf(info_of<model_op>, {dtype_of<T>, Dims::value}, {}, Hash);
  }
};
template <class F, int Role, std::size_t I, class X, class Dims>
using step_tensor = leaf_tensor<step_leaf<mix(mix(mix(site_hash<F>, X::identity::hash), 2 * I + Role), 501), typename X::element, Dims>,
                                typename X::element, Dims>;
template <class Dims>
struct dims_of_entry {
  template <std::size_t... I>
  static auto pack(std::index_sequence<I...>) -> dims<Dims::value[static_cast<int>(I) + 1]...>;
  using type = decltype(pack(std::make_index_sequence<static_cast<std::size_t>(Dims::rank > 0 ? Dims::rank - 1 : 0)>{}));
};
template <class Dims, std::int64_t Length>
struct dims_of_sequence {
  template <std::size_t... I>
  static auto pack(std::index_sequence<I...>) -> dims<Length, Dims::value[static_cast<int>(I)]...>;
  using type = decltype(pack(std::make_index_sequence<static_cast<std::size_t>(Dims::rank)>{}));
};

// The numbers of steps, [time].
template <class T, std::int64_t Length>
struct step_numbers_leaf : no_numbers {
  static constexpr std::uint64_t hash = mix(mix(static_cast<std::uint64_t>(dtype_of<T>), static_cast<std::uint64_t>(Length)), 506);
  template <class E>
  static constexpr int enter(graph& g) {
    dimension_names<dims<Length>>::enter(g);
    return index_along(g, dtype_of<T>, dims<Length>::value, 0).index();
  }
};
template <class T, std::int64_t Length>
constexpr auto index_of_steps() {
  return leaf_tensor<step_numbers_leaf<T, Length>, T, dims<Length>>{};
}

/// The arguments of a step: `states` and `xs` as tuples, and as f takes them (a tensor for a tensor, a tuple for a tuple).
template <class F, class State, class Xs>
struct step_arguments;
template <class F, class State, class... Xs>
struct step_arguments<F, State, std::tuple<Xs...>> {
  template <class... Ss, std::size_t... I>
  static auto states_of(std::tuple<Ss...>*, std::index_sequence<I...>) -> std::tuple<step_tensor<F, 0, I, Ss, typename Ss::extents>...>;
  template <std::size_t... I>
  static auto xs_of(std::index_sequence<I...>)
      -> std::tuple<step_tensor<F, 1, I, Xs, typename dims_of_entry<typename Xs::extents>::type>...>;
  using initial = tensors_of<State>;
  using states = decltype(states_of(static_cast<initial*>(nullptr), std::make_index_sequence<std::tuple_size_v<initial>>{}));
  using xs = decltype(xs_of(std::index_sequence_for<Xs...>{}));
};
template <class Like, class Tuple>
constexpr decltype(auto) as_given(const Tuple& t) {
  if constexpr (tensor_list<Like>::single) return std::get<0>(t);
  else return (t);
}
struct no_sequences {};
template <class T>
struct sequences_of {
  using type = tensors_of<T>;
};
template <>
struct sequences_of<no_sequences> {
  using type = std::tuple<>;
};

enum class loop_kind { scan, fold };
struct scan_settings {
  loop_kind kind;
  bool is_reversed = false;
  std::int64_t length = -1;  // without sequences
};
constexpr std::string_view word_of(loop_kind kind) { return kind == loop_kind::scan ? "scan" : "fold"; }

// Calls f with what a step is given.
template <class F, class State, class Xs>
struct step_call {
  using arguments = step_arguments<F, State, typename sequences_of<Xs>::type>;
  static constexpr typename arguments::states states{};
  static constexpr typename arguments::xs xs{};
  static constexpr auto run(const F& f) {
    if constexpr (std::is_same_v<Xs, no_sequences>) return f(as_given<State>(states));
    else return f(as_given<State>(states), as_given<Xs>(xs));
  }
};
template <class F, class State, class Xs>
concept takes_step = requires(const F& f) { step_call<F, State, Xs>::run(f); };
template <class F, class State, class Xs>
using step_result = decltype(step_call<F, State, Xs>::run(std::declval<const F&>()));

// What f gives, as the next states and the entries of sequences.
template <loop_kind Kind, class R>
struct step_results {
  static constexpr bool ok = tensors<R>;
  using next = R;
  using outs = std::tuple<>;
  using given = no_sequences;
};
template <class R>
struct step_results<loop_kind::scan, R> {
  static constexpr bool ok = false;
};
template <tensors Next, tensors Outs>
struct step_results<loop_kind::scan, std::tuple<Next, Outs>> {
  static constexpr bool ok = true;
  using next = Next;
  using outs = tensors_of<Outs>;
  using given = Outs;
};
template <tensors Next, tensors Outs>
struct step_results<loop_kind::scan, std::pair<Next, Outs>> : step_results<loop_kind::scan, std::tuple<Next, Outs>> {};

// A traced step. `States`, `Xs`: what it is given; `Next`, `Outs`: its results.
template <std::uint64_t Hash, class States, class Xs, class Operands, class Next, class Outs, class Go = std::tuple<>>
struct traced_body;
template <std::uint64_t Hash, class... States, class... Xs, class... Operands, class... Next, class... Outs, class... Go>
struct traced_body<Hash, std::tuple<States...>, std::tuple<Xs...>, std::tuple<Operands...>, std::tuple<Next...>, std::tuple<Outs...>,
                   std::tuple<Go...>> {
  static constexpr std::uint64_t hash = Hash;
  static constexpr passes::traced_step trace() {
    passes::traced_step t;
    (t.states.push_back(flatten<States>(t.one)), ...);
    (t.xs.push_back(flatten<Xs>(t.one)), ...);
    (t.operands.push_back(flatten<Operands>(t.one)), ...);
    (t.next.push_back(flatten<Next>(t.one)), ...);
    (t.outs.push_back(flatten<Outs>(t.one)), ...);
    ((t.go = flatten<Go>(t.one)), ...);
    return t;
  }
  static constexpr passes::loop_body make() { return trace().body(); }
};

// The problem of the states of a step.
template <class States, class Next>
struct same_states;
template <class... States, class... Next>
struct same_states<std::tuple<States...>, std::tuple<Next...>> {
  static constexpr message text(std::string_view word) {
    message m;
    if (sizeof...(Next) != sizeof...(States))
      return m << word << ": " << static_cast<long long>(sizeof...(States)) << " states, but a step gives "
               << static_cast<long long>(sizeof...(Next)) << " next ones";
    graph g;
    (dimension_names<typename States::extents>::enter(g), ...);
    (dimension_names<typename Next::extents>::enter(g), ...);
    const tensor_info before[]{{States::type, States::extents::value}...}, next[]{{Next::type, Next::extents::value}...};
    for (std::size_t k = 0; k < sizeof...(States); ++k)
      if (!(before[k].type == next[k].type && before[k].extent == next[k].extent)) {
        m << word << ": state ";
        if (sizeof...(States) > 1) m << static_cast<long long>(k + 1) << " ";
        return m << "is " << describe(before[k], g).view() << ", and " << describe(next[k], g).view() << " after a step";
      }
    return m;
  }
};

// One loop: its operands and results, and how they enter a graph.
template <scan_settings Settings, class States, class Xs, class GivenStates, class GivenXs, class Next, class Outs>
struct scan_loop;
template <scan_settings Settings, class... States, class... Xs, class GivenStates, class GivenXs, class... Next, class... Outs>
struct scan_loop<Settings, std::tuple<States...>, std::tuple<Xs...>, GivenStates, GivenXs, std::tuple<Next...>, std::tuple<Outs...>> {
  static constexpr std::uint64_t base = mix(mix(expressions_hash<502, States..., Xs..., Next..., Outs...>, Settings.is_reversed ? 1 : 0),
                                            static_cast<std::uint64_t>(Settings.length));
  using body = traced_body<expressions_hash<503, States..., Xs..., Next..., Outs...>, GivenStates, GivenXs, std::tuple<>,
                           std::tuple<Next...>, std::tuple<Outs...>>;
  static constexpr std::int64_t length = [] {
    std::int64_t found = Settings.length;
    if constexpr (sizeof...(Xs) > 0) found = std::tuple_element_t<0, std::tuple<Xs..., int>>::extent[0];
    return found;
  }();

  static constexpr message problem() {
    message m;
    const std::string_view word = word_of(Settings.kind);
    m = same_states<std::tuple<States...>, std::tuple<Next...>>::text(word);
    if (m.size > 0) return m;
    if (((Outs::rank == max_rank) || ...)) return m << word << ": a result of more than 7 dimensions in each step";
    return body::trace().problem(word);
  }
  struct words {
    static constexpr message text() { return problem(); }
  };

  static constexpr std::size_t results = sizeof...(States) + sizeof...(Outs);
  template <std::size_t I>
  static constexpr std::uint64_t result_hash = mix(base, I + 1);
  template <std::size_t I>
  struct structure : numbers_of<States..., Xs..., Next..., Outs...> {
    template <class E>
    static constexpr int enter(graph& g) {
      passes::loop_operands from;
      (from.states.push_back(flatten<States>(g)), ...);
      (from.xs.push_back(flatten<Xs>(g)), ...);
      const passes::traced_step step = body::trace();
      passes::batcher outside(step.one, g, 1);
      for (const int i : step.invariants()) from.invariants.push_back(outside.shared(i).index());
      list<std::int64_t> attributes{length, 0};
      passes::loop_body b = step.body();
      if (Settings.is_reversed) {
        attributes.push_back(static_cast<std::int64_t>(passes::loop_change::reversed));
        b.is_reversed = true;
      }
      const list<int> made = passes::enter_loop(g, info_of<loop_op<body>>, attributes, b, from);
      remember_others(g, made, std::make_index_sequence<results>{});
      return made[I];
    }
    template <std::size_t... K>
    static constexpr void remember_others(graph& g, const list<int>& made, std::index_sequence<K...>) {
      ((K != I && g.find(result_hash<K>) < 0 ? g.remember(result_hash<K>, made[K]) : void()), ...);
    }
  };
  template <std::size_t I, class E, class Dims>
  using result = typename record<id<result_hash<I>>, structure<I>>::template tensor<typename E::element, Dims>;

  template <class... From, std::size_t... I>
  static constexpr auto last_states(std::index_sequence<I...>, const std::tuple<From...>& from) {
    return std::apply(
        [](const auto&... each) { return std::tuple(carry_all<result<I, States, typename States::extents>>(each...)...); }, from);
  }
  template <class... From, std::size_t... I>
  static constexpr auto sequences(std::index_sequence<I...>, const std::tuple<From...>& from) {
    return std::apply(
        [](const auto&... each) {
          return std::tuple(
              carry_all<result<sizeof...(States) + I, Outs, typename dims_of_sequence<typename Outs::extents, length>::type>>(each...)...);
        },
        from);
  }
};

// The problem of the operands, before f is called.
template <scan_settings Settings, class... Xs>
constexpr message sequences_problem() {
  message m;
  const std::string_view word = word_of(Settings.kind);
  if constexpr (sizeof...(Xs) > 0) {
    graph g;
    (dimension_names<typename Xs::extents>::enter(g), ...);
    const shape extents[]{Xs::extent...};
    const auto number = [&](std::int64_t size) {
      if (is_named(size)) m << g.text_of(size);
      else m << static_cast<long long>(size);
    };
    for (std::size_t k = 0; k < sizeof...(Xs) && m.size == 0; ++k) {
      if (extents[k].rank == 0)
        return m << word << ": a sequence has its steps along the first axis, and a scalar has no axis: let f capture it";
      if (extents[k][0] == extents[0][0]) continue;
      m << word << ": sequence 1 has ";
      number(extents[0][0]);
      m << " steps, sequence " << static_cast<long long>(k + 1) << " has ";
      number(extents[k][0]);
    }
  }
  return m;
}
template <scan_settings Settings, class Xs>
struct sequences_check;
template <scan_settings Settings, class... Xs>
struct sequences_check<Settings, std::tuple<Xs...>> {
  static constexpr message text() { return sequences_problem<Settings, Xs...>(); }
  static constexpr bool ok = text().size == 0;
  using problem = error_in_expression<problem_text<sequences_check>(), operand_text<Xs>()...>;
};

template <class T>
concept sequence_list = tensors<T> || std::is_same_v<T, no_sequences>;

template <scan_settings Settings, class F, class State, class Xs>
using loop_from = scan_loop<Settings, tensors_of<State>, typename sequences_of<Xs>::type,
                          typename step_call<F, State, Xs>::arguments::states, typename step_call<F, State, Xs>::arguments::xs,
                          tensors_of<typename step_results<Settings.kind, step_result<F, State, Xs>>::next>,
                          typename step_results<Settings.kind, step_result<F, State, Xs>>::outs>;

template <scan_settings Settings, class State, class Xs>
concept has_sequences = tensors<State> && sequence_list<Xs> && sequences_check<Settings, typename sequences_of<Xs>::type>::ok;
template <scan_settings Settings, class F, class State, class Xs>
concept calls_step = has_sequences<Settings, State, Xs> && takes_step<F, State, Xs>;
template <scan_settings Settings, class F, class State, class Xs>
concept gives_step = calls_step<Settings, F, State, Xs> && step_results<Settings.kind, step_result<F, State, Xs>>::ok;
template <scan_settings Settings, class F, class State, class Xs>
concept loops = gives_step<Settings, F, State, Xs> && loop_from<Settings, F, State, Xs>::problem().size == 0;

// The reason why a call is refused. Empty for other calls, because clang instantiates the return type before it checks constraints.
template <scan_settings Settings, class F, class State, class Xs>
struct loop_refusal {};
template <scan_settings Settings, class F, class State, class Xs>
  requires(tensors<State> && sequence_list<Xs> && !has_sequences<Settings, State, Xs>)
struct loop_refusal<Settings, F, State, Xs> {
  using problem = typename sequences_check<Settings, typename sequences_of<Xs>::type>::problem;
};
template <scan_settings Settings, class F, class State, class Xs>
  requires(has_sequences<Settings, State, Xs> && !takes_step<F, State, Xs>)
struct loop_refusal<Settings, F, State, Xs> {
  using problem = error_in_expression<literal_text{
      "f of scan(f, state, xs) or fold(f, state, xs) is called with the state and one step's entry of xs, without its first axis, "
      "and does not take these: [](auto state, auto x) { ... }; tuples of tensors come as tuples"}>;
};
template <scan_settings Settings, class F, class State, class Xs>
  requires(calls_step<Settings, F, State, Xs> && !gives_step<Settings, F, State, Xs>)
struct loop_refusal<Settings, F, State, Xs> {
  using problem = error_in_expression<literal_text{
      "f of scan(f, state, xs) gives the next state and what is collected: std::tuple(next, y); f of fold(f, state, xs) the next "
      "state; each is a tensor or a std::tuple of tensors"}>;
};
template <scan_settings Settings, class F, class State, class Xs>
  requires(gives_step<Settings, F, State, Xs> && !loops<Settings, F, State, Xs>)
struct loop_refusal<Settings, F, State, Xs> {
  using problem = error_in_expression<problem_text<typename loop_from<Settings, F, State, Xs>::words>()>;
};

template <scan_settings Settings, class F, class State, class Xs>
constexpr auto make_loop(const F& f, const State& state, const Xs& xs) {
  using loop = loop_from<Settings, F, State, Xs>;
  const auto given = step_call<F, State, Xs>::run(f);
  const auto operands = [&] {
    if constexpr (std::is_same_v<Xs, no_sequences>) return as_tuple(state);
    else return std::tuple_cat(as_tuple(state), as_tuple(xs));
  }();
  constexpr auto each_state = std::make_index_sequence<std::tuple_size_v<tensors_of<State>>>{};
  if constexpr (Settings.kind == loop_kind::fold) {
    return as_given<State>(loop::last_states(each_state, std::tuple_cat(operands, as_tuple(given))));
  } else {
    using outs = typename step_results<Settings.kind, step_result<F, State, Xs>>::given;
    const auto from = std::tuple_cat(operands, as_tuple(std::get<0>(given)), as_tuple(std::get<1>(given)));
    constexpr auto each_out = std::make_index_sequence<std::tuple_size_v<tensors_of<outs>>>{};
    return std::tuple(as_given<State>(loop::last_states(each_state, from)), as_given<outs>(loop::sequences(each_out, from)));
  }
}

inline constexpr scan_settings scans{loop_kind::scan}, folds{loop_kind::fold}, scans_back{loop_kind::scan, true},
    folds_back{loop_kind::fold, true};

}  // namespace detail

#define LEAT_LOOP(function, settings, words)                                                                                            \
  template <class F, detail::tensors State, detail::tensors Xs>                                                                          \
    requires detail::loops<settings, F, State, Xs>                                                                                       \
  [[nodiscard("a loop is an expression: fetch what it gives, or compute with it")]] constexpr auto function(const F& f,                  \
                                                                                                            const State& state,          \
                                                                                                            const Xs& xs) {              \
    return detail::make_loop<settings>(f, state, xs);                                                                                    \
  }                                                                                                                                      \
  template <class F, detail::tensors State, detail::tensors Xs>                                                                          \
    requires(!detail::loops<settings, F, State, Xs>)                                                                                     \
  typename detail::loop_refusal<settings, F, State, Xs>::problem function(const F&, const State&, const Xs&) = delete;                   \
  LEAT_OTHERWISE(words) function(...) LEAT_DELETED

/// Steps through sequences: `auto [last, ys] = scan(f, state, xs)`, where `f(state, x)` gives `std::tuple(next, y)`. `state`: a tensor or a
/// std::tuple of tensors; so are `xs`, whose steps lie along the first axis, and y. `last` is the state after the last step, and `ys` has
/// what each step gave, along a first axis. The step is compiled once, whatever the number of steps, which may be a named dimension. What f
/// captures is computed before the loop. Gradients flow to the state, the sequences and what f captures; they keep the states and matrix
/// products of all steps.
/// Errors (at compile time): sequences of different lengths, a state that changes shape, dtype or number in a step, an assignment in f.
/// Source: JAX's `lax.scan`, TensorFlow `scan`.
LEAT_LOOP(scan, detail::scans,
          "scan(f, state, xs) takes a function of a step, [](auto state, auto x) { return std::tuple(next, y); }, the first state, and "
          "sequences along their first axis; " LEAT_TENSORS);
/// `scan` from the last step to the first; `ys` has each step's result in that step's place.
LEAT_LOOP(
    scan_back, detail::scans_back,
    "scan_back(f, state, xs) takes a function of a step, [](auto state, auto x) { return std::tuple(next, y); }, the first state, and "
    "sequences along their first axis; " LEAT_TENSORS);
/// Steps through sequences and gives the last state: `fold(f, state, xs)`, where `f(state, x)` gives the next state. Otherwise as `scan`.
/// Source: TensorFlow `foldl`.
LEAT_LOOP(fold, detail::folds,
          "fold(f, state, xs) takes a function of a step, [](auto state, auto x) { return next; }, the first state, and sequences along "
          "their first axis; " LEAT_TENSORS);
/// `fold` from the last step to the first. Source: TensorFlow `foldr`.
LEAT_LOOP(fold_back, detail::folds_back,
          "fold_back(f, state, xs) takes a function of a step, [](auto state, auto x) { return next; }, the first state, and sequences "
          "along their first axis; " LEAT_TENSORS);
#undef LEAT_LOOP

}  // namespace leat
