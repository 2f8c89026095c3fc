// Saving and restoring variables. With `--folder log` the checkpoints stay there, for `leat show log`:
//
//    session --- save(s, "log/model", step) ---> log/model-3  ---> restore(s, latest_checkpoint("log")) ---> session
//                                                log/checkpoint: which is the newest

#include <leat/checkpoint.hpp>
#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/session/graph_session.hpp>

#include "support/notes.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <random>

using namespace leat;
using namespace leat::examples;

namespace {

struct line {
  graph g;
  default_graph_scope here = g.as_default();
  output w = variable(0.3f, "W"), b = variable(-0.3f, "b");
  output step = get_or_create_global_step();
  graph_session s{g};
  void set(std::int64_t number) {
    s.assign(w, std::sqrt(static_cast<float>(number)));
    s.assign(b, -static_cast<float>(number));
    s.assign(step, number);
  }
  bool holds(std::int64_t number) {
    return s.run<float>(w) == std::sqrt(static_cast<float>(number)) && s.run<float>(b) == -static_cast<float>(number) &&
           s.run<std::int64_t>(step) == number;
  }
};

// Another process, which ends with what `f` says.
template <class F>
pid_t start(F f) {
  const pid_t process = ::fork();
  if (process == 0) std::_Exit(f() ? 0 : 1);
  return process;
}
bool is_well(pid_t process) {
  int status = 1;
  ::waitpid(process, &status, 0);
  return status == 0;
}

void rotated() {
  item("10.1", "a saver that keeps one");
  const std::string log = (folder() / "log").string();
  line l;
  saver save({.max_to_keep = 1});
  for (const int step : {1, 2, 3}) {
    l.set(step);
    expect_text("saved", std::filesystem::path(save(l.s, log + "/model", l.step)).filename().string(), "model-" + std::to_string(step));
  }
  expect("kept", static_cast<int>(save.last_checkpoints().size()), 1);
  expect_true("the first two are gone", !checkpoint_exists(log + "/model-1") && !checkpoint_exists(log + "/model-2"));
  expect_true("a new process restores W and b to the bit", is_well(start([&] {
                line other;
                saver().restore(other.s, latest_checkpoint(log));
                return other.s.value(other.w).as<float>() == std::sqrt(3.0f) && other.s.value(other.b).as<float>() == -3.0f;
              })));

  auto w = leat::variable<"W", float>(0.0f);
  auto b = leat::variable<"b", float>(0.0f);
  session t{w * b};
  saver typed({.var_list = {w, b}});
  typed.restore(t, latest_checkpoint(log));
  expect("W in a typed session", t.value(w), std::sqrt(3.0f));
  expect("b", t.value(b), -3.0f);

  graph other;
  auto here = other.as_default();
  variable({0.0f, 0.0f}, "W");
  variable(0.0f, "bias");
  graph_session s(other);
  for (const char* words : {"lacks the variables 'bias' (nearest: 'b')",
                            "'W' is float32 [] in the checkpoint, but the variable float32 [2]", "it also has 'b', 'global_step'"})
    expect_refused<invalid_argument>("another model's checkpoint", words, [&] { saver().restore(s, latest_checkpoint(log)); });
}

void killed() {
  item("10.1", "killed at 100 random moments of saving");
  const std::string log = (folder() / "killed").string();
  std::mt19937 random(1);
  int broken = 0;
  std::int64_t newest = 0;
  for (int k = 0; k < 100; ++k) {
    const pid_t process = start([&] {
      line l;
      saver save({.max_to_keep = 1});
      for (std::int64_t step = newest + 1;; ++step) {
        l.set(step);
        save(l.s, log + "/model", step);
      }
      return false;
    });
    ::usleep(std::uniform_int_distribution<unsigned>(5'000, 60'000)(random));
    ::kill(process, SIGKILL);
    is_well(process);
    line l;
    if (!restore_latest(l.s, log)) continue;  // not one was saved yet
    const auto step = l.s.value(l.step).as<std::int64_t>();
    if (step < newest || !l.holds(step)) ++broken;
    newest = step;
  }
  expect("checkpoints that were not whole, or older than one before", broken, 0);
  expect_true("some were saved", newest > 0);
}

void initialized_after() {
  item("10.2", "do not initialize after restoring");
  const std::string log = (folder() / "log").string();
  line l;
  l.set(5);
  saver save;
  save(l.s, log + "/again", 5);
  line other;
  saver().restore(other.s, log + "/again-5");
  expect_true("restored variables need no initializer", other.s.uninitialized_variables().empty());
  expect("W", other.s.run(other.w), std::sqrt(5.0f));
  other.s.run(variables_initializer({other.w, other.b, other.step}));
  expect("W after its initializer: warning, first values again", other.s.run(other.w), 0.3f);
}

}  // namespace

int main(int count, char** arguments) {
  return run_sections(count, arguments, "Checkpoints: saving and restoring variables.",
                      {{"rotated", "one is kept, and restored by others", rotated},
                       {"killed", "signal 9 while saving", killed},
                       {"initialized_after", "first values again", initialized_after}});
}
