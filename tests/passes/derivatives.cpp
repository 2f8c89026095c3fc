#include <leat/passes/derivatives.hpp>

#include <leat/calculus.hpp>

#include "support/check.hpp"

#include <array>
#include <cmath>
#include <tuple>
#include <vector>

using namespace leat;
using namespace leat::literals;

namespace {

// Numbers that are neither equal nor round.
std::vector<double> numbers(std::size_t n, double from = -0.9) {
  std::vector<double> all;
  for (std::size_t i = 0; i < n; ++i) all.push_back(from + 0.37 * static_cast<double>(i) - (i % 3 == 2 ? 1.3 : 0));
  return all;
}
std::vector<double> moved(const std::vector<double>& x, const std::vector<double>& along, double step) {
  std::vector<double> all = x;
  for (std::size_t i = 0; i < all.size(); ++i) all[i] += step * along[i];
  return all;
}

const auto x = placeholder<"x", double, 3, 4>();
const auto v = placeholder<"v", double, 3, 4>();
constexpr double step = 1e-6;

// Forward mode against differences; reverse mode by the identity sum(weight * jvp) = sum(vjp * direction).
template <class Y>
void check_directions(const Y& y, double from = -0.9) {
  const auto weight = placeholder<"weight", double>() * (y * 0.3_c + 1_c);
  const auto fixed = stop_gradient(weight);
  const auto tangent = jvp(y, x, v);
  const auto both = std::tuple(reduce_sum(fixed * tangent), reduce_sum(vjp(y, fixed, x) * v));
  static_assert(std::is_same_v<typename decltype(tangent)::extents, typename Y::extents>);
  session s{y, tangent, std::get<0>(both), std::get<1>(both)};
  const auto xs = numbers(12, from), vs = numbers(12, 0.4);
  const auto [t, forward, reverse] =
      s.run(fetch(tangent, std::get<0>(both), std::get<1>(both)), placeholder<"weight", double>() = 0.7, x = xs, v = vs);
  const auto [up] = s.run(fetch(y), x = moved(xs, vs, step));
  const auto [down] = s.run(fetch(y), x = moved(xs, vs, -step));
  if constexpr (Y::rank == 0) {
    CHECK(t == doctest::Approx((up - down) / (2 * step)).epsilon(1e-7));
  } else {
    REQUIRE(t.size() == up.size());
    for (std::size_t i = 0; i < t.size(); ++i) CHECK(t.data()[i] == doctest::Approx((up.data()[i] - down.data()[i]) / (2 * step)).epsilon(1e-6));
  }
  CHECK(forward == doctest::Approx(reverse).epsilon(1e-10));
}

}  // namespace

TEST_CASE("jvp and vjp of operators of each kind, against differences and against each other") {
  const auto w = constant<"weights", double, 4, 2>(numbers(8));
  check_directions(exp(x) * sin(x) / (2_c + square(x)));
  check_directions(tanh(x) + sigmoid(x) + softplus(x) + elu(x) + erf(x));
  check_directions(reduce_sum<0>(x * x) * reduce_mean<0>(x));
  check_directions(reduce_max<1>(x) - reduce_min<0, 1>(x));
  check_directions(reduce_prod<1>(x));
  check_directions(matmul(x, w));
  check_directions(matmul<true, false>(x, tanh(matmul(x, w))));
  check_directions(softmax<1>(x) + log_softmax<0>(x));
  check_directions(select(x > 0_c, square(x), -x));
  check_directions(maximum(x, 0.2_c) * minimum(x, 0.1_c));
  check_directions(transpose<1, 0>(concat<0>(x, square(x))));
  check_directions(reshape<2, 6>(slice<begins<0, 1>, sizes<-1, 4>>(concat<1>(x, x * 2_c))) * 3_c);
  check_directions(pad<before<1, 0>, behind<0, 2>>(x) + 1_c);
  check_directions(cumsum<1>(x) * reverse<0>(x));
  check_directions(gather(x, constant<std::int64_t, 4>({2, 0, 0, 1})) * 0.5_c);
  check_directions(einsum<"ij,kj->ik">(x, x * x));
  check_directions(log(x + 3_c) * sqrt(x + 3_c) * pow(x + 3_c, 1.7_c), 0.1);
  check_directions(reduce_sum(std::get<0>(gradients(reduce_sum(x * x * x), x))));
}

TEST_CASE("several results and several operands move together") {
  const auto a = placeholder<"a", double, 3>();
  const auto b = placeholder<"b", double>();
  const auto da = placeholder<"da", double, 3>();
  const auto db = placeholder<"db", double>();
  const auto y = a * b;
  const auto z = reduce_sum(sin(a)) + b * b;
  const auto [ty, tz] = jvp(std::tuple(y, z), std::tuple(a, b), std::tuple(da, db));
  const auto [ga, gb] = vjp(std::tuple(y, z), std::tuple(a, b), std::tuple(a, b));
  session s{ty, tz, ga, gb};
  const std::vector<double> as{1, 2, -1}, das{0.5, -1, 2};
  const auto [moved_y, moved_z] = s.run(fetch(ty, tz), a = as, b = 3.0, da = das, db = -2.0);
  for (std::size_t i = 0; i < 3; ++i) CHECK(moved_y(i) == doctest::Approx(das[i] * 3 + as[i] * -2));
  CHECK(moved_z == doctest::Approx(std::cos(1) * 0.5 - std::cos(2) + std::cos(-1) * 2 + 2 * 3 * -2.0));
  const auto [slope_a, slope_b] = s.run(fetch(ga, gb), a = as, b = 3.0);
  for (std::size_t i = 0; i < 3; ++i) CHECK(slope_a(i) == doctest::Approx(as[i] * 3 + 3 * std::cos(as[i])));
  CHECK(slope_b == doctest::Approx(1 + 4 + 1 + 3 * 2 * 3.0));

  SUBCASE("a tuple of one gives a tuple of one") {
    const auto [one] = jvp(std::tuple(y), std::tuple(b), std::tuple(db));
    static_assert(std::is_same_v<std::remove_const_t<decltype(one)>, std::remove_const_t<decltype(jvp(y, b, db))>>);
  }
  SUBCASE("numbers that expressions carry come along") {
    const double factor = 2.5;
    const auto scaled = jvp(a * factor, a, da);
    CHECK(std::get<0>(session{scaled}.run(fetch(scaled), a = as, da = das))(2) == doctest::Approx(5.0));
  }
}

TEST_CASE("hvp is the product of the Hessian with a direction") {
  const auto loss = reduce_sum(exp(x) * reduce_sum_keep<1>(x * x * x));
  const auto along = hvp(loss, x, v);
  const auto slope = std::get<0>(gradients(loss, x));
  session s{along, slope};
  const auto xs = numbers(12), vs = numbers(12, 0.4);
  const auto [got] = s.run(fetch(along), x = xs, v = vs);
  const auto [up] = s.run(fetch(slope), x = moved(xs, vs, step));
  const auto [down] = s.run(fetch(slope), x = moved(xs, vs, -step));
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got.data()[i] == doctest::Approx((up.data()[i] - down.data()[i]) / (2 * step)).epsilon(1e-6));

  const auto a = placeholder<"a", double, 2>();
  const auto b = placeholder<"b", double>();
  const auto [of_a, of_b] = hvp(reduce_sum(a * a) * b, std::tuple(a, b), std::tuple(a, b));
  session t{of_a, of_b};
  const auto [first, second] = t.run(fetch(of_a, of_b), a = std::vector<double>{3, 4}, b = 2.0);
  CHECK(first(0) == 2 * 2 * 3 + 2 * 3 * 2);  // d2/da2 * a + d2/dadb * b
  CHECK(second == 2 * 25);
}

TEST_CASE("a value beside its gradients") {
  const auto a = placeholder<"a", float, 2>();
  const auto [y, slope] = value_and_gradient(reduce_sum(square(a)), a);
  session s{y, slope};
  const auto [value, at] = s.run(fetch(y, slope), a = std::vector<float>{3, 4});
  CHECK(value == 25);
  CHECK(at(1) == 8);
}

TEST_CASE("a derivative of a derivative, as often as one likes") {
  const auto a = placeholder<"a", double>();
  const auto one = constant<1.0>();
  const auto third = jvp(jvp(jvp(a * a * a * a, a, one), a, one), a, one);
  const auto mixed = std::get<0>(gradients(jvp(std::get<0>(gradients(sin(a), a)), a, one), a));
  session s{third, mixed};
  const auto [of_power, of_sine] = s.run(fetch(third, mixed), a = 0.75);
  CHECK(of_power == doctest::Approx(24 * 0.75));
  CHECK(of_sine == doctest::Approx(-std::cos(0.75)));
}
