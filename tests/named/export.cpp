#include <leat/named/exchange/export.hpp>

#include <doctest/doctest.h>
#include <leat/graphs.hpp>

using namespace leat;

TEST_CASE("nodes are exported with inputs, ports, control inputs and devices") {
  graph g;
  const auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {4, 2}, "x");
  const auto parts = unstack(x, 1, "parts");
  output sum;
  {
    const device there("/job:ps/task:1");
    const control_dependencies after({no_op("z_last"), no_op("a_first")});
    sum = add(parts[1], parts[0], "sum");
  }
  const node_def def = to_node_def(g, sum.index());
  CHECK(def.name == "sum");
  CHECK(def.op == "AddV2");
  CHECK(def.inputs == std::vector<std::string>{"parts:1", "parts", "^a_first", "^z_last"});
  CHECK(def.device == "/job:ps/task:1");
  CHECK(*def.attributes.find("T")->get_if<data_type>() == data_type::float32);
}

TEST_CASE("a part of a graph is what its targets need, control inputs among it") {
  graph g;
  const auto scope = g.as_default();
  const output a = constant(1.0f, "a");
  const output b = constant(2.0f, "b");
  const graph_operation first = no_op("first");
  output c;
  {
    const control_dependencies after({first});
    c = identity(a, "c");
  }
  const int targets[]{c.index()};
  const graph_def part = export_graph(g, targets);
  std::vector<std::string> names;
  for (const auto& n : part.nodes) names.push_back(n.name);
  CHECK(names == std::vector<std::string>{"a", "first", "c"});
  CHECK(export_graph(g).nodes.size() == 4);
  CHECK(export_graph(g).versions.producer == graph_def_producer);
  static_cast<void>(b);
}

TEST_CASE("numbers get names before they are exported") {
  graph g;
  const auto scope = g.as_default();
  g.named().make_literal(g, 3.0f);
  const graph_def def = export_graph(g);
  REQUIRE(def.nodes.size() == 1);
  CHECK(def.nodes[0].name == "Const");
}
