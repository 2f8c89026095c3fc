#pragma once
// The innermost loops of convolutions: tiles of a few rows by a few batches, held in registers. What a window covers is a few runs of
// elements that lie one after another in the image (of a window that is w wide, the w * channels elements of each of its rows), so that no
// matrix of windows has to be written: a tile reads each window where it lies. Each element is summed in the order of the window's
// elements.

#include <leat/core/error.hpp>
#include <leat/cpu/matmul/tile.hpp>
#include <leat/cpu/scratch.hpp>
#include <leat/ops/windows.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace leat::cpu::detail {

/// Images with the padding that their windows reach into, and the runs of a window's elements.
struct window_runs {
  bool is_inside;                         // all windows lie inside the images, which then need no copy
  std::int64_t layers, rows, width;       // of an image with its padding
  std::int64_t pixel_step, row_step, layer_step;
  std::int64_t count, length;             // runs of a window, elements of a run

  /// Of windows over images; `group_channels` are those that a window covers.
  window_runs(const image_windows& in, std::int64_t group_channels)
      : is_inside(in.d.before == 0 && in.h.before == 0 && in.w.before == 0 && padded_size(in.d) <= in.d.size &&
                  padded_size(in.h) <= in.h.size && padded_size(in.w) <= in.w.size),
        layers(is_inside ? in.d.size : padded_size(in.d)), rows(is_inside ? in.h.size : padded_size(in.h)),
        width(is_inside ? in.w.size : padded_size(in.w)), pixel_step(in.channels), row_step(0), layer_step(0) {
    constexpr std::int64_t most = std::int64_t{1} << 32;
    std::int64_t all = 0;
    if (!multiplies(width, in.channels, row_step) || !multiplies(rows, row_step, layer_step) || !multiplies(layers, layer_step, all) ||
        (!is_inside && all > most))
      throw resource_exhausted("an image of " + std::to_string(layers) + " x " + std::to_string(rows) + " x " + std::to_string(width) +
                               " pixels, with the padding that its windows reach into, is too large");
    is_whole_row_ = in.w.dilation == 1 && group_channels == in.channels;
    count = in.d.window * in.h.window * (is_whole_row_ ? 1 : in.w.window);
    length = is_whole_row_ ? in.w.window * in.channels : group_channels;
  }
  /// The first elements of the runs, from the first element of the window.
  void list(const image_windows& in, std::int64_t* to) const {
    for (std::int64_t l = 0; l < in.d.window; ++l)
      for (std::int64_t i = 0; i < in.h.window; ++i)
        for (std::int64_t j = 0; j < (is_whole_row_ ? 1 : in.w.window); ++j)
          *to++ = l * in.d.dilation * layer_step + i * in.h.dilation * row_step + j * in.w.dilation * pixel_step;
  }
  std::int64_t image_elements() const { return layers * layer_step; }
  /// The elements of an axis from the first window's first to the last one's last.
  static std::int64_t padded_size(const window_axis& a) { return (a.count - 1) * a.stride + a.span(); }

 private:
  bool is_whole_row_;
};

/// Copies the part of an image that windows reach, with zeros for the padding; rows and layers from `first_row` and `first_layer` on, as
/// many as given. The copy has a row step of `r.row_step`.
template <class T>
void copy_padded(const image_windows& in, const window_runs& r, const T* image, std::int64_t first_layer, std::int64_t layers,
                 std::int64_t first_row, std::int64_t rows, T* to) {
  const std::int64_t left = std::min(in.w.before, r.width), inside = std::clamp<std::int64_t>(in.w.size, 0, r.width - left);
  for (std::int64_t l = first_layer; l < first_layer + layers; ++l)
    for (std::int64_t y = first_row; y < first_row + rows; ++y, to += r.row_step) {
      const std::int64_t z = l - in.d.before, from = y - in.h.before;
      if (!in.d.is_inside(z) || !in.h.is_inside(from)) {
        std::fill_n(to, r.row_step, T(0));
        continue;
      }
      T* at = std::fill_n(to, left * in.channels, T(0));
      at = std::copy_n(image + (z * in.h.size + from) * in.w.size * in.channels, inside * in.channels, at);
      std::fill_n(at, to + r.row_step - at, T(0));
    }
}

/// The reverse of a copy of a whole image: what lies in the image. What no window reaches becomes 0.
template <class T>
void copy_unpadded(const image_windows& in, const window_runs& r, const T* padded, T* image) {
  const std::int64_t inside = std::clamp<std::int64_t>(r.width - in.w.before, 0, in.w.size) * in.channels, row = in.w.size * in.channels;
  for (std::int64_t z = 0; z < in.d.size; ++z)
    for (std::int64_t y = 0; y < in.h.size; ++y, image += row) {
      const std::int64_t l = z + in.d.before, i = y + in.h.before;
      if (l >= r.layers || i >= r.rows || inside == 0) std::fill_n(image, row, T(0));
      else
        std::fill_n(std::copy_n(padded + l * r.layer_step + i * r.row_step + in.w.before * in.channels, inside, image), row - inside, T(0));
    }
}

/// How a number of columns is cut into panels of at most `widest_tile` batches, as even as possible.
template <class T>
struct column_panels {
  std::int64_t batches, count;
  explicit column_panels(std::int64_t columns)
      : batches((columns + lanes<T> - 1) / lanes<T>), count((batches + widest_tile - 1) / widest_tile) {}
  /// The first column of a panel; of `count`, the end.
  std::int64_t begin(std::int64_t panel) const { return batches * panel / count * lanes<T>; }
  int width(std::int64_t panel) const { return static_cast<int>((begin(panel + 1) - begin(panel)) / lanes<T>); }
};
/// Calls f(number of batches, as a constant).
template <class F>
void with_batches(int batches, F f) {
  if (batches == 1) f(std::integral_constant<int, 1>{});
  else if (batches == 2 || widest_tile == 2) f(std::integral_constant<int, 2>{});
  else f(std::integral_constant<int, widest_tile>{});
}

/// out[i * out_row + j] = Σ window[i][runs] panel[.][j], for `rows` <= Rows windows and `columns` <= Batches * lanes. The panel has one row
/// of Batches * lanes elements for each element of a window.
template <class T, int Rows, int Batches>
[[gnu::noinline]] void multiply_windows(const T* const* window, const std::int64_t* runs, std::int64_t run_count, std::int64_t length,
                                        const T* panel, T* out, std::int64_t out_row, int rows, int columns) {
  const T* row[Rows];
  batch<T> sum[Rows][Batches];
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i) {
    row[i] = window[i < rows ? i : rows - 1];
#pragma GCC unroll 4
    for (int j = 0; j < Batches; ++j) sum[i][j] = batch<T>(T(0));
  }
  for (std::int64_t r = 0; r < run_count; ++r) {
    const std::int64_t end = runs[r] + length;
    for (std::int64_t at = runs[r]; at < end; ++at, panel += Batches * lanes<T>) {
      batch<T> piece[Batches];
#pragma GCC unroll 4
      for (int j = 0; j < Batches; ++j) piece[j] = load(panel + j * lanes<T>);
#pragma GCC unroll 8
      for (int i = 0; i < Rows; ++i) {
        const batch<T> element(row[i][at]);
#pragma GCC unroll 4
        for (int j = 0; j < Batches; ++j) sum[i][j] = multiply_add(element, piece[j], sum[i][j]);
      }
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i)
    if (i < rows)
#pragma GCC unroll 4
      for (int j = 0; j < Batches; ++j)
        if (columns > j * lanes<T>) store_some(out + i * out_row + j * lanes<T>, sum[i][j], columns - j * lanes<T>);
}

/// Rows of output positions, as a filter's gradient walks over them.
template <class T>
struct walked_row {
  const T* image;  // the first element of the first window
  const T* slope;  // of the first position
};
/// to[i * to_row + j] += Σ image[element[i]] slope[j] over all positions of `row_count` rows, for `rows` <= Rows elements of a window and
/// `columns` <= Batches * lanes; slope[0] is element `first_slope` of a position. From position to position, the image moves by
/// `image_step` and the slope by `slope_step` elements. In the last row, no element past the columns is read.
template <class T, int Rows, int Batches>
[[gnu::noinline]] void multiply_slopes(const walked_row<T>* walk, std::int64_t row_count, std::int64_t positions, std::int64_t image_step,
                                       std::int64_t first_slope, std::int64_t slope_step, const std::int64_t* element, T* to,
                                       std::int64_t to_row, int rows, int columns) {
  std::int64_t offset[Rows];
  batch<T> sum[Rows][Batches];
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i) {
    offset[i] = element[i < rows ? i : rows - 1];
#pragma GCC unroll 4
    for (int j = 0; j < Batches; ++j)
      sum[i][j] = i < rows && columns > j * lanes<T> ? load_some(to + i * to_row + j * lanes<T>, columns - j * lanes<T>) : batch<T>(T(0));
  }
  const auto add_row = [&](const walked_row<T>& row, auto is_whole) {
    const T* image = row.image;
    const T* slope = row.slope + first_slope;
    for (std::int64_t p = 0; p < positions; ++p, image += image_step, slope += slope_step) {
      batch<T> piece[Batches];
#pragma GCC unroll 4
      for (int j = 0; j < Batches; ++j) {
        if constexpr (is_whole.value) piece[j] = load(slope + j * lanes<T>);
        else piece[j] = columns > j * lanes<T> ? load_some(slope + j * lanes<T>, columns - j * lanes<T>) : batch<T>(T(0));
      }
#pragma GCC unroll 8
      for (int i = 0; i < Rows; ++i) {
        const batch<T> value(image[offset[i]]);
#pragma GCC unroll 4
        for (int j = 0; j < Batches; ++j) sum[i][j] = multiply_add(value, piece[j], sum[i][j]);
      }
    }
  };
  // What a batch reads past its columns is that of the next filters or positions, and is not stored; behind the last row nothing is read.
  const bool is_whole = columns == Batches * lanes<T>;
  for (std::int64_t r = 0; r < row_count; ++r) {
    if (is_whole || (r + 1 < row_count && positions * slope_step >= Batches * lanes<T>)) add_row(walk[r], std::true_type{});
    else add_row(walk[r], std::false_type{});
  }
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i)
    if (i < rows)
#pragma GCC unroll 4
      for (int j = 0; j < Batches; ++j)
        if (columns > j * lanes<T>) store_some(to + i * to_row + j * lanes<T>, sum[i][j], columns - j * lanes<T>);
}

}  // namespace leat::cpu::detail
