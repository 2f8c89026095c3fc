#pragma once
// Kernels of pools whose windows differ in size, so that an image shrinks by a ratio that need not be an integer, and of their gradients.
// Where the windows begin is drawn at random. With seeds these are TensorFlow's windows. Sources: TensorFlow `FractionalMaxPool`,
// `FractionalAvgPool` and their gradients; Graham, "Fractional max-pooling" (2014).

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/random.hpp>
#include <leat/runtime/kernels/walk.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace leat::runtime {

/// Random words of Philox from a block on, as TensorFlow reads them one by one.
class word_source {
 public:
  explicit word_source(const kernels::seeded_sequence& sequence) : sequence_(sequence) {}
  word_source(std::uint64_t key, std::uint64_t high, std::uint64_t block) : sequence_(key, block, high) {}
  std::uint32_t next() {
    if (used_ == 4) {
      words_ = sequence_.block(next_++);
      used_ = 0;
    }
    return words_.words[used_++];
  }
  /// A number in [0, 1).
  double number() {
    const std::uint64_t high = next() & 0xfffffu, low = next();
    return std::bit_cast<double>(std::uint64_t{1023} << 52 | high << 32 | low) - 1.0;
  }

 private:
  kernels::seeded_sequence sequence_;
  std::int64_t next_ = 0;
  philox_block words_{};
  int used_ = 4;
};

/// Where the windows of an axis begin, and the end of the last.
using window_starts = std::vector<std::int64_t>;

/// The windows of `length` elements, all of one of two sizes, in random order.
inline window_starts shuffled_windows(std::int64_t length, std::int64_t count, word_source words) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(count), length / count);
  std::fill_n(sizes.begin(), length % count, length / count + 1);
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i)
    std::swap(sizes[i], sizes[i + words.next() % static_cast<std::uint32_t>(sizes.size() - i)]);
  window_starts starts{0};
  for (const std::int64_t size : sizes) starts.push_back(starts.back() + size);
  return starts;
}
/// The windows that begin at multiples of the ratio, all moved by one random number.
inline window_starts even_windows(std::int64_t length, std::int64_t count, word_source words) {
  const double ratio = static_cast<double>(length) / static_cast<double>(count);
  const std::int64_t least = length / count;
  const double most = std::min(static_cast<double>(least + 2) / ratio - 1,
                               static_cast<double>(length + 1 - least) / ratio - static_cast<double>(count - 1));
  const double moved = words.number() * most;
  window_starts starts{0};
  for (std::int64_t i = 1; i < count; ++i)
    starts.push_back(static_cast<std::int64_t>(std::ceil(ratio * (static_cast<double>(i) + moved))) - 1);
  starts.push_back(length);
  return starts;
}

/// The elements of a window: with `overlapping` also the first of the next window.
struct window_span {
  std::int64_t first, last;
};
inline window_span span_of_window(std::span<const std::int64_t> starts, std::int64_t at, bool overlapping, std::int64_t length) {
  const auto k = static_cast<std::size_t>(at);
  return {starts[k], std::min(starts[k + 1] - (overlapping ? 0 : 1), length - 1)};
}

/// Calls f(window, pixel) for each pixel of each window, in the order of the windows; both count from the first of the batch.
template <class F>
void for_pixels(kernel_context& c, const shape& image, std::span<const std::int64_t> rows, std::span<const std::int64_t> columns,
                std::int64_t down, std::int64_t across, const F& f) {
  const bool overlapping = c.node.flag("overlapping");
  if (image.elements() == 0) return;
  for (std::int64_t b = 0; b < image[0]; ++b)
    for (std::int64_t r = 0; r < down; ++r) {
      c.step.check();
      const window_span row = span_of_window(rows, r, overlapping, image[1]);
      for (std::int64_t k = 0; k < across; ++k) {
        const window_span column = span_of_window(columns, k, overlapping, image[2]);
        const std::int64_t count = (row.last - row.first + 1) * (column.last - column.first + 1);
        for (std::int64_t i = row.first; i <= row.last; ++i)
          for (std::int64_t j = column.first; j <= column.last; ++j)
            f((b * down + r) * across + k, (b * image[1] + i) * image[2] + j, count);
      }
    }
}

/// The shape of a pool's result. Errors: invalid_argument, unimplemented, in TensorFlow's words.
inline shape fractional_shape(kernel_context& c, const shape& image, std::string_view what) {
  const auto ratios = c.node.list<float>("pooling_ratio");
  if (ratios.size() != 4) throw invalid_argument("pooling_ratio field must specify 4 dimensions");
  for (const float ratio : ratios)
    if (!(ratio >= 1)) throw invalid_argument("pooling_ratio cannot be smaller than 1, got: " + std::to_string(ratio));
  if (ratios[0] != 1 || ratios[3] != 1)
    throw unimplemented("Fractional " + std::string(what) + " pooling is not yet supported on the batch nor channel dimension.");
  if (image.rank != 4) throw invalid_argument("tensor_in must be 4-dimensional, got shape " + brackets(image));
  shape result;
  for (int k = 0; k < 4; ++k) {
    const float ratio = ratios[static_cast<std::size_t>(k)];
    const std::int64_t count = ratio == 1 ? image[k] : static_cast<std::int64_t>(std::floor(static_cast<float>(image[k]) / ratio));
    if (count < 1)
      throw invalid_argument("Pooling ratio is higher than input dimension size for dimension " + std::to_string(k) + ". Input dim size: " +
                             std::to_string(image[k]) + " pooling ratio: " + std::to_string(ratio));
    result.push(std::min(count, image[k]));
  }
  return result;
}

template <bool IsMaximum>
void run_fractional_pool(kernel_context& c) {
  const tensor_value image = c.input(0);
  const shape& s = image.extent();
  const shape result = fractional_shape(c, s, IsMaximum ? "max" : "average");
  const bool is_fixed = c.node.flag("deterministic"), is_even = c.node.flag("pseudo_random");
  const auto key = static_cast<std::uint64_t>(c.node.integer("seed")), high = static_cast<std::uint64_t>(c.node.integer("seed2"));
  const bool has_seeds = key != 0 || high != 0;
  if (has_seeds && !is_fixed) throw invalid_argument("Both seed and seed2 should be 0 if deterministic is false.");
  const auto words_of = [&](std::int64_t count) { return is_even ? std::int64_t{4} : (count + 3) / 4 * 4; };
  // With `deterministic` the windows are the same in each run.
  const auto drawn = has_seeds ? std::pair{key, std::uint64_t{0}} : draw(c, is_fixed ? 0 : words_of(result[1]) + words_of(result[2]));
  std::uint64_t block = is_fixed ? 0 : drawn.second / 4;
  const auto windows = [&](int axis) {
    const word_source words(drawn.first, high, block);
    block += static_cast<std::uint64_t>(words_of(result[axis])) / 4;
    return is_even ? even_windows(s[axis], result[axis], words) : shuffled_windows(s[axis], result[axis], words);
  };
  const window_starts rows = windows(1), columns = windows(2);
  with_number(image.type(), [&]<class T>(T) {
    tensor_value made(image.type(), result);
    const T* const from = image.values<T>().data();
    T* const to = made.values<T>().data();
    const std::int64_t channels = s[3];
    std::fill_n(to, made.elements(), IsMaximum ? std::numeric_limits<T>::lowest() : T(0));
    std::vector<std::int64_t> counts(IsMaximum ? 0 : static_cast<std::size_t>(made.elements() / channels));
    for_pixels(c, s, rows, columns, result[1], result[2], [&](std::int64_t window, std::int64_t pixel, std::int64_t count) {
      const T* const x = from + pixel * channels;
      T* const y = to + window * channels;
      for (std::int64_t d = 0; d < channels; ++d)
        if constexpr (IsMaximum) y[d] = y[d] < x[d] ? x[d] : y[d];
        else y[d] = arithmetic<T>::add(y[d], x[d]);
      if constexpr (!IsMaximum) counts[static_cast<std::size_t>(window)] = count;
    });
    if constexpr (!IsMaximum)
      for (std::int64_t i = 0; i < made.elements(); ++i) to[i] /= static_cast<T>(counts[static_cast<std::size_t>(i / channels)]);
    c.set(0, std::move(made));
  });
  c.set(1, tensor_value(rows));
  c.set(2, tensor_value(columns));
}

/// The windows that input `k` holds. Errors: invalid_argument unless there are `count`, and each begins in the image and behind the last.
inline window_starts want_windows(kernel_context& c, int k, std::int64_t count, std::int64_t length, const std::string& which) {
  if (c.extent(k).rank != 1) throw invalid_argument(which + " sequence must be a vector, got shape " + brackets(c.extent(k)));
  const window_starts starts = c.numbers(k);
  if (static_cast<std::int64_t>(starts.size()) < count + 1)
    throw invalid_argument(which + " sequence must have at least " + std::to_string(count + 1) + " elements, but got " +
                           std::to_string(starts.size()));
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
    if (starts[i] < 0 || starts[i] >= length || starts[i] >= starts[i + 1])
      throw invalid_argument(which + " sequence values must not be negative, must grow, and must be below " + std::to_string(length) +
                             ", got " + std::to_string(starts[i]) + " before " + std::to_string(starts[i + 1]));
  return starts;
}
/// Checks the shape of the slopes. Errors: invalid_argument if they do not fit the image.
inline void want_pool_slopes(const shape& image, const shape& slopes) {
  if (image.rank != 4 || slopes.rank != 4 || image[0] != slopes[0] || image[3] != slopes[3])
    throw invalid_argument("out_backprop of shape " + brackets(slopes) + " does not fit an image of shape " + brackets(image));
}

inline void run_fractional_maximum_back(kernel_context& c) {
  const tensor_value image = c.input(0), dy = c.input(2);
  const shape &s = image.extent(), &of_slopes = dy.extent();
  want_pool_slopes(s, of_slopes);
  if (c.extent(1) != of_slopes)
    throw invalid_argument("orig_output has shape " + brackets(c.extent(1)) + ", out_backprop " + brackets(of_slopes));
  const window_starts rows = want_windows(c, 3, of_slopes[1], s[1], "Row"), columns = want_windows(c, 4, of_slopes[2], s[2], "Column");
  with_number(image.type(), [&]<class T>(T) {
    tensor_value made(image.type(), s), places(dtype::int64, of_slopes);
    const T* const from = image.values<T>().data();
    T* const to = made.values<T>().data();
    std::int64_t* const at = places.values<std::int64_t>().data();
    std::fill_n(at, places.elements(), std::int64_t{-1});
    std::fill_n(to, made.elements(), T(0));
    const std::int64_t channels = s[3];
    for_pixels(c, s, rows, columns, of_slopes[1], of_slopes[2], [&](std::int64_t window, std::int64_t pixel, std::int64_t) {
      for (std::int64_t d = 0; d < channels; ++d) {
        std::int64_t& best = at[window * channels + d];
        const std::int64_t place = pixel * channels + d;
        if (best < 0 || from[best] < from[place]) best = place;
      }
    });
    const T* const slopes = dy.values<T>().data();
    for (std::int64_t i = 0; i < dy.elements(); ++i) to[at[i]] = arithmetic<T>::add(to[at[i]], slopes[i]);
    c.set(0, std::move(made));
  });
}
inline void run_fractional_average_back(kernel_context& c) {
  const tensor_value dy = c.input(1);
  if (c.extent(0).rank != 1 || c.extent(0)[0] != 4)
    throw invalid_argument("original input tensor shape must be 1-dimensional and 4 elements, got shape " + brackets(c.extent(0)));
  const shape s = shape_from(c.numbers(0)), of_slopes = dy.extent();
  want_pool_slopes(s, of_slopes);
  const window_starts rows = want_windows(c, 2, of_slopes[1], s[1], "Row"), columns = want_windows(c, 3, of_slopes[2], s[2], "Column");
  with_number(dy.type(), [&]<class T>(T) {
    tensor_value sums(dtype::float64, s);
    double* const sum = sums.values<double>().data();
    std::fill_n(sum, sums.elements(), 0.0);
    const T* const slopes = dy.values<T>().data();
    const std::int64_t channels = s[3];
    for_pixels(c, s, rows, columns, of_slopes[1], of_slopes[2], [&](std::int64_t window, std::int64_t pixel, std::int64_t count) {
      for (std::int64_t d = 0; d < channels; ++d)
        sum[pixel * channels + d] += static_cast<double>(slopes[window * channels + d]) / static_cast<double>(count);
    });
    if constexpr (std::is_same_v<T, double>) return c.set(0, std::move(sums));
    tensor_value made(dy.type(), s);
    T* const to = made.values<T>().data();
    constexpr auto most = static_cast<double>(std::numeric_limits<T>::max());
    for (std::int64_t i = 0; i < made.elements(); ++i)
      to[i] = std::is_floating_point_v<T> || std::abs(sum[i]) < most ? static_cast<T>(sum[i]) : std::numeric_limits<T>::max();
    c.set(0, std::move(made));
  });
}

LEAT_FILL(fill_fractional_pool_kernels) {
  register_kernel("FractionalMaxPool", run_fractional_pool<true>);
  register_kernel("FractionalAvgPool", run_fractional_pool<false>);
  register_kernel("FractionalMaxPoolGrad", run_fractional_maximum_back);
  register_kernel("FractionalAvgPoolGrad", run_fractional_average_back);
}

}  // namespace leat::runtime
