#pragma once
// Implementation of gradient_functions.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/graph/older_spellings.hpp>
#include <leat/named/functions/shape.hpp>
#include <leat/named/gradients/functions.hpp>

#include <mutex>
#include <unordered_map>

namespace leat {

namespace detail {

struct gradient_function_table {
  std::mutex guard;
  struct entry {
    gradient_function function;
    bool of_class = false;
  };
  std::unordered_map<std::string, entry> by_type;
};
inline gradient_function_table& gradient_functions() {
  static auto& table = *new gradient_function_table;
  static constinit table_fills fills;
  fills.run({LEAT_FILLS(fill_array_gradients, fill_cell_gradients, fill_color_gradients, fill_control_flow_gradients,
                        fill_diagonal_gradients, fill_einsum_gradients, fill_gather_gradients, fill_image_gradients, fill_math_gradients,
                        fill_matrix_gradients, fill_nn_gradients, fill_pool_gradients, fill_quantized_gradients, fill_ragged_gradients, fill_scatter_gradients,
                        fill_special_gradients, fill_sparse_gradients, fill_sparse_row_gradients, fill_tensor_array_gradients,
                        fill_tensor_list_gradients)});
  return table;
}
// The entry of a type, or that of its current spelling: of some older ones, TensorFlow's gradient has other nodes. The guard is held.
inline const gradient_function_table::entry* gradient_entry(const gradient_function_table& table, std::string_view type) {
  auto at = table.by_type.find(std::string(type));
  if (at == table.by_type.end()) at = table.by_type.find(std::string(current_spelling(type)));
  return at == table.by_type.end() ? nullptr : &at->second;
}
LEAT_FUNCTION gradient_function find_gradient(std::string_view type) {
  auto& table = gradient_functions();
  const std::lock_guard lock(table.guard);
  const auto* const found = gradient_entry(table, type);
  return found == nullptr ? gradient_function{} : found->function;
}
LEAT_FUNCTION void enter_gradient(std::string_view type, gradient_function function, bool of_class) {
  auto& table = gradient_functions();
  const std::lock_guard lock(table.guard);
  table.by_type.try_emplace(std::string(type), gradient_function_table::entry{std::move(function), of_class});
}
LEAT_FUNCTION bool is_class_gradient(std::string_view type) {
  auto& table = gradient_functions();
  const std::lock_guard lock(table.guard);
  const auto* const found = gradient_entry(table, type);
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
  auto& table = detail::gradient_functions();
  const std::lock_guard lock(table.guard);
  table.by_type[std::string(type)] = {std::move(function), false};
}

}  // namespace leat
