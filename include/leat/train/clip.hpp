#pragma once
// Clipping of gradients, after they are computed and before they are applied.

#include <leat/ops/state.hpp>

namespace leat {

namespace detail {
template <class L>
concept limit = number_or_constant<L> || (tensor_expression<L> && requires { requires L::rank == 0; });
}  // namespace detail

/// x scaled so that its Euclidean norm is at most `limit`. Shapes: limit []; result like x. Dtypes: floating point.
/// Source: TensorFlow `clip_by_norm`.
template <tensor_expression X, detail::limit Limit>
constexpr auto clip_by_norm(const X& x, const Limit& limit) {
  // The square root has no gradient at 0, so a sum of 0 is replaced by 1.
  const auto sum = reduce_sum(square(x));
  const auto some = greater(sum, constant_beside<0>(sum));
  const auto norm = select(some, sqrt(select(some, sum, constant_beside<1>(sum))), sum);
  return x * limit / maximum(norm, limit);
}
LEAT_OTHERWISE("clip_by_norm(x, limit) takes a tensor and a number or scalar tensor; " LEAT_TENSORS) clip_by_norm(...) LEAT_DELETED;

/// Euclidean norm of all elements of all operands, a scalar. Dtypes: floating point. Source: TensorFlow `global_norm`.
template <tensor_expression X, tensor_expression... Rest>
constexpr auto global_norm(const X& x, const Rest&... rest) {
  if constexpr (sizeof...(Rest) == 0) return sqrt(reduce_sum(square(x)));
  else return sqrt((reduce_sum(square(x)) + ... + reduce_sum(square(rest))));
}
LEAT_OTHERWISE("global_norm(x, y, ...) takes tensors; " LEAT_TENSORS) global_norm(...) LEAT_DELETED;

/// All operands scaled by one factor so that their global norm is at most `limit`, as a tuple. Dtypes: floating point.
/// Source: TensorFlow `clip_by_global_norm`.
template <detail::limit Limit, tensor_expression... Xs>
  requires(sizeof...(Xs) > 0)
constexpr auto clip_by_global_norm(const Limit& limit, const Xs&... xs) {
  const auto norm = global_norm(xs...);
  const auto scale = limit / maximum(norm, limit) + (norm - norm);  // makes all results NaN if the norm is infinite
  return std::make_tuple(xs * scale...);
}
template <detail::limit Limit, tensor_expression... Xs>
constexpr auto clip_by_global_norm(const Limit& limit, const std::tuple<Xs...>& xs) {
  return std::apply([&](const auto&... each) { return clip_by_global_norm(limit, each...); }, xs);
}
LEAT_OTHERWISE("clip_by_global_norm(limit, x, y, ...) takes a number or scalar tensor, then tensors or a tuple of them; " LEAT_TENSORS)
clip_by_global_norm(...) LEAT_DELETED;

}  // namespace leat
