#include <leat/ops/reduction.hpp>

#include "support/check.hpp"
#include "support/interpreted_session.hpp"

#include <cstdint>
#include <limits>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

namespace {

using extents3 = std::array<std::size_t, 3>;

// `f` of all elements of the cube that fall together when the axes of `mask` are reduced, into the result's order.
template <class A, class F>
std::vector<double> reduced(const A& a, int mask, double first, F f) {
  const extents3 full{a.shape()[0], a.shape()[1], a.shape()[2]};
  extents3 kept = full;
  for (std::size_t k = 0; k < 3; ++k)
    if ((mask >> k & 1) != 0) kept[k] = 1;
  std::vector<double> result(kept[0] * kept[1] * kept[2], first);
  for (std::size_t i = 0; i < full[0]; ++i)
    for (std::size_t j = 0; j < full[1]; ++j)
      for (std::size_t k = 0; k < full[2]; ++k) {
        auto& r = result[((kept[0] > 1 ? i : 0) * kept[1] + (kept[1] > 1 ? j : 0)) * kept[2] + (kept[2] > 1 ? k : 0)];
        r = f(r, static_cast<double>(a(i, j, k)));
      }
  return result;
}

constexpr extents3 cubes[]{{2, 3, 17}, {1, 1, 1}, {4, 16, 33}, {3, 1, 1000}, {1000, 1, 3}, {2, 0, 3}, {0, 2, 3}, {2, 3, 0}, {70, 60, 50}};

struct sums {
  template <int... Axes>
  static auto over(const auto& x) { return reduce_sum<Axes...>(x); }
  static double combine(double a, double b) { return a + b; }
  static constexpr double first = 0;
};
struct products {
  template <int... Axes>
  static auto over(const auto& x) { return reduce_prod<Axes...>(x); }
  static double combine(double a, double b) { return a * b; }
  static constexpr double first = 1;
};
struct largest {
  template <int... Axes>
  static auto over(const auto& x) { return reduce_max<Axes...>(x); }
  static double combine(double a, double b) { return std::max(a, b); }
  static constexpr double first = -std::numeric_limits<double>::infinity();
};
struct smallest {
  template <int... Axes>
  static auto over(const auto& x) { return reduce_min<Axes...>(x); }
  static double combine(double a, double b) { return std::min(a, b); }
  static constexpr double first = std::numeric_limits<double>::infinity();
};

// One reduction along each set of axes, all in one run.
template <class Reduce, class T>
void check_reduction(double low, double high) {
  const auto x = placeholder<"x", T, "a", "b", "c">();
  const auto r0 = Reduce::template over<0>(x);
  const auto r1 = Reduce::template over<1>(x);
  const auto r2 = Reduce::template over<2>(x);
  const auto r01 = Reduce::template over<0, 1>(x);
  const auto r02 = Reduce::template over<0, 2>(x);
  const auto r12 = Reduce::template over<-1, 1>(x);
  const auto all = Reduce::template over<>(x);
  session s{r0, r1, r2, r01, r02, r12, all};
  for (const auto& cube : cubes) {
    const auto xs = filled<T, 3>(cube, low, high);
    const auto results = s.run(fetch(r0, r1, r2, r01, r02, r12, all), x = xs);
    CAPTURE(cube[0]);
    CAPTURE(cube[1]);
    CAPTURE(cube[2]);
    const auto one = [&](const char* what, const auto& got, int mask) {
      const auto expected = reduced(xs, mask, Reduce::first, Reduce::combine);
      const double scale = std::is_same_v<T, float> ? 2e-5 : 1e-11;
      CAPTURE(what);
      REQUIRE(elements(got) == expected.size());
      check_each(what, got, std::is_integral_v<T> ? 0 : scale, [&](std::size_t i) { return expected[i]; });
    };
    one("0", std::get<0>(results), 1);
    one("1", std::get<1>(results), 2);
    one("2", std::get<2>(results), 4);
    one("0, 1", std::get<3>(results), 3);
    one("0, 2", std::get<4>(results), 5);
    one("1, 2", std::get<5>(results), 6);
    one("all", std::get<6>(results), 7);
  }
}

}  // namespace

TEST_CASE_TEMPLATE("sums along any axes", T, float, double, std::int32_t, std::int64_t) { check_reduction<sums, T>(-4, 5); }
TEST_CASE_TEMPLATE("largest elements along any axes", T, float, double) { check_reduction<largest, T>(-4, 5); }
TEST_CASE_TEMPLATE("smallest elements along any axes", T, double) { check_reduction<smallest, T>(-4, 5); }
TEST_CASE_TEMPLATE("products along any axes", T, double) { check_reduction<products, T>(0.97, 1.03); }

TEST_CASE("means, and reduced axes that stay as 1") {
  const auto x = placeholder<"x", double, "a", "b", "c">();
  const auto mean = reduce_mean<0, 2>(x);
  const auto kept = reduce_mean_keep<2>(x);
  const auto whole = reduce_mean(x);
  const auto largest_kept = reduce_max_keep<0>(x);
  const auto sum_kept = reduce_sum_keep<1>(x);
  static_assert(decltype(kept)::extent[2] == 1 && decltype(kept)::rank == 3);
  static_assert(decltype(largest_kept)::extent[0] == 1 && decltype(sum_kept)::extent[1] == 1);
  session s{mean, kept, whole, largest_kept, sum_kept};
  for (const auto& cube : cubes) {
    if (cube[0] * cube[1] * cube[2] == 0) continue;
    const auto xs = filled<double, 3>(cube);
    const auto [means, kepts, wholes, larges, sumss] = s.run(fetch(mean, kept, whole, largest_kept, sum_kept), x = xs);
    const auto add = [](double a, double b) { return a + b; };
    const auto m = reduced(xs, 5, 0, add);
    const auto k = reduced(xs, 4, 0, add);
    const auto w = reduced(xs, 7, 0, add);
    const auto l = reduced(xs, 1, -1e300, [](double a, double b) { return std::max(a, b); });
    const auto t = reduced(xs, 2, 0, add);
    CHECK(kepts.shape()[2] == 1);
    check_each("mean", means, 1e-12, [&](std::size_t i) { return m[i] / static_cast<double>(cube[0] * cube[2]); });
    check_each("kept", kepts, 1e-12, [&](std::size_t i) { return k[i] / static_cast<double>(cube[2]); });
    check_each("whole", wholes, 1e-12, [&](std::size_t i) { return w[i] / static_cast<double>(xs.size()); });
    check_each("largest", larges, 0, [&](std::size_t i) { return l[i]; });
    check_each("sum", sumss, 1e-12, [&](std::size_t i) { return t[i]; });
  }
}

TEST_CASE("the mean of nothing is no number; of integers it rounds toward zero") {
  const auto x = placeholder<"x", float, "n">();
  const auto i = placeholder<"i", std::int32_t, "n">();
  const auto m = reduce_mean(x);
  const auto k = reduce_mean(i);
  session s{m, k};
  const auto [nothing] = s.run(fetch(m), x = xt::xtensor<float, 1>(std::array<std::size_t, 1>{0}));
  CHECK(std::isnan(nothing));
  const auto [seven] = s.run(fetch(k), i = xt::xtensor<std::int32_t, 1>{-3, -4, -4});
  CHECK(seven == -3);
}

TEST_CASE("the mean of integers is one of them, though their sum is not, and 0 of none") {
  const auto i = placeholder<"i", std::int32_t, "n">();
  const auto u = placeholder<"u", std::uint8_t, "n">();
  const auto none = placeholder<"none", std::int32_t, 0, 3>();
  const auto mean = reduce_mean(i);
  const auto of_bytes = reduce_mean(u);
  const auto of_none = reduce_mean<0>(none);
  session s{mean, of_bytes, of_none};
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max(), least = std::numeric_limits<std::int32_t>::min();
  const auto [large] = s.run(fetch(mean), i = std::vector<std::int32_t>{most, most, most - 1});
  CHECK(large == most - 1);
  const auto [small] = s.run(fetch(mean), i = std::vector<std::int32_t>(1000, least));
  CHECK(small == least);
  const auto [bytes] = s.run(fetch(of_bytes), u = std::vector<std::uint8_t>(300, 7));  // 300 is no uint8
  CHECK(bytes == 7);
  const auto [nothing] = s.run(fetch(mean), i = std::vector<std::int32_t>{});
  CHECK(nothing == 0);
  const auto [columns] = s.run(fetch(of_none), none = xt::xtensor<std::int32_t, 2>::from_shape({0, 3}));
  CHECK(columns == xt::xtensor<std::int32_t, 1>{0, 0, 0});
}

TEST_CASE("all and any, of bool") {
  const auto x = placeholder<"x", bool, "rows", "columns">();
  const auto every = reduce_all(x);
  const auto some = reduce_any(x);
  const auto every_row = reduce_all<1>(x);
  const auto some_column = reduce_any<0>(x);
  session s{every, some, every_row, some_column};
  const std::array<std::array<std::size_t, 2>, 5> sizes{{{0, 3}, {1, 1}, {3, 17}, {64, 5}, {2, 1000}}};
  for (const auto& [rows, columns] : sizes) {
    for (const double threshold : {-2.0, 0.0, 0.9, 1.5}) {
      auto xs = xt::xtensor<bool, 2>::from_shape({rows, columns});
      for (std::size_t p = 0; p < xs.size(); ++p) xs.data()[p] = pattern(p, -1, 1) > threshold;
      const std::size_t width = columns;
      const std::size_t height = rows;
      const auto [everys, somes, every_rows, some_columns] = s.run(fetch(every, some, every_row, some_column), x = xs);
      bool all = true;
      bool any = false;
      for (std::size_t p = 0; p < xs.size(); ++p) {
        all = all && xs.data()[p];
        any = any || xs.data()[p];
      }
      CHECK(everys == all);
      CHECK(somes == any);
      check_each("rows", every_rows, 0, [&](std::size_t r) {
        bool b = true;
        for (std::size_t c = 0; c < width; ++c) b = b && xs(r, c);
        return b;
      });
      check_each("columns", some_columns, 0, [&](std::size_t c) {
        bool b = false;
        for (std::size_t r = 0; r < height; ++r) b = b || xs(r, c);
        return b;
      });
    }
  }
}

TEST_CASE("gradients of reductions") {
  const auto x = placeholder<"x", double, 2, 3, 5>();
  const auto w = placeholder<"w", double, 3, 5>();
  const auto loss = reduce_sum(w * reduce_sum<0>(square(x))) + reduce_sum(square(reduce_mean<1, 2>(x))) +
                    reduce_sum(w * reduce_max<0>(x)) - reduce_sum(square(reduce_min<2>(x))) + reduce_sum(square(reduce_prod<1>(x))) +
                    reduce_sum(x * reduce_sum_keep<1>(x)) + reduce_prod(x) * 100_c + square(reduce_mean(x));
  const auto [dx] = gradients(loss, x);
  session s{loss, dx};
  const auto xs = filled<double, 3>({2, 3, 5}, 0.5, 1.5);
  const auto ws = filled<double, 2>({3, 5});
  const auto [dxs] = s.run(fetch(dx), x = xs, w = ws);
  const auto expected = slopes(xs, [&](const auto& p) { return std::get<0>(s.run(fetch(loss), x = p, w = ws)); });
  check_close("dx", dxs, expected, 1e-7);
}

TEST_CASE("ties share the gradient of the largest; zeros keep that of the product right") {
  const auto x = placeholder<"x", double, 4>();
  const auto [dmax] = gradients(reduce_max(x), x);
  const auto [dmin] = gradients(reduce_min(x), x);
  const auto [dprod] = gradients(reduce_prod(x), x);
  session s{dmax, dmin, dprod};
  const auto at = [&](const xt::xtensor<double, 1>& xs) { return s.run(fetch(dmax, dmin, dprod), x = xs); };
  const auto [a, b, c] = at({2, 5, 5, 0});
  check_close("max", a, xt::xtensor<double, 1>{0, 0.5, 0.5, 0}, 0);
  check_close("min", b, xt::xtensor<double, 1>{0, 0, 0, 1}, 0);
  check_close("one zero", c, xt::xtensor<double, 1>{0, 0, 0, 50}, 0);
  check_close("no zero", std::get<2>(at({2, 5, 1, 3})), xt::xtensor<double, 1>{15, 6, 30, 10}, 1e-14);
  check_close("two zeros", std::get<2>(at({0, 5, 0, 3})), xt::xtensor<double, 1>{0, 0, 0, 0}, 0);
}

TEST_CASE("reductions of bytes") {
  const auto x = placeholder<"x", std::uint8_t, "n">();
  const auto sum = reduce_sum(x);
  const auto high = reduce_max(x);
  const auto low = reduce_min(x);
  session s{sum, high, low};
  for (const auto n : lengths) {
    const auto xs = filled<std::uint8_t, 1>({n}, 1, 256);
    const auto [sums_, highs, lows] = s.run(fetch(sum, high, low), x = xs);
    unsigned total = 0;
    std::uint8_t most = 0;
    std::uint8_t least = 255;
    for (const auto v : xs) {
      total += v;
      most = std::max(most, v);
      least = std::min(least, v);
    }
    CHECK(sums_ == total % 256);
    CHECK(highs == most);
    CHECK(lows == least);
  }
}

TEST_CASE("what is no number wins every comparison of a reduction, wherever it stands") {
  const auto x = placeholder<"x", float, 2, "n">();
  const auto high = reduce_max<1>(x);
  const auto low = reduce_min<1>(x);
  session s{high, low};
  for (const auto n : lengths) {
    if (n == 0) continue;
    for (const std::size_t place : {std::size_t{0}, n / 2, n - 1}) {
      auto xs = filled<float, 2>({2, n});
      xs(1, place) = std::numeric_limits<float>::quiet_NaN();
      const auto [highs, lows] = s.run(fetch(high, low), x = xs);
      CHECK(!std::isnan(highs(0)));
      CHECK(std::isnan(highs(1)));
      CHECK(!std::isnan(lows(0)));
      CHECK(std::isnan(lows(1)));
    }
  }
}

// A row's value may come back as [10, 1] or, through a reshape, as [10]: against [10, 10] those stand along different axes.
TEST_CASE("reduced rows meet a square array along the axis of their own shape") {
  auto x = placeholder<"x", float, 10, 10>();
  auto along_rows = x - reduce_max_keep<1>(x);
  auto expanded = x - expand_dims<1>(reduce_max<1>(x));
  auto along_columns = x - squeeze<1>(reduce_max_keep<1>(x));
  session s{along_rows, expanded, along_columns};
  auto xs = xt::xtensor<float, 2>::from_shape({10, 10});
  for (std::size_t i = 0; i < xs.size(); ++i) xs.data()[i] = static_cast<float>((i * 37) % 101);
  const auto [a, b, c] = s.run(fetch(along_rows, expanded, along_columns), x = xs);
  for (std::size_t i = 0; i < 10; ++i)
    for (std::size_t j = 0; j < 10; ++j) {
      float top_i = 0;
      float top_j = 0;
      for (std::size_t k = 0; k < 10; ++k) {
        top_i = std::max(top_i, xs(i, k));
        top_j = std::max(top_j, xs(j, k));
      }
      CHECK(a(i, j) == xs(i, j) - top_i);
      CHECK(b(i, j) == xs(i, j) - top_i);
      CHECK(c(i, j) == xs(i, j) - top_j);
    }
}

TEST_CASE_TEMPLATE("Euclidean norms, which squares of integers do not exceed", T, float, double, std::int32_t, std::int64_t, std::uint8_t) {
  const auto x = placeholder<"x", T, "n", 2>();
  const auto rows = reduce_euclidean_norm<1>(x);
  const auto kept = reduce_euclidean_norm_keep<0>(x);
  session s{rows, kept};
  const auto [r, k] = s.run(fetch(rows, kept), x = xt::xtensor<T, 2>{{3, 4}, {0, 0}, {60, 80}});
  check_close("rows", r, xt::xtensor<T, 1>{5, 0, 100}, 1e-6);
  check_close("kept", k, xt::xtensor<T, 2>{{static_cast<T>(std::sqrt(3609.0)), static_cast<T>(std::sqrt(6416.0))}}, 1e-6);
  const auto [none] = s.run(fetch(kept), x = xt::xtensor<T, 2>(xt::zeros<T>({0, 2})));
  CHECK(none(0, 1) == 0);
}

TEST_CASE_TEMPLATE("the gradient of a Euclidean norm, which has none at 0", T, float, double) {
  const auto x = placeholder<"x", T, 4, 2>();
  const auto [dx] = gradients(reduce_sum(reduce_euclidean_norm<1>(x)), x);
  session s{dx};
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const auto [got] = s.run(fetch(dx), x = xt::xtensor<T, 2>{{3, 4}, {0, 0}, {inf, 1}, {nan, 1}});
  check_close("dx", got, xt::xtensor<T, 2>{{T(0.6), T(0.8)}, {nan, nan}, {nan, 0}, {nan, nan}}, 1e-6);
}
