#pragma once
// Lowers a graph with names to the plain table that the compiler's passes take. Only nodes that the targets need are kept, with their
// operands and numeric attributes; constants for axes and shapes disappear. Feeds, variables and constant arrays become leaves, listed
// with their sources. An unknown dimension becomes a named one, unless a shape is given: a session gives those of its feeds.

#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/named_part.hpp>

namespace leat {

/// A leaf of the plain table and where its value comes from at run time.
struct canonical_leaf {
  enum class source { fed, variable, array };
  int index = -1;  // in the plain table
  output tensor;   // in the graph with names
  source from = source::fed;
};

struct canonical_options {
  std::vector<output> feeds{};                     // fed, besides placeholders
  std::vector<std::pair<output, shape>> shapes{};  // of feeds, if unknown to the graph
};

/// A plain table for some targets.
struct canonical_graph {
  graph table;
  std::vector<int> targets;  // in the order requested
  std::vector<canonical_leaf> leaves;
  std::map<int, int> index_of;  // by index in the graph with names
  std::map<std::pair<int, int>, int> further;  // of further results, by node and port

  /// The row of a tensor. Errors: not_found if the targets do not need it.
  int operator[](const output& o) const;
};

/// The plain table for these targets, ready for `passes::gradients` and `passes::compile`.
/// Errors: unimplemented, naming node and line, for unknown operators, axes or sizes that are known only at run time, dtypes that
/// the library does not compute with, and tensors of unknown rank; invalid_argument if a given shape contradicts the graph, and for
/// two unordered writes to one variable.
canonical_graph canonical(graph& g, std::span<const output> targets, const canonical_options& options = {});
canonical_graph canonical(std::initializer_list<output> targets, const canonical_options& options = {});

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/canonical/canonical_bodies.hpp>
#endif
