#include <leat/train/block_least_squares.hpp>

#include <leat/calculus.hpp>

#include "support/check.hpp"

#include <cmath>
#include <random>
#include <vector>

using namespace leat;
using namespace leat::literals;

namespace {

constexpr std::int64_t as = 3, bs = 5;
const auto a_of = placeholder<"a_of", std::int64_t, as * bs>();
const auto b_of = placeholder<"b_of", std::int64_t, as * bs>();
const auto seen = placeholder<"seen", double, as * bs, 2>();
// Two residuals of a row [2] of a and a row [3] of b.
const auto errors = [](const auto& a, const auto& b) {
  const auto column = [](auto which, const auto& x) {
    constexpr std::int64_t k = decltype(which)::value;
    return slice<begins<0, k>, sizes<-1, 1>>(x);
  };
  const auto a0 = column(std::integral_constant<int, 0>{}, a), a1 = column(std::integral_constant<int, 1>{}, a);
  const auto b0 = column(std::integral_constant<int, 0>{}, b), b1 = column(std::integral_constant<int, 1>{}, b);
  const auto b2 = column(std::integral_constant<int, 2>{}, b);
  return concat<1>(a0 * b0 + sin(a1 + b1), a1 * b2 + exp(a0 * 0.3_c) * b1) - seen;
};

struct sight {
  std::vector<std::int64_t> a, b;
  xt::xtensor<double, 2> seen;
};
sight all_pairs() {
  sight all;
  for (std::int64_t i = 0; i < as; ++i)
    for (std::int64_t k = 0; k < bs; ++k) all.a.push_back(i), all.b.push_back(k);
  all.seen = xt::xtensor<double, 2>::from_shape({all.a.size(), 2});
  return all;
}
std::vector<double> random_values(std::size_t n, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal(0.5, 0.7);
  std::vector<double> values(n);
  for (double& v : values) v = normal(generator);
  return values;
}

}  // namespace

TEST_CASE("a step with eliminated rows is that of the whole matrix") {
  const auto a = variable<"a", double, as, 2>(random_values(as * 2, 1));
  const auto b = variable<"b", double, bs, 3>(random_values(bs * 3, 2));
  const auto damping = placeholder<"damping", double>();
  const auto check = [&](const auto& rule) {
    const auto [da, db] = block_least_squares_direction<7>(errors, indexed(a, a_of), indexed(b, b_of), damping, rule);
    const auto residuals = reshape<as * bs * 2>(errors(gather<0>(a, a_of), gather<0>(b, b_of)));
    const auto [wa, wb] = least_squares_direction(residuals, std::tuple(a, b), damping, rule);
    session s{da, db, wa, wb};
    s.initialize();
    auto all = all_pairs();
    const auto values = random_values(all.seen.size(), 3);
    std::copy(values.begin(), values.end(), all.seen.begin());
    const auto [da_, db_, wa_, wb_] = s.run(fetch(da, db, wa, wb), a_of = all.a, b_of = all.b, seen = all.seen, damping = 0.01);
    for (std::size_t i = 0; i < da_.size(); ++i) CHECK(da_.data()[i] == doctest::Approx(wa_.data()[i]).epsilon(1e-7));
    for (std::size_t i = 0; i < db_.size(); ++i) CHECK(db_.data()[i] == doctest::Approx(wb_.data()[i]).epsilon(1e-7));
  };
  check(robust::squares{});
  check(robust::huber(0.5_c));
}

TEST_CASE("Levenberg-Marquardt with eliminated rows finds values that explain what is seen; rows that nothing sees stay") {
  const auto a = variable<"fa", double, as + 1, 2>(std::vector<double>{1, 1, 1, 1, 1, 1, 7, 8});
  const auto b = variable<"fb", double, bs, 3>(1.0);
  const auto damping = untrainable_variable<"fdamping", double>(1e-2);
  const auto fit = block_levenberg_marquardt<9>(errors, indexed(a, a_of), indexed(b, b_of), damping);
  session s{fit.step, fit.loss, a, b, damping};
  s.initialize();
  auto all = all_pairs();
  const auto true_a = random_values(as * 2, 4), true_b = random_values(bs * 3, 5);
  for (std::size_t k = 0; k < all.a.size(); ++k) {
    const double* p = true_a.data() + 2 * all.a[k];
    const double* q = true_b.data() + 3 * all.b[k];
    all.seen(k, 0) = p[0] * q[0] + std::sin(p[1] + q[1]);
    all.seen(k, 1) = p[1] * q[2] + std::exp(p[0] * 0.3) * q[1];
  }
  double last = std::get<0>(s.run(fetch(fit.loss), a_of = all.a, b_of = all.b, seen = all.seen));
  for (int k = 0; k < 60; ++k) {
    s.run(fetch(fit.step), a_of = all.a, b_of = all.b, seen = all.seen);
    const auto [now] = s.run(fetch(fit.loss), a_of = all.a, b_of = all.b, seen = all.seen);
    CHECK(now <= last);
    last = now;
  }
  CHECK(last < 1e-12);
  CHECK(s.value(a)(3, 0) == 7);
  CHECK(s.value(a)(3, 1) == 8);
  all.a[2] = 4;
  CHECK_THROWS_AS(s.run(fetch(fit.step), a_of = all.a, b_of = all.b, seen = all.seen), invalid_argument);
}
