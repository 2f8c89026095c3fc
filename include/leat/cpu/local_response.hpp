#pragma once
// Normalization over neighboring channels on the CPU, in batches of channels, in the place of the kernels for any device
// (kernels/local_response.hpp), from which it takes the formula. The squares of a few pixels lie in memory, each pixel's between zeros, so
// that no window is cut.

#include <leat/cpu/batch.hpp>
#include <leat/cpu/kernel_loops.hpp>
#include <leat/cpu/math.hpp>
#include <leat/cpu/matmul/tile.hpp>
#include <leat/cpu/parallel.hpp>
#include <leat/cpu/scratch.hpp>
#include <leat/kernels/local_response.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace leat::cpu {

namespace detail {
/// Numbers of the channels of a few pixels, each pixel's between zeros.
template <class T>
class padded_channels {
 public:
  padded_channels(const kernels::channel_window& w, std::int64_t pixels)
      : before_(rounded_up(w.radius)), pitch_(before_ + rounded_up(w.channels + w.radius) + lanes<T>), all_(pixels * pitch_) {
    std::fill_n(all_.get(), pixels * pitch_, T(0));
  }
  /// Those of a pixel.
  T* at(std::int64_t pixel) const { return all_.get() + pixel * pitch_ + before_; }
  /// The sums over the windows around a batch of channels, which begins at `first`. `radius` is the settings', or a constant equal to it.
  template <class Radius>
  [[gnu::always_inline]] static batch<T> sum(const T* first, Radius radius) {
    batch<T> total = load(first - radius);
    if constexpr (std::is_same_v<Radius, std::int64_t>) {
      for (std::int64_t j = 1; j <= 2 * radius; ++j) total = batch_math<T>::add(total, load(first - radius + j));
    } else {
      [&]<std::int64_t... J>(std::integer_sequence<std::int64_t, J...>) __attribute__((always_inline)) {
        ((total = batch_math<T>::add(total, load(first - Radius::value + J + 1))), ...);
      }(std::make_integer_sequence<std::int64_t, 2 * Radius::value>());
    }
    return total;
  }

 private:
  static std::int64_t rounded_up(std::int64_t n) { return (n + lanes<T> - 1) / lanes<T> * lanes<T>; }
  std::int64_t before_, pitch_;
  scratch<T> all_;
};
/// x to the power of -1/4, to the last bit or two: a guess from the exponent, whose error is 3 %, and Newton's steps a + a (1 - x a⁴) / 4,
/// each of which leaves 2.5 times the error's square. That takes a fraction of the time of two roots and a division, which compute what is
/// close to 0 or infinity, no number, or negative.
template <class T>
[[gnu::always_inline]] inline batch<T> reciprocal_fourth_root(const batch<T>& x) {
  using math = batch_math<T>;
  using integer = same_width_integer<T>;
  constexpr integer guess = sizeof(T) == 4 ? static_cast<integer>(0x4f5851eb) : static_cast<integer>(0x4feb0a3d70a3d800);
  batch<T> a = bits_as<T>(from_native<integer>(guess - (to_native(bits_as<integer>(x)) >> 2)));
  const batch<T> quarter(T(0.25)), part = math::multiply(x, batch<T>(T(-0.25)));
#pragma GCC unroll 4
  for (int step = 0; step < (sizeof(T) == 4 ? 3 : 4); ++step) {
    const batch<T> square = math::multiply(a, a);
    a = math::fma(a, math::fma(part, math::multiply(square, square), quarter), a);
  }
  const mask<T> is_usual = math::greater(x, batch<T>(T(0x1p-100))) & math::less(x, batch<T>(T(0x1p100)));
  if (xsimd::all(is_usual)) [[likely]]
    return a;
  return cpu::select<T>(is_usual, a, math::reciprocal(math::sqrt(math::sqrt(x))));
}
/// Calls f(first channel, channels) for batches of a pixel's channels.
template <class T, class F>
[[gnu::always_inline]] inline void for_each_batch(const kernels::channel_window& w, F f) {
  for (std::int64_t k = 0; k < w.channels; k += lanes<T>) f(k, static_cast<int>(std::min<std::int64_t>(w.channels - k, lanes<T>)));
}
/// Calls f(first pixel, end) for blocks of pixels, on several threads.
template <class Kernel, class F>
void share_pixels(const Kernel& kernel, F f) {
  const std::int64_t step = std::max<std::int64_t>((1 << 13) / std::max<std::int64_t>(kernel.w.channels, 1), 1), rows = kernel.items();
  parallel_for((rows + step - 1) / step, [&](std::int64_t block) { f(block * step, std::min((block + 1) * step, rows)); });
}
/// Pixels take each step of the computation together, about this many elements of them: what was just written in batches is slow to read at
/// other places.
inline constexpr std::int64_t elements_per_step = 512;
inline std::int64_t pixels_per_step(const kernels::channel_window& w) {
  return std::max<std::int64_t>(elements_per_step / std::max<std::int64_t>(w.channels, 1), 1);
}
/// Prefetches what the next step reads at this place, or writes. The processor itself does not, because a step's runs are too short.
template <int Write, class T>
[[gnu::always_inline]] inline void prefetch_next(const T* p) {
  __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(p) + elements_per_step * sizeof(T)), Write);
}
/// Writes their squares.
template <class T>
void square_pixels(const padded_channels<T>& to, const kernels::channel_window& w, const T* in, std::int64_t pixels) {
  const std::int64_t channels = w.channels;
  for (std::int64_t p = 0; p < pixels; ++p, in += channels) {
    T* const squares = to.at(p);
    for (std::int64_t k = 0; k < channels; k += lanes<T>) {
      const int count = static_cast<int>(std::min<std::int64_t>(channels - k, lanes<T>));
      prefetch_next<0>(in + k);
      const batch<T> x = load_some(in + k, count);
      store_some(squares + k, batch_math<T>::multiply(x, x), count);
    }
  }
}
}  // namespace detail

template <class T>
struct loops_of<kernels::local_response_kernel<T>> {
  static void run(const kernels::local_response_kernel<T>& kernel) {
    using math = batch_math<T>;
    detail::share_pixels(kernel, [&](std::int64_t begin, std::int64_t end) {
      const auto w = kernel.w;
      const std::int64_t step = detail::pixels_per_step(w);
      const detail::padded_channels<T> squares(w, step);
      for (std::int64_t row = begin; row < end; row += step) {
        const std::int64_t pixels = std::min(step, end - row);
        detail::square_pixels(squares, w, kernel.in + row * w.channels, pixels);
        for (std::int64_t p = 0; p < pixels; ++p) {
          const T *const in = kernel.in + (row + p) * w.channels, *const around = squares.at(p);
          T* const out = kernel.out + (row + p) * w.channels;
          detail::for_each_batch<T>(w, [&](std::int64_t k, int count) __attribute__((always_inline)) {
            const batch<T> norm = w.template norm_of<math>(squares.sum(around + k, w.radius));
            detail::store_some(out + k, math::multiply(detail::load_some(in + k, count), w.template factor<math>(norm)), count);
          });
        }
      }
    });
  }
};
namespace detail {
/// The gradient of a few pixels takes three steps: their squares, what neighbors share, and the sums of that.
template <class T>
class local_response_slopes {
 public:
  explicit local_response_slopes(const kernels::local_response_grad_kernel<T>& kernel)
      : kernel_(kernel),
        step_(pixels_per_step(kernel.w)),
        squares_(kernel.w, step_),
        shared_(kernel.w, step_),
        own_(step_ * kernel.w.channels) {}
  /// `radius` is the settings', or a constant equal to it; `by_roots` whether beta is 3/4.
  template <class Radius, class ByRoots>
  void run(std::int64_t begin, std::int64_t end, Radius radius, ByRoots by_roots) const {
    for (std::int64_t row = begin; row < end; row += step_) {
      const std::int64_t pixels = std::min(step_, end - row);
      square_pixels(squares_, kernel_.w, kernel_.in + row * kernel_.w.channels, pixels);
      weigh(row, pixels, radius, by_roots);
      add(row, pixels, radius);
    }
  }

 private:
  using math = batch_math<T>;
  const kernels::local_response_grad_kernel<T>& kernel_;
  std::int64_t step_;
  padded_channels<T> squares_, shared_;
  scratch<T> own_;

  template <class Radius, class ByRoots>
  void weigh(std::int64_t row, std::int64_t pixels, Radius radius, ByRoots) const {
    const auto w = kernel_.w;  // a copy, which no store can change
    const batch<T> scale(w.template scale_of_shared<T>());
    for (std::int64_t p = 0; p < pixels; ++p) {
      const T *const slopes = kernel_.slopes + (row + p) * w.channels, *const results = kernel_.results + (row + p) * w.channels;
      const T* const squares = squares_.at(p);
      T *const own = own_.get() + p * w.channels, *const shared = shared_.at(p);
      for_each_batch<T>(w, [&](std::int64_t k, int count) __attribute__((always_inline)) {
        prefetch_next<0>(slopes + k);
        prefetch_next<0>(results + k);
        const batch<T> norm = w.template norm_of<math>(padded_channels<T>::sum(squares + k, radius));
        const batch<T> slope = load_some(slopes + k, count), y = math::multiply(scale, load_some(results + k, count));
        batch<T> factor, part;
        if constexpr (ByRoots::value) {
          const batch<T> root = reciprocal_fourth_root(norm), square = math::multiply(root, root);
          factor = math::multiply(square, root);
          part = math::multiply(y, math::multiply(square, square));
        } else {
          factor = w.template factor<math>(norm);
          part = math::divide(y, norm);
        }
        store_some(shared + k, math::multiply(part, slope), count);
        store_some(own + k, math::multiply(factor, slope), count);
      });
    }
  }
  template <class Radius>
  void add(std::int64_t row, std::int64_t pixels, Radius radius) const {
    const auto w = kernel_.w;
    for (std::int64_t p = 0; p < pixels; ++p) {
      const T *const in = kernel_.in + (row + p) * w.channels, *const own = own_.get() + p * w.channels, *const shared = shared_.at(p);
      T* const out = kernel_.out + (row + p) * w.channels;
      for_each_batch<T>(w, [&](std::int64_t k, int count) __attribute__((always_inline)) {
        prefetch_next<1>(out + k);
        const batch<T> x = load_some(in + k, count);
        store_some(out + k, math::fma(padded_channels<T>::sum(shared + k, radius), x, load_some(own + k, count)), count);
      });
    }
  }
};
}  // namespace detail
template <class T>
struct loops_of<kernels::local_response_grad_kernel<T>> {
  static void run(const kernels::local_response_grad_kernel<T>& kernel) {
    detail::share_pixels(kernel, [&](std::int64_t begin, std::int64_t end) {
      const detail::local_response_slopes<T> slopes(kernel);
      if (kernel.w.beta != 0.75) slopes.run(begin, end, kernel.w.radius, std::false_type{});
      else if (kernel.w.radius != 2) slopes.run(begin, end, kernel.w.radius, std::true_type{});
      else slopes.run(begin, end, std::integral_constant<std::int64_t, 2>{}, std::true_type{});  // as in the models that use it
    });
  }
};

}  // namespace leat::cpu
