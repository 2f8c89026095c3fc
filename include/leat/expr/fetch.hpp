#pragma once
// Fetches: the requested results of a run. `fetch(loss, train)` lists expressions; `into(prediction, array)` writes the values to the
// user's array.

#include <leat/expr/feed.hpp>

#include <tuple>

namespace leat {

/// A fetch that writes its value to `array`.
template <tensor_expression E, class Array>
struct fetch_into {
  using target = E;
  E value;
  Array* array;
};

namespace detail {
template <class E, class Array>
struct into_check {
  static constexpr message text() { return array_problem<E, Array>("into: ", "the expression"); }
  static constexpr bool ok = text().size == 0;
  using problem = error_in_expression<problem_text<into_check>(), operand_text<E>()>;
};
template <class E, class Array>
struct into_refusal {};  // for arguments that are not tensors; clang instantiates the return type before it checks constraints
template <tensor_expression E, class Array>
struct into_refusal<E, Array> : into_check<E, Array> {};
}  // namespace detail

/// A fetch of `e` that writes to `array`, which is resized if its type allows it; nothing is allocated if the shape fits already. `array`
/// must outlive the run. Errors in a run: invalid_argument if it is not row-major, or cannot be resized to the value's shape.
template <tensor_expression E, class Array>
  requires(!std::is_const_v<Array> && detail::into_check<E, Array>::ok)
[[nodiscard("into does nothing by itself: give it to fetch")]] constexpr fetch_into<E, Array> into(const E& e, Array& array) {
  return {e, std::addressof(array)};
}
template <tensor_expression E, class Array>
  requires(!std::is_const_v<Array> && !detail::into_check<E, Array>::ok)
typename detail::into_refusal<E, Array>::problem into(const E&, Array&) = delete;
LEAT_OTHERWISE("into(x, array) takes a tensor, then a variable of the program that is not const: an array, vector, span or number")
into(...) LEAT_DELETED;

/// A fetch whose value is returned as a `Wrap<V>`, a class with the member `value`, where a plain fetch of the expression returns a `V`.
template <tensor_expression E, template <class> class Wrap>
struct fetch_as {
  using target = E;
  E value;
};

/// Several fetches as one argument of `fetch`.
template <class... Fs>
struct fetch_group {
  std::tuple<Fs...> targets;
};

namespace detail {
template <class F>
struct fetch_target {
  using type = F;
};
template <class E, class Array>
struct fetch_target<fetch_into<E, Array>> {
  using type = E;
};
template <class E, template <class> class Wrap>
struct fetch_target<fetch_as<E, Wrap>> {
  using type = E;
};
template <class F>
inline constexpr bool is_fetch_as = false;
template <class E, template <class> class Wrap>
inline constexpr bool is_fetch_as<fetch_as<E, Wrap>> = true;
template <class F>
inline constexpr bool is_fetch_group = false;
template <class... Fs>
inline constexpr bool is_fetch_group<fetch_group<Fs...>> = true;
}  // namespace detail

/// An argument of `fetch`: an expression, an operation, or `into(expression, array)`.
template <class F>
concept fetchable = expression<F> || requires { typename F::target; };

namespace detail {
template <class... Es>
struct fetch_targets {};
template <class... Es>
inline constexpr std::uint64_t fetch_targets_hash = [] {
  auto h = mix(901, sizeof...(Es));
  ((h = mix(h, Es::identity::hash)), ...);
  return h;
}();
// Short name of a list of fetches in error messages.
template <class Id>
struct fetched {};
template <class... Es>
using fetched_by_name = fetched<typename short_name<id<fetch_targets_hash<Es...>>, fetch_targets<Es...>>::type>;
}  // namespace detail

/// The list of fetches of one run.
template <fetchable... Fs>
struct fetch_list : detail::fetched_by_name<typename detail::fetch_target<Fs>::type...> {
  std::tuple<Fs...> targets;
};
/// The fetches of one run, in the order of its results: `auto [l, p] = s.run(fetch(loss, prediction, train), x = xs);`. Operations, such as
/// `train`, have no result.
template <fetchable... Fs>
[[nodiscard("fetches do nothing by themselves: give them to session.run")]] constexpr fetch_list<Fs...> fetch(const Fs&... targets) {
  return {{}, std::tuple<Fs...>(targets...)};
}
/// The same with groups among the fetches; each group is replaced by its members.
template <class... Fs>
  requires((fetchable<Fs> || detail::is_fetch_group<Fs>) && ...) && (detail::is_fetch_group<Fs> || ...)
[[nodiscard("fetches do nothing by themselves: give them to session.run")]] constexpr auto fetch(const Fs&... targets) {
  const auto members = []<class F>(const F& f) {
    if constexpr (detail::is_fetch_group<F>) return f.targets;
    else return std::tuple<F>(f);
  };
  return std::apply([](const auto&... all) { return fetch(all...); }, std::tuple_cat(members(targets)...));
}
LEAT_OTHERWISE("fetch(a, b, ...) takes expressions, and into(a, array); " LEAT_TENSORS) fetch(...) LEAT_DELETED;

}  // namespace leat
