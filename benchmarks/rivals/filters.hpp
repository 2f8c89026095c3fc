#pragma once
// Kalman filters of a position and a velocity in the plane, in double: of two measured positions, and the extended filter of a radar's range
// and bearing. Both solve with the innovations' covariance by its Cholesky decomposition.
//   predict  x = F x                 P = F P Fᵀ + Q
//   update   S = H P Hᵀ + R          K = P Hᵀ S⁻¹          x += K (z - h(x))    P = P - K H P

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace bench {

struct filter_data {
  static constexpr double seconds = 0.1;
  std::array<std::array<double, 4>, 4> transition{}, noise{}, uncertainty{};
  std::array<std::array<double, 4>, 2> measured{};
  std::array<std::array<double, 2>, 2> measurement_noise{{{0.04, 0}, {0, 0.01}}};
  std::array<double, 4> start{3, 2, 0.5, -0.25};
  std::array<double, 2> measurement{3.7, 0.55};

  constexpr filter_data() {
    for (std::size_t i = 0; i < 4; ++i) {
      transition[i][i] = uncertainty[i][i] = 1;
      noise[i][i] = 0.01;
    }
    transition[0][2] = transition[1][3] = seconds;
    measured[0][0] = measured[1][1] = 1;
  }
  /// The measurements of many tracks, [2, tracks].
  std::vector<double> measurements(std::size_t tracks) const {
    std::vector<double> all(2 * tracks);
    for (std::size_t t = 0; t < tracks; ++t) {
      all[t] = measurement[0] + 0.0002 * static_cast<double>(t);
      all[tracks + t] = measurement[1] - 0.0001 * static_cast<double>(t);
    }
    return all;
  }
};

/// Eigen's matrices of fixed size; the derivatives of an extended filter's measurement are written by hand.
template <bool Extended>
class filter_eigen {
  using matrix = Eigen::Matrix<double, 4, 4, Eigen::RowMajor>;
  using wide = Eigen::Matrix<double, 2, 4, Eigen::RowMajor>;
  using small = Eigen::Matrix<double, 2, 2, Eigen::RowMajor>;
  using column = Eigen::Vector4d;

 public:
  explicit filter_eigen(const filter_data& data)
      : f_(matrix::Map(data.transition[0].data())),
        q_(matrix::Map(data.noise[0].data())),
        start_(matrix::Map(data.uncertainty[0].data())),
        h_(wide::Map(data.measured[0].data())),
        r_(small::Map(data.measurement_noise[0].data())),
        first_(column::Map(data.start.data())),
        z_(Eigen::Vector2d::Map(data.measurement.data())) {}
  void reset() {
    x_ = first_;
    p_ = start_;
  }
  void step() {
    const column x = f_ * x_;
    const matrix p = f_ * p_ * f_.transpose() + q_;
    Eigen::Vector2d seen;
    wide h = h_;
    if constexpr (Extended) {
      const double square = x[0] * x[0] + x[1] * x[1], range = std::sqrt(square);
      seen << range, std::atan2(x[1], x[0]);
      h << x[0] / range, x[1] / range, 0, 0, -x[1] / square, x[0] / square, 0, 0;
    } else {
      seen = h_ * x;
    }
    const wide hp = h * p;
    const small s = hp * h.transpose() + r_;
    const wide gain = s.llt().solve(hp);  // Kᵀ
    x_ = x + gain.transpose() * (z_ - seen);
    p_ = p - gain.transpose() * hp;
  }
  std::vector<float> result() const {
    std::vector<float> all(x_.data(), x_.data() + 4);
    all.insert(all.end(), p_.data(), p_.data() + 16);
    return all;
  }

 private:
  matrix f_, q_, start_;
  wide h_;
  small r_;
  column first_;
  Eigen::Vector2d z_;
  column x_;
  matrix p_;
};

/// Extended filters of many tracks as structures of arrays, [4, tracks] and [4, 4, tracks]; zeros of F, H and Q are left out.
class extended_filters {
 public:
  extended_filters(const filter_data& data, std::size_t tracks)
      : data_(data), tracks_(tracks), x_(4 * tracks), p_(16 * tracks), z_(data.measurements(tracks)) {}
  void reset() {
    for (std::size_t t = 0; t < tracks_; ++t) {
      for (std::size_t i = 0; i < 4; ++i) x_[i * tracks_ + t] = data_.start[i];
      for (std::size_t i = 0; i < 16; ++i) p_[i * tracks_ + t] = data_.uncertainty[i / 4][i % 4];
    }
  }
  void step() {
    const std::size_t n = tracks_;
    double* const xs = x_.data();
    double* const ps = p_.data();
    const double* const zs = z_.data();
    constexpr double dt = filter_data::seconds, q = 0.01, r0 = 0.04, r1 = 0.01;
#pragma GCC ivdep
    for (std::size_t t = 0; t < n; ++t) {
      const double vx = xs[2 * n + t], vy = xs[3 * n + t];
      const double east = xs[t] + dt * vx, north = xs[n + t] + dt * vy;
      double fp[4][4], p[4][4];
#pragma GCC unroll 4
      for (std::size_t j = 0; j < 4; ++j) {
        fp[0][j] = ps[j * n + t] + dt * ps[(8 + j) * n + t];
        fp[1][j] = ps[(4 + j) * n + t] + dt * ps[(12 + j) * n + t];
        fp[2][j] = ps[(8 + j) * n + t];
        fp[3][j] = ps[(12 + j) * n + t];
      }
#pragma GCC unroll 4
      for (std::size_t i = 0; i < 4; ++i) {
        p[i][0] = fp[i][0] + dt * fp[i][2];
        p[i][1] = fp[i][1] + dt * fp[i][3];
        p[i][2] = fp[i][2];
        p[i][3] = fp[i][3];
        p[i][i] += q;
      }
      const double square = east * east + north * north, range = std::sqrt(square);
      const double a = east / range, b = north / range, c = -north / square, d = east / square;
      double h0[4], h1[4];
#pragma GCC unroll 4
      for (std::size_t j = 0; j < 4; ++j) {
        h0[j] = a * p[0][j] + b * p[1][j];
        h1[j] = c * p[0][j] + d * p[1][j];
      }
      const double s00 = h0[0] * a + h0[1] * b + r0, s10 = h1[0] * a + h1[1] * b, s11 = h1[0] * c + h1[1] * d + r1;
      const double l00 = std::sqrt(s00), l10 = s10 / l00, l11 = std::sqrt(s11 - l10 * l10);
      const double e0 = zs[t] - range, e1 = zs[n + t] - std::atan2(north, east);
      double k0[4], k1[4];
#pragma GCC unroll 4
      for (std::size_t j = 0; j < 4; ++j) {
        const double y0 = h0[j] / l00, y1 = (h1[j] - l10 * y0) / l11;
        k1[j] = y1 / l11;
        k0[j] = (y0 - l10 * k1[j]) / l00;
      }
      xs[t] = east + k0[0] * e0 + k1[0] * e1;
      xs[n + t] = north + k0[1] * e0 + k1[1] * e1;
      xs[2 * n + t] = vx + k0[2] * e0 + k1[2] * e1;
      xs[3 * n + t] = vy + k0[3] * e0 + k1[3] * e1;
#pragma GCC unroll 4
      for (std::size_t i = 0; i < 4; ++i)
#pragma GCC unroll 4
        for (std::size_t j = 0; j < 4; ++j) ps[(4 * i + j) * n + t] = p[i][j] - k0[i] * h0[j] - k1[i] * h1[j];
    }
  }
  std::vector<float> result() const {
    std::vector<float> all(x_.begin(), x_.end());
    all.insert(all.end(), p_.begin(), p_.end());
    return all;
  }

 private:
  filter_data data_;
  std::size_t tracks_;
  std::vector<double> x_, p_, z_;
};

}  // namespace bench
