// Products of matrices in the steps of a loop: what their gradients read from a tape, and sums over the steps that become one product after
// the loop, against the same steps without a loop.

#include <leat/loops.hpp>
#include <leat/planned.hpp>
#include <leat/vmap.hpp>

#include "support/check.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <tuple>

using namespace leat;
using namespace leat::literals;

namespace loop_products {

template <class A, class B>
void check_equal(const A& a, const B& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a.data()[i] == doctest::Approx(b.data()[i]).epsilon(1e-11));
}
template <std::size_t... Sizes>
auto sines(double first) {
  auto all = xt::xtensor<double, sizeof...(Sizes)>::from_shape({Sizes...});
  for (std::size_t i = 0; i < all.size(); ++i) all.data()[i] = 0.4 * std::sin(first + 1.3 * static_cast<double>(i));
  return all;
}

// A step whose products have long sums: those of the gradients are summed after the loop.
constexpr auto recurrent = [](auto h, auto x, auto w, auto b) { return tanh(matmul(concat<1>(x, h), w) + b); };
// The same product by the transposed matrix.
constexpr auto turned = [](auto h, auto x, auto w, auto b) { return tanh(matmul<false, true>(concat<1>(x, h), transpose<1, 0>(w)) + b); };
// Two products by one array, which is read by itself, too; and one whose factor is transposed.
constexpr auto tangled = [](auto h, auto x, auto w, auto b) {
  auto wide = matmul(concat<1>(x, h), w);
  return tanh(matmul(concat<1>(h, x), w) * b + matmul<false, true>(wide, slice<begins<0, 0>, sizes<8, 8>>(w)) + reduce_sum<0>(w));
};

template <int K, class X>
constexpr auto step_of(const X& xs) {
  return squeeze<0>(slice<begins<K, 0, 0>, sizes<1, -1, -1>>(xs));
}
// Three steps without a loop, in either order: the last state and the sum of what the steps give.
template <bool Reversed, class F, class H, class X, class W, class B>
constexpr auto unrolled(const F& f, const H& h0, const X& xs, const W& w, const B& b) {
  auto h1 = f(h0, step_of<Reversed ? 2 : 0>(xs), w, b);
  auto h2 = f(h1, step_of<1>(xs), w, b);
  auto h3 = f(h2, step_of<Reversed ? 0 : 2>(xs), w, b);
  return reduce_sum(square(h3)) + reduce_sum(h1 * h1 * h1) + reduce_sum(h2 * h2 * h2) + reduce_sum(h3 * h3 * h3);
}
template <bool Reversed, class F, class H, class X, class W, class B>
constexpr auto looped(const F& f, const H& h0, const X& xs, const W& w, const B& b) {
  const auto step = [&](auto h, auto x) {
    auto next = f(h, x, w, b);
    return std::tuple(next, next * next * next);
  };
  if constexpr (Reversed) {
    auto [last, ys] = scan_back(step, h0, xs);
    return reduce_sum(square(last)) + reduce_sum(ys);
  } else {
    auto [last, ys] = scan(step, h0, xs);
    return reduce_sum(square(last)) + reduce_sum(ys);
  }
}

const auto h_value = sines<2, 8>(1), w_value = sines<20, 8>(3);
const auto x_value = sines<3, 2, 12>(2);
const auto b_value = sines<8>(4);

template <bool Reversed, bool Compiled, class F>
void check_gradients(const F& f) {
  auto h0 = placeholder<"h0", double, 2, 8>();
  auto xs = placeholder<"xs", double, 3, 2, 12>();
  auto w = placeholder<"w", double, 20, 8>();
  auto b = placeholder<"b", double, 8>();
  auto [dw, db, dh, dx] = gradients(looped<Reversed>(f, h0, xs, w, b), w, b, h0, xs);
  auto [uw, ub, uh, ux] = gradients(unrolled<Reversed>(f, h0, xs, w, b), w, b, h0, xs);
  auto [ow, oh] = gradients(looped<Reversed>(f, h0, xs, w, b), w, h0);  // without xs: of the products, only the part for the state is read
  auto [oww] = gradients(reduce_sum(square(ow)), w);
  auto [uow] = gradients(reduce_sum(square(uw)), w);
  auto [dww, dwx] = gradients(reduce_sum(square(dw)) + reduce_sum(dx * dx * dx), w, xs);
  auto [uww, uwx] = gradients(reduce_sum(square(uw)) + reduce_sum(ux * ux * ux), w, xs);
  const auto check = [&](auto& s) {
    const auto [a1, a2, a3, a4, a5, a6, b1, b2, b3, b4, b5, b6, c1, c3, c5, d5] =
        s.run(fetch(dw, db, dh, dx, dww, dwx, uw, ub, uh, ux, uww, uwx, ow, oh, oww, uow), h0 = h_value, xs = x_value, w = w_value, b = b_value);
    check_equal(a1, b1);
    check_equal(a2, b2);
    check_equal(a3, b3);
    check_equal(a4, b4);
    check_equal(a5, b5);
    check_equal(a6, b6);
    check_equal(c1, b1);
    check_equal(c3, b3);
    check_equal(c5, d5);
  };
  if constexpr (Compiled) {
    session compiled{dw, db, dh, dx, dww, dwx, uw, ub, uh, ux, uww, uwx, ow, oh, oww, uow};
    check(compiled);
  }
  planned_session planned{dw, db, dh, dx, dww, dwx, uw, ub, uh, ux, uww, uwx, ow, oh, oww, uow};
  check(planned);
}

}  // namespace loop_products

using namespace loop_products;

TEST_CASE("gradients of loops with products, first and second, are those of the steps") {
  check_gradients<false, true>(recurrent);
  check_gradients<true, false>(turned);
}

TEST_CASE("sums of several products and of other terms over the steps") { check_gradients<false, false>(tangled); }

TEST_CASE("vmap of a gradient, and the gradient of a vmap, of loops with products") {
  auto h0 = placeholder<"h0", double, 2, 8>();
  auto xs = placeholder<"xs", double, 3, 2, 12>();
  auto ws = placeholder<"ws", double, 4, 20, 8>();
  auto b = placeholder<"b", double, 8>();
  const auto slope = [&](auto w) { return std::get<0>(gradients(looped<false>(recurrent, h0, xs, w, b), w)); };
  auto inside = vmap(slope)(ws);
  auto [outside] = gradients(reduce_sum(vmap([&](auto w) { return looped<false>(recurrent, h0, xs, w, b); })(ws)), ws);
  auto w = placeholder<"w", double, 20, 8>();
  auto alone = slope(w);
  session s{inside, outside, alone};
  const auto all = sines<4, 20, 8>(5);
  const auto [d1, d2] = s.run(fetch(inside, outside), h0 = h_value, xs = x_value, b = b_value, ws = all);
  for (std::size_t k = 0; k < 4; ++k) {
    auto own = sines<20, 8>(0);
    std::copy_n(all.data() + k * own.size(), own.size(), own.data());
    const auto [expected] = s.run(fetch(alone), h0 = h_value, xs = x_value, b = b_value, w = own);
    for (const auto* d : {&d1, &d2})
      for (std::size_t i = 0; i < own.size(); ++i)
        CHECK(d->data()[k * own.size() + i] == doctest::Approx(expected.data()[i]).epsilon(1e-11));
  }
}

TEST_CASE("a named number of steps: products of one row, of several rows, and no step at all") {
  const auto slopes = [](auto h0, auto xs, auto w, auto b) { return gradients(looped<false>(recurrent, h0, xs, w, b), w, h0); };
  auto w = placeholder<"w", double, 20, 8>();
  auto b = placeholder<"b", double, 8>();
  auto one_row = placeholder<"one_row", double, 1, 8>();
  auto two_rows = placeholder<"two_rows", double, 2, 8>();
  auto named1 = placeholder<"named1", double, "time", 1, 12>();
  auto named2 = placeholder<"named2", double, "time", 2, 12>();
  auto three1 = placeholder<"three1", double, 3, 1, 12>();
  auto three2 = placeholder<"three2", double, 3, 2, 12>();
  auto [nw1, nh1] = slopes(one_row, named1, w, b);
  auto [nw2, nh2] = slopes(two_rows, named2, w, b);
  auto [sw1, sh1] = slopes(one_row, three1, w, b);
  auto [sw2, sh2] = slopes(two_rows, three2, w, b);
  session s{nw1, nh1, nw2, nh2, sw1, sh1, sw2, sh2};
  const auto h1 = sines<1, 8>(1);
  const auto x1 = sines<3, 1, 12>(2);
  const auto [a1, a2] = s.run(fetch(nw1, nh1), one_row = h1, named1 = x1, w = w_value, b = b_value);
  const auto [b1, b2] = s.run(fetch(sw1, sh1), one_row = h1, three1 = x1, w = w_value, b = b_value);
  check_equal(a1, b1);
  check_equal(a2, b2);
  const auto [c1, c2] = s.run(fetch(nw2, nh2), two_rows = h_value, named2 = x_value, w = w_value, b = b_value);
  const auto [d1, d2] = s.run(fetch(sw2, sh2), two_rows = h_value, three2 = x_value, w = w_value, b = b_value);
  check_equal(c1, d1);
  check_equal(c2, d2);
  const auto [e1, e2] = s.run(fetch(nw1, nh1), one_row = h1, named1 = sines<0, 1, 12>(0), w = w_value, b = b_value);
  for (std::size_t i = 0; i < e1.size(); ++i) CHECK(e1.data()[i] == 0);
  for (std::size_t i = 0; i < e2.size(); ++i) CHECK(e2.data()[i] == 2 * h1.data()[i]);
}

TEST_CASE("a loop that ends early: steps that it does not make add nothing") {
  auto h0 = placeholder<"h0", double, 2, 16>();
  auto w = placeholder<"w", double, 16, 16>();
  auto [last, count] = while_loop<9>(
      [](auto s) { return less(std::get<1>(s), constant<std::int32_t(2)>()); },
      [&](auto s) { return std::tuple(tanh(matmul(std::get<0>(s), w)), std::get<1>(s) + constant<std::int32_t(1)>()); },
      std::tuple(h0, constant<std::int32_t(0)>()));
  auto [dw, dh] = gradients(reduce_sum(square(last)), w, h0);
  auto twice = tanh(matmul(tanh(matmul(h0, w)), w));
  auto [uw, uh] = gradients(reduce_sum(square(twice)), w, h0);
  session s{last, dw, dh, twice, uw, uh};
  const auto [a1, a2, a3, b1, b2, b3] =
      s.run(fetch(last, dw, dh, twice, uw, uh), h0 = sines<2, 16>(1), w = sines<16, 16>(3));
  check_equal(a1, b1);
  check_equal(a2, b2);
  check_equal(a3, b3);
}
