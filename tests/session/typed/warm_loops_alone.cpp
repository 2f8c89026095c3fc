// Warm steps through loops do not ask the heap, and checkpoints take less memory.

#include <leat/loops.hpp>

#include "support/allocations.hpp"
#include "support/check.hpp"

#include <vector>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

TEST_CASE("a warm training step of an LSTM allocates nothing") {
  const auto x = placeholder<"x", float, "batch", "time", 3>();
  const auto layer = lstm<"rnn/basic_lstm_cell", 4>(x);
  const auto loss = reduce_mean(square(layer.outputs - 0.5_c));
  const auto train = gradient_descent(0.1f).minimize(loss);
  session s{loss, train};
  s.initialize();
  auto xs = xt::xtensor<float, 3>::from_shape({2, 7, 3});
  xs.fill(0.25f);
  float before = 0, after = 0;
  s.run(fetch(into(loss, before), train), x = xs);
  CHECK(count([&] { s.run(fetch(into(loss, after), train), x = xs); }) == 0);
  CHECK(after < before);
}

TEST_CASE("checkpoints take less memory for the tape") {
  const auto xs = placeholder<"xs", float, 400, 16>();
  const auto h0 = placeholder<"h0", float, 16>();
  const auto step = [](auto h, auto x) { return tanh(h * x); };
  const auto [all] = gradients(reduce_sum(fold(step, h0, xs)), h0);
  const auto [few] = gradients(reduce_sum(fold(checkpoint_every<20>, step, h0, xs)), h0);
  session s{all, few};
  auto values = xt::xtensor<float, 2>::from_shape({400, 16});
  values.fill(0.99f);
  const std::vector<float> start(16, 1.0f);
  const auto [a] = s.run(fetch(all), xs = values, h0 = start);
  const auto [f] = s.run(fetch(few), xs = values, h0 = start);
  for (std::size_t i = 0; i < 16; ++i) CHECK(a(i) == doctest::Approx(f(i)));
  CHECK(s.arena_bytes(fetch(all)) >= 400 * 16 * 4);
  CHECK(s.arena_bytes(fetch(few)) < 60 * 16 * 4);
}
