// Graphs as older versions of TensorFlow wrote them: their operators, and their variables, which sessions and savers keep.

#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>
#include <leat/session/graph_variables.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace leat;

namespace {

class old_graph {
 public:
  explicit old_graph(std::int32_t producer) { def_.versions.producer = producer; }
  old_graph& add(std::string name, std::string op, std::vector<std::string> inputs, attribute_map attributes = {}) {
    def_.nodes.push_back({std::move(name), std::move(op), std::move(inputs), {}, std::move(attributes)});
    return *this;
  }
  old_graph& number(std::string name, const tensor_literal& value) {
    return add(std::move(name), "Const", {}, {{"dtype", static_cast<dtype>(value.type())}, {"value", value.proto()}});
  }
  const graph_def& def() const { return def_; }

 private:
  graph_def def_;
};
const attribute_map float_T{{"T", dtype::float32}};

}  // namespace

TEST_CASE("stacks whose handles are references give what was pushed last") {
  old_graph old(15);
  old.number("one", 1.0f).number("two", 2.0f);
  old.add("stack", "Stack", {}, {{"elem_type", dtype::float32}});
  old.add("first", "StackPush", {"stack", "one"}, float_T);
  old.add("second", "StackPush", {"stack", "two", "^first"}, float_T);
  old.add("top", "StackPop", {"stack", "^second"}, {{"elem_type", dtype::float32}});
  old.add("below", "StackPop", {"stack", "^top"}, {{"elem_type", dtype::float32}});
  old.add("close", "StackClose", {"stack", "^below"});
  for (const bool fuse : {true, false}) {
    graph g;
    import_graph(g, old.def(), {.name = ""});
    CHECK(export_graph(g) == old.def());
    graph_session s(g, {.fuse = fuse});
    const auto [second, top, below] = s.run<float, float, float>({"second:0", "top:0", "below:0"});
    CHECK(second == 2);
    CHECK(top == 2);
    CHECK(below == 1);
    s.run({get_operation_by_name(g, "close")});
  }
}

TEST_CASE("operators that have other names today") {
  old_graph old(6);
  old.number("x", {{4.0f, 1.0f, 2.0f}, {0.5f, 8.0f, 5.0f}})
      .number("flags", std::vector<bool>{false, true})
      .number("few", std::vector<bool>{true});
  old.add("inverse", "Inv", {"x"}, float_T);
  old.add("best", "TopK", {"x"}, {{"T", dtype::float32}, {"k", 2}});
  old.add("turned", "Reverse", {"x", "flags"}, float_T);
  old.add("wrong", "Reverse", {"x", "few"}, float_T);
  for (const bool fuse : {true, false}) {
    graph g;
    import_graph(g, old.def(), {.name = ""});
    CHECK(get_tensor_by_name(g, "best:1").extent() == shape{2, {2, 2}});
    graph_session s(g, {.fuse = fuse});
    const auto all = s.run({"inverse:0", "best:0", "best:1", "turned:0"});
    CHECK(all[0].as<std::vector<float>>() == std::vector<float>{0.25f, 1, 0.5f, 2, 0.125f, 0.2f});
    CHECK(all[1].as<std::vector<float>>() == std::vector<float>{4, 2, 8, 5});
    CHECK(all[2].as<std::vector<std::int32_t>>() == std::vector<std::int32_t>{0, 2, 1, 2});
    CHECK(all[3].as<std::vector<float>>() == std::vector<float>{2, 1, 4, 5, 8, 0.5f});
    CHECK_THROWS_WITH_AS(s.run({"wrong:0"}), doctest::Contains("'dims' must have the same number of values"), invalid_argument);
  }
  graph g;
  const auto scope = g.as_default();
  import_graph(old.def(), {.name = ""});
  const auto slope = gradients({get_tensor_by_name(g, "inverse:0")}, {get_tensor_by_name(g, "x:0")})[0];
  CHECK(graph_session(g).run<std::vector<float>>(slope) == std::vector<float>{-0.0625f, -1, -0.25f, -4, -0.015625f, -0.2f * 0.2f});
}

TEST_CASE("older spellings of operators run as these, and are exported as they came") {
  old_graph old(6);
  old.number("x", {7.0f, -7.5f}).number("y", {2.0f, 2.0f});
  old.number("i", std::vector<std::int32_t>{7, -7}).number("k", std::vector<std::int32_t>{2, 2});
  const std::pair<const char*, const char*> pairs[]{{"sum", "Add"}, {"quotient", "Div"}, {"rest", "Mod"}, {"slope", "InvGrad"}};
  for (const auto& [name, type] : pairs) old.add(name, type, {"x", "y"}, float_T);
  const attribute_map of_integers{{"T", dtype::int32}};
  old.add("whole", "Div", {"i", "k"}, of_integers).add("left", "Mod", {"i", "k"}, of_integers).add("more", "Add", {"i", "k"}, of_integers);
  for (const bool fuse : {true, false}) {
    graph g;
    const auto scope = g.as_default();
    import_graph(g, old.def(), {.name = ""});
    graph_session s(g, {.fuse = fuse});
    const auto all = s.run({"sum:0", "quotient:0", "rest:0", "slope:0", "whole:0", "left:0", "more:0"});
    CHECK(all[0].as<std::vector<float>>() == std::vector<float>{9, -5.5f});
    CHECK(all[1].as<std::vector<float>>() == std::vector<float>{3.5f, -3.75f});
    CHECK(all[2].as<std::vector<float>>() == std::vector<float>{1, -1.5f});
    CHECK(all[3].as<std::vector<float>>() == std::vector<float>{-98, -112.5f});
    CHECK(all[4].as<std::vector<std::int32_t>>() == std::vector<std::int32_t>{3, -3});
    CHECK(all[5].as<std::vector<std::int32_t>>() == std::vector<std::int32_t>{1, -1});
    CHECK(all[6].as<std::vector<std::int32_t>>() == std::vector<std::int32_t>{9, -5});
    const auto slopes = gradients({get_tensor_by_name(g, "quotient:0")}, {get_tensor_by_name(g, "x:0")})[0];
    CHECK(s.run<std::vector<float>>(slopes) == std::vector<float>{0.5f, 0.5f});
    const graph_def again = export_graph(g);
    for (const auto& [name, type] : pairs) {
      const auto at = std::find_if(again.nodes.begin(), again.nodes.end(), [&](const node_def& n) { return n.name == name; });
      REQUIRE(at != again.nodes.end());
      CHECK(at->op == type);
    }
  }
}

TEST_CASE("the first operator of variables is kept, saved and trained as variables are") {
  old_graph old(15);
  old.number("start", {1.0f, 2.0f});
  old.add("v", "Variable", {}, {{"dtype", dtype::float32}, {"shape", tensor_shape_proto{}}});
  old.add("v/Assign", "Assign", {"v", "start"}, {{"T", dtype::float32}, {"validate_shape", false}});
  old.add("v/read", "Identity", {"v"}, float_T);
  old.add("y", "Mul", {"v/read", "v/read"}, float_T);
  graph g;
  const auto scope = g.as_default();
  import_graph(old.def(), {.name = ""});
  const output v = get_tensor_by_name(g, "v:0");
  graph_session s(g);
  CHECK_FALSE(s.is_initialized(v));
  CHECK_THROWS_AS(s.run({"y:0"}), failed_precondition);
  s.run({get_operation_by_name(g, "v/Assign")});
  CHECK(s.is_initialized(v));
  CHECK(s.run<std::vector<float>>("y:0") == std::vector<float>{1, 4});
  const session_values kept = values_of(s);
  REQUIRE(kept.size() == 1);
  CHECK(kept.at("v").as<std::vector<float>>() == std::vector<float>{1, 2});
  restore_values(s, {{"v", tensor_value(std::vector<float>{3})}});
  CHECK(s.run<std::vector<float>>("y:0") == std::vector<float>{9});
  CHECK(leat::freeze(s, {"y:0"}).nodes.front().op == "Const");
  const graph_def frozen = freeze(old.def(), {{"v", make_tensor_proto(std::vector<float>{5, 6, 7}, {3})}}, {"y"});
  graph h;
  import_graph(h, frozen, {.name = ""});
  CHECK(graph_session(h).run<std::vector<float>>("y:0") == std::vector<float>{25, 36, 49});
}
