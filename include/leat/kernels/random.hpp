#pragma once
// Random numbers of a seed, as work items for any device; each item is a run of numbers. Source: TensorFlow's stateless random operators,
// version 1: the seed is scrambled to key and counter of Philox, and each block gives four float32 or two float64.

#include <leat/core/philox.hpp>
#include <leat/kernels/whole_array.hpp>
#include <leat/ops/random.hpp>

namespace leat::kernels {

/// The sequence of a seed of two numbers.
struct seeded_sequence {
  std::uint32_t key0, key1, high0, high1;
  template <class Seed>
  constexpr explicit seeded_sequence(const Seed* seed) : key0(0), key1(0), high0(0), high1(0) {
    const auto first = static_cast<std::uint64_t>(static_cast<std::int64_t>(seed[0]));
    const auto second = static_cast<std::uint64_t>(static_cast<std::int64_t>(seed[1]));
    const philox_block mixed = philox4x32({{static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(first >> 32),
                                            static_cast<std::uint32_t>(second), static_cast<std::uint32_t>(second >> 32)}},
                                          0x3ec8f720, 0x02461e29);
    key0 = mixed.words[0];
    key1 = mixed.words[1];
    high0 = mixed.words[2];
    high1 = mixed.words[3];
  }
  constexpr philox_block block(std::int64_t index) const {
    const auto at = static_cast<std::uint64_t>(index);
    return philox4x32({{static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at >> 32), high0, high1}}, key0, key1);
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
/// Two normal numbers from two of a block's unit numbers, by the transform of Box and Muller.
template <class T>
constexpr void normal_numbers(const philox_block& b, int place, T* to) {
  constexpr T least = T(1.0e-7), two_pi = T(6.283185307179586477);
  const T first = unit_number<T>(b, place);
  const T angle = two_pi * unit_number<T>(b, place + 1);
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

/// Item k: 256 numbers.
template <bool Normal, class Seed>
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
    constexpr std::int64_t numbers = sizeof(T) == 4 ? 4 : 2;
    const seeded_sequence sequence(seed);
    const std::int64_t end = (k + 1) * run < count ? (k + 1) * run : count;
    for (std::int64_t at = k * run; at < end; at += numbers) {
      const philox_block b = sequence.block(at / numbers);
      T made[numbers];
      for (int i = 0; i < numbers; i += Normal ? 2 : 1) {
        if constexpr (Normal) normal_numbers<T>(b, i, made + i);
        else made[i] = unit_number<T>(b, i);
      }
      for (std::int64_t i = 0; i < numbers && at + i < end; ++i) to[at + i] = made[i];
    }
  }
};
template <bool Normal>
struct kernel_of<stateless_random_op<Normal>> {
  template <class Seed, class>
  using type = stateless_random_kernel<Normal, Seed>;
  static constexpr bool has_indices = false;
  static constexpr dtype takes[]{dtype::int32, dtype::int64};
};

}  // namespace leat::kernels
