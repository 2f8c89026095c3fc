#pragma once
// A single rewrite of the whole graph before fusion: drops nodes that the targets do not need, expands composites, folds constants,
// simplifies algebra, merges equal nodes, and moves views to where kernels can use them. The pass builds a new graph from the old one in
// one sweep. The new graph merges equal nodes as it grows, so common subexpressions are eliminated at no extra cost.

#include <bit>
#include <leat/core/list.hpp>
#include <leat/ops/state.hpp>
#include <leat/passes/stitch.hpp>
#include <leat/passes/variance.hpp>
#include <utility>

namespace leat::passes {

using leat::detail::list;
using leat::detail::list_view;

/// A copy of the operand, broadcast to the attributes' shape. It replaces a view where an array must be stored separately.
struct copy_op {
  static constexpr std::string_view type = "Copy";
  static constexpr op_kind kind = op_kind::element;
  static constexpr inference infer(const operand_list& x) {
    inference got{x.type(0), {}};
    for (int i = 0; i < x.attribute_count; ++i) got.extent.push(x.attribute(i));
    return got;
  }
  template <class M, class V>
  static constexpr V apply(V x) {
    return x;
  }
};

/// Checks an integer divisor for zeros: returns the operand, or throws invalid_argument before anything is written. Attributes: the shape
/// of the quotient; an empty one needs no check. Source: TensorFlow's "Integer division by zero".
struct check_divisor_op {
  static constexpr std::string_view type = "CheckDivisor";
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr bool only_checks = true;
  static constexpr inference infer(const operand_list& x) { return {x.type(0), x.extent(0)}; }
};

namespace detail {

/// Whether an operator divides integers, its first operand by its second, so that a divisor of 0 is an error.
constexpr bool divides_integers(int code, dtype type) {
  return is_integer(type) && (code == operator_record<truncate_div_op>::code || code == operator_record<floor_div_op>::code ||
                              code == operator_record<floor_mod_op>::code || code == operator_record<truncate_mod_op>::code);
}
constexpr bool divides_integers(const op_info& op, dtype type) { return divides_integers(op.code, type); }

constexpr bool is_constant(const graph& g, int i) { return g.at(i).op->kind == op_kind::constant; }
constexpr double constant_value(const graph& g, int i) {
  return leat::detail::value_of_bits(g.at(i).result.type, g.attribute(g.at(i), 0));
}
constexpr bool is_number(const graph& g, int i, double value) { return is_constant(g, i) && constant_value(g, i) == value; }

template <class Op>
constexpr bool is(const graph& g, int i) {
  return is_operator<Op>(*g.at(i).op);
}

/// Whether 1 / x is exact, that is, x is a power of two within range.
constexpr bool has_exact_reciprocal(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const auto exponent = bits >> 52 & 0x7ff;
  return (bits & 0xfffffffffffffull) == 0 && exponent > 1023 - 100 && exponent < 1023 + 100;
}

/// The constant that an operator gives for one or two numbers, or -1 if run time computes it.
constexpr int fold_number(graph& to, const op_info& op, dtype type, const shape& extent, const double* values) {
  if ((op.code == info_of<real_div_op>.code && values[1] == 0) || (op.code == info_of<reciprocal_op>.code && values[0] == 0)) return -1;
  const double value = op.fold(values);
  constexpr double limit = 3.0e38;
  if (!(value < limit && value > -limit)) return -1;
  if (!is_floating(type) && (value > 2147483647.0 || value < -2147483648.0)) return -1;
  if (type == dtype::uint8 && (value < 0 || value > 255)) return -1;
  return leat::constant(to, type, extent, value).index();
}

class simplifier {
 public:
  constexpr explicit simplifier(const graph& from) : from_(from), to_{}, map_(from.nodes.size(), -1) {
    to_.merge_equal = true;
    to_.nodes.reserve(from.nodes.size() + 16);
    to_.edges.reserve(from.edges.size() + 32);
    to_.dimension_names = from.dimension_names;
    to_.models = from.models;
  }

  constexpr graph run(list<int>& targets) {
    list<char> live(from_.nodes.size(), 0);
    for (int t : targets) live[t] = 1;
    for (std::size_t i = from_.nodes.size(); i-- > 0;) {
      if (live[i] == 0) continue;
      const node& n = from_.nodes[i];
      for (int k = 0; k < n.input_count; ++k) live[from_.input(n, k)] = 1;
      for (int k = 0; k < n.control_count; ++k) live[from_.control(n, k)] = 1;
    }
    for (std::size_t i = 0; i < from_.nodes.size(); ++i)
      if (live[i] != 0) map_[i] = move(static_cast<int>(i));
    for (int& t : targets) t = map_[t];
    return std::move(to_);
  }

 private:
  friend class stitcher<simplifier>;
  constexpr graph& nodes() { return to_; }
  static constexpr bool copies(const op_info& op) { return is_operator<copy_op>(op); }

  constexpr int move(int index) {
    const node& n = from_.at(index);
    const list_view<std::int64_t> attributes(from_.numbers.data() + n.attributes, static_cast<std::size_t>(n.attribute_count));
    switch (n.op->kind) {
      case op_kind::placeholder:
      case op_kind::variable:
      case op_kind::constant:
      case op_kind::number:
      case op_kind::extent:
      case op_kind::index: return leaf(n, attributes);
      default: break;
    }
    int inputs[graph::max_operands];
    for (int k = 0; k < n.input_count; ++k) inputs[k] = map_[from_.input(n, k)];
    const list_view<int> operands(inputs, static_cast<std::size_t>(n.input_count));
    if (n.control_count > 0 || n.op->kind == op_kind::group || n.op->kind == op_kind::assign) {
      list<int> controls;
      for (int k = 0; k < n.control_count; ++k) controls.push_back(map_[from_.control(n, k)]);
      if (is_operator<identity_op>(*n.op) && to_.at(inputs[0]).op->kind == op_kind::variable &&
          from_.at(from_.input(n, 0)).op->kind != op_kind::variable) {
        const shape extent = to_.at(inputs[0]).result.extent;
        inputs[0] = to_.add(info_of<copy_op>, operands, {extent.dim, static_cast<std::size_t>(extent.rank)});
      }
      return to_.add(*n.op, operands, attributes, controls);
    }
    return emit(*n.op, operands, attributes);
  }

  // Adds a node in its simplest form. Composites are expanded, and their expansion is simplified in turn.
  constexpr int emit(const op_info& op, list_view<int> inputs, list_view<std::int64_t> attributes) {
    if (op.kind == op_kind::identity) return inputs[0];
    if (op.kind == op_kind::composite) return expand(op, inputs, attributes);
    int shorter[graph::max_operands];
    if (op.kind == op_kind::element) {
      if (const int known = algebra(op, inputs); known >= 0) return known;
      if (const int folded = fold(op, inputs); folded >= 0) return folded;
      inputs = without_broadcasts(op, inputs, attributes, shorter);
      if (attributes.empty())
        if (const int parts = stitch_.operate(op, inputs); parts >= 0) return parts;
      if (divides_integers(op, to_.at(inputs[0]).result.type)) inputs = with_checked_divisor(inputs, shorter);
    }
    if (op.kind == op_kind::view || op.kind == op_kind::reduction)
      if (const int known = rearrange(op, inputs, attributes); known >= 0) return known;
    if (is_operator<matmul_op>(op)) return product(inputs, attributes);
    if (is_operator<pad_op>(op))
      if (const int known = padded(inputs[0], to_.infer(op, inputs.data(), 1, attributes).extent); known >= 0) return known;
    if (is_operator<broadcast_to_op>(op)) return to_.add(info_of<copy_op>, inputs, attributes);
    return to_.add(op, inputs, attributes);
  }

  constexpr int expand(const op_info& op, list_view<int> inputs, list_view<std::int64_t> attributes) {
    // A composite is expanded in a graph of its own, with placeholders for the operands, and then moved here node by node.
    graph piece;
    piece.merge_equal = true;
    for (int i : inputs) piece.add_leaf(info_of<number_op>, to_.at(i).result, {}, 0);
    list<int> operands;
    for (std::size_t k = 0; k < inputs.size(); ++k) operands.push_back(static_cast<int>(k));
    const int whole = piece.add(op, operands, attributes);
    gradient_scope scope(piece, whole, {}, nullptr, nullptr);
    const int result = op.expand(scope).index();
    list<int> at(piece.nodes.size(), -1);
    for (std::size_t k = 0; k < inputs.size(); ++k) at[k] = inputs[k];
    for (std::size_t i = inputs.size(); i < piece.nodes.size(); ++i) {
      const node& n = piece.nodes[i];
      if (static_cast<int>(i) == whole) continue;
      const list_view<std::int64_t> values(piece.numbers.data() + n.attributes, static_cast<std::size_t>(n.attribute_count));
      if (n.input_count == 0) {
        at[i] = leaf(n, values);
        continue;
      }
      int mapped[graph::max_operands];
      for (int k = 0; k < n.input_count; ++k) mapped[k] = at[piece.input(n, k)];
      at[i] = emit(*n.op, {mapped, static_cast<std::size_t>(n.input_count)}, values);
    }
    return at[result];
  }
  constexpr int leaf(const node& n, list_view<std::int64_t> values) {
    if (const int known = to_.find(n.id); known >= 0) return known;
    const int made = to_.add_leaf(*n.op, n.result, n.name, n.id, values);
    to_.remember(n.id, made);
    return made;
  }

  constexpr int scalar(dtype type, double value) { return leat::constant(to_, type, {}, value).index(); }

  // Whether the broadcast shape of the two nodes is that of `i`, so that `i` may replace the result.
  constexpr bool keeps_shape(int i, int other) const {
    const auto both = broadcast(to_.at(i).result.extent, to_.at(other).result.extent);
    return both.extent == to_.at(i).result.extent;
  }

  // Whether neither `i` nor any node that it depends on writes or waits for a write, so that a use of `i` may be dropped. Visits at most
  // `most` nodes.
  constexpr bool writes_nothing(int i, int& most) const {
    const node& n = to_.at(i);
    if (--most < 0 || n.control_count > 0 || n.op->kind == op_kind::assign || n.op->kind == op_kind::group) return false;
    for (int k = 0; k < n.input_count; ++k)
      if (!writes_nothing(to_.input(n, k), most)) return false;
    return true;
  }

  constexpr int algebra(const op_info& op, list_view<int> in) {
    if (is_operator<neg_op>(op)) {
      if (is<neg_op>(to_, in[0])) return to_.input(to_.at(in[0]), 0);
      return multiple(in[0], -1);
    }
    if (is_operator<select_op>(op) && in[1] == in[2] && keeps_shape(in[1], in[0])) {
      int most = 256;
      if (writes_nothing(in[0], most)) return in[1];
    }
    if (in.size() != 2) return -1;
    const int a = in[0];
    const int b = in[1];
    if (is_operator<mul_op>(op)) {
      if (is_number(to_, b, 1) && keeps_shape(a, b)) return a;
      if (is_number(to_, a, 1) && keeps_shape(b, a)) return b;
      if (is_number(to_, b, -1) && keeps_shape(a, b)) return emit1(info_of<neg_op>, a);
      if (is_number(to_, a, -1) && keeps_shape(b, a)) return emit1(info_of<neg_op>, b);
      if (is_constant(to_, a) && keeps_shape(b, a)) return multiple(b, constant_value(to_, a));
      if (is_constant(to_, b) && keeps_shape(a, b)) return multiple(a, constant_value(to_, b));
    } else if (is_operator<add_op>(op)) {
      if (is_number(to_, b, 0) && keeps_shape(a, b)) return a;
      if (is_number(to_, a, 0) && keeps_shape(b, a)) return b;
      if (is<neg_op>(to_, b)) return emit2(info_of<sub_op>, a, to_.input(to_.at(b), 0));
      if (is<neg_op>(to_, a)) return emit2(info_of<sub_op>, b, to_.input(to_.at(a), 0));
    } else if (is_operator<sub_op>(op)) {
      if (is_number(to_, b, 0) && keeps_shape(a, b)) return a;
      if (is<neg_op>(to_, b)) return emit2(info_of<add_op>, a, to_.input(to_.at(b), 0));
    } else if (is_operator<real_div_op>(op)) {
      if (is_number(to_, b, 1) && keeps_shape(a, b)) return a;
      if (is_constant(to_, b) && has_exact_reciprocal(constant_value(to_, b)) && to_.at(b).result.extent.rank == 0)
        return emit2(info_of<mul_op>, a, scalar(to_.at(b).result.type, 1 / constant_value(to_, b)));
    } else if (is_operator<truncate_div_op>(op)) {
      if (is_number(to_, b, 1) && keeps_shape(a, b)) return a;
    }
    return -1;
  }
  // `factor` times a node that is itself a multiple, as one multiplication, or -1 if the result could differ for some value. It cannot
  // differ if one of the factors is a power of two, because only one product is then rounded, and both are at least 1, because a product
  // that overflows on the way then also overflows at the end.
  constexpr int multiple(int i, double factor) {
    const node& n = to_.at(i);
    if (!is_operator<mul_op>(*n.op) || !is_floating(n.result.type)) return -1;
    for (int k = 0; k < 2; ++k) {
      const int number = to_.input(n, k);
      const int rest = to_.input(n, 1 - k);
      if (!is_constant(to_, number) || !keeps_shape(rest, number)) continue;
      const double own = constant_value(to_, number);
      const double both = own * factor;
      const auto size = [](double x) { return x < 0 ? -x : x; };
      if (!has_exact_reciprocal(own) && !has_exact_reciprocal(factor)) continue;
      if (size(factor) != 1 && !(size(own) >= 1 && size(factor) >= 1 && size(both) < 1e30)) continue;
      return emit2(info_of<mul_op>, rest, scalar(n.result.type, both));
    }
    return -1;
  }
  constexpr int emit1(const op_info& op, int a) {
    const int in[]{a};
    return emit(op, in, {});
  }
  constexpr int emit2(const op_info& op, int a, int b) {
    const int in[]{a, b};
    return emit(op, in, {});
  }

  constexpr int fold(const op_info& op, list_view<int> in) {
    if (!op.folds) return -1;
    double values[2]{};
    shape extent;
    for (std::size_t k = 0; k < in.size(); ++k) {
      if (!is_constant(to_, in[k])) return -1;
      values[k] = constant_value(to_, in[k]);
      extent = broadcast(extent, to_.at(in[k]).result.extent).extent;
    }
    return fold_number(to_, op, to_.at(in[0]).result.type, extent, values);
  }

  // Drops explicit broadcasts before an element-wise operator, which broadcasts its operands itself, unless the broadcast determines the
  // result's shape. A uniform array becomes a scalar.
  constexpr list_view<int> without_broadcasts(const op_info& op, list_view<int> in,
                                                    list_view<std::int64_t> attributes, int (&shorter)[graph::max_operands]) {
    bool changed = false;
    for (std::size_t k = 0; k < in.size(); ++k) shorter[k] = in[k];
    for (std::size_t k = 0; k < in.size(); ++k) {
      int candidate = -1;
      if (is<copy_op>(to_, in[k]))
        candidate = to_.input(to_.at(in[k]), 0);
      else if (is_constant(to_, in[k]) && to_.at(in[k]).result.extent.rank > 0)
        candidate = scalar(to_.at(in[k]).result.type, constant_value(to_, in[k]));
      if (candidate < 0) continue;
      const auto before = to_.infer(op, shorter, static_cast<int>(in.size()), attributes);
      const int broadcast = std::exchange(shorter[k], candidate);
      const auto after = to_.infer(op, shorter, static_cast<int>(in.size()), attributes);
      if (!after.problem.empty() || !(before.extent == after.extent)) shorter[k] = broadcast;
      else changed = true;
    }
    return changed ? list_view<int>(shorter, in.size()) : in;
  }

  // Checks the divisor, except where it cannot be 0: `zero_divisor` checks constants, numbers were checked where they were written, and the
  // maximum of a value and a positive constant is positive.
  constexpr list_view<int> with_checked_divisor(list_view<int> in, int (&checked)[graph::max_operands]) {
    const node& divisor = to_.at(in[1]);
    if (is_constant(to_, in[1]) || (divisor.op->kind == op_kind::number && divisor.attribute_count == divisor_number_attributes)) return in;
    if (is_operator<maximum_op>(*divisor.op) && is_constant(to_, to_.input(divisor, 1)) && constant_value(to_, to_.input(divisor, 1)) > 0)
      return in;
    const shape quotient = broadcast(to_.at(in[0]).result.extent, divisor.result.extent).extent;
    const int operand[]{in[1]};
    checked[0] = in[0];
    checked[1] = to_.add(info_of<check_divisor_op>, operand, {quotient.dim, static_cast<std::size_t>(quotient.rank)});
    return {checked, 2};
  }

  constexpr int rearrange(const op_info& op, list_view<int> in, list_view<std::int64_t> attributes) {
    const int x = in[0];
    const tensor_info& source = to_.at(x).result;
    const auto got = to_.infer(op, &x, 1, attributes);
    if (op.kind == op_kind::reduction) {
      // The sum of a uniform array is a multiple of its value.
      if (is_operator<sum_op>(op) && is_constant(to_, x) && source.extent.is_static()) {
        const double count =
            got.extent.elements() == 0 ? 0 : static_cast<double>(source.extent.elements()) / static_cast<double>(got.extent.elements());
        return leat::constant(to_, source.type, got.extent, constant_value(to_, x) * count).index();
      }
      if (got.extent.squeezed() == source.extent.squeezed() && source.extent.is_static()) return reshaped(x, got.extent);
      // Normal form of reductions, so that equal ones merge: axes are sorted, none is kept, and a reshape restores dimensions of 1.
      const int mask = rule::reduced_axes(attributes.data(), static_cast<int>(attributes.size()), source.extent.rank);
      std::int64_t plain[max_rank + 1]{0};
      std::size_t count = 1;
      for (int a = 0; a < source.extent.rank; ++a)
        if ((mask >> a & 1) != 0) plain[count++] = a;
      if (count == 1) return -1;
      const list_view<std::int64_t> axes(plain, count);
      if (is_operator<sum_op>(op))
        if (const int array = array_of_squared_distances(to_, x, axes); array >= 0) return reshaped(sum_by_pivot(array, axes), got.extent);
      return reshaped(to_.add(op, in, axes), got.extent);
    }
    if (got.extent == source.extent && (!is_operator<transpose_op>(op) || source.extent.rank < 2)) return x;
    if (is_constant(to_, x)) return leat::constant(to_, source.type, got.extent, constant_value(to_, x)).index();
    if (is_operator<reshape_op>(op)) return reshaped(x, got.extent);
    if (to_.at(x).op->kind == op_kind::index) return view_of_positions(op, x, attributes, got.extent);
    return -1;
  }
  // A view of positions as positions: nothing stores their elements, so there is nothing to view.
  constexpr int view_of_positions(const op_info& op, int x, list_view<std::int64_t> attributes, const shape& extent) {
    const tensor_info source = to_.at(x).result;
    const auto axis = static_cast<int>(to_.attribute(to_.at(x), 0));
    if (is_operator<transpose_op>(op)) {
      int to = 0;
      while (transpose_op::axis(attributes.data(), static_cast<int>(attributes.size()), source.extent.rank, to) != axis) ++to;
      return index_along(to_, source.type, extent, to, to_.at(x).attribute_count == direction_attributes).index();
    }
    if (is_operator<slice_op>(op)) {
      const int within = index_along(to_, source.type, extent, axis).index();
      return emit2(info_of<add_op>, within, scalar(source.type, static_cast<double>(attributes[static_cast<std::size_t>(axis)])));
    }
    return -1;
  }
  // Positions in another shape: positions again, if the shapes differ by sizes of 1 alone, otherwise a view of an array of them.
  constexpr int reshaped_positions(int x, const shape& extent) {
    const tensor_info source = to_.at(x).result;
    const auto axis = static_cast<int>(to_.attribute(to_.at(x), 0));
    if (source.extent[axis] == 1) return leat::constant(to_, source.type, extent, 0).index();
    if (source.extent.squeezed() == extent.squeezed()) {
      int before = 0;  // sizes before the axis that are not 1
      for (int a = 0; a < axis; ++a) before += source.extent[a] != 1;
      int to = 0;
      while (extent[to] == 1 || before-- > 0) ++to;
      return index_along(to_, source.type, extent, to, to_.at(x).attribute_count == direction_attributes).index();
    }
    const int in[]{x};
    const int copied[]{to_.add(info_of<copy_op>, in, {source.extent.dim, static_cast<std::size_t>(source.extent.rank)})};
    return to_.add(info_of<reshape_op>, copied, {extent.dim, static_cast<std::size_t>(extent.rank)});
  }
  // A padded array that equals its operand, or consists only of padding; -1 for others.
  constexpr int padded(int x, const shape& extent) {
    const tensor_info& source = to_.at(x).result;
    if (source.extent == extent) return x;
    if (!source.extent.is_static() || source.extent.elements() > 0) return -1;
    return leat::constant(to_, source.type, extent, 0).index();
  }
  constexpr int reshaped(int x, const shape& extent) {
    if (to_.at(x).result.extent == extent) return x;
    if (is_constant(to_, x)) return leat::constant(to_, to_.at(x).result.type, extent, constant_value(to_, x)).index();
    if (is<reshape_op>(to_, x)) return reshaped(to_.input(to_.at(x), 0), extent);
    if (to_.at(x).op->kind == op_kind::index) return reshaped_positions(x, extent);
    const int in[]{x};
    return to_.add(info_of<reshape_op>, in, {extent.dim, static_cast<std::size_t>(extent.rank)});
  }

  // The sum of squared distances from the mean over these axes, computed with the array's first elements along them as pivots
  // (variance.hpp). Rounding may make the result negative; it is then 0.
  constexpr int sum_by_pivot(int x, list_view<std::int64_t> axes) {
    const tensor_info array = to_.at(x).result;
    const int rank = array.extent.rank;
    std::int64_t part[2 * max_rank]{};
    for (int a = 0; a < rank; ++a) part[rank + a] = array.extent[a];
    double count = 1;
    for (std::size_t k = 1; k < axes.size(); ++k) {
      count *= static_cast<double>(array.extent[static_cast<int>(axes[k])]);
      part[rank + axes[k]] = 1;
    }
    const int pivot = to_.add(info_of<slice_op>, {&x, 1}, {part, static_cast<std::size_t>(2 * rank)});
    const int distance = emit2(info_of<sub_op>, x, pivot);
    const int squares = emit1(info_of<square_op>, distance);
    const int sum = to_.add(info_of<sum_op>, {&distance, 1}, axes);
    const int sum_of_squares = to_.add(info_of<sum_op>, {&squares, 1}, axes);
    const int share = emit2(info_of<real_div_op>, sum, scalar(array.type, count));
    const int rest = emit2(info_of<sub_op>, sum_of_squares, emit2(info_of<mul_op>, sum, share));
    return emit2(info_of<maximum_op>, rest, scalar(array.type, 0));
  }

  // Folds transpositions of the operands into a product.
  constexpr int product(list_view<int> in, list_view<std::int64_t> attributes) {
    std::int64_t flags[]{attributes[0], attributes[1]};
    int operands[]{in[0], in[1]};
    for (int k = 0; k < 2; ++k)
      while (is<transpose_op>(to_, operands[k])) {
        const node& t = to_.at(operands[k]);
        const bool swaps = t.attribute_count == 0 || rule::axis_of(to_.attribute(t, 0), 2) != 0;
        operands[k] = to_.input(t, 0);
        if (swaps) flags[k] = 1 - flags[k];
      }
    return to_.add(info_of<matmul_op>, operands, flags);
  }

  const graph& from_;
  graph to_;
  list<int> map_;
  stitcher<simplifier> stitch_{*this};
};

}  // namespace detail

/// The error if integers are divided by a constant 0, or an empty message.
constexpr message zero_divisor(const graph& g) {
  message m;
  for (const node& n : g.nodes)
    if (n.input_count == 2 && m.size == 0 && detail::divides_integers(*n.op, n.result.type) && detail::is_number(g, g.input(n, 1), 0) &&
        !(n.result.extent.is_static() && n.result.extent.elements() == 0))
      m << n.op->type << ": integer division by zero: the divisor is a constant 0";
  return m;
}

/// The graph rewritten for execution; `targets` are renumbered.
constexpr graph simplify(const graph& g, list<int>& targets) { return detail::simplifier(g).run(targets); }

}  // namespace leat::passes
