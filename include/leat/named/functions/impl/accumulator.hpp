#pragma once
// Implementation of named_accumulator.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/accumulator.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/named/graph/call.hpp>
#include <leat/named/graph/lookup.hpp>

namespace leat {

LEAT_FUNCTION conditional_accumulator::conditional_accumulator(dtype type, const shape_value& extent, const accumulator_options& options,
                                                               const std::source_location& where)
    : type_(type), extent_(extent) {
  if (options.reduction_type != "MEAN" && options.reduction_type != "SUM")
    throw invalid_argument("conditional_accumulator: the reduction is MEAN or SUM, not " + options.reduction_type);
  graph& g = default_graph();
  const source_scope line(g, where);
  reference_ = call_operator(g, "ResourceConditionalAccumulator", {},
                             {{"dtype", to_data_type(type)},
                              {"shape", to_proto(extent_)},
                              {"shared_name", options.shared_name},
                              {"reduction_type", options.reduction_type}},
                             options.name)
                   .result();
}

LEAT_FUNCTION graph_operation conditional_accumulator::call(std::string_view type, std::vector<number_argument> given,
                                                            attribute_map attributes, std::string_view name,
                                                            const std::source_location& where) const {
  graph& g = reference_.owner();
  const source_scope line(g, where);
  given.insert(given.begin(), reference_);
  return call_operator(g, type, std::span<const number_argument>(given), std::move(attributes), name);
}

LEAT_FUNCTION graph_operation conditional_accumulator::apply_grad(const output& gradient, const operand_value& local_step,
                                                                  std::string_view name, const std::source_location& where) const {
  std::vector<number_argument> given;
  if (local_step.tensor() != nullptr) given.emplace_back(cast(*local_step.tensor(), dtype::int64));
  else given.emplace_back(*local_step.literal());
  given.emplace_back(gradient);
  return call("ResourceAccumulatorApplyGradient", std::move(given), {{"dtype", to_data_type(type_)}}, name, where);
}

LEAT_FUNCTION graph_operation conditional_accumulator::apply_grad_of(int replica, const output& gradient, const output& local_step,
                                                                     const std::source_location& where) const {
  return call("ReplicaAccumulatorGive", {cast(local_step, dtype::int64), tensor_literal(static_cast<std::int32_t>(replica)), gradient},
              {{"dtype", to_data_type(type_)}}, {}, where);
}

LEAT_FUNCTION graph_operation conditional_accumulator::await(const output& state, const std::source_location& where) const {
  return call("ReplicaAccumulatorAwait", {state}, {}, {}, where);
}

LEAT_FUNCTION output conditional_accumulator::take_grad(const operand_value& num_required, std::string_view name,
                                                        const std::source_location& where) const {
  std::vector<number_argument> given;
  if (num_required.tensor() != nullptr) given.emplace_back(*num_required.tensor());
  else given.emplace_back(*num_required.literal());
  const output taken = call("ResourceAccumulatorTakeGradient", std::move(given), {{"dtype", to_data_type(type_)}}, name, where).result();
  set_shape(taken, extent_);
  return taken;
}

LEAT_FUNCTION output conditional_accumulator::num_accumulated(std::string_view name, const std::source_location& where) const {
  return call("ResourceAccumulatorNumAccumulated", {}, {}, name, where).result();
}

LEAT_FUNCTION graph_operation conditional_accumulator::set_global_step(const output& new_global_step, std::string_view name,
                                                                       const std::source_location& where) const {
  return call("ResourceAccumulatorSetGlobalStep", {cast(new_global_step, dtype::int64)}, {}, name, where);
}

}  // namespace leat
