// Systems of linear equations, inverses and determinants of typed expressions: against products with the matrices, gradients against
// differences, and the limits: no rows, one, many, singular matrices, stacks, models.

#include <leat/ops/decompositions.hpp>
#include <leat/ops/solve.hpp>
#include <leat/session/typed/evaluate.hpp>
#include <leat/vmap.hpp>

#include "support/check.hpp"
#include "support/interpreted_session.hpp"
#include "support/matrices.hpp"

#include <cstdint>
#include <limits>
#include <vector>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

namespace {

template <class T>
constexpr double tolerance = std::is_same_v<T, float> ? 2e-4 : 1e-11;

template <class T, std::int64_t N, std::int64_t K>
void check_systems() {
  CAPTURE(N);
  const auto a = placeholder<"a", T, "batch", N, N>();
  const auto b = placeholder<"b", T, "batch", N, K>();
  const auto x = solve(a, b);
  const auto y = solve<true>(a, b);
  const auto u = inverse(a);
  const auto d = determinant(a);
  const auto [sign, logarithm] = log_determinant(a);
  const auto lower = triangular_solve(a, b);
  const auto upper = triangular_solve<false>(a, b);
  const auto lower_turned = triangular_solve<true, true>(a, b);
  const auto upper_turned = triangular_solve<false, true>(a, b);
  const auto back = std::tuple(
      matmul(a, x) - b, matmul<true, false>(a, y) - b, matmul(a, u) - matmul(a, transpose<0, 2, 1>(inverse<true>(a))),
      matmul(matrix_band_part<-1, 0>(a), lower) - b, matmul(matrix_band_part<0, -1>(a), upper) - b,
      matmul<true, false>(matrix_band_part<-1, 0>(a), lower_turned) - b, matmul<true, false>(matrix_band_part<0, -1>(a), upper_turned) - b);
  const auto whole = matmul(a, u);
  const auto apart = sign * exp(logarithm) / d;
  session s{std::get<0>(back),
            std::get<1>(back),
            std::get<2>(back),
            std::get<3>(back),
            std::get<4>(back),
            std::get<5>(back),
            std::get<6>(back),
            whole,
            apart};
  for (const std::size_t batch : {0u, 1u, 5u}) {
    CAPTURE(batch);
    auto as = filled<T, 3>({batch, static_cast<std::size_t>(N), static_cast<std::size_t>(N)});
    const auto bs = filled<T, 3>({batch, static_cast<std::size_t>(N), static_cast<std::size_t>(K)}, -1, 1, 3);
    for (std::size_t m = 0; m < batch; ++m)
      for (std::size_t i = 0; i < static_cast<std::size_t>(N); ++i) as(m, i, i) += static_cast<T>(i % 2 == 0 ? 3 : -2.5);
    std::apply(
        [&](const auto&... each) {
          (check_each("residuals", std::get<0>(s.run(fetch(each), a = as, b = bs)), tolerance<T>, [](std::size_t) { return 0.0; }), ...);
        },
        back);
    const auto [one, ratio] = s.run(fetch(whole, apart), a = as);
    REQUIRE(one.size() == batch * N * N);
    check_each("a inverse(a)", one, tolerance<T>, [](std::size_t at) { return at % (N * N) % (N + 1) == 0 ? 1.0 : 0.0; });
    REQUIRE(ratio.size() == batch);
    check_each("determinants", ratio, tolerance<T>, [](std::size_t) { return 1.0; });
  }
}

}  // namespace

TEST_CASE("systems of each size and dtype") {
  check_systems<double, 1, 1>();
  check_systems<double, 2, 3>();
  check_systems<float, 3, 1>();
  check_systems<double, 4, 2>();
  check_systems<float, 5, 7>();
  check_systems<double, 8, 1>();
  check_systems<double, 33, 4>();
}

TEST_CASE("values by hand") {
  const auto a = constant<"a", double, 2, 2>({1, 2, 3, 4});
  const auto b = constant<"b", double, 2, 1>({5, 6});
  const auto [sign, logarithm] = log_determinant(a);
  check_values(evaluate(solve(a, b)), {-4, 4.5});
  check_values(evaluate(solve<true>(a, b)), {-1, 2});
  check_values(evaluate(inverse(a)), {-2, 1, 1.5, -0.5});
  check_values(evaluate(inverse<true>(a)), {-2, 1.5, 1, -0.5});
  CHECK(evaluate(determinant(a)) == doctest::Approx(-2));
  CHECK(evaluate(sign) == -1);
  CHECK(evaluate(logarithm) == doctest::Approx(std::log(2.0)));
  check_values(evaluate(triangular_solve(a, b)), {5, -2.25});
  check_values(evaluate(triangular_solve<false>(a, b)), {2, 1.5});
}

TEST_CASE("matrices without elements, and without an inverse") {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const auto none = constant<1.0, 3, 0, 0>();
  check_values(evaluate(determinant(none)), {1, 1, 1});
  CHECK(evaluate(inverse(none)).size() == 0);
  CHECK(evaluate(solve(none, constant<1.0, 3, 0, 2>())).size() == 0);
  CHECK(evaluate(solve(constant<0.0, 2, 2>(), constant<1.0, 2, 0>())).size() == 0);
  const auto a = placeholder<"a", double, 2, 2>();
  const auto b = constant<"b", double, 2, 1>({1, 1});
  const auto [sign, logarithm] = log_determinant(a);
  const auto d = determinant(a);
  const auto x = solve(a, b);
  session s{sign, logarithm, d, x};
  const auto at = [&](std::array<double, 4> is) {
    return s.run(fetch(sign, logarithm, d, x), a = xt::xtensor<double, 2>{{is[0], is[1]}, {is[2], is[3]}});
  };
  {
    const auto [s1, l1, d1, x1] = at({1, 2, 2, 4});
    CHECK(s1 == 0);
    CHECK(l1 == -inf);
    CHECK(d1 == 0);
    CHECK(!std::isfinite(x1(0, 0)));
  }
  {
    const auto [s1, l1, d1, x1] = at({std::nan(""), 2, 2, 4});
    CHECK((std::isnan(s1) && std::isnan(l1) && std::isnan(d1) && std::isnan(x1(0, 0))));
  }
  {
    const auto [s1, l1, d1, x1] = at({1e300, 0, 0, -1e300});
    CHECK(d1 == -inf);
    CHECK(s1 == -1);
    CHECK(l1 == doctest::Approx(2 * std::log(1e300)));
  }
  const auto wide = constant<"wide", double, 4>({1e300, 1e300, 1e-300, 1e-300});
  CHECK(evaluate(determinant(matrix_diag(wide))) == doctest::Approx(1).epsilon(1e-10));
}

TEST_CASE("gradients against differences") {
  const auto a = placeholder<"a", double, "n", 3, 3>();
  const auto b = placeholder<"b", double, "n", 3, 2>();
  const auto [sign, logarithm] = log_determinant(a);
  const auto square_of = [](const auto& x) { return reduce_sum(x * x * x); };
  const auto as = dominant(2, 3);
  const auto bs = filled<double, 3>({2, 3, 2}, -1, 1, 5);
  check_matrix_slopes(square_of(solve(a, b)), a, b, as, bs);
  check_matrix_slopes(square_of(solve<true>(a, b)), a, b, as, bs);
  check_matrix_slopes(square_of(triangular_solve(a, b)), a, b, as, bs);
  check_matrix_slopes(square_of(triangular_solve<false, true>(a, b)), a, b, as, bs);
  check_matrix_slopes(square_of(inverse(a)) + reduce_sum(b), a, b, as, bs);
  check_matrix_slopes(square_of(inverse<true>(a)) + reduce_sum(b), a, b, as, bs);
  check_matrix_slopes(square_of(determinant(a)) + reduce_sum(b), a, b, as, bs);
  check_matrix_slopes(square_of(logarithm) + reduce_sum(sign) + reduce_sum(b), a, b, as, bs);
}

TEST_CASE("a second gradient: the curvature of a logarithm of a determinant") {
  const auto a = placeholder<"a", double, "n", 3, 3>();
  const auto b = placeholder<"b", double, "n", 3, 2>();
  const auto [sign, logarithm] = log_determinant(a);
  const auto [slope] = gradients(reduce_sum(logarithm * logarithm), a);
  check_matrix_slopes(reduce_sum(slope * slope) + reduce_sum(b), a, b, dominant(2, 3), filled<double, 3>({2, 3, 2}));
}

TEST_CASE("triangular systems broadcast, and so do their gradients") {
  const auto a = placeholder<"a", double, 3, 3>();
  const auto b = placeholder<"b", double, 2, 4, 3, 2>();
  const auto x = triangular_solve(a, b);
  static_assert(decltype(x)::rank == 4);
  check_matrix_slopes(reduce_sum(x * x), a, b, dominant_one(3), filled<double, 4>({2, 4, 3, 2}));
}

TEST_CASE("each model has a system of its own") {
  const auto a = placeholder<"a", double, 5, 3, 3>();
  const auto b = placeholder<"b", double, 3, 1>();
  const auto of_one = [](const auto& matrix, const auto& right) {
    return reduce_sum(solve(matrix, right)) + determinant(matrix) + reduce_sum(triangular_solve(matrix, right));
  };
  const auto all = vmap(of_one)(a, shared(b));
  const auto stacked = reduce_sum<1, 2>(solve(a, broadcast_to<5, 3, 1>(b))) + determinant(a) + reduce_sum<1, 2>(triangular_solve(a, b));
  session s{all, stacked};
  const auto [got, wanted] = s.run(fetch(all, stacked), a = dominant(5, 3), b = filled<double, 2>({3, 1}));
  check_each("models", got, 1e-12, [&](std::size_t i) { return wanted(i); });
}
