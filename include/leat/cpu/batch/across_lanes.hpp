#pragma once
// Horizontal operations on batches: the transposition of a square of them, and reductions. Reductions combine lanes in a balanced tree, so
// that a result depends only on the number of lanes.

#include <leat/cpu/batch/registers.hpp>

#include <cstring>
#include <type_traits>
#include <utility>

namespace leat::cpu {

namespace detail {

// Interleaves two vectors: the first half of a0 b0 a1 b1 … goes to a, the second half to b.
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
  // Interleaving the first half of the rows with the second moves one bit of the row index to the lane index.
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

namespace detail {

// Half of a vector, from lane `Begin` on. For nvcc, which does not know the shuffle, it is copied as bytes; elsewhere that would go through
// memory.
template <class Half, int Begin, class V, int... I>
[[gnu::always_inline]] inline Half half_from(V v, std::integer_sequence<int, I...>) {
#if defined(__CUDACC__)
  Half half;
  std::memcpy(&half, reinterpret_cast<const char*>(&v) + static_cast<std::size_t>(Begin) * sizeof v[0], sizeof half);
  return half;
#else
  return __builtin_shufflevector(v, v, (Begin + I)...);
#endif
}

// Halves a vector until one value is left. This is a balanced tree, so that the result depends only on the number of lanes.
template <class T, std::size_t Bytes, class Combine>
[[gnu::always_inline]] inline T fold(typename vector_of<T, Bytes>::type v, Combine combine) {
  if constexpr (Bytes == 2 * sizeof(T)) {
    return combine(T(v[0]), T(v[1]));
  } else {
    constexpr int half = static_cast<int>(Bytes / sizeof(T) / 2);
    using half_vector = typename vector_of<T, Bytes / 2>::type;
    const auto low = half_from<half_vector, 0>(v, std::make_integer_sequence<int, half>{});
    const auto high = half_from<half_vector, half>(v, std::make_integer_sequence<int, half>{});
    return fold<T, Bytes / 2>(combine(low, high), combine);
  }
}

// Sums and products of signed integers must wrap around, so they are computed in unsigned arithmetic on the same bits.
template <class T, class Combine>
[[gnu::always_inline]] inline T wrapping_fold(const batch<T>& x, Combine combine) {
  if constexpr (std::is_integral_v<T>) {
    using bits = std::make_unsigned_t<T>;
    return static_cast<T>(fold<bits, sizeof(x)>((typename vector_of<bits, sizeof(x)>::type)to_native(x), combine));
  } else {
    return fold<T, sizeof(x)>(to_native(x), combine);
  }
}

// Returns a NaN if either value is one: `a != a` selects a NaN in a, and a comparison with a NaN in b is false, which selects b.
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
  return detail::wrapping_fold(x, [](auto a, auto b) { return a + b; });
}

/// Lane i of the result is reduce_add(rows[i]), bit for bit, but faster.
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
  return detail::wrapping_fold(x, [](auto a, auto b) { return a * b; });
}

/// Maximum of the lanes; NaN if any lane is NaN.
template <class T>
[[gnu::always_inline]] inline T reduce_max(const batch<T>& x) {
  return detail::fold<T, sizeof(x)>(detail::to_native(x), detail::greater_value{});
}

/// Minimum of the lanes; NaN if any lane is NaN.
template <class T>
[[gnu::always_inline]] inline T reduce_min(const batch<T>& x) {
  return detail::fold<T, sizeof(x)>(detail::to_native(x), detail::smaller_value{});
}

}  // namespace leat::cpu
