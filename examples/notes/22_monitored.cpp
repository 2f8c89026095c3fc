// A monitored session: it initializes or restores, calls its hooks around each run, saves, and stops at a step. A cluster's workers do the
// same, each with a session of its own; the chief initializes or restores and saves, the others wait for it.
//
//   begin | after_create_session | before_run, run, after_run | ... | end
//         v                      v                                  v
//   graph finalized      saved at step 0            stop_at_step(2000): saved, closed
//
// A process is one role of a cluster: --job_name=ps|worker --task_index=0 --ps_hosts=... --worker_hosts=... --logdir=... --steps=2000;
// monitored.sh starts three.

#include <leat/graphs.hpp>
#include <leat/supervise.hpp>

#ifdef LEAT_USE_CLUSTER
#include <leat/cluster.hpp>
#endif

#include "support/notes.hpp"
#ifdef LEAT_USE_CLUSTER
#include "support/roles.hpp"
#endif

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

using namespace leat;
using namespace leat::examples;

namespace {

// Notes the order in which it is called.
class order_hook final : public session_run_hook {
 public:
  explicit order_hook(std::vector<std::string>& calls) : calls_(calls) {}
  void begin(const begin_context&) override { note("begin"); }
  void after_create_session(watched_session&, coordinator&) override { note("after_create_session"); }
  session_run_args before_run(session_run_context&) override {
    note("before_run");
    return {};
  }
  void after_run(session_run_context&, const session_run_values&) override { note("after_run"); }
  void end(watched_session&) override { note("end"); }

 private:
  void note(const char* what) {
    if (calls_.size() < 4 || std::string_view(what) == "end") calls_.emplace_back(what);
  }
  std::vector<std::string>& calls_;
};

void one_machine() {
  item("22.1", "initialized, stopped at step 2,000; restored, stopped at step 3,000");
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("leat_notes_22." + std::to_string(::getpid()));
  std::filesystem::remove_all(folder);
  for (const std::int64_t last : {2000, 3000}) {
    graph g;
    const auto scope = g.as_default();
    const auto w = variable(4.0f, "w");
    const auto loss = square(w - 1.0f, "loss");
    const auto steps = get_or_create_global_step();
    const auto train = gradient_descent(0.001f).minimize(loss, {.global_step = steps});
    std::vector<std::string> calls;
    monitored_session s({.checkpoint_dir = folder.string(),
                         .save_summaries_steps = 0,
                         .log_step_count_steps = 0,
                         .hooks = {stop_at_step(last), nan_tensor(loss), std::make_shared<order_hook>(calls)}});
    expect("starts at step", tensor_value(s.global_step()), std::int64_t{last == 2000 ? 0 : 2000});
    while (!s.should_stop()) s.run(train);
    expect("stops at step", tensor_value(s.global_step()), last);
    s.close();
    std::string order;
    for (const auto& c : calls) order += (order.empty() ? "" : ", ") + c;
    expect_text("hooks", order, "begin, after_create_session, before_run, after_run, end");
    expect_text("newest checkpoint", std::filesystem::path(latest_checkpoint(folder.string()).str()).filename().string(),
                "model.ckpt-" + std::to_string(last));
    expect_refused<failed_precondition>("a run after that", "closed", [&] { s.run(train); });
  }
  std::filesystem::remove_all(folder);
}

#ifdef LEAT_USE_CLUSTER
int role(int count, char** arguments) {
  const cluster_flags flags(count, arguments);
  server here(flags.role());
  introduce(here);
  if (flags.job_name == "ps") {
    here.join();
    return 0;
  }
  std::int64_t last = 2000;
  for (const std::string& f : flags.rest)
    if (f.starts_with("--steps=")) last = std::stoll(f.substr(8));
  graph g;
  const auto scope = g.as_default();
  output w, steps;
  graph_operation train;
  {
    const device replica(replica_device_setter({.worker_device = here.device(), .cluster = flags.cluster()}));
    w = variable(4.0f, "w");
    steps = get_or_create_global_step();
    train = gradient_descent(0.001f).minimize(square(w - 1.0f), {.global_step = steps});
  }
  monitored_session s({.is_chief = flags.task_index == 0,
                       .checkpoint_dir = flags.logdir,
                       .save_checkpoint_secs = seconds(0.5),
                       .save_summaries_steps = 0,
                       .log_step_count_steps = 0,
                       .hooks = {stop_at_step(last)},
                       .stop_on_signals = false,
                       .session = {.target = here.target(), .device_filters = {"/job:ps", here.device()}}});
  std::printf("begins at step %lld\n", static_cast<long long>(s.global_step()));
  std::fflush(stdout);
  while (!s.should_stop()) {
    s.run(train);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const auto [at, value] = s.session().run<std::int64_t, float>({steps, w});
  s.close();
  std::printf("%s: steps %lld, w %.6f\n", here.device().c_str(), static_cast<long long>(at), static_cast<double>(value));
  std::fflush(stdout);
  return 0;
}
#endif

}  // namespace

int main(int count, char** arguments) {
#ifdef LEAT_USE_CLUSTER
  if (has_role(count, arguments)) return run_role([&] { return role(count, arguments); });
#endif
  return run_sections(count, arguments, "A monitored session: hooks, checkpoints, and a step at which it stops.",
                      {{"one_machine", "two starts in one folder", one_machine}});
}
