#include <leat/named/graph/named.hpp>

#include "support/messages.hpp"

#include <leat/named/exchange/export.hpp>
#include <leat/named/functions/array.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/named/functions/shape.hpp>
#include <leat/named/graph/lookup.hpp>
#include <leat/named/variables/variable_scope.hpp>

#include <doctest/doctest.h>

#include <string>
#include <thread>

using namespace leat;
using leat_test::message_of;

TEST_CASE("operators on tensors make nodes with names, inputs and attributes as TensorFlow has them") {
  graph g;
  const auto scope = g.as_default();
  const auto a = constant(3.0f, "a");
  const auto b = a + 2.0f;
  CHECK(b.name() == "add:0");
  CHECK(b.operation().inputs()[1].name() == "add/y:0");
  const auto m = reduce_mean(placeholder(dtype::float32, {-1, 3}), {1}, keep_dims::yes);
  const auto op = m.operation();
  CHECK(op.type() == "Mean");
  CHECK(op.inputs().size() == 2);
  CHECK(op.inputs()[1].name() == "Mean/reduction_indices:0");
  CHECK(*op.attribute("keep_dims").get_if<bool>());
  CHECK(*op.attribute("T").get_if<data_type>() == data_type::float32);
  CHECK(*op.attribute("Tidx").get_if<data_type>() == data_type::int32);
  CHECK(m.extent() == shape_value{-1, 1});
  CHECK_THROWS_AS(static_cast<void>(op.attribute("nothing")), not_found);
  CHECK_THROWS_AS(static_cast<void>(op.result(1)), out_of_range);
  // the row of the table holds the operand and the numbers, as the compiler's own tables do
  const node& row = g.at(m.index());
  CHECK(row.input_count == 1);
  CHECK(row.attribute_count == 2);
  CHECK(g.attribute(row, 1) == 1);
}

TEST_CASE("unknown dimensions and ranks") {
  graph g;
  const auto scope = g.as_default();
  const auto any = placeholder(dtype::float32, unknown_shape, "any");
  const auto rows = placeholder(dtype::float32, {-1, 3}, "rows");
  const auto two = constant({{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}}, "two");
  CHECK_FALSE((any + rows).extent().has_rank());
  CHECK((rows + two).extent() == shape_value{2, 3});
  CHECK((rows + constant({{1.0f}, {2.0f}})).extent() == shape_value{2, 3});
  CHECK((rows + constant({1.0f, 2.0f, 3.0f})).extent() == shape_value{-1, 3});
  CHECK(matmul(any, rows, matmul_options{.transpose_b = true}).extent() == shape_value{-1, -1});
  CHECK(matmul(rows, rows, matmul_options{.transpose_b = true}).extent() == shape_value{-1, -1});
  CHECK(reduce_sum(any).extent() == shape_value{});
  CHECK_FALSE(reduce_sum(any, {0}).extent().has_rank());
  CHECK(reshape(any, {2, -1}).extent() == shape_value{2, -1});
  CHECK(reshape(rows, {-1}).extent() == shape_value{-1});
  CHECK(concat({rows, two}, 0).extent() == shape_value{-1, 3});
  CHECK(concat({rows, two}, 1).extent() == shape_value{2, 6});
  CHECK(slice(rows, {1, 0}, {-1, 2}).extent() == shape_value{-1, 2});
  CHECK_FALSE(squeeze(rows).extent().has_rank());
  CHECK(transpose(rows).extent() == shape_value{3, -1});
  CHECK(argmax(rows, 1).extent() == shape_value{-1});
  CHECK_FALSE(exp(any).extent().has_rank());
  CHECK(stack({rows, two}).extent() == shape_value{2, 2, 3});
  // a rule that fits no rank refuses what it would refuse of every rank
  CHECK_THROWS_AS(static_cast<void>(logical_not(any, "no")), invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(matmul(rows, two)), invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(rows + constant({1.0f, 2.0f})), invalid_argument);
}

TEST_CASE("what TensorFlow's operator cannot say is refused") {
  graph g;
  const auto scope = g.as_default();
  const auto x = constant({{1.0f, 2.0f}, {3.0f, 4.0f}});
  CHECK(softmax<1>(x).operation().type() == "Softmax");
  CHECK_THROWS_AS(static_cast<void>(softmax<0>(x)), unimplemented);
}

TEST_CASE("axes that are tensors: what is known of them is used") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {2, 3});
  CHECK(reduce_sum(x, constant({0}, "axes")).extent() == shape_value{3});
  const auto wide = reduce_sum(x, constant({std::int64_t{1}}, "wide_axes"));
  CHECK(wide.extent() == shape_value{2});
  CHECK(*wide.operation().attribute("Tidx").get_if<data_type>() == data_type::int64);
  const auto fed = reduce_sum(x, placeholder(dtype::int32, {1}));
  CHECK_FALSE(fed.extent().has_rank());
  CHECK(fed.type() == dtype::float32);
  CHECK_FALSE(reshape(x, shape_of(placeholder(dtype::float32))).extent().has_rank());
  CHECK(reshape(x, shape_of(constant({1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}))).extent() == shape_value{6});
}

TEST_CASE("errors name the node and the line that made it") {
  graph g;
  const auto scope = g.as_default();
  const auto a = constant({{1.0f, 2.0f}}, "a");
  const auto b = constant({{1.0f, 2.0f, 3.0f}}, "b");
  const std::string text = message_of([&] { matmul(a, b, "product"); });
  CHECK(text.starts_with("MatMul: inner dimensions differ: Tensor(\"a:0\", shape=(1, 2), dtype=float32) and "
                         "Tensor(\"b:0\", shape=(1, 3), dtype=float32)"));
  CHECK(text.find("(node 'product', made at ") != std::string::npos);
  CHECK(text.find("named.cpp:") != std::string::npos);
  const auto here = std::source_location::current().line();
  const auto c = add(a, a);
  CHECK(c.operation().made_at().line == here + 1);
  {
    const source_scope at;
    const auto d = a * a;
    CHECK(d.operation().made_at().line == here + 4);
  }
}

TEST_CASE("a tensor of another graph is refused") {
  graph g;
  graph h;
  const auto of = [](graph& in) {
    const auto scope = in.as_default();
    return constant(1.0f);
  };
  const auto a = of(g);
  const auto b = of(h);
  CHECK(message_of([&] { a + b; }).find("must be from the same graph as Tensor(\"Const:0\"") != std::string::npos);
  CHECK_THROWS_AS(static_cast<void>(group(a, b)), invalid_argument);
  const auto scope = h.as_default();
  CHECK_THROWS_AS(control_dependencies({a}), invalid_argument);
}

TEST_CASE("control dependencies: nested, cleared, and not of nodes that depend on them anyway") {
  graph g;
  const auto scope = g.as_default();
  const auto a = constant(1.0f, "a");
  const auto b = constant(2.0f, "b");
  const auto controls = [](const output& o) {
    std::string text;
    for (const auto& c : o.operation().control_inputs()) text += c.name() + " ";
    return text;
  };
  {
    const auto first = control_dependencies({a});
    const auto second = control_dependencies({b, a});
    CHECK(controls(constant(1.0f)) == "a b ");
    CHECK(controls(a * 2.0f) == "");  // "mul/y" waits already
    CHECK(controls(identity(a)) == "b ");
    const auto inside = constant(1.0f, "inside");
    CHECK(controls(identity(inside)) == "");
    const auto none = control_dependencies(nullptr);
    CHECK(controls(constant(1.0f)) == "");
    const auto again = control_dependencies({b});
    CHECK(controls(constant(1.0f)) == "b ");
  }
  CHECK(controls(constant(1.0f)) == "");
}

TEST_CASE("a finalized graph takes no nodes and no collections") {
  graph g;
  const auto scope = g.as_default();
  const auto a = constant(1.0f, "a");
  finalize(g);
  CHECK(message_of([&] { a + 1.0f; }) == "Graph is finalized and cannot be modified.");
  CHECK(message_of([&] { add_to_collection("k", a); }) == "Graph is finalized and cannot be modified.");
  CHECK(g.size() == 1);
}

TEST_CASE("numbers that no operator took get names when somebody looks") {
  graph g;
  const auto scope = g.as_default();
  const auto a = constant(1.0f, "a");
  const auto number = constant_like(a, 2);
  CHECK(get_operations(g)[1].name() == "Const");
  CHECK(number.name() == "Const:0");
}

TEST_CASE("variables stand for their values as operands, and for themselves in assignments") {
  graph g;
  const auto scope = g.as_default();
  const auto v = variable({1.0f, 2.0f}, "v");
  CHECK(v.name() == "v:0");
  CHECK((v * v).operation().inputs()[0].name() == "v/read:0");
  const auto up = assign_add(v, {1.0f, 1.0f});
  CHECK(up.operation().inputs()[0].name() == "v:0");
  CHECK(initializer_of(v).name() == "v/Assign");
  CHECK_THROWS_AS(static_cast<void>(initializer_of(up)), invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(assign(v, {1.0f, 2.0f, 3.0f})), invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(variable(placeholder(dtype::float32, {-1}))), invalid_argument);
  variable(1.0f, "count", {.trainable = false});
  variable(1.0f, "here", {.collections = {std::string(collection::local_variables)}});
  CHECK(global_variables().size() == 2);
  CHECK(trainable_variables().size() == 2);
  CHECK(local_variables().size() == 1);
  const auto free = variable(zeros_of({2}), "free", {.validate_shape = false});
  CHECK_FALSE(free.extent().has_rank());
}

TEST_CASE("operators of several results") {
  graph g;
  const auto scope = g.as_default();
  const auto parts = split(constant({{1.0f, 2.0f}, {3.0f, 4.0f}}), 2, 1);
  CHECK(parts[1].name() == "split:1");
  CHECK(parts[1].extent() == shape_value{2, 1});
  const auto sum = parts[0] + parts[1];
  CHECK(sum.operation().inputs()[1].name() == "split:1");
  CHECK(export_graph(g).nodes.back().inputs == std::vector<std::string>{"split", "split:1"});
  const auto loss = softmax_cross_entropy_with_logits(parts[0], parts[1]);
  CHECK(loss.operation().outputs().size() == 2);
  CHECK(loss.operation().result(1).extent() == shape_value{2, 1});
}

TEST_CASE("each thread has a default graph of its own, and scopes belong to graphs") {
  reset_default_graph();
  const name_scope here("here");
  CHECK(constant(1.0f).name() == "here/Const:0");
  std::string there;
  std::thread other([&] { there = constant(1.0f).name(); });
  other.join();
  CHECK(there == "Const:0");
  graph g;
  const auto scope = g.as_default();
  CHECK(constant(1.0f).name() == "Const:0");
}

TEST_CASE("a table that was begun without names stays so") {
  graph g;
  g.add_leaf(info_of<placeholder_op>, {dtype::float32, {}}, "x", 1);
  CHECK(g.names() == nullptr);
  CHECK_THROWS_AS(g.named(), failed_precondition);
  graph h;
  h.named();
  const graph moved = std::move(h);
  CHECK(moved.names() != nullptr);
  CHECK_THROWS_AS(graph copy(moved), failed_precondition);
}

TEST_CASE("colocation and devices of groups") {
  graph g;
  const auto scope = g.as_default();
  output a;
  output b;
  {
    const auto d = device("/job:a");
    a = constant(1.0f);
  }
  {
    const auto d = device("/job:b");
    b = constant(1.0f);
    const auto with = colocate_with(a);
    const auto c = constant(2.0f, "c");
    CHECK(c.operation().device() == "/job:a");
    CHECK((*c.operation().attribute("_class").get_list<std::string>())[0] == "loc:@Const");
  }
  const auto both = group({a, b}, "both");
  CHECK(both.name() == "both");
  REQUIRE(both.control_inputs().size() == 2);
  CHECK(both.control_inputs()[0].name() == "both/NoOp");
  CHECK(both.control_inputs()[1].device() == "/job:b");
  CHECK(both.device() == "");
}
