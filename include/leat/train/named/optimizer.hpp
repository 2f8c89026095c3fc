#pragma once
// Optimizers on graphs with names: `minimize(loss)` adds TensorFlow 1.x's nodes for gradients, slots, updates and the step counter, under
// its names. An optimizer is described by data: its settings, the slots of each variable, and the operators that update a variable from a
// dense or a sparse gradient. Typed optimizers convert to it: `gradient_descent(0.1f).minimize(loss)`, or `named_optimizer o =
// adam(0.01f);` to keep it. Source: TensorFlow 1.x `Optimizer` and its classes.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/operand.hpp>
#include <leat/named/gradients/functions.hpp>

namespace leat {

template <class Rule, tensor_expression... Settings>
class optimizer;

/// A gradient and its variable ("w:0"); the gradient may be empty.
struct variable_gradient {
  gradient_value gradient;  // empty if the loss does not depend on the variable
  output variable;          // what is trained
};

/// What the gradients of one step wait for: nothing, all gradients of the same node, or all gradients of the graph.
enum class gate_gradients { none, operation, graph };

/// Options of `apply_gradients`; the defaults are TensorFlow's.
struct apply_options {
  output global_step{};  // an integer variable, incremented after the updates
  std::string name{};    // name of the training step; default: the optimizer's name
};

/// Options of `minimize`; the defaults are TensorFlow's.
struct minimize_options {
  output global_step{};             // an integer variable, incremented after the updates
  std::vector<output> variables{};  // default: all trainable variables
  gate_gradients gate = gate_gradients::operation;
  std::string name{};         // name of the training step; default: the optimizer's name
  output gradient_of_loss{};  // the loss's initial gradient; default: ones
};

/// A setting that an optimizer's operators take as input, a plain value or a tensor. If `compute` is set, it makes the tensor in the step's
/// scope.
struct optimizer_setting {
  std::string name;  // name of its node: "learning_rate"
  operand_value value;
  std::function<output()> compute{};
  bool keeps_dtype = false;  // other settings are cast to the variable's dtype
};
/// A variable that an optimizer keeps for each variable that it updates. For an optimizer with the name "Adam" the slots of `w` are
/// "w/Adam", "w/Adam_1" and so on.
struct optimizer_slot {
  std::string name;  // the key for `slot`: "momentum"
  variable_initializer start;
};
/// An operator that updates a variable. `arguments` are its inputs after the variable, in order: names of slots (with the prefix "&" if a
/// setting has the same name), of settings, of powers ("beta1_power"), "gradient", "indices".
struct optimizer_update {
  std::string type;
  std::vector<std::string> arguments;
  attribute_map attributes{};
};

class named_optimizer;

/// An optimizer, described by data.
struct optimizer_description {
  std::string name{};  // name of the step, and of slots: "Momentum"
  std::vector<optimizer_setting> settings{};
  std::vector<optimizer_slot> slots{};
  std::vector<std::string> powers{};  // settings s for which a variable holds s to the power of the step's number: "beta1"
  optimizer_update dense{};
  optimizer_update sparse{};  // an empty type: a sparse gradient is made dense first
  /// If set, replaces `sparse`: makes the operations of an update from a sparse gradient.
  std::function<std::vector<graph_operation>(const named_optimizer&, const gradient_value&, const output&)> sparse_update{};
  /// If set, replaces `dense`: makes the operations of an update from a dense gradient, for updates that are no operator.
  std::function<std::vector<graph_operation>(const named_optimizer&, const gradient_value&, const output&)> dense_update{};
  bool adds_equal_rows = true;  // rows with equal indices are summed before a sparse update
  bool casts_settings = true;   // casts settings to the variable's dtype; if false, they must have it
};

/// An optimizer on graphs with names. Source: TensorFlow 1.x `Optimizer`.
class named_optimizer {
 public:
  explicit named_optimizer(optimizer_description what);
  template <class Rule, tensor_expression... Settings>
  named_optimizer(const optimizer<Rule, Settings...>& typed);

  /// The name of the training step and of slots. Source: `get_name`.
  const std::string& name() const;
  /// Renames the training step and new slots.
  named_optimizer& rename(std::string name);
  /// Sets whether updates lock their variable (the attribute `use_locking`).
  named_optimizer& use_locking(bool locks = true);

  /// The gradients of the loss for the trainable variables of its graph, or for the given variables.
  /// Errors: invalid_argument without variables, and for a loss that is not floating point. Source: `compute_gradients`.
  std::vector<variable_gradient> compute_gradients(const output& loss, const minimize_options& options = {},
                                                   const std::source_location& where = std::source_location::current()) const;

  /// One training step from gradients: creates missing slots, updates each variable that has a gradient, then increments the counter.
  /// The step is added to the collection `train_op`.
  /// Errors: invalid_argument if there are no variables, or no gradients; for a gradient whose dtype or shape is not its variable's.
  /// Source: `apply_gradients`.
  graph_operation apply_gradients(const std::vector<variable_gradient>& pairs, const output& global_step = {}, std::string_view name = {},
                                  const std::source_location& where = std::source_location::current()) const;

  /// `apply_gradients` with options by name: `o.apply_gradients(pairs, {.global_step = step})`.
  graph_operation apply_gradients(const std::vector<variable_gradient>& pairs, const apply_options& options,
                                  const std::source_location& where = std::source_location::current()) const;

  /// `compute_gradients` and `apply_gradients`: one training step that reduces the loss.
  /// Errors: those of both; invalid_argument if no variable has a gradient. Source: `minimize`.
  graph_operation minimize(const output& loss, const minimize_options& options = {},
                           const std::source_location& where = std::source_location::current()) const;
  /// `minimize` with a step counter: `o.minimize(loss, step)`.
  graph_operation minimize(const output& loss, const output& global_step,
                           const std::source_location& where = std::source_location::current()) const;

  /// The slot of a variable, "w/Momentum:0" for the name "momentum"; empty before the variable's first update was made.
  /// Source: `get_slot`.
  output slot(const output& variable, std::string_view its_name) const;
  /// The names of the optimizer's slots. Source: `get_slot_names`.
  std::vector<std::string> slot_names() const;
  /// All variables that the optimizer has created, in order. Source: `variables`.
  const std::vector<output>& variables() const;

  /// A setting, or a power, in the dtype of a variable: for descriptions with custom functions.
  output argument(const std::string& name, dtype type) const;
  /// An input of an update, by one of the names that `optimizer_update::arguments` may have.
  output argument(const std::string& name, const gradient_value& gradient, const output& variable) const;
  /// Whether updates lock their variable.
  bool locks() const;

 private:
  struct state;

  static std::string list_of(const std::vector<variable_gradient>& pairs);
  static void check(const variable_gradient& p);
  static void gate_all(std::vector<gradient_value>& all);

  // Makes the powers first, colocated with the variable whose name sorts first, then the slots of each variable.
  void make_slots(const std::vector<output>& variables) const;
  void prepare(graph& g) const;

  std::vector<graph_operation> update(const variable_gradient& p) const;
  graph_operation apply(const optimizer_update& how, const gradient_value& gradient, const output& variable) const;
  // Sums rows with equal indices, so that each index occurs once.
  static gradient_value without_equal_rows(const gradient_value& v);

  // Groups the updates with the updates of the powers, which come last.
  graph_operation finish(graph& g, std::vector<graph_operation> updates, const std::string& its_name) const;

  std::shared_ptr<state> state_;
};

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/train/named/impl/optimizer.hpp>
#endif
