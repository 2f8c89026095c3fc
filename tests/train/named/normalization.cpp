#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/session/graph_session.hpp>
#include <leat/train/named/normalization.hpp>

#include "support/recorded_program.hpp"
#include "support/same_nodes.hpp"

#include <cmath>

using namespace leat;

namespace {
const std::vector<float> first{8.0f, 12.0f}, second{10.0f, 14.0f};
tensor_value column(const std::vector<float>& v) { return tensor_value(shape_value{static_cast<std::int64_t>(v.size()), 1}, v); }
}  // namespace

TEST_CASE("training must wait for the updates of the averages") {
  const auto means = [](bool waits, bool optimizer_only) {
    graph g;
    const auto scope = g.as_default();
    const auto x = placeholder(dtype::float32, {-1, 1}, "x");
    const auto y = batch_normalization_layer(x, {.training = true, .momentum = 0.9});
    const auto loss = reduce_mean(square(y.y - 1.0f, {}), all_axes);
    CHECK(get_collection(collection::update_ops).size() == 2);
    graph_operation train;
    if (waits) {
      const auto wait = control_dependencies(get_collection(collection::update_ops));
      train = gradient_descent(0.1f).minimize(loss);
    } else if (optimizer_only) {
      std::optional<named_optimizer> made;
      {
        const auto wait = control_dependencies(get_collection(collection::update_ops));
        made.emplace(gradient_descent(0.1f));
      }
      train = made->minimize(loss);
    }
    const auto init = global_variables_initializer();
    std::vector<float> seen;
    for (const bool fuse : {true, false}) {
      graph_session s(g, {.fuse = fuse});
      s.run(init);
      for (const auto& batch : {first, second}) {
        s.run(train, {{x, column(batch)}});
        seen.push_back(s.run<std::vector<float>>(y.moving_mean)[0]);
      }
    }
    return seen;
  };
  const auto with = means(true, false);
  for (const std::size_t k : {std::size_t{0}, std::size_t{2}}) {
    CHECK(with[k] == doctest::Approx(1.0));
    CHECK(with[k + 1] == doctest::Approx(2.1));
  }
  for (const float m : means(false, true)) CHECK(m == 0.0f);
}

TEST_CASE("outputs in training and afterwards, chosen when it runs; names; other axes") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1, 1}, "x");
  const auto training = placeholder(dtype::boolean, {}, "training");
  const auto bn = batch_normalization_layer(x, {.training = training, .momentum = 0.9, .epsilon = 0.0});
  const auto trained = batch_normalization_layer(x, {.momentum = 0.9, .name = "batch_normalization", .reuse = true});
  CHECK(trained.updates.empty());
  CHECK(trained.moving_mean.name() == bn.moving_mean.name());
  std::vector<std::string> names;
  for (const auto& v : global_variables()) names.push_back(v.operation().name());
  CHECK(names == std::vector<std::string>{"batch_normalization/gamma", "batch_normalization/beta", "batch_normalization/moving_mean",
                                          "batch_normalization/moving_variance"});
  CHECK(trainable_variables().size() == 2);
  CHECK(batch_normalization_layer(x).gamma.name() == "batch_normalization_1/gamma:0");
  const auto image = placeholder(dtype::float64, {2, 3, 4}, "image");
  const auto along = batch_normalization_layer(image, {.axis = 1, .training = true, .scale = false});
  CHECK(along.moving_mean.extent() == shape_value{3});
  CHECK_FALSE(static_cast<bool>(along.gamma));
  CHECK(along.y.extent() == image.extent());
  const auto init = global_variables_initializer();
  for (const bool fuse : {true, false}) {
    graph_session s(g, {.fuse = fuse});
    s.run(init);
    const auto all = group(bn.updates);
    const auto in_training = s.run<std::vector<float>>(bn.y, {{x, column(first)}, {training, tensor_value(true)}});
    CHECK(in_training[0] == doctest::Approx(-1));
    CHECK(in_training[1] == doctest::Approx(1));
    s.run(all, {{x, column(first)}, {training, tensor_value(true)}});
    s.run(all, {{x, column(second)}, {training, tensor_value(true)}});
    s.run(all, {{x, column(second)}, {training, tensor_value(false)}});  // moves nothing
    CHECK(s.run<std::vector<float>>(bn.moving_mean)[0] == doctest::Approx(2.1));
    const float variance = s.run<std::vector<float>>(bn.moving_variance)[0];
    CHECK(variance == doctest::Approx(0.81 + 0.36 + 0.4));
    const auto after = s.run<std::vector<float>>(bn.y, {{x, column(first)}, {training, tensor_value(false)}});
    CHECK(after[0] == doctest::Approx((8 - 2.1) / std::sqrt(variance)));
    tensor_value image_value(dtype::float64, shape_value{2, 3, 4});
    for (std::size_t i = 0; i < 24; ++i) image_value.values<double>()[i] = static_cast<double>(i % 7);
    const auto made = s.run<std::vector<double>>(along.y, {{image, image_value}});
    double sum = 0;
    for (std::size_t i = 0; i < 4; ++i) sum += made[i] + made[12 + i];
    CHECK(std::abs(sum) < 1e-9);
  }
}

TEST_CASE("what batch normalization refuses") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1, 2}, "x");
  CHECK_THROWS_AS(batch_normalization_layer(output{}), invalid_argument);
  CHECK_THROWS_WITH_AS(batch_normalization_layer(placeholder(dtype::int32, {2, 2}, "whole")), doctest::Contains("whole:0"),
                       invalid_argument);
  CHECK_THROWS_AS(batch_normalization_layer(placeholder(dtype::float32)), invalid_argument);
  CHECK_THROWS_AS(batch_normalization_layer(placeholder(dtype::float32, {2, -1})), invalid_argument);
  CHECK_THROWS_AS(batch_normalization_layer(placeholder(dtype::float32, {2})), invalid_argument);
  CHECK_THROWS_AS(batch_normalization_layer(x, {.axis = 2}), invalid_argument);
  CHECK_THROWS_AS(batch_normalization_layer(x, {.axis = -3}), invalid_argument);
  CHECK_THROWS_AS(batch_normalization_layer(x, {.training = 1}), invalid_argument);
  CHECK_THROWS_AS(batch_normalization_layer(x, {.momentum = 1.5}), invalid_argument);
  CHECK_THROWS_AS(batch_normalization_layer(x, {.epsilon = -1}), invalid_argument);
  CHECK(global_variables().empty());
}
