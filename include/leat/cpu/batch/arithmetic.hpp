#pragma once
// Floating-point operations that are one instruction: multiply and add, minimum and maximum, square root, rounding.

#include <leat/cpu/batch/masks.hpp>

#include <leat/cpu/batch/instruction_set.hpp>  // after all others

namespace leat::cpu {

#if defined(LEAT_BATCH_AVX512)

// These use masked instructions with a mask of ones, because g++ 12 warns of an uninitialized value in the unmasked ones, and xsimd's
// 512-bit batches lack fused multiply-add.

namespace detail {
inline constexpr __mmask16 all_lanes = 0xffff;
}

[[gnu::always_inline]] inline batch<float> fused_multiply_add(const batch<float>& a, const batch<float>& b,
                                                              const batch<float>& c) {
  return batch<float>(_mm512_fmadd_ps(a.data, b.data, c.data));
}
[[gnu::always_inline]] inline batch<double> fused_multiply_add(const batch<double>& a, const batch<double>& b,
                                                               const batch<double>& c) {
  return batch<double>(_mm512_fmadd_pd(a.data, b.data, c.data));
}
[[gnu::always_inline]] inline batch<float> least(const batch<float>& a, const batch<float>& b) {
  return batch<float>(_mm512_mask_min_ps(a.data, detail::all_lanes, a.data, b.data));
}
[[gnu::always_inline]] inline batch<double> least(const batch<double>& a, const batch<double>& b) {
  return batch<double>(_mm512_mask_min_pd(a.data, 0xff, a.data, b.data));
}
[[gnu::always_inline]] inline batch<float> greatest(const batch<float>& a, const batch<float>& b) {
  return batch<float>(_mm512_mask_max_ps(a.data, detail::all_lanes, a.data, b.data));
}
[[gnu::always_inline]] inline batch<double> greatest(const batch<double>& a, const batch<double>& b) {
  return batch<double>(_mm512_mask_max_pd(a.data, 0xff, a.data, b.data));
}
[[gnu::always_inline]] inline batch<float> square_root(const batch<float>& a) {
  return batch<float>(_mm512_mask_sqrt_ps(a.data, detail::all_lanes, a.data));
}
[[gnu::always_inline]] inline batch<double> square_root(const batch<double>& a) {
  return batch<double>(_mm512_mask_sqrt_pd(a.data, 0xff, a.data));
}

namespace detail {
template <int Mode>
[[gnu::always_inline]] inline batch<float> round_by(const batch<float>& a) {
  return batch<float>(_mm512_mask_roundscale_ps(a.data, all_lanes, a.data, Mode | _MM_FROUND_NO_EXC));
}
template <int Mode>
[[gnu::always_inline]] inline batch<double> round_by(const batch<double>& a) {
  return batch<double>(_mm512_mask_roundscale_pd(a.data, 0xff, a.data, Mode | _MM_FROUND_NO_EXC));
}
}  // namespace detail

template <class T>
[[gnu::always_inline]] inline batch<T> round_down(const batch<T>& a) {
  return detail::round_by<_MM_FROUND_TO_NEG_INF>(a);
}
template <class T>
[[gnu::always_inline]] inline batch<T> round_up(const batch<T>& a) {
  return detail::round_by<_MM_FROUND_TO_POS_INF>(a);
}
template <class T>
[[gnu::always_inline]] inline batch<T> round_to_zero(const batch<T>& a) {
  return detail::round_by<_MM_FROUND_TO_ZERO>(a);
}
template <class T>
[[gnu::always_inline]] inline batch<T> round_to_even(const batch<T>& a) {
  return detail::round_by<_MM_FROUND_TO_NEAREST_INT>(a);
}

/// Whether `scale_where` is one instruction.
inline constexpr bool has_scale = true;

/// p times 2 to the power, rounded once, where the mask is true; 0 elsewhere.
template <class T>
[[gnu::always_inline]] inline batch<T> scale_where(const mask<T>& m, const batch<T>& p, const batch<T>& power) {
  if constexpr (sizeof(T) == 4) return batch<T>(_mm512_maskz_scalef_ps(m.data, p.data, power.data));
  else return batch<T>(_mm512_maskz_scalef_pd(m.data, p.data, power.data));
}

#else

/// a b + c, rounded once if the instruction set supports that.
template <class T>
[[gnu::always_inline]] inline batch<T> fused_multiply_add(const batch<T>& a, const batch<T>& b, const batch<T>& c) {
  return xsimd::fma(a, b, c);
}

/// Lane-wise minimum; the value of b if either is NaN.
template <class T>
[[gnu::always_inline]] inline batch<T> least(const batch<T>& a, const batch<T>& b) {
#if defined(__SSE2__)
  return xsimd::min(a, b);
#else  // elsewhere the instruction's result is NaN if a is
  return cpu::select<T>(as_mask(a < b), a, b);
#endif
}

/// Lane-wise maximum; the value of b if either is NaN.
template <class T>
[[gnu::always_inline]] inline batch<T> greatest(const batch<T>& a, const batch<T>& b) {
#if defined(__SSE2__)
  return xsimd::max(a, b);
#else  // elsewhere the instruction's result is NaN if a is
  return cpu::select<T>(as_mask(a > b), a, b);
#endif
}

template <class T>
[[gnu::always_inline]] inline batch<T> square_root(const batch<T>& a) {
  return xsimd::sqrt(a);
}

namespace detail {

// Before SSE4.1 no instruction rounds, and xsimd's emulation loses the sign of zero. Magnitudes below 2^23 (2^52) are rounded by adding and
// subtracting that number; larger magnitudes are integers already.
template <class T>
[[gnu::always_inline]] inline batch<T> round_by_addition(const batch<T>& a, int toward) {
  using integer = same_width_integer<T>;
  const T big = sizeof(T) == 4 ? T(0x1p23) : T(0x1p52);
  const auto sign_bit = static_cast<integer>(std::make_unsigned_t<integer>(1) << (8 * sizeof(T) - 1));
  const native<integer> bits = (native<integer>)to_native(a);
  const native<integer> sign = bits & sign_bit;
  const batch<T> size = from_native<T>((native<T>)(bits & ~sign_bit));
  const batch<T> magic(big);
  const auto signed_by = [&](const batch<T>& x) {
    return from_native<T>((native<T>)((native<integer>)to_native(x) | sign));
  };
  batch<T> rounded = signed_by((size + magic) - magic);
  const batch<T> one(T(1));
  const batch<T> zero(T(0));
  if (toward < 0) rounded = rounded - cpu::select<T>(as_mask(rounded > a), one, zero);
  if (toward > 0) rounded = rounded + cpu::select<T>(as_mask(rounded < a), one, zero);
  const batch<T> unsigned_result = from_native<T>((native<T>)((native<integer>)to_native(rounded) & ~sign_bit));
  return cpu::select<T>(as_mask(size < magic), signed_by(unsigned_result), a);
}

}  // namespace detail

template <class T>
[[gnu::always_inline]] inline batch<T> round_down(const batch<T>& a) {
#if defined(LEAT_BATCH_NO_ROUNDING)
  return detail::round_by_addition(a, -1);
#else
  return xsimd::floor(a);
#endif
}

template <class T>
[[gnu::always_inline]] inline batch<T> round_up(const batch<T>& a) {
#if defined(LEAT_BATCH_NO_ROUNDING)
  return detail::round_by_addition(a, 1);
#else
  return xsimd::ceil(a);
#endif
}

template <class T>
[[gnu::always_inline]] inline batch<T> round_to_zero(const batch<T>& a) {
#if defined(LEAT_BATCH_NO_ROUNDING)
  return cpu::select<T>(as_mask(a < batch<T>(T(0))), round_up(a), round_down(a));
#else
  return xsimd::trunc(a);
#endif
}

/// Rounds to the nearest integer, ties to even.
template <class T>
[[gnu::always_inline]] inline batch<T> round_to_even(const batch<T>& a) {
#if defined(LEAT_BATCH_NO_ROUNDING)
  return detail::round_by_addition(a, 0);
#else
  return xsimd::nearbyint(a);
#endif
}

inline constexpr bool has_scale = false;

template <class T>
batch<T> scale_where(const mask<T>& m, const batch<T>& p, const batch<T>& power) = delete;

#endif

}  // namespace leat::cpu

#include <leat/cpu/batch/end_instruction_set.hpp>
