// What `leat check` says of graphs against what runs do, node by node: what it says nothing of runs or fails for its values, and what it
// complains of fails.

#include "check.hpp"

#include <leat/graphs.hpp>
#include <leat/io/binary.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/session/graph_variables.hpp>

#include "support/hostile_graphs.hpp"
#include "support/recorded_operators.hpp"
#include "support/reference_json.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <ostream>
#include <set>

using namespace leat;
using namespace leat_test;

namespace {

tool::check_report report_of(const graph_def& def) {
  tool::graph_file file;
  file.meta.graph = def;
  return tool::check(file, {}, {}, true);
}

// Zeros for everything that can be fed, but for what is given.
std::map<std::string, tensor_value> feeds_of(graph& g, const std::map<std::string, tensor_value>& given) {
  std::map<std::string, tensor_value> feeds = given;
  for (const graph_operation& op : get_operations(g)) {
    if (op.type() != "Placeholder" && op.type() != "PlaceholderV2") continue;
    const output tensor = op.result();
    if (feeds.contains(tensor.name()) || size_of(tensor.type()) == 0) continue;
    shape extent = tensor.extent().has_rank() ? tensor.extent() : shape{};
    for (int i = 0; i < extent.rank; ++i) extent.dim[i] = extent[i] < 0 ? 2 : extent[i];
    tensor_value zeros(tensor.type(), extent);
    if (zeros.bytes() > 0) std::memset(zeros.data(), 0, zeros.bytes());
    feeds.emplace(tensor.name(), std::move(zeros));
  }
  return feeds;
}

struct comparison {
  int graphs = 0, nodes = 0, refused = 0, errors = 0;

  // Compares the two for each node of a graph.
  void add(graph_def def, const std::map<std::string, tensor_value>& given = {}) {
    static std::ostream nowhere(nullptr);
    for (node_def& node : def.nodes) node.device.clear();
    const tool::check_report report = report_of(def);
    ++graphs;
    graph g;
    g.named();
    try {
      if (const auto found = proto::findings(def); !found.empty()) throw invalid_argument(to_text(found.front()));
      import_graph(g, def, {.name = ""});
      graph_session(g).prepare(std::vector<output>{}, std::vector<output>{});
    } catch (const error& e) {
      INFO(std::string(e.what()));
      CHECK_FALSE(report.problems.empty());
      return;
    }
    CHECK(report.problems == std::vector<std::string>{});
    std::set<int> behind;  // what needs a node that is refused, or waits
    for (int i = 0; i < g.size(); ++i) {
      const graph_operation op(g, i);
      const bool is_refused = report.refused.contains(op.name());
      bool skipped = op.owner().at(op.index()).op->what.waits;
      for (const output& in : op.inputs()) skipped = skipped || behind.contains(in.index());
      for (const graph_operation& c : op.control_inputs()) skipped = skipped || behind.contains(c.index());
      if (is_refused || skipped) behind.insert(i);
      if ((skipped && !is_refused) || op.type() == "Placeholder") continue;
      ++nodes;
      INFO(op.name() << " (" << op.type() << "): " << (is_refused ? report.refused.find(op.name())->second : "nothing"));
      try {
        graph_session s(g, {.operation_timeout_in_ms = 300, .log = &nowhere, .memory_limit_in_bytes = 64 << 20});
        for (const auto& [name, variable] : saved_variables(g)) {
          if (!variable.extent().is_static() || size_of(variable.type()) == 0 || variable.extent().elements() > 1 << 20) continue;
          tensor_value zeros(variable.type(), variable.extent());
          if (zeros.bytes() > 0) std::memset(zeros.data(), 0, zeros.bytes());
          s.assign(variable, zeros);
        }
        s.run({op}, feed_list(feeds_of(g, given)));
        CHECK_FALSE(is_refused);
      } catch (const unimplemented& e) {
        // Ranks and handles are values, too: a queue of old calls a handle text.
        const std::string what = e.what();
        bool is_of_values = false;
        for (const char* text : {"more than 8 dimensions", "dimensions cannot be joined", "is to hold a handle", "dtype resource"})
          is_of_values = is_of_values || what.find(text) != what.npos;
        if (!is_of_values) CHECK_MESSAGE(is_refused, what);
        ++refused;
      } catch (const error&) {
        ++errors;
      }
    }
  }
};

}  // namespace

TEST_CASE("recorded graphs run as far as nothing is said of their nodes") {
  std::error_code problem;
  comparison all;
  for (const auto& entry : std::filesystem::directory_iterator(reference_folder() + "/graphs", problem)) {
    if (entry.path().extension() != ".pb") continue;
    INFO(entry.path().string());
    all.add(io::read_binary_file(entry.path()));
  }
  if (problem) {
    MESSAGE("skipped: " << reference_folder() << "/graphs is missing");
    return;
  }
  MESSAGE(all.graphs << " graphs, " << all.nodes << " nodes, " << all.refused << " refused, " << all.errors << " other errors");
  CHECK(all.graphs > 0);
}

TEST_CASE("recorded operators run as far as nothing is said of them") {
  const auto file = reference_json("ops.json");
  if (!file) return;
  comparison all;
  for (const auto& c : file->at("cases")) {
    const std::string id = c.at("id");
    INFO(id);
    std::map<std::string, tensor_value> feeds;
    int k = 0;
    for (const auto& in : c.at("inputs")) feeds.emplace("in" + std::to_string(k++) + ":0", value_of_json(in));
    all.add(graph_of(c, true), feeds);
  }
  MESSAGE(all.graphs << " graphs, " << all.nodes << " nodes, " << all.refused << " refused, " << all.errors << " other errors");
  CHECK(all.graphs > 0);
}

TEST_CASE("graphs that were made to break something") {
  comparison all;
  for (const hostile_graph& one : hostile_graphs()) {
    INFO(one.name);
    all.add(graph_text(one.text).parse());
  }
  CHECK(all.refused > 0);
  CHECK(all.errors > 0);
}

TEST_CASE("operators that run are known, and what is refused is told with its reason") {
  const auto said = [](const std::string& text) {
    std::string all;
    for (const auto& line : report_of(graph_text(text).parse()).lacking) all += line + "\n";
    return all;
  };
  CHECK(
      said(
          "x = Placeholder dtype=float32 shape=[2]\ny = Add(x, x) T=float32\nz = DivNoNan(x, y) T=float32\nw = SeluGrad(x, z) T=float32\n") ==
      "");
  CHECK(said("x = Placeholder dtype=float32 shape=[2]\ny = Cast(x) SrcT=float32 DstT=int4\nz = Neg(y) T=int4\n")
            .find("the node 'y' (Cast): no kernel for dtype int4") != std::string::npos);
  CHECK(said("x = Placeholder dtype=float32 shape=[2]\ny = Cast(x) SrcT=float32 DstT=complex64\nz = Neg(y) T=complex64\n"
             "f = FFT(z) Tcomplex=complex64\na = ComplexAbs(f) T=complex64 Tout=float32\n") == "");
  CHECK(said("x = Placeholder dtype=complex64 shape=[2]\ny = Less(x, x) T=complex64\n")
            .find("no kernel of Less for dtype complex64") != std::string::npos);
  CHECK(said("x = Placeholder dtype=half shape=[2]\ny = Cast(x) SrcT=half DstT=uint32\nz = Sqrt(x) T=half\n") == "");
  CHECK(said("x = Placeholder dtype=uint64 shape=[2]\ny = FloorDiv(x, x) T=uint64\n").find("no kernel of FloorDiv for its dtypes") !=
        std::string::npos);
  CHECK(said("x = Placeholder dtype=string shape=[2]\ny = AddV2(x, x) T=string\n") == "the node 'y' (AddV2): no kernel for dtype string\n");
  CHECK(said("x = Placeholder dtype=string shape=[2]\ny = Equal(x, x) T=string\n") == "");
  CHECK(said("x = Placeholder dtype=bool shape=[2,2]\nb = Placeholder dtype=bool shape=[2]\ny = BiasAdd(x, b) T=bool\n")
            .find("no kernel for dtype bool") != std::string::npos);
  const auto refused = report_of(graph_text("x = Placeholder dtype=int32 shape=[2]\ny = SoftsignGrad(x, x) T=int32\n").parse()).problems;
  REQUIRE(refused.size() == 1);
  CHECK(refused[0].find("takes floating-point dtypes only") != std::string::npos);
}
