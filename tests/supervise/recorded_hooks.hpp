#pragma once
// What the tests of recorded training sessions share: the model of the recordings, hooks that note their calls, and the classes of
// Python's errors.

#include <leat/graphs.hpp>
#include <leat/summary/event_reader.hpp>
#include <leat/supervise/monitored_session.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leat_test {

using namespace leat;
using json = nlohmann::json;

/// w = 4, loss = (w - 1)^2, rate 0.25: the losses are 9, 2.25, 0.5625, ...
struct recorded_model {
  output w, loss, step;
  graph_operation train;
};
/// Its numbers. Another set's are read from the losses that it recorded.
struct model_numbers {
  double start = 4, rate = 0.25;
};
inline double rounded(double v) { return std::round(v * 1e4) / 1e4; }
inline model_numbers numbers_of_losses(double first, std::optional<double> later = {}, std::int64_t steps = 1) {
  model_numbers m{1 + rounded(std::sqrt(first)), 0.25};
  if (later) m.rate = rounded((1 - std::pow(*later / first, 0.5 / static_cast<double>(steps))) / 2);
  return m;
}
/// The same, of the summaries among recorded events.
inline model_numbers numbers_of_events(const json& events) {
  std::vector<std::pair<std::int64_t, double>> losses;
  for (const json& e : events)
    if (e.contains("values") && e["values"][0].contains("value")) losses.emplace_back(e["step"], e["values"][0]["value"]);
  if (losses.empty()) return {};
  if (losses.size() == 1) return numbers_of_losses(losses[0].second);
  return numbers_of_losses(losses[0].second, losses[1].second, losses[1].first - losses[0].first);
}
/// The last step that an event tells of.
inline std::int64_t last_step_of(const json& events) {
  std::int64_t last = 0;
  for (const json& e : events) last = std::max(last, e["step"].get<std::int64_t>());
  return last;
}
/// The names of noting hooks, in the order of their calls.
inline std::vector<std::string> hooks_in(const json& log) {
  std::vector<std::string> names;
  for (const json& line : log)
    if (line.is_string())
      if (const std::string text = line; text.find(".begin (") != text.npos) names.push_back(text.substr(0, text.find('.')));
  return names;
}
/// What follows `begin` in the lines that begin so.
inline std::vector<std::string> after_each(const json& log, std::string_view begin) {
  std::vector<std::string> rest;
  for (const json& line : log)
    if (line.is_string())
      if (const std::string text = line; text.starts_with(begin)) rest.push_back(text.substr(begin.size()));
  return rest;
}

inline recorded_model make_model(const model_numbers& numbers = {}) {
  recorded_model m;
  m.w = variable(static_cast<float>(numbers.start), "w");
  m.loss = square(m.w - 1.0f, "loss");
  m.step = get_or_create_global_step();
  m.train = gradient_descent(static_cast<float>(numbers.rate)).minimize(m.loss, {.global_step = m.step});
  return m;
}

/// Notes its calls as the recordings write them.
class noting_hook final : public session_run_hook {
 public:
  noting_hook(json& log, std::string name, int stop_after = 0) : log_(log), name_(std::move(name)), stop_after_(stop_after) {}
  void begin(const begin_context& c) override { note("begin" + graph_state(*c.owner)); }
  void after_create_session(watched_session& s, coordinator&) override {
    note("after_create_session" + graph_state(s.of_graph()->owner()));
  }
  session_run_args before_run(session_run_context&) override {
    note("before_run");
    return {};
  }
  void after_run(session_run_context& c, const session_run_values&) override {
    ++runs_;
    note("after_run" + (stop_after_ > 0 ? " " + std::to_string(runs_) : std::string()));
    if (runs_ == stop_after_) c.request_stop();
  }
  void end(watched_session&) override { note("end"); }

 private:
  static std::string graph_state(const graph& g) { return std::string(" (graph finalized: ") + (is_finalized(g) ? "True" : "False") + ")"; }
  void note(const std::string& what) { log_.push_back(name_ + "." + what); }
  json& log_;
  std::string name_;
  int stop_after_, runs_ = 0;
};

inline hook noting(json& log, const std::string& name, int stop_after = 0) { return std::make_shared<noting_hook>(log, name, stop_after); }

/// "9.0", "0.5625": a number as Python prints it.
inline std::string python_number(float v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", static_cast<double>(v));
  std::string s = text;
  return s.find_first_of(".en") == s.npos ? s + ".0" : s;
}

inline bool is_of_type(const std::exception& e, const std::string& python) {
  if (python == "ValueError" || python == "InvalidArgumentError") return dynamic_cast<const invalid_argument*>(&e) != nullptr;
  if (python == "RuntimeError" || python == "AttributeError") return dynamic_cast<const failed_precondition*>(&e) != nullptr;
  if (python == "DeadlineExceededError") return dynamic_cast<const deadline_exceeded*>(&e) != nullptr;
  return false;
}

/// Recorded numbers are the shortest texts of float32 numbers.
inline void as_float32(json& j) {
  if (j.is_number_float()) j = static_cast<double>(j.get<float>());
  if (j.is_structured())
    for (json& part : j) as_float32(part);
}

/// Plays a recording in a graph of its own, and compares result or error.
inline void play(const json& recorded, const std::function<json()>& observed) {
  graph g;
  const auto scope = g.as_default();
  INFO(recorded["what"].get<std::string>());
  if (recorded["error"].is_null()) {
    json got;
    CHECK_NOTHROW(got = observed());
    json wanted = recorded["result"];
    as_float32(wanted);
    CHECK(got.dump(1) == wanted.dump(1));
    return;
  }
  const auto type = recorded["error"]["type"].get<std::string>(), message = recorded["error"]["message"].get<std::string>();
  try {
    observed();
    FAIL_CHECK("no error");
  } catch (const std::exception& e) {
    INFO(e.what());
    CHECK(is_of_type(e, type));
    if (type != "AttributeError") CHECK(std::string(e.what()).starts_with(message));
  }
}

// ---- folders and event files ----

/// The checkpoints of a folder, by name.
inline json checkpoints_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& f : std::filesystem::directory_iterator(folder)) {
    const std::string name = f.path().filename().string();
    if (name.ends_with(".json")) names.insert(name.substr(0, name.size() - 5));
  }
  return names;
}
/// These, and the other files of a folder, event files as one pattern.
inline json files_in(const std::filesystem::path& folder) {
  std::set<std::string> names = checkpoints_in(folder);
  for (const auto& f : std::filesystem::directory_iterator(folder)) {
    const std::string name = f.path().filename().string();
    if (name.starts_with("events.")) names.insert("events.out.tfevents.*");
    if (name == "checkpoint" || name == "graph.pbtxt") names.insert(name);
  }
  return names;
}
/// The same of a recorded list: a checkpoint of TensorFlow's is three files.
inline json recorded_files(const json& files) {
  std::set<std::string> names;
  for (const std::string name : files) {
    if (name.ends_with(".index")) names.insert(name.substr(0, name.size() - 6));
    if (name.find(".data-") == name.npos && !name.ends_with(".index") && !name.ends_with(".meta")) names.insert(name);
  }
  return names;
}

/// The text of a state file, with DIR for the folder; without timestamps, which the recordings leave out.
inline std::string state_in(const std::filesystem::path& folder) {
  std::ifstream in(folder / "checkpoint");
  std::string text, line;
  while (std::getline(in, line)) {
    if (line.find("timestamp") != line.npos) continue;
    for (std::size_t at; (at = line.find(folder.string())) != line.npos;) line.replace(at, folder.string().size(), "DIR");
    text += line + "\n";
  }
  return text;
}

/// All events of a folder, as the recordings write them.
inline json events_in(const std::filesystem::path& folder) {
  json list = json::array();
  for (const auto& file : summary::event_files(folder))
    for (const summary::event& e : summary::read_events(file)) {
      json one{{"step", e.step}};
      if (!e.file_version.empty()) one.update({{"kind", "file_version"}, {"file_version", e.file_version}});
      if (!e.graph_def.empty()) one["kind"] = "graph_def";
      if (!e.meta_graph_def.empty()) one["kind"] = "meta_graph_def";
      if (e.session) {
        constexpr const char* names[]{"STATUS_UNSPECIFIED", "START", "STOP", "CHECKPOINT"};
        one.update({{"kind", "session_log"}, {"session_log", names[static_cast<int>(e.session->status)]}});
      }
      if (e.summary) {
        one.update({{"kind", "summary"}, {"values", json::array()}});
        for (const auto& v : e.summary->values) {
          json value{{"tag", v.tag}, {"kind", "simple_value"}};
          if (const auto* number = std::get_if<float>(&v.content)) value["value"] = *number;
          one["values"].push_back(value);
        }
      }
      list.push_back(one);
    }
  return list;
}

}  // namespace leat_test
