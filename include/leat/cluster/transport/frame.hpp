#pragma once
// Bytes that are sent between processes, with shared ownership of their memory: sent bytes are not copied, and received bytes may stay
// where the transport stored them, in a ZeroMQ message or in shared memory.

#include <leat/core/memory.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leat::transport {

/// Immutable bytes with shared ownership of their memory. Copies refer to the same bytes.
class frame {
 public:
  frame() = default;
  /// `size` bytes at `data`, which are valid as long as `owner` is held.
  frame(std::shared_ptr<const void> owner, const std::byte* data, std::size_t size) : owner_(std::move(owner)), data_(data), size_(size) {}

  /// A copy of bytes, aligned to 64 bytes.
  static frame copy_of(std::span<const std::byte> bytes);
  static frame copy_of(std::string_view text) { return copy_of(std::as_bytes(std::span(text.data(), text.size()))); }
  /// Takes ownership of a string or a vector of numbers.
  static frame of(std::string text) {
    auto owner = std::make_shared<const std::string>(std::move(text));
    const auto* const data = reinterpret_cast<const std::byte*>(owner->data());
    const std::size_t size = owner->size();
    return frame(std::move(owner), data, size);
  }
  template <class T>
  static frame of(std::vector<T> values) {
    auto owner = std::make_shared<const std::vector<T>>(std::move(values));
    const auto bytes = std::as_bytes(std::span(*owner));
    return frame(std::move(owner), bytes.data(), bytes.size());
  }

  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }
  const std::shared_ptr<const void>& owner() const { return owner_; }

  /// A slice that shares the ownership; `offset + size` must not exceed `size()`.
  frame piece(std::size_t offset, std::size_t size) const { return frame(owner_, data_ + offset, size); }

 private:
  std::shared_ptr<const void> owner_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Memory to be filled and then sent, aligned to 64 bytes. Converts to a frame, after which it must not be written.
class writable_frame {
 public:
  writable_frame() = default;
  writable_frame(std::shared_ptr<void> owner, std::byte* data, std::size_t size) : owner_(std::move(owner)), data_(data), size_(size) {}
  /// Allocates memory of this process. Errors: resource_exhausted.
  static writable_frame make(std::size_t size) {
    if (size == 0) return {};
    auto* const data = static_cast<std::byte*>(allocate_aligned(size));
    std::shared_ptr<void> owner(data, [](void* p) { ::operator delete(p, std::align_val_t{64}); });
    return writable_frame(std::move(owner), data, size);
  }

  std::byte* data() { return data_; }
  std::size_t size() const { return size_; }
  std::span<std::byte> bytes() { return {data_, size_}; }
  const std::shared_ptr<void>& owner() const { return owner_; }
  operator frame() const { return frame(owner_, data_, size_); }

 private:
  std::shared_ptr<void> owner_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

inline frame frame::copy_of(std::span<const std::byte> bytes) {
  writable_frame copy = writable_frame::make(bytes.size());
  if (!bytes.empty()) std::memcpy(copy.data(), bytes.data(), bytes.size());
  return copy;
}

/// The unit that a transport moves: a head, which describes the rest, and payload.
struct packet {
  std::vector<frame> frames;

  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const frame& f : frames) sum += f.size();
    return sum;
  }
};

}  // namespace leat::transport
