#pragma once
// Pooling of images and volumes on the CPU, channels last: the largest element of each window, its place, or the mean of its elements, and
// the gradients. Source: TensorFlow `MaxPool`, `AvgPool`, `MaxPool3D`, `AvgPool3D`, `MaxPoolWithArgmax` and their gradients.

#include <leat/cpu/channel_groups.hpp>
#include <leat/cpu/images.hpp>

#include <limits>

namespace leat::cpu {

namespace detail {
/// The part of a window that lies in the image.
struct window_box {
  std::int64_t front, behind, top, bottom, left, right;
  bool is_empty() const { return front >= behind || top >= bottom || left >= right; }
  std::int64_t pixels() const { return (behind - front) * (bottom - top) * (right - left); }
};
/// Calls f(position of the window in the result, box) for the windows of one image, in order.
template <class F>
void for_each_window(const image_windows& in, F f) {
  const auto first = [](const window_axis& a, std::int64_t at) { return std::max<std::int64_t>(a.begin(at), 0); };
  const auto end = [](const window_axis& a, std::int64_t at) { return std::min(a.begin(at) + a.window, a.size); };
  std::int64_t at = 0;
  for (std::int64_t l = 0; l < in.d.count; ++l)
    for (std::int64_t i = 0; i < in.h.count; ++i)
      for (std::int64_t j = 0; j < in.w.count; ++j)
        f(at++, window_box{first(in.d, l), end(in.d, l), first(in.h, i), end(in.h, i), first(in.w, j), end(in.w, j)});
}
/// Calls f(first channel of the pixel, in the image) for the pixels of a box, in order.
template <class F>
[[gnu::always_inline]] inline void for_each_pixel(const image_windows& in, const window_box& box, F f) {
  for (std::int64_t z = box.front; z < box.behind; ++z)
    for (std::int64_t y = box.top; y < box.bottom; ++y)
      for (std::int64_t x = box.left; x < box.right; ++x) f(((z * in.h.size + y) * in.w.size + x) * in.channels);
}
/// Calls f(channel, place in the image of the first of the box's largest elements) for all channels. The box is not empty. NaN counts only
/// where it comes first.
template <class T, class F>
void for_each_largest(const image_windows& in, const T* image, const window_box& box, F f) {
  const std::int64_t first = ((box.front * in.h.size + box.top) * in.w.size + box.left) * in.channels;
  // A batch holds the distances of the largest elements, in pixels, as numbers of T.
  if constexpr (std::is_floating_point_v<T>) {
    constexpr std::int64_t exact = std::int64_t{1} << 24;
    if ((box.behind - box.front) * in.h.size * in.w.size < exact) {
      for (std::int64_t k = 0; k < in.channels; k += lanes<T>) {
        const int count = static_cast<int>(std::min<std::int64_t>(in.channels - k, lanes<T>));
        batch<T> best = load_some(image + first + k, count), distance(T(0));
        for_each_pixel(in, box, [&](std::int64_t pixel) {
          const batch<T> value = load_some(image + pixel + k, count);
          const auto is_larger = as_mask(best < value);
          best = cpu::select<T>(is_larger, value, best);
          distance = cpu::select<T>(is_larger, batch<T>(static_cast<T>((pixel - first) / in.channels)), distance);
        });
        alignas(batch<T>) T distances[lanes<T>];
        distance.store_aligned(distances);
        for (int j = 0; j < count; ++j) f(k + j, first + static_cast<std::int64_t>(distances[j]) * in.channels + k + j);
      }
      return;
    }
  }
  for (std::int64_t k = 0; k < in.channels; ++k) {
    std::int64_t best = first + k;
    for_each_pixel(in, box, [&](std::int64_t pixel) {
      if (image[best] < image[pixel + k]) best = pixel + k;
    });
    f(k, best);
  }
}
/// Adds the slopes of a window, which is not empty, to the first of its largest elements. In batches, each pixel takes the slopes of those
/// channels whose largest element it is: a batch cannot write to several pixels.
template <class T>
void add_to_largest(const image_windows& in, const T* image, const window_box& box, const T* slope, T* to) {
  if constexpr (std::is_floating_point_v<T>) {
    constexpr std::int64_t most_pixels = 32;
    if (box.pixels() <= most_pixels) {
      const std::int64_t first = ((box.front * in.h.size + box.top) * in.w.size + box.left) * in.channels;
      for_each_channel_group<T>(in.channels, [&](std::int64_t k, int count, auto batches) {
        batch<T> best[batches.value], chosen[batches.value], slopes[batches.value];
        for (int j = 0; j < batches.value; ++j) {
          best[j] = load_of_group<batches.value>(image + first + k, j, count);
          slopes[j] = load_of_group<batches.value>(slope + k, j, count);
          chosen[j] = batch<T>(T(0));
        }
        T number = 0;
        for_each_pixel(in, box, [&](std::int64_t pixel) {
#pragma GCC unroll 4
          for (int j = 0; j < batches.value; ++j) {
            const batch<T> value = load_of_group<batches.value>(image + pixel + k, j, count);
            const auto is_larger = as_mask(best[j] < value);
            best[j] = cpu::select<T>(is_larger, value, best[j]);
            chosen[j] = cpu::select<T>(is_larger, batch<T>(number), chosen[j]);
          }
          number += T(1);
        });
        number = 0;
        for_each_pixel(in, box, [&](std::int64_t pixel) {
          batch<T> sum[batches.value];
#pragma GCC unroll 4
          for (int j = 0; j < batches.value; ++j) {
            sum[j] = load_of_group<batches.value>(to + pixel + k, j, count);
            sum[j] = cpu::select<T>(as_mask(chosen[j] == batch<T>(number)), sum[j] + slopes[j], sum[j]);
          }
          store_group(to + pixel + k, sum, count);
          number += T(1);
        });
      });
      return;
    }
  }
  for_each_largest(in, image, box, [&](std::int64_t k, std::int64_t best) { to[best] = pixel_math<T>::add(to[best], slope[k]); });
}
/// The mean of each channel in a box.
template <class T>
void write_mean(const image_windows& in, const T* image, const window_box& box, T* to) {
  const batch<T> pixels(static_cast<T>(box.pixels()));
  for_each_channel_group<T>(in.channels, [&](std::int64_t k, int count, auto batches) {
    batch<T> sum[batches.value];
    for (batch<T>& s : sum) s = batch<T>(T(0));
    for_each_pixel(in, box, [&](std::int64_t pixel) {
#pragma GCC unroll 4
      for (int j = 0; j < batches.value; ++j) sum[j] = sum[j] + load_of_group<batches.value>(image + pixel + k, j, count);
    });
    for (batch<T>& s : sum) s = s / pixels;
    store_group(to + k, sum, count);
  });
}
/// The largest element of each channel in a box that is not empty.
template <class T>
void write_largest(const image_windows& in, const T* image, const window_box& box, T* to) {
  const std::int64_t first = ((box.front * in.h.size + box.top) * in.w.size + box.left) * in.channels;
  if constexpr (std::is_floating_point_v<T>) {
    for_each_channel_group<T>(in.channels, [&](std::int64_t k, int count, auto batches) {
      batch<T> best[batches.value];
      for (int j = 0; j < batches.value; ++j) best[j] = load_of_group<batches.value>(image + first + k, j, count);
      for_each_pixel(in, box, [&](std::int64_t pixel) {
#pragma GCC unroll 4
        for (int j = 0; j < batches.value; ++j) {
          const batch<T> value = load_of_group<batches.value>(image + pixel + k, j, count);
          best[j] = cpu::select<T>(as_mask(best[j] < value), value, best[j]);
        }
      });
      store_group(to + k, best, count);
    });
  } else {
    std::copy_n(image + first, in.channels, to);
    for_each_pixel(in, box, [&](std::int64_t pixel) {
      for (std::int64_t k = 0; k < in.channels; ++k) to[k] = to[k] < image[pixel + k] ? image[pixel + k] : to[k];
    });
  }
}
/// Calls f(image) for all images, on several threads if they are worth it. An element that is compared costs more than a multiplication of
/// a product, whose operands stay in registers.
template <class F>
void for_each_image(const image_windows& in, F f) {
  constexpr std::int64_t cost_of_element = 8;
  share(in.batch, cost_of_element * in.batch * in.positions() * in.window_elements() * in.channels, f);
}
}  // namespace detail

/// The largest element of each window, per channel. NaN counts only where it comes first, as in the gradient.
template <class T>
void max_pool(const image_windows& in, const T* images, T* out) {
  detail::for_each_image(in, [&](std::int64_t image) {
    const T* const from = images + image * in.image_elements();
    detail::for_each_window(in, [&](std::int64_t at, const detail::window_box& box) {
      T* const to = out + (image * in.positions() + at) * in.channels;
      if (box.is_empty()) std::fill_n(to, in.channels, std::numeric_limits<T>::lowest());
      else detail::write_largest(in, from, box, to);
    });
  });
}
/// As `max_pool`, with the places of these elements in their image, or in all images with `in_batch`.
template <class T, class Place>
void max_pool_with_places(const image_windows& in, const T* images, bool in_batch, T* out, Place* places) {
  detail::for_each_image(in, [&](std::int64_t image) {
    const T* const from = images + image * in.image_elements();
    const std::int64_t base = in_batch ? image * in.image_elements() : 0;
    detail::for_each_window(in, [&](std::int64_t at, const detail::window_box& box) {
      const std::int64_t to = (image * in.positions() + at) * in.channels;
      detail::for_each_largest(in, from, box, [&](std::int64_t k, std::int64_t best) {
        out[to + k] = from[best];
        places[to + k] = static_cast<Place>(base + best);
      });
    });
  });
}
/// The gradient by the images: each element of dy goes to the first of the largest elements of its window.
template <class T>
void max_pool_back(const image_windows& in, const T* images, const T* dy, T* to_images) {
  detail::for_each_image(in, [&](std::int64_t image) {
    const T* const from = images + image * in.image_elements();
    T* const to = to_images + image * in.image_elements();
    std::fill_n(to, in.image_elements(), T(0));
    detail::for_each_window(in, [&](std::int64_t at, const detail::window_box& box) {
      if (box.is_empty()) return;
      detail::add_to_largest(in, from, box, dy + (image * in.positions() + at) * in.channels, to);
    });
  });
}
/// As `max_pool_back`, but each element of dy goes to all elements that equal the result of their window.
template <class T>
void max_pool_back_to_equals(const image_windows& in, const T* images, const T* results, const T* dy, T* to_images) {
  detail::for_each_image(in, [&](std::int64_t image) {
    const T* const from = images + image * in.image_elements();
    T* const to = to_images + image * in.image_elements();
    std::fill_n(to, in.image_elements(), T(0));
    detail::for_each_window(in, [&](std::int64_t at, const detail::window_box& box) {
      const std::int64_t window = (image * in.positions() + at) * in.channels;
      detail::for_each_pixel(in, box, [&](std::int64_t pixel) {
        for (std::int64_t k = 0; k < in.channels; ++k)
          if (from[pixel + k] == results[window + k]) to[pixel + k] = detail::pixel_math<T>::add(to[pixel + k], dy[window + k]);
      });
    });
  });
}
/// The gradient of `max_pool_back` by dy: of each window, the element of `slopes`, an array of images, where the image is largest.
template <class T>
void max_pool_back_back(const image_windows& in, const T* images, const T* slopes, T* out) {
  detail::for_each_image(in, [&](std::int64_t image) {
    const T* const from = images + image * in.image_elements();
    const T* const taken = slopes + image * in.image_elements();
    detail::for_each_window(in, [&](std::int64_t at, const detail::window_box& box) {
      T* const to = out + (image * in.positions() + at) * in.channels;
      if (box.is_empty()) std::fill_n(to, in.channels, T(0));
      else detail::for_each_largest(in, from, box, [&](std::int64_t k, std::int64_t best) { to[k] = taken[best]; });
    });
  });
}

/// The mean of each window's elements within the image, per channel.
template <class T>
void average_pool(const image_windows& in, const T* images, T* out) {
  detail::for_each_image(in, [&](std::int64_t image) {
    const T* const from = images + image * in.image_elements();
    detail::for_each_window(in, [&](std::int64_t at, const detail::window_box& box) {
      detail::write_mean(in, from, box, out + (image * in.positions() + at) * in.channels);
    });
  });
}
/// The gradient by the images: each element of dy is spread evenly over its window.
template <class T>
void average_pool_back(const image_windows& in, const T* dy, T* to_images) {
  detail::for_each_image(in, [&](std::int64_t image) {
    T* const to = to_images + image * in.image_elements();
    std::fill_n(to, in.image_elements(), T(0));
    detail::for_each_window(in, [&](std::int64_t at, const detail::window_box& box) {
      const T* const slope = dy + (image * in.positions() + at) * in.channels;
      const batch<T> share(T(1) / static_cast<T>(box.pixels()));
      for (std::int64_t k = 0; k < in.channels; k += lanes<T>) {
        const int count = static_cast<int>(std::min<std::int64_t>(in.channels - k, lanes<T>));
        const batch<T> part = share * detail::load_some(slope + k, count);
        detail::for_each_pixel(in, box, [&](std::int64_t pixel) {
          detail::store_some(to + pixel + k, detail::load_some(to + pixel + k, count) + part, count);
        });
      }
    });
  });
}

}  // namespace leat::cpu
