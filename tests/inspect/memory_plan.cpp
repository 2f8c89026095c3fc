#include <leat/inspect/memory_plan.hpp>

#include <doctest/doctest.h>

#include <leat/graphs.hpp>
#include <leat/inspect/trace.hpp>
#include <leat/leat.hpp>
#include <leat/ops/known.hpp>
#include <leat/session/graph_session.hpp>

using namespace leat;

namespace {

// Results that are needed at the same time lie apart, and all of them inside the arena.
void check_places(const memory_plan& p) {
  for (const auto& a : p.buffers) {
    if (a.where != storage::arena) {
      CHECK((a.offset < 0 || a.where == storage::extent));
      continue;
    }
    CHECK(a.offset >= 0);
    CHECK(a.offset + a.bytes <= p.arena_bytes);
    CHECK(a.first <= a.last);
    CHECK(a.last < static_cast<int>(p.steps.size()));
    for (const auto& b : p.buffers) {
      if (&a == &b || b.where != storage::arena || a.first > b.last || b.first > a.last) continue;
      CHECK((a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset));
    }
  }
}

}  // namespace

TEST_CASE("the memory of a compiled step") {
  const auto x = placeholder<"x", float, "batch", 8>();
  const auto w = variable<"w", float, 8, 8>(ones);
  const auto h1 = tanh(matmul(x, w));
  const auto h2 = tanh(matmul(h1, w));
  const auto h3 = reduce_sum(matmul(h2, w));
  session s{h3};
  s.initialize();
  CHECK_THROWS_AS(s.planned(fetch(h3)), failed_precondition);
  s.run(fetch(h3), x = xt::xtensor<float, 2>(xt::ones<float>({100, 8})));
  const memory_plan p = memory_plan_of(s.planned(fetch(h3)));
  check_places(p);
  CHECK(p.arena_bytes == s.arena_bytes(fetch(h3)));
  CHECK(p.intermediate_bytes >= 3 * 100 * 8 * 4);
  CHECK(p.arena_bytes < p.intermediate_bytes);  // the first result's place is taken again
  bool variable = false, feed = false;
  for (const auto& b : p.buffers) {
    variable = variable || (b.where == storage::variable && b.bytes == 256);
    feed = feed || (b.where == storage::feed && b.bytes == 3200 && b.extent == shape{2, {100, 8}});
  }
  CHECK(variable);
  CHECK(feed);
  const std::string text = p.text();
  CHECK(text.find("MatMul\n") != text.npos);
  CHECK(text.find("[100,8]") != text.npos);
  CHECK(text.find("arena " + std::to_string(p.arena_bytes) + " bytes") != text.npos);
  // a new size, a new plan
  s.run(fetch(h3), x = xt::xtensor<float, 2>(xt::ones<float>({10, 8})));
  CHECK(memory_plan_of(s.planned(fetch(h3))).arena_bytes < p.arena_bytes);
}

TEST_CASE("the memory of dynamic runs, each program once") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1, 8}, "x");
  const auto w = constant(tensor_literal(dtype::float32, shape{2, {8, 8}}), "w");
  const auto y = reduce_sum(matmul(tanh(matmul(tanh(matmul(x, w)), w)), w), {0, 1});
  graph_session s(g);
  run_trace t;
  const xt::xtensor<float, 2> many = xt::ones<float>({100, 8}), few = xt::ones<float>({3, 8});
  for (int i = 0; i < 3; ++i) s.run(y, {{x, many}}, {.trace = &t});
  REQUIRE(t.memory().size() == 1);
  check_places(t.memory()[0]);
  CHECK(t.memory()[0].arena_bytes < t.memory()[0].intermediate_bytes);
  s.run(y, {{x, few}}, {.trace = &t});
  REQUIRE(t.memory().size() == 2);
  CHECK(t.memory()[1].arena_bytes < t.memory()[0].arena_bytes);
}
