// Control flow as files have it: Switch and Merge, frames, iterations, what is dead.

#include <leat/session/graph_session.hpp>

#include <doctest/doctest.h>

#include <leat/named/definitions/defined.hpp>
#include <leat/named/exchange/import.hpp>
#include <leat/named/functions/operand.hpp>
#include <leat/proto/tensor_contents.hpp>

using namespace leat;

namespace {

node_def node(std::string name, std::string op, std::vector<std::string> inputs, attribute_map attributes = {}) {
  return {.name = std::move(name), .op = std::move(op), .inputs = std::move(inputs), .attributes = std::move(attributes)};
}
node_def typed(std::string name, std::string op, std::vector<std::string> inputs, attribute_map more = {}) {
  more["T"] = dtype::int32;
  return node(std::move(name), std::move(op), std::move(inputs), std::move(more));
}
node_def int_constant(std::string name, std::int32_t value, std::vector<std::string> inputs = {}) {
  return node(std::move(name), "Const", std::move(inputs), {{"dtype", dtype::int32}, {"value", make_tensor_proto(value)}});
}
node_def fed(std::string name, dtype type) {
  return node(std::move(name), "Placeholder", {}, {{"dtype", type}, {"shape", tensor_shape_proto{}}});
}

// i from `start` up to below `limit`, summed: nodes with a prefix, inside a frame of that name.
void add_loop(graph_def& def, const std::string& p, const std::string& start, const std::string& limit) {
  const attribute_map frame{{"frame_name", p}, {"parallel_iterations", std::int64_t{10}}, {"is_constant", false}};
  attribute_map constant = frame;
  constant["is_constant"] = true;
  def.nodes.push_back(typed(p + "enter_i", "Enter", {start}, frame));
  def.nodes.push_back(typed(p + "enter_s", "Enter", {start}, frame));
  def.nodes.push_back(typed(p + "limit", "Enter", {limit}, constant));
  def.nodes.push_back(typed(p + "merge_i", "Merge", {p + "enter_i", p + "next_i"}, {{"N", std::int64_t{2}}}));
  def.nodes.push_back(typed(p + "merge_s", "Merge", {p + "enter_s", p + "next_s"}, {{"N", std::int64_t{2}}}));
  def.nodes.push_back(typed(p + "less", "Less", {p + "merge_i", p + "limit"}));
  def.nodes.push_back(node(p + "cond", "LoopCond", {p + "less"}));
  def.nodes.push_back(typed(p + "switch_i", "Switch", {p + "merge_i", p + "cond"}));
  def.nodes.push_back(typed(p + "switch_s", "Switch", {p + "merge_s", p + "cond"}));
  def.nodes.push_back(typed(p + "body_i", "Identity", {p + "switch_i:1"}));
  def.nodes.push_back(int_constant(p + "one", 1, {"^" + p + "body_i"}));
  def.nodes.push_back(typed(p + "i_plus", "AddV2", {p + "body_i", p + "one"}));
  def.nodes.push_back(typed(p + "s_plus", "AddV2", {p + "switch_s:1", p + "body_i"}));
  def.nodes.push_back(typed(p + "next_i", "NextIteration", {p + "i_plus"}));
  def.nodes.push_back(typed(p + "next_s", "NextIteration", {p + "s_plus"}));
  def.nodes.push_back(typed(p + "exit_i", "Exit", {p + "switch_i"}));
  def.nodes.push_back(typed(p + "exit_s", "Exit", {p + "switch_s"}));
}

}  // namespace

TEST_CASE("a loop, by itself and in a branch that is not taken") {
  graph_def def;
  def.nodes.push_back(fed("start", dtype::int32));
  def.nodes.push_back(fed("limit", dtype::int32));
  def.nodes.push_back(fed("p", dtype::boolean));
  add_loop(def, "a/", "start", "limit");
  // if p: a loop over the start; else 100 times it
  def.nodes.push_back(typed("sw", "Switch", {"start", "p"}));
  def.nodes.push_back(typed("sl", "Switch", {"limit", "p"}));
  add_loop(def, "b/", "sw:1", "sl:1");
  def.nodes.push_back(int_constant("hundred", 100, {"^no"}));
  def.nodes.push_back(typed("no", "Identity", {"sw"}));
  def.nodes.push_back(typed("other", "Mul", {"no", "hundred"}));
  def.nodes.push_back(typed("either", "Merge", {"other", "b/exit_s"}, {{"N", std::int64_t{2}}}));
  graph g;
  import_graph(g, def, {.name = ""});
  graph_session s(g);
  const auto run = [&](std::string_view what, int start, int limit, bool p = true) {
    return s.run<std::int32_t>(fetch_item(what), {{"start", start}, {"limit", limit}, {"p", p}});
  };
  CHECK(run("a/exit_s:0", 0, 10) == 45);
  CHECK(run("a/exit_s:0", 3, 3) == 3);
  CHECK(run("a/exit_i:0", 0, 1000) == 1000);
  CHECK(run("either:0", 1, 4, true) == 7);
  CHECK(run("either:0", 1, 4, false) == 100);
  CHECK(run("either:1", 1, 4, true) == 1);
  CHECK(run("either:1", 1, 4, false) == 0);
  CHECK_THROWS_AS(run("other:0", 1, 4, true), invalid_argument);   // dead
  CHECK_THROWS_AS(run("b/exit_s:0", 1, 4, false), invalid_argument);
  // a node inside the loop has no one value
  CHECK_THROWS_AS(run("a/i_plus:0", 1, 4), invalid_argument);
  CHECK_THROWS_AS(s.run("a/exit_i:0", {{"start", 0}, {"limit", 2'000'000'000}}, {.timeout_in_ms = 50}), deadline_exceeded);
  CHECK(run("a/exit_s:0", 0, 10) == 45);
}

TEST_CASE("frames that do not fit are refused") {
  graph_def def;
  def.nodes.push_back(fed("start", dtype::int32));
  def.nodes.push_back(fed("limit", dtype::int32));
  add_loop(def, "a/", "start", "limit");
  def.nodes.push_back(typed("mixed", "AddV2", {"a/body_i", "start"}));
  def.nodes.push_back(typed("out", "Exit", {"start"}));
  graph g;
  import_graph(g, def, {.name = ""});
  graph_session s(g);
  CHECK_THROWS_AS(s.run("mixed:0", {{"start", 1}, {"limit", 2}}), invalid_argument);
  CHECK_THROWS_AS(s.run("out:0", {{"start", 1}}), invalid_argument);
}
