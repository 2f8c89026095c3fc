#pragma once
// Conjugate gradients: systems of linear equations whose matrix is only known by its products with vectors, such as those of Hessians.

#include <leat/expr/leaf.hpp>
#include <leat/ops/arithmetic.hpp>
#include <leat/ops/comparison.hpp>
#include <leat/ops/reduction.hpp>
#include <leat/passes/while_loop.hpp>

#include <tuple>
#include <type_traits>

namespace leat {

namespace detail {
template <class F, class B>
concept is_product = tensor_expression<B> && is_floating(B::type) && requires(const F& f, const B& b) {
  { f(b) } -> tensor_expression;
  requires std::is_same_v<typename std::remove_cvref_t<decltype(f(b))>::extents, typename B::extents>;
  requires std::is_same_v<typename std::remove_cvref_t<decltype(f(b))>::element, typename B::element>;
};

// One iteration. `state`: the solution x so far, its residual r = b - A x, the direction p, and the sum of squares rr of the residual.
// `goes_on(rr, curvature)`: whether x moves along p; otherwise it stays, as it then does in all later iterations.
template <class F, class State, class GoesOn>
constexpr auto conjugate_iteration(const F& multiply, const State& state, const GoesOn& goes_on) {
  using namespace leat::literals;
  const auto [x, r, p, rr] = state;
  const auto ap = multiply(p);
  const auto curvature = reduce_sum(p * ap);
  const auto moves = goes_on(rr, curvature);
  const auto length = select(moves, rr / curvature, rr * 0_c);
  const auto rest = r - ap * length;
  const auto square_sum = select(moves, reduce_sum(square(rest)), rr * 0_c);
  return std::tuple(x + p * length, rest, rest + p * select(moves, square_sum / rr, rr * 0_c), square_sum);
}
template <class B>
constexpr auto first_conjugate_state(const B& b) {
  using namespace leat::literals;
  return std::tuple(b * 0_c, b, b, reduce_sum(square(b)));
}

// The iterations one after the other; they stop where the sum of squares is at most `enough`, and where A is not positive definite along p.
template <int Left, class F, class State, class E>
constexpr auto conjugate_iterations(const F& multiply, const State& state, const E& enough) {
  using namespace leat::literals;
  if constexpr (Left == 0) {
    return std::get<0>(state);
  } else {
    const auto goes_on = [&](const auto& rr, const auto& curvature) { return logical_and(rr > enough, curvature > 0_c); };
    return conjugate_iterations<Left - 1>(multiply, conjugate_iteration(multiply, state, goes_on), enough);
  }
}

// The same iterations as a loop, which is compiled once, whatever their number.
template <int Iterations, class F, class B, class E>
constexpr auto conjugate_loop(const F& multiply, const B& b, const E& enough) {
  using namespace leat::literals;
  const auto moves = [](const auto&, const auto& curvature) { return curvature > 0_c; };
  return std::get<0>(while_loop<Iterations>([&](const auto& state) { return std::get<3>(state) > enough; },
                                            [&](const auto& state) { return conjugate_iteration(multiply, state, moves); },
                                            first_conjugate_state(b)));
}
}  // namespace detail

/// The solution x of A x = b by the method of conjugate gradients, for a symmetric, positive definite A that is given as the function
/// v -> A v: `conjugate_gradients<10>([&](auto v) { return hvp(loss, w, v); }, -slope)`. `Iterations`: at most so many; as many as b has
/// elements solve the system but for rounding, and far fewer come near. It stops at a residual of `tolerance` |b|, and where A proves not
/// to be positive definite: x is then a direction along which xᵀ A x - 2 bᵀ x falls, or 0. Shape: any, x as b; dtype: floating point. It
/// does not say how near it came: compare A x with b where that matters. Source: Hestenes and Stiefel (1952).
template <int Iterations, class F, class B, class Tolerance = compile_time_number<std::bit_cast<std::uint64_t>(1e-10), true>>
  requires(Iterations > 0 && detail::is_product<F, B>)
constexpr auto conjugate_gradients(const F& multiply, const B& b, const Tolerance& tolerance = {}) {
  using namespace leat::literals;
  const auto enough = reduce_sum(square(b)) * tolerance * tolerance;
  return detail::conjugate_iterations<Iterations>(multiply, detail::first_conjugate_state(b), enough);
}
LEAT_OTHERWISE(
    "conjugate_gradients<iterations>(multiply, b) takes a function that returns a product of a matrix with a tensor like b, and b, a "
    "floating-point tensor")
conjugate_gradients(...) LEAT_DELETED;

}  // namespace leat
