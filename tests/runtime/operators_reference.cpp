// Every recorded operator by itself: a node of its type in a graph whose inputs are fed, run as a fused program where it can be,
// and by its kernel. What TensorFlow refused must be refused with the same class of error.

#include <leat/named/definitions/defined.hpp>
#include <leat/named/exchange/import.hpp>
#include <leat/named/functions/operand.hpp>
#include <leat/named/gradients/gradient.hpp>
#include <leat/named/graph/lookup.hpp>
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
        // TensorFlow leaves what only a training step uses as its memory happens to be.
        const auto training = c.at("attrs").find("is_training");
        const bool is_inference = training != c.at("attrs").end() && *training == false;
        for (std::size_t i = 0; i < (is_inference ? 3 : results.size()); ++i) {
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

TEST_CASE("gradients of operators are what TensorFlow gave, or none where it gave none") {
  const auto file = reference_json("ops.json");
  if (!file) return;
  int compared = 0, none = 0;
  std::map<std::string, int> lacking;
  for (const auto& c : file->at("cases")) {
    const auto recorded = c.find("grad_inputs");
    const auto given = c.find("grad_outputs");
    if (recorded == c.end() || recorded->is_null() || given == c.end() || given->is_null()) continue;
    const std::string id = c.at("id");
    INFO(id);
    graph g;
    const auto scope = g.as_default();
    try {
      import_graph(g, graph_of(c), {.name = ""});
    } catch (const error& e) {
      ++lacking[c.at("op").get<std::string>() + " (" + first_line(e) + ")"];
      continue;
    }
    try {
      std::map<std::string, tensor_value> feeds;
      std::vector<output> xs, ys, seeds, fetches;
      std::vector<std::size_t> which;
      for (std::size_t k = 0; k < c.at("inputs").size(); ++k) {
        const std::string name = "in" + std::to_string(k) + ":0";
        feeds.emplace(name, value_of_json(c["inputs"][k]));
        xs.push_back(get_tensor_by_name(g, name));
      }
      for (std::size_t k = 0; k < given->size(); ++k) {
        if ((*given)[k].is_null()) continue;
        const tensor_value seed = value_of_json((*given)[k]);
        ys.push_back(get_tensor_by_name(g, "the_op:" + std::to_string(k)));
        seeds.push_back(placeholder(seed.type(), unknown_shape, "dy" + std::to_string(k)));
        feeds.emplace("dy" + std::to_string(k) + ":0", seed);
      }
      if (ys.empty()) continue;
      const auto slopes = gradients(ys, xs, {.grad_ys = seeds});
      for (std::size_t k = 0; k < xs.size(); ++k) {
        if (!is_floating(xs[k].type())) continue;
        CHECK(static_cast<bool>(slopes[k]) == !(*recorded)[k].is_null());
        none += !slopes[k] ? 1 : 0;
        if (!slopes[k] || (*recorded)[k].is_null()) continue;
        fetches.push_back(slopes[k]);
        which.push_back(k);
      }
      if (fetches.empty()) continue;
      graph_session s(g);
      const auto results = s.run(fetches, feeds);
      for (std::size_t k = 0; k < results.size(); ++k) {
        const double near = results[k].type() == dtype::float64 ? 1e-9 : 1e-4;
        CAPTURE(which[k]);
        CHECK(difference(results[k], (*recorded)[which[k]], near, near) == "");
        ++compared;
      }
    } catch (const unimplemented& e) {
      ++lacking[c.at("op").get<std::string>() + " (" + first_line(e) + ")"];
    } catch (const error& e) {
      FAIL_CHECK(std::string(e.what()));
    }
  }
  std::string list;
  for (const auto& [op, n] : lacking) list += "\n  " + op + ": " + std::to_string(n);
  MESSAGE(compared << " gradients compared, " << none << " are none; not made or run:" << list);
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
