#pragma once
// Losses of typed expressions: `losses::mean_squared_error(labels, predictions)`, with weights `losses::mean_squared_error(labels,
// predictions, weights)`, with another reduction `losses::mean_squared_error<losses::reduction::mean>(labels, predictions, weights)`.
// train/named/losses.hpp has the losses of graphs with names, train/loss_formulas.hpp the formulas of both.
//
// Weights are a number, or a tensor that has rank 0 or the rank of the losses, with each dimension 1 or equal. Labels and predictions are
// cast to float32, and so is the result, as in TensorFlow; cross entropies are computed in the dtype of the logits. Errors, at compile
// time: shapes of labels and predictions that differ, weights that do not broadcast, dtypes that are not numbers, logits that are not
// floating point. Source: TensorFlow 1.x `tf.losses`.

#include <leat/train/loss_formulas.hpp>
#include <leat/train/typed_kit.hpp>

namespace leat {

namespace losses::detail {

using leat::detail::typed_kit;
using leat::detail::unit_weights;

/// Weights: a tensor, a number, or none.
template <class W>
concept weights_like = std::same_as<W, unit_weights> || leat::detail::optimizer_setting<W> || tensor_expression<W>;
template <class S>
concept loss_setting = leat::detail::optimizer_setting<S>;
/// The default value of a setting.
template <double Value>
using usual = compile_time_number<std::bit_cast<std::uint64_t>(Value), true>;

// The operand that stands for weights when a call is checked: numbers, and weights that were not given, count as a scalar.
using scalar_weights =
    leat::detail::leaf_tensor<leat::detail::constant_leaf<float, leat::detail::bits_of(dtype::float32, 1)>, float, dims<>>;
template <class W>
struct weights_operand {
  using type = scalar_weights;
};
template <tensor_expression W>
struct weights_operand<W> {
  using type = W;
};
template <class W>
using weights_form = typename weights_operand<W>::type;
template <class T, class Site, class W>
constexpr auto weights_as(const W& weights) {
  if constexpr (std::same_as<W, unit_weights>) return weights;
  else return cast<T>(leat::detail::as_setting<Site, 0>(weights));
}
// A setting, converted to the dtype `T`.
template <class T, class Site, int K, class S>
constexpr auto setting_as(const S& setting) {
  return cast<T>(leat::detail::as_setting<Site, K>(setting));
}

// ---- checks of arguments --------------------------------------------------------------------------------------------

constexpr bool weights_broadcast(const shape& weights, const shape& losses) {
  if (weights.rank == 0) return true;
  if (weights.rank != losses.rank) return false;
  for (int i = 0; i < losses.rank; ++i)
    if (weights[i] != 1 && !may_equal(weights[i], losses[i])) return false;
  return true;
}
// The losses, or their problem, or that of their weights.
constexpr inference with_weights(const inference& losses, dtype type, const shape& weights) {
  if (!losses.problem.empty()) return losses;
  if (!is_number(type)) return inference::wrong("weights are numbers");
  if (!weights_broadcast(weights, losses.extent))
    return inference::wrong("weights have rank 0, or the rank of the losses with each dimension 1 or equal");
  return losses;
}

// Operands: labels, predictions, weights.
struct pointwise {
  static constexpr inference infer(const operand_list& x) {
    if (!is_number(x.type(0)) && x.type(0) != dtype::boolean) return inference::wrong("labels are numbers");
    if (!is_number(x.type(1))) return inference::wrong("predictions are numbers");
    if (!may_equal(x.extent(0), x.extent(1))) return inference::wrong("labels and predictions differ in shape");
    return with_weights({dtype::float32, known_of(x.extent(0), x.extent(1))}, x.type(2), x.extent(2));
  }
};
struct absolute_difference_rule : pointwise {
  static constexpr std::string_view type = "losses::absolute_difference";
};
struct mean_squared_error_rule : pointwise {
  static constexpr std::string_view type = "losses::mean_squared_error";
};
struct huber_loss_rule : pointwise {
  static constexpr std::string_view type = "losses::huber_loss";
};
struct log_loss_rule : pointwise {
  static constexpr std::string_view type = "losses::log_loss";
};
struct hinge_loss_rule : pointwise {
  static constexpr std::string_view type = "losses::hinge_loss";
};
struct mean_pairwise_squared_error_rule : pointwise {
  static constexpr std::string_view type = "losses::mean_pairwise_squared_error";
  static constexpr inference infer(const operand_list& x) {
    if (x.extent(0).rank == 0) return inference::wrong("takes at least rank 1: the first axis counts samples");
    return pointwise::infer(x);
  }
};
// Attribute: the axis.
struct cosine_distance_rule {
  static constexpr std::string_view type = "losses::cosine_distance";
  static constexpr inference infer(const operand_list& x) {
    const int rank = x.extent(0).rank;
    const std::int64_t axis = x.attribute(0) < 0 ? x.attribute(0) + rank : x.attribute(0);
    if (axis < 0 || axis >= rank) return inference::wrong("axis out of range");
    tensor_info inputs[]{{x.type(0), x.extent(0)}, {x.type(1), x.extent(1)}, {x.type(2), {}}};
    inference got = pointwise::infer({inputs, 3, nullptr, 0});
    if (got.problem.empty()) got.extent.dim[axis] = 1;
    return with_weights(got, x.type(2), x.extent(2));
  }
};
// Operands: losses, weights.
struct weighted_loss_rule {
  static constexpr std::string_view type = "losses::compute_weighted_loss";
  static constexpr inference infer(const operand_list& x) {
    if (!is_number(x.type(0))) return inference::wrong("losses are numbers");
    return with_weights({x.type(0), x.extent(0)}, x.type(1), x.extent(1));
  }
};
// Operands: labels, logits, weights.
struct sigmoid_cross_entropy_rule {
  static constexpr std::string_view type = "losses::sigmoid_cross_entropy";
  static constexpr inference infer(const operand_list& x) {
    if (!is_floating(x.type(1))) return inference::wrong("logits are floating point");
    return pointwise::infer(x);
  }
};
struct softmax_cross_entropy_rule {
  static constexpr std::string_view type = "losses::softmax_cross_entropy";
  static constexpr inference infer(const operand_list& x) {
    if (!is_floating(x.type(1))) return inference::wrong("logits are floating point");
    if (x.extent(1).rank == 0) return inference::wrong("takes at least rank 1: [..., classes]");
    tensor_info inputs[]{{x.type(0), x.extent(0)}, {x.type(1), x.extent(1)}, {x.type(2), {}}};
    inference got = pointwise::infer({inputs, 3, nullptr, 0});
    if (got.problem.empty()) got.extent.dim[--got.extent.rank] = 0;
    return with_weights(got, x.type(2), x.extent(2));
  }
};
struct sparse_softmax_cross_entropy_rule {
  static constexpr std::string_view type = "losses::sparse_softmax_cross_entropy";
  static constexpr inference infer(const operand_list& x) {
    if (!is_floating(x.type(1))) return inference::wrong("logits are floating point");
    tensor_info inputs[]{{x.type(1), x.extent(1)}, {x.type(0), without_last_1(x.extent(0), x.extent(1).rank - 1)}};
    const inference got = sparse_softmax_cross_entropy_op::infer({inputs, 2, nullptr, 0});
    return with_weights(got, x.type(2), without_last_1(x.extent(2), got.extent.rank));
  }
  // Drops a last dimension of 1 if the shape has one dimension too many.
  static constexpr shape without_last_1(shape s, int rank) {
    if (s.rank == rank + 1 && s[s.rank - 1] == 1) s.dim[--s.rank] = 0;
    return s;
  }
};
template <int Rank, class X>
constexpr auto squeezed(const X& x) {
  if constexpr (tensor_expression<X>) {
    if constexpr (X::rank == Rank + 1) return squeeze<Rank>(x);
    else return x;
  } else {
    return x;
  }
}

// The losses of the elements; labels are smoothed unless the smoothing has its default value, 0.
template <class Site, class L, class X, class S>
constexpr auto sigmoid_cross_entropy_of(const L& labels, const X& logits, const S& smoothing) {
  using T = typename X::element;
  const auto z = cast<T>(labels);
  if constexpr (std::same_as<S, usual<0.0>>) {
    return sigmoid_cross_entropy_with_logits(z, logits);
  } else {
    const auto s = setting_as<T, Site, 1>(smoothing);
    return sigmoid_cross_entropy_with_logits(
        formula::smooth_sigmoid_labels(typed_kit{}, z, constant_beside<1>(s) - s, typed_kit{}.half(s) * s), logits);
  }
}
template <class Site, class L, class X, class S>
constexpr auto softmax_cross_entropy_of(const L& labels, const X& logits, const S& smoothing) {
  using T = typename X::element;
  const auto z = cast<T>(labels);
  if constexpr (std::same_as<S, usual<0.0>>) {
    return softmax_cross_entropy_with_logits(stop_gradient(z), logits);
  } else {
    const auto s = setting_as<T, Site, 1>(smoothing);
    return softmax_cross_entropy_with_logits(stop_gradient(formula::smooth_one_hot_labels(typed_kit{}, z, constant_beside<1>(s) - s, s)),
                                             logits);
  }
}

template <reduction R, class Site, class X, class W>
constexpr auto weigh(const X& each, const W& weights) {
  using T = typename X::element;
  return cast<T>(formula::reduce_weighted<R>(typed_kit{}, cast<float>(each), weights_as<float, Site>(weights)));
}

}  // namespace losses::detail

namespace losses {

/// Weighted and reduced losses of elements. Shapes: losses [...]; result [], or that of the losses if the reduction is `none`. Dtypes:
/// numbers; computed as float32; result like the losses. Source: TensorFlow `compute_weighted_loss`.
template <reduction R = reduction::sum_by_nonzero_weights, class X, detail::weights_like W = detail::unit_weights, LEAT_SITE>
  requires(tensor_expression<X> && accepted<detail::weighted_loss_rule, X, detail::weights_form<W>>)
constexpr auto compute_weighted_loss(const X& losses, const W& weights = {}) {
  return detail::weigh<R, Site>(losses, weights);
}
template <reduction R = reduction::sum_by_nonzero_weights, class X, detail::weights_like W = detail::unit_weights>
  requires(refused<detail::weighted_loss_rule, X, detail::weights_form<W>>)
why<detail::weighted_loss_rule, X, detail::weights_form<W>> compute_weighted_loss(const X&, const W& = {}) = delete;

// Defines a loss of labels and predictions as float32; `formula_call` refers to them as `z` and `p`.
#define LEAT_POINTWISE_LOSS(function, formula_call)                                                                                      \
  template <reduction R = reduction::sum_by_nonzero_weights, class L, class P, detail::weights_like W = detail::unit_weights, LEAT_SITE> \
    requires(tensor_expression<L> && accepted<detail::function##_rule, L, P, detail::weights_form<W>>)                                   \
  constexpr auto function(const L& labels, const P& predictions, const W& weights = {}) {                                                \
    const auto z = cast<float>(labels);                                                                                                  \
    const auto p = cast<float>(predictions);                                                                                             \
    return detail::weigh<R, Site>(formula_call, weights);                                                                                \
  }                                                                                                                                      \
  template <reduction R = reduction::sum_by_nonzero_weights, class L, class P, detail::weights_like W = detail::unit_weights>            \
    requires(refused<detail::function##_rule, L, P, detail::weights_form<W>>)                                                            \
  why<detail::function##_rule, L, P, detail::weights_form<W>> function(const L&, const P&, const W& = {}) = delete;

/// |p - z|. Shapes: labels z and predictions p have the same shape; result [], or that shape if the reduction is `none`. Dtypes: numbers;
/// result float32. Source: TensorFlow `absolute_difference`.
LEAT_POINTWISE_LOSS(absolute_difference, formula::absolute_difference(detail::typed_kit{}, z, p))
/// (p - z)². Shapes and dtypes: as `absolute_difference`. Source: TensorFlow `mean_squared_error`.
LEAT_POINTWISE_LOSS(mean_squared_error, formula::mean_squared_error(detail::typed_kit{}, z, p))
/// max(0, 1 - (2 z - 1) x) of labels z, 0 or 1, and logits x. Shapes and dtypes: as `absolute_difference`. Source: TensorFlow `hinge_loss`.
LEAT_POINTWISE_LOSS(hinge_loss, formula::hinge(detail::typed_kit{}, z, p))
#undef LEAT_POINTWISE_LOSS

// The same with a setting `s` after the weights.
#define LEAT_POINTWISE_LOSS(function, usual_value, formula_call)                                                              \
  template <reduction R = reduction::sum_by_nonzero_weights, class L, class P, detail::weights_like W = detail::unit_weights, \
            detail::loss_setting S = detail::usual<usual_value>, LEAT_SITE>                                                   \
    requires(tensor_expression<L> && accepted<detail::function##_rule, L, P, detail::weights_form<W>>)                        \
  constexpr auto function(const L& labels, const P& predictions, const W& weights = {}, const S& setting = {}) {              \
    const auto z = cast<float>(labels);                                                                                       \
    const auto p = cast<float>(predictions);                                                                                  \
    const auto s = detail::setting_as<float, Site, 1>(setting);                                                               \
    return detail::weigh<R, Site>(formula_call, weights);                                                                     \
  }                                                                                                                           \
  template <reduction R = reduction::sum_by_nonzero_weights, class L, class P, detail::weights_like W = detail::unit_weights, \
            detail::loss_setting S = detail::usual<usual_value>>                                                              \
    requires(refused<detail::function##_rule, L, P, detail::weights_form<W>>)                                                 \
  why<detail::function##_rule, L, P, detail::weights_form<W>> function(const L&, const P&, const W& = {}, const S& = {}) = delete;

/// Huber loss of errors e = p - z: e²/2 where |e| ≤ delta, delta |e| - delta²/2 beyond; the setting delta is 1 unless given. Shapes and
/// dtypes: as `absolute_difference`. Source: TensorFlow `huber_loss`.
LEAT_POINTWISE_LOSS(huber_loss, 1.0, formula::huber(detail::typed_kit{}, z, p, s))
/// -z log(p + epsilon) - (1 - z) log(1 - p + epsilon) of probabilities p; the setting epsilon is 1e-7 unless given. Shapes and dtypes: as
/// `absolute_difference`. Source: TensorFlow `log_loss`.
LEAT_POINTWISE_LOSS(log_loss, 1e-7, formula::log_loss(detail::typed_kit{}, z, p, s))
#undef LEAT_POINTWISE_LOSS

/// 1 - Σ p z along an axis, for vectors that are already normalized: `cosine_distance<1>(labels, predictions)`. Shapes: losses with the
/// axis as 1. Dtypes: as `absolute_difference`. Source: TensorFlow `cosine_distance`.
template <int Axis, reduction R = reduction::sum_by_nonzero_weights, class L, class P, detail::weights_like W = detail::unit_weights,
          LEAT_SITE>
  requires(tensor_expression<L> && accepted_with<detail::cosine_distance_rule, attributes<Axis>, L, P, detail::weights_form<W>>)
constexpr auto cosine_distance(const L& labels, const P& predictions, const W& weights = {}) {
  const auto each =
      formula::cosine_distance(detail::typed_kit{}, cast<float>(labels), cast<float>(predictions), std::integer_sequence<int, Axis>{});
  return detail::weigh<R, Site>(each, weights);
}
template <int Axis, reduction R = reduction::sum_by_nonzero_weights, class L, class P, detail::weights_like W = detail::unit_weights>
  requires(refused_with<detail::cosine_distance_rule, attributes<Axis>, L, P, detail::weights_form<W>>)
why_with<detail::cosine_distance_rule, attributes<Axis>, L, P, detail::weights_form<W>> cosine_distance(const L&, const P&,
                                                                                                        const W& = {}) = delete;

/// The mean of the squared differences between all pairs of a sample's errors, weighted, and summed over the samples. Shapes: labels and
/// predictions [samples, ...]; weights [], or [samples, 1, ...]; result []. Dtypes: as `absolute_difference`.
/// Source: TensorFlow `mean_pairwise_squared_error`.
template <class L, class P, detail::weights_like W = detail::unit_weights, LEAT_SITE>
  requires(tensor_expression<L> && accepted<detail::mean_pairwise_squared_error_rule, L, P, detail::weights_form<W>>)
constexpr auto mean_pairwise_squared_error(const L& labels, const P& predictions, const W& weights = {}) {
  return formula::mean_pairwise_squared_error(detail::typed_kit{}, cast<float>(labels), cast<float>(predictions),
                                              detail::weights_as<float, Site>(weights));
}
template <class L, class P, detail::weights_like W = detail::unit_weights>
  requires(refused<detail::mean_pairwise_squared_error_rule, L, P, detail::weights_form<W>>)
why<detail::mean_pairwise_squared_error_rule, L, P, detail::weights_form<W>> mean_pairwise_squared_error(const L&, const P&,
                                                                                                         const W& = {}) = delete;

// Defines the same for logits, in their dtype.
#define LEAT_CROSS_ENTROPY(function)                                                                                          \
  template <reduction R = reduction::sum_by_nonzero_weights, class L, class X, detail::weights_like W = detail::unit_weights, \
            detail::loss_setting S = detail::usual<0.0>, LEAT_SITE>                                                           \
    requires(tensor_expression<L> && accepted<detail::function##_rule, L, X, detail::weights_form<W>>)                        \
  constexpr auto function(const L& labels, const X& logits, const W& weights = {}, const S& label_smoothing = {}) {           \
    return detail::weigh<R, Site>(detail::function##_of<Site>(labels, logits, label_smoothing), weights);                     \
  }                                                                                                                           \
  template <reduction R = reduction::sum_by_nonzero_weights, class L, class X, detail::weights_like W = detail::unit_weights, \
            detail::loss_setting S = detail::usual<0.0>>                                                                      \
    requires(refused<detail::function##_rule, L, X, detail::weights_form<W>>)                                                 \
  why<detail::function##_rule, L, X, detail::weights_form<W>> function(const L&, const X&, const W& = {}, const S& = {}) = delete;

/// `sigmoid_cross_entropy_with_logits` with labels z (1 - s) + s/2; the smoothing s is 0 unless given. Shapes: labels and logits have the
/// same shape. Dtypes: logits floating point; result like logits. Source: TensorFlow `sigmoid_cross_entropy`.
LEAT_CROSS_ENTROPY(sigmoid_cross_entropy)
/// `softmax_cross_entropy_with_logits` with labels z (1 - s) + s/classes; the smoothing s is 0 unless given. Labels get no gradient.
/// Shapes: labels and logits [..., classes]; losses [...]. Dtypes: as `sigmoid_cross_entropy`.
/// Source: TensorFlow `softmax_cross_entropy`.
LEAT_CROSS_ENTROPY(softmax_cross_entropy)
#undef LEAT_CROSS_ENTROPY

/// `sparse_softmax_cross_entropy_with_logits`. Shapes: logits [..., classes]; labels [...] or [..., 1]; weights like the labels. Dtypes:
/// labels int32 or int64; result like logits. Errors in a run: invalid_argument for labels out of range.
/// Source: TensorFlow `sparse_softmax_cross_entropy`.
template <reduction R = reduction::sum_by_nonzero_weights, class L, class X, detail::weights_like W = detail::unit_weights, LEAT_SITE>
  requires(tensor_expression<L> && accepted<detail::sparse_softmax_cross_entropy_rule, L, X, detail::weights_form<W>>)
constexpr auto sparse_softmax_cross_entropy(const L& labels, const X& logits, const W& weights = {}) {
  const auto each = sparse_softmax_cross_entropy_with_logits(detail::squeezed<X::rank - 1>(labels), logits);
  if constexpr (std::same_as<W, detail::unit_weights>) return detail::weigh<R, Site>(each, weights);
  else return detail::weigh<R, Site>(each, detail::squeezed<X::rank - 1>(weights));
}
template <reduction R = reduction::sum_by_nonzero_weights, class L, class X, detail::weights_like W = detail::unit_weights>
  requires(refused<detail::sparse_softmax_cross_entropy_rule, L, X, detail::weights_form<W>>)
why<detail::sparse_softmax_cross_entropy_rule, L, X, detail::weights_form<W>> sparse_softmax_cross_entropy(const L&, const X&,
                                                                                                           const W& = {}) = delete;

// The last overloads, for all other arguments.
#define LEAT_LOSS_OTHERWISE(function, words)                             \
  LEAT_OTHERWISE("losses::" #function words) function(...) LEAT_DELETED; \
  template <auto First, auto... Rest>                                    \
  LEAT_OTHERWISE("losses::" #function words)                             \
  function(...) LEAT_DELETED
#define LEAT_LOSS_WORDS \
  "(labels, predictions, weights) takes two tensors, then perhaps a tensor or number; a reduction is a template argument; " LEAT_TENSORS
LEAT_LOSS_OTHERWISE(compute_weighted_loss, "(losses, weights) takes a tensor, then perhaps a tensor or number; " LEAT_TENSORS);
LEAT_LOSS_OTHERWISE(absolute_difference, LEAT_LOSS_WORDS);
LEAT_LOSS_OTHERWISE(mean_squared_error, LEAT_LOSS_WORDS);
LEAT_LOSS_OTHERWISE(hinge_loss, LEAT_LOSS_WORDS);
LEAT_LOSS_OTHERWISE(huber_loss, LEAT_LOSS_WORDS);
LEAT_LOSS_OTHERWISE(log_loss, LEAT_LOSS_WORDS);
LEAT_LOSS_OTHERWISE(mean_pairwise_squared_error, LEAT_LOSS_WORDS);
LEAT_LOSS_OTHERWISE(sigmoid_cross_entropy, LEAT_LOSS_WORDS);
LEAT_LOSS_OTHERWISE(softmax_cross_entropy, LEAT_LOSS_WORDS);
LEAT_LOSS_OTHERWISE(sparse_softmax_cross_entropy, LEAT_LOSS_WORDS);
LEAT_LOSS_OTHERWISE(cosine_distance,
                    "<axis>(labels, predictions, weights) takes two tensors, then perhaps a tensor or number; " LEAT_TENSORS);
#undef LEAT_LOSS_WORDS
#undef LEAT_LOSS_OTHERWISE

}  // namespace losses

namespace detail {
struct weighted_cross_entropy_rule {
  static constexpr std::string_view type = "weighted_cross_entropy_with_logits";
  static constexpr inference infer(const operand_list& x) { return rule::broadcast_pair(x, rule::takes::floating); }
};
}  // namespace detail
/// (1 - z) x + (1 + (q - 1) z) log(1 + e^-x) of logits x and labels z, in a numerically stable form; q is the weight of positives, a number
/// or scalar tensor. Shapes: labels and logits have the same shape. Dtypes: floating point. Source: TensorFlow
/// `weighted_cross_entropy_with_logits`.
template <class L, class X, detail::optimizer_setting Q, LEAT_SITE>
  requires(tensor_expression<L> && accepted<detail::weighted_cross_entropy_rule, L, X>)
constexpr auto weighted_cross_entropy_with_logits(const L& labels, const X& logits, const Q& pos_weight) {
  const auto q = losses::detail::setting_as<typename X::element, Site, 1>(pos_weight);
  return losses::formula::weighted_cross_entropy(detail::typed_kit{}, labels, logits, q - constant_beside<1>(q));
}
template <class L, class X, detail::optimizer_setting Q, LEAT_SITE>
  requires refused<detail::weighted_cross_entropy_rule, L, X>
why<detail::weighted_cross_entropy_rule, L, X> weighted_cross_entropy_with_logits(const L&, const X&, const Q&) = delete;
LEAT_OTHERWISE(
    "weighted_cross_entropy_with_logits(labels, logits, pos_weight) takes two tensors and a number or scalar tensor; " LEAT_TENSORS)
weighted_cross_entropy_with_logits(...) LEAT_DELETED;

}  // namespace leat
