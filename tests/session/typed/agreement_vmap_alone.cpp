// Many models in one step: compiled, planned and in a graph with names, to the same bits, and to those of each model alone. Compiled
// without contraction of a b + c across operators.

#include <leat/planned.hpp>
#include <leat/vmap.hpp>

#include "support/agreement.hpp"
#include "support/check.hpp"

#include <array>
#include <tuple>
#include <vector>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

namespace {

constexpr int tracks = 37;

// A step of a Kalman filter of two states.
const auto kalman = [](const auto& x, const auto& p, const auto& z) {
  const auto f = constant<"f">(std::array<std::array<double, 2>, 2>{{{1, 0.1}, {0, 1}}});
  const auto h = constant<"h">(std::array<std::array<double, 2>, 1>{{{1, 0}}});
  const auto before = matmul(f, x);
  const auto spread = matmul<false, true>(matmul(f, p), f) + 0.01_c;
  const auto ph = matmul<false, true>(spread, h);
  const auto gain = ph / (matmul(h, ph) + 0.25_c);
  return std::tuple(before + matmul(gain, z - matmul(h, before)), spread - matmul(gain, matmul(h, spread)));
};

}  // namespace

TEST_CASE("filters of many tracks, along either axis: as each alone, as planned, as in a graph") {
  const auto start = [] {
    std::vector<double> all;
    for (int i = 0; i < 4 * tracks; ++i) all.push_back(1 + 0.01 * (i * i % 31));
    return all;
  }();
  std::vector<double> start_first(start.size());
  for (std::size_t t = 0; t < tracks; ++t)
    for (std::size_t i = 0; i < 4; ++i) start_first[4 * t + i] = start[i * tracks + t];
  const auto z = placeholder<"z", double, tracks>();
  const auto x = variable<"x", double, 2, 1, tracks>(ones);
  const auto p = variable<"p", double, 2, 2, tracks>(start);
  const auto x_first = variable<"x_first", double, tracks, 2, 1>(ones);
  const auto p_first = variable<"p_first", double, tracks, 2, 2>(start_first);
  const auto [x_next, p_next] = vmap<-1>(kalman)(x, p, z);
  const auto [x_first_next, p_first_next] = vmap(kalman)(x_first, p_first, z);
  const auto step = group(assign(x, x_next), assign(p, p_next), assign(x_first, x_first_next), assign(p_first, p_first_next));

  session compiled{step};
  planned_session planned{step};
  compiled.initialize();
  planned.initialize();

  const auto one_z = placeholder<"one_z", double>();
  const auto one_x = placeholder<"one_x", double, 2, 1>();
  const auto one_p = placeholder<"one_p", double, 2, 2>();
  const auto [one_x_next, one_p_next] = kalman(one_x, one_p, one_z);
  session alone{one_x_next, one_p_next};

  std::vector<double> zs(tracks);
  for (int round = 0; round < 3; ++round) {
    CAPTURE(round);
    for (std::size_t t = 0; t < zs.size(); ++t) zs[t] = 0.3 * static_cast<double>(t % 7) - 0.1 * round;
    const auto x_was = compiled.value(x);
    const auto p_was = compiled.value(p);
    compiled.run(fetch(step), z = zs);
    planned.run(fetch(step), z = zs);
    const auto x_now = compiled.value(x);
    const auto p_now = compiled.value(p);
    CHECK(distance(std::span<const double>(x_now.data(), x_now.size()), planned.value(x).data(), x_now.size()) == 0);
    CHECK(distance(std::span<const double>(p_now.data(), p_now.size()), planned.value(p).data(), p_now.size()) == 0);
    for (std::size_t t = 0; t < zs.size(); ++t) {
      CAPTURE(t);
      const xt::xtensor<double, 2> own_x{{x_was(0, 0, t)}, {x_was(1, 0, t)}};
      const xt::xtensor<double, 2> own_p{{p_was(0, 0, t), p_was(0, 1, t)}, {p_was(1, 0, t), p_was(1, 1, t)}};
      const auto [expected_x, expected_p] = alone.run(fetch(one_x_next, one_p_next), one_x = own_x, one_p = own_p, one_z = zs[t]);
      for (std::size_t i = 0; i < 2; ++i) {
        CHECK(x_now(i, 0, t) == expected_x(i, 0));
        CHECK(compiled.value(x_first)(t, i, 0) == expected_x(i, 0));
        CHECK(planned.value(x_first)(t, i, 0) == expected_x(i, 0));
        for (std::size_t j = 0; j < 2; ++j) {
          CHECK(p_now(i, j, t) == expected_p(i, j));
          CHECK(compiled.value(p_first)(t, i, j) == expected_p(i, j));
          CHECK(planned.value(p_first)(t, i, j) == expected_p(i, j));
        }
      }
    }
  }
}

TEST_CASE("regressions of many customers, trained: compiled, planned and in a graph") {
  const auto w = variable<"w", float, 5, 3, 2>(zeros);
  const auto b = variable<"b", float, 5, 2>(zeros);
  const auto shared_w = variable<"shared", float, 2, 1>(ones);
  const auto x = placeholder<"x", float, 5, 8, 3>();
  const auto y = placeholder<"y", float, 5, 8>();
  const auto losses = vmap([&](const auto& wi, const auto& bi, const auto& xi, const auto& yi) {
    return reduce_mean(square(squeeze<1>(matmul(tanh(matmul(xi, wi) + bi), shared_w)) - yi));
  })(w, b, x, y);
  const auto loss = reduce_sum(losses);
  const auto train = gradient_descent(parameter<"rate">(0.1f)).minimize(loss);
  both_sessions both(train, losses, loss);
  planned_session planned{losses, train};
  planned.initialize();
  both.copy(w);
  both.copy(b);
  both.copy(shared_w);
  const auto xs = filled<float, 3>({5, 8, 3});
  const auto ys = filled<float, 2>({5, 8});
  const feed_list feeds{{"x", xs}, {"y", ys}};
  for (int i = 0; i < 5; ++i) {
    CAPTURE(i);
    CHECK(both.look(feeds, x = xs, y = ys) < 1e-6);
    both.train(feeds, x = xs, y = ys);
    planned.run(fetch(train), x = xs, y = ys);
    CHECK(both.of(w) < 1e-6);
    CHECK(both.of(b) < 1e-6);
    CHECK(both.of(shared_w) < 1e-6);
    const auto compiled = both.typed().value(w);
    CHECK(distance(std::span<const float>(compiled.data(), compiled.size()), planned.value(w).data(), compiled.size()) < 1e-6);
  }
}
