#pragma once
// Counter-based random numbers: Philox4x32-10 maps a 128-bit counter and a 64-bit key to four random words in ten rounds of multiplication.
// A number of a sequence depends only on the seed and on its index, so any part of a sequence can be computed in any order, by any thread,
// on any device, also in constant evaluation.
// Source: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011); TensorFlow's generator.

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace leat {

/// The four random words of one counter value.
struct philox_block {
  std::uint32_t words[4];
  friend constexpr bool operator==(const philox_block&, const philox_block&) = default;
};

/// Philox4x32-10 of a counter, least significant word first, and a key.
constexpr philox_block philox4x32(philox_block counter, std::uint32_t key0, std::uint32_t key1) {
  constexpr std::uint64_t multiplier0 = 0xD2511F53;
  constexpr std::uint64_t multiplier1 = 0xCD9E8D57;
  constexpr std::uint32_t golden_ratio = 0x9E3779B9;
  constexpr std::uint32_t sqrt_3_minus_1 = 0xBB67AE85;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = multiplier0 * counter.words[0];
    const std::uint64_t product1 = multiplier1 * counter.words[2];
    counter = {
        {static_cast<std::uint32_t>(product1 >> 32) ^ counter.words[1] ^ key0, static_cast<std::uint32_t>(product1),
         static_cast<std::uint32_t>(product0 >> 32) ^ counter.words[3] ^ key1, static_cast<std::uint32_t>(product0)}};
    key0 += golden_ratio;
    key1 += sqrt_3_minus_1;
  }
  return counter;
}

/// Block `index` of the sequence of a seed: four random words.
constexpr philox_block random_block(std::uint64_t seed, std::uint64_t index) {
  return philox4x32({{static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), 0, 0}},
                    static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
}

namespace detail {

// Converts 24 or 53 random bits to a multiple of 2^-24 or 2^-53 in [0, 1).
constexpr float unit_interval(std::uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }
constexpr double unit_interval(std::uint32_t low, std::uint32_t high) {
  return static_cast<double>(((static_cast<std::uint64_t>(high) << 32) | low) >> 11) * 0x1p-53;
}

}  // namespace detail

/// A number in [0, 1) from a block of a seed's uniform sequence; a block has four floats or two doubles. For many numbers it is faster than
/// `uniform`.
template <class T>
constexpr T uniform_in_block(const philox_block& block, int place) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
  if constexpr (std::is_same_v<T, float>) return detail::unit_interval(block.words[place]);
  else return detail::unit_interval(block.words[2 * place], block.words[2 * place + 1]);
}

/// How many numbers of T one block contains.
template <class T>
inline constexpr int numbers_per_block = sizeof(T) == 4 ? 4 : 2;

/// Number `index` of the uniform sequence of a seed, in [0, 1).
template <class T>
constexpr T uniform(std::uint64_t seed, std::uint64_t index) {
  constexpr std::uint64_t count = numbers_per_block<T>;
  return uniform_in_block<T>(random_block(seed, index / count), static_cast<int>(index % count));
}

/// Two independent random numbers with the standard normal distribution.
template <class T>
struct normal_pair {
  T first, second;
};

/// The two normal numbers of a block, by the Box-Muller transform in double precision: sqrt(-2 log u) cos(2 pi v), and the same with sin,
/// with u in (0, 1]. log, sqrt, cos and sin are the standard library's, and their last bit may differ between platforms. The function is
/// constexpr for device code only and never constant-evaluated.
template <class T>
constexpr normal_pair<T> normal_in_block(const philox_block& block) {
  constexpr double two_pi = 6.283185307179586477;
  const double radius = ::sqrt(-2.0 * ::log(1.0 - uniform_in_block<double>(block, 0)));
  const double angle = two_pi * uniform_in_block<double>(block, 1);
  return {static_cast<T>(radius * ::cos(angle)), static_cast<T>(radius * ::sin(angle))};
}

/// Number `index` of the normal sequence of a seed: mean 0, standard deviation 1. A block has two such numbers.
template <class T>
constexpr T normal(std::uint64_t seed, std::uint64_t index) {
  const normal_pair<T> pair = normal_in_block<T>(random_block(seed, index / 2));
  return index % 2 == 0 ? pair.first : pair.second;
}

}  // namespace leat
