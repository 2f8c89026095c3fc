#pragma once
// Operators of neural networks: activations, softmax, cross entropies, argmax and one-hot. Most are composed of simpler operators
// (`expand`), which fusion merges into one pass. Errors of all functions: rules.hpp.

#include <leat/ops/linalg.hpp>
#include <tuple>

namespace leat {

/// dy multiplied by 1 where the operand (or the result) of Relu is above 0, and by 0 elsewhere, so that a NaN in dy stays NaN. Source:
/// TensorFlow `ReluGrad`.
struct relu_grad_op : rule::equal_pair<rule::takes::number> {
  static constexpr std::string_view type = "ReluGrad";
  static constexpr auto& form = leat::form::slope_of_features;
  template <class M, class V>
  static constexpr auto apply(V dy, V x) {
    return M::multiply(dy, M::select(M::greater(x, V(0)), V(1), V(0)));
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, make_node<relu_grad_op>({}, g.dy(), g.input(1)));
    g.give_zeros(1);
  }
};

struct relu_op : rule::unary<rule::takes::number> {
  static constexpr std::string_view type = "Relu";
  static constexpr auto& form = leat::form::activation;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::maximum(x, V(0));
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, make_node<relu_grad_op>({}, g.dy(), g.result()));
  }
};
/// Element-wise max(x, 0); the gradient at 0 is 0. Dtypes: numbers. Source: TensorFlow `Relu`.
LEAT_FUNCTION_OF_ONE(relu, relu_op);

/// dy multiplied by 1 where the operand (or the result) of Relu6 is between 0 and 6, and by 0 elsewhere. Source: TensorFlow `Relu6Grad`.
struct relu6_grad_op : rule::equal_pair<rule::takes::number> {
  static constexpr std::string_view type = "Relu6Grad";
  static constexpr auto& form = leat::form::slope_of_features;
  template <class M, class V>
  static constexpr auto apply(V dy, V x) {
    return M::multiply(dy, M::select(M::logical_and(M::greater(x, V(0)), M::less(x, V(6))), V(1), V(0)));
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, make_node<relu6_grad_op>({}, g.dy(), g.input(1)));
    g.give_zeros(1);
  }
};

struct relu6_op : rule::unary<rule::takes::number> {
  static constexpr std::string_view type = "Relu6";
  static constexpr auto& form = leat::form::activation;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::minimum(M::maximum(x, V(0)), V(6));
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, make_node<relu6_grad_op>({}, g.dy(), g.result()));
  }
};
/// Each element limited to [0, 6]; the gradient at both ends is 0. Dtypes: numbers. Source: TensorFlow `Relu6`.
LEAT_FUNCTION_OF_ONE(relu6, relu6_op);

namespace rule {
/// The bits, as a float64, of a value rounded to float32: files hold these attributes as float32.
constexpr std::int64_t setting_bits(double value) {
  return detail::bits_of(dtype::float64, static_cast<double>(static_cast<float>(value)));
}
}  // namespace rule

namespace rule {
/// Base of leaky_relu_op and its gradient. Attribute: alpha, rounded to float32, as the bits of a float64.
struct leaky {
  static constexpr double usual_alpha = 0.2;
  static constexpr op_kind kind = op_kind::composite;
  static constexpr double alpha_of(std::int64_t bits) { return leat::detail::value_of_bits(dtype::float64, bits); }
  /// dy where x > 0, alpha dy elsewhere; of values of `M`, or of nodes.
  template <class M, class V>
  static constexpr V slope_of(const V& dy, const V& x, const V& zero, const V& alpha) {
    return M::select(M::greater(x, zero), dy, M::multiply(dy, alpha));
  }
  struct nodes {
    static constexpr output greater(const output& x, const output& y) { return make_node<greater_op>({}, x, y); }
    static constexpr output multiply(const output& x, const output& y) { return make_node<mul_op>({}, x, y); }
    static constexpr output select(const output& which, const output& x, const output& y) {
      return make_node<select_op>({}, which, x, y);
    }
  };
  /// The gradient.
  template <class G>
  static constexpr output slope(const G& g, const output& dy, const output& x) {
    return slope_of<nodes>(dy, x, constant_like(x, 0), constant_like(dy, alpha_of(g.attribute(0))));
  }
};
}  // namespace rule

/// dy where the operand of LeakyRelu is above 0, alpha dy elsewhere. Source: TensorFlow `LeakyReluGrad`.
struct leaky_relu_grad_op : rule::leaky {
  static constexpr std::string_view type = "LeakyReluGrad";
  static constexpr field form[]{{field_kind::operand, "gradients"},
                                {field_kind::operand, "features"},
                                {field_kind::real, "alpha", rule::setting_bits(usual_alpha)},
                                {field_kind::type_of, "T"}};
  static constexpr inference infer(const operand_list& x) { return rule::equal_pair<rule::takes::floating>::infer(x); }
  template <class G>
  static constexpr output expand(G& g) {
    return slope(g, g.input(0), g.input(1));
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const std::int64_t alpha[]{g.attribute(0)};
    if (g.wants(0)) give(g, 0, make_node<leaky_relu_grad_op>(alpha, g.dy(), g.input(1)));
    g.give_zeros(1);
  }
};

/// x where x > 0, alpha x elsewhere. Source: TensorFlow `LeakyRelu`; Maas et al. 2013.
struct leaky_relu_op : rule::leaky {
  static constexpr std::string_view type = "LeakyRelu";
  static constexpr field form[]{{field_kind::operand, "features"},
                                {field_kind::real, "alpha", rule::setting_bits(usual_alpha)},
                                {field_kind::type_of, "T"}};
  static constexpr inference infer(const operand_list& x) { return rule::unary<rule::takes::floating>::infer(x); }
  template <class G>
  static constexpr output expand(G& g) {
    return slope(g, g.input(0), g.input(0));
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const std::int64_t alpha[]{g.attribute(0)};
    if (g.wants(0)) give(g, 0, make_node<leaky_relu_grad_op>(alpha, g.dy(), g.input(0)));
  }
};
namespace detail {
struct usual_leak {
  static constexpr double value = leaky_relu_op::usual_alpha;
};
template <class Alpha>
using leak_attributes = attributes<rule::setting_bits(Alpha::value)>;
}  // namespace detail
/// x where x > 0, alpha x elsewhere: `leaky_relu(x)` with alpha 0.2, `leaky_relu(x, 0.1_c)` with another. Dtypes: floating point.
/// Source: TensorFlow `LeakyRelu`.
template <class Alpha = detail::usual_leak, class X>
  requires(!std::is_arithmetic_v<Alpha>) && accepted_with<leaky_relu_op, detail::leak_attributes<Alpha>, X>
constexpr made_with<leaky_relu_op, detail::leak_attributes<Alpha>, X> leaky_relu(const X& x, const Alpha& = {}) {
  return make<leaky_relu_op, detail::leak_attributes<Alpha>>(x);
}
template <class Alpha = detail::usual_leak, class X>
  requires(!std::is_arithmetic_v<Alpha>) && refused_with<leaky_relu_op, detail::leak_attributes<Alpha>, X>
why_with<leaky_relu_op, detail::leak_attributes<Alpha>, X> leaky_relu(const X&, const Alpha& = {}) = delete;

/// The gradient of y = elu x: dy (y + 1) where y is below 0, dy elsewhere. Source: TensorFlow `EluGrad`.
struct elu_grad_op : rule::equal_pair<rule::takes::floating> {
  static constexpr std::string_view type = "EluGrad";
  static constexpr auto& form = leat::form::slope_of_outputs;
  template <class M, class V>
  static constexpr auto apply(V dy, V y) {
    return M::select(M::less(y, V(0)), M::multiply(dy, M::add(y, V(1))), dy);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, make_node<elu_grad_op>({}, g.dy(), g.input(1)));
    if (!g.wants(1)) return;
    const auto below = less(g.input(1), 0.0f);
    const auto product = g.dy() * g.input(0);
    give(g, 1, g.choose(below, product, g.zeros_in_shape_of(g.input(1))));
  }
};

struct elu_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Elu";
  static constexpr auto& form = leat::form::activation;
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::select(M::greater(x, V(0)), x, M::expm1(M::minimum(x, V(0))));
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, make_node<elu_grad_op>({}, g.dy(), g.result()));
  }
};
/// x where x > 0, eˣ - 1 elsewhere. Dtypes: floating point. Source: TensorFlow `Elu`; Clevert et al. 2015.
LEAT_FUNCTION_OF_ONE(elu, elu_op);

namespace rule {
inline constexpr double selu_scale = 1.0507009873554804934193349852946, selu_scale_alpha = 1.7580993408473768599402175208123;
}  // namespace rule

/// The gradient of y = selu x: dy (y + scale alpha) where y is below 0, dy scale elsewhere. Source: TensorFlow `SeluGrad`.
struct selu_grad_op : rule::equal_pair<rule::takes::floating> {
  static constexpr std::string_view type = "SeluGrad";
  static constexpr auto& form = leat::form::slope_of_outputs;
  template <class M, class V>
  static constexpr auto apply(V dy, V y) {
    using T = typename M::value_type;
    return M::multiply(dy, M::select(M::less(y, V(0)), M::add(y, V(T(rule::selu_scale_alpha))), V(T(rule::selu_scale))));
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, make_node<selu_grad_op>({}, g.dy(), g.input(1)));
    if (!g.wants(1)) return;
    const auto below = less(g.input(1), 0.0f);
    const auto product = g.dy() * g.input(0);
    give(g, 1, g.choose(below, product, g.zeros_like(g.input(1))));
  }
};

struct selu_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Selu";
  static constexpr auto& form = leat::form::activation;
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr auto apply(V x) {
    using T = typename M::value_type;
    return M::select(M::less(x, V(0)), M::multiply(M::expm1(x), V(T(rule::selu_scale_alpha))), M::multiply(x, V(T(rule::selu_scale))));
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, make_node<selu_grad_op>({}, g.dy(), g.result()));
  }
};
/// scale x where x >= 0, scale alpha (eˣ - 1) elsewhere, which keeps mean 0 and variance 1 from layer to layer. Dtypes: floating point.
/// Source: TensorFlow `Selu`; Klambauer et al. 2017.
LEAT_FUNCTION_OF_ONE(selu, selu_op);

/// The gradient of x / (1 + |x|) with respect to x: dy / (1 + |x|)². Source: TensorFlow `SoftsignGrad`.
struct softsign_grad_op : rule::equal_pair<rule::takes::floating> {
  static constexpr std::string_view type = "SoftsignGrad";
  static constexpr auto& form = leat::form::slope_of_features;
  template <class M, class V>
  static constexpr auto apply(V dy, V x) {
    return M::divide(dy, M::square(M::add(V(1), M::abs(x))));
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, make_node<softsign_grad_op>({}, g.dy(), g.input(1)));
    if (g.wants(1)) {
      const auto one_more = 1 + abs(g.input(1));
      give(g, 1, g.dy() * g.result() * -2 * sign(g.input(1)) / one_more);
    }
  }
};

struct softsign_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Softsign";
  static constexpr auto& form = leat::form::activation;
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::divide(x, M::add(V(1), M::abs(x)));
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, make_node<softsign_grad_op>({}, g.dy(), g.input(0)));
  }
};
/// Element-wise x / (1 + |x|). Dtypes: floating point. Source: TensorFlow `Softsign`.
LEAT_FUNCTION_OF_ONE(softsign, softsign_op);

namespace rule {
/// The shape `s` with an additional axis of this size before its axis `at`, or after all axes.
constexpr shape with_axis(const shape& s, int at, std::int64_t size) {
  shape wide;
  for (int i = 0; i < s.rank; ++i) {
    if (i == at) wide.push(size);
    wide.push(s[i]);
  }
  if (at == s.rank) wide.push(size);
  return wide;
}
/// `axis_of`, under the name used where the axis defaults to the last.
constexpr int last_axis(std::int64_t axis, int rank) { return axis_of(axis, rank); }

/// The maximum along an axis, which is kept as 1; it has no gradient. It is subtracted before exponentials, so that they do not overflow.
constexpr output shift_along(const output& x, int axis) {
  const std::int64_t attribute[]{1, axis};
  return make_node<max_op>(attribute, x);
}
/// The sum along an axis, which is kept as 1 if `keep`.
constexpr output sum_along(const output& x, int axis, bool keep) {
  const std::int64_t attribute[]{keep, axis};
  return make_node<sum_op>(attribute, x);
}

/// Base of operators with one floating-point operand and an axis as their attribute.
struct along_axis {
  static constexpr op_kind kind = op_kind::composite;
  static constexpr inference infer(const operand_list& x) {
    if (!is_floating(x.type(0))) return inference::wrong(refusal(takes::floating));
    const int axis = last_axis(x.attribute(0), x.extent(0).rank);
    if (axis < 0 || axis >= x.extent(0).rank) return inference::wrong("axis out of range");
    return {x.type(0), x.extent(0)};
  }
};
}  // namespace rule

/// The sum along an axis, kept as 1, for gradients. Graphs with names have an overload of their own, which sums along the last axis.
template <class G>
constexpr output sum_kept(G&, const output& x, int axis) {
  return rule::sum_along(x, axis, true);
}

/// eˣ / Σ eˣ along an axis, computed as e^(x - max x). Attribute: the axis. Source: TensorFlow `Softmax`.
struct softmax_op : rule::along_axis {
  static constexpr std::string_view type = "Softmax";
  static constexpr auto& form = leat::form::logits;
  template <class G>
  static constexpr output expand(G& g) {
    const int axis = rule::last_axis(g.attribute(0), g.input(0).extent().rank);
    const auto e = exp(g.input(0) - rule::shift_along(g.input(0), axis));
    return e * reciprocal(rule::sum_along(e, axis, true));
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (!g.wants(0)) return;
    const int axis = rule::last_axis(g.attribute(0), g.input(0).extent().rank);
    const auto product = g.dy() * g.result();
    const auto centered = g.dy() - sum_kept(g, product, axis);
    give(g, 0, centered * g.result());
  }
};
/// eˣ / Σ eˣ along an axis: `softmax(x)` along the last, `softmax<0>(x)` along the first. Shapes: result as x. Dtypes: floating point.
/// Errors: axis out of range. Source: TensorFlow `Softmax`.
template <int Axis = -1, class X>
  requires accepted_with<softmax_op, attributes<Axis>, X>
constexpr made_with<softmax_op, attributes<Axis>, X> softmax(const X& x) {
  return make<softmax_op, attributes<Axis>>(x);
}
template <int Axis = -1, class X>
  requires refused_with<softmax_op, attributes<Axis>, X>
why_with<softmax_op, attributes<Axis>, X> softmax(const X&) = delete;
LEAT_OTHERWISE_OF(softmax, "<axis>(x) takes one tensor; the axis is a template argument: softmax<0>(x); " LEAT_TENSORS);

/// log softmax(x), computed as x - max x - log Σ e^(x - max x). Attribute: the axis. Source: TensorFlow `LogSoftmax`.
struct log_softmax_op : rule::along_axis {
  static constexpr std::string_view type = "LogSoftmax";
  static constexpr auto& form = leat::form::logits;
  template <class G>
  static constexpr output expand(G& g) {
    const int axis = rule::last_axis(g.attribute(0), g.input(0).extent().rank);
    const auto shifted = g.input(0) - rule::shift_along(g.input(0), axis);
    return shifted - log(rule::sum_along(exp(shifted), axis, true));
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (!g.wants(0)) return;
    const int axis = rule::last_axis(g.attribute(0), g.input(0).extent().rank);
    const auto probabilities = exp(g.result());
    const auto part = sum_kept(g, g.dy(), axis) * probabilities;
    give(g, 0, g.dy() - part);
  }
};
/// log softmax(x) along an axis, by default the last. Shapes: result as x. Dtypes: floating point. Errors: axis out of range. Source:
/// TensorFlow `LogSoftmax`.
template <int Axis = -1, class X>
  requires accepted_with<log_softmax_op, attributes<Axis>, X>
constexpr made_with<log_softmax_op, attributes<Axis>, X> log_softmax(const X& x) {
  return make<log_softmax_op, attributes<Axis>>(x);
}
template <int Axis = -1, class X>
  requires refused_with<log_softmax_op, attributes<Axis>, X>
why_with<log_softmax_op, attributes<Axis>, X> log_softmax(const X&) = delete;
LEAT_OTHERWISE_OF(log_softmax, "<axis>(x) takes one tensor; the axis is a template argument: log_softmax<0>(x); " LEAT_TENSORS);

/// Checks that all indices are in [0, n) and returns them; fails with invalid_argument before anything is written. Attributes: n, and a
/// second one if the indices are labels, so that the message calls them that. Source: the range check of TensorFlow's sparse operators on
/// the CPU.
struct check_range_op {
  static constexpr std::string_view type = "CheckRange";
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr bool only_checks = true;
  static constexpr inference infer(const operand_list& x) { return {x.type(0), x.extent(0)}; }
};

/// `on` at the index, `off` elsewhere, along a new axis. Attributes: depth, dtype, bits of on, bits of off, and the axis in the result (-1
/// for the last). An index out of range gives `off` everywhere. Source: TensorFlow `OneHot`.
struct one_hot_op {
  static constexpr std::string_view type = "OneHot";
  static constexpr facts what{.narrow = narrow_rule::exact, .stops_gradient = true};
  static constexpr field form[]{{field_kind::operand, "indices"},
                                {field_kind::scalar, "depth"},
                                {field_kind::type_number, "T"},
                                {field_kind::bits, "on_value"},
                                {field_kind::bits, "off_value"},
                                {field_kind::type_of, "TI"},
                                {field_kind::integer, "axis", -1}};
  static constexpr op_kind kind = op_kind::composite;
  static constexpr int axis_of(std::int64_t given, int rank) { return given == -1 ? rank : static_cast<int>(given); }
  static constexpr inference infer(const operand_list& x) {
    if (!is_integer(x.type(0))) return inference::wrong("takes integers only");
    const shape& indices = x.extent(0);
    if (x.attribute(0) < 0 || indices.rank == max_rank) return inference::wrong("depth or rank out of range");
    if (x.attribute(4) < -1 || x.attribute(4) > indices.rank)
      return inference::wrong("the axis is neither -1 nor 0 to the rank of the indices");
    inference got{static_cast<dtype>(x.attribute(1)), {}};
    if (size_of(got.type) == 0) return inference::wrong("no dtype of the result");
    got.extent = rule::with_axis(indices, axis_of(x.attribute(4), indices.rank), x.attribute(0));
    return got;
  }
  template <class G>
  static constexpr output expand(G& g) {
    const tensor_info result{g.result().type(), g.result().extent()};
    const int axis = axis_of(g.attribute(4), result.extent.rank - 1);
    const shape column = rule::with_axis(g.input(0).extent(), axis, 1);
    // Compares as int32, so that a float32 result keeps its SIMD width. int64 indices out of range become -1 first, which matches none.
    const auto wide = g.input(0).type() == dtype::int64;
    const auto index = wide ? cast_to(select(logical_and(greater_equal(g.input(0), 0), less(g.input(0), g.attribute(0))),
                                             g.input(0), constant_like(g.input(0), -1)), dtype::int32)
                            : cast_to(g.input(0), dtype::int32);
    const auto hit = equal(reshape_to(index, column), index_along(g.owner(), dtype::int32, result.extent, axis));
    return select(hit, constant(g.owner(), result.type, {}, detail::value_of_bits(result.type, g.attribute(2))),
                  constant(g.owner(), result.type, {}, detail::value_of_bits(result.type, g.attribute(3))));
  }
  template <class G>
  static constexpr void gradient(G&) {}
};
namespace detail {
template <class T, std::int64_t Depth, auto On, auto Off, int Axis>
using one_hot_attributes = attributes<Depth, static_cast<std::int64_t>(dtype_of<T>), bits_of(dtype_of<T>, static_cast<double>(On)),
                                      bits_of(dtype_of<T>, static_cast<double>(Off)), Axis>;
}  // namespace detail
/// `on` at the index, `off` elsewhere, along a new axis, by default the last: `one_hot<10>(labels)` is float32 with 1 and 0; `one_hot<10,
/// double, 5, -1, 0>(labels)` names all arguments: depth, dtype, on, off, axis. An index out of range gives `off` everywhere. Shapes:
/// indices [d0, …, dn]; result the same with the depth inserted at the axis. Dtypes: indices any integers; result `T`. Errors: axis out of
/// range. Source: TensorFlow `OneHot`.
template <std::int64_t Depth, element_type T = float, auto On = 1, auto Off = 0, int Axis = -1, class X>
  requires accepted_with<one_hot_op, detail::one_hot_attributes<T, Depth, On, Off, Axis>, X>
constexpr made_with<one_hot_op, detail::one_hot_attributes<T, Depth, On, Off, Axis>, X> one_hot(const X& indices) {
  return make<one_hot_op, detail::one_hot_attributes<T, Depth, On, Off, Axis>>(indices);
}
template <std::int64_t Depth, element_type T = float, auto On = 1, auto Off = 0, int Axis = -1, class X>
  requires refused_with<one_hot_op, detail::one_hot_attributes<T, Depth, On, Off, Axis>, X>
why_with<one_hot_op, detail::one_hot_attributes<T, Depth, On, Off, Axis>, X> one_hot(const X&) = delete;
LEAT_OTHERWISE_OF_TYPE(one_hot, "<depth>(indices) takes one tensor of integers; depth and dtype are template arguments: one_hot<10, "
                                "double>(labels); " LEAT_TENSORS);

namespace rule {
/// dy with a last dimension of 1 appended.
constexpr output as_column(const output& dy) { return reshape_to(dy, with_axis(dy.extent(), dy.extent().rank, 1)); }
/// The labels as one-hot rows, in the shape and dtype of the logits.
constexpr output one_hot_like(const output& labels, const output& logits) {
  const int axis = logits.extent().rank - 1;
  const std::int64_t attribute[]{logits.extent()[axis], static_cast<std::int64_t>(logits.type()), detail::bits_of(logits.type(), 1),
                                 detail::bits_of(logits.type(), 0), -1};
  return make_node<one_hot_op>(attribute, labels);
}
/// The gradient of softmax's operand, from dy and the softmax y.
constexpr output gradient_of_softmax(const output& dy, const output& y) {
  const output product = dy * y;
  return y * (dy - sum_along(product, product.extent().rank - 1, true));
}
}  // namespace rule

/// Cross entropy of logits and labels, in this order, both of one shape, or at most matrices that broadcast to one. Source: TensorFlow
/// `SoftmaxCrossEntropyWithLogits` (version 2).
struct softmax_cross_entropy_op {
  static constexpr std::string_view type = "SoftmaxCrossEntropyWithLogits";
  static constexpr field form[]{{field_kind::operand, "features"},
                                {field_kind::operand, "labels"},
                                {field_kind::type_of, "T"},
                                {field_kind::result, "backprop", -1}};
  static constexpr op_kind kind = op_kind::composite;
  static constexpr int results = 2;
  static constexpr inference infer(const operand_list& x) {
    if (x.type(0) != x.type(1)) return inference::wrong("dtypes differ (cast<T>(x) converts)");
    if (!is_floating(x.type(0))) return inference::wrong(rule::refusal(rule::takes::floating));
    const auto both = broadcast(x.extent(0), x.extent(1));
    if (!both.ok || (both.extent.rank > 2 && !may_equal(x.extent(0), x.extent(1))))
      return inference::wrong("logits and labels differ in shape");
    if (both.extent.rank == 0) return inference::wrong("takes at least rank 1: […, classes]");
    inference got{x.type(0), both.extent};
    if (both.extent.rank > 2) got.extent = known_of(x.extent(0), x.extent(1));
    if (x.result == 1) return got;
    --got.extent.rank;
    got.extent.dim[got.extent.rank] = 0;
    return got;
  }
  static constexpr inference infer_node(const operand_list& x) {
    const inference got = infer(x);
    if (got.problem.empty() && got.extent.rank != 1)
      return inference::wrong("logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional");
    return got;
  }
  template <class G>
  static constexpr output expand(G& g) {
    if (g.result_number() == 1) return slope(g.input(0), g.input(1));
    const output product = g.input(1) * log_probabilities(g.input(0), g.input(1));
    return 0 - rule::sum_along(product, product.extent().rank - 1, false);  // of zeros 0, not -0
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.result_number() == 1) {
      if (g.wants(0)) give(g, 0, rule::gradient_of_softmax(g.dy(), slope(g.input(0), g.input(1)) + g.input(1)));
      if (g.wants(1)) give(g, 1, -g.dy());
      return;
    }
    const auto dy = rule::as_column(g.dy());
    if (g.wants(0)) give(g, 0, dy * slope(g.input(0), g.input(1)));
    if (g.wants(1)) give(g, 1, -dy * log_probabilities(g.input(0), g.input(1)));
  }
  /// The gradient with respect to the logits of each row: softmax(logits) - labels. It is TensorFlow's second result.
  static constexpr output slope(const output& logits, const output& labels) {
    const std::int64_t axis[]{-1};
    return make_node<softmax_op>(axis, repeated(logits, labels)) - labels;
  }

 private:
  static constexpr output log_probabilities(const output& logits, const output& labels) {
    const std::int64_t axis[]{-1};
    return make_node<log_softmax_op>(axis, repeated(logits, labels));
  }
  // The logits broadcast to the common shape: the labels may have more rows or classes than the logits.
  static constexpr output repeated(const output& logits, const output& labels) {
    const shape both = broadcast(logits.extent(), labels.extent()).extent;
    return logits.extent() == both ? logits : broadcast_to(logits, both);
  }
};
/// -Σ labels log softmax(logits) along the last axis; labels get a gradient, too. Shapes: labels and logits [d0, …, dn, classes], or at
/// most matrices that broadcast to one; result [d0, …, dn]. Dtypes: floating point, the same of both. Errors: shapes differ. Source:
/// TensorFlow `SoftmaxCrossEntropyWithLogits` (version 2).
template <class L, class X>
  requires accepted<softmax_cross_entropy_op, X, L>
constexpr made<softmax_cross_entropy_op, X, L> softmax_cross_entropy_with_logits(const L& labels, const X& logits) {
  return make<softmax_cross_entropy_op>(logits, labels);
}
template <class L, class X>
  requires refused<softmax_cross_entropy_op, X, L>
why<softmax_cross_entropy_op, X, L> softmax_cross_entropy_with_logits(const L&, const X&) = delete;
LEAT_OTHERWISE("softmax_cross_entropy_with_logits(labels, logits) takes two tensors; " LEAT_TENSORS)
softmax_cross_entropy_with_logits(...) LEAT_DELETED;

/// Cross entropy of logits and labels, in this order. Source: TensorFlow `SparseSoftmaxCrossEntropyWithLogits`.
struct sparse_softmax_cross_entropy_op {
  static constexpr std::string_view type = "SparseSoftmaxCrossEntropyWithLogits";
  static constexpr field form[]{{field_kind::operand, "features"},
                                {field_kind::operand, "labels", -1},
                                {field_kind::type_of, "T"},
                                {field_kind::type_of, "Tlabels", 1},
                                {field_kind::result, "backprop"}};
  static constexpr op_kind kind = op_kind::composite;
  static constexpr int results = 2;
  static constexpr inference infer(const operand_list& x) {
    if (!is_floating(x.type(0))) return inference::wrong(rule::refusal(rule::takes::floating));
    if (x.type(1) != dtype::int32 && x.type(1) != dtype::int64) return inference::wrong("labels are int32 or int64");
    inference got{x.type(0), x.extent(1)};
    if (x.extent(0).rank != x.extent(1).rank + 1) return inference::wrong("logits have one axis more than labels: […, classes]");
    for (int i = 0; i < x.extent(1).rank; ++i)
      if (!may_equal(x.extent(0)[i], x.extent(1)[i])) return inference::wrong("logits and labels differ in shape");
    const std::int64_t classes = x.extent(0)[x.extent(1).rank];
    if (is_named(classes)) return inference::wrong("the number of classes has a name, not a size");
    if (classes == 0) return inference::wrong("must have at least one class");
    return x.result == 1 ? inference{x.type(0), x.extent(0)} : got;
  }
  static constexpr inference infer_node(const operand_list& x) {
    const inference got = infer(x);
    if (got.problem.empty() && x.extent(0).rank != 2) return inference::wrong("logits must be 2-dimensional, labels 1-dimensional");
    return got;
  }
  static constexpr output checked(const output& labels, const output& logits) {
    const std::int64_t limit[]{logits.extent()[logits.extent().rank - 1], 1};
    return make_node<check_range_op>(limit, labels);
  }
  template <class G>
  static constexpr output expand(G& g) {
    if (g.result_number() == 1) return slope(g.input(0), g.input(1));
    const int axis = g.input(0).extent().rank - 1;
    const std::int64_t last[]{-1};
    const auto logp = make_node<log_softmax_op>(last, g.input(0));
    const auto hit = rule::one_hot_like(checked(g.input(1), g.input(0)), g.input(0));
    return 0 - rule::sum_along(select(not_equal(hit, constant_like(hit, 0)), logp, constant_like(logp, 0)), axis, false);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (!g.wants(0)) return;
    const std::int64_t axis[]{-1};
    if (g.result_number() == 1) give(g, 0, rule::gradient_of_softmax(g.dy(), make_node<softmax_op>(axis, g.input(0))));
    else give(g, 0, rule::as_column(g.dy()) * slope(g.input(0), g.input(1)));
  }
  /// The gradient with respect to the logits of each row: softmax(logits), minus 1 at the label. It is TensorFlow's second result. The
  /// labels are checked here, too, because this result may be computed without the loss.
  static constexpr output slope(const output& logits, const output& labels) {
    const std::int64_t axis[]{-1};
    return make_node<softmax_op>(axis, logits) - rule::one_hot_like(checked(labels, logits), logits);
  }
};
/// -log softmax(logits)[label] along the last axis. Shapes: labels [d0, …, dn], logits [d0, …, dn, classes]; result [d0, …, dn].
/// Dtypes: logits floating point, labels int32 or int64. Errors: invalid_argument if a label is out of range.
/// Source: TensorFlow `SparseSoftmaxCrossEntropyWithLogits`.
template <class L, class X>
  requires accepted<sparse_softmax_cross_entropy_op, X, L>
constexpr made<sparse_softmax_cross_entropy_op, X, L> sparse_softmax_cross_entropy_with_logits(const L& labels, const X& logits) {
  return make<sparse_softmax_cross_entropy_op>(logits, labels);
}
template <class L, class X>
  requires refused<sparse_softmax_cross_entropy_op, X, L>
why<sparse_softmax_cross_entropy_op, X, L> sparse_softmax_cross_entropy_with_logits(const L&, const X&) = delete;
LEAT_OTHERWISE("sparse_softmax_cross_entropy_with_logits(labels, logits) takes two tensors; " LEAT_TENSORS)
sparse_softmax_cross_entropy_with_logits(...) LEAT_DELETED;

struct l2_loss_op {
  static constexpr std::string_view type = "L2Loss";
  static constexpr field form[]{{field_kind::operand, "t"}, {field_kind::type_of, "T"}};
  static constexpr op_kind kind = op_kind::composite;
  static constexpr inference infer(const operand_list& x) {
    if (!is_floating(x.type(0))) return inference::wrong(rule::refusal(rule::takes::floating));
    return {x.type(0), {}};
  }
  template <class G>
  static constexpr output expand(G& g) {
    return reduce_sum(square(g.input(0))) * constant_like(g.input(0), 0.5);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, g.input(0) * g.dy());
  }
};
/// Half the sum of squares of all elements. Shapes: x any; result []. Dtypes: floating point. Source: TensorFlow `L2Loss`.
LEAT_FUNCTION_OF_ONE(l2_loss, l2_loss_op);

namespace detail {
// The shape rule of a function that is composed of operators.
struct sigmoid_cross_entropy {
  static constexpr std::string_view type = "sigmoid_cross_entropy_with_logits";
  static constexpr inference infer(const operand_list& x) { return rule::broadcast_pair(x, rule::takes::floating); }
};
}  // namespace detail
/// max(x, 0) - x z + log(1 + e^(-|x|)), element-wise: the cross entropy of independent probabilities, stable at large |x|. Shapes: labels z
/// and logits x broadcast. Dtypes: floating point, the same of both. Source: TensorFlow `sigmoid_cross_entropy_with_logits`.
template <class L, class X>
  requires accepted<detail::sigmoid_cross_entropy, L, X>
constexpr auto sigmoid_cross_entropy_with_logits(const L& labels, const X& logits) {
  // Uses select in place of relu and abs, because the gradients at 0 then add up to the correct one, 1/2 - z.
  const auto positive = greater_equal(logits, constant_beside<0>(logits));
  return select(positive, logits, constant_beside<0>(logits)) - logits * labels + log1p(exp(select(positive, -logits, logits)));
}
template <class L, class X>
  requires refused<detail::sigmoid_cross_entropy, L, X>
why<detail::sigmoid_cross_entropy, L, X> sigmoid_cross_entropy_with_logits(const L&, const X&) = delete;
LEAT_OTHERWISE("sigmoid_cross_entropy_with_logits(labels, logits) takes two tensors; " LEAT_TENSORS)
sigmoid_cross_entropy_with_logits(...) LEAT_DELETED;

/// Index of the maximum, or minimum, along an axis. Attributes: the axis, and the dtype of the result. Source: TensorFlow `ArgMax`,
/// `ArgMin`.
template <bool Largest>
struct arg_reduce_op {
  static constexpr std::string_view type = Largest ? "ArgMax" : "ArgMin";
  static constexpr facts what{.narrow = narrow_rule::ordered, .stops_gradient = true};
  static constexpr field form[5]{{field_kind::operand, "input"},  // nvcc does not deduce array sizes in class templates
                                 {field_kind::scalar, "dimension"},
                                 {field_kind::type_number, "output_type"},
                                 {field_kind::type_of, "T"},
                                 {field_kind::fixed_type, "Tidx", 3}};
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list& x) {
    const shape& from = x.extent(0);
    if (!is_number(x.type(0))) return inference::wrong(rule::refusal(rule::takes::number));
    const int axis = rule::last_axis(x.attribute(0), from.rank);
    if (axis < 0 || axis >= from.rank) return inference::wrong("axis out of range");
    if (from[axis] == 0) return inference::wrong("nothing along the axis");
    inference got{static_cast<dtype>(x.attribute(1)), {}};
    if (got.type != dtype::int32 && got.type != dtype::int64) return inference::wrong("positions are int32 or int64");
    for (int i = 0; i < from.rank; ++i)
      if (i != axis) got.extent.push(from[i]);
    return got;
  }
};
using argmax_op = arg_reduce_op<true>;
using argmin_op = arg_reduce_op<false>;
namespace detail {
template <int Axis, class T>
using arg_attributes = attributes<Axis, static_cast<std::int64_t>(dtype_of<T>)>;
}
/// The index of the maximum along an axis: `argmax<1>(x)` as int64, `argmax<1, std::int32_t>(x)` as int32. Of equal elements the first is
/// taken; NaN is ignored unless all elements are NaN. Shapes: x [d0, …, dn]; result x without the axis. Dtypes: numbers; result int32 or
/// int64. Errors: axis out of range or of size 0. Source: TensorFlow `ArgMax`.
template <int Axis = 0, element_type T = std::int64_t, class X>
  requires accepted_with<argmax_op, detail::arg_attributes<Axis, T>, X>
constexpr made_with<argmax_op, detail::arg_attributes<Axis, T>, X> argmax(const X& x) {
  return make<argmax_op, detail::arg_attributes<Axis, T>>(x);
}
template <int Axis = 0, element_type T = std::int64_t, class X>
  requires refused_with<argmax_op, detail::arg_attributes<Axis, T>, X>
why_with<argmax_op, detail::arg_attributes<Axis, T>, X> argmax(const X&) = delete;
LEAT_OTHERWISE_OF_TYPE(argmax, "<axis>(x) takes one tensor; axis and dtype are template arguments: argmax<1, std::int32_t>(x); "
                               LEAT_TENSORS);
/// The index of the minimum along an axis, with ties, NaN, shapes, dtypes and errors as for `argmax`. Source: TensorFlow `ArgMin`.
template <int Axis = 0, element_type T = std::int64_t, class X>
  requires accepted_with<argmin_op, detail::arg_attributes<Axis, T>, X>
constexpr made_with<argmin_op, detail::arg_attributes<Axis, T>, X> argmin(const X& x) {
  return make<argmin_op, detail::arg_attributes<Axis, T>>(x);
}
template <int Axis = 0, element_type T = std::int64_t, class X>
  requires refused_with<argmin_op, detail::arg_attributes<Axis, T>, X>
why_with<argmin_op, detail::arg_attributes<Axis, T>, X> argmin(const X&) = delete;
LEAT_OTHERWISE_OF_TYPE(argmin, "<axis>(x) takes one tensor; axis and dtype are template arguments: argmin<1, std::int32_t>(x); "
                               LEAT_TENSORS);

/// Mean and biased variance along `Axes`, or over all elements, as a tuple. Shapes: x without `Axes`. Dtypes: numbers. Errors: axis out of
/// range or named twice. Rounding: passes/variance.hpp. Source: TensorFlow `moments`.
template <int... Axes, class X>
  requires accepted_with<mean_op, detail::reduction_attributes_of<X, false, Axes...>, X>
constexpr auto moments(const X& x) {
  const auto mean = reduce_mean_keep<Axes...>(x);
  const auto variance = reduce_mean<Axes...>(squared_difference(x, stop_gradient(mean)));
  return std::make_tuple(reduce_mean<Axes...>(x), variance);
}
template <int... Axes, class X>
  requires refused_with<mean_op, detail::reduction_attributes_of<X, false, Axes...>, X>
why_with<mean_op, detail::reduction_attributes_of<X, false, Axes...>, X> moments(const X&) = delete;
LEAT_OTHERWISE_OF(moments, "<axes...>(x) takes one tensor; axes are template arguments: moments<0>(x); " LEAT_TENSORS);

}  // namespace leat
