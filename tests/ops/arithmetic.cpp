#include <leat/ops/arithmetic.hpp>

#include "support/check.hpp"
#include "support/interpreted_session.hpp"

#include <cstdint>
#include <limits>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

namespace {

// How the second operand lies beside the first, [rows, columns].
struct whole {
  static constexpr std::size_t index(std::size_t i, std::size_t, std::size_t) { return i; }
};
struct one_row {
  static constexpr std::size_t index(std::size_t i, std::size_t, std::size_t columns) { return i % columns; }
};
struct one_column {
  static constexpr std::size_t index(std::size_t i, std::size_t, std::size_t columns) { return i / columns; }
};
struct one_number {
  static constexpr std::size_t index(std::size_t, std::size_t, std::size_t) { return 0; }
};

// Sums of `f(i)` over all elements of the whole for which the part's index is `p`.
template <class Layout, class F>
double summed(std::size_t p, std::size_t rows, std::size_t columns, F f) {
  double sum = 0;
  for (std::size_t i = 0; i < rows * columns; ++i)
    if (Layout::index(i, rows, columns) == p) sum += f(i);
  return sum;
}

// Values and gradients of the binary operators of a [rows, columns] and a part of that shape.
template <class Layout, class T, class A, class B>
void check_binary(const A& a, const B& b, std::size_t rows, std::size_t columns, xt::xtensor<T, 2> as, xt::xtensor<T, 2> bs) {
  const auto weight = placeholder<"weight", T, "rows", "columns">();
  const auto add = a + b;
  const auto subtract = b - a;
  const auto multiply = a * b;
  const auto divide = a / b;
  const auto larger = maximum(a, b);
  const auto smaller = minimum(b, a);
  const auto difference = squared_difference(a, b);
  const auto loss = weight * (a * b / (1_c + square(b)) - maximum(b, a) * 0.5_c + squared_difference(a, b) + minimum(a, b));
  const auto [da, db] = gradients(loss, a, b);
  session s{add, subtract, multiply, divide, larger, smaller, difference, da, db};
  const auto ws = filled<T, 2>({rows, columns}, -1, 1, 9);
  const auto [r0, r1, r2, r3, r4, r5, r6, das, dbs] =
      s.run(fetch(add, subtract, multiply, divide, larger, smaller, difference, da, db), a = as, b = bs, weight = ws);
  const auto x = [&](std::size_t i) { return static_cast<double>(as.data()[i]); };
  const auto y = [&](std::size_t i) { return static_cast<double>(bs.data()[Layout::index(i, rows, columns)]); };
  const auto w = [&](std::size_t i) { return static_cast<double>(ws.data()[i]); };
  const double tolerance = tolerance_of<T>;
  check_each("a + b", r0, tolerance, [&](std::size_t i) { return x(i) + y(i); });
  check_each("b - a", r1, tolerance, [&](std::size_t i) { return y(i) - x(i); });
  check_each("a b", r2, tolerance, [&](std::size_t i) { return x(i) * y(i); });
  check_each("a / b", r3, tolerance, [&](std::size_t i) { return x(i) / y(i); });
  check_each("maximum", r4, tolerance, [&](std::size_t i) { return std::max(x(i), y(i)); });
  check_each("minimum", r5, tolerance, [&](std::size_t i) { return std::min(x(i), y(i)); });
  check_each("squared difference", r6, tolerance, [&](std::size_t i) { return (x(i) - y(i)) * (x(i) - y(i)); });
  const auto f = [](double p, double q) {
    return p * q / (1 + q * q) - std::max(p, q) * 0.5 + (p - q) * (p - q) + std::min(p, q);
  };
  const double loose = std::is_same_v<T, float> ? 1e-4 : 1e-7;
  check_each("da", das, loose, [&](std::size_t i) { return w(i) * slope([&](double p) { return f(p, y(i)); }, x(i)); });
  check_each("db", dbs, loose, [&](std::size_t p) {
    return summed<Layout>(p, rows, columns, [&](std::size_t i) { return w(i) * slope([&](double q) { return f(x(i), q); }, y(i)); });
  });
}

constexpr std::array<std::array<std::size_t, 2>, 8> areas{{{0, 3}, {3, 0}, {1, 1}, {1, 16}, {16, 1}, {3, 15}, {5, 17}, {33, 33}}};

}  // namespace

TEST_CASE_TEMPLATE("arithmetic of two arrays of one shape", T, float, double) {
  const auto a = placeholder<"a", T, "rows", "columns">();
  const auto b = placeholder<"b", T, "rows", "columns">();
  for (const auto& [rows, columns] : areas)
    check_binary<whole, T>(a, b, rows, columns, filled<T, 2>({rows, columns}), filled<T, 2>({rows, columns}, 0.5, 2, 5));
}

TEST_CASE_TEMPLATE("arithmetic with a row for all", T, float, double) {
  const auto a = placeholder<"a", T, "rows", "columns">();
  const auto b = placeholder<"b", T, 1, "columns">();
  for (const auto& [rows, columns] : areas)
    check_binary<one_row, T>(a, b, rows, columns, filled<T, 2>({rows, columns}), filled<T, 2>({1, columns}, 0.5, 2, 5));
}

TEST_CASE_TEMPLATE("arithmetic with a column for all", T, float, double) {
  const auto a = placeholder<"a", T, "rows", "columns">();
  const auto b = placeholder<"b", T, "rows", 1>();
  for (const auto& [rows, columns] : areas)
    check_binary<one_column, T>(a, b, rows, columns, filled<T, 2>({rows, columns}), filled<T, 2>({rows, 1}, 0.5, 2, 5));
}

TEST_CASE_TEMPLATE("arithmetic with one number in an array for all", T, float, double) {
  const auto a = placeholder<"a", T, "rows", "columns">();
  const auto b = placeholder<"b", T, 1, 1>();
  for (const auto& [rows, columns] : areas)
    check_binary<one_number, T>(a, b, rows, columns, filled<T, 2>({rows, columns}), filled<T, 2>({1, 1}, 0.5, 2, 5));
}

TEST_CASE("a row and a column meet, over more than two dimensions") {
  const auto a = placeholder<"a", double, 3, 1, 5>();
  const auto b = placeholder<"b", double, 4, 1>();
  const auto y = a * b;
  const auto [da, db] = gradients(y, a, b);
  static_assert(std::is_same_v<decltype(y)::extents, dims<3, 4, 5>>);
  session s{y, da, db};
  const auto as = filled<double, 3>({3, 1, 5});
  const auto bs = filled<double, 2>({4, 1}, -1, 1, 4);
  const auto [ys, das, dbs] = s.run(fetch(y, da, db), a = as, b = bs);
  check_each("y", ys, 1e-14, [&](std::size_t i) { return as.data()[i / 20 * 5 + i % 5] * bs.data()[i / 5 % 4]; });
  const double all_b = bs(0, 0) + bs(1, 0) + bs(2, 0) + bs(3, 0);
  double all_a = 0;
  for (std::size_t i = 0; i < as.size(); ++i) all_a += as.data()[i];
  check_each("da", das, 1e-14, [&](std::size_t) { return all_b; });
  check_each("db", dbs, 1e-14, [&](std::size_t) { return all_a; });
}

TEST_CASE_TEMPLATE("arithmetic of one operand", T, float, double) {
  const auto x = placeholder<"x", T, "n">();
  const auto opposite = -x;
  const auto inverse = reciprocal(x);
  const auto squared = square(x);
  const auto size = abs(x);
  const auto signs = sign(x);
  const auto down = floor(x);
  const auto up = ceil(x);
  const auto nearest = round(x);
  const auto [slope_] = gradients(opposite + inverse * squared * x + size * x + signs, x);
  session s{opposite, inverse, squared, size, signs, down, up, nearest, slope_};
  for (const auto n : lengths) {
    auto xs = filled<T, 1>({n}, -4, 4);
    if (n > 8) {
      xs(1) = T(0.5);
      xs(2) = T(-2.5);
      xs(3) = T(1.5);
      xs(4) = T(-1);
    }
    const auto [r0, r1, r2, r3, r4, r5, r6, r7, r8] =
        s.run(fetch(opposite, inverse, squared, size, signs, down, up, nearest, slope_), x = xs);
    const auto v = [&](std::size_t i) { return static_cast<double>(xs(i)); };
    check_each("-x", r0, 0, [&](std::size_t i) { return -v(i); });
    check_each("1 / x", r1, tolerance_of<T>, [&](std::size_t i) { return 1 / v(i); });
    check_each("x²", r2, tolerance_of<T>, [&](std::size_t i) { return v(i) * v(i); });
    check_each("|x|", r3, 0, [&](std::size_t i) { return std::abs(v(i)); });
    check_each("sign", r4, 0, [&](std::size_t i) { return v(i) > 0 ? 1 : v(i) < 0 ? -1 : 0; });
    check_each("floor", r5, 0, [&](std::size_t i) { return std::floor(v(i)); });
    check_each("ceil", r6, 0, [&](std::size_t i) { return std::ceil(v(i)); });
    check_each("round", r7, 0, [&](std::size_t i) { return std::nearbyint(v(i)); });
    check_each("slope", r8, 10 * tolerance_of<T>, [&](std::size_t i) { return -1 + 2 * v(i) + 2 * std::abs(v(i)); });
  }
}

TEST_CASE_TEMPLATE("division of integers and remainders", T, std::int32_t, std::int64_t) {
  const auto a = placeholder<"a", T, "n">();
  const auto b = placeholder<"b", T, "n">();
  const auto c = a / b;
  const auto down = floor_divide(a, b);
  const auto m = floor_mod(a, b);
  const auto t = truncate_mod(a, b);
  const auto sum = a + b * 2_c - (-a) * square(b);
  session s{c, down, m, t, sum};
  for (const auto n : lengths) {
    const auto as = filled<T, 1>({n}, -50, 50);
    auto bs = filled<T, 1>({n}, -9, 9, 6);
    for (auto& v : bs)
      if (v == 0) v = 3;
    const auto [cs, downs, ms, ts, sums] = s.run(fetch(c, down, m, t, sum), a = as, b = bs);
    const auto floor_of = [&](std::size_t i) { return std::floor(static_cast<double>(as(i)) / static_cast<double>(bs(i))); };
    check_each("a / b", cs, 0, [&](std::size_t i) { return as(i) / bs(i); });
    check_each("floor_divide", downs, 0, floor_of);
    check_each("floor_mod", ms, 0, [&](std::size_t i) { return static_cast<double>(as(i)) - floor_of(i) * static_cast<double>(bs(i)); });
    check_each("truncate_mod", ts, 0, [&](std::size_t i) { return as(i) % bs(i); });
    check_each("sum", sums, 0, [&](std::size_t i) { return as(i) + bs(i) * 2 + as(i) * bs(i) * bs(i); });
  }
}

TEST_CASE("integers wrap, and their division traps nowhere") {
  const auto a = placeholder<"a", std::int32_t, 4>();
  const auto b = placeholder<"b", std::int32_t, 4>();
  const auto sum = a + b;
  const auto quotient = a / b;
  const auto product = a * b;
  session s{sum, quotient, product};
  constexpr std::int32_t low = std::numeric_limits<std::int32_t>::min();
  constexpr std::int32_t high = std::numeric_limits<std::int32_t>::max();
  const xt::xtensor<std::int32_t, 1> as{high, low, 7, low};
  const xt::xtensor<std::int32_t, 1> bs{1, -1, 3, 2};
  const auto [sums, quotients, products] = s.run(fetch(sum, quotient, product), a = as, b = bs);
  CHECK(sums == xt::xtensor<std::int32_t, 1>{low, high, 10, low + 2});
  CHECK(quotients == xt::xtensor<std::int32_t, 1>{high, low, 2, low / 2});
  CHECK(products == xt::xtensor<std::int32_t, 1>{high, low, 21, 0});
}

TEST_CASE("bytes wrap, too") {
  const auto a = placeholder<"a", std::uint8_t, "n">();
  const auto b = placeholder<"b", std::uint8_t, "n">();
  const auto sum = a + b;
  const auto product = a * b;
  const auto larger = maximum(a, b);
  const auto quotient = a / b;
  session s{sum, product, larger, quotient};
  for (const auto n : lengths) {
    const auto as = filled<std::uint8_t, 1>({n}, 0, 256);
    const auto bs = filled<std::uint8_t, 1>({n}, 1, 256, 3);
    const auto [sums, products, largers, quotients] = s.run(fetch(sum, product, larger, quotient), a = as, b = bs);
    check_each("sum", sums, 0, [&](std::size_t i) { return (as(i) + bs(i)) % 256; });
    check_each("product", products, 0, [&](std::size_t i) { return as(i) * bs(i) % 256; });
    check_each("larger", largers, 0, [&](std::size_t i) { return std::max(as(i), bs(i)); });
    check_each("quotient", quotients, 0, [&](std::size_t i) { return as(i) / bs(i); });
  }
}

TEST_CASE("floating-point remainders, their gradients, and numbers on either side") {
  const auto x = placeholder<"x", double, "n">();
  const auto y = placeholder<"y", double, "n">();
  const auto m = floor_mod(x, y);
  const auto q = floor_divide(x, y);
  const auto left = 3.0 - x;
  const auto right = x - 3.0;
  const auto under = 1 / y;
  const auto limited = maximum(minimum(x, 1.5), -1.5_c);
  const auto [dx, dy] = gradients(m, x, y);
  session s{m, q, left, right, under, limited, dx, dy};
  for (const auto n : lengths) {
    const auto xs = filled<double, 1>({n}, -5, 5);
    const auto ys = filled<double, 1>({n}, 0.5, 2, 4);
    const auto [ms, qs, lefts, rights, unders, limits, dxs, dys] = s.run(fetch(m, q, left, right, under, limited, dx, dy), x = xs, y = ys);
    check_each("floor_mod", ms, 1e-14, [&](std::size_t i) { return xs(i) - std::floor(xs(i) / ys(i)) * ys(i); });
    check_each("floor_divide", qs, 0, [&](std::size_t i) { return std::floor(xs(i) / ys(i)); });
    check_each("3 - x", lefts, 0, [&](std::size_t i) { return 3 - xs(i); });
    check_each("x - 3", rights, 0, [&](std::size_t i) { return xs(i) - 3; });
    check_each("1 / y", unders, 1e-15, [&](std::size_t i) { return 1 / ys(i); });
    check_each("limited", limits, 0, [&](std::size_t i) { return std::max(std::min(xs(i), 1.5), -1.5); });
    check_each("dx", dxs, 0, [&](std::size_t) { return 1; });
    check_each("dy", dys, 0, [&](std::size_t i) { return -std::floor(xs(i) / ys(i)); });
  }
}

TEST_CASE("a tie's gradient goes to the first operand, and |x| has none at 0") {
  const auto a = placeholder<"a", float, 3>();
  const auto b = placeholder<"b", float, 3>();
  const auto [da, db] = gradients(maximum(a, b), a, b);
  const auto [ea, eb] = gradients(minimum(a, b), a, b);
  const auto [fa] = gradients(abs(a), a);
  session s{da, db, ea, eb, fa};
  const auto [das, dbs, eas, ebs, fas] =
      s.run(fetch(da, db, ea, eb, fa), a = xt::xtensor<float, 1>{0, 1, 2}, b = xt::xtensor<float, 1>{0, 2, 1});
  CHECK(das == xt::xtensor<float, 1>{1, 0, 1});
  CHECK(dbs == xt::xtensor<float, 1>{0, 1, 0});
  CHECK(eas == xt::xtensor<float, 1>{1, 1, 0});
  CHECK(ebs == xt::xtensor<float, 1>{0, 0, 1});
  CHECK(fas == xt::xtensor<float, 1>{0, 1, 1});
}

TEST_CASE("scalars") {
  const auto a = placeholder<"a", double>();
  const auto b = placeholder<"b", double>();
  const auto y = a * b + a / b - 2.0 * a;
  const auto [da, db] = gradients(y, a, b);
  session s{y, da, db};
  const auto [v, dv, dw] = s.run(fetch(y, da, db), a = 3.0, b = 4.0);
  CHECK(v == doctest::Approx(12 + 0.75 - 6));
  CHECK(dv == doctest::Approx(4 + 0.25 - 2));
  CHECK(dw == doctest::Approx(3 - 3.0 / 16));
}

TEST_CASE_TEMPLATE("bits of integers; a shift by fewer or more bits than there are goes by the nearest number", T, std::int32_t, std::int64_t,
                   std::uint8_t) {
  const auto a = placeholder<"a", T, 2, "n">();
  const auto b = placeholder<"b", T, "n">();
  const auto both = bitwise_and(a, b);
  const auto any = bitwise_or(a, b);
  const auto one = bitwise_xor(a, b);
  const auto other = invert(a);
  const auto left = left_shift(a, b);
  const auto right = right_shift(a, b);
  const auto low = bitwise_and(T(3), a);
  session s{both, any, one, other, left, right, low};
  constexpr int bits = 8 * sizeof(T);
  for (const auto n : {std::size_t{0}, std::size_t{1}, std::size_t{19}}) {
    xt::xtensor<T, 2> as = xt::zeros<T>({std::size_t{2}, n});
    xt::xtensor<T, 1> bs = xt::zeros<T>({n});
    for (std::size_t i = 0; i < as.size(); ++i) as.data()[i] = static_cast<T>(0x9e3779b97f4a7c15U * (i + 1));
    for (std::size_t i = 0; i < n; ++i) bs(i) = static_cast<T>(i * 5 - 3);
    const auto [ands, ors, xors, nots, lefts, rights, lows] = s.run(fetch(both, any, one, other, left, right, low), a = as, b = bs);
    for (std::size_t i = 0; i < as.size(); ++i) {
      const T x = as.data()[i], y = bs(i % n);
      const int by = std::is_signed_v<T> && y < T(0) ? 0 : std::min(static_cast<int>(y), bits - 1);
      CHECK(ands.data()[i] == static_cast<T>(x & y));
      CHECK(ors.data()[i] == static_cast<T>(x | y));
      CHECK(xors.data()[i] == static_cast<T>(x ^ y));
      CHECK(nots.data()[i] == static_cast<T>(~x));
      CHECK(lefts.data()[i] == static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) << by));
      CHECK(rights.data()[i] == static_cast<T>(x >> by));
      CHECK(lows.data()[i] == static_cast<T>(x & 3));
    }
  }
}
