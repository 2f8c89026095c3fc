#pragma once
// Implementation of summary_text.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/core/summary_text.hpp>

#include <algorithm>
#include <cstdio>

namespace leat {

LEAT_FUNCTION std::string element_text(dtype type, const void* elements, std::int64_t i) {
  const auto number = [&](double value) {
    char text[32];
    std::snprintf(text, sizeof(text), "%g", value);
    return std::string(text);
  };
  switch (type) {
    case dtype::float32: return number(static_cast<double>(static_cast<const float*>(elements)[i]));
    case dtype::float64: return number(static_cast<const double*>(elements)[i]);
    case dtype::int32: return std::to_string(static_cast<const std::int32_t*>(elements)[i]);
    case dtype::int64: return std::to_string(static_cast<const std::int64_t*>(elements)[i]);
    case dtype::uint8: return std::to_string(static_cast<int>(static_cast<const std::uint8_t*>(elements)[i]));
    case dtype::boolean: return static_cast<const bool*>(elements)[i] ? "1" : "0";
    case dtype::invalid: break;
  }
  return "?";
}

LEAT_FUNCTION std::string summary_text(const shape& s, std::int64_t most, const std::function<std::string(std::int64_t)>& element) {
  const std::int64_t count = s.elements();
  if (most < 0) most = count;
  if (s.rank == 0) return element(0);
  std::string text;
  const std::int64_t shown = std::min(most, count);
  for (std::int64_t i = 0; i < shown; ++i) {
    int opened = 0;
    std::int64_t step = 1;
    for (int a = s.rank - 1; a >= 0; --a) {
      step *= s[a];
      if (step != 0 && i % step == 0) ++opened;
    }
    if (i > 0) text += opened > 0 ? std::string(static_cast<std::size_t>(opened), ']') : " ";
    text += std::string(static_cast<std::size_t>(opened), '[') + element(i);
  }
  if (shown == 0) return "[]";
  if (shown < count) text += "...";
  // Closes the brackets that are still open.
  return text + (shown < count ? "]" : std::string(static_cast<std::size_t>(s.rank), ']'));
}

}  // namespace leat
