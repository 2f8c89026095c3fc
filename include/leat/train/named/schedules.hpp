#pragma once
// Learning rates that decay with the step counter, in graphs with names: TensorFlow's nodes and names, by the formulas of
// train/schedules.hpp. A plain value as a rate is float32, as in TensorFlow; the counter may have any dtype.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/operand.hpp>

namespace leat {

/// Options of a decaying rate.
struct decay_options {
  bool staircase = false;  // the rate changes only after whole periods
  std::string name{};      // name of the result; default: TensorFlow's, "ExponentialDecay"
};
/// Exponential decay: rate decay_rate^(step / decay_steps), a scalar.
/// Errors: invalid_argument without a step, and for a rate that is not floating point. Source: TensorFlow `train.exponential_decay`.
output exponential_decay(const operand_value& rate, const output& step, const operand_value& decay_steps, const operand_value& decay_rate,
                         const decay_options& options = {}, const std::source_location& where = std::source_location::current());
/// Natural exponential decay: rate e^(-decay_rate step / decay_steps), a scalar. Errors: as for `exponential_decay`. Source: TensorFlow
/// `train.natural_exp_decay`.
output natural_exp_decay(const operand_value& rate, const output& step, const operand_value& decay_steps, const operand_value& decay_rate,
                         const decay_options& options = {}, const std::source_location& where = std::source_location::current());
/// Inverse time decay: rate / (1 + decay_rate step / decay_steps), a scalar. Errors: as for `exponential_decay`. Source: TensorFlow
/// `train.inverse_time_decay`.
output inverse_time_decay(const operand_value& rate, const output& step, const operand_value& decay_steps, const operand_value& decay_rate,
                          const decay_options& options = {}, const std::source_location& where = std::source_location::current());

/// Options of `polynomial_decay`.
struct polynomial_decay_options {
  operand_value end_learning_rate = 0.0001f;  // the rate after decay_steps
  operand_value power = 1.0f;                 // 1: a straight line
  bool cycle = false;                         // starts over: the period becomes the first multiple of decay_steps at or after the step
  std::string name = "PolynomialDecay";
};
/// Polynomial decay: (rate - end)(1 - step / decay_steps)^power + end up to decay_steps, then `end`; a scalar. Errors: as for
/// `exponential_decay`.
/// Source: TensorFlow `train.polynomial_decay`.
output polynomial_decay(const operand_value& rate, const output& step, const operand_value& decay_steps,
                        const polynomial_decay_options& options = {}, const std::source_location& where = std::source_location::current());

/// Options of `cosine_decay`.
struct cosine_decay_options {
  operand_value alpha = 0.0f;  // the fraction of the rate that remains at the end
  std::string name = "CosineDecay";
};
/// Cosine decay: rate ((1 - alpha)(1 + cos(π x)) / 2 + alpha), where x = step / decay_steps is at most 1; a scalar. Errors: as for
/// `exponential_decay`.
/// Source: TensorFlow `train.cosine_decay`.
output cosine_decay(const operand_value& rate, const output& step, const operand_value& decay_steps,
                    const cosine_decay_options& options = {}, const std::source_location& where = std::source_location::current());

/// Options of `cosine_decay_restarts`.
struct cosine_decay_restarts_options {
  operand_value t_mul = 2.0f;  // the length of each period, relative to the one before
  operand_value m_mul = 1.0f;  // the initial rate of each period, relative to the one before
  operand_value alpha = 0.0f;
  std::string name = "SGDRDecay";
};
/// A `cosine_decay` that restarts after each period; a scalar. Errors: as for `exponential_decay`.
/// Source: TensorFlow `train.cosine_decay_restarts`.
output cosine_decay_restarts(const operand_value& rate, const output& step, const operand_value& first_decay_steps,
                             const cosine_decay_restarts_options& options = {},
                             const std::source_location& where = std::source_location::current());

/// Options of `linear_cosine_decay`.
struct linear_cosine_decay_options {
  operand_value num_periods = 0.5f;  // periods of the cosine
  operand_value alpha = 0.0f;        // added to the line
  operand_value beta = 0.001f;       // the share of the rate that stays
  std::string name = "LinearCosineDecay";
};
/// Linear cosine decay: rate ((alpha + 1 - x)(1 + cos(2 π num_periods x)) / 2 + beta), where x = step / decay_steps is at most 1; a scalar.
/// Errors: as for `exponential_decay`. Source: TensorFlow `train.linear_cosine_decay`.
output linear_cosine_decay(const operand_value& rate, const output& step, const operand_value& decay_steps,
                           const linear_cosine_decay_options& options = {},
                           const std::source_location& where = std::source_location::current());

/// A piecewise constant rate: the first value while step <= the first boundary, and so on, then the last value: `piecewise_constant(step,
/// {1000, 2000}, {0.1f, 0.01f, 0.001f})`. The values have one dtype; boundaries have the step's dtype, but may be int32 for an int64 step.
/// Errors: invalid_argument for dtypes that do not fit, and unless there is one value more than boundaries.
/// Source: TensorFlow `train.piecewise_constant`.
output piecewise_constant(const output& step, const std::vector<operand_value>& boundaries, const std::vector<operand_value>& values,
                          std::string_view name = "PiecewiseConstant", const std::source_location& where = std::source_location::current());

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/train/named/impl/schedules.hpp>
#endif
