#pragma once
// The formulas of losses and regularizers, written once for typed expressions (train/losses.hpp) and graphs with names
// (train/named/losses.hpp). The first argument of each formula, the kit, provides those functions that differ between the two kinds
// of operands: functions whose nodes have their own names in TensorFlow's graphs, numbers in an operand's dtype, weights and averages; both
// kinds have the operators `+`, `-`, `*`. Each operation is a statement of its own, so that nodes with names are created in TensorFlow's
// order. Source: TensorFlow 1.x `tf.losses`.

#include <leat/ops/state.hpp>

namespace leat::losses {

/// How the weighted losses of all elements are reduced to the result.
enum class reduction {
  none,                    ///< no reduction: the result has the shape of the losses
  sum,                     ///< Σ w l
  mean,                    ///< Σ w l / Σ w, the weights broadcast; 0 if the sum of weights is 0
  sum_over_batch_size,     ///< Σ w l / number of elements
  sum_by_nonzero_weights,  ///< Σ w l / number of elements with nonzero weight; 0 if there is none
};

namespace formula {

template <class K, class L, class P>
constexpr auto absolute_difference(const K& k, const L& labels, const P& predictions) {
  const auto error = k.subtract(predictions, labels);
  return k.abs(error);
}

template <class K, class L, class P>
constexpr auto mean_squared_error(const K& k, const L& labels, const P& predictions) {
  return k.squared_difference(predictions, labels);
}

// e²/2 where |e| ≤ delta, delta |e| - delta²/2 beyond.
template <class K, class L, class P, class Delta>
constexpr auto huber(const K& k, const L& labels, const P& predictions, const Delta& delta) {
  const auto error = k.subtract(predictions, labels);
  const auto magnitude = k.abs(error);
  const auto quadratic = k.minimum(magnitude, delta);
  const auto linear = k.subtract(magnitude, quadratic);
  const auto half = k.half(quadratic);
  const auto squares = k.multiply(quadratic, quadratic);
  const auto inside = k.multiply(half, squares);
  const auto beyond = k.multiply(delta, linear);
  return k.add(inside, beyond);
}

// -z log(p + epsilon) - (1 - z) log(1 - p + epsilon).
template <class K, class L, class P, class Epsilon>
constexpr auto log_loss(const K& k, const L& labels, const P& predictions, const Epsilon& epsilon) {
  const auto some = predictions + epsilon;
  const auto log_some = k.log(some);
  const auto positive = k.multiply(labels, log_some);
  const auto first = k.negative(positive);
  const auto other_labels = k.one(labels) - labels;
  const auto others = k.one(predictions) - predictions;
  const auto some_others = others + epsilon;
  const auto log_others = k.log(some_others);
  const auto second = k.multiply(other_labels, log_others);
  return first - second;
}

// max(0, 1 - (2 z - 1) x) with labels z, 0 or 1.
template <class K, class L, class X>
constexpr auto hinge(const K& k, const L& labels, const X& logits) {
  const auto ones = k.ones_like(labels);
  const auto doubled = k.two(labels) * labels;
  const auto signs = k.subtract(doubled, ones);
  const auto margin = k.multiply(signs, logits);
  const auto lacking = k.subtract(ones, margin);
  return k.relu(lacking);
}

// 1 - Σ p z along the axis, which is kept as 1.
template <class K, class L, class P, class Axis>
constexpr auto cosine_distance(const K& k, const L& labels, const P& predictions, const Axis& axis) {
  const auto products = k.multiply(predictions, labels);
  const auto sum = k.sum_keep(products, axis);
  return k.one(sum) - sum;
}

// z (1 - s) + s/2: smoothed labels of sigmoids.
template <class K, class L, class Rest, class Share>
constexpr auto smooth_sigmoid_labels(const K&, const L& labels, const Rest& one_less_smoothing, const Share& half_smoothing) {
  const auto kept = labels * one_less_smoothing;
  return kept + half_smoothing;
}

// z (1 - s) + s/classes: smoothed one-hot labels.
template <class K, class L, class Rest, class Smoothing>
constexpr auto smooth_one_hot_labels(const K& k, const L& labels, const Rest& one_less_smoothing, const Smoothing& smoothing) {
  const auto share = k.divide(smoothing, k.class_count(labels));
  const auto kept = labels * one_less_smoothing;
  return kept + share;
}

// (1 - z) x + (1 + (q - 1) z) (log(1 + e^-|x|) + max(-x, 0)), with weight q of positives; `weight_less_one` is q - 1.
template <class K, class L, class X, class Q>
constexpr auto weighted_cross_entropy(const K& k, const L& labels, const X& logits, const Q& weight_less_one) {
  const auto more = weight_less_one * labels;
  const auto weight = k.one(more) + more;
  const auto negatives = k.one(labels) - labels;
  const auto linear = negatives * logits;
  const auto magnitude = k.abs(logits);
  const auto minus = k.negative(magnitude);
  const auto small = k.exp(minus);
  const auto curved = k.log1p(small);
  const auto minus_logits = k.negative(logits);
  const auto straight = k.relu(minus_logits);
  const auto both = curved + straight;
  const auto weighted = weight * both;
  return k.add_last(linear, weighted);
}

// For each sample, the mean of the squared differences between all pairs of its errors: with n errors e,
// 2 Σ e² / (n - 1) - 2 (Σ e)² / (n (n - 1)), weighted, and summed over the samples.
template <class K, class L, class P, class W>
constexpr auto mean_pairwise_squared_error(const K& k, const L& labels, const P& predictions, const W& weights) {
  const auto errors = k.subtract(predictions, labels);
  const auto axes = k.axes_of_samples(errors);
  const auto squares = k.square(errors);
  const auto sum_of_squares = k.sum_keep(squares, axes);
  const auto count = k.present_of_samples(errors, weights);
  const auto fewer = count - k.one(count);
  const auto pairs = k.maximum(fewer, k.zero(fewer));
  const auto mean_of_squares = k.divide_no_nan(sum_of_squares, pairs, "value");
  const auto first = k.two(mean_of_squares) * mean_of_squares;
  const auto sum = k.sum_keep(errors, axes);
  const auto square_of_sum = k.square(sum);
  const auto fewer_again = count - k.one(count);
  const auto ordered = k.multiply(count, fewer_again);
  const auto ordered_pairs = k.maximum(ordered, k.zero(ordered));
  const auto mean_of_products = k.divide_no_nan(square_of_sum, ordered_pairs, "value");
  const auto second = k.two(mean_of_products) * mean_of_products;
  const auto difference = k.subtract(first, second);
  const auto weighted = k.multiply(difference, weights);
  const auto total = k.sum(weighted);
  const auto counted = k.sum(count);
  const auto some = k.greater(counted, k.zero(counted));
  return k.choose_or_zero(some, total, "value");
}

// Reduces losses; the weights are float32 and broadcast to the losses.
template <reduction R, class K, class X, class W>
constexpr auto reduce_weighted(const K& k, const X& losses, const W& weights) {
  const auto weighted = k.multiply(losses, weights);
  if constexpr (R == reduction::none) {
    return weighted;
  } else {
    const auto sum = k.sum(weighted);
    if constexpr (R == reduction::sum) {
      return sum;
    } else {
      const auto count = [&] {
        if constexpr (R == reduction::mean) {
          return k.sum_of_weights(weighted, weights);
        } else if constexpr (R == reduction::sum_over_batch_size) {
          return k.element_count(weighted);
        } else {
          return k.present(weighted, weights);
        }
      }();
      const auto total = k.sum(sum);
      return k.divide_no_nan(total, count, "value");
    }
  }
}

// scale Σ |w|.
template <class K, class Scale, class W>
constexpr auto l1(const K& k, const Scale& scale, const W& weights) {
  const auto magnitudes = k.abs(weights);
  const auto sum = k.sum(magnitudes);
  return k.multiply_last(scale, sum);
}

// scale Σ w² / 2.
template <class K, class Scale, class W>
constexpr auto l2(const K& k, const Scale& scale, const W& weights) {
  const auto half_of_squares = k.l2_loss(weights);
  return k.multiply_last(scale, half_of_squares);
}

}  // namespace formula

}  // namespace leat::losses
