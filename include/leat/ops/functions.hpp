#pragma once
// Element-wise mathematical functions. Dtypes: floating point. Errors of all functions: rules.hpp.

#include <leat/ops/arithmetic.hpp>
#include <numbers>

namespace leat {

struct exp_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Exp";
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
template <class X>
  requires accepted<exp_op, X>
constexpr made<exp_op, X> exp(const X& x) {
  return make<exp_op>(x);
}
template <class X>
  requires refused<exp_op, X>
why<exp_op, X> exp(const X&) = delete;
LEAT_TAKES_ONE_TENSOR(exp);

struct expm1_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Expm1";
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
template <class X>
  requires accepted<expm1_op, X>
constexpr made<expm1_op, X> expm1(const X& x) {
  return make<expm1_op>(x);
}
template <class X>
  requires refused<expm1_op, X>
why<expm1_op, X> expm1(const X&) = delete;
LEAT_TAKES_ONE_TENSOR(expm1);

struct log_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Log";
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
template <class X>
  requires accepted<log_op, X>
constexpr made<log_op, X> log(const X& x) {
  return make<log_op>(x);
}
template <class X>
  requires refused<log_op, X>
why<log_op, X> log(const X&) = delete;
LEAT_TAKES_ONE_TENSOR(log);

struct log1p_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Log1p";
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
template <class X>
  requires accepted<log1p_op, X>
constexpr made<log1p_op, X> log1p(const X& x) {
  return make<log1p_op>(x);
}
template <class X>
  requires refused<log1p_op, X>
why<log1p_op, X> log1p(const X&) = delete;
LEAT_TAKES_ONE_TENSOR(log1p);

/// The gradient of y = √x with respect to x: dy / (2 y). It is 0 where dy is 0, whatever y is.
/// Source: TensorFlow `SqrtGrad`.
struct sqrt_grad_op : rule::binary<rule::takes::floating> {
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
template <class X>
  requires accepted<sqrt_op, X>
constexpr made<sqrt_op, X> sqrt(const X& x) {
  return make<sqrt_op>(x);
}
template <class X>
  requires refused<sqrt_op, X>
why<sqrt_op, X> sqrt(const X&) = delete;
LEAT_TAKES_ONE_TENSOR(sqrt);

/// The gradient of y = 1 / √x with respect to x: -dy y³ / 2. It is 0 where dy is 0, whatever y is.
/// Source: TensorFlow `RsqrtGrad`.
struct rsqrt_grad_op : rule::binary<rule::takes::floating> {
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
template <class X>
  requires accepted<rsqrt_op, X>
constexpr made<rsqrt_op, X> rsqrt(const X& x) {
  return make<rsqrt_op>(x);
}
template <class X>
  requires refused<rsqrt_op, X>
why<rsqrt_op, X> rsqrt(const X&) = delete;
LEAT_TAKES_ONE_TENSOR(rsqrt);

struct tanh_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Tanh";
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::tanh(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, slope(g.result(), g.dy()));
  }
  template <class Handle>
  static constexpr Handle slope(const Handle& y, const Handle& dy) {
    return dy * (1 - square(y));
  }
};
/// Hyperbolic tangent of each element. Dtypes: floating point. Source: TensorFlow `Tanh`.
template <class X>
  requires accepted<tanh_op, X>
constexpr made<tanh_op, X> tanh(const X& x) {
  return make<tanh_op>(x);
}
template <class X>
  requires refused<tanh_op, X>
why<tanh_op, X> tanh(const X&) = delete;
LEAT_TAKES_ONE_TENSOR(tanh);

struct sigmoid_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Sigmoid";
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::sigmoid(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, slope(g.result(), g.dy()));
  }
  template <class Handle>
  static constexpr Handle slope(const Handle& y, const Handle& dy) {
    return dy * y * (1 - y);
  }
};
/// Element-wise 1 / (1 + e⁻ˣ). Dtypes: floating point. Source: TensorFlow `Sigmoid`.
template <class X>
  requires accepted<sigmoid_op, X>
constexpr made<sigmoid_op, X> sigmoid(const X& x) {
  return make<sigmoid_op>(x);
}
template <class X>
  requires refused<sigmoid_op, X>
why<sigmoid_op, X> sigmoid(const X&) = delete;
LEAT_TAKES_ONE_TENSOR(sigmoid);

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
    if (g.wants(0)) give(g, 0, slope(g.dy(), g.input(0)));
  }
  template <class Handle>
  static constexpr Handle slope(const Handle& dy, const Handle& x) {
    return dy * sigmoid(x);
  }
};
/// Element-wise log(1 + eˣ). Dtypes: floating point. Source: TensorFlow `Softplus`.
template <class X>
  requires accepted<softplus_op, X>
constexpr made<softplus_op, X> softplus(const X& x) {
  return make<softplus_op>(x);
}
template <class X>
  requires refused<softplus_op, X>
why<softplus_op, X> softplus(const X&) = delete;
LEAT_TAKES_ONE_TENSOR(softplus);

struct sin_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Sin";
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
template <class X>
  requires accepted<sin_op, X>
constexpr made<sin_op, X> sin(const X& x) {
  return make<sin_op>(x);
}
template <class X>
  requires refused<sin_op, X>
why<sin_op, X> sin(const X&) = delete;
LEAT_TAKES_ONE_TENSOR(sin);

struct cos_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Cos";
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
template <class X>
  requires accepted<cos_op, X>
constexpr made<cos_op, X> cos(const X& x) {
  return make<cos_op>(x);
}
template <class X>
  requires refused<cos_op, X>
why<cos_op, X> cos(const X&) = delete;
LEAT_TAKES_ONE_TENSOR(cos);

struct tan_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Tan";
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
template <class X>
  requires accepted<tan_op, X>
constexpr made<tan_op, X> tan(const X& x) {
  return make<tan_op>(x);
}
template <class X>
  requires refused<tan_op, X>
why<tan_op, X> tan(const X&) = delete;
LEAT_TAKES_ONE_TENSOR(tan);

struct asin_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Asin";
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
  /// 1 / √(1 - x²).
  template <class G>
  static constexpr auto slope(G& g) {
    const auto squared = square(g.input(0));
    const auto one = g.number(1);
    return reciprocal(sqrt(g.template node<sub_op>(one, squared)));
  }
};
/// Arc sine of each element, in radians. Dtypes: floating point. Source: TensorFlow `Asin`.
template <class X>
  requires accepted<asin_op, X>
constexpr made<asin_op, X> asin(const X& x) {
  return make<asin_op>(x);
}
template <class X>
  requires refused<asin_op, X>
why<asin_op, X> asin(const X&) = delete;
LEAT_TAKES_ONE_TENSOR(asin);

struct acos_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Acos";
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
template <class X>
  requires accepted<acos_op, X>
constexpr made<acos_op, X> acos(const X& x) {
  return make<acos_op>(x);
}
template <class X>
  requires refused<acos_op, X>
why<acos_op, X> acos(const X&) = delete;
LEAT_TAKES_ONE_TENSOR(acos);

struct atan_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Atan";
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
template <class X>
  requires accepted<atan_op, X>
constexpr made<atan_op, X> atan(const X& x) {
  return make<atan_op>(x);
}
template <class X>
  requires refused<atan_op, X>
why<atan_op, X> atan(const X&) = delete;
LEAT_TAKES_ONE_TENSOR(atan);

struct sinh_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Sinh";
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
template <class X>
  requires accepted<sinh_op, X>
constexpr made<sinh_op, X> sinh(const X& x) {
  return make<sinh_op>(x);
}
template <class X>
  requires refused<sinh_op, X>
why<sinh_op, X> sinh(const X&) = delete;
LEAT_TAKES_ONE_TENSOR(sinh);

struct cosh_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Cosh";
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
template <class X>
  requires accepted<cosh_op, X>
constexpr made<cosh_op, X> cosh(const X& x) {
  return make<cosh_op>(x);
}
template <class X>
  requires refused<cosh_op, X>
why<cosh_op, X> cosh(const X&) = delete;
LEAT_TAKES_ONE_TENSOR(cosh);

struct erf_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Erf";
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::erf(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (!g.wants(0)) return;
    const auto factor = g.number(2 * std::numbers::inv_sqrtpi);
    const auto wait = g.after_dy();
    const auto scaled = g.dy() * factor;
    give(g, 0, scaled * exp(-square(g.input(0))));
  }
};
/// Error function of each element, 2/√π ∫₀ˣ e^(-t²) dt. Dtypes: floating point. Source: TensorFlow `Erf`.
template <class X>
  requires accepted<erf_op, X>
constexpr made<erf_op, X> erf(const X& x) {
  return make<erf_op>(x);
}
template <class X>
  requires refused<erf_op, X>
why<erf_op, X> erf(const X&) = delete;
LEAT_TAKES_ONE_TENSOR(erf);

struct pow_op : rule::binary<rule::takes::floating> {
  static constexpr std::string_view type = "Pow";
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr auto apply(V a, V b) {
    return M::pow(a, b);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const output a = g.input(0);
    if (g.wants(0)) {
      const auto by_b = g.dy() * g.input(1);
      const auto less_one = g.input(1) - 1;
      const auto power = pow(a, less_one);
      give(g, 0, by_b * power);
    }
    if (!g.wants(1)) return;
    // The choice stands before the logarithm, too: its gradient at 0 is none, and 0 times that no number.
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
/// Element-wise aᵇ; the gradient of b uses log(a) where a > 0, and 0 elsewhere. Shapes broadcast; dtypes: floating point.
/// Source: TensorFlow `Pow`.
template <class A, class B>
  requires accepted<pow_op, A, B>
constexpr made<pow_op, A, B> pow(const A& a, const B& b) {
  return make<pow_op>(a, b);
}
template <class A, class B>
  requires refused<pow_op, A, B>
why<pow_op, A, B> pow(const A&, const B&) = delete;
template <class A, class B, LEAT_NUMBER_SITE>
  requires operand_and_number<A, B>
constexpr auto pow(const A& a, const B& b) {
  return detail::with_number<Site>(a, b, [](const auto& p, const auto& q) { return pow(p, q); });
}
template <class A, class B>
  requires refused_beside<A, B>
LEAT_WHY_BESIDE pow(A&&, B&&) LEAT_DELETED;
LEAT_TAKES_TWO_TENSORS(pow);

}  // namespace leat
