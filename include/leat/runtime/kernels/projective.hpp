#pragma once
// Kernels of images under projective transformations: pixel (x, y) of a result is where ((a x + b y + c) / k, (d x + e y + f) / k), with
// k = g x + h y + 1, lies in the image. Sources: TensorFlow `ImageProjectiveTransformV2` and `ImageProjectiveTransformV3`.

#include <leat/core/fill.hpp>
#include <leat/cpu/parallel.hpp>
#include <leat/runtime/kernels/crops.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace leat::runtime {

/// What stands for pixels outside the image: its mirror images, its copies, one value, or the nearest pixel.
enum class outside_pixels { reflect, wrap, constant, nearest };

/// Where a coordinate lies inside an axis of `size` pixels, in float32 as in TensorFlow.
inline float inside_axis(float at, std::int64_t size, outside_pixels mode) {
  const auto end = static_cast<float>(size - 1);
  const auto clamped = [end](float v) { return std::min(std::max(0.0f, v), end); };
  if (mode == outside_pixels::constant) return at;
  if (mode == outside_pixels::nearest || !(std::abs(at) < 0x1p53f) || (at >= 0 && at <= end)) return clamped(at);
  if (size <= 1) return 0;
  const auto whole = [](float v) { return static_cast<std::int64_t>(v); };
  if (mode == outside_pixels::wrap) {
    if (at < 0) return clamped(at + static_cast<float>(size * (whole(-at / end) + 1)));
    return clamped(at - static_cast<float>(size * whole(at / end)));
  }
  const std::int64_t both = 2 * size;
  if (at < 0) {
    at = static_cast<float>(both * whole(-at / static_cast<float>(both))) + at;
    return clamped(at < -static_cast<float>(size) ? at + static_cast<float>(both) : -at - 1);
  }
  at -= static_cast<float>(both * whole(at / static_cast<float>(both)));
  return clamped(at >= static_cast<float>(size) ? static_cast<float>(both) - at - 1 : at);
}
/// A float32 as a number of T. Those beyond 64 bits are the largest, and others wrap, as processors convert them.
template <class T>
T number_from(float v) {
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(v);
  else if (std::isnan(v)) return T(0);
  else if (v >= 0x1p63f) return std::numeric_limits<T>::max();
  else if (v < -0x1p63f) return std::numeric_limits<T>::lowest();
  else if (std::is_same_v<T, std::int32_t> && v >= 0x1p31f) return std::numeric_limits<T>::max();
  else return static_cast<T>(static_cast<std::int64_t>(v));
}

/// The pixels of one image, with a value for those outside.
template <class T>
struct bordered_image {
  const T* pixels;
  std::int64_t h, w, channels;
  T fill;

  T at(float y, float x, std::int64_t channel) const {
    if (!(y >= 0 && y < static_cast<float>(h) && x >= 0 && x < static_cast<float>(w))) return fill;
    return pixels[(static_cast<std::int64_t>(y) * w + static_cast<std::int64_t>(x)) * channels + channel];
  }
  T between(float y, float x, std::int64_t channel) const {
    const float top = std::floor(y), left = std::floor(x), bottom = top + 1, right = left + 1;
    const auto value = [&](float row, float column) { return static_cast<float>(at(row, column, channel)); };
    const float above = (right - x) * value(top, left) + (x - left) * value(top, right);
    const float below = (right - x) * value(bottom, left) + (x - left) * value(bottom, right);
    return number_from<T>((bottom - y) * above + (y - top) * below);
  }
};

inline void run_projective(kernel_context& c) {
  const std::string method = c.node.text("interpolation"), mode_name = c.node.attribute<std::string>("fill_mode", "CONSTANT");
  if (method != "NEAREST" && method != "BILINEAR")
    throw invalid_argument("Invalid interpolation " + method + ". Supported types: NEAREST, BILINEAR");
  constexpr std::string_view modes[]{"REFLECT", "WRAP", "CONSTANT", "NEAREST"};
  const auto found = std::ranges::find(modes, mode_name);
  if (found == std::end(modes))
    throw invalid_argument("Invalid mode " + mode_name + ". Supported types: REFLECT, WRAP, CONSTANT, NEAREST");
  const auto mode = static_cast<outside_pixels>(found - std::begin(modes));
  const tensor_value images = c.input(0), transforms = c.input(1);
  const shape &s = images.extent(), &of = transforms.extent();
  if (s.rank != 4) throw invalid_argument("Input images must have rank 4, not shape " + brackets(s));
  if (of.rank != 2 || (of[0] != s[0] && of[0] != 1) || of[1] != 8)
    throw invalid_argument("Input transform should be num_images x 8 or 1 x 8, not " + brackets(of) + " for images " + brackets(s));
  if (c.extent(2).rank != 1) throw invalid_argument("output shape must be 1-dimensional" + brackets(c.extent(2)));
  const auto sizes = c.numbers(2);
  if (sizes.size() != 2) throw invalid_argument("output shape must have two elements" + brackets(c.extent(2)));
  if (sizes[0] <= 0 || sizes[1] <= 0)
    throw invalid_argument("output dimensions must be positive, not " + std::to_string(sizes[0]) + " x " + std::to_string(sizes[1]));
  if (c.input_count() > 3 && c.extent(3).rank != 0) throw invalid_argument("fill_value must be a scalar" + brackets(c.extent(3)));
  const float fill = c.input_count() > 3 ? c.input(3).values<float>()[0] : 0;
  const std::int64_t rows = sizes[0], columns = sizes[1], channels = s[3];
  tensor_value made(images.type(), {s[0], rows, columns, channels});
  if (made.elements() == 0) return c.set(0, std::move(made));
  with_number(images.type(), [&]<class T>(T) {
    const T outside = number_from<T>(fill);
    cpu::parallel_for(s[0] * rows, [&](std::int64_t row) {
      const std::int64_t batch = row / rows;
      const float* const t = transforms.values<float>().data() + (of[0] == 1 ? 0 : 8 * batch);
      const bordered_image<T> image{images.values<T>().data() + batch * s[1] * s[2] * channels, s[1], s[2], channels, outside};
      T* to = made.values<T>().data() + row * columns * channels;
      const auto out_y = static_cast<float>(row % rows);
      for (std::int64_t column = 0; column < columns; ++column, to += channels) {
        const auto out_x = static_cast<float>(column);
        const float k = t[6] * out_x + t[7] * out_y + 1;
        const float x = inside_axis((t[0] * out_x + t[1] * out_y + t[2]) / k, s[2], mode);
        const float y = inside_axis((t[3] * out_x + t[4] * out_y + t[5]) / k, s[1], mode);
        for (std::int64_t channel = 0; channel < channels; ++channel)
          to[channel] = k == 0                ? outside
                        : method == "NEAREST" ? image.at(std::round(y), std::round(x), channel)
                                              : image.between(y, x, channel);
      }
    });
  });
  c.set(0, std::move(made));
}

LEAT_FILL(fill_projective_kernels) {
  register_kernel("ImageProjectiveTransformV2", run_projective);
  register_kernel("ImageProjectiveTransformV3", run_projective);
}

}  // namespace leat::runtime
