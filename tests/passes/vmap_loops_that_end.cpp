// Loops that end early, of many models: what `vmap` makes of them, against each model alone.

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

// Square roots by Newton's method: each lane has a number of steps of its own.
constexpr auto roots = [](auto x, auto a) {
  const auto far = [=](auto r) { return greater(abs(r * r - a - 2_c), 1e-3_c); };
  auto [root, steps] = counted_while_loop<50>(far, [=](auto r) { return 0.5_c * (r + (a + 2_c) / r); }, x + 3_c);
  auto [dx, da] = gradients(square(root), x, a);
  return std::tuple(root, steps, dx, da);
};

}  // namespace

TEST_CASE("while_loop: each lane ends by itself") {
  for (const std::size_t lanes : {std::size_t{7}, std::size_t{1}, std::size_t{0}})
    check_like_alone(lanes, roots, std::tuple(placeholder<"x", double, "lanes">(), placeholder<"a", double, "lanes">()),
                     std::tuple(placeholder<"x1", double>(), placeholder<"a1", double>()));
}

TEST_CASE("while_loop over states of several dimensions, one of which counts, and a gradient of all lanes") {
  auto x = placeholder<"x", double, 3, 2>();
  auto a = placeholder<"a", double, 2>();
  auto x1 = placeholder<"x1", double, 2>();
  const auto grown = [&](auto v) {
    auto zero = constant<std::int64_t(0)>();
    auto [last, n] = while_loop<20>([](auto s) { return less(reduce_sum(square(std::get<0>(s))), 4.0_c); },
                                 [&](auto s) {
                                   auto [u, k] = s;
                                   return std::tuple(u * 1.5_c + a * 0.1_c, k + constant<std::int64_t(1)>());
                                 },
                                 std::tuple(v, zero));
    return std::tuple(reduce_sum(last * last * last), n);
  };
  auto [sums, steps] = vmap(grown)(x);
  auto [sum1, n1] = grown(x1);
  auto [dx, da] = gradients(sums, x, a);
  auto [dx1, da1] = gradients(sum1, x1, a);
  session together{sums, steps, dx, da};
  session single{sum1, n1, dx1, da1};
  const xt::xtensor<double, 2> start{{0.5, 0.2}, {0.01, -0.02}, {3, 3}};
  const std::vector<double> as{0.5, -0.3};
  const auto [s, n, gx, ga] = together.run(fetch(sums, steps, dx, da), x = start, a = as);
  xt::xtensor<double, 1> sum = xt::zeros<double>({2});
  for (std::size_t lane = 0; lane < 3; ++lane) {
    const auto [s1, k1, gx1, ga1] = single.run(fetch(sum1, n1, dx1, da1), x1 = lane_of(x1, start, lane), a = as);
    check_lane<double>(s, 3, lane, s1);
    CHECK(n(lane) == k1);
    check_lane<double>(gx, 3, lane, gx1);
    sum += ga1;
  }
  CHECK(n(2) == 0);
  CHECK(n(1) > n(0));
  check_lane<double>(ga, 1, 0, sum);
}
