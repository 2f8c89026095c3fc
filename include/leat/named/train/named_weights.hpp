#pragma once
// Weights beside values in graphs with names, for losses and metrics: the check that they broadcast, and the broadcast. Weights have
// rank 0, or the rank of the values with each dimension 1 or equal. Source: TensorFlow 1.x `weights_broadcast_ops`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/named_operand.hpp>

namespace leat {

/// An operation that fails at run time if the weights do not broadcast to the values; it does nothing where static shapes say so.
/// Errors: invalid_argument if static ranks or shapes say that they do not. Source: `assert_broadcastable`.
graph_operation check_broadcastable(const operand_value& weights, const output& values,
                                    const std::source_location& where = std::source_location::current());
/// The weights in the shape of the values, after `check_broadcastable`; the weights themselves if static shapes are equal.
/// Errors: as above. Source: `broadcast_weights`.
output broadcast_weights(const output& weights, const output& values, const std::source_location& where = std::source_location::current());

namespace detail {

// A tensor, or an array as a constant, as float32, named as TensorFlow's `cast` names it.
output as_float32(graph& g, const operand_value& x);
// Errors: invalid_argument for static shapes that cannot be equal.
void check_compatible(const output& x, const output& y);
// Refuses operands that are no tensors of one graph, before any node is made. Errors: invalid_argument.
void check_tensors(std::string_view function, std::initializer_list<operand_value> operands);
// The axis counts from the first to the rank of x, a node "range" that stands for "all but the first `from`".
output axes_from(const output& x, std::int32_t from);
// Sum over all elements: constant axes where the rank is known and not 0, otherwise computed from the rank.
output sum_of_all(const output& x, std::string_view name = "Sum");

}  // namespace detail

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/train/named_weights_bodies.hpp>
#endif
