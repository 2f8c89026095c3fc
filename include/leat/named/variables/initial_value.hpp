#pragma once
// Initial values that read other variables. Initializers run in no order, so a variable that one reads may not be initialized yet: its
// value is read if it has one, otherwise its own initial value is used. `initialized_value` is that choice, and initial values are
// rewritten with it. Source: TensorFlow `Variable.initialized_value`, `_try_guard_against_uninitialized_dependencies`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/call.hpp>
#include <leat/named/scopes/scopes.hpp>

namespace leat {

/// Whether a variable has a value at run time. Result: bool []. Source: `is_variable_initialized`.
inline output is_variable_initialized(const output& variable, std::string_view name = "IsVariableInitialized",
                                      const std::source_location& where = std::source_location::current()) {
  graph& g = variable.owner();
  const source_scope line(g, where);
  return call_operator(g, "IsVariableInitialized", {variable}, {}, name).result();
}

namespace detail {
// A variable's value, or `otherwise` if it has none.
output value_or(const output& variable, const output& otherwise, const std::source_location& where);
}  // namespace detail

/// A variable's value, or its initial value if it has none yet: a `cond`.
/// Errors: invalid_argument for a tensor that is not a variable of the library. Source: `Variable.initialized_value`.
output initialized_value(const output& variable, const std::source_location& where = std::source_location::current());

namespace detail {

// Rewrites an initial value so that it reads no variable without a value: copies the nodes on the way, with the new variable's name as
// suffix.
class guarded_first_value {
 public:
  guarded_first_value(graph& g, std::string_view variable_name) : g_(g), nodes_(g.named()), suffix_("_" + std::string(variable_name)) {}

  output guard(const output& value);

 private:
  bool stands_for_itself(int index) const { return g_.at(index).op->type == "IsVariableInitialized"; }
  output at(const output& o) const;
  bool depends_on_loop(int index) const;
  // Empty if the node needs no copy.
  output rewrite(int index);
  bool is_listed(int index) const;

  graph& g_;
  named_part& nodes_;
  std::string suffix_;
  std::map<int, output> made_;  // by node: its replacement, or none
};

}  // namespace detail

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/variables/initial_value_bodies.hpp>
#endif
