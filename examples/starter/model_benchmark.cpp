// How long a step of training and a prediction take: the median of 200 each.
#include "model.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

template <class Step>
double median_microseconds(Step&& step) {
  std::vector<double> times;
  for (int k = 0; k < 200; ++k) {
    const auto begin = std::chrono::steady_clock::now();
    step();
    times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
  }
  std::nth_element(times.begin(), times.begin() + 100, times.end());
  return times[100];
}

int main() {
  using namespace leat;
  auto points = placeholder<"points", float, "batch", 2>();
  auto inside = placeholder<"inside", std::int64_t, "batch">();
  auto logits = disc_model<"disc">(points);
  auto loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(inside, logits));
  auto train = adam(0.02f).minimize(loss);

  session s{logits, loss, train};
  s.initialize();
  const disc_points batch(1);
  // The arrays are bound once: a step then runs without any lookup, and allocates nothing.
  auto step = s.prepare(fetch(train), points = batch.points, inside = batch.inside);
  auto predict = s.prepare(fetch(logits), points = batch.points);
  std::printf("200 points: training step %.1f us, prediction %.1f us\n", median_microseconds(step), median_microseconds(predict));
}
