#pragma once
// Hooks that end training, or hold it back, by the number of steps. Source: TensorFlow 1.x `train.StopAtStepHook`,
// `train.GlobalStepWaiterHook`.

#include <leat/core/function_bodies.hpp>
#include <leat/supervise/session_run_hook.hpp>

#include <concepts>

namespace leat {

/// When to stop; one of the two.
struct stop_options {
  std::optional<std::int64_t> num_steps{};  // after as many steps of this session
  std::optional<std::int64_t> last_step{};  // once the global step has reached it
};

/// Stops after the step that reaches `last_step`, or after `num_steps` further ones. There is one run even if that step is reached before.
/// Errors: invalid_argument unless exactly one is given; in `begin`, failed_precondition without a global step.
[[nodiscard]] hook stop_at_step(const stop_options& when);
template <std::integral Step>
[[nodiscard]] hook stop_at_step(Step last_step) {
  return stop_at_step(stop_options{.num_steps = {}, .last_step = static_cast<std::int64_t>(last_step)});
}

/// How long a worker waits for others.
struct waiter_options {
  seconds timeout{7200};
  seconds poll{0.5};
  std::ostream* log = nullptr;  // told every minute; null is standard error
};

/// Holds the first run back until the global step, which others raise, is at least this. Errors in a run: deadline_exceeded.
[[nodiscard]] hook global_step_waiter(std::int64_t wait_until_step, const waiter_options& how = {});

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/supervise/stop_at_step_bodies.hpp>
#endif
