#pragma once
// Implementation of global_step.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/variables/variables.hpp>
#include <leat/train/named/global_step.hpp>

namespace leat {

LEAT_FUNCTION output get_global_step(graph& g) {
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
  if (!is_integer(found.type()))
    throw invalid_argument("Existing \"global_step\" does not have integer type: <dtype: '" + dtype_text(found) + "'>");
  if (found.extent().has_rank() && found.extent().rank != 0)
    throw invalid_argument("Existing \"global_step\" is not scalar: " + shape_text(found.extent()));
  return found;
}

LEAT_FUNCTION output create_global_step(graph& g, const std::source_location& where) {
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

LEAT_FUNCTION output get_or_create_global_step(graph& g, const std::source_location& where) {
  const output known = get_global_step(g);
  return static_cast<bool>(known) ? known : create_global_step(g, where);
}

}  // namespace leat
