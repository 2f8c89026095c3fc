// Linear regression on real data: how far a disease progresses within a year, predicted from ten measurements of 442
// patients (Efron, Hastie, Johnstone and Tibshirani 2004). Every fifth patient is held out; the others train the
// weights by gradient descent; the error on those held out is printed beside that of the closed-form solution.
//
//   x [patients, 10]   w [10, 1]          y [patients]
//          \             /                     |
//           matmul [patients, 1]               |
//                  |                           |
//           squeeze [patients]    b []         |
//                      \         /             |
//                       +  prediction ------>  -        gradients of the loss
//                                              |          |            |
//                                            square    w -= rate *  b -= rate *
//                                              |          |            |
//                                         reduce_mean --> loss      train (both)

#include <leat/leat.hpp>

#include "support/least_squares.hpp"
#include "support/table.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

using namespace leat;
using namespace leat::literals;

namespace {

constexpr std::size_t measurements = 10;

struct options {
  std::string data = LEAT_EXAMPLE_DATA "/diabetes.csv";
  int steps = 3000;
  float rate = 0.1f;
};

struct patients {
  xt::xtensor<float, 2> inputs;
  xt::xtensor<float, 1> targets;
};

patients scaled(const xt::xtensor<double, 2>& rows, const examples::scale& scale) {
  patients result{xt::xtensor<float, 2>::from_shape({rows.shape(0), measurements}),
                  xt::xtensor<float, 1>::from_shape({rows.shape(0)})};
  for (std::size_t row = 0; row < rows.shape(0); ++row) {
    for (std::size_t column = 0; column < measurements; ++column)
      result.inputs(row, column) = static_cast<float>(scale(rows(row, column), column));
    result.targets(row) = static_cast<float>(rows(row, measurements));
  }
  return result;
}

int run(const options& given) {
  const examples::table table = examples::read_table(given.data);
  if (table.columns.size() != measurements + 1)
    throw std::runtime_error(given.data + ": ten measurements and the progression are expected in each row");
  const examples::split rows = examples::hold_out_every(5, table);
  const examples::scale scale(rows.training);
  const patients training = scaled(rows.training, scale);
  const patients held_out = scaled(rows.held_out, scale);
  std::printf("%zu patients to train on, %zu held out\n", rows.training.shape(0), rows.held_out.shape(0));

  auto x = placeholder<"x", float, "patients", measurements>();
  auto y = placeholder<"y", float, "patients">();
  auto w = variable<"w", float, measurements, 1>(zeros);
  auto b = variable<"b", float>(0.0f);
  auto rate = parameter<"learning_rate">(given.rate);

  auto prediction = squeeze<1>(matmul(x, w)) + b;
  auto loss = reduce_mean(square(prediction - y));
  auto train = gradient_descent(rate).minimize(loss);

  session s{loss, prediction, train};
  s.initialize();
  auto step = s.prepare(fetch(loss, train), x = training.inputs, y = training.targets);
  for (int done = 0; done < given.steps; ++done) {
    auto [mean_square] = step();
    if (done % std::max(1, given.steps / 10) == 0)
      std::printf("step %5d   training error %8.4f\n", done, std::sqrt(static_cast<double>(mean_square)));
  }

  auto [predicted] = s.run(fetch(prediction), x = held_out.inputs);
  const double trained = examples::root_mean_squared_error(predicted, held_out.targets);
  const auto weights = examples::least_squares(training.inputs, training.targets);
  const double exact =
      examples::root_mean_squared_error(examples::predict(weights, held_out.inputs), held_out.targets);
  const double difference = 100 * (trained / exact - 1);

  const xt::xtensor<float, 2> found = s.value(w);
  std::printf("\n%12s %12s %12s\n", "measurement", "trained", "closed form");
  for (std::size_t column = 0; column < measurements; ++column)
    std::printf("%12s %12.4f %12.4f\n", table.columns[column].c_str(), static_cast<double>(found(column, 0)),
                weights[column]);
  std::printf("\nheld-out error, root of the mean square:\n");
  std::printf("  trained by gradient descent  %8.4f\n", trained);
  std::printf("  closed form                  %8.4f\n", exact);
  std::printf("  difference                   %+8.4f %%  (at most 1 %% is asked for)\n", difference);
  return std::abs(difference) <= 1 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  options given;
  CLI::App app{"Linear regression on the diabetes data, beside the closed-form least-squares solution."};
  app.option_defaults()->always_capture_default();
  app.add_option("--data", given.data, "CSV file: a header line, then ten measurements and the progression");
  app.add_option("--steps", given.steps, "steps of gradient descent over all rows")->check(CLI::PositiveNumber);
  app.add_option("--rate", given.rate, "learning rate")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, count, arguments);
  try {
    return run(given);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "linear_regression: %s\n", error.what());
    return 2;
  }
}
