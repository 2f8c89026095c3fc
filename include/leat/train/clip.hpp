#pragma once
// Limits on gradients, between computing and applying them.

#include <leat/ops/state.hpp>

namespace leat {

/// x scaled so that its Euclidean norm is at most `limit`. Source: TensorFlow `clip_by_norm`.
template <tensor_expression X, class Limit>
constexpr auto clip_by_norm(const X& x, const Limit& limit) {
  // the square root of 0 has no gradient: there 1 stands in for the sum
  const auto sum = reduce_sum(square(x));
  const auto some = greater(sum, constant_beside<0>(sum));
  const auto norm = select(some, sqrt(select(some, sum, constant_beside<1>(sum))), sum);
  return x * limit / maximum(norm, limit);
}

/// Euclidean norm of all elements of all operands. Source: TensorFlow `global_norm`.
template <tensor_expression X, tensor_expression... Rest>
constexpr auto global_norm(const X& x, const Rest&... rest) {
  if constexpr (sizeof...(Rest) == 0)
    return sqrt(reduce_sum(square(x)));
  else
    return sqrt((reduce_sum(square(x)) + ... + reduce_sum(square(rest))));
}

/// All operands scaled together so that their global norm is at most `limit`; gives a tuple.
/// Source: TensorFlow `clip_by_global_norm`.
template <class Limit, tensor_expression... Xs>
constexpr auto clip_by_global_norm(const Limit& limit, const Xs&... xs) {
  const auto norm = global_norm(xs...);
  const auto scale = limit / maximum(norm, limit) + (norm - norm);  // an infinite norm makes NaN of everything, not 0 of some
  return std::make_tuple(xs * scale...);
}
template <class Limit, tensor_expression... Xs>
constexpr auto clip_by_global_norm(const Limit& limit, const std::tuple<Xs...>& xs) {
  return std::apply([&](const auto&... each) { return clip_by_global_norm(limit, each...); }, xs);
}

}  // namespace leat
