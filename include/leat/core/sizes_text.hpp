#pragma once
// Shapes in TensorFlow's error messages.

#include <leat/core/shape.hpp>

#include <string>

namespace leat::detail {

/// The sizes of a shape, "[3,4]"; "?" where one is not known.
inline std::string sizes_text(const shape& s) {
  std::string text = "[";
  for (int i = 0; i < s.rank; ++i) text += (i > 0 ? "," : "") + (s[i] < 0 ? std::string("?") : std::to_string(s[i]));
  return text + "]";
}

}  // namespace leat::detail
