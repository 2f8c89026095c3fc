#pragma once
// Solutions of equations as expressions: `solve_root`, `fixed_point` and `argmin`. They are found by a fixed number of steps, which
// gradients do not pass through: those of the solution follow from the equation itself (implicit function theorem), by one system of linear
// equations for each derivative.

#include <leat/ops/converged.hpp>
#include <leat/ops/decompositions.hpp>
#include <leat/ops/solve.hpp>
#include <leat/passes/jacobian.hpp>
#include <leat/passes/substitute.hpp>
#include <leat/train/flat_parameters.hpp>

#include <bit>
#include <tuple>
#include <type_traits>

namespace leat {

namespace detail {

// Stands for the unknown while an equation is written; it is replaced wherever the equation is used.
template <std::uint64_t Hash, class T, class Dims>
struct unknown_leaf : no_numbers {
  static constexpr std::uint64_t hash = Hash;
  template <class E>
  static constexpr int enter(graph& g) {
    dimension_names<Dims>::enter(g);
    return g.add_leaf(info_of<placeholder_op>, {dtype_of<T>, Dims::value}, "unknown", hash);
  }
};
template <class Site, tensor_expression X>
using unknown_like = leaf_tensor<unknown_leaf<mix(mix(site_hash<Site>, X::identity::hash), 901), typename X::element, typename X::extents>,
                                 typename X::element, typename X::extents>;

template <class X>
concept unknown = tensor_expression<X> && is_floating(X::type) && X::extent.is_static();
template <class Y, class X>
inline constexpr bool is_like = false;
template <tensor_expression Y, tensor_expression X>
inline constexpr bool is_like<Y, X> = std::is_same_v<typename Y::element, typename X::element> &&
                                      std::is_same_v<typename Y::extents, typename X::extents>;
template <class F, class X>
concept function_of_unknown = unknown<X> && requires(const F& f, const X& x) { f(x); };
template <class F, class X>
using called_with = std::remove_cvref_t<decltype(std::declval<const F&>()(std::declval<const X&>()))>;

template <class F, class X>
inline constexpr bool is_scalar_function = false;
template <class F, class X>
  requires function_of_unknown<F, X>
inline constexpr bool is_scalar_function<F, X> = [] {
  if constexpr (tensor_expression<called_with<F, X>>) return called_with<F, X>::rank == 0;
  else return false;
}();
// A function that returns a tensor like the unknown x at which it is called.
template <class F, class X, class Site>
concept equation = function_of_unknown<F, unknown_like<Site, X>> && is_like<called_with<F, unknown_like<Site, X>>, X>;
template <class Site, class X>
struct unknown_of {
  using type = void;
};
template <class Site, tensor_expression X>
struct unknown_of<Site, X> {
  using type = unknown_like<Site, X>;
};

// How a system with a Jacobian [x, x] is solved: -J⁻¹ y in the shape of x.
struct by_lu {
  template <class J, class Y>
  static constexpr auto solved(const J& j, const Y& y) {
    return solve(j, y);
  }
};
struct by_cholesky {  // NaN where the matrix is not positive definite
  template <class J, class Y>
  static constexpr auto solved(const J& j, const Y& y) {
    return cholesky_solve(cholesky(j), y);
  }
};
template <class How, tensor_expression Slopes, tensor_expression Y>
constexpr auto newton_step(const Slopes& slopes, const Y& y) {
  constexpr std::int64_t n = Y::extent.elements();
  return -in_dims<typename Y::extents>::of(How::solved(in_dims<dims<n, n>>::of(slopes), in_dims<dims<n, 1>>::of(y)));
}

template <int Left, class Next, class Unknown, class X>
constexpr auto repeated_step(const Next& next, const Unknown& at, const X& x) {
  if constexpr (Left == 0) return x;
  else return repeated_step<Left - 1>(next, at, at_values(next, std::tuple(at), std::tuple(x)));
}
// Steps with constant slopes, for which an unknown of its own stands: else each substitution would go through all that they are made of.
template <int Left, class Next, class Unknown, class Slope, class X, class Slopes>
constexpr auto repeated_chord(const Next& next, const Unknown& at, const Slope& slope, const X& x, const Slopes& slopes) {
  if constexpr (Left == 0) return x;
  else return repeated_chord<Left - 1>(next, at, slope, at_values(next, std::tuple(at, slope), std::tuple(x, slopes)), slopes);
}

// The solution of y = 0, where `y` and `next`, a better solution, are expressions of the unknown `at`. The steps to it are constant for
// gradients. From there `Derivatives` steps x - J⁻¹ y(x, θ) with a constant J change nothing, but each makes one more derivative by θ that
// of the implicit function: the solution is off by O(δ) when θ moves by δ, J⁻¹ by O(δ), too, so that each step reduces the error by O(δ).
template <int Steps, approach Which, double Tolerance, int Derivatives, class How, class At, class Y, class Next, class X>
constexpr auto implicit_solution(const At& at, const Y& y, const Next& next, const X& start) {
  const auto found = repeated_step<Steps>(next, at, start);
  const auto residual = at_values(sqrt(reduce_sum(square(y))), std::tuple(at), std::tuple(found));
  using numbers = attributes<std::bit_cast<std::int64_t>(Tolerance), static_cast<std::int64_t>(Steps), static_cast<std::int64_t>(Which)>;
  const auto solution = stop_gradient(make<check_converged_op, numbers>(found, residual));
  if constexpr (Derivatives == 0) {
    return solution;
  } else if constexpr (Derivatives == 1) {
    return at_values(at + newton_step<How>(stop_gradient(jacobian(y, at)), y), std::tuple(at), std::tuple(solution));
  } else {
    const auto slopes = jacobian(y, at);
    const unknown_like<At, std::remove_cv_t<decltype(slopes)>> slope;
    return repeated_chord<Derivatives>(at + newton_step<How>(slope, y), at, slope, solution,
                                       stop_gradient(at_values(slopes, std::tuple(at), std::tuple(solution))));
  }
}

}  // namespace detail

/// A solution x of f(x) = 0, by `Steps` of Newton's method from `start`: `solve_root([&](auto x) { return square(x) - a; }, start)`. `f`
/// returns a tensor like x; what else it mentions are parameters, by which the solution can be differentiated: the gradient is that of the
/// implicit function, by systems of linear equations with one matrix, and does not pass the steps. As many derivatives are right as
/// `Derivatives` says, so Hessians are by default; each costs one more evaluation of f and one more system, in the value, too. Shape: as
/// start, of sizes that are numbers; dtype: floating point. Errors: failed_precondition at run time, with the residual, if |f(x)| is more
/// than `Tolerance` or NaN after the steps; at compile time, an f that does not depend on x. Source: Newton; Griewank and Walther,
/// "Evaluating Derivatives".
template <int Steps = 10, double Tolerance = 1e-6, int Derivatives = 2, class F, class X, LEAT_SITE>
  requires(Steps > 0 && Derivatives >= 0 && detail::equation<F, X, Site>)
constexpr auto solve_root(const F& f, const X& start) {
  const detail::unknown_like<Site, X> at;
  const auto y = f(at);
  const auto next = at + detail::newton_step<detail::by_lu>(jacobian(y, at), y);
  return detail::implicit_solution<Steps, approach::root, Tolerance, Derivatives, detail::by_lu>(at, y, next, start);
}
LEAT_OTHERWISE(
    "solve_root(f, start) takes a function that returns a tensor like x, and start, a floating-point tensor of sizes that are numbers")
solve_root(...) LEAT_DELETED;

/// A fixed point x = f(x), by `Steps` repetitions of f from `start`, as `solve_root`, without a matrix until the last step. Errors: as of
/// `solve_root`, where the residual is |f(x) - x|: f must be a contraction. Source: Banach.
template <int Steps = 50, double Tolerance = 1e-6, int Derivatives = 2, class F, class X, LEAT_SITE>
  requires(Steps > 0 && Derivatives >= 0 && detail::equation<F, X, Site>)
constexpr auto fixed_point(const F& f, const X& start) {
  const detail::unknown_like<Site, X> at;
  const auto next = f(at);
  return detail::implicit_solution<Steps, approach::fixed_point, Tolerance, Derivatives, detail::by_lu>(at, at - next, next, start);
}
LEAT_OTHERWISE(
    "fixed_point(f, start) takes a function that returns a tensor like x, and start, a floating-point tensor of sizes that are numbers")
fixed_point(...) LEAT_DELETED;

/// The x near `start` at which f(x), a scalar, is smallest, by `Steps` of Newton's method, as `solve_root` of the gradient. Errors: as of
/// `solve_root`, where the residual is the gradient's norm; also where a Hessian is not positive definite, so that the result is a minimum,
/// not a saddle. At compile time: f is no scalar, or linear. Source: Gould et al. (2016), "On differentiating parameterized argmin
/// problems".
template <int Steps = 10, double Tolerance = 1e-6, int Derivatives = 2, class F, class X, LEAT_SITE>
  requires(Steps > 0 && Derivatives >= 0 && detail::is_scalar_function<F, typename detail::unknown_of<Site, X>::type>)
constexpr auto argmin(const F& f, const X& start) {
  const detail::unknown_like<Site, X> at;
  const auto y = std::get<0>(gradients(f(at), at));
  const auto next = at + detail::newton_step<detail::by_cholesky>(jacobian(y, at), y);
  return detail::implicit_solution<Steps, approach::minimum, Tolerance, Derivatives, detail::by_cholesky>(at, y, next, start);
}
template <int Steps = 10, double Tolerance = 1e-6, int Derivatives = 2, class F, class X, LEAT_SITE>
  requires(!(Steps > 0 && Derivatives >= 0 && detail::is_scalar_function<F, typename detail::unknown_of<Site, X>::type>))
LEAT_OTHERWISE("argmin(f, start) takes a function that returns a scalar, and start, a floating-point tensor of sizes that are numbers; "
               "argmin<axis>(x) is the position of the smallest element")
argmin(const F&, const X&) LEAT_DELETED;

}  // namespace leat
