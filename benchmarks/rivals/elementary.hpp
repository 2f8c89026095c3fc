#pragma once
// What hand-written loops are made of: vectors of the widest registers there are, and the elementary functions over them without
// branches and tables. exp: two-part reduction by log 2 (Cody and Waite) and the minimax polynomial of degree five
// (7.5e-8); tanh: a rational function of degree (9, 8), fitted in the relative error (2.1e-8) on [0, 9.02], beyond
// which a float's tanh is one.

#include <bit>
#include <cmath>
#include <cstdint>
#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace bench {

// As wide as a register: wider ones are passed in memory, and g++ warns of it.
#if defined(__AVX512F__)
constexpr long lane_count = 16;
#elif defined(__AVX__)
constexpr long lane_count = 8;
#else
constexpr long lane_count = 4;
#endif
using lanes = float __attribute__((vector_size(lane_count * sizeof(float)), aligned(4), may_alias));

inline lanes load(const float* x) { return *reinterpret_cast<const lanes*>(x); }
inline void store(float* x, lanes values) { *reinterpret_cast<lanes*>(x) = values; }

inline float total(lanes values) {
  float sum = 0;
  for (long k = 0; k < lane_count; ++k) sum += values[k];
  return sum;
}

// g++ 12 makes a comparison and a blend of `a > b ? a : b`, hence the names of the instructions.
inline lanes larger(lanes a, lanes b) {
#if defined(__AVX512F__)
  return _mm512_max_ps(a, b);
#elif defined(__AVX__)
  return _mm256_max_ps(a, b);
#else
  return a > b ? a : b;
#endif
}

inline lanes smaller(lanes a, lanes b) {
#if defined(__AVX512F__)
  return _mm512_min_ps(a, b);
#elif defined(__AVX__)
  return _mm256_min_ps(a, b);
#else
  return a < b ? a : b;
#endif
}

inline lanes square_root(lanes x) {
#if defined(__AVX512F__)
  return _mm512_sqrt_ps(x);
#elif defined(__AVX__)
  return _mm256_sqrt_ps(x);
#else
  for (long k = 0; k < lane_count; ++k) x[k] = std::sqrt(x[k]);
  return x;
#endif
}

inline lanes clamp(lanes x, float low, float high) { return smaller(larger(x, lanes{} + low), lanes{} + high); }

inline lanes fast_exp(lanes x) {
  using integers = decltype(x < x);
  x = clamp(x, -87.3f, 88.3f);
  constexpr float to_integer = 0x1.8p23f;  // adding it leaves the nearest integer in the low bits
  const lanes shifted = x * 1.44269504f + to_integer;
  const lanes n = shifted - to_integer;
  const lanes r = (x - n * 0.693145752f) - n * 1.42860677e-6f;
  lanes p = r * 0.00829761927f + 0.0419156292f;
  p = p * r + 0.166675765f;
  p = p * r + 0.499988927f;
  p = p * r + 0.999999691f;
  p = p * r + 1.00000007f;
  return p * std::bit_cast<lanes>((std::bit_cast<integers>(shifted) << 23) + 0x3f800000);
}

inline lanes fast_tanh(lanes x) {
  x = clamp(x, -9.02f, 9.02f);
  const lanes z = x * x;
  lanes p = z * 1.33190752e-8f + 2.05834836e-5f;
  p = p * z + 3.49403471e-3f;
  p = p * z + 0.133797181f;
  p = p * z + 0.999999979f;
  lanes q = z * 7.76202074e-7f + 3.28309308e-4f;
  q = q * z + 2.58710738e-2f;
  q = q * z + 0.467130333f;
  q = q * z + 1.0f;
  return x * p / q;
}

inline lanes fast_sigmoid(lanes x) { return 1.0f / (1.0f + fast_exp(-x)); }

}  // namespace bench
