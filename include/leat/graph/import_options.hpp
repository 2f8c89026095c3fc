#pragma once
// What import_graph is asked for; see graph/import.hpp.

#include <leat/graph/default_graph.hpp>
#include <leat/graph/graph_def.hpp>
#include <leat/graph/lookup.hpp>

namespace leat {

/// How a graph is imported.
struct import_options {
  std::string name = "import";                             // the scope that the nodes go to, with a number where it is taken; "" for none
  std::map<std::string, output, std::less<>> input_map{};  // tensors of the file ("x:0", "x") that are replaced
  std::vector<std::string> return_elements{};              // names in the file: "y:0", "train"
  bool unknown_operators = true;                           // whether operators that the library does not know are let in
};

/// Makes the nodes of a file's graph; gives back what `return_elements` names.
/// Errors, naming the node: invalid_argument for names that are taken twice in the file or are none, inputs that are not there, outputs
/// that their node does not have, cycles, wrong numbers or dtypes of inputs, attributes of another kind or range, shapes that do not fit;
/// resource_exhausted for more outputs than are in proportion to the file; unimplemented for more than 8 dimensions, and for operators
/// that are not known, if those are not let in. Names, inputs and cycles are looked at before the first node is made.
std::vector<graph_element> import_graph(graph& g, const graph_def& def, const import_options& options = {});
inline std::vector<graph_element> import_graph(const graph_def& def, const import_options& options = {}) {
  return import_graph(default_graph(), def, options);
}

}  // namespace leat
