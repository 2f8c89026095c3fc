#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>
#include <leat/train/named/losses.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace leat;
using leat_test::message_of;
using leat_test::says;

namespace {

const output nothing;

float mean_square(const std::vector<float>& x, const std::vector<float>& w, double count) {
  double sum = 0;
  for (std::size_t k = 0; k < x.size(); ++k) sum += static_cast<double>(w[k]) * x[k] * x[k];
  return static_cast<float>(sum / count);
}

}  // namespace

TEST_CASE("weights of a size that only a run knows are checked when it runs") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1, 2}, "x"), y = placeholder(dtype::float32, {-1, 2}, "y");
  const auto w = placeholder(dtype::float32, {-1, -1}, "w");
  const auto loss = losses::mean_squared_error(y, x, {.weights = w});
  const auto slope = gradients({loss}, {x})[0];
  graph_session s(g);
  const tensor_literal xs{{1.0f, 2.0f}, {3.0f, 4.0f}}, ys{{0.0f, 0.0f}, {0.0f, 0.0f}};
  CHECK(s.run(loss, {{x, xs}, {y, ys}, {w, tensor_literal{{1.0f}, {0.0f}}}}).as<float>() == doctest::Approx(2.5));
  CHECK(s.run(loss, {{x, xs}, {y, ys}, {w, tensor_literal{{1.0f, 0.0f}, {1.0f, 2.0f}}}}).as<float>() ==
        doctest::Approx(mean_square({1, 2, 3, 4}, {1, 0, 1, 2}, 3)));
  CHECK(s.run(slope, {{x, xs}, {y, ys}, {w, tensor_literal{{1.0f, 1.0f}}}}).extent() == shape_value({2, 2}));
  const std::string problem =
      message_of<invalid_argument>([&] { s.run(loss, {{x, xs}, {y, ys}, {w, tensor_literal{{1.0f}, {1.0f}, {1.0f}}}}); });
  CHECK_MESSAGE(says(problem, "weights can not be broadcast to values"), problem);
  // The session goes on.
  CHECK(s.run(loss, {{x, xs}, {y, ys}, {w, tensor_literal{{0.0f}, {0.0f}}}}).as<float>() == 0.0f);
}

TEST_CASE("weights of unknown rank") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {2, 2}, "x"), w = placeholder(dtype::float32, unknown_shape, "w");
  const auto loss = losses::compute_weighted_loss(x, {.weights = w, .reduction = losses::reduction::mean});
  graph_session s(g);
  const tensor_literal xs{{1.0f, 2.0f}, {3.0f, 4.0f}};
  CHECK(s.run(loss, {{x, xs}, {w, 2.0f}}).as<float>() == doctest::Approx(2.5));
  CHECK(s.run(loss, {{x, xs}, {w, tensor_literal{{1.0f}, {0.0f}}}}).as<float>() == doctest::Approx(1.5));
  CHECK_THROWS_AS(s.run(loss, {{x, xs}, {w, tensor_literal{1.0f, 1.0f}}}), invalid_argument);
}

TEST_CASE("an empty batch has the loss 0, whatever the reduction") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1, 2}, "x"), y = placeholder(dtype::float32, {-1, 2}, "y");
  std::vector<output> all;
  for (const auto r :
       {losses::reduction::sum, losses::reduction::mean, losses::reduction::sum_over_batch_size, losses::reduction::sum_by_nonzero_weights})
    all.push_back(losses::absolute_difference(y, x, {.reduction = r}));
  graph_session s(g);
  const tensor_value none(dtype::float32, shape_value({0, 2}));
  for (const auto& v : s.run(all, {{x, none}, {y, none}})) CHECK(v.as<float>() == 0.0f);
}

TEST_CASE("what is no tensor, or none of numbers, is refused before a node is made") {
  graph g, other;
  const auto scope = g.as_default();
  const auto x = constant({1.0f, 2.0f}, "x"), text = constant("text", "text"), flags = constant({true, false}, "flags");
  const auto scalar = constant(1.0f, "scalar");
  const auto elsewhere = [&] {
    const auto there = other.as_default();
    return constant({1.0f, 2.0f});
  }();
  const std::size_t before = get_operations(g).size();
  const auto refused = [&](auto call, const std::string& words) {
    const std::string problem = message_of<invalid_argument>(call);
    CHECK_MESSAGE(says(problem, words), problem);
    CHECK(get_operations(g).size() == before);
    CHECK(losses::get_losses().empty());
  };
  refused([&] { losses::mean_squared_error(x, nothing); }, "an operand that is no tensor");
  refused([&] { losses::mean_squared_error(nothing, x); }, "an operand that is no tensor");
  refused([&] { losses::huber_loss(x, x, {.weights = nothing}); }, "an operand that is no tensor");
  refused([&] { losses::mean_squared_error(x, text); }, "takes numbers");
  refused([&] { losses::mean_squared_error(x, elsewhere); }, "different graphs");
  refused([&] { losses::mean_squared_error(x, x, {.weights = "2"}); }, "an operand of text");
  refused([&] { losses::mean_squared_error(x, scalar); }, "Shapes () and (2,) are incompatible");
  refused([&] { losses::cosine_distance(x, x, 1); }, "axis 1 is out of range");
  refused([&] { losses::cosine_distance(x, x, -2); }, "axis -2 is out of range");
  refused([&] { losses::softmax_cross_entropy(x, x, {}, 1.5); }, "label_smoothing");
  refused([&] { losses::sigmoid_cross_entropy(x, x, {}, std::nan("")); }, "label_smoothing");
  refused([&] { losses::sigmoid_cross_entropy(x, flags); }, "logits are floating point");
  refused([&] { losses::mean_pairwise_squared_error(x, x, {.reduction = losses::reduction::sum}); }, "no other reduction");
  refused([&] { losses::compute_weighted_loss(flags); }, "losses are numbers");
  refused([&] { losses::add_loss(nothing); }, "no tensor");
  refused([&] { losses::get_total_loss(); }, "no loss in the collection");
  refused([&] { losses::get_total_loss(true, "total", "scope"); }, "of the scope \"scope\"");
}

TEST_CASE("collections and scopes") {
  graph g;
  const auto scope = g.as_default();
  const auto x = constant({1.0f, -2.0f}, "x"), z = constant({0.0f, 0.0f}, "z");
  const auto a = losses::absolute_difference(z, x);
  const auto b = losses::absolute_difference(z, x, {.scope = "mine"});
  const auto c = losses::absolute_difference(z, x, {.collection = ""});
  const auto d = losses::absolute_difference(z, x, {.collection = "others"});
  losses::add_loss(constant(1.0f, "own"));
  CHECK(a.name() == "absolute_difference/value:0");
  CHECK(b.name() == "mine/value:0");
  CHECK(c.name() == "absolute_difference_1/value:0");
  CHECK(losses::get_losses().size() == 3);
  CHECK(losses::get_losses("mine").size() == 1);
  CHECK(losses::get_losses({}, "others").at(0).name() == d.name());
  CHECK(losses::get_regularization_losses().empty());
  const auto none = losses::get_regularization_loss();
  const auto total = losses::get_total_loss();
  CHECK(total.name() == "total_loss:0");
  graph_session s(g);
  CHECK(s.run(total).as<float>() == 4.0f);
  CHECK(s.run(none).as<float>() == 0.0f);
}

TEST_CASE("regularizers: of a scope, by hand, in sum") {
  graph g;
  const auto scope = g.as_default();
  {
    const auto net = variable_scope("net", {.regularizer = l2_regularizer(0.5f)});
    get_variable("w", {.initializer = std::vector<float>{3, 4}});
    get_variable("b", {.initializer = std::vector<float>{1}, .regularizer = l1_l2_regularizer(1.0f, 2.0f)});
    get_variable("free", {.initializer = std::vector<float>{1}, .regularizer = l1_regularizer(0)});
  }
  const auto terms = losses::get_regularization_losses();
  REQUIRE(terms.size() == 2);
  CHECK(terms[0].name() == "net/w/Regularizer/l2_regularizer:0");
  CHECK(terms[1].name() == "net/b/Regularizer/l1_l2_regularizer:0");
  const auto all = losses::get_regularization_loss();
  CHECK(all.name() == "total_regularization_loss:0");
  losses::add_loss(constant(1.0f));
  const auto total = losses::get_total_loss(), without = losses::get_total_loss(false);
  const auto by_hand = apply_regularization(sum_regularizer(l1_regularizer(2.0f), l2_regularizer(0.0f)), trainable_variables("net/w"));
  graph_session s(g);
  s.run(global_variables_initializer());
  CHECK(s.run(terms[0]).as<float>() == doctest::Approx(6.25));
  CHECK(s.run(terms[1]).as<float>() == doctest::Approx(2));
  CHECK(s.run(total).as<float>() == doctest::Approx(9.25));
  CHECK(s.run(without).as<float>() == doctest::Approx(1));
  CHECK(s.run(by_hand).as<float>() == doctest::Approx(14));
  CHECK_THROWS_AS(l1_regularizer(-1.0f), invalid_argument);
  CHECK_THROWS_AS(l2_regularizer(std::nan("")), invalid_argument);
  CHECK_THROWS_AS(apply_regularization(l1_regularizer(1.0f), {}), invalid_argument);
}

TEST_CASE("a loss of variables trains them") {
  graph g;
  const auto scope = g.as_default();
  const auto w = variable({0.0f, 0.0f}, "w");
  const auto labels = constant({1.0f, -1.0f});
  losses::mean_squared_error(labels, w);
  const auto train = gradient_descent(0.5f).minimize(losses::get_total_loss());
  graph_session s(g);
  s.run(global_variables_initializer());
  for (int k = 0; k < 20; ++k) s.run(train);
  CHECK(s.run(w).as<std::vector<float>>()[1] == doctest::Approx(-1).epsilon(1e-4));
}
