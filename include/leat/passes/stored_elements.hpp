#pragma once
// Arrays that are read and written element by element, each element a node of its own, where small arrays have become scalars
// (passes/unroll.hpp).

#include <leat/core/list.hpp>
#include <leat/passes/simplify.hpp>

namespace leat::passes {

/// An element of a stored array. Attribute: its position in row-major order.
struct take_element_op {
  static constexpr std::string_view type = "TakeElement";
  static constexpr op_kind kind = op_kind::view;
  static constexpr inference infer(const operand_list& x) { return {x.type(0), {}}; }
};

/// The array of these scalars, in row-major order. Attributes: its dimensions.
struct assemble_op {
  static constexpr std::string_view type = "Assemble";
  static constexpr op_kind kind = op_kind::element;
  static constexpr inference infer(const operand_list& x) {
    inference got{x.type(0), {}};
    for (int i = 0; i < x.attribute_count; ++i) got.extent.push(x.attribute(i));
    return got;
  }
};

/// Writes these scalars to the elements of a variable, in row-major order.
struct assign_elements_op {
  static constexpr std::string_view type = "AssignElements";
  static constexpr op_kind kind = op_kind::assign;
  static constexpr inference infer(const operand_list& x) { return {x.type(0), x.extent(0)}; }
};

/// Whether a node stores scalars as the elements of an array, with an instruction for each.
constexpr bool stores_elements(const node& n) {
  const int code = n.op->code;  // compared without calls, because constant evaluation would pay for one per node
  return code == operator_record<assemble_op>::code || code == operator_record<assign_elements_op>::code;
}

namespace detail {

/// The control inputs of a node that is copied to another graph; `whole(i)` is the array there for node i.
template <class Whole>
constexpr list<int> controls_in(const graph& from, const node& n, Whole whole) {
  list<int> controls;
  for (int k = 0; k < n.control_count; ++k) controls.push_back(whole(from.control(n, k)));
  return controls;
}
/// Copies a node to another graph; returns its index there.
template <class Whole>
constexpr int copy_node(const graph& from, const node& n, graph& to, Whole whole) {
  const list_view<std::int64_t> attributes(from.numbers.data() + n.attributes, static_cast<std::size_t>(n.attribute_count));
  if (n.input_count == 0 && n.control_count == 0 && n.op->kind != op_kind::group)
    return to.add_leaf(*n.op, n.result, n.name, n.id, attributes);
  int inputs[graph::max_operands];
  for (int k = 0; k < n.input_count; ++k) inputs[k] = whole(from.input(n, k));
  return to.add(*n.op, {inputs, static_cast<std::size_t>(n.input_count)}, attributes, controls_in(from, n, whole));
}

}  // namespace detail

}  // namespace leat::passes
