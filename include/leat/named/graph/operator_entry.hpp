#pragma once
// What graphs with names know of operators: one table by type, whose fields are filled by the headers that define what they hold. A look-up
// fills only the field that it looks for.

#include <leat/core/operator_table.hpp>
#include <leat/graph/graph.hpp>

#include <memory>

namespace leat {

struct canonical_rewrite;
struct operator_definition;

namespace detail {

class graph_writer;
struct named_gradient;

/// How `to_graph` writes a row of typed expressions (exchange/graph_writer.hpp).
struct expression_writer {
  /// Returns the tensor of the row, or its operation as a tensor.
  output (*write)(graph_writer&, const node&) = nullptr;
  bool is_deferred = false;  // of a row that stands for a gradient or a training step
  explicit operator bool() const { return write != nullptr; }
};

struct operator_entry {
  std::shared_ptr<const operator_definition> definition;  // operator_definition.hpp
  std::shared_ptr<const canonical_rewrite> rewrite;       // canonical/rewrite.hpp
  std::shared_ptr<const named_gradient> gradient;         // gradients/functions.hpp
  expression_writer writer;
};
using operator_entry_table = operator_table<operator_entry>;
inline operator_entry_table& operator_entries() {
  static auto& table = *new operator_entry_table;
  return table;
}

}  // namespace detail

}  // namespace leat
