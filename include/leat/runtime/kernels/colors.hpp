#pragma once
// Kernels of the colors of images, whose last dimension is red, green, blue, or hue, saturation, value: conversion, and changes of
// contrast, hue and saturation. Source: TensorFlow `RGBToHSV`, `HSVToRGB`, `AdjustContrastv2`, `AdjustHue`, `AdjustSaturation`.

#include <leat/core/fill.hpp>
#include <leat/cpu/parallel.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/walk.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace leat::runtime {

template <class T>
using color = std::array<T, 3>;

/// The hue, from 0 to below 1, the saturation and the value of a color. As in TensorFlow, a NaN gives way to the part behind it.
template <class T>
color<T> hsv_of(const color<T>& rgb) {
  const auto [r, g, b] = rgb;
  T most = r, least = r;
  for (const T part : {g, b}) {
    most = most > part ? most : part;
    least = least < part ? least : part;
  }
  const T range = most - least;
  T hue = 0;
  if (range > T(0)) {
    const T unit = T(1) / range * (T(1) / T(6));
    hue = r == most ? unit * (g - b) : g == most ? unit * (b - r) + T(2) / T(6) : unit * (r - g) + T(4) / T(6);
    if (hue < T(0)) hue += T(1);
  }
  return {hue, most > T(0) ? range / most : T(0), most};
}
template <class T>
color<T> rgb_of(const color<T>& hsv) {
  const auto [hue, saturation, value] = hsv;
  const T at = hue * T(6);
  const auto part = [&, s = saturation, v = value](T strength) { return ((T(1) - s) + s * std::clamp(strength, T(0), T(1))) * v; };
  return {part(std::abs(at - T(3)) - T(1)), part(T(2) - std::abs(at - T(2))), part(T(2) - std::abs(at - T(4)))};
}

/// f of each pixel's color.
template <class T, class F>
void set_colors(kernel_context& c, F f) {
  const tensor_value images = c.input(0);
  tensor_value made(images.type(), images.extent());
  const T* const from = images.values<T>().data();
  T* const to = made.values<T>().data();
  constexpr std::int64_t chunk = 1 << 14;
  const std::int64_t pixels = made.elements() / 3;
  cpu::parallel_for((pixels + chunk - 1) / chunk, [&](std::int64_t k) {
    for (std::int64_t p = k * chunk, end = std::min(pixels, p + chunk); p < end; ++p) {
      const color<T> is = f(color<T>{from[3 * p], from[3 * p + 1], from[3 * p + 2]});
      std::copy_n(is.data(), 3, to + 3 * p);
    }
  });
  c.set(0, std::move(made));
}
template <bool IntoHsv>
void run_convert_colors(kernel_context& c) {
  const shape& s = c.extent(0);
  if (s.rank < 1) throw invalid_argument("input must be at least 1D" + brackets(s));
  if (s[s.rank - 1] != 3)
    throw failed_precondition("input must have 3 channels but input only has " + std::to_string(s[s.rank - 1]) + " channels.");
  with_fraction(c.type(0), [&]<class T>(T) {
    set_colors<T>(c, [](const color<T>& pixel) { return IntoHsv ? hsv_of(pixel) : rgb_of(pixel); });
  });
}

/// The number by which images are changed. Errors: invalid_argument, with TensorFlow's messages.
inline float want_images_and_number(kernel_context& c, const char* name, bool are_colors) {
  const shape& s = c.extent(0);
  if (s.rank < 3) throw invalid_argument("input must be at least 3-D, got shape" + brackets(s));
  if (c.extent(1).rank != 0) throw invalid_argument(std::string(name) + " must be scalar: " + brackets(c.extent(1)));
  if (are_colors && s[s.rank - 1] != 3)
    throw invalid_argument("input must have 3 channels but instead has " + std::to_string(s[s.rank - 1]) + " channels.");
  return c.input(1).as<float>();
}
/// The largest, the middle and the smallest part of a color in each sixth of the circle of hues.
inline constexpr int parts_of_sixth[6][3] = {{0, 1, 2}, {1, 0, 2}, {1, 2, 0}, {2, 1, 0}, {2, 0, 1}, {0, 2, 1}};
/// A color whose hue is moved by `delta` turns; the largest and the smallest part keep their values. Like TensorFlow's, this orders the
/// parts instead of dividing differences of them by one another, so that it is as exact for large values as for small ones; comparisons
/// with NaN are false.
inline color<float> with_hue_moved(const color<float>& pixel, float delta) {
  const auto [r, g, b] = pixel;
  const int sixth = r < g ? (b < r ? 1 : b > g ? 3 : 2) : (b < g ? 0 : b > r ? 4 : 5);
  const auto part = [&](int rank) { return pixel[static_cast<std::size_t>(parts_of_sixth[sixth][rank])]; };
  const float most = part(0), least = part(2), range = most - least;
  float hue = 0;
  if (most != least) {
    const float ratio = (part(1) - least) / range;
    hue = static_cast<float>(sixth) + (sixth % 2 == 0 ? ratio : 1 - ratio);
  }
  hue = std::fmod(hue + delta * 6, 6.0f) + 0.0f;  // no -0
  if (hue < 0) hue += 6;
  if (hue >= 6) hue -= 6;  // the sum was rounded
  const int to = hue >= 0 ? static_cast<int>(hue) : 5;  // of a NaN, the last
  const float ratio = hue - static_cast<float>(to);
  color<float> moved;
  const auto place = [&](int rank) -> float& { return moved[static_cast<std::size_t>(parts_of_sixth[to][rank])]; };
  place(0) = most;
  place(1) = least + (to % 2 == 0 || hue != hue ? ratio : 1 - ratio) * range;
  place(2) = least;
  return moved;
}
/// A color whose saturation is multiplied, to at most 1. Its steps are those of TensorFlow's kernel: other than `rgb_of`, they subtract
/// from the value, which decides where rounding and NaN end.
inline color<float> with_saturation_scaled(const color<float>& pixel, float scale) {
  const auto [r, g, b] = pixel;
  const float value = std::max(r, std::max(g, b)), range = value - std::min(r, std::min(g, b));
  float hue = 0;
  if (!(range <= 0)) {
    const float unit = 1.0f / (6.0f * range);
    if (r == value) hue = unit * (g - b);
    else if (g == value) hue = static_cast<float>(static_cast<double>(unit * (b - r)) + 2.0 / 6.0);
    else hue = static_cast<float>(static_cast<double>(unit * (r - g)) + 4.0 / 6.0);
    if (hue < 0) hue += 1;
  }
  const float saturation = std::min(1.0f, std::max(0.0f, (value > 0 ? range / value : 0) * scale));
  const float most = saturation * value, least = value - most, at = hue * 6;
  if (!(at >= 0 && at < 6)) return {least, least, least};
  const auto sixth = static_cast<std::size_t>(at);
  const float middle = most * (1 - std::abs(std::fmod(at, 2.0f) - 1));
  color<float> scaled{0, 0, 0};
  scaled[static_cast<std::size_t>(parts_of_sixth[sixth][0])] = most;
  scaled[static_cast<std::size_t>(parts_of_sixth[sixth][1])] = middle;
  for (float& part : scaled) part += least;
  return scaled;
}

inline void run_adjust_hue(kernel_context& c) {
  const float delta = want_images_and_number(c, "delta", true);
  set_colors<float>(c, [delta](const color<float>& pixel) { return with_hue_moved(pixel, delta); });
}
inline void run_adjust_saturation(kernel_context& c) {
  const float scale = want_images_and_number(c, "scale", true);
  set_colors<float>(c, [scale](const color<float>& pixel) { return with_saturation_scaled(pixel, scale); });
}
/// Moves the values of an image's channels away from their means, or nearer. The sums fold the image in halves, as TensorFlow's do, with
/// `to` as memory: every round is a loop over contiguous elements.
inline void scale_contrast(const float* from, std::int64_t area, std::int64_t channels, float factor, float* to) {
  std::copy_n(from, area * channels, to);
  for (std::int64_t left = area; left > 1; left -= left / 2) {
    const std::int64_t half = left / 2 * channels, second = (left - left / 2) * channels;
    for (std::int64_t i = 0; i < half; ++i) to[i] += to[second + i];
  }
  const float share = 1.0f / static_cast<float>(area);
  std::vector<float> means(to, to + channels);
  for (float& mean : means) mean *= share;
  for (std::int64_t p = 0; p < area; ++p)
    for (std::int64_t k = 0; k < channels; ++k) {
      const float mean = means[static_cast<std::size_t>(k)];
      to[p * channels + k] = mean + factor * (from[p * channels + k] - mean);
    }
}
inline void run_adjust_contrast(kernel_context& c) {
  const float factor = want_images_and_number(c, "contrast_factor", false);
  const tensor_value images = c.input(0);
  const shape& s = images.extent();
  tensor_value made(images.type(), s);
  if (made.elements() > 0) {
    const std::int64_t channels = s[s.rank - 1], area = s[s.rank - 3] * s[s.rank - 2];
    cpu::parallel_for(product(s, 0, s.rank - 3), [&](std::int64_t image) {
      const std::int64_t first = image * area * channels;
      scale_contrast(images.values<float>().data() + first, area, channels, factor, made.values<float>().data() + first);
    });
  }
  c.set(0, std::move(made));
}
/// The older form: pixels of any dtype become float32, and the result is limited.
inline void run_adjust_contrast_within(kernel_context& c) {
  const float factor = want_images_and_number(c, "contrast_factor", false);
  for (const int k : {2, 3})
    if (c.extent(k).rank != 0)
      throw invalid_argument((k == 2 ? "min_value must be scalar: " : "max_value must be scalar: ") + brackets(c.extent(k)));
  const float least = c.input(2).as<float>(), most = c.input(3).as<float>();
  const tensor_value images = c.input(0);
  const shape& s = images.extent();
  tensor_value made(dtype::float32, s);
  if (made.elements() == 0) return c.set(0, std::move(made));
  tensor_value pixels(dtype::float32, s);
  with_number(images.type(), [&]<class T>(T) {
    std::ranges::transform(images.values<T>(), pixels.values<float>().begin(), [](T x) { return static_cast<float>(x); });
  });
  const std::int64_t channels = s[s.rank - 1], area = s[s.rank - 3] * s[s.rank - 2];
  cpu::parallel_for(product(s, 0, s.rank - 3), [&](std::int64_t image) {
    float* const to = made.values<float>().data() + image * area * channels;
    scale_contrast(pixels.values<float>().data() + image * area * channels, area, channels, factor, to);
    for (std::int64_t i = 0; i < area * channels; ++i) to[i] = std::max(std::min(to[i], most), least);
  });
  c.set(0, std::move(made));
}

LEAT_FILL(fill_color_kernels) {
  register_kernel("RGBToHSV", run_convert_colors<true>);
  register_kernel("HSVToRGB", run_convert_colors<false>);
  register_kernel("AdjustHue", run_adjust_hue);
  register_kernel("AdjustSaturation", run_adjust_saturation);
  register_kernel("AdjustContrastv2", run_adjust_contrast);
  register_kernel("AdjustContrast", run_adjust_contrast_within);
}

}  // namespace leat::runtime
