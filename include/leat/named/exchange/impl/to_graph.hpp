#pragma once
// Implementation of to_graph.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/exchange/graph_writer.hpp>
#include <leat/named/exchange/impl/to_graph_loops.hpp>
#include <leat/named/exchange/loop_forms.hpp>
#include <leat/named/exchange/row_writers.hpp>
#include <leat/named/exchange/to_graph.hpp>
#include <leat/named/graph/default_graph.hpp>

namespace leat::detail {

LEAT_FUNCTION std::vector<graph_element> write_expressions(std::span<const any_expression> expressions, const carried_table& settled,
                                                           gradient_change change) {
  graph kept, expanded;  // with derivatives and training steps as they are, and as the operators that compute them
  kept.defers = expression_writers().any_of(&operator_entry::writer, [](const expression_writer& w) { return w.is_deferred; });
  kept.is_written = expanded.is_written = true;
  std::vector<int> rows;
  for (const any_expression& e : expressions) rows.push_back(e.flatten(kept));
  const bool expands = derives_loops_twice(kept);
  if (expands)
    for (std::size_t k = 0; k < rows.size(); ++k) rows[k] = expressions[k].flatten(expanded);
  const graph& plain = expands ? expanded : kept;
  carried_table carried = settled;
  for (const any_expression& e : expressions)
    for (const auto& [id, value] : e.carried)
      if (const auto [known, is_new] = carried.emplace(id, value); !is_new && !(known->second == value) && !settled.contains(id))
        two_values_of(is_array(value));
  graph& g = default_graph();
  graph_writer writer(g, plain, carried);
  writer.change_gradients = std::move(change);
  writer.run(rows);
  std::vector<graph_element> made;
  for (std::size_t k = 0; k < expressions.size(); ++k) {
    const output o = writer.result(rows[k]);
    if (expressions[k].is_tensor) made.emplace_back(o);
    else made.emplace_back(o.operation());
  }
  g.named().settle_names(g);
  return made;
}

}  // namespace leat::detail
