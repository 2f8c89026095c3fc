// A network that reads handwritten digits: 1,797 pictures of 8x8 cells (Alpaydin and Kaynak 1998, UCI Machine Learning
// Repository), every fifth of which is held out. Two hidden layers of rectified linear units are trained by Adam with
// minibatches; each picture gets fresh noise each time it is shown, and the learning rate falls to almost zero along a
// schedule in the graph, so that the last steps settle. Training stops early when the loss of the held-out pictures has
// not become less for so many epochs. TensorBoard shows both losses and the accuracy (--logdir), and the model is saved
// with its signature (--export), for `leat run` and programs without this one. The pipeline of the data:
//
//   rows of the file -> every fifth held out -> arrays -> shuffle -> noise -> batch -> repeat -> prefetch
//
// and the graph:
//
//   pictures [batch, 64]
//          |
//   dense "hidden1" [batch, 128], relu
//          |
//   dense "hidden2" [batch, 64], relu        global_step  -->  polynomial_decay = rate
//          |                                      |
//   dense "output" [batch, 10]  = logits         adam  -->  each kernel and bias, its slots m and v; global_step
//          |                   \                  |
//   argmax = digit read        sparse_softmax_cross_entropy_with_logits   <--  labels [batch]
//          |                                      |
//   equal to labels, mean = accuracy          reduce_mean = loss

#include <leat/data.hpp>
#include <leat/io/saved_typed_model.hpp>
#include <leat/leat.hpp>
#include <leat/summary.hpp>

#include "support/digits_table.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <tuple>

using namespace leat;
using namespace leat::literals;

namespace {

struct options {
  std::string data = LEAT_EXAMPLE_DATA "/digits.csv";
  int epochs = 60;
  std::size_t batch = 32;
  float rate = 0.003f;
  float noise = 0.2f;
  int patience = 20;
  unsigned seed = 1;
  std::string logdir, model;
};

int run(const options& given) {
  const auto training = examples::read_digits(given.data, false);
  const auto held_out = examples::read_digits(given.data, true);
  const std::size_t batches = training.labels.size() / given.batch;
  if (batches == 0) throw std::runtime_error("a batch is larger than the training data");
  std::printf("%zu pictures to train on, %zu held out\n", training.labels.size(), held_out.labels.size());

  const auto all_steps = static_cast<float>(batches) * static_cast<float>(given.epochs);

  auto images = placeholder<"images", float, "batch", examples::cells>();
  auto labels = placeholder<"labels", std::int64_t, "batch">();
  auto steps = global_step();
  auto rate = polynomial_decay(given.rate, steps, all_steps, 0.05f * given.rate, 1.0f);

  auto hidden1 = relu(dense<"hidden1", 128>(images));
  auto hidden2 = relu(dense<"hidden2", 64>(hidden1));
  auto logits = dense<"output", 10>(hidden2);
  auto digit = argmax<1>(logits);
  auto loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(labels, logits));
  auto accuracy = reduce_mean(cast<float>(equal(digit, labels)));
  auto train = adam(rate).minimize(loss, steps);

  session s{loss, accuracy, rate, digit, train};
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
  auto step = s.prepare(fetch(loss, train), images = batch_images, labels = batch_labels);
  auto evaluate_all =
      s.prepare(fetch(loss, accuracy, summary::scalar<"loss">(loss), summary::scalar<"accuracy">(accuracy), summary::scalar<"rate">(rate)),
                images = held_out.cells_of, labels = held_out.labels);
  std::optional<summary::file_writer> training_log, held_out_log;
  if (!given.logdir.empty()) training_log.emplace(given.logdir + "/training"), held_out_log.emplace(given.logdir + "/held_out");

  float reached = 0, least = std::numeric_limits<float>::infinity();
  int least_at = 0, epoch = 0;
  while (epoch < given.epochs && epoch - least_at < given.patience) {
    double sum_of_losses = 0;
    for (std::size_t batch = 0; batch < batches && shown.next(); ++batch) sum_of_losses += static_cast<double>(std::get<0>(step()));
    const double mean_loss = sum_of_losses / static_cast<double>(batches);
    const auto values = evaluate_all();
    const auto [held_out_loss, share] = std::tuple(std::get<0>(values), std::get<1>(values));
    ++epoch;
    if (training_log) training_log->add_scalar("loss", static_cast<float>(mean_loss), s.value(steps));
    if (held_out_log) held_out_log->add_summary(values, s.value(steps));
    reached = share;
    if (held_out_loss < least) least = held_out_loss, least_at = epoch;
    examples::report_epoch(epoch, given.epochs, mean_loss, held_out_loss, share);
  }
  if (epoch < given.epochs) std::printf("stopped after epoch %d: the least loss was that of epoch %d\n", epoch, least_at);
  if (!given.model.empty()) {
    io::save_model(
        given.model, s,
        {.signatures = {{"serving_default", {.inputs = {{"images", images}}, .outputs = {{"digit", digit}, {"logits", logits}}}}},
         .whole_graph = false});
    std::printf("the model is in %s\n", given.model.c_str());
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
  app.add_option("--rate", given.rate, "learning rate at the start, of which a twentieth is left at the end")->check(CLI::PositiveNumber);
  app.add_option("--noise", given.noise, "standard deviation of the noise added to a cell of 0 to 1")->check(CLI::PositiveNumber);
  app.add_option("--patience", given.patience, "epochs without a lesser loss of the held-out pictures after which training stops")
      ->check(CLI::PositiveNumber);
  app.add_option("--seed", given.seed, "seed of the order and of the noise");
  app.add_option("--logdir", given.logdir, "a folder for TensorBoard: losses, accuracy and rate");
  app.add_option("--export", given.model, "a folder for the trained model, with its signature");
  CLI11_PARSE(app, count, arguments);
  try {
    return run(given);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "digits: %s\n", error.what());
    return 2;
  }
}
