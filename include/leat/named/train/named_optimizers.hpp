#pragma once
// The optimizers of graphs with names: settings, slots and operators of each, as data (named_optimizer.hpp). Gradient descent, momentum
// and Adam are converted from their typed forms (optimizer.hpp); settings may be tensors, such as a decaying learning rate.

#include <leat/core/function_bodies.hpp>
#include <leat/named/exchange/to_graph.hpp>
#include <leat/named/train/named_optimizer.hpp>
#include <leat/train/optimizer.hpp>

namespace leat {

namespace detail {

// A Python float is float32.
operand_value float_setting(const operand_value& v);

optimizer_description describe_gradient_descent(const operand_value& rate);
optimizer_description describe_momentum(const operand_value& rate, const operand_value& momentum, bool nesterov);
optimizer_description describe_adagrad(const operand_value& rate, double start);

// Sparse Adam: all rows of m and v decay and all rows of the variable change.
std::vector<graph_operation> adam_from_rows(const named_optimizer& o, const gradient_value& v, const output& variable);
optimizer_description describe_adam(const operand_value& rate, const operand_value& beta1, const operand_value& beta2,
                                    const operand_value& epsilon);

// Settings of typed optimizers: numbers unchanged, expressions as nodes.
template <class S>
operand_value setting_on_graph(const S& s) {
  using structure = structure_with<typename S::identity>;
  if constexpr (requires { structure::is_plain_number; }) {
    return operand_value(static_cast<float>(std::bit_cast<double>(s.carried[0])));
  } else {
    graph plain;
    const int row = flatten<S>(plain);
    if (plain.at(row).op->kind == op_kind::constant)
      return operand_value(static_cast<float>(value_of_bits(plain.at(row).result.type, plain.attribute(plain.at(row), 0))));
    return operand_value(std::get<output>(to_graph(s)[0]));
  }
}
template <class Rule, tensor_expression... Settings>
optimizer_description describe_typed(const optimizer<Rule, Settings...>& o) {
  return std::apply(
      [](const auto&... s) {
        if constexpr (std::same_as<Rule, train::gradient_descent_rule>) return describe_gradient_descent(setting_on_graph(s)...);
        else if constexpr (std::same_as<Rule, train::momentum_rule<false>>) return describe_momentum(setting_on_graph(s)..., false);
        else if constexpr (std::same_as<Rule, train::momentum_rule<true>>) return describe_momentum(setting_on_graph(s)..., true);
        else return describe_adam(setting_on_graph(s)...);
      },
      o.settings());
}

}  // namespace detail

template <class Rule, tensor_expression... Settings>
named_optimizer::named_optimizer(const optimizer<Rule, Settings...>& typed) : named_optimizer(detail::describe_typed(typed)) {}

/// A typed optimizer for graphs with names, as used by `gradient_descent(0.1f).minimize(loss)`.
template <class Rule, tensor_expression... Settings>
named_optimizer on_graph(const optimizer<Rule, Settings...>& typed) {
  return named_optimizer(typed);
}

// ---- with tensors as settings, or beyond the typed ones ---------------------------------------------------------------

/// `gradient_descent(rate)` with a tensor as its rate. Source: TensorFlow `GradientDescentOptimizer`.
inline named_optimizer gradient_descent(const output& rate) { return named_optimizer(detail::describe_gradient_descent(rate)); }
/// `momentum(rate, m)` with tensors as settings. Source: TensorFlow `MomentumOptimizer`.
named_optimizer momentum(const output& rate, const operand_value& m);
/// `nesterov_momentum(rate, m)` with tensors as settings. Source: TensorFlow `MomentumOptimizer` with `use_nesterov`.
named_optimizer nesterov_momentum(const output& rate, const operand_value& m);
/// `adam(rate, ...)` with tensors as settings. Source: TensorFlow `AdamOptimizer`.
named_optimizer adam(const output& rate, const operand_value& beta1 = 0.9f, const operand_value& beta2 = 0.999f,
                     const operand_value& epsilon = 1e-8f);

/// accumulator += gradient²; variable -= rate gradient / √accumulator (Duchi, Hazan, Singer 2011). Slot: `w/Adagrad`, initially
/// `start`. Errors: invalid_argument if `start` is not positive. Source: TensorFlow `AdagradOptimizer`.
named_optimizer adagrad(const operand_value& rate, double start = 0.1);
/// rms = decay rms + (1 - decay) gradient²; mom = momentum mom + rate gradient / √(rms + ε); variable -= mom. Slots: `w/RMSProp`,
/// initially ones, and `w/RMSProp_1`. Source: TensorFlow `RMSPropOptimizer`; Hinton 2012.
named_optimizer rms_prop(const operand_value& rate, const operand_value& decay = 0.9f, const operand_value& momentum = 0.0f,
                         const operand_value& epsilon = 1e-10f);
/// Steps scaled by the ratio of past steps to past gradients (Zeiler 2012). Slots: `w/Adadelta`, `w/Adadelta_1`.
/// Source: TensorFlow `AdadeltaOptimizer`.
named_optimizer adadelta(const operand_value& rate = 0.001f, const operand_value& rho = 0.95f, const operand_value& epsilon = 1e-8f);

/// Settings of `ftrl`.
struct ftrl_options {
  float learning_rate_power = -0.5f;
  float start = 0.1f;  // initial accumulator
  float l1 = 0;
  float l2 = 0;
  float beta = 0;
};
/// Follow the regularized leader (McMahan et al. 2013). Slots: `w/Ftrl`, initially `start`, and `w/Ftrl_1`.
/// Errors: invalid_argument for settings out of range. Source: TensorFlow `FtrlOptimizer`.
named_optimizer ftrl(float rate, const ftrl_options& options = {});

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/train/named_optimizers_bodies.hpp>
#endif
