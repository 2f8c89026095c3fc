#include <leat/train/second_order.hpp>

#include <leat/calculus.hpp>
#include <leat/planned.hpp>

#include "support/check.hpp"

#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

using namespace leat;
using namespace leat::literals;

namespace {

const auto rosenbrock = [](const auto& x) {
  constexpr std::int64_t n = std::remove_cvref_t<decltype(x)>::extent[0];
  const auto head = slice<begins<0>, sizes<n - 1>>(x);
  const auto tail = slice<begins<1>, sizes<n - 1>>(x);
  return reduce_sum(100_c * square(tail - square(head)) + square(1_c - head));
};

// The loss after each of some steps, and that it never rises.
template <class Session, class Step, class Loss>
double after_steps(Session& s, const Step& step, const Loss& loss, int steps) {
  double last = static_cast<double>(std::get<0>(s.run(fetch(loss))));
  for (int k = 0; k < steps; ++k) {
    s.run(fetch(step));
    const double now = static_cast<double>(std::get<0>(s.run(fetch(loss))));
    CHECK(now <= last);
    last = now;
  }
  return last;
}

}  // namespace

TEST_CASE("conjugate gradients solve a system in as many iterations as it has unknowns") {
  const auto a = placeholder<"a", double, 3, 3>();
  const auto b = placeholder<"b", double, 3>();
  const auto multiply = [&](const auto& v) { return squeeze<1>(matmul(a, reshape<3, 1>(v))); };
  const auto x = conjugate_gradients<3>(multiply, b);
  const auto many = conjugate_gradients<6>(multiply, b);
  session s{x, many};
  const xt::xtensor<double, 2> matrix{{4, 1, 0}, {1, 3, -1}, {0, -1, 2}};
  const xt::xtensor<double, 1> wanted{1, -2, 3}, right{4 - 2, 1 - 6 - 3, 2 + 6};
  const auto [found, also] = s.run(fetch(x, many), a = matrix, b = right);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(found(i) == doctest::Approx(wanted(i)).epsilon(1e-12));
    CHECK(also(i) == doctest::Approx(wanted(i)).epsilon(1e-12));
  }
  SUBCASE("a right-hand side of zeros, and a matrix that is not positive definite") {
    const auto [none, too] = s.run(fetch(x, many), a = matrix, b = xt::xtensor<double, 1>{0, 0, 0});
    for (std::size_t i = 0; i < 3; ++i) CHECK(none(i) == 0);
    const xt::xtensor<double, 2> negative{{-1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
    const auto [kept, more] = s.run(fetch(x, many), a = negative, b = right);
    for (std::size_t i = 0; i < 3; ++i) CHECK(kept(i) == 0);
  }
}

TEST_CASE("L-BFGS comes down Rosenbrock's valley, compiled and planned, and keeps its history in variables") {
  const auto x = variable<"x", double, 10>(-1.0);
  const auto loss = rosenbrock(x);
  const auto step = lbfgs<6>().minimize(loss);
  const auto check = [&](auto s) {
    s.initialize();
    CHECK(after_steps(s, step, loss, 120) < 1e-16);
    const auto found = s.value(x);
    for (std::size_t i = 0; i < 10; ++i) CHECK(found(i) == doctest::Approx(1).epsilon(1e-7));
  };
  check(session{step, loss, x});
  check(planned_session{step, loss, x});
}

TEST_CASE("L-BFGS with a memory of one, in float32, of several variables") {
  const auto w = variable<"w", float, 2, 2>(std::vector<float>{1, 2, -3, 4});
  const auto b = variable<"b", float>(5.0f);
  const auto counter = untrainable_variable<"counter", std::int64_t>(0);
  const auto loss = reduce_sum(square(w - 1_c) * w * w) + square(square(b) - 2_c) + reduce_sum(w) * b * 0.1_c;
  const auto step = lbfgs<1, 4>().minimize(loss, counter);
  session s{step, loss, w, b, counter};
  s.initialize();
  after_steps(s, step, loss, 60);
  CHECK(s.value(counter) == 60);
  const auto [dw, db] = gradients(loss, w, b);
  session g{dw, db, w, b};
  g.initialize();
  g.assign(w, s.value(w));
  g.assign(b, s.value(b));
  const auto [slope_w, slope_b] = g.run(fetch(dw, db));
  for (const float each : slope_w) CHECK(std::abs(each) < 1e-2f);
  CHECK(std::abs(slope_b) < 1e-2f);
}

TEST_CASE("the first steps of L-BFGS are those of the two loops by hand") {
  const auto x = variable<"hand", double, 3>(std::vector<double>{1, -0.5, 2});
  const auto a = placeholder<"curvature", double, 3>();
  const auto loss = reduce_sum(a * square(x)) + reduce_sum(square(square(x))) * 0.1_c;
  const auto step = lbfgs<2, 8>().minimize(loss);
  session s{step, loss, x};
  s.initialize();
  const std::vector<double> as{1, 3, 0.25};
  using vec = std::array<double, 3>;
  const auto dot = [](const vec& p, const vec& q) { return p[0] * q[0] + p[1] * q[1] + p[2] * q[2]; };
  const auto value = [&](const vec& p) {
    double sum = 0;
    for (std::size_t i = 0; i < 3; ++i) sum += as[i] * p[i] * p[i] + 0.1 * p[i] * p[i] * p[i] * p[i];
    return sum;
  };
  const auto slope = [&](const vec& p) {
    vec g{};
    for (std::size_t i = 0; i < 3; ++i) g[i] = 2 * as[i] * p[i] + 0.4 * p[i] * p[i] * p[i];
    return g;
  };
  vec p{1, -0.5, 2};
  std::vector<vec> ss, ys;
  for (int k = 0; k < 6; ++k) {
    const vec g = slope(p);
    vec d = g;
    std::vector<double> alpha(ss.size());
    for (std::size_t j = ss.size(); j-- > 0;) {
      alpha[j] = dot(ss[j], d) / dot(ss[j], ys[j]);
      for (std::size_t i = 0; i < 3; ++i) d[i] -= alpha[j] * ys[j][i];
    }
    const double gamma = ss.empty() ? 1 / std::max(1.0, std::sqrt(dot(g, g))) : dot(ss.back(), ys.back()) / dot(ys.back(), ys.back());
    for (double& each : d) each *= gamma;
    for (std::size_t j = 0; j < ss.size(); ++j) {
      const double beta = dot(ys[j], d) / dot(ss[j], ys[j]);
      for (std::size_t i = 0; i < 3; ++i) d[i] += (alpha[j] - beta) * ss[j][i];
    }
    double length = 1;
    const auto at = [&] { return vec{p[0] - length * d[0], p[1] - length * d[1], p[2] - length * d[2]}; };
    while (value(at()) > value(p) - 1e-4 * length * dot(g, d)) length /= 4;
    const vec next = at(), g_next = slope(next);
    ss.push_back({next[0] - p[0], next[1] - p[1], next[2] - p[2]});
    ys.push_back({g_next[0] - g[0], g_next[1] - g[1], g_next[2] - g[2]});
    if (ss.size() > 2) ss.erase(ss.begin()), ys.erase(ys.begin());
    p = next;
    s.run(fetch(step), a = as);
    const auto found = s.value(x);
    for (std::size_t i = 0; i < 3; ++i) CHECK(found(i) == doctest::Approx(p[i]).epsilon(1e-9));
  }
}

TEST_CASE("Newton's method: a quadratic loss of two variables at once, Rosenbrock's from far, and a start where the Hessian is not positive") {
  SUBCASE("quadratic") {
    const auto u = variable<"u", double, 2>(3.0);
    const auto v = variable<"v", double>(-1.0);
    const auto loss = reduce_sum(square(u - v)) + square(v - 4_c) * 2_c + square(index<0>(u) - 1_c);
    const auto step = newton().minimize(loss);
    session s{step, loss, u, v};
    s.initialize();
    s.run(fetch(step));
    const auto [du, dv] = gradients(loss, u, v);
    session g{du, dv, u, v};
    g.initialize();
    g.assign(u, s.value(u));
    g.assign(v, s.value(v));
    const auto [slope_u, slope_v] = g.run(fetch(du, dv));
    CHECK(std::abs(slope_u(0)) < 1e-12);
    CHECK(std::abs(slope_u(1)) < 1e-12);
    CHECK(std::abs(slope_v) < 1e-12);
  }
  SUBCASE("Rosenbrock, with the matrix and without") {
    const auto check = [&](const auto& method, int steps) {
      const auto x = variable<"rx", double, 2>(std::vector<double>{-1.2, 1});
      const auto loss = rosenbrock(x);
      const auto step = method.minimize(loss);
      session s{step, loss, x};
      s.initialize();
      CHECK(after_steps(s, step, loss, steps) < 1e-18);
    };
    check(newton(), 60);
    check(newton_cg<4>(), 60);
  }
  SUBCASE("a hill, and a loss that is no number") {
    const auto x = variable<"hill", double, 2>(std::vector<double>{0.1, 0.2});
    const auto loss = -exp(-reduce_sum(square(x - 2_c)));
    const auto step = newton<6>().minimize(loss);
    session s{step, loss, x};
    s.initialize();
    CHECK(after_steps(s, step, loss, 60) == doctest::Approx(-1));
    s.assign(x, xt::xtensor<double, 1>{std::numeric_limits<double>::quiet_NaN(), 1});
    s.run(fetch(step));
    CHECK(s.value(x)(1) == 1);
  }
}
