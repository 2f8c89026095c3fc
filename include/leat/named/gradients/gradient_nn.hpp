#pragma once
// Gradients of activations, biases, convolutions, pooling and cross entropies in graphs with names, node for node as TensorFlow
// 1.x writes them. Source: TensorFlow's gradients of the operators of the same names.

#include <leat/core/fill.hpp>
#include <leat/named/functions/named_slice.hpp>
#include <leat/named/gradients/gradient_array.hpp>

namespace leat::detail {

inline gradient_list gradient_of_relu(const gradient_call& c) { return of_own_operator(c, "ReluGrad", c.dy(), c.result()); }
inline gradient_list gradient_of_relu6(const gradient_call& c) { return of_own_operator(c, "Relu6Grad", c.dy(), c.result()); }
inline output leaky_relu_grad_node(const gradient_call& c, const output& dy, const output& x) {
  attribute_map attributes = c.attributes({"alpha", "T"});
  if (!attributes.contains("alpha")) attributes["alpha"] = static_cast<float>(leaky_relu_op::usual_alpha);
  attributes["T"] = dy.type();
  return gradient_node("LeakyReluGrad", {dy, x}, std::move(attributes), info_like(x));
}
inline gradient_list gradient_of_leaky_relu(const gradient_call& c) { return {leaky_relu_grad_node(c, c.dy(), c.input(0))}; }
inline gradient_list gradient_of_leaky_relu_grad(const gradient_call& c) {
  const output dy = c.dy();
  const output further = leaky_relu_grad_node(c, dy, c.input(1));
  return {further, zeros_in_shape_of(c.input(1))};
}
/// Of ReluGrad and Relu6Grad, whose second input decides only what passes.
inline gradient_list gradient_of_step(const gradient_call& c) {
  const output dy = c.dy();
  const output x = c.input(1);
  const output further = gradient_node(c.operation().type(), {dy, x}, {{"T", dy.type()}}, info_like(x));
  return {further, zeros_in_shape_of(x)};
}
inline gradient_list gradient_of_elu(const gradient_call& c) { return of_own_operator(c, "EluGrad", c.dy(), c.result()); }
inline gradient_list gradient_of_elu_grad(const gradient_call& c) {
  const output dy = c.dy();
  const output y = c.input(1);
  const output further = gradient_node("EluGrad", {dy, y}, {{"T", dy.type()}}, info_like(y));
  const output below = less(y, 0.0f);
  const output product = dy * c.input(0);
  return {further, select_rows(below, product, zeros_in_shape_of(y))};
}
inline gradient_list gradient_of_selu(const gradient_call& c) { return of_own_operator(c, "SeluGrad", c.dy(), c.result()); }
inline gradient_list gradient_of_selu_grad(const gradient_call& c) {
  const output dy = c.dy();
  const output y = c.input(1);
  const output further = gradient_node("SeluGrad", {dy, y}, {{"T", dy.type()}}, info_like(y));
  const output below = less(y, 0.0f);
  const output product = dy * c.input(0);
  return {further, select_rows(below, product, zeros_like(y))};
}
inline gradient_list gradient_of_softsign(const gradient_call& c) { return of_own_operator(c, "SoftsignGrad", c.dy(), c.input(0)); }
inline gradient_list gradient_of_softplus(const gradient_call& c) { return of_own_operator(c, "SoftplusGrad", c.dy(), c.input(0)); }
inline gradient_list gradient_of_softplus_grad(const gradient_call& c) {
  const output dy = c.dy();
  const control_dependencies wait({dy});
  const output x = c.input(1);
  const output further = gradient_node("SoftplusGrad", {dy, x}, {{"T", dy.type()}}, info_like(x));
  const output product = dy * c.input(0);
  const output minus = -x;
  const output part = exp(minus, {}) + 2.0f;
  const output sum = part + exp(x, {});  // (1 + e^x)² / e^x
  return {further, product / sum};
}

inline gradient_list gradient_of_bias_add(const gradient_call& c) {
  const output dy = c.dy();
  attribute_map attributes = c.attributes({"data_format", "T"});
  attributes["T"] = dy.type();
  if (!attributes.contains("data_format")) attributes["data_format"] = "NHWC";
  return {dy, gradient_node("BiasAddGrad", {dy}, std::move(attributes), info_like(c.input(1)))};
}

/// The first form: the channels are the last axis.
inline gradient_list gradient_of_bias_add_v1(const gradient_call& c) {
  const output dy = c.dy();
  graph& g = c.owner();
  const output last = rank_of(dy) - 1;
  output axes;
  {
    const name_scope scope(g, "range");
    const output start = g.named().make_constant(g, std::int32_t{0}, "start");
    const output delta = g.named().make_constant(g, std::int32_t{1}, "delta");
    axes = call_operator(g, "Range", {start, last, delta}, {}, scope.text()).result();
  }
  return {dy, reduce_sum(dy, axes)};
}

/// Of the sum over all axes but the channels: the same for every element of a channel.
inline gradient_list gradient_of_bias_add_grad(const gradient_call& c) {
  const output dy = c.dy();
  const output extent = shape_of(c.input(0));
  const output bias_shape = shape_of(dy);
  const auto* format = c.operation().attributes().find("data_format");
  const auto* text = format != nullptr ? format->get_if<std::string>() : nullptr;
  const output one = c.owner().named().make_constant(c.owner(), tensor_literal({1}), "Const");
  const number_argument first = tensor_literal(std::int32_t{0});
  output expanded, times;
  if (text != nullptr && text->starts_with("NC")) {
    const output before = index(extent, {along::until(1)});
    const output behind = index(extent, {along::from(2)});
    expanded = concat_node({ones_like_nodes(before), bias_shape, ones_like_nodes(behind)}, first);
    times = concat_node({before, one, behind}, first);
  } else {
    const output before = index(extent, {along::until(-1)});
    expanded = concat_node({ones_like_nodes(before), bias_shape}, first);
    times = concat_node({before, one}, first);
  }
  return {tile_node(reshape(dy, expanded), times, c.input(0).extent())};
}

inline gradient_list gradient_of_softmax(const gradient_call& c) {
  const output dy = c.dy();
  const output y = c.result();
  const output product = dy * y;
  const output total = reduce_sum(product, index_list(-1), keep_dims::yes);
  const output centered = dy - total;
  return {centered * y};
}
inline gradient_list gradient_of_log_softmax(const gradient_call& c) {
  const output dy = c.dy();
  const output probabilities = exp(c.result(), {});
  const output total = reduce_sum(dy, index_list(-1), keep_dims::yes);
  const output part = total * probabilities;
  return {dy - part};
}

// The rows of a matrix, multiplied by the elements of a vector.
inline output by_rows(const output& vector, const output& matrix) { return expand_dims(vector, -1) * matrix; }
inline bool is_zeros(const output& o) { return o.operation().type() == "ZerosLike" || o.operation().type() == "Zeros"; }

inline gradient_list gradient_of_softmax_cross_entropy(const gradient_call& c) {
  const output dy = c.dy();
  const repeated_axes axes = axes_repeated(c.input(0).extent(), c.input(1).extent());
  const bool repeats = axes.known && (!axes.x.empty() || !axes.y.empty() || c.input(0).extent().rank != c.input(1).extent().rank);
  const output logits = repeats ? broadcast_to(c.input(0), shape_of(c.result(1)), {}) : c.input(0);
  const output dlogits = by_rows(dy, c.result(1));
  const output further = c.all().size() > 1 ? c.dy(1) : output{};
  output all = dlogits;
  if (static_cast<bool>(further) && !is_zeros(further)) {  // of a gradient: the second result is softmax - labels
    const output y = softmax(logits, {});
    const output total = reduce_sum(further * y, index_list(-1), keep_dims::yes);
    const output centered = further - total;
    all = dlogits + centered * y;
  }
  const output minus = -log_softmax(logits, {});
  const output dlabels = by_rows(dy, minus);
  if (repeats) return reduced(c, all, dlabels);  // TensorFlow refuses such a gradient
  return {all, dlabels};
}
inline gradient_list gradient_of_sparse_softmax_cross_entropy(const gradient_call& c) {
  const output dy = c.dy();
  const output further = c.all().size() > 1 ? c.dy(1) : output{};
  const output dlogits = by_rows(dy, c.result(1));
  if (!static_cast<bool>(further) || is_zeros(further)) return {dlogits};
  const output y = softmax(c.input(0), {});
  const output total = reduce_sum(further * y, index_list(-1), keep_dims::yes);
  const output centered = further - total;
  return {dlogits + centered * y};
}

// ---- images -----------------------------------------------------------------------------------------------------------

inline gradient_list gradient_of_conv2d(const gradient_call& c) {
  const output dy = c.dy();
  graph& g = c.owner();
  const output image = c.input(0);
  const output filter = c.input(1);
  const auto ranks = [](const output& o) { return tensor_info{dtype::int32, vector_of(o.extent().has_rank() ? o.extent().rank : 4)}; };
  output shapes[2];
  if (image.extent().is_static() && filter.extent().is_static()) {
    shapes[0] = shape_of(image);
    shapes[1] = shape_of(filter);
  } else {
    const graph_operation both = g.named().raw(g, "ShapeN", std::array{image, filter},
                                               {{"N", 2}, {"T", image.type()}, {"out_type", dtype::int32}}, {ranks(image), ranks(filter)});
    shapes[0] = both.result(0);
    shapes[1] = both.result(1);
  }
  const attribute_map settings =
      c.attributes({"dilations", "strides", "padding", "explicit_paddings", "use_cudnn_on_gpu", "data_format", "T"});
  const output by_image =
      g.named().raw(g, "Conv2DBackpropInput", std::array{shapes[0], filter, dy}, settings, {info_like(image)}).result();
  return {by_image, g.named().raw(g, "Conv2DBackpropFilter", std::array{image, shapes[1], dy}, settings, {info_like(filter)}).result()};
}
inline gradient_list gradient_of_max_pool(const gradient_call& c) {
  const output dy = c.dy();
  graph& g = c.owner();
  return {g.named()
              .raw(g, "MaxPoolGrad", std::array{c.input(0), c.result(), dy},
                   c.attributes({"ksize", "strides", "padding", "explicit_paddings", "data_format", "T"}), {info_like(c.input(0))})
              .result()};
}
inline gradient_list gradient_of_average_pool(const gradient_call& c) {
  const output dy = c.dy();
  graph& g = c.owner();
  const output its_shape = shape_of(c.input(0));
  return {g.named()
              .raw(g, "AvgPoolGrad", std::array{its_shape, dy}, c.attributes({"ksize", "strides", "padding", "data_format", "T"}),
                   {info_like(c.input(0))})
              .result()};
}

LEAT_FILL(fill_nn_gradients) {
  enter_gradients({
    {"Relu", gradient_of_relu}, {"Relu6", gradient_of_relu6}, {"LeakyRelu", gradient_of_leaky_relu},
    {"LeakyReluGrad", gradient_of_leaky_relu_grad}, {"ReluGrad", gradient_of_step}, {"Relu6Grad", gradient_of_step},
    {"Elu", gradient_of_elu}, {"EluGrad", gradient_of_elu_grad}, {"Softplus", gradient_of_softplus},
    {"SoftplusGrad", gradient_of_softplus_grad},
    {"Selu", gradient_of_selu}, {"SeluGrad", gradient_of_selu_grad}, {"Softsign", gradient_of_softsign},
    {"BiasAdd", gradient_of_bias_add}, {"BiasAddV1", gradient_of_bias_add_v1}, {"BiasAddGrad", gradient_of_bias_add_grad},
    {"Softmax", gradient_of_softmax}, {"LogSoftmax", gradient_of_log_softmax},
    {"SoftmaxCrossEntropyWithLogits", gradient_of_softmax_cross_entropy},
    {"SparseSoftmaxCrossEntropyWithLogits", gradient_of_sparse_softmax_cross_entropy},
    {"Conv2D", gradient_of_conv2d}, {"MaxPool", gradient_of_max_pool}, {"AvgPool", gradient_of_average_pool},
});
}

}  // namespace leat::detail
