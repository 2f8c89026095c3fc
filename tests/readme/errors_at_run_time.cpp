// Wrong input that only a run can know of, as docs/errors.md and README.md show it.

#include <leat/leat.hpp>

#include <cstdio>

using namespace leat;

int main() {
  auto x = placeholder<"x", float, "batch", 10>();
  auto y = placeholder<"y", float, "batch">();
  auto w = variable<"w", float, 10, 1>(zeros);
  auto loss = reduce_mean(square(squeeze<1>(matmul(x, w)) - y));
  session s{loss};

  xt::xtensor<float, 2> xs({50, 10}, 1.0f);
  xt::xtensor<float, 1> ys({40}, 1.0f);
  // [listing run_time_error]
  try {
    s.initialize();
    s.run(fetch(loss), x = xs, y = ys);
  } catch (const invalid_argument& problem) {
    std::printf("%s\n", problem.what());
  }
  // [end]

  session fresh{loss};
  ys.resize({50});
  try {
    fresh.run(fetch(loss), x = xs, y = ys);
  } catch (const failed_precondition& problem) {
    std::printf("%s\n", problem.what());
  }
  xt::xtensor<float, 2> wide({50, 11}, 1.0f);
  try {
    s.run(fetch(loss), x = wide, y = ys);
  } catch (const invalid_argument& problem) {
    std::printf("%s\n", problem.what());
  }
}
