#pragma once
// Parts of matrices, along the last two axes of an array: diagonals, bands, matrices of given diagonals. They are selections by position,
// which fuse with their neighbors. Errors of all functions: rules.hpp.

#include <leat/ops/nn.hpp>
#include <leat/ops/stacked_matmul.hpp>

namespace leat {

namespace rule {

/// The matrices of an array: its last two axes.
struct matrices {
  static constexpr std::int64_t rows(const shape& s) { return s[s.rank - 2]; }
  static constexpr std::int64_t columns(const shape& s) { return s[s.rank - 1]; }
  /// The shape of the stack: all axes but the last two.
  static constexpr shape stack(const shape& s) {
    shape made = s;
    made.dim[--made.rank] = 0;
    made.dim[--made.rank] = 0;
    return made;
  }
  static constexpr shape with(shape stack, std::int64_t rows, std::int64_t columns) {
    stack.push(rows);
    stack.push(columns);
    return stack;
  }
  static constexpr shape with(shape stack, std::int64_t elements) {
    stack.push(elements);
    return stack;
  }
  /// The length of the main diagonal; unknown if only a run can tell.
  static constexpr std::int64_t diagonal(const shape& s) {
    const std::int64_t m = rows(s), n = columns(s);
    if (m == n) return m;
    return m < 0 || n < 0 ? unknown_dimension : m < n ? m : n;
  }
  /// The problem with operand k, which must be matrices whose diagonal has a known length.
  static constexpr std::string_view problem(const operand_list& x, int k) {
    if (x.extent(k).rank < 2) return "takes matrices, rank 2 and more";
    const shape& s = x.extent(k);
    if (rows(s) != columns(s) && (is_named(rows(s)) || is_named(columns(s)))) return "a named dimension of matrices that are not square";
    return {};
  }
  /// Positions along an axis of one matrix, 0 for the row of each element and 1 for its column.
  static constexpr output positions(const output& x, int axis) {
    const shape& s = x.extent();
    return index_along(x.owner(), dtype::int64, with({}, rows(s), columns(s)), axis);
  }
  static constexpr output is_diagonal(const output& x) { return equal(positions(x, 0), positions(x, 1)); }
  static constexpr output zero(const output& x) { return constant_like(x, 0); }
};

}  // namespace rule

/// The elements near the main diagonal, and zeros elsewhere. Attributes: how many diagonals below it stay, and how many above it; a
/// negative number stands for all. Source: TensorFlow `MatrixBandPart`.
struct matrix_band_part_op {
  static constexpr std::string_view type = "MatrixBandPart";
  static constexpr field form[]{{field_kind::operand, "input"},
                                {field_kind::scalar, "num_lower"},
                                {field_kind::scalar, "num_upper"},
                                {field_kind::type_of, "T"},
                                {field_kind::fixed_type, "Tindex", 3}};
  static constexpr op_kind kind = op_kind::composite;
  static constexpr inference infer(const operand_list& x) {
    if (!is_number(x.type(0))) return inference::wrong(rule::refusal(rule::takes::number));
    if (x.extent(0).rank < 2) return inference::wrong("takes matrices, rank 2 and more");
    const std::int64_t m = rule::matrices::rows(x.extent(0)), n = rule::matrices::columns(x.extent(0));
    if (m >= 0 && x.attribute(0) > m) return inference::wrong("num_lower must be negative or less or equal to number of rows");
    if (n >= 0 && x.attribute(1) > n) return inference::wrong("num_upper must be negative or less or equal to number of columns");
    return {x.type(0), x.extent(0)};
  }
  template <class G>
  static constexpr output expand(G& g) {
    const output x = g.input(0);
    const auto below = rule::matrices::positions(x, 0) - rule::matrices::positions(x, 1);
    output made = x;
    if (g.attribute(0) >= 0) {
      const auto limit = constant_like(below, static_cast<double>(g.attribute(0)));
      made = select(less_equal(below, limit), made, rule::matrices::zero(x));
    }
    if (g.attribute(1) >= 0) {
      const auto limit = constant_like(below, -static_cast<double>(g.attribute(1)));
      made = select(greater_equal(below, limit), made, rule::matrices::zero(x));
    }
    return made;
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const std::int64_t band[]{g.attribute(0), g.attribute(1)};
    if (g.wants(0)) give(g, 0, make_node<matrix_band_part_op>(band, g.dy()));
  }
};

/// Matrices of given diagonals, with zeros elsewhere. Source: TensorFlow `MatrixDiag`.
struct matrix_diag_op {
  static constexpr std::string_view type = "MatrixDiag";
  static constexpr field form[]{{field_kind::operand, "diagonal"}, {field_kind::type_of, "T"}};
  static constexpr op_kind kind = op_kind::composite;
  static constexpr inference infer(const operand_list& x) {
    if (!is_number(x.type(0))) return inference::wrong(rule::refusal(rule::takes::number));
    if (x.extent(0).rank < 1) return inference::wrong("takes diagonals, rank 1 and more");
    if (x.extent(0).rank == max_rank) return inference::wrong("more than 8 dimensions");
    return {x.type(0), rule::matrices::with(x.extent(0), x.extent(0)[x.extent(0).rank - 1])};
  }
  template <class G>
  static constexpr output expand(G& g) {
    const output column = reshape_to(g.input(0), rule::matrices::with(g.input(0).extent(), 1));
    return select(rule::matrices::is_diagonal(g.result()), column, rule::matrices::zero(column));
  }
  template <class G>
  static constexpr void gradient(G& g);
};

/// The main diagonals of matrices. Source: TensorFlow `MatrixDiagPart`.
struct matrix_diag_part_op {
  static constexpr std::string_view type = "MatrixDiagPart";
  static constexpr field form[]{{field_kind::operand, "input"}, {field_kind::type_of, "T"}};
  static constexpr op_kind kind = op_kind::composite;
  static constexpr inference infer(const operand_list& x) {
    if (!is_number(x.type(0)) || x.type(0) == dtype::uint8) return inference::wrong("takes float32, float64, int32 and int64 only");
    if (const auto problem = rule::matrices::problem(x, 0); !problem.empty()) return inference::wrong(problem);
    return {x.type(0), rule::matrices::with(rule::matrices::stack(x.extent(0)), rule::matrices::diagonal(x.extent(0)))};
  }
  template <class G>
  static constexpr output expand(G& g) {
    const output x = g.input(0);
    const shape& s = x.extent();
    // The sum along the longer axis leaves the diagonal.
    const std::int64_t by[]{0, rule::matrices::rows(s) > rule::matrices::columns(s) ? s.rank - 2 : s.rank - 1};
    return make_node<sum_op>(by, select(rule::matrices::is_diagonal(x), x, rule::matrices::zero(x)));
  }
  template <class G>
  static constexpr void gradient(G& g);
};

/// Matrices with another main diagonal. Source: TensorFlow `MatrixSetDiag`.
struct matrix_set_diag_op {
  static constexpr std::string_view type = "MatrixSetDiag";
  static constexpr field form[]{{field_kind::operand, "input"}, {field_kind::operand, "diagonal"}, {field_kind::type_of, "T"}};
  static constexpr op_kind kind = op_kind::composite;
  static constexpr inference infer(const operand_list& x) {
    if (!is_number(x.type(0))) return inference::wrong(rule::refusal(rule::takes::number));
    if (x.type(0) != x.type(1)) return inference::wrong("dtypes differ (cast<T>(x) converts)");
    if (const auto problem = rule::matrices::problem(x, 0); !problem.empty()) return inference::wrong(problem);
    const shape wanted = rule::matrices::with(rule::matrices::stack(x.extent(0)), rule::matrices::diagonal(x.extent(0)));
    if (!may_equal(wanted, x.extent(1))) return inference::wrong("the second operand is not the diagonals' shape");
    return {x.type(0), x.extent(0)};
  }
  template <class G>
  static constexpr output expand(G& g) {
    const output x = g.input(0);
    const shape& s = x.extent();
    const std::int64_t length = rule::matrices::diagonal(s);
    const bool is_tall = rule::matrices::rows(s) > rule::matrices::columns(s);
    const output line = reshape_to(g.input(1), rule::matrices::with(rule::matrices::stack(s), is_tall ? 1 : length, is_tall ? length : 1));
    return select(rule::matrices::is_diagonal(x), line, x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, make_node<matrix_set_diag_op>({}, g.dy(), constant(g.owner(), g.dy().type(), g.input(1).extent(), 0)));
    if (g.wants(1)) give(g, 1, make_node<matrix_diag_part_op>({}, g.dy()));
  }
};
template <class G>
constexpr void matrix_diag_op::gradient(G& g) {
  if (g.wants(0)) give(g, 0, make_node<matrix_diag_part_op>({}, g.dy()));
}
template <class G>
constexpr void matrix_diag_part_op::gradient(G& g) {
  if (g.wants(0)) give(g, 0, make_node<matrix_set_diag_op>({}, constant(g.owner(), g.dy().type(), g.input(0).extent(), 0), g.dy()));
}

/// The elements of matrices near the main diagonal, zeros elsewhere: `matrix_band_part<-1, 0>(x)` is the lower triangle. The arguments in
/// <> are the numbers of diagonals that stay below and above it; a negative one keeps all. Shapes: x [..., m, n]; result as x. Dtypes:
/// numbers. Source: TensorFlow `MatrixBandPart`.
template <std::int64_t Lower, std::int64_t Upper, tensor_expression X>
  requires accepted_with<matrix_band_part_op, attributes<Lower, Upper>, X>
constexpr made_with<matrix_band_part_op, attributes<Lower, Upper>, X> matrix_band_part(const X& x) {
  return make<matrix_band_part_op, attributes<Lower, Upper>>(x);
}
template <std::int64_t Lower, std::int64_t Upper, tensor_expression X>
  requires refused_with<matrix_band_part_op, attributes<Lower, Upper>, X>
why_with<matrix_band_part_op, attributes<Lower, Upper>, X> matrix_band_part(const X&) = delete;
LEAT_OTHERWISE_OF(matrix_band_part,
                  "<lower, upper>(x) takes one tensor; the numbers of diagonals are template arguments: "
                  "matrix_band_part<-1, 0>(x); " LEAT_TENSORS);
/// Matrices with the given main diagonals and zeros elsewhere. Shapes: x [..., n]; result [..., n, n]. Dtypes: numbers. Source: TensorFlow
/// `MatrixDiag`.
LEAT_FUNCTION_OF_ONE(matrix_diag, matrix_diag_op);
/// The main diagonals of matrices. Shapes: x [..., m, n]; result [..., min(m, n)]. Dtypes: float32, float64, int32, int64. Source:
/// TensorFlow `MatrixDiagPart`.
LEAT_FUNCTION_OF_ONE(matrix_diag_part, matrix_diag_part_op);
/// Matrices x with the given main diagonals. Shapes: x [..., m, n], diagonal [..., min(m, n)]; result as x. Dtypes: numbers, the same on
/// both sides. Source: TensorFlow `MatrixSetDiag`.
template <class X, class D>
  requires accepted<matrix_set_diag_op, X, D>
constexpr made<matrix_set_diag_op, X, D> matrix_set_diag(const X& x, const D& diagonal) {
  return make<matrix_set_diag_op>(x, diagonal);
}
template <class X, class D>
  requires refused<matrix_set_diag_op, X, D>
why<matrix_set_diag_op, X, D> matrix_set_diag(const X&, const D&) = delete;
LEAT_OTHERWISE("matrix_set_diag(x, diagonal) takes two tensors; " LEAT_TENSORS) matrix_set_diag(...) LEAT_DELETED;
/// The sums of the main diagonals. Shapes: x [..., m, n]; result [...]. Dtypes: float32, float64, int32, int64. Source: `tf.linalg.trace`.
template <tensor_expression X>
  requires accepted<matrix_diag_part_op, X>
constexpr auto trace(const X& x) {
  return reduce_sum<-1>(matrix_diag_part(x));
}
template <class X>
  requires refused<matrix_diag_part_op, X>
why<matrix_diag_part_op, X> trace(const X&) = delete;
LEAT_OTHERWISE("trace(x) takes one tensor; " LEAT_TENSORS) trace(...) LEAT_DELETED;

namespace rule {

/// Rule of operators on square matrices, and the shape of their operand.
struct square_matrices {
  static constexpr std::string_view not_square = "Input matrix must be square.";
  static constexpr std::string_view problem(const operand_list& x, int k, std::string_view otherwise = not_square) {
    if (!is_floating(x.type(k))) return refusal(takes::floating);
    if (x.extent(k).rank < 2) return "takes matrices, rank 2 and more";
    if (!may_equal(matrices::rows(x.extent(k)), matrices::columns(x.extent(k)))) return otherwise;
    return {};
  }
  /// The number of rows, which may be known from the columns alone.
  static constexpr std::int64_t size(const shape& s) {
    return matrices::rows(s) == unknown_dimension ? matrices::columns(s) : matrices::rows(s);
  }
  static constexpr inference infer(const operand_list& x) {
    if (const auto why = problem(x, 0); !why.empty()) return inference::wrong(why);
    const std::int64_t n = size(x.extent(0));
    return {x.type(0), matrices::with(matrices::stack(x.extent(0)), n, n)};
  }
  /// Attribute k of a node, 0 if the node has none.
  template <class G>
  static constexpr std::int64_t attribute_or_zero(const G& g, int k) {
    return g.attribute_count() > k ? g.attribute(k) : 0;
  }
};

}  // namespace rule

}  // namespace leat
