#pragma once
// Implementation of named_nn.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/named/functions/nn.hpp>
#include <leat/named/functions/random.hpp>
#include <leat/named/functions/shape.hpp>
#include <leat/named/functions/slice.hpp>
#include <leat/named/graph/lookup.hpp>

namespace leat {

LEAT_FUNCTION output bias_add(const output& value, const operand_value& bias, std::string_view name, const std::source_location& where) {
  const source_scope line(value.owner(), where);
  const number_argument second = bias.tensor() != nullptr ? number_argument(*bias.tensor()) : number_argument(*bias.literal());
  return call_operator(value.owner(), "BiasAdd", {value, second}, {}, name).result();
}

LEAT_FUNCTION output dropout(const output& x, double rate, std::uint64_t seed, std::string_view name, const std::source_location& where) {
  if (!(rate >= 0 && rate < 1))
    throw invalid_argument("rate must be a scalar tensor or a float in the range [0, 1), got " + std::to_string(rate));
  if (!is_floating(x.type()))
    throw invalid_argument("x has to be a floating point tensor since it's going to be scaled. Got a " + dtype_text(x) +
                           " tensor instead.");
  graph& g = x.owner();
  const source_scope line(g, where);
  const name_scope scope(g, name);
  named_part& nodes = g.named();
  const output t = nodes.value_of(x);
  const output scale = nodes.make_constant(g, {t.type(), {}, 1 / (1 - rate)}, "Const");
  const output scaled = multiply(t, scale, "Mul", where);
  const output sizes = shape_of(t, "Shape", where);
  output uniform;
  {
    const name_scope random(g, "random_uniform");
    uniform = detail::random_node(g, "RandomUniform", sizes, t.extent(), t.type(), seed);
  }
  const output keep = greater_equal(uniform, tensor_literal(t.type(), {}, rate), "GreaterEqual", where);
  const output zero = nodes.make_constant(g, {t.type(), {}, 0}, "Const");
  return select(keep, scaled, zero, "SelectV2", where);
}

LEAT_FUNCTION moments_result moments(const output& x, const std::vector<std::int32_t>& axes, keep_dims keep, std::string_view name,
                                     const std::source_location& where) {
  const name_scope scope(x.owner(), name);
  const output mean = reduce_mean(x, axes, keep_dims::yes, "mean", where);
  const output squares = squared_difference(x, stop_gradient(mean, "StopGradient", where), "SquaredDifference", where);
  const output variance = reduce_mean(squares, axes, keep_dims::yes, "variance", where);
  if (keep == keep_dims::yes) return {mean, variance};
  const std::vector<std::int64_t> gone(axes.begin(), axes.end());
  return {squeeze(mean, gone, "Squeeze", where), squeeze(variance, gone, "Squeeze", where)};
}

LEAT_FUNCTION output l2_normalize(const output& x, std::int32_t axis, double epsilon, std::string_view name,
                                  const std::source_location& where) {
  const name_scope scope(x.owner(), name);
  const output sum = reduce_sum(square(x, "Square", where), index_list{axis}, keep_dims::yes, "Sum", where);
  const output inverse = rsqrt(maximum(sum, tensor_literal(x.type(), {}, epsilon), "Maximum", where), "Rsqrt", where);
  return multiply(x, inverse, scope.text(), where);
}

LEAT_FUNCTION output norm(const output& x, std::string_view name, const std::source_location& where) {
  const name_scope scope(x.owner(), name);
  const source_scope line(x.owner(), where);
  const output sum = reduce_sum(x * x, all_axes, keep_dims::yes, "Sum", where);
  return squeeze(sqrt(sum, "Sqrt", where), std::vector<std::int64_t>{}, "Squeeze", where);
}

LEAT_FUNCTION output batch_normalization(const output& x, const operand_value& mean, const operand_value& variance,
                                         const normalization_options& options, std::string_view name, const std::source_location& where) {
  graph& g = x.owner();
  const name_scope scope(g, name);
  const source_scope line(g, where);
  output inverse;
  if (variance.literal() != nullptr) {
    const tensor_literal sum(x.type(), {}, variance.literal()->number(0) + options.epsilon);
    inverse = rsqrt(g.named().make_literal(g, sum), "Rsqrt", where);
  } else {
    inverse = rsqrt(add(variance, tensor_literal(x.type(), {}, options.epsilon), "add", where), "Rsqrt", where);
  }
  if (options.scale) inverse = multiply(inverse, *options.scale, "mul", where);
  const output scaled = multiply(x, inverse, "mul", where);
  const output shift = multiply(mean, inverse, "mul", where);
  if (options.offset) return add(scaled, subtract(*options.offset, shift, "sub", where), "add", where);
  return subtract(scaled, shift, "sub", where);
}

LEAT_FUNCTION output sigmoid_cross_entropy_with_logits(const output& labels, const output& logits, std::string_view name,
                                                       const std::source_location& where) {
  if (!may_equal(labels.extent(), logits.extent()))
    throw invalid_argument("logits and labels must have the same shape (" + leat::shape_text(logits.extent()) + " vs " +
                           leat::shape_text(labels.extent()) + ")");
  const name_scope scope(logits.owner(), name);
  const source_scope line(logits.owner(), where);
  const output zeros_there = zeros_like(logits, "zeros_like", where);
  const output positive = greater_equal(logits, zeros_there, "GreaterEqual", where);
  const output kept = choose(positive, logits, zeros_there, "Select", where);
  const output negative_magnitude = choose(positive, negative(logits), logits, "Select", where);
  const output without_log = kept - logits * labels;
  return add(without_log, log1p(exp(negative_magnitude, "Exp", where), "Log1p", where), scope.text(), where);
}

}  // namespace leat

namespace leat::detail {

// x as a matrix whose rows are its last dimension, as `sparse_softmax_cross_entropy_with_logits` takes it.
LEAT_FUNCTION output rows_of_classes(const output& x, const std::source_location& where) {
  graph& g = x.owner();
  named_part& nodes = g.named();
  const output sizes = shape_of(x, "Shape", where);
  const output last = subtract(rank_of(x, "Rank", where), std::int32_t{1}, "sub", where);
  const output after = add(last, std::int32_t{1}, "add", where);
  output classes;
  {
    const name_scope scope(g, "strided_slice");
    const output begin = call_operator(g, "Pack", {last}, {}, "stack").result();
    const output end = call_operator(g, "Pack", {after}, {}, "stack").result();
    const output step = nodes.make_constant(g, std::vector<std::int32_t>{1}, "stack");
    classes = strided_slice(sizes, begin, end, step, {.shrink_axis_mask = 1}, scope.text(), where);
  }
  output whole;
  {
    const name_scope scope(g, "Reshape");
    const name_scope inner(g, "shape");
    const output any = nodes.make_constant(g, std::int32_t{-1}, "0");
    whole = call_operator(g, "Pack", {any, classes}, {}, inner.text()).result();
    const output rows = reshape(x, whole, scope.text(), where);
    if (x.extent().has_rank() && x.extent().rank > 0) set_shape(rows, {unknown_dimension, x.extent()[x.extent().rank - 1]});
    return rows;
  }
}

// Moves an axis of x to the end by a transpose; the other axes keep their order. The nodes are TensorFlow's.
LEAT_FUNCTION output with_axis_last(const output& x, std::int32_t axis, const output& rank, const std::source_location& where) {
  graph& g = x.owner();
  const output before = range(0, axis, 1, "range", where);
  output after;
  {
    const name_scope scope(g, "range");
    const output start = g.named().make_constant(g, axis + 1, "start");
    const output delta = g.named().make_constant(g, std::int32_t{1}, "delta");
    after = call_operator(g, "Range", {start, rank, delta}, {}, scope.text()).result();
  }
  output order;
  {
    const name_scope scope(g, "concat");
    const output last = g.named().make_constant(g, std::vector<std::int32_t>{axis}, "values_2");
    const output all[]{before, after, last};
    const std::int64_t numbers[]{0};
    order = g.named().build(g, info_of<concat_op>, all, numbers, scope.text());
  }
  return transpose(x, order, {}, where);
}

LEAT_FUNCTION output rows_of(const output& x, const std::source_location& where) {
  graph& g = x.owner();
  named_part& nodes = g.named();
  const output rank = rank_of(x, "Rank", where);
  const output sizes = shape_of(x, "Shape", where);
  const output before_last = subtract(rank, std::int32_t{1}, "Sub", where);
  output part;
  {
    const name_scope scope(g, "Slice");
    const output begin = call_operator(g, "Pack", {before_last}, {}, "begin").result();
    const output size = nodes.make_constant(g, std::vector<std::int32_t>{1}, "size");
    part = slice(sizes, begin, size, scope.text(), where);
  }
  output whole;
  {
    const name_scope scope(g, "concat");
    const output any = nodes.make_constant(g, std::vector<std::int32_t>{-1}, "values_0");
    const output both[]{any, part};
    const std::int64_t numbers[]{0};
    whole = nodes.build(g, info_of<concat_op>, both, numbers, scope.text());
  }
  return reshape(x, whole, "Reshape", where);
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION output softmax_cross_entropy_with_logits(const output& labels, const output& logits, std::string_view name,
                                                       const std::source_location& where) {
  return softmax_cross_entropy_with_logits(labels, logits, -1, name, where);
}

LEAT_FUNCTION output softmax_cross_entropy_with_logits(const output& labels, const output& logits, std::int32_t axis, std::string_view name,
                                                       const std::source_location& where) {
  graph& g = logits.owner();
  named_part& nodes = g.named();
  const shape& extent = logits.extent();
  if (axis != -1 && !extent.has_rank())
    throw invalid_argument("softmax_cross_entropy_with_logits: along axis " + std::to_string(axis) +
                           " of unknown rank: " + describe(logits));
  if (extent.has_rank() && (axis < -extent.rank || axis >= extent.rank))
    throw invalid_argument("softmax_cross_entropy_with_logits: axis " + std::to_string(axis) + " is out of range for " + describe(logits));
  const source_scope line(g, where);
  const name_scope scope(g, name.empty() ? "softmax_cross_entropy_with_logits" : name);
  output x = nodes.value_of(logits);
  output z = nodes.value_of(labels);
  const output rank = rank_of(x, "Rank", where);
  if (axis != -1) {
    const std::int32_t from = axis < 0 ? axis + extent.rank : axis;
    x = detail::with_axis_last(x, from, rank, where);
    z = detail::with_axis_last(z, from, rank, where);
  }
  const output sizes = shape_of(x, "Shape", where);
  const output rows = detail::rows_of(x, where);
  const output label_rows = detail::rows_of(z, where);
  const output both[]{rows, label_rows};
  const output costs = nodes.build(g, info_of<softmax_cross_entropy_op>, both, {}, scope.text());
  const output before_last = subtract(rank, std::int32_t{1}, "Sub", where);
  output outer;
  {
    const name_scope part(g, "Slice");
    const output begin = nodes.make_constant(g, std::vector<std::int32_t>{0}, "begin");
    const output size = call_operator(g, "Pack", {before_last}, {}, "size").result();
    outer = slice(sizes, begin, size, part.text(), where);
  }
  const output shaped = reshape(costs, outer, "Reshape", where);
  if (x.extent().has_rank()) {
    shape known = x.extent();
    known.dim[--known.rank] = 0;
    set_shape(shaped, known);
  }
  return shaped;
}

LEAT_FUNCTION output sparse_softmax_cross_entropy_with_logits(const operand_value& labels, const output& logits, std::string_view name,
                                                              const std::source_location& where) {
  graph& g = logits.owner();
  named_part& nodes = g.named();
  const source_scope line(g, where);
  const name_scope scope(g, name.empty() ? "SparseSoftmaxCrossEntropyWithLogits" : name);
  const output ids = labels.tensor() != nullptr ? nodes.value_of(*labels.tensor()) : nodes.make_constant(g, *labels.literal(), "Const");
  const output sizes = shape_of(ids, "Shape", where);
  const output x = nodes.value_of(logits);
  const output both[]{x, ids};
  const std::string_view node = name.empty() ? sparse_softmax_cross_entropy_op::type : name;
  if (x.extent().rank == 2) return nodes.build(g, info_of<sparse_softmax_cross_entropy_op>, both, {}, node);
  const output rows = detail::rows_of_classes(x, where);
  const output flat = reshape(ids, index_list{std::vector<std::int32_t>{-1}}, "Reshape", where);
  const output flat_both[]{rows, flat};
  const output costs = nodes.build(g, info_of<sparse_softmax_cross_entropy_op>, flat_both, {}, node);
  const output shaped = reshape(costs, sizes, "Reshape", where);
  if (ids.extent().has_rank()) set_shape(shaped, ids.extent());
  return shaped;
}

LEAT_FUNCTION output conv2d(const output& images, const output& filters, const std::vector<std::int64_t>& strides, padding p,
                            std::string_view name, const std::source_location& where) {
  const source_scope line(images.owner(), where);
  attribute_map attributes = detail::window_attributes(strides, p);
  attributes["dilations"] = std::vector<std::int64_t>{1, 1, 1, 1};
  return call_operator(images.owner(), "Conv2D", {images, filters}, std::move(attributes), name).result();
}

LEAT_FUNCTION output max_pool(const output& images, const std::vector<std::int64_t>& window, const std::vector<std::int64_t>& strides,
                              padding p, std::string_view name, const std::source_location& where) {
  const source_scope line(images.owner(), where);
  attribute_map attributes = detail::window_attributes(strides, p);
  attributes["ksize"] = window;
  return call_operator(images.owner(), "MaxPool", {images}, std::move(attributes), name).result();
}

LEAT_FUNCTION output avg_pool(const output& images, const std::vector<std::int64_t>& window, const std::vector<std::int64_t>& strides,
                              padding p, std::string_view name, const std::source_location& where) {
  const source_scope line(images.owner(), where);
  attribute_map attributes = detail::window_attributes(strides, p);
  attributes["ksize"] = window;
  return call_operator(images.owner(), "AvgPool", {images}, std::move(attributes), name).result();
}

}  // namespace leat

namespace leat::detail {

LEAT_FUNCTION attribute_map window_attributes(std::vector<std::int64_t> strides, padding p) {
  return {{"strides", std::move(strides)}, {"padding", p == padding::same ? "SAME" : "VALID"}, {"data_format", "NHWC"}};
}

}  // namespace leat::detail
