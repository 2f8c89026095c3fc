#pragma once
// Einstein's sums of up to 8 operands: `einsum<"ij,jk->ik">(a, b)`. The equation is read while the program is compiled, so its errors are
// the compiler's.

#include <leat/ops/contraction.hpp>
#include <leat/ops/einsum_equation.hpp>

#include <span>

namespace leat {

namespace detail {

/// An equation for operands of these ranks: the axes of an ellipsis have labels above all letters, aligned at the last axis.
constexpr einsum_labels with_ranks(einsum_labels read, std::span<const int> ranks) {
  constexpr std::int64_t first = 256;
  int widest = 0;
  bool any = false;
  const auto wrong = [&](std::string_view why) {
    read.problem = why;
    return read;
  };
  const auto axes = [](const number_list& labels, int rank) {
    return labels.contains(einsum_labels::ellipsis) ? rank - (labels.count - 1) : 0;
  };
  const auto expanded = [&](const number_list& labels, int count) {
    number_list made;
    for (int i = 0; i < labels.count; ++i) {
      if (labels[i] != einsum_labels::ellipsis) made.push(labels[i]);
      else
        for (int k = 0; k < count; ++k) made.push(first + widest - count + k);
    }
    return made;
  };
  if (!read.problem.empty()) return read;
  if (read.operands != static_cast<int>(ranks.size())) return wrong("the equation has another number of operands");
  for (int k = 0; k < read.operands; ++k) {
    const int count = axes(read.operand[k], ranks[static_cast<std::size_t>(k)]);
    if (count < 0) return wrong("the rank of an operand is below the number of its letters");
    any = any || read.operand[k].contains(einsum_labels::ellipsis);
    if (count > widest) widest = count;
  }
  for (int k = 0; k < read.operands; ++k) {
    const int rank = ranks[static_cast<std::size_t>(k)];
    read.operand[k] = expanded(read.operand[k], axes(read.operand[k], rank));
    if (read.operand[k].count != rank) return wrong("the rank of an operand is not the number of its letters");
  }
  if (any != read.result.contains(einsum_labels::ellipsis))
    return wrong(any ? "the operands have an ellipsis, and the result has none" : "the result has an ellipsis, and no operand has one");
  read.result = expanded(read.result, widest);
  if (read.result.count > max_rank) return wrong("more than 8 dimensions");
  for (int i = 0; i < read.result.count; ++i)
    if (read.result.find(read.result[i]) != i) return wrong("a letter occurs twice in the result");
  return read;
}

template <fixed_string Equation, class... Operands>
struct einsum_plan {
  static constexpr std::string_view function = "einsum";
  static constexpr int count = sizeof...(Operands);
  static constexpr int ranks[]{Operands::rank...};
  static constexpr einsum_labels text = with_ranks(read_equation(Equation.view()), ranks);

  template <int K>
  static constexpr number_list labels() {
    return text.operand[K];
  }
  static constexpr number_list result() { return text.result; }
  /// The labels of the product of the operands before `next`, which has the labels `before`, and of that one: those that the result or a
  /// later operand has.
  static constexpr number_list kept(int next, const number_list& before) {
    if (next + 1 == count) return text.result;
    number_list all;
    const auto add = [&](const number_list& from) {
      for (int i = 0; i < from.count; ++i) {
        bool needed = text.result.contains(from[i]);
        for (int k = next + 1; k < count; ++k) needed = needed || text.operand[k].contains(from[i]);
        if (needed && !all.contains(from[i])) all.push(from[i]);
      }
    };
    add(before);
    add(text.operand[next]);
    return all;
  }
  template <int Next, class Before>
  static constexpr number_list kept_of() {
    return kept(Next, labels_in<Before>);
  }

  template <class X>
  static constexpr std::string_view problem_of(const number_list& its) {
    for (int i = 0; i < X::rank; ++i)
      if (X::extent[its.find(its[i])] != X::extent[i]) return "the dimensions of a letter that one operand has twice differ";
    return {};
  }
  static constexpr std::string_view problem() {
    if (!text.problem.empty()) return text.problem;
    std::string_view found;
    int k = 0;
    ((found = found.empty() ? problem_of<Operands>(text.operand[k]) : found, ++k), ...);
    if (!found.empty()) return found;
    if (!(is_number(Operands::type) && ...)) return rule::refusal(rule::takes::number);
    const dtype types[]{Operands::type...};
    const shape extents[]{Operands::extent...};
    for (const dtype type : types)
      if (type != types[0]) return "dtypes differ (cast<T>(x) converts)";
    number_list before = text.operand[0];
    for (int next = 1; next < count; ++next) {
      const number_list& its = text.operand[next];
      for (int i = 0; i < its.count; ++i)
        for (int other = 0; other < next; ++other) {
          const int there = text.operand[other].find(its[i]);
          if (there < 0) continue;
          const std::int64_t x = extents[next][i], y = extents[other][there];
          if (x != y && x != 1 && y != 1) return "the dimensions of a letter that both operands have differ";
        }
      const number_list made = kept(next, before);
      int all = made.count;
      for (int i = 0; i < before.count; ++i) all += before.find(before[i]) == i && its.contains(before[i]) && !made.contains(before[i]);
      if (all > max_rank) return "more than 8 letters that are in the result or in both operands";
      before = made;
    }
    return {};
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

// The product of some operands, whose axes have these labels, each once, and of those from `Next` on.
template <class Plan, int Next, class Labels, tensor_expression A, tensor_expression B, tensor_expression... Rest>
constexpr auto einsum_with(const A& a, const B& b, const Rest&... rest) {
  return with_diagonals<attributes_from<Plan::template labels<Next>>>(b, [&]<class D, class LabelsD>(const D& d, LabelsD) {
    using made = attributes_from<Plan::template kept_of<Next, Labels>>;
    const auto product = labelled_product<Labels, LabelsD, made>(a, d);
    if constexpr (sizeof...(Rest) == 0) return product;
    else return einsum_with<Plan, Next + 1, made>(product, rest...);
  });
}
template <class Plan, tensor_expression X, tensor_expression... Rest>
constexpr auto einsum_of(const X& x, const Rest&... rest) {
  return with_diagonals<attributes_from<Plan::template labels<0>>>(x, [&]<class Y, class Labels>(const Y& y, Labels) {
    using result = attributes_from<Plan::result>;
    if constexpr (sizeof...(Rest) == 0) {
      using kept = attributes_from<wanted_axes<Labels, result>::labels>;
      return in_order<kept, result>(with_wanted<Labels, result>(y));
    } else {
      return einsum_with<Plan, 1, Labels>(y, rest...);
    }
  });
}

}  // namespace detail

/// Einstein's sum: a letter names an axis of each operand, and the result sums the products over all letters that it lacks.
/// `einsum<"ij,jk->ik">(a, b)` is a matrix product, `einsum<"bij,bjk->bik">(a, b)` one for each b, `einsum<"ii->i">(a)` the diagonal,
/// `einsum<"ij->ji">(a)` the transpose, `einsum<"...ij,...jk->...ik">(a, b)` products of stacks of matrices of any rank,
/// `einsum<"i,ij,j">(x, a, y)` a bilinear form. Without an arrow the result has the axes of the ellipsis, then the letters that occur once,
/// in alphabetical order. Up to 8 operands are multiplied from left to right. Shapes: as the letters say; the dimensions of a letter are
/// equal, or 1 in some of the operands. Dtypes: numbers, the same in all operands. Errors: an equation that is none; ranks and dimensions
/// that differ. Source: TensorFlow `einsum`.
template <fixed_string Equation, tensor_expression... Operands>
  requires(sizeof...(Operands) > 0 && sizeof...(Operands) <= detail::einsum_labels::most &&
           detail::fits_plan<detail::einsum_plan<Equation, Operands...>>)
constexpr auto einsum(const Operands&... operands) {
  return detail::einsum_of<detail::einsum_plan<Equation, Operands...>>(operands...);
}
template <fixed_string Equation, tensor_expression... Operands>
  requires(sizeof...(Operands) > 0 && sizeof...(Operands) <= detail::einsum_labels::most &&
           !detail::fits_plan<detail::einsum_plan<Equation, Operands...>>)
detail::why_not<detail::einsum_plan<Equation, Operands...>, Operands...> einsum(const Operands&...) = delete;
#define LEAT_EINSUM_WORDS                                                                                                             \
  "einsum<equation>(a), einsum<equation>(a, b, ...) take up to 8 tensors; the equation is a template argument: einsum<\"ij,jk->ik\">" \
  "(a, b); " LEAT_TENSORS
LEAT_OTHERWISE(LEAT_EINSUM_WORDS) einsum(...) LEAT_DELETED;
template <fixed_string Equation>
LEAT_OTHERWISE(LEAT_EINSUM_WORDS) einsum(...) LEAT_DELETED;
#undef LEAT_EINSUM_WORDS

}  // namespace leat
