#pragma once
// Kernels of operators on images and volumes, as work items for any device: each item sums or compares what one element of the result
// needs. On the CPU faster loops stand for them (cpu/image_steps.hpp).

#include <leat/kernels/whole_array.hpp>
#include <leat/ops/image_operators.hpp>

namespace leat::kernels {

/// A step's numbers of the windows, from attribute `from` on.
struct window_numbers {
  std::int64_t data[24]{};
  int count;
  constexpr window_numbers(const step_numbers& n, int from) : count(static_cast<int>(n.attributes()) - from) {
    for (int k = 0; k < count; ++k) data[k] = n.attribute(from + k);
  }
};
/// Completes windows over the images of operand `image`; `window` are the windows' elements.
constexpr image_windows windows_of_step(const step_numbers& n, int image, const leat::detail::window_settings& how,
                                        const std::int64_t* window) {
  image_windows in;
  in.batch = n.size(image, 0);
  in.channels = n.size(image, how.axes + 1);
  window_axis* const axes[]{&in.d, &in.h, &in.w};
  for (int k = 0; k < how.axes; ++k) how.place(*axes[3 - how.axes + k], k, n.size(image, 1 + k), window[k]);
  return in;
}
/// The convolution of a step: `image` and `filter` say which operand has that shape; the numbers of the windows begin at attribute `from`.
template <class Op>
constexpr convolution convolution_of_step(const step_numbers& n, int image, int filter, int from) {
  const window_numbers numbers(n, from);
  shape its;
  for (int k = 0; k < Op::rank; ++k) its.push(n.size(filter, k));
  its = Op::flat_filter(its);
  convolution c;
  c.in = windows_of_step(n, image, leat::detail::window_settings::of_convolution(numbers.data, numbers.count, Op::axes), its.dim);
  c.filters = its[Op::axes + 1];
  c.groups = std::max<std::int64_t>(c.in.channels / its[Op::axes], 1);
  return c;
}
/// The windows of a pool's step over the images of operand `image`.
template <int Axes>
constexpr image_windows pool_of_step(const step_numbers& n, int image, int from) {
  const window_numbers numbers(n, from);
  return windows_of_step(n, image, leat::detail::window_settings::of_pool(numbers.data, numbers.count, Axes), numbers.data + 1);
}

/// Elements of images, of results and of filters as arrays of five axes. An image is a volume of one layer.
struct cell {
  std::int64_t image, d, h, w, channel;
  constexpr cell(std::int64_t at, std::int64_t depth, std::int64_t height, std::int64_t width, std::int64_t channels)
      : image(at / channels / width / height / depth), d(at / channels / width / height % depth), h(at / channels / width % height),
        w(at / channels % width), channel(at % channels) {}
  /// Of an image, and of an array with one element for each window.
  static constexpr cell of_image(const image_windows& in, std::int64_t at, std::int64_t channels) {
    return {at, in.d.size, in.h.size, in.w.size, channels};
  }
  static constexpr cell of_windows(const image_windows& in, std::int64_t at, std::int64_t channels) {
    return {at, in.d.count, in.h.count, in.w.count, channels};
  }
};
constexpr std::int64_t place_in_image(const image_windows& in, std::int64_t image, std::int64_t d, std::int64_t h, std::int64_t w,
                                      std::int64_t channel, std::int64_t channels) {
  return (((image * in.d.size + d) * in.h.size + h) * in.w.size + w) * channels + channel;
}
constexpr std::int64_t place_in_windows(const image_windows& in, std::int64_t image, std::int64_t d, std::int64_t h, std::int64_t w,
                                        std::int64_t channel, std::int64_t channels) {
  return (((image * in.d.count + d) * in.h.count + h) * in.w.count + w) * channels + channel;
}

/// Item k: element k of a convolution's result.
template <class Op, class T>
struct convolution_kernel {
  static constexpr bool may_refuse = false;
  const T* images;
  const T* filters;
  T* out;
  convolution c;
  convolution_kernel(const convolution& how, const T* from, const T* its_filters, T* to)
      : images(from), filters(its_filters), out(to), c(how) {}
  convolution_kernel(void* const* p, const step_numbers& n)
      : images(static_cast<const T*>(p[0])), filters(static_cast<const T*>(p[1])), out(static_cast<T*>(p[2])),
        c(convolution_of_step<Op>(n, 0, 1, 0)) {}
  std::int64_t items() const { return c.in.batch * c.in.positions() * c.filters; }
  std::int64_t work() const { return c.depth(); }
  constexpr void operator()(std::int64_t k) const {
    const cell at = cell::of_windows(c.in, k, c.filters);
    const std::int64_t depth = c.channels_of_group(), first = at.channel / c.filters_of_group() * depth;
    T sum = T(0);
    for (std::int64_t l = 0; l < c.in.d.window; ++l) {
      const std::int64_t z = c.in.d.begin(at.d) + l * c.in.d.dilation;
      for (std::int64_t i = 0; i < c.in.h.window && c.in.d.is_inside(z); ++i) {
        const std::int64_t y = c.in.h.begin(at.h) + i * c.in.h.dilation;
        for (std::int64_t j = 0; j < c.in.w.window && c.in.h.is_inside(y); ++j) {
          const std::int64_t x = c.in.w.begin(at.w) + j * c.in.w.dilation;
          if (!c.in.w.is_inside(x)) continue;
          const T* const from = images + place_in_image(c.in, at.image, z, y, x, first, c.in.channels);
          const T* const by = filters + ((l * c.in.h.window + i) * c.in.w.window + j) * depth * c.filters + at.channel;
          for (std::int64_t g = 0; g < depth; ++g) sum = scalar_math<T>::add(sum, scalar_math<T>::multiply(from[g], by[g * c.filters]));
        }
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
  convolution_input_grad_kernel(const convolution& how, const T* its_filters, const T* slopes, T* to)
      : filters(its_filters), dy(slopes), out(to), c(how) {}
  convolution_input_grad_kernel(void* const* p, const step_numbers& n)
      : filters(static_cast<const T*>(p[0])), dy(static_cast<const T*>(p[1])), out(static_cast<T*>(p[2])),
        c(convolution_of_step<Op>(n, 2, 0, Op::rank)) {}
  std::int64_t items() const { return c.in.batch * c.in.image_elements(); }
  std::int64_t work() const { return c.in.window_elements() * c.filters_of_group(); }
  constexpr void operator()(std::int64_t k) const {
    const cell at = cell::of_image(c.in, k, c.in.channels);
    const std::int64_t depth = c.channels_of_group(), width = c.filters_of_group(), first = at.channel / depth * width;
    T sum = T(0);
    for (std::int64_t l = 0; l < c.in.d.window; ++l) {
      const std::int64_t deep = window_at(c.in.d, at.d, l);
      for (std::int64_t i = 0; i < c.in.h.window && deep >= 0; ++i) {
        const std::int64_t down = window_at(c.in.h, at.h, i);
        for (std::int64_t j = 0; j < c.in.w.window && down >= 0; ++j) {
          const std::int64_t right = window_at(c.in.w, at.w, j);
          if (right < 0) continue;
          const T* const slope = dy + place_in_windows(c.in, at.image, deep, down, right, first, c.filters);
          const T* const by = filters + (((l * c.in.h.window + i) * c.in.w.window + j) * depth + at.channel % depth) * c.filters + first;
          for (std::int64_t f = 0; f < width; ++f) sum = scalar_math<T>::add(sum, scalar_math<T>::multiply(slope[f], by[f]));
        }
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
  convolution_filter_grad_kernel(const convolution& how, const T* from, const T* slopes, T* to)
      : images(from), dy(slopes), out(to), c(how) {}
  convolution_filter_grad_kernel(void* const* p, const step_numbers& n)
      : images(static_cast<const T*>(p[0])), dy(static_cast<const T*>(p[1])), out(static_cast<T*>(p[2])),
        c(convolution_of_step<Op>(n, 0, 2, Op::rank)) {}
  std::int64_t items() const { return c.depth() * c.filters; }
  std::int64_t work() const { return c.in.batch * c.in.positions(); }
  constexpr void operator()(std::int64_t k) const { out[k] = part(k, 0, 1); }
  /// The sum over every step-th window from the first on.
  constexpr T part(std::int64_t k, std::int64_t first, std::int64_t step) const {
    const std::int64_t filter = k % c.filters, depth = c.channels_of_group();
    const std::int64_t channel = filter / c.filters_of_group() * depth + k / c.filters % depth, window = k / c.filters / depth;
    const std::int64_t l = window / c.in.w.window / c.in.h.window * c.in.d.dilation;
    const std::int64_t i = window / c.in.w.window % c.in.h.window * c.in.h.dilation, j = window % c.in.w.window * c.in.w.dilation;
    T sum = T(0);
    for (std::int64_t k_th = first; k_th < c.in.batch * c.in.positions(); k_th += step) {
      const cell at = cell::of_windows(c.in, k_th, 1);
      const std::int64_t z = c.in.d.begin(at.d) + l, y = c.in.h.begin(at.h) + i, x = c.in.w.begin(at.w) + j;
      if (!c.in.d.is_inside(z) || !c.in.h.is_inside(y) || !c.in.w.is_inside(x)) continue;
      sum = scalar_math<T>::add(sum, scalar_math<T>::multiply(images[place_in_image(c.in, at.image, z, y, x, channel, c.in.channels)],
                                                              dy[k_th * c.filters + filter]));
    }
    return sum;
  }
};

/// The part of a window that lies in the image.
struct window_cells {
  std::int64_t front, back, top, bottom, left, right;
  constexpr window_cells(const image_windows& in, std::int64_t deep, std::int64_t down, std::int64_t along)
      : front(std::max<std::int64_t>(in.d.begin(deep), 0)),
        back(std::min(in.d.begin(deep) + in.d.window, in.d.size)),
        top(std::max<std::int64_t>(in.h.begin(down), 0)),
        bottom(std::min(in.h.begin(down) + in.h.window, in.h.size)),
        left(std::max<std::int64_t>(in.w.begin(along), 0)),
        right(std::min(in.w.begin(along) + in.w.window, in.w.size)) {}
  constexpr bool is_empty() const { return front >= back || top >= bottom || left >= right; }
  constexpr std::int64_t count() const { return (back - front) * (bottom - top) * (right - left); }
  /// Calls f(place in all images) for each.
  template <class F>
  constexpr void for_each(const image_windows& in, std::int64_t image, std::int64_t channel, F f) const {
    for (std::int64_t z = front; z < back; ++z)
      for (std::int64_t y = top; y < bottom; ++y)
        for (std::int64_t x = left; x < right; ++x) f(place_in_image(in, image, z, y, x, channel, in.channels));
  }
  /// The place of the first of the largest elements. The window is not empty. NaN counts only where it comes first.
  template <class T>
  constexpr std::int64_t largest(const image_windows& in, const T* images, std::int64_t image, std::int64_t channel) const {
    std::int64_t best = place_in_image(in, image, front, top, left, channel, in.channels);
    for_each(in, image, channel, [&](std::int64_t at) {
      if (images[best] < images[at]) best = at;
    });
    return best;
  }
};

/// Item k: element k of a pool's result. `Largest`: the largest element, or with `OfThird` the third operand's element at its place; else
/// the mean.
template <int Axes, bool Largest, bool OfThird, class T>
struct pool_kernel {
  static constexpr bool may_refuse = false;
  const T* images;
  const T* taken;
  T* out;
  image_windows in;
  pool_kernel(const image_windows& windows, const T* from, const T* third, T* to) : images(from), taken(third), out(to), in(windows) {}
  pool_kernel(void* const* p, const step_numbers& n)
      : images(static_cast<const T*>(p[0])), taken(static_cast<const T*>(p[OfThird ? 2 : 0])), out(static_cast<T*>(p[OfThird ? 3 : 1])),
        in(pool_of_step<Axes>(n, 0, 0)) {}
  std::int64_t items() const { return in.batch * in.positions() * in.channels; }
  std::int64_t work() const { return in.window_elements(); }
  constexpr void operator()(std::int64_t k) const {
    const cell at = cell::of_windows(in, k, in.channels);
    const window_cells window(in, at.d, at.h, at.w);
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

/// Item k: element k of a pool's gradient, from all windows over it. Of equally large elements, the first of a window gets the gradient in
/// images, all of them in volumes, as in TensorFlow.
template <int Axes, bool Largest, class T>
struct pool_grad_kernel {
  static constexpr bool may_refuse = false;
  const T* images;
  const T* results;
  const T* dy;
  T* out;
  image_windows in;
  pool_grad_kernel(const image_windows& windows, const T* from, const T* its_results, const T* slopes, T* to)
      : images(from), results(its_results), dy(slopes), out(to), in(windows) {}
  pool_grad_kernel(void* const* p, const step_numbers& n)
      : images(static_cast<const T*>(p[0])),
        results(static_cast<const T*>(p[Largest ? 1 : 0])),
        dy(static_cast<const T*>(p[Largest ? 2 : 0])),
        out(static_cast<T*>(p[Largest ? 3 : 1])),
        in(pool_of_step<Axes>(n, Largest ? 0 : 1, Largest ? 0 : Axes + 2)) {}
  std::int64_t items() const { return in.batch * in.image_elements(); }
  std::int64_t work() const { return in.window_elements() * (Largest && Axes == 2 ? in.window_elements() : 1); }
  constexpr void operator()(std::int64_t k) const {
    const cell at = cell::of_image(in, k, in.channels);
    T sum = T(0);
    for (std::int64_t deep = first_window(in.d, at.d); deep < in.d.count && in.d.begin(deep) <= at.d; ++deep)
      for (std::int64_t down = first_window(in.h, at.h); down < in.h.count && in.h.begin(down) <= at.h; ++down)
        for (std::int64_t right = first_window(in.w, at.w); right < in.w.count && in.w.begin(right) <= at.w; ++right) {
          const window_cells window(in, deep, down, right);
          const std::int64_t place = place_in_windows(in, at.image, deep, down, right, at.channel, in.channels);
          if constexpr (Largest && Axes == 2) {
            if (window.largest(in, images, at.image, at.channel) == k) sum += dy[place];
          } else if constexpr (Largest) {
            if (images[k] == results[place]) sum += dy[place];
          } else {
            sum += T(1) / static_cast<T>(window.count()) * dy[place];
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
template <convolved What>
struct kernel_of<convolution_op<What>> : kernel_of_images {
  template <class T, class>
  using type = convolution_kernel<convolution_op<What>, T>;
};
template <convolved What>
struct kernel_of<convolution_input_grad_op<What>> : kernel_of_images {
  template <class T, class>
  using type = convolution_input_grad_kernel<convolution_op<What>, T>;
};
template <convolved What>
struct kernel_of<convolution_filter_grad_op<What>> : kernel_of_images {
  template <class T, class>
  using type = convolution_filter_grad_kernel<convolution_op<What>, T>;
};
template <int Axes>
struct kernel_of<max_pool_op<Axes>> : kernel_of_images {
  template <class T, class>
  using type = pool_kernel<Axes, true, false, T>;
};
template <int Axes>
struct kernel_of<max_pool_grad_grad_op<Axes>> : kernel_of_images {
  template <class T, class>
  using type = pool_kernel<Axes, true, true, T>;
};
template <int Axes>
struct kernel_of<avg_pool_op<Axes>> : kernel_of_images {
  template <class T, class>
  using type = pool_kernel<Axes, false, false, T>;
};
template <int Axes>
struct kernel_of<max_pool_grad_op<Axes>> : kernel_of_images {
  template <class T, class>
  using type = pool_grad_kernel<Axes, true, T>;
};
template <int Axes>
struct kernel_of<avg_pool_grad_op<Axes>> : kernel_of_images {
  template <class T, class>
  using type = pool_grad_kernel<Axes, false, T>;
};

}  // namespace leat::kernels
