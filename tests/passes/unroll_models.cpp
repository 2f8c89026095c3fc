#include <leat/passes/unroll_models.hpp>
#include <leat/vmap.hpp>

#include "support/check.hpp"
#include "support/graphs.hpp"

#include <array>
#include <vector>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

namespace {

template <class... Es>
graph unrolled_graph(const Es&... es) {
  entered e = enter(es...);
  return at_run_time::unroll_models(at_run_time::simplify(e.g, e.targets), e.targets);
}
const auto square_of = [](const auto& m) { return matmul(m, m); };
const auto a = placeholder<"a", float, 50, 2, 2>();

// A product of each of N models, by hand.
template <std::size_t N>
void check_squares(std::int64_t steps_of_it) {
  const auto x = placeholder<"x", double, static_cast<std::int64_t>(N), 3, 3>();
  const auto product = vmap(square_of)(x);
  CHECK(static_cast<std::int64_t>(program_of(product).steps.size()) <= steps_of_it);
  session s{product};
  xt::xtensor<double, 3> xs(std::array<std::size_t, 3>{N, 3, 3});
  for (std::size_t i = 0; i < xs.size(); ++i) xs.data()[i] = static_cast<double>(i % 7) - 2;
  const auto [got] = s.run(fetch(product), x = xs);
  REQUIRE(got.size() == xs.size());
  for (std::size_t k = 0; k < N; ++k)
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) {
        double sum = 0;
        for (std::size_t p = 0; p < 3; ++p) sum += xs(k, i, p) * xs(k, p, j);
        CHECK(got(k, i, j) == sum);
      }
}

}  // namespace

TEST_CASE("small products of many models become vectors") {
  const graph g = unrolled_graph(vmap(square_of)(a));
  CHECK(count(g, "Mul") == 4);
  CHECK(count(g, "MultiplyAdd") == 4);
  CHECK(count(g, "TakeModels") == 4);
  CHECK(count(g, "AssembleModels") == 1);
  CHECK(count(g, "Slice") == 0);
}

TEST_CASE("what has no small product, or too much of it, stays as it is") {
  const auto wide = placeholder<"wide", float, 50, 2, 17>();
  CHECK(count(unrolled_graph(a * 2_c), "AssembleModels") == 0);
  CHECK(count(unrolled_graph(vmap([](const auto& m) { return matmul<false, true>(m, m); })(wide)), "MultiplyAdd") == 0);
  entered e;
  const int x = flatten<std::remove_cvref_t<decltype(placeholder<"many", float, 50, 4, 4>())>>(e.g);
  int last = x;
  const std::int64_t flags[]{0, 0};
  for (int i = 0; i < 60; ++i) {
    const int in[]{last, x};
    last = e.g.add(info_of<stacked_matmul_op>, in, flags);
  }
  e.targets = {last};
  CHECK(count(at_run_time::unroll_models(at_run_time::simplify(e.g, e.targets), e.targets), "AssembleModels") == 0);
}

TEST_CASE("any number of models: none, one, fewer than a register has, and as many as a matrix has rows") {
  check_squares<0>(99);
  check_squares<1>(99);
  check_squares<3>(1);
  check_squares<7>(1);
  check_squares<8>(1);
  check_squares<1025>(1);
}

TEST_CASE("a matrix of a model that has as many rows as there are models: written as it is read") {
  const auto v =
      variable<"v", double, 3, 3, 3>(std::vector<double>{1, 2, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 3, 1, 0, 0, 0, 1, 2, 0, 0, 0, 2, 0, 1, 0, 2});
  const auto first = vmap(square_of)(v);
  const auto last = vmap<-1>(square_of)(v);
  const auto write = assign(v, first + last);
  session s{write, first, last};
  s.initialize();
  const auto before = s.value(v);
  const auto [f, l, done] = s.run(fetch(first, last, write));
  static_cast<void>(done);
  const auto after_it = s.value(v);
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) {
        double by_first = 0, by_last = 0;
        for (std::size_t p = 0; p < 3; ++p) {
          by_first += before(k, i, p) * before(k, p, j);
          by_last += before(i, p, k) * before(p, j, k);
        }
        CHECK(f(k, i, j) == by_first);
        CHECK(l(i, j, k) == by_last);
        CHECK(after_it(k, i, j) == f(k, i, j) + l(k, i, j));
      }
}

TEST_CASE("a variable that is read before it is written, and after") {
  const auto v = variable<"v", float, 2, 2, 20>(ones);
  const auto product = vmap<-1>(square_of)(v);
  const auto write = assign_add(v, product);
  const auto later = after(vmap<-1>(square_of)(v) * 1_c, write);
  const auto again = vmap<-1>(square_of)(write);
  session s{product, write, later, again};
  s.initialize();
  const auto [p, w, l, a2] = s.run(fetch(product, write, later, again));
  for (std::size_t k = 0; k < 20; ++k) {
    CHECK(p(0, 1, k) == 2);
    CHECK(w(0, 1, k) == 3);
    CHECK(l(0, 1, k) == 2);
    CHECK(a2(1, 0, k) == 18);
  }
  CHECK(s.value(v)(1, 1, 19) == 3);
}

TEST_CASE("integers and matrices of each model that are not small: sums of products") {
  const auto n = placeholder<"n", std::int32_t, 6, 2, 3>();
  const auto m = placeholder<"m", float, 4, 5, 20>();
  const auto products = vmap([](const auto& x) { return matmul<false, true>(x, x); })(n);
  const auto large = vmap([](const auto& x) { return matmul<false, true>(x, x); })(m);
  session s{products, large};
  xt::xtensor<std::int32_t, 3> ns(std::array<std::size_t, 3>{6, 2, 3});
  for (std::size_t i = 0; i < ns.size(); ++i) ns.data()[i] = static_cast<std::int32_t>(i);
  xt::xtensor<float, 3> ms(std::array<std::size_t, 3>{4, 5, 20});
  for (std::size_t i = 0; i < ms.size(); ++i) ms.data()[i] = static_cast<float>(i % 11);
  const auto [p, l] = s.run(fetch(products, large), n = ns, m = ms);
  CHECK(p(5, 1, 0) == 30 * 33 + 31 * 34 + 32 * 35);
  float sum = 0;
  for (std::size_t k = 0; k < 20; ++k) sum += ms(3, 4, k) * ms(3, 2, k);
  CHECK(l(3, 4, 2) == sum);
}
