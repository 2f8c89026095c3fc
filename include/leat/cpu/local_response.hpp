#pragma once
// Normalization over neighboring channels on the CPU, in batches of channels, in the place of the kernels for any device
// (kernels/local_response.hpp), from which it takes the formula. A pixel's squares lie in memory between zeros, so that no window is cut.

#include <leat/cpu/batch.hpp>
#include <leat/cpu/kernel_loops.hpp>
#include <leat/cpu/math.hpp>
#include <leat/cpu/matmul/tile.hpp>
#include <leat/cpu/parallel.hpp>
#include <leat/cpu/scratch.hpp>
#include <leat/kernels/local_response.hpp>

namespace leat::cpu {

namespace detail {
/// Numbers of one pixel's channels between zeros.
template <class T>
class padded_channels {
 public:
  explicit padded_channels(const kernels::channel_window& w) : w_(w), all_(w.channels + 2 * w.radius + lanes<T>) {
    std::fill_n(all_.get(), w.channels + 2 * w.radius + lanes<T>, T(0));
  }
  /// Those of a batch of channels that begins with channel k.
  T* at(std::int64_t k) const { return all_.get() + w_.radius + k; }
  /// Their sums over the windows around the batch's channels.
  batch<T> sum(std::int64_t k) const {
    const T* const first = all_.get() + k;
    batch<T> total(T(0));
    for (std::int64_t j = 0; j <= 2 * w_.radius; ++j) total = batch_math<T>::add(total, load(first + j));
    return total;
  }

 private:
  const kernels::channel_window& w_;
  scratch<T> all_;
};
/// Calls f(first channel, channels) for batches of a pixel's channels.
template <class T, class F>
void for_each_batch(const kernels::channel_window& w, F f) {
  for (std::int64_t k = 0; k < w.channels; k += lanes<T>) f(k, static_cast<int>(std::min<std::int64_t>(w.channels - k, lanes<T>)));
}
/// Calls f(first pixel, end) for blocks of pixels, on several threads.
template <class Kernel, class F>
void share_pixels(const Kernel& kernel, F f) {
  const std::int64_t step = std::max<std::int64_t>((1 << 13) / std::max<std::int64_t>(kernel.w.channels, 1), 1), rows = kernel.items();
  parallel_for((rows + step - 1) / step, [&](std::int64_t block) { f(block * step, std::min((block + 1) * step, rows)); });
}
}  // namespace detail

template <class T>
struct loops_of<kernels::local_response_kernel<T>> {
  static void run(const kernels::local_response_kernel<T>& kernel) {
    using math = batch_math<T>;
    detail::share_pixels(kernel, [&](std::int64_t begin, std::int64_t end) {
      const auto w = kernel.w;
      const detail::padded_channels<T> squares(w);
      for (std::int64_t row = begin; row < end; ++row) {
        const T* const in = kernel.in + row * w.channels;
        T* const out = kernel.out + row * w.channels;
        for (std::int64_t k = 0; k < w.channels; ++k) squares.at(0)[k] = in[k] * in[k];
        detail::for_each_batch<T>(w, [&](std::int64_t k, int count) {
          const batch<T> norm = w.template norm_of<math>(squares.sum(k));
          detail::store_some(out + k, math::multiply(detail::load_some(in + k, count), w.template factor<math>(norm)), count);
        });
      }
    });
  }
};
template <class T>
struct loops_of<kernels::local_response_grad_kernel<T>> {
  static void run(const kernels::local_response_grad_kernel<T>& kernel) {
    using math = batch_math<T>;
    detail::share_pixels(kernel, [&](std::int64_t begin, std::int64_t end) {
      const auto w = kernel.w;
      const batch<T> scale(w.template scale_of_shared<T>());
      const detail::padded_channels<T> squares(w), shared[]{detail::padded_channels<T>(w), detail::padded_channels<T>(w)};
      const auto begin_row = [&](std::int64_t row) {
        const std::int64_t first = row * w.channels;
        const T *const in = kernel.in + first, *const slopes = kernel.slopes + first, *const results = kernel.results + first;
        for (std::int64_t k = 0; k < w.channels; ++k) squares.at(0)[k] = in[k] * in[k];
        detail::for_each_batch<T>(w, [&](std::int64_t k, int count) {
          const batch<T> norm = w.template norm_of<math>(squares.sum(k)), slope = detail::load_some(slopes + k, count);
          const batch<T> part = math::multiply(scale, math::divide(detail::load_some(results + k, count), norm));
          detail::store_some(shared[row % 2].at(k), math::multiply(part, slope), count);
          detail::store_some(kernel.out + first + k, math::multiply(w.template factor<math>(norm), slope), count);
        });
      };
      const auto end_row = [&](std::int64_t row) {
        const T* const in = kernel.in + row * w.channels;
        T* const out = kernel.out + row * w.channels;
        detail::for_each_batch<T>(w, [&](std::int64_t k, int count) {
          const batch<T> own = detail::load_some(out + k, count), x = detail::load_some(in + k, count);
          detail::store_some(out + k, math::add(own, math::multiply(shared[row % 2].sum(k), x)), count);
        });
      };
      // A pixel is ended one later: what was just written in batches is slow to read at other places.
      for (std::int64_t row = begin; row < end; ++row) {
        begin_row(row);
        if (row > begin) end_row(row - 1);
      }
      if (begin < end) end_row(end - 1);
    });
  }
};

}  // namespace leat::cpu
