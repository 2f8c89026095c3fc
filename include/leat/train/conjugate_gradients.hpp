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

// One iteration: the solution x so far, its residual r = b - A x with the sum of squares rr, and the direction p. Where the residual is
// small, or A is found not to be positive definite along p, x stays, as it then does in all later iterations.
template <int Left, class F, class X, class R, class P, class S, class E>
constexpr auto conjugate_iteration(const F& multiply, const X& x, const R& r, const P& p, const S& rr, const E& enough) {
  using namespace leat::literals;
  if constexpr (Left == 0) {
    return x;
  } else {
    const auto ap = multiply(p);
    const auto curvature = reduce_sum(p * ap);
    const auto goes_on = logical_and(rr > enough, curvature > 0_c);
    const auto length = select(goes_on, rr / curvature, rr * 0_c);
    const auto next = x + p * length;
    if constexpr (Left == 1) {
      return next;
    } else {
      const auto rest = r - ap * length;
      const auto square_sum = select(goes_on, reduce_sum(square(rest)), rr * 0_c);
      const auto turn = select(goes_on, square_sum / rr, rr * 0_c);
      return conjugate_iteration<Left - 1>(multiply, next, rest, rest + p * turn, square_sum, enough);
    }
  }
}

// The same iterations as a loop, which is compiled once, whatever their number.
template <int Iterations, class F, class B, class E>
constexpr auto conjugate_loop(const F& multiply, const B& b, const E& enough) {
  using namespace leat::literals;
  const auto goes_on = [&](const auto& state) { return std::get<3>(state) > enough; };
  const auto iterate = [&](const auto& state) {
    const auto [x, r, p, rr] = state;
    const auto ap = multiply(p);
    const auto curvature = reduce_sum(p * ap);
    const auto is_positive = curvature > 0_c;
    const auto length = select(is_positive, rr / curvature, rr * 0_c);
    const auto rest = r - ap * length;
    const auto square_sum = select(is_positive, reduce_sum(square(rest)), rr * 0_c);
    return std::tuple(x + p * length, rest, rest + p * (square_sum / rr), square_sum);
  };
  return std::get<0>(while_loop<Iterations>(goes_on, iterate, std::tuple(b * 0_c, b, b, reduce_sum(square(b)))));
}
}  // namespace detail

/// The solution x of A x = b by the method of conjugate gradients, for a symmetric, positive definite A that is given as the function
/// v -> A v: `conjugate_gradients<10>([&](auto v) { return hvp(loss, w, v); }, -slope)`. `Iterations`: at most so many; as many as b has
/// elements solve the system but for rounding, and far fewer come near. It stops at a residual of `tolerance` |b|, and where A proves not to
/// be positive definite: x is then a direction along which xᵀ A x - 2 bᵀ x falls, or 0. Shape: any, x as b; dtype: floating point. It does
/// not say how near it came: compare A x with b where that matters. Source: Hestenes and Stiefel (1952).
template <int Iterations, class F, class B, class Tolerance = compile_time_number<std::bit_cast<std::uint64_t>(1e-10), true>>
  requires(Iterations > 0 && detail::is_product<F, B>)
constexpr auto conjugate_gradients(const F& multiply, const B& b, const Tolerance& tolerance = {}) {
  using namespace leat::literals;
  const auto size = reduce_sum(square(b));
  return detail::conjugate_iteration<Iterations>(multiply, b * 0_c, b, b, size, size * tolerance * tolerance);
}
LEAT_OTHERWISE("conjugate_gradients<iterations>(multiply, b) takes a function that returns a product of a matrix with a tensor like b, and b, a "
               "floating-point tensor")
conjugate_gradients(...) LEAT_DELETED;

}  // namespace leat
