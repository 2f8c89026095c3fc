#pragma once
// Learning rates that fall with the step counter, in graphs with names: TensorFlow's nodes and names, by the formulas of
// train/schedules.hpp. A number as a rate is float32, as TensorFlow makes it; the counter's dtype may be any.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/named_operand.hpp>

namespace leat {

/// Settings of a decaying rate.
struct decay_options {
  bool staircase = false;  // whole periods count
  std::string name{};      // of the result; default: TensorFlow's, "ExponentialDecay"
};
/// rate decay_rate^(step / decay_steps), a scalar.
/// Errors: invalid_argument without a step, and for a rate that is not floating point. Source: TensorFlow `train.exponential_decay`.
output exponential_decay(const operand_value& rate, const output& step, const operand_value& decay_steps, const operand_value& decay_rate,
                         const decay_options& options = {}, const std::source_location& where = std::source_location::current());
/// rate e^(-decay_rate step / decay_steps), a scalar. Errors: as `exponential_decay`. Source: TensorFlow `train.natural_exp_decay`.
output natural_exp_decay(const operand_value& rate, const output& step, const operand_value& decay_steps, const operand_value& decay_rate,
                         const decay_options& options = {}, const std::source_location& where = std::source_location::current());
/// rate / (1 + decay_rate step / decay_steps), a scalar. Errors: as `exponential_decay`. Source: TensorFlow `train.inverse_time_decay`.
output inverse_time_decay(const operand_value& rate, const output& step, const operand_value& decay_steps, const operand_value& decay_rate,
                          const decay_options& options = {}, const std::source_location& where = std::source_location::current());

/// Settings of `polynomial_decay`.
struct polynomial_decay_options {
  operand_value end_learning_rate = 0.0001f;
  operand_value power = 1.0f;
  bool cycle = false;  // begins again, over the first multiple of decay_steps that the step has not passed
  std::string name = "PolynomialDecay";
};
/// (rate - end)(1 - step / decay_steps)^power + end, then `end`; a scalar. Errors: as `exponential_decay`.
/// Source: TensorFlow `train.polynomial_decay`.
output polynomial_decay(const operand_value& rate, const output& step, const operand_value& decay_steps,
                        const polynomial_decay_options& options = {}, const std::source_location& where = std::source_location::current());

/// Settings of `cosine_decay`.
struct cosine_decay_options {
  operand_value alpha = 0.0f;  // the part of the rate that stays
  std::string name = "CosineDecay";
};
/// rate ((1 - alpha)(1 + cos(π x)) / 2 + alpha), x = step / decay_steps, at most 1; a scalar. Errors: as `exponential_decay`.
/// Source: TensorFlow `train.cosine_decay`.
output cosine_decay(const operand_value& rate, const output& step, const operand_value& decay_steps,
                    const cosine_decay_options& options = {}, const std::source_location& where = std::source_location::current());

/// Settings of `cosine_decay_restarts`.
struct cosine_decay_restarts_options {
  operand_value t_mul = 2.0f;  // how much longer the next period is
  operand_value m_mul = 1.0f;  // how much of the rate it starts with
  operand_value alpha = 0.0f;
  std::string name = "SGDRDecay";
};
/// `cosine_decay` that begins again after each period; a scalar. Errors: as `exponential_decay`.
/// Source: TensorFlow `train.cosine_decay_restarts`.
output cosine_decay_restarts(const operand_value& rate, const output& step, const operand_value& first_decay_steps,
                             const cosine_decay_restarts_options& options = {},
                             const std::source_location& where = std::source_location::current());

/// Settings of `linear_cosine_decay`.
struct linear_cosine_decay_options {
  operand_value num_periods = 0.5f;
  operand_value alpha = 0.0f;
  operand_value beta = 0.001f;
  std::string name = "LinearCosineDecay";
};
/// rate ((alpha + 1 - x)(1 + cos(2 π num_periods x)) / 2 + beta), x = step / decay_steps, at most 1; a scalar.
/// Errors: as `exponential_decay`. Source: TensorFlow `train.linear_cosine_decay`.
output linear_cosine_decay(const operand_value& rate, const output& step, const operand_value& decay_steps,
                           const linear_cosine_decay_options& options = {},
                           const std::source_location& where = std::source_location::current());

/// The first value while step <= the first boundary, and so on; the last value afterwards: `piecewise_constant(step, {1000, 2000},
/// {0.1f, 0.01f, 0.001f})`. The values have one dtype; boundaries have the step's, but int32 ones may stand beside an int64 step.
/// Errors: invalid_argument for dtypes that do not fit, and if there is not one value more than boundaries.
/// Source: TensorFlow `train.piecewise_constant`.
output piecewise_constant(const output& step, const std::vector<operand_value>& boundaries, const std::vector<operand_value>& values,
                          std::string_view name = "PiecewiseConstant", const std::source_location& where = std::source_location::current());

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/train/named_schedules_bodies.hpp>
#endif
