#pragma once
// What kernels of windows over images read from their nodes: strides, dilations, sizes of windows, padding and layout; and images of either
// layout as the loops want them, with their channels last. An image has two axes of space, a volume three.

#include <leat/cpu/images.hpp>
#include <leat/named/definitions/window_attributes.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/walk.hpp>

#include <array>
#include <type_traits>

namespace leat::runtime {

/// The attributes of such a node: what they say of the axes of an image.
class image_settings {
 public:
  using numbers = std::vector<std::int64_t>;

  explicit image_settings(const kernel_node& n, int axes = 2, std::string_view dilations = "dilations")
      : image_settings(n, axes, n.list<std::int64_t>("ksize"), n.list<std::int64_t>("strides"), n.list<std::int64_t>(dilations)) {}
  /// For operators that take windows and strides as inputs.
  image_settings(const kernel_node& n, int axes, numbers ksize, numbers strides, numbers dilations)
      : axes_(axes), ksize_(std::move(ksize)), strides_(std::move(strides)), dilations_(std::move(dilations)) {
    const attribute_map& attributes = n.record->attributes;
    const auto order = leat::detail::channel_order_of(attributes.find("data_format"), axes);
    if (!order)
      throw invalid_argument("data_format '" + n.text("data_format") + "' is neither " + (axes == 3 ? "NDHWC nor NCDHW" : "NHWC nor NCHW"));
    is_channels_first_ = *order == leat::detail::channel_order::first;
    const auto padding = leat::detail::window_padding_of(attributes.find("padding"));
    if (!padding) throw invalid_argument("padding '" + n.text("padding") + "' is none of SAME, VALID and EXPLICIT");
    padding_ = *padding;
    const bool is_listed = padding_ == leat::detail::window_padding::listed;
    explicit_ = n.list<std::int64_t>("explicit_paddings");
    const std::size_t count = 2 * rank();
    if (is_listed != !explicit_.empty() || (is_listed && explicit_.size() != count))
      throw invalid_argument("explicit_paddings must have " + std::to_string(count) +
                             " elements where padding is EXPLICIT, and none elsewhere");
  }

  int axes() const { return axes_; }
  bool is_channels_first() const { return is_channels_first_; }
  /// An image's shape, as [batch, h, w, channels], of a volume [batch, d, h, w, channels]. Errors: invalid_argument if it has another rank.
  shape channels_last(const shape& s, std::string_view what) const {
    if (s.rank != axes_ + 2)
      throw invalid_argument(std::string(what) + " must be " + std::to_string(axes_ + 2) + "-dimensional, not " + brackets(s));
    if (!is_channels_first_) return s;
    shape moved;
    moved.push(s[0]);
    for (int axis = 2; axis < s.rank; ++axis) moved.push(s[axis]);
    moved.push(s[1]);
    return moved;
  }
  /// The shape of a result in the node's layout.
  shape in_layout(const shape& s) const {
    if (!is_channels_first_) return s;
    shape moved;
    moved.push(s[0]);
    moved.push(s[s.rank - 1]);
    for (int axis = 1; axis < s.rank - 1; ++axis) moved.push(s[axis]);
    return moved;
  }
  /// The elements of a pooling window along an axis of space, from 0 on.
  std::int64_t window(int axis) const { return number(ksize_, "ksize", axis); }
  /// The windows of `window` elements along an axis of this size. Errors: invalid_argument if the window does not fit.
  window_axis windows(int axis, std::int64_t size, std::int64_t window) const {
    window_axis a{.size = size, .window = window, .stride = number(strides_, "strides", axis),
                       .dilation = number(dilations_, "dilations", axis)};
    if (window < 1) throw invalid_argument("a window must have at least one element, not " + std::to_string(window));
    const std::int64_t span = a.span();
    if (span == 0 || size >= max_elements || a.stride >= max_elements)
      throw invalid_argument("a window of " + std::to_string(window) + " elements with dilation " + std::to_string(a.dilation) +
                             " and stride " + std::to_string(a.stride) + " is too large");
    std::int64_t listed[2]{};
    if (padding_ == leat::detail::window_padding::listed) {
      const std::size_t at = 2 * (space() + static_cast<std::size_t>(axis));
      for (const std::int64_t p : explicit_)
        if (p < 0 || p >= max_elements) throw invalid_argument("explicit_paddings must be 0 or more, not " + std::to_string(p));
      listed[0] = explicit_[at];
      listed[1] = explicit_[at + 1];
    }
    if (!leat::detail::place_windows(a, padding_, listed)) {
      // TensorFlow rounds toward 0: a window that is larger by less than two strides has no place, and is no error.
      const std::int64_t count = (size + listed[0] + listed[1] - span + a.stride) / a.stride;
      if (count < 0)
        throw invalid_argument("Computed output size would be negative: " + std::to_string(count) + " [input_size: " +
                               std::to_string(size) + ", effective_filter_size: " + std::to_string(span) + ", stride: " +
                               std::to_string(a.stride) + "]");
    }
    return a;
  }
  /// The windows over images of this shape, channels last; `window(axis)` is the number of a window's elements along an axis of space.
  template <class Window>
  image_windows windows_over(const shape& image, Window window) const {
    image_windows in;
    in.batch = image[0];
    in.channels = image[axes_ + 1];
    window_axis* const of[]{&in.d, &in.h, &in.w};
    for (int axis = 0; axis < axes_; ++axis) *of[axis + 3 - axes_] = windows(axis, image[axis + 1], window(axis));
    return in;
  }
  /// The shape of a result with one element for each window and channel, channels last.
  shape result_shape(const image_windows& in, std::int64_t channels) const {
    shape s;
    s.push(in.batch);
    if (axes_ == 3) s.push(in.d.count);
    for (const std::int64_t n : {in.h.count, in.w.count, channels}) s.push(n);
    return s;
  }
  /// A shape that an input holds. Errors: invalid_argument for a negative size, or another number of sizes.
  shape held_shape(const numbers& sizes, std::string_view what) const {
    if (sizes.size() != rank())
      throw invalid_argument(std::string(what) + " must have " + std::to_string(rank()) + " elements, not " + std::to_string(sizes.size()));
    shape s;
    for (const std::int64_t n : sizes) {
      if (n < 0) throw invalid_argument(std::string(what) + " must not be negative: " + std::to_string(n));
      s.push(n);
    }
    return s;
  }

 private:
  std::size_t rank() const { return static_cast<std::size_t>(axes_) + 2; }
  std::size_t space() const { return is_channels_first_ ? 2 : 1; }
  // A list's number for an axis of space; those for the batch and the channels must be 1.
  std::int64_t number(const numbers& list, std::string_view name, int axis) const {
    if (list.empty()) return 1;
    if (list.size() != rank())
      throw invalid_argument(std::string(name) + " must have " + std::to_string(rank()) + " elements, not " + std::to_string(list.size()));
    const std::size_t first = space(), end = first + static_cast<std::size_t>(axes_);
    for (std::size_t k = 0; k < list.size(); ++k) {
      if (list[k] < 1) throw invalid_argument(std::string(name) + " must be positive, not " + std::to_string(list[k]));
      if ((k < first || k >= end) && list[k] != 1)
        throw unimplemented(std::string(name) + " of the batch or of the channels must be 1, not " + std::to_string(list[k]));
    }
    return list[first + static_cast<std::size_t>(axis)];
  }

  int axes_;
  numbers ksize_, strides_, dilations_, explicit_;
  bool is_channels_first_ = false;
  leat::detail::window_padding padding_{};
};

/// [n, rows, columns] as [n, columns, rows].
template <class T>
void transpose_images(const T* from, std::int64_t n, std::int64_t rows, std::int64_t columns, T* to) {
  const std::int64_t sizes[]{n, columns, rows}, strides[]{rows * columns, 1, columns};
  cpu::copy_strided(to, from, sizes, strides, 3);
}
/// Images with their channels last, as the loops want them; `held` keeps a copy if one is made.
template <class T>
const T* channels_last(const image_settings& settings, const tensor_value& images, tensor_value& held) {
  if (!settings.is_channels_first()) return images.values<T>().data();
  const shape& s = images.extent();
  held = tensor_value(images.type(), settings.channels_last(s, "images"));
  transpose_images(images.values<T>().data(), s[0], s[1], product(s, 2, s.rank), held.values<T>().data());
  return held.values<T>().data();
}
/// Makes images with their channels last by `fill` and sets them as the first result, in the node's layout. Returns what `fill` returns,
/// the proof that a kernel has run (class_kernel.hpp). Images without elements are not filled: without channels, any number of pixels would
/// be walked over.
template <class T, class Fill>
auto set_images(kernel_context& c, const image_settings& settings, dtype type, const shape& s, Fill fill) {
  tensor_value made(type, s);
  using proof = std::invoke_result_t<Fill&, T*>;
  const proof done = made.elements() > 0 ? fill(made.values<T>().data()) : proof::not_needed(made);
  if (settings.is_channels_first()) {
    tensor_value turned(type, settings.in_layout(s));
    transpose_images(made.values<T>().data(), s[0], product(s, 1, s.rank - 1), s[s.rank - 1], turned.values<T>().data());
    made = std::move(turned);
  }
  c.set(0, std::move(made));
  return done;
}

inline void want_shape(const shape& given, const shape& wanted, std::string_view what) {
  if (!(given == wanted))
    throw invalid_argument(std::string(what) + " has the shape " + brackets(given) + ", where " + brackets(wanted) + " is expected");
}

}  // namespace leat::runtime
