#pragma once
// A hash table from 64-bit keys to node numbers that works in constant evaluation: open addressing, doubled when half full. Vectors are
// constructed as (n, value), since clang cannot evaluate libstdc++ 12's value-initializing constructor.

#include <leat/core/list.hpp>
#include <cstdint>

namespace leat {

class id_table {
 public:
  /// The value of `key`, or -1.
  constexpr int find(std::uint64_t key) const {
    if (size_ == 0) return -1;
    for (auto slot = static_cast<std::size_t>(key) & mask_;; slot = (slot + 1) & mask_) {
      if (value_[slot] < 0) return -1;
      if (key_[slot] == key) return value_[slot];
    }
  }
  constexpr void insert(std::uint64_t key, int value) {
    if (2 * (size_ + 1) > value_.size()) grow();
    place(key, value);
    ++size_;
  }

 private:
  constexpr void place(std::uint64_t key, int value) {
    auto slot = static_cast<std::size_t>(key) & mask_;
    while (value_[slot] >= 0) slot = (slot + 1) & mask_;
    key_[slot] = key;
    value_[slot] = value;
  }
  constexpr void grow() {
    const auto keys = key_;
    const auto values = value_;
    const std::size_t n = values.empty() ? 64 : 4 * values.size();
    key_ = detail::list<std::uint64_t>(n, 0);
    value_ = detail::list<int>(n, -1);
    mask_ = n - 1;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i] >= 0) place(keys[i], values[i]);
  }
  detail::list<std::uint64_t> key_;
  detail::list<int> value_;
  std::size_t mask_ = 0;
  std::size_t size_ = 0;
};

}  // namespace leat
