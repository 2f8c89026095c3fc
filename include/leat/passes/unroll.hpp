#pragma once
// Turns small matrices into scalars. Products of matrices of a few elements and static shape, and the element-wise work on their operands
// and results, become scalars, one for each element. A step on small matrices (a Kalman filter, a rotation) is then one list of
// instructions without memory between them; a kernel call would cost more than the product.
//
// The nodes that become scalars have at most `most_elements` elements and are connected with such a product. Arrays that are read or
// written at the border stay arrays (`take_element_op`, `assemble_op`, `assign_elements_op`). The pass is only for programs whose steps a
// C++ compiler compiles, because the interpreter makes a call for each instruction; it runs the products whole. Both add in the same order
// and round each product and sum once (`multiply_add_op`), so that results are equal.

#include <leat/core/list.hpp>
#include <leat/ops/stacked_matmul.hpp>
#include <leat/passes/arrange.hpp>

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

class unroller {
 public:
  static constexpr std::int64_t most_elements = stacked_matmul_op::largest_matrix;
  static constexpr std::int64_t longest_sum = stacked_matmul_op::longest_sum;
  static constexpr std::int64_t most_multiplications = 1024;  // the most of a program, because each is an instruction to compile

  constexpr explicit unroller(const graph& from) : from_(from) {}

  /// Whether a product of the graph is small enough.
  static constexpr bool is_small_product(const graph& g, const node& n) {
    return is_operator<matmul_op>(*n.op) && is_floating(n.result.type) && multiplications(g, n) > 0 && inner_size(g, n) <= longest_sum &&
           is_small(g.at(g.input(n, 0)).result) && is_small(g.at(g.input(n, 1)).result) && is_small(n.result);
  }

  constexpr graph run(list<int>& targets) {
    choose();
    to_.merge_equal = true;
    to_.nodes.reserve(from_.nodes.size() + 256);
    to_.edges.reserve(from_.edges.size() + 512);
    to_.dimension_names = from_.dimension_names;
    map_.assign(from_.nodes.size(), -1);
    elements_.assign(from_.nodes.size(), {});
    for (int i = 0; i < from_.size(); ++i) {
      if (chosen_[i] == 0) move(i);
      else if (from_.at(i).op->kind == op_kind::assign) write(i);
      else compute(i);
    }
    for (int& t : targets) t = whole(t);
    return std::move(to_);
  }

 private:
  static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }
  static constexpr bool is_small(const tensor_info& t) {
    return t.extent.is_static() && t.extent.elements() > 0 && t.extent.elements() <= most_elements;
  }
  static constexpr std::int64_t multiplications(const graph& g, const node& n) {
    if (!n.result.extent.is_static() || !g.at(g.input(n, 0)).result.extent.is_static()) return 0;
    return n.result.extent.elements() * inner_size(g, n);
  }
  static constexpr std::int64_t inner_size(const graph& g, const node& n) {
    return g.at(g.input(n, 0)).result.extent[g.attribute(n, 0) != 0 ? 0 : 1];
  }

  // Whether the operator is plain arithmetic; costly functions are faster in batches.
  static constexpr bool is_arithmetic(const op_info& op) {
    return is_operator<add_op>(op) || is_operator<sub_op>(op) || is_operator<mul_op>(op) || is_operator<real_div_op>(op) ||
           is_operator<neg_op>(op) || is_operator<square_op>(op) || is_operator<abs_op>(op) || is_operator<maximum_op>(op) ||
           is_operator<minimum_op>(op) || is_operator<reciprocal_op>(op) || is_operator<sqrt_op>(op) || is_operator<copy_op>(op);
  }
  static constexpr bool is_view(const op_info& op) {
    return is_operator<transpose_op>(op) || is_operator<reshape_op>(op) || is_operator<slice_op>(op);
  }

  // Marks the nodes that become scalars: first all that could, then only those that are connected with a product.
  constexpr void choose() {
    const auto depth = write_depths(from_);
    list<int> users(from_.nodes.size(), 0);
    list<int> writes(from_.nodes.size(), 0);
    for (const node& n : from_.nodes) {
      for (int k = 0; k < n.input_count; ++k) ++users[from_.input(n, k)];
      if (n.op->kind == op_kind::assign) ++writes[from_.input(n, 0)];
    }
    list<char> folded(from_.nodes.size(), 0);
    for (const node& n : from_.nodes)
      if (is_operator<assign_add_op>(*n.op) || is_operator<assign_sub_op>(*n.op)) {
        // An update by a product is one kernel, which adds in another order, and so stays whole.
        const int value = from_.input(n, 1);
        folded[value] = 1;
        if (is_operator<mul_op>(*from_.at(value).op))
          for (int k = 0; k < 2; ++k) folded[from_.input(from_.at(value), k)] = 1;
      }
    chosen_.assign(from_.nodes.size(), 0);
    std::int64_t left = most_multiplications;
    for (int i = 0; i < from_.size(); ++i) {
      const node& n = from_.at(i);
      if (!is_small(n.result) || !is_floating(n.result.type) || depth[i] > 0 || folded[i] != 0) continue;
      bool could = true;
      if (is_operator<assign_op>(*n.op)) {
        const int variable = from_.input(n, 0);
        could = writes[variable] == 1 && chosen_[from_.input(n, 1)] != 0 &&
                from_.at(variable).result.extent == from_.at(from_.input(n, 1)).result.extent;
      } else {
        could = n.control_count == 0 && (is_arithmetic(*n.op) || is_view(*n.op) || is_small_product(from_, n));
        for (int k = 0; k < n.input_count && could; ++k) {
          const node& x = from_.at(from_.input(n, k));
          could = is_small(x.result) && x.result.type == n.result.type &&
                  (chosen_[from_.input(n, k)] != 0 || (x.op->kind != op_kind::view && x.op->kind != op_kind::index));
        }
        if (could && is_operator<matmul_op>(*n.op)) {
          left -= multiplications(from_, n);
          could = left >= 0;
        }
      }
      if (could) chosen_[i] = 1;
    }
    // Sets the mark 2 for nodes that are connected with a product, along edges in both directions.
    bool spreads = true;
    for (int i = 0; i < from_.size(); ++i)
      if (chosen_[i] != 0 && is_operator<matmul_op>(*from_.at(i).op)) chosen_[i] = 2;
    while (spreads) {
      spreads = false;
      for (int i = 0; i < from_.size(); ++i) {
        if (chosen_[i] == 0) continue;
        const node& n = from_.at(i);
        for (int k = n.op->kind == op_kind::assign ? 1 : 0; k < n.input_count; ++k) {
          const int x = from_.input(n, k);
          if (chosen_[x] == 0 || chosen_[x] == chosen_[i]) continue;
          chosen_[x] = chosen_[i] = 2;
          spreads = true;
        }
      }
    }
    for (char& c : chosen_) c = c == 2 ? 1 : 0;
  }

  // The array of a node, assembled if the node was computed as scalars.
  constexpr int whole(int i) {
    if (map_[i] >= 0) return map_[i];
    const shape& extent = from_.at(i).result.extent;
    const list_view<std::int64_t> sizes(extent.dim, static_cast<std::size_t>(extent.rank));
    const auto& parts = elements_[i];
    if (parts.size() > 1) map_[i] = to_.add(info_of<assemble_op>, parts, sizes);
    else if (extent.rank > 0) map_[i] = to_.add(info_of<reshape_op>, parts, sizes);
    else map_[i] = parts[0];
    return map_[i];
  }
  // The scalar of an element, which is read from memory if the node is stored as an array.
  constexpr int element(int i, std::int64_t k) {
    auto& parts = elements_[i];
    const node& n = from_.at(i);
    if (parts.empty()) parts.assign(static_cast<std::size_t>(n.result.extent.elements()), -1);
    int& found = parts[static_cast<std::size_t>(k)];
    if (found >= 0) return found;
    const int array = map_[i];
    if (n.op->kind == op_kind::constant) {
      found = leat::constant(to_, n.result.type, {}, constant_value(from_, i)).index();
    } else if (parts.size() > 1) {
      const int in[]{array};
      found = to_.add(info_of<take_element_op>, in, {&k, 1});
    } else if (n.result.extent.rank > 0) {
      const int in[]{array};
      found = to_.add(info_of<reshape_op>, in);
    } else {
      found = array;
    }
    return found;
  }

  constexpr void move(int i) {
    map_[i] = copy_node(from_, from_.at(i), to_, [this](int x) { return whole(x); });
  }
  constexpr void write(int i) {
    const node& n = from_.at(i);
    const int value = from_.input(n, 1);
    const auto count = from_.at(value).result.extent.elements();
    list<int> in{whole(from_.input(n, 0))};
    if (count == 1) in.push_back(whole(value));
    for (std::int64_t k = 0; k < count && count > 1; ++k) in.push_back(element(value, k));
    map_[i] = to_.add(count > 1 ? info_of<assign_elements_op> : info_of<assign_op>, in, {},
                      controls_in(from_, n, [this](int x) { return whole(x); }));
  }

  constexpr void compute(int i) {
    const node& n = from_.at(i);
    const shape extent = n.result.extent;
    const auto count = extent.elements();
    list<int> parts;
    for (std::int64_t k = 0; k < count; ++k) {
      std::int64_t index[max_rank]{};
      for (std::int64_t a = extent.rank, rest = k; a-- > 0; rest /= extent[static_cast<int>(a)])
        index[a] = rest % extent[static_cast<int>(a)];
      if (is_operator<matmul_op>(*n.op)) parts.push_back(product(n, index[0], index[1]));
      else if (is_view(*n.op)) parts.push_back(element(from_.input(n, 0), seen(n, index, k)));
      else parts.push_back(arithmetic(n, index));
    }
    elements_[i] = std::move(parts);
  }
  // The sum over the inner dimension, in the order of the kernel for small products.
  constexpr int product(const node& n, std::int64_t row, std::int64_t column) {
    const int a = from_.input(n, 0);
    const int b = from_.input(n, 1);
    const bool ta = from_.attribute(n, 0) != 0;
    const bool tb = from_.attribute(n, 1) != 0;
    const std::int64_t inner = inner_size(from_, n);
    int sum = -1;
    for (std::int64_t p = 0; p < inner; ++p) {
      const std::int64_t left = ta ? p * from_.at(a).result.extent[1] + row : row * inner + p;
      const std::int64_t right = tb ? column * inner + p : p * from_.at(b).result.extent[1] + column;
      const int in[]{element(a, left), element(b, right), sum};
      sum = p == 0 ? to_.add(info_of<mul_op>, {in, 2}) : to_.add(info_of<multiply_add_op>, in);
    }
    return sum;
  }
  // The position in a view's operand of an element of the view.
  constexpr std::int64_t seen(const node& n, const std::int64_t* index, std::int64_t k) const {
    if (is_operator<reshape_op>(*n.op)) return k;
    const shape& source = from_.at(from_.input(n, 0)).result.extent;
    std::int64_t attribute[2 * max_rank + 1]{};
    for (int j = 0; j < n.attribute_count; ++j) attribute[j] = from_.attribute(n, j);
    std::int64_t place[max_rank]{};
    for (int d = 0; d < source.rank; ++d) {
      if (is_operator<transpose_op>(*n.op)) place[transpose_op::axis(attribute, n.attribute_count, source.rank, d)] = index[d];
      else place[d] = attribute[d] + index[d];
    }
    std::int64_t position = 0;
    for (int d = 0; d < source.rank; ++d) position = position * source[d] + place[d];
    return position;
  }
  constexpr int arithmetic(const node& n, const std::int64_t* index) {
    int in[graph::max_operands];
    for (int k = 0; k < n.input_count; ++k) {
      const int x = from_.input(n, k);
      const shape& source = from_.at(x).result.extent;
      std::int64_t position = 0;
      for (int d = 0; d < source.rank; ++d) {
        const int axis = d + n.result.extent.rank - source.rank;
        position = position * source[d] + (source[d] == 1 ? 0 : index[axis]);
      }
      in[k] = element(x, position);
    }
    if (is_operator<copy_op>(*n.op)) return in[0];
    return to_.add(*n.op, {in, static_cast<std::size_t>(n.input_count)});
  }

  const graph& from_;
  graph to_;
  list<char> chosen_;
  list<int> map_;             // the array of a node, or -1
  list<list<int>> elements_;  // its scalars, as far as they are needed
};

}  // namespace detail

/// The graph with its small products as scalars, or unchanged if it has none; `targets` are renumbered. The graph must be simplified.
constexpr graph unroll(graph g, list<int>& targets) {
  for (const node& n : g.nodes)
    if (detail::unroller::is_small_product(g, n)) return detail::unroller(g).run(targets);
  return g;
}

}  // namespace leat::passes
