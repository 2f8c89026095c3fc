#pragma once
// Arrays written in generated tests, and their comparison with what a session gave: the same shape, NaN where NaN is
// expected, infinities equal, and every other element within tolerance * (1 + |expected|).

#include <leat/leat.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>

namespace leat::reference {

template <class T, std::size_t Rank>
xt::xtensor<T, Rank> tensor(const std::array<std::size_t, Rank>& shape, std::initializer_list<T> data) {
  auto result = xt::xtensor<T, Rank>::from_shape(shape);
  std::copy(data.begin(), data.end(), result.begin());
  return result;
}

template <class T>
bool close(T got, T expected, double tolerance) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) && std::isnan(got);
    if (got == expected) return true;
    return std::abs(static_cast<double>(got) - static_cast<double>(expected)) <=
           tolerance * (1 + std::abs(static_cast<double>(expected)));
  } else {
    return got == expected;
  }
}

template <class T>
  requires std::is_arithmetic_v<T>
void compare(const std::string& what, T got, T expected, double tolerance) {
  INFO(what, ": got ", got, ", TensorFlow gives ", expected);
  CHECK(close(got, expected, tolerance));
}

template <class T, std::size_t Rank>
void compare(const std::string& what, const xt::xtensor<T, Rank>& got, const xt::xtensor<T, Rank>& expected,
             double tolerance) {
  INFO(what);
  REQUIRE(got.shape() == expected.shape());
  std::ostringstream differences;
  differences.precision(std::numeric_limits<T>::max_digits10);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const T is = *(got.begin() + static_cast<std::ptrdiff_t>(i));
    const T should_be = *(expected.begin() + static_cast<std::ptrdiff_t>(i));
    if (!close(is, should_be, tolerance))
      differences << "element " << i << " is " << +is << ", TensorFlow gives " << +should_be << "; ";
  }
  CHECK(differences.str() == "");
}

}  // namespace leat::reference
