// The first program of README.md: ten weights and an offset, found again from samples that they made.

// [listing linear_model]
#include <leat/leat.hpp>

#include <cstdio>
#include <utility>
#include <vector>

using namespace leat;
using namespace leat::literals;

using batch = std::pair<xt::xtensor<float, 2>, xt::xtensor<float, 1>>;

// Samples of y = -4 x0 - 3 x1 - ... + 5 x9 + 0.5, in batches of 50.
std::vector<batch> make_batches(int count) {
  std::vector<batch> batches;
  for (std::uint64_t n = 0; batches.size() < static_cast<std::size_t>(count);) {
    auto xs = xt::xtensor<float, 2>::from_shape({50, 10});
    auto ys = xt::xtensor<float, 1>::from_shape({50});
    for (std::size_t row = 0; row < 50; ++row) {
      ys(row) = 0.5f;
      for (std::size_t k = 0; k < 10; ++k) {
        xs(row, k) = 2 * uniform<float>(1, n++) - 1;
        ys(row) += (static_cast<float>(k) - 4) * xs(row, k);
      }
    }
    batches.emplace_back(std::move(xs), std::move(ys));
  }
  return batches;
}

int main() {
  auto x = placeholder<"x", float, "batch", 10>();
  auto y = placeholder<"y", float, "batch">();
  auto w = variable<"w", float, 10, 1>(zeros);
  auto b = variable<"b", float>(0.0f);

  auto prediction = squeeze<1>(matmul(x, w)) + b;
  auto loss = reduce_mean(square(prediction - y));
  auto train = gradient_descent(0.1f).minimize(loss);

  session s{loss, prediction, train};
  s.initialize();
  float last = 0;
  for (const auto& [xs, ys] : make_batches(400)) {
    auto [l] = s.run(fetch(loss, train), x = xs, y = ys);
    last = l;
  }
  xt::xtensor<float, 2> trained = s.value(w);

  std::printf("loss %.4f\n", static_cast<double>(last));
  std::printf("w    %.2f ... %.2f\n", static_cast<double>(trained(0, 0)), static_cast<double>(trained(9, 0)));
  std::printf("b    %.2f\n", static_cast<double>(s.value(b)));
}
// [end]
