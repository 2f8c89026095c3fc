// Recurrent layers against their cells, step by step; differential equations against known solutions.

#include <leat/loops.hpp>

#include "support/check.hpp"

#include <cmath>
#include <tuple>
#include <vector>

using namespace leat;
using namespace leat::literals;

namespace {

template <class A, class B>
void check_same(const A& a, const B& b, double epsilon = 1e-12) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a.data()[i] == doctest::Approx(b.data()[i]).epsilon(epsilon));
}
xt::xtensor<double, 3> waves(std::size_t batch, std::size_t time, std::size_t inputs) {
  auto all = xt::xtensor<double, 3>::from_shape({batch, time, inputs});
  for (std::size_t i = 0; i < all.size(); ++i) all.data()[i] = std::sin(1.3 * static_cast<double>(i));
  return all;
}

}  // namespace

TEST_CASE("an LSTM is its cell in each step, with its gradients") {
  auto x = placeholder<"x", double, "batch", 3, 2>();
  auto [outputs, state] = lstm<"rnn/basic_lstm_cell", 4>(x, 7);
  using zero = detail::zero_state<std::remove_const_t<decltype(x)>, 4>;
  const auto at = [&]<int K>(std::integral_constant<int, K>) { return squeeze<1>(slice<begins<0, K, 0>, sizes<-1, 1, 2>>(x)); };
  auto s1 = lstm_cell<"rnn/basic_lstm_cell", 4>(at(std::integral_constant<int, 0>{}), lstm_state<zero, zero>{}, 7);
  auto s2 = lstm_cell<"rnn/basic_lstm_cell", 4>(at(std::integral_constant<int, 1>{}), s1, 7);
  auto s3 = lstm_cell<"rnn/basic_lstm_cell", 4>(at(std::integral_constant<int, 2>{}), s2, 7);
  auto by_hand = stack<1>(s1.h, s2.h, s3.h);
  auto kernel = detail::make_variable<name_of<"rnn/basic_lstm_cell/kernel">, double, dims<6, 16>, true>(glorot_uniform(7));
  auto bias = detail::make_variable<name_of<"rnn/basic_lstm_cell/bias">, double, dims<16>, true>(zeros);
  auto loss = reduce_sum(square(outputs)) + reduce_sum(state.c);
  auto loss_by_hand = reduce_sum(square(by_hand)) + reduce_sum(s3.c);
  auto [dk, db, dx] = gradients(loss, kernel, bias, x);
  auto [hk, hb, hx] = gradients(loss_by_hand, kernel, bias, x);
  session s{outputs, by_hand, dk, db, dx, hk, hb, hx};
  s.initialize();
  for (const std::size_t batch : {std::size_t{1}, std::size_t{5}}) {
    const auto [a, b, k1, b1, x1, k2, b2, x2] = s.run(fetch(outputs, by_hand, dk, db, dx, hk, hb, hx), x = waves(batch, 3, 2));
    check_same(a, b);
    check_same(k1, k2);
    check_same(b1, b2);
    check_same(x1, x2);
  }
}

TEST_CASE("sequences of different lengths, in both directions") {
  auto x = placeholder<"x", double, 2, "time", 3>();
  auto lengths = placeholder<"lengths", std::int32_t, 2>();
  auto forward = gru<"fw/gru_cell", 4>(x, lengths, 1);
  auto backward = rnn_back<"bw/basic_rnn_cell", 4>(x, lengths, 2);
  auto plain = gru<"fw/gru_cell", 4>(x, 1);
  auto plain_back = rnn_back<"bw/basic_rnn_cell", 4>(x, 2);
  auto both = concat<2>(forward.outputs, backward.outputs);
  session s{both, forward.state, plain.state, plain.outputs, plain_back.state, plain_back.outputs, backward.state};
  s.initialize();
  const auto all = waves(2, 5, 3);
  const auto [outputs, last, first] = s.run(fetch(both, forward.state, backward.state), x = all, lengths = std::vector<std::int32_t>{2, 5});
  // the first entry alone, with its two steps; the second as it is
  auto begin = xt::xtensor<double, 3>::from_shape({2, 2, 3});
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t t = 0; t < 2; ++t)
      for (std::size_t j = 0; j < 3; ++j) begin(b, t, j) = all(b, t, j);
  const auto [h2, y2, b2, z2] = s.run(fetch(plain.state, plain.outputs, plain_back.state, plain_back.outputs), x = begin);
  const auto [h5, y5, b5, z5] = s.run(fetch(plain.state, plain.outputs, plain_back.state, plain_back.outputs), x = all);
  for (std::size_t j = 0; j < 4; ++j) {
    CHECK(last(0, j) == doctest::Approx(h2(0, j)));
    CHECK(last(1, j) == doctest::Approx(h5(1, j)));
    CHECK(first(0, j) == doctest::Approx(b2(0, j)));
    CHECK(first(1, j) == doctest::Approx(b5(1, j)));
    for (std::size_t t = 0; t < 5; ++t) {
      CHECK(outputs(0, t, j) == doctest::Approx(t < 2 ? y2(0, t, j) : 0));
      CHECK(outputs(0, t, 4 + j) == doctest::Approx(t < 2 ? z2(0, t, j) : 0));
      CHECK(outputs(1, t, j) == doctest::Approx(y5(1, t, j)));
      CHECK(outputs(1, t, 4 + j) == doctest::Approx(z5(1, t, j)));
    }
  }
}

TEST_CASE("a layer that begins with the state in which another one ended") {
  auto x = placeholder<"x", double, "batch", 4, 2>();
  auto lengths = placeholder<"lengths", std::int64_t, "batch">();
  auto h0 = placeholder<"h0", double, "batch", 3>();
  auto begin = slice<begins<0, 0, 0>, sizes<-1, 2, 2>>(x);
  auto end = slice<begins<0, 2, 0>, sizes<-1, 2, 2>>(x);
  auto whole = lstm<"a/basic_lstm_cell", 3>(x, 7);
  auto first = lstm<"a/basic_lstm_cell", 3>(begin, 7);
  auto second = lstm<"a/basic_lstm_cell", 3>(end, first.state, 7);
  auto both = concat<1>(first.outputs, second.outputs);
  auto back = gru_back<"b/gru_cell", 3>(x, 1);
  auto back_first = gru_back<"b/gru_cell", 3>(end, 1);
  auto back_second = gru_back<"b/gru_cell", 3>(begin, back_first.state, 1);
  auto kept = rnn<"c/basic_rnn_cell", 3>(x, lengths, h0, 2);
  auto loss = reduce_sum(square(whole.outputs)) + reduce_sum(whole.state.c);
  auto loss_of_parts = reduce_sum(square(both)) + reduce_sum(second.state.c);
  auto [dx] = gradients(loss, x);
  auto [dx_of_parts] = gradients(loss_of_parts, x);
  auto [by_h0] = gradients(reduce_sum(kept.state), h0);
  session s{whole.outputs, both, second.state.c, whole.state.c, back.state, back_second.state,
            kept.state,    kept.outputs, dx, dx_of_parts, by_h0};
  s.initialize();
  const auto all = waves(2, 4, 2);
  const xt::xtensor<double, 2> start{{0.5, -1, 2}, {0.25, 0.5, 0.75}};
  const auto [y, parts, c, c_of_parts, h, h_of_parts, d, d_of_parts] =
      s.run(fetch(whole.outputs, both, whole.state.c, second.state.c, back.state, back_second.state, dx, dx_of_parts), x = all);
  check_same(y, parts);
  check_same(c, c_of_parts);
  check_same(h, h_of_parts);
  check_same(d, d_of_parts);
  const auto [last, outputs, slope] =
      s.run(fetch(kept.state, kept.outputs, by_h0), x = all, h0 = start, lengths = std::vector<std::int64_t>{0, 4});
  for (std::size_t j = 0; j < 3; ++j) {
    CHECK(last(0, j) == start(0, j));
    CHECK(outputs(0, 3, j) == 0);
    CHECK(last(1, j) == outputs(1, 3, j));
    CHECK(slope(0, j) == 1);
  }
}

TEST_CASE("differential equations") {
  auto y0 = placeholder<"y0", double, 2>();
  auto rate = placeholder<"rate", double>();
  auto zero = constant<0.0>();
  auto h = constant<0.01>();
  // an oscillator: (cos, -sin) from (1, 0)
  const auto oscillator = [&](auto, auto y) { return stack<0>(index<1>(y), -index<0>(y)) * rate; };
  auto end = solve_rk4<100>(oscillator, y0, zero, h);
  auto [last, path] = solve_euler_path<100>([](auto t, auto y) { return y * 0_c + t * 2_c; }, y0, zero, h);
  auto [by_rate, by_y0] = gradients(index<0>(end), rate, y0);
  session s{end, last, path, by_rate, by_y0};
  const auto [e, l, p, dr, dy] = s.run(fetch(end, last, path, by_rate, by_y0), y0 = std::vector<double>{1, 0}, rate = 1.0);
  CHECK(e(0) == doctest::Approx(std::cos(1.0)).epsilon(1e-9));
  CHECK(e(1) == doctest::Approx(-std::sin(1.0)).epsilon(1e-9));
  CHECK(dr == doctest::Approx(-std::sin(1.0)).epsilon(1e-8));
  CHECK(dy(0) == doctest::Approx(std::cos(1.0)).epsilon(1e-8));
  CHECK(dy(1) == doctest::Approx(std::sin(1.0)).epsilon(1e-8));
  CHECK(l(0) == doctest::Approx(1 + 0.99));  // the sum of 2 k h² for k < 100
  CHECK(p(0, 0) == 1);
  CHECK(p(99, 0) == l(0));
}
