#pragma once
// Reductions over axes. Attributes: whether reduced axes are kept as 1, then the axes, sorted and non-negative; no axes means all. The
// order in which elements are combined depends only on the shape, so results do not depend on the number of threads. Errors of all
// functions: rules.hpp.

#include <leat/ops/array.hpp>
#include <leat/ops/comparison.hpp>
#include <leat/ops/functions.hpp>

namespace leat {

namespace rule {

/// The axes among a reduction's attributes as a bit mask, or -1 if an axis is out of range or named twice.
constexpr int reduced_axes(const std::int64_t* attribute, int count, int rank) {
  if (count <= 1) return (1 << rank) - 1;
  int mask = 0;
  for (int i = 1; i < count; ++i) {
    const auto axis = attribute[i] < 0 ? attribute[i] + rank : attribute[i];
    if (axis < 0 || axis >= rank || (mask >> axis & 1) != 0) return -1;
    mask |= 1 << axis;
  }
  return mask;
}

/// The shape rule of reductions.
constexpr inference reduce_shape(const operand_list& x) {
  const shape& from = x.extent(0);
  const int mask = reduced_axes(x.attributes, x.attribute_count, from.rank);
  if (mask < 0) return inference::wrong("axis out of range or named twice");
  inference got{x.type(0), {}};
  for (int i = 0; i < from.rank; ++i) {
    if ((mask >> i & 1) == 0)
      got.extent.push(from[i]);
    else if (x.attribute_count > 0 && x.attribute(0) != 0)
      got.extent.push(1);
  }
  return got;
}

template <takes T>
struct reduction {
  static constexpr op_kind kind = op_kind::reduction;
  static constexpr inference infer(const operand_list& x) {
    if (!fits(T, x.type(0))) return inference::wrong(refusal(T));
    return reduce_shape(x);
  }
};

/// The shape of a reduction's operand with the reduced axes set to 1.
template <class G>
constexpr shape kept_shape(const G& g) {
  shape kept = g.input(0).extent();
  std::int64_t attribute[max_rank + 1]{};
  for (int i = 0; i < g.attribute_count(); ++i) attribute[i] = g.attribute(i);
  const int mask = reduced_axes(attribute, g.attribute_count(), kept.rank);
  for (int i = 0; i < kept.rank; ++i)
    if ((mask >> i & 1) != 0) kept.dim[i] = 1;
  return kept;
}
/// The product of the reduced dimensions. For integers a product of 0 becomes 1, because it is a divisor.
template <class G>
constexpr output reduced_count(const G& g, dtype type) {
  const shape kept = kept_shape(g);
  shape reduced;
  for (int i = 0; i < kept.rank; ++i)
    if (kept[i] != g.input(0).extent()[i]) reduced.push(g.input(0).extent()[i]);
  const output count = extent_of(g.owner(), type, reduced);
  if (is_floating(type) || (reduced.is_static() && reduced.elements() > 0)) return count;
  return maximum(count, constant_like(count, 1));
}

}  // namespace rule

struct sum_op : rule::reduction<rule::takes::number> {
  static constexpr std::string_view type = "Sum";
  static constexpr facts what{.narrow = narrow_rule::exact};
  static constexpr auto& form = leat::form::reduction;
  template <class V>
  static constexpr V identity() {
    return V(0);
  }
  template <class M, class V>
  static constexpr V combine(V a, V b) {
    return M::add(a, b);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, broadcast_to(reshape_to(g.dy(), rule::kept_shape(g)), g.input(0).extent()));
  }
};
struct max_op : rule::reduction<rule::takes::number> {
  static constexpr std::string_view type = "Max";
  static constexpr facts what{.narrow = narrow_rule::ordered, .by_width = width_rule::extreme};
  static constexpr auto& form = leat::form::reduction;
  template <class V>
  static constexpr V identity() {
    return std::numeric_limits<V>::has_infinity ? -std::numeric_limits<V>::infinity() : std::numeric_limits<V>::lowest();
  }
  template <class M, class V>
  static constexpr V combine(V a, V b) {
    return M::maximum(a, b);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (!g.wants(0)) return;
    const shape kept = rule::kept_shape(g);
    const auto hit = cast_to(equal(g.input(0), reshape_to(g.result(), kept)), g.dy().type());
    give(g, 0, hit * (reshape_to(g.dy(), kept) / sum_to(hit, kept)));
  }
};
struct min_op : rule::reduction<rule::takes::number> {
  static constexpr std::string_view type = "Min";
  static constexpr facts what{.narrow = narrow_rule::ordered, .by_width = width_rule::extreme};
  static constexpr auto& form = leat::form::reduction;
  template <class V>
  static constexpr V identity() {
    return std::numeric_limits<V>::has_infinity ? std::numeric_limits<V>::infinity() : std::numeric_limits<V>::max();
  }
  template <class M, class V>
  static constexpr V combine(V a, V b) {
    return M::minimum(a, b);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    max_op::gradient(g);
  }
};
struct prod_op : rule::reduction<rule::takes::number> {
  static constexpr std::string_view type = "Prod";
  static constexpr facts what{.narrow = narrow_rule::exact};
  static constexpr auto& form = leat::form::reduction;
  template <class V>
  static constexpr V identity() {
    return V(1);
  }
  template <class M, class V>
  static constexpr V combine(V a, V b) {
    return M::multiply(a, b);
  }
  // The gradient depends on the number z of zeros among the reduced elements. z = 0: product / x. z = 1: the product of the others for the
  // zero, 0 for the others. z > 1: 0.
  template <class G>
  static constexpr void gradient(G& g) {
    if (!g.wants(0)) return;
    const shape kept = rule::kept_shape(g);
    const auto x = g.input(0);
    const auto one = constant_like(x, 1);
    const auto none = constant_like(x, 0);
    const auto is_zero = equal(x, none);
    const auto zero_count = sum_to(select(is_zero, one, none), kept);
    std::int64_t axes[max_rank + 1]{1};
    int n = 1;
    for (int i = 0; i < kept.rank; ++i)
      if (kept[i] != x.extent()[i]) axes[n++] = i;
    const auto others = n == 1 ? x : make_node<prod_op>({axes, static_cast<std::size_t>(n)}, select(is_zero, one, x));
    const auto dy = reshape_to(g.dy(), kept);
    const auto at_zero = select(equal(zero_count, one), others, none);
    const auto elsewhere = select(equal(zero_count, none), others / select(is_zero, one, x), none);
    give(g, 0, dy * (n == 1 ? one : select(is_zero, at_zero, elsewhere)));
  }
};
struct all_op : rule::reduction<rule::takes::boolean> {
  static constexpr std::string_view type = "All";
  static constexpr auto& form = leat::form::untyped_reduction;
  template <class V>
  static constexpr V identity() {
    return V(true);
  }
  template <class M, class V>
  static constexpr V combine(V a, V b) {
    return M::logical_and(a, b);
  }
};
struct any_op : rule::reduction<rule::takes::boolean> {
  static constexpr std::string_view type = "Any";
  static constexpr auto& form = leat::form::untyped_reduction;
  template <class V>
  static constexpr V identity() {
    return V(false);
  }
  template <class M, class V>
  static constexpr V combine(V a, V b) {
    return M::logical_or(a, b);
  }
};
struct mean_op : rule::reduction<rule::takes::number> {
  static constexpr op_kind kind = op_kind::composite;
  static constexpr std::string_view type = "Mean";
  static constexpr auto& form = leat::form::reduction;
  template <class G>
  static constexpr output expand(G& g) {
    std::int64_t attribute[max_rank + 1]{};
    for (int i = 0; i < g.attribute_count(); ++i) attribute[i] = g.attribute(i);
    const dtype given = g.input(0).type();
    const dtype wide = is_floating(given) ? given : dtype::int64;  // TensorFlow, too, adds integers as int64: the sum may not fit
    const auto sum = make_node<sum_op>({attribute, static_cast<std::size_t>(g.attribute_count())}, cast_to(g.input(0), wide));
    return cast_to(sum / rule::reduced_count(g, wide), given);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (!g.wants(0)) return;
    const auto count = rule::reduced_count(g, g.input(0).type());
    const auto share = reshape_to(g.dy(), rule::kept_shape(g)) / count;
    give(g, 0, broadcast_to(share, g.input(0).extent()));
  }
};

struct euclidean_norm_op : rule::reduction<rule::takes::number> {
  static constexpr op_kind kind = op_kind::composite;
  static constexpr std::string_view type = "EuclideanNorm";
  static constexpr auto& form = leat::form::reduction;
  template <class G>
  static constexpr output expand(G& g) {
    std::int64_t attribute[max_rank + 1]{};
    for (int i = 0; i < g.attribute_count(); ++i) attribute[i] = g.attribute(i);
    const dtype given = g.input(0).type();
    const auto wide = cast_to(g.input(0), is_floating(given) ? given : dtype::float64);
    const auto sum = make_node<sum_op>({attribute, static_cast<std::size_t>(g.attribute_count())}, square(wide));
    return cast_to(sqrt(sum), given);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (!g.wants(0)) return;
    const shape kept = rule::kept_shape(g);
    give(g, 0, g.input(0) / (reshape_to(g.result(), kept) / reshape_to(g.dy(), kept)));
  }
};

namespace detail {
// The attributes of a reduction; the axes are sorted and non-negative if the rank of the operand is known from its type.
template <class X, bool Keep, int... Axes>
struct reduction_attributes {
  static constexpr int rank = [] {
    if constexpr (tensor_expression<X>)
      return X::rank;
    else
      return 0;
  }();
  static constexpr int given[sizeof...(Axes) + 1]{Axes..., 0};
  static constexpr int mask = [] {
    int bits = 0;
    for (std::size_t i = 0; i < sizeof...(Axes); ++i) {
      const int axis = given[i] < 0 ? given[i] + rank : given[i];
      if (axis < 0 || axis >= rank || (bits >> axis & 1) != 0) return -1;
      bits |= 1 << axis;
    }
    return sizeof...(Axes) == 0 ? (1 << rank) - 1 : bits;
  }();
  template <int Axis>
  static constexpr std::int64_t nth = [] {
    int seen = 0;
    for (int i = 0; i < rank; ++i)
      if ((mask >> i & 1) != 0 && seen++ == Axis) return static_cast<std::int64_t>(i);
    return std::int64_t{-1};
  }();
  template <std::size_t... I>
  static auto sorted(std::index_sequence<I...>) -> attributes<Keep, nth<static_cast<int>(I)>...>;
  static auto choose() {
    if constexpr (!tensor_expression<X> || mask < 0)
      return attributes<Keep, Axes...>{};
    else if constexpr (rank == 0)
      return attributes<Keep>{};
    else
      return decltype(sorted(std::make_index_sequence<static_cast<std::size_t>(__builtin_popcount(static_cast<unsigned>(mask)))>{})){};
  }
  using type = decltype(choose());
};
template <class X, bool Keep, int... Axes>
using reduction_attributes_of = typename reduction_attributes<X, Keep, Axes...>::type;
}  // namespace detail

// Defines a function, and one with the suffix `_keep`, which keeps reduced axes as dimensions of 1.
#define LEAT_REDUCTION(function, keep, op)                                                                    \
  template <int... Axes, class X>                                                                             \
    requires accepted_with<op, detail::reduction_attributes_of<X, keep, Axes...>, X>                          \
  constexpr made_with<op, detail::reduction_attributes_of<X, keep, Axes...>, X> function(const X& x) {        \
    return make<op, detail::reduction_attributes_of<X, keep, Axes...>>(x);                                    \
  }                                                                                                           \
  template <int... Axes, class X>                                                                             \
    requires refused_with<op, detail::reduction_attributes_of<X, keep, Axes...>, X>                           \
  why_with<op, detail::reduction_attributes_of<X, keep, Axes...>, X> function(const X&) = delete;             \
  LEAT_OTHERWISE_OF(function, LEAT_REDUCES)
#define LEAT_REDUCES "<axes...>(x) takes one tensor; axes are template arguments, <0, 1>; " LEAT_TENSORS
/// Sum of all elements, or along `Axes`. Shapes: x without `Axes`, kept as 1 by `reduce_sum_keep`. Dtypes: numbers. Errors: axis out of
/// range or named twice. Source: TensorFlow `Sum`.
LEAT_REDUCTION(reduce_sum, false, sum_op);
LEAT_REDUCTION(reduce_sum_keep, true, sum_op);
/// Mean of all elements, or along `Axes`. Integer means are rounded toward zero, and the mean of no integers is 0. Shapes: as `reduce_sum`.
/// Dtypes: numbers. Errors: axis out of range or named twice. Source: TensorFlow `Mean`.
LEAT_REDUCTION(reduce_mean, false, mean_op);
LEAT_REDUCTION(reduce_mean_keep, true, mean_op);
/// Maximum of all elements, or along `Axes`; ties share the gradient equally. Shapes: as `reduce_sum`. Dtypes: numbers. Errors: axis out of
/// range or named twice. Source: TensorFlow `Max`.
LEAT_REDUCTION(reduce_max, false, max_op);
LEAT_REDUCTION(reduce_max_keep, true, max_op);
/// Minimum of all elements, or along `Axes`; ties share the gradient equally. Shapes: as `reduce_sum`. Dtypes: numbers. Errors: axis out of
/// range or named twice. Source: TensorFlow `Min`.
LEAT_REDUCTION(reduce_min, false, min_op);
LEAT_REDUCTION(reduce_min_keep, true, min_op);
/// Product of all elements, or along `Axes`; the gradient is exact even where elements are 0. Shapes: as `reduce_sum`. Dtypes: numbers.
/// Errors: axis out of range or named twice. Source: TensorFlow `Prod`.
LEAT_REDUCTION(reduce_prod, false, prod_op);
LEAT_REDUCTION(reduce_prod_keep, true, prod_op);
/// Whether all elements are true, over all axes or along `Axes`. Shapes: as `reduce_sum`. Dtypes: bool. Errors: axis out of range or named
/// twice. Source: TensorFlow `All`.
LEAT_REDUCTION(reduce_all, false, all_op);
LEAT_REDUCTION(reduce_all_keep, true, all_op);
/// Whether any element is true, over all axes or along `Axes`. Shapes: as `reduce_sum`. Dtypes: bool. Errors: axis out of range or named
/// twice. Source: TensorFlow `Any`.
LEAT_REDUCTION(reduce_any, false, any_op);
LEAT_REDUCTION(reduce_any_keep, true, any_op);
/// √Σ x² of all elements, or along `Axes`; rounded toward zero for integers. Shapes: as `reduce_sum`. Dtypes: numbers. Errors: axis out of
/// range or named twice. Source: TensorFlow `EuclideanNorm`.
LEAT_REDUCTION(reduce_euclidean_norm, false, euclidean_norm_op);
LEAT_REDUCTION(reduce_euclidean_norm_keep, true, euclidean_norm_op);
#undef LEAT_REDUCTION
#undef LEAT_REDUCES

template <class Handle>
constexpr Handle sum_to(const Handle& value, const shape& to) {
  const shape& from = value.extent();
  if (from == to) return value;
  std::int64_t attribute[max_rank + 1]{0};
  int n = 1;
  const int ahead = from.rank - to.rank;
  if (ahead < 0) return broadcast_to(value, to);
  for (int i = 0; i < from.rank; ++i) {
    const std::int64_t target = i < ahead ? 1 : to[i - ahead];
    if (from[i] != target && target == 1) attribute[n++] = i;
  }
  const output summed = n == 1 ? value : make_node<sum_op>({attribute, static_cast<std::size_t>(n)}, value);
  shape kept;  // the summed axes are dropped; a reshape restores dimensions of 1
  if (summed.extent() == to) return summed;
  for (int i = 0; i < to.rank; ++i) kept.push(to[i]);
  if (summed.extent().squeezed() == to.squeezed()) return reshape_to(summed, kept);
  return broadcast_to(summed, to);
}

namespace detail {
// Makes the function available in constant evaluation without emitting its code in every program.
inline constexpr output (*sum_of_handles)(const output&, const shape&) = &sum_to<output>;
}  // namespace detail

}  // namespace leat
