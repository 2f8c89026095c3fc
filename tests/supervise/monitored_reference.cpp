// What TensorFlow's monitored sessions and hooks were recorded to do, played here.

#include <leat/summary/named_summary.hpp>
#include <leat/supervise/logging_hooks.hpp>
#include <leat/supervise/monitored_session.hpp>
#include <leat/supervise/nan_tensor.hpp>
#include <leat/supervise/run_hooks.hpp>
#include <leat/supervise/second_or_step_timer.hpp>
#include <leat/supervise/stop_at_step.hpp>
#include <leat/supervise/summary_saver.hpp>

#include "recorded_hooks.hpp"
#include "support/recorded_items.hpp"
#include "support/reference_json.hpp"
#include "support/scratch_folder.hpp"

#include <limits>
#include <sstream>
#include <stdexcept>

using namespace leat_test;

namespace {

std::vector<fetch_item> both(const recorded_model& m) { return {m.loss, m.train}; }

// A recording as its player sees it: the numbers in its text, and what came out.
struct recording {
  std::vector<std::int64_t> numbers;
  json result;
};

// The first hook of the log is the chief's own; one of the others counts its runs and stops.
json order_of_calls(const recording& r) {
  json log = json::array();
  const auto losses = after_each(r.result, "run -> ");
  REQUIRE_FALSE(losses.empty());
  const auto m = make_model(losses.size() == 1 ? numbers_of_losses(std::stod(losses[0]))
                                               : numbers_of_losses(std::stod(losses[0]), std::stod(losses[1])));
  std::vector<hook> hooks;
  for (const std::string& name : hooks_in(r.result)) {
    const auto counts = after_each(r.result, name + ".after_run ");
    hooks.push_back(noting(log, name, counts.empty() ? 0 : std::stoi(counts.back())));
  }
  REQUIRE(hooks.size() > 1);
  monitored_session s({.hooks = {hooks.begin() + 1, hooks.end()}, .chief_only_hooks = {hooks.front()}});
  log.push_back("body");
  s.loop([&] { log.push_back("run -> " + python_number(s.run(both(m))[0].as<float>())); });
  log.push_back("left");
  return log;
}

std::vector<hook> noting_hooks(json& log, const recording& r) {
  std::vector<hook> hooks;
  for (const std::string& name : hooks_in(r.result)) hooks.push_back(noting(log, name));
  return hooks;
}
int calls_of(const recording& r, std::string_view call) {
  const auto hooks = hooks_in(r.result);
  return hooks.empty() ? 0 : static_cast<int>(after_each(r.result, hooks.front() + "." + std::string(call)).size());
}

json left_early(const recording& r) {
  json log = json::array();
  const auto m = make_model();
  {
    monitored_session s({.hooks = noting_hooks(log, r)});
    for (int k = calls_of(r, "before_run"); k > 0; --k) s.run(m.train);
  }
  return log;
}

json steps_with(const std::function<hook()>& stop) {
  const auto m = make_model();
  json steps = json::array();
  monitored_session s({.hooks = {stop()}});
  s.loop([&] {
    s.run(m.train);
    steps.push_back(s.session().value(m.step).as<std::int64_t>());
  });
  return {{"runs", steps.size()}, {"global_step_fetched", steps}};
}

json with_nan(const recording& r, bool fails) {
  json log = json::array();
  const int at = calls_of(r, "before_run");
  get_or_create_global_step();
  const auto x = placeholder(dtype::float32, {}, "x");
  const auto loss = multiply(x, 2.0f, "loss");
  std::ostringstream told;
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  int run = 0;
  std::vector<hook> hooks = noting_hooks(log, r);
  hooks.insert(hooks.begin(), nan_tensor(loss, {.fail_on_nan_loss = fails, .log = &told}));
  try {
    monitored_session s({.hooks = hooks});
    s.within([&] {
      while (!s.should_stop()) {
        s.run(loss, {{x, ++run < at ? 1.0f : nan}});
        if (s.should_stop()) log.push_back("should_stop at " + std::to_string(run));
      }
    });
  } catch (const nan_loss_during_training& e) {
    const std::string text = e.what();
    log.push_back("raised NanLossDuringTrainingError: " + text.substr(0, text.find('.') + 1));
    INFO(text);
    CHECK(text.find("In step 1: NaN came in by node 'x' (Placeholder)") != text.npos);
  }
  return log;
}

template <class Throw>
json thrown_in_body(const recording& r, Throw raise) {
  json log = json::array();
  const auto m = make_model();
  try {
    monitored_session s({.hooks = noting_hooks(log, r)});
    s.within([&] {
      for (int k = calls_of(r, "before_run"); k > 0; --k) s.run(m.train);
      raise();
    });
  } catch (const std::invalid_argument&) {
    log.push_back("raised ValueError");
  }
  return log;
}

json input_that_ends(const recording& r) {
  json log = json::array();
  get_or_create_global_step();
  std::vector<float> items;
  for (const std::string& item : after_each(r.result, "item ")) items.push_back(std::stof(item));
  const auto q = fifo_queue(static_cast<std::int64_t>(items.size()) + 1, {dtype::float32}, {{}});
  const auto fill = q.enqueue_many({items});
  const auto close = q.close();
  const auto item = q.dequeue()[0];
  monitored_session s({.hooks = noting_hooks(log, r)});
  s.within([&] {
    s.run(fill);
    s.run(close);
    while (!s.should_stop()) log.push_back("item " + python_number(s.run<float>(item)));
  });
  log.push_back("left quietly");
  return log;
}

json timer(const recording& r) {
  json seen = json::array();
  second_or_step_timer t({.every_steps = r.numbers.at(0)});
  for (const json& asked : r.result) {
    const auto step = asked.at(0).get<std::int64_t>();
    const bool due = t.should_trigger_for_step(step);
    if (due) t.update_last_triggered_step(step);
    seen.push_back({step, due});
  }
  return seen;
}

json logging(const recording& r) {
  json log = json::array();
  const auto m = make_model();
  std::ostringstream unused;
  const auto names = [&](const std::vector<std::pair<std::string, tensor_value>>& values) {
    std::string text;
    for (const auto& [name, value] : values) text += (text.empty() ? "" : ",") + name;
    log.push_back("logged " + text);
    return text;
  };
  std::vector<hook> hooks = noting_hooks(log, r);
  hooks.insert(hooks.begin(), logging_tensor({{"loss", m.loss}, {"w", m.w}},
                                             {.every_n_iter = r.numbers.at(0), .formatter = names, .log = &unused}));
  monitored_session s({.hooks = hooks});
  for (std::int64_t k = 0; k < r.numbers.at(1); ++k) s.run(m.train);
  s.close();
  return log;
}

json step_function(const recording& r) {
  json log = json::array();
  const auto m = make_model(numbers_of_losses(std::stod(after_each(r.result, "without hooks ").at(0))));
  monitored_session s({.hooks = noting_hooks(log, r)});
  s.run_step_fn([&](const step_context& c) {
    log.push_back("without hooks " + python_number(c.session().run<float>(m.loss)));
    log.push_back("with hooks " + python_number(c.run_with_hooks(m.loss).as<float>()));
  });
  s.close();
  return log;
}

json not_chief(const recording& r) {
  make_model();
  monitored_session s({.is_chief = false, .max_wait = seconds(r.numbers.at(0))});
  return {};
}

// ---- what is written ----

class noting_listener final : public checkpoint_saver_listener {
 public:
  explicit noting_listener(json& log) : log_(log) {}
  void begin() override { log_.push_back("listener.begin"); }
  void before_save(watched_session&, std::int64_t step) override { log_.push_back("listener.before_save " + std::to_string(step)); }
  bool after_save(watched_session&, std::int64_t step) override {
    log_.push_back("listener.after_save " + std::to_string(step));
    return false;
  }
  void end(watched_session&, std::int64_t step) override { log_.push_back("listener.end " + std::to_string(step)); }

 private:
  json& log_;
};

// The recording names TensorFlow's files; here a checkpoint is one manifest, and the graph stands in PREFIX.meta alone.
json only_checkpoints(json recorded) {
  if (recorded.is_array())
    for (json& entry : recorded)
      if (entry.is_object() && entry.contains("files")) entry["files"] = recorded_files(entry["files"]);
  if (recorded.is_object() && recorded.contains("files")) recorded["files"] = recorded_files(recorded["files"]);
  return recorded;
}

json checkpoints(const recording& r) {
  const std::int64_t every = r.numbers.at(0);
  json log = json::array();
  const scratch_folder folder("checkpoint_hook");
  const auto train = [&](std::int64_t last) {
    graph g;
    const auto scope = g.as_default();
    const auto m = make_model();
    monitored_options options{
        .checkpoint_dir = folder.path.string(),
        .save_checkpoint_steps = 0,
        .save_summaries_steps = 0,
        .log_step_count_steps = 0,
        .hooks = {checkpoint_saver(
                      {.checkpoint_dir = folder.path.string(), .save_steps = every, .listeners = {std::make_shared<noting_listener>(log)}}),
                  stop_at_step(last)}};
    monitored_session s(std::move(options));
    log.push_back("first global_step " + std::to_string(s.global_step()));
    s.loop([&] {
      s.run(m.train);
      log.push_back("step " + std::to_string(s.global_step()));
    });
    log.push_back({{"files", files_in(folder.path)}, {"checkpoint", state_in(folder.path)}});
  };
  train(r.numbers.at(1));
  log.push_back("again, in a new graph and session");
  train(r.numbers.at(2));
  return log;
}

json training_session(const recording& r) {
  const scratch_folder folder("training_session");
  const json& events = r.result.at("events");
  std::vector<std::int64_t> written;
  for (const json& e : events)
    if (e["kind"] == "summary") written.push_back(e["step"]);
  const auto m = make_model(numbers_of_events(events));
  summary::scalar("loss_function", m.loss);
  json after = json::array();
  std::ostringstream told;
  {
    monitored_training_session s({.checkpoint_dir = folder.path.string(),
                                  .save_checkpoint_secs = seconds(r.numbers.at(0)),
                                  .save_summaries_steps = written.size() > 1 ? written[1] - written[0] : last_step_of(events),
                                  .hooks = {stop_at_step(last_step_of(events))},
                                  .log = &told});
    s.loop([&] {
      s.run(m.train);
      json names = json::array();
      for (const std::string name : checkpoints_in(folder.path)) names.push_back(name + ".index");
      after.push_back(names);
    });
  }
  return {{"checkpoints_after_each_run", after},
          {"files", files_in(folder.path)},
          {"checkpoint", state_in(folder.path)},
          {"events", events_in(folder.path)}};
}

json summaries_every(const recording& r) {
  const scratch_folder folder("summaries");
  const auto m = make_model(numbers_of_events(r.result));
  const auto loss = summary::scalar("loss_function", m.loss);
  monitored_session s(
      {.hooks = {summary_saver({.save_steps = r.numbers.at(0), .output_dir = folder.path.string(), .summary_op = loss}),
                 stop_at_step(last_step_of(r.result))}});
  s.loop([&] { s.run(m.train); });
  return events_in(folder.path);
}

json counted_every(const recording& r) {
  const scratch_folder folder("counter");
  const auto m = make_model();
  std::ostringstream told;
  {
    monitored_session s({.hooks = {step_counter(folder.path.string(), {.every_n_steps = r.numbers.at(0), .log = &told}),
                                   stop_at_step(last_step_of(r.result))}});
    s.loop([&] { s.run(m.train); });
  }
  json seen = json::array();
  for (const json& e : events_in(folder.path)) {
    json tags = json::array();
    if (e.contains("values"))
      for (const json& v : e["values"]) tags.push_back(v["tag"]);
    seen.push_back({{"step", e["step"]}, {"tags", tags}});
  }
  return seen;
}

json with_scaffold(const recording& r) {
  json log = json::array();
  const auto value = [&](const char* after, float otherwise) {
    const auto said = after_each(r.result.at("log"), after);
    return said.empty() ? otherwise : std::stof(said.front());
  };
  const auto w = variable(value("init_fn; initialised: ", 4.0f), "w");
  const auto local = variable(value("local variable ", 3.0f), "l", {.trainable = false, .collections = {std::string(collection::local_variables)}});
  const auto its = std::make_shared<scaffold>(scaffold_options{
      .init_fn = [&](graph_session& s) { log.push_back("init_fn; initialised: " + python_number(s.value(w).as<float>())); }});
  monitored_session s({.scaffold = its});
  log.push_back("local variable " + python_number(s.run<float>(local)));
  const auto& parts = s.its_scaffold().parts();
  return {{"log", log},
          {"names", {parts.init_op.name(), parts.ready_op.name(), parts.local_init_op.name(), parts.ready_for_local_init_op.name()}}};
}

using player = std::function<json(const recording&)>;

// By their text without its numbers.
const std::map<std::string, player>& players() {
  static const std::map<std::string, player> all{
      {"order of hook calls; chief_only_hooks; a hook that asks to stop after # runs", order_of_calls},
      {"leaving the with block early calls end of each hook", left_early},
      {"StopAtStepHook(last_step=#)", [](const recording& r) { return steps_with([&] { return stop_at_step(r.numbers.at(0)); }); }},
      {"StopAtStepHook(num_steps=#)",
       [](const recording& r) { return steps_with([&] { return stop_at_step({.num_steps = r.numbers.at(0)}); }); }},
      {"StopAtStepHook with both",
       [](const recording&) { return steps_with([] { return stop_at_step({.num_steps = 3, .last_step = 4}); }); }},
      {"StopAtStepHook with neither", [](const recording&) { return steps_with([] { return stop_at_step(stop_options{}); }); }},
      {"run after should_stop is true",
       [](const recording&) {
         const auto m = make_model();
         monitored_session s({.hooks = {stop_at_step(1)}});
         s.run(m.train);
         s.run(m.train);
         return json();
       }},
      {"run after the session was left",
       [](const recording&) {
         const auto m = make_model();
         monitored_session s;
         s.close();
         s.run(m.train);
         return json();
       }},
      {"no global step in the graph, StopAtStepHook",
       [](const recording&) {
         variable(1.0f, "w");
         monitored_session s({.hooks = {stop_at_step(1)}});
         return json();
       }},
      {"adding a node inside the session: the graph is finalized",
       [](const recording&) {
         make_model();
         monitored_session s;
         constant(1.0f);
         return json();
       }},
      {"NanTensorHook(fail_on_nan_loss=True)", [](const recording& r) { return with_nan(r, true); }},
      {"NanTensorHook(fail_on_nan_loss=False)", [](const recording& r) { return with_nan(r, false); }},
      {"a ValueError in the body: end is not called",
       [](const recording& r) { return thrown_in_body(r, [] { throw std::invalid_argument("from the body"); }); }},
      {"an OutOfRangeError in the body ends quietly",
       [](const recording& r) { return thrown_in_body(r, [] { throw out_of_range("no more"); }); }},
      // C++ has no StopIteration: the end of an input is out_of_range.
      {"a StopIteration in the body ends quietly",
       [](const recording& r) { return thrown_in_body(r, [] { throw out_of_range("no more"); }); }},
      {"reading past the end of input (OutOfRangeError in run) ends the loop quietly", input_that_ends},
      {"SecondOrStepTimer(every_steps=#)", timer},
      {"LoggingTensorHook(every_n_iter=#) over # runs", logging},
      {"not chief, variables never initialised, max_wait_secs=#", not_chief},
      {"run_step_fn", step_function},
      {"CheckpointSaverHook(save_steps=#) for # steps, then a restart to #", checkpoints},
      {"MonitoredTrainingSession(checkpoint_dir, save_checkpoint_secs=#, save_summaries_steps): saves at step # and at the end",
       training_session},
      {"CheckpointSaverHook with both save_steps and save_secs",
       [](const recording&) {
         return json(checkpoint_saver({.checkpoint_dir = ".", .save_steps = 1, .save_secs = seconds(1)}) == nullptr);
       }},
      {"SummarySaverHook(save_steps=#)", summaries_every},
      {"StepCounterHook(every_n_steps=#)", counted_every},
      {"Scaffold: init_fn runs after init_op; local variables are initialised; names of the nodes made", with_scaffold},
  };
  return all;
}

}  // namespace

TEST_CASE("monitored sessions and hooks do what was recorded") {
  const auto file = reference_json("training.json");
  if (!file) return;
  recorded_items items("monitored sessions");
  for (const json& recorded : (*file)["monitored"]) {
    const std::string what = recorded["what"];
    const auto found = players().find(form_of(what));
    if (found == players().end()) {
      items.left_out(what, "not played by this test");
      continue;
    }
    json wanted = recorded;
    if (!wanted["result"].is_null()) wanted["result"] = only_checkpoints(wanted["result"]);
    if (wanted["result"].contains("last_nodes")) wanted["result"].erase("last_nodes");  // the saver adds no nodes here
    play(wanted, [&] { return found->second({numbers_in(what), wanted["result"]}); });
    items.ran();
  }
  items.finish();
}
