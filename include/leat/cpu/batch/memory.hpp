#pragma once
// Memory access of batches: unaligned and partial loads and stores, which touch no byte outside the array, and non-temporal stores.

#include <leat/cpu/batch/registers.hpp>

#include <leat/cpu/batch/instruction_set.hpp>  // after all others

namespace leat::cpu {

/// Loads one batch, unaligned.
template <class T>
[[gnu::always_inline]] inline batch<T> load(const T* p) {
  return batch<T>::load_unaligned(p);
}

/// Stores one batch, unaligned.
template <class T>
[[gnu::always_inline]] inline void store(T* p, const batch<T>& v) {
  v.store_unaligned(p);
}

/// The lanes 0, 1, 2, …
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

/// The mask whose first n lanes are true; 0 <= n <= lanes.
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

/// Loads p[0, n) into the first n lanes; the other lanes are `fill`. 1 <= n < lanes. Touches nothing outside [p, p + n).
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

/// Stores the first n lanes to p[0, n). 1 <= n < lanes. Touches nothing outside [p, p + n).
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

/// `load_partial` for a count that is often known at compile time: one or two values are then loaded directly. A masked load needs a mask,
/// and must wait for earlier stores to the memory after the array.
template <class T>
[[gnu::always_inline]] inline batch<T> load_rest(const T* p, int n) {
#if !defined(__CUDACC__)  // nvcc cannot set the first values of a register
  if (__builtin_constant_p(n)) {
    if (n == 1) return detail::from_native<T>(detail::native<T>{p[0]});
    if constexpr (lanes<T> > 2)
      if (n == 2) return detail::from_native<T>(detail::native<T>{p[0], p[1]});
  }
#endif
  return load_partial(p, n);
}

/// `store_partial` for a count that is often known at compile time.
template <class T>
[[gnu::always_inline]] inline void store_rest(T* p, const batch<T>& v, int n) {
  if (__builtin_constant_p(n) && n <= 2) {
    const detail::native<T> values = detail::to_native(v);
    p[0] = values[0];
    if (n == 2) p[1] = values[1];
    return;
  }
  store_partial(p, v, n);
}

/// Whether p is aligned for `stream`.
[[gnu::always_inline]] inline bool is_batch_aligned(const void* p) {
  return reinterpret_cast<std::uintptr_t>(p) % batch_bytes == 0;
}

/// Non-temporal store of one batch (on x86; like `store` elsewhere). p must be aligned to batch_bytes. `stream_fence` must follow before
/// another thread reads the memory.
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

/// Orders streamed stores before later ones.
[[gnu::always_inline]] inline void stream_fence() {
#if defined(LEAT_BATCH_SSE2)
  _mm_sfence();
#endif
}

}  // namespace leat::cpu

#include <leat/cpu/batch/end_instruction_set.hpp>
