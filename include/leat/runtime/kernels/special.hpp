#pragma once
// Kernels of special functions: incomplete integrals, Bessel functions, inverses of the error function, and products that ignore what is
// multiplied by 0. Float32 is computed as float64. For the expansions see Abramowitz and Stegun, "Handbook of Mathematical Functions", 6.5,
// 9.6, 9.7, 26.2 and 26.5. Source: TensorFlow `Igamma`, `Igammac`, `Betainc`, `BesselI0`, `BesselI0e`, `BesselI1`, `BesselI1e`, `Erfinv`,
// `Ndtri`, `Xlog1py`, `MulNoNan`, `NextAfter`, `PopulationCount`.

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/shape.hpp>
#include <leat/runtime/kernels/walk.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

namespace leat::runtime {

namespace special {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double least = std::numeric_limits<double>::epsilon() / 4;
constexpr int most_terms = 20000;  // of an expansion: arguments beyond 10^7 lose digits, none takes longer

inline double log_gamma(double x) { return arithmetic<double>::lgamma(x); }

/// x^a e^-x / Γ(a + 1), and the sum of the series by which it is multiplied to give the lower incomplete gamma function.
inline double lower_gamma_series(double a, double x) {
  double term = 1, sum = 1;
  for (int k = 1; k < most_terms && term > least * sum; ++k) sum += term *= x / (a + k);
  return sum * std::exp(a * std::log(x) - x - log_gamma(a + 1));
}
/// The continued fraction of the upper incomplete gamma function, from front to back (Lentz).
inline double upper_gamma_fraction(double a, double x) {
  constexpr double tiny = 1e-300;
  double b = x + 1 - a, c = 1 / tiny, d = 1 / b, all = d;
  for (int k = 1; k < most_terms; ++k) {
    const double over = -k * (k - a);
    b += 2;
    d = over * d + b;
    d = 1 / (std::abs(d) < tiny ? tiny : d);
    c = b + over / c;
    if (std::abs(c) < tiny) c = tiny;
    all *= d * c;
    if (std::abs(d * c - 1) < least * 8) break;
  }
  return all * std::exp(a * std::log(x) - x - log_gamma(a));
}
/// The regularized incomplete gamma functions: the lower one, or the upper one, which is 1 minus it.
template <bool IsUpper>
double incomplete_gamma(double a, double x) {
  if (x == 0 && !IsUpper) return 0;
  if (std::isnan(x) || !(a > 0) || x < 0) return nan;
  if (x == 0) return 1;
  if (std::isinf(a)) return IsUpper && !std::isinf(x) ? 1 : 0;
  if (std::isinf(x)) return IsUpper ? 0 : 1;
  if (x < a + 1) {
    const double lower = lower_gamma_series(a, x);
    return IsUpper ? 1 - lower : lower;
  }
  const double upper = upper_gamma_fraction(a, x);
  return IsUpper ? upper : 1 - upper;
}

/// The continued fraction of the incomplete beta function, from front to back (Lentz).
inline double beta_fraction(double a, double b, double x) {
  constexpr double tiny = 1e-300;
  const auto off_zero = [](double v) { return std::abs(v) < tiny ? tiny : v; };
  double c = 1, d = 1 / off_zero(1 - (a + b) * x / (a + 1)), all = d;
  for (int k = 1; k < most_terms; ++k) {
    double change = 1;
    for (const bool is_even : {true, false}) {
      const double over =
          is_even ? k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k)) : -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1));
      d = 1 / off_zero(1 + over * d);
      c = off_zero(1 + over / c);
      change = d * c;
      all *= change;
    }
    if (std::abs(change - 1) < least * 8) break;
  }
  return all;
}
inline double incomplete_beta(double a, double b, double x) {
  if (!(a > 0) || !(b > 0) || !(x >= 0) || !(x <= 1)) return nan;
  if (x == 0 || x == 1) return x;
  const double log_front = log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) + b * std::log1p(-x);
  if (x < (a + 1) / (a + b + 2)) return std::exp(log_front) * beta_fraction(a, b, x) / a;
  return 1 - std::exp(log_front) * beta_fraction(b, a, 1 - x) / b;
}

/// The modified Bessel function of order `Order`, times e^-|x|.
template <int Order>
double scaled_bessel(double x) {
  const double size = std::abs(x);
  if (std::isnan(x)) return x;
  double value = 0;
  if (size <= 40) {
    const double quarter = size * size / 4;
    double term = Order == 0 ? 1 : size / 2, sum = term;
    for (int k = 1; k < most_terms && term > least * sum; ++k) sum += term *= quarter / (static_cast<double>(k) * (k + Order));
    value = sum * std::exp(-size);
  } else if (!std::isinf(size)) {
    double term = 1, sum = 1;
    for (int k = 1; k < 60 && std::abs(term) > least; ++k) {
      const double odd = 2 * k - 1;
      sum += term *= -(4.0 * Order - odd * odd) / (8 * k * size);
    }
    value = sum / std::sqrt(2 * std::numbers::pi * size);
  }
  return Order == 1 && x < 0 ? -value : value;
}

/// The y of erfc(y) = q, 0 < q <= 1: an approximation by a fraction, and Halley's steps.
inline double inverse_erfc(double q) {
  const double t = std::sqrt(-2 * std::log(q / 2));
  double y = -(2.30753 + 0.27061 * t) / (1 + t * (0.99229 + 0.04481 * t)) / std::numbers::sqrt2 + t / std::numbers::sqrt2;
  for (int k = 0; k < 3; ++k) {
    const double slope = 2 * std::numbers::inv_sqrtpi * std::exp(-y * y);
    if (slope == 0) break;
    const double off = (std::erfc(y) - q) / slope;
    y += off / (1 - y * off);
  }
  return y;
}
inline double inverse_erf(double x) {
  const double size = std::abs(x);
  if (!(size <= 1)) return nan;
  if (size == 1) return std::copysign(infinite, x);
  if (size > 0.5) return std::copysign(inverse_erfc(1 - size), x);
  double y = x / (2 * std::numbers::inv_sqrtpi);
  for (int k = 0; k < 5; ++k) {
    const double off = (std::erf(y) - x) / (2 * std::numbers::inv_sqrtpi * std::exp(-y * y));
    y -= off / (1 + y * off);
  }
  return y;
}
/// The quantile of the normal distribution.
inline double normal_quantile(double p) {
  if (!(p >= 0) || !(p <= 1)) return nan;
  if (p == 0 || p == 1) return p == 0 ? -infinite : infinite;
  if (p > 0.25 && p < 0.75) return std::numbers::sqrt2 * inverse_erf(2 * p - 1);
  return p < 0.5 ? -std::numbers::sqrt2 * inverse_erfc(2 * p) : std::numbers::sqrt2 * inverse_erfc(2 * (1 - p));
}

}  // namespace special

/// An input broadcast to a shape.
template <class T>
std::vector<T> broadcast_elements(const tensor_value& v, const shape& to) {
  std::vector<T> made(static_cast<std::size_t>(to.elements()));
  auto strides = strides_of(v.extent());
  for (std::size_t d = 0; d < strides.size(); ++d)
    if (v.extent()[static_cast<int>(d)] == 1) strides[d] = 0;
  strides.insert(strides.begin(), static_cast<std::size_t>(to.rank - v.extent().rank), 0);
  if (!made.empty()) gather_walk(made.data(), v.values<T>().data(), to.dim, strides.data(), static_cast<std::size_t>(to.rank));
  return made;
}
/// A function of the elements of `Inputs` inputs of one dtype, which broadcast, with their numbers as `Computed`; void: as they are.
template <class Computed, std::size_t Inputs, class F>
void run_elements(kernel_context& c, F f) {
  shape extent = c.extent(0);
  for (int k = 1; k < static_cast<int>(Inputs); ++k) {
    const auto both = broadcast(extent, c.extent(k));
    if (!both.ok)
      throw invalid_argument("Incompatible shapes: " + brackets(extent) + " vs. " + brackets(c.extent(k)));
    extent = both.extent;
  }
  tensor_value made(c.type(0), extent);
  with_fraction(made.type(), [&]<class T>(T) {
    std::vector<T> all[Inputs];
    for (std::size_t k = 0; k < Inputs; ++k) all[k] = broadcast_elements<T>(c.input(static_cast<int>(k)), extent);
    const auto to = made.values<T>();
    for (std::size_t i = 0; i < to.size(); ++i) {
      if (i % 1024 == 0) c.step.check();
      const auto at = [&](std::size_t k) {
        if constexpr (std::is_void_v<Computed>) return all[k][i];
        else return static_cast<Computed>(all[k][i]);
      };
      if constexpr (Inputs == 1) to[i] = static_cast<T>(f(at(0)));
      else if constexpr (Inputs == 2) to[i] = static_cast<T>(f(at(0), at(1)));
      else to[i] = static_cast<T>(f(at(0), at(1), at(2)));
    }
  });
  c.set(0, std::move(made));
}

inline void run_betainc(kernel_context& c) {
  for (int k = 1; k < 3; ++k)
    for (int i = 0; i < k; ++i)
      if (c.extent(k).rank > 0 && c.extent(i).rank > 0 && !(c.extent(k) == c.extent(i)))
        throw invalid_argument("Shapes of inputs " + std::to_string(i) + " and " + std::to_string(k) + " are inconsistent: " +
                               brackets(c.extent(i)) + " vs. " + brackets(c.extent(k)));
  run_elements<double, 3>(c, special::incomplete_beta);
}
inline void run_population_count(kernel_context& c) {
  const tensor_value x = c.input(0);
  if (is_floating(x.type()) || x.type() == dtype::boolean) throw unimplemented("no kernel for dtype " + dtype_name(x.type()));
  tensor_value made(dtype::uint8, x.extent());
  with_storage(x.type(), [&]<class S>(S) {
    if constexpr (std::is_integral_v<S>)
      for (std::size_t i = 0; i < made.values<std::uint8_t>().size(); ++i)
        made.values<std::uint8_t>()[i] = static_cast<std::uint8_t>(std::popcount(stored<S>(x)[i]));
    else throw unimplemented("no kernel for dtype string");
  });
  c.set(0, std::move(made));
}

LEAT_FILL(fill_special_kernels) {
  register_kernel("Igamma", [](kernel_context& c) { run_elements<double, 2>(c, special::incomplete_gamma<false>); });
  register_kernel("Igammac", [](kernel_context& c) { run_elements<double, 2>(c, special::incomplete_gamma<true>); });
  register_kernel("Betainc", run_betainc);
  register_kernel("BesselI0e", [](kernel_context& c) { run_elements<double, 1>(c, special::scaled_bessel<0>); });
  register_kernel("BesselI1e", [](kernel_context& c) { run_elements<double, 1>(c, special::scaled_bessel<1>); });
  register_kernel("BesselI0", [](kernel_context& c) {
    run_elements<double, 1>(c, [](double x) { return special::scaled_bessel<0>(x) * std::exp(std::abs(x)); });
  });
  register_kernel("BesselI1", [](kernel_context& c) {
    run_elements<double, 1>(c, [](double x) { return special::scaled_bessel<1>(x) * std::exp(std::abs(x)); });
  });
  register_kernel("Erfinv", [](kernel_context& c) { run_elements<double, 1>(c, special::inverse_erf); });
  register_kernel("Ndtri", [](kernel_context& c) { run_elements<double, 1>(c, special::normal_quantile); });
  register_kernel("Xlog1py", [](kernel_context& c) {
    run_elements<void, 2>(c, []<class T>(T x, T y) { return x == T(0) ? T(0) : x * std::log1p(y); });
  });
  register_kernel("MulNoNan", [](kernel_context& c) {
    run_elements<void, 2>(c, []<class T>(T x, T y) { return y == T(0) ? T(0) : x * y; });
  });
  register_kernel("NextAfter", [](kernel_context& c) {
    run_elements<void, 2>(c, []<class T>(T x, T y) { return std::nextafter(x, y); });
  });
  register_kernel("PopulationCount", run_population_count);
}

}  // namespace leat::runtime
