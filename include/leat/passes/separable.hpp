#pragma once
// Which part of a Jacobian is zero whatever the values are: along leading axes that operand and result have in common, such as that of a
// batch, each entry of the result may depend only on the same entry of the operand.

#include <leat/core/list.hpp>
#include <leat/ops/array.hpp>
#include <leat/ops/linalg.hpp>
#include <leat/ops/nn.hpp>
#include <leat/ops/reorder.hpp>
#include <leat/ops/stacked_matmul.hpp>
#include <leat/passes/gradient.hpp>

namespace leat::passes {

/// Follows an operand through a graph. For each node it says along how many leading axes the node's entries depend each on the same entry
/// of the operand: 0 if the operand's entries are mixed, -1 if the node does not depend on it through operators that have a gradient. Rules
/// may say less than is true.
class separable_axes {
 public:
  constexpr explicit separable_axes(const graph& g) : g_(g), along_(g.nodes.size(), -1) {}

  constexpr void set(int i, int axes) { along_[i] = axes; }
  constexpr int of(int i) const { return along_[i]; }
  /// Follows the nodes from `first` to `last`.
  constexpr void run(int first, int last) {
    for (int i = first; i <= last; ++i) {
      const node& n = g_.at(i);
      if (along_[i] >= 0 || !passes_gradient(n)) continue;
      bool any = false;
      for (int k = 0; k < n.input_count; ++k) any = any || along(n, k) >= 0;
      if (any) along_[i] = of_node(n);
    }
  }

 private:
  constexpr int along(const node& n, int k) const { return along_[g_.input(n, k)]; }
  constexpr const shape& extent(const node& n, int k) const { return g_.at(g_.input(n, k)).result.extent; }

  static constexpr int lesser(int a, int b) { return a < b ? a : b; }
  // The number of leading axes, at most `most`, along which two shapes have the same sizes.
  static constexpr int common(const shape& a, const shape& b, int most) {
    int n = 0;
    while (n < most && n < a.rank && n < b.rank && a[n] == b[n]) ++n;
    return n;
  }
  // Operands that broadcast to the result: shapes are aligned at their ends.
  constexpr int aligned(const node& n, int most) const {
    for (int k = 0; k < n.input_count; ++k)
      if (along(n, k) >= 0)
        most = extent(n, k).rank == n.result.extent.rank ? common(extent(n, k), n.result.extent, lesser(most, along(n, k))) : 0;
    return most;
  }
  constexpr std::span<const std::int64_t> attributes_of(const node& n) const {
    return {g_.numbers.data() + n.attributes, static_cast<std::size_t>(n.attribute_count)};
  }
  // The first of these axes.
  constexpr int first_axis(const node& n, int from, int rank) const {
    int first = rank;
    for (int k = from; k < n.attribute_count; ++k) first = lesser(first, rule::axis_of(g_.attribute(n, k), rank));
    return first;
  }

  constexpr int of_node(const node& n) const {
    const op_info& op = *n.op;
    const int most = along(n, 0);  // of operators with one operand
    const shape& to = n.result.extent;
    if (op.kind == op_kind::element || op.kind == op_kind::identity || is_operator<broadcast_to_op>(op)) return aligned(n, to.rank);
    const shape& from = extent(n, 0);
    if (op.kind == op_kind::reduction || is_operator<mean_op>(op)) {
      const int mask = rule::reduced_axes(attributes_of(n).data(), n.attribute_count, from.rank);
      int axis = 0;
      while (axis < from.rank && (mask >> axis & 1) == 0) ++axis;
      return lesser(most, axis);
    }
    if (is_operator<reshape_op>(op) || is_operator<squeeze_op>(op) || is_operator<expand_dims_op>(op)) return common(from, to, most);
    if (is_operator<transpose_op>(op)) {
      int axis = 0;
      while (axis < most && transpose_op::axis(attributes_of(n).data(), n.attribute_count, from.rank, axis) == axis) ++axis;
      return axis;
    }
    if (is_operator<slice_op>(op) || is_operator<pad_op>(op)) {
      int axis = 0;
      while (axis < most && g_.attribute(n, axis) == 0 && from[axis] == to[axis]) ++axis;
      return axis;
    }
    if (is_operator<concat_op>(op)) {
      int least = rule::axis_of(g_.attribute(n, 0), to.rank);
      for (int k = 0; k < n.input_count; ++k)
        if (along(n, k) >= 0) least = lesser(least, along(n, k));
      return least;
    }
    if (is_operator<softmax_op>(op) || is_operator<log_softmax_op>(op)) return lesser(most, rule::axis_of(g_.attribute(n, 0), from.rank));
    if (is_operator<reverse_op>(op)) return lesser(most, first_axis(n, 0, from.rank));
    if (is_operator<matmul_op>(op) || is_operator<stacked_matmul_op>(op)) {
      const bool keeps_rows = along(n, 1) < 0 && g_.attribute(n, 0) == 0;  // each row of the result is of one row of the first operand
      return aligned(n, to.rank - (keeps_rows ? 1 : 2));
    }
    if (op.kind == op_kind::composite) return expanded(n);
    return 0;
  }
  // A composite is followed through the operators that define it.
  constexpr int expanded(const node& n) const {
    graph piece;
    list<int> operands;
    for (int k = 0; k < n.input_count; ++k) operands.push_back(piece.add_leaf(info_of<number_op>, g_.at(g_.input(n, k)).result, {}, 0));
    const int whole = piece.add(*n.op, operands, attributes_of(n));
    gradient_scope scope(piece, whole, {}, nullptr, nullptr);
    const int result = n.op->expand(scope).index();
    separable_axes inner(piece);
    for (int k = 0; k < n.input_count; ++k) inner.set(operands[k], along(n, k));
    inner.run(whole + 1, result);
    return inner.of(result) < 0 ? 0 : inner.of(result);
  }

  const graph& g_;
  list<int> along_;
};

/// The number of leading axes along which each entry of `y` depends only on the same entry of `x`.
constexpr int separable_axes_of(const graph& g, int y, int x) {
  separable_axes axes(g);
  axes.set(x, g.at(x).result.extent.rank);
  axes.run(x + 1, y);
  const int found = axes.of(y);
  return found < 0 ? 0 : found;
}

}  // namespace leat::passes
