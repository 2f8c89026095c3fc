#include <leat/passes/unroll.hpp>

#include "support/check.hpp"
#include "support/graphs.hpp"

#include <array>
#include <cmath>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

namespace {

// A program as sessions compile it.
template <class... Es>
program unrolled(const Es&... es) {
  const entered e = enter(es...);
  return at_run_time::compile(e.g, e.targets, true);
}
template <class... Es>
graph unrolled_graph(const Es&... es) {
  entered e = enter(es...);
  return at_run_time::unroll(at_run_time::simplify(e.g, e.targets), e.targets);
}

const auto a = placeholder<"a", float, 2, 3>();
const auto b = placeholder<"b", float, 3, 2>();

}  // namespace

TEST_CASE("a small product becomes scalars, one step with what is computed of it") {
  CHECK(steps_of(unrolled(matmul(a, b))) == "cluster");
  CHECK(steps_of(unrolled(matmul(transpose(matmul(a, b) * 2_c + 1_c), a))) == "cluster");
  CHECK(steps_of(program_of(matmul(a, b))) == "product");  // the interpreter runs it whole
  const graph g = unrolled_graph(matmul(a, b));
  CHECK(count(g, "MatMul") == 0);
  CHECK(count(g, "Mul") == 4);
  CHECK(count(g, "MultiplyAdd") == 8);
  CHECK(count(g, "TakeElement") == 12);
  CHECK(count(g, "Assemble") == 1);
}

TEST_CASE("graphs without a small product stay as they are") {
  const auto wide = placeholder<"wide", float, 2, 17>();
  const auto named = placeholder<"named", float, "n", 2>();
  const auto whole = placeholder<"whole", std::int32_t, 2, 2>();
  CHECK(count(unrolled_graph(matmul<true, false>(wide, wide)), "MatMul") == 1);
  CHECK(count(unrolled_graph(matmul(named, a)), "MatMul") == 1);
  CHECK(count(unrolled_graph(matmul(whole, whole)), "MatMul") == 1);
  CHECK(count(unrolled_graph(a * 2_c), "Mul") == 1);
  CHECK(count(unrolled_graph(a * 2_c), "Assemble") == 0);
  // A long sum is quicker in batches.
  const auto row = placeholder<"row", float, 1, 9>();
  const auto column = placeholder<"column", float, 9, 1>();
  CHECK(count(unrolled_graph(matmul(row, column)), "MatMul") == 1);
}

TEST_CASE("what is not connected with a small product stays an array, and so does what is costly") {
  const auto c = placeholder<"c", float, 2, 2>();
  const graph g = unrolled_graph(matmul(a, b), c * 2_c, tanh(matmul(a, b)));
  CHECK(count(g, "Tanh") == 1);
  CHECK(count(g, "Mul") == 4 + 1);
  CHECK(count(g, "Assemble") == 1);  // for Tanh and the fetch
}

TEST_CASE("a program has a bound on the instructions that products become") {
  const auto square = placeholder<"square", float, 4, 4>();
  entered e;
  const int x = flatten<std::remove_cvref_t<decltype(square)>>(e.g);
  int last = x;
  const std::int64_t flags[]{0, 0};
  for (int i = 0; i < 20; ++i) {
    const int in[]{last, x};
    last = e.g.add(info_of<matmul_op>, in, flags);
  }
  e.targets = {last};
  const graph g = at_run_time::unroll(at_run_time::simplify(e.g, e.targets), e.targets);
  CHECK(count(g, "MatMul") == 20 - 1024 / 64);
}

TEST_CASE("an update by a product stays one kernel") {
  const auto w = variable<"w", float, 2, 2>(zeros);
  CHECK(steps_of(unrolled(group(assign_sub(w, 0.1_c * matmul(a, b))))) == "update");
}

TEST_CASE("variables: written by elements, and read before") {
  const auto p = variable<"p", float, 2, 2>(zeros);
  const auto next = matmul(p, p) + 1_c;
  CHECK(steps_of(unrolled(group(assign(p, next)))) == "cluster");
  CHECK(steps_of(unrolled(group(assign(p, next)), next)) == "cluster");

  const auto f = constant(std::array<std::array<float, 2>, 2>{{{1, 2}, {3, 4}}});
  const auto v = variable<"v">(std::array<std::array<float, 2>, 2>{{{1, 1}, {0, 1}}});
  const auto moved = matmul(f, v);
  const auto write = assign(v, moved);
  session s{write, moved, v * 1_c, reduce_sum(v)};
  s.initialize();
  const auto [old, now, sum, done] = s.run(fetch(v * 1_c, moved, reduce_sum(v), write));
  static_cast<void>(done);
  CHECK(old(0, 1) == 1);
  CHECK(now(1, 1) == 7);
  CHECK(sum == 3);
  CHECK(s.value(v)(0, 0) == 1);
  CHECK(s.value(v)(1, 0) == 3);
  CHECK(s.value(v)(1, 1) == 7);
}

TEST_CASE("an element of an array is copied for a kernel, which takes arrays from their beginning") {
  const auto corner = slice<begins<1, 1>, sizes<1, 1>>(a);
  const auto wide = placeholder<"wide", float, 1, 40>();
  CHECK(steps_of(unrolled(matmul(a, b) * corner, matmul(corner, wide))) == "cluster product");
  session s{matmul(a, b) * corner, matmul(corner, wide)};
  const xt::xtensor<float, 2> as{{1, 2, 3}, {4, 5, 6}};
  const xt::xtensor<float, 2> bs{{1, 2}, {3, 4}, {5, 6}};
  const xt::xtensor<float, 2> ws = xt::ones<float>({1, 40});
  const auto [small, large] = s.run(fetch(matmul(a, b) * corner, matmul(corner, wide)), a = as, b = bs, wide = ws);
  CHECK(small(1, 1) == 64 * 5);
  CHECK(large(0, 39) == 5);
}

TEST_CASE("two variables that exchange their values") {
  const auto u = variable<"u">(std::array<std::array<double, 2>, 1>{{{1, 2}}});
  const auto v = variable<"v">(std::array<std::array<double, 2>, 1>{{{3, 4}}});
  const auto turn = constant(std::array<std::array<double, 2>, 2>{{{0, 1}, {1, 0}}});
  const auto step = group(assign(u, matmul(v, turn)), assign(v, matmul(u, turn)));
  session s{step};
  s.initialize();
  s.run(fetch(step));
  CHECK(s.value(u)(0, 0) == 4);
  CHECK(s.value(u)(0, 1) == 3);
  CHECK(s.value(v)(0, 0) == 2);
  CHECK(s.value(v)(0, 1) == 1);
}

TEST_CASE("views, broadcasts and single elements") {
  const auto m = constant(std::array<std::array<float, 3>, 2>{{{1, 2, 3}, {4, 5, 6}}});
  const auto n = constant(std::array<std::array<float, 2>, 3>{{{1, 2}, {3, 4}, {5, 6}}});
  const auto row = constant(std::array<float, 2>{10, 20});
  const auto product = matmul(m, n);  // [[22, 28], [49, 64]]
  const auto shifted = product + row;
  const auto inner = matmul(slice<begins<1, 0>, sizes<1, 2>>(product), constant(std::array<std::array<float, 1>, 2>{{{1}, {1}}}));
  const auto flat = reshape<4>(product / inner);
  const auto total = reduce_sum(shifted);
  session s{shifted, inner, flat, total};
  const auto [sh, in, fl, t] = s.run(fetch(shifted, inner, flat, total));
  CHECK(sh(0, 0) == 32);
  CHECK(sh(1, 1) == 84);
  CHECK(in(0, 0) == 113);
  CHECK(fl(2) == 49.0f / 113);
  CHECK(t == 32 + 48 + 59 + 84);
}

TEST_CASE("each sum is rounded as the kernel rounds it, in the order of the inner dimension") {
  const std::array<std::array<double, 3>, 1> left{{{0.1, 1e16, -0.3}}};
  const std::array<std::array<double, 1>, 3> right{{{0.7}, {1.1}, {1e16}}};
  const auto product = matmul(constant(left), constant(right));
  session s{product};
  const auto [got] = s.run(fetch(product));
  double sum = left[0][0] * right[0][0];
  for (std::size_t k = 1; k < 3; ++k) {
#if defined(__FMA__)
    sum = std::fma(left[0][k], right[k][0], sum);
#else
    sum = left[0][k] * right[k][0] + sum;
#endif
  }
  CHECK(got(0, 0) == sum);
}
