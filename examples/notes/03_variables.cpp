// Variables: their first values, who sets them, what needs them, and where they live. The graph of the counter:
//
//    state = 0 ---> state + 1 ---> assign to state ("update")
//
// A graph describes a variable; its value is in each session that runs the graph.

#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/session/graph_session.hpp>

#include "support/notes.hpp"

#include <cmath>
#include <cstdio>

using namespace leat;
using namespace leat::examples;
using namespace leat::literals;

namespace {

// Mean and standard deviation.
std::pair<double, double> moments_of(std::span<const float> numbers) {
  double mean = 0, square = 0;
  for (const float v : numbers) mean += static_cast<double>(v) / static_cast<double>(numbers.size());
  for (const float v : numbers) square += std::pow(static_cast<double>(v) - mean, 2) / static_cast<double>(numbers.size());
  return {mean, std::sqrt(square)};
}

void first_values() {
  item("3.1", "first values: given, zeros, random");
  graph g;
  auto here = g.as_default();
  auto number = variable(3, "number");
  auto vector = variable({1, 3}, "vector");
  auto matrix = variable({{0, 1}, {2, 3}}, "matrix");
  auto zero = variable(zeros({100}));
  auto noise = variable(random_normal({2, 3}, 1, 2), "noise");
  auto biases = variable(zeros({2}), "biases");
  for (const auto& [v, name] : {std::pair{number, "number:0"},
                                {vector, "vector:0"},
                                {matrix, "matrix:0"},
                                {zero, "Variable:0"},
                                {noise, "noise:0"},
                                {biases, "biases:0"}})
    expect_text("name", v.name(), name);
  graph_session s(g);
  s.run(global_variables_initializer());
  expect("number", s.run(number), 3);
  expect("vector", s.run(vector), {1, 3});
  expect("matrix", s.run(matrix), {{0, 1}, {2, 3}});
  expect("zeros", s.run(zero), std::vector<float>(100));
  expect("biases", s.run(biases), {0.0f, 0.0f});
  expect_text("shape of the noise", brackets(s.run(noise).extent()), "[2,3]");
  const auto [mean, deviation] = moments_of(s.run(random_normal({10000}, 1, 2)).values<float>());
  expect("mean of 10,000 normal numbers", mean, 1.0, 0.1);
  expect("their deviation", deviation, 2.0, 0.1);
  expect_refused<invalid_argument>("the name \" biases\"", "character 1, ' ', does not", [] { variable(zeros({2}), " biases"); });

  auto typed_zero = leat::variable<"zero", float, 100>(zeros);
  auto typed_noise = leat::variable<"noise", float, 100, 100>(random_normal(1, 2));
  auto typed_vector = leat::variable<"vector", float, 2>(zeros);
  session t{typed_zero, typed_noise, typed_vector};
  t.initialize();
  t.assign(typed_vector, std::vector{1.0f, 3.0f});
  expect("typed vector, assigned", t.value(typed_vector), {1.0f, 3.0f});
  expect_equal("typed zeros", t.value(typed_zero), s.run(zero));
  const auto [typed_mean, typed_deviation] = moments_of(tensor_value(t.value(typed_noise)).values<float>());
  expect("typed mean", typed_mean, 1.0, 0.1);
  expect("typed deviation", typed_deviation, 2.0, 0.1);
}

void initializers() {
  item("3.2", "all, some, or one are initialized");
  graph g;
  auto here = g.as_default();
  auto a = variable(1.0f, "a"), b = variable(2.0f, "b"), c = variable(3.0f, "c");
  variable(4.0f, "d");
  variable(5.0f, "e");
  auto all = global_variables_initializer();
  auto some = variables_initializer({b, c}, "init_subset");
  graph_session s(g);
  const auto left = [&] { return static_cast<int>(s.uninitialized_variables().size()); };
  expect("without a value", left(), 5);
  s.run(some);
  expect("after the subset b, c", left(), 3);
  s.run(initializer_of(a));
  expect("after a alone", left(), 2);
  s.run(all);
  expect("after all", left(), 0);
}

void needs() {
  item("3.3", "what needs an initializer");
  graph g;
  auto here = g.as_default();
  auto v = variable(random_normal({10}), "v");
  auto noise = random_normal({10});
  auto init = global_variables_initializer();
  graph_session s(g);
  expect_refused<failed_precondition>("a variable", "Attempting to use uninitialized value", [&] { s.run(v); });
  const auto first = s.run<std::vector<float>>(noise);
  expect("random numbers without one", static_cast<int>(first.size()), 10);
  expect_true("others in the next run", first != s.run<std::vector<float>>(noise));
  s.run(init);
  expect_true("a variable of random numbers keeps them", s.run<std::vector<float>>(v) == s.run<std::vector<float>>(v));
  variable(1.0f, "late");
  const auto missing = s.uninitialized_variables();
  expect_true("a variable made after the initializer is named", missing == std::vector<std::string>{"late"});
}

void lives() {
  item("3.4", "values live in the session");
  graph g;
  auto here = g.as_default();
  auto w = variable(1.0f, "w");
  auto step = assign_add(w, 1.0f);
  auto init = global_variables_initializer();
  const graph_def before = export_graph(g);
  graph_session one(g), other(g);
  one.run(init);
  other.run(init);
  one.run(step);
  expect("w where the step was run", one.run(w), 2);
  expect("w in the other session", other.run(w), 1);
  expect_true("the graph is as it was", export_graph(g) == before);
}

void counter() {
  item("3.5", "a counter");
  graph g;
  auto here = g.as_default();
  auto state = variable(0, "state");
  auto update = assign(state, add(state, 1));
  graph_session s(g);
  s.run(initializer_of(state));
  auto typed_state = leat::variable<"state", int>(0);
  auto typed_update = assign_add(typed_state, 1_c);
  session t{typed_state, typed_update};
  t.initialize();
  for (int count = 0; count <= 3; ++count) {
    expect("state", s.run(state), count);
    expect("typed state", t.value(typed_state), count);
    s.run(update);
    t.run(fetch(typed_update));
  }
}

void parameters() {
  item("3.6", "how many parameters");
  {
    graph g;
    auto here = g.as_default();
    variable(0.0f, "weight");
    variable(0.0f, "bias");
    variable(0, "steps", {.trainable = false});
    expect("a line", parameter_count(), std::int64_t{2});
  }
  {
    graph g;
    auto here = g.as_default();
    variable(zeros({5, 4}), "table");
    expect("a table of 5 rows and 4 columns", parameter_count(), std::int64_t{20});
  }
  graph g;
  auto here = g.as_default();
  const layers::sequential network{layers::dense(256), layers::dense(128), layers::dense(10)};
  network(placeholder(dtype::float32, {-1, 784}));
  const std::string table = summary_table(network);
  std::printf("%s", table.c_str());
  expect("a dense network 784-256-128-10", parameter_count(), std::int64_t{235'146});
  expect_true("the table says so, and their bytes", table.find("235,146") != table.npos && table.find("940,584") != table.npos);

  auto x = leat::placeholder<"x", float, "batch", 784>();
  auto logits = leat::dense<"dense_2", 10>(leat::dense<"dense_1", 128>(leat::dense<"dense", 256>(x)));
  expect("typed", parameter_count(logits), std::int64_t{235'146});
}

}  // namespace

int main(int count, char** arguments) {
  return run_sections(count, arguments, "Variables: first values, initializers, sessions.",
                      {{"first_values", "five first values", first_values},
                       {"initializers", "all, some, one", initializers},
                       {"needs", "what needs an initializer", needs},
                       {"lives", "two sessions of one graph", lives},
                       {"counter", "state + 1 assigned to state", counter},
                       {"parameters", "how many parameters", parameters}});
}
