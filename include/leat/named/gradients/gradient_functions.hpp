#pragma once
// Gradient functions of graphs with names, in a table by operator type, which programs can extend. A function takes a node and the
// gradients of its results, and returns those of its inputs, as new nodes. The library's own (gradient_math.hpp and its neighbors)
// make TensorFlow 1.x's nodes under the same names, so that training graphs can be compared and exchanged. An operator that is not in
// the table, but whose class has a `gradient`, uses that (gradient_writer.hpp).

#include <leat/named/functions/named_random.hpp>
#include <leat/named/functions/named_shape.hpp>
#include <leat/named/graph/convert.hpp>
#include <leat/ops/add_n.hpp>

#include <mutex>
#include <unordered_map>

namespace leat {

/// A gradient: a tensor, or sparse: rows at `indices` of a tensor of shape `dense_shape`; rows with equal indices add up.
/// Source: TensorFlow `IndexedSlices`.
struct gradient_value {
  output values;
  output indices{};
  output dense_shape{};

  gradient_value() = default;
  gradient_value(const output& dense) : values(dense) {}
  gradient_value(const output& rows, const output& at, const output& extent) : values(rows), indices(at), dense_shape(extent) {}
  explicit operator bool() const { return static_cast<bool>(values); }
  bool is_sparse() const { return static_cast<bool>(indices); }
};

/// Argument of a gradient function.
class gradient_call {
 public:
  gradient_call(const graph_operation& node, std::vector<gradient_value> gradients) : node_(node), gradients_(std::move(gradients)) {}

  graph& owner() const { return node_.owner(); }
  const graph_operation& operation() const { return node_; }
  /// Input `k`, including those that hold numeric attributes; `result(k)` is the node's own result.
  output input(int k = 0) const { return owner().named().input(owner(), node_.index(), k); }
  int input_count() const { return owner().named().input_count(owner(), node_.index()); }
  output result(int k = 0) const { return node_.result(k); }
  /// The gradient of result `k`, as a dense tensor; empty if there is none.
  output dy(int k = 0) const;
  const gradient_value& slices(int k = 0) const { return gradients_[static_cast<std::size_t>(k)]; }
  const std::vector<gradient_value>& all() const { return gradients_; }

  /// Attributes of the node, or TensorFlow's defaults.
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
};

/// Returns the gradients of a node's inputs in order; empty ones, or none at the end, for inputs without a gradient.
using gradient_function = std::function<std::vector<gradient_value>(const gradient_call&)>;

namespace detail {

struct gradient_function_table {
  std::mutex guard;
  std::unordered_map<std::string, gradient_function> by_type;
};
inline gradient_function_table& gradient_functions() {
  static gradient_function_table table;
  return table;
}
/// The function of a type, or none.
inline gradient_function find_gradient(std::string_view type) {
  auto& table = gradient_functions();
  const std::lock_guard lock(table.guard);
  const auto at = table.by_type.find(std::string(type));
  return at == table.by_type.end() ? gradient_function{} : at->second;
}

/// "the node 'a/b' (MatMul): what, made at main.cpp:12". Errors: unimplemented.
[[noreturn]] inline void refuse_gradient(graph& g, int index, const std::string& what) {
  const node_record& r = g.named().record(index);
  std::string text = "gradients: the node '" + r.name + "' (" + std::string(g.at(index).op->type) + "): " + what;
  if (r.made_at.line != 0) text += std::string(", made at ") + r.made_at.file + ":" + std::to_string(r.made_at.line);
  throw unimplemented(text);
}

/// A node with one result, of any operator, known or not: "Type" in the current scope.
inline output gradient_node(std::string_view type, std::initializer_list<output> inputs, attribute_map attributes,
                            const tensor_info& result, std::string_view name = {}) {
  graph& g = inputs.begin()->owner();
  const std::vector<output> all(inputs);
  if (const op_info* op = find_operator(type); op != nullptr && form_of(*op, static_cast<int>(all.size())).size() > 0) {
    const output made = g.named().build(g, *op, all, {}, name.empty() ? type : name);
    for (auto& [key, value] : attributes)
      if (!g.named().record(made.index()).attributes.contains(key)) g.named().record(made.index()).attributes[key] = value;
    return made;
  }
  return g.named().raw(g, type, all, std::move(attributes), {result}, name).result();
}
inline tensor_info info_like(const output& x) { return {x.type(), x.extent()}; }

/// A sparse gradient as a dense tensor. Source: TensorFlow's conversion of `IndexedSlices`.
inline output densified(const gradient_value& v, std::string_view name = "UnsortedSegmentSum") {
  if (!v.is_sparse()) return v.values;
  graph& g = v.values.owner();
  const output count = raw_named(g, "StridedSlice", "strided_slice",
                                 {{"input", v.dense_shape},
                                  {"stack", tensor_literal({0})},
                                  {"stack_1", tensor_literal({1})},
                                  {"stack_2", tensor_literal({1})}},
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
/// Arrays concatenated along an axis that is a tensor: ConcatV2 "concat".
inline output concat_node(const std::vector<output>& values, const number_argument& axis) {
  graph& g = values.front().owner();
  const number_argument only[]{axis};
  return g.named().build(g, info_of<concat_op>, values, {}, "concat", only);
}

/// Several sparse gradients of one tensor, their rows concatenated.
inline gradient_value joined(const std::vector<gradient_value>& parts) {
  std::vector<output> values;
  std::vector<output> indices;
  for (const gradient_value& p : parts) {
    values.push_back(p.values);
    indices.push_back(p.indices);
  }
  const output rows = concat_node(values, tensor_literal(std::int32_t{0}));
  return {rows, concat_node(indices, tensor_literal(std::int32_t{0})), parts.front().dense_shape};
}

/// Selection by a condition of the operands' shape, or by a vector over their first dimension. Source: TensorFlow 1.x `Select`.
inline output select_rows(const output& condition, const output& x, const output& y) {
  return gradient_node("Select", {condition, x, y}, {{"T", x.type()}}, {x.type(), known_of(x.extent(), y.extent())});
}
/// Ones of the shape of x. Source: TensorFlow 1.x `ones_like`.
inline output ones_like_nodes(const output& x) {
  graph& g = x.owner();
  const name_scope scope(g, "ones_like");
  const output extent = x.extent().is_static() ? shape_constant(g, x.extent(), "Shape/shape_as_tensor") : shape_of(x);
  const output one = g.named().make_constant(g, {x.type(), {}, 1}, "Const");
  const output inputs[]{extent, one};
  if (!x.extent().is_static())
    return g.named().raw(g, "Fill", inputs, {{"T", x.type()}, {"index_type", dtype::int32}}, {info_like(x)}, scope.text()).result();
  return g.named().build(g, info_of<fill_op>, inputs, {x.extent().dim, static_cast<std::size_t>(x.extent().rank)}, scope.text());
}

}  // namespace detail

inline output gradient_call::dy(int k) const { return detail::densified(slices(k)); }

/// Registers the gradient of an operator type in graphs with names: `register_gradient("Print", [](const gradient_call& c) {
/// return std::vector<gradient_value>{c.dy()}; })`. The function runs in the scope "gradients/NODE_grad/" of the default graph, where
/// it can use the library's functions. It replaces the previous one of the type. Thread-safe.
/// Source: TensorFlow `RegisterGradient`.
inline void register_gradient(std::string_view type, gradient_function function) {
  auto& table = detail::gradient_functions();
  const std::lock_guard lock(table.guard);
  table.by_type[std::string(type)] = std::move(function);
}

namespace detail {

using gradient_list = std::vector<gradient_value>;
/// Registers the library's own functions, once; a function that the program registered before stays.
inline bool enter_gradients(std::initializer_list<std::pair<std::string_view, gradient_list (*)(const gradient_call&)>> functions) {
  auto& table = gradient_functions();
  const std::lock_guard lock(table.guard);
  for (const auto& [type, function] : functions) table.by_type.try_emplace(std::string(type), function);
  return true;
}

}  // namespace detail

}  // namespace leat
