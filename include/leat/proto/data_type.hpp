#pragma once
// All element types of TensorFlow's files (types.proto: DataType), by number. The library has kernels for six of them (`dtype`, with
// the same numbers). Graphs compute with twelve more, the narrow ones, in the kernels of wider types (`wide_dtype`), and with the two
// complex ones in kernels of their own; the others are carried from file to file. A reference type, which denotes a variable's storage
// instead of its value, is its element type plus 100.

#include <leat/core/dtype.hpp>
#include <leat/core/function_bodies.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace leat {

/// TensorFlow's element types. A file may contain a number that has no name here; the number is kept.
enum class data_type : std::int32_t {
  invalid = 0,
  float32 = 1,
  float64 = 2,
  int32 = 3,
  uint8 = 4,
  int16 = 5,
  int8 = 6,
  string = 7,
  complex64 = 8,
  int64 = 9,
  boolean = 10,
  qint8 = 11,
  quint8 = 12,
  qint32 = 13,
  bfloat16 = 14,
  qint16 = 15,
  quint16 = 16,
  uint16 = 17,
  complex128 = 18,
  half = 19,
  resource = 20,
  variant = 21,
  uint32 = 22,
  uint64 = 23,
  float8_e5m2 = 24,
  float8_e4m3fn = 25,
  float8_e4m3fnuz = 26,
  float8_e4m3b11fnuz = 27,
  float8_e5m2fnuz = 28,
  int4 = 29,
  uint4 = 30,
  int2 = 31,
  uint2 = 32,
  float4_e2m1fn = 33
};

namespace detail {
/// A type's name without "DT_", indexed by number, and the bytes of one element in a tensor's contents, 0 if they vary.
struct data_type_row {
  std::string_view name;
  int bytes;
};
inline constexpr data_type_row data_types[]{{"INVALID", 0},
                                            {"FLOAT", 4},
                                            {"DOUBLE", 8},
                                            {"INT32", 4},
                                            {"UINT8", 1},
                                            {"INT16", 2},
                                            {"INT8", 1},
                                            {"STRING", 0},
                                            {"COMPLEX64", 8},
                                            {"INT64", 8},
                                            {"BOOL", 1},
                                            {"QINT8", 1},
                                            {"QUINT8", 1},
                                            {"QINT32", 4},
                                            {"BFLOAT16", 2},
                                            {"QINT16", 2},
                                            {"QUINT16", 2},
                                            {"UINT16", 2},
                                            {"COMPLEX128", 16},
                                            {"HALF", 2},
                                            {"RESOURCE", 0},
                                            {"VARIANT", 0},
                                            {"UINT32", 4},
                                            {"UINT64", 8},
                                            {"FLOAT8_E5M2", 1},
                                            {"FLOAT8_E4M3FN", 1},
                                            {"FLOAT8_E4M3FNUZ", 1},
                                            {"FLOAT8_E4M3B11FNUZ", 1},
                                            {"FLOAT8_E5M2FNUZ", 1},
                                            {"INT4", 1},
                                            {"UINT4", 1},
                                            {"INT2", 1},
                                            {"UINT2", 1},
                                            {"FLOAT4_E2M1FN", 1}};
inline constexpr int data_type_count = static_cast<int>(sizeof(data_types) / sizeof(data_types[0]));
}  // namespace detail

inline constexpr int reference_offset = 100;

/// Whether a type denotes a variable's storage.
constexpr bool is_reference(data_type d) {
  return static_cast<int>(d) > reference_offset && static_cast<int>(d) < reference_offset + detail::data_type_count;
}
/// The element type of a reference type; other types unchanged.
constexpr data_type base_of(data_type d) { return is_reference(d) ? static_cast<data_type>(static_cast<int>(d) - reference_offset) : d; }
/// The reference type of an element type; `invalid` and reference types unchanged.
constexpr data_type reference_to(data_type d) {
  return d == data_type::invalid || is_reference(d) ? d : static_cast<data_type>(static_cast<int>(d) + reference_offset);
}
/// Whether the type's number has a name.
constexpr bool is_known(data_type d) {
  return (static_cast<int>(d) >= 0 && static_cast<int>(d) < detail::data_type_count) || is_reference(d);
}

/// Converts to TensorFlow's enumeration.
constexpr data_type to_data_type(dtype d) { return static_cast<data_type>(d); }
/// Converts to the library's dtype; `dtype::invalid` for types that have no kernels of their own.
constexpr dtype to_dtype(data_type d) {
  const auto known = static_cast<dtype>(d);
  return size_of(known) > 0 ? known : dtype::invalid;
}

/// The dtype whose kernels compute with the values of a narrow dtype, and which represents each of them; `dtype::invalid` for a dtype that
/// is not narrow. The integers of quantized networks are narrow, too. An int64 represents a uint64 by its bits: sums, products and
/// comparisons for equality are right, an order is not.
constexpr dtype wide_dtype(dtype narrow) {
  switch (to_data_type(narrow)) {
    case data_type::half:
    case data_type::bfloat16: return dtype::float32;
    case data_type::int8:
    case data_type::int16:
    case data_type::uint16:
    case data_type::qint8:
    case data_type::quint8:
    case data_type::qint16:
    case data_type::quint16:
    case data_type::qint32: return dtype::int32;
    case data_type::uint32:
    case data_type::uint64: return dtype::int64;
    default: return dtype::invalid;
  }
}
/// Whether a dtype's values are integers that stand for a range of real numbers, which only operators of quantized networks compute with.
constexpr bool is_quantized(dtype d) {
  const data_type type = to_data_type(d);
  return type == data_type::qint8 || type == data_type::quint8 || type == data_type::qint16 || type == data_type::quint16 ||
         type == data_type::qint32;
}
/// Whether a dtype has arrays, but runs in the kernels of a wider dtype.
constexpr bool is_narrow(dtype d) { return wide_dtype(d) != dtype::invalid; }

/// The complex dtypes as values of `dtype`, as nodes of graphs have them. Typed expressions have no complex numbers.
inline constexpr dtype complex64_dtype = static_cast<dtype>(data_type::complex64);
inline constexpr dtype complex128_dtype = static_cast<dtype>(data_type::complex128);

/// Whether a dtype is complex64 or complex128.
constexpr bool is_complex(dtype d) { return d == complex64_dtype || d == complex128_dtype; }
/// The dtype of the real and the imaginary part of a complex dtype: float32 or float64; `dtype::invalid` for other dtypes.
constexpr dtype part_dtype(dtype d) {
  return d == complex64_dtype ? dtype::float32 : d == complex128_dtype ? dtype::float64 : dtype::invalid;
}
/// The complex dtype with parts of a dtype: of float32 complex64, of float64 complex128; `dtype::invalid` for other dtypes.
constexpr dtype complex_of(dtype part) {
  return part == dtype::float32 ? complex64_dtype : part == dtype::float64 ? complex128_dtype : dtype::invalid;
}
/// Whether a dtype has a gradient: floating-point and complex numbers.
constexpr bool is_differentiable(dtype d) { return is_floating(d) || is_complex(d); }

/// A complex number of floats or doubles, as `std::complex<float>`: two numbers in memory, the real part first.
template <class T>
concept complex_number = requires(const T& x) {
  typename T::value_type;
  requires std::is_same_v<typename T::value_type, float> || std::is_same_v<typename T::value_type, double>;
  requires sizeof(T) == 2 * sizeof(typename T::value_type);
  { x.real() } -> std::same_as<typename T::value_type>;
  { x.imag() } -> std::same_as<typename T::value_type>;
};

namespace detail {
template <class T>
struct array_element_trait {
  static constexpr dtype value = dtype_of<T>;
};
template <complex_number T>
struct array_element_trait<T> {
  static constexpr dtype value = complex_of(dtype_of<typename T::value_type>);
};
}  // namespace detail

/// The dtype of arrays whose elements have this C++ type, for complex numbers, too; `dtype::invalid` for any other type.
template <class T>
inline constexpr dtype array_dtype_of = detail::array_element_trait<T>::value;
/// A C++ type of which arrays of a graph's run have elements: an `element_type` or a complex number.
template <class T>
concept value_element = array_dtype_of<T> != dtype::invalid;

/// Bytes of one element of an array of a graph's run, for narrow and complex dtypes, too; 0 for dtypes that are not numeric, or only
/// carried.
constexpr int element_bytes(dtype d) {
  if (const int bytes = size_of(d); bytes > 0) return bytes;
  return is_narrow(d) || is_complex(d) ? detail::data_types[static_cast<int>(d)].bytes : 0;
}
/// The dtype of a graph's arrays for one of TensorFlow's types; `dtype::invalid` for a type without arrays of numbers.
constexpr dtype array_dtype(data_type d) {
  return element_bytes(static_cast<dtype>(d)) > 0 ? static_cast<dtype>(d) : dtype::invalid;
}

/// The dtype that stands for a narrow or complex one where only those of typed expressions are known, as in the rules for dtypes and
/// shapes: the wide dtype, or that of the parts; `dtype::invalid` for other dtypes.
constexpr dtype stand_in_dtype(dtype d) { return is_complex(d) ? part_dtype(d) : wide_dtype(d); }

/// Whether a dtype's values are numbers for which the library has no arrays: such values are carried from file to file, and no run can take
/// them. Strings, handles and variants have kernels of their own, and nothing is known about `invalid`.
constexpr bool is_carried_only(dtype d) {
  const data_type type = base_of(to_data_type(d));
  return element_bytes(static_cast<dtype>(type)) == 0 && type != data_type::invalid && type != data_type::string &&
         type != data_type::resource && type != data_type::variant;
}

/// Bytes of one element as `tensor_content` holds it; 0 for strings, resources, variants and unknown types.
constexpr int content_size_of(data_type d) { return is_known(d) && !is_reference(d) ? detail::data_types[static_cast<int>(d)].bytes : 0; }

/// TensorFlow's name, "DT_FLOAT" or "DT_FLOAT_REF"; for a number without a name, its digits.
std::string name_of_data_type(data_type d);

/// The name of a type in messages, "int32" or "string_ref"; "dtype 99" for an unknown type, which a file may contain.
std::string lower_name_of_data_type(data_type d);

/// The type of a TensorFlow name ("DT_INT32_REF"), or nothing.
constexpr std::optional<data_type> data_type_by_name(std::string_view name) {
  constexpr std::string_view prefix = "DT_", suffix = "_REF";
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  int offset = 0;
  if (name.ends_with(suffix)) {
    name.remove_suffix(suffix.size());
    offset = reference_offset;
  }
  for (int i = offset == 0 ? 0 : 1; i < detail::data_type_count; ++i)
    if (detail::data_types[i].name == name) return static_cast<data_type>(i + offset);
  return std::nullopt;
}

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/proto/impl/data_type.hpp>
#endif
