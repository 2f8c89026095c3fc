#include <leat/named/exchange/to_graph.hpp>

#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/named/exchange/export.hpp>
#include <leat/named/exchange/import.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
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

TEST_CASE("constant arrays and first values of variables keep their elements") {
  const auto x = placeholder<"x", float, "batch", 3>();
  const auto w = variable<"w", float, 3, 2>({1, 2, 3, 4, 5, 6});
  const auto table = constant<"net/table", float, 3, 2>({0, 1, 0, 1, 0, 1});
  const auto y = matmul(x, w * table) + constant(std::array{0.5f, 0.25f}) + reduce_sum<0>(table);
  const auto train = gradient_descent(1.0f).minimize(reduce_sum(y));
  graph g;
  const auto scope = g.as_default();
  const auto made = to_graph(y, train);
  const std::vector<std::string> names = lines(g);
  CHECK(std::count(names.begin(), names.end(), "net/table Const") == 1);
  CHECK(std::count(names.begin(), names.end(), "Const Const") == 1);
  CHECK(std::count(names.begin(), names.end(), "w/Assign Assign w w/Initializer/Const") == 1);
  CHECK(trainable_variables().size() == 1);
  const auto holds = [&](const char* node, const std::vector<float>& elements) {
    const auto* written = get_operation_by_name(g, node).attribute("value").get_if<tensor_proto>();
    REQUIRE(written != nullptr);
    return *written == tensor_literal(get_operation_by_name(g, node).outputs()[0].extent(), elements).proto();
  };
  CHECK(holds("w/Initializer/Const", {1, 2, 3, 4, 5, 6}));
  CHECK(holds("net/table", {0, 1, 0, 1, 0, 1}));
  CHECK(holds("Const", {0.5f, 0.25f}));
  CHECK_THROWS_AS(to_graph(variable<"v", float, 1>({1.0f}), variable<"v", float, 1>({2.0f})), invalid_argument);
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
  for (const auto& update : step.control_inputs()) CHECK(update.type() == "ApplyGradientDescent");
  CHECK(step.name() == "GradientDescent");
  CHECK(get_operation_by_name(g, "GradientDescent/update_w/ApplyGradientDescent").inputs()[0].name() == "w:0");
  CHECK(trainable_variables().size() == 2);
  // what was written down is read again as the same graph
  const auto def = export_graph(g);
  graph h;
  import_graph(h, def, {.name = ""});
  CHECK(export_graph(h) == def);
}

TEST_CASE("numbers of initializers and settings are those that the expressions carry") {
  const auto v = variable<"v", double, 2>(3.0);
  const auto u = variable<"u", float, 2>(random_uniform(-0.5, 0.25, 9));
  graph g;
  const auto scope = g.as_default();
  to_graph(v + 1.5, u * 2.5f);
  const auto number = [&](const char* name) {
    const auto* p = get_operation_by_name(g, name).attribute("value").get_if<tensor_proto>();
    return p->dtype == data_type::float64 ? detail::get_bytes<double>(p->bytes, 0)
                                          : static_cast<double>(detail::get_bytes<float>(p->bytes, 0));
  };
  CHECK(number("v/Initializer/Const") == 3.0);
  CHECK(number("add/y") == 1.5);
  CHECK(number("u/Initializer/random_uniform/min") == -0.5);
  CHECK(number("u/Initializer/random_uniform/max") == 0.25);
  CHECK(number("mul/y") == 2.5);
  CHECK(*get_operation_by_name(g, "u/Initializer/random_uniform/RandomUniform").attribute("seed2").get_if<std::int64_t>() == 9);
  CHECK_THROWS_AS(to_graph(v), invalid_argument);  // "v" is there
}

TEST_CASE("integers that no double represents keep their value") {
  constexpr std::int64_t large = (std::int64_t{1} << 53) + 1, least = std::numeric_limits<std::int64_t>::min();
  const auto i = placeholder<"i", std::int64_t, 2>();
  const auto v = variable<"v", std::int64_t>(large);
  const auto n = parameter<"n">(least);
  const auto sum = (i + large) * v - n;
  graph g;
  const auto scope = g.as_default();
  to_graph(sum);
  const auto number = [&](const char* name) {
    const graph_operation op = get_operation_by_name(g, name);
    CHECK(g.attribute(g.at(op.index()), 0) == integers_of(*op.attribute("value").get_if<tensor_proto>())->front());
    return g.attribute(g.at(op.index()), 0);
  };
  CHECK(number("add/y") == large);
  CHECK(number("v/Initializer/Const") == large);
  CHECK(number("n/input") == least);
  const output constant_of_int64 = constant(large);
  CHECK(g.attribute(g.at(constant_of_int64.index()), 0) == large);
}

TEST_CASE("typed gradients and training steps are those of the same program on a graph with names") {
  const auto compare = [](const auto& typed, const auto& dynamic) {
    graph a;
    {
      const auto scope = a.as_default();
      typed();
    }
    graph b;
    const auto scope = b.as_default();
    dynamic();
    const auto left = lines(a);
    const auto right = lines(b);
    REQUIRE(left.size() == right.size());
    for (std::size_t i = 0; i < left.size(); ++i) CHECK(left[i] == right[i]);
    CHECK(export_graph(a) == export_graph(b));
  };
  const auto x = placeholder<"x", float, "batch", 3>();
  const auto w = variable<"w", float, 3, 2>(zeros);
  const auto b = variable<"b", float, 2>(zeros);
  const auto loss = reduce_mean(square(matmul(x, w) + b));
  const auto model = [] {
    const auto in = placeholder(dtype::float32, {-1, 3}, "x");
    const auto weights = get_variable("w", {3, 2}, {.initializer = zeros});
    const auto product = matmul(in, weights);
    const auto bias = get_variable("b", {2}, {.initializer = zeros});
    return reduce_mean(square(product + bias), all_axes);
  };
  const auto v = [](const char* name) { return get_tensor_by_name(default_graph(), name); };
  compare([&] { to_graph(adam(0.01f).minimize(loss)); }, [&] { adam(0.01f).minimize(model()); });
  compare([&] { to_graph(nesterov_momentum(0.1f, 0.9f).minimize(loss)); }, [&] { nesterov_momentum(0.1f, 0.9f).minimize(model()); });
  compare(
      [&] {
        const auto [dw, db] = gradients(loss, w, b);
        to_graph(dw, db);
      },
      [&] {
        const auto y = model();
        gradients({y}, {v("w:0"), v("b:0")});
      });
  compare(
      [&] {
        const auto [dw, db] = gradients(loss, w, b);
        to_graph(gradient_descent(0.5_c).apply_gradients(with_variable(dw * 2.0f, w), with_variable(db, b)));
      },
      [&] {
        const auto y = model();
        const auto made = gradients({y}, {v("w:0"), v("b:0")});
        named_optimizer(gradient_descent(0.5f))
            .apply_gradients({{gradient_value(made[0] * 2.0f), v("w:0")}, {gradient_value(made[1]), v("b:0")}});
      });
  // a counter, and a rate with a name
  const auto rate = parameter<"rate">(0.25f);
  graph g;
  const auto scope = g.as_default();
  const auto made = to_graph(loss, momentum(rate, 0.9f).minimize(loss, global_step()));
  const auto step = std::get<graph_operation>(made[1]);
  CHECK(step.name() == "Momentum");
  CHECK(step.type() == "AssignAdd");
  CHECK(step.inputs()[0].name() == "global_step:0");
  const auto update = get_operation_by_name(g, "Momentum/update_w/ApplyMomentum");
  CHECK(update.inputs()[1].name() == "w/Momentum:0");
  CHECK(update.inputs()[2].name() == "rate:0");
}
