#pragma once
// Implementation of histogram_counts.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/summary/histogram_counts.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace leat::summary::detail {

inline constexpr double least_limit = 1e-12;

// The interval of a number. The numbers of one interval have equal sign, exponent and first four bits of the fraction, and differ only in
// the lower 48 bits.
inline std::int64_t interval_of(double positive) { return static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(positive) >> 48); }

// The positive limits and, for each interval from that of the smallest limit on, the number of limits that are not above its beginning.
struct bucket_table {
  std::vector<double> positive;
  std::vector<double> all;
  std::vector<int> below;
  std::int64_t first_interval = 0;

  bucket_table() {
    for (double limit = least_limit; limit < 1e20; limit *= 1.1) positive.push_back(limit);
    const double last = positive.back();
    positive.push_back(std::numeric_limits<double>::max());
    for (auto limit = positive.rbegin(); limit != positive.rend(); ++limit) all.push_back(-*limit);
    all.push_back(0);
    all.insert(all.end(), positive.begin(), positive.end());
    first_interval = interval_of(least_limit);
    for (std::int64_t k = first_interval; k <= interval_of(last); ++k) {
      const double begin = std::bit_cast<double>(static_cast<std::uint64_t>(k) << 48);
      below.push_back(static_cast<int>(std::upper_bound(positive.begin(), positive.end(), begin) - positive.begin()));
    }
  }
  // The number of positive limits that are not above a positive number.
  int limits_up_to(double value) const {
    const std::int64_t k = interval_of(value) - first_interval;
    if (k < 0) return 0;
    const auto last = static_cast<int>(positive.size()) - 1;  // the largest double counts in the bucket that ends with it
    if (k >= static_cast<std::int64_t>(below.size())) return last;
    const int found = below[static_cast<std::size_t>(k)];
    return found + (positive[static_cast<std::size_t>(found)] <= value ? 1 : 0);
  }
  // The bucket with the first limit above the number.
  std::size_t bucket_of(double value) const {
    const auto zero = static_cast<int>(positive.size());
    if (value >= 0) return static_cast<std::size_t>(zero + 1 + limits_up_to(value + 0.0));  // -0 becomes 0
    const int found = limits_up_to(-value);
    // A negative number that equals a limit belongs to the bucket that begins there.
    const bool is_limit = found > 0 && positive[static_cast<std::size_t>(found - 1)] == -value;
    return static_cast<std::size_t>(zero - found + (is_limit ? 1 : 0));
  }
};
inline const bucket_table& buckets() {
  static const bucket_table table;
  return table;
}

}  // namespace leat::summary::detail

namespace leat::summary {

LEAT_FUNCTION const std::vector<double>& bucket_limits() { return detail::buckets().all; }

LEAT_FUNCTION histogram_counts::histogram_counts() { clear(); }

LEAT_FUNCTION void histogram_counts::clear() {
  counts_.assign(bucket_limits().size(), 0.0);
  min_ = std::numeric_limits<double>::max();
  max_ = -min_;
  num_ = sum_ = sum_squares_ = 0;
}

LEAT_FUNCTION void histogram_counts::add(double v) {
  if (!std::isfinite(v)) throw invalid_argument(std::isnan(v) ? "Nan in summary histogram" : "Infinity in summary histogram");
  ++counts_[detail::buckets().bucket_of(v)];
  min_ = std::min(min_, v);
  max_ = std::max(max_, v);
  ++num_;
  sum_ += v;
  sum_squares_ += v * v;
}

LEAT_FUNCTION void histogram_counts::add(const tensor_value& values) {
  if (!values) throw invalid_argument("a histogram of no value");
  with_dtype(values.type(), [&]<class T>(T) {
    for (const T v : values.values<T>()) add(static_cast<double>(v));
  });
}

LEAT_FUNCTION histogram_value histogram_counts::value() const {
  const std::vector<double>& limits = bucket_limits();
  histogram_value made{.min = min_, .max = max_, .num = num_, .sum = sum_, .sum_squares = sum_squares_};
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] <= 0)
      while (i + 1 < counts_.size() && counts_[i + 1] <= 0) ++i;
    made.bucket_limit.push_back(limits[i]);
    made.bucket.push_back(counts_[i]);
  }
  return made;
}

LEAT_FUNCTION histogram_value histogram_of(const tensor_value& values) {
  histogram_counts counts;
  counts.add(values);
  return counts.value();
}

}  // namespace leat::summary
