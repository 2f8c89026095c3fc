#pragma once
// Ordinary differential equations y' = f(t, y), in steps of one length: `auto [last, path] = solve_rk4<1000>(f, y0, t0, step)`. Gradients
// go back through the steps. Source: Hairer, Nørsett and Wanner, "Solving Ordinary Differential Equations I".

#include <leat/passes/scan.hpp>

#include <tuple>

namespace leat {

namespace detail {

// What f gives in the course of a step: y plus a multiple of a slope.
template <class Y, class K, class H>
constexpr auto stepped_along(const Y& y, const K& k, const H& h) {
  return y + k * h;
}
struct euler_rule {
  template <class F, class T, class Y, class H>
  static constexpr auto step(const F& f, const T& t, const Y& y, const H& h) {
    return stepped_along(y, f(t, y), h);
  }
};
struct rk4_rule {
  template <class F, class T, class Y, class H>
  static constexpr auto step(const F& f, const T& t, const Y& y, const H& h) {
    using E = typename Y::element;
    const auto half = h * constant<E(0.5)>();
    const auto k1 = f(t, y);
    const auto k2 = f(t + half, stepped_along(y, k1, half));
    const auto k3 = f(t + half, stepped_along(y, k2, half));
    const auto k4 = f(t + h, stepped_along(y, k3, h));
    return stepped_along(y, k1 + constant<E(2)>() * (k2 + k3) + k4, h * constant<E(1.0 / 6)>());
  }
};

// Times t0, t0 + h, ... of the steps.
template <class Rule, std::int64_t Steps, bool Path, class F, class Y, class T, class H>
constexpr auto solve(const F& f, const Y& y0, const T& t0, const H& h) {
  const auto number = index_of_steps<typename Y::element, Steps>();
  const auto next = [&](const auto& y, const auto& k) { return Rule::step(f, t0 + k * h, y, h); };
  if constexpr (Path) {
    return scan(
        [&](const auto& y, const auto& k) {
          const auto made = next(y, k);
          return std::tuple(made, made);
        },
        y0, number);
  } else {
    return fold(next, y0, number);
  }
}

template <class F, class Y, class T>
concept slope_function = requires(const F& f, const Y& y, const T& t) {
  { f(t, y) } -> tensor_expression;
};
template <class Y, class T>
concept same_scalar = tensor_expression<T> && requires { requires T::rank == 0 && T::type == Y::type; };
template <class F, class Y, class T, class H>
concept differential = tensor_expression<Y> && requires { requires is_floating(Y::type); } && same_scalar<Y, T> && same_scalar<Y, H> &&
                       slope_function<F, Y, T>;

}  // namespace detail

#define LEAT_SOLVER(function, rule)                                                                                                       \
  template <std::int64_t Steps, class F, class Y, class T, class H>                                                                      \
    requires(Steps >= 0 && detail::differential<F, Y, T, H>)                                                                             \
  [[nodiscard("a loop is an expression: fetch what it gives, or compute with it")]] constexpr auto function(                             \
      const F& f, const Y& y0, const T& t0, const H& step) {                                                                             \
    return detail::solve<detail::rule, Steps, false>(f, y0, t0, step);                                                                   \
  }                                                                                                                                      \
  template <std::int64_t Steps, class F, class Y, class T, class H>                                                                      \
    requires(Steps >= 0 && detail::differential<F, Y, T, H>)                                                                             \
  [[nodiscard("a loop is an expression: fetch what it gives, or compute with it")]] constexpr auto function##_path(                      \
      const F& f, const Y& y0, const T& t0, const H& step) {                                                                             \
    return detail::solve<detail::rule, Steps, true>(f, y0, t0, step);                                                                    \
  }                                                                                                                                      \
  template <LEAT_ANY_NUMBER Steps>                                                                                                       \
  LEAT_OTHERWISE(#function                                                                                                               \
                 "<steps>(f, y0, t0, step) takes a function of time and state, [](auto t, auto y) { return slope; }, the first state, "  \
                 "and two scalars of its dtype: the time where it begins, and the length of a step; " LEAT_TENSORS)                      \
  function(...) LEAT_DELETED

/// The state after `Steps` steps of Euler's method. `f(t, y)`: the slope. `solve_euler_path` gives that state, and those after each step
/// [Steps, ...]. Shapes: any; result as y0. Dtypes: floating point, the same for all. Errors (at compile time): a slope of another shape.
LEAT_SOLVER(solve_euler, euler_rule);
/// The state after `Steps` steps of the classical method of Runge and Kutta, of fourth order. `solve_rk4_path` gives that state, and those
/// after each step. Arguments, shapes, dtypes and errors: as for `solve_euler`.
LEAT_SOLVER(solve_rk4, rk4_rule);
#undef LEAT_SOLVER

}  // namespace leat
