// Loops of many models: what `vmap` makes of a loop, against each model alone, and gradients against differences.

#include <leat/loops.hpp>
#include <leat/vmap.hpp>

#include "support/check.hpp"
#include "support/lanes.hpp"

#include <cmath>
#include <tuple>
#include <vector>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

namespace {

// Steps with several states, of which one starts equal for all lanes and one stays so.
constexpr auto scans = [](auto h0, auto xs, auto w) {
  using T = typename decltype(h0)::element;
  auto zero = constant<T(0)>();
  auto count = constant<std::int32_t(0)>();
  auto [last, ys] = scan(
      [&](auto s, auto x) {
        auto [h, sum, n] = s;
        auto next = tanh(h * w + x * 0.5_c);
        return std::tuple(std::tuple(next, sum * 0.5_c + reduce_sum(next), n + constant<std::int32_t(2)>()), std::tuple(next * h, sum, n));
      },
      std::tuple(h0, zero, count), xs);
  auto [back, seen] = scan_back([&](auto h, auto x) { return std::tuple(h * 0.5_c + x, h * x); }, w, xs);
  auto folded = fold([&](auto h, auto x) { return h * 0.9_c + x * w; }, h0, xs);
  auto folded_back = fold_back([](auto h, auto x) { return h * 0.8_c + x; }, zero, reduce_sum<1>(xs));
  auto [h, sum, n] = last;
  auto [a, b, c] = ys;
  return std::tuple(h, sum, n, a, b, c, back, seen, folded, folded_back);
};

}  // namespace

TEST_CASE("scan and fold, in both directions: as each lane alone") {
  check_like_alone(3, scans,
                   std::tuple(placeholder<"h", double, 3, 2>(), placeholder<"x", double, 3, 5, 2>(), placeholder<"w", double, 3, 2>()),
                   std::tuple(placeholder<"h1", double, 2>(), placeholder<"x1", double, 5, 2>(), placeholder<"w1", double, 2>()));
}

TEST_CASE("other axes, one lane, functions within functions, and vmap in a step") {
  auto h0 = placeholder<"h0", double, 2, 3>();
  auto xs = placeholder<"xs", double, 4, 2, 3>();
  auto table = placeholder<"table", double, 5>();
  const auto f = [&](auto h, auto x) { return fold([](auto s, auto v) { return s * 0.5_c + v * v; }, h, x); };
  auto last = vmap<-1>(f)(h0, xs);
  auto pairs = vmap<-1>([&](auto h, auto x) {
    return vmap([&](auto a) { return fold([&](auto s, auto v) { return sin(s * a + v); }, h, x); })(table);
  })(h0, xs);
  auto inside = fold([&](auto s, auto x) { return vmap<-1>([&](auto a, auto b) { return a * 0.5_c + reduce_sum(b) * b; })(s, x); }, h0, xs);
  auto [d_pairs, d_table] = gradients(reduce_sum(square(pairs)), xs, table);
  auto [d_inside] = gradients(reduce_sum(square(inside)), xs);
  session s{last, pairs, inside, d_pairs, d_table, d_inside};
  const auto h = array_for(h0, 0, 1);
  const auto x = array_for(xs, 0, 2);
  const auto t = array_for(table, 0, 3);
  const auto values = [&](const auto& begin, const auto& sequence) {
    xt::xtensor<double, 3> all = xt::zeros<double>({std::size_t{5}, std::size_t{2}, std::size_t{3}});
    for (std::size_t a = 0; a < 5; ++a)
      for (std::size_t j = 0; j < 2; ++j)
        for (std::size_t k = 0; k < 3; ++k) {
          double state = begin(j, k);
          for (std::size_t step = 0; step < 4; ++step) state = std::sin(state * t(a) + sequence(step, j, k));
          all(a, j, k) = state;
        }
    return all;
  };
  const auto [l, p, in, dp, dt, di] = s.run(fetch(last, pairs, inside, d_pairs, d_table, d_inside), h0 = h, xs = x, table = t);
  const auto expected = values(h, x);
  for (std::size_t a = 0; a < 5; ++a)
    for (std::size_t j = 0; j < 2; ++j)
      for (std::size_t k = 0; k < 3; ++k) CHECK(p(a, j, k) == doctest::Approx(expected(a, j, k)));
  for (std::size_t k = 0; k < 3; ++k) {
    double state[2]{h(0, k), h(1, k)}, other[2]{h(0, k), h(1, k)};
    for (std::size_t step = 0; step < 4; ++step) {
      const double sum = x(step, 0, k) + x(step, 1, k);
      for (std::size_t j = 0; j < 2; ++j) {
        state[j] = state[j] * 0.5 + x(step, j, k) * x(step, j, k);
        other[j] = other[j] * 0.5 + sum * x(step, j, k);
      }
    }
    for (std::size_t j = 0; j < 2; ++j) {
      CHECK(l(j, k) == doctest::Approx(state[j]));
      CHECK(in(j, k) == doctest::Approx(other[j]));
    }
  }
  const double step = 1e-5;
  for (std::size_t i = 0; i < x.size(); ++i) {
    auto more = x, less = x;
    more.data()[i] += step;
    less.data()[i] -= step;
    const auto above = s.run(fetch(pairs, inside), h0 = h, xs = more, table = t);
    const auto below = s.run(fetch(pairs, inside), h0 = h, xs = less, table = t);
    const double slope = (xt::sum(xt::square(std::get<0>(above)))() - xt::sum(xt::square(std::get<0>(below)))()) / (2 * step);
    CHECK(dp.data()[i] == doctest::Approx(slope).epsilon(1e-6));
    const double other = (xt::sum(xt::square(std::get<1>(above)))() - xt::sum(xt::square(std::get<1>(below)))()) / (2 * step);
    CHECK(di.data()[i] == doctest::Approx(other).epsilon(1e-6));
  }
  CHECK(dt.size() == 5);
}
