#pragma once
// Draws a graph for Graphviz (`dot -Tsvg`): a box for each node with its name, operator and shape, nested frames for name scopes,
// arrows for tensors, dotted arrows for control inputs. Any graph_def can be drawn, even an invalid one: inputs without a node get a
// dashed box.

#include <leat/core/function_bodies.hpp>
#include <leat/io/file.hpp>
#include <leat/proto/graph_def.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace leat::io {

namespace detail {
/// A quoted string for DOT. Backslashes are doubled because they begin escapes (\N is the node's name); bytes that are not UTF-8 become
/// question marks.
std::string dot_text(std::string_view text);

/// The shape of a node's first output, if its attributes contain it; `producer` is that of the graph.
std::string drawn_shape(const node_def& node, std::int32_t producer);
}  // namespace detail

/// The graph in Graphviz's language.
std::string write_dot(const graph_def& graph);
/// Writes the graph to a file in Graphviz's language. Errors: failed_precondition if the file cannot be written.
inline void write_dot_file(const graph_def& graph, const std::filesystem::path& path) {
  write_file(path, write_dot(graph));
}

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/impl/dot.hpp>
#endif
