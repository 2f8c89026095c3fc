#pragma once
// Definitions of lists of tensors, whose edges have dtype variant. They have no effects: a node that changes a list gives another one.

#include <leat/core/fill.hpp>
#include <leat/named/definitions/shapes.hpp>

namespace leat::detail {

// The shape that input `k` gives for the elements, with a dimension in front.
inline void stacked_list_shape(shape_context& c, int k, std::int64_t count) {
  const shape element = c.input(k).extent.has_rank() && c.input(k).extent.rank == 0 ? shape::unknown() : shapes::from_numbers(c, k);
  if (!element.has_rank() || element.rank == max_rank) return;
  shape all = shapes::vector_of(count);
  for (int i = 0; i < element.rank; ++i) all.push(element[i]);
  c.set(0, all);
}

LEAT_FILL(fill_tensor_list_definitions) {
  const facts keeps{.is = nature::inert, .work = work_kind::none, .narrow = narrow_rule::moves};
  const facts stops{.is = nature::inert, .work = work_kind::none, .narrow = narrow_rule::moves, .stops_gradient = true};
  // In the loop of a gradient these are asked of the forward loop, which then keeps numbers instead of lists.
  const facts sizes{.is = nature::inert, .work = work_kind::none, .depends_on = looks_at::list_size, .stops_gradient = true};
  const auto list = [](shape_context& c) { c.set(0, shapes::scalar); };
  const std::string of = "; element_dtype: type", sized = of + "; shape_type: {int32, int64}";
  define_operator("EmptyTensorList(element_shape: shape_type, max_num_elements: int32) -> (handle: variant)" + sized, stops, list);
  define_operator("TensorListReserve(element_shape: shape_type, num_elements: int32) -> (handle: variant)" + sized, stops, list);
  define_operator("TensorListFromTensor(tensor: element_dtype, element_shape: shape_type) -> (output_handle: variant)" + sized, keeps,
                  list);
  define_operator("TensorListPushBack(input_handle: variant, tensor: element_dtype) -> (output_handle: variant)" + of, keeps, list);
  define_operator("TensorListPopBack(input_handle: variant, element_shape: int32) -> (output_handle: variant, tensor: element_dtype)" + of,
                  keeps, list);
  define_operator("TensorListGetItem(input_handle: variant, index: int32, element_shape: Tshape) -> (item: element_dtype)" + of +
                      "; Tshape: {int32, int64} = int32",
                  keeps, [](shape_context& c) {
                    shapes::want_rank(c, 1, 0);
                    if (c.input(2).extent.has_rank() && c.input(2).extent.rank == 1) c.set(0, shapes::from_numbers(c, 2));
                  });
  define_operator("TensorListSetItem(input_handle: variant, index: int32, item: element_dtype) -> (output_handle: variant)" + of +
                      "; resize_if_index_out_of_bounds: bool = false",
                  keeps, [](shape_context& c) {
                    shapes::want_rank(c, 1, 0);
                    c.set(0, shapes::scalar);
                  });
  define_operator(
      "TensorListStack(input_handle: variant, element_shape: int32) -> (tensor: element_dtype)" + of + "; num_elements: int = -1", keeps,
      [](shape_context& c) { stacked_list_shape(c, 1, c.integer("num_elements")); });
  define_operator("TensorListGather(input_handle: variant, indices: int32, element_shape: int32) -> (values: element_dtype)" + of, keeps,
                  [](shape_context& c) {
                    shapes::want_rank(c, 1, 1);
                    stacked_list_shape(c, 2, c.input(1).extent.has_rank() ? c.input(1).extent[0] : unknown_dimension);
                  });
  const auto joined = [](shape_context& c) { c.set(1, shapes::vector_of(unknown_dimension)); };
  define_operator("TensorListConcat(input_handle: variant) -> (tensor: element_dtype, lengths: int64)" + of + "; element_shape: shape = ?",
                  keeps, joined);
  define_operator(
      "TensorListConcatV2(input_handle: variant, element_shape: shape_type, leading_dims: int64) -> (tensor: element_dtype, lengths: "
      "int64)" +
          sized,
      keeps, joined);
  define_operator("TensorListSplit(tensor: element_dtype, element_shape: shape_type, lengths: int64) -> (output_handle: variant)" + sized,
                  keeps, list);
  define_operator("TensorListScatter(tensor: element_dtype, indices: int32, element_shape: shape_type) -> (output_handle: variant)" + sized,
                  keeps, list);
  define_operator(
      "TensorListScatterV2(tensor: element_dtype, indices: int32, element_shape: shape_type, num_elements: int32) -> (output_handle: "
      "variant)" +
          sized,
      keeps, list);
  define_operator(
      "TensorListScatterIntoExistingList(input_handle: variant, tensor: element_dtype, indices: int32) -> (output_handle: variant)" + of,
      keeps, list);
  define_operator("TensorListResize(input_handle: variant, size: int32) -> (output_handle: variant)", keeps, list);
  define_operator("TensorListConcatLists(input_a: variant, input_b: variant) -> (output: variant)" + of, stops, list);
  define_operator("TensorListElementShape(input_handle: variant) -> (element_shape: shape_type); shape_type: {int32, int64}", sizes);
  define_operator("TensorListLength(input_handle: variant) -> (length: int32)", sizes, shapes::numbers);
}

}  // namespace leat::detail
