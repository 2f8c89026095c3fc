// Ways to feed a model: arrays fed by hand, and datasets. (A queue between threads is in 13_queues.cpp.)
//
//   x_i, y_i --> from_tensor_slices --> batch(1) --> repeat(20) --> fed as x, y --> z = W x + b, cost, gradient descent
//
// Data: x_i = -1 + 2 i / 99, y_i = 2 x_i + 0.3 sin(7 i), i = 0..99.

#include <leat/data.hpp>
#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/session/graph_session.hpp>

#include "support/notes.hpp"

#include <cmath>
#include <numeric>

using namespace leat;
using namespace leat::examples;
using namespace leat::literals;

namespace {

struct samples {
  std::vector<float> x, y;
};
samples line() {
  samples d;
  for (int i = 0; i < 100; ++i) {
    const double x = -1 + 2.0 * i / 99;
    d.x.push_back(static_cast<float>(x));
    d.y.push_back(static_cast<float>(2 * x + 0.3 * std::sin(7.0 * i)));
  }
  return d;
}
constexpr double last_digit = 1.5e-5;

// W and b after 20 passes, one sample at a time, fed by `each(step(x, y))`.
template <class Each>
std::vector<float> trained(Each each) {
  graph g;
  auto here = g.as_default();
  const auto x = placeholder(dtype::float32), y = placeholder(dtype::float32);
  const auto w = variable({0.0f}, "weight"), b = variable(0.0f, "bias");
  const auto cost = reduce_mean(square(subtract(y, add(multiply(x, w), b))));
  const auto train = gradient_descent(0.01f).minimize(cost);
  graph_session s(g);
  s.run(global_variables_initializer());
  each([&](const auto& one_x, const auto& one_y) { s.run(train, {{x, one_x}, {y, one_y}}); });
  return {s.run<std::vector<float>>(w)[0], s.run<float>(b)};
}

std::vector<float> by_hand() {
  return trained([](auto step) {
    const samples d = line();
    for (int pass = 0; pass < 20; ++pass)
      for (std::size_t i = 0; i < 100; ++i) step(std::vector{d.x[i]}, std::vector{d.y[i]});
  });
}

void feeding() {
  item("13.1", "arrays fed by hand");
  const auto got = by_hand();
  expect("W", got[0], 2.00828f, last_digit);
  expect("b", got[1], 0.00652f, last_digit);
}

void datasets() {
  item("13.3", "0 to 9, shuffled by a seed, in batches of 3, twice");
  const auto data = dataset::range(10).shuffle(10, 1).batch(3).repeat(2);
  std::vector<std::int64_t> sizes, sums{0, 0}, order;
  for (auto& [row] : data) {
    sums[sizes.size() / 4] += std::accumulate(row.begin(), row.end(), std::int64_t{0});
    sizes.push_back(static_cast<std::int64_t>(row.size()));
    order.insert(order.end(), row.begin(), row.end());
  }
  expect("sizes of the batches", sizes, {3, 3, 3, 1, 3, 3, 3, 1});
  expect("sum of each pass", sums, {45, 45});
  std::vector<std::int64_t> again;
  for (auto& [row] : data) again.insert(again.end(), row.begin(), row.end());
  expect_true("the same order for the same seed", order == again);
  expect_true("another order in the second pass", !std::equal(order.begin(), order.begin() + 10, order.begin() + 10));

  const samples d = line();
  const auto pairs = dataset::from_tensor_slices(d.x, d.y).batch(1).repeat(20).prefetch(2);
  const auto fed = trained([&](auto step) {
    for (auto& [x, y] : pairs) step(x, y);
  });
  expect_equal("8.1 by a dataset, to the bit", fed, by_hand());

  auto x = leat::placeholder<"x", float, "n">();
  auto y = leat::placeholder<"y", float, "n">();
  auto w = leat::variable<"weight", float, 1>(zeros);
  auto b = leat::variable<"bias", float>(0.0f);
  auto train = gradient_descent(0.01f).minimize(reduce_mean(square(y - (x * w + b))));
  session s{train};
  s.initialize();
  auto rows = pairs.iterate();
  auto& [one_x, one_y] = rows.element();
  auto step = s.prepare(fetch(train), x = one_x, y = one_y);
  while (rows.next()) step();
  expect_equal("typed, to the bit", std::vector{s.value(w)(0), s.value(b)}, fed);
}

}  // namespace

int main(int count, char** arguments) {
  return run_sections(count, arguments, "Ways to feed a model.",
                      {{"feeding", "arrays fed by hand", feeding}, {"datasets", "datasets", datasets}});
}
