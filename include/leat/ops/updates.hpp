#pragma once
// The formulas by which optimizers change a variable and its slots in one step, each defined once. A class is one of TensorFlow's operators
// "Apply...": it has the operator's inputs in the words of its signature, and its formula, `expand`, over values of any kind. These are
// rows of a table, for training steps of typed expressions (train/rules.hpp) and of graphs with names (canonical_gradients.hpp), or plain
// numbers, for the operator as a single node and for its version for selected rows (runtime/kernels/update.hpp). Graphs with names
// compose the classes without an operator of other operators.
//
// A writer `w` provides `inputs`, the values before the step, and `flag`, an attribute. `assign(k, v)` and `assign_sub(k, v)` set the new
// value of input k, a variable. Operations are in the order of TensorFlow's kernels.

#include <leat/core/list.hpp>
#include <leat/core/text.hpp>
#include <leat/graph/leaves.hpp>
#include <leat/ops/comparison.hpp>
#include <leat/ops/functions.hpp>
#include <leat/ops/reduction.hpp>

#include <array>

namespace leat::update {

/// The role of an input of an update: a variable (the first one, or one of its slots), a scalar, or the gradient.
enum class role { variable, scalar, gradient };

/// The inputs of an update, parsed from its signature.
struct layout {
  static constexpr int most = 12;
  int count = 0;
  role roles[most]{};
  std::string_view names[most]{};
  int gradient = -1;
  constexpr int variables() const {
    int n = 0;
    for (int k = 0; k < count; ++k) n += roles[k] == role::variable ? 1 : 0;
    return n;
  }
};
/// Parses "var: &T, lr: T, grad: T": an input of type `&T` is a variable, one called "grad" or "delta" is the gradient, and all others are
/// scalars.
constexpr layout layout_of(std::string_view arguments) {
  layout made;
  while (!arguments.empty()) {
    const std::size_t end = arguments.find(", ");
    const std::string_view one = arguments.substr(0, end);
    arguments = end == arguments.npos ? std::string_view{} : arguments.substr(end + 2);
    const std::string_view name = one.substr(0, one.find(": "));
    made.names[made.count] = name;
    const bool is_gradient = name == "grad" || name == "delta";
    if (is_gradient) made.gradient = made.count;
    made.roles[made.count++] = one.ends_with("&T") ? role::variable : is_gradient ? role::gradient : role::scalar;
  }
  return made;
}

/// The inputs of an update.
template <class Update>
inline constexpr layout inputs_of = layout_of(Update::arguments);

// ---- formulas -------------------------------------------------------------------------------------------------------

/// variable -= rate gradient.
struct gradient_descent {
  static constexpr std::string_view name = "GradientDescent", arguments = "var: &T, alpha: T, delta: T", flags = "";
  static constexpr bool of_rows = false;  // whether there is an operator for selected rows, "SparseApply..."
  static constexpr void expand(auto& w) {
    const auto [variable, rate, gradient] = w.template inputs<3>();
    w.assign_sub(0, rate * gradient);
  }
};

/// accumulator = momentum accumulator + gradient; variable -= rate accumulator, or with Nesterov's correction
/// variable -= rate gradient + rate momentum accumulator.
struct momentum {
  static constexpr std::string_view name = "Momentum", arguments = "var: &T, accum: &T, lr: T, grad: T, momentum: T",
                                    flags = "use_nesterov: bool = false";
  static constexpr bool of_rows = true;
  static constexpr void expand(auto& w) {
    const auto [variable, accumulator, rate, gradient, its_momentum] = w.template inputs<5>();
    const auto next = accumulator * its_momentum + gradient;
    w.assign(1, next);
    if (w.flag("use_nesterov", false)) w.assign_sub(0, gradient * rate + next * its_momentum * rate);
    else w.assign_sub(0, next * rate);
  }
};

/// accumulator += gradient², unless `update_slots` is false; variable -= rate gradient / √accumulator.
struct adagrad {
  static constexpr std::string_view name = "Adagrad", arguments = "var: &T, accum: &T, lr: T, grad: T", flags = "update_slots: bool = true";
  static constexpr bool of_rows = true;
  static constexpr void expand(auto& w) {
    const auto [variable, accumulator, rate, gradient] = w.template inputs<4>();
    // Captures a copy, because clang 19 does not accept a structured binding captured by reference in constant evaluation.
    const auto change = [&w, step = gradient * rate](const auto& now) { w.assign_sub(0, step / sqrt(now)); };
    if (!w.flag("update_slots", true)) return change(accumulator);
    const auto next = accumulator + square(gradient);
    w.assign(1, next);
    change(next);
  }
};

/// m += (gradient - m)(1 - β₁); v += (gradient² - v)(1 - β₂); variable -= m rate √(1 - β₂ᵗ) / (1 - β₁ᵗ) / (√v + ε). With Nesterov's
/// correction, gradient (1 - β₁) + β₁ m replaces m. Source: Kingma and Ba 2014, with ε outside the correction.
struct adam {
  static constexpr std::string_view name = "Adam",
                                    arguments =
                                        "var: &T, m: &T, v: &T, beta1_power: T, beta2_power: T, lr: T, beta1: T, beta2: T, epsilon: T, "
                                        "grad: T",
                                    flags = "use_nesterov: bool = false";
  static constexpr bool of_rows = false;
  // The value that is subtracted from the variable.
  static constexpr auto move(auto& w) {
    const auto [variable, m, v, power1, power2, rate, beta1, beta2, epsilon, gradient] = w.template inputs<10>();
    const auto now = rate * sqrt(1 - power2) / (1 - power1);
    const auto next_m = m + (gradient - m) * (1 - beta1);
    const auto next_v = v + (square(gradient) - v) * (1 - beta2);
    w.assign(1, next_m);
    w.assign(2, next_v);
    if (w.flag("use_nesterov", false)) return (gradient * (1 - beta1) + beta1 * next_m) * now / (sqrt(next_v) + epsilon);
    return next_m * now / (sqrt(next_v) + epsilon);
  }
  static constexpr void expand(auto& w) { w.assign_sub(0, move(w)); }
};

/// Adam, and in addition variable -= decay variable. Source: Loshchilov and Hutter 2017; TensorFlow `contrib` `AdamWOptimizer`, which does
/// not multiply the decay by the rate.
struct adam_w {
  static constexpr std::string_view name = "",
                                    arguments =
                                        "var: &T, m: &T, v: &T, beta1_power: T, beta2_power: T, lr: T, beta1: T, beta2: T, "
                                        "epsilon: T, grad: T, weight_decay: T",
                                    flags = "";
  static constexpr void expand(auto& w) {
    const auto variable = w.input(0), decay = w.input(10);
    w.assign(0, variable - variable * decay - adam::move(w));
  }
};

/// r = m̂ / (√v̂ + ε) + decay variable, where m̂ and v̂ are Adam's m and v divided by 1 - β₁ᵗ and 1 - β₂ᵗ; variable -= rate |variable| /
/// |r| r, or rate r if one of the norms is 0. Source: You et al. 2019.
struct lamb {
  static constexpr std::string_view name = "",
                                    arguments =
                                        "var: &T, m: &T, v: &T, beta1_power: T, beta2_power: T, lr: T, beta1: T, beta2: T, "
                                        "epsilon: T, grad: T, weight_decay: T",
                                    flags = "";
  static constexpr void expand(auto& w) {
    const auto [variable, m, v, power1, power2, rate, beta1, beta2, epsilon, gradient, decay] = w.template inputs<11>();
    const auto next_m = m + (gradient - m) * (1 - beta1);
    const auto next_v = v + (square(gradient) - v) * (1 - beta2);
    w.assign(1, next_m);
    w.assign(2, next_v);
    const auto direction = next_m / (1 - power1) / (sqrt(next_v / (1 - power2)) + epsilon) + variable * decay;
    const auto length = w.norm(variable), its_length = w.norm(direction);
    const auto none = constant_beside<0>(length), one = constant_beside<1>(length);
    const auto ratio = select(logical_and(greater(length, none), greater(its_length, none)), length / its_length, one);
    w.assign_sub(0, direction * (rate * ratio));
  }
};

/// ms += (gradient² - ms)(1 - ρ); mom = momentum mom + rate gradient / √(ms + ε); variable -= mom.
struct rms_prop {
  static constexpr std::string_view name = "RMSProp",
                                    arguments = "var: &T, ms: &T, mom: &T, lr: T, rho: T, momentum: T, epsilon: T, grad: T", flags = "";
  static constexpr bool of_rows = true;
  static constexpr void expand(auto& w) {
    const auto [variable, ms, mom, rate, rho, its_momentum, epsilon, gradient] = w.template inputs<8>();
    const auto next = ms + (square(gradient) - ms) * (1 - rho);
    const auto moved = mom * its_momentum + gradient * rate / sqrt(next + epsilon);
    w.assign(1, next);
    w.assign(2, moved);
    w.assign_sub(0, moved);
  }
};

/// RMSProp with centered moments: ms - mg² replaces ms, where mg is the mean of the gradients.
struct centered_rms_prop {
  static constexpr std::string_view name = "CenteredRMSProp",
                                    arguments = "var: &T, mg: &T, ms: &T, mom: &T, lr: T, rho: T, momentum: T, epsilon: T, grad: T",
                                    flags = "";
  static constexpr bool of_rows = true;
  static constexpr void expand(auto& w) {
    const auto [variable, mg, ms, mom, rate, rho, its_momentum, epsilon, gradient] = w.template inputs<9>();
    const auto next_ms = ms + (square(gradient) - ms) * (1 - rho);
    const auto next_mg = mg + (gradient - mg) * (1 - rho);
    const auto moved = mom * its_momentum + gradient * rate / sqrt(next_ms - square(next_mg) + epsilon);
    w.assign(1, next_mg);
    w.assign(2, next_ms);
    w.assign(3, moved);
    w.assign_sub(0, moved);
  }
};

/// accum = ρ accum + (1 - ρ) gradient²; u = √(accum_update + ε) / √(accum + ε) gradient; variable -= rate u;
/// accum_update = ρ accum_update + (1 - ρ) u². Source: Zeiler 2012.
struct adadelta {
  static constexpr std::string_view name = "Adadelta",
                                    arguments = "var: &T, accum: &T, accum_update: &T, lr: T, rho: T, epsilon: T, grad: T", flags = "";
  static constexpr bool of_rows = true;
  static constexpr void expand(auto& w) {
    const auto [variable, accumulator, accumulated, rate, rho, epsilon, gradient] = w.template inputs<7>();
    const auto next = accumulator * rho + square(gradient) * (1 - rho);
    const auto moved = sqrt(accumulated + epsilon) / sqrt(next + epsilon) * gradient;
    w.assign(1, next);
    w.assign(2, accumulated * rho + square(moved) * (1 - rho));
    w.assign_sub(0, moved * rate);
  }
};

/// n = accum + gradient²; σ = (n^-p - accum^-p) / rate; linear += gradient - σ variable; accum = n;
/// variable = (sign(linear) l1 - linear) / (n^-p / rate + 2 l2) where |linear| > l1, and 0 elsewhere; p is the rate's power, usually -1/2.
/// Version 2 adds 2 l2_shrinkage variable to the gradient in `linear`. With `multiply_linear_by_lr`, `linear` is in units of the rate.
/// Source: McMahan et al. 2013.
template <bool Shrinks>
struct ftrl {
  static constexpr std::string_view name = Shrinks ? "FtrlV2" : "Ftrl",
                                    arguments = Shrinks ? "var: &T, accum: &T, linear: &T, grad: T, lr: T, l1: T, l2: T, l2_shrinkage: T, "
                                                          "lr_power: T"
                                                        : "var: &T, accum: &T, linear: &T, grad: T, lr: T, l1: T, l2: T, lr_power: T",
                                    flags = "multiply_linear_by_lr: bool = false";
  static constexpr bool of_rows = true;
  // The increase of `linear`, except for the term of the variable.
  static constexpr auto slope(auto& w) {
    if constexpr (Shrinks) return w.input(3) + 2 * w.input(7) * w.input(0);
    else return w.input(3);
  }
  static constexpr void expand(auto& w) {
    const auto [variable, accumulator, linear, gradient, rate, l1, l2] = w.template inputs<7>();
    const auto power = w.input(Shrinks ? 8 : 7);
    const bool by_rate = w.flag("multiply_linear_by_lr", false);
    const auto sloped = slope(w);
    const auto next = accumulator + square(gradient);
    const auto root = w.negative_power(next, power), old_root = w.negative_power(accumulator, power);
    const auto write = [&](const auto& next_linear, const auto& quadratic, const auto& limit) {
      w.assign(1, next);
      w.assign(2, next_linear);
      w.assign(0, select(greater(abs(next_linear), limit), (sign(next_linear) * limit - next_linear) / quadratic,
                         constant_beside<0>(next_linear)));
    };
    if (by_rate) write(linear + (sloped * rate - (root - old_root) * variable), root + 2 * l2 * rate, l1 * rate);
    else write(linear + (sloped - (root - old_root) / rate * variable), root / rate + 2 * l2, l1);
  }
};

/// Moves x toward 0 by at most rate l1, then scales it by 1 / (1 + rate l2): the proximal operator of both penalties.
template <class X>
constexpr X shrunk(const X& x, const X& rate, const X& l1, const X& l2) {
  const X none = constant_beside<0>(l1);
  const X least = constant_beside<0>(x);
  const X nearer = sign(x) * maximum(abs(x) - rate * l1, least);
  return select(greater(l1, none), nearer, x) / (1 + rate * l2);
}

/// variable = prox(variable - rate gradient). Source: Duchi and Singer 2009.
struct proximal_gradient_descent {
  static constexpr std::string_view name = "ProximalGradientDescent", arguments = "var: &T, alpha: T, l1: T, l2: T, delta: T", flags = "";
  static constexpr bool of_rows = true;
  static constexpr void expand(auto& w) {
    const auto [variable, rate, l1, l2, gradient] = w.template inputs<5>();
    w.assign(0, shrunk(variable - gradient * rate, rate, l1, l2));
  }
};

/// accumulator += gradient²; variable = prox(variable - rate gradient / √accumulator), with rate / √accumulator as the rate in prox.
struct proximal_adagrad {
  static constexpr std::string_view name = "ProximalAdagrad", arguments = "var: &T, accum: &T, lr: T, l1: T, l2: T, grad: T", flags = "";
  static constexpr bool of_rows = true;
  static constexpr void expand(auto& w) {
    const auto [variable, accumulator, rate, l1, l2, gradient] = w.template inputs<6>();
    const auto next = accumulator + square(gradient);
    const auto now = rate / sqrt(next);
    w.assign(1, next);
    w.assign(0, shrunk(variable - gradient * now, now, l1, l2));
  }
};

/// a += gradient; s += gradient²; variable = -rate sign(a) max(|a| - l1 t, 0) / (l2 t rate + √s), where t counts steps from 1; without l1,
/// -rate a / (l2 t rate + √s). Source: Duchi, Hazan, Singer 2011, by dual averaging.
struct adagrad_da {
  static constexpr std::string_view
      name = "AdagradDA",
      arguments =
          "var: &T, gradient_accumulator: &T, gradient_squared_accumulator: &T, grad: T, lr: T, l1: T, l2: T, "
          "global_step: int64",
      flags = "";
  static constexpr bool of_rows = true;
  static constexpr void expand(auto& w) {
    const auto [variable, sum, squares, gradient, rate, l1, l2, step] = w.template inputs<8>();
    const auto next = sum + gradient;
    const auto next_squares = squares + square(gradient);
    const auto none = constant_beside<0>(l1);
    const auto nearer = sign(next) * maximum(abs(next) - l1 * step, constant_beside<0>(next));
    w.assign(1, next);
    w.assign(2, next_squares);
    w.assign(0, -1 * rate * select(greater(l1, none), nearer, next) / (l2 * step * rate + sqrt(next_squares)));
  }
};

/// m += (gradient - m)(1 - β₁); v = max(β₂ v, |gradient|); variable -= rate / (1 - β₁ᵗ) m / (v + ε). Source: Kingma and Ba 2014, section 7.
struct ada_max {
  static constexpr std::string_view name = "AdaMax",
                                    arguments = "var: &T, m: &T, v: &T, beta1_power: T, lr: T, beta1: T, beta2: T, epsilon: T, grad: T",
                                    flags = "";
  static constexpr bool of_rows = false;
  static constexpr void expand(auto& w) {
    const auto [variable, m, v, power1, rate, beta1, beta2, epsilon, gradient] = w.template inputs<9>();
    const auto next_m = m + (gradient - m) * (1 - beta1);
    const auto next_v = maximum(beta2 * v, abs(gradient));
    w.assign(1, next_m);
    w.assign(2, next_v);
    w.assign_sub(0, rate / (1 - power1) * (next_m / (next_v + epsilon)));
  }
};

/// Adagrad, with ε beside √accumulator.
struct adagrad_v2 {
  static constexpr std::string_view name = "AdagradV2", arguments = "var: &T, accum: &T, lr: T, epsilon: T, grad: T",
                                    flags = "update_slots: bool = true";
  static constexpr bool of_rows = true;
  static constexpr void expand(auto& w) {
    const auto [variable, accumulator, rate, epsilon, gradient] = w.template inputs<5>();
    const auto change = [&w, step = gradient * rate, least = epsilon](const auto& now) { w.assign_sub(0, step / (sqrt(now) + least)); };
    if (!w.flag("update_slots", true)) return change(accumulator);
    const auto next = accumulator + square(gradient);
    w.assign(1, next);
    change(next);
  }
};

/// Adam, with the largest v so far in place of v. Source: Reddi, Kale, Kumar 2018.
struct adam_with_amsgrad {
  static constexpr std::string_view name = "AdamWithAmsgrad",
                                    arguments =
                                        "var: &T, m: &T, v: &T, vhat: &T, beta1_power: T, beta2_power: T, lr: T, beta1: T, beta2: T, "
                                        "epsilon: T, grad: T",
                                    flags = "";
  static constexpr bool of_rows = false, of_references = false;
  static constexpr void expand(auto& w) {
    const auto [variable, m, v, largest, power1, power2, rate, beta1, beta2, epsilon, gradient] = w.template inputs<11>();
    const auto now = rate * sqrt(1 - power2) / (1 - power1);
    const auto next_m = m + (gradient - m) * (1 - beta1);
    const auto next_v = v + (square(gradient) - v) * (1 - beta2);
    const auto next_largest = maximum(largest, next_v);
    w.assign(1, next_m);
    w.assign(2, next_v);
    w.assign(3, next_largest);
    w.assign_sub(0, next_m * now / (sqrt(next_largest) + epsilon));
  }
};

/// m = β m + (1 - β) gradient; variable -= rate (α + sign_decay sign(gradient) sign(m)) gradient. Source: Bello et al. 2017.
struct add_sign {
  static constexpr std::string_view name = "AddSign", arguments = "var: &T, m: &T, lr: T, alpha: T, sign_decay: T, beta: T, grad: T",
                                    flags = "";
  static constexpr bool of_rows = false;
  static constexpr void expand(auto& w) {
    const auto [variable, m, rate, alpha, decay, beta, gradient] = w.template inputs<7>();
    const auto next = m * beta + gradient * (1 - beta);
    w.assign(1, next);
    w.assign_sub(0, rate * (alpha + decay * (sign(gradient) * sign(next))) * gradient);
  }
};

/// m = β m + (1 - β) gradient; variable -= rate exp(logbase sign_decay sign(gradient) sign(m)) gradient. Source: Bello et al. 2017.
struct power_sign {
  static constexpr std::string_view name = "PowerSign", arguments = "var: &T, m: &T, lr: T, logbase: T, sign_decay: T, beta: T, grad: T",
                                    flags = "";
  static constexpr bool of_rows = false;
  static constexpr void expand(auto& w) {
    const auto [variable, m, rate, base, decay, beta, gradient] = w.template inputs<7>();
    const auto next = m * beta + gradient * (1 - beta);
    w.assign(1, next);
    w.assign_sub(0, rate * exp(base * decay * (sign(gradient) * sign(next))) * gradient);
  }
};

/// accumulator = momentum accumulator - rate gradient; variable += accumulator, or with Nesterov's correction
/// variable += momentum accumulator - rate gradient.
struct keras_momentum {
  static constexpr std::string_view name = "KerasMomentum", arguments = "var: &T, accum: &T, lr: T, grad: T, momentum: T",
                                    flags = "use_nesterov: bool = false";
  static constexpr bool of_rows = true, of_references = false;
  static constexpr void expand(auto& w) {
    const auto [variable, accumulator, rate, gradient, its_momentum] = w.template inputs<5>();
    const auto next = accumulator * its_momentum - gradient * rate;
    w.assign(1, next);
    if (w.flag("use_nesterov", false)) w.assign(0, variable + (next * its_momentum - gradient * rate));
    else w.assign(0, variable + next);
  }
};

/// Whether there is an operator "Apply..." on references to variables; "ResourceApply...", on variables by handle, have all classes.
template <class Update>
inline constexpr bool has_references = !requires { Update::of_references; };

/// The classes that have an operator.
template <template <class...> class List>
using operators = List<gradient_descent, momentum, adagrad, adam, rms_prop, centered_rms_prop, adadelta, ftrl<false>, ftrl<true>,
                       proximal_gradient_descent, proximal_adagrad, adagrad_da, ada_max, adagrad_v2, adam_with_amsgrad, add_sign,
                       power_sign, keras_momentum>;

// ---- rows of a table ------------------------------------------------------------------------------------------------

/// The new value of variable `k` of the inputs, or the value subtracted from it.
struct change {
  int variable = 0;
  output value;
  bool subtract = false;
};

/// Builds an update in rows of a table: `inputs` are the values before the step, all in the variable's dtype; `flag(name, otherwise)` is an
/// attribute, with its default.
template <class Flag>
class row_writer {
 public:
  constexpr row_writer(detail::list_view<output> values, Flag attribute) : inputs_(values), flag_(attribute) {}
  constexpr output input(int k) const { return inputs_[static_cast<std::size_t>(k)]; }
  template <int N>
  constexpr std::array<output, N> inputs() const {
    std::array<output, N> all;
    for (int k = 0; k < N; ++k) all[static_cast<std::size_t>(k)] = input(k);
    return all;
  }
  constexpr bool flag(std::string_view name, bool otherwise) const { return flag_(name, otherwise); }
  constexpr void assign(int k, const output& value) { changes_[static_cast<std::size_t>(count_++)] = {k, value, false}; }
  constexpr void assign_sub(int k, const output& value) { changes_[static_cast<std::size_t>(count_++)] = {k, value, true}; }
  /// x^-power. The power is usually -1/2, which has an instruction; if it is not a constant, the run selects.
  constexpr output negative_power(const output& x, const output& power) const {
    const node& n = power.owner().at(power.index());
    if (n.op->kind == op_kind::constant) {
      const double known = detail::value_of_bits(n.result.type, power.owner().attribute(n, 0));
      return known == -0.5 ? sqrt(x) : pow(x, -power);
    }
    return select(equal(power, constant_like(power, -0.5)), sqrt(x), pow(x, -power));
  }
  /// The Euclidean norm of all elements.
  constexpr output norm(const output& x) const { return sqrt(reduce_sum(square(x))); }
  constexpr detail::list_view<change> changes() const { return {changes_.data(), static_cast<std::size_t>(count_)}; }

 private:
  detail::list_view<output> inputs_;
  Flag flag_;
  std::array<change, 4> changes_{};
  int count_ = 0;
};

}  // namespace leat::update
