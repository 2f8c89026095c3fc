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
  xt::xtensor<float, 2> xs = xt::zeros<float>({32, 10});
  xt::xtensor<float, 1> ys = xt::ones<float>({32});
  for (int i = 0; i < 32; ++i)
    for (int j = 0; j < 10; ++j) {
      xs(i, j) = static_cast<float>((7 * i + 3 * j * j + i * j) % 11) / 11 - 0.5f;
      ys(i) += static_cast<float>(j) * xs(i, j);
    }
  for (int i = 0; i < 1000; ++i) {
    auto [l] = s.run(fetch(loss, train), x = xs, y = ys);
    if (i % 100 == 0) std::printf("%g\n", static_cast<double>(l));
  }
  const xt::xtensor<float, 2> trained = s.value(w);
  std::printf("%g\n", static_cast<double>(trained(9, 0)));
}
