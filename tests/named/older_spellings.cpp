// TensorFlow's older spellings of operators: imported, run, differentiated and written again under the name with which they came.

#include <leat/graph/older_spellings.hpp>

#include <leat/graphs.hpp>
#include <leat/named/exchange/export.hpp>
#include <leat/named/exchange/import.hpp>
#include <leat/session/graph_session.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>

using namespace leat;
using leat_test::message_of;
using leat_test::says;

namespace {

node_def placeholder_node(const std::string& name, dtype type, const shape& extent) {
  node_def n{.name = name, .op = "Placeholder"};
  n.attributes["dtype"] = type;
  n.attributes["shape"] = to_proto(extent);
  return n;
}
node_def constant_node(const std::string& name, std::int32_t value) {
  node_def n{.name = name, .op = "Const"};
  n.attributes["dtype"] = dtype::int32;
  n.attributes["value"] = tensor_literal(value).proto();
  return n;
}
shape sized(std::initializer_list<std::int64_t> sizes) {
  shape s;
  for (const auto n : sizes) s.push(n);
  return s;
}
/// A graph of one node "y" of this operator, with inputs of float64 and, named "axis", the number 1.
graph_def graph_of(const std::string& op, const std::vector<std::string>& inputs, const attribute_map& attributes, const shape& extent) {
  graph_def def{.versions = {.producer = graph_def_producer}};
  for (const std::string& in : inputs)
    if (!in.starts_with('^')) def.nodes.push_back(in == "axis" ? constant_node(in, 1) : placeholder_node(in, dtype::float64, extent));
  def.nodes.push_back({.name = "last", .op = "NoOp"});
  node_def y{.name = "y", .op = op, .inputs = inputs, .attributes = attributes};
  y.attributes["T"] = dtype::float64;
  def.nodes.push_back(y);
  return def;
}
const node_def& node_named(const graph_def& def, std::string_view name) {
  return *std::find_if(def.nodes.begin(), def.nodes.end(), [&](const node_def& n) { return n.name == name; });
}

}  // namespace

TEST_CASE("nodes of older spellings are nodes of the current operators, and are written as they came") {
  struct pair_of_graphs {
    std::string older, current;
    std::vector<std::string> older_inputs, inputs;
    attribute_map attributes{};
    shape extent = sized({2, 3});
  };
  const std::vector<pair_of_graphs> all{
      {"Add", "AddV2", {"a", "b"}, {"a", "b"}},
      {"Mod", "TruncateMod", {"a", "b"}, {"a", "b"}},
      {"Inv", "Reciprocal", {"a"}, {"a"}},
      {"InvGrad", "ReciprocalGrad", {"a", "b"}, {"a", "b"}},
      {"Concat", "ConcatV2", {"axis", "a", "b", "^last"}, {"a", "b", "axis", "^last"}, {{"N", 2}}},
      {"BatchMatMul", "BatchMatMulV2", {"a", "b"}, {"a", "b"}, {{"adj_y", true}}},
  };
  for (const pair_of_graphs& p : all) {
    INFO(p.older);
    CHECK(current_spelling(p.older) == p.current);
    std::vector<std::vector<double>> results[2];
    for (const bool is_older : {true, false}) {
      const graph_def def =
          graph_of(is_older ? p.older : p.current, is_older ? p.older_inputs : p.inputs, p.attributes, p.extent);
      graph g;
      import_graph(g, def, {.name = ""});
      const graph_def again = export_graph(g);
      CHECK(node_named(again, "y").op == node_named(def, "y").op);
      CHECK(node_named(again, "y").inputs == node_named(def, "y").inputs);
      CHECK(node_named(again, "y").attributes.size() == node_named(def, "y").attributes.size());
      const output y = get_tensor_by_name(g, "y:0"), a = get_tensor_by_name(g, "a:0");
      CHECK(y.extent().rank == 2);
      const auto scope = g.as_default();
      std::vector<feed_item> feeds{{a, tensor_literal({{1.5, 2.0, -3.0}, {0.5, 4.0, 5.5}})}};
      if (p.inputs.size() > 1) feeds.push_back({get_tensor_by_name(g, "b:0"), tensor_literal({{2.0, 0.5, 2.0}, {1.0, -3.0, 4.0}})});
      std::vector<output> fetches{reshape(y, {-1})};
      if (p.older != "Mod") fetches.push_back(reshape(gradients({y}, {a})[0], {-1}));
      for (const bool fuse : {true, false}) {
        graph_session s(g, {.fuse = fuse});
        for (const output& f : fetches) results[is_older ? 0 : 1].push_back(s.run(f, feeds).as<std::vector<double>>());
      }
    }
    CHECK(results[0] == results[1]);
  }
}

TEST_CASE("older spellings made by name take their own inputs and attributes") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float64, {-1, 2}, "x"), bias = placeholder(dtype::float64, {2}, "bias");
  const graph_operation joined = call_operator(g, "Concat", {tensor_literal(std::int32_t{0}), x, x});
  const graph_operation biased = call_operator(g, "BiasAddV1", {x, bias});
  CHECK(joined.type() == "Concat");
  const graph_def def = export_graph(g);
  const node_def& concat = node_named(def, joined.name());
  REQUIRE(concat.inputs.size() == 3);
  CHECK(concat.inputs[1] == "x");
  CHECK(concat.inputs[2] == "x");
  CHECK(!concat.attributes.contains("Tidx"));
  CHECK(!node_named(def, biased.name()).attributes.contains("data_format"));
  graph_session s(g);
  const std::vector<feed_item> feeds{{x, tensor_literal({{1.0, 2.0}})}, {bias, tensor_literal({10.0, 20.0})}};
  CHECK(s.run(reshape(joined.result(), {-1}), feeds).as<std::vector<double>>() == std::vector<double>{1, 2, 1, 2});
  CHECK(s.run(reshape(biased.result(), {-1}), feeds).as<std::vector<double>>() == std::vector<double>{11, 22});
}

TEST_CASE("what older spellings refuse") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float64, shape::unknown(), "x"), y = placeholder(dtype::float64, shape::unknown(), "y");
  const tensor_literal matrices(shape_value({2, 1, 1}), std::vector<double>{1, 2}), matrix(shape_value({1, 1}), std::vector<double>{3});
  graph_session s(g);
  CHECK(says(message_of([&] { s.run(call_operator(g, "BatchMatMul", {x, y}).result(), {{x, matrices}, {y, matrix}}); }),
             "Matrix size-incompatible: In[0]: [2,1,1], In[1]: [1,1]"));
  CHECK_NOTHROW(s.run(call_operator(g, "BatchMatMulV2", {x, y}).result(), {{x, matrices}, {y, matrix}}));
  for (const std::vector<std::string>& inputs : {std::vector<std::string>{}, {"axis"}, {"^last"}, {"a", "b", "axis"}}) {
    graph other;
    CHECK_THROWS_AS(import_graph(other, graph_of("Concat", inputs, {{"N", 2}}, sized({2, 3})), {.name = ""}), error);
    CHECK(other.size() == 0);
  }
}
