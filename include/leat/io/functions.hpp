#pragma once
// Functions of a graph, as today's TensorFlow writes models: the nodes of a function's body take the place of each call, and branches and
// loops by functions become the nodes of control flow. `import_graph` does so by itself, so that whatever a graph computes is nodes of the
// graph: it is fused, differentiated and placed like any other. Source: TensorFlow function.proto, lower_if_op.cc, lower_while_op.cc.

#include <leat/core/function_bodies.hpp>
#include <leat/proto/node_def.hpp>

namespace leat::io {

/// The graph with the bodies of its functions in place of calls: `PartitionedCall`, `StatefulPartitionedCall`, `If`, `While`, `Case`, their
/// stateless forms, and nodes whose operator is the name of a function. The nodes of a call "c" are named "c/..."; a node "c" remains, with
/// the call's results, which waits until all effects of the call are done. A call remains as it is if its function is missing, calls
/// itself, or uses what is not known. The result's library has the functions that nodes still name (io/library.hpp).
/// Errors: data_loss and invalid_argument for a library that is damaged; resource_exhausted if the result would have more than a million
/// nodes.
graph_def inline_functions(const graph_def& def);

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/impl/functions.hpp>
#endif
