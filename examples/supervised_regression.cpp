// The linear regression of linear_regression.cpp as a run that watches itself: it saves while it trains, is killed in the middle, goes
// on from its newest checkpoint, and ends with the weights of a run that was never killed, to the bit.
//
//   FOLDER: model.ckpt-N, events   <--- checkpoint_saver, summary_saver, step_counter ---+
//       | newest one, at the start                                                       |
//       v                                                                                |
//   session: x, y ---> loss ---> w, b    <--- supervised_loop: before, step, after ------+--- nan_tensor, progress, stop_at_step
//            ^ mini-batches, drawn by a seed and a position, which is saved, too
//
// Without arguments the program starts itself three times: one run that is killed with signal 9, one that resumes it, one in peace.

#include <leat/leat.hpp>
#include <leat/supervise.hpp>
#include <leat/supervise/supervised_loop.hpp>

#include "support/least_squares.hpp"
#include "support/table.hpp"

#include <CLI/CLI.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

using namespace leat;

namespace {

constexpr std::size_t measurements = 10;
constexpr std::size_t batch = 32;

struct options {
  std::string data = LEAT_EXAMPLE_DATA "/diabetes.csv";
  std::string folder;
  int steps = 3000;
  int kill_at = 0;
};

// The weights, to the bit.
std::string weights_text(const xt::xtensor<float, 2>& w, float b) {
  std::string text;
  char number[32];
  for (const float v : w) {
    std::snprintf(number, sizeof number, "%a ", static_cast<double>(v));
    text += number;
  }
  std::snprintf(number, sizeof number, "%a\n", static_cast<double>(b));
  return text + number;
}

// Trains to the last step, from the newest checkpoint of the folder if there is one.
void train_in(const options& given) {
  const examples::table table = examples::read_table(given.data);
  if (table.columns.size() != measurements + 1)
    throw std::runtime_error(given.data + ": ten measurements and the progression are expected in each row");
  const examples::split rows = examples::hold_out_every(5, table);
  const examples::scale scale(rows.training);

  auto x = placeholder<"x", float, "patients", measurements>();
  auto y = placeholder<"y", float, "patients">();
  auto w = variable<"w", float, measurements, 1>(zeros);
  auto b = variable<"b", float>(0.0f);
  auto loss = reduce_mean(square(squeeze<1>(matmul(x, w)) + b - y));
  auto train = adam(0.05f).minimize(loss);

  auto xs = xt::xtensor<float, 2>::from_shape({batch, measurements});
  auto ys = xt::xtensor<float, 1>::from_shape({batch});
  std::uint64_t drawn = 0;  // where the sequence of random rows is
  const auto draw = [&] {
    for (std::size_t k = 0; k < batch; ++k) {
      const auto row = static_cast<std::size_t>(uniform<float>(5, drawn++) * static_cast<float>(rows.training.shape(0)));
      for (std::size_t c = 0; c < measurements; ++c) xs(k, c) = static_cast<float>(scale(rows.training(row, c), c));
      ys(k) = static_cast<float>(rows.training(row, measurements));
    }
  };

  session s{loss, train};
  auto step = s.prepare(fetch(train, summary::scalar<"loss">(loss)), x = xs, y = ys);
  supervised_loop training(
      s,
      {.checkpoint_dir = given.folder,
       .save_checkpoint_steps = 250,
       .parts = {{"rows",
                  {.save = [&] { return std::to_string(drawn); }, .restore = [&](const std::string& text) { drawn = std::stoull(text); }}}},
       .save_summaries_steps = 100,
       .log_step_count_steps = 1000,
       .hooks = {stop_at_step(given.steps), nan_tensor("loss"), progress({.last_step = given.steps, .loss = "loss"})}});
  if (training.global_step() > 0) std::printf("goes on from step %lld\n", static_cast<long long>(training.global_step()));
  training.loop([&] {
    if (given.kill_at > 0 && training.global_step() == given.kill_at) std::raise(SIGKILL);
    draw();
    return step();
  });
  std::ofstream(given.folder + "/weights.txt") << weights_text(s.value(w), s.value(b));
}

// Runs this program again and waits for it; returns the signal that ended it, or 0.
int run_again(const char* program, const std::string& data, const std::string& folder, int steps, int kill_at) {
  const std::string all_steps = std::to_string(steps), at = std::to_string(kill_at);
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("no further process can be started");
  if (child == 0) {
    ::execl(program, program, "--data", data.c_str(), "--folder", folder.c_str(), "--steps", all_steps.c_str(), "--kill-at", at.c_str(),
            static_cast<char*>(nullptr));
    std::_Exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) throw std::runtime_error("a run has failed");
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

int kill_and_resume(const char* program, const options& given) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("leat_regression." + std::to_string(::getpid()));
  const std::string parts = (folder / "killed").string(), whole = (folder / "in_peace").string();
  const int moment = given.steps / 2 + 17;
  std::printf("a run, killed at step %d: signal %d\n", moment, run_again(program, given.data, parts, given.steps, moment));
  std::printf("the same run, started again\n");
  run_again(program, given.data, parts, given.steps, 0);
  std::printf("a run in peace\n");
  run_again(program, given.data, whole, given.steps, 0);
  const std::string weights = text_of(folder / "killed" / "weights.txt");
  const bool equal = !weights.empty() && weights == text_of(folder / "in_peace" / "weights.txt");
  std::filesystem::remove_all(folder);
  std::printf("the weights of both are %s\n", equal ? "equal to the bit" : "not equal");
  return equal ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  options given;
  CLI::App app{"Linear regression that is killed, goes on from its newest checkpoint, and ends as if it had not been."};
  app.option_defaults()->always_capture_default();
  app.add_option("--data", given.data, "CSV file: a header line, then ten measurements and the progression");
  app.add_option("--steps", given.steps, "training steps")->check(CLI::PositiveNumber);
  app.add_option("--folder", given.folder, "trains in this folder alone, on from its newest checkpoint");
  app.add_option("--kill-at", given.kill_at, "with --folder: the step at which the run kills itself with signal 9");
  CLI11_PARSE(app, count, arguments);
  try {
    if (given.folder.empty()) return kill_and_resume("/proc/self/exe", given);
    train_in(given);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "supervised_regression: %s\n", error.what());
    return 2;
  }
}
