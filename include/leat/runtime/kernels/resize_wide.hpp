#pragma once
// Kernels that resize images [batch, h, w, channels] from more than four pixels: between sixteen by cubic curves (Keys, "Cubic convolution
// interpolation for digital image processing"), with the gradient, and by the mean of the area that a pixel of the result covers. Source:
// TensorFlow `ResizeBicubic`, its gradient, and `ResizeArea`.

#include <leat/core/fill.hpp>
#include <leat/cpu/parallel.hpp>
#include <leat/runtime/kernels/resize.hpp>

#include <array>
#include <cmath>
#include <limits>

namespace leat::runtime {

/// Four pixels along an axis, and their shares of a pixel of the result.
struct cubic_shares {
  std::array<std::int64_t, 4> places{};
  std::array<float, 4> shares{};
};
/// The share of a pixel at this distance, up to 2; `a` is the curve's free parameter. Distances are rounded to steps of 1 / 1024, as in
/// TensorFlow, whose shares are in a table.
inline float cubic_share(float distance, float a) {
  if (distance <= 1) return ((a + 2) * distance - (a + 3)) * distance * distance + 1;
  return ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a;
}
/// The shares of pixel `k` of the result. With `half_pixel_centers`, pixels outside the image have none, and the others' are scaled so that
/// they add up to 1; otherwise the pixel at the border counts in their place.
inline cubic_shares cubic_shares_at(const resized_axis& axis, std::int64_t size, std::int64_t k) {
  const float at = axis.at(k), below = std::floor(at);
  const auto first = static_cast<std::int64_t>(below);
  constexpr float steps = 1024;
  const float offset = static_cast<float>(std::lrint((at - below) * steps)) / steps, a = axis.is_centered() ? -0.5f : -0.75f;
  cubic_shares made;
  made.shares = {cubic_share(1 + offset, a), cubic_share(offset, a), cubic_share(1 - offset, a), cubic_share(2 - offset, a)};
  float sum = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::int64_t place = first - 1 + static_cast<std::int64_t>(i);
    made.places[i] = std::clamp<std::int64_t>(place, 0, size - 1);
    if (axis.is_centered() && place != made.places[i]) made.shares[i] = 0;
    sum += made.shares[i];
  }
  if (axis.is_centered() && std::abs(sum) >= 1000 * std::numeric_limits<float>::min())
    for (float& share : made.shares) share /= sum;
  return made;
}
inline std::vector<cubic_shares> all_cubic_shares(const resized_axis& axis, std::int64_t size, std::int64_t count) {
  std::vector<cubic_shares> all;
  for (std::int64_t k = 0; k < count; ++k) all.push_back(cubic_shares_at(axis, size, k));
  return all;
}
/// Calls f(pixel of the result, pixel of the image, share of the column, share of the row, whether the row ends) for one image.
template <class F>
void for_each_cubic_share(const resized& r, const std::vector<cubic_shares>& rows, const std::vector<cubic_shares>& columns, F f) {
  std::int64_t at = 0;
  for (const cubic_shares& row : rows)
    for (const cubic_shares& column : columns) {
      for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < 4; ++j)
          f(at, (row.places[i] * r.w + column.places[j]) * r.channels, column.shares[j], row.shares[i], j == 3);
      at += r.channels;
    }
}

inline void run_resize_cubic(kernel_context& c) {
  const tensor_value images = c.input(0);
  const auto [to_h, to_w] = two_sizes(c);
  const resized r(images_shape(images, "input"), to_h, to_w);
  tensor_value made(dtype::float32, r.result());
  if (made.elements() == 0) return c.set(0, std::move(made));  // without images, sizes may be any
  const auto rows = all_cubic_shares(resized_axis(c.node, r.h, r.to_h), r.h, r.to_h);
  const auto columns = all_cubic_shares(resized_axis(c.node, r.w, r.to_w), r.w, r.to_w);
  float* const to = made.values<float>().data();
  with_number(images.type(), [&]<class T>(T) {
    const T* const from = images.values<T>().data();
    cpu::parallel_for(r.batch, [&](std::int64_t k) {
      const T* const image = from + k * r.h * r.w * r.channels;
      float* const out = to + k * r.to_h * r.to_w * r.channels;
      std::fill_n(out, r.to_h * r.to_w * r.channels, 0.0f);
      std::vector<float> in_row(static_cast<std::size_t>(r.channels));
      for_each_cubic_share(r, rows, columns, [&](std::int64_t at, std::int64_t pixel, float across, float down, bool ends_row) {
        for (std::int64_t j = 0; j < r.channels; ++j) {
          float& sum = in_row[static_cast<std::size_t>(j)];
          sum += static_cast<float>(image[pixel + j]) * across;
          if (!ends_row) continue;
          out[at + j] += sum * down;
          sum = 0;
        }
      });
    });
  });
  c.set(0, std::move(made));
}
inline void run_resize_cubic_back(kernel_context& c) {
  const tensor_value dy = c.input(0), original = c.input(1);
  const shape& given = images_shape(dy, "grads");
  const shape& image = images_shape(original, "original_image");
  const resized r(image, given[1], given[2]);
  if (given[0] != r.batch || given[3] != r.channels)
    throw invalid_argument("grads and original_image must have the same batch and channels");
  with_fraction(original.type(), [&]<class T>(T) {
    tensor_value made(original.type(), image);
    if (made.elements() == 0) return c.set(0, std::move(made));
    const auto rows = all_cubic_shares(resized_axis(c.node, r.h, r.to_h), r.h, r.to_h);
    const auto columns = all_cubic_shares(resized_axis(c.node, r.w, r.to_w), r.w, r.to_w);
    const float* const from = dy.values<float>().data();
    T* const to = made.values<T>().data();
    std::fill_n(to, made.elements(), T(0));
    cpu::parallel_for(r.batch, [&](std::int64_t k) {
      const float* const slopes = from + k * r.to_h * r.to_w * r.channels;
      T* const out = to + k * r.h * r.w * r.channels;
      for_each_cubic_share(r, rows, columns, [&](std::int64_t at, std::int64_t pixel, float across, float down, bool) {
        for (std::int64_t j = 0; j < r.channels; ++j) out[pixel + j] += static_cast<T>(slopes[at + j] * down * across);
      });
    });
    c.set(0, std::move(made));
  });
}

/// The pixels along an axis that pixel `k` of the result covers, and the share of each in its mean. With a scale of 0, which aligned
/// corners of a single pixel have, it is that pixel.
struct covered_pixels {
  std::int64_t first = 0;
  std::vector<float> parts;

  covered_pixels(float scale, std::int64_t k) {
    const float begin = static_cast<float>(k) * scale, end = static_cast<float>(k + 1) * scale;
    if (scale == 0) parts = {1.0f};
    first = static_cast<std::int64_t>(std::floor(begin));
    for (auto p = first; p < static_cast<std::int64_t>(std::ceil(end)); ++p) {
      const auto here = static_cast<float>(p);
      const bool is_last = here + 1 > end;
      if (here < begin) parts.push_back(is_last ? 1 : (here + 1 - begin) / scale);
      else parts.push_back((is_last ? end - here : 1) / scale);
    }
  }
};
inline void run_resize_area(kernel_context& c) {
  const tensor_value images = c.input(0);
  const auto [to_h, to_w] = two_sizes(c);
  const resized r(images_shape(images, "input"), to_h, to_w);
  tensor_value made(dtype::float32, r.result());
  if (made.elements() == 0) return c.set(0, std::move(made));
  const float height = resized_axis(c.node, r.h, r.to_h).scale(), width = resized_axis(c.node, r.w, r.to_w).scale();
  std::vector<covered_pixels> columns;
  for (std::int64_t x = 0; x < r.to_w; ++x) columns.emplace_back(width, x);
  float* const to = made.values<float>().data();
  with_number(images.type(), [&]<class T>(T) {
    const T* const from = images.values<T>().data();
    cpu::parallel_for(r.batch * r.to_h, [&](std::int64_t row) {
      const std::int64_t image = row / r.to_h;
      const covered_pixels rows(height, row % r.to_h);
      for (std::int64_t x = 0; x < r.to_w; ++x) {
        const covered_pixels& across = columns[static_cast<std::size_t>(x)];
        for (std::int64_t j = 0; j < r.channels; ++j) {
          float sum = 0;
          for (std::size_t v = 0; v < rows.parts.size(); ++v) {
            const std::int64_t y = std::min(rows.first + static_cast<std::int64_t>(v), r.h - 1);
            for (std::size_t u = 0; u < across.parts.size(); ++u) {
              const std::int64_t at = std::min(across.first + static_cast<std::int64_t>(u), r.w - 1);
              sum += static_cast<float>(from[((image * r.h + y) * r.w + at) * r.channels + j]) * rows.parts[v] * across.parts[u];
            }
          }
          to[(row * r.to_w + x) * r.channels + j] = sum;
        }
      }
    });
  });
  c.set(0, std::move(made));
}

LEAT_FILL(fill_wide_resize_kernels) {
  register_kernel("ResizeBicubic", run_resize_cubic);
  register_kernel("ResizeBicubicGrad", run_resize_cubic_back);
  register_kernel("ResizeArea", run_resize_area);
}

}  // namespace leat::runtime
