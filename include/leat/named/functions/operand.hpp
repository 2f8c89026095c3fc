#pragma once
// Common to functions of named graphs: operands, which may be tensors or plain values; constants, placeholders, identities. Every function
// takes a name after its own arguments, and records the source line of its call. Errors of all functions: invalid_argument, with
// TensorFlow's message, for operands of different graphs, or whose dtypes or shapes do not fit.

#include <leat/core/function_bodies.hpp>
#include <leat/named/scopes/scopes.hpp>
#include <leat/ops/state.hpp>
#ifndef LEAT_SEPARATE_COMPILATION
#include <leat/named/definitions/defined.hpp>
#include <leat/ops/known.hpp>
#endif

namespace leat {

/// An operand of `add`, `matmul` and the like: a tensor, or a value that becomes a constant. A scalar value takes the dtype of the tensor
/// that is the other operand.
class operand_value {
 public:
  operand_value(const output& tensor) : tensor_(tensor) {}
  operand_value(tensor_literal literal);
  operand_value(const operand_value&);
  operand_value(operand_value&&) noexcept = default;
  operand_value& operator=(const operand_value&);
  operand_value& operator=(operand_value&&) noexcept = default;
  ~operand_value() = default;
  template <class T>
    requires(value_element<T> || std::is_convertible_v<T, std::string>)
  operand_value(const T& value) : operand_value(tensor_literal(value)) {}
  template <value_element T>
  operand_value(const std::vector<T>& values) : operand_value(tensor_literal(values)) {}
  template <value_element T>
  operand_value(std::initializer_list<T> values) : operand_value(tensor_literal(values)) {}
  template <value_element T>
  operand_value(std::initializer_list<std::initializer_list<T>> rows) : operand_value(tensor_literal(rows)) {}

  const output* tensor() const { return literal_ == nullptr ? &tensor_ : nullptr; }
  const tensor_literal* literal() const { return literal_.get(); }

 private:
  output tensor_;
  std::unique_ptr<tensor_literal> literal_;  // null for a tensor, so that such an operand allocates no memory
};

/// The dimensions of a shape: `{2, 3}`; in `{-1, 3}` the first is unknown.
class shape_value : public shape {
 public:
  shape_value(const shape& s) : shape(s) {}
  shape_value(std::initializer_list<std::int64_t> sizes) : shape_value(std::span<const std::int64_t>(sizes.begin(), sizes.size())) {}
  explicit shape_value(std::span<const std::int64_t> sizes);
};
/// A shape of unknown rank.
inline const shape_value unknown_shape{shape::unknown()};

namespace detail {

// A view of an operand, which the caller owns, for the duration of a call.
class operand_view {
 public:
  operand_view(const operand_value& value) : tensor_(value.tensor()), literal_(value.literal()) {}
  operand_view(const output& tensor) : tensor_(&tensor) {}
  const output* tensor() const { return tensor_; }
  const tensor_literal* literal() const { return literal_; }

 private:
  const output* tensor_;
  const tensor_literal* literal_ = nullptr;
};

graph& graph_of(std::span<const operand_value> operands);

// A node whose operands have one dtype. A value becomes a constant, named after the operator.
output call_named(const op_info& op, std::initializer_list<operand_view> operands, std::span<const std::int64_t> numbers,
                  std::string_view name, std::string_view default_name, const std::source_location& where, int like_from = 0,
                  std::span<const number_argument> arguments = {});

}  // namespace detail

/// A constant in the default graph, of the value's dtype. With a shape, the last element is repeated to fill it.
/// Errors: invalid_argument for a malformed name, and for more values than the shape has elements. Source: `constant`.
output constant(const tensor_literal& value, std::string_view name = "Const",
                const std::source_location& where = std::source_location::current());
output constant(const tensor_literal& value, const shape_value& extent, std::string_view name = "Const",
                const std::source_location& where = std::source_location::current());
output constant(const tensor_literal& value, dtype type, std::string_view name = "Const",
                const std::source_location& where = std::source_location::current());

/// A tensor that is fed in each run. Dimensions of -1 are unknown; without a shape the rank is unknown, too. Source: `placeholder`.
output placeholder(dtype type, const shape_value& extent = unknown_shape, std::string_view name = "Placeholder",
                   const std::source_location& where = std::source_location::current());

/// x as a node of its own, which waits for the control dependencies around it. Shapes and dtypes: result like x. Source: `identity`.
output identity(const operand_value& x, std::string_view name = {}, const std::source_location& where = std::source_location::current());

/// Zeros of a static shape, as one constant. Source: `zeros`.
output zeros_of(const shape_value& extent, dtype type = dtype::float32, std::string_view name = "zeros",
                const std::source_location& where = std::source_location::current());
/// Ones of a static shape, as one constant. Source: `ones`.
output ones_of(const shape_value& extent, dtype type = dtype::float32, std::string_view name = "ones",
               const std::source_location& where = std::source_location::current());

namespace detail {
template <>
struct filled_by_leat_graphs_hpp<initializer_kind::zeros> {
  static output make(const shape_value& extent, dtype type, std::string_view name, const std::source_location& where) {
    return zeros_of(extent, type, name.empty() ? "zeros" : name, where);
  }
};
template <>
struct filled_by_leat_graphs_hpp<initializer_kind::ones> {
  static output make(const shape_value& extent, dtype type, std::string_view name, const std::source_location& where) {
    return ones_of(extent, type, name.empty() ? "ones" : name, where);
  }
};
}  // namespace detail

// ---- groups ---------------------------------------------------------------------------------------------------------

/// An operation that does nothing. Source: `no_op`.
graph_operation no_op(std::string_view name = "NoOp", const std::source_location& where = std::source_location::current());

/// An operation that completes when all of these have. Nodes on several devices are first grouped per device.
/// Source: `group`.
graph_operation group(const std::vector<control_input>& inputs, std::string_view name = "group_deps",
                      const std::source_location& where = std::source_location::current());
graph_operation group(std::initializer_list<control_input> inputs, std::string_view name = "group_deps",
                      const std::source_location& where = std::source_location::current());
/// `group` for a vector of tensors or operations, or the result of `get_collection`.
template <class Item>
  requires(std::is_convertible_v<const Item&, control_input>)
graph_operation group(const std::vector<Item>& inputs, std::string_view name = "group_deps",
                      const std::source_location& where = std::source_location::current()) {
  return group(std::vector<control_input>(inputs.begin(), inputs.end()), name, where);
}
/// `group(a, b)` for tensors and operations as arguments.
template <class... Inputs>
  requires(sizeof...(Inputs) > 0 && (std::is_convertible_v<const Inputs&, control_input> && ...))
graph_operation group(const Inputs&... inputs) {
  return group(std::vector<control_input>{inputs...});
}

/// The tensors unchanged, but available only when all of them and `control` have been computed. Source: `tuple`.
std::vector<output> tuple(const std::vector<output>& tensors, std::string_view name = "tuple",
                          const std::vector<control_input>& control = {},
                          const std::source_location& where = std::source_location::current());

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/functions/impl/operand.hpp>
#endif
