#pragma once
// Implementation of stop_at_step.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/supervise/stop_at_step.hpp>

#include <chrono>
#include <iostream>

namespace leat {

namespace detail {

class stop_at_step_hook final : public session_run_hook {
 public:
  explicit stop_at_step_hook(const stop_options& when) : when_(when) {
    if (when.num_steps && when.last_step) throw invalid_argument("Only one of num_steps or last_step can be specified.");
    if (!when.num_steps && !when.last_step) throw invalid_argument("One of num_steps or last_step must be specified.");
  }
  void begin(const begin_context& c) override { require_global_step(c.has_global_step, "StopAtStepHook"); }
  void after_create_session(watched_session& s, coordinator&) override {
    // After a recovery, the new session keeps the same last step.
    if (!last_) last_ = when_.last_step ? *when_.last_step : s.global_step() + *when_.num_steps;
  }
  void after_run(session_run_context& c, const session_run_values&) override {
    if (c.session().global_step() >= *last_) c.request_stop();
  }

 private:
  stop_options when_;
  std::optional<std::int64_t> last_;
};

class global_step_waiter_hook final : public session_run_hook {
 public:
  global_step_waiter_hook(std::int64_t step, const waiter_options& how) : step_(step), how_(how) {}
  void begin(const begin_context& c) override { require_global_step(c.has_global_step, "GlobalStepWaiterHook"); }
  void after_create_session(watched_session&, coordinator& c) override { coordinator_ = &c; }
  session_run_args before_run(session_run_context& c) override {
    if (done_ || step_ <= 0) return {};
    using clock = std::chrono::steady_clock;
    const auto start = clock::now();
    auto told = start;
    std::ostream& log = how_.log != nullptr ? *how_.log : std::cerr;
    for (;;) {
      const std::int64_t now = c.session().global_step();
      if (now >= step_) break;
      if (seconds(clock::now() - start) >= how_.timeout)
        throw deadline_exceeded("the global step is " + std::to_string(now) + " after waiting " + std::to_string(how_.timeout.count()) +
                                " s for step " + std::to_string(step_));
      if (told == start || clock::now() - told > seconds(60)) {
        log << "Waiting for global step " << step_ << " before starting training. Current step is " << now << ".\n";
        told = clock::now();
      }
      if (coordinator_->wait_for_stop(how_.poll)) return {};
    }
    done_ = true;
    return {};
  }

 private:
  std::int64_t step_;
  waiter_options how_;
  coordinator* coordinator_ = nullptr;
  bool done_ = false;
};

}  // namespace detail

LEAT_FUNCTION hook stop_at_step(const stop_options& when) { return std::make_shared<detail::stop_at_step_hook>(when); }
LEAT_FUNCTION hook global_step_waiter(std::int64_t wait_until_step, const waiter_options& how) {
  return std::make_shared<detail::global_step_waiter_hook>(wait_until_step, how);
}

}  // namespace leat
