// Optimizers' steps, which the interpreter runs as loops that are compiled ahead, against compiled sessions: the same bytes. Compiled
// without contraction of a b + c.

#include <leat/cpu/interpret/ready_loops.hpp>
#include <leat/leat.hpp>
#include <leat/planned.hpp>

#include "support/interpreted.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

namespace {

// The calls of such loops in a program.
template <class... Es>
int calls_of(const Es&... es) {
  const interpreted code(fetch(es...));
  const auto view = code.code().view();
  int calls = 0;
  for (int k = 0; k < view.steps(); ++k)
    if (view.step_at(k).is_cluster)
      for (const auto& phase : cpu::cluster_code(view, code.code().data(), k).lanes) calls += static_cast<int>(phase.calls.size());
  return calls;
}

template <std::int64_t Size, class Optimizer>
void check_steps(const Optimizer& optimizer) {
  CAPTURE(Size);
  const auto a = placeholder<"a", float, Size>();
  const auto b = placeholder<"b", float, Size>();
  const auto w = variable<"w", float, Size>(0.5f);
  // Around the step: the gradient is computed in the loop, and its result is used there.
  const auto train = optimizer.apply_gradients(with_variable(a * b + w, w));
  CHECK(calls_of(train) == (Size > 1 ? 1 : 0));  // one number is no loop
  session compiled{train};
  planned_session planned{train};
  compiled.initialize();
  planned.initialize();
  std::vector<float> as(static_cast<std::size_t>(Size)), bs(as);
  for (std::size_t i = 0; i < as.size(); ++i) {
    as[i] = static_cast<float>(i % 97) * 0.01f - 0.4f;
    bs[i] = static_cast<float>(i % 13) * 0.1f;
  }
  for (int k = 0; k < 3; ++k) {
    compiled.run(fetch(train), a = as, b = bs);
    planned.run(fetch(train), a = as, b = bs);
    CHECK(compiled.value(w) == planned.value(w));
  }
}

}  // namespace

TEST_CASE("steps of optimizers, of any length") {
  check_steps<1>(adam(0.1f));
  check_steps<15>(adam(0.1f));
  check_steps<1003>(adam(0.1f));
  check_steps<70'001>(adam(0.1f));     // cut for threads
  check_steps<2'200'001>(adam(0.1f));  // larger than what is written past the caches
  check_steps<1003>(adam(0.1_c));
  check_steps<1003>(adagrad(0.1f));
  check_steps<1003>(rms_prop(0.1f, 0.9f, 0.5f, 1e-3f));
}

TEST_CASE("large results pass the caches by, unless they are written over what the loop reads") {
  const auto passes_by = []<class... Es>(const Es&...) {
    graph g;
    const std::vector<int> targets{flatten<Es>(g)...};
    const auto data = pack(at_run_time::compile(g, targets));
    program_plan plan;
    make_plan(data.data(), nullptr, cpu::device::chunks, plan);
    return plan.numbers[plan_stores] == stores_past_caches;
  };
  const auto x = placeholder<"x", float, 3'000'000>();
  const auto w = variable<"w", float, 3'000'000>(zeros);
  CHECK(passes_by(exp(x)));
  CHECK(passes_by(group(assign(w, exp(x)))));
  CHECK(!passes_by(group(assign_add(w, x))));
  CHECK(!passes_by(reduce_sum(x)));
  const auto y = placeholder<"y", float, 1'000'000>();
  CHECK(!passes_by(exp(y)));
}

TEST_CASE("several steps in one loop") {
  const auto a = placeholder<"a", float, 100>();
  const auto v = variable<"v", float, 100>(0.5f);
  const auto w = variable<"w", float, 100>(0.25f);
  const auto train = adam(0.1f).apply_gradients(with_variable(a, v), with_variable(a * a, w));
  CHECK(calls_of(train) == 2);
  session compiled{train};
  planned_session planned{train};
  compiled.initialize();
  planned.initialize();
  const std::vector<float> as(100, 0.125f);
  for (int k = 0; k < 2; ++k) {
    compiled.run(fetch(train), a = as);
    planned.run(fetch(train), a = as);
  }
  CHECK(compiled.value(v) == planned.value(v));
  CHECK(compiled.value(w) == planned.value(w));
}

TEST_CASE("what a loop keeps to itself must be read by nobody else") {
  const auto g = placeholder<"g", float, 100>();
  const auto v = placeholder<"v", float, 100>();
  const auto w = placeholder<"w", float, 100>();
  const auto rate = parameter<"rate">(0.1f);
  const auto next = v + square(g);  // Adagrad, whose new accumulator a loop gives
  const auto step = g * rate;
  const auto moved = w - step / sqrt(next);
  CHECK(calls_of(moved, next) == 1);
  CHECK(calls_of(moved, next, exp(next)) == 1);
  CHECK(calls_of(exp(next) - step / sqrt(next), next) == 0);  // read before the loop ends
  CHECK(calls_of(moved, next, step) == 0);
  CHECK(calls_of(moved, next, exp(moved)) == 1);
  CHECK(calls_of(w - step / sqrt(v - square(g))) == 0);
}
