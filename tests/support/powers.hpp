#pragma once
// Powers and their derivatives where these are delicate, as TensorFlow 2.21 computes them in float64.

#include <array>
#include <cmath>
#include <limits>

namespace leat_test {

struct power_case {
  double a, b;
  std::array<double, 7> wanted;  // aᵇ; derivatives for a, b; of the first for a, b; of the second for a, b
};

namespace powers {
constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
// clang-format off
constexpr power_case cases[]{
    {0, 0, {1, nan, 0, nan, nan, nan, 0}},
    {0, 1, {0, 1, 0, nan, 1, 0, 0}},
    {0, 2, {0, 0, 0, 2, 0, 0, 0}},
    {0, 0.5, {0, inf, 0, -inf, nan, nan, 0}},
    {0, -1, {inf, -inf, nan, inf, nan, nan, nan}},
    {0, 3, {0, 0, 0, 0, 0, 0, 0}},
    {-0.0, 0, {1, nan, 0, nan, nan, nan, 0}},
    {-0.0, 1, {-0.0, 1, -0.0, nan, 1, 0, -0.0}},
    {-0.0, 2, {0, -0.0, 0, 2, -0.0, 0, 0}},
    {-0.0, 0.5, {0, inf, 0, -inf, nan, nan, 0}},
    {-0.0, -1, {-inf, -inf, nan, -inf, nan, nan, nan}},
    {-0.0, 3, {-0.0, 0, -0.0, -0.0, 0, 0, -0.0}},
    {-2, 0, {1, -0.0, 0, -0.0, -0.5, 0, 0}},
    {-2, 1, {-2, 1, -0.0, -0.0, 1, 0, -0.0}},
    {-2, 2, {4, -4, 0, 2, -2, 0, 0}},
    {-2, 0.5, {nan, nan, nan, nan, nan, nan, nan}},
    {-2, -1, {-0.5, -0.25, -0.0, -0.25, 0.25, 0, -0.0}},
    {-2, 3, {-8, 12, -0.0, -12, 4, 0, -0.0}},
    {2, 0, {1, 0, 0.69314718055994529, -0.0, 0.5, 0.5, 0.48045301391820139}},
    {2, 1, {2, 1, 1.3862943611198906, 0, 1.6931471805599454, 1.6931471805599454, 0.96090602783640278}},
    {2, 2, {4, 4, 2.7725887222397811, 2, 4.7725887222397816, 4.7725887222397816, 1.9218120556728056}},
    {2, 0.5, {1.4142135623730951, 0.35355339059327379, 0.98025814346854723, -0.088388347648318447, 0.95217131705368441, 0.95217131705368441, 0.67946316836614984}},
    {2, -1, {0.5, -0.25, 0.34657359027997264, 0.25, 0.076713204860013678, 0.076713204860013678, 0.24022650695910069}},
    {2, 3, {8, 12, 5.5451774444795623, 12, 12.317766166719343, 12.317766166719343, 3.8436241113456111}},
    {inf, 0, {1, 0, inf, -0.0, nan, nan, inf}},
    {inf, 1, {inf, 1, inf, 0, inf, nan, inf}},
    {inf, 2, {inf, inf, inf, 2, inf, nan, inf}},
    {inf, 0.5, {inf, 0, inf, -0.0, nan, nan, inf}},
    {inf, -1, {0, -0.0, nan, 0, nan, nan, nan}},
    {inf, 3, {inf, inf, inf, inf, inf, nan, inf}},
    {-inf, 0, {1, -0.0, 0, -0.0, -0.0, 0, 0}},
    {-inf, 1, {-inf, 1, nan, -0.0, 1, 0, nan}},
    {-inf, 2, {inf, -inf, nan, 2, nan, nan, nan}},
    {-inf, 0.5, {inf, 0, nan, -0.0, 0, 0, nan}},
    {-inf, -1, {-0.0, -0.0, -0.0, -0.0, 0, 0, -0.0}},
    {-inf, 3, {-inf, inf, nan, -inf, nan, nan, nan}},
};
// clang-format on

/// Whether a value is this one but for rounding; no number is no number.
inline bool agrees(double is, double wanted) {
  if (std::isnan(wanted)) return std::isnan(is);
  if (std::isinf(wanted)) return is == wanted;
  return std::abs(is - wanted) <= 1e-12 * std::abs(wanted);
}
}  // namespace powers

}  // namespace leat_test
