#pragma once
// Kernels of grayscale dilation of images [batch, h, w, channels] by a filter [h, w, channels]: the largest sum of a window's elements and
// the filter's, per channel; and its two gradients, which go to the first of the largest sums. Source: TensorFlow `Dilation2D` and its
// gradients.

#include <leat/core/fill.hpp>
#include <leat/cpu/parallel.hpp>
#include <leat/runtime/kernels/image_settings.hpp>

#include <limits>

namespace leat::runtime {

inline image_windows dilation_of(const image_settings& settings, const shape& image, const shape& filter) {
  if (image.rank != 4) throw invalid_argument("input must be 4-dimensional, not " + brackets(image));
  if (filter.rank != 3) throw invalid_argument("filter must be 3-dimensional, not " + brackets(filter));
  if (filter[2] != image[3])
    throw invalid_argument("input and filter must have the same depth: " + std::to_string(image[3]) + " vs " + std::to_string(filter[2]));
  return settings.windows_over(image, [&](int axis) { return filter[axis]; });
}
/// The largest sum of one window and channel, and where it is in the image and in the filter. Of a window without elements in the image, it
/// is the first place.
template <class T>
struct largest_sum {
  T value = std::numeric_limits<T>::lowest();
  std::int64_t image, filter;

  largest_sum(const image_windows& in, const T* from, const T* filters, std::int64_t at, std::int64_t k) : filter(k) {
    const std::int64_t top = in.h.begin(at / in.w.count), left = in.w.begin(at % in.w.count);
    image = (std::max<std::int64_t>(top, 0) * in.w.size + std::max<std::int64_t>(left, 0)) * in.channels + k;
    for (std::int64_t i = 0; i < in.h.window; ++i) {
      const std::int64_t y = top + i * in.h.dilation;
      if (!in.h.is_inside(y)) continue;
      for (std::int64_t j = 0; j < in.w.window; ++j) {
        const std::int64_t x = left + j * in.w.dilation;
        if (!in.w.is_inside(x)) continue;
        const std::int64_t pixel = (y * in.w.size + x) * in.channels + k, cell = (i * in.w.window + j) * in.channels + k;
        const T sum = arithmetic<T>::add(from[pixel], filters[cell]);
        if (!(value < sum)) continue;
        value = sum;
        image = pixel;
        filter = cell;
      }
    }
  }
};
/// Calls f(element of the result, largest sum of its window, first element of the image) for one image.
template <class T, class F>
void for_each_largest_sum(const image_windows& in, const T* images, const T* filters, std::int64_t image, F f) {
  if (in.channels == 0) return;
  const std::int64_t base = image * in.image_elements();
  for (std::int64_t at = 0; at < in.positions(); ++at)
    for (std::int64_t k = 0; k < in.channels; ++k)
      f((image * in.positions() + at) * in.channels + k, largest_sum<T>(in, images + base, filters, at, k), base);
}

inline void run_dilation(kernel_context& c) {
  const image_settings settings(c.node, 2, "rates");
  const tensor_value images = c.input(0), filters = c.input(1);
  const auto in = dilation_of(settings, images.extent(), filters.extent());
  with_number(images.type(), [&]<class T>(T) {
    tensor_value made(images.type(), settings.result_shape(in, in.channels));
    T* const to = made.values<T>().data();
    cpu::parallel_for(in.batch, [&](std::int64_t image) {
      for_each_largest_sum(in, images.values<T>().data(), filters.values<T>().data(), image,
                           [&](std::int64_t at, const largest_sum<T>& largest, std::int64_t) { to[at] = largest.value; });
    });
    c.set(0, std::move(made));
  });
}
template <bool ToImages>
void run_dilation_back(kernel_context& c) {
  const image_settings settings(c.node, 2, "rates");
  const tensor_value images = c.input(0), filters = c.input(1), dy = c.input(2);
  const auto in = dilation_of(settings, images.extent(), filters.extent());
  want_shape(dy.extent(), settings.result_shape(in, in.channels), "out_backprop");
  with_number(images.type(), [&]<class T>(T) {
    tensor_value made(images.type(), ToImages ? images.extent() : filters.extent());
    T* const to = made.values<T>().data();
    const T* const slope = dy.values<T>().data();
    std::fill_n(to, made.elements(), T(0));
    for (std::int64_t image = 0; image < in.batch; ++image)
      for_each_largest_sum(in, images.values<T>().data(), filters.values<T>().data(), image,
                           [&](std::int64_t at, const largest_sum<T>& largest, std::int64_t base) {
                             T& taken = to[ToImages ? base + largest.image : largest.filter];
                             taken = arithmetic<T>::add(taken, slope[at]);
                           });
    c.set(0, std::move(made));
  });
}

LEAT_FILL(fill_dilation_kernels) {
  register_kernel("Dilation2D", run_dilation);
  register_kernel("Dilation2DBackpropInput", run_dilation_back<true>);
  register_kernel("Dilation2DBackpropFilter", run_dilation_back<false>);
}

}  // namespace leat::runtime
