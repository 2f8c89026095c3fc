#include <leat/leat.hpp>
#include <leat/ops/array_parts.hpp>

#include <doctest/doctest.h>

using namespace leat;
using namespace leat::literals;

TEST_CASE("stack puts arrays side by side along a new axis") {
  const auto a = placeholder<"a", float, 3>();
  const auto b = placeholder<"b", float, 3>();
  const auto rows = stack(a, b);
  const auto columns = stack<1>(a, b);
  const auto last = stack<-1>(a, b, a);
  const auto by_hand = concat<1>(expand_dims<1>(a), expand_dims<1>(b));
  const auto slope = gradients(reduce_sum(columns * columns), a);
  session s{rows, columns, last, by_hand, std::get<0>(slope)};
  const auto [r, c, l, h, d] =
      s.run(fetch(rows, columns, last, by_hand, std::get<0>(slope)), a = std::vector{1.0f, 2.0f, 3.0f}, b = std::vector{4.0f, 5.0f, 6.0f});
  CHECK(r == xt::xtensor<float, 2>{{1, 2, 3}, {4, 5, 6}});
  CHECK(c == xt::xtensor<float, 2>{{1, 4}, {2, 5}, {3, 6}});
  CHECK(h == c);
  CHECK(l == xt::xtensor<float, 2>{{1, 4, 1}, {2, 5, 2}, {3, 6, 3}});
  CHECK(d == xt::xtensor<float, 1>{2, 4, 6});
  const auto x = placeholder<"x", std::int32_t>();
  const auto y = placeholder<"y", std::int32_t>();
  const auto numbers = stack(x, y);
  session t{numbers};
  CHECK(std::get<0>(t.run(fetch(numbers), x = 7, y = 8)) == xt::xtensor<std::int32_t, 1>{7, 8});
}
