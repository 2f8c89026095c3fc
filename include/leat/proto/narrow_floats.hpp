#pragma once
// Floating-point numbers of 16 bits as float, and back: half, with 5 bits of exponent and 10 of fraction, and bfloat16, the upper half of a
// float. Numbers are rounded to the nearest, halfway cases to even; a NaN stays one, with the upper bits of its fraction. Source: IEEE 754;
// the rounding of Eigen's `float_to_half_rtne` and `float_to_bfloat16_rtne`.

#include <bit>
#include <cstdint>

namespace leat {

/// The value of a half by its bits.
constexpr float float_of_half(std::uint16_t half) {
  const std::uint32_t sign = std::uint32_t{half} >> 15 << 31, exponent = half >> 10 & 31u, fraction = half & 0x3ffu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float magnitude = static_cast<float>(fraction) * 0x1p-24f;  // subnormal
  return sign != 0 ? -magnitude : magnitude;
}

/// The bits of the half nearest to a float; infinity beyond 65519.
constexpr std::uint16_t half_of_float(float value) {
  constexpr std::uint32_t infinity = 0x7f800000u, least_normal = 113u << 23, beyond = 143u << 23;
  const std::uint32_t all = std::bit_cast<std::uint32_t>(value), sign = all >> 31 << 15;
  std::uint32_t bits = all & 0x7fffffffu;
  if (bits > infinity) {
    bits = bits >> 13 & 0x3ffu;
    return static_cast<std::uint16_t>(sign | 0x7c00u | (bits != 0 ? bits : 0x200u));
  }
  if (bits >= beyond) return static_cast<std::uint16_t>(sign | 0x7c00u);
  if (bits < least_normal) {
    // The sum rounds at the last bit that a subnormal half has.
    constexpr float magic = 0.5f;
    const float sum = std::bit_cast<float>(bits) + magic;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(sum) - std::bit_cast<std::uint32_t>(magic)));
  }
  bits += 0xfffu + (bits >> 13 & 1u);
  return static_cast<std::uint16_t>(sign | (bits - (112u << 23)) >> 13);
}

/// The value of a bfloat16 by its bits.
constexpr float float_of_bfloat16(std::uint16_t upper) { return std::bit_cast<float>(std::uint32_t{upper} << 16); }

/// The bits of the bfloat16 nearest to a float.
constexpr std::uint16_t bfloat16_of_float(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>(bits >> 16 | ((bits >> 16 & 0x7fu) != 0 ? 0u : 0x40u));
  return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

}  // namespace leat
