#pragma once
// Rules that depend on the version of TensorFlow that wrote a graph, its producer: what an empty shape means, and which operators a later
// producer may no longer write. Source: TensorFlow's version history (core/public/version.h), array_ops.cc, state_ops.cc.

#include <leat/core/function_bodies.hpp>
#include <leat/proto/node_def.hpp>

#include <optional>
#include <string_view>

namespace leat {

/// The first producer for which a `Placeholder` with an empty shape is a scalar. With earlier producers its shape is unknown.
inline constexpr std::int32_t first_with_scalar_placeholders = 22;

/// The shape that a placeholder or variable declares, or nothing if it lacks the attribute. An empty shape means an unknown shape for
/// `Variable`, the operator of TensorFlow up to 1.0, and for a `Placeholder` of an old producer.
std::optional<tensor_shape_proto> declared_shape(const node_def& node, std::int32_t producer);

/// The first producer for which TensorFlow refuses the operator in a graph, or nothing.
std::optional<std::int32_t> deprecated_from(std::string_view op);

/// The versions under which a graph with these nodes is written. A graph that contains nodes of an old producer keeps that producer, under
/// which a scalar placeholder cannot be distinguished from one of unknown shape. If the graph has a scalar placeholder, its producer is
/// therefore raised to the first with scalar placeholders, unless the graph has an operator that this producer no longer allows.
/// Placeholders of unknown shape are marked as such (see `import_graph`).
version_def versions_to_write(const std::vector<node_def>& nodes, version_def versions);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/proto/impl/producer.hpp>
#endif
