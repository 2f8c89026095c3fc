#include <leat/named/gradients/control_flow_gradient.hpp>

#include <leat/named/control/control.hpp>
#include <leat/named/gradients/gradient.hpp>
#include <leat/named/variables/variable_scope.hpp>

#include "support/flow.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>

using namespace leat;
using leat_test::array;
using leat_test::flow_run;
using leat_test::scalar_of;

// Gradients through branches and loops are compared with differences of the values that the same graph gives.

namespace {

// Every tensor that a node takes, and all that it waits for, is of the same loop as the node itself: TensorFlow runs nothing else.
void check_frames(graph& g) {
  std::map<int, std::string> frames;
  const auto operations = get_operations(g);
  bool changed = true;
  const auto frame_name = [](const graph_operation& op) { return *op.attribute("frame_name").get_if<std::string>(); };
  while (changed) {
    changed = false;
    for (const auto& op : operations) {
      std::string found = frames[op.index()];
      if (op.type() == "Enter" || op.type() == "RefEnter") {
        found = frames[op.inputs()[0].index()] + "|" + frame_name(op);
      } else {
        for (const auto& in : op.inputs()) {
          std::string its = frames[in.index()];
          if (op.type() == "Exit" || op.type() == "RefExit") its = its.substr(0, its.rfind('|') == its.npos ? 0 : its.rfind('|'));
          if (its.size() > found.size()) found = its;
        }
        if (op.type() != "Exit" && op.type() != "RefExit")
          for (const auto& c : op.control_inputs())
            if (frames[c.index()].size() > found.size()) found = frames[c.index()];
      }
      if (found != frames[op.index()]) {
        frames[op.index()] = found;
        changed = true;
      }
    }
  }
  for (const auto& op : operations) {
    std::string wanted = frames[op.index()];
    if (op.type() == "Enter" || op.type() == "RefEnter") wanted = wanted.substr(0, wanted.rfind('|'));
    for (const auto& in : op.inputs()) {
      std::string its = frames[in.index()];
      if (op.type() == "Exit" || op.type() == "RefExit") its = its.substr(0, its.rfind('|'));
      CHECK_MESSAGE(its == wanted, op.name() << " in '" << wanted << "' takes " << in.name() << " in '" << its << "'");
    }
    if (op.type() == "Exit") continue;
    for (const auto& c : op.control_inputs())
      CHECK_MESSAGE(frames[c.index()] == wanted,
                    op.name() << " in '" << wanted << "' waits for " << c.name() << " in '" << frames[c.index()] << "'");
  }
}

using feeds = std::map<std::string, array>;

// The gradients for placeholders against differences, at the given values.
void compare(const output& y, const std::vector<std::string>& names, const feeds& given, double tolerance = 1e-5) {
  graph& g = y.owner();
  std::vector<output> xs;
  for (const auto& name : names) xs.push_back(get_tensor_by_name(g, name + ":0"));
  const auto dxs = gradients({y}, xs);
  check_frames(g);
  const auto total = [&](const feeds& f) {
    double sum = 0;
    for (double v : flow_run(f)(y).at) sum += v;
    return sum;
  };
  for (std::size_t k = 0; k < xs.size(); ++k) {
    INFO(names[k]);
    REQUIRE(static_cast<bool>(dxs[k]));
    const array got = flow_run(given)(dxs[k]);
    const array& x = given.at(names[k]);
    REQUIRE(got.at.size() == x.at.size());
    for (std::size_t i = 0; i < x.at.size(); ++i) {
      const double h = 1e-5;
      feeds more = given;
      feeds less = given;
      more[names[k]].at[i] += h;
      less[names[k]].at[i] -= h;
      const double expected = (total(more) - total(less)) / (2 * h);
      CHECK(std::abs(got.at[i] - expected) <= tolerance * (1 + std::abs(expected)));
    }
  }
}

output scalar(const char* name) { return placeholder(dtype::float32, {}, name); }

}  // namespace

TEST_CASE("a branch gives its gradient, the other one zeros") {
  graph g;
  const auto scope = g.as_default();
  const auto x = scalar("x");
  const auto w = placeholder(dtype::float32, {2, 2}, "w");
  const auto p = placeholder(dtype::boolean, {}, "p");
  const auto y = cond(p, [&] { return reduce_sum(matmul(w, w) * x); }, [&] { return x * x * x; });
  for (double taken : {0.0, 1.0})
    compare(y, {"x", "w"}, {{"x", scalar_of(1.5)}, {"w", leat_test::some({2, 2}, 3)}, {"p", scalar_of(taken)}});
}

TEST_CASE("branches within branches, with several results and tensors of unknown sizes") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1}, "x");
  const auto z = placeholder(dtype::float32, {}, "z");
  const auto p = placeholder(dtype::boolean, {}, "p");
  const auto q = placeholder(dtype::boolean, {}, "q");
  const auto [a, b] = cond(
      p,
      [&] {
        const auto inner = cond(q, [&] { return x * z; }, [&] { return tanh(x); });
        return std::array{inner, z * 3.0f};
      },
      [&] { return std::array{x * x, z}; });
  const auto y = reduce_sum(a) * b;
  for (double one : {0.0, 1.0})
    for (double two : {0.0, 1.0})
      compare(y, {"x", "z"}, {{"x", leat_test::some({3}, 5)}, {"z", scalar_of(0.7)}, {"p", scalar_of(one)}, {"q", scalar_of(two)}});
}

TEST_CASE("a loop runs back as often as it ran") {
  graph g;
  const auto scope = g.as_default();
  const auto x = scalar("x");
  const auto c = scalar("c");
  const auto n = placeholder(dtype::int32, {}, "n");
  const auto end = while_loop([&](output i, output) { return less(i, n); },
                              [&](output i, output y) { return std::array{i + 1, tanh(y) * c + y * y * 0.5f}; }, {constant(0), x});
  for (int times : {0, 1, 2, 5}) compare(end[1], {"x", "c"}, {{"x", scalar_of(0.8)}, {"c", scalar_of(1.3)}, {"n", scalar_of(times)}});
}

TEST_CASE("several variables, of which one is used and others matter to it") {
  graph g;
  const auto scope = g.as_default();
  const auto x = scalar("x");
  const auto v = scalar("v");
  const auto n = placeholder(dtype::int32, {}, "n");
  const auto end = while_loop([&](output i, output, output, output) { return less(i, n); },
                              [](output i, output a, output b, output unused) {
                                const auto next = a * b;
                                return std::array{i + 1, next, b + a, unused * 2.0f};
                              },
                              {constant(0), x, v, constant(1.0f)});
  for (int times : {0, 1, 4}) compare(end[1], {"x", "v"}, {{"x", scalar_of(0.8)}, {"v", scalar_of(0.6)}, {"n", scalar_of(times)}});
}

TEST_CASE("the next value does not depend on the last one") {
  graph g;
  const auto scope = g.as_default();
  const auto x = scalar("x");
  const auto n = placeholder(dtype::int32, {}, "n");
  const auto c = scalar("c");
  const auto end =
      while_loop([&](output i, output) { return less(i, n); },
                 [&](output i, output) { return std::array{i + 1, square(c) * cast(i + 1, dtype::float32)}; }, {constant(0), x});
  const auto y = end[1] * x;
  for (int times : {0, 3}) compare(y, {"x", "c"}, {{"x", scalar_of(0.8)}, {"c", scalar_of(1.1)}, {"n", scalar_of(times)}});
}

TEST_CASE("matrices, products with what is the same in all iterations, sizes known when the graph runs") {
  for (const bool known : {true, false}) {
    graph g;
    const auto scope = g.as_default();
    const auto h = placeholder(dtype::float32, {known ? 2 : -1, 3}, "h");
    const auto w = placeholder(dtype::float32, {3, known ? 3 : -1}, "w");
    const auto b = placeholder(dtype::float32, {known ? 3 : -1}, "b");
    const auto n = placeholder(dtype::int32, {}, "n");
    const auto end =
        while_loop([&](output i, output) { return less(i, n); },
                   [&](output i, output y) {
                     const auto next = tanh(matmul(y, w) + b);
                     return std::array{i + 1, next};
                   },
                   {constant(0), h}, {.shape_invariants = known ? std::vector<shape_value>{} : std::vector<shape_value>{{}, {-1, -1}}});
    const auto loss = reduce_sum(square(end[1]), all_axes);
    for (int times : {1, 3})
      compare(
          loss, {"h", "w", "b"},
          {{"h", leat_test::some({2, 3}, 1)}, {"w", leat_test::some({3, 3}, 2)}, {"b", leat_test::some({3}, 3)}, {"n", scalar_of(times)}});
  }
}

TEST_CASE("loops within loops push the counts of the inner one") {
  graph g;
  const auto scope = g.as_default();
  const auto x = scalar("x");
  const auto c = scalar("c");
  const auto n = placeholder(dtype::int32, {}, "n");
  const auto end = while_loop([&](output i, output) { return less(i, n); },
                              [&](output i, output y) {
                                const auto inner = while_loop(
                                    [&](output j, output) { return less(j, i); },
                                    [&](output j, output z) { return std::array{j + 1, tanh(z * c) + y * 0.25f}; }, {constant(0), y});
                                return std::array{i + 1, inner[1] * x};
                              },
                              {constant(0), x});
  for (int times : {0, 1, 2, 4}) compare(end[1], {"x", "c"}, {{"x", scalar_of(0.9)}, {"c", scalar_of(0.7)}, {"n", scalar_of(times)}});
}

TEST_CASE("a branch in a loop is taken back in each iteration as it was") {
  graph g;
  const auto scope = g.as_default();
  const auto x = scalar("x");
  const auto c = scalar("c");
  const auto n = placeholder(dtype::int32, {}, "n");
  const auto end = while_loop([&](output i, output) { return less(i, n); },
                              [&](output i, output y) {
                                const auto next = i + 1;
                                const auto odd = equal(floor_mod(i, 2), 1);
                                return std::array{next, cond(odd, [&] { return y * y * c; }, [&] { return tanh(y) + x; })};
                              },
                              {constant(0), x});
  for (int times : {0, 1, 2, 5}) compare(end[1], {"x", "c"}, {{"x", scalar_of(0.9)}, {"c", scalar_of(0.7)}, {"n", scalar_of(times)}});
}

TEST_CASE("a branch in a loop whose tensors have unknown sizes") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1}, "x");
  const auto n = placeholder(dtype::int32, {}, "n");
  const auto end = while_loop([&](output i, output) { return less(i, n); },
                              [&](output i, output y) {
                                const auto next = i + 1;
                                const auto odd = equal(floor_mod(i, 2), 1);
                                return std::array{next, cond(odd, [&] { return tanh(y); }, [&] { return x * y; })};
                              },
                              {constant(0), x});
  const auto y = reduce_sum(end[1], {0});
  for (int times : {1, 2, 3}) compare(y, {"x"}, {{"x", leat_test::some({3}, 8)}, {"n", scalar_of(times)}});
}

TEST_CASE("a loop in a branch") {
  graph g;
  const auto scope = g.as_default();
  const auto x = scalar("x");
  const auto p = placeholder(dtype::boolean, {}, "p");
  const auto n = placeholder(dtype::int32, {}, "n");
  const auto y = cond(
      p,
      [&] {
        return while_loop([&](output i, output) { return less(i, n); }, [&](output i, output v) { return std::array{i + 1, tanh(v) * x}; },
                          {constant(0), x})[1];
      },
      [&] { return x * 3.0f; });
  for (double taken : {0.0, 1.0}) compare(y, {"x"}, {{"x", scalar_of(0.9)}, {"n", scalar_of(3)}, {"p", scalar_of(taken)}});
}

TEST_CASE("a loop in a branch in a loop") {
  graph g;
  const auto scope = g.as_default();
  const auto x = scalar("x");
  const auto n = placeholder(dtype::int32, {}, "n");
  const auto end =
      while_loop([&](output i, output) { return less(i, n); },
                 [&](output i, output y) {
                   const auto next = i + 1;
                   const auto odd = equal(floor_mod(i, 2), 1);
                   const auto made = cond(
                       odd,
                       [&] {
                         return while_loop([&](output j, output) { return less(j, 2); },
                                           [&](output j, output v) { return std::array{j + 1, tanh(v) * x}; }, {constant(0), y})[1];
                       },
                       [&] { return y * y; });
                   return std::array{next, made};
                 },
                 {constant(0), x});
  for (int times : {1, 2, 4}) compare(end[1], {"x"}, {{"x", scalar_of(0.9)}, {"n", scalar_of(times)}});
}

TEST_CASE("loops one after the other, and twice the same gradient") {
  graph g;
  const auto scope = g.as_default();
  const auto x = scalar("x");
  const auto n = placeholder(dtype::int32, {}, "n");
  const auto below = [&](output i, output) { return less(i, n); };
  const auto body = [&](output i, output y) { return std::array{i + 1, tanh(y) + y * x}; };
  const auto one = while_loop(below, body, {constant(0), x});
  const auto two = while_loop(below, body, {constant(0), one[1]}, {.parallel_iterations = 1, .swap_memory = true});
  compare(two[1] * one[1], {"x"}, {{"x", scalar_of(0.4)}, {"n", scalar_of(3)}});
  compare(two[1], {"x"}, {{"x", scalar_of(0.4)}, {"n", scalar_of(2)}});
}

TEST_CASE("no gradient passes a loop that says so; a gradient of a loop's gradient is refused") {
  graph g;
  const auto scope = g.as_default();
  const auto x = scalar("x");
  const auto below = [&](output i, output) { return less(i, 3); };
  const auto body = [&](output i, output y) { return std::array{i + 1, y * y}; };
  const auto closed = while_loop(below, body, {constant(0), x}, {.back_prop = false});
  CHECK_FALSE(static_cast<bool>(gradients({closed[1]}, {x})[0]));
  const auto open = while_loop(below, body, {constant(0), x});
  const auto dx = gradients({open[1]}, {x})[0];
  try {
    gradients({dx}, {x});
    FAIL("a second derivative of a loop");
  } catch (const unimplemented& e) {
    CHECK(std::string(e.what()).find("Second-order gradient for while loops not supported") != std::string::npos);
  }
}

TEST_CASE("rows that a loop gathers, and that a branch gathers") {
  graph g;
  const auto scope = g.as_default();
  const auto table = placeholder(dtype::float32, {4, 2}, "table");
  const auto p = placeholder(dtype::boolean, {}, "p");
  const auto n = placeholder(dtype::int32, {}, "n");
  const auto end = while_loop([&](output i, output) { return less(i, n); },
                              [&](output i, output y) {
                                const auto next = i + 1;
                                return std::array{next, tanh(y + gather(table, stack({i, i}), "rows"))};
                              },
                              {constant(0), zeros_of({2, 2})});
  const auto chosen = cond(p, [&] { return gather(table, {1, 1, 3}, "rows"); }, [&] { return table * 2.0f; });
  const auto y = reduce_sum(end[1], all_axes) + reduce_sum(square(chosen), all_axes);
  for (const double taken : {0.0, 1.0})
    compare(y, {"table"}, {{"table", leat_test::some({4, 2}, 6)}, {"n", scalar_of(3)}, {"p", scalar_of(taken)}});
}

TEST_CASE("the gradient of rows that a branch gathers is rows, all of them if it is not taken") {
  for (const bool has_sizes : {true, false})
    for (const bool in_loop : {false, true}) {
      graph g;
      const auto scope = g.as_default();
      const auto table = placeholder(dtype::float32, has_sizes ? shape_value{4, 2} : shape_value{-1, 2}, "table");
      const auto ids = placeholder(in_loop ? dtype::int32 : dtype::int64, {-1}, "ids");
      const auto p = placeholder(dtype::boolean, {}, "p");
      const auto chosen = [&] {
        return cond(p, [&] { return reduce_sum(square(gather(table, ids, "rows")), all_axes); },
                    [&] { return reduce_sum(square(gather(table, {1}, "row")), all_axes) * 3.0f; });
      };
      output y;
      if (in_loop)
        y = while_loop([](output i, output) { return less(i, 2); },
                       [&](output i, output s) {
                         const auto next = i + 1;
                         return std::array{next, s * 0.5f + chosen()};
                       },
                       {constant(0), constant(0.0f)})[1];
      else
        y = chosen();
      // In a loop the sum over iterations is one tensor.
      CHECK(sparse_gradients({y}, {table})[0].is_sparse() == !in_loop);
      CAPTURE(has_sizes);
      CAPTURE(in_loop);
      for (const double taken : {0.0, 1.0})
        compare(y, {"table"}, {{"table", leat_test::some({4, 2}, 6)}, {"ids", {{3}, {2, 0, 2}}}, {"p", scalar_of(taken)}});
    }
}

TEST_CASE("rows gathered of what a loop returns") {
  for (const bool has_sizes : {true, false}) {
    graph g;
    const auto scope = g.as_default();
    const auto x = placeholder(dtype::float32, has_sizes ? shape_value{3} : shape_value{-1}, "x");
    const auto loop = while_loop([](output i, output) { return less(i, 2); },
                                 [&](output i, output s) {
                                   const auto next = i + 1;
                                   return std::array{next, s * x};
                                 },
                                 {constant(0), x});
    const auto rows = gather(loop[1], {2, 0, 2}, "rows");
    const auto more = gather(loop[1], {1}, "more");
    compare(reduce_sum(square(rows), all_axes), {"x"}, {{"x", leat_test::some({3}, 6)}});
    compare(reduce_sum(rows, all_axes) + reduce_sum(more, all_axes), {"x"}, {{"x", leat_test::some({3}, 7)}});
  }
}

TEST_CASE("a gradient inside of a loop's body, for what the body has") {
  graph g;
  const auto scope = g.as_default();
  const auto x = scalar("x");
  const auto c = scalar("c");
  // Newton's method for v^3 = c
  const auto root = while_loop([&](output i, output) { return less(i, 30); },
                               [&](output i, output v) {
                                 const auto f = v * v * v - c;
                                 const auto slope = gradients({f}, {v})[0];
                                 return std::array{i + 1, v - f / slope};
                               },
                               {constant(0), x});
  check_frames(g);
  CHECK(std::abs(flow_run({{"x", scalar_of(1)}, {"c", scalar_of(8)}})(root[1]).at[0] - 2) < 1e-9);
  try {
    while_loop([&](output v) { return less(v, c); },
               [&](output v) {
                 const auto y = v * x;
                 gradients({y}, {x});
                 return y;
               },
               {x});
  } catch (const error& e) {
    CHECK(std::string(e.what()).find("gradient") != std::string::npos);
  }
}

TEST_CASE("variables that are made inside of a branch or a loop are outside of it") {
  graph g;
  const auto scope = g.as_default();
  const auto p = placeholder(dtype::boolean, {}, "p");
  const auto x = scalar("x");
  const auto y = cond(p, [&] { return x * get_variable("a", {.initializer = 3.0f}); }, [&] { return x + variable(5.0f, "b"); });
  const auto end =
      while_loop([](output i, output) { return less(i, 2); },
                 [](output i, output v) { return std::array{i + 1, v * get_variable("c", {.initializer = 2.0f})}; }, {constant(0), y});
  std::vector<output> variables = trainable_variables();
  REQUIRE(variables.size() == 3);
  const auto dvs = gradients({end[1]}, variables);
  check_frames(g);
  for (const bool taken : {true, false}) {
    flow_run run({{"p", scalar_of(taken)}, {"x", scalar_of(7)}});
    run(global_variables_initializer());
    flow_run again({{"p", scalar_of(taken)}, {"x", scalar_of(7)}}, run.variables);
    CHECK(again(end[1]).at[0] == (taken ? 84 : 48));
    CHECK(again(dvs[0]).at[0] == (taken ? 28 : 0));
    CHECK(again(dvs[1]).at[0] == (taken ? 0 : 4));
    CHECK(again(dvs[2]).at[0] == (taken ? 84 : 48));
  }
}
