#pragma once
// Elements in files whose format differs from the library's: other widths, big endian, column-major order. They are converted if a dtype of
// the library represents each value exactly:
//
//   float16, bfloat16           float32
//   int8, int16, uint16         int32
//   uint32                      int64
//   uint64                      int64, if all values fit
//   big endian of these, of the library's own dtypes and of complex64 and complex128

#include <leat/core/function_bodies.hpp>
#include <leat/proto/data_type.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace leat::io {

enum class element_kind : std::uint8_t { floating, bfloat, signed_integer, unsigned_integer, boolean, complex };

/// How a file stores elements.
struct element_format {
  element_kind kind = element_kind::floating;
  int bytes = 4;  // of one element
  bool is_big_endian = false;
};

/// The dtype of elements after they are read; `invalid` if no dtype of the library represents all of them, as for long doubles.
constexpr dtype dtype_as_read(const element_format& format) {
  switch (format.kind) {
    case element_kind::floating:
      return format.bytes == 2 || format.bytes == 4 ? dtype::float32 : format.bytes == 8 ? dtype::float64 : dtype::invalid;
    case element_kind::bfloat: return format.bytes == 2 ? dtype::float32 : dtype::invalid;
    case element_kind::signed_integer:
      return format.bytes == 1 || format.bytes == 2 || format.bytes == 4 ? dtype::int32 : format.bytes == 8 ? dtype::int64 : dtype::invalid;
    case element_kind::unsigned_integer:
      return format.bytes == 1                        ? dtype::uint8
             : format.bytes == 2                      ? dtype::int32
             : format.bytes == 4 || format.bytes == 8 ? dtype::int64
                                                      : dtype::invalid;
    case element_kind::boolean: return format.bytes == 1 ? dtype::boolean : dtype::invalid;
    case element_kind::complex: return format.bytes == 8 ? complex64_dtype : format.bytes == 16 ? complex128_dtype : dtype::invalid;
  }
  return dtype::invalid;
}

/// Whether the library stores elements in the same way, so that they need no conversion.
constexpr bool is_native(const element_format& format) {
  const dtype read = dtype_as_read(format);
  const bool is_changed = format.kind == element_kind::bfloat || (format.is_big_endian && format.bytes > 1) ||
                          (format.kind == element_kind::unsigned_integer && format.bytes == 8);
  return read != dtype::invalid && element_bytes(read) == format.bytes && !is_changed;
}

/// Converts elements to the library's format, with the dtype `dtype_as_read`. Errors: out_of_range, naming element and value, for a value
/// that the dtype cannot represent.
std::string native_elements(const element_format& format, std::string_view bytes);

/// Converts the elements of an array from column-major order (the first index changes fastest) to row-major order.
std::string row_major_elements(std::string_view bytes, int bytes_per_element, std::span<const std::int64_t> sizes);

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/impl/element_format.hpp>
#endif
