#pragma once
// Slices, padding, concatenation, rows by index, reductions by segment, cumulative sums and products, and `linspace`. Errors of all
// functions: rules.hpp.

#include <leat/ops/array_shape.hpp>

namespace leat {

/// A slice. Attributes: the first index along each axis, then the size along each axis; -1 extends to the end. Source: TensorFlow `Slice`.
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

/// Padding with zeros. Attributes: the number of zeros before each axis, then the number after each axis. Source: TensorFlow `Pad`.
struct pad_op {
  static constexpr std::string_view type = "Pad";
  static constexpr facts what{.narrow = narrow_rule::moves};
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
/// The first index of a slice along each axis: `begins<0, 2>`.
template <std::int64_t... Vs>
struct begins {};
/// The size of a slice along each axis: `sizes<3, -1>`; -1 extends to the end.
template <std::int64_t... Vs>
struct sizes {};
/// The number of zeros before each axis: `before<0, 1>`.
template <std::int64_t... Vs>
struct before {};
/// The number of zeros after each axis: `behind<0, 1>`.
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
/// The slice that begins at `Begin` and has the sizes `Size`: `slice<begins<0, 2>, sizes<3, -1>>(x)`; -1 extends to the end. A named
/// dimension is taken whole (0, -1). Shapes: x [d0, …, dn]; result `Size`. Dtypes: any. Errors: the slice is not within x. Source:
/// TensorFlow `Slice`.
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
/// x padded with zeros: `pad<before<0, 1>, behind<0, 1>>(x)` adds a column on both sides. Shapes: x [d0, …, dn]; result [before0 + d0 +
/// behind0, …]. Dtypes: any. Errors: a negative number of zeros; a named dimension, which cannot be padded. Source: TensorFlow `Pad`.
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
  static constexpr facts what{.integers = integer_rule::joined, .narrow = narrow_rule::moves};
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
/// Arrays concatenated along `Axis`: `concat<1>(a, b)`. Shapes: equal except along `Axis`, where the sizes add up. Dtypes: any, all the
/// same. Errors: axis out of range; a named dimension along the axis. Source: TensorFlow `ConcatV2`.
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
/// Arrays of one shape, joined along a new axis: `stack<1>(a, b)` is `concat<1>(expand_dims<1>(a), expand_dims<1>(b))`. Shapes: n operands
/// [d0, …]; result with a new dimension n at `Axis`, which may count from the end. Dtypes: any, all the same. Source: TensorFlow `stack`.
template <int Axis = 0, tensor_expression X, tensor_expression... Rest>
  requires detail::stacks<Axis, X, Rest...>
constexpr auto stack(const X& first, const Rest&... rest) {
  return concat<Axis>(expand_dims<Axis>(first), expand_dims<Axis>(rest)...);
}
LEAT_OTHERWISE_OF(stack,
                  "<axis>(x, y, ...) takes tensors of one dtype and one shape; the axis, of the result, is a template argument: "
                  "stack<1>(x, y); " LEAT_TENSORS);

// Declared here, because reduction.hpp, which defines them, includes this header. Segments and cumulative sums combine elements as they do.
struct sum_op;
struct max_op;
struct min_op;
struct prod_op;

namespace rule {
/// Base of the reductions by segment: result[i] combines all data[k] with ids[k] = i; negative ids are ignored. Attribute: the number of
/// segments.
struct segments {
  static constexpr field form[]{{field_kind::operand, "data"},        {field_kind::operand, "segment_ids", -1},
                                {field_kind::scalar, "num_segments"}, {field_kind::type_of, "T"},
                                {field_kind::type_of, "Tindices", 1}, {field_kind::fixed_type, "Tnumsegments", 3}};
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr bool may_refuse = true;
  static constexpr inference infer(const operand_list& x) {
    const shape& data = x.extent(0);
    const shape& ids = x.extent(1);
    if (!fits(takes::number, x.type(0))) return inference::wrong(refusal(takes::number));
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
};
/// A reduction by segment; `Reduction` combines two elements.
template <class Reduction>
struct by_segment : segments {
  template <class V>
  static constexpr V identity() {
    return Reduction::template identity<V>();
  }
  template <class M, class V>
  static constexpr V combine(V a, V b) {
    return Reduction::template combine<M>(a, b);
  }
};
}  // namespace rule

/// Sums of rows by segment. Source: TensorFlow `UnsortedSegmentSum`.
struct segment_sum_op : rule::by_segment<sum_op> {
  static constexpr std::string_view type = "UnsortedSegmentSum";
  static constexpr facts what{.narrow = narrow_rule::exact};
  template <class G>
  static constexpr void gradient(G& g);
};

/// Rows by index. Source: TensorFlow `GatherV2`.
struct gather_op {
  static constexpr std::string_view type = "GatherV2";
  static constexpr facts what{.work = work_kind::gathered, .narrow = narrow_rule::moves};
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
namespace rule {
/// Whether the id of each row is non-negative, in a shape that broadcasts to the data's: rows with negative ids do not contribute to the
/// result.
template <class G>
constexpr output rows_are_kept(G& g) {
  const auto ids = g.input(1);
  shape rows = ids.extent();
  while (rows.rank < g.input(0).extent().rank) rows.push(1);
  return reshape_to(greater_equal(ids, constant_like(ids, 0)), rows);
}
/// For each row of the data, the entry of `segments` for the segment of that row.
template <class G>
constexpr output by_row(G& g, const output& segments) {
  const auto ids = g.input(1);
  return make<gather_op>(segments, maximum(ids, constant_like(ids, 0)));
}
/// The gradient of the maximum or minimum: elements that are equal to it share it equally.
template <class G>
constexpr void give_segment_extremum(G& g) {
  if (!g.wants(0)) return;
  const std::int64_t count[]{g.attribute(0)};
  const auto dy = g.dy();
  const auto chosen = logical_and(equal(g.input(0), by_row(g, g.result())), rows_are_kept(g));
  const auto share = dy / make_node<segment_sum_op>(count, cast_to(chosen, dy.type()), g.input(1));
  give(g, 0, select(chosen, by_row(g, share), constant_like(dy, 0)));
}
}  // namespace rule

template <class G>
constexpr void segment_sum_op::gradient(G& g) {
  if (!g.wants(0)) return;
  give(g, 0, select(rule::rows_are_kept(g), rule::by_row(g, g.dy()), constant_like(g.dy(), 0)));
}

/// The maximum of the rows of each segment, or the lowest value of the dtype for an empty segment. Source: TensorFlow `UnsortedSegmentMax`.
struct segment_max_op : rule::by_segment<max_op> {
  static constexpr std::string_view type = "UnsortedSegmentMax";
  static constexpr facts what{.narrow = narrow_rule::ordered, .by_width = width_rule::finite_extreme};
  template <class V>
  static constexpr V identity() {
    return std::numeric_limits<V>::lowest();
  }
  template <class G>
  static constexpr void gradient(G& g) {
    rule::give_segment_extremum(g);
  }
};
/// The minimum of the rows of each segment, or the largest value of the dtype for an empty segment. Source: TensorFlow
/// `UnsortedSegmentMin`.
struct segment_min_op : rule::by_segment<min_op> {
  static constexpr std::string_view type = "UnsortedSegmentMin";
  static constexpr facts what{.narrow = narrow_rule::ordered, .by_width = width_rule::finite_extreme};
  template <class V>
  static constexpr V identity() {
    return std::numeric_limits<V>::max();
  }
  template <class G>
  static constexpr void gradient(G& g) {
    rule::give_segment_extremum(g);
  }
};
/// Products of rows by segment. Source: TensorFlow `UnsortedSegmentProd`.
struct segment_prod_op : rule::by_segment<prod_op> {
  static constexpr std::string_view type = "UnsortedSegmentProd";
  static constexpr facts what{.narrow = narrow_rule::exact};
  // An element that is 0 gets the product of the other elements, which is 0 if the segment has another 0.
  template <class G>
  static constexpr void gradient(G& g) {
    if (!g.wants(0)) return;
    const auto x = g.input(0);
    const std::int64_t count[]{g.attribute(0)};
    const auto one = constant_like(x, 1);
    const auto none = constant_like(x, 0);
    const auto is_zero = equal(x, none);
    const auto zero_count = make_node<segment_sum_op>(count, cast_to(is_zero, x.type()), g.input(1));
    const auto others = make_node<segment_prod_op>(count, select(is_zero, one, x), g.input(1));
    const auto dy = rule::by_row(g, select(greater(zero_count, one), none, g.dy()));
    const auto slope = select(is_zero, rule::by_row(g, others), rule::by_row(g, g.result()) / select(is_zero, one, x));
    give(g, 0, select(rule::rows_are_kept(g), dy * slope, none));
  }
};
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
#define LEAT_FUNCTION_BY_SEGMENT(function, op)                                                       \
  template <std::int64_t Count, class X, class I>                                                    \
    requires accepted_with<op, attributes<Count>, X, I>                                              \
  constexpr made_with<op, attributes<Count>, X, I> function(const X& data, const I& ids) {           \
    return make<op, attributes<Count>>(data, ids);                                                   \
  }                                                                                                  \
  template <std::int64_t Count, class X, class I>                                                    \
    requires refused_with<op, attributes<Count>, X, I>                                               \
  why_with<op, attributes<Count>, X, I> function(const X&, const I&) = delete;                       \
  LEAT_OTHERWISE_OF(function, LEAT_BY_SEGMENT)
#define LEAT_BY_SEGMENT "<count>(data, ids) takes two tensors; the count is a template argument; " LEAT_TENSORS
/// Sums of rows by segment, `unsorted_segment_sum<n>(data, ids)`: result[i] = Σ data[k] over all k with ids[k] = i; negative ids are
/// ignored. Shapes: ids [k…], data [k…, d…]; result [n, d…]. Dtypes: numbers; ids int32 or int64. Errors: invalid_argument if an id is n or
/// above. Source: TensorFlow `UnsortedSegmentSum`.
LEAT_FUNCTION_BY_SEGMENT(unsorted_segment_sum, segment_sum_op);
/// The maximum of the rows of each segment, or the lowest value of the dtype for an empty segment; equal elements share the gradient.
/// Shapes, dtypes, errors: as `unsorted_segment_sum`. Source: TensorFlow `UnsortedSegmentMax`.
LEAT_FUNCTION_BY_SEGMENT(unsorted_segment_max, segment_max_op);
/// The minimum of the rows of each segment, or the largest value of the dtype for an empty segment; equal elements share the gradient.
/// Shapes, dtypes, errors: as `unsorted_segment_sum`. Source: TensorFlow `UnsortedSegmentMin`.
LEAT_FUNCTION_BY_SEGMENT(unsorted_segment_min, segment_min_op);
/// The product of the rows of each segment, or 1 for an empty segment. Shapes, dtypes, errors: as `unsorted_segment_sum`. Source:
/// TensorFlow `UnsortedSegmentProd`.
LEAT_FUNCTION_BY_SEGMENT(unsorted_segment_prod, segment_prod_op);
#undef LEAT_FUNCTION_BY_SEGMENT

namespace detail {
template <int Axes, class X>
constexpr auto with_columns(const X& x) {
  if constexpr (Axes == 0) return x;
  else return with_columns<Axes - 1>(expand_dims<-1>(x));
}
// The number of rows in each segment, in a shape that broadcasts to the result's.
template <std::int64_t Count, class X, class I>
constexpr auto rows_by_segment(const X&, const I& ids) {
  return with_columns<X::rank - I::rank>(
      unsorted_segment_sum<Count>(cast<typename X::element>(greater_equal(ids, constant_beside<0>(ids))), ids));
}
}  // namespace detail
/// Reductions by segment for sorted ids: `segment_sum<n>(data, ids)`, and likewise `segment_prod`, `segment_mean`, `segment_max` and
/// `segment_min`. An empty segment gives 0, and 1 in `segment_prod`. In graphs with names, the number of segments follows from the last id.
/// Shapes, dtypes, errors: as `unsorted_segment_sum`; ids that are not sorted are accepted, and used as they are. Source: TensorFlow
/// `SegmentSum`, `SegmentProd`, `SegmentMean`, `SegmentMax`, `SegmentMin`.
template <std::int64_t Count, tensor_expression X, tensor_expression I>
  requires accepted_with<segment_sum_op, attributes<Count>, X, I>
constexpr auto segment_sum(const X& data, const I& ids) {
  return unsorted_segment_sum<Count>(data, ids);
}
LEAT_OTHERWISE_OF(segment_sum, LEAT_BY_SEGMENT);
template <std::int64_t Count, tensor_expression X, tensor_expression I>
  requires accepted_with<segment_sum_op, attributes<Count>, X, I>
constexpr auto segment_prod(const X& data, const I& ids) {
  return unsorted_segment_prod<Count>(data, ids);
}
LEAT_OTHERWISE_OF(segment_prod, LEAT_BY_SEGMENT);
template <std::int64_t Count, tensor_expression X, tensor_expression I>
  requires accepted_with<segment_sum_op, attributes<Count>, X, I>
constexpr auto segment_mean(const X& data, const I& ids) {
  const auto rows = detail::rows_by_segment<Count>(data, ids);
  return unsorted_segment_sum<Count>(data, ids) / maximum(rows, constant_beside<1>(rows));
}
LEAT_OTHERWISE_OF(segment_mean, LEAT_BY_SEGMENT);
template <std::int64_t Count, tensor_expression X, tensor_expression I>
  requires accepted_with<segment_sum_op, attributes<Count>, X, I>
constexpr auto segment_max(const X& data, const I& ids) {
  const auto rows = detail::rows_by_segment<Count>(data, ids);
  return select(greater(rows, constant_beside<0>(rows)), unsorted_segment_max<Count>(data, ids), constant_beside<0>(data));
}
LEAT_OTHERWISE_OF(segment_max, LEAT_BY_SEGMENT);
template <std::int64_t Count, tensor_expression X, tensor_expression I>
  requires accepted_with<segment_sum_op, attributes<Count>, X, I>
constexpr auto segment_min(const X& data, const I& ids) {
  const auto rows = detail::rows_by_segment<Count>(data, ids);
  return select(greater(rows, constant_beside<0>(rows)), unsorted_segment_min<Count>(data, ids), constant_beside<0>(data));
}
LEAT_OTHERWISE_OF(segment_min, LEAT_BY_SEGMENT);
#undef LEAT_BY_SEGMENT

/// Cumulative sums or products along an axis. Attributes: whether the element itself is excluded, whether to begin at the end, the axis.
/// Source: TensorFlow `Cumsum`, `Cumprod`.
template <bool Product>
struct cumulative_op {
  static constexpr std::string_view type = Product ? "Cumprod" : "Cumsum";
  static constexpr facts what{.narrow = Product ? narrow_rule::computes : narrow_rule::exact,
                              .of_complex = Product ? complex_slopes::unknown : complex_slopes::same};
  static constexpr field form[6]{{field_kind::operand, "x"},
                                 {field_kind::flag, "exclusive"},
                                 {field_kind::flag, "reverse"},
                                 {field_kind::scalar, "axis"},
                                 {field_kind::type_of, "T"},
                                 {field_kind::fixed_type, "Tidx", 3}};
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr bool keeps_shape = true;
  static constexpr inference infer(const operand_list& x) {
    if (!rule::fits(rule::takes::number, x.type(0))) return inference::wrong(rule::refusal(rule::takes::number));
    if (rule::axis_of(x.attribute(2), x.extent(0).rank) < 0) return inference::wrong("axis out of range");
    return {x.type(0), x.extent(0)};
  }
  using reduction = std::conditional_t<Product, prod_op, sum_op>;
  template <class V>
  static constexpr V identity() {
    return reduction::template identity<V>();
  }
  template <class M, class V>
  static constexpr V combine(V a, V b) {
    return reduction::template combine<M>(a, b);
  }
  /// The gradient of products divides by x, and is 0 from the first 0 on. That is not the derivative; it is what TensorFlow computes.
  template <class G>
  static constexpr void gradient(G& g) {
    if (!g.wants(0)) return;
    constexpr int reverse = 1;
    const auto sums_back = [&](const auto& x) { return g.template node_with_flag<cumulative_op<false>>(reverse, !g.flag(reverse), x); };
    if constexpr (Product) {
      const auto products = g.template node_with_flag<cumulative_op<true>>(reverse, g.flag(reverse), g.input(0));
      const auto weighted = products * g.dy();
      give(g, 0, div_no_nan(sums_back(weighted), g.input(0)));
    } else {
      give(g, 0, sums_back(g.dy()));
    }
  }
};
using cumsum_op = cumulative_op<false>;
using cumprod_op = cumulative_op<true>;
#define LEAT_FUNCTION_ALONG_AXIS(function, op)                                                                         \
  template <int Axis = 0, bool Exclusive = false, bool Reverse = false, class X>                                       \
    requires accepted_with<op, attributes<Exclusive, Reverse, Axis>, X>                                                \
  constexpr made_with<op, attributes<Exclusive, Reverse, Axis>, X> function(const X& x) {                              \
    return make<op, attributes<Exclusive, Reverse, Axis>>(x);                                                          \
  }                                                                                                                    \
  template <int Axis = 0, bool Exclusive = false, bool Reverse = false, class X>                                       \
    requires refused_with<op, attributes<Exclusive, Reverse, Axis>, X>                                                 \
  why_with<op, attributes<Exclusive, Reverse, Axis>, X> function(const X&) = delete;                                   \
  LEAT_OTHERWISE_OF(function, "<axis, exclusive, reverse>(x) takes one tensor; the others are template arguments: " #function \
                              "<0, false, true>(x); " LEAT_TENSORS)
/// Cumulative sums along an axis: `cumsum<1>(x)`; `cumsum<1, true>(x)` excludes the element itself, `cumsum<1, false, true>(x)` begins at
/// the end. Shapes: result as x. Dtypes: numbers. Errors: axis out of range. Source: TensorFlow `Cumsum`.
LEAT_FUNCTION_ALONG_AXIS(cumsum, cumsum_op);
/// Cumulative products along an axis, with the arguments of `cumsum`. The gradient is TensorFlow's: 0 from the first 0 on. Shapes: result
/// as x. Dtypes: numbers. Errors: axis out of range. Source: TensorFlow `Cumprod`.
LEAT_FUNCTION_ALONG_AXIS(cumprod, cumprod_op);
#undef LEAT_FUNCTION_ALONG_AXIS

/// Values in equal steps from `start` to `stop`, including both; a single value is `start`. Attribute: the number of values. Source:
/// TensorFlow `LinSpace`.
struct linspace_op {
  static constexpr std::string_view type = "LinSpace";
  static constexpr facts what{.stops_gradient = true};
  static constexpr field form[]{{field_kind::operand, "start"},
                                {field_kind::operand, "stop"},
                                {field_kind::scalar, "num"},
                                {field_kind::type_of, "T"},
                                {field_kind::fixed_type, "Tidx", 3}};
  static constexpr op_kind kind = op_kind::composite;
  static constexpr inference infer(const operand_list& x) {
    if (x.type(0) != x.type(1)) return inference::wrong("dtypes differ (cast<T>(x) converts)");
    if (!is_floating(x.type(0))) return inference::wrong(rule::refusal(rule::takes::floating));
    if (x.extent(0).rank != 0 || x.extent(1).rank != 0) return inference::wrong("start and stop must be scalars");
    if (x.attribute(0) <= 0) return inference::wrong("Requires num > 0");
    inference got{x.type(0), {}};
    got.extent.push(x.attribute(0));
    return got;
  }
  template <class G>
  static constexpr output expand(G& g) {
    const auto start = g.input(0), stop = g.input(1);
    const auto at = places(g);
    const auto step = (stop - start) / constant_like(start, static_cast<double>(last(g)));
    const auto inside = start + step * cast_to(at, start.type());
    const auto to_stop = select(equal(at, constant_like(at, static_cast<double>(last(g)))), stop, inside);
    return select(equal(at, constant_like(at, 0)), start, to_stop);
  }

 private:
  template <class G>
  static constexpr std::int64_t last(const G& g) {
    return g.attribute(0) > 1 ? g.attribute(0) - 1 : 1;
  }
  template <class G>
  static constexpr output places(G& g) {
    shape extent;
    extent.push(g.attribute(0));
    return index_along(g.input(0).owner(), dtype::int32, extent, 0);
  }
};
/// `linspace<n>(start, stop)`: n values in equal steps from start to stop, including both; a single value is start. Shapes: start, stop [];
/// result [n]. Dtypes: floating point, the same of both. Errors: n below 1. Source: TensorFlow `LinSpace`.
template <std::int64_t Count, class A, class B>
  requires accepted_with<linspace_op, attributes<Count>, A, B>
constexpr made_with<linspace_op, attributes<Count>, A, B> linspace(const A& start, const B& stop) {
  return make<linspace_op, attributes<Count>>(start, stop);
}
template <std::int64_t Count, class A, class B>
  requires refused_with<linspace_op, attributes<Count>, A, B>
why_with<linspace_op, attributes<Count>, A, B> linspace(const A&, const B&) = delete;
LEAT_OTHERWISE_OF(linspace, "<count>(start, stop) takes two scalar tensors; the count is a template argument; " LEAT_TENSORS);

}  // namespace leat
