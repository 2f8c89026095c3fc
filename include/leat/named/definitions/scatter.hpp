#pragma once
// Definitions of operators that write elements by index into copies of arrays, or into arrays that a value fills. Source: TensorFlow's
// operators of the same names.

#include <leat/core/fill.hpp>
#include <leat/named/definitions/shapes.hpp>

namespace leat::detail {

LEAT_FILL(fill_scatter_definitions) {
  constexpr facts pure{.is = nature::pure, .work = work_kind::scattered};
  const std::string rest = "; Tindices: {int32, int64}";
  for (const char* type : {"TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub", "TensorScatterMin", "TensorScatterMax"})
    define_operator(std::string(type) + "(tensor: T, indices: Tindices, updates: T) -> (output: T)" + rest, pure, shapes::like<0>);
  define_operator("ScatterNdNonAliasingAdd(input: T, indices: Tindices, updates: T) -> (output: T)" + rest, pure, shapes::like<0>);
  for (const char* type : {"InplaceUpdate", "InplaceAdd", "InplaceSub"})
    define_operator(std::string(type) + "(x: T, i: int32, v: T) -> (y: T)",
                    {.is = nature::pure,
                     .work = work_kind::scattered,
                     .narrow = type == std::string("InplaceUpdate") ? narrow_rule::moves : narrow_rule::exact},
                    shapes::like<0>);
  define_operator(
      "TensorStridedSliceUpdate(input: T, begin: Index, end: Index, strides: Index, value: T) -> (output: T); Index: {int32, "
      "int64}; begin_mask: int = 0; end_mask: int = 0; ellipsis_mask: int = 0; new_axis_mask: int = 0; shrink_axis_mask: int = 0",
      {.is = nature::pure, .work = work_kind::scattered, .narrow = narrow_rule::moves, .values = {1, 3}}, shapes::like<0>);
  define_operator(
      "SparseToDense(sparse_indices: Tindices, output_shape: Tindices, sparse_values: T, default_value: T) -> (dense: T); "
      "validate_indices: bool = true; Tindices: {int32, int64}",
      {.is = nature::pure, .work = work_kind::scattered, .values = {1, 1}}, [](shape_context& c) { c.set(0, shapes::from_numbers(c, 1)); });
}

}  // namespace leat::detail
