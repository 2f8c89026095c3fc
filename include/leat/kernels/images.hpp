#pragma once
// Kernels of operators on images, as work items for any device: each item sums or compares what one element of the result needs. On the
// CPU faster loops stand for them (cpu/image_steps.hpp).

#include <leat/kernels/whole_array.hpp>
#include <leat/ops/images.hpp>

namespace leat::kernels {

/// The convolution of a step: `image` and `filter` say which operand has that shape; the numbers of the windows begin at attribute `from`.
template <class Op>
constexpr convolution convolution_of_step(const step_numbers& n, int image, int filter, int from) {
  std::int64_t numbers[24]{};
  const int count = static_cast<int>(n.attributes()) - from;
  for (int k = 0; k < count; ++k) numbers[k] = n.attribute(from + k);
  const auto how = leat::detail::window_settings::of_convolution(numbers, count);
  shape its;
  for (int k = 0; k < 4; ++k) its.push(n.size(filter, k));
  its = Op::flat_filter(its);
  convolution c;
  c.in.batch = n.size(image, 0);
  c.in.channels = n.size(image, 3);
  how.place(c.in.h, 0, n.size(image, 1), its[0]);
  how.place(c.in.w, 1, n.size(image, 2), its[1]);
  c.filters = its[3];
  c.groups = std::max<std::int64_t>(c.in.channels / its[2], 1);
  return c;
}
/// The windows of a pool's step over the images of operand `image`.
constexpr image_windows pool_of_step(const step_numbers& n, int image, int from) {
  std::int64_t numbers[24]{};
  const int count = static_cast<int>(n.attributes()) - from;
  for (int k = 0; k < count; ++k) numbers[k] = n.attribute(from + k);
  const auto how = leat::detail::window_settings::of_pool(numbers, count);
  image_windows in;
  in.batch = n.size(image, 0);
  in.channels = n.size(image, 3);
  how.place(in.h, 0, n.size(image, 1), numbers[1]);
  how.place(in.w, 1, n.size(image, 2), numbers[2]);
  return in;
}

/// Elements of images, of results and of filters as arrays of four axes.
struct cell {
  std::int64_t image, h, w, channel;
  constexpr cell(std::int64_t at, std::int64_t height, std::int64_t width, std::int64_t channels)
      : image(at / channels / width / height), h(at / channels / width % height), w(at / channels % width), channel(at % channels) {}
};
constexpr std::int64_t place_of(std::int64_t image, std::int64_t h, std::int64_t w, std::int64_t channel, std::int64_t height,
                                std::int64_t width, std::int64_t channels) {
  return ((image * height + h) * width + w) * channels + channel;
}

/// Item k: element k of a convolution's result.
template <class Op, class T>
struct convolution_kernel {
  static constexpr bool may_refuse = false;
  const T* images;
  const T* filters;
  T* out;
  convolution c;
  convolution_kernel(void* const* p, const step_numbers& n)
      : images(static_cast<const T*>(p[0])), filters(static_cast<const T*>(p[1])), out(static_cast<T*>(p[2])),
        c(convolution_of_step<Op>(n, 0, 1, 0)) {}
  std::int64_t items() const { return c.in.batch * c.in.positions() * c.filters; }
  std::int64_t work() const { return c.depth(); }
  constexpr void operator()(std::int64_t k) const {
    const cell at(k, c.in.h.count, c.in.w.count, c.filters);
    const std::int64_t depth = c.channels_of_group(), first = at.channel / c.filters_of_group() * depth;
    T sum = T(0);
    for (std::int64_t i = 0; i < c.in.h.window; ++i) {
      const std::int64_t y = c.in.h.begin(at.h) + i * c.in.h.dilation;
      for (std::int64_t j = 0; j < c.in.w.window && c.in.h.is_inside(y); ++j) {
        const std::int64_t x = c.in.w.begin(at.w) + j * c.in.w.dilation;
        if (!c.in.w.is_inside(x)) continue;
        const T* const from = images + place_of(at.image, y, x, first, c.in.h.size, c.in.w.size, c.in.channels);
        const T* const by = filters + (i * c.in.w.window + j) * depth * c.filters + at.channel;
        for (std::int64_t g = 0; g < depth; ++g) sum = scalar_math<T>::add(sum, scalar_math<T>::multiply(from[g], by[g * c.filters]));
      }
    }
    out[k] = sum;
  }
};

/// Item k: element k of a convolution's gradient by its images.
template <class Op, class T>
struct convolution_input_grad_kernel {
  static constexpr bool may_refuse = false;
  const T* filters;
  const T* dy;
  T* out;
  convolution c;
  convolution_input_grad_kernel(void* const* p, const step_numbers& n)
      : filters(static_cast<const T*>(p[0])), dy(static_cast<const T*>(p[1])), out(static_cast<T*>(p[2])),
        c(convolution_of_step<Op>(n, 2, 0, 4)) {}
  std::int64_t items() const { return c.in.batch * c.in.image_elements(); }
  std::int64_t work() const { return c.in.window_elements() * c.filters_of_group(); }
  constexpr void operator()(std::int64_t k) const {
    const cell at(k, c.in.h.size, c.in.w.size, c.in.channels);
    const std::int64_t depth = c.channels_of_group(), width = c.filters_of_group(), first = at.channel / depth * width;
    T sum = T(0);
    for (std::int64_t i = 0; i < c.in.h.window; ++i) {
      const std::int64_t down = window_at(c.in.h, at.h, i);
      for (std::int64_t j = 0; j < c.in.w.window && down >= 0; ++j) {
        const std::int64_t right = window_at(c.in.w, at.w, j);
        if (right < 0) continue;
        const T* const slope = dy + place_of(at.image, down, right, first, c.in.h.count, c.in.w.count, c.filters);
        const T* const by = filters + ((i * c.in.w.window + j) * depth + at.channel % depth) * c.filters + first;
        for (std::int64_t f = 0; f < width; ++f) sum = scalar_math<T>::add(sum, scalar_math<T>::multiply(slope[f], by[f]));
      }
    }
    out[k] = sum;
  }
  /// The window whose element `i` is the image's element at `position`; -1 if there is none.
  static constexpr std::int64_t window_at(const window_axis& a, std::int64_t position, std::int64_t i) {
    const std::int64_t begin = position + a.before - i * a.dilation;
    return begin < 0 || begin % a.stride != 0 || begin / a.stride >= a.count ? -1 : begin / a.stride;
  }
};

/// Item k: element k of a convolution's gradient by its filters.
template <class Op, class T>
struct convolution_filter_grad_kernel {
  static constexpr bool may_refuse = false;
  const T* images;
  const T* dy;
  T* out;
  convolution c;
  convolution_filter_grad_kernel(void* const* p, const step_numbers& n)
      : images(static_cast<const T*>(p[0])), dy(static_cast<const T*>(p[1])), out(static_cast<T*>(p[2])),
        c(convolution_of_step<Op>(n, 0, 2, 4)) {}
  std::int64_t items() const { return c.depth() * c.filters; }
  std::int64_t work() const { return c.in.batch * c.in.positions(); }
  constexpr void operator()(std::int64_t k) const { out[k] = part(k, 0, 1); }
  /// The sum over every step-th window from the first on.
  constexpr T part(std::int64_t k, std::int64_t first, std::int64_t step) const {
    const std::int64_t filter = k % c.filters, depth = c.channels_of_group();
    const std::int64_t channel = filter / c.filters_of_group() * depth + k / c.filters % depth, window = k / c.filters / depth;
    const std::int64_t i = window / c.in.w.window * c.in.h.dilation, j = window % c.in.w.window * c.in.w.dilation;
    T sum = T(0);
    for (std::int64_t at = first; at < c.in.batch * c.in.h.count * c.in.w.count; at += step) {
      const std::int64_t y = c.in.h.begin(at / c.in.w.count % c.in.h.count) + i, x = c.in.w.begin(at % c.in.w.count) + j;
      if (!c.in.h.is_inside(y) || !c.in.w.is_inside(x)) continue;
      sum = scalar_math<T>::add(
          sum, scalar_math<T>::multiply(images[place_of(at / c.in.w.count / c.in.h.count, y, x, channel, c.in.h.size, c.in.w.size, c.in.channels)],
                                        dy[at * c.filters + filter]));
    }
    return sum;
  }
};

/// The part of a window that lies in the image.
struct window_cells {
  std::int64_t top, bottom, left, right;
  constexpr window_cells(const image_windows& in, std::int64_t down, std::int64_t along)
      : top(std::max<std::int64_t>(in.h.begin(down), 0)),
        bottom(std::min(in.h.begin(down) + in.h.window, in.h.size)),
        left(std::max<std::int64_t>(in.w.begin(along), 0)),
        right(std::min(in.w.begin(along) + in.w.window, in.w.size)) {}
  constexpr bool is_empty() const { return top >= bottom || left >= right; }
  constexpr std::int64_t count() const { return (bottom - top) * (right - left); }
  /// Calls f(place in all images) for each.
  template <class F>
  constexpr void for_each(const image_windows& in, std::int64_t image, std::int64_t channel, F f) const {
    for (std::int64_t y = top; y < bottom; ++y)
      for (std::int64_t x = left; x < right; ++x) f(place_of(image, y, x, channel, in.h.size, in.w.size, in.channels));
  }
  /// The place of the first of the largest elements. The window is not empty. NaN counts only where it comes first.
  template <class T>
  constexpr std::int64_t largest(const image_windows& in, const T* images, std::int64_t image, std::int64_t channel) const {
    std::int64_t best = place_of(image, top, left, channel, in.h.size, in.w.size, in.channels);
    for_each(in, image, channel, [&](std::int64_t at) {
      if (images[best] < images[at]) best = at;
    });
    return best;
  }
};

/// Item k: element k of a pool's result. `Largest`: the largest element, or with `OfThird` the third operand's element at its place; else
/// the mean.
template <bool Largest, bool OfThird, class T>
struct pool_kernel {
  static constexpr bool may_refuse = false;
  const T* images;
  const T* taken;
  T* out;
  image_windows in;
  pool_kernel(void* const* p, const step_numbers& n)
      : images(static_cast<const T*>(p[0])), taken(static_cast<const T*>(p[OfThird ? 2 : 0])), out(static_cast<T*>(p[OfThird ? 3 : 1])),
        in(pool_of_step(n, 0, 0)) {}
  std::int64_t items() const { return in.batch * in.positions() * in.channels; }
  std::int64_t work() const { return in.window_elements(); }
  constexpr void operator()(std::int64_t k) const {
    const cell at(k, in.h.count, in.w.count, in.channels);
    const window_cells window(in, at.h, at.w);
    if constexpr (Largest) {
      if (window.is_empty()) out[k] = OfThird ? T(0) : std::numeric_limits<T>::lowest();
      else out[k] = taken[window.largest(in, images, at.image, at.channel)];
    } else {
      T sum = T(0);
      window.for_each(in, at.image, at.channel, [&](std::int64_t place) { sum += images[place]; });
      out[k] = sum / static_cast<T>(window.count());
    }
  }
};

/// Item k: element k of a pool's gradient, from all windows over it.
template <bool Largest, class T>
struct pool_grad_kernel {
  static constexpr bool may_refuse = false;
  const T* images;
  const T* dy;
  T* out;
  image_windows in;
  pool_grad_kernel(void* const* p, const step_numbers& n)
      : images(static_cast<const T*>(p[0])), dy(static_cast<const T*>(p[Largest ? 2 : 0])), out(static_cast<T*>(p[Largest ? 3 : 1])),
        in(pool_of_step(n, Largest ? 0 : 1, Largest ? 0 : 4)) {}
  std::int64_t items() const { return in.batch * in.image_elements(); }
  std::int64_t work() const { return in.window_elements() * (Largest ? in.window_elements() : 1); }
  constexpr void operator()(std::int64_t k) const {
    const cell at(k, in.h.size, in.w.size, in.channels);
    T sum = T(0);
    for (std::int64_t down = first_window(in.h, at.h); down < in.h.count && in.h.begin(down) <= at.h; ++down)
      for (std::int64_t right = first_window(in.w, at.w); right < in.w.count && in.w.begin(right) <= at.w; ++right) {
        const window_cells window(in, down, right);
        const T slope = dy[place_of(at.image, down, right, at.channel, in.h.count, in.w.count, in.channels)];
        if constexpr (Largest) {
          if (window.largest(in, images, at.image, at.channel) == k) sum += slope;
        } else {
          sum += T(1) / static_cast<T>(window.count()) * slope;
        }
      }
    out[k] = sum;
  }
  /// The first window that reaches an element or lies behind it.
  static constexpr std::int64_t first_window(const window_axis& a, std::int64_t position) {
    const std::int64_t from = position + a.before - a.window + 1;  // where such a window begins at the earliest, counted with the padding
    return from <= 0 ? 0 : (from + a.stride - 1) / a.stride;
  }
};

/// Of kernels for floating point without indices.
struct kernel_of_images {
  static constexpr bool has_indices = false;
  static constexpr dtype takes[]{dtype::float32, dtype::float64};
};
template <bool ByChannel>
struct kernel_of<convolution_op<ByChannel>> : kernel_of_images {
  template <class T, class>
  using type = convolution_kernel<convolution_op<ByChannel>, T>;
};
template <bool ByChannel>
struct kernel_of<convolution_input_grad_op<ByChannel>> : kernel_of_images {
  template <class T, class>
  using type = convolution_input_grad_kernel<convolution_op<ByChannel>, T>;
};
template <bool ByChannel>
struct kernel_of<convolution_filter_grad_op<ByChannel>> : kernel_of_images {
  template <class T, class>
  using type = convolution_filter_grad_kernel<convolution_op<ByChannel>, T>;
};
template <>
struct kernel_of<max_pool_op> : kernel_of_images {
  template <class T, class>
  using type = pool_kernel<true, false, T>;
};
template <>
struct kernel_of<max_pool_grad_grad_op> : kernel_of_images {
  template <class T, class>
  using type = pool_kernel<true, true, T>;
};
template <>
struct kernel_of<avg_pool_op> : kernel_of_images {
  template <class T, class>
  using type = pool_kernel<false, false, T>;
};
template <>
struct kernel_of<max_pool_grad_op> : kernel_of_images {
  template <class T, class>
  using type = pool_grad_kernel<true, T>;
};
template <>
struct kernel_of<avg_pool_grad_op> : kernel_of_images {
  template <class T, class>
  using type = pool_grad_kernel<false, T>;
};

}  // namespace leat::kernels
