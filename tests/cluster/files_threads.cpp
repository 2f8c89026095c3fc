// Variables by handle on a server, saved and restored by nodes of the graph, in the folder that the server may use.

#include <leat/checkpoint.hpp>
#include <leat/cluster.hpp>
#include <leat/graphs.hpp>
#include <leat/io/text.hpp>

#include "cluster/support/free_address.hpp"
#include "cluster/support/local_network.hpp"
#include "support/messages.hpp"
#include "support/scratch_folder.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

using namespace leat;

namespace {

// The variable and all that saves it at the parameter server; a sum of it at the worker.
const char* const handle_on_server = R"(
node { name: "w" op: "VarHandleOp" device: "/job:ps/task:0" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: 2 } } } } attr { key: "shared_name" value { s: "w" } } attr { key: "container" value { s: "" } } }
node { name: "v" op: "Const" device: "/job:ps/task:0" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } } float_val: 1 float_val: 2 } } } }
node { name: "init" op: "AssignVariableOp" input: "w" input: "v" device: "/job:ps/task:0" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "add" op: "AssignAddVariableOp" input: "w" input: "v" device: "/job:ps/task:0" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "read" op: "ReadVariableOp" input: "w" device: "/job:ps/task:0" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "minus" op: "Neg" input: "read" device: "/job:worker/task:0" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "prefix" op: "Const" device: "/job:ps/task:0" attr { key: "dtype" value { type: DT_STRING } }
  attr { key: "value" value { tensor { dtype: DT_STRING tensor_shape { } string_val: "model" } } } }
node { name: "names" op: "Const" device: "/job:ps/task:0" attr { key: "dtype" value { type: DT_STRING } }
  attr { key: "value" value { tensor { dtype: DT_STRING tensor_shape { dim { size: 1 } } string_val: "w" } } } }
node { name: "slices" op: "Const" device: "/job:ps/task:0" attr { key: "dtype" value { type: DT_STRING } }
  attr { key: "value" value { tensor { dtype: DT_STRING tensor_shape { dim { size: 1 } } string_val: "" } } } }
node { name: "save" op: "SaveV2" input: "prefix" input: "names" input: "slices" input: "read" device: "/job:ps/task:0"
  attr { key: "dtypes" value { list { type: DT_FLOAT } } } }
node { name: "saved" op: "RestoreV2" input: "prefix" input: "names" input: "slices" device: "/job:ps/task:0"
  attr { key: "dtypes" value { list { type: DT_FLOAT } } } }
node { name: "restore" op: "AssignVariableOp" input: "w" input: "saved" device: "/job:ps/task:0" attr { key: "dtype" value { type: DT_FLOAT } } }
versions { producer: 1286 }
)";

}  // namespace

TEST_CASE("a server's graph uses the files of its folder, and of none without one") {
  const leat_test::scratch_folder scratch("server_files");
  const cluster_spec where({{"ps", {leat_test::free_address()}}, {"worker", {leat_test::free_address()}}});
  for (const bool has_folder : {true, false}) {
    CAPTURE(has_folder);
    server ps(where, {.job_name = "ps", .task_index = 0, .file_root = has_folder ? scratch.path.string() : std::string()});
    server worker(where, {.job_name = "worker", .task_index = 0});
    graph g;
    import_graph(g, io::read_text<graph_def>(handle_on_server), {.name = ""});
    graph_session s(g, {.target = worker.target()});
    using values = std::vector<float>;
    s.run("init");
    s.run("add");
    CHECK(s.run("minus:0").as<values>() == values{-2, -4});  // sent to the worker
    if (!has_folder) {
      CHECK(leat_test::says(leat_test::message_of([&] { s.run("save"); }), "server_options::file_root"));
      continue;
    }
    s.run("save");
    CHECK(std::filesystem::exists(scratch.path / "model.index"));
    s.run("add");
    CHECK(s.run("read:0").as<values>() == values{3, 6});
    s.run("restore");
    CHECK(s.run("read:0").as<values>() == values{2, 4});
    CHECK(s.value(get_tensor_by_name(g, "w:0")).as<values>() == values{2, 4});
  }
}
