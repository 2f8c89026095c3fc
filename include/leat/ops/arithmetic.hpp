#pragma once
// Element-wise arithmetic with broadcasting. Each class is the one definition of its operator; errors of all functions: rules.hpp.

#include <leat/ops/rules.hpp>

namespace leat {

// A template, because an operator's table must not be instantiated before all operators are declared.
template <class Handle>
  requires std::is_same_v<Handle, output>
constexpr Handle operator/(const Handle& a, const Handle& b);

struct add_op : rule::binary<rule::takes::number> {
  static constexpr std::string_view type = "AddV2";
  static constexpr facts what{.integers = integer_rule::sum};
  static constexpr std::string_view call_name = "add";
  static constexpr bool commutative = true;
  static constexpr int foldable = 2;
  template <class M, class V>
  static constexpr auto apply(V a, V b) {
    return M::add(a, b);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, g.dy());
    if (g.wants(1)) give(g, 1, g.dy());
  }
};
/// Element-wise a + b. Shapes broadcast; dtypes: numbers, the same on both sides. Source: TensorFlow `AddV2`.
template <class A, class B>
  requires accepted<add_op, A, B>
constexpr made<add_op, A, B> operator+(const A& a, const B& b) {
  return make<add_op>(a, b);
}
template <class A, class B>
  requires refused<add_op, A, B>
why<add_op, A, B> operator+(const A&, const B&) = delete;
template <class A, class B, LEAT_NUMBER_SITE>
  requires operand_and_number<A, B>
constexpr auto operator+(const A& a, const B& b) {
  return detail::with_number<Site>(a, b, [](const auto& p, const auto& q) { return p + q; });
}
template <class A, class B>
  requires refused_beside<A, B>
LEAT_WHY_BESIDE operator+(A&&, B&&) LEAT_DELETED;

struct sub_op : rule::binary<rule::takes::number> {
  static constexpr std::string_view type = "Sub";
  static constexpr facts what{.integers = integer_rule::difference};
  static constexpr std::string_view call_name = "sub";
  static constexpr int foldable = 2;
  template <class M, class V>
  static constexpr auto apply(V a, V b) {
    return M::subtract(a, b);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, g.dy());
    if (g.wants(1)) give(g, 1, -g.dy());
  }
};
/// Element-wise a - b. Shapes broadcast; dtypes: numbers. Source: TensorFlow `Sub`.
template <class A, class B>
  requires accepted<sub_op, A, B>
constexpr made<sub_op, A, B> operator-(const A& a, const B& b) {
  return make<sub_op>(a, b);
}
template <class A, class B>
  requires refused<sub_op, A, B>
why<sub_op, A, B> operator-(const A&, const B&) = delete;
template <class A, class B, LEAT_NUMBER_SITE>
  requires operand_and_number<A, B>
constexpr auto operator-(const A& a, const B& b) {
  return detail::with_number<Site>(a, b, [](const auto& p, const auto& q) { return p - q; });
}
template <class A, class B>
  requires refused_beside<A, B>
LEAT_WHY_BESIDE operator-(A&&, B&&) LEAT_DELETED;

struct mul_op : rule::binary<rule::takes::number> {
  static constexpr std::string_view type = "Mul";
  static constexpr facts what{.integers = integer_rule::product};
  static constexpr std::string_view call_name = "mul";
  static constexpr bool commutative = true;
  static constexpr int foldable = 2;
  template <class M, class V>
  static constexpr auto apply(V a, V b) {
    return M::multiply(a, b);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, g.dy() * g.input(1));
    if (g.wants(1)) give(g, 1, g.dy() * g.input(0));
  }
};
/// Element-wise a b. Shapes broadcast; dtypes: numbers. Source: TensorFlow `Mul`.
template <class A, class B>
  requires accepted<mul_op, A, B>
constexpr made<mul_op, A, B> operator*(const A& a, const B& b) {
  return make<mul_op>(a, b);
}
template <class A, class B>
  requires refused<mul_op, A, B>
why<mul_op, A, B> operator*(const A&, const B&) = delete;
template <class A, class B, LEAT_NUMBER_SITE>
  requires operand_and_number<A, B>
constexpr auto operator*(const A& a, const B& b) {
  return detail::with_number<Site>(a, b, [](const auto& p, const auto& q) { return p * q; });
}
template <class A, class B>
  requires refused_beside<A, B>
LEAT_WHY_BESIDE operator*(A&&, B&&) LEAT_DELETED;

struct neg_op : rule::unary<rule::takes::number> {
  static constexpr std::string_view type = "Neg";
  static constexpr int foldable = 1;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::negate(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, -g.dy());
  }
};
/// Element-wise -x. Dtypes: numbers. Source: TensorFlow `Neg`.
template <class X>
  requires accepted<neg_op, X>
constexpr made<neg_op, X> operator-(const X& x) {
  return make<neg_op>(x);
}
template <class X>
  requires refused<neg_op, X>
why<neg_op, X> operator-(const X&) = delete;

/// The gradient of y = 1 / x with respect to x: -dy y². It is 0 where dy is 0, whatever y is.
/// Source: TensorFlow `ReciprocalGrad`.
struct reciprocal_grad_op : rule::binary<rule::takes::floating> {
  static constexpr std::string_view type = "ReciprocalGrad";
  static constexpr auto& form = leat::form::root_gradient;
  template <class M, class V>
  static constexpr auto apply(V y, V dy) {
    return M::select(M::equal(dy, V(0)), M::negate(dy), M::multiply(M::multiply(M::negate(dy), y), y));
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, g.dy() * g.input(1) * g.input(0) * -2);
    if (g.wants(1)) give(g, 1, make_node<reciprocal_grad_op>({}, g.input(0), g.dy()));
  }
};

struct reciprocal_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Reciprocal";
  static constexpr int foldable = 1;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::reciprocal(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, make_node<reciprocal_grad_op>({}, g.result(), g.dy()));
  }
};
/// Element-wise 1 / x. Dtypes: floating point. Source: TensorFlow `Reciprocal`.
template <class X>
  requires accepted<reciprocal_op, X>
constexpr made<reciprocal_op, X> reciprocal(const X& x) {
  return make<reciprocal_op>(x);
}
template <class X>
  requires refused<reciprocal_op, X>
why<reciprocal_op, X> reciprocal(const X&) = delete;
LEAT_TAKES_ONE_TENSOR(reciprocal);

struct real_div_op : rule::binary<rule::takes::floating> {
  static constexpr std::string_view type = "RealDiv";
  static constexpr std::string_view call_name = "truediv";
  static constexpr int foldable = 2;
  template <class M, class V>
  static constexpr auto apply(V a, V b) {
    return M::divide(a, b);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, g.dy() / g.input(1));
    if (g.wants(1)) give(g, 1, -g.dy() * g.result() / g.input(1));
  }
};
/// Element-wise a / b. Shapes broadcast; dtypes: floating point. Source: TensorFlow `RealDiv`.
template <class A, class B>
  requires accepted<real_div_op, A, B>
constexpr made<real_div_op, A, B> real_divide(const A& a, const B& b) {
  return make<real_div_op>(a, b);
}
template <class A, class B>
  requires refused<real_div_op, A, B>
why<real_div_op, A, B> real_divide(const A&, const B&) = delete;
template <class A, class B, LEAT_NUMBER_SITE>
  requires operand_and_number<A, B>
constexpr auto real_divide(const A& a, const B& b) {
  return detail::with_number<Site>(a, b, [](const auto& p, const auto& q) { return real_divide(p, q); });
}
template <class A, class B>
  requires refused_beside<A, B>
LEAT_WHY_BESIDE real_divide(A&&, B&&) LEAT_DELETED;
LEAT_TAKES_TWO_TENSORS(real_divide);

struct truncate_div_op : rule::binary<rule::takes::integer> {
  static constexpr std::string_view type = "TruncateDiv";
  static constexpr facts what{.divides = true, .stops_gradient = true};
  template <class M, class V>
  static constexpr auto apply(V a, V b) {
    return M::truncate_div(a, b);
  }
};
/// Element-wise a / b rounded toward zero. Shapes broadcast; dtypes: integers. Errors: invalid_argument if an element of b is 0.
/// Source: TensorFlow `TruncateDiv`.
template <class A, class B>
  requires accepted<truncate_div_op, A, B>
constexpr made<truncate_div_op, A, B> truncate_divide(const A& a, const B& b) {
  return make<truncate_div_op>(a, b);
}
template <class A, class B>
  requires refused<truncate_div_op, A, B>
why<truncate_div_op, A, B> truncate_divide(const A&, const B&) = delete;
template <class A, class B, LEAT_NUMBER_SITE>
  requires operand_and_number<A, B>
constexpr auto truncate_divide(const A& a, const B& b) {
  return detail::with_divisor<Site>(a, b, [](const auto& p, const auto& q) { return truncate_divide(p, q); });
}
template <class A, class B>
  requires refused_beside<A, B>
LEAT_WHY_BESIDE truncate_divide(A&&, B&&) LEAT_DELETED;
LEAT_TAKES_TWO_TENSORS(truncate_divide);

/// Element-wise a / b: `real_divide` of floating-point tensors, `truncate_divide` of integers, as in C++. Shapes broadcast.
/// Errors: invalid_argument if an integer element of b is 0; at compile time if b is `0_c`.
template <class A, class B>
  requires(tensor_expression<A> && accepted<real_div_op, A, B>)
constexpr made<real_div_op, A, B> operator/(const A& a, const B& b) {
  return make<real_div_op>(a, b);
}
template <class Handle>
  requires std::is_same_v<Handle, output>
constexpr Handle operator/(const Handle& a, const Handle& b) {
  return is_floating(a.type()) ? make<real_div_op>(a, b) : make<truncate_div_op>(a, b);
}
template <class A, class B>
  requires(!accepted<real_div_op, A, B> && accepted<truncate_div_op, A, B>)
constexpr made<truncate_div_op, A, B> operator/(const A& a, const B& b) {
  return make<truncate_div_op>(a, b);
}
template <class A, class B>
  requires(refused<real_div_op, A, B> && refused<truncate_div_op, A, B>)
why<real_div_op, A, B> operator/(const A&, const B&) = delete;
template <class A, class B, LEAT_NUMBER_SITE>
  requires operand_and_number<A, B>
constexpr auto operator/(const A& a, const B& b) {
  return detail::with_divisor<Site>(a, b, [](const auto& p, const auto& q) { return p / q; });
}
template <class A, class B>
  requires refused_beside<A, B>
LEAT_WHY_BESIDE operator/(A&&, B&&) LEAT_DELETED;

struct floor_div_op : rule::binary<rule::takes::number> {
  static constexpr std::string_view type = "FloorDiv";
  static constexpr facts what{.integers = integer_rule::quotient, .divides = true, .stops_gradient = true};
  static constexpr std::string_view call_name = "floordiv";
  template <class M, class V>
  static constexpr auto apply(V a, V b) {
    return M::floor_div(a, b);
  }
};
/// Element-wise a / b rounded down. Shapes broadcast; dtypes: numbers. Errors: invalid_argument if an integer element of b is 0.
/// Source: TensorFlow `FloorDiv`.
template <class A, class B>
  requires accepted<floor_div_op, A, B>
constexpr made<floor_div_op, A, B> floor_divide(const A& a, const B& b) {
  return make<floor_div_op>(a, b);
}
template <class A, class B>
  requires refused<floor_div_op, A, B>
why<floor_div_op, A, B> floor_divide(const A&, const B&) = delete;
template <class A, class B, LEAT_NUMBER_SITE>
  requires operand_and_number<A, B>
constexpr auto floor_divide(const A& a, const B& b) {
  return detail::with_divisor<Site>(a, b, [](const auto& p, const auto& q) { return floor_divide(p, q); });
}
template <class A, class B>
  requires refused_beside<A, B>
LEAT_WHY_BESIDE floor_divide(A&&, B&&) LEAT_DELETED;
LEAT_TAKES_TWO_TENSORS(floor_divide);

struct floor_mod_op : rule::binary<rule::takes::number> {
  static constexpr std::string_view type = "FloorMod";
  static constexpr facts what{.divides = true};
  static constexpr std::string_view call_name = "mod";
  template <class M, class V>
  static constexpr auto apply(V a, V b) {
    return M::floor_mod(a, b);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, g.dy());
    if (g.wants(1)) give(g, 1, -g.dy() * floor_divide(g.input(0), g.input(1)));
  }
};
/// The remainder of `floor_divide`, with the divisor's sign. Shapes broadcast; dtypes: numbers.
/// Errors: invalid_argument if an integer element of b is 0. Source: TensorFlow `FloorMod`.
template <class A, class B>
  requires accepted<floor_mod_op, A, B>
constexpr made<floor_mod_op, A, B> floor_mod(const A& a, const B& b) {
  return make<floor_mod_op>(a, b);
}
template <class A, class B>
  requires refused<floor_mod_op, A, B>
why<floor_mod_op, A, B> floor_mod(const A&, const B&) = delete;
template <class A, class B, LEAT_NUMBER_SITE>
  requires operand_and_number<A, B>
constexpr auto floor_mod(const A& a, const B& b) {
  return detail::with_divisor<Site>(a, b, [](const auto& p, const auto& q) { return floor_mod(p, q); });
}
template <class A, class B>
  requires refused_beside<A, B>
LEAT_WHY_BESIDE floor_mod(A&&, B&&) LEAT_DELETED;
LEAT_TAKES_TWO_TENSORS(floor_mod);

struct truncate_mod_op : rule::binary<rule::takes::number> {
  static constexpr std::string_view type = "TruncateMod";
  static constexpr facts what{.divides = true};
  template <class M, class V>
  static constexpr auto apply(V a, V b) {
    return M::truncate_mod(a, b);
  }
};
/// The remainder of division rounded toward zero, with the dividend's sign. Shapes broadcast; dtypes: numbers.
/// Errors: invalid_argument if an integer element of b is 0. Source: TensorFlow `TruncateMod`.
template <class A, class B>
  requires accepted<truncate_mod_op, A, B>
constexpr made<truncate_mod_op, A, B> truncate_mod(const A& a, const B& b) {
  return make<truncate_mod_op>(a, b);
}
template <class A, class B>
  requires refused<truncate_mod_op, A, B>
why<truncate_mod_op, A, B> truncate_mod(const A&, const B&) = delete;
template <class A, class B, LEAT_NUMBER_SITE>
  requires operand_and_number<A, B>
constexpr auto truncate_mod(const A& a, const B& b) {
  return detail::with_divisor<Site>(a, b, [](const auto& p, const auto& q) { return truncate_mod(p, q); });
}
template <class A, class B>
  requires refused_beside<A, B>
LEAT_WHY_BESIDE truncate_mod(A&&, B&&) LEAT_DELETED;
LEAT_TAKES_TWO_TENSORS(truncate_mod);

struct maximum_op : rule::binary<rule::takes::number> {
  static constexpr std::string_view type = "Maximum";
  static constexpr facts what{.integers = integer_rule::larger};
  static constexpr bool commutative = true;
  static constexpr int foldable = 2;
  template <class M, class V>
  static constexpr auto apply(V a, V b) {
    return M::maximum(a, b);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, select(greater_equal(g.input(0), g.input(1)), g.dy(), constant_like(g.dy(), 0)));
    if (g.wants(1)) give(g, 1, select(greater_equal(g.input(0), g.input(1)), constant_like(g.dy(), 0), g.dy()));
  }
};
/// The larger of a and b, element-wise; the gradient of a tie goes to a. Shapes broadcast; dtypes: numbers.
/// Source: TensorFlow `Maximum`.
template <class A, class B>
  requires accepted<maximum_op, A, B>
constexpr made<maximum_op, A, B> maximum(const A& a, const B& b) {
  return make<maximum_op>(a, b);
}
template <class A, class B>
  requires refused<maximum_op, A, B>
why<maximum_op, A, B> maximum(const A&, const B&) = delete;
template <class A, class B, LEAT_NUMBER_SITE>
  requires operand_and_number<A, B>
constexpr auto maximum(const A& a, const B& b) {
  return detail::with_number<Site>(a, b, [](const auto& p, const auto& q) { return maximum(p, q); });
}
template <class A, class B>
  requires refused_beside<A, B>
LEAT_WHY_BESIDE maximum(A&&, B&&) LEAT_DELETED;
LEAT_TAKES_TWO_TENSORS(maximum);

struct minimum_op : rule::binary<rule::takes::number> {
  static constexpr std::string_view type = "Minimum";
  static constexpr facts what{.integers = integer_rule::smaller};
  static constexpr bool commutative = true;
  static constexpr int foldable = 2;
  template <class M, class V>
  static constexpr auto apply(V a, V b) {
    return M::minimum(a, b);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, select(less_equal(g.input(0), g.input(1)), g.dy(), constant_like(g.dy(), 0)));
    if (g.wants(1)) give(g, 1, select(less_equal(g.input(0), g.input(1)), constant_like(g.dy(), 0), g.dy()));
  }
};
/// The smaller of a and b, element-wise; the gradient of a tie goes to a. Shapes broadcast; dtypes: numbers.
/// Source: TensorFlow `Minimum`.
template <class A, class B>
  requires accepted<minimum_op, A, B>
constexpr made<minimum_op, A, B> minimum(const A& a, const B& b) {
  return make<minimum_op>(a, b);
}
template <class A, class B>
  requires refused<minimum_op, A, B>
why<minimum_op, A, B> minimum(const A&, const B&) = delete;
template <class A, class B, LEAT_NUMBER_SITE>
  requires operand_and_number<A, B>
constexpr auto minimum(const A& a, const B& b) {
  return detail::with_number<Site>(a, b, [](const auto& p, const auto& q) { return minimum(p, q); });
}
template <class A, class B>
  requires refused_beside<A, B>
LEAT_WHY_BESIDE minimum(A&&, B&&) LEAT_DELETED;
LEAT_TAKES_TWO_TENSORS(minimum);

struct square_op : rule::unary<rule::takes::number> {
  static constexpr std::string_view type = "Square";
  static constexpr int foldable = 1;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::square(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, g.dy() * (g.input(0) * 2));
  }
};
/// Element-wise x². Dtypes: numbers. Source: TensorFlow `Square`.
template <class X>
  requires accepted<square_op, X>
constexpr made<square_op, X> square(const X& x) {
  return make<square_op>(x);
}
template <class X>
  requires refused<square_op, X>
why<square_op, X> square(const X&) = delete;
LEAT_TAKES_ONE_TENSOR(square);

struct squared_difference_op : rule::binary<rule::takes::number> {
  static constexpr std::string_view type = "SquaredDifference";
  static constexpr bool commutative = true;
  static constexpr int foldable = 2;
  template <class M, class V>
  static constexpr auto apply(V a, V b) {
    return M::square(M::subtract(a, b));
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, g.dy() * ((g.input(0) - g.input(1)) * 2));
    if (g.wants(1)) give(g, 1, g.dy() * ((g.input(1) - g.input(0)) * 2));
  }
};
/// Element-wise (a - b)². Shapes broadcast; dtypes: numbers. Source: TensorFlow `SquaredDifference`.
template <class A, class B>
  requires accepted<squared_difference_op, A, B>
constexpr made<squared_difference_op, A, B> squared_difference(const A& a, const B& b) {
  return make<squared_difference_op>(a, b);
}
template <class A, class B>
  requires refused<squared_difference_op, A, B>
why<squared_difference_op, A, B> squared_difference(const A&, const B&) = delete;
template <class A, class B, LEAT_NUMBER_SITE>
  requires operand_and_number<A, B>
constexpr auto squared_difference(const A& a, const B& b) {
  return detail::with_number<Site>(a, b, [](const auto& p, const auto& q) { return squared_difference(p, q); });
}
template <class A, class B>
  requires refused_beside<A, B>
LEAT_WHY_BESIDE squared_difference(A&&, B&&) LEAT_DELETED;
LEAT_TAKES_TWO_TENSORS(squared_difference);

struct abs_op : rule::unary<rule::takes::number> {
  static constexpr std::string_view type = "Abs";
  static constexpr int foldable = 1;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::abs(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, g.dy() * sign(g.input(0)));
  }
};
/// Element-wise |x|; the gradient at 0 is 0. Dtypes: numbers. Source: TensorFlow `Abs`.
template <class X>
  requires accepted<abs_op, X>
constexpr made<abs_op, X> abs(const X& x) {
  return make<abs_op>(x);
}
template <class X>
  requires refused<abs_op, X>
why<abs_op, X> abs(const X&) = delete;
LEAT_TAKES_ONE_TENSOR(abs);

struct sign_op : rule::unary<rule::takes::number> {
  static constexpr std::string_view type = "Sign";
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::sign(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, constant(g.owner(), g.input(0).type(), g.input(0).extent(), 0));
  }
};
/// The sign of each element: -1, 0 or 1. Dtypes: numbers. Source: TensorFlow `Sign`.
template <class X>
  requires accepted<sign_op, X>
constexpr made<sign_op, X> sign(const X& x) {
  return make<sign_op>(x);
}
template <class X>
  requires refused<sign_op, X>
why<sign_op, X> sign(const X&) = delete;
LEAT_TAKES_ONE_TENSOR(sign);

struct floor_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Floor";
  static constexpr facts what{.stops_gradient = true};
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::floor(x);
  }
};
/// Each element rounded down. Dtypes: floating point. Source: TensorFlow `Floor`.
template <class X>
  requires accepted<floor_op, X>
constexpr made<floor_op, X> floor(const X& x) {
  return make<floor_op>(x);
}
template <class X>
  requires refused<floor_op, X>
why<floor_op, X> floor(const X&) = delete;
LEAT_TAKES_ONE_TENSOR(floor);

struct ceil_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Ceil";
  static constexpr facts what{.stops_gradient = true};
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::ceil(x);
  }
};
/// Each element rounded up. Dtypes: floating point. Source: TensorFlow `Ceil`.
template <class X>
  requires accepted<ceil_op, X>
constexpr made<ceil_op, X> ceil(const X& x) {
  return make<ceil_op>(x);
}
template <class X>
  requires refused<ceil_op, X>
why<ceil_op, X> ceil(const X&) = delete;
LEAT_TAKES_ONE_TENSOR(ceil);

struct round_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Round";
  static constexpr facts what{.stops_gradient = true};
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::round(x);
  }
};
/// Each element rounded to the nearest integer, halves to even. Dtypes: floating point. Source: TensorFlow `Round`.
template <class X>
  requires accepted<round_op, X>
constexpr made<round_op, X> round(const X& x) {
  return make<round_op>(x);
}
template <class X>
  requires refused<round_op, X>
why<round_op, X> round(const X&) = delete;
LEAT_TAKES_ONE_TENSOR(round);

}  // namespace leat
