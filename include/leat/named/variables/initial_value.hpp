#pragma once
// Initial values that read other variables. Initializers run in no particular order, so that a variable that one reads may not be
// initialized yet. `initialized_value` reads a variable if it is initialized, and computes its initial value if not; initial values are
// rewritten to use it. Source: TensorFlow `Variable.initialized_value`, `_try_guard_against_uninitialized_dependencies`.

#include <leat/core/function_bodies.hpp>
#include <leat/graph/graph.hpp>

#include <source_location>
#include <string_view>

namespace leat {

/// Whether a variable is initialized, computed at run time. Result: bool []. Source: `is_variable_initialized`.
output is_variable_initialized(const output& variable, std::string_view name = "IsVariableInitialized",
                               const std::source_location& where = std::source_location::current());

namespace detail {
// A variable's value, or `otherwise` if it is not initialized.
output value_or(const output& variable, const output& otherwise, const std::source_location& where);
}  // namespace detail

/// A variable's value, or its initial value if it is not initialized yet: a `cond`.
/// Errors: invalid_argument for a tensor that is not a variable of the library. Source: `Variable.initialized_value`.
output initialized_value(const output& variable, const std::source_location& where = std::source_location::current());

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/variables/impl/initial_value.hpp>
#endif
