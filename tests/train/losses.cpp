#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/planned.hpp>
#include <leat/session/graph_session.hpp>
#include <leat/train/losses.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using namespace leat;
using namespace leat::literals;
using losses::reduction;

namespace {

const xt::xtensor<float, 2> four_rows{{0.1f, 0.2f, 0.3f}, {0.3f, 0.4f, 0.5f}, {0.6f, 0.7f, 0.8f}, {0.9f, 0.1f, 0.4f}};
const xt::xtensor<float, 2> their_labels{{0, 1, 0}, {1, 0, 0}, {0, 0, 1}, {3, 0, -5}};
// Weights of every shape that broadcasts to [4, 3].
const std::vector<xt::xtensor<float, 2>> weight_forms{{{2.5f}},
                                                      {{0.56f}, {0}, {1.32f}, {0.7f}},
                                                      {{0.56f, 0.58f, 1.32f}},
                                                      {{0.56f, 0, 1.32f}, {1, 2, 3}, {0, 0, 1}, {0.25f, 0.5f, 1}}};
constexpr reduction all_reductions[]{reduction::none, reduction::sum, reduction::mean, reduction::sum_over_batch_size,
                                     reduction::sum_by_nonzero_weights};

std::vector<float> elements(const tensor_value& v) {
  if (v.extent().rank == 0) return {v.as<float>()};
  const auto array = v.as<xt::xtensor<float, 2>>();
  return {array.begin(), array.end()};
}
template <class Result>
std::vector<float> elements(const Result& v) {
  if constexpr (std::is_arithmetic_v<Result>) return {v};
  else return {v.begin(), v.end()};
}
bool are_close(const std::vector<float>& a, const std::vector<float>& b) {
  bool same = a.size() == b.size();
  for (std::size_t k = 0; same && k < a.size(); ++k) same = std::abs(a[k] - b[k]) <= 1e-5f + 1e-4f * std::abs(b[k]);
  return same;
}

// The losses of graphs with names, which are compared with TensorFlow's (train/named/losses_reference.cpp), and their gradients by
// predictions and weights.
struct graph_losses {
  graph g;
  output x, y, w;
  std::vector<output> all;
  graph_losses() {
    const auto scope = g.as_default();
    x = placeholder(dtype::float32, {-1, 3}, "x");
    y = placeholder(dtype::float32, {-1, 3}, "y");
    w = placeholder(dtype::float32, {-1, -1}, "w");
    for (const reduction r : all_reductions) add(losses::mean_squared_error(y, x, {.weights = w, .reduction = r}));
    add(losses::mean_pairwise_squared_error(y, x, {.weights = w}));
  }
  void add(const output& loss) {
    all.push_back(loss);
    for (const output& slope : gradients({loss}, {x, w})) all.push_back(slope);
  }
  std::vector<tensor_value> run(graph_session& s, const xt::xtensor<float, 2>& weights) const {
    return s.run(all, {{x, four_rows}, {y, their_labels}, {w, weights}});
  }
};

}  // namespace

TEST_CASE("weights of every form, and settings that are numbers, parameters, constants") {
  auto x = placeholder<"x", float, "batch", 2>();
  auto y = placeholder<"y", float, "batch", 2>();
  auto w = placeholder<"w", float, "batch", 1>();
  auto delta = parameter<"delta">(0.5f);
  auto plain = losses::absolute_difference(y, x);
  auto weighted = losses::absolute_difference(y, x, w);
  auto number = losses::absolute_difference<losses::reduction::sum>(y, x, 3.0f);
  auto huber = losses::huber_loss(y, x, 1_c, delta);
  auto each = losses::compute_weighted_loss<losses::reduction::none>(abs(y - x), w);
  session s{plain, weighted, number, huber, each};
  s.initialize();
  const xt::xtensor<float, 2> xs{{1, 2}, {3, 4}}, ys{{0, 0}, {0, 0}}, ws{{1}, {0}};
  auto [a, b, c, d, e] = s.run(fetch(plain, weighted, number, huber, each), x = xs, y = ys, w = ws);
  CHECK(a == doctest::Approx(2.5));
  CHECK(b == doctest::Approx(1.5));
  CHECK(c == doctest::Approx(30));
  CHECK(d == doctest::Approx(0.5 * 2.5 - 0.125));
  CHECK(e(0, 1) == 2);
  CHECK(e(1, 1) == 0);
  auto [f] = s.run(fetch(huber), x = xs, y = ys, delta = 10.0f);
  CHECK(f == doctest::Approx(30.0 / 8));
}

TEST_CASE("a batch without samples has the loss 0") {
  auto x = placeholder<"x", float, "batch", 2>();
  auto y = placeholder<"y", float, "batch", 2>();
  auto loss = losses::mean_squared_error(y, x);
  auto mean = losses::mean_squared_error<losses::reduction::mean>(y, x, 2.0f);
  session s{loss, mean};
  const xt::xtensor<float, 2> none = xt::xtensor<float, 2>::from_shape({0, 2});
  auto [a, b] = s.run(fetch(loss, mean), x = none, y = none);
  CHECK(a == 0.0f);
  CHECK(b == 0.0f);
}

TEST_CASE("a loss with regularizers trains variables") {
  auto x = placeholder<"x", float, "batch", 3>();
  auto y = placeholder<"y", float, "batch">();
  auto w = variable<"w", float, 3, 1>(zeros);
  auto loss = losses::mean_squared_error(y, squeeze<1>(matmul(x, w)));
  auto term = l1_regularizer(0.001f)(w) + l2_regularizer(0.001f)(w) + l1_l2_regularizer(0.0f, 0.0f)(w);
  auto train = gradient_descent(0.1f).minimize(loss + term);
  session s{loss, term, train};
  s.initialize();
  const xt::xtensor<float, 2> xs{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
  const xt::xtensor<float, 1> ys{1, 2, 3, 6};
  for (int k = 0; k < 300; ++k) s.run(fetch(train), x = xs, y = ys);
  auto [l, t] = s.run(fetch(loss, term), x = xs, y = ys);
  CHECK(l < 0.001f);
  CHECK(t == doctest::Approx(0.001 * 6 + 0.001 * 7).epsilon(0.01));
}

TEST_CASE("weights that broadcast: typed losses agree with those of graphs, whatever the batch is called") {
  graph_losses expected;
  graph_session graphs(expected.g);
  const auto compare = [&](const auto& x, const auto& y, const auto& w, const xt::xtensor<float, 2>& weights) {
    using losses::mean_squared_error;
    const auto each = mean_squared_error<reduction::none>(y, x, w);
    const auto mean = mean_squared_error<reduction::mean>(y, x, w);
    const auto over_batch = mean_squared_error<reduction::sum_over_batch_size>(y, x, w);
    const auto by_nonzero = mean_squared_error(y, x, w);
    const auto pairwise = losses::mean_pairwise_squared_error(y, x, w);
    const auto [by_x, by_w] = gradients(mean, x, w);
    planned_session s{each, mean, over_batch, by_nonzero, pairwise, by_x, by_w};
    const auto got = s.run(fetch(each, mean, over_batch, by_nonzero, pairwise, by_x, by_w), x = four_rows, y = their_labels, w = weights);
    const auto wanted = expected.run(graphs, weights);
    CHECK(are_close(elements(std::get<0>(got)), elements(wanted[0])));
    CHECK(are_close(elements(std::get<1>(got)), elements(wanted[6])));
    CHECK(are_close(elements(std::get<2>(got)), elements(wanted[9])));
    CHECK(are_close(elements(std::get<3>(got)), elements(wanted[12])));
    CHECK(are_close(elements(std::get<4>(got)), elements(wanted[15])));
    CHECK(are_close(elements(std::get<5>(got)), elements(wanted[7])));
    CHECK(are_close(elements(std::get<6>(got)), elements(wanted[8])));
  };
  const auto x = placeholder<"x", float, "batch", 3>();
  const auto y = placeholder<"y", float, "batch", 3>();
  compare(x, y, placeholder<"w", float, 1, 1>(), weight_forms[0]);
  compare(x, y, placeholder<"w", float, "batch", 1>(), weight_forms[1]);
  compare(x, y, placeholder<"w", float, 1, 3>(), weight_forms[2]);
  compare(x, y, placeholder<"w", float, "batch", 3>(), weight_forms[3]);
  const auto four = placeholder<"x", float, 4, 3>();
  const auto labels = placeholder<"y", float, 4, 3>();
  compare(four, labels, placeholder<"w", float, 4, 1>(), weight_forms[1]);
  compare(four, labels, placeholder<"w", float, 1, 3>(), weight_forms[2]);
}

TEST_CASE("typed losses that became a graph take weights of every shape that broadcasts") {
  graph_losses expected;
  graph_session wanted_of(expected.g);
  const auto x = placeholder<"x", float, "batch", "classes">();
  const auto y = placeholder<"y", float, "batch", "classes">();
  const auto w = placeholder<"w", float, "batch", "classes">();
  graph g;
  const auto scope = g.as_default();
  const auto made = to_graph(losses::mean_squared_error<reduction::none>(y, x, w), losses::mean_squared_error<reduction::sum>(y, x, w),
                             losses::mean_squared_error<reduction::mean>(y, x, w),
                             losses::mean_squared_error<reduction::sum_over_batch_size>(y, x, w), losses::mean_squared_error(y, x, w),
                             losses::mean_pairwise_squared_error(y, x, w));
  const auto tensor = [&](const char* name) { return get_tensor_by_name(g, name); };
  std::vector<output> all;
  for (const auto& m : made) {
    all.push_back(std::get<output>(m));
    for (const output& slope : gradients({all.back()}, {tensor("x:0"), tensor("w:0")})) all.push_back(slope);
  }
  graph_session s(g);
  for (const auto& weights : weight_forms) {
    CAPTURE(weights.shape()[0]);
    CAPTURE(weights.shape()[1]);
    const auto got = s.run(all, {{tensor("x:0"), four_rows}, {tensor("y:0"), their_labels}, {tensor("w:0"), weights}});
    const auto wanted = expected.run(wanted_of, weights);
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      CAPTURE(k);
      CHECK(are_close(elements(got[k]), elements(wanted[k])));
    }
  }
}
