#pragma once
// Element-wise mathematical functions. Dtypes: floating point. Errors of all functions: rules.hpp.

#include <leat/ops/arithmetic.hpp>

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
    if (g.wants(0)) give(g, 0, g.dy() / g.input(0));
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
    if (g.wants(0)) give(g, 0, g.dy() / (g.input(0) + 1));
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
    if (g.wants(0)) give(g, 0, make_node<sqrt_grad_op>({}, g.input(0), g.dy() * g.result()) * -2);
    if (g.wants(1)) give(g, 1, make_node<sqrt_grad_op>({}, g.input(0), g.dy()));
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
    if (g.wants(0)) give(g, 0, make_node<sqrt_grad_op>({}, g.result(), g.dy()));
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
    if (g.wants(0)) give(g, 0, make_node<reciprocal_grad_op>({}, g.input(0), g.dy() * g.input(1)) * 1.5);
    if (g.wants(1)) give(g, 1, make_node<rsqrt_grad_op>({}, g.input(0), g.dy()));
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
    if (g.wants(0)) give(g, 0, make_node<rsqrt_grad_op>({}, g.result(), g.dy()));
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
    if (g.wants(0)) give(g, 0, -g.dy() * sin(g.input(0)));
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
    if (g.wants(0)) give(g, 0, g.dy() * (1 + square(g.result())));
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
    if (g.wants(0)) give(g, 0, g.dy() * rsqrt(1 - square(g.input(0))));
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
    if (g.wants(0)) give(g, 0, -g.dy() * rsqrt(1 - square(g.input(0))));
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
    if (g.wants(0)) give(g, 0, g.dy() / (1 + square(g.input(0))));
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
    if (g.wants(0)) give(g, 0, g.dy() * 1.1283791670955126 * exp(-square(g.input(0))));
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
    const auto choose = [](const auto& condition, const auto& a, const auto& b) { return select(condition, a, b); };
    const auto filled = [](const output& x, double value) { return constant_like(x, value); };
    if (g.wants(0)) give(g, 0, base_slope(g.dy(), g.input(0), g.input(1)));
    if (g.wants(1)) give(g, 1, exponent_slope(g.dy(), g.input(0), g.result(), choose, filled));
  }
  /// The gradient of the base: dy b aᵇ⁻¹. One statement is one node, in TensorFlow's order, as graphs with names have them.
  template <class Handle>
  static constexpr Handle base_slope(const Handle& dy, const Handle& a, const Handle& b) {
    const Handle by_b = dy * b;
    const Handle less_one = b - 1;
    const Handle power = pow(a, less_one);
    return by_b * power;
  }
  /// The gradient of the exponent: dy aᵇ log a where a > 0, and 0 elsewhere. The choice stands before the logarithm, too: its gradient at 0
  /// is none, and 0 times that no number. `choose(condition, x, y)` and `filled(x, value)`, in the shape of x or a scalar, are the writer's.
  template <class Handle, class Choose, class Filled>
  static constexpr Handle exponent_slope(const Handle& dy, const Handle& a, const Handle& power, Choose choose, Filled filled) {
    const Handle positive = greater(a, constant_like(a, 0));
    const Handle one = filled(a, 1);
    const Handle safe = choose(positive, a, one);
    const Handle logarithm = log(safe);
    const Handle none = filled(a, 0);
    const Handle log_a = choose(positive, logarithm, none);
    const Handle by_power = dy * power;
    return by_power * log_a;
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
