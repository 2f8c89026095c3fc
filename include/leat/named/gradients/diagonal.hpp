#pragma once
// Gradients of operators on the diagonals of matrices, in graphs with names, node for node as TensorFlow makes them. One attribute differs:
// the gradients of the second versions state their alignment, LEFT_LEFT. TensorFlow's have the third versions' default, with which slopes
// of short diagonals would go to the wrong elements. Source: TensorFlow's gradients of the operators of the same names.

#include <leat/core/fill.hpp>
#include <leat/named/gradients/array.hpp>

namespace leat::detail {

// The diagonals that a node refers to: the given ones, or else the main diagonal.
inline output diagonals_of(graph& g, const output& given) {
  return static_cast<bool>(given) ? given : g.named().make_constant(g, std::int32_t{0}, "k");
}
// `IsLeft`: of a second version, which has no attribute for its alignment.
template <bool IsLeft>
attribute_map alignment(const gradient_call& c, dtype type) {
  attribute_map attributes = c.attributes({"align"});
  if (!attributes.contains("align")) attributes["align"] = IsLeft ? "LEFT_LEFT" : "RIGHT_LEFT";
  attributes["T"] = type;
  return attributes;
}
template <bool IsLeft>
output diagonal_node(const gradient_call& c, const output& x, const output& diagonals, const tensor_info& result) {
  graph& g = c.owner();
  const name_scope scope(g, "diag_part");
  const output k = diagonals_of(g, diagonals);
  const output padding = g.named().make_constant(g, {x.type(), {}, 0.0}, "padding_value");
  return g.named().raw(g, "MatrixDiagPartV3", std::array{x, k, padding}, alignment<IsLeft>(c, x.type()), {result}, scope.text()).result();
}
template <bool IsLeft>
output with_diagonal_node(const gradient_call& c, const output& x, const output& diagonal, const output& diagonals) {
  graph& g = c.owner();
  const name_scope scope(g, "set_diag");
  const output k = diagonals_of(g, diagonals);
  const std::array inputs{x, diagonal, k};
  return g.named().raw(g, "MatrixSetDiagV3", inputs, alignment<IsLeft>(c, x.type()), {info_like(x)}, scope.text()).result();
}
template <bool IsLeft>
output matrix_of_diagonal_node(const gradient_call& c, const output& diagonal, const output& diagonals, std::int32_t rows,
                               std::int32_t columns, const tensor_info& result) {
  graph& g = c.owner();
  const name_scope scope(g, "diag");
  const output k = diagonals_of(g, diagonals);
  const output row_count = g.named().make_constant(g, rows, "num_rows");
  const output column_count = g.named().make_constant(g, columns, "num_cols");
  const output padding = g.named().make_constant(g, {diagonal.type(), {}, 0.0}, "padding_value");
  const std::array inputs{diagonal, k, row_count, column_count, padding};
  return g.named().raw(g, "MatrixDiagV3", inputs, alignment<IsLeft>(c, diagonal.type()), {result}, scope.text()).result();
}
// The input `at` of an operator's third version, which holds the diagonals; empty for a node that does not have it.
inline output diagonals_of(const gradient_call& c, int at) { return c.input_count() > at ? c.input(at) : output{}; }

inline gradient_list gradient_of_diag(const gradient_call& c) {
  return {gradient_node("DiagPart", {c.dy()}, {{"T", c.input(0).type()}}, info_like(c.input(0)))};
}
inline gradient_list gradient_of_diag_part(const gradient_call& c) {
  return {gradient_node("Diag", {c.dy()}, {{"T", c.input(0).type()}}, info_like(c.input(0)))};
}
template <bool IsLeft>
gradient_list gradient_of_matrix_diag(const gradient_call& c) {
  const output dy = c.dy();
  return {diagonal_node<IsLeft>(c, dy, diagonals_of(c, 1), info_like(c.input(0)))};
}
template <bool IsLeft>
gradient_list gradient_of_matrix_diag_part(const gradient_call& c) {
  const output dy = c.dy();
  const output x = c.input(0);
  const output k = diagonals_of(c, 1);
  const shape& s = x.extent();
  const bool are_known = s.has_rank() && s.rank >= 2 && s[s.rank - 2] >= 0 && s[s.rank - 1] >= 0;
  if (are_known && (static_cast<bool>(k) || s[s.rank - 2] == s[s.rank - 1])) {
    const auto size = [&](int axis) { return static_cast<bool>(k) ? static_cast<std::int32_t>(s[axis]) : std::int32_t{-1}; };
    return {matrix_of_diagonal_node<IsLeft>(c, dy, k, size(s.rank - 2), size(s.rank - 1), info_like(x))};
  }
  const output zeros = zeros_like(x);
  return {with_diagonal_node<IsLeft>(c, zeros, dy, k)};
}
/// The elements that the diagonal replaced get no gradient.
template <bool IsLeft>
gradient_list gradient_of_matrix_set_diag(const gradient_call& c) {
  const output dy = c.dy();
  const output diagonal = c.input(1);
  const output k = diagonals_of(c, 2);
  const output none = diagonal.extent().is_static()
                          ? c.owner().named().make_constant(c.owner(), {dy.type(), diagonal.extent(), 0.0}, "zeros")
                          : zeros_in_shape_of(diagonal);
  const output rest = with_diagonal_node<IsLeft>(c, dy, none, k);
  return {rest, diagonal_node<IsLeft>(c, dy, k, info_like(diagonal))};
}
inline gradient_list gradient_of_matrix_band_part(const gradient_call& c) {
  const output dy = c.dy();
  const std::array inputs{dy, c.input(1), c.input(2)};
  attribute_map attributes = c.attributes({"Tindex"});
  attributes["T"] = dy.type();
  return {c.owner().named().raw(c.owner(), "MatrixBandPart", inputs, std::move(attributes), {info_like(dy)}).result()};
}

LEAT_FILL(fill_diagonal_gradients) {
  enter_gradients({
      {"Diag", gradient_of_diag},
      {"DiagPart", gradient_of_diag_part},
      {"MatrixDiag", gradient_of_matrix_diag<false>},
      {"MatrixDiagV2", gradient_of_matrix_diag<true>},
      {"MatrixDiagV3", gradient_of_matrix_diag<false>},
      {"MatrixDiagPart", gradient_of_matrix_diag_part<false>},
      {"MatrixDiagPartV2", gradient_of_matrix_diag_part<true>},
      {"MatrixDiagPartV3", gradient_of_matrix_diag_part<false>},
      {"MatrixSetDiag", gradient_of_matrix_set_diag<false>},
      {"MatrixSetDiagV2", gradient_of_matrix_set_diag<true>},
      {"MatrixSetDiagV3", gradient_of_matrix_set_diag<false>},
      {"MatrixBandPart", gradient_of_matrix_band_part},
  });
}

}  // namespace leat::detail
