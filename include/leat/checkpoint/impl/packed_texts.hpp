#pragma once
// Implementation of packed_texts.hpp.

#include <leat/checkpoint/packed_texts.hpp>
#include <leat/core/function_bodies.hpp>

#include <cstdint>
#include <cstring>

namespace leat::detail {

LEAT_FUNCTION std::string pack_texts(const std::vector<std::string>& texts) {
  std::string bytes;
  for (const std::string& text : texts) {
    const std::uint64_t size = text.size();
    bytes.append(reinterpret_cast<const char*>(&size), sizeof size) += text;
  }
  return bytes;
}
LEAT_FUNCTION bool unpack_texts(std::string_view bytes, std::vector<std::string>& texts) {
  for (std::string& text : texts) {
    std::uint64_t size = 0;
    if (bytes.size() < sizeof size) return false;
    std::memcpy(&size, bytes.data(), sizeof size);
    bytes.remove_prefix(sizeof size);
    if (size > bytes.size()) return false;
    text = bytes.substr(0, static_cast<std::size_t>(size));
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
  return bytes.empty();
}

}  // namespace leat::detail
