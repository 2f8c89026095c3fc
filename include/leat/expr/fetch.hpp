#pragma once
// Fetches: what a run is asked for. `fetch(loss, train)` names expressions; `into(prediction, array)` has the values
// written where the user wants them.

#include <leat/expr/tensor.hpp>
#include <tuple>

namespace leat {

/// A fetch whose values go into `array`.
template <tensor_expression E, class Array>
struct fetch_into {
  using target = E;
  E value;
  Array* array;
};

/// Has the values of `e` written into `array`, which is resized where its type can be; nothing is allocated when the shape
/// fits already.
template <tensor_expression E, class Array>
  requires(!std::is_const_v<Array>)
constexpr fetch_into<E, Array> into(const E& e, Array& array) {
  return {e, &array};
}

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

/// The list of what one run is asked for.
template <fetchable... Fs>
struct fetch_list {
  std::tuple<Fs...> targets;
};
template <fetchable... Fs>
constexpr fetch_list<Fs...> fetch(const Fs&... targets) {
  return {std::tuple<Fs...>(targets...)};
}

}  // namespace leat
