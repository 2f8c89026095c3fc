#pragma once
// A function of two arrays, element by element, into the first. What it reads is copied in blocks of a known length before it is used, so
// that compilers make SIMD loops of it at -O2, too, where they do not ask whether the arrays overlap.

#include <cstdint>
#include <cstring>

namespace leat::runtime {

/// to[i] = f(to[i], from[i]). The arrays may be one, but may not overlap otherwise.
template <class T, class F>
void combine(T* to, const T* from, std::int64_t n, F f) {
  constexpr std::int64_t block = 256 / static_cast<std::int64_t>(sizeof(T));
  std::int64_t i = 0;
  for (; i + block <= n; i += block) {
    T given[block];
    std::memcpy(given, from + i, sizeof given);
    for (std::int64_t k = 0; k < block; ++k) to[i + k] = f(to[i + k], given[k]);
  }
  for (; i < n; ++i) to[i] = f(to[i], from[i]);
}

}  // namespace leat::runtime
