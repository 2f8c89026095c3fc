#pragma once
// Exports typed expressions to a graph with names: `to_graph(loss, train)` adds them to the default graph, where they can be inspected,
// saved and sent. Placeholders, variables and parameters keep their names; other nodes get TensorFlow's names. A named dimension, which
// files do not have, becomes an unknown one; where an operator needs its size, the graph computes it from a placeholder's shape. If the
// program includes `gradients` and `minimize` for graphs with names (<leat/graphs.hpp>), typed gradients and training steps become the
// nodes that these make; otherwise they become plain operators.

#include <leat/core/function_bodies.hpp>
#include <leat/named/exchange/any_expression.hpp>
#include <leat/named/graph/lookup.hpp>

namespace leat {

namespace detail {

/// Implements `to_graph` for a list of expressions. `settled` has values that take precedence over carried ones; `change` is called for
/// each training step with given gradients.
std::vector<graph_element> write_expressions(std::span<const any_expression> expressions, const carried_table& settled = {},
                                             gradient_change change = {});

}  // namespace detail

/// Adds typed expressions to the default graph; shared subexpressions are added once. Returns the tensors and operations of the
/// expressions, in order.
/// Errors: invalid_argument if a variable's name is taken, or a carried number has two values; unimplemented if a size is needed that no
/// placeholder has.
template <expression... Es>
std::vector<graph_element> to_graph(const Es&... es) {
  const detail::any_expression all[]{detail::as_any_expression(es)...};
  return detail::write_expressions(all);
}

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/exchange/impl/to_graph.hpp>
#endif
