// The models of the examples: compiled and dynamic sessions train them alike. Compiled without contraction of a b + c.

#include <leat/session/graph_session.hpp>

#include "support/agreement.hpp"
#include "support/check.hpp"

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

TEST_CASE("linear regression") {
  const auto x = placeholder<"x", float, "patients", 10>();
  const auto y = placeholder<"y", float, "patients">();
  const auto w = variable<"w", float, 10, 1>(zeros);
  const auto b = variable<"b", float>(0.0f);
  const auto prediction = squeeze<1>(matmul(x, w)) + b;
  const auto loss = reduce_mean(square(prediction - y));
  const auto train = gradient_descent(parameter<"learning_rate">(0.1f)).minimize(loss);
  both_sessions both(train, loss, prediction);
  both.copy(w);
  both.copy(b);
  const auto xs = filled<float, 2>({442, 10});
  const auto ys = filled<float, 1>({442});
  const feed_list feeds{{"x", xs}, {"y", ys}};
  for (int i = 0; i < 20; ++i) {
    CAPTURE(i);
    CHECK(both.look(feeds, x = xs, y = ys) == 0);
    both.train(feeds, x = xs, y = ys);
    CHECK(both.of(w) == 0);
    CHECK(both.of(b) == 0);
  }
  CHECK(both.dynamic().fused_runs() == 40);
}

TEST_CASE("digits, by Adam") {
  const auto images = placeholder<"images", float, "batch", 64>();
  const auto labels = placeholder<"labels", std::int64_t, "batch">();
  const auto w1 = variable<"hidden1/kernel", float, 64, 128>(glorot_uniform(1));
  const auto b1 = variable<"hidden1/bias", float, 128>(zeros);
  const auto w2 = variable<"output/kernel", float, 128, 10>(glorot_uniform(2));
  const auto b2 = variable<"output/bias", float, 10>(zeros);
  const auto logits = matmul(relu(matmul(images, w1) + b1), w2) + b2;
  const auto loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(labels, logits));
  const auto accuracy = reduce_mean(cast<float>(equal(argmax<1>(logits), labels)));
  const auto train = adam(0.003f).minimize(loss);
  both_sessions both(train, loss, accuracy);
  {
    const auto scope = both.dynamic().owner().as_default();
    both.dynamic().run(global_variables_initializer());
  }
  both.copy(w1);
  both.copy(b1);
  both.copy(w2);
  both.copy(b2);
  const auto xs = filled<float, 2>({32, 64}, 0, 1);
  const auto ls = filled<std::int64_t, 1>({32}, 0, 10);
  const feed_list feeds{{"images", xs}, {"labels", ls}};
  for (int i = 0; i < 10; ++i) {
    CAPTURE(i);
    CHECK(both.look(feeds, images = xs, labels = ls) < 1e-5);
    both.train(feeds, images = xs, labels = ls);
    CHECK(both.of(w1) < 1e-5);
    CHECK(both.of(b2) < 1e-5);
  }
}

TEST_CASE("Rosenbrock's valley, with a step written by hand") {
  const auto p = variable<"p", double>(-3.0);
  const auto q = variable<"q", double>(-4.0);
  const auto steps_done = untrainable_variable<"steps_done", std::int64_t>(0);
  const auto valley = square(1_c - p) + 100_c * square(q - square(p));
  const auto [dp, dq] = gradients(valley, p, q);
  const auto norm = global_norm(dp, dq);
  const auto [step_p, step_q] = clip_by_global_norm(1_c, dp, dq);
  const auto move_p = assign_sub(p, 0.001_c * step_p);
  const auto move_q = assign_sub(q, 0.001_c * step_q);
  const auto count = after(assign_add(steps_done, 1_c), move_p, move_q);
  both_sessions both(count, valley, norm);
  both.copy(p);
  both.copy(q);
  both.copy(steps_done);
  for (int i = 0; i < 100; ++i) {
    CAPTURE(i);
    CHECK(both.look({}) < 1e-12);
    both.train({});
    CHECK(both.of(p) < 1e-13);
    CHECK(both.of(q) < 1e-13);
    CHECK(both.of(steps_done) == 0);
  }
}

TEST_CASE("logistic regression with momentum") {
  const auto x = placeholder<"x", float, 6, 3>();
  const auto y = placeholder<"y", float, 6>();
  const auto w = variable<"layer/w", float, 3, 1>(0.25f);
  const auto b = variable<"layer/b", float>(zeros);
  const auto logits = reshape<6>(matmul(x, w)) + b;
  const auto loss = reduce_mean(sigmoid_cross_entropy_with_logits(sigmoid(y), logits)) + 0.01_c * reduce_sum(square(w));
  const auto train = momentum(0.1f, 0.9f).minimize(loss);
  const auto both_slopes = sigmoid(logits);
  both_sessions both(train, loss, both_slopes);
  {
    const auto scope = both.dynamic().owner().as_default();
    both.dynamic().run(global_variables_initializer());
  }
  const auto xs = filled<float, 2>({6, 3});
  const auto ys = filled<float, 1>({6});
  const feed_list feeds{{"x", xs}, {"y", ys}};
  for (int i = 0; i < 20; ++i) {
    CAPTURE(i);
    CHECK(both.look(feeds, x = xs, y = ys) < 1e-6);
    both.train(feeds, x = xs, y = ys);
    CHECK(both.of(w) < 1e-6);
    CHECK(both.of(b) < 1e-6);
  }
}
