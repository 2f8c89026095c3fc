#pragma once
// The nodes of a graph in file form: plain data that mirrors TensorFlow's messages (graph.proto, node_def.proto), with their names. It
// can hold every operator, also unknown ones; nothing is checked or run here. graph_def.hpp has graphs with their metadata.

#include <leat/core/function_bodies.hpp>
#include <leat/proto/attribute_value.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace leat {

/// A node. Inputs are "name", "name:1" for an output other than the first, and "^name" for control inputs, which come last.
/// `experimental_debug_info` and `experimental_type` are not kept. Source: NodeDef.
struct node_def {
  std::string name{};
  std::string op{};
  std::vector<std::string> inputs{};
  std::string device{};
  attribute_map attributes{};
  bool operator==(const node_def&) const;
};

/// The TensorFlow version that wrote a graph, and the versions that may read it. Source: VersionDef.
struct version_def {
  std::int32_t producer = 0;
  std::int32_t min_consumer = 0;
  std::vector<std::int32_t> bad_consumers{};
  bool operator==(const version_def&) const;
};

/// A graph. Its nodes are in any order. `library` is a FunctionDefLibrary in binary form, carried unparsed; JSON cannot carry it, the text
/// format can. Source: GraphDef.
struct graph_def {
  std::vector<node_def> nodes{};
  version_def versions{};
  std::string library{};
  bool operator==(const graph_def&) const;
};

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/proto/impl/node_def.hpp>
#endif
