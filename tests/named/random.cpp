#include <leat/graphs.hpp>
#include <leat/named/functions/random.hpp>
#include <leat/session/graph_session.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <type_traits>

using namespace leat;

namespace {

std::vector<std::string> names_of(graph& g) {
  std::vector<std::string> names;
  for (const auto& op : get_operations(g)) names.push_back(op.name());
  return names;
}

}  // namespace

TEST_CASE("with a shape, the names of initializers make tensors") {
  graph g;
  auto here = g.as_default();
  static_assert(initializer<decltype(random_normal(0, 0.1))> && initializer<decltype(random_uniform())> &&
                initializer<decltype(truncated_normal(0.0, 1.0, 7))>);
  static_assert(std::is_same_v<decltype(random_normal({3})), output>);  // not the number 3
  static_assert(std::is_same_v<decltype(random_normal({})), output>);
  CHECK(random_normal({2, 3}).extent() == shape_value{2, 3});
  CHECK(random_normal({3}).extent() == shape_value{3});
  CHECK(random_normal({}).extent() == shape{});
  CHECK(random_normal(placeholder(dtype::float32, {4, 2}).extent(), 0, 1, dtype::float64).type() == dtype::float64);
  CHECK(truncated_normal({2, 0}, 0, 0.1).extent() == shape_value{2, 0});
  CHECK(random_uniform({5}, -1, 1).extent() == shape_value{5});
  CHECK(zeros({2}).extent() == shape_value{2});
  CHECK(zeros({}).extent() == shape{});
  CHECK(ones({2, 3}, dtype::int64).type() == dtype::int64);
  CHECK(zeros(random_uniform({5}).extent(), dtype::float32, "z").name() == "z:0");
  CHECK_THROWS_AS(random_normal({-1, 3}), invalid_argument);
  CHECK_THROWS_AS(zeros({-1, 3}), invalid_argument);
  CHECK_THROWS_AS(zeros(unknown_shape), invalid_argument);
  CHECK_THROWS_AS(random_uniform({std::int64_t{1} << 40, std::int64_t{1} << 40}), error);
}

TEST_CASE("their nodes have TensorFlow's names") {
  graph g;
  auto here = g.as_default();
  random_normal({2});
  random_uniform({2});
  zeros({2});
  zeros({2});
  CHECK(names_of(g) == std::vector<std::string>{"random_normal/shape", "random_normal/mean", "random_normal/stddev",
                                                "random_normal/RandomStandardNormal", "random_normal/mul", "random_normal",
                                                "random_uniform/shape", "random_uniform/min", "random_uniform/max",
                                                "random_uniform/RandomUniform", "random_uniform/sub", "random_uniform/mul",
                                                "random_uniform", "zeros", "zeros_1"});
}

TEST_CASE("initializers that are given as such stay initializers") {
  graph g;
  auto here = g.as_default();
  auto a = get_variable("a", {2}, {.initializer = zeros});
  auto b = get_variable("b", {2}, {.initializer = random_normal(5, 0.001)});
  auto c = variable(ones({3}), "c");
  auto d = variable(random_uniform({1000}, 2, 4), "d");
  graph_session s(g);
  s.run(global_variables_initializer());
  CHECK(s.run<std::vector<float>>(a) == std::vector<float>{0, 0});
  CHECK(s.run<std::vector<float>>(b)[0] == doctest::Approx(5).epsilon(0.01));
  CHECK(s.run<std::vector<float>>(c) == std::vector<float>{1, 1, 1});
  const auto drawn = s.run<std::vector<float>>(d);
  CHECK(*std::min_element(drawn.begin(), drawn.end()) >= 2);
  CHECK(*std::max_element(drawn.begin(), drawn.end()) < 4);
}

TEST_CASE("all tensors of a graph, and whether two are one") {
  graph g, other;
  auto here = g.as_default();
  auto x = placeholder(dtype::float32, {4}, "x");
  auto parts = split(x, 2);
  const auto all = get_tensors(g);
  REQUIRE(all.size() == 4);
  CHECK(all[0].name() == "x:0");
  CHECK(all[3].name() == "split:1");
  CHECK(same_tensor(all[3], parts[1]));
  CHECK(!same_tensor(all[2], parts[1]));
  CHECK(!same_tensor(x, output{}));
  CHECK(same_tensor(output{}, output{}));
  CHECK(get_tensors(other).empty());
  auto inside = other.as_default();
  CHECK(!same_tensor(placeholder(dtype::float32, {4}, "x"), x));
}

TEST_CASE("what a session refuses says what to do") {
  graph g;
  auto here = g.as_default();
  const auto words_of = [](auto wrong) -> std::string {
    try {
      wrong();
    } catch (const invalid_argument& e) {
      return e.what();
    }
    return {};
  };
  CHECK(words_of([] { constant(1.0f, " biases"); }).find("; character 1, ' ', does not") != std::string::npos);
  CHECK(words_of([] { constant(1.0f, "_b"); }).find("; character 1, '_', does not") != std::string::npos);
  CHECK(words_of([] { constant(1.0f, "b\n"); }).find("; character 2, does not") != std::string::npos);
  auto y = constant(1.0f, "y");
  {
    auto there = device("/job:ps/task:0");
    constant(2.0f, "far");
  }
  graph_session s(g);
  const std::string text = words_of([&] { s.run(y); });
  CHECK(text.find("node far was explicitly assigned to /job:ps/task:0") != std::string::npos);
  CHECK(text.find("needs a `target`") != std::string::npos);
}
