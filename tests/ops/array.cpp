#include <leat/ops/array.hpp>

#include "support/check.hpp"
#include "support/interpreted_session.hpp"

#include <cstdint>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

TEST_CASE("reshape, squeeze and expand_dims keep the elements and their order") {
  const auto x = placeholder<"x", float, "n", 2, 6>();
  const auto flat = reshape<"n", 12>(x);
  const auto guessed = reshape<"n", -1, 3>(x);
  const auto grown = expand_dims<1>(x);
  const auto back = squeeze(grown * 2_c);
  const auto last = expand_dims<-1>(x);
  static_assert(decltype(flat)::extent[1] == 12 && decltype(flat)::rank == 2);
  static_assert(decltype(guessed)::extent[1] == 4);
  static_assert(decltype(grown)::rank == 4 && decltype(grown)::extent[1] == 1 && decltype(last)::extent[3] == 1);
  session s{flat, guessed, grown, back, last};
  for (const auto n : {std::size_t{0}, std::size_t{1}, std::size_t{7}}) {
    const auto xs = filled<float, 3>({n, 2, 6});
    const auto [a, b, c, d, e] = s.run(fetch(flat, guessed, grown, back, last), x = xs);
    check_close("flat", a, xs, 0);
    check_close("guessed", b, xs, 0);
    check_close("grown", c, xs, 0);
    check_each("back", d, 0, [&](std::size_t i) { return 2 * xs.data()[i]; });
    check_close("last", e, xs, 0);
    CHECK(a.shape()[1] == 12);
    CHECK(b.shape()[2] == 3);
    CHECK(c.shape()[1] == 1);
  }
}

TEST_CASE_TEMPLATE("transposition, fetched and as an operand", T, float, double, std::int32_t, std::uint8_t) {
  const auto x = placeholder<"x", T, "a", "b", 3>();
  const auto y = placeholder<"y", T, 3, "b", "a">();
  const auto reversed = transpose(x);
  const auto turned = transpose<1, 2, 0>(x);
  const auto sum = transpose(x) + y;
  const auto twice = transpose<2, 0, 1>(transpose<1, 2, 0>(x));
  const auto column_sums = reduce_sum<1>(transpose<1, 0, 2>(x));
  session s{reversed, turned, sum, twice, column_sums};
  const std::array<std::array<std::size_t, 2>, 5> sizes{{{1, 1}, {4, 17}, {33, 16}, {0, 2}, {2, 0}}};
  for (const auto& [p, q] : sizes) {
    const std::size_t a = p;
    const std::size_t b = q;
    const auto xs = filled<T, 3>({a, b, 3}, 0, 40);
    const auto ys = filled<T, 3>({3, b, a}, 0, 40, 3);
    const auto [r, t, su, tw, cs] = s.run(fetch(reversed, turned, sum, twice, column_sums), x = xs, y = ys);
    check_each("reversed", r, 0, [&](std::size_t i) { return xs(i % a, i / a % b, i / a / b); });
    check_each("turned", t, 0, [&](std::size_t i) { return xs(i % a, i / a / 3, i / a % 3); });
    check_each("sum", su, 0, [&](std::size_t i) { return static_cast<T>(xs(i % a, i / a % b, i / a / b) + ys.data()[i]); });
    check_close("twice", tw, xs, 0);
    check_each("column sums", cs, tolerance_of<T>, [&](std::size_t i) {
      T total = 0;
      for (std::size_t k = 0; k < a; ++k) total = static_cast<T>(total + xs(k, i / 3, i % 3));
      return total;
    });
  }
}

TEST_CASE("slices, padding, and both as operands") {
  const auto x = placeholder<"x", double, "n", 5, 9>();
  const auto block = slice<begins<0, 1, 2>, sizes<-1, 3, -1>>(x);
  const auto scaled = block * 2_c + slice<begins<0, 0, 0>, sizes<-1, 3, 7>>(x);
  const auto row = slice<begins<0, 4, 0>, sizes<-1, 1, 9>>(x);
  const auto padded = pad<begins<0, 1, 2>, sizes<0, 0, 3>>(x);
  const auto empty = slice<begins<0, 5, 0>, sizes<-1, 0, 9>>(x);
  static_assert(decltype(block)::extent[1] == 3 && decltype(block)::extent[2] == 7);
  static_assert(decltype(padded)::extent[1] == 6 && decltype(padded)::extent[2] == 14);
  session s{block, scaled, row, padded, empty};
  for (const auto n : {std::size_t{0}, std::size_t{1}, std::size_t{6}}) {
    const auto xs = filled<double, 3>({n, 5, 9});
    const auto [b, sc, r, p, none] = s.run(fetch(block, scaled, row, padded, empty), x = xs);
    const auto part = [&](std::size_t i) { return xs(i / 21, i / 7 % 3 + 1, i % 7 + 2); };
    check_each("block", b, 0, part);
    check_each("scaled", sc, 1e-15, [&](std::size_t i) { return 2 * part(i) + xs(i / 21, i / 7 % 3, i % 7); });
    check_each("row", r, 0, [&](std::size_t i) { return xs(i / 9, 4, i % 9); });
    check_each("padded", p, 0, [&](std::size_t i) {
      const auto j = i / 14 % 6;
      const auto k = i % 14;
      return j < 1 || k < 2 || k >= 11 ? 0 : xs(i / 84, j - 1, k - 2);
    });
    CHECK(none.size() == 0);
  }
}

TEST_CASE_TEMPLATE("concatenation", T, float, std::int64_t, bool) {
  const auto a = placeholder<"a", T, "n", 3>();
  const auto b = placeholder<"b", T, "n", 4>();
  const auto wide = concat<1>(a, b, a);
  const auto c = placeholder<"c", T, 2, 3>();
  const auto d = placeholder<"d", T, 5, 3>();
  const auto tall = concat<0>(c, d);
  const auto same = concat<-1>(c);
  session s{wide, tall, same};
  for (const auto n : {std::size_t{0}, std::size_t{1}, std::size_t{17}}) {
    const auto as = filled<T, 2>({n, 3}, -9, 9);
    const auto bs = filled<T, 2>({n, 4}, -9, 9, 2);
    const auto cs = filled<T, 2>({2, 3}, -9, 9, 3);
    const auto ds = filled<T, 2>({5, 3}, -9, 9, 4);
    const auto [w, t, u] = s.run(fetch(wide, tall, same), a = as, b = bs, c = cs, d = ds);
    check_each("wide", w, 0, [&](std::size_t i) {
      const auto k = i % 10;
      return k < 3 ? as(i / 10, k) : k < 7 ? bs(i / 10, k - 3) : as(i / 10, k - 7);
    });
    check_each("tall", t, 0, [&](std::size_t i) { return i < 6 ? cs.data()[i] : ds.data()[i - 6]; });
    check_close("same", u, cs, 0);
  }
}

TEST_CASE("rows by their number, and their sums by number") {
  const auto table = placeholder<"table", double, "rows", 3>();
  const auto ids = placeholder<"ids", std::int32_t, "a", 2>();
  const auto numbers = placeholder<"numbers", std::int64_t, "rows">();
  const auto found = gather(table, ids);
  const auto one = gather(numbers, ids);
  const auto sums = unsorted_segment_sum<4>(table, numbers);
  static_assert(decltype(found)::rank == 3);
  session s{found, one, sums};
  for (const auto a : {std::size_t{0}, std::size_t{1}, std::size_t{9}}) {
    const std::size_t rows = 7;
    const auto tables = filled<double, 2>({rows, 3});
    const auto idss = filled<std::int32_t, 2>({a, 2}, 0, 7);
    const auto numberss = filled<std::int64_t, 1>({rows}, -1, 4);
    const auto [f, o, u] = s.run(fetch(found, one, sums), table = tables, ids = idss, numbers = numberss);
    check_each("found", f, 0, [&](std::size_t i) { return tables(static_cast<std::size_t>(idss.data()[i / 3]), i % 3); });
    check_each("one", o, 0, [&](std::size_t i) { return numberss(static_cast<std::size_t>(idss.data()[i])); });
    check_each("sums", u, 1e-14, [&](std::size_t i) {
      double sum = 0;
      for (std::size_t r = 0; r < rows; ++r)
        if (numberss(r) == static_cast<std::int64_t>(i / 3)) sum += tables(r, i % 3);
      return sum;
    });
  }
}

TEST_CASE("broadcast_to") {
  const auto x = placeholder<"x", float, "n", 1>();
  const auto y = broadcast_to<4, "n", 5>(x);
  const auto z = reduce_sum<0, 2>(broadcast_to<4, "n", 5>(x));
  const auto [dx] = gradients(square(y), x);
  session s{y, z, dx};
  for (const auto n : lengths) {
    const auto xs = filled<float, 2>({n, 1});
    const auto [ys, zs, dxs] = s.run(fetch(y, z, dx), x = xs);
    CHECK(ys.size() == 20 * n);
    check_each("y", ys, 0, [&](std::size_t i) { return xs.data()[i / 5 % n]; });
    check_each("z", zs, 1e-5, [&](std::size_t i) { return 20 * xs.data()[i]; });
    check_each("dx", dxs, 1e-5, [&](std::size_t i) { return 40 * xs.data()[i]; });
  }
}

TEST_CASE("gradients of everything that rearranges") {
  const auto x = placeholder<"x", double, 3, 4>();
  const auto y = placeholder<"y", double, 2, 4>();
  const auto w = placeholder<"w", double, 4, 3>();
  const auto ids = placeholder<"ids", std::int32_t, 5>();
  const auto loss = reduce_sum(square(transpose(x) * w)) + reduce_sum(square(concat<0>(x, y, x)) * 0.5_c) +
                    reduce_sum(pad<begins<1, 0>, sizes<0, 2>>(x * x)) + reduce_sum(square(slice<begins<1, 1>, sizes<2, -1>>(x))) +
                    reduce_sum(square(gather(x, ids))) + reduce_sum(square(reshape<2, 6>(x)) * exp(reshape<2, 6>(w))) +
                    reduce_sum(squeeze<1>(expand_dims<1>(x)) * x) + reduce_sum(square(reduce_sum<0>(transpose<1, 0>(x))));
  const auto [dx, dy, dw] = gradients(loss, x, y, w);
  session s{loss, dx, dy, dw};
  const auto xs = filled<double, 2>({3, 4});
  const auto ys = filled<double, 2>({2, 4}, -1, 1, 2);
  const auto ws = filled<double, 2>({4, 3}, -1, 1, 3);
  const xt::xtensor<std::int32_t, 1> idss{2, 0, 2, 1, 2};
  const auto [dxs, dys, dws] = s.run(fetch(dx, dy, dw), x = xs, y = ys, w = ws, ids = idss);
  const auto at = [&](const auto& p, const auto& q, const auto& r) {
    return std::get<0>(s.run(fetch(loss), x = p, y = q, w = r, ids = idss));
  };
  check_close("dx", dxs, slopes(xs, [&](const auto& p) { return at(p, ys, ws); }), 1e-7);
  check_close("dy", dys, slopes(ys, [&](const auto& p) { return at(xs, p, ws); }), 1e-7);
  check_close("dw", dws, slopes(ws, [&](const auto& p) { return at(xs, ys, p); }), 1e-7);
}

TEST_CASE("the gradient of a sum by number gathers") {
  const auto x = placeholder<"x", double, 5, 2>();
  const auto ids = placeholder<"ids", std::int32_t, 5>();
  const auto y = reduce_sum(square(unsorted_segment_sum<3>(x, ids)));
  const auto [dx] = gradients(y, x);
  session s{y, dx};
  const auto xs = filled<double, 2>({5, 2});
  const xt::xtensor<std::int32_t, 1> idss{2, 0, 2, 1, 2};
  const auto [dxs] = s.run(fetch(dx), x = xs, ids = idss);
  check_close("dx", dxs, slopes(xs, [&](const auto& p) { return std::get<0>(s.run(fetch(y), x = p, ids = idss)); }), 1e-7);
}

TEST_CASE("identity passes value and gradient, stop_gradient the value alone") {
  const auto x = placeholder<"x", double, 3>();
  const auto y = identity(x) * stop_gradient(x * x);
  const auto [dx] = gradients(y, x);
  session s{y, dx};
  const auto [ys, dxs] = s.run(fetch(y, dx), x = xt::xtensor<double, 1>{1, 2, 3});
  check_close("y", ys, xt::xtensor<double, 1>{1, 8, 27}, 0);
  check_close("dx", dxs, xt::xtensor<double, 1>{1, 4, 9}, 0);
}

TEST_CASE_TEMPLATE("the largest, the smallest, products and means of rows by segment", T, float, double, std::int32_t, std::int64_t,
                   std::uint8_t) {
  const auto x = placeholder<"x", T, "n", 2>();
  const auto ids = placeholder<"ids", std::int32_t, "n">();
  const auto a = unsorted_segment_max<4>(x, ids);
  const auto b = unsorted_segment_min<4>(x, ids);
  const auto c = unsorted_segment_prod<4>(x, ids);
  const auto d = segment_max<4>(x, ids);
  const auto e = segment_min<4>(x, ids);
  const auto f = segment_prod<4>(x, ids);
  const auto g = segment_mean<4>(x, ids);
  const auto h = segment_sum<4>(x, ids);
  session s{a, b, c, d, e, f, g, h};
  const T least = std::numeric_limits<T>::lowest(), most = std::numeric_limits<T>::max();
  const auto [as, bs, cs, ds, es, fs, gs, hs] =
      s.run(fetch(a, b, c, d, e, f, g, h), x = xt::xtensor<T, 2>{{1, 9}, {7, 2}, {3, 4}, {5, 5}, {6, 6}}, ids = xt::xtensor<std::int32_t, 1>{0, 0, 2, 2, -1});
  check_close("max", as, xt::xtensor<T, 2>{{7, 9}, {least, least}, {5, 5}, {least, least}}, 0);
  check_close("min", bs, xt::xtensor<T, 2>{{1, 2}, {most, most}, {3, 4}, {most, most}}, 0);
  check_close("prod", cs, xt::xtensor<T, 2>{{7, 18}, {1, 1}, {15, 20}, {1, 1}}, 0);
  check_close("segment_max", ds, xt::xtensor<T, 2>{{7, 9}, {0, 0}, {5, 5}, {0, 0}}, 0);
  check_close("segment_min", es, xt::xtensor<T, 2>{{1, 2}, {0, 0}, {3, 4}, {0, 0}}, 0);
  check_close("segment_prod", fs, xt::xtensor<T, 2>{{7, 18}, {1, 1}, {15, 20}, {1, 1}}, 0);
  check_close("segment_mean", gs, xt::xtensor<T, 2>{{4, static_cast<T>(5.5)}, {0, 0}, {4, static_cast<T>(4.5)}, {0, 0}}, 0);
  check_close("segment_sum", hs, xt::xtensor<T, 2>{{8, 11}, {0, 0}, {8, 9}, {0, 0}}, 0);
  const auto [none] = s.run(fetch(a), x = xt::xtensor<T, 2>(xt::zeros<T>({0, 2})), ids = xt::xtensor<std::int32_t, 1>(xt::zeros<std::int32_t>({0})));
  CHECK(none(3, 1) == least);
  CHECK_THROWS_AS(s.run(fetch(a), x = xt::xtensor<T, 2>{{1, 2}}, ids = xt::xtensor<std::int32_t, 1>{4}), invalid_argument);
}

TEST_CASE_TEMPLATE("gradients of what is formed of rows by segment, with ties and zeros, as TensorFlow's", T, float, double) {
  const auto x = placeholder<"x", T, 8>();
  const auto ids = placeholder<"ids", std::int64_t, 8>();
  const auto w = constant<"w", T, 5>(std::array<T, 5>{1, 2, 3, 4, 5});
  const auto check = [&](const auto& y, const std::vector<double>& wanted) {
    const auto [dx] = gradients(reduce_sum(w * y), x);
    session s{dx};
    const auto [got] = s.run(fetch(dx), x = xt::xtensor<T, 1>{1, 5, 5, 0, 2, 0, 0, 3}, ids = xt::xtensor<std::int64_t, 1>{0, 0, 0, 1, 1, 2, 2, 3});
    check_each("dx", got, 1e-6, [&](std::size_t i) { return wanted[i]; });
  };
  check(unsorted_segment_max<5>(x, ids), {0, 0.5, 0.5, 0, 2, 1.5, 1.5, 4});
  check(unsorted_segment_min<5>(x, ids), {1, 0, 0, 2, 0, 1.5, 1.5, 4});
  check(unsorted_segment_prod<5>(x, ids), {25, 5, 5, 4, 0, 0, 0, 4});
  check(segment_mean<5>(x, ids), {1.0 / 3, 1.0 / 3, 1.0 / 3, 1, 1, 1.5, 1.5, 4});
  check(segment_max<5>(x, ids), {0, 0.5, 0.5, 0, 2, 1.5, 1.5, 4});
}

TEST_CASE_TEMPLATE("sums and products of the elements up to each", T, float, double, std::int32_t, std::int64_t, std::uint8_t) {
  const auto x = placeholder<"x", T, "n", 3, "m">();
  const auto check = [&](const auto& y, bool product, int axis, bool exclusive, bool reverse) {
    session s{y};
    for (const auto n : {std::size_t{0}, std::size_t{1}, std::size_t{4}})
      for (const auto m : {std::size_t{1}, std::size_t{0}, std::size_t{7}}) {
        xt::xtensor<T, 3> xs = xt::zeros<T>({n, std::size_t{3}, m});
        for (std::size_t i = 0; i < xs.size(); ++i) xs.data()[i] = static_cast<T>(1 + i % 3);
        const auto [ys] = s.run(fetch(y), x = xs);
        REQUIRE(ys.shape() == xs.shape());
        const std::size_t size = xs.shape()[static_cast<std::size_t>(axis)], inner = axis == 2 ? 1 : axis == 1 ? m : 3 * m;
        for (std::size_t i = 0; i < xs.size(); ++i) {
          const std::size_t at = i / inner % size;
          T all = product ? 1 : 0;
          for (std::size_t k = 0; k < size; ++k) {
            if (reverse ? k < at : k > at) continue;
            if (exclusive && k == at) continue;
            const T e = xs.data()[i + k * inner - at * inner];
            all = static_cast<T>(product ? all * e : all + e);
          }
          CHECK(ys.data()[i] == all);
        }
      }
  };
  check(cumsum(x), false, 0, false, false);
  check(cumsum<1, true>(x), false, 1, true, false);
  check(cumsum<-1, false, true>(x), false, 2, false, true);
  check(cumprod<1, true, true>(x), true, 1, true, true);
  check(cumprod<2>(x), true, 2, false, false);
}

TEST_CASE_TEMPLATE("gradients of cumulative sums and products; equal steps from number to number", T, float, double) {
  const auto x = placeholder<"x", T, 8>();
  const auto w = constant<"w", T, 8>(std::array<T, 8>{1, 2, 3, 4, 5, 6, 7, 8});
  const auto [ds] = gradients(reduce_sum(w * cumsum<0, true, true>(x)), x);
  const auto [dp] = gradients(reduce_sum(cumprod(x)), x);
  const auto a = placeholder<"a", T>();
  const auto b = placeholder<"b", T>();
  const auto five = linspace<5>(a, b);
  const auto one = linspace<1>(a, b);
  session s{ds, dp};
  session steps{five, one};
  const auto [sums, products] = s.run(fetch(ds, dp), x = xt::xtensor<T, 1>{1, 5, 5, 0, 2, 0, 0, 3});
  check_close("sums", sums, xt::xtensor<T, 1>{0, 1, 3, 6, 10, 15, 21, 28}, 1e-6);
  check_close("products", products, xt::xtensor<T, 1>{31, 6, 5, 0, 0, 0, 0, 0}, 1e-6);
  const auto [fives, ones] = steps.run(fetch(five, one), a = T(1), b = T(3.3));
  check_close("five", fives, xt::xtensor<T, 1>{1, T(1.575), T(2.15), T(2.725), T(3.3)}, 1e-6);
  CHECK(fives(4) == T(3.3));
  CHECK(ones(0) == 1);
  const T inf = std::numeric_limits<T>::infinity();
  const auto [far, first] = steps.run(fetch(five, one), a = T(-1), b = inf);
  check_close("far", far, xt::xtensor<T, 1>{-1, inf, inf, inf, inf}, 0);
  CHECK(first(0) == -1);
}
