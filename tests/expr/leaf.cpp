#include <leat/expr/leaf.hpp>

#include "support/check.hpp"
#include "support/messages.hpp"

#include <bit>
#include <cstdint>
#include <limits>
#include <string>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

namespace {

// One place in the program that writes a number.
template <class X>
auto scaled(const X& x, float factor) {
  return x * factor;
}

}  // namespace

TEST_CASE("leaves are what they are called") {
  const auto x = placeholder<"x", float, "batch", 10>();
  static_assert(std::is_empty_v<decltype(x)>);
  static_assert(decltype(x)::rank == 2 && decltype(x)::type == dtype::float32);
  static_assert(is_named(decltype(x)::extent[0]) && decltype(x)::extent[1] == 10);
  static_assert(std::is_same_v<decltype(x), const decltype(placeholder<"x", float, "batch", 10>())>);
  static_assert(!std::is_same_v<decltype(x), const decltype(placeholder<"x", float, "rows", 10>())>);
  static_assert(!std::is_same_v<decltype(x), const decltype(placeholder<"y", float, "batch", 10>())>);
  static_assert(!std::is_same_v<decltype(variable<"w", float, 2>(zeros)), decltype(variable<"w", float, 2>(ones))>);
  static_assert(!std::is_same_v<decltype(variable<"w", float, 2>(zeros)), decltype(untrainable_variable<"w", float, 2>(zeros))>);
  static_assert(std::is_same_v<decltype(1.5_c), decltype(15e-1_c)>);
  static_assert(decltype(-(0.25_c))::value == -0.25);
  static_assert(decltype(1'000_c)::value == 1000);
}

TEST_CASE("two numbers in one expression stay two; one expression with its number may be used twice") {
  const auto x = placeholder<"x", double, 3>();
  const auto y = 2.0 * x + 3.0 * x;
  const auto half = 0.5 * x;
  const auto z = half * half + half;
  const auto n = x * 2 - 7;
  const double measured = std::sqrt(2.0);
  const auto m = measured * x + measured;
  session s{y, z, n, m};
  const xt::xtensor<double, 1> xs{1, 2, 3};
  const auto [ys, zs, ns, ms] = s.run(fetch(y, z, n, m), x = xs);
  check_each("y", ys, 0, [&](std::size_t i) { return 5 * xs(i); });
  check_each("z", zs, 0, [&](std::size_t i) { return 0.25 * xs(i) * xs(i) + 0.5 * xs(i); });
  check_each("n", ns, 0, [&](std::size_t i) { return 2 * xs(i) - 7; });
  check_each("m", ms, 1e-15, [&](std::size_t i) { return measured * xs(i) + measured; });
}

TEST_CASE("one place that ran with two values: apart they are right, together an error") {
  const auto x = placeholder<"x", float, 2>();
  const auto twice = scaled(x, 2.0f);
  const auto thrice = scaled(x, 3.0f);
  const xt::xtensor<float, 1> xs{1, 10};
  session first{twice};
  session second{thrice};
  CHECK(std::get<0>(first.run(fetch(twice), x = xs)) == xt::xtensor<float, 1>{2, 20});
  CHECK(std::get<0>(second.run(fetch(thrice), x = xs)) == xt::xtensor<float, 1>{3, 30});
  CHECK_THROWS_AS(static_cast<void>(twice + thrice), invalid_argument);
  CHECK_THROWS_AS((session{twice, thrice}), invalid_argument);
  // the same value from there is the same number
  const auto again = scaled(x, 2.0f);
  const auto sum = twice + again;
  session third{sum};
  CHECK(std::get<0>(third.run(fetch(sum), x = xs)) == xt::xtensor<float, 1>{4, 40});
}

TEST_CASE("one place, instantiated for two dtypes, is two numbers") {
  const auto x = placeholder<"x", float>();
  const auto y = placeholder<"y", double>();
  const auto both = cast<double>(scaled(x, 2.0f)) + scaled(y, 3.0f);
  session s{both};
  CHECK(std::get<0>(s.run(fetch(both), x = 1.0f, y = 1.0)) == 5);
}

TEST_CASE("numbers take the dtype of the expression beside them, if they fit") {
  const auto i = placeholder<"i", std::int32_t>();
  const auto u = placeholder<"u", std::uint8_t>();
  static_assert(std::is_same_v<decltype(i * 2)::element, std::int32_t>);
  static_assert(std::is_same_v<decltype(2_c * u)::element, std::uint8_t>);
  CHECK_THROWS_AS(static_cast<void>(u + 300), invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(u + -1), invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(i + 5'000'000'000), invalid_argument);
  CHECK_NOTHROW(static_cast<void>(u + 255));
}

TEST_CASE("models that templates build, with names made of scopes") {
  const auto layer = []<fixed_string Scope>(const auto& x) {
    const auto kernel = variable<Scope / "kernel", float, 3, 3>(ones);
    const auto bias = variable<Scope / "bias", float, 3>(zeros);
    return matmul(x, kernel) + bias;
  };
  const auto x = placeholder<"x", float, 1, 3>();
  const auto y = layer.template operator()<"second">(layer.template operator()<"first">(x));
  session s{y};
  CHECK(s.uninitialized() == std::vector<std::string>{"first/kernel", "first/bias", "second/kernel", "second/bias"});
  s.initialize();
  CHECK(std::get<0>(s.run(fetch(y), x = xt::xtensor<float, 2>({1, 3}, 1.0f)))(0, 2) == 9);
}

TEST_CASE("a dtype takes integers that it represents exactly, and fractions that stay finite") {
  using detail::fits;
  static_assert(fits<float>(16777216) && !fits<float>(16777217) && fits<float>(16777218));
  static_assert(fits<double>(std::int64_t{1} << 53) && !fits<double>((std::int64_t{1} << 53) + 1));
  static_assert(fits<double>(std::numeric_limits<std::int64_t>::min()) && !fits<double>(std::numeric_limits<std::int64_t>::max()));
  static_assert(fits<std::uint8_t>(255) && !fits<std::uint8_t>(256) && !fits<std::uint8_t>(-1));
  static_assert(fits<std::int32_t>(2147483647u) && !fits<std::int32_t>(2147483648u));
  static_assert(fits<std::int64_t>(-0x1p63) && !fits<std::int64_t>(0x1p63) && !fits<std::int64_t>(0.5));
  static_assert(fits<bool>(1) && fits<bool>(0.0) && !fits<bool>(2));
  static_assert(fits<float>(0.1) && fits<float>(0x1.fffffefp127) && !fits<float>(0x1.ffffffp127));
  constexpr double infinity = std::numeric_limits<double>::infinity();
  static_assert(fits<float>(infinity) && fits<float>(-infinity) && !fits<std::int32_t>(infinity));
  CHECK(fits<float>(std::numeric_limits<double>::quiet_NaN()));
  CHECK(fits(dtype::uint8, 255));
  CHECK(!fits(dtype::uint8, 256));
  CHECK(detail::number_bits<float>(0.1) == std::bit_cast<std::uint64_t>(static_cast<double>(0.1f)));
  CHECK(detail::number_bits<std::int32_t>(-1) == ~std::uint64_t{0});
  CHECK(says(message_of<invalid_argument>([] { detail::checked_number<float>("feed of \"rate\": ", 1e300); }),
             "feed of \"rate\": the number 1e+300 does not fit the dtype float32"));
}
