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
