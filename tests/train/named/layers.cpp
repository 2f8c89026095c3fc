#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>
#include <leat/train/named/layers.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace leat;
using leat_test::message_of;
using leat_test::says;

namespace {
std::vector<std::string> names_of(const std::vector<output>& all) {
  std::vector<std::string> names;
  for (const auto& v : all) names.push_back(v.name());
  return names;
}
}  // namespace

TEST_CASE("a network of three layers: names, table, number of parameters") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1, 784}, "x");
  const auto h1 = layers::dense(x, 256, {.activation = layers::relu});
  const auto h2 = layers::dense(h1, 128, {.activation = layers::relu});
  const auto y = layers::dense(h2, 10, {.name = "logits"});
  CHECK(h1.name() == "dense/Relu:0");
  CHECK(y.name() == "logits/BiasAdd:0");
  CHECK(y.extent() == shape_value({-1, 10}));
  CHECK(names_of(trainable_variables()) == std::vector<std::string>{"dense/kernel:0", "dense/bias:0", "dense_1/kernel:0", "dense_1/bias:0",
                                                                    "logits/kernel:0", "logits/bias:0"});
  CHECK(parameter_count() == 235146);
  CHECK(summary_table(g) ==
        "layer    shape             parameters\n"
        "dense    [784, 256] [256]     200,960\n"
        "dense_1  [256, 128] [128]      32,896\n"
        "logits   [128, 10] [10]         1,290\n"
        "235,146 parameters, 940,584 bytes\n");
}

TEST_CASE("layers as objects: shared variables, sequences") {
  graph g;
  const auto scope = g.as_default();
  const auto training = placeholder(dtype::boolean, {}, "training");
  const auto x = placeholder(dtype::float32, {-1, 2, 3}, "x");
  const layers::sequential model{layers::flatten(), layers::dense(4, {.activation = layers::tanh, .kernel_initializer = ones}),
                                 layers::dropout(0.5, {.training = training, .seed = 3}),
                                 layers::activation([](const output& t) { return t * 2.0f; }),
                                 layers::dense(1, {.use_bias = false, .kernel_initializer = ones})};
  CHECK_THROWS_AS(model.layers()[1].variable("kernel"), not_found);
  const auto y = model(x);
  const auto again = model(x);  // the same variables
  CHECK(names_of(trainable_variables()) == std::vector<std::string>{"dense/kernel:0", "dense/bias:0", "dense_1/kernel:0"});
  CHECK(model.parameter_count() == 6 * 4 + 4 + 4);
  CHECK(model.layers()[1].variable("kernel").name() == "dense/kernel:0");
  CHECK_THROWS_AS(model.layers()[4].variable("bias"), not_found);
  CHECK(summary_table(model) ==
        "layer       shape   parameters\n"
        "flatten     (?, 6)           0\n"
        "dense       (?, 4)          28\n"
        "dropout     (?, 4)           0\n"
        "activation  (?, 4)           0\n"
        "dense_1     (?, 1)           4\n"
        "32 parameters, 128 bytes\n");
  graph_session s(g);
  s.run(global_variables_initializer());
  const tensor_literal xs(shape_value({1, 2, 3}), std::vector<float>(6, 0.1f));
  const float still = s.run(y, {{x, xs}, {training, false}}).as<std::vector<float>>()[0];
  CHECK(still == doctest::Approx(8 * std::tanh(0.6f)));
  CHECK(s.run(again, {{x, xs}, {training, false}}).as<std::vector<float>>()[0] == still);
  int dropped = 0;
  for (int k = 0; k < 100; ++k) {
    const float now = s.run(y, {{x, xs}, {training, true}}).as<std::vector<float>>()[0] / (4 * std::tanh(0.6f));
    CHECK(std::abs(now - std::round(now)) < 1e-5f);  // 0 to 4 of 4 kept, each doubled
    dropped += 4 - static_cast<int>(std::round(now));
  }
  CHECK(dropped > 130);
  CHECK(dropped < 270);
}

TEST_CASE("variable scopes are inherited, reused and regularized") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1, 3}, "x");
  const auto tower = [&] {
    const auto net = variable_scope("net", {.reuse = AUTO_REUSE, .initializer = ones, .regularizer = l2_regularizer(1.0f)});
    return layers::dense(x, 2, {.name = "fc"});
  };
  const auto first = tower(), second = tower();
  CHECK(names_of(trainable_variables()) == std::vector<std::string>{"net/fc/kernel:0", "net/fc/bias:0"});
  CHECK(losses::get_regularization_losses().size() == 2);
  CHECK(second.name() == "net_1/fc/BiasAdd:0");
  CHECK_THROWS_AS(layers::dense(x, 2, {.name = "net/fc"}), invalid_argument);  // without reuse
  graph_session s(g);
  s.run(global_variables_initializer());
  CHECK(s.run(first, {{x, tensor_literal{{1.0f, 2.0f, 3.0f}}}}).as<std::vector<float>>() == std::vector<float>{6, 6});
}

TEST_CASE("inputs of rank 3, and embeddings, train") {
  graph g;
  const auto scope = g.as_default();
  const auto ids = placeholder(dtype::int32, {-1, -1}, "ids");
  const auto words = layers::embedding(ids, 10, 4);
  CHECK(words.extent() == shape_value({-1, -1, 4}));
  const auto y = layers::dense(words, 1);
  CHECK(y.extent() == shape_value({-1, -1, 1}));
  const auto flat = layers::flatten(y);
  const auto loss = reduce_mean(square(flat - 1.0f, {}), all_axes);
  const auto train = gradient_descent(0.5f).minimize(loss);
  CHECK(names_of(trainable_variables()) == std::vector<std::string>{"embedding/embeddings:0", "dense/kernel:0", "dense/bias:0"});
  graph_session s(g);
  s.run(global_variables_initializer());
  const tensor_literal some{{1, 2, 3}, {4, 5, 6}};
  for (int k = 0; k < 50; ++k) s.run(train, {{ids, some}});
  CHECK(s.run(loss, {{ids, some}}).as<float>() < 1e-3f);
  CHECK(s.run(flat, {{ids, some}}).extent() == shape_value({2, 3}));
  CHECK_THROWS_AS(s.run(loss, {{ids, tensor_literal{{10}}}}), invalid_argument);
}

TEST_CASE("what layers refuse") {
  graph g, other;
  const auto scope = g.as_default();
  const auto any = placeholder(dtype::float32, unknown_shape, "any"), open = placeholder(dtype::float32, {2, -1}, "open");
  const auto whole = constant({{1, 2}}, "whole"), flat = constant({1.0f, 2.0f}, "flat"), x = constant({{1.0f, 2.0f}}, "x");
  const output nothing;
  const auto refused = [&](auto call, const std::string& words) {
    const std::string problem = message_of<invalid_argument>(call);
    CHECK_MESSAGE(says(problem, words), problem);
  };
  refused([&] { layers::dense(nothing, 2); }, "no tensor");
  refused([&] { layers::dense(x, 0); }, "units is 0");
  refused([&] { layers::dense(any, 2); }, "rank 2 or more");
  refused([&] { layers::dense(flat, 2); }, "rank 2 or more");
  refused([&] { layers::dense(open, 2); }, "The last dimension of the inputs");
  refused([&] { layers::dense(whole, 2); }, "floating point");
  refused([&] { layers::dropout(x, 1.0); }, "not in [0, 1)");
  refused([&] { layers::dropout(x, std::nan("")); }, "not in [0, 1)");
  refused([&] { layers::dropout(x, 0.5, {.training = x}); }, "a bool");
  refused([&] { layers::embedding(x, 3, 2); }, "ids are int32 or int64");
  refused([&] { layers::embedding(0, 2); }, "a table [0, 2]");
  refused([&] { layers::activation(nullptr); }, "no function");
  refused([&] { layers::activation([](const output&) { return output{}; })(x); }, "gives no tensor");
  refused([&] { layers::flatten(any); }, "rank 1 or more");
  const auto shared = layers::dense(3);
  refused([&] { shared(whole); }, "floating point");
  CHECK(shared.variables().empty());
  shared(x);
  refused(
      [&] {
        const auto there = other.as_default();
        shared(constant({{1.0f, 2.0f}}));
      },
      "in another graph");
  refused([&] { shared(constant({{1.0f, 2.0f, 3.0f}})); }, "Trying to share variable dense");
  CHECK(shared.parameter_count() == 9);
}
