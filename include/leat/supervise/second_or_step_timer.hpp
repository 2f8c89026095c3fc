#pragma once
// Decides when a hook acts: every few steps, or every few seconds. Source: TensorFlow 1.x `train.SecondOrStepTimer`.

#include <leat/core/error.hpp>
#include <leat/supervise/coordinator.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

namespace leat {

/// The interval of a timer; exactly one member is given.
struct timer_options {
  std::optional<std::int64_t> every_steps{};
  std::optional<seconds> every_secs{};
};

class second_or_step_timer {
 public:
  using clock = std::chrono::steady_clock;

  /// Errors: invalid_argument unless exactly one interval is given and above 0.
  explicit second_or_step_timer(const timer_options& often) : often_(often) {
    if (often.every_steps && often.every_secs) throw invalid_argument("Can not provide both every_secs and every_steps.");
    if (!often.every_steps && !often.every_secs) throw invalid_argument("Either every_secs or every_steps should be provided.");
    if (often.every_steps) {
      if (*often.every_steps < 1)
        throw invalid_argument("every_steps is " + std::to_string(*often.every_steps) + "; it is a number of steps above 0");
    } else if (!(often.every_secs->count() > 0)) {
      throw invalid_argument("every_secs is " + std::to_string(often.every_secs->count()) + "; it is a time above 0");
    }
  }

  void reset() { last_.reset(); }
  /// Whether the hook is to act at this step: at the first step, and when the interval has passed since the last action; never twice at one
  /// step.
  bool should_trigger_for_step(std::int64_t step) const {
    if (!last_) return true;
    if (last_->first == step) return false;
    if (often_.every_secs) return clock::now() >= last_->second + *often_.every_secs;
    return step >= last_->first + *often_.every_steps;
  }
  /// Records that the hook acted at this step. Returns the seconds and steps since the previous action; empty at the first.
  std::optional<std::pair<seconds, std::int64_t>> update_last_triggered_step(std::int64_t step) {
    const auto now = clock::now();
    std::optional<std::pair<seconds, std::int64_t>> since;
    if (last_) since.emplace(now - last_->second, step - last_->first);
    last_.emplace(step, now);
    return since;
  }
  std::optional<std::int64_t> last_triggered_step() const { return last_ ? std::optional(last_->first) : std::nullopt; }

 private:
  timer_options often_;
  std::optional<std::pair<std::int64_t, clock::time_point>> last_;
};

}  // namespace leat
