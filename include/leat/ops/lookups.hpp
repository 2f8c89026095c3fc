#pragma once
// Elements and subarrays by index: `gather` along any axis, and `gather_nd` and `scatter_nd`, whose indices name several axes. Errors of
// all functions: rules.hpp.

#include <leat/ops/nn.hpp>
#include <leat/ops/reorder.hpp>

namespace leat {

/// Subarrays by a single number for their position along the first axes, in row-major order. Attribute: how many axes that are. The numbers
/// have been checked. Typed expressions alone have this operator, within `gather_nd_op`; its gradient is for many models (vmap).
struct gather_places_op {
  static constexpr std::string_view type = "GatherPlaces";
  static constexpr facts what{.work = work_kind::gathered};
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list& x) {
    inference got{x.type(0), x.extent(1)};
    for (int i = static_cast<int>(x.attribute(0)); i < x.extent(0).rank; ++i) got.extent.push(x.extent(0)[i]);
    return got;
  }
  template <class G>
  static constexpr void gradient(G& g);
};
/// Sums of subarrays by their position along the first axes of the result, zeros elsewhere. Attributes: the sizes of these axes.
struct scatter_places_op : rule::by_segment<sum_op> {
  static constexpr std::string_view type = "ScatterPlaces";
  static constexpr facts what{.work = work_kind::scattered};
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr bool may_refuse = false;
  static constexpr inference infer(const operand_list& x) {
    inference got{x.type(0), {}};
    for (int i = 0; i < x.attribute_count; ++i) got.extent.push(x.attribute(i));
    for (int i = x.extent(1).rank; i < x.extent(0).rank; ++i) got.extent.push(x.extent(0)[i]);
    return got;
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const std::int64_t axes[]{g.attribute_count()};
    if (g.wants(0)) give(g, 0, make_node<gather_places_op>(axes, g.dy(), g.input(1)));
  }
};
template <class G>
constexpr void gather_places_op::gradient(G& g) {
  const shape& all = g.input(0).extent();
  if (g.wants(0)) give(g, 0, make_node<scatter_places_op>({all.dim, static_cast<std::size_t>(g.attribute(0))}, g.dy(), g.input(1)));
}

namespace rule {

/// Indices [..., k], the last axis of which names a position along the first k axes of an array.
struct index_tuples {
  static constexpr int axes(const shape& indices) { return static_cast<int>(indices[indices.rank - 1]); }
  static constexpr std::string_view problem(dtype type, const shape& indices, int most) {
    if (type != dtype::int32 && type != dtype::int64) return "indices are int32 or int64";
    if (indices.rank == 0) return "the indices are a scalar: their last axis names an axis of the array each";
    const std::int64_t k = indices[indices.rank - 1];
    if (k < 1 || k > most)
      return "the last dimension of the indices, the number of axes that they name, is not from 1 to the rank of the array";
    return {};
  }
  /// The indices along one of the axes, after a check that they are within it. The number of a named dimension is known to the run: there
  /// the indices look up a position, which has the check of all lookups.
  static constexpr output along(const output& indices, const shape& array, int axis) {
    const shape& all = indices.extent();
    std::int64_t part[2 * max_rank]{};
    for (int i = 0; i < all.rank; ++i) part[all.rank + i] = -1;
    part[all.rank - 1] = axis;
    part[2 * all.rank - 1] = 1;
    shape rest = all;
    --rest.rank;
    rest.dim[rest.rank] = 0;
    const output one = reshape_to(make_node<slice_op>({part, static_cast<std::size_t>(2 * all.rank)}, indices), rest);
    const std::int64_t size[]{array[axis]};
    if (size[0] >= 0) return cast_to(make_node<check_range_op>(size, one), dtype::int64);
    shape line;
    line.push(size[0]);
    return make_node<gather_op>({}, index_along(indices.owner(), dtype::int64, line, 0), one);
  }
  /// The place of each tuple among the elements of the axes that it names, in row-major order.
  static constexpr output places(const output& indices, const shape& array) {
    output place = along(indices, array, 0);
    for (int i = 1; i < axes(indices.extent()); ++i) {
      shape size;
      size.push(array[i]);
      place = place * extent_of(indices.owner(), dtype::int64, size);
      place = place + along(indices, array, i);
    }
    return place;
  }
};

}  // namespace rule

/// Sums of subarrays of zeros, by index tuples. Operands: indices, updates. Attributes: the shape of the result. Source: TensorFlow
/// `ScatterNd`.
struct scatter_nd_op {
  static constexpr std::string_view type = "ScatterNd";
  static constexpr facts what{.work = work_kind::scattered, .narrow = narrow_rule::exact, .takes_shape = true};
  static constexpr field form[]{{field_kind::operand, "indices", -1},
                                {field_kind::operand, "updates"},
                                {field_kind::vector, "shape"},
                                {field_kind::type_of, "T", 1},
                                {field_kind::type_of, "Tindices"}};
  static constexpr op_kind kind = op_kind::composite;
  static constexpr shape shape_of(const std::int64_t* numbers, int count) {
    shape s;
    for (int i = 0; i < count; ++i) s.push(numbers[i]);
    return s;
  }
  static constexpr inference infer(const operand_list& x) {
    if (x.attribute_count > max_rank) return inference::wrong("more than 8 dimensions");
    const shape all = shape_of(x.attributes, x.attribute_count), &indices = x.extent(0), &updates = x.extent(1);
    if (const auto problem = rule::index_tuples::problem(x.type(0), indices, all.rank); !problem.empty()) return inference::wrong(problem);
    if (!rule::fits(rule::takes::number, x.type(1))) return inference::wrong(rule::refusal(rule::takes::number));
    for (int i = 0; i < all.rank; ++i)
      if (all[i] < 0 && !is_named(all[i])) return inference::wrong("a dimension is negative");
    if (!all.is_countable()) return inference::wrong("a result of more than 2^44 elements");
    const int axes = rule::index_tuples::axes(indices);
    shape expected = indices;
    --expected.rank;
    expected.dim[expected.rank] = 0;
    if (expected.rank + all.rank - axes > max_rank) return inference::wrong("more than 8 dimensions");
    for (int i = axes; i < all.rank; ++i) expected.push(all[i]);
    if (!may_equal(expected, updates))
      return inference::wrong(
          "the shape of the updates is not that of the indices without their last axis, followed by the dimensions that they do not name");
    return {x.type(1), all};
  }
  template <class G>
  static constexpr output expand(G& g) {
    const shape& all = g.result().extent();
    std::int64_t sizes[max_rank]{};
    const int axes = rule::index_tuples::axes(g.input(0).extent());
    for (int i = 0; i < axes; ++i) sizes[i] = all[i];
    return make_node<scatter_places_op>({sizes, static_cast<std::size_t>(axes)}, g.input(1), rule::index_tuples::places(g.input(0), all));
  }
  template <class G>
  static constexpr void gradient(G& g);
};

/// Elements or subarrays by index tuples. Source: TensorFlow `GatherNd`.
struct gather_nd_op {
  static constexpr std::string_view type = "GatherNd";
  static constexpr facts what{.work = work_kind::gathered, .narrow = narrow_rule::moves};
  static constexpr field form[]{{field_kind::operand, "params"},
                                {field_kind::operand, "indices", -1},
                                {field_kind::type_of, "Tparams"},
                                {field_kind::type_of, "Tindices", 1}};
  static constexpr op_kind kind = op_kind::composite;
  static constexpr inference infer(const operand_list& x) {
    const shape &params = x.extent(0), &indices = x.extent(1);
    if (const auto problem = rule::index_tuples::problem(x.type(1), indices, params.rank); !problem.empty())
      return inference::wrong(problem);
    const int axes = rule::index_tuples::axes(indices);
    if (params.rank - axes + indices.rank - 1 > max_rank) return inference::wrong("more than 8 dimensions");
    inference got{x.type(0), {}};
    for (int i = 0; i + 1 < indices.rank; ++i) got.extent.push(indices[i]);
    for (int i = axes; i < params.rank; ++i) got.extent.push(params[i]);
    return got;
  }
  template <class G>
  static constexpr output expand(G& g) {
    const std::int64_t axes[]{rule::index_tuples::axes(g.input(1).extent())};
    const output places = rule::index_tuples::places(g.input(1), g.input(0).extent());
    return make_node<gather_places_op>(axes, g.input(0), places);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (!g.wants(0)) return;
    const shape& all = g.input(0).extent();
    give(g, 0, make_node<scatter_nd_op>({all.dim, static_cast<std::size_t>(all.rank)}, g.input(1), g.dy()));
  }
};
template <class G>
constexpr void scatter_nd_op::gradient(G& g) {
  if (g.wants(1)) give(g, 1, make_node<gather_nd_op>({}, g.dy(), g.input(0)));
}

namespace detail {

template <class P, class I, int Axis>
struct gather_plan {
  static constexpr std::string_view function = "gather";
  static constexpr int axis = rule::axis_of(Axis, P::rank);
  static constexpr std::string_view problem() {
    if (P::rank == 0) return "nothing to gather from: a scalar";
    if (axis < 0) return "axis out of range";
    if (I::type != dtype::int32 && I::type != dtype::int64) return "indices are int32 or int64";
    if (P::rank + I::rank - 1 > max_rank) return "more than 8 dimensions";
    return {};
  }
  /// The order of the axes with the gathered one first, and of those of the rows that were found with the axes before it first again.
  static constexpr number_list axis_first() {
    number_list order;
    order.push(axis);
    for (int i = 0; i < P::rank; ++i)
      if (i != axis) order.push(i);
    return order;
  }
  static constexpr number_list axis_back() {
    number_list order;
    for (int i = 0; i < axis; ++i) order.push(I::rank + i);
    for (int i = 0; i < I::rank; ++i) order.push(i);
    for (int i = axis + 1; i < P::rank; ++i) order.push(I::rank + i - 1);
    return order;
  }
};

}  // namespace detail

/// Subarrays by index along `Axis`: `gather<1>(params, indices)` are columns of a matrix. Shapes: params [d0, …, dn], indices [i…]; result
/// the params' shape with [i…] in the place of the axis. Dtypes: any; indices int32 or int64. Errors: axis out of range; invalid_argument
/// if an index is out of range. Source: TensorFlow `GatherV2`.
template <int Axis, tensor_expression P, tensor_expression I>
  requires detail::fits_plan<detail::gather_plan<P, I, Axis>>
constexpr auto gather(const P& params, const I& indices) {
  using plan = detail::gather_plan<P, I, Axis>;
  return detail::transposed_from<plan::axis_back>(make<gather_op>(detail::transposed_from<plan::axis_first>(params), indices));
}
template <int Axis, tensor_expression P, tensor_expression I>
  requires(!detail::fits_plan<detail::gather_plan<P, I, Axis>>)
detail::why_not<detail::gather_plan<P, I, Axis>, P, I> gather(const P&, const I&) = delete;
template <LEAT_ANY_NUMBER First, LEAT_ANY_NUMBER... Rest>
LEAT_OTHERWISE("gather<axis>(params, indices) takes two tensors, the second of integers; " LEAT_TENSORS) gather(...) LEAT_DELETED;

/// Elements, or subarrays, by index tuples: result[i…] = params[indices[i…, 0], …, indices[i…, k - 1]]. Shapes: params [d0, …, dn], indices
/// [i…, k]; result [i…, dk, …, dn]. Dtypes: any; indices int32 or int64. Errors: k is no size from 1 to the rank of params;
/// invalid_argument if an index is out of range. Source: TensorFlow `GatherNd`.
template <tensor_expression P, tensor_expression I>
  requires accepted<gather_nd_op, P, I>
constexpr made<gather_nd_op, P, I> gather_nd(const P& params, const I& indices) {
  return make<gather_nd_op>(params, indices);
}
template <tensor_expression P, tensor_expression I>
  requires refused<gather_nd_op, P, I>
why<gather_nd_op, P, I> gather_nd(const P&, const I&) = delete;
LEAT_OTHERWISE("gather_nd(params, indices) takes two tensors, the second of integers; " LEAT_TENSORS) gather_nd(...) LEAT_DELETED;

/// Zeros, to which the updates are added by index tuples: `scatter_nd<8, 3>(indices, updates)`; updates of equal tuples add up. Shapes:
/// indices [i…, k], updates [i…, dk, …, dn]; result `Ds`. Dtypes: numbers; indices int32 or int64. Errors: k is no size from 1 to the rank
/// of the result; the updates' shape; invalid_argument if an index is out of range. Source: TensorFlow `ScatterNd`.
template <dimension... Ds, tensor_expression I, tensor_expression U>
  requires accepted_with<scatter_nd_op, detail::reshape_attributes<Ds...>, I, U>
constexpr made_with<scatter_nd_op, detail::reshape_attributes<Ds...>, I, U> scatter_nd(const I& indices, const U& updates) {
  return make<scatter_nd_op, detail::reshape_attributes<Ds...>>(indices, updates);
}
template <dimension... Ds, tensor_expression I, tensor_expression U>
  requires refused_with<scatter_nd_op, detail::reshape_attributes<Ds...>, I, U>
why_with<scatter_nd_op, detail::reshape_attributes<Ds...>, I, U> scatter_nd(const I&, const U&) = delete;
LEAT_OTHERWISE_OF(scatter_nd, "<dimensions...>(indices, updates) takes two tensors, the first of integers; the dimensions of the result "
                              "are template arguments: scatter_nd<8, 3>(indices, updates); " LEAT_TENSORS);

}  // namespace leat
