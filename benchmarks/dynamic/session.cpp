// bench_dynamic [filter]: dynamic sessions. First graphs of scalar additions, nanoseconds a node against what is asked for; loops
// and a step with a random number, whose parts are programs, against the same node by node; then steps against the same
// expressions in a compiled session, in pairs on one thread: the graph is made by `to_graph`, both are prepared once, fed arrays and
// fetched from; results must agree. The network's step is also timed without the session around it by bench_interpret.

#include "../graph/tree.hpp"
#include "../rivals/fused.hpp"
#include "../rivals/linear.hpp"

#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/session/graph_session.hpp>

#include <nlohmann/json.hpp>
#include <xtensor/xadapt.hpp>

#include "environment.hpp"
#include "network_model.hpp"
#include "suite.hpp"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>

namespace bench {
namespace {

using namespace leat;
using namespace leat::literals;

// ---- scalars: what a node costs ----

class node_times {
 public:
  node_times(std::string filter, double seconds) : filter_(std::move(filter)), seconds_(seconds) {}

  /// Times `step`, of so many nodes; `target` is nanoseconds a node, 0 for none.
  template <class Step>
  void time(const char* name, int nodes, double target, Step step, const char* unit = "ns a node") {
    if (wants(name)) add(name, best_of(step) * 1e9 / nodes, target, unit);
  }
  /// The least seconds that a step takes.
  template <class Step>
  double best_of(Step step) const {
    step();
    step();
    double best = 1;
    // batches of a fifth of a millisecond: some of them are disturbed by nothing
    const long calls = std::max(1L, static_cast<long>(2e-4 / seconds_of(step, 1)));
    for (double spent = 0; spent < seconds_;) {
      const double t = seconds_of(step, calls);
      spent += t;
      best = std::min(best, t / static_cast<double>(calls));
    }
    return best;
  }
  void add(const char* name, double value, double target, const char* unit) {
    if (target > 0) std::printf("%-28s %10.2f %-10s at most %6.1f  %s\n", name, value, unit, target, value <= target ? "yes" : "NO");
    else std::printf("%-28s %10.2f %s\n", name, value, unit);
    rows_.push_back({{"case", name}, {"leat", value}, {"target", target}, {"unit", unit}});
  }
  bool wants(const char* name) const { return std::string_view(name).find(filter_) != std::string_view::npos; }
  const nlohmann::json& rows() const { return rows_; }

 private:
  std::string filter_;
  double seconds_;
  nlohmann::json rows_ = nlohmann::json::array();
};

void time_nodes(node_times& times) {
  {
    graph g;
    const auto scope = g.as_default();
    const output a = placeholder(dtype::float32, {}, "a"), b = placeholder(dtype::float32, {}, "b");
    graph_session s(g);
    auto one = s.prepare({a + b}, {a, b});
    times.time("one_operator", 1, 300, [&] { one(1.0f, 2.0f); });
  }
  for (const bool fuse : {true, false}) {
    graph g;
    const auto scope = g.as_default();
    const output a = placeholder(dtype::float32, {}, "a"), b = placeholder(dtype::float32, {}, "b");
    output sum = b;
    for (int k = 0; k < 1000; ++k) sum = sum + a;
    graph_session s(g, {.fuse = fuse});
    auto chain = s.prepare({sum}, {a, b});
    if (chain(1.0f, 0.0f)[0].as<float>() != 1000) throw std::runtime_error("the chain's result is wrong");
    times.time(fuse ? "chain_1000" : "chain_1000_by_node", 1000, fuse ? 30 : 0, [&] { chain(1.0f, 0.0f); });
  }
  for (const bool fuse : {true, false}) {
    // each has a constant of its own, so that no two are the same, and each is fetched
    graph g;
    const auto scope = g.as_default();
    const output a = placeholder(dtype::float32, {}, "a");
    std::vector<output> sums;
    for (int k = 0; k < 1000; ++k) sums.push_back(a + static_cast<float>(k));
    graph_session s(g, {.fuse = fuse});
    auto all = s.prepare(sums, std::vector<output>{a});
    if (all(1.0f)[999].as<float>() != 1000) throw std::runtime_error("a sum is wrong");
    times.time(fuse ? "independent_1000" : "independent_1000_by_node", 1000, fuse ? 60 : 0, [&] { all(1.0f); });
  }
  {
    // an array of a few numbers in and out, against a run that is fed and gives nothing but numbers
    graph g;
    const auto scope = g.as_default();
    const output x = placeholder(dtype::float32, {10}, "x");
    graph_session s(g);
    auto array = s.prepare({x * 2.0f}, {x});
    const xt::xtensor<float, 1> numbers = xt::ones<float>({10});
    times.time("feed_and_fetch_array", 1, 300, [&] { array(numbers); });
    const output v = variable(1.0f, "v"), count = assign_add(v, 1.0f);
    s.run(global_variables_initializer());
    auto nothing = s.prepare(std::vector<graph_operation>{count.operation()}, std::vector<output>{});
    times.time("operation_alone", 1, 300, [&] { nothing(); });
  }
  for (const int nodes : {10'000, 100'000}) {
    const std::string name = "first_run_" + std::to_string(nodes);
    if (!times.wants(name.c_str())) continue;
    double best = 1e9;
    for (int round = 0; round < 200'000 / nodes; ++round) {
      graph g;
      const output root = bench::product_of_sums(g, nodes);
      graph_session s(g);
      const auto start = std::chrono::steady_clock::now();
      s.run(root, {{"a:0", 1.0f}});
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() * 1e9 / g.size());
    }
    times.add(name.c_str(), best, 0, "ns a node");
  }
}

// Two products that do not depend on each other: node by node on one thread, on two, each on one; and as a program, whose products
// are each cut up for two threads.
void time_two_products(node_times& times) {
  constexpr int n = 512;
  const xt::xtensor<float, 2> xs = xt::ones<float>({n, n}) * 0.5f;
  struct way {
    const char* name;
    bool fuse;
    int between, inside;
  };
  for (const way& w : {way{"two_products_512_in_turn", false, 1, 1}, way{"two_products_512_at_once", false, 2, 1},
                       way{"two_products_512_cut_up", false, 1, 2}, way{"two_products_512_program", true, 0, 2}}) {
    if (!times.wants(w.name)) continue;
    graph g;
    const auto scope = g.as_default();
    const output x = placeholder(dtype::float32, {n, n}, "x"), y = placeholder(dtype::float32, {n, n}, "y");
    graph_session s(g, {.fuse = w.fuse, .inter_op_parallelism_threads = w.between});
    auto both = s.prepare({matmul(x, y), matmul(y, x)}, {x, y});
    use_threads(w.inside);
    both(xs, xs);
    times.add(w.name, times.best_of([&] { both(xs, xs); }) * 1e6, 0, "us a run");
  }
  use_threads(1);
}

// ---- parts of runs: against the same nodes one by one ----

// What an iteration of a loop takes, of numbers and of arrays, and what a training step with a random number in its middle does.
void time_parts(node_times& times) {
  for (const bool fuse : {true, false}) {
    const auto named = [&](std::string name) { return fuse ? name : name + "_by_node"; };
    if (const std::string name = named("loop_of_numbers"); times.wants(name.c_str())) {
      static constexpr int iterations = 1000;
      graph g;
      const auto scope = g.as_default();
      const auto last = while_loop([](output i, output) { return i < iterations; },
                                   [](output i, output a) { return std::array{i + 1, (a * 0.5f + 1.0f) * 0.9f - 0.3f * a + tanh(a)}; },
                                   {0, constant(1.0f)});
      graph_session s(g, {.fuse = fuse});
      auto call = s.prepare({last[1]}, {});
      times.time(name.c_str(), iterations, 0, [&] { call(); }, "ns an iteration");
    }
    for (const int n : {100, 10'000, 1'000'000}) {
      const std::string name = named("loop_of_arrays_" + std::to_string(n));
      if (!times.wants(name.c_str())) continue;
      static constexpr int iterations = 20;
      graph g;
      const auto scope = g.as_default();
      const output x = placeholder(dtype::float32, {n}, "x");
      const auto last =
          while_loop([](output i, output) { return i < iterations; },
                     [&](output i, output a) { return std::array{i + 1, tanh(a * x + 0.3f) * sigmoid(x) - a * 0.5f}; }, {0, x});
      graph_session s(g, {.fuse = fuse});
      auto call = s.prepare({last[1]}, {x});
      const xt::xtensor<float, 1> xs = xt::ones<float>({n}) * 0.3f;
      times.time(name.c_str(), iterations, 0, [&] { call(xs); }, "ns an iteration");
    }
    if (const std::string name = named("dropout_step"); times.wants(name.c_str())) {
      graph g;
      const auto scope = g.as_default();
      const output x = placeholder(dtype::float32, {-1, 100}, "x");
      const output w1 = variable(tensor_literal(dtype::float32, shape{2, {100, 64}}, 0.01), "w1");
      const output w2 = variable(tensor_literal(dtype::float32, shape{2, {64, 10}}, 0.02), "w2");
      const output hidden = dropout(relu(matmul(x, w1) + 0.1f), 0.3, 7);
      const output loss = reduce_mean(square(matmul(hidden, w2) - 1.0f), {0, 1});
      const auto slopes = gradients({loss}, {w1, w2});
      const output step1 = assign_sub(w1, slopes[0] * 0.01f), step2 = assign_sub(w2, slopes[1] * 0.01f);
      graph_session s(g, {.fuse = fuse});
      s.run(global_variables_initializer());
      auto call = s.prepare({loss, step1.operation(), step2.operation()}, {x});
      const xt::xtensor<float, 2> xs = xt::ones<float>({32, 100});
      times.time(name.c_str(), 1, 0, [&] { call(xs); }, "ns a step");
    }
  }
}

// ---- steps: against the compiled session ----

template <int N>
void compare_fused(suite& cases, const std::string& name) {
  const fused_data data(N);
  const auto array = [](const buffer& values) {
    return xt::adapt(values.data(), values.size(), xt::no_ownership(), std::array{values.size()});
  };
  const auto as = array(data.a), bs = array(data.b), cs = array(data.c), ds = array(data.d);
  buffer compiled_results(N);
  auto out = xt::adapt(compiled_results.data(), compiled_results.size(), xt::no_ownership(), std::array{compiled_results.size()});
  auto a = placeholder<"a", float, N>();
  auto b = placeholder<"b", float, N>();
  auto c = placeholder<"c", float, N>();
  auto d = placeholder<"d", float, N>();
  auto result = tanh(a * b + c) * sigmoid(d) - 0.5_c * a;
  session s{result};
  auto step = s.prepare(leat::fetch(into(result, out)), a = as, b = bs, c = cs, d = ds);

  graph g;
  const auto scope = g.as_default();
  const auto made = to_graph(result);
  graph_session dynamic(g);
  auto call = dynamic.prepare(made, {"a", "b", "c", "d"});
  const std::vector<tensor_value>* results = nullptr;
  cases.compare(name, 2e-6,
                contend(
                    "dynamic", [] {}, [&] { results = &call(as, bs, cs, ds); },
                    [&] {
                      const auto all = (*results)[0].values<float>();
                      return std::vector<float>(all.begin(), all.end());
                    }),
                {contend("compiled", [] {}, [&] { step(); }, [&] { return joined(compiled_results); })});
}

void compare_linear(suite& cases, const std::string& name) {
  constexpr int N = 100;
  const linear_data data(N);
  xt::xtensor<float, 1> xs = xt::adapt(data.x.data(), {N}), ys = xt::adapt(data.y.data(), {N});
  auto x = placeholder<"x", float, N>();
  auto y = placeholder<"y", float, N>();
  auto w = variable<"w", float>(zeros);
  auto b = variable<"b", float>(zeros);
  auto loss = reduce_mean(square(w * x + b - y));
  auto train = gradient_descent(0.01_c).minimize(loss);
  session s{loss, train};
  auto step = s.prepare(leat::fetch(loss, train), x = xs, y = ys);
  float last_loss = 0, dynamic_loss = 0;

  graph g;
  const auto scope = g.as_default();
  const auto made = to_graph(loss, train);
  graph_session dynamic(g);
  const output dw = get_tensor_by_name(g, "w:0"), db = get_tensor_by_name(g, "b:0");
  auto call = dynamic.prepare(made, {"x", "y"});
  cases.compare(name, 1e-5,
                contend(
                    "dynamic",
                    [&] {
                      dynamic.assign(dw, linear_start_w);
                      dynamic.assign(db, linear_start_b);
                    },
                    [&] { dynamic_loss = call(xs, ys)[0].values<float>()[0]; },
                    [&] {
                      return std::vector<float>{dynamic.value(dw).as<float>(), dynamic.value(db).as<float>(), dynamic_loss};
                    }),
                {contend(
                    "compiled",
                    [&] {
                      s.assign(w, linear_start_w);
                      s.assign(b, linear_start_b);
                    },
                    [&] { last_loss = std::get<0>(step()); },
                    [&] {
                      return std::vector<float>{s.value(w), s.value(b), last_loss};
                    })});
}

template <class Optimizer>
void compare_network(suite& cases, const std::string& name, const Optimizer& optimizer, double tolerance) {
  const network_data data;
  const network_arrays in(data);
  const auto loss = network_loss();
  const auto train = optimizer.minimize(loss);
  float dynamic_loss = 0;

  graph g;
  const auto scope = g.as_default();
  const auto made = to_graph(loss, train);
  const graph_operation init = global_variables_initializer();
  graph_session dynamic(g);
  auto call = dynamic.prepare(made, {"x", "y"});
  const auto of = [&](const char* variable) { return get_tensor_by_name(g, variable); };
  const auto values = [&](const char* variable) {
    const tensor_value held = dynamic.value(of(variable));
    const auto all = held.values<float>();
    return std::vector<float>(all.begin(), all.end());
  };
  const auto ours = contend(
      "dynamic",
      [&] {
        dynamic.run(init);
        dynamic.assign(of("w1:0"), in.start1);
        dynamic.assign(of("w2:0"), in.start2);
        dynamic.assign(of("w3:0"), in.start3);
      },
      [&] { dynamic_loss = call(in.x, in.labels)[0].template values<float>()[0]; },
      [&] {
        return joined(std::vector<float>{dynamic_loss}, values("w1:0"), values("b1:0"), values("w2:0"), values("b2:0"), values("w3:0"),
                      values("b3:0"));
      });
  with_compiled_network("compiled", in, train, [&](const contender& compiled) { cases.compare(name, tolerance, ours, {compiled}); });
}

}  // namespace
}  // namespace bench

int main(int count, char** arguments) try {
  bench::options settings;
  std::string nodes_json = "nodes.json";
  for (int i = 1; i < count; ++i) {
    if (std::strcmp(arguments[i], "--seconds") == 0 && i + 1 < count)
      settings.seconds = std::strtod(arguments[++i], nullptr);
    else if (std::strcmp(arguments[i], "--json") == 0 && i + 1 < count)
      settings.json = arguments[++i];
    else if (std::strcmp(arguments[i], "--nodes-json") == 0 && i + 1 < count)
      nodes_json = arguments[++i];
    else
      settings.filter = arguments[i];
  }
  bench::prepare_environment(arguments);
  const leat::denormals_as_zero flushed;  // as the rivals are timed, too
  bench::use_threads(1);
  bench::node_times times(settings.filter, settings.seconds);
  bench::time_nodes(times);
  bench::time_parts(times);
  bench::time_two_products(times);
  if (std::ofstream out(nodes_json); !(out << times.rows().dump(1) << '\n')) throw std::runtime_error(nodes_json + ": cannot be written");
  bench::suite cases(settings);
  using bench::on_one_thread;
  on_one_thread(cases, "fused_1e5", [&](const std::string& name) { bench::compare_fused<100'000>(cases, name); });
  on_one_thread(cases, "fused_1e7", [&](const std::string& name) { bench::compare_fused<10'000'000>(cases, name); });
  on_one_thread(cases, "linear_100", [&](const std::string& name) { bench::compare_linear(cases, name); });
  using namespace leat::literals;
  on_one_thread(cases, "network_sgd",
                [&](const std::string& name) { bench::compare_network(cases, name, leat::gradient_descent(0.01_c), 1e-4); });
  on_one_thread(cases, "network_adam",
                [&](const std::string& name) { bench::compare_network(cases, name, leat::adam(bench::adam_rate), 1e-3); });
  return cases.finish();
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_dynamic: %s\n", error.what());
  return 1;
}
