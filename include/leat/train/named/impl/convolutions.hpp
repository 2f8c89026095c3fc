#pragma once
// Implementation of named/convolutions.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/convolution.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/named/functions/shape.hpp>
#include <leat/named/functions/slice.hpp>
#include <leat/named/graph/lookup.hpp>
#include <leat/train/named/convolutions.hpp>
#include <leat/train/named/impl/layers.hpp>

namespace leat::layers::detail {

// The numbers of a setting, one for each axis of space.
LEAT_FUNCTION std::vector<std::int64_t> each_of(const along_axes& given, int axes, std::string_view kind, std::string_view setting) {
  const auto count = static_cast<std::size_t>(axes);
  std::string text;
  for (const std::int64_t n : given.of) text += (text.empty() ? "" : ", ") + std::to_string(n);
  const auto refuse = [&](const std::string& why) {
    return invalid_argument(std::string(kind) + ": The `" + std::string(setting) + "` argument must be a tuple of " + std::to_string(axes) +
                            " integers. Received: (" + text + ")" + why);
  };
  if (given.of.size() != 1 && given.of.size() != count) throw refuse("");
  for (const std::int64_t n : given.of)
    if (n < 1 || n > INT32_MAX) throw refuse(", where " + std::to_string(n) + " is not in [1, 2^31)");
  return given.of.size() == 1 ? std::vector<std::int64_t>(count, given.of[0]) : given.of;
}

// What layers that convolve have in common.
struct convolved_axes {
  std::string kind;
  int axes;
  std::vector<std::int64_t> size, strides, dilations;
  padding pad;
  axis_order order;

  template <class Options>
  convolved_axes(std::string its_kind, int its_axes, const along_axes& its_size, const Options& options)
      : kind(std::move(its_kind)),
        axes(its_axes),
        size(each_of(its_size, axes, kind, "kernel_size")),
        strides(each_of(options.strides, axes, kind, "strides")),
        dilations(each_of(options.dilation_rate, axes, kind, "dilation_rate")),
        pad(options.pad),
        order(options.order) {
    const auto is_more = [](std::int64_t n) { return n > 1; };
    if (std::ranges::any_of(strides, is_more) && std::ranges::any_of(dilations, is_more))
      throw invalid_argument(kind + ": `strides > 1` not supported in conjunction with `dilation_rate > 1`");
  }
  bool is_channels_first() const { return order == axis_order::channels_first; }
  space_options settings() const { return {strides, pad, order, dilations}; }
  int first_of_space() const { return is_channels_first() ? 2 : 1; }

  // The number of channels of the inputs, which have this many axes of space.
  std::int64_t channels_of(const output& x) const {
    if (!is_floating(x.type())) throw invalid_argument(kind + ": inputs are floating point, not " + describe(x));
    if (!x.extent().has_rank() || x.extent().rank != axes + 2)
      throw invalid_argument("Input 0 of layer \"" + kind + "\" is incompatible with the layer: expected ndim=" + std::to_string(axes + 2) +
                             ", found " + describe(x));
    const std::int64_t channels = x.extent()[is_channels_first() ? 1 : axes + 1];
    if (channels < 0)
      throw invalid_argument(kind + ": The channel dimension of the inputs should be defined. The input received is " + describe(x));
    return channels;
  }
  shape kernel_shape(std::initializer_list<std::int64_t> last) const {
    shape made;
    for (const std::int64_t n : size) made.push(n);
    for (const std::int64_t n : last) made.push(n);
    return made;
  }
};

LEAT_FUNCTION std::int64_t checked_filters(std::string_view kind, std::int64_t filters) {
  if (filters < 1 || filters > INT32_MAX)
    throw invalid_argument(std::string(kind) + ": filters is " + std::to_string(filters) + ", not 1 or more");
  return filters;
}

// y + bias along the channels. Sequences with the channels first have no BiasAdd.
LEAT_FUNCTION output with_bias(const output& y, const output& bias, const convolved_axes& how) {
  if (!how.is_channels_first()) return bias_add(y, bias);
  if (how.axes == 1) {
    const output column =
        reshape(bias, index_list{std::vector<std::int32_t>{1, static_cast<std::int32_t>(bias.extent()[0]), 1}}, "Reshape");
    return add(y, column, "add");
  }
  return call_operator(y.owner(), "BiasAdd", {y, bias}, {{"data_format", "NCHW"}}, "BiasAdd").result();
}
LEAT_FUNCTION output finished(const output& y, const activation_function& activation) { return activation ? activation(y) : y; }

struct kernel_settings {
  const first_value& first;
  const variable_regularizer& regularizer;
  bool trainable;
};
LEAT_FUNCTION output kernel_of(layer::state& its, std::string_view name, const shape& extent, dtype type, const kernel_settings& settings) {
  return variable_of(its, name, extent,
                     {.type = type, .initializer = settings.first, .regularizer = settings.regularizer, .trainable = settings.trainable});
}
template <class Options>
output bias_of(layer::state& its, std::int64_t filters, dtype type, const Options& options) {
  if (!options.use_bias) return {};
  return kernel_of(its, "bias", shape_value({filters}), type, {options.bias_initializer, options.bias_regularizer, options.trainable});
}

LEAT_FUNCTION output call_convolution(layer::state& its, const output& x, std::int64_t filters, const convolved_axes& how,
                                      const convolution_options& options) {
  const std::int64_t channels = how.channels_of(x);
  const output kernel = kernel_of(its, "kernel", how.kernel_shape({channels, filters}), x.type(),
                                  {options.kernel_initializer, options.kernel_regularizer, options.trainable});
  const output bias = bias_of(its, filters, x.type(), options);
  const space_options settings = how.settings();
  output y = how.axes == 1   ? leat::conv1d(x, kernel, settings, "Conv1D")
             : how.axes == 2 ? leat::conv2d(x, kernel, settings, "Conv2D")
                             : leat::conv3d(x, kernel, settings, "Conv3D");
  if (options.use_bias) y = with_bias(y, bias, how);
  return finished(y, options.activation);
}

// The size of a transposed convolution's result along an axis: n stride, and what a window exceeds its stride where it is not padded.
LEAT_FUNCTION std::int64_t excess_of(const convolved_axes& how, std::size_t axis) {
  return how.pad == padding::same ? 0 : std::max<std::int64_t>(how.size[axis] - how.strides[axis], 0);
}
LEAT_FUNCTION std::int64_t transposed_size(const convolved_axes& how, std::size_t axis, std::int64_t n) {
  std::int64_t made = 0;
  if (!multiplies(n, how.strides[axis], made) || made + excess_of(how, axis) > INT32_MAX)
    throw invalid_argument(how.kind + ": " + std::to_string(n) + " windows with strides of " + std::to_string(how.strides[axis]) +
                           " are too large");
  return made + excess_of(how, axis);
}
LEAT_FUNCTION output call_transposed(layer::state& its, const output& x, std::int64_t filters, const convolved_axes& how,
                                     const convolution_options& options) {
  const std::int64_t channels = how.channels_of(x);
  const output kernel = kernel_of(its, "kernel", how.kernel_shape({filters, channels}), x.type(),
                                  {options.kernel_initializer, options.kernel_regularizer, options.trainable});
  const output bias = bias_of(its, filters, x.type(), options);
  graph& g = x.owner();
  const output sizes = shape_of(x, "Shape");
  const output batch = index(sizes, {0});
  shape known = x.extent();
  known.dim[how.is_channels_first() ? 1 : how.axes + 1] = filters;
  const auto count = static_cast<std::size_t>(how.axes);
  std::vector<output> space(count);
  for (std::size_t k = 0; k < count; ++k) {
    const int axis = how.first_of_space() + static_cast<int>(k);
    if (known[axis] < 0) space[k] = index(sizes, {axis});
    else known.dim[axis] = transposed_size(how, k, known[axis]);
  }
  for (std::size_t k = 0; k < count; ++k) {
    if (!static_cast<bool>(space[k])) continue;
    space[k] = multiply(space[k], static_cast<std::int32_t>(how.strides[k]), "mul");
    if (how.pad == padding::valid) space[k] = add(space[k], static_cast<std::int32_t>(excess_of(how, k)), "add");
  }
  output extent;
  {
    const name_scope scope(g, "stack");
    std::vector<number_argument> parts{batch};
    for (int axis = 1; axis < known.rank; ++axis) {
      const int of_space = axis - how.first_of_space();
      if (of_space >= 0 && of_space < how.axes && static_cast<bool>(space[static_cast<std::size_t>(of_space)]))
        parts.push_back(space[static_cast<std::size_t>(of_space)]);
      else parts.push_back(g.named().make_constant(g, static_cast<std::int32_t>(known[axis]), std::to_string(axis)));
    }
    extent = call_operator(g, "Pack", parts, {}, scope.text()).result();
  }
  const space_options settings = how.settings();
  output y = how.axes == 2 ? leat::conv2d_transpose(x, kernel, extent, settings) : leat::conv3d_transpose(x, kernel, extent, settings);
  set_shape(y, known);
  if (options.use_bias) y = with_bias(y, bias, how);
  return finished(y, options.activation);
}

LEAT_FUNCTION output call_depthwise(layer::state& its, const output& x, const convolved_axes& how, const separable_options& options) {
  const std::int64_t channels = how.channels_of(x);
  const output kernel = kernel_of(its, "depthwise_kernel", how.kernel_shape({channels, options.depth_multiplier}), x.type(),
                                  {options.depthwise_initializer, options.depthwise_regularizer, options.trainable});
  const output bias = bias_of(its, channels * options.depth_multiplier, x.type(), options);
  output y = leat::depthwise_conv2d(x, kernel, how.settings(), "depthwise");
  if (options.use_bias) y = with_bias(y, bias, how);
  return finished(y, options.activation);
}
LEAT_FUNCTION output call_separable(layer::state& its, const output& x, std::int64_t filters, const convolved_axes& how,
                                    const separable_options& options) {
  const std::int64_t channels = how.channels_of(x);
  const output depthwise = kernel_of(its, "depthwise_kernel", how.kernel_shape({channels, options.depth_multiplier}), x.type(),
                                     {options.depthwise_initializer, options.depthwise_regularizer, options.trainable});
  shape at_each;
  for (int k = 0; k < how.axes; ++k) at_each.push(1);
  at_each.push(channels * options.depth_multiplier);
  at_each.push(filters);
  const output pointwise = kernel_of(its, "pointwise_kernel", at_each, x.type(),
                                     {options.pointwise_initializer, options.pointwise_regularizer, options.trainable});
  const output bias = bias_of(its, filters, x.type(), options);
  if (how.axes == 2) {
    output y = leat::separable_conv2d(x, depthwise, pointwise, how.settings());
    if (options.use_bias) y = with_bias(y, bias, how);
    return finished(y, options.activation);
  }
  // A sequence is an image of one row. TensorFlow has both strides alike.
  convolved_axes rows = how;
  rows.axes = 2;
  rows.strides.push_back(how.strides[0]);
  rows.dilations.insert(rows.dilations.begin(), 1);
  const int row = rows.first_of_space();
  const output image = expand_dims(x, index_list{row}, "ExpandDims");
  const output of_channels = expand_dims(depthwise, index_list{0}, "ExpandDims");
  const output of_positions = expand_dims(pointwise, index_list{0}, "ExpandDims");
  output y = leat::separable_conv2d(image, of_channels, of_positions, rows.settings());
  if (options.use_bias) y = with_bias(y, bias, rows);
  return finished(squeeze(y, {row}, "Squeeze"), options.activation);
}

LEAT_FUNCTION layer convolution_layer(std::string kind, int axes, std::int64_t filters, const along_axes& size,
                                      const convolution_options& options) {
  const convolved_axes how(kind, axes, size, options);
  checked_filters(kind, filters);
  return made(std::move(kind), options.name, options.reuse,
              [filters, how, options](layer::state& its, const output& x) { return call_convolution(its, x, filters, how, options); });
}
LEAT_FUNCTION layer transposed_layer(std::string kind, int axes, std::int64_t filters, const along_axes& size,
                                     const convolution_options& options) {
  const convolved_axes how(kind, axes, size, options);
  checked_filters(kind, filters);
  for (const std::int64_t n : how.dilations)
    if (n != 1) throw invalid_argument(kind + ": a dilation rate of " + std::to_string(n) + "; it has none");
  return made(std::move(kind), options.name, options.reuse,
              [filters, how, options](layer::state& its, const output& x) { return call_transposed(its, x, filters, how, options); });
}
LEAT_FUNCTION void check_multiplier(std::string_view kind, const separable_options& options) {
  if (options.depth_multiplier < 1 || options.depth_multiplier > INT32_MAX)
    throw invalid_argument(std::string(kind) + ": depth_multiplier is " + std::to_string(options.depth_multiplier) + ", not 1 or more");
}
LEAT_FUNCTION layer separable_layer(std::string kind, int axes, std::int64_t filters, const along_axes& size,
                                    const separable_options& options) {
  const convolved_axes how(kind, axes, size, options);
  checked_filters(kind, filters);
  check_multiplier(kind, options);
  return made(std::move(kind), options.name, options.reuse,
              [filters, how, options](layer::state& its, const output& x) { return call_separable(its, x, filters, how, options); });
}

using pool_function = output (*)(const output&, const std::vector<std::int64_t>&, const space_options&, std::string_view,
                                 const std::source_location&);
LEAT_FUNCTION layer pooling_layer(std::string kind, int axes, pool_function pool, std::string node, const along_axes& size,
                                  const along_axes& strides, const pooling_options& options) {
  const auto window = each_of(size, axes, kind, "pool_size"), steps = each_of(strides, axes, kind, "strides");
  std::string name = options.name;
  const bool is_first = options.order == axis_order::channels_first;
  return made(kind, std::move(name), {}, [=, pad = options.pad, order = options.order](layer::state&, const output& x) {
    if (!x.extent().has_rank() || x.extent().rank != axes + 2)
      throw invalid_argument("Input 0 of layer \"" + kind + "\" is incompatible with the layer: expected ndim=" + std::to_string(axes + 2) +
                             ", found " + describe(x));
    if (axes != 1) return pool(x, window, {steps, pad, order}, node, std::source_location::current());
    // A sequence is an image of one column.
    const std::int32_t column = is_first ? 3 : 2;
    const output image = expand_dims(x, index_list{column}, "ExpandDims");
    const output y = pool(image, {window[0], 1}, {{steps[0], 1}, pad, order}, node, std::source_location::current());
    return squeeze(y, {column}, "Squeeze");
  });
}

}  // namespace leat::layers::detail

namespace leat::layers {

LEAT_FUNCTION layer conv1d(std::int64_t filters, const along_axes& size, const convolution_options& options) {
  return detail::convolution_layer("conv1d", 1, filters, size, options);
}
LEAT_FUNCTION output conv1d(const output& x, std::int64_t filters, const along_axes& size, const convolution_options& options,
                            const std::source_location& where) {
  return conv1d(filters, size, options)(x, where);
}
LEAT_FUNCTION layer conv2d(std::int64_t filters, const along_axes& size, const convolution_options& options) {
  return detail::convolution_layer("conv2d", 2, filters, size, options);
}
LEAT_FUNCTION output conv2d(const output& x, std::int64_t filters, const along_axes& size, const convolution_options& options,
                            const std::source_location& where) {
  return conv2d(filters, size, options)(x, where);
}
LEAT_FUNCTION layer conv3d(std::int64_t filters, const along_axes& size, const convolution_options& options) {
  return detail::convolution_layer("conv3d", 3, filters, size, options);
}
LEAT_FUNCTION output conv3d(const output& x, std::int64_t filters, const along_axes& size, const convolution_options& options,
                            const std::source_location& where) {
  return conv3d(filters, size, options)(x, where);
}

LEAT_FUNCTION layer conv2d_transpose(std::int64_t filters, const along_axes& size, const convolution_options& options) {
  return detail::transposed_layer("conv2d_transpose", 2, filters, size, options);
}
LEAT_FUNCTION output conv2d_transpose(const output& x, std::int64_t filters, const along_axes& size, const convolution_options& options,
                                      const std::source_location& where) {
  return conv2d_transpose(filters, size, options)(x, where);
}
LEAT_FUNCTION layer conv3d_transpose(std::int64_t filters, const along_axes& size, const convolution_options& options) {
  return detail::transposed_layer("conv3d_transpose", 3, filters, size, options);
}
LEAT_FUNCTION output conv3d_transpose(const output& x, std::int64_t filters, const along_axes& size, const convolution_options& options,
                                      const std::source_location& where) {
  return conv3d_transpose(filters, size, options)(x, where);
}

LEAT_FUNCTION layer depthwise_conv2d(const along_axes& size, const separable_options& options) {
  const detail::convolved_axes how("depthwise_conv2d", 2, size, options);
  detail::check_multiplier(how.kind, options);
  return detail::made("depthwise_conv2d", options.name, options.reuse,
                      [how, options](layer::state& its, const output& x) { return detail::call_depthwise(its, x, how, options); });
}
LEAT_FUNCTION output depthwise_conv2d(const output& x, const along_axes& size, const separable_options& options,
                                      const std::source_location& where) {
  return depthwise_conv2d(size, options)(x, where);
}
LEAT_FUNCTION layer separable_conv1d(std::int64_t filters, const along_axes& size, const separable_options& options) {
  return detail::separable_layer("separable_conv1d", 1, filters, size, options);
}
LEAT_FUNCTION output separable_conv1d(const output& x, std::int64_t filters, const along_axes& size, const separable_options& options,
                                      const std::source_location& where) {
  return separable_conv1d(filters, size, options)(x, where);
}
LEAT_FUNCTION layer separable_conv2d(std::int64_t filters, const along_axes& size, const separable_options& options) {
  return detail::separable_layer("separable_conv2d", 2, filters, size, options);
}
LEAT_FUNCTION output separable_conv2d(const output& x, std::int64_t filters, const along_axes& size, const separable_options& options,
                                      const std::source_location& where) {
  return separable_conv2d(filters, size, options)(x, where);
}

// A pooling layer, and the same applied to images at once.
#define LEAT_POOLING_LAYER(function, axes, pool, node)                                                                               \
  LEAT_FUNCTION layer function(const along_axes& size, const along_axes& strides, const pooling_options& options) {                  \
    return detail::pooling_layer(#function, axes, leat::pool, node, size, strides, options);                                         \
  }                                                                                                                                  \
  LEAT_FUNCTION output function(const output& x, const along_axes& size, const along_axes& strides, const pooling_options& options, \
                                const std::source_location& where) {                                                                 \
    return function(size, strides, options)(x, where);                                                                               \
  }
LEAT_POOLING_LAYER(max_pooling1d, 1, max_pool2d, "MaxPool")
LEAT_POOLING_LAYER(max_pooling2d, 2, max_pool2d, "MaxPool")
LEAT_POOLING_LAYER(max_pooling3d, 3, max_pool3d, "MaxPool3D")
LEAT_POOLING_LAYER(average_pooling1d, 1, avg_pool2d, "AvgPool")
LEAT_POOLING_LAYER(average_pooling2d, 2, avg_pool2d, "AvgPool")
LEAT_POOLING_LAYER(average_pooling3d, 3, avg_pool3d, "AvgPool3D")
#undef LEAT_POOLING_LAYER

}  // namespace leat::layers
