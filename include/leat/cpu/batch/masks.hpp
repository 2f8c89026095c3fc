#pragma once
// Masks: selection, comparison, and conversion to and from arrays of bool.

#include <leat/cpu/batch/memory.hpp>

#include <cstring>

#include <leat/cpu/batch/instruction_set.hpp>  // after all others

namespace leat::cpu {

/// Lane-wise a where m is true, else b. Call it as cpu::select: xsimd has a function of that name for its own mask types.
template <class T>
[[gnu::always_inline]] inline batch<T> select(const mask<T>& m, const batch<T>& a, const batch<T>& b) {
#if defined(LEAT_BATCH_AVX512)
  if constexpr (std::is_same_v<T, float>) return batch<T>(_mm512_mask_blend_ps(m.data, b.data, a.data));
  else if constexpr (std::is_same_v<T, double>) return batch<T>(_mm512_mask_blend_pd(m.data, b.data, a.data));
  else if constexpr (sizeof(T) == 4) return batch<T>(_mm512_mask_blend_epi32(m.data, b.data, a.data));
  else return batch<T>(_mm512_mask_blend_epi64(m.data, b.data, a.data));
#else
  using lane = detail::mask_lane<T>;
  return bits_as<T>(xsimd::select(m, bits_as<lane>(a), bits_as<lane>(b)));
#endif
}

/// True where a and b differ; NaN differs from everything, whereas xsimd's own != is false for NaN.
template <class T>
[[gnu::always_inline]] inline mask<T> differs(const batch<T>& a, const batch<T>& b) {
#if defined(LEAT_BATCH_AVX512)
  if constexpr (std::is_same_v<T, float>) return mask<T>(_mm512_cmp_ps_mask(a.data, b.data, _CMP_NEQ_UQ));
  else if constexpr (std::is_same_v<T, double>) return mask<T>(_mm512_cmp_pd_mask(a.data, b.data, _CMP_NEQ_UQ));
  else if constexpr (sizeof(T) == 4) return mask<T>(_mm512_cmpneq_epi32_mask(a.data, b.data));
  else return mask<T>(_mm512_cmpneq_epi64_mask(a.data, b.data));
#else
  return ~as_mask(a == b);
#endif
}

/// Bit i of the result is lane i of the mask for T's lane width.
template <class T>
[[gnu::always_inline]] inline std::uint32_t mask_bits(const mask<T>& m) {
#if defined(LEAT_BATCH_AVX512)
  return m.data;
#elif defined(LEAT_BATCH_AVX2)
  if constexpr (sizeof(T) == 4) return static_cast<std::uint32_t>(_mm256_movemask_ps(m.data));
  else return static_cast<std::uint32_t>(_mm256_movemask_pd(m.data));
#else
  // Every lane of a mask of this kind is all ones or all zeros.
  using integer = detail::same_width_integer<T>;
  integer buffer[lanes<integer>];
  static_assert(sizeof(buffer) == sizeof(m.data));
  std::memcpy(buffer, &m.data, sizeof(buffer));
  std::uint32_t bits = 0;
  for (int i = 0; i < lanes<T>; ++i) bits |= static_cast<std::uint32_t>(buffer[i] & 1) << i;
  return bits;
#endif
}

/// The mask whose lane i is p[i], for T's lane width; lanes from n on are false. 1 <= n <= lanes.
template <class T>
[[gnu::always_inline]] inline mask<T> load_mask(const bool* p, int n = lanes<T>) {
#if defined(LEAT_BATCH_AVX512)
  const __m128i bytes = _mm_maskz_loadu_epi8(static_cast<__mmask16>((1U << n) - 1U), p);
  return mask<T>(static_cast<typename mask<T>::register_type>(_mm_test_epi8_mask(bytes, bytes)));
#else
  using integer = detail::same_width_integer<T>;
  alignas(batch<integer>) integer buffer[lanes<integer>];
  for (int i = 0; i < lanes<T>; ++i) buffer[i] = static_cast<integer>(i < n && p[i] ? -1 : 0);
  return mask_of_lanes(batch<integer>::load_aligned(buffer));
#endif
}

/// Writes lanes [0, n) of a mask for T's lane width to p[0, n). 1 <= n <= lanes.
template <class T>
[[gnu::always_inline]] inline void store_mask(bool* p, const mask<T>& m, int n = lanes<T>) {
#if defined(LEAT_BATCH_AVX512)
  _mm_mask_storeu_epi8(p, static_cast<__mmask16>((1U << n) - 1U), _mm_maskz_set1_epi8(m.data, 1));
#else
  // There are at most eight lanes: the multiplication copies each bit to the lowest bit of a separate byte.
  const std::uint64_t bits = mask_bits<T>(m);
  const std::uint64_t spread = (((bits & 0x7f) * 0x0002040810204081U) & 0x0101010101010101U) | ((bits & 0x80) << 49);
  std::memcpy(p, &spread, static_cast<std::size_t>(n));
#endif
}

}  // namespace leat::cpu

#include <leat/cpu/batch/end_instruction_set.hpp>
