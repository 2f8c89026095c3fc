#pragma once
// Gradients accumulated over several small batches and applied as one step, for batches that do not fit into memory at once.

#include <leat/train/averages.hpp>
#include <leat/train/optimizer.hpp>

namespace leat {

/// Two operations: `add` adds the gradients of one small batch, `apply` is a training step with the mean of all batches since the last
/// step.
template <expression Add, expression Apply>
struct accumulated_gradients {
  Add add;
  Apply apply;
};

namespace detail {
// "Name/w" for the variable w.
template <fixed_string Name, class Variable>
constexpr auto name_within() {
  constexpr std::string_view of = structure_with<typename Variable::identity>::name;
  fixed_string<of.size() + 1> its_name;
  for (std::size_t k = 0; k < of.size(); ++k) its_name.text[k] = of[k];
  return Name / its_name;
}
template <class X, std::size_t... K>
constexpr auto zeros_like_of(const X& x, std::index_sequence<K...>) {
  if constexpr (X::rank == 0) return constant_beside<0>(x);
  else return broadcast_to<X::extent[static_cast<int>(K)]...>(constant_beside<0>(x));
}
template <class X>
constexpr auto zeros_of_shape(const X& x) {
  return zeros_like_of(x, std::make_index_sequence<static_cast<std::size_t>(X::rank)>{});
}
}  // namespace detail

/// Accumulates the gradients from `compute_gradients`: `auto [add, apply] = accumulate_gradients<"sums">(adam(0.01f), pairs)`; run `add`
/// for each small batch, then `apply`. If no `add` preceded it, `apply` applies zeros. Arguments after the pairs are those of
/// `apply_gradients`: a counter, which rises with `apply`. Variables, untrainable, initially zeros: `Name/w` for each variable w, and
/// `Name/count`. Shapes and dtypes: as `apply_gradients`.
template <fixed_string Name, optimizer_like Optimizer, class... Gs, class... Vs, class... Step>
  requires(sizeof...(Gs) > 0 && sizeof...(Step) <= 1)
constexpr auto accumulate_gradients(const Optimizer& optimizer, const std::tuple<gradient_and_variable<Gs, Vs>...>& pairs,
                                    const Step&... step) {
  const auto count = detail::make_variable<name_of<Name / "count">, float, dims<>, false>(zeros);
  const auto sum_of = []<class V>(const V&) {
    return detail::make_variable<name_of<detail::name_within<Name, V>()>, typename V::element, detail::dims_like<V>, false>(zeros);
  };
  const auto many = maximum(count, constant_beside<1>(count));
  return std::apply(
      [&](const auto&... p) {
        const auto add = group(assign_add(sum_of(p.variable), p.gradient)..., assign_add(count, constant_beside<1>(count)));
        const auto means = std::make_tuple(with_variable(sum_of(p.variable) / cast<typename Vs::element>(many), p.variable)...);
        const auto train = optimizer.apply_gradients(means, step...);
        const auto apply = group(train, after(assign(sum_of(p.variable), detail::zeros_of_shape(sum_of(p.variable))), train)...,
                                 after(assign(count, constant_beside<0>(count)), train));
        return accumulated_gradients<std::remove_const_t<decltype(add)>, std::remove_const_t<decltype(apply)>>{add, apply};
      },
      pairs);
}
template <fixed_string Name>
LEAT_OTHERWISE(
    "accumulate_gradients<name>(optimizer, pairs, step) takes an optimizer, what its compute_gradients gave, and perhaps a counter")
accumulate_gradients(...) LEAT_DELETED;

}  // namespace leat
