#pragma once
// Implementation of gradient_functions.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/graph/older_spellings.hpp>
#include <leat/named/functions/shape.hpp>
#include <leat/named/gradients/functions.hpp>

#include <memory>

namespace leat {

namespace detail {

// The gradient of a type, or that of its current spelling: of some older ones, TensorFlow's gradient has other nodes.
inline std::shared_ptr<const named_gradient> gradient_of_type(std::string_view type) {
  return find_by_spelling(gradient_functions(), type, &operator_entry::gradient);
}
LEAT_FUNCTION gradient_function find_gradient(std::string_view type) {
  const auto found = gradient_of_type(type);
  return found == nullptr ? gradient_function{} : found->function;
}
LEAT_FUNCTION void enter_gradient(std::string_view type, gradient_function function, bool of_class) {
  gradient_functions().enter(type, &operator_entry::gradient,
                             std::make_shared<const named_gradient>(named_gradient{std::move(function), of_class}));
}
LEAT_FUNCTION bool is_class_gradient(std::string_view type) {
  const auto found = gradient_of_type(type);
  return found != nullptr && found->of_class;
}

LEAT_FUNCTION output densified(const gradient_value& v, std::string_view name) {
  if (!v.is_sparse()) return v.values;
  graph& g = v.values.owner();
  const output count =
      raw_named(
          g, "StridedSlice", "strided_slice",
          {{"input", v.dense_shape}, {"stack", tensor_literal({0})}, {"stack_1", tensor_literal({1})}, {"stack_2", tensor_literal({1})}},
          {{"T", v.dense_shape.type()},
           {"Index", dtype::int32},
           {"begin_mask", 0},
           {"end_mask", 0},
           {"ellipsis_mask", 0},
           {"new_axis_mask", 0},
           {"shrink_axis_mask", 1}},
          {{v.dense_shape.type(), {}}}, std::source_location())
          .result();
  shape extent = v.values.extent();
  if (extent.rank > 0) extent.dim[0] = unknown_dimension;
  return g.named()
      .raw(g, "UnsortedSegmentSum", std::array{v.values, v.indices, count},
           {{"T", v.values.type()}, {"Tindices", v.indices.type()}, {"Tnumsegments", count.type()}}, {{v.values.type(), extent}}, name)
      .result();
}

}  // namespace detail

LEAT_FUNCTION void register_gradient(std::string_view type, gradient_function function) {
  detail::gradient_functions().replace(type, &detail::operator_entry::gradient,
                                       std::make_shared<const detail::named_gradient>(detail::named_gradient{std::move(function)}));
}

}  // namespace leat
