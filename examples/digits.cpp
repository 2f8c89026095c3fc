// A network that reads handwritten digits: 1,797 pictures of 8x8 cells (Alpaydin and Kaynak 1998, UCI Machine Learning
// Repository), every fifth of which is held out. Two hidden layers of rectified linear units are trained by Adam with
// minibatches; each picture gets fresh noise each time it is shown, and the learning rate, fed at each step, falls to
// almost zero, so that the last steps settle. The pipeline of the data:
//
//   rows of the file -> every fifth held out -> arrays -> shuffle -> noise -> batch -> repeat -> prefetch
//
// and the graph:
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

#include <leat/data.hpp>
#include <leat/leat.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
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

// Every fifth row of the file, or the others: all of them are one batch.
pictures read(const options& given, bool held_out) {
  const auto rows = dataset::zip(dataset::range(std::numeric_limits<std::int64_t>::max()),
                                 dataset::csv<std::array<float, cells>, std::int64_t>(given.data));
  pictures result;
  const auto chosen = rows.filter([held_out](std::int64_t row, const auto&, std::int64_t) { return (row % 5 == 0) == held_out; })
                          .map([](std::int64_t row, std::array<float, cells>& picture, std::int64_t label) {
                            if (label < 0 || label > 9)
                              throw std::runtime_error("row " + std::to_string(row) + ": a label that is no digit");
                            for (float& cell : picture) cell /= 16;
                            return std::tuple(picture, label);
                          });
  for (auto& [all, labels] : chosen.batch(1000000)) result = {all, labels};
  if (result.labels.size() == 0) throw std::runtime_error(given.data + ": too few rows");
  return result;
}

int run(const options& given) {
  const pictures training = read(given, false);
  const pictures held_out = read(given, true);
  const std::size_t batches = training.labels.size() / given.batch;
  if (batches == 0) throw std::runtime_error("a batch is larger than the training data");
  std::printf("%zu pictures to train on, %zu held out\n", training.labels.size(), held_out.labels.size());

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

  const auto data = dataset::from_tensor_slices(training.cells_of, training.labels)
                        .shuffle(training.labels.size(), given.seed)
                        .modify(
                            [normal = std::normal_distribution<float>(0.0f, given.noise)](
                                data::random_stream& random, xt::xtensor<float, 1>& picture, std::int64_t&) mutable {
                              normal.reset();
                              for (float& cell : picture) cell += normal(random);
                            },
                            given.seed)
                        .batch(given.batch, true)
                        .repeat(static_cast<std::uint64_t>(given.epochs))
                        .prefetch(8);
  auto shown = data.iterate();
  auto& [batch_images, batch_labels] = shown.element();
  float current_rate = given.rate;
  auto step = s.prepare(fetch(loss, train), images = batch_images, labels = batch_labels, rate = current_rate);

  float reached = 0;
  for (int epoch = 0; epoch < given.epochs; ++epoch) {
    double sum_of_losses = 0;
    for (std::size_t batch = 0; batch < batches && shown.next(); ++batch) {
      const float done =
          (static_cast<float>(epoch) + static_cast<float>(batch) / static_cast<float>(batches)) / static_cast<float>(given.epochs);
      current_rate = given.rate * (1 - 0.95f * done);
      auto [mean_loss] = step();
      sum_of_losses += static_cast<double>(mean_loss);
    }
    const bool last = epoch + 1 == given.epochs;
    if (epoch % std::max(1, given.epochs / 10) != 0 && !last) continue;
    auto [share] = s.run(fetch(accuracy), images = held_out.cells_of, labels = held_out.labels);
    reached = share;
    std::printf("epoch %3d   loss %.4f   held-out accuracy %6.2f %%\n", epoch + 1, sum_of_losses / static_cast<double>(batches),
                100 * static_cast<double>(share));
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
  app.add_option("--noise", given.noise, "standard deviation of the noise added to a cell of 0 to 1")->check(CLI::PositiveNumber);
  app.add_option("--seed", given.seed, "seed of the order and of the noise");
  CLI11_PARSE(app, count, arguments);
  try {
    return run(given);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "digits: %s\n", error.what());
    return 2;
  }
}
