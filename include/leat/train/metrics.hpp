#pragma once
// Streaming metrics of typed expressions: `auto m = metrics::accuracy<"accuracy">(labels, predictions)` creates the untrainable variables
// "accuracy/total" and "accuracy/count"; `m.value` is the value so far, and `m.update` counts the batch of its run and returns the value
// after it. `s.assign(m.total, 0.0f)` and `s.assign(m.count, 0.0f)` reset the metric. Weights, and errors at compile time, are those of
// losses (train/losses.hpp). train/named/metrics.hpp has more metrics for graphs with names. Source: TensorFlow 1.x `tf.metrics`.

#include <leat/train/losses.hpp>
#include <leat/train/metric_formulas.hpp>

namespace leat::metrics {

/// A metric that is a mean, and its variables.
template <class Value, class Update, class Total, class Count>
struct mean_metric {
  Value value;    // of all updates so far
  Update update;  // adds the values of one run
  Total total;    // the variable that adds them up
  Count count;    // the variable that counts them
};
/// A metric that is hits / (hits + misses), and its variables.
template <class Value, class Update, class Hits, class Misses>
struct share_metric {
  Value value;    // of all updates so far
  Update update;  // adds the values of one run
  Hits hits;      // the variable that counts these
  Misses misses;  // the variable that counts these
};

namespace detail {

using leat::detail::typed_kit;
using losses::detail::unit_weights;
using losses::detail::weights_form;
using losses::detail::weights_like;

// A scalar variable, initially 0.
template <fixed_string Name>
constexpr auto zero_variable() {
  return leat::detail::make_variable<name_of<Name>, float, dims<>, false>(zeros);
}

template <fixed_string Name, class Site, class X, class W>
constexpr auto mean_of(const X& values, const W& given) {
  const auto weights = losses::detail::weights_as<float, Site>(given);
  const auto each = cast<float>(values);
  const auto total = zero_variable<Name / "total">();
  const auto count = zero_variable<Name / "count">();
  const typed_kit kit;
  const auto value = formula::mean(kit, total, count, {});
  const auto update = formula::mean(kit, assign_add(total, reduce_sum(kit.multiply(each, weights))),
                                    assign_add(count, kit.sum_of_weights(each, weights)), {});
  return mean_metric<std::remove_const_t<decltype(value)>, std::remove_const_t<decltype(update)>, std::remove_const_t<decltype(total)>,
                     std::remove_const_t<decltype(count)>>{value, update, total, count};
}
template <fixed_string Name, fixed_string Missed, class Site, class H, class M, class W>
constexpr auto share_of(const H& hit, const M& missed, const W& given) {
  const auto weights = losses::detail::weights_as<float, Site>(given);
  const auto hits = zero_variable<Name / "true_positives/count">();
  const auto misses = zero_variable<Name / Missed>();
  const typed_kit kit;
  const auto value = formula::share(kit, hits, misses, {});
  const auto update = formula::share(kit, assign_add(hits, reduce_sum(kit.multiply(cast<float>(hit), weights))),
                                     assign_add(misses, reduce_sum(kit.multiply(cast<float>(missed), weights))), {});
  return share_metric<std::remove_const_t<decltype(value)>, std::remove_const_t<decltype(update)>, std::remove_const_t<decltype(hits)>,
                      std::remove_const_t<decltype(misses)>>{value, update, hits, misses};
}

struct mean_rule : losses::detail::weighted_loss_rule {
  static constexpr std::string_view type = "metrics::mean";
};
struct pair_rule {
  static constexpr inference infer(const operand_list& x) {
    if (!is_number(x.type(1)) && x.type(1) != dtype::boolean) return inference::wrong("predictions are numbers or bool");
    tensor_info inputs[]{{x.type(0), x.extent(0)}, {dtype::float32, x.extent(1)}, {x.type(2), x.extent(2)}};
    return losses::detail::pointwise::infer({inputs, 3, nullptr, 0});
  }
};
struct accuracy_rule : pair_rule {
  static constexpr std::string_view type = "metrics::accuracy";
};
struct precision_rule : pair_rule {
  static constexpr std::string_view type = "metrics::precision";
};
struct recall_rule : pair_rule {
  static constexpr std::string_view type = "metrics::recall";
};
struct mean_absolute_error_rule : pair_rule {
  static constexpr std::string_view type = "metrics::mean_absolute_error";
};
struct mean_squared_error_rule : pair_rule {
  static constexpr std::string_view type = "metrics::mean_squared_error";
};

}  // namespace detail

/// The mean of values: `mean<"loss">(values)`. Shapes: values [...]; result []. Dtypes: numbers; result float32. Source: TensorFlow
/// `metrics.mean`.
template <fixed_string Name, class X, detail::weights_like W = detail::unit_weights, LEAT_SITE>
  requires(tensor_expression<X> && accepted<detail::mean_rule, X, detail::weights_form<W>>)
constexpr auto mean(const X& values, const W& weights = {}) {
  return detail::mean_of<Name, Site>(values, weights);
}
template <fixed_string Name, class X, detail::weights_like W = detail::unit_weights>
  requires(refused<detail::mean_rule, X, detail::weights_form<W>>)
why<detail::mean_rule, X, detail::weights_form<W>> mean(const X&, const W& = {}) = delete;

// Defines a metric of labels `z` and predictions `p` with one shape; the expression `call` computes it.
#define LEAT_PAIR_METRIC(function, call)                                                                   \
  template <fixed_string Name, class L, class P, detail::weights_like W = detail::unit_weights, LEAT_SITE> \
    requires(tensor_expression<L> && accepted<detail::function##_rule, L, P, detail::weights_form<W>>)     \
  constexpr auto function(const L& z, const P& p, const W& weights = {}) {                                 \
    return call;                                                                                           \
  }                                                                                                        \
  template <fixed_string Name, class L, class P, detail::weights_like W = detail::unit_weights>            \
    requires(refused<detail::function##_rule, L, P, detail::weights_form<W>>)                              \
  why<detail::function##_rule, L, P, detail::weights_form<W>> function(const L&, const P&, const W& = {}) = delete;

/// The fraction of predictions that are equal to the labels. Shapes: labels and predictions have the same shape. Dtypes: any; predictions
/// are cast to the dtype of the labels.
/// Source: TensorFlow `metrics.accuracy`.
LEAT_PAIR_METRIC(accuracy, (detail::mean_of<Name, Site>(cast<float>(equal(cast<typename L::element>(p), z)), weights)))
/// The mean of |p - z|. Shapes: labels z and predictions p have the same shape. Source: TensorFlow `metrics.mean_absolute_error`.
LEAT_PAIR_METRIC(mean_absolute_error,
                 (detail::mean_of<Name, Site>(losses::formula::absolute_difference(detail::typed_kit{}, cast<float>(z), cast<float>(p)),
                                              weights)))
/// The mean of (p - z)²; its square root is `sqrt(m.value)`. Source: TensorFlow `metrics.mean_squared_error`.
LEAT_PAIR_METRIC(mean_squared_error,
                 (detail::mean_of<Name, Site>(losses::formula::mean_squared_error(detail::typed_kit{}, cast<float>(z), cast<float>(p)),
                                              weights)))
/// The fraction of positive predictions that are true; labels and predictions are cast to bool. Source: TensorFlow `metrics.precision`.
LEAT_PAIR_METRIC(precision,
                 (detail::share_of<Name, "false_positives/count", Site>(logical_and(cast<bool>(z), cast<bool>(p)),
                                                                        logical_and(logical_not(cast<bool>(z)), cast<bool>(p)), weights)))
/// The fraction of positive labels that are predicted true; labels and predictions are cast to bool. Source: TensorFlow `metrics.recall`.
LEAT_PAIR_METRIC(recall,
                 (detail::share_of<Name, "false_negatives/count", Site>(logical_and(cast<bool>(z), cast<bool>(p)),
                                                                        logical_and(cast<bool>(z), logical_not(cast<bool>(p))), weights)))
#undef LEAT_PAIR_METRIC

#define LEAT_METRIC_OTHERWISE(function, words)                            \
  LEAT_OTHERWISE("metrics::" #function words) function(...) LEAT_DELETED; \
  template <auto First, auto... Rest>                                     \
  LEAT_OTHERWISE("metrics::" #function words)                             \
  function(...) LEAT_DELETED
#define LEAT_METRIC_WORDS "<name>(labels, predictions, weights) takes two tensors, then perhaps a tensor or number; " LEAT_TENSORS
LEAT_METRIC_OTHERWISE(mean, "<name>(values, weights) takes a tensor, then perhaps a tensor or number; " LEAT_TENSORS);
LEAT_METRIC_OTHERWISE(accuracy, LEAT_METRIC_WORDS);
LEAT_METRIC_OTHERWISE(mean_absolute_error, LEAT_METRIC_WORDS);
LEAT_METRIC_OTHERWISE(mean_squared_error, LEAT_METRIC_WORDS);
LEAT_METRIC_OTHERWISE(precision, LEAT_METRIC_WORDS);
LEAT_METRIC_OTHERWISE(recall, LEAT_METRIC_WORDS);
#undef LEAT_METRIC_WORDS
#undef LEAT_METRIC_OTHERWISE

}  // namespace leat::metrics
