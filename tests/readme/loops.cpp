// Loops and recurrent layers: what docs/loops.md shows.

// [listing loops_includes]
#include <leat/loops.hpp>
#include <leat/vmap.hpp>

#include <cmath>
#include <cstdio>
#include <tuple>
#include <vector>
// [end]

using namespace leat;
using namespace leat::literals;

namespace {

// A filter of first order, with the gradient by its rate.
bool smoothing() {
  // [listing loops_scan]
  auto measured = placeholder<"measured", double, "time">();
  auto rate = variable<"rate", double>(0.5);
  auto start = constant<0.0>();

  auto [last, smooth] = scan(
      [&](auto level, auto x) {
        auto next = level + rate * (x - level);
        return std::tuple(next, next);  // the next state, and what is collected
      },
      start, measured);

  auto error = reduce_sum(square(smooth - measured));
  auto [slope] = gradients(error, rate);

  session s{smooth, error, slope};
  s.initialize();
  auto [levels, e, de] = s.run(fetch(smooth, error, slope), measured = std::vector<double>{4, 2, 3});
  std::printf("%g %g %g, error %g, slope %g\n", levels(0), levels(1), levels(2), e, de);
  // [end]
  return levels(2) == 2.5 && e == 4.25 && std::isfinite(de);
}

bool several() {
  // [listing loops_several]
  auto xs = placeholder<"xs", float, "time", 3>();
  auto ks = placeholder<"ks", std::int32_t, "time">();
  auto count = constant<std::int32_t(0)>();
  auto sum = constant<0.0f, 3>();

  auto last = fold(
      [](auto state, auto x) {
        auto [total, n] = state;
        auto [v, k] = x;
        return std::tuple(total + v, n + k);
      },
      std::tuple(sum, count), std::tuple(xs, ks));
  auto [total, n] = last;
  // [end]
  session s{total, n};
  const xt::xtensor<float, 2> values{{1, 2, 3}, {4, 5, 6}};
  const auto [t, k] = s.run(fetch(total, n), xs = values, ks = std::vector<std::int32_t>{3, 4});
  return t(2) == 9 && k == 7;
}

bool root() {
  // [listing loops_while]
  auto a = placeholder<"a", double>();
  auto one = constant<1.0>();

  auto far = [&](auto r) { return greater(abs(r * r - a), 1e-9_c); };
  auto better = [&](auto r) { return 0.5_c * (r + a / r); };
  auto [found, steps] = counted_while_loop<100>(far, better, one);
  auto [slope] = gradients(found, a);

  session s{found, steps, slope};
  auto [r, n, dr] = s.run(fetch(found, steps, slope), a = 9.0);
  std::printf("%g after %lld steps, slope %g\n", r, static_cast<long long>(n), dr);
  // [end]
  return std::abs(r - 3) < 1e-9 && n == 6 && std::abs(dr - 1.0 / 6) < 1e-6;
}

bool choice() {
  // [listing loops_cond]
  auto x = placeholder<"x", float, 1000>();
  auto k = placeholder<"k", std::int32_t>();

  auto y = cond(greater(reduce_max(x), 10.0_c), [](auto v) { return v / reduce_max(v); }, [](auto v) { return v; }, x);
  auto z = switch_case(k, std::tuple([](auto v) { return tanh(v); }, [](auto v) { return relu(v); }), y);
  // [end]
  session s{z};
  const std::vector<float> all(1000, -20.0f);
  const auto [zs] = s.run(fetch(z), x = all, k = 1);
  return zs(0) == 0;
}

bool layers() {
  // [listing loops_layers]
  auto x = placeholder<"x", float, "batch", "time", 8>();
  auto lengths = placeholder<"lengths", std::int32_t, "batch">();

  auto [below, state] = lstm<"rnn/basic_lstm_cell", 16>(x, lengths);  // [batch, time, 16], and state.c, state.h
  auto forward = gru<"fw/gru_cell", 16>(below, lengths);
  auto backward = gru_back<"bw/gru_cell", 16>(below, lengths);
  auto both = concat<2>(forward.outputs, backward.outputs);     // [batch, time, 32]
  auto answer = dense<"answer", 1>(concat<1>(forward.state, backward.state));

  auto loss = reduce_mean(square(answer - 1_c)) + 0.01_c * reduce_mean(square(both));
  auto train = adam(0.01f).minimize(loss);
  // [end]
  session s{loss, train};
  s.initialize();
  auto xs = xt::xtensor<float, 3>::from_shape({2, 5, 8});
  for (std::size_t i = 0; i < xs.size(); ++i) xs.data()[i] = std::sin(static_cast<float>(i));
  const std::vector<std::int32_t> ls{3, 5};
  const auto [before] = s.run(fetch(loss), x = xs, lengths = ls);
  for (int i = 0; i < 20; ++i) s.run(fetch(train), x = xs, lengths = ls);
  const auto [after] = s.run(fetch(loss), x = xs, lengths = ls);
  return after < before;
}

bool equations() {
  // [listing loops_ode]
  auto y0 = placeholder<"y0", double, 2>();
  auto stiffness = variable<"stiffness", double>(4.0);
  auto zero = constant<0.0>();
  auto step = constant<0.01>();

  auto spring = [&](auto, auto y) { return stack<0>(index<1>(y), -stiffness * index<0>(y)); };  // position and speed
  auto [end, path] = solve_rk4_path<100>(spring, y0, zero, step);
  auto [by_stiffness] = gradients(index<0>(end), stiffness);
  // [end]
  session s{end, path, by_stiffness};
  s.initialize();
  const auto [e, p, d] = s.run(fetch(end, path, by_stiffness), y0 = std::vector<double>{1, 0});
  return std::abs(e(0) - std::cos(2.0)) < 1e-6 && p.shape()[0] == 100 && std::abs(d + std::sin(2.0) / 4) < 1e-6;
}

bool controlled() {
  // [listing loops_dormand_prince]
  auto y0 = placeholder<"y0", double, 2>();
  auto damping = variable<"damping", double>(5.0);
  auto zero = constant<0.0>();
  auto t1 = constant<20.0>();

  auto van_der_pol = [&](auto, auto y) {
    auto x = index<0>(y);
    auto v = index<1>(y);
    return stack<0>(v, damping * (1_c - square(x)) * v - x);
  };
  auto [end, steps] = counted_solve_dormand_prince<2000>(van_der_pol, y0, zero, t1, 1e-8_c, 1e-8_c);
  auto [by_damping] = gradients(index<0>(end), damping);

  session s{end, steps, by_damping};
  s.initialize();
  auto [e, n, d] = s.run(fetch(end, steps, by_damping), y0 = std::vector<double>{2, 0});
  std::printf("%.5f after %lld steps, by the damping %.4f\n", e(0), static_cast<long long>(n), d);
  // [end]
  return n > 100 && n < 2000 && std::isfinite(d);
}

bool checkpoints() {
  // [listing loops_checkpoints]
  auto xs = placeholder<"xs", float, 1000, 64>();
  auto h0 = constant<0.0f, 64>();
  auto last = fold(checkpoint_every<50>, [](auto h, auto x) { return tanh(h + x); }, h0, xs);
  auto [dx] = gradients(reduce_sum(last), xs);
  // [end]
  session s{dx};
  auto all = xt::xtensor<float, 2>::from_shape({1000, 64});
  all.fill(0.001f);
  const auto [d] = s.run(fetch(dx), xs = all);
  return std::isfinite(d(0, 0));
}

// Loops of many models.
bool many() {
  // [listing loops_vmap]
  auto starts = placeholder<"starts", double, "runs">();
  auto rates = placeholder<"rates", double, "runs">();
  auto noise = placeholder<"noise", double, "runs", "time">();

  auto [ends, peaks] = vmap([](auto start, auto rate, auto ws) {
    auto [end, path] = scan(
        [&](auto x, auto w) {
          auto next = x + rate * x * (1_c - x) + w;
          return std::tuple(next, next);
        },
        start, ws);
    return std::tuple(end, reduce_max(path));
  })(starts, rates, noise);
  auto [by_rate] = gradients(ends, rates);

  auto [halved, halvings] = vmap([](auto x) {
    return counted_while_loop<100>([](auto v) { return greater(v, 1.0_c); }, [](auto v) { return v * 0.5_c; }, x);
  })(starts);
  // [end]
  session s{ends, peaks, by_rate, halved, halvings};
  const xt::xtensor<double, 2> ws{{0.1, 0}, {0, 0.2}, {-0.1, 0.3}};
  const std::vector<double> at{0.5, 3, 1}, r{0.5, 0.1, 1};
  const auto [e, p, d, h, n] = s.run(fetch(ends, peaks, by_rate, halved, halvings), starts = at, rates = r, noise = ws);
  bool right = n(0) == 0 && n(1) == 2 && n(2) == 0 && h(1) == 0.75;
  for (std::size_t k = 0; k < 3; ++k) {
    double x = at[k], peak = -1e9, slope = 0;
    for (std::size_t t = 0; t < 2; ++t) {
      slope = slope * (1 + r[k] * (1 - 2 * x)) + x * (1 - x);
      x = x + r[k] * x * (1 - x) + ws(k, t);
      peak = std::max(peak, x);
    }
    right = right && std::abs(e(k) - x) < 1e-12 && std::abs(p(k) - peak) < 1e-12 && std::abs(d(k) - slope) < 1e-12;
  }
  return right;
}

}  // namespace

int main() {
  return smoothing() && several() && root() && choice() && layers() && equations() && controlled() && checkpoints() && many() ? 0 : 1;
}
