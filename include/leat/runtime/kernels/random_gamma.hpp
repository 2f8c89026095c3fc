#pragma once
// Kernels of random numbers with gamma distributions of scale 1, and of the derivative of such a number by its shape parameter alpha. The
// numbers are not TensorFlow's; the distribution and the derivative are. Sources: TensorFlow `RandomGamma`, `StatelessRandomGammaV2`,
// `RandomGammaGrad`; Marsaglia and Tsang, "A simple method for generating gamma variables" (2000); Figurnov, Mohamed and Mnih, "Implicit
// reparameterization gradients" (2018).

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/random.hpp>
#include <leat/runtime/kernels/special.hpp>
#include <leat/runtime/kernels/text_places.hpp>

#include <cmath>
#include <string>

namespace leat::runtime {

/// A number with the gamma distribution of this alpha, drawn with as many numbers of `seed` as it takes; NaN for a negative alpha.
inline double gamma_number(std::uint64_t seed, double alpha) {
  if (!(alpha >= 0) || std::isinf(alpha)) return alpha >= 0 ? alpha : special::nan;
  const std::uint64_t of_units = mix(seed, 1);
  const double d = (alpha < 1 ? alpha + 1 : alpha) - 1.0 / 3, width = 1 / std::sqrt(9 * d);
  for (std::uint64_t k = 0;; ++k) {
    const double x = normal<double>(seed, k), root = 1 + width * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(1 - uniform<double>(of_units, k)) >= x * x / 2 + d - d * v + d * std::log(v)) continue;
    // A smaller alpha: a power of a uniform number times a number of alpha + 1.
    return alpha >= 1 ? d * v : std::exp(std::log(d * v) + std::log(1 - uniform<double>(mix(seed, 2), 0)) / alpha);
  }
}
/// Numbers for the alphas of input `k`, repeated; number i from the seed mix(seed, begin + i).
inline tensor_value gamma_numbers(kernel_context& c, int k, const shape& extent, std::uint64_t seed, std::uint64_t begin) {
  const tensor_value alphas = c.input(k);
  tensor_value made(alphas.type(), extent);
  with_fraction(alphas.type(), [&]<class T>(T) {
    T* const to = made.values<T>().data();
    const T* const from = alphas.values<T>().data();
    const std::int64_t each = alphas.elements();
    for (std::int64_t i = 0; i < made.elements(); ++i) {
      if (i % 4096 == 0) c.step.check();
      to[i] = static_cast<T>(gamma_number(mix(seed, begin + static_cast<std::uint64_t>(i)), static_cast<double>(from[i % each])));
    }
  });
  return made;
}
inline void run_random_gamma(kernel_context& c) {
  shape extent = shape_from(c.numbers(0));
  const shape alphas = c.extent(1);
  if (extent.rank + alphas.rank > max_rank) throw invalid_argument("RandomGamma: a result of too many dimensions");
  for (int k = 0; k < alphas.rank; ++k) extent.push(alphas[k]);
  const auto [seed, begin] = draw(c, extent.elements());
  c.set(0, gamma_numbers(c, 1, extent, seed, begin));
}
inline void run_stateless_gamma(kernel_context& c) {
  const shape extent = shape_from(c.numbers(0)), alphas = c.extent(2);
  const tensor_value seed = seed_pair(c, 1);
  bool fits = extent.rank >= alphas.rank;
  for (int k = 0; fits && k < alphas.rank; ++k) fits = alphas[k] == extent[extent.rank - alphas.rank + k];
  if (!fits) throw invalid_argument("Shape passed in must end with broadcasted shape: " + brackets(extent) + ", alpha " + brackets(alphas));
  const auto numbers = integers(seed);
  const std::uint64_t first = mix(0x6a33a, static_cast<std::uint64_t>(numbers[0]));
  c.set(0, gamma_numbers(c, 2, extent, mix(first, static_cast<std::uint64_t>(numbers[1])), 0));
}

/// A number that depends on alpha, and its derivative by it.
struct with_slope {
  double value, slope;
  friend with_slope operator+(with_slope a, with_slope b) { return {a.value + b.value, a.slope + b.slope}; }
  friend with_slope operator*(with_slope a, with_slope b) { return {a.value * b.value, a.slope * b.value + a.value * b.slope}; }
  friend with_slope inverse(with_slope a) { return {1 / a.value, -a.slope / (a.value * a.value)}; }
};
/// The derivative of a gamma number by alpha, at the number x: that of the distribution function by alpha, over minus the density.
inline double gamma_slope(double alpha, double x) {
  if (!(alpha > 0) || !(x >= 0) || std::isinf(alpha) || std::isinf(x)) return special::nan;
  if (x == 0) return 0;
  const double log_x = std::log(x);
  if (x < alpha + 1) {  // the series of the lower incomplete gamma function
    double term = x / alpha, psi = arithmetic<double>::digamma(alpha) + 1 / alpha, sum = term * (log_x - psi);
    for (int k = 1; k < special::most_terms; ++k) {
      term *= x / (alpha + k);
      psi += 1 / (alpha + k);
      const double more = term * (log_x - psi);
      sum += more;
      if (std::abs(more) < special::least * std::abs(sum) && alpha + k > x) break;
    }
    return -sum;
  }
  // The continued fraction of the upper incomplete gamma function, by Lentz's method, which begins with the first term.
  constexpr double tiny = 1e-300;
  with_slope b{x + 1 - alpha, -1}, c{1 / tiny, 0}, d = inverse(b), all = d;
  for (int k = 1; k < special::most_terms; ++k) {
    const with_slope over{k * (alpha - k), static_cast<double>(k)};
    b.value += 2;
    d = over * d + b;
    if (std::abs(d.value) < tiny) d.value = tiny;
    d = inverse(d);
    c = b + over * inverse(c);
    if (std::abs(c.value) < tiny) c.value = tiny;
    const with_slope change = d * c;
    all = all * change;
    if (std::abs(change.value - 1) < special::least * 8 && std::abs(change.slope) < special::least * 64) break;
  }
  return x * (all.value * (log_x - arithmetic<double>::digamma(alpha)) + all.slope);
}
inline void run_gamma_slopes(kernel_context& c) {
  const tensor_value alphas = c.input(0), samples = c.input(1);
  const auto both = broadcast(alphas.extent(), samples.extent());
  if (!both.ok) throw invalid_argument("Incompatible shapes: " + brackets(alphas.extent()) + " vs. " + brackets(samples.extent()));
  tensor_value made(alphas.type(), both.extent);
  const auto of_alphas = broadcast_places(alphas.extent(), both.extent), of_samples = broadcast_places(samples.extent(), both.extent);
  with_fraction(made.type(), [&]<class T>(T) {
    const auto to = made.values<T>();
    for (std::size_t i = 0; i < to.size(); ++i) {
      if (i % 1024 == 0) c.step.check();
      to[i] = static_cast<T>(gamma_slope(static_cast<double>(alphas.values<T>()[static_cast<std::size_t>(of_alphas[i])]),
                                         static_cast<double>(samples.values<T>()[static_cast<std::size_t>(of_samples[i])])));
    }
  });
  c.set(0, std::move(made));
}

LEAT_FILL(fill_random_gamma_kernels) {
  register_kernel("RandomGamma", run_random_gamma);
  register_kernel("StatelessRandomGammaV2", run_stateless_gamma);
  register_kernel("RandomGammaGrad", run_gamma_slopes);
}

}  // namespace leat::runtime
