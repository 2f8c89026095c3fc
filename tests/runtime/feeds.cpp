// Prepared calls: the memory of their feeds and results is used again, and a warm call of a small program skips what it does not need.
// Node by node, a node that is one function writes over an input that nobody else holds. Neither may be seen by who calls.

#include <leat/graphs.hpp>
#include <leat/inspect/trace.hpp>
#include <leat/session/graph_session.hpp>

#include <doctest/doctest.h>
#include <xtensor/xarray.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>

using namespace leat;

namespace {
std::vector<float> numbers(const tensor_value& v) { return v.as<std::vector<float>>(); }
}  // namespace

TEST_CASE("a feed takes its forms in turn") {
  for (const bool fuse : {true, false}) {
    graph g;
    const auto scope = g.as_default();
    const output x = placeholder(dtype::float32, unknown_shape, "x");
    graph_session s(g, {.fuse = fuse});
    auto twice = s.prepare({x * 2.0f}, {x});
    const xt::xtensor<float, 1> array{1, 2, 3};
    const xt::xarray<float> matrix{{1, 2}, {3, 4}};
    for (int round = 0; round < 4; ++round) {
      CHECK(twice(1.5f)[0].as<float>() == 3);
      CHECK(twice(0.25)[0].as<float>() == 0.5f);
      CHECK(twice(3)[0].as<float>() == 6);
      CHECK(numbers(twice(array)[0]) == std::vector<float>{2, 4, 6});
      CHECK(numbers(twice(std::vector<float>{1, 5})[0]) == std::vector<float>{2, 10});
      CHECK(numbers(twice(xt::view(matrix, xt::all(), 1))[0]) == std::vector<float>{4, 8});  // not contiguous
      const tensor_value held(2.0f);
      CHECK(twice(held)[0].as<float>() == 4);
      CHECK(twice(7.0f)[0].as<float>() == 14);
      CHECK(held.as<float>() == 2);  // no number was written into it
      CHECK(numbers(twice(std::vector<float>{})[0]).empty());
      CHECK_THROWS_AS(twice(std::vector<double>{1}), invalid_argument);
      CHECK_THROWS_AS(twice("text"), invalid_argument);
      CHECK_THROWS_AS(twice(), invalid_argument);
      CHECK_THROWS_AS(twice(1.0f, 2.0f), invalid_argument);
      CHECK_THROWS_AS(twice(tensor_value{}), invalid_argument);
    }
  }
}

TEST_CASE("a number that its dtype does not represent is refused, and the next call is right") {
  graph g;
  const auto scope = g.as_default();
  const output n = placeholder(dtype::int32, {}, "n"), y = placeholder(dtype::float32, {2}, "y");
  graph_session s(g);
  auto step = s.prepare({n + 1, y * 2.0f}, {n, y});
  for (int round = 0; round < 3; ++round) {
    CHECK(step(2, std::vector<float>{1, 2})[0].as<std::int32_t>() == 3);
    CHECK(step(2.0, std::vector<float>{1, 2})[0].as<std::int32_t>() == 3);
    CHECK_THROWS_AS(step(2.5, std::vector<float>{1, 2}), invalid_argument);
    CHECK_THROWS_AS(step(2, std::vector<float>{1, 2, 3}), invalid_argument);
    CHECK(numbers(step(std::int64_t{5}, std::vector<float>{3, 4})[1]) == std::vector<float>{6, 8});
  }
}

TEST_CASE("results that the caller holds stay as they are") {
  for (const bool fuse : {true, false}) {
    graph g;
    const auto scope = g.as_default();
    const output x = placeholder(dtype::float32, {3}, "x");
    graph_session s(g, {.fuse = fuse});
    auto step = s.prepare({x + 1.0f, x}, {x});
    std::vector<tensor_value> kept;
    std::vector<float> in{0, 0, 0};
    for (int k = 0; k < 4; ++k) {
      in.assign(3, static_cast<float>(k));
      const auto& results = step(in);
      kept.push_back(results[0]);
      kept.push_back(results[1]);
    }
    in.assign(3, 100);
    for (int k = 0; k < 4; ++k) {
      CHECK(numbers(kept[static_cast<std::size_t>(2 * k)]) == std::vector<float>(3, static_cast<float>(k) + 1));
      CHECK(numbers(kept[static_cast<std::size_t>(2 * k + 1)]) == std::vector<float>(3, static_cast<float>(k)));
    }
  }
}

TEST_CASE("what a prepared call was fed is let go of with the call") {
  graph g;
  const auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {100}, "x");
  graph_session s(g);
  auto step = s.prepare({x * 2.0f}, {x});
  tensor_value mine(std::vector<float>(100, 1.0f));
  for (int k = 0; k < 3; ++k) {
    step(mine);
    CHECK(mine.is_alone());
    step.call(std::vector<tensor_value>{mine});
    CHECK(mine.is_alone());
  }
}

TEST_CASE("a warm call sees that the session is closed, that it is cancelled, and that a variable has gone") {
  graph g;
  const auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {}, "x"), w = variable(2.0f, "w");
  graph_session s(g);
  s.run(global_variables_initializer());
  auto step = s.prepare({x * w}, {x});
  for (int k = 0; k < 4; ++k) CHECK(step(3.0f)[0].as<float>() == 6);
  CHECK(s.fused_runs() >= 4);
  cancellation stop;
  stop.cancel();
  const std::vector<tensor_value> values{tensor_value(3.0f)};
  CHECK_THROWS_AS(step.call(values, {.cancel = &stop}), cancelled);
  CHECK(step(4.0f)[0].as<float>() == 8);
  s.reset();
  CHECK_THROWS_AS(step(3.0f), failed_precondition);
  s.run(global_variables_initializer());
  CHECK(step(3.0f)[0].as<float>() == 6);
  run_trace trace;
  step.call(values, {.trace = &trace});
  CHECK(!trace.events().empty());
  s.close();
  CHECK_THROWS_AS(step(3.0f), failed_precondition);
}

TEST_CASE("node by node, memory is used again only where nobody else has it") {
  graph g;
  const auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {2, 3}, "x"), row = placeholder(dtype::float32, {3}, "row");
  const output c = constant({{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}}, "c");
  const output w = variable({{1.0f, 1.0f, 1.0f}, {2.0f, 2.0f, 2.0f}}, "w");
  const output a = x + c;            // neither the feed's nor the constant's
  const output b = negative(a);      // a is fetched
  const output d = reshape(b, {6});  // shares b's elements
  const output e = b * row;          // d still has them
  const output f = square(e) * e;    // the same input twice
  const output h = w * f - f / row;  // nor the variable's
  graph_session by_node(g, {.fuse = false}), fused(g);
  const auto init = global_variables_initializer();
  by_node.run(init);
  fused.run(init);
  const std::vector<output> wanted{a, d, f, h, c, w};
  auto one = by_node.prepare(wanted, std::vector<output>{x, row});
  auto all = fused.prepare(wanted, std::vector<output>{x, row});
  for (int round = 0; round < 5; ++round) {
    const tensor_value xs(shape{2, {2, 3}}, std::vector<float>{1, 2, 3, 4, 5, static_cast<float>(round)});
    const tensor_value rows(std::vector<float>{1, 2, static_cast<float>(round) + 1});
    const std::vector<float> before = numbers(xs);
    const std::vector<tensor_value> left = one(xs, rows), right = all(xs, rows);
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      const auto l = numbers(left[k]), r = numbers(right[k]);
      REQUIRE(l.size() == r.size());
      for (std::size_t i = 0; i < l.size(); ++i) CHECK(l[i] == doctest::Approx(r[i]));
    }
    CHECK(numbers(xs) == before);
    CHECK(numbers(left[4]) == std::vector<float>{1, 2, 3, 4, 5, 6});
    CHECK(numbers(left[5]) == std::vector<float>{1, 1, 1, 2, 2, 2});
  }
}

TEST_CASE("node by node, shapes and dtypes change from run to run") {
  graph g;
  const auto scope = g.as_default();
  const output x = placeholder(dtype::float32, unknown_shape, "x");
  const output y = maximum(x * 2.0f - 1.0f, x);
  graph_session s(g, {.fuse = false});
  auto step = s.prepare({y, greater(y, x)}, {x});
  for (int round = 0; round < 3; ++round)
    for (int n = 0; n < 40; ++n) {
      std::vector<float> in(static_cast<std::size_t>(n));
      for (int i = 0; i < n; ++i) in[static_cast<std::size_t>(i)] = static_cast<float>(i);
      const auto& results = step(in);
      const auto got = numbers(results[0]);
      const auto bigger = results[1].values<bool>();
      REQUIRE(got.size() == in.size());
      for (std::size_t i = 0; i < in.size(); ++i) {
        CHECK(got[i] == std::max(in[i] * 2 - 1, in[i]));
        CHECK(bigger[i] == (got[i] > in[i]));
      }
      CHECK(step(0.5f)[0].as<float>() == 0.5f);
    }
}
