#include <leat/ops/functions.hpp>

#include "support/check.hpp"
#include "support/interpreted_session.hpp"
#include "support/powers.hpp"

using namespace leat;
using namespace leat_test;

namespace {

struct plain {
  const char* name;
  double (*value)(double);
};

// The values of `es` and their derivatives for x, in one run, against plain functions, for all lengths.
template <class X, std::size_t N, class... Es>
void check_functions(const X& x, const std::array<plain, N>& functions, double low, double high, const Es&... es) {
  using T = typename X::element;
  static_assert(N == sizeof...(Es));
  session s{es..., std::get<0>(gradients(es, x))...};
  for (const auto n : lengths) {
    const auto xs = filled<T, 1>({n}, low, high);
    const auto results = s.run(fetch(es..., std::get<0>(gradients(es, x))...), x = xs);
    const auto check = [&]<std::size_t... I>(std::index_sequence<I...>) {
      const auto one = [&](const plain& f, const auto& value, const auto& derivative) {
        check_each(f.name, value, tolerance_of<T>, [&](std::size_t i) { return f.value(static_cast<double>(xs(i))); });
        check_each(std::string("derivative of ") + f.name, derivative, std::is_same_v<T, float> ? 2e-5 : 1e-8,
                   [&](std::size_t i) { return slope(f.value, static_cast<double>(xs(i))); });
      };
      (one(functions[I], std::get<I>(results), std::get<I + N>(results)), ...);
    };
    check(std::make_index_sequence<N>{});
  }
}

}  // namespace

TEST_CASE_TEMPLATE("exponentials and logarithms", T, float, double) {
  const auto x = placeholder<"x", T, "n">();
  const std::array<plain, 6> functions{{{"exp", [](double v) { return std::exp(v); }},
                                        {"expm1", [](double v) { return std::expm1(v); }},
                                        {"tanh", [](double v) { return std::tanh(v); }},
                                        {"sigmoid", [](double v) { return 1 / (1 + std::exp(-v)); }},
                                        {"softplus", [](double v) { return std::log1p(std::exp(v)); }},
                                        {"erf", [](double v) { return std::erf(v); }}}};
  check_functions(x, functions, -3, 3, exp(x), expm1(x), tanh(x), sigmoid(x), softplus(x), erf(x));
  const std::array<plain, 4> positive{{{"log", [](double v) { return std::log(v); }},
                                       {"log1p", [](double v) { return std::log1p(v); }},
                                       {"sqrt", [](double v) { return std::sqrt(v); }},
                                       {"rsqrt", [](double v) { return 1 / std::sqrt(v); }}}};
  check_functions(x, positive, 0.3, 5, log(x), log1p(x), sqrt(x), rsqrt(x));
}

TEST_CASE_TEMPLATE("trigonometry", T, float, double) {
  const auto x = placeholder<"x", T, "n">();
  const std::array<plain, 6> functions{{{"sin", [](double v) { return std::sin(v); }},
                                        {"cos", [](double v) { return std::cos(v); }},
                                        {"tan", [](double v) { return std::tan(v); }},
                                        {"atan", [](double v) { return std::atan(v); }},
                                        {"sinh", [](double v) { return std::sinh(v); }},
                                        {"cosh", [](double v) { return std::cosh(v); }}}};
  check_functions(x, functions, -1.3, 1.3, sin(x), cos(x), tan(x), atan(x), sinh(x), cosh(x));
  const std::array<plain, 2> inverse{{{"asin", [](double v) { return std::asin(v); }}, {"acos", [](double v) { return std::acos(v); }}}};
  check_functions(x, inverse, -0.9, 0.9, asin(x), acos(x));
}

TEST_CASE("functions at the ends of their domains") {
  const auto x = placeholder<"x", float, 6>();
  const auto e = exp(x);
  const auto l = log(x);
  const auto t = tanh(x);
  const auto g = sigmoid(x);
  const auto p = softplus(x);
  const auto q = sqrt(x);
  session s{e, l, t, g, p, q};
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const xt::xtensor<float, 1> xs{-infinity, infinity, nan, 0.0f, 1000.0f, -1000.0f};
  const auto [es, ls, ts, gs, ps, qs] = s.run(fetch(e, l, t, g, p, q), x = xs);
  check_close("exp", es, xt::xtensor<float, 1>{0, infinity, nan, 1, infinity, 0}, 1e-6);
  check_close("log", ls, xt::xtensor<float, 1>{nan, infinity, nan, -infinity, std::log(1000.0f), nan}, 1e-6);
  check_close("tanh", ts, xt::xtensor<float, 1>{-1, 1, nan, 0, 1, -1}, 1e-6);
  check_close("sigmoid", gs, xt::xtensor<float, 1>{0, 1, nan, 0.5f, 1, 0}, 1e-6);
  check_close("softplus", ps, xt::xtensor<float, 1>{0, infinity, nan, std::log(2.0f), 1000, 0}, 1e-6);
  check_close("sqrt", qs, xt::xtensor<float, 1>{nan, infinity, nan, 0, std::sqrt(1000.0f), nan}, 1e-6);
}

TEST_CASE_TEMPLATE("no gradient goes on from a root where none comes, whatever the root is", T, float, double) {
  const auto x = placeholder<"x", T, 6>();
  const auto w = placeholder<"w", T, 6>();
  const auto [s] = gradients(w * sqrt(x), x);
  const auto [r] = gradients(w * rsqrt(x), x);
  const auto [q] = gradients(w * reciprocal(x), x);
  const auto [sw] = gradients(s, w);
  const auto [rw] = gradients(r, w);
  const auto [qw] = gradients(q, w);
  session slopes_of_roots{s, r, q};
  session slopes_for_w{sw, rw, qw};
  const T most = std::numeric_limits<T>::infinity();
  const xt::xtensor<T, 1> xs{0, -1, most, std::numeric_limits<T>::quiet_NaN(), 0.25, 0};
  const xt::xtensor<T, 1> ws{0, 0, 0, 0, 3, 2};
  const auto [ss, rs, qs] = slopes_of_roots.run(fetch(s, r, q), x = xs, w = ws);
  check_close("sqrt", ss, xt::xtensor<T, 1>{0, 0, 0, 0, 3, most}, 1e-6);
  check_close("rsqrt", rs, xt::xtensor<T, 1>{0, 0, 0, 0, -12, -most}, 1e-6);
  check_close("reciprocal", qs, xt::xtensor<T, 1>{0, 0, 0, 0, -48, -most}, 1e-6);
  // how they change with w does not depend on whether w is 0
  const auto [sz, rz, qz] =
      slopes_for_w.run(fetch(sw, rw, qw), x = xt::xtensor<T, 1>{1, 4, 0.25, 1, 1, 1}, w = xt::xtensor<T, 1>{0, 0, 0, 1, 2, 3});
  check_close("sqrt for w", sz, xt::xtensor<T, 1>{0.5, 0.25, 1, 0.5, 0.5, 0.5}, 1e-6);
  check_close("rsqrt for w", rz, xt::xtensor<T, 1>{-0.5, -0.0625, -4, -0.5, -0.5, -0.5}, 1e-6);
  check_close("reciprocal for w", qz, xt::xtensor<T, 1>{-1, -0.0625, -16, -1, -1, -1}, 1e-6);
}

TEST_CASE_TEMPLATE("second derivatives of roots", T, float, double) {
  const auto x = placeholder<"x", T, "n">();
  const auto [s] = gradients(sqrt(x), x);
  const auto [r] = gradients(rsqrt(x), x);
  const auto [q] = gradients(reciprocal(x), x);
  const std::array<plain, 3> slopes{{{"sqrt", [](double v) { return 0.5 / std::sqrt(v); }},
                                     {"rsqrt", [](double v) { return -0.5 * std::pow(v, -1.5); }},
                                     {"reciprocal", [](double v) { return -1 / (v * v); }}}};
  check_functions(x, slopes, 0.3, 5, s, r, q);
}

TEST_CASE_TEMPLATE("powers, with numbers and with broadcasting", T, float, double) {
  const auto a = placeholder<"a", T, 5, "n">();
  const auto b = placeholder<"b", T, 5, 1>();
  const auto y = pow(a, b);
  const auto cube = pow(a, T(3));
  const auto two = pow(T(2), a);
  const auto [da, db] = gradients(y, a, b);
  session s{y, cube, two, da, db};
  for (const auto n : {std::size_t{0}, std::size_t{1}, std::size_t{17}, std::size_t{40}}) {
    const auto as = filled<T, 2>({5, n}, 0.4, 2);
    const auto bs = filled<T, 2>({5, 1}, -2, 2.5, 3);
    const auto [ys, cubes, twos, das, dbs] = s.run(fetch(y, cube, two, da, db), a = as, b = bs);
    const auto at = [&](std::size_t i) { return static_cast<double>(as.data()[i]); };
    const auto exponent = [&](std::size_t i) { return static_cast<double>(bs.data()[i / n]); };
    check_each("pow", ys, 4 * tolerance_of<T>, [&](std::size_t i) { return std::pow(at(i), exponent(i)); });
    check_each("cube", cubes, 4 * tolerance_of<T>, [&](std::size_t i) { return std::pow(at(i), 3); });
    check_each("two", twos, 4 * tolerance_of<T>, [&](std::size_t i) { return std::pow(2, at(i)); });
    check_each("da", das, 20 * tolerance_of<T>, [&](std::size_t i) { return exponent(i) * std::pow(at(i), exponent(i) - 1); });
    check_each("db", dbs, 20 * tolerance_of<T>, [&](std::size_t i) {
      double sum = 0;
      for (std::size_t j = 0; j < n; ++j) sum += std::pow(at(i * n + j), exponent(i * n + j)) * std::log(at(i * n + j));
      return sum;
    });
  }
}

TEST_CASE("the derivative of a power for its exponent is 0 where the base is 0") {
  const auto a = placeholder<"a", double, 3>();
  const auto b = placeholder<"b", double, 3>();
  const auto [da, db] = gradients(pow(a, b), a, b);
  session s{da, db};
  const auto [das, dbs] = s.run(fetch(da, db), a = xt::xtensor<double, 1>{0, 2, 0}, b = xt::xtensor<double, 1>{2, 3, 1});
  check_close("da", das, xt::xtensor<double, 1>{0, 12, 1}, 1e-12);
  check_close("db", dbs, xt::xtensor<double, 1>{0, 8 * std::log(2.0), 0}, 1e-12);
}

TEST_CASE("powers and both orders of their derivatives are TensorFlow's, at bases of 0, below 0 and infinite") {
  constexpr std::size_t count = std::size(powers::cases);
  const auto a = placeholder<"a", double, count>();
  const auto b = placeholder<"b", double, count>();
  const auto y = pow(a, b);
  const auto [da, db] = gradients(y, a, b);
  const auto [daa, dab] = gradients(da, a, b);
  const auto [dba, dbb] = gradients(db, a, b);
  session s{y, da, db, daa, dab, dba, dbb};
  auto as = xt::xtensor<double, 1>::from_shape({count}), bs = as;
  for (std::size_t i = 0; i < count; ++i) as(i) = powers::cases[i].a, bs(i) = powers::cases[i].b;
  const auto got = s.run(fetch(y, da, db, daa, dab, dba, dbb), a = as, b = bs);
  const auto check = [&](std::size_t k, const auto& values) {
    for (std::size_t i = 0; i < count; ++i) {
      INFO("result " << k << " of " << powers::cases[i].a << "^" << powers::cases[i].b);
      CHECK(powers::agrees(values(i), powers::cases[i].wanted[k]));
    }
  };
  [&]<std::size_t... K>(std::index_sequence<K...>) { (check(K, std::get<K>(got)), ...); }(std::make_index_sequence<7>{});
}

TEST_CASE_TEMPLATE("quotients that are 0 where one operand is, and angles", T, float, double) {
  const auto x = placeholder<"x", T, 9>();
  const auto y = placeholder<"y", T, 9>();
  const auto a = div_no_nan(x, y);
  const auto b = xdivy(x, y);
  const auto c = xlogy(x, y);
  const auto d = atan2(x, y);
  session s{a, b, c, d};
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const auto [as, bs, cs, ds] = s.run(fetch(a, b, c, d), x = xt::xtensor<T, 1>{1, 0, 0, nan, inf, 0, -0.0, 3, 2},
                                      y = xt::xtensor<T, 1>{0, 0, nan, 0, 0, inf, -1, 2, -0.5});
  check_close("div_no_nan", as, xt::xtensor<T, 1>{0, 0, nan, 0, 0, 0, 0, 1.5, -4}, 1e-6);
  check_close("xdivy", bs, xt::xtensor<T, 1>{inf, 0, 0, nan, inf, 0, 0, 1.5, -4}, 1e-6);
  check_close("xlogy", cs, xt::xtensor<T, 1>{-inf, 0, 0, nan, -inf, 0, 0, 3 * std::log(T(2)), nan}, 1e-6);
  check_close("atan2", ds, xt::xtensor<T, 1>{std::atan2(T(1), T(0)), 0, nan, nan, std::atan2(inf, T(0)), 0, std::atan2(T(-0.0), T(-1)),
                                             std::atan2(T(3), T(2)), std::atan2(T(2), T(-0.5))}, 1e-6);
}

TEST_CASE_TEMPLATE("gradients of such quotients and of angles, with broadcasting and numbers", T, float, double) {
  const auto x = placeholder<"x", T, 5, "n">();
  const auto y = placeholder<"y", T, 5, 1>();
  const auto check = [&](const auto& z, auto by_x, auto by_y) {
    const auto [dx, dy] = gradients(z, x, y);
    session s{dx, dy};
    for (const auto n : {std::size_t{0}, std::size_t{1}, std::size_t{17}}) {
      const auto xs = filled<T, 2>({5, n}, 0.4, 2);
      const auto ys = filled<T, 2>({5, 1}, 0.5, 2.5, 3);
      const auto [dxs, dys] = s.run(fetch(dx, dy), x = xs, y = ys);
      const auto at = [&](std::size_t i) { return static_cast<double>(xs.data()[i]); };
      const auto beside = [&](std::size_t i) { return static_cast<double>(ys.data()[i]); };
      check_each("dx", dxs, 20 * tolerance_of<T>, [&](std::size_t i) { return by_x(at(i), beside(i / n)); });
      check_each("dy", dys, 20 * tolerance_of<T>, [&](std::size_t i) {
        double sum = 0;
        for (std::size_t j = 0; j < n; ++j) sum += by_y(at(i * n + j), beside(i));
        return sum;
      });
    }
  };
  check(div_no_nan(x, y), [](double, double b) { return 1 / b; }, [](double a, double b) { return -a / (b * b); });
  check(xdivy(x, y), [](double, double b) { return 1 / b; }, [](double a, double b) { return -a / (b * b); });
  check(xlogy(x, y), [](double, double b) { return std::log(b); }, [](double a, double b) { return a / b; });
  check(atan2(x, y), [](double a, double b) { return b / (a * a + b * b); }, [](double a, double b) { return -a / (a * a + b * b); });
  check(xlogy(x, T(2)) + xdivy(T(1), y), [](double, double) { return std::log(2.0); }, [](double, double b) { return -1 / (b * b); });
  const auto [at_zero] = gradients(xlogy(x, y), x);
  session s{at_zero};
  const auto [zeros] = s.run(fetch(at_zero), x = xt::xtensor<T, 2>(xt::zeros<T>({5, 2})), y = xt::xtensor<T, 2>(xt::zeros<T>({5, 1})));
  for (const T v : zeros) CHECK(v == 0);
}

TEST_CASE_TEMPLATE("inverse hyperbolic functions, the complement of erf, logarithms of gamma and their derivatives", T, float, double) {
  const auto x = placeholder<"x", T, "n">();
  const std::array<plain, 4> functions{{{"erfc", [](double v) { return std::erfc(v); }},
                                        {"asinh", [](double v) { return std::asinh(v); }},
                                        {"atanh", [](double v) { return std::atanh(v); }},
                                        {"polygamma", [](double v) { return kernels::special::polygamma(2, v + 3); }}}};
  check_functions(x, functions, -0.9, 0.9, erfc(x), asinh(x), atanh(x), polygamma(T(2), x + T(3)));
  const std::array<plain, 4> above_one{{{"acosh", [](double v) { return std::acosh(v); }},
                                        {"lgamma", [](double v) { return std::lgamma(v); }},
                                        {"digamma", [](double v) { return kernels::special::digamma(v); }},
                                        {"zeta", [](double v) { return kernels::special::zeta(3, v); }}}};
  check_functions(x, above_one, 1.2, 6, acosh(x), lgamma(x), digamma(x), zeta(T(3), x));
}

TEST_CASE_TEMPLATE("the same at the ends of their domains, and no gradient of a nearest integer", T, float, double) {
  const auto x = placeholder<"x", T, 12>();
  const auto c = erfc(x);
  const auto s = asinh(x);
  const auto a = acosh(x);
  const auto t = atanh(x);
  const auto l = lgamma(x);
  const auto d = digamma(x);
  const auto r = rint(x);
  session all{c, s, a, t, l, d, r};
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const xt::xtensor<T, 1> xs{0, T(-0.0), -1, -2.5, 1, 1.5, 10, 2.5, -3.5, inf, -inf, nan};
  const auto [cs, ss, as, ts, ls, ds, rs] = all.run(fetch(c, s, a, t, l, d, r), x = xs);
  const auto check = [&](const char* name, const auto& values, const std::vector<double>& wanted) {  // TensorFlow's
    check_close(name, values, [&] {
      xt::xtensor<T, 1> w = xs;
      for (std::size_t i = 0; i < w.size(); ++i) w(i) = static_cast<T>(wanted[i]);
      return w;
    }(), 2e-6);
  };
  check("erfc", cs, {1, 1, 1.842700793, 1.9995930, 0.1572992071, 0.0338948535, 2.088487583762545e-45, 4.069520174e-4, 1.9999992569, 0, 2, nan});
  check("asinh", ss, {0, 0, -0.881373587, -1.647231146, 0.881373587, 1.194763217, 2.998222950, 1.647231146, -1.96572047165, inf, -inf, nan});
  check("acosh", as, {nan, nan, nan, nan, 0, 0.9624236501, 2.993222846, 1.566799237, nan, inf, nan, nan});
  check("atanh", ts, {0, 0, -inf, nan, inf, nan, nan, nan, nan, nan, nan, nan});
  check("lgamma", ls, {inf, inf, inf, -0.0562437164976741, 0, -0.1207822376352452, 12.80182748008147, 0.2846828704729192, -1.309006684993042, inf, inf, nan});
  check("digamma", ds, {nan, nan, nan, 1.103156640645243, -0.5772156649015329, 0.03648997397857652, 2.251752589066721, 0.7031566406452432, 1.388870926359529, inf, nan, nan});
  check("rint", rs, {0, 0, -1, -2, 1, 2, 10, 2, -4, inf, -inf, nan});
  CHECK(std::signbit(ss(1)));
  CHECK(std::signbit(rs(1)));
}

TEST_CASE("polygamma and zeta where they are infinite or none, as TensorFlow's") {
  const auto a = placeholder<"a", double, 9>();
  const auto x = placeholder<"x", double, 9>();
  const auto p = polygamma(a, x);
  const auto z = zeta(a, x);
  session s{p, z};
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const auto [ps, zs] = s.run(fetch(p, z), a = xt::xtensor<double, 1>{0, 1, 3, 1, 1, 0.5, 2, 2, 3},
                              x = xt::xtensor<double, 1>{1, 1, 0.5, -2.5, -1, 1, -1, -2.5, -0.5});
  check_close("polygamma", ps, xt::xtensor<double, 1>{-0.5772156649015329, 1.644934066848226, 97.40909103400244, 9.539246644989124, inf, nan,
                                                      nan, -0.1082040516417282, 193.4090910340024}, 1e-12);
  check_close("zeta", zs, xt::xtensor<double, 1>{nan, inf, 8.414398322117162, inf, inf, nan, inf, 9.539246644989124, 0.4143983221171596}, 1e-12);
}
