// Functions of graphs in place of their calls. The graphs are written as TensorFlow 2.21 writes them.

#include <leat/graphs.hpp>
#include <leat/io/functions.hpp>
#include <leat/io/text.hpp>
#include <leat/session/graph_session.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>

using namespace leat;
using leat_test::message_of;
using leat_test::says;

namespace {

namespace of_functions {

std::string type(const char* name, const char* type) { return std::string(" attr { key: \"") + name + "\" value { type: " + type + " } }"; }
std::string types(const char* name, const std::string& list) {
  return std::string(" attr { key: \"") + name + "\" value { list { " + list + " } } }";
}
std::string function_of(const char* name, const char* f) {
  return std::string(" attr { key: \"") + name + "\" value { func { name: \"" + f + "\" } } }";
}
std::string op_node(const std::string& name, const std::string& op, std::initializer_list<const char*> inputs, const std::string& attributes = {},
                 const char* field = "node") {
  std::string text = std::string(field) + " { name: \"" + name + "\" op: \"" + op + "\"";
  for (const char* in : inputs) text += std::string(" input: \"") + in + "\"";
  return text + attributes + " }\n";
}
std::string in_function(const std::string& name, const std::string& op, std::initializer_list<const char*> inputs,
                        const std::string& attributes = {}) {
  return op_node(name, op, inputs, attributes, "node_def");
}
std::string constant_node(const std::string& name, const char* type_name, const char* field, double value, const char* where = "node",
                   const char* control = nullptr) {
  const std::string attributes = type("dtype", type_name) + " attr { key: \"value\" value { tensor { dtype: " + type_name +
                                 " tensor_shape { } " + field + ": " + std::to_string(static_cast<int>(value)) + " } } }";
  if (control != nullptr) return op_node(name, "Const", {control}, attributes, where);
  return op_node(name, "Const", {}, attributes, where);
}
const std::string f32 = type("T", "DT_FLOAT"), i32 = type("T", "DT_INT32");

std::string argument(const char* name, const char* type_name) { return std::string("{ name: \"") + name + "\" type: " + type_name + " }"; }
/// A function: its arguments and results, as "name type", its nodes and where its results come from.
std::string function(const std::string& name, const std::vector<std::pair<const char*, const char*>>& in,
                     const std::vector<std::array<const char*, 3>>& out, const std::string& nodes, const std::string& more = {}) {
  std::string text = "function { signature { name: \"" + name + "\"";
  for (const auto& [n, t] : in) text += " input_arg " + argument(n, t);
  for (const auto& [n, t, from] : out) text += " output_arg " + argument(n, t);
  text += " }\n" + nodes;
  for (const auto& [n, t, from] : out) text += std::string(" ret { key: \"") + n + "\" value: \"" + from + "\" }";
  return text + more + " }\n";
}
graph_def read(const std::string& nodes, const std::string& functions) {
  return io::read_text<graph_def>(nodes + "library {\n" + functions + "}\nversions { producer: 1286 }\n");
}
std::string fed(const char* name, const char* type_name) {
  return op_node(name, "Placeholder", {}, type("dtype", type_name) + " attr { key: \"shape\" value { shape { } } }");
}
const char* const one_float = "type: DT_FLOAT";

// half(x) = x / 2, twice(x) = half(x) * 4 by a call in a function.
const std::string arithmetic =
    function("half", {{"x", "DT_FLOAT"}}, {{"y", "DT_FLOAT", "m:z:0"}},
             constant_node("two", "DT_FLOAT", "float_val", 2, "node_def") + in_function("m", "RealDiv", {"x", "two:output:0"}, f32)) +
    function("twice", {{"x", "DT_FLOAT"}}, {{"y", "DT_FLOAT", "m:z:0"}},
             constant_node("four", "DT_FLOAT", "float_val", 4, "node_def") +
                 in_function("h", "PartitionedCall", {"x"}, types("Tin", one_float) + types("Tout", one_float) + function_of("f", "half")) +
                 in_function("m", "Mul", {"h:output:0", "four:output:0"}, f32));

float run_of(const graph_def& def, const char* fetch, std::vector<std::pair<const char*, tensor_value>> feeds) {
  graph g;
  import_graph(g, def, {.name = ""});
  graph_session s(g);
  std::vector<std::pair<output, tensor_value>> given;
  for (auto& [name, value] : feeds) given.emplace_back(get_tensor_by_name(g, name), std::move(value));
  return s.run(fetch, given).as<float>();
}

}  // namespace of_functions

}  // namespace

using namespace of_functions;

TEST_CASE("calls become the nodes of their functions, and keep their names") {
  const std::string call = types("Tin", one_float) + types("Tout", one_float) + function_of("f", "twice");
  const graph_def def = read(fed("x", "DT_FLOAT") + op_node("c", "StatefulPartitionedCall", {"x"}, call) +
                                 op_node("y", "Neg", {"c"}, f32) + op_node("d", "half", {"y"}),
                             arithmetic);
  const graph_def flat = io::inline_functions(def);
  CHECK(flat.library.empty());
  for (const node_def& n : flat.nodes) CHECK_FALSE(n.op.ends_with("PartitionedCall"));
  CHECK(run_of(def, "c:0", {{"x:0", 3.0f}}) == 6);
  CHECK(run_of(def, "y:0", {{"x:0", 3.0f}}) == -6);
  CHECK(run_of(def, "d:0", {{"x:0", 3.0f}}) == -3);  // a node whose operator is the function

  // What was imported is differentiated like any other graph.
  graph g;
  import_graph(g, def, {.name = ""});
  const auto here = g.as_default();
  const auto slopes = gradients({get_tensor_by_name(g, "d:0")}, {get_tensor_by_name(g, "x:0")});
  graph_session s(g);
  CHECK(s.run(slopes[0], {{get_tensor_by_name(g, "x:0"), 3.0f}}).as<float>() == -1);
}

TEST_CASE("branches, cases and loops by functions") {
  const std::string side = types("Tin", one_float) + types("Tout", one_float);
  const std::string inner = " attr { key: \"output_shapes\" value { list { shape { } } } }";
  const std::string functions =
      arithmetic +
      function("positive", {{"x", "DT_FLOAT"}}, {{"y", "DT_BOOL", "g:z:0"}},
               constant_node("zero", "DT_FLOAT", "float_val", 0, "node_def") + in_function("g", "Greater", {"x", "zero:output:0"}, f32)) +
      function("constant", {{"x", "DT_FLOAT"}}, {{"y", "DT_FLOAT", "c:output:0"}}, constant_node("c", "DT_FLOAT", "float_val", 7, "node_def")) +
      function("more", {{"i", "DT_INT32"}, {"n", "DT_INT32"}, {"x", "DT_FLOAT"}}, {{"go", "DT_BOOL", "l:z:0"}},
               in_function("l", "Less", {"i", "n"}, i32)) +
      // i, n, x -> i + 1, n, if(i is 0) twice(x) else constant
      function("step", {{"i", "DT_INT32"}, {"n", "DT_INT32"}, {"x", "DT_FLOAT"}},
               {{"i1", "DT_INT32", "a:z:0"}, {"n1", "DT_INT32", "n"}, {"x1", "DT_FLOAT", "b:output:0"}},
               constant_node("one", "DT_INT32", "int_val", 1, "node_def") + constant_node("zero", "DT_INT32", "int_val", 0, "node_def") +
                   in_function("a", "AddV2", {"i", "one:output:0"}, i32) + in_function("e", "Equal", {"i", "zero:output:0"}, i32) +
                   in_function("b", "StatelessIf", {"e:z:0", "x"},
                               type("Tcond", "DT_BOOL") + side + function_of("then_branch", "twice") + function_of("else_branch", "constant") + inner));
  const std::string nodes =
      fed("x", "DT_FLOAT") + fed("i", "DT_INT32") + op_node("p", "positive", {"x"}) +
      op_node("if", "If", {"p", "x"}, type("Tcond", "DT_BOOL") + side + function_of("then_branch", "twice") + function_of("else_branch", "constant")) +
      op_node("by_number", "StatelessIf", {"x", "x"},
           type("Tcond", "DT_FLOAT") + side + function_of("then_branch", "half") + function_of("else_branch", "constant")) +
      op_node("case", "StatelessCase", {"i", "x"},
           side + " attr { key: \"branches\" value { list { func { name: \"half\" } func { name: \"twice\" } func { name: \"constant\" } } } }") +
      constant_node("zero", "DT_INT32", "int_val", 0) +
      op_node("loop", "StatelessWhile", {"zero", "i", "x"},
           types("T", "type: DT_INT32 type: DT_INT32 type: DT_FLOAT") + function_of("cond", "more") + function_of("body", "step"));
  const graph_def def = read(nodes, functions);
  CHECK(run_of(def, "if:0", {{"x:0", 3.0f}}) == 6);
  CHECK(run_of(def, "if:0", {{"x:0", -3.0f}}) == 7);
  CHECK(run_of(def, "by_number:0", {{"x:0", 0.0f}}) == 7);
  CHECK(run_of(def, "by_number:0", {{"x:0", 5.0f}}) == 2.5f);
  for (const auto& [number, expected] : {std::pair(0, 1.5f), std::pair(1, 6.0f), std::pair(2, 7.0f), std::pair(-1, 7.0f), std::pair(9, 7.0f)})
    CHECK(run_of(def, "case:0", {{"x:0", 3.0f}, {"i:0", number}}) == expected);
  CHECK(run_of(def, "loop:2", {{"x:0", 3.0f}, {"i:0", 0}}) == 3);
  CHECK(run_of(def, "loop:2", {{"x:0", 3.0f}, {"i:0", 1}}) == 6);
  CHECK(run_of(def, "loop:2", {{"x:0", 3.0f}, {"i:0", 4}}) == 7);
}

TEST_CASE("a call's effects happen whichever of its results is used, once, and before whoever waits for it") {
  const std::string variable = type("dtype", "DT_FLOAT") + " attr { key: \"shape\" value { shape { } } }";
  const std::string value = type("dtype", "DT_FLOAT");
  const std::string functions = function(
      "count", {{"v", "DT_RESOURCE"}, {"x", "DT_FLOAT"}}, {{"y", "DT_FLOAT", "r:value:0"}},
      in_function("a", "AssignAddVariableOp", {"v", "x"}, value) + in_function("r", "ReadVariableOp", {"v", "^a"}, value),
      " control_ret { key: \"a\" value: \"a\" }");
  const std::string call = types("Tin", "type: DT_RESOURCE type: DT_FLOAT") + types("Tout", one_float) + function_of("f", "count");
  const std::string side = types("Tin", "type: DT_RESOURCE type: DT_FLOAT") + types("Tout", one_float);
  const std::string keep = function("keep", {{"v", "DT_RESOURCE"}, {"x", "DT_FLOAT"}}, {{"y", "DT_FLOAT", "r:value:0"}},
                                    in_function("r", "ReadVariableOp", {"v"}, value));
  const graph_def def = read(
      op_node("v", "VarHandleOp", {}, variable) + constant_node("one", "DT_FLOAT", "float_val", 1) + op_node("init", "AssignVariableOp", {"v", "one"}, value) +
          fed("p", "DT_BOOL") + op_node("c", "StatefulPartitionedCall", {"v", "one"}, call) + op_node("neg", "Neg", {"c"}, f32) +
          op_node("seven", "Identity", {"one", "^c"}, f32) + op_node("after", "ReadVariableOp", {"v", "^c"}, value) +
          op_node("if", "If", {"p", "v", "one"}, type("Tcond", "DT_BOOL") + side + function_of("then_branch", "count") + function_of("else_branch", "keep")) +
          op_node("read", "ReadVariableOp", {"v"}, value),
      functions + keep);
  graph g;
  import_graph(g, def, {.name = ""});
  for (const bool fuse : {true, false}) {
    graph_session s(g, {.fuse = fuse});
    s.run("init");
    CHECK(s.run("c:0").as<float>() == 2);
    CHECK(s.run("neg:0").as<float>() == -3);
    CHECK(s.run("seven:0").as<float>() == 1);  // by the control input alone
    CHECK(s.run("read:0").as<float>() == 4);
    CHECK(s.run("after:0").as<float>() == 5);
    const output p = get_tensor_by_name(g, "p:0");
    CHECK(s.run("if:0", {{p, false}}).as<float>() == 5);
    CHECK(s.run("if:0", {{p, true}}).as<float>() == 6);
    CHECK(s.run("read:0").as<float>() == 6);
  }
}

TEST_CASE("calls that have no place in a graph remain, and say so when they are to run") {
  const std::string call = types("Tin", one_float) + types("Tout", one_float);
  const std::string itself = function("endless", {{"x", "DT_FLOAT"}}, {{"y", "DT_FLOAT", "c:output:0"}},
                                      in_function("c", "PartitionedCall", {"x"}, call + function_of("f", "endless")));
  const graph_def def = read(fed("x", "DT_FLOAT") + op_node("c", "PartitionedCall", {"x"}, call + function_of("f", "endless")) +
                                 op_node("m", "PartitionedCall", {"x"}, call + function_of("f", "nowhere")) +
                                 op_node("h", "PartitionedCall", {"x"}, call + function_of("f", "half")),
                             itself + arithmetic);
  CHECK(says(message_of([&] { run_of(def, "c:0", {{"x:0", 1.0f}}); }), "No kernel for the operator 'PartitionedCall'"));
  CHECK(says(message_of([&] { run_of(def, "m:0", {{"x:0", 1.0f}}); }), "No kernel for the operator 'PartitionedCall'"));
  CHECK(run_of(def, "h:0", {{"x:0", 1.0f}}) == 0.5f);

  // Inputs that name nothing are told as in any graph.
  for (const char* input : {"h:5", "h:x", ":3", "h:99999999999", "", "^", "^h:1", "nobody", "h:1:2"}) {
    graph_def wrong = def;
    wrong.nodes.push_back({.name = "wrong", .op = "Neg", .inputs = {input}, .attributes = {{"T", dtype::float32}}});
    graph g;
    CAPTURE(input);
    CHECK_THROWS_AS(import_graph(g, wrong, {.name = ""}), invalid_argument);
  }

  graph_def damaged = def;
  damaged.library.resize(damaged.library.size() - 3);
  CHECK_THROWS_AS(io::inline_functions(damaged), data_loss);

  // Each function calls the one before it twice: 2^40 nodes.
  std::string doubling = function("f0", {{"x", "DT_FLOAT"}}, {{"y", "DT_FLOAT", "n:y:0"}}, in_function("n", "Neg", {"x"}, f32));
  for (int k = 1; k <= 40; ++k) {
    const std::string before = "f" + std::to_string(k - 1);
    doubling += function("f" + std::to_string(k), {{"x", "DT_FLOAT"}}, {{"y", "DT_FLOAT", "b:output:0"}},
                         in_function("a", "PartitionedCall", {"x"}, call + function_of("f", before.c_str())) +
                             in_function("b", "PartitionedCall", {"a:output:0"}, call + function_of("f", before.c_str())));
  }
  const graph_def large = read(fed("x", "DT_FLOAT") + op_node("c", "PartitionedCall", {"x"}, call + function_of("f", "f40")), doubling);
  CHECK_THROWS_AS(io::inline_functions(large), resource_exhausted);
  // The same of functions that have no nodes, and of functions that have no place, because nothing says where their result is.
  for (const bool has_place : {true, false}) {
    std::string empty = function("f0", {{"x", "DT_FLOAT"}}, {{"y", "DT_FLOAT", has_place ? "x" : "nowhere:y:0"}}, "");
    for (int k = 1; k <= 40; ++k) {
      const std::string before = "f" + std::to_string(k - 1);
      empty += function("f" + std::to_string(k), {{"x", "DT_FLOAT"}}, {{"y", "DT_FLOAT", has_place ? "b:output:0" : "nowhere:y:0"}},
                        in_function("a", "PartitionedCall", {"x"}, call + function_of("f", before.c_str())) +
                            in_function("b", "PartitionedCall", {"a:output:0"}, call + function_of("f", before.c_str())));
    }
    CHECK_THROWS_AS(io::inline_functions(read(fed("x", "DT_FLOAT") + op_node("c", "PartitionedCall", {"x"}, call + function_of("f", "f40")), empty)),
                    resource_exhausted);
  }
}
