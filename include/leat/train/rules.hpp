#pragma once
// Optimizers as data: each rule states the update (ops/updates.hpp) that it applies to a variable, the names and initial values of its
// slots, its settings, and the order in which the update takes them. Both typed optimizers (optimizer.hpp) and those of graphs with names
// (named_optimizers.hpp) are made from these rules. Settings are numbered in the order of the optimizer's arguments.

#include <leat/ops/updates.hpp>

namespace leat::train {

/// The initial value of a slot: zeros, ones, or the number of a setting.
struct slot_rule {
  std::string_view name;  // key for `slot`
  int start = -1;         // -1: zeros; -2: ones; otherwise the index of a setting
};
inline constexpr int starts_with_zeros = -1, starts_with_ones = -2;

/// Members of every rule: `update`; `name` (of the typed optimizer); `step_name` (of the step, and of slots, in graphs); `settings`: first
/// those that are inputs, in the order in which TensorFlow creates their nodes, then those that are initial values of slots; `slots`;
/// `powers`: the settings whose power to the number of the step is stored in a variable, "beta1_power"; `arguments`: the update's inputs
/// after the variable, each a setting, a power, "gradient", or "&" and a slot.
using text = std::string_view;

/// Gradient descent. Source: TensorFlow `GradientDescentOptimizer`.
struct gradient_descent_rule {
  using update = leat::update::gradient_descent;
  static constexpr text name = "gradient_descent", step_name = "GradientDescent";
  static constexpr std::array settings{text("learning_rate")};
  static constexpr std::array<slot_rule, 0> slots{};
  static constexpr std::array<text, 0> powers{};
  static constexpr std::array arguments{text("learning_rate"), text("gradient")};
  static constexpr bool flag(text, bool otherwise) { return otherwise; }
};

/// Gradient descent with momentum. Slot: `variable/Momentum`. Source: TensorFlow `MomentumOptimizer`.
template <bool Nesterov>
struct momentum_rule {
  using update = leat::update::momentum;
  static constexpr text name = Nesterov ? "nesterov_momentum" : "momentum", step_name = "Momentum";
  static constexpr std::array settings{text("learning_rate"), text("momentum")};
  static constexpr std::array slots{slot_rule{"momentum"}};
  static constexpr std::array<text, 0> powers{};
  static constexpr std::array arguments{text("&momentum"), text("learning_rate"), text("gradient"), text("momentum")};
  static constexpr bool flag(text what, bool otherwise) { return what == "use_nesterov" ? Nesterov : otherwise; }
};

/// Slot: `variable/Adagrad`. Source: TensorFlow `AdagradOptimizer`.
struct adagrad_rule {
  using update = leat::update::adagrad;
  static constexpr text name = "adagrad", step_name = "Adagrad";
  static constexpr std::array settings{text("learning_rate"), text("initial_accumulator_value")};
  static constexpr std::array slots{slot_rule{"accumulator", 1}};
  static constexpr std::array<text, 0> powers{};
  static constexpr std::array arguments{text("&accumulator"), text("learning_rate"), text("gradient")};
  static constexpr bool flag(text, bool otherwise) { return otherwise; }
};

/// Slots: `variable/Adam` (m), `variable/Adam_1` (v), `beta1_power`, `beta2_power`. Source: TensorFlow `AdamOptimizer`.
struct adam_rule {
  using update = leat::update::adam;
  static constexpr text name = "adam", step_name = "Adam";
  static constexpr std::array settings{text("learning_rate"), text("beta1"), text("beta2"), text("epsilon")};
  static constexpr std::array slots{slot_rule{"m"}, slot_rule{"v"}};
  static constexpr std::array powers{text("beta1"), text("beta2")};
  static constexpr std::array arguments{text("&m"),    text("&v"),    text("beta1_power"), text("beta2_power"), text("learning_rate"),
                                        text("beta1"), text("beta2"), text("epsilon"),     text("gradient")};
  static constexpr bool flag(text, bool otherwise) { return otherwise; }
};

/// Slots like Adam's, `variable/AdamW` and `variable/AdamW_1`, or with LAMB's name.
template <class Update>
struct decayed_adam_rule {
  using update = Update;
  static constexpr bool is_lamb = std::is_same_v<Update, leat::update::lamb>;
  static constexpr text name = is_lamb ? "lamb" : "adam_w", step_name = is_lamb ? "LAMB" : "AdamW";
  static constexpr std::array settings{text("learning_rate"), text("weight_decay"), text("beta1"), text("beta2"), text("epsilon")};
  static constexpr std::array slots{slot_rule{"m"}, slot_rule{"v"}};
  static constexpr std::array powers{text("beta1"), text("beta2")};
  static constexpr std::array arguments{text("&m"),    text("&v"),    text("beta1_power"), text("beta2_power"), text("learning_rate"),
                                        text("beta1"), text("beta2"), text("epsilon"),     text("gradient"),    text("weight_decay")};
  static constexpr bool flag(text, bool otherwise) { return otherwise; }
};

/// Slots: `variable/RMSProp` (ones) and `variable/RMSProp_1`; if centered, the mean of gradients is between them. Source: TensorFlow
/// `RMSPropOptimizer`.
struct rms_prop_rule {
  using update = leat::update::rms_prop;
  static constexpr text name = "rms_prop", step_name = "RMSProp";
  static constexpr std::array settings{text("learning_rate"), text("decay"), text("momentum"), text("epsilon")};
  static constexpr std::array slots{slot_rule{"rms", starts_with_ones}, slot_rule{"momentum"}};
  static constexpr std::array<text, 0> powers{};
  static constexpr std::array arguments{text("&rms"),     text("&momentum"), text("learning_rate"), text("decay"),
                                        text("momentum"), text("epsilon"),   text("gradient")};
  static constexpr bool flag(text, bool otherwise) { return otherwise; }
};
struct centered_rms_prop_rule : rms_prop_rule {
  using update = leat::update::centered_rms_prop;
  static constexpr text name = "centered_rms_prop";
  static constexpr std::array slots{slot_rule{"rms", starts_with_ones}, slot_rule{"mg"}, slot_rule{"momentum"}};
  static constexpr std::array arguments{text("&mg"),   text("&rms"),     text("&momentum"), text("learning_rate"),
                                        text("decay"), text("momentum"), text("epsilon"),   text("gradient")};
};

/// Slots: `variable/Adadelta`, `variable/Adadelta_1`. Source: TensorFlow `AdadeltaOptimizer`.
struct adadelta_rule {
  using update = leat::update::adadelta;
  static constexpr text name = "adadelta", step_name = "Adadelta";
  static constexpr std::array settings{text("lr"), text("rho"), text("epsilon")};
  static constexpr std::array slots{slot_rule{"accum"}, slot_rule{"accum_update"}};
  static constexpr std::array<text, 0> powers{};
  static constexpr std::array arguments{text("&accum"), text("&accum_update"), text("lr"), text("rho"), text("epsilon"), text("gradient")};
  static constexpr bool flag(text, bool otherwise) { return otherwise; }
};

/// Slots: `variable/Ftrl`, `variable/Ftrl_1`. Source: TensorFlow `FtrlOptimizer`.
struct ftrl_rule {
  using update = leat::update::ftrl<true>;
  static constexpr text name = "ftrl", step_name = "Ftrl";
  static constexpr std::array settings{text("learning_rate"),
                                       text("l1_regularization_strength"),
                                       text("l2_regularization_strength"),
                                       text("beta"),
                                       text("l2_shrinkage_regularization_strength"),
                                       text("learning_rate_power"),
                                       text("initial_accumulator_value")};
  static constexpr std::array slots{slot_rule{"accum", 6}, slot_rule{"linear"}};
  static constexpr std::array<text, 0> powers{};
  static constexpr std::array arguments{text("&accum"),
                                        text("&linear"),
                                        text("gradient"),
                                        text("learning_rate"),
                                        text("l1_regularization_strength"),
                                        text("l2"),
                                        text("l2_shrinkage_regularization_strength"),
                                        text("learning_rate_power")};
  static constexpr bool flag(text, bool otherwise) { return otherwise; }
  /// The argument "l2", computed from settings: beta contributes to it, depending on the rate.
  static constexpr output computed(const output& rate, const output& l2, const output& beta) {
    return l2 + beta / (2 * maximum(rate, constant_like(rate, 1e-36)));
  }
};

/// Gradient descent with penalties. Source: TensorFlow `ProximalGradientDescentOptimizer`.
struct proximal_gradient_descent_rule {
  using update = leat::update::proximal_gradient_descent;
  static constexpr text name = "proximal_gradient_descent", step_name = "ProximalGradientDescent";
  static constexpr std::array settings{text("learning_rate"), text("l1_regularization_strength"), text("l2_regularization_strength")};
  static constexpr std::array<slot_rule, 0> slots{};
  static constexpr std::array<text, 0> powers{};
  static constexpr std::array arguments{text("learning_rate"), text("l1_regularization_strength"), text("l2_regularization_strength"),
                                        text("gradient")};
  static constexpr bool flag(text, bool otherwise) { return otherwise; }
};

/// Slot: `variable/ProximalAdagrad`. Source: TensorFlow `ProximalAdagradOptimizer`.
struct proximal_adagrad_rule {
  using update = leat::update::proximal_adagrad;
  static constexpr text name = "proximal_adagrad", step_name = "ProximalAdagrad";
  static constexpr std::array settings{text("learning_rate"), text("l1_regularization_strength"), text("l2_regularization_strength"),
                                       text("initial_accumulator_value")};
  static constexpr std::array slots{slot_rule{"accumulator", 3}};
  static constexpr std::array<text, 0> powers{};
  static constexpr std::array arguments{text("&accumulator"), text("learning_rate"), text("l1_regularization_strength"),
                                        text("l2_regularization_strength"), text("gradient")};
  static constexpr bool flag(text, bool otherwise) { return otherwise; }
};

/// Slots: `variable/AdagradDA`, `variable/AdagradDA_1`. Source: TensorFlow `AdagradDAOptimizer`.
struct adagrad_da_rule {
  using update = leat::update::adagrad_da;
  static constexpr text name = "adagrad_da", step_name = "AdagradDA";
  static constexpr std::array settings{text("learning_rate"), text("l1_regularization_strength"), text("l2_regularization_strength"),
                                       text("global_step"), text("initial_gradient_squared_accumulator_value")};
  static constexpr std::array slots{slot_rule{"gradient_accumulator"}, slot_rule{"gradient_squared_accumulator", 4}};
  static constexpr std::array<text, 0> powers{};
  static constexpr std::array arguments{
      text("&gradient_accumulator"),      text("&gradient_squared_accumulator"), text("gradient"),   text("learning_rate"),
      text("l1_regularization_strength"), text("l2_regularization_strength"),    text("global_step")};
  static constexpr bool flag(text, bool otherwise) { return otherwise; }
};

/// All rules, as template arguments of a table.
template <template <class...> class List>
using all_rules = List<gradient_descent_rule, momentum_rule<false>, momentum_rule<true>, adagrad_rule, adam_rule,
                       decayed_adam_rule<update::adam_w>, decayed_adam_rule<update::lamb>, rms_prop_rule, centered_rms_prop_rule,
                       adadelta_rule, ftrl_rule, proximal_gradient_descent_rule, proximal_adagrad_rule, adagrad_da_rule>;

/// Whether a step subtracts a multiple of the gradient, so that a sum of gradients may be subtracted term by term.
template <class Rule>
inline constexpr bool is_linear_step = std::is_same_v<typename Rule::update, update::gradient_descent>;

/// Whether a step with a gradient of rows changes only these rows: true if TensorFlow has an operator for that. Adam and its variants
/// change all rows, because all moments decay.
template <class Rule>
inline constexpr bool changes_rows_alone = [] {
  if constexpr (requires { Rule::update::of_rows; })
    return Rule::update::of_rows || is_linear_step<Rule>;
  else return false;
}();

/// The position of a name in a list, or -1.
constexpr int position_of(std::span<const text> names, text name) {
  for (std::size_t k = 0; k < names.size(); ++k)
    if (names[k] == name) return static_cast<int>(k);
  return -1;
}
/// Whether a setting is the initial value of a slot, and so not an input of the update.
template <class Rule>
constexpr bool is_start(int setting) {
  for (const slot_rule& s : Rule::slots)
    if (s.start == setting) return true;
  return false;
}

}  // namespace leat::train
