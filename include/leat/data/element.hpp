#pragma once
// Elements of a dataset are tuples whose component types are known at compile time: numbers and strings, arrays of a fixed size
// (std::array), and arrays (xt::xtensor). A batch has one array for each component of its elements: T becomes xt::xtensor<T, 1>;
// std::array<T, N> and xt::xtensor<T, 1> become xt::xtensor<T, 2>, and so on; strings become std::vector<std::string>. Elements are
// overwritten, so that their memory is reused.

#include <leat/core/dtype.hpp>
#include <leat/core/error.hpp>
#include <leat/session/typed/array.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace leat::data {

/// How values of a type are combined to a batch.
template <class T>
struct batching {
  static constexpr bool possible = false;
};

template <element_type T>
struct batching<T> {
  static constexpr bool possible = true;
  using type = xt::xtensor<T, 1>;
  static void begin(type& batch, const T&, std::size_t rows) { batch.resize({rows}); }
  static bool fits(const type&, const T&) { return true; }
  static void put(type& batch, std::size_t row, const T& value) { batch.data()[row] = value; }
};
template <element_type T, std::size_t N>
struct batching<std::array<T, N>> {
  static constexpr bool possible = true;
  using type = xt::xtensor<T, 2>;
  static void begin(type& batch, const std::array<T, N>&, std::size_t rows) { batch.resize({rows, N}); }
  static bool fits(const type&, const std::array<T, N>&) { return true; }
  static void put(type& batch, std::size_t row, const std::array<T, N>& value) { std::copy_n(value.data(), N, batch.data() + row * N); }
};
template <element_type T, std::size_t Rank>
struct batching<xt::xtensor<T, Rank>> {
  static constexpr bool possible = true;
  using type = xt::xtensor<T, Rank + 1>;
  static void begin(type& batch, const xt::xtensor<T, Rank>& value, std::size_t rows) {
    typename type::shape_type extent;
    extent[0] = rows;
    std::copy(value.shape().begin(), value.shape().end(), extent.begin() + 1);
    batch.resize(extent);
  }
  static bool fits(const type& batch, const xt::xtensor<T, Rank>& value) {
    return std::equal(value.shape().begin(), value.shape().end(), batch.shape().begin() + 1);
  }
  static void put(type& batch, std::size_t row, const xt::xtensor<T, Rank>& value) {
    std::copy_n(value.data(), value.size(), batch.data() + row * value.size());
  }
};
template <>
struct batching<std::string> {
  static constexpr bool possible = true;
  using type = std::vector<std::string>;
  static void begin(type& batch, const std::string&, std::size_t rows) { batch.resize(rows); }
  static bool fits(const type&, const std::string&) { return true; }
  static void put(type& batch, std::size_t row, const std::string& value) { batch[row] = value; }
};

/// Whether values of a type can be combined to a batch.
template <class T>
concept batchable = batching<T>::possible;
/// The type of a component in a batch.
template <batchable T>
using batched = typename batching<T>::type;

/// The batch of elements of a type: a tuple of arrays; std::monostate if a component cannot be in a batch.
template <class Element>
struct batch_type {
  using type = std::monostate;
};
template <class... Ts>
  requires(batchable<Ts> && ...)
struct batch_type<std::tuple<Ts...>> {
  using type = std::tuple<batched<Ts>...>;
};
template <class Element>
using batch_of = typename batch_type<Element>::type;

// ---- types as strings ----

/// A component's type in messages and in the description of a pipeline: "float32", "int64[64]", "float32[?, ?]", "string".
template <class T>
struct component_text {
  static std::string text() { return "another type"; }
};
template <element_type T>
struct component_text<T> {
  static std::string text() { return std::string(name_of_dtype(dtype_of<T>)); }
};
template <>
struct component_text<std::string> {
  static std::string text() { return "string"; }
};
template <class T, std::size_t N>
struct component_text<std::array<T, N>> {
  static std::string text() { return component_text<T>::text() + "[" + std::to_string(N) + "]"; }
};
template <class T>
struct component_text<std::vector<T>> {
  static std::string text() { return component_text<T>::text() + "[?]"; }
};
template <class T, std::size_t Rank>
struct component_text<xt::xtensor<T, Rank>> {
  static std::string text() {
    std::string sizes;
    for (std::size_t k = 0; k < Rank; ++k) sizes += k == 0 ? "?" : ", ?";
    return component_text<T>::text() + "[" + sizes + "]";
  }
};

/// The type of an element as a string: "(float32[?], int64)".
template <class... Ts>
std::string element_text() {
  std::string all;
  ((all += (all.empty() ? "" : ", ") + component_text<Ts>::text()), ...);
  return "(" + all + ")";
}

}  // namespace leat::data
