#pragma once
// Special functions that C++ lacks, for single values: the logarithm of the gamma function without errno and `signgam`, its derivatives,
// and the Hurwitz zeta function. All but the first compute in float64. They are constexpr for device code, and templates because a
// constexpr function that is not constant for any argument is otherwise an error. Source: Cephes (Moshier 1989), `psi` and `zeta`.

#include <cmath>
#include <limits>

namespace leat::kernels::special {

/// log |Γ(x)|; infinity at 0, at negative integers and at both infinities. It is not `::lgamma`, which writes the global `signgam`.
template <class T>
constexpr T lgamma(T x) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == 4) return ::lgammaf(x);
  else return ::lgamma(x);
#else
  int sign = 0;
#if defined(__GNUC__) && !defined(__clang__)  // its declaration may be hidden
  if constexpr (sizeof(T) == 4) return __builtin_lgammaf_r(x, &sign);
  else return __builtin_lgamma_r(x, &sign);
#else
  if constexpr (sizeof(T) == 4) return ::lgammaf_r(x, &sign);
  else return ::lgamma_r(x, &sign);
#endif
#endif
}

/// The derivative of log Γ; NaN at 0 and at negative integers, as in TensorFlow.
template <class T>
constexpr double digamma(T at) {
  double x = static_cast<double>(at);
  constexpr double pi = 3.14159265358979323846;
  double reflected = 0;
  if (x <= 0) {
    const double below = ::floor(x);
    if (below == x) return std::numeric_limits<double>::quiet_NaN();
    const double rest = x - below > 0.5 ? x - below - 1 : x - below;
    reflected = rest == 0.5 ? 0 : pi / ::tan(pi * rest);
    x = 1 - x;
  }
  double sum = 0;
  for (; x < 10; x += 1) sum += 1 / x;
  const double z = 1 / (x * x);
  const double tail =
      z * (8.33333333333333333333e-2 -
           z * (8.33333333333333333333e-3 -
                z * (3.96825396825396825397e-3 -
                     z * (4.16666666666666666667e-3 -
                          z * (7.57575757575757575758e-3 - z * (2.10927960927960927961e-2 - z * 8.33333333333333333333e-2))))));
  return ::log(x) - 0.5 / x - tail - sum - reflected;
}

/// Σ (q + k)⁻ˣ over k >= 0, for q > 0: the first terms are summed, and the Euler-Maclaurin formula gives the rest.
template <class T>
constexpr double zeta_of_positive(T x, T q) {
  constexpr double divisors[]{12.0,
                              -720.0,
                              30240.0,
                              -1209600.0,
                              47900160.0,
                              -1.8924375803183791606e9,
                              7.47242496e10,
                              -2.950130727918164224e12,
                              1.1646782814350067249e14,
                              -4.5979787224074726105e15,
                              1.8152105401943546773e17,
                              -7.1661652561756670113e18};
  constexpr double least = 1.11e-16;
  double sum = ::pow(q, -x);
  if (sum == 0 || sum > std::numeric_limits<double>::max()) return sum;
  double at = q, term = 0;
  for (int k = 0; k < 9 || at <= 9; ++k) {
    at += 1;
    term = ::pow(at, -x);
    sum += term;
    if (term < least * sum) return sum;
  }
  sum += term * at / (x - 1) - 0.5 * term;
  double factor = 1;
  for (int k = 0; k < 12; ++k) {
    factor *= x + 2 * k;
    term /= at;
    const double next = factor * term / divisors[k];
    sum += next;
    if (::fabs(next) < least * ::fabs(sum)) return sum;
    factor *= x + 2 * k + 1;
    term /= at;
  }
  return sum;
}
/// The Hurwitz zeta function: infinity for x = 1, NaN for x < 1. For q <= 0, it is NaN unless x is an integer; at integers q it is infinity
/// if x is even, else NaN.
template <class X, class Q>
constexpr double zeta(X first, Q second) {
  const double x = static_cast<double>(first), q = static_cast<double>(second);
  constexpr double infinity = std::numeric_limits<double>::infinity(), none = std::numeric_limits<double>::quiet_NaN();
  if (x != x || q != q) return none;
  if (x == 1) return infinity;
  if (x < 1) return none;
  if (q > 0) return zeta_of_positive(x, q);
  const bool even = ::fmod(x, 2) == 0;
  if (q == ::floor(q)) return even && ::floor(x) == x ? infinity : none;
  if (x != ::floor(x)) return none;
  const double rest = -q - ::floor(-q);  // the terms below 0: those of `rest` and on, less those of 1 - q and on
  const double below = zeta_of_positive(x, rest) - zeta_of_positive(x, 1 - q);
  return zeta_of_positive(x, 1 - rest) + (even ? below : -below);
}
/// The n-th derivative of digamma, for integers n >= 0; NaN for others.
template <class N, class X>
constexpr double polygamma(N order, X at) {
  const double n = static_cast<double>(order), x = static_cast<double>(at);
  if (n != ::floor(n) || n < 0) return std::numeric_limits<double>::quiet_NaN();
  if (n == 0) return digamma(x);
  const double size = ::exp(lgamma(n + 1)) * zeta(n + 1, x);
  return ::fmod(n, 2) == 0 ? -size : size;
}

}  // namespace leat::kernels::special
