#pragma once
// Recurrences by hand: a training step of an LSTM layer around products of a library, and Lorenz' equations by the classical method of
// Runge and Kutta, with the gradient by an adjoint written down step for step.

#include "elementary.hpp"
#include "products.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace bench {

/// A layer of 64 LSTM units over 100 steps of 64 inputs. Its loss is half of the sum of the squared outputs; a step of gradient descent.
template <int Batch>
struct lstm_data {
  static constexpr long batch = Batch, time = 100, inputs = 64, units = 64, width = 4 * units;
  static constexpr float rate = 1e-4f;
  buffer x = uniform(static_cast<std::size_t>(batch * time * inputs), -1, 1, 5);  // [batch, time, inputs]
  std::vector<float> kernel = first_kernel();                                     // [inputs + units, width]

  static std::vector<float> first_kernel() {
    std::vector<float> all(static_cast<std::size_t>((inputs + units) * width));
    fill_uniform(all, -0.12f, 0.12f, 6);
    return all;
  }
};

template <class Product, int Batch>
class lstm_loop {
  using of = lstm_data<Batch>;
  static constexpr long rows = of::batch, both = of::inputs + of::units, units = of::units, width = of::width, time = of::time;

 public:
  explicit lstm_loop(const of& data)
      : data_(data), kernel_(data.kernel.size()), bias_(width), joined_(time * rows * both), gates_(time * rows * width),
        memory_((time + 1) * rows * units), shown_(time * rows * units), out_(time * rows * units), slopes_(time * rows * width),
        slope_of_joined_(rows * both), slope_of_memory_(rows * units), slope_of_kernel_(both * width), slope_of_bias_(width) {}
  void reset() {
    std::copy(data_.kernel.begin(), data_.kernel.end(), kernel_.begin());
    std::fill(bias_.begin(), bias_.end(), 0.0f);
  }
  void step() {
    forward();
    backward();
    for (std::size_t k = 0; k < kernel_.size(); ++k) kernel_[k] -= of::rate * slope_of_kernel_[k];
    for (std::size_t k = 0; k < bias_.size(); ++k) bias_[k] -= of::rate * slope_of_bias_[k];
  }
  std::vector<float> result() const {
    std::vector<float> all(kernel_.begin(), kernel_.end());
    all.insert(all.end(), bias_.begin(), bias_.end());
    return all;
  }

 private:
  void forward() {
    for (long t = 0; t < time; ++t) {
      float* const z = joined_.data() + t * rows * both;
      for (long b = 0; b < rows; ++b) {
        std::copy_n(data_.x.data() + (b * time + t) * of::inputs, of::inputs, z + b * both);
        if (t == 0) std::fill_n(z + b * both + of::inputs, units, 0.0f);
        else std::copy_n(out_.data() + ((t - 1) * rows + b) * units, units, z + b * both + of::inputs);
      }
      float* const g = gates_.data() + t * rows * width;
      Product::multiply(transposed::no, transposed::no, rows, width, both, 1, z, kernel_.data(), 0, g);
      const float* const before = memory_.data() + t * rows * units;
      float* const after = memory_.data() + (t + 1) * rows * units;
      for (long b = 0; b < rows; ++b)
        for (long u = 0; u < units; u += lane_count) {
          float* const at = g + b * width + u;
          const float* const bias = bias_.data() + u;
          const lanes i = fast_sigmoid(load(at) + load(bias)), j = fast_tanh(load(at + units) + load(bias + units));
          const lanes f = fast_sigmoid(load(at + 2 * units) + load(bias + 2 * units) + 1.0f);
          const lanes o = fast_sigmoid(load(at + 3 * units) + load(bias + 3 * units));
          const lanes c = f * load(before + b * units + u) + i * j, shown = fast_tanh(c);
          store(at, i);
          store(at + units, j);
          store(at + 2 * units, f);
          store(at + 3 * units, o);
          store(after + b * units + u, c);
          const long place = (t * rows + b) * units + u;
          store(shown_.data() + place, shown);
          store(out_.data() + place, o * shown);
        }
    }
  }
  void backward() {
    std::fill(slope_of_joined_.begin(), slope_of_joined_.end(), 0.0f);
    std::fill(slope_of_memory_.begin(), slope_of_memory_.end(), 0.0f);
    for (long t = time; t-- > 0;) {
      const float* const g = gates_.data() + t * rows * width;
      float* const d = slopes_.data() + t * rows * width;
      const float* const before = memory_.data() + t * rows * units;
      for (long b = 0; b < rows; ++b)
        for (long u = 0; u < units; u += lane_count) {
          const float* const at = g + b * width + u;
          const lanes i = load(at), j = load(at + units), f = load(at + 2 * units), o = load(at + 3 * units);
          const long place = (t * rows + b) * units + u;
          const lanes shown = load(shown_.data() + place);
          const lanes dh = load(out_.data() + place) + load(slope_of_joined_.data() + b * both + of::inputs + u);
          const lanes dc = load(slope_of_memory_.data() + b * units + u) + dh * o * (1.0f - shown * shown);
          float* const to = d + b * width + u;
          store(to, dc * j * i * (1.0f - i));
          store(to + units, dc * i * (1.0f - j * j));
          store(to + 2 * units, dc * load(before + b * units + u) * f * (1.0f - f));
          store(to + 3 * units, dh * shown * o * (1.0f - o));
          store(slope_of_memory_.data() + b * units + u, dc * f);
        }
      Product::multiply(transposed::no, transposed::yes, rows, both, width, 1, d, kernel_.data(), 0, slope_of_joined_.data());
    }
    Product::multiply(transposed::yes, transposed::no, both, width, time * rows, 1, joined_.data(), slopes_.data(), 0,
                      slope_of_kernel_.data());
    std::fill(slope_of_bias_.begin(), slope_of_bias_.end(), 0.0f);
    for (long k = 0; k < time * rows; ++k)
      for (long u = 0; u < width; u += lane_count)
        store(slope_of_bias_.data() + u, load(slope_of_bias_.data() + u) + load(slopes_.data() + k * width + u));
  }

  const of& data_;
  buffer kernel_, bias_, joined_, gates_, memory_, shown_, out_, slopes_;
  buffer slope_of_joined_, slope_of_memory_, slope_of_kernel_, slope_of_bias_;
};

/// Lorenz' equations, 1,000 steps of 0.001 from (1, 1, 1); the loss is the sum of the squares of the last state, the gradient by the first.
struct lorenz {
  static constexpr int steps = 1000;
  static constexpr double sigma = 10, rho = 28, beta = 8.0 / 3, length = 0.001;
  using state = std::array<double, 3>;

  static state slope(const state& y) { return {sigma * (y[1] - y[0]), y[0] * (rho - y[2]) - y[1], y[0] * y[1] - beta * y[2]}; }
  static state along(const state& y, double h, const state& k) { return {y[0] + h * k[0], y[1] + h * k[1], y[2] + h * k[2]}; }
  /// What a slope at `y` that is weighted by `w` gives back to y.
  static state back(const state& y, const state& w) {
    return {-sigma * w[0] + (rho - y[2]) * w[1] + y[1] * w[2], sigma * w[0] - w[1] + y[0] * w[2], -y[0] * w[1] - beta * w[2]};
  }
};

template <bool HasGradient>
class lorenz_loop {
 public:
  explicit lorenz_loop(const std::vector<double>& first) : first_(first), path_(HasGradient ? lorenz::steps : 0) {}
  void reset() {}
  void step() {
    using state = lorenz::state;
    constexpr double h = lorenz::length;
    state y{first_[0], first_[1], first_[2]};
    for (int n = 0; n < lorenz::steps; ++n) {
      if constexpr (HasGradient) path_[static_cast<std::size_t>(n)] = y;
      const state k1 = lorenz::slope(y), k2 = lorenz::slope(lorenz::along(y, h / 2, k1)), k3 = lorenz::slope(lorenz::along(y, h / 2, k2)),
                  k4 = lorenz::slope(lorenz::along(y, h, k3));
      for (std::size_t i = 0; i < 3; ++i) y[i] += h / 6 * (k1[i] + 2 * (k2[i] + k3[i]) + k4[i]);
    }
    value_ = y[0] * y[0] + y[1] * y[1] + y[2] * y[2];
    if constexpr (HasGradient) {
      state d{2 * y[0], 2 * y[1], 2 * y[2]};
      for (int n = lorenz::steps; n-- > 0;) {
        const state& at = path_[static_cast<std::size_t>(n)];
        const state k1 = lorenz::slope(at), y2 = lorenz::along(at, h / 2, k1), k2 = lorenz::slope(y2), y3 = lorenz::along(at, h / 2, k2),
                    k3 = lorenz::slope(y3), y4 = lorenz::along(at, h, k3);
        const state b4 = lorenz::back(y4, {h / 6 * d[0], h / 6 * d[1], h / 6 * d[2]});
        const state w3{h / 3 * d[0] + h * b4[0], h / 3 * d[1] + h * b4[1], h / 3 * d[2] + h * b4[2]}, b3 = lorenz::back(y3, w3);
        const state w2{h / 3 * d[0] + h / 2 * b3[0], h / 3 * d[1] + h / 2 * b3[1], h / 3 * d[2] + h / 2 * b3[2]}, b2 = lorenz::back(y2, w2);
        const state w1{h / 6 * d[0] + h / 2 * b2[0], h / 6 * d[1] + h / 2 * b2[1], h / 6 * d[2] + h / 2 * b2[2]}, b1 = lorenz::back(at, w1);
        for (std::size_t i = 0; i < 3; ++i) d[i] += b1[i] + b2[i] + b3[i] + b4[i];
      }
      slope_ = d;
    }
  }
  std::vector<float> result() const {
    std::vector<float> all{static_cast<float>(value_)};
    if (HasGradient) all.insert(all.end(), slope_.begin(), slope_.end());
    return all;
  }

 private:
  const std::vector<double>& first_;
  std::vector<lorenz::state> path_;
  double value_ = 0;
  lorenz::state slope_{};
};

}  // namespace bench
