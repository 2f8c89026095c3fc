#pragma once
// The elements of a tensor_proto, in every form that TensorFlow writes: `tensor_content` (all elements, little endian; strings as their
// lengths followed by their bytes), or a field of the element's type, whose last value is repeated for all remaining elements (a tensor of
// a million zeros has one value in its file). So a small file can request much memory: `problem_of` validates a tensor without allocating,
// and `contents` has a limit.

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/proto/attribute_value.hpp>

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace leat {

static_assert(std::endian::native == std::endian::little,
              "tensors' contents are little endian, and are copied as they are");

/// The largest rank of TensorFlow's shapes.
inline constexpr std::size_t max_file_rank = 254;

/// The problem with a shape, or an empty string: a dimension below -1, a rank above 254, more than 2^63 elements.
std::string problem_of(const tensor_shape_proto& shape);

/// Number of elements, or nothing if the shape is invalid or not fully known.
std::optional<std::int64_t> element_count(const tensor_shape_proto& shape);

/// A shape as text: "[2, ?]", or "?" for an unknown rank.
std::string to_text(const tensor_shape_proto& shape);

/// The name of a field of TensorProto.
constexpr std::string_view name_of_field(tensor_field field) {
  switch (field) {
    case tensor_field::none: break;
    case tensor_field::tensor_content: return "tensor_content";
    case tensor_field::float_val: return "float_val";
    case tensor_field::double_val: return "double_val";
    case tensor_field::int_val: return "int_val";
    case tensor_field::string_val: return "string_val";
    case tensor_field::scomplex_val: return "scomplex_val";
    case tensor_field::int64_val: return "int64_val";
    case tensor_field::bool_val: return "bool_val";
    case tensor_field::dcomplex_val: return "dcomplex_val";
    case tensor_field::half_val: return "half_val";
    case tensor_field::uint32_val: return "uint32_val";
    case tensor_field::uint64_val: return "uint64_val";
    case tensor_field::float8_val: return "float8_val";
  }
  return "no field";
}

/// The field for values of a type; `none` for types without values in files.
constexpr tensor_field field_of(data_type d) {
  switch (d) {
    case data_type::float32: return tensor_field::float_val;
    case data_type::float64: return tensor_field::double_val;
    case data_type::int32:
    case data_type::uint8:
    case data_type::int16:
    case data_type::int8:
    case data_type::uint16:
    case data_type::qint8:
    case data_type::quint8:
    case data_type::qint16:
    case data_type::quint16:
    case data_type::qint32:
    case data_type::int4:
    case data_type::uint4:
    case data_type::int2:
    case data_type::uint2: return tensor_field::int_val;
    case data_type::string: return tensor_field::string_val;
    case data_type::complex64: return tensor_field::scomplex_val;
    case data_type::int64: return tensor_field::int64_val;
    case data_type::boolean: return tensor_field::bool_val;
    case data_type::complex128: return tensor_field::dcomplex_val;
    case data_type::half:
    case data_type::bfloat16: return tensor_field::half_val;
    case data_type::uint32: return tensor_field::uint32_val;
    case data_type::uint64: return tensor_field::uint64_val;
    case data_type::float8_e5m2:
    case data_type::float8_e4m3fn:
    case data_type::float8_e4m3fnuz:
    case data_type::float8_e4m3b11fnuz:
    case data_type::float8_e5m2fnuz:
    case data_type::float4_e2m1fn: return tensor_field::float8_val;
    case data_type::invalid:
    case data_type::resource:
    case data_type::variant: break;
  }
  return tensor_field::none;
}

/// Bytes per value in `tensor_proto::bytes` for each field; a complex number is two values.
constexpr int field_size_of(tensor_field field) {
  switch (field) {
    case tensor_field::float_val:
    case tensor_field::int_val:
    case tensor_field::half_val:
    case tensor_field::uint32_val: return 4;
    case tensor_field::double_val:
    case tensor_field::scomplex_val:
    case tensor_field::int64_val:
    case tensor_field::uint64_val: return 8;
    case tensor_field::dcomplex_val: return 16;
    case tensor_field::bool_val:
    case tensor_field::float8_val: return 1;
    case tensor_field::none:
    case tensor_field::tensor_content:
    case tensor_field::string_val: break;
  }
  return 0;
}

namespace detail {

template <class T>
T value_at(std::string_view bytes, std::size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

/// The strings in `tensor_content`: all lengths as varints, then all bytes. Nothing if it is malformed.
std::optional<std::vector<std::string_view>> packed_texts(std::string_view bytes, std::int64_t count);

/// The range of numbers that an `int_val` of a type may have.
constexpr std::pair<std::int64_t, std::int64_t> range_of(data_type d) {
  switch (d) {
    case data_type::uint8:
    case data_type::quint8: return {0, 255};
    case data_type::int8:
    case data_type::qint8: return {-128, 127};
    case data_type::uint16:
    case data_type::quint16: return {0, 65535};
    case data_type::int16:
    case data_type::qint16: return {-32768, 32767};
    case data_type::int4: return {-8, 7};
    case data_type::uint4: return {0, 15};
    case data_type::int2: return {-2, 1};
    case data_type::uint2: return {0, 3};
    case data_type::half:
    case data_type::bfloat16: return {0, 65535};
    default: return {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
  }
}

}  // namespace detail

/// The problem with a tensor, or an empty string: no type, a shape that is not fully known, values in a field of another type, more values
/// than elements, contents of another length, numbers that the type cannot represent.
std::string problem_of(const tensor_proto& t);

/// Default limit of `contents` on the number of elements, because a file of a few bytes can claim any number of them.
inline constexpr std::int64_t max_contents = std::int64_t{1} << 28;

/// The elements of a tensor, in row-major order; those of a bool tensor as `std::vector<bool>`.
/// Errors: invalid_argument if the tensor's type is not T (float, double, std::int32_t, std::int64_t, std::uint8_t, bool, std::string), if
/// the tensor is invalid (`problem_of`), or if it has more elements than `limit`.
template <class T>
std::vector<T> contents(const tensor_proto& t, std::int64_t limit = max_contents) {
  constexpr bool is_text = std::is_same_v<T, std::string>;
  constexpr data_type type = [] {
    if constexpr (is_text) return data_type::string;
    else return to_data_type(dtype_of<T>);
  }();
  static_assert(type != data_type::invalid,
                "elements are float, double, int32_t, int64_t, uint8_t, bool or std::string");
  if (t.dtype != type)
    throw invalid_argument("a tensor of " + name_of_data_type(t.dtype) + " was read as " + name_of_data_type(type));
  if (auto problem = problem_of(t); !problem.empty()) throw invalid_argument("tensor: " + problem);
  const std::int64_t elements = *element_count(t.shape);
  if (elements > limit)
    throw invalid_argument("tensor: shape " + to_text(t.shape) + " has more than " + std::to_string(limit) +
                           " elements");

  const auto count = static_cast<std::size_t>(elements);
  std::vector<T> result;
  result.reserve(count);
  if constexpr (is_text) {
    if (t.field == tensor_field::tensor_content) {
      const auto texts = detail::packed_texts(t.bytes, elements);
      for (auto text : *texts) result.emplace_back(text);
      return result;
    }
    result = t.strings;
  } else {
    const auto take = [&]<class Stored>(std::type_identity<Stored>) {
      const std::size_t stored = t.bytes.size() / sizeof(Stored);
      if constexpr (std::is_same_v<T, bool>) {
        for (std::size_t i = 0; i < stored; ++i) result.push_back(detail::value_at<Stored>(t.bytes, i) != 0);
      } else if constexpr (std::is_same_v<T, Stored>) {
        result.resize(stored);
        if (stored > 0) std::memcpy(result.data(), t.bytes.data(), stored * sizeof(T));
      } else {
        for (std::size_t i = 0; i < stored; ++i) result.push_back(static_cast<T>(detail::value_at<Stored>(t.bytes, i)));
      }
    };
    if constexpr (std::is_same_v<T, bool>) take(std::type_identity<std::uint8_t>{});
    else if (std::is_same_v<T, std::uint8_t> && t.field == tensor_field::int_val)
      take(std::type_identity<std::int32_t>{});
    else take(std::type_identity<T>{});
  }
  const T rest = result.empty() ? T{} : T(result.back());
  result.resize(count, rest);
  return result;
}

/// The elements of a tensor of a narrow or complex dtype, as its arrays hold them. Errors: those of `contents`.
std::string content_bytes(const tensor_proto& t, std::int64_t limit = max_contents);
/// A tensor of a narrow or complex dtype from its elements, in the form of `make_tensor_proto`. Errors: invalid_argument if the shape does
/// not give the size.
tensor_proto tensor_proto_of_bytes(data_type type, std::string_view elements, tensor_shape_proto shape);

/// A tensor of these elements, in the form that TensorFlow's Python library writes: a single element in the field of its type, more
/// elements as `tensor_content`, strings always as `string_val`.
/// Errors: invalid_argument if the shape has another number of elements.
template <std::ranges::sized_range Values>
tensor_proto make_tensor_proto(const Values& values, tensor_shape_proto shape) {
  using T = std::ranges::range_value_t<Values>;
  constexpr bool is_text = std::is_convertible_v<T, std::string_view>;
  static_assert(is_text || element_type<T>, "elements are float, double, int32_t, int64_t, uint8_t, bool or text");
  const auto count = static_cast<std::int64_t>(std::ranges::size(values));
  if (element_count(shape) != count)
    throw invalid_argument("tensor: " + std::to_string(count) + " values for shape " + to_text(shape));
  tensor_proto t;
  t.shape = std::move(shape);
  if constexpr (is_text) {
    t.dtype = data_type::string;
    for (const auto& text : values) t.strings.emplace_back(text);
    if (!t.strings.empty()) t.field = tensor_field::string_val;
  } else {
    t.dtype = to_data_type(dtype_of<T>);
    if (count == 0) return t;
    t.field = count == 1 ? field_of(t.dtype) : tensor_field::tensor_content;
    const auto put = [&](auto value) { t.bytes.append(reinterpret_cast<const char*>(&value), sizeof(value)); };
    for (const T value : values) {
      if constexpr (std::is_same_v<T, bool>) put(static_cast<std::uint8_t>(value));
      else if (std::is_same_v<T, std::uint8_t> && count == 1) put(static_cast<std::int32_t>(value));
      else put(value);
    }
  }
  return t;
}
/// A scalar tensor with this value.
template <class T>
  requires element_type<T> || std::is_convertible_v<T, std::string_view>
tensor_proto make_tensor_proto(const T& value) {
  if constexpr (element_type<T>) return make_tensor_proto(std::vector<T>{value}, tensor_shape_proto{});
  else return make_tensor_proto(std::vector<std::string_view>{value}, tensor_shape_proto{});
}

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/proto/impl/tensor_contents.hpp>
#endif
