#include "array_names.hpp"

#include <algorithm>

namespace tool {

namespace {

constexpr std::string_view ending = ".npy";

/// What Windows and terminals do not take in a file's name, and the sign of the code itself.
bool is_reserved(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f || std::string_view("%:*?\"<>|\\").find(c) != std::string_view::npos;
}

void put_code(std::string& out, char c) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  out += {'%', digits[byte >> 4], digits[byte & 15]};
}

int digit_of(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1; }

}  // namespace

std::string array_file(std::string_view name) {
  std::string out;
  for (std::size_t at = 0;;) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    const std::string_view part = name.substr(at, end - at);
    const bool is_folder = end < name.size();
    for (std::size_t k = 0; k < part.size(); ++k) {
      // "." and ".." are other folders; "y.npy" may be a file; Windows drops dots and spaces at the end.
      const bool is_last = k + 1 == part.size() && (part[k] == '.' || part[k] == ' ');
      const bool is_ending = is_folder && part.ends_with(ending) && k + ending.size() == part.size();
      if (is_last || is_ending || is_reserved(part[k])) put_code(out, part[k]);
      else out += part[k];
    }
    if (!is_folder) return out += ending;
    // A slash with nothing on one side separates no folder from another.
    const bool separates = !part.empty() && end + 1 < name.size() && name[end + 1] != '/';
    if (separates) out += '/';
    else put_code(out, '/');
    at = end + 1;
  }
}

std::string array_name(std::string_view file) {
  if (file.ends_with(ending)) file.remove_suffix(ending.size());
  std::string name;
  for (std::size_t k = 0; k < file.size(); ++k) {
    const int high = file[k] == '%' && k + 2 < file.size() ? digit_of(file[k + 1]) : -1, low = high < 0 ? -1 : digit_of(file[k + 2]);
    if (low < 0) {
      name += file[k];
      continue;
    }
    name += static_cast<char>(high * 16 + low);
    k += 2;
  }
  return name;
}

}  // namespace tool
