#include <leat/proto/validate.hpp>

#include "support/graph_files.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using namespace leat;
using leat_test::node;

namespace {
std::vector<std::string> texts(std::vector<node_def> nodes, std::size_t most = 100) {
  graph_def g;
  g.nodes = std::move(nodes);
  std::vector<std::string> list;
  for (const auto& f : proto::findings(g, most)) list.push_back(to_text(f));
  return list;
}
using list = std::vector<std::string>;
}  // namespace

TEST_CASE("graphs that are right have no findings") {
  CHECK(proto::findings(leat_test::every_kind_of_graph()).empty());
  CHECK(texts({}).empty());
  // Nodes may come before their inputs, and wait for each other around a loop.
  CHECK(texts({node("b", "Neg", {"a", "^a"}), node("a", "Const")}).empty());
  CHECK(texts({node("e", "Enter"), node("m", "Merge", {"e", "n"}), node("s", "Switch", {"m", "m"}),
               node("n", "NextIteration", {"s:1"})})
            .empty());
  CHECK(texts({node("m", "RefMerge", {"n:0"}), node("n", "RefNextIteration", {"m"})}).empty());
}

TEST_CASE("names that TensorFlow refuses are refused") {
  for (auto name : {"a", "A1", "a_b", "a.b", "a-b", "a/b", ".a", "1", "a>b", "a\\b", "a//b", "a/_b"})
    CHECK(proto::is_node_name(name));
  for (auto name : {"", "/a", "_a", "-a", "a b", " a", "a:0", "^a", "a$", "\xc3\xa9", ">a", "a\n"})
    CHECK_FALSE(proto::is_node_name(name));
  CHECK_FALSE(proto::is_node_name(std::string_view("a\0", 2)));
}

TEST_CASE("inputs are read as they are written") {
  const auto a = proto::parse_input("scope/a:12");
  REQUIRE(a.has_value());
  CHECK((a->node == "scope/a" && a->output == 12 && !a->control));
  CHECK(proto::parse_input("^a")->control);
  CHECK(proto::parse_input("a:2147483647")->output == 2147483647);
  for (auto wrong : {"", "^", ":", "a:", ":0", "a:x", "a:-1", "a:01", "a:2147483648", "a:99999999999999999999", "^a:0",
                     "a b", "a:0:0", "a: 0", "^^a"})
    CHECK_FALSE(proto::parse_input(wrong).has_value());
}

TEST_CASE("names and inputs that are wrong are found, each in its place") {
  CHECK(
      texts({node("a", "A"), node("a", "A"), node("", "A"), node("b", "")}) ==
      list{"node \"a\": name: node number 0 has it already",
           "node number 2: name: is not a name: letters, digits and . _ / \\ > - beginning with one of the first three",
           "node \"b\": op: is missing"});
  CHECK(texts({node("a", "A", {"b", "a:x", "^c", "d"}), node("d", "D")}) ==
        list{"node \"a\": input[0]: there is no node \"b\"",
             "node \"a\": input[1]: \"a:x\" is not \"name\", \"name:1\" or \"^name\"",
             "node \"a\": input[2]: there is no node \"c\"", "node \"a\": input[3]: \"d\" after a control input"});
}

TEST_CASE("cycles are found, but loops are not") {
  CHECK(texts({node("a", "A", {"a"})}) == list{"node \"a\": input: a cycle that is no loop: \"a\" needs \"a\""});
  CHECK(texts({node("a", "A", {"b"}), node("b", "A", {"c"}), node("c", "A", {"x", "^a"}), node("x", "X")}) ==
        list{"node \"a\": input: a cycle that is no loop: \"a\" needs \"b\" needs \"c\" needs \"a\""});
  CHECK(texts({node("m", "Merge", {"n"}), node("n", "Identity", {"m"})}).size() == 1);
  CHECK(texts({node("m", "Merge", {"^n"}), node("n", "NextIteration", {"m"})}).size() == 1);
  CHECK(texts({node("m", "Add", {"n"}), node("n", "NextIteration", {"m"})}).size() == 1);
  std::vector<node_def> ring;
  for (int i = 0; i < 100000; ++i)
    ring.push_back(node("n" + std::to_string(i), "A", {"n" + std::to_string((i + 1) % 100000)}));
  const auto found = texts(ring);
  REQUIRE(found.size() == 1);
  CHECK(found[0].find("\"n7\" needs ... (99992 more) needs \"n0\"") != std::string::npos);
}

TEST_CASE("a long chain takes no stack") {
  std::vector<node_def> chain{node("n0", "A")};
  for (int i = 1; i < 300000; ++i) chain.push_back(node("n" + std::to_string(i), "A", {"n" + std::to_string(i - 1)}));
  std::reverse(chain.begin(), chain.end());
  CHECK(texts(chain).empty());
}

TEST_CASE("tensors and shapes are looked at wherever they are") {
  const tensor_proto bad{
      .dtype = data_type::float32, .field = tensor_field::tensor_content, .shape = {2}, .bytes = "1234"};
  const tensor_shape_proto wrong{-5};
  CHECK(texts({node("a", "A", {}, {{"t", bad}})}) ==
        list{"node \"a\": attr[\"t\"].tensor: tensor_content has 4 bytes, which is not shape [2] of DT_FLOAT"});
  CHECK(texts({node("a", "A", {}, {{"s", wrong}})}) == list{"node \"a\": attr[\"s\"].shape: dimension 0 has size -5"});
  CHECK(texts({node("a", "A", {}, {{"t", std::vector<tensor_proto>{make_tensor_proto(1.0f), bad}}})})
            .at(0)
            .find("attr[\"t\"].list.tensor[1]: ") != std::string::npos);
  CHECK(texts({node("a", "A", {}, {{"s", std::vector<tensor_shape_proto>{wrong}}})})
            .at(0)
            .find("attr[\"s\"].list.shape[0]: ") != std::string::npos);
  CHECK(texts({node("a", "A", {}, {{"f", function_value{"f", {{"s", wrong}}}}})})
            .at(0)
            .find("attr[\"f\"].func.attr[\"s\"].shape: ") != std::string::npos);
  CHECK(texts({node("a", "A", {}, {{"f", std::vector<function_value>{{"f", {{"s", wrong}}}}}})})
            .at(0)
            .find("attr[\"f\"].list.func[0].attr[\"s\"].shape: ") != std::string::npos);
}

TEST_CASE("there is a most of findings, and the first is thrown") {
  std::vector<node_def> nodes(5000, node("a", "A", {"x"}));
  CHECK(texts(nodes, 7).size() == 7);
  graph_def g;
  g.nodes = nodes;
  CHECK_THROWS_WITH_AS(proto::validate(g), "node \"a\": name: node number 0 has it already (and 999 or more others)",
                       invalid_argument);
  g.nodes.resize(1);
  CHECK_THROWS_WITH_AS(proto::validate(g), "node \"a\": input[0]: there is no node \"x\"", invalid_argument);
  g.nodes[0].inputs = {"y", "z"};
  CHECK_THROWS_WITH_AS(proto::validate(g), "node \"a\": input[0]: there is no node \"y\" (and 1 others)",
                       invalid_argument);
  meta_graph_def m;
  m.graph = g;
  CHECK_THROWS_AS(proto::validate(m), invalid_argument);
}

TEST_CASE("names whose bytes are much alike do not slow the search") {
  std::vector<node_def> nodes;
  for (int i = 0; i < 200000; ++i)
    nodes.push_back(node("layer/" + std::string(40, 'x') + std::to_string(i * 1024), "A"));
  CHECK(texts(nodes).empty());
}
