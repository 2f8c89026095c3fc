// The models of the examples, as graphs with names: the same expressions, written by `to_graph`, and the one that is made of
// named operators.

#include "typed_models.hpp"

#include <leat/graphs.hpp>
#include <leat/leat.hpp>

#include <cstdint>

namespace interop {

using namespace leat;
using namespace leat::literals;

namespace {

/// Numbers between -1 and 1 that depend on nothing but their place.
feed spread(std::string tensor, std::vector<std::int64_t> sizes) {
  feed f{std::move(tensor), dtype::float32, std::move(sizes), {}};
  std::int64_t count = 1;
  for (auto d : f.sizes) count *= d;
  for (std::int64_t i = 0; i < count; ++i) f.values.push_back(static_cast<double>(i * 37 % 128 - 64) / 64);
  return f;
}
feed classes(std::string tensor, std::int64_t count, std::int64_t of) {
  feed f{std::move(tensor), dtype::int64, {count}, {}};
  for (std::int64_t i = 0; i < count; ++i) f.values.push_back(static_cast<double>(i * 7 % of));
  return f;
}
std::string name_of(const graph_element& e) {
  if (const auto* tensor = std::get_if<output>(&e)) return tensor->name();
  return std::get<graph_operation>(e).name();
}

/// Initialize, look, train three times, look.
run_plan training(const std::vector<graph_element>& seen, const graph_element& train, std::vector<feed> feeds) {
  const auto init = global_variables_initializer().name();
  run_plan plan{.feeds = std::move(feeds), .runs = {{init}}};
  std::vector<std::string> fetches;
  for (const auto& e : seen) fetches.push_back(name_of(e));
  plan.runs.push_back(fetches);
  for (int i = 0; i < 3; ++i) plan.runs.push_back({name_of(train)});
  plan.runs.push_back(fetches);
  return plan;
}

template <class Build>
typed_model make(std::string name, Build build) {
  typed_model m{.name = std::move(name), .graph = std::make_unique<graph>(), .plan = {}};
  const auto scope = m.graph->as_default();
  m.plan = build();
  m.graph->named().settle_names(*m.graph);
  return m;
}

run_plan linear_regression() {
  auto x = placeholder<"x", float, "patients", 10>();
  auto y = placeholder<"y", float, "patients">();
  auto w = variable<"w", float, 10, 1>(zeros);
  auto b = variable<"b", float>(0.0f);
  auto rate = parameter<"learning_rate">(0.1f);
  auto prediction = squeeze<1>(matmul(x, w)) + b;
  auto loss = reduce_mean(square(prediction - y));
  auto train = gradient_descent(rate).minimize(loss);
  const auto made = to_graph(loss, prediction, train);
  return training({made[0], made[1]}, made[2], {spread("x:0", {7, 10}), spread("y:0", {7})});
}

run_plan digits() {
  auto images = placeholder<"images", float, "batch", 64>();
  auto labels = placeholder<"labels", std::int64_t, "batch">();
  auto rate = parameter<"learning_rate">(0.003f);
  auto hidden1 = relu(dense<"hidden1", 128>(images));
  auto hidden2 = relu(dense<"hidden2", 64>(hidden1));
  auto logits = dense<"output", 10>(hidden2);
  auto loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(labels, logits));
  auto accuracy = reduce_mean(cast<float>(equal(argmax<1>(logits), labels)));
  auto train = adam(rate).minimize(loss);
  const auto made = to_graph(loss, accuracy, train);
  auto plan = training({made[0], made[1]}, made[2], {spread("images:0", {5, 64}), classes("labels:0", 5, 10)});
  plan.repeatable = false;  // the weights begin as random numbers
  return plan;
}

run_plan logistic_with_momentum() {
  auto x = placeholder<"x", float, 6, 3>();
  auto y = placeholder<"y", float, 6>();
  auto w = variable<"layer/w", float, 3, 1>(0.25f);
  auto b = variable<"layer/b", float>(zeros);
  auto logits = reshape<6>(matmul(x, w)) + b;
  auto loss = reduce_mean(sigmoid_cross_entropy_with_logits(sigmoid(y), logits)) + 0.01_c * reduce_sum(square(w));
  auto train = momentum(0.1f, 0.9f).minimize(loss);
  const auto made = to_graph(loss, sigmoid(logits), train);
  return training({made[0], made[1]}, made[2], {spread("x:0", {6, 3}), spread("y:0", {6})});
}

run_plan normalized_with_gradient() {
  auto x = placeholder<"x", double, "rows", "columns">();
  auto scale = variable<"scale", double>(1.5);
  auto centered = x - reduce_mean_keep<1>(x);
  auto y = scale * centered / sqrt(reduce_mean_keep<1>(square(centered)) + 0.001_c);
  auto loss = reduce_sum(log_softmax(y));
  auto [dx, dscale] = gradients(loss, x, scale);
  auto update = assign_sub(scale, 0.01_c * dscale);
  const auto made = to_graph(loss, dx, dscale, update);
  auto f = spread("x:0", {4, 5});
  f.type = dtype::float64;
  return training({made[0], made[1], made[2]}, made[3], {f});
}

run_plan rosenbrock() {
  auto p = variable<"p", double>(-3.0);
  auto q = variable<"q", double>(-4.0);
  auto steps_done = untrainable_variable<"steps_done", std::int64_t>(0);
  auto valley = square(1_c - p) + 100_c * square(q - square(p));
  auto [dp, dq] = gradients(valley, p, q);
  auto norm = global_norm(dp, dq);
  auto [step_p, step_q] = clip_by_global_norm(1_c, dp, dq);
  auto move_p = assign_sub(p, 0.001_c * step_p);
  auto move_q = assign_sub(q, 0.001_c * step_q);
  auto count = after(assign_add(steps_done, 1_c), move_p, move_q);
  const auto made = to_graph(valley, norm, count);
  return training({made[0], made[1]}, made[2], {});
}

// The model of examples/graph_basics.cpp, made of named operators: a count that waits for the loss.
run_plan graph_basics() {
  const auto x = placeholder(dtype::float32, {-1, 2}, "x");
  output y;
  {
    const auto layer = variable_scope("layer", {.initializer = zeros});
    const auto w = get_variable("w", {2, 1});
    const auto b = get_variable("b", {1});
    y = add(matmul(x, w), b, "y");
  }
  const auto loss = reduce_mean(y, all_axes, keep_dims::no, "loss");
  const auto step = get_variable("global_step", {.initializer = std::int64_t{0}, .trainable = false});
  const auto wait = control_dependencies({loss});
  const auto count = assign_add(step, std::int64_t{1}, "count");
  const control_dependencies none(nullptr);
  return training({y, loss}, count.operation(), {spread("x:0", {3, 2})});
}

}  // namespace

std::vector<typed_model> typed_models() {
  std::vector<typed_model> all;
  all.push_back(make("linear_regression", linear_regression));
  all.push_back(make("digits", digits));
  all.push_back(make("logistic_with_momentum", logistic_with_momentum));
  all.push_back(make("normalized_with_gradient", normalized_with_gradient));
  all.push_back(make("custom_step", rosenbrock));
  all.push_back(make("graph_basics", graph_basics));
  return all;
}

}  // namespace interop
