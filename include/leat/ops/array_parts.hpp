#pragma once
// Slices, padding, concatenation, and rows by index. Errors of all functions: rules.hpp.

#include <leat/ops/array_shape.hpp>

namespace leat {

/// A slice. Attributes: first index per axis, then size per axis; a size of -1 extends to the end.
/// Source: TensorFlow `Slice`.
struct slice_op {
  static constexpr std::string_view type = "Slice";
  static constexpr facts what{.work = work_kind::none};
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

/// Padding with zeros. Attributes: how many before each axis, then how many after. Source: TensorFlow `Pad`.
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
/// First indices of a slice: `begins<0, 2>`.
template <std::int64_t... Vs>
struct begins {};
/// Sizes of a slice: `sizes<3, -1>`.
template <std::int64_t... Vs>
struct sizes {};
/// Numbers of zeros before and after each axis: `before<0, 1>`, `behind<0, 1>`.
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
/// The slice that begins at `Begin` and has the sizes `Size`: `slice<begins<0, 2>, sizes<3, -1>>(x)`; -1 extends to the end.
/// Shapes: x [d0, …, dn]; result `Size`. Dtypes: any. Source: TensorFlow `Slice`.
template <class Begin, class Size, class X, class A = typename detail::two_lists<Begin, Size>::type>
  requires accepted_with<slice_op, A, X>
constexpr made_with<slice_op, A, X> slice(const X& x) {
  return make<slice_op, A>(x);
}
template <class Begin, class Size, class X, class A = typename detail::two_lists<Begin, Size>::type>
  requires refused_with<slice_op, A, X>
why_with<slice_op, A, X> slice(const X&) = delete;
LEAT_OTHERWISE_OF(slice,
                  "<begins<0, 2>, sizes<3, -1>>(x) takes one tensor; where it begins and its sizes are template arguments; " LEAT_TENSORS);
template <class First, class Second>
LEAT_OTHERWISE("slice<begins<0, 2>, sizes<3, -1>>(x) takes one tensor; where it begins and its sizes are template arguments; " LEAT_TENSORS)
slice(...) LEAT_DELETED;
/// x padded with zeros: `pad<before<0, 1>, behind<0, 1>>(x)` adds a column on both sides. Dtypes: any. A named dimension cannot be
/// padded. Source: TensorFlow `Pad`.
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
LEAT_OTHERWISE("pad<before<0, 1>, behind<0, 1>>(x) takes one tensor; the numbers of zeros are template arguments; " LEAT_TENSORS)
pad(...) LEAT_DELETED;

/// Concatenation along an axis. Attribute: the axis. Source: TensorFlow `ConcatV2`.
struct concat_op {
  static constexpr std::string_view type = "ConcatV2";
  static constexpr facts what{.integers = integer_rule::joined};
  static constexpr std::string_view call_name = "concat";
  static constexpr field form[]{
      {field_kind::operands, "values"}, {field_kind::scalar, "axis"}, {field_kind::type_of, "T"}, {field_kind::fixed_type, "Tidx", 3}};
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
      if (x.extent(k)[axis] == unknown_dimension || got.extent[axis] == unknown_dimension) got.extent.dim[axis] = unknown_dimension;
      else if (x.extent(k)[axis] > max_elements || got.extent[axis] > max_elements)
        return inference::wrong("a result of more than 2^44 elements");
      else got.extent.dim[axis] += x.extent(k)[axis];
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
/// Arrays concatenated along `Axis`: `concat<1>(a, b)`. Shapes: equal except along `Axis`, where sizes add up. Dtypes: any, all the
/// same. Source: TensorFlow `ConcatV2`.
template <int Axis, class X, class... Rest>
  requires accepted_with<concat_op, attributes<Axis>, X, Rest...>
constexpr made_with<concat_op, attributes<Axis>, X, Rest...> concat(const X& first, const Rest&... rest) {
  return make<concat_op, attributes<Axis>>(first, rest...);
}
template <int Axis, class X, class... Rest>
  requires refused_with<concat_op, attributes<Axis>, X, Rest...>
why_with<concat_op, attributes<Axis>, X, Rest...> concat(const X&, const Rest&...) = delete;
LEAT_OTHERWISE_OF(concat, "<axis>(x, y, ...) takes tensors; the axis is a template argument: concat<1>(x, y); " LEAT_TENSORS);

namespace detail {
template <int Axis, class X, class... Rest>
concept stacks =
    Axis >= -X::rank - 1 && Axis <= X::rank && X::rank < max_rank && ((Rest::type == X::type && Rest::extent == X::extent) && ...);
}  // namespace detail
/// Arrays of one shape put side by side along a new axis: `stack<1>(a, b)` is `concat<1>(expand_dims<1>(a), expand_dims<1>(b))`.
/// Shapes: n operands [d0, …]; result with a dimension n before `Axis`, or after it counted from the end. Dtypes: any, all the same.
/// Source: TensorFlow `stack`.
template <int Axis = 0, tensor_expression X, tensor_expression... Rest>
  requires detail::stacks<Axis, X, Rest...>
constexpr auto stack(const X& first, const Rest&... rest) {
  return concat<Axis>(expand_dims<Axis>(first), expand_dims<Axis>(rest)...);
}
LEAT_OTHERWISE_OF(stack,
                  "<axis>(x, y, ...) takes tensors of one dtype and one shape; the axis, of the result, is a template argument: "
                  "stack<1>(x, y); " LEAT_TENSORS);

/// Sums of rows by segment: result[i] = Σ data[k] over ids[k] = i. Attribute: the number of segments.
/// Source: TensorFlow `UnsortedSegmentSum`.
struct segment_sum_op {
  static constexpr std::string_view type = "UnsortedSegmentSum";
  static constexpr field form[]{{field_kind::operand, "data"},        {field_kind::operand, "segment_ids", -1},
                                {field_kind::scalar, "num_segments"}, {field_kind::type_of, "T"},
                                {field_kind::type_of, "Tindices", 1}, {field_kind::fixed_type, "Tnumsegments", 3}};
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

/// Rows by index. Source: TensorFlow `GatherV2`.
struct gather_op {
  static constexpr std::string_view type = "GatherV2";
  static constexpr facts what{.work = work_kind::gathered};
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
  // Rows with negative ids were dropped: their gradient is 0.
  const auto ids = g.input(1);
  const auto zero = constant_like(ids, 0);
  shape rows = ids.extent();
  while (rows.rank < g.input(0).extent().rank) rows.push(1);
  const auto kept = reshape_to(greater_equal(ids, zero), rows);
  give(g, 0, select(kept, make<gather_op>(g.dy(), maximum(ids, zero)), constant_like(g.dy(), 0)));
}
/// Rows of an array: result[i…] = params[indices[i…]]. Shapes: params [n, d1, …], indices [i…]; result [i…, d1, …]. Dtypes: any;
/// indices int32 or int64. Errors: invalid_argument if an index is out of range. Source: TensorFlow `GatherV2`.
template <class P, class I>
  requires accepted<gather_op, P, I>
constexpr made<gather_op, P, I> gather(const P& params, const I& indices) {
  return make<gather_op>(params, indices);
}
template <class P, class I>
  requires refused<gather_op, P, I>
why<gather_op, P, I> gather(const P&, const I&) = delete;
LEAT_OTHERWISE("gather(params, indices) takes two tensors, the second of integers; " LEAT_TENSORS) gather(...) LEAT_DELETED;
/// Sums of rows by segment, `unsorted_segment_sum<n>(data, ids)`: result[i] = Σ data[k] over ids[k] = i; negative ids are dropped.
/// Shapes: ids [k…], data [k…, d…]; result [n, d…]. Dtypes: numbers; ids int32 or int64. Source: TensorFlow `UnsortedSegmentSum`.
template <std::int64_t Count, class X, class I>
  requires accepted_with<segment_sum_op, attributes<Count>, X, I>
constexpr made_with<segment_sum_op, attributes<Count>, X, I> unsorted_segment_sum(const X& data, const I& ids) {
  return make<segment_sum_op, attributes<Count>>(data, ids);
}
template <std::int64_t Count, class X, class I>
  requires refused_with<segment_sum_op, attributes<Count>, X, I>
why_with<segment_sum_op, attributes<Count>, X, I> unsorted_segment_sum(const X&, const I&) = delete;
LEAT_OTHERWISE_OF(unsorted_segment_sum, "<count>(data, ids) takes two tensors; the count is a template argument; " LEAT_TENSORS);

}  // namespace leat
