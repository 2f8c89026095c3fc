#pragma once
// A hook that stops training when the loss is NaN, and finds the node where NaN first appeared. The loss alone does not show the origin:
// when it is NaN, the step that caused it has already written NaN to the variables. So the hook keeps the inputs of the last two runs
// (variables, feeds, and the values of queues, random number generators and host functions), runs them again node by node in a session of
// its own, and names the first node with a NaN result and inputs without NaN. Source: TensorFlow 1.x `train.NanTensorHook`,
// `NanLossDuringTrainingError`.

#include <leat/core/function_bodies.hpp>
#include <leat/supervise/session_run_hook.hpp>

namespace leat {

/// Thrown if the loss is NaN. `what()` begins with TensorFlow's message and names the origin of the NaN.
class nan_loss_during_training : public failed_precondition {
 public:
  using failed_precondition::failed_precondition;
};

/// Options of `nan_tensor`.
struct nan_options {
  bool fail_on_nan_loss = true;  // throws; if false, logs it and stops after the run
  /// Keeps the inputs of runs, so that the node can be found. A run then writes new values of variables next to the old ones, which costs a
  /// copy of them, and feeds are copied; if false, only variables that hold NaN are named.
  bool locate = true;
  std::ostream* log = nullptr;  // null is standard error
};

/// A hook that checks a floating-point tensor of any shape after each run. Errors: nan_loss_during_training in a run, before later hooks
/// see the results.
[[nodiscard]] hook nan_tensor(fetch_item loss, nan_options how = {});

/// Where NaN first appeared.
struct nan_origin {
  std::string node;  // name of the node, or of a variable that held NaN before the run
  bool is_variable = false;
  std::string text;  // a sentence for the error message
};

/// The inputs of a run.
struct run_snapshot {
  std::vector<graph_element> fetches;  // of the run
  session_values variables;
  std::vector<std::pair<output, tensor_value>> feeds;  // includes the values of sources: queues, random numbers, host functions
};

/// Runs a snapshot again, node by node in topological order, and returns the first node whose result is NaN; empty if there is none.
std::optional<nan_origin> find_nan(graph& g, const run_snapshot& begun_with);
/// The tensors, other than feeds, that a run takes from outside the graph's arithmetic: results of queues, random numbers, host functions.
std::vector<output> sources_of(graph& g, std::span<const graph_element> fetches, std::span<const output> fed);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/supervise/impl/nan_tensor.hpp>
#endif
