#pragma once
// Fetches: what a run is asked for. `fetch(loss, train)` names expressions; `into(prediction, array)` has the values
// written where the user wants them.

#include <leat/expr/feed.hpp>
#include <tuple>

namespace leat {

/// A fetch whose values go into `array`.
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
struct into_refusal {};  // of what is no tensor; clang asks for the type of a result before it looks at what the function requires
template <tensor_expression E, class Array>
struct into_refusal<E, Array> : into_check<E, Array> {};
}  // namespace detail

/// Has the values of `e` written into `array`, which is resized where its type can be; nothing is allocated when the shape
/// fits already.
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

namespace detail {
template <class F>
struct fetch_target {
  using type = F;
};
template <class E, class Array>
struct fetch_target<fetch_into<E, Array>> {
  using type = E;
};
}  // namespace detail

/// What can be asked for: an expression, an operation, or `into(expression, array)`.
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
// A list of fetches by its short name: what error messages print.
template <class Id>
struct fetched {};
template <class... Es>
using fetched_by_name = fetched<typename short_name<id<fetch_targets_hash<Es...>>, fetch_targets<Es...>>::type>;
}  // namespace detail

/// The list of what one run is asked for.
template <fetchable... Fs>
struct fetch_list : detail::fetched_by_name<typename detail::fetch_target<Fs>::type...> {
  std::tuple<Fs...> targets;
};
template <fetchable... Fs>
[[nodiscard("fetches do nothing by themselves: give them to session.run")]] constexpr fetch_list<Fs...> fetch(const Fs&... targets) {
  return {{}, std::tuple<Fs...>(targets...)};
}
LEAT_OTHERWISE("fetch(a, b, ...) takes expressions, and into(a, array); " LEAT_TENSORS) fetch(...) LEAT_DELETED;

}  // namespace leat
