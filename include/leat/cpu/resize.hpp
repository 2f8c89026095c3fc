#pragma once
// Resizing of images on the CPU, in the place of the kernels for any device (kernels/resize.hpp), from which it takes the pixels: threads
// share images, or rows of the results.

#include <leat/cpu/batch.hpp>
#include <leat/cpu/kernel_loops.hpp>
#include <leat/cpu/math.hpp>
#include <leat/cpu/matmul/tile.hpp>
#include <leat/cpu/parallel.hpp>
#include <leat/cpu/scratch.hpp>
#include <leat/kernels/resize.hpp>

#include <algorithm>
#include <type_traits>

namespace leat::cpu {

template <class T>
struct loops_of<kernels::resize_nearest_kernel<T>> {
  static void run(const kernels::resize_nearest_kernel<T>& kernel) {
    const std::int64_t of_image = kernel.r.to_h * kernel.r.to_w;
    parallel_for(kernel.r.batch, [&](std::int64_t image) {
      for (std::int64_t k = image * of_image; k < (image + 1) * of_image; ++k) kernel(k);
    });
  }
};
namespace detail {
/// Pixels of one row of the result, each between two of `above` and two of `below`: the columns' places are those of the first channels.
template <class Column>
void resize_row(const float* above, const float* below, const Column& column, std::int64_t width, std::int64_t channels, float share, float* to) {
  using math = batch_math<float>;
  const batch<float> down(share);
  for (std::int64_t x = 0; x < width; ++x, to += channels) {
    const auto u = column(x);
    const std::int64_t left = u.lower * channels, right = u.upper * channels;
    const batch<float> across(u.share);
    const auto between = [](const batch<float>& a, const batch<float>& b, const batch<float>& part) __attribute__((always_inline)) {
      return math::add(a, math::multiply(math::subtract(b, a), part));
    };
    for (std::int64_t k = 0; k < channels; k += lanes<float>) {
      const int count = static_cast<int>(std::min<std::int64_t>(channels - k, lanes<float>));
      const batch<float> top = between(load_some(above + left + k, count), load_some(above + right + k, count), across);
      const batch<float> bottom = between(load_some(below + left + k, count), load_some(below + right + k, count), across);
      store_some(to + k, between(top, bottom, down), count);
    }
  }
}
}  // namespace detail

/// The places in a row are found once, unless it is so long that they would take much memory.
template <class T>
struct loops_of<kernels::resize_bilinear_kernel<T>> {
  static void run(const kernels::resize_bilinear_kernel<T>& kernel) {
    const auto& r = kernel.r;
    const std::int64_t kept = std::min<std::int64_t>(r.to_w, 1 << 14);
    const scratch<kernels::resized_axis::between> columns(kept);
    for (std::int64_t x = 0; x < kept; ++x) columns.get()[x] = r.columns.neighbors(x);
    const auto column = [&r, kept, all = columns.get()](std::int64_t x) { return x < kept ? all[x] : r.columns.neighbors(x); };
    parallel_for(r.batch * r.to_h, [&](std::int64_t row) {
      const auto down = r.rows.neighbors(row % r.to_h);
      if constexpr (std::is_same_v<T, float>) {
        const float* const image = kernel.in + row / r.to_h * r.of_image();
        const std::int64_t row_elements = r.w * r.channels;
        detail::resize_row(image + down.lower * row_elements, image + down.upper * row_elements, column, r.to_w, r.channels, down.share,
                           kernel.out + row * r.to_w * r.channels);
      } else {
        for (std::int64_t x = 0; x < r.to_w; ++x) kernel.write(row / r.to_h, row * r.to_w + x, r.around(down, column(x)));
      }
    });
  }
};

/// Kernels that add pixels of the results to those of each image.
template <class Kernel>
struct loops_of_sums {
  static void run(const Kernel& kernel) {
    parallel_for(kernel.r.batch, [&](std::int64_t image) { kernel.add(image, 0, kernel.r.channels); });
  }
};
template <class T>
struct loops_of<kernels::resize_nearest_grad_kernel<T>> : loops_of_sums<kernels::resize_nearest_grad_kernel<T>> {};
template <class T>
struct loops_of<kernels::resize_bilinear_grad_kernel<T>> : loops_of_sums<kernels::resize_bilinear_grad_kernel<T>> {};
template <class T>
struct loops_of<kernels::resize_bilinear_grad_step<T>> {
  static void run(const kernels::resize_bilinear_grad_step<T>& step) {
    if (step.is_double) loops_of<kernels::resize_bilinear_grad_kernel<double>>::run(step.doubles);
    else loops_of<kernels::resize_bilinear_grad_kernel<float>>::run(step.floats);
  }
};

}  // namespace leat::cpu
