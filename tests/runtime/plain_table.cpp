#include <leat/runtime/programs/plain_table.hpp>

#include <doctest/doctest.h>

#include <leat/graphs.hpp>
#include <leat/inspect/trace.hpp>
#include <leat/leat.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/session/graph_session.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace leat;
using namespace leat::literals;

namespace {

std::vector<std::string> plan_events(const run_trace& t) {
  std::vector<std::string> names;
  for (const trace_event& e : t.events())
    if (e.type == "Plan") names.push_back(e.name);
  return names;
}
std::vector<std::string> plan_events(graph_session& s, const output& y, const feed_list& feeds = {}) {
  run_trace t;
  s.run(y, feeds, {.trace = &t});
  return plan_events(t);
}
std::vector<std::string> steps_of_trace(const run_trace& t) {
  std::vector<std::string> names;
  for (const trace_event& e : t.events())
    if (!e.is_phase()) names.push_back(e.name);
  return names;
}

}  // namespace

TEST_CASE("a graph with names becomes the program of the same typed expressions") {
  const auto tx = placeholder<"x", float, 5, 4>();
  const auto tw = variable<"w", float, 4, 3>(zeros);
  const auto loss = reduce_mean<0, 1>(square(tanh(matmul(tx, tw)) - 1_c));
  const auto slope = std::get<0>(gradients(loss, tw));
  session typed{loss, slope};
  typed.initialize();
  run_trace of_typed;
  const xt::xtensor<float, 2> zeros_fed = xt::zeros<float>({5, 4});
  typed.run_traced(of_typed, fetch(loss, slope), tx = zeros_fed);

  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1, 4}, "x");
  const auto w = variable(zeros_of({4, 3}), "w");
  const auto y = reduce_mean(square(tanh(matmul(x, w)) - 1), {0, 1});
  const auto dw = gradients({y}, {w})[0];
  graph_session s(g);
  s.run(global_variables_initializer());
  run_trace of_named;
  s.run(std::vector<output>{y, dw}, feed_list{{x, tensor_value(dtype::float32, shape_value{5, 4})}}, {.trace = &of_named});
  CHECK(plan_events(of_named) == std::vector<std::string>{"make a program"});
  // The first events are those of nodes that depend on shapes alone: they were computed while the program was made.
  const auto steps = steps_of_trace(of_typed), all = steps_of_trace(of_named);
  REQUIRE(all.size() > steps.size());
  CHECK(steps.size() == 4);
  CHECK(std::equal(steps.rbegin(), steps.rend(), all.rbegin()));
}

TEST_CASE("a training step is a program, that of gradient descent the program of the typed one") {
  const auto x = placeholder<"x", float, 8, 3>();
  const auto w = variable<"w", float, 3, 2>(zeros);
  const auto loss = reduce_mean(square(matmul(x, w)));
  const auto compare = [&](const auto& optimizer, std::size_t further) {
    const auto train = optimizer.minimize(loss);
    session typed{train};
    typed.initialize();
    run_trace of_typed;
    const xt::xtensor<float, 2> xs = xt::ones<float>({8, 3});
    typed.run_traced(of_typed, fetch(train), x = xs);

    graph g;
    const auto scope = g.as_default();
    const auto in = placeholder(dtype::float32, {8, 3}, "x");
    const auto weights = get_variable("w", {3, 2}, {.initializer = zeros});
    const graph_operation step = optimizer.minimize(reduce_mean(square(matmul(in, weights), {}), all_axes));
    graph_session s(g);
    s.run(global_variables_initializer());
    const feed_list fed{{in, tensor_value(shape_value{8, 3}, std::vector<float>(24, 1.0f))}};
    s.run(step, fed);
    run_trace warm;
    s.run(step, fed, {.trace = &warm});
    // Slots' updates come one after the other here, so that an update is one row.
    const std::size_t steps = steps_of_trace(of_typed).size(), made = steps_of_trace(warm).size();
    CHECK(plan_events(warm).empty());
    CHECK(made >= steps);
    CHECK(made <= steps + further);
  };
  compare(gradient_descent(0.1f), 0);
  compare(momentum(0.1f, 0.9f), 1);
  compare(nesterov_momentum(0.1f, 0.9f), 1);
  compare(adam(0.1f), 2);
}

TEST_CASE("a trace says why nodes run one by one") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1}, "x");
  const auto v = variable(1.0f, "v");
  const auto there = call_operator(g, "Where", {x > 0.0f}, {}, "there").result();
  const auto few = x + 1.0f;
  const auto chosen = cond(reduce_sum(x) > 0.0f, [&] { return x + 1.0f; }, [&] { return x; });
  const auto sizes = shape_of(few);
  const auto counted = floordiv(sizes, sizes - sizes);
  graph_session s(g);
  const feed_list fed{{x, tensor_value({1.0f, 2.0f, 3.0f})}};
  CHECK(plan_events(s, few, fed) == std::vector<std::string>{"make a program"});
  CHECK(plan_events(s, few, fed).empty());
  const std::string why = "no program: the node 'there' (Where): not expressed by operators that a program has";
  for (int k = 0; k < 3; ++k) CHECK(plan_events(s, there, fed) == std::vector<std::string>{"make a program", why});
  CHECK(plan_events(s, there, fed) == std::vector<std::string>{why});  // it is tried no more
  CHECK(plan_events(s, chosen, fed).at(0) == "no program: it has branches or loops");
  // the error is the node's
  run_trace t;
  CHECK_THROWS_WITH_AS(s.run(counted, fed, {.trace = &t}), doctest::Contains("floordiv"), invalid_argument);
  CHECK(plan_events(t).at(1).find("no program: ") == 0);
  run_trace unset;
  CHECK_THROWS_AS(s.run(v + x, fed, {.trace = &unset}), failed_precondition);
  CHECK(plan_events(unset).at(1).find("the variable has no value yet") != std::string::npos);
}

TEST_CASE("only what a node refuses means that there is no program: a bug is not hidden") {
  static bool is_broken = false;
  register_kernel("PlainTableFault", [](kernel_context& c) {
    if (std::exchange(is_broken, false)) throw std::logic_error("a bug in a kernel");  // and not if it is called again
    c.set(0, c.take(0));
  });
  define_operator("PlainTableFault(x: float) -> (y: float)");
  graph g;
  const auto scope = g.as_default();
  const auto y = call_operator(g, "PlainTableFault", {constant(1.0f)}, {}, "fault").result() + 1.0f;
  graph_session s(g);
  is_broken = true;
  CHECK_THROWS_WITH_AS(s.run(y), "a bug in a kernel", std::logic_error);
  CHECK(s.run(y).as<float>() == 2.0f);
}

TEST_CASE("what a constant or a read waits for is done, in a program, too") {
  graph g;
  const auto scope = g.as_default();
  const auto v = variable(1.0f, "v");
  const auto x = placeholder(dtype::float32, {2, 3}, "x");
  const auto up = assign_add(v, 1.0f, "up");
  std::vector<output> waiting;
  {
    const auto waits = control_dependencies({up});
    waiting = {identity(v, "after"), v * 2.0f, reduce_sum(x, {0}), constant(5.0f)};
  }
  graph_session s(g);
  s.run(global_variables_initializer());
  float now = 1;
  for (int times = 0; times < 2; ++times)
    for (const output& o : waiting) {
      CAPTURE(o.name());
      const auto fused = s.fused_runs();
      const tensor_value got = s.run(o, {{x, tensor_value(dtype::float32, shape_value{2, 3})}});
      now += 1;
      CHECK(s.value(v).as<float>() == now);
      if (o.name() == "after:0") CHECK(got.as<float>() == now);
      if (o.name() == "mul:0") CHECK(got.as<float>() == 2 * now);
      CHECK(s.fused_runs() == fused + 1);
    }
}
