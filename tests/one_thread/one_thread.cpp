// Compiled sessions and sessions of graphs where LEAT_USE_TBB is not defined: chunks in their order, and node after node.

#include <leat/leat.hpp>

#include <doctest/doctest.h>

// All of what users include, together: no two have one name for two things.
#include <leat/calculus.hpp>
#include <leat/graphs.hpp>
#include <leat/loops.hpp>
#include <leat/planned.hpp>
#include <leat/static.hpp>
#include <leat/vmap.hpp>
#include <leat/named/control/loop.hpp>
#include <leat/named/functions/host_function.hpp>
#include <leat/session/graph_session.hpp>

#include <set>
#include <thread>

#if defined(LEAT_USE_TBB)
#error this program is for what is there without oneTBB
#endif

using namespace leat;

namespace {

std::vector<float> numbers(std::size_t n) {
  std::vector<float> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<float>(i * 37 % 211) / 211.0f - 0.5f;
  return v;
}
output host_call(std::string_view token, const output& x) {
  return call_operator(default_graph(), "PyFunc", {number_argument(x)},
                       {{"token", std::string(token)}, {"Tout", std::vector<data_type>{data_type::float32}}}, token)
      .result();
}

}  // namespace

TEST_CASE("there is one thread, whatever is asked for") {
  static_assert(!cpu::has_threads);
  cpu::set_thread_count(8);
  CHECK(cpu::thread_count() == 1);
  const cpu::scoped_thread_limit within(4);
  CHECK(cpu::thread_count() == 1);
  CHECK(cpu::thread_limit() == 0);
  CHECK(within.count_outside() == 1);
  std::vector<std::int64_t> order;
  cpu::parallel_for(5, [&](std::int64_t chunk) { order.push_back(chunk); });
  CHECK(order == std::vector<std::int64_t>{0, 1, 2, 3, 4});
}

TEST_CASE("a compiled session: chunks, their sums, a product, a step") {
  const auto x = placeholder<"x", float, 300, 300>();
  const auto w = variable<"w", float, 300, 300>(zeros);
  const auto product = matmul(x, x) + w;
  const auto sums = reduce_sum<0>(tanh(product));
  const auto all = reduce_sum(product * product);
  const auto step = assign_add(w, 0.5f * x);
  session s{product, sums, all, group(step)};
  s.initialize();
  const auto given = numbers(300 * 300);
  xt::xtensor<float, 2> xs = xt::xtensor<float, 2>::from_shape({300, 300});
  std::copy(given.begin(), given.end(), xs.begin());
  for (int round = 0; round < 2; ++round) {
    const auto [p, column, total] = s.run(fetch(product, sums, all), x = xs);
    double squares = 0;
    for (const std::size_t at : {std::size_t{0}, std::size_t{77}, std::size_t{299}}) {
      double wanted = round * 0.5 * static_cast<double>(xs(at, 5)), column_sum = 0;
      for (std::size_t k = 0; k < 300; ++k) wanted += static_cast<double>(xs(at, k)) * static_cast<double>(xs(k, 5));
      CHECK(p(at, 5) == doctest::Approx(wanted).epsilon(1e-4));
      for (std::size_t i = 0; i < 300; ++i) column_sum += std::tanh(static_cast<double>(p(i, at)));
      CHECK(column(at) == doctest::Approx(column_sum).epsilon(1e-4));
    }
    for (const float v : p) squares += static_cast<double>(v) * static_cast<double>(v);
    CHECK(total == doctest::Approx(squares).epsilon(1e-4));
    s.run(fetch(group(step)), x = xs);
  }
}

TEST_CASE("a graph as a program and node by node") {
  graph g;
  auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {-1, -1}, "x");
  const output w = variable(tensor_literal(dtype::float32, shape{2, {200, 1}}), "w");
  const output loss = reduce_mean(square(matmul(x, w) - 1.0f), {0, 1}, keep_dims::no, "loss");
  const auto train = gradient_descent(0.01f).minimize(loss);
  const auto powers = while_loop([](output i, output) { return i < 4; },
                                 [&](output i, output y) { return std::array{i + 1, matmul(y, x) * 0.1f}; }, {0, x})[1];
  const tensor_value fed(shape{2, {200, 200}}, numbers(200 * 200));
  std::vector<float> losses;
  std::vector<tensor_value> reached;
  for (const bool fuse : {true, false}) {
    graph_session s(g, {.fuse = fuse, .inter_op_parallelism_threads = 4, .intra_op_parallelism_threads = 4});
    s.run(global_variables_initializer());
    for (int k = 0; k < 20; ++k) s.run(train, {{x, fed}});
    losses.push_back(s.run<float>(loss, {{x, fed}}));
    CHECK((s.fused_runs() > 0) == fuse);
    reached.push_back(s.run(powers, {{x, fed}}));
  }
  CHECK(losses[0] < 1.0f);
  CHECK(losses[0] == doctest::Approx(losses[1]).epsilon(1e-4));
  for (std::size_t k = 0; k < 200; ++k) CHECK(reached[0].values<float>()[k] == reached[1].values<float>()[k]);
}

TEST_CASE("nodes that wait run on the thread that asked, one after the other") {
  graph g;
  auto scope = g.as_default();
  const output x = constant(1.0f);
  const output a = host_call("a", x), b = host_call("b", x);
  const output q = call_operator(g, "FIFOQueueV2", {},
                                 {{"component_types", std::vector<data_type>{data_type::float32}},
                                  {"shapes", std::vector<tensor_shape_proto>{tensor_shape_proto{}}},
                                  {"capacity", std::int64_t{2}}},
                                 "q")
                       .result();
  const output taken = call_operator(g, "QueueDequeueV2", {number_argument(q)},
                                     {{"component_types", std::vector<data_type>{data_type::float32}}}, "take")
                           .result();
  const auto add = call_operator(g, "QueueEnqueueV2", {number_argument(q), number_argument(a + b)}, {}, "add");
  graph_session s(g, {.inter_op_parallelism_threads = 8});
  std::set<std::thread::id> seen;
  for (const char* name : {"a", "b"})
    s.register_host_function(name, [&](std::span<const tensor_value> in) {
      seen.insert(std::this_thread::get_id());
      return std::vector<tensor_value>{in[0]};
    });
  s.run(add);
  CHECK(seen == std::set{std::this_thread::get_id()});
  CHECK(s.run<float>(taken) == 2);
  // nobody adds to it while the only thread waits
  CHECK_THROWS_AS(s.run(taken, {}, {.timeout_in_ms = 30}), deadline_exceeded);
  std::thread other([&] { s.run(add); });
  CHECK(s.run<float>(taken, {}, {.timeout_in_ms = 30'000}) == 2);
  other.join();
}
