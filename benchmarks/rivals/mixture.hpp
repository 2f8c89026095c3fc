#pragma once
// The likelihood of points under a mixture of k normal distributions of d dimensions, and its gradient, in double. Parameters: logarithms of
// weights a [k], means m [k, d], and for each distribution a lower triangular root Q of its inverse covariance, of whose diagonal the
// logarithm q is given, [k, d, d]:
//   Σᵢ log Σₖ exp(aₖ + Σ qₖ - |Qₖ (xᵢ - mₖ)|² / 2) - n log Σₖ exp(aₖ)
// The formula is that of the benchmark of derivatives ADBench (Šrajer, Kukelova, Fitzgibbon 2018), without the prior.

#include <adolc/adolc.h>

#include <cmath>
#include <cstddef>
#include <vector>

namespace bench {

struct mixture_data {
  static constexpr std::size_t n = 10000, k = 25, d = 16;
  std::vector<double> weights, means, roots, points;

  mixture_data() : weights(k), means(k * d), roots(k * d * d), points(n * d) {
    const auto at = [](std::size_t i) { return static_cast<double>(i * 7919 % 1009) / 1009 - 0.5; };
    for (std::size_t i = 0; i < k; ++i) weights[i] = at(i);
    for (std::size_t i = 0; i < k * d; ++i) means[i] = 2 * at(i + 5);
    for (std::size_t i = 0; i < k * d * d; ++i) roots[i] = i / d % d < i % d ? 0 : 0.4 * at(i + 11);
    for (std::size_t i = 0; i < n * d; ++i) points[i] = 3 * at(i + 17);
  }
};

class mixture_results {
 public:
  explicit mixture_results(const mixture_data& data) : data_(data), gradient_(data.k + data.k * data.d * (1 + data.d)) {}
  void reset() {}
  std::vector<float> result() const {
    std::vector<float> all{static_cast<float>(value_)};
    all.insert(all.end(), gradient_.begin(), gradient_.end());
    return all;
  }

 protected:
  // What does not depend on the points: - n log Σ exp(a), and its gradient.
  void subtract_weights() {
    double sum = 0;
    for (double a : data_.weights) sum += std::exp(a);
    value_ -= static_cast<double>(data_.n) * std::log(sum);
    for (std::size_t j = 0; j < data_.k; ++j) gradient_[j] -= static_cast<double>(data_.n) * std::exp(data_.weights[j]) / sum;
  }
  const mixture_data& data_;
  double value_ = 0;
  std::vector<double> gradient_;  // by weights, means, roots
};

/// ADOL-C: the term of one point is recorded once, its gradient computed for each point.
class mixture_by_tape : public mixture_results {
 public:
  explicit mixture_by_tape(const mixture_data& data) : mixture_results(data) {
    constexpr std::size_t k = mixture_data::k, d = mixture_data::d;
    for (const auto* part : {&data.weights, &data.means, &data.roots}) operands_.insert(operands_.end(), part->begin(), part->end());
    operands_.insert(operands_.end(), data.points.begin(), data.points.begin() + d);
    slopes_.resize(operands_.size());
    trace_on(1);
    std::vector<adouble> p(operands_.size());
    for (std::size_t i = 0; i < p.size(); ++i) p[i] <<= operands_[i];
    const adouble* const means = p.data() + k;
    const adouble* const roots = means + k * d;
    const adouble* const x = roots + k * d * d;
    adouble sum = 0;
    for (std::size_t j = 0; j < k; ++j) {
      adouble inner = p[j];
      for (std::size_t r = 0; r < d; ++r) {
        const adouble* const row = roots + (j * d + r) * d;
        adouble y = exp(row[r]) * (x[r] - means[j * d + r]);
        for (std::size_t c = 0; c < r; ++c) y += row[c] * (x[c] - means[j * d + c]);
        inner += row[r] - 0.5 * y * y;
      }
      sum += exp(inner);
    }
    const adouble result = log(sum);
    double ignored = 0;
    adouble named = result;
    named >>= ignored;
    trace_off();
  }
  void step() {
    value_ = 0;
    for (double& g : gradient_) g = 0;
    const std::size_t all = operands_.size(), own = gradient_.size(), d = data_.d;
    for (std::size_t i = 0; i < data_.n; ++i) {
      for (std::size_t c = 0; c < d; ++c) operands_[own + c] = data_.points[i * d + c];
      double term = 0;
      ::function(1, 1, static_cast<int>(all), operands_.data(), &term);
      ::gradient(1, static_cast<int>(all), operands_.data(), slopes_.data());
      value_ += term;
      for (std::size_t j = 0; j < own; ++j) gradient_[j] += slopes_[j];
    }
    subtract_weights();
  }

 private:
  std::vector<double> operands_, slopes_;
};

/// Derivatives by hand.
class mixture_by_hand : public mixture_results {
 public:
  using mixture_results::mixture_results;
  void step() {
    constexpr std::size_t k = mixture_data::k, d = mixture_data::d;
    value_ = 0;
    for (double& g : gradient_) g = 0;
    std::vector<double> roots = data_.roots, offset = data_.weights;
    for (std::size_t j = 0; j < k; ++j)
      for (std::size_t r = 0; r < d; ++r) {
        double& q = roots[(j * d + r) * d + r];
        offset[j] += q;
        q = std::exp(q);
      }
    double* const by_mean = gradient_.data() + k;
    double* const by_root = by_mean + k * d;
    for (std::size_t i = 0; i < data_.n; ++i) {
      const double* const x = data_.points.data() + i * d;
      double away[k][d], y[k][d], inner[k], largest = -1e300;
      for (std::size_t j = 0; j < k; ++j) {
        for (std::size_t c = 0; c < d; ++c) away[j][c] = x[c] - data_.means[j * d + c];
        double squares = 0;
        for (std::size_t r = 0; r < d; ++r) {
          const double* const row = roots.data() + (j * d + r) * d;
          double sum = 0;
          for (std::size_t c = 0; c <= r; ++c) sum += row[c] * away[j][c];
          y[j][r] = sum;
          squares += sum * sum;
        }
        inner[j] = offset[j] - 0.5 * squares;
        largest = largest < inner[j] ? inner[j] : largest;
      }
      double sum = 0;
      for (double& each : inner) sum += each = std::exp(each - largest);
      value_ += std::log(sum) + largest;
      for (std::size_t j = 0; j < k; ++j) {
        const double part = inner[j] / sum;
        gradient_[j] += part;
        double means[d]{};
        for (std::size_t r = 0; r < d; ++r) {
          const double weighed = part * y[j][r];
          const double* const row = roots.data() + (j * d + r) * d;
          double* const out = by_root + (j * d + r) * d;
          for (std::size_t c = 0; c <= r; ++c) means[c] += weighed * row[c];
          for (std::size_t c = 0; c < r; ++c) out[c] -= weighed * away[j][c];
          out[r] += part - weighed * row[r] * away[j][r];
        }
        for (std::size_t c = 0; c < d; ++c) by_mean[j * d + c] += means[c];
      }
    }
    subtract_weights();
  }
};

}  // namespace bench
