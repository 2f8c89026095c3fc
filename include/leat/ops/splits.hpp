#pragma once
// Parts of an array along an axis, as a tuple: `auto [a, b] = split<0, 2>(x)`. Errors of all functions: rules.hpp.

#include <leat/ops/array_parts.hpp>
#include <leat/ops/array_plan.hpp>

#include <tuple>

namespace leat {

namespace detail {

template <class X, int Axis, std::int64_t Begin, std::int64_t Size>
constexpr number_list slice_numbers() {
  number_list numbers;
  const int axis = rule::axis_of(Axis, X::rank);
  for (int i = 0; i < X::rank; ++i) numbers.push(i == axis ? Begin : 0);
  for (int i = 0; i < X::rank; ++i) numbers.push(i == axis ? Size : -1);
  return numbers;
}
// The slice of `Size` elements that begins at `Begin`.
template <int Axis, std::int64_t Begin, std::int64_t Size, tensor_expression X>
constexpr auto slice_along(const X& x) {
  return make_from<slice_op, slice_numbers<X, Axis, Begin, Size>>(x);
}

template <class X, int Axis>
struct axis_plan {
  static constexpr int axis = rule::axis_of(Axis, X::rank);
  /// The problem with the axis, or with its size, which must not be a name.
  static constexpr std::string_view axis_problem() {
    if (axis < 0) return "axis out of range";
    if (X::extent[axis] < 0) return "the dimension along the axis has a name, and a part of it no size that the compiler knows";
    return {};
  }
  static constexpr std::int64_t size() { return X::extent[axis]; }
};

template <class X, int Axis, std::int64_t... Sizes>
struct split_sizes_plan : axis_plan<X, Axis> {
  using base = axis_plan<X, Axis>;
  static constexpr std::string_view function = "split_sizes";
  static constexpr std::int64_t given[sizeof...(Sizes) + 1]{Sizes..., 0};
  static constexpr int count = sizeof...(Sizes);
  static constexpr std::string_view problem() {
    if (!base::axis_problem().empty()) return base::axis_problem();
    std::int64_t sum = 0;
    int open = 0;
    for (int k = 0; k < count; ++k) {
      if (given[k] < -1 || given[k] > max_elements) return "a size is not negative, or -1, which stands for the remaining elements";
      open += given[k] == -1;
      sum += given[k] == -1 ? 0 : given[k];
    }
    if (open > 1) return "more than one size of -1";
    if (open == 1 ? sum > base::size() : sum != base::size()) return "the sizes do not add up to the dimension along the axis";
    return {};
  }
  static constexpr std::int64_t size_of_part(int k) {
    if (given[k] != -1) return given[k];
    std::int64_t rest = base::size();
    for (int j = 0; j < count; ++j) rest -= given[j] == -1 ? 0 : given[j];
    return rest;
  }
  static constexpr std::int64_t begin_of_part(int k) {
    std::int64_t begin = 0;
    for (int j = 0; j < k; ++j) begin += size_of_part(j);
    return begin;
  }
};

template <class X, int Axis, int Count>
struct split_plan : axis_plan<X, Axis> {
  using base = axis_plan<X, Axis>;
  static constexpr std::string_view function = "split";
  static constexpr std::string_view problem() {
    if (!base::axis_problem().empty()) return base::axis_problem();
    if (Count < 1) return "the number of parts must be at least 1";
    if (base::size() % Count != 0) return "the dimension along the axis is not a multiple of the number of parts";
    return {};
  }
};

template <class X, int Axis>
struct unstack_plan : axis_plan<X, Axis> {
  static constexpr std::string_view function = "unstack";
  static constexpr std::string_view problem() { return axis_plan<X, Axis>::axis_problem(); }
};

}  // namespace detail

/// Equal parts along `Axis`, as a tuple: `auto [a, b, c] = split<1, 3>(x)`. Shapes: x [d0, …, dn]; each part the same with `d / Count` at
/// the axis. Dtypes: any. Errors: axis out of range; a named dimension along it, or one that is not a multiple of `Count`. Source:
/// TensorFlow `Split`.
template <int Axis, int Count, tensor_expression X>
  requires detail::fits_plan<detail::split_plan<X, Axis, Count>>
constexpr auto split(const X& x) {
  constexpr std::int64_t size = detail::split_plan<X, Axis, Count>::size() / Count;
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::tuple(detail::slice_along<Axis, static_cast<std::int64_t>(I) * size, size>(x)...);
  }(std::make_index_sequence<static_cast<std::size_t>(Count)>{});
}
template <int Axis, int Count, tensor_expression X>
  requires(!detail::fits_plan<detail::split_plan<X, Axis, Count>>)
detail::why_not<detail::split_plan<X, Axis, Count>, X> split(const X&) = delete;
LEAT_OTHERWISE_OF(split, "<axis, count>(x) takes one tensor; axis and number of parts are template arguments: split<1, 3>(x); "
                         LEAT_TENSORS);

/// Parts of the given sizes along `Axis`, as a tuple: `auto [a, b] = split_sizes<0, 2, -1>(x)`; one size may be -1, which stands for the
/// remaining elements. Shapes: x [d0, …, dn]; each part the same with its size at the axis. Dtypes: any. Errors: axis out of range; a named
/// dimension along it; sizes that do not add up to it. Source: TensorFlow `SplitV`.
template <int Axis, std::int64_t First, std::int64_t... Sizes, tensor_expression X>
  requires detail::fits_plan<detail::split_sizes_plan<X, Axis, First, Sizes...>>
constexpr auto split_sizes(const X& x) {
  using plan = detail::split_sizes_plan<X, Axis, First, Sizes...>;
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::tuple(
        detail::slice_along<Axis, plan::begin_of_part(static_cast<int>(I)), plan::size_of_part(static_cast<int>(I))>(x)...);
  }(std::make_index_sequence<static_cast<std::size_t>(plan::count)>{});
}
template <int Axis, std::int64_t First, std::int64_t... Sizes, tensor_expression X>
  requires(!detail::fits_plan<detail::split_sizes_plan<X, Axis, First, Sizes...>>)
detail::why_not<detail::split_sizes_plan<X, Axis, First, Sizes...>, X> split_sizes(const X&) = delete;
LEAT_OTHERWISE_OF(split_sizes, "<axis, sizes...>(x) takes one tensor; axis and sizes are template arguments: "
                               "split_sizes<1, 2, -1>(x); " LEAT_TENSORS);

/// The subarrays along `Axis`, without that axis, as a tuple: `auto [first, second] = unstack(x)` of a matrix of two rows. Shapes: x [d0,
/// …, dn]; as many results as the dimension at `Axis`, each without it. Dtypes: any. Errors: axis out of range; a named dimension along it.
/// Source: TensorFlow `Unpack`.
template <int Axis = 0, tensor_expression X>
  requires detail::fits_plan<detail::unstack_plan<X, Axis>>
constexpr auto unstack(const X& x) {
  using plan = detail::unstack_plan<X, Axis>;
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::tuple(squeeze<plan::axis>(detail::slice_along<Axis, static_cast<std::int64_t>(I), 1>(x))...);
  }(std::make_index_sequence<static_cast<std::size_t>(plan::size())>{});
}
template <int Axis = 0, tensor_expression X>
  requires(!detail::fits_plan<detail::unstack_plan<X, Axis>>)
detail::why_not<detail::unstack_plan<X, Axis>, X> unstack(const X&) = delete;
LEAT_OTHERWISE_OF(unstack, "<axis>(x) takes one tensor; the axis is a template argument: unstack<1>(x); " LEAT_TENSORS);

}  // namespace leat
