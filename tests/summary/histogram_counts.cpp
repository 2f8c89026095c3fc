#include <leat/core/philox.hpp>
#include <leat/summary/histogram_counts.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using namespace leat;
using summary::bucket_limits;
using summary::histogram_counts;
using summary::histogram_of;

namespace {

// The limit of the bucket that a number falls into, by bisection.
double limit_of(double v) {
  const auto& limits = bucket_limits();
  const auto found = std::upper_bound(limits.begin(), limits.end(), v);
  return found == limits.end() ? limits.back() : *found;
}
// The limit of the one bucket that is not empty.
double found_limit(double v) {
  const auto h = histogram_of(v);
  for (std::size_t i = 0; i < h.bucket.size(); ++i)
    if (h.bucket[i] > 0) return h.bucket_limit[i];
  return NAN;
}

}  // namespace

TEST_CASE("each number falls into the bucket that bisection finds") {
  const auto& limits = bucket_limits();
  CHECK(limits.size() == 1551);
  CHECK(std::is_sorted(limits.begin(), limits.end()));
  std::vector<double> numbers{0.0, -0.0, 1e-13, -1e-13, 5e-324, -5e-324, 1e300, -1e300, std::numeric_limits<double>::max()};
  numbers.push_back(-numbers.back());
  for (const double limit : limits) {
    numbers.push_back(limit);
    numbers.push_back(std::nextafter(limit, 1e308));
    numbers.push_back(std::nextafter(limit, -1e308));
  }
  for (std::uint64_t k = 0; k < 3000; ++k) {
    const double magnitude = std::pow(10.0, 40 * static_cast<double>(uniform<float>(1, k)) - 18);
    numbers.push_back(k % 2 == 0 ? magnitude : -magnitude);
  }
  bool all = true;
  for (const double v : numbers) {
    if (!std::isfinite(v)) continue;
    if (found_limit(v) != limit_of(v)) {
      CAPTURE(v);
      CHECK(found_limit(v) == limit_of(v));
      all = false;
    }
  }
  CHECK(all);
}

TEST_CASE("sums, extremes and runs of empty buckets") {
  histogram_counts counts;
  counts.add(2.0);
  counts.add(tensor_value(std::vector<std::int32_t>{-1, 2, 2}));
  counts.add(tensor_value(std::vector<std::uint8_t>{0}));
  const auto h = counts.value();
  CHECK(h.min == -1);
  CHECK(h.max == 2);
  CHECK(h.num == 5);
  CHECK(h.sum == 5);
  CHECK(h.sum_squares == 13);
  double total = 0;
  for (std::size_t i = 0; i < h.bucket.size(); ++i) {
    total += h.bucket[i];
    if (i > 0) CHECK(h.bucket_limit[i - 1] < h.bucket_limit[i]);
    if (i > 0) CHECK((h.bucket[i - 1] > 0 || h.bucket[i] > 0));
  }
  CHECK(total == 5);
  CHECK(h.bucket_limit.back() == std::numeric_limits<double>::max());
  counts.clear();
  CHECK(counts.value() == histogram_of(std::vector<float>{}));
}

TEST_CASE("what is no finite number is refused") {
  CHECK_THROWS_WITH_AS(histogram_of(std::vector<float>{1, NAN}), "Nan in summary histogram", invalid_argument);
  CHECK_THROWS_WITH_AS(histogram_of(-INFINITY), "Infinity in summary histogram", invalid_argument);
  CHECK_THROWS_AS(histogram_of("text"), unimplemented);
  CHECK_THROWS_AS(histogram_of(tensor_value()), invalid_argument);
}
