#pragma once
// Convolution of images and volumes on the CPU, channels last. A convolution is a product of matrices: each position of the window is a row
// of the image's elements that it covers (im2col), each filter a column. Blocks of rows, cut by the shape alone, bound the memory and are
// shared by threads; so results do not depend on the number of threads. Source: TensorFlow `Conv2D`, `Conv3D` and their gradients;
// Chellapilla, Puri and Simard, "High performance convolutional neural networks for document processing".

#include <leat/cpu/matmul.hpp>
#include <leat/cpu/parallel.hpp>
#include <leat/cpu/scratch.hpp>
#include <leat/kernels/math/scalar_math.hpp>
#include <leat/ops/windows.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace leat::cpu {

namespace detail {

/// Sums and products of elements; integers wrap around, as in TensorFlow.
template <class T>
using pixel_math = kernels::scalar_math<T>;
template <class T>
void add_product(T& to, T a, T b) {
  to = pixel_math<T>::add(to, pixel_math<T>::multiply(a, b));
}

/// Rows of a block: 131,072 elements, half a megabyte of float32, so that a block stays in the second-level cache.
inline std::int64_t rows_per_block(const convolution& c) {
  constexpr std::int64_t elements = 1 << 17;
  return std::clamp<std::int64_t>(elements / std::max<std::int64_t>(c.depth(), 1), 1, std::max<std::int64_t>(c.in.positions(), 1));
}

/// The first elements of the window at a position within an image. Of an image, `IsFlat`, there is one layer alone, which spares its loops.
template <bool IsFlat>
struct window_origin {
  std::int64_t front = 0, top, left;
  window_origin(const image_windows& in, std::int64_t at) {
    left = in.w.begin(at % in.w.count);
    at /= in.w.count;
    top = in.h.begin(IsFlat ? at : at % in.h.count);
    if constexpr (!IsFlat) front = in.d.begin(at / in.h.count);
  }
};
/// Calls f(std::true_type) for images, f(std::false_type) for volumes.
template <class F>
void with_flatness(const image_windows& in, F f) {
  if (in.is_flat()) f(std::true_type{});
  else f(std::false_type{});
}
/// Calls f(row of the block, element of the row, position in the image, elements) for what lies in the image, and `outside` for the padding,
/// each for all channels of the group. `first` and `last` are positions of windows within an image.
template <bool IsFlat, class Inside, class Outside>
void for_each_cell(const convolution& c, std::int64_t first, std::int64_t last, std::int64_t group, Inside inside, Outside outside) {
  const window_axis &d = c.in.d, &h = c.in.h, &w = c.in.w;
  const std::int64_t width = c.channels_of_group();
  for (std::int64_t at = first; at < last; ++at) {
    const window_origin<IsFlat> origin(c.in, at);
    std::int64_t to = (at - first) * c.depth();
    for (std::int64_t l = 0; l < (IsFlat ? 1 : d.window); ++l) {
      const std::int64_t z = IsFlat ? 0 : origin.front + l * d.dilation;
      const bool is_layer = IsFlat || d.is_inside(z);
      for (std::int64_t i = 0; i < h.window; ++i) {
        const std::int64_t y = origin.top + i * h.dilation;
        const bool is_row = is_layer && h.is_inside(y);
        for (std::int64_t j = 0; j < w.window; ++j, to += width) {
          const std::int64_t x = origin.left + j * w.dilation;
          if (is_row && w.is_inside(x)) inside(to, ((z * h.size + y) * w.size + x) * c.in.channels + group * width, width);
          else outside(to, width);
        }
      }
    }
  }
}
template <class T>
void collect_windows(const convolution& c, const T* image, std::int64_t first, std::int64_t last, std::int64_t group, T* rows) {
  with_flatness(c.in, [&](auto flat) {
    for_each_cell<flat.value>(
        c, first, last, group,
        [&](std::int64_t to, std::int64_t from, std::int64_t n) { std::copy_n(image + from, n, rows + to); },
        [&](std::int64_t to, std::int64_t n) { std::fill_n(rows + to, n, T(0)); });
  });
}
/// Adds what the rows of windows hold to the image that they cover.
template <class T>
void distribute_windows(const convolution& c, const T* rows, std::int64_t first, std::int64_t last, std::int64_t group, T* image) {
  with_flatness(c.in, [&](auto flat) {
    for_each_cell<flat.value>(
        c, first, last, group,
        [&](std::int64_t from, std::int64_t to, std::int64_t n) {
          for (std::int64_t k = 0; k < n; ++k) image[to + k] = pixel_math<T>::add(image[to + k], rows[from + k]);
        },
        [](std::int64_t, std::int64_t) {});
  });
}

}  // namespace detail

namespace detail {

/// Whether each group is one channel of images (a depthwise convolution): too little for a product.
inline bool is_by_channel(const convolution& c) { return c.groups > 1 && c.groups == c.in.channels && c.in.is_flat(); }
/// Calls f(position of the window, element of the filters, position in the image) for each cell of one image that lies in it, in order.
template <class F>
void for_each_covered(const convolution& c, F f) {
  for (std::int64_t at = 0; at < c.in.positions(); ++at) {
    const std::int64_t top = c.in.h.begin(at / c.in.w.count), left = c.in.w.begin(at % c.in.w.count);
    for (std::int64_t i = 0; i < c.in.h.window; ++i) {
      const std::int64_t y = top + i * c.in.h.dilation;
      if (!c.in.h.is_inside(y)) continue;
      for (std::int64_t j = 0; j < c.in.w.window; ++j) {
        const std::int64_t x = left + j * c.in.w.dilation;
        if (c.in.w.is_inside(x)) f(at * c.filters, (i * c.in.w.window + j) * c.filters, (y * c.in.w.size + x) * c.in.channels);
      }
    }
  }
}
/// Calls f(channel, filter) for all filters of a depthwise convolution.
template <class F>
void for_each_filter(const convolution& c, F f) {
  const std::int64_t width = c.filters_of_group();
  if (width == 1) {
    for (std::int64_t k = 0; k < c.filters; ++k) f(k, k);
    return;
  }
  for (std::int64_t g = 0; g < c.groups; ++g)
    for (std::int64_t k = g * width; k < (g + 1) * width; ++k) f(g, k);
}

}  // namespace detail

/// out [batch, h, w, filters] of images and filters.
template <class T>
void convolve(const convolution& c, const T* images, const T* filters, T* out) {
  const std::int64_t positions = c.in.positions();
  if (c.in.batch * positions * c.filters == 0) return;
  if (c.is_by_pixel())
    return matmul<T>(false, false, c.in.batch * positions, c.filters, c.in.channels, T(1), images, c.in.channels, filters, c.filters, T(0), out,
                     c.filters);
  if (detail::is_by_channel(c))
    return parallel_for(c.in.batch, [&](std::int64_t image) {
      const T* const from = images + image * c.in.image_elements();
      T* const to = out + image * positions * c.filters;
      std::fill_n(to, positions * c.filters, T(0));
      detail::for_each_covered(c, [&](std::int64_t at, std::int64_t cell, std::int64_t pixel) {
        detail::for_each_filter(c, [&](std::int64_t g, std::int64_t k) { detail::add_product(to[at + k], from[pixel + g], filters[cell + k]); });
      });
    });
  const std::int64_t step = detail::rows_per_block(c), blocks = (positions + step - 1) / step, width = c.filters_of_group();
  parallel_for(c.in.batch * blocks, [&](std::int64_t chunk) {
    const std::int64_t image = chunk / blocks, first = chunk % blocks * step, last = std::min(first + step, positions);
    const scratch<T> rows(step * c.depth());
    for (std::int64_t g = 0; g < c.groups; ++g) {
      detail::collect_windows(c, images + image * c.in.image_elements(), first, last, g, rows.get());
      matmul<T>(false, false, last - first, width, c.depth(), T(1), rows.get(), c.depth(), filters + g * width, c.filters, T(0),
                out + (image * positions + first) * c.filters + g * width, c.filters);
    }
  });
}

/// The gradient by the filters, [h, w, channels / groups, filters], from that of the result.
template <class T>
void convolve_back_to_filters(const convolution& c, const T* images, const T* dy, T* filters) {
  const std::int64_t positions = c.in.positions();
  if (c.depth() * c.filters == 0) return;
  std::fill_n(filters, c.depth() * c.filters, T(0));
  if (c.in.batch * positions == 0) return;
  if (c.is_by_pixel())
    return matmul<T>(true, false, c.in.channels, c.filters, c.in.batch * positions, T(1), images, c.in.channels, dy, c.filters, T(0), filters,
                     c.filters);
  if (detail::is_by_channel(c)) {
    for (std::int64_t image = 0; image < c.in.batch; ++image)
      detail::for_each_covered(c, [&](std::int64_t at, std::int64_t cell, std::int64_t pixel) {
        const T* const slope = dy + image * positions * c.filters + at;
        const T* const from = images + image * c.in.image_elements() + pixel;
        detail::for_each_filter(c, [&](std::int64_t g, std::int64_t k) { detail::add_product(filters[cell + k], from[g], slope[k]); });
      });
    return;
  }
  const std::int64_t step = detail::rows_per_block(c), width = c.filters_of_group();
  const scratch<T> rows(step * c.depth());
  for (std::int64_t image = 0; image < c.in.batch; ++image)
    for (std::int64_t first = 0; first < positions; first += step) {
      const std::int64_t last = std::min(first + step, positions);
      for (std::int64_t g = 0; g < c.groups; ++g) {
        detail::collect_windows(c, images + image * c.in.image_elements(), first, last, g, rows.get());
        matmul<T>(true, false, c.depth(), width, last - first, T(1), rows.get(), c.depth(),
                  dy + (image * positions + first) * c.filters + g * width, c.filters, T(1), filters + g * width, c.filters);
      }
    }
}

namespace detail {
/// The windows of the results' gradient that cover each element of the images, for a stride of 1.
inline window_axis turned(const window_axis& a) {
  return {.size = a.count, .window = a.window, .stride = 1, .dilation = a.dilation, .before = (a.window - 1) * a.dilation - a.before,
          .count = a.size};
}
/// With a stride of 1 and one group, the gradient by the images is a convolution itself: of the results' gradient, with the filters turned
/// around and their channels exchanged.
template <class T>
void convolve_turned(const convolution& c, const T* filters, const T* dy, T* images) {
  const std::int64_t cells = c.in.window_elements(), channels = c.in.channels;
  const scratch<T> turned_filters(cells * channels * c.filters);
  for (std::int64_t i = 0; i < cells; ++i)
    for (std::int64_t g = 0; g < channels; ++g)
      for (std::int64_t k = 0; k < c.filters; ++k)
        turned_filters.get()[((cells - 1 - i) * c.filters + k) * channels + g] = filters[(i * channels + g) * c.filters + k];
  const convolution back{.in = {c.in.batch, c.filters, turned(c.in.h), turned(c.in.w), turned(c.in.d)}, .filters = channels, .groups = 1};
  convolve(back, dy, turned_filters.get(), images);
}
}  // namespace detail

/// The gradient by the images, [batch, h, w, channels], from that of the result.
template <class T>
void convolve_back_to_images(const convolution& c, const T* filters, const T* dy, T* images) {
  const std::int64_t positions = c.in.positions();
  if (c.in.batch * c.in.image_elements() == 0) return;
  if (c.is_by_pixel() && c.filters > 0)
    return matmul<T>(false, true, c.in.batch * positions, c.in.channels, c.filters, T(1), dy, c.filters, filters, c.filters, T(0), images,
                     c.in.channels);
  const std::int64_t step = detail::rows_per_block(c), width = c.filters_of_group();
  if (c.groups == 1 && !c.has_strides() && c.filters > 0 && c.depth() > 0)
    return detail::convolve_turned(c, filters, dy, images);
  // Windows of one image overlap: an image is one piece of work.
  parallel_for(c.in.batch, [&](std::int64_t image) {
    T* const to = images + image * c.in.image_elements();
    std::fill_n(to, c.in.image_elements(), T(0));
    if (width == 0 || c.depth() == 0) return;
    if (detail::is_by_channel(c))
      return detail::for_each_covered(c, [&](std::int64_t at, std::int64_t cell, std::int64_t pixel) {
        const T* const slope = dy + image * positions * c.filters + at;
        detail::for_each_filter(c, [&](std::int64_t g, std::int64_t k) { detail::add_product(to[pixel + g], filters[cell + k], slope[k]); });
      });
    const scratch<T> rows(step * c.depth());
    for (std::int64_t first = 0; first < positions; first += step) {
      const std::int64_t last = std::min(first + step, positions);
      for (std::int64_t g = 0; g < c.groups; ++g) {
        matmul<T>(false, true, last - first, c.depth(), width, T(1), dy + (image * positions + first) * c.filters + g * width, c.filters,
                  filters + g * width, c.filters, T(0), rows.get(), c.depth());
        detail::distribute_windows(c, rows.get(), first, last, g, to);
      }
    }
  });
}

}  // namespace leat::cpu
