// calculus_lstm_1, calculus_lstm_32: a training step of a layer of 64 LSTM units over 100 steps of one or 32 sequences, forward, backward
// and a step of gradient descent. calculus_lorenz: 1,000 steps of Runge and Kutta of Lorenz' equations; calculus_lorenz_gradient: with the
// gradient of a function of the last state by the first one.

#include <leat/loops.hpp>

#include <array>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include "../rivals/loops.hpp"
#include "cases.hpp"
#include "suite.hpp"

#include <xtensor/xadapt.hpp>

namespace bench {
namespace {

template <int Batch>
void compare_lstm(suite& cases, const std::string& name) {
  using namespace leat;
  using namespace leat::literals;
  using of = lstm_data<Batch>;
  const of data;
  auto x = placeholder<"x", float, of::batch, of::time, of::inputs>();
  auto kernel = variable<"layer/kernel", float, of::inputs + of::units, of::width>(glorot_uniform(0));
  auto bias = variable<"layer/bias", float, of::width>(zeros);
  auto [outputs, state] = lstm<"layer", of::units>(x);
  auto loss = 0.5_c * reduce_sum(square(outputs));
  auto train = gradient_descent(of::rate).minimize(loss);
  auto given = placeholder<"given", float, of::inputs + of::units, of::width>();
  auto set = assign(kernel, given);
  session s{train, set, kernel, bias};
  const auto reset = [&] {
    s.initialize();
    s.run(fetch(set), given = data.kernel);
  };
  reset();
  const auto xs = xt::adapt(data.x.data(), of::batch * of::time * of::inputs, xt::no_ownership(),
                            std::array<std::size_t, 3>{of::batch, of::time, of::inputs});
  auto step = s.prepare(fetch(train), x = xs);
  const auto ours = contend("leat", reset, [&] { step(); }, [&] { return values_of(s, kernel, bias); });
  lstm_loop<onednn_product, Batch> loop(data);
  cases.compare(name, 1e-4, ours, {rival("C++ oneDNN", loop)});
}

template <bool HasGradient>
void compare_lorenz(suite& cases, const std::string& name) {
  using namespace leat;
  using namespace leat::literals;
  const std::vector<double> first{1, 1, 1};
  auto x0 = placeholder<"x", double>();
  auto y0 = placeholder<"y", double>();
  auto z0 = placeholder<"z", double>();
  constexpr double h = lorenz::length;
  const auto slope = [](const auto& state) {
    const auto [x, y, z] = state;
    return std::tuple(constant<lorenz::sigma>() * (y - x), x * (constant<lorenz::rho>() - z) - y, x * y - constant<lorenz::beta>() * z);
  };
  const auto along = [](const auto& state, const auto& length, const auto& k) {
    const auto [x, y, z] = state;
    const auto [dx, dy, dz] = k;
    return std::tuple(x + length * dx, y + length * dy, z + length * dz);
  };
  const auto sum = [](const auto& k1, const auto& k2, const auto& k3, const auto& k4) { return k1 + 2_c * (k2 + k3) + k4; };
  const auto last = fold(
      [&](auto now, auto) {
        const auto half = constant<h / 2>();
        const auto k1 = slope(now);
        const auto k2 = slope(along(now, half, k1));
        const auto k3 = slope(along(now, half, k2));
        const auto k4 = slope(along(now, constant<h>(), k3));
        const auto total = [&]<std::size_t... I>(std::index_sequence<I...>) {
          return std::tuple(sum(std::get<I>(k1), std::get<I>(k2), std::get<I>(k3), std::get<I>(k4))...);
        }(std::make_index_sequence<3>{});
        return along(now, constant<h / 6>(), total);
      },
      std::tuple(x0, y0, z0), constant<0.0, lorenz::steps>());
  auto [x, y, z] = last;
  auto loss = square(x) + square(y) + square(z);
  lorenz_loop<HasGradient> loop(first);
  const auto run = [&](auto& step, auto numbers) {
    const auto ours = contend("leat", [] {}, [&] { step(); }, numbers);
    cases.compare(name, 1e-6, ours, {rival("C++ loop", loop)});
  };
  if constexpr (HasGradient) {
    auto [dx, dy, dz] = gradients(loss, x0, y0, z0);
    session s{loss, dx, dy, dz};
    auto step = s.prepare(fetch(loss, dx, dy, dz), x0 = first[0], y0 = first[1], z0 = first[2]);
    const auto once = [&] {
      const auto [v, a, b, c] = step();
      return std::vector<float>{static_cast<float>(v), static_cast<float>(a), static_cast<float>(b), static_cast<float>(c)};
    };
    run(step, once);
  } else {
    session s{loss};
    auto step = s.prepare(fetch(loss), x0 = first[0], y0 = first[1], z0 = first[2]);
    run(step, [&] { return std::vector<float>{static_cast<float>(std::get<0>(step()))}; });
  }
}

}  // namespace

void loops(suite& cases) {
  on_one_thread(cases, "calculus_lstm_1", [&](const std::string& name) { compare_lstm<1>(cases, name); });
  on_one_thread(cases, "calculus_lstm_32", [&](const std::string& name) { compare_lstm<32>(cases, name); });
  on_one_thread(cases, "calculus_lorenz", [&](const std::string& name) { compare_lorenz<false>(cases, name); });
  on_one_thread(cases, "calculus_lorenz_gradient", [&](const std::string& name) { compare_lorenz<true>(cases, name); });
}

}  // namespace bench
