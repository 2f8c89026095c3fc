#pragma once
// Gradients of operators that write elements by index into copies of arrays, in graphs with names, node for node as TensorFlow makes them.
// Source: TensorFlow's gradients of the operators of the same names.

#include <leat/core/fill.hpp>
#include <leat/named/gradients/gather.hpp>

namespace leat::detail {

/// What was replaced gets no gradient.
inline gradient_list gradient_of_scatter_update(const gradient_call& c) {
  const output dy = c.dy();
  const output indices = c.input(1);
  const output by_updates = gather_nd(dy, indices);
  const output kept = identity(dy);
  const std::array inputs{kept, indices, zeros_like(c.input(2))};
  const auto made = c.owner().named().raw(c.owner(), "TensorScatterUpdate", inputs, c.attributes({"T", "Tindices"}), {info_like(dy)});
  return {made.result(), {}, by_updates};
}
inline gradient_list gradient_of_scatter_add(const gradient_call& c) {
  const output dy = c.dy();
  const output by_updates = gather_nd(dy, c.input(1));
  return {identity(dy), {}, by_updates};
}
inline gradient_list gradient_of_scatter_sub(const gradient_call& c) {
  const output dy = c.dy();
  const output by_updates = gather_nd(dy, c.input(1));
  const output by_array = identity(dy);
  return {by_array, {}, negative(by_updates)};
}
inline gradient_list gradient_of_plain_scatter_add(const gradient_call& c) {
  const output dy = c.dy();
  return {dy, {}, gather_nd(dy, c.input(1))};
}
/// Elements that equal an extremum share its gradient.
inline gradient_list gradient_of_scatter_extremum(const gradient_call& c) {
  const output dy = c.dy();
  const output x = c.input(0), indices = c.input(1), updates = c.input(2), result = c.result();
  const output are_x = cast(equal(x, result), dy.type());
  const output taken = gather_nd(result, indices);
  const output are_updates = cast(equal(updates, taken), dy.type());
  const output its_shape = shape_as(x, indices.type());
  const output counts = call_operator(c.owner(), "ScatterNd", {indices, are_updates, its_shape}).result();
  const output all = are_x + counts;
  const output weighted = dy * are_x;
  const output by_x = weighted / all;
  const output share = dy / all;
  return {by_x, {}, gather_nd(share, indices) * are_updates};
}
/// The default value gets what is left of the gradient. A single index for each element is a vector in the sparse form, and a value for all
/// of them a scalar, where TensorFlow's gradient has the wrong rank.
inline gradient_list gradient_of_sparse_to_dense(const gradient_call& c) {
  const output dy = c.dy();
  const output given = c.input(0);
  const bool is_matrix = !given.extent().has_rank() || given.extent().rank == 2;
  const output indices = is_matrix ? given : expand_dims(given, tensor_literal(std::int32_t{-1}));
  const output taken = gather_nd(dy, indices);
  const output whole = reduce_sum(dy, all_axes);
  const output part = reduce_sum(taken, all_axes);
  const bool is_single = c.input(2).extent().has_rank() && c.input(2).extent().rank == 0;
  return {{}, {}, is_single ? part : taken, whole - part};
}

LEAT_FILL(fill_scatter_gradients) {
  enter_gradients({
      {"TensorScatterUpdate", gradient_of_scatter_update},
      {"TensorScatterAdd", gradient_of_scatter_add},
      {"TensorScatterSub", gradient_of_scatter_sub},
      {"TensorScatterMin", gradient_of_scatter_extremum},
      {"TensorScatterMax", gradient_of_scatter_extremum},
      {"ScatterNdNonAliasingAdd", gradient_of_plain_scatter_add},
      {"SparseToDense", gradient_of_sparse_to_dense},
  });
}

}  // namespace leat::detail
