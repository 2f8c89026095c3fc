// Differential equations with control of the error, against closed solutions and against small steps of one length.

#include <leat/loops.hpp>

#include <leat/calculus.hpp>

#include "support/check.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

using namespace leat;
using namespace leat::literals;

namespace {

// The message of the exception that f throws.
template <class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const failed_precondition& e) {
    return e.what();
  }
  return {};
}

// The equations of Lorenz, in code by hand, with small steps of the classical method.
std::array<double, 3> lorenz_by_hand(std::array<double, 3> y, double end, int steps) {
  const auto slope = [](const std::array<double, 3>& s) {
    return std::array{10 * (s[1] - s[0]), s[0] * (28 - s[2]) - s[1], s[0] * s[1] - 8.0 / 3 * s[2]};
  };
  const auto moved = [](std::array<double, 3> s, const std::array<double, 3>& k, double h) {
    for (std::size_t i = 0; i < 3; ++i) s[i] += h * k[i];
    return s;
  };
  const double h = end / steps;
  for (int n = 0; n < steps; ++n) {
    const auto k1 = slope(y), k2 = slope(moved(y, k1, h / 2)), k3 = slope(moved(y, k2, h / 2)), k4 = slope(moved(y, k3, h));
    for (std::size_t i = 0; i < 3; ++i) y[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
  }
  return y;
}

}  // namespace

TEST_CASE("exponential decay, with derivatives by everything") {
  auto y0 = placeholder<"y0", double>();
  auto rate = placeholder<"rate", double>();
  auto t0 = placeholder<"t0", double>();
  auto t1 = placeholder<"t1", double>();
  auto [end, steps] = counted_solve_dormand_prince<200>([&](auto, auto y) { return -rate * y; }, y0, t0, t1, 1e-9_c, 1e-12_c);
  auto [by_y0, by_rate, by_t0, by_t1] = gradients(end, y0, rate, t0, t1);
  session s{end, steps, by_y0, by_rate, by_t0, by_t1};
  for (const auto& [from, to, k] : {std::array{0.0, 2.0, 1.5}, {1.0, 4.0, 0.25}, {2.0, 0.5, 1.0}, {0.0, 1e-3, 1.0}, {0.0, 3.0, 0.0}}) {
    CAPTURE(from);
    const auto [e, n, dy, dk, d0, d1] = s.run(fetch(end, steps, by_y0, by_rate, by_t0, by_t1), y0 = 3.0, rate = k, t0 = from, t1 = to);
    const double known = 3 * std::exp(-k * (to - from));
    CHECK(e == doctest::Approx(known).epsilon(1e-7));
    CHECK(dy == doctest::Approx(known / 3).epsilon(1e-7));
    CHECK(dk == doctest::Approx(-(to - from) * known).epsilon(1e-6));
    CHECK(d0 == doctest::Approx(k * known).epsilon(1e-6));
    CHECK(d1 == doctest::Approx(-k * known).epsilon(1e-6));
    CHECK(n > 0);
    CHECK(n < 200);
  }
  const auto [e, n, d] = s.run(fetch(end, steps, by_y0), y0 = 3.0, rate = 1.0, t0 = 2.0, t1 = 2.0);
  CHECK(e == 3);
  CHECK(n == 0);
  CHECK(d == 1);
}

TEST_CASE("a harmonic oscillator over many periods, as accurate as it is asked for") {
  auto y0 = placeholder<"y0", double, 2>();
  auto stiffness = placeholder<"stiffness", double>();
  auto allowed = placeholder<"allowed", double>();
  auto zero = constant<0.0>();
  auto t1 = constant<20.0>();
  const auto spring = [&](auto, auto y) { return stack<0>(index<1>(y), -stiffness * index<0>(y)); };
  auto [end, steps] = counted_solve_dormand_prince<2000>(spring, y0, zero, t1, allowed, allowed);
  auto [by_stiffness, by_y0] = gradients(index<0>(end), stiffness, y0);
  session s{end, steps, by_stiffness, by_y0};
  std::int64_t before = 0;
  for (const double tolerance : {1e-4, 1e-6, 1e-8, 1e-10}) {
    CAPTURE(tolerance);
    const auto [e, n, dk, dy] =
        s.run(fetch(end, steps, by_stiffness, by_y0), y0 = std::vector<double>{1, 0}, stiffness = 4.0, allowed = tolerance);
    const double bound = 500 * tolerance;
    CHECK(std::abs(e(0) - std::cos(40.0)) < bound);
    CHECK(std::abs(e(1) + 2 * std::sin(40.0)) < bound);
    CHECK(std::abs(dk + 5 * std::sin(40.0)) < 20 * bound);  // d cos(sqrt(k) 20) / dk
    CHECK(std::abs(dy(0) - std::cos(40.0)) < bound);
    CHECK(std::abs(dy(1) - std::sin(40.0) / 2) < bound);
    CHECK(n > before);
    before = n;
  }
}

TEST_CASE("the equations of Lorenz against small steps") {
  auto y0 = placeholder<"y0", double, 3>();
  auto rho = placeholder<"rho", double>();
  auto zero = constant<0.0>();
  auto t1 = constant<3.0>();
  const auto slope = [&](auto, auto s) {
    const auto x = index<0>(s);
    const auto y = index<1>(s);
    const auto z = index<2>(s);
    return stack<0>(10_c * (y - x), x * (rho - z) - y, x * y - z * 8_c / 3_c);
  };
  auto end = solve_dormand_prince<2000>(slope, y0, zero, t1, 1e-10_c, 1e-10_c);
  auto [by_rho, by_y0] = gradients(reduce_sum(end), rho, y0);
  auto [moved] = jvp(std::tuple(end), std::tuple(rho), std::tuple(constant<1.0>()));
  session s{end, by_rho, by_y0, moved};
  const std::array start{1.0, 2.0, 20.0};
  const auto at = [&](double x, double r) {
    const auto [e] = s.run(fetch(end), y0 = std::vector<double>{x, start[1], start[2]}, rho = r);
    return e;
  };
  const auto e = at(start[0], 28);
  const auto known = lorenz_by_hand(start, 3, 60000);
  for (std::size_t k = 0; k < 3; ++k) CHECK(e(k) == doctest::Approx(known[k]).epsilon(1e-6));
  const auto [dr, dy, m] = s.run(fetch(by_rho, by_y0, moved), y0 = std::vector<double>(start.begin(), start.end()), rho = 28.0);
  const double h = 1e-4;
  const auto up = at(start[0], 28 + h), down = at(start[0], 28 - h), right = at(start[0] + h, 28), left = at(start[0] - h, 28);
  double slope_by_rho = 0, slope_by_x = 0, sum = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    slope_by_rho += (up(k) - down(k)) / (2 * h);
    slope_by_x += (right(k) - left(k)) / (2 * h);
    sum += m(k);
  }
  CHECK(dr == doctest::Approx(slope_by_rho).epsilon(1e-5));
  CHECK(dy(0) == doctest::Approx(slope_by_x).epsilon(1e-5));
  CHECK(sum == doctest::Approx(dr).epsilon(1e-9));
}

TEST_CASE("states at several times, of several entries, in single precision") {
  auto y0 = placeholder<"y0", float, "batch", 2>();
  auto times = placeholder<"times", float, "times">();
  auto rate = placeholder<"rate", float>();
  auto zero = constant<0.0f>();
  auto [last, path] = solve_dormand_prince_path<50>([&](auto t, auto y) { return rate * t * y; }, y0, zero, times, 1e-5_c, 1e-6_c);
  auto [by_rate, by_y0] = gradients(reduce_sum(path), rate, y0);
  session s{last, path, by_rate, by_y0};
  const xt::xtensor<float, 2> start{{1, 2}, {0.5f, -1}, {3, 0}};
  const std::vector<float> at{0.25f, 0.5f, 0.5f, 1.5f, 1.0f};
  const auto [l, p, dr, dy] = s.run(fetch(last, path, by_rate, by_y0), y0 = start, times = at, rate = -1.0f);
  double slope = 0, total = 0;
  for (std::size_t k = 0; k < at.size(); ++k) {
    const double factor = std::exp(-0.5 * at[k] * at[k]);
    total += factor;
    for (std::size_t i = 0; i < start.size(); ++i) {
      CHECK(p.data()[k * start.size() + i] == doctest::Approx(factor * start.data()[i]).epsilon(1e-4));
      slope += start.data()[i] * 0.5 * at[k] * at[k] * factor;
    }
  }
  for (std::size_t i = 0; i < start.size(); ++i) {
    CHECK(l.data()[i] == doctest::Approx(std::exp(-0.5) * start.data()[i]).epsilon(1e-4));
    CHECK(dy.data()[i] == doctest::Approx(total).epsilon(1e-4));
  }
  CHECK(dr == doctest::Approx(slope).epsilon(1e-3));
}

TEST_CASE("too few steps are an error that says how much time is left") {
  auto y0 = placeholder<"y0", double>();
  auto t1 = placeholder<"t1", double>();
  auto zero = constant<0.0>();
  const auto waves = [](auto t, auto y) { return cos(40_c * t) * y; };
  auto end = solve_dormand_prince<10>(waves, y0, zero, t1, 1e-8_c, 1e-8_c);
  auto [last, path] = solve_dormand_prince_path<10>(waves, y0, zero, stack<0>(t1, t1 * 2_c), 1e-8_c, 1e-8_c);
  session s{end, path};
  const auto told = message_of([&] { s.run(fetch(end), y0 = 1.0, t1 = 5.0); });
  CHECK(told.find("solve_dormand_prince: 10 steps are too few: 4.") == 0);
  CHECK(told.find("of the time is left; allow more steps, or larger errors") != std::string::npos);
  CHECK(message_of([&] { s.run(fetch(path), y0 = 1.0, t1 = 5.0); }).find("10 steps are too few") != std::string::npos);
  CHECK(message_of([&] { s.run(fetch(end), y0 = std::numeric_limits<double>::quiet_NaN(), t1 = 0.01); }).find("10 steps are too few") !=
        std::string::npos);
  CHECK(message_of([&] { s.run(fetch(end), y0 = 1.0, t1 = std::numeric_limits<double>::quiet_NaN()); }).find("nan of the time") !=
        std::string::npos);
  const auto [e] = s.run(fetch(end), y0 = 1.0, t1 = 0.01);
  CHECK(e == doctest::Approx(std::exp(std::sin(0.4) / 40)));
}

TEST_CASE("an empty state takes any step") {
  auto y0 = placeholder<"y0", double, "n">();
  auto t1 = placeholder<"t1", double>();
  auto [end, steps] = counted_solve_dormand_prince<50>([](auto t, auto y) { return cos(t) * y; }, y0, constant<0.0>(), t1, 1e-8_c, 1e-8_c);
  auto [last, path] = solve_dormand_prince_path<50>([](auto t, auto y) { return cos(t) * y; }, y0, constant<0.0>(), stack<0>(t1, t1 * 2_c),
                                                    1e-8_c, 1e-8_c);
  auto [by_y0] = gradients(end, y0);
  session s{end, steps, path, by_y0};
  const auto [e, n, p, d] = s.run(fetch(end, steps, path, by_y0), y0 = std::vector<double>{}, t1 = 3.0);
  CHECK(e.size() == 0);
  CHECK(n > 0);
  CHECK(p.size() == 0);
  CHECK(d.size() == 0);
  const auto [one] = s.run(fetch(end), y0 = std::vector<double>{2}, t1 = 3.0);
  CHECK(one(0) == doctest::Approx(2 * std::exp(std::sin(3.0))).epsilon(1e-6));
}

TEST_CASE("without an absolute tolerance, elements that stay 0 take any step") {
  auto y0 = placeholder<"y0", double, 3>();
  auto t1 = placeholder<"t1", double>();
  auto absolute = placeholder<"absolute", double>();
  const auto decay = [](auto, auto y) { return -y; };
  auto end = solve_dormand_prince<100>(decay, y0, constant<0.0>(), t1, 1e-8_c, 0_c);
  auto fed = solve_dormand_prince<100>(decay, y0, constant<0.0>(), t1, 1e-8_c, absolute);
  auto from_zero = solve_dormand_prince<100>([](auto t, auto y) { return 2_c * t + 0_c * y; }, y0, constant<0.0>(), t1, 1e-8_c, 0_c);
  auto [by_y0] = gradients(end, y0);
  session s{end, fed, from_zero, by_y0};
  const auto [e, d] = s.run(fetch(end, by_y0), y0 = std::vector<double>{0, 3, 0}, t1 = 2.0);
  const auto [f] = s.run(fetch(fed), y0 = std::vector<double>{0, 3, 0}, t1 = 2.0, absolute = 0.0);
  for (const auto& v : {e, f}) {
    CHECK(v(0) == 0);
    CHECK(v(1) == doctest::Approx(3 * std::exp(-2.0)).epsilon(1e-6));
    CHECK(v(2) == 0);
  }
  for (std::size_t i = 0; i < 3; ++i) CHECK(d(i) == doctest::Approx(std::exp(-2.0)).epsilon(1e-6));
  CHECK(std::get<0>(s.run(fetch(end), y0 = std::vector<double>{0, 0, 0}, t1 = 2.0))(1) == 0);
  CHECK(std::get<0>(s.run(fetch(from_zero), y0 = std::vector<double>{0, 0, 0}, t1 = 2.0))(1) == doctest::Approx(4).epsilon(1e-6));
}

TEST_CASE("a solution that becomes infinite is approached, and then refused") {
  auto y0 = placeholder<"y0", double>();
  auto t1 = placeholder<"t1", double>();
  auto zero = constant<0.0>();
  auto end = solve_dormand_prince<300>([](auto, auto y) { return square(y); }, y0, zero, t1, 1e-8_c, 1e-8_c);  // y0 / (1 - y0 t)
  auto [by_y0] = gradients(end, y0);
  session s{end, by_y0};
  const auto [e, d] = s.run(fetch(end, by_y0), y0 = 1.0, t1 = 0.99);
  CHECK(e == doctest::Approx(100).epsilon(1e-4));
  CHECK(d == doctest::Approx(1e4).epsilon(1e-3));
  CHECK(message_of([&] { s.run(fetch(end), y0 = 1.0, t1 = 2.0); }).find("300 steps are too few: 1") != std::string::npos);
}
