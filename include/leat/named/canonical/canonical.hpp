#pragma once
// Lowers a graph with names to the plain table that the compiler's passes take. Only nodes that the targets need are kept, with their
// operands and numeric attributes; constants for axes and shapes disappear. Feeds, variables and constant arrays become leaves, listed
// with their sources. An unknown dimension becomes a named one, unless a shape is given: a session gives those of its feeds.

#include <leat/core/function_bodies.hpp>
#include <leat/named/canonical/canonical_rewrite.hpp>
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

namespace detail {

class canonical_builder {
 public:
  canonical_builder(graph& g, const canonical_options& options) : g_(g), nodes_(g.named()), options_(options) {}

  canonical_graph build(std::span<const output> targets);

 private:
  bool is_fed(int index) const;
  [[noreturn]] void fail(int index, const std::string& what) const {
    throw unimplemented("the node '" + nodes_.record(index).name + "' (" + std::string(g_.at(index).op->type) + "): " + what +
                        made_at(index));
  }
  std::string made_at(int index) const;

  // Refuses two unordered writes to one variable.
  void check_writes() const;

  // The inputs of a node that are operands in the plain table: not those that hold numeric attributes.
  std::vector<int> operands_of(int index) const;
  static bool is_unknown_or_writes(const node& n) {
    if (!named_part::is_opaque(*n.op)) return false;
    const canonical_rewrite* rewrite = find_rewrite(n.op->type);
    return rewrite == nullptr || rewrite->writes;
  }
  // Marks the nodes that write, or depend on one that does. Other control dependencies have no visible effect and would only prevent
  // fusion: gradients have many.
  void mark_writes();

  // A node's control inputs, and those of its constant inputs, since these are plain numbers in the table.
  std::vector<int> controls_of(int index) const;
  // A constant that is a target keeps its control inputs.
  int target(int index) {
    const int row = made_.index_of.at(index);
    return g_.at(index).op->kind == op_kind::constant ? waiting(row, index) : row;
  }
  // The row with its node's control inputs: an Identity of it, if there are any.
  int waiting(int row, int index);

  // The shape with a name for each unknown dimension.
  shape named_shape(int index, shape extent);
  int leaf(int index, const op_info& op, canonical_leaf::source from, std::span<const std::int64_t> numbers = {});
  // The value that all elements have, if there is one.
  std::optional<double> uniform(int index) const;

  int enter(int index);

  int fed_result(const output& fed);
  // The row of an input. A further result is computed separately, by the rewrite of "Type:1".
  int row_of(int user, const output& in);
  // An optimizer's step: its last write, to its first variable, comes after the others.
  output write_all(const canonical_rewrite& rewrite, std::span<const output> operands, int index);
  int enter_rewritten(int index);

  graph& g_;
  named_part& nodes_;
  const canonical_options& options_;
  canonical_graph made_;
  std::vector<char> writes_;  // by node: whether it writes, or depends on one that does
};

}  // namespace detail

/// The plain table for these targets, ready for `passes::gradients` and `passes::compile`.
/// Errors: unimplemented, naming node and line, for unknown operators, axes or sizes that are known only at run time, dtypes that
/// the library does not compute with, and tensors of unknown rank; invalid_argument if a given shape contradicts the graph, and for
/// two unordered writes to one variable.
inline canonical_graph canonical(graph& g, std::span<const output> targets, const canonical_options& options = {}) {
  return detail::canonical_builder(g, options).build(targets);
}
canonical_graph canonical(std::initializer_list<output> targets, const canonical_options& options = {});

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/canonical/canonical_bodies.hpp>
#endif
