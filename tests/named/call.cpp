#include <leat/named/graph/call.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>
#include <leat/graphs.hpp>

using namespace leat;
using leat_test::message_of;

TEST_CASE("attributes follow from inputs, or are the defaults") {
  graph g;
  const auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {-1, 3}, "x");
  const graph_operation p = call_operator(g, "Pack", {x, x, x}, {{"axis", 1}}, "together");
  CHECK(p.name() == "together");
  CHECK(*p.attribute("N").get_if<std::int64_t>() == 3);
  CHECK(*p.attribute("T").get_if<data_type>() == data_type::float32);
  CHECK(shape_text(p.result().extent()) == "(?, 3, 3)");
  const graph_operation u = call_operator(g, "Unpack", {p.result()}, {{"num", 3}, {"axis", 1}});
  CHECK(u.name() == "Unpack");
  CHECK(u.outputs().size() == 3);
  CHECK(shape_text(u.result(2).extent()) == "(?, 3)");
  CHECK(*u.attribute("axis").get_if<std::int64_t>() == 1);
  const graph_operation s = call_operator(g, "Split", {tensor_literal(1), x}, {{"num_split", 3}});
  CHECK(s.inputs()[0].name() == "Split/split_dim:0");
  CHECK(shape_text(s.result(1).extent()) == "(?, 1)");
}

TEST_CASE("arrays take the dtype of the tensors beside them") {
  graph g;
  const auto scope = g.as_default();
  const output w = variable(tensor_literal(dtype::float64, {}, 1.0), "w");
  const graph_operation a = call_operator(g, "ApplyGradientDescent", {w, tensor_literal(0.5f), tensor_literal(2.0f)});
  CHECK(a.inputs()[1].type() == dtype::float64);
  CHECK(a.inputs()[1].name() == "ApplyGradientDescent/alpha:0");
  CHECK(a.inputs()[0] .name() == "w:0");
  CHECK(dtype_text(a.result()) == "float64_ref");
  // it stands with its variable
  CHECK(*a.attribute("_class").get_list<std::string>() == std::vector<std::string>{"loc:@w"});
}

TEST_CASE("what does not fit is told in TensorFlow's words") {
  graph g;
  const auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {2}, "x");
  const output n = placeholder(dtype::int32, {2}, "n");
  CHECK(message_of<invalid_argument>([&] {
          call_operator(g, "Pack", {x, n});
        }).find("Input 'values' of 'Pack' Op has type int32 that does not match type float32 of argument 'values'.") != std::string::npos);
  CHECK(message_of<invalid_argument>([&] { call_operator(g, "Switch", {x, x}); })
            .find("Input 'pred' of 'Switch' Op has type float32 that does not match expected type of bool.") != std::string::npos);
  CHECK(message_of<invalid_argument>([&] { call_operator(g, "Switch", {x}); }).find("1 inputs, which is not what the operator takes") !=
        std::string::npos);
  CHECK(message_of<invalid_argument>([&] { call_operator(g, "Unpack", {x}); }).find("lacks the attribute num") != std::string::npos);
  CHECK(message_of<invalid_argument>([&] { call_operator(g, "Unpack", {x}, {{"num", "two"}}); }).find("of another kind") !=
        std::string::npos);
  CHECK(message_of<invalid_argument>([&] { call_operator(g, "Unpack", {x}, {{"num", 3}}); }).find("Dimension must be 3 but is 2") !=
        std::string::npos);
  CHECK(message_of<invalid_argument>([&] { call_operator(g, "ScatterAdd", {x, n, x}); }).find("requires l-value input") ==
        std::string::npos);
  const output y = x + x;
  CHECK(message_of<invalid_argument>([&] {
          call_operator(g, "ApplyGradientDescent", {y, tensor_literal(1.0f), x});
        }).find("requires l-value input") != std::string::npos);
  CHECK(message_of<unimplemented>([&] { call_operator(g, "TestUnknown", {x}); }).find("'TestUnknown' is not defined") != std::string::npos);
  CHECK(message_of<invalid_argument>([&] { call_operator(g, "Pack", {output(), x}); }).find("no node of a graph") != std::string::npos);
  graph other;
  CHECK(message_of<invalid_argument>([&] { call_operator(other, "Pack", {x}); }).find("is not an element of this graph") !=
        std::string::npos);
}

TEST_CASE("a program defines operators of its own") {
  define_operator("TestDouble(x: T) -> (y: T); T: {float32, float64}", [](shape_context& c) { c.set(0, c.input(0).extent); });
  graph g;
  const auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {2, -1}, "x");
  CHECK(shape_text(call_operator(g, "TestDouble", {x}).result().extent()) == "(2, ?)");
  const output n = placeholder(dtype::int32, {2}, "n");
  CHECK(message_of<invalid_argument>([&] { call_operator(g, "TestDouble", {n}); })
            .find("has DataType int32 not in list of allowed values: float32, float64") != std::string::npos);
}

TEST_CASE("a strided slice knows its shape") {
  graph g;
  const auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {10, 4, -1}, "x");
  const auto slice = [&](std::vector<std::int32_t> begin, std::vector<std::int32_t> end, std::vector<std::int32_t> strides,
                         attribute_map masks = {}) {
    return shape_text(call_operator(g, "StridedSlice", {x, tensor_literal(begin), tensor_literal(end), tensor_literal(strides)}, masks)
                          .result()
                          .extent());
  };
  CHECK(slice({1}, {9}, {2}) == "(4, 4, ?)");
  CHECK(slice({-1}, {0}, {-3}) == "(3, 4, ?)");
  CHECK(slice({3}, {4}, {1}, {{"shrink_axis_mask", 1}}) == "(4, ?)");
  CHECK(slice({0, 1}, {0, 3}, {1, 1}, {{"new_axis_mask", 1}}) == "(1, 2, 4, ?)");
  CHECK(slice({0, 0}, {0, 2}, {1, 1}, {{"ellipsis_mask", 1}}) == "(10, 4, ?)");
  CHECK(slice({5}, {2}, {1}) == "(0, 4, ?)");
  CHECK(slice({0}, {0}, {1}, {{"end_mask", 1}}) == "(10, 4, ?)");
  CHECK(message_of<invalid_argument>([&] { slice({10}, {11}, {1}, {{"shrink_axis_mask", 1}}); }).find("out of bounds") !=
        std::string::npos);
  CHECK(message_of<invalid_argument>([&] { slice({0}, {1}, {0}); }).find("must be non-zero") != std::string::npos);
  CHECK(message_of<invalid_argument>([&] { slice({0, 0, 0, 0}, {1, 1, 1, 1}, {1, 1, 1, 1}); }).find("input has only 3 dims") !=
        std::string::npos);
}
