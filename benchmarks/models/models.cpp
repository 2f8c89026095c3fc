// bench_models THREADS: training steps of two models, by the library alone; with_tensorflow.py and with_libtorch.cpp time the same steps.
// LeNet: 64 images of 28x28, two convolutions 5x5 of 6 and 16 filters with pools, three dense layers, cross entropy, Adam; in a compiled
// session and in a graph. LSTM: two layers of 128 units over 64 steps of 32 sequences of 128 numbers, mean squared error, Adam; in a graph.
// Prints the least time of a step.

#include <leat/cpu/parallel.hpp>
#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/session/graph_session.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace leat;

namespace {

constexpr int rounds = 30;

// The least time of a step, in milliseconds, of `rounds` times `calls`.
template <class Step>
double least_time(int calls, Step step) {
  double best = 1e9;
  for (int round = 0; round < rounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (int k = 0; k < calls; ++k) step();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / calls);
  }
  return 1e3 * best;
}
float number_at(std::size_t i) { return static_cast<float>((i * 2654435761U) % 1000) / 1000.0f; }

void lenet_typed(int threads) {
  const auto x = placeholder<"x", float, "batch", 28, 28, 1>();
  const auto y = placeholder<"y", std::int64_t, "batch">();
  const auto maps1 = max_pool<2>(relu(conv<"conv1", 6, 5, 1, padding::same>(x)));
  const auto maps2 = max_pool<2>(relu(conv<"conv2", 16, 5>(maps1)));
  const auto hidden1 = relu(dense<"hidden1", 120>(flatten_layer(maps2)));
  const auto hidden2 = relu(dense<"hidden2", 84>(hidden1));
  const auto loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(y, dense<"logits", 10>(hidden2)));
  const auto train = adam(0.001f).minimize(loss);
  session s{loss, train};
  s.initialize();
  xt::xtensor<float, 4> images(std::array<std::size_t, 4>{64, 28, 28, 1});
  for (std::size_t i = 0; i < images.size(); ++i) images.data()[i] = number_at(i);
  std::vector<std::int64_t> labels(64);
  for (std::size_t i = 0; i < 64; ++i) labels[i] = static_cast<std::int64_t>(i % 10);
  auto step = s.prepare(fetch(loss, train), x = images, y = labels);
  std::printf("lenet  leat, compiled   threads %d  %7.3f ms\n", threads, least_time(10, [&] { step(); }));
}

void lenet_in_graph(int threads) {
  graph g;
  const auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {64, 28, 28, 1}, "x");
  const output y = placeholder(dtype::int64, {64}, "y");
  const auto convolved = [](const output& in, std::int64_t channels, std::int64_t filters, padding p, const std::string& name) {
    const output kernel = get_variable(name + "/kernel", {5, 5, channels, filters});
    const output bias = get_variable(name + "/bias", {filters}, {.initializer = zeros});
    return max_pool(relu(bias_add(conv2d(in, kernel, {1, 1, 1, 1}, p), bias)), {1, 2, 2, 1}, {1, 2, 2, 1}, padding::valid);
  };
  const output maps = convolved(convolved(x, 1, 6, padding::same, "conv1"), 6, 16, padding::valid, "conv2");
  const output hidden1 = layers::dense(reshape(maps, {64, 400}), 120, {.activation = layers::relu});
  const output hidden2 = layers::dense(hidden1, 84, {.activation = layers::relu});
  const output loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(y, layers::dense(hidden2, 10)));
  const auto train = adam(0.001f).minimize(loss);
  graph_session s(g, {.intra_op_parallelism_threads = threads});
  s.run(global_variables_initializer());
  tensor_value images(dtype::float32, x.extent()), labels(dtype::int64, y.extent());
  for (std::size_t i = 0; i < images.values<float>().size(); ++i) images.values<float>()[i] = number_at(i);
  for (std::size_t i = 0; i < 64; ++i) labels.values<std::int64_t>()[i] = static_cast<std::int64_t>(i % 10);
  const std::vector<graph_element> wanted{loss, train};
  std::printf("lenet  leat, graph      threads %d  %7.3f ms\n", threads, least_time(10, [&] { s.run(wanted, {{x, images}, {y, labels}}); }));
}

void lstm_in_graph(int threads) {
  graph g;
  const auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {32, 64, 128}, "x");
  const output y = placeholder(dtype::float32, {32, 64, 128}, "y");
  const auto [outputs, state] = dynamic_rnn(multi_cell({basic_lstm_cell(128), basic_lstm_cell(128)}), x);
  const output loss = reduce_mean(square(outputs - y));
  const auto train = adam(0.001f).minimize(loss);
  graph_session s(g, {.intra_op_parallelism_threads = threads});
  s.run(global_variables_initializer());
  tensor_value in(dtype::float32, x.extent()), wanted_out(dtype::float32, x.extent());
  for (std::size_t i = 0; i < in.values<float>().size(); ++i) {
    in.values<float>()[i] = number_at(i);
    wanted_out.values<float>()[i] = 0.5f * number_at(i);
  }
  const std::vector<graph_element> wanted{loss, train};
  std::printf("lstm   leat, graph      threads %d  %7.2f ms\n", threads, least_time(1, [&] { s.run(wanted, {{x, in}, {y, wanted_out}}); }));
}

}  // namespace

int main(int count, char** arguments) {
  const int threads = count > 1 ? std::atoi(arguments[1]) : 1;
  cpu::set_thread_count(std::max(1, threads));
  lenet_typed(threads);
  lenet_in_graph(threads);
  lstm_in_graph(threads);
}
