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
#include "support/reference_json.hpp"
#include "support/scratch_folder.hpp"

#include <limits>
#include <sstream>
#include <stdexcept>

using namespace leat_test;

namespace {

std::vector<fetch_item> both(const recorded_model& m) { return {m.loss, m.train}; }

json order_of_calls() {
  json log = json::array();
  const auto m = make_model();
  monitored_session s({.hooks = {noting(log, "A", 3), noting(log, "B")}, .chief_only_hooks = {noting(log, "C")}});
  log.push_back("body");
  s.loop([&] { log.push_back("run -> " + python_number(s.run(both(m))[0].as<float>())); });
  log.push_back("left");
  return log;
}

json left_early() {
  json log = json::array();
  const auto m = make_model();
  {
    monitored_session s({.hooks = {noting(log, "A"), noting(log, "B")}});
    s.run(m.train);
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

json with_nan(bool fails) {
  json log = json::array();
  get_or_create_global_step();
  const auto x = placeholder(dtype::float32, {}, "x");
  const auto loss = multiply(x, 2.0f, "loss");
  std::ostringstream told;
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  int run = 0;
  try {
    monitored_session s({.hooks = {nan_tensor(loss, {.fail_on_nan_loss = fails, .log = &told}), noting(log, "T")}});
    s.within([&] {
      while (!s.should_stop()) {
        s.run(loss, {{x, ++run < 3 ? 1.0f : nan}});
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
json thrown_in_body(Throw raise) {
  json log = json::array();
  const auto m = make_model();
  try {
    monitored_session s({.hooks = {noting(log, "A")}});
    s.within([&] {
      s.run(m.train);
      raise();
    });
  } catch (const std::invalid_argument&) {
    log.push_back("raised ValueError");
  }
  return log;
}

json input_that_ends() {
  json log = json::array();
  get_or_create_global_step();
  const auto q = fifo_queue(5, {dtype::float32}, {{}});
  const auto fill = q.enqueue_many({{1.0f, 2.0f}});
  const auto close = q.close();
  const auto item = q.dequeue()[0];
  monitored_session s({.hooks = {noting(log, "A")}});
  s.within([&] {
    s.run(fill);
    s.run(close);
    while (!s.should_stop()) log.push_back("item " + python_number(s.run<float>(item)));
  });
  log.push_back("left quietly");
  return log;
}

json timer() {
  json seen = json::array();
  second_or_step_timer t({.every_steps = 3});
  for (const int step : {0, 1, 2, 3, 3, 4, 5, 6, 9, 10, 20, 21}) {
    const bool due = t.should_trigger_for_step(step);
    if (due) t.update_last_triggered_step(step);
    seen.push_back({step, due});
  }
  return seen;
}

json logging() {
  json log = json::array();
  const auto m = make_model();
  std::ostringstream unused;
  const auto names = [&](const std::vector<std::pair<std::string, tensor_value>>& values) {
    std::string text;
    for (const auto& [name, value] : values) text += (text.empty() ? "" : ",") + name;
    log.push_back("logged " + text);
    return text;
  };
  monitored_session s({.hooks = {logging_tensor({{"loss", m.loss}, {"w", m.w}}, {.every_n_iter = 2, .formatter = names, .log = &unused}),
                                 noting(log, "T")}});
  for (int k = 0; k < 5; ++k) s.run(m.train);
  s.close();
  return log;
}

json step_function() {
  json log = json::array();
  const auto m = make_model();
  monitored_session s({.hooks = {noting(log, "A")}});
  s.run_step_fn([&](const step_context& c) {
    log.push_back("without hooks " + python_number(c.session().run<float>(m.loss)));
    log.push_back("with hooks " + python_number(c.run_with_hooks(m.loss).as<float>()));
  });
  s.close();
  return log;
}

json not_chief() {
  make_model();
  monitored_session s({.is_chief = false, .max_wait = seconds(1)});
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

json checkpoints() {
  json log = json::array();
  const scratch_folder folder("checkpoint_hook");
  const auto train = [&](int last) {
    graph g;
    const auto scope = g.as_default();
    const auto m = make_model();
    monitored_options options{
        .checkpoint_dir = folder.path.string(),
        .save_checkpoint_steps = 0,
        .save_summaries_steps = 0,
        .log_step_count_steps = 0,
        .hooks = {checkpoint_saver(
                      {.checkpoint_dir = folder.path.string(), .save_steps = 2, .listeners = {std::make_shared<noting_listener>(log)}}),
                  stop_at_step(last)}};
    monitored_session s(std::move(options));
    log.push_back("first global_step " + std::to_string(s.global_step()));
    s.loop([&] {
      s.run(m.train);
      log.push_back("step " + std::to_string(s.global_step()));
    });
    log.push_back({{"files", files_in(folder.path)}, {"checkpoint", state_in(folder.path)}});
  };
  train(5);
  log.push_back("again, in a new graph and session");
  train(8);
  return log;
}

json training_session() {
  const scratch_folder folder("training_session");
  const auto m = make_model();
  summary::scalar("loss_function", m.loss);
  json after = json::array();
  std::ostringstream told;
  {
    monitored_training_session s({.checkpoint_dir = folder.path.string(),
                                  .save_checkpoint_secs = seconds(600),
                                  .save_summaries_steps = 2,
                                  .hooks = {stop_at_step(6)},
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

json summaries_every(int steps) {
  const scratch_folder folder("summaries");
  const auto m = make_model();
  const auto loss = summary::scalar("loss_function", m.loss);
  monitored_session s(
      {.hooks = {summary_saver({.save_steps = steps, .output_dir = folder.path.string(), .summary_op = loss}), stop_at_step(7)}});
  s.loop([&] { s.run(m.train); });
  return events_in(folder.path);
}

json counted_every(int steps) {
  const scratch_folder folder("counter");
  const auto m = make_model();
  std::ostringstream told;
  {
    monitored_session s({.hooks = {step_counter(folder.path.string(), {.every_n_steps = steps, .log = &told}), stop_at_step(5)}});
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

json with_scaffold() {
  json log = json::array();
  const auto w = variable(4.0f, "w");
  const auto local = variable(3.0f, "l", {.trainable = false, .collections = {std::string(collection::local_variables)}});
  const auto its = std::make_shared<scaffold>(scaffold_options{
      .init_fn = [&](graph_session& s) { log.push_back("init_fn; initialised: " + python_number(s.value(w).as<float>())); }});
  monitored_session s({.scaffold = its});
  log.push_back("local variable " + python_number(s.run<float>(local)));
  const auto& parts = s.its_scaffold().parts();
  return {{"log", log},
          {"names", {parts.init_op.name(), parts.ready_op.name(), parts.local_init_op.name(), parts.ready_for_local_init_op.name()}}};
}

const std::map<std::string, std::function<json()>>& recordings() {
  static const std::map<std::string, std::function<json()>> all{
      {"order of hook calls; chief_only_hooks; a hook that asks to stop after 3 runs", order_of_calls},
      {"leaving the with block early calls end of each hook", left_early},
      {"StopAtStepHook(last_step=4)", [] { return steps_with([] { return stop_at_step(4); }); }},
      {"StopAtStepHook(num_steps=3)", [] { return steps_with([] { return stop_at_step({.num_steps = 3}); }); }},
      {"StopAtStepHook(last_step=0)", [] { return steps_with([] { return stop_at_step(0); }); }},
      {"StopAtStepHook with both", [] { return steps_with([] { return stop_at_step({.num_steps = 3, .last_step = 4}); }); }},
      {"StopAtStepHook with neither", [] { return steps_with([] { return stop_at_step(stop_options{}); }); }},
      {"run after should_stop is true",
       [] {
         const auto m = make_model();
         monitored_session s({.hooks = {stop_at_step(1)}});
         s.run(m.train);
         s.run(m.train);
         return json();
       }},
      {"run after the session was left",
       [] {
         const auto m = make_model();
         monitored_session s;
         s.close();
         s.run(m.train);
         return json();
       }},
      {"no global step in the graph, StopAtStepHook",
       [] {
         variable(1.0f, "w");
         monitored_session s({.hooks = {stop_at_step(1)}});
         return json();
       }},
      {"adding a node inside the session: the graph is finalized",
       [] {
         make_model();
         monitored_session s;
         constant(1.0f);
         return json();
       }},
      {"NanTensorHook(fail_on_nan_loss=True)", [] { return with_nan(true); }},
      {"NanTensorHook(fail_on_nan_loss=False)", [] { return with_nan(false); }},
      {"a ValueError in the body: end is not called", [] { return thrown_in_body([] { throw std::invalid_argument("from the body"); }); }},
      {"an OutOfRangeError in the body ends quietly", [] { return thrown_in_body([] { throw out_of_range("no more"); }); }},
      // C++ has no StopIteration: the end of an input is out_of_range.
      {"a StopIteration in the body ends quietly", [] { return thrown_in_body([] { throw out_of_range("no more"); }); }},
      {"reading past the end of input (OutOfRangeError in run) ends the loop quietly", input_that_ends},
      {"SecondOrStepTimer(every_steps=3)", timer},
      {"LoggingTensorHook(every_n_iter=2) over 5 runs", logging},
      {"not chief, variables never initialised, max_wait_secs=1", not_chief},
      {"run_step_fn", step_function},
      {"CheckpointSaverHook(save_steps=2) for 5 steps, then a restart to 8", checkpoints},
      {"MonitoredTrainingSession(checkpoint_dir, save_checkpoint_secs=600, save_summaries_steps): saves at step 0 and at the end",
       training_session},
      {"CheckpointSaverHook with both save_steps and save_secs",
       [] { return json(checkpoint_saver({.checkpoint_dir = ".", .save_steps = 1, .save_secs = seconds(1)}) == nullptr); }},
      {"SummarySaverHook(save_steps=2)", [] { return summaries_every(2); }},
      {"SummarySaverHook(save_steps=1)", [] { return summaries_every(1); }},
      {"StepCounterHook(every_n_steps=2)", [] { return counted_every(2); }},
      {"Scaffold: init_fn runs after init_op; local variables are initialised; names of the nodes made", with_scaffold},
  };
  return all;
}

}  // namespace

TEST_CASE("monitored sessions and hooks do what was recorded") {
  const auto file = reference_json("training.json");
  if (!file) return;
  int played = 0;
  std::string others;
  for (const json& recorded : (*file)["monitored"]) {
    const auto found = recordings().find(recorded["what"].get<std::string>());
    if (found == recordings().end()) {
      others += "\n  " + recorded["what"].get<std::string>();
      continue;
    }
    json wanted = recorded;
    if (!wanted["result"].is_null()) wanted["result"] = only_checkpoints(wanted["result"]);
    if (wanted["result"].contains("last_nodes")) wanted["result"].erase("last_nodes");  // the saver adds no nodes here
    play(wanted, found->second);
    ++played;
  }
  CHECK(played == static_cast<int>(recordings().size()));
  CHECK(others == "");
}
