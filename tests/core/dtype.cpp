#include <leat/core/dtype.hpp>

#include <doctest/doctest.h>

#include <string_view>

using namespace leat;

static_assert(dtype_of<float> == dtype::float32 && dtype_of<double> == dtype::float64 && dtype_of<bool> == dtype::boolean);
static_assert(dtype_of<std::int32_t> == dtype::int32 && dtype_of<std::int64_t> == dtype::int64 && dtype_of<std::uint8_t> == dtype::uint8);
static_assert(dtype_of<long long> == dtype::int64);
static_assert(dtype_of<short> == dtype::invalid && dtype_of<float&> == dtype::invalid && dtype_of<void> == dtype::invalid);
static_assert(element_type<float> && !element_type<short> && !element_type<const float>);

// The numbers of TensorFlow's types.proto.
static_assert(static_cast<int>(dtype::float32) == 1 && static_cast<int>(dtype::float64) == 2 && static_cast<int>(dtype::int32) == 3);
static_assert(static_cast<int>(dtype::uint8) == 4 && static_cast<int>(dtype::int64) == 9 && static_cast<int>(dtype::boolean) == 10);

TEST_CASE_TEMPLATE("names, sizes and kinds agree with the element type", T, float, double, std::int32_t, std::int64_t, std::uint8_t, bool) {
  constexpr dtype d = dtype_of<T>;
  static_assert(std::is_same_v<element_of<d>, T>);
  CHECK(size_of(d) == static_cast<int>(sizeof(T)));
  CHECK(is_floating(d) == std::is_floating_point_v<T>);
  CHECK(is_number(d) == !std::is_same_v<T, bool>);
  CHECK(is_integer(d) == (std::is_integral_v<T> && !std::is_same_v<T, bool>));
  CHECK(name_of_dtype(d) != "invalid");
}

TEST_CASE("what is no dtype has no size") {
  CHECK(size_of(dtype::invalid) == 0);
  CHECK(name_of_dtype(dtype::boolean) == "bool");
}
