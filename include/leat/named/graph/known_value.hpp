#pragma once
// Constant propagation for small integer tensors (sizes, axes, shapes) while a graph is built, from constants and static shapes. With it
// `reshape(x, stack({shape_of(x)[0], 10}))` has a static second dimension.

#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/part.hpp>

namespace leat {

/// The elements of an integer tensor of rank 0 or 1, as far as they are known: -1 for an element that is unknown, or that was computed and
/// is negative; nullopt if the number of elements is unknown.
std::optional<std::vector<std::int64_t>> known_numbers(const output& o);
/// The elements of an integer tensor, if all of them are known and none is negative; else nullopt.
std::optional<std::vector<std::int64_t>> fully_known_numbers(const output& o);

namespace detail {

std::optional<tensor_literal> whole_numbers(const output& o);

// The result's shape, as far as it is known, for an operator whose only argument is that shape.
shape partial_shape(const op_info& op, std::span<const number_argument> arguments);

}  // namespace detail

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/graph/impl/known_value.hpp>
#endif
