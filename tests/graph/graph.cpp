#include <leat/graph/graph.hpp>

#include "support/graphs.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

namespace {

constexpr tensor_info matrix(std::int64_t rows, std::int64_t columns) {
  shape extent;
  extent.push(rows);
  extent.push(columns);
  return {dtype::float32, extent};
}

}  // namespace

TEST_CASE("nodes stand in pools, and a node's row tells what it is") {
  graph g;
  const output a(g, g.add_leaf(info_of<placeholder_op>, matrix(2, 3), "a", 1));
  const output b(g, g.add_leaf(info_of<placeholder_op>, matrix(1, 3), "b", 2));
  const output c = a * b;
  const output d = reduce_sum<1>(c);
  CHECK(g.size() == 4);
  CHECK(g.at(c.index()).op->type == "Mul");
  CHECK(g.at(c.index()).input_count == 2);
  CHECK(g.input(g.at(c.index()), 1) == b.index());
  CHECK(c.extent() == a.extent());
  CHECK(d.extent().rank == 1);
  CHECK(d.type() == dtype::float32);
  CHECK(describe(g.at(c.index()).result, g).view() == "float32 [2, 3]");
}

TEST_CASE("operands that do not fit are refused with their names and shapes") {
  graph g;
  const output a(g, g.add_leaf(info_of<placeholder_op>, matrix(2, 3), "a", 1));
  const output b(g, g.add_leaf(info_of<variable_op>, matrix(2, 4), "b", 2));
  try {
    static_cast<void>(a + b);
    FAIL("not refused");
  } catch (const invalid_argument& e) {
    CHECK(std::string(e.what()) == "AddV2: shapes do not broadcast: a float32 [2, 3] and b float32 [2, 4]");
  }
  CHECK_THROWS_AS(static_cast<void>(matmul(a, b)), invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(exp(argmax<1>(a))), invalid_argument);
  graph other;
  const output c(other, other.add_leaf(info_of<placeholder_op>, matrix(2, 3), "c", 3));
  CHECK_THROWS_AS(static_cast<void>(a + c), invalid_argument);
  CHECK(g.size() == 3);  // the argmax alone was entered
}

TEST_CASE("equal nodes are one while that is wanted") {
  graph g;
  g.merge_equal = true;
  const output a(g, g.add_leaf(info_of<placeholder_op>, matrix(2, 3), "a", 1));
  CHECK((a + a).index() == (a + a).index());
  CHECK(reduce_sum<0>(a).index() != reduce_sum<1>(a).index());
  g.merge_equal = false;
  CHECK((a + a).index() != (a + a).index());
}

TEST_CASE("handles stay right when the graph grows under them") {
  graph g;
  output a(g, g.add_leaf(info_of<placeholder_op>, matrix(2, 3), "a", 1));
  for (int i = 0; i < 2000; ++i) a = softmax(a) + reduce_max_keep<0>(a);
  const int x[]{0};
  const auto made = passes::gradients(g, reduce_sum(a).index(), x);
  CHECK(made[0] >= 0);
  CHECK(g.at(made[0]).result == matrix(2, 3));
}

TEST_CASE("typed and dynamic expressions enter the same nodes and become the same program") {
  const auto x = placeholder<"x", float, "batch", 4>();
  const auto w = variable<"w", float, 4, 3>(zeros);
  const auto loss = reduce_mean<0, 1>(square(tanh(matmul(x, w)) - 1_c));
  entered typed = enter(loss);
  entered dynamic;
  graph& g = dynamic.g;
  const std::int64_t batch = named_dimension("batch");
  g.name_dimension(batch, "batch");
  const output dx(g, g.add_leaf(info_of<placeholder_op>, matrix(batch, 4), "x", decltype(x)::identity::hash));
  const std::int64_t attribute[]{0, 1, 0};
  const output dw(g, g.add_leaf(info_of<variable_op>, matrix(4, 3), "w", decltype(w)::identity::hash, attribute));
  dynamic.targets.push_back(reduce_mean<0, 1>(square(tanh(matmul(dx, dw)) - 1)).index());
  CHECK(text_of(typed.g) == text_of(g));
  const int variables[]{1};
  typed.targets.push_back(passes::gradients(typed.g, typed.targets[0], variables)[0]);
  dynamic.targets.push_back(passes::gradients(g, dynamic.targets[0], variables)[0]);
  CHECK(text_of(typed.g) == text_of(g));
  CHECK(pack(at_run_time::compile(typed.g, typed.targets)) == pack(at_run_time::compile(g, dynamic.targets)));
}

TEST_CASE("an empty output is refused as an operand") {
  graph g;
  const output x{g, g.add_leaf(info_of<placeholder_op>, {dtype::boolean, {}}, "x", 1)};
  const output empty;
  CHECK_THROWS_AS(static_cast<void>(logical_not(empty)), invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(logical_and(x, empty)), invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(logical_and(empty, x)), invalid_argument);
}
