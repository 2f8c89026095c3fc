#pragma once
// Resizing of images on the CPU, in the place of the kernels for any device (kernels/resize.hpp), from which it takes the pixels: threads
// share images, or rows of the results.

#include <leat/cpu/kernel_loops.hpp>
#include <leat/cpu/parallel.hpp>
#include <leat/cpu/scratch.hpp>
#include <leat/kernels/resize.hpp>

#include <algorithm>

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
/// The places in a row are found once, unless it is so long that they would take much memory.
template <class T>
struct loops_of<kernels::resize_bilinear_kernel<T>> {
  static void run(const kernels::resize_bilinear_kernel<T>& kernel) {
    const auto& r = kernel.r;
    const std::int64_t kept = std::min<std::int64_t>(r.to_w, 1 << 14);
    const scratch<kernels::resized_axis::between> columns(kept);
    for (std::int64_t x = 0; x < kept; ++x) columns.get()[x] = r.columns.neighbors(x);
    parallel_for(r.batch * r.to_h, [&](std::int64_t row) {
      const auto down = r.rows.neighbors(row % r.to_h);
      for (std::int64_t x = 0; x < r.to_w; ++x)
        kernel.write(row / r.to_h, row * r.to_w + x, r.around(down, x < kept ? columns.get()[x] : r.columns.neighbors(x)));
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
