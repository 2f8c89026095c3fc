#pragma once
// Linear least squares in closed form, in double precision: the weights v that minimize |A v - b|^2 solve the normal
// equations (A^T A) v = A^T b, whose matrix is symmetric and positive definite when the columns of A are independent,
// so that its Cholesky factor L with L L^T = A^T A gives them by two triangular substitutions. An example compares what
// gradient descent finds with this.

#include <leat/leat.hpp>

#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <vector>

namespace leat::examples {

/// The least-squares weights for `a` [rows, columns] and `b` [rows], followed by the constant term.
/// Errors: std::runtime_error when the columns depend on each other.
template <class T>
std::vector<double> least_squares(const xt::xtensor<T, 2>& a, const xt::xtensor<T, 1>& b) {
  const std::size_t n = a.shape(1) + 1;
  const auto entry = [&](std::size_t row, std::size_t column) {
    return column + 1 < n ? static_cast<double>(a(row, column)) : 1.0;
  };
  std::vector<double> factor(n * n, 0.0), weights(n, 0.0);
  for (std::size_t row = 0; row < a.shape(0); ++row)
    for (std::size_t i = 0; i < n; ++i) {
      weights[i] += entry(row, i) * static_cast<double>(b(row));
      for (std::size_t j = 0; j <= i; ++j) factor[i * n + j] += entry(row, i) * entry(row, j);
    }

  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      const double diagonal = factor[i * n + i];
      for (std::size_t k = 0; k < j; ++k) factor[i * n + j] -= factor[i * n + k] * factor[j * n + k];
      if (i != j) {
        factor[i * n + j] /= factor[j * n + j];
      } else {
        if (!(factor[i * n + i] > 1e-12 * diagonal)) throw std::runtime_error("the columns depend on each other");
        factor[i * n + i] = std::sqrt(factor[i * n + i]);
      }
    }

  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) weights[i] -= factor[i * n + k] * weights[k];
    weights[i] /= factor[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) weights[i] -= factor[k * n + i] * weights[k];
    weights[i] /= factor[i * n + i];
  }
  return weights;
}

/// What those weights predict for the rows of `a`.
template <class T>
xt::xtensor<double, 1> predict(const std::vector<double>& weights, const xt::xtensor<T, 2>& a) {
  auto result = xt::xtensor<double, 1>::from_shape({a.shape(0)});
  for (std::size_t row = 0; row < a.shape(0); ++row) {
    result(row) = weights.back();
    for (std::size_t column = 0; column < a.shape(1); ++column)
      result(row) += weights[column] * static_cast<double>(a(row, column));
  }
  return result;
}

/// Root of the mean squared difference.
template <class P, class T>
double root_mean_squared_error(const xt::xtensor<P, 1>& predicted, const xt::xtensor<T, 1>& targets) {
  double sum = 0;
  for (std::size_t row = 0; row < targets.shape(0); ++row) {
    const double difference = static_cast<double>(predicted(row)) - static_cast<double>(targets(row));
    sum += difference * difference;
  }
  return std::sqrt(sum / static_cast<double>(targets.shape(0)));
}

}  // namespace leat::examples
