#pragma once
// Shared by the gradient functions of graphs with names: how they are registered, and the nodes that they make.

#include <leat/graph/known_operators.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/named/functions/random.hpp>
#include <leat/named/functions/shape.hpp>
#include <leat/named/gradients/functions.hpp>
#include <leat/named/graph/convert.hpp>
#include <leat/ops/add_n.hpp>

#include <concepts>

namespace leat::detail {

using gradient_list = std::vector<gradient_value>;
/// A gradient of the library: a function of its own, or one that calls the gradient of the operator's class.
struct library_gradient {
  gradient_list (*function)(const gradient_call&);
  bool is_of_class;
  constexpr library_gradient(gradient_list (*f)(const gradient_call&), bool of_class = false) : function(f), is_of_class(of_class) {}
  template <std::convertible_to<gradient_list (*)(const gradient_call&)> F>
  constexpr library_gradient(F f) : library_gradient(static_cast<gradient_list (*)(const gradient_call&)>(f)) {}
};
/// Registers the library's own functions, once; a function that the program registered earlier stays.
inline bool enter_gradients(std::initializer_list<std::pair<std::string_view, library_gradient>> gradients) {
  for (const auto& [type, g] : gradients) enter_gradient(type, g.function, g.is_of_class);
  return true;
}

/// Throws "the node 'a/b' (MatMul): what, made at main.cpp:12". Errors: unimplemented.
[[noreturn]] inline void refuse_gradient(graph& g, int index, const std::string& what) {
  const node_record& r = g.named().record(index);
  std::string text = "gradients: the node '" + r.name + "' (" + std::string(g.at(index).op->type) + "): " + what;
  if (r.made_at.line != 0) text += std::string(", made at ") + r.made_at.file + ":" + std::to_string(r.made_at.line);
  throw unimplemented(text);
}

/// A node with one result, of any operator, known or not. It is named after its type in the current scope.
inline output gradient_node(std::string_view type, std::initializer_list<output> inputs, attribute_map attributes,
                            const tensor_info& result, std::string_view name = {}) {
  graph& g = inputs.begin()->owner();
  const std::vector<output> all(inputs);
  if (const op_info* op = find_operator(type); op != nullptr && form_of(*op, static_cast<int>(all.size())).size() > 0) {
    const auto fields = form_of(*op, static_cast<int>(all.size()));
    std::optional<std::vector<std::int64_t>> numbers;
    if (has_numbers(fields)) numbers = numbers_from(fields, attributes, {}, {});
    const output made = g.named().build(g, *op, all, numbers ? *numbers : std::vector<std::int64_t>{}, name.empty() ? type : name);
    for (auto& [key, value] : attributes)
      if (!g.named().record(made.index()).attributes.contains(key)) g.named().record(made.index()).attributes[key] = value;
    return made;
  }
  return g.named().raw(g, type, all, std::move(attributes), {result}, name).result();
}
/// Whether the elements are lists of tensors, whose zeros are made from a list alone.
inline bool is_list(dtype type) { return type == static_cast<dtype>(data_type::variant); }
inline tensor_info info_like(const output& x) { return {x.type(), x.extent()}; }
/// The sum of several gradients, which may be lists: an AddN node.
inline output add_n_node(const std::vector<output>& all) {
  graph& g = all.front().owner();
  if (!is_list(all.front().type())) return g.named().build(g, info_of<add_n_op>, all, {}, "AddN");
  const attribute_map attributes{{"N", static_cast<std::int64_t>(all.size())}, {"T", data_type::variant}};
  return g.named().raw(g, "AddN", all, attributes, {{all.front().type(), shape{}}}).result();
}

/// Arrays concatenated along an axis that is a tensor: a ConcatV2 node "concat".
inline output concat_node(const std::vector<output>& values, const number_argument& axis) {
  graph& g = values.front().owner();
  const number_argument only[]{axis};
  return g.named().build(g, info_of<concat_op>, values, {}, "concat", only);
}

/// The sum of several sparse gradients of one tensor: their rows, concatenated. Indices of int32 and int64 become int64, as in TensorFlow.
inline gradient_value joined(const std::vector<gradient_value>& parts) {
  std::vector<output> values;
  std::vector<output> indices;
  bool are_mixed = false;
  for (const gradient_value& p : parts) {
    values.push_back(p.values);
    indices.push_back(p.indices);
    are_mixed = are_mixed || p.indices.type() != indices.front().type();
  }
  if (are_mixed)
    for (output& i : indices) i = cast(i, dtype::int64);
  const output rows = concat_node(values, tensor_literal(std::int32_t{0}));
  return {rows, concat_node(indices, tensor_literal(std::int32_t{0})), parts.front().dense_shape};
}

/// Selects by a condition of the operands' shape, or by a vector over their first dimension. Source: TensorFlow 1.x `Select`.
inline output select_rows(const output& condition, const output& x, const output& y) {
  return gradient_node("Select", {condition, x, y}, {{"T", x.type()}}, {x.type(), known_of(x.extent(), y.extent())});
}
/// A constant value in the shape of x, which the tensor `extent` holds.
inline output filled_like(const output& x, const output& extent, double number, std::string_view name) {
  graph& g = x.owner();
  const output inputs[]{extent, g.named().make_constant(g, {x.type(), {}, number}, "Const")};
  if (!x.extent().is_static())
    return g.named().raw(g, "Fill", inputs, {{"T", x.type()}, {"index_type", dtype::int32}}, {info_like(x)}, name).result();
  return g.named().build(g, info_of<fill_op>, inputs, {x.extent().dim, static_cast<std::size_t>(x.extent().rank)}, name);
}
/// Ones of the shape of x. Source: TensorFlow 1.x `ones_like`.
inline output ones_like_nodes(const output& x) {
  graph& g = x.owner();
  const name_scope scope(g, "ones_like");
  const output extent = x.extent().is_static() ? shape_constant(g, x.extent(), "Shape/shape_as_tensor") : shape_of(x);
  return filled_like(x, extent, 1, scope.text());
}
/// Zeros of the shape of x. Source: TensorFlow 1.x `zeros(shape=shape(x))`.
inline output zeros_in_shape_of(const output& x) {
  const output extent = shape_of(x);
  const name_scope scope(x.owner(), "zeros");
  return filled_like(x, extent, 0, scope.text());
}

}  // namespace leat::detail
