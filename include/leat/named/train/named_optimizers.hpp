#pragma once
// The optimizers of graphs with names: settings, slots and operators of each, as data (named_optimizer.hpp). Gradient descent, momentum
// and Adam are converted from their typed forms (optimizer.hpp); settings may be tensors, such as a decaying learning rate.

#include <leat/named/exchange/to_graph.hpp>
#include <leat/named/train/named_optimizer.hpp>
#include <leat/train/optimizer.hpp>

namespace leat {

namespace detail {

// A Python float is float32.
inline operand_value float_setting(const operand_value& v) {
  if (v.literal() == nullptr || v.literal()->type() == data_type::float32) return v;
  return v.literal()->as(dtype::float32);
}

inline optimizer_description describe_gradient_descent(const operand_value& rate) {
  return {.name = "GradientDescent",
          .settings = {{"learning_rate", float_setting(rate)}},
          .dense = {"ApplyGradientDescent", {"learning_rate", "gradient"}},
          .sparse_update =
              [](const named_optimizer& o, const gradient_value& v, const output& variable) {
                graph& g = variable.owner();
                const output rows = v.values * o.argument("learning_rate", variable.type());
                return std::vector<graph_operation>{
                    g.named().raw(g, "ScatterSub", std::array{variable, v.indices, rows},
                                  {{"T", variable.type()}, {"Tindices", v.indices.type()}, {"use_locking", o.locks()}},
                                  {{variable.type(), variable.extent()}})};
              },
          .adds_equal_rows = false};
}
inline optimizer_description describe_momentum(const operand_value& rate, const operand_value& momentum, bool nesterov) {
  return {.name = "Momentum",
          .settings = {{"learning_rate", float_setting(rate)}, {"momentum", float_setting(momentum)}},
          .slots = {{"momentum_slot", as_variable_initializer(zeros)}},
          .dense = {"ApplyMomentum", {"momentum_slot", "learning_rate", "gradient", "momentum"}, {{"use_nesterov", nesterov}}},
          .sparse = {
              "SparseApplyMomentum", {"momentum_slot", "learning_rate", "gradient", "indices", "momentum"}, {{"use_nesterov", nesterov}}}};
}
inline optimizer_description describe_adagrad(const operand_value& rate, double start) {
  return {.name = "Adagrad",
          .settings = {{"learning_rate", float_setting(rate)}},
          .slots = {{"accumulator", constant_initializer(start)}},
          .dense = {"ApplyAdagrad", {"accumulator", "learning_rate", "gradient"}, {{"update_slots", true}}},
          .sparse = {"SparseApplyAdagrad", {"accumulator", "learning_rate", "gradient", "indices"}, {{"update_slots", true}}}};
}

// Sparse Adam: all rows of m and v decay and all rows of the variable change.
inline std::vector<graph_operation> adam_from_rows(const named_optimizer& o, const gradient_value& v, const output& variable) {
  graph& g = variable.owner();
  const dtype type = variable.type();
  const auto scatter_add = [&](const output& to, const output& rows) {
    return g.named()
        .raw(g, "ScatterAdd", std::array{to, v.indices, rows},
             {{"T", type}, {"Tindices", v.indices.type()}, {"use_locking", o.locks()}}, {{type, to.extent()}})
        .result();
  };
  const auto locked = [&](const output& made) {
    g.named().record(made.index()).attributes["use_locking"] = o.locks();
    return made;
  };
  const output power1 = o.argument("beta1_power", type);
  const output power2 = o.argument("beta2_power", type);
  const output rate = o.argument("learning_rate", type);
  const output beta1 = o.argument("beta1", type);
  const output beta2 = o.argument("beta2", type);
  const output epsilon = o.argument("epsilon", type);
  const output rest2 = 1 - power2;
  const output root = sqrt(rest2, {});
  const output raised = rate * root;
  const output rest1 = 1 - power1;
  const output step = raised / rest1;
  const output m = o.slot(variable, "m");
  const output part1 = 1 - beta1;
  const output scaled = v.values * part1;
  const output decayed_m = m * beta1;
  output next_m = locked(assign(m, decayed_m));
  {
    const control_dependencies wait({next_m});
    next_m = scatter_add(m, scaled);
  }
  const output slot_v = o.slot(variable, "v");
  const output squared = v.values * v.values;
  const output part2 = 1 - beta2;
  const output scaled_square = squared * part2;
  const output decayed_v = slot_v * beta2;
  output next_v = locked(assign(slot_v, decayed_v));
  {
    const control_dependencies wait({next_v});
    next_v = scatter_add(slot_v, scaled_square);
  }
  const output v_root = sqrt(next_v, {});
  const output numerator = step * next_m;
  const output denominator = v_root + epsilon;
  const output change = numerator / denominator;
  const output moved = locked(assign_sub(variable, change));
  return {group({moved, next_m, next_v}, "group_deps")};
}
inline optimizer_description describe_adam(const operand_value& rate, const operand_value& beta1, const operand_value& beta2,
                                           const operand_value& epsilon) {
  return {.name = "Adam",
          .settings = {{"learning_rate", float_setting(rate)},
                       {"beta1", float_setting(beta1)},
                       {"beta2", float_setting(beta2)},
                       {"epsilon", float_setting(epsilon)}},
          .slots = {{"m", as_variable_initializer(zeros)}, {"v", as_variable_initializer(zeros)}},
          .powers = {"beta1", "beta2"},
          .dense = {"ApplyAdam",
                    {"m", "v", "beta1_power", "beta2_power", "learning_rate", "beta1", "beta2", "epsilon", "gradient"},
                    {{"use_nesterov", false}}},
          .sparse_update = adam_from_rows};
}

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
inline named_optimizer momentum(const output& rate, const operand_value& m) {
  return named_optimizer(detail::describe_momentum(rate, m, false));
}
/// `nesterov_momentum(rate, m)` with tensors as settings. Source: TensorFlow `MomentumOptimizer` with `use_nesterov`.
inline named_optimizer nesterov_momentum(const output& rate, const operand_value& m) {
  return named_optimizer(detail::describe_momentum(rate, m, true));
}
/// `adam(rate, ...)` with tensors as settings. Source: TensorFlow `AdamOptimizer`.
inline named_optimizer adam(const output& rate, const operand_value& beta1 = 0.9f, const operand_value& beta2 = 0.999f,
                            const operand_value& epsilon = 1e-8f) {
  return named_optimizer(detail::describe_adam(rate, beta1, beta2, epsilon));
}

/// accumulator += gradient²; variable -= rate gradient / √accumulator (Duchi, Hazan, Singer 2011). Slot: `w/Adagrad`, initially
/// `start`. Errors: invalid_argument if `start` is not positive. Source: TensorFlow `AdagradOptimizer`.
inline named_optimizer adagrad(const operand_value& rate, double start = 0.1) {
  if (!(start > 0)) throw invalid_argument("initial_accumulator_value must be positive: " + std::to_string(start));
  return named_optimizer(detail::describe_adagrad(rate, start));
}
/// rms = decay rms + (1 - decay) gradient²; mom = momentum mom + rate gradient / √(rms + ε); variable -= mom. Slots: `w/RMSProp`,
/// initially ones, and `w/RMSProp_1`. Source: TensorFlow `RMSPropOptimizer`; Hinton 2012.
inline named_optimizer rms_prop(const operand_value& rate, const operand_value& decay = 0.9f, const operand_value& momentum = 0.0f,
                                const operand_value& epsilon = 1e-10f) {
  return named_optimizer(optimizer_description{
      .name = "RMSProp",
      .settings = {{"learning_rate", detail::float_setting(rate)},
                   {"decay", detail::float_setting(decay)},
                   {"momentum", detail::float_setting(momentum)},
                   {"epsilon", detail::float_setting(epsilon)}},
      .slots = {{"rms", as_variable_initializer(ones)}, {"momentum_slot", as_variable_initializer(zeros)}},
      .dense = {"ApplyRMSProp", {"rms", "momentum_slot", "learning_rate", "decay", "momentum", "epsilon", "gradient"}},
      .sparse = {"SparseApplyRMSProp", {"rms", "momentum_slot", "learning_rate", "decay", "momentum", "epsilon", "gradient", "indices"}}});
}
/// Steps scaled by the ratio of past steps to past gradients (Zeiler 2012). Slots: `w/Adadelta`, `w/Adadelta_1`.
/// Source: TensorFlow `AdadeltaOptimizer`.
inline named_optimizer adadelta(const operand_value& rate = 0.001f, const operand_value& rho = 0.95f,
                                const operand_value& epsilon = 1e-8f) {
  return named_optimizer(optimizer_description{
      .name = "Adadelta",
      .settings = {{"lr", detail::float_setting(rate)}, {"rho", detail::float_setting(rho)}, {"epsilon", detail::float_setting(epsilon)}},
      .slots = {{"accum", as_variable_initializer(zeros)}, {"accum_update", as_variable_initializer(zeros)}},
      .dense = {"ApplyAdadelta", {"accum", "accum_update", "lr", "rho", "epsilon", "gradient"}},
      .sparse = {"SparseApplyAdadelta", {"accum", "accum_update", "lr", "rho", "epsilon", "gradient", "indices"}}});
}

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
inline named_optimizer ftrl(float rate, const ftrl_options& options = {}) {
  if (options.start < 0)
    throw invalid_argument("initial_accumulator_value " + std::to_string(options.start) + " needs to be positive or zero");
  if (options.learning_rate_power > 0)
    throw invalid_argument("learning_rate_power " + std::to_string(options.learning_rate_power) + " needs to be negative or zero");
  if (options.l1 < 0) throw invalid_argument("l1_regularization_strength " + std::to_string(options.l1) + " needs to be positive or zero");
  if (options.l2 < 0) throw invalid_argument("l2_regularization_strength " + std::to_string(options.l2) + " needs to be positive or zero");
  const auto strength = [rate, options] {
    graph& g = default_graph();
    output least;
    {
      const name_scope scope(g, "Maximum");
      const output x = g.named().make_constant(g, rate, "x");
      const output y = g.named().make_constant(g, 1e-36f, "y");
      least = maximum(x, y, scope.text());
    }
    const output twice = multiply(2.0f, least, "mul");
    const output part = divide(options.beta, twice, "truediv");
    return add(options.l2, part, "add");
  };
  const auto first = [start = options.start](const shape& extent, dtype type) {
    graph& g = default_graph();
    const output one = g.named().make_constant(g, {type, extent, 1}, "ones");
    return multiply(one, start, "mul");
  };
  const std::vector<std::string> arguments{
      "accum", "linear", "gradient", "learning_rate", "l1_regularization_strength", "l2", "learning_rate_power"};
  std::vector<std::string> of_rows = arguments;
  of_rows.insert(of_rows.begin() + 3, "indices");
  return named_optimizer(optimizer_description{.name = "Ftrl",
                                               .settings = {{"learning_rate", rate},
                                                            {"l1_regularization_strength", options.l1},
                                                            {"l2", 0.0f, strength},
                                                            {"beta", options.beta},
                                                            {"l2_shrinkage_regularization_strength", 0.0f},
                                                            {"learning_rate_power", options.learning_rate_power}},
                                               .slots = {{"accum", first}, {"linear", as_variable_initializer(zeros)}},
                                               .dense = {"ApplyFtrl", arguments, {{"multiply_linear_by_lr", false}}},
                                               .sparse = {"SparseApplyFtrl", of_rows, {{"multiply_linear_by_lr", false}}}});
}

}  // namespace leat
