#pragma once
// Shapes. A dimension is a size (0, 1, 2, …), or a name such as "batch" that stands for one size per run. A name is represented by a
// negative number, the hash of its text, by which the text is looked up. A shape as a type is a pack of numbers, `dims<-4611..., 10>`; as a
// value it is a `shape`. Unknown dimensions (-1) exist only in graphs that are built at run time.

#include <cstdint>
#include <leat/core/error.hpp>
#include <leat/core/text.hpp>

namespace leat {

/// The largest rank of a tensor.
inline constexpr int max_rank = 8;
/// A dimension of unknown size, which exists only in graphs that are built at run time.
inline constexpr std::int64_t unknown_dimension = -1;
/// The limit on a tensor's elements: with 8 bytes each they would fill an address space, and below it sums of a few sizes do not overflow.
inline constexpr std::int64_t max_elements = std::int64_t{1} << 44;

/// The number that represents a named dimension.
constexpr std::int64_t named_dimension(std::string_view text) {
  return -2 - static_cast<std::int64_t>(hash_text(text) >> 2);
}
/// Whether a dimension is a name.
constexpr bool is_named(std::int64_t dimension) { return dimension < unknown_dimension; }

/// Whether a product of sizes fits std::int64_t; sets `product` if so. All multiplications of sizes use it.
constexpr bool multiplies(std::int64_t a, std::int64_t b, std::int64_t& product) {
#ifdef __CUDACC__
  if (a > 0 && b > 0 && a > INT64_MAX / b) return false;
  product = a * b;
  return true;
#else
  return !__builtin_mul_overflow(a, b, &product);
#endif
}

namespace detail {
[[noreturn]] inline void refuse_rank() { LEAT_THROW(unimplemented("more than 8 dimensions")); }
[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_size(const std::int64_t* sizes, int rank) {
  message text;
  for (int i = 0; i < rank; ++i) {
    if (i > 0) text << ",";
    if (sizes[i] < 0) text << "?";
    else text << sizes[i];
  }
  LEAT_THROW(resource_exhausted(joined({"a tensor of shape [", text.view(), "] has more than 2^44 elements, which no memory holds"})));
}
}  // namespace detail

/// A shape as a value: `rank` dimensions, the first `rank` of `dim`.
struct shape {
  int rank = 0;
  std::int64_t dim[max_rank]{};

  constexpr shape() = default;
  /// A shape from its rank and sizes, `shape{2, {32, 784}}`. A list of sizes alone does not compile, since it could be mistaken for this
  /// form.
  template <int N>
  constexpr shape(int dimensions, const std::int64_t (&sizes)[N]) : rank(dimensions) {
    static_assert(N <= max_rank, "more than 8 dimensions");
    for (int i = 0; i < N; ++i) dim[i] = sizes[i];
  }

  constexpr std::int64_t operator[](int axis) const { return dim[axis]; }
  /// A shape of unknown rank, which exists only in graphs that are built at run time.
  static constexpr shape unknown() {
    shape s;
    s.rank = -1;
    return s;
  }
  constexpr bool has_rank() const { return rank >= 0; }
  constexpr bool operator==(const shape& other) const {
    if (rank != other.rank) return false;
    for (int i = 0; i < rank; ++i)
      if (dim[i] != other.dim[i]) return false;
    return true;
  }
  /// Appends a dimension. Errors: unimplemented for a ninth dimension.
  constexpr void push(std::int64_t d) {
    if (rank < 0 || rank >= max_rank) detail::refuse_rank();
    dim[rank++] = d;
  }
  /// Whether all dimensions are sizes.
  constexpr bool is_static() const {
    if (rank < 0) return false;
    for (int i = 0; i < rank; ++i)
      if (dim[i] < 0) return false;
    return true;
  }
  /// Number of elements of a static shape. Errors: resource_exhausted above `max_elements`. Dimensions of 0 are left out of this check, so
  /// that no stride along the shape overflows either.
  constexpr std::int64_t elements() const { return elements(0, rank); }
  /// The number of elements along the axes from `from` to before `to`.
  constexpr std::int64_t elements(int from, int to) const {
    std::int64_t n = 1;
    bool none = false;
    bool fits = true;
    for (int i = from; i < to; ++i) {
      if (dim[i] == 0) none = true;
      else fits = multiplies(n, dim[i], n) && fits;
    }
    if (!fits || n > max_elements) detail::refuse_size(dim, rank);
    return none ? 0 : n;
  }
  /// Whether `elements()` does not overflow, counting known sizes only.
  constexpr bool is_countable() const {
    std::int64_t n = 1;
    for (int i = 0; i < rank; ++i)
      if (dim[i] > 0 && (!multiplies(n, dim[i], n) || n > max_elements)) return false;
    return true;
  }
  /// The shape without dimensions of size 1.
  constexpr shape squeezed() const {
    shape s;
    for (int i = 0; i < rank; ++i)
      if (dim[i] != 1) s.dim[s.rank++] = dim[i];
    return s;
  }
};

/// Whether two dimensions may be equal: they are equal, or one of them is unknown.
constexpr bool may_equal(std::int64_t a, std::int64_t b) { return a == b || a == unknown_dimension || b == unknown_dimension; }
/// Whether two shapes may be equal.
constexpr bool may_equal(const shape& a, const shape& b) {
  if (a.rank < 0 || b.rank < 0) return true;
  if (a.rank != b.rank) return false;
  for (int i = 0; i < a.rank; ++i)
    if (!may_equal(a.dim[i], b.dim[i])) return false;
  return true;
}
/// Merges two shapes that are known to be equal: sizes replace unknown dimensions.
constexpr shape known_of(const shape& a, const shape& b) {
  if (a.rank < 0) return b;
  shape all = a;
  for (int i = 0; i < a.rank && i < b.rank; ++i)
    if (a.dim[i] == unknown_dimension) all.dim[i] = b.dim[i];
  return all;
}

/// The result of `broadcast`; `ok` is false if the shapes do not broadcast.
struct broadcast_result {
  shape extent;
  bool ok = true;
};
/// The shape to which two shapes broadcast, by NumPy's and TensorFlow's rule. A named dimension broadcasts with itself and 1, an unknown
/// one with anything.
constexpr broadcast_result broadcast(const shape& a, const shape& b) {
  broadcast_result result;
  shape& out = result.extent;
  out.rank = a.rank > b.rank ? a.rank : b.rank;
  for (int i = 1; i <= out.rank; ++i) {
    const std::int64_t x = i <= a.rank ? a.dim[a.rank - i] : 1;
    const std::int64_t y = i <= b.rank ? b.dim[b.rank - i] : 1;
    if (x != y && x != 1 && y != 1) {
      if (!may_equal(x, y)) result.ok = false;
      out.dim[out.rank - i] = x == unknown_dimension ? y : x;  // the unknown dimension can only be that size, or 1
    } else {
      out.dim[out.rank - i] = x == 1 ? y : x;
    }
  }
  return result;
}

/// A shape as a type.
template <std::int64_t... Ds>
struct dims {
  static constexpr int rank = sizeof...(Ds);
  static constexpr shape value{rank, {Ds...}};
  static constexpr std::uint64_t hash = [] {
    std::uint64_t h = 2;
    ((h = mix(h, static_cast<std::uint64_t>(Ds))), ...);
    return h;
  }();
};
template <>
struct dims<> {
  static constexpr int rank = 0;
  static constexpr shape value{};
  static constexpr std::uint64_t hash = 2;
};

/// A dimension as written by the user: `10` or `"batch"`.
struct dimension {
  static constexpr int capacity = 48;
  std::int64_t value = 0;
  char text[capacity]{};
  int length = 0;

  template <class Integer>
    requires requires(Integer n) { n << 1; }
  constexpr dimension(Integer size) : value(static_cast<std::int64_t>(size)) {}
  template <std::size_t N>
  consteval dimension(const char (&source)[N]) : length(static_cast<int>(N) - 1) {
    static_assert(N <= capacity, "the name of a dimension has at most 47 characters");
    for (std::size_t i = 0; i + 1 < N; ++i) text[i] = source[i];
    value = named_dimension(std::string_view(source, N - 1));
  }
#ifdef __CUDACC__
  // nvcc passes its members to the host compiler in braces.
  constexpr dimension(std::int64_t its_value, const char (&its_text)[capacity], int its_length) : value(its_value), length(its_length) {
    for (int i = 0; i < capacity; ++i) text[i] = its_text[i];
  }
#endif
};

// The text of a named dimension is looked up by its number through a friend function that is defined where the name is first used.
template <std::int64_t Value>
struct dimension_key {
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-template-friend"
#endif
  friend constexpr auto name_of_dimension(dimension_key);
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
};
template <std::int64_t Value, class Name>
struct dimension_record {
  static constexpr std::int64_t value = Value;
  friend constexpr auto name_of_dimension(dimension_key<Value>) { return Name{}; }
};

namespace detail {
template <dimension D, std::size_t... I>
constexpr auto expand_dimension(std::index_sequence<I...>) -> dimension_record<D.value, name<D.text[I]...>> {
  return {};
}
template <dimension D>
constexpr std::int64_t dimension_value() {
  if constexpr (D.length > 0)
    return decltype(expand_dimension<D>(std::make_index_sequence<D.length>{}))::value;
  else
    return D.value;
}
template <std::int64_t D>
constexpr std::string_view text_of_dimension() {
  if constexpr (is_named(D))
    return decltype(name_of_dimension(dimension_key<D>{}))::view();
  else
    return {};
}
}  // namespace detail

/// The shape type that the user wrote: `dims_of<"batch", 10>`.
template <dimension... Ds>
using dims_of = dims<detail::dimension_value<Ds>()...>;

}  // namespace leat
