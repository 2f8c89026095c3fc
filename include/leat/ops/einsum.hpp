#pragma once
// Einstein's sums of one operand or two: `einsum<"ij,jk->ik">(a, b)`. The equation is read while the program is compiled, so its errors are
// the compiler's.

#include <leat/ops/contraction.hpp>
#include <leat/ops/einsum_equation.hpp>

namespace leat {

namespace detail {

// An equation for arrays whose axes all have a letter, each at most once in the result.
constexpr einsum_labels read_equation_of_letters(std::string_view text) {
  einsum_labels made = read_equation(text);
  if (!made.problem.empty()) return made;
  if (made.has_ellipsis()) made.problem = "an ellipsis: write a letter for each axis";
  for (int i = 0; i < made.result.count; ++i)
    if (made.result.find(made.result[i]) != i) made.problem = "a letter occurs twice in the result";
  return made;
}

template <fixed_string Equation>
struct equation {
  static constexpr einsum_labels labels = read_equation_of_letters(Equation.view());
  static constexpr number_list first() { return labels.operand[0]; }
  static constexpr number_list second() { return labels.operand[1]; }
  static constexpr number_list result() { return labels.result; }
};

template <fixed_string Equation, class... Operands>
struct einsum_plan {
  using text = equation<Equation>;
  static constexpr std::string_view function = "einsum";
  static constexpr int count = sizeof...(Operands);

  template <class X>
  static constexpr std::string_view problem_of(const number_list& labels) {
    if (labels.count != X::rank) return "the rank of an operand is not the number of its letters";
    for (int i = 0; i < X::rank; ++i)
      if (X::extent[labels.find(labels[i])] != X::extent[i]) return "the dimensions of a letter that one operand has twice differ";
    return {};
  }
  static constexpr std::string_view problem() {
    if (!text::labels.problem.empty()) return text::labels.problem;
    if (text::labels.operands != count) return "the equation has another number of operands";
    std::string_view found;
    int k = 0;
    ((found = found.empty() ? problem_of<Operands>(text::labels.operand[k]) : found, ++k), ...);
    if (!found.empty()) return found;
    if (!(is_number(Operands::type) && ...)) return rule::refusal(rule::takes::number);
    if constexpr (count == 2) return problem_of_two<Operands...>();
    else return {};
  }
  template <class A, class B>
  static constexpr std::string_view problem_of_two() {
    const number_list &a = text::labels.operand[0], &b = text::labels.operand[1];
    if (A::type != B::type) return "dtypes differ (cast<T>(x) converts)";
    int all = text::labels.result.count;
    for (int i = 0; i < a.count; ++i) {
      if (a.find(a[i]) != i || !b.contains(a[i])) continue;
      const std::int64_t x = A::extent[i], y = B::extent[b.find(a[i])];
      if (x != y && x != 1 && y != 1) return "the dimensions of a letter that both operands have differ";
      all += !text::labels.result.contains(a[i]);
    }
    return all > max_rank ? "more than 8 letters that are in the result or in both operands" : std::string_view{};
  }
};

/// The labels that an operand keeps for a product with another one; it is summed along the others beforehand. Where its size is 1 and the
/// other's is not, it broadcasts, and needs no axis for that label.
template <class X, class Labels, class Other, class OtherLabels, class Result>
struct labels_for_product {
  static constexpr number_list list() {
    number_list kept;
    for (int i = 0; i < X::rank; ++i) {
      const std::int64_t label = Labels::data[i], size = X::extent[i];
      const int there = labels_in<OtherLabels>.find(label);
      const std::int64_t other = there < 0 ? unknown_dimension : Other::extent[there];
      if (size == other || (labels_in<Result>.contains(label) && (there < 0 || size != 1))) kept.push(label);
    }
    return kept;
  }
};
// Two operands, each of whose labels is one axis.
template <class LabelsA, class LabelsB, class Result, tensor_expression A, tensor_expression B>
constexpr auto labelled_product(const A& a, const B& b) {
  using kept_a = attributes_from<labels_for_product<A, LabelsA, B, LabelsB, Result>::list>;
  using kept_b = attributes_from<labels_for_product<B, LabelsB, A, LabelsA, Result>::list>;
  return contracted<kept_a, kept_b, Result>(with_wanted<LabelsA, kept_a>(a), with_wanted<LabelsB, kept_b>(b));
}

template <class Text, tensor_expression X>
constexpr auto einsum_of(const X& x) {
  using result = attributes_from<Text::result>;
  return with_diagonals<attributes_from<Text::first>>(x, []<class Y, class Labels>(const Y& y, Labels) {
    using kept = attributes_from<wanted_axes<Labels, result>::labels>;
    return in_order<kept, result>(with_wanted<Labels, result>(y));
  });
}
template <class Text, tensor_expression A, tensor_expression B>
constexpr auto einsum_of(const A& a, const B& b) {
  return with_diagonals<attributes_from<Text::first>>(a, [&b]<class C, class LabelsC>(const C& c, LabelsC) {
    return with_diagonals<attributes_from<Text::second>>(b, [&c]<class D, class LabelsD>(const D& d, LabelsD) {
      return labelled_product<LabelsC, LabelsD, attributes_from<Text::result>>(c, d);
    });
  });
}

}  // namespace detail

/// Einstein's sum: a letter names an axis of each operand, and the result sums the products over all letters that it lacks.
/// `einsum<"ij,jk->ik">(a, b)` is a matrix product, `einsum<"bij,bjk->bik">(a, b)` one for each b, `einsum<"ii->i">(a)` the diagonal,
/// `einsum<"ij->ji">(a)` the transpose. Without an arrow the result has the letters that occur once, in alphabetical order. Shapes: as the
/// letters say; the dimensions of a letter are equal, or 1 in one of the operands. Dtypes: numbers, the same in both operands. Errors: an
/// equation that is none, with an ellipsis, or of more than two operands; ranks and dimensions that differ. Source: TensorFlow `einsum`.
template <fixed_string Equation, tensor_expression... Operands>
  requires((sizeof...(Operands) == 1 || sizeof...(Operands) == 2) && detail::fits_plan<detail::einsum_plan<Equation, Operands...>>)
constexpr auto einsum(const Operands&... operands) {
  return detail::einsum_of<detail::equation<Equation>>(operands...);
}
template <fixed_string Equation, tensor_expression... Operands>
  requires((sizeof...(Operands) == 1 || sizeof...(Operands) == 2) && !detail::fits_plan<detail::einsum_plan<Equation, Operands...>>)
detail::why_not<detail::einsum_plan<Equation, Operands...>, Operands...> einsum(const Operands&...) = delete;
#define LEAT_EINSUM_WORDS \
  "einsum<equation>(a), einsum<equation>(a, b) take tensors; the equation is a template argument: einsum<\"ij,jk->ik\">(a, b); " \
  LEAT_TENSORS
LEAT_OTHERWISE(LEAT_EINSUM_WORDS) einsum(...) LEAT_DELETED;
template <fixed_string Equation>
LEAT_OTHERWISE(LEAT_EINSUM_WORDS) einsum(...) LEAT_DELETED;
#undef LEAT_EINSUM_WORDS

}  // namespace leat
