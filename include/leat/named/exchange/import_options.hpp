#pragma once
// Options of import_graph; see named/exchange/import.hpp.

#include <leat/core/fill.hpp>
#include <leat/named/graph/default_graph.hpp>
#include <leat/named/graph/lookup.hpp>
#include <leat/proto/node_def.hpp>

#include <span>
#include <string>
#include <string_view>

namespace leat {

/// Options of `import_graph`.
struct import_options {
  std::string name = "import";                             // scope of the nodes, made unique by a number; "" for none
  std::map<std::string, output, std::less<>> input_map{};  // tensors that replace those of the file ("x:0", "x")
  std::vector<std::string> return_elements{};              // names in the file: "y:0", "train"; a replaced tensor returns its replacement
  bool unknown_operators = true;                           // whether unknown operators are accepted
};

namespace detail {
/// What is done with a graph's functions (io/functions.hpp, io/library.hpp); all null in programs that read no binary or text files, as
/// only these have functions.
struct functions_of_files {
  graph_def (*inlined)(const graph_def&) = nullptr;                                      // with bodies in place of calls
  std::string (*merged)(std::string_view kept, std::string_view more) = nullptr;         // two libraries as one
  std::string (*needed)(std::string_view library, std::span<const node_def>) = nullptr;  // the part of a library that nodes need
};
LEAT_DECLARE_FILL(fill_function_inliner);
inline functions_of_files& inliner_of_functions() {
  static constinit functions_of_files all;
  static constinit table_fills fills;
  fills.run({LEAT_FILLS(fill_function_inliner)});
  return all;
}
}  // namespace detail

/// Makes the nodes of a file's graph, and returns the elements that `return_elements` names. Names, inputs and cycles are checked before
/// the first node is made. The bodies of functions take the place of their calls (`io::inline_functions`); functions that nodes still name,
/// such as those of datasets, stay with the graph (`named_part::library`).
/// Errors, naming the node: invalid_argument for duplicate or malformed names, inputs or outputs that do not exist, cycles, wrong numbers
/// or dtypes of inputs, attributes of the wrong kind or range, shapes that do not fit; resource_exhausted for more outputs than are in
/// proportion to the file; unimplemented for more than 8 dimensions, and for unknown operators unless accepted.
/// Source: TensorFlow `import_graph_def`.
std::vector<graph_element> import_graph(graph& g, const graph_def& def, const import_options& options = {});
inline std::vector<graph_element> import_graph(const graph_def& def, const import_options& options = {}) {
  return import_graph(default_graph(), def, options);
}

}  // namespace leat
