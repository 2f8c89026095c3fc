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

namespace leat::runtime {

template <class T>
using color = std::array<T, 3>;

/// The hue, from 0 to below 1, the saturation and the value of a color. A NaN is neither its largest nor its smallest part.
template <class T>
color<T> hsv_of(const color<T>& rgb) {
  const auto [r, g, b] = rgb;
  T most = r, least = r;
  for (const T part : {g, b}) {
    if (part > most || most != most) most = part;
    if (part < least || least != least) least = part;
  }
  const T range = most - least;
  T hue = 0;
  if (range > T(0)) {
    const T unit = T(1) / (T(6) * range);
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
inline void run_adjust_hue(kernel_context& c) {
  const float delta = want_images_and_number(c, "delta", true);
  set_colors<float>(c, [delta](const color<float>& pixel) {
    const auto [least, most] = std::minmax_element(pixel.begin(), pixel.end());
    const float range = *most - *least;
    float hue = std::fmod((hsv_of(pixel)[0] + delta) * 6, 6.0f);
    if (hue < 0) hue += 6;
    // Part k of the color rises and falls over the hues around its own.
    const auto part = [&](float strength) { return *least + range * std::clamp(strength, 0.0f, 1.0f); };
    return color<float>{part(std::abs(hue - 3) - 1), part(2 - std::abs(hue - 2)), part(2 - std::abs(hue - 4))};
  });
}
inline void run_adjust_saturation(kernel_context& c) {
  const float scale = want_images_and_number(c, "scale", true);
  set_colors<float>(c, [scale](const color<float>& pixel) {
    color<float> hsv = hsv_of(pixel);
    hsv[1] = std::clamp(hsv[1] * scale, 0.0f, 1.0f);
    return rgb_of(hsv);
  });
}
inline void run_adjust_contrast(kernel_context& c) {
  const float factor = want_images_and_number(c, "contrast_factor", false);
  const tensor_value images = c.input(0);
  const shape& s = images.extent();
  tensor_value made(images.type(), s);
  if (made.elements() > 0) {
    const std::int64_t channels = s[s.rank - 1], area = s[s.rank - 3] * s[s.rank - 2];
    cpu::parallel_for(product(s, 0, s.rank - 3), [&](std::int64_t image) {
      const float* const from = images.values<float>().data() + image * area * channels;
      float* const to = made.values<float>().data() + image * area * channels;
      std::vector<double> sums(static_cast<std::size_t>(channels), 0);
      for (std::int64_t p = 0; p < area; ++p)
        for (std::int64_t k = 0; k < channels; ++k) sums[static_cast<std::size_t>(k)] += static_cast<double>(from[p * channels + k]);
      for (double& sum : sums) sum /= static_cast<double>(area);
      for (std::int64_t p = 0; p < area; ++p)
        for (std::int64_t k = 0; k < channels; ++k) {
          const auto mean = static_cast<float>(sums[static_cast<std::size_t>(k)]);
          to[p * channels + k] = mean + factor * (from[p * channels + k] - mean);
        }
    });
  }
  c.set(0, std::move(made));
}

LEAT_FILL(fill_color_kernels) {
  register_kernel("RGBToHSV", run_convert_colors<true>);
  register_kernel("HSVToRGB", run_convert_colors<false>);
  register_kernel("AdjustHue", run_adjust_hue);
  register_kernel("AdjustSaturation", run_adjust_saturation);
  register_kernel("AdjustContrastv2", run_adjust_contrast);
}

}  // namespace leat::runtime
