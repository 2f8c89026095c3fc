// Every recorded operator by itself: a node of its type in a graph whose inputs are fed, run as a fused program where it can be,
// and by its kernel. What TensorFlow refused must be refused with the same class of error.

#include <leat/named/definitions/defined.hpp>
#include <leat/named/exchange/import.hpp>
#include <leat/ops/add_n.hpp>
#include <leat/ops/known.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/session/graph_session.hpp>

#include "support/recorded_operators.hpp"
#include "support/reference_json.hpp"
#include "support/reference_values.hpp"

#include <map>

using namespace leat;
using namespace leat_test;

namespace {

std::string first_line(const error& e) {
  const std::string text = e.what();
  return text.substr(0, text.find('\n'));
}

}  // namespace

TEST_CASE("operators give what TensorFlow gave") {
  const auto file = reference_json("ops.json");
  if (!file) return;
  int compared = 0, fused = 0;
  std::map<std::string, int> lacking;
  for (const auto& c : file->at("cases")) {
    const std::string id = c.at("id");
    INFO(id);
    graph g;
    try {
      import_graph(g, graph_of(c), {.name = ""});
    } catch (const error& e) {
      ++lacking[c.at("op").get<std::string>() + " (" + first_line(e) + ")"];
      continue;
    }
    const op_info& op = *g.at(g.named().find("the_op")).op;
    if (op.infer == nullptr && find_kernel(op.type) == nullptr) {
      ++lacking[c.at("op").get<std::string>()];
      continue;
    }
    for (const bool fuse : {true, false}) {
      INFO(std::string(fuse ? "fused" : "kernel"));
      graph_session s(g, {.fuse = fuse});
      std::map<std::string, tensor_value> feeds;
      int k = 0;
      for (const auto& in : c.at("inputs")) feeds.emplace("in" + std::to_string(k++) + ":0", value_of_json(in));
      std::vector<std::string> fetches;
      for (std::size_t i = 0; i < c.at("outputs").size(); ++i) fetches.push_back("the_op:" + std::to_string(i));
      try {
        const auto results = s.run(fetches, feeds);
        for (std::size_t i = 0; i < results.size(); ++i) {
          const double near = results[i].type() == dtype::float64 ? 1e-10 : 1e-5;
          CHECK(difference(results[i], c["outputs"][i], near, near) == "");
        }
        ++compared;
        fused += s.fused_runs() > 0 ? 1 : 0;
      } catch (const unimplemented& e) {
        ++lacking[c.at("op").get<std::string>() + " (" + first_line(e) + ")"];
      } catch (const error& e) {
        FAIL_CHECK(std::string(e.what()));
      }
    }
  }
  std::string list;
  for (const auto& [op, n] : lacking) list += "\n  " + op + ": " + std::to_string(n);
  MESSAGE(compared << " cases compared, " << fused << " of them as fused programs; not run:" << list);
  CHECK(compared > 0);
}

TEST_CASE("operators refuse what TensorFlow refused") {
  const auto file = reference_json("ops.json");
  if (!file) return;
  int compared = 0;
  std::string rest;
  for (const auto& c : file->at("error_cases")) {
    if (c.at("run_error").is_null()) continue;
    const std::string id = c.at("id");
    INFO(id << ": " << c.at("run_error").dump());
    graph g;
    try {
      import_graph(g, graph_of(c), {.name = ""});
      graph_session s(g);
      std::map<std::string, tensor_value> feeds;
      int k = 0;
      for (const auto& in : c.at("inputs")) feeds.emplace("in" + std::to_string(k++) + ":0", value_of_json(in));
      s.run("the_op:0", feeds);
      FAIL_CHECK(std::string("it was not refused"));
    } catch (const unimplemented& e) {
      rest += "\n  " + id + ": " + first_line(e);
    } catch (const error& e) {
      const std::string wanted = c["run_error"].at("type");
      CHECK(class_of(e) == (wanted == "TypeError" || wanted == "ValueError" ? "InvalidArgumentError" : wanted));
      CHECK(std::string(e.what()).find("the_op") != std::string::npos);
      ++compared;
    }
  }
  MESSAGE(compared << " errors compared; not run:" << rest);
  CHECK(compared > 0);
}
