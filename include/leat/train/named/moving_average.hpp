#pragma once
// Exponential moving averages of variables and tensors of graphs with names. Formulas: train/averages.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/operand.hpp>

#include <map>
#include <memory>

namespace leat {

/// Options of `exponential_moving_average`; the defaults are TensorFlow's.
struct moving_average_options {
  output num_updates{};      // a counter n, with which the decay is lower at first: min(decay, (1 + n) / (10 + n))
  bool zero_debias = false;  // corrects the averages of tensors for their start at 0
  std::string name = "ExponentialMovingAverage";
};

/// Keeps exponential moving averages of variables and tensors: `exponential_moving_average ema(0.99f); auto update = ema.apply();`. Each
/// update subtracts (1 - decay)(average - value) from the average, a variable "w/ExponentialMovingAverage". A variable's average starts
/// with the variable's initial value, another tensor's with 0. Copies refer to the same averages. Source: TensorFlow
/// `train.ExponentialMovingAverage`.
class exponential_moving_average {
 public:
  explicit exponential_moving_average(const operand_value& decay, const moving_average_options& options = {});

  /// The name of the averages' scope.
  const std::string& name() const;
  /// The operation that updates the averages of these variables and tensors, or of all trainable variables. Averages that do not exist yet
  /// are made. Variables are added to the collection `moving_average_variables`.
  /// Errors: invalid_argument for a tensor that is not floating point, or of unknown shape; for tensors of several graphs.
  /// Source: `ExponentialMovingAverage.apply`.
  graph_operation apply(const std::vector<output>& variables, const std::source_location& where = std::source_location::current());
  graph_operation apply(const std::source_location& where = std::source_location::current());

  /// The average of a variable or tensor, empty before `apply`. Source: `ExponentialMovingAverage.average`.
  output average(const output& of) const;
  /// The name of the average of a variable or tensor, or the name that it would have. Source: `ExponentialMovingAverage.average_name`.
  std::string average_name(const output& of) const;
  /// Names in a checkpoint and the variables to restore from them, for evaluating a model with averages: a variable that has an average is
  /// restored from the average's name. By default these are the trainable variables and the collection `moving_average_variables`; all
  /// other global variables follow under their own names. Source: `ExponentialMovingAverage.variables_to_restore`.
  std::map<std::string, output> variables_to_restore(const std::vector<output>& averaged) const;
  std::map<std::string, output> variables_to_restore() const;

 private:
  struct state;
  output make_average(const output& of);
  std::shared_ptr<state> state_;
};

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/train/named/impl/moving_average.hpp>
#endif
