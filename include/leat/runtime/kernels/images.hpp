#pragma once
// Kernels of convolution and pooling (cpu/images.hpp), for images of either layout: NCHW is transposed before and after.

#include <leat/core/fill.hpp>
#include <leat/cpu/images.hpp>
#include <leat/named/definitions/nn.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/walk.hpp>

namespace leat::runtime {

/// The attributes of such a node: what they say of the two axes of an image.
class image_settings {
 public:
  explicit image_settings(const kernel_node& n) : node_(n) {
    const std::string format = n.attribute<std::string>("data_format", "NHWC");
    if (format != "NHWC" && format != "NCHW") throw invalid_argument("data_format '" + format + "' is neither NHWC nor NCHW");
    is_channels_first_ = format == "NCHW";
    padding_ = n.text("padding");
    if (padding_ != "SAME" && padding_ != "VALID" && padding_ != "EXPLICIT")
      throw invalid_argument("padding '" + padding_ + "' is none of SAME, VALID and EXPLICIT");
    explicit_ = n.list<std::int64_t>("explicit_paddings");
    if ((padding_ == "EXPLICIT") != !explicit_.empty() || (padding_ == "EXPLICIT" && explicit_.size() != 8))
      throw invalid_argument("explicit_paddings must have 8 elements where padding is EXPLICIT, and none elsewhere");
  }

  bool is_channels_first() const { return is_channels_first_; }
  /// An image's shape, as [batch, h, w, channels]. Errors: invalid_argument if its rank is not 4.
  shape channels_last(const shape& s, std::string_view what) const {
    if (s.rank != 4) throw invalid_argument(std::string(what) + " must be 4-dimensional, not " + brackets(s));
    if (!is_channels_first_) return s;
    shape moved;
    for (const int axis : {0, 2, 3, 1}) moved.push(s[axis]);
    return moved;
  }
  /// The shape of a result in the node's layout.
  shape in_layout(const shape& s) const {
    if (!is_channels_first_) return s;
    shape moved;
    for (const int axis : {0, 3, 1, 2}) moved.push(s[axis]);
    return moved;
  }
  /// An attribute's number for axis 0 (h) or 1 (w); those for the batch and the channels must be 1.
  std::int64_t number(std::string_view name, int axis) const {
    const auto list = node_.list<std::int64_t>(name);
    if (list.empty()) return 1;
    if (list.size() != 4) throw invalid_argument(std::string(name) + " must have 4 elements, not " + std::to_string(list.size()));
    const std::size_t space = is_channels_first_ ? 2 : 1;
    for (std::size_t k = 0; k < 4; ++k) {
      if (list[k] < 1) throw invalid_argument(std::string(name) + " must be positive, not " + std::to_string(list[k]));
      if ((k < space || k > space + 1) && list[k] != 1)
        throw unimplemented(std::string(name) + " of the batch or of the channels must be 1, not " + std::to_string(list[k]));
    }
    return list[space + static_cast<std::size_t>(axis)];
  }
  /// The windows of `window` elements along an axis of this size. Errors: invalid_argument if the window does not fit.
  cpu::window_axis windows(int axis, std::int64_t size, std::int64_t window) const {
    cpu::window_axis a{.size = size, .window = window, .stride = number("strides", axis), .dilation = number("dilations", axis)};
    if (window < 1) throw invalid_argument("a window must have at least one element, not " + std::to_string(window));
    std::int64_t span = 0;
    if (!multiplies(window - 1, a.dilation, span) || span >= max_elements || size >= max_elements || a.stride >= max_elements)
      throw invalid_argument("a window of " + std::to_string(window) + " elements with dilation " + std::to_string(a.dilation) +
                             " and stride " + std::to_string(a.stride) + " is too large");
    ++span;
    std::int64_t padded = size;
    if (padding_ == "SAME") {
      a.count = (size + a.stride - 1) / a.stride;
      a.before = std::max<std::int64_t>((a.count - 1) * a.stride + span - size, 0) / 2;
      return a;
    }
    if (padding_ == "EXPLICIT") {
      const std::size_t at = 2 * ((is_channels_first_ ? 2 : 1) + static_cast<std::size_t>(axis));
      for (const std::int64_t p : explicit_)
        if (p < 0 || p >= max_elements) throw invalid_argument("explicit_paddings must be 0 or more, not " + std::to_string(p));
      a.before = explicit_[at];
      padded += explicit_[at] + explicit_[at + 1];
    }
    if (padded < span)
      throw invalid_argument("Computed output size would be negative: " + std::to_string((padded - span) / a.stride + 1) +
                             " [input_size: " + std::to_string(size) + ", effective_filter_size: " + std::to_string(span) +
                             ", stride: " + std::to_string(a.stride) + "]");
    a.count = (padded - span) / a.stride + 1;
    return a;
  }

 private:
  const kernel_node& node_;
  bool is_channels_first_ = false;
  std::string padding_;
  std::vector<std::int64_t> explicit_;
};

/// [n, rows, columns] as [n, columns, rows].
template <class T>
void transpose_images(const T* from, std::int64_t n, std::int64_t rows, std::int64_t columns, T* to) {
  for (std::int64_t image = 0; image < n; ++image, from += rows * columns, to += rows * columns)
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t k = 0; k < columns; ++k) to[k * rows + r] = from[r * columns + k];
}
/// Images with their channels last, as the loops want them; `held` keeps a copy if one is made.
template <class T>
const T* channels_last(const image_settings& settings, const tensor_value& images, tensor_value& held) {
  if (!settings.is_channels_first()) return images.values<T>().data();
  const shape& s = images.extent();
  held = tensor_value(images.type(), settings.channels_last(s, "images"));
  transpose_images(images.values<T>().data(), s[0], s[1], s[2] * s[3], held.values<T>().data());
  return held.values<T>().data();
}
/// Makes the images [batch, h, w, channels] by `fill` and sets them as the result, in the node's layout.
template <class T, class Fill>
void set_images(kernel_context& c, const image_settings& settings, dtype type, const shape& s, Fill fill) {
  tensor_value made(type, s);
  fill(made.values<T>().data());
  if (!settings.is_channels_first()) return c.set(0, std::move(made));
  tensor_value turned(type, settings.in_layout(s));
  transpose_images(made.values<T>().data(), s[0], s[1] * s[2], s[3], turned.values<T>().data());
  c.set(0, std::move(turned));
}

// Convolutions take floating point and int32, as TensorFlow's do.
template <class F>
void with_convolved(dtype type, F f) {
  if (type == dtype::float32) f(float{});
  else if (type == dtype::float64) f(double{});
  else if (type == dtype::int32) f(std::int32_t{});
  else throw unimplemented("no kernel for dtype " + dtype_name(type));
}
template <class F>
void with_averaged(dtype type, F f) {
  if (type == dtype::float32) f(float{});
  else if (type == dtype::float64) f(double{});
  else throw unimplemented("no kernel for dtype " + dtype_name(type));
}

inline shape sizes_shape(const std::vector<std::int64_t>& sizes, std::string_view what) {
  if (sizes.size() != 4) throw invalid_argument(std::string(what) + " must have 4 elements, not " + std::to_string(sizes.size()));
  shape s;
  for (const std::int64_t n : sizes) {
    if (n < 0) throw invalid_argument(std::string(what) + " must not be negative: " + std::to_string(n));
    s.push(n);
  }
  return s;
}
/// The convolution of images [batch, h, w, channels] with filters [h, w, channels, filters]; depthwise with filters [h, w, channels,
/// multiplier], which have the same layout as [h, w, 1, channels * multiplier].
template <bool IsDepthwise>
cpu::convolution convolution_of(const image_settings& settings, const shape& image, shape filter) {
  if (filter.rank != 4) throw invalid_argument("filter must be 4-dimensional, not " + brackets(filter));
  if constexpr (IsDepthwise) {
    if (filter[2] != image[3])
      throw invalid_argument("input and filter must have the same depth: " + std::to_string(image[3]) + " vs " + std::to_string(filter[2]));
    filter = leat::detail::depthwise_filter(filter);
  }
  if (filter[2] < 1) throw invalid_argument("filter depth must be positive, not " + std::to_string(filter[2]));
  if (image[3] % filter[2] != 0)
    throw invalid_argument("input depth must be evenly divisible by filter depth: " + std::to_string(image[3]) + " vs " +
                           std::to_string(filter[2]));
  cpu::convolution made;
  made.in = {image[0], image[3], settings.windows(0, image[1], filter[0]), settings.windows(1, image[2], filter[1])};
  made.filters = filter[3];
  made.groups = std::max<std::int64_t>(image[3] / filter[2], 1);
  if (filter[3] % made.groups != 0)
    throw invalid_argument("the number of filters, " + std::to_string(filter[3]) + ", is no multiple of that of groups, " +
                           std::to_string(made.groups));
  return made;
}
inline shape result_shape(const cpu::convolution& how) {
  shape s;
  for (const std::int64_t n : {how.in.batch, how.in.h.count, how.in.w.count, how.filters}) s.push(n);
  return s;
}
inline void want_shape(const shape& given, const shape& wanted, std::string_view what) {
  if (!(given == wanted))
    throw invalid_argument(std::string(what) + " has the shape " + brackets(given) + ", where " + brackets(wanted) + " is expected");
}

template <bool IsDepthwise>
void run_convolution(kernel_context& c) {
  const image_settings settings(c.node);
  const tensor_value images = c.input(0), filters = c.input(1);
  const auto how = convolution_of<IsDepthwise>(settings, settings.channels_last(images.extent(), "input"), filters.extent());
  with_convolved(images.type(), [&]<class T>(T) {
    tensor_value held;
    const T* const from = channels_last<T>(settings, images, held);
    set_images<T>(c, settings, images.type(), result_shape(how), [&](T* to) { cpu::convolve(how, from, filters.values<T>().data(), to); });
  });
}
template <bool IsDepthwise>
void run_convolution_back_to_images(kernel_context& c) {
  const image_settings settings(c.node);
  const shape sizes = settings.channels_last(sizes_shape(c.numbers(0), "input_sizes"), "input_sizes");
  const tensor_value filters = c.input(1), dy = c.input(2);
  const auto how = convolution_of<IsDepthwise>(settings, sizes, filters.extent());
  want_shape(settings.channels_last(dy.extent(), "out_backprop"), result_shape(how), "out_backprop");
  with_convolved(dy.type(), [&]<class T>(T) {
    tensor_value held;
    const T* const slope = channels_last<T>(settings, dy, held);
    set_images<T>(c, settings, dy.type(), sizes,
                  [&](T* to) { cpu::convolve_back_to_images(how, filters.values<T>().data(), slope, to); });
  });
}
template <bool IsDepthwise>
void run_convolution_back_to_filters(kernel_context& c) {
  const image_settings settings(c.node);
  const tensor_value images = c.input(0), dy = c.input(2);
  const shape filter = sizes_shape(c.numbers(1), "filter_sizes");
  const auto how = convolution_of<IsDepthwise>(settings, settings.channels_last(images.extent(), "input"), filter);
  want_shape(settings.channels_last(dy.extent(), "out_backprop"), result_shape(how), "out_backprop");
  with_convolved(dy.type(), [&]<class T>(T) {
    tensor_value held_images, held_slope, made(dy.type(), filter);
    const T* const from = channels_last<T>(settings, images, held_images);
    const T* const slope = channels_last<T>(settings, dy, held_slope);
    cpu::convolve_back_to_filters(how, from, slope, made.values<T>().data());
    c.set(0, std::move(made));
  });
}

/// Windows of a pooling node over images [batch, h, w, channels].
inline cpu::image_windows pooling_of(const image_settings& settings, const shape& image) {
  return {image[0], image[3], settings.windows(0, image[1], settings.number("ksize", 0)),
          settings.windows(1, image[2], settings.number("ksize", 1))};
}
inline shape result_shape(const cpu::image_windows& in) {
  shape s;
  for (const std::int64_t n : {in.batch, in.h.count, in.w.count, in.channels}) s.push(n);
  return s;
}
inline void run_max_pool(kernel_context& c) {
  const image_settings settings(c.node);
  const tensor_value images = c.input(0);
  const auto in = pooling_of(settings, settings.channels_last(images.extent(), "tensor_in"));
  with_number(images.type(), [&]<class T>(T) {
    tensor_value held;
    const T* const from = channels_last<T>(settings, images, held);
    set_images<T>(c, settings, images.type(), result_shape(in), [&](T* to) { cpu::max_pool(in, from, to); });
  });
}
inline void run_max_pool_back(kernel_context& c) {
  const image_settings settings(c.node);
  const tensor_value images = c.input(0), dy = c.input(2);
  const shape image = settings.channels_last(images.extent(), "orig_input");
  const auto in = pooling_of(settings, image);
  want_shape(settings.channels_last(c.input(1).extent(), "orig_output"), result_shape(in), "orig_output");
  want_shape(settings.channels_last(dy.extent(), "grad"), result_shape(in), "grad");
  with_number(images.type(), [&]<class T>(T) {
    tensor_value held_images, held_slope;
    const T* const from = channels_last<T>(settings, images, held_images);
    const T* const slope = channels_last<T>(settings, dy, held_slope);
    set_images<T>(c, settings, images.type(), image, [&](T* to) { cpu::max_pool_back(in, from, slope, to); });
  });
}
inline void run_max_pool_back_back(kernel_context& c) {
  const image_settings settings(c.node);
  const tensor_value images = c.input(0), slopes = c.input(2);
  const auto in = pooling_of(settings, settings.channels_last(images.extent(), "orig_input"));
  want_shape(settings.channels_last(c.input(1).extent(), "orig_output"), result_shape(in), "orig_output");
  want_shape(slopes.extent(), images.extent(), "grad");
  with_number(images.type(), [&]<class T>(T) {
    tensor_value held_images, held_slopes;
    const T* const from = channels_last<T>(settings, images, held_images);
    const T* const taken = channels_last<T>(settings, slopes, held_slopes);
    set_images<T>(c, settings, images.type(), result_shape(in), [&](T* to) { cpu::max_pool_back_back(in, from, taken, to); });
  });
}
inline void run_average_pool(kernel_context& c) {
  const image_settings settings(c.node);
  const tensor_value images = c.input(0);
  const auto in = pooling_of(settings, settings.channels_last(images.extent(), "tensor_in"));
  with_averaged(images.type(), [&]<class T>(T) {
    tensor_value held;
    const T* const from = channels_last<T>(settings, images, held);
    set_images<T>(c, settings, images.type(), result_shape(in), [&](T* to) { cpu::average_pool(in, from, to); });
  });
}
inline void run_average_pool_back(kernel_context& c) {
  const image_settings settings(c.node);
  const shape image = settings.channels_last(sizes_shape(c.numbers(0), "orig_input_shape"), "orig_input_shape");
  const tensor_value dy = c.input(1);
  const auto in = pooling_of(settings, image);
  want_shape(settings.channels_last(dy.extent(), "grad"), result_shape(in), "grad");
  with_averaged(dy.type(), [&]<class T>(T) {
    tensor_value held;
    const T* const slope = channels_last<T>(settings, dy, held);
    set_images<T>(c, settings, dy.type(), image, [&](T* to) { cpu::average_pool_back(in, slope, to); });
  });
}

LEAT_FILL(fill_image_kernels) {
  register_kernel("Conv2D", run_convolution<false>);
  register_kernel("Conv2DBackpropInput", run_convolution_back_to_images<false>);
  register_kernel("Conv2DBackpropFilter", run_convolution_back_to_filters<false>);
  register_kernel("DepthwiseConv2dNative", run_convolution<true>);
  register_kernel("DepthwiseConv2dNativeBackpropInput", run_convolution_back_to_images<true>);
  register_kernel("DepthwiseConv2dNativeBackpropFilter", run_convolution_back_to_filters<true>);
  register_kernel("MaxPool", run_max_pool);
  register_kernel("MaxPoolGrad", run_max_pool_back);
  register_kernel("MaxPoolGradGrad", run_max_pool_back_back);
  register_kernel("AvgPool", run_average_pool);
  register_kernel("AvgPoolGrad", run_average_pool_back);
}

}  // namespace leat::runtime
