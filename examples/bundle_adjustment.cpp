// Bundle adjustment: where points are, and where cameras stood and how they were turned, from where the points are in the pictures. Each
// error sees one camera and one point; the points are eliminated from the system of a step (Schur complement), so that its size is that of the
// cameras. Reads problems of "Bundle Adjustment in the Large" (unpacked), or simulates one. Sizes are names: one compiled program fits all.

#include <leat/calculus.hpp>

#include "support/bal_problem.hpp"

#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdio>
#include <exception>
#include <string>

using namespace leat;
using namespace leat::literals;

namespace {

struct options {
  std::string file;
  int steps = 30;
  std::size_t cameras = 6, points = 200;
  unsigned seed = 1;
};

const auto seen = placeholder<"seen", double, "observations", 2>();

// The errors [n, 2] of cameras [n, 9] that see points [n, 3].
const auto errors = [](const auto& camera, const auto& point) {
  const auto turn = slice<begins<0, 0>, sizes<-1, 3>>(camera);
  const auto angle = sqrt(reduce_sum_keep<1>(square(turn)) + 1e-30_c);
  const auto axis = turn / angle;
  const auto cosine = cos(angle);
  // w × p, of columns that are moved round
  const auto shifted = [](const auto& x, auto by) {
    constexpr std::int64_t k = decltype(by)::value;
    return concat<1>(slice<begins<0, k>, sizes<-1, 3 - k>>(x), slice<begins<0, 0>, sizes<-1, k>>(x));
  };
  const auto one = std::integral_constant<int, 1>{};
  const auto two = std::integral_constant<int, 2>{};
  const auto cross = shifted(axis, one) * shifted(point, two) - shifted(axis, two) * shifted(point, one);
  const auto turned = point * cosine + cross * sin(angle) + axis * (reduce_sum_keep<1>(axis * point) * (1_c - cosine));
  const auto y = turned + slice<begins<0, 3>, sizes<-1, 3>>(camera);
  const auto flat = -slice<begins<0, 0>, sizes<-1, 2>>(y) / slice<begins<0, 2>, sizes<-1, 1>>(y);
  const auto rr = reduce_sum_keep<1>(square(flat));
  const auto k1 = slice<begins<0, 7>, sizes<-1, 1>>(camera);
  const auto k2 = slice<begins<0, 8>, sizes<-1, 1>>(camera);
  return flat * (slice<begins<0, 6>, sizes<-1, 1>>(camera) * (1_c + rr * (k1 + rr * k2))) - seen;
};

int run(const options& given) {
  auto problem = given.file.empty() ? examples::simulated_bal(given.cameras, given.points, given.seed) : examples::read_bal(given.file);
  std::printf("%zu cameras, %zu points, %zu observations\n", problem.cameras.shape(0), problem.points.shape(0), problem.camera_of.size());

  const auto cameras = placeholder<"cameras", double, "camera", 9>();
  const auto points = placeholder<"points", double, "point", 3>();
  const auto camera_of = placeholder<"camera_of", std::int64_t, "observations">();
  const auto point_of = placeholder<"point_of", std::int64_t, "observations">();
  const auto damping = placeholder<"damping", double>();

  const auto [dc, dp] = block_least_squares_direction<30>(errors, indexed(cameras, camera_of), indexed(points, point_of), damping);
  const auto next_cameras = cameras + dc;
  const auto next_points = points + dp;
  const auto mean_square = [&](const auto& c, const auto& p) {
    return reduce_mean(reduce_sum<1>(square(errors(gather<0>(c, camera_of), gather<0>(p, point_of)))));
  };
  const auto loss = mean_square(cameras, points);
  const auto reached = mean_square(next_cameras, next_points);

  session s{loss, reached, next_cameras, next_points};
  double damped = 1e-3, now = 0;
  for (int k = 0; k < given.steps; ++k) {
    const auto [before, after, c, p] =
        s.run(fetch(loss, reached, next_cameras, next_points), cameras = problem.cameras, points = problem.points,
              camera_of = problem.camera_of, point_of = problem.point_of, seen = problem.seen, damping = damped);
    const bool better = after < before;
    if (better) {
      problem.cameras = c;
      problem.points = p;
    }
    damped = better ? std::max(damped * 0.1, 1e-12) : damped * 10;
    now = better ? after : before;
    if (k == 0) std::printf("step   0   error %10.4f pixels (root of the mean square)\n", std::sqrt(before));
    if (k % 5 == 4 || k + 1 == given.steps) std::printf("step %3d   error %10.4f pixels\n", k + 1, std::sqrt(now));
    if (damped > 1e12) break;
  }
  // A simulated problem has a noise of half a pixel along each axis.
  return !given.file.empty() || std::sqrt(now) < 0.75 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  options given;
  CLI::App app{"Bundle adjustment by Levenberg-Marquardt, with points eliminated."};
  app.option_defaults()->always_capture_default();
  app.add_option("--file", given.file, "a problem of \"Bundle Adjustment in the Large\", unpacked; without one a problem is simulated");
  app.add_option("--steps", given.steps, "at most so many steps")->check(CLI::PositiveNumber);
  app.add_option("--cameras", given.cameras, "of a simulated problem")->check(CLI::Range(2, 1000));
  app.add_option("--points", given.points, "of a simulated problem")->check(CLI::Range(10, 100000));
  app.add_option("--seed", given.seed, "of a simulated problem");
  CLI11_PARSE(app, count, arguments);
  try {
    return run(given);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bundle_adjustment: %s\n", error.what());
    return 2;
  }
}
