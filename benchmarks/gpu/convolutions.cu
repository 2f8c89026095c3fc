// bench_gpu_convolutions: a training step of LeNet on the current GPU; with_torch.py times the same step by PyTorch.

#include "timing.hpp"

using namespace leat_bench;

namespace {

void lenet() {
  const auto x = placeholder<"x", float, 64, 28, 28, 1>();
  const auto y = placeholder<"y", std::int32_t, 64>();
  const auto maps1 = max_pool<2>(relu(conv<"conv1", 6, 5, 1, padding::same>(x)));
  const auto maps2 = max_pool<2>(relu(conv<"conv2", 16, 5>(maps1)));
  const auto hidden1 = relu(dense<"hidden1", 120>(flatten_layer(maps2)));
  const auto hidden2 = relu(dense<"hidden2", 84>(hidden1));
  const auto loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(y, dense<"logits", 10>(hidden2)));
  const auto xs = numbers<float, 4>({64, 28, 28, 1});
  const auto ys = numbers<std::int32_t, 1>({64}, 10);
  training("LeNet, Adam", loss, adam(0.001_c).minimize(loss), x = xs, y = ys);
}

}  // namespace

int main() {
  if (!has_gpu()) return 77;
  lenet();
}
