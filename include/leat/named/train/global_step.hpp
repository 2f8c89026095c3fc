#pragma once
// The counter of training steps of a graph with names: a non-trainable int64 variable "global_step", in the collection of that name.
// Source: TensorFlow 1.x `train.create_global_step` and related functions.

#include <leat/named/variables/variable_scope.hpp>

namespace leat {

/// The graph's counter: the element of its collection, or a tensor "global_step:0"; empty if there is none.
/// Errors: invalid_argument if it is not an integer scalar. Source: `get_global_step`.
inline output get_global_step(graph& g = default_graph()) {
  output found;
  const auto known = get_tensors(g, collection::global_step);
  if (known.size() > 1) return {};
  if (known.size() == 1) {
    found = known[0];
  } else {
    const int index = g.named().find("global_step");
    if (index < 0 || g.named().record(index).results == 0) return {};
    found = output(g, index);
  }
  if (!is_integer(found.type())) throw invalid_argument("Existing \"global_step\" does not have integer type: " + dtype_text(found));
  if (found.extent().has_rank() && found.extent().rank != 0)
    throw invalid_argument("Existing \"global_step\" is not scalar: " + shape_text(found.extent()));
  return found;
}
/// Creates the counter. Errors: invalid_argument if there is one. Source: `create_global_step`.
inline output create_global_step(graph& g = default_graph(), const std::source_location& where = std::source_location::current()) {
  if (static_cast<bool>(get_global_step(g))) throw invalid_argument("\"global_step\" already exists.");
  const default_graph_scope here(g);
  const name_scope root(g, "");
  return get_variable("global_step", shape_value({}),
                      {.type = dtype::int64,
                       .initializer = zeros,
                       .trainable = false,
                       .collections = {std::string(collection::global_variables), std::string(collection::global_step)}},
                      where);
}
/// The counter, created if there is none. Errors: as `get_global_step`. Source: `get_or_create_global_step`.
inline output get_or_create_global_step(graph& g = default_graph(), const std::source_location& where = std::source_location::current()) {
  const output known = get_global_step(g);
  return static_cast<bool>(known) ? known : create_global_step(g, where);
}

}  // namespace leat
