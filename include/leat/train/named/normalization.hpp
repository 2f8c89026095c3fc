#pragma once
// Batch normalization as a layer of graphs with names: its variables, moving averages, and the updates that training must run.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/operand.hpp>
#include <leat/named/variables/variables.hpp>

namespace leat {

/// Options of `batch_normalization_layer`; the defaults are TensorFlow's.
struct batch_normalization_options {
  std::int32_t axis = -1;          // the axis of the channels
  operand_value training = false;  // whether the batch's mean and variance are used: true, false, or a bool tensor
  double momentum = 0.99;          // the factor of a moving average's old value in each update
  double epsilon = 1e-3;
  bool center = true;  // adds an offset, beta
  bool scale = true;   // multiplies by a factor, gamma
  first_value beta_initializer = zeros;
  first_value gamma_initializer = ones;
  first_value moving_mean_initializer = zeros;
  first_value moving_variance_initializer = ones;
  bool trainable = true;
  std::string name{};           // name of the variable scope; default: "batch_normalization", made unique
  std::optional<bool> reuse{};  // whether the variables of `name` are reused
};
/// The output of a batch normalization, its variables (empty if it does not have them) and its updates.
struct batch_normalization_result {
  output y;  // the normalized inputs
  output beta{}, gamma{}, moving_mean{}, moving_variance{};
  std::vector<output> updates{};  // of the moving averages, in training
};

/// Batch normalization: (x - mean) / √(variance + epsilon) gamma + beta for each channel. In training, mean and variance are the batch's,
/// and two operations in the collection `update_ops` update the moving averages: average -= (average - value)(1 - momentum). A training
/// step must wait for them: `auto wait = control_dependencies(get_collection(collection::update_ops)); train = o.minimize(loss);`. When not
/// training, mean and variance are the moving averages. Variables: `name/gamma`, `name/beta`, and untrainable `name/moving_mean`,
/// `name/moving_variance`.
/// Shapes: x of known rank, 2 or more, with a known number of channels; result like x. Dtypes: floating point.
/// Errors: invalid_argument for another x, an axis that it does not have, and settings out of range.
/// Source: TensorFlow `layers.batch_normalization`.
batch_normalization_result batch_normalization_layer(const output& x, const batch_normalization_options& options = {},
                                                     const std::source_location& where = std::source_location::current());

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/train/named/impl/normalization.hpp>
#endif
