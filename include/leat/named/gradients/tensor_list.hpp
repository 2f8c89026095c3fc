#pragma once
// Gradients of lists of tensors: lists of gradients. An element's gradient is read where the element was written, and written where it was
// read. Source: TensorFlow's list_ops.

#include <leat/core/fill.hpp>
#include <leat/named/functions/array.hpp>
#include <leat/named/gradients/nodes.hpp>
#include <leat/named/graph/call.hpp>

namespace leat::detail {

inline output list_node(const gradient_call& c, std::string_view type, const std::vector<number_argument>& inputs,
                        attribute_map attributes = {}) {
  return call_operator(c.owner(), type, inputs, std::move(attributes)).result();
}
inline attribute_map element_dtype_of(const output& o) { return {{"element_dtype", o.type()}}; }
inline output element_shape_of(const gradient_call& c, const output& list) {
  return list_node(c, "TensorListElementShape", {list}, {{"shape_type", dtype::int32}});
}
inline output length_of(const gradient_call& c, const output& list) { return list_node(c, "TensorListLength", {list}); }
// The shape of each of a tensor's rows.
inline output row_shape_of(const output& rows) { return slice(shape_of(rows), {1}, {-1}); }
// A list that is as long as another, of which no element is set.
inline output unset_like(const gradient_call& c, const output& list, const output& elements) {
  const output extent = element_shape_of(c, list);
  return list_node(c, "TensorListReserve", {extent, length_of(c, list)}, {{"element_dtype", elements.type()}});
}

inline gradient_list gradient_of_push_back(const gradient_call& c) {
  const output item = c.input(1);
  const graph_operation made = call_operator(c.owner(), "TensorListPopBack", {c.dy(), shape_of(item)}, element_dtype_of(item));
  return {made.result(0), made.result(1)};
}
inline gradient_list gradient_of_pop_back(const gradient_call& c) {
  const output item = c.result(1);
  const output dy = static_cast<bool>(c.slices(1)) ? c.dy(1) : zeros_like(item);
  return {list_node(c, "TensorListPushBack", {c.dy(0), dy})};
}
inline gradient_list gradient_of_stack(const gradient_call& c) {
  const output dy = c.dy();
  const shape& s = dy.extent();
  if (!s.has_rank()) return {list_node(c, "TensorListFromTensor", {dy, tensor_literal(std::int32_t{-1})})};
  std::vector<std::int32_t> sizes;
  for (int i = 1; i < s.rank; ++i) sizes.push_back(s[i] < 0 ? -1 : static_cast<std::int32_t>(s[i]));
  return {list_node(c, "TensorListFromTensor", {dy, tensor_literal(sizes)})};
}
inline gradient_list gradient_of_list_concat(const gradient_call& c) {
  if (!static_cast<bool>(c.slices(0))) return {};
  const output dy = c.dy();
  return {list_node(c, "TensorListSplit", {dy, element_shape_of(c, c.input(0)), c.result(1)})};
}
inline gradient_list gradient_of_list_split(const gradient_call& c) {
  const output rows = c.input(0);
  const output extent = concat_node({constant(std::vector<std::int32_t>{-1}), row_shape_of(rows)}, tensor_literal(std::int32_t{0}));
  return {list_node(c, "TensorListConcatV2", {c.dy(), extent, c.input(2)}, element_dtype_of(rows))};
}
inline gradient_list gradient_of_from_tensor(const gradient_call& c) {
  const output rows = c.input(0);
  attribute_map attributes = element_dtype_of(rows);
  attributes["num_elements"] =
      rows.extent().has_rank() && rows.extent().rank > 0 && rows.extent()[0] >= 0 ? rows.extent()[0] : std::int64_t{-1};
  return {list_node(c, "TensorListStack", {c.dy(), row_shape_of(rows)}, std::move(attributes))};
}
inline gradient_list gradient_of_get_item(const gradient_call& c) {
  const output dy = c.dy();
  return {list_node(c, "TensorListSetItem", {unset_like(c, c.input(0), dy), c.input(1), dy})};
}
inline gradient_list gradient_of_set_item(const gradient_call& c) {
  const output dlist = c.dy(), at = c.input(1), item = c.input(2);
  output before = list_node(c, "TensorListSetItem", {dlist, at, zeros_like(item)});
  const output by_item = list_node(c, "TensorListGetItem", {dlist, at, shape_of(item)}, element_dtype_of(item));
  if (c.flag("resize_if_index_out_of_bounds")) before = list_node(c, "TensorListResize", {before, length_of(c, c.input(0))});
  return {before, {}, by_item};
}
inline gradient_list gradient_of_resize(const gradient_call& c) {
  return {list_node(c, "TensorListResize", {c.dy(), length_of(c, c.input(0))})};
}
inline gradient_list gradient_of_list_gather(const gradient_call& c) {
  const output dy = c.dy();
  return {list_node(c, "TensorListScatterIntoExistingList", {unset_like(c, c.input(0), dy), dy, c.input(1)})};
}
inline output gathered_rows(const gradient_call& c, const output& rows, const output& indices) {
  return list_node(c, "TensorListGather", {c.dy(), indices, row_shape_of(rows)}, element_dtype_of(rows));
}
inline gradient_list gradient_of_list_scatter(const gradient_call& c) { return {gathered_rows(c, c.input(0), c.input(1))}; }
inline gradient_list gradient_of_scatter_into(const gradient_call& c) {
  const output rows = c.input(1), indices = c.input(2);
  const output by_rows = gathered_rows(c, rows, indices);
  return {list_node(c, "TensorListScatterIntoExistingList", {c.dy(), zeros_like(rows), indices}), by_rows};
}

LEAT_FILL(fill_tensor_list_gradients) {
  enter_gradients({
      {"TensorListPushBack", gradient_of_push_back},
      {"TensorListPopBack", gradient_of_pop_back},
      {"TensorListStack", gradient_of_stack},
      {"TensorListConcat", gradient_of_list_concat},
      {"TensorListConcatV2", gradient_of_list_concat},
      {"TensorListSplit", gradient_of_list_split},
      {"TensorListFromTensor", gradient_of_from_tensor},
      {"TensorListGetItem", gradient_of_get_item},
      {"TensorListSetItem", gradient_of_set_item},
      {"TensorListResize", gradient_of_resize},
      {"TensorListGather", gradient_of_list_gather},
      {"TensorListScatter", gradient_of_list_scatter},
      {"TensorListScatterV2", gradient_of_list_scatter},
      {"TensorListScatterIntoExistingList", gradient_of_scatter_into},
  });
}

}  // namespace leat::detail
