#include <leat/leat.hpp>
#include <leat/train/losses.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace leat;
using namespace leat::literals;

TEST_CASE("weights of every form, and settings that are numbers, parameters, constants") {
  auto x = placeholder<"x", float, "batch", 2>();
  auto y = placeholder<"y", float, "batch", 2>();
  auto w = placeholder<"w", float, "batch", 1>();
  auto delta = parameter<"delta">(0.5f);
  auto plain = losses::absolute_difference(y, x);
  auto weighted = losses::absolute_difference(y, x, w);
  auto number = losses::absolute_difference<losses::reduction::sum>(y, x, 3.0f);
  auto huber = losses::huber_loss(y, x, 1_c, delta);
  auto each = losses::compute_weighted_loss<losses::reduction::none>(abs(y - x), w);
  session s{plain, weighted, number, huber, each};
  s.initialize();
  const xt::xtensor<float, 2> xs{{1, 2}, {3, 4}}, ys{{0, 0}, {0, 0}}, ws{{1}, {0}};
  auto [a, b, c, d, e] = s.run(fetch(plain, weighted, number, huber, each), x = xs, y = ys, w = ws);
  CHECK(a == doctest::Approx(2.5));
  CHECK(b == doctest::Approx(1.5));
  CHECK(c == doctest::Approx(30));
  CHECK(d == doctest::Approx(0.5 * 2.5 - 0.125));
  CHECK(e(0, 1) == 2);
  CHECK(e(1, 1) == 0);
  auto [f] = s.run(fetch(huber), x = xs, y = ys, delta = 10.0f);
  CHECK(f == doctest::Approx(30.0 / 8));
}

TEST_CASE("a batch without samples has the loss 0") {
  auto x = placeholder<"x", float, "batch", 2>();
  auto y = placeholder<"y", float, "batch", 2>();
  auto loss = losses::mean_squared_error(y, x);
  auto mean = losses::mean_squared_error<losses::reduction::mean>(y, x, 2.0f);
  session s{loss, mean};
  const xt::xtensor<float, 2> none = xt::xtensor<float, 2>::from_shape({0, 2});
  auto [a, b] = s.run(fetch(loss, mean), x = none, y = none);
  CHECK(a == 0.0f);
  CHECK(b == 0.0f);
}

TEST_CASE("a loss with regularizers trains variables") {
  auto x = placeholder<"x", float, "batch", 3>();
  auto y = placeholder<"y", float, "batch">();
  auto w = variable<"w", float, 3, 1>(zeros);
  auto loss = losses::mean_squared_error(y, squeeze<1>(matmul(x, w)));
  auto term = l1_regularizer(0.001f)(w) + l2_regularizer(0.001f)(w) + l1_l2_regularizer(0.0f, 0.0f)(w);
  auto train = gradient_descent(0.1f).minimize(loss + term);
  session s{loss, term, train};
  s.initialize();
  const xt::xtensor<float, 2> xs{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
  const xt::xtensor<float, 1> ys{1, 2, 3, 6};
  for (int k = 0; k < 300; ++k) s.run(fetch(train), x = xs, y = ys);
  auto [l, t] = s.run(fetch(loss, term), x = xs, y = ys);
  CHECK(l < 0.001f);
  CHECK(t == doctest::Approx(0.001 * 6 + 0.001 * 7).epsilon(0.01));
}
