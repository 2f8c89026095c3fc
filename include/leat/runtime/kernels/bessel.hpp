#pragma once
// Kernels of Bessel functions of the first and second kind, of modified ones of the second kind, and of integrals: Dawson's, the
// exponential one, Fresnel's and Spence's. Float32 is computed as float64. J and Y are the C library's. What TensorFlow gives outside of
// the domain, the kernels give, too: infinity for K and Y at 0 and below, a NaN for J and Y at infinity and for Expint below 0. TensorFlow
// approximates by the fractions of the Cephes library (S. Moshier); here are expansions of the same accuracy. Sources: Abramowitz and
// Stegun, "Handbook of Mathematical Functions", 5.1, 7.1, 7.3, 9.6 and 27.7; G. Rybicki, "Dawson's integral and the sampling theorem"
// (1989). Source: TensorFlow `BesselJ0`, `BesselJ1`, `BesselY0`, `BesselY1`, `BesselK0`, `BesselK0e`, `BesselK1`, `BesselK1e`, `Dawsn`,
// `Expint`, `FresnelCos`, `FresnelSin`, `Spence`.

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/special.hpp>

#include <cmath>
#include <complex>
#include <numbers>

namespace leat::runtime {

namespace special {

// ---- Bessel functions -------------------------------------------------------------------------------------------------

inline double bessel_j0(double x) { return std::isinf(x) ? nan : ::j0(x); }
inline double bessel_j1(double x) { return std::isinf(x) ? nan : ::j1(x); }
inline double bessel_y0(double x) { return x <= 0 ? -infinite : std::isinf(x) ? nan : ::y0(x); }
inline double bessel_y1(double x) { return x <= 0 ? -infinite : std::isinf(x) ? nan : ::y1(x); }

/// The modified Bessel function of the second kind and order 0 or 1, up to x = 1: 9.6.11 and 9.6.13.
template <int Order>
double small_bessel_k(double x) {
  const double quarter = x * x / 4, logarithm = std::log(x / 2) + std::numbers::egamma;
  double term = Order == 0 ? 1 : x / 2, sum = 0, harmonic = Order == 0 ? 0 : 0.5;  // the mean of the harmonic numbers k and k + Order
  for (int k = 0; k < 30; ++k) {
    sum += term * (Order == 0 ? harmonic - logarithm : logarithm - harmonic);
    term *= quarter / (static_cast<double>(k + 1) * (k + 1 + Order));
    harmonic += Order == 0 ? 1.0 / (k + 1) : (1.0 / (k + 1) + 1.0 / (k + 2)) / 2;
  }
  return Order == 0 ? sum : 1 / x + sum;
}
/// The same times e^x, from x = 1 on: the integral of e^(-x (cosh t - 1)) cosh(Order t), 9.6.24, by the trapezoidal rule, whose error
/// vanishes exponentially. The step follows the width of the integrand.
template <int Order>
double large_bessel_k(double x) {
  const double step = 0.25 / std::sqrt(1 + x / 8);
  double sum = 0.5;
  for (int k = 1; k < 1000; ++k) {
    const double half = std::sinh(k * step / 2), exponent = 2 * x * half * half;
    if (exponent > 45) break;
    sum += std::exp(-exponent) * (Order == 0 ? 1 : std::cosh(k * step));
  }
  return step * sum;
}
template <int Order, bool IsScaled>
double bessel_k(double x) {
  if (std::isnan(x)) return x;
  if (x <= 0) return infinite;
  if (std::isinf(x)) return 0;
  if (x <= 1) return small_bessel_k<Order>(x) * (IsScaled ? std::exp(x) : 1);
  return large_bessel_k<Order>(x) * (IsScaled ? 1 : std::exp(-x));
}

// ---- integrals --------------------------------------------------------------------------------------------------------

/// e^(-x²) times the integral of e^(t²) from 0 to x.
inline double dawson(double x) {
  const double size = std::abs(x), square = x * x;
  if (std::isnan(x)) return x;
  if (size <= 1) {
    double term = x, sum = x;
    for (int k = 1; k < 40 && std::abs(term) > least * std::abs(sum); ++k) sum += term *= -2 * square / (2 * k + 1);
    return sum;
  }
  if (size >= 10) {
    double term = 1, sum = 1;
    for (int k = 1; k < 20 && term > least; ++k) sum += term *= (2 * k - 1) / (2 * square);
    return sum / (2 * x);
  }
  // The values of a Gauss function at odd multiples of a step, around x.
  constexpr double step = 0.25;
  const double nearest = 2 * std::round(size / (2 * step)), off = size - nearest * step;
  double sum = 0;
  for (int k = 1; k < 29; k += 2)
    for (const int n : {k, -k}) sum += std::exp(-(off - n * step) * (off - n * step)) / (nearest + n);
  return std::copysign(sum * std::numbers::inv_sqrtpi, x);
}

/// The principal value of the integral of e^t / t from -∞ to x > 0.
inline double exponential_integral(double x) {
  if (std::isnan(x) || x < 0 || std::isinf(x)) return nan;
  if (x == 0) return -infinite;
  if (x <= 40) {
    double term = 1, sum = 0;
    for (int k = 1; k < 400; ++k) {
      term *= x / k;
      sum += term / k;
      if (term < least * sum) break;
    }
    return std::numbers::egamma + std::log(x) + sum;
  }
  double term = 1, sum = 1;
  for (int k = 1; k < x && term > least; ++k) sum += term *= k / x;
  return std::exp(x) / x * sum;
}

/// The integrals of cos(π t² / 2) and sin(π t² / 2) from 0 to x.
inline std::complex<double> fresnel(double x) {
  const double size = std::abs(x), square = x * x;
  if (std::isnan(x)) return {x, x};
  std::complex<double> both(0.5, 0.5);
  if (size < 1.6) {
    const double angle = std::numbers::pi / 2 * square;
    double term = size;  // angle^k / k! times x
    double parts[2]{0, 0};
    for (int k = 0; k < 60 && term > least * least; ++k) {
      parts[k % 2] += (k % 4 < 2 ? term : -term) / (2 * k + 1);
      term *= angle / (k + 1);
    }
    both = {parts[0], parts[1]};
  } else if (size < 36974) {
    // By the continued fraction of the complementary error function, from front to back (Lentz). Farther out TensorFlow gives 1/2.
    constexpr double tiny = 1e-300;
    std::complex<double> b(1, -std::numbers::pi * square), c = 1 / tiny, d = 1.0 / b, all = d;
    for (int k = 1; k < most_terms; k += 2) {
      const double over = -static_cast<double>(k) * (k + 1);
      b += 4;
      d = 1.0 / (over * d + b);
      c = b + over / c;
      const std::complex<double> change = c * d;
      all *= change;
      if (std::abs(change - 1.0) < 4 * least) break;
    }
    all *= std::complex<double>(size, -size);
    const double angle = std::numbers::pi / 2 * std::fmod(square, 4);
    both = std::complex<double>(0.5, 0.5) * (1.0 - std::complex<double>(std::cos(angle), std::sin(angle)) * all);
  }
  return x < 0 ? -both : both;
}

/// Minus the integral of log(t) / (t - 1) from 1 to x: the dilogarithm of 1 - x.
inline double spence(double x) {
  if (std::isnan(x) || x < 0 || std::isinf(x)) return nan;
  constexpr double at_zero = std::numbers::pi * std::numbers::pi / 6;
  if (x == 0) return at_zero;
  if (x > 1.5) {
    const double logarithm = std::log(x);
    return -logarithm * logarithm / 2 - spence(1 / x);
  }
  if (x < 0.5) return at_zero - std::log(x) * std::log1p(-x) - spence(1 - x);
  // In the logarithm, with Bernoulli numbers over factorials: B2 / 3!, B4 / 5!, ...
  const double u = -std::log(x), square = u * u;
  constexpr double factors[]{1.0 / 36, -1.0 / 3600, 1.0 / 211680, -1.0 / 10886400, 1.0 / 526901760, -691.0 / 16999766784000.0,
                             1.0 / 1120863744000.0, -3617.0 / 181400588328960000.0};
  double power = u, sum = u - square / 4;
  for (const double factor : factors) sum += factor * (power *= square);
  return sum;
}

}  // namespace special

LEAT_FILL(fill_bessel_kernels) {
  const auto enter = [](std::string_view type, double (*f)(double)) {
    register_kernel(type, [f](kernel_context& c) { run_elements<double, 1>(c, f); });
  };
  enter("BesselJ0", special::bessel_j0);
  enter("BesselJ1", special::bessel_j1);
  enter("BesselY0", special::bessel_y0);
  enter("BesselY1", special::bessel_y1);
  enter("BesselK0", special::bessel_k<0, false>);
  enter("BesselK0e", special::bessel_k<0, true>);
  enter("BesselK1", special::bessel_k<1, false>);
  enter("BesselK1e", special::bessel_k<1, true>);
  enter("Dawsn", special::dawson);
  enter("Expint", special::exponential_integral);
  enter("FresnelCos", [](double x) { return special::fresnel(x).real(); });
  enter("FresnelSin", [](double x) { return special::fresnel(x).imag(); });
  enter("Spence", special::spence);
}

}  // namespace leat::runtime
