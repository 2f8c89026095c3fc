// Static sessions on any machine: three models that are trained or updated, and operators of other kinds. Compiled without exceptions and
// run-time type information; its object must not refer to the heap. The results are reported by their bits.

#include "platform.hpp"

#include <leat/static.hpp>

#include <array>
#include <span>

using namespace leat;

namespace {

// Numbers in [-1, 1) that depend on nothing but their index.
constexpr float some_number(std::uint32_t k) {
  std::uint32_t h = (k + 1) * 2654435769u;
  h ^= h >> 15;
  h *= 2246822519u;
  h ^= h >> 13;
  return static_cast<float>(static_cast<std::int32_t>(h >> 8) - (1 << 23)) / static_cast<float>(1 << 23);
}
template <std::size_t N>
constexpr std::array<float, N> some_numbers(std::uint32_t first) {
  std::array<float, N> all{};
  for (std::size_t i = 0; i < N; ++i) all[i] = some_number(first + static_cast<std::uint32_t>(i));
  return all;
}

template <class T>
std::uint32_t bits_of(const T* from, std::size_t count) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(from);
  std::uint32_t h = 2166136261u;
  for (std::size_t i = 0; i < count * sizeof(T); ++i) h = (h ^ bytes[i]) * 16777619u;
  return h;
}
template <class Values>
void say(const char* name, const Values& values) {
  say_bits(name, bits_of(values.data(), values.size()));
}
void say(const char* name, float value) { say_bits(name, bits_of(&value, 1)); }

int failures = 0;
void must(bool holds, const char* what) {
  if (holds) return;
  ++failures;
  say_bits(what, 0xbadbad);
}
void must(status result, const char* what) { must(result == status::ok, what); }

template <class Step>
void count(const char* name, Step step) {
  step();
  const std::uint32_t before = instructions_passed();
  step();
  const std::uint32_t after = instructions_passed();
  const std::uint32_t again = instructions_passed();
  say_own(name, after - before - (again - after));
}

[[gnu::noinline]] void linear_regression() {
  static const auto xs = some_numbers<160>(0);
  static const auto ys = some_numbers<16>(1000);
  auto x = placeholder<"x", float, 16, 10>();
  auto y = placeholder<"y", float, 16>();
  auto w = variable<"w", float, 10, 1>(zeros);
  auto b = variable<"b", float>(zeros);
  auto prediction = squeeze<1>(matmul(x, w)) + b;
  auto loss = reduce_mean(square(prediction - y));
  auto train = gradient_descent(0.1f).minimize(loss);

  static static_session s{fetch(loss, train), fetch(prediction)};
  static_assert(step_memory<decltype(fetch(loss, train)), decltype(fetch(prediction))> < 1024);
  float l = 0;
  must(s.run(fetch(into(loss, l), train), x = xs, y = ys) == status::failed_precondition, "a variable without a value");
  must(s.initialize(), "initialize");
  for (int i = 0; i < 20; ++i) must(s.run(fetch(into(loss, l), train), x = xs, y = ys), "run");
  std::array<float, 16> predicted{};
  must(s.run(fetch(into(prediction, predicted)), x = xs), "predict");
  must(s.run(fetch(into(prediction, predicted)), x = std::span<const float>(xs.data(), 159)) == status::invalid_argument, "a short feed");
  say("linear regression: loss", l);
  say("linear regression: w", s.value(w));
  say("linear regression: predictions", predicted);
  count("linear regression: instructions of a step", [&] { must(s.run(fetch(into(loss, l), train), x = xs, y = ys), "run"); });
  say_own("linear regression: bytes", sizeof s);
}

template <int N>
[[gnu::noinline]] void kalman_filter(const char* state_name, const char* count_name, const char* bytes_name) {
  auto z = placeholder<"z", float>();
  auto f = untrainable_variable<"f", float, N, N>(identity_initializer());
  auto q = untrainable_variable<"q", float, N, N>(identity_initializer(0.01));
  auto one = untrainable_variable<"one", float, N, N>(identity_initializer());
  auto h = untrainable_variable<"h", float, 1, N>(zeros);
  auto x = untrainable_variable<"x", float, N, 1>(zeros);
  auto p = untrainable_variable<"p", float, N, N>(identity_initializer(10));
  const auto x_before = matmul(f, x);
  const auto p_before = matmul<false, true>(matmul(f, p), f) + q;
  const auto ph = matmul<false, true>(p_before, h);
  const auto gain = ph / (matmul(h, ph) + 0.5f);
  auto update = group(assign(x, x_before + matmul(gain, z - matmul(h, x_before))), assign(p, matmul(one - matmul(gain, h), p_before)));

  static static_session s{fetch(update)};
  must(s.initialize(), "initialize");
  std::array<float, N * N> transition{};
  for (int i = 0; i < N; ++i) transition[static_cast<std::size_t>(i * N + i)] = 1;
  for (int i = 0; i + 1 < N; ++i) transition[static_cast<std::size_t>(i * N + i + 1)] = 0.125f;
  std::array<float, N> measured{1};
  must(s.assign(f, transition), "assign");
  must(s.assign(h, measured), "assign");
  for (std::uint32_t i = 0; i < 30; ++i) must(s.run(fetch(update), z = some_number(i)), "run");
  say(state_name, s.value(x));
  count(count_name, [&] { must(s.run(fetch(update), z = 0.5f), "run"); });
  say_own(bytes_name, sizeof s);
}

template <class Optimizer>
[[gnu::noinline]] void network(const char* loss_name, const char* count_name, const char* bytes_name, const Optimizer& optimizer) {
  static const auto xs = some_numbers<32>(5000);
  static constexpr std::array<std::int32_t, 4> labels{0, 3, 1, 2};
  auto x = placeholder<"x", float, 4, 8>();
  auto y = placeholder<"y", std::int32_t, 4>();
  auto w1 = variable<"w1", float, 8, 16>(zeros);
  auto b1 = variable<"b1", float, 16>(zeros);
  auto w2 = variable<"w2", float, 16, 4>(zeros);
  auto b2 = variable<"b2", float, 4>(zeros);
  auto logits = matmul(tanh(matmul(x, w1) + b1), w2) + b2;
  auto loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(y, logits));
  auto train = optimizer.minimize(loss);

  static static_session s{fetch(loss, train)};
  must(s.initialize(), "initialize");
  must(s.assign(w1, some_numbers<128>(7000)), "assign");
  must(s.assign(w2, some_numbers<64>(8000)), "assign");
  float l = 0;
  for (int i = 0; i < 20; ++i) must(s.run(fetch(into(loss, l), train), x = xs, y = labels), "run");
  say(loss_name, l);
  std::array<std::int32_t, 4> wrong = labels;
  wrong[2] = 4;
  must(s.run(fetch(into(loss, l), train), x = xs, y = wrong) == status::invalid_argument, "a label out of range");
  say(loss_name, s.value(w2));
  count(count_name, [&] { must(s.run(fetch(into(loss, l), train), x = xs, y = labels), "run"); });
  say_own(bytes_name, sizeof s);
}

// Kernels of whole arrays, dtypes of 64 bits, random numbers of a seed.
[[gnu::noinline]] void operators() {
  static const auto xs = some_numbers<48>(100);
  static constexpr std::array<std::int64_t, 6> wide{1ll << 40, -(1ll << 50), 7, 0, -1, 3};
  auto x = placeholder<"x", float, 4, 12>();
  auto n = placeholder<"n", std::int64_t, 2, 3>();
  auto rows = placeholder<"rows", std::int32_t, 3>();
  auto image = reshape<1, 4, 4, 3>(x);
  auto filter = constant<0.25f, 2, 2, 3, 2>();
  auto convolved = conv2d<1, padding::same>(image, filter);
  auto taken = gather(x, rows);
  auto summed = reduce_sum<0>(n * n) + n;
  auto joined_up = concat<1>(x, softmax(x), transpose(reshape<12, 4>(x)));
  auto [largest, places] = top_k<3>(x);
  auto seed = placeholder<"seed", std::int32_t, 2>();
  auto noise = stateless_random_uniform<float, 5>(seed);

  static static_session s{fetch(convolved, taken, joined_up, largest, places), fetch(summed), fetch(noise)};
  std::array<float, 32> c{};
  std::array<float, 36> t{};
  std::array<float, 144> j{};
  std::array<float, 12> top{};
  std::array<std::int32_t, 12> at{};
  std::array<std::int64_t, 6> sums{};
  std::array<std::int32_t, 3> which{3, 0, 1};
  const auto all = fetch(into(convolved, c), into(taken, t), into(joined_up, j), into(largest, top), into(places, at));
  must(s.run(all, x = xs, rows = which), "run");
  say("convolution", c);
  say("gather", t);
  say("concat, softmax, transpose", j);
  say("top_k", top);
  say("top_k: places", at);
  which[1] = -1;
  must(s.run(all, x = xs, rows = which) == status::invalid_argument, "a negative row");
  which[1] = 4;
  must(s.run(all, x = xs, rows = which) == status::invalid_argument, "a row too far");
  must(s.run(fetch(into(summed, sums)), n = wide), "run");
  say("integers of 64 bits", sums);
  std::array<float, 5> drawn{};
  must(s.run(fetch(into(noise, drawn)), seed = std::array<std::int32_t, 2>{3, 4}), "run");
  say("random numbers", drawn);
}

}  // namespace

extern "C" int run_static_steps(void) {
  linear_regression();
  kalman_filter<2>("Kalman filter, 2 states", "Kalman filter, 2 states: instructions of a step", "Kalman filter, 2 states: bytes");
  kalman_filter<4>("Kalman filter, 4 states", "Kalman filter, 4 states: instructions of a step", "Kalman filter, 4 states: bytes");
  network("network, gradient descent", "network, gradient descent: instructions of a step", "network, gradient descent: bytes",
          gradient_descent(0.1f));
  network("network, momentum", "network, momentum: instructions of a step", "network, momentum: bytes", momentum(0.1f, 0.9f));
  network("network, Adam", "network, Adam: instructions of a step", "network, Adam: bytes", adam(0.01f));
  operators();
  return failures;
}
