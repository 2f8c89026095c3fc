#pragma once
// Kernels of random numbers with gamma distributions of scale 1, and of the derivative of such a number by its shape parameter alpha.
// With seeds, the numbers are TensorFlow's. Sources: TensorFlow `RandomGamma`, `StatelessRandomGammaV2`,
// `RandomGammaGrad`; Marsaglia and Tsang, "A simple method for generating gamma variables" (2000); Figurnov, Mohamed and Mnih, "Implicit
// reparameterization gradients" (2018).

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/random.hpp>
#include <leat/runtime/kernels/special.hpp>
#include <leat/runtime/kernels/text_places.hpp>

#include <cmath>
#include <string>

namespace leat::runtime {

/// A number with the gamma distribution of this alpha, from as many numbers as it takes; NaN for a negative alpha.
inline double gamma_number(mixed_numbers<double>& numbers, double alpha) {
  if (!(alpha >= 0) || std::isinf(alpha)) return alpha >= 0 ? alpha : special::nan;
  if (alpha == 1) return -std::log1p(-numbers.fraction());
  const bool is_small = alpha < 1;
  const double d = alpha + (is_small ? 2.0 / 3 : -1.0 / 3), width = 1.0 / 3 / std::sqrt(d);
  for (;;) {
    const double x = numbers.normal(), root = 1 + width * x;
    if (root <= 0) continue;
    const double v = root * root * root, u = numbers.fraction();
    if (u >= 1 - 0.0331 * (x * x) * (x * x) && std::log(u) >= 0.5 * x * x + d * (1 - v + std::log(v))) continue;
    // A smaller alpha: a power of a fraction times a number of alpha + 1.
    return is_small ? d * v * std::pow(numbers.fraction(), 1 / alpha) : d * v;
  }
}
/// Fills an array with numbers for the alphas of input `k`.
inline void fill_with_gamma_numbers(kernel_context& c, int k, const kernels::seeded_sequence& sequence, tensor_value& made) {
  const tensor_value alphas = c.input(k);
  with_fraction(alphas.type(), [&]<class T>(T) {
    T* const to = made.values<T>().data();
    const T* const from = alphas.values<T>().data();
    for_each_drawn(c, sequence, made.elements(), alphas.elements(),
                   [&](std::int64_t i, std::int64_t at, const kernels::seeded_sequence& own) {
                     mixed_numbers<double> numbers(own);
                     to[i] = static_cast<T>(gamma_number(numbers, static_cast<double>(from[at])));
                   });
  });
}
inline void run_random_gamma(kernel_context& c) {
  shape extent = shape_from(c.numbers(0));
  const shape alphas = c.extent(1);
  if (extent.rank + alphas.rank > max_rank) throw invalid_argument("RandomGamma: a result of too many dimensions");
  for (int k = 0; k < alphas.rank; ++k) extent.push(alphas[k]);
  tensor_value made(c.type(1), extent);
  fill_with_gamma_numbers(c, 1, blocks_for(c, made.elements()), made);
  c.set(0, std::move(made));
}
inline void run_stateless_gamma(kernel_context& c) {
  tensor_value made(c.type(2), shape_ending_with(c, "alpha"));
  fill_with_gamma_numbers(c, 2, kernels::seeded_sequence(integers(seed_pair(c, 1)).data()), made);
  c.set(0, std::move(made));
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
