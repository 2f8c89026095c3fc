#include <leat/passes/stitch.hpp>

#include "support/check.hpp"
#include "support/graphs.hpp"
#include "support/interpreted.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

namespace {

template <class... Es>
int steps_of(std::string_view type, const Es&... es) {
  const auto p = program_of(es...);
  int n = 0;
  for (const auto& s : p.steps)
    n += !s.is_cluster && s.code == (type == "Pad" ? operator_record<pad_op>::code : operator_record<concat_op>::code);
  return n;
}

// Numbers whose sums and products are exact.
template <class T>
std::vector<T> numbers(std::size_t n, int seed = 3) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<T>(static_cast<int>(i * 7 + static_cast<std::size_t>(seed)) % 11 - 5);
  return values;
}

// The slope by the definition: `parts` are begins and sizes of slices, of which each is squared and multiplied by its number.
template <class T>
std::vector<T> slope_of_slices(const std::vector<T>& x, std::vector<std::pair<std::size_t, std::size_t>> parts) {
  std::vector<T> slope(x.size(), T(0));
  T factor = 1;
  for (const auto& [begin, size] : parts) {
    for (std::size_t i = begin; i < begin + size; ++i) slope[i] += 2 * factor * x[i];
    factor += 1;
  }
  return slope;
}

template <std::int64_t Begin, std::int64_t Size, class X>
auto part(const X& x) {
  return slice<begins<Begin>, sizes<Size>>(x);
}

template <int N>
auto rosenbrock(const auto& x) {
  const auto before = part<0, N - 1>(x);
  const auto after = part<1, N - 1>(x);
  return reduce_sum(100_c * square(after - square(before)) + square(1_c - before));
}

// A compiled session's and the interpreter's bytes are equal; gives the former's second fetch.
template <int N>
std::vector<double> rosenbrock_slope(const std::vector<double>& values) {
  const auto x = placeholder<"x", double, N>();
  const auto f = rosenbrock<N>(x);
  const auto [slope] = gradients(f, x);
  session s{f, slope};
  const auto [value, slopes] = s.run(fetch(f, slope), x = values);
  xt::xtensor<double, 1> fed = xt::zeros<double>({static_cast<std::size_t>(N)});
  std::copy(values.begin(), values.end(), fed.begin());
  interpreted planned(fetch(f, slope));
  planned.with(x, fed).run();
  CHECK(planned.same(0, value));
  CHECK(planned.same(1, slopes));
  return {slopes.begin(), slopes.end()};
}

}  // namespace

TEST_CASE("gradients of overlapping slices are put together without padding") {
  const auto x = placeholder<"x", double, 10>();
  const auto f = rosenbrock<10>(x);
  const auto [slope] = gradients(f, x);
  CHECK(steps_of("Pad", f, slope) == 0);
  CHECK(steps_of("ConcatV2", f, slope) == 0);
  CHECK(program_of(f, slope).steps.size() <= 4);
}

TEST_CASE("the slope of Rosenbrock's function, of few elements and of many") {
  const auto check = []<int N>(std::integral_constant<int, N>) {
    const auto x = numbers<double>(N);
    const auto slope = rosenbrock_slope<N>(x);
    REQUIRE(slope.size() == x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      double want = 0;
      if (i + 1 < x.size()) want += -400 * x[i] * (x[i + 1] - x[i] * x[i]) - 2 * (1 - x[i]);
      if (i > 0) want += 200 * (x[i] - x[i - 1] * x[i - 1]);
      CHECK(slope[i] == want);
    }
  };
  check(std::integral_constant<int, 2>{});
  check(std::integral_constant<int, 3>{});
  check(std::integral_constant<int, 10>{});
  check(std::integral_constant<int, 67>{});
}

TEST_CASE("slices that lie apart, within each other, at the ends, and of nothing") {
  const auto x = placeholder<"x", float, 12>();
  const auto values = numbers<float>(12);
  const auto check = [&](const auto& f, std::vector<std::pair<std::size_t, std::size_t>> parts, int pads) {
    const auto [slope] = gradients(f, x);
    CHECK(steps_of("Pad", slope) == pads);
    session s{slope};
    const auto got = std::get<0>(s.run(fetch(slope), x = values));
    const auto want = slope_of_slices(values, std::move(parts));
    for (std::size_t i = 0; i < want.size(); ++i) CHECK(got(i) == want[i]);
  };
  const auto sum = [](const auto& a) { return reduce_sum(square(a)); };
  check(sum(part<0, 5>(x)) + 2_c * sum(part<7, 5>(x)), {{0, 5}, {7, 5}}, 0);
  check(sum(part<0, 12>(x)) + 2_c * sum(part<3, 4>(x)), {{0, 12}, {3, 4}}, 0);
  check(sum(part<2, 6>(x)) + 2_c * sum(part<2, 3>(x)) + 3_c * sum(part<2, 6>(x)), {{2, 6}, {2, 3}, {2, 6}}, 0);
  check(sum(part<4, 0>(x)) + 2_c * sum(part<0, 12>(x)), {{4, 0}, {0, 12}}, 0);
  check(sum(part<0, 0>(x)) + 2_c * sum(part<11, 1>(x)), {{0, 0}, {11, 1}}, 1);  // one slice has nothing to be put together with
  // of too many parts, what does not fit is padded
  const auto many = sum(part<0, 2>(x)) + 2_c * sum(part<3, 2>(x)) + 3_c * sum(part<6, 2>(x)) + 4_c * sum(part<9, 2>(x));
  const auto [slope] = gradients(many, x);
  session s{slope};
  const auto got = std::get<0>(s.run(fetch(slope), x = values));
  const auto want = slope_of_slices(values, {{0, 2}, {3, 2}, {6, 2}, {9, 2}});
  for (std::size_t i = 0; i < want.size(); ++i) CHECK(got(i) == want[i]);
}

TEST_CASE("slices of matrices along either axis, and along both") {
  const auto x = placeholder<"x", float, 5, 37>();
  xt::xtensor<float, 2> values = xt::zeros<float>({5, 37});
  const auto flat = numbers<float>(5 * 37);
  std::copy(flat.begin(), flat.end(), values.begin());
  const auto check = [&](const auto& f, auto want) {
    const auto [slope] = gradients(f, x);
    session s{slope};
    const auto got = std::get<0>(s.run(fetch(slope), x = values));
    interpreted planned(fetch(slope));
    planned.with(x, values).run();
    CHECK(planned.same(0, got));
    for (std::size_t i = 0; i < 5; ++i)
      for (std::size_t j = 0; j < 37; ++j) CHECK(got(i, j) == want(i, j, values));
  };
  const auto lower = slice<begins<1, 0>, sizes<4, 37>>(x);
  const auto upper = slice<begins<0, 0>, sizes<4, 37>>(x);
  check(reduce_sum(square(lower - upper)), [](std::size_t i, std::size_t j, const auto& v) {
    return (i > 0 ? 2 * (v(i, j) - v(i - 1, j)) : 0) - (i < 4 ? 2 * (v(i + 1, j) - v(i, j)) : 0);
  });
  const auto right = slice<begins<0, 1>, sizes<5, 36>>(x);
  const auto left = slice<begins<0, 0>, sizes<5, 36>>(x);
  check(reduce_sum(square(right - left)), [](std::size_t i, std::size_t j, const auto& v) {
    return (j > 0 ? 2 * (v(i, j) - v(i, j - 1)) : 0) - (j < 36 ? 2 * (v(i, j + 1) - v(i, j)) : 0);
  });
  const auto inner = slice<begins<1, 2>, sizes<3, 30>>(x);
  check(reduce_sum(square(inner)) + reduce_sum(square(right - left)), [](std::size_t i, std::size_t j, const auto& v) {
    return (j > 0 ? 2 * (v(i, j) - v(i, j - 1)) : 0) - (j < 36 ? 2 * (v(i, j + 1) - v(i, j)) : 0) +
           (i >= 1 && i < 4 && j >= 2 && j < 32 ? 2 * v(i, j) : 0);
  });
}

TEST_CASE("padded arrays in arithmetic of one's own") {
  const auto a = placeholder<"a", float, 6>();
  const auto b = placeholder<"b", float, 6>();
  const auto numbers_a = numbers<float>(6, 1), numbers_b = numbers<float>(6, 4);
  const auto first = pad<before<0>, behind<3>>(exp(a));
  const auto second = pad<before<3>, behind<0>>(b * b);
  const auto both = (first + second) * 2_c - 1_c;
  session s{both, first, reduce_sum(both)};
  const auto [all, padded, sum] = s.run(fetch(both, first, reduce_sum(both)), a = numbers_a, b = numbers_b);
  float total = 0;
  for (std::size_t i = 0; i < 9; ++i) {
    const float own = i < 6 ? std::exp(numbers_a[i]) : 0;
    CHECK(padded(i) == doctest::Approx(own));
    const float want = (own + (i >= 3 ? numbers_b[i - 3] * numbers_b[i - 3] : 0)) * 2 - 1;
    CHECK(all(i) == doctest::Approx(want));
    total += want;
  }
  CHECK(sum == doctest::Approx(total));
}

TEST_CASE("a concatenation of what is computed for it takes no step, another one does") {
  const auto a = placeholder<"a", float, "n", 3>();
  const auto b = placeholder<"b", float, "n", 2>();
  CHECK(steps_of("ConcatV2", concat<1>(square(a), -b)) == 0);
  CHECK(steps_of("ConcatV2", concat<1>(a, square(b))) == 1);                    // an array that lies elsewhere
  CHECK(steps_of("ConcatV2", concat<1>(square(a), square(b)), square(b)) == 1);  // one that is fetched, too
  xt::xtensor<float, 2> as{{1, 2, 3}, {4, 5, 6}}, bs{{7, 8}, {9, 10}};
  const auto joined = concat<1>(square(a), -b);
  session s{joined, reduce_sum<0>(joined)};
  const auto [got, sums] = s.run(fetch(joined, reduce_sum<0>(joined)), a = as, b = bs);
  const xt::xtensor<float, 2> want{{1, 4, 9, -7, -8}, {16, 25, 36, -9, -10}};
  CHECK(got == want);
  CHECK(sums == xt::xtensor<float, 1>{17, 29, 45, -16, -18});
  interpreted planned(fetch(joined));
  planned.with(a, as).with(b, bs).run();
  CHECK(planned.same(0, got));
  const xt::xtensor<float, 2> no_a = xt::zeros<float>({0, 3}), no_b = xt::zeros<float>({0, 2});
  const auto none = std::get<0>(s.run(fetch(joined), a = no_a, b = no_b));
  CHECK(none.size() == 0);
}

TEST_CASE("a variable whose slices give its gradient") {
  const auto w = variable<"w", float, 9>(ones);
  const auto loss = reduce_sum(square(part<1, 8>(w) - 2_c * part<0, 8>(w)));
  const auto train = gradient_descent(0.125f).minimize(loss);
  session s{loss, train};
  s.initialize();
  std::vector<float> mine(9, 1.0f);
  for (int step = 0; step < 2; ++step) {
    s.run(fetch(train));
    std::vector<float> slope(9, 0.0f);
    for (std::size_t i = 0; i < 8; ++i) {
      const float d = mine[i + 1] - 2 * mine[i];
      slope[i + 1] += 2 * d;
      slope[i] -= 4 * d;
    }
    for (std::size_t i = 0; i < 9; ++i) mine[i] -= 0.125f * slope[i];
  }
  const auto values = s.value(w);
  for (std::size_t i = 0; i < 9; ++i) CHECK(values(i) == mine[i]);
}
