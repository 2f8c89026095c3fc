#pragma once
// A growable sequence whose elements never move: they are stored in blocks of equal size, so that growing copies no element, and an index
// is resolved to its element by a shift.

#include <leat/core/standard.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace leat::detail {

/// A sequence of elements in blocks of `Each`, a power of two.
template <class T, std::size_t Each>
class blocks {
  static_assert((Each & (Each - 1)) == 0);

 public:
  blocks() = default;
  blocks(const blocks&) = delete;
  blocks& operator=(const blocks&) = delete;
  ~blocks() {
    while (size_ > 0) pop_back();
  }

  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return *at(i); }
  const T& operator[](std::size_t i) const { return *at(i); }
  T& emplace_back() {
    if (size_ == rows_.size() * Each) rows_.push_back(std::make_unique<block>());
    T* const made = new (place(size_)) T();
    ++size_;
    return *made;
  }
  void pop_back() {
    at(size_ - 1)->~T();
    --size_;
  }

 private:
  struct block {
    block() {}  // no values yet
    alignas(T) std::byte room[Each * sizeof(T)];
  };
  void* place(std::size_t i) const { return rows_[i / Each]->room + i % Each * sizeof(T); }
  T* at(std::size_t i) const { return std::launder(static_cast<T*>(place(i))); }

  std::vector<std::unique_ptr<block>> rows_;
  std::size_t size_ = 0;
};

}  // namespace leat::detail
