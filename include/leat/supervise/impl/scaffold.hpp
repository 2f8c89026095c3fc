#pragma once
// Implementation of scaffold.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/array.hpp>
#include <leat/named/functions/operand.hpp>
#include <leat/named/variables/uninitialized.hpp>
#include <leat/named/variables/variables.hpp>
#include <leat/summary/named_summary.hpp>
#include <leat/supervise/scaffold.hpp>

namespace leat {

namespace detail {

// The names of tables without contents. The library has no tables, so the list is always empty.
inline output report_uninitialized_resources() {
  graph& g = default_graph();
  const name_scope scope(g, "report_uninitialized_resources");
  return constant(tensor_literal(
      data_type::string,
      [] {
        shape s;
        s.push(0);
        return s;
      }(),
      std::vector<std::string>{}));
}

}  // namespace detail

LEAT_FUNCTION graph_operation scaffold::default_local_init_op() {
  const auto tables = get_collection(collection::table_initializers);
  return group({local_variables_initializer(), tables.empty() ? no_op("init_all_tables") : group(tables, "init_all_tables")});
}

namespace detail {

// Keeps the operation that the program gave; if there is none, takes that of an earlier scaffold of the graph, or calls `make`.
template <class Element, class Make>
void take_or_make(graph& g, Element& part, std::string_view collection, Make make) {
  if (static_cast<bool>(part)) return;
  const auto known = get_collection(g, collection);
  if (known.size() > 1)
    throw failed_precondition("More than one item found in the collection '" + std::string(collection) + "'; give the scaffold its own");
  if (const auto* found = known.empty() ? nullptr : std::get_if<Element>(&known[0])) {
    part = *found;
    return;
  }
  part = make();
  add_to_collection(g, collection, part);
}

}  // namespace detail

LEAT_FUNCTION void scaffold::complete(graph& g) {
  if (complete_) return;
  const default_graph_scope here(g);
  const name_scope root(g, "");
  const auto missing = [](const std::vector<output>& variables) {
    return concat({report_uninitialized_variables(variables), detail::report_uninitialized_resources()}, 0);
  };
  detail::take_or_make(g, parts_.init_op, "init_op", [] { return group({global_variables_initializer(), no_op("init")}); });
  detail::take_or_make(g, parts_.ready_op, "ready_op", [&] {
    auto all = global_variables();
    for (const output& v : local_variables()) all.push_back(v);
    return missing(all);
  });
  detail::take_or_make(g, parts_.ready_for_local_init_op, "ready_for_local_init_op", [&] { return missing(global_variables()); });
  detail::take_or_make(g, parts_.local_init_op, "local_init_op", default_local_init_op);
  if (!static_cast<bool>(parts_.summary_op)) {
    if (const auto known = get_tensors(g, "summary_op"); !known.empty()) {
      parts_.summary_op = known[0];
    } else if (!get_collection(g, collection::summaries).empty()) {
      parts_.summary_op = summary::merge_all();
      add_to_collection(g, "summary_op", parts_.summary_op);
    }
  }
  if (parts_.its_saver == nullptr && !saved_variables(g).empty()) parts_.its_saver = std::make_shared<saver>(g);
  finalize(g);
  complete_ = true;
}

}  // namespace leat
