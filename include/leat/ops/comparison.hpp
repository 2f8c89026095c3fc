#pragma once
// Element-wise comparisons, logic, selection and conversion. Errors of all functions: rules.hpp.

#include <leat/ops/arithmetic.hpp>

namespace leat {

struct equal_op : rule::comparison<rule::takes::any> {
  static constexpr std::string_view type = "Equal";
  static constexpr facts what{.narrow = narrow_rule::exact, .stops_gradient = true};
  static constexpr auto& form = leat::form::equality;
  static constexpr bool commutative = true;
  template <class M, class V>
  static constexpr auto apply(V a, V b) {
    return M::equal(a, b);
  }
};
/// Whether a = b, element-wise. Result: bool; shapes broadcast. Dtypes: any, the same on both sides. Source: TensorFlow `Equal`.
LEAT_FUNCTION_OF_TWO(equal, equal_op);

struct not_equal_op : rule::comparison<rule::takes::any> {
  static constexpr std::string_view type = "NotEqual";
  static constexpr facts what{.narrow = narrow_rule::exact, .stops_gradient = true};
  static constexpr auto& form = leat::form::equality;
  static constexpr bool commutative = true;
  template <class M, class V>
  static constexpr auto apply(V a, V b) {
    return M::not_equal(a, b);
  }
};
/// Whether a ≠ b, element-wise. Result: bool; shapes broadcast. Dtypes: any, the same on both sides. Source: TensorFlow `NotEqual`.
LEAT_FUNCTION_OF_TWO(not_equal, not_equal_op);

struct less_op : rule::comparison<rule::takes::number> {
  static constexpr std::string_view type = "Less";
  static constexpr facts what{.narrow = narrow_rule::ordered, .stops_gradient = true};
  template <class M, class V>
  static constexpr auto apply(V a, V b) {
    return M::less(a, b);
  }
};
/// Whether a < b, element-wise. Result: bool; shapes broadcast. Dtypes: numbers. Source: TensorFlow `Less`.
LEAT_FUNCTION_OF_TWO(less, less_op);

struct less_equal_op : rule::comparison<rule::takes::number> {
  static constexpr std::string_view type = "LessEqual";
  static constexpr facts what{.narrow = narrow_rule::ordered, .stops_gradient = true};
  template <class M, class V>
  static constexpr auto apply(V a, V b) {
    return M::less_equal(a, b);
  }
};
/// Whether a ≤ b, element-wise. Result: bool; shapes broadcast. Dtypes: numbers. Source: TensorFlow `LessEqual`.
LEAT_FUNCTION_OF_TWO(less_equal, less_equal_op);

struct greater_op : rule::comparison<rule::takes::number> {
  static constexpr std::string_view type = "Greater";
  static constexpr facts what{.narrow = narrow_rule::ordered, .stops_gradient = true};
  template <class M, class V>
  static constexpr auto apply(V a, V b) {
    return M::greater(a, b);
  }
};
/// Whether a > b, element-wise. Result: bool; shapes broadcast. Dtypes: numbers. Source: TensorFlow `Greater`.
LEAT_FUNCTION_OF_TWO(greater, greater_op);

struct greater_equal_op : rule::comparison<rule::takes::number> {
  static constexpr std::string_view type = "GreaterEqual";
  static constexpr facts what{.narrow = narrow_rule::ordered, .stops_gradient = true};
  template <class M, class V>
  static constexpr auto apply(V a, V b) {
    return M::greater_equal(a, b);
  }
};
/// Whether a ≥ b, element-wise. Result: bool; shapes broadcast. Dtypes: numbers. Source: TensorFlow `GreaterEqual`.
LEAT_FUNCTION_OF_TWO(greater_equal, greater_equal_op);

/// `less(a, b)`.
template <class A, class B>
  requires accepted<less_op, A, B>
constexpr made<less_op, A, B> operator<(const A& a, const B& b) {
  return make<less_op>(a, b);
}
template <class A, class B>
  requires refused<less_op, A, B>
why<less_op, A, B> operator<(const A&, const B&) = delete;
template <class A, class B, LEAT_NUMBER_SITE>
  requires operand_and_number<A, B>
constexpr auto operator<(const A& a, const B& b) {
  return detail::with_number<Site>(a, b, [](const auto& p, const auto& q) { return less(p, q); });
}
template <class A, class B>
  requires refused_beside<A, B>
LEAT_WHY_BESIDE operator<(A&&, B&&) LEAT_DELETED;

/// `less_equal(a, b)`.
template <class A, class B>
  requires accepted<less_equal_op, A, B>
constexpr made<less_equal_op, A, B> operator<=(const A& a, const B& b) {
  return make<less_equal_op>(a, b);
}
template <class A, class B>
  requires refused<less_equal_op, A, B>
why<less_equal_op, A, B> operator<=(const A&, const B&) = delete;
template <class A, class B, LEAT_NUMBER_SITE>
  requires operand_and_number<A, B>
constexpr auto operator<=(const A& a, const B& b) {
  return detail::with_number<Site>(a, b, [](const auto& p, const auto& q) { return less_equal(p, q); });
}
template <class A, class B>
  requires refused_beside<A, B>
LEAT_WHY_BESIDE operator<=(A&&, B&&) LEAT_DELETED;

/// `greater(a, b)`.
template <class A, class B>
  requires accepted<greater_op, A, B>
constexpr made<greater_op, A, B> operator>(const A& a, const B& b) {
  return make<greater_op>(a, b);
}
template <class A, class B>
  requires refused<greater_op, A, B>
why<greater_op, A, B> operator>(const A&, const B&) = delete;
template <class A, class B, LEAT_NUMBER_SITE>
  requires operand_and_number<A, B>
constexpr auto operator>(const A& a, const B& b) {
  return detail::with_number<Site>(a, b, [](const auto& p, const auto& q) { return greater(p, q); });
}
template <class A, class B>
  requires refused_beside<A, B>
LEAT_WHY_BESIDE operator>(A&&, B&&) LEAT_DELETED;

/// `greater_equal(a, b)`.
template <class A, class B>
  requires accepted<greater_equal_op, A, B>
constexpr made<greater_equal_op, A, B> operator>=(const A& a, const B& b) {
  return make<greater_equal_op>(a, b);
}
template <class A, class B>
  requires refused<greater_equal_op, A, B>
why<greater_equal_op, A, B> operator>=(const A&, const B&) = delete;
template <class A, class B, LEAT_NUMBER_SITE>
  requires operand_and_number<A, B>
constexpr auto operator>=(const A& a, const B& b) {
  return detail::with_number<Site>(a, b, [](const auto& p, const auto& q) { return greater_equal(p, q); });
}
template <class A, class B>
  requires refused_beside<A, B>
LEAT_WHY_BESIDE operator>=(A&&, B&&) LEAT_DELETED;

struct logical_and_op : rule::binary<rule::takes::boolean> {
  static constexpr std::string_view type = "LogicalAnd";
  static constexpr auto& form = leat::form::untyped_pair;
  static constexpr bool commutative = true;
  template <class M, class V>
  static constexpr auto apply(V a, V b) {
    return M::logical_and(a, b);
  }
};
/// Element-wise logical and of a and b; both operands are always computed. Shapes broadcast; dtypes: bool. Source: TensorFlow `LogicalAnd`.
template <class A, class B>
  requires accepted<logical_and_op, A, B>
constexpr made<logical_and_op, A, B> logical_and(const A& a, const B& b) {
  return make<logical_and_op>(a, b);
}
template <class A, class B>
  requires refused<logical_and_op, A, B>
why<logical_and_op, A, B> logical_and(const A&, const B&) = delete;
LEAT_OTHERWISE("logical_and(a, b) takes two tensors of bool; " LEAT_TENSORS) logical_and(...) LEAT_DELETED;
/// `logical_and(a, b)`.
template <class A, class B>
  requires accepted<logical_and_op, A, B>
constexpr made<logical_and_op, A, B> operator&&(const A& a, const B& b) {
  return make<logical_and_op>(a, b);
}
template <class A, class B>
  requires(refused<logical_and_op, std::remove_cvref_t<A>, std::remove_cvref_t<B>>)
why<logical_and_op, std::remove_cvref_t<A>, std::remove_cvref_t<B>> operator&&(A&&, B&&) = delete;
template <class A, class B>
  requires detail::one_is_no_tensor<A, B>
LEAT_OTHERWISE("a && b takes two tensors of bool; " LEAT_TENSORS) operator&&(A&&, B&&) LEAT_DELETED;

struct logical_or_op : rule::binary<rule::takes::boolean> {
  static constexpr std::string_view type = "LogicalOr";
  static constexpr auto& form = leat::form::untyped_pair;
  static constexpr bool commutative = true;
  template <class M, class V>
  static constexpr auto apply(V a, V b) {
    return M::logical_or(a, b);
  }
};
/// Element-wise logical or of a and b; both operands are always computed. Shapes broadcast; dtypes: bool. Source: TensorFlow `LogicalOr`.
template <class A, class B>
  requires accepted<logical_or_op, A, B>
constexpr made<logical_or_op, A, B> logical_or(const A& a, const B& b) {
  return make<logical_or_op>(a, b);
}
template <class A, class B>
  requires refused<logical_or_op, A, B>
why<logical_or_op, A, B> logical_or(const A&, const B&) = delete;
LEAT_OTHERWISE("logical_or(a, b) takes two tensors of bool; " LEAT_TENSORS) logical_or(...) LEAT_DELETED;
/// `logical_or(a, b)`.
template <class A, class B>
  requires accepted<logical_or_op, A, B>
constexpr made<logical_or_op, A, B> operator||(const A& a, const B& b) {
  return make<logical_or_op>(a, b);
}
template <class A, class B>
  requires(refused<logical_or_op, std::remove_cvref_t<A>, std::remove_cvref_t<B>>)
why<logical_or_op, std::remove_cvref_t<A>, std::remove_cvref_t<B>> operator||(A&&, B&&) = delete;
template <class A, class B>
  requires detail::one_is_no_tensor<A, B>
LEAT_OTHERWISE("a || b takes two tensors of bool; " LEAT_TENSORS) operator||(A&&, B&&) LEAT_DELETED;

struct logical_not_op : rule::unary<rule::takes::boolean> {
  static constexpr std::string_view type = "LogicalNot";
  static constexpr auto& form = leat::form::untyped_single;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::logical_not(x);
  }
};
/// Element-wise logical not of x. Dtypes: bool. Source: TensorFlow `LogicalNot`.
LEAT_FUNCTION_OF_ONE(logical_not, logical_not_op);
/// `logical_not(x)` of a typed expression; of a handle, whether it refers to no node (`output::operator!`).
template <class X>
  requires(tensor_expression<X> && accepted<logical_not_op, X>)
constexpr made<logical_not_op, X> operator!(const X& x) {
  return make<logical_not_op>(x);
}
template <class X>
  requires refused<logical_not_op, X>
why<logical_not_op, X> operator!(const X&) = delete;

struct is_nan_op : rule::predicate<rule::takes::floating> {
  static constexpr std::string_view type = "IsNan";
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::is_nan(x);
  }
};
/// Whether each element is NaN. Result: bool. Dtypes: floating point. Source: TensorFlow `IsNan`.
LEAT_FUNCTION_OF_ONE(is_nan, is_nan_op);

struct is_inf_op : rule::predicate<rule::takes::floating> {
  static constexpr std::string_view type = "IsInf";
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::is_inf(x);
  }
};
/// Whether each element is infinite. Result: bool. Dtypes: floating point. Source: TensorFlow `IsInf`.
LEAT_FUNCTION_OF_ONE(is_inf, is_inf_op);

struct is_finite_op : rule::predicate<rule::takes::floating> {
  static constexpr std::string_view type = "IsFinite";
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::is_finite(x);
  }
};
/// Whether each element is neither infinite nor NaN. Result: bool. Dtypes: floating point. Source: TensorFlow `IsFinite`.
LEAT_FUNCTION_OF_ONE(is_finite, is_finite_op);

struct select_op {
  static constexpr std::string_view type = "SelectV2";
  static constexpr facts what{.narrow = narrow_rule::moves};
  static constexpr field form[]{{field_kind::operand, "condition", -1},
                                {field_kind::operand, "t"},
                                {field_kind::operand, "e"},
                                {field_kind::type_of, "T", 1}};
  static constexpr op_kind kind = op_kind::element;
  static constexpr inference infer(const operand_list& x) {
    if (x.type(0) != dtype::boolean) return inference::wrong("the condition is not bool");
    if (x.type(1) != x.type(2)) return inference::wrong("dtypes differ (cast<T>(x) converts)");
    const auto both = broadcast(x.extent(1), x.extent(2));
    const auto all = broadcast(x.extent(0), both.extent);
    if (!both.ok || !all.ok) return inference::wrong("shapes do not broadcast");
    return {x.type(1), all.extent};
  }
  template <class M, class C, class V>
  static constexpr auto apply(C condition, V a, V b) {
    return M::select(condition, a, b);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const auto zero = constant_like(g.dy(), 0);
    if (g.wants(1)) give(g, 1, select(g.input(0), g.dy(), zero));
    if (g.wants(2)) give(g, 2, select(g.input(0), zero, g.dy()));
  }
};
/// a where the condition is true, b elsewhere; the gradient of an operand is 0 where the other one was selected. Shapes: all three
/// broadcast. Dtypes: condition bool; a and b any, the same. Source: TensorFlow `SelectV2`.
template <class C, class A, class B>
  requires accepted<select_op, C, A, B>
constexpr made<select_op, C, A, B> select(const C& condition, const A& a, const B& b) {
  return make<select_op>(condition, a, b);
}
template <class C, class A, class B>
  requires refused<select_op, C, A, B>
why<select_op, C, A, B> select(const C&, const A&, const B&) = delete;
template <class C, class A, class B>
  requires(operand<C> && operand_and_fraction<A, B>)
why_beside<A, B> select(const C&, const A&, const B&) = delete;
template <class C, class A, class B, LEAT_SITE>
  requires(operand<C> && operand_and_number<A, B>)
constexpr auto select(const C& condition, const A& a, const B& b) {
  return detail::with_number<Site>(a, b, [&](const auto& p, const auto& q) { return select(condition, p, q); });
}
LEAT_OTHERWISE("select(condition, a, b) takes a tensor of bool and two tensors, of which one may be a number; " LEAT_TENSORS)
select(...) LEAT_DELETED;

/// Conversion to another dtype. Attribute: the dtype. Source: TensorFlow `Cast`.
struct cast_op {
  static constexpr std::string_view type = "Cast";
  static constexpr facts what{.integers = integer_rule::same, .narrow = narrow_rule::exact, .by_width = width_rule::cast};
  static constexpr field form[]{{field_kind::operand, "x"},
                                {field_kind::type_of, "SrcT"},
                                {field_kind::type_number, "DstT"},
                                {field_kind::fixed_flag, "Truncate", 0}};
  static constexpr op_kind kind = op_kind::element;
  static constexpr bool converts = true;
  static constexpr inference infer(const operand_list& x) {
    const auto to = static_cast<dtype>(x.attribute(0));
    if (size_of(to) == 0 || size_of(x.type(0)) == 0) return inference::wrong("converts numbers and bool only");
    return {to, x.extent(0)};
  }
  template <class M, class To, class V>
  static constexpr auto apply_to(V x) {
    return M::template cast<To>(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (!g.wants(0) || !is_floating(g.input(0).type())) return;
    const std::int64_t back[]{static_cast<std::int64_t>(g.input(0).type())};
    give(g, 0, make_node<cast_op>(back, g.dy()));
  }
};
/// x converted to another dtype, `cast<double>(x)`. Floating point is rounded toward zero in conversions to integers; conversion to bool is
/// `x != 0`. Dtypes: any. Source: TensorFlow `Cast`.
template <element_type To, operand X>
constexpr auto cast(const X& x) {
  if constexpr (tensor_expression<X>) {
    if constexpr (std::is_same_v<typename X::element, To>)
      return x;
    else
      return make<cast_op, attributes<static_cast<std::int64_t>(dtype_of<To>)>>(x);
  } else {
    return make<cast_op, attributes<static_cast<std::int64_t>(dtype_of<To>)>>(x);
  }
}
LEAT_OTHERWISE_OF(cast, "<dtype>(x) takes one tensor; the dtype is a template argument: float, double, std::int32_t, std::int64_t, "
                        "std::uint8_t or bool; " LEAT_TENSORS);
/// `cast` for handles, with the dtype as an argument.
template <class Handle>
  requires std::is_same_v<Handle, output>
constexpr Handle cast_to(const Handle& x, dtype to) {
  if (x.type() == to) return x;
  const std::int64_t attribute[]{static_cast<std::int64_t>(to)};
  return make_node<cast_op>(attribute, x);
}

struct clip_by_value_op {
  static constexpr std::string_view type = "ClipByValue";
  static constexpr facts what{.narrow = narrow_rule::ordered};
  static constexpr field form[]{{field_kind::operand, "t"},
                                {field_kind::operand, "clip_value_min"},
                                {field_kind::operand, "clip_value_max"},
                                {field_kind::type_of, "T"}};
  static constexpr op_kind kind = op_kind::element;
  static constexpr inference infer(const operand_list& x) {
    if (!rule::fits(rule::takes::number, x.type(0))) return inference::wrong(rule::refusal(rule::takes::number));
    if (x.type(0) != x.type(1) || x.type(0) != x.type(2)) return inference::wrong("dtypes differ (cast<T>(x) converts)");
    for (int k = 1; k < 3; ++k) {
      const auto both = broadcast(x.extent(0), x.extent(k));
      if (!both.ok || !may_equal(both.extent, x.extent(0))) return inference::wrong("the limits do not broadcast to the operand's shape");
    }
    return {x.type(0), x.extent(0)};
  }
  template <class M, class V>
  static constexpr auto apply(V x, V low, V high) {
    return M::maximum(M::minimum(x, high), low);  // if low > high, low wins, as in TensorFlow's kernel
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const auto zero = constant_like(g.dy(), 0);
    const auto below = less(g.input(0), g.input(1));
    const auto above = greater(g.input(0), g.input(2));
    if (g.wants(0)) give(g, 0, select(logical_or(below, above), zero, g.dy()));
    if (g.wants(1)) give(g, 1, select(below, g.dy(), zero));
    if (g.wants(2)) give(g, 2, select(above, g.dy(), zero));
  }
};
/// x limited to [low, high]. The gradient goes to x inside the interval and at its limits, and to the exceeded limit outside of it. Shapes:
/// low and high broadcast to the shape of x, which is the result's. Dtypes: numbers, all the same. Source: TensorFlow `ClipByValue`.
template <class X, class L, class H>
  requires accepted<clip_by_value_op, X, L, H>
constexpr made<clip_by_value_op, X, L, H> clip_by_value(const X& x, const L& low, const H& high) {
  return make<clip_by_value_op>(x, low, high);
}
template <class X, class L, class H>
  requires refused<clip_by_value_op, X, L, H>
why<clip_by_value_op, X, L, H> clip_by_value(const X&, const L&, const H&) = delete;
template <class X, class L, class H>
  requires(operand_and_fraction<X, L>)
why_beside<X, L> clip_by_value(const X&, const L&, const H&) = delete;
template <class X, class L, class H>
  requires(!operand_and_fraction<X, L> && operand_and_fraction<X, H>)
why_beside<X, H> clip_by_value(const X&, const L&, const H&) = delete;
LEAT_OTHERWISE("clip_by_value(x, low, high) takes a tensor and two limits, tensors or numbers; "
               LEAT_TENSORS) clip_by_value(...) LEAT_DELETED;
namespace detail {
// Two numbers in one call need distinct sites, because a number's identity derives from its site.
template <class Site, int K>
struct part_of_site {};
template <class Site, class Like, class N>
constexpr auto operand_beside(const Like& like, const N& n) {
  if constexpr (operand<N>)
    return n;
  else
    return beside<Site>(like, n);
}
}  // namespace detail
template <class X, class L, class H, LEAT_SITE>
  requires(operand<X> && (operand<L> || number_or_constant<L>) && (operand<H> || number_or_constant<H>) && !(operand<L> && operand<H>) &&
           !operand_and_fraction<X, L> && !operand_and_fraction<X, H>)
constexpr auto clip_by_value(const X& x, const L& low, const H& high) {
  return clip_by_value(x, detail::operand_beside<detail::part_of_site<Site, 0>>(x, low),
                       detail::operand_beside<detail::part_of_site<Site, 1>>(x, high));
}

// Operators that expressions do not support; the message names the function to use instead.
#define LEAT_NO_OPERATOR(op, words)          \
  template <class A, class B>                \
    requires detail::one_is_expression<A, B> \
  LEAT_OTHERWISE(words) operator op(A&&, B&&) LEAT_DELETED
LEAT_NO_OPERATOR(==, "a == b of expressions is written equal(a, b)");
LEAT_OTHERWISE("a == b of tensors: equal(a, b) compares their elements, same_tensor(a, b) says whether both are one")
operator==(const output&, const output&) LEAT_DELETED;
LEAT_NO_OPERATOR(!=, "a != b of expressions is written not_equal(a, b)");
LEAT_NO_OPERATOR(%, "a % b of expressions is written truncate_mod(a, b), as in C++, or floor_mod(a, b), as in TensorFlow");
LEAT_NO_OPERATOR(&, "a & b of expressions is written logical_and(a, b)");
LEAT_NO_OPERATOR(|, "a | b of expressions is written logical_or(a, b)");
LEAT_NO_OPERATOR(^, "a ^ b of expressions is written pow(a, b); of bool not_equal(a, b)");
LEAT_NO_OPERATOR(<<, "an expression has a value in a session only: auto [value] = s.run(fetch(x), feeds...)");
#define LEAT_NO_CHANGE \
  "an expression's type holds its shape and what it is made of, so its object keeps them: auto c = a + b; a variable is "
LEAT_NO_OPERATOR(+=, LEAT_NO_CHANGE "changed by assign_add(w, b)");
LEAT_NO_OPERATOR(-=, LEAT_NO_CHANGE "changed by assign_sub(w, b)");
LEAT_NO_OPERATOR(*=, LEAT_NO_CHANGE "changed by assign(w, w * b)");
LEAT_NO_OPERATOR(/=, LEAT_NO_CHANGE "changed by assign(w, w / b)");
#undef LEAT_NO_CHANGE
#undef LEAT_NO_OPERATOR

}  // namespace leat
