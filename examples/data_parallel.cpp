// Training on several ranks: each process computes the gradients of its part of the data, and all apply their mean.
//
//    rank 0: x, y ---> loss ---> dw, db --+               +--> w, b    equal on all ranks,
//                                         +-- mean of all-+            in each step
//    rank 1: x, y ---> loss ---> dw, db --+   (MPI)       +--> w, b
//
//    mpirun -n 2 ./data_parallel
//
// Without mpirun it is one rank with all of the data. The results are the same but for rounding.

#include <leat/collective.hpp>
#include <leat/leat.hpp>

#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdio>
#include <exception>
#include <random>
#include <vector>

using namespace leat;

namespace {

constexpr int batch = 64;  // of all ranks together

int train_on_all(int steps) {
  collective::communicator ranks;
  if (batch % ranks.size() != 0) {
    std::fprintf(stderr, "%d rows are not as many for each of %d ranks\n", batch, ranks.size());
    return 2;
  }
  const int own = batch / ranks.size();

  // [listing data_parallel]
  auto x = placeholder<"x", float, "batch", 2>();
  auto y = placeholder<"y", float, "batch">();
  auto w = variable<"w", float, 2, 1>(random_uniform(-1, 1));
  auto b = variable<"b", float>(zeros);
  auto loss = reduce_mean(square(squeeze<1>(matmul(x, w)) + b - y));
  auto mean_loss = all_reduce<reduce_by::mean, "mean_loss">(loss);
  auto train = data_parallel(momentum(0.05f, 0.5f)).minimize(loss);

  session s{mean_loss, train};
  s.initialize();
  broadcast_variables(s);
  // [end]

  // y = 2 x0 - 3 x1 + 0.5, with noise: all ranks draw the same rows, and each takes its own.
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> xs(static_cast<std::size_t>(2 * own)), ys(static_cast<std::size_t>(own));
  float last = 0;
  for (int k = 0; k < steps; ++k) {
    for (int row = 0; row < batch; ++row) {
      const float x0 = normal(random), x1 = normal(random), noise = 0.01f * normal(random);
      const int mine = row - ranks.rank() * own;
      if (mine < 0 || mine >= own) continue;
      xs[static_cast<std::size_t>(2 * mine)] = x0;
      xs[static_cast<std::size_t>(2 * mine + 1)] = x1;
      ys[static_cast<std::size_t>(mine)] = 2 * x0 - 3 * x1 + 0.5f + noise;
    }
    const auto [now] = s.run(fetch(mean_loss, train), x = xs, y = ys);
    last = now;
  }
  const auto found = s.value(w);
  const float shift = s.value(b);
  if (ranks.rank() == 0)
    std::printf("%d ranks, %d steps: w = [%.3f %.3f], b = %.3f, loss %.5f\n", ranks.size(), steps, static_cast<double>(found(0, 0)),
                static_cast<double>(found(1, 0)), static_cast<double>(shift), static_cast<double>(last));
  const bool reached = std::abs(found(0, 0) - 2) < 0.02f && std::abs(found(1, 0) + 3) < 0.02f && std::abs(shift - 0.5f) < 0.02f;
  return reached ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Linear regression on all ranks of an MPI run");
  int steps = 200;
  app.add_option("--steps", steps, "steps of training")->check(CLI::NonNegativeNumber);
  CLI11_PARSE(app, argc, argv);
  try {
    return train_on_all(steps);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
