#include <leat/train/implicit.hpp>

#include <leat/calculus.hpp>
#include <leat/planned.hpp>

#include "support/check.hpp"

#include <cmath>
#include <string>
#include <vector>

using namespace leat;
using namespace leat::literals;

TEST_CASE("a root and its gradient, compiled and planned; no root is an error that names the residual") {
  const auto a = placeholder<"a", double, 3>();
  const auto x = solve_root<5>([&](const auto& u) { return square(u) * u - a; }, a * 0_c + 1_c);
  const auto slope = std::get<0>(gradients(reduce_sum(x), a));
  const auto check = [&](auto s) {
    const std::vector<double> as{1, 2, 0.5};
    const auto [found, ds] = s.run(fetch(x, slope), a = as);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(found(i) == doctest::Approx(std::cbrt(as[i])).epsilon(1e-12));
      CHECK(ds(i) == doctest::Approx(std::cbrt(as[i]) / (3 * as[i])).epsilon(1e-9));
    }
    CHECK_THROWS_AS(s.run(fetch(x), a = std::vector<double>{1, 2, 1e30}), failed_precondition);
    std::string text;
    try {
      s.run(fetch(x), a = std::vector<double>{1, 2, std::nan("")});
    } catch (const failed_precondition& error) {
      text = error.what();
    }
    CHECK(text.find("solve_root: no convergence in 5 steps: the residual is nan") != std::string::npos);
  };
  check(session{x, slope});
  check(planned_session{x, slope});
}

TEST_CASE("a fixed point of a system, and its gradient by a matrix against differences") {
  const auto w = placeholder<"w", double, 2, 2>();
  const auto b = placeholder<"b", double, 2>();
  const auto x = fixed_point<14>([&](const auto& u) { return tanh(squeeze<1>(matmul(w, reshape<2, 1>(u))) + b); }, b * 0_c);
  const auto loss = reduce_sum(square(x) * x);
  const auto [dw, db] = gradients(loss, w, b);
  session s{loss, dw, db};
  const xt::xtensor<double, 2> ws{{0.2, -0.1}, {0.1, 0.3}};
  const xt::xtensor<double, 1> bs{0.5, -0.7};
  const auto [value, slope_w, slope_b] = s.run(fetch(loss, dw, db), w = ws, b = bs);
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t k = 0; k < 2; ++k) {
      const double h = 1e-5;
      auto up = ws, down = ws;
      up(i, k) += h;
      down(i, k) -= h;
      const double difference = (std::get<0>(s.run(fetch(loss), w = up, b = bs)) - std::get<0>(s.run(fetch(loss), w = down, b = bs))) / (2 * h);
      CHECK(slope_w(i, k) == doctest::Approx(difference).epsilon(1e-6));
    }
  auto up = bs;
  up(1) += 1e-6;
  CHECK(slope_b(1) == doctest::Approx((std::get<0>(s.run(fetch(loss), w = ws, b = up)) - value) / 1e-6).epsilon(1e-4));
  CHECK_THROWS_AS(s.run(fetch(loss), w = xt::xtensor<double, 2>{{0, -5}, {5, 0}}, b = bs), failed_precondition);
}

TEST_CASE("the smallest value of a function, by its parameters; a saddle is refused") {
  const auto p = placeholder<"p", double>();
  const auto start = placeholder<"start", double, 2>();
  const auto x = argmin<6>([&](const auto& u) { return reduce_sum(square(square(u))) * 0.25_c + square(index<0>(u) - p) + square(index<1>(u) + p * p); }, start);
  const auto slopes = jacobian(x, p);
  session s{x, slopes};
  const std::vector<double> from{0.5, -0.5};
  const auto [at, ds] = s.run(fetch(x, slopes), p = 0.8, start = from);
  CHECK(std::abs(std::pow(at(0), 3) + 2 * (at(0) - 0.8)) < 1e-10);
  const auto [up] = s.run(fetch(x), p = 0.8 + 1e-6, start = from);
  for (std::size_t i = 0; i < 2; ++i) CHECK(ds(i) == doctest::Approx((up(i) - at(i)) / 1e-6).epsilon(1e-4));

  const auto saddle = argmin<2>([&](const auto& u) { return square(index<0>(u)) - square(index<1>(u)) * p; }, start);
  session t{saddle};
  CHECK_THROWS_AS(t.run(fetch(saddle), p = 1.0, start = from), failed_precondition);
}

TEST_CASE("a solution within the equation of another, in float32") {
  const auto a = placeholder<"single", float>();
  const auto outer = solve_root<6, 1e-3>(
      [&](const auto& u) {
        const auto inner = solve_root<5, 1e-3>([&](const auto& v) { return square(v) - u - a; }, a * 0_c + 2_c);
        return inner + u - 4_c;
      },
      a * 0_c + 1_c);
  session s{outer};
  const auto [found] = s.run(fetch(outer), a = 2.0f);
  CHECK(std::sqrt(found + 2) + found == doctest::Approx(4).epsilon(1e-5));
}

TEST_CASE("second and third derivatives of a root are those of the implicit function, compiled and planned") {
  const auto a = placeholder<"cubed", double>();
  const auto x = solve_root<4, 1e-6, 3>([&](const auto& u) { return square(u) * u - a; }, 1.1_c + a * 0_c);
  const auto d1 = std::get<0>(gradients(x, a));
  const auto d2 = std::get<0>(gradients(d1, a));
  const auto d3 = std::get<0>(gradients(d2, a));
  const auto check = [&](auto s) {
    const auto [one, two, three] = s.run(fetch(d1, d2, d3), a = 1.3);
    CHECK(one == doctest::Approx(1.0 / 3 * std::pow(1.3, -2.0 / 3)).epsilon(1e-9));
    CHECK(two == doctest::Approx(-2.0 / 9 * std::pow(1.3, -5.0 / 3)).epsilon(1e-9));
    CHECK(three == doctest::Approx(10.0 / 27 * std::pow(1.3, -8.0 / 3)).epsilon(1e-8));
  };
  check(session{d1, d2, d3});
  check(planned_session{d1, d2, d3});
}

TEST_CASE("the Hessian of a loss of a smallest value and of a fixed point against differences of the gradient") {
  const auto p = placeholder<"both", double, 2>();
  const auto least = argmin<3>(
      [&](const auto& u) {
        return reduce_sum(square(square(u))) * 0.25_c + square(index<0>(u) - index<0>(p)) + square(index<1>(u) * index<1>(p) + index<0>(u));
      },
      p * 0_c + 0.6_c);
  const auto fixed = fixed_point<12>([&](const auto& u) { return tanh(u * index<0>(p) - index<1>(p)) * 0.2_c; }, least);
  const auto loss = reduce_sum(square(least) * least) + reduce_sum(fixed * fixed);
  const auto slope = std::get<0>(gradients(loss, p));
  const auto curvature = hessian(loss, p);
  session s{slope, curvature};
  const std::vector<double> at{0.8, -0.6};
  const auto [h] = s.run(fetch(curvature), p = at);
  for (std::size_t k = 0; k < 2; ++k) {
    const double step = 1e-5;
    auto up = at, down = at;
    up[k] += step;
    down[k] -= step;
    const auto [above] = s.run(fetch(slope), p = up);
    const auto [below] = s.run(fetch(slope), p = down);
    for (std::size_t i = 0; i < 2; ++i) CHECK(h(i, k) == doctest::Approx((above(i) - below(i)) / (2 * step)).epsilon(1e-5));
  }
}
