#include <leat/cpu/float_mode.hpp>

#include <doctest/doctest.h>

#include <cfenv>
#include <limits>

using namespace leat::cpu;

namespace {

// Half of the least normal number: denormal unless flushed.
float halve_least() {
  volatile float least = std::numeric_limits<float>::min();
  return least * 0.5f;
}

// A denormal operand: zero if operands are flushed.
float double_denormal() {
  volatile float denormal = std::numeric_limits<float>::denorm_min();
  return denormal * 1e30f;
}

}  // namespace

#if defined(__SSE2__) || defined(__aarch64__)
TEST_CASE("denormals are flushed in a scope, and not after it") {
  REQUIRE(halve_least() > 0.0f);
  {
    const flush_denormals flush;
    CHECK(halve_least() == 0.0f);
    CHECK(double_denormal() == 0.0f);
    {
      const flush_denormals again;
      CHECK(halve_least() == 0.0f);
    }
    CHECK(halve_least() == 0.0f);
  }
  CHECK(halve_least() > 0.0f);
  CHECK(double_denormal() > 0.0f);
}
#endif

TEST_CASE("the caller's mode comes back whatever it was") {
  const float_mode before = float_mode::current();
  float_mode::flushing().apply();
  {
    const scoped_float_mode scope(before);
    CHECK(float_mode::current() == before);
  }
  CHECK(float_mode::current() == float_mode::flushing());
  before.apply();
  CHECK(float_mode::current() == before);
}

TEST_CASE("rounding mode and exception flags are left alone") {
  REQUIRE(std::fesetround(FE_UPWARD) == 0);
  {
    const flush_denormals flush;
    CHECK(std::fegetround() == FE_UPWARD);
    std::feclearexcept(FE_ALL_EXCEPT);
    std::feraiseexcept(FE_DIVBYZERO);
  }
  CHECK(std::fetestexcept(FE_DIVBYZERO) != 0);
  CHECK(std::fegetround() == FE_UPWARD);
  std::feclearexcept(FE_ALL_EXCEPT);
  std::fesetround(FE_TONEAREST);
}
