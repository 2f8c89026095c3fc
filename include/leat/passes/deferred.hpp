#pragma once
// Rows of a graph that stand for gradients or training steps, in tables that defer them (`graph::defers`). A session expands them when it
// plans its programs. The header that defines such a row registers its expansion.

#include <leat/core/fill.hpp>
#include <leat/graph/graph.hpp>
#include <leat/graph/known_operators.hpp>

#include <span>

namespace leat::detail {

/// A deferred row whose operands are in the graph.
struct deferred_row {
  std::span<const int> inputs;
  std::span<const std::int64_t> attributes;
};
/// Expands a row; returns the node of its result.
using deferred_expander = int (*)(graph& g, const deferred_row& row);

LEAT_DECLARE_FILL(fill_gradient_expander);
LEAT_DECLARE_FILL(fill_part_expander);
LEAT_DECLARE_FILL(fill_step_expander);
// The table of operators (graph/known_operators.hpp) with the functions that expand rows.
inline known_operator_table& deferred_expanders() {
  static constinit table_fills fills;
  fills.run({LEAT_FILLS(fill_gradient_expander, fill_step_expander, fill_part_expander)});
  return known_operators();
}
template <class Op>
void enter_deferred_expander(deferred_expander expand) {
  deferred_expanders().enter(Op::type, &known_operator::expand, expand);
}

}  // namespace leat::detail
