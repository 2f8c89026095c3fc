#pragma once
// Loops of which a run knows the number of steps: `while_loop<Maximum>(condition, f, state)`, and `cond` and `switch_case`, which run one
// of several functions. A function that is run or not is a loop of one step or none.

#include <leat/passes/scan.hpp>

namespace leat {

namespace detail {

template <class T>
concept conditions = tensor_expression<T> && requires { requires T::type == dtype::boolean && T::rank == 0; };

// A loop with a limit. `Operands`: what its steps are given in each step, beside the states; `Go`: whether there is another step.
template <std::int64_t Maximum, class States, class Operands, class GivenStates, class GivenOperands, class Next, class Limit, class Go>
struct limited_loop;
template <std::int64_t Maximum, class... States, class... Operands, class GivenStates, class GivenOperands, class... Next, class Limit,
          class... Go>
struct limited_loop<Maximum, std::tuple<States...>, std::tuple<Operands...>, GivenStates, GivenOperands, std::tuple<Next...>, Limit,
                    std::tuple<Go...>> {
  using inner = traced_body<expressions_hash<504, States..., Operands..., Next..., Go...>, GivenStates, std::tuple<>, GivenOperands,
                            std::tuple<Next...>, std::tuple<>, std::tuple<Go...>>;
  struct body : inner {
    static constexpr passes::loop_body make() {
      passes::loop_body b = inner::make();
      b.is_limited = true;
      return b;
    }
  };
  static constexpr std::uint64_t base =
      mix(expressions_hash<505, States..., Operands..., Next..., Limit, Go...>, static_cast<std::uint64_t>(Maximum));
  static constexpr std::size_t results = sizeof...(States) + sizeof...(Go);
  template <std::size_t I>
  static constexpr std::uint64_t result_hash = mix(base, I + 1);
  template <std::size_t I>
  struct structure : numbers_of<States..., Operands..., Next..., Limit, Go...> {
    template <class E>
    static constexpr int enter(graph& g) {
      passes::loop_operands from;
      (from.states.push_back(flatten<States>(g)), ...);
      (from.invariants.push_back(flatten<Operands>(g)), ...);
      from.limit = flatten<Limit>(g);
      const passes::traced_step step = body::trace();
      passes::batcher outside(step.one, g, 1);
      for (const int i : step.invariants()) from.invariants.push_back(outside.shared(i).index());
      const list<int> made = passes::enter_loop(g, info_of<loop_op<body>>, {Maximum, 0}, body::make(), from);
      remember_others(g, made, std::make_index_sequence<results>{});
      return made[I];
    }
    template <std::size_t... K>
    static constexpr void remember_others(graph& g, const list<int>& made, std::index_sequence<K...>) {
      ((K != I && g.find(result_hash<K>) < 0 ? g.remember(result_hash<K>, made[K]) : void()), ...);
    }
  };
  template <std::size_t I, class E>
  using result = typename record<id<result_hash<I>>, structure<I>>::template tensor<typename E::element, typename E::extents>;
  template <std::size_t... I, class... From>
  static constexpr auto last_states(std::index_sequence<I...>, const std::tuple<From...>& from) {
    return std::apply([](const auto&... each) { return std::tuple(carry_all<result<I, States>>(each...)...); }, from);
  }
};


// ---- while ----------------------------------------------------------------------------------------------------------

template <class C, class F, class State>
concept while_functions = tensors<State> && takes_step<C, State, no_sequences> && takes_step<F, State, no_sequences>;
// The arguments of the condition are those of the step: of one identity, by the step's type.
template <class C, class F, class State>
struct while_step {
  using arguments = step_arguments<F, State, std::tuple<>>;
  static constexpr auto go(const C& c) { return c(as_given<State>(typename arguments::states{})); }
  using next = step_result<F, State, no_sequences>;
  using condition = decltype(go(std::declval<const C&>()));
};
template <class C, class F, class State>
struct while_check {
  using step = while_step<C, F, State>;
  static constexpr message text() {
    if constexpr (!tensor_expression<typename step::condition>)
      return message{} << "while_loop: the condition gives no tensor: less(i, 10), or another scalar of bool";
    else if constexpr (!conditions<typename step::condition>) {
      graph g;
      dimension_names<typename step::condition::extents>::enter(g);
      return message{} << "while_loop: the condition is a scalar of bool, and not "
                       << describe({step::condition::type, step::condition::extents::value}, g).view();
    } else if constexpr (!tensors<typename step::next>)
      return message{} << "while_loop: the step gives the next state: a tensor, or a std::tuple of tensors";
    else if constexpr (constexpr message m = same_states<tensors_of<State>, tensors_of<typename step::next>>::text("while_loop");
                       m.size > 0)
      return m;
    else
      return traced_body<0, typename step::arguments::states, std::tuple<>, std::tuple<>, tensors_of<typename step::next>, std::tuple<>,
                         std::tuple<typename step::condition>>::trace()
          .problem("while_loop");
  }
  static constexpr bool ok = text().size == 0;
};
template <class C, class F, class State>
concept loops_while = while_functions<C, F, State> && while_check<C, F, State>::ok;
template <class C, class F, class State>
struct while_refusal {};
template <class C, class F, class State>
  requires(tensors<State> && !while_functions<C, F, State>)
struct while_refusal<C, F, State> {
  using problem = error_in_expression<
      literal_text{"while_loop<maximum>(condition, f, state): condition and f are called with the state, and do not take it: "
                   "[](auto state) { ... }; a tuple of tensors comes as a tuple"}>;
};
template <class C, class F, class State>
  requires(while_functions<C, F, State> && !while_check<C, F, State>::ok)
struct while_refusal<C, F, State> {
  using problem = error_in_expression<problem_text<while_check<C, F, State>>()>;
};

template <std::int64_t Maximum, bool Counts, class C, class F, class State>
constexpr auto make_while(const C& c, const F& f, const State& state) {
  const auto first = c(state);  // whether there is a first step
  const auto limit = cast<std::int64_t>(first) * constant<Maximum>();
  using step = while_step<C, F, State>;
  const auto go = step::go(c);
  const auto next = step_call<F, State, no_sequences>::run(f);
  using loop = limited_loop<Maximum, tensors_of<State>, std::tuple<>, typename step::arguments::states, std::tuple<>,
                            tensors_of<typename step::next>, std::remove_const_t<decltype(limit)>, std::tuple<typename step::condition>>;
  constexpr auto each = std::make_index_sequence<std::tuple_size_v<tensors_of<State>>>{};
  const auto from = std::tuple_cat(as_tuple(state), as_tuple(next), std::tuple(limit, go));
  const auto last = as_given<State>(loop::last_states(each, from));
  if constexpr (Counts) {
    using count = typename record<id<loop::template result_hash<each.size()>>, typename loop::template structure<each.size()>>::
        template tensor<std::int64_t, dims<>>;
    return std::tuple(last, std::apply([](const auto&... all) { return carry_all<count>(all...); }, from));
  } else {
    return last;
  }
}

// ---- one of several functions ---------------------------------------------------------------------------------------

template <class F, std::size_t I, class X>
using branch_tensor = step_tensor<F, 1, I + 100, X, typename X::extents>;
template <class F, class... Xs>
struct branch_call {
  template <std::size_t... I>
  static constexpr auto given(std::index_sequence<I...>) {
    return std::tuple<branch_tensor<F, I, Xs>...>{};
  }
  using operands = decltype(given(std::index_sequence_for<Xs...>{}));
  static constexpr auto run(const F& f) { return std::apply(f, operands{}); }
  using result = decltype(run(std::declval<const F&>()));
};
template <class F, class... Xs>
concept is_branch = requires(const F& f) { std::apply(f, typename branch_call<F, Xs...>::operands{}); } &&
                    tensors<decltype(std::apply(std::declval<const F&>(), typename branch_call<F, Xs...>::operands{}))>;

// One function, which runs if `runs` is 1, over what there is before.
template <class F, class Before, class Runs, class... Xs>
constexpr auto make_branch(const F& f, const Before& before, const Runs& runs, const Xs&... xs) {
  using call = branch_call<F, Xs...>;
  using states = typename step_arguments<F, Before, std::tuple<>>::states;
  const auto made = as_tuple(call::run(f));
  using loop = limited_loop<1, tensors_of<Before>, std::tuple<Xs...>, states, typename call::operands, tensors_of<typename call::result>,
                            Runs, std::tuple<>>;
  return as_given<Before>(loop::last_states(std::make_index_sequence<std::tuple_size_v<tensors_of<Before>>>{},
                                            std::tuple_cat(as_tuple(before), std::tuple(xs...), made, std::tuple(runs))));
}
template <class E>
constexpr auto zeros_like_tensor() {
  return leaf_tensor<filled_leaf<typename E::element, 0, typename E::extents>, typename E::element, typename E::extents>{};
}
template <class R>
constexpr auto zeros_like_result() {
  if constexpr (tensor_list<R>::single) {
    return zeros_like_tensor<R>();
  } else {
    return []<class... Es>(const std::tuple<Es...>*) { return std::tuple(zeros_like_tensor<Es>()...); }(
        static_cast<const tensors_of<R>*>(nullptr));
  }
}
template <class First, class Other>
struct branches_agree : same_states<tensors_of<First>, tensors_of<Other>> {};

// "cond: state is A, and B after a step" as "one is A, and B".
constexpr message cond_words(std::string_view told) {
  const auto end = told.find(" after a step");
  const auto begin = told.find(": state ");
  if (begin == std::string_view::npos || end == std::string_view::npos) return message{} << "not the same number";
  return message{} << "one " << told.substr(begin + 8, end - begin - 8);
}
template <class Predicate, class F, class G, class... Xs>
struct cond_check {
  static constexpr message text() {
    if constexpr (!conditions<Predicate>) {
      graph g;
      dimension_names<typename Predicate::extents>::enter(g);
      return message{} << "cond: the condition is a scalar of bool, and not "
                       << describe({Predicate::type, Predicate::extents::value}, g).view();
    } else if constexpr (constexpr message m = same_states<tensors_of<typename branch_call<F, Xs...>::result>,
                                                       tensors_of<typename branch_call<G, Xs...>::result>>::text("cond");
                         m.size > 0)
      return message{} << "cond: the two functions give different results: " << cond_words(m.view()).view();
    else
      return {};
  }
  static constexpr bool ok = text().size == 0;
};
template <class Predicate, class F, class G, class... Xs>
concept conds = tensor_expression<Predicate> && (tensor_expression<Xs> && ...) && is_branch<F, Xs...> && is_branch<G, Xs...> &&
                cond_check<Predicate, F, G, Xs...>::ok;
template <class Predicate, class F, class G, class... Xs>
struct cond_refusal {};
template <tensor_expression Predicate, class F, class G, tensor_expression... Xs>
  requires(is_branch<F, Xs...> && is_branch<G, Xs...> && !cond_check<Predicate, F, G, Xs...>::ok)
struct cond_refusal<Predicate, F, G, Xs...> {
  using problem = error_in_expression<problem_text<cond_check<Predicate, F, G, Xs...>>()>;
};
template <tensor_expression Predicate, class F, class G, tensor_expression... Xs>
  requires(!is_branch<F, Xs...> || !is_branch<G, Xs...>)
struct cond_refusal<Predicate, F, G, Xs...> {
  using problem = error_in_expression<
      literal_text{"cond(condition, f, g, x, ...): f and g take x, ... and give a tensor, or a std::tuple of tensors: [](auto x) { ... }"}>;
};

}  // namespace detail

/// Steps while a condition holds: `auto last = while_loop<1000>(condition, f, state)`, where `condition(state)` is a scalar of bool and
/// `f(state)` the next state; at most `Maximum` steps. `state`: a tensor or a std::tuple of tensors. Gradients flow to the state and what
/// the functions capture; they keep memory for the states of `Maximum` steps. Errors (at compile time): a condition that is no scalar of
/// bool, a state that changes shape, dtype or number in a step, an assignment in f. Source: TensorFlow `while_loop` with
/// `maximum_iterations`.
template <std::int64_t Maximum, class C, class F, detail::tensors State>
  requires(Maximum > 0 && detail::loops_while<C, F, State>)
[[nodiscard("a loop is an expression: fetch what it gives, or compute with it")]] constexpr auto while_loop(const C& condition, const F& f,
                                                                                                            const State& state) {
  return detail::make_while<Maximum, false>(condition, f, state);
}
template <std::int64_t Maximum, class C, class F, detail::tensors State>
  requires(Maximum > 0 && !detail::loops_while<C, F, State>)
typename detail::while_refusal<C, F, State>::problem while_loop(const C&, const F&, const State&) = delete;
LEAT_OTHERWISE("while_loop<maximum>(condition, f, state) has the greatest number of steps as template argument, so that it ends, and the "
               "compiler knows the memory for its gradients; then two functions of the state, and the first state; " LEAT_TENSORS)
while_loop(...) LEAT_DELETED;
/// Steps while a condition holds, as `while_loop`, and their number: `auto [last, steps] = counted_while_loop<1000>(condition, f, state)`,
/// int64.
template <std::int64_t Maximum, class C, class F, detail::tensors State>
  requires(Maximum > 0 && detail::loops_while<C, F, State>)
[[nodiscard("a loop is an expression: fetch what it gives, or compute with it")]] constexpr auto counted_while_loop(const C& condition,
                                                                                                                    const F& f,
                                                                                                                    const State& state) {
  return detail::make_while<Maximum, true>(condition, f, state);
}

/// One of two functions of x: `cond(condition, f, g, x, ...)` is f(x, ...) if the scalar condition is true, and g(x, ...) otherwise; the
/// other is not run, in gradients neither. Expressions that f and g capture are computed in any case: what shall be computed conditionally
/// is made of the operands. Shapes and dtypes: both functions give the same: a tensor, or a std::tuple of tensors. Errors (at compile
/// time): a condition that is no scalar of bool, functions with different results. Source: JAX's `lax.cond`, TensorFlow `cond`.
template <class Predicate, class F, class G, class... Xs>
  requires detail::conds<Predicate, F, G, Xs...>
[[nodiscard("a choice is an expression: fetch it, or compute with it")]] constexpr auto cond(const Predicate& condition, const F& f,
                                                                                             const G& g, const Xs&... xs) {
  const auto yes = cast<std::int64_t>(condition);
  const auto no = cast<std::int64_t>(logical_not(condition));
  const auto none = detail::zeros_like_result<typename detail::branch_call<F, Xs...>::result>();
  return detail::make_branch(g, detail::make_branch(f, none, yes, xs...), no, xs...);
}
template <class Predicate, class F, class G, class... Xs>
  requires(tensor_expression<Predicate> && !detail::conds<Predicate, F, G, Xs...>)
typename detail::cond_refusal<Predicate, F, G, Xs...>::problem cond(const Predicate&, const F&, const G&, const Xs&...) = delete;
LEAT_OTHERWISE("cond(condition, f, g, x, ...) takes a scalar of bool, two functions, and their operands; " LEAT_TENSORS)
cond(...) LEAT_DELETED;

namespace detail {

template <class I>
concept case_number = tensor_expression<I> && requires { requires I::rank == 0 && (I::type == dtype::int32 || I::type == dtype::int64); };
template <class F, class... Fs>
struct branch_list {
  template <class... Xs>
  static constexpr bool agree() {
    if constexpr (!(is_branch<F, Xs...> && (is_branch<Fs, Xs...> && ...)))
      return false;
    else
      return (
          (same_states<tensors_of<typename branch_call<F, Xs...>::result>, tensors_of<typename branch_call<Fs, Xs...>::result>>::text("")
               .size == 0) &&
          ...);
  }
};
// The functions from the K-th on, over what those before have given.
template <std::int64_t K, class Before, class Index, class... Fs, class... Xs>
constexpr auto run_cases(const Before& before, const Index& index, const std::tuple<Fs...>& fs, const Xs&... xs) {
  constexpr auto last = static_cast<std::int64_t>(sizeof...(Fs)) - 1;
  using I = typename Index::element;
  const auto& f = std::get<static_cast<std::size_t>(K)>(fs);
  if constexpr (K == last) {
    const auto others = logical_and(greater_equal(index, constant<I(0)>()), less(index, constant<static_cast<I>(last)>()));
    return make_branch(f, before, cast<std::int64_t>(logical_not(others)), xs...);
  } else {
    return run_cases<K + 1>(make_branch(f, before, cast<std::int64_t>(equal(index, constant<static_cast<I>(K)>())), xs...), index, fs,
                            xs...);
  }
}

}  // namespace detail

/// One of several functions of x: `switch_case(index, std::tuple(f, g, h), x, ...)` is f(x, ...) for 0, g(x, ...) for 1; the last function
/// is for all other numbers, too. The others are not run. Shapes and dtypes: `index` a scalar of int32 or int64; all functions give the
/// same: a tensor, or a std::tuple of tensors. Otherwise as `cond`. Source: TensorFlow `switch_case`.
template <detail::case_number Index, class... Fs, tensor_expression... Xs>
  requires(sizeof...(Fs) > 0 && detail::branch_list<Fs...>::template agree<Xs...>())
[[nodiscard("a choice is an expression: fetch it, or compute with it")]] constexpr auto switch_case(const Index& index,
                                                                                                    const std::tuple<Fs...>& functions,
                                                                                                    const Xs&... xs) {
  using first = std::tuple_element_t<0, std::tuple<Fs...>>;
  const auto none = detail::zeros_like_result<typename detail::branch_call<first, Xs...>::result>();
  return detail::run_cases<0>(none, index, functions, xs...);
}
LEAT_OTHERWISE(
    "switch_case(index, std::tuple(f, g, ...), x, ...) takes a scalar of int32 or int64, functions of x, ... that all give the same "
    "dtypes and shapes, and their operands; " LEAT_TENSORS)
switch_case(...) LEAT_DELETED;

}  // namespace leat
