// Losses, training, control flow and queues, as docs/from_tensorflow.md shows them.

#include "shown.hpp"

#include <leat/runtime/kernels/kernel.hpp>
#include <leat/supervise/queue_runner.hpp>

#include <array>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

using namespace leat;

namespace from_tensorflow {

namespace {

void losses_and_metrics() {
  graph g;
  const auto scope = g.as_default();
  const output labels = constant({{1.0f, 0.0f}, {0.0f, 1.0f}}), predictions = constant({{0.5f, 0.5f}, {0.0f, 0.5f}});
  const output w = constant({{1.0f}, {0.0f}}), classes = constant({0, 1}), logits = predictions;
  expected_values is;
  is(LEAT_SHOWN(mean_squared_error, losses::mean_squared_error(labels, predictions, {.weights = w})), {0.25});
  is(LEAT_SHOWN(reduction, losses::mean_squared_error(labels, predictions, {.reduction = losses::reduction::sum})), {0.75});
  is(LEAT_SHOWN(absolute_difference, losses::absolute_difference(labels, predictions)), {0.375});
  is(LEAT_SHOWN(huber_loss, losses::huber_loss(labels, predictions)), {0.09375});
  is(LEAT_SHOWN(log_loss, losses::log_loss(labels, constant({{0.5f, 0.5f}, {0.5f, 0.5f}}))), {std::log(2)});
  is(LEAT_SHOWN(hinge_loss, losses::hinge_loss(labels, logits)), {(0.5 + 1.5 + 1 + 0.5) / 4});
  is(LEAT_SHOWN(cosine_distance, losses::cosine_distance(labels, predictions, 1)), {0.5});
  is(LEAT_SHOWN(mean_pairwise_squared_error, losses::mean_pairwise_squared_error(labels, labels)), {0});
  is(LEAT_SHOWN(sigmoid_cross_entropy_loss, losses::sigmoid_cross_entropy(labels, zeros_like(labels))), {std::log(2)});
  is(LEAT_SHOWN(softmax_cross_entropy_loss, losses::softmax_cross_entropy(labels, zeros_like(labels))), {std::log(2)});
  is(LEAT_SHOWN(sparse_softmax_cross_entropy_loss, losses::sparse_softmax_cross_entropy(classes, zeros_like(labels))), {std::log(2)});
  is(LEAT_SHOWN(compute_weighted_loss, losses::compute_weighted_loss(labels)), {0.5});
  LEAT_SHOWN(add_loss, losses::add_loss(reduce_sum(labels)));
  require(LEAT_SHOWN(get_losses, losses::get_losses()).size() == 13);
  const output total = LEAT_SHOWN(get_total_loss, losses::get_total_loss());
  const output kernel = get_variable("kernel", {2}, {.initializer = ones, .regularizer = LEAT_SHOWN(l2_regularizer, l2_regularizer(0.1))});
  const output term = LEAT_SHOWN(apply_regularization, apply_regularization(l2_regularizer(0.1), {kernel}));
  get_variable("other", {2}, {.regularizer = LEAT_SHOWN(l1_regularizer, l1_regularizer(0.1))});
  const auto [accuracy, update] = LEAT_SHOWN(metric_accuracy, metrics::accuracy(classes, constant({0, 0})));
  const auto precision = LEAT_SHOWN(metric_precision, metrics::precision(classes, constant({0, 1})));
  const auto recall = LEAT_SHOWN(metric_recall, metrics::recall(classes, constant({0, 1})));
  const auto mean = LEAT_SHOWN(metric_mean, metrics::mean(predictions));
  graph_session s(g);
  s.run(global_variables_initializer());
  s.run(local_variables_initializer());
  is.check(s);
  require(s.run<float>(total) > 0);
  require_close(numbers_of(s.run(term)), {0.1}, std::source_location::current());
  require(s.run<float>(update) == 0.5f);
  require(s.run<float>(accuracy) == 0.5f);
  require(s.run<float>(precision.update) == 1);
  require(s.run<float>(recall.update) == 1);
  require(s.run<float>(mean.update) == 0.375f);
}

void optimizers() {
  graph g;
  const auto scope = g.as_default();
  const output w = variable({1.0f, 2.0f}, "w");
  const output loss = reduce_sum(square(w));
  const output steps = LEAT_SHOWN(global_step, get_or_create_global_step());
  const auto o = LEAT_SHOWN(momentum, momentum(0.1f, 0.9f));
  std::vector<graph_operation> trains{LEAT_SHOWN(minimize, gradient_descent(0.1f).minimize(loss)),
                                      LEAT_SHOWN(minimize_counted, o.minimize(loss, {.global_step = steps}))};
  const auto train = [&](const named_optimizer& each) { trains.push_back(each.minimize(loss)); };
  train(LEAT_SHOWN(nesterov_momentum, nesterov_momentum(0.1f, 0.9f)));
  train(LEAT_SHOWN(adam, adam(0.1f)));
  train(LEAT_SHOWN(adagrad, adagrad(0.1f)));
  train(LEAT_SHOWN(adadelta, adadelta(0.1f)));
  train(LEAT_SHOWN(rms_prop, rms_prop(0.1f)));
  train(LEAT_SHOWN(centered_rms_prop, centered_rms_prop(0.1f)));
  train(LEAT_SHOWN(ftrl, ftrl(0.1f)));
  train(LEAT_SHOWN(proximal_gradient_descent, proximal_gradient_descent(0.1f)));
  train(LEAT_SHOWN(proximal_adagrad, proximal_adagrad(0.1f)));
  train(LEAT_SHOWN(adagrad_da, adagrad_da(0.1f, steps)));
  train(LEAT_SHOWN(adam_w, adam_w(0.1f, 0.01f)));
  train(LEAT_SHOWN(lamb, lamb(0.1f)));
  const named_optimizer by_halves = adam(0.1f);
  const auto pairs = LEAT_SHOWN(compute_gradients, by_halves.compute_gradients(loss));
  trains.push_back(LEAT_SHOWN(apply_gradients, by_halves.apply_gradients(pairs)));
  require(LEAT_SHOWN(slot, by_halves.slot(w, "m")).name().starts_with("w/Adam"));
  const auto small = LEAT_SHOWN(accumulate_gradients, accumulate_gradients(by_halves, pairs));
  trains.push_back(small.add);
  trains.push_back(small.apply);
  const output slope = LEAT_SHOWN(gradients, gradients({loss}, {w}))[0];
  const output rate = LEAT_SHOWN(exponential_decay, exponential_decay(0.1f, steps, 1000, 0.9f));
  const std::vector<output> rates{LEAT_SHOWN(natural_exp_decay, natural_exp_decay(0.1f, steps, 1000, 0.9f)),
                                  LEAT_SHOWN(inverse_time_decay, inverse_time_decay(0.1f, steps, 1000, 0.9f)),
                                  LEAT_SHOWN(polynomial_decay, polynomial_decay(0.1f, steps, 1000)),
                                  LEAT_SHOWN(cosine_decay, cosine_decay(0.1f, steps, 1000)),
                                  LEAT_SHOWN(cosine_decay_restarts, cosine_decay_restarts(0.1f, steps, 1000)),
                                  LEAT_SHOWN(linear_cosine_decay, linear_cosine_decay(0.1f, steps, 1000)),
                                  LEAT_SHOWN(piecewise_constant, piecewise_constant(steps, {100, 200}, {0.1f, 0.01f, 0.001f}))};
  LEAT_SHOWN_STATEMENTS(moving_average, exponential_moving_average ema(0.99f); auto average = ema.apply();)
  const output mean = LEAT_SHOWN(moving_average_of, ema.average(w));
  const output still = LEAT_SHOWN(stop_gradient, stop_gradient(w));
  graph_session s(g);
  s.run(global_variables_initializer());
  require(numbers_of(s.run(slope)) == numbers{2, 4});
  require(numbers_of(s.run(still)) == numbers{1, 2});
  require_close(numbers_of(s.run(rate)), {0.1}, std::source_location::current());
  for (const output& each : rates) require(s.run<float>(each) > 0);
  for (const graph_operation& each : trains) {
    s.assign(w, std::vector<float>{1, 2});
    s.run(each);
    if (each.name() != small.add.name()) require(numbers_of(s.value(w)) != numbers{1, 2});
  }
  s.run(average);
  require(numbers_of(s.run(mean)).size() == 2);
  require(s.value(steps).as<std::int64_t>() == 1);
}

void own_gradient() {
  define_operator("Thrice(x: T) -> (y: T)", [](shape_context& c) { c.set(0, c.input(0).extent); });
  LEAT_SHOWN(register_kernel, register_kernel("Thrice", [](kernel_context& c) {
               tensor_value made = c.input(0).copy();
               for (float& v : made.values<float>()) v *= 3;
               c.set(0, std::move(made));
             }));
  const auto f = [](const gradient_call& c) { return std::vector<gradient_value>{c.dy() * 3.0f}; };
  LEAT_SHOWN(register_gradient, register_gradient("Thrice", f));
  graph g;
  const auto scope = g.as_default();
  const output x = constant({1.0f, 2.0f});
  const output y = LEAT_SHOWN(call_operator, call_operator(g, "Thrice", {x})).result();
  const output slope = gradients({y}, {x})[0];
  graph_session s(g);
  require(numbers_of(s.run(y)) == numbers{3, 6});
  require(numbers_of(s.run(slope)) == numbers{3, 3});
}

void control() {
  own_gradient();
  graph g;
  const auto scope = g.as_default();
  const output x = constant(3.0f), a = x, b = x + 1.0f;
  const output p = x > 2.0f, q = x > 5.0f;
  const auto f = [&] { return x * 2.0f; };
  const auto h = [&] { return x * 10.0f; };
  const auto more = [](const output& i, const output&) { return i < 3; };
  const auto next = [](const output& i, const output& y) { return std::array{i + 1, y * 2.0f}; };
  expected_values is;
  is(LEAT_SHOWN(cond, cond(p, f, h)), {6});
  is(LEAT_SHOWN(case_of, case_of({{q, f}, {p, h}}, f)), {30});
  is(LEAT_SHOWN(while_loop, while_loop(more, next, {0, x}))[1], {24});
  const output printed = LEAT_SHOWN(print, print(x, {a, b}, {.message = "a, b: "}));
  const std::vector<graph_operation> checks{LEAT_SHOWN(check, check(p, {x})), LEAT_SHOWN(check_equal, check_equal(a, a)),
                                            LEAT_SHOWN(check_positive, check_positive(x))};
  const auto halves = [](std::span<const tensor_literal> in) { return std::vector{tensor_literal(static_cast<float>(in[0].number(0) / 2))}; };
  is(LEAT_SHOWN(host_function, host_function(halves, {x}, {dtype::float32})).outputs()[0], {1.5});
  std::ostringstream log;
  graph_session s(g, {.log = &log});
  is.check(s);
  require(s.run<float>(printed) == 3);
  require(log.str().find("a, b: ") != std::string::npos);
  for (const graph_operation& each : checks) s.run(each);
}

void queues() {
  graph g;
  const auto scope = g.as_default();
  const auto q = LEAT_SHOWN(fifo_queue, fifo_queue(3, {dtype::float32}, {{}}));
  const auto padded = LEAT_SHOWN(padding_queue, padding_fifo_queue(3, {dtype::float32}, {{-1}}));
  const auto shuffled = LEAT_SHOWN(shuffle_queue, random_shuffle_queue(3, 0, {dtype::float32}, {{}}));
  const output x = constant(1.5f);
  const auto put = LEAT_SHOWN(enqueue, q.enqueue({x}));
  const auto taken = LEAT_SHOWN(dequeue, q.dequeue())[0];
  const auto end = q.close(true);
  LEAT_SHOWN(add_queue_runner, add_queue_runner(queue_runner(q, {put})));
  graph_session s(g);
  s.run(padded.enqueue({std::vector{1.0f, 2.0f}}));
  s.run(shuffled.enqueue({x}));
  LEAT_SHOWN_STATEMENTS(coordinator, coordinator c;)
  LEAT_SHOWN(start_queue_runners, start_queue_runners(s, c));
  require(s.run<float>(taken) == 1.5f);
  c.request_stop();
  s.run(end);
  c.join();
}

}  // namespace

void losses_and_training() {
  losses_and_metrics();
  optimizers();
}
void control_and_queues() {
  control();
  queues();
}

}  // namespace from_tensorflow
