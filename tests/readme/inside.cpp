// Traces, memory plans, interactive use and gradients of functions as docs/inside.md shows them.

// [listing inside_includes]
#include <leat/graphs.hpp>
#include <leat/inspect/trace.hpp>
#include <leat/leat.hpp>
#include <leat/ops/known.hpp>
#include <leat/session/gradient_of.hpp>
#include <leat/session/interactive_session.hpp>
#include <leat/session/typed/evaluate.hpp>

#include <cstdio>
// [end]

using namespace leat;

namespace {

void traces() {
  graph g;
  auto scope = g.as_default();
  auto x = placeholder(dtype::float32, {-1, 2}, "x");
  auto w = constant({{1.0f}, {2.0f}}, "w");
  auto y = reduce_sum(tanh(matmul(x, w, "h"), "t"), {0, 1}, keep_dims::no, "y");
  const xt::xtensor<float, 2> xs{{1, 0}, {0, 1}, {1, 1}};
  graph_session s(g);
  // [listing inside_trace]
  run_trace t;
  s.run(y, {{x, xs}}, {.trace = &t});
  for (const auto& row : t.by_node()) std::printf("%lld x %s\n", static_cast<long long>(row.count), row.name.c_str());
  t.write_chrome_trace("step.json");                       // for chrome://tracing, or ui.perfetto.dev
  const std::string times = t.statistics_table();          // count, total, mean, least, most, share
  const std::string memory = t.memory()[0].text();         // buffers, their bytes, lives and places

  run_trace nodes(trace_detail::nodes);                    // every node by itself
  s.run(y, {{x, xs}}, {.trace = &nodes});
  std::printf("%zu nodes\n", nodes.by_node().size());
  // [end]
}

void compiled() {
  auto x = placeholder<"x", float, "n", 2>();
  auto w = variable<"w", float, 2, 1>(ones);
  auto loss = reduce_mean(square(matmul(x, w)));
  session s{loss};
  s.initialize();
  const xt::xtensor<float, 2> xs{{1, 0}, {0, 1}, {1, 1}};
  // [listing inside_compiled]
  run_trace t;
  auto [value] = s.run_traced(t, fetch(loss), x = xs);
  const memory_plan plan = memory_plan_of(s.planned(fetch(loss)));
  std::printf("%g in %zu steps\n", value, plan.steps.size());
  // [end]
}

void interactive() {
  graph g;
  // [listing inside_interactive]
  interactive_session s(g);
  auto v = variable(1.0f, "v");
  run(initializer_of(v));
  run(assign_add(v, 2.0f).operation());
  std::printf("%g\n", eval<float>(v));
  // [end]
}

void functions() {
  // [listing inside_functions]
  auto f = [](auto x) { return reduce_sum(square(x)); };
  xt::xtensor<float, 1> slope = gradient_of(f)(xt::xtensor<float, 1>{1, 2, 3});
  auto [value, again] = value_and_gradient_of(f)(std::vector<float>{1, 2, 3});
  float second = gradient_of(gradient_of([](auto x) { return x * x * x; }))(2.0f);
  float product = evaluated([](auto a, auto b) { return a * b; })(6.0f, 7.0f);
  std::printf("%g %g %g %g %g\n", slope(2), value.as<float>(), again[0], second, product);

  auto x = placeholder<"x", float, "n">();
  std::printf("%g\n", evaluate(reduce_max(x), x = std::vector<float>{3, 5, 4}));
  // [end]
}

}  // namespace

int main() {
  traces();
  compiled();
  interactive();
  functions();
}
