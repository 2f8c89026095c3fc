#pragma once
// Windows over images: how many there are along an axis, where each begins, and how nodes write this in their attributes. Shape rules,
// kernels and imports share this text. Source: TensorFlow's `padding` and `strides`.

#include <leat/core/shape.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace leat {

/// Window positions on an image: `same` pads with zeros, so that the stride alone determines their number; `valid` has only windows that
/// are inside the image.
enum class padding { same, valid };

/// Two numbers of an image's axes: height and width, down and right. One number stands for both: `max_pool<2>` is `max_pool<hw{2, 2}>`.
struct hw {
  std::int64_t h, w;
  constexpr hw(std::int64_t both) : h(both), w(both) {}
  constexpr hw(std::int64_t down, std::int64_t right) : h(down), w(right) {}
};

/// The windows along one axis of an image.
struct window_axis {
  std::int64_t size = 1;      // of the image
  std::int64_t window = 1;    // elements of the window
  std::int64_t stride = 1;    // from window to window
  std::int64_t dilation = 1;  // from element to element of a window
  std::int64_t before = 0;    // padding before the image
  std::int64_t count = 1;     // windows

  /// The first element of a window in the image; negative in the padding.
  constexpr std::int64_t begin(std::int64_t at) const { return at * stride - before; }
  constexpr bool is_inside(std::int64_t position) const { return position >= 0 && position < size; }
  /// Whether each window is the element at its own position.
  constexpr bool is_of_elements() const { return window == 1 && stride == 1 && before == 0 && count == size; }
  /// The elements of the image from a window's first to its last; 0 if they are more than an image can have.
  constexpr std::int64_t span() const {
    std::int64_t n = 0;
    return multiplies(window - 1, dilation, n) && n < max_elements ? n + 1 : 0;
  }
};

/// Windows of a batch of volumes [batch, d, h, w, channels]. An image is a volume of one layer.
struct image_windows {
  std::int64_t batch = 0;
  std::int64_t channels = 0;
  window_axis h{}, w{}, d{};

  constexpr std::int64_t image_elements() const { return d.size * h.size * w.size * channels; }
  constexpr std::int64_t positions() const { return d.count * h.count * w.count; }
  constexpr bool is_flat() const { return d.size == 1 && d.is_of_elements(); }
  /// Elements of a window, of one channel.
  constexpr std::int64_t window_elements() const { return d.window * h.window * w.window; }
};

/// A convolution: windows over images, and filters [d, h, w, channels / groups, filters]. With several groups, group g of the filters is
/// for group g of the channels.
struct convolution {
  image_windows in;
  std::int64_t filters = 0;
  std::int64_t groups = 1;

  constexpr std::int64_t channels_of_group() const { return in.channels / groups; }
  constexpr std::int64_t filters_of_group() const { return filters / groups; }
  /// Elements that a window covers, of one group.
  constexpr std::int64_t depth() const { return in.window_elements() * channels_of_group(); }
  /// Whether the rows of windows are the pixels themselves.
  constexpr bool is_by_pixel() const { return groups == 1 && in.d.is_of_elements() && in.h.is_of_elements() && in.w.is_of_elements(); }
  constexpr bool has_strides() const { return in.d.stride != 1 || in.h.stride != 1 || in.w.stride != 1; }
};

namespace detail {

/// Where the windows along an axis may lie: as in `padding`, or with the padding that `explicit_paddings` lists.
enum class window_padding : unsigned char { same, valid, listed };
/// Where the channels of an array are: behind all other axes, or behind the batch.
enum class channel_order : unsigned char { last, first };
inline constexpr std::string_view padding_words[]{"SAME", "VALID", "EXPLICIT"};
inline constexpr std::string_view image_order_words[]{"NHWC", "NCHW"};

/// The filters [h, w, channels, multiplier] of a depthwise convolution, as those of one with a group for each channel: [h, w, 1, channels *
/// multiplier].
constexpr shape depthwise_filter(shape filter) {
  std::int64_t filters = unknown_dimension;
  if (filter[2] >= 0 && filter[3] >= 0 && (!multiplies(filter[2], filter[3], filters) || filters > max_elements)) filters = unknown_dimension;
  filter.dim[2] = 1;
  filter.dim[3] = filters;
  return filter;
}

/// Completes an axis whose size, window, stride and dilation are known: the padding before the image, and the number of windows. `listed`
/// are the paddings before and behind that `explicit_paddings` lists. False if no window fits.
constexpr bool place_windows(window_axis& a, window_padding how, const std::int64_t (&listed)[2]) {
  const std::int64_t span = a.span();
  if (how == window_padding::same) {
    a.count = a.size == 0 ? 0 : (a.size - 1) / a.stride + 1;
    a.before = std::max<std::int64_t>((a.count - 1) * a.stride + span - a.size, 0) / 2;
    return true;
  }
  const bool is_listed = how == window_padding::listed;
  a.before = is_listed ? listed[0] : 0;
  const std::int64_t room = a.size + (is_listed ? listed[0] + listed[1] : 0) - span;
  a.count = room < 0 ? 0 : room / a.stride + 1;
  return room >= 0;
}

/// What the numeric attributes of a node of windows say, in the order of the operator's form. Each list has numbers for the batch, down,
/// right, and for the channels.
struct window_settings {
  // Of a pool, or of a convolution, which has dilations where a pool has windows. (A flag, because g++ with -fsanitize=undefined does not
  // compare a pointer with null during constant evaluation.)
  bool is_pool = false;
  const std::int64_t* strides = nullptr;
  const std::int64_t* window_or_dilations = nullptr;
  std::int64_t padding = 0;                 // a window_padding
  const std::int64_t* listed = nullptr;     // two for each axis
  int listed_count = 0;

  /// Of a convolution: strides, padding, dilations, explicit paddings.
  static constexpr window_settings of_convolution(const std::int64_t* numbers, int count) {
    return {.strides = numbers, .window_or_dilations = numbers + 5, .padding = numbers[4], .listed = numbers + 9, .listed_count = count - 9};
  }
  /// Of a pool: window, strides, padding, explicit paddings.
  static constexpr window_settings of_pool(const std::int64_t* numbers, int count) {
    return {.is_pool = true,
            .strides = numbers + 4,
            .window_or_dilations = numbers,
            .padding = numbers[8],
            .listed = numbers + 9,
            .listed_count = count - 9};
  }

  constexpr std::int64_t dilation(int axis) const { return is_pool ? 1 : window_or_dilations[1 + axis]; }

  /// The problem with these numbers; empty if there is none.
  constexpr std::string_view problem() const {
    const bool has_list = padding == static_cast<std::int64_t>(window_padding::listed);
    if (padding < 0 || padding > static_cast<std::int64_t>(window_padding::listed)) return "padding is none of SAME, VALID and EXPLICIT";
    if (listed_count != (has_list ? 8 : 0)) return "explicit_paddings must have 8 elements where padding is EXPLICIT, and none elsewhere";
    for (int k = 0; k < listed_count; ++k)
      if (listed[k] < 0 || listed[k] >= max_elements || (listed[k] != 0 && (k < 2 || k > 5)))
        return "explicit_paddings must be 0 or more, and 0 for the batch and for the channels";
    for (const std::int64_t* list : {strides, window_or_dilations}) {
      for (int k = 0; k < 4; ++k)
        if (list[k] < 1 || list[k] >= max_elements) return "windows, strides and dilations must be positive";
      if (list[0] != 1 || list[3] != 1) return "windows, strides and dilations of the batch and of the channels must be 1";
    }
    return {};
  }
  /// The windows along an axis, 0 for down and 1 for right, of an image of known size. False if no window fits.
  constexpr bool place(window_axis& a, int axis, std::int64_t size, std::int64_t elements) const {
    a.size = size;
    a.window = elements;
    a.stride = strides[1 + axis];
    a.dilation = dilation(axis);
    const std::int64_t none[2]{};
    if (listed_count == 0) return place_windows(a, static_cast<window_padding>(padding), none);
    const std::int64_t both[2]{listed[2 * (1 + axis)], listed[2 * (1 + axis) + 1]};
    return place_windows(a, static_cast<window_padding>(padding), both);
  }
  /// The number of windows along an axis whose size the compiler may not know. Without a problem it writes the number to `count`.
  constexpr std::string_view count(int axis, std::int64_t size, std::int64_t elements, std::int64_t& count) const {
    const bool keeps = padding == static_cast<std::int64_t>(window_padding::same) && strides[1 + axis] == 1;
    if (elements == 0) return "a window has no element";
    if (elements > 0) {
      const window_axis a{.window = elements, .dilation = dilation(axis)};
      if (elements >= max_elements || a.span() == 0) return "a window is too large";
    }
    if (keeps) count = size;
    else if (is_named(size) || is_named(elements)) return "height and width of images, windows and filters must be sizes that the compiler knows";
    else if (size < 0 || elements < 0) count = unknown_dimension;
    else {
      window_axis a;
      if (!place(a, axis, size, elements)) return "a window is larger than the image";
      count = a.count;
    }
    return {};
  }
};

}  // namespace detail

}  // namespace leat
