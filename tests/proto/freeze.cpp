#include <leat/proto/freeze.hpp>
#include <leat/proto/tensor_contents.hpp>

#include <leat/named/exchange/export.hpp>
#include <leat/named/exchange/import.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/named/variables/variable_scope.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace leat;

namespace {

const node_def* find(const graph_def& def, std::string_view name) {
  for (const auto& node : def.nodes)
    if (node.name == name) return &node;
  return nullptr;
}

graph_def model() {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1, 2}, "x");
  const auto place = device("/job:ps/task:1");
  const auto w = variable({{1.0f}, {2.0f}}, "layer/w");
  const auto b = variable(0.5f, "b");
  add(matmul(x, w), b, "y");
  assign_add(b, 1.0f, "raise");
  group(initializer_of(w), initializer_of(b));
  return export_graph(g);
}
const variable_values values{{"layer/w", make_tensor_proto(std::vector<float>{3, 4}, {2, 1})}, {"b", make_tensor_proto(7.0f)}};

}  // namespace

TEST_CASE("variables become constants, and their reads stay") {
  const auto frozen = freeze(model(), values, {"y:0"});
  std::vector<std::string> names;
  for (const auto& node : frozen.nodes) names.push_back(node.name + " " + node.op);
  CHECK(names == std::vector<std::string>{"x Placeholder", "layer/w Const", "layer/w/read Identity", "b Const", "b/read Identity",
                                          "MatMul MatMul", "y AddV2"});
  const node_def& w = *find(frozen, "layer/w");
  CHECK(w.device == "/job:ps/task:1");
  CHECK(w.attributes == attribute_map{{"dtype", data_type::float32}, {"value", values.at("layer/w")}});
  CHECK(find(frozen, "layer/w/read")->inputs == std::vector<std::string>{"layer/w"});
  graph g;
  import_graph(g, frozen, {.name = ""});
  CHECK(shape_text(get_tensor_by_name(g, "y:0").extent()) == "(?, 1)");
  CHECK(frozen.versions == model().versions);
  // of what is not needed no value is asked for, and one that is given is left aside
  CHECK(find(freeze(model(), {{"b", values.at("b")}}, {"b/read"}), "b")->op == "Const");
  CHECK(freeze(model(), values, {"x"}).nodes.size() == 1);
}

TEST_CASE("resource variables: reads become identities") {
  graph_def def;
  def.nodes.push_back({.name = "v", .op = "VarHandleOp", .attributes = {{"dtype", data_type::float32}, {"shape", tensor_shape_proto{2}}}});
  def.nodes.push_back({.name = "r", .op = "ReadVariableOp", .inputs = {"v", "^x"}, .attributes = {{"dtype", data_type::float32}}});
  def.nodes.push_back({.name = "x", .op = "NoOp"});
  const auto value = make_tensor_proto(std::vector<float>{1, 2}, {2});
  const auto frozen = freeze(def, {{"v", value}});
  CHECK(*find(frozen, "r") == node_def{.name = "r", .op = "Identity", .inputs = {"v", "^x"}, .attributes = {{"T", data_type::float32}}});
  CHECK(find(frozen, "v")->op == "Const");
  def.nodes.push_back({.name = "g", .op = "ResourceGather", .inputs = {"v", "r"}});
  CHECK(leat_test::message_of<failed_precondition>([&] {
          freeze(def, {{"v", value}});
        }).find("the node 'g' (ResourceGather) takes the variable 'v' itself") != std::string::npos);
}

TEST_CASE("what is wrong is told with its name") {
  CHECK(leat_test::message_of<failed_precondition>([] { freeze(model(), {}, {"y"}); }) == "freeze: no values for the variables 'b', 'layer/w'");
  CHECK(leat_test::message_of<failed_precondition>([] {
          freeze(model(), values);
        }).find("the node 'layer/w/Assign' (Assign) takes the variable 'layer/w' itself") != std::string::npos);
  CHECK(leat_test::message_of<failed_precondition>([] { freeze(model(), values, {"raise"}); }).find("'raise' (AssignAdd) takes the variable 'b'") !=
        std::string::npos);
  auto wrong = values;
  wrong["b"] = make_tensor_proto(7.0);
  CHECK(leat_test::message_of<invalid_argument>([&] { freeze(model(), wrong, {"y"}); }) ==
        "freeze: the variable 'b' is DT_FLOAT [], its value DT_DOUBLE []");
  wrong["b"] = make_tensor_proto(std::vector<float>{1, 2}, {2});
  CHECK(leat_test::message_of<invalid_argument>([&] { freeze(model(), wrong, {"y"}); }) ==
        "freeze: the variable 'b' is DT_FLOAT [], its value DT_FLOAT [2]");
  wrong["b"].bytes.pop_back();
  CHECK(leat_test::message_of<invalid_argument>([&] {
          freeze(model(), wrong, {"y"});
        }).find("the value of the variable 'b': tensor_content has 7 bytes") != std::string::npos);
  wrong = values;
  wrong["q"] = make_tensor_proto(1.0f);
  CHECK(leat_test::message_of<not_found>([&] { freeze(model(), wrong, {"y"}); }) == "freeze: the graph has no variables 'q'");
  CHECK(leat_test::message_of<not_found>([] { freeze(model(), values, {"z:0"}); }) == "there is no node 'z' in the graph");
}
