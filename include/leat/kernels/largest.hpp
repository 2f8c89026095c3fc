#pragma once
// Finds the largest elements of a row, in order, on the host: few of them by a heap that most elements never enter, many by sorting all by
// digits of their bits.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

namespace leat::kernels {

/// Order for finding the largest elements. NaN is above all numbers, as in XLA's total order: with an order in which NaN equals everything,
/// the comparison would not be a strict weak ordering.
template <class T>
constexpr bool is_above(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a || b != b) return a != a && b == b;
  }
  return b < a;
}
/// Whether an element of a row comes before another one: the larger first, of equal ones the first.
template <class T, class Index>
constexpr bool comes_before(const T* row, Index a, Index b) {
  if (is_above(row[a], row[b])) return true;
  return !is_above(row[b], row[a]) && a < b;
}
/// The positions of the `count` largest elements of rows of `width` elements, in order. An object keeps memory for one row after another.
template <class T, class Index>
class largest_of_row {
 public:
  largest_of_row(std::int64_t width, std::int64_t count) : width_(width), count_(count) {}

  void find(const T* row, Index* to) {
    if (count_ == 0) return;
    if (count_ <= width_ / 8 || width_ < least_to_sort_by_digits) find_by_heap(row, to);
    else find_by_digits(row, to);
  }

 private:
  using bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint8_t>>;
  struct place {
    bits key;
    Index at;
  };
  static constexpr std::int64_t least_to_sort_by_digits = 256;
  static constexpr int digit = 11, digits = (8 * static_cast<int>(sizeof(bits)) + digit - 1) / digit;

  // A number that is smaller, the earlier an element comes; equal for equal elements.
  static bits key_of(T value) {
    constexpr bits sign = bits(1) << (8 * sizeof(bits) - 1);
    if constexpr (std::is_floating_point_v<T>) {
      if (value != value) return 0;
      const bits its = std::bit_cast<bits>(value == T(0) ? T(0) : value);
      return (its & sign) != 0 ? its : static_cast<bits>(~its & ~sign);
    } else {
      return static_cast<bits>(~(static_cast<bits>(value) ^ (std::is_signed_v<T> ? sign : bits(0))));
    }
  }

  // The top of the heap is the last of those found; an element behind it in the row must be above it to enter.
  void find_by_heap(const T* row, Index* to) const {
    const auto before = [row](Index a, Index b) { return comes_before(row, a, b); };
    Index* const end = to + count_;
    std::iota(to, end, Index(0));
    std::make_heap(to, end, before);
    T limit = row[to[0]];
    for (std::int64_t i = count_; i < width_; ++i) {
      if (!is_above(row[i], limit)) continue;
      std::pop_heap(to, end, before);
      end[-1] = static_cast<Index>(i);
      std::push_heap(to, end, before);
      limit = row[to[0]];
    }
    std::sort_heap(to, end, before);
  }
  void find_by_digits(const T* row, Index* to) {
    const auto n = static_cast<std::size_t>(width_);
    from_.resize(n);
    sorted_.resize(n);
    counts_.assign(static_cast<std::size_t>(digits) << digit, 0);
    for (std::size_t i = 0; i < n; ++i) {
      from_[i] = {key_of(row[i]), static_cast<Index>(i)};
      for (int d = 0; d < digits; ++d) ++count_at(d, from_[i].key);
    }
    for (int d = 0; d < digits; ++d) {
      if (count_at(d, from_[0].key) == n) continue;  // all have the same digit
      std::size_t before = 0;
      for (std::size_t k = 0; k < std::size_t{1} << digit; ++k)
        before += std::exchange(counts_[(static_cast<std::size_t>(d) << digit) + k], before);
      for (const place& p : from_) sorted_[count_at(d, p.key)++] = p;
      from_.swap(sorted_);
    }
    for (std::int64_t k = 0; k < count_; ++k) to[k] = from_[static_cast<std::size_t>(k)].at;
  }
  std::size_t& count_at(int d, bits key) {
    const auto value = static_cast<std::size_t>(static_cast<std::uint64_t>(key) >> (d * digit)) & ((std::size_t{1} << digit) - 1);
    return counts_[(static_cast<std::size_t>(d) << digit) + value];
  }

  std::int64_t width_, count_;
  std::vector<place> from_, sorted_;
  std::vector<std::size_t> counts_;
};

}  // namespace leat::kernels
