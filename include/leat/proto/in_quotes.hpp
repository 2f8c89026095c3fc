#pragma once
// Strings from files, and lists of names, as error messages show them.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace leat::proto::detail {

/// A string from a file in quotes, for a message: shortened, on one line, printable.
inline std::string in_quotes(std::string_view text, std::size_t longest = 80) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string result = "\"";
  for (char c : text.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) {
      result += "\\x";
      result += digits[byte >> 4];
      result += digits[byte & 15];
    } else {
      result += c;
    }
  }
  return result + (text.size() > longest ? "...\"" : "\"");
}

}  // namespace leat::proto::detail

namespace leat::detail {

inline std::string name_list(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "'" : ", '") + name + "'";
  return text;
}

}  // namespace leat::detail
