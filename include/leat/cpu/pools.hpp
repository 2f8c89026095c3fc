#pragma once
// Pooling of images and volumes on the CPU, channels last: the largest element of each window, its place, or the mean of its elements, and
// the gradients. Source: TensorFlow `MaxPool`, `AvgPool`, `MaxPool3D`, `AvgPool3D`, `MaxPoolWithArgmax` and their gradients.

#include <leat/cpu/channel_groups.hpp>
#include <leat/cpu/images.hpp>
#include <leat/cpu/math.hpp>

#include <limits>

namespace leat::cpu {

namespace detail {
/// The part of a window that lies in the image.
struct window_box {
  std::int64_t front, behind, top, bottom, left, right;
  bool is_empty() const { return front >= behind || top >= bottom || left >= right; }
  std::int64_t pixels() const { return (behind - front) * (bottom - top) * (right - left); }
};
/// Calls f(position of the first in the result, its box, windows) for all windows of one image, in order. Windows whose parts in the image
/// are equally large and follow each other along the width come together: a run.
template <class F>
void for_each_run(const image_windows& in, F f) {
  const auto first = [](const window_axis& a, std::int64_t at) { return std::max<std::int64_t>(a.begin(at), 0); };
  const auto end = [](const window_axis& a, std::int64_t at) { return std::min(a.begin(at) + a.window, a.size); };
  // The windows [begin_whole, end_whole) of a row lie within the width.
  const std::int64_t begin_whole = (in.w.before + in.w.stride - 1) / in.w.stride, last = in.w.size + in.w.before - in.w.window;
  const std::int64_t end_whole = last < 0 ? 0 : std::min(last / in.w.stride + 1, in.w.count);
  std::int64_t at = 0;
  for (std::int64_t l = 0; l < in.d.count; ++l)
    for (std::int64_t i = 0; i < in.h.count; ++i)
      for (std::int64_t j = 0; j < in.w.count;) {
        const std::int64_t windows = j >= begin_whole && j < end_whole ? end_whole - j : 1;
        f(at, window_box{first(in.d, l), end(in.d, l), first(in.h, i), end(in.h, i), first(in.w, j), end(in.w, j)}, windows);
        at += windows;
        j += windows;
      }
}
/// As `for_each_run` for runs that are not empty. Elements of `to`, an image, are 0 when the first window adds to them: its rows (a
/// volume's layers) are set to 0 just before, so that they are in the cache.
template <class T, class F>
void for_each_run_over_zeros(const image_windows& in, T* to, F f) {
  const std::int64_t row = in.w.size * in.channels;
  std::int64_t ready = 0;
  const auto set_zero_to = [&](std::int64_t end) {
    if (end <= ready) return;
    std::fill_n(to + ready * row, (end - ready) * row, T(0));
    ready = end;
  };
  for_each_run(in, [&](std::int64_t at, const window_box& box, std::int64_t windows) {
    if (box.is_empty()) return;
    set_zero_to(in.d.size == 1 ? box.bottom : box.behind * in.h.size);
    f(at, box, windows);
  });
  set_zero_to(in.d.size * in.h.size);
}
/// Calls f(position of the window in the result, box) for the windows of one image, in order.
template <class F>
void for_each_window(const image_windows& in, F f) {
  for_each_run(in, [&](std::int64_t at, window_box box, std::int64_t windows) {
    for (std::int64_t k = 0; k < windows; ++k, box.left += in.w.stride, box.right += in.w.stride) f(at + k, box);
  });
}
/// Whether each element of an image lies in exactly one window.
inline bool are_tiles(const image_windows& in) {
  const auto tiles = [](const window_axis& a) {
    return a.count > 0 && a.stride == a.window && a.begin(0) <= 0 && a.begin(a.count - 1) + a.window >= a.size;
  };
  return tiles(in.d) && tiles(in.h) && tiles(in.w);
}
/// The first element of a box in the image.
inline std::int64_t first_of(const image_windows& in, const window_box& box) {
  return ((box.front * in.h.size + box.top) * in.w.size + box.left) * in.channels;
}
/// Calls f(distance from the first pixel of the box) for the pixels of a box, in order. Size is its height and its width if it has one
/// layer and the caller knows them, so that loops are unrolled; otherwise 0.
template <int Size = 0, class F>
[[gnu::always_inline]] inline void for_each_pixel(const image_windows& in, const window_box& box, F f) {
  const std::int64_t channels = in.channels, row = in.w.size * channels;
  if constexpr (Size > 0) {
#pragma GCC unroll 3
    for (int y = 0; y < Size; ++y)
#pragma GCC unroll 3
      for (int x = 0; x < Size; ++x) f(y * row + x * channels);
  } else {
    const std::int64_t layer = in.h.size * row;
    for (std::int64_t z = 0; z < box.behind - box.front; ++z)
      for (std::int64_t y = 0; y < box.bottom - box.top; ++y)
        for (std::int64_t x = 0; x < box.right - box.left; ++x) f(z * layer + y * row + x * channels);
  }
}
/// Where a loop over a run of windows begins, in the image and in the result, counted from their first; how many windows it visits, and how
/// many channels.
struct run_part {
  std::int64_t in_image, in_result, windows;
  int channels;
};
/// Calls f(part, batches, size) for the parts of a run: groups of channels (for_each_channel_group), and `size` as `for_each_pixel` takes
/// it. Several windows come together if one group has all channels.
template <class T, class F>
[[gnu::always_inline]] inline void for_each_part(const image_windows& in, const window_box& box, std::int64_t windows, F f) {
  const std::int64_t height = box.bottom - box.top;
  const std::int64_t size = box.behind - box.front == 1 && height == box.right - box.left ? height : 0;
  const std::int64_t together = in.channels <= 4 * lanes<T> ? windows : 1;
  for (std::int64_t at = 0; at < windows; at += together)
    for_each_channel_group<T>(in.channels, [&](std::int64_t k, int count, auto batches) {
      const run_part part{at * in.w.stride * in.channels + k, at * in.channels + k, together, count};
      constexpr int all = batches.value * lanes<T>;
      if (count < all) return f(part, batches, std::integral_constant<int, 0>{});
      const run_part whole{part.in_image, part.in_result, together, all};
      if (size == 2) f(whole, batches, std::integral_constant<int, 2>{});
      else if (size == 3) f(whole, batches, std::integral_constant<int, 3>{});
      else f(whole, batches, std::integral_constant<int, 0>{});
    });
}
/// Calls f(channel, place in the image of the first of the box's largest elements) for all channels. The box is not empty. NaN counts only
/// where it comes first.
template <class T, class F>
void for_each_largest(const image_windows& in, const T* image, const window_box& box, F f) {
  const std::int64_t first = first_of(in, box);
  // A batch holds the distances of the largest elements, in pixels, as numbers of T.
  if constexpr (std::is_floating_point_v<T>) {
    constexpr std::int64_t exact = std::int64_t{1} << 24;
    if ((box.behind - box.front) * in.h.size * in.w.size < exact) {
      for (std::int64_t k = 0; k < in.channels; k += lanes<T>) {
        const int count = static_cast<int>(std::min<std::int64_t>(in.channels - k, lanes<T>));
        batch<T> best = load_some(image + first + k, count), distance(T(0));
        for_each_pixel(in, box, [&](std::int64_t pixel) {
          const batch<T> value = load_some(image + first + pixel + k, count);
          const auto is_larger = as_mask(best < value);
          best = cpu::select<T>(is_larger, value, best);
          distance = cpu::select<T>(is_larger, batch<T>(static_cast<T>(pixel / in.channels)), distance);
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
      if (image[best] < image[first + pixel + k]) best = first + pixel + k;
    });
    f(k, best);
  }
}
/// Adds the slopes of a run of windows, which are not empty, to the first of each one's largest elements. In batches, each pixel takes the
/// slopes of those channels whose largest element it is: a batch cannot write to several pixels. With `AreTiles`, the windows' elements are
/// written, whatever they were.
template <bool AreTiles, class T>
void add_to_largest(const image_windows& in, const T* image, window_box box, std::int64_t windows, const T* slope, T* to) {
  if constexpr (std::is_floating_point_v<T>) {
    constexpr std::int64_t most_pixels = 32;
    if (box.pixels() <= most_pixels) {
      const std::int64_t first = first_of(in, box);
      for_each_part<T>(in, box, windows, [&](const run_part& part, auto batches, auto size) {
        const T *from = image + first + part.in_image, *slopes_at = slope + part.in_result;
        T* at = to + first + part.in_image;
        const std::int64_t step = in.w.stride * in.channels, channels = in.channels;
        for (std::int64_t w = 0; w < part.windows; ++w, from += step, at += step, slopes_at += channels) {
          batch<T> best[batches.value], chosen[batches.value], slopes[batches.value];
#pragma GCC unroll 4
          for (int j = 0; j < batches.value; ++j) {
            best[j] = load_of_group<batches.value>(from, j, part.channels);
            slopes[j] = load_of_group<batches.value>(slopes_at, j, part.channels);
            chosen[j] = batch<T>(T(0));
          }
          T number = 0;
          for_each_pixel<size.value>(in, box, [&](std::int64_t pixel) {
#pragma GCC unroll 4
            for (int j = 0; j < batches.value; ++j) {
              const batch<T> value = load_of_group<batches.value>(from + pixel, j, part.channels);
              const auto is_larger = as_mask(best[j] < value);
              best[j] = cpu::select<T>(is_larger, value, best[j]);
              chosen[j] = cpu::select<T>(is_larger, batch<T>(number), chosen[j]);
            }
            number += T(1);
          });
          number = 0;
          for_each_pixel<size.value>(in, box, [&](std::int64_t pixel) {
            batch<T> sum[batches.value];
#pragma GCC unroll 4
            for (int j = 0; j < batches.value; ++j) {
              if constexpr (AreTiles) sum[j] = batch<T>(T(0));
              else sum[j] = load_of_group<batches.value>(at + pixel, j, part.channels);
              sum[j] = cpu::select<T>(as_mask(chosen[j] == batch<T>(number)), sum[j] + slopes[j], sum[j]);
            }
            store_group(at + pixel, sum, part.channels);
            number += T(1);
          });
        }
      });
      return;
    }
  }
  for (std::int64_t w = 0; w < windows; ++w, box.left += in.w.stride, box.right += in.w.stride, slope += in.channels) {
    if constexpr (AreTiles)
      for_each_pixel(in, box, [&](std::int64_t pixel) { std::fill_n(to + first_of(in, box) + pixel, in.channels, T(0)); });
    for_each_largest(in, image, box, [&](std::int64_t k, std::int64_t best) { to[best] = pixel_math<T>::add(to[best], slope[k]); });
  }
}
/// Adds to each element of a run of windows, or writes with `AreTiles`, the slope of its window's mean.
template <bool AreTiles, class T>
void add_to_all(const image_windows& in, const window_box& box, std::int64_t windows, const T* slope, T* to) {
  const batch<T> share(T(1) / static_cast<T>(box.pixels()));
  for_each_part<T>(in, box, windows, [&](const run_part& part, auto batches, auto size) {
    const T* slopes_at = slope + part.in_result;
    T* at = to + first_of(in, box) + part.in_image;
    const std::int64_t step = in.w.stride * in.channels, channels = in.channels;
    for (std::int64_t w = 0; w < part.windows; ++w, at += step, slopes_at += channels) {
      batch<T> element[batches.value];
#pragma GCC unroll 4
      for (int j = 0; j < batches.value; ++j) element[j] = share * load_of_group<batches.value>(slopes_at, j, part.channels);
      for_each_pixel<size.value>(in, box, [&](std::int64_t pixel) {
        batch<T> sum[batches.value];
#pragma GCC unroll 4
        for (int j = 0; j < batches.value; ++j)
          sum[j] = AreTiles ? element[j] : load_of_group<batches.value>(at + pixel, j, part.channels) + element[j];
        store_group(at + pixel, sum, part.channels);
      });
    }
  });
}
/// The mean of each channel in a run of windows.
template <class T>
void write_mean(const image_windows& in, const T* image, const window_box& box, std::int64_t windows, T* to) {
  const batch<T> pixels(static_cast<T>(box.pixels()));
  for_each_part<T>(in, box, windows, [&](const run_part& part, auto batches, auto size) {
    const T* from = image + first_of(in, box) + part.in_image;
    T* at = to + part.in_result;
    const std::int64_t step = in.w.stride * in.channels, channels = in.channels;
    for (std::int64_t w = 0; w < part.windows; ++w, from += step, at += channels) {
      batch<T> sum[batches.value];
      for (batch<T>& s : sum) s = batch<T>(T(0));
      for_each_pixel<size.value>(in, box, [&](std::int64_t pixel) {
#pragma GCC unroll 4
        for (int j = 0; j < batches.value; ++j) sum[j] = sum[j] + load_of_group<batches.value>(from + pixel, j, part.channels);
      });
      for (batch<T>& s : sum) s = batch_math<T>::divide(s, pixels);  // not xsimd's, which is an approximation on ARM
      store_group(at, sum, part.channels);
    }
  });
}
/// The largest element of each channel in a run of windows that are not empty.
template <class T>
void write_largest(const image_windows& in, const T* image, const window_box& box, std::int64_t windows, T* to) {
  const std::int64_t first = first_of(in, box), step = in.w.stride * in.channels, channels = in.channels;
  if constexpr (std::is_floating_point_v<T>) {
    for_each_part<T>(in, box, windows, [&](const run_part& part, auto batches, auto size) {
      const T* from = image + first + part.in_image;
      T* at = to + part.in_result;
      for (std::int64_t w = 0; w < part.windows; ++w, from += step, at += channels) {
        batch<T> best[batches.value];
#pragma GCC unroll 4
        for (int j = 0; j < batches.value; ++j) best[j] = load_of_group<batches.value>(from, j, part.channels);
        for_each_pixel<size.value>(in, box, [&](std::int64_t pixel) {
#pragma GCC unroll 4
          for (int j = 0; j < batches.value; ++j) {
            const batch<T> value = load_of_group<batches.value>(from + pixel, j, part.channels);
            best[j] = cpu::select<T>(as_mask(best[j] < value), value, best[j]);
          }
        });
        store_group(at, best, part.channels);
      }
    });
  } else {
    const T* from = image + first;
    for (std::int64_t w = 0; w < windows; ++w, from += step, to += channels) {
      std::copy_n(from, channels, to);
      for_each_pixel(in, box, [&](std::int64_t pixel) {
        for (std::int64_t k = 0; k < channels; ++k) to[k] = to[k] < from[pixel + k] ? from[pixel + k] : to[k];
      });
    }
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
    detail::for_each_run(in, [&](std::int64_t at, const detail::window_box& box, std::int64_t windows) {
      T* const to = out + (image * in.positions() + at) * in.channels;
      if (box.is_empty()) std::fill_n(to, windows * in.channels, std::numeric_limits<T>::lowest());
      else detail::write_largest(in, from, box, windows, to);
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
    const T* const slopes = dy + image * in.positions() * in.channels;
    T* const to = to_images + image * in.image_elements();
    if (detail::are_tiles(in)) {
      detail::for_each_run(in, [&](std::int64_t at, const detail::window_box& box, std::int64_t windows) {
        if (!box.is_empty()) detail::add_to_largest<true>(in, from, box, windows, slopes + at * in.channels, to);
      });
    } else {
      detail::for_each_run_over_zeros(in, to, [&](std::int64_t at, const detail::window_box& box, std::int64_t windows) {
        detail::add_to_largest<false>(in, from, box, windows, slopes + at * in.channels, to);
      });
    }
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
      const std::int64_t first = detail::first_of(in, box);
      detail::for_each_pixel(in, box, [&](std::int64_t distance) {
        const std::int64_t pixel = first + distance;
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
    detail::for_each_run(in, [&](std::int64_t at, const detail::window_box& box, std::int64_t windows) {
      detail::write_mean(in, from, box, windows, out + (image * in.positions() + at) * in.channels);
    });
  });
}
/// The gradient by the images: each element of dy is spread evenly over its window.
template <class T>
void average_pool_back(const image_windows& in, const T* dy, T* to_images) {
  detail::for_each_image(in, [&](std::int64_t image) {
    const T* const slopes = dy + image * in.positions() * in.channels;
    T* const to = to_images + image * in.image_elements();
    if (detail::are_tiles(in)) {
      detail::for_each_run(in, [&](std::int64_t at, const detail::window_box& box, std::int64_t windows) {
        if (!box.is_empty()) detail::add_to_all<true>(in, box, windows, slopes + at * in.channels, to);
      });
    } else {
      detail::for_each_run_over_zeros(in, to, [&](std::int64_t at, const detail::window_box& box, std::int64_t windows) {
        detail::add_to_all<false>(in, box, windows, slopes + at * in.channels, to);
      });
    }
  });
}

}  // namespace leat::cpu
