#pragma once
// Limits on gradients, between computing and applying them.

#include <leat/ops/state.hpp>

namespace leat {

/// x scaled so that its Euclidean norm is at most `limit`. Source: TensorFlow `clip_by_norm`.
template <operand X, class Limit>
constexpr auto clip_by_norm(const X& x, const Limit& limit) {
  return x * limit / maximum(sqrt(reduce_sum(square(x))), limit);
}

/// Euclidean norm of all elements of all operands. Source: TensorFlow `global_norm`.
template <operand X, operand... Rest>
constexpr auto global_norm(const X& x, const Rest&... rest) {
  if constexpr (sizeof...(Rest) == 0)
    return sqrt(reduce_sum(square(x)));
  else
    return sqrt((reduce_sum(square(x)) + ... + reduce_sum(square(rest))));
}

/// All operands scaled together so that their global norm is at most `limit`; gives a tuple.
/// Source: TensorFlow `clip_by_global_norm`.
template <class Limit, operand... Xs>
constexpr auto clip_by_global_norm(const Limit& limit, const Xs&... xs) {
  const auto scale = limit / maximum(global_norm(xs...), limit);
  return std::make_tuple(xs * scale...);
}
template <class Limit, operand... Xs>
constexpr auto clip_by_global_norm(const Limit& limit, const std::tuple<Xs...>& xs) {
  return std::apply([&](const auto&... each) { return clip_by_global_norm(limit, each...); }, xs);
}

}  // namespace leat
