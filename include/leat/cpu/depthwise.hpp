#pragma once
// Depthwise convolution of images on the CPU with one filter for each channel, channels last: tiles of several pixels of a row and one or
// two batches of channels, whose sums stay in registers.

#include <leat/cpu/channel_groups.hpp>
#include <leat/cpu/scratch.hpp>
#include <leat/ops/windows.hpp>

#include <algorithm>
#include <type_traits>
#include <utility>

namespace leat::cpu::detail {

/// Whether each group is one channel of images (a depthwise convolution): too little for a product.
inline bool is_by_channel(const convolution& c) { return c.groups > 1 && c.groups == c.in.channels && c.in.is_flat(); }
/// Whether a depthwise convolution has one filter for each channel, and elements that fit batches.
template <class T>
bool is_by_batches(const convolution& c) {
  return std::is_floating_point_v<T> && is_by_channel(c) && c.filters == c.groups;
}
/// The cells of a window along one axis that lie in the image.
struct covered_cells {
  std::int64_t begin, end;
  covered_cells(const window_axis& a, std::int64_t at) : begin(0), end(a.window) {
    while (begin < end && a.begin(at) + begin * a.dilation < 0) ++begin;
    while (end > begin && a.begin(at) + (end - 1) * a.dilation >= a.size) --end;
  }
};
/// sum + the products of two groups.
template <int Batches, class T>
[[gnu::always_inline]] inline void add_products(batch<T> (&sum)[Batches], const T* a, const T* b, int count) {
#pragma GCC unroll 4
  for (int j = 0; j < Batches; ++j) sum[j] = multiply_add(load_of_group<Batches>(a, j, count), load_of_group<Batches>(b, j, count), sum[j]);
}

/// What is added to a result along one axis: an element of the source, and the filter's by which it is multiplied.
struct depthwise_tap {
  std::int64_t source, filter;
};
/// Results along the rows of an image that add the same cells of a filter. Result k lies at `first` + k `step`; it adds the elements of the
/// source's row at k `source_step` + each tap, in the order of the taps, which is that of the positions. Counted in pixels.
struct depthwise_line {
  std::int64_t first, step, count, source_step, source_size;
  const depthwise_tap* taps;
  std::int64_t all_taps;

  /// The taps that lie in the source for result k.
  std::pair<std::int64_t, std::int64_t> taps_of(std::int64_t k) const {
    std::int64_t begin = 0, end = all_taps;
    while (begin < end && k * source_step + taps[begin].source < 0) ++begin;
    while (end > begin && k * source_step + taps[end - 1].source >= source_size) --end;
    return {begin, end};
  }
  /// Whether all taps do.
  bool is_whole(std::int64_t k) const { return taps_of(k) == std::pair<std::int64_t, std::int64_t>(0, all_taps); }
};
/// Sums of `Positions` results of a line and a group of channels, which stay in registers: an element of the filter is loaded once for all.
/// `origin` is where the first result's taps begin in the source, which may be outside; source, filters and `to` begin with the group's
/// first channel.
template <int Positions, int Batches, class T>
[[gnu::always_inline]] inline void sum_depthwise_tile(const depthwise_tap* rows, std::int64_t row_taps, const depthwise_tap* columns,
                                                      std::int64_t column_taps, std::int64_t channels, const T* source, std::int64_t origin,
                                                      std::int64_t source_step, const T* filters, T* to, std::int64_t step, int count) {
  batch<T> sum[Positions][Batches];
#pragma GCC unroll 8
  for (int p = 0; p < Positions; ++p)
#pragma GCC unroll 4
    for (int j = 0; j < Batches; ++j) sum[p][j] = batch<T>(T(0));
  for (std::int64_t i = 0; i < row_taps; ++i)
    for (std::int64_t c = 0; c < column_taps; ++c) {
      const T* const from = source + (origin + rows[i].source + columns[c].source) * channels;
      const T* const filter = filters + (rows[i].filter + columns[c].filter) * channels;
      batch<T> factor[Batches];
#pragma GCC unroll 4
      for (int j = 0; j < Batches; ++j) factor[j] = load_of_group<Batches>(filter, j, count);
#pragma GCC unroll 8
      for (int p = 0; p < Positions; ++p)
#pragma GCC unroll 4
        for (int j = 0; j < Batches; ++j)
          sum[p][j] = multiply_add(load_of_group<Batches>(from + p * source_step, j, count), factor[j], sum[p][j]);
    }
#pragma GCC unroll 8
  for (int p = 0; p < Positions; ++p) store_group(to + p * step, sum[p], count);
}
/// The same for all channels. (Without closures, whose captures g++ would write to memory and read for each tile.)
template <int Positions, class T>
[[gnu::noinline]] void sum_depthwise_tiles(const depthwise_tap* rows, std::int64_t row_taps, const depthwise_tap* columns,
                                           std::int64_t column_taps, std::int64_t channels, const T* source, std::int64_t origin,
                                           std::int64_t source_step, const T* filters, T* to, std::int64_t step) {
  std::int64_t k = 0;
  // Four batches are half as many positions at a time, so that sums and factors fit the registers.
  constexpr int positions_of_four = Positions == 1 ? 1 : Positions / 2;
  if constexpr (Positions == 1 || (batch_bytes == 64 && Positions % 2 == 0))
    for (; k + 4 * lanes<T> <= channels; k += 4 * lanes<T>)
      for (int p = 0; p < Positions; p += positions_of_four)
        sum_depthwise_tile<positions_of_four, 4>(rows, row_taps, columns, column_taps, channels, source + p * source_step + k, origin,
                                                 source_step, filters + k, to + p * step + k, step, 4 * lanes<T>);
  for (; k + 2 * lanes<T> <= channels; k += 2 * lanes<T>)
    sum_depthwise_tile<Positions, 2>(rows, row_taps, columns, column_taps, channels, source + k, origin, source_step, filters + k, to + k,
                                     step, 2 * lanes<T>);
  if (k + lanes<T> <= channels) {
    sum_depthwise_tile<Positions, 1>(rows, row_taps, columns, column_taps, channels, source + k, origin, source_step, filters + k, to + k,
                                     step, lanes<T>);
    k += lanes<T>;
  }
  if (const auto rest = static_cast<int>(channels - k); rest > 0 && rest < lanes<T>)
    sum_depthwise_tile<Positions, 1>(rows, row_taps, columns, column_taps, channels, source + k, origin, source_step, filters + k, to + k,
                                     step, rest);
}
/// One line of results, in the row `to`. The taps along the other axis are in elements of pixels, as those of the line.
template <class T>
void sum_depthwise_line(const depthwise_line& line, const depthwise_tap* rows, std::int64_t row_taps, std::int64_t channels,
                        const T* source, const T* filters, T* to) {
  std::int64_t begin = 0, end = line.count;  // the results that add all taps
  while (begin < end && !line.is_whole(begin)) ++begin;
  while (end > begin && !line.is_whole(end - 1)) --end;
  const auto tile = [&](auto positions, std::int64_t k, std::int64_t first_tap, std::int64_t last_tap) {
    sum_depthwise_tiles<positions.value>(rows, row_taps, line.taps + first_tap, last_tap - first_tap, channels, source,
                                         k * line.source_step, line.source_step * channels, filters,
                                         to + (line.first + k * line.step) * channels, line.step * channels);
  };
  const auto one_by_one = [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t k = first; k < last; ++k) {
      const auto [first_tap, last_tap] = line.taps_of(k);
      tile(std::integral_constant<int, 1>{}, k, first_tap, last_tap);
    }
  };
  // The last tile may compute some results of the one before again.
  const auto by_tiles = [&](auto positions) {
    for (std::int64_t k = begin; k < end; k += positions.value)
      tile(positions, std::min<std::int64_t>(k, end - positions.value), 0, line.all_taps);
  };
  one_by_one(0, begin);
  if (end - begin >= tile_rows) by_tiles(std::integral_constant<int, tile_rows>{});
  else if (end - begin >= tile_rows / 2) by_tiles(std::integral_constant<int, tile_rows / 2>{});
  else one_by_one(begin, end);
  one_by_one(end, line.count);
}

/// A depthwise convolution of one image with a filter for each channel.
template <class T>
void convolve_by_batches(const convolution& c, const T* image, const T* filters, T* out) {
  const window_axis &h = c.in.h, &w = c.in.w;
  const std::int64_t channels = c.in.channels;
  const scratch<depthwise_tap> taps(h.window + w.window);
  depthwise_tap *const rows = taps.get(), *const columns = taps.get() + h.window;
  for (std::int64_t j = 0; j < w.window; ++j) columns[j] = {w.begin(0) + j * w.dilation, j};
  const depthwise_line line{0, 1, w.count, w.stride, w.size, columns, w.window};
  for (std::int64_t y = 0; y < h.count; ++y) {
    const covered_cells covered(h, y);
    for (std::int64_t i = covered.begin; i < covered.end; ++i)
      rows[i - covered.begin] = {(h.begin(y) + i * h.dilation) * w.size, i * w.window};
    sum_depthwise_line(line, rows, covered.end - covered.begin, channels, image, filters, out + y * w.count * channels);
  }
}
/// Writes the taps of results at positions `at`, `at` + stride, ... of the image, which gather from the windows that cover them in the
/// order of the windows; returns their number. Tap 0 of position `at` is a window that may not exist.
inline std::int64_t list_covering_windows(const window_axis& a, std::int64_t at, depthwise_tap* taps) {
  std::int64_t count = 0;
  for (std::int64_t cell = a.window; cell-- > 0;)
    if (const std::int64_t begin = at + a.before - cell * a.dilation; begin % a.stride == 0) taps[count++] = {begin / a.stride, cell};
  return count;
}
/// The gradient by one image: each pixel gathers from the windows that cover it, in the order of their positions.
template <class T>
void gather_slopes_by_batches(const convolution& c, const T* filters, const T* dy, T* image) {
  const window_axis &h = c.in.h, &w = c.in.w;
  const std::int64_t channels = c.in.channels;
  const scratch<depthwise_tap> taps(h.window + w.window);
  depthwise_tap *const rows = taps.get(), *const columns = taps.get() + h.window;
  for (std::int64_t y = 0; y < h.size; ++y) {
    std::int64_t row_taps = 0;
    for (std::int64_t k = 0, all = list_covering_windows(h, y, rows); k < all; ++k)
      if (rows[k].source >= 0 && rows[k].source < h.count) rows[row_taps++] = {rows[k].source * w.count, rows[k].filter * w.window};
    // Pixels that are a stride apart are covered by the same cells.
    for (std::int64_t x = 0; x < std::min(w.stride, w.size); ++x) {
      const std::int64_t column_taps = list_covering_windows(w, x, columns);
      const depthwise_line line{x, w.stride, (w.size - x + w.stride - 1) / w.stride, 1, w.count, columns, column_taps};
      sum_depthwise_line(line, rows, row_taps, channels, dy, filters, image + y * w.size * channels);
    }
  }
}
/// Adds the gradient by the filters from one image.
template <class T>
void add_slopes_by_batches(const convolution& c, const T* image, const T* dy, T* filters) {
  const window_axis &h = c.in.h, &w = c.in.w;
  const std::int64_t channels = c.in.channels;
  for (std::int64_t y = 0; y < h.count; ++y) {
    const covered_cells rows(h, y);
    for (std::int64_t i = rows.begin; i < rows.end; ++i)
      for (std::int64_t j = 0; j < w.window; ++j) {
        std::int64_t first = 0, last = w.count;  // the windows whose cell lies in the image
        while (first < last && w.begin(first) + j * w.dilation < 0) ++first;
        while (last > first && w.begin(last - 1) + j * w.dilation >= w.size) --last;
        if (first >= last) continue;
        const std::int64_t start = ((h.begin(y) + i * h.dilation) * w.size + w.begin(0) + j * w.dilation) * channels;
        for_each_channel_group<T>(channels, [&](std::int64_t k, int count, auto batches) {
          T* const to = filters + (i * w.window + j) * channels + k;
          batch<T> sum[batches.value];
          for (int b = 0; b < batches.value; ++b) sum[b] = load_of_group<batches.value>(to, b, count);
          for (std::int64_t x = first; x < last; ++x) {
            const T* const pixel = image + (start + x * w.stride * channels + k);
            const T* const slope = dy + (y * w.count + x) * channels + k;
            add_products(sum, pixel, slope, count);
          }
          store_group(to, sum, count);
        });
      }
  }
}

/// Sums over a batch of images, in parts that the batch alone determines and that are added in order: results do not depend on the number
/// of threads.
template <class T>
class sums_in_parts {
 public:
  sums_in_parts(std::int64_t images, std::int64_t elements)
      : images_(images), parts_(std::min<std::int64_t>(images, 8)), elements_(elements), all_(parts_ * elements) {
    std::fill_n(all_.get(), parts_ * elements, T(0));
  }
  std::int64_t parts() const { return parts_; }
  /// The first image of a part.
  std::int64_t begin(std::int64_t part) const { return images_ / parts_ * part + std::min(part, images_ % parts_); }
  T* of(std::int64_t part) const { return all_.get() + part * elements_; }
  void add_to(T* to) const {
    for (std::int64_t part = 0; part < parts_; ++part)
      for (std::int64_t k = 0; k < elements_; ++k) to[k] += of(part)[k];
  }

 private:
  std::int64_t images_, parts_, elements_;
  scratch<T> all_;
};

}  // namespace leat::cpu::detail
