#pragma once
// Plans: what a function of typed expressions that is made of several operators derives from its template arguments and from the shapes of
// its operands. A plan is a class with `function`, its name, and `problem()`, which is empty if the function accepts the operands.

#include <leat/ops/array_shape.hpp>

namespace leat::detail {

/// Up to 64 numbers of a plan.
struct number_list {
  static constexpr int most = 64;
  std::int64_t data[most]{};
  int count = 0;

  constexpr void push(std::int64_t n) { data[count++] = n; }
  constexpr std::int64_t operator[](int k) const { return data[k]; }
  constexpr bool contains(std::int64_t n) const { return find(n) >= 0; }
  constexpr int find(std::int64_t n) const {
    for (int k = 0; k < count; ++k)
      if (data[k] == n) return k;
    return -1;
  }
};

/// The numbers that a function without arguments returns, as attributes.
template <auto Numbers>
struct numbers_as_attributes {
  static constexpr number_list list = Numbers();
  template <std::size_t... I>
  static constexpr auto pack(std::index_sequence<I...>) -> attributes<list.data[I]...>;
  using type = decltype(pack(std::make_index_sequence<static_cast<std::size_t>(list.count)>{}));
};
template <auto Numbers>
using attributes_from = typename numbers_as_attributes<Numbers>::type;

/// An operator with such numbers as its attributes.
template <class Op, auto Numbers, tensor_expression X>
constexpr auto make_from(const X& x) {
  return make<Op, attributes_from<Numbers>>(x);
}
constexpr bool is_shape(const number_list& numbers, const shape& s) {
  if (numbers.count != s.rank) return false;
  for (int i = 0; i < s.rank; ++i)
    if (numbers[i] != s[i]) return false;
  return true;
}
constexpr bool is_in_order(const number_list& axes) {
  for (int i = 0; i < axes.count; ++i)
    if (axes[i] != i) return false;
  return true;
}
/// x in another shape, or with its axes in another order; x itself if nothing changes.
template <auto Numbers, tensor_expression X>
constexpr auto reshaped_from(const X& x) {
  if constexpr (is_shape(Numbers(), X::extent)) return x;
  else return make_from<reshape_op, Numbers>(x);
}
template <auto Numbers, tensor_expression X>
constexpr auto transposed_from(const X& x) {
  if constexpr (is_in_order(Numbers())) return x;
  else return make_from<transpose_op, Numbers>(x);
}

template <class Plan, class... Inputs>
struct plan_refusal {};  // for other arguments: clang instantiates the result type before it checks constraints
template <class Plan, tensor_expression... Inputs>
struct plan_refusal<Plan, Inputs...> {
  static constexpr message text() { return message{} << Plan::function << ": " << Plan::problem(); }
  using problem = error_in_expression<problem_text<plan_refusal>(), operand_text<Inputs>()...>;
};
/// The result type of a call that a plan refuses, which contains the reason.
template <class Plan, class... Inputs>
using why_not = typename plan_refusal<Plan, Inputs...>::problem;
template <class Plan>
concept fits_plan = Plan::problem().empty();

}  // namespace leat::detail
