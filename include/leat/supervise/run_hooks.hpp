#pragma once
// Hooks that feed each run, run fetches when training ends, and trace some of the runs.
// Source: TensorFlow 1.x `train.FeedFnHook`, `train.FinalOpsHook`, `train.ProfilerHook`.

#include <leat/core/function_bodies.hpp>
#include <leat/supervise/second_or_step_timer.hpp>
#include <leat/supervise/session_run_hook.hpp>

#include <functional>

namespace leat {

/// A hook that calls a function before each run and feeds what it returns. Arrays that the feeds borrow must live until the run has ended.
[[nodiscard]] hook feed_fn(std::function<feed_list()> feeds);

/// Runs fetches when training ends, and keeps their values.
class final_ops_hook final : public session_run_hook {
 public:
  explicit final_ops_hook(std::vector<fetch_item> fetches, feed_list feeds = {}) : fetches_(std::move(fetches)), feeds_(std::move(feeds)) {}
  void end(watched_session& s) override { values_ = s.evaluate(fetches_, feeds_); }
  /// The values in the order of the fetches; empty before the end.
  const std::vector<tensor_value>& values() const { return values_; }

 private:
  std::vector<fetch_item> fetches_;
  feed_list feeds_;
  std::vector<tensor_value> values_;
};
/// A hook that runs these fetches when training ends, and keeps their values. Source: TensorFlow `FinalOpsHook`.
[[nodiscard]] inline std::shared_ptr<final_ops_hook> final_ops(std::vector<fetch_item> fetches, feed_list feeds = {}) {
  return std::make_shared<final_ops_hook>(std::move(fetches), std::move(feeds));
}

/// Options of `profiler`; exactly one of save_steps and save_secs is given.
struct profiler_options {
  std::optional<std::int64_t> save_steps{};
  std::optional<seconds> save_secs{};
  std::string output_dir = ".";  // created if it is missing
};

/// A hook that traces a run every `save_steps` steps or `save_secs` seconds and writes it to "timeline-STEP.json", a Chrome trace. The
/// second run is the first to be traced, because the first one includes planning. Errors: invalid_argument unless exactly one of save_steps
/// and save_secs is given; in `begin`, failed_precondition without a global step. Typed expressions have no trace, so nothing is written
/// for them.
[[nodiscard]] hook profiler(profiler_options how);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/supervise/impl/run_hooks.hpp>
#endif
