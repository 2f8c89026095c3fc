#include <leat/io/dot.hpp>

#include "support/graph_files.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace leat;
using leat_test::node;

TEST_CASE("a drawing has boxes, frames and arrows") {
  graph_def g;
  g.nodes = {node("x", "Placeholder", {}, {{"shape", tensor_shape_proto{-1, 10}}}),
             node("net/w", "Const", {}, {{"value", make_tensor_proto(std::vector<float>{1, 2}, {2})}}),
             node("net/inner/split", "Split", {"x", "net/w"},
                  {{"_output_shapes", std::vector<tensor_shape_proto>{{1, 2}, {3}}}}),
             node("y", "Add", {"net/inner/split:1", "gone", "^x", "gone"})};
  g.nodes[3].device = "/cpu:0";
  CHECK(io::write_dot(g) == R"(digraph {
  rankdir=BT;
  node [shape=box, fontname="sans-serif"];
  n0 [label="x\nPlaceholder [?, 10]"];
  n3 [label="y\nAdd", tooltip="/cpu:0"];
  subgraph cluster0 {
    label="net";
    n1 [label="w\nConst [2]", style=rounded];
    subgraph cluster1 {
      label="inner";
      n2 [label="split\nSplit [1, 2]"];
    }
  }
  n0 -> n2;
  n1 -> n2;
  n2 -> n3 [taillabel="1"];
  n4 [label="gone", style=dashed];
  n4 -> n3;
  n0 -> n3 [style=dotted];
  n4 -> n3;
}
)");
}

TEST_CASE("text from a file cannot leave its quotes") {
  CHECK(io::detail::dot_text("a\"b\\N\n\x01\xc3\xa9") == "\"a\\\"b\\\\N\\n?\xc3\xa9\"");
  CHECK(io::detail::dot_text("\xff") == "\"?\"");
  graph_def g;
  g.nodes = {node("\"];evil[\"", "\\", {"\";x"}), node("", "")};
  const auto text = io::write_dot(g);
  CHECK(text.find("label=\"\\\"];evil[\\\"\\n\\\\\"") != text.npos);
  CHECK(text.find("label=\"\\\";x\"") != text.npos);
}

TEST_CASE("a name of nothing but scopes is drawn within few frames") {
  graph_def g;
  g.nodes = {node(std::string(100000, '/'), "A")};
  const auto text = io::write_dot(g);
  CHECK(text.find("cluster15 ") != text.npos);
  CHECK(text.find("cluster16 ") == text.npos);
}
