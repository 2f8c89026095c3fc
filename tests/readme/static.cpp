// Static sessions: what docs/static.md shows.

// [listing static_includes]
#include <leat/static.hpp>

#include <array>
#include <cstdio>
#include <span>
// [end]

using namespace leat;

namespace {

constexpr std::array<float, 32> samples{0.0f,   0.5f,   0.25f,  0.125f, 0.5f,  0.75f, 0.875f, 0.25f, 0.125f, 0.0f,  0.625f,
                                        0.375f, 0.75f,  0.5f,   1.0f,   0.0f,  0.25f, 0.25f,  0.5f,  1.0f,   0.0f,  0.125f,
                                        0.375f, 0.625f, 0.875f, 0.75f,  0.25f, 0.0f,  0.5f,   0.5f,  0.125f, 0.875f};

bool training() {
  // [listing static_session]
  auto x = placeholder<"x", float, 16, 2>();
  auto y = placeholder<"y", float, 16>();
  auto w = variable<"w", float, 2, 1>(zeros);
  auto b = variable<"b", float>(0.0f);
  auto prediction = squeeze<1>(matmul(x, w)) + b;
  auto loss = reduce_mean(square(prediction - y));
  auto train = adam(0.05f).minimize(loss);

  static static_session s{fetch(loss, train), fetch(prediction)};
  static_assert(step_memory<decltype(fetch(loss, train)), decltype(fetch(prediction))> < 1024);
  if (s.initialize() != status::ok) return false;

  std::array<float, 16> truth{};
  for (std::size_t i = 0; i < 16; ++i) truth[i] = 2 * samples[2 * i] - samples[2 * i + 1] + 0.5f;
  float value = 0;
  for (int i = 0; i < 500; ++i)
    if (s.run(fetch(into(loss, value), train), x = samples, y = truth) != status::ok) return false;
  const std::span<const float, 2> weights = s.value(w);
  std::printf("%.3f %.3f, %.3f\n", static_cast<double>(weights[0]), static_cast<double>(weights[1]), static_cast<double>(s.value(b)));
  // [end]
  const bool learned = value < 1e-4f;

  // [listing static_errors]
  std::array<float, 16> predicted{};
  const std::span<const float> too_few(samples.data(), 30);
  const status refused = s.run(fetch(into(prediction, predicted)), x = too_few);
  const status done = s.run(fetch(into(prediction, predicted)), x = samples);
  // [end]
  return learned && refused == status::invalid_argument && done == status::ok;
}

bool filtering() {
  // [listing static_filter]
  auto z = placeholder<"z", float>();
  auto f = untrainable_variable<"f", float, 2, 2>(identity_initializer());
  auto h = untrainable_variable<"h", float, 1, 2>(zeros);
  auto q = untrainable_variable<"q", float, 2, 2>(identity_initializer(0.01));
  auto state = untrainable_variable<"state", float, 2, 1>(zeros);
  auto p = untrainable_variable<"p", float, 2, 2>(identity_initializer(10));
  auto before = matmul(f, state);
  auto p_before = matmul<false, true>(matmul(f, p), f) + q;
  auto ph = matmul<false, true>(p_before, h);
  auto gain = ph / (matmul(h, ph) + 0.5f);
  auto update = group(assign(state, before + matmul(gain, z - matmul(h, before))), assign(p, p_before - matmul(gain, matmul(h, p_before))));

  static static_session s{fetch(update)};
  bool well = s.initialize() == status::ok;
  well = well && s.assign(f, std::array{1.0f, 0.1f, 0.0f, 1.0f}) == status::ok;  // position += 0.1 speed
  well = well && s.assign(h, std::array{1.0f, 0.0f}) == status::ok;              // the position is measured
  for (int i = 0; i < 100 && well; ++i) well = s.run(fetch(update), z = 0.3f * static_cast<float>(i)) == status::ok;
  std::printf("speed %.1f\n", static_cast<double>(s.value(state)[1]));
  // [end]
  return well && s.value(state)[1] > 2.9f && s.value(state)[1] < 3.1f;
}

}  // namespace

int main() { return training() && filtering() ? 0 : 1; }
