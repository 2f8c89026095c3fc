// A monitored session on one machine: it initializes or restores, calls its hooks around each run, saves, and stops at a step. A cluster's
// workers do the same, each with a session of its own.
//
//   begin | after_create_session | before_run, run, after_run | ... | end
//         v                      v                                  v
//   graph finalized      saved at step 0            stop_at_step(2000): saved, closed

#include <leat/graphs.hpp>
#include <leat/supervise.hpp>

#include "support/notes.hpp"

#include <unistd.h>

#include <filesystem>

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

}  // namespace

int main(int count, char** arguments) {
  return run_sections(count, arguments, "A monitored session: hooks, checkpoints, and a step at which it stops.",
                      {{"one_machine", "two starts in one folder", one_machine}});
}
