#include <leat/named/graph/graph_operation.hpp>

#include <doctest/doctest.h>
#include <leat/graphs.hpp>

using namespace leat;

TEST_CASE("an operation tells what it is") {
  graph g;
  const auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {6, -1}, "x");
  const graph_operation first = no_op("first");
  std::vector<output> parts;
  {
    const control_dependencies after({first});
    const device there("/cpu:0");
    parts = unstack(x, 0, "parts");
  }
  const graph_operation op = parts[0].operation();
  CHECK(op.name() == "parts");
  CHECK(op.type() == "Unpack");
  CHECK(op.device() == "/device:CPU:0");
  REQUIRE(op.inputs().size() == 1);
  CHECK(op.inputs()[0].name() == "x:0");
  REQUIRE(op.control_inputs().size() == 1);
  CHECK(op.control_inputs()[0] == first);
  CHECK(op.outputs().size() == 6);
  CHECK(op.result(2).name() == "parts:2");
  CHECK_THROWS_AS(op.result(6), out_of_range);
  CHECK_THROWS_AS(op.result(-1), out_of_range);
  CHECK(*op.attribute("num").get_if<std::int64_t>() == 6);
  CHECK_THROWS_AS(op.attribute("no_such"), not_found);
  CHECK(std::string_view(op.made_at().file).ends_with("graph_operation.cpp"));
  CHECK(!static_cast<bool>(graph_operation()));
}

TEST_CASE("tensors as messages show them") {
  graph g;
  const auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {6, -1}, "x");
  const output w = variable(1.0f, "w");
  CHECK(describe(x) == "Tensor(\"x:0\", shape=(6, None), dtype=float32)");
  CHECK(describe(placeholder(dtype::int64, unknown_shape, "any")) == "Tensor(\"any:0\", dtype=int64)");
  CHECK(dtype_text(w) == "float32_ref");
  CHECK(dtype_text(assign(w, 2.0f)) == "float32_ref");
  CHECK(dtype_text(value_of(w)) == "float32");
  CHECK(dtype_text(constant("text")) == "string");
  shape one;
  one.push(3);
  CHECK(shape_text(one) == "(3,)");
  CHECK(shape_text(shape::unknown()) == "<unknown>");
}

TEST_CASE("a graph without names has no operations") {
  graph plain;
  CHECK_THROWS_AS(detail::nodes_of(plain), failed_precondition);
}
