// What an operator's class can say, in typed expressions.

#include "support/own_operators.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using namespace leat;
using namespace own;

namespace {
template <class X>
std::vector<double> list(const X& x) {
  return {x.begin(), x.end()};
}
void check(const std::vector<double>& is, const std::vector<double>& should) {
  REQUIRE(is.size() == should.size());
  for (std::size_t i = 0; i < is.size(); ++i) CHECK(is[i] == doctest::Approx(should[i]));
}
}  // namespace

TEST_CASE("an operator of several results, with the gradient of its expansion") {
  auto x = placeholder<"x", double, "n">();
  auto y = placeholder<"y", double, "n">();
  auto [radius, angle] = make_results<polar_op>(x, y);
  auto [dx, dy] = gradients(reduce_sum(radius + 2.0 * angle), x, y);
  session s{radius, angle, dx, dy};
  auto [r, a, gx, gy] = s.run(fetch(radius, angle, dx, dy), x = std::vector<double>{3, 0}, y = std::vector<double>{4, 2});
  check(list(r), {5, 2});
  check(list(a), {std::atan2(4, 3), std::acos(0)});
  check(list(gx), {0.6 - 2 * 4 / 25.0, -1});
  check(list(gy), {0.8 + 2 * 3 / 25.0, 1});
}

TEST_CASE("as many results as an attribute says") {
  auto x = placeholder<"x", double, 6>();
  auto [a, b, c] = make_results<parts_op, attributes<3>>(x);
  auto [dx] = gradients(reduce_sum(a * c), x);
  session s{b, dx};
  auto [middle, g] = s.run(fetch(b, dx), x = std::vector<double>{1, 2, 3, 4, 5, 6});
  check(list(middle), {3, 4});
  check(list(g), {5, 6, 0, 0, 1, 2});
}

TEST_CASE("a list of tensors, texts and other attributes") {
  auto x = placeholder<"x", double, "n">();
  auto y = placeholder<"y", double, "n">();
  auto z = make<blend_op, join_attributes<attributes<0, 1, half>, text_attribute<"exp">, attributes<1, 2>>>(x, y);
  auto most = make<largest_op>(x, y, 2.0 * x);
  auto [dx, dy] = gradients(reduce_sum(z), x, y);
  auto [mx] = gradients(reduce_sum(most), y);
  session s{z, dx, dy, most, mx};
  auto [v, gx, gy, m, gm] = s.run(fetch(z, dx, dy, most, mx), x = std::vector<double>{0.5, 1}, y = std::vector<double>{2, -1});
  const double e = -0.5 * std::exp(4.5), f = -0.5 * std::exp(2);
  check(list(v), {e, f});
  check(list(gx), {e, f});
  check(list(gy), {4 * e, -2 * f});
  check(list(m), {2, 2});
  check(list(gm), {1, 0});
}
