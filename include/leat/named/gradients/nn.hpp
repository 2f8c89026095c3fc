#pragma once
// Gradients of activations, biases, convolutions and cross entropies in graphs with names, node for node as TensorFlow 1.x makes
// them. Source: TensorFlow's gradients of the operators of the same names.

#include <leat/core/fill.hpp>
#include <leat/named/definitions/window_attributes.hpp>
#include <leat/named/functions/slice.hpp>
#include <leat/named/gradients/array.hpp>

namespace leat::detail {


inline gradient_list gradient_of_bias_add(const gradient_call& c) {
  const output dy = c.dy();
  attribute_map attributes = c.attributes({"data_format", "T"});
  attributes["T"] = dy.type();
  if (!attributes.contains("data_format")) attributes["data_format"] = "NHWC";
  return {dy, gradient_node("BiasAddGrad", {dy}, std::move(attributes), info_like(c.input(1)))};
}

/// The first version of the operator, in which the channels are always the last axis.
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

/// The gradient of a sum over all axes but the channels: the same for every element of a channel.
inline gradient_list gradient_of_bias_add_grad(const gradient_call& c) {
  const output dy = c.dy();
  const output extent = shape_of(c.input(0));
  const output bias_shape = shape_of(dy);
  const output one = c.owner().named().make_constant(c.owner(), tensor_literal({1}), "Const");
  const number_argument first = tensor_literal(std::int32_t{0});
  output expanded, times;
  if (is_channels_first(c.operation().attributes().find("data_format"))) {
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


// The rows of a matrix, each multiplied by an element of a vector.
inline output by_rows(const output& vector, const output& matrix) { return expand_dims(vector, -1) * matrix; }
inline bool is_zeros(const output& o) { return o.owner().at(o.index()).op->what.is_zero; }

inline gradient_list gradient_of_softmax_cross_entropy(const gradient_call& c) {
  const output dy = c.dy();
  const repeated_axes axes = axes_repeated(c.input(0).extent(), c.input(1).extent());
  const bool repeats = axes.known && (!axes.x.empty() || !axes.y.empty() || c.input(0).extent().rank != c.input(1).extent().rank);
  const output logits = repeats ? broadcast_to(c.input(0), shape_of(c.result(1)), {}) : c.input(0);
  const output dlogits = by_rows(dy, c.result(1));
  const output further = c.all().size() > 1 ? c.dy(1) : output{};
  output all = dlogits;
  if (static_cast<bool>(further) && !is_zeros(further)) {  // for second derivatives: the second result is softmax - labels
    const output y = softmax(logits, {});
    const output total = reduce_sum(further * y, index_list(-1), keep_dims::yes);
    const output centered = further - total;
    all = dlogits + centered * y;
  }
  const output minus = -log_softmax(logits, {});
  const output dlabels = by_rows(dy, minus);
  if (repeats) return reduced(c, all, dlabels);  // TensorFlow raises an error for such a gradient
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

// A convolution, or one of its gradients, with this node's settings.
inline output convolution_node(const gradient_call& c, std::string_view type, const std::vector<output>& inputs,
                               const tensor_info& result) {
  return c.owner()
      .named()
      .raw(c.owner(), type, inputs,
           c.attributes({"dilations", "strides", "padding", "explicit_paddings", "use_cudnn_on_gpu", "data_format", "T"}), {result})
      .result();
}
// The operators of a convolution and its two gradients.
struct convolution_types {
  std::string_view forward, to_images, to_filters;
};
inline constexpr convolution_types image_convolution{"Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"};
inline constexpr convolution_types channel_convolution{"DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropInput",
                                                       "DepthwiseConv2dNativeBackpropFilter"};
inline constexpr convolution_types volume_convolution{"Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2"};

template <const convolution_types& Types>
gradient_list gradient_of_convolution(const gradient_call& c) {
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
  const output by_image = convolution_node(c, Types.to_images, {shapes[0], filter, dy}, info_like(image));
  return {by_image, convolution_node(c, Types.to_filters, {image, shapes[1], dy}, info_like(filter))};
}
/// The gradients of the two gradients of a convolution: what they are linear in is convolved with the other.
template <const convolution_types& Types>
gradient_list gradient_of_back_to_images(const gradient_call& c) {
  const output dy = c.dy(), filter = c.input(1), slope = c.input(2);
  const output by_filter = convolution_node(c, Types.to_filters, {dy, shape_of(filter), slope}, info_like(filter));
  return {{}, by_filter, convolution_node(c, Types.forward, {dy, filter}, info_like(slope))};
}
template <const convolution_types& Types>
gradient_list gradient_of_back_to_filters(const gradient_call& c) {
  const output dy = c.dy(), image = c.input(0), slope = c.input(2);
  const output by_image = convolution_node(c, Types.to_images, {shape_of(image), dy, slope}, info_like(image));
  return {by_image, {}, convolution_node(c, Types.forward, {image, dy}, info_like(slope))};
}
LEAT_FILL(fill_nn_gradients) {
  enter_gradients({
    {"Relu", class_gradient<relu_op>}, {"Relu6", class_gradient<relu6_op>}, {"LeakyRelu", class_gradient<leaky_relu_op>},
    {"LeakyReluGrad", class_gradient<leaky_relu_grad_op>}, {"ReluGrad", class_gradient<relu_grad_op>},
    {"Relu6Grad", class_gradient<relu6_grad_op>},
    {"Elu", class_gradient<elu_op>}, {"EluGrad", class_gradient<elu_grad_op>}, {"Softplus", class_gradient<softplus_op>},
    {"SoftplusGrad", class_gradient<softplus_grad_op>},
    {"Selu", class_gradient<selu_op>}, {"SeluGrad", class_gradient<selu_grad_op>}, {"Softsign", class_gradient<softsign_op>},
    {"BiasAdd", gradient_of_bias_add}, {"BiasAddV1", gradient_of_bias_add_v1}, {"BiasAddGrad", gradient_of_bias_add_grad},
    {"Softmax", class_gradient<softmax_op>}, {"LogSoftmax", class_gradient<log_softmax_op>},
    {"SoftmaxCrossEntropyWithLogits", gradient_of_softmax_cross_entropy},
    {"SparseSoftmaxCrossEntropyWithLogits", gradient_of_sparse_softmax_cross_entropy},
    {image_convolution.forward, gradient_of_convolution<image_convolution>},
    {image_convolution.to_images, gradient_of_back_to_images<image_convolution>},
    {image_convolution.to_filters, gradient_of_back_to_filters<image_convolution>},
    {channel_convolution.forward, gradient_of_convolution<channel_convolution>},
    {channel_convolution.to_images, gradient_of_back_to_images<channel_convolution>},
    {channel_convolution.to_filters, gradient_of_back_to_filters<channel_convolution>},
    {volume_convolution.forward, gradient_of_convolution<volume_convolution>},
    {volume_convolution.to_images, gradient_of_back_to_images<volume_convolution>},
    {volume_convolution.to_filters, gradient_of_back_to_filters<volume_convolution>},
});
}

}  // namespace leat::detail
