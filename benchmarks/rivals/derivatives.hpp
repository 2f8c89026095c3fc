#pragma once
// Derivatives by hand, in double: the Hessian of Rosenbrock's function, and a radar's measurement of positions with its Jacobian.

#include "rosenbrock.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

namespace bench {

/// The Hessian of Rosenbrock's function: three diagonals, in a full matrix.
template <int N>
class rosenbrock_hessian {
 public:
  explicit rosenbrock_hessian(const rosenbrock_data<N>& data) : x_(data.x.data()), hessian_(N * N) {}
  void reset() {}
  void step() {
    const double* x = x_;
    double* h = hessian_.data();
    for (int i = 0; i < N * N; ++i) h[i] = 0;
    for (int i = 0; i < N; ++i) {
      double here = i > 0 ? 200 : 0;
      if (i + 1 < N) {
        here += 1200 * x[i] * x[i] - 400 * x[i + 1] + 2;
        h[i * N + i + 1] = h[(i + 1) * N + i] = -400 * x[i];
      }
      h[i * N + i] = here;
    }
  }
  std::vector<float> result() const { return {hessian_.begin(), hessian_.end()}; }

 private:
  const double* x_;
  std::vector<double> hessian_;
};

/// Range and bearing of each position [east, north], and their derivatives by it: [2], [2, 2].
class radar_loop {
 public:
  explicit radar_loop(const std::vector<double>& positions)
      : positions_(positions), seen_(positions.size()), slopes_(2 * positions.size()) {}
  void reset() {}
  void step() {
    const std::size_t count = positions_.size() / 2;
    for (std::size_t i = 0; i < count; ++i) {
      const double east = positions_[i], north = positions_[count + i];
      const double square = east * east + north * north, range = std::sqrt(square);
      seen_[i] = range;
      seen_[count + i] = std::atan2(north, east);
      slopes_[i] = east / range;
      slopes_[count + i] = north / range;
      slopes_[2 * count + i] = -north / square;
      slopes_[3 * count + i] = east / square;
    }
  }
  std::vector<float> result() const {
    std::vector<float> all(seen_.begin(), seen_.end());
    all.insert(all.end(), slopes_.begin(), slopes_.end());
    return all;
  }

 private:
  const std::vector<double>& positions_;
  std::vector<double> seen_, slopes_;
};

}  // namespace bench
