// Small arrays as scalars: what compiled sessions compute with them is what planned sessions compute with loops.

#include <leat/calculus.hpp>
#include <leat/planned.hpp>
#include <leat/vmap.hpp>

#include "support/check.hpp"
#include "support/graphs.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

namespace {

template <class... Es>
std::string steps(const Es&... es) {
  const entered e = enter(es...);
  return steps_of(at_run_time::compile(e.g, e.targets, true));
}
template <class... Es>
graph scalars_of(const Es&... es) {
  entered e = enter(es...);
  return at_run_time::unroll(at_run_time::simplify(e.g, e.targets), e.targets);
}

// How far two results are apart: 0 for the same bytes, where one NaN is as good as another; otherwise relative to values above 1.
template <class Value>
double apart(const Value& a, const Value& b) {
  if constexpr (std::is_arithmetic_v<Value>) {
    if (a == b || (a != a && b != b)) return std::memcmp(&a, &b, sizeof a) == 0 || a != a ? 0 : std::numeric_limits<double>::min();
    const double d = std::abs(static_cast<double>(a) - static_cast<double>(b)) / std::max(1.0, std::abs(static_cast<double>(b)));
    return d == d ? d : std::numeric_limits<double>::infinity();
  } else {
    if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
    double most = 0;
    for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, apart(a.data()[i], b.data()[i]));
    return most;
  }
}
// The largest difference between a compiled and a planned session.
template <class... Es>
double difference(const Es&... es) {
  session compiled{es...};
  planned_session planned{es...};
  compiled.initialize();
  planned.initialize();
  const auto one = compiled.run(fetch(es...));
  const auto other = planned.run(fetch(es...));
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::max({0.0, apart(std::get<I>(one), std::get<I>(other))...});
  }(std::index_sequence_for<Es...>{});
}

template <class T, std::int64_t N>
std::vector<T> some_values(double step = 0.37) {
  std::vector<T> all;
  for (std::int64_t i = 0; i < N; ++i) all.push_back(static_cast<T>(step * static_cast<double>((i * 7 + 3) % 11) - 1.5));
  return all;
}
template <std::int64_t N>
std::vector<double> positive_definite() {
  std::vector<double> a(static_cast<std::size_t>(N * N));
  for (std::int64_t i = 0; i < N; ++i)
    for (std::int64_t j = 0; j < N; ++j)
      a[static_cast<std::size_t>(i * N + j)] =
          i == j ? static_cast<double>(N) + 0.25 * static_cast<double>(i) : 1.0 / static_cast<double>(2 + i + j);
  return a;
}

}  // namespace

TEST_CASE("a measurement and its Jacobian are one list of instructions") {
  const auto x = variable<"x", double, 4>(std::vector<double>{3, 4, 1, 2});
  const auto east = index<0>(x);
  const auto north = index<1>(x);
  const auto z = stack<0>(sqrt(square(east) + square(north)), atan2(north, east));
  const auto reverse_mode = jacobian(z, x);
  const auto forward_mode = jacobian<jacobian_mode::forward>(z, x);
  CHECK(steps(z, reverse_mode) == "cluster");
  CHECK(steps(z, forward_mode) == "cluster");
  const graph g = scalars_of(z, reverse_mode);
  CHECK(count(g, "Equal") == 0);
  CHECK(count(g, "RealDiv") + count(g, "SqrtGrad") <= 4);
  session s{z, reverse_mode, forward_mode};
  s.initialize();
  const auto [at, r, f] = s.run(fetch(z, reverse_mode, forward_mode));
  CHECK(at(0) == 5);
  CHECK(at(1) == doctest::Approx(std::atan2(4.0, 3.0)));
  const double wanted[2][4]{{0.6, 0.8, 0, 0}, {-4.0 / 25, 3.0 / 25, 0, 0}};
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 4; ++j) {
      CHECK(r(i, j) == doctest::Approx(wanted[i][j]).epsilon(1e-14));
      CHECK(f(i, j) == doctest::Approx(wanted[i][j]).epsilon(1e-14));
    }
  CHECK(difference(z, reverse_mode, forward_mode) < 1e-14);
}

TEST_CASE("the Hessian of a sum of neighbors has the terms that one writes by hand") {
  const auto x = variable<"x", double, 10>(some_values<double, 10>());
  const auto head = slice<begins<0>, sizes<9>>(x);
  const auto tail = slice<begins<1>, sizes<9>>(x);
  const auto h = hessian(reduce_sum(100_c * square(tail - square(head)) + square(1_c - head)), x);
  CHECK(steps(h) == "cluster");
  CHECK(count(scalars_of(h), "Mul") < 120);
  CHECK(difference(h) < 1e-13);
  const auto wide = variable<"wide", double, 12>(some_values<double, 12>());  // 144 elements
  CHECK(count(scalars_of(hessian(reduce_sum(square(reduce_sum(square(wide))) * wide), wide)), "Assemble") == 0);
}

TEST_CASE("elements of each dtype are moved, compared, chosen, converted and combined") {
  const auto all = [](auto of) {
    using T = decltype(of);
    const auto a = variable<"a", T, 2, 3>(some_values<T, 6>(2.3));
    const auto b = variable<"b", T, 2, 3>(some_values<T, 6>(1.9));
    const auto both = concat<0>(a, transpose<1, 0>(reshape<3, 2>(b)));
    const auto turned = reverse<1>(both);
    const auto padded = pad<before<0, 1>, behind<1, 0>>(slice<begins<1, 1>, sizes<2, 2>>(turned));
    const auto larger = select(a > b, a, b);
    const auto known = equal(both, turned);
    CHECK(steps(both, turned, padded, known) == "cluster");
    CHECK(steps(larger) == "cluster");  // a loop: no step would be saved
    CHECK(count(scalars_of(larger), "TakeElement") == 0);
    CHECK(difference(both, turned, padded, larger, known, cast<float>(both), cast<std::int64_t>(padded), reduce_max<0>(both),
                     reduce_min(turned), maximum(a, b) + minimum(a, b), abs(concat<0>(a, b)), -both) == 0);
    CHECK(difference(concat<0>(a * b, b + b), square(concat<1>(a, b)), matrix_diag(slice<begins<0, 0>, sizes<1, 3>>(both))) == 0);
  };
  all(float{});
  all(double{});
  all(std::int32_t{});
  all(std::int64_t{});
  const auto p = variable<"p", double, 4>(some_values<double, 4>());
  const auto signs = concat<0>(p > 0_c, logical_not(p > 0.5_c));
  CHECK(steps(signs, select(signs, concat<0>(p, p), concat<0>(p, -p))) == "cluster");
  CHECK(difference(signs, reverse<0>(signs), logical_and(signs, reverse<0>(signs)), cast<std::int32_t>(signs)) == 0);
}

TEST_CASE("sums keep the order of loops") {
  const auto of = [](auto sizes_of) {
    constexpr std::int64_t n = decltype(sizes_of)::value;
    const auto x = variable<"x", float, n>(some_values<float, n>(0.1234567));
    const auto y = variable<"y", double, n>(some_values<double, n>(0.12345678901));
    const auto both = concat<0>(x, x);
    const auto rows = reshape<2, n>(both);
    CHECK(difference(reduce_sum(concat<0>(x, slice<begins<0>, sizes<1>>(x))), both) == 0);
    CHECK(difference(reduce_sum<1>(rows), reduce_sum<0>(rows), reduce_prod<1>(rows), both) == 0);
    CHECK(difference(reduce_sum(concat<0>(y, y)), reduce_mean(concat<0>(y, y)),
                     reduce_sum<0>(transpose(reshape<2, n>(concat<0>(y, y))))) == 0);
  };
  of(std::integral_constant<std::int64_t, 1>{});
  of(std::integral_constant<std::int64_t, 2>{});
  of(std::integral_constant<std::int64_t, 3>{});
  of(std::integral_constant<std::int64_t, 5>{});
  of(std::integral_constant<std::int64_t, 8>{});
}

TEST_CASE("only a derivative along another direction is absent: other zeros meet infinity as numbers do") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto x = variable<"x", double, 2>(std::vector<double>{infinity, 2});
  const auto eye = matrix_diag(constant(std::array<double, 2>{1, 1}));
  const auto spread = eye * reshape<2, 1>(x);
  session s{spread, pad<before<1>, behind<0>>(x) * 0_c};
  s.initialize();
  const auto [all, zeros_of] = s.run(fetch(spread, pad<before<1>, behind<0>>(x) * 0_c));
  CHECK(all(0, 0) == infinity);
  CHECK(std::isnan(all(0, 1)));
  CHECK(all(1, 0) == 0);
  CHECK(zeros_of(0) == 0);
  CHECK(std::isnan(zeros_of(1)));
  CHECK(difference(spread) == 0);

  const auto a = index<0>(x);
  const auto b = index<1>(x);
  const auto slopes = jacobian<jacobian_mode::forward>(stack<0>(square(a), square(b), a * b), x);
  session t{slopes};
  t.initialize();
  const auto [d] = t.run(fetch(slopes));
  CHECK(d(0, 0) == infinity);
  CHECK(d(0, 1) == 0);
  CHECK(d(1, 0) == 0);
  CHECK(d(1, 1) == 4);
  CHECK(d(2, 0) == 2);
  CHECK(d(2, 1) == infinity);
}

TEST_CASE("arrays of one element, empty arrays, and named dimensions") {
  const auto one = variable<"one", double, 1>(std::vector<double>{2});
  const auto none = slice<begins<0>, sizes<0>>(one);
  CHECK(steps(concat<0>(one, one)) == "cluster");
  CHECK(difference(concat<0>(one, one), concat<0>(one, none), reduce_sum(none), reverse<0>(one), reduce_sum(concat<0>(one, one))) == 0);
  const auto named = placeholder<"named", double, "n", 2>();
  CHECK(count(scalars_of(concat<1>(named, named)), "ConcatV2") == 1);
  const auto large = placeholder<"large", double, 17>();
  CHECK(count(scalars_of(concat<0>(large, large)), "ConcatV2") == 1);
  // What is small of a large array is read from it.
  const auto wide = placeholder<"wide", double, 100>();
  CHECK(count(scalars_of(concat<0>(slice<begins<40>, sizes<2>>(wide), slice<begins<7>, sizes<1>>(wide))), "TakeElement") == 3);
}

TEST_CASE("variables are written element by element, after they are read") {
  const auto a = variable<"a", double, 3>(std::vector<double>{1, 2, 3});
  const auto b = variable<"b", double, 3>(std::vector<double>{4, 5, 6});
  const auto turn = group(assign(a, concat<0>(slice<begins<1>, sizes<2>>(b), slice<begins<0>, sizes<1>>(a))), assign(b, reverse<0>(a)));
  CHECK(steps(turn) == "cluster");
  session s{turn};
  planned_session planned{turn};
  s.initialize();
  planned.initialize();
  for (int k = 0; k < 3; ++k) {
    s.run(fetch(turn));
    planned.run(fetch(turn));
    CHECK(apart(s.value(a), planned.value(a)) == 0);
    CHECK(apart(s.value(b), planned.value(b)) == 0);
  }
  s.initialize();
  s.run(fetch(turn));
  CHECK(s.value(a)(0) == 5);
  CHECK(s.value(a)(2) == 1);
  CHECK(s.value(b)(0) == 3);
}

TEST_CASE("systems of small matrices are those of the kernels") {
  const auto of = [](auto size) {
    constexpr std::int64_t n = decltype(size)::value;
    const auto a = variable<"a", double, n, n>(positive_definite<n>());
    const auto b = variable<"b", double, n, 2>(some_values<double, 2 * n>());
    const auto l = cholesky(a);
    CHECK(steps(cholesky_solve(l, b)) == "cluster");
    CHECK(difference(l, cholesky_solve(l, b), triangular_solve<true>(a, b), triangular_solve<false, true>(a, b)) < 1e-15);
    if constexpr (n <= 4) {
      const auto c = variable<"c", double, n, n>(some_values<double, n * n>(0.77));
      CHECK(steps(solve(c, b), solve<true>(c, b), inverse(c)) == "cluster");
      CHECK(difference(solve(c, b), solve<true>(c, b), inverse(c), solve(a, b), inverse<true>(a)) < 1e-12);
    }
  };
  of(std::integral_constant<std::int64_t, 1>{});
  of(std::integral_constant<std::int64_t, 2>{});
  of(std::integral_constant<std::int64_t, 3>{});
  of(std::integral_constant<std::int64_t, 4>{});
  of(std::integral_constant<std::int64_t, 6>{});
}

TEST_CASE("matrices that cannot be decomposed") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto of = [](std::vector<double> values) {
    const auto a = variable<"a", double, 3, 3>(values);
    CHECK(difference(cholesky(a), inverse(a), solve(a, slice<begins<0, 0>, sizes<3, 1>>(a))) < 1e-12);
    session s{cholesky(a)};
    s.initialize();
    const auto [l] = s.run(fetch(cholesky(a)));
    CHECK(l(0, 1) == 0);
    return std::array<double, 3>{l(0, 0), l(1, 0), l(2, 2)};
  };
  for (const double x : of({1, 2, 0, 2, 1, 0, 0, 0, 1})) CHECK(std::isnan(x));  // indefinite
  for (const double x : of({1, 1, 0, 1, 1, 0, 0, 0, 1})) CHECK(std::isnan(x));  // singular
  for (const double x : of({0, 0, 0, 0, 0, 0, 0, 0, 0})) CHECK(std::isnan(x));
  const auto with_nan = of({4, 0, 0, 2, nan, 0, 0, 0, 1});
  CHECK(with_nan[0] == 2);  // NaN is no failure
  CHECK(with_nan[1] == 1);
  // Rows are exchanged.
  const auto c = variable<"c", double, 2, 2>(std::vector<double>{0, 2, 4, 0});
  session s{inverse(c)};
  s.initialize();
  const auto [i] = s.run(fetch(inverse(c)));
  CHECK(i(0, 0) == 0);
  CHECK(i(0, 1) == 0.25);
  CHECK(i(1, 0) == 0.5);
  CHECK(i(1, 1) == 0);
}

TEST_CASE("the systems of many models are one loop over the models") {
  const auto of = [](auto size) {
    constexpr std::int64_t n = decltype(size)::value, models = 11;
    std::vector<double> all;
    for (int k = 0; k < models; ++k) {
      std::vector<double> one = positive_definite<n>();
      one[0] += 0.125 * k;
      if (k == 3) one[0] = -1;  // has no decomposition
      all.insert(all.end(), one.begin(), one.end());
    }
    const auto a = variable<"a", double, models, n, n>(all);
    const auto b = variable<"b", double, models, n, 2>(some_values<double, models * n * 2>());
    const auto shared = variable<"shared", double, n, n>(positive_definite<n>());
    const auto l = vmap([](const auto& x) { return cholesky(x); })(a);
    const auto x = vmap([](const auto& m, const auto& y) { return cholesky_solve(cholesky(m), y); })(a, b);
    const auto y = vmap([](const auto& m, const auto& right) { return solve(m, right); })(a, b);
    const auto inverses = vmap([](const auto& m) { return inverse(m); })(a);
    const auto by_shared = vmap([&](const auto& right) { return triangular_solve<true>(shared, right); })(b);
    CHECK(steps(x) == "cluster");
    CHECK(steps(y) == "cluster");
    CHECK(difference(l, x, y, inverses, by_shared) < 1e-13);
    session s{l, y};
    s.initialize();
    const auto [factors, solved] = s.run(fetch(l, y));
    for (std::size_t k = 0; k < models; ++k) {
      CHECK(std::isnan(factors(k, 0, 0)) == (k == 3));
      CHECK(std::isfinite(solved(k, 0, 0)));
      if (n > 1) CHECK(factors(k, 0, n - 1) == 0);
    }
    // As of one matrix at a time.
    const auto one = slice<begins<2, 0, 0>, sizes<1, n, n>>(a);
    const auto alone = cholesky(reshape<n, n>(one));
    session t{alone};
    t.initialize();
    const auto [single] = t.run(fetch(alone));
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) CHECK(single(i, j) == doctest::Approx(factors(2, i, j)).epsilon(1e-15));
  };
  of(std::integral_constant<std::int64_t, 1>{});
  of(std::integral_constant<std::int64_t, 2>{});
  of(std::integral_constant<std::int64_t, 4>{});
}

TEST_CASE("a program with too many elements keeps its arrays") {
  const auto x = placeholder<"x", double, 4, 4>();
  entered e;
  int last = flatten<std::remove_cvref_t<decltype(x)>>(e.g);
  const int first = last;
  const std::int64_t along[]{0, 4};
  for (int i = 0; i < 300; ++i) {
    const int in[]{last, first};
    last = e.g.add(i % 2 == 0 ? info_of<mul_op> : info_of<add_op>, in);
    if (i % 10 == 0) last = e.g.add(info_of<reverse_op>, {&last, 1}, {along, 1});
  }
  e.targets = {last};
  const graph g = at_run_time::unroll(at_run_time::simplify(e.g, e.targets), e.targets);
  CHECK(count(g, "ReverseV2") == 30);
  CHECK(count(g, "Assemble") == 0);
}

template <std::int64_t N>
void check_slope_of_rosenbrock(bool are_scalars) {
  const auto x = variable<"x", double, N>(some_values<double, N>());
  const auto first = slice<begins<0>, sizes<N - 1>>(x), next = slice<begins<1>, sizes<N - 1>>(x);
  const auto f = reduce_sum(100_c * square(next - square(first)) + square(1_c - first));
  const auto [slope] = gradients(f, x);
  CHECK((count(scalars_of(f, slope), "Assemble") > 0) == are_scalars);
  CHECK(difference(f, slope) == 0);
}

TEST_CASE("only a concatenation would be saved: many operations on registers are faster as loops, few as scalars") {
  check_slope_of_rosenbrock<4>(true);
  check_slope_of_rosenbrock<10>(false);
}
