#pragma once
// Gradients of special functions and of cross products in graphs with names, as TensorFlow makes them. Source: TensorFlow's gradients of
// the operators of the same names.

#include <leat/core/fill.hpp>
#include <leat/named/functions/slice.hpp>
#include <leat/named/gradients/array.hpp>
#include <leat/named/graph/call.hpp>

#include <limits>
#include <numbers>

namespace leat::detail {

inline output function_of(std::string_view type, const output& x) { return call_operator(x.owner(), type, {x}).result(); }
inline output function_of(std::string_view type, const output& x, const output& y) {
  return call_operator(x.owner(), type, {x, y}).result();
}
inline output number_like(const output& x, double value) { return x.owner().named().make_literal(x.owner(), {x.type(), {}, value}); }

inline gradient_list gradient_of_erfinv(const gradient_call& c) {
  const output dy = c.dy();
  const control_dependencies after({dy});
  return {dy * number_like(dy, 1 / (2 * std::numbers::inv_sqrtpi)) * exp(square(c.result()))};
}
inline gradient_list gradient_of_quantile(const gradient_call& c) {
  const output dy = c.dy();
  const control_dependencies after({dy});
  return {dy * number_like(dy, std::numbers::sqrt2 / std::numbers::inv_sqrtpi) * exp(square(c.result()) / number_like(dy, 2))};
}
inline gradient_list gradient_of_bessel_0(const gradient_call& c) {
  const output dy = c.dy();
  const control_dependencies after({dy});
  return {dy * function_of("BesselI1", c.input())};
}
inline gradient_list gradient_of_scaled_bessel_0(const gradient_call& c) {
  const output dy = c.dy(), x = c.input();
  const control_dependencies after({dy});
  return {dy * (function_of("BesselI1e", x) - sign(x) * c.result())};
}
// At 0 the slope of I1 is 1/2; TensorFlow's gradient says 1.
inline gradient_list gradient_of_bessel_1(const gradient_call& c) {
  const output dy = c.dy(), x = c.input();
  const control_dependencies after({dy});
  const output elsewhere = function_of("BesselI0", x) - c.result() / x;
  return {dy * select(equal(x, number_like(x, 0)), number_like(x, 1), elsewhere, "SelectV2")};
}
inline gradient_list gradient_of_scaled_bessel_1(const gradient_call& c) {
  const output dy = c.dy(), x = c.input();
  const control_dependencies after({dy});
  const output elsewhere = function_of("BesselI0e", x) - c.result() * (sign(x) + reciprocal(x));
  return {dy * select(equal(x, number_like(x, 0)), number_like(x, 0.5), elsewhere, "SelectV2")};
}
/// The slope of a function of x with the result y, which `slope(x, y)` gives, times the result's gradient.
template <class Slope>
gradient_list gradient_by_slope(const gradient_call& c, Slope slope) {
  const output dy = c.dy();
  const control_dependencies after({dy});
  return {dy * slope(c.input(), c.result())};
}
// Of the Bessel functions: J0' = -J1, J1' = J0 - J1/x, Y0' = -Y1, Y1' = Y0 - Y1/x, K0' = -K1, K1' = -K0 - K1/x. Those of K and Y have no
// slope at 0.
inline gradient_list gradient_of_bessel_j1(const gradient_call& c) {
  return gradient_by_slope(c, [](const output& x, const output& y) {
    return select(equal(x, number_like(x, 0)), number_like(x, 0.5), function_of("BesselJ0", x) - y / x, "SelectV2");
  });
}
inline gradient_list gradient_of_bessel_k1(const gradient_call& c) {
  return gradient_by_slope(c, [](const output& x, const output& y) { return -function_of("BesselK0", x) - y / x; });
}
inline gradient_list gradient_of_scaled_bessel_k0(const gradient_call& c) {
  return gradient_by_slope(c, [](const output& x, const output& y) { return y - function_of("BesselK1e", x); });
}
inline gradient_list gradient_of_scaled_bessel_k1(const gradient_call& c) {
  return gradient_by_slope(
      c, [](const output& x, const output& y) { return y * (number_like(x, 1) - reciprocal(x)) - function_of("BesselK0e", x); });
}
inline gradient_list gradient_of_bessel_y1(const gradient_call& c) {
  return gradient_by_slope(c, [](const output& x, const output& y) { return function_of("BesselY0", x) - y / x; });
}
inline gradient_list gradient_of_dawson(const gradient_call& c) {
  return gradient_by_slope(c, [](const output& x, const output& y) { return number_like(x, 1) - number_like(x, 2) * x * y; });
}
inline gradient_list gradient_of_exponential_integral(const gradient_call& c) {
  const output dy = c.dy(), x = c.input();
  const control_dependencies after({dy});
  return {dy * exp(x) / x};
}
inline output right_angle_times_square(const output& x) { return number_like(x, std::numbers::pi / 2) * square(x); }
inline gradient_list gradient_of_spence(const gradient_call& c) {
  return gradient_by_slope(c, [](const output& x, const output&) {
    const output elsewhere = log(x) / (number_like(x, 1) - x);
    return select(equal(x, number_like(x, 1)), number_like(x, -1), elsewhere, "SelectV2");
  });
}
/// The distribution of normal numbers.
inline output normal_below(const output& x) {
  return number_like(x, 0.5) * erfc(x * number_like(x, -1 / std::numbers::sqrt2));
}
/// By the mean, the spread and the bounds of normal numbers between bounds: the number moves so that as much of the distribution as before
/// is below it (Figurnov et al., "Implicit Reparameterization Gradients", 2018).
inline gradient_list gradient_of_truncated_normal(const gradient_call& c) {
  graph& g = c.owner();
  const output dy = c.dy(), sizes = c.input(0), mean = c.input(2), spread = c.input(3);
  const control_dependencies after({dy});
  const auto standard = [&](const output& x) { return (x - mean) / spread; };
  const output low = standard(c.input(4)), high = standard(c.input(5)), here = standard(c.result());
  const output below = normal_below(low);
  const bool is_wide = mean.type() == dtype::float64;
  const double tiny = is_wide ? std::numeric_limits<double>::min() : static_cast<double>(std::numeric_limits<float>::min());
  const double step = is_wide ? std::numeric_limits<double>::epsilon() : static_cast<double>(std::numeric_limits<float>::epsilon());
  const output part =
      clip_by_value((normal_below(here) - below) / (normal_below(high) - below), number_like(mean, tiny), number_like(mean, 1 - step));
  const output half = number_like(mean, 0.5);
  const output by_high = exp(half * (square(here) - square(high)) + log(part));
  const output by_low = exp(half * (square(here) - square(low)) + log1p(-part));
  output shared = shape_of(mean);
  for (const int k : {3, 4, 5}) shared = function_of("BroadcastArgs", shape_of(c.input(k)), shared);
  const auto constant = [&](std::int32_t value) { return g.named().make_constant(g, value, "Const"); };
  const output more = element_count_of(sizes) - element_count_of(shared);
  const output extra = call_operator(g, "Range", {constant(0), more, constant(1)}, {}, "range").result();
  gradient_list list(2);
  const output slopes[]{output{}, here, by_low, by_high};
  for (int k = 0; k < 4; ++k) {
    const output of_sample = k == 0 ? dy : dy * slopes[k];
    const output its_sizes = shape_of(c.input(2 + k));
    const output each = reduce_sum(of_sample, extra);
    list.push_back(reduced_to(each, broadcast_gradient_args(shared, its_sizes)[1], its_sizes));
  }
  return list;
}
/// The gradients of two operands that broadcast, from those of the result's elements.
template <class Slopes>
gradient_list gradients_of_broadcast(const gradient_call& c, Slopes slopes) {
  const output dy = c.dy();
  const output sizes_x = shape_of(c.input(0)), sizes_y = shape_of(c.input(1));
  const auto axes = broadcast_gradient_args(sizes_x, sizes_y);
  const control_dependencies after({dy});
  const std::pair<output, output> both = slopes(dy, c.input(0), c.input(1));
  return {reduced_to(both.first, axes[0], sizes_x), reduced_to(both.second, axes[1], sizes_y)};
}
inline gradient_list gradient_of_xlog1py(const gradient_call& c) {
  return gradients_of_broadcast(c, [](const output& dy, const output& x, const output& y) {
    const output is_not_zero = cast(not_equal(x, number_like(x, 0)), x.type());
    const output by_x = function_of("Xlog1py", is_not_zero, y), by_y = xdivy(x, y + number_like(y, 1));
    return std::pair{by_x * dy, by_y * dy};
  });
}
inline gradient_list gradient_of_mul_no_nan(const gradient_call& c) {
  return gradients_of_broadcast(c, [](const output& dy, const output& x, const output& y) {
    return std::pair{function_of("MulNoNan", dy, y), function_of("MulNoNan", x, dy)};
  });
}
inline gradient_list gradient_of_cross(const gradient_call& c) {
  return {function_of("Cross", c.input(1), c.dy()), function_of("Cross", c.dy(), c.input(0))};
}
/// Positive and negative slopes apart, as logarithms, so that no exponential overflows.
inline gradient_list gradient_of_cumulative_logs(const gradient_call& c) {
  const output dy = c.dy(), x = c.input(0), axis = c.input(1), sums = c.result();
  const double lowest = x.type() == dtype::float64 ? std::numeric_limits<double>::lowest() : std::numeric_limits<float>::lowest();
  const attribute_map back{{"exclusive", c.flag("exclusive")}, {"reverse", !c.flag("reverse")}};
  const auto part = [&](const output& size) {
    const output is_there = greater(size, number_like(size, 0));
    const output logarithms = select(is_there, log(size), number_like(size, lowest), "SelectV2");
    const output scaled = logarithms - sums;
    return exp(call_operator(c.owner(), "CumulativeLogsumexp", {scaled, axis}, back).result() + x);
  };
  const output up = part(dy), down = part(-dy);
  return {up - down, {}};
}
/// The slopes of random numbers by alpha, input `K`; the numbers' last axes are those of alpha.
template <int K>
gradient_list gradient_of_random_gamma(const gradient_call& c) {
  const output dy = c.dy(), alpha = c.input(K);
  const output sizes = shape_of(alpha), of_samples = shape_of(c.result());
  const auto axes = broadcast_gradient_args(sizes, of_samples);
  const control_dependencies after({dy});
  const output slopes = dy * function_of("RandomGammaGrad", alpha, c.result());
  gradient_list list(static_cast<std::size_t>(K));
  list.push_back(reduced_to(slopes, axes[0], sizes));
  return list;
}

LEAT_FILL(fill_special_gradients) {
  enter_gradients({
      {"Erfinv", gradient_of_erfinv},
      {"Ndtri", gradient_of_quantile},
      {"BesselI0", gradient_of_bessel_0},
      {"BesselI0e", gradient_of_scaled_bessel_0},
      {"BesselI1", gradient_of_bessel_1},
      {"BesselI1e", gradient_of_scaled_bessel_1},
      {"BesselJ0",
       [](const gradient_call& c) {
         return gradient_by_slope(c, [](const output& x, const output&) { return -function_of("BesselJ1", x); });
       }},
      {"BesselJ1", gradient_of_bessel_j1},
      {"BesselK0",
       [](const gradient_call& c) {
         return gradient_by_slope(c, [](const output& x, const output&) { return -function_of("BesselK1", x); });
       }},
      {"BesselK0e", gradient_of_scaled_bessel_k0},
      {"BesselK1", gradient_of_bessel_k1},
      {"BesselK1e", gradient_of_scaled_bessel_k1},
      {"BesselY0",
       [](const gradient_call& c) {
         return gradient_by_slope(c, [](const output& x, const output&) { return -function_of("BesselY1", x); });
       }},
      {"BesselY1", gradient_of_bessel_y1},
      {"Dawsn", gradient_of_dawson},
      {"Expint", gradient_of_exponential_integral},
      {"FresnelCos",
       [](const gradient_call& c) {
         return gradient_by_slope(c, [](const output& x, const output&) { return cos(right_angle_times_square(x)); });
       }},
      {"FresnelSin",
       [](const gradient_call& c) {
         return gradient_by_slope(c, [](const output& x, const output&) { return sin(right_angle_times_square(x)); });
       }},
      {"Spence", gradient_of_spence},
      {"StatelessParameterizedTruncatedNormal", gradient_of_truncated_normal},
      {"Xlog1py", gradient_of_xlog1py},
      {"MulNoNan", gradient_of_mul_no_nan},
      {"Cross", gradient_of_cross},
      {"CumulativeLogsumexp", gradient_of_cumulative_logs},
      {"RandomGamma", gradient_of_random_gamma<1>},
      {"StatelessRandomGammaV2", gradient_of_random_gamma<2>},
  });
}

}  // namespace leat::detail
