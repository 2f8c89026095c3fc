// A run that watches itself: a supervisor initializes the model or restores it, saves while training goes on, writes summaries if it is
// asked to, and stops in order. `--train FOLDER` is the program that supervised.sh kills and starts again.
//
//   folder: checkpoints, events <---- supervisor: its threads, each second -----+ stop
//        | newest, at the start                                                  |
//        v                                                                       |
//   session:  x, y ---> cost ---> W, b, global_step  <---- while (!should_stop()) run(train)
//                 noise --^

#include <leat/graphs.hpp>
#include <leat/summary.hpp>
#include <leat/supervise.hpp>

#include "support/notes.hpp"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

using namespace leat;
using namespace leat::examples;

namespace {

// y_i = 2 x_i + 0.3 sin(7 i), one sample after the other, with noise.
struct line_model {
  output x = placeholder(dtype::float32, {}, "x"), y = placeholder(dtype::float32, {}, "y");
  output w = variable(0.0f, "W"), b = variable(0.0f, "b"), steps = get_or_create_global_step();
  output cost;
  graph_operation train;
  line_model() {
    const auto noise = random_normal_of({}, 0, 0.01, dtype::float32, 11);
    cost = square(w * x + b + noise - y, "cost");
    train = gradient_descent(0.01f).minimize(cost, {.global_step = steps});
  }
  feed_list sample(std::int64_t k) const {
    const auto i = static_cast<double>(k % 100);
    const double at = -1 + 2 * i / 99;
    return {{x, static_cast<float>(at)}, {y, static_cast<float>(2 * at + 0.3 * std::sin(7 * i))}};
  }
};

void supervisor_on_one_machine() {
  item("11.1", "a supervisor: initialized at the first start, restored at the second");
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("leat_notes_11." + std::to_string(::getpid()));
  std::filesystem::remove_all(folder);
  for (const std::int64_t last : {300, 500}) {
    graph g;
    const auto scope = g.as_default();
    const line_model m;
    const auto loss = summary::scalar("loss_function", m.cost);
    const auto init = global_variables_initializer();
    bool initialized = false;
    supervisor sv({.is_chief = true,
                   .init = init,
                   .init_fn = [&](graph_session&) { initialized = true; },
                   .logdir = folder.string(),
                   .summary = {},
                   .save = saver(g, {.max_to_keep = 1}),
                   .global_step = m.steps,
                   .save_model_secs = 1});
    expect_refused<failed_precondition>("a node more", "Graph is finalized and cannot be modified.", [] { constant(1.0f); });
    auto s = sv.managed_session();
    std::int64_t step = integer(s.value(m.steps));
    expect("starts at step", tensor_value(step), static_cast<std::int64_t>(last == 300 ? 0 : 300));
    expect_true("init has run", initialized == (last == 300));
    while (!sv.should_stop()) {
      s.run(m.train, m.sample(step));
      step = integer(s.value(m.steps));
      if (step % 100 == 0) sv.summary_computed(s.run(loss, m.sample(step)), step);
      if (step == last) {
        sv.saver().save(s, (folder / "by-hand").string(), step);
        sv.request_stop();
      }
    }
    sv.stop();
    // Saved by hand, or by the timer at the same step.
    const std::string newest = std::filesystem::path(latest_checkpoint(folder.string()).str()).filename().string();
    expect_true("newest checkpoint: " + newest, newest.ends_with("-" + std::to_string(last)));
  }
  // The session event of the second start, at step 300, takes the place of what was written for that step.
  expect("points of loss_function", tensor_value(static_cast<std::int64_t>(summary::read_scalars(folder).at("loss_function").size())),
         std::int64_t{4});
  std::filesystem::remove_all(folder);

  graph g;
  const auto scope = g.as_default();
  const line_model m;
  const auto init = global_variables_initializer();
  variable(1.0f, "late");
  supervisor sv({.init = init});
  expect_refused<failed_precondition>("a variable made after init", "Variables not initialized: late",
                                      [&] { const auto s = sv.managed_session(); });
}

// Trains to a step, wherever an earlier run was killed, and notes the parameters at each 1,000th step, to the bit.
int train_to(const std::string& folder, std::int64_t last, const std::string& record, bool slowly) {
  graph g;
  const auto scope = g.as_default();
  const line_model m;
  supervisor sv({.logdir = folder, .save = saver(g, {.max_to_keep = 2}), .save_summaries_secs = 0, .save_model_secs = 0.05});
  auto s = sv.managed_session();
  std::int64_t step = integer(s.value(m.steps));
  std::printf("starts at step %lld\n", static_cast<long long>(step));
  std::fflush(stdout);
  std::ofstream out(record, std::ios::app);
  while (!sv.should_stop() && step < last) {
    s.run(m.train, m.sample(step));
    ++step;
    if (step % 1000 == 0) {
      char text[96];
      std::snprintf(text, sizeof text, "%lld %a %a\n", static_cast<long long>(step), static_cast<double>(s.value(m.w).as<float>()),
                    static_cast<double>(s.value(m.b).as<float>()));
      out << text << std::flush;
    }
    if (slowly && step % 5 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  sv.stop();
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  // 11_supervised --train FOLDER STEPS RECORD [slowly]
  if (count >= 5 && std::string_view(arguments[1]) == "--train") {
    try {
      return train_to(arguments[2], std::atoll(arguments[3]), arguments[4], count > 5);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "11_supervised: %s\n", e.what());
      return 2;
    }
  }
  return run_sections(count, arguments,
                      "A supervisor: initializes or restores, saves, stops. --train FOLDER STEPS RECORD: what supervised.sh kills.",
                      {{"supervisor", "two starts in one folder", supervisor_on_one_machine}});
}
