#pragma once
// Values with a dtype known at run time, as bytes; and scratch memory for each thread.

#include <leat/core/dtype.hpp>
#include <leat/cpu/batch.hpp>
#include <leat/cpu/interpret/element.hpp>
#include <leat/cpu/scratch.hpp>

#include <algorithm>
#include <cstring>

namespace leat::cpu::detail {

// A thread's memory for the intermediate values of clusters. It grows to the size of the largest cluster, and is kept.
inline std::byte* memory_of_thread(std::size_t bytes) {
  thread_local scratch_block mine;
  return mine.of(bytes);
}

[[gnu::always_inline]] inline void copy_value(void* to, const void* from, int size) {
  if (size == 4)
    std::memcpy(to, from, 4);
  else if (size == 8)
    std::memcpy(to, from, 8);
  else
    std::memcpy(to, from, 1);
}
inline void repeat(std::byte* cell, int size) {
  const auto fill = [&]<class T>(T v) {
    std::memcpy(&v, cell, sizeof v);
    store(static_cast<T*>(static_cast<void*>(cell)), batch<T>(v));
  };
  if (size == 4) fill(std::int32_t{});
  else if (size == 8) fill(std::int64_t{});
  else std::memset(cell, std::to_integer<int>(*cell), repeated_bytes);
}
template <class F>
void with_element(dtype type, F f) {
  switch (type) {
    case dtype::float32: return f(float{});
    case dtype::float64: return f(double{});
    case dtype::int32: return f(std::int32_t{});
    case dtype::int64: return f(std::int64_t{});
    case dtype::uint8: return f(std::uint8_t{});
    default: return f(bool{});
  }
}
template <class F>
void with_bytes(int size, F f) {
  if (size == 4) f(std::uint32_t{});
  else if (size == 8) f(std::uint64_t{});
  else f(std::uint8_t{});
}

// Copies past the caches, where the destination is aligned.
inline void stream_bytes(std::byte* to, const std::byte* from, std::int64_t n) {
  using word = batch<std::int32_t>;
  constexpr auto bytes = static_cast<std::int64_t>(batch_bytes);
  const auto head = std::min(n, static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(to) % batch_bytes));
  std::memcpy(to, from, static_cast<std::size_t>(head));
  std::int64_t i = head;
  for (; i + bytes <= n; i += bytes)
    stream(static_cast<std::int32_t*>(static_cast<void*>(to + i)),
           word(load(static_cast<const std::int32_t*>(static_cast<const void*>(from + i)))));
  if (i < n) std::memcpy(to + i, from + i, static_cast<std::size_t>(n - i));
}

}  // namespace leat::cpu::detail
