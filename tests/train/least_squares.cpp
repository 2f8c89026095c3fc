#include <leat/train/least_squares.hpp>

#include <leat/calculus.hpp>
#include <leat/planned.hpp>
#include <leat/vmap.hpp>

#include "support/check.hpp"

#include <cmath>
#include <random>
#include <tuple>
#include <vector>

using namespace leat;
using namespace leat::literals;

namespace {

constexpr std::size_t points = 20;
const auto t = placeholder<"t", double, points>();
const auto seen = placeholder<"seen", double, points>();
// a exp(-b t) + c
const auto curve = [](const auto& p) { return index<0>(p) * exp(-index<1>(p) * t) + index<2>(p) - seen; };

std::vector<double> times() {
  std::vector<double> all;
  for (std::size_t i = 0; i < points; ++i) all.push_back(0.2 * static_cast<double>(i));
  return all;
}
std::vector<double> values(double a, double b, double c) {
  std::vector<double> all;
  for (double at : times()) all.push_back(a * std::exp(-b * at) + c);
  return all;
}

}  // namespace

TEST_CASE("Gauss-Newton finds a curve through its points in a few steps, compiled and planned") {
  const auto p = variable<"p", double, 3>(1.0);
  const auto fit = gauss_newton(curve, p);
  const auto check = [&](auto s) {
    s.initialize();
    const auto ts = times(), ys = values(2.5, 1.3, 0.5);
    for (int k = 0; k < 8; ++k) s.run(fetch(fit.step), t = ts, seen = ys);
    const auto found = s.value(p);
    CHECK(found(0) == doctest::Approx(2.5).epsilon(1e-9));
    CHECK(found(1) == doctest::Approx(1.3).epsilon(1e-9));
    CHECK(found(2) == doctest::Approx(0.5).epsilon(1e-9));
    CHECK(std::get<0>(s.run(fetch(fit.loss), t = ts, seen = ys)) < 1e-15);
  };
  check(session{fit.step, fit.loss, p});
  check(planned_session{fit.step, fit.loss, p});
}

TEST_CASE("a linear problem takes one step, and its solution is that of the normal equations") {
  const auto w = variable<"w", double, 2, 1>(zeros);
  const auto b = variable<"b", double>(0.0);
  const auto xs = placeholder<"xs", double, "n", 2>();
  const auto ys = placeholder<"ys", double, "n">();
  const auto residuals = [&](const auto& weights, const auto& bias) { return squeeze<1>(matmul(xs, weights)) + bias - ys; };
  const auto fit = gauss_newton(residuals, std::tuple(w, b));
  session s{fit.step, fit.loss, w, b};
  s.initialize();
  const xt::xtensor<double, 2> inputs{{1, 2}, {3, -1}, {0.5, 0.25}, {-2, 1}};
  const xt::xtensor<double, 1> targets{2 * 1 - 3 * 2 + 0.5, 2 * 3 + 3 + 0.5, 1 - 0.75 + 0.5, -4 - 3 + 0.5};
  s.run(fetch(fit.step), xs = inputs, ys = targets);
  CHECK(s.value(w)(0, 0) == doctest::Approx(2));
  CHECK(s.value(w)(1, 0) == doctest::Approx(-3));
  CHECK(s.value(b) == doctest::Approx(0.5));
}

TEST_CASE("Levenberg-Marquardt comes from far, takes no step that makes the loss larger, and outlives singular matrices") {
  const auto p = variable<"far", double, 3>(std::vector<double>{-5, 8, 3});
  const auto damping = untrainable_variable<"damping", double>(1e-3);
  const auto fit = levenberg_marquardt(curve, p, damping);
  session s{fit.step, fit.loss, p, damping};
  s.initialize();
  const auto ts = times(), ys = values(2.5, 1.3, 0.5);
  double last = std::get<0>(s.run(fetch(fit.loss), t = ts, seen = ys));
  for (int k = 0; k < 100; ++k) {
    s.run(fetch(fit.step), t = ts, seen = ys);
    const auto [now] = s.run(fetch(fit.loss), t = ts, seen = ys);
    CHECK(now <= last);
    last = now;
  }
  CHECK(s.value(p)(1) == doctest::Approx(1.3).epsilon(1e-7));

  SUBCASE("residuals that do not determine the parameters") {
    const auto two = variable<"two", double, 2>(1.0);
    const auto one = [](const auto& q) { return reshape<1>(reduce_sum(q) - 5_c); };
    const auto free_damping = untrainable_variable<"free_damping", double>(0.0);
    const auto free_fit = levenberg_marquardt(one, two, free_damping);
    session f{free_fit.step, free_fit.loss, two, free_damping};
    f.initialize();
    for (int k = 0; k < 30; ++k) f.run(fetch(free_fit.step));
    CHECK(std::isfinite(f.value(two)(0)));
    CHECK(std::get<0>(f.run(fetch(free_fit.loss))) < 1e-12);
  }
}

TEST_CASE("robust rules: losses, weights, and a line among points of which some are far off") {
  const auto r = placeholder<"r", double, 5>();
  const std::vector<double> rs{-3, -0.5, 0, 0.75, 10};
  const auto check_weight = [&](const auto& rule) {
    const auto loss = rule.loss(r);
    const auto slope = std::get<0>(gradients(reduce_sum(loss), r));
    const auto product = rule.weight(r) * r;
    session s{slope, product};
    const auto [a, b] = s.run(fetch(slope, product), r = rs);
    for (std::size_t i = 0; i < 5; ++i) CHECK(a(i) == doctest::Approx(b(i)).epsilon(1e-12));
  };
  check_weight(robust::huber(1.0_c));
  check_weight(robust::cauchy(1.5_c));
  check_weight(robust::tukey(4.5_c));

  const auto line = variable<"line", double, 2>(0.0);
  const auto straight = [](const auto& p) { return index<0>(p) + index<1>(p) * t - seen; };
  auto ys = times();
  for (double& y : ys) y = 1 + 2 * y;
  ys[3] += 40;
  ys[11] -= 25;
  const auto check_line = [&](const auto& rule, double tolerance) {
    const auto fit = gauss_newton(straight, line, rule);
    session s{fit.step, fit.loss, line};
    s.initialize();
    for (int k = 0; k < 60; ++k) s.run(fetch(fit.step), t = times(), seen = ys);
    CHECK(std::abs(s.value(line)(0) - 1) < tolerance);
    CHECK(std::abs(s.value(line)(1) - 2) < tolerance);
  };
  check_line(robust::huber(0.1_c), 0.1);
  check_line(robust::cauchy(0.1_c), 1e-2);
}

TEST_CASE("Newton's step solves a quadratic problem at once, and Rosenbrock's in a few") {
  const auto x = variable<"x", double, 4>(std::vector<double>{1.2, 1.1, 1.3, 1.6});
  const auto head = slice<begins<0>, sizes<3>>(x);
  const auto tail = slice<begins<1>, sizes<3>>(x);
  const auto loss = reduce_sum(100_c * square(tail - square(head)) + square(1_c - head));
  const auto step = assign_add(x, newton_direction(loss, x));
  session s{step, loss, x};
  s.initialize();
  for (int k = 0; k < 50; ++k) s.run(fetch(step));
  CHECK(std::get<0>(s.run(fetch(loss))) < 1e-20);
}

TEST_CASE("a fit for each of many models") {
  const auto starts = variable<"starts", double, 6, 3>(1.0);
  const auto each = placeholder<"each", double, 6, points>();
  const auto next = vmap([&](const auto& p, const auto& y) {
    const auto residuals = index<0>(p) * exp(-index<1>(p) * t) + index<2>(p) - y;
    return p + least_squares_direction(residuals, p);
  })(starts, each);
  const auto step = assign(starts, next);
  session s{step, starts};
  s.initialize();
  xt::xtensor<double, 2> ys(std::array<std::size_t, 2>{6, points});
  for (std::size_t m = 0; m < 6; ++m) {
    const auto own = values(2 + 0.1 * static_cast<double>(m), 1.2, 0.4);
    for (std::size_t i = 0; i < points; ++i) ys(m, i) = own[i];
  }
  for (int k = 0; k < 10; ++k) s.run(fetch(step), t = times(), each = ys);
  for (std::size_t m = 0; m < 6; ++m) CHECK(s.value(starts)(m, 0) == doctest::Approx(2 + 0.1 * static_cast<double>(m)).epsilon(1e-8));
}

TEST_CASE("float32, with robust rules and damping") {
  const auto p = variable<"single", float, 2>(0.5f);
  const auto at = placeholder<"at", float, "n">();
  const auto ys = placeholder<"ys", float, "n">();
  const auto f = [&](const auto& q) { return index<0>(q) + index<1>(q) * at - ys; };
  const auto damping = untrainable_variable<"single_damping", float>(1e-3f);
  const auto fit = levenberg_marquardt(f, p, damping, robust::huber(1.0_c));
  session s{fit.step, fit.loss, p, damping};
  s.initialize();
  for (int k = 0; k < 20; ++k) s.run(fetch(fit.step), at = std::vector<float>{0, 1, 2, 3}, ys = std::vector<float>{1, 3, 5, 7});
  CHECK(s.value(p)(1) == doctest::Approx(2).epsilon(1e-4));
}
