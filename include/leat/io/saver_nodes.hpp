#pragma once
// The nodes by which a graph of TensorFlow's restores its own variables tell under which names these are in a checkpoint. For graphs of
// TensorFlow 2 nothing else tells that. Source: TensorFlow saver.proto.

#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/lookup.hpp>
#include <leat/proto/graph_def.hpp>

#include <map>
#include <string>

namespace leat::io {

/// The variables that a graph's saver restores, by the names of their nodes: the names of the tensors in a checkpoint. Only variables whose
/// names are constants of the graph; none if the graph has no such nodes.
std::map<std::string, std::string, std::less<>> names_in_checkpoint(graph& g, const saver_def& saver);

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/impl/saver_nodes.hpp>
#endif
