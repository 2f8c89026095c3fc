// Parts of arrays, other orders, repetitions and ranges: values by hand, gradients, named dimensions, sizes of 0 and 1.

#include <leat/ops/splits.hpp>

#include "support/check.hpp"
#include "support/interpreted_session.hpp"

#include <cstdint>
#include <vector>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

TEST_CASE("split gives equal parts, split_sizes parts of given sizes") {
  const auto x = placeholder<"x", float, "batch", 6>();
  const auto [a, b, c] = split<1, 3>(x);
  const auto [first, rest, none] = split_sizes<-1, 1, -1, 0>(x);
  const auto [whole] = split<1, 1>(x);
  static_assert(decltype(a)::extent[1] == 2 && decltype(c)::extent[0] == decltype(x)::extent[0]);
  static_assert(decltype(first)::extent[1] == 1 && decltype(rest)::extent[1] == 5 && decltype(none)::extent[1] == 0);
  const auto product = a * b + c;
  const auto [slope] = gradients(reduce_sum(product) + 2_c * reduce_sum(rest), x);
  session s{product, first, rest, none, whole, slope};
  for (const std::size_t n : {0u, 1u, 3u}) {
    const auto xs = filled<float, 2>({n, 6});
    const auto [p, f, r, e, w, d] = s.run(fetch(product, first, rest, none, whole, slope), x = xs);
    check_each("product", p, 1e-6, [&](std::size_t i) { return xs(i / 2, i % 2) * xs(i / 2, 2 + i % 2) + xs(i / 2, 4 + i % 2); });
    check_each("first", f, 0, [&](std::size_t i) { return xs(i, 0); });
    check_each("rest", r, 0, [&](std::size_t i) { return xs(i / 5, 1 + i % 5); });
    CHECK(e.size() == 0);
    CHECK(w == xs);
    check_each("slope", d, 1e-6, [&](std::size_t i) {
      const std::size_t row = i / 6, k = i % 6;
      return (k > 0 ? 2.0 : 0.0) + (k < 2 ? xs(row, k + 2) : k < 4 ? xs(row, k - 2) : 1.0f);
    });
  }
}

TEST_CASE("unstack gives the subarrays along an axis") {
  const auto x = placeholder<"x", double, 2, "n", 3>();
  const auto [top, bottom] = unstack(x);
  const auto [left, middle, right] = unstack<-1>(x);
  static_assert(decltype(top)::rank == 2 && decltype(top)::extent[1] == 3);
  static_assert(decltype(left)::rank == 2 && decltype(left)::extent[0] == 2);
  const auto again = stack<-1>(left, middle, right);
  const auto [slope] = gradients(reduce_sum(top * bottom), x);
  static_assert(std::tuple_size_v<decltype(unstack<0>(placeholder<"none", float, 0, 3>()))> == 0);
  const auto v = placeholder<"v", std::int32_t, 2>();
  const auto [one, two] = unstack(v);
  static_assert(decltype(one)::rank == 0);
  session s{top, bottom, again, slope, one, two};
  for (const std::size_t n : {0u, 1u, 4u}) {
    const auto xs = filled<double, 3>({2, n, 3});
    const auto [t, b, a, d, p, q] = s.run(fetch(top, bottom, again, slope, one, two), x = xs, v = std::vector{5, 6});
    check_each("top", t, 0, [&](std::size_t i) { return xs(0, i / 3, i % 3); });
    check_each("bottom", b, 0, [&](std::size_t i) { return xs(1, i / 3, i % 3); });
    CHECK(a == xs);
    check_each("slope", d, 1e-12, [&](std::size_t i) { return xs(i < 3 * n, i / 3 % std::max<std::size_t>(n, 1), i % 3); });
    CHECK(p == 5);
    CHECK(q == 6);
  }
}

TEST_CASE_TEMPLATE("reverse, also along a named dimension", T, float, double, std::int64_t, std::uint8_t, bool) {
  const auto x = placeholder<"x", T, "n", 3, 5>();
  const auto rows = reverse<0>(x);
  const auto columns = reverse<-1>(x);
  const auto both = reverse<0, 2>(x);
  const auto none = reverse<>(x);
  const auto scalar = reverse<>(placeholder<"scalar", T>());
  session s{rows, columns, both, none, scalar};
  for (const std::size_t n : {0u, 1u, 2u, 17u}) {
    const auto xs = filled<T, 3>({n, 3, 5}, 0, 40);
    const auto [r, c, b, o, one] = s.run(fetch(rows, columns, both, none, scalar), x = xs, placeholder<"scalar", T>() = T(1));
    check_each("rows", r, 0, [&](std::size_t i) { return xs(n - 1 - i / 15, i / 5 % 3, i % 5); });
    check_each("columns", c, 0, [&](std::size_t i) { return xs(i / 15, i / 5 % 3, 4 - i % 5); });
    check_each("both", b, 0, [&](std::size_t i) { return xs(n - 1 - i / 15, i / 5 % 3, 4 - i % 5); });
    CHECK(o == xs);
    CHECK(one == T(1));
  }
}

TEST_CASE("the gradient of reverse is reversed") {
  const auto x = placeholder<"x", float, "n", 2>();
  const auto y = placeholder<"y", float, "n", 2>();
  const auto [slope] = gradients(reduce_sum(reverse<0>(x) * reverse<1>(y)), x);
  const auto [second] = gradients(reduce_sum(reverse<0>(square(x)) * y), x);
  session s{slope, second};
  const xt::xtensor<float, 2> xs{{1, 2}, {3, 4}, {5, 6}}, ys{{7, 8}, {9, 10}, {11, 12}};
  const auto [d, e] = s.run(fetch(slope, second), x = xs, y = ys);
  CHECK(d == xt::xtensor<float, 2>{{12, 11}, {10, 9}, {8, 7}});
  CHECK(e == xt::xtensor<float, 2>{{22, 48}, {54, 80}, {70, 96}});
}

TEST_CASE("roll moves elements around an axis") {
  const auto x = placeholder<"x", float, "n", 5>();
  const auto right = roll<1, 2>(x);
  const auto left = roll<-1, -1>(x);
  const auto far = roll<1, 12>(x);
  const auto whole = roll<1, -10>(x);
  const auto empty = roll<0, 3>(placeholder<"empty", float, 0>());
  const auto [slope] = gradients(reduce_sum(right * x), x);
  session s{right, left, far, whole, empty, slope};
  for (const std::size_t n : {0u, 1u, 3u}) {
    const auto xs = filled<float, 2>({n, 5});
    const auto [r, l, f, w, e, d] = s.run(fetch(right, left, far, whole, empty, slope), x = xs,
                                          placeholder<"empty", float, 0>() = std::vector<float>{});
    check_each("right", r, 0, [&](std::size_t i) { return xs(i / 5, (i % 5 + 3) % 5); });
    check_each("left", l, 0, [&](std::size_t i) { return xs(i / 5, (i % 5 + 1) % 5); });
    CHECK(f == r);
    CHECK(w == xs);
    CHECK(e.size() == 0);
    check_each("slope", d, 1e-6, [&](std::size_t i) { return xs(i / 5, (i % 5 + 3) % 5) + xs(i / 5, (i % 5 + 2) % 5); });
  }
}

TEST_CASE("tile repeats along each axis") {
  const auto x = placeholder<"x", float, "n", 2, 1>();
  const auto wide = tile<1, 3, 4>(x);
  const auto same = tile<1, 1, 1>(x);
  const auto none = tile<1, 0, 2>(x);
  static_assert(decltype(wide)::extent[1] == 6 && decltype(wide)::extent[2] == 4 && decltype(none)::extent[1] == 0);
  const auto v = placeholder<"v", std::int32_t, 2, 3>();
  const auto twice = tile<2, 2>(v);
  const auto scalar = tile<>(placeholder<"scalar", std::int32_t>());
  const auto weights = placeholder<"weights", float, 6, 4>();
  const auto [slope] = gradients(reduce_sum(wide * weights), x);
  session s{wide, same, none, twice, scalar, slope};
  const auto ws = filled<float, 2>({6, 4});
  for (const std::size_t n : {0u, 1u, 3u}) {
    const auto xs = filled<float, 3>({n, 2, 1});
    const auto [w, o, e, t, c, d] = s.run(fetch(wide, same, none, twice, scalar, slope), x = xs,
                                          v = xt::xtensor<std::int32_t, 2>{{1, 2, 3}, {4, 5, 6}}, weights = ws,
                                          placeholder<"scalar", std::int32_t>() = 8);
    check_each("wide", w, 0, [&](std::size_t i) { return xs(i / 24, i / 4 % 2, 0); });
    CHECK(o == xs);
    CHECK(e.size() == 0);
    CHECK(c == 8);
    CHECK(t == xt::xtensor<std::int32_t, 2>{{1, 2, 3, 1, 2, 3}, {4, 5, 6, 4, 5, 6}, {1, 2, 3, 1, 2, 3}, {4, 5, 6, 4, 5, 6}});
    check_each("slope", d, 1e-5, [&](std::size_t i) {
      double sum = 0;
      for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t b = 0; b < 4; ++b) sum += ws(2 * a + i % 2, b);
      return sum;
    });
  }
}

TEST_CASE("range is a constant of numbers in equal steps") {
  const auto counting = range<0, 5>();
  const auto odd = range<1, 8, 2>();
  const auto down = range<5, 0, -2>();
  const auto none = range<3, 3>();
  const auto real = range<float, 0, 4>();
  const auto fractions = range<1.0, 0.0, -0.25>();
  const auto wide = range<std::int64_t{1} << 40, (std::int64_t{1} << 40) + 3>();
  const auto small = range<std::uint8_t, 250, 255>();
  static_assert(std::is_same_v<decltype(counting)::element, std::int32_t> && decltype(counting)::extent[0] == 5);
  static_assert(decltype(odd)::extent[0] == 4 && decltype(down)::extent[0] == 3 && decltype(none)::extent[0] == 0);
  static_assert(std::is_same_v<decltype(fractions)::element, double> && decltype(fractions)::extent[0] == 4);
  static_assert(decltype(range<0.0, 1.0, 0.3>())::extent[0] == 4 && decltype(range<0, 10, 3>())::extent[0] == 4);
  const auto x = placeholder<"x", float, "n", 4>();
  const auto sum = x * real;
  session s{counting, odd, down, none, real, fractions, wide, small, sum};
  const auto [c, o, d, e, r, f, w, u] = s.run(fetch(counting, odd, down, none, real, fractions, wide, small));
  CHECK(c == xt::xtensor<std::int32_t, 1>{0, 1, 2, 3, 4});
  CHECK(o == xt::xtensor<std::int32_t, 1>{1, 3, 5, 7});
  CHECK(d == xt::xtensor<std::int32_t, 1>{5, 3, 1});
  CHECK(e.size() == 0);
  CHECK(r == xt::xtensor<float, 1>{0, 1, 2, 3});
  CHECK(f == xt::xtensor<double, 1>{1, 0.75, 0.5, 0.25});
  CHECK(w == xt::xtensor<std::int64_t, 1>{1099511627776, 1099511627777, 1099511627778});
  CHECK(u == xt::xtensor<std::uint8_t, 1>{250, 251, 252, 253, 254});
  const auto [y] = s.run(fetch(sum), x = xt::xtensor<float, 2>{{2, 2, 2, 2}, {1, 2, 3, 4}});
  CHECK(y == xt::xtensor<float, 2>{{0, 2, 4, 6}, {0, 2, 6, 12}});
}
