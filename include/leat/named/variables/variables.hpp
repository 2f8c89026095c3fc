#pragma once
// Variables of named graphs: `variable(value, "w")` makes one; `get_variable("w", {2, 3})` finds or makes one by its name in the variable
// scope. A variable is four nodes: its initial value, itself, its initializer, and a read. Its handle is the result of the variable's node,
// "w:0"; as an operand it stands for the read. With `use_resource` it is a variable by handle instead, as TensorFlow makes them since 1.15:
// each use reads it anew, after the control dependencies around the use. Source: TensorFlow 1.x `Variable`, `get_variable`,
// `variable_scope`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/random.hpp>
#include <leat/named/graph/lookup.hpp>

namespace leat {

/// Options of a new variable.
struct variable_options {
  bool trainable = true;                   // whether optimizers train it by default
  bool validate_shape = true;              // whether its shape must be known, and stays as it is
  std::vector<std::string> collections{};  // empty: the global variables
  std::optional<bool> use_resource{};      // a variable by handle; not given: as the variable scope says, or else not
};

namespace detail {

// During its lifetime new nodes ignore the control dependencies, branches and loops around them, as the nodes of an initial value must.
class without_controls {
 public:
  explicit without_controls(named_nodes& nodes) : nodes_(&nodes), context_(std::exchange(nodes.context, nullptr)) {
    outer_.swap(nodes.controls);
  }
  without_controls(const without_controls&) = delete;
  without_controls& operator=(const without_controls&) = delete;
  ~without_controls();

 private:
  named_nodes* nodes_;
  control_flow_context* context_;
  std::vector<named_nodes::control_frame> outer_;
};

// Makes the variable's own nodes, in the scope of its name.
output finish_variable(graph& g, const output& first_value, const std::string& scope, const variable_options& options);

// During its lifetime new nodes are colocated with the variable of that name.
struct beside_variable {
  named_nodes& nodes;
  beside_variable(named_nodes& its_nodes, const std::string& variable_name) : nodes(its_nodes) {
    nodes.initializer_classes.push_back("loc:@" + variable_name);
  }
  beside_variable(const beside_variable&) = delete;
  beside_variable& operator=(const beside_variable&) = delete;
  ~beside_variable() { nodes.initializer_classes.pop_back(); }
};
// The initial value that a rule makes, in the scope "Initializer".
template <class Rule>
output made_in_initializer(graph& g, const Rule& rule) {
  named_part& nodes = g.named();
  nodes.devices.push_back({.what = named_nodes::device_frame::kind::clear, .spec = {}, .function = {}});
  const struct pop {
    named_nodes& of;
    ~pop() { of.devices.pop_back(); }
  } back{nodes};
  const name_scope initializer_names(g, "Initializer");
  const default_graph_scope here(g);
  return rule();
}

}  // namespace detail

/// A new variable with an initial value: a scalar, an array, or a tensor. If the tensor reads other variables that are not initialized yet,
/// their initial values are used.
/// Shapes and dtypes: those of the value. Errors: invalid_argument for a malformed name, or a value of unknown shape. Source: `Variable`.
output variable(const operand_value& initial, std::string_view name = {}, const variable_options& options = {},
                const std::source_location& where = std::source_location::current());

/// A new variable whose initial value is made by a function. The function is called immediately, outside of branches, loops and control
/// dependencies: `variable([] { return random_normal_of({2, 3}); }, "w")`. Errors: as for an initial value. Source: `Variable` of a
/// callable.
template <class F>
  requires std::is_invocable_r_v<output, const F&>
output variable(const F& initial, std::string_view name = {}, const variable_options& options = {},
                const std::source_location& where = std::source_location::current()) {
  graph& g = default_graph();
  named_part& nodes = g.named();
  const source_scope line(g, where);
  const detail::without_controls free(nodes);
  const name_scope variable_names(g, name.empty() ? "Variable" : name);
  const std::string true_name(without_slash(variable_names.text()));
  const detail::beside_variable with_it(nodes, true_name);
  const output first = detail::made_in_initializer(g, [&]() -> output { return initial(); });
  if (!static_cast<bool>(first)) throw invalid_argument("the initializer of variable " + true_name + " gives no node of a graph");
  return detail::finish_variable(g, nodes.value_of(first), true_name, options);
}

/// The operation that assigns a variable's initial value. Source: `Variable.initializer`.
graph_operation initializer_of(const output& variable);
/// The variable's value as a tensor: "w/read:0". Source: `Variable.value`.
output value_of(const output& variable);
/// A new read of the variable, which waits for the control dependencies around it.
/// Source: `Variable.read_value`.
output read_value(const output& variable, std::string_view name = "read",
                  const std::source_location& where = std::source_location::current());

/// The global variables of the default graph in order of creation; with a scope, those whose names begin with it.
/// Source: `global_variables`.
std::vector<output> global_variables(std::string_view scope = {});
/// The local variables of the default graph in order of creation; with a scope, those whose names begin with it. Source: `local_variables`.
std::vector<output> local_variables(std::string_view scope = {});
/// The trainable variables of the default graph in order of creation; with a scope, those whose names begin with it.
/// Source: `trainable_variables`.
std::vector<output> trainable_variables(std::string_view scope = {});

/// An operation that assigns these variables their initial values. Source: `variables_initializer`.
graph_operation variables_initializer(const std::vector<output>& variables, std::string_view name = "init");
/// An operation that initializes all global variables of the default graph. Source: `global_variables_initializer`.
inline graph_operation global_variables_initializer() { return variables_initializer(global_variables()); }
/// An operation that initializes all local variables of the default graph. Source: `local_variables_initializer`.
inline graph_operation local_variables_initializer() { return variables_initializer(local_variables(), "init"); }

// ---- by name --------------------------------------------------------------------------------------------------------

namespace detail {
partition_info current_part(const shape& extent);
}  // namespace detail

/// The initial value for `get_variable`: either a value (a scalar, a vector, a tensor), or a rule for any shape (an initializer, or a
/// function of shape and dtype).
class first_value {
 public:
  first_value() = default;
  first_value(variable_initializer rule) : rule_(std::move(rule)) {}
  template <initializer I>
  first_value(const I& initial) : rule_(as_variable_initializer(initial)) {}
  first_value(operand_value value) : value_(std::move(value)) {}
  template <class T>
    requires(value_element<T> || std::is_convertible_v<T, std::string>)
  first_value(const T& value) : value_(operand_value(value)) {}
  template <value_element T>
  first_value(const std::vector<T>& values) : value_(operand_value(values)) {}
  first_value(const output& tensor) : value_(operand_value(tensor)) {}
  template <class F>
    requires(!initializer<F> && !std::is_same_v<F, variable_initializer> && std::is_invocable_r_v<output, const F&, const shape&, dtype>)
  first_value(F rule) : rule_(std::move(rule)) {}
  /// A rule that also takes the part of a partitioned variable that it initializes; for a variable that is not partitioned, that part is
  /// the whole.
  template <class F>
    requires std::is_invocable_r_v<output, const F&, const shape&, dtype, const partition_info&>
  first_value(F rule)
      : rule_([rule = std::move(rule)](const shape& extent, dtype type) { return rule(extent, type, detail::current_part(extent)); }) {}
  const variable_initializer& rule() const { return rule_; }
  const std::optional<operand_value>& value() const { return value_; }
  bool given() const { return rule_ || value_; }

 private:
  variable_initializer rule_;
  std::optional<operand_value> value_;
};

/// Settings of `get_variable`; those not given are inherited from the variable scope.
struct variable_settings {
  std::optional<dtype> type{};             // not given: float32, or that of an initial value
  first_value initializer{};               // a rule, such as `random_normal()`, or a value; not given: `glorot_uniform`
  variable_regularizer regularizer{};      // its term is added to the collection `regularization_losses`
  bool trainable = true;                   // whether optimizers train it by default
  std::vector<std::string> collections{};  // empty: the global variables
  std::optional<bool> use_resource{};      // whether it is a variable by handle
};

namespace detail {

std::string shared_problem(std::string_view name, std::string_view what);

// Adds a regularizer's term to the collection of losses, under the variable's name. The function is called twice, as in TensorFlow: first
// to see whether it returns a term.
void regularize(graph& g, const output& made, const std::string& name, const variable_regularizer& regularizer);

output make_shared_variable(graph& g, const std::string& name, const std::optional<shape>& extent, const variable_settings& settings);

}  // namespace detail

namespace detail {
// `get_variable` without partitioning. The library makes the variables that it keeps for other variables this way.
output find_or_make_variable(std::string_view name, const std::optional<shape>& extent, const variable_settings& settings,
                             const std::source_location& where = std::source_location::current());
shape shape_of_value(const operand_value& value);
// Whether `get_variable` with these arguments refers to a partitioned variable.
bool is_partitioned_here(std::string_view name, const std::optional<shape>& extent, const variable_settings& settings);
// The name with the prefix of the variable scope.
std::string full_variable_name(const named_part& nodes, std::string_view name);
// Finds or makes a variable by its full name, without the scope's prefix.
output find_or_make_named(graph& g, const std::string& full, const std::optional<shape>& extent, const variable_settings& settings);
}  // namespace detail

/// The variable with this name in the current variable scope: a new one, or the existing one if the scope reuses variables. Name scopes do
/// not affect its name. The default initializer is the scope's; without one, Glorot's for floating point and zeros for other dtypes. If the
/// scope has a partitioner, the variable is partitioned (named/variables/partitioned_variables.hpp), unless it is a scalar, and the result
/// is its value.
/// Errors: invalid_argument if the variable exists and may not be reused, if it does not exist and must be reused, or if it exists with
/// another shape or dtype.
/// Source: `get_variable`.
output get_variable(std::string_view name, const shape_value& extent, const variable_settings& settings = {},
                    const std::source_location& where = std::source_location::current());
/// `get_variable` with an initial value, which determines the shape: `get_variable("w", {.initializer = 1.5f})`.
output get_variable(std::string_view name, const variable_settings& settings,
                    const std::source_location& where = std::source_location::current());

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/variables/impl/variables.hpp>
#endif
