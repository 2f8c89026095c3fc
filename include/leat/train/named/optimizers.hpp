#pragma once
// The optimizers of graphs with names: settings, slots and operators of each, as data (named_optimizer.hpp), derived from the same rules as
// typed optimizers (train/rules.hpp). With plain values as settings, call the functions of train/optimizer.hpp and convert the result; the
// functions here take tensors as settings, such as a decaying learning rate.

#include <leat/core/function_bodies.hpp>
#include <leat/named/exchange/to_graph.hpp>
#include <leat/train/named/optimizer.hpp>
#include <leat/train/optimizer.hpp>

namespace leat {

namespace detail {

// A plain value is converted to float32, as TensorFlow converts a Python float; a tensor is unchanged.
operand_value float_setting(const operand_value& v);

// A rule of train/rules.hpp as values, without its type.
struct rule_text {
  std::string_view name, step_name, update, flags;
  bool of_rows = false;
  std::span<const std::string_view> settings, powers, arguments;
  std::span<const train::slot_rule> slots;
  bool (*flag)(std::string_view, bool) = nullptr;
  std::vector<update::change> (*expand)(std::span<const output>) = nullptr;  // set if the update is no operator
};
template <class Rule>
std::vector<update::change> expanded(std::span<const output> inputs) {
  update::row_writer w({inputs.data(), inputs.size()}, Rule::flag);
  Rule::update::expand(w);
  return {w.changes().begin(), w.changes().end()};
}
template <class Rule>
rule_text text_of_rule() {
  rule_text text{.name = Rule::name,
                 .step_name = Rule::step_name,
                 .update = Rule::update::name,
                 .flags = Rule::update::flags,
                 .settings = Rule::settings,
                 .powers = Rule::powers,
                 .arguments = Rule::arguments,
                 .slots = Rule::slots,
                 .flag = Rule::flag};
  if constexpr (Rule::update::name.empty()) text.expand = expanded<Rule>;
  else text.of_rows = Rule::update::of_rows;
  return text;
}
// The rule with this name; nullopt if there is none.
std::optional<rule_text> find_rule(std::uint64_t hash_of_name);

// An optimizer from its rule and settings, which are plain values of any dtype or tensors.
optimizer_description describe_rule(const rule_text& rule, std::span<const operand_value> settings);
template <class Rule>
optimizer_description describe(std::initializer_list<operand_value> settings) {
  return describe_rule(text_of_rule<Rule>(), settings);
}

// Sparse Adam: all rows of m and v decay and all rows of the variable change.
std::vector<graph_operation> adam_from_rows(const named_optimizer& o, const gradient_value& v, const output& variable);

// Converts a typed optimizer's settings: plain values stay so, expressions become nodes.
template <class S>
operand_value setting_on_graph(const S& s) {
  using structure = structure_with<typename S::identity>;
  if constexpr (requires { structure::is_plain_number; }) {
    return operand_value(std::bit_cast<double>(s.carried[0]));
  } else {
    graph plain;
    const int row = flatten<S>(plain);
    if (plain.at(row).op->kind == op_kind::constant)
      return operand_value(value_of_bits(plain.at(row).result.type, plain.attribute(plain.at(row), 0)));
    return operand_value(std::get<output>(to_graph(s)[0]));
  }
}
template <class Rule, tensor_expression... Settings>
optimizer_description describe_typed(const optimizer<Rule, Settings...>& o) {
  return std::apply([](const auto&... s) { return describe<Rule>({setting_on_graph(s)...}); }, o.settings());
}

}  // namespace detail

template <class Rule, tensor_expression... Settings>
named_optimizer::named_optimizer(const optimizer<Rule, Settings...>& typed) : named_optimizer(detail::describe_typed(typed)) {}

/// A typed optimizer converted for graphs with names, as used by `gradient_descent(0.1f).minimize(loss)`.
template <class Rule, tensor_expression... Settings>
named_optimizer on_graph(const optimizer<Rule, Settings...>& typed) {
  return named_optimizer(typed);
}

// ---- with tensors as settings, or without a typed counterpart ---------------------------------------------------------

/// `gradient_descent(rate)` with a tensor as its rate. Source: TensorFlow `GradientDescentOptimizer`.
named_optimizer gradient_descent(const output& rate);
/// `momentum(rate, m)` with tensors as settings. Source: TensorFlow `MomentumOptimizer`.
named_optimizer momentum(const output& rate, const operand_value& m);
/// `nesterov_momentum(rate, m)` with tensors as settings. Source: TensorFlow `MomentumOptimizer` with `use_nesterov`.
named_optimizer nesterov_momentum(const output& rate, const operand_value& m);
/// `adam(rate, ...)` with tensors as settings. Source: TensorFlow `AdamOptimizer`.
named_optimizer adam(const output& rate, const operand_value& beta1 = 0.9, const operand_value& beta2 = 0.999,
                     const operand_value& epsilon = 1e-8);
/// `adam_w(rate, weight_decay, ...)` with tensors as settings. Source: TensorFlow `contrib` `AdamWOptimizer`.
named_optimizer adam_w(const output& rate, const operand_value& weight_decay, const operand_value& beta1 = 0.9,
                       const operand_value& beta2 = 0.999, const operand_value& epsilon = 1e-8);
/// `lamb(rate, ...)` with tensors as settings. Source: You et al. 2019.
named_optimizer lamb(const output& rate, const operand_value& weight_decay = 0.0, const operand_value& beta1 = 0.9,
                     const operand_value& beta2 = 0.999, const operand_value& epsilon = 1e-6);
/// `adagrad(rate, start)` with a tensor as its rate. Source: TensorFlow `AdagradOptimizer`.
named_optimizer adagrad(const output& rate, double start = 0.1);
/// `rms_prop(rate, ...)` with tensors as settings. Source: TensorFlow `RMSPropOptimizer`.
named_optimizer rms_prop(const output& rate, const operand_value& decay = 0.9, const operand_value& momentum = 0.0,
                         const operand_value& epsilon = 1e-10);
/// `centered_rms_prop(rate, ...)` with tensors as settings. Source: TensorFlow `RMSPropOptimizer` with `centered`.
named_optimizer centered_rms_prop(const output& rate, const operand_value& decay = 0.9, const operand_value& momentum = 0.0,
                                  const operand_value& epsilon = 1e-10);
/// `adadelta(rate, ...)` with tensors as settings. Source: TensorFlow `AdadeltaOptimizer`.
named_optimizer adadelta(const output& rate, const operand_value& rho = 0.95, const operand_value& epsilon = 1e-8);
/// `ftrl(rate, options)` with a tensor as its rate. Source: TensorFlow `FtrlOptimizer`.
named_optimizer ftrl(const output& rate, const ftrl_options& options = {});
/// `proximal_gradient_descent(rate, options)` with a tensor as its rate. Settings must have the variable's dtype: with float32 settings, a
/// float64 variable is an error. Source: TensorFlow `ProximalGradientDescentOptimizer`.
named_optimizer proximal_gradient_descent(const output& rate, const proximal_options& options = {});
/// `proximal_adagrad(rate, options)` with a tensor as its rate. Dtypes: as for `proximal_gradient_descent`.
/// Source: TensorFlow `ProximalAdagradOptimizer`.
named_optimizer proximal_adagrad(const output& rate, const proximal_options& options = {});
/// `adagrad_da(rate, step, options)` on graphs: `step` is the counter that is also given to `minimize`. Errors: invalid_argument without a
/// step, and if `start` is not positive. Source: TensorFlow `AdagradDAOptimizer`.
named_optimizer adagrad_da(const operand_value& rate, const output& step, const proximal_options& options = {});

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/train/named/impl/optimizers.hpp>
#endif
