#pragma once
// Tensors as text for people and as JSON for programs.

#include <leat/runtime/state/tensor_value.hpp>

#include <string>

namespace tool {

/// Dtype, shape and elements as a nested list; of more than 1000 elements, the first and last three along each axis.
std::string text_of(const leat::tensor_value& value);

/// {"dtype": "float32", "shape": [2], "data": [1, 2]}; numbers that are none are "NaN", "Infinity", "-Infinity".
std::string json_of(const leat::tensor_value& value);

}  // namespace tool
