#pragma once
// Weights for the values of losses and metrics in graphs with names: the check that they broadcast, and the broadcast itself. Weights have
// rank 0, or the rank of the values with each dimension 1 or equal. Source: TensorFlow 1.x `weights_broadcast_ops`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/operand.hpp>

namespace leat {

/// An operation that fails at run time if the weights do not broadcast to the values; it does nothing if static shapes show that they do.
/// Errors: invalid_argument if static ranks or shapes show that they do not. Source: `assert_broadcastable`.
graph_operation check_broadcastable(const operand_value& weights, const output& values,
                                    const std::source_location& where = std::source_location::current());
/// The weights broadcast to the shape of the values, after `check_broadcastable`; the weights themselves if the static shapes are equal.
/// Errors: as for `check_broadcastable`. Source: `broadcast_weights`.
output broadcast_weights(const output& weights, const output& values, const std::source_location& where = std::source_location::current());

namespace detail {

// A tensor, or an array as a constant, cast to float32 and named as by TensorFlow's `cast`.
output as_float32(graph& g, const operand_value& x);
// Checks that two static shapes may be equal. Errors: invalid_argument.
void check_compatible(const output& x, const output& y);
// Checks that the operands are tensors of one graph, before any node is made. Errors: invalid_argument.
void check_tensors(std::string_view function, std::initializer_list<operand_value> operands);
// The axes of x from number `from` to the last, computed from the rank at run time, in a node "range".
output axes_from(const output& x, std::int32_t from);
// The sum over all elements. The axes are constants if the rank is known and not 0, and computed from the rank at run time otherwise.
output sum_of_all(const output& x, std::string_view name = "Sum");

}  // namespace detail

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/train/named/impl/weights.hpp>
#endif
