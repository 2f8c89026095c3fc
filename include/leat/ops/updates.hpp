#pragma once
// The update formulas of all optimizers, for training steps of typed expressions (train/optimizer.hpp) and for TensorFlow's "Apply..."
// operators in graphs with names (canonical_gradients.hpp). Each function takes slots, rates and gradient before the step and returns
// the variable's change and the slots' new values. Operations are in the order of TensorFlow's kernels.

#include <leat/ops/functions.hpp>
#include <leat/ops/reduction.hpp>

namespace leat::update {

/// The result of a formula: `change` is subtracted from the variable, `slots` are the new values of its slots.
template <int Slots>
struct step {
  output change;
  output slots[Slots == 0 ? 1 : Slots];
};

/// change = rate gradient.
constexpr step<0> gradient_descent(const output& rate, const output& gradient) { return {rate * gradient, {}}; }

/// accumulator = momentum accumulator + gradient; change = rate accumulator, or with Nesterov's correction
/// rate gradient + rate momentum accumulator.
constexpr step<1> momentum(const output& accumulator, const output& rate, const output& gradient,
                           const output& its_momentum, bool nesterov) {
  const output next = accumulator * its_momentum + gradient;
  return {nesterov ? output(gradient * rate + next * its_momentum * rate) : output(next * rate), {next}};
}

/// accumulator += gradient², unless slots stay as they are; change = rate gradient / √accumulator.
constexpr step<1> adagrad(const output& accumulator, const output& rate, const output& gradient, bool updates_slots) {
  const output next = updates_slots ? output(accumulator + square(gradient)) : accumulator;
  return {gradient * rate / sqrt(next), {next}};
}

/// m += (gradient - m)(1 - β₁); v += (gradient² - v)(1 - β₂); change = m rate √(1 - β₂ᵗ) / (1 - β₁ᵗ) / (√v + ε), or with Nesterov's
/// correction gradient (1 - β₁) + β₁ m in place of m. Slots: m, v.
constexpr step<2> adam(const output& m, const output& v, const output& power1, const output& power2, const output& rate,
                       const output& beta1, const output& beta2, const output& epsilon, const output& gradient,
                       bool nesterov) {
  const output now = rate * sqrt(1 - power2) / (1 - power1);
  const output next_m = m + (gradient - m) * (1 - beta1);
  const output next_v = v + (square(gradient) - v) * (1 - beta2);
  const output moved = nesterov ? output(gradient * (1 - beta1) + beta1 * next_m) : next_m;
  return {moved * now / (sqrt(next_v) + epsilon), {next_m, next_v}};
}

/// ms += (gradient² - ms)(1 - ρ); mom = momentum mom + rate gradient / √(ms + ε); change = mom. Slots: ms, mom.
constexpr step<2> rms_prop(const output& ms, const output& mom, const output& rate, const output& rho, const output& its_momentum,
                           const output& epsilon, const output& gradient) {
  const output next = ms + (square(gradient) - ms) * (1 - rho);
  const output moved = mom * its_momentum + gradient * rate / sqrt(next + epsilon);
  return {moved, {next, moved}};
}

/// The same with the mean of gradients taken off: ms - mg² in place of ms. Slots: mg, ms, mom.
constexpr step<3> centered_rms_prop(const output& mg, const output& ms, const output& mom, const output& rate, const output& rho,
                                    const output& its_momentum, const output& epsilon, const output& gradient) {
  const output next_ms = ms + (square(gradient) - ms) * (1 - rho);
  const output next_mg = mg + (gradient - mg) * (1 - rho);
  const output moved = mom * its_momentum + gradient * rate / sqrt(next_ms - square(next_mg) + epsilon);
  return {moved, {next_mg, next_ms, moved}};
}

/// accumulator = ρ accumulator + (1 - ρ) gradient²; u = √(accumulated + ε) / √(accumulator + ε) gradient; change = rate u;
/// accumulated = ρ accumulated + (1 - ρ) u². Slots: accumulator, accumulated.
constexpr step<2> adadelta(const output& accumulator, const output& accumulated, const output& rate, const output& rho,
                           const output& epsilon, const output& gradient) {
  const output next = accumulator * rho + square(gradient) * (1 - rho);
  const output moved = sqrt(accumulated + epsilon) / sqrt(next + epsilon) * gradient;
  return {moved * rate, {next, accumulated * rho + square(moved) * (1 - rho)}};
}

}  // namespace leat::update
