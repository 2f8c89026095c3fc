#pragma once
// Depthwise convolution of images on the CPU with one filter for each channel, channels last: batches of channels, whose sums stay in
// registers.

#include <leat/cpu/channel_groups.hpp>
#include <leat/cpu/scratch.hpp>
#include <leat/ops/windows.hpp>

#include <algorithm>
#include <type_traits>

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
/// The cells of windows along one axis that may lie at position `at` of the image.
struct covering_cells {
  std::int64_t begin, end;
  covering_cells(const window_axis& a, std::int64_t at) : begin(0), end(std::min(a.window, (at + a.before) / a.dilation + 1)) {
    const std::int64_t behind_last = at + a.before - (a.count - 1) * a.stride;
    if (behind_last > 0) begin = (behind_last + a.dilation - 1) / a.dilation;
  }
};
/// sum + the products of two groups.
template <int Batches, class T>
[[gnu::always_inline]] inline void add_products(batch<T> (&sum)[Batches], const T* a, const T* b, int count) {
#pragma GCC unroll 4
  for (int j = 0; j < Batches; ++j) sum[j] = multiply_add(load_of_group<Batches>(a, j, count), load_of_group<Batches>(b, j, count), sum[j]);
}
/// A depthwise convolution of one image with a filter for each channel: sums stay in registers.
template <class T>
void convolve_by_batches(const convolution& c, const T* image, const T* filters, T* out) {
  const window_axis &h = c.in.h, &w = c.in.w;
  const std::int64_t channels = c.in.channels;
  for (std::int64_t y = 0; y < h.count; ++y) {
    const covered_cells rows(h, y);
    for (std::int64_t x = 0; x < w.count; ++x) {
      const covered_cells columns(w, x);
      const std::int64_t corner = (h.begin(y) * w.size + w.begin(x)) * channels;  // outside the image where padding is
      T* const to = out + (y * w.count + x) * channels;
      for_each_channel_group<T>(channels, [&](std::int64_t k, int count, auto batches) {
        batch<T> sum[batches.value];
        for (batch<T>& s : sum) s = batch<T>(T(0));
        for (std::int64_t i = rows.begin; i < rows.end; ++i)
          for (std::int64_t j = columns.begin; j < columns.end; ++j) {
            const T* const from = image + (corner + (i * h.dilation * w.size + j * w.dilation) * channels + k);
            const T* const filter = filters + (i * w.window + j) * channels + k;
            add_products(sum, from, filter, count);
          }
        store_group(to + k, sum, count);
      });
    }
  }
}
/// The gradient by one image: each pixel gathers from the windows that cover it, in the order of their positions.
template <class T>
void gather_slopes_by_batches(const convolution& c, const T* filters, const T* dy, T* image) {
  const window_axis &h = c.in.h, &w = c.in.w;
  const std::int64_t channels = c.in.channels;
  // The window, if any, whose cell `cell` lies at position `at`; or -1.
  const auto window_at = [](const window_axis& a, std::int64_t at, std::int64_t cell) -> std::int64_t {
    const std::int64_t begin = at + a.before - cell * a.dilation;
    return begin < 0 || begin % a.stride != 0 || begin / a.stride >= a.count ? -1 : begin / a.stride;
  };
  for (std::int64_t y = 0; y < h.size; ++y) {
    const covering_cells rows(h, y);
    for (std::int64_t x = 0; x < w.size; ++x) {
      const covering_cells columns(w, x);
      for_each_channel_group<T>(channels, [&](std::int64_t k, int count, auto batches) {
        batch<T> sum[batches.value];
        for (batch<T>& s : sum) s = batch<T>(T(0));
        for (std::int64_t i = rows.end; i-- > rows.begin;) {
          const std::int64_t row = window_at(h, y, i);
          if (row < 0) continue;
          for (std::int64_t j = columns.end; j-- > columns.begin;) {
            const std::int64_t column = window_at(w, x, j);
            if (column < 0) continue;
            const T* const slope = dy + (row * w.count + column) * channels + k;
            const T* const filter = filters + (i * w.window + j) * channels + k;
            add_products(sum, slope, filter, count);
          }
        }
        T* const to = image + (y * w.size + x) * channels + k;
        store_group(to, sum, count);
      });
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
