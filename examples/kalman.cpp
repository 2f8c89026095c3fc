// An extended Kalman filter: a radar at the origin measures range and bearing of a ship, with noise; the filter estimates its position and
// velocity. The measurement is not linear; the filter needs its Jacobian, which the library derives. A step is one compiled program.
//
//   x -- F x ----------------+-- range, bearing -- jacobian H --+
//   P -- F P Fᵀ + Q --+      |                                  |
//                     +------+-- S = H P Hᵀ + R -- cholesky_solve -- gain -- x, P

#include <leat/calculus.hpp>

#include <CLI/CLI.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <random>
#include <string>
#include <vector>

using namespace leat;

namespace {

struct options {
  int steps = 300;
  double range_noise = 4;      // meters
  double bearing_noise = 0.03;  // radians
  unsigned seed = 1;
};

using matrix = std::array<std::array<double, 4>, 4>;
constexpr double seconds = 0.5;
constexpr double two_pi = 6.283185307179586;

// The map of a track: what was measured (.), where the ship was (o), and the estimates (+), north up.
class map_of_track {
 public:
  void put(double east, double north, char mark) {
    const int column = static_cast<int>(std::lround((east - west) / (240 - west) * (columns - 1)));
    const int row = static_cast<int>(std::lround((top - north) / (top - bottom) * (rows - 1)));
    if (column >= 0 && column < columns && row >= 0 && row < rows) lines_[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)] = mark;
  }
  void print() const {
    for (const std::string& line : lines_) std::printf("  |%s|\n", line.c_str());
  }

 private:
  static constexpr int columns = 72, rows = 22;
  static constexpr double west = -20, top = 190, bottom = -20;
  std::vector<std::string> lines_ = std::vector<std::string>(rows, std::string(columns, ' '));
};

int run(const options& given) {
  matrix transition{}, noise{}, start{};
  for (std::size_t i = 0; i < 4; ++i) {
    transition[i][i] = 1;
    noise[i][i] = i < 2 ? 0.01 : 0.04;
    start[i][i] = i < 2 ? 100 : 4;
  }
  transition[0][2] = transition[1][3] = seconds;

  const auto z = placeholder<"z", double, 2>();
  const auto r = placeholder<"r", double, 2, 2>();
  const auto f = constant(transition);
  const auto x = variable<"x", double, 4, 1>(std::vector<double>{100, 60, 0, 0});
  const auto p = variable<"p">(start);

  const auto x_before = matmul(f, x);
  const auto p_before = matmul<false, true>(matmul(f, p), f) + constant(noise);
  const auto state = reshape<4>(x_before);
  const auto east = index<0>(state);
  const auto north = index<1>(state);
  const auto expected = stack<0>(sqrt(square(east) + square(north)), atan2(north, east));
  const auto h = jacobian(expected, state);
  const auto hp = matmul(h, p_before);
  const auto gain = cholesky_solve(cholesky(matmul<false, true>(hp, h) + r), hp);  // transposed
  const auto x_after = x_before + matmul<true, false>(gain, reshape<2, 1>(z - expected));
  const auto p_after = p_before - matmul<true, false>(gain, hp);
  const auto step = group(assign(x, x_after), assign(p, p_after));

  session s{step, x, p};
  s.initialize();
  std::mt19937 generator(given.seed);
  std::normal_distribution<double> normal;
  const xt::xtensor<double, 2> measurement_noise{{given.range_noise * given.range_noise, 0}, {0, given.bearing_noise * given.bearing_noise}};
  map_of_track map;
  double measured_error = 0, filtered_error = 0;
  for (int k = 0; k < given.steps; ++k) {
    const double turn = two_pi * k / 300;  // an ellipse before the radar
    const double at[]{120 + 90 * std::cos(turn), 95 + 70 * std::sin(turn)};
    const double range = std::hypot(at[0], at[1]) + given.range_noise * normal(generator);
    const double bearing = std::atan2(at[1], at[0]) + given.bearing_noise * normal(generator);
    s.run(fetch(step), z = std::vector<double>{range, bearing}, r = measurement_noise);
    const auto found = s.value(x);
    const double seen[]{range * std::cos(bearing), range * std::sin(bearing)};
    if (k >= given.steps / 10) {  // the filter starts from a guess
      measured_error += std::pow(seen[0] - at[0], 2) + std::pow(seen[1] - at[1], 2);
      filtered_error += std::pow(found(0, 0) - at[0], 2) + std::pow(found(1, 0) - at[1], 2);
    }
    map.put(seen[0], seen[1], '.');
    map.put(found(0, 0), found(1, 0), '+');
  }
  map.print();
  const int counted = given.steps - given.steps / 10;
  measured_error = std::sqrt(measured_error / counted);
  filtered_error = std::sqrt(filtered_error / counted);
  std::printf("\n.  measured, error %6.2f m (root of the mean square)\n+  filtered, error %6.2f m\n", measured_error, filtered_error);
  return filtered_error < measured_error ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  options given;
  CLI::App app{"An extended Kalman filter that follows a ship by radar."};
  app.option_defaults()->always_capture_default();
  app.add_option("--steps", given.steps, "measurements, one in half a second")->check(CLI::PositiveNumber);
  app.add_option("--range-noise", given.range_noise, "standard deviation, in meters")->check(CLI::PositiveNumber);
  app.add_option("--bearing-noise", given.bearing_noise, "standard deviation, in radians")->check(CLI::PositiveNumber);
  app.add_option("--seed", given.seed, "of the simulated noise");
  CLI11_PARSE(app, count, arguments);
  try {
    return run(given);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kalman: %s\n", error.what());
    return 2;
  }
}
