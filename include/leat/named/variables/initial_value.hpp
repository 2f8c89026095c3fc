#pragma once
// Initial values that read other variables. Initializers run in no order, so a variable that one reads may not be initialized yet: its
// value is read if it has one, otherwise its own initial value is used. `initialized_value` is that choice, and initial values are
// rewritten with it. Source: TensorFlow `Variable.initialized_value`, `_try_guard_against_uninitialized_dependencies`.

#include <leat/core/function_bodies.hpp>
#include <leat/graph/graph.hpp>

#include <source_location>
#include <string_view>

namespace leat {

/// Whether a variable has a value at run time. Result: bool []. Source: `is_variable_initialized`.
output is_variable_initialized(const output& variable, std::string_view name = "IsVariableInitialized",
                               const std::source_location& where = std::source_location::current());

namespace detail {
// A variable's value, or `otherwise` if it has none.
output value_or(const output& variable, const output& otherwise, const std::source_location& where);
}  // namespace detail

/// A variable's value, or its initial value if it has none yet: a `cond`.
/// Errors: invalid_argument for a tensor that is not a variable of the library. Source: `Variable.initialized_value`.
output initialized_value(const output& variable, const std::source_location& where = std::source_location::current());

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/variables/initial_value_bodies.hpp>
#endif
