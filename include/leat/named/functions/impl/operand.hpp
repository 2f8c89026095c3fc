#pragma once
// Implementation of named_operand.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/definitions/defined.hpp>
#include <leat/named/functions/operand.hpp>
#include <leat/named/graph/part.hpp>
#include <leat/named/scopes/scopes.hpp>
#include <leat/ops/known.hpp>
#include <leat/ops/state.hpp>

namespace leat {

LEAT_FUNCTION operand_value::operand_value(tensor_literal literal) : literal_(std::make_unique<tensor_literal>(std::move(literal))) {}
LEAT_FUNCTION operand_value::operand_value(const operand_value& other)
    : tensor_(other.tensor_), literal_(other.literal_ != nullptr ? std::make_unique<tensor_literal>(*other.literal_) : nullptr) {}
LEAT_FUNCTION operand_value& operand_value::operator=(const operand_value& other) { return *this = operand_value(other); }

LEAT_FUNCTION shape_value::shape_value(std::span<const std::int64_t> sizes) {
  if (sizes.size() > static_cast<std::size_t>(max_rank)) throw invalid_argument("a shape of more than 8 dimensions");
  for (auto d : sizes) push(d < 0 && !is_named(d) ? unknown_dimension : d);
}

}  // namespace leat

namespace leat::detail {

template <class Operand>
graph& graph_of_first(std::span<const Operand> operands) {
  for (const auto& o : operands)
    if (o.tensor() != nullptr && static_cast<bool>(*o.tensor())) return o.tensor()->owner();
  return default_graph();
}
LEAT_FUNCTION graph& graph_of(std::span<const operand_value> operands) { return graph_of_first(operands); }

LEAT_FUNCTION output call_named(const op_info& op, std::initializer_list<operand_view> operands, std::span<const std::int64_t> numbers,
                                std::string_view name, std::string_view default_name, const std::source_location& where, int like_from,
                                std::span<const number_argument> arguments) {
  const std::span<const operand_view> all(operands.begin(), operands.size());
  graph& g = graph_of_first(all);
  const source_scope line(g, where);
  const auto type_beside = [&] {  // the dtype of the operand that is a tensor: a scalar value is converted to it
    for (std::size_t k = static_cast<std::size_t>(like_from); k < all.size(); ++k)
      if (all[k].tensor() != nullptr && all[k].tensor()->type() != dtype::invalid) return all[k].tensor()->type();
    return dtype::invalid;
  };
  short_list<output, 4> tensors;
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (const auto* tensor = all[k].tensor()) {
      tensors.push_back(*tensor);
      continue;
    }
    const tensor_literal& literal = *all[k].literal();
    const dtype own = array_dtype(literal.type()), beside = type_beside();
    const bool is_real = is_number(own);
    const bool converts =
        static_cast<int>(k) >= like_from &&
        (is_complex(beside) ? is_real || is_complex(own) : is_number(beside) && is_real && (is_floating(beside) || is_integer(own)));
    tensors.push_back(g.named().make_literal(g, converts ? literal.as(beside) : literal));
  }
  return g.named().build(g, op, {tensors.data(), tensors.size()}, numbers, name.empty() ? default_name : name, arguments);
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION output placeholder(dtype type, const shape_value& extent, std::string_view name, const std::source_location& where) {
  graph& g = default_graph();
  const source_scope line(g, where);
  return g.named().make_leaf(g, info_of<placeholder_op>, {type, extent}, name, {});
}

LEAT_FUNCTION graph_operation no_op(std::string_view name, const std::source_location& where) {
  graph& g = default_graph();
  const source_scope line(g, where);
  return g.named().build(g, info_of<group_op>, {}, {}, name).operation();
}

LEAT_FUNCTION graph_operation group(const std::vector<control_input>& inputs, std::string_view name, const std::source_location& where) {
  graph& g = inputs.empty() ? default_graph() : inputs.front().owner();
  named_part& nodes = g.named();
  const source_scope line(g, where);
  const name_scope scope(g, name);
  const std::string exact = scope.text();
  std::map<std::string, std::vector<int>> by_device;
  for (const auto& c : inputs)
    if (&c.owner() != &g)
      throw invalid_argument("group: the node '" + graph_operation(c.owner(), c.index()).name() + "' is not an element of this graph.");
  for (const auto& c : inputs) by_device[graph_operation(g, c.index()).device()].push_back(c.index());
  const auto wait_for = [&](std::vector<int> these, const std::string& where_to, std::string_view its_name) {
    nodes.controls.push_back({std::move(these), {}});
    nodes.devices.push_back({.spec = parse_device(where_to), .function = {}});
    const struct pop {
      named_part& of;
      ~pop() {
        of.controls.pop_back();
        of.devices.pop_back();
      }
    } back{nodes};
    return nodes.build(g, info_of<group_op>, {}, {}, its_name);
  };
  if (by_device.size() <= 1)
    return wait_for(by_device.empty() ? std::vector<int>{} : by_device.begin()->second, by_device.empty() ? "" : by_device.begin()->first,
                    exact)
        .operation();
  std::vector<int> parts;
  for (auto& [its_device, these] : by_device) parts.push_back(wait_for(these, its_device, {}).index());
  return wait_for(std::move(parts), "", exact).operation();
}

LEAT_FUNCTION std::vector<output> tuple(const std::vector<output>& tensors, std::string_view name,
                                        const std::vector<control_input>& control, const std::source_location& where) {
  if (tensors.empty()) throw invalid_argument("Must have at least one Tensor to make a tuple of");
  graph& g = tensors.front().owner();
  named_part& nodes = g.named();
  const name_scope scope(g, name);
  std::vector<int> order;
  for (const output& t : tensors) order.push_back(t.index());
  for (const control_input& c : control) order.push_back(c.index());
  std::sort(order.begin(), order.end());
  order.erase(std::unique(order.begin(), order.end()), order.end());
  std::vector<control_input> all;
  for (int index : order) all.push_back(graph_operation(g, index));
  const graph_operation gate = group(all, "group_deps", where);
  std::vector<output> result;
  for (const output& t : tensors) {
    const colocate_with there(t);
    nodes.controls.push_back({{gate.index()}, {}});
    const struct pop {
      named_nodes& of;
      ~pop() { of.controls.pop_back(); }
    } back{nodes};
    result.push_back(detail::call_named(info_of<identity_op>, {t}, {}, "control_dependency", {}, where));
  }
  return result;
}

LEAT_FUNCTION output constant(const tensor_literal& value, std::string_view name, const std::source_location& where) {
  graph& g = default_graph();
  const source_scope line(g, where);
  return g.named().make_constant(g, value, name);
}

LEAT_FUNCTION output identity(const operand_value& x, std::string_view name, const std::source_location& where) {
  return detail::call_named(info_of<identity_op>, {x}, {}, name, "Identity", where);
}

LEAT_FUNCTION output constant(const tensor_literal& value, const shape_value& extent, std::string_view name,
                              const std::source_location& where) {
  return constant(value.shaped(extent), name, where);
}

LEAT_FUNCTION output constant(const tensor_literal& value, dtype type, std::string_view name, const std::source_location& where) {
  return constant(value.as(type), name, where);
}

LEAT_FUNCTION output zeros_of(const shape_value& extent, dtype type, std::string_view name, const std::source_location& where) {
  return constant(tensor_literal(type, extent, 0), name, where);
}

LEAT_FUNCTION output ones_of(const shape_value& extent, dtype type, std::string_view name, const std::source_location& where) {
  return constant(tensor_literal(type, extent, 1), name, where);
}

LEAT_FUNCTION graph_operation group(std::initializer_list<control_input> inputs, std::string_view name, const std::source_location& where) {
  return group(std::vector<control_input>(inputs), name, where);
}

}  // namespace leat
