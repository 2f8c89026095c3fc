#pragma once
// A growable array for values that are nearly always few: the first ones are stored in the object itself, so that a short list allocates no
// memory.

#include <leat/core/error.hpp>
#include <leat/core/standard.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace leat::detail {

/// A contiguous growable array that owns its elements; up to `Inside` of them are stored without an allocation.
template <class T, std::size_t Inside>
class short_list {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  short_list() = default;
  short_list(std::initializer_list<T> values) { append(values.begin(), values.size()); }
  short_list(const std::vector<T>& values) { append(values.data(), values.size()); }
  short_list(const short_list& other) { append(other.data(), other.size_); }
  short_list(short_list&& other) noexcept { take(other); }
  short_list& operator=(const short_list& other) {
    if (this != &other) {
      size_ = 0;
      append(other.data(), other.size_);
    }
    return *this;
  }
  short_list& operator=(short_list&& other) noexcept {
    if (this != &other) {
      outside_.reset();
      space_ = inside;
      take(other);
    }
    return *this;
  }
  ~short_list() = default;

  T* data() { return outside_ != nullptr ? outside_.get() : std::launder(reinterpret_cast<T*>(inside_)); }
  const T* data() const { return const_cast<short_list*>(this)->data(); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }

  void push_back(const T& value) {
    if (size_ == space_) {
      const T kept = value;  // `value` may be an element of this list
      grow(std::size_t{size_} + 1);
      new (data() + size_) T(kept);
    } else {
      new (data() + size_) T(value);
    }
    ++size_;
  }
  /// Appends an aggregate of these values, which must not be elements of this list.
  template <class... Values>
  void emplace_back(const Values&... values) {
    if (size_ == space_) grow(std::size_t{size_} + 1);
    new (data() + size_) T{values...};
    ++size_;
  }
  /// Appends elements of another array; they must not be elements of this list.
  void append(const T* from, std::size_t count) {
    if (count == 0) return;
    if (size_ + count > space_) grow(size_ + count);
    std::uninitialized_copy_n(from, count, data() + size_);
    size_ += static_cast<std::uint32_t>(count);
  }
  void clear() { size_ = 0; }
  void assign(std::size_t count, const T& value) {
    size_ = 0;
    for (std::size_t i = 0; i < count; ++i) push_back(value);
  }

 private:
  static constexpr std::uint32_t inside = Inside;
  static constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();

  void grow(std::size_t least) {
    if (least > most) LEAT_THROW(std::length_error("more elements than a list can have"));
    const std::size_t space = std::min(std::max<std::size_t>(least, std::size_t{2} * space_), most);
    std::unique_ptr<T[]> wider(new T[space]);
    std::copy(begin(), end(), wider.get());
    outside_ = std::move(wider);
    space_ = static_cast<std::uint32_t>(space);
  }
  void take(short_list& other) noexcept {
    size_ = std::exchange(other.size_, 0U);
    space_ = std::exchange(other.space_, inside);
    outside_ = std::move(other.outside_);
    if (outside_ == nullptr) std::uninitialized_copy_n(std::launder(reinterpret_cast<T*>(other.inside_)), size_, data());
  }

  std::unique_ptr<T[]> outside_;
  std::uint32_t size_ = 0, space_ = inside;
  alignas(T) std::byte inside_[Inside * sizeof(T)];
};

}  // namespace leat::detail
