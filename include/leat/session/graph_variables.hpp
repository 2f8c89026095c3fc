#pragma once
// Operations on all variables of a session: reading their values by name, restoring them, and freezing them to constants.

#include <leat/core/function_bodies.hpp>
#include <leat/named/exchange/export.hpp>
#include <leat/proto/freeze.hpp>
#include <leat/proto/in_quotes.hpp>
#include <leat/session/graph_session_class.hpp>

namespace leat {

/// Values of variables by node name.
using session_values = std::map<std::string, tensor_value, std::less<>>;

namespace detail {

// Whether a variable can hold a value, and the message if it cannot.
bool fits_variable(const output& variable, const tensor_value& value);
std::string misfit_text(const std::string& name, const output& variable, const tensor_value& value);

}  // namespace detail

/// A graph's variables except local ones, by name. Source: the default of TensorFlow's `Saver`.
std::map<std::string, output, std::less<>> saved_variables(graph& g);

/// The current values of these variables. Each is read separately: a concurrent run may write between two reads.
/// Errors: failed_precondition, naming all variables that have no value.
session_values values_of(graph_session& s, const std::map<std::string, output, std::less<>>& variables);
inline session_values values_of(graph_session& s) { return values_of(s, saved_variables(s.owner())); }

/// Assigns all non-local variables of the session's graph, or none if there is an error.
/// Errors: invalid_argument, naming all variables without a value, values without a variable, and mismatched dtypes or shapes.
void restore_values(graph_session& s, const session_values& values);

/// Assigns the non-local variables that have a fitting value. Returns, for each of the others, the reason. Values without a variable are
/// ignored.
std::map<std::string, std::string, std::less<>> restore_known_values(graph_session& s, const session_values& values);

/// The subgraph that the fetches ("y", "y:0") need, with variables replaced by constants of their current values.
/// Errors: those of `freeze`; failed_precondition for a needed variable without a value.
/// Source: `convert_variables_to_constants`.
graph_def freeze(graph_session& s, const std::vector<std::string>& fetches);

}  // namespace leat

#include <leat/session/graph_session.hpp>
#if LEAT_WITH_BODIES
#include <leat/session/impl/graph_variables.hpp>
#endif
