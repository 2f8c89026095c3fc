// Optimizers, schedules, averages and batch normalization as docs/optimizers.md shows them.

// [listing optimizers_includes]
#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/session/graph_session.hpp>

#include <cstdio>
#include <iostream>
// [end]

using namespace leat;
using namespace leat::literals;

namespace {

void typed() {
  // [listing optimizers_typed]
  auto x = placeholder<"x", float, "batch">();
  auto y = placeholder<"y", float, "batch">();
  auto w = variable<"w", float>(0.0f);
  auto b = variable<"b", float>(0.0f);
  auto loss = reduce_mean(square(x * w + b - y));

  auto steps = global_step();
  auto rate = exponential_decay(0.1f, steps, 100, 0.5f);
  auto train = adam(rate).minimize(loss, steps);

  session s{loss, rate, train};
  s.initialize();
  const std::vector<float> xs{-1, 0, 1, 2}, ys{-1, 1, 3, 5};
  for (int k = 0; k < 200; ++k) s.run(fetch(train), x = xs, y = ys);
  auto [now] = s.run(fetch(rate));
  std::printf("w %.1f, b %.1f after %d steps, rate %.3f\n", static_cast<double>(s.value(w)), static_cast<double>(s.value(b)),
              static_cast<int>(s.value(steps)), static_cast<double>(now));
  // [end]

  // [listing optimizers_halves]
  auto optimizer = momentum(0.05f, 0.9f);
  auto pairs = optimizer.compute_gradients(loss, w, b);
  auto [dw, db] = clip_by_global_norm(0.5f, std::get<0>(pairs).gradient, std::get<1>(pairs).gradient);
  auto clipped = optimizer.apply_gradients(with_variable(dw, w), with_variable(db, b));

  session halves{clipped, dw, db};
  halves.initialize();
  auto [slope, offset] = halves.run(fetch(dw, db, clipped), x = xs, y = ys);  // gradients are tensors: fetch them to see them
  std::printf("|gradient| %.2f\n", static_cast<double>(std::sqrt(slope * slope + offset * offset)));
  // [end]

  // [listing optimizers_small_batches]
  auto sgd = gradient_descent(0.1f);
  auto [add, apply] = accumulate_gradients<"sums">(sgd, sgd.compute_gradients(loss));
  session batches{add, apply};
  batches.initialize();
  for (int k = 0; k < 4; ++k)
    batches.run(fetch(add), x = std::vector{xs[static_cast<std::size_t>(k)]}, y = std::vector{ys[static_cast<std::size_t>(k)]});
  batches.run(fetch(apply));
  std::printf("w %.2f, b %.2f\n", static_cast<double>(batches.value(w)), static_cast<double>(batches.value(b)));
  // [end]
}

void normalized() {
  // [listing optimizers_normalization]
  auto x = placeholder<"x", float, "batch", 1>();
  auto bn = batch_normalization<"bn">(x, 0.9);
  auto loss = reduce_mean(square(bn.output - 1_c));
  auto train = group(gradient_descent(0.1f).minimize(loss), bn.update);

  session s{train, bn.evaluated};
  s.initialize();
  for (const auto& batch : {xt::xtensor<float, 2>{{8}, {12}}, xt::xtensor<float, 2>{{10}, {14}}}) {
    s.run(fetch(train), x = batch);
    std::printf("moving mean %.1f\n", static_cast<double>(s.value(bn.moving_mean)(0)));
  }
  // [end]
}

void of_rows() {
  // [listing optimizers_rows]
  auto ids = placeholder<"ids", std::int32_t, "batch">();
  auto table = variable<"table", float, 100000, 2>(ones);
  auto rows = gather(table, ids);
  auto loss = reduce_sum(square(print<"rows ">(rows, ids, rows)));
  auto train = momentum(0.1f, 0.9f).minimize(loss);

  session s{train};
  s.initialize();
  const print_log log(std::cout);
  s.run(fetch(train), ids = std::vector{7, 4, 7});
  s.run(fetch(train), ids = std::vector{4});
  const auto now = s.value(table);
  std::printf("row 7 %.2f, row 4 %.2f, row 3 %.2f\n", static_cast<double>(now(7, 0)), static_cast<double>(now(4, 0)),
              static_cast<double>(now(3, 0)));
  // [end]
}

void named() {
  // [listing optimizers_named]
  graph g;
  auto scope = g.as_default();
  auto x = placeholder(dtype::float32, {-1, 1}, "x");
  auto hidden = batch_normalization_layer(x, {.training = true, .momentum = 0.9});
  auto w = variable(0.5f, "w");
  auto loss = reduce_mean(square(hidden.y * w - 1.0f), all_axes);

  auto steps = get_or_create_global_step();
  auto rate = piecewise_constant(steps, {100, 200}, {0.1f, 0.01f, 0.001f});
  graph_operation train;
  {
    auto wait = control_dependencies(get_collection(collection::update_ops));
    train = momentum(rate, 0.9f).minimize(loss, {.global_step = steps});
  }
  exponential_moving_average ema(0.99f, {.num_updates = steps});
  graph_operation step;
  {
    auto wait = control_dependencies({train});
    step = ema.apply();
  }

  graph_session s(g);
  s.run(global_variables_initializer());
  for (int k = 0; k < 3; ++k) s.run(step, {{x, {{8.0f}, {12.0f}}}});
  std::printf("%s %s\n", train.name().c_str(), ema.average(w).name().c_str());
  std::printf("step %d, moving mean %.2f\n", static_cast<int>(s.run<std::int64_t>(steps)),
              static_cast<double>(s.run<std::vector<float>>(hidden.moving_mean)[0]));
  // [end]
}

}  // namespace

int main() {
  typed();
  normalized();
  of_rows();
  named();
}
