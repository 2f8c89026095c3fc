#include <leat/named/exchange/import.hpp>

#include "support/reference_json.hpp"

#include <leat/io/binary.hpp>
#include <leat/named/exchange/export.hpp>
#include <leat/ops/known.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>

using namespace leat;
using leat_test::reference_folder;

TEST_CASE("TensorFlow's graphs are the same after import and export") {
  const std::filesystem::path folder = reference_folder() + "/graphs";
  if (!std::filesystem::exists(folder)) {
    MESSAGE("skipped: " << folder.string() << " is missing");
    return;
  }
  int graphs = 0;
  std::map<std::string, int> unknown;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".pb") continue;
    INFO(entry.path().filename().string());
    const graph_def def = io::read_binary_file(entry.path());
    graph g;
    import_graph(g, def, {.name = ""});
    graph_def again = export_graph(g);
    REQUIRE(again.nodes.size() == def.nodes.size());
    for (std::size_t i = 0; i < def.nodes.size(); ++i) {
      INFO(def.nodes[i].name);
      node_def expected = def.nodes[i];
      const auto first_control = std::find_if(expected.inputs.begin(), expected.inputs.end(), [](const auto& s) { return s[0] == '^'; });
      std::sort(first_control, expected.inputs.end());
      CHECK(again.nodes[i] == expected);
    }
    CHECK(again.versions == def.versions);
    for (const auto& op : get_operations(g))
      if (find_operator(op.type()) == nullptr) ++unknown[std::string(op.type())];
    ++graphs;
  }
  MESSAGE(graphs << " graphs; operators that are carried, not known: " << unknown.size());
  CHECK(graphs > 0);
}
