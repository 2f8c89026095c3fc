#pragma once
// Arrays for the comparisons: the same numbers on every machine and in every run, in storage that starts on a cache
// line, each array at another place in its page. Without the latter a loop over five arrays once ran three times slower
// throughout one process and not in the next; streams that share a place in their pages are the suspected cause.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

namespace bench {

/// A fixed-size array of floats, followed by zeros up to a whole number of cache lines.
class buffer {
 public:
  explicit buffer(std::size_t size) : size_(size) {
    static std::size_t made = 0;
    constexpr std::size_t line = 64, page = 4096, floats = line / sizeof(float);
    const std::size_t place = 13 * made++ % (page / line) * line;
    memory_.reset(std::aligned_alloc(page, (place + size * sizeof(float) + line + page - 1) / page * page));
    if (!memory_) throw std::bad_alloc();
    data_ = reinterpret_cast<float*>(static_cast<std::byte*>(memory_.get()) + place);
    std::fill(data_, data_ + (size + floats - 1) / floats * floats, 0.0f);
  }
  buffer(const buffer& other) : buffer(other.size_) { *this = other; }
  buffer(buffer&&) = default;
  buffer& operator=(const buffer& other) {
    std::copy(other.begin(), other.end(), begin());
    return *this;
  }

  float* data() { return data_; }
  const float* data() const { return data_; }
  std::size_t size() const { return size_; }
  float* begin() { return data_; }
  float* end() { return data_ + size_; }
  const float* begin() const { return data_; }
  const float* end() const { return data_ + size_; }
  float& operator[](std::size_t i) { return data_[i]; }
  float operator[](std::size_t i) const { return data_[i]; }

 private:
  struct release {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::size_t size_;
  std::unique_ptr<void, release> memory_;
  float* data_;
};

/// Uniform numbers in [low, high), by a multiplicative congruential generator (L'Ecuyer 1999, multiplier for 2^64).
template <class Range>
void fill_uniform(Range& values, float low, float high, std::uint64_t seed) {
  std::uint64_t state = seed * 2 + 1;
  for (auto& value : values) {
    state *= 3935559000370003845ull;
    value = low + (high - low) * (static_cast<float>(state >> 40) * 0x1p-24f);
  }
}

inline buffer uniform(std::size_t size, float low, float high, std::uint64_t seed) {
  buffer values(size);
  fill_uniform(values, low, high, seed);
  return values;
}

/// The concatenation of several arrays: what models give as their result.
template <class... Arrays>
std::vector<float> joined(const Arrays&... arrays) {
  std::vector<float> all;
  (all.insert(all.end(), arrays.begin(), arrays.end()), ...);
  return all;
}

}  // namespace bench
