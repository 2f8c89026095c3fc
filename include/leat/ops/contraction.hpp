#pragma once
// Sums of products of two arrays along axes that they share, whatever their order: each axis has a label, and equal labels are one axis.
// They become a matrix product where the axes form matrices, a product of stacks of matrices where some axes are in the result as well, and
// otherwise products of elements that are summed. `tensordot` and `einsum` (einsum.hpp) say which axes have which labels.

#include <leat/ops/linalg.hpp>
#include <leat/ops/positions.hpp>
#include <leat/ops/reorder.hpp>
#include <leat/ops/stacked_matmul.hpp>

namespace leat {

namespace detail {

constexpr number_list list_of(const std::int64_t* numbers, int count) {
  number_list made;
  for (int i = 0; i < count; ++i) made.push(numbers[i]);
  return made;
}
/// The axes' labels as a list. They are `attributes<...>`, so that they may be a template argument.
template <class Labels>
inline constexpr number_list labels_in = list_of(Labels::data, Labels::count);

// ---- one operand ----------------------------------------------------------------------------------------------------

/// The axes of one operand: those of one label are equal indices, and those whose labels are not wanted are summed.
template <class X, class Labels>
struct labelled {
  static constexpr number_list labels = labels_in<Labels>;  // nvcc accepts no reference here
  /// The second axis with a label that occurs before it, and the first one; or none.
  static constexpr int repeated() {
    for (int i = 0; i < labels.count; ++i)
      if (labels.find(labels[i]) != i) return i;
    return -1;
  }
  static constexpr int first_like_repeated() { return labels.find(labels[repeated()]); }
  static constexpr number_list without_repeated() {
    number_list rest;
    for (int i = 0; i < labels.count; ++i)
      if (i != repeated()) rest.push(labels[i]);
    return rest;
  }
  /// The size along one axis, 1 along the others: a line of positions.
  template <int Axis>
  static constexpr number_list line() {
    number_list sizes;
    for (int i = 0; i < X::rank; ++i) sizes.push(i == Axis ? X::extent[i] : 1);
    return sizes;
  }
};

template <class Numbers>
struct attributes_as_dims;
template <std::int64_t... Ds>
struct attributes_as_dims<attributes<Ds...>> {
  using type = dims<Ds...>;
};
template <class X, class Labels, int Axis>
constexpr auto positions_along() {
  return positions<std::int32_t, typename attributes_as_dims<attributes_from<labelled<X, Labels>::template line<Axis>>>::type, Axis>();
}

// Calls `f(y, labels)` with the elements of x whose indices along axes of one label are equal, and with the labels, each once.
template <class Labels, tensor_expression X, class F>
constexpr auto with_diagonals(const X& x, F f) {
  using here = labelled<X, Labels>;
  if constexpr (here::repeated() < 0) {
    return f(x, Labels{});
  } else {
    constexpr int second = here::repeated(), first = here::first_like_repeated();
    const auto on_diagonal = equal(positions_along<X, Labels, first>(), positions_along<X, Labels, second>());
    return with_diagonals<attributes_from<here::without_repeated>>(reduce_sum<second>(select(on_diagonal, x, constant_beside<0>(x))), f);
  }
}

template <class Labels, class Wanted>
struct wanted_axes {
  static constexpr number_list labels() {
    number_list kept;
    for (int i = 0; i < Labels::count; ++i)
      if (labels_in<Wanted>.contains(Labels::data[i])) kept.push(Labels::data[i]);
    return kept;
  }
  static constexpr number_list summed() {
    number_list numbers;
    numbers.push(0);
    for (int i = 0; i < Labels::count; ++i)
      if (!labels_in<Wanted>.contains(Labels::data[i])) numbers.push(i);
    return numbers;
  }
};
// x summed along the axes whose labels are not wanted.
template <class Labels, class Wanted, tensor_expression X>
constexpr auto with_wanted(const X& x) {
  if constexpr (wanted_axes<Labels, Wanted>::summed().count == 1) return x;
  else return make_from<sum_op, wanted_axes<Labels, Wanted>::summed>(x);
}
// The axes' order for labels in another order.
template <class From, class To>
struct relabelled {
  static constexpr number_list order() {
    number_list axes;
    for (int i = 0; i < To::count; ++i) axes.push(labels_in<From>.find(To::data[i]));
    return axes;
  }
};
template <class From, class To, tensor_expression X>
constexpr auto in_order(const X& x) {
  return transposed_from<relabelled<From, To>::order>(x);
}

// ---- two operands ---------------------------------------------------------------------------------------------------

/// Two operands without repeated labels; all labels that only one of them has are in the result.
template <class A, class B, class LabelsA, class LabelsB, class Result>
struct contraction {
  static constexpr number_list a = labels_in<LabelsA>, b = labels_in<LabelsB>, result = labels_in<Result>;

  template <class F>
  static constexpr number_list those(const number_list& labels, F f) {
    number_list some;
    for (int i = 0; i < labels.count; ++i)
      if (f(labels[i])) some.push(labels[i]);
    return some;
  }
  static constexpr number_list stacks() {
    return those(result, [](std::int64_t l) { return a.contains(l) && b.contains(l); });
  }
  static constexpr number_list only_a() {
    return those(result, [](std::int64_t l) { return a.contains(l) && !b.contains(l); });
  }
  static constexpr number_list only_b() {
    return those(result, [](std::int64_t l) { return !a.contains(l) && b.contains(l); });
  }
  static constexpr number_list summed() {
    return those(a, [](std::int64_t l) { return !result.contains(l); });
  }
  static constexpr number_list joined(std::initializer_list<number_list> lists) {
    number_list all;
    for (const number_list& list : lists)
      for (int i = 0; i < list.count; ++i) all.push(list[i]);
    return all;
  }
  static constexpr std::int64_t size_of_label(std::int64_t l) { return a.contains(l) ? A::extent[a.find(l)] : B::extent[b.find(l)]; }
  /// The product of the sizes of some axes, or the name of the only one; -1 if a name is among several.
  static constexpr std::int64_t size(const number_list& labels) {
    if (labels.count == 1) return size_of_label(labels[0]);
    std::int64_t all = 1;
    for (int i = 0; i < labels.count; ++i) {
      if (size_of_label(labels[i]) < 0) return -1;
      all *= size_of_label(labels[i]);
    }
    return all;
  }
  static constexpr number_list sizes(const number_list& labels) {
    number_list all;
    for (int i = 0; i < labels.count; ++i) all.push(size_of_label(labels[i]));
    return all;
  }
  static constexpr number_list ones(int count) {
    number_list all;
    for (int i = 0; i < count; ++i) all.push(1);
    return all;
  }
  static constexpr number_list one(std::int64_t n) {
    number_list all;
    all.push(n);
    return all;
  }

  static constexpr bool has_matrices() {
    return is_number(A::type) && A::type != dtype::uint8 && summed().count > 0 && only_a().count + only_b().count > 0 &&
           size(only_a()) != -1 && size(only_b()) != -1 && size(summed()) != -1 && stacks().count + 3 <= max_rank;
  }
  /// The operands' labels in the order of a matrix product, and of products of elements.
  static constexpr number_list left() { return joined({stacks(), only_a(), summed()}); }
  static constexpr number_list right() { return joined({stacks(), summed(), only_b()}); }
  static constexpr number_list right_by_element() { return joined({stacks(), only_b(), summed()}); }
  static constexpr number_list made() { return joined({stacks(), only_a(), only_b()}); }
  /// The shapes of the matrices or stacks of matrices, and of the result.
  static constexpr number_list left_matrix() { return joined({sizes(stacks()), one(size(only_a())), one(size(summed()))}); }
  static constexpr number_list right_matrix() { return joined({sizes(stacks()), one(size(summed())), one(size(only_b()))}); }
  static constexpr number_list made_sizes() { return sizes(made()); }
  /// The shapes of the operands of products of elements, which broadcast.
  static constexpr number_list left_elements() {
    return joined({sizes(stacks()), sizes(only_a()), ones(only_b().count), sizes(summed())});
  }
  static constexpr number_list right_elements() {
    return joined({sizes(stacks()), ones(only_a().count), sizes(only_b()), sizes(summed())});
  }
  static constexpr int elements_rank() { return made().count + summed().count; }
  static constexpr number_list last_axes() {
    number_list numbers = one(0);
    for (int i = made().count; i < elements_rank(); ++i) numbers.push(i);
    return numbers;
  }
};

template <class Labels, auto Order, auto Sizes, tensor_expression X>
constexpr auto arranged(const X& x) {
  return reshaped_from<Sizes>(in_order<Labels, attributes_from<Order>>(x));
}

template <class LabelsA, class LabelsB, class Result, tensor_expression A, tensor_expression B>
constexpr auto contracted(const A& a, const B& b) {
  using plan = contraction<A, B, LabelsA, LabelsB, Result>;
  if constexpr (plan::has_matrices()) {
    using op = std::conditional_t<plan::stacks().count == 0, matmul_op, stacked_matmul_op>;
    const auto product = make<op, attributes<0, 0>>(arranged<LabelsA, plan::left, plan::left_matrix>(a),
                                                    arranged<LabelsB, plan::right, plan::right_matrix>(b));
    return in_order<attributes_from<plan::made>, Result>(reshaped_from<plan::made_sizes>(product));
  } else {
    const auto products = arranged<LabelsA, plan::left, plan::left_elements>(a) *
                          arranged<LabelsB, plan::right_by_element, plan::right_elements>(b);
    if constexpr (plan::summed().count == 0) return in_order<attributes_from<plan::made>, Result>(products);
    else return in_order<attributes_from<plan::made>, Result>(make_from<sum_op, plan::last_axes>(products));
  }
}

// ---- tensordot ------------------------------------------------------------------------------------------------------

template <class A, class B, class AxesA, class AxesB>
struct tensordot_plan {
  static constexpr std::string_view function = "tensordot";
  static constexpr int axis_a(int k) { return rule::axis_of(AxesA::data[k], A::rank); }
  static constexpr int axis_b(int k) { return rule::axis_of(AxesB::data[k], B::rank); }
  static constexpr std::string_view problem() {
    if (A::type != B::type) return "dtypes differ (cast<T>(x) converts)";
    if (!is_number(A::type)) return rule::refusal(rule::takes::number);
    if (AxesA::count != AxesB::count) return "the two lists of axes differ in length";
    if (AxesA::count > A::rank || AxesB::count > B::rank) return "more axes than an operand has";
    int seen_a = 0, seen_b = 0;
    for (int k = 0; k < AxesA::count; ++k) {
      if (axis_a(k) < 0 || axis_b(k) < 0) return "axis out of range";
      if ((seen_a >> axis_a(k) & 1) != 0 || (seen_b >> axis_b(k) & 1) != 0) return "an axis is named twice";
      seen_a |= 1 << axis_a(k);
      seen_b |= 1 << axis_b(k);
      if (A::extent[axis_a(k)] != B::extent[axis_b(k)]) return "the dimensions along a pair of axes differ";
    }
    if (A::rank + B::rank - 2 * AxesA::count > max_rank) return "more than 8 dimensions";
    if (!contraction<A, B, attributes_from<labels_a>, attributes_from<labels_b>, attributes_from<result>>::has_matrices() &&
        A::rank + B::rank - AxesA::count > max_rank)
      return "more than 8 axes, where some have names and form no matrix";
    return {};
  }
  static constexpr number_list labels_a() {
    number_list labels;
    for (int i = 0; i < A::rank; ++i) labels.push(i);
    return labels;
  }
  static constexpr number_list labels_b() {
    number_list labels;
    for (int i = 0; i < B::rank; ++i) labels.push(max_rank + i);
    for (int k = 0; k < AxesA::count; ++k) labels.data[axis_b(k)] = axis_a(k);
    return labels;
  }
  static constexpr number_list result() {
    number_list labels;
    const number_list a = labels_a(), b = labels_b();
    for (int i = 0; i < a.count; ++i)
      if (!b.contains(a[i])) labels.push(a[i]);
    for (int i = 0; i < b.count; ++i)
      if (!a.contains(b[i])) labels.push(b[i]);
    return labels;
  }
};

template <int Count, bool Last, int Rank>
struct axes_at_end {
  static constexpr number_list list() {
    number_list axes;
    for (int i = 0; i < Count; ++i) axes.push(Last ? Rank - Count + i : i);
    return axes;
  }
};
template <int Count, class A, class B>
struct counted_axes {};
template <int Count, tensor_expression A, tensor_expression B>
struct counted_axes<Count, A, B> {
  using plan = tensordot_plan<A, B, attributes_from<axes_at_end<Count, true, A::rank>::list>,
                              attributes_from<axes_at_end<Count, false, B::rank>::list>>;
};

template <class Plan, tensor_expression A, tensor_expression B>
constexpr auto tensordot_by(const A& a, const B& b) {
  return contracted<attributes_from<Plan::labels_a>, attributes_from<Plan::labels_b>, attributes_from<Plan::result>>(a, b);
}

}  // namespace detail

/// Axes in the arguments of a function: `axis_list<1, 0>`.
template <int... Axes>
struct axis_list {};
namespace detail {
template <class A, class B, class AxesA, class AxesB>
struct listed_axes {};
template <tensor_expression A, tensor_expression B, int... AxesA, int... AxesB>
struct listed_axes<A, B, axis_list<AxesA...>, axis_list<AxesB...>> {
  using plan = tensordot_plan<A, B, attributes<AxesA...>, attributes<AxesB...>>;
};
}  // namespace detail

/// Sums of products along axes of a and of b: `tensordot<1>(a, b)` along the last axis of a and the first of b, `tensordot<axis_list<0, 1>,
/// axis_list<1, 0>>(a, b)` along pairs of axes, `tensordot<0>(a, b)` all products. Shapes: a without these axes, then b without them.
/// Dtypes: numbers, the same on both sides. Errors: axis out of range or named twice; dimensions that differ. Source: TensorFlow
/// `tensordot`.
template <int Count, tensor_expression A, tensor_expression B>
  requires(Count >= 0 && Count <= max_rank && detail::fits_plan<typename detail::counted_axes<Count, A, B>::plan>)
constexpr auto tensordot(const A& a, const B& b) {
  return detail::tensordot_by<typename detail::counted_axes<Count, A, B>::plan>(a, b);
}
template <int Count, tensor_expression A, tensor_expression B>
  requires(Count >= 0 && Count <= max_rank && !detail::fits_plan<typename detail::counted_axes<Count, A, B>::plan>)
detail::why_not<typename detail::counted_axes<Count, A, B>::plan, A, B> tensordot(const A&, const B&) = delete;
template <class AxesA, class AxesB, tensor_expression A, tensor_expression B>
  requires detail::fits_plan<typename detail::listed_axes<A, B, AxesA, AxesB>::plan>
constexpr auto tensordot(const A& a, const B& b) {
  return detail::tensordot_by<typename detail::listed_axes<A, B, AxesA, AxesB>::plan>(a, b);
}
template <class AxesA, class AxesB, tensor_expression A, tensor_expression B>
  requires(!detail::fits_plan<typename detail::listed_axes<A, B, AxesA, AxesB>::plan>)
detail::why_not<typename detail::listed_axes<A, B, AxesA, AxesB>::plan, A, B> tensordot(const A&, const B&) = delete;
#define LEAT_TENSORDOT_WORDS \
  "tensordot<1>(a, b) and tensordot<axis_list<0>, axis_list<1>>(a, b) take two tensors; axes are template arguments; " LEAT_TENSORS
LEAT_OTHERWISE(LEAT_TENSORDOT_WORDS) tensordot(...) LEAT_DELETED;
template <LEAT_ANY_NUMBER Count>
LEAT_OTHERWISE(LEAT_TENSORDOT_WORDS) tensordot(...) LEAT_DELETED;
template <class AxesA, class AxesB>
LEAT_OTHERWISE(LEAT_TENSORDOT_WORDS) tensordot(...) LEAT_DELETED;
#undef LEAT_TENSORDOT_WORDS

}  // namespace leat
