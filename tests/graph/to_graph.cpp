#include <leat/ops/to_graph.hpp>

#include <leat/graph/canonical.hpp>
#include <leat/graph/export.hpp>
#include <leat/graph/import.hpp>
#include <leat/leat.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace leat;
using namespace leat::literals;

namespace {

std::vector<std::string> lines(graph& g) {
  std::vector<std::string> list;
  for (const auto& op : get_operations(g)) {
    std::string text = op.name() + " " + std::string(op.type());
    for (const auto& in : op.inputs()) text += " " + in.name().substr(0, in.name().size() - 2);
    list.push_back(text);
  }
  return list;
}

}  // namespace

TEST_CASE("a typed model has the names that the same program has in TensorFlow") {
  const auto x = placeholder<"x", float, "batch", 4>();
  const auto w = variable<"net/w", float, 4, 3>(zeros);
  const auto rate = parameter<"rate">(0.5f);
  const auto y = reduce_mean<1>(tanh(matmul(x, w)) * 2.0f + 1_c) * rate;
  graph g;
  const auto scope = g.as_default();
  const auto made = to_graph(y);
  CHECK(std::get<output>(made[0]).name() == "mul_1:0");
  CHECK(std::get<output>(made[0]).extent() == shape_value{-1});
  const std::vector<std::string> expected{"x Placeholder",
                                          "net/w/Initializer/zeros Const",
                                          "net/w VariableV2",
                                          "net/w/Assign Assign net/w net/w/Initializer/zeros",
                                          "net/w/read Identity net/w",
                                          "MatMul MatMul x net/w/read",
                                          "Tanh Tanh MatMul",
                                          "mul/y Const",
                                          "mul Mul Tanh mul/y",
                                          "add/y Const",
                                          "add AddV2 mul add/y",
                                          "Mean/reduction_indices Const",
                                          "Mean Mean add Mean/reduction_indices",
                                          "rate/input Const",
                                          "rate PlaceholderWithDefault rate/input",
                                          "mul_1 Mul Mean rate"};
  CHECK(lines(g) == expected);
}

TEST_CASE("a training step: gradients, sizes of named dimensions, assignments, groups") {
  const auto x = placeholder<"x", float, "batch", 3>();
  const auto y = placeholder<"y", float, "batch">();
  const auto w = variable<"w", float, 3, 1>(random_normal(0, 0.1, 7));
  const auto b = variable<"b", float>(0.5f);
  const auto loss = reduce_mean(square(squeeze<1>(matmul(x, w)) + b - y));
  const auto train = gradient_descent(0.1f).minimize(loss);
  graph g;
  const auto scope = g.as_default();
  const auto made = to_graph(loss, train);
  const auto step = std::get<graph_operation>(made[1]);
  CHECK(step.type() == "NoOp");
  CHECK(step.control_inputs().size() == 2);
  for (const auto& update : step.control_inputs()) CHECK(update.type() == "AssignSub");
  CHECK(trainable_variables().size() == 2);
  // what was written down is read again as the same graph
  const auto def = export_graph(g);
  graph h;
  import_graph(h, def, {.name = ""});
  CHECK(export_graph(h) == def);
  // the forward part is plain again, once it is known that both batches are one
  const auto plain = canonical({std::get<output>(made[0])}, {.shapes = {{get_tensor_by_name(g, "x:0"), shape_value{8, 3}}, {get_tensor_by_name(g, "y:0"), shape_value{8}}}});
  CHECK(plain.leaves.size() == 4);
}

TEST_CASE("numbers of initializers and settings are those that the expressions carry") {
  const auto v = variable<"v", double, 2>(3.0);
  const auto u = variable<"u", float, 2>(random_uniform(-0.5, 0.25, 9));
  graph g;
  const auto scope = g.as_default();
  to_graph(v + 1.5, u * 2.5f);
  const auto number = [&](const char* name) {
    const auto* p = get_operation_by_name(g, name).attribute("value").get_if<tensor_proto>();
    return p->dtype == data_type::float64 ? detail::get_bytes<double>(p->bytes, 0) : static_cast<double>(detail::get_bytes<float>(p->bytes, 0));
  };
  CHECK(number("v/Initializer/Const") == 3.0);
  CHECK(number("add/y") == 1.5);
  CHECK(number("u/Initializer/random_uniform/min") == -0.5);
  CHECK(number("u/Initializer/random_uniform/max") == 0.25);
  CHECK(number("mul/y") == 2.5);
  CHECK(*get_operation_by_name(g, "u/Initializer/random_uniform/RandomUniform").attribute("seed2").get_if<std::int64_t>() == 9);
  CHECK_THROWS_AS(to_graph(v), invalid_argument);  // "v" is there
}
