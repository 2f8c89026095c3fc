#pragma once
// Encodings in files: validation of UTF-8 (RFC 3629), and base64 (core/base64.hpp) as in protobuf's JSON.

#include <leat/core/base64.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace leat::io {

/// Whether bytes are UTF-8: no stray or missing continuation bytes, overlong forms, surrogates, or code points beyond U+10FFFF.
inline bool is_utf8(std::string_view text) {
  const auto* p = reinterpret_cast<const unsigned char*>(text.data());
  const auto* const end = p + text.size();
  while (p != end) {
    if (end - p >= 8) {  // eight at once while they are ASCII, as names usually are
      std::uint64_t eight;
      std::memcpy(&eight, p, 8);
      if ((eight & 0x8080808080808080u) == 0) {
        p += 8;
        continue;
      }
    }
    const unsigned char lead = *p++;
    if (lead < 0x80) continue;
    int more = 0;
    unsigned low = 0x80, high = 0xbf;  // range of the second byte
    if (lead >= 0xc2 && lead <= 0xdf) {
      more = 1;
    } else if (lead >= 0xe0 && lead <= 0xef) {
      more = 2;
      if (lead == 0xe0) low = 0xa0;
      if (lead == 0xed) high = 0x9f;
    } else if (lead >= 0xf0 && lead <= 0xf4) {
      more = 3;
      if (lead == 0xf0) low = 0x90;
      if (lead == 0xf4) high = 0x8f;
    } else {
      return false;
    }
    for (; more > 0; --more, ++p, low = 0x80, high = 0xbf)
      if (p == end || *p < low || *p > high) return false;
  }
  return true;
}

using leat::detail::append_base64;
using leat::detail::from_base64;
}  // namespace leat::io
