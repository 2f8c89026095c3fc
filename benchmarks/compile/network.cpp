// A 784-256-128-10 network trained by Adam.
#include <leat/leat.hpp>

#include <cstdint>
#include <cstdio>

int main() {
  using namespace leat;
  auto x = placeholder<"x", float, "batch", 784>();
  auto y = placeholder<"y", std::int32_t, "batch">();
  auto hidden1 = relu(dense<"hidden1", 256>(x));
  auto hidden2 = relu(dense<"hidden2", 128>(hidden1));
  auto logits = dense<"logits", 10>(hidden2);
  auto loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(y, logits));
  auto train = adam(0.001f).minimize(loss);

  session s{loss, train};
  s.initialize();
  const xt::xtensor<float, 2> xs = xt::ones<float>({64, 784});
  const xt::xtensor<std::int32_t, 1> ys = xt::ones<std::int32_t>({64});
  for (int i = 0; i < 100; ++i) {
    auto [l] = s.run(fetch(loss, train), x = xs, y = ys);
    if (i % 10 == 0) std::printf("%g\n", static_cast<double>(l));
  }
}
