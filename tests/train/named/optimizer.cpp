#include <leat/train/named/optimizer.hpp>

#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/passes/lower.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>

#include <optional>

using namespace leat;

namespace {
std::vector<std::string> names_in(graph& g, std::string_view scope) {
  std::vector<std::string> names;
  for (const auto& op : get_operations(g))
    if (op.name().starts_with(scope) && op.type() != "Const") names.push_back(op.name() + " " + std::string(op.type()));
  return names;
}
}  // namespace

TEST_CASE("settings take the variable's dtype; names, locks, rates that are tensors") {
  graph g;
  const auto scope = g.as_default();
  const auto v = variable(tensor_literal(dtype::float64, {}, 3.0), "v");
  const auto rate = constant(0.5f, "rate");
  named_optimizer optimizer = momentum(rate, 0.9f);
  optimizer.rename("Heavy").use_locking();
  const auto step = optimizer.minimize(v * v, {.name = "go"});
  CHECK(step.name() == "go");
  const auto update = get_operation_by_name(g, "go/update_v/ApplyMomentum");
  CHECK(*update.attribute("use_locking").get_if<bool>());
  CHECK(update.inputs()[1].name() == "v/Heavy:0");
  CHECK(update.inputs()[2].name() == "go/update_v/Cast:0");
  CHECK(update.inputs()[2].operation().inputs()[0].name() == "rate:0");
  CHECK(update.inputs()[4].name() == "go/update_v/Cast_1:0");
  CHECK(dtype_text(update.result()) == "float64_ref");
  CHECK(std::get<graph_operation>(get_collection(collection::train_op).at(0)) == step);
  CHECK(trainable_variables().size() == 1);
  CHECK(global_variables().size() == 2);
}

TEST_CASE("some variables only; gates for all gradients, or none") {
  graph g;
  const auto scope = g.as_default();
  const auto a = variable(1.0f, "a");
  const auto b = variable(2.0f, "b");
  const auto loss = a * b;
  gradient_descent(0.1f).minimize(loss, {.variables = {b}, .gate = gate_gradients::none, .name = "first"});
  CHECK(g.named().find("first/update_a/ApplyGradientDescent") < 0);
  CHECK(g.named().find("gradients/mul_grad/tuple/group_deps") < 0);
  gradient_descent(0.1f).minimize(loss, {.gate = gate_gradients::graph, .name = "second"});
  CHECK(g.named().find("gradients_1/mul_grad/tuple/group_deps") < 0);
  CHECK(get_operation_by_name(g, "second/update_a/ApplyGradientDescent").inputs()[2].name() == "tuple/control_dependency:0");
}

TEST_CASE("rows that were gathered are updated alone") {
  graph g;
  const auto scope = g.as_default();
  const auto table = variable(zeros_of({5, 2}), "table");
  const auto loss = reduce_sum(gather(table, constant({1, 1}), "rows"), all_axes);
  momentum(0.1f, 0.9f).minimize(loss);
  const std::vector<std::string> expected{"Momentum/update_table/Unique Unique",
                                          "Momentum/update_table/strided_slice StridedSlice",
                                          "Momentum/update_table/UnsortedSegmentSum UnsortedSegmentSum",
                                          "Momentum/update_table/SparseApplyMomentum SparseApplyMomentum"};
  std::vector<std::string> made;
  for (const auto& line : names_in(g, "Momentum/update_table/"))
    if (line.find("Shape") == line.npos) made.push_back(line);
  CHECK(made == expected);
  adam(0.1f).minimize(loss);
  int writes = 0;
  for (const auto& line : names_in(g, "Adam/update_table/"))
    for (const char* type : {" Assign", " ScatterAdd", " AssignSub"}) writes += line.ends_with(type) ? 1 : 0;
  CHECK(writes == 5);
  CHECK(get_operation_by_name(g, "Adam/update_table/group_deps").type() == "NoOp");
  gradient_descent(0.1f).minimize(loss);
  CHECK(get_operation_by_name(g, "GradientDescent/update_table/ScatterSub").inputs()[0].name() == "table:0");
}

TEST_CASE("what does not fit is told") {
  graph g;
  const auto scope = g.as_default();
  const auto v = variable(zeros_of({2}), "v");
  const named_optimizer o = gradient_descent(0.1f);
  CHECK(leat_test::message_of<invalid_argument>([&] { o.apply_gradients({{gradient_value(constant({1.0f, 2.0f, 3.0f})), v}}); }).find("which has another shape") !=
        std::string::npos);
  CHECK(leat_test::message_of<invalid_argument>([&] { o.apply_gradients({{gradient_value(constant({1, 2})), v}}); }).find("which has another dtype") != std::string::npos);
  CHECK(leat_test::message_of<invalid_argument>([&] { o.apply_gradients({{gradient_value(constant({1.0f, 2.0f})), constant({1.0f, 2.0f})}}); }).find("is not a variable") !=
        std::string::npos);
  CHECK(leat_test::message_of<invalid_argument>([&] { o.apply_gradients({{gradient_value(constant({1.0f, 2.0f})), output{}}}); }).find("no node of a graph") !=
        std::string::npos);
  CHECK(leat_test::message_of<invalid_argument>([&] { o.minimize(constant(1)); }) == "Invalid type int32 for Const_5:0, expected: float32 or float64.");
  CHECK(leat_test::message_of<invalid_argument>([&] { o.minimize(output{}); }).find("the loss is no node of a graph") != std::string::npos);
  CHECK(leat_test::message_of<invalid_argument>([&] { static_cast<void>(adagrad(0.1f, 0)); }).find("must be positive") != std::string::npos);
  CHECK(leat_test::message_of<invalid_argument>([&] { static_cast<void>(ftrl(0.1f, {.l1 = -1})); }).find("needs to be positive or zero") != std::string::npos);
  graph h;
  const auto inner = h.as_default();
  const auto other = constant({1.0f, 2.0f}, "other");
  CHECK(leat_test::message_of<invalid_argument>([&] { o.apply_gradients({{gradient_value(other), v}}); }).find("must be from the same graph") != std::string::npos);
}

TEST_CASE("a graph at the address of an earlier one gets slots of its own") {
  const named_optimizer optimizer = adam(0.1f);
  exponential_moving_average averages(0.5f);
  std::optional<graph> g;
  for (const int padding : {200, 0}) {
    g.reset();
    g.emplace();
    const auto scope = g->as_default();
    const auto w = variable({1.0f, 2.0f}, "w");
    CHECK_FALSE(static_cast<bool>(optimizer.slot(w, "m")));
    CHECK_FALSE(static_cast<bool>(averages.average(w)));
    output loss = reduce_sum(square(w, {}), all_axes);
    for (int k = 0; k < padding; ++k) loss = loss + 1.0f;
    optimizer.minimize(loss);
    averages.apply({w});
    REQUIRE(optimizer.slot(w, "m").index() < g->size());
    CHECK(optimizer.slot(w, "m").name() == "w/Adam:0");
    CHECK(averages.average(w).name() == "w/ExponentialMovingAverage:0");
  }
}
