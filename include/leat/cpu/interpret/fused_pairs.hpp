#pragma once
// Two or three operators as one function over blocks. Passing a result from one operator to the next through a block costs a store and a
// load, which take as much time as simple arithmetic. The most frequent combinations are therefore computed together:
//
//   f(x y + z), f(x y - z)      f is costly, and hides the time of the arithmetic before it. A missing factor is replaced by 1,
//                                and a missing addend by -0, which change nothing
//   (x ∘ y) ∘ z, z ∘ (x ∘ y)    ∘ is one of + - ×
//   relu(x ∘ y), square(x ∘ y)
//
// The operations and their order are the same as in the single operators.

#include <leat/cpu/interpret/element.hpp>
#include <leat/ops/nn.hpp>

namespace leat::cpu {

namespace detail {

template <class Inner, class Outer, bool First>
struct pair_of {
  template <class M, class V>
  static constexpr auto apply(V x, V y, V z) {
    const V t = Inner::template apply<M>(x, y);
    return First ? Outer::template apply<M>(t, z) : Outer::template apply<M>(z, t);
  }
};
template <class Inner, class Outer>
struct function_of {
  template <class M, class V>
  static constexpr auto apply(V x, V y) {
    return Outer::template apply<M>(Inner::template apply<M>(x, y));
  }
};
template <class Outer, bool Minus>
struct function_of_affine {
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr auto apply(V x, V y, V z) {
    const V t = M::multiply(x, y);
    return Outer::template apply<M>(Minus ? M::subtract(t, z) : M::add(t, z));
  }
};

struct fused_entry {
  int outer;
  int inner;
  bool first;  // whether the inner result is the outer operator's first operand; if affine, whether it subtracts
  dtype type;
  block_function block;
};

template <class Inner, class Outer, bool First, dtype D>
constexpr fused_entry pair_entry() {
  return {operator_record<Outer>::code, operator_record<Inner>::code, First, D,
          &element_loop<pair_of<Inner, Outer, First>, D, D, D, D>::block};
}
template <class Inner, class Outer, dtype D>
constexpr fused_entry function_entry() {
  return {operator_record<Outer>::code, operator_record<Inner>::code, true, D, &element_loop<function_of<Inner, Outer>, D, D, D>::block};
}
template <class Outer, bool Minus, dtype D>
constexpr fused_entry affine_entry() {
  return {operator_record<Outer>::code, -1, Minus, D, &element_loop<function_of_affine<Outer, Minus>, D, D, D, D>::block};
}

template <dtype D, class Inner>
constexpr auto pairs_with =
    std::array{pair_entry<Inner, add_op, true, D>(),  pair_entry<Inner, add_op, false, D>(), pair_entry<Inner, sub_op, true, D>(),
               pair_entry<Inner, sub_op, false, D>(), pair_entry<Inner, mul_op, true, D>(),  pair_entry<Inner, mul_op, false, D>(),
               function_entry<Inner, square_op, D>(), function_entry<Inner, relu_op, D>()};
template <dtype D, class... Outer>
constexpr auto affine_functions = std::array{affine_entry<Outer, false, D>()..., affine_entry<Outer, true, D>()...};

/// The function that applies `outer` to the result of `inner`, or null. If `inner` is -1, that result is a product plus a summand, or minus
/// it if `first`.
inline block_function find_fused(int outer, int inner, bool first, dtype type) {
  constexpr auto single = dtype::float32;
  constexpr auto twice = dtype::float64;
  const auto in = [&](const auto& table) -> block_function {
    for (const fused_entry& e : table)
      if (e.outer == outer && e.inner == inner && e.first == first && e.type == type) return e.block;
    return nullptr;
  };
  block_function found = nullptr;
  if (inner < 0) {
    found = in(affine_functions<single, exp_op, tanh_op, sigmoid_op, log_op, log1p_op, expm1_op, softplus_op>);
    return found != nullptr ? found : in(affine_functions<twice, exp_op, tanh_op, sigmoid_op>);
  }
  if (inner == operator_record<add_op>::code) found = type == single ? in(pairs_with<single, add_op>) : in(pairs_with<twice, add_op>);
  if (inner == operator_record<sub_op>::code) found = type == single ? in(pairs_with<single, sub_op>) : in(pairs_with<twice, sub_op>);
  if (inner == operator_record<mul_op>::code) found = type == single ? in(pairs_with<single, mul_op>) : in(pairs_with<twice, mul_op>);
  return found;
}

}  // namespace detail

}  // namespace leat::cpu
