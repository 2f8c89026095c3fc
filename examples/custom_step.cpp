// A training step of one's own: gradients as expressions, clipped before they are used, and an update that waits for
// others. The function is Rosenbrock's valley, (1 - p)^2 + 100 (q - p^2)^2, whose walls are so steep that unclipped
// gradient descent of this rate leaves it for good; its minimum is at p = q = 1.
//
//   p ---+-- valley -- gradients -- clip_by_global_norm -- p -= rate * clipped --+
//   q --/                                              \-- q -= rate * clipped --+
//                                                                                | after both
//                                                                          steps += 1

#include <leat/leat.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>

using namespace leat;
using namespace leat::literals;

namespace {

int run(int steps) {
  auto p = variable<"p", double>(-3.0);
  auto q = variable<"q", double>(-4.0);
  auto steps_done = untrainable_variable<"steps_done", std::int64_t>(0);

  auto valley = square(1_c - p) + 100_c * square(q - square(p));
  auto [dp, dq] = gradients(valley, p, q);
  auto norm = global_norm(dp, dq);
  auto [step_p, step_q] = clip_by_global_norm(1_c, dp, dq);
  auto move_p = assign_sub(p, 0.001_c * step_p);
  auto move_q = assign_sub(q, 0.001_c * step_q);
  auto count = after(assign_add(steps_done, 1_c), move_p, move_q);

  session s{valley, norm, count};
  s.initialize();
  std::int64_t done = 0;
  while (done < steps) {
    auto [height, steepness, counted] = s.run(fetch(valley, norm, count));
    if (done % std::max(1, steps / 10) == 0)
      std::printf("step %6lld   height %15.8f   norm of the gradient %15.6f\n", static_cast<long long>(done), height,
                  steepness);
    done = counted;
  }
  const double found_p = s.value(p), found_q = s.value(q);
  std::printf("\nafter %lld steps p = %.6f and q = %.6f; the minimum is at 1 and 1\n",
              static_cast<long long>(done), found_p, found_q);
  return std::hypot(found_p - 1, found_q - 1) < 0.01 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  int steps = 20000;
  CLI::App app{"Clipped gradient descent in Rosenbrock's valley, with a training step written by hand."};
  app.option_defaults()->always_capture_default();
  app.add_option("--steps", steps, "steps to take")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, count, arguments);
  try {
    return run(steps);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "custom_step: %s\n", error.what());
    return 2;
  }
}
