#include <leat/core/summary_text.hpp>

#include <doctest/doctest.h>

#include <cstdint>

using namespace leat;

TEST_CASE("the first elements of arrays of any dtype and shape") {
  const float f[]{1, 2.5f, -1e10f, 4};
  const auto text = [&](const shape& extent, std::int64_t most) {
    return summary_text(extent, most, [&](std::int64_t i) { return element_text(dtype::float32, f, i); });
  };
  CHECK(text({1, {4}}, 3) == "[1 2.5 -1e+10...]");
  CHECK(text({1, {4}}, -1) == "[1 2.5 -1e+10 4]");
  CHECK(text({2, {2, 2}}, 9) == "[[1 2.5][-1e+10 4]]");
  CHECK(text({2, {2, 2}}, 2) == "[[1 2.5...]");
  CHECK(text({1, {4}}, 0) == "[]");
  CHECK(text({1, {0}}, 3) == "[]");
  CHECK(text({}, 3) == "1");
  const double d[]{0.1};
  const std::int32_t i[]{-3};
  const std::int64_t l[]{1LL << 40};
  const std::uint8_t b[]{200};
  const bool t[]{true};
  CHECK(element_text(dtype::float64, d, 0) == "0.1");
  CHECK(element_text(dtype::int32, i, 0) == "-3");
  CHECK(element_text(dtype::int64, l, 0) == "1099511627776");
  CHECK(element_text(dtype::uint8, b, 0) == "200");
  CHECK(element_text(dtype::boolean, t, 0) == "1");
}
