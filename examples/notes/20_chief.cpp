// What the chief does, and no other worker: first values, checkpoints, event files. All of it is in the options of one program:
//
//    worker 0 (chief): init or restore, save, write ----+                +--> log/model.ckpt-2000.*
//         +--- train ------------------------------+    +--- logdir -----+--> log/events.out.tfevents.*
//                                                  +---- ps 0: W, b, global_step
//    worker 1: wait, then train -------------------+
//
// A process is one role: --item=20.2|20.3|20.4 --job_name=ps|worker --task_index=0 --ps_hosts=... --worker_hosts=... [--logdir=...]
// [--steps=N]; until.sh, half_way.sh and scopes.sh start three.

#include <leat/cluster.hpp>
#include <leat/summary.hpp>
#include <leat/supervise.hpp>

#include "support/notes.hpp"
#include "support/roles.hpp"

#include <atomic>
#include <cmath>
#include <filesystem>
#include <optional>

using namespace leat;
using namespace leat::examples;

namespace {

constexpr int samples = 100;

// A sample's x, and y = 2 x + offset + spread sin(7 i).
feed_list sample(const output& x, const output& y, int i, double offset, double spread) {
  const double at = -1 + 2 * i / 99.0;
  return {{x, static_cast<float>(at)}, {y, static_cast<float>(2 * at + offset + spread * std::sin(7.0 * i))}};
}

// A line and its training, with variables at the parameter server.
struct line {
  output x, y, w, b, cost, steps;
  graph_operation train;
  line(const named_optimizer& o, const server& here) {
    const device replica(replica_device_setter({.worker_device = here.device(), .cluster = here.cluster()}));
    x = placeholder(dtype::float32, {}, "x");
    y = placeholder(dtype::float32, {}, "y");
    w = variable(0.0f, "W");
    b = variable(0.0f, "b");
    cost = square(subtract(add(multiply(x, w), b), y));
    steps = get_or_create_global_step();
    train = o.minimize(cost, {.global_step = steps});
  }
};

supervisor_options supervised(const server& here, const output& steps, const std::string& logdir) {
  return {.is_chief = here.task_index() == 0,
          .logdir = logdir,
          .summary = {},
          .global_step = steps,
          .save_model_secs = 1,
          .max_wait_secs = 60,
          .stop_on_signals = false,
          .session = {.target = here.target(), .device_filters = {"/job:ps", here.device()}}};
}

void tell(const server& here, const char* what, std::int64_t step) {
  std::printf("%s %s at step %lld\n", here.device().c_str(), what, static_cast<long long>(step));
  std::fflush(stdout);
}

struct stretch {
  std::int64_t begin = 0, end = 0;
  int passes = 0;
  float loss = 0;
};

// 20.2: Adagrad, until the loss of the last sample is at most 70. Who ends says so in a variable. The chief saves when all have, since it
// need not be the last.
stretch until_small(const server& here, const std::string& logdir) {
  graph g;
  const auto scope = g.as_default();
  const line m(adagrad(0.01f), here);
  output ended;
  {
    const device replica(replica_device_setter({.worker_device = here.device(), .cluster = here.cluster()}));
    ended = variable(std::int64_t{0}, "workers_ended", {.trainable = false});
  }
  const output end = assign_add(ended, std::int64_t{1});
  supervisor sv(supervised(here, m.steps, logdir));
  auto s = sv.managed_session();
  stretch its{.begin = s.run<std::int64_t>(m.steps)};
  tell(here, "begins", its.begin);
  do {
    for (int i = 0; i < samples; ++i) s.run(m.train, sample(m.x, m.y, i, 10, 0.33));
    its.loss = s.run<float>(m.cost, sample(m.x, m.y, samples - 1, 10, 0.33));
    ++its.passes;
  } while (its.loss > 70 && !sv.should_stop());
  s.run(end);
  const std::int64_t all = here.cluster().num_tasks("worker");
  wait_until("all workers have ended", [&] { return s.run<std::int64_t>(ended) % all == 0; });
  its.end = s.run<std::int64_t>(m.steps);
  if (sv.is_chief() && !logdir.empty()) sv.save_model();
  sv.stop();
  std::printf("%s: passes %d, loss %.4f\n", here.device().c_str(), its.passes, static_cast<double>(its.loss));
  tell(here, "ends", its.end);
  return its;
}

// 20.3: until the counter is at `last`, or the process is asked to end. `initialized` is called by who gives first values.
stretch half_way(const server& here, const std::string& logdir, std::int64_t last, bool stop_on_signals,
                 const std::function<void()>& initialized) {
  graph g;
  const auto scope = g.as_default();
  const line m(gradient_descent(0.01f), here);
  summary::scalar("cost", m.cost);
  const output merged = summary::merge_all();
  supervisor_options how = supervised(here, m.steps, logdir);  // all workers have the folder; it is the chief's
  how.init_fn = [&](graph_session&) { initialized(); };
  how.save = saver({.max_to_keep = 1});
  how.stop_on_signals = stop_on_signals;
  supervisor sv(how);
  auto s = sv.managed_session();
  stretch its{.begin = s.run<std::int64_t>(m.steps)};
  tell(here, "begins", its.begin);
  const auto at_last = sample(m.x, m.y, samples - 1, 0, 0.3);
  if (!sv.is_chief()) {
    expect_refused<failed_precondition>("a summary of worker 1", "requires a summary writer",
                                        [&] { sv.summary_computed(s.run(merged, at_last)); });
    expect_refused<failed_precondition>("a checkpoint of worker 1", "saves nothing", [&] { sv.save_model(); });
    expect_refused<failed_precondition>("its services", "Only chief", [&] { sv.start_standard_services(); });
  }
  its.end = its.begin;
  for (int i = 0; its.end < last && !sv.should_stop(); i = (i + 1) % samples) {
    s.run(m.train, sample(m.x, m.y, i, 0, 0.3));
    its.end = s.run<std::int64_t>(m.steps);
    if (i == samples / 2 && sv.is_chief()) sv.summary_computed(s.run(merged, at_last), its.end);
    if (i == samples - 1) tell(here, "is", its.end);
    if (stop_on_signals) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (sv.is_chief() && !sv.should_stop()) sv.save_model();  // asked to end, it saves by itself
  sv.stop();
  tell(here, "ends", its.end);
  return its;
}

// 20.4: a variable outside of the device scope would be another one in each worker.
void scopes(const server& here, bool supervisor_inside) {
  const bool is_chief = here.task_index() == 0;
  {
    graph g;
    const auto scope = g.as_default();
    variable(1.0f, "lost");
    const line m(gradient_descent(0.01f), here);
    const auto supervise = [&] { const supervisor sv(supervised(here, m.steps, {})); };
    if (is_chief) supervise();  // it would have the variable at its own task
    else
      expect_refused<invalid_argument>("a variable without a device, in worker 1", "must have their device set: name: \"lost\"", supervise);
  }
  graph g;
  const auto scope = g.as_default();
  const line m(gradient_descent(0.01f), here);
  std::optional<device> around;
  if (supervisor_inside) around.emplace(replica_device_setter({.worker_device = here.device(), .cluster = here.cluster()}));
  supervisor sv(supervised(here, m.steps, {}));
  around.reset();
  auto s = sv.managed_session();
  for (int i = 0; i < samples; ++i) s.run(m.train, sample(m.x, m.y, i, 0, 0.3));
  const std::int64_t all = here.cluster().num_tasks("worker") * samples;
  wait_until("all workers have ended", [&] { return s.run<std::int64_t>(m.steps) == all; });
  tell(here, "ends", s.run<std::int64_t>(m.steps));
  sv.stop();
}

int role(int count, char** arguments) {
  const cluster_flags flags(count, arguments);
  server here(flags.role());
  introduce(here);
  const std::string item = argument(flags, "item");
  if (flags.job_name == "ps") here.join();
  else if (item == "20.2") until_small(here, flags.logdir);
  else if (item == "20.3")
    half_way(here, flags.logdir, std::stoll(argument(flags, "steps", "1000000")), true, [&] { tell(here, "gives first values", 0); });
  else if (item == "20.4") scopes(here, argument(flags, "supervisor") == "inside");
  else throw invalid_argument("--item=" + item + " is none of 20.2, 20.3, 20.4");
  return 0;
}

void in_this_process_until_small() {
  item("20.2", "Adagrad by two workers, until the loss is small");
  const std::string logdir = (folder() / "until").string();
  std::int64_t saved = 0;
  for (const bool again : {false, true}) {
    stretch its[2];
    run_in_this_process(1, 2, [&](const server& here, const cluster_spec&) { its[here.task_index()] = until_small(here, logdir); });
    for (const stretch& w : its) {
      expect_true("the last sample's loss is at most 70", w.loss <= 70);
      if (again) {
        expect_true("begins where it had ended, or the other worker's first pass has begun",
                    w.begin >= saved && w.begin <= saved + samples);
        expect("passes", w.passes, 1);
        expect("counter", w.end, saved + 2 * samples);
      } else {
        expect_true("the counter is between 36,000 and 39,000", w.end > 36'000 && w.end < 39'000);
      }
    }
    saved = its[0].end;
  }
}

// The names in a folder that begin so.
int files(const std::string& logdir, std::string_view begin, std::string_view end) {
  int found = 0;
  for (const auto& file : std::filesystem::directory_iterator(logdir)) {
    const std::string name = file.path().filename().string();
    found += name.starts_with(begin) && name.ends_with(end) ? 1 : 0;
  }
  return found;
}

void in_this_process_half_way() {
  item("20.3", "who saves and who writes; stopped half-way and started again");
  const std::string logdir = (folder() / "half_way").string();
  std::int64_t saved = 0;
  for (const int start : {1, 2}) {
    stretch its[2];
    std::atomic<int> initialized = 0;
    run_in_this_process(1, 2, [&](const server& here, const cluster_spec&) {
      its[here.task_index()] = half_way(here, logdir, saved + 1000, false, [&] { ++initialized; });
    });
    expect("first values are given", initialized.load(), start == 1 ? 1 : 0);
    expect("checkpoints", files(logdir, "model.ckpt-", ".json"), 1);
    expect("event files, one for each start of the chief", files(logdir, "events.out.tfevents.", ""), start);
    if (start == 1) expect("the chief begins", its[0].begin, std::int64_t{0});
    else expect_true("both go on from the saved counter", its[0].begin >= saved && its[1].begin >= saved);
    saved = its[0].end;
  }
}

void in_this_process_scopes() {
  item("20.4", "a variable outside of the device scope");
  for (const bool inside : {false, true}) run_in_this_process(1, 2, [&](const server& here, const cluster_spec&) { scopes(here, inside); });
}

}  // namespace

int main(int count, char** arguments) {
  if (has_role(count, arguments)) return run_role([&] { return role(count, arguments); });
  return run_sections(count, arguments, "what the chief does, and no other worker",
                      {{"until", "until the loss is small", in_this_process_until_small},
                       {"half_way", "who saves and who writes", in_this_process_half_way},
                       {"scopes", "a variable outside of the device scope", in_this_process_scopes}});
}
