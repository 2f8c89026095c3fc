#pragma once
// The largest elements along the last axis, `top_k`, and rows from several arrays by index, `dynamic_stitch`. Errors of all functions:
// rules.hpp.

#include <leat/ops/lookups.hpp>

#include <tuple>

namespace leat {

/// The positions of the largest elements along the last axis, in order; of equal ones the first comes first. Attribute: how many. Source:
/// the second result of TensorFlow's `TopKV2`.
struct top_places_op {
  static constexpr std::string_view type = "TopKV2";
  static constexpr facts what{.narrow = narrow_rule::ordered, .stops_gradient = true};
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list& x) {
    const shape& s = x.extent(0);
    const std::int64_t k = x.attribute(0);
    if (!is_number(x.type(0))) return inference::wrong(rule::refusal(rule::takes::number));
    if (s.rank < 1) return inference::wrong("input must be >= 1-D");
    if (is_named(s[s.rank - 1]))
      return inference::wrong("the last dimension has a name, and the compiler does not know whether it has k elements");
    if (k < 0) return inference::wrong("Need k >= 0");
    if (s[s.rank - 1] >= 0 && k > s[s.rank - 1]) return inference::wrong("input must have at least k columns");
    inference got{dtype::int32, s};
    got.extent.dim[s.rank - 1] = k;
    return got;
  }
};
/// The elements at given positions along the last axis. Operands: x, positions, of the same shape but for that axis. Source: the first
/// result of TensorFlow's `TopKV2`, whose second are the positions.
struct top_values_op {
  static constexpr std::string_view type = "TopValues";
  static constexpr op_kind kind = op_kind::composite;
  static constexpr inference infer(const operand_list& x) { return {x.type(0), x.extent(1)}; }
  /// The positions among all elements of x.
  template <class G>
  static constexpr output places(G& g) {
    const shape& all = g.input(0).extent();
    graph& to = g.owner();
    output place = cast_to(g.input(1), dtype::int64);
    shape inner;
    inner.push(all[all.rank - 1]);
    for (int axis = all.rank - 2; axis >= 0; --axis) {
      shape line;
      for (int i = 0; i < all.rank; ++i) line.push(i == axis ? all[i] : 1);
      const output steps = index_along(to, dtype::int64, line, axis) * extent_of(to, dtype::int64, inner);
      place = place + steps;
      inner.push(all[axis]);
    }
    return place;
  }
  template <class G>
  static constexpr output expand(G& g) {
    const std::int64_t axes[]{g.input(0).extent().rank};
    return make_node<gather_places_op>(axes, g.input(0), places(g));
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const shape& all = g.input(0).extent();
    if (g.wants(0)) give(g, 0, make_node<scatter_places_op>({all.dim, static_cast<std::size_t>(all.rank)}, g.dy(), places(g)));
  }
};

/// Rows from several arrays by index; rows that no index names are zeros, and of several with one index the last stays. Operands: the
/// arrays, then the indices of each. Attributes: the number of rows, the number of arrays. Source: TensorFlow `DynamicStitch`.
struct dynamic_stitch_op {
  static constexpr std::string_view type = "DynamicStitch";
  static constexpr facts what{.work = work_kind::scattered, .narrow = narrow_rule::moves};
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr bool may_refuse = true;
  static constexpr int most = 32;
  static constexpr inference infer(const operand_list& x) {
    const int arrays = static_cast<int>(x.attribute(1));
    shape row;
    for (int k = 0; k < arrays; ++k) {
      const shape &data = x.extent(k), &at = x.extent(arrays + k);
      if (x.type(arrays + k) != dtype::int32) return inference::wrong("indices are int32");
      if (x.type(k) != x.type(0)) return inference::wrong("dtypes differ (cast<T>(x) converts)");
      if (data.rank < at.rank) return inference::wrong("the shape of an array does not start with that of its indices");
      for (int i = 0; i < at.rank; ++i)
        if (!may_equal(data[i], at[i])) return inference::wrong("the shape of an array does not start with that of its indices");
      shape rest;
      for (int i = at.rank; i < data.rank; ++i) rest.push(data[i]);
      if (k > 0 && !may_equal(rest, row)) return inference::wrong("the arrays differ in shape behind that of their indices");
      row = rest;
    }
    if (x.attribute(0) == unknown_dimension) return inference::wrong("the number of rows is negative");
    if (row.rank == max_rank) return inference::wrong("more than 8 dimensions");
    inference got{x.type(0), {}};
    got.extent.push(x.attribute(0));
    for (int i = 0; i < row.rank; ++i) got.extent.push(row[i]);
    return got.extent.is_countable() ? got : inference::wrong("a result of more than 2^44 elements");
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const int arrays = g.input_count() / 2;
    for (int k = 0; k < arrays; ++k)
      if (g.wants(k)) give(g, k, make_node<gather_op>({}, g.dy(), g.input(arrays + k)));
  }
};

namespace detail {
// Results of the functions, under names that compilers print in short.
template <std::int64_t Rows, class Arrays, class Indices>
struct stitched {};
template <std::int64_t Rows, tensor_expression... Xs, tensor_expression... Is>
  requires(sizeof...(Xs) == sizeof...(Is) && sizeof...(Xs) > 0 && sizeof...(Xs) <= dynamic_stitch_op::most)
struct stitched<Rows, std::tuple<Xs...>, std::tuple<Is...>> {
  using numbers = attributes<Rows, static_cast<std::int64_t>(sizeof...(Xs))>;
  static constexpr bool is_call = true;
  static constexpr bool fits = accepted_with<dynamic_stitch_op, numbers, Xs..., Is...>;
  using problem = why_with<dynamic_stitch_op, numbers, Xs..., Is...>;
};
template <std::int64_t Rows, class Arrays, class Indices>
concept stitch_call = requires { requires stitched<Rows, Arrays, Indices>::is_call; };
template <std::int64_t Rows, class Arrays, class Indices>
concept fitting_stitch = stitch_call<Rows, Arrays, Indices> && requires { requires stitched<Rows, Arrays, Indices>::fits; };
}  // namespace detail

/// The `K` largest elements along the last axis, in order, and their positions: `auto [values, indices] = top_k<3>(x)`. Of equal elements
/// the first comes first; NaN is above all numbers. Shapes: x [..., n]; both results [..., K]. Dtypes: numbers; indices int32. Errors: K is
/// negative or above n, or n a named dimension. Source: TensorFlow `top_k`, sorted.
template <std::int64_t K, tensor_expression X>
  requires accepted_with<top_places_op, attributes<K>, X>
constexpr auto top_k(const X& x) {
  const auto places = make<top_places_op, attributes<K>>(x);
  return std::tuple(make<top_values_op>(x, places), places);
}
template <std::int64_t K, tensor_expression X>
  requires refused_with<top_places_op, attributes<K>, X>
why_with<top_places_op, attributes<K>, X> top_k(const X&) = delete;
LEAT_OTHERWISE_OF(top_k, "<k>(x) takes one tensor; the number of elements is a template argument: top_k<3>(x); " LEAT_TENSORS);

/// Rows from several arrays by index: `dynamic_stitch<6>(std::tuple(i, j), std::tuple(x, y))` has 6 rows, of which row i[k] is x[k] and row
/// j[k] is y[k]. Rows that no index names are zeros; of several with one index the last stays. The gradient of each array is that of the
/// rows at its indices. Shapes: indices any, each array that of its indices and then that of a row, the same for all; result [Rows,
/// row...]. Dtypes: arrays any, indices int32. Errors: shapes that differ; invalid_argument for an index outside of [0, Rows). Source:
/// TensorFlow `DynamicStitch`, whose result ends with the row of the largest index.
template <dimension Rows, class... Indices, class... Arrays>
  requires detail::fitting_stitch<detail::dimension_value<Rows>(), std::tuple<Arrays...>, std::tuple<Indices...>>
constexpr auto dynamic_stitch(const std::tuple<Indices...>& indices, const std::tuple<Arrays...>& arrays) {
  using numbers = typename detail::stitched<detail::dimension_value<Rows>(), std::tuple<Arrays...>, std::tuple<Indices...>>::numbers;
  return std::apply([](const auto&... all) { return make<dynamic_stitch_op, numbers>(all...); }, std::tuple_cat(arrays, indices));
}
template <dimension Rows, class... Indices, class... Arrays>
  requires(detail::stitch_call<detail::dimension_value<Rows>(), std::tuple<Arrays...>, std::tuple<Indices...>> &&
           !detail::fitting_stitch<detail::dimension_value<Rows>(), std::tuple<Arrays...>, std::tuple<Indices...>>)
typename detail::stitched<detail::dimension_value<Rows>(), std::tuple<Arrays...>, std::tuple<Indices...>>::problem dynamic_stitch(
    const std::tuple<Indices...>&, const std::tuple<Arrays...>&) = delete;
LEAT_OTHERWISE_OF(dynamic_stitch, "<rows>(indices, arrays) takes two tuples of as many tensors, 1 to 32; the number of rows is a template "
                                  "argument: dynamic_stitch<6>(std::tuple(i, j), std::tuple(x, y))");

}  // namespace leat
