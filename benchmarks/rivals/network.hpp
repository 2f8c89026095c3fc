#pragma once
// A training step of the 784-256-128-10 network on 64 images, written by hand: forward, softmax cross entropy,
// backward, update. Its time goes into nine products, of which the library that computes them is a policy; what lies
// between them is one loop each: bias and activation, the logits' gradient, the mask of the activation, the update.
// With `folded` a gradient's product is added to the weights at once (alpha = -rate, beta = 1) and the gradient is
// never stored.

#include "elementary.hpp"
#include "products.hpp"

#include <Eigen/Core>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace bench {

constexpr std::array<long, 4> network_widths{784, 256, 128, 10};
constexpr long network_batch = 64;
constexpr long network_classes = 10;
constexpr std::size_t network_layers = 3;

constexpr float sgd_rate = 0.05f;
constexpr float adam_rate = 0.001f, adam_beta1 = 0.9f, adam_beta2 = 0.999f, adam_epsilon = 1e-8f;

struct network_data {
  network_data() {
    for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int32_t>(i * 7 % network_classes);
    for (std::size_t layer = 0; layer < network_layers; ++layer) {
      const long in = network_widths[layer], out = network_widths[layer + 1];
      const float limit = std::sqrt(6.0f / static_cast<float>(in + out));
      kernels.push_back(uniform(static_cast<std::size_t>(in * out), -limit, limit, 11 + layer));
    }
  }
  buffer images = uniform(static_cast<std::size_t>(network_batch * network_widths[0]), 0, 1, 5);
  std::vector<std::int32_t> labels = std::vector<std::int32_t>(network_batch);
  std::vector<buffer> kernels;  // the biases start at zero
};

// Calls body(i) for every lane_count-th i below size, on several threads where the array is long.
template <bool Parallel, class Body>
void for_lanes(std::size_t size, Body body) {
  const auto n = static_cast<long>(size);
  if (Parallel && n > 30'000) {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; i += lane_count) body(i);
  } else {
    for (long i = 0; i < n; i += lane_count) body(i);
  }
}

/// w -= rate * g
struct sgd_rule {
  explicit sgd_rule(std::size_t) {}
  void reset() {}
  static void begin_step() {}
  template <bool Parallel>
  static void update(buffer& weights, const buffer& gradient) {
    float* w = weights.data();
    const float* g = gradient.data();
    for_lanes<Parallel>(weights.size(), [=](long i) { store(w + i, load(w + i) - sgd_rate * load(g + i)); });
  }
};

/// Kingma and Ba 2015, in the form of its section 2 with the bias corrections in the rate.
struct adam_rule {
  explicit adam_rule(std::size_t size) : mean(size), square(size) {}
  void reset() {
    std::fill(mean.begin(), mean.end(), 0.0f);
    std::fill(square.begin(), square.end(), 0.0f);
    power1 = power2 = 1;
  }
  void begin_step() {
    power1 *= adam_beta1;
    power2 *= adam_beta2;
    rate = adam_rate * std::sqrt(1 - power2) / (1 - power1);
  }
  template <bool Parallel>
  void update(buffer& weights, const buffer& gradient) {
    float *w = weights.data(), *m = mean.data(), *v = square.data();
    for_lanes<Parallel>(weights.size(), [=, g = gradient.data(), step_rate = rate](long i) {
      const lanes slope = load(g + i);
      const lanes first = load(m + i) + (1 - adam_beta1) * (slope - load(m + i));
      const lanes second = load(v + i) + (1 - adam_beta2) * (slope * slope - load(v + i));
      store(m + i, first);
      store(v + i, second);
      store(w + i, load(w + i) - step_rate * first / (square_root(second) + adam_epsilon));
    });
  }
  buffer mean, square;
  float power1 = 1, power2 = 1, rate = 0;
};

// Mean cross entropy of the logits [batch, classes], which become its gradient.
inline float cross_entropy(float* logits, const std::int32_t* labels) {
  float loss = 0;
  for (long i = 0; i < network_batch; ++i) {
    float* row = logits + i * network_classes;
    const float largest = *std::max_element(row, row + network_classes);
    float sum = 0;
    const float own = row[labels[i]] - largest;
    for (long j = 0; j < network_classes; ++j) sum += row[j] = std::exp(row[j] - largest);
    loss += std::log(sum) - own;
    const float scale = 1.0f / (sum * network_batch);
    for (long j = 0; j < network_classes; ++j) row[j] *= scale;
    row[labels[i]] -= 1.0f / network_batch;
  }
  return loss / network_batch;
}

template <class Product, class Rule, bool Folded>
class network_by_hand {
 public:
  explicit network_by_hand(const network_data& data) : data_(data) {
    for (std::size_t i = 0; i < network_layers; ++i) layers_.emplace_back(network_widths[i], network_widths[i + 1]);
    reset();
  }

  void reset() {
    for (std::size_t i = 0; i < network_layers; ++i) {
      layer& l = layers_[i];
      l.kernel = data_.kernels[i];
      std::fill(l.bias.begin(), l.bias.end(), 0.0f);
      l.kernel_rule.reset();
      l.bias_rule.reset();
    }
  }

  void step() {
    const float* input = data_.images.data();
    for (layer& l : layers_) {
      Product::multiply(transposed::no, transposed::no, network_batch, l.out, l.in, 1, input, l.kernel.data(), 0,
                        l.values.data());
      if (&l == &layers_.back()) add_bias<false>(l);
      else add_bias<true>(l);
      input = l.values.data();
    }
    loss_ = cross_entropy(layers_.back().values.data(), data_.labels.data());
    for (std::size_t i = network_layers; i-- > 0;) backward(i);
  }

  std::vector<float> result() const {
    return joined(std::vector<float>{loss_}, layers_[0].kernel, layers_[0].bias, layers_[1].kernel, layers_[1].bias,
                  layers_[2].kernel, layers_[2].bias);
  }

 private:
  struct layer {
    layer(long in_width, long out_width)
        : in(in_width),
          out(out_width),
          kernel(size(in * out)),
          bias(size(out)),
          values(size(network_batch * out)),
          gradient(size(network_batch * out)),
          kernel_gradient(size(Folded ? 0 : in * out)),
          bias_gradient(size(out)),
          kernel_rule(kernel.size()),
          bias_rule(bias.size()) {}
    static std::size_t size(long n) { return static_cast<std::size_t>(n); }
    long in, out;
    buffer kernel, bias;
    buffer values;    // after the activation
    buffer gradient;  // by the values before it
    buffer kernel_gradient, bias_gradient;
    Rule kernel_rule, bias_rule;
  };

  template <bool Relu>
  static void add_bias(layer& l) {
    const float* bias = l.bias.data();
    const long width = l.out;
    for (long i = 0; i < network_batch; ++i) {
      float* row = l.values.data() + i * width;
#pragma omp simd
      for (long j = 0; j < width; ++j) row[j] = Relu ? std::max(row[j] + bias[j], 0.0f) : row[j] + bias[j];
    }
  }

  void backward(std::size_t index) {
    layer& l = layers_[index];
    const bool last = index + 1 == network_layers;
    const float* gradient = last ? l.values.data() : l.gradient.data();
    const float* input = index == 0 ? data_.images.data() : layers_[index - 1].values.data();

    if (index > 0) {
      layer& below = layers_[index - 1];
      Product::multiply(transposed::no, transposed::yes, network_batch, l.in, l.out, 1, gradient, l.kernel.data(), 0,
                        below.gradient.data());
      float* masked = below.gradient.data();
      const float* values = below.values.data();
      const auto count = static_cast<long>(below.values.size());
#pragma omp simd
      for (long i = 0; i < count; ++i) masked[i] = values[i] > 0 ? masked[i] : 0.0f;
    }

    std::fill(l.bias_gradient.begin(), l.bias_gradient.end(), 0.0f);
    float* sums = l.bias_gradient.data();
    const long width = l.out;
    for (long i = 0; i < network_batch; ++i) {
      const float* row = gradient + i * width;
#pragma omp simd
      for (long j = 0; j < width; ++j) sums[j] += row[j];
    }

    if constexpr (Folded) {
      Product::multiply(transposed::yes, transposed::no, l.in, l.out, network_batch, -sgd_rate, input, gradient, 1,
                        l.kernel.data());
    } else {
      Product::multiply(transposed::yes, transposed::no, l.in, l.out, network_batch, 1, input, gradient, 0,
                        l.kernel_gradient.data());
      l.kernel_rule.begin_step();
      l.kernel_rule.template update<Product::on_openmp>(l.kernel, l.kernel_gradient);
    }
    l.bias_rule.begin_step();
    l.bias_rule.template update<false>(l.bias, l.bias_gradient);
  }

  const network_data& data_;
  std::vector<layer> layers_;
  float loss_ = 0;
};

/// The same with Eigen's matrices and expressions alone.
template <bool Adam>
class network_eigen {
 public:
  explicit network_eigen(const network_data& data) : data_(data) { reset(); }

  void reset() {
    for (std::size_t i = 0; i < network_layers; ++i) {
      layer& l = layers_[i];
      const long in = network_widths[i], out = network_widths[i + 1];
      l.kernel = Eigen::Map<const matrix>(data_.kernels[i].data(), in, out);
      l.bias.setZero(out);
      l.kernel_gradient.resize(in, out);
      for (matrix* m : {&l.kernel_mean, &l.kernel_square}) m->setZero(in, out);
      for (row_vector* v : {&l.bias_mean, &l.bias_square}) v->setZero(out);
    }
    power1_ = power2_ = 1;
  }

  void step() {
    const Eigen::Map<const matrix, Eigen::Aligned64> images(data_.images.data(), network_batch, network_widths[0]);
    auto& [first, second, third] = layers_;
    forward(first, images);
    first.values = first.values.cwiseMax(0.0f);
    forward(second, first.values);
    second.values = second.values.cwiseMax(0.0f);
    forward(third, second.values);
    loss_ = cross_entropy(third.values.data(), data_.labels.data());

    power1_ *= adam_beta1;
    power2_ *= adam_beta2;
    back_through(third, third.values, second);
    update(third, second.values, third.values);
    back_through(second, second.gradient, first);
    update(second, first.values, second.gradient);
    update(first, images, first.gradient);
  }

  std::vector<float> result() const {
    std::vector<float> all{loss_};
    for (const layer& l : layers_) {
      all.insert(all.end(), l.kernel.data(), l.kernel.data() + l.kernel.size());
      all.insert(all.end(), l.bias.data(), l.bias.data() + l.bias.size());
    }
    return all;
  }

 private:
  using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using row_vector = Eigen::Matrix<float, 1, Eigen::Dynamic>;
  struct layer {
    matrix kernel, values, gradient, kernel_gradient, kernel_mean, kernel_square;
    row_vector bias, bias_mean, bias_square, bias_gradient;
  };

  template <class Input>
  static void forward(layer& l, const Input& input) {
    l.values.noalias() = input * l.kernel;
    l.values.rowwise() += l.bias;
  }

  static void back_through(const layer& l, const matrix& gradient, layer& below) {
    below.gradient.noalias() = gradient * l.kernel.transpose();
    below.gradient.array() *= (below.values.array() > 0).template cast<float>();
  }

  template <class Input>
  void update(layer& l, const Input& input, const matrix& gradient) {
    l.bias_gradient = gradient.colwise().sum();
    if constexpr (Adam) {
      l.kernel_gradient.noalias() = input.transpose() * gradient;
      adam(l.kernel, l.kernel_mean, l.kernel_square, l.kernel_gradient);
      adam(l.bias, l.bias_mean, l.bias_square, l.bias_gradient);
    } else {
      l.kernel.noalias() -= sgd_rate * (input.transpose() * gradient);
      l.bias -= sgd_rate * l.bias_gradient;
    }
  }

  template <class Array>
  void adam(Array& weights, Array& mean, Array& square, const Array& gradient) const {
    const float rate = adam_rate * std::sqrt(1 - power2_) / (1 - power1_);
    mean.array() += (1 - adam_beta1) * (gradient.array() - mean.array());
    square.array() += (1 - adam_beta2) * (gradient.array().square() - square.array());
    weights.array() -= rate * mean.array() / (square.array().sqrt() + adam_epsilon);
  }

  const network_data& data_;
  std::array<layer, network_layers> layers_;
  float power1_ = 1, power2_ = 1, loss_ = 0;
};

}  // namespace bench
