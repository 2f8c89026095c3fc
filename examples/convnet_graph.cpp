// The convolutional network of convnet.cpp as a graph that is built at run time, with TensorFlow's layers and names: the number
// of stages and of filters are options of the program. The graph, with two stages:
//
//   pictures [batch, 8, 8, 1]
//          |
//   conv2d 3x3, 16 filters, batch_normalization, relu, max_pooling2d 2x2 [batch, 4, 4, 16]
//          |
//   conv2d_1 3x3, 32 filters, batch_normalization_1, relu, max_pooling2d_1 2x2 [batch, 2, 2, 32]
//          |
//   flatten, dropout, logits [batch, 10]       global_step  -->  rate
//          |          \                           |
//   argmax = digit    cross entropy = loss  -->  adam, after the moving averages of the normalizations
//          |
//   equal to labels, mean = accuracy

#include <leat/data.hpp>
#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/session/graph_session.hpp>

#include "support/moved_pictures.hpp"

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

using namespace leat;

namespace {

struct options {
  std::string data = LEAT_EXAMPLE_DATA "/digits.csv";
  int epochs = 60;
  std::size_t batch = 32;
  int stages = 2;
  int filters = 16;
  float rate = 0.01f;
  float noise = 0.1f;
  unsigned seed = 1;
};

output network(const output& pictures, const output& training, const options& given) {
  output x = pictures;
  std::int64_t filters = given.filters;
  for (int k = 0; k < given.stages; ++k, filters *= 2) {
    x = layers::conv2d(x, filters, 3, {.pad = padding::same, .use_bias = false});
    x = relu(batch_normalization_layer(x, {.training = training, .momentum = 0.9}).y, {});
    x = layers::max_pooling2d(x, 2, 2);
  }
  x = layers::dropout(layers::flatten(x), 0.2, {.training = training, .seed = given.seed});
  return layers::dense(x, 10, {.name = "logits"});
}

int run(const options& given) {
  const auto training_pictures = examples::read_digits(given.data, false);
  const auto held_out = examples::read_digits(given.data, true);
  const auto held_out_images = examples::images_of(held_out);
  const std::size_t batches = training_pictures.labels.size() / given.batch;
  if (batches == 0) throw std::runtime_error("a batch is larger than the training data");
  std::printf("%zu pictures to train on, %zu held out\n", training_pictures.labels.size(), held_out.labels.size());

  graph g;
  const auto here = g.as_default();
  const auto pictures = placeholder(dtype::float32, {-1, examples::side, examples::side, 1}, "pictures");
  const auto labels = placeholder(dtype::int64, {-1}, "labels");
  const auto training = placeholder(dtype::boolean, {}, "training");
  const auto steps = create_global_step();
  const auto rate =
      polynomial_decay(given.rate, steps, static_cast<std::int32_t>(batches) * given.epochs, {.end_learning_rate = 0.02f * given.rate});
  const auto logits = network(pictures, training, given);
  const auto loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(labels, logits), all_axes);
  const auto digit = argmax(logits, 1);
  const auto accuracy = reduce_mean(cast(equal(digit, labels), dtype::float32), all_axes);
  const auto train = [&] {
    const control_dependencies wait(get_collection(g, collection::update_ops));
    return adam(rate).minimize(loss, steps);
  }();
  std::printf("\n%s\n", summary_table(g).c_str());

  graph_session s(g);
  s.run(global_variables_initializer());
  const auto data = examples::moved_pictures(training_pictures, given.noise, given.seed).batch(given.batch, true).repeat().prefetch(8);
  auto shown = data.iterate();
  auto& [batch_pictures, batch_labels] = shown.element();
  auto step = s.prepare({loss, train}, {pictures, labels, training});
  auto evaluate = s.prepare({loss, accuracy}, {pictures, labels, training});

  const auto began = std::chrono::steady_clock::now();
  float reached = 0;
  for (int epoch = 1; epoch <= given.epochs; ++epoch) {
    double sum_of_losses = 0;
    for (std::size_t k = 0; k < batches && shown.next(); ++k)
      sum_of_losses += static_cast<double>(step(batch_pictures, batch_labels, true)[0].as<float>());
    const auto& values = evaluate(held_out_images, held_out.labels, false);
    reached = values[1].as<float>();
    examples::report_epoch(epoch, given.epochs, sum_of_losses / static_cast<double>(batches), values[0].as<float>(), reached);
  }
  std::printf("\ntrained in %.1f s\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  std::printf("held-out accuracy %.2f %%  (at least 97 %% is asked for)\n", 100 * static_cast<double>(reached));
  return reached >= 0.97f ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  options given;
  CLI::App app{"A convolutional network, built as a graph at run time and trained by Adam to read handwritten digits."};
  app.option_defaults()->always_capture_default();
  app.add_option("--data", given.data, "CSV file: a header line, then 64 cells of 0 to 16 and the digit in each row");
  app.add_option("--epochs", given.epochs, "times that each training picture is shown")->check(CLI::PositiveNumber);
  app.add_option("--batch", given.batch, "pictures in a step")->check(CLI::PositiveNumber);
  app.add_option("--stages", given.stages, "convolutions, each with a pool behind it")->check(CLI::Range(1, 3));
  app.add_option("--filters", given.filters, "filters of the first convolution, doubled by each")->check(CLI::Range(1, 256));
  app.add_option("--rate", given.rate, "learning rate at the start, of which a fiftieth is left at the end")->check(CLI::PositiveNumber);
  app.add_option("--noise", given.noise, "standard deviation of the noise added to a cell of 0 to 1")->check(CLI::PositiveNumber);
  app.add_option("--seed", given.seed, "seed of the order, the moves, the noise and the dropout");
  CLI11_PARSE(app, count, arguments);
  try {
    return run(given);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "convnet_graph: %s\n", error.what());
    return 2;
  }
}
