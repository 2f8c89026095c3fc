#include <leat/kernels/math/special.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace special = leat::kernels::special;

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double none = std::numeric_limits<double>::quiet_NaN();
// Apart by a few units in the last place.
bool close(double a, double b, double units = 16) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::abs(a - b) <= units * std::numeric_limits<double>::epsilon() * std::max(std::abs(a), std::abs(b));
}
}  // namespace

TEST_CASE("the logarithm of the gamma function") {
  for (const double x : {0.1, 0.5, 1.0, 2.0, 3.7, 30.0, 1e5, -0.5, -2.25}) CHECK(close(special::lgamma(x), std::lgamma(x)));
  for (const double x : {0.0, -1.0, -7.0, infinity, -infinity}) CHECK(special::lgamma(x) == infinity);
  CHECK(special::lgamma(0.5f) == doctest::Approx(0.57236494).epsilon(1e-7));
  CHECK(std::isnan(special::lgamma(none)));
}

TEST_CASE("digamma: known values, its recurrence, its poles") {
  const double euler = 0.57721566490153286061;
  CHECK(close(special::digamma(1.0), -euler));
  CHECK(close(special::digamma(2.0), 1 - euler));
  CHECK(close(special::digamma(0.5), -euler - 2 * std::log(2.0)));
  for (const double x : {0.3, 1.7, 9.9, 40.5, -0.3, -2.6})
    CHECK(special::digamma(x + 1) == doctest::Approx(special::digamma(x) + 1 / x).epsilon(1e-12));
  for (const double x : {0.0, -1.0, -30.0, none}) CHECK(std::isnan(special::digamma(x)));
  CHECK(special::digamma(infinity) == infinity);
}

TEST_CASE("zeta: of Riemann and of Hurwitz, below 0, and where it is none") {
  const double pi = 3.14159265358979323846;
  CHECK(close(special::zeta(2.0, 1.0), pi * pi / 6));
  CHECK(close(special::zeta(4.0, 1.0), pi * pi * pi * pi / 90));
  for (const double q : {0.25, 1.5, 8.0, 100.0})
    CHECK(special::zeta(3.0, q) == doctest::Approx(std::pow(q, -3.0) + special::zeta(3.0, q + 1)).epsilon(1e-13));
  for (const double q : {-0.25, -1.5, -7.75})
    for (const double x : {2.0, 3.0})
      CHECK(special::zeta(x, q) == doctest::Approx(std::pow(q, -x) + special::zeta(x, q + 1)).epsilon(1e-12));
  CHECK(special::zeta(1.0, 2.0) == infinity);
  CHECK(special::zeta(2.0, 0.0) == infinity);
  CHECK(special::zeta(2.0, -3.0) == infinity);
  for (const auto& [x, q] : {std::pair{0.5, 1.0}, {3.0, -2.0}, {2.5, -0.5}, {none, 1.0}, {2.0, none}})
    CHECK(std::isnan(special::zeta(x, q)));
  // what is at an end of the numbers ends, too
  for (const double x : {1.0000001, 2.0, 1e300, infinity})
    for (const double q : {1e-300, 1e300, infinity, -1e300, -0.5}) static_cast<void>(special::zeta(x, q));
}

TEST_CASE("polygamma: derivatives of digamma") {
  const double pi = 3.14159265358979323846;
  CHECK(close(special::polygamma(0.0, 1.5), special::digamma(1.5)));
  CHECK(close(special::polygamma(1.0, 1.0), pi * pi / 6));
  for (const double x : {0.6, 2.4, 11.0}) {
    const double h = 1e-5;
    const auto slope = [&](double n) { return (special::polygamma(n, x + h) - special::polygamma(n, x - h)) / (2 * h); };
    for (const double n : {0.0, 1.0, 2.0}) CHECK(special::polygamma(n + 1, x) == doctest::Approx(slope(n)).epsilon(1e-6));
  }
  for (const double n : {-1.0, 0.5, none}) CHECK(std::isnan(special::polygamma(n, 1.0)));
}
