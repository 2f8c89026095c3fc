// einsum and tensordot beside sums that loops form as the letters say; gradients, named dimensions, sizes of 0 and 1.

#include <leat/ops/einsum.hpp>

#include "support/check.hpp"
#include "support/interpreted_session.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

namespace {

struct plain_array {
  std::vector<std::size_t> shape;
  std::vector<double> elements;
  bool operator==(const plain_array&) const = default;
};
plain_array whole_numbers(std::vector<std::size_t> shape, std::size_t salt) {
  std::size_t n = 1;
  for (const std::size_t d : shape) n *= d;
  plain_array made{std::move(shape), {}};
  for (std::size_t i = 0; i < n; ++i) made.elements.push_back(static_cast<double>((i * 7 + salt * 5) % 11) - 5);
  return made;
}
template <class A>
plain_array plain(const A& a) {
  if constexpr (std::is_arithmetic_v<A>) {
    return {{}, {static_cast<double>(a)}};
  } else {
    plain_array made{{a.shape().begin(), a.shape().end()}, {}};
    for (std::size_t i = 0; i < a.size(); ++i) made.elements.push_back(static_cast<double>(a.data()[i]));
    return made;
  }
}

// The sum that an equation with an arrow means, one product after the other.
plain_array by_loops(std::string_view equation, const std::vector<plain_array>& operands) {
  std::string text;
  for (const char c : equation)
    if (c != ' ') text += c;
  const std::size_t arrow = text.find("->");
  std::vector<std::string> letters{""};
  for (const char c : text.substr(0, arrow)) {
    if (c == ',') letters.emplace_back();
    else letters.back() += c;
  }
  const std::string result = text.substr(arrow + 2);
  std::map<char, std::size_t> size;
  for (std::size_t k = 0; k < operands.size(); ++k)
    for (std::size_t i = 0; i < letters[k].size(); ++i) {
      std::size_t& s = size.try_emplace(letters[k][i], 1).first->second;
      if (operands[k].shape[i] != 1) s = operands[k].shape[i];
    }
  plain_array made;
  std::size_t n = 1, all = 1;
  for (const char c : result) {
    made.shape.push_back(size[c]);
    n *= size[c];
  }
  for (const auto& [c, s] : size) all *= s;
  made.elements.assign(n, 0.0);
  for (std::size_t step = 0; step < all; ++step) {
    std::map<char, std::size_t> at;
    std::size_t rest = step;
    for (const auto& [c, s] : size) {
      at[c] = rest % s;
      rest /= s;
    }
    double product = 1;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      std::size_t place = 0;
      for (std::size_t i = 0; i < letters[k].size(); ++i)
        place = place * operands[k].shape[i] + (operands[k].shape[i] == 1 ? 0 : at[letters[k][i]]);
      product *= operands[k].elements[place];
    }
    std::size_t to = 0;
    for (const char c : result) to = to * size[c] + at[c];
    made.elements[to] += product;
  }
  return made;
}

template <class T, class Dims>
struct operand_of;
template <class T, std::int64_t... Ds>
struct operand_of<T, dims<Ds...>> {
  template <fixed_string Name>
  static constexpr auto make() {
    return placeholder<Name, T, Ds...>();
  }
  static auto values(std::size_t salt) {
    const plain_array from = whole_numbers({static_cast<std::size_t>(Ds)...}, salt);
    auto made = xt::xtensor<T, sizeof...(Ds)>::from_shape({static_cast<std::size_t>(Ds)...});
    for (std::size_t i = 0; i < from.elements.size(); ++i) made.data()[i] = static_cast<T>(from.elements[i]);
    return made;
  }
};
template <class T>
struct operand_of<T, dims<>> {
  template <fixed_string Name>
  static constexpr auto make() {
    return placeholder<Name, T>();
  }
  static T values(std::size_t salt) { return static_cast<T>(whole_numbers({}, salt).elements[0]); }
};

template <fixed_string Equation, class T, class A>
plain_array einsum_of_one() {
  const auto a = operand_of<T, A>::template make<"a">();
  const auto y = einsum<Equation>(a);
  session s{y};
  return plain(std::get<0>(s.run(fetch(y), a = operand_of<T, A>::values(0))));
}
template <fixed_string Equation, class T, class A, class B>
plain_array einsum_of_two() {
  const auto a = operand_of<T, A>::template make<"a">();
  const auto b = operand_of<T, B>::template make<"b">();
  const auto y = einsum<Equation>(a, b);
  session s{y};
  return plain(std::get<0>(s.run(fetch(y), a = operand_of<T, A>::values(0), b = operand_of<T, B>::values(1))));
}
template <fixed_string Equation, class A, class T = double>
void check_one(std::string_view as = Equation.view()) {
  CAPTURE(as);
  CHECK(einsum_of_one<Equation, T, A>() == by_loops(as, {plain(operand_of<T, A>::values(0))}));
}
template <fixed_string Equation, class A, class B, class T = double>
void check_two(std::string_view as = Equation.view()) {
  CAPTURE(as);
  CHECK(einsum_of_two<Equation, T, A, B>() == by_loops(as, {plain(operand_of<T, A>::values(0)), plain(operand_of<T, B>::values(1))}));
}

}  // namespace

TEST_CASE("einsum of one operand") {
  check_one<"ij->ji", dims<2, 3>>();
  check_one<"ji", dims<2, 3>>("ji->ij");
  check_one<"ij->", dims<2, 3>>();
  check_one<"ij->j", dims<2, 3>>();
  check_one<"ijk->kij", dims<2, 3, 4>>();
  check_one<"ijk->kj", dims<2, 3, 4>>();
  check_one<"ii->i", dims<3, 3>>();
  check_one<"ii", dims<3, 3>, std::int32_t>("ii->");
  check_one<"iji->ji", dims<2, 3, 2>>();
  check_one<"iii->i", dims<3, 3, 3>>();
  check_one<"bibi->ib", dims<2, 3, 2, 3>, float>();
  check_one<"B b -> bB", dims<2, 3>>();
  check_one<"aB", dims<2, 3>>("aB->Ba");
  check_one<"->", dims<>>();
  check_one<"ij->i", dims<2, 0>>();
  check_one<"ii->i", dims<0, 0>>();
}

TEST_CASE("einsum of two operands: matrices") {
  check_two<"ij,jk->ik", dims<2, 3>, dims<3, 4>>();
  check_two<"ij,jk", dims<2, 3>, dims<3, 4>, std::int64_t>("ij,jk->ik");
  check_two<"ji,kj->ki", dims<3, 2>, dims<4, 3>>();
  check_two<"ij,jk->ik", dims<20, 30>, dims<30, 25>>();
  check_two<"ij,j->i", dims<2, 3>, dims<3>>();
  check_two<"i,ij->j", dims<2>, dims<2, 3>>();
  check_two<"ijk,jkc->ic", dims<2, 3, 4>, dims<3, 4, 5>>();
  check_two<"ijk,ckj->cki", dims<2, 3, 4>, dims<5, 4, 3>>();
  check_two<"ijk,cj->kci", dims<2, 3, 4>, dims<5, 3>, float>();
  check_two<"ij,jk->ik", dims<2, 0>, dims<0, 3>>();
  check_two<"ij,jk->ik", dims<0, 3>, dims<3, 2>>();
}

TEST_CASE("einsum of two operands: stacks of matrices") {
  check_two<"bij,bjk->bik", dims<2, 3, 4>, dims<2, 4, 5>>();
  check_two<"bij,bkj->kbi", dims<2, 3, 4>, dims<2, 5, 4>, float>();
  check_two<"bhid,bhjd->bhij", dims<2, 3, 4, 5>, dims<2, 3, 6, 5>>();
  check_two<"bij,jk->bik", dims<2, 3, 4>, dims<4, 5>>();
  check_two<"bij,bi->bj", dims<2, 3, 4>, dims<2, 3>>();
  check_two<"bhc,hcj->bhj", dims<2, 3, 4>, dims<3, 4, 5>, std::int32_t>();
  check_two<"bij,bjk->bik", dims<0, 3, 4>, dims<0, 4, 5>>();
}

TEST_CASE("einsum of two operands: products of elements, sums beforehand, diagonals") {
  check_two<"ij,ij->", dims<2, 3>, dims<2, 3>>();
  check_two<"ij,ij->ij", dims<2, 3>, dims<2, 3>>();
  check_two<"bij,bij->b", dims<2, 3, 4>, dims<2, 3, 4>>();
  check_two<"i,j->ji", dims<2>, dims<3>>();
  check_two<"ij,kc->ckij", dims<2, 3>, dims<4, 5>>();
  check_two<"ij,k->j", dims<2, 3>, dims<4>>();
  check_two<"ij,->ji", dims<2, 3>, dims<>>();
  check_two<",->", dims<>, dims<>>();
  check_two<"ij,jk->", dims<2, 3>, dims<3, 4>>();
  check_two<"ij,jk->k", dims<2, 3>, dims<3, 4>>();
  check_two<"ii,ij->j", dims<3, 3>, dims<3, 2>>();
  check_two<"iij,jjk->ik", dims<2, 2, 3>, dims<3, 3, 4>>();
  check_two<"ii,jj->ji", dims<2, 2>, dims<3, 3>>();
}

TEST_CASE("a size of 1 broadcasts") {
  check_two<"ij,jk->ik", dims<2, 1>, dims<3, 4>>();
  check_two<"ij,ij->ij", dims<1, 3>, dims<2, 3>>();
  check_two<"ij,jk->ijk", dims<2, 1>, dims<3, 4>>();
  check_two<"ij,ij->", dims<1, 3>, dims<2, 1>>();
  check_two<"bij,bjk->bik", dims<1, 3, 4>, dims<2, 4, 5>>();
  check_two<"ij,jk->ik", dims<2, 1>, dims<1, 4>>();
}

TEST_CASE("einsum of named dimensions, and its gradients") {
  const auto q = placeholder<"q", double, "batch", "time", 2, 3>();
  const auto k = placeholder<"k", double, "batch", "time", 2, 3>();
  const auto scores = einsum<"bthd,bshd->bhts">(q, q);
  const auto mixed = einsum<"bthd,bthe->hde">(q, k);
  const auto flat = einsum<"bthd,hde->bte">(q, placeholder<"w", double, 2, 3, 4>());
  static_assert(decltype(scores)::rank == 4 && decltype(scores)::extent[1] == 2);
  static_assert(decltype(mixed)::rank == 3 && decltype(flat)::extent[2] == 4);
  const auto [dq, dw] = gradients(reduce_sum(square(flat)), q, placeholder<"w", double, 2, 3, 4>());
  const auto by_hand = einsum<"bte,hde->bthd">(2_c * flat, placeholder<"w", double, 2, 3, 4>());
  const auto other = einsum<"bte,bthd->hde">(2_c * flat, q);
  session s{scores, mixed, flat, dq, dw, by_hand, other};
  const auto qs = filled<double, 4>({2, 3, 2, 3});
  const auto ks = filled<double, 4>({2, 3, 2, 3}, -1, 1, 5);
  const auto ws = filled<double, 3>({2, 3, 4});
  const auto w = placeholder<"w", double, 2, 3, 4>();
  const auto [p, m, f] = s.run(fetch(scores, mixed, flat), q = qs, k = ks, w = ws);
  const auto check = [](std::string_view equation, const auto& got, const auto&... operands) {
    const plain_array expected = by_loops(equation, {plain(operands)...});
    CHECK(plain(got).shape == expected.shape);
    check_each(std::string(equation), got, 1e-12, [&](std::size_t i) { return expected.elements[i]; });
  };
  check("bthd,bthe->hde", m, qs, ks);
  check("bthd,hde->bte", f, qs, ws);
  const auto [a, b, c, d] = s.run(fetch(dq, dw, by_hand, other), q = qs, w = ws);
  check_close("by q", a, c, 1e-12);
  check_close("by w", b, d, 1e-12);
  check_each("scores", p, 1e-12, [&](std::size_t i) {
    double sum = 0;
    for (std::size_t e = 0; e < 3; ++e) sum += qs(i / 18, i / 3 % 3, i / 9 % 2, e) * qs(i / 18, i % 3, i / 9 % 2, e);
    return sum;
  });
}

TEST_CASE("an ellipsis stands for the axes that have no letter, which broadcast") {
  const auto a = placeholder<"a", double, 2, 1, 3, 4>();
  const auto b = placeholder<"b", double, 5, 4, 2>();
  const auto c = placeholder<"c", double, 3, 3>();
  const auto products = einsum<"...ij,...jk->...ik">(a, b);
  const auto implicit = einsum<"...ij,...jk">(a, b);
  const auto moved = einsum<"i...j->j...i">(a);
  const auto summed = einsum<"...j->...">(a);
  const auto one_sided = einsum<"ij,...jk->...ik">(c, a);
  const auto none = einsum<"...ij,jk...->...ik">(c, c);
  static_assert(decltype(products)::rank == 4 && decltype(products)::extent[1] == 5 && decltype(moved)::extent[0] == 4);
  static_assert(std::is_same_v<decltype(products)::extents, decltype(implicit)::extents> && decltype(none)::rank == 2);
  session s{products, implicit, moved, summed, one_sided, none};
  const auto as = operand_of<double, dims<2, 1, 3, 4>>::values(0);
  const auto bs = operand_of<double, dims<5, 4, 2>>::values(1);
  const auto cs = operand_of<double, dims<3, 3>>::values(2);
  const auto [p, q, m, t, o, n] = s.run(fetch(products, implicit, moved, summed, one_sided, none), a = as, b = bs, c = cs);
  xt::xtensor<double, 3> flat(std::array<std::size_t, 3>{2, 3, 4});
  std::copy(as.begin(), as.end(), flat.begin());
  CHECK(plain(p) == by_loops("bij,cjk->bcik", {plain(flat), plain(bs)}));
  CHECK(plain(q) == plain(p));
  CHECK(plain(m) == by_loops("iabj->jabi", {plain(as)}));
  CHECK(plain(t) == by_loops("iabj->iab", {plain(as)}));
  CHECK(plain(o) == by_loops("ij,abjk->abik", {plain(cs), plain(as)}));
  CHECK(plain(n) == by_loops("ij,jk->ik", {plain(cs), plain(cs)}));
}

TEST_CASE("three and more operands, and gradients by each") {
  const auto x = placeholder<"x", double, "batch", 3>();
  const auto w = placeholder<"w", double, 3, 4>();
  const auto y = placeholder<"y", double, "batch", 4>();
  const auto form = einsum<"bi,ij,bj->b">(x, w, y);
  const auto chain = einsum<"bi,ij,kj,kl->bl">(x, w, w, w);
  const auto traced = einsum<"ij,jk,ki">(w, einsum<"ij->ji">(w), einsum<"ij,kj->ki">(w, w));
  const auto wide = einsum<"...i,ij,...j->...ij">(x, w, y);
  static_assert(decltype(form)::rank == 1 && decltype(chain)::rank == 2 && decltype(traced)::rank == 0 && decltype(wide)::rank == 3);
  const auto loss = reduce_sum(form * form) + reduce_sum(chain * chain);
  const auto [dx, dw, dy] = gradients(loss, x, w, y);
  session s{form, chain, traced, wide, loss, dx, dw, dy};
  auto xs = filled<double, 2>({5, 3}, -1, 1, 1), ws = filled<double, 2>({3, 4}, -1, 1, 2), ys = filled<double, 2>({5, 4}, -1, 1, 3);
  const auto [f, c, t, m, gx, gw, gy] = s.run(fetch(form, chain, traced, wide, dx, dw, dy), x = xs, w = ws, y = ys);
  const auto check_by_loops = [](std::string_view equation, const auto& got, const std::vector<plain_array>& operands) {
    const plain_array expected = by_loops(equation, operands);
    CHECK(plain(got).shape == expected.shape);
    check_each(std::string(equation), got, 1e-12, [&](std::size_t i) { return expected.elements[i]; });
  };
  check_by_loops("bi,ij,bj->b", f, {plain(xs), plain(ws), plain(ys)});
  check_by_loops("bi,ij,kj,kl->bl", c, {plain(xs), plain(ws), plain(ws), plain(ws)});
  check_by_loops("bi,ij,bj->bij", m, {plain(xs), plain(ws), plain(ys)});
  double all = 0;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 4; ++j)
      for (std::size_t k = 0; k < 3; ++k)
        for (std::size_t l = 0; l < 4; ++l) all += ws(i, j) * ws(k, j) * ws(i, l) * ws(k, l);
  CHECK(t == doctest::Approx(all));
  const auto check = [&](auto& array, const auto& slope) {
    for (std::size_t i = 0; i < array.size(); ++i) {
      const auto moved = [&](double step) {
        const double held = array.data()[i];
        array.data()[i] += step;
        const double value = std::get<0>(s.run(fetch(loss), x = xs, w = ws, y = ys));
        array.data()[i] = held;
        return value;
      };
      CHECK(slope.data()[i] == doctest::Approx((moved(1e-5) - moved(-1e-5)) / 2e-5).epsilon(1e-6));
    }
  };
  check(xs, gx);
  check(ws, gw);
  check(ys, gy);
}

TEST_CASE("equations that are none are refused in words") {
  using a = std::remove_const_t<decltype(placeholder<"a", double, 2, 3>())>;
  CHECK(detail::einsum_plan<"...ij,...jk->ik", a, a>::problem() == "the operands have an ellipsis, and the result has none");
  CHECK(detail::einsum_plan<"ij->...i", a>::problem() == "the result has an ellipsis, and no operand has one");
  CHECK(detail::einsum_plan<"..ij->ij", a>::problem() == "an ellipsis has three points");
  CHECK(detail::einsum_plan<"...i...->i", a>::problem() == "more than one ellipsis for one array");
  CHECK(detail::einsum_plan<"...ijk->...", a>::problem() == "the rank of an operand is below the number of its letters");
  CHECK(detail::einsum_plan<"ij,ij,kj->i", a, a, a>::problem().empty());
  CHECK(detail::einsum_plan<"ij,jk,ki->i", a, a, a>::problem() == "the dimensions of a letter that both operands have differ");
  CHECK(detail::einsum_plan<"ij,jk", a>::problem() == "the equation has another number of operands");
  CHECK(detail::einsum_plan<"abcdefghi->", a>::problem() == "more than 8 letters for one array");
}

TEST_CASE("tensordot") {
  const auto a = placeholder<"a", double, 2, 3, 4>();
  const auto b = placeholder<"b", double, 4, 3, 5>();
  const auto n = placeholder<"n", double, "batch", 4>();
  const auto one = tensordot<1>(a, b);
  const auto two = tensordot<axis_list<1, -1>, axis_list<1, 0>>(a, b);
  const auto outer = tensordot<0>(placeholder<"u", double, 2>(), placeholder<"v", double, 3>());
  const auto rows = tensordot<1>(n, b);
  const auto all = tensordot<2>(n, n);
  static_assert(decltype(one)::rank == 4 && decltype(one)::extent[1] == 3 && decltype(one)::extent[3] == 5);
  static_assert(decltype(two)::rank == 2 && decltype(all)::rank == 0 && decltype(rows)::rank == 3);
  session s{one, two, outer, rows, all};
  const auto as = operand_of<double, dims<2, 3, 4>>::values(0);
  const auto bs = operand_of<double, dims<4, 3, 5>>::values(1);
  const auto ns = operand_of<double, dims<6, 4>>::values(2);
  const auto [o, t, u, r, l] =
      s.run(fetch(one, two, outer, rows, all), a = as, b = bs, n = ns, placeholder<"u", double, 2>() = std::vector<double>{1, 2},
            placeholder<"v", double, 3>() = std::vector<double>{3, 4, 5});
  CHECK(plain(o) == by_loops("abc,cde->abde", {plain(as), plain(bs)}));
  CHECK(plain(t) == by_loops("abc,cbe->ae", {plain(as), plain(bs)}));
  CHECK(u == xt::xtensor<double, 2>{{3, 4, 5}, {6, 8, 10}});
  CHECK(plain(r) == by_loops("nc,cde->nde", {plain(ns), plain(bs)}));
  CHECK(plain(l) == by_loops("nc,nc->", {plain(ns), plain(ns)}));
}
