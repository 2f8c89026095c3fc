#include <leat/graphs.hpp>
#include <leat/io/binary.hpp>
#include <leat/session/graph_session.hpp>
#include <leat/summary.hpp>

#include "support/recorded_items.hpp"
#include "support/reference_json.hpp"
#include "support/scratch_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

using namespace leat;
using leat_test::reference_json;
using leat_test::scratch_folder;
using nlohmann::json;

// training.json's "summaries": what FileWriter and the summary functions record, event for event, and naming.json's nodes of them.

namespace {

// The observation whose text begins so; nothing, and a word of it, where the set has none.
std::optional<json> row_of(const json& rows, const std::string& what) {
  for (const auto& row : rows)
    if (row["what"].get<std::string>().starts_with(what)) return row;
  MESSAGE("skipped: the set has no record of " << what);
  return std::nullopt;
}
std::string without_port(const std::string& name) { return name.substr(0, name.find(':')); }
// The name of the first node of a type.
std::string first_name(const json& nodes, const std::string& type, const std::string& otherwise) {
  for (const auto& node : nodes)
    if (node["op"] == type) return node["name"];
  return otherwise;
}

void check_close(double got, double wanted) { CHECK(std::abs(got - wanted) <= 1e-6 * std::max(1.0, std::abs(wanted))); }

void check_histogram(const summary::histogram_value& got, const json& wanted) {
  CHECK(got.min == wanted["min"].get<double>());
  CHECK(got.max == wanted["max"].get<double>());
  CHECK(got.num == wanted["num"].get<double>());
  if (wanted.contains("sum")) check_close(got.sum, wanted["sum"].get<double>());
  if (wanted.contains("sum_squares")) check_close(got.sum_squares, wanted["sum_squares"].get<double>());
  if (wanted.contains("bucket_limit")) CHECK(got.bucket_limit == wanted["bucket_limit"].get<std::vector<double>>());
  CHECK(got.bucket == wanted["bucket"].get<std::vector<double>>());
}

void check_event(const summary::event& got, const json& wanted) {
  CAPTURE(wanted.dump());
  CHECK(got.step == wanted["step"].get<std::int64_t>());
  CHECK(got.wall_time > 1e9);
  const std::string kind = wanted["kind"];
  if (kind == "file_version") CHECK(got.file_version == wanted["file_version"].get<std::string>());
  if (kind == "graph_def") CHECK_FALSE(got.graph_def.empty());
  if (kind == "meta_graph_def") CHECK_FALSE(got.meta_graph_def.empty());
  if (kind == "session_log") {
    REQUIRE(got.session.has_value());
    CHECK(got.session->status == summary::session_status::start);
  }
  if (kind != "summary") return;
  REQUIRE(got.summary.has_value());
  REQUIRE(got.summary->values.size() == wanted["values"].size());
  for (std::size_t i = 0; i < wanted["values"].size(); ++i) {
    const auto& value = got.summary->values[i];
    const json& its = wanted["values"][i];
    CHECK(value.tag == its["tag"].get<std::string>());
    if (its["kind"] == "simple_value") {
      REQUIRE(std::holds_alternative<float>(value.content));
      check_close(std::get<float>(value.content), its["value"].get<double>());
    } else {
      REQUIRE(std::holds_alternative<summary::histogram_value>(value.content));
      check_histogram(std::get<summary::histogram_value>(value.content), its["histo"]);
    }
  }
}

}  // namespace

TEST_CASE("scalars, histograms and a graph are recorded as TensorFlow records them") {
  const auto reference = reference_json("training.json");
  if (!reference) return;
  const auto found = row_of((*reference)["summaries"], "scalar, histogram, merge_all, FileWriter");
  if (!found) return;
  const json row = (*found)["result"];
  const auto values = row["values"].get<std::vector<float>>();
  const scratch_folder folder("summaries_reference");
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1}, "x");
  const auto recorded = row["summaries_collection"].get<std::vector<std::string>>();
  REQUIRE(recorded.size() == 3);
  const std::string scoped = without_port(recorded[1]);
  summary::scalar(without_port(recorded[0]), reduce_sum(x));
  {
    const auto inner = name_scope(scoped.substr(0, scoped.find('/')));
    std::string text = scoped.substr(scoped.find('/') + 1);
    std::replace(text.begin(), text.end(), '_', ' ');  // what is no part of a name becomes "_"
    summary::scalar(text, reduce_mean(x));
  }
  summary::histogram(without_port(recorded[2]), x);
  const auto merged = summary::merge_all();
  CHECK(merged.name() == row["merge_name"].get<std::string>());
  std::vector<std::string> collected;
  for (const auto& o : get_tensors(g, collection::summaries)) collected.push_back(o.name());
  CHECK(collected == recorded);

  graph_session s(g);
  summary::file_writer log(folder.path / "run", g);
  const json& events = row["events"];
  for (const auto& e : events) {
    if (e["kind"] != "summary") continue;
    const auto step = e["step"].get<std::int64_t>();
    if (e["values"].size() == 1) {
      log.add_scalar(e["values"][0]["tag"].get<std::string>(), e["values"][0]["value"].get<float>(), step);
      continue;
    }
    std::vector<float> fed = values;
    for (float& v : fed) v *= static_cast<float>(step + 1);
    log.add_summary(s.run(merged, {{x, fed}}), step);
  }
  log.close();
  const auto files = summary::event_files(folder.path / "run");
  REQUIRE(files.size() == 1);
  CHECK(files[0].filename().string().starts_with("events.out.tfevents."));
  const auto read = summary::read_events(files[0]);
  REQUIRE(read.size() == events.size());
  for (std::size_t i = 0; i < read.size(); ++i) check_event(read[i], events[i]);
}

TEST_CASE("nothing to merge, and tags twice") {
  const auto reference = reference_json("training.json");
  if (!reference) return;
  graph g;
  const auto scope = g.as_default();
  if (const auto row = row_of((*reference)["summaries"], "merge_all without summaries")) CHECK((*row)["result"].is_null());
  CHECK_FALSE(static_cast<bool>(summary::merge_all()));
  if (const auto row = row_of((*reference)["summaries"], "repeated tags")) {
    const auto recorded = (*row)["result"].get<std::vector<std::string>>();
    REQUIRE_FALSE(recorded.empty());
    const auto x = constant(1.0f);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < recorded.size(); ++i) names.push_back(summary::scalar(without_port(recorded[0]), x).name());
    CHECK(names == recorded);
  }
}

TEST_CASE("errors are TensorFlow's") {
  const auto reference = reference_json("training.json");
  if (!reference) return;
  const auto message_of = [&](const std::string& what) -> std::string {
    const auto row = row_of((*reference)["summaries"], what);
    if (!row) return {};
    const std::string text = (*row)["error"]["message"];
    return text.substr(0, text.find('\n'));
  };
  graph g;
  const auto scope = g.as_default();
  graph_session s(g);
  if (const std::string said = message_of("a scalar summary of a vector"); !said.empty()) {
    // "tags and values are not the same shape: [] != [2] (tag 't')"
    const auto quote = said.find('\'');
    const auto wrong_shape = summary::scalar(said.substr(quote + 1, said.rfind('\'') - quote - 1),
                                             zeros_of({leat_test::numbers_in(said.substr(0, quote)).at(0)}));
    CHECK_THROWS_WITH_AS(s.run(wrong_shape), doctest::Contains(said.c_str()), invalid_argument);
  }
  graph other;
  const auto inner = other.as_default();
  graph_session second(other);
  if (const std::string said = message_of("a histogram summary with NaN"); !said.empty()) {
    const auto wrong_number = summary::histogram(said.substr(said.rfind(' ') + 1), constant({1.0f, NAN}));
    CHECK_THROWS_WITH_AS(second.run(wrong_number), doctest::Contains(said.c_str()), invalid_argument);
  }
}

TEST_CASE("buckets are TensorFlow's") {
  const auto reference = reference_json("training.json");
  if (!reference) return;
  if (const auto row = row_of((*reference)["summaries"], "a histogram summary of nothing"))
    check_histogram(summary::histogram_of(std::vector<float>{}), (*row)["result"]);
  if (const auto row = row_of((*reference)["summaries"], "bucket limits")) {
    const json& wanted = (*row)["result"];
    const auto got = summary::histogram_of(wanted["values"].get<std::vector<double>>());
    CHECK(got.bucket_limit == wanted["bucket_limit"].get<std::vector<double>>());
    CHECK(got.bucket == wanted["bucket"].get<std::vector<double>>());
  }
}

TEST_CASE("nodes are TensorFlow's") {
  const auto reference = reference_json("naming.json");
  if (!reference) return;
  json script;
  for (const auto& s : (*reference)["scripts"])
    if (s["script"] == "summaries") script = s;
  if (!script.is_object()) {
    MESSAGE("skipped: the set has no script of summaries");
    return;
  }
  const json& recorded = script["nodes"];
  graph g;
  const auto scope = g.as_default();
  const auto z = placeholder(dtype::float32, {-1}, first_name(recorded, "Placeholder", "z"));
  summary::scalar(first_name(recorded, "ScalarSummary", "loss_function"), reduce_mean(z));
  summary::histogram(first_name(recorded, "HistogramSummary", "z"), z);
  summary::merge_all();
  const auto nodes = get_operations(g);
  REQUIRE(nodes.size() == recorded.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const json& wanted = recorded[i];
    CHECK(nodes[i].name() == wanted["name"].get<std::string>());
    CHECK(nodes[i].type() == wanted["op"].get<std::string>());
    std::vector<std::string> inputs;
    for (const auto& in : nodes[i].inputs()) inputs.push_back(in.operation().name());
    CHECK(inputs == wanted["inputs"].get<std::vector<std::string>>());
  }
}

TEST_CASE("default names are TensorFlow's") {
  const auto reference = reference_json("naming.json");
  if (!reference) return;
  leat_test::recorded_items items("names of summaries");
  for (const auto& row : (*reference)["default_names"]) {
    const std::string api = row.value("api", "");
    if (!api.starts_with("summary.")) continue;
    graph g;
    const auto scope = g.as_default();
    const auto x = reduce_sum(placeholder(dtype::float32, {}, "x"));
    const json& recorded = row["nodes"];
    const auto tag = [&](const char* type) {
      for (const auto& node : recorded)
        if (node[1] == type) return node[0].get<std::string>();
      return std::string("a");
    };
    std::string name;
    if (api == "summary.scalar") {
      name = summary::scalar(tag("ScalarSummary"), x).name();
    } else if (api == "summary.histogram") {
      name = summary::histogram(tag("HistogramSummary"), x).name();
    } else if (api == "summary.merge_all") {
      summary::scalar(tag("ScalarSummary"), x);
      name = summary::merge_all().name();
    } else {
      items.left_out(api, "not called by this test");
      continue;
    }
    CHECK(name == row["result"].get<std::string>());
    items.ran();
  }
  items.finish();
}

TEST_CASE("a recorded graph with summaries runs as in TensorFlow") {
  const auto file = reference_json("graphs/summaries.json");
  if (!file) return;
  graph g;
  import_graph(g, io::read_binary_file(leat_test::reference_folder() + "/graphs/" + (*file)["pb"].get<std::string>()), {.name = ""});
  graph_session s(g);
  for (const auto& run : (*file)["runs"]) {
    std::map<std::string, tensor_value> feeds;
    for (const auto& [name, value] : run["feeds"].items()) feeds.emplace(name, value["data"].get<std::vector<float>>());
    const auto results = s.run(run["fetches"].get<std::vector<std::string>>(), feeds);
    for (std::size_t k = 0; k < results.size(); ++k) {
      const auto values = summary::read_summary(results[k].as<std::string>()).values;
      const json& wanted = run["results"][k]["summary"]["value"];
      REQUIRE(values.size() == wanted.size());
      for (std::size_t i = 0; i < values.size(); ++i) {
        CHECK(values[i].tag == wanted[i]["tag"].get<std::string>());
        if (wanted[i].contains("simple_value")) check_close(std::get<float>(values[i].content), wanted[i]["simple_value"].get<double>());
        else check_histogram(std::get<summary::histogram_value>(values[i].content), wanted[i]["histo"]);
      }
    }
  }
}
