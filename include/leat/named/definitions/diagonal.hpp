#pragma once
// Definitions of operators on the diagonals of matrices: matrices with given diagonals, the diagonals of given matrices, and bands around
// the main diagonal. Source: TensorFlow's operators of the same names.

#include <leat/core/fill.hpp>
#include <leat/named/definitions/shapes.hpp>
#include <leat/ops/diagonals.hpp>

#include <algorithm>
#include <optional>

namespace leat::detail {

/// The range that a scalar or a vector of one or two numbers says; nothing for other lists.
inline std::optional<diagonal_range> range_of_diagonals(const std::vector<std::int64_t>& numbers) {
  if (numbers.empty() || numbers.size() > 2) return std::nullopt;
  return diagonal_range{numbers.front(), numbers.back()};
}
/// That of input `k`, if it is a constant; the main diagonal for a node without that input.
inline std::optional<diagonal_range> known_diagonals(const shape_context& c, int k) {
  if (c.input_count() <= k) return diagonal_range{};
  if (!c.constant(k)) return std::nullopt;
  const auto numbers = c.numbers(k);
  if (!numbers) return std::nullopt;
  const auto range = range_of_diagonals(*numbers);
  if (!range) c.fail("diag_index must have only one or two elements, received " + std::to_string(numbers->size()) + " elements.");
  if (range->lower > range->upper)
    c.fail("lower_diag_index must not be larger than upper_diag_index: " + std::to_string(range->lower) + " > " +
           std::to_string(range->upper));
  return range;
}

inline void matrix_of_diagonals_shape(shape_context& c) {
  const shape& given = c.input(0).extent;
  if (!given.has_rank()) return;
  if (given.rank < 1) c.fail("Shape must be at least rank 1 but is rank 0");
  const auto range = known_diagonals(c, 1);
  if (!range) return;
  const int batch = given.rank - (range->count() == 1 ? 1 : 2);
  if (batch < 0) c.fail("Shape must be at least rank 2 but is rank " + std::to_string(given.rank));
  shape result;
  for (int i = 0; i < batch; ++i) result.push(given[i]);
  const auto size = [&](int k) -> std::optional<std::int64_t> {
    if (c.input_count() <= k) return -1;
    return c.constant(k) ? shapes::number(c, k) : std::nullopt;
  };
  const auto rows = size(2), columns = size(3);
  const std::int64_t width = given[given.rank - 1];
  const bool is_known = rows && columns && width >= 0;
  const std::int64_t least_rows = width - std::min<std::int64_t>(range->upper, 0);
  const std::int64_t least_columns = width + std::max<std::int64_t>(range->lower, 0);
  const bool is_square = is_known && *rows < 0 && *columns < 0;
  const auto chosen = [&](const std::optional<std::int64_t>& said, std::int64_t least) {
    if (said && *said >= 0) return *said;
    return is_square ? std::max(least_rows, least_columns) : is_known ? least : unknown_dimension;
  };
  result.push(chosen(rows, least_rows));
  result.push(chosen(columns, least_columns));
  c.set(0, result);
}

inline void diagonals_of_matrix_shape(shape_context& c) {
  const shape& matrix = c.input(0).extent;
  if (!matrix.has_rank()) return;
  if (matrix.rank < 2) c.fail("Shape must be at least rank 2 but is rank " + std::to_string(matrix.rank));
  const auto range = known_diagonals(c, 1);
  if (!range) return;
  shape result;
  for (int i = 0; i + 2 < matrix.rank; ++i) result.push(matrix[i]);
  if (range->count() > 1) result.push(range->count());
  const std::int64_t rows = matrix[matrix.rank - 2], columns = matrix[matrix.rank - 1];
  result.push(rows < 0 || columns < 0 ? unknown_dimension : std::max<std::int64_t>(range->longest(rows, columns), unknown_dimension));
  c.set(0, result);
}

LEAT_FILL(fill_diagonal_definitions) {
  constexpr facts pure{.is = nature::pure};
  constexpr facts sized{.is = nature::pure, .values = {1, 3}};
  const std::string align = "; align: string = \"RIGHT_LEFT\"";
  define_operator("Diag(diagonal: T) -> (output: T)", pure, [](shape_context& c) {
    const shape& given = c.input(0).extent;
    if (!given.has_rank()) return;
    if (given.rank < 1) c.fail("Shape must be at least rank 1 but is rank 0");
    shape result = given;
    for (int i = 0; i < given.rank; ++i) result.push(given[i]);
    c.set(0, result);
  });
  define_operator("DiagPart(input: T) -> (diagonal: T)", pure, [](shape_context& c) {
    const shape& given = c.input(0).extent;
    if (!given.has_rank()) return;
    if (given.rank % 2 != 0) c.fail("Input must have even and non-zero rank, input rank is " + std::to_string(given.rank));
    shape result;
    for (int i = 0; i < given.rank / 2; ++i) {
      const std::int64_t other = given[i + given.rank / 2];
      if (!may_equal(given[i], other))
        c.fail("Dimensions must be equal, but are " + std::to_string(given[i]) + " and " + std::to_string(other));
      result.push(given[i] == unknown_dimension ? other : given[i]);
    }
    c.set(0, result);
  });
  define_operator("MatrixDiag(diagonal: T) -> (output: T)", pure, matrix_of_diagonals_shape);
  const std::string made = "(diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T) -> (output: T)";
  define_operator("MatrixDiagV2" + made, sized, matrix_of_diagonals_shape);
  define_operator("MatrixDiagV3" + made + align, sized, matrix_of_diagonals_shape);
  define_operator("MatrixDiagPart(input: T) -> (diagonal: T)", pure, diagonals_of_matrix_shape);
  constexpr facts taken{.is = nature::pure, .values = {1, 1}};
  define_operator("MatrixDiagPartV2(input: T, k: int32, padding_value: T) -> (diagonal: T)", taken, diagonals_of_matrix_shape);
  define_operator("MatrixDiagPartV3(input: T, k: int32, padding_value: T) -> (diagonal: T)" + align, taken, diagonals_of_matrix_shape);
  constexpr facts replaced{.is = nature::pure, .values = {2, 1}};
  define_operator("MatrixSetDiag(input: T, diagonal: T) -> (output: T)", pure, shapes::like<0>);
  define_operator("MatrixSetDiagV2(input: T, diagonal: T, k: int32) -> (output: T)", replaced, shapes::like<0>);
  define_operator("MatrixSetDiagV3(input: T, diagonal: T, k: int32) -> (output: T)" + align, replaced, shapes::like<0>);
  define_operator("MatrixBandPart(input: T, num_lower: Tindex, num_upper: Tindex) -> (band: T); Tindex: {int32, int64} = int64",
                  {.is = nature::pure, .narrow = narrow_rule::moves, .values = {1, 2}}, shapes::like<0>);
  define_operator("BatchMatrixBandPart(input: T, num_lower: int64, num_upper: int64) -> (band: T)",
                  {.is = nature::pure, .narrow = narrow_rule::moves, .values = {1, 2}}, shapes::like<0>);
}

}  // namespace leat::detail
