#include <leat/named/gradients/math.hpp>

#include "support/slopes.hpp"

#include <leat/graphs.hpp>

#include <doctest/doctest.h>

using namespace leat;
using leat_test::array;
using leat_test::check_slopes;
using leat_test::some;

namespace {
// Numbers between 0.1 and 0.9.
array positive(std::vector<std::int64_t> dims, unsigned seed) {
  array a = some(std::move(dims), seed);
  for (double& v : a.at) v = 0.5 + 0.4 * v;
  return a;
}
output call(const op_info& op, const output& x) { return x.owner().named().build(x.owner(), op, std::array{x}, {}, {}); }
}  // namespace

TEST_CASE("functions of one tensor, of known shape, unknown dimensions and unknown rank") {
  for (const shape_value& extent : {shape_value({2, 3}), shape_value({-1, 3}), unknown_shape}) {
    graph g;
    const auto scope = g.as_default();
    const auto x = placeholder(dtype::float32, extent, "x");
    std::vector<output> functions{call(info_of<neg_op>, x),
                                  call(info_of<reciprocal_op>, x),
                                  call(info_of<sqrt_op>, x),
                                  call(info_of<rsqrt_op>, x),
                                  call(info_of<tanh_op>, x),
                                  call(info_of<sigmoid_op>, x),
                                  call(info_of<abs_op>, x),
                                  call(info_of<square_op>, x),
                                  call(info_of<exp_op>, x),
                                  call(info_of<expm1_op>, x),
                                  call(info_of<log_op>, x),
                                  call(info_of<log1p_op>, x),
                                  call(info_of<sin_op>, x),
                                  call(info_of<cos_op>, x),
                                  call(info_of<tan_op>, x),
                                  call(info_of<asin_op>, x),
                                  call(info_of<acos_op>, x),
                                  call(info_of<atan_op>, x),
                                  call(info_of<sinh_op>, x),
                                  call(info_of<cosh_op>, x),
                                  call(info_of<erf_op>, x),
                                  cast(cast(x, dtype::float64), dtype::float32),
                                  l2_loss(x, {})};
    if (x.extent().has_rank())  // the gradients of these are their classes', which ask for it
      functions.insert(functions.end(), {erfc(x, {}), asinh(x, {}), acosh(x + 1.5f, {}), atanh(x, {}), lgamma(x, {}), selu(x - 0.5f, {}),
                                         softsign(x, {})});
    for (const output& y : functions) {
      INFO(y.name());
      check_slopes(y, {x}, {{"x", positive({2, 3}, 5)}});
      if (y.extent().rank != 0) check_slopes(square(y, {}), {x}, {{"x", positive({2, 3}, 6)}});
      const auto slope = gradients({square(y, {})}, {x})[0];
      check_slopes(square(slope, {}), {x}, {{"x", positive({2, 3}, 7)}});
    }
  }
}

TEST_CASE("functions of two tensors: repeated ones are summed over what a run repeats") {
  struct sizes {
    std::vector<std::int64_t> x, y;
  };
  const auto check = [](const shape_value& of_x, const shape_value& of_y, const sizes& s) {
    graph g;
    const auto scope = g.as_default();
    const auto x = placeholder(dtype::float32, of_x, "x");
    const auto y = placeholder(dtype::float32, of_y, "y");
    const auto made = {x + y,
                       x - y,
                       x * y,
                       x / y,
                       call_operator(g, "DivNoNan", {x, y}).result(),
                       maximum(x, y),
                       minimum(x, y),
                       pow(x, y),
                       squared_difference(x, y),
                       select(greater(x, 0.5f), x, y, "choice")};
    for (const output& z : made) {
      INFO(z.name());
      check_slopes(z, {x, y}, {{"x", positive(s.x, 7)}, {"y", positive(s.y, 9)}});
    }
  };
  check({2, 3}, {2, 3}, {{2, 3}, {2, 3}});
  check({2, 3}, {3}, {{2, 3}, {3}});
  check({2, 1}, {1, 3}, {{2, 1}, {1, 3}});
  check({-1, 3}, {-1, 1}, {{4, 3}, {1, 1}});
  check({-1}, {}, {{4}, {}});
  check(unknown_shape, unknown_shape, {{2, 3}, {3}});
  check(unknown_shape, {3}, {{3}, {3}});
}

TEST_CASE("products and reductions") {
  graph g;
  const auto scope = g.as_default();
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      const auto a = placeholder(dtype::float32, unknown_shape, "a");
      const auto b = placeholder(dtype::float32, {-1, -1}, "b");
      const std::string an = a.operation().name();
      const std::string bn = b.operation().name();
      check_slopes(square(matmul(a, b, {.transpose_a = ta, .transpose_b = tb}), {}), {a, b},
                   {{an, some(ta ? std::vector<std::int64_t>{3, 2} : std::vector<std::int64_t>{2, 3}, 1)},
                    {bn, some(tb ? std::vector<std::int64_t>{4, 3} : std::vector<std::int64_t>{3, 4}, 2)}});
    }
  for (const shape_value& extent : {shape_value({2, 3}), shape_value({-1, 3}), unknown_shape}) {
    const auto x = placeholder(dtype::float32, extent, "x");
    const std::string name = x.operation().name();
    for (const auto& axes : {index_list({0}), index_list({1}), index_list({0, 1}), index_list({-1}), index_list(1)})
      for (const keep_dims keep : {keep_dims::no, keep_dims::yes}) {
        check_slopes(square(reduce_sum(x, axes, keep), {}), {x}, {{name, some({2, 3}, 3)}});
        check_slopes(square(reduce_mean(x, axes, keep), {}), {x}, {{name, some({2, 3}, 4)}});
        check_slopes(square(reduce_max(x, axes, keep), {}), {x}, {{name, some({2, 3}, 5)}});
        check_slopes(square(reduce_min(x, axes, keep), {}), {x}, {{name, some({2, 3}, 6)}});
      }
    check_slopes(reduce_mean(x * x, all_axes), {x}, {{name, some({2, 3}, 7)}});
    check_slopes(add_n({x, x * x, x}), {x}, {{name, some({2, 3}, 8)}});
  }
  // axes that only a run knows
  const auto axis = placeholder(dtype::int32, {1}, "axis");
  const auto x = placeholder(dtype::float32, {2, 3}, "of_axis");
  check_slopes(square(reduce_sum(x, axis), {}), {x}, {{"of_axis", some({2, 3}, 9)}, {"axis", {{1}, {1}}}});
  check_slopes(square(reduce_mean(x, axis), {}), {x}, {{"of_axis", some({2, 3}, 9)}, {"axis", {{1}, {0}}}});
}

TEST_CASE("equal elements share the gradient of a maximum over axes; of two operands the first gets it") {
  graph g;
  const auto scope = g.as_default();
  const auto x = constant({2.0f, 1.0f, 2.0f}, "x");
  CHECK(leat_test::evaluator({})(gradients({reduce_max(x, {0})}, {x})[0]).at == std::vector<double>{0.5, 0, 0.5});
  const auto y = constant({2.0f, 3.0f, 1.0f}, "y");
  const auto both = gradients({maximum(x, y)}, {x, y});
  CHECK(leat_test::evaluator({})(both[0]).at == std::vector<double>{1, 0, 1});
  CHECK(leat_test::evaluator({})(both[1]).at == std::vector<double>{0, 1, 0});
  const auto quotient = call_operator(g, "DivNoNan", {x, constant({0.0f, 2.0f, 0.0f})}).result();
  CHECK(leat_test::evaluator({})(gradients({quotient}, {x})[0]).at == std::vector<double>{0, 0.5, 0});
}
