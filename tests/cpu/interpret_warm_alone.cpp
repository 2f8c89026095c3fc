#include <leat/cpu/interpret.hpp>

#include "support/allocations.hpp"
#include "support/check.hpp"
#include "support/interpreted.hpp"

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

TEST_CASE("the counter counts") {
  static void* volatile kept = nullptr;
  CHECK(count([] {
          kept = ::operator new(100);
          ::operator delete(kept);
        }) == 2);
  CHECK(count([] {}) == 0);
}

TEST_CASE("a warm run of a training step allocates nothing") {
  cpu::set_thread_count(1);  // another thread makes its memory when it first takes part
  const auto x = placeholder<"x", float, "batch", 64>();
  const auto labels = placeholder<"labels", std::int32_t, "batch">();
  const auto w1 = variable<"w1", float, 64, 32>(zeros);
  const auto b1 = variable<"b1", float, 32>(zeros);
  const auto w2 = variable<"w2", float, 32, 10>(zeros);
  const auto logits = matmul(relu(matmul(x, w1) + b1), w2);
  const auto loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(labels, logits));
  const auto predictions = softmax(logits);
  interpreted code(fetch(loss, predictions, gradient_descent(0.1_c).minimize(loss)));
  auto v1 = filled<float, 2>({64, 32});
  auto v2 = filled<float, 2>({32, 10});
  auto c1 = filled<float, 1>({32});
  for (const std::size_t n : {std::size_t{100}, std::size_t{3000}}) {
    auto xs = filled<float, 2>({n, 64});
    auto ys = filled<std::int32_t, 1>({n}, 0, 10);
    code.with(w1, v1).with(w2, v2).with(b1, c1).with(x, xs).with(labels, ys).run();
    CHECK(count([&] { code.step().run(); }) == 0);
  }
}

TEST_CASE("nor does a cluster of hundreds of instructions") {
  cpu::set_thread_count(1);
  const auto x = placeholder<"x", float, "n", 3>();
  graph g;
  output sum{g, flatten<std::remove_cvref_t<decltype(x)>>(g)};
  const output first = sum;
  for (int k = 0; k < 300; ++k) sum = tanh(sum * first) + first;
  interpreted code(g, {sum.index()});
  auto xs = filled<float, 2>({5000, 3});
  code.with(x, xs).run();
  CHECK(count([&] { code.step().run(); }) == 0);
}
