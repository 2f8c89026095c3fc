#pragma once
// Writes rows of a plain table, added by the gradient of an operator's class, as nodes of a graph with names: in the current scope, each
// named after its operator's type. Sizes that are known only at run time are computed from the shape of a tensor that has them.

#include <algorithm>
#include <leat/named/functions/size_arguments.hpp>
#include <leat/named/gradients/table.hpp>
#include <leat/named/graph/lookup.hpp>
#include <leat/passes/gradient.hpp>

namespace leat::detail {

class gradient_writer {
 public:
  explicit gradient_writer(gradient_table& from)
      : g_(from.owner()), nodes_(g_.named()), from_(from.table), rows_(from), node_(from.index()) {
    tensors_ = from.tensors;
    tensors_.resize(static_cast<std::size_t>(from_.size()));
  }

  /// Writes these rows and all rows that they depend on.
  void write(std::span<const int> targets) {
    std::vector<char> needed(static_cast<std::size_t>(from_.size()), 0);
    for (int t : targets) needed[static_cast<std::size_t>(t)] = 1;
    for (int i = from_.size() - 1; i >= 0; --i) {
      if (needed[static_cast<std::size_t>(i)] == 0 || static_cast<bool>(tensors_[static_cast<std::size_t>(i)])) continue;
      for (int k = 0; k < from_.at(i).input_count; ++k) needed[static_cast<std::size_t>(from_.input(from_.at(i), k))] = 1;
    }
    for (int i = 0; i < from_.size(); ++i) {
      output& made = tensors_[static_cast<std::size_t>(i)];
      const node& n = from_.at(i);
      if (needed[static_cast<std::size_t>(i)] == 0 || static_cast<bool>(made) || is_number(n)) continue;
      const int before = g_.size();
      made = enter(i);
      // A tensor that existed before keeps its shape: where it is broadcast, a dimension may still be 1 at run time.
      if (made.index() >= before && made.extent().has_rank()) set_shape(made, without_names(n.result.extent));
    }
  }
  output tensor(int row) { return operand(row); }

 private:
  static bool is_number(const node& n) { return n.op->kind == op_kind::constant || n.op->kind == op_kind::extent; }

  // The tensor of a row. A constant or size is made once and shared by all of its uses.
  output operand(int row) {
    const node& n = from_.at(row);
    if (!is_number(n)) return tensors_[static_cast<std::size_t>(row)];
    output& made = numbers_[row];
    if (!static_cast<bool>(made)) made = n.op->kind == op_kind::extent ? count(n) : number(n);
    return made;
  }
  output number(const node& n) {
    const kept_number value{from_.attribute(n, 0)};
    if (n.result.extent.is_static()) return nodes_.make_constant(g_, {n.result.type, n.result.extent, value}, "Const");
    const output dims = stack_of({n.result.extent.dim, static_cast<std::size_t>(n.result.extent.rank)});
    const output filled_with = nodes_.make_constant(g_, {n.result.type, {}, value}, "Const");
    return nodes_
        .raw(g_, "Fill", std::array{dims, filled_with}, {{"T", n.result.type}, {"index_type", dtype::int32}},
             {{n.result.type, without_names(n.result.extent)}})
        .result();
  }
  output count(const node& n) {
    output product;
    for (int k = 1; k < n.attribute_count; ++k) {
      const output size = size_of(from_.attribute(n, k));
      product = k == 1 ? size : named(info_of<mul_op>, {product, size});
    }
    if (const auto fixed = from_.attribute(n, 0); fixed != 1)
      product = named(info_of<mul_op>, {product, nodes_.make_constant(g_, static_cast<std::int32_t>(fixed), "Const")});
    const std::int64_t to[]{static_cast<std::int64_t>(n.result.type)};
    const output operands[]{product};
    return nodes_.build(g_, info_of<cast_op>, operands, to, "Cast");
  }
  output named(const op_info& op, std::initializer_list<output> operands) {
    return nodes_.build(g_, op, std::span<const output>(operands.begin(), operands.size()), {}, op.type);
  }

  // The size of a named dimension, an int32 scalar, from the shape of a tensor that has it.
  output size_of(std::int64_t dimension) {
    output& known = sizes_[dimension];
    if (static_cast<bool>(known)) return known;
    for (std::size_t row = 0; row < rows_.tensors.size(); ++row) {
      if (!static_cast<bool>(rows_.tensors[row])) continue;
      const shape& extent = from_.at(static_cast<int>(row)).result.extent;
      for (std::int32_t axis = 0; axis < extent.rank; ++axis) {
        if (extent[axis] != dimension) continue;
        const attribute_map masks{{"T", dtype::int32},      {"Index", dtype::int32},   {"begin_mask", 0},      {"end_mask", 0},
                                  {"ellipsis_mask", 0}, {"new_axis_mask", 0}, {"shrink_axis_mask", 1}};
        known = raw_named(g_, "StridedSlice", "strided_slice",
                          {{"input", shape_node(rows_.tensors[row])},
                           {"stack", tensor_literal({axis})},
                           {"stack_1", tensor_literal({axis + 1})},
                           {"stack_2", tensor_literal({1})}},
                          masks, {{dtype::int32, {}}}, std::source_location())
                    .result();
        return known;
      }
    }
    refuse_gradient(g_, node_, "a size that no tensor of the graph has: \"" + std::string(from_.text_of(dimension)) + "\"");
  }
  // The node "Shape" of a tensor, once per tensor and scope.
  output shape_node(const output& of) {
    output& made = shapes_[{of.index(), of.port()}];
    if (!static_cast<bool>(made)) {
      made = of.extent().is_static()
                 ? shape_constant(g_, of.extent(), "Shape")
                 : nodes_
                       .raw(g_, "Shape", std::array{nodes_.value_of(of)}, {{"T", of.type()}, {"out_type", dtype::int32}},
                            {{dtype::int32, vector_of(of.extent().has_rank() ? of.extent().rank : -1)}}, "Shape")
                       .result();
    }
    return made;
  }
  output stack_of(std::span<const std::int64_t> sizes) {
    std::vector<output> parts;
    for (auto s : sizes)
      parts.push_back(is_named(s) ? size_of(s) : nodes_.make_constant(g_, static_cast<std::int32_t>(s), "Const"));
    return stack(parts, 0, "shape", std::source_location());
  }
  // Sizes that include named dimensions: constants if at most one is named and the operator computes it itself; or the shape of a tensor
  // that has all of them; or a stacked tensor.
  number_argument sizes(std::span<const std::int64_t> given, bool computes_one) {
    if (const auto plain = constant_sizes(given, computes_one)) return tensor_literal(*plain);
    for (std::size_t row = 0; row < rows_.tensors.size(); ++row) {
      const shape& extent = from_.at(static_cast<int>(row)).result.extent;
      if (static_cast<bool>(rows_.tensors[row]) && std::ranges::equal(given, std::span(extent.dim, static_cast<std::size_t>(extent.rank))))
        return shape_node(rows_.tensors[row]);
    }
    return stack_of(given);
  }
  std::vector<number_argument> arguments_of(const node& n, std::span<const std::int64_t> numbers) {
    return size_arguments(
        n, numbers, [&](std::span<const std::int64_t> given, bool computes_one) { return sizes(given, computes_one); },
        [&](std::int64_t dimension) { return size_of(dimension); },
        [&] {
          refuse_gradient(g_, node_, "its gradient has an unknown size among the numbers of " + std::string(n.op->type));
        });
  }

  output enter(int row) {
    const node& n = from_.at(row);
    if (is_operator<stretch_op>(*n.op) || is_operator<identity_op>(*n.op) || n.op->only_checks) return operand(from_.input(n, 0));
    if (is_operator<shrink_op>(*n.op)) return shrink(n);
    if (n.op->kind == op_kind::index) refuse_gradient(g_, node_, "its gradient takes positions along an axis");
    std::vector<output> operands;
    for (int k = 0; k < n.input_count; ++k) operands.push_back(operand(from_.input(n, k)));
    std::vector<std::int64_t> numbers;
    bool any_named = false;
    for (int k = 0; k < n.attribute_count; ++k) {
      numbers.push_back(from_.attribute(n, k));
      any_named = any_named || (n.op->kind != op_kind::composite && is_named(numbers.back()));
    }
    std::vector<number_argument> arguments;
    if (any_named) arguments = arguments_of(n, numbers);
    if (n.op->result_of == nullptr) return nodes_.build(g_, *n.op, operands, numbers, n.op->type, arguments);
    const auto port = static_cast<int>(numbers.back());
    numbers.pop_back();
    return {g_, nodes_.build(g_, n.op->result_of(), operands, numbers, n.op->result_of().type).index(), port};
  }
  // dy summed over the axes along which the operand was broadcast, which are computed at run time.
  output shrink(const node& n) {
    const output dy = operand(from_.input(n, 0));
    const output to = operand(from_.input(n, 1));
    const output to_shape = shape_node(to);
    const output dy_shape = shape_node(dy);
    shape any;
    any.push(unknown_dimension);
    const graph_operation axes = nodes_.raw(g_, "BroadcastGradientArgs", std::array{to_shape, dy_shape}, {{"T", dtype::int32}},
                                            {{dtype::int32, any}, {dtype::int32, any}});
    const output summed = nodes_
                              .raw(g_, "Sum", std::array{dy, axes.result()},
                                   {{"T", dy.type()}, {"Tidx", dtype::int32}, {"keep_dims", false}}, {{dy.type(), shape::unknown()}})
                              .result();
    const output operands[]{summed};
    const number_argument only[]{to_shape};
    const output made = nodes_.build(g_, info_of<reshape_op>, operands, {}, "Reshape", only);
    set_shape(made, without_names(n.result.extent));
    return made;
  }

  graph& g_;
  named_part& nodes_;
  const graph& from_;
  const gradient_table& rows_;
  int node_;  // the node whose gradient is being written
  std::vector<output> tensors_;
  std::map<int, output> numbers_;
  std::map<std::int64_t, output> sizes_;
  std::map<std::pair<int, int>, output> shapes_;
};

/// The gradients of a node's inputs by the gradient of its operator's class.
inline gradient_list gradient_by_class(const gradient_call& c) {
  graph& g = c.owner();
  gradient_table rows(g, c.operation().index());
  graph& t = rows.table;
  const std::vector<int>& results = rows.result_rows();
  std::vector<int> dys;  // by result; -1 for a result without a gradient
  for (std::size_t k = 0; k < results.size(); ++k) {
    const auto port = static_cast<int>(k);
    if (is_complex(t.at(results[k]).result.type))
      refuse_gradient(g, c.operation().index(), "its gradient is not known for complex numbers");
    const bool has_one = is_floating(t.at(results[k]).result.type) && c.is_given(port) && static_cast<bool>(c.slices(port));
    dys.push_back(has_one ? rows.add_leaf_like_result(c.dy(port), results[k]) : -1);
  }
  detail::list<int> slots(static_cast<std::size_t>(t.size()), -1);
  detail::list<char> wanted(slots.size(), 0);
  for (int k = 0; k < rows.operand_count(); ++k)
    if (is_floating(t.at(rows.operand(k)).result.type)) wanted[static_cast<std::size_t>(rows.gradient_row(k))] = 1;
  for (std::size_t k = 0; k < results.size(); ++k) {
    if (dys[k] < 0) continue;
    gradient_scope scope(t, results[k], output(t, dys[k]), &slots, &wanted);
    passes::add_gradients(*t.at(results[k]).op, t, results[k], scope);
  }
  std::vector<int> targets;
  std::vector<int> some;
  for (int k = 0; k < rows.operand_count(); ++k) {
    int given = slots[static_cast<std::size_t>(rows.gradient_row(k))];
    if (given >= 0 && rows.gradient_row(k) != rows.operand(k)) {
      const shape& to = t.at(rows.operand(k)).result.extent;
      const int both[]{given, rows.operand(k)};
      given = t.add(info_of<shrink_op>, both, std::vector<std::int64_t>(to.dim, to.dim + to.rank));
    }
    targets.push_back(given);
    if (given >= 0) some.push_back(given);
  }
  gradient_writer writer(rows);
  writer.write(some);
  gradient_list result;
  for (int row : targets) result.push_back(row < 0 ? gradient_value{} : gradient_value(writer.tensor(row)));
  return result;
}

}  // namespace leat::detail
