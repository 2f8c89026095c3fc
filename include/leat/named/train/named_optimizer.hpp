#pragma once
// Optimizers on graphs with names: `minimize(loss)` adds TensorFlow 1.x's nodes for gradients, slots, updates and the step counter,
// under its names. An optimizer is a description, plain data: its settings, the slots beside each variable, and the operators that
// update a variable from a dense or a sparse gradient. Typed optimizers convert to one: `gradient_descent(0.1f).minimize(loss)`, and
// `named_optimizer o = adam(0.01f);` to keep one. Source: TensorFlow 1.x `Optimizer` and its classes.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/named_operand.hpp>
#include <leat/named/gradients/gradient_functions.hpp>

namespace leat {

template <class Rule, tensor_expression... Settings>
class optimizer;

/// A gradient and its variable ("w:0"); the gradient may be empty.
struct variable_gradient {
  gradient_value gradient;
  output variable;
};

/// What the gradients of one step wait for: nothing; all gradients of the same node; or all of the graph.
enum class gate_gradients { none, operation, graph };

/// Settings of `apply_gradients`; the defaults are TensorFlow's.
struct apply_options {
  output global_step{};  // an integer variable, incremented after the updates
  std::string name{};    // of the training step; default: the optimizer's name
};

/// Settings of `minimize`; the defaults are TensorFlow's.
struct minimize_options {
  output global_step{};             // an integer variable, incremented after the updates
  std::vector<output> variables{};  // default: all trainable ones
  gate_gradients gate = gate_gradients::operation;
  std::string name{};         // of the training step; default: the optimizer's name
  output gradient_of_loss{};  // the loss's initial gradient; default: ones
};

/// A number, or a tensor, for an optimizer's operators; `compute` makes it in the step's scope.
struct optimizer_setting {
  std::string name;  // of its node: "learning_rate"
  operand_value value;
  std::function<output()> compute{};
  bool keeps_dtype = false;  // others are cast to the variable's
};
/// A variable beside a variable. The slots of `w` with the name "Adam" are "w/Adam", "w/Adam_1" and so on.
struct optimizer_slot {
  std::string name;  // key for `slot`: "momentum"
  variable_initializer start;
};
/// An operator that updates a variable. Its arguments after the variable, in order: names of slots (behind "&" where a setting has the
/// same), of settings, of powers ("beta1_power"), "gradient", "indices".
struct optimizer_update {
  std::string type;
  std::vector<std::string> arguments;
  attribute_map attributes{};
};

class named_optimizer;

/// An optimizer as data.
struct optimizer_description {
  std::string name{};  // of the step, and of slots: "Momentum"
  std::vector<optimizer_setting> settings{};
  std::vector<optimizer_slot> slots{};
  std::vector<std::string> powers{};  // settings whose power to the step's number is kept in a variable: "beta1"
  optimizer_update dense{};
  optimizer_update sparse{};  // no type: a sparse gradient is made dense first
  /// Replaces `sparse`: returns the operations of a sparse update.
  std::function<std::vector<graph_operation>(const named_optimizer&, const gradient_value&, const output&)> sparse_update{};
  /// Replaces `dense`: the same from a whole gradient, where no operator is the update.
  std::function<std::vector<graph_operation>(const named_optimizer&, const gradient_value&, const output&)> dense_update{};
  bool adds_equal_rows = true;  // rows with equal indices are summed before a sparse update
  bool casts_settings = true;   // to the variable's dtype; if not, they must have it
};

class named_optimizer {
 public:
  explicit named_optimizer(optimizer_description what);
  template <class Rule, tensor_expression... Settings>
  named_optimizer(const optimizer<Rule, Settings...>& typed);

  /// The name of the training step and of slots. Source: `get_name`.
  const std::string& name() const;
  /// Renames the training step and new slots.
  named_optimizer& rename(std::string name);
  /// Makes updates lock their variable (the attribute `use_locking`).
  named_optimizer& use_locking(bool locks = true);

  /// The gradients of the loss for the trainable variables of its graph, or for those given.
  /// Errors: invalid_argument without variables, and for a loss that is not floating point. Source: `compute_gradients`.
  std::vector<variable_gradient> compute_gradients(const output& loss, const minimize_options& options = {},
                                                   const std::source_location& where = std::source_location::current()) const;

  /// One training step from gradients: creates missing slots, updates each variable that has a gradient, then increments the counter.
  /// The step is added to the collection `train_op`.
  /// Errors: invalid_argument if there are no variables, or no gradients; for a gradient whose dtype or shape is not its variable's.
  /// Source: `apply_gradients`.
  graph_operation apply_gradients(const std::vector<variable_gradient>& pairs, const output& global_step = {}, std::string_view name = {},
                                  const std::source_location& where = std::source_location::current()) const;

  /// The same with settings by name: `o.apply_gradients(pairs, {.global_step = step})`.
  graph_operation apply_gradients(const std::vector<variable_gradient>& pairs, const apply_options& options,
                                  const std::source_location& where = std::source_location::current()) const;

  /// `compute_gradients` and `apply_gradients`: one training step that reduces the loss.
  /// Errors: those of both; invalid_argument if no variable has a gradient. Source: `minimize`.
  graph_operation minimize(const output& loss, const minimize_options& options = {},
                           const std::source_location& where = std::source_location::current()) const;
  /// The same with a step counter: `o.minimize(loss, step)`.
  graph_operation minimize(const output& loss, const output& global_step,
                           const std::source_location& where = std::source_location::current()) const;

  /// The slot of a variable, "w/Momentum:0" for the name "momentum"; empty before the variable's first update was made.
  /// Source: `get_slot`.
  output slot(const output& variable, std::string_view its_name) const;
  /// The names of its slots. Source: `get_slot_names`.
  std::vector<std::string> slot_names() const;
  /// All variables that it has created, in order. Source: `variables`.
  const std::vector<output>& variables() const;

  /// A setting, or a power, in the dtype of a variable: for descriptions with custom functions.
  output argument(const std::string& name, dtype type) const;
  /// What an update takes: one of the names that `optimizer_update::arguments` may have.
  output argument(const std::string& name, const gradient_value& gradient, const output& variable) const;
  /// Whether updates lock their variable.
  bool locks() const;

 private:
  struct state;

  static std::string list_of(const std::vector<variable_gradient>& pairs);
  static void check(const variable_gradient& p);
  static void gate_all(std::vector<gradient_value>& all);

  // Powers first, beside the variable whose name sorts first, then the slots of each variable.
  void make_slots(const std::vector<output>& variables) const;
  void prepare(graph& g) const;

  std::vector<graph_operation> update(const variable_gradient& p) const;
  graph_operation apply(const optimizer_update& how, const gradient_value& gradient, const output& variable) const;
  // Sums rows with equal indices, so that each index occurs once.
  static gradient_value without_equal_rows(const gradient_value& v);

  // Groups the updates, after the powers are advanced.
  graph_operation finish(graph& g, std::vector<graph_operation> updates, const std::string& its_name) const;

  std::shared_ptr<state> state_;
};

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/train/named_optimizer_bodies.hpp>
#endif
