#include <leat/passes/variance.hpp>

#include "support/all_threads.hpp"
#include "support/check.hpp"
#include "support/graphs.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using namespace leat;
using namespace leat_test;

namespace {

constexpr std::int64_t rows = 1024, columns = 64;

// How many loops of a program run over all elements.
template <class... Es>
int passes_over(std::int64_t elements, const Es&... es) {
  int n = 0;
  for (const auto& s : program_of(es...).steps) {
    std::int64_t size = 1;
    for (const auto& l : s.loops) size *= l.factor;
    n += s.is_cluster && size == elements ? 1 : 0;
  }
  return n;
}

template <int... Axes, class X>
auto variance_of(const X& x) {
  return reduce_mean<Axes...>(square(x - reduce_mean_keep<Axes...>(x)));
}

xt::xtensor<float, 2> filled(auto element) {
  xt::xtensor<float, 2> x = xt::zeros<float>({rows, columns});
  for (std::size_t i = 0; i < x.shape()[0]; ++i)
    for (std::size_t j = 0; j < x.shape()[1]; ++j) x(i, j) = static_cast<float>(element(i, j));
  return x;
}

// Mean and variance of a column, in double.
std::pair<double, double> moments_of(const xt::xtensor<float, 2>& x, std::size_t column) {
  double mean = 0, variance = 0;
  for (std::size_t i = 0; i < x.shape()[0]; ++i) mean += static_cast<double>(x(i, column));
  mean /= static_cast<double>(x.shape()[0]);
  for (std::size_t i = 0; i < x.shape()[0]; ++i) variance += std::pow(static_cast<double>(x(i, column)) - mean, 2);
  return {mean, variance / static_cast<double>(x.shape()[0])};
}

struct both {
  xt::xtensor<float, 1> mean, variance;
};
both computed(const xt::xtensor<float, 2>& values) {
  const auto x = placeholder<"x", float, rows, columns>();
  const auto mean = reduce_mean<0>(x);
  const auto variance = variance_of<0>(x);
  session s{mean, variance};
  auto [m, v] = s.run(fetch(mean, variance), x = values);
  return {m, v};
}

}  // namespace

TEST_CASE("mean and variance of a large array's columns take one pass over it") {
  const auto x = placeholder<"x", float, rows, columns>();
  CHECK(passes_over(rows * columns, reduce_mean<0>(x), variance_of<0>(x)) == 1);
  CHECK(passes_over(rows * columns, variance_of<0>(x)) == 1);
  CHECK(passes_over(rows * columns, variance_of<0, 1>(x)) == 1);
  const auto [mean, variance] = moments<0>(x);
  CHECK(passes_over(rows * columns, mean, variance) == 1);
  const auto odd = placeholder<"odd", double, 1021, 9, 8>();  // divided by a number without an exact reciprocal
  CHECK(passes_over(1021 * 9 * 8, variance_of<0, 1>(odd)) == 1);
}

TEST_CASE("what is read again from the cache, or means something else, stays as it is written") {
  const auto x = placeholder<"x", float, rows, columns>();
  const auto small = placeholder<"small", float, 16, 8>();
  const auto named = placeholder<"named", float, "n", columns>();
  CHECK(passes_over(16 * 8, reduce_mean<0>(small), variance_of<0>(small)) == 2);
  CHECK(count(simplified(variance_of<0>(named)).g, "Slice") == 0);
  CHECK(count(simplified(variance_of<1>(x)).g, "Slice") == 0);
  CHECK(count(simplified(reduce_mean<0>(square(x - reduce_mean_keep<1>(x)))).g, "Slice") == 0);
  CHECK(count(simplified(reduce_mean<0>(square(x - reduce_mean_keep<0, 1>(x)))).g, "Slice") == 0);
  CHECK(count(simplified(reduce_mean<0>(square(x - reduce_mean_keep<0>(x) * 2.0f))).g, "Slice") == 0);
  CHECK(count(simplified(variance_of<0>(exp(x))).g, "Slice") == 0);
}

TEST_CASE("the variance is as exact as two passes, for data far from 0, with trends, and with one outlier") {
  const auto close = [](const xt::xtensor<float, 2>& x, double tolerance) {
    const both got = computed(x);
    for (std::size_t j = 0; j < x.shape()[1]; ++j) {
      const auto [mean, variance] = moments_of(x, j);
      CHECK(std::abs(static_cast<double>(got.mean(j)) - mean) <= 1e-6 * std::abs(mean) + 1e-6);
      CHECK(std::abs(static_cast<double>(got.variance(j)) - variance) <= tolerance * variance);
    }
  };
  close(filled([](std::size_t i, std::size_t j) { return pattern(i * columns + j, -1, 1); }), 1e-6);
  close(filled([](std::size_t i, std::size_t j) { return 4096 + pattern(i * columns + j, -1, 1); }), 1e-6);
  close(filled([](std::size_t i, std::size_t j) { return static_cast<double>(i) + static_cast<double>(j) / 64; }), 4e-6);
  // the pivot itself is the outlier: n times the rounding at worst
  close(filled([](std::size_t i, std::size_t j) { return i == 0 ? 1e6 : pattern(i * columns + j, -1, 1); }), rows * 1e-6);
  close(filled([](std::size_t i, std::size_t j) { return i == 700 ? 1e6 : pattern(i * columns + j, -1, 1); }), 1e-5);
}

TEST_CASE("equal elements have no variance, and what is no number stays none") {
  const both equal = computed(filled([](std::size_t, std::size_t j) { return 0.1 * static_cast<double>(j) + 1e5; }));
  for (const float v : equal.variance) CHECK(v == 0.0f);
  const auto infinity = std::numeric_limits<double>::infinity();
  for (const std::size_t where : {std::size_t{0}, std::size_t{500}}) {
    const both got = computed(filled([&](std::size_t i, std::size_t j) {
      if (i != where) return 0.5;
      return j == 1 ? infinity : j == 2 ? std::nan("") : 1.0;
    }));
    CHECK(got.mean(1) == std::numeric_limits<float>::infinity());
    CHECK(std::isnan(got.variance(1)));
    CHECK(std::isnan(got.mean(2)));
    CHECK(std::isnan(got.variance(2)));
    CHECK(got.variance(0) > 0.0f);
  }
}

TEST_CASE("the mean is the same to the bit with and without the variance, and neither depends on the number of threads") {
  const auto x = placeholder<"x", float, rows, columns>();
  const auto values = filled([](std::size_t i, std::size_t j) { return pattern(i * columns + j, -3, 5); });
  const auto mean = reduce_mean<0>(x);
  session s{mean};
  const auto [alone] = s.run(fetch(mean), x = values);
  const both first = computed(values);
  CHECK(first.mean == alone);
  for (const int n : {1, 2, 5}) {
    const all_threads set(n);
    const both again = computed(values);
    CHECK(again.mean == first.mean);
    CHECK(again.variance == first.variance);
  }
}

TEST_CASE("gradients go through the formula as it is written") {
  const auto x = placeholder<"x", float, rows, columns>();
  const auto variance = variance_of<0>(x);
  const auto [slope] = gradients(reduce_sum(variance), x);
  const auto values = filled([](std::size_t i, std::size_t j) { return pattern(i * columns + j, -1, 1); });
  session s{slope, variance};
  const auto [got, v] = s.run(fetch(slope, variance), x = values);
  for (std::size_t j = 0; j < 3; ++j) {
    const auto [mean, want] = moments_of(values, j);
    CHECK(std::abs(static_cast<double>(v(j)) - want) < 1e-6);
    for (std::size_t i = 0; i < 5; ++i)
      CHECK(std::abs(static_cast<double>(got(i, j)) - 2 * (static_cast<double>(values(i, j)) - mean) / rows) < 1e-8);
  }
}
