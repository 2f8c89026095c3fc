// Trains the model on new points in each step, and says how many of 200 others it gets right. Exits with 1 if fewer than nine of ten.
#include "model.hpp"

#include <cstdio>
#include <exception>

int main() try {
  using namespace leat;
  auto points = placeholder<"points", float, "batch", 2>();
  auto inside = placeholder<"inside", std::int64_t, "batch">();
  auto logits = disc_model<"disc">(points);
  auto loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(inside, logits));
  auto accuracy = reduce_mean(cast<float>(equal(argmax<1>(logits), inside)));
  auto train = adam(0.02f).minimize(loss);

  session s{loss, accuracy, train};
  s.initialize();
  for (int step = 1; step <= 1000; ++step) {
    const disc_points batch(static_cast<std::uint64_t>(step));
    auto [now] = s.run(fetch(loss, train), points = batch.points, inside = batch.inside);
    if (step % 250 == 0) std::printf("step %4d  loss %.2f\n", step, static_cast<double>(now));
  }
  const disc_points others(0);
  auto [right] = s.run(fetch(accuracy), points = others.points, inside = others.inside);
  std::printf("%.0f of 200 new points are right\n", 200 * static_cast<double>(right));
  return right > 0.9f ? 0 : 1;
} catch (const std::exception& problem) {
  std::fprintf(stderr, "train: %s\n", problem.what());
  return 2;
}
