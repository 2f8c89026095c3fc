#pragma once
// Bytes as text in base64 (RFC 4648).

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace leat::detail {

inline constexpr std::string_view base64_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The six bits of each character, 64 for characters that are not base64 digits. URL-safe digits are included.
inline constexpr auto base64_values = [] {
  std::array<std::uint8_t, 256> values{};
  for (auto& v : values) v = 64;
  for (std::size_t i = 0; i < base64_digits.size(); ++i)
    values[static_cast<unsigned char>(base64_digits[i])] = static_cast<std::uint8_t>(i);
  values['-'] = 62;
  values['_'] = 63;
  return values;
}();
/// Appends bytes in base64, with padding.
inline void append_base64(std::string& out, std::string_view bytes) {
  const auto* p = reinterpret_cast<const unsigned char*>(bytes.data());
  const auto digit = [&](unsigned bits) { out += base64_digits[bits & 63]; };
  std::size_t left = bytes.size();
  for (; left >= 3; left -= 3, p += 3) {
    const unsigned bits = unsigned{p[0]} << 16 | unsigned{p[1]} << 8 | p[2];
    digit(bits >> 18), digit(bits >> 12), digit(bits >> 6), digit(bits);
  }
  if (left == 0) return;
  const unsigned bits = unsigned{p[0]} << 16 | (left == 2 ? unsigned{p[1]} << 8 : 0u);
  digit(bits >> 18), digit(bits >> 12);
  if (left == 2) digit(bits >> 6);
  out.append(left == 2 ? "=" : "==");
}

/// Decodes base64 into `out`; returns false if it is invalid. URL-safe digits and missing padding are accepted, as in protobuf; other
/// characters, partial padding, and, unless `drops_rest`, leftover bits are not.
inline bool from_base64(std::string_view text, std::string& out, bool drops_rest = false) {
  out.clear();
  if (text.ends_with('=')) {
    if (text.size() % 4 != 0) return false;
    text.remove_suffix(text.ends_with("==") ? 2 : 1);
  }
  if (text.size() % 4 == 1) return false;
  out.reserve(text.size() / 4 * 3 + 2);
  unsigned bits = 0;
  int held = 0;
  for (char c : text) {
    const unsigned value = base64_values[static_cast<unsigned char>(c)];
    if (value == 64) return false;
    bits = bits << 6 | value;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out += static_cast<char>(bits >> held & 0xff);
    bits &= (1u << held) - 1;
  }
  return bits == 0 || drops_rest;
}

}  // namespace leat::detail
