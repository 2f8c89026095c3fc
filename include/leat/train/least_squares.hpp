#pragma once
// Least squares: parameters that make the sum of squared residuals small, by steps that use the residuals' Jacobian. `gauss_newton` and
// `levenberg_marquardt` make a training step of a function of the parameters; `least_squares_direction` and `newton_direction` are the
// steps themselves, expressions that may be part of anything, of `vmap` too. Residuals that are not to be trusted are weighed by a robust
// rule: `robust::huber(1.0_c)`.

#include <leat/ops/decompositions.hpp>
#include <leat/ops/solve.hpp>
#include <leat/ops/state.hpp>
#include <leat/passes/jacobian.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace leat {

/// Rules for residuals. `loss(r)` is what a residual adds to the sum that is made small; `weight(r)`, the loss's derivative divided by r,
/// is the weight with which the residual enters the linear problem of a step ("iteratively reweighted least squares").
namespace robust {

using namespace leat::literals;

/// The scale of a rule: a tensor, or a number as `1.5_c`.
template <class C>
concept residual_scale = tensor_expression<C> || requires { C::value; };

/// Half the square: least squares.
struct squares {
  template <tensor_expression R>
  constexpr auto loss(const R& r) const {
    return square(r) * 0.5_c;
  }
};
/// Squares up to the scale, and lines beyond. Source: Huber (1964).
template <residual_scale C>
struct huber_rule {
  C scale;
  template <tensor_expression R>
  constexpr auto loss(const R& r) const {
    const auto inside = minimum(abs(r), scale);
    return inside * (abs(r) - inside * 0.5_c);
  }
  template <tensor_expression R>
  constexpr auto weight(const R& r) const {
    return scale / maximum(abs(r), scale);
  }
};
/// Logarithms of squares. Source: Black and Anandan (1996), "Lorentzian".
template <residual_scale C>
struct cauchy_rule {
  C scale;
  template <tensor_expression R>
  constexpr auto loss(const R& r) const {
    return log1p(square(r / scale)) * 0.5_c * scale * scale;
  }
  template <tensor_expression R>
  constexpr auto weight(const R& r) const {
    return reciprocal(square(r / scale) + 1_c);
  }
};
/// Residuals beyond the scale have no effect. Source: Beaton and Tukey (1974), "biweight".
template <residual_scale C>
struct tukey_rule {
  C scale;
  template <tensor_expression R>
  constexpr auto loss(const R& r) const {
    const auto rest = 1_c - square(minimum(abs(r), scale) / scale);
    return (1_c - rest * rest * rest) / 6_c * scale * scale;
  }
  template <tensor_expression R>
  constexpr auto weight(const R& r) const {
    return square(1_c - square(minimum(abs(r), scale) / scale));
  }
};

/// The rules with their scale, the size of residuals that are to be trusted: a number as `1.5_c`, or a tensor of the residuals' dtype.
template <residual_scale C>
constexpr huber_rule<C> huber(const C& scale) {
  return {scale};
}
template <residual_scale C>
constexpr cauchy_rule<C> cauchy(const C& scale) {
  return {scale};
}
template <residual_scale C>
constexpr tukey_rule<C> tukey(const C& scale) {
  return {scale};
}
LEAT_OTHERWISE("huber(scale) takes a tensor of the residuals' dtype, or a number as 1.5_c") huber(...) LEAT_DELETED;
LEAT_OTHERWISE("cauchy(scale) takes a tensor of the residuals' dtype, or a number as 1.5_c") cauchy(...) LEAT_DELETED;
LEAT_OTHERWISE("tukey(scale) takes a tensor of the residuals' dtype, or a number as 1.5_c") tukey(...) LEAT_DELETED;

}  // namespace robust

namespace detail {

// x in the shape of `Dims`, some of which may be names.
template <class Dims>
struct in_dims;
template <std::int64_t... Ds>
struct in_dims<dims<Ds...>> {
  template <tensor_expression X>
  static constexpr auto of(const X& x) {
    if constexpr (std::is_same_v<typename X::extents, dims<Ds...>>) return x;
    else return make<reshape_op, attributes<Ds...>>(x);
  }
};
// The number of elements as one dimension, and that of a tensor of rank 1, whose size may be a name.
template <class X>
constexpr std::int64_t elements_of = X::rank == 1 ? X::extent[X::rank - 1] : X::extent.elements();

// The Jacobian of residuals by a parameter, as a matrix.
template <tensor_expression R, tensor_expression X>
constexpr auto jacobian_matrix(const R& residuals, const X& x) {
  return in_dims<dims<elements_of<R>, X::extent.elements()>>::of(jacobian(residuals, x));
}
template <std::int64_t First, tensor_expression D>
constexpr std::tuple<> parts_of_direction(const D&, const std::tuple<>&) {
  return {};
}
// The parts of a column [all, 1] in the shapes of the parameters.
template <std::int64_t First, tensor_expression D, tensor_expression X, tensor_expression... Xs>
constexpr auto parts_of_direction(const D& direction, const std::tuple<X, Xs...>& xs) {
  constexpr std::int64_t size = X::extent.elements();
  const auto own = make<slice_op, attributes<First, 0, size, 1>>(direction);
  return std::tuple_cat(std::tuple(in_dims<typename X::extents>::of(own)),
                        std::apply(
                            [&](const auto&, const auto&... rest) {
                              return parts_of_direction<First + size>(direction, std::tuple(rest...));
                            },
                            xs));
}

template <class R, class Xs>
inline constexpr bool are_residuals = false;
template <tensor_expression R, tensor_expression... Xs>
inline constexpr bool are_residuals<R, std::tuple<Xs...>> =
    (jacobian_call<false, jacobian_mode::fewest, R, Xs>::none && ...) && (Xs::extent.is_static() && ...) &&
    (R::rank == 1 || R::extent.is_static()) && (std::is_same_v<typename R::element, typename Xs::element> && ...);

// Damping of a step: none.
struct undamped {};

}  // namespace detail

/// Residuals, one tensor, as a function of parameters, one tensor or a tuple of tensors: floating point, all of one dtype; the parameters'
/// sizes are numbers; the residuals' too, or the only one of them is a name.
template <class R, class X>
concept residuals_of = tensor_expression<R> && detail::tensors<X> && detail::are_residuals<R, detail::tensors_of<X>>;

/// The step of least squares: the dx that makes the sum of squares of r + J dx small, for the residuals r and their Jacobian J by `x`.
/// `damping`: a scalar d, by which the diagonal of JᵀJ grows by a part d of itself; the larger, the shorter the step. `rule`: of `robust`,
/// weighs the residuals. Shapes and dtypes: as x, which is a tensor or a tuple of tensors, and so is the result. NaN where JᵀJ is singular,
/// because the residuals do not determine x. Source: Gauss; Levenberg (1944); Marquardt (1963).
template <class R, class X, class Damping = detail::undamped, class Rule = robust::squares>
  requires residuals_of<R, X>
constexpr auto least_squares_direction(const R& residuals, const X& x, const Damping& damping = {}, const Rule& rule = {}) {
  const auto xs = detail::as_tuple(x);
  const auto slopes = std::apply(
      [&](const auto&... each) {
        if constexpr (sizeof...(each) == 1) return detail::jacobian_matrix(residuals, each...);
        else return concat<1>(detail::jacobian_matrix(residuals, each)...);
      },
      xs);
  const auto r = detail::in_dims<dims<detail::elements_of<R>, 1>>::of(residuals);
  const auto weighed = [&] {
    if constexpr (std::is_same_v<Rule, robust::squares>) return slopes;
    else return slopes * rule.weight(r);
  }();
  const auto curvature = matmul<true, false>(weighed, slopes);
  const auto damped = [&] {
    if constexpr (std::is_same_v<Damping, detail::undamped>) return curvature;
    else return curvature + matrix_diag(matrix_diag_part(curvature) * damping);
  }();
  const auto all = -cholesky_solve(cholesky(damped), matmul<true, false>(weighed, r));
  const auto parts = detail::parts_of_direction<0>(all, xs);
  if constexpr (detail::tensor_list<X>::single) return std::get<0>(parts);
  else return parts;
}
LEAT_OTHERWISE("least_squares_direction(residuals, x) takes residuals, a tensor, that depend on x, a tensor or a tuple of tensors, all of "
               "one floating-point dtype and of sizes that are numbers (residuals of rank 1 may have a name)")
least_squares_direction(...) LEAT_DELETED;

/// Newton's step: the dx at which the second-order model of `loss` by `x`, a vector, is stationary: -H⁻¹ g. Shape and dtype: as x. NaN or
/// infinities where the Hessian is singular. It leads to a saddle or a maximum where the Hessian is not positive definite. Source: Nocedal
/// and Wright, "Numerical Optimization".
template <tensor_expression Y, tensor_expression X>
  requires(X::rank == 1 && detail::hessian_problem<jacobian_mode::fewest, Y, X>::none)
constexpr auto newton_direction(const Y& loss, const X& x) {
  const auto slope = std::get<0>(gradients(loss, x));
  return -detail::in_dims<typename X::extents>::of(
      solve(hessian(loss, x), detail::in_dims<dims<X::extent.elements(), 1>>::of(slope)));
}
LEAT_OTHERWISE("newton_direction(loss, x) takes a loss that is not linear in x, and x of one dimension; " LEAT_TENSORS)
newton_direction(...) LEAT_DELETED;

/// A training step of least squares: `loss`, the sum before the step, a scalar; `step`, the operation.
template <tensor_expression Loss, class Step>
struct least_squares_fit {
  Loss loss;
  Step step;
};

namespace detail {
template <class Xs>
inline constexpr bool are_variables = false;
template <class... Xs>
inline constexpr bool are_variables<std::tuple<Xs...>> = (variable_expression<Xs> && ...);

template <class F, class... Xs>
constexpr auto residuals_at(const F& f, const std::tuple<Xs...>& xs) {
  return std::apply(f, xs);
}
template <class... As, class... Bs, std::size_t... I>
constexpr auto sums_of(const std::tuple<As...>& a, const std::tuple<Bs...>& b, std::index_sequence<I...>) {
  return std::tuple((std::get<I>(a) + std::get<I>(b))...);
}
template <class F, class X>
concept residual_function = tensors<X> && are_variables<tensors_of<X>> && requires(const F& f, const tensors_of<X>& xs) {
  { residuals_at(f, xs) } -> residuals_of<tensors_of<X>>;
};

// The step of Levenberg and Marquardt from variables `xs`, with the loss `loss`, to `candidate`, where the loss is `reached`.
template <class Loss, class Reached, class... Xs, class... Cs, class Damping>
constexpr auto damped_fit(const Loss& loss, const Reached& reached, const std::tuple<Xs...>& xs, const std::tuple<Cs...>& candidate,
                          const Damping& damping) {
  using namespace leat::literals;
  const auto better = reached < loss;
  const auto next = select(better, maximum(damping * 0.1_c, 1e-12_c), minimum(maximum(damping, 1e-12_c) * 10_c, 1e12_c));
  const auto step = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return group(assign(std::get<I>(xs), select(better, std::get<I>(candidate), std::get<I>(xs)))..., assign(damping, next));
  }(std::index_sequence_for<Xs...>{});
  return least_squares_fit<Loss, std::remove_const_t<decltype(step)>>{loss, step};
}
}  // namespace detail

/// Least squares by the method of Gauss and Newton. `f(x...)` returns the residuals as one tensor; `x` is a variable or a tuple of
/// variables, which the step changes by `least_squares_direction`. It converges fast near a solution with small residuals; far from one use
/// `levenberg_marquardt`. `rule`: of `robust`. Errors (at compile time): as `residuals_of` says. Source: Nocedal and Wright.
template <class F, class X, class Rule = robust::squares>
  requires detail::residual_function<F, X>
constexpr auto gauss_newton(const F& f, const X& x, const Rule& rule = {}) {
  const auto xs = detail::as_tuple(x);
  const auto residuals = detail::residuals_at(f, xs);
  const auto direction = least_squares_direction(residuals, xs, detail::undamped{}, rule);
  const auto loss = reduce_sum(rule.loss(residuals));
  const auto step = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return group(assign_add(std::get<I>(xs), std::get<I>(direction))...);
  }(std::make_index_sequence<std::tuple_size_v<decltype(xs)>>{});
  return least_squares_fit<std::remove_const_t<decltype(loss)>, std::remove_const_t<decltype(step)>>{loss, step};
}
LEAT_OTHERWISE("gauss_newton(f, x) takes a function that returns residuals, a tensor, of x, a variable or a tuple of variables, all of one "
               "floating-point dtype and of sizes that are numbers")
gauss_newton(...) LEAT_DELETED;

/// Least squares by the method of Levenberg and Marquardt, as `gauss_newton`, with a step that is damped and is only taken where it makes
/// the loss smaller. `damping`: an untrainable scalar variable, for instance `untrainable_variable<"damping", double>(1e-3)`: a tenth after
/// a step that was taken, ten times as much after one that was not; between 1e-12 and 1e12. A step whose matrix is singular is not taken.
/// Source: Marquardt (1963).
template <class F, class X, tensor_expression Damping, class Rule = robust::squares>
  requires(detail::residual_function<F, X> && detail::variable_expression<Damping>)
constexpr auto levenberg_marquardt(const F& f, const X& x, const Damping& damping, const Rule& rule = {}) {
  const auto xs = detail::as_tuple(x);
  const auto residuals = detail::residuals_at(f, xs);
  const auto direction = least_squares_direction(residuals, xs, damping, rule);
  const auto candidate = detail::sums_of(xs, direction, std::make_index_sequence<std::tuple_size_v<std::remove_const_t<decltype(xs)>>>{});
  return detail::damped_fit(reduce_sum(rule.loss(residuals)), reduce_sum(rule.loss(detail::residuals_at(f, candidate))), xs, candidate,
                            damping);
}
LEAT_OTHERWISE("levenberg_marquardt(f, x, damping) takes a function that returns residuals, a tensor, of x, a variable or a tuple of "
               "variables, all of one floating-point dtype and of sizes that are numbers, and a scalar variable")
levenberg_marquardt(...) LEAT_DELETED;

}  // namespace leat
