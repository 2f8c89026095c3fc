#pragma once
// Writes the rows of typed expressions to a graph with names; implements `to_graph`.

#include <leat/core/fill.hpp>
#include <leat/named/control/control_flow.hpp>
#include <leat/named/exchange/any_expression.hpp>
#include <leat/named/exchange/loop_forms.hpp>
#include <leat/named/exchange/packed_results.hpp>
#include <leat/named/functions/nn.hpp>
#include <leat/named/functions/shape.hpp>
#include <leat/named/functions/size_arguments.hpp>
#include <leat/named/graph/named.hpp>
#include <leat/named/graph/operator_entry.hpp>
#include <leat/named/variables/variables.hpp>
#include <leat/ops/comparison.hpp>

namespace leat::detail {

LEAT_DECLARE_FILL(fill_deferred_writers);
LEAT_DECLARE_FILL(fill_row_writers);
// The table of operators with the writers of their rows: those that are deferred, and those whose operators have no form (row_writers.hpp).
inline operator_entry_table& expression_writers() {
  static constinit table_fills fills;
  fills.run({LEAT_FILLS(fill_deferred_writers, fill_row_writers)});
  return operator_entries();
}
// Enters the writer of rows that stand for gradients or training steps.
inline void enter_deferred_writer(std::string_view type, output (*write)(graph_writer&, const node&)) {
  expression_writers().enter(type, &operator_entry::writer, {write, true});
}

// Writes a loop, and returns its results by their numbers (impl/to_graph_loops.hpp).
std::vector<output> write_loop(graph_writer& w, int row);

class graph_writer {
 public:
  graph_writer(graph& to, const graph& from, const carried_table& carried, graph_writer* outer = nullptr)
      : to_(to), nodes_(to.named()), from_(from), carried_(carried), outer_(outer), context_(to.named().context), loops_(from) {
    made_.resize(static_cast<std::size_t>(from_.size()));
    outer_rows_.resize(made_.size(), -1);
  }

  /// Writes all rows; or, if there are loops, those that the rows `targets` need.
  void run(std::span<const int> targets) {
    if (!loops_.forms.empty() || outer_ != nullptr) live_ = needed(targets);
    for (int i = 0; i < from_.size(); ++i)
      if (!is_number(from_.at(i)) && is_live(i) && outer_rows_[static_cast<std::size_t>(i)] < 0) written(i);
  }
  output result(int index) { return operand(index); }

  // ---- for loops ----
  const graph& from() const { return from_; }
  const carried_table& all_carried() const { return carried_; }
  const loop_form& loop_at(int row) const { return loops_.forms.at(row); }
  bool is_live(int row) const { return live_.empty() || live_[static_cast<std::size_t>(row)] != 0; }
  /// The rows that these need.
  std::vector<char> needed(std::span<const int> targets) const { return loops_.needed(targets); }
  /// Sets the tensor that a leaf of a loop's step stands for. A number of the surrounding rows becomes a constant where it is used.
  void put(int leaf, graph_writer& outer, int outer_row) {
    if (const op_kind kind = outer.from_.at(outer_row).op->kind; is_number(outer.from_.at(outer_row)) && kind != op_kind::extent)
      outer_rows_[static_cast<std::size_t>(leaf)] = outer_row;
    else put(leaf, outer.result(outer_row));
  }
  void put(int leaf, const output& o) { made_[static_cast<std::size_t>(leaf)] = o; }
  /// The result of a loop by its number.
  output loop_result(int loop, int number) {
    if (!results_.contains(loop)) results_.emplace(loop, write_loop(*this, loop));
    return results_.at(loop).at(static_cast<std::size_t>(number));
  }
  /// The size of a dimension of a row, an int32 scalar: a constant if it is known.
  output size_at(std::int64_t size) {
    return is_named(size) ? size_of_dimension(size) : nodes_.make_constant(to_, as_int32(size), "Const");
  }

  // ---- for writers of deferred rows ----
  graph& to() const { return to_; }
  output input(const node& n, int k) { return operand(from_.input(n, k)); }
  std::int64_t number(const node& n, int k) const { return from_.attribute(n, k); }
  const node& row_of(const node& n, int k) const { return from_.at(from_.input(n, k)); }
  /// The row's numbers from `first` on, as an input of sizes; some may be named dimensions.
  number_argument sizes_from(const node& n, int first) {
    std::vector<std::int64_t> sizes;
    for (int k = first; k < n.attribute_count; ++k) sizes.push_back(number(n, k));
    return sizes_argument(sizes);
  }
  /// The value that an expression carries under this id, as a double.
  double carried(std::int64_t id) const { return std::bit_cast<double>(bits_of_number(static_cast<std::uint64_t>(id))); }
  /// The value of input k if it is a constant or a plain number; nullopt otherwise.
  std::optional<double> plain_number(const node& n, int k) const {
    const node& in = from_.at(from_.input(n, k));
    if (in.op->kind != op_kind::constant) return std::nullopt;
    return value_of_bits(in.result.type, from_.attribute(in, 0));
  }
  std::map<std::int64_t, std::vector<output>> gradients;  // by call: the gradients that were already written
  gradient_change change_gradients;                       // called with the given gradients of each training step before it is written

 private:
  static bool is_number(const node& n) {
    return n.op->kind == op_kind::constant || n.op->kind == op_kind::extent ||
           (n.op->kind == op_kind::number && n.name.empty() && n.result.extent.rank == 0);
  }
  carried_value carried_under(std::uint64_t id) const {
    const auto at = carried_.find(id);
    return at == carried_.end() ? carried_value{} : at->second;
  }
  std::uint64_t bits_of_number(std::uint64_t id) const { return carried_under(id).bits; }
  // The elements of an array as a literal.
  static tensor_literal literal_of(const shared_elements& array) {
    return {array.type(), array.extent(), std::span(static_cast<const std::byte*>(array.data()), array.bytes())};
  }
  static kept_number value_of(dtype, std::uint64_t bits) { return {static_cast<std::int64_t>(bits)}; }

  const output& written(int index) {
    output& made = made_[static_cast<std::size_t>(index)];
    if (!static_cast<bool>(made)) made = enter(index);
    return made;
  }
  // The tensor of a row. A constant or plain number becomes a new constant for each use, named after its user.
  output operand(int index) {
    const node& n = from_.at(index);
    if (const int number = outer_rows_[static_cast<std::size_t>(index)]; number >= 0) return outer_->operand(number);
    if (!is_number(n)) return made_[static_cast<std::size_t>(index)];
    if (n.op->kind == op_kind::extent) return extent(n);
    const std::uint64_t bits = n.op->kind == op_kind::constant
                                   ? static_cast<std::uint64_t>(from_.attribute(n, 0))
                                   : bits_of_number(n.attribute_count > 0 ? static_cast<std::uint64_t>(from_.attribute(n, 0)) : n.id);
    const kept_number value = value_of(n.result.type, bits);
    if (n.result.extent.is_static()) return nodes_.make_literal(to_, {n.result.type, n.result.extent, value});
    std::vector<std::int64_t> sizes(n.result.extent.dim, n.result.extent.dim + n.result.extent.rank);
    const output dims = std::get<output>(sizes_argument(sizes));
    const output filled_with = nodes_.make_constant(to_, {n.result.type, {}, value}, "Const");
    return nodes_
        .raw(to_, "Fill", std::array{dims, filled_with}, {{"T", n.result.type}, {"index_type", dtype::int32}},
             {{n.result.type, without_names(n.result.extent)}})
        .result();
  }

  // The size of a named dimension, an int32 scalar, taken from the shape of a placeholder that has this dimension.
  output size_of_dimension(std::int64_t dimension) {
    if (const auto known = sizes_.find(dimension); known != sizes_.end()) return known->second;
    for (int i = 0; i < from_.size(); ++i) {
      const node& n = from_.at(i);
      const bool is_given = outer_ != nullptr && static_cast<bool>(made_[static_cast<std::size_t>(i)]) && n.input_count == 0;
      if (n.op->kind != op_kind::placeholder ? !is_given : outer_ != nullptr && !is_given) continue;
      for (std::int32_t axis = 0; axis < n.result.extent.rank; ++axis) {
        if (n.result.extent[axis] != dimension) continue;
        const output extent = shape_of(written(i));  // the placeholder may come after the node that needs the size
        const graph_operation part = raw_named(to_, "StridedSlice", "strided_slice",
                                               {{"input", extent},
                                                {"stack", tensor_literal({axis})},
                                                {"stack_1", tensor_literal({axis + 1})},
                                                {"stack_2", tensor_literal({1})}},
                                               {{"T", dtype::int32},
                                                {"Index", dtype::int32},
                                                {"begin_mask", 0},
                                                {"end_mask", 0},
                                                {"ellipsis_mask", 0},
                                                {"new_axis_mask", 0},
                                                {"shrink_axis_mask", 1}},
                                               {{dtype::int32, {}}}, std::source_location());
        return sizes_.emplace(dimension, part.result()).first->second;
      }
    }
    if (outer_ != nullptr) {
      const inside_context there(nodes_, outer_->context_);
      return outer_->size_of_dimension(dimension);
    }
    throw unimplemented("to_graph: the dimension \"" + std::string(from_.text_of(dimension)) + "\" is that of no placeholder");
  }
  output extent(const node& n) {
    output product;
    for (int k = 1; k < n.attribute_count; ++k) {
      const output size = size_of_dimension(from_.attribute(n, k));
      product = k == 1 ? size : product * size;
    }
    if (const auto fixed = from_.attribute(n, 0); fixed != 1) product = product * static_cast<int>(fixed);
    return cast_to(product, n.result.type);
  }
  // Sizes that include named dimensions: constants if at most one is named and the operator computes it itself, otherwise a stacked tensor.
  number_argument sizes_argument(std::span<const std::int64_t> sizes, bool computes_one = false) {
    if (const auto plain = constant_sizes(sizes, computes_one)) return tensor_literal(*plain);
    std::vector<output> parts;
    for (auto s : sizes)
      parts.push_back(is_named(s) ? size_of_dimension(s) : nodes_.make_constant(to_, static_cast<std::int32_t>(s), "Const"));
    return stack(parts, 0, "shape");
  }

  // Positions along an axis: a Range, of int32 as those that TensorFlow's functions write. Other axes have the size 1.
  output positions(const node& n) {
    const shape& extent = n.result.extent;
    const int axis = static_cast<int>(from_.attribute(n, 0));
    if (extent.squeezed().rank > (extent[axis] == 1 ? 0 : 1)) throw unimplemented("to_graph: positions along an axis of several");
    const auto number = [&](std::int32_t value) { return nodes_.make_constant(to_, value, "range"); };
    const output limit = is_named(extent[axis]) ? size_of_dimension(extent[axis]) : number(static_cast<std::int32_t>(extent[axis]));
    shape line;
    line.push(is_named(extent[axis]) ? unknown_dimension : extent[axis]);
    const output made = cast_to(nodes_
                                    .raw(to_, "Range", std::array{number(0), limit, number(1)}, {{"Tidx", dtype::int32}},
                                         {{dtype::int32, line}})
                                    .result(),
                                n.result.type);
    if (extent.rank == 1) return made;
    std::vector<std::int32_t> sizes(static_cast<std::size_t>(extent.rank), 1);
    sizes[static_cast<std::size_t>(axis)] = -1;
    return reshape(made, sizes);
  }

  output leaf(const node& n) {
    if (n.op->kind == op_kind::placeholder) return placeholder(n.result.type, without_names(n.result.extent), n.name);
    if (n.op->kind == op_kind::number && n.result.extent.rank > 0)
      return nodes_.make_constant(to_, literal_of(carried_under(n.id).elements), n.name.empty() ? std::string_view("Const") : n.name);
    if (n.op->kind == op_kind::number) {  // a parameter
      const name_scope scope(to_, n.name);
      const output value = nodes_.make_constant(to_, {n.result.type, {}, value_of(n.result.type, bits_of_number(n.id))}, "input");
      return nodes_
          .raw(to_, "PlaceholderWithDefault", std::array{value}, {{"dtype", n.result.type}, {"shape", to_proto(n.result.extent)}},
               {n.result}, scope.text())
          .result();
    }
    if (n.op->kind != op_kind::variable) throw unimplemented("to_graph: a leaf of type " + std::string(n.op->type));
    const auto kind = static_cast<initializer_kind>(from_.attribute(n, 0));
    const int count = static_cast<int>(from_.attribute(n, 2));
    std::vector<std::uint64_t> bits;
    shared_elements array;
    for (int k = 0; k < count; ++k) {
      const std::uint64_t start = n.attribute_count > 3 ? static_cast<std::uint64_t>(from_.attribute(n, 3)) : 0;
      const carried_value value = carried_under(start != 0 ? start : initial_number_id(n.id, k));
      bits.push_back(value.bits);
      if (value.elements) array = value.elements;
    }
    return detail::find_or_make_variable(
        n.name, n.result.extent,
        {.type = n.result.type, .initializer = rule_of(kind, bits, array), .trainable = from_.attribute(n, 1) != 0});
  }
  static variable_initializer rule_of(initializer_kind kind, const std::vector<std::uint64_t>& bits, const shared_elements& array) {
    const auto real = [&](std::size_t k) { return k < bits.size() ? std::bit_cast<double>(bits[k]) : 0.0; };
    const std::uint64_t seed = bits.size() > 2 ? bits[2] : 0;
    switch (kind) {
      case initializer_kind::zeros: return as_variable_initializer(zeros);
      case initializer_kind::ones: return as_variable_initializer(ones);
      case initializer_kind::number:
        return [b = bits.empty() ? 0 : bits[0]](const shape& extent, dtype type) {
          graph& g = default_graph();
          return g.named().make_constant(g, {type, extent, value_of(type, b)}, "Const");
        };
      case initializer_kind::array:
        return [array](const shape&, dtype) {
          graph& g = default_graph();
          return g.named().make_constant(g, literal_of(array), "Const");
        };
      case initializer_kind::uniform: return as_variable_initializer(random_uniform(real(0), real(1), seed));
      case initializer_kind::normal: return as_variable_initializer(random_normal(real(0), real(1), seed));
      case initializer_kind::truncated_normal: return as_variable_initializer(truncated_normal(real(0), real(1), seed));
      case initializer_kind::glorot_uniform: return as_variable_initializer(glorot_uniform(seed));
      case initializer_kind::variance_scaling:
        return as_variable_initializer(variance_scaling(real(0), mode_of(real(1)), distribution_of(real(1)), seed));
      case initializer_kind::orthogonal: return as_variable_initializer(orthogonal(real(0), seed));
      case initializer_kind::identity: return as_variable_initializer(identity_initializer(real(0)));
    }
    return {};
  }

  // Whether a reduction is along all axes. It is then written without axes, because typed expressions do not distinguish the two.
  static bool reduces_all(const node& n, const shape& operand, const std::vector<std::int64_t>& numbers) {
    bool has_axes = false;
    for (const field& f : form_of(*n.op, 1)) has_axes = has_axes || f.kind == field_kind::axes;
    if (!has_axes || operand.rank < 1 || static_cast<int>(numbers.size()) != operand.rank + 1) return false;
    for (int i = 0; i < operand.rank; ++i)
      if (numbers[static_cast<std::size_t>(i) + 1] != i) return false;
    return true;
  }

  output enter(int index) {
    const node& n = from_.at(index);
    if (n.op->kind == op_kind::placeholder || n.op->kind == op_kind::number || n.op->kind == op_kind::variable) return leaf(n);
    if (n.op->kind == op_kind::index) return positions(n);
    const expression_writer writer = expression_writers().find(n.op->type, &operator_entry::writer);
    if (writer.is_deferred) return writer.write(*this, n);
    if (n.op->only_checks) return operand(from_.input(n, 0));
    if (is_operator<passes::loop_memory_op>(*n.op)) return {};
    if (is_operator<passes::loop_result_op>(*n.op)) return loop_result(from_.input(n, 1), static_cast<int>(from_.attribute(n, 0)));
    if (n.op->body != nullptr) return {};  // it is written at the first of its results
    if (writer) {
      const output made = writer.write(*this, n);
      set_shape(made, without_names(n.result.extent));
      return made;
    }
    std::vector<output> operands;
    for (int k = 0; k < n.input_count; ++k) operands.push_back(operand(from_.input(n, k)));
    if (n.input_count == 1 && n.op->kind != op_kind::element)
      if (const output all = packed_results(
              *n.op, operands[0], {from_.numbers.data() + n.attributes, static_cast<std::size_t>(n.attribute_count)}, n.result.extent)) {
        set_shape(all, without_names(n.result.extent));
        return all;
      }
    // TensorFlow's operators take only matrices of logits; its functions reshape other operands to matrices.
    if (is_operator<softmax_cross_entropy_op>(*n.op) && n.result.extent.rank != 1)
      return softmax_cross_entropy_with_logits(operands[1], operands[0]);
    if (is_operator<sparse_softmax_cross_entropy_op>(*n.op) && n.result.extent.rank != 1)
      return sparse_softmax_cross_entropy_with_logits(operands[1], operands[0]);
    std::vector<int> waits;
    for (int k = 0; k < n.control_count; ++k) waits.push_back(operand(from_.control(n, k)).index());
    std::vector<std::int64_t> numbers;
    bool named = false;
    for (int k = 0; k < n.attribute_count; ++k) {
      numbers.push_back(from_.attribute(n, k));
      named = named || ((n.op->kind != op_kind::composite || n.op->what.takes_shape) && is_named(numbers.back()));
    }
    if (n.op->result_of != nullptr) {
      const auto port = static_cast<int>(numbers.back());
      numbers.pop_back();
      std::vector<std::int64_t> key{n.op->code};
      for (const output& o : operands) key.insert(key.end(), {o.index(), o.port()});
      key.insert(key.end(), numbers.begin(), numbers.end());
      output& zeroth = nodes_of_results_[key];
      if (!static_cast<bool>(zeroth)) zeroth = nodes_.build(to_, n.op->result_of(), operands, numbers, {}, {}, std::move(waits));
      return {to_, zeroth.index(), port};
    }
    if (!numbers.empty() && !has_numbers(form_of(*n.op, n.input_count)))
      throw unimplemented("to_graph: a " + std::string(n.op->type) + ", which TensorFlow has no node for");
    if (n.input_count == 1 && reduces_all(n, from_.at(from_.input(n, 0)).result.extent, numbers)) numbers.resize(1);
    const std::string_view name = n.op->kind == op_kind::group ? std::string_view("group_deps") : std::string_view{};
    std::vector<number_argument> arguments;
    if (named) arguments = arguments_of(n, numbers);
    const output made = nodes_.build(to_, *n.op, operands, numbers, name, arguments, std::move(waits));
    if (n.op->kind != op_kind::group) set_shape(made, without_names(n.result.extent));
    if (n.op->further != nullptr) {
      std::vector<std::int64_t> key{n.op->further().code};
      for (const output& o : operands) key.insert(key.end(), {o.index(), o.port()});
      key.insert(key.end(), numbers.begin(), numbers.end());
      nodes_of_results_[key] = made;
    }
    return made;
  }
  std::vector<number_argument> arguments_of(const node& n, std::span<const std::int64_t> numbers) {
    return size_arguments(
        n, numbers, [&](std::span<const std::int64_t> sizes, bool computes_one) { return sizes_argument(sizes, computes_one); },
        [&](std::int64_t dimension) { return size_of_dimension(dimension); },
        [&] { throw unimplemented("to_graph: a named dimension among the numbers of " + std::string(n.op->type)); });
  }

  graph& to_;
  named_part& nodes_;
  const graph& from_;
  const carried_table& carried_;
  graph_writer* outer_;                  // that of the rows around a loop's step
  control_flow_context* context_;        // where this one began
  std::vector<output> made_;
  std::vector<int> outer_rows_;          // for leaves of a loop's step: the number that it stands for, or -1
  loop_forms loops_;
  std::vector<char> live_;  // empty: all rows are
  std::map<int, std::vector<output>> results_;  // of loops
  std::map<std::int64_t, output> sizes_;
  std::map<std::vector<std::int64_t>, output> nodes_of_results_;  // by the code of their further results, operands and numbers
};

}  // namespace leat::detail
