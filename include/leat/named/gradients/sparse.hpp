#pragma once
// Gradients of products with sparse matrices, of their order, and of losses of sparse labels, in graphs with names, as TensorFlow makes
// them. Source: TensorFlow's gradients of the operators of the same names.

#include <leat/core/fill.hpp>
#include <leat/named/functions/slice.hpp>
#include <leat/named/gradients/array.hpp>
#include <leat/named/gradients/gather.hpp>
#include <leat/named/graph/call.hpp>

namespace leat::detail {

/// The gradient of a value is the product of a row of `dy` and a row of the other matrix.
inline gradient_list gradient_of_sparse_matmul(const gradient_call& c) {
  const output dy = c.dy();
  graph& g = c.owner();
  const output indices = c.input(0), b = c.input(3);
  const bool ta = c.flag("adjoint_a"), tb = c.flag("adjoint_b");
  output by_b =
      call_operator(g, "SparseTensorDenseMatMul", {indices, c.input(1), c.input(2), dy}, {{"adjoint_a", !ta}, {"adjoint_b", false}})
          .result();
  if (tb) by_b = transpose(by_b, {1, 0});
  const output rows = index(indices, {along::all(), axis_index(0)}), columns = index(indices, {along::all(), axis_index(1)});
  const output left = gather(dy, ta ? columns : rows);
  const output right = gather(tb ? transpose(b, {1, 0}) : b, ta ? rows : columns);
  return {{}, reduce_sum(left * right, {1}), {}, by_b};
}
inline gradient_list gradient_of_sparse_reorder(const gradient_call& c) {
  const output dy = c.dy(1);
  if (!static_cast<bool>(dy)) return {};
  graph& g = c.owner();
  const output indices = c.input(0);
  const output count = index(shape_of(indices), {axis_index(0)});
  const output places = call_operator(g, "Range", {tensor_literal(std::int32_t{0}), count, tensor_literal(std::int32_t{1})}).result();
  const output order = call_operator(g, "SparseReorder", {indices, places, c.input(2)}).result(1);
  const output inverse = gradient_node("InvertPermutation", {order}, {{"T", order.type()}}, info_like(order));
  return {{}, gather(dy, inverse), {}};
}

/// The kernel computes the slopes of the losses; each is scaled by its loss's gradient.
inline gradient_list gradient_of_ctc_loss(const gradient_call& c) {
  const output dy = c.dy(0);
  if (!static_cast<bool>(dy)) return {};
  const output slopes =
      call_operator(c.owner(), "PreventGradient", {c.result(1)},
                    {{"message", "Currently there is no way to take the second  derivative of ctc_loss due to the fused implementation's "
                                 "interaction with tf.gradients()"}})
          .result();
  return {expand_dims(dy, -1) * slopes, {}, {}, {}};
}

LEAT_FILL(fill_sparse_gradients) {
  enter_gradients({
      {"CTCLoss", gradient_of_ctc_loss},
      {"SparseTensorDenseMatMul", gradient_of_sparse_matmul},
      {"SparseReorder", gradient_of_sparse_reorder},
  });
}

}  // namespace leat::detail
