#pragma once
// Tensors as text for people, as JSON for programs, and as .npy files.

#include <leat/runtime/state/tensor_value.hpp>

#include <filesystem>
#include <string>

namespace tool {

/// Dtype, shape and elements as a nested list; of more than 1000 elements, the first and last three along each axis.
std::string text_of(const leat::tensor_value& value);

/// {"dtype": "float32", "shape": [2], "data": [1, 2]}; numbers that are none are "NaN", "Infinity", "-Infinity".
std::string json_of(const leat::tensor_value& value);

/// Where the result of a name goes in a folder: "scope/y:0" to scope/y.npy, "y:1" to y_1.npy.
/// Errors: usage_error for a name that would leave the folder.
std::filesystem::path npy_path(const std::filesystem::path& folder, const std::string& name);

}  // namespace tool
