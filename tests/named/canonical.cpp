#include <leat/named/canonical/canonical.hpp>

#include "support/graphs.hpp"

#include <leat/named/functions/named_array.hpp>
#include <leat/named/functions/named_math.hpp>
#include <leat/named/variables/variable_scope.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

namespace {

// What `canonical` says against these targets, or nothing.
std::string problem_of(const std::vector<output>& targets, const canonical_options& options = {}) {
  try {
    static_cast<void>(canonical(targets.front().owner(), targets, options));
  } catch (const leat::error& e) {
    return e.what();
  }
  return {};
}

}  // namespace

TEST_CASE("a graph with names becomes the program of the same typed expressions") {
  const auto tx = placeholder<"x", float, "x.0", 4>();
  const auto tw = variable<"w", float, 4, 3>(zeros);
  const auto loss = reduce_mean<0, 1>(square(tanh(matmul(tx, tw)) - 1_c));
  entered typed = enter(loss);

  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1, 4}, "x");
  const auto w = variable(zeros_of({4, 3}), "w");
  const auto y = reduce_mean(square(tanh(matmul(x, w)) - 1), {0, 1});
  auto plain = canonical({y});
  CHECK(plain.leaves.size() == 2);
  CHECK(plain.leaves[0].from == canonical_leaf::source::fed);
  CHECK(plain.leaves[1].from == canonical_leaf::source::variable);
  CHECK(plain.table.at(plain[w]).op->type == "Identity");  // the read of the variable

  // the read is an identity, and the order of the constants differs: the programs are the same, not the tables
  const int typed_variables[]{typed.g.find(decltype(tw)::identity::hash)};
  const int variables[]{plain.leaves[1].index};
  typed.targets.push_back(passes::gradients(typed.g, typed.targets[0], typed_variables)[0]);
  plain.targets.push_back(passes::gradients(plain.table, plain.targets[0], variables)[0]);
  CHECK(plain.targets[1] >= 0);
  const auto a = passes::compile(typed.g, typed.targets);
  const auto b = passes::compile(plain.table, plain.targets);
  CHECK(steps_of(a) == steps_of(b));
  CHECK(plain.table.at(plain.targets[1]).result == typed.g.at(typed.targets[1]).result);
}

TEST_CASE("axes and shapes that are constants are numbers of the plain table") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {2, 3}, "x");
  const auto targets = {transpose(x, {1, 0}), reshape(x, {3, -1}), reduce_max(x, {-1}), slice(x, {0, 1}, {2, -1}), concat({x, x}, 1),
                        pad(x, {{0, 1}, {2, 0}}), expand_dims(x, 1), argmax(x, 1), matmul(x, x, matmul_options{.transpose_b = true})};
  const auto plain = canonical(targets);
  int k = 0;
  for (const output& t : targets) {
    INFO(t.name());
    CHECK(plain.table.at(plain.targets[static_cast<std::size_t>(k++)]).result.extent == t.extent());
  }
  for (const auto& n : plain.table.nodes) CHECK(n.op->kind != op_kind::constant);
}

TEST_CASE("a constant array is a leaf, one number is not") {
  graph g;
  const auto scope = g.as_default();
  const auto a = constant({1.0f, 2.0f}, "a") * constant(3.0f, shape_value{2}, "threes");
  const auto plain = canonical({a});
  REQUIRE(plain.leaves.size() == 1);
  CHECK(plain.leaves[0].from == canonical_leaf::source::array);
  CHECK(plain.leaves[0].tensor.name() == "a:0");
}

TEST_CASE("shapes of feeds take the place of unknown dimensions") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, unknown_shape, "x");
  const auto y = placeholder(dtype::float32, {-1, 3}, "y");
  const auto sum = x + y;
  CHECK(problem_of({sum}).find("the node 'x' (Placeholder): how many dimensions it has is not known") == 0);
  const auto plain = canonical({sum}, {.shapes = {{x, shape_value{3}}, {y, shape_value{5, 3}}}});
  CHECK(plain.table.at(plain.targets[0]).result.extent == shape_value{5, 3});
  CHECK(problem_of({sum}, {.shapes = {{x, shape_value{3}}, {y, shape_value{5, 4}}}}) ==
        "Cannot feed value of shape (5, 4) for Tensor y:0, which has shape (?, 3)");
  const auto fed = canonical({sum * 2.0f}, {.feeds = {sum}, .shapes = {{sum, shape_value{3}}}});
  CHECK(fed.leaves.size() == 1);
}

TEST_CASE("what the plain table cannot hold is told with the node and its line") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {2, 3}, "x");
  const auto axis = placeholder(dtype::int32, {1}, "axis");
  const auto sum = reduce_sum(x, axis, keep_dims::no, "sum");
  CHECK(problem_of({sum}).find("the node 'sum' (Sum): its axes, shape or dtype are known only when it runs, made at ") == 0);
  const auto own = g.named().raw(g, "Mystery", std::array{x}, {}, {{dtype::float32, {}}}).result();
  CHECK(problem_of({own + 1.0f}).find("the node 'Mystery' (Mystery): an operator that is not known") == 0);
  const auto text = constant("a", "text");
  CHECK(problem_of({text}).find("the node 'text' (Const): a dtype") == 0);
}

TEST_CASE("two writes to one variable need an order, and both are named") {
  graph g;
  const auto scope = g.as_default();
  const auto v = variable(1.0f, "v");
  const auto first = assign_add(v, 1.0f, "first");
  const auto second = assign(v, 2.0f, "second");
  const std::string text = problem_of({first, second});
  CHECK(text.find("two writes to variable 'v' in one step without an order: 'first', made at ") == 0);
  CHECK(text.find(", and 'second', made at ") != std::string::npos);
  CHECK(problem_of({first}).empty());
  CHECK(problem_of({assign_sub(first, 1.0f, "third")}).empty());  // through what the first gives
  const auto waits = control_dependencies({first});
  CHECK(problem_of({first, assign(v, 3.0f, "ordered")}).empty());
}

TEST_CASE("control inputs stay, and what they wait for is needed") {
  graph g;
  const auto scope = g.as_default();
  const auto v = variable(1.0f, "v");
  const auto up = assign_add(v, 1.0f, "up");
  const auto waits = control_dependencies({up});
  const auto after_it = identity(v, "after");
  const auto plain = canonical({after_it});
  const auto& n = plain.table.at(plain.targets[0]);
  REQUIRE(n.control_count == 1);
  CHECK(plain.table.at(plain.table.control(n, 0)).op->type == "AssignAdd");
  // by what a constant waits for, too: as an operand, as an axis, or asked for itself
  const auto check_waits = [&](const output& o) {
    const auto made = canonical({o});
    const auto& row = made.table.at(made.targets[0]);
    REQUIRE(row.control_count == 1);
    CHECK(made.table.at(made.table.control(row, 0)).op->type == "AssignAdd");
  };
  check_waits(v * 2.0f);
  check_waits(reduce_sum(placeholder(dtype::float32, {2, 3}), {0}));
  check_waits(constant(5.0f));
}
