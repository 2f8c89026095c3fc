#pragma once
// Problems of bundle adjustment as "Bundle Adjustment in the Large" writes them, in text: the numbers of cameras, points and observations;
// a line for each observation, of a camera, a point, and where the camera saw it; then nine numbers of each camera (a rotation, a
// translation, the focal length, two of distortion), and three of each point.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <xtensor/xtensor.hpp>

namespace leat::examples {

struct bal_problem {
  std::vector<std::int64_t> camera_of, point_of;
  xt::xtensor<double, 2> seen;                // [observations, 2]
  xt::xtensor<double, 2> cameras, points;     // [cameras, 9], [points, 3]
};

/// Where a camera sees a point: it looks along its negative z.
inline void seen_from(const double* camera, const double* point, double* place) {
  const double angle = std::sqrt(camera[0] * camera[0] + camera[1] * camera[1] + camera[2] * camera[2] + 1e-30);
  const double w[]{camera[0] / angle, camera[1] / angle, camera[2] / angle}, c = std::cos(angle), s = std::sin(angle);
  const double along = (w[0] * point[0] + w[1] * point[1] + w[2] * point[2]) * (1 - c);
  const double y[]{point[0] * c + (w[1] * point[2] - w[2] * point[1]) * s + w[0] * along + camera[3],
                   point[1] * c + (w[2] * point[0] - w[0] * point[2]) * s + w[1] * along + camera[4],
                   point[2] * c + (w[0] * point[1] - w[1] * point[0]) * s + w[2] * along + camera[5]};
  const double u = -y[0] / y[2], v = -y[1] / y[2], rr = u * u + v * v;
  const double f = camera[6] * (1 + rr * (camera[7] + rr * camera[8]));
  place[0] = f * u;
  place[1] = f * v;
}

/// Reads such a file. Errors: std::runtime_error if it cannot be read, has numbers missing, or indices that do not exist.
inline bal_problem read_bal(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error(file + ": cannot be opened");
  const auto wrong = [&](const std::string& what) { throw std::runtime_error(file + ": " + what); };
  std::int64_t cameras = 0, points = 0, observations = 0;
  if (!(in >> cameras >> points >> observations)) wrong("begins with the numbers of cameras, points and observations");
  constexpr std::int64_t most = 100'000'000;
  if (cameras < 1 || points < 1 || observations < 1 || cameras > most || points > most || observations > most)
    wrong("numbers of cameras, points and observations of 1 to " + std::to_string(most) + " are expected");
  bal_problem p;
  std::vector<double> seen, values;  // they grow with the file, whatever its first line claims
  for (std::int64_t k = 0; k < observations; ++k) {
    std::int64_t camera = 0, point = 0;
    double x = 0, y = 0;
    if (!(in >> camera >> point >> x >> y)) wrong("ends within observation " + std::to_string(k));
    if (camera < 0 || camera >= cameras || point < 0 || point >= points)
      wrong("observation " + std::to_string(k) + " is of a camera or point that is not there");
    p.camera_of.push_back(camera);
    p.point_of.push_back(point);
    seen.insert(seen.end(), {x, y});
  }
  for (std::int64_t k = 0; k < 9 * cameras + 3 * points; ++k) {
    double value = 0;
    if (!(in >> value)) wrong("ends within the parameters");
    values.push_back(value);
  }
  const auto as = [](auto first, std::size_t rows, std::size_t columns) {
    auto made = xt::xtensor<double, 2>::from_shape({rows, columns});
    for (std::size_t i = 0; i < rows * columns; ++i) made.data()[i] = *first++;
    return made;
  };
  p.seen = as(seen.begin(), static_cast<std::size_t>(observations), 2);
  p.cameras = as(values.begin(), static_cast<std::size_t>(cameras), 9);
  p.points = as(values.begin() + 9 * cameras, static_cast<std::size_t>(points), 3);
  return p;
}

/// A problem whose answer is known: cameras on an arc that look at a cloud of points, seen with a noise of half a pixel; the parameters are
/// off by some parts of a hundred.
inline bal_problem simulated_bal(std::size_t cameras, std::size_t points, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  bal_problem p;
  p.cameras = xt::xtensor<double, 2>::from_shape({cameras, 9});
  p.points = xt::xtensor<double, 2>::from_shape({points, 3});
  p.seen = xt::xtensor<double, 2>::from_shape({cameras * points, 2});
  for (std::size_t i = 0; i < cameras; ++i) {
    const double turn = 0.15 * (static_cast<double>(i) - 0.5 * static_cast<double>(cameras - 1));
    const double start[]{0.02 * normal(generator), turn, 0.02 * normal(generator), 0, 0, -8, 600, -0.02, 0.001};
    for (std::size_t k = 0; k < 9; ++k) p.cameras(i, k) = start[k];
  }
  for (double& v : p.points) v = normal(generator);
  for (std::size_t i = 0; i < cameras; ++i)
    for (std::size_t k = 0; k < points; ++k) {
      const std::size_t at = i * points + k;
      p.camera_of.push_back(static_cast<std::int64_t>(i));
      p.point_of.push_back(static_cast<std::int64_t>(k));
      seen_from(&p.cameras(i, 0), &p.points(k, 0), &p.seen(at, 0));
      p.seen(at, 0) += 0.5 * normal(generator);
      p.seen(at, 1) += 0.5 * normal(generator);
    }
  for (std::size_t i = 0; i < cameras; ++i)
    for (std::size_t k = 0; k < 6; ++k) p.cameras(i, k) += 0.02 * normal(generator);
  for (double& v : p.points) v += 0.05 * normal(generator);
  return p;
}

}  // namespace leat::examples
