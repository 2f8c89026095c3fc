#pragma once
// Polynomials by Horner's rule, with one fused multiply-add per coefficient, over any value for which the policy M has `fma`. Scalars and
// batches evaluate the same operations in the same order. Coefficients are passed as arguments, highest power first, because device code
// cannot index a constant array.

namespace leat::kernels {

/// c0 x^n + c1 x^(n-1) + … + cn.
template <class M, class V, class... Coefficients>
[[gnu::always_inline]] constexpr V horner(V x, typename M::value_type first, Coefficients... rest) {
  V sum(first);
  ((sum = M::fma(sum, x, V(static_cast<typename M::value_type>(rest)))), ...);
  return sum;
}

}  // namespace leat::kernels
