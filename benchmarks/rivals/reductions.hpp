#pragma once
// Sums, means and variances of a matrix [rows, columns] in row-major order, along the last axis (a result per row) and
// along the first (a result per column). All of them can run as fast as the matrix is read, if it is read once and in
// order.

#include "data.hpp"
#include "elementary.hpp"

#include <Eigen/Core>
#include <omp.h>
#include <xtensor/xadapt.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xtensor.hpp>

#include <array>
#include <cstddef>
#include <vector>

namespace bench {

constexpr long reduction_rows = 4096;
constexpr long reduction_columns = 1024;

struct matrix_data {
  buffer x = uniform(static_cast<std::size_t>(reduction_rows * reduction_columns), -1, 1, 7);
  std::array<std::size_t, 2> shape{static_cast<std::size_t>(reduction_rows),
                                   static_cast<std::size_t>(reduction_columns)};
};

// Sum of term(x[i]) over n numbers, a multiple of 64: four vectors in flight hide an addition's latency, and keep the
// error small.
template <class Term>
float sum_of(const float* x, long n, Term term) {
  lanes s0{}, s1{}, s2{}, s3{};
  for (long i = 0; i < n; i += 4 * lane_count) {
    s0 += term(load(x + i));
    s1 += term(load(x + i + lane_count));
    s2 += term(load(x + i + 2 * lane_count));
    s3 += term(load(x + i + 3 * lane_count));
  }
  return total((s0 + s1) + (s2 + s3));
}

inline float sum_of(const float* x, long n) {
  return sum_of(x, n, [](lanes values) { return values; });
}

class sum_last_loop {
 public:
  explicit sum_last_loop(const matrix_data& data) : x_(data.x.data()) {}
  void reset() {}
  void step() {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < reduction_rows; ++i)
      sums_[static_cast<std::size_t>(i)] = sum_of(x_ + i * reduction_columns, reduction_columns);
  }
  std::vector<float> result() const { return joined(sums_); }

 private:
  const float* x_;
  buffer sums_{reduction_rows};
};

/// Row after row is added to a row of sums, which stays in the first-level cache; each thread has its own.
class sum_first_loop {
 public:
  explicit sum_first_loop(const matrix_data& data) : x_(data.x.data()) {}
  void reset() {}
  void step() {
    std::fill(sums_.begin(), sums_.end(), 0.0f);
#pragma omp parallel
    {
      alignas(64) float own[reduction_columns] = {};
#pragma omp for schedule(static) nowait
      for (long i = 0; i < reduction_rows; i += 2) {
        const float *row = x_ + i * reduction_columns, *next = row + reduction_columns;
#pragma omp simd
        for (long j = 0; j < reduction_columns; ++j) own[j] += row[j] + next[j];
      }
#pragma omp critical
      for (long j = 0; j < reduction_columns; ++j) sums_[static_cast<std::size_t>(j)] += own[j];
    }
  }
  std::vector<float> result() const { return joined(sums_); }

 private:
  const float* x_;
  buffer sums_{reduction_columns};
};

/// Mean and variance of each row in one pass: sums of the distances from its first element and of their squares.
class moments_last_loop {
 public:
  explicit moments_last_loop(const matrix_data& data) : x_(data.x.data()) {}
  void reset() {}
  void step() {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < reduction_rows; ++i) {
      const float *row = x_ + i * reduction_columns, origin = row[0];
      lanes sum0{}, sum1{}, square0{}, square1{};
      for (long j = 0; j < reduction_columns; j += 2 * lane_count) {
        const lanes d0 = load(row + j) - origin, d1 = load(row + j + lane_count) - origin;
        sum0 += d0;
        sum1 += d1;
        square0 += d0 * d0;
        square1 += d1 * d1;
      }
      const float distance = total(sum0 + sum1) / reduction_columns;
      means_[static_cast<std::size_t>(i)] = origin + distance;
      variances_[static_cast<std::size_t>(i)] = total(square0 + square1) / reduction_columns - distance * distance;
    }
  }
  std::vector<float> result() const { return joined(means_, variances_); }

 private:
  const float* x_;
  buffer means_{reduction_rows}, variances_{reduction_rows};
};

/// Mean and variance of each column in one pass: sums of the distances from the first row and of their squares.
class moments_first_loop {
 public:
  explicit moments_first_loop(const matrix_data& data) : x_(data.x.data()) {}
  void reset() {}
  void step() {
    std::fill(means_.begin(), means_.end(), 0.0f);
    std::fill(variances_.begin(), variances_.end(), 0.0f);
#pragma omp parallel
    {
      alignas(64) float sums[reduction_columns] = {}, squares[reduction_columns] = {};
#pragma omp for schedule(static) nowait
      for (long i = 0; i < reduction_rows; i += 2) {
        const float *row = x_ + i * reduction_columns, *next = row + reduction_columns, *origin = x_;
#pragma omp simd
        for (long j = 0; j < reduction_columns; ++j) {
          const float d0 = row[j] - origin[j], d1 = next[j] - origin[j];
          sums[j] += d0 + d1;
          squares[j] += d0 * d0 + d1 * d1;
        }
      }
#pragma omp critical
      for (long j = 0; j < reduction_columns; ++j) {
        means_[static_cast<std::size_t>(j)] += sums[j];
        variances_[static_cast<std::size_t>(j)] += squares[j];
      }
    }
    float *means = means_.data(), *variances = variances_.data();
    const float* origin = x_;
#pragma omp simd
    for (long j = 0; j < reduction_columns; ++j) {
      const float distance = means[j] / reduction_rows;
      variances[j] = variances[j] / reduction_rows - distance * distance;
      means[j] = origin[j] + distance;
    }
  }
  std::vector<float> result() const { return joined(means_, variances_); }

 private:
  const float* x_;
  buffer means_{reduction_columns}, variances_{reduction_columns};
};

using eigen_matrix = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Eigen's partial reductions; `Axis` is 0 or 1, `Moments` tells mean and variance from the sum.
template <int Axis, bool Moments>
class reduction_eigen {
 public:
  explicit reduction_eigen(const matrix_data& data) : x_(data.x.data()) {}
  void reset() {}
  void step() {
    const Eigen::Map<const eigen_matrix, Eigen::Aligned64> x(x_, reduction_rows, reduction_columns);
    if constexpr (!Moments && Axis == 0) first_ = x.colwise().sum();
    if constexpr (!Moments && Axis == 1) first_ = x.rowwise().sum();
    if constexpr (Moments && Axis == 0) {
      first_ = x.colwise().mean();
      second_ = (x.rowwise() - first_.transpose()).square().colwise().mean();
    }
    if constexpr (Moments && Axis == 1) {
      first_.resize(reduction_rows);
      second_.resize(reduction_rows);
      for (long i = 0; i < reduction_rows; ++i) {
        first_[i] = x.row(i).mean();
        second_[i] = (x.row(i) - first_[i]).square().mean();
      }
    }
  }
  std::vector<float> result() const { return joined(first_, second_); }

 private:
  const float* x_;
  Eigen::ArrayXf first_, second_;
};

template <int Axis, bool Moments>
class reduction_xtensor {
 public:
  explicit reduction_xtensor(const matrix_data& data) : x_(data.shape) {
    std::copy(data.x.begin(), data.x.end(), x_.begin());
  }
  void reset() {}
  void step() {
    if constexpr (!Moments) {
      first_ = xt::sum(x_, {Axis}, xt::evaluation_strategy::immediate);
    } else {
      first_ = xt::mean(x_, {Axis}, xt::evaluation_strategy::immediate);
      second_ = xt::variance(x_, {Axis});
    }
  }
  std::vector<float> result() const { return joined(first_, second_); }

 private:
  xt::xtensor<float, 2> x_;
  xt::xtensor<float, 1> first_, second_;
};

/// Reading the whole matrix once, as fast as this core or these cores can: the sum of all its elements.
class read_limit {
 public:
  explicit read_limit(const matrix_data& data) : x_(data.x.data()) {}
  void operator()() {
    float total = 0;
    constexpr long pieces = 16, piece = reduction_rows * reduction_columns / pieces;
#pragma omp parallel for schedule(static) reduction(+ : total)
    for (long i = 0; i < pieces; ++i) total += sum_of(x_ + i * piece, piece);
    total_ = total;
  }

 private:
  const float* x_;
  float total_ = 0;
};

}  // namespace bench
