// Loops of typed expressions: what they compute, and their gradients, against the same steps without a loop and against differences.

#include <leat/calculus.hpp>
#include <leat/loops.hpp>

#include "support/check.hpp"

#include <cmath>
#include <tuple>
#include <vector>

using namespace leat;
using namespace leat::literals;

namespace {

template <class A, class B>
void check_same(const A& a, const B& b, double epsilon = 1e-12) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a.data()[i] == doctest::Approx(b.data()[i]).epsilon(epsilon));
}
template <std::size_t Rank, class T = double>
xt::xtensor<T, Rank> waves(const std::array<std::size_t, Rank>& extent, double first) {
  auto all = xt::xtensor<T, Rank>::from_shape(extent);
  for (std::size_t i = 0; i < all.size(); ++i) all.data()[i] = static_cast<T>(0.4 * std::sin(first + 1.3 * static_cast<double>(i)));
  return all;
}

}  // namespace

TEST_CASE("scan and its gradients against differences") {
  auto xs = placeholder<"xs", double, 5, 3>();
  auto w = variable<"w", double, 3, 3>(0.2);
  auto h0 = placeholder<"h0", double, 3>();
  auto [last, ys] = scan(
      [&](auto h, auto x) {
        auto next = tanh(reshape<3>(matmul(reshape<1, 3>(h), w)) + x);
        return std::tuple(next, next * 2_c);
      },
      h0, xs);
  auto loss = reduce_sum(square(ys)) + reduce_sum(last);
  auto [dw, dh, dx] = gradients(loss, w, h0, xs);
  session s{loss, dw, dh, dx};
  s.initialize();
  const std::vector<double> h{0.1, 0.2, 0.3};
  const auto x = waves<2>({5, 3}, 0);
  const auto [l, gw, gh, gx] = s.run(fetch(loss, dw, dh, dx), xs = x, h0 = h);
  const auto at = [&](const auto& sequence, const auto& begin) { return std::get<0>(s.run(fetch(loss), xs = sequence, h0 = begin)); };
  CHECK(l == doctest::Approx(at(x, h)));
  const double step = 1e-5;
  for (std::size_t i = 0; i < 15; ++i) {
    auto more = x, less = x;
    more.data()[i] += step;
    less.data()[i] -= step;
    CHECK(gx.data()[i] == doctest::Approx((at(more, h) - at(less, h)) / (2 * step)).epsilon(1e-6));
  }
  for (std::size_t i = 0; i < 3; ++i) {
    auto more = h, less = h;
    more[i] += step;
    less[i] -= step;
    CHECK(gh(i) == doctest::Approx((at(x, more) - at(x, less)) / (2 * step)).epsilon(1e-6));
  }
  for (std::size_t i = 0; i < 9; ++i) {
    xt::xtensor<double, 2> kernel = xt::ones<double>({3, 3}) * 0.2;
    kernel.data()[i] += step;
    s.assign(w, kernel);
    const double above = at(x, h);
    kernel.data()[i] -= 2 * step;
    s.assign(w, kernel);
    CHECK(gw.data()[i] == doctest::Approx((above - at(x, h)) / (2 * step)).epsilon(1e-6));
  }
}

TEST_CASE("several states and sequences, of a length that a run knows") {
  auto xs = placeholder<"xs", double, "time", 2>();
  auto ks = placeholder<"ks", std::int32_t, "time">();
  auto a0 = placeholder<"a0", double, 2>();
  auto count = constant<std::int32_t(0)>();
  auto [last, ys] = scan(
      [&](auto s, auto x) {
        auto [a, n] = s;
        auto [v, k] = x;
        return std::tuple(std::tuple(a * 0.5_c + v, n + k), std::tuple(n, a * v));
      },
      std::tuple(a0, count), std::tuple(xs, ks));
  auto [a, n] = last;
  auto [before, products] = ys;
  auto back = fold_back([](auto sum, auto x) { return sum * 2_c + x; }, a0, xs);
  session s{a, n, before, products, back};
  const std::vector<double> start{1, 2};
  for (const std::size_t length : {std::size_t{4}, std::size_t{1}, std::size_t{0}, std::size_t{7}}) {
    const auto x = waves<2>({length, 2}, 1);
    std::vector<std::int32_t> k(length);
    for (std::size_t t = 0; t < length; ++t) k[t] = static_cast<std::int32_t>(3 * t + 1);
    const auto [av, nv, bv, pv, rv] = s.run(fetch(a, n, before, products, back), xs = x, ks = k, a0 = start);
    double expected[2]{1, 2}, reversed[2]{1, 2};
    std::int32_t total = 0;
    REQUIRE(bv.size() == length);
    for (std::size_t t = 0; t < length; ++t) {
      CHECK(bv(t) == total);
      total += k[t];
      for (std::size_t j = 0; j < 2; ++j) {
        CHECK(pv(t, j) == doctest::Approx(expected[j] * x(t, j)));
        expected[j] = expected[j] * 0.5 + x(t, j);
        reversed[j] = reversed[j] * 2 + x(length - 1 - t, j);
      }
    }
    CHECK(nv == total);
    for (std::size_t j = 0; j < 2; ++j) {
      CHECK(av(j) == doctest::Approx(expected[j]));
      CHECK(rv(j) == doctest::Approx(reversed[j]));
    }
  }
}

TEST_CASE("forward mode, and second derivatives") {
  auto w = placeholder<"w", double, 2, 2>();
  auto v = placeholder<"v", double, 2, 2>();
  auto xs = placeholder<"xs", double, 3, 2, 2>();
  const auto step = [&](auto h, auto x) { return tanh(matmul(h, w) + x * exp(w)); };
  auto start = w * 0.1_c;
  auto loss = reduce_sum(square(fold(step, start, xs)));
  auto by_hand = reduce_sum(square(step(step(step(start, index<0>(xs)), index<1>(xs)), index<2>(xs))));
  auto along = jvp(loss, w, v);
  auto along_by_hand = jvp(by_hand, w, v);
  auto curved = hvp(loss, w, v);
  auto curved_by_hand = hvp(by_hand, w, v);
  session s{along, along_by_hand, curved, curved_by_hand};
  const auto [a, ah, c, ch] =
      s.run(fetch(along, along_by_hand, curved, curved_by_hand), w = waves<2>({2, 2}, 1), v = waves<2>({2, 2}, 5), xs = waves<3>({3, 2, 2}, 3));
  CHECK(a == doctest::Approx(ah).epsilon(1e-12));
  check_same(c, ch);
}

TEST_CASE("while_loop ends early, and its gradients go back as many steps") {
  auto x = placeholder<"x", double>();
  auto a = placeholder<"a", double>();
  const auto far = [&](auto root) { return greater(abs(root * root - a), 1e-9_c); };
  auto [root, steps] = counted_while_loop<50>(far, [&](auto r) { return 0.5_c * (r + a / r); }, x);
  auto never_ends = while_loop<20>([](auto r) { return greater(r, -1.0_c); }, [](auto r) { return r + 1_c; }, x);
  auto [by_a] = gradients(root, a);
  session s{root, steps, by_a, never_ends};
  const auto [r, n, slope, end] = s.run(fetch(root, steps, by_a, never_ends), x = 1.0, a = 9.0);
  CHECK(r == doctest::Approx(3));
  CHECK(n == 6);
  CHECK(slope == doctest::Approx(1.0 / 6));
  CHECK(end == 21);
  const auto [same, none, zero] = s.run(fetch(root, steps, by_a), x = 3.0, a = 9.0);
  CHECK(same == 3);
  CHECK(none == 0);
  CHECK(zero == 0);
}

TEST_CASE("cond runs one function, and so do its gradients") {
  auto x = placeholder<"x", double>();
  auto a = placeholder<"a", double>();
  auto y = cond(greater(x, 2.0_c), [](auto u, auto v) { return u * v; }, [&](auto u, auto v) { return log(u) + v * a; }, x, a);
  auto [dx, da] = gradients(y, x, a);
  session s{y, dx, da};
  const auto [y1, dx1, da1] = s.run(fetch(y, dx, da), x = 3.0, a = 9.0);
  CHECK(y1 == 27);
  CHECK(dx1 == 9);
  CHECK(da1 == 3);
  const auto [y2, dx2, da2] = s.run(fetch(y, dx, da), x = 1.0, a = 3.0);
  CHECK(y2 == 9);
  CHECK(dx2 == 1);
  CHECK(da2 == 6);
}

TEST_CASE("checkpoints: the same gradients from fewer states") {
  auto xs = placeholder<"xs", double, 12, 3>();
  auto w = placeholder<"w", double, 3>();
  auto h0 = placeholder<"h0", double, 3>();
  const auto step = [&](auto h, auto x) { return std::tuple(tanh(h * w + x), h * x); };
  auto [last, ys] = scan(step, h0, xs);
  auto [kept, kept_ys] = scan(checkpoint_every<4>, step, h0, xs);
  auto loss = reduce_sum(square(ys)) + reduce_sum(last);
  auto kept_loss = reduce_sum(square(kept_ys)) + reduce_sum(kept);
  auto [dw, dh, dx] = gradients(loss, w, h0, xs);
  auto [kw, kh, kx] = gradients(kept_loss, w, h0, xs);
  session s{dw, dh, dx, kw, kh, kx};
  const auto [a1, a2, a3] = s.run(fetch(dw, dh, dx), xs = waves<2>({12, 3}, 1), w = waves<1>({3}, 2), h0 = waves<1>({3}, 3));
  const auto [b1, b2, b3] = s.run(fetch(kw, kh, kx), xs = waves<2>({12, 3}, 1), w = waves<1>({3}, 2), h0 = waves<1>({3}, 3));
  check_same(a1, b1);
  check_same(a2, b2);
  check_same(a3, b3);
}

TEST_CASE("two loops over the same operands keep apart, and a loop in a loop has gradients") {
  auto xs = placeholder<"xs", double, 4>();
  auto h0 = placeholder<"h0", double>();
  auto sum = fold([](auto h, auto x) { return h + x; }, h0, xs);
  auto product = fold([](auto h, auto x) { return h * x; }, h0, xs);
  auto rows = placeholder<"rows", double, 2, 4>();
  auto nested = fold([&](auto h, auto row) { return fold([&](auto a, auto x) { return a * 0.5_c + x * h; }, h, row); }, h0, rows);
  auto [dh, dr] = gradients(nested, h0, rows);
  session s{sum, product, nested, dh, dr};
  const std::vector<double> all{1, 2, 3, 4}, table{1, 2, 3, 4, -1, 0.5, 2, 1};
  const auto [a, b] = s.run(fetch(sum, product), xs = all, h0 = 2.0);
  CHECK(a == 12);
  CHECK(b == 48);
  const auto at = [&](const std::vector<double>& t, double h) { return std::get<0>(s.run(fetch(nested), rows = t, h0 = h)); };
  const auto [g, gr] = s.run(fetch(dh, dr), rows = table, h0 = 0.3);
  CHECK(g == doctest::Approx((at(table, 0.3001) - at(table, 0.2999)) / 2e-4).epsilon(1e-6));
  for (std::size_t i = 0; i < 8; ++i) {
    auto more = table, less = table;
    more[i] += 1e-4;
    less[i] -= 1e-4;
    CHECK(gr.data()[i] == doctest::Approx((at(more, 0.3) - at(less, 0.3)) / 2e-4).epsilon(1e-6));
  }
}

TEST_CASE("switch_case") {
  auto x = placeholder<"x", double, 2>();
  auto k = placeholder<"k", std::int32_t>();
  auto y = switch_case(k, std::tuple([](auto v) { return v + 1_c; }, [](auto v) { return v * v; }, [](auto v) { return exp(v); }), x);
  auto [dx] = gradients(y, x);
  session s{y, dx};
  const std::vector<double> xs{0, 3};
  const auto at = [&](std::int32_t which) { return s.run(fetch(y, dx), x = xs, k = which); };
  const auto [y0, d0] = at(0);
  CHECK(y0(1) == 4);
  CHECK(d0(1) == 1);
  const auto [y1, d1] = at(1);
  CHECK(y1(1) == 9);
  CHECK(d1(1) == 6);
  for (const std::int32_t other : {2, 3, -1}) {
    const auto [y2, d2] = at(other);
    CHECK(y2(0) == 1);
    CHECK(d2(1) == doctest::Approx(std::exp(3.0)));
  }
}
