#pragma once
// Batches of as many values as fit one SIMD register, and masks, which have a bool per lane. This is the only header that includes xsimd.
// Model: `batch<T>` is xsimd's batch for the instruction set that the compiler's flags select. Its register is reinterpreted as a GNU
// vector (`native<T>`), for which g++ and clang generate every integer operation and conversion. Intrinsics are used only where AVX-512's
// mask registers or masked memory accesses need them.

#include <leat/cpu/configuration.hpp>

#include <xsimd/xsimd.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <leat/cpu/batch/instruction_set.hpp>  // after all others

namespace leat::cpu {

/// A SIMD register of T; T is float, double, int32_t or int64_t.
template <class T>
using batch = xsimd::batch<T>;

/// Number of values in one batch of T.
template <class T>
inline constexpr int lanes = static_cast<int>(batch<T>::size);

/// A bool per lane. There is one type per lane width, so that masks of float and int32_t can be mixed, and those of double and int64_t.
template <class T>
using mask = xsimd::batch_bool<std::conditional_t<sizeof(T) == 4, float, double>>;

/// The alignment of `stream`'s destination, in bytes.
inline constexpr std::size_t batch_bytes = sizeof(batch<float>);

namespace detail {

// A GNU vector of T with a size of `Bytes` bytes.
template <class T, std::size_t Bytes>
struct vector_of {
  typedef T type __attribute__((vector_size(Bytes)));
};

template <class T>
using native = typename vector_of<T, sizeof(batch<T>)>::type;

template <class To, class From>
[[gnu::always_inline]] inline To register_cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  return (To)from;  // a C-style cast between registers of one size keeps the bits
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

/// The same bits as lanes of another type of equal width.
template <class To, class From>
[[gnu::always_inline]] inline batch<To> bits_as(const batch<From>& x) {
  static_assert(sizeof(To) == sizeof(From));
  return batch<To>((typename batch<To>::register_type)x.data);
}

/// The canonical mask for xsimd's mask of any lane type of that width.
template <class T>
[[gnu::always_inline]] inline mask<T> as_mask(const xsimd::batch_bool<T>& m) {
  if constexpr (std::is_same_v<xsimd::batch_bool<T>, mask<T>>) return m;
  else return mask<T>((typename mask<T>::register_type)m.data);
}

/// xsimd's mask for lanes of type T, converted from the canonical mask.
template <class T>
[[gnu::always_inline]] inline xsimd::batch_bool<T> as_batch_bool(const mask<T>& m) {
  if constexpr (std::is_same_v<xsimd::batch_bool<T>, mask<T>>) return m;
  else return xsimd::batch_bool<T>((typename xsimd::batch_bool<T>::register_type)m.data);
}

/// A mask from lanes of int32_t or int64_t that are all ones where it is true.
template <class T>
[[gnu::always_inline]] inline mask<T> mask_of_lanes(const batch<T>& ones) {
#if defined(LEAT_BATCH_AVX512)
  if constexpr (sizeof(T) == 4) return mask<T>(_mm512_movepi32_mask((__m512i)ones.data));
  else return mask<T>(_mm512_movepi64_mask((__m512i)ones.data));
#else
  return mask<T>((typename mask<T>::register_type)ones.data);
#endif
}

/// Lane-wise static_cast between types of one width: int32_t and float, int64_t and double. Values out of an integer's range give its
/// minimum, as the processor's instruction does.
template <class To, class From>
[[gnu::always_inline]] inline batch<To> convert(const batch<From>& x) {
  static_assert(sizeof(To) == sizeof(From));
  if constexpr (std::is_same_v<To, From>) return x;
  else return detail::from_native<To>(__builtin_convertvector(detail::to_native(x), detail::native<To>));
}

}  // namespace leat::cpu

#include <leat/cpu/batch/end_instruction_set.hpp>
