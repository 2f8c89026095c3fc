// What TensorFlow's Supervisor was recorded to do, played here.

#include <leat/summary/named_summary.hpp>
#include <leat/supervise/supervisor.hpp>

#include "recorded_hooks.hpp"
#include "support/recorded_items.hpp"
#include "support/reference_json.hpp"
#include "support/scratch_folder.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>

using namespace leat_test;

namespace {

recorded_model make_supervised(const model_numbers& numbers = {}) {
  recorded_model m;
  m.step = get_or_create_global_step();
  m.w = variable(static_cast<float>(numbers.start), "w");
  m.loss = square(m.w - 1.0f, "loss");
  m.train = gradient_descent(static_cast<float>(numbers.rate)).minimize(m.loss, {.global_step = m.step});
  return m;
}

void wait_for(const std::function<bool()>& there) {
  const auto start = std::chrono::steady_clock::now();
  while (!there() && std::chrono::steady_clock::now() - start < std::chrono::seconds(20))
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

// The numbers of the model, from the losses of the second start.
model_numbers numbers_of_second_start(const json& recorded, std::int64_t first_step) {
  std::vector<double> losses;
  for (const json& entry : recorded)
    if (entry.is_object() && entry.contains("events"))
      for (const json& e : entry["events"])
        if (e.contains("values") && e["values"][0]["tag"] == "loss_function") losses.push_back(e["values"][0]["value"]);
  if (losses.size() < 2) return {};
  const double shrinks = std::sqrt(losses[1] / losses[0]);  // w - 1, in each step
  return {1 + rounded(std::sqrt(losses[0]) / std::pow(shrinks, static_cast<double>(first_step + 1))), rounded((1 - shrinks) / 2)};
}

// Some steps, then more in a new graph, saved by hand; the threads save and count at once when they start.
json managed(const json& recorded) {
  json log = json::array();
  std::vector<std::int64_t> starts, ends;
  for (const std::string& text : after_each(recorded, "starts at step ")) starts.push_back(std::stoll(text));
  for (const json& line : recorded)
    if (line.is_string()) {
      const std::string text = line;
      if (text.starts_with("starts at step ")) ends.push_back(0);
      if (text.starts_with("step ")) ends.back() = std::stoll(text.substr(5));
    }
  REQUIRE(starts.size() == 2);
  const model_numbers numbers = numbers_of_second_start(recorded, starts[1]);
  const scratch_folder folder("supervisor");
  std::string last;
  const auto train = [&](std::int64_t first_step, std::int64_t last_step, bool with_events) {
    graph g;
    const auto scope = g.as_default();
    const auto m = make_supervised(numbers);
    const auto merged = summary::scalar("loss_function", m.loss);
    const auto init = global_variables_initializer();
    supervisor sv({.init = init, .logdir = folder.path.string(), .summary = {}, .save = saver(g, {.max_to_keep = 1})});
    std::string path = sv.save_path();
    path.replace(0, folder.path.string().size(), "DIR");
    log.push_back({{"graph_finalized_after_making", is_finalized(g)},
                   {"save_path", path},
                   {"ready_op", sv.ready_op().name()},
                   {"init_op", sv.init_op().name()}});
    sv.managed([&](supervised_session& s) {
      log.push_back("starts at step " + std::to_string(integer(s.value(m.step))) + "; graph finalized " +
                    (is_finalized(g) ? "True" : "False"));
      wait_for([&] {  // the first save of the thread
        const auto saved = sv.saver().last_checkpoints();
        return !saved.empty() && saved.back() == sv.save_path() + "-" + std::to_string(first_step);
      });
      while (!sv.should_stop()) {
        s.run(m.train);
        const auto step = integer(s.value(m.step));
        log.push_back("step " + std::to_string(step));
        if (with_events) sv.summary_computed(s.run(merged));
        if (step == last_step) {
          sv.saver().save(s, (folder.path / "manual.cpk").string(), m.step);
          sv.request_stop();
        }
      }
      log.push_back(std::string("should_stop ") + (sv.should_stop() ? "True" : "False"));
    });
    log.push_back({{"files", files_in(folder.path)}, {"checkpoint", state_in(folder.path)}});
  };
  train(starts[0], ends[0], false);
  for (const auto& f : summary::event_files(folder.path)) std::filesystem::remove(f);
  log.push_back("again in a new graph");
  train(starts[1], ends[1], true);
  log.push_back({{"events", events_in(folder.path)}});
  return log;
}

// When the threads' events come among those of the loop is an accident.
void sort_out_events(json& log) {
  for (json& entry : log)
    if (entry.is_object() && entry.contains("events")) {
      int saved = 0, counted = 0;
      json loop = json::array();
      for (const json& e : entry["events"]) {
        const bool is_rate = e.contains("values") && e["values"][0]["tag"] == "global_step/sec";
        const bool is_save = e.contains("session_log") && e["session_log"] == "CHECKPOINT";
        saved += is_save ? 1 : 0;
        counted += is_rate ? 1 : 0;
        if (!is_rate && !is_save) loop.push_back(e);
      }
      entry = {{"loop", loop}, {"saved", saved > 0}, {"counted", counted > 0}};
    }
}

json saves_by_itself() {
  const scratch_folder folder("supervisor_saves");
  const auto m = make_supervised();
  supervisor sv({.logdir = folder.path.string(), .save = saver(default_graph(), {.max_to_keep = 0}), .save_model_secs = 0.05});
  auto s = sv.managed_session();
  wait_for([&] {
    s.run(m.train);
    return checkpoints_in(folder.path).size() > 1;
  });
  sv.stop();
  std::set<std::string> patterns;
  for (const std::string name : checkpoints_in(folder.path)) patterns.insert(name.substr(0, name.rfind('-')) + "-N");
  return {{"more_than_one_checkpoint", checkpoints_in(folder.path).size() > 1}, {"name_pattern", patterns}};
}

template <class F>
json error_of(F f) {
  try {
    f();
  } catch (const failed_precondition& e) {
    return {{"type", "RuntimeError"}, {"message", e.what()}};
  }
  return nullptr;
}

json not_chief() {
  const auto d = device("/job:localhost/task:0");
  make_supervised();
  const scratch_folder folder("supervisor_worker");
  supervisor sv({.is_chief = false, .logdir = folder.path.string(), .summary = {}});
  return {{"summary_writer", sv.summary_writer() == nullptr ? json() : json("one")},
          {"save_path", sv.save_path().empty() ? json() : json(sv.save_path())},
          {"summary_computed", error_of([&] { sv.summary_computed(tensor_value("")); })},
          {"start_standard_services", error_of([&] { sv.start_standard_services(); })}};
}

json without_logdir() {
  make_supervised();
  supervisor sv;
  return error_of([&] { sv.summary_computed(tensor_value("")); });
}

json without_init() {
  make_supervised();
  global_variables_initializer();
  supervisor sv({.init = {}});
  const auto s = sv.managed_session();
  return {};
}

json late_variable() {
  make_supervised();
  const auto init = global_variables_initializer();
  variable(1.0f, "late");
  supervisor sv({.init = init});
  const auto s = sv.managed_session();
  return {};
}

json failing_body() {
  make_supervised();
  supervisor sv;
  sv.managed([](supervised_session&) { throw invalid_argument("from the body"); });
  return {};
}

json ending_input() {
  const scratch_folder folder("supervisor_end");
  make_supervised();
  bool stops = false;
  {
    supervisor sv({.logdir = folder.path.string(), .save_model_secs = 0});
    sv.managed([](supervised_session&) { throw out_of_range("no more"); });
    stops = sv.should_stop();
  }
  return {{"files", files_in(folder.path)}, {"should_stop", stops}};
}

json variable_without_device() {
  variable(1.0f);
  supervisor sv({.is_chief = false});
  return {};
}

json adding_a_node() {
  make_supervised();
  supervisor sv;
  sv.managed([](supervised_session&) { constant(1.0f); });
  return {};
}

using player = std::function<json(const json& recorded)>;

// By their text without its numbers.
const std::map<std::string, player>& players() {
  const auto plain = [](json (*play)()) { return [play](const json&) { return play(); }; };
  static const std::map<std::string, player> all{
      {"managed_session: init_op at the first start, the newest checkpoint at the second; manual save; request_stop", managed},
      {"save_model_secs=#: checkpoints come by themselves, the first one at once", plain(saves_by_itself)},
      {"not chief: no summary writer; summary_computed is refused", plain(not_chief)},
      {"no logdir: summary_computed", plain(without_logdir)},
      {"init_op None and no checkpoint", plain(without_init)},
      {"a variable made after init_op is not initialised by it", plain(late_variable)},
      {"an exception in the body comes out of managed_session", plain(failing_body)},
      {"an OutOfRangeError in the body ends quietly; save_model_secs=# saves nothing", plain(ending_input)},
      {"a variable without a device when replicas are used", plain(variable_without_device)},
      {"adding a node inside managed_session", plain(adding_a_node)},
  };
  return all;
}

}  // namespace

TEST_CASE("supervisors do what was recorded") {
  const auto file = reference_json("training.json");
  if (!file) return;
  recorded_items items("supervisors");
  for (json recorded : (*file)["supervisor"]) {
    const std::string what = recorded["what"];
    const auto found = players().find(form_of(what));
    if (found == players().end()) {
      items.left_out(what, "not played by this test");
      continue;
    }
    INFO(what);
    const json as_recorded = recorded["result"];
    json& wanted = recorded["result"];
    if (wanted.is_array())
      for (json& entry : wanted)
        if (entry.is_object() && entry.contains("files")) entry["files"] = recorded_files(entry["files"]);
    if (wanted.is_array()) sort_out_events(wanted);
    if (wanted.is_object() && wanted.contains("files")) wanted["files"] = recorded_files(wanted["files"]);
    if (wanted.is_object() && wanted.contains("name_pattern")) wanted["name_pattern"] = {"model.ckpt-N"};
    if (!recorded["error"].is_null()) {
      // The rest of the text is Python's form of a node.
      std::string& message = recorded["error"]["message"].get_ref<std::string&>();
      message = message.substr(0, message.find("\nattr {"));
    }
    if (what.starts_with("an exception")) recorded["error"]["message"] = "from the body";
    play(recorded, [&] {
      json got = found->second(as_recorded);
      if (got.is_array()) sort_out_events(got);
      return got;
    });
    items.ran();
  }
  items.finish();
}
