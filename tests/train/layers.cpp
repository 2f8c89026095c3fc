#include <leat/leat.hpp>
#include <leat/train/layers.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

using namespace leat;
using leat_test::message_of;
using leat_test::says;

namespace {

// Names that programs have: none of them is ambiguous with one of the library's.
int load(const std::string& text) { return static_cast<int>(text.size()); }
void store(int& to, int value) { to = value; }
struct signature {
  int position = 0;
};

auto started_at(float value) { return variable<"w", float>(value); }

}  // namespace

TEST_CASE("a dense layer hands out its variables, and a state of zeros has the batch's size") {
  auto x = placeholder<"x", float, "batch", 2>();
  auto y = placeholder<"y", float, "batch">();
  auto [hidden, kernel, bias] = dense_layer<"d", 3>(x);
  auto both = reduce_sum(concat<1>(hidden, constant<0.5f, "batch", 2>())) + reduce_sum(y);
  session s{both};
  s.initialize();
  s.assign(kernel, std::vector<float>(6, 1.0f));
  CHECK(s.value(bias)(2) == 0.0f);
  const std::vector<float> xs{1, 2, 3, 4}, ys{1, 1}, too_many{1, 1, 1};
  auto [sum] = s.run(fetch(both), x = xs, y = ys);
  CHECK(sum == 34.0f);  // 3 (1 + 2 + 3 + 4), four halves, two ones
  const std::string problem = message_of([&] { s.run(fetch(both), x = xs, y = too_many); });
  CHECK_MESSAGE(says(problem, "with the sizes that other feeds of this run have bound it has 2 elements, the array has 3"), problem);
}
TEST_CASE("two numbers of one variable name the variable") {
  const auto a = started_at(0.5f);
  const auto b = started_at(0.25f);
  const std::string problem = message_of([&] { session s{a * a, b + b}; });
  CHECK_MESSAGE(says(problem, "variable \"w\" starts from 0.5 in one expression and from 0.25 in another"), problem);
}
TEST_CASE("short names stay with the program") {
  int value = 0;
  store(value, load("four"));
  CHECK(value + signature{}.position == 4);
}

TEST_CASE("how large a model is") {
  auto x = placeholder<"x", float, "batch", 784>();
  auto model =
      sequential([](const auto& t) { return relu(dense<"first", 256>(t)); }, [](const auto& t) { return relu(dense<"second", 128>(t)); },
                 [](const auto& t) { return dense<"logits", 10>(t); });
  auto logits = model(x);
  CHECK(parameter_count(logits) == 235146);
  auto labels = placeholder<"labels", std::int32_t, "batch">();
  auto loss = losses::sparse_softmax_cross_entropy(labels, logits);
  CHECK(parameter_count(loss, adam(0.1f).minimize(loss)) == 235146);
  CHECK(summary_table(loss) ==
        "layer   shape             parameters\n"
        "first   [784, 256] [256]     200,960\n"
        "second  [256, 128] [128]      32,896\n"
        "logits  [128, 10] [10]         1,290\n"
        "235,146 parameters, 940,584 bytes\n");
  auto w = variable<"w", float>(0.0f);
  auto b = variable<"b", float>(0.0f);
  auto steps = untrainable_variable<"steps", std::int64_t>(zeros);
  CHECK(parameter_count(w * 2.0f + b, steps) == 2);
}

TEST_CASE("a convolution with a bias has TensorFlow's variables") {
  auto x = placeholder<"x", float, "batch", 6, 6, 2>();
  auto [maps, kernel, bias] = conv_layer<"conv1", 3, hw{3, 2}, 2, padding::same>(x);
  static_assert(decltype(maps)::extent[1] == 3 && decltype(maps)::extent[3] == 3 && decltype(maps)::extent[0] < 0);
  auto logits = dense<"logits", 2>(flatten_layer(max_pool<2>(relu(conv<"conv2", 4, 2>(relu(maps))))));
  CHECK(summary_table(logits) ==
        "layer   shape             parameters\n"
        "conv1   [3, 2, 2, 3] [3]          39\n"
        "conv2   [2, 2, 3, 4] [4]          52\n"
        "logits  [4, 2] [2]                10\n"
        "101 parameters, 404 bytes\n");
  session s{maps, logits};
  s.initialize();
  const auto values = s.value(kernel);
  const float limit = std::sqrt(6.0f / (3 * 2 * (2 + 3)));  // Glorot: the window counts on both sides
  CHECK(xt::amax(xt::abs(values))() <= limit);
  CHECK(xt::amax(xt::abs(values))() > 0.8f * limit);
  s.assign(kernel, xt::xtensor<float, 4>(xt::ones<float>({3, 2, 2, 3})));
  s.assign(bias, std::vector{1.0f, 2.0f, 3.0f});
  auto [got] = s.run(fetch(maps), x = xt::xtensor<float, 4>(xt::ones<float>({1, 6, 6, 2})));
  CHECK(got(0, 0, 0, 0) == 13);
  CHECK(got(0, 2, 1, 2) == 11);  // the last windows lie half in the padding
}

TEST_CASE("embedding, flatten, dropout by a mask") {
  auto ids = placeholder<"ids", std::int64_t, "batch", 3>();
  auto [rows, table] = embedding_layer<"words", 5, 2>(ids);
  auto flat = flatten_layer(rows);
  auto mask = placeholder<"mask", float, "batch", 6>();
  auto rate = parameter<"rate">(0.5f);
  auto kept = dropout_by_mask(flat, mask, rate);
  session s{flat, kept};
  s.initialize();
  s.assign(table, std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  xt::xtensor<std::int64_t, 2> which{{0, 1, 4}};
  auto masks = xt::xtensor<float, 2>::from_shape({1, 6});
  draw_dropout_mask(std::span(masks.data(), masks.size()), 0.5, 7, 0);
  auto [all, some] = s.run(fetch(flat, kept), ids = which, mask = masks);
  CHECK(all(0, 5) == 9);
  for (std::size_t k = 0; k < 6; ++k) CHECK(some(0, k) == 2 * all(0, k) * masks(0, k));
  std::vector<float> many(10000);
  draw_dropout_mask(std::span(many), 0.25, 1, 2);
  double kept_count = 0;
  for (const float m : many) kept_count += static_cast<double>(m);
  CHECK(kept_count == doctest::Approx(7500).epsilon(0.03));
  CHECK_THROWS_AS(draw_dropout_mask(std::span(many), 1.0, 0, 0), invalid_argument);
  CHECK_THROWS_AS(draw_dropout_mask(std::span(many), -0.5, 0, 0), invalid_argument);
}
