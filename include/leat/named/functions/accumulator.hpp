#pragma once
// Accumulators of gradients in named graphs: `conditional_accumulator(dtype::float32, {2, 3})` adds the accumulator's node, and member
// functions add the nodes that give it gradients and take their mean. Source: TensorFlow 1.x `ConditionalAccumulator`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/operand.hpp>
#include <leat/named/graph/part.hpp>

namespace leat {

/// Options of `conditional_accumulator`.
struct accumulator_options {
  std::string shared_name{};  // accumulators with the same shared name are one accumulator in a session
  std::string name = "conditional_accumulator";
  std::string reduction_type = "MEAN";  // or "SUM"
};

/// Handle of an accumulator of gradients in a graph. Source: TensorFlow 1.x `ConditionalAccumulator`.
class conditional_accumulator {
 public:
  /// Errors: invalid_argument for another reduction type.
  conditional_accumulator(dtype type, const shape_value& extent, const accumulator_options& options = {},
                          const std::source_location& where = std::source_location::current());

  /// Adds a gradient; it is dropped if `local_step` (int64) is less than the accumulator's own step. Source: `apply_grad`.
  graph_operation apply_grad(const output& gradient, const operand_value& local_step = std::int64_t{0}, std::string_view name = {},
                             const std::source_location& where = std::source_location::current()) const;
  /// The mean, or sum, of the gradients, once there are `num_required` (int32) of them; blocks until then. Source: `take_grad`.
  output take_grad(const operand_value& num_required, std::string_view name = {},
                   const std::source_location& where = std::source_location::current()) const;
  /// The number of gradients in the accumulator, an int32 scalar. Source: `num_accumulated`.
  output num_accumulated(std::string_view name = {}, const std::source_location& where = std::source_location::current()) const;
  /// Sets the accumulator's step. Source: `set_global_step`.
  graph_operation set_global_step(const output& new_global_step, std::string_view name = {},
                                  const std::source_location& where = std::source_location::current()) const;
  /// `apply_grad` for the replica with this number: a replica's second gradient for one update replaces its first, and the gradients are
  /// added in the order of the replicas' numbers. TensorFlow has no such operator.
  graph_operation apply_grad_of(int replica, const output& gradient, const output& local_step,
                                const std::source_location& where = std::source_location::current()) const;
  /// Sets how many gradients make an update, from now on, to the number in a roster's state (sync_replicas.hpp). TensorFlow has no such
  /// operator.
  graph_operation await(const output& state, const std::source_location& where = std::source_location::current()) const;
  const output& reference() const { return reference_; }

 private:
  graph_operation call(std::string_view type, std::vector<number_argument> given, attribute_map attributes, std::string_view name,
                       const std::source_location& where) const;
  output reference_;
  dtype type_;
  shape extent_;
};

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/functions/impl/accumulator.hpp>
#endif
