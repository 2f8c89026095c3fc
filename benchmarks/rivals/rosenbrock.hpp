#pragma once
// Rosenbrock's function of N variables and its gradient, in double:
//   f(x) = sum over i < N - 1 of 100 (x[i + 1] - x[i]^2)^2 + (1 - x[i])^2

#include <cstddef>
#include <vector>

namespace bench {

template <int N>
struct rosenbrock_data {
  std::vector<double> x = [] {
    std::vector<double> values(N);
    for (std::size_t i = 0; i < N; ++i) values[i] = 0.5 + 0.01 * static_cast<double>(i % 100);
    return values;
  }();
};

template <class Gradient>
std::vector<float> rosenbrock_result(double value, const Gradient& gradient) {
  std::vector<float> all{static_cast<float>(value)};
  for (const double g : gradient) all.push_back(static_cast<float>(g));
  return all;
}

/// One loop over the terms, then one over the gradient's elements, both for SIMD registers.
template <int N>
class rosenbrock_loop {
 public:
  explicit rosenbrock_loop(const rosenbrock_data<N>& data) : x_(data.x.data()), gradient_(N) {}
  void reset() {}
  void step() {
    const double* x = x_;
    double* gradient = gradient_.data();
    double value = 0;
#pragma omp simd reduction(+ : value)
    for (int i = 0; i < N - 1; ++i) {
      const double distance = x[i + 1] - x[i] * x[i];
      const double rest = 1 - x[i];
      value += 100 * distance * distance + rest * rest;
    }
    value_ = value;
    gradient[0] = -400 * x[0] * (x[1] - x[0] * x[0]) - 2 * (1 - x[0]);
#pragma omp simd
    for (int i = 1; i < N - 1; ++i)
      gradient[i] = 200 * (x[i] - x[i - 1] * x[i - 1]) - 400 * x[i] * (x[i + 1] - x[i] * x[i]) - 2 * (1 - x[i]);
    gradient[N - 1] = 200 * (x[N - 1] - x[N - 2] * x[N - 2]);
  }
  std::vector<float> result() const { return rosenbrock_result(value_, gradient_); }

 private:
  const double* x_;
  std::vector<double> gradient_;
  double value_ = 0;
};

}  // namespace bench
