#include <leat/named/gradients/nn.hpp>

#include "support/slopes.hpp"

#include <leat/graphs.hpp>

#include <doctest/doctest.h>

using namespace leat;
using leat_test::check_slopes;
using leat_test::some;

TEST_CASE("activations and biases") {
  for (const shape_value& extent : {shape_value({4, 3}), shape_value({-1, 3})}) {
    graph g;
    const auto scope = g.as_default();
    const auto x = placeholder(dtype::float32, extent, "x");
    const auto b = placeholder(dtype::float32, {3}, "b");
    for (const output& y :
         {relu(x, {}), relu6(x * 8.0f, {}), elu(x, {}), softplus(x, {}), softmax(x, {}), log_softmax(x, {}), bias_add(x, b)}) {
      INFO(y.name());
      const auto error = square(y, {});
      check_slopes(error, {x}, {{"x", some({4, 3}, 5)}, {"b", some({3}, 6)}});
      check_slopes(square(gradients({error}, {x})[0], {}), {x}, {{"x", some({4, 3}, 7)}, {"b", some({3}, 6)}});
    }
    check_slopes(square(bias_add(x, b), {}), {b}, {{"x", some({4, 3}, 5)}, {"b", some({3}, 6)}});
    const auto slope = gradients({square(square(bias_add(x, b), {}), {})}, {b})[0];
    check_slopes(square(slope, {}), {x, b}, {{"x", some({4, 3}, 5)}, {"b", some({3}, 6)}});
  }
}

TEST_CASE("cross entropies, and gradients of their gradients") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1, 3}, "x");
  const auto p = placeholder(dtype::float32, {-1, 3}, "p");
  const auto n = placeholder(dtype::int32, {-1}, "n");
  const std::map<std::string, leat_test::array> values{
      {"x", some({2, 3}, 1)}, {"p", {{2, 3}, {0.2, 0.3, 0.5, 0.6, 0.4, 0}}}, {"n", {{2}, {2, 0}}}};
  const auto soft = g.named().build(g, info_of<softmax_cross_entropy_op>, std::array{x, p}, {}, "soft");
  check_slopes(square(soft, {}), {x, p}, values);
  const auto hard = g.named().build(g, info_of<sparse_softmax_cross_entropy_op>, std::array{x, n}, {}, "hard");
  check_slopes(square(hard, {}), {x}, values);
  const auto slope = gradients({hard * hard}, {x})[0];
  check_slopes(square(slope, {}), {x}, values);
  const auto soft_slope = gradients({soft * soft}, {x})[0];
  check_slopes(square(soft_slope, {}), {x}, values);
}

TEST_CASE("images: TensorFlow's operators, with the forward ones' settings") {
  graph g;
  const auto scope = g.as_default();
  const auto image = placeholder(dtype::float32, {-1, 8, 8, 3}, "image");
  const auto filter = variable(zeros_of({3, 3, 3, 4}), "filter");
  const auto y = avg_pool(max_pool(conv2d(image, filter, {1, 1, 1, 1}, padding::same), {1, 2, 2, 1}, {1, 2, 2, 1}, padding::valid),
                          {1, 2, 2, 1}, {1, 1, 1, 1}, padding::same);
  const auto made = gradients({y}, {image, filter});
  CHECK(made[0].operation().type() == "Conv2DBackpropInput");
  CHECK(made[1].operation().type() == "Conv2DBackpropFilter");
  CHECK(shape_text(made[0].extent()) == "(?, 8, 8, 3)");
  CHECK(shape_text(made[1].extent()) == "(3, 3, 3, 4)");
  CHECK(*made[1].operation().attribute("padding").get_if<std::string>() == "SAME");
}
