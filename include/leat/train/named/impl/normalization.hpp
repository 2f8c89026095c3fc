#pragma once
// Implementation of named_normalization.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/control/branch.hpp>
#include <leat/named/functions/array.hpp>
#include <leat/named/functions/nn.hpp>
#include <leat/named/variables/variable_scope.hpp>
#include <leat/train/averages.hpp>
#include <leat/train/named/moving_average.hpp>
#include <leat/train/named/normalization.hpp>

namespace leat {

namespace detail {

// Selects one of two tensors by `training`: here if that is a constant, with nodes if it is a tensor.
LEAT_FUNCTION output in_training(const operand_value& training, const output& yes, const output& no) {
  if (training.literal() != nullptr) return training.literal()->number(0) != 0 ? yes : no;
  const output flag = training.tensor()->owner().named().value_of(*training.tensor());
  return cond(flag, [&] { return yes; }, [&] { return no; });
}

}  // namespace detail

LEAT_FUNCTION batch_normalization_result batch_normalization_layer(const output& x, const batch_normalization_options& options,
                                                                   const std::source_location& where) {
  if (!static_cast<bool>(x)) throw invalid_argument("batch_normalization_layer: x is no node of a graph");
  const shape extent = x.extent();
  if (!is_floating(x.type())) throw invalid_argument("batch_normalization_layer: x is floating point, not " + describe(x));
  if (!extent.has_rank() || extent.rank < 2)
    throw invalid_argument("batch_normalization_layer: x has a known rank of 2 or more, unlike " + describe(x));
  const int axis = options.axis < 0 ? options.axis + extent.rank : options.axis;
  if (axis < 0 || axis >= extent.rank)
    throw invalid_argument("batch_normalization_layer: axis " + std::to_string(options.axis) + " of " + describe(x));
  const std::int64_t channels = extent[axis];
  if (channels < 0)
    throw invalid_argument("batch_normalization_layer: the number of channels, dimension " + std::to_string(axis) + " of " + describe(x) +
                           ", is not known");
  if (!(options.momentum >= 0 && options.momentum <= 1))
    throw invalid_argument("batch_normalization_layer: a momentum of " + std::to_string(options.momentum) + " is not in [0, 1]");
  if (!(options.epsilon >= 0)) throw invalid_argument("batch_normalization_layer: epsilon " + std::to_string(options.epsilon) + " < 0");
  const tensor_literal* known = options.training.literal();
  if (known != nullptr ? known->type() != data_type::boolean : options.training.tensor()->type() != dtype::boolean)
    throw invalid_argument("batch_normalization_layer: training is a bool");

  graph& g = x.owner();
  const default_graph_scope here(g);
  const source_scope line(g, where);
  variable_scope_options scoping;
  if (options.name.empty()) scoping.default_name = "batch_normalization";
  if (options.reuse) scoping.reuse = *options.reuse;
  const auto scope = options.name.empty() ? variable_scope(nullptr, scoping) : variable_scope(options.name, scoping);
  batch_normalization_result made;
  const auto its_variable = [&](std::string_view name, const first_value& first, bool trainable) {
    return detail::find_or_make_variable(name, shape_value{channels},
                                         {.type = x.type(), .initializer = first, .trainable = trainable && options.trainable});
  };
  if (options.scale) made.gamma = its_variable("gamma", options.gamma_initializer, true);
  if (options.center) made.beta = its_variable("beta", options.beta_initializer, true);
  made.moving_mean = its_variable("moving_mean", options.moving_mean_initializer, false);
  made.moving_variance = its_variable("moving_variance", options.moving_variance_initializer, false);

  const bool trains = known == nullptr || known->number(0) != 0;
  output mean = value_of(made.moving_mean), variance = value_of(made.moving_variance);
  if (trains) {
    std::vector<std::int32_t> others;
    for (int k = 0; k < extent.rank; ++k)
      if (k != axis) others.push_back(k);
    const moments_result batch = moments(g.named().value_of(x), others);
    mean = detail::in_training(options.training, batch.mean, mean);
    variance = detail::in_training(options.training, batch.variance, variance);
    // When not training, each moving average is updated with its own value, which leaves it unchanged.
    const output rest = constant(tensor_literal(x.type(), {}, 1 - options.momentum), "decay");
    const auto update = [&](const output& average, const output& value) {
      const name_scope its_scope(g, "AssignMovingAvg");
      made.updates.push_back(assign_sub(average, average::change(value_of(average), value, rest), its_scope.text()));
      add_to_collection(g, collection::update_ops, made.updates.back());
    };
    update(made.moving_mean, mean);
    update(made.moving_variance, variance);
  }
  const auto along = [&](const output& channel) {
    if (axis == extent.rank - 1) return channel;
    std::vector<std::int32_t> sizes(static_cast<std::size_t>(extent.rank), 1);
    sizes[static_cast<std::size_t>(axis)] = static_cast<std::int32_t>(channels);
    return reshape(channel, sizes);
  };
  normalization_options parts{.epsilon = options.epsilon};
  if (options.center) parts.offset = along(value_of(made.beta));
  if (options.scale) parts.scale = along(value_of(made.gamma));
  made.y = batch_normalization(g.named().value_of(x), along(mean), along(variance), parts);
  return made;
}

}  // namespace leat
