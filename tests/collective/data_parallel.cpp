#include <leat/collective.hpp>
#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/planned.hpp>
#include <leat/session/graph_session.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

using namespace leat;
using namespace leat::literals;

namespace {

int rank() { return collective::communicator::current().rank(); }
int size() { return collective::communicator::current().size(); }

constexpr int rows = 8;  // of each rank

// The data of some ranks: rows of 4 inputs and a label.
struct data {
  std::vector<float> x, y;
};
template <class F>
data data_of(int first, int count, F f) {
  data d;
  for (int r = first * rows; r < (first + count) * rows; ++r) {
    for (int k = 0; k < 4; ++k) d.x.push_back(f(4 * r + k));
    d.y.push_back(f(7 * r + 3));
  }
  return d;
}
float wave(int k) { return static_cast<float>(std::sin(0.7 * k)); }
// Small integers, whose sums are exact.
float whole(int k) { return static_cast<float>((k * 37) % 5 - 2); }

auto inputs() { return placeholder<"x", float, "batch", 4>(); }
auto labels() { return placeholder<"y", float, "batch">(); }
auto kernel() { return variable<"w", float, 4, 3>(random_uniform(-0.5f, 0.5f, 7)); }
auto last_kernel() { return variable<"v", float, 3, 1>(random_uniform(-0.5f, 0.5f, 8)); }
auto network() {
  const auto b = variable<"b", float, 3>(zeros);
  const auto scale = variable<"scale", float>(ones);
  const auto hidden = tanh(matmul(inputs(), kernel()) + b);
  return reduce_mean(square(squeeze(matmul(hidden, last_kernel())) * scale - labels()));
}

}  // namespace

TEST_CASE("training on all ranks is training with the data of all: compiled, planned, and as a graph") {
  const auto loss = network();
  const auto step = global_step();
  const auto together = data_parallel(adam(0.05f)).minimize(loss, step);
  const auto alone = adam(0.05f).minimize(loss, step);
  session whole_batch{loss, alone};
  whole_batch.initialize();
  session s{loss, together};
  planned_session p{loss, together};
  graph g;
  const default_graph_scope here(g);
  const auto made = to_graph(loss, together);
  graph_session named(g);
  s.initialize();
  p.initialize();
  named.run(global_variables_initializer());
  broadcast_variables(s);
  broadcast_variables(p);
  // Initializers of graphs draw other numbers.
  auto first = values_of(named);
  first["w"] = tensor_value(s.value(kernel()));
  first["v"] = tensor_value(s.value(last_kernel()));
  if (rank() == 0) restore_values(named, first);
  broadcast_variables(named);
  const data all = data_of(0, size(), wave), own = data_of(rank(), 1, wave);
  const tensor_value own_x(shape_value{rows, 4}, own.x), own_y(own.y);
  for (int k = 0; k < 30; ++k) {
    whole_batch.run(fetch(alone), inputs() = all.x, labels() = all.y);
    if (rank() == k % size()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    s.run(fetch(together), inputs() = own.x, labels() = own.y);
    p.run(fetch(together), inputs() = own.x, labels() = own.y);
    named.run(std::get<graph_operation>(made[1]), {{"x:0", own_x}, {"y:0", own_y}});
  }
  const auto expected = whole_batch.value(kernel()), compiled = s.value(kernel()), planned = p.value(kernel());
  const auto graphs = named.run({"w:0"})[0];
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      CHECK(std::abs(compiled(i, j) - expected(i, j)) < 2e-5f);
      CHECK(std::abs(planned(i, j) - compiled(i, j)) < 2e-5f);
      CHECK(std::abs(graphs.values<float>()[3 * i + j] - compiled(i, j)) < 2e-5f);
    }
  CHECK(s.value(step) == 30);
  // All ranks have the same, to the bit.
  const auto w = placeholder<"w_of_rank", float, 4, 3>();
  const auto spread = all_reduce<reduce_by::maximum>(w) - all_reduce<reduce_by::minimum>(w);
  session compare{spread};
  const auto [difference] = compare.run(fetch(spread), w = compiled);
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 3; ++j) CHECK(difference(i, j) == 0);
}

TEST_CASE("where sums are exact, results are those of one process to the bit") {
  if (size() == 3) return;  // a third of a sum is not exact
  const auto w = variable<"w", float, 4>(zeros);
  const auto b = variable<"b", float>(zeros);
  const auto loss = reduce_mean(square(reduce_sum<1>(inputs() * w) + b - labels()));
  const auto together = data_parallel(momentum(0.0625f, 0.5f)).minimize(loss);
  const auto alone = momentum(0.0625f, 0.5f).minimize(loss);
  session s{together};
  session one{alone};
  s.initialize();
  one.initialize();
  broadcast_variables(s);
  const data all = data_of(0, size(), whole), own = data_of(rank(), 1, whole);
  for (int k = 0; k < 2; ++k) {
    one.run(fetch(alone), inputs() = all.x, labels() = all.y);
    s.run(fetch(together), inputs() = own.x, labels() = own.y);
  }
  for (std::size_t i = 0; i < 4; ++i) CHECK(s.value(w)(i) == one.value(w)(i));
  CHECK(s.value(b) == one.value(b));
  CHECK(one.value(b) != 0);
}

TEST_CASE("gradients between compute and apply are the means") {
  const auto w = variable<"w", double, 2>(zeros);
  const auto v = variable<"v", float, 3>(ones);
  const auto u = variable<"u", float>(ones);
  const auto large = variable<"large", float, 200, 100>(ones);  // a message of its own
  const auto factor = placeholder<"factor", float>();
  const auto loss = reduce_sum(cast<float>(w)) * factor + reduce_sum(v) * factor * 2_c + u * factor + reduce_sum(large) * factor * 3_c;
  const auto pairs = data_parallel(gradient_descent(1.0f)).compute_gradients(loss);
  const auto [first, second, third, fourth] = pairs;
  const auto train = data_parallel(gradient_descent(1.0f)).apply_gradients(pairs);
  session s{first.gradient, second.gradient, third.gradient, fourth.gradient, train};
  s.initialize();
  float mean = 0;
  for (int r = 0; r < size(); ++r) mean += static_cast<float>(r + 1) / static_cast<float>(size());
  const auto [a, b, c, d] =
      s.run(fetch(first.gradient, second.gradient, third.gradient, fourth.gradient), factor = static_cast<float>(rank() + 1));
  CHECK(a(1) == doctest::Approx(static_cast<double>(mean)));
  CHECK(b(2) == doctest::Approx(2 * mean));
  CHECK(c == doctest::Approx(mean));
  CHECK(d(199, 99) == doctest::Approx(3 * mean));
  s.run(fetch(train), factor = static_cast<float>(rank() + 1));
  CHECK(s.value(u) == doctest::Approx(1 - mean));
  CHECK(s.value(large)(0, 99) == doctest::Approx(1 - 3 * mean));
}

TEST_CASE("rank 0's first values, and no values") {
  const auto w = variable<"w", float, 2>(zeros);
  const auto n = untrainable_variable<"n", std::int64_t>(zeros);
  session s{w * 1_c, n + 0_c};
  if (rank() != size() - 1 || size() == 1) {  // the root alone needs values
    s.initialize();
    s.assign(w, std::vector<float>{static_cast<float>(rank() + 5), 1});
    s.assign(n, std::int64_t{40 + rank()});
  }
  broadcast_variables(s);
  CHECK(s.value(w)(0) == 5);
  CHECK(s.value(n) == 40);
  planned_session none{w * 1_c};
  CHECK_THROWS_WITH_AS(broadcast_variables(none), "broadcast_variables: a variable has no value on rank 0", failed_precondition);
  graph g;
  const default_graph_scope here(g);
  const output v = variable(static_cast<float>(rank()), "v");
  graph_session named(g);
  CHECK_THROWS_AS(broadcast_variables(named), failed_precondition);
  named.run(global_variables_initializer());
  broadcast_variables(named, size() - 1);
  CHECK(named.run({v})[0].as<float>() == static_cast<float>(size() - 1));
}

TEST_CASE("minimize on a graph, with sparse gradients and a counter") {
  graph g;
  const default_graph_scope here(g);
  const output table = variable(tensor_literal({{1.0f, 1.0f}, {1.0f, 1.0f}, {1.0f, 1.0f}}), "table");
  const output other = variable(2.0, "other");
  const output ids = placeholder(dtype::int32, {-1}, "ids");
  const output large = variable(zeros_of({200, 100}), "large");
  const output loss =
      reduce_sum(embedding_lookup(table, ids)) + cast(other, dtype::float32) + static_cast<float>(rank()) * reduce_sum(large);
  const output step = get_or_create_global_step(g);
  const graph_operation train = data_parallel(gradient_descent(1.0f)).minimize(loss, {.global_step = step});
  const graph_operation again = data_parallel(named_optimizer(gradient_descent(0.5f))).minimize(loss);
  graph_session s(g);
  s.run(global_variables_initializer());
  s.run(train, {{ids, std::vector<std::int32_t>{rank() % 3, 2}}});
  const auto got = s.run({table, other, step});
  const auto hits = [](int row) {
    float sum = row == 2 ? 1.0f : 0.0f;
    for (int r = 0; r < size(); ++r) sum += r % 3 == row ? 1.0f / static_cast<float>(size()) : 0.0f;
    return sum;
  };
  for (int row = 0; row < 3; ++row) CHECK(got[0].values<float>()[static_cast<std::size_t>(2 * row)] == doctest::Approx(1 - hits(row)));
  CHECK(got[1].as<double>() == 1);
  CHECK(got[2].as<std::int64_t>() == 1);
  CHECK(s.run({large})[0].values<float>()[19999] == doctest::Approx(0.5 * (1 - size())));
  s.run(again, {{ids, std::vector<std::int32_t>{0}}});
  CHECK(s.run({other})[0].as<double>() == 0.5);
}
