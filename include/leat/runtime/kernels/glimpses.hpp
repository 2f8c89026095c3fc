#pragma once
// Kernels of windows of images at given places. Pixels outside an image are noise, drawn from the range of its values or from a normal
// distribution with the mean and deviation of each channel, or zeros. Sources: TensorFlow `ExtractGlimpse` and `ExtractGlimpseV2`.

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/crops.hpp>
#include <leat/runtime/kernels/random.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace leat::runtime {

enum class glimpse_noise { uniform, gaussian, zero };
inline glimpse_noise noise_of(const kernel_node& n) {
  const bool is_uniform = n.flag("uniform_noise", true);
  const auto noise = n.attribute<std::string>("noise", "uniform");
  if (is_uniform && !noise.empty() && noise != "uniform")
    throw invalid_argument("The uniform_noise and noise could not be specified at the same time");
  if (noise == "uniform" || (noise.empty() && is_uniform)) return glimpse_noise::uniform;
  if (noise == "gaussian" || noise.empty()) return glimpse_noise::gaussian;
  if (noise == "zero") return glimpse_noise::zero;
  throw invalid_argument("The noise could only be uniform, gaussian, or zero, got " + noise);
}

/// The noise of one image of `pixels` pixels; `number` counts the numbers that are drawn.
class image_noise {
 public:
  image_noise(glimpse_noise kind, const float* image, std::int64_t pixels, std::int64_t channels) : kind_(kind) {
    if (kind == glimpse_noise::zero) return;
    for (std::int64_t channel = 0; channel < channels; ++channel) {
      values its;
      double sum = 0;
      for (std::int64_t k = 0; k < pixels; ++k) {
        const float v = image[k * channels + channel];
        its.least = std::min(its.least, v);
        its.most = std::max(its.most, v);
        sum += static_cast<double>(v);
      }
      its.mean = static_cast<float>(sum / static_cast<double>(pixels));
      double squares = 0;
      for (std::int64_t k = 0; k < pixels; ++k)
        squares += std::pow(static_cast<double>(image[k * channels + channel]) - static_cast<double>(its.mean), 2);
      its.deviation = static_cast<float>(std::sqrt(squares / static_cast<double>(pixels)));
      channels_.push_back(its);
      all_.least = std::min(all_.least, its.least);
      all_.most = std::max(all_.most, its.most);
    }
  }
  float at(std::uint64_t seed, std::uint64_t number, std::int64_t channel) const {
    if (kind_ == glimpse_noise::zero) return 0;
    if (kind_ == glimpse_noise::uniform) return all_.least + uniform<float>(seed, number) * (all_.most - all_.least);
    const values& its = channels_[static_cast<std::size_t>(channel)];
    return std::max(std::min(its.mean + normal<float>(seed, number) * its.deviation, its.most), its.least);
  }

 private:
  struct values {
    float least = std::numeric_limits<float>::infinity(), most = -std::numeric_limits<float>::infinity(), mean = 0, deviation = 0;
  };
  glimpse_noise kind_;
  values all_;
  std::vector<values> channels_;
};

template <int Version>
void run_glimpse(kernel_context& c) {
  const glimpse_noise noise = noise_of(c.node);
  const bool is_normalized = c.node.flag("normalized", true), is_centered = c.node.flag("centered", true);
  const tensor_value images = c.input(0), offsets = c.input(2);
  const shape &s = images.extent(), &of = offsets.extent();
  if (s.rank != 4) throw invalid_argument("input must be 4-dimensional (batch_size, height, width, depth)" + brackets(s));
  const shape& of_size = c.extent(1);
  if (of_size.rank != 1 || of_size[0] != 2) throw invalid_argument("input must be a vector of size 2 (height, width)" + brackets(of_size));
  const auto sizes = c.numbers(1);
  for (const std::int64_t size : sizes)
    if (size < 0) throw invalid_argument("Expected a non-negative size, got " + std::to_string(size));
  if (of.rank != 2) throw invalid_argument("input must be a matrix" + brackets(of));
  if (of[0] != s[0]) throw invalid_argument("first dimension should be batch" + brackets(of));
  if (of[1] != 2) throw invalid_argument("second dimension should be of size 2 (y,x)" + brackets(of));
  const std::int64_t rows = sizes[0], columns = sizes[1], channels = s[3];
  tensor_value made(dtype::float32, {s[0], rows, columns, channels});
  if (made.elements() == 0) return c.set(0, std::move(made));
  const auto [seed, begin] = draw(c, noise == glimpse_noise::zero ? 0 : made.elements());
  // Where the window begins, in pixels.
  const auto begin_of = [&](float at, std::int64_t size, std::int64_t window) -> std::int64_t {
    const auto whole = static_cast<float>(size), half = static_cast<float>(window) / 2;
    if (is_normalized) at *= whole;
    if (is_centered) at = (Version == 1 || is_normalized ? at / 2 : at) + whole / 2;
    if (Version == 1 || (is_normalized && is_centered)) at -= half;
    return std::isnan(at) ? -window : static_cast<std::int64_t>(std::clamp(at, -0x1p40f, 0x1p40f));
  };
  float* to = made.values<float>().data();
  std::uint64_t number = begin;
  for (std::int64_t batch = 0; batch < s[0]; ++batch) {
    const float* const image = images.values<float>().data() + batch * s[1] * s[2] * channels;
    const float* const place = offsets.values<float>().data() + 2 * batch;
    const std::int64_t top = begin_of(place[0], s[1], rows), left = begin_of(place[1], s[2], columns);
    const bool is_whole = top >= 0 && left >= 0 && top + rows <= s[1] && left + columns <= s[2];
    const image_noise around(is_whole || s[1] * s[2] == 0 ? glimpse_noise::zero : noise, image, s[1] * s[2], channels);
    for (std::int64_t y = top; y < top + rows; ++y) {
      c.step.check();
      for (std::int64_t x = left; x < left + columns; ++x) {
        const bool is_inside = y >= 0 && y < s[1] && x >= 0 && x < s[2];
        for (std::int64_t channel = 0; channel < channels; ++channel, ++number)
          *to++ = is_inside ? image[(y * s[2] + x) * channels + channel] : around.at(seed, number, channel);
      }
    }
  }
  c.set(0, std::move(made));
}

LEAT_FILL(fill_glimpse_kernels) {
  register_kernel("ExtractGlimpse", run_glimpse<1>);
  register_kernel("ExtractGlimpseV2", run_glimpse<2>);
}

}  // namespace leat::runtime
