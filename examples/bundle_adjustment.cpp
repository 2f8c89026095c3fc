// Bundle adjustment: where points are, and where cameras stood and how they were turned, from where the points are in the pictures. Some
// of what is seen is wrong (outliers); a robust rule keeps that from pulling at the cameras. Each error sees one camera and one point, so
// the points are eliminated from the system of a step (Schur complement), and what is solved has the size of the cameras alone. The
// pictures are simulated with noise, by the same expression that is then fitted:
//
//   cameras [8, 9] -- gather by camera_of --+
//                                           +-- picture -- minus seen = errors [1500, 2] -- robust rule, sum = loss
//   points [300, 3] -- gather by point_of --+                         |
//                                             Jacobians by camera and by point
//                                                                     |
//                points eliminated, conjugate gradients -- a step, taken where the loss falls -- damping

#include <leat/calculus.hpp>
#include <leat/vmap.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <random>
#include <vector>

using namespace leat;
using namespace leat::literals;

namespace {

constexpr std::int64_t camera_count = 8, point_count = 300;
constexpr std::int64_t views = 5;  // as many cameras see a point
constexpr std::int64_t count = point_count * views;
constexpr double asked_for = 0.7;  // pixels

struct options {
  int steps = 40;
  double noise = 0.5;      // pixels, along each axis
  double outliers = 0.05;  // their share
  double scale = 3;        // pixels: errors beyond it are not to be trusted
  unsigned seed = 1;
};

using table = xt::xtensor<double, 2>;

// Where a camera sees a point, in pixels. A camera is a rotation (an axis times an angle), a translation, a focal length and two numbers of
// distortion, and looks along its negative z. Source: Agarwal et al., "Bundle Adjustment in the Large" (2010).
constexpr auto picture = [](const auto& camera, const auto& point) {
  const auto moved_round = [](const auto& x) { return concat<0>(slice<begins<1>, sizes<2>>(x), slice<begins<0>, sizes<1>>(x)); };
  const auto cross = [&](const auto& a, const auto& b) {
    return moved_round(a) * moved_round(moved_round(b)) - moved_round(moved_round(a)) * moved_round(b);
  };
  const auto turn = slice<begins<0>, sizes<3>>(camera);
  const auto angle = sqrt(reduce_sum(square(turn)) + 1e-30_c);
  const auto axis = turn / angle;
  const auto turned = point * cos(angle) + cross(axis, point) * sin(angle) + axis * (reduce_sum(axis * point) * (1_c - cos(angle)));
  const auto place = turned + slice<begins<3>, sizes<3>>(camera);
  const auto flat = -slice<begins<0>, sizes<2>>(place) / index<2>(place);
  const auto rr = reduce_sum(square(flat));
  return flat * (index<6>(camera) * (1_c + rr * (index<7>(camera) + rr * index<8>(camera))));
};

// What cameras saw, and where the search for cameras and points begins.
struct scene {
  std::vector<std::int64_t> camera_of = std::vector<std::int64_t>(count), point_of = camera_of;
  table seen, cameras = table::from_shape({camera_count, 9}), points = table::from_shape({point_count, 3});
  std::vector<bool> is_outlier = std::vector<bool>(count);
};

scene simulate(const options& given) {
  std::mt19937 generator(given.seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  scene all;
  for (std::size_t i = 0; i < camera_count; ++i) {  // on an arc around the points
    const double turn = 1.2 * (static_cast<double>(i) / (camera_count - 1) - 0.5);
    const double camera[]{0.1 * normal(generator), turn, 0.1 * normal(generator), 0, 0, -6, 600, -0.05, 0.01};
    std::copy(std::begin(camera), std::end(camera), &all.cameras(i, 0));
  }
  for (double& x : all.points) x = 0.8 * normal(generator);
  for (std::size_t k = 0; k < count; ++k) {
    all.point_of[k] = static_cast<std::int64_t>(k) / views;
    all.camera_of[k] = (all.point_of[k] + static_cast<std::int64_t>(k) % views) % camera_count;
  }

  const auto cameras = placeholder<"cameras", double, camera_count, 9>();
  const auto points = placeholder<"points", double, point_count, 3>();
  const auto camera_of = placeholder<"camera_of", std::int64_t, count>();
  const auto point_of = placeholder<"point_of", std::int64_t, count>();
  const auto pictures = vmap(picture)(gather<0>(cameras, camera_of), gather<0>(points, point_of));
  session s{pictures};
  all.seen = std::get<0>(
      s.run(fetch(pictures), cameras = all.cameras, points = all.points, camera_of = all.camera_of, point_of = all.point_of));

  for (std::size_t k = 0; k < count; ++k) {
    all.is_outlier[k] = uniform(generator) < given.outliers;
    for (std::size_t i = 0; i < 2; ++i) {
      if (all.is_outlier[k]) all.seen(k, i) = 600 * (uniform(generator) - 0.5);
      else all.seen(k, i) += given.noise * normal(generator);
    }
  }
  for (std::size_t i = 0; i < camera_count; ++i) {
    for (std::size_t k = 0; k < 6; ++k) all.cameras(i, k) += 0.02 * normal(generator);
    all.cameras(i, 6) *= 1 + 0.02 * normal(generator);
    all.cameras(i, 7) = all.cameras(i, 8) = 0;
  }
  for (double& x : all.points) x += 0.1 * normal(generator);
  return all;
}

// The root of the mean square of the errors that are no outliers.
double error_of(const scene& all, const table& errors) {
  double sum = 0, counted = 0;
  for (std::size_t k = 0; k < count; ++k)
    if (!all.is_outlier[k]) {
      sum += errors(k, 0) * errors(k, 0) + errors(k, 1) * errors(k, 1);
      ++counted;
    }
  return std::sqrt(sum / counted);
}

int run(const options& given) {
  const scene all = simulate(given);
  std::printf("%lld cameras, %lld points, %lld observations, %lld of them outliers\n", static_cast<long long>(camera_count),
              static_cast<long long>(point_count), static_cast<long long>(count),
              static_cast<long long>(std::count(all.is_outlier.begin(), all.is_outlier.end(), true)));

  const auto seen = placeholder<"seen", double, count, 2>();
  const auto camera_of = placeholder<"camera_of", std::int64_t, count>();
  const auto point_of = placeholder<"point_of", std::int64_t, count>();
  const auto cameras = variable<"cameras", double, camera_count, 9>(std::vector<double>(all.cameras.begin(), all.cameras.end()));
  const auto points = variable<"points", double, point_count, 3>(std::vector<double>(all.points.begin(), all.points.end()));
  const auto damping = untrainable_variable<"damping", double>(1e-3);
  const auto scale = parameter<"scale">(given.scale);

  const auto errors_of = [&](const auto& camera_rows, const auto& point_rows) { return vmap(picture)(camera_rows, point_rows) - seen; };
  const auto errors = errors_of(gather<0>(cameras, camera_of), gather<0>(points, point_of));
  const auto fit = block_levenberg_marquardt<100>(errors_of, indexed(cameras, camera_of), indexed(points, point_of), damping,
                                                 robust::cauchy(scale));

  session s{errors, fit.loss, fit.step};
  s.initialize();
  const auto errors_now = [&] {
    return std::get<0>(s.run(fetch(errors), seen = all.seen, camera_of = all.camera_of, point_of = all.point_of));
  };
  const double before = error_of(all, errors_now());
  auto step = s.prepare(fetch(fit.loss, fit.step), seen = all.seen, camera_of = all.camera_of, point_of = all.point_of);
  double last = 0;
  bool converged = false;
  for (int k = 0; k <= given.steps && !converged; ++k) {
    const double damped = s.value(damping);
    const double loss = std::get<0>(step());
    // A step that does not make the loss smaller is not taken.
    converged = k > 0 && loss < last && last - loss <= 1e-6 * last;
    last = loss;
    std::printf("step %3d   loss %11.3f   damping %.0e\n", k, loss, damped);
  }
  const double after = error_of(all, errors_now());
  std::printf("\n%s\n", converged ? "converged" : "not converged: allow more steps");
  std::printf("error of what is no outlier, root of the mean square:\n");
  std::printf("  before  %8.3f pixels\n  after   %8.3f pixels  (at most %.1f are asked for)\n", before, after, asked_for);
  return converged && after <= asked_for ? 0 : 1;
}

}  // namespace

int main(int number, char** arguments) {
  options given;
  CLI::App app{"Bundle adjustment by the method of Levenberg and Marquardt, with points eliminated and a robust rule."};
  app.option_defaults()->always_capture_default();
  app.add_option("--steps", given.steps, "at most so many steps")->check(CLI::PositiveNumber);
  app.add_option("--noise", given.noise, "standard deviation of what is seen, in pixels along each axis")->check(CLI::NonNegativeNumber);
  app.add_option("--outliers", given.outliers, "share of what is seen that is wrong")->check(CLI::Range(0.0, 1.0));
  app.add_option("--scale", given.scale, "size of errors from which on they are not to be trusted, in pixels")->check(CLI::PositiveNumber);
  app.add_option("--seed", given.seed, "of the simulation");
  CLI11_PARSE(app, number, arguments);
  try {
    return run(given);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bundle_adjustment: %s\n", error.what());
    return 2;
  }
}
