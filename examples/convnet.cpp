// A convolutional network that reads handwritten digits, pictures of 8x8 cells (data/README.md names their source), every
// fifth of which is held out. Each picture is moved by up to one cell and gets fresh noise each time it is shown. The
// network is trained by Adam with a learning rate that falls along a schedule in the graph. With --checkpoints the program
// saves its variables after each epoch, and goes on from the newest checkpoint when it is started again, also after it was
// killed; with --logdir it writes the loss and the accuracy for TensorBoard. The graph:
//
//   pictures [batch, 8, 8, 1]
//          |
//   conv "conv1" 3x3, 16 filters, relu [batch, 8, 8, 16]
//          |
//   conv "conv2" 3x3, 32 filters, relu, max_pool 2x2 [batch, 4, 4, 32]
//          |
//   conv "conv3" 3x3, 64 filters, relu, max_pool 2x2 [batch, 2, 2, 64]
//          |
//   dense "output" [batch, 10] = logits      global_step  -->  polynomial_decay = rate
//          |                   \                  |
//   argmax = digit read        cross entropy     adam  -->  each kernel and bias, its slots m and v; global_step
//          |                        |
//   equal to labels,             mean = loss
//   mean = accuracy

#include <leat/checkpoint.hpp>
#include <leat/data.hpp>
#include <leat/leat.hpp>
#include <leat/summary.hpp>

#include "support/moved_pictures.hpp"

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>

using namespace leat;
using namespace leat::literals;

namespace {

struct options {
  std::string data = LEAT_EXAMPLE_DATA "/digits.csv";
  int epochs = 40;
  std::size_t batch = 32;
  float rate = 0.004f;
  float noise = 0.1f;
  unsigned seed = 1;
  std::string logdir, checkpoints;
};

int run(const options& given) {
  const auto training = examples::read_digits(given.data, false);
  const auto held_out = examples::read_digits(given.data, true);
  const auto held_out_images = examples::images_of(held_out);
  const std::size_t batches = training.labels.size() / given.batch;
  if (batches == 0) throw std::runtime_error("a batch is larger than the training data");
  std::printf("%zu pictures to train on, %zu held out\n", training.labels.size(), held_out.labels.size());

  auto images = placeholder<"images", float, "batch", examples::side, examples::side, 1>();
  auto labels = placeholder<"labels", std::int64_t, "batch">();
  auto steps = global_step();
  auto rate = polynomial_decay(given.rate, steps, static_cast<float>(batches) * static_cast<float>(given.epochs), 0.02f * given.rate, 1.0f);

  auto maps1 = relu(conv<"conv1", 16, 3, 1, padding::same>(images));
  auto maps2 = max_pool<2>(relu(conv<"conv2", 32, 3, 1, padding::same>(maps1)));
  auto maps3 = max_pool<2>(relu(conv<"conv3", 64, 3, 1, padding::same>(maps2)));
  auto logits = dense<"output", 10>(flatten_layer(maps3));
  auto digit = argmax<1>(logits);
  auto loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(labels, logits));
  auto accuracy = reduce_mean(cast<float>(equal(digit, labels)));
  auto train = adam(rate).minimize(loss, steps);
  std::printf("\n%s\n", summary_table(loss).c_str());

  session s{loss, accuracy, rate, train};
  s.initialize();
  std::optional<saver> save;
  if (!given.checkpoints.empty()) {
    save.emplace(saver_options{.max_to_keep = 2});
    if (const auto latest = restore_latest(s, given.checkpoints)) std::printf("goes on from %s\n", latest.str().c_str());
  }

  // After a restart the pictures come in another order than without it: the order follows from the seed and from the first step.
  const auto first_step = s.value(steps);
  const auto data = examples::moved_pictures(training, given.noise, given.seed + static_cast<unsigned>(first_step))
                        .batch(given.batch, true)
                        .repeat()
                        .prefetch(8);
  auto shown = data.iterate();
  auto& [batch_images, batch_labels] = shown.element();
  auto step = s.prepare(fetch(loss, train), images = batch_images, labels = batch_labels);
  auto evaluate_all =
      s.prepare(fetch(loss, accuracy, summary::scalar<"loss">(loss), summary::scalar<"accuracy">(accuracy), summary::scalar<"rate">(rate)),
                images = held_out_images, labels = held_out.labels);
  std::optional<summary::file_writer> log;
  if (!given.logdir.empty()) log.emplace(given.logdir);

  const auto began = std::chrono::steady_clock::now();
  float reached = std::get<1>(evaluate_all());
  for (int epoch = static_cast<int>(first_step / static_cast<std::int64_t>(batches)); epoch < given.epochs;) {
    double sum_of_losses = 0;
    for (std::size_t batch = 0; batch < batches && shown.next(); ++batch) sum_of_losses += static_cast<double>(std::get<0>(step()));
    const auto values = evaluate_all();
    reached = std::get<1>(values);
    ++epoch;
    if (log) log->add_summary(values, s.value(steps));
    if (save) save->save(s, given.checkpoints + "/model", s.value(steps));
    examples::report_epoch(epoch, given.epochs, sum_of_losses / static_cast<double>(batches), std::get<0>(values), reached);
  }
  std::printf("\ntrained in %.1f s\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  std::printf("held-out accuracy %.2f %%  (at least 98.5 %% is asked for)\n", 100 * static_cast<double>(reached));
  return reached >= 0.985f ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  options given;
  CLI::App app{"A convolutional network, trained by Adam to read handwritten digits."};
  app.option_defaults()->always_capture_default();
  app.add_option("--data", given.data, "CSV file: a header line, then 64 cells of 0 to 16 and the digit in each row");
  app.add_option("--epochs", given.epochs, "times that each training picture is shown")->check(CLI::PositiveNumber);
  app.add_option("--batch", given.batch, "pictures in a step")->check(CLI::PositiveNumber);
  app.add_option("--rate", given.rate, "learning rate at the start, of which a fiftieth is left at the end")->check(CLI::PositiveNumber);
  app.add_option("--noise", given.noise, "standard deviation of the noise added to a cell of 0 to 1")->check(CLI::PositiveNumber);
  app.add_option("--seed", given.seed, "seed of the order, the moves and the noise");
  app.add_option("--logdir", given.logdir, "a folder for TensorBoard: loss, accuracy and rate");
  app.add_option("--checkpoints", given.checkpoints, "a folder for checkpoints, from the newest of which training goes on");
  CLI11_PARSE(app, count, arguments);
  try {
    return run(given);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "convnet: %s\n", error.what());
    return 2;
  }
}
