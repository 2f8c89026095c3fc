#pragma once
// Exports a graph with names to the form of TensorFlow's files: every node with its inputs, attributes and device. `import.hpp` reads the
// same graph back.

#include <leat/core/function_bodies.hpp>
#include <leat/graph/operator.hpp>
#include <leat/proto/node_def.hpp>

namespace leat {

/// One node in file form. Control inputs come last, sorted by name, as in TensorFlow.
node_def to_node_def(graph& g, int index);

/// For each node, whether it is one of the targets or one of these depends on it.
std::vector<char> needed_for(graph& g, std::span<const int> targets);

class named_part;
/// The part of a graph's library of functions that these nodes need.
std::string library_for(const named_part& nodes, std::span<const node_def> of);

/// The whole graph in file form, or with `only` the subgraph that these nodes need. Source: TensorFlow `Graph.as_graph_def`,
/// `extract_sub_graph`.
graph_def export_graph(graph& g, std::span<const int> only = {});

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/exchange/impl/export.hpp>
#endif
