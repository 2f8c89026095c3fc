#pragma once
// Bytes of files in tests, written as hexadecimal digits.

#include <string>
#include <string_view>

namespace leat_test {

inline std::string from_hex(std::string_view digits) {
  std::string bytes;
  for (std::size_t k = 0; k + 1 < digits.size(); k += 2)
    bytes += static_cast<char>(std::stoi(std::string(digits.substr(k, 2)), nullptr, 16));
  return bytes;
}

}  // namespace leat_test
