#include <leat/passes/jacobian.hpp>

#include <leat/calculus.hpp>
#include <leat/vmap.hpp>

#include "support/check.hpp"

#include <cmath>
#include <type_traits>
#include <vector>

using namespace leat;
using namespace leat::literals;

namespace {

std::vector<double> numbers(std::size_t n, double from = -0.9) {
  std::vector<double> all;
  for (std::size_t i = 0; i < n; ++i) all.push_back(from + 0.37 * static_cast<double>(i) - (i % 3 == 2 ? 1.3 : 0));
  return all;
}

template <class A>
const double* data_of(const A& a) {
  if constexpr (std::is_arithmetic_v<A>) return &a;
  else return a.data();
}
template <class A>
std::size_t size_of_array(const A& a) {
  if constexpr (std::is_arithmetic_v<A>) return 1;
  else return a.size();
}

// Each column of each Jacobian against differences.
template <class Y, class X, class... Js>
void check_columns(double from, const Y& y, const X& x, const Js&... js) {
  session s{y, js...};
  constexpr auto columns = static_cast<std::size_t>(X::extent.elements());
  const auto xs = numbers(columns, from);
  const auto fed = [&](const std::vector<double>& values) {
    if constexpr (X::rank == 0) return x = values[0];
    else return x = values;
  };
  const std::tuple all{std::get<0>(s.run(fetch(js), fed(xs)))...};
  for (std::size_t c = 0; c < columns; ++c) {
    auto above = xs, below = xs;
    above[c] += 1e-6;
    below[c] -= 1e-6;
    const auto [up] = s.run(fetch(y), fed(above));
    const auto [down] = s.run(fetch(y), fed(below));
    const std::size_t rows = size_of_array(up);
    const auto check = [&](const double* got, std::size_t size) {
      REQUIRE(size == rows * columns);
      for (std::size_t r = 0; r < rows; ++r)
        CHECK(got[r * columns + c] == doctest::Approx((data_of(up)[r] - data_of(down)[r]) / 2e-6).epsilon(1e-6));
    };
    std::apply([&](const auto&... got) { (check(data_of(got), size_of_array(got)), ...); }, all);
  }
}
template <class Y, class X>
void check_all_modes(const Y& y, const X& x, double from = -0.9) {
  check_columns(from, y, x, jacobian(y, x), jacobian<jacobian_mode::forward>(y, x), jacobian<jacobian_mode::reverse>(y, x));
}

template <class Y, class X>
int shared_axes(const Y&, const X&) {
  graph g;
  const int y = flatten<Y>(g), x = flatten<X>(g);
  return passes::separable_axes_of(g, y, x);
}

const auto x = placeholder<"x", double, 3, 2>();
const auto vector = placeholder<"vector", double, 4>();
const auto scalar = placeholder<"scalar", double>();

}  // namespace

TEST_CASE("Jacobians in both modes, against differences") {
  const auto w = constant<"w", double, 2, 2>({0.3, -0.5, 0.7, 0.2});
  check_all_modes(tanh(matmul(x, w)), x);
  check_all_modes(matmul<true, false>(tanh(x), x), x);
  check_all_modes(exp(x) * x, x);
  check_all_modes(reduce_sum<0>(exp(x) * x), x);
  check_all_modes(reduce_sum(x * x), x);
  check_all_modes(softmax<0>(vector), vector);
  check_all_modes(transpose<1, 0>(square(x)), x);
  check_all_modes(concat<0>(slice<begins<1>, sizes<2>>(vector), square(vector)), vector);
  check_all_modes(constant<"v", double, 4>(numbers(4)) * square(scalar), scalar);
  check_all_modes(sin(scalar) * scalar, scalar);
  check_all_modes(reshape<4, 1>(vector) * reshape<1, 4>(vector), vector);
}

TEST_CASE("operators that vmap does not know are differentiated pass by pass") {
  const auto w = constant<"w", double, 2, 2, 1, 2>(numbers(8));
  const auto image = placeholder<"image", double, 1, 3, 3, 1>();
  const auto y = tanh(conv2d<1, padding::valid>(image, w));
  check_all_modes(y, image);
  const auto sums = unsorted_segment_sum<2>(vector * vector, constant<std::int32_t, 4>({0, 1, 1, 0}));
  check_all_modes(sums, vector);
}

TEST_CASE("axes along which entries do not meet share their passes") {
  const auto w = constant<"w", double, 2, 2>({0.3, -0.5, 0.7, 0.2});
  CHECK(shared_axes(x * 2_c, x) == 2);
  CHECK(shared_axes(sin(x) + reduce_sum<0>(stop_gradient(x)), x) == 2);
  CHECK(shared_axes(matmul(x, w), x) == 1);
  CHECK(shared_axes(matmul<false, true>(x, x), x) == 0);
  CHECK(shared_axes(softmax<1>(x), x) == 1);
  CHECK(shared_axes(softmax<0>(x), x) == 0);
  CHECK(shared_axes(reduce_sum<1>(x), x) == 1);
  CHECK(shared_axes(reduce_mean<1>(x) + constant<"three", double, 3>({1, 2, 3}), x) == 1);
  CHECK(shared_axes(reduce_sum<0>(x), x) == 0);
  CHECK(shared_axes(x - reduce_mean<0>(x), x) == 0);
  CHECK(shared_axes(transpose<1, 0>(x), x) == 0);
  CHECK(shared_axes(reshape<3, 1, 2>(x), x) == 1);
  CHECK(shared_axes(reshape<2, 3>(x), x) == 0);
  CHECK(shared_axes(concat<1>(x, square(x)), x) == 1);
  CHECK(shared_axes(concat<0>(x, square(x)), x) == 0);
  CHECK(shared_axes(slice<begins<0, 1>, sizes<-1, 1>>(x), x) == 1);
  CHECK(shared_axes(slice<begins<1, 0>, sizes<1, -1>>(x), x) == 0);
  CHECK(shared_axes(reverse<1>(x), x) == 1);
  CHECK(shared_axes(reverse<0>(x), x) == 0);
  CHECK(shared_axes(cumsum<1>(x), x) == 0);  // less than is true
  CHECK(shared_axes(std::get<0>(gradients(reduce_sum(exp(x) * x), x)), x) == 2);

  const auto batch = placeholder<"batch", double, "n", 2>();
  CHECK(shared_axes(matmul(tanh(batch), w), batch) == 1);
}

TEST_CASE("batches, whose size may be a name") {
  const auto batch = placeholder<"batch", double, "n", 2>();
  const auto w = constant<"w", double, 2, 3>(numbers(6));
  const auto y = tanh(matmul(batch, w)) * reduce_sum_keep<1>(batch);
  const auto each = batch_jacobian(y, batch);
  const auto each_reverse = batch_jacobian<jacobian_mode::reverse>(y, batch);
  static_assert(decltype(each)::rank == 3);
  const auto whole = jacobian(y, batch);
  session s{each, each_reverse, whole, y};
  const xt::xtensor<double, 2> values{{0.1, 0.5}, {-0.3, 0.9}, {1.1, -0.7}, {0.2, 0.3}};
  const auto [js, rs, all] = s.run(fetch(each, each_reverse, whole), batch = values);
  for (std::size_t b = 0; b < 4; ++b)
    for (std::size_t j = 0; j < 2; ++j) {
      auto above = values, below = values;
      above(b, j) += 1e-6;
      below(b, j) -= 1e-6;
      const auto [up] = s.run(fetch(y), batch = above);
      const auto [down] = s.run(fetch(y), batch = below);
      for (std::size_t i = 0; i < 3; ++i) {
        const double slope = (up(b, i) - down(b, i)) / 2e-6;
        CHECK(js(b, i, j) == doctest::Approx(slope).epsilon(1e-6));
        CHECK(rs(b, i, j) == doctest::Approx(slope).epsilon(1e-6));
        for (std::size_t other = 0; other < 4; ++other)
          CHECK(all(b, i, other, j) == doctest::Approx(b == other ? slope : 0.0).epsilon(1e-6));
      }
    }
}

TEST_CASE("Hessians") {
  const auto slope = [](const auto& y, const auto& by) { return std::get<0>(gradients(y, by)); };
  const auto rosenbrock = reduce_sum(100_c * square(slice<begins<1>, sizes<3>>(vector) - square(slice<begins<0>, sizes<3>>(vector))) +
                                     square(1_c - slice<begins<0>, sizes<3>>(vector)));
  check_columns(-0.9, slope(rosenbrock, vector), vector, hessian(rosenbrock, vector));
  const auto quartic = reduce_sum(square(square(x)));
  check_columns(-0.9, slope(quartic, x), x, hessian(quartic, x));
  const auto coupled = reduce_sum(exp(matmul<true, false>(x, x)));
  check_columns(0.1, slope(coupled, x), x, hessian(coupled, x));
}

TEST_CASE("a Jacobian within vmap, of each model its own") {
  const auto points = placeholder<"points", double, 5, 2>();
  const auto f = [](const auto& p) { return concat<0>(reshape<1>(reduce_sum(p * p)), sin(p)); };
  const auto all = vmap([&](const auto& p) { return jacobian(f(p), p); })(points);
  session s{all};
  const auto [got] = s.run(fetch(all), points = numbers(10));
  const auto ps = numbers(10);
  for (std::size_t k = 0; k < 5; ++k)
    for (std::size_t j = 0; j < 2; ++j) {
      CHECK(got(k, 0, j) == doctest::Approx(2 * ps[2 * k + j]));
      CHECK(got(k, 1, j) == doctest::Approx(j == 0 ? std::cos(ps[2 * k]) : 0));
      CHECK(got(k, 2, j) == doctest::Approx(j == 1 ? std::cos(ps[2 * k + 1]) : 0));
    }
}

TEST_CASE("dtypes that differ, and arrays without elements") {
  const auto single = placeholder<"single", float, 2>();
  const auto y = cast<double>(single * single) * 2_c;
  const auto j = jacobian<jacobian_mode::reverse>(reduce_sum(y), single);
  static_assert(std::is_same_v<decltype(j)::element, double>);
  session s{j, jacobian<jacobian_mode::forward>(reduce_sum(y), single)};
  CHECK(std::get<0>(s.run(fetch(j), single = std::vector<float>{3, 4}))(1) == 16);

  const auto none = placeholder<"none", double, 0>();
  const auto of_none = jacobian(square(none), none);
  session e{of_none};
  CHECK(std::get<0>(e.run(fetch(of_none), none = std::vector<double>{})).size() == 0);
}

TEST_CASE("a Jacobian has gradients of its own") {
  const auto y = vector * vector * vector;
  const auto loss = reduce_sum(square(jacobian(y, vector)));  // sum of (3 x^2)^2
  const auto slope = std::get<0>(gradients(loss, vector));
  session s{slope};
  const auto xs = numbers(4);
  const auto [got] = s.run(fetch(slope), vector = xs);
  for (std::size_t i = 0; i < 4; ++i) CHECK(got(i) == doctest::Approx(36 * std::pow(xs[i], 3)));
}
