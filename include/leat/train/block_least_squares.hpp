#pragma once
// Least squares of residuals that each see one row of two tables of parameters, such as a camera and a point (bundle adjustment). The
// matrix of a step then has small blocks for the rows of the second table, which are eliminated (Schur complement); the system that is
// left, of the first table, is solved by conjugate gradients and is never formed.

#include <leat/ops/lookups.hpp>
#include <leat/train/conjugate_gradients.hpp>
#include <leat/train/flat_parameters.hpp>

#include <tuple>
#include <type_traits>

namespace leat {

/// A table of parameters [rows, k] and for each residual the row that it sees, [n]: `indexed(cameras, camera_of)`.
template <tensor_expression X, tensor_expression I>
struct indexed_rows {
  X table;
  I row_of;
};
/// The rows of a table of parameters that residuals see, for `block_levenberg_marquardt`. Shapes: table [rows, k], where k is a number;
/// row_of [n]. Dtypes: floating point; row_of integers. Errors, at compile time: other shapes or dtypes.
template <tensor_expression X, tensor_expression I>
  requires(X::rank == 2 && is_floating(X::type) && X::extent[1] > 0 && I::rank == 1 && is_integer(I::type))
constexpr indexed_rows<X, I> indexed(const X& table, const I& row_of) {
  return {table, row_of};
}
LEAT_OTHERWISE("indexed(table, row_of) takes floating-point parameters [rows, k], where k is a number, and integers [n]")
indexed(...) LEAT_DELETED;

namespace detail {

template <tensor_expression X, tensor_expression I>
constexpr auto seen_rows(const indexed_rows<X, I>& of) {
  return gather<0>(of.table, of.row_of);
}
// Sums of values [n, d...] by row of a table: [rows, d...], where `like` is any tensor of that shape.
template <tensor_expression V, tensor_expression I, tensor_expression L>
constexpr auto sums_by_row(const V& values, const I& row_of, const L& like) {
  return vjp(gather<0>(like, row_of), values, like);
}
// Tables with a further axis.
template <tensor_expression X>
constexpr auto as_columns(const X& x) {
  return in_dims<dims<X::extent[0], X::extent[1], 1>>::of(x);
}
template <tensor_expression X>
constexpr auto as_rows(const X& x) {
  return in_dims<dims<X::extent[0], 1, X::extent[1]>>::of(x);
}

template <class F, class A, class B>
concept block_residuals = requires(const F& f, const A& a, const B& b) {
  { f(seen_rows(a), seen_rows(b)) } -> tensor_expression;
  batch_jacobian(f(seen_rows(a), seen_rows(b)), seen_rows(a));
  batch_jacobian(f(seen_rows(a), seen_rows(b)), seen_rows(b));
};

}  // namespace detail

/// A step of least squares for residuals f(rows of a, rows of b), [n, m] of [n, k] and [n, l], each of which depends on its own rows alone,
/// as `least_squares_direction`: a tuple of tensors like the tables `a` and `b` are. `b` is eliminated, so it should be the table with more
/// rows; the system of `a` is solved by `Iterations` of conjugate gradients, scaled by its diagonal. `damping`: a scalar, as of
/// `least_squares_direction`; it must be positive where rows are not determined, or the result is NaN. Rows that no residual sees do not
/// move. Errors: invalid_argument for an index out of range. Source: Triggs et al., "Bundle Adjustment, a Modern Synthesis" (1999); Agarwal
/// et al., "Bundle Adjustment in the Large" (2010).
template <int Iterations = 20, class F, class A, class IA, class B, class IB, tensor_expression Damping, class Rule = robust::squares>
  requires detail::block_residuals<F, indexed_rows<A, IA>, indexed_rows<B, IB>>
constexpr auto block_least_squares_direction(const F& f, const indexed_rows<A, IA>& a, const indexed_rows<B, IB>& b, const Damping& damping,
                                             const Rule& rule = {}) {
  using namespace leat::literals;
  using namespace leat::detail;
  const auto rows_a = seen_rows(a);
  const auto rows_b = seen_rows(b);
  const auto r = f(rows_a, rows_b);
  const auto ja = batch_jacobian(r, rows_a);  // [n, m, k]
  const auto jb = batch_jacobian(r, rows_b);  // [n, m, l]
  const auto weighed = [&](const auto& u) {
    if constexpr (std::is_same_v<Rule, robust::squares>) return u;
    else return u * rule.weight(r);
  };
  const auto forth = [](const auto& j, const auto& rows) { return reduce_sum<2>(j * as_rows(rows)); };  // [n, m]
  const auto to_a = [&](const auto& u) { return sums_by_row(reduce_sum<1>(ja * as_columns(weighed(u))), a.row_of, a.table); };
  const auto to_b = [&](const auto& u) { return sums_by_row(reduce_sum<1>(jb * as_columns(weighed(u))), b.row_of, b.table); };
  const auto of_ones = weighed(r * 0_c + 1_c);

  const auto blocks = sums_by_row(matmul<true, false>(jb * as_columns(of_ones), jb), b.row_of,
                                  as_columns(b.table) * as_rows(b.table));  // [rows of b, l, l]
  const auto sizes_b = matrix_diag_part(blocks);
  const auto roots = cholesky(blocks + matrix_diag(select(sizes_b > 0_c, sizes_b * damping, sizes_b * 0_c + 1_c)));
  const auto by_b = [&](const auto& v) { return squeeze<2>(cholesky_solve(roots, as_columns(v))); };

  const auto diagonal = sums_by_row(reduce_sum<1>(square(ja) * as_columns(of_ones)), a.row_of, a.table);
  const auto scale = select(diagonal > 0_c, rsqrt(diagonal * (1_c + damping)), diagonal * 0_c);
  const auto multiply = [&](const auto& scaled) {
    const auto v = scaled * scale;
    const auto u = forth(ja, gather<0>(v, a.row_of));
    const auto eliminated = forth(jb, gather<0>(by_b(to_b(u)), b.row_of));
    return scale * (to_a(u - eliminated) + diagonal * damping * v);
  };
  const auto slope_b = by_b(to_b(r));
  const auto right = scale * to_a(forth(jb, gather<0>(slope_b, b.row_of)) - r);
  const auto da = scale * conjugate_loop<Iterations>(multiply, right, reduce_sum(square(right)) * 1e-20_c);
  const auto db = -slope_b - by_b(to_b(forth(ja, gather<0>(da, a.row_of))));
  return std::tuple(da, db);
}
LEAT_OTHERWISE("block_least_squares_direction(f, indexed(a, row_of), indexed(b, row_of), damping) takes a function that returns residuals "
               "[n, m] of rows [n, k] of a and [n, l] of b, and a scalar tensor")
block_least_squares_direction(...) LEAT_DELETED;

/// Least squares of such residuals by the method of Levenberg and Marquardt: `levenberg_marquardt(f, x, damping)` with steps of
/// `block_least_squares_direction<Iterations>`. The tables are variables.
template <int Iterations = 20, class F, class A, class IA, class B, class IB, tensor_expression Damping, class Rule = robust::squares>
  requires(detail::block_residuals<F, indexed_rows<A, IA>, indexed_rows<B, IB>> && detail::variable_expression<A> &&
           detail::variable_expression<B> && detail::variable_expression<Damping>)
constexpr auto block_levenberg_marquardt(const F& f, const indexed_rows<A, IA>& a, const indexed_rows<B, IB>& b, const Damping& damping,
                                         const Rule& rule = {}) {
  const auto at = [&](const auto& first, const auto& second) {
    return reduce_sum(rule.loss(f(gather<0>(first, a.row_of), gather<0>(second, b.row_of))));
  };
  const auto [da, db] = block_least_squares_direction<Iterations>(f, a, b, damping, rule);
  const auto loss = at(a.table, b.table);
  return detail::damped_fit(loss, at(a.table + da, b.table + db), std::tuple(a.table, b.table), std::tuple(a.table + da, b.table + db),
                            damping);
}
LEAT_OTHERWISE(
    "block_levenberg_marquardt(f, indexed(a, row_of), indexed(b, row_of), damping) takes a function that returns residuals [n, m] of "
    "rows [n, k] of a and [n, l] of b, variables, and a scalar variable")
block_levenberg_marquardt(...) LEAT_DELETED;

}  // namespace leat
