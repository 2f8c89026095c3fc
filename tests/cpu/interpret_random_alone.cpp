// Random expressions: the interpreter gives the bytes that the compiled session gives. Compiled without contraction of
// a b + c, which a compiled cluster may do across operators.

#include <leat/cpu/interpret.hpp>

#include "support/check.hpp"
#include "support/interpreted.hpp"
#include "support/random_expressions.hpp"

#include <leat/cpu/parallel.hpp>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

namespace {

template <unsigned Seed, int Columns>
void check_random() {
  using in = random_leaves<Columns>;
  const auto [p, q, r, t, needs] = random_results<Seed, Columns>();
  session compiled{p, q, r, t, needs};
  interpreted code(fetch(p, q, r, t, needs));
  for (const std::size_t size : {std::size_t{5}, std::size_t{0}, std::size_t{1}, std::size_t{64}, std::size_t{1003}}) {
    random_arrays a(size, Columns);
    const auto [cp, cq, cr, ct, cn] =
        compiled.run(fetch(p, q, r, t, needs), in::x = a.x, in::y = a.y, in::row = a.row, in::column = a.column, in::s = a.s);
    code.with(in::x, a.x).with(in::y, a.y).with(in::row, a.row).with(in::column, a.column).with_number(in::s, a.s).run();
    CAPTURE(Seed);
    CAPTURE(Columns);
    CAPTURE(size);
    CHECK(code.same(0, cp));
    CHECK(code.same(1, cq));
    CHECK(code.same(2, cr));
    CHECK(code.same(3, ct));
    CHECK(code.same(4, cn));
  }
}

}  // namespace

TEST_CASE("random expressions") {
  check_random<1, 3>();
  check_random<2, 37>();
  check_random<3, 100>();
  check_random<4, 64>();
  check_random<5, 16>();
  check_random<6, 5>();
  check_random<7, 300>();
  check_random<8, 1>();
  check_random<9, 33>();
  check_random<10, 128>();
  check_random<11, 2050>();
  check_random<12, 10>();
}

TEST_CASE("a result past the caches, and reductions in chunks") {
  const auto x = placeholder<"x", float, "n">();
  const auto y = placeholder<"y", float, "n">();
  const auto p = tanh(x * y + x) - 0.5_c * y;
  const auto q = reduce_sum(p * x);
  const auto m = reduce_max(x - y);
  session compiled{p, q, m};
  interpreted elements(fetch(p));
  interpreted reduced(fetch(q, m));
  for (const std::size_t n : {std::size_t{1000}, std::size_t{100'003}, std::size_t{2'400'001}}) {
    auto xs = filled<float, 1>({n}, -2, 2, 1);
    auto ys = filled<float, 1>({n}, -1, 1, 2);
    for (const int threads : {1, 2}) {
      cpu::set_thread_count(threads);
      const auto [cp] = compiled.run(fetch(p), x = xs, y = ys);
      const auto [cq, cm] = compiled.run(fetch(q, m), x = xs, y = ys);
      CHECK(elements.with(x, xs).with(y, ys).run().same(0, cp));
      reduced.with(x, xs).with(y, ys).run();
      CHECK(reduced.same(0, cq));
      CHECK(reduced.same(1, cm));
    }
  }
  cpu::set_thread_count(1);
}

TEST_CASE("a training step of a network") {
  const auto x = placeholder<"x", float, "batch", 20>();
  const auto labels = placeholder<"labels", std::int32_t, "batch">();
  const auto w1 = variable<"w1", float, 20, 16>(zeros);
  const auto b1 = variable<"b1", float, 16>(zeros);
  const auto w2 = variable<"w2", float, 16, 7>(zeros);
  const auto b2 = variable<"b2", float, 7>(zeros);
  const auto hidden = tanh(matmul(x, w1) + b1);
  const auto loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(labels, matmul(hidden, w2) + b2));
  const auto train = gradient_descent(0.25_c).minimize(loss);
  session s{loss, train};
  s.initialize();
  auto v1 = filled<float, 2>({20, 16}, -1, 1, 5);
  auto v2 = filled<float, 2>({16, 7}, -1, 1, 6);
  auto c1 = filled<float, 1>({16}, -1, 1, 7);
  auto c2 = filled<float, 1>({7}, -1, 1, 8);
  s.assign(w1, v1);
  s.assign(w2, v2);
  s.assign(b1, c1);
  s.assign(b2, c2);
  interpreted code(fetch(loss, train));
  code.with(w1, v1).with(w2, v2).with(b1, c1).with(b2, c2);
  for (const std::size_t n : {std::size_t{3}, std::size_t{64}, std::size_t{1}, std::size_t{33}}) {
    auto xs = filled<float, 2>({n, 20}, -1, 1, n);
    auto ys = filled<std::int32_t, 1>({n}, 0, 7, n + 1);
    const auto [l] = s.run(fetch(loss, train), x = xs, labels = ys);
    CHECK(code.with(x, xs).with(labels, ys).run().same(0, l));
    CHECK(std::memcmp(s.value(w1).data(), v1.data(), sizeof(float) * v1.size()) == 0);
    CHECK(std::memcmp(s.value(w2).data(), v2.data(), sizeof(float) * v2.size()) == 0);
    CHECK(std::memcmp(s.value(b1).data(), c1.data(), sizeof(float) * c1.size()) == 0);
    CHECK(std::memcmp(s.value(b2).data(), c2.data(), sizeof(float) * c2.size()) == 0);
  }
}
