// Choices of many models: what `vmap` makes of `cond` and `switch_case`.

#include <leat/loops.hpp>
#include <leat/vmap.hpp>

#include "support/check.hpp"
#include "support/lanes.hpp"

#include <array>
#include <cmath>
#include <tuple>
#include <vector>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

TEST_CASE("cond and switch_case: a choice of all lanes, and one of each") {
  constexpr auto choices = [](auto x, auto a) {
    auto mine = cond(
        greater(reduce_sum(x), 0.0_c), [](auto u, auto v) { return u * v; }, [=](auto u, auto v) { return exp(u) + v * a; }, x, a);
    auto k = cast<std::int32_t>(a * 4_c);
    auto which =
        switch_case(k, std::tuple([](auto v) { return v + 1_c; }, [](auto v) { return v * v; }, [](auto v) { return exp(v); }), x);
    auto [dx, da] = gradients(reduce_sum(square(mine)) + reduce_sum(which * x), x, a);
    return std::tuple(mine, which, dx, da);
  };
  check_like_alone(3, choices, std::tuple(placeholder<"x", double, 3, 2>(), placeholder<"a", double, 3>()),
                   std::tuple(placeholder<"x1", double, 2>(), placeholder<"a1", double>()));
}

TEST_CASE("a function that a lane does not run has no part in gradients, though it has none there") {
  auto x = placeholder<"x", double, 4>();
  auto a = placeholder<"a", double>();
  auto y = vmap([&](auto v) {
    return cond(greater(v, a), [&](auto u) { return log(u - a); }, [&](auto u) { return u * a; }, v);
  })(x);
  auto [dx, da] = gradients(y, x, a);
  session s{y, dx, da};
  const auto [values, gx, ga] = s.run(fetch(y, dx, da), x = std::vector<double>{2, 0.5, 4, 0}, a = 0.5);
  CHECK(values(0) == doctest::Approx(std::log(1.5)));
  CHECK(values(1) == 0.25);
  CHECK(values(3) == 0);
  CHECK(gx(0) == doctest::Approx(1 / 1.5));
  CHECK(gx(1) == 0.5);
  CHECK(gx(2) == doctest::Approx(1 / 3.5));
  CHECK(gx(3) == 0.5);
  CHECK(ga == doctest::Approx(0.5 - 1 / 1.5 - 1 / 3.5));
}

TEST_CASE("a choice of all lanes runs one function, and one of each lane runs both") {
  auto x = placeholder<"x", double, 3>();
  auto ks = placeholder<"ks", std::int32_t, 3>();
  auto all = placeholder<"all", bool>();
  auto each = placeholder<"each", bool, 3>();
  auto table = constant(std::array<double, 2>{10, 20});
  const auto chosen = [&](auto which, auto v, auto k) {
    return cond(which, [&](auto u, auto j) { return u * gather(table, j); }, [](auto u, auto) { return -u; }, v, k);
  };
  auto of_all = vmap([&](auto v, auto k) { return chosen(all, v, k); })(x, ks);
  auto of_each = vmap(chosen)(each, x, ks);
  session s{of_all, of_each};
  const std::vector<double> xs{1, 2, 3};
  const std::vector<std::int32_t> inside{0, 1, 0}, outside{0, 7, 0};
  const auto [a] = s.run(fetch(of_all), x = xs, ks = outside, all = false);
  CHECK(a(1) == -2);
  CHECK_THROWS_AS(s.run(fetch(of_all), x = xs, ks = outside, all = true), error);
  const auto [b] = s.run(fetch(of_each), x = xs, ks = inside, each = std::array<bool, 3>{true, false, true});
  CHECK(b(0) == 10);
  CHECK(b(1) == -2);
  CHECK(b(2) == 30);
  CHECK_THROWS_AS(s.run(fetch(of_each), x = xs, ks = outside, each = std::array<bool, 3>{true, false, true}), error);
  const auto [c] = s.run(fetch(of_each), x = xs, ks = outside, each = std::array<bool, 3>{false, false, false});
  CHECK(c(2) == -3);
}
