#pragma once
// A hook that stops training when the loss is no number, and finds out where that began. The loss alone does not tell: when it is NaN the
// step that made it so has written NaN to the variables. So the hook keeps what the last two runs began with (variables, feeds, and what
// queues, random numbers and host functions gave), runs them again node by node in a session of its own, and names the first node whose
// result is NaN while its inputs are not. Source: TensorFlow 1.x `train.NanTensorHook`, `NanLossDuringTrainingError`.

#include <leat/core/function_bodies.hpp>
#include <leat/supervise/session_run_hook.hpp>

namespace leat {

/// The loss is NaN. `what()` begins with TensorFlow's words and says where NaN came from.
class nan_loss_during_training : public failed_precondition {
 public:
  using failed_precondition::failed_precondition;
};

struct nan_options {
  bool fail_on_nan_loss = true;  // throws; otherwise logs it and stops after the run
  /// Keeps what runs begin with, so that the node is found. A run then writes variables beside their old values, which costs a copy of
  /// them, and what is fed is copied; without it only variables that hold NaN are named.
  bool locate = true;
  std::ostream* log = nullptr;  // null is standard error
};

/// Watches a tensor of floating point, of any shape. Errors in a run: nan_loss_during_training, before later hooks see the results.
[[nodiscard]] hook nan_tensor(fetch_item loss, nan_options how = {});

/// Where NaN appeared first.
struct nan_origin {
  std::string node;  // its name; of a variable that held NaN before the run, the variable
  bool is_variable = false;
  std::string text;  // the sentence for people
};

/// What a run began with.
struct run_snapshot {
  std::vector<graph_element> fetches;  // of the run
  session_values variables;
  std::vector<std::pair<output, tensor_value>> feeds;  // with what sources gave: queues, random numbers, host functions
};

/// Runs a snapshot again, node by node, and finds the first NaN, in the order in which nodes depend on each other. Nothing if there is none.
std::optional<nan_origin> find_nan(graph& g, const run_snapshot& begun_with);
/// The tensors that a run takes from outside the graph's arithmetic, but for its feeds: from queues, random numbers, host functions.
std::vector<output> sources_of(graph& g, std::span<const graph_element> fetches, std::span<const output> fed);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/supervise/nan_tensor_bodies.hpp>
#endif
