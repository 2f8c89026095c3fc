#pragma once
// Builds the rows of a training step: a rule (rules.hpp) is applied to each variable that a loss depends on, with its slots, its gradient
// and the settings. Also the structures of `minimize` and `apply_gradients`, and the error messages for their arguments.

#include <leat/core/list.hpp>
#include <leat/passes/gradient.hpp>
#include <leat/train/row_gradient.hpp>
#include <leat/train/rules.hpp>
#include <leat/train/setting.hpp>

namespace leat {

namespace train {

using leat::detail::list;
using leat::detail::list_view;

/// A slot of an optimizer: a variable that belongs to another variable, named `variable/name` as TensorFlow names it.
constexpr output slot(graph& g, const output& variable, std::string_view full_name, std::uint64_t kind, initializer_kind start,
                      std::uint64_t start_id = 0) {
  const tensor_info info{variable.type(), variable.extent()};
  const std::uint64_t id = mix(g.at(variable.index()).id, kind);
  if (const int known = g.find(id); known >= 0) return {g, known};
  const std::int64_t attribute[]{static_cast<std::int64_t>(start), 0, start_id == 0 ? 0 : 1, static_cast<std::int64_t>(start_id)};
  const int made = g.add_leaf(info_of<variable_op>, info, full_name, id, attribute);
  g.remember(id, made);
  return {g, made};
}

/// The source of an optimizer's setting (rate, momentum, …): a plain number that the expressions carry under `id`, or the node `row`, which
/// is the expression with this id.
struct setting_source {
  std::uint64_t id = 0;
  int row = -1;
  constexpr bool is_plain() const { return row < 0; }
};
/// A setting in the dtype of the variable that it is applied to.
constexpr output setting(graph& g, const setting_source& from, dtype type) {
  if (!from.is_plain()) return cast_to(output(g, from.row), type);
  const std::uint64_t id = mix(from.id, static_cast<std::uint64_t>(type) + 5000);
  if (const int known = g.find(id); known >= 0) return {g, known};
  const std::int64_t carried[]{static_cast<std::int64_t>(from.id)};
  const int made = g.add_leaf(info_of<number_op>, {type, {}}, {}, id, carried);
  g.remember(id, made);
  return {g, made};
}
/// A power of a setting, βᵗ in step t, stored in a scalar variable: TensorFlow's `beta1_power`.
struct kept_power {
  output variable;
  output now;   // the power in this step
  output next;  // value of the variable after this step
};
// If β is a plain number, its variable starts at β, as in TensorFlow; if β is an expression, the variable starts at 1.
constexpr kept_power power_of(graph& g, const setting_source& beta, dtype type, std::string_view name) {
  const bool plain = beta.is_plain();
  const std::uint64_t id = mix(mix(hash_text(name), beta.id), static_cast<std::uint64_t>(type));
  int index = g.find(id);
  if (index < 0) {
    const std::int64_t attribute[]{static_cast<std::int64_t>(plain ? initializer_kind::number : initializer_kind::ones), 0, plain ? 1 : 0,
                                   plain ? static_cast<std::int64_t>(beta.id) : 0};
    index = g.add_leaf(info_of<variable_op>, {type, {}}, name, id, attribute);
    g.remember(id, index);
  }
  const output variable(g, index);
  const output product = variable * setting(g, beta, type);
  return {variable, plain ? variable : product, product};
}

/// The settings of a rule, in the order of its optimizer's arguments.
using rule_settings = list_view<setting_source>;

/// Appends the rows of one variable's step: its slots, and the changes that the rule's update makes to the variable and the slots.
template <class Rule>
constexpr void apply_update(graph& g, rule_settings s, const output& variable, const output& gradient, list<int>& updates) {
  const row_step rows(variable, changes_rows_alone<Rule> && !g.is_written ? rows_of(gradient) : row_gradient{}, is_linear_step<Rule>);
  const dtype type = variable.type();
  const auto its_name = g.at(variable.index()).name;
  list<output> slots;
  for (const slot_rule& r : Rule::slots) {
    const auto number = slots.size();
    const std::string_view numbered[]{"", "_1", "_2"};
    const auto full_name = g.keep(g.keep(its_name, "/"), g.keep(Rule::step_name, numbered[number]));
    const std::uint64_t kind = mix(hash_text(Rule::step_name), number);
    if (r.start < 0)
      slots.push_back(slot(g, variable, full_name, kind, r.start == starts_with_ones ? initializer_kind::ones : initializer_kind::zeros));
    else slots.push_back(slot(g, variable, full_name, kind, initializer_kind::number, s[static_cast<std::size_t>(r.start)].id));
  }
  list<output> written{variable}, inputs{rows.values_of(variable)};
  for (const text a : Rule::arguments) {
    written.push_back({});
    if (a == "gradient") {
      inputs.push_back(rows ? rows.gradient() : gradient);
    } else if (a.starts_with("&")) {
      for (std::size_t k = 0; k < slots.size(); ++k)
        if (Rule::slots[k].name == a.substr(1)) inputs.push_back(rows.values_of(written.back() = slots[k]));
    } else if (a.ends_with("_power") && position_of(Rule::powers, a.substr(0, a.size() - 6)) >= 0) {
      const int setting = position_of(Rule::settings, a.substr(0, a.size() - 6));
      inputs.push_back(power_of(g, s[static_cast<std::size_t>(setting)], type, a).now);
    } else if (const int at = position_of(Rule::settings, a); at >= 0) {
      inputs.push_back(setting(g, s[static_cast<std::size_t>(at)], type));
    } else if constexpr (requires { Rule::computed; }) {
      inputs.push_back(Rule::computed(setting(g, s[0], type), setting(g, s[2], type), setting(g, s[3], type)));
    }
  }
  update::row_writer w(inputs, Rule::flag);
  Rule::update::expand(w);
  for (const update::change& c : w.changes()) {
    const output& to = written[static_cast<std::size_t>(c.variable)];
    const output made = rows ? rows.write(to, c.value, c.subtract) : c.subtract ? assign_sub(to, c.value) : assign(to, c.value);
    updates.push_back(made.index());
  }
}
/// Advances the powers of settings, after all variables of a dtype.
template <class Rule>
constexpr void advance_powers(graph& g, rule_settings s, dtype type, list<int>& updates) {
  for (const text p : Rule::powers) {
    const int at = position_of(Rule::settings, p);
    const auto power = power_of(g, s[static_cast<std::size_t>(at)], type, g.keep(p, "_power"));
    updates.push_back(assign(power.variable, power.next).index());
  }
}

}  // namespace train

/// A gradient and its variable.
template <tensor_expression Gradient, tensor_expression Variable>
struct gradient_and_variable {
  Gradient gradient;
  Variable variable;
};
/// Pairs a gradient, or a transformed gradient, with its variable, for `apply_gradients`.
template <tensor_expression Gradient, tensor_expression Variable>
constexpr gradient_and_variable<Gradient, Variable> with_variable(const Gradient& gradient, const Variable& variable) {
  return {gradient, variable};
}
LEAT_OTHERWISE("with_variable(gradient, variable) takes two tensors; " LEAT_TENSORS) with_variable(...) LEAT_DELETED;

namespace detail {

struct no_step {};

// One step: the rule's updates of all variables, then the step counter, if there is one.
template <class Rule>
constexpr int apply_rule(graph& g, train::rule_settings settings, const list<int>& variables, const list<int>& gradients,
                         int counter) {
  list<int> updates;
  list<dtype> types;
  for (std::size_t k = 0; k < variables.size(); ++k) {
    const output v(g, variables[k]);
    train::apply_update<Rule>(g, settings, v, output(g, gradients[k]), updates);
    bool known = false;
    for (dtype t : types) known = known || t == v.type();
    if (!known) types.push_back(v.type());
  }
  for (dtype t : types) train::advance_powers<Rule>(g, settings, t, updates);
  if (counter >= 0) {
    const int inputs[]{counter, constant_like(output(g, counter), 1).index()};
    updates.push_back(g.add(info_of<assign_add_op>, inputs, {}, updates));
  }
  return g.add(info_of<group_op>, {}, {}, updates);
}
/// The same for a loss: a step on all trainable variables that it depends on.
template <class Rule>
constexpr int minimize_by_rule(graph& g, train::rule_settings settings, int loss, int counter) {
  const auto variables = passes::trainable_variables(g, loss);
  return apply_rule<Rule>(g, settings, variables, passes::gradients(g, loss, variables), counter);
}

template <class... Es>
struct expression_list {};

// A training step in tables that defer steps. Attributes: the rule; the number of gradients, or 0 if the first operand is a loss; whether
// there is a counter; then for each setting 1 and the id of the plain number that it carries, or 0 and the id of the expression that is an
// operand. Operands: the loss, or gradients and then their variables; the counter; settings.
struct deferred_step_op {
  static constexpr std::string_view type = "leat.TrainingStep";
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list&) { return {dtype::invalid, {}}; }
};
// A gradient of rows in such tables, for an optimizer's step. Operands: rows [k, d…], and their unique indices [k]; the attribute is the
// number of rows of the variable [n, d…].
struct deferred_rows_op {
  static constexpr std::string_view type = "leat.RowGradient";
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list& x) { return segment_sum_op::infer(x); }
};
constexpr int defer_step(graph& g, std::string_view rule, list<int> inputs, std::int64_t gradients, int counter,
                         train::rule_settings settings) {
  list<std::int64_t> numbers{static_cast<std::int64_t>(hash_text(rule)), gradients, counter >= 0 ? 1 : 0};
  if (counter >= 0) inputs.push_back(counter);
  for (const train::setting_source& s : settings) {
    numbers.push_back(s.is_plain() ? 1 : 0);
    numbers.push_back(static_cast<std::int64_t>(s.id));
    if (!s.is_plain()) inputs.push_back(s.row);
  }
  return g.add(info_of<deferred_step_op>, inputs, numbers);
}
template <class Step>
constexpr int enter_counter([[maybe_unused]] graph& g) {
  if constexpr (std::is_same_v<Step, no_step>) return -1;
  else return flatten<Step>(g);
}
template <class E>
constexpr train::setting_source enter_setting([[maybe_unused]] graph& g) {
  using structure = structure_with<typename E::identity>;
  if constexpr (requires { structure::is_plain_number; }) return {structure::hash};
  else return {E::identity::hash, flatten<E>(g)};
}

template <class Rule, class Loss, class Step, class... Settings>
struct minimize_structure;
template <class Rule, class Loss, class... Settings>
struct minimize_structure<Rule, Loss, no_step, Settings...> : carries<Loss, Settings...> {
  template <class E>
  static constexpr int enter(graph& g) {
    return enter_with<no_step>(g);
  }
  template <class Step>
  static constexpr int enter_with(graph& g) {
    const int loss = flatten<Loss>(g), counter = enter_counter<Step>(g);
    const train::setting_source settings[]{enter_setting<Settings>(g)...};
    if (g.defers) return defer_step(g, Rule::name, {loss}, 0, counter, settings);
    return minimize_by_rule<Rule>(g, settings, loss, counter);
  }
};
template <class Rule, class Loss, tensor_expression Step, class... Settings>
struct minimize_structure<Rule, Loss, Step, Settings...> : carries<Loss, Step, Settings...> {
  template <class E>
  static constexpr int enter(graph& g) {
    return minimize_structure<Rule, Loss, no_step, Settings...>::template enter_with<Step>(g);
  }
};

template <class Rule, class Pairs, class Step, class... Settings>
struct apply_structure;
// The numbers that a list of expressions carries in addition to the settings: those of the counter, if there is one.
template <class Step, class... Es>
struct carries_with_step : carries<Es...> {};
template <tensor_expression Step, class... Es>
struct carries_with_step<Step, Es...> : carries<Step, Es...> {};
template <class Rule, class... Gs, class... Vs, class Step, class... Settings>
struct apply_structure<Rule, expression_list<gradient_and_variable<Gs, Vs>...>, Step, Settings...>
    : carries_with_step<Step, Gs..., Vs..., Settings...> {
  template <class E>
  static constexpr int enter(graph& g) {
    const list<int> gradients{flatten<Gs>(g)...}, variables{flatten<Vs>(g)...};
    const int counter = enter_counter<Step>(g);
    const train::setting_source settings[]{enter_setting<Settings>(g)...};
    if (g.defers)
      return defer_step(g, Rule::name, {flatten<Gs>(g)..., flatten<Vs>(g)...}, static_cast<std::int64_t>(sizeof...(Gs)), counter, settings);
    return apply_rule<Rule>(g, settings, variables, gradients, counter);
  }
};

template <class Loss>
struct loss_problem {
  static constexpr message text() {
    message m;
    if (Loss::rank != 0) return m << "minimize: the loss is not a scalar; reduce_mean or reduce_sum makes it one";
    if (!is_floating(Loss::type)) return m << "minimize: the loss is not floating-point";
    graph g;
    const int loss = flatten<Loss>(g);
    if (passes::trainable_variables(g, loss).empty()) m << "minimize: no gradient reaches a trainable variable from the loss";
    return m;
  }
  static constexpr bool none = text().size == 0;
};
// Handles have no such problem: clang instantiates the type before it checks the function's constraints.
template <class Loss>
struct loss_refusal {};
template <tensor_expression Loss>
struct loss_refusal<Loss> {
  using problem = error_in_expression<problem_text<loss_problem<Loss>>(), operand_text<Loss>()>;
};
template <class G, class V>
struct pair_problem {
  static constexpr bool none = G::type == V::type && G::extent == V::extent && variable_expression<V>;
  static constexpr message text() {
    return message{} << (variable_expression<V> ? "apply_gradients: the gradient has not the dtype and shape of the variable"
                                                : "apply_gradients: the second of a pair is not a variable");
  }
};
// Reports the first wrong pair of several.
template <class Gs, class Vs>
struct pair_refusal {};
template <class G, class V>
struct wrong_pair {
  using problem = error_in_expression<problem_text<pair_problem<G, V>>(), operand_text<G>(), operand_text<V>()>;
};
template <class G, class... Gs, class V, class... Vs>
struct pair_refusal<expression_list<G, Gs...>, expression_list<V, Vs...>>
    : std::conditional_t<pair_problem<G, V>::none, pair_refusal<expression_list<Gs...>, expression_list<Vs...>>, wrong_pair<G, V>> {};

// The variables of a loss as types, which one differentiation in constant evaluation finds.
struct variable_signature {
  std::uint64_t id = 0;
  tensor_info info;
};
template <class Loss>
struct loss_variables {
  static constexpr int most = 64;
  struct list {
    variable_signature row[most]{};
    int size = 0;
  };
  static constexpr list found = [] {
    list l;
    graph g;
    const int loss = flatten<Loss>(g);
    for (int v : passes::trainable_variables(g, loss))
      if (l.size < most) l.row[l.size++] = {g.at(v).id, g.at(v).result};
    return l;
  }();
  template <int K, std::size_t... D>
  static auto one(std::index_sequence<D...>)
      -> tensor<element_of<found.row[K].info.type>, dims<found.row[K].info.extent.dim[D]...>, id<found.row[K].id>>;
  template <int K>
  using nth = decltype(one<K>(std::make_index_sequence<static_cast<std::size_t>(found.row[K].info.extent.rank)>{}));
};
// An expression that is part of another, with the numbers that it carries.
template <class To, class From>
constexpr To part_of(const From& from) {
  To result;
  using source = structure_with<typename From::identity>;
  using target = structure_with<typename To::identity>;
  if constexpr (target::carried_count > 0)
    for (int i = 0; i < target::carried_ids.size; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const auto& value = from.carried[static_cast<std::size_t>(source::carried_ids.find(target::carried_ids.id[at]))];
      auto& to = result.carried[at];
      if constexpr (target::carries_arrays) to = value;
      else to = bits_of_carried(value);
    }
  return result;
}

}  // namespace detail

}  // namespace leat
