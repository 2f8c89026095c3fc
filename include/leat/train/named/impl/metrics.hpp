#pragma once
// Implementation of named_metrics.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/control/check.hpp>
#include <leat/named/graph/call.hpp>
#include <leat/named/variables/variable_scope.hpp>
#include <leat/train/loss_formulas.hpp>
#include <leat/train/metric_formulas.hpp>
#include <leat/train/named/kit.hpp>
#include <leat/train/named/metrics.hpp>

namespace leat::metrics::detail {

using leat::detail::as_float32;
using leat::detail::named_kit;

// The scope of a metric, in which its variables and nodes are made.
struct metric_scope {
  graph& g;
  default_graph_scope here;
  source_scope line;
  variable_scope names;
  metric_scope(graph& owner, std::string_view name, std::string_view otherwise, const std::source_location& where)
      : g(owner), here(owner), line(owner, where), names(opened(name, otherwise)) {}

 private:
  static variable_scope opened(std::string_view name, std::string_view otherwise) {
    if (!name.empty()) return variable_scope(name);
    return variable_scope(nullptr, {.default_name = std::string(otherwise)});
  }
};

LEAT_FUNCTION metric collected(const metric& made, const metric_options& options) {
  for (const auto& name : options.metrics_collections) add_to_collection(made.value.owner(), name, made.value);
  for (const auto& name : options.updates_collections) add_to_collection(made.update.owner(), name, made.update);
  return made;
}
LEAT_FUNCTION metric_options without_collections(const metric_options& options, std::string_view name = {}) {
  metric_options rest{.weights = options.weights};
  rest.name = name;
  return rest;
}

LEAT_FUNCTION void check_arguments(std::string_view name, std::initializer_list<output> tensors, const metric_options& options) {
  for (const output& t : tensors) {
    leat::detail::check_tensors(name, {t, *tensors.begin()});
    if (options.weights) leat::detail::check_tensors(name, {t, *options.weights});
  }
}

// Labels and predictions of one shape: if one of them has an additional last dimension of 1, it is removed.
struct pair {
  output labels;
  output predictions;
};
LEAT_FUNCTION pair same_rank(const output& labels, const output& predictions) {
  named_part& nodes = labels.owner().named();
  pair made{nodes.value_of(labels), nodes.value_of(predictions)};
  const auto last_may_be_1 = [](const shape& s) { return s.rank > 0 && may_equal(s[s.rank - 1], 1); };
  const shape z = made.labels.extent(), p = made.predictions.extent();
  const bool both = z.has_rank() && p.has_rank();
  const std::vector<std::int64_t> last{-1};
  if (both && p.rank == z.rank + 1 && last_may_be_1(p)) made.predictions = squeeze(made.predictions, last);
  if (both && z.rank == p.rank + 1 && last_may_be_1(z)) made.labels = squeeze(made.labels, last);
  return made;
}
LEAT_FUNCTION void check_pair(const output& labels, const output& predictions) {
  const auto last_may_be_1 = [](const shape& s) { return s.rank > 0 && may_equal(s[s.rank - 1], 1); };
  shape z = labels.extent(), p = predictions.extent();
  if (z.has_rank() && p.has_rank() && p.rank == z.rank + 1 && last_may_be_1(p)) --p.rank;
  if (z.has_rank() && p.has_rank() && z.rank == p.rank + 1 && last_may_be_1(z)) --z.rank;
  for (shape* s : {&z, &p})
    if (s->has_rank() && s->rank < max_rank) s->dim[s->rank] = 0;
  if (!may_equal(z, p)) leat::detail::check_compatible(predictions, labels);
}

// The weights as float32, broadcast to the values; an additional last dimension of 1 is removed.
LEAT_FUNCTION output weights_beside(const operand_value& given, const output& values) {
  graph& g = values.owner();
  output w = as_float32(g, given);
  if (w.extent().has_rank() && values.extent().has_rank() && w.extent().rank == values.extent().rank + 1 &&
      may_equal(w.extent()[w.extent().rank - 1], 1))
    w = squeeze(w, std::vector<std::int64_t>{-1});
  return broadcast_weights(w, values);
}

LEAT_FUNCTION output as_bool(const output& x) { return cast(x.owner().named().value_of(x), dtype::boolean); }

// A counter of samples that meet a condition.
struct hit_counter {
  output count;   // the variable
  output update;  // its value after this batch
};
LEAT_FUNCTION hit_counter count_where(const output& condition, const std::optional<operand_value>& weights) {
  const output count = metric_variable({}, dtype::float32, "count");
  output each = cast(condition, dtype::float32);
  if (weights) each = multiply(each, weights_beside(*weights, each));
  return {count, assign_add(count, leat::detail::sum_of_all(each))};
}

enum class outcome { true_positives, true_negatives, false_positives, false_negatives };
LEAT_FUNCTION std::string_view name_of_outcome(outcome o) {
  switch (o) {
    case outcome::true_positives: return "true_positives";
    case outcome::true_negatives: return "true_negatives";
    case outcome::false_positives: return "false_positives";
    case outcome::false_negatives: return "false_negatives";
  }
  return {};
}
LEAT_FUNCTION output happened(outcome o, const output& labels, const output& predictions) {
  const bool predicted = o == outcome::true_positives || o == outcome::false_positives;
  const bool is = o == outcome::true_positives || o == outcome::false_negatives;
  const output z = is ? labels : logical_not(labels, {});
  const output p = predicted ? predictions : logical_not(predictions, {});
  return logical_and(z, p);
}
// Counts an outcome in a scope of its own. Labels and predictions are bool, of one shape.
LEAT_FUNCTION hit_counter counted(outcome o, const pair& both, const std::optional<operand_value>& weights) {
  const variable_scope names(nullptr, {.default_name = std::string(name_of_outcome(o))});
  return count_where(happened(o, both.labels, both.predictions), weights);
}

LEAT_FUNCTION metric outcome_metric(outcome o, const output& labels, const output& predictions, const metric_options& options,
                                    const std::source_location& where) {
  check_arguments(name_of_outcome(o), {labels, predictions}, options);
  check_pair(labels, predictions);
  const metric_scope scope(labels.owner(), options.name, name_of_outcome(o), where);
  const pair both = same_rank(as_bool(labels), as_bool(predictions));
  const hit_counter c = count_where(happened(o, both.labels, both.predictions), options.weights);
  return collected({scope.g.named().value_of(c.count), c.update}, options);
}

// Precision or recall: true positives / (true positives + samples with the outcome `missed`).
LEAT_FUNCTION metric share_of_hits(std::string_view name, outcome missed, const output& labels, const output& predictions,
                                   const metric_options& options, const std::source_location& where) {
  check_arguments(name, {labels, predictions}, options);
  check_pair(labels, predictions);
  const metric_scope scope(labels.owner(), options.name, name, where);
  const pair both = same_rank(as_bool(labels), as_bool(predictions));
  const hit_counter hits = counted(outcome::true_positives, both, options.weights);
  const hit_counter misses = counted(missed, both, options.weights);
  const output value = formula::share(named_kit{}, hits.count, misses.count, "value");
  const output update = formula::share(named_kit{}, hits.update, misses.update, "update_op");
  return collected({value, update}, options);
}

// The counters of the four outcomes at each threshold.
struct at_thresholds {
  hit_counter hits, false_alarms, rejections, misses;
};
LEAT_FUNCTION hit_counter count_rows(const output& happens, const output& weights, std::int64_t rows, std::string_view name) {
  const output count = metric_variable({rows}, dtype::float32, name);
  output each = cast(happens, dtype::float32);
  if (static_cast<bool>(weights)) each = each * weights;
  return {count, assign_add(count, reduce_sum(each, index_list{1}))};
}
LEAT_FUNCTION at_thresholds outcomes_at(const output& labels, const output& predictions, const std::vector<float>& thresholds,
                                        const std::optional<operand_value>& given) {
  graph& g = labels.owner();
  const pair both = same_rank(as_bool(labels), as_float32(g, predictions));
  output weights;
  const index_list row{std::vector<std::int32_t>{1, -1}};
  if (given) weights = reshape(weights_beside(*given, both.predictions), row);
  const graph_operation not_low = check_greater_equal(both.predictions, 0.0f);
  const graph_operation not_high = check_less_equal(both.predictions, 1.0f);
  const control_dependencies after({not_low, not_high});
  const auto rows = static_cast<std::int64_t>(thresholds.size());
  const output p = reshape(both.predictions, row), z = reshape(both.labels, row);
  const output limits = g.named().make_constant(g, {shape_value({rows, 1}), thresholds}, "thresholds");
  const output predicted = greater(p, limits);
  const output not_predicted = logical_not(predicted, {}), not_labeled = logical_not(z, {});
  return {count_rows(logical_and(z, predicted), weights, rows, "true_positives"),
          count_rows(logical_and(not_labeled, predicted), weights, rows, "false_positives"),
          count_rows(logical_and(not_labeled, not_predicted), weights, rows, "true_negatives"),
          count_rows(logical_and(z, not_predicted), weights, rows, "false_negatives")};
}

LEAT_FUNCTION metric share_at_thresholds(std::string_view name, bool precision, const output& labels, const output& predictions,
                                         const std::vector<float>& thresholds, const metric_options& options,
                                         const std::source_location& where) {
  check_arguments(name, {labels, predictions}, options);
  check_pair(labels, predictions);
  if (thresholds.empty()) throw invalid_argument(std::string(name) + ": no threshold");
  const metric_scope scope(labels.owner(), options.name, name, where);
  const at_thresholds all = outcomes_at(labels, predictions, thresholds, options.weights);
  const hit_counter& missed = precision ? all.false_alarms : all.misses;
  // A denominator of 0 gives 0; TensorFlow adds 1e-7 to the denominator instead.
  const output value = formula::share(named_kit{}, all.hits.count, missed.count, "value");
  const output update = formula::share(named_kit{}, all.hits.update, missed.update, "update_op");
  return collected({value, update}, options);
}

LEAT_FUNCTION output area_under(const auc_options& how, const output& hits, const output& misses, const output& rejections,
                                const output& false_alarms, std::string_view name) {
  constexpr float epsilon = 1e-6f;  // TensorFlow's
  const output some_hits = hits + epsilon;
  const output positives = hits + misses;
  const output recall = some_hits / (positives + epsilon);
  output x, y;
  if (how.curve == curve::roc) {
    const output negatives = false_alarms + rejections;
    x = false_alarms / (negatives + epsilon);
    y = recall;
  } else {
    const output predicted = hits + false_alarms;
    x = recall;
    y = some_hits / (predicted + epsilon);
  }
  const output width = index(x, {along::until(-1)}) - index(x, {along::from(1)});
  const output left = index(y, {along::until(-1)}), right = index(y, {along::from(1)});
  output height;
  switch (how.method) {
    case summation::trapezoidal: height = (left + right) / 2.0f; break;
    case summation::minoring: height = minimum(left, right); break;
    case summation::majoring: height = maximum(left, right); break;
  }
  if (!static_cast<bool>(height)) throw invalid_argument("auc: no such summation method");
  return reduce_sum(width * height, all_axes, keep_dims::no, name);
}

// Class numbers as int64 [n].
LEAT_FUNCTION output as_classes(const output& x) {
  const output classes = cast(x.owner().named().value_of(x), dtype::int64);
  return classes.extent().has_rank() && classes.extent().rank == 1 ? classes : reshape(classes, index_list{std::vector<std::int32_t>{-1}});
}
LEAT_FUNCTION void check_classes(std::string_view name, const output& labels, const output& predictions, std::int32_t num_classes,
                                 const metric_options& options) {
  check_arguments(name, {labels, predictions}, options);
  check_pair(labels, predictions);
  if (num_classes < 1) throw invalid_argument(std::string(name) + ": num_classes is " + std::to_string(num_classes) + ", not 1 or more");
}

}  // namespace leat::metrics::detail

namespace leat {

LEAT_FUNCTION output confusion_matrix(const output& labels, const output& predictions, std::int32_t num_classes, dtype type,
                                      const std::optional<operand_value>& weights, std::string_view name,
                                      const std::source_location& where) {
  detail::check_tensors("confusion_matrix", {labels, predictions});
  if (weights) detail::check_tensors("confusion_matrix", {labels, *weights});
  if (!is_integer(labels.type()) || !is_integer(predictions.type()))
    throw invalid_argument("confusion_matrix: labels and predictions are integers, not " + describe(labels) + " and " +
                           describe(predictions));
  if (num_classes < 1) throw invalid_argument("confusion_matrix: num_classes is " + std::to_string(num_classes) + ", not 1 or more");
  if (!is_number(type)) throw invalid_argument("confusion_matrix: of numbers");
  metrics::detail::check_pair(labels, predictions);
  graph& g = labels.owner();
  const default_graph_scope here(g);
  const source_scope line(g, where);
  const name_scope scope(g, name.empty() ? "confusion_matrix" : name);
  const metrics::detail::pair both = metrics::detail::same_rank(labels, predictions);
  const output z = cast(both.labels, dtype::int64), p = cast(both.predictions, dtype::int64);
  const output at = stack({z, p}, 1);
  output each;
  if (!weights) each = cast(ones_like(p), type);
  else if (weights->tensor() != nullptr) each = cast(g.named().value_of(*weights->tensor()), type);
  else each = g.named().make_constant(g, weights->literal()->as(type), "weights");
  if (weights) each = cast(broadcast_weights(each, p.type() == type ? p : cast(p, type)), type);
  const output sizes = g.named().make_constant(g, std::vector<std::int64_t>{num_classes, num_classes}, "shape");
  return call_operator(g, "ScatterNd", {at, each, sizes}, {}, scope.text()).result();
}

}  // namespace leat

namespace leat::metrics {

LEAT_FUNCTION output metric_variable(const shape_value& extent, dtype type, std::string_view name, const std::source_location& where) {
  if (!extent.is_static()) throw invalid_argument("metric_variable: a shape that is not known: " + leat::shape_text(extent));
  return variable(
      [&] { return zeros_of(extent, type); }, name,
      {.trainable = false, .collections = {std::string(collection::local_variables), std::string(collection::metric_variables)}}, where);
}

LEAT_FUNCTION metric mean(const output& values, const metric_options& options, const std::source_location& where) {
  detail::check_arguments("mean", {values}, options);
  const detail::metric_scope scope(values.owner(), options.name, "mean", where);
  output each = detail::as_float32(scope.g, values);
  const output total = metric_variable({}, dtype::float32, "total", where);
  const output count = metric_variable({}, dtype::float32, "count", where);
  output number;
  if (options.weights) {
    const output weights = detail::weights_beside(*options.weights, each);
    each = multiply(each, weights);
    number = leat::detail::sum_of_all(weights);
  } else {
    number = cast(element_count_of(each), dtype::float32);
  }
  const output new_total = assign_add(total, leat::detail::sum_of_all(each));
  const output new_count = [&] {
    const control_dependencies after({each});
    return assign_add(count, number);
  }();
  const output value = formula::mean(detail::named_kit{}, total, count, "value");
  const output update = formula::mean(detail::named_kit{}, new_total, new_count, "update_op");
  return detail::collected({value, update}, options);
}

LEAT_FUNCTION metric mean_tensor(const output& values, const metric_options& options, const std::source_location& where) {
  detail::check_arguments("mean_tensor", {values}, options);
  if (!values.extent().is_static()) throw invalid_argument("mean_tensor: the shape must be known: " + describe(values));
  const detail::metric_scope scope(values.owner(), options.name, "mean", where);
  output each = detail::as_float32(scope.g, values);
  const output total = metric_variable(each.extent(), dtype::float32, "total_tensor", where);
  const output count = metric_variable(each.extent(), dtype::float32, "count_tensor", where);
  output number = ones_like(each);
  if (options.weights) {
    number = detail::weights_beside(*options.weights, each);
    each = multiply(each, number);
  }
  const output new_total = assign_add(total, each), new_count = assign_add(count, number);
  const output value = formula::mean(detail::named_kit{}, total, count, "value");
  const output update = formula::mean(detail::named_kit{}, new_total, new_count, "update_op");
  return detail::collected({value, update}, options);
}

LEAT_FUNCTION metric accuracy(const output& labels, const output& predictions, const metric_options& options,
                              const std::source_location& where) {
  detail::check_arguments("accuracy", {labels, predictions}, options);
  detail::check_pair(labels, predictions);
  const source_scope line(labels.owner(), where);
  const detail::pair both = detail::same_rank(labels, predictions);
  const output right = cast(equal(cast(both.predictions, both.labels.type()), both.labels), dtype::float32);
  metric_options rest = options;
  if (rest.name.empty()) rest.name = "accuracy";
  return detail::collected(mean(right, detail::without_collections(options, rest.name), where), options);
}

// Metrics that are the mean of an error, computed as float32.
#define LEAT_MEAN_OF_ERRORS(function, formula_name)                                                                 \
  LEAT_FUNCTION metric function(const output& labels, const output& predictions, const metric_options& options,     \
                                const std::source_location& where) {                                                \
    detail::check_arguments(#function, {labels, predictions}, options);                                             \
    detail::check_pair(labels, predictions);                                                                        \
    graph& g = labels.owner();                                                                                      \
    const source_scope line(g, where);                                                                              \
    const detail::pair both = detail::same_rank(detail::as_float32(g, labels), detail::as_float32(g, predictions)); \
    const output errors = losses::formula::formula_name(detail::named_kit{}, both.labels, both.predictions);        \
    const std::string_view name = options.name.empty() ? std::string_view(#function) : options.name;                \
    return detail::collected(mean(errors, detail::without_collections(options, name), where), options);             \
  }
LEAT_MEAN_OF_ERRORS(mean_absolute_error, absolute_difference)
LEAT_MEAN_OF_ERRORS(mean_squared_error, mean_squared_error)
#undef LEAT_MEAN_OF_ERRORS

LEAT_FUNCTION metric root_mean_squared_error(const output& labels, const output& predictions, const metric_options& options,
                                             const std::source_location& where) {
  const std::string_view name = options.name.empty() ? std::string_view("root_mean_squared_error") : options.name;
  const metric squares = mean_squared_error(labels, predictions, detail::without_collections(options, name), where);
  return detail::collected({sqrt(squares.value, {}, where), sqrt(squares.update, {}, where)}, options);
}

LEAT_FUNCTION metric mean_relative_error(const output& labels, const output& predictions, const output& normalizer,
                                         const metric_options& options, const std::source_location& where) {
  detail::check_arguments("mean_relative_error", {labels, predictions, normalizer}, options);
  detail::check_pair(labels, predictions);
  leat::detail::check_compatible(predictions, normalizer);
  graph& g = labels.owner();
  const source_scope line(g, where);
  const detail::pair both = detail::same_rank(detail::as_float32(g, labels), detail::as_float32(g, predictions));
  const output errors = losses::formula::absolute_difference(detail::named_kit{}, both.labels, both.predictions);
  const output relative = detail::named_kit{}.divide_no_nan(errors, detail::as_float32(g, normalizer), "div_no_nan");
  const std::string_view name = options.name.empty() ? std::string_view("mean_relative_error") : options.name;
  return detail::collected(mean(relative, detail::without_collections(options, name), where), options);
}

LEAT_FUNCTION metric mean_cosine_distance(const output& labels, const output& predictions, std::int32_t axis, const metric_options& options,
                                          const std::source_location& where) {
  detail::check_arguments("mean_cosine_distance", {labels, predictions}, options);
  leat::detail::check_compatible(predictions, labels);
  if (const shape& s = predictions.extent(); s.has_rank() && (axis < -s.rank || axis >= s.rank))
    throw invalid_argument("mean_cosine_distance: axis " + std::to_string(axis) + " is out of range for " + describe(predictions));
  graph& g = labels.owner();
  const source_scope line(g, where);
  const output distances = losses::formula::cosine_distance(detail::named_kit{}, detail::as_float32(g, labels),
                                                            detail::as_float32(g, predictions), index_list{axis});
  const std::string_view name = options.name.empty() ? std::string_view("mean_cosine_distance") : options.name;
  return detail::collected(mean(distances, detail::without_collections(options, name), where), options);
}

LEAT_FUNCTION metric percentage_below(const output& values, double threshold, const metric_options& options,
                                      const std::source_location& where) {
  detail::check_arguments("percentage_below", {values}, options);
  const source_scope line(values.owner(), where);
  const output below = less(values, tensor_literal(values.type(), {}, threshold));
  const std::string_view name = options.name.empty() ? std::string_view("percentage_below_threshold") : options.name;
  return detail::collected(mean(cast(below, dtype::float32), detail::without_collections(options, name), where), options);
}

#define LEAT_OUTCOME(function)                                                                                  \
  LEAT_FUNCTION metric function(const output& labels, const output& predictions, const metric_options& options, \
                                const std::source_location& where) {                                            \
    return detail::outcome_metric(detail::outcome::function, labels, predictions, options, where);              \
  }
LEAT_OUTCOME(true_positives)
LEAT_OUTCOME(true_negatives)
LEAT_OUTCOME(false_positives)
LEAT_OUTCOME(false_negatives)
#undef LEAT_OUTCOME

LEAT_FUNCTION metric precision(const output& labels, const output& predictions, const metric_options& options,
                               const std::source_location& where) {
  return detail::share_of_hits("precision", detail::outcome::false_positives, labels, predictions, options, where);
}
LEAT_FUNCTION metric recall(const output& labels, const output& predictions, const metric_options& options,
                            const std::source_location& where) {
  return detail::share_of_hits("recall", detail::outcome::false_negatives, labels, predictions, options, where);
}
LEAT_FUNCTION metric precision_at_thresholds(const output& labels, const output& predictions, const std::vector<float>& thresholds,
                                             const metric_options& options, const std::source_location& where) {
  return detail::share_at_thresholds("precision_at_thresholds", true, labels, predictions, thresholds, options, where);
}
LEAT_FUNCTION metric recall_at_thresholds(const output& labels, const output& predictions, const std::vector<float>& thresholds,
                                          const metric_options& options, const std::source_location& where) {
  return detail::share_at_thresholds("recall_at_thresholds", false, labels, predictions, thresholds, options, where);
}

LEAT_FUNCTION metric auc(const output& labels, const output& predictions, const auc_options& how, const metric_options& options,
                         const std::source_location& where) {
  detail::check_arguments("auc", {labels, predictions}, options);
  detail::check_pair(labels, predictions);
  if (how.num_thresholds < 2 || how.num_thresholds > 1'000'000)
    throw invalid_argument("auc: num_thresholds is " + std::to_string(how.num_thresholds) + ", not 2 to 1,000,000");
  if (how.curve != curve::roc && how.curve != curve::pr) throw invalid_argument("auc: no such curve");
  const detail::metric_scope scope(labels.owner(), options.name, "auc", where);
  // Thresholds go from just below 0 to just above 1, so that each prediction is between two of them.
  std::vector<float> thresholds{-1e-7f};
  for (std::int32_t k = 1; k + 1 < how.num_thresholds; ++k)
    thresholds.push_back(static_cast<float>(static_cast<double>(k) / (how.num_thresholds - 1)));
  thresholds.push_back(1.0f + 1e-7f);
  const detail::at_thresholds all = detail::outcomes_at(labels, predictions, thresholds, options.weights);
  const output value = detail::area_under(how, all.hits.count, all.misses.count, all.rejections.count, all.false_alarms.count, "value");
  const output update =
      detail::area_under(how, all.hits.update, all.misses.update, all.rejections.update, all.false_alarms.update, "update_op");
  return detail::collected({value, update}, options);
}

LEAT_FUNCTION metric mean_per_class_accuracy(const output& labels, const output& predictions, std::int32_t num_classes,
                                             const metric_options& options, const std::source_location& where) {
  detail::check_classes("mean_per_class_accuracy", labels, predictions, num_classes, options);
  const detail::metric_scope scope(labels.owner(), options.name, "mean_accuracy", where);
  const output z = detail::as_classes(labels), p = detail::as_classes(predictions);
  const output total = metric_variable({num_classes}, dtype::float32, "total", where);
  const output count = metric_variable({num_classes}, dtype::float32, "count", where);
  output right = cast(equal(p, z), dtype::float32);
  output ones = ones_like(right);
  if (options.weights) {
    const output flat = reshape(detail::as_float32(scope.g, *options.weights), index_list{std::vector<std::int32_t>{-1}});
    right = right * flat;
    ones = ones * flat;
  }
  const output new_total = call_operator(scope.g, "ScatterAdd", {total, z, ones}).result();
  const output new_count = call_operator(scope.g, "ScatterAdd", {count, z, right}).result();
  const detail::named_kit kit;
  const output per_class = kit.divide_no_nan(scope.g.named().value_of(count), scope.g.named().value_of(total), "div_no_nan");
  const output value = reduce_mean(per_class, all_axes, keep_dims::no, "mean_accuracy");
  const output update = kit.divide_no_nan(new_count, new_total, "update_op");
  return detail::collected({value, update}, options);
}

LEAT_FUNCTION metric streaming_confusion_matrix(const output& labels, const output& predictions, std::int32_t num_classes,
                                                const metric_options& options, const std::source_location& where) {
  detail::check_classes("streaming_confusion_matrix", labels, predictions, num_classes, options);
  const detail::metric_scope scope(labels.owner(), options.name, "confusion_matrix", where);
  const output total = metric_variable({num_classes, num_classes}, dtype::float64, "total_confusion_matrix", where);
  const output z = detail::as_classes(labels), p = detail::as_classes(predictions);
  std::optional<operand_value> weights = options.weights;
  if (weights && weights->tensor() != nullptr && weights->tensor()->extent().rank > 1)
    weights = reshape(*weights->tensor(), index_list{std::vector<std::int32_t>{-1}});
  const output now = confusion_matrix(z, p, num_classes, dtype::float64, weights, {}, where);
  return detail::collected({scope.g.named().value_of(total), assign_add(total, now)}, options);
}

LEAT_FUNCTION metric mean_iou(const output& labels, const output& predictions, std::int32_t num_classes, const metric_options& options,
                              const std::source_location& where) {
  detail::check_classes("mean_iou", labels, predictions, num_classes, options);
  const std::string_view name = options.name.empty() ? std::string_view("mean_iou") : options.name;
  const metric matrix = streaming_confusion_matrix(labels, predictions, num_classes, detail::without_collections(options, name), where);
  graph& g = labels.owner();
  const source_scope line(g, where);
  const name_scope scope(g, name);
  const output all = cast(matrix.value, dtype::float32);
  const output by_prediction = reduce_sum(all, index_list{0}), by_label = reduce_sum(all, index_list{1});
  const output diagonal = [&] {
    std::vector<float> unit(static_cast<std::size_t>(num_classes) * static_cast<std::size_t>(num_classes), 0.0f);
    for (std::size_t k = 0; k < static_cast<std::size_t>(num_classes); ++k) unit[k * static_cast<std::size_t>(num_classes) + k] = 1;
    return reduce_sum(all * g.named().make_constant(g, {shape_value({num_classes, num_classes}), unit}, "identity"), index_list{1});
  }();
  const output both = by_prediction + by_label;
  const output unions = both - diagonal;
  const output occur = reduce_sum(cast(greater(unions, 0.0f), dtype::float32), all_axes);
  const detail::named_kit kit;
  const output shares = kit.divide_no_nan(diagonal, unions, "div_no_nan");
  const output value = kit.divide_no_nan(reduce_sum(shares, all_axes), occur, "mean_iou");
  return detail::collected({value, matrix.update}, options);
}

}  // namespace leat::metrics
