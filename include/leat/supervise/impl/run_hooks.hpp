#pragma once
// Implementation of run_hooks.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/inspect/trace.hpp>
#include <leat/supervise/run_hooks.hpp>

#include <filesystem>

namespace leat {

namespace detail {

class feed_fn_hook final : public session_run_hook {
 public:
  explicit feed_fn_hook(std::function<feed_list()> feeds) : feeds_(std::move(feeds)) {
    if (!feeds_) throw invalid_argument("feed_fn: no function");
  }
  session_run_args before_run(session_run_context&) override { return {.feeds = feeds_()}; }

 private:
  std::function<feed_list()> feeds_;
};

class profiler_hook final : public session_run_hook {
 public:
  explicit profiler_hook(profiler_options how)
      : how_(std::move(how)), timer_({.every_steps = how_.save_steps, .every_secs = how_.save_secs}) {}
  void begin(const begin_context& c) override { require_global_step(c.has_global_step, "ProfilerHook"); }
  void after_create_session(watched_session&, coordinator&) override { next_.reset(); }
  session_run_args before_run(session_run_context& c) override {
    due_ = c.session().of_graph() != nullptr && next_ && timer_.should_trigger_for_step(*next_);
    if (!due_) return {};
    trace_.clear();
    return {.trace = &trace_};
  }
  void after_run(session_run_context& c, const session_run_values&) override {
    const std::int64_t step = c.session().global_step();
    if (due_) {
      timer_.update_last_triggered_step(step);
      std::filesystem::create_directories(how_.output_dir);
      trace_.write_chrome_trace((std::filesystem::path(how_.output_dir) / ("timeline-" + std::to_string(step) + ".json")).string());
    }
    next_ = step + 1;
  }

 private:
  profiler_options how_;
  second_or_step_timer timer_;
  run_trace trace_;
  std::optional<std::int64_t> next_;
  bool due_ = false;
};

}  // namespace detail

LEAT_FUNCTION hook feed_fn(std::function<feed_list()> feeds) { return std::make_shared<detail::feed_fn_hook>(std::move(feeds)); }
LEAT_FUNCTION hook profiler(profiler_options how) { return std::make_shared<detail::profiler_hook>(std::move(how)); }

}  // namespace leat
