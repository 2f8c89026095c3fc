#include <leat/cpu/float_mode.hpp>

#include <doctest/doctest.h>

#include <cfenv>
#include <initializer_list>
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

TEST_CASE("rounding mode and exception flags are afterwards what they were") {
  for (const int noted : {0, FE_INEXACT, FE_DIVBYZERO | FE_INEXACT}) {
    REQUIRE(std::fesetround(FE_UPWARD) == 0);
    std::feclearexcept(FE_ALL_EXCEPT);
    std::feraiseexcept(noted);
    {
      const flush_denormals flush;
      CHECK(std::fegetround() == FE_UPWARD);
    }
    CHECK(std::fetestexcept(FE_ALL_EXCEPT) == noted);
    CHECK(std::fegetround() == FE_UPWARD);
    std::feclearexcept(FE_ALL_EXCEPT);
    std::fesetround(FE_TONEAREST);
  }
}

#if defined(__SSE2__) || defined(__aarch64__)
TEST_CASE("a thread may treat denormals as zero for longer, and runs leave that alone") {
  const float_mode before = float_mode::current();
  {
    const leat::denormals_as_zero here;
    CHECK(halve_least() == 0.0f);
    {
      const leat::denormals_as_zero again;
      const flush_denormals run;
      CHECK(halve_least() == 0.0f);
    }
    CHECK(halve_least() == 0.0f);
  }
  CHECK(float_mode::current() == before);
  CHECK(halve_least() > 0.0f);
}
#endif
