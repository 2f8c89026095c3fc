#pragma once
// Memory for one piece of work, kept by its thread for the next.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace leat::cpu {

namespace detail {

/// A block of memory that can grow; its contents are lost then.
class scratch_block {
 public:
  scratch_block() = default;
  scratch_block(scratch_block&& other) noexcept : data_(std::move(other.data_)), size_(std::exchange(other.size_, 0)) {}
  scratch_block& operator=(scratch_block&& other) noexcept {
    data_ = std::move(other.data_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  std::size_t size() const { return size_; }
  std::byte* of(std::size_t bytes) {
    if (bytes > size_) [[unlikely]] {
      data_.reset();
      data_.reset(static_cast<std::byte*>(::operator new(bytes, std::align_val_t{64})));
      size_ = bytes;
    }
    return data_.get();
  }

 private:
  struct release {
    void operator()(std::byte* p) const { ::operator delete(p, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte, release> data_;
  std::size_t size_ = 0;
};
/// The blocks that the calling thread keeps and no piece of work uses.
inline std::vector<scratch_block>& free_blocks() {
  thread_local std::vector<scratch_block> mine;
  return mine;
}

}  // namespace detail

/// Memory for this many elements while in scope, aligned to 64 bytes and not initialized. The thread keeps blocks of up to 16 MB. A thread
/// may hold several: while it waits for other threads, it may run another piece of work. It must be destroyed by the thread that made it.
/// Thread-safe.
template <class T>
class scratch {
 public:
  explicit scratch(std::int64_t elements) {
    auto& free = detail::free_blocks();
    if (!free.empty()) {
      block_ = std::move(free.back());
      free.pop_back();
    }
    data_ = reinterpret_cast<T*>(block_.of(static_cast<std::size_t>(elements) * sizeof(T)));
  }
  ~scratch() {
    constexpr std::size_t most_kept = std::size_t{1} << 24;
    if (block_.size() <= most_kept) detail::free_blocks().push_back(std::move(block_));
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;

  T* get() const { return data_; }

 private:
  detail::scratch_block block_;
  T* data_ = nullptr;
};

}  // namespace leat::cpu
