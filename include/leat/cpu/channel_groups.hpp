#pragma once
// The channels of a pixel in groups of batches, which loops over windows keep in registers.

#include <leat/cpu/batch.hpp>
#include <leat/cpu/matmul/tile.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace leat::cpu::detail {

/// Calls f(first channel, channels, batches) for the channels in groups of four, two and one batch.
template <class T, class F>
void for_each_channel_group(std::int64_t channels, F f) {
  std::int64_t k = 0;
  for (; k + 4 * lanes<T> <= channels; k += 4 * lanes<T>) f(k, 4 * lanes<T>, std::integral_constant<int, 4>{});
  if (k + 2 * lanes<T> <= channels) {
    f(k, 2 * lanes<T>, std::integral_constant<int, 2>{});
    k += 2 * lanes<T>;
  }
  for (; k < channels; k += lanes<T>)
    f(k, static_cast<int>(std::min<std::int64_t>(channels - k, lanes<T>)), std::integral_constant<int, 1>{});
}
/// Batch j of such a group; only a group of one batch may be filled in part.
template <int Batches, class T>
[[gnu::always_inline]] inline batch<T> load_of_group(const T* p, int j, int count) {
  return Batches > 1 ? load(p + j * lanes<T>) : load_some(p, count);
}
template <int Batches, class T>
[[gnu::always_inline]] inline void store_group(T* p, const batch<T> (&values)[Batches], int count) {
#pragma GCC unroll 4
  for (int j = 0; j < Batches; ++j) {
    if constexpr (Batches > 1) store(p + j * lanes<T>, values[j]);
    else store_some(p, values[0], count);
  }
}

}  // namespace leat::cpu::detail
