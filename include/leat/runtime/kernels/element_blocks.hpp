#pragma once
// Applies a binary function element by element and stores the result in the first array. Operands are copied in blocks of a known length
// before use: at -O2 compilers vectorize a loop only if they need no run-time check that the arrays do not overlap.

#include <cstdint>
#include <cstring>

namespace leat::runtime {

/// to[i] = f(to[i], from[i]). `to` and `from` may be the same array; they may not overlap partly.
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
