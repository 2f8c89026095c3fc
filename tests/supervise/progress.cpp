#include <leat/supervise/progress.hpp>
#include <leat/supervise/stop_at_step.hpp>

#include "recorded_hooks.hpp"

#include <algorithm>
#include <sstream>

using namespace leat_test;

TEST_CASE("a line of progress") {
  CHECK(progress_line({.step = 300, .last_step = 1000, .steps_per_second = 250, .loss = 0.1234}, true) ==
        "step 300/1000   30%  [######--------------]  250 steps/s  loss 0.1234  2.8 s left");
  CHECK(progress_line({.step = 0, .last_step = 10}, true) == "step 0/10    0%  [--------------------]");
  CHECK(progress_line({.step = 10, .last_step = 10, .steps_per_second = 5}, true) == "step 10/10  100%  [####################]  5 steps/s");
  CHECK(progress_line({.step = 12, .last_step = 10, .steps_per_second = 5}, false) == "step 12/10  100%  5 steps/s");
  CHECK(progress_line({.step = 7, .steps_per_second = 0.5, .loss = 1e-9}, true) == "step 7  0.5 steps/s  loss 1e-09");
  CHECK(progress_line({.step = 0, .last_step = 1000, .steps_per_second = 4}, false).ends_with("4 min 10 s left"));
  CHECK(progress_line({.step = 0, .last_step = 11520, .steps_per_second = 1}, false).ends_with("3 h 12 min left"));
  CHECK(progress_line({.step = 0, .last_step = 1, .steps_per_second = 1e-300}, false).ends_with("a long time left"));
}

TEST_CASE("progress on a terminal is one line; elsewhere lines") {
  for (const bool terminal : {true, false}) {
    graph g;
    const auto scope = g.as_default();
    const auto m = make_model();
    std::ostringstream out;
    monitored_session s(
        {.hooks = {
             progress(
                 {.last_step = 5, .loss = m.loss, .every = seconds(0), .every_plain = seconds(0), .log = &out, .is_terminal = terminal}),
             stop_at_step(5)}});
    s.loop([&] { s.run(m.train); });
    const std::string text = out.str();
    INFO(text);
    CHECK(std::count(text.begin(), text.end(), '\n') == (terminal ? 1 : 6));
    CHECK(std::count(text.begin(), text.end(), '\r') == (terminal ? 6 : 0));
    CHECK(text.find("step 3/5   60%") != text.npos);
    CHECK(text.find("loss 0.5625") != text.npos);
    CHECK((text.find('[') != text.npos) == terminal);
  }
}
