#pragma once
// The error of a point in a picture, and its derivatives by camera and point, in double: of many observations, each with parameters of its
// own, as structures of arrays [14, observations]. A camera is a rotation r (3, an axis times an angle), its place c (3), a focal length f,
// the picture's middle (2) and the distortion k1, k2; a point has 3 coordinates:
//   y = R(r) (point - c)    u = y₀/y₂, v = y₁/y₂    l = 1 + k1 (u² + v²) + k2 (u² + v²)²    error = middle + f l (u, v) - seen
// The formulas are those of the benchmark of derivatives ADBench (Šrajer, Kukelova, Fitzgibbon 2018); no rotation is 0.

#include <ceres/jet.h>

#include <cmath>
#include <cstddef>
#include <vector>

namespace bench {

struct bundle_data {
  static constexpr std::size_t parameters = 14;
  std::size_t count;
  std::vector<double> all;   // [14, count]
  std::vector<double> seen;  // [2, count]

  explicit bundle_data(std::size_t n) : count(n), all(parameters * n), seen(2 * n) {
    const double start[parameters]{0.2, -0.1, 0.3, 0.5, -0.4, -6, 500, 320, 240, -0.05, 0.01, 0.3, 0.7, 1.1};
    for (std::size_t i = 0; i < parameters; ++i)
      for (std::size_t k = 0; k < n; ++k) all[i * n + k] = start[i] * (1 + 0.001 * static_cast<double>((k * 37 + i * 11) % 101));
    for (std::size_t k = 0; k < 2 * n; ++k) seen[k] = 300 + 0.1 * static_cast<double>(k % 53);
  }
};

template <class T>
void bundle_error(const T* p, const double* seen, T* error) {
  using std::cos, std::sin, std::sqrt;
  const T d0 = p[11] - p[3], d1 = p[12] - p[4], d2 = p[13] - p[5];
  const T angle = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
  const T w0 = p[0] / angle, w1 = p[1] / angle, w2 = p[2] / angle;
  const T c = cos(angle), s = sin(angle);
  const T along = (w0 * d0 + w1 * d1 + w2 * d2) * (1.0 - c);
  const T y0 = d0 * c + (w1 * d2 - w2 * d1) * s + w0 * along;
  const T y1 = d1 * c + (w2 * d0 - w0 * d2) * s + w1 * along;
  const T y2 = d2 * c + (w0 * d1 - w1 * d0) * s + w2 * along;
  const T u = y0 / y2, v = y1 / y2, rr = u * u + v * v;
  const T l = 1.0 + rr * (p[9] + p[10] * rr);
  error[0] = p[7] + p[6] * l * u - seen[0];
  error[1] = p[8] + p[6] * l * v - seen[1];
}

class bundle_results {
 public:
  explicit bundle_results(const bundle_data& data) : data_(data), errors_(2 * data.count), slopes_(28 * data.count) {}
  void reset() {}
  std::vector<float> result() const {
    std::vector<float> all(errors_.begin(), errors_.end());
    all.insert(all.end(), slopes_.begin(), slopes_.end());
    return all;
  }

 protected:
  const bundle_data& data_;
  std::vector<double> errors_, slopes_;  // [2, count], [2, 14, count]
};

/// Ceres' numbers with 14 derivatives.
class bundle_jets : public bundle_results {
 public:
  using bundle_results::bundle_results;
  void step() {
    using jet = ceres::Jet<double, 14>;
    const std::size_t n = data_.count;
    for (std::size_t k = 0; k < n; ++k) {
      jet p[14], error[2];
      for (int i = 0; i < 14; ++i) p[i] = jet(data_.all[static_cast<std::size_t>(i) * n + k], i);
      const double seen[]{data_.seen[k], data_.seen[n + k]};
      bundle_error(p, seen, error);
      for (std::size_t e = 0; e < 2; ++e) {
        errors_[e * n + k] = error[e].a;
        for (std::size_t i = 0; i < 14; ++i) slopes_[(e * 14 + i) * n + k] = error[e].v[static_cast<Eigen::Index>(i)];
      }
    }
  }
};

/// Derivatives by hand.
class bundle_by_hand : public bundle_results {
 public:
  using bundle_results::bundle_results;
  void step() {
    const std::size_t n = data_.count;
    const double* const in = data_.all.data();
    const double* const seen = data_.seen.data();
    double* const errors = errors_.data();
    double* const slopes = slopes_.data();
#pragma GCC ivdep
    for (std::size_t k = 0; k < n; ++k) {
      const double r[]{in[k], in[n + k], in[2 * n + k]};
      const double d[]{in[11 * n + k] - in[3 * n + k], in[12 * n + k] - in[4 * n + k], in[13 * n + k] - in[5 * n + k]};
      const double f = in[6 * n + k], k1 = in[9 * n + k], k2 = in[10 * n + k];
      const double angle = std::sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
      const double w[]{r[0] / angle, r[1] / angle, r[2] / angle};
      const double c = std::cos(angle), s = std::sin(angle), rest = 1 - c;
      const double wd = w[0] * d[0] + w[1] * d[1] + w[2] * d[2];
      const double cross[]{w[1] * d[2] - w[2] * d[1], w[2] * d[0] - w[0] * d[2], w[0] * d[1] - w[1] * d[0]};
      double y[3], by_angle[3];
#pragma GCC unroll 3
      for (int i = 0; i < 3; ++i) {
        y[i] = d[i] * c + cross[i] * s + w[i] * wd * rest;
        by_angle[i] = -d[i] * s + cross[i] * c + w[i] * wd * s;
      }
      const double u = y[0] / y[2], v = y[1] / y[2], rr = u * u + v * v;
      const double l = 1 + rr * (k1 + k2 * rr), dl = k1 + 2 * k2 * rr;
      errors[k] = in[7 * n + k] + f * l * u - seen[k];
      errors[n + k] = in[8 * n + k] + f * l * v - seen[n + k];
      const double uu = f * (l + 2 * u * u * dl), uv = 2 * f * u * v * dl, vv = f * (l + 2 * v * v * dl);
      const double by_y[2][3]{{uu / y[2], uv / y[2], -(uu * u + uv * v) / y[2]}, {uv / y[2], vv / y[2], -(uv * u + vv * v) / y[2]}};
      const double turn[3][3]{{c + w[0] * w[0] * rest, w[0] * w[1] * rest - w[2] * s, w[0] * w[2] * rest + w[1] * s},
                              {w[1] * w[0] * rest + w[2] * s, c + w[1] * w[1] * rest, w[1] * w[2] * rest - w[0] * s},
                              {w[2] * w[0] * rest - w[1] * s, w[2] * w[1] * rest + w[0] * s, c + w[2] * w[2] * rest}};
      double by_r[3][3];
#pragma GCC unroll 3
      for (int j = 0; j < 3; ++j) {
        double dw[3];
#pragma GCC unroll 3
        for (int i = 0; i < 3; ++i) dw[i] = ((i == j ? 1.0 : 0.0) - w[i] * w[j]) / angle;
        const double dwd = dw[0] * d[0] + dw[1] * d[1] + dw[2] * d[2];
        const double turned[]{dw[1] * d[2] - dw[2] * d[1], dw[2] * d[0] - dw[0] * d[2], dw[0] * d[1] - dw[1] * d[0]};
#pragma GCC unroll 3
        for (int i = 0; i < 3; ++i) by_r[i][j] = w[j] * by_angle[i] + turned[i] * s + (dw[i] * wd + w[i] * dwd) * rest;
      }
#pragma GCC unroll 2
      for (std::size_t e = 0; e < 2; ++e) {
        double* const out = slopes + e * 14 * n + k;
        const double* const a = by_y[e];
        const double along = e == 0 ? u : v;
#pragma GCC unroll 3
        for (std::size_t j = 0; j < 3; ++j) {
          out[j * n] = a[0] * by_r[0][j] + a[1] * by_r[1][j] + a[2] * by_r[2][j];
          const double by_point = a[0] * turn[0][j] + a[1] * turn[1][j] + a[2] * turn[2][j];
          out[(3 + j) * n] = -by_point;
          out[(11 + j) * n] = by_point;
        }
        out[6 * n] = l * along;
        out[7 * n] = e == 0 ? 1 : 0;
        out[8 * n] = e == 0 ? 0 : 1;
        out[9 * n] = f * rr * along;
        out[10 * n] = f * rr * rr * along;
      }
    }
  }
};

}  // namespace bench
