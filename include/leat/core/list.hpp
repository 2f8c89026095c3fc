#pragma once
// Growable arrays for the rows of graphs and programs, and views of arrays, during constant evaluation and at run time. Each further
// element type, of which a program has dozens, costs g++ 12 a tenth of the compile time of std::vector and std::span: `scripts/bench
// compile _40` compares forty.

#include <leat/core/standard.hpp>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace leat {
class graph;
}

namespace leat::detail {

/// A contiguous growable array that owns its elements. `T` must be default-constructible, and its move must not throw. Neither iterators
/// nor indices are checked.
template <class T>
class list {
 public:
  // The other constructors begin with this one, so that elements are freed if copying one throws.
  constexpr list() = default;
  constexpr list(std::initializer_list<T> values) : list(values.begin(), values.size()) {}
  constexpr explicit list(std::size_t count) : list() { resize(count); }
  constexpr list(std::size_t count, const T& value) : list() { resize(count, value); }
  constexpr list(const T* from, std::size_t count) : list() {
    reserve(count);
    for (; size_ < count; ++size_) data_[size_] = from[size_];
  }
  template <class Allocator>
  constexpr list(const std::vector<T, Allocator>& rows) : list(rows.data(), rows.size()) {}
  constexpr list(const list& other) : list(other.data_, other.size_) {}
  constexpr list(list&& other) noexcept { swap(other); }
  constexpr list& operator=(const list& other) {
    list(other).swap(*this);
    return *this;
  }
  constexpr list& operator=(list&& other) noexcept {
    list(std::move(other)).swap(*this);
    return *this;
  }
  constexpr ~list() { release(data_, space_); }

  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  /// Whether appending an element reallocates the list.
  constexpr bool is_full() const { return size_ == space_; }
  constexpr T* data() { return data_; }
  constexpr const T* data() const { return data_; }
  constexpr T* begin() { return data_; }
  constexpr const T* begin() const { return data_; }
  constexpr T* end() { return data_ + size_; }
  constexpr const T* end() const { return data_ + size_; }
  constexpr T& operator[](std::size_t i) { return data_[i]; }
  constexpr const T& operator[](std::size_t i) const { return data_[i]; }
  constexpr T& operator[](int i) { return data_[i]; }
  constexpr const T& operator[](int i) const { return data_[i]; }
  constexpr bool operator==(const list& other) const {
    bool equal = size_ == other.size_;
    for (std::size_t i = 0; equal && i < size_; ++i) equal = data_[i] == other.data_[i];
    return equal;
  }
  constexpr T& front() { return data_[0]; }
  constexpr const T& front() const { return data_[0]; }
  constexpr T& back() { return data_[size_ - 1]; }
  constexpr const T& back() const { return data_[size_ - 1]; }

  constexpr void push_back(T value) {
    if (size_ == space_) reserve(size_ == 0 ? 4 : 2 * size_);
    data_[size_++] = static_cast<T&&>(value);
  }
  /// Appends a default value, to be filled in place.
  constexpr T& emplace_back() {
    if (size_ == space_) reserve(size_ == 0 ? 4 : 2 * size_);
    data_[size_] = T{};
    return data_[size_++];
  }
  /// Appends elements of another array.
  constexpr void append(const T* from, std::size_t count) {
    make_space(size_ + count);
    for (std::size_t i = 0; i < count; ++i) data_[size_ + i] = from[i];
    size_ += count;
  }
  constexpr T* insert(const T* before, T value) {
    const auto at = static_cast<std::size_t>(before - data_);
    push_back(std::move(value));
    for (std::size_t i = size_ - 1; i > at; --i) std::swap(data_[i], data_[i - 1]);
    return data_ + at;
  }
  constexpr T* erase(const T* first, const T* last) {
    T* to = data_ + (first - data_);
    for (T* from = data_ + (last - data_); from != end(); ++from, ++to) *to = std::move(*from);
    size_ -= static_cast<std::size_t>(last - first);
    return data_ + (first - data_);
  }
  constexpr T* erase(const T* at) { return erase(at, at + 1); }
  constexpr void pop_back() { --size_; }
  constexpr void clear() { size_ = 0; }  // keeps capacity, and the memory of the elements
  constexpr void assign(std::size_t count, T value) {
    clear();
    resize(count, std::move(value));
  }
  constexpr void resize(std::size_t count) {
    make_space(count);
    for (std::size_t i = size_; i < count; ++i) data_[i] = T{};
    size_ = count;
  }
  constexpr void resize(std::size_t count, T value) {
    make_space(count);
    for (std::size_t i = size_; i < count; ++i) data_[i] = value;
    size_ = count;
  }
  constexpr void reserve(std::size_t count) {
    if (count <= space_) return;
    T* const wider = allocate(count);
    for (std::size_t i = 0; i < size_; ++i) wider[i] = static_cast<T&&>(data_[i]);
    release(data_, space_);
    data_ = wider;
    space_ = count;
  }

 private:
  // Elements that are large structs get uninitialized memory where the compiler lets an assignment begin an element's lifetime:
  // constructing default values would cost as much constant evaluation as everything else that is done with them.
#if defined(__clang__) || defined(__CUDACC__)
  static constexpr bool is_raw = false;
#else
  static constexpr bool is_raw = std::is_trivially_copyable_v<T> && std::is_class_v<T> && sizeof(T) > 32;
#endif
  static constexpr T* allocate(std::size_t count) {
    if constexpr (is_raw) return std::allocator<T>{}.allocate(count);
    else return new T[count];
  }
  static constexpr void release(T* data, std::size_t space) {
    if constexpr (!is_raw) delete[] data;
    else if (data != nullptr) std::allocator<T>{}.deallocate(data, space);
  }
  // Grows to at least twice the capacity, so that appending elements one by one takes linear time.
  constexpr void make_space(std::size_t count) {
    if (count > space_) reserve(count < 2 * space_ ? 2 * space_ : count);
  }
  constexpr void swap(list& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(space_, other.space_);
  }

  friend class leat::graph;  // reads rows without a call, hundreds of times for each node in constant evaluation

  T* data_ = nullptr;
  std::size_t size_ = 0, space_ = 0;
};

/// A view of contiguous elements that it does not own.
template <class T>
class list_view {
 public:
  constexpr list_view() = default;
  constexpr list_view(const T* data, std::size_t size) : data_(data), size_(size) {}
  template <std::size_t N>
  constexpr list_view(const T (&rows)[N]) : data_(rows), size_(N) {}
  constexpr list_view(const list<T>& rows) : data_(rows.data()), size_(rows.size()) {}
  constexpr list_view(std::span<const T> rows) : data_(rows.data()), size_(rows.size()) {}
  template <class Allocator>
  constexpr list_view(const std::vector<T, Allocator>& rows) : data_(rows.data()), size_(rows.size()) {}

  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T* data() const { return data_; }
  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }
  constexpr const T& operator[](std::size_t i) const { return data_[i]; }
  constexpr const T& operator[](int i) const { return data_[i]; }

 private:
  const T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace leat::detail
