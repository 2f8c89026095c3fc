#include <leat/cpu/use_operator.hpp>
#include <leat/graphs.hpp>
#include <leat/io/binary.hpp>
#include <leat/io/onnx.hpp>
#include <leat/io/onnx/messages.hpp>
#include <leat/io/onnx/operators.hpp>

#include "support/messages.hpp"
#include "support/scratch_folder.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace leat;
using leat_test::message_of;
using leat_test::says;
using leat_test::scratch_folder;

namespace {

io::onnx::model_proto read(const std::string& bytes) {
  io::onnx::model_proto m;
  io::detail::read_message(protozero::pbf_reader{bytes.data(), bytes.size()}, m, io::detail::place{}, 1);
  return m;
}
std::string operators_of(const io::onnx::model_proto& m) {
  std::string text;
  for (const auto& node : m.graph.nodes) text += (text.empty() ? "" : " ") + node.op;
  return text;
}

// y = relu(x w + b)
struct layer {
  graph g;
  output x, w, b, y;
  graph_operation init;
  layer() {
    const auto here = g.as_default();
    x = placeholder(dtype::float32, {-1, 2}, "x");
    w = variable({{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}}, "w");
    b = variable({0.5f, 0.25f, 0.125f}, "b");
    y = relu(matmul(x, w) + b, "y");
    init = global_variables_initializer();
  }
};

/// x to a power, of which the class says what it is in ONNX: up to 2 without Pow.
struct small_power_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "SmallPower";
  static constexpr op_kind kind = op_kind::composite;
  static constexpr field form[]{{field_kind::operand, "x"}, {field_kind::type_of, "T"}, {field_kind::integer, "power", 1}};
  template <class G>
  static constexpr output expand(G& g) {
    output all = g.input(0);
    for (std::int64_t k = 1; k < g.attribute(0); ++k) all = all * g.input(0);
    return all;
  }
  static void onnx(onnx_nodes& n) {
    const std::int64_t power = n.attribute(0);
    if (n.input_count() != 1 || n.opset() < 17) n.refuse("is not what the class expects");
    if (power == 2) n.result(n.node("Mul", {n.input(), n.input()}));
    else if (power == 3) n.result(n.node("Pow", {n.input(), n.number(n.type(), 3)}));
    else if (power == 4) n.result(n.nodes("Split", {n.input(7)}, {{"axis", 0}}, 2)[0]);
    else n.result(n.node("Own", {n.input(), n.integers({power})}, {{"mode", "all"}, {"axes", std::vector<std::int64_t>{1, 2}}, {"by", 0.5f}}));
  }
};

}  // namespace

TEST_CASE("an operator's class says what it is in ONNX") {
  use_operator<small_power_op>();
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1, 2}, "x");
  const auto written = [&](std::int64_t power) {
    const output y = call_operator(g, "SmallPower", {x}, {{"power", power}}).result();
    return io::write_onnx(g, {.inputs = {{"x", x}}, .outputs = {{"y", y}}});
  };
  CHECK(operators_of(read(written(2))) == "Mul");
  const auto third = read(written(3));
  CHECK(operators_of(third) == "Pow");
  CHECK(third.graph.nodes[0].outputs == std::vector<std::string>{"y"});
  REQUIRE(third.graph.initializers.size() == 1);
  CHECK(third.graph.initializers[0].dims.empty());
  const auto fifth = read(written(5));
  CHECK(operators_of(fifth) == "Own");
  REQUIRE(fifth.graph.nodes[0].attributes.size() == 3);
  CHECK(fifth.graph.nodes[0].attributes[0].text == "all");
  CHECK(fifth.graph.nodes[0].attributes[1].integers == std::vector<std::int64_t>{1, 2});
  CHECK(fifth.graph.nodes[0].attributes[2].number == 0.5f);
  CHECK(says(message_of([&] { written(4); }), "(SmallPower): its class asks for input 7 of 1"));
}

TEST_CASE("a layer with a session's values, field by field") {
  layer m;
  graph_session s(m.g);
  const io::model_signature model{.inputs = {{"points", m.x}}, .outputs = {{"heights", m.y}}};
  CHECK(says(message_of([&] { io::write_onnx(m.g, model); }), "'w' is a variable, and the graph is not frozen"));
  CHECK_THROWS_AS(io::write_onnx(m.g, model), failed_precondition);
  CHECK(says(message_of([&] { io::write_onnx(s, model); }), "'w'"));
  s.run(m.init);
  const std::string bytes = io::write_onnx(s, model);
  CHECK(bytes == io::write_onnx(s, model));
  const auto file = read(bytes);
  CHECK(file.ir_version == 8);
  CHECK(file.producer == "leat");
  REQUIRE(file.operator_sets.size() == 1);
  CHECK(file.operator_sets[0].version == 17);
  CHECK(operators_of(file) == "MatMul Add Relu");
  REQUIRE(file.graph.inputs.size() == 1);
  CHECK(file.graph.inputs[0].name == "points");
  const auto& sizes = file.graph.inputs[0].type.tensor->shape->dims;
  REQUIRE(sizes.size() == 2);
  CHECK(std::get<std::string>(sizes[0].size) == "batch");
  CHECK(std::get<std::int64_t>(sizes[1].size) == 2);
  REQUIRE(file.graph.outputs.size() == 1);
  CHECK(file.graph.outputs[0].name == "heights");
  CHECK(file.graph.outputs[0].type.tensor->type == io::onnx::element_type::float32);
  CHECK(file.graph.nodes.back().outputs == std::vector<std::string>{"heights"});
  CHECK(file.graph.nodes.back().name == "y");
  REQUIRE(file.graph.initializers.size() == 2);
  const auto& w = file.graph.initializers[0].name == "w" ? file.graph.initializers[0] : file.graph.initializers[1];
  CHECK(w.dims == std::vector<std::int64_t>{2, 3});
  REQUIRE(w.elements.size() == 24);
  float last = 0;
  std::memcpy(&last, w.elements.data() + 20, 4);
  CHECK(last == 6);

  // the numbers of the fields, as onnx.proto has them
  protozero::pbf_reader top{bytes};
  std::set<unsigned> found;
  while (top.next()) {
    found.insert(top.tag());
    if (top.tag() == 1) CHECK(top.get_int64() == 8);
    else if (top.tag() == 8) {
      auto set = top.get_message();
      REQUIRE(set.next(2));
      CHECK(set.get_int64() == 17);
    } else if (top.tag() == 7) {
      auto graph = top.get_message();
      std::set<unsigned> fields;
      while (graph.next()) {
        fields.insert(graph.tag());
        graph.skip();
      }
      CHECK(fields == std::set<unsigned>{1, 2, 5, 11, 12});
    } else top.skip();
  }
  CHECK(found == std::set<unsigned>{1, 2, 3, 7, 8});
}

TEST_CASE("a frozen graph is written as its session is, and to a file") {
  const scratch_folder scratch("onnx");
  layer m;
  graph_session s(m.g);
  s.run(m.init);
  graph frozen;
  frozen.named();
  import_graph(frozen, freeze(s, {"y"}), {.name = ""});
  io::write_onnx_file(frozen, {.inputs = {{"x", "x:0"}}, .outputs = {{"y", "y:0"}}}, scratch.path / "y.onnx");
  io::write_onnx_file(s, {.inputs = {{"x", m.x}}, .outputs = {{"y", m.y}}}, scratch.path / "s.onnx");
  const auto a = read(io::read_file(scratch.path / "y.onnx")), b = read(io::read_file(scratch.path / "s.onnx"));
  CHECK(a.graph.inputs == b.graph.inputs);
  CHECK(a.graph.outputs == b.graph.outputs);
  CHECK(operators_of(a) == operators_of(b));
  CHECK(a.graph.initializers.size() == 2);
}

TEST_CASE("inputs, outputs and what is left out") {
  graph g;
  const auto here = g.as_default();
  const output x = placeholder(dtype::float32, {-1, -1}, "x");
  const output z = placeholder(dtype::float32, {-1, 3}, "z");
  const output h = tanh(x, "h");
  const output y = exp(h, "y");
  sin(z, "unused");
  // an inner tensor as input: what makes it is gone
  auto file = read(io::write_onnx(g, {.inputs = {{"h", h}}, .outputs = {{"y", y}}}));
  CHECK(operators_of(file) == "Exp");
  // an input as output, and one tensor as two outputs
  file = read(io::write_onnx(g, {.inputs = {{"x", x}}, .outputs = {{"a", y}, {"b", y}, {"copy", x}}}));
  CHECK(operators_of(file) == "Tanh Exp Identity Identity");
  CHECK(std::get<std::string>(file.graph.inputs[0].type.tensor->shape->dims[1].size) == "x_1");
  // two inputs of unknown first sizes need not agree
  file = read(io::write_onnx(g, {.inputs = {{"x", x}, {"z", z}}, .outputs = {{"y", y}}}));
  CHECK(std::get<std::string>(file.graph.inputs[1].type.tensor->shape->dims[0].size) == "z_0");
  CHECK(std::get<std::string>(file.graph.inputs[0].type.tensor->shape->dims[0].size) == "x_0");
  // names
  CHECK(says(message_of([&] { io::write_onnx(g, {.inputs = {{"x", x}}, .outputs = {{"x", y}}}); }), "output 'x': an input has this name"));
  CHECK(says(message_of([&] { io::write_onnx(g, {.inputs = {{"a", x}, {"b", x}}, .outputs = {{"y", y}}}); }),
             "'x:0' is already an input, 'a'"));
  CHECK(says(message_of([&] { io::write_onnx(g, {.inputs = {{"x", x}}, .outputs = {}}); }), "no outputs"));
  CHECK(says(message_of([&] { io::write_onnx(g, {.inputs = {}, .outputs = {{"y", y}}}); }), "the placeholder 'x' is needed and no input"));
  CHECK(says(message_of([&] { io::write_onnx(g, {.inputs = {{"x", "nowhere:0"}}, .outputs = {{"y", y}}}); }), "input 'x'"));
  CHECK(
      says(message_of([&] { io::write_onnx(g, {.inputs = {{"x", x}}, .outputs = {{"y", y}}}, {.opset = 9}); }), "opset 9 is not written"));
  const output any = placeholder(dtype::float32, shape_value(shape::unknown()), "any");
  CHECK(says(message_of([&] { io::write_onnx(g, {.inputs = {{"any", any}}, .outputs = {{"y", exp(any)}}}); }), "unknown rank"));
}

TEST_CASE("what ONNX lacks is named, and harmless order is dropped") {
  graph g;
  const auto here = g.as_default();
  const output x = placeholder(dtype::float32, {2}, "x");
  const output noise = x + random_normal_of(shape_value(shape{1, {2}}), 0, 1, dtype::float32, 1);
  const auto of = [&](const output& y) { return message_of([&] { io::write_onnx(g, {.inputs = {{"x", x}}, .outputs = {{"y", y}}}); }); };
  CHECK(says(of(noise), "(RandomStandardNormal): its numbers would be others"));
  const output order = placeholder(dtype::int32, {2}, "order");
  const output matrix = placeholder(dtype::float32, {2, 3}, "matrix");
  const output turned = transpose(matrix, order);
  set_shape(turned, {-1, -1});
  CHECK(says(message_of([&] { io::write_onnx(g, {.inputs = {{"m", matrix}, {"order", order}}, .outputs = {{"y", turned}}}); }),
             "the order of the axes as constants, and 'order:0' is computed"));
  const output v = variable(1.0f, "v");
  {
    const control_dependencies first({assign(v, 2.0f)});
    CHECK(says(of(identity(x, "late")), "(Assign), an order that ONNX does not have"));
  }
  {
    const control_dependencies first({no_op("nothing")});
    CHECK(of(exp(x, "free")) == "nothing was thrown");
  }
}

TEST_CASE("reductions by opset, and no operator is listed twice") {
  graph g;
  const auto here = g.as_default();
  const output x = placeholder(dtype::float32, {2, 3}, "x");
  const output y = reduce_max(x, {1}, keep_dims::no, "y");
  const auto at = [&](int opset) { return read(io::write_onnx(g, {.inputs = {{"x", x}}, .outputs = {{"y", y}}}, {.opset = opset})); };
  CHECK(at(17).graph.nodes.at(0).inputs.size() == 1);
  CHECK(at(17).graph.nodes.at(0).attributes.at(0).integers == std::vector<std::int64_t>{1});
  CHECK(at(18).graph.nodes.at(0).inputs.size() == 2);
  CHECK(at(21).ir_version == 10);
  std::set<std::string_view> seen;
  for (const auto& row : io::onnx::detail::onnx_rows) {
    CHECK(seen.insert(row.type).second);
    CHECK(row.same.empty() == (row.rule != nullptr));
  }
}
