#include <leat/passes/gradient.hpp>

#include "support/check.hpp"

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

TEST_CASE("gradients of gradients") {
  const auto x = placeholder<"x", double, 6>();
  const auto y = x * x * x * sin(x) + exp(x * 0.5_c);
  const auto [first] = gradients(y, x);
  const auto [second] = gradients(first, x);
  const auto [third] = gradients(second, x);
  session s{first, second, third};
  const auto xs = filled<double, 1>({6}, -2, 2);
  const auto [a, b, c] = s.run(fetch(first, second, third), x = xs);
  check_each("first", a, 1e-12, [&](std::size_t i) {
    const double v = xs(i);
    return 3 * v * v * std::sin(v) + v * v * v * std::cos(v) + 0.5 * std::exp(0.5 * v);
  });
  check_each("second", b, 1e-12, [&](std::size_t i) {
    const double v = xs(i);
    return 6 * v * std::sin(v) + 6 * v * v * std::cos(v) - v * v * v * std::sin(v) + 0.25 * std::exp(0.5 * v);
  });
  check_each("third", c, 1e-12, [&](std::size_t i) {
    const double v = xs(i);
    return 6 * std::sin(v) + 18 * v * std::cos(v) - 9 * v * v * std::sin(v) - v * v * v * std::cos(v) + 0.125 * std::exp(0.5 * v);
  });
}

TEST_CASE("a product of the Hessian and a vector, through products and softmax") {
  const auto x = placeholder<"x", double, 3, 4>();
  const auto w = placeholder<"w", double, 4, 2>();
  const auto v = placeholder<"v", double, 4, 2>();
  const auto loss = reduce_mean(square(tanh(matmul(x, w)))) + reduce_sum(square(softmax(matmul(x, w)))) + reduce_max(matmul(x, w));
  const auto [dw] = gradients(loss, w);
  const auto along = reduce_sum(dw * v);
  const auto [hv] = gradients(along, w);
  session s{along, hv};
  const auto xs = filled<double, 2>({3, 4});
  const auto ws = filled<double, 2>({4, 2}, -1, 1, 2);
  const auto vs = filled<double, 2>({4, 2}, -1, 1, 3);
  const auto [hvs] = s.run(fetch(hv), x = xs, w = ws, v = vs);
  check_close("hv", hvs, slopes(ws, [&](const auto& p) { return std::get<0>(s.run(fetch(along), x = xs, w = p, v = vs)); }, 1e-5), 1e-7);
}

TEST_CASE("an expression used many times collects all its gradients") {
  const auto x = placeholder<"x", double>();
  const auto h = x * x;
  const auto g = h * h + h * x + h;
  const auto y = g * g + g;
  const auto [dx, dh] = gradients(y, x, h);
  session s{dx, dh};
  const auto [at, mid] = s.run(fetch(dx, dh), x = 0.7);
  const auto f = [](double v) {
    const double p = v * v;
    const double q = p * p + p * v + p;
    return q * q + q;
  };
  CHECK(at == doctest::Approx(slope(f, 0.7)).epsilon(1e-8));
  const auto of_h = [](double p) {
    const double q = p * p + p * 0.7 + p;
    return q * q + q;
  };
  CHECK(mid == doctest::Approx(slope(of_h, 0.49)).epsilon(1e-8));
}

TEST_CASE("the gradient of what is not a scalar is that of its sum; of itself one") {
  const auto x = placeholder<"x", double, 3>();
  const auto [dx] = gradients(x * x, x);
  const auto [one] = gradients(x, x);
  session s{dx, one};
  const auto [a, b] = s.run(fetch(dx, one), x = xt::xtensor<double, 1>{1, 2, 3});
  CHECK(a == xt::xtensor<double, 1>{2, 4, 6});
  CHECK(b == xt::xtensor<double, 1>{1, 1, 1});
}

TEST_CASE("a chain of 100 shared levels, 400 nodes") {
  const auto x = placeholder<"x", double>();
  const auto y = [&] {
    const auto level = []<int N>(const auto& self, const auto& h, std::integral_constant<int, N>) {
      if constexpr (N == 0)
        return h;
      else
        return self(self, h * 0.5_c + h * h * 0.001_c, std::integral_constant<int, N - 1>{});
    };
    return level(level, x, std::integral_constant<int, 100>{});
  }();
  const auto [dx] = gradients(y, x);
  session s{y, dx};
  const auto f = [](double v) {
    for (int i = 0; i < 100; ++i) v = v * 0.5 + v * v * 0.001;
    return v;
  };
  const auto [value, derivative] = s.run(fetch(y, dx), x = 480.0);
  CHECK(value == doctest::Approx(f(480.0)).epsilon(1e-12));
  CHECK(derivative == doctest::Approx(slope(f, 480.0, 1e-4)).epsilon(1e-6));
}
