// Decompositions of typed expressions: products of their parts are the matrices, gradients are those of differences, and matrices that
// cannot be decomposed give NaN.

#include <leat/ops/decompositions.hpp>
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

template <class T, std::int64_t N>
void check_cholesky() {
  CAPTURE(N);
  const auto a = placeholder<"a", T, "batch", N, N>();
  const auto b = placeholder<"b", T, "batch", N, 3>();
  const auto l = cholesky(a);
  const auto product = matmul<false, true>(l, l);
  const auto upper = matrix_band_part<0, -1>(l) - matrix_diag(matrix_diag_part(l));
  const auto rest = matmul(a, cholesky_solve(l, b)) - b;
  session s{product, upper, rest};
  for (const std::size_t batch : {0u, 1u, 3u}) {
    const auto wide = positive(batch, static_cast<std::size_t>(N));
    auto as = xt::xtensor<T, 3>::from_shape(wide.shape());
    for (std::size_t i = 0; i < as.size(); ++i) as.data()[i] = static_cast<T>(wide.data()[i]);
    const auto bs = filled<T, 3>({batch, static_cast<std::size_t>(N), 3});
    const auto [got, above, left] = s.run(fetch(product, upper, rest), a = as, b = bs);
    check_close("l lᵀ", got, as, tolerance<T>);
    check_each("above", above, 0, [](std::size_t) { return 0.0; });
    check_each("residuals", left, tolerance<T>, [](std::size_t) { return 0.0; });
  }
}

}  // namespace

TEST_CASE("Cholesky decompositions of each size and dtype") {
  check_cholesky<double, 1>();
  check_cholesky<float, 2>();
  check_cholesky<double, 3>();
  check_cholesky<double, 4>();
  check_cholesky<float, 5>();
  check_cholesky<double, 8>();
  check_cholesky<double, 40>();
}

TEST_CASE("matrices that are not positive definite, and values that are no numbers") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const auto a = placeholder<"a", double, 2, 2>();
  const auto l = cholesky(a);
  session s{l};
  const auto at = [&](double p, double q, double r, double t) {
    return std::get<0>(s.run(fetch(l), a = xt::xtensor<double, 2>{{p, q}, {r, t}}));
  };
  check_values(at(4, nan, 2, 3), {2, 0, 1, std::sqrt(2.0)});  // the upper half is not read
  check_values(at(1, 2, 2, 1), {nan, 0, nan, nan});
  check_values(at(0, 0, 0, 0), {nan, 0, nan, nan});
  check_values(at(1, 0, 0, nan), {1, 0, 0, nan});
  check_values(at(inf, 1, 1, 2), {inf, 0, 0, std::sqrt(2.0)});
  CHECK(evaluate(cholesky(constant<1.0, 3, 0, 0>())).size() == 0);
}

TEST_CASE("gradients of Cholesky decompositions against differences") {
  const auto a = placeholder<"a", double, "n", 3, 3>();
  const auto b = placeholder<"b", double, "n", 3, 2>();
  const auto even = matmul<false, true>(a, a) + constant<1.0>() * matrix_diag(constant<1.0, 3>());
  const auto l = cholesky(even);
  const auto x = cholesky_solve(l, b);
  check_matrix_slopes(reduce_sum(l * l * l) + reduce_sum(x * x), a, b, dominant(2, 3), filled<double, 3>({2, 3, 2}));
  const auto [slope] = gradients(reduce_sum(l * l * l), a);
  check_matrix_slopes(reduce_sum(slope * slope) * 0.01_c + reduce_sum(b), a, b, dominant(2, 3), filled<double, 3>({2, 3, 2}), 2e-5);
}

TEST_CASE("parts of matrices") {
  const auto x = constant<"x", double, 2, 3>({1, 2, 3, 4, 5, 6});
  check_values(evaluate(matrix_diag_part(x)), {1, 5});
  check_values(evaluate(matrix_diag_part(transpose<1, 0>(x))), {1, 5});
  check_values(evaluate(matrix_band_part<0, 1>(x)), {1, 2, 0, 0, 5, 6});
  check_values(evaluate(matrix_band_part<-1, 0>(x)), {1, 0, 0, 4, 5, 0});
  check_values(evaluate(matrix_diag(constant<"d", double, 2>({7, 8}))), {7, 0, 0, 8});
  check_values(evaluate(matrix_set_diag(x, constant<"d", double, 2>({7, 8}))), {7, 2, 3, 4, 8, 6});
  check_values(evaluate(matrix_set_diag(transpose<1, 0>(x), constant<"d", double, 2>({7, 8}))), {7, 4, 2, 8, 3, 6});
  CHECK(evaluate(trace(x)) == 6);
  const auto a = placeholder<"a", double, "n", 2, 3>();
  const auto b = placeholder<"b", double, "n", 2>();
  const auto all = matrix_set_diag(a, b) * a + matrix_band_part<0, 0>(a) * a;
  const auto loss = reduce_sum(all * all) + reduce_sum(matrix_diag(b) * matrix_diag(b * b)) + reduce_sum(square(trace(a) + 1_c));
  check_matrix_slopes(loss, a, b, filled<double, 3>({3, 2, 3}), filled<double, 2>({3, 2}), 1e-5);
}
