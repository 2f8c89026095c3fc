#pragma once
// Kernels of convolution (cpu/image_steps.hpp), for images and volumes of either layout: channels first are transposed before and after.

#include <leat/core/fill.hpp>
#include <leat/cpu/image_steps.hpp>
#include <leat/named/definitions/nn.hpp>
#include <leat/runtime/kernels/class_kernel.hpp>
#include <leat/runtime/kernels/image_settings.hpp>

namespace leat::runtime {

// Convolutions take floating point and int32, as TensorFlow's do.
template <class F>
auto with_convolved(dtype type, F f) {
  if (type == dtype::float32) return f(float{});
  if (type == dtype::float64) return f(double{});
  if (type == dtype::int32) return f(std::int32_t{});
  throw unimplemented("no kernel for dtype " + dtype_name(type));
}

/// The convolution of images [batch, h, w, channels] with filters [h, w, channels, filters]; of channels with filters [h, w, channels,
/// multiplier], which have the same layout as [h, w, 1, channels * multiplier]; of volumes with one more axis of space.
template <convolved What>
convolution convolution_of(const image_settings& settings, const shape& image, shape filter) {
  constexpr int axes = axes_of(What);
  if (filter.rank != axes + 2)
    throw invalid_argument("filter must be " + std::to_string(axes + 2) + "-dimensional, not " + brackets(filter));
  const std::int64_t channels = image[axes + 1];
  if (What != convolved::images && filter[axes] != channels)  // only images have groups
    throw invalid_argument("input and filter must have the same depth: " + std::to_string(channels) + " vs " +
                           std::to_string(filter[axes]));
  if constexpr (What == convolved::channels) filter = leat::detail::depthwise_filter(filter);
  const std::int64_t depth = filter[axes];
  if (depth < 1) throw invalid_argument("filter depth must be positive, not " + std::to_string(depth));
  if (channels % depth != 0)
    throw invalid_argument("input depth must be evenly divisible by filter depth: " + std::to_string(channels) + " vs " +
                           std::to_string(depth));
  convolution made;
  made.in = settings.windows_over(image, [&](int axis) { return filter[axis]; });
  made.filters = filter[axes + 1];
  made.groups = std::max<std::int64_t>(channels / depth, 1);
  if (made.filters % made.groups != 0)
    throw invalid_argument("the number of filters, " + std::to_string(made.filters) + ", is no multiple of that of groups, " +
                           std::to_string(made.groups));
  return made;
}

template <convolved What>
auto run_convolution(kernel_context& c) {
  const image_settings settings(c.node, axes_of(What));
  const tensor_value images = c.input(0), filters = c.input(1);
  const auto how = convolution_of<What>(settings, settings.channels_last(images.extent(), "input"), filters.extent());
  return with_convolved(images.type(), [&]<class T>(T) {
    tensor_value held;
    const T* const from = channels_last<T>(settings, images, held);
    return set_images<T>(c, settings, images.type(), settings.result_shape(how.in, how.filters), [&](T* to) {
      return computed_by<convolution_op<What>>::template run<T>(how, from, filters.values<T>().data(), to);
    });
  });
}
/// The shape of a convolution's operand `k` in the nodes of its gradients: an input holds it, or with `OfArray` is an array of that shape.
template <bool OfArray>
shape operand_shape(kernel_context& c, const image_settings& settings, int k, std::string_view what) {
  if constexpr (OfArray) return c.extent(k);
  else return settings.held_shape(c.numbers(k), what);
}
template <convolved What, bool OfArray = false>
auto run_convolution_back_to_images(kernel_context& c) {
  const image_settings settings(c.node, axes_of(What));
  const shape sizes = settings.channels_last(operand_shape<OfArray>(c, settings, 0, "input_sizes"), "input_sizes");
  const tensor_value filters = c.input(1), dy = c.input(2);
  const auto how = convolution_of<What>(settings, sizes, filters.extent());
  want_shape(settings.channels_last(dy.extent(), "out_backprop"), settings.result_shape(how.in, how.filters), "out_backprop");
  return with_convolved(dy.type(), [&]<class T>(T) {
    tensor_value held;
    const T* const slope = channels_last<T>(settings, dy, held);
    return set_images<T>(c, settings, dy.type(), sizes, [&](T* to) {
      return computed_by<convolution_input_grad_op<What>>::template run<T>(how, filters.values<T>().data(), slope, to);
    });
  });
}
template <convolved What, bool OfArray = false>
auto run_convolution_back_to_filters(kernel_context& c) {
  const image_settings settings(c.node, axes_of(What));
  const tensor_value images = c.input(0), dy = c.input(2);
  const shape filter = operand_shape<OfArray>(c, settings, 1, "filter_sizes");
  const auto how = convolution_of<What>(settings, settings.channels_last(images.extent(), "input"), filter);
  want_shape(settings.channels_last(dy.extent(), "out_backprop"), settings.result_shape(how.in, how.filters), "out_backprop");
  return with_convolved(dy.type(), [&]<class T>(T) {
    tensor_value held_images, held_slope, made(dy.type(), filter);
    const T* const from = channels_last<T>(settings, images, held_images);
    const T* const slope = channels_last<T>(settings, dy, held_slope);
    using proof = computed_by<convolution_filter_grad_op<What>>;
    const auto done = made.elements() > 0 ? proof::template run<T>(how, from, slope, made.values<T>().data()) : proof::not_needed(made);
    c.set(0, std::move(made));
    return done;
  });
}

LEAT_FILL(fill_image_kernels) {
  register_class_kernel("Conv2D", run_convolution<convolved::images>);
  register_class_kernel("Conv2DBackpropInput", run_convolution_back_to_images<convolved::images>);
  register_class_kernel("Conv2DBackpropFilter", run_convolution_back_to_filters<convolved::images>);
  register_class_kernel("DepthwiseConv2dNative", run_convolution<convolved::channels>);
  register_class_kernel("DepthwiseConv2dNativeBackpropInput", run_convolution_back_to_images<convolved::channels>);
  register_class_kernel("DepthwiseConv2dNativeBackpropFilter", run_convolution_back_to_filters<convolved::channels>);
  register_class_kernel("Conv3D", run_convolution<convolved::volumes>);
  register_class_kernel("Conv3DBackpropInputV2", run_convolution_back_to_images<convolved::volumes>);
  register_class_kernel("Conv3DBackpropFilterV2", run_convolution_back_to_filters<convolved::volumes>);
  register_class_kernel("Conv3DBackpropInput", run_convolution_back_to_images<convolved::volumes, true>);
  register_class_kernel("Conv3DBackpropFilter", run_convolution_back_to_filters<convolved::volumes, true>);
}

}  // namespace leat::runtime
