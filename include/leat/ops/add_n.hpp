#pragma once
// Operators that gradients of graphs with names need: the sum of several tensors, and `Fill`, with which a gradient starts.

#include <leat/ops/state.hpp>

namespace leat {

/// The element-wise sum of any number of tensors. Shapes: all the same, as is the result's. Dtypes: numbers, all the same. Source:
/// TensorFlow `AddN`.
struct add_n_op {
  static constexpr std::string_view type = "AddN";
  static constexpr facts what{.narrow = narrow_rule::exact, .of_complex = complex_slopes::same};
  static constexpr field form[]{{field_kind::operands, "inputs"}, {field_kind::type_of, "T"}};
  static constexpr op_kind kind = op_kind::composite;
  static constexpr inference infer(const operand_list& x) {
    inference got{x.type(0), x.extent(0)};
    if (!is_number(got.type)) return inference::wrong(rule::refusal(rule::takes::number));
    for (int k = 1; k < x.count; ++k) {
      if (x.type(k) != got.type) return inference::wrong("dtypes differ (cast<T>(x) converts)");
      if (!may_equal(x.extent(k), got.extent)) return inference::wrong("shapes differ");
      got.extent = known_of(got.extent, x.extent(k));
    }
    return got;
  }
  template <class G>
  static constexpr output expand(G& g) {
    output sum = g.input(0);
    for (int k = 1; k < g.input_count(); ++k) sum = sum + g.input(k);
    return sum;
  }
  template <class G>
  static constexpr void gradient(G& g) {
    for (int k = 0; k < g.input_count(); ++k)
      if (g.wants(k)) give(g, k, g.dy());
  }
};

/// Appends a row for a node of a graph whose operator is known, and returns the row's index. A row has at most `graph::max_operands`
/// operands: a sum of more tensors becomes a chain of rows, each of which adds to the sum of those before. Errors: invalid_argument if the
/// operands do not fit.
constexpr int add_definition(graph& table, const op_info& op, std::span<const int> rows, std::span<const std::int64_t> attributes,
                             std::span<const int> controls = {}) {
  if (op.infer_node != nullptr) table.check(op, op.infer_node, rows, attributes);
  if (rows.size() <= graph::max_operands || !is_operator<add_n_op>(op)) return table.add(op, rows, attributes, controls);
  std::vector<int> left(rows.begin(), rows.begin() + graph::max_operands);
  for (std::size_t next = left.size();;) {
    const int sum = table.add(op, left, attributes, controls);
    if (next == rows.size()) return sum;
    left.assign(1, sum);
    while (left.size() < graph::max_operands && next < rows.size()) left.push_back(rows[next++]);
  }
}

/// A tensor with the same value in every element. Operands: the sizes, which only files contain, and the value, a scalar. Attributes: the
/// sizes. Imports do not use this class, because an imported node has its sizes in an operand. Source: TensorFlow `Fill`.
struct fill_op {
  static constexpr std::string_view type = "Fill";
  static constexpr field form[]{{field_kind::operand, "dims", -1},
                                {field_kind::operand, "value"},
                                {field_kind::type_of, "T", 1},
                                {field_kind::type_of, "index_type"}};
  static constexpr op_kind kind = op_kind::composite;
  static constexpr inference infer(const operand_list& x) {
    if (x.extent(1).rank != 0) return inference::wrong("the value is a scalar");
    if (x.attribute_count > max_rank) return inference::wrong("more than 8 dimensions");
    inference got{x.type(1), {}};
    for (int i = 0; i < x.attribute_count; ++i) got.extent.push(x.attribute(i));
    return got;
  }
  template <class G>
  static constexpr output expand(G& g) {
    return broadcast_to(g.input(1), g.result().extent());
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(1)) give(g, 1, g.dy());
  }
};

}  // namespace leat
