#pragma once
// Batches: as many values as one SIMD register holds, and masks over them. This is the one header that includes xsimd.
// It adds what xsimd 8.1 lacks or does slowly or wrongly: partial loads and stores that touch no byte outside the
// array, non-temporal stores, masks of bool arrays, one mask type per lane width, and integer arithmetic on every
// instruction set.
// Model: `batch<T>` is xsimd's batch for the instruction set that the compiler's flags name; its register is
// reinterpreted as a GNU vector (`native<T>`), on which g++ and clang generate every integer operation and conversion
// themselves, and intrinsics are used only where the mask registers of AVX-512 or masked memory accesses need them.

#include <xsimd/xsimd.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace leat::cpu {

/// A SIMD register of T; T is float, double, int32_t or int64_t.
template <class T>
using batch = xsimd::batch<T>;

/// Values in one batch of T.
template <class T>
inline constexpr int lanes = static_cast<int>(batch<T>::size);

/// A truth value per lane. One type for each lane width, so that masks of float and int32_t mix, and of double and
/// int64_t.
template <class T>
using mask = xsimd::batch_bool<std::conditional_t<sizeof(T) == 4, float, double>>;

/// The bytes to which `stream` needs its destination aligned.
inline constexpr std::size_t batch_bytes = sizeof(batch<float>);

namespace detail {

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define LEAT_BATCH_AVX512 1
#elif defined(__AVX2__)
#define LEAT_BATCH_AVX2 1
#endif
#if defined(__SSE2__)
#define LEAT_BATCH_SSE2 1
#if !defined(__SSE4_1__)
#define LEAT_BATCH_NO_ROUNDING 1
#endif
#endif

// A GNU vector of T in Bytes bytes.
template <class T, std::size_t Bytes>
struct vector_of {
  typedef T type __attribute__((vector_size(Bytes)));
};

template <class T>
using native = typename vector_of<T, sizeof(batch<T>)>::type;

template <class To, class From>
[[gnu::always_inline]] inline To register_cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  return (To)from;  // between registers of one size a cast in this notation keeps the bits
}

template <class T>
[[gnu::always_inline]] inline native<T> to_native(const batch<T>& x) {
  return (native<T>)x.data;
}

template <class T>
[[gnu::always_inline]] inline batch<T> from_native(native<T> x) {
  return batch<T>((typename batch<T>::register_type)x);
}

template <class T>
using mask_lane = std::conditional_t<sizeof(T) == 4, float, double>;

template <class T>
using same_width_integer = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

template <class T>
using same_width_float = mask_lane<T>;

}  // namespace detail

// ---- Reinterpretation

/// The same bits as lanes of another type of equal width.
template <class To, class From>
[[gnu::always_inline]] inline batch<To> bits_as(const batch<From>& x) {
  static_assert(sizeof(To) == sizeof(From));
  return batch<To>((typename batch<To>::register_type)x.data);
}

/// The canonical mask of xsimd's mask of any lane type of that width.
template <class T>
[[gnu::always_inline]] inline mask<T> as_mask(const xsimd::batch_bool<T>& m) {
  if constexpr (std::is_same_v<xsimd::batch_bool<T>, mask<T>>) return m;
  else return mask<T>((typename mask<T>::register_type)m.data);
}

/// xsimd's mask for lanes of type T, from the canonical one.
template <class T>
[[gnu::always_inline]] inline xsimd::batch_bool<T> as_batch_bool(const mask<T>& m) {
  if constexpr (std::is_same_v<xsimd::batch_bool<T>, mask<T>>) return m;
  else return xsimd::batch_bool<T>((typename xsimd::batch_bool<T>::register_type)m.data);
}

/// Lanes of int32_t or int64_t that are all ones where m holds, as a mask.
template <class T>
[[gnu::always_inline]] inline mask<T> mask_of_lanes(const batch<T>& ones) {
#if defined(LEAT_BATCH_AVX512)
  if constexpr (sizeof(T) == 4) return mask<T>(_mm512_movepi32_mask((__m512i)ones.data));
  else return mask<T>(_mm512_movepi64_mask((__m512i)ones.data));
#else
  return mask<T>((typename mask<T>::register_type)ones.data);
#endif
}

// ---- Memory

/// Reads one batch from p, of any alignment.
template <class T>
[[gnu::always_inline]] inline batch<T> load(const T* p) {
  return batch<T>::load_unaligned(p);
}

/// Writes one batch to p, of any alignment.
template <class T>
[[gnu::always_inline]] inline void store(T* p, const batch<T>& v) {
  v.store_unaligned(p);
}

/// 0, 1, 2, …
template <class T>
[[gnu::always_inline]] inline batch<T> iota() {
  alignas(batch<T>) static constexpr struct table {
    T values[lanes<T>]{};
    constexpr table() {
      for (int i = 0; i < lanes<T>; ++i) values[i] = static_cast<T>(i);
    }
  } numbers{};
  return batch<T>::load_aligned(numbers.values);
}

/// The mask whose first n lanes hold; 0 <= n <= lanes.
template <class T>
[[gnu::always_inline]] inline mask<T> first_lanes(int n) {
#if defined(LEAT_BATCH_AVX512)
  return mask<T>(static_cast<typename mask<T>::register_type>((1U << n) - 1U));
#else
  using integer = detail::same_width_integer<T>;
  const auto below = detail::to_native(iota<integer>()) < static_cast<integer>(n);
  return mask_of_lanes(detail::from_native<integer>((detail::native<integer>)below));
#endif
}

/// Reads p[0, n) into the first n lanes; the others hold `fill`. 1 <= n < lanes. Touches nothing outside [p, p + n).
template <class T>
[[gnu::always_inline]] inline batch<T> load_partial(const T* p, int n, T fill = T(0)) {
#if defined(LEAT_BATCH_AVX512)
  const auto m = first_lanes<T>(n).data;
  const batch<T> other(fill);
  if constexpr (std::is_same_v<T, float>) return batch<T>(_mm512_mask_loadu_ps(other.data, m, p));
  else if constexpr (std::is_same_v<T, double>) return batch<T>(_mm512_mask_loadu_pd(other.data, m, p));
  else if constexpr (sizeof(T) == 4) return batch<T>(_mm512_mask_loadu_epi32(other.data, m, p));
  else return batch<T>(_mm512_mask_loadu_epi64(other.data, m, p));
#elif defined(LEAT_BATCH_AVX2)
  const auto m = first_lanes<T>(n);
  const auto selector = (__m256i)m.data;
  if constexpr (sizeof(T) == 4) {
    const __m256i read = _mm256_maskload_epi32(reinterpret_cast<const int*>(p), selector);
    return batch<T>((typename batch<T>::register_type)_mm256_blendv_epi8((__m256i)batch<T>(fill).data, read, selector));
  } else {
    const __m256i read = _mm256_maskload_epi64(reinterpret_cast<const long long*>(p), selector);
    return batch<T>((typename batch<T>::register_type)_mm256_blendv_epi8((__m256i)batch<T>(fill).data, read, selector));
  }
#else
  alignas(batch<T>) T buffer[lanes<T>];
  for (int i = 0; i < lanes<T>; ++i) buffer[i] = i < n ? p[i] : fill;
  return batch<T>::load_aligned(buffer);
#endif
}

/// Writes the first n lanes to p[0, n). 1 <= n < lanes. Touches nothing outside [p, p + n).
template <class T>
[[gnu::always_inline]] inline void store_partial(T* p, const batch<T>& v, int n) {
#if defined(LEAT_BATCH_AVX512)
  const auto m = first_lanes<T>(n).data;
  if constexpr (std::is_same_v<T, float>) _mm512_mask_storeu_ps(p, m, v.data);
  else if constexpr (std::is_same_v<T, double>) _mm512_mask_storeu_pd(p, m, v.data);
  else if constexpr (sizeof(T) == 4) _mm512_mask_storeu_epi32(p, m, v.data);
  else _mm512_mask_storeu_epi64(p, m, v.data);
#elif defined(LEAT_BATCH_AVX2)
  const auto selector = (__m256i)first_lanes<T>(n).data;
  if constexpr (sizeof(T) == 4) _mm256_maskstore_epi32(reinterpret_cast<int*>(p), selector, (__m256i)v.data);
  else _mm256_maskstore_epi64(reinterpret_cast<long long*>(p), selector, (__m256i)v.data);
#else
  alignas(batch<T>) T buffer[lanes<T>];
  v.store_aligned(buffer);
  for (int i = 0; i < n; ++i) p[i] = buffer[i];
#endif
}

/// Whether p may be the destination of `stream`.
[[gnu::always_inline]] inline bool is_batch_aligned(const void* p) {
  return reinterpret_cast<std::uintptr_t>(p) % batch_bytes == 0;
}

/// Writes one batch past the caches (x86; elsewhere as `store`). p must be aligned to batch_bytes. Close a series of
/// streams with `stream_fence` before another thread reads.
template <class T>
[[gnu::always_inline]] inline void stream(T* p, const batch<T>& v) {
#if defined(LEAT_BATCH_AVX512)
  _mm512_stream_si512(reinterpret_cast<__m512i*>(p), (__m512i)v.data);
#elif defined(LEAT_BATCH_AVX2)
  _mm256_stream_si256(reinterpret_cast<__m256i*>(p), (__m256i)v.data);
#elif defined(LEAT_BATCH_SSE2)
  if constexpr (sizeof(v) == 16) _mm_stream_si128(reinterpret_cast<__m128i*>(p), (__m128i)v.data);
  else store(p, v);
#else
  store(p, v);
#endif
}

/// Orders streamed writes before what follows.
[[gnu::always_inline]] inline void stream_fence() {
#if defined(LEAT_BATCH_SSE2)
  _mm_sfence();
#endif
}

// ---- Masks

/// Lane by lane a where m holds, else b. Call it as cpu::select: xsimd has a function of that name for its own mask
/// types.
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

/// Where a and b differ; a NaN differs from everything. xsimd's own != says false of NaN.
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

/// Bit i of the result is lane i of the mask of lanes of T's width.
template <class T>
[[gnu::always_inline]] inline std::uint32_t mask_bits(const mask<T>& m) {
#if defined(LEAT_BATCH_AVX512)
  return m.data;
#elif defined(LEAT_BATCH_AVX2)
  if constexpr (sizeof(T) == 4) return static_cast<std::uint32_t>(_mm256_movemask_ps(m.data));
  else return static_cast<std::uint32_t>(_mm256_movemask_pd(m.data));
#else
  // Every lane of such a mask is all ones or all zeros.
  using integer = detail::same_width_integer<T>;
  integer buffer[lanes<integer>];
  static_assert(sizeof(buffer) == sizeof(m.data));
  std::memcpy(buffer, &m.data, sizeof(buffer));
  std::uint32_t bits = 0;
  for (int i = 0; i < lanes<T>; ++i) bits |= static_cast<std::uint32_t>(buffer[i] & 1) << i;
  return bits;
#endif
}

/// The mask whose lane i is p[i], for lanes of T's width; lanes from n on are false. 1 <= n <= lanes.
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

/// Writes lanes [0, n) of a mask of lanes of T's width to p[0, n). 1 <= n <= lanes.
template <class T>
[[gnu::always_inline]] inline void store_mask(bool* p, const mask<T>& m, int n = lanes<T>) {
#if defined(LEAT_BATCH_AVX512)
  _mm_mask_storeu_epi8(p, static_cast<__mmask16>((1U << n) - 1U), _mm_maskz_set1_epi8(m.data, 1));
#else
  // At most eight lanes: the product copies each bit to the lowest bit of its own byte.
  const std::uint64_t bits = mask_bits<T>(m);
  const std::uint64_t spread = (((bits & 0x7f) * 0x0002040810204081U) & 0x0101010101010101U) | ((bits & 0x80) << 49);
  std::memcpy(p, &spread, static_cast<std::size_t>(n));
#endif
}

// ---- Transposition

namespace detail {

// a0 b0 a1 b1 … and the rest of both likewise.
template <class T, int... I>
[[gnu::always_inline]] inline void interleave(native<T>& a, native<T>& b, std::integer_sequence<int, I...>) {
#if defined(__clang__)
  const native<T> low = __builtin_shufflevector(a, b, (I / 2 + I % 2 * lanes<T>)...);
  const native<T> high = __builtin_shufflevector(a, b, (lanes<T> / 2 + I / 2 + I % 2 * lanes<T>)...);
#else
  const native<T> low = __builtin_shuffle(a, b, native<same_width_integer<T>>{(I / 2 + I % 2 * lanes<T>)...});
  const native<T> high =
      __builtin_shuffle(a, b, native<same_width_integer<T>>{(lanes<T> / 2 + I / 2 + I % 2 * lanes<T>)...});
#endif
  a = low;
  b = high;
}

}  // namespace detail

/// Transposes a square: lane j of row i becomes lane i of row j.
template <class T>
[[gnu::always_inline]] inline void transpose(batch<T> (&rows)[lanes<T>]) {
  // Interleaving the first half of the rows with the second moves one bit of the row's number into the lane's.
  detail::native<T> now[lanes<T>], next[lanes<T>];
#pragma GCC unroll 16
  for (int i = 0; i < lanes<T>; ++i) now[i] = detail::to_native(rows[i]);
#pragma GCC unroll 4
  for (int done = 1; done < lanes<T>; done *= 2) {
#pragma GCC unroll 8
    for (int i = 0; i < lanes<T> / 2; ++i) {
      next[2 * i] = now[i];
      next[2 * i + 1] = now[i + lanes<T> / 2];
      detail::interleave<T>(next[2 * i], next[2 * i + 1], std::make_integer_sequence<int, lanes<T>>{});
    }
#pragma GCC unroll 16
    for (int i = 0; i < lanes<T>; ++i) now[i] = next[i];
  }
#pragma GCC unroll 16
  for (int i = 0; i < lanes<T>; ++i) rows[i] = detail::from_native<T>(now[i]);
}

// ---- Conversions

/// Lane by lane static_cast between types of one width: int32_t and float, int64_t and double. Numbers out of an
/// integer's range give its least value, as the processor has it.
template <class To, class From>
[[gnu::always_inline]] inline batch<To> convert(const batch<From>& x) {
  static_assert(sizeof(To) == sizeof(From));
  if constexpr (std::is_same_v<To, From>) return x;
  else return detail::from_native<To>(__builtin_convertvector(detail::to_native(x), detail::native<To>));
}

// ---- Floating-point operations of one instruction

#if defined(LEAT_BATCH_AVX512)

// The masked forms, under a mask of ones: the plain ones of g++ 12 warn of an uninitialized value, and xsimd's batches
// of 512 bits have no fused multiply-add at all.

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

/// Whether there is an instruction for `scale_where`.
inline constexpr bool has_scale = true;

/// p times 2 to the power, rounded once, where the mask holds; elsewhere 0.
template <class T>
[[gnu::always_inline]] inline batch<T> scale_where(const mask<T>& m, const batch<T>& p, const batch<T>& power) {
  if constexpr (sizeof(T) == 4) return batch<T>(_mm512_maskz_scalef_ps(m.data, p.data, power.data));
  else return batch<T>(_mm512_maskz_scalef_pd(m.data, p.data, power.data));
}

#else

/// a b + c, rounded once where the instruction set has such an instruction.
template <class T>
[[gnu::always_inline]] inline batch<T> fused_multiply_add(const batch<T>& a, const batch<T>& b, const batch<T>& c) {
  return xsimd::fma(a, b, c);
}

/// The lesser lane; b's if either is NaN.
template <class T>
[[gnu::always_inline]] inline batch<T> least(const batch<T>& a, const batch<T>& b) {
  return xsimd::min(a, b);
}

/// The greater lane; b's if either is NaN.
template <class T>
[[gnu::always_inline]] inline batch<T> greatest(const batch<T>& a, const batch<T>& b) {
  return xsimd::max(a, b);
}

template <class T>
[[gnu::always_inline]] inline batch<T> square_root(const batch<T>& a) {
  return xsimd::sqrt(a);
}

namespace detail {

// Without SSE4.1 there is no instruction that rounds, and xsimd's way loses the sign of zero. A size below 2^23 (2^52)
// is rounded by adding that number and taking it away; greater ones are integers.
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

/// Ties go to the even neighbor.
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

// ---- Horizontal reductions

namespace detail {

// Halves a vector until one value is left: a balanced tree, so that the result depends on the lane count alone.
template <class T, std::size_t Bytes, class Combine>
[[gnu::always_inline]] inline T fold(typename vector_of<T, Bytes>::type v, Combine combine) {
  if constexpr (Bytes == 2 * sizeof(T)) {
    return combine(T(v[0]), T(v[1]));
  } else {
    typename vector_of<T, Bytes / 2>::type low, high;
    std::memcpy(&low, &v, Bytes / 2);
    std::memcpy(&high, reinterpret_cast<const char*>(&v) + Bytes / 2, Bytes / 2);
    return fold<T, Bytes / 2>(combine(low, high), combine);
  }
}

struct add_values {
  template <class V>
  [[gnu::always_inline]] V operator()(V a, V b) const {
    return wrap(a, b, [](auto x, auto y) { return x + y; });
  }
  // Signed overflow wraps: unsigned arithmetic on the same bits.
  template <class V, class F>
  [[gnu::always_inline]] static V wrap(V a, V b, F f) {
    if constexpr (std::is_integral_v<V>) {
      using unsigned_type = std::make_unsigned_t<V>;
      return static_cast<V>(f(static_cast<unsigned_type>(a), static_cast<unsigned_type>(b)));
    } else {
      return f(a, b);
    }
  }
};

struct multiply_values {
  template <class V>
  [[gnu::always_inline]] V operator()(V a, V b) const {
    return add_values::wrap(a, b, [](auto x, auto y) { return x * y; });
  }
};

// A NaN on either side wins: `a != a` keeps a's, and a false comparison with b's takes b.
struct greater_value {
  template <class V>
  [[gnu::always_inline]] V operator()(V a, V b) const {
    return ((a > b) | (a != a)) ? a : b;
  }
};

struct smaller_value {
  template <class V>
  [[gnu::always_inline]] V operator()(V a, V b) const {
    return ((a < b) | (a != a)) ? a : b;
  }
};

}  // namespace detail

/// Sum of the lanes, in a balanced tree.
template <class T>
[[gnu::always_inline]] inline T reduce_add(const batch<T>& x) {
  return detail::fold<T, sizeof(x)>(detail::to_native(x), detail::add_values{});
}

/// Lane i of the result is reduce_add(rows[i]), the same bits, in a fraction of the time.
template <class T>
[[gnu::always_inline]] inline batch<T> reduce_add_each(const batch<T> (&rows)[lanes<T>]) {
  detail::native<T> now[lanes<T>];
#pragma GCC unroll 16
  for (int i = 0; i < lanes<T>; ++i) now[i] = detail::to_native(rows[i]);
#pragma GCC unroll 4
  for (int half = lanes<T> / 2; half > 0; half /= 2)
#pragma GCC unroll 8
    for (int i = 0; i < half; ++i) {
      detail::interleave<T>(now[i], now[i + half], std::make_integer_sequence<int, lanes<T>>{});
      if constexpr (std::is_integral_v<T>) {
        using bits = detail::native<std::make_unsigned_t<T>>;
        now[i] = (detail::native<T>)((bits)now[i] + (bits)now[i + half]);
      } else {
        now[i] = now[i] + now[i + half];
      }
    }
  return detail::from_native<T>(now[0]);
}

/// Product of the lanes, in a balanced tree.
template <class T>
[[gnu::always_inline]] inline T reduce_mul(const batch<T>& x) {
  return detail::fold<T, sizeof(x)>(detail::to_native(x), detail::multiply_values{});
}

/// Greatest lane; NaN if any is.
template <class T>
[[gnu::always_inline]] inline T reduce_max(const batch<T>& x) {
  return detail::fold<T, sizeof(x)>(detail::to_native(x), detail::greater_value{});
}

/// Least lane; NaN if any is.
template <class T>
[[gnu::always_inline]] inline T reduce_min(const batch<T>& x) {
  return detail::fold<T, sizeof(x)>(detail::to_native(x), detail::smaller_value{});
}

}  // namespace leat::cpu

#undef LEAT_BATCH_AVX512
#undef LEAT_BATCH_AVX2
#undef LEAT_BATCH_SSE2
#undef LEAT_BATCH_NO_ROUNDING
