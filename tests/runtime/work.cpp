// What nodes count as, before they run.

#include <leat/runtime/plan/work.hpp>

#include <doctest/doctest.h>

#include <leat/expr/leaf.hpp>
#include <leat/graphs.hpp>
#include <leat/ops/linalg.hpp>
#include <leat/runtime/programs/stops.hpp>
#include <leat/runtime/state/program_budget.hpp>
#include <leat/session/graph_session.hpp>

#include "support/passes.hpp"

#include <memory>

using namespace leat;
using runtime::heavy_work;

namespace {

token array(std::vector<std::int64_t> sizes) {
  shape s;
  for (const auto n : sizes) s.push(n);
  return {tensor_value(dtype::float32, s), nullptr, false};
}
token numbers(std::vector<std::int32_t> values) { return {tensor_value(values), nullptr, false}; }

std::int64_t work(std::string_view type, std::vector<token> inputs, attribute_map attributes = {}) {
  node_record record;
  record.attributes = std::move(attributes);
  kernel_node node;
  node.type = type;
  node.record = &record;
  const op_info* const known = find_operator(type);
  const operator_definition* const defined = find_definition(type);
  const facts what = known != nullptr ? known->what : defined != nullptr ? defined->info.what : facts{.is = nature::effect};
  return runtime::work_of(what.work, node, inputs);
}

}  // namespace

TEST_CASE("element by element, the largest operand counts, or what two make of each other") {
  CHECK(work("Tanh", {array({256, 256})}) == heavy_work);
  CHECK(work("AddV2", {array({}), array({1000})}) == 1000);
  CHECK(work("AddV2", {array({1000, 1}), array({1, 1000})}) == 1'000'000);
  CHECK(work("Sum", {array({300, 300}), numbers({0})}) == 90'000);
  CHECK(work("Tanh", {array({0, 5})}) == 0);
  CHECK(work("OfOnesOwn", {array({70'000})}) >= heavy_work);
}

TEST_CASE("products count by their multiplications") {
  CHECK(work("MatMul", {array({128, 128}), array({128, 128})}) == heavy_work);
  CHECK(work("MatMul", {array({127, 127}), array({127, 127})}) < heavy_work);
  // few sums of many numbers, and many of few: the same arrays, one of them turned
  CHECK(work("MatMul", {array({4, 100'000}), array({100'000, 4})}) == 4 * 4 * 100'000 / 32);
  CHECK(work("MatMul", {array({4, 100'000}), array({4, 1'000})}, {{"transpose_a", true}}) >= heavy_work);
  CHECK(work("BatchMatMul", {array({10, 64, 64}), array({10, 64, 64})}) == 10 * 64 * 64 * 64 / 32);
}

TEST_CASE("what makes an array from sizes counts the array") {
  CHECK(work("RandomUniform", {numbers({100, 100})}) == 80'000);
  CHECK(work("Fill", {numbers({1000, 1000}), array({})}) == 1'000'000);
  CHECK(work("Tile", {array({10}), numbers({500})}) == 5'000);
  CHECK(work("BroadcastTo", {array({10}), numbers({500, 10})}) == 5'000);
  CHECK(work("Fill", {numbers({-5}), array({})}) == 0);
  CHECK(work("Fill", {numbers({2'000'000'000, 2'000'000'000, 2'000'000'000}), array({})}) >= heavy_work);
}

TEST_CASE("rows of a large array count as those rows") {
  CHECK(work("GatherV2", {array({100'000, 8}), numbers({1, 2, 3}), array({})}) == 24);
  variable_slot table("table", dtype::float32, shape{2, {100'000, 8}});
  CHECK(work("ScatterAdd", {{{}, &table, false}, numbers({1, 2, 3}), array({3, 8})}) == 24);
  CHECK(work("Assign", {{{}, &table, false}, array({100'000, 8})}) == 800'000);
}

TEST_CASE("what passes values on is no work") {
  for (const char* type : {"Identity", "Reshape", "Switch", "Merge", "NextIteration", "StackPushV2", "Shape", "QueueSizeV2"})
    CHECK(work(type, {array({1000, 1000}), array({1000, 1000})}) == 0);
  CHECK(work("NoOp", {}) == 0);
}

namespace {
struct holder_of_programs final : program_holder {
  std::vector<std::unique_ptr<budgeted_program>> programs;

  const budgeted_program* make(program_budget& budget, std::int64_t bytes) {
    budget.tick();
    programs.push_back(std::make_unique<budgeted_program>());
    programs.back()->bytes = bytes;
    programs.back()->used = budget.now();
    budget.trim(programs.back().get());
    return programs.back().get();
  }
  void list(std::vector<program_use>& all) override {
    for (const auto& p : programs) all.push_back({p->used, p->bytes, p.get(), this});
  }
  void drop(const budgeted_program* p) override {
    std::erase_if(programs, [&](const auto& mine) { return mine.get() == p; });
  }
  bool has(const budgeted_program* p) const {
    return std::any_of(programs.begin(), programs.end(), [&](const auto& mine) { return mine.get() == p; });
  }
};
}  // namespace

TEST_CASE("beyond its budget a session drops the programs that were not used for longest, and never the newest") {
  program_budget budget(100);
  holder_of_programs one, other;
  budget.enter(one);
  budget.enter(other);
  const auto* const a = one.make(budget, 40);
  const auto* const b = other.make(budget, 40);
  CHECK(budget.held() == 80);
  budget.tick();
  one.programs[0]->used = budget.now();  // a is run again
  const auto* const c = one.make(budget, 50);
  CHECK((one.has(a) && one.has(c) && !other.has(b)));
  CHECK(budget.held() == 90);
  const auto* const large = other.make(budget, 1000);
  CHECK((other.has(large) && !one.has(a) && !one.has(c)));
  budget.set(0);
  const auto* const last = one.make(budget, 1);
  CHECK((one.has(last) && !other.has(large)));
  budget.leave(other);
  budget.leave(one);
  CHECK(budget.held() == 0);
}

namespace {
// Where a program of typed expressions can be stopped; `together` are variables of which one node writes all.
template <class... Expressions>
struct stopped_program {
  leat::detail::list<std::int64_t> data;
  runtime::program_stops stops;
  std::vector<bool> writes;

  explicit stopped_program(bool together) {
    graph g;
    const program p = leat_test::at_run_time::compile(g, {flatten<Expressions>(g)...});
    data = pack(p);
    const program_view view(data.data());
    std::vector<int> variables;
    for (int b = 0; b < view.buffers(); ++b)
      if (view.buffer_at(b).where == storage::variable) variables.push_back(b);
    std::vector<std::vector<int>> groups;
    if (together) groups.push_back(variables);
    stops = runtime::find_stops(view, data.data(), nullptr, groups);
    for (int k = 0; k < view.steps(); ++k) {
      bool found = false;
      runtime::detail::for_each_written(view, data.data(), view.step_at(k), [&](int) { found = true; });
      writes.push_back(found);
    }
  }
};
template <class... Expressions>
stopped_program<Expressions...> stops_of(bool together, const Expressions&...) {
  return stopped_program<Expressions...>(together);
}
}  // namespace

TEST_CASE("a short program is not stopped; a long one before its steps and within those that write no variable") {
  const auto few = placeholder<"few", float, 4, 4>();
  const auto small = stops_of(false, matmul(few, few));
  CHECK(!small.stops.is_long);
  CHECK(small.stops.of_step.empty());

  const auto x = placeholder<"x", float, 512, 512>();
  const auto v = variable<"v", float, 512, 512>(zeros);
  const auto w = variable<"w", float, 512, 512>(zeros);
  const auto product = matmul(x, x);
  const auto first = assign_sub(v, matmul(product, x));
  const auto second = assign_sub(w, matmul(x, product));
  using enum runtime::program_stops::look;
  const auto apart = stops_of(false, product, first, second);
  REQUIRE(apart.stops.is_long);
  REQUIRE(apart.stops.of_step.size() == apart.writes.size());
  CHECK(std::count(apart.writes.begin(), apart.writes.end(), true) == 2);
  CHECK((apart.stops.of_step[0] & at_clock) != 0);
  for (std::size_t k = 0; k < apart.writes.size(); ++k) CHECK(((apart.stops.of_step[k] & within) != 0) == !apart.writes[k]);
  CHECK(std::count(apart.stops.of_step.begin(), apart.stops.of_step.end(), 0) == 0);

  const auto joined = stops_of(true, product, first, second);
  REQUIRE(joined.writes == apart.writes);
  bool between = false;  // the two writes
  for (std::size_t k = 0; k < joined.writes.size(); ++k) {
    CHECK((joined.stops.of_step[k] == 0) == between);
    if (joined.writes[k]) between = !between;
  }
}
