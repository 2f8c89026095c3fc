// The second program of README.md: a network of one hidden layer that learns whether a point lies within a circle.

#include <leat/leat.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <tuple>
#include <vector>

// [listing network_model]
using namespace leat;
using namespace leat::literals;

// A model is a function: what goes in and what comes out are expressions.
template <fixed_string Scope, tensor_expression X>
auto network(const X& x) {
  auto hidden = tanh(dense<Scope / "hidden", 32>(x));
  return dense<Scope / "output", 2>(hidden);
}
// [end]

int main() {
  constexpr std::size_t size = 256;
  auto points = xt::xtensor<float, 2>::from_shape({size, 2});
  auto inside = xt::xtensor<std::int64_t, 1>::from_shape({size});
  std::uint64_t n = 0;
  const auto draw = [&] {
    for (std::size_t row = 0; row < size; ++row) {
      points(row, 0) = 2 * uniform<float>(7, n++) - 1;
      points(row, 1) = 2 * uniform<float>(7, n++) - 1;
      inside(row) = std::hypot(points(row, 0), points(row, 1)) < 0.7f ? 1 : 0;
    }
  };
  draw();

  // [listing network_training]
  auto x = placeholder<"x", float, "batch", 2>();
  auto label = placeholder<"label", std::int64_t, "batch">();
  auto rate = parameter<"learning_rate">(0.01f);

  auto logits = network<"circle">(x);
  auto loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(label, logits));
  auto accuracy = reduce_mean(cast<float>(equal(argmax<1>(logits), label)));
  auto train = adam(rate).minimize(loss);

  session s{loss, accuracy, train};
  s.initialize();
  auto step = s.prepare(fetch(train), x = points, label = inside);
  for (int k = 0; k < 1000; ++k) {
    draw();  // new points, in the same arrays
    step();
  }
  auto [l, right] = s.run(fetch(loss, accuracy), x = points, label = inside);
  // [end]

  // [listing network_gradients]
  auto kernel = variable<"circle/hidden/kernel", float, 2, 32>(glorot_uniform());
  auto [slope] = gradients(loss, kernel);
  auto clipped = clip_by_norm(slope, 1_c);
  auto careful = gradient_descent(0.05f).apply_gradients(with_variable(clipped, kernel));

  session other{loss, careful};
  other.initialize();
  other.run(fetch(careful), x = points, label = inside);
  // [end]

  std::printf("accuracy above 0.95: %s\n", right > 0.95f ? "yes" : "no");
  return right > 0.95f && l < 0.2f ? 0 : 1;
}
