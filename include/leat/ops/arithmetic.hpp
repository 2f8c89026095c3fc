#pragma once
// Element-wise arithmetic with broadcasting. Each class is the only definition of its operator. Errors of all functions: rules.hpp.

#include <leat/ops/rules.hpp>

namespace leat {

// A template, because an operator's table must not be instantiated before all operators are declared.
template <class Handle>
  requires std::is_same_v<Handle, output>
constexpr Handle operator/(const Handle& a, const Handle& b);

struct add_op : rule::binary<rule::takes::number> {
  static constexpr std::string_view type = "AddV2";
  static constexpr facts what{.integers = integer_rule::sum, .narrow = narrow_rule::exact, .of_complex = complex_slopes::same};
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
  static constexpr facts what{.integers = integer_rule::difference, .narrow = narrow_rule::exact, .of_complex = complex_slopes::same};
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
/// Element-wise a - b. Shapes broadcast; dtypes: numbers, the same on both sides. Source: TensorFlow `Sub`.
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
  static constexpr facts what{.integers = integer_rule::product, .narrow = narrow_rule::exact, .of_complex = complex_slopes::of_conjugates};
  static constexpr std::string_view call_name = "mul";
  static constexpr bool commutative = true;
  static constexpr int foldable = 2;
  template <class M, class V>
  static constexpr auto apply(V a, V b) {
    return M::multiply(a, b);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, g.template node<mul_op>(g.dy(), g.input(1)));
    if (!g.wants(1)) return;
    if (g.is_simple_product()) give(g, 1, g.template node<mul_op>(g.dy(), g.input(0)));
    else give(g, 1, g.template node<mul_op>(g.input(0), g.dy()));
  }
};
/// Element-wise a b. Shapes broadcast; dtypes: numbers, the same on both sides. Source: TensorFlow `Mul`.
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
  static constexpr facts what{.narrow = narrow_rule::exact, .of_complex = complex_slopes::same};
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

/// The gradient of y = 1 / x with respect to x: -dy y², or 0 where dy is 0, even if y is infinite or NaN. Source: TensorFlow
/// `ReciprocalGrad`.
struct reciprocal_grad_op : rule::equal_pair<rule::takes::floating> {
  static constexpr std::string_view type = "ReciprocalGrad";
  static constexpr auto& form = leat::form::root_gradient;
  template <class M, class V>
  static constexpr auto apply(V y, V dy) {
    return M::select(M::equal(dy, V(0)), M::negate(dy), M::multiply(M::multiply(M::negate(dy), y), y));
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const auto wait = g.after_dy();
    if (g.wants(0)) {
      const auto twice = g.dy() * -2.0f;
      const auto by_dy = twice * g.input(1);
      give(g, 0, by_dy * g.input(0));
    }
    if (g.wants(1)) give(g, 1, g.template node<reciprocal_grad_op>(g.input(0), g.dy()));
  }
};

struct reciprocal_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Reciprocal";
  static constexpr facts what{.of_complex = complex_slopes::same};
  static constexpr int foldable = 1;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::reciprocal(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, g.template node<reciprocal_grad_op>(g.result(), g.dy()));
  }
};
/// Element-wise 1 / x. Dtypes: floating point. Source: TensorFlow `Reciprocal`.
LEAT_FUNCTION_OF_ONE(reciprocal, reciprocal_op);

struct real_div_op : rule::binary<rule::takes::floating> {
  static constexpr std::string_view type = "RealDiv";
  static constexpr facts what{.of_complex = complex_slopes::of_conjugates};
  static constexpr std::string_view call_name = "truediv";
  static constexpr int foldable = 2;
  template <class M, class V>
  static constexpr auto apply(V a, V b) {
    return M::divide(a, b);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, g.template node<real_div_op>(g.dy(), g.input(1)));
    if (!g.wants(1)) return;
    const auto minus = -g.input(0);
    const auto once = g.template node<real_div_op>(minus, g.input(1));
    give(g, 1, g.dy() * g.template node<real_div_op>(once, g.input(1)));
  }
};
/// Element-wise a / b. Shapes broadcast; dtypes: floating point. Source: TensorFlow `RealDiv`.
LEAT_FUNCTION_OF_TWO(real_divide, real_div_op);

struct truncate_div_op : rule::binary<rule::takes::integer> {
  static constexpr std::string_view type = "TruncateDiv";
  static constexpr facts what{.elsewhere = dtype_group::reals, .divides = true, .stops_gradient = true};
  template <class M, class V>
  static constexpr auto apply(V a, V b) {
    return M::truncate_div(a, b);
  }
};
/// Element-wise a / b rounded toward zero. Shapes broadcast; dtypes: integers. Errors: invalid_argument if an element of b is 0.
/// Source: TensorFlow `TruncateDiv`.
LEAT_QUOTIENT_OF_TWO(truncate_divide, truncate_div_op);

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
  // Handles may also have dtypes beyond those of expressions, among them half, bfloat16 and two complex ones, by TensorFlow's numbers.
  const int number = static_cast<int>(a.type());
  const bool is_real = is_floating(a.type()) || number == 19 || number == 14 || number == 8 || number == 18;
  return is_real ? make<real_div_op>(a, b) : make<truncate_div_op>(a, b);
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

/// Division as in older graphs: like `/` of two expressions, it rounds integers toward zero. Source: TensorFlow `Div`.
struct div_op : rule::binary<rule::takes::number> {
  static constexpr std::string_view type = "Div";
  static constexpr facts what{.divides = true, .of_complex = complex_slopes::of_conjugates};
  static constexpr op_kind kind = op_kind::composite;
  template <class G>
  static constexpr output expand(G& g) {
    return g.input(0) / g.input(1);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (!is_floating(g.dy().type())) return;
    if (g.wants(0)) give(g, 0, g.dy() / g.input(1));
    if (!g.wants(1)) return;
    const auto minus = -g.input(0);
    const auto once = minus / g.input(1);
    give(g, 1, g.dy() * (once / g.input(1)));
  }
};

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
LEAT_QUOTIENT_OF_TWO(floor_divide, floor_div_op);

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
    if (!g.wants(1)) return;
    const auto minus = -g.template node<floor_div_op>(g.input(0), g.input(1));
    give(g, 1, g.dy() * minus);
  }
};
/// The remainder of `floor_divide`, with the divisor's sign. Shapes broadcast; dtypes: numbers.
/// Errors: invalid_argument if an integer element of b is 0. Source: TensorFlow `FloorMod`.
LEAT_QUOTIENT_OF_TWO(floor_mod, floor_mod_op);

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
LEAT_QUOTIENT_OF_TWO(truncate_mod, truncate_mod_op);

struct select_op;

struct maximum_op : rule::binary<rule::takes::number> {
  static constexpr std::string_view type = "Maximum";
  static constexpr facts what{.integers = integer_rule::larger, .narrow = narrow_rule::ordered};
  static constexpr bool commutative = true;
  static constexpr int foldable = 2;
  template <class M, class V>
  static constexpr auto apply(V a, V b) {
    return M::maximum(a, b);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    give_to_winner(g, greater_equal(g.input(0), g.input(1)));
  }
  template <class G>
  static constexpr void give_to_winner(G& g, const output& first_wins) {
    const auto zero = g.zeros_like(g.dy());
    if (g.wants(0)) give(g, 0, g.template node<select_op>(first_wins, g.dy(), zero));
    if (g.wants(1)) give(g, 1, g.template node<select_op>(first_wins, zero, g.dy()));
  }
};
/// The larger of a and b, element-wise; the gradient of a tie goes to a. Shapes broadcast; dtypes: numbers.
/// Source: TensorFlow `Maximum`.
LEAT_FUNCTION_OF_TWO(maximum, maximum_op);

struct minimum_op : rule::binary<rule::takes::number> {
  static constexpr std::string_view type = "Minimum";
  static constexpr facts what{.integers = integer_rule::smaller, .narrow = narrow_rule::ordered};
  static constexpr bool commutative = true;
  static constexpr int foldable = 2;
  template <class M, class V>
  static constexpr auto apply(V a, V b) {
    return M::minimum(a, b);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    maximum_op::give_to_winner(g, less_equal(g.input(0), g.input(1)));
  }
};
/// The smaller of a and b, element-wise; the gradient of a tie goes to a. Shapes broadcast; dtypes: numbers.
/// Source: TensorFlow `Minimum`.
LEAT_FUNCTION_OF_TWO(minimum, minimum_op);

struct square_op : rule::unary<rule::takes::number> {
  static constexpr std::string_view type = "Square";
  static constexpr facts what{.narrow = narrow_rule::exact, .of_complex = complex_slopes::of_conjugates};
  static constexpr int foldable = 1;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::square(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const auto wait = g.after_dy();
    if (!g.wants(0)) return;
    const auto two = g.number(2);
    give(g, 0, g.template node<mul_op>(g.dy(), g.template node<mul_op>(g.input(0), two)));
  }
};
/// Element-wise x². Dtypes: numbers. Source: TensorFlow `Square`.
LEAT_FUNCTION_OF_ONE(square, square_op);

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
    const output slope = times_two(g);
    if (g.wants(0)) give(g, 0, slope);
    if (g.wants(1)) give(g, 1, -slope);
  }
  /// The gradient with respect to a: 2 dy (a - b).
  template <class G>
  static constexpr output times_two(G& g) {
    const auto wait = g.after_dy();
    const auto twice = g.template node<mul_op>(g.number(2, "scalar"), g.dy());
    const auto difference = g.input(0) - g.input(1);
    return twice * difference;
  }
};
/// Element-wise (a - b)². Shapes broadcast; dtypes: numbers. Source: TensorFlow `SquaredDifference`.
LEAT_FUNCTION_OF_TWO(squared_difference, squared_difference_op);

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
LEAT_FUNCTION_OF_ONE(abs, abs_op);

struct sign_op : rule::unary<rule::takes::number> {
  static constexpr std::string_view type = "Sign";
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::sign(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, g.zeros_like(g.input(0)));
  }
};
/// The sign of each element: -1, 0 or 1. Dtypes: numbers. Source: TensorFlow `Sign`.
LEAT_FUNCTION_OF_ONE(sign, sign_op);

struct floor_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Floor";
  static constexpr facts what{.stops_gradient = true};
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::floor(x);
  }
};
/// Each element rounded down. Dtypes: floating point. Source: TensorFlow `Floor`.
LEAT_FUNCTION_OF_ONE(floor, floor_op);

struct ceil_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Ceil";
  static constexpr facts what{.stops_gradient = true};
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::ceil(x);
  }
};
/// Each element rounded up. Dtypes: floating point. Source: TensorFlow `Ceil`.
LEAT_FUNCTION_OF_ONE(ceil, ceil_op);

struct round_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Round";
  static constexpr facts what{.elsewhere = dtype_group::signed_integers, .stops_gradient = true};
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::round(x);
  }
};
/// Each element rounded to the nearest integer, halves to even. Dtypes: floating point. Source: TensorFlow `Round`.
LEAT_FUNCTION_OF_ONE(round, round_op);

struct bitwise_and_op : rule::binary<rule::takes::integer> {
  static constexpr std::string_view type = "BitwiseAnd";
  static constexpr facts what{.narrow = narrow_rule::exact};
  static constexpr bool commutative = true;
  template <class M, class V>
  static constexpr auto apply(V a, V b) {
    return M::bitwise_and(a, b);
  }
};
/// Element-wise bitwise and of a and b. Shapes broadcast; dtypes: integers. Source: TensorFlow `BitwiseAnd`.
LEAT_FUNCTION_OF_TWO(bitwise_and, bitwise_and_op);

struct bitwise_or_op : rule::binary<rule::takes::integer> {
  static constexpr std::string_view type = "BitwiseOr";
  static constexpr facts what{.narrow = narrow_rule::exact};
  static constexpr bool commutative = true;
  template <class M, class V>
  static constexpr auto apply(V a, V b) {
    return M::bitwise_or(a, b);
  }
};
/// Element-wise bitwise or of a and b. Shapes broadcast; dtypes: integers. Source: TensorFlow `BitwiseOr`.
LEAT_FUNCTION_OF_TWO(bitwise_or, bitwise_or_op);

struct bitwise_xor_op : rule::binary<rule::takes::integer> {
  static constexpr std::string_view type = "BitwiseXor";
  static constexpr facts what{.narrow = narrow_rule::exact};
  static constexpr bool commutative = true;
  template <class M, class V>
  static constexpr auto apply(V a, V b) {
    return M::bitwise_xor(a, b);
  }
};
/// Element-wise bitwise exclusive or of a and b. Shapes broadcast; dtypes: integers. Source: TensorFlow `BitwiseXor`.
LEAT_FUNCTION_OF_TWO(bitwise_xor, bitwise_xor_op);

struct invert_op : rule::unary<rule::takes::integer> {
  static constexpr std::string_view type = "Invert";
  static constexpr facts what{.narrow = narrow_rule::exact};
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::invert(x);
  }
};
/// Element-wise bitwise complement of x. Dtypes: integers. Source: TensorFlow `Invert`.
LEAT_FUNCTION_OF_ONE(invert, invert_op);

struct left_shift_op : rule::binary<rule::takes::integer> {
  static constexpr std::string_view type = "LeftShift";
  static constexpr facts what{.narrow = narrow_rule::exact, .by_width = width_rule::shift};
  template <class M, class V>
  static constexpr auto apply(V a, V b) {
    return M::left_shift(a, b);
  }
};
/// Element-wise a shifted left by b bits; b is first limited to 0 … (bits of the dtype) - 1. Shapes broadcast; dtypes: integers. Source:
/// TensorFlow `LeftShift`.
LEAT_FUNCTION_OF_TWO(left_shift, left_shift_op);

struct right_shift_op : rule::binary<rule::takes::integer> {
  static constexpr std::string_view type = "RightShift";
  static constexpr facts what{.by_width = width_rule::shift};
  template <class M, class V>
  static constexpr auto apply(V a, V b) {
    return M::right_shift(a, b);
  }
};
/// Element-wise a shifted right by b bits; b is limited as by `left_shift`, and signed integers keep their sign. Shapes broadcast; dtypes:
/// integers. Source: TensorFlow `RightShift`.
LEAT_FUNCTION_OF_TWO(right_shift, right_shift_op);

}  // namespace leat
