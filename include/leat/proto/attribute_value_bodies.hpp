#pragma once
// Implementation of attribute_value.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/proto/attribute_value.hpp>

namespace leat::detail {

LEAT_FUNCTION bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](float x, float y) { return same_bits(x, y); });
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION bool attribute_value::operator==(const attribute_value& other) const {
  const float* a = get_if<float>();
  const float* b = other.get_if<float>();
  return a != nullptr && b != nullptr ? detail::same_bits(*a, *b) : value == other.value;
}

}  // namespace leat
