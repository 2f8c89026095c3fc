#pragma once
// Hooks that end training, or delay it, depending on the number of steps. Source: TensorFlow 1.x `train.StopAtStepHook`,
// `train.GlobalStepWaiterHook`.

#include <leat/core/function_bodies.hpp>
#include <leat/supervise/session_run_hook.hpp>

#include <concepts>

namespace leat {

/// When to stop; exactly one member is given.
struct stop_options {
  std::optional<std::int64_t> num_steps{};  // after this many steps of this session
  std::optional<std::int64_t> last_step{};  // when the global step has reached this value
};

/// A hook that stops training after the step that reaches `last_step`, or after `num_steps` further steps. At least one run takes place,
/// even if that step was reached before.
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
  std::ostream* log = nullptr;  // a line every minute; null is standard error
};

/// A hook that delays the first run until the global step, which other workers increase, is at least this. Errors in a run:
/// deadline_exceeded.
[[nodiscard]] hook global_step_waiter(std::int64_t wait_until_step, const waiter_options& how = {});

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/supervise/impl/stop_at_step.hpp>
#endif
