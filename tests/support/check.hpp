#pragma once
// What the tests of operators share: arrays filled with a fixed pattern, comparison within a tolerance, and derivatives by
// central differences. A tolerance is relative for values beyond 1 and absolute below.

#include <leat/leat.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

// xtensor before 0.25 has an xarray that is ambiguous to clang from 19 on.
#if defined(__clang__) && __clang_major__ >= 19 && XTENSOR_VERSION_MAJOR == 0 && XTENSOR_VERSION_MINOR < 25
#define LEAT_TEST_XARRAY 0
#else
#define LEAT_TEST_XARRAY 1
#endif

namespace leat_test {

/// Lengths around those of SIMD batches, and none at all.
inline constexpr std::size_t lengths[]{0, 1, 2, 7, 8, 15, 16, 17, 33, 1000};

/// A number that looks irregular, in [low, high), the same on every run.
inline double pattern(std::size_t i, double low, double high, std::size_t salt = 0) {
  auto h = leat::mix(i + 1, salt + 77);
  return low + (high - low) * static_cast<double>(h >> 11) / 9007199254740992.0;
}

/// An array of such numbers; of integers the whole ones below them, of bool some of each.
template <class T, std::size_t Rank>
xt::xtensor<T, Rank> filled(const std::array<std::size_t, Rank>& shape, double low = -1, double high = 1, std::size_t salt = 0) {
  auto a = xt::xtensor<T, Rank>::from_shape(shape);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double v = pattern(i, low, high, salt);
    if constexpr (std::is_same_v<T, bool>)
      a.data()[i] = v > (low + high) / 2;
    else if constexpr (std::is_integral_v<T>)
      a.data()[i] = static_cast<T>(static_cast<std::int64_t>(std::floor(v)));
    else
      a.data()[i] = static_cast<T>(v);
  }
  return a;
}

inline bool close(double got, double expected, double tolerance) {
  if (std::isnan(expected)) return std::isnan(got);
  if (std::isinf(expected)) return got == expected;
  return std::abs(got - expected) <= tolerance * std::max(1.0, std::abs(expected));
}

/// Elements of an array or a number, as doubles.
template <class A>
double element(const A& a, std::size_t i) {
  if constexpr (std::is_arithmetic_v<A>)
    return static_cast<double>(a);
  else
    return static_cast<double>(a.data()[i]);
}
template <class A>
std::size_t elements(const A& a) {
  if constexpr (std::is_arithmetic_v<A>)
    return 1;
  else
    return a.size();
}

// What is told of a difference, compiled once for all types of arrays.
[[gnu::noinline]] inline void tell_difference(const std::string& what, std::size_t i, std::size_t count, double got, double wanted) {
  CAPTURE(what);
  CAPTURE(i);
  CAPTURE(count);
  CAPTURE(got);
  CAPTURE(wanted);
  FAIL_CHECK("an element differs");
}
[[gnu::noinline]] inline void check_counts(const std::string& what, std::size_t got, std::size_t expected) {
  CAPTURE(what);
  REQUIRE(got == expected);
}

/// Checks `got` against `expected(i)`, element by element; tells the first that differs.
template <class A, class F>
void check_each(const std::string& what, const A& got, double tolerance, F expected) {
  for (std::size_t i = 0; i < elements(got); ++i) {
    const double wanted = static_cast<double>(expected(i));
    if (close(element(got, i), wanted, tolerance)) continue;
    tell_difference(what, i, elements(got), element(got, i), wanted);
    return;
  }
  CHECK(true);
}

/// Checks two arrays of one size.
template <class A, class B>
void check_close(const std::string& what, const A& got, const B& expected, double tolerance) {
  check_counts(what, elements(got), elements(expected));
  check_each(what, got, tolerance, [&](std::size_t i) { return element(expected, i); });
}

/// The derivative of a plain function.
template <class F>
double slope(F f, double x, double h = 1e-6) {
  return (f(x + h) - f(x - h)) / (2 * h);
}

/// The derivatives of `loss(x)`, a number, for each element of the array.
template <class A, class F>
A slopes(A x, F loss, double h = 1e-6) {
  A result = x;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto kept = x.data()[i];
    x.data()[i] = kept + h;
    const double above = loss(std::as_const(x));
    x.data()[i] = kept - h;
    const double below = loss(std::as_const(x));
    x.data()[i] = kept;
    result.data()[i] = (above - below) / (2 * h);
  }
  return result;
}

template <class T>
inline constexpr double tolerance_of = std::is_same_v<T, float> ? 2e-6 : 1e-13;

}  // namespace leat_test
