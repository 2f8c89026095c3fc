#pragma once
// Gradients of operators that add, reduce and slice sparse tensors, and that fill their empty rows, in graphs with names, as TensorFlow
// makes them. Source: TensorFlow's gradients of the operators of the same names.

#include <leat/core/fill.hpp>
#include <leat/named/functions/slice.hpp>
#include <leat/named/gradients/gather.hpp>
#include <leat/named/gradients/sparse.hpp>

namespace leat::detail {

inline gradient_list gradient_of_filled_rows(const gradient_call& c) {
  const output dy = c.dy(1);
  if (!static_cast<bool>(dy)) return {};
  const graph_operation made = call_operator(c.owner(), "SparseFillEmptyRowsGrad", {c.result(3), dy});
  return {{}, made.result(0), {}, made.result(1)};
}
inline gradient_list gradient_of_sparse_add(const gradient_call& c) {
  const output dy = c.dy(1);
  if (!static_cast<bool>(dy)) return {};
  const graph_operation made = call_operator(c.owner(), "SparseAddGrad", {dy, c.input(0), c.input(3), c.result(0)});
  set_shape(made.result(0), c.input(1).extent());
  set_shape(made.result(1), c.input(4).extent());
  return {{}, made.result(0), {}, {}, made.result(1), {}, {}};
}
inline gradient_list gradient_of_sparse_slice(const gradient_call& c) {
  const output dy = c.dy(1);
  if (!static_cast<bool>(dy)) return {};
  const output made = call_operator(c.owner(), "SparseSliceGrad", {dy, c.input(0), c.input(3), c.result(0)}).result();
  set_shape(made, c.input(1).extent());
  return {{}, made, {}, {}, {}};
}
inline gradient_list gradient_of_sparse_dense_add(const gradient_call& c) { return {{}, gather_nd(c.dy(), c.input(0)), {}, c.dy()}; }

inline gradient_list gradient_of_sparse_sum(const gradient_call& c) {
  const output dy = c.dy(), indices = c.input(0), sizes = c.input(2);
  const output kept = computed_kept_shape(cast(sizes, dtype::int32), c.input(3));
  const output whole = reshape(dy, kept);
  const output scale = floor_divide(sizes, cast(kept, dtype::int64));
  return {{}, gather_nd(whole, floor_divide(indices, scale)), {}, {}};
}

/// `IsProduct` says whether the values are multiplied by the array's elements, or divided.
template <bool IsProduct>
gradient_list gradient_of_sparse_with_dense(const gradient_call& c) {
  const output dy = c.dy(), indices = c.input(0), values = c.input(1), sizes = c.input(2), dense = c.input(3);
  graph& g = c.owner();
  const output its_sizes = cast(shape_of(dense), dtype::int64);
  const output more = expand_dims(element_count_of(sizes) - element_count_of(its_sizes), 0);
  output ones;
  {
    const name_scope scope(g, "ones");
    ones = call_operator(g, "Fill", {more, g.named().make_constant(g, std::int64_t{1}, "Const")}, {}, scope.text()).result();
  }
  const output scale = floor_divide(sizes, concat({ones, its_sizes}, 0));
  const output scaled = floor_divide(indices, scale);
  const output at = slice(scaled, vector_of_parts(g, {0, vector_part::of(more)}), {-1, -1});
  const output elements = gather_nd(dense, at);
  const output by_values = IsProduct ? dy * elements : dy / elements;
  const output slopes = IsProduct ? dy * values : dy * (negative(values) / square(elements));
  const output by_dense = call_operator(g, "SparseTensorDenseAdd", {at, slopes, its_sizes, zeros_like(dense)}).result();
  return {{}, by_values, {}, by_dense};
}

inline gradient_list gradient_of_sparse_softmax(const gradient_call& c) {
  const output dy = c.dy(), indices = c.input(0), sizes = c.input(2), y = c.result();
  graph& g = c.owner();
  const output products = y * dy;
  const output sums =
      call_operator(g, "SparseReduceSum", {indices, products, sizes, tensor_literal({-1})}, {{"keep_dims", true}}).result();
  const output rest = call_operator(g, "SparseDenseCwiseAdd", {indices, dy, sizes, negative(sums)}).result();
  return {{}, rest * y, {}};
}

LEAT_FILL(fill_sparse_row_gradients) {
  enter_gradients({
      {"SparseFillEmptyRows", gradient_of_filled_rows},
      {"SparseAdd", gradient_of_sparse_add},
      {"SparseSlice", gradient_of_sparse_slice},
      {"SparseTensorDenseAdd", gradient_of_sparse_dense_add},
      {"SparseReduceSum", gradient_of_sparse_sum},
      {"SparseDenseCwiseMul", gradient_of_sparse_with_dense<true>},
      {"SparseDenseCwiseDiv", gradient_of_sparse_with_dense<false>},
      {"SparseSoftmax", gradient_of_sparse_softmax},
  });
}

}  // namespace leat::detail
