#pragma once
// Kernels of random numbers. Those of a node's own sequence are TensorFlow's if the node has seeds; stateless ones are pure functions of
// their seeds, and TensorFlow's.

#include <leat/core/fill.hpp>
#include <leat/cpu/random.hpp>
#include <leat/runtime/kernels/class_kernel.hpp>
#include <leat/runtime/kernels/random_sequences.hpp>

#include <cmath>

namespace leat::runtime {

template <distribution_of_numbers How>
void run_random(kernel_context& c) {
  tensor_value made(c.node.type_of("dtype", dtype::float32), shape_from(c.numbers(0)));
  fill_with_numbers<How>(blocks_for(c, made.elements()), made);
  c.set(0, std::move(made));
}

inline void run_random_integers(kernel_context& c) {
  const auto [low, range] = bounds_of_integers(c, 1);
  tensor_value made(c.type(1), shape_from(c.numbers(0)));
  fill_with_integers(blocks_for(c, made.elements()), low, range, made);
  c.set(0, std::move(made));
}

inline void run_shuffle(kernel_context& c) {
  const tensor_value in = c.input(0);
  const shape& s = in.extent();
  if (s.rank == 0 || s[0] <= 1 || in.elements() == 0) return c.set(0, in);
  c.set(0, shuffled_rows(blocks_of(c, (static_cast<std::uint64_t>(s[0]) + 2) / 4), in));  // a word for all rows but one
}

inline void run_multinomial(kernel_context& c) {
  const tensor_value logits = c.input(0);
  const shape& s = logits.extent();
  const std::int64_t samples = c.number(1);
  if (s.rank != 2 || s[1] < 1) throw invalid_argument("logits should be a matrix of at least one column, got shape " + brackets(s));
  if (samples < 0) throw invalid_argument("num_samples should be nonnegative, got " + std::to_string(samples));
  shape extent;
  extent.push(s[0]);
  extent.push(samples);
  tensor_value made(c.node.type_of("output_dtype", dtype::int64), extent);
  if (made.elements() == 0) return c.set(0, std::move(made));  // of any number of classes
  const kernels::seeded_sequence sequence = blocks_for(c, 2 * s[0] * ((samples + 3) / 4 * 4));
  with_fraction(logits.type(), [&]<class T>(T) {
    with_index(made.type(), [&]<class I>(I) {
      std::vector<double> sums(static_cast<std::size_t>(s[1]));
      for (std::int64_t r = 0; r < s[0]; ++r) {
        const double total = kernels::store_sums(kernels::class_weights<T>(logits.values<T>().data() + r * s[1], s[1]), sums.data());
        for (std::int64_t k = r * samples; k < (r + 1) * samples; ++k) {
          const double number = kernels::unit_number<double>(sequence.block(k / 2), static_cast<int>(k % 2)) * total;
          made.values<I>()[static_cast<std::size_t>(k)] =
              static_cast<I>(std::min<std::int64_t>(kernels::class_at(sums.data(), s[1], number), s[1] - 1));
        }
      }
    });
  });
  c.set(0, std::move(made));
}

/// The two numbers of input `k`. Errors: invalid_argument if it has another shape.
inline tensor_value seed_pair(kernel_context& c, int k) {
  tensor_value seed = c.input(k);
  if (seed.extent().rank != 1 || seed.extent()[0] != 2) throw invalid_argument("seed must have shape [2], not " + brackets(seed.extent()));
  return seed;
}
template <distribution_of_numbers How>
auto run_stateless(kernel_context& c) {
  using computed = computed_by<stateless_random_op<How>>;
  const shape extent = shape_from(c.numbers(0));
  const tensor_value seed = seed_pair(c, 1);
  const dtype type = c.node.type_of("dtype", dtype::float32);
  tensor_value made(type, extent);
  const auto done = with_fraction(type, [&](auto) {
    return with_index(seed.type(), [&]<class Seed>(Seed) {
      return computed::template run_step<Seed, Seed>({static_cast<std::int64_t>(type)}, {&seed}, made);
    });
  });
  c.set(0, std::move(made));
  return done;
}
inline auto run_stateless_integers(kernel_context& c) {
  const shape extent = shape_from(c.numbers(0));
  const tensor_value seed = seed_pair(c, 1);
  const auto [first, range] = bounds_of_integers(c, 2);
  const auto low = static_cast<std::int64_t>(first), high = static_cast<std::int64_t>(first + range);
  const dtype type = c.type(2);
  tensor_value made(type, extent);
  const auto done = with_index(type, [&](auto) {
    return with_index(seed.type(), [&]<class Seed>(Seed) {
      return computed_by<stateless_integers_op>::run_step<Seed, Seed>({static_cast<std::int64_t>(type), low, high}, {&seed}, made);
    });
  });
  c.set(0, std::move(made));
  return done;
}
inline auto run_stateless_multinomial(kernel_context& c) {
  const tensor_value logits = c.input(0), seed = seed_pair(c, 2);
  const shape& s = logits.extent();
  if (s.rank != 2) throw invalid_argument("logits should be a matrix, got shape " + brackets(s));
  if (c.extent(1).rank != 0) throw invalid_argument("num_samples should be a scalar, got shape " + brackets(c.extent(1)));
  const std::int64_t samples = c.number(1);
  if (samples < 0) throw invalid_argument("num_samples should be non-negative, got " + std::to_string(samples));
  if (s[1] < 1) throw invalid_argument("num_classes should be positive, got " + std::to_string(s[1]));
  const dtype type = c.node.type_of("output_dtype", dtype::int64);
  shape extent;
  extent.push(s[0]);
  extent.push(samples);
  tensor_value made(type, extent);
  const auto done = with_fraction(logits.type(), [&]<class T>(T) {
    return with_index(seed.type(), [&]<class Seed>(Seed) {
      return with_index(type, [&](auto) {
        return computed_by<stateless_multinomial_op>::run_step<T, Seed>({samples, static_cast<std::int64_t>(type)}, {&logits, &seed}, made);
      });
    });
  });
  c.set(0, std::move(made));
  return done;
}

/// A number of independent events of which `rate` are expected, from as many fractions as it takes. Sources: for small rates Knuth, "The
/// art of computer programming"; else Hoermann, "The transformed rejection method for generating Poisson random variables", algorithm PTRS.
inline double poisson(mixed_numbers<double>& numbers, double rate) {
  if (rate < 10) {
    const double least = std::exp(-rate);
    double product = 1, events = 0;
    for (;; ++events)
      if (product *= numbers.fraction(); product <= least) return events;
  }
  const double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  const double inverse = 1.1239 + 1.1328 / (b - 3.4), bound = 0.9277 - 3.6224 / (b - 2), log_rate = std::log(rate);
  for (;;) {
    const double u = numbers.fraction() - 0.5, v = numbers.fraction(), us = 0.5 - std::abs(u);
    const double events = std::floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= bound) return events;
    if (events < 0 || (us < 0.013 && v > us)) continue;
    if (std::log(v * inverse / (a / (us * us) + b)) <= -rate + events * log_rate - std::lgamma(events + 1)) return events;
  }
}
/// Calls f(i, k, sequence) for each element i of a result that has as many numbers for each of `each` parameters: k is the parameter, and
/// the sequence is the element's own. TensorFlow counts the elements of one parameter after those of another.
template <class F>
void for_each_drawn(kernel_context& c, const kernels::seeded_sequence& sequence, std::int64_t elements, std::int64_t each, F f) {
  const std::int64_t rows = each == 0 ? 0 : elements / each;
  for (std::int64_t i = 0; i < elements; ++i) {
    if (i % 4096 == 4095) c.step.check();
    const std::int64_t k = i % each;
    f(i, k, sequence.after(blocks_per_number * static_cast<std::uint64_t>(k * rows + i / each)));
  }
}
/// Fills an array with numbers of events for the rates of input `k`. Rates that are negative or not finite give NaN, or 0 as integers.
inline void fill_with_events(kernel_context& c, int k, const kernels::seeded_sequence& sequence, tensor_value& made) {
  const tensor_value rates = c.input(k);
  with_number(rates.type(), [&]<class R>(R) {
    with_number(made.type(), [&]<class T>(T) {
      T* const to = made.values<T>().data();
      for_each_drawn(
          c, sequence, made.elements(), rates.elements(), [&](std::int64_t i, std::int64_t at, const kernels::seeded_sequence& own) {
            const auto rate = static_cast<double>(rates.values<R>()[static_cast<std::size_t>(at)]);
            to[i] = std::numeric_limits<T>::has_quiet_NaN ? std::numeric_limits<T>::quiet_NaN() : T(0);
            if (!(rate >= 0 && std::isfinite(rate))) return;
            mixed_numbers<double> numbers(own);
            const double events = poisson(numbers, rate);
            to[i] = events < static_cast<double>(std::numeric_limits<T>::max()) ? static_cast<T>(events) : std::numeric_limits<T>::max();
          });
    });
  });
}
inline void run_poisson(kernel_context& c) {
  shape extent = shape_from(c.numbers(0));
  const shape rates = c.extent(1);
  if (extent.rank + rates.rank > max_rank) throw invalid_argument("RandomPoissonV2: a result of too many dimensions");
  for (int k = 0; k < rates.rank; ++k) extent.push(rates[k]);
  tensor_value made(c.node.type_of("dtype", dtype::int64), extent);
  fill_with_events(c, 1, blocks_for(c, made.elements()), made);
  c.set(0, std::move(made));
}
/// The shape that input 0 says, which must end with that of the parameters, input 2.
inline shape shape_ending_with(kernel_context& c, std::string_view parameter) {
  const shape extent = shape_from(c.numbers(0)), end = c.extent(2);
  bool fits = extent.rank >= end.rank;
  for (int k = 0; fits && k < end.rank; ++k) fits = end[k] == extent[extent.rank - end.rank + k];
  if (!fits)
    throw invalid_argument("Shape passed in must end with broadcasted shape: " + brackets(extent) + ", " + std::string(parameter) + " " +
                           brackets(end));
  return extent;
}
inline void run_stateless_poisson(kernel_context& c) {
  tensor_value made(c.node.type_of("dtype", dtype::int64), shape_ending_with(c, "lam"));
  fill_with_events(c, 2, kernels::seeded_sequence(integers(seed_pair(c, 1)).data()), made);
  c.set(0, std::move(made));
}

LEAT_FILL(fill_random_kernels) {
  register_kernel("RandomPoissonV2", run_poisson);
  register_kernel("StatelessRandomPoisson", run_stateless_poisson);
  register_class_kernel("StatelessRandomUniform", run_stateless<distribution_of_numbers::uniform>);
  register_class_kernel("StatelessRandomNormal", run_stateless<distribution_of_numbers::normal>);
  register_class_kernel("StatelessTruncatedNormal", run_stateless<distribution_of_numbers::truncated_normal>);
  register_class_kernel("StatelessRandomUniformInt", run_stateless_integers);
  register_class_kernel("StatelessMultinomial", run_stateless_multinomial);
  register_kernel("RandomUniform", run_random<distribution_of_numbers::uniform>);
  register_kernel("RandomStandardNormal", run_random<distribution_of_numbers::normal>);
  register_kernel("TruncatedNormal", run_random<distribution_of_numbers::truncated_normal>);
  register_kernel("RandomUniformInt", run_random_integers);
  register_kernel("RandomShuffle", run_shuffle);
  register_kernel("Multinomial", run_multinomial);
}

}  // namespace leat::runtime
