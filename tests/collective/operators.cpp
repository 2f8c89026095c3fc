#include <leat/collective/operators.hpp>
#include <leat/leat.hpp>
#include <leat/planned.hpp>

#include "collective/support/ranks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

namespace {

collective::communicator& ranks() { return collective::communicator::current(); }

// Calls `f` with the number of ranks as a constant.
template <class F>
void with_ranks(F f) {
  if (size() == 1) f(std::integral_constant<int, 1>{});
  else if (size() == 2) f(std::integral_constant<int, 2>{});
  else if (size() == 3) f(std::integral_constant<int, 3>{});
  else FAIL("a run of 1 to 3 ranks");
}

template <class T>
void check_reductions() {
  const auto x = placeholder<"x", T, 2, 3>();
  const auto sum = all_reduce(x);
  const auto mean = all_reduce<reduce_by::mean, "mean">(x);
  const auto least = all_reduce<reduce_by::minimum>(x);
  const auto most = all_reduce<reduce_by::maximum>(x);
  const auto check = [&](auto& s) {
    const std::vector<T> values{T(1 + rank()), T(-2), T(10 * rank()), T(0), T(7), T(-rank())};
    const auto [a, b, c, d] = s.run(fetch(sum, mean, least, most), x = values);
    CHECK(a(0, 0) == over_ranks([](int r) { return T(1 + r); }));
    CHECK(a(0, 1) == T(-2 * size()));
    CHECK(a(1, 2) == over_ranks([](int r) { return T(-r); }));
    CHECK(b(0, 0) == over_ranks([](int r) { return T(1 + r); }) / T(size()));
    CHECK(b(1, 1) == T(7));
    CHECK(b(1, 2) == over_ranks([](int r) { return T(-r); }) / T(size()));
    CHECK(c(0, 2) == T(0));
    CHECK(c(1, 2) == T(1 - size()));
    CHECK(d(0, 0) == T(size()));
    CHECK(d(0, 2) == T(10 * (size() - 1)));
  };
  session s{sum, mean, least, most};
  check(s);
  planned_session p{sum, mean, least, most};
  check(p);
}

}  // namespace

TEST_CASE("all_reduce of every dtype and kind, compiled and planned") {
  check_reductions<float>();
  check_reductions<double>();
  check_reductions<std::int32_t>();
  check_reductions<std::int64_t>();
}

TEST_CASE("all_reduce of sizes that a run knows, within other operators") {
  const auto x = placeholder<"x", float, "n">();
  const auto y = all_reduce(x * 2_c) + 1_c;
  session s{y};
  const auto [few] = s.run(fetch(y), x = std::vector<float>{1, 2});
  CHECK(few(1) == 4 * static_cast<float>(size()) + 1);
  const auto [more] = s.run(fetch(y), x = std::vector<float>(100000, static_cast<float>(rank())));
  CHECK(more(99999) == 2 * over_ranks([](int r) { return static_cast<float>(r); }) + 1);
}

TEST_CASE("several arrays of any sizes in one call, in place and elsewhere, added in the order of ranks") {
  // Sums of these depend on their order.
  const auto number = [](int r, std::size_t k) {
    return (r == 1 ? 1e8f : 1.0f / static_cast<float>(3 + r)) + static_cast<float>(k % 1000);
  };
  const char* const most = std::getenv("LEAT_TEST_DIRECT_RANKS");
  for (const bool in_place : {false, true})
    for (const reduce_by how : {reduce_by::mean, reduce_by::sum, reduce_by::minimum, reduce_by::maximum}) {
      std::vector<shape> extents;
      std::vector<std::vector<float>> given, got;
      std::vector<const void*> from;
      std::vector<void*> to;
      for (const std::int64_t n : {1, 0, 4095, 5000, 1, 63, 2500000, 300, 4096, 65, 17}) {
        shape s;
        s.push(n);
        extents.push_back(s);
        given.emplace_back(static_cast<std::size_t>(n));
        for (std::size_t k = 0; k < given.back().size(); ++k) given.back()[k] = number(rank(), k);
        got.emplace_back(static_cast<std::size_t>(n));
      }
      for (std::size_t k = 0; k < given.size(); ++k) {
        from.push_back(given[k].data());
        to.push_back(in_place ? given[k].data() : got[k].data());
      }
      ranks().all_reduce({"all", dtype::float32, extents}, how, from, to);
      std::size_t wrong = 0;
      for (std::size_t k = 0; k < given.size(); ++k)
        for (std::size_t i = 0; i < given[k].size(); ++i) {
          float expected = number(0, i);
          for (int r = 1; r < size(); ++r) {
            const float x = number(r, i);
            expected = how == reduce_by::minimum ? std::min(expected, x) : how == reduce_by::maximum ? std::max(expected, x) : expected + x;
          }
          if (how == reduce_by::mean) expected /= static_cast<float>(size());
          const float its = static_cast<const float*>(to[k])[i];
          // MPI's collectives may add in another order.
          if (most != nullptr ? std::abs(its - expected) > 1e-6f * std::abs(expected) : its != expected) ++wrong;
        }
      CHECK(wrong == 0);
    }
}

TEST_CASE("ranks that differ in what they reduce all hear it, and go on") {
  if (size() == 1) return;
  std::vector<float> x(30000, 1), y(30000);
  const auto reduce = [&](std::int64_t n, std::string_view name) {
    shape s;
    s.push(n);
    const void* const from[]{x.data()};
    void* const to[]{y.data()};
    ranks().all_reduce({name, dtype::float32, {&s, 1}}, reduce_by::sum, from, to);
  };
  for (int k = 0; k < 20; ++k) {
    // Sizes that travel with the agreement and sizes that do not.
    CHECK_THROWS_WITH_AS(reduce(rank() == 0 ? 30000 : 5, "x"), doctest::Contains("about to do different things"), invalid_argument);
    CHECK_THROWS_AS(reduce(10, rank() == size() - 1 ? "x" : "y"), invalid_argument);
    reduce(30000, "x");
    CHECK(y[29999] == static_cast<float>(size()));
    reduce(5, "x");
  }
}

TEST_CASE("all_gather and broadcast") {
  with_ranks([](auto n) {
    constexpr int count = decltype(n)::value;
    const auto x = placeholder<"x", float, 2, 2>();
    const auto one = placeholder<"one", std::int64_t>();
    const auto all = all_gather<count>(x * 1_c);
    const auto numbers = all_gather<count, "numbers">(one);
    const auto last = broadcast<count - 1>(x);
    static_assert(decltype(all)::extent[0] == 2 * count && decltype(numbers)::extent[0] == count);
    const auto check = [&](auto& s) {
      const auto r = static_cast<float>(rank());
      const auto [a, b, c] = s.run(fetch(all, numbers, last), x = std::vector<float>{r, 1, 2, 10 * r}, one = std::int64_t{rank() * rank()});
      for (int k = 0; k < count; ++k) {
        const auto row = static_cast<std::size_t>(2 * k);
        CHECK(a(row, 0) == static_cast<float>(k));
        CHECK(a(row + 1, 0) == 2);
        CHECK(a(row + 1, 1) == static_cast<float>(10 * k));
        CHECK(b(static_cast<std::size_t>(k)) == k * k);
      }
      CHECK(c(0, 0) == static_cast<float>(count - 1));
      CHECK(c(1, 1) == static_cast<float>(10 * (count - 1)));
    };
    session s{all, numbers, last};
    check(s);
    planned_session p{all, numbers, last};
    check(p);
  });
}

TEST_CASE("gradients of collectives are collectives") {
  with_ranks([](auto n) {
    constexpr int count = decltype(n)::value;
    const auto x = placeholder<"x", double, 2>();
    const auto weight = placeholder<"weight", double>();  // another one on each rank
    const auto check = [&](const auto& y, auto expected) {
      const auto [slope] = gradients(reduce_sum(y) * weight, x);
      const auto run = [&](auto& s) {
        const auto [dx] = s.run(fetch(slope), x = std::vector<double>{1.0 + rank(), 3.0}, weight = 1.0 + rank());
        CHECK(dx(0) == doctest::Approx(expected(0)));
        CHECK(dx(1) == doctest::Approx(expected(1)));
      };
      session s{slope};
      run(s);
      planned_session p{slope};
      run(p);
    };
    const double weights = over_ranks([](int r) { return 1.0 + r; });
    check(all_reduce(x), [&](int) { return weights; });
    check(all_reduce<reduce_by::mean>(x), [&](int) { return weights / count; });
    // The largest is the last rank's; the second is everybody's.
    check(all_reduce<reduce_by::maximum>(x), [&](int k) { return k == 1 ? weights / count : rank() == count - 1 ? weights : 0; });
    check(all_reduce<reduce_by::minimum>(x), [&](int k) { return k == 1 ? weights / count : rank() == 0 ? weights : 0; });
    check(broadcast<count - 1>(x), [&](int) { return rank() == count - 1 ? weights : 0; });
    check(square(all_reduce(x)), [&](int k) {
      const double sum = k == 0 ? weights : 3.0 * count;
      return 2 * sum * weights;
    });
    // Each rank's rows are weighted by their place among all.
    std::array<double, 2 * count> place{};
    for (std::size_t k = 0; k < place.size(); ++k) place[k] = static_cast<double>(k);
    check(all_gather<count>(x) * constant<"places", double, 2 * count>(place), [&](int k) { return weights * (2 * rank() + k); });
    // The gradient of a gradient: of (sum over ranks of x)^3, 6 times the sum, times the weights' square.
    const auto cube = all_reduce(x) * square(all_reduce(x));
    const auto [first] = gradients(reduce_sum(cube), x);
    const auto [second] = gradients(reduce_sum(first), x);
    session s{second};
    const auto [d] = s.run(fetch(second), x = std::vector<double>{1.0 + rank(), 3.0});
    CHECK(d(0) == doctest::Approx(6 * weights * count * count));
  });
}
