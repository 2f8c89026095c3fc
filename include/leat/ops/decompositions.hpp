#pragma once
// Decompositions of matrices along the last two axes of an array. Errors of all functions: rules.hpp. The result for a matrix that cannot
// be decomposed is NaN, in graphs with names, too, as in TensorFlow.

#include <leat/ops/solve.hpp>

namespace leat {

/// A = L Lᵀ with a lower triangular L. Only the lower half of A is read. Source: TensorFlow `Cholesky`.
struct cholesky_op : rule::square_matrices {
  static constexpr std::string_view type = "Cholesky";
  static constexpr facts what{.work = work_kind::product, .by_matrix = true};
  static constexpr field form[]{{field_kind::operand, "input"}, {field_kind::type_of, "T"}};
  static constexpr op_kind kind = op_kind::kernel;
  /// The gradient of A, from L and the gradient of L. Source: TensorFlow `_CholeskyGrad`.
  template <class M>
  static constexpr output slope(const M& m, const output& l, const output& dy) {
    const output identity = m.identity_like(l);
    const output inverse = m.triangular_solve(l, identity, true, false);
    const output whole = m.product(l, dy, true, false);
    const output half = m.halved(m.diagonal(whole));
    const output replaced = m.with_diagonal(whole, half);
    const output middle = m.band(replaced, -1, 0);
    const output left = m.product(inverse, middle, true, false);
    const output both = m.product(left, inverse);
    const output turned = m.adjoint(both);
    const output sum = both + turned;
    return m.half_of(sum);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, slope(matrix_nodes_of(g), g.result(), g.dy()));
  }
};
/// The gradient of a Cholesky decomposition as an operator of its own, from L and the gradient of L. Source: TensorFlow `CholeskyGrad`.
struct cholesky_grad_op {
  static constexpr std::string_view type = "CholeskyGrad";
  static constexpr field form[]{{field_kind::operand, "l"}, {field_kind::operand, "grad"}, {field_kind::type_of, "T"}};
  static constexpr op_kind kind = op_kind::composite;
  static constexpr inference infer(const operand_list& x) {
    if (x.type(0) != x.type(1)) return inference::wrong("dtypes differ (cast<T>(x) converts)");
    if (!may_equal(x.extent(0), x.extent(1))) return inference::wrong("the gradient has another shape than the decomposition");
    return rule::square_matrices::infer(x);
  }
  template <class G>
  static constexpr output expand(G& g) {
    return cholesky_op::slope(matrix_rows{}, g.input(0), g.input(1));
  }
};

/// The lower triangular l with a = l lᵀ, for symmetric and positive definite matrices. Only the lower half of a is read. Shapes: a [..., n,
/// n]; result as a. Dtypes: floating point. The result for a matrix that is not positive definite is NaN. Source: TensorFlow `Cholesky`.
LEAT_FUNCTION_OF_ONE(cholesky, cholesky_op);

/// The solution x of a x = b, from the decomposition l = cholesky(a). Shapes: l [..., n, n], b [..., n, k]; result as b; the axes before
/// the last two broadcast. Dtypes: floating point. Source: `tf.linalg.cholesky_solve`.
template <class L, class B>
  requires accepted_with<matrix_triangular_solve_op, attributes<1, 0>, L, B>
constexpr auto cholesky_solve(const L& l, const B& b) {
  return triangular_solve<true, true>(l, triangular_solve<true>(l, b));
}
template <class L, class B>
  requires refused_with<matrix_triangular_solve_op, attributes<1, 0>, L, B>
why_with<matrix_triangular_solve_op, attributes<1, 0>, L, B> cholesky_solve(const L&, const B&) = delete;
LEAT_OTHERWISE("cholesky_solve(l, b) takes two tensors of rank 2 or more; " LEAT_TENSORS) cholesky_solve(...) LEAT_DELETED;

}  // namespace leat
