// The program of docs/index.md: a straight line, fitted.
// [listing start]
#include <leat/leat.hpp>

#include <cstdio>
#include <vector>

using namespace leat;

int main() {
  // Samples of y = 2 x + 1.
  const std::vector<float> xs{0, 1, 2, 3, 4, 5}, ys{1, 3, 5, 7, 9, 11};

  auto x = placeholder<"x", float, "batch">();
  auto y = placeholder<"y", float, "batch">();
  auto w = variable<"w", float>(0.0f);
  auto b = variable<"b", float>(0.0f);

  auto loss = reduce_mean(square(w * x + b - y));
  auto train = gradient_descent(0.05f).minimize(loss);

  session s{loss, train};
  s.initialize();
  for (int step = 0; step < 1000; ++step) s.run(fetch(train), x = xs, y = ys);
  auto [error] = s.run(fetch(loss), x = xs, y = ys);

  std::printf("y = %.2f x + %.2f\n", double{s.value(w)}, double{s.value(b)});
  std::printf("loss %.6f\n", double{error});
}
// [end]
