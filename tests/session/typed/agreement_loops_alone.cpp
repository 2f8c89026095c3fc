// Loops of typed programs, compiled and planned, with one result.

#include <leat/calculus.hpp>
#include <leat/loops.hpp>
#include <leat/planned.hpp>
#include <leat/vmap.hpp>

#include "support/check.hpp"

#include <cmath>
#include <tuple>
#include <vector>

using namespace leat;
using namespace leat::literals;

namespace {

template <class A, class B>
void check_value(const A& a, const B& b) {
  if constexpr (std::is_arithmetic_v<A>) {
    CHECK(static_cast<double>(a) == doctest::Approx(static_cast<double>(b)).epsilon(1e-12));
  } else {
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i)
      CHECK(static_cast<double>(a.data()[i]) == doctest::Approx(static_cast<double>(b.data()[i])).epsilon(1e-12));
  }
}
template <class... Es>
auto check_agreement(const Es&... es) {
  return [=](const auto&... feeds) {
    session compiled{es...};
    planned_session planned{es...};
    compiled.initialize();
    planned.initialize();
    for (int repeat = 0; repeat < 2; ++repeat) {
      const auto one = compiled.run(fetch(es...), feeds...);
      const auto other = planned.run(fetch(es...), feeds...);
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (check_value(std::get<I>(one), std::get<I>(other)), ...);
      }(std::index_sequence_for<Es...>{});
    }
  };
}

}  // namespace

TEST_CASE("a scan of named length, its gradients and tangents") {
  auto xs = placeholder<"xs", double, "time", "batch", 3>();
  auto h0 = placeholder<"h0", double, "batch", 3>();
  auto w = variable<"w", double, 3, 3>(random_uniform(-1, 1, 3));
  auto kernel = exp(w * 0.5_c);
  auto [last, ys] = scan(
      [&](auto s, auto x) {
        auto [h, c] = s;
        auto next = tanh(matmul(h, kernel) + x);
        return std::tuple(std::tuple(next, c * 0.9_c + next * h), reduce_sum<1>(c));
      },
      std::tuple(h0, h0), xs);
  auto loss = reduce_sum(square(std::get<1>(last))) + reduce_sum(ys);
  auto [dw, dx] = gradients(loss, w, xs);
  auto along = jvp(loss, w, w);
  auto x = xt::xtensor<double, 3>::from_shape({5, 2, 3});
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = std::sin(static_cast<double>(i));
  const xt::xtensor<double, 2> h{{0.1, 0.2, 0.3}, {-0.1, 0.5, 0}};
  check_agreement(loss, ys, dw, dx, along)(xs = x, h0 = h);
}

TEST_CASE("while_loop, cond, and a loop in a loop") {
  auto x = placeholder<"x", double>();
  auto [root, steps] =
      counted_while_loop<50>([&](auto r) { return greater(abs(r * r - x), 1e-9_c); }, [&](auto r) { return 0.5_c * (r + x / r); }, x);
  auto chosen = cond(less(x, 5.0_c), [](auto v) { return exp(v); }, [](auto v) { return square(v); }, x);
  auto m = placeholder<"m", double, 4, 3>();
  auto sums = fold([](auto sum, auto row) { return fold([](auto s, auto e) { return s * 0.5_c + sin(e); }, sum, row); }, x, m);
  auto [dx] = gradients(root + chosen + sums, x);
  auto [dm] = gradients(sums, m);
  auto elements = xt::xtensor<double, 2>::from_shape({4, 3});
  for (std::size_t i = 0; i < elements.size(); ++i) elements.data()[i] = std::sin(static_cast<double>(i));
  check_agreement(root, steps, chosen, sums, dx, dm)(x = 7.0, m = elements);
}

TEST_CASE("loops of many lanes, which end apart") {
  auto x = placeholder<"x", double, "lanes">();
  auto v = placeholder<"v", double, "lanes", 4, 2>();
  auto w = placeholder<"w", double, 2>();
  auto [last, steps, chosen, sums, slope] = vmap([&](auto a, auto m) {
    auto [root, n] =
        counted_while_loop<50>([&](auto r) { return greater(abs(r * r - a), 1e-9_c); }, [&](auto r) { return 0.5_c * (r + a / r); }, a);
    auto either = cond(less(a, 5.0_c), [](auto u) { return exp(u); }, [](auto u) { return square(u); }, a);
    auto [sum, all] = scan_back([&](auto s, auto row) { return std::tuple(tanh(s * w + row), s * row); }, w, m);
    auto [da] = gradients(root + either, a);
    return std::tuple(root, n, either, all * reduce_sum(sum), da);
  })(x, v);
  auto [dx, dv, dw] = gradients(reduce_sum(sums) + reduce_sum(last) + reduce_sum(chosen), x, v, w);
  auto elements = xt::xtensor<double, 3>::from_shape({3, 4, 2});
  for (std::size_t i = 0; i < elements.size(); ++i) elements.data()[i] = std::sin(static_cast<double>(i));
  check_agreement(last, steps, chosen, sums, slope, dx, dv, dw)(x = std::vector<double>{7, 1, 0.3}, v = elements,
                                                                w = std::vector<double>{0.5, -0.2});
}
