#pragma once
// Convolution of images and volumes on the CPU, channels last. A convolution is a product of matrices: each position of the window is a row
// of the image's elements that it covers, each filter a column. Rows are read where they lie in the image (window_tiles.hpp). Blocks of
// rows, cut by the shape alone, are shared by threads; so results do not depend on the number of threads. Source: TensorFlow `Conv2D`,
// `Conv3D` and their gradients.

#include <leat/cpu/depthwise.hpp>
#include <leat/cpu/matmul.hpp>
#include <leat/cpu/parallel.hpp>
#include <leat/cpu/scratch.hpp>
#include <leat/cpu/window_tiles.hpp>
#include <leat/kernels/math/scalar_math.hpp>
#include <leat/ops/windows.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace leat::cpu {

namespace detail {

/// Calls f(0), …, f(pieces - 1), on several threads if that many multiplications in all are worth it.
template <class F>
void share(std::int64_t pieces, std::int64_t multiplications, F f) {
  if (pieces > 1 && multiplications >= 2 * least_multiplications_per_chunk) {
    parallel_for(pieces, f);
  } else {
    for (std::int64_t k = 0; k < pieces; ++k) f(k);
  }
}

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

/// A convolution of several channels by tiles of positions and filters.
template <class T>
void convolve_by_tiles(const convolution& c, const T* images, const T* filters, T* out) {
  const image_windows& in = c.in;
  const window_runs runs(in, c.channels_of_group());
  const std::int64_t width = c.filters_of_group(), depth = c.depth();
  const column_panels<T> panels(width);
  const scratch<std::int64_t> offsets(runs.count);
  runs.list(in, offsets.get());
  // All filters, group by group and panel by panel, with zeros at the right edges.
  const std::int64_t group_elements = depth * panels.begin(panels.count);
  const scratch<T> packed(c.groups * group_elements);
  for (std::int64_t g = 0; g < c.groups; ++g)
    for (std::int64_t k = 0; k < panels.count; ++k) {
      const std::int64_t first = panels.begin(k);
      const int columns = panels.width(k) * lanes<T>;
      pack_panel<T>(false, T(1), filters + g * width + first, c.filters, depth,
                    static_cast<int>(std::min<std::int64_t>(columns, width - first)), columns,
                    packed.get() + g * group_elements + depth * first);
    }
  // A piece of work: some rows of the results of one layer. Its part of a padded image stays in the second-level cache.
  constexpr std::int64_t elements = 1 << 16;
  const std::int64_t rows_of_image = elements / std::max<std::int64_t>(runs.row_step, 1);
  const std::int64_t step =
      in.d.window > 1 ? in.h.count : std::clamp((rows_of_image - in.h.span()) / in.h.stride + 1, std::int64_t{1}, in.h.count);
  const std::int64_t blocks = (in.h.count + step - 1) / step;
  share(in.batch * in.d.count * blocks, in.batch * in.positions() * depth * width, [&](std::int64_t piece) {
    const std::int64_t first_row = piece % blocks * step, rows = std::min(step, in.h.count - first_row);
    const std::int64_t layer = piece / blocks % in.d.count, image = piece / blocks / in.d.count;
    const T* const from = images + image * in.image_elements();
    const std::int64_t first_layer = layer * in.d.stride, top = first_row * in.h.stride;
    const std::int64_t height = in.d.window > 1 ? runs.rows : (rows - 1) * in.h.stride + in.h.span();
    const scratch<T> held(runs.is_inside ? 0 : in.d.span() * height * runs.row_step);
    if (!runs.is_inside) copy_padded(in, runs, from, first_layer, in.d.span(), in.d.window > 1 ? 0 : top, height, held.get());
    const T* const begin = runs.is_inside ? from + first_layer * runs.layer_step + top * runs.row_step : held.get();
    T* const to = out + ((image * in.d.count + layer) * in.h.count + first_row) * in.w.count * c.filters;
    const std::int64_t positions = rows * in.w.count;
    for (std::int64_t g = 0; g < c.groups; ++g)
      for (std::int64_t k = 0; k < panels.count; ++k)
        with_batches(panels.width(k), [&](auto batches) {
          const T* const panel = packed.get() + g * group_elements + depth * panels.begin(k);
          const int columns = static_cast<int>(std::min<std::int64_t>(batches.value * lanes<T>, width - panels.begin(k)));
          T* const result = to + g * width + panels.begin(k);
          const T* row = begin + g * c.channels_of_group();
          std::int64_t along = 0;
          for (std::int64_t at = 0; at < positions;) {
            const std::int64_t left = positions - at;
            const bool is_wide = left > tile_rows / 2;
            const int count = static_cast<int>(std::min<std::int64_t>(is_wide ? tile_rows : 2, left));
            const T* window[tile_rows];
            for (int i = 0; i < count; ++i) {
              window[i] = row + along * in.w.stride * runs.pixel_step;
              if (++along == in.w.count) along = 0, row += in.h.stride * runs.row_step;
            }
            if (is_wide)
              multiply_windows<T, tile_rows, batches.value>(window, offsets.get(), runs.count, runs.length, panel, result + at * c.filters,
                                                            c.filters, count, columns);
            else
              multiply_windows<T, 2, batches.value>(window, offsets.get(), runs.count, runs.length, panel, result + at * c.filters,
                                                    c.filters, count, columns);
            at += count;
          }
        });
  });
}

/// Adds the gradient by the filters, by tiles of the filters' elements. A block of images, which stays in the second-level cache, is added
/// to all of them before the next one.
template <class T>
void add_slopes_by_tiles(const convolution& c, const T* images, const T* dy, T* filters) {
  const image_windows& in = c.in;
  const window_runs runs(in, c.channels_of_group());
  const std::int64_t width = c.filters_of_group(), depth = c.depth();
  const column_panels<T> panels(width);
  const scratch<std::int64_t> offsets(runs.count), element(depth);
  runs.list(in, offsets.get());
  for (std::int64_t r = 0; r < runs.count; ++r)
    for (std::int64_t k = 0; k < runs.length; ++k) element.get()[r * runs.length + k] = offsets.get()[r] + k;
  constexpr std::int64_t elements = 1 << 17;
  const std::int64_t image_rows = in.d.count * in.h.count;
  const std::int64_t of_image = runs.image_elements() + in.positions() * c.filters;
  const std::int64_t step = std::clamp<std::int64_t>(elements / std::max<std::int64_t>(of_image, 1), 1, in.batch);
  const scratch<T> held(runs.is_inside ? 0 : step * runs.image_elements());
  const scratch<walked_row<T>> walk(step * image_rows);
  const std::int64_t tiles = (depth + tile_rows - 1) / tile_rows;
  for (std::int64_t first = 0; first < in.batch; first += step) {
    const std::int64_t count = std::min(step, in.batch - first);
    const std::int64_t work = count * in.positions() * depth * c.filters;
    if (!runs.is_inside)
      share(count, work, [&](std::int64_t k) {
        copy_padded(in, runs, images + (first + k) * in.image_elements(), 0, runs.layers, 0, runs.rows,
                    held.get() + k * runs.image_elements());
      });
    const T* const begin = runs.is_inside ? images + first * in.image_elements() : held.get();
    walked_row<T>* row = walk.get();
    for (std::int64_t k = 0; k < count; ++k)
      for (std::int64_t l = 0; l < in.d.count; ++l)
        for (std::int64_t y = 0; y < in.h.count; ++y, ++row)
          *row = {begin + k * runs.image_elements() + l * in.d.stride * runs.layer_step + y * in.h.stride * runs.row_step,
                  dy + (((first + k) * in.d.count + l) * in.h.count + y) * in.w.count * c.filters};
    share(c.groups * panels.count * tiles, work, [&](std::int64_t piece) {
      const std::int64_t g = piece / tiles / panels.count, k = piece / tiles % panels.count;
      const std::int64_t column = g * width + panels.begin(k), end = std::min(depth, (piece % tiles + 1) * tile_rows);
      with_batches(panels.width(k), [&](auto batches) {
        const int columns = static_cast<int>(std::min<std::int64_t>(batches.value * lanes<T>, width - panels.begin(k)));
        for (std::int64_t at = piece % tiles * tile_rows; at < end;) {
          const bool is_wide = end - at > tile_rows / 2;
          const int rows = static_cast<int>(std::min<std::int64_t>(is_wide ? tile_rows : 2, end - at));
          std::int64_t of_group[tile_rows];
          for (int i = 0; i < rows; ++i) of_group[i] = element.get()[at + i] + g * c.channels_of_group();
          T* const to = filters + at * c.filters + column;
          if (is_wide)
            multiply_slopes<T, tile_rows, batches.value>(walk.get(), count * image_rows, in.w.count, in.w.stride * runs.pixel_step, column,
                                                         c.filters, of_group, to, c.filters, rows, columns);
          else
            multiply_slopes<T, 2, batches.value>(walk.get(), count * image_rows, in.w.count, in.w.stride * runs.pixel_step, column,
                                                 c.filters, of_group, to, c.filters, rows, columns);
          at += rows;
        }
      });
    });
  }
}

}  // namespace detail

/// out [batch, h, w, filters] of images and filters.
template <class T>
void convolve(const convolution& c, const T* images, const T* filters, T* out) {
  const std::int64_t positions = c.in.positions();
  if (c.in.batch * positions * c.filters == 0) return;
  if (c.is_by_pixel())
    return matmul<T>(false, false, c.in.batch * positions, c.filters, c.in.channels, T(1), images, c.in.channels, filters, c.filters, T(0),
                     out, c.filters);
  if (detail::is_by_channel(c))
    return detail::share(c.in.batch, c.in.batch * positions * c.in.window_elements() * c.filters, [&](std::int64_t image) {
      const T* const from = images + image * c.in.image_elements();
      T* const to = out + image * positions * c.filters;
      if constexpr (std::is_floating_point_v<T>)
        if (detail::is_by_batches<T>(c)) return detail::convolve_by_batches(c, from, filters, to);
      std::fill_n(to, positions * c.filters, T(0));
      detail::for_each_covered(c, [&](std::int64_t at, std::int64_t cell, std::int64_t pixel) {
        detail::for_each_filter(
            c, [&](std::int64_t g, std::int64_t k) { detail::add_product(to[at + k], from[pixel + g], filters[cell + k]); });
      });
    });
  detail::convolve_by_tiles(c, images, filters, out);
}

/// The gradient by the filters, [h, w, channels / groups, filters], from that of the result.
template <class T>
void convolve_back_to_filters(const convolution& c, const T* images, const T* dy, T* filters) {
  const std::int64_t positions = c.in.positions();
  if (c.depth() * c.filters == 0) return;
  std::fill_n(filters, c.depth() * c.filters, T(0));
  if (c.in.batch * positions == 0) return;
  if (c.is_by_pixel())
    return matmul<T>(true, false, c.in.channels, c.filters, c.in.batch * positions, T(1), images, c.in.channels, dy, c.filters, T(0),
                     filters, c.filters);
  if constexpr (std::is_floating_point_v<T>)
    if (detail::is_by_batches<T>(c)) {
      const std::int64_t elements = c.in.window_elements() * c.filters;
      const detail::sums_in_parts<T> sums(c.in.batch, elements);
      detail::share(sums.parts(), c.in.batch * positions * elements, [&](std::int64_t part) {
        for (std::int64_t image = sums.begin(part); image < sums.begin(part + 1); ++image)
          detail::add_slopes_by_batches(c, images + image * c.in.image_elements(), dy + image * positions * c.filters, sums.of(part));
      });
      return sums.add_to(filters);
    }
  if (detail::is_by_channel(c)) {
    for (std::int64_t image = 0; image < c.in.batch; ++image)
      detail::for_each_covered(c, [&](std::int64_t at, std::int64_t cell, std::int64_t pixel) {
        const T* const slope = dy + image * positions * c.filters + at;
        const T* const from = images + image * c.in.image_elements() + pixel;
        detail::for_each_filter(c, [&](std::int64_t g, std::int64_t k) { detail::add_product(filters[cell + k], from[g], slope[k]); });
      });
    return;
  }
  detail::add_slopes_by_tiles(c, images, dy, filters);
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

namespace detail {

/// Whether the gradient by the images takes less work as a convolution: where strides are 1 and batches are filled by the channels.
template <class T>
bool is_better_turned(const convolution& c) {
  if (c.groups != 1 || c.has_strides()) return false;
  for (const window_axis* a : {&c.in.d, &c.in.h, &c.in.w})
    if (a->before >= a->span()) return false;  // the first windows lie in the padding alone
  const auto batches = [](std::int64_t n) { return (n + lanes<T> - 1) / lanes<T>; };
  const window_runs runs(c.in, c.in.channels);
  const std::int64_t pixels = c.in.d.size * c.in.h.size * c.in.w.size;
  constexpr std::int64_t cost_of_adding = 4;  // of a batch, in multiplications
  return pixels * c.in.window_elements() * c.filters * batches(c.in.channels) <=
         c.in.positions() * (c.filters * batches(c.depth()) + cost_of_adding * runs.count * batches(runs.length));
}
/// The gradient by the images: for each position, the products of its slopes and the filters are added where its window lies.
template <class T>
void distribute_slopes(const convolution& c, const T* filters, const T* dy, T* images) {
  const image_windows& in = c.in;
  const window_runs runs(in, c.channels_of_group());
  const std::int64_t positions = in.positions(), depth = c.depth(), width = c.filters_of_group();
  const scratch<std::int64_t> offsets(runs.count);
  runs.list(in, offsets.get());
  const std::int64_t step = rows_per_block(c);
  // Windows of one image overlap: an image is one piece of work.
  share(in.batch, in.batch * positions * depth * width, [&](std::int64_t image) {
    T* const own = images + image * in.image_elements();
    const scratch<T> held(runs.is_inside ? 0 : runs.image_elements()), rows(step * depth);
    T* const to = runs.is_inside ? own : held.get();
    std::fill_n(to, runs.image_elements(), T(0));
    for (std::int64_t first = 0; first < positions; first += step) {
      const std::int64_t last = std::min(first + step, positions);
      for (std::int64_t g = 0; g < c.groups; ++g) {
        matmul<T>(false, true, last - first, depth, width, T(1), dy + (image * positions + first) * c.filters + g * width, c.filters,
                  filters + g * width, c.filters, T(0), rows.get(), depth);
        const T* row = rows.get();
        for (std::int64_t at = first; at < last; ++at) {
          T* const window = to + at / in.w.count / in.h.count * in.d.stride * runs.layer_step +
                            at / in.w.count % in.h.count * in.h.stride * runs.row_step + at % in.w.count * in.w.stride * runs.pixel_step +
                            g * c.channels_of_group();
          for (std::int64_t r = 0; r < runs.count; ++r, row += runs.length) {
            T* const run = window + offsets.get()[r];
            for (std::int64_t k = 0; k < runs.length; ++k) run[k] = pixel_math<T>::add(run[k], row[k]);
          }
        }
      }
    }
    if (!runs.is_inside) copy_unpadded(in, runs, held.get(), own);
  });
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
  if (detail::is_by_channel(c))
    return detail::share(c.in.batch, c.in.batch * positions * c.in.window_elements() * c.filters, [&](std::int64_t image) {
      T* const to = images + image * c.in.image_elements();
      if constexpr (std::is_floating_point_v<T>)
        if (detail::is_by_batches<T>(c)) return detail::gather_slopes_by_batches(c, filters, dy + image * positions * c.filters, to);
      std::fill_n(to, c.in.image_elements(), T(0));
      detail::for_each_covered(c, [&](std::int64_t at, std::int64_t cell, std::int64_t pixel) {
        const T* const slope = dy + image * positions * c.filters + at;
        detail::for_each_filter(c,
                                [&](std::int64_t g, std::int64_t k) { detail::add_product(to[pixel + g], filters[cell + k], slope[k]); });
      });
    });
  if (c.filters == 0 || c.depth() == 0 || positions == 0) {
    std::fill_n(images, c.in.batch * c.in.image_elements(), T(0));
    return;
  }
  if (detail::is_better_turned<T>(c)) return detail::convolve_turned(c, filters, dy, images);
  detail::distribute_slopes(c, filters, dy, images);
}

}  // namespace leat::cpu
