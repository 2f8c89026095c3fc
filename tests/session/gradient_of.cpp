#include <leat/session/gradient_of.hpp>

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
