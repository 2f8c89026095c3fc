#pragma once
// Implementation of snappy.hpp.

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/io/snappy.hpp>

#include <cstddef>
#include <cstdint>

namespace leat::io {

LEAT_FUNCTION std::string unpack_snappy(std::string_view block) {
  std::size_t at = 0;
  const auto fail = [&](const char* what) { throw data_loss("byte " + std::to_string(at) + " of a compressed block: " + what); };
  const auto number = [&](std::size_t bytes) {  // little endian
    if (bytes > block.size() - at) fail("cut off");
    std::uint64_t value = 0;
    for (std::size_t i = bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(block[at + i]);
    at += bytes;
    return value;
  };
  std::uint64_t length = 0;
  for (unsigned shift = 0;; shift += 7) {
    const std::uint64_t byte = number(1);
    if (shift == 28 && byte > 15) fail("a length of more than 32 bits");
    length |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  // The element with the largest expansion is a copy: 3 bytes give 64.
  constexpr std::uint64_t most_for_a_byte = 22;
  if (length > most_for_a_byte * block.size()) fail("a length beyond what so few bytes can hold");
  std::string text;
  text.reserve(static_cast<std::size_t>(length));
  while (at < block.size()) {
    const std::uint64_t tag = number(1), kind = tag & 3, upper = tag >> 2;
    if (kind == 0) {
      constexpr std::uint64_t longest_in_tag = 59;
      const std::uint64_t count = 1 + (upper <= longest_in_tag ? upper : number(static_cast<std::size_t>(upper - longest_in_tag)));
      if (count > block.size() - at) fail("a run that is cut off");
      if (count > length - text.size()) fail("more bytes than the block's length");
      text += block.substr(at, static_cast<std::size_t>(count));
      at += static_cast<std::size_t>(count);
      continue;
    }
    const std::uint64_t count = kind == 1 ? 4 + (upper & 7) : 1 + upper;
    const std::uint64_t distance = kind == 1 ? (tag >> 5) << 8 | number(1) : number(kind == 2 ? 2 : 4);
    if (distance == 0 || distance > text.size()) fail("a copy of what is not there");
    if (count > length - text.size()) fail("more bytes than the block's length");
    // A copy may overlap its own output.
    for (std::uint64_t k = 0; k < count; ++k) text += text[text.size() - static_cast<std::size_t>(distance)];
  }
  if (text.size() != length) fail("fewer bytes than the block's length");
  return text;
}

}  // namespace leat::io
