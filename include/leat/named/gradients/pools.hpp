#pragma once
// Gradients of pooling in graphs with names, as TensorFlow writes them. Source: TensorFlow's gradients of the operators of the same names.

#include <leat/core/fill.hpp>
#include <leat/named/gradients/nn.hpp>

namespace leat::detail {

// A node of this type with one result, of the given inputs and the node's own attributes of these names.
inline output image_node(const gradient_call& c, std::string_view type, const std::vector<output>& inputs,
                         std::initializer_list<std::string_view> attributes, const tensor_info& result) {
  return c.owner().named().raw(c.owner(), type, inputs, c.attributes(attributes), {result}).result();
}

// The operators of a maximum over windows, of its gradient, and of the gradient of that.
struct max_pool_types {
  std::string_view forward, back, back_back;
  bool takes_windows = false;  // as its last two inputs
};
inline constexpr max_pool_types image_maximum{"MaxPool", "MaxPoolGrad", "MaxPoolGradGrad"};
inline constexpr max_pool_types image_maximum_v2{"MaxPoolV2", "MaxPoolGradV2", "MaxPoolGradGradV2", true};
inline constexpr max_pool_types volume_maximum{"MaxPool3D", "MaxPool3DGrad", "MaxPool3DGradGrad"};

// A node of the same windows.
inline output window_node(const gradient_call& c, std::string_view type, std::vector<output> inputs, bool takes_windows,
                          const tensor_info& result) {
  const int last = c.input_count() - 1;
  if (takes_windows) inputs.insert(inputs.end(), {c.input(last - 1), c.input(last)});
  return image_node(c, type, inputs, {"T", "TInput", "ksize", "strides", "padding", "explicit_paddings", "data_format"}, result);
}
template <const max_pool_types& Types>
gradient_list gradient_of_max_pool(const gradient_call& c) {
  return {window_node(c, Types.back, {c.input(0), c.result(), c.dy()}, Types.takes_windows, info_like(c.input(0)))};
}
// The gradient of a gradient passes to the slopes alone.
inline gradient_list of_slopes(const gradient_call& c, std::string_view type, bool takes_windows) {
  const output dy = c.dy();
  const output by_input = zeros_like(c.input(0)), by_result = zeros_like(c.input(1));
  return {by_input, by_result, window_node(c, type, {c.input(0), c.input(1), dy}, takes_windows, info_like(c.input(2)))};
}
template <const max_pool_types& Types>
gradient_list gradient_of_max_pool_back(const gradient_call& c) {
  return of_slopes(c, Types.back_back, Types.takes_windows);
}
template <const max_pool_types& Types>
gradient_list gradient_of_max_pool_back_back(const gradient_call& c) {
  return of_slopes(c, Types.back, Types.takes_windows);
}

// A node of the places that MaxPoolWithArgmax found.
inline output place_node(const gradient_call& c, std::string_view type, const std::vector<output>& inputs, const tensor_info& result) {
  attribute_map settings = c.attributes({"T", "Targmax", "ksize", "strides", "padding", "include_batch_in_index"});
  settings["Targmax"] = inputs[2].type();
  return c.owner().named().raw(c.owner(), type, inputs, std::move(settings), {result}).result();
}
inline gradient_list gradient_of_max_pool_with_places(const gradient_call& c) {
  const output dy = c.dy();
  if (!static_cast<bool>(dy)) return {};
  return {place_node(c, "MaxPoolGradWithArgmax", {c.input(0), dy, c.result(1)}, info_like(c.input(0)))};
}
inline gradient_list gradient_of_max_pool_back_to_places(const gradient_call& c) {
  return {{}, place_node(c, "MaxPoolGradGradWithArgmax", {c.input(0), c.dy(), c.input(2)}, info_like(c.input(1)))};
}
inline gradient_list gradient_of_max_pool_back_back_from_places(const gradient_call& c) {
  return {{}, place_node(c, "MaxPoolGradWithArgmax", {c.input(0), c.dy(), c.input(2)}, info_like(c.input(1)))};
}

struct average_pool_types {
  std::string_view forward, back;
};
inline constexpr average_pool_types image_average{"AvgPool", "AvgPoolGrad"};
inline constexpr average_pool_types volume_average{"AvgPool3D", "AvgPool3DGrad"};
template <const average_pool_types& Types>
gradient_list gradient_of_average_pool(const gradient_call& c) {
  const output dy = c.dy();
  return {window_node(c, Types.back, {shape_of(c.input(0)), dy}, false, info_like(c.input(0)))};
}
template <const average_pool_types& Types>
gradient_list gradient_of_average_pool_back(const gradient_call& c) {
  return {{}, window_node(c, Types.forward, {c.dy()}, false, info_like(c.input(1)))};
}

/// With the windows that the pool drew.
inline gradient_list gradient_of_fractional_maximum(const gradient_call& c) {
  const output dy = c.dy(0);
  if (!static_cast<bool>(dy)) return {};
  return {image_node(c, "FractionalMaxPoolGrad", {c.input(0), c.result(0), dy, c.result(1), c.result(2)}, {"T", "overlapping"},
                     info_like(c.input(0)))};
}
inline gradient_list gradient_of_fractional_average(const gradient_call& c) {
  const output dy = c.dy(0);
  if (!static_cast<bool>(dy)) return {};
  const output sizes = cast(shape_of(c.input(0)), dtype::int64);
  return {image_node(c, "FractionalAvgPoolGrad", {sizes, dy, c.result(1), c.result(2)}, {"T", "overlapping"}, info_like(c.input(0)))};
}

LEAT_FILL(fill_pool_gradients) {
  enter_gradients({
      {image_maximum.forward, gradient_of_max_pool<image_maximum>},
      {image_maximum.back, gradient_of_max_pool_back<image_maximum>},
      {image_maximum.back_back, gradient_of_max_pool_back_back<image_maximum>},
      {image_maximum_v2.forward, gradient_of_max_pool<image_maximum_v2>},
      {image_maximum_v2.back, gradient_of_max_pool_back<image_maximum_v2>},
      {image_maximum_v2.back_back, gradient_of_max_pool_back_back<image_maximum_v2>},
      {volume_maximum.forward, gradient_of_max_pool<volume_maximum>},
      {volume_maximum.back, gradient_of_max_pool_back<volume_maximum>},
      {volume_maximum.back_back, gradient_of_max_pool_back_back<volume_maximum>},
      {"MaxPoolWithArgmax", gradient_of_max_pool_with_places},
      {"MaxPoolGradWithArgmax", gradient_of_max_pool_back_to_places},
      {"MaxPoolGradGradWithArgmax", gradient_of_max_pool_back_back_from_places},
      {"FractionalMaxPool", gradient_of_fractional_maximum},
      {"FractionalAvgPool", gradient_of_fractional_average},
      {image_average.forward, gradient_of_average_pool<image_average>},
      {image_average.back, gradient_of_average_pool_back<image_average>},
      {volume_average.forward, gradient_of_average_pool<volume_average>},
      {volume_average.back, gradient_of_average_pool_back<volume_average>},
  });
}

}  // namespace leat::detail
