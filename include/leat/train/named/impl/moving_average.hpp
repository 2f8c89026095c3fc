#pragma once
// Implementation of moving_average.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/named/variables/initial_value.hpp>
#include <leat/named/variables/partitioned_variables.hpp>
#include <leat/named/variables/variable_scope.hpp>
#include <leat/train/averages.hpp>
#include <leat/train/named/moving_average.hpp>
#include <leat/train/named/optimizers.hpp>

#include <set>

namespace leat {

struct exponential_moving_average::state {
  using key = std::tuple<std::uint64_t, int, int>;  // of a tensor: its graph's serial number, its node and its port
  operand_value decay;
  moving_average_options options;
  std::map<key, output> averages;
};

namespace detail {

LEAT_FUNCTION bool is_variable_node(const output& of) { return of.owner().at(of.index()).op->kind == op_kind::variable; }

// average -= change, with TensorFlow's nodes, in a scope "AssignMovingAvg". `rest` is 1 - decay.
LEAT_FUNCTION output assign_moving_average(const output& average, const output& value, const output& decay, bool zero_debias) {
  graph& g = average.owner();
  const name_scope scope(g, "AssignMovingAvg");
  const output rest = cast(1.0f - decay, average.type());
  if (!zero_debias)
    return assign_sub(average, average::change(value_of(average), average.owner().named().value_of(value), rest), scope.text());
  output biased, count;
  {
    const variable_scope variables(average.operation().name());
    biased = find_or_make_variable("biased", average.extent(), {.type = average.type(), .initializer = zeros, .trainable = false});
    count = find_or_make_variable("local_step", shape{}, {.type = average.type(), .initializer = zeros, .trainable = false});
  }
  const output sum = assign_sub(biased, average::change(value_of(biased), average.owner().named().value_of(value), rest));
  const output steps = assign_add(count, 1);
  const output one = g.named().make_constant(g, {average.type(), {}, 1}, "Const");
  const output share = average::share(one - rest, steps);
  return assign(average, sum / share, scope.text());
}

}  // namespace detail

LEAT_FUNCTION exponential_moving_average::exponential_moving_average(const operand_value& decay, const moving_average_options& options)
    : state_(std::make_shared<state>(state{detail::float_setting(decay), options, {}})) {}
LEAT_FUNCTION const std::string& exponential_moving_average::name() const { return state_->options.name; }

LEAT_FUNCTION output exponential_moving_average::make_average(const output& of) {
  graph& g = of.owner();
  if (!is_floating(of.type())) throw invalid_argument("The variables must be half, float, or double: " + of.name());
  if (!of.extent().is_static()) throw invalid_argument("exponential_moving_average: the shape of " + describe(of) + " is not known");
  const bool is_variable = detail::is_variable_node(of);
  const detail::without_controls free(g.named());
  const output first = is_variable ? initialized_value(of) : output{};
  const variable_scope scope(nullptr, {.default_name = of.operation().name() + "/" + name()});
  std::optional<colocate_with> there;
  if (is_variable) there.emplace(of);
  if (is_variable) {
    add_to_collection(g, collection::moving_average_variables, of);
    const output made = detail::find_or_make_variable("", std::nullopt, {.initializer = operand_value(first), .trainable = false});
    detail::slice_like(made, of);
    return made;
  }
  return detail::find_or_make_variable("", of.extent(), {.type = of.type(), .initializer = zeros, .trainable = false});
}

LEAT_FUNCTION graph_operation exponential_moving_average::apply(const std::vector<output>& variables, const std::source_location& where) {
  if (variables.empty()) throw invalid_argument("exponential_moving_average: no variables to average");
  for (const output& v : variables)
    if (!static_cast<bool>(v)) throw invalid_argument("exponential_moving_average: a variable that is no node of a graph");
  graph& g = variables.front().owner();
  g.named().check_graph(g, variables);
  const default_graph_scope here(g);
  const source_scope line(g, where);
  for (const output& v : variables) {
    output& known = state_->averages[{g.named().serial(), v.index(), v.port()}];
    if (!static_cast<bool>(known)) {
      try {
        known = make_average(v);
      } catch (...) {
        state_->averages.erase({g.named().serial(), v.index(), v.port()});
        throw;
      }
    }
  }
  const name_scope scope(g, name());
  const auto* tensor = state_->decay.tensor();
  output decay = tensor != nullptr ? g.named().value_of(*tensor) : g.named().make_constant(g, *state_->decay.literal(), "decay");
  if (static_cast<bool>(state_->options.num_updates)) {
    const output count = cast(g.named().value_of(state_->options.num_updates), dtype::float32, "num_updates");
    decay = average::decay_after(decay, count);
  }
  std::vector<control_input> updates;
  for (const output& v : variables) {
    const bool debias = state_->options.zero_debias && !detail::is_variable_node(v);
    updates.emplace_back(detail::assign_moving_average(state_->averages.at({g.named().serial(), v.index(), v.port()}), v, decay, debias));
  }
  return group(updates, scope.text());
}

LEAT_FUNCTION graph_operation exponential_moving_average::apply(const std::source_location& where) {
  return apply(trainable_variables(), where);
}

LEAT_FUNCTION output exponential_moving_average::average(const output& of) const {
  const auto at = state_->averages.find({of.owner().named().serial(), of.index(), of.port()});
  return at == state_->averages.end() ? output{} : at->second;
}

LEAT_FUNCTION std::string exponential_moving_average::average_name(const output& of) const {
  const output known = average(of);
  if (static_cast<bool>(known)) return known.operation().name();
  const default_graph_scope here(of.owner());
  return unique_name(of.operation().name() + "/" + name(), false);
}

LEAT_FUNCTION std::map<std::string, output> exponential_moving_average::variables_to_restore(const std::vector<output>& averaged) const {
  std::map<std::string, output> made;
  std::set<int> seen;
  for (const output& v : averaged)
    if (seen.insert(v.index()).second) made.emplace(average_name(v), v);
  for (const output& v : global_variables())
    if (!seen.contains(v.index())) made.emplace(v.operation().name(), v);
  return made;
}

LEAT_FUNCTION std::map<std::string, output> exponential_moving_average::variables_to_restore() const {
  std::vector<output> averaged = trainable_variables();
  for (const output& v : get_tensors(default_graph(), collection::moving_average_variables)) averaged.push_back(v);
  return variables_to_restore(averaged);
}

}  // namespace leat
