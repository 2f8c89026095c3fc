#pragma once
// Element-wise mathematical functions. Dtypes: floating point. Errors of all functions: rules.hpp.

#include <leat/ops/arithmetic.hpp>
#include <numbers>

namespace leat {

struct exp_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Exp";
  static constexpr facts what{.of_complex = complex_slopes::of_conjugates};
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::exp(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const auto wait = g.after_dy();
    if (g.wants(0)) give(g, 0, g.dy() * g.result());
  }
};
/// Element-wise eˣ. Dtypes: floating point. Source: TensorFlow `Exp`.
LEAT_FUNCTION_OF_ONE(exp, exp_op);

struct expm1_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Expm1";
  static constexpr facts what{.of_complex = complex_slopes::of_conjugates};
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::expm1(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const auto wait = g.after_dy();
    if (g.wants(0)) give(g, 0, g.dy() * exp(g.input(0)));
  }
};
/// Element-wise eˣ - 1, accurate near 0. Dtypes: floating point. Source: TensorFlow `Expm1`.
LEAT_FUNCTION_OF_ONE(expm1, expm1_op);

struct log_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Log";
  static constexpr facts what{.of_complex = complex_slopes::of_conjugates};
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::log(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const auto wait = g.after_dy();
    if (g.wants(0)) give(g, 0, g.dy() * reciprocal(g.input(0)));
  }
};
/// Natural logarithm of each element. Dtypes: floating point. Source: TensorFlow `Log`.
LEAT_FUNCTION_OF_ONE(log, log_op);

struct log1p_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Log1p";
  static constexpr facts what{.of_complex = complex_slopes::of_conjugates};
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::log1p(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const auto wait = g.after_dy();
    if (g.wants(0)) give(g, 0, g.dy() * reciprocal(1 + g.input(0)));
  }
};
/// Element-wise log(1 + x), accurate near 0. Dtypes: floating point. Source: TensorFlow `Log1p`.
LEAT_FUNCTION_OF_ONE(log1p, log1p_op);

/// The gradient of y = √x with respect to x: dy / (2 y), or 0 where dy is 0, even if y is 0, infinite or NaN. Source: TensorFlow
/// `SqrtGrad`.
struct sqrt_grad_op : rule::equal_pair<rule::takes::floating> {
  static constexpr std::string_view type = "SqrtGrad";
  static constexpr auto& form = leat::form::root_gradient;
  template <class M, class V>
  static constexpr auto apply(V y, V dy) {
    return M::select(M::equal(dy, V(0)), dy, M::divide(M::multiply(dy, V(0.5f)), y));
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const auto wait = g.after_dy();
    const auto quotient = g.dy() / g.input(0);
    if (g.wants(0)) {
      const auto minus = -quotient;
      give(g, 0, minus * g.result());
    }
    if (g.wants(1)) give(g, 1, 0.5f * quotient);
  }
};

struct sqrt_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Sqrt";
  static constexpr facts what{.of_complex = complex_slopes::same};
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::sqrt(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, g.template node<sqrt_grad_op>(g.result(), g.dy()));
  }
};
/// Square root of each element. Dtypes: floating point. Source: TensorFlow `Sqrt`.
LEAT_FUNCTION_OF_ONE(sqrt, sqrt_op);

/// The gradient of y = 1 / √x with respect to x: -dy y³ / 2, or 0 where dy is 0, even if y is infinite or NaN. Source: TensorFlow
/// `RsqrtGrad`.
struct rsqrt_grad_op : rule::equal_pair<rule::takes::floating> {
  static constexpr std::string_view type = "RsqrtGrad";
  static constexpr auto& form = leat::form::root_gradient;
  template <class M, class V>
  static constexpr auto apply(V y, V dy) {
    return M::select(M::equal(dy, V(0)), M::negate(dy), M::multiply(M::multiply(M::multiply(M::multiply(dy, V(-0.5f)), y), y), y));
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const auto wait = g.after_dy();
    if (g.wants(0)) {
      const auto scaled = -1.5f * g.dy();
      const auto by_dy = scaled * g.input(1);
      give(g, 0, by_dy * square(g.input(0)));
    }
    if (g.wants(1)) give(g, 1, g.template node<rsqrt_grad_op>(g.input(0), g.dy()));
  }
};

struct rsqrt_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Rsqrt";
  static constexpr facts what{.of_complex = complex_slopes::same};
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::rsqrt(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, g.template node<rsqrt_grad_op>(g.result(), g.dy()));
  }
};
/// Element-wise 1 / √x. Dtypes: floating point. Source: TensorFlow `Rsqrt`.
LEAT_FUNCTION_OF_ONE(rsqrt, rsqrt_op);

/// The gradient of y = tanh x with respect to x: dy (1 - y²). Source: TensorFlow `TanhGrad`.
struct tanh_grad_op : rule::equal_pair<rule::takes::floating> {
  static constexpr std::string_view type = "TanhGrad";
  static constexpr auto& form = leat::form::root_gradient;
  template <class M, class V>
  static constexpr auto apply(V y, V dy) {
    return M::multiply(dy, M::subtract(V(1), M::square(y)));
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const auto wait = g.after_dy();
    if (g.wants(0)) give(g, 0, g.dy() * -2.0f * g.input(1) * g.input(0));
    if (g.wants(1)) give(g, 1, make_node<tanh_grad_op>({}, g.input(0), g.dy()));
  }
};

struct tanh_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Tanh";
  static constexpr facts what{.of_complex = complex_slopes::of_conjugates};
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::tanh(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const auto wait = g.after_dy();
    if (g.wants(0)) give(g, 0, make_node<tanh_grad_op>({}, g.result(), g.dy()));
  }
};
/// Hyperbolic tangent of each element. Dtypes: floating point. Source: TensorFlow `Tanh`.
LEAT_FUNCTION_OF_ONE(tanh, tanh_op);

/// The gradient of y = 1 / (1 + e⁻ˣ) with respect to x: dy y (1 - y). Source: TensorFlow `SigmoidGrad`.
struct sigmoid_grad_op : rule::equal_pair<rule::takes::floating> {
  static constexpr std::string_view type = "SigmoidGrad";
  static constexpr auto& form = leat::form::root_gradient;
  template <class M, class V>
  static constexpr auto apply(V y, V dy) {
    return M::multiply(M::multiply(dy, y), M::subtract(V(1), y));
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const auto wait = g.after_dy();
    if (g.wants(0)) {
      const auto by_dy = g.dy() * g.input(1);
      give(g, 0, by_dy - 2.0f * by_dy * g.input(0));
    }
    if (g.wants(1)) give(g, 1, make_node<sigmoid_grad_op>({}, g.input(0), g.dy()));
  }
};

struct sigmoid_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Sigmoid";
  static constexpr facts what{.of_complex = complex_slopes::of_conjugates};
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::sigmoid(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const auto wait = g.after_dy();
    if (g.wants(0)) give(g, 0, make_node<sigmoid_grad_op>({}, g.result(), g.dy()));
  }
};
/// Element-wise 1 / (1 + e⁻ˣ). Dtypes: floating point. Source: TensorFlow `Sigmoid`.
LEAT_FUNCTION_OF_ONE(sigmoid, sigmoid_op);

/// The gradient of log(1 + eˣ) with respect to x: dy / (1 + e⁻ˣ). Source: TensorFlow `SoftplusGrad`.
struct softplus_grad_op : rule::equal_pair<rule::takes::floating> {
  static constexpr std::string_view type = "SoftplusGrad";
  static constexpr auto& form = leat::form::slope_of_features;
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr auto apply(V dy, V x) {
    return M::multiply(dy, M::sigmoid(x));
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const auto wait = g.after_dy();
    const auto x = g.input(1);
    if (g.wants(0)) give(g, 0, make_node<softplus_grad_op>({}, g.dy(), x));
    if (!g.wants(1)) return;
    const auto product = g.dy() * g.input(0);
    const auto minus = -x;
    const auto part = exp(minus) + 2.0f;
    const auto sum = part + exp(x);  // (1 + eˣ)² / eˣ
    give(g, 1, product / sum);
  }
};

struct softplus_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Softplus";
  static constexpr auto& form = leat::form::activation;
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::softplus(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, make_node<softplus_grad_op>({}, g.dy(), g.input(0)));
  }
};
/// Element-wise log(1 + eˣ). Dtypes: floating point. Source: TensorFlow `Softplus`.
LEAT_FUNCTION_OF_ONE(softplus, softplus_op);

struct sin_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Sin";
  static constexpr facts what{.of_complex = complex_slopes::of_conjugates};
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::sin(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const auto wait = g.after_dy();
    if (g.wants(0)) give(g, 0, g.dy() * cos(g.input(0)));
  }
};
/// Sine of each element, in radians. Dtypes: floating point. Source: TensorFlow `Sin`.
LEAT_FUNCTION_OF_ONE(sin, sin_op);

struct cos_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Cos";
  static constexpr facts what{.of_complex = complex_slopes::of_conjugates};
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::cos(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const auto wait = g.after_dy();
    if (!g.wants(0)) return;
    const auto minus = -g.dy();
    give(g, 0, minus * sin(g.input(0)));
  }
};
/// Cosine of each element, in radians. Dtypes: floating point. Source: TensorFlow `Cos`.
LEAT_FUNCTION_OF_ONE(cos, cos_op);

struct tan_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Tan";
  static constexpr facts what{.of_complex = complex_slopes::of_conjugates};
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::tan(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const auto wait = g.after_dy();
    if (!g.wants(0)) return;
    const auto secant = reciprocal(cos(g.input(0)));
    give(g, 0, square(secant) * g.dy());
  }
};
/// Tangent of each element, in radians. Dtypes: floating point. Source: TensorFlow `Tan`.
LEAT_FUNCTION_OF_ONE(tan, tan_op);

struct asin_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Asin";
  static constexpr facts what{.of_complex = complex_slopes::of_conjugates};
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::asin(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const auto wait = g.after_dy();
    if (g.wants(0)) give(g, 0, g.dy() * slope(g));
  }
  /// The derivative, 1 / √(1 - x²).
  template <class G>
  static constexpr auto slope(G& g) {
    const auto squared = square(g.input(0));
    const auto one = g.number(1);
    return reciprocal(sqrt(g.template node<sub_op>(one, squared)));
  }
};
/// Arc sine of each element, in radians. Dtypes: floating point. Source: TensorFlow `Asin`.
LEAT_FUNCTION_OF_ONE(asin, asin_op);

struct acos_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Acos";
  static constexpr facts what{.of_complex = complex_slopes::of_conjugates};
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::acos(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const auto wait = g.after_dy();
    if (!g.wants(0)) return;
    const auto slope = asin_op::slope(g);
    const auto minus = -g.dy();
    give(g, 0, minus * slope);
  }
};
/// Arc cosine of each element, in radians. Dtypes: floating point. Source: TensorFlow `Acos`.
LEAT_FUNCTION_OF_ONE(acos, acos_op);

struct atan_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Atan";
  static constexpr facts what{.of_complex = complex_slopes::of_conjugates};
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::atan(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const auto wait = g.after_dy();
    if (!g.wants(0)) return;
    const auto squared = square(g.input(0));
    const auto one = g.number(1);
    give(g, 0, g.dy() * reciprocal(g.template node<add_op>(one, squared)));
  }
};
/// Arc tangent of each element, in radians. Dtypes: floating point. Source: TensorFlow `Atan`.
LEAT_FUNCTION_OF_ONE(atan, atan_op);

struct sinh_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Sinh";
  static constexpr facts what{.of_complex = complex_slopes::of_conjugates};
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::sinh(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const auto wait = g.after_dy();
    if (g.wants(0)) give(g, 0, g.dy() * cosh(g.input(0)));
  }
};
/// Hyperbolic sine of each element. Dtypes: floating point. Source: TensorFlow `Sinh`.
LEAT_FUNCTION_OF_ONE(sinh, sinh_op);

struct cosh_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Cosh";
  static constexpr facts what{.of_complex = complex_slopes::of_conjugates};
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::cosh(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const auto wait = g.after_dy();
    if (g.wants(0)) give(g, 0, g.dy() * sinh(g.input(0)));
  }
};
/// Hyperbolic cosine of each element. Dtypes: floating point. Source: TensorFlow `Cosh`.
LEAT_FUNCTION_OF_ONE(cosh, cosh_op);

struct erf_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Erf";
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::erf(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    slope(g, 1);
  }
  /// Gives the gradient 2 / √π e^(-x²) dy, or its negative.
  template <class G>
  static constexpr void slope(G& g, int sign) {
    if (!g.wants(0)) return;
    const auto factor = g.number(sign * 2 * std::numbers::inv_sqrtpi);
    const auto wait = g.after_dy();
    const auto scaled = g.dy() * factor;
    give(g, 0, scaled * exp(-square(g.input(0))));
  }
};
/// Error function of each element, 2/√π ∫₀ˣ e^(-t²) dt. Dtypes: floating point. Source: TensorFlow `Erf`.
LEAT_FUNCTION_OF_ONE(erf, erf_op);

struct pow_op : rule::binary<rule::takes::floating> {
  static constexpr std::string_view type = "Pow";
  static constexpr facts what{.elsewhere = dtype_group::signed_integers};
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr auto apply(V a, V b) {
    return M::pow(a, b);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const auto a = g.input(0);
    if (g.wants(0)) {
      const auto by_b = g.dy() * g.input(1);
      const auto less_one = g.input(1) - 1;
      const auto power = pow(a, less_one);
      give(g, 0, by_b * power);
    }
    if (!g.wants(1)) return;
    // The logarithm's operand is selected, too: the derivative of log at 0 is infinite, and its product with 0 would be NaN.
    const auto positive = greater(a, constant_like(a, 0));
    const auto one = g.ones_like(a);
    const auto safe = g.choose(positive, a, one);
    const auto logarithm = log(safe);
    const auto none = g.zeros_like(a);
    const auto log_a = g.choose(positive, logarithm, none);
    const auto by_power = g.dy() * g.result();
    give(g, 1, by_power * log_a);
  }
};
/// Element-wise aᵇ; the gradient with respect to b uses log(a) where a > 0, and is 0 elsewhere. Shapes broadcast; dtypes: floating point.
/// Source: TensorFlow `Pow`.
LEAT_FUNCTION_OF_TWO(pow, pow_op);

struct atan2_op : rule::binary<rule::takes::floating> {
  static constexpr std::string_view type = "Atan2";
  static constexpr auto& form = leat::form::angle;
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr auto apply(V y, V x) {
    return M::atan2(y, x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const auto wait = g.after_dy();
    const auto first = square(g.input(0));
    const auto squares = first + square(g.input(1));
    const auto share = g.dy() / squares;
    if (g.wants(0)) give(g, 0, g.input(1) * share);
    if (!g.wants(1)) return;
    const auto minus = -g.input(0);
    give(g, 1, minus * share);
  }
};
/// Angle of the point (x, y), `atan2(y, x)`, from -π to π. Shapes broadcast; dtypes: floating point. Source: TensorFlow `Atan2`.
LEAT_FUNCTION_OF_TWO(atan2, atan2_op);

struct div_no_nan_op : rule::binary<rule::takes::floating> {
  static constexpr std::string_view type = "DivNoNan";
  static constexpr facts what{.of_complex = complex_slopes::of_conjugates};
  static constexpr std::string_view call_name = "div_no_nan";
  template <class M, class V>
  static constexpr auto apply(V a, V b) {
    return M::select(M::equal(b, V(0)), V(0), M::divide(a, b));
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const auto quotient = [](const auto& a, const auto& b) { return make<div_no_nan_op>(a, b); };
    if (g.wants(0)) give(g, 0, quotient(g.dy(), g.input(1)));
    if (!g.wants(1)) return;
    const auto once = quotient(-g.input(0), g.input(1));
    give(g, 1, g.dy() * quotient(once, g.input(1)));
  }
};
/// Element-wise a / b, or 0 where b is 0, even if a is infinite or NaN. Shapes broadcast; dtypes: floating point. Source: TensorFlow
/// `DivNoNan`.
LEAT_FUNCTION_OF_TWO(div_no_nan, div_no_nan_op);

/// The gradient of x f(y) that is 0 where x is 0: by x, f(y) where x is not 0; by y, what the function makes.
template <class Op, class G, class ByY>
constexpr void give_zero_times(G& g, ByY by_y) {
  const auto x = g.input(0);
  const auto while_waiting = [&](auto make) {
    const auto wait = g.after_dy();
    return make();
  };
  if (g.wants(0)) {
    const auto by_x = while_waiting([&] {
      const auto zero = g.zero_of(x);
      const auto differs = not_equal(x, zero);
      const auto there = cast_to(differs, x.type());
      return g.template node<Op>(there, g.input(1));
    });
    give(g, 0, by_x * g.dy());
  }
  if (g.wants(1)) {
    const auto slope = while_waiting(by_y);
    give(g, 1, slope * g.dy());
  }
}
struct xdivy_op : rule::binary<rule::takes::floating> {
  static constexpr std::string_view type = "Xdivy";
  template <class M, class V>
  static constexpr auto apply(V x, V y) {
    return M::select(M::equal(x, V(0)), V(0), M::divide(x, y));
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const auto y = g.input(1);
    give_zero_times<xdivy_op>(g, [&] {
      const auto minus = -g.input(0);
      return g.template node<xdivy_op>(minus, g.second_power(y));
    });
  }
};
/// Element-wise x / y, or 0 where x is 0, whatever y is. Shapes broadcast; dtypes: floating point. Source: TensorFlow `Xdivy`.
LEAT_FUNCTION_OF_TWO(xdivy, xdivy_op);

struct xlogy_op : rule::binary<rule::takes::floating> {
  static constexpr std::string_view type = "Xlogy";
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr auto apply(V x, V y) {
    return M::select(M::equal(x, V(0)), V(0), M::multiply(x, M::log(y)));
  }
  template <class G>
  static constexpr void gradient(G& g) {
    give_zero_times<xlogy_op>(g, [&] { return g.template node<xdivy_op>(g.input(0), g.input(1)); });
  }
};
/// Element-wise x log y, or 0 where x is 0, whatever y is. Shapes broadcast; dtypes: floating point. Source: TensorFlow `Xlogy`.
LEAT_FUNCTION_OF_TWO(xlogy, xlogy_op);

struct erfc_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Erfc";
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::erfc(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    erf_op::slope(g, -1);
  }
};
/// 1 - erf(x) of each element, accurate for large x. Dtypes: floating point. Source: TensorFlow `Erfc`.
LEAT_FUNCTION_OF_ONE(erfc, erfc_op);

struct asinh_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Asinh";
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::asinh(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, g.dy() / cosh(g.result()));
  }
};
/// Inverse hyperbolic sine of each element. Dtypes: floating point. Source: TensorFlow `Asinh`.
LEAT_FUNCTION_OF_ONE(asinh, asinh_op);

struct acosh_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Acosh";
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::acosh(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, g.dy() / sinh(g.result()));
  }
};
/// Inverse hyperbolic cosine of each element; NaN below 1. Dtypes: floating point. Source: TensorFlow `Acosh`.
LEAT_FUNCTION_OF_ONE(acosh, acosh_op);

struct atanh_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Atanh";
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::atanh(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, g.dy() * reciprocal(1 - square(g.input(0))));
  }
};
/// Inverse hyperbolic tangent of each element; NaN outside of [-1, 1]. Dtypes: floating point. Source: TensorFlow `Atanh`.
LEAT_FUNCTION_OF_ONE(atanh, atanh_op);

struct rint_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Rint";
  static constexpr facts what{.stops_gradient = true};
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::round(x);
  }
};
/// Each element rounded to the nearest integer, halves to even; it has no gradient. Dtypes: floating point. Source: TensorFlow `Rint`.
LEAT_FUNCTION_OF_ONE(rint, rint_op);

struct zeta_op : rule::binary<rule::takes::floating> {
  static constexpr std::string_view type = "Zeta";
  static constexpr field form[]{{field_kind::operand, "x"}, {field_kind::operand, "q"}, {field_kind::type_of, "T"}};
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr auto apply(V x, V q) {
    return M::zeta(x, q);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(1)) give(g, 1, g.dy() * (-g.input(0) * make<zeta_op>(g.input(0) + 1, g.input(1))));
  }
};
/// Hurwitz zeta function, Σ (q + k)⁻ˣ over k >= 0; only q gets a gradient. Shapes broadcast; dtypes: floating point. Source: TensorFlow
/// `Zeta`.
LEAT_FUNCTION_OF_TWO(zeta, zeta_op);

struct polygamma_op : rule::binary<rule::takes::floating> {
  static constexpr std::string_view type = "Polygamma";
  static constexpr field form[]{{field_kind::operand, "a"}, {field_kind::operand, "x"}, {field_kind::type_of, "T"}};
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr auto apply(V a, V x) {
    return M::polygamma(a, x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(1)) give(g, 1, g.dy() * make<polygamma_op>(g.input(0) + 1, g.input(1)));
  }
};
/// The a-th derivative of digamma, for integers a >= 0; only x gets a gradient. Shapes broadcast; dtypes: floating point. Source:
/// TensorFlow `Polygamma`.
LEAT_FUNCTION_OF_TWO(polygamma, polygamma_op);

struct digamma_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Digamma";
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::digamma(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, g.dy() * make<polygamma_op>(constant_like(g.input(0), 1), g.input(0)));
  }
};
/// Derivative of `lgamma` for each element. Dtypes: floating point. Source: TensorFlow `Digamma`.
LEAT_FUNCTION_OF_ONE(digamma, digamma_op);

struct lgamma_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Lgamma";
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::lgamma(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, g.dy() * digamma(g.input(0)));
  }
};
/// log |Γ(x)| of each element. Dtypes: floating point. Source: TensorFlow `Lgamma`.
LEAT_FUNCTION_OF_ONE(lgamma, lgamma_op);

}  // namespace leat
