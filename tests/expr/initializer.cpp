#include <leat/leat.hpp>

#include "support/check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

using namespace leat;
using namespace leat_test;

namespace {

// What a new session's variable holds.
template <fixed_string Name, class I>
std::vector<double> first_values(const I& initial) {
  const auto w = variable<Name, double, 60, 50>(initial);
  session s{w};
  s.initialize();
  const auto values = s.value(w);
  return {values.begin(), values.end()};
}
double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}
double deviation_of(const std::vector<double>& values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double v : values) sum += (v - mean) * (v - mean);
  return std::sqrt(sum / static_cast<double>(values.size()));
}
double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double v : values) most = std::max(most, std::abs(v));
  return most;
}

}  // namespace

TEST_CASE("what an initializer is, and what not") {
  static_assert(initializer<zeros_initializer> && initializer<ones_initializer> && initializer<decltype(random_normal())>);
  static_assert(!initializer<float> && !initializer<initializer_kind>);
  static_assert(zeros.numbers().empty() && random_uniform().numbers().size() == 3);
  static_assert(is_random(initializer_kind::uniform) && is_random(initializer_kind::glorot_uniform) && is_random(initializer_kind::orthogonal));
  static_assert(!is_random(initializer_kind::zeros) && !is_random(initializer_kind::number) && !is_random(initializer_kind::array) &&
                !is_random(initializer_kind::identity));
}

TEST_CASE("constant initial values") {
  CHECK(first_values<"w">(zeros) == std::vector<double>(3000, 0.0));
  CHECK(first_values<"w">(ones) == std::vector<double>(3000, 1.0));
  const auto w = variable<"w", double, 2>(0.25);
  session s{w};
  s.initialize();
  CHECK(s.value(w)(1) == 0.25);
}

TEST_CASE("random initial values have the distribution that they are named for") {
  const auto uniform = first_values<"w">(random_uniform(-2.0, 4.0, 7));
  CHECK(std::all_of(uniform.begin(), uniform.end(), [](double v) { return v >= -2 && v < 4; }));
  CHECK(mean_of(uniform) == doctest::Approx(1).epsilon(0.1));
  CHECK(deviation_of(uniform) == doctest::Approx(6 / std::sqrt(12.0)).epsilon(0.05));

  const auto normal = first_values<"w">(random_normal(1.0, 3.0, 7));
  CHECK(mean_of(normal) == doctest::Approx(1).epsilon(0.2));
  CHECK(deviation_of(normal) == doctest::Approx(3).epsilon(0.05));
  CHECK(largest(normal) > 7);

  const auto truncated = first_values<"w">(truncated_normal(0.0, 3.0, 7));
  CHECK(largest(truncated) <= 6);
  CHECK(deviation_of(truncated) == doctest::Approx(3 * 0.8796).epsilon(0.05));

  const auto glorot = first_values<"w">(glorot_uniform(7));
  const double bound = std::sqrt(6.0 / (60 + 50));
  CHECK(largest(glorot) <= bound);
  CHECK(largest(glorot) > 0.98 * bound);
}

TEST_CASE("random initial values follow from the seed and the name alone") {
  CHECK(first_values<"w">(random_normal(0, 1, 7)) == first_values<"w">(random_normal(0, 1, 7)));
  CHECK(first_values<"w">(random_normal(0, 1, 7)) != first_values<"w">(random_normal(0, 1, 8)));
  CHECK(first_values<"w">(random_normal(0, 1, 7)) != first_values<"v">(random_normal(0, 1, 7)));
}
