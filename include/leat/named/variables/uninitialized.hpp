#pragma once
// Nodes that report which variables of a named graph are not initialized.

#include <leat/core/function_bodies.hpp>
#include <leat/graph/graph.hpp>

#include <source_location>
#include <vector>

namespace leat {

/// The names of the variables that are not initialized when the node runs, a string tensor [count]. Without a list, all global and local
/// variables are checked.
/// Source: `report_uninitialized_variables`.
output report_uninitialized_variables(std::vector<output> variables, std::string_view name = "report_uninitialized_variables",
                                      const std::source_location& where = std::source_location::current());
output report_uninitialized_variables(std::string_view name = "report_uninitialized_variables",
                                      const std::source_location& where = std::source_location::current());

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/variables/impl/uninitialized.hpp>
#endif
