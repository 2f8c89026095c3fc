#include <leat/session/graph_session.hpp>

#include "support/check.hpp"

#include <doctest/doctest.h>

#include <leat/graphs.hpp>
#include <leat/session/typed/array.hpp>

#include <xtensor/xarray.hpp>
#include <xtensor/xtensor.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>

using namespace leat;

namespace {

std::string text_of(const auto& f) {
  try {
    f();
  } catch (const error& e) {
    return e.what();
  }
  return "no error";
}
bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("fetches come in the structure in which they were asked for") {
  graph g;
  auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1}, "x");
  const auto y = multiply(x, 2.0f, "y");
  const auto z = reduce_sum(y, {0}, keep_dims::no, "z");
  const auto nothing = group(std::vector<control_input>{y}, "nothing");
  graph_session s(g);
  const std::vector<float> data{1, 2, 3};
  const feed_list feeds{{x, data}};

  CHECK(s.run(z, feeds).as<float>() == 12);
  const float number = s.run(z, feeds);
  CHECK(number == 12);
  CHECK(s.run("y:0", feeds).as<std::vector<float>>() == std::vector<float>{2, 4, 6});
  CHECK(!s.run(nothing, feeds));
  CHECK(!s.run("nothing", feeds));
  CHECK(s.run(std::vector<output>{}, feeds).empty());

  const auto list = s.run({z, nothing, "y:0", z}, feeds);
  REQUIRE(list.size() == 4);
  CHECK(list[0].as<float>() == 12);
  CHECK(!list[1]);
  CHECK(list[2].extent() == shape{1, {3}});
  CHECK(list[3].as<float>() == 12);

  const auto [a, rest] = s.run(std::tuple{z, std::vector<output>{x, y}}, feeds);
  CHECK(a.as<float>() == 12);
  CHECK(rest[1].as<std::vector<float>>()[2] == 6);
  const auto named = s.run(std::map<std::string, output>{{"sum", z}, {"all", y}}, feeds);
  CHECK(named.at("sum").as<float>() == 12);

#if LEAT_TEST_XARRAY
  const auto [sum, all] = s.run<float, xt::xarray<float>>({z, y}, feeds);
  CHECK(sum == 12);
  CHECK(all.dimension() == 1);
  CHECK(all(2) == 6);
#endif
  const auto [the_sum, of_rank_one] = s.run<float, xt::xtensor<float, 1>>({z, y}, feeds);
  CHECK(the_sum == 12);
  CHECK(of_rank_one(2) == 6);
  CHECK(s.run<float>(z, feeds) == 12);

  CHECK_THROWS_AS(s.run(z, feeds).as<double>(), invalid_argument);
  CHECK_THROWS_AS(s.run(y, feeds).as<float>(), invalid_argument);
  CHECK_THROWS_AS(s.run("w:0", feeds), invalid_argument);
  CHECK_THROWS_AS((s.run<float, float>({z}, feeds)), invalid_argument);
  graph other;
  const auto inside = [&] {
    auto there = other.as_default();
    return constant(1.0f);
  }();
  CHECK(has(text_of([&] { s.run(inside); }), "is not an element of this graph"));
}

TEST_CASE("any tensor is fed, and what does not fit is refused") {
  graph g;
  auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1, 2}, "x");
  const auto c = constant(3.0f, "c");
  const auto w = variable(5.0f, "w");
  const auto product = multiply(w, c, "product");
  const auto y = add(x, product, "y");
  const auto n = placeholder(dtype::int32, {}, "n");
  const auto m = add(n, 1, "m");
  for (const bool fuse : {true, false}) {
    graph_session s(g, {.fuse = fuse});
    CHECK(s.run<float>(product, {{product, 7.0f}}) == 7);
    CHECK(s.run<float>(product, {{w, 2.0f}}) == 6);  // a fed variable needs no value
    CHECK(s.run<float>(product, {{value_of(w), 2.0f}, {c, 10.0f}}) == 20);
    const xt::xtensor<float, 2> data{{1, 2}, {3, 4}};
    CHECK(s.run<std::vector<float>>(y, {{x, data}, {product, 1.0f}}) == std::vector<float>{2, 3, 4, 5});
    const xt::xtensor<float, 2> turned = xt::transpose(data);
    CHECK(s.run<std::vector<float>>(y, {{x, xt::xtensor<float, 2>(turned)}, {product, 0.0f}}) == std::vector<float>{1, 3, 2, 4});
    CHECK(s.run<std::vector<float>>(y, {{x, {{1.0f, 2.0f}}}, {product, 1}}) == std::vector<float>{2, 3});
    CHECK(s.run<std::int32_t>(m, {{n, std::int64_t{4}}}) == 5);
    CHECK_THROWS_AS(s.run(m, {{n, 1.5f}}), invalid_argument);
    // an integer that its dtype cannot hold is refused, not rounded
    CHECK(s.run<float>(product, {{product, 16777216}}) == 16777216.0f);
    CHECK(s.run<float>(product, {{product, -16777218}}) == -16777218.0f);
    CHECK_THROWS_AS(s.run(product, {{product, 16777217}}), invalid_argument);
    CHECK_THROWS_AS(s.run(product, {{product, std::numeric_limits<std::int64_t>::max()}}), invalid_argument);
    CHECK_THROWS_AS(s.run(y, {{x, {{1, 16777217}}}, {product, 1.0f}}), invalid_argument);
    CHECK_THROWS_AS(s.assign(w, 16777217), invalid_argument);
    CHECK(s.run<float>(product, {{product, 0.1}}) == 0.1f);
    CHECK_THROWS_AS(s.run(m, {{n, std::vector<float>{1}}}), invalid_argument);
    CHECK(has(text_of([&] { s.run(y, {{x, std::vector<float>{1, 2}}, {product, 1.0f}}); }),
              "Cannot feed value of shape (2,) for Tensor x:0, which has shape (?, 2)"));
    CHECK(has(text_of([&] { s.run(y, {{x, xt::xtensor<double, 2>{{1, 2}}}, {product, 1.0f}}); }), "float64"));
    CHECK(has(text_of([&] { s.run(y, {{product, 1.0f}}); }),
              "You must feed a value for placeholder tensor 'x' with dtype float and shape [?,2]"));
    CHECK(has(text_of([&] { s.run(y, {{product, 1.0f}}); }), "runs.cpp:"));
    CHECK_THROWS_AS(s.run(product, {{product, 1.0f}, {product, 2.0f}}), invalid_argument);
    CHECK_THROWS_AS(s.run(product, {{"nobody:0", 1.0f}}), invalid_argument);
  }
}

TEST_CASE("a value takes its sizes from a list") {
  CHECK(tensor_value(dtype::float32, {32, 784}).extent() == shape{2, {32, 784}});
  CHECK(tensor_value(dtype::float32, {7}).elements() == 7);
  CHECK(tensor_value(dtype::float32, {}).extent() == shape{});
  CHECK(tensor_value(dtype::float32, shape{2, {3, 4}}).elements() == 12);
  const std::vector<float> six{1, 2, 3, 4, 5, 6};
  CHECK(tensor_value({2, 3}, six).extent() == shape{2, {2, 3}});
  CHECK_THROWS_AS(tensor_value({2, 2}, six), invalid_argument);
  CHECK_THROWS_AS(tensor_value(dtype::float32, {1, 1, 1, 1, 1, 1, 1, 1, 1}), unimplemented);
  CHECK_THROWS_AS(tensor_value(dtype::float32, {-1, 2}), invalid_argument);
}

TEST_CASE("variables belong to the session") {
  graph g;
  auto scope = g.as_default();
  const auto w = variable({1.0f, 2.0f}, "w");
  const auto v = variable(0, "v");
  const auto up = assign_add(v, 1);
  const auto init = global_variables_initializer();
  for (const bool fuse : {true, false}) {
    graph_session s(g, {.fuse = fuse}), t(g, {.fuse = fuse});
    CHECK(!s.is_initialized(w));
    CHECK(s.uninitialized_variables() == std::vector<std::string>{"w", "v"});
    CHECK(has(text_of([&] { s.run(w); }), "Attempting to use uninitialized value w"));
    CHECK_THROWS_AS(s.run(up), failed_precondition);
    CHECK_THROWS_AS(s.value(w), failed_precondition);
    s.run(initializer_of(w));
    CHECK(s.uninitialized_variables() == std::vector<std::string>{"v"});
    s.run(init);
    for (int i = 0; i < 3; ++i) s.run(up);
    CHECK(s.run<std::int32_t>(v) == 3);
    CHECK(s.run<std::int32_t>(up) == 4);
    t.run(init);
    CHECK(t.run<std::int32_t>(v) == 0);
    s.assign(w, std::vector<float>{5, 6});
    CHECK(s.value(w).as<std::vector<float>>() == std::vector<float>{5, 6});
    CHECK_THROWS_AS(s.assign(w, std::vector<float>{5, 6, 7}), invalid_argument);
    CHECK_THROWS_AS(s.assign(w, std::vector<double>{5, 6}), invalid_argument);
    // what was read stays what it was
    const tensor_value before = s.value(v);
    s.run(up);
    CHECK(before.as<std::int32_t>() == 4);
    s.reset();
    CHECK(!s.is_initialized(v));
    s.run(init);
    CHECK(s.run<std::int32_t>(v) == 0);
  }
}

TEST_CASE("a value from the start of the run, unless a node waits for a write") {
  graph g;
  auto scope = g.as_default();
  const auto v = variable(1.0f, "v");
  const auto early = multiply(v, 10.0f, "early");
  const auto set = assign(v, 5.0f, "set");
  output late, kept, third;
  {
    auto waits = control_dependencies({set});
    late = multiply(v, 10.0f, "late");  // "v/read" was made outside
    kept = identity(early, "kept");
    third = identity(assign_add(v, 1.0f), "third");
  }
  const auto second = assign(v, 7.0f, "second");
  const auto init = global_variables_initializer();
  for (const bool fuse : {true, false}) {
    graph_session s(g, {.fuse = fuse});
    const auto fresh = [&](std::initializer_list<fetch_item> fetches) {
      s.run(init);
      std::vector<float> all;
      for (const auto& r : s.run(fetches)) all.push_back(r.as<float>());
      return all;
    };
    CHECK(fresh({late}) == std::vector<float>{50});
    CHECK(fresh({kept}) == std::vector<float>{10});
    CHECK(fresh({early, set, late}) == std::vector<float>{10, 5, 50});
    CHECK(fresh({late, early}) == std::vector<float>{50, 10});
    CHECK(fresh({v, set}) == std::vector<float>{1, 5});
    CHECK(fresh({set, third, early}) == std::vector<float>{5, 6, 10});
    CHECK(s.value(v).as<float>() == 6);
    s.run(init);
    const std::string problem = text_of([&] { s.run({set, second}); });
    CHECK(has(problem, "two writes to variable 'v'"));
    CHECK(has(problem, "'set'"));
    CHECK(has(problem, "'second'"));
    CHECK(s.value(v).as<float>() == 1);
  }
}

TEST_CASE("a loop reads a variable once, whatever is written to it meanwhile") {
  graph g;
  auto scope = g.as_default();
  const auto v = variable(1.0f, "v");
  const auto loop = while_loop([](output i, output) { return less(i, 3); },
                               [&](output i, output s) {
                                 const auto called =
                                     call_operator(g, "PyFunc", {number_argument(s)},
                                                   {{"token", "write"}, {"Tout", std::vector<data_type>{data_type::float32}}}, "call")
                                         .result();
                                 set_shape(called, {});
                                 const auto next = i + 1;
                                 return std::array{next, called + v};
                               },
                               {constant(0), constant(0.0f)});
  for (const bool fuse : {true, false}) {
    graph_session s(g, {.fuse = fuse});
    s.run(global_variables_initializer());
    s.register_host_function("write", [&](std::span<const tensor_value> in) {
      s.assign(v, 100.0f);
      return std::vector<tensor_value>{in[0]};
    });
    CHECK(s.run<float>(loop[1]) == 3);
    CHECK(s.run<float>(loop[1]) == 300);
  }
}

TEST_CASE("a failed run leaves variables as they were, and the session usable") {
  graph g;
  auto scope = g.as_default();
  const auto v = variable({1.0f, 2.0f}, "v");
  const auto x = placeholder(dtype::float32, unknown_shape, "x");
  const auto i = placeholder(dtype::int32, {-1}, "i");
  const auto n = placeholder(dtype::int32, {}, "n");
  const auto add_it = assign_add(v, multiply(gather(x, i), 1.0f), "add_it");
  const auto quotient = floordiv(n, n, "quotient");
  const auto init = global_variables_initializer();
  for (const bool fuse : {true, false}) {
    graph_session s(g, {.fuse = fuse});
    s.run(init);
    const std::vector<float> xs{10, 20, 30};
    const auto run = [&](std::vector<std::int32_t> at) { return text_of([&] { s.run(add_it, {{x, xs}, {i, at}}); }); };
    CHECK(run({0, 2}) == "no error");
    CHECK(s.value(v).as<std::vector<float>>() == std::vector<float>{11, 32});
    CHECK(has(run({0, 3}), "indices[1] = 3 is not in [0, 3)"));
    CHECK(has(run({0, 3}), "(GatherV2)"));
    CHECK(has(run({0, 1, 2}), "shapes"));
    CHECK(s.value(v).as<std::vector<float>>() == std::vector<float>{11, 32});
    CHECK(run({0, 0}) == "no error");
    CHECK(has(text_of([&] { s.run(quotient, {{n, 0}}); }), "Integer division by zero"));
    CHECK(s.run<std::int32_t>(quotient, {{n, 3}}) == 1);
    // the same run with another shape, again and again
    for (int k = 1; k < 100; ++k) {
      const std::vector<float> more(static_cast<std::size_t>(k), 2.0f);
      CHECK(s.run(multiply(x, 3.0f, "times" + std::to_string(k) + (fuse ? "f" : "k")), {{x, more}}).elements() == k);
    }
  }
}

TEST_CASE("the mean of integers is one of them, though their sum is not, and 0 of none") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::int32, {-1}, "x");
  const auto mean = reduce_mean(x);
  for (const bool fuse : {true, false}) {
    graph_session s(g, {.fuse = fuse});
    const auto mean_of = [&](const std::vector<std::int32_t>& of) { return s.run<std::int32_t>(mean, {{x, of}}); };
    CHECK(mean_of({2147483647, 2147483647}) == 2147483647);
    CHECK(mean_of({-3, -4, -4}) == -3);
    CHECK(mean_of({}) == 0);
  }
}

TEST_CASE("the remaining size of a reshape, also of nothing, is TensorFlow's") {
  struct {
    std::vector<int> from, to;
    std::vector<std::int64_t> made;
  } const known[]{
      {{2, 6}, {-1, 4}, {3, 4}},
      {{0, 3}, {2, -1}, {2, 0}},
      {{0, 3}, {-1, 3}, {0, 3}},
      {{0}, {-1}, {0}},
      {{1, 0}, {-1, 0}, {1, 0}},
      {{3, 0}, {-1, 0}, {3, 0}},
      {{0, 3}, {-1, 0}, {3, 0}},
      {{0, 3}, {0, -1}, {0, 3}},
      {{0, 0}, {-1, 0}, {1, 0}},
      {{2, 0, 3}, {-1, 0}, {6, 0}},
      {{2, 0, 3}, {4, -1, 0}, {4, 1, 0}},
      {{0, 0}, {-1, 2, 0}, {0, 2, 0}},
  };
  for (const auto& k : known) {
    graph g;
    auto scope = g.as_default();
    shape from, any;
    for (int n : k.from) {
      from.push(n);
      any.push(-1);
    }
    const auto x = placeholder(dtype::float32, any);
    const auto sizes = placeholder(dtype::int32, {-1});
    const auto of_known = reshape(zeros_of(from), k.to);
    const auto of_fed = reshape(x, k.to);
    const auto to_fed = reshape(x, sizes);
    graph_session s(g);
    const feed_list feeds{{x, tensor_value(dtype::float32, from)}, {sizes, k.to}};
    for (const auto& y : {of_known, of_fed, to_fed}) {
      const shape made = s.run(y, feeds).extent();
      CHECK(std::vector<std::int64_t>(made.dim, made.dim + made.rank) == k.made);
    }
  }
  graph g;
  auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1, -1});
  const auto sizes = placeholder(dtype::int32, {-1});
  const auto y = reshape(x, sizes);
  graph_session s(g);
  const tensor_value six(dtype::float32, shape{2, {2, 3}});
  const auto refused = [&](const std::vector<int>& to) { return text_of([&] { s.run(y, {{x, six}, {sizes, to}}); }); };
  CHECK(has(refused({-1, 0}), "with 6 values, but"));
  CHECK(has(refused({-1, 4}), "requires a multiple of 4"));
  CHECK(has(refused({1 << 30, 1 << 30, 1 << 30, -1}), "elements"));
  CHECK(has(refused({-1, 1 << 30, 1 << 30, 1 << 30, 0}), "elements"));
}

TEST_CASE("the graph grows between runs and not during one") {
  graph g;
  auto scope = g.as_default();
  const auto a = constant(1.0f, "a");
  graph_session s(g);
  CHECK(s.run<float>(a) == 1);
  const auto b = add(a, 1.0f);
  CHECK(s.run<float>(b) == 2);
  const auto call = call_operator(g, "PyFunc", {number_argument(a)},
                                  {{"token", "grow"}, {"Tout", std::vector<data_type>{data_type::float32}}}, "call");
  std::string problem;
  s.register_host_function("grow", [&](std::span<const tensor_value> in) {
    problem = text_of([&] { constant(2.0f); });
    return std::vector<tensor_value>{tensor_value(in[0].as<float>() + 41)};
  });
  CHECK(s.run<float>(call.result()) == 42);
  CHECK(has(problem, "Graph is being run"));
  CHECK(s.run<float>(constant(2.0f)) == 2);
  graph_session empty_handed(g);
  CHECK_THROWS_AS(empty_handed.run(call.result()), failed_precondition);
  graph empty;
  empty.named();
  graph_session nothing(empty);
  CHECK_THROWS_AS(nothing.run(std::vector<output>{}), failed_precondition);
  s.close();
  CHECK_THROWS_AS(s.run(a), failed_precondition);
}

TEST_CASE("devices that are not there") {
  graph g;
  auto scope = g.as_default();
  {
    auto d = device("/gpu:0");
    constant(1.0f, "there");
  }
  const auto here = constant(1.0f, "here");
  graph_session s(g);
  CHECK_THROWS_AS(s.run(here), invalid_argument);
  graph_session soft(g, {.allow_soft_placement = true});
  CHECK(soft.run<float>(here) == 1);
  {
    auto d = device("/job:ps/task:0");
    constant(1.0f, "far");
  }
  CHECK(has(text_of([&] { soft.run(here); }), "Cannot assign a device for operation far"));
}

TEST_CASE("a prepared run") {
  graph g;
  auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1}, "x");
  const auto w = variable(2.0f, "w");
  const auto y = multiply(x, w);
  const auto update = assign_add(w, reduce_sum(y, {0}));
  graph_session s(g);
  s.run(global_variables_initializer());
  auto step = s.prepare({y, update.operation()}, {x});
  std::vector<float> data{1, 2};
  const auto& first = step(data);
  CHECK(first[0].as<std::vector<float>>() == std::vector<float>{2, 4});
  CHECK(!first[1]);
  CHECK(s.value(w).as<float>() == 8);
  const tensor_value mine = first[0];
  data[0] = 0;
  CHECK(step(data)[0].as<std::vector<float>>() == std::vector<float>{0, 16});
  CHECK(mine.as<std::vector<float>>() == std::vector<float>{2, 4});
  CHECK(step(std::vector<float>{1, 1, 1})[0].elements() == 3);
  CHECK_THROWS_AS(step(), invalid_argument);
  CHECK_THROWS_AS(step(std::vector<double>{1}), invalid_argument);
  CHECK(s.fused_runs() == 3);
}

TEST_CASE("runs node by node keep their constants, and nothing else") {
  graph g;
  auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {}, "x");
  const auto n = placeholder(dtype::int32, {}, "n");
  const auto three = constant(3.0f, "three");
  const auto tripled = x * three;
  const auto quotient = floordiv(constant(7), n);
  graph_session s(g, {.fuse = false});
  auto step = s.prepare({tripled, three, quotient}, {x, n});
  const tensor_value first = step(2.0f, 2)[0], its_constant = step.results()[1];
  CHECK(first.as<float>() == 6);
  for (int k = 1; k < 4; ++k) {
    CHECK(step(static_cast<float>(k), 7)[0].as<float>() == 3 * static_cast<float>(k));
    CHECK(step.results()[1].as<float>() == 3);
    CHECK(step.results()[2].as<std::int32_t>() == 1);
    CHECK_THROWS_AS(step(1.0f, 0), invalid_argument);  // of what it has left, the next run sees nothing
  }
  CHECK(first.as<float>() == 6);
  CHECK(its_constant.as<float>() == 3);
  // what a run gave is what the next one is fed
  auto again = s.prepare({tripled}, {x});
  again(1.0f);
  for (int k = 0; k < 3; ++k) again.call(again.results());
  CHECK(again.results()[0].as<float>() == 81);
}

TEST_CASE("constants have the values that they were given, as operands and alone") {
  graph g;
  auto scope = g.as_default();
  std::vector<feed_item> nothing;
  const auto of = [&]<class T>(T number) {
    const output c = constant(number), zero = placeholder(dtype_of<T>, {});
    nothing.emplace_back(zero, T{});
    return std::array{c, c + zero};
  };
  const std::int64_t large = (std::int64_t{1} << 53) + 1;
  const auto a = of(large), b = of(std::uint8_t{200}), c = of(std::int32_t{-7}), d = of(0.1);
  const auto e = of(std::numeric_limits<float>::quiet_NaN());
  for (const bool fuse : {true, false}) {
    CAPTURE(fuse);
    graph_session s(g, {.fuse = fuse});
    for (int round = 0; round < 2; ++round) {
      const auto alone = s.run({a[0], b[0], c[0], d[0], e[0]}), operands = s.run({a[1], b[1], c[1], d[1], e[1]}, nothing);
      for (const auto* values : {&alone, &operands}) {
        CHECK((*values)[0].as<std::int64_t>() == large);
        CHECK((*values)[1].as<std::uint8_t>() == 200);
        CHECK((*values)[2].as<std::int32_t>() == -7);
        CHECK((*values)[3].as<double>() == 0.1);
        CHECK(std::isnan((*values)[4].as<float>()));
      }
    }
  }
}

TEST_CASE("random numbers follow their seeds") {
  graph g;
  auto scope = g.as_default();
  const auto draw = [&](std::string_view type, std::int64_t seed) {
    return call_operator(g, type, {number_argument(tensor_literal{1000})},
                         {{"dtype", dtype::float32}, {"seed", seed}, {"seed2", std::int64_t{0}}})
        .result();
  };
  const auto seeded = draw("RandomUniform", 7), free = draw("RandomUniform", 0), normal = draw("RandomStandardNormal", 3),
             truncated = draw("TruncatedNormal", 3);
  using list = std::vector<float>;
  graph_session s(g), t(g);
  const list a = s.run<list>(seeded), b = s.run<list>(seeded);
  CHECK(a != b);
  CHECK(a == t.run<list>(seeded));
  CHECK(b == t.run<list>(seeded));
  CHECK(s.run<list>(free) != t.run<list>(free));
  double mean = 0, square = 0;
  for (const float x : s.run<list>(normal)) mean += x / 1000, square += x * x / 1000;
  CHECK(std::abs(mean) < 0.15);
  CHECK(std::abs(square - 1) < 0.2);
  for (const float x : s.run<list>(truncated)) CHECK(std::abs(x) <= 2);
  for (const float x : a) CHECK((x >= 0 && x < 1));
}

TEST_CASE("an index is refused also where the result has no elements") {
  graph g;
  auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1, 3}, "x"), ids = placeholder(dtype::int32, {-1}, "ids"),
             count = placeholder(dtype::int32, {}, "count");
  const auto sums = g.named()
                        .raw(g, "UnsortedSegmentSum", std::array{x, ids, count},
                             {{"T", dtype::float32}, {"Tindices", dtype::int32}, {"Tnumsegments", dtype::int32}},
                             {{dtype::float32, shape::unknown()}}, "sums")
                        .result();
  for (const bool fuse : {true, false}) {
    graph_session s(g, {.fuse = fuse});
    const auto run = [&](int segments, int id) {
      return s.run(sums, {{x, {{1.0f, 2.0f, 3.0f}}}, {ids, std::vector<std::int32_t>{id}}, {count, segments}});
    };
    CHECK(run(2, 1).as<std::vector<float>>() == std::vector<float>{0, 0, 0, 1, 2, 3});
    CHECK(run(0, -1).extent() == shape{2, {0, 3}});
    CHECK_THROWS_AS(run(0, 0), invalid_argument);
    CHECK_THROWS_AS(run(2, 2), invalid_argument);
  }
}

TEST_CASE("no gradient goes on where none comes, whatever the root is") {
  graph g;
  auto scope = g.as_default();
  const auto y = placeholder(dtype::float32, {-1}, "y"), dy = placeholder(dtype::float32, {-1}, "dy");
  const float nan = std::numeric_limits<float>::quiet_NaN(), most = std::numeric_limits<float>::infinity();
  const std::vector<float> ys{0, nan, most, 2, 0}, dys{0, 0, 0, 3, 1};
  for (const auto& [type, last] : {std::pair{"SqrtGrad", 0.75f}, {"RsqrtGrad", -12.0f}, {"ReciprocalGrad", -12.0f}}) {
    CAPTURE(type);
    const auto made = call_operator(g, type, {y, dy}).result();
    for (const bool fuse : {true, false}) {
      graph_session s(g, {.fuse = fuse});
      const auto got = s.run<std::vector<float>>(made, {{y, ys}, {dy, dys}});
      CHECK(std::vector<float>(got.begin(), got.begin() + 4) == std::vector<float>{0, 0, 0, last});
    }
  }
  const auto x = placeholder(dtype::float32, {5}, "x"), w = placeholder(dtype::float32, {5}, "w");
  for (const auto& [root, last] : {std::pair{sqrt(x), 0.75f}, {rsqrt(x), -0.1875f}, {reciprocal(x), -0.1875f}}) {
    CAPTURE(root.name());
    const output slope = gradients({multiply(w, root)}, {x})[0];
    for (const bool fuse : {true, false}) {
      graph_session s(g, {.fuse = fuse});
      const std::vector<float> xs{0, -1, most, nan, 4}, ws{0, 0, 0, 0, 3};
      const auto got = s.run<std::vector<float>>(slope, {{x, xs}, {w, ws}});
      CHECK(got == std::vector<float>{0, 0, 0, 0, last});
    }
  }
}

TEST_CASE("texts, printing and checks") {
  graph g;
  auto scope = g.as_default();
  std::ostringstream log;
  const auto words = constant(tensor_literal(data_type::string, shape{1, {2}}, {"a", "b"}), "words");
  const auto x = placeholder(dtype::float32, {-1}, "x");
  const auto printed = call_operator(g, "Print", {number_argument(x), number_argument(x), number_argument(words)},
                                     {{"message", "x is "}, {"first_n", std::int64_t{1}}})
                           .result();
  graph_session s(g, {.log = &log});
  CHECK(s.run<std::vector<std::string>>(words) == std::vector<std::string>{"a", "b"});
  const std::vector<float> data{1, 2.5f, 3, 4};
  CHECK(s.run(printed, {{x, data}}).elements() == 4);
  s.run(printed, {{x, data}});
  CHECK(log.str() == "x is [1 2.5 3...][a b]\n");
}

TEST_CASE("denormal numbers are zero in runs of any size, as programs and node by node") {
  const auto before = cpu::float_mode::current();
  for (const bool fuse : {true, false})
    for (const std::size_t n : {std::size_t{1}, std::size_t{3}, std::size_t{20000}}) {
      CAPTURE(fuse);
      CAPTURE(n);
      graph g;
      auto scope = g.as_default();
      const auto x = placeholder(dtype::float32, {-1}, "x");
      const auto w = variable(1.5e-38f, "w");
      const auto half = multiply(x, 0.5f);
      const auto halved = assign(w, multiply(w, 0.5f));
      graph_session s(g, {.fuse = fuse});
      s.run(global_variables_initializer());
      CHECK(s.run(half, {{x, std::vector<float>(n, 1.5e-38f)}}).as<std::vector<float>>()[n - 1] == 0);
      CHECK(s.run(multiply(x, 1e30f), {{x, std::vector<float>(n, 1e-40f)}}).as<std::vector<float>>()[n / 2] == 0);
      s.run(halved);
      CHECK(s.value(w).as<float>() == 0);
    }
  CHECK(before == cpu::float_mode::current());
}

TEST_CASE("programs for many shapes share their memory and keep to a budget") {
  graph g;
  auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1, 4096}, "x");
  const auto y = reduce_sum(softmax(matmul(tanh(x), transpose(tanh(multiply(x, 0.5f))))), {0, 1});
  const auto run = [&](graph_session& s, std::int64_t rows) {
    return s.run<float>(y, {{x, tensor_value(shape{2, {rows, 4096}}, std::vector<float>(static_cast<std::size_t>(rows) * 4096, 0.5f))}});
  };
  graph_session s(g);
  CHECK(run(s, 100) == doctest::Approx(100));
  const std::int64_t largest = s.program_bytes();
  CHECK(largest > 100 * 4096 * 4);
  for (std::int64_t rows = 1; rows <= 100; ++rows) run(s, rows);
  CHECK(s.program_bytes() < 3 * largest);
  // what has its program keeps it, and what came again after many has one now
  for (std::int64_t rows = 1; rows <= 100; ++rows) run(s, rows);
  const auto before = s.fused_runs();
  for (std::int64_t rows = 1; rows <= 100; ++rows) CHECK(run(s, rows) == doctest::Approx(static_cast<double>(rows)));
  CHECK(s.fused_runs() == before + 100);

  constexpr std::int64_t budget = 2'000'000;
  graph_session small(g, {.program_memory_in_bytes = budget});
  for (std::int64_t rows = 1; rows <= 100; ++rows) {
    CHECK(run(small, rows) == doctest::Approx(static_cast<double>(rows)));
    CHECK(small.program_bytes() < std::max(budget, largest + largest / 2));
  }
  run(small, 1);
  run(small, 1);
  CHECK(small.program_bytes() <= budget);
  graph_session none(g, {.program_memory_in_bytes = 0});
  for (const std::int64_t rows : {3, 4, 3, 4}) CHECK(run(none, rows) == doctest::Approx(static_cast<double>(rows)));
  CHECK(none.fused_runs() == 4);
  CHECK_THROWS_AS(graph_session(g, {.program_memory_in_bytes = -1}), invalid_argument);
}

TEST_CASE("a list of feeds keeps the temporaries that it was made of") {
  graph g;
  auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1}, "x");
  const auto y = multiply(x, 2.0f);
  graph_session s(g);
  const auto made = [](float first) { return std::vector<float>{first, first + 1, first + 2}; };
  const auto doubled = [&](const feed_list& feeds) { return s.run(y, feeds).as<std::vector<float>>(); };
  const std::vector<float> expected{2, 4, 6};
  {
    const feed_list kept{{x, made(1)}};
    const auto other = made(9);
    CHECK(doubled(kept) == expected);
    const feed_list copy = kept;
    CHECK(doubled(copy) == expected);
  }
  {
    const feed_list kept(std::vector<std::pair<output, std::vector<float>>>{{x, made(1)}});
    const auto other = made(9);
    CHECK(doubled(kept) == expected);
  }
  {
    const feed_list kept(std::map<std::string, std::vector<float>>{{"x:0", made(1)}});
    const auto other = made(9);
    CHECK(doubled(kept) == expected);
  }
  {
    std::vector<feed_item> items;
    items.emplace_back(x, xt::xtensor<float, 1>{1, 2, 3});
    items.emplace_back(x, tensor_value(made(1)));
    const xt::xtensor<float, 1> other{9, 9, 9};
    CHECK(doubled({{items[0]}}) == expected);
    CHECK(doubled({{items[1]}}) == expected);
  }
  {
    const std::vector<float> named{1, 2, 3};  // is not copied
    CHECK(feed_item(x, named).value.data() == static_cast<const void*>(named.data()));
    CHECK(doubled({{x, named}}) == expected);
  }
}

TEST_CASE("a raw ClipByValue with its ends in the wrong order gives the lower one") {
  graph g;
  auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1}, "x");
  const std::vector<output> in{x, constant(5.0f), constant(1.0f)};
  const auto y = g.named().raw(g, "ClipByValue", in, {{"T", data_type::float32}}, {{dtype::float32, x.extent()}}).result();
  for (const bool fuse : {true, false}) {
    graph_session s(g, {.fuse = fuse});
    CHECK(s.run(y, {{x, {0.0f, 3.0f, 9.0f}}}).as<std::vector<float>>() == std::vector<float>{5, 5, 5});
  }
}

TEST_CASE("nothing divided by zero is nothing") {
  graph g;
  auto scope = g.as_default();
  const auto x = placeholder(dtype::int32, {-1}, "x");
  const auto zero = constant(std::int32_t{0});
  const auto v = variable(std::vector<std::int32_t>{1, 2}, "v");
  const std::vector<output> rows{v, constant(tensor_literal(shape{1, {0}}, std::vector<std::int32_t>{})), zero};
  const attribute_map types{{"T", data_type::int32}, {"Tindices", data_type::int32}};
  const auto divided = g.named().raw(g, "ScatterDiv", rows, types, {{dtype::int32, v.extent()}}).result();
  for (const bool fuse : {true, false}) {
    graph_session s(g, {.fuse = fuse});
    s.run(global_variables_initializer());
    for (const char* type : {"FloorMod", "FloorDiv", "TruncateDiv", "TruncateMod", "Mod", "Div"}) {
      CAPTURE(type);
      const std::vector<output> in{x, zero};
      const auto y = g.named().raw(g, type, in, {{"T", data_type::int32}}, {{dtype::int32, x.extent()}}).result();
      CHECK(s.run(y, {{x, std::vector<std::int32_t>{}}}).elements() == 0);
      CHECK_THROWS_AS(s.run(y, {{x, std::vector<std::int32_t>{1}}}), invalid_argument);
    }
    CHECK(s.run(divided).as<std::vector<std::int32_t>>() == std::vector<std::int32_t>{1, 2});
  }
}

TEST_CASE("queues as functions") {
  graph g;
  auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {2}, "x");
  const auto n = placeholder(dtype::int32, {}, "n");
  const graph_queue q = fifo_queue(10, {dtype::float32, dtype::int32}, {{2}, {}});
  const auto add = q.enqueue({x, n});
  const auto several = q.enqueue_many({operand_value({{1.0f, 2.0f}, {3.0f, 4.0f}}), std::vector<std::int32_t>{7, 8}});
  const auto one = q.dequeue();
  const auto two = q.dequeue_many(2);
  const auto rest = q.dequeue_up_to(5);
  CHECK(q.reference().operation().name() == "fifo_queue");
  CHECK(add.name() == "fifo_queue_enqueue");
  CHECK(one[0].name() == "fifo_queue_Dequeue:0");
  CHECK(one[0].extent() == shape{1, {2}});
  CHECK(two[0].extent() == shape{2, {2, 2}});
  CHECK(two[1].extent() == shape{1, {2}});
  CHECK(rest[1].extent().rank == 1);
  graph_session s(g);
  s.run(add, {{x, {5.0f, 6.0f}}, {n, 1}});
  s.run(several);
  CHECK(s.run<std::int32_t>(q.size()) == 3);
  CHECK(s.run<std::int32_t>(one[1]) == 1);
  CHECK(s.run(two[0]).as<std::vector<float>>() == std::vector<float>{1, 2, 3, 4});
  s.run(add, {{x, {5.0f, 6.0f}}, {n, 2}});
  CHECK(!s.run<bool>(q.is_closed()));
  s.run(q.close());
  CHECK(s.run<bool>(q.is_closed()));
  CHECK(s.run(rest[1]).as<std::vector<std::int32_t>>() == std::vector<std::int32_t>{2});
  CHECK_THROWS_AS(s.run(add, {{x, {5.0f, 6.0f}}, {n, 1}}), cancelled);
  CHECK_THROWS_AS(static_cast<void>(q.enqueue({x})), invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(fifo_queue(1, {dtype::float32}, {{}, {}})), invalid_argument);

  const graph_queue padded = padding_fifo_queue(10, {dtype::float32}, {{-1}});
  const auto any = placeholder(dtype::float32, {-1}, "any");
  const auto put = padded.enqueue({any});
  s.run(put, {{any, {1.0f}}});
  s.run(put, {{any, {2.0f, 3.0f}}});
  CHECK(s.run(padded.dequeue_many(2)[0]).as<std::vector<float>>() == std::vector<float>{1, 0, 2, 3});
  const graph_queue shuffled = random_shuffle_queue(10, 0, {dtype::int32}, {{}}, {.seed = 3});
  s.run(shuffled.enqueue_many({std::vector<std::int32_t>{1, 2, 3}}));
  auto all = s.run(shuffled.dequeue_many(3)[0]).as<std::vector<std::int32_t>>();
  std::sort(all.begin(), all.end());
  CHECK(all == std::vector<std::int32_t>{1, 2, 3});
}

TEST_CASE("variables start from vectors and from functions") {
  graph g;
  auto scope = g.as_default();
  const auto a = variable(std::vector<float>{1, 2}, "a");
  const auto b = variable([] { return multiply(constant({1.0f, 2.0f}), 3.0f); }, "b");
  const auto c = get_variable("c", {.initializer = std::vector<float>{4, 5}});
  const auto d = get_variable("d", {2, 2}, {.initializer = [](const shape& s, dtype type) { return cast_to(fill(s, 7.0f), type); }});
  const auto e = get_variable("e", {.initializer = multiply(a, 2.0f)});
  CHECK(b.operation().name() == "b");
  CHECK(initializer_of(b).inputs()[1].operation().name() == "b/Initializer/Mul");
  graph_session s(g);
  s.run(global_variables_initializer());
  CHECK(s.value(a).as<std::vector<float>>() == std::vector<float>{1, 2});
  CHECK(s.value(b).as<std::vector<float>>() == std::vector<float>{3, 6});
  CHECK(s.value(c).as<std::vector<float>>() == std::vector<float>{4, 5});
  CHECK(s.value(d).as<std::vector<float>>() == std::vector<float>(4, 7.0f));
  CHECK(s.value(e).as<std::vector<float>>() == std::vector<float>{2, 4});
}

TEST_CASE("a counter of steps is given to both halves and to the whole in the same ways") {
  graph g;
  auto scope = g.as_default();
  const auto w = variable(4.0f, "w");
  const auto step = get_or_create_global_step();
  const auto loss = square(w);
  const named_optimizer o = gradient_descent(0.25f);
  const auto pairs = o.compute_gradients(loss);
  const std::vector<graph_operation> steps{o.apply_gradients(pairs, step), o.apply_gradients(pairs, {.global_step = step, .name = "step"}),
                                           o.minimize(loss, step), o.minimize(loss, {.global_step = step})};
  CHECK(steps[1].name() == "step");
  graph_session s(g);
  s.run(global_variables_initializer());
  for (const auto& train : steps) s.run(train);
  CHECK(s.value(step).as<std::int64_t>() == 4);
  CHECK(s.value(w).as<float>() == 0.25f);
}
