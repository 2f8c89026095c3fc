#pragma once
// A tensor at run time: dtype, shape and elements in row-major order. Nodes pass it to each other; sessions take it as a feed and return
// it. Copies share the elements; a writer must be their only holder (`is_alone`). Strings are elements like numbers. A handle of a queue or
// stack is a scalar of dtype resource.

#include <leat/core/function_bodies.hpp>
#include <leat/core/memory.hpp>
#include <leat/named/graph/literal.hpp>
#include <leat/proto/data_type.hpp>

#include <atomic>
#include <concepts>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace leat {

/// State that a session keeps between runs and that nodes refer to by a handle: a queue, a stack, a variable.
class resource {
 public:
  virtual ~resource() = default;
};
/// A resource that never refers to one that may refer to it, so that stacks may hold its handle: a resource that holds itself through
/// others would never be released.
class closed_resource : public resource {};

/// The dtypes of strings and of handles: values of `data_type` beyond the numeric ones.
inline constexpr dtype text_dtype = static_cast<dtype>(data_type::string);
inline constexpr dtype resource_dtype = static_cast<dtype>(data_type::resource);

/// The name of any dtype that a graph may have: "float32", "string".
std::string dtype_name(dtype d);

/// A shape as TensorFlow's kernels print it: "[2,3]".
std::string brackets(const shape& s);

namespace detail {

// Elements and their reference count. Numeric elements follow the header in one allocation, unless they are borrowed.
class tensor_buffer {
 public:
  /// `beside`: bytes of the elements in other allocations (strings). Errors: resource_exhausted if memory runs out or the current meter's
  /// limit is reached.
  static tensor_buffer* make(std::size_t bytes, std::size_t beside = 0);
  void hold() { holders_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    // A holder that finds itself alone stays alone, so it needs no atomic read-modify-write.
    if (is_alone() || holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) end();
  }
  bool is_alone() const { return holders_.load(std::memory_order_acquire) == 1; }
  /// Counts bytes of strings toward the limit of the meter that counts the elements.
  void count_texts(std::size_t bytes);

  std::byte* data = nullptr;
  bool borrowed = false;
  bool placed = false;
  std::vector<std::string> texts;
  std::shared_ptr<resource> handle;

 private:
  // A metered buffer is preceded by the record of the bytes that it has taken from its meter.
  struct alignas(64) meter_note {
    metered_bytes taken, texts;
  };
  meter_note& note();  // of a metered buffer
  static tensor_buffer* make_metered(std::size_t bytes, std::size_t beside);
  // A large buffer is preceded by the bytes of its whole allocation.
  static constexpr std::size_t large_note = 64;
  static tensor_buffer* make_large(std::size_t bytes);
  void end();  // frees the buffer; it has no holders
  void end_metered();
  void end_large();

  static constexpr std::size_t small_bytes = 64;
  std::atomic<int> holders_{1};
  bool is_small_ = false;
  bool is_metered_ = false;
  bool is_large_ = false;
};

template <class A>
concept array_like = requires(const A& a) {
  typename A::value_type;
  { a.dimension() } -> std::convertible_to<std::size_t>;
  a.shape();
  a.begin();
} && value_element<typename A::value_type>;

template <class A>
concept makable_array = array_like<A> && requires(std::vector<std::size_t> s) { A::from_shape(s); };

}  // namespace detail

/// A tensor at run time. Copies share the elements; only the sole holder may write to them.
class tensor_value {
 public:
  tensor_value() = default;
  /// Uninitialized elements; strings are empty. Errors: invalid_argument for a shape that is not fully known; unimplemented for a dtype
  /// that is only carried (`is_carried_only`); resource_exhausted if the elements exceed the memory or the session's limit.
  tensor_value(dtype type, const shape& extent);
  /// Like the constructor from a shape, from sizes such as `{32, 784}`. Errors: unimplemented for more than 8.
  tensor_value(dtype type, std::initializer_list<std::int64_t> sizes) : tensor_value(type, shape_of_sizes(sizes)) {}
  tensor_value(const tensor_value& other) noexcept : type_(other.type_), extent_(other.extent_), buffer_(other.buffer_) {
    if (buffer_ != nullptr) buffer_->hold();
  }
  tensor_value(tensor_value&& other) noexcept
      : type_(other.type_), extent_(other.extent_), buffer_(std::exchange(other.buffer_, nullptr)) {}
  tensor_value& operator=(const tensor_value& other) noexcept {
    if (other.buffer_ != nullptr) other.buffer_->hold();
    take(other, other.buffer_);
    return *this;
  }
  tensor_value& operator=(tensor_value&& other) noexcept {
    take(other, std::exchange(other.buffer_, nullptr));
    return *this;
  }
  ~tensor_value() {
    if (buffer_ != nullptr) buffer_->release();
  }

  /// From a number, a string or a list. Errors: invalid_argument if there are not as many values as the shape has elements.
  template <value_element T>
  tensor_value(T value) : tensor_value(array_dtype_of<T>, shape{}) {
    *elements_as<stored<T>>() = static_cast<stored<T>>(value);
  }
  tensor_value(std::string text);
  tensor_value(const char* text);
  template <value_element T>
  tensor_value(const std::vector<T>& values) : tensor_value(array_dtype_of<T>, vector_shape(values.size())) {
    std::copy(values.begin(), values.end(), elements_as<stored<T>>());
  }
  tensor_value(std::vector<std::string> texts);
  template <value_element T>
  tensor_value(std::initializer_list<T> list) : tensor_value(std::vector<T>(list)) {}
  template <value_element T>
  tensor_value(const shape& extent, const std::vector<T>& values) : tensor_value(array_dtype_of<T>, extent) {
    if (extent.elements() != static_cast<std::int64_t>(values.size()))
      throw invalid_argument(std::to_string(values.size()) + " values for shape " + brackets(extent));
    std::copy(values.begin(), values.end(), elements_as<stored<T>>());
  }
  template <value_element T>
  tensor_value(std::initializer_list<std::int64_t> sizes, const std::vector<T>& values) : tensor_value(shape_of_sizes(sizes), values) {}
  tensor_value(const tensor_literal& literal);
  /// A copy of an array that has `shape()` and iterators, such as xtensor's. Errors: invalid_argument for more than 8 dimensions.
  template <detail::array_like A>
  explicit(false) tensor_value(const A& array) : tensor_value(array_dtype_of<typename A::value_type>, shape_of_array(array)) {
    std::copy(array.begin(), array.end(), elements_as<stored<typename A::value_type>>());
  }
  /// A handle that refers to a resource.
  static tensor_value handle(std::shared_ptr<resource> held);
  /// The elements of a constant as stored in a graph file.
  /// Errors: invalid_argument if they are malformed; unimplemented for dtypes that are only carried.
  static tensor_value from_proto(const tensor_proto& p);
  /// Uninitialized elements in the memory of a message, which is sent without being copied; `owner` keeps the memory alive. The only holder
  /// may write to them, as to any other value; other processes may see them, so `kept` makes a copy.
  static tensor_value place(dtype type, const shape& extent, void* memory, std::shared_ptr<resource> owner);
  /// Borrowed elements: the caller, or `owner`, keeps them alive as long as this value and its copies exist.
  static tensor_value borrow(dtype type, const shape& extent, void* elements, std::shared_ptr<resource> owner = nullptr);
  /// Replaces this value by one that borrows `elements`, without an owner. Allocates nothing if this value already borrows and has no other
  /// holder.
  void borrow_again(dtype type, const shape& extent, void* elements) {
    if (!lends_alone()) *this = borrow(dtype::invalid, shape{}, nullptr);
    type_ = type;
    extent_ = extent;
    buffer_->data = static_cast<std::byte*>(elements);
  }
  /// Replaces this value by a number. Allocates nothing if it already is a number of that dtype and has no other holder.
  template <value_element T>
  void set_number(T value) {
    if (type_ == array_dtype_of<T> && extent_.rank == 0 && is_alone()) *elements_as<stored<T>>() = static_cast<stored<T>>(value);
    else *this = tensor_value(value);
  }
  /// Releases a value that a run was fed, but keeps memory that `borrow_again` or `set_number` can reuse.
  void end_feed() {
    if (lends_alone()) buffer_->data = nullptr;
    else if (extent_.rank != 0 || !is_alone() || size_of(type_) == 0) *this = {};
  }

  /// Whether it holds a value. An operation without results yields an empty one.
  explicit operator bool() const { return buffer_ != nullptr; }
  dtype type() const { return type_; }
  const shape& extent() const { return extent_; }
  std::int64_t elements() const { return buffer_ == nullptr ? 0 : extent_.elements(); }
  std::size_t bytes() const { return static_cast<std::size_t>(elements()) * static_cast<std::size_t>(element_bytes(type_)); }

  /// The elements in row-major order. Errors: invalid_argument for another dtype.
  template <value_element T>
  std::span<const T> values() const {
    check_type(array_dtype_of<T>);
    return {reinterpret_cast<const T*>(buffer_->data), static_cast<std::size_t>(elements())};
  }
  /// The strings in row-major order. Errors: invalid_argument for another dtype.
  const std::vector<std::string>& texts() const {
    check_type(text_dtype);
    return buffer_->texts;
  }
  /// The resource that a handle refers to. Errors: invalid_argument for another dtype.
  const std::shared_ptr<resource>& held() const {
    check_type(resource_dtype);
    return buffer_->handle;
  }
  const std::byte* data() const { return buffer_->data; }

  /// For writing; allowed only while the elements have no other holder.
  std::byte* data() { return buffer_->data; }
  template <value_element T>
  std::span<T> values() {
    check_type(array_dtype_of<T>);
    return {reinterpret_cast<T*>(buffer_->data), static_cast<std::size_t>(elements())};
  }
  std::vector<std::string>& texts() {
    check_type(text_dtype);
    return buffer_->texts;
  }
  /// Whether it owns its elements and is their only holder, so that it may write to them.
  bool is_alone() const { return buffer_ != nullptr && !buffer_->borrowed && buffer_->is_alone(); }
  /// Counts the memory of its strings, so many bytes, toward the session's limit until the elements are freed. Errors: resource_exhausted.
  void count_texts(std::size_t bytes) {
    if (buffer_ != nullptr) buffer_->count_texts(bytes);
  }
  bool is_borrowed() const { return buffer_ != nullptr && buffer_->borrowed; }
  bool is_placed() const { return buffer_ != nullptr && buffer_->placed; }

  /// A copy that owns its elements.
  tensor_value copy() const;
  /// This value, or a copy if the elements are borrowed or placed; safe to keep after a run.
  tensor_value kept() const { return is_borrowed() || is_placed() ? copy() : *this; }
  /// The numbers of a narrow dtype (half, bfloat16, int8, int16, uint16, uint32, uint64) as float32, int32 or int64 (`wide_dtype`), which
  /// can be read; other values unchanged. A uint64 beyond int64 becomes negative.
  tensor_value widened() const;
  /// The numbers in a narrow dtype: real ones rounded to the nearest, halfway cases to even; integers modulo a power of two, as
  /// TensorFlow's kernels wrap them. Errors: invalid_argument for a type that is not narrow, and for real numbers as integers or the
  /// reverse.
  tensor_value narrowed(data_type type) const;
  /// The same elements, by their bits, as numbers of another dtype of as many bytes. The elements are shared.
  tensor_value reinterpreted(dtype type) const {
    tensor_value made(*this);
    made.type_ = type;
    return made;
  }
  /// The same elements with another shape, which must have as many elements.
  tensor_value reshaped(const shape& extent) const {
    tensor_value made(*this);
    made.extent_ = extent;
    return made;
  }

  /// Converts the value to an array (`xt::xarray<float>`), to a vector of all elements or, if there is one element, to a number or string.
  /// Errors: invalid_argument for an empty value, another dtype, several elements as a number, or a rank that the array does not have.
  template <class A>
  A as() const {
    if (buffer_ == nullptr) throw invalid_argument("an operation gives no value");
    if constexpr (std::is_same_v<A, tensor_value>) {
      return *this;
    } else if constexpr (value_element<A>) {
      check_single();
      return static_cast<A>(values<A>()[0]);
    } else if constexpr (std::is_same_v<A, std::string>) {
      check_single();
      return texts()[0];
    } else if constexpr (std::is_same_v<A, std::vector<std::string>>) {
      return texts();
    } else if constexpr (detail::makable_array<A>) {
      std::vector<std::size_t> sizes;
      for (int i = 0; i < extent_.rank; ++i) sizes.push_back(static_cast<std::size_t>(extent_[i]));
      typename A::shape_type its{};
      if constexpr (requires { its.resize(sizes.size()); }) {
        its.resize(sizes.size());
      } else if (its.size() != sizes.size()) {
        throw invalid_argument("a value of shape " + brackets(extent_) + " as an array of rank " + std::to_string(its.size()));
      }
      std::copy(sizes.begin(), sizes.end(), its.begin());
      A made = A::from_shape(its);
      const auto all = values<typename A::value_type>();
      std::copy(all.begin(), all.end(), made.begin());
      return made;
    } else {
      static_assert(requires(A a) { typename A::value_type; a.reserve(1); }, "a value as a number, a text, a vector or an array");
      const auto all = values<typename A::value_type>();
      return A(all.begin(), all.end());
    }
  }
  template <class A>
    requires(value_element<A> || std::is_same_v<A, std::string> || std::is_same_v<A, std::vector<typename A::value_type>> ||
             detail::makable_array<A>)
  operator A() const {
    return as<A>();
  }

  /// The value as stored in files.
  tensor_proto proto() const;

 private:
  template <class T>
  using stored = std::conditional_t<array_dtype_of<T> == dtype::int64, std::int64_t, T>;
  template <class T>
  T* elements_as() {
    return reinterpret_cast<T*>(buffer_->data);
  }
  bool lends_alone() const { return is_borrowed() && buffer_->handle == nullptr && buffer_->is_alone(); }
  void take(const tensor_value& from, detail::tensor_buffer* buffer) {
    type_ = from.type_;
    extent_ = from.extent_;
    if (detail::tensor_buffer* const before = std::exchange(buffer_, buffer)) before->release();
  }
  void make_texts(std::size_t count);
  static shape vector_shape(std::size_t n) {
    shape s;
    s.push(static_cast<std::int64_t>(n));
    return s;
  }
  static shape shape_of_sizes(std::initializer_list<std::int64_t> sizes) {
    shape s;
    for (const std::int64_t size : sizes) s.push(size);
    return s;
  }
  template <class A>
  static shape shape_of_array(const A& array) {
    if (array.dimension() > static_cast<std::size_t>(max_rank)) throw invalid_argument("an array of more than 8 dimensions");
    shape s;
    for (std::size_t i = 0; i < array.dimension(); ++i) s.push(static_cast<std::int64_t>(array.shape()[i]));
    return s;
  }
  void check_type(dtype wanted) const {
    if (buffer_ == nullptr || type_ != wanted) refuse_type(wanted);
  }
  void check_single() const {
    if (elements() != 1) refuse_count();
  }
  [[noreturn]] void refuse_type(dtype wanted) const;
  [[noreturn]] void refuse_count() const;

  dtype type_ = dtype::invalid;
  shape extent_;
  detail::tensor_buffer* buffer_ = nullptr;
};

/// Calls `f` with an object of a dtype's C++ type. Errors: unimplemented for dtypes that are only carried.
template <class F>
decltype(auto) with_dtype(dtype d, F&& f) {
  switch (d) {
    case dtype::float32: return f(float{});
    case dtype::float64: return f(double{});
    case dtype::int32: return f(std::int32_t{});
    case dtype::int64: return f(std::int64_t{});
    case dtype::uint8: return f(std::uint8_t{});
    case dtype::boolean: return f(bool{});
    case dtype::invalid: break;
  }
  throw unimplemented("no kernel for dtype " + dtype_name(d));
}
/// Like `with_dtype`, for numeric dtypes. Errors: also unimplemented for bool.
template <class F>
decltype(auto) with_number(dtype d, F&& f) {
  if (d == dtype::boolean) throw unimplemented("no kernel for dtype bool");
  return with_dtype(d, [&]<class T>(T zero) -> decltype(auto) {
    if constexpr (std::is_same_v<T, bool>) return f(float{});
    else return f(zero);
  });
}
/// Like `with_dtype`, for float32 and float64.
template <class F>
decltype(auto) with_fraction(dtype d, F&& f) {
  if (d == dtype::float32) return f(float{});
  if (d == dtype::float64) return f(double{});
  throw unimplemented("no kernel for dtype " + dtype_name(d));
}
/// Calls `f` with a number of a complex dtype's parts: float for complex64, double for complex128.
template <class F>
decltype(auto) with_part(dtype d, F&& f) {
  if (d == complex64_dtype) return f(float{});
  if (d == complex128_dtype) return f(double{});
  throw unimplemented("no kernel for dtype " + dtype_name(d));
}
/// Like `with_dtype`, for int32 and int64, the dtypes of indices.
template <class F>
decltype(auto) with_index(dtype d, F&& f) {
  if (d == dtype::int32) return f(std::int32_t{});
  if (d == dtype::int64) return f(std::int64_t{});
  throw unimplemented("indices are int32 or int64, not " + dtype_name(d));
}

/// The elements of a small integer tensor: sizes, axes.
std::vector<std::int64_t> integers(const tensor_value& v);
/// The only element of an integer tensor. Errors: invalid_argument if there are several.
std::int64_t integer(const tensor_value& v);
/// A vector of integers of a dtype, or a scalar with `scalar`. Errors: invalid_argument if a value does not fit the dtype.
tensor_value integer_tensor(dtype type, const std::vector<std::int64_t>& numbers, bool scalar = false);
/// A shape from its sizes. Errors: invalid_argument for a negative size or more than 8 of them.
shape shape_from(const std::vector<std::int64_t>& sizes);

/// At most `most` elements, as TensorFlow's Print and Assert write them: "[1 -2]", "[[1 2][3 4]]", "7".
std::string summary_text(const tensor_value& v, std::int64_t most = 3);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/runtime/state/impl/tensor_value.hpp>
#endif
