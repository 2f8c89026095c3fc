#pragma once
// Implementation of element_format.hpp.

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/io/element_format.hpp>
#include <leat/proto/narrow_floats.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

namespace leat::io::detail {

template <class From, class To, class F>
std::string each_element(std::string_view bytes, F convert) {
  const std::size_t count = bytes.size() / sizeof(From);
  std::string made(count * sizeof(To), '\0');
  for (std::size_t i = 0; i < count; ++i) {
    From from;
    std::memcpy(&from, bytes.data() + i * sizeof(From), sizeof(From));
    const To to = convert(from, i);
    std::memcpy(made.data() + i * sizeof(To), &to, sizeof(To));
  }
  return made;
}
template <class From, class To>
std::string widened(std::string_view bytes) {
  return each_element<From, To>(bytes, [](From value, std::size_t) { return static_cast<To>(value); });
}

/// Exchanges the first index and the last, for each combination of the indices between them. Copies blocks of rows and columns, so that
/// both sides stay in the cache.
template <std::int64_t Width>
void copy_row_major(const char* from, char* to, std::span<const std::int64_t> sizes) {
  const std::size_t rank = sizes.size();
  const std::int64_t first = sizes.front(), last = sizes.back();
  std::int64_t between = 1;
  for (std::size_t k = 1; k + 1 < rank; ++k) between *= sizes[k];
  const std::int64_t last_stride = first * between, first_stride = between * last;
  constexpr std::int64_t block = 32;
  for (std::int64_t m = 0; m < between; ++m) {
    // Offsets of this combination of the middle indices, in the source and in the destination.
    std::int64_t rest = m, from_offset = 0, to_offset = 0, from_stride = first, to_stride = first_stride;
    for (std::size_t k = 1; k + 1 < rank; ++k) {
      to_stride /= sizes[k];
      from_offset += rest % sizes[k] * from_stride;
      to_offset += rest % sizes[k] * to_stride;
      rest /= sizes[k];
      from_stride *= sizes[k];
    }
    for (std::int64_t row = 0; row < first; row += block)
      for (std::int64_t column = 0; column < last; column += block)
        for (std::int64_t i = row; i < std::min(row + block, first); ++i)
          for (std::int64_t j = column; j < std::min(column + block, last); ++j)
            std::memcpy(to + Width * (i * first_stride + to_offset + j), from + Width * (i + from_offset + j * last_stride), Width);
  }
}

}  // namespace leat::io::detail

namespace leat::io {

LEAT_FUNCTION std::string native_elements(const element_format& format, std::string_view bytes) {
  std::string swapped;
  if (format.is_big_endian && format.bytes > 1) {
    swapped = bytes;
    const auto width = static_cast<std::size_t>(format.kind == element_kind::complex ? format.bytes / 2 : format.bytes);  // of a number
    for (std::size_t at = 0; at + width <= swapped.size(); at += width)
      std::reverse(swapped.begin() + static_cast<std::ptrdiff_t>(at), swapped.begin() + static_cast<std::ptrdiff_t>(at + width));
    bytes = swapped;
  }
  using namespace detail;
  switch (format.kind) {
    case element_kind::floating:
      if (format.bytes == 2)
        return each_element<std::uint16_t, float>(bytes, [](std::uint16_t half, std::size_t) { return float_of_half(half); });
      break;
    case element_kind::bfloat:
      return each_element<std::uint16_t, float>(bytes, [](std::uint16_t upper, std::size_t) { return float_of_bfloat16(upper); });
    case element_kind::signed_integer:
      if (format.bytes == 1) return widened<std::int8_t, std::int32_t>(bytes);
      if (format.bytes == 2) return widened<std::int16_t, std::int32_t>(bytes);
      break;
    case element_kind::unsigned_integer:
      if (format.bytes == 2) return widened<std::uint16_t, std::int32_t>(bytes);
      if (format.bytes == 4) return widened<std::uint32_t, std::int64_t>(bytes);
      if (format.bytes == 8)
        return each_element<std::uint64_t, std::int64_t>(bytes, [](std::uint64_t value, std::size_t index) {
          if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
            throw out_of_range("element " + std::to_string(index) + " of uint64 is " + std::to_string(value) +
                               ", which int64 does not hold");
          return static_cast<std::int64_t>(value);
        });
      break;
    case element_kind::boolean:
    case element_kind::complex: break;
  }
  return swapped.empty() ? std::string(bytes) : std::move(swapped);
}

LEAT_FUNCTION std::string row_major_elements(std::string_view bytes, int bytes_per_element, std::span<const std::int64_t> sizes) {
  if (sizes.size() < 2 || bytes.empty()) return std::string(bytes);
  std::string made(bytes.size(), '\0');
  switch (bytes_per_element) {
    case 1: detail::copy_row_major<1>(bytes.data(), made.data(), sizes); break;
    case 2: detail::copy_row_major<2>(bytes.data(), made.data(), sizes); break;
    case 4: detail::copy_row_major<4>(bytes.data(), made.data(), sizes); break;
    case 8: detail::copy_row_major<8>(bytes.data(), made.data(), sizes); break;
    case 16: detail::copy_row_major<16>(bytes.data(), made.data(), sizes); break;
    default: throw unimplemented("elements of " + std::to_string(bytes_per_element) + " bytes, stored column by column");
  }
  return made;
}

}  // namespace leat::io
