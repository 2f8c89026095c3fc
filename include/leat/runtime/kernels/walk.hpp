#pragma once
// Moves elements of any dtype along strides, by element size or as strings.

#include <leat/cpu/strided_copy.hpp>
#include <leat/kernels/math/scalar_math.hpp>
#include <leat/runtime/state/tensor_value.hpp>

#include <algorithm>
#include <compare>

namespace leat::runtime {

/// Sum, difference, product and quotient of a dtype. Integers wrap around, as in TensorFlow.
template <class T>
using arithmetic = kernels::scalar_math<T>;

/// An element of 16 bytes: a complex128.
struct two_words {
  std::uint64_t words[2];
  auto operator<=>(const two_words&) const = default;
};
/// Calls `f` with an object of a type that has the elements' size; std::string for strings.
template <class F>
decltype(auto) with_storage(dtype d, F&& f) {
  if (d == text_dtype) return f(std::string{});
  switch (is_complex(d) ? element_bytes(d) : size_of(d)) {
    case 1: return f(std::uint8_t{});
    case 4: return f(std::uint32_t{});
    case 8: return f(std::uint64_t{});
    case 16: return f(two_words{});
    default: throw unimplemented("no kernel for dtype " + dtype_name(d));
  }
}
template <class S>
const S* stored(const tensor_value& v) {
  if constexpr (std::is_same_v<S, std::string>) return v.texts().data();
  else return reinterpret_cast<const S*>(v.data());
}
template <class S>
S* stored(tensor_value& v) {
  if constexpr (std::is_same_v<S, std::string>) return v.texts().data();
  else return reinterpret_cast<S*>(v.data());
}

/// Copies strided elements, outermost dimension first, to contiguous memory.
template <class S>
void gather_walk(S* to, const S* from, const std::int64_t* counts, const std::int64_t* strides, std::size_t rank) {
  if constexpr (std::is_same_v<S, std::string>) {
    if (rank == 0) {
      *to = *from;
      return;
    }
    std::int64_t inner = 1;
    for (std::size_t a = 1; a < rank; ++a) inner *= counts[a];
    for (std::int64_t i = 0; i < counts[0]; ++i) gather_walk(to + i * inner, from + i * strides[0], counts + 1, strides + 1, rank - 1);
  } else {
    cpu::copy_strided(to, from, counts, strides, rank);
  }
}
/// The inverse of `gather_walk`: copies contiguous elements to strided memory. Returns the end of the read elements.
template <class S>
const S* scatter_walk(S* to, const S* from, const std::int64_t* counts, const std::int64_t* strides, std::size_t rank) {
  if (rank == 0) {
    *to = *from;
    return from + 1;
  }
  if (rank == 1) {
    if (strides[0] == 1) std::copy_n(from, counts[0], to);
    else
      for (std::int64_t i = 0; i < counts[0]; ++i) to[i * strides[0]] = from[i];
    return from + counts[0];
  }
  for (std::int64_t i = 0; i < counts[0]; ++i) from = scatter_walk(to + i * strides[0], from, counts + 1, strides + 1, rank - 1);
  return from;
}

inline std::vector<std::int64_t> strides_of(const shape& s) {
  std::vector<std::int64_t> strides(static_cast<std::size_t>(s.rank));
  std::int64_t step = 1;
  for (int i = s.rank - 1; i >= 0; --i) {
    strides[static_cast<std::size_t>(i)] = step;
    if (s[i] > 0 && !multiplies(step, s[i], step)) leat::detail::refuse_size(s.dim, s.rank);
  }
  return strides;
}
inline std::int64_t product(const shape& s, int from, int to) { return s.elements(from, to); }
/// Resolves an axis that may be negative. Errors: invalid_argument if it is out of range.
inline int axis_of(std::int64_t given, int rank, std::string_view what = "axis") {
  const std::int64_t at = given < 0 ? given + rank : given;
  if (at < 0 || at >= rank)
    throw invalid_argument(std::string(what) + " " + std::to_string(given) + " is not in the range [" + std::to_string(-rank) + ", " +
                           std::to_string(rank) + ")");
  return static_cast<int>(at);
}

/// A shape without its first dimension.
inline shape without_first(const shape& s) {
  shape rest;
  for (int i = 1; i < s.rank; ++i) rest.push(s[i]);
  return rest;
}
/// Some consecutive rows of a tensor.
inline tensor_value some_rows(const tensor_value& value, std::int64_t from, std::int64_t count, const shape& extent) {
  tensor_value part(value.type(), extent);
  const std::int64_t row = value.extent().elements(1, value.extent().rank);
  with_storage(value.type(), [&]<class S>(S) { std::copy_n(stored<S>(value) + from * row, count * row, stored<S>(part)); });
  return part;
}
/// Row `row` of an array, without the dimension of rows.
inline tensor_value row_of(const tensor_value& v, std::int64_t row) { return some_rows(v, row, 1, without_first(v.extent())); }

}  // namespace leat::runtime
