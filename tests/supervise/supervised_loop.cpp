#include <leat/leat.hpp>
#include <leat/planned.hpp>
#include <leat/summary/event_reader.hpp>
#include <leat/supervise/logging_hooks.hpp>
#include <leat/supervise/nan_tensor.hpp>
#include <leat/supervise/progress.hpp>
#include <leat/supervise/run_hooks.hpp>
#include <leat/supervise/signals.hpp>
#include <leat/supervise/stop_at_step.hpp>
#include <leat/supervise/supervised_loop.hpp>

#include "support/scratch_folder.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <fstream>
#include <limits>
#include <sstream>

using namespace leat;
using leat_test::scratch_folder;

namespace {

// Trains w to the mean of what it is fed; returns w and the losses.
template <bool Planned>
std::vector<float> trained(const std::string& folder, std::int64_t last_step, float* w_at_end = nullptr) {
  auto x = placeholder<"x", float, "batch">();
  auto w = variable<"w", float>(4.0f);
  auto loss = reduce_mean(square(x - w));
  auto step = adam(0.1f).minimize(loss);
  std::uint64_t position = 0;  // of the data
  xt::xtensor<float, 1> xs = xt::zeros<float>({8});
  std::vector<float> losses;
  const auto with = [&](auto& s) {
    auto run = s.prepare(fetch(step, summary::scalar<"loss">(loss)), x = xs);
    std::ostringstream log;
    supervised_loop training(s, {.checkpoint_dir = folder,
                                 .save_checkpoint_steps = 5,
                                 .parts = {{"data",
                                            {.save = [&] { return std::to_string(position); },
                                             .restore = [&](const std::string& text) { position = std::stoull(text); }}}},
                                 .save_summaries_steps = 4,
                                 .hooks = {nan_tensor("loss"), stop_at_step(last_step), step_counter({.every_n_steps = 3, .log = &log})},
                                 .log = &log});
    training.loop([&] {
      for (auto& v : xs) v = uniform<float>(7, position++);
      auto results = run();
      losses.push_back(std::get<0>(results));
      return results;
    });
    CHECK(training.global_step() == last_step);
    if (w_at_end != nullptr) *w_at_end = s.value(w);
  };
  if constexpr (Planned) {
    planned_session s{loss, step};
    with(s);
  } else {
    session s{loss, step};
    with(s);
  }
  return losses;
}

}  // namespace

TEST_CASE("a typed session that is stopped and resumed gives the numbers of one that was not") {
  const scratch_folder whole("typed_whole"), parts("typed_parts");
  float at_end = 0, resumed = 0;
  const auto all = trained<false>(whole.path.string(), 23, &at_end);
  auto first = trained<false>(parts.path.string(), 9);
  const auto second = trained<false>(parts.path.string(), 23, &resumed);
  CHECK(first.size() == 9);
  first.insert(first.end(), second.begin(), second.end());
  CHECK(first == all);
  CHECK(resumed == at_end);
  CHECK(summary::read_scalars(parts.path).at("loss").size() == 7);  // steps 1, 5, 9 and 10, 14, 18, 22
  const auto planned = trained<true>(parts.path.string(), 30);
  CHECK(planned.size() == 7);
}

TEST_CASE("values have names: a summary's tag, or the program's") {
  auto x = placeholder<"x", float>();
  auto y = x * x;
  session s{y};
  std::ostringstream log;
  supervised_loop training(s, {.hooks = {logging_tensor({{"square", "y"}}, {.every_n_iter = 1, .log = &log}), stop_at_step(2)}}, {"y"});
  float v = 2;
  training.loop([&] { return s.run(fetch(y), x = v++); });
  CHECK(log.str().starts_with("square = 4\nsquare = 9"));
  CHECK_THROWS_AS(training.run([&] { return s.run(fetch(y), x = v); }), failed_precondition);

  supervised_loop unknown(s, {.hooks = {nan_tensor("loss")}}, {"y"});
  CHECK_THROWS_WITH_AS(unknown.run([&] { return s.run(fetch(y), x = v); }), "the step gives no value 'loss'; it gives 'y'", not_found);
  supervised_loop fed(s, {.hooks = {feed_fn([]() -> feed_list { return {{"x:0", 1.0f}}; })}});
  CHECK_THROWS_AS(fed.run([] {}), failed_precondition);
}

TEST_CASE("NaN in a typed step: the variable that holds it is named") {
  auto x = placeholder<"x", float>();
  auto w = variable<"w", float>(1.0f);
  auto loss = w * x;
  auto step = gradient_descent(1.0f).minimize(loss);
  session s{loss, step};
  supervised_loop training(s, {.hooks = {nan_tensor("loss")}}, {"loss"});
  float v = 1;
  auto run = s.prepare(fetch(loss, step), x = v);
  training.run(run);
  v = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_WITH_AS(training.run(run), "NaN loss during training. In step 2: no variable held NaN before the run.",
                       nan_loss_during_training);
  v = 1;
  CHECK_THROWS_WITH_AS(training.run(run), doctest::Contains("the variable 'w' held NaN before the run."), nan_loss_during_training);
}

TEST_CASE("a typed loop ends by a signal, the end of the input, or an exception") {
  auto x = placeholder<"x", float>();
  session s{x * 2.0f};
  const auto step = [] {};
  struct noting final : session_run_hook {
    int ends = 0;
    void end(watched_session&) override { ++ends; }
  };
  const auto note = std::make_shared<noting>();
  {
    supervised_loop training(s, {.hooks = {note}});
    training.loop([&] {
      if (training.global_step() == 3) throw out_of_range("no more");
    });
    CHECK(note->ends == 1);
  }
  {
    supervised_loop training(s, {.hooks = {note}});
    CHECK_THROWS_AS(training.loop([&] { throw data_loss("corrupt"); }), data_loss);
    CHECK(note->ends == 1);
  }
  std::signal(SIGTERM, SIG_DFL);
  {
    supervised_loop training(s, {.hooks = {note}});
    training.loop([&] {
      if (training.global_step() == 5) std::raise(SIGTERM);
    });
    CHECK(training.global_step() == 6);
    CHECK(training.stopped_by_signal() == SIGTERM);
    CHECK(note->ends == 2);
  }
  stop_signals::clear();
  supervised_loop training(s);
  training.run(step);
  training.close();
  CHECK_THROWS_AS(training.run(step), failed_precondition);
}

TEST_CASE("a checkpoint of another model, and one without a step") {
  const scratch_folder folder("typed_other");
  auto w = variable<"w", float>(4.0f);
  auto v = variable<"v", float, 2>(zeros);
  session one{w * 1.0f};
  session other{v * 1.0f};
  one.initialize();
  saver save;
  save(one, (folder.path / "model.ckpt").string());
  CHECK_THROWS_AS(supervised_loop(one, {.checkpoint_dir = folder.path.string()}), invalid_argument);
  save(one, (folder.path / "model.ckpt").string(), 3);
  CHECK_THROWS_AS(supervised_loop(other, {.checkpoint_dir = folder.path.string()}), not_found);
  supervised_loop training(one, {.checkpoint_dir = folder.path.string()});
  CHECK(training.global_step() == 3);
}
