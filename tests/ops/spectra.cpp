// Decompositions with several results, of typed expressions: products of the parts, orthonormal vectors, gradients against differences.

#include <leat/ops/matrix_functions.hpp>
#include <leat/ops/spectra.hpp>
#include <leat/session/typed/evaluate.hpp>
#include <leat/vmap.hpp>

#include "support/check.hpp"
#include "support/interpreted_session.hpp"
#include "support/matrices.hpp"

#include <cstdint>
#include <limits>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

namespace {

template <class T>
constexpr double tolerance = std::is_same_v<T, float> ? 2e-5 : 1e-12;

template <class X>
auto gram(const X& x) {
  return matmul<true, false>(x, x);
}
const auto is_identity = [](std::size_t n) { return [n](std::size_t at) { return n > 0 && at % (n * n) % (n + 1) == 0 ? 1.0 : 0.0; }; };

template <class T, std::int64_t M, std::int64_t N, bool Full>
void check_rectangular() {
  CAPTURE(M);
  CAPTURE(N);
  CAPTURE(Full);
  const auto a = placeholder<"a", T, "batch", M, N>();
  const auto [q, r] = qr<Full>(a);
  const auto [s, u, v] = svd<Full>(a);
  constexpr std::int64_t k = M < N ? M : N;
  const auto values = singular_values(a) - s;
  const auto left = slice<begins<0, 0, 0>, sizes<-1, M, k>>(u) * expand_dims<1>(s);
  const auto again = matmul<false, true>(left, slice<begins<0, 0, 0>, sizes<-1, N, k>>(v));
  const auto of_q = gram(q), of_u = gram(u), of_v = gram(v);
  const auto product = matmul(q, r);
  session all{again, product, of_q, of_u, of_v, values};
  for (const std::size_t batch : {0u, 1u, 4u}) {
    const auto as = filled<T, 3>({batch, static_cast<std::size_t>(M), static_cast<std::size_t>(N)});
    const auto [got_svd, got_qr, qs, us, vs, differences] = all.run(fetch(again, product, of_q, of_u, of_v, values), a = as);
    check_close("u s v", got_svd, as, tolerance<T>);
    check_close("q r", got_qr, as, tolerance<T>);
    check_each("q", qs, tolerance<T>, is_identity(Full ? M : k));
    check_each("u", us, tolerance<T>, is_identity(Full ? M : k));
    check_each("v", vs, tolerance<T>, is_identity(Full ? N : k));
    check_each("values alone", differences, tolerance<T>, [](std::size_t) { return 0.0; });
  }
}
template <class T, std::int64_t N>
void check_symmetric() {
  CAPTURE(N);
  const auto a = placeholder<"a", T, "batch", N, N>();
  const auto [values, vectors] = symmetric_eigen(a);
  const auto again = matmul<false, true>(vectors * expand_dims<1>(values), vectors);
  const auto even = matrix_band_part<-1, 0>(a) + transpose<0, 2, 1>(matrix_band_part<-1, 0>(a)) - matrix_diag(matrix_diag_part(a));
  const auto rest = again - even, orthonormal = gram(vectors);
  const auto alone = symmetric_eigenvalues(a) - values;
  session all{rest, orthonormal, alone, values};
  for (const std::size_t batch : {0u, 1u, 4u}) {
    const auto as = filled<T, 3>({batch, static_cast<std::size_t>(N), static_cast<std::size_t>(N)});
    const auto [residual, product, differences, got] = all.run(fetch(rest, orthonormal, alone, values), a = as);
    check_each("v e v", residual, tolerance<T>, [](std::size_t) { return 0.0; });
    check_each("vectors", product, tolerance<T>, is_identity(static_cast<std::size_t>(N)));
    check_each("values alone", differences, tolerance<T>, [](std::size_t) { return 0.0; });
    for (std::size_t i = 0; i < got.size(); ++i)
      if (i % static_cast<std::size_t>(N) > 0) CHECK(got.data()[i] >= got.data()[i - 1]);
  }
}

}  // namespace

TEST_CASE("orthonormal columns and triangles, singular values and vectors") {
  check_rectangular<double, 1, 1, false>();
  check_rectangular<double, 3, 2, false>();
  check_rectangular<double, 3, 2, true>();
  check_rectangular<float, 2, 3, false>();
  check_rectangular<double, 2, 3, true>();
  check_rectangular<double, 4, 4, true>();
  check_rectangular<float, 20, 7, true>();
}

TEST_CASE("eigenvalues and eigenvectors") {
  check_symmetric<double, 1>();
  check_symmetric<double, 2>();
  check_symmetric<float, 3>();
  check_symmetric<double, 4>();
  check_symmetric<double, 25>();
}

TEST_CASE("values by hand") {
  const auto a = constant<"a", double, 3, 2>({3, 1, 4, 2, 0, 5});
  const auto [q, r] = qr(a);
  check_values(evaluate(r), {-5, -2.2, 0, -5.015974481593781});
  check_values(evaluate(q), {-0.6, 0.06379617782631186, -0.8, -0.047847133369733896, 0, -0.996815278536125});
  const auto [s, u, v] = svd(a);
  check_values(evaluate(s), {6.227400274005074, 4.027342278391734});
  check_values(evaluate(abs(v)), {0.6238505014869474, 0.7815436979430415, 0.7815436979430415, 0.6238505014869474});
  const auto [values, vectors] = symmetric_eigen(constant<"b", double, 2, 2>({2, 100, 1, 2}));
  check_values(evaluate(values), {1, 3});
  check_values(evaluate(abs(vectors)), {std::sqrt(0.5), std::sqrt(0.5), std::sqrt(0.5), std::sqrt(0.5)});
  check_values(evaluate(expm(constant<"c", double, 2, 2>({1, 2, 2, 4}))),
               {30.482631820515156, 58.96526364103029, 58.96526364103031, 118.9305272820606}, 1e-13);
  check_values(evaluate(expm(constant<0.0, 2, 2>())), {1, 0, 0, 1});
  CHECK(evaluate(expm(constant<1.0, 3, 0, 0>())).size() == 0);
  check_values(evaluate(expm(constant<"d", float, 1, 1>({10}))), {std::exp(10.0)}, 1e-5);
}

TEST_CASE("matrices of zeros, of ones and of values that are no numbers") {
  const auto a = placeholder<"a", double, 3, 3>();
  const auto [values, vectors] = symmetric_eigen(a);
  const auto [s, u, v] = svd(a);
  const auto [q, r] = qr(a);
  const auto e = expm(a);
  const auto product = gram(u);
  session all{values, s, product, q, e};
  for (const double of : {0.0, 1.0, 1e200, 1e-200}) {
    CAPTURE(of);
    const xt::xtensor<double, 2> as{{of, of, of}, {of, of, of}, {of, of, of}};
    const auto [got_values, got_s, got_u, got_q] = all.run(fetch(values, s, product, q), a = as);
    const double unit = of == 0 ? 1 : of;
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(got_values(i) / unit == doctest::Approx(i == 2 && of != 0 ? 3 : 0).epsilon(1e-14).scale(1));
      CHECK(got_s(i) / unit == doctest::Approx(i == 0 && of != 0 ? 3 : 0).epsilon(1e-14).scale(1));
    }
    check_each("u", got_u, 1e-14, is_identity(3));
  }
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const xt::xtensor<double, 2> as{{1, 2, 3}, {4, bad, 6}, {7, 8, 9}};
    const auto [got_values, got_s, got_e] = all.run(fetch(values, s, e), a = as);
    for (std::size_t i = 0; i < 3; ++i) CHECK((std::isnan(got_values(i)) && std::isnan(got_s(i)) && std::isnan(got_e(i, i))));
  }
}

TEST_CASE("gradients against differences") {
  const auto a = placeholder<"a", double, "n", 3, 3>();
  const auto b = placeholder<"b", double, "n", 4, 3>();
  const auto cube = [](const auto& x) { return reduce_sum(x * x * x); };
  const auto as = positive(2, 3);
  const auto bs = filled<double, 3>({2, 4, 3}, -1, 1, 5);
  const auto [values, vectors] = symmetric_eigen(a);
  const auto [q, r] = qr(b);
  const auto [s, u, v] = svd(b);
  const auto [qa, ra] = qr<true>(a);
  const auto [sa, ua, va] = svd<true>(a);
  // The signs of vectors are free: squares are not.
  const auto of = [](const auto& x) { return reduce_sum(x * x * x * x); };
  check_matrix_slopes(cube(symmetric_eigenvalues(a)) * 0.01_c + cube(singular_values(b)), a, b, as, bs, 1e-5);
  check_matrix_slopes(cube(values) * 0.01_c + of(vectors) + cube(q) + cube(r), a, b, as, bs, 1e-5);
  check_matrix_slopes(cube(sa) * 0.001_c + of(ua) + of(va) + cube(qa) + of(s) + of(u) + of(v), a, b, as, bs, 1e-5);
  const auto wide = transpose<0, 2, 1>(b);
  const auto [qw, rw] = qr(wide);
  const auto [sw, uw, vw] = svd(wide);
  const auto [sf, uf, vf] = svd<true>(wide);
  check_matrix_slopes(reduce_sum(expm(a * 0.1_c)) + cube(qw) + cube(rw) + of(sw) + of(uw) + of(vw) + of(vf), a, b, as, bs, 1e-5);
}

TEST_CASE("each model has a matrix of its own") {
  const auto a = placeholder<"a", double, 5, 3, 3>();
  const auto of_one = [](const auto& x) {
    const auto [values, vectors] = symmetric_eigen(x);
    const auto [q, r] = qr(x);
    return reduce_sum(values) + reduce_sum(square(vectors)) + reduce_sum(q) + reduce_sum(singular_values(x)) + reduce_sum(expm(x));
  };
  const auto all = vmap(of_one)(a);
  const auto [values, vectors] = symmetric_eigen(a);
  const auto [q, r] = qr(a);
  const auto stacked = reduce_sum<1>(values) + reduce_sum<1, 2>(square(vectors)) + reduce_sum<1, 2>(q) + reduce_sum<1>(singular_values(a)) +
                       reduce_sum<1, 2>(expm(a));
  session s{all, stacked};
  const auto [got, wanted] = s.run(fetch(all, stacked), a = dominant(5, 3));
  check_each("models", got, 1e-12, [&](std::size_t i) { return wanted(i); });
}
