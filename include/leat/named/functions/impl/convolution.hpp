#pragma once
// Implementation of convolution.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/array.hpp>
#include <leat/named/functions/convolution.hpp>
#include <leat/named/graph/call.hpp>

namespace leat::detail {

// One number for each axis of an array, 1 for batch and channels, from the numbers of its axes of space.
LEAT_FUNCTION std::vector<std::int64_t> along_space(const std::vector<std::int64_t>& numbers, int axes, axis_order order,
                                                    std::string_view what) {
  const auto count = static_cast<std::size_t>(axes);
  if (numbers.size() != 1 && numbers.size() != count)
    throw invalid_argument("The `" + std::string(what) + "` argument must be 1 integer or " + std::to_string(axes) + " integers, not " +
                           std::to_string(numbers.size()));
  std::vector<std::int64_t> all(count + 2, 1);
  for (std::size_t k = 0; k < count; ++k) {
    const std::int64_t n = numbers[numbers.size() == 1 ? 0 : k];
    if (n < 1) throw invalid_argument("The `" + std::string(what) + "` argument has " + std::to_string(n) + ", not 1 or more");
    all[order == axis_order::channels_first ? k + 2 : k + 1] = n;
  }
  return all;
}
LEAT_FUNCTION std::string order_text(int axes, axis_order order) {
  if (axes == 3) return order == axis_order::channels_first ? "NCDHW" : "NDHWC";
  return order == axis_order::channels_first ? "NCHW" : "NHWC";
}
LEAT_FUNCTION attribute_map space_attributes(const space_options& options, int axes) {
  attribute_map made = window_attributes(along_space(options.strides, axes, options.order, "strides"), options.pad);
  made["data_format"] = order_text(axes, options.order);
  return made;
}
LEAT_FUNCTION attribute_map attributes_of_convolution(const space_options& options, int axes) {
  attribute_map made = space_attributes(options, axes);
  made["dilations"] = along_space(options.dilations, axes, options.order, "dilation_rate");
  return made;
}

LEAT_FUNCTION output convolution(std::string_view type, int axes, const output& x, const output& filters, const space_options& options,
                                 std::string_view name) {
  return call_operator(x.owner(), type, {x, filters}, attributes_of_convolution(options, axes), name).result();
}
LEAT_FUNCTION output transposed_convolution(std::string_view type, int axes, const output& x, const output& filters,
                                            const operand_value& sizes, const space_options& options, std::string_view name) {
  const name_scope scope(x.owner(), name);
  const number_argument extent = sizes.tensor() != nullptr ? number_argument(*sizes.tensor()) : number_argument(*sizes.literal());
  return call_operator(x.owner(), type, {extent, filters, x}, attributes_of_convolution(options, axes), scope.text()).result();
}
LEAT_FUNCTION output pooled(std::string_view type, int axes, const output& x, const std::vector<std::int64_t>& window,
                            const space_options& options, std::string_view name) {
  for (const std::int64_t n : options.dilations)
    if (n != 1) throw invalid_argument(std::string(type) + ": a dilation of " + std::to_string(n) + "; pools have none");
  attribute_map attributes = space_attributes(options, axes);
  attributes["ksize"] = along_space(window, axes, options.order, "pool_size");
  return call_operator(x.owner(), type, {x}, std::move(attributes), name).result();
}
// The numbers of images that are sequences: the new axis comes before the axis of the sequence.
LEAT_FUNCTION std::vector<std::int64_t> beside_one(const std::vector<std::int64_t>& numbers, std::string_view what) {
  if (numbers.size() != 1) throw invalid_argument("The `" + std::string(what) + "` argument of a sequence must be 1 integer");
  return {1, numbers[0]};
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION output conv1d(const output& values, const output& filters, const space_options& options, std::string_view name,
                            const std::source_location& where) {
  const source_scope line(values.owner(), where);
  space_options images = options;
  images.strides = detail::beside_one(options.strides, "strides");
  images.dilations = detail::beside_one(options.dilations, "dilation_rate");
  const name_scope scope(values.owner(), name);
  const std::int32_t axis = options.order == axis_order::channels_first ? -2 : -3;
  const output rows = expand_dims(values, index_list{axis}, "ExpandDims", where);
  const output flat = expand_dims(filters, index_list{0}, "ExpandDims", where);
  const output y = detail::convolution("Conv2D", 2, rows, flat, images, scope.text());
  return squeeze(y, {axis}, "Squeeze", where);
}
LEAT_FUNCTION output conv2d(const output& images, const output& filters, const space_options& options, std::string_view name,
                            const std::source_location& where) {
  const source_scope line(images.owner(), where);
  return detail::convolution("Conv2D", 2, images, filters, options, name);
}
LEAT_FUNCTION output conv3d(const output& volumes, const output& filters, const space_options& options, std::string_view name,
                            const std::source_location& where) {
  const source_scope line(volumes.owner(), where);
  return detail::convolution("Conv3D", 3, volumes, filters, options, name);
}

LEAT_FUNCTION output depthwise_conv2d(const output& images, const output& filters, const space_options& options, std::string_view name,
                                      const std::source_location& where) {
  const source_scope line(images.owner(), where);
  return detail::convolution("DepthwiseConv2dNative", 2, images, filters, options, name);
}
LEAT_FUNCTION output separable_conv2d(const output& images, const output& depthwise_filters, const output& pointwise_filters,
                                      const space_options& options, std::string_view name, const std::source_location& where) {
  const source_scope line(images.owner(), where);
  const name_scope scope(images.owner(), name);
  const output channels = depthwise_conv2d(images, depthwise_filters, options, "depthwise", where);
  return detail::convolution("Conv2D", 2, channels, pointwise_filters, {.order = options.order}, scope.text());
}

LEAT_FUNCTION output conv2d_transpose(const output& values, const output& filters, const operand_value& sizes, const space_options& options,
                                      std::string_view name, const std::source_location& where) {
  const source_scope line(values.owner(), where);
  return detail::transposed_convolution("Conv2DBackpropInput", 2, values, filters, sizes, options, name);
}
LEAT_FUNCTION output conv3d_transpose(const output& values, const output& filters, const operand_value& sizes, const space_options& options,
                                      std::string_view name, const std::source_location& where) {
  const source_scope line(values.owner(), where);
  return detail::transposed_convolution("Conv3DBackpropInputV2", 3, values, filters, sizes, options, name);
}

LEAT_FUNCTION output max_pool2d(const output& images, const std::vector<std::int64_t>& window, const space_options& options,
                                std::string_view name, const std::source_location& where) {
  const source_scope line(images.owner(), where);
  return detail::pooled("MaxPool", 2, images, window, options, name);
}
LEAT_FUNCTION output avg_pool2d(const output& images, const std::vector<std::int64_t>& window, const space_options& options,
                                std::string_view name, const std::source_location& where) {
  const source_scope line(images.owner(), where);
  return detail::pooled("AvgPool", 2, images, window, options, name);
}
LEAT_FUNCTION output max_pool3d(const output& volumes, const std::vector<std::int64_t>& window, const space_options& options,
                                std::string_view name, const std::source_location& where) {
  const source_scope line(volumes.owner(), where);
  return detail::pooled("MaxPool3D", 3, volumes, window, options, name);
}
LEAT_FUNCTION output avg_pool3d(const output& volumes, const std::vector<std::int64_t>& window, const space_options& options,
                                std::string_view name, const std::source_location& where) {
  const source_scope line(volumes.owner(), where);
  return detail::pooled("AvgPool3D", 3, volumes, window, options, name);
}

}  // namespace leat
