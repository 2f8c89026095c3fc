#pragma once
// The same elements in another arrangement, and parts of arrays put together.

#include <leat/ops/arithmetic.hpp>

namespace leat {

namespace rule {
/// Whether two shapes hold equally many elements: the sizes multiply to the same number and the names are the same. With an
/// unknown dimension they may.
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
}  // namespace rule

/// The same elements in another shape. Attributes: the dimensions; one may be -1 and is then computed.
/// Source: TensorFlow `Reshape`.
struct reshape_op {
  static constexpr std::string_view type = "Reshape";
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
      // what is left over: a size, or one name that the other dimensions lack
      std::int64_t all = 1;
      std::int64_t missing = 0;
      for (int i = 0; i < x.extent(0).rank; ++i) {
        const auto d = x.extent(0)[i];
        if (d == unknown_dimension) return got;  // and what is left over is unknown, too
        if (d >= 0) {
          all *= d;
        } else {
          bool used = false;
          for (int k = 0; k < got.extent.rank; ++k) used = used || got.extent[k] == d;
          if (!used) missing = d;
        }
      }
      if (missing != 0 && all == rest)
        got.extent.dim[open] = missing;
      else if (missing == 0 && rest != 0 && all % rest == 0)
        got.extent.dim[open] = all / rest;
      else
        return inference::wrong("the dimension of -1 cannot be computed");
    }
    if (!rule::same_elements(x.extent(0), got.extent)) return inference::wrong("the number of elements differs");
    return got;
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, reshape_to(g.dy(), g.input(0).extent()));
  }
};
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
/// The same elements in another shape: `reshape<64, -1>(x)`; a dimension may be a name.
template <dimension... Ds, class X>
  requires accepted_with<reshape_op, detail::reshape_attributes<Ds...>, X>
constexpr made_with<reshape_op, detail::reshape_attributes<Ds...>, X> reshape(const X& x) {
  return make<reshape_op, detail::reshape_attributes<Ds...>>(x);
}
template <dimension... Ds, class X>
  requires refused_with<reshape_op, detail::reshape_attributes<Ds...>, X>
why_with<reshape_op, detail::reshape_attributes<Ds...>, X> reshape(const X&) = delete;
LEAT_OTHERWISE_OF(reshape, "<dimensions...>(x) takes one tensor; dimensions are template arguments: reshape<64, -1>(x); " LEAT_TENSORS);

/// Without some dimensions of 1. Attributes: the axes; none means all such. Source: TensorFlow `Squeeze`.
struct squeeze_op {
  static constexpr std::string_view type = "Squeeze";
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
    if (g.wants(0)) give(g, 0, reshape_to(g.dy(), g.input(0).extent()));
  }
};
/// Without the dimensions of 1 at `Axes`, or without all such.
template <int... Axes, class X>
  requires accepted_with<squeeze_op, attributes<Axes...>, X>
constexpr made_with<squeeze_op, attributes<Axes...>, X> squeeze(const X& x) {
  return make<squeeze_op, attributes<Axes...>>(x);
}
template <int... Axes, class X>
  requires refused_with<squeeze_op, attributes<Axes...>, X>
why_with<squeeze_op, attributes<Axes...>, X> squeeze(const X&) = delete;
LEAT_OTHERWISE_OF(squeeze, "<axes...>(x) takes one tensor; axes are template arguments: squeeze<1>(x); " LEAT_TENSORS);

/// With a new dimension of 1 at an axis. Source: TensorFlow `ExpandDims`.
struct expand_dims_op {
  static constexpr std::string_view type = "ExpandDims";
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
    if (g.wants(0)) give(g, 0, reshape_to(g.dy(), g.input(0).extent()));
  }
};
/// With a new dimension of 1 before axis `Axis`; -1 appends one.
template <int Axis, class X>
  requires accepted_with<expand_dims_op, attributes<Axis>, X>
constexpr made_with<expand_dims_op, attributes<Axis>, X> expand_dims(const X& x) {
  return make<expand_dims_op, attributes<Axis>>(x);
}
template <int Axis, class X>
  requires refused_with<expand_dims_op, attributes<Axis>, X>
why_with<expand_dims_op, attributes<Axis>, X> expand_dims(const X&) = delete;
LEAT_OTHERWISE_OF(expand_dims, "<axis>(x) takes one tensor; the axis is a template argument: expand_dims<0>(x); " LEAT_TENSORS);

/// Axes in another order. Attributes: for each result axis the operand's; none reverses them. Source: TensorFlow `Transpose`.
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
/// Axes in the order `Axes`, or reversed: `transpose<1, 0>(x)`.
template <int... Axes, class X>
  requires accepted_with<transpose_op, attributes<Axes...>, X>
constexpr made_with<transpose_op, attributes<Axes...>, X> transpose(const X& x) {
  return make<transpose_op, attributes<Axes...>>(x);
}
template <int... Axes, class X>
  requires refused_with<transpose_op, attributes<Axes...>, X>
why_with<transpose_op, attributes<Axes...>, X> transpose(const X&) = delete;
LEAT_OTHERWISE_OF(transpose, "<axes...>(x) takes one tensor; axes are template arguments: transpose<1, 0>(x); " LEAT_TENSORS);

/// Repeated along dimensions of 1 up to a shape. Attributes: the dimensions. Source: TensorFlow `BroadcastTo`.
struct broadcast_to_op {
  static constexpr std::string_view type = "BroadcastTo";
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
template <class Handle>
  requires std::is_same_v<Handle, output>
constexpr Handle broadcast_to(const Handle& x, const shape& to) {
  if (x.extent() == to) return x;
  return make_node<broadcast_to_op>({to.dim, static_cast<std::size_t>(to.rank)}, x);
}
/// Repeated up to the shape `Ds`.
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

/// A block of an array. Attributes: first index per axis, then size per axis; a size of -1 goes to the end.
/// Source: TensorFlow `Slice`.
struct slice_op {
  static constexpr std::string_view type = "Slice";
  static constexpr field form[]{{field_kind::operand, "input"},
                                {field_kind::half, "begin"},
                                {field_kind::vector, "size"},
                                {field_kind::type_of, "T"},
                                {field_kind::fixed_type, "Index", 3}};
  static constexpr op_kind kind = op_kind::view;
  static constexpr inference infer(const operand_list& x) {
    const shape& from = x.extent(0);
    if (x.attribute_count != 2 * from.rank) return inference::wrong("one begin and one size for each axis");
    inference got{x.type(0), {}};
    for (int i = 0; i < from.rank; ++i) {
      const auto begin = x.attribute(i);
      const auto size = x.attribute(from.rank + i);
      if (from[i] == unknown_dimension) {
        if (begin < 0 || size < -1) return inference::wrong("out of range");
        got.extent.push(size);
      } else if (from[i] < 0) {
        if (begin != 0 || (size != -1 && size != from[i])) return inference::wrong("a named dimension is taken whole (0, -1)");
        got.extent.push(from[i]);
      } else {
        if (begin < 0 || begin > from[i]) return inference::wrong("out of range");
        const auto length = size == -1 ? from[i] - begin : size;
        if (length < 0 || length > from[i] - begin) return inference::wrong("out of range");
        got.extent.push(length);
      }
    }
    return got;
  }
  template <class G>
  static constexpr void gradient(G& g);
};

/// Zeros around an array. Attributes: how many before each axis, then how many after. Source: TensorFlow `Pad`.
struct pad_op {
  static constexpr std::string_view type = "Pad";
  static constexpr field form[]{{field_kind::operand, "input"},
                                {field_kind::pairs, "paddings"},
                                {field_kind::type_of, "T"},
                                {field_kind::fixed_type, "Tpaddings", 3}};
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list& x) {
    const shape& from = x.extent(0);
    if (x.attribute_count != 2 * from.rank) return inference::wrong("one number before and one after each axis");
    inference got{x.type(0), {}};
    for (int i = 0; i < from.rank; ++i) {
      const auto before = x.attribute(i);
      const auto after = x.attribute(from.rank + i);
      if (before < 0 || after < 0) return inference::wrong("paddings are not negative");
      if (before > max_elements || after > max_elements) return inference::wrong("a result of more than 2^44 elements");
      if (is_named(from[i]) && before + after != 0) return inference::wrong("a named dimension cannot be padded");
      got.extent.push(from[i] < 0 ? from[i] : from[i] + before + after);
    }
    return got;
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (!g.wants(0)) return;
    const shape& to = g.input(0).extent();
    std::int64_t attribute[2 * max_rank]{};
    for (int i = 0; i < to.rank; ++i) {
      attribute[i] = g.attribute(i);
      attribute[to.rank + i] = to[i];
    }
    give(g, 0, make_node<slice_op>({attribute, static_cast<std::size_t>(2 * to.rank)}, g.dy()));
  }
};
template <class G>
constexpr void slice_op::gradient(G& g) {
  if (!g.wants(0)) return;
  const shape& from = g.input(0).extent();
  const shape& part = g.dy().extent();
  std::int64_t attribute[2 * max_rank]{};
  for (int i = 0; i < from.rank; ++i) {
    attribute[i] = g.attribute(i);
    attribute[from.rank + i] = from[i] < 0 ? 0 : from[i] - g.attribute(i) - part[i];
  }
  give(g, 0, make_node<pad_op>({attribute, static_cast<std::size_t>(2 * from.rank)}, g.dy()));
}
/// First indices of a block: `begins<0, 2>`.
template <std::int64_t... Vs>
struct begins {};
/// Sizes of a block: `sizes<3, -1>`.
template <std::int64_t... Vs>
struct sizes {};
/// Zeros before and behind each axis: `before<0, 1>`, `behind<0, 1>`.
template <std::int64_t... Vs>
struct before {};
template <std::int64_t... Vs>
struct behind {};
namespace detail {
template <class First, class Second>
struct two_lists;
template <std::int64_t... As, std::int64_t... Bs>
struct two_lists<begins<As...>, sizes<Bs...>> {
  using type = attributes<As..., Bs...>;
};
template <std::int64_t... As, std::int64_t... Bs>
struct two_lists<before<As...>, behind<Bs...>> {
  using type = attributes<As..., Bs...>;
};
}  // namespace detail
/// The block that begins at `Begin` and has the sizes `Size`: `slice<begins<0, 2>, sizes<3, -1>>(x)`.
template <class Begin, class Size, class X, class A = typename detail::two_lists<Begin, Size>::type>
  requires accepted_with<slice_op, A, X>
constexpr made_with<slice_op, A, X> slice(const X& x) {
  return make<slice_op, A>(x);
}
template <class Begin, class Size, class X, class A = typename detail::two_lists<Begin, Size>::type>
  requires refused_with<slice_op, A, X>
why_with<slice_op, A, X> slice(const X&) = delete;
LEAT_OTHERWISE_OF(slice, "<begins<0, 2>, sizes<3, -1>>(x) takes one tensor; where it begins and its sizes are template arguments; "
                         LEAT_TENSORS);
template <class First, class Second>
LEAT_OTHERWISE("slice<begins<0, 2>, sizes<3, -1>>(x) takes one tensor; where it begins and its sizes are template arguments; "
               LEAT_TENSORS) slice(...) LEAT_DELETED;
/// With `Before` and `Behind` zeros at each axis: `pad<before<0, 1>, behind<0, 1>>(x)` adds a column on both sides.
template <class Before, class Behind, class X, class A = typename detail::two_lists<Before, Behind>::type>
  requires accepted_with<pad_op, A, X>
constexpr made_with<pad_op, A, X> pad(const X& x) {
  return make<pad_op, A>(x);
}
template <class Before, class Behind, class X, class A = typename detail::two_lists<Before, Behind>::type>
  requires refused_with<pad_op, A, X>
why_with<pad_op, A, X> pad(const X&) = delete;
LEAT_OTHERWISE_OF(pad, "<before<0, 1>, behind<0, 1>>(x) takes one tensor; the numbers of zeros are template arguments; " LEAT_TENSORS);
template <class First, class Second>
LEAT_OTHERWISE("pad<before<0, 1>, behind<0, 1>>(x) takes one tensor; the numbers of zeros are template arguments; "
               LEAT_TENSORS) pad(...) LEAT_DELETED;

/// Arrays one after the other along an axis. Attribute: the axis. Source: TensorFlow `ConcatV2`.
struct concat_op {
  static constexpr std::string_view type = "ConcatV2";
  static constexpr std::string_view call_name = "concat";
  static constexpr field form[]{{field_kind::operands, "values"},
                                {field_kind::scalar, "axis"},
                                {field_kind::type_of, "T"},
                                {field_kind::fixed_type, "Tidx", 3}};
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list& x) {
    inference got{x.type(0), x.extent(0)};
    const int axis = rule::axis_of(x.attribute(0), got.extent.rank);
    if (axis < 0) return inference::wrong("axis out of range");
    for (int k = 1; k < x.count; ++k) {
      if (x.type(k) != got.type) return inference::wrong("dtypes differ (cast<T>(x) converts)");
      if (x.extent(k).rank != got.extent.rank) return inference::wrong("ranks differ");
      for (int i = 0; i < got.extent.rank; ++i) {
        if (i == axis) continue;
        if (!may_equal(x.extent(k)[i], got.extent[i])) return inference::wrong("shapes differ outside the axis");
        if (got.extent[i] == unknown_dimension) got.extent.dim[i] = x.extent(k)[i];
      }
      if (is_named(x.extent(k)[axis]) || is_named(got.extent[axis])) return inference::wrong("the axis has a named dimension");
      if (x.extent(k)[axis] == unknown_dimension || got.extent[axis] == unknown_dimension)
        got.extent.dim[axis] = unknown_dimension;
      else if (x.extent(k)[axis] > max_elements || got.extent[axis] > max_elements)
        return inference::wrong("a result of more than 2^44 elements");
      else
        got.extent.dim[axis] += x.extent(k)[axis];
    }
    return got;
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const int rank = g.dy().extent().rank;
    const int axis = rule::axis_of(g.attribute(0), rank);
    std::int64_t at = 0;
    for (int k = 0; k < g.input_count(); ++k) {
      const shape& part = g.input(k).extent();
      std::int64_t attribute[2 * max_rank]{};
      for (int i = 0; i < rank; ++i) attribute[rank + i] = part[i];
      attribute[axis] = at;
      at += part[axis];
      if (g.wants(k)) give(g, k, make_node<slice_op>({attribute, static_cast<std::size_t>(2 * rank)}, g.dy()));
    }
  }
};
/// Arrays joined along `Axis`: `concat<1>(a, b)`.
template <int Axis, class X, class... Rest>
  requires accepted_with<concat_op, attributes<Axis>, X, Rest...>
constexpr made_with<concat_op, attributes<Axis>, X, Rest...> concat(const X& first, const Rest&... rest) {
  return make<concat_op, attributes<Axis>>(first, rest...);
}
template <int Axis, class X, class... Rest>
  requires refused_with<concat_op, attributes<Axis>, X, Rest...>
why_with<concat_op, attributes<Axis>, X, Rest...> concat(const X&, const Rest&...) = delete;
LEAT_OTHERWISE_OF(concat, "<axis>(x, y, ...) takes tensors; the axis is a template argument: concat<1>(x, y); " LEAT_TENSORS);

/// Sums of rows by their number: result[i] = Σ rows[k] where ids[k] = i. Attribute: how many. Source: TensorFlow
/// `UnsortedSegmentSum`.
struct segment_sum_op {
  static constexpr std::string_view type = "UnsortedSegmentSum";
  static constexpr field form[]{{field_kind::operand, "data"},
                                {field_kind::operand, "segment_ids", -1},
                                {field_kind::scalar, "num_segments"},
                                {field_kind::type_of, "T"},
                                {field_kind::type_of, "Tindices", 1},
                                {field_kind::fixed_type, "Tnumsegments", 3}};
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list& x) {
    const shape& data = x.extent(0);
    const shape& ids = x.extent(1);
    if (!rule::fits(rule::takes::number, x.type(0))) return inference::wrong(rule::refusal(rule::takes::number));
    if (x.type(1) != dtype::int32 && x.type(1) != dtype::int64) return inference::wrong("ids are int32 or int64");
    if (ids.rank > data.rank) return inference::wrong("the ids' shape does not begin the data's");
    if (ids.rank == 0 && data.rank == max_rank) return inference::wrong("more than 8 dimensions");
    inference got{x.type(0), {}};
    got.extent.push(x.attribute(0));
    for (int i = 0; i < data.rank; ++i) {
      if (i < ids.rank && !may_equal(ids[i], data[i])) return inference::wrong("the ids' shape does not begin the data's");
      if (i >= ids.rank) got.extent.push(data[i]);
    }
    return got;
  }
  template <class G>
  static constexpr void gradient(G& g);
};

/// Rows of an array by their number. Errors: invalid_argument if an index is out of range. Source: TensorFlow `GatherV2`.
struct gather_op {
  static constexpr std::string_view type = "GatherV2";
  static constexpr field form[]{{field_kind::operand, "params"},
                                {field_kind::operand, "indices", -1},
                                {field_kind::fixed_scalar, "axis", 0},
                                {field_kind::type_of, "Tparams"},
                                {field_kind::type_of, "Tindices", 1},
                                {field_kind::fixed_type, "Taxis", 3},
                                {field_kind::fixed_integer, "batch_dims", 0}};
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list& x) {
    const shape& params = x.extent(0);
    const shape& indices = x.extent(1);
    if (x.type(1) != dtype::int32 && x.type(1) != dtype::int64) return inference::wrong("indices are int32 or int64");
    if (params.rank == 0) return inference::wrong("nothing to gather from: a scalar");
    if (params.rank + indices.rank - 1 > max_rank) return inference::wrong("more than 8 dimensions");
    inference got{x.type(0), {}};
    for (int i = 0; i < indices.rank; ++i) got.extent.push(indices[i]);
    for (int i = 1; i < params.rank; ++i) got.extent.push(params[i]);
    return got;
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (!g.wants(0)) return;
    const std::int64_t attribute[]{g.input(0).extent()[0]};
    give(g, 0, make_node<segment_sum_op>(attribute, g.dy(), g.input(1)));
  }
};
template <class G>
constexpr void segment_sum_op::gradient(G& g) {
  if (!g.wants(0)) return;
  // rows of negative ids were dropped: their gradient is 0
  const auto ids = g.input(1);
  const auto zero = constant_like(ids, 0);
  shape rows = ids.extent();
  while (rows.rank < g.input(0).extent().rank) rows.push(1);
  const auto kept = reshape_to(greater_equal(ids, zero), rows);
  give(g, 0, select(kept, make<gather_op>(g.dy(), maximum(ids, zero)), constant_like(g.dy(), 0)));
}
/// `gather(params, indices)`: result[i…] = params[indices[i…]].
template <class P, class I>
  requires accepted<gather_op, P, I>
constexpr made<gather_op, P, I> gather(const P& params, const I& indices) {
  return make<gather_op>(params, indices);
}
template <class P, class I>
  requires refused<gather_op, P, I>
why<gather_op, P, I> gather(const P&, const I&) = delete;
LEAT_OTHERWISE("gather(params, indices) takes two tensors, the second of integers; " LEAT_TENSORS) gather(...) LEAT_DELETED;
/// `unsorted_segment_sum<n>(data, ids)`; ids below 0 are dropped.
template <std::int64_t Count, class X, class I>
  requires accepted_with<segment_sum_op, attributes<Count>, X, I>
constexpr made_with<segment_sum_op, attributes<Count>, X, I> unsorted_segment_sum(const X& data, const I& ids) {
  return make<segment_sum_op, attributes<Count>>(data, ids);
}
template <std::int64_t Count, class X, class I>
  requires refused_with<segment_sum_op, attributes<Count>, X, I>
why_with<segment_sum_op, attributes<Count>, X, I> unsorted_segment_sum(const X&, const I&) = delete;
LEAT_OTHERWISE_OF(unsorted_segment_sum, "<count>(data, ids) takes two tensors; the count is a template argument; " LEAT_TENSORS);

/// The operand itself; with control inputs, when those are done. Source: TensorFlow `Identity`.
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
template <operand X>
constexpr auto identity(const X& x) {
  return make<identity_op>(x);
}
LEAT_TAKES_ONE_TENSOR(identity);
/// The operand itself, but no gradient passes. Source: TensorFlow `StopGradient`.
struct stop_gradient_op {
  static constexpr std::string_view type = "StopGradient";
  static constexpr auto& form = leat::form::same;
  static constexpr op_kind kind = op_kind::identity;
  static constexpr bool stops_gradient = true;
  static constexpr inference infer(const operand_list& x) { return {x.type(0), x.extent(0)}; }
  template <class G>
  static constexpr void gradient(G&) {}
};
template <operand X>
constexpr auto stop_gradient(const X& x) {
  return make<stop_gradient_op>(x);
}
LEAT_TAKES_ONE_TENSOR(stop_gradient);

}  // namespace leat
