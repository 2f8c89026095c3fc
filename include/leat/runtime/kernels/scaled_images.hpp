#pragma once
// Kernels of images that are scaled and moved, with a filter of the caller's choice, and their gradient. Sources: TensorFlow
// `ScaleAndTranslate` and `ScaleAndTranslateGrad`; Keys, "Cubic convolution interpolation" (1981); Mitchell and Netravali, "Reconstruction
// filters in computer graphics" (1988).

#include <leat/core/fill.hpp>
#include <leat/core/memory.hpp>
#include <leat/cpu/parallel.hpp>
#include <leat/runtime/kernels/crops.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace leat::runtime {

/// A filter: the weight of a pixel by its distance, in float32 as in TensorFlow.
struct sampling_filter {
  float radius;
  float (*weight)(float distance);
};
template <int Radius>
float lanczos(float x) {
  constexpr float pi = 3.14159265359f, radius = Radius;
  if (x > radius) return 0;
  if (x <= 1e-3f) return 1;
  return radius * std::sin(pi * x) * std::sin(pi * x / radius) / (pi * pi * x * x);
}
/// Errors: invalid_argument for a name that is none of TensorFlow's.
inline sampling_filter filter_named(const std::string& name) {
  if (name == "lanczos1") return {1, lanczos<1>};
  if (name == "lanczos3") return {3, lanczos<3>};
  if (name == "lanczos5") return {5, lanczos<5>};
  if (name == "gaussian")
    return {1.5f, [](float x) { return x >= 1.5f ? 0.0f : static_cast<float>(std::exp(static_cast<double>(-x * x) / (2.0 * 0.5 * 0.5))); }};
  if (name == "box") return {1, [](float x) { return x < 0.5f ? 1.0f : x == 0.5f ? 0.5f : 0.0f; }};
  if (name == "triangle") return {1, [](float x) { return x < 1 ? 1 - x : 0.0f; }};
  if (name == "keyscubic")
    return {2, [](float x) {
              if (x >= 2) return 0.0f;
              return x >= 1 ? ((-0.5f * x + 2.5f) * x - 4) * x + 2 : ((1.5f * x - 2.5f) * x) * x + 1;
            }};
  if (name == "mitchellcubic")
    return {2, [](float x) {
              if (x >= 2) return 0.0f;
              if (x >= 1) return (((-7.0f / 18) * x + 2) * x - 10.0f / 3) * x + 16.0f / 9;
              return (((7.0f / 6) * x - 2) * x) * x + 8.0f / 9;
            }};
  throw invalid_argument("Unrecognized kernel type: " + name);
}

/// Sums of weighted elements along an axis: element `index` of the input counts by `weight` in the sum that lists it.
class weighted_axis {
 public:
  struct part {
    std::int64_t index;
    float weight;
  };
  /// The sums that make `outputs` pixels of `inputs`.
  weighted_axis(kernel_context& c, const sampling_filter& filter, std::int64_t outputs, std::int64_t inputs, float scale, float translation,
                bool antialias) {
    const float over = 1 / scale, moved = -over * translation, widened = antialias ? std::max(over, 1.0f) : 1.0f;
    const float reach = filter.radius * widened;
    const auto span = static_cast<double>(std::min(2 * std::ceil(reach) + 1, static_cast<float>(inputs)));
    taken_.take(static_cast<std::size_t>(std::min(span * static_cast<double>(outputs) * sizeof(part), 0x1p60)) +
                static_cast<std::size_t>(outputs) * sizeof(std::size_t));
    ends_.push_back(0);
    for (std::int64_t x = 0; x < outputs; ++x) {
      if (x % 1024 == 0) c.step.check();
      const float at = (static_cast<float>(x) + 0.5f) * over + moved;
      if (at >= 0 && at <= static_cast<float>(inputs)) {  // elsewhere the image has no pixels
        const auto inside = [inputs](float v) {
          return static_cast<std::int64_t>(std::clamp(static_cast<double>(v), 0.0, static_cast<double>(inputs - 1)));
        };
        const std::int64_t first = inside(std::ceil(at - reach - 0.5f)), last = inside(std::floor(at + reach - 0.5f));
        const std::size_t begin = parts_.size();
        float sum = 0;
        for (std::int64_t k = first; k <= last; ++k) {
          const float weight = filter.weight(std::abs((static_cast<float>(k) + 0.5f - at) * (1 / widened)));
          sum += weight;
          parts_.push_back({k, weight});
        }
        const bool is_sum = std::abs(sum) >= 1000 * std::numeric_limits<float>::min();
        for (std::size_t k = begin; k < parts_.size(); ++k) parts_[k].weight = is_sum ? parts_[k].weight * (1 / sum) : 0;
      }
      ends_.push_back(parts_.size());
    }
  }
  /// The sums of the gradient of `of`: those in which each of `inputs` pixels counts.
  weighted_axis(const weighted_axis& of, std::int64_t inputs) : ends_(static_cast<std::size_t>(inputs) + 1, 0) {
    taken_.take(of.parts_.size() * sizeof(part) + 2 * ends_.size() * sizeof(std::size_t));
    for (const part& p : of.parts_) ++ends_[static_cast<std::size_t>(p.index) + 1];
    for (std::size_t k = 1; k < ends_.size(); ++k) ends_[k] += ends_[k - 1];
    parts_.resize(of.parts_.size());
    std::vector<std::size_t> next(ends_.begin(), ends_.end() - 1);
    for (std::size_t sum = 0; sum + 1 < of.ends_.size(); ++sum)
      for (std::size_t k = of.ends_[sum]; k < of.ends_[sum + 1]; ++k)
        parts_[next[static_cast<std::size_t>(of.parts_[k].index)]++] = {static_cast<std::int64_t>(sum), of.parts_[k].weight};
  }
  std::span<const part> sum(std::int64_t k) const {
    const auto at = static_cast<std::size_t>(k);
    return {parts_.data() + ends_[at], ends_[at + 1] - ends_[at]};
  }

 private:
  metered_bytes taken_;
  std::vector<part> parts_;
  std::vector<std::size_t> ends_;  // of each sum's parts
};

/// Images of `rows` x `columns` pixels as sums of the pixels of others, first along columns, then along rows.
template <class T>
tensor_value weighted_images(const tensor_value& images, const weighted_axis& down, const weighted_axis& across, std::int64_t rows,
                             std::int64_t columns) {
  const shape& s = images.extent();
  const std::int64_t width = s[2], channels = s[3];
  tensor_value between(dtype::float32, {s[0], rows, width, channels}), made(dtype::float32, {s[0], rows, columns, channels});
  const T* const from = images.values<T>().data();
  float* const middle = between.values<float>().data();
  float* const to = made.values<float>().data();
  cpu::parallel_for(s[0] * rows, [&](std::int64_t row) {
    float* const line = middle + row * width * channels;
    std::fill_n(line, width * channels, 0.0f);
    for (const auto& [y, weight] : down.sum(row % rows)) {
      const T* const pixels = from + (row / rows * s[1] + y) * width * channels;
      for (std::int64_t k = 0; k < width * channels; ++k) line[k] += weight * static_cast<float>(pixels[k]);
    }
    for (std::int64_t x = 0; x < columns; ++x) {
      float* const pixel = to + (row * columns + x) * channels;
      std::fill_n(pixel, channels, 0.0f);
      for (const auto& [at, weight] : across.sum(x))
        for (std::int64_t k = 0; k < channels; ++k) pixel[k] += weight * line[at * channels + k];
    }
  });
  return made;
}

/// Two numbers of an input, of rows and of columns. Errors: invalid_argument if there are others.
inline std::pair<float, float> of_rows_and_columns(kernel_context& c, int k) {
  if (c.extent(k).rank != 1) throw invalid_argument("t must be 1-dimensional" + brackets(c.extent(k)));
  const tensor_value t = c.input(k);
  if (t.elements() != 2) throw invalid_argument("t must have two elements" + brackets(t.extent()));
  return {t.values<float>()[0], t.values<float>()[1]};
}
struct image_scaling {
  sampling_filter filter;
  bool antialias;
  std::pair<float, float> scale, translation;
  explicit image_scaling(kernel_context& c)
      : filter(filter_named(c.node.attribute<std::string>("kernel_type", "lanczos3"))),
        antialias(c.node.flag("antialias", true)),
        scale(of_rows_and_columns(c, 2)),
        translation(of_rows_and_columns(c, 3)) {
    if (!(scale.first > 0 && scale.second > 0)) throw invalid_argument("Scale must be greater than zero.");
  }
  weighted_axis down(kernel_context& c, std::int64_t outputs, std::int64_t inputs) const {
    return {c, filter, outputs, inputs, scale.first, translation.first, antialias};
  }
  weighted_axis across(kernel_context& c, std::int64_t outputs, std::int64_t inputs) const {
    return {c, filter, outputs, inputs, scale.second, translation.second, antialias};
  }
};

inline void run_scale(kernel_context& c) {
  const tensor_value images = c.input(0);
  const shape& s = images.extent();
  if (s.rank != 4) throw invalid_argument("input must be 4-dimensional" + brackets(s));
  if (c.extent(1).rank != 1) throw invalid_argument("output_shape_t must be 1-dimensional" + brackets(c.extent(1)));
  const auto sizes = c.numbers(1);
  if (sizes.size() != 2) throw invalid_argument("output_shape_t must have two elements" + brackets(c.extent(1)));
  if (sizes[0] <= 0 || sizes[1] <= 0) throw invalid_argument("output dimensions must be positive");
  if (s[3] == 0) throw invalid_argument("image must have at least one channel");
  if (s[1] == 0 || s[2] == 0) throw invalid_argument("input image must be of non-zero size");
  const image_scaling how(c);
  if (s[0] == 0) return c.set(0, tensor_value(dtype::float32, {0, sizes[0], sizes[1], s[3]}));
  const weighted_axis down = how.down(c, sizes[0], s[1]), across = how.across(c, sizes[1], s[2]);
  with_number(images.type(), [&]<class T>(T) { c.set(0, weighted_images<T>(images, down, across, sizes[0], sizes[1])); });
}
inline void run_scale_back(kernel_context& c) {
  const tensor_value dy = c.input(0);
  const shape &s = dy.extent(), &image = c.extent(1);
  if (s.rank != 4) throw invalid_argument("input_grad must be 4-dimensional" + brackets(s));
  if (image.rank != 4) throw invalid_argument("original_image must be 4-dimensional" + brackets(image));
  const image_scaling how(c);
  if (s.elements() == 0 || image[1] == 0 || image[2] == 0) {
    tensor_value made(dtype::float32, {s[0], image[1], image[2], s[3]});
    std::ranges::fill(made.values<float>(), 0.0f);
    return c.set(0, std::move(made));
  }
  const weighted_axis down = how.down(c, s[1], image[1]), across = how.across(c, s[2], image[2]);
  c.set(0, weighted_images<float>(dy, weighted_axis(down, image[1]), weighted_axis(across, image[2]), image[1], image[2]));
}

LEAT_FILL(fill_scaled_image_kernels) {
  register_kernel("ScaleAndTranslate", run_scale);
  register_kernel("ScaleAndTranslateGrad", run_scale_back);
}

}  // namespace leat::runtime
