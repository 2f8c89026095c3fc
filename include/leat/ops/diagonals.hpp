#pragma once
// The diagonals of matrices [..., rows, columns]: matrices with a given main diagonal, the main diagonals of matrices, bands around them.
// Errors of all functions: rules.hpp.

#include <leat/ops/reduction.hpp>

#include <algorithm>

namespace leat {

namespace detail {

/// Consecutive diagonals of a matrix, from the lowest to the uppermost. The main diagonal is 0, those above it are positive.
struct diagonal_range {
  std::int64_t lower = 0;
  std::int64_t upper = 0;
  constexpr std::int64_t count() const { return upper - lower + 1; }
  /// The length of the longest one in a matrix of these sizes; not positive if the matrix has none of them.
  constexpr std::int64_t longest(std::int64_t rows, std::int64_t columns) const {
    return std::min(rows + std::min<std::int64_t>(upper, 0), columns - std::max<std::int64_t>(lower, 0));
  }
};

}  // namespace detail

namespace rule {

/// Rules that operators on diagonals share.
struct of_matrices {
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr std::string_view matrix_problem(const shape& s) {
    return s.rank < 2 ? "takes matrices, of rank 2 or more" : std::string_view{};
  }
  /// The shape of the main diagonals of matrices; false if the compiler does not know which of two named dimensions is the smaller.
  static constexpr bool diagonal_of(const shape& matrix, shape& diagonal) {
    const std::int64_t rows = matrix[matrix.rank - 2], columns = matrix[matrix.rank - 1];
    diagonal = matrix;
    --diagonal.rank;
    diagonal.dim[diagonal.rank] = 0;
    if (rows != columns && (is_named(rows) || is_named(columns))) return false;
    diagonal.dim[diagonal.rank - 1] =
        rows == columns ? rows : rows < 0 || columns < 0 ? unknown_dimension : leat::detail::diagonal_range{}.longest(rows, columns);
    return true;
  }
  static constexpr std::string_view names_differ = "rows and columns must be sizes that the compiler knows, or one name";
};

}  // namespace rule

/// Matrices of zeros with these main diagonals. Source: TensorFlow `MatrixDiag`.
struct matrix_diag_op : rule::of_matrices {
  static constexpr std::string_view type = "MatrixDiag";
  static constexpr field form[]{{field_kind::operand, "diagonal"}, {field_kind::type_of, "T"}};
  static constexpr inference infer(const operand_list& x) {
    const shape& given = x.extent(0);
    if (given.rank < 1) return inference::wrong("a diagonal has at least rank 1");
    if (given.rank == max_rank) return inference::wrong("more than 8 dimensions");
    inference got{x.type(0), given};
    got.extent.push(given[given.rank - 1]);
    return got;
  }
  template <class G>
  static constexpr void gradient(G& g);
};
/// Matrices with their main diagonals replaced. Source: TensorFlow `MatrixSetDiag`.
struct matrix_set_diag_op : rule::of_matrices {
  static constexpr std::string_view type = "MatrixSetDiag";
  static constexpr field form[]{{field_kind::operand, "input"}, {field_kind::operand, "diagonal"}, {field_kind::type_of, "T"}};
  static constexpr inference infer(const operand_list& x) {
    if (x.type(0) != x.type(1)) return inference::wrong("dtypes differ (cast<T>(x) converts)");
    if (const auto problem = matrix_problem(x.extent(0)); !problem.empty()) return inference::wrong(problem);
    shape diagonal;
    if (!diagonal_of(x.extent(0), diagonal)) return inference::wrong(names_differ);
    if (!may_equal(diagonal, x.extent(1)))
      return inference::wrong("the diagonal has another shape than the main diagonals of the matrices");
    return {x.type(0), x.extent(0)};
  }
  template <class G>
  static constexpr void gradient(G& g);
};
/// The main diagonals of matrices. Source: TensorFlow `MatrixDiagPart`.
struct matrix_diag_part_op : rule::of_matrices {
  static constexpr std::string_view type = "MatrixDiagPart";
  static constexpr field form[]{{field_kind::operand, "input"}, {field_kind::type_of, "T"}};
  static constexpr inference infer(const operand_list& x) {
    if (const auto problem = matrix_problem(x.extent(0)); !problem.empty()) return inference::wrong(problem);
    inference got{x.type(0), {}};
    if (!diagonal_of(x.extent(0), got.extent)) return inference::wrong(names_differ);
    return got;
  }
  template <class G>
  static constexpr void gradient(G& g);
};
/// Matrices with zeros outside of a band of diagonals. Attributes: how many diagonals below the main one, and how many above it; all of
/// them if negative. Source: TensorFlow `MatrixBandPart`.
struct matrix_band_part_op : rule::of_matrices {
  static constexpr std::string_view type = "MatrixBandPart";
  static constexpr facts what{.narrow = narrow_rule::moves};
  static constexpr field form[]{{field_kind::operand, "input"},
                                {field_kind::scalar, "num_lower"},
                                {field_kind::scalar, "num_upper"},
                                {field_kind::type_of, "T"},
                                {field_kind::fixed_type, "Tindex", 3}};
  static constexpr inference infer(const operand_list& x) {
    const shape& s = x.extent(0);
    if (const auto problem = matrix_problem(s); !problem.empty()) return inference::wrong(problem);
    const auto exceeds = [](std::int64_t wanted, std::int64_t size) { return size >= 0 && wanted > size; };
    if (exceeds(x.attribute(0), s[s.rank - 2])) return inference::wrong("num_lower must be negative or less or equal to number of rows");
    if (exceeds(x.attribute(1), s[s.rank - 1])) return inference::wrong("num_upper must be negative or less or equal to number of columns");
    return {x.type(0), s};
  }
  template <class G>
  static constexpr void gradient(G& g);
};

// The gradients, which need all classes.
template <class G>
constexpr void matrix_diag_op::gradient(G& g) {
  if (g.wants(0)) give(g, 0, make_node<matrix_diag_part_op>({}, g.dy()));
}
template <class G>
constexpr void matrix_set_diag_op::gradient(G& g) {
  const output dy = g.dy();
  if (g.wants(0)) give(g, 0, make_node<matrix_set_diag_op>({}, dy, g.zeros_like(g.input(1))));
  if (g.wants(1)) give(g, 1, make_node<matrix_diag_part_op>({}, dy));
}
template <class G>
constexpr void matrix_diag_part_op::gradient(G& g) {
  const shape& matrix = g.input(0).extent();
  if (!g.wants(0)) return;
  if (matrix[matrix.rank - 2] == matrix[matrix.rank - 1]) give(g, 0, make_node<matrix_diag_op>({}, g.dy()));
  else give(g, 0, make_node<matrix_set_diag_op>({}, g.zeros_like(g.input(0)), g.dy()));
}
template <class G>
constexpr void matrix_band_part_op::gradient(G& g) {
  const std::int64_t both[]{g.attribute(0), g.attribute(1)};
  if (g.wants(0)) give(g, 0, make_node<matrix_band_part_op>(both, g.dy()));
}

/// Matrices of zeros with x as their main diagonals. Shapes: x [..., n]; result [..., n, n]. Dtypes: any. Source: TensorFlow `MatrixDiag`.
LEAT_FUNCTION_OF_ONE(matrix_diag, matrix_diag_op);
/// The main diagonals of matrices. Shapes: x [..., rows, columns]; result [..., the smaller of both]. Dtypes: any. Source: TensorFlow
/// `MatrixDiagPart`.
LEAT_FUNCTION_OF_ONE(matrix_diag_part, matrix_diag_part_op);
/// Matrices with their main diagonals replaced. Shapes: x [..., rows, columns], diagonal [..., the smaller of both]; result as x. Dtypes:
/// any, the same for both. Source: TensorFlow `MatrixSetDiag`.
template <tensor_expression X, tensor_expression D>
  requires accepted<matrix_set_diag_op, X, D>
constexpr made<matrix_set_diag_op, X, D> matrix_set_diag(const X& x, const D& diagonal) {
  return make<matrix_set_diag_op>(x, diagonal);
}
template <tensor_expression X, tensor_expression D>
  requires refused<matrix_set_diag_op, X, D>
why<matrix_set_diag_op, X, D> matrix_set_diag(const X&, const D&) = delete;
LEAT_OTHERWISE("matrix_set_diag(x, diagonal) takes matrices and their new diagonals; " LEAT_TENSORS) matrix_set_diag(...) LEAT_DELETED;

/// Matrices with zeros outside of a band: `matrix_band_part<-1, 0>(x)` is the lower triangle, `matrix_band_part<0, 0>(x)` the main
/// diagonal; the numbers are how many diagonals below and above it stay, all of them if negative. Shapes: x [..., rows, columns]; result as
/// x. Dtypes: any. Errors: a number above that of rows or of columns. Source: TensorFlow `MatrixBandPart`.
template <std::int64_t Below, std::int64_t Above, tensor_expression X>
  requires accepted_with<matrix_band_part_op, attributes<Below, Above>, X>
constexpr made_with<matrix_band_part_op, attributes<Below, Above>, X> matrix_band_part(const X& x) {
  return make<matrix_band_part_op, attributes<Below, Above>>(x);
}
template <std::int64_t Below, std::int64_t Above, tensor_expression X>
  requires refused_with<matrix_band_part_op, attributes<Below, Above>, X>
why_with<matrix_band_part_op, attributes<Below, Above>, X> matrix_band_part(const X&) = delete;
LEAT_OTHERWISE_OF(matrix_band_part, "<below, above>(x) takes matrices; how many diagonals stay below and above the main one are template "
                                    "arguments: matrix_band_part<-1, 0>(x); " LEAT_TENSORS);

/// The sums of the main diagonals of matrices. Shapes: x [..., rows, columns]; result [...]. Dtypes: numbers. Source: TensorFlow `trace`.
template <tensor_expression X>
  requires accepted<matrix_diag_part_op, X> && (is_number(X::type))
constexpr auto trace(const X& x) {
  return make<sum_op, attributes<0, X::rank - 2>>(make<matrix_diag_part_op>(x));
}
template <tensor_expression X>
  requires refused<matrix_diag_part_op, X>
why<matrix_diag_part_op, X> trace(const X&) = delete;
LEAT_OTHERWISE("trace(x) takes matrices of numbers; " LEAT_TENSORS) trace(...) LEAT_DELETED;

}  // namespace leat
