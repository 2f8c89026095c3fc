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
/// The two pixels of a row between which one of the result lies, as the places of their first channels, and how far it is from the first.
struct resized_column {
  std::int64_t left, right;
  float share;
};
/// The first pixels of a row of the result, each between two of the row `above` and two of the row `below`.
inline void resize_row(const float* above, const float* below, const resized_column* columns, std::int64_t pixels, std::int64_t channels,
                       float share, float* to) {
  using math = batch_math<float>;
  const batch<float> down(share);
  for (const resized_column *u = columns, *const end = columns + pixels; u < end; ++u, to += channels) {
    const batch<float> across(u->share);
    const auto between = [](const batch<float>& a, const batch<float>& b, const batch<float>& part) __attribute__((always_inline)) {
      return math::add(a, math::multiply(math::subtract(b, a), part));
    };
    const auto write = [&](std::int64_t k, int count) __attribute__((always_inline)) {
      const batch<float> top = between(load_some(above + u->left + k, count), load_some(above + u->right + k, count), across);
      const batch<float> bottom = between(load_some(below + u->left + k, count), load_some(below + u->right + k, count), across);
      store_some(to + k, between(top, bottom, down), count);
    };
    std::int64_t k = 0;
    for (; k + lanes<float> <= channels; k += lanes<float>) write(k, lanes<float>);
    if (k < channels) write(k, static_cast<int>(channels - k));
  }
}
}  // namespace detail

/// The places in a row are found once, unless it is so long that they would take much memory.
template <class T>
struct loops_of<kernels::resize_bilinear_kernel<T>> {
  static void run(const kernels::resize_bilinear_kernel<T>& kernel) {
    const auto& r = kernel.r;
    const std::int64_t kept = std::min<std::int64_t>(r.to_w, 1 << 14);
    if constexpr (std::is_same_v<T, float>) {
      const scratch<detail::resized_column> columns(kept);
      for (std::int64_t x = 0; x < kept; ++x) {
        const auto u = r.columns.neighbors(x);
        columns.get()[x] = {u.lower * r.channels, u.upper * r.channels, u.share};
      }
      parallel_for(r.batch * r.to_h, [&](std::int64_t row) {
        const auto down = r.rows.neighbors(row % r.to_h);
        const float* const image = kernel.in + row / r.to_h * r.of_image();
        const std::int64_t of_row = r.w * r.channels;
        detail::resize_row(image + down.lower * of_row, image + down.upper * of_row, columns.get(), kept, r.channels, down.share,
                           kernel.out + row * r.to_w * r.channels);
        for (std::int64_t x = kept; x < r.to_w; ++x)
          kernel.write(row / r.to_h, row * r.to_w + x, r.around(down, r.columns.neighbors(x)));
      });
    } else {
      const scratch<kernels::resized_axis::between> columns(kept);
      for (std::int64_t x = 0; x < kept; ++x) columns.get()[x] = r.columns.neighbors(x);
      parallel_for(r.batch * r.to_h, [&](std::int64_t row) {
        const auto down = r.rows.neighbors(row % r.to_h);
        for (std::int64_t x = 0; x < r.to_w; ++x)
          kernel.write(row / r.to_h, row * r.to_w + x, r.around(down, x < kept ? columns.get()[x] : r.columns.neighbors(x)));
      });
    }
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
