// Derivatives as expressions: what docs/calculus.md shows.

// [listing calculus_includes]
#include <leat/calculus.hpp>
#include <leat/vmap.hpp>

#include <cmath>
#include <cstdio>
#include <tuple>
#include <vector>
// [end]

using namespace leat;
using namespace leat::literals;

namespace {

// The measurement of a radar, and how it changes with the position.
bool radar() {
  // [listing calculus_jacobian]
  auto position = placeholder<"position", double, 2>();
  auto east = index<0>(position);
  auto north = index<1>(position);
  auto measured = stack<0>(sqrt(square(east) + square(north)), atan2(north, east));  // range and bearing

  auto h = jacobian(measured, position);  // [2, 2]

  session s{measured, h};
  auto [z, dz] = s.run(fetch(measured, h), position = std::vector<double>{3, 4});
  std::printf("range %g, and by east %g, by north %g\n", z(0), dz(0, 0), dz(0, 1));
  // [end]
  return std::abs(z(0) - 5) < 1e-12 && std::abs(dz(0, 0) - 0.6) < 1e-12 && std::abs(dz(1, 1) - 3.0 / 25) < 1e-12;
}

bool directions() {
  // [listing calculus_directions]
  auto x = placeholder<"x", double, 1000>();
  auto v = placeholder<"v", double, 1000>();
  auto y = exp(x) * reduce_sum(square(x));
  auto loss = reduce_sum(square(y));

  auto along = jvp(y, x, v);        // [1000]: J v, forward mode
  auto weighed = vjp(y, y, x);      // [1000]: y J, reverse mode
  auto curved = hvp(loss, x, v);    // [1000]: H v, without the Hessian's million elements
  auto [value, slope] = value_and_gradient(loss, x);
  // [end]
  session s{along, weighed, curved, value, slope};
  std::vector<double> xs(1000, 0.01), vs(1000, 0.5);
  const auto [a, w, c, l, g] = s.run(fetch(along, weighed, curved, value, slope), x = xs, v = vs);
  return std::abs(2 * w(7) - g(7)) < 1e-9 && std::isfinite(a(0)) && std::isfinite(c(0)) && l > 0;
}

bool batches() {
  // [listing calculus_batches]
  auto x = placeholder<"x", float, "batch", 3>();
  auto w = variable<"w", float, 3, 4>(0.1f);
  auto y = tanh(matmul(x, w));

  auto of_each = batch_jacobian(y, x);                      // [batch, 4, 3]
  auto whole = jacobian(y, x);                              // [batch, 4, batch, 3], zero between different examples
  auto by_weights = jacobian<jacobian_mode::reverse>(reduce_sum<0>(y), w);  // [4, 3, 4]
  // [end]
  session s{of_each, whole, by_weights};
  s.initialize();
  const xt::xtensor<float, 2> xs{{1, 2, 3}, {0.5f, -1, 2}};
  const auto [each, all, weights] = s.run(fetch(of_each, whole, by_weights), x = xs);
  return each(1, 2, 0) == all(1, 2, 1, 0) && all(1, 2, 0, 0) == 0 && weights.shape()[0] == 4;
}

bool training() {
  // [listing calculus_training]
  auto x = placeholder<"x", float, "batch">();
  auto y = placeholder<"y", float, "batch">();
  auto slope = placeholder<"slope", float, "batch">();
  auto w = variable<"w", float, 3>(0.1f);
  auto guess = index<0>(w) + index<1>(w) * x + index<2>(w) * square(x);
  auto [guessed_slope] = gradients(guess, x);
  auto loss = reduce_mean(square(guess - y)) + reduce_mean(square(guessed_slope - slope));
  auto train = adam(0.05f).minimize(loss);
  // [end]
  session s{loss, train};
  s.initialize();
  std::vector<float> xs, ys, slopes;
  for (int i = -8; i <= 8; ++i) {
    const float at = 0.125f * static_cast<float>(i);
    xs.push_back(at);
    ys.push_back(1 - 2 * at + 3 * at * at);
    slopes.push_back(-2 + 6 * at);
  }
  for (int i = 0; i < 2000; ++i) s.run(fetch(train), x = xs, y = ys, slope = slopes);
  const auto [last] = s.run(fetch(loss), x = xs, y = ys, slope = slopes);
  std::printf("loss with slopes: %.6f\n", static_cast<double>(last));
  return last < 1e-3f;
}

bool many() {
  // [listing calculus_vmap]
  auto positions = placeholder<"positions", double, 1000, 2>();
  auto all = vmap([](auto position) {  // [1000, 2, 2]
    auto east = index<0>(position);
    auto north = index<1>(position);
    return jacobian(stack<0>(sqrt(square(east) + square(north)), atan2(north, east)), position);
  })(positions);
  // [end]
  session s{all};
  xt::xtensor<double, 2> ps(std::array<std::size_t, 2>{1000, 2});
  for (std::size_t i = 0; i < 1000; ++i) {
    ps(i, 0) = 3;
    ps(i, 1) = 4;
  }
  const auto [js] = s.run(fetch(all), positions = ps);
  return std::abs(js(999, 0, 1) - 0.8) < 1e-12;
}

// A decay through noisy measurements, of which one is far off.
bool decay() {
  // [listing calculus_least_squares]
  auto t = placeholder<"t", double, "n">();
  auto measured = placeholder<"measured", double, "n">();
  auto p = variable<"p", double, 3>(1.0);  // amplitude, rate, floor
  auto damping = untrainable_variable<"damping", double>(1e-3);

  auto residuals = [&](auto q) { return index<0>(q) * exp(-index<1>(q) * t) + index<2>(q) - measured; };
  auto fit = levenberg_marquardt(residuals, p, damping, robust::cauchy(0.1_c));

  session s{fit.step, fit.loss, p, damping};
  s.initialize();
  std::vector<double> at{0, 0.5, 1, 1.5, 2, 3, 4, 6}, values{3.02, 1.99, 1.41, 1.03, 4.00, 0.57, 0.52, 0.50};
  for (int i = 0; i < 30; ++i) s.run(fetch(fit.step), t = at, measured = values);
  auto found = s.value(p);
  std::printf("%.2f exp(-%.2f t) + %.2f\n", found(0), found(1), found(2));
  // [end]
  return std::abs(found(0) - 2.5) < 0.1 && std::abs(found(1) - 1) < 0.1 && std::abs(found(2) - 0.5) < 0.05;
}

bool finds_minimum() {
  // [listing calculus_lbfgs]
  auto x = variable<"x", double, 2>(std::vector<double>{-1.2, 1});
  auto valley = square(1_c - index<0>(x)) + 100_c * square(index<1>(x) - square(index<0>(x)));
  auto train = lbfgs().minimize(valley);

  session s{train, x};
  s.initialize();
  for (int i = 0; i < 50; ++i) s.run(fetch(train));
  std::printf("%.6f, %.6f\n", s.value(x)(0), s.value(x)(1));
  // [end]
  return std::abs(s.value(x)(0) - 1) < 1e-6;
}

bool equation() {
  // [listing calculus_root]
  auto load = placeholder<"load", double>();
  auto start = placeholder<"start", double, 2>();
  auto x = solve_root(
      [&](auto u) {
        return stack<0>(index<0>(u) + square(index<1>(u)) - load, sin(index<0>(u)) + index<1>(u) - 1_c);
      },
      start);
  auto stiffness = jacobian(x, load);  // how the solution moves with the load
  // [end]
  session s{x, stiffness};
  const std::vector<double> from{0.5, 0.5};
  const auto [at, slope] = s.run(fetch(x, stiffness), load = 1.0, start = from);
  const auto [moved] = s.run(fetch(x), load = 1.0 + 1e-6, start = from);
  return std::abs(slope(0) - (moved(0) - at(0)) / 1e-6) < 1e-4 && std::abs(std::sin(at(0)) + at(1) - 1) < 1e-9;
}

}  // namespace

int main() {
  return radar() && directions() && batches() && training() && many() && decay() && finds_minimum() && equation() ? 0 : 1;
}
