#pragma once
// A text as numbers of its characters, as models of characters read it.

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace leat::examples {

struct numbered_text {
  std::string alphabet;  // sorted
  std::vector<std::int32_t> numbers;

  /// Errors: std::runtime_error for a character that the text does not have.
  std::int32_t number_of(char c) const {
    const auto at = std::lower_bound(alphabet.begin(), alphabet.end(), c);
    if (at == alphabet.end() || *at != c) throw std::runtime_error(std::string("the text has no character '") + c + "'");
    return static_cast<std::int32_t>(at - alphabet.begin());
  }
};

/// Errors: std::runtime_error if the file cannot be opened.
inline numbered_text read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path + ": cannot be opened");
  const std::string whole((std::istreambuf_iterator<char>(file)), {});
  numbered_text t{.alphabet = whole, .numbers = {}};
  std::sort(t.alphabet.begin(), t.alphabet.end());
  t.alphabet.erase(std::unique(t.alphabet.begin(), t.alphabet.end()), t.alphabet.end());
  for (const char c : whole) t.numbers.push_back(t.number_of(c));
  return t;
}

}  // namespace leat::examples
