#pragma once
// Values that travel inside expressions: numbers that the compiler does not know, as bits, and the elements of arrays, shared by all copies
// of an expression and all its sessions. An expression without arrays carries plain integers and is trivially copyable.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <leat/core/dtype.hpp>
#include <leat/core/memory.hpp>
#include <leat/core/shape.hpp>
#include <new>
#include <utility>

namespace leat::detail {

/// The elements of an array, row-major, aligned for SIMD batches and reference-counted. Written once, by their creator. Thread-safe.
class shared_elements {
 public:
  constexpr shared_elements() = default;
  /// Allocates the elements, without values. Errors: resource_exhausted if the system has no such memory.
  shared_elements(dtype type, const shape& extent) {
    const auto bytes = static_cast<std::size_t>(extent.elements() * size_of(type));
    block_ = ::new (allocate_aligned(begin + bytes)) block{{1}, type, extent, bytes};
  }
  constexpr shared_elements(const shared_elements& other) : block_(other.block_) {
    if (block_ != nullptr) hold();
  }
  constexpr shared_elements(shared_elements&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  constexpr shared_elements& operator=(shared_elements other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  constexpr ~shared_elements() {
    if (block_ != nullptr) let_go();
  }

  constexpr explicit operator bool() const { return block_ != nullptr; }
  dtype type() const { return block_->type; }
  const shape& extent() const { return block_->extent; }
  std::size_t bytes() const { return block_->bytes; }
  void* data() const { return reinterpret_cast<std::byte*>(block_) + begin; }

  /// Whether two objects have equal elements: they share one array, or their arrays are equal byte by byte.
  friend constexpr bool operator==(const shared_elements& a, const shared_elements& b) { return a.block_ == b.block_ || a.equals(b); }

 private:
  struct block {
    std::atomic<int> holders;
    dtype type;
    shape extent;
    std::size_t bytes;
  };
  static constexpr std::size_t begin = (sizeof(block) + 63) / 64 * 64;

  void hold() const { block_->holders.fetch_add(1, std::memory_order_relaxed); }
  void let_go() {
    if (block_->holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    block_->~block();
    ::operator delete(static_cast<void*>(block_), std::align_val_t{64});
  }
  [[gnu::cold, gnu::noinline]] bool equals(const shared_elements& other) const {
    return block_ != nullptr && other.block_ != nullptr && type() == other.type() && extent() == other.extent() &&
           std::memcmp(data(), other.data(), bytes()) == 0;
  }

  block* block_ = nullptr;
};

/// A value that is carried by an expression with arrays: the bits of a number, or an array.
struct carried_value {
  std::uint64_t bits = 0;
  shared_elements elements{};

  constexpr carried_value() = default;
  constexpr carried_value(std::uint64_t number) : bits(number) {}
  carried_value(shared_elements array) : elements(std::move(array)) {}

  friend constexpr bool operator==(const carried_value& a, const carried_value& b) { return a.bits == b.bits && a.elements == b.elements; }
  friend constexpr bool operator==(const carried_value& a, std::uint64_t b) { return a.bits == b && !a.elements; }
};
constexpr std::uint64_t bits_of_carried(std::uint64_t value) { return value; }
constexpr std::uint64_t bits_of_carried(const carried_value& value) { return value.bits; }
constexpr bool is_array(std::uint64_t) { return false; }
constexpr bool is_array(const carried_value& value) { return static_cast<bool>(value.elements); }

// The type of carried values: integers if none of them is an array.
template <bool Arrays>
struct carried_kind {
  using type = std::uint64_t;
};
template <>
struct carried_kind<true> {
  using type = carried_value;
};

}  // namespace leat::detail
