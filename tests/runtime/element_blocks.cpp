#include <leat/runtime/kernels/element_blocks.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <numeric>
#include <vector>

using namespace leat;

TEST_CASE_TEMPLATE("arrays of any length are combined element by element", T, std::uint8_t, std::int32_t, std::int64_t, float, double) {
  for (const std::size_t n : {0, 1, 31, 32, 63, 64, 65, 255, 256, 257, 1000}) {
    std::vector<T> to(n), from(n), twice(n);
    for (std::size_t i = 0; i < n; ++i) {
      to[i] = twice[i] = static_cast<T>(i % 100);
      from[i] = static_cast<T>(i % 7);
    }
    runtime::combine(to.data(), from.data(), static_cast<std::int64_t>(n), [](T a, T b) { return static_cast<T>(a - b + 8); });
    runtime::combine(twice.data(), twice.data(), static_cast<std::int64_t>(n), [](T a, T b) { return static_cast<T>(a + b); });
    for (std::size_t i = 0; i < n; ++i) {
      CHECK(to[i] == static_cast<T>(i % 100 + 8 - i % 7));
      CHECK(twice[i] == static_cast<T>(2 * (i % 100)));
    }
  }
}
