// Variables by handle, as TensorFlow makes them since 1.15.

#include <leat/graphs.hpp>
#include <leat/io/text.hpp>
#include <leat/session/graph_variables.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>

using namespace leat;
using leat_test::message_of;
using leat_test::says;

namespace {

// A variable w of two numbers with the nodes that read, write and ask about it.
const char* const handles_text = R"(
node { name: "w" op: "VarHandleOp" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "shape" value { shape { dim { size: 2 } } } } attr { key: "shared_name" value { s: "w" } } attr { key: "container" value { s: "" } } attr { key: "_output_shapes" value { list { shape { } } } } }
node { name: "v" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } } float_val: 1 float_val: 2 } } } }
node { name: "a" op: "AssignVariableOp" input: "w" input: "v" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "i" op: "VarIsInitializedOp" input: "w" }
node { name: "r" op: "ReadVariableOp" input: "w" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "add" op: "AssignAddVariableOp" input: "w" input: "v" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "late" op: "ReadVariableOp" input: "w" input: "^add" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "lr" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { } float_val: 0.5 } } } }
node { name: "step" op: "ResourceApplyGradientDescent" input: "w" input: "lr" input: "v" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "t" op: "Const" attr { key: "dtype" value { type: DT_BOOL } } attr { key: "value" value { tensor { dtype: DT_BOOL tensor_shape { } bool_val: true } } } }
node { name: "sw" op: "Switch" input: "w" input: "t" attr { key: "T" value { type: DT_RESOURCE } } }
node { name: "inb" op: "ReadVariableOp" input: "sw:1" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "id" op: "Identity" input: "w" attr { key: "T" value { type: DT_RESOURCE } } }
node { name: "rid" op: "ReadVariableOp" input: "id" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "ix" op: "Const" attr { key: "dtype" value { type: DT_INT32 } } attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 1 } } int_val: 1 } } } }
node { name: "g" op: "ResourceGather" input: "w" input: "ix" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "Tindices" value { type: DT_INT32 } } }
node { name: "lost" op: "DestroyResourceOp" input: "w" }
node { name: "shape" op: "VariableShape" input: "w" }
node { name: "scatter" op: "ResourceScatterAdd" input: "w" input: "ix" input: "u" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "Tindices" value { type: DT_INT32 } } }
node { name: "u" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 1 } } float_val: 10 } } } }
node { name: "u3" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "shape" value { shape { unknown_rank: true } } } }
node { name: "a3" op: "AssignVariableOp" input: "w" input: "u3" attr { key: "dtype" value { type: DT_FLOAT } } }
versions { producer: 1286 }
)";
using handle_values = std::vector<float>;

}  // namespace

TEST_CASE("variables by handle are read, written and asked about, in programs and node by node") {
  graph g;
  const graph_def def = io::read_text<graph_def>(handles_text);
  import_graph(g, def, {.name = ""});
  const auto same = export_graph(g);
  REQUIRE(same.nodes.size() == def.nodes.size());
  for (const bool fuse : {true, false}) {
    graph_session s(g, {.fuse = fuse});
    const auto read = [&](const char* name) { return s.run(name).as<handle_values>(); };
    CHECK_FALSE(s.run("i:0").as<bool>());
    CHECK(says(message_of([&] { s.run("r:0"); }), "Attempting to use uninitialized value w"));
    s.run("a");
    CHECK(s.run("i:0").as<bool>());
    CHECK(read("r:0") == handle_values{1, 2});
    // What waits for a write reads the new value, the other the old one.
    const auto both = s.run({"r:0", "late:0"});
    CHECK(both[0].as<handle_values>() == handle_values{1, 2});
    CHECK(both[1].as<handle_values>() == handle_values{2, 4});
    s.run("step");
    CHECK(read("r:0") == handle_values{1.5f, 3});
    CHECK(read("rid:0") == handle_values{1.5f, 3});  // through an Identity of the handle
    CHECK(read("inb:0") == handle_values{1.5f, 3});  // through a branch
    CHECK(read("g:0") == handle_values{3});
    s.run("scatter");
    CHECK(read("r:0") == handle_values{1.5f, 13});
    CHECK(s.run("shape:0").as<std::vector<std::int32_t>>() == std::vector<std::int32_t>{2});
    CHECK(says(message_of([&] { s.run("a3", {{get_tensor_by_name(g, "u3:0"), handle_values{1, 2, 3}}}); }),
               "Trying to assign to variable with tensor with wrong shape. Expected [2] got [3]"));
    CHECK(read("r:0") == handle_values{1.5f, 13});
    s.run("lost");
    CHECK_FALSE(s.run("i:0").as<bool>());
    // The session's own calls know them like any variable.
    s.assign(get_tensor_by_name(g, "w:0"), handle_values{8, 9});
    CHECK(read("r:0") == handle_values{8, 9});
    CHECK(values_of(s).at("w").as<handle_values>() == handle_values{8, 9});
    if (fuse) CHECK(s.fused_runs() > 0);
    // Without the variable, its reads are constants.
    const graph_def frozen = freeze(s, {"r"});
    graph fixed;
    import_graph(fixed, frozen, {.name = ""});
    CHECK(graph_session(fixed).run("r:0").as<handle_values>() == handle_values{8, 9});
  }
}

TEST_CASE("gradients reach variables by handle, also through gathered rows") {
  graph g;
  import_graph(g, io::read_text<graph_def>(handles_text), {.name = ""});
  const auto here = g.as_default();
  const output w = get_tensor_by_name(g, "w:0");
  const output loss = reduce_sum(square(get_tensor_by_name(g, "r:0"))) + reduce_sum(get_tensor_by_name(g, "g:0") * 5.0f);
  const auto slopes = gradients({loss}, {w});
  graph_session s(g);
  s.assign(w, handle_values{1, 2});
  CHECK(s.run(slopes[0]).as<handle_values>() == handle_values{2, 9});
}

TEST_CASE("steps of optimizers on handles are those on references") {
  for (const bool sparse : {false, true}) {
    graph g;
    const auto here = g.as_default();
    const auto handle = [&](const char* name) {
      shape s;
      s.push(3), s.push(2);
      return g.named()
          .raw(g, "VarHandleOp", {}, {{"dtype", dtype::float32}, {"shape", to_proto(s)}, {"shared_name", name}, {"container", ""}},
               {{dtype::float32, s}}, name)
          .result();
    };
    const tensor_literal start({{1.0f, 2.0f}, {3.0f, 4.0f}, {5.0f, 6.0f}});
    const tensor_literal slope = sparse ? tensor_literal({{0.5f, -1.0f}, {2.0f, 0.25f}}) : tensor_literal({{0.5f, -1.0f}, {2.0f, 0.25f}, {1.0f, 1.0f}});
    const tensor_literal rows({2, 0});
    std::vector<output> by_reference, by_handle;
    for (const char* name : {"var", "m", "v"}) {
      by_reference.push_back(variable(start, std::string("ref_") + name));
      by_handle.push_back(handle(name));
    }
    const auto step = [&](const std::string& type, const std::vector<output>& of) {
      if (sparse) return call_operator(g, type, {of[0], of[1], tensor_literal(0.1f), slope, rows, tensor_literal(0.9f)}, {}, type);
      return call_operator(g, type,
                           {of[0], of[1], of[2], tensor_literal(0.9f), tensor_literal(0.999f), tensor_literal(0.01f), tensor_literal(0.9f),
                            tensor_literal(0.999f), tensor_literal(1e-8f), slope},
                           {}, type);
    };
    const graph_operation a = step(sparse ? "SparseApplyMomentum" : "ApplyAdam", by_reference);
    const graph_operation b = step(sparse ? "ResourceSparseApplyMomentum" : "ResourceApplyAdam", by_handle);
    for (const bool fuse : {true, false}) {
      graph_session s(g, {.fuse = fuse});
      s.run(global_variables_initializer());
      for (const output& h : by_handle) s.assign(h, tensor_value(start));
      for (int k = 0; k < 3; ++k) s.run(a), s.run(b);
      for (std::size_t k = 0; k < by_handle.size(); ++k)
        CHECK(s.value(by_handle[k]).as<handle_values>() == s.value(by_reference[k]).as<handle_values>());
    }
  }
}
