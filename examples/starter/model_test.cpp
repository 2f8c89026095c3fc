// What must hold of the model before it is trained for long: the shapes, the variables, and that a step of training helps.
#include "model.hpp"

#include <cstdio>

namespace {

int failed = 0;

void check(bool holds, const char* what) {
  if (holds) return;
  std::printf("FAILED: %s\n", what);
  failed = 1;
}

}  // namespace

int main() {
  using namespace leat;
  auto points = placeholder<"points", float, "batch", 2>();
  auto inside = placeholder<"inside", std::int64_t, "batch">();
  auto logits = disc_model<"disc">(points);
  auto loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(inside, logits));
  auto train = gradient_descent(0.1f).minimize(loss);

  session s{logits, loss, train};
  s.initialize();
  const disc_points batch(7);
  auto [rows] = s.run(fetch(logits), points = batch.points);
  check(rows.shape(0) == 200 && rows.shape(1) == 2, "two numbers for each point");
  auto [before] = s.run(fetch(loss), points = batch.points, inside = batch.inside);
  for (int step = 0; step < 20; ++step) s.run(fetch(train), points = batch.points, inside = batch.inside);
  auto [after] = s.run(fetch(loss), points = batch.points, inside = batch.inside);
  check(after < before, "twenty steps lower the loss");

  bool refused = false;
  try {
    const xt::xtensor<std::int64_t, 1> too_few{0, 1};
    s.run(fetch(loss), points = batch.points, inside = too_few);
  } catch (const invalid_argument&) {
    refused = true;
  }
  check(refused, "labels of another number of points are refused");
  if (!failed) std::printf("all is well\n");
  return failed;
}
