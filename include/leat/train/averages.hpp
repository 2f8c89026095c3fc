#pragma once
// Moving averages: the formulas, for typed expressions and graphs with names (train/named/moving_average.hpp), and moving averages of typed
// expressions.

#include <leat/train/setting.hpp>

namespace leat {

namespace average {

/// The amount that an update subtracts from an average: (average - value)(1 - decay); `rest` is 1 - decay.
template <class Average, class Value, class Rest>
constexpr auto change(const Average& average, const Value& value, const Rest& rest) {
  return (average - value) * rest;
}
/// The decay after n updates, which is smaller at first: min(decay, (1 + n) / (10 + n)).
template <class Decay, class Count>
constexpr auto decay_after(const Decay& decay, const Count& n) {
  return minimum(decay, (constant_beside<1>(n) + n) / (constant_beside<10>(n) + n));
}
/// The total weight of the values in an average that started at 0, after `count` updates: 1 - decay^count.
template <class Decay, class Count>
constexpr auto share(const Decay& decay, const Count& count) {
  return constant_beside<1>(count) - pow(decay, count);
}

}  // namespace average

namespace detail {
// The static dimensions of a tensor, as a type.
template <class X, class = std::make_index_sequence<static_cast<std::size_t>(X::rank)>>
struct static_dims;
template <class X, std::size_t... K>
struct static_dims<X, std::index_sequence<K...>> {
  using type = dims<X::extent[static_cast<int>(K)]...>;
};
template <class X>
using dims_like = typename static_dims<X>::type;
}  // namespace detail

/// A moving average of a typed expression: its value, and the operation that updates it, which a step waits for or a run fetches.
template <tensor_expression Average, expression Update>
struct moving_average_parts {
  Average value;
  Update update;
};

/// The average of all values that `x` had when the update ran, each with `decay` times the weight of the next; 0 before the first update.
/// `auto [smooth, update] = moving_average<"loss/average">(loss, 0.9f)`. Variables, untrainable: `Name/biased`, like x, and
/// `Name/local_step` []; both start with 0, and the value is corrected for that bias. Unlike TensorFlow's average of a variable, which
/// starts with the variable's initial value, this one starts with no value. Shapes: x static; result like x. Dtypes: floating point.
/// Source: TensorFlow `ExponentialMovingAverage(zero_debias=True)`.
template <fixed_string Name, tensor_expression X, detail::optimizer_setting Decay, LEAT_SITE>
  requires(is_floating(X::type) && X::extent.is_static())
constexpr auto moving_average(const X& x, const Decay& decay) {
  using T = typename X::element;
  const auto weight = cast<T>(detail::as_setting<Site, 60>(decay));
  const auto biased = detail::make_variable<name_of<Name / "biased">, T, detail::dims_like<X>, false>(zeros);
  const auto count = detail::make_variable<name_of<Name / "local_step">, T, dims<>, false>(zeros);
  const auto one = constant_beside<1>(count);
  const auto share = average::share(weight, count);
  const auto value = biased / select(equal(count, constant_beside<0>(count)), one, share);
  const auto update = group(assign_sub(biased, average::change(biased, x, one - weight)), assign_add(count, one));
  return moving_average_parts<std::remove_const_t<decltype(value)>, std::remove_const_t<decltype(update)>>{value, update};
}
LEAT_OTHERWISE_OF(moving_average, "<name>(x, decay) takes a tensor of floating point and static shape, and a number or scalar tensor");

}  // namespace leat
