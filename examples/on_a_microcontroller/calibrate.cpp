// A microcontroller learns the calibration of its sensor: the true value is a line of what it measures and of its temperature. Each batch
// of 8 pairs with a reference improves the line by a step of Adam, on the controller, without a heap.

#include "board.hpp"

#include <leat/static.hpp>

#include <array>

using namespace leat;

namespace {

void print_thousandths(float value) {
  const auto n = static_cast<std::int32_t>(value * 1000.0f + (value < 0 ? -0.5f : 0.5f));
  if (n < 0) print("-");
  print(static_cast<std::uint32_t>(n < 0 ? -n : n) / 1000);
  print(".");
  print(static_cast<std::uint32_t>(n < 0 ? -n : n) % 1000, 10, 3);
}

// A measurement in [0, 1), as an analog-to-digital converter would give it.
float next_sample() {
  static std::uint32_t state = 1;
  state = state * 1664525u + 1013904223u;
  return static_cast<float>(state >> 8) / 16777216.0f;
}

}  // namespace

int main() {
  auto sample = placeholder<"sample", float, 8, 2>();  // measured value, temperature
  auto reference = placeholder<"reference", float, 8>();
  auto line = variable<"line", float, 2, 1>(zeros);
  auto offset = variable<"offset", float>(0.0f);
  auto calibrated = squeeze<1>(matmul(sample, line)) + offset;
  auto loss = reduce_mean(square(calibrated - reference));
  auto learn = adam(0.05f).minimize(loss);

  static static_session s{fetch(loss, learn)};
  static_assert(step_memory<decltype(fetch(loss, learn))> < 512);
  if (s.initialize() != status::ok) return 1;

  float error = 0;
  std::uint32_t instructions = 0;
  for (int batch = 0; batch < 400; ++batch) {
    std::array<float, 16> samples{};
    std::array<float, 8> references{};
    for (std::size_t i = 0; i < 8; ++i) {
      samples[2 * i] = next_sample();
      samples[2 * i + 1] = next_sample();
      references[i] = 2.5f * samples[2 * i] - 0.75f * samples[2 * i + 1] + 0.125f;
    }
    const std::uint32_t before = instructions_now();
    if (s.run(fetch(into(loss, error), learn), sample = samples, reference = references) != status::ok) return 1;
    instructions = instructions_now() - before;
  }
  print("line ");
  print_thousandths(s.value(line)[0]);
  print(" ");
  print_thousandths(s.value(line)[1]);
  print(", offset ");
  print_thousandths(s.value(offset));
  print("\n");
  print(static_cast<std::uint32_t>(sizeof s));
  print(" bytes of memory, ");
  print(instructions);
  print(" instructions for a step\n");
  return error < 1e-4f ? 0 : 1;
}
