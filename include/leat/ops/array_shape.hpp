#pragma once
// Operators that rearrange elements without changing them: other shapes, permuted axes, repeated elements, and the operand itself. Errors
// of all functions: rules.hpp.

#include <leat/ops/arithmetic.hpp>

namespace leat {

namespace rule {
/// Whether two shapes have the same number of elements: the same product of sizes, and the same names. True if a dimension is unknown,
/// because the numbers may then be equal.
constexpr bool same_elements(const shape& a, const shape& b) {
  for (int i = 0; i < a.rank; ++i)
    if (a[i] == unknown_dimension) return true;
  for (int i = 0; i < b.rank; ++i)
    if (b[i] == unknown_dimension) return true;
  if (!a.is_countable() || !b.is_countable()) return false;
  std::int64_t x = 1;
  std::int64_t y = 1;
  int names = 0;
  for (int i = 0; i < a.rank; ++i) {
    if (a[i] >= 0)
      x *= a[i];
    else
      ++names;
  }
  for (int i = 0; i < b.rank; ++i) {
    if (b[i] >= 0) {
      y *= b[i];
    } else {
      --names;
      int in_a = 0;
      int in_b = 0;
      for (int k = 0; k < a.rank; ++k) in_a += a[k] == b[i];
      for (int k = 0; k < b.rank; ++k) in_b += b[k] == b[i];
      if (in_a != in_b) return false;
    }
  }
  return names == 0 && x == y;
}
/// The size that replaces the dimension -1 of `to`, or -1 if no size fits. Named dimensions are not counted, because both shapes have the
/// same ones. Zeros are not counted either if `to` has one: [3, 0] reshaped to [-1, 0] is [3, 0]. Source: TensorFlow `Reshape`.
constexpr std::int64_t remaining_size(const shape& from, const shape& to) {
  bool is_empty = false;
  for (int i = 0; i < to.rank; ++i) is_empty = is_empty || to[i] == 0;
  std::int64_t all = 1;
  std::int64_t rest = 1;
  for (int i = 0; i < from.rank; ++i)
    if (from[i] > 0 || (from[i] == 0 && !is_empty)) all *= from[i];
  for (int i = 0; i < to.rank; ++i)
    if (to[i] > 0) rest *= to[i];
  return is_empty || all % rest == 0 ? all / rest : -1;
}
}  // namespace rule

/// The same elements in another shape. Attributes: the dimensions; one may be -1, which is computed from the others. Source: TensorFlow
/// `Reshape`.
struct reshape_op {
  static constexpr std::string_view type = "Reshape";
  static constexpr facts what{.work = work_kind::none, .reshapes = true, .takes_shape = true};
  static constexpr field form[]{{field_kind::operand, "tensor"},
                                {field_kind::vector, "shape"},
                                {field_kind::type_of, "T"},
                                {field_kind::fixed_type, "Tshape", 3}};
  static constexpr op_kind kind = op_kind::view;
  static constexpr inference infer(const operand_list& x) {
    inference got{x.type(0), {}};
    if (x.attribute_count > max_rank) return inference::wrong("more than 8 dimensions");
    int open = -1;
    for (int i = 0; i < x.attribute_count; ++i) {
      got.extent.push(x.attribute(i));
      if (x.attribute(i) != -1) continue;
      if (open >= 0) return inference::wrong("more than one dimension of -1");
      open = i;
    }
    if (!got.extent.is_countable()) return inference::wrong("a result of more than 2^44 elements");
    std::int64_t rest = 1;
    for (int i = 0; i < x.attribute_count; ++i)
      if (x.attribute(i) >= 0) rest *= x.attribute(i);
    if (open >= 0) {
      // The dimension -1 is a size, or the one name that the other dimensions lack.
      std::int64_t all = 1;
      std::int64_t missing = 0;
      for (int i = 0; i < x.extent(0).rank; ++i) {
        const auto d = x.extent(0)[i];
        if (d == unknown_dimension) return got;  // the dimension -1 is unknown, too
        if (d >= 0) {
          all *= d;
        } else {
          bool used = false;
          for (int k = 0; k < got.extent.rank; ++k) used = used || got.extent[k] == d;
          if (!used) missing = d;
        }
      }
      if (missing == 0)
        got.extent.dim[open] = rule::remaining_size(x.extent(0), got.extent);
      else if (all == rest)
        got.extent.dim[open] = missing;
      if (got.extent[open] == -1) return inference::wrong("the dimension of -1 cannot be computed");
    }
    if (!rule::same_elements(x.extent(0), got.extent)) return inference::wrong("the number of elements differs");
    return got;
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, g.dy_in_shape_of(g.input(0), G::one_size::may_be_open));
  }
};
/// `reshape` for handles, with the shape as an argument.
template <class Handle>
  requires std::is_same_v<Handle, output>
constexpr Handle reshape_to(const Handle& x, const shape& to) {
  if (x.extent() == to) return x;
  return make_node<reshape_op>({to.dim, static_cast<std::size_t>(to.rank)}, x);
}
namespace detail {
template <class Dims>
struct dims_as_attributes;
template <std::int64_t... Ds>
struct dims_as_attributes<dims<Ds...>> {
  using type = attributes<Ds...>;
};
template <dimension... Ds>
using reshape_attributes = typename dims_as_attributes<dims_of<Ds...>>::type;
}  // namespace detail
/// The same elements in another shape: `reshape<64, -1>(x)`. A dimension may be a name; one may be -1, which is computed from the others.
/// Shapes: x [d0, …, dn]; result `Ds`. Dtypes: any. Errors: the numbers of elements differ. Source: TensorFlow `Reshape`.
template <dimension... Ds, class X>
  requires accepted_with<reshape_op, detail::reshape_attributes<Ds...>, X>
constexpr made_with<reshape_op, detail::reshape_attributes<Ds...>, X> reshape(const X& x) {
  return make<reshape_op, detail::reshape_attributes<Ds...>>(x);
}
template <dimension... Ds, class X>
  requires refused_with<reshape_op, detail::reshape_attributes<Ds...>, X>
why_with<reshape_op, detail::reshape_attributes<Ds...>, X> reshape(const X&) = delete;
LEAT_OTHERWISE_OF(reshape, "<dimensions...>(x) takes one tensor; dimensions are template arguments: reshape<64, -1>(x); " LEAT_TENSORS);

/// Removes dimensions of size 1. Attributes: their axes, or none for all dimensions of size 1. Source: TensorFlow `Squeeze`.
struct squeeze_op {
  static constexpr std::string_view type = "Squeeze";
  static constexpr facts what{.work = work_kind::none, .reshapes = true};
  static constexpr field form[]{{field_kind::operand, "input"}, {field_kind::integers, "squeeze_dims"}, {field_kind::type_of, "T"}};
  static constexpr op_kind kind = op_kind::composite;
  static constexpr inference infer(const operand_list& x) {
    const shape& from = x.extent(0);
    int mask = 0;
    for (int i = 0; i < x.attribute_count; ++i) {
      const int axis = rule::axis_of(x.attribute(i), from.rank);
      if (axis < 0) return inference::wrong("axis out of range");
      if (!may_equal(from[axis], 1)) return inference::wrong("the dimension at the axis is not 1");
      mask |= 1 << axis;
    }
    inference got{x.type(0), {}};
    for (int i = 0; i < from.rank; ++i) {
      if (x.attribute_count == 0 && from[i] == unknown_dimension) return {x.type(0), shape::unknown()};
      if (x.attribute_count == 0 ? from[i] != 1 : (mask >> i & 1) == 0) got.extent.push(from[i]);
    }
    return got;
  }
  template <class G>
  static constexpr output expand(G& g) {
    return reshape_to(g.input(0), g.result().extent());
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, g.dy_in_shape_of(g.input(0)));
  }
};
/// x without the dimensions of size 1 at `Axes`, or without all dimensions of size 1. Dtypes: any. Errors: axis out of range; a dimension
/// that is not 1. Source: TensorFlow `Squeeze`.
template <int... Axes, class X>
  requires accepted_with<squeeze_op, attributes<Axes...>, X>
constexpr made_with<squeeze_op, attributes<Axes...>, X> squeeze(const X& x) {
  return make<squeeze_op, attributes<Axes...>>(x);
}
template <int... Axes, class X>
  requires refused_with<squeeze_op, attributes<Axes...>, X>
why_with<squeeze_op, attributes<Axes...>, X> squeeze(const X&) = delete;
LEAT_OTHERWISE_OF(squeeze, "<axes...>(x) takes one tensor; axes are template arguments: squeeze<1>(x); " LEAT_TENSORS);

/// Inserts a dimension of size 1. Attribute: the axis. Source: TensorFlow `ExpandDims`.
struct expand_dims_op {
  static constexpr std::string_view type = "ExpandDims";
  static constexpr facts what{.work = work_kind::none, .reshapes = true};
  static constexpr field form[]{{field_kind::operand, "input"},
                                {field_kind::scalar, "dim"},
                                {field_kind::type_of, "T"},
                                {field_kind::fixed_type, "Tdim", 3}};
  static constexpr op_kind kind = op_kind::composite;
  static constexpr inference infer(const operand_list& x) {
    const shape& from = x.extent(0);
    const int axis = rule::axis_of(x.attribute(0), from.rank + 1);
    if (axis < 0) return inference::wrong("axis out of range");
    if (from.rank == max_rank) return inference::wrong("more than 8 dimensions");
    inference got{x.type(0), {}};
    for (int i = 0; i <= from.rank; ++i) {
      if (i == axis) got.extent.push(1);
      if (i < from.rank) got.extent.push(from[i]);
    }
    return got;
  }
  template <class G>
  static constexpr output expand(G& g) {
    return reshape_to(g.input(0), g.result().extent());
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, g.dy_in_shape_of(g.input(0)));
  }
};
/// x with a new dimension of size 1 before axis `Axis`; -1 appends it. Dtypes: any. Errors: axis out of range. Source: TensorFlow
/// `ExpandDims`.
template <int Axis, class X>
  requires accepted_with<expand_dims_op, attributes<Axis>, X>
constexpr made_with<expand_dims_op, attributes<Axis>, X> expand_dims(const X& x) {
  return make<expand_dims_op, attributes<Axis>>(x);
}
template <int Axis, class X>
  requires refused_with<expand_dims_op, attributes<Axis>, X>
why_with<expand_dims_op, attributes<Axis>, X> expand_dims(const X&) = delete;
LEAT_OTHERWISE_OF(expand_dims, "<axis>(x) takes one tensor; the axis is a template argument: expand_dims<0>(x); " LEAT_TENSORS);

/// Permutes axes. Attributes: for each axis of the result, the operand's axis; none reverses the axes. Source: TensorFlow `Transpose`.
struct transpose_op {
  static constexpr std::string_view type = "Transpose";
  static constexpr std::string_view call_name = "transpose";
  static constexpr field form[]{{field_kind::operand, "x"},
                                {field_kind::vector, "perm"},
                                {field_kind::type_of, "T"},
                                {field_kind::fixed_type, "Tperm", 3}};
  static constexpr op_kind kind = op_kind::view;
  static constexpr int axis(const std::int64_t* attribute, int count, int rank, int i) {
    return count == 0 ? rank - 1 - i : rule::axis_of(attribute[i], rank);
  }
  static constexpr inference infer(const operand_list& x) {
    const shape& from = x.extent(0);
    if (x.attribute_count != 0 && x.attribute_count != from.rank) return inference::wrong("not a permutation of the axes");
    inference got{x.type(0), {}};
    int seen = 0;
    for (int i = 0; i < from.rank; ++i) {
      const int a = axis(x.attributes, x.attribute_count, from.rank, i);
      if (a < 0 || (seen >> a & 1) != 0) return inference::wrong("not a permutation of the axes");
      seen |= 1 << a;
      got.extent.push(from[a]);
    }
    return got;
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (!g.wants(0)) return;
    const int rank = g.dy().extent().rank;
    std::int64_t attribute[max_rank + 1]{};
    for (int i = 0; i < g.attribute_count(); ++i) attribute[i] = g.attribute(i);
    std::int64_t inverse[max_rank]{};
    for (int i = 0; i < rank; ++i) inverse[axis(attribute, g.attribute_count(), rank, i)] = i;
    give(g, 0, make_node<transpose_op>({inverse, static_cast<std::size_t>(rank)}, g.dy()));
  }
};
/// x with its axes in the order `Axes`, or reversed if there are none: `transpose<1, 0>(x)`. Shapes: dimension i of the result is dimension
/// `Axes`[i] of x. Dtypes: any. Errors: not a permutation of the axes. Source: TensorFlow `Transpose`.
template <int... Axes, class X>
  requires accepted_with<transpose_op, attributes<Axes...>, X>
constexpr made_with<transpose_op, attributes<Axes...>, X> transpose(const X& x) {
  return make<transpose_op, attributes<Axes...>>(x);
}
template <int... Axes, class X>
  requires refused_with<transpose_op, attributes<Axes...>, X>
why_with<transpose_op, attributes<Axes...>, X> transpose(const X&) = delete;
LEAT_OTHERWISE_OF(transpose, "<axes...>(x) takes one tensor; axes are template arguments: transpose<1, 0>(x); " LEAT_TENSORS);

/// Repeats dimensions of size 1 up to a shape. Attributes: the dimensions. Source: TensorFlow `BroadcastTo`.
struct broadcast_to_op {
  static constexpr std::string_view type = "BroadcastTo";
  static constexpr facts what{.work = work_kind::broadcast, .takes_shape = true};
  static constexpr field form[]{{field_kind::operand, "input"},
                                {field_kind::vector, "shape"},
                                {field_kind::type_of, "T"},
                                {field_kind::fixed_type, "Tidx", 3}};
  static constexpr op_kind kind = op_kind::view;
  static constexpr inference infer(const operand_list& x) {
    if (x.attribute_count > max_rank) return inference::wrong("more than 8 dimensions");
    inference got{x.type(0), {}};
    for (int i = 0; i < x.attribute_count; ++i) got.extent.push(x.attribute(i));
    const auto both = broadcast(x.extent(0), got.extent);
    if (!both.ok || !may_equal(both.extent, got.extent)) return inference::wrong("the shape does not broadcast to the one asked for");
    return got;
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, g.dy());
  }
};
/// `broadcast_to` for handles, with the shape as an argument.
template <class Handle>
  requires std::is_same_v<Handle, output>
constexpr Handle broadcast_to(const Handle& x, const shape& to) {
  if (x.extent() == to) return x;
  return make_node<broadcast_to_op>({to.dim, static_cast<std::size_t>(to.rank)}, x);
}
/// x broadcast to the shape `Ds`. Dtypes: any. Errors: x does not broadcast to that shape. Source: TensorFlow `BroadcastTo`.
template <dimension... Ds, class X>
  requires accepted_with<broadcast_to_op, detail::reshape_attributes<Ds...>, X>
constexpr made_with<broadcast_to_op, detail::reshape_attributes<Ds...>, X> broadcast_to(const X& x) {
  return make<broadcast_to_op, detail::reshape_attributes<Ds...>>(x);
}
template <dimension... Ds, class X>
  requires refused_with<broadcast_to_op, detail::reshape_attributes<Ds...>, X>
why_with<broadcast_to_op, detail::reshape_attributes<Ds...>, X> broadcast_to(const X&) = delete;
LEAT_OTHERWISE_OF(broadcast_to, "<dimensions...>(x) takes one tensor; dimensions are template arguments: broadcast_to<3, 4>(x); "
                                LEAT_TENSORS);

struct identity_op {
  static constexpr std::string_view type = "Identity";
  static constexpr auto& form = leat::form::same;
  static constexpr op_kind kind = op_kind::identity;
  static constexpr inference infer(const operand_list& x) { return {x.type(0), x.extent(0)}; }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, g.dy());
  }
};
/// x itself, as a node of its own that can wait for control inputs. Dtypes: any. Source: TensorFlow `Identity`.
template <operand X>
constexpr auto identity(const X& x) {
  return make<identity_op>(x);
}
LEAT_TAKES_ONE_TENSOR(identity);
struct stop_gradient_op {
  static constexpr std::string_view type = "StopGradient";
  static constexpr facts what{.work = work_kind::none, .integers = integer_rule::same, .forwards = true, .stops_gradient = true};
  static constexpr auto& form = leat::form::same;
  static constexpr op_kind kind = op_kind::identity;
  static constexpr inference infer(const operand_list& x) { return {x.type(0), x.extent(0)}; }
  template <class G>
  static constexpr void gradient(G&) {}
};
/// x itself, but no gradient flows through it. Dtypes: any. Source: TensorFlow `StopGradient`.
template <operand X>
constexpr auto stop_gradient(const X& x) {
  return make<stop_gradient_op>(x);
}
LEAT_TAKES_ONE_TENSOR(stop_gradient);

}  // namespace leat
