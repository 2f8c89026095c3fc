#pragma once
// The parameters of a loss as one vector, for methods that look at all of them together: second-order steps and their line search.

#include <leat/ops/state.hpp>
#include <leat/passes/substitute.hpp>
#include <leat/train/least_squares.hpp>
#include <leat/train/optimizer_step.hpp>

namespace leat::detail {

using namespace leat::literals;

template <class Xs>
inline constexpr std::int64_t all_elements = 0;
template <class... Xs>
inline constexpr std::int64_t all_elements<std::tuple<Xs...>> = (Xs::extent.elements() + ...);

/// Tensors as one vector [all].
template <class... Xs>
constexpr auto as_vector(const std::tuple<Xs...>& xs) {
  return std::apply(
      [](const auto&... x) {
        if constexpr (sizeof...(x) == 1) return (in_dims<dims<Xs::extent.elements()>>::of(x), ...);
        else return concat<0>(in_dims<dims<Xs::extent.elements()>>::of(x)...);
      },
      xs);
}
/// The parts of a vector [all] in the shapes of the tensors `xs`.
template <tensor_expression V, class... Xs>
constexpr auto parts_of_vector(const V& vector, const std::tuple<Xs...>& xs) {
  return parts_of_direction<0>(in_dims<dims<all_elements<std::tuple<Xs...>>, 1>>::of(vector), xs);
}
template <tensor_expression A, tensor_expression B>
constexpr auto dot(const A& a, const B& b) {
  return reduce_sum(a * b);
}

/// The trainable variables of a loss, as a tuple.
template <tensor_expression Loss>
constexpr auto variables_of(const Loss& loss) {
  using variables = loss_variables<Loss>;
  return [&]<std::size_t... K>(std::index_sequence<K...>) {
    return std::tuple(part_of<typename variables::template nth<static_cast<int>(K)>>(loss)...);
  }(std::make_index_sequence<static_cast<std::size_t>(variables::found.size)>{});
}

/// A state of a method that belongs to a variable: `variable/suffix`.
template <class Variable, fixed_string Suffix>
struct state_name {
  static constexpr auto text = [] {
    constexpr std::string_view own = structure_with<typename Variable::identity>::name, more = name_of<Suffix>::view();
    std::array<char, own.size() + more.size() + 1> all{};
    std::size_t n = 0;
    for (char c : own) all[n++] = c;
    all[n++] = '/';
    for (char c : more) all[n++] = c;
    return all;
  }();
  static constexpr std::string_view view() { return {text.data(), text.size()}; }
};
template <fixed_string Suffix, std::int64_t... Ds, tensor_expression Variable, class Start>
constexpr auto state_of(const Variable&, const Start& start) {
  return make_variable<state_name<Variable, Suffix>, typename Variable::element, dims<Ds...>, false>(start);
}

/// A search along `direction` [all] from the variables `xs` of a loss: the longest of the lengths `first` 4⁻ᵏ, k < Trials, that makes the
/// loss smaller by a ten-thousandth of what the slope promises, or 0 if none does. Source: Armijo (1966); Nocedal and Wright.
template <int Trials, tensor_expression Loss, class Xs, tensor_expression D, tensor_expression Slope, tensor_expression First>
constexpr auto length_of_step(const Loss& loss, const Xs& xs, const D& direction, const Slope& slope, const First& first) {
  const auto parts = parts_of_vector(direction, xs);
  const auto from = [&]<std::size_t... I>(std::index_sequence<I...>, const auto& length) {
    return at_values(loss, xs, std::tuple((std::get<I>(xs) + std::get<I>(parts) * length)...));
  };
  const auto search = [&](const auto& self, auto left, const auto& length) {
    constexpr int remaining = decltype(left)::value;
    const auto found = from(std::make_index_sequence<std::tuple_size_v<Xs>>{}, length);
    const auto good = logical_and(slope < 0_c, found <= loss + slope * length * 1e-4_c);
    if constexpr (remaining <= 1) return select(good, length, length * 0_c);
    else return select(good, length, self(self, std::integral_constant<int, remaining - 1>{}, length * 0.25_c));
  };
  return search(search, std::integral_constant<int, Trials>{}, first);
}
/// The variables after such a step; a step of length 0 changes nothing, whatever the direction is.
template <class Xs, tensor_expression D, tensor_expression Length>
constexpr auto moved_along(const Xs& xs, const D& direction, const Length& length) {
  const auto parts = parts_of_vector(direction, xs);
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::tuple(
        assign(std::get<I>(xs), select(length > 0_c, std::get<I>(xs) + std::get<I>(parts) * length, std::get<I>(xs)))...);
  }(std::make_index_sequence<std::tuple_size_v<Xs>>{});
}

template <class Xs>
inline constexpr bool are_flat = false;
template <class X, class... Xs>
inline constexpr bool are_flat<std::tuple<X, Xs...>> =
    X::extent.is_static() && ((std::is_same_v<typename X::element, typename Xs::element> && Xs::extent.is_static()) && ...);
/// A loss whose variables can be one vector.
template <class Loss>
concept flat_loss = tensor_expression<Loss> && loss_problem<Loss>::none &&
                    are_flat<decltype(variables_of(std::declval<const Loss&>()))> &&
                    std::is_same_v<typename Loss::element,
                                   typename std::tuple_element_t<0, decltype(variables_of(std::declval<const Loss&>()))>::element>;

}  // namespace leat::detail
