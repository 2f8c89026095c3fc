#pragma once
// Numbers in text: what std::from_chars leaves open.

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

namespace leat::detail {

/// Whether a decimal number other than 0 is between -1 and 1. If the number is beyond a dtype's range, it then rounds to 0 instead of
/// infinity.
inline bool is_below_one(std::string_view decimal) {
  // The absolute value of the number is from 10^(magnitude - 1) to 10^magnitude, before its exponent.
  std::int64_t magnitude = 0, exponent = 0;
  std::size_t at = decimal.starts_with('-') ? 1 : 0;
  bool behind_point = false, begun = false;
  for (; at < decimal.size() && (decimal[at] == '.' || (decimal[at] >= '0' && decimal[at] <= '9')); ++at) {
    if (decimal[at] == '.') behind_point = true;
    else begun = begun || decimal[at] != '0', magnitude += behind_point ? -!begun : begun;
  }
  if (at < decimal.size() && (decimal[at] == 'e' || decimal[at] == 'E')) {
    const bool down = ++at < decimal.size() && decimal[at] == '-';
    constexpr std::int64_t most = std::int64_t{1} << 50;
    for (at += down || (at < decimal.size() && decimal[at] == '+'); at < decimal.size(); ++at)
      exponent = std::min(10 * exponent + (decimal[at] - '0'), most);
    if (down) exponent = -exponent;
  }
  return magnitude + exponent <= 0;
}

/// Reads a whole text as a number, with spaces around it, as TensorFlow's kernels do: a sign, hexadecimal digits behind "0x" for floating
/// point, "inf" and "nan"; what is beyond the range of floating point becomes infinite or 0. Returns false for anything else.
template <class T>
bool read_number(std::string_view text, T& value) {
  const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || text.front() == '-' || text.front() == '+') return false;
  const char* const end = text.data() + text.size();
  if constexpr (std::is_integral_v<T>) {
    std::make_unsigned_t<T> size = 0;
    const auto [behind, problem] = std::from_chars(text.data(), end, size);
    const auto most = static_cast<std::make_unsigned_t<T>>(std::numeric_limits<T>::max()) + (negative ? 1u : 0u);
    if (problem != std::errc{} || behind != end || size > most) return false;
    value = static_cast<T>(negative ? 0 - size : size);
    return true;
  } else {
    const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
    if (is_hex) text.remove_prefix(2);
    if (is_hex && text.find_first_of("0123456789abcdefABCDEF") != 0 && !text.starts_with('.')) return false;
    if (text.find('(') != text.npos) return false;  // "nan(...)"
    T size = 0;
    const auto [behind, problem] = std::from_chars(text.data(), end, size, is_hex ? std::chars_format::hex : std::chars_format::general);
    if (behind != end || (problem != std::errc{} && problem != std::errc::result_out_of_range)) return false;
    if (problem == std::errc::result_out_of_range) {
      const bool is_small = is_hex ? text.find("p-") != text.npos || text.find("P-") != text.npos : is_below_one(text);
      size = is_small ? T(0) : std::numeric_limits<T>::infinity();
    }
    value = negative ? -size : size;
    return true;
  }
}

}  // namespace leat::detail
