#pragma once
// Systems of linear equations, inverses and determinants of matrices along the last two axes of an array. Errors of all functions:
// rules.hpp. The result of a typed expression has infinities or NaN for a matrix without an inverse; a node of a graph with names throws
// invalid_argument.

#include <leat/ops/array_plan.hpp>
#include <leat/ops/matrix_rules.hpp>

#include <utility>

namespace leat {

/// The nodes of gradients of matrices in a table without names. Graphs with names have functions of the same names that make TensorFlow's
/// nodes (named/gradients/matrices.hpp). `matrix_nodes_of(g)` are those for the scope of a gradient.
struct matrix_rows {
  static constexpr output product(const output& a, const output& b, bool ta = false, bool tb = false) {
    const std::int64_t flags[]{ta, tb};
    const bool is_one = a.extent().rank == 2 && b.extent().rank == 2;
    return is_one ? make_node<matmul_op>(flags, a, b) : make_node<stacked_matmul_op>(flags, a, b);
  }
  static constexpr output triangular_solve(const output& a, const output& b, bool is_lower, bool is_adjoint);
  static constexpr output solve(const output& a, const output& b, bool is_adjoint);
  static constexpr output inverse(const output& a, bool is_adjoint);
  static constexpr output adjoint(const output& x) { return stacked_matmul_op::turned(x); }
  static constexpr output band(const output& x, std::int64_t lower, std::int64_t upper) {
    const std::int64_t numbers[]{lower, upper};
    return make_node<matrix_band_part_op>(numbers, x);
  }
  static constexpr output diagonal(const output& x) { return make_node<matrix_diag_part_op>({}, x); }
  static constexpr output of_diagonal(const output& x) { return make_node<matrix_diag_op>({}, x); }
  static constexpr output with_diagonal(const output& x, const output& diagonal) { return make_node<matrix_set_diag_op>({}, x, diagonal); }
  static constexpr output transposed(const output& x) { return stacked_matmul_op::turned(x); }
  /// Columns [begin, end) of matrices, and matrices side by side.
  static constexpr output columns(const output& x, std::int64_t begin, std::int64_t end) {
    const int rank = x.extent().rank;
    if (begin == 0 && end == rule::matrices::columns(x.extent())) return x;
    std::int64_t part[2 * max_rank]{};
    for (int i = 0; i < rank; ++i) part[rank + i] = -1;
    part[rank - 1] = begin;
    part[2 * rank - 1] = end - begin;
    return make_node<slice_op>({part, static_cast<std::size_t>(2 * rank)}, x);
  }
  static constexpr output beside(const output& a, const output& b) {
    const std::int64_t axis[]{a.extent().rank - 1};
    return make_node<concat_op>(axis, a, b);
  }
  /// Vectors [..., n] as rows [..., 1, n] and as columns [..., n, 1] of matrices.
  static constexpr output as_rows(const output& x) {
    shape s = x.extent();
    const std::int64_t n = s.dim[--s.rank];
    s.dim[s.rank] = 0;
    return reshape_to(x, rule::matrices::with(s, 1, n));
  }
  static constexpr output as_columns(const output& x) { return reshape_to(x, rule::matrices::with(x.extent(), 1)); }
  static constexpr output plus(const output& x, double number) { return x + constant_like(x, number); }
  static constexpr output reciprocal_of(const output& x) { return make_node<reciprocal_op>({}, x); }
  static constexpr output square_of(const output& x) { return square(x); }
  static constexpr output zeros(const output& like) { return constant(like.owner(), like.type(), like.extent(), 0); }
  /// TensorFlow makes a shape in some places that nothing uses.
  static constexpr void unused_shape(const output&) {}
  /// 0.5 x and x 0.5, which are two nodes in TensorFlow.
  static constexpr output halved(const output& x) { return constant_like(x, 0.5) * x; }
  static constexpr output half_of(const output& x) { return halved(x); }
  /// Identity matrices in the shape of square matrices.
  static constexpr output identity_like(const output& x) {
    shape line = x.extent();
    line.dim[--line.rank] = 0;
    return of_diagonal(constant(x.owner(), x.type(), line, 1));
  }
  /// Numbers [...] as matrices of one element, [..., 1, 1].
  static constexpr output as_matrices(const output& x, const output&) { return reshape_to(x, rule::matrices::with(x.extent(), 1, 1)); }
};
constexpr matrix_rows matrix_nodes_of(const gradient_scope&) { return {}; }

/// The solution x of A x = b or Aᵀ x = b for triangular matrices. Attributes: whether A is lower triangular, whether it is transposed.
/// Source: TensorFlow `MatrixTriangularSolve`.
struct matrix_triangular_solve_op {
  static constexpr std::string_view type = "MatrixTriangularSolve";
  static constexpr facts what{.work = work_kind::product, .by_matrix = true};
  static constexpr field form[]{{field_kind::operand, "matrix"},
                                {field_kind::operand, "rhs"},
                                {field_kind::flag, "lower", 1},
                                {field_kind::flag, "adjoint"},
                                {field_kind::type_of, "T"}};
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list& x) {
    if (x.type(0) != x.type(1)) return inference::wrong("dtypes differ (cast<T>(x) converts)");
    if (const auto why = rule::square_matrices::problem(x, 0, "In[0] matrices in the last dimensions must be square"); !why.empty())
      return inference::wrong(why);
    if (x.extent(1).rank < 2) return inference::wrong("In[1] ndims must be >= 2: right-hand sides are columns of matrices");
    if (!may_equal(rule::square_matrices::size(x.extent(0)), rule::matrices::rows(x.extent(1))))
      return inference::wrong("In[0] mismatch In[1] shape: the right-hand sides have not as many rows as the matrices");
    const auto stack = broadcast(rule::matrices::stack(x.extent(0)), rule::matrices::stack(x.extent(1)));
    if (!stack.ok) return inference::wrong("In[0] and In[1] must have compatible batch dimensions");
    if (stack.extent.rank + 2 > max_rank) return inference::wrong("more than 8 dimensions");
    return {x.type(0), rule::matrices::with(stack.extent, rule::matrices::rows(x.extent(1)), rule::matrices::columns(x.extent(1)))};
  }
  /// Source: TensorFlow `_MatrixTriangularSolveGrad`.
  template <class G>
  static constexpr void gradient(G& g) {
    const auto m = matrix_nodes_of(g);
    const bool is_lower = g.flag(0), is_adjoint = g.flag(1);
    const output slope = m.triangular_solve(g.input(0), g.dy(), is_lower, !is_adjoint);
    if (g.wants(0)) {
      const output product = is_adjoint ? m.product(g.result(), slope, false, true) : m.product(slope, g.result(), false, true);
      const output negative = -product;
      give(g, 0, is_lower ? m.band(negative, -1, 0) : m.band(negative, 0, -1));
    }
    if (g.wants(1)) give(g, 1, slope);
  }
};

/// A decomposition with exchanged rows, P A = L U (kernels/linalg/lu.hpp). Result: [..., 2, n, n], of which the first matrix has L and U,
/// and the first row of the second one the rows that were exchanged. It is a node of its own, so that all systems of one matrix share it.
struct lu_op {
  static constexpr std::string_view type = "leat.LU";
  static constexpr facts what{.work = work_kind::product, .by_matrix = true};
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list& x) { return rule::square_matrices::infer_stacks(x, 2); }
};
/// What nodes that refuse matrices without an inverse say.
enum class inverse_check : std::int64_t { none, of_system, of_inverse };
/// The solution of A x = b or Aᵀ x = b, from the decomposition of A. Attributes: whether A is transposed, an `inverse_check`.
struct lu_solve_op {
  static constexpr std::string_view type = "leat.LUSolve";
  static constexpr facts what{.work = work_kind::product, .by_matrix = true};
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr bool may_refuse = true;
  static constexpr inference infer(const operand_list& x) {
    if (!is_floating(x.type(1))) return inference::wrong(rule::refusal(rule::takes::floating));
    return {x.type(1), x.extent(1)};
  }
};
/// The determinant from a decomposition, or, if the attribute is not 0, its sign and the logarithm of its absolute value, [..., 2].
struct lu_determinant_op {
  static constexpr std::string_view type = "leat.LUDeterminant";
  static constexpr facts what{.by_matrix = true};
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list& x) {
    if (!is_floating(x.type(0))) return inference::wrong(rule::refusal(rule::takes::floating));
    shape s = rule::matrices::stack(x.extent(0));
    if (x.attribute(0) != 0) {
      s.dim[s.rank - 1] = 2;
    } else {
      s.dim[--s.rank] = 0;
    }
    return {x.type(0), s};
  }
};

/// Source: TensorFlow `MatrixSolve`.
struct matrix_solve_op {
  static constexpr std::string_view type = "MatrixSolve";
  static constexpr field form[]{{field_kind::operand, "matrix"},
                                {field_kind::operand, "rhs"},
                                {field_kind::flag, "adjoint"},
                                {field_kind::type_of, "T"},
                                {field_kind::in_graphs, "check", static_cast<std::int64_t>(inverse_check::of_system)}};
  static constexpr op_kind kind = op_kind::composite;
  static constexpr bool may_refuse = true;
  static constexpr inference infer(const operand_list& x) {
    if (x.type(0) != x.type(1)) return inference::wrong("dtypes differ (cast<T>(x) converts)");
    if (const auto why = rule::square_matrices::problem(x, 0, "First input (lhs) must be a square matrix."); !why.empty())
      return inference::wrong(why);
    if (x.extent(0).rank != x.extent(1).rank) return inference::wrong("All input tensors must have the same rank.");
    if (!may_equal(rule::matrices::stack(x.extent(0)), rule::matrices::stack(x.extent(1))))
      return inference::wrong("All input tensors must have the same outer dimensions.");
    if (!may_equal(rule::square_matrices::size(x.extent(0)), rule::matrices::rows(x.extent(1))))
      return inference::wrong("Input matrix and rhs are incompatible.");
    return {x.type(0), x.extent(1)};
  }
  template <class G>
  static constexpr output expand(G& g) {
    const std::int64_t numbers[]{g.attribute(0), rule::square_matrices::attribute_or_zero(g, 1)};
    return make_node<lu_solve_op>(numbers, make_node<lu_op>({}, g.input(0)), g.input(1));
  }
  /// Source: TensorFlow `_MatrixSolveGrad`.
  template <class G>
  static constexpr void gradient(G& g) {
    const auto m = matrix_nodes_of(g);
    const bool is_adjoint = g.flag(0);
    const output slope = m.solve(g.input(0), g.dy(), !is_adjoint);
    if (g.wants(0)) {
      const output product = is_adjoint ? m.product(g.result(), slope, false, true) : m.product(slope, g.result(), false, true);
      give(g, 0, -product);
    }
    if (g.wants(1)) give(g, 1, slope);
  }
};

/// Source: TensorFlow `MatrixInverse`.
struct matrix_inverse_op : rule::square_matrices {
  static constexpr std::string_view type = "MatrixInverse";
  static constexpr field form[]{{field_kind::operand, "input"},
                                {field_kind::flag, "adjoint"},
                                {field_kind::type_of, "T"},
                                {field_kind::in_graphs, "check", static_cast<std::int64_t>(inverse_check::of_inverse)}};
  static constexpr op_kind kind = op_kind::composite;
  static constexpr bool may_refuse = true;
  template <class G>
  static constexpr output expand(G& g) {
    const std::int64_t numbers[]{g.attribute(0), attribute_or_zero(g, 1)};
    return make_node<lu_solve_op>(numbers, make_node<lu_op>({}, g.input(0)), matrix_rows::identity_like(g.result()));
  }
  /// Source: TensorFlow `_MatrixInverseGrad`.
  template <class G>
  static constexpr void gradient(G& g) {
    if (!g.wants(0)) return;
    const auto m = matrix_nodes_of(g);
    const bool is_adjoint = g.flag(0);
    const output inverse = g.result();
    // The inverse of A, or the transpose of that inverse, is the operand of both products.
    const output first = is_adjoint ? m.product(g.dy(), inverse, true, false) : m.product(g.dy(), inverse, false, true);
    const output second = is_adjoint ? m.product(inverse, first) : m.product(inverse, first, true, false);
    give(g, 0, -second);
  }
};

/// Source: TensorFlow `MatrixDeterminant`.
struct matrix_determinant_op {
  static constexpr std::string_view type = "MatrixDeterminant";
  static constexpr field form[]{{field_kind::operand, "input"}, {field_kind::type_of, "T"}};
  static constexpr op_kind kind = op_kind::composite;
  static constexpr inference infer(const operand_list& x) {
    if (const auto why = rule::square_matrices::problem(x, 0); !why.empty()) return inference::wrong(why);
    return {x.type(0), rule::matrices::stack(x.extent(0))};
  }
  template <class G>
  static constexpr output expand(G& g) {
    return make<lu_determinant_op, attributes<0>>(make_node<lu_op>({}, g.input(0)));
  }
  /// Source: TensorFlow `_MatrixDeterminantGrad`.
  template <class G>
  static constexpr void gradient(G& g) {
    if (!g.wants(0)) return;
    const auto m = matrix_nodes_of(g);
    const output inverse = m.inverse(g.input(0), true);
    const output factor = g.dy() * g.result();
    give(g, 0, m.as_matrices(factor, g.result()) * inverse);
  }
};

/// The sign of the determinant and the logarithm of its absolute value, [..., 2]. Graphs with names have TensorFlow's operator, which has
/// two results, by its definition (named/definitions/linalg.hpp). Source: TensorFlow `LogMatrixDeterminant`.
struct log_determinant_op {
  static constexpr std::string_view type = "leat.LogMatrixDeterminant";
  static constexpr op_kind kind = op_kind::composite;
  static constexpr inference infer(const operand_list& x) {
    if (const auto why = rule::square_matrices::problem(x, 0); !why.empty()) return inference::wrong(why);
    return {x.type(0), rule::matrices::with(rule::matrices::stack(x.extent(0)), 2)};
  }
  template <class G>
  static constexpr output expand(G& g) {
    return make<lu_determinant_op, attributes<1>>(make_node<lu_op>({}, g.input(0)));
  }
  /// The gradient of A, from that of the logarithm. Source: TensorFlow `_LogMatrixDeterminantGrad`.
  template <class M>
  static constexpr output slope(const M& m, const output& a, const output& logarithm, const output& dy) {
    const output inverse = m.inverse(a, true);
    return m.as_matrices(dy, logarithm) * inverse;
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (!g.wants(0)) return;
    const int rank = g.dy().extent().rank;
    std::int64_t part[2 * max_rank]{};
    for (int i = 0; i < rank; ++i) part[rank + i] = -1;
    part[rank - 1] = part[2 * rank - 1] = 1;
    const output line = make_node<slice_op>({part, static_cast<std::size_t>(2 * rank)}, g.dy());
    const output of_logarithm = reshape_to(line, rule::matrices::stack(g.input(0).extent()));
    give(g, 0, slope(matrix_rows{}, g.input(0), of_logarithm, of_logarithm));
  }
};

constexpr output matrix_rows::triangular_solve(const output& a, const output& b, bool is_lower, bool is_adjoint) {
  const std::int64_t flags[]{is_lower, is_adjoint};
  return make_node<matrix_triangular_solve_op>(flags, a, b);
}
constexpr output matrix_rows::solve(const output& a, const output& b, bool is_adjoint) {
  const std::int64_t flags[]{is_adjoint};
  return make_node<matrix_solve_op>(flags, a, b);
}
constexpr output matrix_rows::inverse(const output& a, bool is_adjoint) {
  const std::int64_t flags[]{is_adjoint};
  return make_node<matrix_inverse_op>(flags, a);
}

/// The solution x of a x = b, for triangular matrices a: `triangular_solve<true>(a, b)` for lower ones, `triangular_solve<false>(a, b)` for
/// upper ones; with `triangular_solve<true, true>(a, b)` it is that of aᵀ x = b. The other half of a is not read. Shapes: a [..., n, n], b
/// [..., n, k]; result as b; the axes before the last two broadcast. Dtypes: floating point. Source: TensorFlow `MatrixTriangularSolve`.
template <bool Lower = true, bool Adjoint = false, class A, class B>
  requires accepted_with<matrix_triangular_solve_op, attributes<Lower, Adjoint>, A, B>
constexpr made_with<matrix_triangular_solve_op, attributes<Lower, Adjoint>, A, B> triangular_solve(const A& a, const B& b) {
  return make<matrix_triangular_solve_op, attributes<Lower, Adjoint>>(a, b);
}
template <bool Lower = true, bool Adjoint = false, class A, class B>
  requires refused_with<matrix_triangular_solve_op, attributes<Lower, Adjoint>, A, B>
why_with<matrix_triangular_solve_op, attributes<Lower, Adjoint>, A, B> triangular_solve(const A&, const B&) = delete;
LEAT_OTHERWISE_OF(triangular_solve, "<lower, adjoint>(a, b) takes two tensors of rank 2 or more; " LEAT_TENSORS);

/// The solution x of a x = b; `solve<true>(a, b)` is that of aᵀ x = b. Shapes: a [..., n, n], b [..., n, k]; result as b. Dtypes: floating
/// point. A matrix without an inverse gives infinities or NaN. Systems, inverses and determinants of one matrix share its decomposition.
/// Source: TensorFlow `MatrixSolve`.
template <bool Adjoint = false, class A, class B>
  requires accepted_with<matrix_solve_op, attributes<Adjoint>, A, B>
constexpr made_with<matrix_solve_op, attributes<Adjoint>, A, B> solve(const A& a, const B& b) {
  return make<matrix_solve_op, attributes<Adjoint>>(a, b);
}
template <bool Adjoint = false, class A, class B>
  requires refused_with<matrix_solve_op, attributes<Adjoint>, A, B>
why_with<matrix_solve_op, attributes<Adjoint>, A, B> solve(const A&, const B&) = delete;
LEAT_OTHERWISE_OF(solve, "(a, b) takes two tensors of rank 2 or more; solve<true>(a, b) transposes the first; " LEAT_TENSORS);

/// The inverses of matrices; `inverse<true>(a)` are their transposes. Shapes: a [..., n, n]; result as a. Dtypes: floating point. A matrix
/// without an inverse gives infinities or NaN. Source: TensorFlow `MatrixInverse`.
template <bool Adjoint = false, class A>
  requires accepted_with<matrix_inverse_op, attributes<Adjoint>, A>
constexpr made_with<matrix_inverse_op, attributes<Adjoint>, A> inverse(const A& a) {
  return make<matrix_inverse_op, attributes<Adjoint>>(a);
}
template <bool Adjoint = false, class A>
  requires refused_with<matrix_inverse_op, attributes<Adjoint>, A>
why_with<matrix_inverse_op, attributes<Adjoint>, A> inverse(const A&) = delete;
LEAT_OTHERWISE_OF(inverse, "(a) takes one tensor of rank 2 or more; " LEAT_TENSORS);

/// The determinants of matrices. Shapes: a [..., n, n]; result [...]. Dtypes: floating point. Source: TensorFlow `MatrixDeterminant`.
LEAT_FUNCTION_OF_ONE(determinant, matrix_determinant_op);

namespace detail {
template <class X, std::int64_t At>
struct last_element {
  static constexpr number_list slice() {
    number_list numbers;
    for (int i = 0; i + 1 < X::rank; ++i) numbers.push(0);
    numbers.push(At);
    for (int i = 0; i + 1 < X::rank; ++i) numbers.push(-1);
    numbers.push(1);
    return numbers;
  }
};
/// The element at a position along the last axis.
template <std::int64_t At, class X>
constexpr auto at_last(const X& x) {
  return squeeze<X::rank - 1>(make_from<slice_op, last_element<X, At>::slice>(x));
}
}  // namespace detail
/// The signs of determinants and the logarithms of their absolute values: `auto [sign, logarithm] = log_determinant(a)`. A singular matrix
/// has the sign 0 and the logarithm of 0. Shapes: a [..., n, n]; results [...]. Dtypes: floating point. Source: TensorFlow
/// `LogMatrixDeterminant`.
template <tensor_expression A>
  requires accepted<log_determinant_op, A>
constexpr auto log_determinant(const A& a) {
  const auto both = make<log_determinant_op>(a);
  const auto sign = detail::at_last<0>(both);
  const auto logarithm = detail::at_last<1>(both);
  return std::pair(sign, logarithm);
}
template <class A>
  requires refused<log_determinant_op, A>
why<log_determinant_op, A> log_determinant(const A&) = delete;
LEAT_OTHERWISE("log_determinant(a) takes one tensor of rank 2 or more; " LEAT_TENSORS) log_determinant(...) LEAT_DELETED;

}  // namespace leat
