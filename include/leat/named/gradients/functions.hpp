#pragma once
// Gradient functions of graphs with names, in a table by operator type, which programs can extend. A function takes a node and the
// gradients of its results, and returns those of its inputs, as new nodes. The library's own functions (gradient_math.hpp and its
// neighbors) make TensorFlow 1.x's nodes under the same names, so that training graphs can be compared and exchanged. An operator that is
// not in the table uses the `gradient` of its class, if that has one (gradient_writer.hpp).

#include <leat/core/fill.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/graph_operation.hpp>
#include <leat/named/graph/part.hpp>

namespace leat {

/// A gradient: a dense tensor, or a sparse one, which consists of rows at `indices` of a tensor of shape `dense_shape`; rows with equal
/// indices add up.
/// Source: TensorFlow `IndexedSlices`.
struct gradient_value {
  output values;
  output indices{};
  output dense_shape{};

  gradient_value() = default;
  gradient_value(const output& dense) : values(dense) {}
  gradient_value(const output& rows, const output& at, const output& extent) : values(rows), indices(at), dense_shape(extent) {}
  explicit operator bool() const { return static_cast<bool>(values); }
  /// Whether it is rows with their indices.
  bool is_sparse() const { return static_cast<bool>(indices); }
};

/// The argument of a gradient function.
class gradient_call {
 public:
  gradient_call(const graph_operation& node, std::vector<gradient_value> gradients, std::vector<bool> given = {})
      : node_(node), gradients_(std::move(gradients)), given_(std::move(given)) {}

  /// The graph of the operation.
  graph& owner() const { return node_.owner(); }
  /// The operation whose gradient is made.
  const graph_operation& operation() const { return node_; }
  /// Input `k`, including inputs that hold numeric attributes; `result(k)` is the node's own result.
  output input(int k = 0) const { return owner().named().input(owner(), node_.index(), k); }
  int input_count() const { return owner().named().input_count(owner(), node_.index()); }
  output result(int k = 0) const { return node_.result(k); }
  /// The gradient of result `k`, as a dense tensor; empty if there is none.
  output dy(int k = 0) const;
  /// Whether anything passes a gradient to result `k`; if not, `dy` is zeros, or empty.
  bool is_given(int k) const { return given_.empty() ? static_cast<bool>(slices(k)) : given_[static_cast<std::size_t>(k)]; }
  const gradient_value& slices(int k = 0) const { return gradients_[static_cast<std::size_t>(k)]; }
  const std::vector<gradient_value>& all() const { return gradients_; }

  /// Attributes of the node; for an absent one the given default, which is TensorFlow's.
  bool flag(std::string_view name, bool otherwise = false) const { return attribute(name, otherwise); }
  std::int64_t integer(std::string_view name, std::int64_t otherwise = 0) const { return attribute(name, otherwise); }
  attribute_map attributes(std::initializer_list<std::string_view> names) const {
    attribute_map some;
    for (auto name : names)
      if (const auto* a = node_.attributes().find(name)) some[name] = *a;
    return some;
  }

 private:
  template <class T>
  T attribute(std::string_view name, T otherwise) const {
    const auto* a = node_.attributes().find(name);
    const T* value = a != nullptr ? a->template get_if<T>() : nullptr;
    return value != nullptr ? *value : otherwise;
  }

  graph_operation node_;
  std::vector<gradient_value> gradients_;
  std::vector<bool> given_;
};

/// A gradient function: returns the gradients of a node's inputs in order. Inputs without a gradient get an empty one; at the end of the
/// list these may be omitted.
using gradient_function = std::function<std::vector<gradient_value>(const gradient_call&)>;

namespace detail {
/// A gradient as a dense tensor. Source: TensorFlow's conversion of `IndexedSlices`.
output densified(const gradient_value& v, std::string_view name = "UnsortedSegmentSum");
/// The gradient function of an operator type; empty if there is none.
gradient_function find_gradient(std::string_view type);
/// Registers a gradient function unless its type has one. `of_class`: it calls the gradient of the operator's class (class_gradient.hpp).
void enter_gradient(std::string_view type, gradient_function function, bool of_class = false);
/// Whether the gradient function of a type calls the gradient of its class.
bool is_class_gradient(std::string_view type);
LEAT_DECLARE_FILL(fill_array_gradients);
LEAT_DECLARE_FILL(fill_cell_gradients);
LEAT_DECLARE_FILL(fill_color_gradients);
LEAT_DECLARE_FILL(fill_control_flow_gradients);
LEAT_DECLARE_FILL(fill_diagonal_gradients);
LEAT_DECLARE_FILL(fill_einsum_gradients);
LEAT_DECLARE_FILL(fill_gather_gradients);
LEAT_DECLARE_FILL(fill_math_gradients);
LEAT_DECLARE_FILL(fill_image_gradients);
LEAT_DECLARE_FILL(fill_matrix_gradients);
LEAT_DECLARE_FILL(fill_nn_gradients);
LEAT_DECLARE_FILL(fill_pool_gradients);
LEAT_DECLARE_FILL(fill_scatter_gradients);
LEAT_DECLARE_FILL(fill_special_gradients);
LEAT_DECLARE_FILL(fill_quantized_gradients);
LEAT_DECLARE_FILL(fill_ragged_gradients);
LEAT_DECLARE_FILL(fill_sparse_gradients);
LEAT_DECLARE_FILL(fill_sparse_row_gradients);
LEAT_DECLARE_FILL(fill_tensor_array_gradients);
LEAT_DECLARE_FILL(fill_tensor_list_gradients);
}  // namespace detail

inline output gradient_call::dy(int k) const { return detail::densified(slices(k)); }

/// Registers the gradient of an operator type in graphs with names: `register_gradient("Print", [](const gradient_call& c) {
/// return std::vector<gradient_value>{c.dy()}; })`. The function runs in the scope "gradients/NODE_grad/" of the default graph, where
/// it can use the library's functions. It replaces the previous one of the type. Thread-safe.
/// Source: TensorFlow `RegisterGradient`.
void register_gradient(std::string_view type, gradient_function function);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/gradients/impl/functions.hpp>
#endif
