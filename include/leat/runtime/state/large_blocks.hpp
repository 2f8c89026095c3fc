#pragma once
// Large blocks of memory that tensors have freed, kept for the next tensors of about the same size. The C library returns blocks of more
// than 32 MiB to the system as soon as they are freed, and the system must clear each page of a new one when it is first written: for a
// result of 100 MB that takes three times as long as computing it.

#include <leat/core/memory.hpp>
#include <leat/core/sanitizer.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <mutex>
#include <new>

namespace leat::detail {

/// The blocks of a program. Thread-safe.
class large_blocks {
 public:
  struct block {
    void* memory = nullptr;
    std::size_t bytes = 0;
  };
  /// Blocks of this many bytes are kept; it is the C library's own limit.
  static constexpr std::size_t least = std::size_t{32} << 20;

  static large_blocks& all() {
    static auto& blocks = *new large_blocks;  // tensors of global objects are freed late
    return blocks;
  }
  /// `limit`: the bytes that are kept at most. Without one, a thirty-second of the machine's memory.
  explicit large_blocks(std::size_t limit = limit_of_machine()) : limit_(limit) {}
  large_blocks(const large_blocks&) = delete;
  large_blocks& operator=(const large_blocks&) = delete;
  ~large_blocks() { free_all(); }

  /// A block of at least `bytes`, which was kept or is new. Errors: resource_exhausted if the system has no memory even after all kept
  /// blocks are freed.
  block make(std::size_t bytes) {
    if (const block kept = take(bytes); kept.memory != nullptr) return kept;
    if (void* const made = ::operator new(bytes, std::align_val_t{64}, std::nothrow)) return {made, bytes};
    free_all();
    return {allocate_aligned(bytes), bytes};
  }
  /// The smallest kept block of at least `bytes` and at most a quarter more; without memory if there is none.
  block take(std::size_t bytes) {
    const std::lock_guard lock(guard_);
    std::size_t best = count_;
    for (std::size_t k = 0; k < count_; ++k) {
      const std::size_t its = kept_[k].bytes;
      if (its >= bytes && its - bytes <= bytes / 4 && (best == count_ || its < kept_[best].bytes)) best = k;
    }
    return best == count_ ? block{} : remove(best);
  }
  /// Keeps a block that `operator new` made with an alignment of 64 bytes, or frees it. Frees the blocks kept longest if there are too
  /// many.
  void give(block its) {
    block freed[most];
    std::size_t count = 0;
    if (its.bytes > limit_) {
      freed[count++] = its;
    } else {
      const std::lock_guard lock(guard_);
      while (count_ == most || total_ + its.bytes > limit_) freed[count++] = remove(0);
      kept_[count_++] = its;
      total_ += its.bytes;
    }
    for (std::size_t k = 0; k < count; ++k) free(freed[k]);
  }
  void free_all() {
    const std::lock_guard lock(guard_);
    while (count_ > 0) free(remove(count_ - 1));
  }
  /// The bytes that are kept now.
  std::size_t bytes() const {
    const std::lock_guard lock(guard_);
    return total_;
  }

 private:
  static constexpr std::size_t most = 16;

  static std::size_t limit_of_machine() {
#if defined(LEAT_ADDRESS_SANITIZER)
    return 0;  // so that the address sanitizer detects use after release
#else
    const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page) / 32 : 0;
#endif
  }
  static void free(block its) { ::operator delete(its.memory, std::align_val_t{64}); }
  block remove(std::size_t k) {
    const block its = kept_[k];
    std::copy(kept_.begin() + static_cast<std::ptrdiff_t>(k) + 1, kept_.begin() + static_cast<std::ptrdiff_t>(count_),
              kept_.begin() + static_cast<std::ptrdiff_t>(k));
    --count_;
    total_ -= its.bytes;
    return its;
  }

  mutable std::mutex guard_;
  std::array<block, most> kept_{};  // the one kept longest comes first
  std::size_t count_ = 0;
  std::size_t total_ = 0;
  const std::size_t limit_;
};

}  // namespace leat::detail
