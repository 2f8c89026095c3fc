#pragma once
// Constant propagation for small integer tensors while a graph is built: sizes, axes, shapes. Known are constants and values computed
// from known shapes. With it `reshape(x, stack({shape_of(x)[0], 10}))` has a static second dimension.

#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/named_part.hpp>

namespace leat {

/// The elements of an integer tensor of rank 0 or 1, -1 for each that is unknown (or computed and negative); nothing if their count is
/// unknown.
std::optional<std::vector<std::int64_t>> known_numbers(const output& o);
/// The same if all of them are known and none is negative.
std::optional<std::vector<std::int64_t>> fully_known_numbers(const output& o);

namespace detail {

std::optional<tensor_literal> whole_numbers(const output& o);

// For operators whose one argument is the result's shape.
shape partial_shape(const op_info& op, std::span<const number_argument> arguments);

}  // namespace detail

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/graph/known_value_bodies.hpp>
#endif
