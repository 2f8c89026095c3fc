// bench_libtorch THREADS: the steps of models.cpp by libtorch. Prints the least time of a step.

#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

template <class Step>
double least_time(int calls, Step step) {
  double best = 1e9;
  for (int round = 0; round < 30; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (int k = 0; k < calls; ++k) step();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / calls);
  }
  return 1e3 * best;
}

}  // namespace

int main(int count, char** arguments) {
  const int threads = count > 1 ? std::atoi(arguments[1]) : 1;
  torch::set_num_threads(threads);
  using namespace torch::nn;
  Sequential net(Conv2d(Conv2dOptions(1, 6, 5).padding(2)), ReLU(), MaxPool2d(2), Conv2d(6, 16, 5), ReLU(), MaxPool2d(2), Flatten(),
                 Linear(400, 120), ReLU(), Linear(120, 84), ReLU(), Linear(84, 10));
  torch::optim::Adam train(net->parameters(), torch::optim::AdamOptions(0.001));
  const auto images = torch::rand({64, 1, 28, 28});
  const auto labels = torch::arange(64, torch::kLong) % 10;
  const double lenet = least_time(10, [&] {
    train.zero_grad();
    const auto loss = functional::cross_entropy(net->forward(images), labels);
    loss.backward();
    train.step();
    static_cast<void>(loss.item<float>());
  });
  std::printf("lenet  libtorch         threads %d  %7.3f ms\n", threads, lenet);
  LSTM lstm(LSTMOptions(128, 128).num_layers(2).batch_first(true));
  torch::optim::Adam train_lstm(lstm->parameters(), torch::optim::AdamOptions(0.001));
  const auto x = torch::rand({32, 64, 128});
  const auto y = 0.5 * x;
  const double recurrent = least_time(1, [&] {
    train_lstm.zero_grad();
    const auto loss = torch::mean(torch::square(std::get<0>(lstm->forward(x)) - y));
    loss.backward();
    train_lstm.step();
    static_cast<void>(loss.item<float>());
  });
  std::printf("lstm   libtorch         threads %d  %7.2f ms\n", threads, recurrent);
}
