// What TensorFlow's monitored sessions and hooks were recorded to do, played here.

#include <leat/supervise/logging_hooks.hpp>
#include <leat/supervise/monitored_session.hpp>
#include <leat/supervise/nan_tensor.hpp>
#include <leat/supervise/run_hooks.hpp>
#include <leat/supervise/second_or_step_timer.hpp>
#include <leat/supervise/stop_at_step.hpp>

#include "recorded_hooks.hpp"
#include "support/reference_json.hpp"

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
    play(recorded, found->second);
    ++played;
  }
  CHECK(played == static_cast<int>(recordings().size()));
  CHECK(others == "");
}
