// `index`, Python's x[...] of typed expressions: positions, ranges, steps in both directions, new axes, and named dimensions, compared with
// elements that a plain loop takes.

#include <leat/ops/index.hpp>

#include "support/check.hpp"
#include "support/interpreted_session.hpp"

#include <cstdint>
#include <string>
#include <vector>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

namespace {

// Python's range of a slice, one element after the other.
std::vector<std::size_t> taken(const axis_index& e, int size) {
  const auto place = [&](int at, int least, int most) {
    if (at < 0) at += size;
    return at < least ? least : at > most ? most : at;
  };
  std::vector<std::size_t> all;
  if (e.step > 0) {
    const int end = e.has_end ? place(e.end, 0, size) : size;
    for (int i = e.has_begin ? place(e.begin, 0, size) : 0; i < end; i += e.step) all.push_back(static_cast<std::size_t>(i));
  } else {
    const int end = e.has_end ? place(e.end, -1, size - 1) : -1;
    for (int i = e.has_begin ? place(e.begin, -1, size - 1) : size - 1; i > end; i += e.step) all.push_back(static_cast<std::size_t>(i));
  }
  return all;
}

// Ranges along the last axis of [2, n], by a session of all of them.
template <int N, axis_index... Entries>
void check_ranges() {
  const auto x = placeholder<"x", float, 2, N>();
  session s{index<along::rest(), Entries>(x)...};
  const auto xs = filled<float, 2>({2, N});
  const auto check = [&](const axis_index& e, const auto& got) {
    CAPTURE(N);
    CAPTURE(e.begin);
    CAPTURE(e.end);
    CAPTURE(e.step);
    const auto expected = taken(e, N);
    CHECK(got.shape()[1] == expected.size());
    if (got.shape()[1] != expected.size()) return;
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t k = 0; k < expected.size(); ++k) CHECK(got(i, k) == xs(i, expected[k]));
  };
  std::apply([&](const auto&... got) { (check(Entries, got), ...); }, s.run(fetch(index<along::rest(), Entries>(x)...), x = xs));
}

}  // namespace

TEST_CASE("ranges with steps in both directions") {
  check_ranges<7, along::all(), along::between(1, 5), along::from(3), along::until(2), along::from(-3), along::until(-2),
               along::between(-100, 100), along::between(5, 1), along::between(2, 2)>();
  check_ranges<7, along::all(2), along::all(3), along::from(1, 2), along::from(1, 3), along::between(1, 6, 2), along::between(0, 5, 4),
               along::all(7), along::all(100), along::from(5, 2)>();
  check_ranges<7, along::all(-1), along::all(-2), along::all(-3), along::from(4, -2), along::between(5, 1, -1), along::between(5, 0, -2),
               along::until(2, -1), along::until(0, -5), along::between(-1, -5, -2), along::between(1, 5, -1),
               along::between(100, -100, -3)>();
  check_ranges<1, along::all(), along::all(-1), along::all(2), along::from(1), along::until(-1)>();
  check_ranges<0, along::all(), along::all(-1), along::all(3), along::between(1, 2)>();
}

TEST_CASE("positions, new axes and the rest") {
  const auto x = placeholder<"x", float, "n", 6, 5, 7>();
  const auto part = index<along::all(), along::between(1, 5), along::new_axis(), 0, along::between(1, 6, 2)>(x);
  const auto last = index<along::rest(), -1>(x);
  const auto around = index<along::new_axis(), along::all(), 2, along::rest(), along::new_axis(), -2>(x);
  const auto both = index<along::all(), along::all(2), along::all(-2), along::from(1, 3)>(x);
  const auto one = index<along::all(), 3, 4, 5>(x);
  static_assert(decltype(part)::rank == 4 && decltype(part)::extent[1] == 4 && decltype(part)::extent[3] == 3);
  static_assert(decltype(part)::extent[2] == 1);
  static_assert(decltype(last)::rank == 3 && decltype(around)::rank == 4 && decltype(around)::extent[3] == 1);
  static_assert(std::is_same_v<decltype(index<along::rest()>(x)), std::remove_const_t<decltype(x)>>);
  static_assert(decltype(one)::rank == 1);
  session s{part, last, around, both, one};
  for (const std::size_t n : {0u, 1u, 3u}) {
    const auto xs = filled<float, 4>({n, 6, 5, 7});
    const auto [p, l, a, b, o] = s.run(fetch(part, last, around, both, one), x = xs);
    check_each("part", p, 0, [&](std::size_t i) { return xs(i / 12, 1 + i / 3 % 4, 0, 1 + 2 * (i % 3)); });
    check_each("last", l, 0, [&](std::size_t i) { return xs(i / 30, i / 5 % 6, i % 5, 6); });
    check_each("around", a, 0, [&](std::size_t i) { return xs(i / 5, 2, i % 5, 5); });
    check_each("both", b, 0, [&](std::size_t i) { return xs(i / 18, 2 * (i / 6 % 3), 4 - 2 * (i / 2 % 3), 1 + 3 * (i % 2)); });
    check_each("one", o, 0, [&](std::size_t i) { return xs(i, 3, 4, 5); });
  }
}

TEST_CASE("a named dimension is taken whole, in reverse, or at a position") {
  const auto x = placeholder<"x", std::int32_t, "batch", "time", 2>();
  const auto last = index<along::all(), -1>(x);
  const auto third = index<2>(x);
  const auto both = index<0, -2, along::new_axis(), along::all(-1)>(x);
  const auto back = index<along::all(-1), along::all(), 1>(x);
  static_assert(decltype(last)::rank == 2 && decltype(third)::rank == 2 && decltype(both)::rank == 2 && decltype(back)::rank == 2);
  session s{last, third, both, back};
  const auto xs = filled<std::int32_t, 3>({3, 4, 2}, 0, 100);
  const auto [l, t, o, b] = s.run(fetch(last, third, both, back), x = xs);
  check_each("last", l, 0, [&](std::size_t i) { return xs(i / 2, 3, i % 2); });
  check_each("third", t, 0, [&](std::size_t i) { return xs(2, i / 2, i % 2); });
  check_each("both", o, 0, [&](std::size_t i) { return xs(0, 2, 1 - i); });
  check_each("back", b, 0, [&](std::size_t i) { return xs(2 - i / 4, i % 4, 1); });
  CHECK_THROWS_AS((void)s.run(fetch(third), x = filled<std::int32_t, 3>({2, 4, 2})), invalid_argument);
  CHECK_THROWS_AS((void)s.run(fetch(last), x = filled<std::int32_t, 3>({2, 0, 2})), invalid_argument);
}

TEST_CASE("gradients reach the elements that were taken") {
  const auto x = placeholder<"x", double, "n", 5>();
  const auto w = placeholder<"w", double, "n", 3>();
  const auto [up] = gradients(reduce_sum(index<along::all(), along::all(2)>(x) * w), x);
  const auto [down] = gradients(reduce_sum(index<along::all(-1), along::all(-2)>(x) * w), x);
  const auto [single] = gradients(reduce_sum(square(index<along::all(), -2>(x))), x);
  const auto [row] = gradients(reduce_sum(square(index<-1>(x))), x);
  session s{up, down, single, row};
  const xt::xtensor<double, 2> xs{{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}}, ws{{1, 2, 3}, {4, 5, 6}};
  const auto [u, d, o, r] = s.run(fetch(up, down, single, row), x = xs, w = ws);
  CHECK(u == xt::xtensor<double, 2>{{1, 0, 2, 0, 3}, {4, 0, 5, 0, 6}});
  CHECK(d == xt::xtensor<double, 2>{{6, 0, 5, 0, 4}, {3, 0, 2, 0, 1}});
  CHECK(o == xt::xtensor<double, 2>{{0, 0, 0, 8, 0}, {0, 0, 0, 18, 0}});
  CHECK(r == xt::xtensor<double, 2>{{0, 0, 0, 0, 0}, {12, 14, 16, 18, 20}});
}
