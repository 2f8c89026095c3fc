#pragma once
// Implementation of named_optimizers.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/named_math.hpp>
#include <leat/named/train/named_optimizer.hpp>
#include <leat/named/train/named_optimizers.hpp>

namespace leat::detail {

LEAT_FUNCTION optimizer_description describe_gradient_descent(const operand_value& rate) {
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

LEAT_FUNCTION optimizer_description describe_momentum(const operand_value& rate, const operand_value& momentum, bool nesterov) {
  return {.name = "Momentum",
          .settings = {{"learning_rate", float_setting(rate)}, {"momentum", float_setting(momentum)}},
          .slots = {{"momentum_slot", as_variable_initializer(zeros)}},
          .dense = {"ApplyMomentum", {"momentum_slot", "learning_rate", "gradient", "momentum"}, {{"use_nesterov", nesterov}}},
          .sparse = {
              "SparseApplyMomentum", {"momentum_slot", "learning_rate", "gradient", "indices", "momentum"}, {{"use_nesterov", nesterov}}}};
}

LEAT_FUNCTION optimizer_description describe_adagrad(const operand_value& rate, double start) {
  return {.name = "Adagrad",
          .settings = {{"learning_rate", float_setting(rate)}},
          .slots = {{"accumulator", constant_initializer(start)}},
          .dense = {"ApplyAdagrad", {"accumulator", "learning_rate", "gradient"}, {{"update_slots", true}}},
          .sparse = {"SparseApplyAdagrad", {"accumulator", "learning_rate", "gradient", "indices"}, {{"update_slots", true}}}};
}

LEAT_FUNCTION std::vector<graph_operation> adam_from_rows(const named_optimizer& o, const gradient_value& v, const output& variable) {
  graph& g = variable.owner();
  const dtype type = variable.type();
  const auto scatter_add = [&](const output& to, const output& rows) {
    return g.named()
        .raw(g, "ScatterAdd", std::array{to, v.indices, rows}, {{"T", type}, {"Tindices", v.indices.type()}, {"use_locking", o.locks()}},
             {{type, to.extent()}})
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

LEAT_FUNCTION optimizer_description describe_adam(const operand_value& rate, const operand_value& beta1, const operand_value& beta2,
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

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION named_optimizer rms_prop(const operand_value& rate, const operand_value& decay, const operand_value& momentum,
                                       const operand_value& epsilon) {
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

LEAT_FUNCTION named_optimizer adadelta(const operand_value& rate, const operand_value& rho, const operand_value& epsilon) {
  return named_optimizer(optimizer_description{
      .name = "Adadelta",
      .settings = {{"lr", detail::float_setting(rate)}, {"rho", detail::float_setting(rho)}, {"epsilon", detail::float_setting(epsilon)}},
      .slots = {{"accum", as_variable_initializer(zeros)}, {"accum_update", as_variable_initializer(zeros)}},
      .dense = {"ApplyAdadelta", {"accum", "accum_update", "lr", "rho", "epsilon", "gradient"}},
      .sparse = {"SparseApplyAdadelta", {"accum", "accum_update", "lr", "rho", "epsilon", "gradient", "indices"}}});
}

LEAT_FUNCTION named_optimizer ftrl(float rate, const ftrl_options& options) {
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

namespace leat::detail {

LEAT_FUNCTION operand_value float_setting(const operand_value& v) {
  if (v.literal() == nullptr || v.literal()->type() == data_type::float32) return v;
  return v.literal()->as(dtype::float32);
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION named_optimizer adagrad(const operand_value& rate, double start) {
  if (!(start > 0)) throw invalid_argument("initial_accumulator_value must be positive: " + std::to_string(start));
  return named_optimizer(detail::describe_adagrad(rate, start));
}

LEAT_FUNCTION named_optimizer momentum(const output& rate, const operand_value& m) {
  return named_optimizer(detail::describe_momentum(rate, m, false));
}

LEAT_FUNCTION named_optimizer nesterov_momentum(const output& rate, const operand_value& m) {
  return named_optimizer(detail::describe_momentum(rate, m, true));
}

LEAT_FUNCTION named_optimizer adam(const output& rate, const operand_value& beta1, const operand_value& beta2,
                                   const operand_value& epsilon) {
  return named_optimizer(detail::describe_adam(rate, beta1, beta2, epsilon));
}

}  // namespace leat
