// Gradients of loops of many models: within the function of a model, and of the loop of all models, against those of each model alone.

#include <leat/calculus.hpp>
#include <leat/loops.hpp>
#include <leat/vmap.hpp>

#include "support/check.hpp"
#include "support/lanes.hpp"

#include <cmath>
#include <tuple>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

TEST_CASE("gradients within the function: one for each lane") {
  constexpr auto slopes = [](auto h0, auto xs, auto w) {
    using T = typename decltype(h0)::element;
    auto zero = constant<T(0)>();
    auto [last, ys] = scan_back(
        [&](auto s, auto x) {
          auto [h, sum] = s;
          auto next = tanh(h * w + x * 0.5_c);
          return std::tuple(std::tuple(next, sum * 0.5_c + reduce_sum(next)), next * h);
        },
        std::tuple(h0, zero), xs);
    auto loss = reduce_sum(std::get<0>(last)) + square(std::get<1>(last)) + reduce_sum(square(ys));
    auto [dh, dx, dw] = gradients(loss, h0, xs, w);
    return std::tuple(loss, dh, dx, dw);
  };
  for (const std::size_t lanes : {std::size_t{4}, std::size_t{1}, std::size_t{0}})
    check_like_alone(
        lanes, slopes,
        std::tuple(placeholder<"h", float, "lanes", 2>(), placeholder<"x", float, "lanes", 5, 2>(), placeholder<"w", float, "lanes", 2>()),
        std::tuple(placeholder<"h1", float, 2>(), placeholder<"x1", float, 5, 2>(), placeholder<"w1", float, 2>()));
}

TEST_CASE("gradients of loops of many lanes: of what is shared the sum") {
  auto h0 = placeholder<"h0", double, 3, 2>();
  auto xs = placeholder<"xs", double, 3, "time", 2>();
  auto w = placeholder<"w", double, 2, 2>();
  auto h1 = placeholder<"h1", double, 2>();
  auto x1 = placeholder<"x1", double, "time", 2>();
  const auto loss_of = [&](auto h, auto x) {
    auto [last, ys] = scan(
        [&](auto s, auto v) {
          auto next = tanh(squeeze<0>(matmul(expand_dims<0>(s), w)) + v);
          return std::tuple(next, next * v);
        },
        h, x);
    return reduce_sum(square(ys)) + reduce_sum(last);
  };
  auto losses = vmap(loss_of)(h0, xs);
  auto [dh, dx, dw] = gradients(losses, h0, xs, w);
  auto alone = loss_of(h1, x1);
  auto [dh1, dx1, dw1] = gradients(alone, h1, x1, w);
  auto curved = hvp(losses, w, w);
  auto curved1 = hvp(alone, w, w);
  session together{losses, dh, dx, dw, curved};
  session single{alone, dh1, dx1, dw1, curved1};
  const auto ws = array_for(w, 0, 3);
  const auto hs = array_for(h0, 0, 1);
  for (const std::size_t steps : {std::size_t{1}, std::size_t{4}}) {
    auto x = xt::xtensor<double, 3>::from_shape({3, steps, 2});
    for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = std::cos(static_cast<double>(i));
    const auto [l, gh, gx, gw, c] = together.run(fetch(losses, dh, dx, dw, curved), h0 = hs, xs = x, w = ws);
    xt::xtensor<double, 2> sum = ws * 0.0, sum_of_curved = ws * 0.0;
    for (std::size_t lane = 0; lane < 3; ++lane) {
      auto mine = xt::xtensor<double, 2>::from_shape({steps, 2});
      for (std::size_t i = 0; i < mine.size(); ++i) mine.data()[i] = x.data()[lane * mine.size() + i];
      const auto [l1, gh1, gx1, gw1, c1] =
          single.run(fetch(alone, dh1, dx1, dw1, curved1), h1 = lane_of(h1, hs, lane), x1 = mine, w = ws);
      check_lane<double>(l, 3, lane, l1);
      check_lane<double>(gh, 3, lane, gh1);
      check_lane<double>(gx, 3, lane, gx1);
      sum += gw1;
      sum_of_curved += c1;
    }
    check_lane<double>(gw, 1, 0, sum);
    check_lane<double>(c, 1, 0, sum_of_curved);
  }
}
