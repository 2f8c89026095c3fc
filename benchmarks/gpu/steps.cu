// bench_gpu_steps: steps of typed sessions on the current GPU; with_torch.py times the same steps by PyTorch.
// Training steps are fed from the host's memory and their loss is fetched. Operations on arrays read and write variables, so that only
// the device's memory is used. Prints the least time of a step in microseconds.

#include "timing.hpp"

using namespace leat_bench;

namespace {

void linear_regression() {
  const auto x = placeholder<"x", float, "batch", 10>();
  const auto y = placeholder<"y", float, "batch">();
  const auto w = variable<"w", float, 10, 1>(zeros);
  const auto b = variable<"b", float>(0.0f);
  const auto loss = reduce_mean(square(squeeze<1>(matmul(x, w)) + b - y));
  const auto train = gradient_descent(0.01_c).minimize(loss);
  for (const std::size_t batch : {1U, 100U, 100000U}) {
    auto xs = numbers<float, 2>({batch, 10});
    auto ys = numbers<float, 1>({batch});
    training("linear regression, " + std::to_string(batch), loss, train, x = xs, y = ys);
    const pinned of_x(xs);
    const pinned of_y(ys);
    training("linear regression, " + std::to_string(batch) + ", pinned", loss, train, x = xs, y = ys);
  }
}

void network() {
  const auto images = placeholder<"images", float, 64, 784>();
  const auto labels = placeholder<"labels", std::int32_t, 64>();
  const auto first = relu(dense<"first", 256>(images, 1));
  const auto second = relu(dense<"second", 128>(first, 2));
  const auto logits = dense<"logits", 10>(second, 3);
  const auto loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(labels, logits));
  auto xs = numbers<float, 2>({64, 784});
  const auto ys = numbers<std::int32_t, 1>({64}, 10);
  training("network, gradient descent", loss, gradient_descent(0.01_c).minimize(loss), images = xs, labels = ys);
  training("network, Adam", loss, adam(0.001_c).minimize(loss), images = xs, labels = ys);
  const pinned of_images(xs);
  training("network, Adam, pinned", loss, adam(0.001_c).minimize(loss), images = xs, labels = ys);
}

void arrays() {
  const auto first = variable<"first", float, 10000000>(random_uniform(0.0, 1.0, 1));
  const auto second = variable<"second", float, 10000000>(random_uniform(0.0, 1.0, 2));
  const auto third = variable<"third", float, 10000000>(zeros);
  time_of("max(x * y + 1, x) of 1e7", 50, assign(third, maximum(first * second + 1_c, first)));
  time_of("exp(x * y) of 1e7", 50, assign(third, exp(first * second)));
  time_of("sum of 1e7", 50, assign(variable<"total", float>(zeros), reduce_sum(first)));

  const auto table = variable<"table", float, 4096, 1024>(random_uniform(-1.0, 1.0, 3));
  const auto bias = variable<"bias", float, 1024>(random_uniform(-1.0, 1.0, 4));
  const auto to = variable<"to", float, 4096, 1024>(zeros);
  time_of("x + bias of [4096, 1024]", 50, assign(to, table + bias));
  time_of("softmax of [4096, 1024]", 50, assign(to, softmax(table)));
  time_of("sum over columns of [4096, 1024]", 50, assign(variable<"rows", float, 4096>(zeros), reduce_sum<1>(table)));
  time_of("sum over rows of [4096, 1024]", 50, assign(variable<"columns", float, 1024>(zeros), reduce_sum<0>(table)));
  time_of("layer normalization of [4096, 1024]", 50,
            assign(to, (table - reduce_mean_keep<1>(table)) *
                         rsqrt(reduce_mean_keep<1>(square(table - reduce_mean_keep<1>(table))) + 0.00001_c)));
  const auto turned = variable<"turned", float, 1024, 4096>(zeros);
  time_of("transpose of [4096, 1024]", 50, assign(turned, transpose(table)));

  const auto left = variable<"left", float, 1024, 1024>(random_uniform(-1.0, 1.0, 5));
  const auto right = variable<"right", float, 1024, 1024>(random_uniform(-1.0, 1.0, 6));
  const auto product = variable<"product", float, 1024, 1024>(zeros);
  time_of("matmul of [1024, 1024]", 50, assign(product, matmul(left, right)));
}

}  // namespace

int main() {
  if (!has_gpu()) return 77;
  linear_regression();
  network();
  arrays();
}
