// A network that reads handwritten digits: 1,797 pictures of 8x8 cells (Alpaydin and Kaynak 1998, UCI Machine Learning
// Repository), every fifth of which is held out. Two hidden layers of rectified linear units are trained by Adam with
// minibatches; each picture gets fresh noise each time it is shown, and the learning rate, fed at each step, falls to
// almost zero, so that the last steps settle.
//
//   pictures [batch, 64]
//          |
//   dense "hidden1" [batch, 128], relu
//          |
//   dense "hidden2" [batch, 64], relu        learning_rate (fed)
//          |                                      |
//   dense "output" [batch, 10]  = logits         adam  -->  each kernel and bias, its slots m and v
//          |                   \                  |
//   argmax = digit read        sparse_softmax_cross_entropy_with_logits   <--  labels [batch]
//          |                                      |
//   equal to labels, mean = accuracy          reduce_mean = loss

#include <leat/leat.hpp>

#include "support/table.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

using namespace leat;
using namespace leat::literals;

namespace {

constexpr std::size_t cells = 64;

struct options {
  std::string data = LEAT_EXAMPLE_DATA "/digits.csv";
  int epochs = 60;
  std::size_t batch = 32;
  float rate = 0.003f;
  float noise = 0.2f;
  unsigned seed = 1;
};

struct pictures {
  xt::xtensor<float, 2> cells_of;
  xt::xtensor<std::int64_t, 1> labels;
};

pictures read(const xt::xtensor<double, 2>& rows) {
  pictures result{xt::xtensor<float, 2>::from_shape({rows.shape(0), cells}),
                  xt::xtensor<std::int64_t, 1>::from_shape({rows.shape(0)})};
  for (std::size_t row = 0; row < rows.shape(0); ++row) {
    for (std::size_t cell = 0; cell < cells; ++cell)
      result.cells_of(row, cell) = static_cast<float>(rows(row, cell) / 16);
    const double label = rows(row, cells);
    if (!(label >= 0 && label <= 9) || label != std::floor(label))
      throw std::runtime_error("a label that is not a digit: " + std::to_string(label));
    result.labels(row) = static_cast<std::int64_t>(label);
  }
  return result;
}

int run(const options& given) {
  const examples::table table = examples::read_table(given.data);
  if (table.columns.size() != cells + 1)
    throw std::runtime_error(given.data + ": 64 cells and the digit are expected in each row");
  const examples::split rows = examples::hold_out_every(5, table);
  const pictures training = read(rows.training);
  const pictures held_out = read(rows.held_out);
  const std::size_t batches = rows.training.shape(0) / given.batch;
  if (batches == 0) throw std::runtime_error("a batch is larger than the training data");
  std::printf("%zu pictures to train on, %zu held out\n", rows.training.shape(0), rows.held_out.shape(0));

  auto images = placeholder<"images", float, "batch", cells>();
  auto labels = placeholder<"labels", std::int64_t, "batch">();
  auto rate = parameter<"learning_rate">(0.003f);

  auto hidden1 = relu(dense<"hidden1", 128>(images));
  auto hidden2 = relu(dense<"hidden2", 64>(hidden1));
  auto logits = dense<"output", 10>(hidden2);
  auto loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(labels, logits));
  auto accuracy = reduce_mean(cast<float>(equal(argmax<1>(logits), labels)));
  auto train = adam(rate).minimize(loss);

  session s{loss, accuracy, train};
  s.initialize();

  std::mt19937 generator(given.seed);
  std::normal_distribution<float> noise(0.0f, given.noise);
  std::vector<std::size_t> order(rows.training.shape(0));
  std::iota(order.begin(), order.end(), std::size_t{0});
  auto batch_images = xt::xtensor<float, 2>::from_shape({given.batch, cells});
  auto batch_labels = xt::xtensor<std::int64_t, 1>::from_shape({given.batch});
  float current_rate = given.rate;
  auto step = s.prepare(fetch(loss, train), images = batch_images, labels = batch_labels, rate = current_rate);

  float reached = 0;
  for (int epoch = 0; epoch < given.epochs; ++epoch) {
    std::shuffle(order.begin(), order.end(), generator);
    double sum_of_losses = 0;
    for (std::size_t batch = 0; batch < batches; ++batch) {
      for (std::size_t row = 0; row < given.batch; ++row) {
        const std::size_t from = order[batch * given.batch + row];
        for (std::size_t cell = 0; cell < cells; ++cell)
          batch_images(row, cell) = training.cells_of(from, cell) + noise(generator);
        batch_labels(row) = training.labels(from);
      }
      const float done = (static_cast<float>(epoch) + static_cast<float>(batch) / static_cast<float>(batches)) /
                         static_cast<float>(given.epochs);
      current_rate = given.rate * (1 - 0.95f * done);
      auto [mean_loss] = step();
      sum_of_losses += static_cast<double>(mean_loss);
    }
    const bool last = epoch + 1 == given.epochs;
    if (epoch % std::max(1, given.epochs / 10) != 0 && !last) continue;
    auto [share] = s.run(fetch(accuracy), images = held_out.cells_of, labels = held_out.labels);
    reached = share;
    std::printf("epoch %3d   loss %.4f   held-out accuracy %6.2f %%\n", epoch + 1,
                sum_of_losses / static_cast<double>(batches), 100 * static_cast<double>(share));
  }

  std::printf("\nheld-out accuracy %.2f %%  (at least 97 %% is asked for)\n", 100 * static_cast<double>(reached));
  return reached >= 0.97f ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  options given;
  CLI::App app{"A network of two hidden layers, trained by Adam to read handwritten digits."};
  app.option_defaults()->always_capture_default();
  app.add_option("--data", given.data, "CSV file: a header line, then 64 cells of 0 to 16 and the digit in each row");
  app.add_option("--epochs", given.epochs, "times that each training picture is shown")->check(CLI::PositiveNumber);
  app.add_option("--batch", given.batch, "pictures in a step")->check(CLI::PositiveNumber);
  app.add_option("--rate", given.rate, "learning rate at the start")->check(CLI::PositiveNumber);
  app.add_option("--noise", given.noise, "standard deviation of the noise added to a cell of 0 to 1")
      ->check(CLI::PositiveNumber);
  app.add_option("--seed", given.seed, "seed of the order and of the noise");
  CLI11_PARSE(app, count, arguments);
  try {
    return run(given);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "digits: %s\n", error.what());
    return 2;
  }
}
