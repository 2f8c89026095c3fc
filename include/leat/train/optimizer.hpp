#pragma once
// Optimizers. Each is one rule (rules.hpp), whose update computes a variable and its slots after a step from their values before it and the
// gradient, written with the library's own operators. Fusion compiles the update to one pass. If the gradient consists of rows that were
// looked up, the update is applied to these rows alone (row_gradient.hpp). `minimize` finds the variables that the loss depends on,
// differentiates, and applies the rule to each; `compute_gradients` and `apply_gradients` are the two halves, for programs that transform
// gradients in between.

#include <leat/train/optimizer_step.hpp>

#include <source_location>

namespace leat {

/// An optimizer: `gradient_descent(0.1f)`, `adam(parameter<"rate">(0.001f))`.
template <class O>
concept optimizer_like = requires { typename O::rule; };

struct minimize_options;  // in train/named/optimizer.hpp

/// An optimizer: a rule and its settings. Made by `gradient_descent`, `adam` and the other functions below.
template <class Rule, tensor_expression... Settings>
class optimizer {
 public:
  using rule = Rule;
  constexpr explicit optimizer(const Settings&... settings) : settings_(settings...) {}
  /// The settings, such as the rate, in the order of the arguments.
  constexpr const std::tuple<Settings...>& settings() const { return settings_; }

  /// One training step on all trainable variables that the loss depends on; `step`, an integer variable, rises by one after the updates.
  /// Errors (at compile time): the loss is not a scalar, or no gradient reaches a variable. Source: TensorFlow `Optimizer.minimize`.
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

  /// The gradients of the loss, each with its variable, as a tuple. Without variables as arguments, the gradients of all trainable
  /// variables.
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

  /// One training step with given gradients: pairs of a gradient and a variable, or a tuple of such pairs.
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

  /// The same on graphs with names, for programs that include <leat/graphs.hpp>: see train/named/optimizer.hpp.
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
// Checks the initial value of a slot. Errors: invalid_argument for a number that is not positive, or, if `zero_too`, negative.
constexpr double checked_start(double start, bool zero_too = false) {
  if (!(start > 0 || (zero_too && start == 0)))
    LEAT_THROW(invalid_argument(zero_too ? "initial_accumulator_value " + std::to_string(start) + " needs to be positive or zero"
                                    : "initial_accumulator_value must be positive: " + std::to_string(start)));
  return start;
}
constexpr void check_strength(std::string_view name, double value) {
  if (!(value >= 0)) LEAT_THROW(invalid_argument(std::string(name) + " " + std::to_string(value) + " needs to be positive or zero"));
}
}  // namespace detail

#define LEAT_SETTINGS " takes numbers, parameters such as parameter<\"rate\">(0.1f), or other scalar tensors"
/// Stochastic gradient descent: variable -= rate gradient. `rate` is a number, a parameter or a scalar expression, as for all optimizers.
/// Source: TensorFlow `GradientDescentOptimizer`.
template <detail::optimizer_setting Rate, LEAT_SITE>
constexpr auto gradient_descent(const Rate& rate) {
  return detail::make_optimizer<train::gradient_descent_rule, Site>(rate);
}
LEAT_OTHERWISE_OF(gradient_descent, "(rate)" LEAT_SETTINGS);
/// Gradient descent with momentum: accumulator = momentum accumulator + gradient; variable -= rate accumulator (Polyak 1964). Slot:
/// `w/Momentum`. Source: TensorFlow `MomentumOptimizer`.
template <detail::optimizer_setting Rate, detail::optimizer_setting Momentum, LEAT_SITE>
constexpr auto momentum(const Rate& rate, const Momentum& m) {
  return detail::make_optimizer<train::momentum_rule<false>, Site>(rate, m);
}
LEAT_OTHERWISE_OF(momentum, "(rate, momentum)" LEAT_SETTINGS);
/// Gradient descent with Nesterov's momentum: accumulator as for `momentum`; variable -= rate gradient + rate momentum accumulator. Slot:
/// `w/Momentum`. Source: TensorFlow `MomentumOptimizer(use_nesterov=True)`.
template <detail::optimizer_setting Rate, detail::optimizer_setting Momentum, LEAT_SITE>
constexpr auto nesterov_momentum(const Rate& rate, const Momentum& m) {
  return detail::make_optimizer<train::momentum_rule<true>, Site>(rate, m);
}
LEAT_OTHERWISE_OF(nesterov_momentum, "(rate, momentum)" LEAT_SETTINGS);
/// Adam (Kingma and Ba 2014). Slots: `w/Adam`, `w/Adam_1`; variables `beta1_power` and `beta2_power`. Source: TensorFlow `AdamOptimizer`.
template <detail::optimizer_setting Rate, detail::optimizer_setting Beta1 = double, detail::optimizer_setting Beta2 = double,
          detail::optimizer_setting Epsilon = double, LEAT_SITE>
constexpr auto adam(const Rate& rate, const Beta1& beta1 = 0.9, const Beta2& beta2 = 0.999, const Epsilon& epsilon = 1e-8) {
  return detail::make_optimizer<train::adam_rule, Site>(rate, beta1, beta2, epsilon);
}
LEAT_OTHERWISE_OF(adam, "(rate, beta1, beta2, epsilon)" LEAT_SETTINGS);
/// Adam with weight decay that is separate from the gradients: variable -= weight_decay variable (Loshchilov and Hutter 2017). As in
/// TensorFlow's `contrib.opt.AdamWOptimizer` the decay is not multiplied by the rate. Slots: `w/AdamW`, `w/AdamW_1`.
template <detail::optimizer_setting Rate, detail::optimizer_setting Decay, detail::optimizer_setting Beta1 = double,
          detail::optimizer_setting Beta2 = double, detail::optimizer_setting Epsilon = double, LEAT_SITE>
constexpr auto adam_w(const Rate& rate, const Decay& weight_decay, const Beta1& beta1 = 0.9, const Beta2& beta2 = 0.999,
                      const Epsilon& epsilon = 1e-8) {
  return detail::make_optimizer<train::decayed_adam_rule<update::adam_w>, Site>(rate, weight_decay, beta1, beta2, epsilon);
}
LEAT_OTHERWISE_OF(adam_w, "(rate, weight_decay, beta1, beta2, epsilon)" LEAT_SETTINGS);
/// Adam with a step that is scaled, variable by variable, to the variable's norm (You et al. 2019). Slots: `w/LAMB`, `w/LAMB_1`.
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
/// `rms_prop` with the variance of gradients: rms minus the square of their mean. Slots: `w/RMSProp`, initially ones, `w/RMSProp_1` (the
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
  float learning_rate_power = -0.5f;  // how the rate falls with the accumulator; 0: it does not
  float start = 0.1f;                 // initial accumulator
  float l1 = 0;                       // strength of |w|
  float l2 = 0;                       // strength of w²
  float beta = 0;                     // added to the root of the accumulator
  float l2_shrinkage = 0;             // a penalty on the loss; l2 is one on the step
};
namespace detail {
constexpr void check_ftrl(const ftrl_options& options) {
  checked_start(static_cast<double>(options.start), true);
  if (!(options.learning_rate_power <= 0))
    LEAT_THROW(invalid_argument("learning_rate_power " + std::to_string(options.learning_rate_power) + " needs to be negative or zero"));
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

/// Penalties of the proximal optimizers, and the initial value of an accumulator.
struct proximal_options {
  float l1 = 0;        // strength of |w|
  float l2 = 0;        // strength of w²
  float start = 0.1f;  // initial accumulator of proximal_adagrad and adagrad_da
};
/// Gradient descent with penalties that each step applies exactly: small variables become 0. Source: TensorFlow
/// `ProximalGradientDescentOptimizer`; Duchi and Singer 2009.
template <detail::optimizer_setting Rate, LEAT_SITE>
constexpr auto proximal_gradient_descent(const Rate& rate, const proximal_options& options = {}) {
  return detail::make_optimizer<train::proximal_gradient_descent_rule, Site>(rate, options.l1, options.l2);
}
LEAT_OTHERWISE_OF(proximal_gradient_descent, "(rate, {.l1 = 0.1f})" LEAT_SETTINGS);
/// `adagrad` with the same penalties. Slot: `w/ProximalAdagrad`, initially `start`. Errors: invalid_argument if `start` is not positive.
/// Source: TensorFlow `ProximalAdagradOptimizer`.
template <detail::optimizer_setting Rate, LEAT_SITE>
constexpr auto proximal_adagrad(const Rate& rate, const proximal_options& options = {}) {
  return detail::make_optimizer<train::proximal_adagrad_rule, Site>(
      rate, options.l1, options.l2, static_cast<float>(detail::checked_start(static_cast<double>(options.start))));
}
LEAT_OTHERWISE_OF(proximal_adagrad, "(rate, {.l1 = 0.1f})" LEAT_SETTINGS);
/// Adagrad by dual averaging, for sparse linear models. `step` counts the steps from 0 and should be the argument of `minimize`. Slots:
/// `w/AdagradDA`, and `w/AdagradDA_1`, initially `start`. Errors: invalid_argument if `start` is not positive. Source: TensorFlow
/// `AdagradDAOptimizer`.
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
