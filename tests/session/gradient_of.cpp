#include <leat/session/gradient_of.hpp>

#include "support/powers.hpp"

#include <doctest/doctest.h>

#include <leat/graphs.hpp>
#include <leat/leat.hpp>

using namespace leat;

TEST_CASE("the gradient of a function of arrays") {
  int calls = 0;
  const auto df = gradient_of([&calls](auto x) {
    ++calls;
    return reduce_sum(square(x));
  });
  const xt::xtensor<float, 2> a{{1, 2}, {3, -4}};
  const xt::xtensor<float, 2> slope = df(a);
  CHECK(slope == xt::xtensor<float, 2>{{2, 4}, {6, -8}});
  CHECK(df(xt::xtensor<float, 2>(2.0f * a)) == 2.0f * slope);
  CHECK(calls == 1);  // the same shape: the same graph
  const std::vector<float> shorter = df(std::vector<float>{1, 2, 3});
  CHECK(shorter == std::vector<float>{2, 4, 6});
  CHECK(calls == 2);
  CHECK(df(3.0) == 6.0);
  static_assert(std::is_same_v<decltype(df(3.0)), double>);
}

TEST_CASE("of several arguments, of some, with the value") {
  const auto f = [](auto x, auto y) { return reduce_sum(x * x * y); };
  const auto [dx, dy] = gradient_of(f)(2.0f, 5.0f);
  CHECK(dx == 20);
  CHECK(dy == 4);
  CHECK(gradient_of<1>(f)(2.0f, 5.0f) == 4);
  const auto [value, first, second] = value_and_gradient_of(f)(2.0f, 5.0f);
  CHECK(value.as<float>() == 20);
  CHECK(first == 20);
  CHECK(second == 4);
  // it does not depend on one of them
  const auto [one, none] = gradient_of([](auto x, auto) { return 3.0f * x; })(2.0f, std::vector<float>{1, 2});
  CHECK(one == 3);
  CHECK(none == std::vector<float>{0, 0});
}

TEST_CASE("gradients of gradients") {
  const auto cube = [](auto x) { return x * x * x; };
  CHECK(gradient_of(gradient_of(cube))(2.0) == 12.0);
  CHECK(gradient_of(gradient_of(gradient_of(cube)))(2.0) == 6.0);
}

TEST_CASE("second gradients of functions whose first is an operator of its own, in both dtypes") {
  using function = output (*)(const output&);
  const std::vector<double> above{0.3, 0.6, 1.75}, around{-1.25, 0.5, 6.5};
  struct sample {
    std::string name;
    function f;
    std::vector<double> at;
  };
  const sample samples[]{{"sqrt", [](const output& x) { return sqrt(x); }, above},
                         {"rsqrt", [](const output& x) { return rsqrt(x); }, above},
                         {"reciprocal", [](const output& x) { return reciprocal(x); }, above},
                         {"tanh", [](const output& x) { return tanh(x); }, around},
                         {"sigmoid", [](const output& x) { return sigmoid(x); }, around},
                         {"softplus", [](const output& x) { return softplus(x); }, around},
                         {"relu", [](const output& x) { return relu(x); }, around},
                         {"relu6", [](const output& x) { return relu6(x); }, around},
                         {"elu", [](const output& x) { return elu(x); }, around},
                         {"leaky_relu", [](const output& x) { return leaky_relu(x); }, around},
                         {"a slice", [](const output& x) { return index(x, {along::all(2)}); }, around},
                         {"an element", [](const output& x) { return index(x, {1}); }, around}};
  for (const sample& a : samples) {
    CAPTURE(a.name);
    std::vector<double> expected;
    for (const dtype type : {dtype::float64, dtype::float32})
      for (const shape_value& extent : {shape_value({3}), shape_value({-1})})
        for (const bool fuse : {true, false}) {
          graph g;
          const auto scope = g.as_default();
          const auto x = placeholder(type, extent, "x");
          const auto y = a.f(x);
          const auto slope = gradients({y * y * y}, {x})[0];
          const auto total = reduce_sum(slope * slope, all_axes);
          const auto second = gradients({total}, {x})[0];
          CHECK(second.type() == type);
          graph_session s(g, {.fuse = fuse});
          const auto run = [&](const output& what, const std::vector<double>& at) {
            const auto wide = cast(what, dtype::float64);
            if (type == dtype::float64) return s.run<std::vector<double>>(reshape(wide, {-1}), {{x, at}});
            return s.run<std::vector<double>>(reshape(wide, {-1}), {{x, std::vector<float>(at.begin(), at.end())}});
          };
          for (std::size_t i = 0; i < a.at.size() && expected.size() < a.at.size(); ++i) {
            auto more = a.at, less = a.at;
            more[i] += 1e-5;
            less[i] -= 1e-5;
            expected.push_back((run(total, more)[0] - run(total, less)[0]) / 2e-5);
          }
          const auto got = run(second, a.at);
          REQUIRE(got.size() == expected.size());
          for (std::size_t i = 0; i < got.size(); ++i)
            CHECK(got[i] == doctest::Approx(expected[i]).epsilon(type == dtype::float64 ? 1e-6 : 1e-4));
        }
  }
}

TEST_CASE("the second gradient of a bias, with channels last and first") {
  for (const bool is_first : {false, true})
    for (const bool has_sizes : {true, false}) {
      graph g;
      const auto scope = g.as_default();
      const shape_value open = is_first ? shape_value{-1, 2, -1, -1} : shape_value{-1, -1, -1, 2};
      const shape_value known = is_first ? shape_value{1, 2, 1, 3} : shape_value{1, 1, 3, 2};
      const auto x = placeholder(dtype::float64, has_sizes ? known : open, "x");
      const auto b = placeholder(dtype::float64, {2}, "b");
      const auto y = call_operator(g, "BiasAdd", {x, b}, {{"data_format", is_first ? "NCHW" : "NHWC"}}).result();
      const auto slope = gradients({y * y}, {b})[0];                           // 2 Σ (x + b)
      const auto second = gradients({slope * constant({1.0, 10.0})}, {x})[0];  // 2 and 20
      for (const bool fuse : {true, false}) {
        graph_session s(g, {.fuse = fuse});
        const tensor_value values(known, std::vector<double>{1, 2, 3, 4, 5, 6});
        CHECK(s.run<std::vector<double>>(slope, {{x, values}, {b, {0.5, 1.0}}}) ==
              (is_first ? std::vector<double>{15, 36} : std::vector<double>{21, 30}));
        CHECK(s.run<std::vector<double>>(second, {{x, values}, {b, {0.5, 1.0}}}) ==
              (is_first ? std::vector<double>{2, 2, 2, 20, 20, 20} : std::vector<double>{2, 20, 2, 20, 2, 20}));
      }
    }
}

TEST_CASE("of handles and of typed expressions") {
  const auto f = [](const auto& x) { return reduce_sum(tanh(x)); };
  graph g;
  const auto scope = g.as_default();
  const auto p = placeholder(dtype::float32, {3}, "p");
  graph_session s(g);
  const std::vector<float> xs{-1, 0, 2};
  const std::vector<float> by_name = s.run(gradient_of(f)(p), {{p, xs}}).as<std::vector<float>>();

  const auto x = placeholder<"x", float, 3>();
  const auto slope = gradient_of(f)(x);
  session typed{slope};
  const auto [now] = typed.run(fetch(slope), x = xs);
  for (std::size_t i = 0; i < 3; ++i) CHECK(by_name[i] == doctest::Approx(now(i)));
  CHECK(gradient_of(f)(xs) == by_name);
}

TEST_CASE("what has no gradient is refused, and the function stays usable") {
  const auto f = [](auto x, auto k) { return reduce_sum(gather(x, k)); };
  const std::vector<float> x{1, 2, 3};
  const std::vector<std::int32_t> k{0, 2, 2};
  CHECK_THROWS_WITH_AS(gradient_of(f)(x, k), doctest::Contains("gradient_of<0>(f)"), invalid_argument);
  const auto df = gradient_of<0>(f);
  CHECK(df(x, k) == std::vector<float>{1, 0, 2});
  CHECK_THROWS_AS(df(x, std::vector<std::int32_t>{7}), invalid_argument);
  CHECK(df(x, k) == std::vector<float>{1, 0, 2});
}

TEST_CASE("a function of operators, evaluated") {
  const auto product = evaluated([](auto a, auto b) { return matmul(a, b); });
  const xt::xtensor<float, 2> a{{1, 2}, {3, 4}}, b{{0, 1}, {1, 0}};
  const xt::xtensor<float, 2> c = product(a, b);
  CHECK(c == xt::xtensor<float, 2>{{2, 1}, {4, 3}});
  const auto both = evaluated([](auto x) { return std::vector<output>{x + 1.0f, x * 2.0f}; })(3.0f);
  REQUIRE(both.size() == 2);
  CHECK(both[0].as<float>() == 4);
  CHECK(both[1].as<float>() == 6);
}

TEST_CASE("powers and both orders of their derivatives are TensorFlow's in graphs, fused and node by node") {
  graph g;
  const auto scope = g.as_default();
  const output a = placeholder(dtype::float64, {-1}), b = placeholder(dtype::float64, {-1});
  std::vector<output> all{pow(a, b)};
  for (const output& first : gradients({all[0]}, {a, b})) all.push_back(first);
  for (const std::size_t k : {1u, 2u})
    for (const output& second : gradients({all[k]}, {a, b})) all.push_back(second);
  std::vector<double> as, bs;
  for (const auto& c : leat_test::powers::cases) as.push_back(c.a), bs.push_back(c.b);
  for (const bool fuse : {true, false}) {
    graph_session s(g, {.fuse = fuse});
    const auto got = s.run(all, {{a, as}, {b, bs}});
    for (std::size_t k = 0; k < all.size(); ++k)
      for (std::size_t i = 0; i < as.size(); ++i) {
        INFO("result ", k, " of ", as[i], "^", bs[i]);
        CHECK(leat_test::powers::agrees(got[k].values<double>()[i], leat_test::powers::cases[i].wanted[k]));
      }
  }
}
