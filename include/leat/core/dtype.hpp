#pragma once
// Element types, with the numbers of TensorFlow's DataType enumeration (types.proto), so that JSON graphs need no second table.

#include <leat/core/standard.hpp>
#include <cstdint>
#include <string_view>

namespace leat {

/// The element type of a tensor.
enum class dtype : int { invalid = 0, float32 = 1, float64 = 2, int32 = 3, uint8 = 4, int64 = 9, boolean = 10 };

namespace detail {
template <class T>
struct dtype_trait {
  static constexpr dtype value = dtype::invalid;
};
template <>
struct dtype_trait<float> {
  static constexpr dtype value = dtype::float32;
};
template <>
struct dtype_trait<double> {
  static constexpr dtype value = dtype::float64;
};
// The signed integers of 4 and 8 bytes have different names on different machines, and two of them the same size.
template <class T>
struct integer_trait {
  static constexpr dtype value = sizeof(T) == 4 ? dtype::int32 : sizeof(T) == 8 ? dtype::int64 : dtype::invalid;
};
template <>
struct dtype_trait<int> : integer_trait<int> {};
template <>
struct dtype_trait<long> : integer_trait<long> {};
template <>
struct dtype_trait<long long> : integer_trait<long long> {};
template <>
struct dtype_trait<std::uint8_t> {
  static constexpr dtype value = dtype::uint8;
};
template <>
struct dtype_trait<bool> {
  static constexpr dtype value = dtype::boolean;
};

template <dtype D>
struct element {
  using type = void;
};
template <>
struct element<dtype::float32> {
  using type = float;
};
template <>
struct element<dtype::float64> {
  using type = double;
};
template <>
struct element<dtype::int32> {
  using type = std::int32_t;
};
template <>
struct element<dtype::uint8> {
  using type = std::uint8_t;
};
template <>
struct element<dtype::int64> {
  using type = std::int64_t;
};
template <>
struct element<dtype::boolean> {
  using type = bool;
};
}  // namespace detail

/// The dtype of a C++ element type; `dtype::invalid` for any other type.
template <class T>
inline constexpr dtype dtype_of = detail::dtype_trait<T>::value;

/// The C++ element type of a dtype.
template <dtype D>
using element_of = typename detail::element<D>::type;

/// `float`, `double`, `std::int32_t`, `std::uint8_t`, `std::int64_t` or `bool`; not `short`, not `float&`.
template <class T>
concept element_type = dtype_of<T> != dtype::invalid;

/// Whether a dtype is float32 or float64.
constexpr bool is_floating(dtype d) { return d == dtype::float32 || d == dtype::float64; }
/// Whether a dtype is a signed or unsigned integer; bool is not.
constexpr bool is_integer(dtype d) { return d == dtype::int32 || d == dtype::int64 || d == dtype::uint8; }
/// Whether a dtype can be computed with: floating point or integer, not bool.
constexpr bool is_number(dtype d) { return is_floating(d) || is_integer(d); }

/// Bytes of one element.
constexpr int size_of(dtype d) {
  switch (d) {
    case dtype::float32:
    case dtype::int32: return 4;
    case dtype::float64:
    case dtype::int64: return 8;
    case dtype::uint8:
    case dtype::boolean: return 1;
    case dtype::invalid: break;
  }
  return 0;
}

/// TensorFlow's name of a dtype: "float32"; "invalid" for none.
constexpr std::string_view name_of_dtype(dtype d) {
  switch (d) {
    case dtype::float32: return "float32";
    case dtype::float64: return "float64";
    case dtype::int32: return "int32";
    case dtype::uint8: return "uint8";
    case dtype::int64: return "int64";
    case dtype::boolean: return "bool";
    case dtype::invalid: break;
  }
  return "invalid";
}

}  // namespace leat
