// Cells of typed programs: one step against its formula, a sequence unrolled by a loop with shared variables, gradients against
// differences.

#include <leat/session/typed/session.hpp>
#include <leat/train/cells.hpp>

#include "support/check.hpp"

#include <cmath>
#include <string>
#include <vector>

using namespace leat;
using namespace leat::literals;
using leat_test::filled;

namespace {

using matrix = xt::xtensor<double, 2>;
double squashed(double x) { return 1 / (1 + std::exp(-x)); }

// [x, h] kernel + bias for row r and column k.
double weighted(const matrix& x, const matrix& h, const matrix& kernel, const std::vector<double>& bias, std::size_t r, std::size_t k) {
  double sum = bias[k];
  for (std::size_t i = 0; i < x.shape()[1]; ++i) sum += x(r, i) * kernel(i, k);
  for (std::size_t i = 0; i < h.shape()[1]; ++i) sum += h(r, i) * kernel(x.shape()[1] + i, k);
  return sum;
}
std::vector<double> values_of(const xt::xtensor<double, 1>& v) { return {v.begin(), v.end()}; }

}  // namespace

TEST_CASE("a step of each cell is its formula") {
  const auto x = placeholder<"x", double, "batch", 2>();
  const auto h = placeholder<"h", double, "batch", 3>();
  const auto c = placeholder<"c", double, "batch", 3>();
  const auto simple = basic_rnn_cell<"basic_rnn_cell", 3>(x, h, 1);
  const auto gated = gru_cell<"gru_cell", 3>(x, h, 2);
  const auto [next, shown] = lstm_cell<"lstm_cell", 3, 0.5>(x, lstm_state{c, h}, 3);
  session s{simple, gated, next, shown};
  s.initialize();
  const matrix xs = filled<double, 2>({4, 2}, -1, 1, 1), hs = filled<double, 2>({4, 3}, -1, 1, 2), cs = filled<double, 2>({4, 3}, -1, 1, 3);
  const auto [y, g, n, o] = s.run(fetch(simple, gated, next, shown), x = xs, h = hs, c = cs);
  const auto kernel = variable<"basic_rnn_cell/kernel", double, 5, 3>(glorot_uniform(1));
  const matrix plain = s.value(kernel);
  const matrix gates = s.value(variable<"gru_cell/gates/kernel", double, 5, 6>(glorot_uniform(2)));
  const matrix candidate = s.value(variable<"gru_cell/candidate/kernel", double, 5, 3>(glorot_uniform(2)));
  const matrix whole = s.value(variable<"lstm_cell/kernel", double, 5, 12>(glorot_uniform(3)));
  const auto gate_bias = values_of(s.value(variable<"gru_cell/gates/bias", double, 6>(ones)));
  const std::vector<double> none(12, 0.0);
  matrix remembered = hs;
  for (std::size_t r = 0; r < 4; ++r)
    for (std::size_t k = 0; k < 3; ++k) remembered(r, k) = squashed(weighted(xs, hs, gates, gate_bias, r, k)) * hs(r, k);
  for (std::size_t r = 0; r < 4; ++r)
    for (std::size_t k = 0; k < 3; ++k) {
      CHECK(y(r, k) == doctest::Approx(std::tanh(weighted(xs, hs, plain, none, r, k))));
      const double u = squashed(weighted(xs, hs, gates, gate_bias, r, 3 + k));
      CHECK(g(r, k) == doctest::Approx(u * hs(r, k) + (1 - u) * std::tanh(weighted(xs, remembered, candidate, none, r, k))));
      const auto part = [&](std::size_t which) { return weighted(xs, hs, whole, none, r, 3 * which + k); };
      const double memory = squashed(part(2) + 0.5) * cs(r, k) + squashed(part(0)) * std::tanh(part(1));
      CHECK(n(r, k) == doctest::Approx(memory));
      CHECK(o(r, k) == doctest::Approx(squashed(part(3)) * std::tanh(memory)));
    }
}

TEST_CASE("the gates of a cell with peepholes see its memory") {
  const auto x = placeholder<"x", double, "batch", 2>();
  const auto h = placeholder<"h", double, "batch", 3>();
  const auto c = placeholder<"c", double, "batch", 3>();
  const auto [next, shown] = peephole_lstm_cell<"cell", 3, 0.5>(x, lstm_state{c, h}, 3);
  const auto see_f = variable<"cell/w_f_diag", double, 3>(glorot_uniform(3));
  const auto see_i = variable<"cell/w_i_diag", double, 3>(glorot_uniform(3));
  const auto see_o = variable<"cell/w_o_diag", double, 3>(glorot_uniform(3));
  const auto loss = reduce_sum(square(shown) + next);
  const auto [by_f, by_i, by_o] = gradients(loss, see_f, see_i, see_o);
  session s{next, shown, loss, by_f, by_i, by_o};
  s.initialize();
  const xt::xtensor<double, 1> wf{0.5, -0.25, 0.75}, wi{-0.5, 1.25, 0.125}, wo{0.25, 0.5, -1};
  s.assign(see_f, wf);
  s.assign(see_i, wi);
  s.assign(see_o, wo);
  const matrix xs = filled<double, 2>({4, 2}, -1, 1, 1), hs = filled<double, 2>({4, 3}, -1, 1, 2), cs = filled<double, 2>({4, 3}, -1, 1, 3);
  const auto [n, o] = s.run(fetch(next, shown), x = xs, h = hs, c = cs);
  const matrix whole = s.value(variable<"cell/kernel", double, 5, 12>(glorot_uniform(3)));
  const std::vector<double> none(12, 0.0);
  for (std::size_t r = 0; r < 4; ++r)
    for (std::size_t k = 0; k < 3; ++k) {
      const auto part = [&](std::size_t which) { return weighted(xs, hs, whole, none, r, 3 * which + k); };
      const double memory =
          squashed(part(2) + 0.5 + wf(k) * cs(r, k)) * cs(r, k) + squashed(part(0) + wi(k) * cs(r, k)) * std::tanh(part(1));
      CHECK(n(r, k) == doctest::Approx(memory));
      CHECK(o(r, k) == doctest::Approx(squashed(part(3) + wo(k) * memory) * std::tanh(memory)));
    }
  const auto [df, di, d_o] = s.run(fetch(by_f, by_i, by_o), x = xs, h = hs, c = cs);
  const auto check = [&](const auto& weight, const xt::xtensor<double, 1>& held, const auto& slope) {
    for (std::size_t k = 0; k < 3; ++k) {
      const auto moved = [&](double by) {
        auto there = held;
        there(k) += by;
        s.assign(weight, there);
        return std::get<0>(s.run(fetch(loss), x = xs, h = hs, c = cs));
      };
      CHECK(slope(k) == doctest::Approx((moved(1e-5) - moved(-1e-5)) / 2e-5).epsilon(1e-6));
    }
    s.assign(weight, held);
  };
  check(see_f, wf, df);
  check(see_i, wi, di);
  check(see_o, wo, d_o);
}

TEST_CASE("a sequence is unrolled by a program's own loop, with the same variables, and trained") {
  const auto start = constant<0.0, 2, 4>();
  const auto step = [](const auto& input, const auto& state) { return lstm_cell<"rnn/lstm_cell", 4>(input, state, 5); };
  const auto sequence = placeholder<"sequence", double, 3, 2, 2>();
  const auto [first, second, third] = unstack(sequence);
  const auto one = step(first, lstm_state{start, start});
  const auto two = step(second, one);
  const auto last = step(third, two);
  const auto loss = reduce_sum(square(last.h)) + reduce_sum(gru_cell<"rnn/gru_cell", 4>(third, last.h));
  const auto kernel = variable<"rnn/lstm_cell/kernel", double, 6, 16>(glorot_uniform(5));
  const auto [slope] = gradients(loss, kernel);
  const auto train = gradient_descent(0.1).minimize(loss);
  session s{loss, slope, train};
  s.initialize();
  const auto xs = filled<double, 3>({3, 2, 2}, -1, 1, 7);
  const auto [d] = s.run(fetch(slope), sequence = xs);
  const auto held = s.value(kernel);
  for (const std::size_t i : {0u, 17u, 40u, 95u}) {
    const auto moved = [&](double by) {
      auto there = held;
      there.data()[i] += by;
      s.assign(kernel, there);
      return std::get<0>(s.run(fetch(loss), sequence = xs));
    };
    CHECK(d.data()[i] == doctest::Approx((moved(1e-5) - moved(-1e-5)) / 2e-5).epsilon(1e-6));
  }
  s.assign(kernel, held);
  const double before = std::get<0>(s.run(fetch(loss), sequence = xs));
  for (int k = 0; k < 5; ++k) s.run(fetch(train), sequence = xs);
  CHECK(std::get<0>(s.run(fetch(loss), sequence = xs)) < before);
}
