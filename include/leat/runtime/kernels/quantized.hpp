#pragma once
// Kernels that round numbers as if they were stored in few bits, for training. Source: TensorFlow `FakeQuantWithMinMaxArgs`,
// `FakeQuantWithMinMaxVars`, `FakeQuantWithMinMaxVarsPerChannel` and their gradients.

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/shape.hpp>

#include <algorithm>
#include <cmath>

namespace leat::runtime {

/// The numbers that a few bits can hold between about `low` and `high`: these are moved so that 0 is one of them.
struct quantized_range {
  float low = 0, high = 0, step = 0;

  quantized_range(const kernel_context& c, float from, float to) {
    const std::int64_t bits = c.node.integer("num_bits", 8);
    if (bits < 2 || bits > 16) throw invalid_argument("num_bits must be between 2 and 16, inclusive");
    const float least = c.node.flag("narrow_range") ? 1 : 0, most = static_cast<float>((1 << bits) - 1);
    step = (to - from) / (most - least);
    const float zero = least - from / step;
    const float moved = zero < least ? least : zero > most ? most : std::round(zero);
    low = product(least - moved, step);
    high = product(most - moved, step);
  }
  float rounded(float x) const {
    const float each = 1.0f / step, zero = std::floor(product(-low, each) + 0.5f);
    // In this order, because of a range whose ends are exchanged TensorFlow gives the lower one.
    const float inside = std::isnan(x) ? x : std::max(std::min(x, high), low);
    return product(std::floor(product(inside - low, each) - zero + 0.5f), step);
  }
  bool holds(float x) const { return x >= low && x <= high; }

 private:
  // Rounded by itself: where a compiler joins products and sums, numbers halfway between two would go the other way.
  static float product(float a, float b) { return static_cast<float>(static_cast<double>(a) * static_cast<double>(b)); }
};
inline quantized_range range_of_settings(kernel_context& c) {
  const float low = c.node.attribute("min", -6.0f), high = c.node.attribute("max", 6.0f);
  if (!(low < high)) {
    const auto text = [](float v) { return summary_text(tensor_value(v)); };
    throw invalid_argument("min has to be smaller than max, was: " + text(low) + " >= " + text(high));
  }
  return quantized_range(c, low, high);
}
inline float bound_of(kernel_context& c, int k, const char* name) {
  if (c.extent(k).rank != 0)
    throw invalid_argument(std::string("`") + name + "` must be rank 0 but is rank " + std::to_string(c.extent(k).rank));
  return std::as_const(c.input(k)).values<float>()[0];
}
template <class F>
tensor_value floats_by(const tensor_value& x, F f) {
  tensor_value made(dtype::float32, x.extent());
  const auto from = x.values<float>();
  const auto to = made.values<float>();
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = f(i, from[i]);
  return made;
}
inline void run_quantize(kernel_context& c) {
  const quantized_range range = range_of_settings(c);
  c.set(0, floats_by(c.input(0), [&](std::size_t, float x) { return range.rounded(x); }));
}
inline void run_quantize_between(kernel_context& c) {
  const float low = bound_of(c, 1, "min"), high = bound_of(c, 2, "max");
  const quantized_range range(c, low, high);
  const bool is_nothing = low == 0 && high == 0;
  c.set(0, floats_by(c.input(0), [&](std::size_t, float x) { return is_nothing ? 0.0f : range.rounded(x); }));
}
/// The gradients and the numbers, inputs 0 and 1 of one shape.
inline std::pair<tensor_value, tensor_value> gradients_and_inputs(kernel_context& c) {
  if (!(c.extent(0) == c.extent(1)))
    throw invalid_argument("gradient and input must be the same size: " + brackets(c.extent(0)) + " and " + brackets(c.extent(1)));
  return {c.input(0), c.input(1)};
}
inline void run_quantize_back(kernel_context& c) {
  const auto [dy, x] = gradients_and_inputs(c);
  const quantized_range range = range_of_settings(c);
  const auto slopes = dy.values<float>();
  c.set(0, floats_by(x, [&](std::size_t i, float v) { return range.holds(v) ? slopes[i] : 0.0f; }));
}
inline void run_quantize_between_back(kernel_context& c) {
  const auto [dy, x] = gradients_and_inputs(c);
  const float low = bound_of(c, 2, "min"), high = bound_of(c, 3, "max");
  const quantized_range range(c, low, high);
  const bool is_nothing = low == 0 && high == 0;
  const auto slopes = dy.values<float>();
  double below = 0, above = 0;
  c.set(0, floats_by(x, [&](std::size_t i, float v) {
          if (is_nothing) return slopes[i];
          if (v < range.low) below += static_cast<double>(slopes[i]);
          if (v > range.high) above += static_cast<double>(slopes[i]);
          return range.holds(v) ? slopes[i] : 0.0f;
        }));
  c.set(1, tensor_value(static_cast<float>(below)));
  c.set(2, tensor_value(static_cast<float>(above)));
}

/// The bounds of the channels, the last axis of `x`, in inputs `k` and `k + 1`.
struct channel_ranges {
  std::vector<quantized_range> ranges;
  std::vector<char> is_nothing;
  channel_ranges(kernel_context& c, const tensor_value& x, int k) {
    const shape& s = x.extent();
    if (s.rank < 1) throw invalid_argument("inputs must have at least one axis, whose elements are the channels");
    const std::int64_t channels = s[s.rank - 1];
    for (const int bound : {k, k + 1}) {
      if (c.extent(bound).rank != 1)
        throw invalid_argument("Shape must be rank 1 but is rank " + std::to_string(c.extent(bound).rank));
      if (c.extent(bound)[0] != channels)
        throw invalid_argument((bound == k ? "min" : "max") + std::string(" has incorrect size, expected ") + std::to_string(channels) +
                               " was " + std::to_string(c.extent(bound)[0]));
    }
    const tensor_value low = c.input(k), high = c.input(k + 1);
    for (std::size_t i = 0; i < low.values<float>().size(); ++i) {
      ranges.emplace_back(c, low.values<float>()[i], high.values<float>()[i]);
      is_nothing.push_back(low.values<float>()[i] == 0 && high.values<float>()[i] == 0 ? 1 : 0);
    }
  }
};
inline void run_quantize_channels(kernel_context& c) {
  const tensor_value x = c.input(0);
  const channel_ranges channels(c, x, 1);
  c.set(0, floats_by(x, [&](std::size_t i, float v) {
          const std::size_t k = i % channels.ranges.size();
          return channels.is_nothing[k] != 0 ? 0.0f : channels.ranges[k].rounded(v);
        }));
}
inline void run_quantize_channels_back(kernel_context& c) {
  const auto [dy, x] = gradients_and_inputs(c);
  const channel_ranges channels(c, x, 2);
  const auto slopes = dy.values<float>();
  std::vector<double> below(channels.ranges.size(), 0), above = below;
  c.set(0, floats_by(x, [&](std::size_t i, float v) {
          const std::size_t k = i % channels.ranges.size();
          const quantized_range& range = channels.ranges[k];
          if (channels.is_nothing[k] != 0) return slopes[i];
          if (v < range.low) below[k] += static_cast<double>(slopes[i]);
          if (v > range.high) above[k] += static_cast<double>(slopes[i]);
          return range.holds(v) ? slopes[i] : 0.0f;
        }));
  c.set(1, tensor_value(std::vector<float>(below.begin(), below.end())));
  c.set(2, tensor_value(std::vector<float>(above.begin(), above.end())));
}

LEAT_FILL(fill_quantized_kernels) {
  register_kernel("FakeQuantWithMinMaxArgs", run_quantize);
  register_kernel("FakeQuantWithMinMaxArgsGradient", run_quantize_back);
  register_kernel("FakeQuantWithMinMaxVars", run_quantize_between);
  register_kernel("FakeQuantWithMinMaxVarsGradient", run_quantize_between_back);
  register_kernel("FakeQuantWithMinMaxVarsPerChannel", run_quantize_channels);
  register_kernel("FakeQuantWithMinMaxVarsPerChannelGradient", run_quantize_channels_back);
}

}  // namespace leat::runtime
