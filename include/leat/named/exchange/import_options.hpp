#pragma once
// Options of import_graph; see named/exchange/import.hpp.

#include <leat/named/graph/default_graph.hpp>
#include <leat/named/graph/lookup.hpp>
#include <leat/proto/node_def.hpp>

namespace leat {

/// Options of `import_graph`.
struct import_options {
  std::string name = "import";                             // scope of the nodes, made unique by a number; "" for none
  std::map<std::string, output, std::less<>> input_map{};  // tensors that replace those of the file ("x:0", "x")
  std::vector<std::string> return_elements{};              // names in the file: "y:0", "train"; a replaced tensor returns its replacement
  bool unknown_operators = true;                           // whether unknown operators are accepted
};

/// Makes the nodes of a file's graph, and returns the elements that `return_elements` names. Names, inputs and cycles are checked before
/// the first node is made.
/// Errors, naming the node: invalid_argument for duplicate or malformed names, inputs or outputs that do not exist, cycles, wrong numbers
/// or dtypes of inputs, attributes of the wrong kind or range, shapes that do not fit; resource_exhausted for more outputs than are in
/// proportion to the file; unimplemented for more than 8 dimensions, and for unknown operators unless accepted.
/// Source: TensorFlow `import_graph_def`.
std::vector<graph_element> import_graph(graph& g, const graph_def& def, const import_options& options = {});
inline std::vector<graph_element> import_graph(const graph_def& def, const import_options& options = {}) {
  return import_graph(default_graph(), def, options);
}

}  // namespace leat
