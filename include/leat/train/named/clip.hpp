#pragma once
// Clipping of gradients in graphs with names, node for node as TensorFlow 1.x composes it; clip.hpp is its counterpart for typed
// expressions. A sparse gradient is clipped by its rows.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/operand.hpp>
#include <leat/named/gradients/functions.hpp>

namespace leat {

/// A tensor, or a sparse gradient, scaled so that its Euclidean norm, over `axes` if given, is at most `limit`. Shapes: result like x.
/// Errors: invalid_argument for a limit that would broadcast x to another shape. Source: `clip_by_norm`.
gradient_value clip_by_norm(const gradient_value& x, const operand_value& limit, const std::vector<std::int32_t>& axes = {},
                            std::string_view name = {}, const std::source_location& where = std::source_location::current());
output clip_by_norm(const output& x, const operand_value& limit, const std::vector<std::int32_t>& axes = {}, std::string_view name = {},
                    const std::source_location& where = std::source_location::current());

/// A tensor scaled so that its Euclidean norm, divided by the number of its elements, is at most `limit`. Source: `clip_by_average_norm`.
output clip_by_average_norm(const output& x, const operand_value& limit, std::string_view name = {},
                            const std::source_location& where = std::source_location::current());

/// The Euclidean norm of all elements of all gradients together, a scalar; empty gradients are ignored.
/// Errors: invalid_argument if all are empty. Source: `global_norm`.
output global_norm(const std::vector<gradient_value>& all, std::string_view name = {},
                   const std::source_location& where = std::source_location::current());

/// The result of `clip_by_global_norm`.
struct clipped_gradients {
  std::vector<gradient_value> values;
  output norm;  // the norm before clipping
};
/// All gradients scaled by one factor so that their global norm is at most `limit`; empty ones stay empty. If the norm is infinite, all
/// elements become NaN. `use_norm`: the norm, if it was computed already. Source: `clip_by_global_norm`.
clipped_gradients clip_by_global_norm(const std::vector<gradient_value>& all, const operand_value& limit, const output& use_norm = {},
                                      std::string_view name = {}, const std::source_location& where = std::source_location::current());
/// Dense tensors as gradients, for the functions above.
std::vector<gradient_value> as_gradients(const std::vector<output>& tensors);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/train/named/impl/clip.hpp>
#endif
