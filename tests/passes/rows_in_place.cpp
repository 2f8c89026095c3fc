#include <leat/passes/rows_in_place.hpp>

#include <leat/ops/array.hpp>
#include <leat/passes/lower.hpp>
#include <leat/train/optimizer.hpp>

#include "support/check.hpp"
#include "support/graphs.hpp"

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

namespace {

const auto table = variable<"table", float, 50, 16>(ones);
const auto other = variable<"other", float, 50, 16>(ones);
const auto narrow = variable<"narrow", float, 50, 15>(ones);
const auto wide = variable<"wide", float, 50, 100>(ones);
const auto ids = placeholder<"ids", std::int32_t, "n">();
const auto more = placeholder<"more", std::int64_t, "n">();
const auto x = placeholder<"x", float, "n", 16>();

struct step_counts {
  int checks = 0, copies = 0, positions = 0, clusters = 0;
  bool operator==(const step_counts&) const = default;
};
// The steps of a program as the compiler's are.
template <class... Es>
step_counts steps_of(const Es&... es) {
  entered e = enter(es...);
  step_counts n;
  for (const program_step& s : at_run_time::compile(e.g, e.targets, false, passes::long_row).steps) {
    n.checks += s.code == operator_record<passes::check_rows_op>::code ? 1 : 0;
    n.copies += s.code == operator_record<gather_op>::code ? 1 : 0;
    n.positions += s.code == operator_record<passes::first_rows_op>::code ? 1 : 0;
    n.clusters += s.is_cluster ? 1 : 0;
  }
  return n;
}

}  // namespace

TEST_CASE("rows that a loop reduces are read where they lie, by any indices, and nothing is copied") {
  const auto products = reduce_sum<1>(gather(table, ids) * gather(other, more));
  CHECK(steps_of(products) == step_counts{.checks = 2, .clusters = 1});
  const auto p = program_of(products);  // other programs take copies
  CHECK(p.steps.size() == 3);
  CHECK(steps_of(softmax(gather(table, ids))) == step_counts{.checks = 1, .clusters = 1});
  const auto several = placeholder<"several", std::int32_t, "n", 3>();
  CHECK(steps_of(reduce_max<2>(gather(table, several) * expand_dims<1>(x))) == step_counts{.checks = 1, .clusters = 1});
}

TEST_CASE("long rows are read where they lie in any loop that sums nothing, short ones are not") {
  CHECK(steps_of(tanh(gather(wide, ids)) + 1_c) == step_counts{.checks = 1, .clusters = 1});
  CHECK(steps_of(tanh(gather(table, ids)) + 1_c) == step_counts{.checks = 1, .clusters = 1});
  CHECK(steps_of(tanh(gather(narrow, ids)) + 1_c) == step_counts{.copies = 1, .clusters = 1});
  CHECK(steps_of(reduce_sum(gather(wide, ids))) == step_counts{.copies = 1, .clusters = 1});
  CHECK(steps_of(reduce_sum<0>(gather(wide, ids))) == step_counts{.copies = 1, .clusters = 1});
}

TEST_CASE("what somebody else needs as an array stays a copy") {
  const auto rows = gather(wide, ids);
  CHECK(steps_of(rows, tanh(rows)).copies == 1);
  CHECK(steps_of(tanh(rows), matmul(rows, placeholder<"z", float, 100, 3>())).copies == 1);
  CHECK(steps_of(transpose(rows) * 2_c).copies == 1);
  CHECK(steps_of(gather(reduce_sum<1>(wide), ids) * 2_c).copies == 1);  // rows of one element
  CHECK(steps_of(gather(wide, placeholder<"one", std::int32_t, 1>()) * 2_c).copies == 1);  // one row
}

TEST_CASE("one step checks the indices of all lookups of equally many rows") {
  const auto products = reduce_sum<1>(gather(table, ids) * gather(other, ids));
  CHECK(steps_of(products) == step_counts{.checks = 1, .clusters = 1});
  const auto less = variable<"less", float, 49, 16>(ones);
  CHECK(steps_of(reduce_sum<1>(gather(table, ids) * gather(less, ids))) == step_counts{.checks = 2, .clusters = 1});
  // the step's own check lets negative indices pass, which the lookup's does not
  const auto train = gradient_descent(0.5_c).minimize(reduce_sum(square(products)));
  const auto counts = steps_of(train);
  CHECK(counts.checks == 1);
  CHECK(counts.copies == 0);
  CHECK(counts.positions == 0);
}

TEST_CASE("a table, or indices, that are written before a loop that reads them are copied first") {
  const auto rows = gather(wide, ids);
  const auto write = assign(wide, wide * 2_c);
  const auto late = after(placeholder<"late", float, 100>() * 1_c, write);
  CHECK(steps_of(tanh(rows), write).copies == 1);
  CHECK(steps_of(rows * late, write).copies == 1);
  const auto at = untrainable_variable<"at", std::int32_t, 4>(zeros);
  const auto advance = assign_add(at, at);
  CHECK(steps_of(tanh(gather(wide, at)), advance).copies == 1);
  CHECK(steps_of(gather(wide, at) * after(placeholder<"late", float, 100>() * 1_c, advance), advance).copies == 1);
  CHECK(steps_of(gather(write, ids) * 2_c).checks == 1);  // the value that a write gives
}
