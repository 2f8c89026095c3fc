#pragma once
// Nodes without operands: feeds, variables, constants and numbers.

#include <bit>
#include <leat/graph/build.hpp>

namespace leat {

namespace detail {
template <op_kind Kind>
struct leaf_definition {
  static constexpr op_kind kind = Kind;
  static constexpr inference infer(const operand_list&) { return inference::wrong("a leaf has no operands"); }
};
}  // namespace detail

/// Fed in each run. Source: TensorFlow `Placeholder`.
struct placeholder_op : detail::leaf_definition<op_kind::placeholder> {
  static constexpr std::string_view type = "Placeholder";
};
/// A value that a session keeps between runs. Source: TensorFlow `VariableV2`.
struct variable_op : detail::leaf_definition<op_kind::variable> {
  static constexpr std::string_view type = "VariableV2";
};
/// A variable in files of TensorFlow up to 1.0. Source: TensorFlow `Variable`.
struct first_variable_op : detail::leaf_definition<op_kind::variable> {
  static constexpr std::string_view type = "Variable";
};
/// A variable of today's TensorFlow, which other nodes take by its handle. The row stands for the variable itself, so that it has the
/// variable's dtype and shape and not those of a handle. Source: TensorFlow `VarHandleOp`.
struct handle_variable_op : detail::leaf_definition<op_kind::variable> {
  static constexpr std::string_view type = "VarHandleOp";
};
/// One value in every element, known at compile time. Attribute: the bits of the value. Source: TensorFlow `Const`.
struct constant_op : detail::leaf_definition<op_kind::constant> {
  static constexpr std::string_view type = "Const";
};
/// A value that travels with the expression: a literal, a parameter or, with dimensions, the elements of a constant array. Attributes:
/// none; or the id under which expressions carry it; and a second attribute for a literal that is a divisor of integers and is known not to
/// be 0. Source: TensorFlow `PlaceholderWithDefault`.
struct number_op : detail::leaf_definition<op_kind::number> {
  static constexpr std::string_view type = "PlaceholderWithDefault";
};
inline constexpr int divisor_number_attributes = 2;
/// Product of dimensions, as a scalar. Attributes: the dimensions. Source: TensorFlow `Size`.
struct extent_op : detail::leaf_definition<op_kind::extent> {
  static constexpr std::string_view type = "Size";
};
/// Position along an axis, as an array of the given shape. Attribute: the axis. Source: TensorFlow `Range`, broadcast.
struct index_op : detail::leaf_definition<op_kind::index> {
  static constexpr std::string_view type = "Range";
};
/// The number of attributes of positions that count the directions of a derivative: the axis, and 1. Other positions have the axis alone.
inline constexpr int direction_attributes = 2;
/// One model's slice of an array that holds all models; occurs only in the graph of one model. `vmap` passes such nodes to its function.
struct model_op : detail::leaf_definition<op_kind::placeholder> {
  static constexpr std::string_view type = "leat.OneModel";
};

namespace detail {
// The bits that represent a constant: those of a double for floating-point types, otherwise the integer.
constexpr std::int64_t bits_of(dtype type, double value) {
  return is_floating(type) ? std::bit_cast<std::int64_t>(type == dtype::float32 ? static_cast<double>(static_cast<float>(value)) : value)
                           : static_cast<std::int64_t>(value);
}
constexpr double value_of_bits(dtype type, std::int64_t bits) {
  return is_floating(type) ? std::bit_cast<double>(bits) : static_cast<double>(bits);
}
}  // namespace detail

/// A constant with one value in every element.
constexpr output constant(graph& g, dtype type, const shape& extent, double value) {
  if (g.names() != nullptr) return g.names()->make_number(g, {type, extent}, value);
  const std::int64_t bits = detail::bits_of(type, value);
  std::uint64_t key = mix(mix(static_cast<std::uint64_t>(bits), static_cast<std::uint64_t>(type)), 11);
  for (int i = 0; i < extent.rank; ++i) key = mix(key, static_cast<std::uint64_t>(extent[i]));
  if (const int known = g.find(key); known >= 0) return {g, known};
  const std::int64_t attribute[]{bits};
  const int index = g.add_leaf(info_of<constant_op>, {type, extent}, {}, key, attribute);
  g.remember(key, index);
  return {g, index};
}

/// A scalar constant of the graph and dtype of `like`.
constexpr output constant_like(const output& like, double value) { return constant(like.owner(), like.type(), {}, value); }

/// The number of elements along some dimensions, as a scalar: a constant if all are static.
constexpr output extent_of(graph& g, dtype type, const shape& dimensions) {
  if (dimensions.is_static()) return constant(g, type, {}, static_cast<double>(dimensions.elements()));
  std::uint64_t key = mix(static_cast<std::uint64_t>(type), 13);
  std::int64_t named[max_rank]{};
  std::int64_t fixed = 1;
  int n = 1;
  for (int i = 0; i < dimensions.rank; ++i) {
    if (dimensions[i] < 0)
      named[n++] = dimensions[i];
    else
      fixed *= dimensions[i];
  }
  named[0] = fixed;
  for (int i = 0; i < n; ++i) key = mix(key, static_cast<std::uint64_t>(named[i]));
  if (const int known = g.find(key); known >= 0) return {g, known};
  const int index = g.add_leaf(info_of<extent_op>, {type, {}}, {}, key, {named, static_cast<std::size_t>(n)});
  g.remember(key, index);
  return {g, index};
}

/// An array of shape `extent` that holds each element's position along `axis`.
constexpr output index_along(graph& g, dtype type, const shape& extent, int axis, bool of_directions = false) {
  std::uint64_t key = mix(mix(static_cast<std::uint64_t>(type), of_directions ? 23 : 17), static_cast<std::uint64_t>(axis));
  for (int i = 0; i < extent.rank; ++i) key = mix(key, static_cast<std::uint64_t>(extent[i]));
  if (const int known = g.find(key); known >= 0) return {g, known};
  const std::int64_t attribute[]{axis, 1};
  const int index = g.add_leaf(info_of<index_op>, {type, extent}, {}, key, {attribute, of_directions ? direction_attributes : 1u});
  g.remember(key, index);
  return {g, index};
}

}  // namespace leat
