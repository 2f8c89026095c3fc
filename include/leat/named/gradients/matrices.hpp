#pragma once
// Gradients of decompositions and of systems of linear equations in graphs with names. The formulas are those of the operators' classes
// (ops/solve.hpp, ops/decompositions.hpp); here are the nodes that TensorFlow makes for them. Source: TensorFlow's gradients of the
// operators of the same names.

#include <leat/core/fill.hpp>
#include <leat/named/functions/slice.hpp>
#include <leat/named/gradients/array.hpp>
#include <leat/named/gradients/diagonal.hpp>
#include <leat/ops/decompositions.hpp>
#include <leat/ops/spectra.hpp>

namespace leat::detail {

/// TensorFlow's nodes in the place of the rows of `matrix_rows`.
class matrix_node_writer {
 public:
  explicit matrix_node_writer(const gradient_call& call) : call_(&call) {}

  output product(const output& a, const output& b, bool ta = false, bool tb = false) const {
    return matmul(a, b, {.transpose_a = ta, .transpose_b = tb});
  }
  output triangular_solve(const output& a, const output& b, bool is_lower, bool is_adjoint) const {
    const name_scope scope(g(), "triangular_solve");
    return matrix_rows::triangular_solve(a, b, is_lower, is_adjoint);
  }
  output solve(const output& a, const output& b, bool is_adjoint) const { return matrix_rows::solve(a, b, is_adjoint); }
  output inverse(const output& a, bool is_adjoint) const { return matrix_rows::inverse(a, is_adjoint); }
  output adjoint(const output& x) const {
    const name_scope outer(g(), "adjoint");
    const name_scope scope(g(), "matrix_transpose");
    return last_axes_swapped(x);
  }
  output transposed(const output& x) const {
    const name_scope scope(g(), "matrix_transpose");
    return last_axes_swapped(x);
  }
  /// Columns [begin, end), which are the first or the last ones.
  output columns(const output& x, std::int64_t begin, std::int64_t end) const {
    const auto to = static_cast<std::int32_t>(end);
    const axis_index part = begin == 0 ? along::until(to) : along::from(static_cast<std::int32_t>(begin));
    return index(x, {along::rest(), along::all(), part});
  }
  output beside(const output& a, const output& b) const { return concat_node({a, b}, tensor_literal(std::int32_t{-1})); }
  output as_rows(const output& x) const { return expand_dims(x, -2); }
  output as_columns(const output& x) const { return expand_dims(x, -1); }
  output plus(const output& x, double number) const { return x + number; }
  output reciprocal_of(const output& x) const {
    return g().named().build(g(), info_of<reciprocal_op>, std::array{x}, {}, reciprocal_op::type);
  }
  output square_of(const output& x) const { return square(x); }
  output zeros(const output& like) const { return zeros_like(like); }
  void unused_shape(const output& x) const { shape_of(x); }
  output band(const output& x, std::int32_t lower, std::int32_t upper) const {
    return raw_named(g(), "MatrixBandPart", "MatrixBandPart",
                     {{"input", x}, {"num_lower", tensor_literal(lower)}, {"num_upper", tensor_literal(upper)}},
                     {{"T", x.type()}, {"Tindex", dtype::int32}}, {info_like(x)}, std::source_location())
        .result();
  }
  output diagonal(const output& x) const { return diagonal_node<false>(*call_, x, {}, {x.type(), diagonal_shape(x.extent())}); }
  output of_diagonal(const output& x) const {
    shape s = x.extent();
    if (s.has_rank()) s.push(s[s.rank - 1]);
    return matrix_of_diagonal_node<false>(*call_, x, {}, -1, -1, {x.type(), s});
  }
  output with_diagonal(const output& x, const output& diagonal) const { return with_diagonal_node<false>(*call_, x, diagonal, {}); }
  output halved(const output& x) const { return 0.5 * x; }
  output half_of(const output& x) const { return x * 0.5; }
  /// Identity matrices in the shape of square matrices x.
  output identity_like(const output& x) const {
    const output rows = index(shape_of(x), {-1});
    const output stacks = index(shape_of(x), {along::until(-2)});
    return identity(rows, stacks, x);
  }
  /// A Cholesky decomposition of AᵀA + r I or, if not `is_tall`, of AAᵀ + r I. Source: TensorFlow `_RegularizedGramianCholesky`.
  output decomposed_products(const output& a, const output& regularizer, bool is_tall) const {
    const output products = product(a, a, is_tall, !is_tall);
    const output its_shape = shape_of(a);
    const output stacks = index(its_shape, {along::until(-2)});
    const output rows = index(its_shape, {is_tall ? -1 : -2});
    const output whole = identity(rows, stacks, products);
    return make_node<cholesky_op>({}, products + regularizer * whole);
  }
  /// Source: `tf.linalg.cholesky_solve`.
  output cholesky_solve(const output& l, const output& b) const {
    const name_scope scope(g(), "cholesky_solve");
    const output first = matrix_rows::triangular_solve(l, b, true, false);
    return matrix_rows::triangular_solve(l, first, true, true);
  }
  /// x as matrices of one element, where `like` has the shape of x.
  output as_matrices(const output& x, const output& like) const {
    const output its_shape = shape_of(like);
    output sizes;
    {
      const name_scope scope(g(), "concat");
      const output ones = g().named().make_constant(g(), tensor_literal({1, 1}), "values_1");
      const number_argument axis[]{tensor_literal(std::int32_t{0})};
      sizes = g().named().build(g(), info_of<concat_op>, std::array{its_shape, ones}, {}, scope.text(), axis);
    }
    return reshape(x, sizes);
  }

 private:
  // `rows` and `stacks` are tensors; the result has the shape of `like`. Source: TensorFlow `eye`.
  output identity(const output& rows, const output& stacks, const output& like) const {
    const name_scope scope(g(), "eye");
    const output least = minimum(rows, rows);
    output sizes;
    {
      const name_scope joined(g(), "concat");
      const output line = stack({least}, 0, "values_1");
      const number_argument axis[]{tensor_literal(std::int32_t{0})};
      sizes = g().named().build(g(), info_of<concat_op>, std::array{stacks, line}, {}, joined.text(), axis);
    }
    shape line = like.extent();
    if (line.has_rank()) line.dim[--line.rank] = 0;
    output ones;
    {
      const name_scope filled(g(), "ones");
      const std::array inputs{sizes, g().named().make_constant(g(), {like.type(), {}, 1.0}, "Const")};
      ones = g().named()
                 .raw(g(), "Fill", inputs, {{"T", like.type()}, {"index_type", dtype::int32}}, {{like.type(), line}}, filled.text())
                 .result();
    }
    return of_diagonal(ones);
  }
  output last_axes_swapped(const output& x) const {
    const int rank = x.extent().rank;
    if (!x.extent().has_rank()) {
      const output count = rank_of(x);
      const output last = count - 1;
      const output before = count - 2;
      const output kept =
          raw_named(g(), "Range", "range",
                    {{"start", tensor_literal(std::int32_t{0})}, {"limit", before}, {"delta", tensor_literal(std::int32_t{1})}},
                    {{"Tidx", dtype::int32}}, {{dtype::int32, vector_of(unknown_dimension)}}, std::source_location())
              .result();
      const output swapped = stack({last, before}, 0, "concat/values_1");
      return transpose(x, concat_node({kept, swapped}, tensor_literal(std::int32_t{0})));
    }
    std::vector<std::int32_t> order;
    for (int i = 0; i < rank; ++i) order.push_back(i);
    std::swap(order[static_cast<std::size_t>(rank - 2)], order[static_cast<std::size_t>(rank - 1)]);
    return transpose(x, order);
  }
  graph& g() const { return call_->owner(); }
  static shape diagonal_shape(const shape& s) {
    if (!s.has_rank()) return s;
    shape diagonal;
    rule::of_matrices::diagonal_of(s, diagonal);
    return diagonal;
  }
  const gradient_call* call_;
};
inline matrix_node_writer matrix_nodes_of(const named_gradient_scope& g) { return matrix_node_writer(g.call()); }

inline gradient_list gradient_of_triangular_solve(const gradient_call& c) {
  named_gradient_scope g(c);
  matrix_triangular_solve_op::gradient(g);
  return summed_over_stacks(c, g.given()[0], g.given()[1]);
}
/// The gradient of result k; zeros if nothing depends on it.
inline output slope_or_zeros(const gradient_call& c, int k) {
  const output dy = c.dy(k);
  return static_cast<bool>(dy) ? dy : zeros_like(c.result(k));
}
inline gradient_list gradient_of_log_determinant(const gradient_call& c) {
  return {log_determinant_op::slope(matrix_node_writer(c), c.input(0), c.result(1), slope_or_zeros(c, 1))};
}

inline gradient_list gradient_of_qr(const gradient_call& c) {
  const output q = c.result(0), r = c.result(1);
  const shape &of_q = q.extent(), &of_r = r.extent();
  if (!of_q.has_rank() || !of_r.has_rank() || of_q.rank < 2 || rule::matrices::rows(of_q) < 0 || rule::matrices::rows(of_r) < 0 ||
      rule::matrices::columns(of_r) < 0)
    refuse_gradient(c.owner(), c.operation().index(),
                    "QrGrad not implemented with dynamic shapes. Received r.shape: " + leat::shape_text(of_r));
  if (!qr_op::has_slope(of_q, of_r))
    refuse_gradient(c.owner(), c.operation().index(), "QrGrad not implemented when nrows > ncols and full_matrices is true.");
  const output dq = slope_or_zeros(c, 0);
  return {qr_op::slope(matrix_node_writer(c), c.input(0), q, r, dq, slope_or_zeros(c, 1))};
}
/// The decomposition of a node that has no vectors, with them; `flag` is the attribute.
inline graph_operation decomposition_with_vectors(const gradient_call& c, std::string_view flag) {
  return call_operator(c.owner(), c.operation().type(), {c.input(0)}, {{flag, true}});
}
inline gradient_list gradient_of_eigen(const gradient_call& c) {
  const output d_values = slope_or_zeros(c, 0);
  const matrix_node_writer m(c);
  if (!c.flag("compute_v", true)) {
    const control_dependencies wait({d_values});
    return {symmetric_eigen_op::slope_of_values(m, decomposition_with_vectors(c, "compute_v").result(1), d_values)};
  }
  const output d_vectors = slope_or_zeros(c, 1);
  const control_dependencies wait({d_values, d_vectors});
  return {symmetric_eigen_op::slope(m, c.result(0), c.result(1), d_values, d_vectors)};
}
inline gradient_list gradient_of_svd(const gradient_call& c) {
  const output ds = slope_or_zeros(c, 0);
  const matrix_node_writer m(c);
  if (!c.flag("compute_uv", true)) {
    const output slopes = m.of_diagonal(ds);
    const graph_operation both = decomposition_with_vectors(c, "compute_uv");
    return {svd_op::slope_of_values(m, slopes, both.result(1), both.result(2))};
  }
  const output du = slope_or_zeros(c, 1);
  const output dv = slope_or_zeros(c, 2);
  const shape& s = c.input(0).extent();
  if (!s.has_rank() || rule::matrices::rows(s) < 0 || rule::matrices::columns(s) < 0)
    refuse_gradient(c.owner(), c.operation().index(), "SVD gradient has not been implemented for input with unknown inner matrix shape.");
  const bool is_full = c.flag("full_matrices");
  if (!svd_op::has_slope(rule::matrices::rows(s), rule::matrices::columns(s), is_full))
    refuse_gradient(c.owner(), c.operation().index(), std::string(svd_op::no_slope));
  const control_dependencies wait({ds, du, dv});
  return {
      svd_op::slope(m, {c.result(0), c.result(1), c.result(2), ds, du, dv}, rule::matrices::rows(s), rule::matrices::columns(s), is_full)};
}

/// Source: TensorFlow `_MatrixSolveLsGrad`.
inline gradient_list gradient_of_least_squares(const gradient_call& c) {
  const output dx = c.dy();
  const output a = c.input(0);
  const output b = c.input(1);
  const shape& s = a.extent();
  if (!c.flag("fast", true)) refuse_gradient(c.owner(), c.operation().index(), "Gradient not defined for fast=False");
  if (!s.has_rank() || s.rank < 2 || rule::matrices::rows(s) < 0 || rule::matrices::columns(s) < 0)
    refuse_gradient(c.owner(), c.operation().index(), "the gradient of least squares of matrices whose sizes only a run knows");
  const matrix_node_writer m(c);
  const output regularizer = cast(c.input(2), a.type());
  const bool is_tall = rule::matrices::rows(s) >= rule::matrices::columns(s);
  const output l = m.decomposed_products(a, regularizer, is_tall);
  if (is_tall) {
    const output z = m.cholesky_solve(l, dx);
    const output of_x = m.product(c.result(), z, false, true);
    const output turned = m.transposed(of_x);
    const output even = of_x + turned;
    const output covered = m.product(a, even);
    const output negative = -covered;
    const output of_b = m.product(b, z, false, true);
    const output da = negative + of_b;
    return {da, m.product(a, z)};
  }
  const output moved = m.product(a, dx);
  const output db = m.cholesky_solve(l, moved);
  const output middle = m.cholesky_solve(l, b);
  const output first = m.product(middle, a, true, false);
  const output covered = m.product(db, first);
  const output negative = -covered;
  const output back = m.product(a, db, true, false);
  const output rest = dx - back;
  const output second = m.product(middle, rest, false, true);
  return {negative + second, db};
}

LEAT_FILL(fill_matrix_gradients) {
  enter_gradients({
      {"Cholesky", class_gradient<cholesky_op>},
      {"MatrixTriangularSolve", library_gradient(gradient_of_triangular_solve, true)},
      {"MatrixSolve", class_gradient<matrix_solve_op>},
      {"MatrixInverse", class_gradient<matrix_inverse_op>},
      {"MatrixDeterminant", class_gradient<matrix_determinant_op>},
      {"LogMatrixDeterminant", gradient_of_log_determinant},
      {"MatrixSolveLs", gradient_of_least_squares},
      {"Qr", gradient_of_qr},
      {"SelfAdjointEigV2", gradient_of_eigen},
      {"Svd", gradient_of_svd},
  });
}

}  // namespace leat::detail
