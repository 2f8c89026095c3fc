#pragma once
// Implementation of named_losses.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/array.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/named/functions/nn.hpp>
#include <leat/named/functions/shape.hpp>
#include <leat/named/functions/slice.hpp>
#include <leat/train/named/kit.hpp>
#include <leat/train/named/losses.hpp>
#include <leat/train/named/weights.hpp>

namespace leat {

LEAT_FUNCTION output weighted_cross_entropy_with_logits(const output& labels, const output& logits, double pos_weight,
                                                        std::string_view name, const std::source_location& where) {
  detail::check_tensors("weighted_cross_entropy_with_logits", {labels, logits});
  if (!may_equal(labels.extent(), logits.extent()))
    throw invalid_argument("`logits` and `labels` must have the same shape, received (" + shape_text(logits.extent()) + " vs " +
                           shape_text(labels.extent()) + ")");
  graph& g = logits.owner();
  const source_scope line(g, where);
  const name_scope scope(g, name.empty() ? "logistic_loss" : name);
  const output x = g.named().value_of(logits);
  const output z = g.named().value_of(labels);
  return losses::formula::weighted_cross_entropy(detail::named_kit{}, z, x, pos_weight - 1);
}

}  // namespace leat

namespace leat::losses::detail {

using leat::detail::as_float32;
using leat::detail::named_kit;

template <reduction R>
output reduce(const output& losses, const output& weights) {
  return formula::reduce_weighted<R>(named_kit{}, losses, weights);
}

// The scope of a loss, in which all of its nodes are made.
struct loss_scope {
  graph& g;
  default_graph_scope here;
  source_scope line;
  name_scope names;
  loss_scope(graph& owner, const loss_options& options, std::string_view name, const std::source_location& where)
      : g(owner), here(owner), line(owner, where), names(owner, options.scope.empty() ? name : options.scope) {}
};

// Checks that the arguments are tensors of numeric dtypes, before any node is made. Errors: invalid_argument.
LEAT_FUNCTION void check_arguments(std::string_view name, const output& labels, const output& predictions, const loss_options& options) {
  leat::detail::check_tensors(name, {labels, predictions, options.weights});
}

// The part that all losses of labels and predictions share: casts both to float32, checks that they have one shape, calls the formula, and
// weights the result.
template <class Formula>
output element_loss(std::string_view name, const output& labels, const output& predictions, const loss_options& options,
                    const std::source_location& where, Formula formula) {
  check_arguments(name, labels, predictions, options);
  leat::detail::check_compatible(predictions, labels);
  const loss_scope scope(predictions.owner(), options, name, where);
  const output p = as_float32(scope.g, predictions);
  const output z = as_float32(scope.g, labels);
  loss_options rest = options;
  rest.scope = scope.names.text();
  return compute_weighted_loss(formula(z, p), rest, where);
}

// Logits must be floating point, because labels are cast to their dtype.
LEAT_FUNCTION void check_logits(std::string_view name, const output& logits) {
  if (!is_floating(logits.type())) throw invalid_argument(std::string(name) + ": logits are floating point, not " + describe(logits));
}

LEAT_FUNCTION void check_smoothing(std::string_view name, double smoothing) {
  if (!(smoothing >= 0 && smoothing <= 1))
    throw invalid_argument(std::string(name) + ": label_smoothing is in [0, 1], not " + std::to_string(smoothing));
}

// Removes the last axis of x, a dimension of 1, if x has one axis more than it should.
LEAT_FUNCTION output without_last(const output& x, bool squeezes) { return squeezes ? squeeze(x, std::vector<std::int64_t>{-1}) : x; }

}  // namespace leat::losses::detail

namespace leat::losses {

LEAT_FUNCTION output compute_weighted_loss(const output& losses, const loss_options& options, const std::source_location& where) {
  leat::detail::check_tensors("compute_weighted_loss", {losses, options.weights});
  if (!is_number(losses.type())) throw invalid_argument("compute_weighted_loss: losses are numbers, not " + describe(losses));
  const detail::loss_scope scope(losses.owner(), options, "weighted_loss", where);
  const output x = scope.g.named().value_of(losses);
  const control_dependencies after({check_broadcastable(options.weights, x, where)});
  const output floats = cast(x, dtype::float32);
  const output weights = detail::as_float32(scope.g, options.weights);
  const output reduced = [&] {
    switch (options.reduction) {
      case reduction::none: return detail::reduce<reduction::none>(floats, weights);
      case reduction::sum: return detail::reduce<reduction::sum>(floats, weights);
      case reduction::mean: return detail::reduce<reduction::mean>(floats, weights);
      case reduction::sum_over_batch_size: return detail::reduce<reduction::sum_over_batch_size>(floats, weights);
      case reduction::sum_by_nonzero_weights: return detail::reduce<reduction::sum_by_nonzero_weights>(floats, weights);
    }
    throw invalid_argument("Invalid Reduction Key " + std::to_string(static_cast<int>(options.reduction)) +
                           ": none, sum, mean, sum_over_batch_size and sum_by_nonzero_weights are reductions");
  }();
  const output loss = cast(reduced, x.type());
  add_loss(loss, options.collection);
  return loss;
}

LEAT_FUNCTION output absolute_difference(const output& labels, const output& predictions, const loss_options& options,
                                         const std::source_location& where) {
  return detail::element_loss("absolute_difference", labels, predictions, options, where, [](const output& z, const output& p) {
    return formula::absolute_difference(leat::detail::named_kit{}, z, p);
  });
}

LEAT_FUNCTION output mean_squared_error(const output& labels, const output& predictions, const loss_options& options,
                                        const std::source_location& where) {
  return detail::element_loss("mean_squared_error", labels, predictions, options, where, [](const output& z, const output& p) {
    return formula::mean_squared_error(leat::detail::named_kit{}, z, p);
  });
}

LEAT_FUNCTION output huber_loss(const output& labels, const output& predictions, const loss_options& options, double delta,
                                const std::source_location& where) {
  return detail::element_loss("huber_loss", labels, predictions, options, where,
                              [&](const output& z, const output& p) { return formula::huber(leat::detail::named_kit{}, z, p, delta); });
}

LEAT_FUNCTION output log_loss(const output& labels, const output& predictions, const loss_options& options, double epsilon,
                              const std::source_location& where) {
  return detail::element_loss("log_loss", labels, predictions, options, where, [&](const output& z, const output& p) {
    return formula::log_loss(leat::detail::named_kit{}, z, p, epsilon);
  });
}

LEAT_FUNCTION output hinge_loss(const output& labels, const output& logits, const loss_options& options,
                                const std::source_location& where) {
  return detail::element_loss("hinge_loss", labels, logits, options, where,
                              [](const output& z, const output& x) { return formula::hinge(leat::detail::named_kit{}, z, x); });
}

LEAT_FUNCTION output cosine_distance(const output& labels, const output& predictions, std::int32_t axis, const loss_options& options,
                                     const std::source_location& where) {
  if (const shape& s = predictions.extent(); s.has_rank() && (axis < -s.rank || axis >= s.rank))
    throw invalid_argument("cosine_distance: axis " + std::to_string(axis) + " is out of range for " + describe(predictions));
  return detail::element_loss("cosine_distance_loss", labels, predictions, options, where, [&](const output& z, const output& p) {
    return formula::cosine_distance(leat::detail::named_kit{}, z, p, index_list{axis});
  });
}

LEAT_FUNCTION output mean_pairwise_squared_error(const output& labels, const output& predictions, const loss_options& options,
                                                 const std::source_location& where) {
  detail::check_arguments("mean_pairwise_squared_error", labels, predictions, options);
  leat::detail::check_compatible(predictions, labels);
  if (options.reduction != reduction::sum_by_nonzero_weights)
    throw invalid_argument("mean_pairwise_squared_error: has no other reduction than its own");
  if (labels.extent().has_rank() && labels.extent().rank == 0)
    throw invalid_argument("mean_pairwise_squared_error: of a scalar; the first axis counts samples");
  const detail::loss_scope scope(predictions.owner(), options, "mean_pairwise_squared_error", where);
  const output weights = detail::as_float32(scope.g, options.weights);
  const output z = detail::as_float32(scope.g, labels);
  const control_dependencies after({check_broadcastable(weights, z, where)});
  const output p = detail::as_float32(scope.g, predictions);
  const output loss = formula::mean_pairwise_squared_error(leat::detail::named_kit{}, z, p, weights);
  add_loss(loss, options.collection);
  return loss;
}

LEAT_FUNCTION output sigmoid_cross_entropy(const output& labels, const output& logits, const loss_options& options, double label_smoothing,
                                           const std::source_location& where) {
  detail::check_arguments("sigmoid_cross_entropy", labels, logits, options);
  detail::check_logits("sigmoid_cross_entropy", logits);
  detail::check_smoothing("sigmoid_cross_entropy", label_smoothing);
  leat::detail::check_compatible(logits, labels);
  const detail::loss_scope scope(logits.owner(), options, "sigmoid_cross_entropy_loss", where);
  const output x = scope.g.named().value_of(logits);
  output z = cast(scope.g.named().value_of(labels), x.type());
  if (label_smoothing > 0) z = formula::smooth_sigmoid_labels(leat::detail::named_kit{}, z, 1 - label_smoothing, 0.5 * label_smoothing);
  loss_options rest = options;
  rest.scope = scope.names.text();
  return compute_weighted_loss(sigmoid_cross_entropy_with_logits(z, x, "xentropy", where), rest, where);
}

LEAT_FUNCTION output softmax_cross_entropy(const output& onehot_labels, const output& logits, const loss_options& options,
                                           double label_smoothing, const std::source_location& where) {
  detail::check_arguments("softmax_cross_entropy", onehot_labels, logits, options);
  detail::check_logits("softmax_cross_entropy", logits);
  detail::check_smoothing("softmax_cross_entropy", label_smoothing);
  leat::detail::check_compatible(logits, onehot_labels);
  const detail::loss_scope scope(logits.owner(), options, "softmax_cross_entropy_loss", where);
  const output x = scope.g.named().value_of(logits);
  output z = cast(scope.g.named().value_of(onehot_labels), x.type());
  if (label_smoothing > 0) z = formula::smooth_one_hot_labels(leat::detail::named_kit{}, z, 1 - label_smoothing, label_smoothing);
  z = stop_gradient(z, "labels_stop_gradient", where);
  loss_options rest = options;
  rest.scope = scope.names.text();
  return compute_weighted_loss(softmax_cross_entropy_with_logits(z, x, "xentropy", where), rest, where);
}

LEAT_FUNCTION output sparse_softmax_cross_entropy(const output& labels, const output& logits, const loss_options& options,
                                                  const std::source_location& where) {
  detail::check_arguments("sparse_softmax_cross_entropy", labels, logits, options);
  detail::check_logits("sparse_softmax_cross_entropy", logits);
  const detail::loss_scope scope(logits.owner(), options, "sparse_softmax_cross_entropy_loss", where);
  named_part& nodes = scope.g.named();
  output z = nodes.value_of(labels);
  output x = nodes.value_of(logits);
  const auto last_may_be_1 = [](const shape& s) { return s.rank > 0 && may_equal(s[s.rank - 1], 1); };
  if (z.extent().has_rank() && x.extent().has_rank()) {
    const int more = x.extent().rank - z.extent().rank;
    const bool logits_too_long = more == 2 && last_may_be_1(x.extent());
    const bool labels_too_long = more == 0 && last_may_be_1(z.extent());
    const name_scope squeezing(scope.g, "remove_squeezable_dimensions");
    x = detail::without_last(x, logits_too_long);
    z = detail::without_last(z, labels_too_long);
  }
  output weights = options.weights.tensor() != nullptr ? nodes.value_of(*options.weights.tensor())
                                                       : nodes.make_constant(scope.g, *options.weights.literal(), "Const");
  if (z.extent().has_rank() && weights.extent().has_rank() && weights.extent().rank == z.extent().rank + 1)
    weights = squeeze(weights, std::vector<std::int64_t>{-1});
  const output each = sparse_softmax_cross_entropy_with_logits(z, x, "xentropy", where);
  loss_options rest = options;
  rest.weights = weights;
  rest.scope = scope.names.text();
  return compute_weighted_loss(each, rest, where);
}

LEAT_FUNCTION void add_loss(const output& loss, std::string_view collection) {
  if (!static_cast<bool>(loss)) throw invalid_argument("add_loss: no tensor: an empty output");
  if (!collection.empty()) add_to_collection(loss.owner(), collection, loss);
}

LEAT_FUNCTION std::vector<output> get_losses(std::string_view scope, std::string_view collection) {
  return get_tensors(default_graph(), collection, scope);
}

LEAT_FUNCTION std::vector<output> get_regularization_losses(std::string_view scope) {
  return get_tensors(default_graph(), leat::collection::regularization_losses, scope);
}

LEAT_FUNCTION output get_regularization_loss(std::string_view scope, std::string_view name, const std::source_location& where) {
  const auto all = get_regularization_losses(scope);
  return all.empty() ? constant(0.0f, "Const", where) : leat::detail::sum_of_tensors(all, name, where);
}

LEAT_FUNCTION output get_total_loss(bool add_regularization_losses, std::string_view name, std::string_view scope,
                                    const std::source_location& where) {
  std::vector<output> all = get_losses(scope);
  if (add_regularization_losses)
    for (const output& term : get_regularization_losses(scope)) all.push_back(term);
  if (all.empty())
    throw invalid_argument("get_total_loss: there is no loss in the collection \"losses\"" +
                           (scope.empty() ? std::string{} : " of the scope \"" + std::string(scope) + "\""));
  return leat::detail::sum_of_tensors(all, name, where);
}

}  // namespace leat::losses
