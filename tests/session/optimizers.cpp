// One formula, every way to run it: each optimizer in compiled and planned sessions, on graphs with names as programs and by kernels, and
// written to a graph.

#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/planned.hpp>
#include <leat/session/graph_session.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <functional>

using namespace leat;
using namespace leat::literals;

namespace {

constexpr int steps_taken = 6;
constexpr std::int64_t size_of_w = 5;

std::vector<float> gradient_at(int step) {
  std::vector<float> made(size_of_w);
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = 0.3f * static_cast<float>((static_cast<int>(i) * 7 + step * 5) % 11) - 1.4f;
  return made;
}
const std::vector<float> first_value_of_w{0.5f, -0.25f, 1.5f, 0.1f, -2.0f};

using values = std::vector<float>;

// `expected`, if given, computes the last value by hand.
template <class Optimizer, class Step>
void runs_alike(const char* name, const Optimizer& o, const Step& counter, const std::function<values()>& expected = {}) {
  INFO(name);
  const auto w = variable<"w", float, size_of_w>(zeros);
  const auto g = placeholder<"g", float, size_of_w>();
  const auto train = o.apply_gradients(std::make_tuple(with_variable(g, w)), counter);
  std::vector<values> results;
  const auto typed = [&](auto& s) {
    s.initialize();
    s.assign(w, first_value_of_w);
    for (int k = 0; k < steps_taken; ++k) s.run(fetch(train), g = gradient_at(k));
    CHECK(s.value(counter) == steps_taken);
    const auto got = s.value(w);
    results.emplace_back(got.begin(), got.end());
  };
  session compiled{train};
  typed(compiled);
  planned_session planned{train};
  typed(planned);
  for (const bool written : {false, true})
    for (const bool fuse : {true, false}) {
      graph all;
      const auto scope = all.as_default();
      output the_w, the_g;
      graph_operation step;
      if (written) {
        step = std::get<graph_operation>(to_graph(train)[0]);
        the_w = get_tensor_by_name(all, "w:0");
        the_g = get_tensor_by_name(all, "g:0");
      } else {
        const named_optimizer same(o);  // a rate that depends on the counter brings it along
        if (!static_cast<bool>(get_global_step())) to_graph(counter);
        the_w = variable(operand_value(first_value_of_w), "w");
        the_g = placeholder(dtype::float32, {size_of_w}, "g");
        step = same.apply_gradients({{gradient_value(the_g), the_w}}, get_tensor_by_name(all, "global_step:0"));
      }
      const auto start = assign(the_w, operand_value(first_value_of_w));
      const auto init = global_variables_initializer();
      graph_session s(all, {.fuse = fuse});
      s.run(init);
      s.run(start.operation());
      for (int k = 0; k < steps_taken; ++k) s.run(step, {{the_g, gradient_at(k)}});
      results.push_back(s.run<values>(the_w));
    }
  if (expected) results.push_back(expected());
  for (std::size_t k = 1; k < results.size(); ++k)
    for (std::size_t i = 0; i < results[0].size(); ++i) {
      INFO(k << ": " << i);
      CHECK(results[k][i] == doctest::Approx(results[0][i]).epsilon(3e-6));
    }
  for (std::size_t i = 0; i < results[0].size(); ++i) CHECK(results[0][i] != first_value_of_w[i]);
}

// AdamW and LAMB by hand.
values by_hand(bool is_lamb, double rate, double decay, double epsilon) {
  std::vector<double> w(first_value_of_w.begin(), first_value_of_w.end()), m(w.size()), v(w.size());
  for (int t = 1; t <= steps_taken; ++t) {
    const auto g = gradient_at(t - 1);
    const double rest1 = 1 - std::pow(0.9, t), rest2 = 1 - std::pow(0.999, t);
    std::vector<double> r(w.size());
    double length = 0, its_length = 0;
    for (std::size_t i = 0; i < w.size(); ++i) {
      m[i] += (static_cast<double>(g[i]) - m[i]) * 0.1;
      v[i] += (static_cast<double>(g[i]) * static_cast<double>(g[i]) - v[i]) * 0.001;
      r[i] = is_lamb ? m[i] / rest1 / (std::sqrt(v[i] / rest2) + epsilon) + decay * w[i]
                     : rate * std::sqrt(rest2) / rest1 * m[i] / (std::sqrt(v[i]) + epsilon) + decay * w[i];
      length += w[i] * w[i];
      its_length += r[i] * r[i];
    }
    const double scale = is_lamb ? rate * std::sqrt(length / its_length) : 1;
    for (std::size_t i = 0; i < w.size(); ++i) w[i] -= scale * r[i];
  }
  return {w.begin(), w.end()};
}

}  // namespace

TEST_CASE("an optimizer does the same in every session") {
  const auto steps = global_step();
  runs_alike("gradient_descent", gradient_descent(0.1f), steps);
  runs_alike("nesterov_momentum", nesterov_momentum(0.1f, 0.9f), steps);
  runs_alike("adagrad", adagrad(0.1f, 0.2), steps);
  runs_alike("adam, a falling rate", adam(exponential_decay(0.1f, steps, 2, 0.5f)), steps);
}
TEST_CASE("more of them") {
  const auto steps = global_step();
  runs_alike("centered_rms_prop", centered_rms_prop(0.1f, 0.8f, 0.5f, 1e-3f), steps);
  runs_alike("adadelta", adadelta(1.0f, 0.9f, 1e-4f), steps);
  runs_alike("ftrl", ftrl(0.1f, {.learning_rate_power = -0.7f, .l1 = 0.01f, .l2 = 0.1f, .beta = 0.2f, .l2_shrinkage = 0.1f}), steps);
  runs_alike("proximal_gradient_descent", proximal_gradient_descent(0.1f, {.l1 = 0.1f, .l2 = 0.2f}), steps);
}
TEST_CASE("and those that are no operators") {
  const auto steps = global_step();
  runs_alike("proximal_adagrad", proximal_adagrad(0.1f, {.l1 = 0.1f, .start = 0.3f}), steps);
  runs_alike("adagrad_da", adagrad_da(0.1f, steps, {.l1 = 0.01f, .start = 0.3f}), steps);
  runs_alike("adam_w", adam_w(0.1f, 0.01f), steps, [] { return by_hand(false, 0.1, 0.01, 1e-8); });
  runs_alike("lamb", lamb(0.1f, 0.01f), steps, [] { return by_hand(true, 0.1, 0.01, 1e-6); });
}

TEST_CASE("settings out of range are refused where an optimizer is made") {
  CHECK_THROWS_WITH_AS(adagrad(0.1f, 0), doctest::Contains("initial_accumulator_value"), invalid_argument);
  CHECK_THROWS_AS(adagrad(0.1f, -1), invalid_argument);
  CHECK_THROWS_AS(ftrl(0.1f, {.learning_rate_power = 0.5f}), invalid_argument);
  CHECK_THROWS_AS(ftrl(0.1f, {.start = -1}), invalid_argument);
  CHECK_THROWS_WITH_AS(ftrl(0.1f, {.l2_shrinkage = -1}), doctest::Contains("l2_shrinkage"), invalid_argument);
  CHECK_THROWS_AS(ftrl(0.1f, {.l1 = std::nanf("")}), invalid_argument);
  CHECK_THROWS_AS(proximal_adagrad(0.1f, {.start = 0}), invalid_argument);
  CHECK_THROWS_AS(adagrad_da(0.1f, output{}), invalid_argument);
  graph g;
  const auto scope = g.as_default();
  const auto v = variable({1.0f, 2.0f}, "v");
  const auto rate = placeholder(dtype::float32, {}, "rate");
  graph h;
  {
    const auto inner = h.as_default();
    const auto u = variable(1.0f, "u");
    CHECK_THROWS_AS(adam(rate).minimize(u * u), invalid_argument);  // a rate of another graph
    CHECK_THROWS_AS(exponential_decay(rate, get_or_create_global_step(), 10, 0.5f), invalid_argument);
  }
  // rows beyond the table, and a gradient whose rows do not fit
  const auto rows = placeholder(dtype::float32, unknown_shape, "rows");
  const auto at = placeholder(dtype::int32, {-1}, "at");
  for (const auto& o : {named_optimizer(momentum(0.1f, 0.9f)), named_optimizer(ftrl(0.1f, {.l2_shrinkage = 0.1f})),
                        adagrad_da(0.1f, get_or_create_global_step())}) {
    const auto train = o.apply_gradients({{gradient_value(rows, at, constant(std::vector<std::int32_t>{2})), v}});
    graph_session s(g);
    s.run(global_variables_initializer());
    CHECK_THROWS_AS(s.run(train, {{rows, {1.0f}}, {at, std::vector<std::int32_t>{2}}}), invalid_argument);
    CHECK_THROWS_AS(s.run(train, {{rows, {1.0f}}, {at, std::vector<std::int32_t>{-1}}}), invalid_argument);
    CHECK_THROWS_AS(s.run(train, {{rows, {1.0f, 2.0f}}, {at, std::vector<std::int32_t>{0}}}), invalid_argument);
    CHECK(s.run<values>(v) == values{1, 2});
  }
}

TEST_CASE("rows that a branch looks up: momentum moves them alone if the branch is taken") {
  graph g;
  const auto scope = g.as_default();
  const auto table = get_variable("table", {3}, {.initializer = zeros});
  const auto taken = placeholder(dtype::boolean, {}, "taken");
  const auto ids = placeholder(dtype::int32, {-1}, "ids");
  const auto loss = cond(taken, [&] { return reduce_sum(gather(table, ids), all_axes); }, [] { return constant(0.0f); });
  const auto step = momentum(1.0f, 0.5f).minimize(loss);
  for (const bool fuse : {true, false}) {
    graph_session s(g, {.fuse = fuse});
    s.run(global_variables_initializer());
    const auto after = [&](bool is_taken, const std::vector<std::int32_t>& rows) {
      s.run(step, {{taken, is_taken}, {ids, rows}});
      return s.value(table).as<std::vector<float>>();
    };
    CHECK(after(true, {1}) == std::vector<float>{0, -1, 0});
    CHECK(after(true, {2, 2}) == std::vector<float>{0, -1, -2});
    // The gradient of the other branch is zeros for all rows, so that all of them move on.
    CHECK(after(false, {1}) == std::vector<float>{0, -1.5f, -3});
  }
}

TEST_CASE("a node by itself updates each element alike, wherever it lies in arrays of any length") {
  const auto after_two_steps = [](const auto& optimizer, const values& start, const values& slopes) {
    graph g;
    const auto scope = g.as_default();
    const auto w = variable([&] { return constant(start); }, "w");
    const auto slope = placeholder(dtype::float32, shape_value{static_cast<std::int64_t>(start.size())}, "slope");
    const auto step = named_optimizer(optimizer).apply_gradients({{gradient_value(slope), w}});
    graph_session s(g, {.fuse = false});
    s.run(global_variables_initializer());
    for (int k = 0; k < 2; ++k) s.run(step, {{slope, slopes}});
    return s.value(w).template as<values>();
  };
  const auto check = [&](const char* name, const auto& optimizer) {
    INFO(name);
    for (const std::size_t n : {1, 63, 64, 65, 200}) {
      CAPTURE(n);
      values start(n), slopes(n);
      for (std::size_t i = 0; i < n; ++i) {
        start[i] = 0.01f * static_cast<float>(i * 37 % 101) - 0.3f;
        slopes[i] = 0.3f * static_cast<float>(i * 7 % 13) - 1.3f;
      }
      const values all = after_two_steps(optimizer, start, slopes);
      REQUIRE(all.size() == n);
      values reversed = after_two_steps(optimizer, values(start.rbegin(), start.rend()), values(slopes.rbegin(), slopes.rend()));
      CHECK(values(reversed.rbegin(), reversed.rend()) == all);
      CHECK(after_two_steps(optimizer, {start.back()}, {slopes.back()})[0] == all.back());
    }
  };
  check("gradient descent", gradient_descent(0.1f));
  check("momentum", momentum(0.1f, 0.9f));
  check("Nesterov", nesterov_momentum(0.1f, 0.9f));
  check("Adam", adam(0.01f));
  check("Adagrad", adagrad(0.1f));
  check("RMSProp", rms_prop(0.01f));
  check("FTRL", ftrl(0.1f));
}
