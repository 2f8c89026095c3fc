// Linear regression as in the README: the smallest whole program.
#include <leat/leat.hpp>

#include <cstdio>

int main() {
  using namespace leat;
  auto x = placeholder<"x", float, "batch", 10>();
  auto y = placeholder<"y", float, "batch">();
  auto w = variable<"w", float, 10, 1>(zeros);
  auto b = variable<"b", float>(0.0f);

  auto prediction = squeeze<1>(matmul(x, w)) + b;
  auto loss = reduce_mean(square(prediction - y));
  auto train = gradient_descent(0.1f).minimize(loss);

  session s{loss, prediction, train};
  s.initialize();
  const xt::xtensor<float, 2> xs = xt::ones<float>({32, 10});
  const xt::xtensor<float, 1> ys = xt::ones<float>({32});
  for (int i = 0; i < 100; ++i) {
    auto [l] = s.run(fetch(loss, train), x = xs, y = ys);
    if (i % 10 == 0) std::printf("%g\n", static_cast<double>(l));
  }
  const xt::xtensor<float, 2> trained = s.value(w);
  std::printf("%g\n", static_cast<double>(trained(0, 0)));
}
