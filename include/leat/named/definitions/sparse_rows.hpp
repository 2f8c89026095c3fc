#pragma once
// Definitions of operators that add, reshape and reduce sparse tensors, that fill their empty rows, and that add up rows by segment.

#include <leat/core/fill.hpp>
#include <leat/named/definitions/shapes.hpp>

namespace leat::detail {

/// The shape [rows, columns] of indices; -1 is unknown.
inline shape indices_of(std::int64_t rows, std::int64_t columns) {
  shape s = shapes::vector_of(rows);
  s.push(columns < 0 ? unknown_dimension : columns);
  return s;
}
/// A dimension of an input, -1 if it is not known.
inline std::int64_t dimension_of(const shape_context& c, int k, int axis) {
  const shape& s = c.input(k).extent;
  return s.has_rank() && axis < s.rank ? s[axis] : unknown_dimension;
}
/// Checks the ranks of a sparse tensor's three inputs.
inline void want_sparse(const shape_context& c, int first) {
  shapes::want_rank(c, first, 2);
  shapes::want_rank(c, first + 1, 1);
  shapes::want_rank(c, first + 2, 1);
}
/// The array of input 0 with other rows: those that input `At` counts, or as many as there are segments.
template <int At>
void segment_rows_shape(shape_context& c) {
  shapes::want_rank(c, 1, 1);
  shapes::want_rank(c, 2, 1);
  shape result = c.input(0).extent;
  if (!result.has_rank()) return;
  if (result.rank < 1) c.fail("Shape must be at least rank 1 but is rank 0");
  result.dim[0] = unknown_dimension;
  if constexpr (At > 0) {
    shapes::want_rank(c, At, 0);
    const auto rows = shapes::number(c, At);
    if (rows && *rows >= 0) result.dim[0] = *rows;
    else if (rows && c.constant(At)) c.fail("Cannot specify a negative value, here " + std::to_string(*rows));
  }
  c.set(0, result);
}
inline void reduced_sparse_shape(shape_context& c) {
  want_sparse(c, 0);
  const shape whole = shapes::from_numbers(c, 2);
  const auto axes = c.numbers(3);
  if (!whole.has_rank() || !axes || !c.constant(3)) return;
  bool is_reduced[max_rank]{};
  for (const std::int64_t axis : *axes) {
    if (axis < -whole.rank || axis >= whole.rank)
      c.fail("Invalid reduction dimension " + std::to_string(axis) + ", for input with " + std::to_string(whole.rank) + " dimensions.");
    is_reduced[axis < 0 ? axis + whole.rank : axis] = true;
  }
  shape result;
  for (int d = 0; d < whole.rank; ++d)
    if (!is_reduced[d]) result.push(whole[d]);
    else if (c.flag("keep_dims")) result.push(1);
  c.set(0, result);
}

LEAT_FILL(fill_sparse_row_definitions) {
  constexpr facts pure{.is = nature::pure};
  constexpr facts stops{.is = nature::pure, .stops_gradient = true};
  define_operator(
      "SparseFillEmptyRows(indices: int64, values: T, dense_shape: int64, default_value: T) -> (output_indices: int64, output_values: T, "
      "empty_row_indicator: bool, reverse_index_map: int64)",
      pure, [](shape_context& c) {
        want_sparse(c, 0);
        shapes::want_rank(c, 3, 0);
        const auto sizes = c.numbers(2);
        c.set(0, indices_of(-1, dimension_of(c, 0, 1)));
        c.set(1, shapes::vector_of(-1));
        c.set(2, shapes::vector_of(sizes && !sizes->empty() ? sizes->front() : unknown_dimension));
        c.set(3, shapes::vector_of(dimension_of(c, 0, 0)));
      });
  define_operator("SparseFillEmptyRowsGrad(reverse_index_map: int64, grad_values: T) -> (d_values: T, d_default_value: T)", pure,
                  [](shape_context& c) {
                    shapes::want_rank(c, 0, 1);
                    shapes::want_rank(c, 1, 1);
                    c.set(0, shapes::vector_of(dimension_of(c, 0, 0)));
                    c.set(1, shapes::scalar);
                  });
  define_operator(
      "SparseReshape(input_indices: int64, input_shape: int64, new_shape: int64) -> (output_indices: int64, output_shape: int64)", stops,
      [](shape_context& c) {
        shapes::want_rank(c, 0, 2);
        shapes::want_rank(c, 1, 1);
        shapes::want_rank(c, 2, 1);
        c.set(0, indices_of(dimension_of(c, 0, 0), dimension_of(c, 2, 0)));
        c.set(1, shapes::vector_of(dimension_of(c, 2, 0)));
      });
  define_operator("SparseSoftmax(sp_indices: int64, sp_values: T, sp_shape: int64) -> (output: T); T: {float32, float64}", pure,
                  [](shape_context& c) {
                    want_sparse(c, 0);
                    c.set(0, shapes::vector_of(dimension_of(c, 1, 0)));
                  });
  for (const char* type : {"SparseReduceSum", "SparseReduceMax"})
    define_operator(
        std::string(type) +
            "(input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32) -> (output: T); keep_dims: bool = false",
        pure, reduced_sparse_shape);
  for (const char* type : {"SparseReduceSumSparse", "SparseReduceMaxSparse"})
    define_operator(std::string(type) +
                        "(input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32) -> (output_indices: int64, "
                        "output_values: T, output_shape: int64); keep_dims: bool = false",
                    {.is = nature::pure, .values = {3, 1}}, [](shape_context& c) {
                      want_sparse(c, 0);
                      c.set(0, indices_of(-1, -1));
                      c.set(1, shapes::vector_of(-1));
                      c.set(2, shapes::vector_of(-1));
                    });
  for (const char* type : {"SparseSparseMaximum", "SparseSparseMinimum"})
    define_operator(
        std::string(type) +
            "(a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape: int64) -> (output_indices: int64, "
            "output_values: T)",
        stops, [](shape_context& c) {
          want_sparse(c, 0);
          want_sparse(c, 3);
          c.set(0, indices_of(-1, dimension_of(c, 2, 0)));
          c.set(1, shapes::vector_of(-1));
        });
  define_operator("SparseSliceGrad(backprop_val_grad: T, input_indices: int64, input_start: int64, output_indices: int64) -> (val_grad: T)",
                  stops, [](shape_context& c) { c.set(0, shapes::vector_of(dimension_of(c, 1, 0))); });

  define_operator(
      "SparseAdd(a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape: int64, thresh: Treal) -> "
      "(sum_indices: int64, sum_values: T, sum_shape: int64)",
      pure, [](shape_context& c) {
        shapes::want_rank(c, 2, 1);
        c.set(0, indices_of(-1, dimension_of(c, 2, 0)));
        c.set(1, shapes::vector_of(-1));
        c.set(2, c.input(2).extent);
      });
  define_operator(
      "SparseAddGrad(backprop_val_grad: T, a_indices: int64, b_indices: int64, sum_indices: int64) -> (a_val_grad: T, b_val_grad: T)",
      stops, [](shape_context& c) {
        shapes::want_rank(c, 1, 2);
        shapes::want_rank(c, 2, 2);
        c.set(0, shapes::vector_of(dimension_of(c, 1, 0)));
        c.set(1, shapes::vector_of(dimension_of(c, 2, 0)));
      });
  define_operator(
      "SparseTensorDenseAdd(a_indices: Tindices, a_values: T, a_shape: Tindices, b: T) -> (output: T); Tindices: {int32, int64}", pure,
      shapes::like<3>);
  for (const char* type : {"SparseDenseCwiseAdd", "SparseDenseCwiseMul", "SparseDenseCwiseDiv"})
    define_operator(std::string(type) + "(sp_indices: int64, sp_values: T, sp_shape: int64, dense: T) -> (output: T)", pure,
                    [](shape_context& c) {
                      shapes::want_rank(c, 0, 2);
                      c.set(0, shapes::vector_of(dimension_of(c, 0, 0)));
                    });

  const std::string ids =
      "Tidx: {int32, int64} = int32; Tsegmentids: {int32, int64} = int32";
  for (const std::string type : {"SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN"}) {
    define_operator(type + "(data: T, indices: Tidx, segment_ids: Tsegmentids) -> (output: T); " + ids + "; sparse_gradient: bool = false",
                    pure, segment_rows_shape<0>);
    define_operator(type +
                        "WithNumSegments(data: T, indices: Tidx, segment_ids: Tsegmentids, num_segments: Tnumsegments) -> (output: T); " +
                        ids + "; Tnumsegments: {int32, int64} = int32; sparse_gradient: bool = false",
                    pure, segment_rows_shape<3>);
    define_operator(type + "Grad(grad: T, indices: Tidx, segment_ids: Tsegmentids, output_dim0: int32) -> (output: T); " + ids, pure,
                    segment_rows_shape<3>);
  }
}

}  // namespace leat::detail
