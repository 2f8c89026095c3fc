#include <leat/io/short_decimal.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <charconv>
#include <cstdio>
#include <random>
#include <string>

using namespace leat;

namespace {

template <class T>
using bits_of = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

// What is taken has from_chars's value and end; whether it is taken.
template <class T>
bool is_taken_as_from_chars_does(const std::string& text) {
  T value = -1, expected = -1;
  const char* const behind = io::read_short_decimal(text.c_str(), value);
  if (behind == nullptr) {
    CHECK(value == -1);
    return false;
  }
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), expected);
  CHECK_MESSAGE(problem == std::errc{}, text);
  CHECK_MESSAGE(behind == end, text);
  CHECK_MESSAGE(std::bit_cast<bits_of<T>>(value) == std::bit_cast<bits_of<T>>(expected), text);
  return true;
}

}  // namespace

TEST_CASE_TEMPLATE("numbers of few digits are those of from_chars", T, float, double) {
  for (const char* text : {"0", "-0", "7", "-7", "12.5", "-12.5,3", ".25", "-.25", "5.", "-5.\n", "0.000001", "00012.50", "16777216", "0.1",
                           "0.3,", "9.999999", "1-2", "3 4", "1.5.5"})
    CHECK_MESSAGE(is_taken_as_from_chars_does<T>(text), text);
  std::mt19937_64 random(1);
  int taken = 0;
  for (int k = 0; k < 200000; ++k) {
    char text[64];
    const int digits = static_cast<int>(random() % 9);
    std::snprintf(text, sizeof text, "%.*f", digits, static_cast<double>(static_cast<std::int64_t>(random() >> (random() % 64))) / 1e9);
    taken += is_taken_as_from_chars_does<T>(text);
  }
  CHECK(taken > 20000);
}

TEST_CASE_TEMPLATE("anything else is for from_chars", T, float, double) {
  for (const char* text : {"", "-", ".", "-.", "+1", " 1", "x", "nan", "inf", "1e5", "1E5", "1.5e-3", "--1", ",", "12345678901234567890",
                           "18446744073709551617", "0.1234567890123456789", "36893488147419103233"})
    CHECK_FALSE_MESSAGE(is_taken_as_from_chars_does<T>(text), text);
  // The first whole numbers that are not exact.
  CHECK_FALSE(is_taken_as_from_chars_does<float>("16777217"));
  CHECK(is_taken_as_from_chars_does<double>("16777217"));
  CHECK_FALSE(is_taken_as_from_chars_does<double>("9007199254740993"));
  CHECK_FALSE(is_taken_as_from_chars_does<float>("0.00000000001"));  // 10^11 is not exact in float32
  CHECK(is_taken_as_from_chars_does<float>("0.0000000001"));
}
