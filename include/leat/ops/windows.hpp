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

/// Three numbers of a volume's axes: depth, height and width. One number stands for all: `max_pool3d<2>` is `max_pool3d<dhw{2, 2, 2}>`.
struct dhw {
  std::int64_t d, h, w;
  constexpr dhw(std::int64_t all) : d(all), h(all), w(all) {}
  constexpr dhw(std::int64_t deep, std::int64_t down, std::int64_t right) : d(deep), h(down), w(right) {}
};
/// Padding that the program itself states, before and behind each axis: `conv2d<1, pads{1, 2, 0, 1}>(images, filters)`; `pads{1}` is 1 on
/// all sides.
struct pads {
  std::int64_t top, bottom, left, right;
  constexpr explicit pads(std::int64_t all) : top(all), bottom(all), left(all), right(all) {}
  constexpr pads(std::int64_t above, std::int64_t below, std::int64_t before, std::int64_t behind)
      : top(above), bottom(below), left(before), right(behind) {}
};
/// A `padding`, or `pads`.
struct window_pads {
  bool is_listed;
  padding how;
  pads listed;
  constexpr window_pads(padding its) : is_listed(false), how(its), listed(0) {}
  constexpr window_pads(pads its) : is_listed(true), how(padding::valid), listed(its) {}
  // nvcc passes its members to the host compiler in braces.
  constexpr window_pads(bool lists, padding its, pads stated) : is_listed(lists), how(its), listed(stated) {}
};
/// Where the channels of images are: behind height and width, or behind the batch, TensorFlow's NCHW.
enum class axis_order { channels_last, channels_first };

/// Convolutions that differ in their arrays: of images, of each channel of images by filters of its own, and of volumes.
enum class convolved { images, channels, volumes };
/// The axes of space.
constexpr int axes_of(convolved what) { return what == convolved::volumes ? 3 : 2; }

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
inline constexpr std::string_view volume_order_words[]{"NDHWC", "NCDHW"};

/// The filters [h, w, channels, multiplier] of a depthwise convolution, as those of one with a group for each channel: [h, w, 1, channels *
/// multiplier].
constexpr shape depthwise_filter(shape filter) {
  std::int64_t filters = unknown_dimension;
  if (filter[2] >= 0 && filter[3] >= 0 && (!multiplies(filter[2], filter[3], filters) || filters > max_elements))
    filters = unknown_dimension;
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

/// Whether windows fit an axis, and how many there are.
enum class window_fit { fits, no_element, too_large, named, larger_than_image };
struct counted_windows {
  window_fit fit;
  std::int64_t count;
};
/// The number of windows along an axis whose size and window may be unknown, or names. Shape rules of typed and of named operators are
/// this.
constexpr counted_windows count_windows(window_axis a, window_padding how, const std::int64_t (&listed)[2]) {
  if (a.window == 0) return {window_fit::no_element, unknown_dimension};
  if (a.window > 0 && (a.window >= max_elements || a.span() == 0)) return {window_fit::too_large, unknown_dimension};
  if (how == window_padding::same && a.stride == 1) return {window_fit::fits, a.size};
  if (is_named(a.size) || is_named(a.window)) return {window_fit::named, unknown_dimension};
  if (a.size < 0 || a.window < 0) return {window_fit::fits, unknown_dimension};
  if (!place_windows(a, how, listed)) return {window_fit::larger_than_image, unknown_dimension};
  return {window_fit::fits, a.count};
}
/// The shape of a result with one element for each window of images and each of `channels`: `count(axis)` is the number of windows along an
/// axis of space, the first of which is axis `space`.
template <class Count>
constexpr shape shape_of_windows(shape image, int space, int axes, int channel_axis, std::int64_t channels, Count count) {
  for (int i = 0; i < axes; ++i) image.dim[space + i] = count(i);
  image.dim[channel_axis] = channels;
  return image;
}
/// Whether the images' channels are groups of as many as a filter has; they may be unknown.
constexpr bool fit_groups(std::int64_t channels, std::int64_t of_filter) {
  return channels < 0 || of_filter <= 0 || channels % of_filter == 0;
}

/// What the numeric attributes of a node of windows say, in the order of the operator's form. Each list has numbers for the batch, down,
/// right, and for the channels.
struct window_settings {
  // Of a pool, or of a convolution, which has dilations where a pool has windows. (A flag, because g++ with -fsanitize=undefined does not
  // compare a pointer with null during constant evaluation.)
  bool is_pool = false;
  int axes = 2;  // of space
  const std::int64_t* strides = nullptr;
  const std::int64_t* window_or_dilations = nullptr;
  std::int64_t padding = 0;                 // a window_padding
  const std::int64_t* listed = nullptr;     // two for each axis
  int listed_count = 0;

  /// Of a convolution: strides, padding, dilations, explicit paddings.
  static constexpr window_settings of_convolution(const std::int64_t* numbers, int count, int axes = 2) {
    const int rank = axes + 2, all = 2 * rank + 1;
    return {.axes = axes,
            .strides = numbers,
            .window_or_dilations = numbers + rank + 1,
            .padding = numbers[rank],
            .listed = numbers + all,
            .listed_count = count - all};
  }
  /// Of a pool: window, strides, padding, explicit paddings.
  static constexpr window_settings of_pool(const std::int64_t* numbers, int count, int axes = 2) {
    const int rank = axes + 2, all = 2 * rank + 1;
    return {.is_pool = true,
            .axes = axes,
            .strides = numbers + rank,
            .window_or_dilations = numbers,
            .padding = numbers[2 * rank],
            .listed = numbers + all,
            .listed_count = count - all};
  }

  constexpr int rank() const { return axes + 2; }
  constexpr std::int64_t dilation(int axis) const { return is_pool ? 1 : window_or_dilations[1 + axis]; }

  /// The problem with these numbers; empty if there is none.
  constexpr std::string_view problem() const {
    const bool has_list = padding == static_cast<std::int64_t>(window_padding::listed);
    if (padding < 0 || padding > static_cast<std::int64_t>(window_padding::listed)) return "padding is none of SAME, VALID and EXPLICIT";
    if (has_list && axes != 2) return "volumes have no explicit padding";
    if (listed_count != (has_list ? 8 : 0)) return "explicit_paddings must have 8 elements where padding is EXPLICIT, and none elsewhere";
    for (int k = 0; k < listed_count; ++k)
      if (listed[k] < 0 || listed[k] >= max_elements || (listed[k] != 0 && (k < 2 || k > 5)))
        return "explicit_paddings must be 0 or more, and 0 for the batch and for the channels";
    for (const std::int64_t* list : {strides, window_or_dilations}) {
      for (int k = 0; k < rank(); ++k)
        if (list[k] < 1 || list[k] >= max_elements) return "windows, strides and dilations must be positive";
      if (list[0] != 1 || list[rank() - 1] != 1) return "windows, strides and dilations of the batch and of the channels must be 1";
    }
    return {};
  }
  /// The windows along an axis of space of an image of known size. False if no window fits.
  constexpr bool place(window_axis& a, int axis, std::int64_t size, std::int64_t elements) const {
    a = axis_of(axis, size, elements);
    return place_windows(a, static_cast<window_padding>(padding), pads_of(axis).both);
  }
  /// The number of windows along an axis whose size the compiler may not know. Without a problem it writes the number to `count`.
  constexpr std::string_view count(int axis, std::int64_t size, std::int64_t elements, std::int64_t& count) const {
    const counted_windows found = count_windows(axis_of(axis, size, elements), static_cast<window_padding>(padding), pads_of(axis).both);
    switch (found.fit) {
      case window_fit::no_element: return "a window has no element";
      case window_fit::too_large: return "a window is too large";
      case window_fit::named: return "height and width of images, windows and filters must be sizes that the compiler knows";
      case window_fit::larger_than_image: return "a window is larger than the image";
      case window_fit::fits: break;
    }
    count = found.count;
    return {};
  }

 private:
  struct two_pads {
    std::int64_t both[2]{};
  };
  constexpr two_pads pads_of(int axis) const {
    return listed_count == 0 ? two_pads{} : two_pads{{listed[2 * (1 + axis)], listed[2 * (1 + axis) + 1]}};
  }
  constexpr window_axis axis_of(int axis, std::int64_t size, std::int64_t elements) const {
    return {.size = size, .window = elements, .stride = strides[1 + axis], .dilation = dilation(axis)};
  }
};

}  // namespace detail

}  // namespace leat
