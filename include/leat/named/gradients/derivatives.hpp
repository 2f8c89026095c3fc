#pragma once
// Derivatives of graphs with names beside `gradients`: along a direction (`vjp`, `jvp`, `hvp`), Jacobians and Hessians. Typed expressions
// have functions of the same names (passes/derivatives.hpp, passes/jacobian.hpp).

#include <leat/named/gradients/gradient.hpp>

namespace leat {

/// The gradients of the sum of `weight * y` over all ys, with respect to each of `xs`: `gradients` with `grad_ys`.
std::vector<output> vjp(const std::vector<output>& ys, const std::vector<output>& weights, const std::vector<output>& xs,
                        const std::source_location& where = std::source_location::current());

/// How each of `ys` moves where each of `xs` moves along its entry of `along`: new nodes in a scope "jvp". Empty where no x moves a y.
/// Shapes and dtypes: a direction is as its x, a result as its y. Errors: as of `gradients`; unimplemented for an operator whose gradient
/// has no gradient. Source: the gradient of a gradient by its weights; Townsend (2017).
std::vector<output> jvp(const std::vector<output>& ys, const std::vector<output>& xs, const std::vector<output>& along,
                        const std::source_location& where = std::source_location::current());

/// The products of the Hessian of the sum of `y` by `xs` with a direction: the `jvp` of the gradients. Empty where a gradient does not
/// depend on any x. Errors: as of `jvp`; invalid_argument for an x on which y does not depend.
std::vector<output> hvp(const output& y, const std::vector<output>& xs, const std::vector<output>& along,
                        const std::source_location& where = std::source_location::current());

/// The Jacobian of y by x, of shape y's, then x's: a loop over y's elements, in a scope "jacobian", whose body takes a gradient. Sizes may
/// be unknown. Errors: as of `gradients`; invalid_argument if y does not depend on x, and for tensors of unknown rank. Source: TensorFlow
/// `jacobian`.
output jacobian(const output& y, const output& x, const std::source_location& where = std::source_location::current());

/// The Jacobian of each entry of a batch, along the first axis of both: [b, y..., x...] for y of [b, y...] and x of [b, x...], where each
/// entry of y depends on its own entry of x alone. Errors: as of `jacobian`; in a run, invalid_argument for batches of two sizes. Source:
/// TensorFlow `batch_jacobian`.
output batch_jacobian(const output& y, const output& x, const std::source_location& where = std::source_location::current());

/// The Hessian of the sum of y by x, of shape x's twice: the Jacobian of the gradient. Errors: as of `jacobian`.
output hessian(const output& y, const output& x, const std::source_location& where = std::source_location::current());

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/gradients/impl/derivatives.hpp>
#endif
