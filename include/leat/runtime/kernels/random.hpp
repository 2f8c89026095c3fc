#pragma once
// Kernels of random numbers, which come from a counter-based generator (core/philox.hpp). A node without seeds draws different numbers in
// each session. A node with seeds draws the same sequence in every session, and each run continues it. The numbers are not TensorFlow's,
// except for those of the stateless operators, which are pure functions of their seeds.

#include <leat/core/fill.hpp>
#include <leat/core/philox.hpp>
#include <leat/core/text.hpp>
#include <leat/cpu/random.hpp>
#include <leat/runtime/kernels/class_kernel.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/walk.hpp>

#include <cmath>
#include <random>

namespace leat::runtime {

/// A node's position in its sequence of random numbers.
struct random_source : kernel_memory {
  std::uint64_t seed = 0;
  std::uint64_t next = 0;
};

/// The seed of a node's sequence: that of its attributes, or a random one.
inline std::uint64_t first_seed(const kernel_context& c) {
  const auto first = c.node.integer("seed"), second = c.node.integer("seed2");
  if (first != 0 || second != 0) return mix(mix(0x5eed, static_cast<std::uint64_t>(first)), static_cast<std::uint64_t>(second));
  std::random_device device;
  return mix(device(), mix(device(), static_cast<std::uint64_t>(c.node.index)));
}
/// Reserves `count` numbers of a node's sequence. Returns the seed, and the position of the first number, a multiple of 4.
inline std::pair<std::uint64_t, std::uint64_t> draw(kernel_context& c, std::int64_t count) {
  const auto seed = [&] { return first_seed(c); };
  const std::uint64_t whole = (static_cast<std::uint64_t>(count) + 3) / 4 * 4;
  if (random_table* const shared = c.step.session.random_numbers.get()) return shared->draw(c.node.name(), whole, seed);
  const std::lock_guard lock(c.node.guard);
  if (c.node.memory == nullptr) {
    auto made = std::make_unique<random_source>();
    made->seed = seed();
    c.node.memory = std::move(made);
  }
  auto& source = static_cast<random_source&>(*c.node.memory);
  const std::uint64_t begin = source.next;
  source.next += whole;
  return {source.seed, begin};
}

template <class F>
void run_random(kernel_context& c, F number) {
  const shape extent = shape_from(c.numbers(0));
  const dtype type = c.node.type_of("dtype", dtype::float32);
  tensor_value made(type, extent);
  const auto [seed, begin] = draw(c, made.elements());
  with_fraction(type, [&]<class T>(T) {
    T* to = made.values<T>().data();
    for (std::int64_t i = 0; i < made.elements(); ++i) to[i] = static_cast<T>(number(T{}, seed, begin + static_cast<std::uint64_t>(i)));
  });
  c.set(0, std::move(made));
}

inline void run_random_integers(kernel_context& c) {
  const shape extent = shape_from(c.numbers(0));
  const std::int64_t low = c.number(1), high = c.number(2);
  if (low >= high) throw invalid_argument("Need minval < maxval, got " + std::to_string(low) + " >= " + std::to_string(high));
  const dtype type = c.type(1);
  tensor_value made(type, extent);
  const auto [seed, begin] = draw(c, 2 * made.elements());
  const std::uint64_t range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  with_index(type, [&]<class T>(T) {
    T* to = made.values<T>().data();
    for (std::int64_t i = 0; i < made.elements(); ++i) {
      const auto block = random_block(seed, begin / 4 + static_cast<std::uint64_t>(i));
      const std::uint64_t bits = (static_cast<std::uint64_t>(block.words[1]) << 32) | block.words[0];
      to[i] = static_cast<T>(static_cast<std::uint64_t>(low) + bits % range);
    }
  });
  c.set(0, std::move(made));
}

inline void run_shuffle(kernel_context& c) {
  const tensor_value in = c.input(0);
  const shape& s = in.extent();
  if (s.rank == 0 || s[0] <= 1 || in.elements() == 0) return c.set(0, in);
  const auto [seed, begin] = draw(c, 2 * s[0]);
  std::vector<std::int64_t> order(static_cast<std::size_t>(s[0]));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
  for (std::size_t i = order.size() - 1; i > 0; --i) {
    const double unit = uniform<double>(seed, begin / 2 + i);
    std::swap(order[i], order[std::min(i, static_cast<std::size_t>(unit * static_cast<double>(i + 1)))]);
  }
  tensor_value made(in.type(), s);
  const std::int64_t width = product(s, 1, s.rank);
  with_storage(in.type(), [&]<class S>(S) {
    S* to = stored<S>(made);
    for (auto row : order) to = std::copy_n(stored<S>(in) + row * width, width, to);
  });
  c.set(0, std::move(made));
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
  const auto [seed, begin] = draw(c, 2 * made.elements());
  with_fraction(logits.type(), [&]<class T>(T) {
    with_index(made.type(), [&]<class I>(I) {
      std::vector<double> sums(static_cast<std::size_t>(s[1]));
      for (std::int64_t r = 0; r < s[0]; ++r) {
        const double total = kernels::store_sums(kernels::class_weights<T>(logits.values<T>().data() + r * s[1], s[1]), sums.data());
        for (std::int64_t k = r * samples; k < (r + 1) * samples; ++k) {
          const double number = uniform<double>(seed, begin / 2 + static_cast<std::uint64_t>(k)) * total;
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
  for (const int k : {2, 3})
    if (c.extent(k).rank != 0)
      throw invalid_argument((k == 2 ? "minval" : "maxval") + (" must be 0-D, got shape " + brackets(c.extent(k))));
  const std::int64_t low = c.number(2), high = c.number(3);
  if (low >= high) throw invalid_argument("Need minval < maxval, got " + std::to_string(low) + " >= " + std::to_string(high));
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

/// A number of independent events of which `rate` are expected, drawn with as many uniform numbers of `seed` as it takes. Sources: for small
/// rates Knuth, "The art of computer programming"; else Hoermann, "The transformed rejection method for generating Poisson random
/// variables", algorithm PTRS.
inline double poisson(std::uint64_t seed, double rate) {
  std::uint64_t next = 0;
  const auto number = [&] { return uniform<double>(seed, next++); };
  if (rate < 10) {
    const double least = std::exp(-rate);
    double product = number(), events = 0;
    for (; product > least; ++events) product *= number();
    return events;
  }
  const double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  const double inverse = 1.1239 + 1.1328 / (b - 3.4), bound = 0.9277 - 3.6224 / (b - 2), log_rate = std::log(rate);
  for (;;) {
    const double u = number() - 0.5, v = number(), us = 0.5 - std::abs(u);
    const double events = std::floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= bound) return events;
    if (events < 0 || (us < 0.013 && v > us)) continue;
    if (std::log(v * inverse / (a / (us * us) + b)) <= -rate + events * log_rate - std::lgamma(events + 1)) return events;
  }
}
/// Numbers of events, an array of the given shape for each rate. Rates that are negative or not finite give NaN, or 0 as integers.
inline void run_poisson(kernel_context& c) {
  shape extent = shape_from(c.numbers(0));
  const tensor_value rates = c.input(1);
  const std::int64_t each = rates.elements();
  if (extent.rank + rates.extent().rank > max_rank) throw invalid_argument("RandomPoissonV2: a result of too many dimensions");
  for (int k = 0; k < rates.extent().rank; ++k) extent.push(rates.extent()[k]);
  tensor_value made(c.node.type_of("dtype", dtype::int64), extent);
  const auto [seed, begin] = draw(c, made.elements());
  with_number(rates.type(), [&]<class R>(R) {
    with_number(made.type(), [&]<class T>(T) {
      T* const to = made.values<T>().data();
      for (std::int64_t i = 0; i < made.elements(); ++i) {
        if (i % 4096 == 4095) c.step.check();
        const double rate = static_cast<double>(rates.values<R>()[static_cast<std::size_t>(i % each)]);
        to[i] = std::numeric_limits<T>::has_quiet_NaN ? std::numeric_limits<T>::quiet_NaN() : T(0);
        if (!(rate >= 0 && std::isfinite(rate))) continue;
        const double events = poisson(mix(seed, begin + static_cast<std::uint64_t>(i)), rate);
        to[i] = events < static_cast<double>(std::numeric_limits<T>::max()) ? static_cast<T>(events) : std::numeric_limits<T>::max();
      }
    });
  });
  c.set(0, std::move(made));
}

LEAT_FILL(fill_random_kernels) {
  register_kernel("RandomPoissonV2", run_poisson);
  register_class_kernel("StatelessRandomUniform", run_stateless<distribution_of_numbers::uniform>);
  register_class_kernel("StatelessRandomNormal", run_stateless<distribution_of_numbers::normal>);
  register_class_kernel("StatelessTruncatedNormal", run_stateless<distribution_of_numbers::truncated_normal>);
  register_class_kernel("StatelessRandomUniformInt", run_stateless_integers);
  register_class_kernel("StatelessMultinomial", run_stateless_multinomial);
  register_kernel("RandomUniform", [](kernel_context& c) {
    run_random(c, []<class T>(T, std::uint64_t seed, std::uint64_t i) { return uniform<T>(seed, i); });
  });
  register_kernel("RandomStandardNormal", [](kernel_context& c) {
    run_random(c, []<class T>(T, std::uint64_t seed, std::uint64_t i) { return normal<T>(seed, i); });
  });
  register_kernel("TruncatedNormal", [](kernel_context& c) {
    run_random(c, []<class T>(T, std::uint64_t seed, std::uint64_t i) {
      T v = normal<T>(seed, i);
      for (std::uint64_t again = 1; v > T(2) || v < T(-2); ++again) v = normal<T>(mix(seed, again), i);
      return v;
    });
  });
  register_kernel("RandomUniformInt", run_random_integers);
  register_kernel("RandomShuffle", run_shuffle);
  register_kernel("Multinomial", run_multinomial);
}

}  // namespace leat::runtime
