#pragma once
// Elements of arrays in files that are not stored as the library stores them: other widths, big endian, columns first. They are converted
// where a dtype of the library holds each value exactly:
//
//   float16, bfloat16           float32
//   int8, int16, uint16         int32
//   uint32                      int64
//   uint64                      int64, if all values fit
//   big endian of these and of the library's own dtypes

#include <leat/core/dtype.hpp>
#include <leat/core/function_bodies.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace leat::io {

enum class element_kind : std::uint8_t { floating, bfloat, signed_integer, unsigned_integer, boolean };

/// How a file stores elements.
struct element_format {
  element_kind kind = element_kind::floating;
  int bytes = 4;  // of one element
  bool is_big_endian = false;
};

/// The dtype that elements have when they are read; `invalid` if the library has none that holds them all, as for long doubles.
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
  }
  return dtype::invalid;
}

/// Whether the library stores elements in the same way, so that they can be used where they are.
constexpr bool is_native(const element_format& format) {
  const dtype read = dtype_as_read(format);
  const bool is_changed = format.kind == element_kind::bfloat || (format.is_big_endian && format.bytes > 1) ||
                          (format.kind == element_kind::unsigned_integer && format.bytes == 8);
  return read != dtype::invalid && size_of(read) == format.bytes && !is_changed;
}

/// Elements in the library's own form, of `dtype_as_read`. Errors: out_of_range, with element and value, for one that does not fit.
std::string native_elements(const element_format& format, std::string_view bytes);

/// Elements row by row of an array that is stored column by column (the first index changes fastest).
std::string row_major_elements(std::string_view bytes, int bytes_per_element, std::span<const std::int64_t> sizes);

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/element_format_bodies.hpp>
#endif
