#include <leat/core/philox.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <set>

using namespace leat;

// The answers that the authors of Philox publish with it.
static_assert(philox4x32({{0, 0, 0, 0}}, 0, 0) == philox_block{{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}});
static_assert(philox4x32({{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}}, 0xffffffff, 0xffffffff) ==
              philox_block{{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}});
static_assert(philox4x32({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0) ==
              philox_block{{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}});

static_assert(uniform<float>(1, 0) != uniform<float>(2, 0));
static_assert(uniform<float>(1, 5) == uniform_in_block<float>(random_block(1, 1), 1));
static_assert(uniform<double>(1, 5) == uniform_in_block<double>(random_block(1, 2), 1));

TEST_CASE_TEMPLATE("uniform numbers lie in [0, 1) and spread evenly", T, float, double) {
  const int count = 100000;
  double sum = 0, squares = 0;
  int tenths[10] = {};
  for (int i = 0; i < count; ++i) {
    const T x = uniform<T>(42, static_cast<std::uint64_t>(i));
    REQUIRE(x >= T(0));
    REQUIRE(x < T(1));
    sum += x;
    squares += x * x;
    ++tenths[static_cast<int>(x * 10)];
  }
  CHECK(sum / count == doctest::Approx(0.5).epsilon(0.01));
  CHECK(squares / count == doctest::Approx(1.0 / 3).epsilon(0.01));
  for (const int each : tenths) CHECK(std::abs(each - count / 10) < 500);
}

TEST_CASE_TEMPLATE("normal numbers have mean 0 and deviation 1", T, float, double) {
  const int count = 100000;
  double sum = 0, squares = 0, fourth = 0;
  for (int i = 0; i < count; ++i) {
    const double x = normal<T>(7, static_cast<std::uint64_t>(i));
    REQUIRE(std::isfinite(x));
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
  }
  CHECK(std::fabs(sum / count) < 0.01);
  CHECK(squares / count == doctest::Approx(1.0).epsilon(0.02));
  CHECK(fourth / count == doctest::Approx(3.0).epsilon(0.05));
}

TEST_CASE("numbers depend on seed and index alone") {
  CHECK(normal<float>(3, 10) == normal<float>(3, 10));
  CHECK(normal<float>(3, 10) == normal_in_block<float>(random_block(3, 5)).first);
  CHECK(normal<float>(3, 11) == normal_in_block<float>(random_block(3, 5)).second);
  std::set<double> seen;
  for (std::uint64_t seed : {0ULL, 1ULL, 1ULL << 32, ~0ULL})
    for (std::uint64_t index : {0ULL, 1ULL, 1ULL << 33, ~0ULL}) seen.insert(uniform<double>(seed, index));
  CHECK(seen.size() == 16);
}
