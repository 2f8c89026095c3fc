#pragma once
// Exports typed expressions to a graph with names: `to_graph(loss, train)` adds them to the default graph, where they can be inspected,
// saved and sent. Placeholders, variables and parameters keep their names; other nodes get TensorFlow's. A named dimension, which
// files do not have, becomes an unknown one; where an operator needs its size, the graph computes it from a placeholder's shape.
// Gradients and training steps become what `gradients` and `minimize` make of graphs with names, if the program includes these
// (<leat/graphs.hpp>), and plain operators otherwise.

#include <leat/core/function_bodies.hpp>
#include <leat/named/exchange/any_expression.hpp>
#include <leat/named/graph/lookup.hpp>

namespace leat {

namespace detail {

/// `to_graph` for a list of expressions. `settled` has values of numbers that take precedence over carried ones; `change` is called for each
/// step that is given gradients.
std::vector<graph_element> write_expressions(std::span<const any_expression> expressions, const carried_table& settled = {},
                                             gradient_change change = {});

}  // namespace detail

/// Adds typed expressions to the default graph, shared parts once. Returns their tensors and operations, in order.
/// Errors: invalid_argument if a variable's name is taken, or a number has two values; unimplemented if a size is needed that no
/// placeholder has.
template <expression... Es>
std::vector<graph_element> to_graph(const Es&... es) {
  const detail::any_expression all[]{detail::as_any_expression(es)...};
  return detail::write_expressions(all);
}

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/exchange/to_graph_bodies.hpp>
#endif
