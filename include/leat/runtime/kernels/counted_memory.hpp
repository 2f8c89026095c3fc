#pragma once
// Memory outside of arrays that a kernel takes piece by piece, counted toward the session's limit.

#include <leat/core/memory.hpp>

#include <cstddef>

namespace leat::runtime {

/// Bytes that count toward the session's limit from each further megabyte on, until the kernel ends.
class counted_memory {
 public:
  void add(std::size_t bytes) {
    bytes_ += bytes;
    if (bytes_ - counted_ < std::size_t{1} << 20) return;
    counted_ = bytes_;
    taken_.take(counted_);
  }
  void give_back() { taken_.give_back(); }

 private:
  std::size_t bytes_ = 0, counted_ = 0;
  metered_bytes taken_;
};

}  // namespace leat::runtime
