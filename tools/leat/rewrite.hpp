#pragma once
// Graphs made of graphs: what some fetches need, constants in place of variables, and all names under a prefix.

#include <leat/proto/freeze.hpp>
#include <leat/proto/graph_def.hpp>

#include <string>
#include <vector>

namespace tool {

/// Keeps what the fetches ("name" or "name:0") need, with the order of the nodes. Of collections, signatures and colocations
/// that name other nodes, those go, too. The graph must be valid. Errors: not_found for a fetch that no node has.
void prune(leat::meta_graph_def& meta, const std::vector<std::string>& fetches);

/// Makes all variables constants. Collections of variables and the saver go, which have nothing left to speak of. Values of
/// variables that the graph does not have any more are left aside. Errors: those of `leat::freeze`.
void freeze(leat::meta_graph_def& meta, leat::variable_values values);

/// Puts "prefix/" before every node's name, wherever it is named: inputs, collections, signatures, colocations, the saver.
void add_prefix(leat::meta_graph_def& meta, const std::string& prefix);

}  // namespace tool
