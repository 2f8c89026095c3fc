#pragma once
// What the tests of recorded training sessions share: the model of the recordings, hooks that note their calls, and the classes of
// Python's errors.

#include <leat/graphs.hpp>
#include <leat/supervise/monitored_session.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <functional>
#include <map>
#include <set>
#include <string>

namespace leat_test {

using namespace leat;
using json = nlohmann::json;

/// w = 4, loss = (w - 1)^2, rate 0.25: the losses are 9, 2.25, 0.5625, ...
struct recorded_model {
  output w, loss, step;
  graph_operation train;
};

inline recorded_model make_model() {
  recorded_model m;
  m.w = variable(4.0f, "w");
  m.loss = square(m.w - 1.0f, "loss");
  m.step = get_or_create_global_step();
  m.train = gradient_descent(0.25f).minimize(m.loss, {.global_step = m.step});
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

/// Plays a recording in a graph of its own, and compares result or error.
inline void play(const json& recorded, const std::function<json()>& observed) {
  graph g;
  const auto scope = g.as_default();
  INFO(recorded["what"].get<std::string>());
  if (recorded["error"].is_null()) {
    json got;
    CHECK_NOTHROW(got = observed());
    const json& wanted = recorded["result"];
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

}  // namespace leat_test
