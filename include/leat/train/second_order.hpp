#pragma once
// Training steps that use curvature, for losses that are the same in each step: `newton()`, `newton_cg()` and `lbfgs()`. Each finds a
// direction for all variables together and how far to go along it; a step that would not make the loss smaller is not taken.

#include <leat/train/conjugate_gradients.hpp>
#include <leat/train/flat_parameters.hpp>

#include <tuple>

namespace leat {

namespace detail {

// A direction of descent: -g where `direction` leads up, or is no number.
template <tensor_expression D, tensor_expression G>
constexpr auto downwards(const D& direction, const G& g) {
  return select(dot(direction, g) < 0_c, direction, -g);
}

// The steps of methods that keep nothing between them: `Method::direction(loss, xs, slopes, g)`.
template <int Trials, class Method>
struct directed_step {
  template <tensor_expression Loss>
  static constexpr auto updates(const Loss& loss) {
    const auto xs = variables_of(loss);
    const auto slopes = std::apply([&](const auto&... x) { return gradients(loss, x...); }, xs);
    const auto g = as_vector(slopes);
    const auto direction = downwards(Method::direction(loss, xs, slopes, g), g);
    const auto length = length_of_step<Trials>(loss, xs, direction, dot(direction, g), loss * 0_c + 1_c);
    return moved_along(xs, direction, length);
  }
};

struct newton_method {
  template <class Loss, class Xs, class Slopes, class G>
  static constexpr auto direction(const Loss& loss, const Xs& xs, const Slopes&, const G&) {
    const auto z = as_vector(xs);
    return newton_direction(at_values(loss, xs, parts_of_vector(z, xs)), z);
  }
};
template <int Iterations>
struct newton_cg_method {
  template <class Loss, class Xs, class Slopes, class G>
  static constexpr auto direction(const Loss&, const Xs& xs, const Slopes& slopes, const G& g) {
    const auto curve = [&](const auto& v) { return as_vector(jvp(slopes, xs, parts_of_vector(v, xs))); };
    return conjugate_gradients<Iterations>(curve, -g);
  }
};

// The direction -H g, where H is the inverse Hessian that the last m moves s (rows of `s`, the oldest first) and changes of the gradient y
// tell; rows of zeros are moves that were not made. With R, the upper triangle of s yᵀ, and D, its diagonal, H is γ plus products of m
// rows, so that the number of nodes does not grow with m. Source: Byrd, Nocedal and Schnabel (1994), "Representations of quasi-Newton
// matrices".
template <tensor_expression S, tensor_expression Y, tensor_expression G>
constexpr auto lbfgs_direction(const S& s, const Y& y, const G& g) {
  constexpr std::int64_t m = S::extent[0], n = S::extent[1];
  const auto column = in_dims<dims<n, 1>>::of(g);
  const auto products = matmul<false, true>(s, y);
  const auto diagonal = matrix_diag_part(products);
  const auto ones = select(diagonal > 0_c, diagonal * 0_c, diagonal * 0_c + 1_c);
  const auto r = matrix_band_part<0, -1>(products) + matrix_diag(ones);
  const auto squares = matmul<false, true>(y, y);
  const auto last = index<m - 1>(diagonal);
  const auto scale = select(last > 0_c, last / index<m - 1>(matrix_diag_part(squares)), 1_c / maximum(sqrt(dot(g, g)), 1_c));
  const auto u = triangular_solve<false>(r, matmul(s, column));
  const auto w = triangular_solve<false, true>(
      r, in_dims<dims<m, 1>>::of(diagonal) * u + (matmul(squares, u) - matmul(y, column)) * scale);
  return -in_dims<dims<n>>::of((column - matmul<true, false>(y, u)) * scale + matmul<true, false>(s, w));
}
template <int Memory, int Trials>
struct lbfgs_step {
  template <tensor_expression Loss>
  static constexpr auto updates(const Loss& loss) {
    const auto xs = variables_of(loss);
    const auto x = as_vector(xs);
    const auto g = as_vector(std::apply([&](const auto&... each) { return gradients(loss, each...); }, xs));
    constexpr std::int64_t n = all_elements<std::remove_const_t<decltype(xs)>>;
    const auto& first = std::get<0>(xs);
    const auto moves = state_of<"lbfgs_moves", Memory, n>(first, zeros);
    const auto changes = state_of<"lbfgs_changes", Memory, n>(first, zeros);
    const auto last_x = state_of<"lbfgs_x", n>(first, zeros);
    const auto last_g = state_of<"lbfgs_gradient", n>(first, zeros);
    const auto reach = state_of<"lbfgs_reach">(first, ones);

    // The last step's move and change enter the history if the curvature along it is positive. Before the first step all states are 0.
    const auto s = x - last_x;
    const auto y = g - last_g;
    const auto curved = dot(s, y) > sqrt(dot(s, s) * dot(y, y)) * 1e-8_c;
    const auto enters = logical_and(curved, dot(last_g, last_g) > 0_c);
    const auto with = [&](const auto& rows, const auto& row) {
      const auto own = in_dims<dims<1, n>>::of(row);
      if constexpr (Memory == 1) return select(enters, own, rows);
      else return select(enters, concat<0>(slice<begins<1, 0>, sizes<Memory - 1, n>>(rows), own), rows);
    };
    const auto moved = with(moves, s);
    const auto changed = with(changes, y);

    const auto direction = downwards(lbfgs_direction(moved, changed, g), g);
    const auto length = length_of_step<Trials>(loss, xs, direction, dot(direction, g), reach);
    // Where no length is found, the next step begins anew, and nearer.
    const auto found = length > 0_c;
    return std::tuple_cat(moved_along(xs, direction, length),
                          std::tuple(assign(moves, select(found, moved, moved * 0_c)),
                                     assign(changes, select(found, changed, changed * 0_c)), assign(last_x, x), assign(last_g, g),
                                     assign(reach, select(found, reach * 0_c + 1_c, maximum(reach * 0.015625_c, 1e-30_c)))));
  }
};

template <class Step, class Loss>
concept has_step = flat_loss<Loss> && requires(const Loss& loss) { Step::updates(loss); };

}  // namespace detail

/// A method that makes training steps of a loss, as `newton()`, `newton_cg()` and `lbfgs()` return it.
template <class Step>
struct second_order {
  /// One training step on all trainable variables that the loss depends on. They are floating point, of the loss's dtype, and their sizes
  /// are numbers. `step`, an integer variable, rises by one.
  template <tensor_expression Loss>
    requires detail::flat_loss<Loss>
  constexpr auto minimize(const Loss& loss) const {
    return std::apply([](const auto&... each) { return group(each...); }, Step::updates(loss));
  }
  template <tensor_expression Loss, detail::variable_expression Counter>
    requires(detail::flat_loss<Loss> && is_integer(Counter::type))
  constexpr auto minimize(const Loss& loss, const Counter& step) const {
    using namespace leat::literals;
    return std::apply([&](const auto&... each) { return group(each..., assign_add(step, 1_c)); }, Step::updates(loss));
  }
  template <tensor_expression Loss, class... Counter>
    requires(!detail::loss_problem<Loss>::none)
  constexpr typename detail::loss_refusal<Loss>::problem minimize(const Loss&, const Counter&...) const = delete;
  LEAT_OTHERWISE("minimize(loss) takes a scalar tensor whose trainable variables have its dtype and sizes that are numbers, and perhaps an "
                 "untrainable variable of integers that counts the steps")
  minimize(...) const LEAT_DELETED;
};

/// Newton's method: the step -H⁻¹ g of the Hessian of all variables together, or -g where that leads up or is no number, of length 1, 1/4,
/// … 4^(1 - Trials), whichever is the longest that makes the loss smaller by enough; none if none does. A step costs as many passes as
/// there are elements, and a decomposition of their matrix. Source: Nocedal and Wright, "Numerical Optimization".
template <int Trials = 4>
  requires(Trials > 0)
constexpr auto newton() {
  return second_order<detail::directed_step<Trials, detail::newton_method>>{};
}
/// Newton's method without a matrix: the system of a step is solved by at most `Iterations` of conjugate gradients, each of which costs a
/// product with the Hessian, about two gradients. Source: Nocedal and Wright, "Newton-CG".
template <int Iterations = 10, int Trials = 4>
  requires(Iterations > 0 && Trials > 0)
constexpr auto newton_cg() {
  return second_order<detail::directed_step<Trials, detail::newton_cg_method<Iterations>>>{};
}
/// L-BFGS: the curvature is that which the last `Memory` steps met. A step costs one gradient, `Trials` evaluations of the loss, and some
/// products with 2 Memory vectors. The length is that of a backtracking search, as for `newton`; where no length is found, nothing changes,
/// and the next step begins anew with the gradient alone. The variables that it keeps are named after the first variable:
/// `w/lbfgs_moves`, `w/lbfgs_changes` [Memory, all], `w/lbfgs_x`, `w/lbfgs_gradient` [all], `w/lbfgs_reach`. The loss must be the same
/// function in all steps: feed them the same data. Source: Liu and Nocedal (1989).
template <int Memory = 8, int Trials = 3>
  requires(Memory > 0 && Trials > 0)
constexpr auto lbfgs() {
  return second_order<detail::lbfgs_step<Memory, Trials>>{};
}

}  // namespace leat
