#pragma once
// Implementation of named_schedules.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/control/case.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/named/graph/known_value.hpp>
#include <leat/train/named/optimizers.hpp>
#include <leat/train/named/schedules.hpp>
#include <leat/train/schedules.hpp>

namespace leat {

namespace detail {

// Makes the formulas' operations as nodes: plain values become constants, and the result gets the name of the schedule's scope.
class named_schedule {
 public:
  static constexpr bool is_typed = false;
  named_schedule(graph& g, const std::string& scope) : g_(&g), name_(scope) {}
  output rate(const operand_value& value) {
    const operand_value number = float_setting(value);
    const output made = number.tensor() != nullptr ? g_->named().value_of(*number.tensor())
                                                   : g_->named().make_constant(*g_, *number.literal(), "initial_learning_rate");
    if (!is_floating(made.type())) throw invalid_argument("a learning rate is floating point, not " + describe(made));
    type_ = made.type();
    return made;
  }
  template <int>
  output in_dtype(const operand_value& value) {
    if (value.literal() == nullptr) return cast(g_->named().value_of(*value.tensor()), type_);
    const bool whole = value.literal()->type() == data_type::int32 || value.literal()->type() == data_type::int64;
    const tensor_literal number = whole ? *value.literal() : *float_setting(value).literal();
    const name_scope scope(*g_, "Cast");
    const output constant = g_->named().make_constant(*g_, number, "x");
    return constant.type() == type_ ? constant : cast(constant, type_, scope.text());
  }
  static output rounded_down(const output& x) { return floor(x, {}); }
  output product(const output& x, const output& y) { return multiply(x, y, name_); }
  static output inner_product(const output& x, const output& y) { return multiply(x, y); }
  output sum(const output& x, const output& y) { return add(x, y, name_); }
  output quotient(const output& x, const output& y) { return divide(x, y, name_); }

 private:
  graph* g_;
  std::string name_;
  dtype type_ = dtype::float32;
};

LEAT_FUNCTION void check_step(const output& step) {
  if (!static_cast<bool>(step)) throw invalid_argument("None values not supported.");
}
// Calls a formula in a scope of the schedule's name.
template <class Formula>
output in_schedule(const output& step, std::string_view name, const std::source_location& where, Formula formula) {
  check_step(step);
  graph& g = step.owner();
  const default_graph_scope here(g);
  const source_scope line(g, where);
  const name_scope scope(g, name);
  named_schedule w(g, scope.text());
  return formula(w);
}
LEAT_FUNCTION std::string name_or(const std::string& name, const char* otherwise) { return name.empty() ? otherwise : name; }

}  // namespace detail

LEAT_FUNCTION output exponential_decay(const operand_value& rate, const output& step, const operand_value& decay_steps,
                                       const operand_value& decay_rate, const decay_options& options, const std::source_location& where) {
  return detail::in_schedule(step, detail::name_or(options.name, "ExponentialDecay"), where,
                             [&](auto& w) { return schedule::exponential(w, rate, step, decay_steps, decay_rate, options.staircase); });
}

LEAT_FUNCTION output natural_exp_decay(const operand_value& rate, const output& step, const operand_value& decay_steps,
                                       const operand_value& decay_rate, const decay_options& options, const std::source_location& where) {
  detail::check_step(step);
  const default_graph_scope here(step.owner());
  const output base = exp(negative(detail::float_setting(decay_rate), "Neg", where), "Exp", where);
  return exponential_decay(rate, step, decay_steps, base, options, where);
}

LEAT_FUNCTION output inverse_time_decay(const operand_value& rate, const output& step, const operand_value& decay_steps,
                                        const operand_value& decay_rate, const decay_options& options, const std::source_location& where) {
  return detail::in_schedule(step, detail::name_or(options.name, "InverseTimeDecay"), where,
                             [&](auto& w) { return schedule::inverse_time(w, rate, step, decay_steps, decay_rate, options.staircase); });
}

LEAT_FUNCTION output polynomial_decay(const operand_value& rate, const output& step, const operand_value& decay_steps,
                                      const polynomial_decay_options& options, const std::source_location& where) {
  return detail::in_schedule(step, options.name, where, [&](auto& w) {
    return schedule::polynomial(w, rate, step, decay_steps, options.end_learning_rate, options.power, options.cycle);
  });
}

LEAT_FUNCTION output cosine_decay(const operand_value& rate, const output& step, const operand_value& decay_steps,
                                  const cosine_decay_options& options, const std::source_location& where) {
  return detail::in_schedule(step, options.name, where,
                             [&](auto& w) { return schedule::cosine(w, rate, step, decay_steps, options.alpha); });
}

LEAT_FUNCTION output cosine_decay_restarts(const operand_value& rate, const output& step, const operand_value& first_decay_steps,
                                           const cosine_decay_restarts_options& options, const std::source_location& where) {
  return detail::in_schedule(step, options.name, where, [&](auto& w) {
    return schedule::cosine_restarts(w, rate, step, first_decay_steps, options.t_mul, options.m_mul, options.alpha);
  });
}

LEAT_FUNCTION output linear_cosine_decay(const operand_value& rate, const output& step, const operand_value& decay_steps,
                                         const linear_cosine_decay_options& options, const std::source_location& where) {
  return detail::in_schedule(step, options.name, where, [&](auto& w) {
    return schedule::linear_cosine(w, rate, step, decay_steps, options.num_periods, options.alpha, options.beta);
  });
}

LEAT_FUNCTION output piecewise_constant(const output& step, const std::vector<operand_value>& boundaries,
                                        const std::vector<operand_value>& values, std::string_view name,
                                        const std::source_location& where) {
  detail::check_step(step);
  if (boundaries.empty()) throw invalid_argument("piecewise_constant: no boundaries");
  if (boundaries.size() + 1 != values.size()) throw invalid_argument("The length of boundaries should be 1 less than the length of values");
  graph& g = step.owner();
  const default_graph_scope here(g);
  const source_scope line(g, where);
  const output now = g.named().value_of(step);
  const auto as_tensors = [&](const std::vector<operand_value>& all) {
    std::vector<output> made;
    for (const operand_value& v : all) {
      const bool is_double = v.literal() != nullptr && v.literal()->type() == data_type::float64;
      made.push_back(detail::as_tensor(g, is_double ? detail::float_setting(v) : v));
    }
    return made;
  };
  std::vector<output> limits = as_tensors(boundaries);
  const std::vector<output> rates = as_tensors(values);
  for (const output& r : rates)
    if (r.type() != rates.front().type())
      throw invalid_argument("piecewise_constant: values of one dtype, not " + describe(rates.front()) + " and " + describe(r));
  for (output& b : limits) {
    if (b.type() == now.type()) continue;
    const bool widens = b.type() == dtype::int32 && now.type() == dtype::int64;
    if (!widens && !(b.type() == dtype::float32 && now.type() == dtype::float64))
      throw invalid_argument("piecewise_constant: the boundary " + describe(b) + " and the step " + describe(now) +
                             " have different dtypes");
    b = cast(b, now.type());
  }
  const name_scope scope(g, name);
  const auto value = [](const output& v) { return [v] { return v; }; };
  std::vector<case_branch> branches;
  branches.emplace_back(less_equal(now, limits.front()), value(rates.front()));
  branches.emplace_back(greater(now, limits.back()), value(rates.back()));
  for (std::size_t k = 1; k < limits.size(); ++k) {
    const output after = greater(now, limits[k - 1]);
    branches.emplace_back(logical_and(after, less_equal(now, limits[k])), value(rates[k]));
  }
  return case_of(branches, value(rates.front()), {.exclusive = true});
}

}  // namespace leat
