#pragma once
// Histograms as in TensorFlow's summaries: 1,551 buckets with limits that are 1e-12 times powers of 1.1, up to 1e20, on both sides of 0,
// and the largest double. The bucket of a number is found by the leading bits of its representation: 16 intervals per power of 2, each of
// which contains at most one limit, because 1.1 is more than 2^(1/16). Source: TensorFlow 1.x `histogram::Histogram`.

#include <leat/core/function_bodies.hpp>
#include <leat/runtime/state/tensor_value.hpp>
#include <leat/summary/event.hpp>

#include <vector>

namespace leat::summary {

/// The limits of the default buckets, ascending.
const std::vector<double>& bucket_limits();

/// Counts numbers in the default buckets.
class histogram_counts {
 public:
  histogram_counts();
  /// Adds a number. Errors: invalid_argument for NaN and infinities.
  void add(double value);
  /// Adds the elements of an array of numbers in their order. After an error, the elements before the wrong one are counted.
  /// Errors: also invalid_argument for an empty value; unimplemented for strings and handles.
  void add(const tensor_value& values);
  void clear();

  /// The histogram. Adjacent empty buckets are merged, as TensorFlow does.
  histogram_value value() const;

 private:
  std::vector<double> counts_;
  double min_ = 0, max_ = 0, num_ = 0, sum_ = 0, sum_squares_ = 0;
};

/// The histogram of an array's elements. Errors: those of `histogram_counts::add`.
histogram_value histogram_of(const tensor_value& values);

}  // namespace leat::summary

#if LEAT_WITH_BODIES
#include <leat/summary/impl/histogram_counts.hpp>
#endif
