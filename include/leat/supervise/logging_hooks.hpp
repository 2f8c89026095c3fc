#pragma once
// Hooks that log the progress of training: values of tensors, and steps per second. Source: TensorFlow 1.x `train.LoggingTensorHook`,
// `train.StepCounterHook`.

#include <leat/core/function_bodies.hpp>
#include <leat/supervise/second_or_step_timer.hpp>
#include <leat/supervise/session_run_hook.hpp>

#include <functional>
#include <utility>

namespace leat {

/// Tensors with the names under which they are logged, in this order.
using named_fetches = std::vector<std::pair<std::string, fetch_item>>;
/// Formats the values as one line, in the order of the tensors.
using values_formatter = std::function<std::string(const std::vector<std::pair<std::string, tensor_value>>&)>;

/// Options of `logging_tensor`.
struct logging_options {
  std::optional<std::int64_t> every_n_iter{};  // counts runs, beginning with the first
  std::optional<seconds> every_n_secs{};
  bool at_end = false;           // also logs when training ends
  values_formatter formatter{};  // by default "loss = 0.5, w = [1 2] (0.123 sec)"
  std::ostream* log = nullptr;   // null is standard error
};

/// A hook that logs values every `every_n_iter` runs or `every_n_secs` seconds. Errors: invalid_argument unless exactly one of them is
/// given, or `at_end`.
[[nodiscard]] hook logging_tensor(named_fetches tensors, logging_options how);

/// The result of one measurement by a step counter.
struct step_rate {
  std::int64_t global_step = 0;
  double steps_per_second = 0;
};

/// Options of `step_counter`.
struct counter_options {
  std::optional<std::int64_t> every_n_steps{};  // 100 unless every_n_secs is given
  std::optional<seconds> every_n_secs{};
  std::function<void(const step_rate&)> report{};  // by default logs a line, "global_step/sec: 12.5"
  std::ostream* log = nullptr;                     // null is standard error
};

/// A hook that measures steps per second. Errors: in `begin`, failed_precondition without a global step.
[[nodiscard]] hook step_counter(counter_options how = {});

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/supervise/impl/logging_hooks.hpp>
#endif
