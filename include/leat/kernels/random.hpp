#pragma once
// Random numbers of a seed, as work items for any device; each item is a run of numbers. Source: TensorFlow's stateless random operators,
// version 1: the seed is scrambled to key and counter of Philox, and each block gives four float32 or two float64.

#include <leat/core/philox.hpp>
#include <leat/kernels/whole_array.hpp>
#include <leat/ops/random.hpp>

#include <limits>
#include <vector>

namespace leat::kernels {

/// Blocks of Philox: those of a key, from a counter of 128 bits on.
struct seeded_sequence {
  std::uint64_t key, low, high;  // the counter of block 0 is low + 2^64 high

  constexpr seeded_sequence(std::uint64_t its_key, std::uint64_t counter_low, std::uint64_t counter_high)
      : key(its_key), low(counter_low), high(counter_high) {}
  /// The sequence of a seed of two numbers: they are the counter of a block whose words are key and counter.
  template <class Seed>
  constexpr explicit seeded_sequence(const Seed* seed) : key(0), low(0), high(0) {
    const seeded_sequence given(0x02461e293ec8f720, static_cast<std::uint64_t>(static_cast<std::int64_t>(seed[0])),
                                static_cast<std::uint64_t>(static_cast<std::int64_t>(seed[1])));
    const philox_block mixed = given.block(0);
    key = (static_cast<std::uint64_t>(mixed.words[1]) << 32) | mixed.words[0];
    high = (static_cast<std::uint64_t>(mixed.words[3]) << 32) | mixed.words[2];
  }
  constexpr philox_block block(std::int64_t index) const {
    const std::uint64_t at = low + static_cast<std::uint64_t>(index), above = high + (at < low ? 1 : 0);
    return philox4x32({{static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at >> 32), static_cast<std::uint32_t>(above),
                        static_cast<std::uint32_t>(above >> 32)}},
                      static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32));
  }
  /// The sequence without its first `blocks` blocks.
  constexpr seeded_sequence after(std::uint64_t blocks) const {
    const std::uint64_t at = low + blocks;
    return {key, at, high + (at < low ? 1 : 0)};
  }
};

/// Random bits as a multiple of 2^-23 or of 2^-52 in [0, 1).
template <class T>
constexpr T unit_number(const philox_block& b, int place) {
  if constexpr (sizeof(T) == 4) {
    return static_cast<T>(b.words[place] & 0x7fffff) * T(0x1p-23);
  } else {
    const std::uint64_t bits = (static_cast<std::uint64_t>(b.words[2 * place] & 0xfffff) << 32) | b.words[2 * place + 1];
    return static_cast<T>(bits) * T(0x1p-52);
  }
}
/// Two normal numbers from two of a block's unit numbers, by the transform of Box and Muller. The angle is rounded once, as TensorFlow's.
template <class T>
constexpr void normal_numbers(const philox_block& b, int place, T* to) {
  constexpr T least = T(1.0e-7);
  const T first = unit_number<T>(b, place);
  const T angle = static_cast<T>(6.283185307179586477 * static_cast<double>(unit_number<T>(b, place + 1)));
  if constexpr (sizeof(T) == 4) {
    const T radius = ::sqrtf(-2.0f * ::logf(first < least ? least : first));
    to[0] = ::sinf(angle) * radius;
    to[1] = ::cosf(angle) * radius;
  } else {
    const T radius = ::sqrt(-2.0 * ::log(first < least ? least : first));
    to[0] = ::sin(angle) * radius;
    to[1] = ::cos(angle) * radius;
  }
}

/// The numbers of a sequence in order, for distributions that reject some.
class random_words {
 public:
  constexpr random_words(const seeded_sequence& sequence, std::int64_t first_block) : sequence_(sequence), next_(first_block) {}
  /// Blocks, each used up: of a double the four words of one are two numbers.
  constexpr philox_block block() { return sequence_.block(next_++); }
  constexpr std::uint32_t word() {
    if (at_ == 4) {
      block_ = block();
      at_ = 0;
    }
    return block_.words[at_++];
  }

 private:
  const seeded_sequence& sequence_;
  std::int64_t next_;
  philox_block block_{};
  int at_ = 4;
};

/// The numbers of one block of a distribution: four float32 or two float64. Truncated ones draw from 256 words for each, and from those of
/// the next block in the improbable case that these do not suffice.
template <distribution_of_numbers How, class T>
constexpr void draw_block(const seeded_sequence& sequence, std::int64_t index, T* to) {
  constexpr int numbers = sizeof(T) == 4 ? 4 : 2;
  if constexpr (How == distribution_of_numbers::uniform) {
    const philox_block b = sequence.block(index);
    for (int i = 0; i < numbers; ++i) to[i] = unit_number<T>(b, i);
  } else if constexpr (How == distribution_of_numbers::normal) {
    const philox_block b = sequence.block(index);
    for (int i = 0; i < numbers; i += 2) normal_numbers<T>(b, i, to + i);
  } else {
    random_words words(sequence, index * 64 * numbers);
    for (int made = 0; made < numbers;) {
      const philox_block b = words.block();
      for (int pair = 0; pair < numbers; pair += 2) {
        T both[2];
        normal_numbers<T>(b, pair, both);
        for (const T v : both)
          if (made < numbers && v < T(2) && v > T(-2)) to[made++] = v;
      }
    }
  }
}

/// The numbers `begin` to `end` of a distribution; `begin` is the first of a block.
template <distribution_of_numbers How, class T>
constexpr void draw_numbers(const seeded_sequence& sequence, std::int64_t begin, std::int64_t end, T* to) {
  constexpr std::int64_t numbers = sizeof(T) == 4 ? 4 : 2;
  for (std::int64_t at = begin; at < end; at += numbers) {
    T made[numbers];
    draw_block<How>(sequence, at / numbers, made);
    for (std::int64_t i = 0; i < numbers && at + i < end; ++i) to[at + i] = made[i];
  }
}

/// Item k: 256 numbers.
template <distribution_of_numbers How, class Seed>
struct stateless_random_kernel {
  static constexpr bool may_refuse = false;
  static constexpr std::int64_t run = 256;
  const Seed* seed;
  void* out;
  std::int64_t count;
  bool is_double;
  stateless_random_kernel(void* const* p, const step_numbers& n)
      : seed(static_cast<const Seed*>(p[0])), out(p[1]), count(n.product(1, 0, n.rank(1))),
        is_double(n.attribute(0) == static_cast<std::int64_t>(dtype::float64)) {}
  std::int64_t items() const { return (count + run - 1) / run; }
  std::int64_t work() const { return run * 8; }
  constexpr void operator()(std::int64_t k) const {
    if (is_double) draw(k, static_cast<double*>(out));
    else draw(k, static_cast<float*>(out));
  }

 private:
  template <class T>
  constexpr void draw(std::int64_t k, T* to) const {
    draw_numbers<How>(seeded_sequence(seed), k * run, (k + 1) * run < count ? (k + 1) * run : count, to);
  }
};

/// Of kernels whose first operand is the seed.
struct kernel_of_seed {
  static constexpr bool has_indices = false;
  static constexpr dtype takes[]{dtype::int32, dtype::int64};
};
template <distribution_of_numbers How>
struct kernel_of<stateless_random_op<How>> : kernel_of_seed {
  template <class Seed, class>
  using type = stateless_random_kernel<How, Seed>;
};

/// The integers `begin` to `end` of a sequence, from `low` on, of `range` numbers; all numbers of T if `range` is 0. `begin` is the first
/// of a block. An integer of 32 bits takes one random word, one of 64 bits two, the lower first.
template <class T>
constexpr void draw_integers(const seeded_sequence& sequence, std::uint64_t low, std::uint64_t range, std::int64_t begin, std::int64_t end,
                             T* to) {
  constexpr bool is_wide = sizeof(T) == 8;
  constexpr int numbers = is_wide ? 2 : 4;
  for (std::int64_t at = begin; at < end; at += numbers) {
    const philox_block b = sequence.block(at / numbers);
    for (int i = 0; i < numbers && at + i < end; ++i) {
      std::uint64_t bits = 0;
      if constexpr (is_wide) bits = (static_cast<std::uint64_t>(b.words[2 * i + 1]) << 32) | b.words[2 * i];
      else bits = b.words[i];
      to[at + i] = static_cast<T>(low + (range == 0 ? bits : bits % range));
    }
  }
}

/// Item k: 256 integers from `low` on, of `range` numbers.
template <class Seed>
struct stateless_integers_kernel {
  static constexpr bool may_refuse = false;
  static constexpr std::int64_t run = 256;
  const Seed* seed;
  void* out;
  std::int64_t count;
  std::uint64_t low, range;
  bool is_wide;
  stateless_integers_kernel(void* const* p, const step_numbers& n)
      : seed(static_cast<const Seed*>(p[0])), out(p[1]), count(n.product(1, 0, n.rank(1))), low(static_cast<std::uint64_t>(n.attribute(1))),
        range(static_cast<std::uint64_t>(n.attribute(2)) - static_cast<std::uint64_t>(n.attribute(1))),
        is_wide(n.attribute(0) == static_cast<std::int64_t>(dtype::int64)) {}
  std::int64_t items() const { return (count + run - 1) / run; }
  std::int64_t work() const { return run * 8; }
  constexpr void operator()(std::int64_t k) const {
    const seeded_sequence sequence(seed);
    const std::int64_t end = (k + 1) * run < count ? (k + 1) * run : count;
    if (is_wide) draw_integers(sequence, low, range, k * run, end, static_cast<std::int64_t*>(out));
    else draw_integers(sequence, low, range, k * run, end, static_cast<std::int32_t*>(out));
  }
};
template <>
struct kernel_of<stateless_integers_op> : kernel_of_seed {
  template <class Seed, class>
  using type = stateless_integers_kernel<Seed>;
};

/// Probabilities of classes, from the logits of a row: each has the weight exp(logit - largest), and none if its logit is infinite or NaN.
template <class T>
class class_weights {
 public:
  constexpr class_weights(const T* logits, std::int64_t classes) : logits_(logits), classes_(classes) {
    T most = std::numeric_limits<T>::lowest();
    for (std::int64_t j = 0; j < classes; ++j)
      if (is_drawn(j) && logits[j] > most) most = logits[j];
    most_ = static_cast<double>(most);
  }
  /// Calls f(class, sum of the weights up to it) in order, until it returns true. Returns the last sum.
  template <class F>
  constexpr double for_each_sum(F f) const {
    double sum = 0;
    for (std::int64_t j = 0; j < classes_; ++j) {
      if (is_drawn(j)) sum += ::exp(static_cast<double>(logits_[j]) - most_);
      if (f(j, sum)) break;
    }
    return sum;
  }

 private:
  constexpr bool is_drawn(std::int64_t j) const { return logits_[j] - logits_[j] == T(0); }

  const T* logits_;
  std::int64_t classes_;
  double most_ = 0;
};
/// Stores the sums of the weights, for a search; returns their total.
template <class T>
double store_sums(const class_weights<T>& weights, double* sums) {
  return weights.for_each_sum([sums](std::int64_t j, double sum) {
    sums[j] = sum;
    return false;
  });
}
/// The class of a number below the total: the first whose sum is above it. One behind the last if there is none.
inline std::int64_t class_at(const double* sums, std::int64_t classes, double number) {
  return std::upper_bound(sums, sums + classes, number) - sums;
}

/// Item k: sample k of all.
template <class T, class Seed>
struct stateless_multinomial_kernel {
  static constexpr bool may_refuse = false;
  const T* logits;
  const Seed* seed;
  void* out;
  std::int64_t rows, classes, samples;
  bool is_wide;
  stateless_multinomial_kernel(void* const* p, const step_numbers& n)
      : logits(static_cast<const T*>(p[0])), seed(static_cast<const Seed*>(p[1])), out(p[2]), rows(n.size(0, 0)), classes(n.size(0, 1)),
        samples(n.attribute(0)), is_wide(n.attribute(1) == static_cast<std::int64_t>(dtype::int64)) {}
  std::int64_t items() const { return rows * samples; }
  std::int64_t work() const { return classes * 16; }
  constexpr void operator()(std::int64_t k) const {
    const class_weights<T> weights(logits + k / samples * classes, classes);
    const double total = weights.for_each_sum([](std::int64_t, double) { return false; });
    const double number = fraction(seeded_sequence(seed), k) * total;
    std::int64_t found = classes;
    weights.for_each_sum([&](std::int64_t j, double sum) {
      if (number < sum) found = j;
      return number < sum;
    });
    write(k, found);
  }
  static constexpr bool run_all_allocates = true;
  /// Runs all items on the host, which stores the sums of a row.
  void run_all() const {
    const seeded_sequence sequence(seed);
    std::vector<double> sums(static_cast<std::size_t>(classes));
    for (std::int64_t r = 0; r < rows; ++r) {
      const double total = store_sums(class_weights<T>(logits + r * classes, classes), sums.data());
      for (std::int64_t k = r * samples; k < (r + 1) * samples; ++k)
        write(k, class_at(sums.data(), classes, fraction(sequence, k) * total));
    }
  }

 private:
  static constexpr double fraction(const seeded_sequence& sequence, std::int64_t k) {
    return unit_number<double>(sequence.block(k / 2), static_cast<int>(k % 2));
  }
  constexpr void write(std::int64_t k, std::int64_t found) const {
    if (is_wide) static_cast<std::int64_t*>(out)[k] = found;
    else static_cast<std::int32_t*>(out)[k] = static_cast<std::int32_t>(found);
  }
};
template <>
struct kernel_of<stateless_multinomial_op> {
  template <class T, class Seed>
  using type = stateless_multinomial_kernel<T, Seed>;
  static constexpr bool has_indices = true;
  static constexpr dtype takes[]{dtype::float32, dtype::float64};
};

/// A random order of the numbers 0 to `count` - 1: each position is exchanged with one that is drawn from those not before it.
constexpr void draw_order(const seeded_sequence& sequence, std::int64_t count, std::int64_t* out) {
  random_words words(sequence, 0);
  for (std::int64_t i = 0; i < count; ++i) out[i] = i;
  for (std::int64_t i = 0; i + 1 < count; ++i) {
    const std::int64_t other = i + static_cast<std::int64_t>(words.word() % static_cast<std::uint64_t>(count - i));
    const std::int64_t held = out[i];
    out[i] = out[other];
    out[other] = held;
  }
}

/// One item: a random order.
template <class Seed>
struct stateless_order_kernel {
  static constexpr bool may_refuse = false;
  const Seed* seed;
  std::int64_t* out;
  std::int64_t count;
  stateless_order_kernel(void* const* p, const step_numbers& n)
      : seed(static_cast<const Seed*>(p[0])), out(static_cast<std::int64_t*>(p[1])), count(n.product(1, 0, n.rank(1))) {}
  std::int64_t items() const { return 1; }
  std::int64_t work() const { return count * 8; }
  constexpr void operator()(std::int64_t) const {
    draw_order(seeded_sequence(seed), count, out);
  }
};
template <>
struct kernel_of<stateless_order_op> : kernel_of_seed {
  template <class Seed, class>
  using type = stateless_order_kernel<Seed>;
};

}  // namespace leat::kernels
