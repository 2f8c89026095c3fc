#pragma once
// The counter of training steps of a graph with names: a non-trainable int64 variable "global_step", in the collection of that name.
// Source: TensorFlow 1.x `train.create_global_step` and related functions.

#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/default_graph.hpp>

namespace leat {

/// The graph's global step counter: the element of its collection, or a tensor "global_step:0"; empty if there is none.
/// Errors: invalid_argument if it is not an integer scalar. Source: `get_global_step`.
output get_global_step(graph& g = default_graph());
/// Creates the global step counter, an int64 scalar that starts at 0. Errors: invalid_argument if there is one.
/// Source: `create_global_step`.
output create_global_step(graph& g = default_graph(), const std::source_location& where = std::source_location::current());
/// The graph's global step counter, created if there is none. Errors: as for `get_global_step`. Source: `get_or_create_global_step`.
output get_or_create_global_step(graph& g = default_graph(), const std::source_location& where = std::source_location::current());

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/train/named/impl/global_step.hpp>
#endif
