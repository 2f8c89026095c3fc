#pragma once
// Optimizers. Each is one rule (rules.hpp) whose update, written over rows with the library's own operators, says what becomes of a
// variable, its slots and its gradient in one step. Fusion makes one pass of it; where the gradient is of rows that were looked up, it
// is written over these rows alone (row_gradient.hpp). `minimize` finds the variables that the loss depends
// on, differentiates, and applies the rule to each; `compute_gradients` and `apply_gradients` are the two halves, for
// what is done to gradients between them.

#include <leat/passes/gradient.hpp>
#include <leat/train/row_gradient.hpp>
#include <leat/train/rules.hpp>
#include <leat/train/setting.hpp>

#include <source_location>

namespace leat {

namespace train {

/// A slot: a variable beside a variable, named `variable/name` as TensorFlow names it.
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

/// Where a setting of an optimizer (rate, momentum, …) comes from: a plain number that the expressions carry under `id`, or the node
/// `row`, the expression with this id.
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
/// A power of a setting, βᵗ in step t, kept as a scalar variable: TensorFlow's `beta1_power`.
struct kept_power {
  output variable;
  output now;   // in this step
  output next;  // what the variable holds after it
};
// A plain number starts its variable at β, as in TensorFlow; where β is an expression the variable starts at 1.
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
using rule_settings = std::span<const setting_source>;

/// The rows of one variable's step: slots, and what the rule's update makes of them.
template <class Rule>
constexpr void apply_update(graph& g, rule_settings s, const output& variable, const output& gradient, std::vector<int>& updates) {
  const row_step rows(variable, changes_rows_alone<Rule> && !g.is_written ? rows_of(gradient) : row_gradient{});
  const dtype type = variable.type();
  const auto its_name = g.at(variable.index()).name;
  std::vector<output> slots;
  for (const slot_rule& r : Rule::slots) {
    const auto number = slots.size();
    const std::string_view numbered[]{"", "_1", "_2"};
    const auto full_name = g.keep(g.keep(its_name, "/"), g.keep(Rule::step_name, numbered[number]));
    const std::uint64_t kind = mix(hash_text(Rule::step_name), number);
    if (r.start < 0)
      slots.push_back(slot(g, variable, full_name, kind, r.start == starts_with_ones ? initializer_kind::ones : initializer_kind::zeros));
    else slots.push_back(slot(g, variable, full_name, kind, initializer_kind::number, s[static_cast<std::size_t>(r.start)].id));
  }
  std::vector<output> written{variable}, inputs{rows.values_of(variable)};
  for (const text a : Rule::arguments) {
    written.emplace_back();
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
  update::row_writer w(std::span<const output>(inputs), Rule::flag);
  Rule::update::expand(w);
  for (const update::change& c : w.changes()) {
    const output& to = written[static_cast<std::size_t>(c.variable)];
    const output made = rows ? rows.write(to, c.value, c.subtract) : c.subtract ? assign_sub(to, c.value) : assign(to, c.value);
    updates.push_back(made.index());
  }
}
/// After all variables of a dtype: the powers of settings advance.
template <class Rule>
constexpr void advance_powers(graph& g, rule_settings s, dtype type, std::vector<int>& updates) {
  for (const text p : Rule::powers) {
    const int at = position_of(Rule::settings, p);
    const auto power = power_of(g, s[static_cast<std::size_t>(at)], type, g.keep(p, "_power"));
    updates.push_back(assign(power.variable, power.next).index());
  }
}

}  // namespace train

/// A gradient and the variable that it is for.
template <tensor_expression Gradient, tensor_expression Variable>
struct gradient_and_variable {
  Gradient gradient;
  Variable variable;
};
/// Pairs a gradient, or what was made of it, with its variable, for `apply_gradients`.
template <tensor_expression Gradient, tensor_expression Variable>
constexpr gradient_and_variable<Gradient, Variable> with_variable(const Gradient& gradient, const Variable& variable) {
  return {gradient, variable};
}
LEAT_OTHERWISE("with_variable(gradient, variable) takes two tensors; " LEAT_TENSORS) with_variable(...) LEAT_DELETED;

namespace detail {

struct no_step {};

// One step: the rule's updates of all variables, then, if there is one, the step counter.
template <class Rule>
constexpr int apply_rule(graph& g, train::rule_settings settings, const std::vector<int>& variables, const std::vector<int>& gradients,
                         int counter) {
  std::vector<int> updates;
  std::vector<dtype> types;
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
/// The same from a loss: of all trainable variables that it depends on.
template <class Rule>
constexpr int minimize_by_rule(graph& g, train::rule_settings settings, int loss, int counter) {
  const auto variables = passes::trainable_variables(g, loss);
  return apply_rule<Rule>(g, settings, variables, passes::gradients(g, loss, variables), counter);
}

template <class... Es>
struct expression_list {};

// A training step in tables that defer them. Attributes: the rule, what the operands are (how many gradients, or 0 where the first
// is a loss; whether a counter is there), then for each setting 1 and the id of the plain number that it carries, or 0 and the id of
// the expression that is an operand. Operands: the loss, or gradients and then their variables; the counter; settings.
struct deferred_step_op {
  static constexpr std::string_view type = "leat.TrainingStep";
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list&) { return {dtype::invalid, {}}; }
};
// A gradient of rows in such tables, for an optimizer's step: operands are rows [k, d…], and their indices [k], each once; the attribute is
// the number of rows of the variable [n, d…].
struct deferred_rows_op {
  static constexpr std::string_view type = "leat.RowGradient";
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list& x) { return segment_sum_op::infer(x); }
};
constexpr int defer_step(graph& g, std::string_view rule, std::vector<int> inputs, std::int64_t gradients, int counter,
                         train::rule_settings settings) {
  std::vector<std::int64_t> numbers{static_cast<std::int64_t>(hash_text(rule)), gradients, counter >= 0 ? 1 : 0};
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
// What an expression list carries beside the settings: the counter's numbers, where there is one.
template <class Step, class... Es>
struct carries_with_step : carries<Es...> {};
template <tensor_expression Step, class... Es>
struct carries_with_step<Step, Es...> : carries<Step, Es...> {};
template <class Rule, class... Gs, class... Vs, class Step, class... Settings>
struct apply_structure<Rule, expression_list<gradient_and_variable<Gs, Vs>...>, Step, Settings...>
    : carries_with_step<Step, Gs..., Vs..., Settings...> {
  template <class E>
  static constexpr int enter(graph& g) {
    const std::vector<int> gradients{flatten<Gs>(g)...}, variables{flatten<Vs>(g)...};
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
// Of handles there is none: clang asks for the type before it looks at what the function requires.
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
// Of several pairs the first that is wrong.
template <class Gs, class Vs>
struct pair_refusal {};
template <class G, class V>
struct wrong_pair {
  using problem = error_in_expression<problem_text<pair_problem<G, V>>(), operand_text<G>(), operand_text<V>()>;
};
template <class G, class... Gs, class V, class... Vs>
struct pair_refusal<expression_list<G, Gs...>, expression_list<V, Vs...>>
    : std::conditional_t<pair_problem<G, V>::none, pair_refusal<expression_list<Gs...>, expression_list<Vs...>>, wrong_pair<G, V>> {};

// The variables of a loss as types, found by differentiating it once in constant evaluation.
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
// An expression inside another, with the numbers that it carries.
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

/// What makes an optimizer: `gradient_descent(0.1f)`, `adam(parameter<"rate">(0.001f))`.
template <class O>
concept optimizer_like = requires { typename O::rule; };

struct minimize_options;  // in named/train/named_optimizer.hpp

/// An optimizer: a rule and its settings. Made by `gradient_descent`, `adam` and the other functions below.
template <class Rule, tensor_expression... Settings>
class optimizer {
 public:
  using rule = Rule;
  constexpr explicit optimizer(const Settings&... settings) : settings_(settings...) {}
  constexpr const std::tuple<Settings...>& settings() const { return settings_; }

  /// One training step on all trainable variables that the loss depends on; `step`, an integer variable, rises by one after
  /// the updates. Errors (at compile time): the loss is not a scalar, or no gradient reaches a variable.
  /// Source: TensorFlow `Optimizer.minimize`.
  template <tensor_expression Loss>
    requires detail::loss_problem<Loss>::none
  constexpr auto minimize(const Loss& loss) const {
    return make<501, Loss, detail::minimize_structure<Rule, Loss, detail::no_step, Settings...>>(loss);
  }
  template <tensor_expression Loss, detail::variable_expression Step>
    requires(detail::loss_problem<Loss>::none && is_integer(Step::type))
  constexpr auto minimize(const Loss& loss, const Step& step) const {
    return make<502, detail::expression_list<Loss, Step>, detail::minimize_structure<Rule, Loss, Step, Settings...>>(loss, step);
  }
  template <tensor_expression Loss, class... Step>
    requires(!detail::loss_problem<Loss>::none)
  constexpr typename detail::loss_refusal<Loss>::problem minimize(const Loss&, const Step&...) const = delete;
  LEAT_OTHERWISE("minimize(loss) takes a scalar tensor, and perhaps an untrainable variable of integers that counts the steps")
  minimize(...) const LEAT_DELETED;

  /// The gradients of the loss, each with its variable, as a tuple; of all trainable variables if none are named.
  template <tensor_expression Loss, tensor_expression... Vs>
    requires(sizeof...(Vs) > 0 && detail::gradient_problem<Loss, Vs...>::none)
  constexpr auto compute_gradients(const Loss& loss, const Vs&... variables) const {
    return std::apply([&](const auto&... gs) { return std::make_tuple(with_variable(gs, variables)...); }, gradients(loss, variables...));
  }
  template <tensor_expression Loss, tensor_expression... Vs>
    requires(sizeof...(Vs) > 0 && !detail::gradient_problem<Loss, Vs...>::none)
  constexpr typename detail::gradient_refusal<Loss, Vs...>::problem compute_gradients(const Loss&, const Vs&...) const = delete;
  template <tensor_expression Loss>
    requires detail::loss_problem<Loss>::none
  constexpr auto compute_gradients(const Loss& loss) const {
    using variables = detail::loss_variables<Loss>;
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return compute_gradients(loss, detail::part_of<typename variables::template nth<static_cast<int>(K)>>(loss)...);
    }(std::make_index_sequence<static_cast<std::size_t>(variables::found.size)>{});
  }
  template <tensor_expression Loss>
    requires(!detail::loss_problem<Loss>::none)
  constexpr typename detail::loss_refusal<Loss>::problem compute_gradients(const Loss&) const = delete;
  LEAT_OTHERWISE("compute_gradients(loss, w1, w2, ...) takes a scalar tensor, and perhaps the variables; " LEAT_TENSORS)
  compute_gradients(...) const LEAT_DELETED;

  /// One training step from gradients that are given: pairs, or a tuple of pairs.
  template <class... Gs, class... Vs>
    requires(sizeof...(Gs) > 0 && (detail::pair_problem<Gs, Vs>::none && ...))
  constexpr auto apply_gradients(const gradient_and_variable<Gs, Vs>&... pairs) const {
    return make<503, detail::expression_list<Gs..., Vs...>,
                detail::apply_structure<Rule, detail::expression_list<gradient_and_variable<Gs, Vs>...>, detail::no_step, Settings...>>(
        pairs.gradient..., pairs.variable...);
  }
  template <class... Gs, class... Vs>
    requires(sizeof...(Gs) > 0 && !(detail::pair_problem<Gs, Vs>::none && ...))
  constexpr typename detail::pair_refusal<detail::expression_list<Gs...>, detail::expression_list<Vs...>>::problem apply_gradients(
      const gradient_and_variable<Gs, Vs>&...) const = delete;
  template <class... Pairs>
  constexpr auto apply_gradients(const std::tuple<Pairs...>& pairs) const {
    return std::apply([&](const auto&... p) { return apply_gradients(p...); }, pairs);
  }
  /// The same with an integer variable that rises by one after the updates: `o.apply_gradients(pairs, step)`.
  template <class... Gs, class... Vs, detail::variable_expression Step>
    requires(sizeof...(Gs) > 0 && (detail::pair_problem<Gs, Vs>::none && ...))
  constexpr auto apply_gradients(const std::tuple<gradient_and_variable<Gs, Vs>...>& pairs, const Step& step) const {
    return std::apply(
        [&](const auto&... p) {
          return make<504, detail::expression_list<Gs..., Vs..., Step>,
                      detail::apply_structure<Rule, detail::expression_list<gradient_and_variable<Gs, Vs>...>, Step, Settings...>>(
              p.gradient..., p.variable..., step);
        },
        pairs);
  }
  LEAT_OTHERWISE(
      "apply_gradients takes pairs of a gradient and its variable, or what compute_gradients gave: "
      "apply_gradients(with_variable(dw, w), with_variable(db, b))")
  apply_gradients(...) const LEAT_DELETED;

  /// The same on graphs with names, for programs that include <leat/graphs.hpp>: see named/train/named_optimizer.hpp.
  template <std::same_as<output> Loss, class Options = minimize_options>
  auto minimize(const Loss& loss, const Options& options = {}, const std::source_location& where = std::source_location::current()) const {
    return on_graph(*this).minimize(loss, options, where);
  }
  template <std::same_as<output> Loss, class Options = minimize_options>
  auto compute_gradients(const Loss& loss, const Options& options = {},
                         const std::source_location& where = std::source_location::current()) const {
    return on_graph(*this).compute_gradients(loss, options, where);
  }

 private:
  template <class List>
  struct list_hash;
  template <class... Es>
  struct list_hash<detail::expression_list<Es...>> {
    template <std::uint64_t Salt>
    static constexpr std::uint64_t value = detail::expressions_hash<Salt, Es..., Settings...>;
  };
  template <expression E>
  struct list_hash<E> : list_hash<detail::expression_list<E>> {};

  template <std::uint64_t Salt, class List, class Structure, class... From>
  constexpr auto make(const From&... from) const {
    constexpr auto hash = mix(list_hash<List>::template value<Salt>, hash_text(rule_name()));
    using result = typename detail::record<id<hash>, Structure>::operation;
    return std::apply([&](const auto&... settings) { return detail::carry_all<result>(from..., settings...); }, settings_);
  }
  static constexpr std::string_view rule_name() { return Rule::name; }

  std::tuple<Settings...> settings_;
};

namespace detail {
template <class Rule, class Site, class... Settings>
constexpr auto make_optimizer(const Settings&... settings) {
  static_assert(sizeof...(Settings) == Rule::settings.size());
  return [&]<std::size_t... K>(std::index_sequence<K...>) {
    return optimizer<Rule, decltype(as_setting<Site, static_cast<int>(K)>(settings))...>(
        as_setting<Site, static_cast<int>(K)>(settings)...);
  }(std::index_sequence_for<Settings...>{});
}
// What a slot starts with. Errors: invalid_argument for a number that is not positive, or, where 0 will do, negative.
constexpr double checked_start(double start, bool zero_too = false) {
  if (!(start > 0 || (zero_too && start == 0)))
    throw invalid_argument(zero_too ? "initial_accumulator_value " + std::to_string(start) + " needs to be positive or zero"
                                    : "initial_accumulator_value must be positive: " + std::to_string(start));
  return start;
}
constexpr void check_strength(std::string_view name, double value) {
  if (!(value >= 0)) throw invalid_argument(std::string(name) + " " + std::to_string(value) + " needs to be positive or zero");
}
}  // namespace detail

#define LEAT_SETTINGS " takes numbers, parameters such as parameter<\"rate\">(0.1f), or other scalar tensors"
/// Stochastic gradient descent; `rate` is a number, a parameter or a scalar expression, here and for all optimizers.
template <detail::optimizer_setting Rate, LEAT_SITE>
constexpr auto gradient_descent(const Rate& rate) {
  return detail::make_optimizer<train::gradient_descent_rule, Site>(rate);
}
LEAT_OTHERWISE_OF(gradient_descent, "(rate)" LEAT_SETTINGS);
/// Gradient descent with momentum (Polyak 1964).
template <detail::optimizer_setting Rate, detail::optimizer_setting Momentum, LEAT_SITE>
constexpr auto momentum(const Rate& rate, const Momentum& m) {
  return detail::make_optimizer<train::momentum_rule<false>, Site>(rate, m);
}
LEAT_OTHERWISE_OF(momentum, "(rate, momentum)" LEAT_SETTINGS);
/// Gradient descent with Nesterov's momentum.
template <detail::optimizer_setting Rate, detail::optimizer_setting Momentum, LEAT_SITE>
constexpr auto nesterov_momentum(const Rate& rate, const Momentum& m) {
  return detail::make_optimizer<train::momentum_rule<true>, Site>(rate, m);
}
LEAT_OTHERWISE_OF(nesterov_momentum, "(rate, momentum)" LEAT_SETTINGS);
/// Adam (Kingma and Ba 2014).
template <detail::optimizer_setting Rate, detail::optimizer_setting Beta1 = double, detail::optimizer_setting Beta2 = double,
          detail::optimizer_setting Epsilon = double, LEAT_SITE>
constexpr auto adam(const Rate& rate, const Beta1& beta1 = 0.9, const Beta2& beta2 = 0.999, const Epsilon& epsilon = 1e-8) {
  return detail::make_optimizer<train::adam_rule, Site>(rate, beta1, beta2, epsilon);
}
LEAT_OTHERWISE_OF(adam, "(rate, beta1, beta2, epsilon)" LEAT_SETTINGS);
/// Adam with decay of the variables apart from their gradients: variable -= weight_decay variable (Loshchilov and Hutter 2017). As in
/// TensorFlow's `contrib.opt.AdamWOptimizer` the decay is not multiplied by the rate. Slots: `w/AdamW`, `w/AdamW_1`.
template <detail::optimizer_setting Rate, detail::optimizer_setting Decay, detail::optimizer_setting Beta1 = double,
          detail::optimizer_setting Beta2 = double, detail::optimizer_setting Epsilon = double, LEAT_SITE>
constexpr auto adam_w(const Rate& rate, const Decay& weight_decay, const Beta1& beta1 = 0.9, const Beta2& beta2 = 0.999,
                      const Epsilon& epsilon = 1e-8) {
  return detail::make_optimizer<train::decayed_adam_rule<update::adam_w>, Site>(rate, weight_decay, beta1, beta2, epsilon);
}
LEAT_OTHERWISE_OF(adam_w, "(rate, weight_decay, beta1, beta2, epsilon)" LEAT_SETTINGS);
/// Adam whose step is scaled, variable by variable, to the variable's norm (You et al. 2019). Slots: `w/LAMB`, `w/LAMB_1`.
template <detail::optimizer_setting Rate, detail::optimizer_setting Decay = double, detail::optimizer_setting Beta1 = double,
          detail::optimizer_setting Beta2 = double, detail::optimizer_setting Epsilon = double, LEAT_SITE>
constexpr auto lamb(const Rate& rate, const Decay& weight_decay = 0.0, const Beta1& beta1 = 0.9, const Beta2& beta2 = 0.999,
                    const Epsilon& epsilon = 1e-6) {
  return detail::make_optimizer<train::decayed_adam_rule<update::lamb>, Site>(rate, weight_decay, beta1, beta2, epsilon);
}
LEAT_OTHERWISE_OF(lamb, "(rate, weight_decay, beta1, beta2, epsilon)" LEAT_SETTINGS);
/// accumulator += gradient²; variable -= rate gradient / √accumulator (Duchi, Hazan, Singer 2011). Slot: `w/Adagrad`, initially `start`.
/// Errors: invalid_argument if `start` is not positive. Source: TensorFlow `AdagradOptimizer`.
template <detail::optimizer_setting Rate, LEAT_SITE>
constexpr auto adagrad(const Rate& rate, double start = 0.1) {
  return detail::make_optimizer<train::adagrad_rule, Site>(rate, detail::checked_start(start));
}
LEAT_OTHERWISE_OF(adagrad, "(rate, start)" LEAT_SETTINGS "; start is a number");
/// rms = decay rms + (1 - decay) gradient²; mom = momentum mom + rate gradient / √(rms + ε); variable -= mom. Slots: `w/RMSProp`,
/// initially ones, and `w/RMSProp_1`. Source: TensorFlow `RMSPropOptimizer`; Hinton 2012.
template <detail::optimizer_setting Rate, detail::optimizer_setting Decay = double, detail::optimizer_setting Momentum = double,
          detail::optimizer_setting Epsilon = double, LEAT_SITE>
constexpr auto rms_prop(const Rate& rate, const Decay& decay = 0.9, const Momentum& momentum = 0.0, const Epsilon& epsilon = 1e-10) {
  return detail::make_optimizer<train::rms_prop_rule, Site>(rate, decay, momentum, epsilon);
}
LEAT_OTHERWISE_OF(rms_prop, "(rate, decay, momentum, epsilon)" LEAT_SETTINGS);
/// `rms_prop` by the variance of gradients: rms less the square of their mean. Slots: `w/RMSProp`, initially ones, `w/RMSProp_1` (the
/// mean), `w/RMSProp_2`. Source: TensorFlow `RMSPropOptimizer(centered=True)`; Graves 2013.
template <detail::optimizer_setting Rate, detail::optimizer_setting Decay = double, detail::optimizer_setting Momentum = double,
          detail::optimizer_setting Epsilon = double, LEAT_SITE>
constexpr auto centered_rms_prop(const Rate& rate, const Decay& decay = 0.9, const Momentum& momentum = 0.0,
                                 const Epsilon& epsilon = 1e-10) {
  return detail::make_optimizer<train::centered_rms_prop_rule, Site>(rate, decay, momentum, epsilon);
}
LEAT_OTHERWISE_OF(centered_rms_prop, "(rate, decay, momentum, epsilon)" LEAT_SETTINGS);
/// Steps scaled by the ratio of past steps to past gradients (Zeiler 2012). Slots: `w/Adadelta`, `w/Adadelta_1`.
/// Source: TensorFlow `AdadeltaOptimizer`.
template <detail::optimizer_setting Rate = double, detail::optimizer_setting Rho = double, detail::optimizer_setting Epsilon = double,
          LEAT_SITE>
constexpr auto adadelta(const Rate& rate = 0.001, const Rho& rho = 0.95, const Epsilon& epsilon = 1e-8) {
  return detail::make_optimizer<train::adadelta_rule, Site>(rate, rho, epsilon);
}
LEAT_OTHERWISE("adadelta(rate, rho, epsilon)" LEAT_SETTINGS) adadelta(const detail::anything&, ...) LEAT_DELETED;

/// Settings of `ftrl`.
struct ftrl_options {
  float learning_rate_power = -0.5f;
  float start = 0.1f;  // initial accumulator
  float l1 = 0;
  float l2 = 0;
  float beta = 0;
  float l2_shrinkage = 0;  // a penalty of the loss, where l2 is one of the step
};
namespace detail {
constexpr void check_ftrl(const ftrl_options& options) {
  checked_start(static_cast<double>(options.start), true);
  if (!(options.learning_rate_power <= 0))
    throw invalid_argument("learning_rate_power " + std::to_string(options.learning_rate_power) + " needs to be negative or zero");
  check_strength("l1_regularization_strength", static_cast<double>(options.l1));
  check_strength("l2_regularization_strength", static_cast<double>(options.l2));
  check_strength("l2_shrinkage_regularization_strength", static_cast<double>(options.l2_shrinkage));
}
}  // namespace detail
/// Follow the regularized leader (McMahan et al. 2013). Slots: `w/Ftrl`, initially `start`, and `w/Ftrl_1`.
/// Errors: invalid_argument for settings out of range. Source: TensorFlow `FtrlOptimizer`.
template <detail::optimizer_setting Rate, LEAT_SITE>
constexpr auto ftrl(const Rate& rate, const ftrl_options& options = {}) {
  detail::check_ftrl(options);
  return detail::make_optimizer<train::ftrl_rule, Site>(rate, options.l1, options.l2, options.beta, options.l2_shrinkage,
                                                        options.learning_rate_power, options.start);
}
LEAT_OTHERWISE_OF(ftrl, "(rate, {.l1 = 0.1f})" LEAT_SETTINGS);

/// Penalties of the proximal optimizers, and what an accumulator starts with.
struct proximal_options {
  float l1 = 0;
  float l2 = 0;
  float start = 0.1f;  // initial accumulator of proximal_adagrad and adagrad_da
};
/// Gradient descent with penalties that a step obeys exactly: small variables become 0. Source: TensorFlow
/// `ProximalGradientDescentOptimizer`; Duchi and Singer 2009.
template <detail::optimizer_setting Rate, LEAT_SITE>
constexpr auto proximal_gradient_descent(const Rate& rate, const proximal_options& options = {}) {
  return detail::make_optimizer<train::proximal_gradient_descent_rule, Site>(rate, options.l1, options.l2);
}
LEAT_OTHERWISE_OF(proximal_gradient_descent, "(rate, {.l1 = 0.1f})" LEAT_SETTINGS);
/// `adagrad` with such penalties. Slot: `w/ProximalAdagrad`, initially `start`. Errors: invalid_argument if `start` is not positive.
/// Source: TensorFlow `ProximalAdagradOptimizer`.
template <detail::optimizer_setting Rate, LEAT_SITE>
constexpr auto proximal_adagrad(const Rate& rate, const proximal_options& options = {}) {
  return detail::make_optimizer<train::proximal_adagrad_rule, Site>(
      rate, options.l1, options.l2, static_cast<float>(detail::checked_start(static_cast<double>(options.start))));
}
LEAT_OTHERWISE_OF(proximal_adagrad, "(rate, {.l1 = 0.1f})" LEAT_SETTINGS);
/// Adagrad by dual averaging, for sparse linear models; `step` counts the steps from 0 and is to be `minimize`'s. Slots: `w/AdagradDA`,
/// `w/AdagradDA_1`, initially `start`. Errors: invalid_argument if `start` is not positive. Source: TensorFlow `AdagradDAOptimizer`.
template <detail::optimizer_setting Rate, tensor_expression Step, LEAT_SITE>
  requires(Step::rank == 0 && is_integer(Step::type))
constexpr auto adagrad_da(const Rate& rate, const Step& step, const proximal_options& options = {}) {
  return detail::make_optimizer<train::adagrad_da_rule, Site>(
      rate, options.l1, options.l2, step + constant_beside<1>(step),
      static_cast<float>(detail::checked_start(static_cast<double>(options.start))));
}
LEAT_OTHERWISE_OF(adagrad_da, "(rate, step, {.l1 = 0.1f})" LEAT_SETTINGS "; step is a scalar tensor of integers");

#undef LEAT_SETTINGS

/// The usual counter of training steps, for `minimize(loss, global_step())`.
constexpr auto global_step() { return untrainable_variable<"global_step", std::int64_t>(zeros); }

}  // namespace leat
