// Every graph that TensorFlow's runs were recorded for: imported, run in one session, and compared run by run with what came
// out there, or with the class of the error.

#include <leat/session/graph_session.hpp>

#include "support/reference_json.hpp"
#include "support/reference_values.hpp"

#include <leat/io/binary.hpp>
#include <leat/named/definitions/defined.hpp>
#include <leat/named/exchange/import.hpp>
#include <leat/ops/add_n.hpp>
#include <leat/ops/known.hpp>
#include <leat/runtime/kernels/kernel.hpp>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

using namespace leat;
using namespace leat_test;

namespace {

bool can_run(const op_info& op) {
  return find_kernel(op.type) != nullptr ||
         (op.infer != nullptr && op.kind != op_kind::variable && op.kind != op_kind::assign && op.kind != op_kind::group);
}

struct outcome {
  int runs = 0;
  int compared = 0;
  std::int64_t fused = 0;
};

outcome play(const nlohmann::json& file, graph& g, bool fuse) {
  outcome done;
  std::ostringstream log;
  graph_session s(g, {.log = &log, .fuse = fuse});
  int number_of_run = 0;
  for (const auto& run : file.at("runs")) {
    INFO("run " << number_of_run++ << ": " << run.at("fetches").dump());
    std::vector<std::string> fetches;
    for (const auto& f : run.at("fetches")) fetches.push_back(f.get<std::string>());
    std::map<std::string, tensor_value> feeds;
    for (const auto& [name, value] : run.at("feeds").items()) feeds.emplace(name, value_of_json(value));
    const bool fails = run.contains("error");
    try {
      std::vector<tensor_value> results;
      for (int k = 0; k < run.value("repeat", 1); ++k) results = s.run(fetches, feeds);
      ++done.runs;
      CHECK_MESSAGE(!fails, "no error, but " << run["error"].dump());
      if (fails || run.value("unordered", false)) continue;
      const auto& expected = run.at("results");
      REQUIRE(results.size() == expected.size());
      for (std::size_t k = 0; k < results.size(); ++k) {
        INFO(fetches[k]);
        if (expected[k].is_null()) {
          CHECK(!results[k]);
        } else if (!expected[k].contains("summary")) {
          CHECK(difference(results[k], expected[k]) == "");
          ++done.compared;
        }
      }
    } catch (const error& e) {
      ++done.runs;
      CHECK_MESSAGE(fails, e.what());
      if (fails) CHECK_MESSAGE(class_of(e) == run["error"].at("type").get<std::string>(), e.what());
      ++done.compared;
    }
  }
  done.fused = s.fused_runs();
  return done;
}

}  // namespace

TEST_CASE("TensorFlow's recorded runs come out the same") {
  const std::filesystem::path folder = reference_folder() + "/graphs";
  if (!std::filesystem::exists(folder)) {
    MESSAGE("skipped: " << folder.string() << " is missing");
    return;
  }
  int graphs = 0, runs = 0, compared = 0;
  std::int64_t fused = 0;
  std::string lacking;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    const char* only = std::getenv("LEAT_GRAPH");
    if (only != nullptr && entry.path().stem() != only) continue;
    INFO(entry.path().stem().string());
    const auto file = reference_json("graphs/" + entry.path().filename().string());
    REQUIRE(file);
    graph g;
    import_graph(g, io::read_binary_file(folder / file->at("pb").get<std::string>()), {.name = ""});
    std::set<std::string> missing;
    for (const auto& op : get_operations(g))
      if (!can_run(*g.at(op.index()).op)) missing.insert(std::string(op.type()));
    if (!missing.empty()) {
      lacking += "\n  " + entry.path().stem().string() + ":";
      for (const auto& type : missing) lacking += " " + type;
      continue;
    }
    ++graphs;
    for (const bool fuse : {true, false}) {
      INFO(std::string(fuse ? "fused" : "node by node"));
      const outcome done = play(*file, g, fuse);
      runs += done.runs;
      compared += done.compared;
      fused += done.fused;
    }
  }
  const std::string rest = lacking.empty() ? "" : "; operators are missing in:" + lacking;
  MESSAGE(graphs << " graphs, " << runs << " runs, " << fused << " of them one program, " << compared << " results or errors compared"
                 << rest);

  CHECK(graphs > 0);
}
