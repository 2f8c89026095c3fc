#pragma once
// Hooks that tell how training goes: values of tensors, and steps a second. Source: TensorFlow 1.x `train.LoggingTensorHook`,
// `train.StepCounterHook`.

#include <leat/core/function_bodies.hpp>
#include <leat/supervise/second_or_step_timer.hpp>
#include <leat/supervise/session_run_hook.hpp>

#include <functional>
#include <utility>

namespace leat {

/// Tensors with the names that they are logged under, in this order.
using named_fetches = std::vector<std::pair<std::string, fetch_item>>;
/// Makes a line of values, in the order of the tensors.
using values_formatter = std::function<std::string(const std::vector<std::pair<std::string, tensor_value>>&)>;

struct logging_options {
  std::optional<std::int64_t> every_n_iter{};  // runs, beginning with the first
  std::optional<seconds> every_n_secs{};
  bool at_end = false;           // also when training ends
  values_formatter formatter{};  // otherwise "loss = 0.5, w = [1 2] (0.123 sec)"
  std::ostream* log = nullptr;   // null is standard error
};

/// Logs values every so many runs or seconds. Errors: invalid_argument unless one of every_n_iter and every_n_secs is given, or `at_end`.
[[nodiscard]] hook logging_tensor(named_fetches tensors, logging_options how);

/// What a step counter found.
struct step_rate {
  std::int64_t global_step = 0;
  double steps_per_second = 0;
};

struct counter_options {
  std::optional<std::int64_t> every_n_steps{};  // 100 unless every_n_secs is given
  std::optional<seconds> every_n_secs{};
  std::function<void(const step_rate&)> report{};  // otherwise a line in the log, "global_step/sec: 12.5"
  std::ostream* log = nullptr;                     // null is standard error
};

/// Measures how many steps a second there are. In `begin`: failed_precondition without a global step.
[[nodiscard]] hook step_counter(counter_options how = {});

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/supervise/logging_hooks_bodies.hpp>
#endif
