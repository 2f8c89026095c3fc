#pragma once
// Streaming metrics of graphs with names: their values are of all batches since their variables were initialized. A metric is a tensor with
// the value so far, and an operation that adds a batch and returns the value after it. Its local variables (in the collections
// `local_variables` and `metric_variables`, under TensorFlow's names, "accuracy/total") are set to zero by `local_variables_initializer`:
//
//   auto [accuracy, update] = metrics::accuracy(labels, predictions);
//   s.run(local_variables_initializer());
//   for (...) s.run(update, {{x, batch}});
//   s.run(accuracy);
//
// Weights broadcast to the values, as those of losses do. train/metrics.hpp has metrics of typed expressions. Errors of all functions:
// invalid_argument for labels and predictions whose shapes differ, weights that do not broadcast, operands that are not numeric.
// Source: TensorFlow 1.x `tf.metrics`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/operand.hpp>

#include <optional>

namespace leat::metrics {

/// A metric: its value over all batches so far, and its value after adding the batch of the current run.
struct metric {
  output value;   // of all updates so far
  output update;  // adds the values of one run, and is the value after that
};

/// Options of a metric.
struct metric_options {
  std::optional<operand_value> weights{};          // empty: 1 everywhere
  std::vector<std::string> metrics_collections{};  // the value is added to these
  std::vector<std::string> updates_collections{};  // the update is added to these
  std::string_view name{};                         // name of the variable scope; empty: the metric's own
};

/// The mean of values. Shapes: values [...]; result []. Dtypes: numeric; result float32. Source: `mean`.
metric mean(const output& values, const metric_options& options = {}, const std::source_location& where = std::source_location::current());
/// The mean of each element over all batches. Shapes: values static; result like values. Source: `mean_tensor`.
metric mean_tensor(const output& values, const metric_options& options = {},
                   const std::source_location& where = std::source_location::current());
/// The share of predictions that are equal to their labels. Shapes: labels and predictions the same, but one of them may have an additional
/// last dimension of 1. Dtypes: numeric.
/// Source: `accuracy`.
metric accuracy(const output& labels, const output& predictions, const metric_options& options = {},
                const std::source_location& where = std::source_location::current());
/// The mean of |p - z| for predictions p and labels z. Source: `mean_absolute_error`.
metric mean_absolute_error(const output& labels, const output& predictions, const metric_options& options = {},
                           const std::source_location& where = std::source_location::current());
/// The mean of |p - z| / normalizer, where a normalizer of 0 gives 0. Source: `mean_relative_error`.
metric mean_relative_error(const output& labels, const output& predictions, const output& normalizer, const metric_options& options = {},
                           const std::source_location& where = std::source_location::current());
/// The mean of (p - z)² for predictions p and labels z. Source: `mean_squared_error`.
metric mean_squared_error(const output& labels, const output& predictions, const metric_options& options = {},
                          const std::source_location& where = std::source_location::current());
/// The square root of the mean of (p - z)² for predictions p and labels z. Source: `root_mean_squared_error`.
metric root_mean_squared_error(const output& labels, const output& predictions, const metric_options& options = {},
                               const std::source_location& where = std::source_location::current());
/// The mean of 1 - Σ p z along an axis, of vectors that are already normalized. Source: `mean_cosine_distance`.
metric mean_cosine_distance(const output& labels, const output& predictions, std::int32_t axis, const metric_options& options = {},
                            const std::source_location& where = std::source_location::current());
/// The share of values that are below a threshold. Source: `percentage_below`.
metric percentage_below(const output& values, double threshold, const metric_options& options = {},
                        const std::source_location& where = std::source_location::current());

/// The number, or total weight, of true positives, true negatives, false positives or false negatives; labels and predictions are cast to
/// bool.
/// Source: `true_positives`, `true_negatives`, `false_positives`, `false_negatives`.
metric true_positives(const output& labels, const output& predictions, const metric_options& options = {},
                      const std::source_location& where = std::source_location::current());
metric true_negatives(const output& labels, const output& predictions, const metric_options& options = {},
                      const std::source_location& where = std::source_location::current());
metric false_positives(const output& labels, const output& predictions, const metric_options& options = {},
                       const std::source_location& where = std::source_location::current());
metric false_negatives(const output& labels, const output& predictions, const metric_options& options = {},
                       const std::source_location& where = std::source_location::current());
/// The share of true positives among the samples that are predicted true; 0 if there are none. Source: `precision`.
metric precision(const output& labels, const output& predictions, const metric_options& options = {},
                 const std::source_location& where = std::source_location::current());
/// The share of true positives among the samples that are true; 0 if there are none. Source: `recall`.
metric recall(const output& labels, const output& predictions, const metric_options& options = {},
              const std::source_location& where = std::source_location::current());
/// Precision or recall at several thresholds: predictions are probabilities, and those above a threshold count as true. Shapes: result
/// [thresholds]. Errors: invalid_argument for no threshold. Source: `precision_at_thresholds`, `recall_at_thresholds`.
metric precision_at_thresholds(const output& labels, const output& predictions, const std::vector<float>& thresholds,
                               const metric_options& options = {}, const std::source_location& where = std::source_location::current());
metric recall_at_thresholds(const output& labels, const output& predictions, const std::vector<float>& thresholds,
                            const metric_options& options = {}, const std::source_location& where = std::source_location::current());

/// The curve under which `auc` computes the area: `roc` is the rate of true positives over that of false positives, `pr` precision over
/// recall.
enum class curve { roc, pr };
/// The height of the curve between two thresholds: `trapezoidal` takes the mean of both ends, `minoring` the lower one, `majoring` the
/// higher one.
enum class summation { trapezoidal, minoring, majoring };
/// Options of `auc`.
struct auc_options {
  std::int32_t num_thresholds = 200;           // 2 to 1,000,000
  metrics::curve curve = metrics::curve::roc;  // under which the area is computed
  summation method = summation::trapezoidal;   // the height between two thresholds
};
/// The area under a curve, computed from thresholds at equal distances. Shapes: labels and predictions the same. Dtypes: labels are cast to
/// bool, predictions are probabilities. Errors: as for all metrics, and for a number of thresholds out of range; in a run invalid_argument
/// for predictions outside [0, 1]. Source: `auc`.
metric auc(const output& labels, const output& predictions, const auc_options& how = {}, const metric_options& options = {},
           const std::source_location& where = std::source_location::current());

/// The mean over the classes of a class's accuracy: the share of its labels that are predicted correctly. Labels and predictions are
/// classes. Errors: as for all metrics; in a run invalid_argument for labels outside [0, num_classes). Source: `mean_per_class_accuracy`.
metric mean_per_class_accuracy(const output& labels, const output& predictions, std::int32_t num_classes,
                               const metric_options& options = {}, const std::source_location& where = std::source_location::current());
/// The mean, over the classes that occur, of true positives / (true positives + false positives + false negatives). The update returns the
/// confusion matrix. Errors: as for `mean_per_class_accuracy`. Source: `mean_iou`.
metric mean_iou(const output& labels, const output& predictions, std::int32_t num_classes, const metric_options& options = {},
                const std::source_location& where = std::source_location::current());
/// The confusion matrix of all batches, float64 [num_classes, num_classes]: a row for each label, a column for each prediction.
/// Errors: as for `mean_per_class_accuracy`. Source: `_streaming_confusion_matrix`.
metric streaming_confusion_matrix(const output& labels, const output& predictions, std::int32_t num_classes,
                                  const metric_options& options = {}, const std::source_location& where = std::source_location::current());

/// A local variable of zeros in the collections `local_variables` and `metric_variables`, for metrics that a program defines.
/// Source: `metric_variable`.
output metric_variable(const shape_value& extent, dtype type, std::string_view name,
                       const std::source_location& where = std::source_location::current());

}  // namespace leat::metrics

namespace leat {

/// The confusion matrix of one batch, [num_classes, num_classes] of `type`: a row for each label, a column for each prediction.
/// Shapes: labels, predictions, and weights if given, [n]. Dtypes: labels and predictions int32 or int64. Errors in a run: invalid_argument
/// for classes out of range. Source: `confusion_matrix`.
output confusion_matrix(const output& labels, const output& predictions, std::int32_t num_classes, dtype type = dtype::int32,
                        const std::optional<operand_value>& weights = {}, std::string_view name = "confusion_matrix",
                        const std::source_location& where = std::source_location::current());

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/train/named/impl/metrics.hpp>
#endif
