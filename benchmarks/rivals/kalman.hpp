#pragma once
// A Kalman filter of N states and one measurement, prediction and update of a step, in double: a position and its derivatives, of which
// the position is measured; for one track, and for many.
//   predict  x = F x              P = F P Fᵀ + Q
//   update   K = P Hᵀ / (H P Hᵀ + R)    x += K (z - H x)    P = (I - K H) P

#include <Eigen/Core>

#include <array>
#include <cstddef>
#include <vector>

namespace bench {

template <int N>
using square_matrix = std::array<std::array<double, N>, N>;

template <int N>
struct kalman_data {
  static constexpr double seconds = 0.1;
  square_matrix<N> transition{};   // F
  square_matrix<N> noise{};        // Q
  square_matrix<N> uncertainty{};  // P at the start
  square_matrix<N> identity{};
  std::array<std::array<double, N>, 1> measured{};  // H
  double measurement_noise = 0.25;                  // R
  double measurement = 1.5;                         // z

  constexpr kalman_data() {
    for (std::size_t i = 0; i < N; ++i) {
      double term = 1;
      for (std::size_t j = i; j < N; ++j) {
        transition[i][j] = term;
        term *= seconds / static_cast<double>(j - i + 1);
      }
      noise[i][i] = 0.01;
      uncertainty[i][i] = identity[i][i] = 1;
    }
    measured[0][0] = 1;
  }
};

template <int N>
std::vector<float> kalman_result(const double* x, const double* p) {
  std::vector<float> all;
  for (int i = 0; i < N; ++i) all.push_back(static_cast<float>(x[i]));
  for (int i = 0; i < N * N; ++i) all.push_back(static_cast<float>(p[i]));
  return all;
}

/// A measurement of each of many tracks.
template <int N>
std::vector<double> kalman_measurements(const kalman_data<N>& data, int tracks) {
  std::vector<double> all;
  for (int t = 0; t < tracks; ++t) all.push_back(data.measurement + 0.001 * t);
  return all;
}

/// Loops of constant length over arrays, which the compiler unrolls and vectorizes as it sees fit.
template <int N>
class kalman_loops {
  static constexpr std::size_t n = N;

 public:
  explicit kalman_loops(const kalman_data<N>& data) : data_(data) {}
  void reset() {
    x_ = {};
    p_ = data_.uncertainty;
  }
  void step() {
    const auto& f = data_.transition;
    const auto& h = data_.measured[0];
    std::array<double, n> x{}, ph{}, gain{};
    square_matrix<N> fp{}, p{}, rest{}, next{};
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < n; ++k) x[i] += f[i][k] * x_[k];
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < n; ++k)
        for (std::size_t j = 0; j < n; ++j) fp[i][j] += f[i][k] * p_[k][j];
    p = data_.noise;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t k = 0; k < n; ++k) p[i][j] += fp[i][k] * f[j][k];
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < n; ++k) ph[i] += p[i][k] * h[k];
    double innovation = data_.measurement, spread = data_.measurement_noise;
    for (std::size_t k = 0; k < n; ++k) {
      innovation -= h[k] * x[k];
      spread += h[k] * ph[k];
    }
    for (std::size_t i = 0; i < n; ++i) gain[i] = ph[i] / spread;
    for (std::size_t i = 0; i < n; ++i) x_[i] = x[i] + gain[i] * innovation;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) rest[i][j] = data_.identity[i][j] - gain[i] * h[j];
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < n; ++k)
        for (std::size_t j = 0; j < n; ++j) next[i][j] += rest[i][k] * p[k][j];
    p_ = next;
  }
  std::vector<float> result() const { return kalman_result<N>(x_.data(), p_[0].data()); }

 private:
  kalman_data<N> data_;
  std::array<double, n> x_{};
  square_matrix<N> p_{};
};

/// Eigen's matrices of fixed size.
template <int N>
class kalman_eigen {
  using matrix = Eigen::Matrix<double, N, N, Eigen::RowMajor>;
  using column = Eigen::Matrix<double, N, 1>;
  using row = Eigen::Matrix<double, 1, N>;

 public:
  explicit kalman_eigen(const kalman_data<N>& data)
      : f_(matrix::Map(data.transition[0].data())),
        q_(matrix::Map(data.noise[0].data())),
        start_(matrix::Map(data.uncertainty[0].data())),
        h_(row::Map(data.measured[0].data())),
        r_(data.measurement_noise),
        z_(data.measurement) {}
  void reset() {
    x_.setZero();
    p_ = start_;
  }
  void step() {
    const column x = f_ * x_;
    const matrix p = f_ * p_ * f_.transpose() + q_;
    const column ph = p * h_.transpose();
    const column gain = ph / (h_.dot(ph) + r_);
    x_ = x + gain * (z_ - h_.dot(x));
    p_ = (matrix::Identity() - gain * h_) * p;
  }
  std::vector<float> result() const { return kalman_result<N>(x_.data(), p_.data()); }

 private:
  matrix f_, q_, start_;
  row h_;
  double r_, z_;
  column x_;
  matrix p_;
};

// g++ takes registers of 256 bits on most processors that have wider ones.
#if defined(__GNUC__) && !defined(__clang__) && defined(__AVX512F__)
#define BENCH_WHOLE_REGISTERS [[gnu::target("prefer-vector-width=512")]]
#else
#define BENCH_WHOLE_REGISTERS
#endif

/// The filters of many tracks as structures of arrays: an array over the tracks for each element of x and P. The loop over the tracks is
/// the innermost one that is left when the compiler has unrolled those of constant length, and runs in registers of several tracks.
template <int N, int Tracks>
class kalman_tracks {
  static constexpr std::size_t n = N, tracks = Tracks;

 public:
  explicit kalman_tracks(const kalman_data<N>& data) : data_(data), z_(kalman_measurements<N>(data, Tracks)) {
    for (auto& x : x_) x.resize(tracks);
    for (auto& p : p_) p.resize(tracks);
  }
  void reset() {
    for (std::size_t i = 0; i < n; ++i) x_[i].assign(tracks, 0);
    for (std::size_t i = 0; i < n * n; ++i) p_[i].assign(tracks, data_.uncertainty[i / n][i % n]);
  }
  BENCH_WHOLE_REGISTERS void step() {
    const kalman_data<N> data = data_;
    const auto& f = data.transition;
    const auto& h = data.measured[0];
    double* xs[n];
    double* ps[n * n];
    for (std::size_t i = 0; i < n; ++i) xs[i] = x_[i].data();
    for (std::size_t i = 0; i < n * n; ++i) ps[i] = p_[i].data();
    const double* zs = z_.data();
#pragma GCC ivdep
    for (std::size_t t = 0; t < tracks; ++t) {
      double x[n], ph[n], gain[n], before[n][n], fp[n][n], p[n][n];
#pragma GCC unroll 8
      for (std::size_t i = 0; i < n; ++i) {
        x[i] = 0;
#pragma GCC unroll 8
        for (std::size_t k = 0; k < n; ++k) x[i] += f[i][k] * xs[k][t];
      }
#pragma GCC unroll 8
      for (std::size_t i = 0; i < n; ++i)
#pragma GCC unroll 8
        for (std::size_t j = 0; j < n; ++j) before[i][j] = ps[i * n + j][t];
#pragma GCC unroll 8
      for (std::size_t i = 0; i < n; ++i)
#pragma GCC unroll 8
        for (std::size_t j = 0; j < n; ++j) {
          fp[i][j] = 0;
#pragma GCC unroll 8
          for (std::size_t k = 0; k < n; ++k) fp[i][j] += f[i][k] * before[k][j];
        }
#pragma GCC unroll 8
      for (std::size_t i = 0; i < n; ++i)
#pragma GCC unroll 8
        for (std::size_t j = 0; j < n; ++j) {
          p[i][j] = data.noise[i][j];
#pragma GCC unroll 8
          for (std::size_t k = 0; k < n; ++k) p[i][j] += fp[i][k] * f[j][k];
        }
      double innovation = zs[t], spread = data.measurement_noise;
#pragma GCC unroll 8
      for (std::size_t i = 0; i < n; ++i) {
        ph[i] = 0;
#pragma GCC unroll 8
        for (std::size_t k = 0; k < n; ++k) ph[i] += p[i][k] * h[k];
        innovation -= h[i] * x[i];
        spread += h[i] * ph[i];
      }
#pragma GCC unroll 8
      for (std::size_t i = 0; i < n; ++i) gain[i] = ph[i] / spread;
#pragma GCC unroll 8
      for (std::size_t i = 0; i < n; ++i) xs[i][t] = x[i] + gain[i] * innovation;
#pragma GCC unroll 8
      for (std::size_t i = 0; i < n; ++i)
#pragma GCC unroll 8
        for (std::size_t j = 0; j < n; ++j) {
          double sum = 0;
#pragma GCC unroll 8
          for (std::size_t k = 0; k < n; ++k) sum += (data.identity[i][k] - gain[i] * h[k]) * p[k][j];
          ps[i * n + j][t] = sum;
        }
    }
  }
  std::vector<float> result() const {
    std::vector<float> all;
    for (const auto& x : x_) all.insert(all.end(), x.begin(), x.end());
    for (const auto& p : p_) all.insert(all.end(), p.begin(), p.end());
    return all;
  }

 private:
  kalman_data<N> data_;
  std::array<std::vector<double>, n> x_;
  std::array<std::vector<double>, n * n> p_;
  std::vector<double> z_;
};
#undef BENCH_WHOLE_REGISTERS

}  // namespace bench
