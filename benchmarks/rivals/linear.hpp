#pragma once
// Linear regression on one feature by gradient descent, as C++ programmers write it: prediction = w x + b, mean square
// loss. A step reads the N samples, moves w and b and gives the loss before the move.

#include "data.hpp"

#include <Eigen/Core>
#include <xtensor/xfixed.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xtensor.hpp>

#include <vector>

namespace bench {

constexpr float linear_rate = 0.05f;
constexpr float linear_start_w = 0.5f;
constexpr float linear_start_b = -0.25f;

struct linear_data {
  explicit linear_data(std::size_t samples) : x(uniform(samples, -1, 1, 1)), y(uniform(samples, -0.05f, 0.05f, 2)) {
    for (std::size_t i = 0; i < samples; ++i) y[i] += 1.5f * x[i] + 0.75f;
  }
  buffer x, y;
};

/// One pass over the samples with three sums in registers.
template <int N>
class linear_loop {
 public:
  explicit linear_loop(const linear_data& data) : x_(data.x.data()), y_(data.y.data()) {}

  void reset() { w_ = linear_start_w, b_ = linear_start_b; }

  void step() {
    const float w = w_, b = b_, *x = x_, *y = y_;
    if constexpr (N == 1) {  // a sum would begin with 0 + x, which is not x for the compiler
      const float error = w * *x + b - *y;
      loss_ = error * error;
      w_ = w - linear_rate * 2 * error * *x;
      b_ = b - linear_rate * 2 * error;
      return;
    }
    float square = 0, slope = 0, offset = 0;
#pragma omp simd reduction(+ : square, slope, offset)
    for (int i = 0; i < N; ++i) {
      const float error = w * x[i] + b - y[i];
      square += error * error;
      slope += error * x[i];
      offset += error;
    }
    loss_ = square / N;
    w_ = w - linear_rate * (2.0f / N) * slope;
    b_ = b - linear_rate * (2.0f / N) * offset;
  }

  std::vector<float> result() const { return {w_, b_, loss_}; }

 private:
  const float *x_, *y_;
  float w_ = 0, b_ = 0, loss_ = 0;
};

/// Arrays of fixed size over the caller's samples.
template <int N>
class linear_eigen {
 public:
  explicit linear_eigen(const linear_data& data) : x_(data.x.data()), y_(data.y.data()) {}

  void reset() { w_ = linear_start_w, b_ = linear_start_b; }

  void step() {
    using samples = Eigen::Array<float, N, 1>;
    const Eigen::Map<const samples, Eigen::Aligned64> x(x_), y(y_);
    const samples error = w_ * x + b_ - y;
    loss_ = error.square().mean();
    w_ -= linear_rate * 2 * (error * x).mean();
    b_ -= linear_rate * 2 * error.mean();
  }

  std::vector<float> result() const { return {w_, b_, loss_}; }

 private:
  const float *x_, *y_;
  float w_ = 0, b_ = 0, loss_ = 0;
};

/// xtensor, its arrays of a rank known to the compiler (xtensor) or of a whole shape known to it (xtensor_fixed).
template <class Array>
class linear_xtensor {
 public:
  explicit linear_xtensor(const linear_data& data) {
    if constexpr (requires(Array a) { a.resize({data.x.size()}); })
      for (Array* array : {&x_, &y_, &error_}) array->resize({data.x.size()});
    std::copy(data.x.begin(), data.x.end(), x_.begin());
    std::copy(data.y.begin(), data.y.end(), y_.begin());
  }

  void reset() { w_ = linear_start_w, b_ = linear_start_b; }

  void step() {
    const float share = 1.0f / static_cast<float>(x_.size());
    xt::noalias(error_) = w_ * x_ + b_ - y_;
    loss_ = xt::sum(error_ * error_)() * share;
    w_ -= linear_rate * 2 * share * xt::sum(error_ * x_)();
    b_ -= linear_rate * 2 * share * xt::sum(error_)();
  }

  std::vector<float> result() const { return {w_, b_, loss_}; }

 private:
  Array x_, y_, error_;
  float w_ = 0, b_ = 0, loss_ = 0;
};

template <int N>
using linear_xtensor_fixed = linear_xtensor<xt::xtensor_fixed<float, xt::xshape<N>>>;
using linear_xtensor_dynamic = linear_xtensor<xt::xtensor<float, 1>>;

}  // namespace bench
