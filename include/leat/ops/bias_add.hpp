#pragma once
// A vector added along the last axis. Errors: rules.hpp.

#include <leat/ops/array_plan.hpp>

namespace leat {

namespace detail {
template <class X, class B>
struct bias_plan {
  static constexpr std::string_view function = "bias_add";
  static constexpr std::string_view problem() {
    if (X::type != B::type) return "dtypes differ (cast<T>(x) converts)";
    if (!is_number(X::type)) return rule::refusal(rule::takes::number);
    if (B::rank != 1) return "the bias is no vector";
    if (X::rank < 1) return "a scalar has no axis for the bias";
    if (X::extent[X::rank - 1] != B::extent[0]) return "the length of the bias is not the last dimension";
    return {};
  }
};
}  // namespace detail

/// x + bias along the last axis: a sum that refuses every other shape of the bias, where `x + bias` would broadcast. Shapes: x […, n], bias
/// [n]; result as x. Dtypes: numbers, the same in both. Errors: the bias is no vector of that length. Source: TensorFlow `BiasAdd`.
template <tensor_expression X, tensor_expression B>
  requires detail::fits_plan<detail::bias_plan<X, B>>
constexpr auto bias_add(const X& x, const B& bias) {
  return x + bias;
}
template <tensor_expression X, tensor_expression B>
  requires(!detail::fits_plan<detail::bias_plan<X, B>>)
detail::why_not<detail::bias_plan<X, B>, X, B> bias_add(const X&, const B&) = delete;
LEAT_OTHERWISE("bias_add(x, bias) takes two tensors; " LEAT_TENSORS) bias_add(...) LEAT_DELETED;

}  // namespace leat
