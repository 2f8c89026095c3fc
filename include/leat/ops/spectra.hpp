#pragma once
// Eigenvalues of symmetric matrices and singular values of any, with their vectors, along the last two axes of an array. Errors of all
// functions: rules.hpp. Matrices with elements that are not finite give NaN; nodes of graphs with names refuse them where TensorFlow does.

#include <leat/ops/decomposition_sizes.hpp>
#include <leat/ops/orthogonal.hpp>

#include <tuple>

namespace leat {

namespace rule {

/// What the gradients of both decompositions share.
struct spectra {
  /// x / (x² + 10⁻²⁰). Source: TensorFlow `_SafeReciprocal`.
  template <class M>
  static constexpr output safe_reciprocal(const M& m, const output& x) {
    const output square_of_x = x * x;
    const output sum = m.plus(square_of_x, 1e-20);
    const output divided = m.reciprocal_of(sum);
    return x * divided;
  }
  /// 1 / (x[j] - x[i]), and zeros on the diagonal.
  template <class M>
  static constexpr output reciprocal_differences(const M& m, const output& x, const output& zeros_like) {
    const output row = m.as_rows(x);
    const output column = m.as_columns(x);
    const output differences = row - column;
    const output divided = safe_reciprocal(m, differences);
    const output diagonal = m.zeros(zeros_like);
    return m.with_diagonal(divided, diagonal);
  }
};

}  // namespace rule

/// Eigenvectors and eigenvalues of each matrix, and the memory of the decomposition: [..., 3, n, n], of which the first matrix has the
/// vectors as columns, and the first row of the last one the values. Attribute: whether there are vectors. Graphs with names have
/// TensorFlow's operator, which has two results, by its definition (named/definitions/matrices.hpp). Source: TensorFlow `SelfAdjointEigV2`.
struct symmetric_eigen_op {
  static constexpr std::string_view type = "leat.SymmetricEigen";
  static constexpr facts what{.work = work_kind::product, .by_matrix = true};
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list& x) { return rule::square_matrices::infer_stacks(x, 3); }
  /// The gradient of A, from both parts and their gradients. Source: TensorFlow `_SelfAdjointEigV2Grad`.
  template <class M>
  static constexpr output slope(const M& m, const output& values, const output& vectors, const output& d_values, const output& d_vectors) {
    const output f = rule::spectra::reciprocal_differences(m, values, values);
    const output diagonal = m.of_diagonal(d_values);
    const output turned = m.product(vectors, d_vectors, true, false);
    const output of_vectors = f * turned;
    return slope_of(m, vectors, diagonal + of_vectors);
  }
  /// The same where only the values were computed.
  template <class M>
  static constexpr output slope_of_values(const M& m, const output& vectors, const output& d_values) {
    return slope_of(m, vectors, m.of_diagonal(d_values));
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (!g.wants(0)) return;
    const matrix_rows m;
    const output d_values = values_of(g.dy());
    if (g.attribute(0) == 0)
      return give(g, 0, slope_of_values(m, vectors_of(make<symmetric_eigen_op, attributes<1>>(g.input(0))), d_values));
    give(g, 0, slope(m, values_of(g.result()), vectors_of(g.result()), d_values, vectors_of(g.dy())));
  }

 private:
  // Only the lower half of A counts.
  template <class M>
  static constexpr output slope_of(const M& m, const output& vectors, const output& middle) {
    const output right = m.product(middle, vectors, false, true);
    const output all = m.product(vectors, right);
    const output turned = m.adjoint(all);
    const output lower = m.band(all + turned, -1, 0);
    const output half = m.halved(m.diagonal(lower));
    return m.with_diagonal(lower, half);
  }
  static constexpr output part(const output& packed, std::int64_t matrix, bool is_row) {
    const int rank = packed.extent().rank;
    std::int64_t numbers[2 * max_rank]{};
    for (int i = 0; i < rank; ++i) numbers[rank + i] = -1;
    numbers[rank - 3] = matrix;
    numbers[2 * rank - 3] = 1;
    if (is_row) numbers[2 * rank - 2] = 1;
    shape s = packed.extent();
    const std::int64_t n = s[rank - 1];
    for (int i = 0; i < 3; ++i) s.dim[--s.rank] = 0;
    if (!is_row) s.push(n);
    s.push(n);
    return reshape_to(make_node<slice_op>({numbers, static_cast<std::size_t>(2 * rank)}, packed), s);
  }
  static constexpr output values_of(const output& packed) { return part(packed, 2, true); }
  static constexpr output vectors_of(const output& packed) { return part(packed, 0, false); }
};

/// Singular values and vectors of each matrix, and the memory of the decomposition. Attributes: whether there are vectors, whether their
/// matrices are square. Graphs with names have TensorFlow's operator, which has three results, by its definition
/// (named/definitions/matrices.hpp). Source: TensorFlow `Svd`.
struct svd_op {
  static constexpr std::string_view type = "leat.SVD";
  static constexpr facts what{.work = work_kind::product, .by_matrix = true};
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr svd_sizes sizes(const shape& s, bool has_vectors, bool is_full) {
    return {rule::matrices::rows(s), rule::matrices::columns(s), has_vectors && is_full, has_vectors};
  }
  static constexpr inference infer(const operand_list& x) {
    if (const auto why = rule::packed_matrices::problem(x); !why.empty()) return inference::wrong(why);
    const auto of = sizes(x.extent(0), x.attribute(0) != 0, x.attribute(1) != 0);
    return rule::packed_matrices::infer(x, of.begin_of_scratch() + of.scratch());
  }
  /// Whether there is a gradient: not where vectors are wanted that more than one other could replace.
  static constexpr bool has_slope(std::int64_t m, std::int64_t n, bool is_full) { return !is_full || (m - n <= 1 && n - m <= 1); }
  static constexpr std::string_view no_slope = "svd gradient is not implemented for abs(m - n) > 1 when full_matrices is True.";

  /// A decomposition and its gradients, as operands of `slope`.
  struct parts {
    output s, u, v, ds, du, dv;
  };
  /// The gradient of A [m, n]. Source: TensorFlow `_SvdGrad`.
  template <class M>
  static constexpr output slope(const M& w, parts p, std::int64_t m, std::int64_t n, bool is_full) {
    const output slopes = w.of_diagonal(p.ds);
    const bool is_tall = m > n;  // then of the transpose
    if (is_tall) {
      std::swap(m, n);
      std::swap(p.u, p.v);
      std::swap(p.du, p.dv);
    }
    const output diagonal = w.of_diagonal(p.s);
    const output squares = w.square_of(p.s);
    w.unused_shape(p.s);
    const output f = rule::spectra::reciprocal_differences(w, squares, p.s);
    const output inverse = w.of_diagonal(rule::spectra::safe_reciprocal(w, p.s));
    const output v1 = w.columns(p.v, 0, m);
    const output dv1 = w.columns(p.dv, 0, m);
    const output of_u = w.product(p.u, p.du, true, false);
    const output of_v = w.product(v1, dv1, true, false);
    const output fu = f * of_u;
    const output fv = f * of_v;
    const output turned_u = w.adjoint(fu);
    const output left = w.product(fu + turned_u, diagonal);
    const output begun = slopes + left;
    const output turned_v = w.adjoint(fv);
    const output right = w.product(diagonal, fv + turned_v);
    const output middle = w.product(begun + right, v1, false, true);
    output all = w.product(p.u, middle);
    if (m != n) {
      const output turned = w.transposed(dv1);
      const output within = w.product(turned, v1);
      const output covered = w.product(within, v1, false, true);
      output rest = turned - covered;
      if (is_full) {
        const output v2 = w.columns(p.v, m, n);
        const output dv2 = w.columns(p.dv, m, n);
        const output of_v2 = w.product(v1, dv2, true, false);
        const output more = w.product(of_v2, v2, false, true);
        rest = rest - more;
      }
      const output scaled = w.product(p.u, inverse);
      const output second = w.product(scaled, rest);
      all = all + second;
    }
    return is_tall ? w.transposed(all) : all;
  }
  /// The same where only the values were computed.
  template <class M>
  static constexpr output slope_of_values(const M& w, const output& slopes, const output& u, const output& v) {
    const output right = w.product(slopes, v, false, true);
    return w.product(u, right);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (!g.wants(0)) return;
    using rule::packed_matrices;
    const matrix_rows w;
    const bool has_vectors = g.attribute(0) != 0, is_full = has_vectors && g.attribute(1) != 0;
    const auto of = sizes(g.input(0).extent(), true, is_full);
    const std::int64_t at_u = of.begin_of_u(), at_v = of.begin_of_v(), cu = of.columns_of_u(), cv = of.columns_of_v();
    const output ds = packed_matrices::part(g.dy(), 0, -1, of.least());
    if (!has_vectors) {
      const output both = make<svd_op, attributes<1, 0>>(g.input(0));
      return give(
          g, 0,
          slope_of_values(w, w.of_diagonal(ds), packed_matrices::part(both, at_u, of.m, cu), packed_matrices::part(both, at_v, of.n, cv)));
    }
    if (!has_slope(of.m, of.n, is_full)) LEAT_THROW(unimplemented(std::string(no_slope)));
    const auto u = [&](const output& x) { return packed_matrices::part(x, at_u, of.m, cu); };
    const auto v = [&](const output& x) { return packed_matrices::part(x, at_v, of.n, cv); };
    const output s = packed_matrices::part(g.result(), 0, -1, of.least());
    give(g, 0, slope(w, {s, u(g.result()), v(g.result()), ds, u(g.dy()), v(g.dy())}, of.m, of.n, is_full));
  }
};

namespace detail {
template <class X>
constexpr auto eigenvalues_of(const X& packed) {
  constexpr int rank = X::rank;
  return squeeze<rank - 3, rank - 2>(slice_along<rank - 2, 0, 1>(slice_along<rank - 3, 2, 1>(packed)));
}
}  // namespace detail
/// The eigenvalues, ascending, and eigenvectors, the columns of matrices, of symmetric matrices: `auto [values, vectors] =
/// symmetric_eigen(a)`. Only the lower half of a is read. Shapes: a [..., n, n], n not 0; results [..., n] and as a. Dtypes: floating
/// point. Gradients of vectors are large where values are nearly equal. Source: TensorFlow `SelfAdjointEigV2`.
template <tensor_expression A>
  requires accepted_with<symmetric_eigen_op, attributes<1>, A>
constexpr auto symmetric_eigen(const A& a) {
  const auto both = make<symmetric_eigen_op, attributes<1>>(a);
  return std::pair(detail::eigenvalues_of(both), squeeze<A::rank - 2>(detail::slice_along<A::rank - 2, 0, 1>(both)));
}
template <class A>
  requires refused_with<symmetric_eigen_op, attributes<1>, A>
why_with<symmetric_eigen_op, attributes<1>, A> symmetric_eigen(const A&) = delete;
LEAT_OTHERWISE("symmetric_eigen(a) takes one tensor of rank 2 or more; " LEAT_TENSORS) symmetric_eigen(...) LEAT_DELETED;
/// The eigenvalues of symmetric matrices alone. Shapes, dtypes: as `symmetric_eigen`.
template <tensor_expression A>
  requires accepted_with<symmetric_eigen_op, attributes<0>, A>
constexpr auto symmetric_eigenvalues(const A& a) {
  return detail::eigenvalues_of(make<symmetric_eigen_op, attributes<0>>(a));
}
template <class A>
  requires refused_with<symmetric_eigen_op, attributes<0>, A>
why_with<symmetric_eigen_op, attributes<0>, A> symmetric_eigenvalues(const A&) = delete;
LEAT_OTHERWISE("symmetric_eigenvalues(a) takes one tensor of rank 2 or more; " LEAT_TENSORS) symmetric_eigenvalues(...) LEAT_DELETED;

/// The singular values, descending, and vectors of matrices: `auto [s, u, v] = svd(a)` with a = u diag(s) vᵀ; with `svd<true>(a)` u and v
/// are square. Shapes: a [..., m, n]; results [..., k], [..., m, k] and [..., n, k], where k is min(m, n). Dtypes: floating point.
/// Gradients of vectors are large where values are nearly equal. Source: TensorFlow `Svd`.
template <bool FullMatrices = false, tensor_expression A>
  requires accepted_with<svd_op, attributes<1, FullMatrices>, A>
constexpr auto svd(const A& a) {
  constexpr auto of = svd_op::sizes(A::extent, true, FullMatrices);
  const auto all = make<svd_op, attributes<1, FullMatrices>>(a);
  return std::tuple(detail::slice_along<A::rank - 2, 0, of.least()>(all),
                    detail::part_of_packed<of.begin_of_u(), of.m, of.columns_of_u()>(all),
                    detail::part_of_packed<of.begin_of_v(), of.n, of.columns_of_v()>(all));
}
template <bool FullMatrices = false, class A>
  requires refused_with<svd_op, attributes<1, FullMatrices>, A>
why_with<svd_op, attributes<1, FullMatrices>, A> svd(const A&) = delete;
LEAT_OTHERWISE_OF(svd, "(a) takes one tensor of rank 2 or more; svd<true>(a) has square matrices; " LEAT_TENSORS);
/// The singular values of matrices alone. Shapes, dtypes: as `svd`.
template <tensor_expression A>
  requires accepted_with<svd_op, attributes<0, 0>, A>
constexpr auto singular_values(const A& a) {
  constexpr auto of = svd_op::sizes(A::extent, false, false);
  return detail::slice_along<A::rank - 2, 0, of.least()>(make<svd_op, attributes<0, 0>>(a));
}
template <class A>
  requires refused_with<svd_op, attributes<0, 0>, A>
why_with<svd_op, attributes<0, 0>, A> singular_values(const A&) = delete;
LEAT_OTHERWISE("singular_values(a) takes one tensor of rank 2 or more; " LEAT_TENSORS) singular_values(...) LEAT_DELETED;

}  // namespace leat
