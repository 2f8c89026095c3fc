#pragma once
// Arrays of positions, and numbers in equal steps: `range<0, 10>()`. The compiler knows their elements, so they take no memory where they
// are operands.

#include <leat/ops/functions.hpp>

namespace leat {

namespace detail {

template <class T, class Dims, int Axis>
struct positions_leaf : no_numbers {
  static constexpr std::uint64_t hash =
      mix(mix(mix(Dims::hash, static_cast<std::uint64_t>(dtype_of<T>)), static_cast<std::uint64_t>(Axis)), 108);
  template <class E>
  static constexpr int enter(graph& g) {
    dimension_names<Dims>::enter(g);
    return index_along(g, dtype_of<T>, Dims::value, Axis).index();
  }
};
/// Each element's position along `Axis`, in the shape `Dims`.
template <class T, class Dims, int Axis>
constexpr auto positions() {
  return leaf_tensor<positions_leaf<T, Dims, Axis>, T, Dims>{};
}

template <auto Number>
using type_of_number = std::remove_const_t<decltype(Number)>;
template <auto... Numbers>
inline constexpr bool are_numbers =
    ((std::is_arithmetic_v<type_of_number<Numbers>> && !std::is_same_v<type_of_number<Numbers>, bool>) && ...);

template <class T, auto Start, auto Limit, auto Delta>
struct range_plan {
  static constexpr double steps = (static_cast<double>(Limit) - static_cast<double>(Start)) / (Delta == 0 ? 1 : static_cast<double>(Delta));
  static constexpr std::string_view problem() {
    if (!is_number(dtype_of<T>)) return "takes numbers, not bool";
    if (Delta == 0) return "a step of 0";
    if (!fits<T>(Start) || !fits<T>(Limit) || !fits<T>(Delta) || !fits<double>(Start) || !fits<double>(Limit) || !fits<double>(Delta))
      return "a number that the dtype does not represent";
    if (!(steps >= 0)) return "the steps lead away from the limit";
    if (!(steps <= static_cast<double>(max_elements))) return "a result of more than 2^44 elements";
    return {};
  }
  /// The number of steps before the limit, rounded up.
  static constexpr std::int64_t size() {
    const auto whole = static_cast<std::int64_t>(steps);
    return static_cast<double>(whole) < steps ? whole + 1 : whole;
  }
  static constexpr message text() { return message{} << "range: " << problem(); }
};
template <class T, auto... Numbers>
inline constexpr bool is_range = false;
template <class T, auto Start, auto Limit, auto Delta>
  requires are_numbers<Start, Limit, Delta>
inline constexpr bool is_range<T, Start, Limit, Delta> = true;
template <class T, auto Start, auto Limit>
  requires are_numbers<Start, Limit>
inline constexpr bool is_range<T, Start, Limit> = true;
template <auto... Numbers>
using common_number = std::common_type_t<type_of_number<Numbers>...>;
template <auto... Numbers>
inline constexpr bool is_untyped_range = [] {
  if constexpr (are_numbers<Numbers...>) return is_range<common_number<Numbers...>, Numbers...>;
  else return false;
}();

template <class T, auto Start, auto Limit, auto Delta>
constexpr auto make_range() {
  const auto place = positions<T, dims<range_plan<T, Start, Limit, Delta>::size()>, 0>();
  const auto start = leaf_tensor<constant_leaf<T, bits_of(dtype_of<T>, static_cast<double>(Start))>, T, dims<>>{};
  const auto delta = leaf_tensor<constant_leaf<T, bits_of(dtype_of<T>, static_cast<double>(Delta))>, T, dims<>>{};
  if constexpr (Start == 0 && Delta == 1) return place;
  else if constexpr (Delta == 1) return start + place;
  else if constexpr (Start == 0) return delta * place;
  else return start + delta * place;
}
template <class T, auto Start, auto Limit, auto Delta>
concept possible_range = is_range<T, Start, Limit, Delta> && range_plan<T, Start, Limit, Delta>::problem().empty();
template <class T, auto Start, auto Limit, auto Delta>
concept impossible_range = is_range<T, Start, Limit, Delta> && !range_plan<T, Start, Limit, Delta>::problem().empty();
template <class T, auto Start, auto Limit, auto Delta>
using why_no_range = error_in_expression<problem_text<range_plan<T, Start, Limit, Delta>>()>;

}  // namespace detail

/// Numbers in equal steps, from `Start` up to `Limit`, without it: `range<0, 5>()` is 0, 1, 2, 3, 4, `range<5, 0, -2>()` is 5, 3, 1. The
/// dtype is that of the numbers, so int32 for plain integers; `range<float, 0, 5>()` states another one. Shapes: result
/// [⌈(limit - start) / delta⌉]. Dtypes: numbers. Errors: a step of 0, or away from the limit. Source: TensorFlow `Range`.
template <element_type T, auto Start, auto Limit, auto Delta = 1>
  requires detail::possible_range<T, Start, Limit, Delta>
constexpr auto range() {
  return detail::make_range<T, Start, Limit, Delta>();
}
template <element_type T, auto Start, auto Limit, auto Delta = 1>
  requires detail::impossible_range<T, Start, Limit, Delta>
detail::why_no_range<T, Start, Limit, Delta> range() = delete;
template <auto Start, auto Limit, auto Delta = 1>
  requires detail::possible_range<detail::common_number<Start, Limit, Delta>, Start, Limit, Delta>
constexpr auto range() {
  return detail::make_range<detail::common_number<Start, Limit, Delta>, Start, Limit, Delta>();
}
template <auto Start, auto Limit, auto Delta = 1>
  requires detail::impossible_range<detail::common_number<Start, Limit, Delta>, Start, Limit, Delta>
detail::why_no_range<detail::common_number<Start, Limit, Delta>, Start, Limit, Delta> range() = delete;

#define LEAT_RANGE_WORDS "range<start, limit, delta>() has numbers as template arguments, a dtype may come first: range<float, 0, 5>()"
LEAT_OTHERWISE(LEAT_RANGE_WORDS) range(...) LEAT_DELETED;
template <LEAT_ANY_NUMBER... Numbers>
  requires(sizeof...(Numbers) > 0 && !detail::is_untyped_range<Numbers...>)
LEAT_OTHERWISE(LEAT_RANGE_WORDS) range(...) LEAT_DELETED;
template <class First, LEAT_ANY_NUMBER... Rest>
  requires(!detail::is_range<First, Rest...>)
LEAT_OTHERWISE(LEAT_RANGE_WORDS) range(...) LEAT_DELETED;
#undef LEAT_RANGE_WORDS

}  // namespace leat
