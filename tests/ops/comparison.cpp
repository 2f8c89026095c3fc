#include <leat/ops/comparison.hpp>

#include "support/check.hpp"
#include "support/interpreted_session.hpp"

#include <cstdint>
#include <limits>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

TEST_CASE_TEMPLATE("comparisons, of arrays and with a number", T, float, double, std::int32_t, std::int64_t, std::uint8_t) {
  const auto a = placeholder<"a", T, "n">();
  const auto b = placeholder<"b", T, "n">();
  session s{equal(a, b), not_equal(a, b), less(a, b), less_equal(a, b), greater(a, b), greater_equal(a, b), less(a, 3_c)};
  for (const auto n : lengths) {
    const auto as = filled<T, 1>({n}, 0, 6);
    auto bs = filled<T, 1>({n}, 0, 6, 5);
    for (std::size_t i = 0; i < n; i += 3) bs(i) = as(i);
    const auto [r0, r1, r2, r3, r4, r5, r6] =
        s.run(fetch(equal(a, b), not_equal(a, b), less(a, b), less_equal(a, b), greater(a, b), greater_equal(a, b), less(a, 3_c)), a = as,
              b = bs);
    check_each("=", r0, 0, [&](std::size_t i) { return as(i) == bs(i); });
    check_each("≠", r1, 0, [&](std::size_t i) { return as(i) != bs(i); });
    check_each("<", r2, 0, [&](std::size_t i) { return as(i) < bs(i); });
    check_each("≤", r3, 0, [&](std::size_t i) { return as(i) <= bs(i); });
    check_each(">", r4, 0, [&](std::size_t i) { return as(i) > bs(i); });
    check_each("≥", r5, 0, [&](std::size_t i) { return as(i) >= bs(i); });
    check_each("< 3", r6, 0, [&](std::size_t i) { return as(i) < T(3); });
  }
}

TEST_CASE_TEMPLATE("what is no number equals nothing, and the predicates know it", T, float, double) {
  const auto a = placeholder<"a", T, "n">();
  const auto b = placeholder<"b", T, "n">();
  session s{equal(a, b), not_equal(a, b), less(a, b), is_nan(a), is_inf(a), is_finite(a)};
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const T infinity = std::numeric_limits<T>::infinity();
  const T as[]{nan, 1, infinity, -infinity};
  const T bs[]{nan, nan, infinity, infinity};
  for (const auto n : {std::size_t{4}, std::size_t{67}}) {
    auto p = filled<T, 1>({n});
    auto q = p;
    for (std::size_t i = 0; i < n; ++i) {
      p(i) = as[i % 4];
      q(i) = bs[i % 4];
    }
    const auto [r0, r1, r2, r3, r4, r5] =
        s.run(fetch(equal(a, b), not_equal(a, b), less(a, b), is_nan(a), is_inf(a), is_finite(a)), a = p, b = q);
    check_each("equal", r0, 0, [](std::size_t i) { return i % 4 == 2; });
    check_each("not_equal", r1, 0, [](std::size_t i) { return i % 4 != 2; });
    check_each("less", r2, 0, [](std::size_t i) { return i % 4 == 3; });
    check_each("is_nan", r3, 0, [](std::size_t i) { return i % 4 == 0; });
    check_each("is_inf", r4, 0, [](std::size_t i) { return i % 4 >= 2; });
    check_each("is_finite", r5, 0, [](std::size_t i) { return i % 4 == 1; });
  }
}

TEST_CASE("logic") {
  const auto a = placeholder<"a", bool, "n">();
  const auto b = placeholder<"b", bool, "n">();
  const auto both = logical_and(a, b);
  const auto either = logical_or(a, b);
  const auto neither = logical_not(either);
  const auto same = equal(a, b);
  session s{both, either, neither, same};
  for (const auto n : lengths) {
    const auto as = filled<bool, 1>({n});
    const auto bs = filled<bool, 1>({n}, -1, 1, 4);
    const auto [r0, r1, r2, r3] = s.run(fetch(both, either, neither, same), a = as, b = bs);
    check_each("and", r0, 0, [&](std::size_t i) { return as(i) && bs(i); });
    check_each("or", r1, 0, [&](std::size_t i) { return as(i) || bs(i); });
    check_each("nor", r2, 0, [&](std::size_t i) { return !(as(i) || bs(i)); });
    check_each("same", r3, 0, [&](std::size_t i) { return as(i) == bs(i); });
  }
}

TEST_CASE_TEMPLATE("selection broadcasts all three, and sends the gradient where the value came from", T, float, double) {
  const auto c = placeholder<"c", bool, "rows", 1>();
  const auto a = placeholder<"a", T, "rows", "columns">();
  const auto b = placeholder<"b", T, "columns">();
  const auto y = select(c, a, b);
  const auto zero = select(greater(a, T(0)), a, 0_c);
  const auto [da, db] = gradients(y, a, b);
  session s{y, zero, da, db};
  const std::array<std::array<std::size_t, 2>, 4> sizes{{{1, 1}, {3, 17}, {16, 33}, {0, 4}}};
  for (const auto& [rows, columns] : sizes) {
    const auto cs = filled<bool, 2>({rows, 1});
    const auto as = filled<T, 2>({rows, columns});
    const auto bs = filled<T, 1>({columns}, -1, 1, 8);
    const std::size_t width = columns;
    const std::size_t height = rows;
    const auto [ys, zeroes, das, dbs] = s.run(fetch(y, zero, da, db), c = cs, a = as, b = bs);
    check_each("y", ys, 0, [&](std::size_t i) { return cs.data()[i / width] ? as.data()[i] : bs(i % width); });
    check_each("zero", zeroes, 0, [&](std::size_t i) { return std::max(as.data()[i], T(0)); });
    check_each("da", das, 0, [&](std::size_t i) { return cs.data()[i / width]; });
    check_each("db", dbs, 0, [&](std::size_t) {
      int n = 0;
      for (std::size_t r = 0; r < height; ++r) n += cs.data()[r] ? 0 : 1;
      return n;
    });
  }
}

TEST_CASE("selection of integers and of bool") {
  const auto c = placeholder<"c", bool, "n">();
  const auto a = placeholder<"a", std::int64_t, "n">();
  const auto b = placeholder<"b", std::uint8_t, "n">();
  const auto y = select(c, a, 7_c);
  const auto z = select(c, b, 3_c);
  session s{y, z};
  for (const auto n : lengths) {
    const auto cs = filled<bool, 1>({n});
    const auto as = filled<std::int64_t, 1>({n}, -100, 100);
    const auto bs = filled<std::uint8_t, 1>({n}, 0, 256);
    const auto [ys, zs] = s.run(fetch(y, z), c = cs, a = as, b = bs);
    check_each("y", ys, 0, [&](std::size_t i) { return cs(i) ? as(i) : 7; });
    check_each("z", zs, 0, [&](std::size_t i) { return cs(i) ? bs(i) : 3; });
  }
}

TEST_CASE_TEMPLATE("conversions", T, float, double, std::int32_t, std::int64_t, std::uint8_t, bool) {
  const auto x = placeholder<"x", T, "n">();
  const auto fetches = fetch(cast<float>(x) + 0_c, cast<double>(x) + 0_c, cast<std::int32_t>(x) + 0_c, cast<std::int64_t>(x) + 0_c,
                             cast<std::uint8_t>(x) + 0_c, logical_not(cast<bool>(x)));
  session s{cast<float>(x) + 0_c,        cast<double>(x) + 0_c,       cast<std::int32_t>(x) + 0_c,
            cast<std::int64_t>(x) + 0_c, cast<std::uint8_t>(x) + 0_c, logical_not(cast<bool>(x))};
  for (const auto n : lengths) {
    auto xs = filled<T, 1>({n}, 0, 120);
    for (std::size_t i = 0; i < n; i += 4) xs(i) = T(0);
    const auto [f, d, i32, i64, u8, b] = s.run(fetches, x = xs);
    check_each("float32", f, 0, [&](std::size_t i) { return static_cast<float>(xs(i)); });
    check_each("float64", d, 0, [&](std::size_t i) { return static_cast<double>(xs(i)); });
    check_each("int32", i32, 0, [&](std::size_t i) { return static_cast<std::int32_t>(xs(i)); });
    check_each("int64", i64, 0, [&](std::size_t i) { return static_cast<std::int64_t>(xs(i)); });
    check_each("uint8", u8, 0, [&](std::size_t i) { return static_cast<std::uint8_t>(xs(i)); });
    check_each("not bool", b, 0, [&](std::size_t i) { return xs(i) == T(0); });
  }
}

TEST_CASE("conversion rounds toward zero; between floating-point dtypes a gradient passes") {
  const auto x = placeholder<"x", float, 4>();
  const auto whole = cast<std::int32_t>(x);
  const auto y = square(cast<double>(x));
  const auto [dx] = gradients(y, x);
  static_assert(std::is_same_v<decltype(dx)::element, float>);
  session s{whole, y, dx};
  const auto [wholes, ys, dxs] = s.run(fetch(whole, y, dx), x = xt::xtensor<float, 1>{-1.9f, 1.9f, -0.5f, 7.0f});
  CHECK(wholes == xt::xtensor<std::int32_t, 1>{-1, 1, 0, 7});
  check_close("dx", dxs, xt::xtensor<float, 1>{-3.8f, 3.8f, -1.0f, 14.0f}, 1e-6);
  CHECK(ys(3) == 49.0);
}

TEST_CASE("clipping to an interval") {
  const auto x = placeholder<"x", double, "n">();
  const auto y = clip_by_value(x, -0.5, 0.25);
  const auto [dx] = gradients(y, x);
  session s{y, dx};
  for (const auto n : lengths) {
    const auto xs = filled<double, 1>({n});
    const auto [ys, dxs] = s.run(fetch(y, dx), x = xs);
    check_each("y", ys, 0, [&](std::size_t i) { return std::min(std::max(xs(i), -0.5), 0.25); });
    check_each("dx", dxs, 0, [&](std::size_t i) { return xs(i) > -0.5 && xs(i) < 0.25 ? 1 : 0; });
  }
}
