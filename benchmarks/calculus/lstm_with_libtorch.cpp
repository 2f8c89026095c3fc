// bench_lstm_libtorch: the steps of calculus_lstm_1 and calculus_lstm_32 (loops.cpp) by libtorch on one thread. Prints the least time of a
// step.

#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace {

void time_steps(int batch, int calls) {
  torch::nn::LSTM lstm(torch::nn::LSTMOptions(64, 64).batch_first(true));
  torch::optim::SGD train(lstm->parameters(), torch::optim::SGDOptions(1e-4));
  const auto x = torch::rand({batch, 100, 64});
  const auto step = [&] {
    train.zero_grad();
    const auto loss = 0.5 * torch::square(std::get<0>(lstm->forward(x))).sum();
    loss.backward();
    train.step();
  };
  double best = 1e9;
  for (int round = 0; round < 40; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (int k = 0; k < calls; ++k) step();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / calls);
  }
  std::printf("calculus_lstm_%-3d libtorch                  %9.1f us\n", batch, 1e6 * best);
}

}  // namespace

int main() {
  torch::set_num_threads(1);
  time_steps(1, 20);
  time_steps(32, 4);
}
