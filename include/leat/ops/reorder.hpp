#pragma once
// Elements in another order along an axis, and repeated arrays: `reverse`, `roll`, `tile`. Errors of all functions: rules.hpp.

#include <leat/ops/splits.hpp>

namespace leat {

/// The elements in reverse order along some axes. Attributes: the axes. Source: TensorFlow `ReverseV2`.
struct reverse_op {
  static constexpr std::string_view type = "ReverseV2";
  static constexpr facts what{.narrow = narrow_rule::moves};
  static constexpr field form[]{{field_kind::operand, "tensor"},
                                {field_kind::vector, "axis"},
                                {field_kind::type_of, "T"},
                                {field_kind::fixed_type, "Tidx", 3}};
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list& x) {
    int seen = 0;
    for (int k = 0; k < x.attribute_count; ++k) {
      const int axis = rule::axis_of(x.attribute(k), x.extent(0).rank);
      if (axis < 0) return inference::wrong("axis out of range");
      if ((seen >> axis & 1) != 0) return inference::wrong("an axis is named twice");
      seen |= 1 << axis;
    }
    return {x.type(0), x.extent(0)};
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (!g.wants(0)) return;
    std::int64_t axes[max_rank]{};
    const auto count = static_cast<std::size_t>(g.attribute_count());
    for (std::size_t k = 0; k < count; ++k) axes[k] = g.attribute(static_cast<int>(k));
    give(g, 0, make_node<reverse_op>({axes, count}, g.dy()));
  }
};
/// x with the order of its elements reversed along `Axes`: `reverse<1>(x)`. Shapes: result as x. Dtypes: any. Errors: axis out of range or
/// named twice. Source: TensorFlow `ReverseV2`.
template <int... Axes, tensor_expression X>
  requires accepted_with<reverse_op, attributes<Axes...>, X>
constexpr made_with<reverse_op, attributes<Axes...>, X> reverse(const X& x) {
  return make<reverse_op, attributes<Axes...>>(x);
}
template <int... Axes, tensor_expression X>
  requires refused_with<reverse_op, attributes<Axes...>, X>
why_with<reverse_op, attributes<Axes...>, X> reverse(const X&) = delete;
LEAT_OTHERWISE_OF(reverse, "<axes...>(x) takes one tensor; axes are template arguments: reverse<0>(x); " LEAT_TENSORS);

namespace detail {

template <class X, int Axis, std::int64_t Shift>
struct roll_plan : axis_plan<X, Axis> {
  using base = axis_plan<X, Axis>;
  static constexpr std::string_view function = "roll";
  static constexpr std::string_view problem() { return base::axis_problem(); }
  /// How many elements move from the end to the begin.
  static constexpr std::int64_t moved() {
    const std::int64_t n = base::size();
    return n == 0 ? 0 : (Shift % n + n) % n;
  }
};

// The numbers of `tile`: the operand with a dimension of 1 before each one that is repeated, the same with the numbers of repetitions in
// these places, and the result. A dimension of 1 needs no other one before it.
template <class X, std::int64_t... Multiples>
struct tile_plan {
  static constexpr std::string_view function = "tile";
  static constexpr std::int64_t multiples[sizeof...(Multiples) + 1]{Multiples..., 0};
  static constexpr bool widens(int i) { return multiples[i] != 1 && X::extent[i] != 1; }
  static constexpr std::string_view problem() {
    if (sizeof...(Multiples) != X::rank) return "one number of repetitions for each axis";
    int rank = X::rank;
    shape all;
    for (int i = 0; i < X::rank; ++i) {
      if (multiples[i] < 0 || multiples[i] > max_elements) return "a number of repetitions is negative or above 2^44";
      if (X::extent[i] < 0 && multiples[i] != 1) return "a named dimension is not repeated";
      rank += widens(i);
      std::int64_t size = X::extent[i];
      if (size > 0 && !multiplies(size, multiples[i], size)) return "a result of more than 2^44 elements";
      all.push(size);
    }
    if (!all.is_countable()) return "a result of more than 2^44 elements";
    if (rank > max_rank) return "more than 8 dimensions, where each repeated one that is not 1 counts twice";
    return {};
  }
  template <class F>
  static constexpr number_list by_axis(F f) {
    number_list numbers;
    for (int i = 0; i < X::rank; ++i) f(numbers, i);
    return numbers;
  }
  static constexpr number_list apart() {
    return by_axis([](number_list& to, int i) {
      if (widens(i)) to.push(1);
      to.push(X::extent[i]);
    });
  }
  static constexpr number_list repeated() {
    return by_axis([](number_list& to, int i) {
      if (widens(i)) to.push(multiples[i]);
      to.push(widens(i) || multiples[i] == 1 ? X::extent[i] : multiples[i]);
    });
  }
  static constexpr number_list result() {
    return by_axis([](number_list& to, int i) { to.push(X::extent[i] < 0 ? X::extent[i] : X::extent[i] * multiples[i]); });
  }
};

}  // namespace detail

/// x with its elements moved by `Shift` places along `Axis`; those that leave at one end enter at the other: `roll<0, 1>(x)` moves the last
/// to the first place. Shapes: result as x. Dtypes: any. Errors: axis out of range; a named dimension along it. Source: TensorFlow `Roll`.
template <int Axis, std::int64_t Shift, tensor_expression X>
  requires detail::fits_plan<detail::roll_plan<X, Axis, Shift>>
constexpr auto roll(const X& x) {
  using plan = detail::roll_plan<X, Axis, Shift>;
  constexpr std::int64_t moved = plan::moved(), stay = plan::size() - moved;
  if constexpr (moved == 0) return x;
  else return concat<Axis>(detail::slice_along<Axis, stay, moved>(x), detail::slice_along<Axis, 0, stay>(x));
}
template <int Axis, std::int64_t Shift, tensor_expression X>
  requires(!detail::fits_plan<detail::roll_plan<X, Axis, Shift>>)
detail::why_not<detail::roll_plan<X, Axis, Shift>, X> roll(const X&) = delete;
LEAT_OTHERWISE_OF(roll, "<axis, shift>(x) takes one tensor; axis and shift are template arguments: roll<0, 1>(x); " LEAT_TENSORS);

/// x repeated along each axis: `tile<2, 1>(x)` has the rows of a matrix twice, one matrix after the other. Shapes: x [d0, …, dn]; result
/// [m0 d0, …, mn dn]. Dtypes: any. Errors: not one number for each axis, a negative one, a named dimension that is repeated. Source:
/// TensorFlow `Tile`.
template <std::int64_t... Multiples, tensor_expression X>
  requires detail::fits_plan<detail::tile_plan<X, Multiples...>>
constexpr auto tile(const X& x) {
  using plan = detail::tile_plan<X, Multiples...>;
  if constexpr (((Multiples == 1) && ...))
    return x;
  else
    return detail::reshaped_from<plan::result>(detail::make_from<broadcast_to_op, plan::repeated>(detail::reshaped_from<plan::apart>(x)));
}
template <std::int64_t... Multiples, tensor_expression X>
  requires(!detail::fits_plan<detail::tile_plan<X, Multiples...>>)
detail::why_not<detail::tile_plan<X, Multiples...>, X> tile(const X&) = delete;
LEAT_OTHERWISE_OF(tile, "<multiples...>(x) takes one tensor; the numbers of repetitions are template arguments: tile<2, 1>(x); "
                        LEAT_TENSORS);

}  // namespace leat
