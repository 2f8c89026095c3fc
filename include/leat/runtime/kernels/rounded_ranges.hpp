#pragma once
// Kernels that round numbers to those that integers of few bits stand for, over a given range or that of the numbers themselves. Source:
// TensorFlow `QuantizeAndDequantizeV2`, `QuantizeAndDequantizeV3`.

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/shape.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace leat::runtime {

/// Rounds the numbers of a range to multiples of a step, so that its ends are about the smallest and the largest integer.
template <class T>
struct rounded_range {
  T low, high, scale, step;
  bool is_up;

  rounded_range(const kernel_context& c, std::int64_t bits, T from, T to)
      : low(from), high(to), is_up(c.node.text("round_mode") == "HALF_UP") {
    const bool is_signed = c.node.flag("signed_input", true), is_narrow = c.node.flag("narrow_range");
    const auto half = static_cast<T>(std::int64_t{1} << (bits - (is_signed ? 1 : 0)));
    const T least = is_signed ? -half + (is_narrow ? 1 : 0) : T(0), most = half - 1;
    constexpr T none = std::numeric_limits<T>::max();
    const T by_low = least * low > 0 ? least / low : none, by_high = most * high > 0 ? most / high : none;
    if (by_low < by_high) {
      scale = by_low;
      step = low / least;
      high = most * step;
    } else {
      scale = by_high;
      step = high / most;
      low = least * step;
    }
  }
  T rounded(T x) const { return (is_up ? std::floor(x * scale + static_cast<T>(0.5)) : std::nearbyint(x * scale)) * step; }
};
/// `bits` is the number of bits; `is_given` says whether inputs 1 and 2 are the range. With an axis each slice along it has one of its own.
inline void round_to_range(kernel_context& c, std::int64_t bits, bool is_given) {
  const tensor_value x = c.input(0);
  const shape& s = x.extent();
  if (bits < 1 || bits >= (c.node.flag("signed_input", true) ? 62 : 63))
    throw invalid_argument("num_bits is out of range: " + std::to_string(bits) + " with signed_input_ " +
                           (c.node.flag("signed_input", true) ? "1" : "0"));
  if (const std::string mode = c.node.text("round_mode"); !mode.empty() && mode != "HALF_TO_EVEN" && mode != "HALF_UP")
    throw invalid_argument("Value for attr 'round_mode' of \"" + mode +
                           "\" is not in the list of allowed values: \"HALF_TO_EVEN\", \"HALF_UP\"");
  const std::int64_t axis = c.node.integer("axis", -1);
  if (axis < -1) throw invalid_argument("Axis must be at least -1. Found " + std::to_string(axis));
  if (axis >= s.rank)
    throw invalid_argument("Shape must be at least rank " + std::to_string(axis + 1) + " but is rank " + std::to_string(s.rank));
  const std::int64_t slices = axis < 0 ? 1 : s[static_cast<int>(axis)];
  const std::int64_t inner = axis < 0 ? s.elements() : product(s, static_cast<int>(axis) + 1, s.rank);
  if (is_given)
    for (const int k : {1, 2}) {
      const char* const name = k == 1 ? "input_min" : "input_max";
      if (axis < 0 && c.extent(k).rank != 0) throw invalid_argument(std::string(name) + " must be a scalar.");
      if (axis >= 0 && (c.extent(k).rank != 1 || c.extent(k)[0] != slices))
        throw invalid_argument(std::string(name) + " has the shape " + brackets(c.extent(k)) + ", and the axis " + std::to_string(slices) +
                               " slices");
    }
  tensor_value made(x.type(), s);
  with_fraction(x.type(), [&]<class T>(T) {
    if (made.elements() == 0 && !is_given) return;  // any number of slices without elements
    const auto from = x.values<T>();
    const auto to = made.values<T>();
    std::vector<T> low(static_cast<std::size_t>(slices), std::numeric_limits<T>::infinity()),
        high(low.size(), -std::numeric_limits<T>::infinity());
    const auto slice = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<std::int64_t>(i) / inner % slices); };
    if (is_given) {
      std::ranges::copy(std::as_const(c.input(1)).template values<T>(), low.begin());
      std::ranges::copy(std::as_const(c.input(2)).template values<T>(), high.begin());
      for (std::size_t k = 0; k < low.size(); ++k)
        if (!(low[k] <= high[k]))
          throw invalid_argument("Invalid range: input_min " + summary_text(tensor_value(low[k])) + " > input_max " +
                                 summary_text(tensor_value(high[k])));
    } else {
      for (std::size_t i = 0; i < from.size(); ++i)
        low[slice(i)] = std::min(low[slice(i)], from[i]), high[slice(i)] = std::max(high[slice(i)], from[i]);
    }
    std::vector<rounded_range<T>> ranges;
    for (std::size_t k = 0; k < low.size(); ++k) ranges.emplace_back(c, bits, low[k], high[k]);
    for (std::size_t i = 0; i < from.size(); ++i) {
      const rounded_range<T>& range = ranges[slice(i)];
      to[i] = range.rounded(is_given && !std::isnan(from[i]) ? std::min(std::max(from[i], range.low), range.high) : from[i]);
    }
  });
  c.set(0, std::move(made));
}

/// The gradient of rounding: that of the result for a number within its range. The ends of the range get 0, as in TensorFlow.
inline void rounding_grad(kernel_context& c) {
  const tensor_value slopes = c.input(0), x = c.input(1);
  const shape& s = x.extent();
  if (!(slopes.extent() == s))
    throw invalid_argument("gradient and input must be the same size: " + brackets(slopes.extent()) + " and " + brackets(s));
  const std::int64_t axis = c.node.integer("axis", -1);
  if (axis < -1) throw invalid_argument("Axis must be at least -1. Found " + std::to_string(axis));
  if (axis >= s.rank) throw invalid_argument("Axis should be between -1 and " + std::to_string(s.rank) + ", not " + std::to_string(axis));
  const std::int64_t slices = axis < 0 ? 1 : s[static_cast<int>(axis)];
  const std::int64_t inner = std::max<std::int64_t>(axis < 0 ? s.elements() : product(s, static_cast<int>(axis) + 1, s.rank), 1);
  for (const int k : {2, 3})
    if (axis < 0 ? c.extent(k).rank != 0 : c.extent(k).rank != 1 || c.extent(k)[0] != slices)
      throw invalid_argument(std::string(k == 2 ? "input_min" : "input_max") +
                             (axis < 0
                                  ? " must be a scalar"
                                  : " has the shape " + brackets(c.extent(k)) + ", and the axis " + std::to_string(slices) + " slices"));
  tensor_value made(x.type(), s), low(x.type(), c.extent(2)), high(x.type(), c.extent(3));
  with_fraction(x.type(), [&]<class T>(T) {
    std::ranges::fill(low.values<T>(), T(0));
    std::ranges::fill(high.values<T>(), T(0));
    for (std::size_t i = 0; i < x.values<T>().size(); ++i) {
      const auto slice = static_cast<std::size_t>(static_cast<std::int64_t>(i) / inner % slices);
      const T value = x.values<T>()[i], slope = slopes.values<T>()[i], from = c.input(2).values<T>()[slice],
              to = c.input(3).values<T>()[slice];
      made.values<T>()[i] = value >= from && value <= to ? slope : T(0);
    }
  });
  c.set(0, std::move(made));
  c.set(1, std::move(low));
  c.set(2, std::move(high));
}

LEAT_FILL(fill_rounded_range_kernels) {
  register_kernels({"QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4"},
                   [](kernel_context& c) { round_to_range(c, c.node.integer("num_bits", 8), c.node.flag("range_given")); });
  register_kernel("QuantizeAndDequantizeV4Grad", rounding_grad);
  register_kernel("QuantizeAndDequantizeV3", [](kernel_context& c) {
    if (c.extent(3).rank != 0)
      throw invalid_argument("Invalid shape. The `num_bits` tensor should be a scalar. Got dimensions: " +
                             std::to_string(c.extent(3).rank));
    round_to_range(c, c.number(3), c.node.flag("range_given", true));
  });
}

}  // namespace leat::runtime
