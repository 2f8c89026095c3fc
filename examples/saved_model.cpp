// A model that is trained here, compiled by the C++ compiler, and run elsewhere by its names: linear regression on the patients of
// linear_regression.cpp, saved with its variables, loaded again, and compared. What is saved is a folder that the command `leat`
// shows and runs:
//
//   saved_model --folder diabetes
//   leat show diabetes
//   leat run diabetes --feed 'measurements=[[59, 2, 32.1, 101, 157, 93.2, 38, 4, 4.8598, 87]]'
//
//   x --- MatMul w --- + b --- y --- loss --- train          session   (typed, compiled)
//                                 \ saved: graph.json, variables.safetensors
//                                  \ loaded: graph_session   (names, at run time)

#include <leat/graphs.hpp>
#include <leat/io/saved_typed_model.hpp>
#include <leat/leat.hpp>

#include "support/table.hpp"

#include <CLI/CLI.hpp>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

using namespace leat;
using namespace leat::literals;

namespace {

constexpr std::size_t measurements = 10;

int run(const std::string& data, const std::string& wanted_folder, int steps) {
  const examples::table table = examples::read_table(data);
  if (table.columns.size() != measurements + 1)
    throw std::runtime_error(data + ": ten measurements and the progression are expected in each row");
  const examples::scale scale(table.values);
  auto measured = xt::xtensor<float, 2>::from_shape({table.rows(), measurements});
  auto progressed = xt::xtensor<float, 1>::from_shape({table.rows()});
  auto means = xt::xtensor<float, 1>::from_shape({measurements}), deviations = means;
  for (std::size_t k = 0; k < measurements; ++k) {
    means(k) = static_cast<float>(-scale(0, k) / (scale(1, k) - scale(0, k)));
    deviations(k) = static_cast<float>(1 / (scale(1, k) - scale(0, k)));
    for (std::size_t row = 0; row < table.rows(); ++row) measured(row, k) = static_cast<float>(table.values(row, k));
  }
  for (std::size_t row = 0; row < table.rows(); ++row)
    progressed(row) = static_cast<float>(table.values(row, measurements));

  // The model takes measurements as they are: what they are scaled by is part of it.
  auto x = placeholder<"x", float, "patients", measurements>();
  auto y = placeholder<"y", float, "patients">();
  auto mean = untrainable_variable<"mean", float, measurements>(zeros);
  auto deviation = untrainable_variable<"deviation", float, measurements>(ones);
  auto w = variable<"w", float, measurements, 1>(zeros);
  auto b = variable<"b", float>(0.0f);
  auto prediction = squeeze<1>(matmul((x - mean) / deviation, w)) + b;
  auto loss = reduce_mean(square(prediction - y));
  auto train = gradient_descent(0.1_c).minimize(loss);

  session s{prediction, loss, train};
  s.initialize();
  s.assign(mean, means);
  s.assign(deviation, deviations);
  for (int step = 0; step < steps; ++step) s.run(fetch(train), x = measured, y = progressed);
  auto [expected, squared] = s.run(fetch(prediction, loss), x = measured, y = progressed);
  const double error = std::sqrt(static_cast<double>(squared));
  std::printf("trained %d steps: error %.2f\n", steps, error);

  const std::string own_name = "leat_example_saved_model." + std::to_string(::getpid());  // of this program, should another run beside it
  const auto folder = wanted_folder.empty() ? std::filesystem::temp_directory_path() / own_name : std::filesystem::path(wanted_folder);
  io::save_model(
      folder, s,
      {.signatures = {{"serving_default", {.inputs = {{"measurements", x}}, .outputs = {{"progression", prediction}}}}},
       .collections = {{"train_op", {train}}},
       .metadata = {{"trained on", "442 patients"}}});
  std::printf("saved to %s\n", wanted_folder.empty() ? "a temporary folder" : wanted_folder.c_str());

  const io::saved_model loaded = io::load_model(folder);
  const auto found =
      loaded.run("serving_default", {{"measurements", measured}})["progression"].as<xt::xtensor<float, 1>>();
  double difference = 0;
  for (std::size_t row = 0; row < table.rows(); ++row)
    difference = std::max(difference, static_cast<double>(std::abs(found(row) - expected(row))));
  std::printf("loaded: %zu variables, %d nodes; its predictions differ by %s\n", saved_variables(loaded.graph()).size(),
              loaded.graph().size(), difference < 0.01 ? "less than 0.01" : std::to_string(difference).c_str());
  if (wanted_folder.empty()) std::filesystem::remove_all(folder);
  return difference < 0.01 && error < 54 ? 0 : 1;  // least squares: 53.48
}

}  // namespace

int main(int count, char** arguments) {
  std::string data = LEAT_EXAMPLE_DATA "/diabetes.csv", folder;
  int steps = 3000;
  CLI::App app{"Trains a compiled model, saves it, and runs what was saved by its names."};
  app.add_option("--data", data, "a CSV file with ten measurements and the progression");
  app.add_option("--folder", folder, "where the model goes; a temporary folder that is removed otherwise");
  app.add_option("--steps", steps, "training steps")->check(CLI::PositiveNumber)->capture_default_str();
  CLI11_PARSE(app, count, arguments);
  try {
    return run(data, folder, steps);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "saved_model: %s\n", error.what());
    return 2;
  }
}
