#pragma once
// Exponential moving averages of variables and tensors of graphs with names. Formulas: train/averages.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/named_operand.hpp>

#include <map>
#include <memory>

namespace leat {

/// Settings of `exponential_moving_average`; the defaults are TensorFlow's.
struct moving_average_options {
  output num_updates{};      // a counter: the decay is less at first, min(decay, (1 + n) / (10 + n))
  bool zero_debias = false;  // averages of tensors, which start at 0, are corrected for that
  std::string name = "ExponentialMovingAverage";
};

/// Averages that a program keeps beside variables: `exponential_moving_average ema(0.99f); auto update = ema.apply();`. Each update takes
/// (1 - decay)(average - value) off the average, a variable "w/ExponentialMovingAverage". A variable's average starts with its first value,
/// another tensor's with 0. Copies refer to the same averages. Source: TensorFlow `train.ExponentialMovingAverage`.
class exponential_moving_average {
 public:
  explicit exponential_moving_average(const operand_value& decay, const moving_average_options& options = {});

  const std::string& name() const;
  /// The operation that updates the averages of these variables and tensors, or of all trainable variables; makes averages that are
  /// missing. Variables are added to the collection `moving_average_variables`.
  /// Errors: invalid_argument for a tensor that is not floating point, or of unknown shape; for tensors of several graphs.
  /// Source: `ExponentialMovingAverage.apply`.
  graph_operation apply(const std::vector<output>& variables, const std::source_location& where = std::source_location::current());
  graph_operation apply(const std::source_location& where = std::source_location::current());

  /// The average of a variable or tensor, empty before `apply`. Source: `ExponentialMovingAverage.average`.
  output average(const output& of) const;
  /// The name of its average, or the name that it would have. Source: `ExponentialMovingAverage.average_name`.
  std::string average_name(const output& of) const;
  /// Names in a checkpoint and the variables to restore from them: averages in place of what has one, for evaluating with averages. By
  /// default those of trainable variables and of the collection `moving_average_variables`; all other global variables follow under
  /// their own names. Source: `ExponentialMovingAverage.variables_to_restore`.
  std::map<std::string, output> variables_to_restore(const std::vector<output>& averaged) const;
  std::map<std::string, output> variables_to_restore() const;

 private:
  struct state;
  output make_average(const output& of);
  std::shared_ptr<state> state_;
};

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/train/moving_average_bodies.hpp>
#endif
