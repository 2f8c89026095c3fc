#include <leat/ops/linalg.hpp>

#include "support/check.hpp"
#include "support/interpreted_session.hpp"

#include <cstdint>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

namespace {

constexpr std::size_t extents[][3]{{1, 1, 1},    {3, 4, 5}, {1, 17, 1}, {16, 16, 16}, {33, 1, 7},
                                   {5, 100, 33}, {0, 3, 4}, {3, 0, 4},  {3, 4, 0},    {70, 65, 130}};

// Σ a[i, l] b[l, j], whichever of both is transposed.
template <class T>
double product(const xt::xtensor<T, 2>& a, bool ta, const xt::xtensor<T, 2>& b, bool tb, std::size_t i, std::size_t j, std::size_t k) {
  double sum = 0;
  for (std::size_t l = 0; l < k; ++l) sum += static_cast<double>(ta ? a(l, i) : a(i, l)) * static_cast<double>(tb ? b(j, l) : b(l, j));
  return sum;
}

template <bool Ta, bool Tb, class T, class A, class B>
void check_product(const A& a, const B& b) {
  const auto c = matmul<Ta, Tb>(a, b);
  session s{c};
  for (const auto& e : extents) {
    const std::size_t m = e[0], k = e[1], n = e[2];
    const auto as = filled<T, 2>({Ta ? k : m, Ta ? m : k}, -4, 4);
    const auto bs = filled<T, 2>({Tb ? n : k, Tb ? k : n}, -4, 4, 5);
    const auto [cs] = s.run(fetch(c), a = as, b = bs);
    REQUIRE(cs.shape()[0] == m);
    REQUIRE(cs.shape()[1] == n);
    check_each("product", cs, std::is_same_v<T, float> ? 1e-4 : 1e-12,
               [&](std::size_t i) { return product(as, Ta, bs, Tb, i / n, i % n, k); });
  }
}

}  // namespace

TEST_CASE_TEMPLATE("products of matrices, either one transposed", T, float, double) {
  check_product<false, false, T>(placeholder<"a", T, "m", "k">(), placeholder<"b", T, "k", "n">());
  check_product<true, false, T>(placeholder<"a", T, "k", "m">(), placeholder<"b", T, "k", "n">());
  check_product<false, true, T>(placeholder<"a", T, "m", "k">(), placeholder<"b", T, "n", "k">());
  check_product<true, true, T>(placeholder<"a", T, "k", "m">(), placeholder<"b", T, "n", "k">());
}

TEST_CASE_TEMPLATE("products of integers", T, std::int32_t, std::int64_t) {
  check_product<false, false, T>(placeholder<"a", T, "m", "k">(), placeholder<"b", T, "k", "n">());
  check_product<true, true, T>(placeholder<"a", T, "k", "m">(), placeholder<"b", T, "n", "k">());
}

TEST_CASE("static extents, vectors among them") {
  const auto a = placeholder<"a", float, 37, 10>();
  const auto v = placeholder<"v", float, 10, 1>();
  const auto r = placeholder<"r", float, 1, 37>();
  const auto column = matmul(a, v);
  const auto row = matmul(r, a);
  const auto outer = matmul(v, row);
  session s{column, row, outer};
  const auto as = filled<float, 2>({37, 10});
  const auto vs = filled<float, 2>({10, 1}, -1, 1, 2);
  const auto rs = filled<float, 2>({1, 37}, -1, 1, 3);
  const auto [columns, rows, outers] = s.run(fetch(column, row, outer), a = as, v = vs, r = rs);
  check_each("column", columns, 1e-5, [&](std::size_t i) { return product(as, false, vs, false, i, 0, 10); });
  check_each("row", rows, 1e-5, [&](std::size_t i) { return product(rs, false, as, false, 0, i, 37); });
  check_each("outer", outers, 1e-5, [&](std::size_t i) { return vs(i / 10, 0) * product(rs, false, as, false, 0, i % 10, 37); });
}

TEST_CASE("operands that are computed, sliced, transposed, constant or the same") {
  const auto a = placeholder<"a", double, "m", 6>();
  const auto b = placeholder<"b", double, 8, 5>();
  const auto of_parts = matmul(a * 2_c, slice<begins<1, 0>, sizes<6, 5>>(b));
  const auto turned = matmul(transpose(a), transpose(transpose(a)));
  const auto gram = matmul<false, true>(a, a);
  const auto ones_ = matmul(a, broadcast_to<6, 2>(constant<0.5>()));
  const auto reshaped = matmul(reshape<4, 10>(b), reshape<10, 4>(b));
  session s{of_parts, turned, gram, ones_, reshaped};
  for (const auto m : {std::size_t{1}, std::size_t{4}, std::size_t{19}}) {
    const auto as = filled<double, 2>({m, 6});
    const auto bs = filled<double, 2>({8, 5}, -1, 1, 2);
    const auto [p, t, g, o, r] = s.run(fetch(of_parts, turned, gram, ones_, reshaped), a = as, b = bs);
    check_each("of parts", p, 1e-13, [&](std::size_t i) {
      double sum = 0;
      for (std::size_t l = 0; l < 6; ++l) sum += 2 * as(i / 5, l) * bs(l + 1, i % 5);
      return sum;
    });
    check_each("turned", t, 1e-13, [&](std::size_t i) { return product(as, true, as, false, i / 6, i % 6, m); });
    check_each("gram", g, 1e-13, [&](std::size_t i) { return product(as, false, as, true, i / m, i % m, 6); });
    check_each("constant", o, 1e-13, [&](std::size_t i) {
      double sum = 0;
      for (std::size_t l = 0; l < 6; ++l) sum += 0.5 * as(i / 2, l);
      return sum;
    });
    check_each("reshaped", r, 1e-13, [&](std::size_t i) {
      double sum = 0;
      for (std::size_t l = 0; l < 10; ++l) sum += bs.data()[i / 4 * 10 + l] * bs.data()[l * 4 + i % 4];
      return sum;
    });
  }
}

TEST_CASE("gradients of products, by central differences") {
  const auto check = [](const auto& a, const auto& b, const auto& c) {
    const auto loss = reduce_sum(square(c) * 0.5_c + c);
    const auto [da, db] = gradients(loss, a, b);
    session s{loss, da, db};
    const auto as = filled<double, 2>({static_cast<std::size_t>(a.extent[0]), static_cast<std::size_t>(a.extent[1])});
    const auto bs = filled<double, 2>({static_cast<std::size_t>(b.extent[0]), static_cast<std::size_t>(b.extent[1])}, -1, 1, 4);
    const auto [das, dbs] = s.run(fetch(da, db), a = as, b = bs);
    check_close("da", das, slopes(as, [&](const auto& p) { return std::get<0>(s.run(fetch(loss), a = p, b = bs)); }), 1e-7);
    check_close("db", dbs, slopes(bs, [&](const auto& p) { return std::get<0>(s.run(fetch(loss), a = as, b = p)); }), 1e-7);
  };
  const auto mk = placeholder<"mk", double, 3, 4>();
  const auto km = placeholder<"km", double, 4, 3>();
  const auto kn = placeholder<"kn", double, 4, 5>();
  const auto nk = placeholder<"nk", double, 5, 4>();
  check(mk, kn, matmul(mk, kn));
  check(km, kn, matmul<true, false>(km, kn));
  check(mk, nk, matmul<false, true>(mk, nk));
  check(km, nk, matmul<true, true>(km, nk));
}
