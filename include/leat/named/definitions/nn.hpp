#pragma once
// Definitions of operators of neural networks and training graphs that have no typed form: biases, gradients of activations, convolutions,
// pooling, batched matrix products, summaries.

#include <leat/core/fill.hpp>
#include <leat/named/definitions/shapes.hpp>
#include <leat/named/definitions/window_attributes.hpp>

namespace leat::detail {

inline void batch_product_shape(shape_context& c) {
  const shape& a = c.input(0).extent;
  const shape& b = c.input(1).extent;
  if (!a.has_rank() || !b.has_rank()) return;
  if (a.rank < 2 || b.rank < 2) c.fail("Shape must be at least rank 2: " + leat::shape_text(a) + " and " + leat::shape_text(b));
  const bool ta = c.flag("adj_x"), tb = c.flag("adj_y");
  const auto inner_a = a[a.rank - (ta ? 2 : 1)], inner_b = b[b.rank - (tb ? 1 : 2)];
  if (inner_a >= 0 && inner_b >= 0 && inner_a != inner_b)
    c.fail("Dimensions must be equal, but are " + std::to_string(inner_a) + " and " + std::to_string(inner_b));
  shape result;
  const int rank = std::max(a.rank, b.rank);
  for (int i = 0; i < rank - 2; ++i) {
    const auto x = i < rank - a.rank ? 1 : a[i - (rank - a.rank)];
    const auto y = i < rank - b.rank ? 1 : b[i - (rank - b.rank)];
    if (x >= 0 && y >= 0 && x != y && x != 1 && y != 1)
      c.fail("Incompatible shapes: " + leat::shape_text(a) + " vs. " + leat::shape_text(b));
    result.push(x == 1 ? y : y == 1 ? x : x >= 0 ? x : y);
  }
  result.push(a[a.rank - (ta ? 1 : 2)]);
  result.push(b[b.rank - (tb ? 2 : 1)]);
  c.set(0, result);
}

inline std::int64_t attribute_at(const shape_context& c, std::string_view name, int k, std::int64_t otherwise) {
  const auto* a = c.attribute(name);
  const auto* list = a != nullptr ? a->get_list<std::int64_t>() : nullptr;
  return list != nullptr && static_cast<std::size_t>(k) < list->size() ? (*list)[static_cast<std::size_t>(k)] : otherwise;
}
// The number of positions of a window along one dimension; unknown as long as a size is.
inline std::int64_t windows(const shape_context& c, std::int64_t size, std::int64_t window, std::int64_t stride,
                            std::int64_t dilation = 1) {
  const auto padding = window_padding_of(c.attribute("padding"));
  if (stride <= 0 || !padding || *padding == window_padding::listed) return unknown_dimension;
  const counted_windows found =
      count_windows({.size = size, .window = window, .stride = stride, .dilation = dilation}, *padding, {0, 0});
  if (found.fit == window_fit::too_large) {
    if (dilation != 1) c.fail("dilation " + std::to_string(dilation) + " of a filter of " + std::to_string(window));
    c.fail("a window of " + std::to_string(window) + " elements");
  }
  if (found.fit == window_fit::larger_than_image)
    c.fail("Negative dimension size caused by subtracting " + std::to_string(window_axis{.window = window, .dilation = dilation}.span()) +
           " from " + std::to_string(size));
  return found.count;
}
inline bool channels_first(const shape_context& c) { return is_channels_first(c.attribute("data_format")); }
/// Images [batch, h, w, channels], or volumes [batch, d, h, w, channels], with `Axes` axes of space.
template <int Axes, bool IsDepthwise = false>
void convolved_shape(shape_context& c) {
  shapes::want_rank(c, 0, Axes + 2);
  shapes::want_rank(c, 1, Axes + 2);
  const shape& image = c.input(0).extent;
  if (!image.has_rank() || !c.input(1).extent.has_rank()) return;
  const shape filter = IsDepthwise ? depthwise_filter(c.input(1).extent) : c.input(1).extent;
  const int space = channels_first(c) ? 2 : 1, channel = channels_first(c) ? 1 : Axes + 1;
  if (!fit_groups(image[channel], filter[Axes]))
    c.fail("Depth of input (" + std::to_string(image[channel]) + ") is not a multiple of input depth of filter (" +
           std::to_string(filter[Axes]) + ")");
  c.set(0, shape_of_windows(image, space, Axes, channel, filter[Axes + 1], [&](int i) {
          const auto dilation = attribute_at(c, "dilations", space + i, 1);
          if (dilation < 1) c.fail("dilation " + std::to_string(dilation) + " of a filter of " + std::to_string(filter[i]));
          return windows(c, image[space + i], filter[i], attribute_at(c, "strides", space + i, 1), dilation);
        }));
}
/// Arrays of this rank in windows of `ksize`; all results have the same shape.
template <int Rank>
void pooled_shape(shape_context& c) {
  shapes::want_rank(c, 0, Rank);
  const shape& image = c.input(0).extent;
  if (!image.has_rank()) return;
  shape result = image;
  for (int i = 0; i < Rank; ++i) {
    const std::int64_t window = attribute_at(c, "ksize", i, 1), stride = attribute_at(c, "strides", i, 1);
    if (window != 1 || stride != 1) result.dim[i] = windows(c, image[i], window, stride);
  }
  c.set_all(result);
}
/// As `pooled_shape<4>`, where inputs 1 and 2 hold the window and the strides.
inline void pooled_by_inputs_shape(shape_context& c) {
  shapes::want_rank(c, 0, 4);
  const shape& image = c.input(0).extent;
  if (!image.has_rank()) return;
  const auto window = c.numbers(1), stride = c.numbers(2);
  shape result = image;
  for (std::size_t i = 0; i < 4; ++i) {
    const bool is_known = window && stride && i < window->size() && i < stride->size() && (*window)[i] > 0 && (*stride)[i] > 0;
    const auto axis = static_cast<int>(i);
    if (!is_known) result.dim[i] = unknown_dimension;
    else if ((*window)[i] != 1 || (*stride)[i] != 1) result.dim[i] = windows(c, image[axis], (*window)[i], (*stride)[i]);
  }
  c.set(0, result);
}
/// Images [batch, h, w, channels], each size divided by its `pooling_ratio`; and the starts of the windows down and across.
inline void fractional_shape_of_pool(shape_context& c) {
  shapes::want_rank(c, 0, 4);
  const shape& image = c.input(0).extent;
  const auto* a = c.attribute("pooling_ratio");
  const auto* ratios = a != nullptr ? a->get_list<float>() : nullptr;
  if (ratios == nullptr || ratios->size() != 4) c.fail("pooling_ratio field must specify 4 dimensions");
  shape result;
  for (std::size_t k = 0; k < 4; ++k) {
    const std::int64_t size = image.has_rank() ? image[static_cast<int>(k)] : unknown_dimension;
    const float ratio = (*ratios)[k];
    if (!(ratio >= 1)) c.fail("pooling_ratio cannot be smaller than 1, got: " + std::to_string(ratio));
    result.push(size < 0 || ratio == 1 ? size : std::min(size, static_cast<std::int64_t>(static_cast<float>(size) / ratio)));
  }
  c.set(0, result);
  for (const int k : {1, 2}) c.set(k, shapes::vector_of(result[k] < 0 ? unknown_dimension : result[k] + 1));
}
/// The shape that input `K` holds.
template <int K>
void held_shape(shape_context& c) {
  c.set(0, shapes::from_numbers(c, K));
}

LEAT_FILL(fill_nn_definitions) {
  const auto biased = [](shape_context& c) {
    shapes::want_rank(c, 1, 1);
    shape extent = c.input(0).extent;
    const shape& bias = c.input(1).extent;
    if (!extent.has_rank()) return;
    if (extent.rank < 2) c.fail("Shape must be at least rank 2 but is rank " + std::to_string(extent.rank));
    const int at = channels_first(c) ? 1 : extent.rank - 1;
    if (bias.has_rank() && !may_equal(bias[0], extent[at]))
      c.fail("Dimensions must be equal, but are " + std::to_string(extent[at]) + " and " + std::to_string(bias[0]));
    if (bias.has_rank() && extent[at] < 0) extent.dim[at] = bias[0];
    c.set(0, extent);
  };
  define_operator("BiasAdd(value: T, bias: T) -> (output: T); data_format: string = \"NHWC\"",
                  {.is = nature::pure, .narrow = narrow_rule::exact}, biased);
  define_operator("BiasAddGrad(out_backprop: T) -> (output: T); data_format: string = \"NHWC\"", {.is = nature::pure},
                  [](shape_context& c) {
                    const shape& extent = c.input(0).extent;
                    if (extent.has_rank() && extent.rank > 1) c.set(0, shapes::vector_of(extent[channels_first(c) ? 1 : extent.rank - 1]));
                    else c.set(0, shapes::vector_of(-1));
                  });
  define_operator("BatchMatMulV2(x: T, y: T) -> (output: T); adj_x: bool = false; adj_y: bool = false",
                  {.is = nature::pure, .work = work_kind::product}, batch_product_shape);
  // `grad_x` and `grad_y` say which operands are gradients, for kernels that choose another precision by it.
  define_operator(
      "BatchMatMulV3(x: Ta, y: Tb) -> (output: Tout); Tout: type; adj_x: bool = false; adj_y: bool = false; grad_x: bool = false; "
      "grad_y: bool = false",
      {.is = nature::pure, .work = work_kind::product}, batch_product_shape);

  define_operator(
      "Conv2D(input: T, filter: T) -> (output: T); strides: list(int); use_cudnn_on_gpu: bool = true; padding: string; explicit_paddings: "
      "list(int) = []; data_format: string = \"NHWC\"; dilations: list(int) = []",
      {.is = nature::pure, .work = work_kind::convolution}, convolved_shape<2>);
  define_operator(
      "Conv2DBackpropInput(input_sizes: int32, filter: T, out_backprop: T) -> (output: T); strides: list(int); use_cudnn_on_gpu: bool = "
      "true; padding: string; explicit_paddings: list(int) = []; data_format: string = \"NHWC\"; dilations: list(int) = []",
      {.is = nature::pure, .work = work_kind::convolution}, held_shape<0>);
  define_operator(
      "Conv2DBackpropFilter(input: T, filter_sizes: int32, out_backprop: T) -> (output: T); strides: list(int); use_cudnn_on_gpu: bool = "
      "true; padding: string; explicit_paddings: list(int) = []; data_format: string = \"NHWC\"; dilations: list(int) = []",
      {.is = nature::pure, .work = work_kind::convolution}, held_shape<1>);
  const std::string depthwise =
      "strides: list(int); padding: string; explicit_paddings: list(int) = []; data_format: string = \"NHWC\"; dilations: list(int) = []";
  define_operator("DepthwiseConv2dNative(input: T, filter: T) -> (output: T); " + depthwise,
                  {.is = nature::pure, .work = work_kind::convolution}, convolved_shape<2, true>);
  define_operator("DepthwiseConv2dNativeBackpropInput(input_sizes: int32, filter: T, out_backprop: T) -> (output: T); " + depthwise,
                  {.is = nature::pure, .work = work_kind::convolution}, held_shape<0>);
  define_operator("DepthwiseConv2dNativeBackpropFilter(input: T, filter_sizes: int32, out_backprop: T) -> (output: T); " + depthwise,
                  {.is = nature::pure, .work = work_kind::convolution}, held_shape<1>);
  define_operator(
      "MaxPool(input: T) -> (output: T); T: type = float32; ksize: list(int); strides: list(int); padding: string; explicit_paddings: "
      "list(int) = []; data_format: string = \"NHWC\"",
      {.is = nature::pure, .narrow = narrow_rule::ordered}, pooled_shape<4>);
  define_operator(
      "MaxPoolGrad(orig_input: T, orig_output: T, grad: T) -> (output: T); T: type = float32; ksize: list(int); strides: list(int); "
      "padding: string; explicit_paddings: list(int) = []; data_format: string = \"NHWC\"",
      {.is = nature::pure}, shapes::like<0>);
  define_operator("AvgPool(value: T) -> (output: T); ksize: list(int); strides: list(int); padding: string; data_format: string = \"NHWC\"",
                  {.is = nature::pure}, pooled_shape<4>);
  define_operator(
      "AvgPoolGrad(orig_input_shape: int32, grad: T) -> (output: T); ksize: list(int); strides: list(int); padding: string; data_format: "
      "string = \"NHWC\"",
      {.is = nature::pure}, held_shape<0>);

  const std::string volumes = "strides: list(int); padding: string; dilations: list(int) = []";
  const std::string volume_order = "; data_format: string = \"NDHWC\"";
  constexpr facts convolves{.is = nature::pure, .work = work_kind::convolution};
  define_operator("Conv3D(input: T, filter: T) -> (output: T); " + volumes + volume_order, convolves, convolved_shape<3>);
  define_operator(
      "Conv3DBackpropInputV2(input_sizes: Tshape, filter: T, out_backprop: T) -> (output: T); Tshape: {int32, int64} = int32; " + volumes +
          volume_order,
      convolves, held_shape<0>);
  define_operator("Conv3DBackpropFilterV2(input: T, filter_sizes: int32, out_backprop: T) -> (output: T); " + volumes + volume_order,
                  convolves, held_shape<1>);
  define_operator("Conv3DBackpropInput(input: T, filter: T, out_backprop: T) -> (output: T); " + volumes, convolves, shapes::like<0>);
  define_operator("Conv3DBackpropFilter(input: T, filter: T, out_backprop: T) -> (output: T); " + volumes, convolves, shapes::like<1>);

  const std::string pool = "ksize: list(int); strides: list(int); padding: string";
  define_operator("MaxPool3D(input: T) -> (output: T); " + pool + volume_order, {.is = nature::pure}, pooled_shape<5>);
  define_operator("MaxPool3DGrad(orig_input: TInput, orig_output: TInput, grad: T) -> (output: T); T: type = float32; TInput: type = "
                  "float32; " + pool + volume_order,
                  {.is = nature::pure}, shapes::like<0>);
  define_operator("MaxPool3DGradGrad(orig_input: T, orig_output: T, grad: T) -> (output: T); " + pool + volume_order, {.is = nature::pure},
                  shapes::like<1>);
  define_operator("AvgPool3D(input: T) -> (output: T); " + pool + volume_order, {.is = nature::pure}, pooled_shape<5>);
  define_operator("AvgPool3DGrad(orig_input_shape: int32, grad: T) -> (output: T); " + pool + volume_order, {.is = nature::pure},
                  held_shape<0>);

  const std::string order = "padding: string; data_format: string = \"NHWC\"";
  const std::string slopes = "(orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32) -> (output: T); ";
  define_operator("MaxPoolV2(input: T, ksize: int32, strides: int32) -> (output: T); T: type = float32; " + order,
                  {.is = nature::pure, .values = {1, 2}}, pooled_by_inputs_shape);
  define_operator("MaxPoolGradV2" + slopes + "T: type = float32; " + order, {.is = nature::pure, .values = {3, 2}}, shapes::like<0>);
  define_operator("MaxPoolGradGradV2" + slopes + order, {.is = nature::pure, .values = {3, 2}}, shapes::like<1>);
  const std::string places = "; include_batch_in_index: bool = false";
  define_operator("MaxPoolWithArgmax(input: T) -> (output: T, argmax: Targmax); Targmax: {int32, int64} = int64; " + pool + places,
                  {.is = nature::pure}, pooled_shape<4>);
  define_operator("MaxPoolGradWithArgmax(input: T, grad: T, argmax: Targmax) -> (output: T); Targmax: {int32, int64}; " + pool + places,
                  {.is = nature::pure}, shapes::like<0>);
  define_operator("MaxPoolGradGradWithArgmax(input: T, grad: T, argmax: Targmax) -> (output: T); Targmax: {int32, int64}; " + pool + places,
                  {.is = nature::pure}, shapes::like<2>);

  const std::string fractional =
      "(value: T) -> (output: T, row_pooling_sequence: int64, col_pooling_sequence: int64); pooling_ratio: list(float); pseudo_random: "
      "bool = false; overlapping: bool = false; deterministic: bool = false; seed: int = 0; seed2: int = 0; T: {float32, float64, int32, "
      "int64}";
  for (const char* type : {"FractionalMaxPool", "FractionalAvgPool"})
    define_operator(type + fractional, {.is = nature::random}, fractional_shape_of_pool);
  const std::string of_windows =
      "out_backprop: T, row_pooling_sequence: int64, col_pooling_sequence: int64) -> (output: T); overlapping: bool = false; T: {float32, "
      "float64, int32, int64}";
  define_operator("FractionalMaxPoolGrad(orig_input: T, orig_output: T, " + of_windows, {.is = nature::pure}, shapes::like<0>);
  define_operator("FractionalAvgPoolGrad(orig_input_tensor_shape: int64, " + of_windows, {.is = nature::pure, .values = {0, 1}},
                  held_shape<0>);

  const facts products{.is = nature::pure, .work = work_kind::product};
  const std::string cell =
      "(i: T, cs: T, f: T, o: T, ci: T, co: T, h: T); forget_bias: float = 1.0; cell_clip: float = 3.0; use_peephole: bool = false";
  const std::string operands = "x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T) -> ";
  define_operator("LSTMBlockCell(" + operands + cell, products, shapes::like<1>);
  const auto steps = [](shape_context& c) {
    shapes::want_rank(c, 1, 3);
    shapes::want_rank(c, 2, 2);
    const shape &x = c.input(1).extent, &cells = c.input(2).extent;
    if (!x.has_rank() || !cells.has_rank()) return;
    shape result;
    for (const std::int64_t n : {x[0], x[1], cells[1]}) result.push(n);
    c.set_all(result);
  };
  define_operator("BlockLSTM(seq_len_max: int64, " + operands + cell, products, steps);
  define_operator("BlockLSTMV2(seq_len_max: int64, " + operands +
                      "(i: T, cs: T, f: T, o: T, ci: T, co: T, h: T); cell_clip: float = 0.0; use_peephole: bool = false",
                  products, steps);
  const std::string given = operands.substr(0, operands.find(')')), made = ", i: T, cs: T, f: T, o: T, ci: T, co: T, ";
  define_operator("LSTMBlockCellGrad(" + given + made +
                      "cs_grad: T, h_grad: T) -> (cs_prev_grad: T, dicfo: T, wci_grad: T, wcf_grad: T, wco_grad: T); use_peephole: bool",
                  products, [](shape_context& c) {
                    shapes::want_rank(c, 1, 2);
                    const shape& cells = c.input(1).extent;
                    c.set(0, cells);
                    c.set(1, shapes::times_wider(cells, 4));
                    for (int k = 2; k < 5; ++k) c.set(k, c.input(k + 2).extent);
                  });
  for (const char* version : {"", "V2"})
    define_operator("BlockLSTMGrad" + std::string(version) + "(seq_len_max: int64, " + given + made +
                        "h: T, cs_grad: T, h_grad: T) -> (x_grad: T, cs_prev_grad: T, h_prev_grad: T, w_grad: T, wci_grad: T, wcf_grad: T, "
                        "wco_grad: T, b_grad: T); use_peephole: bool",
                    products, [](shape_context& c) {
                      for (int k = 0; k < 8; ++k) c.set(k, c.input(k + 1).extent);
                    });
  define_operator("GRUBlockCell(x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T) -> (r: T, u: T, c: T, h: T)",
                  products, shapes::like<1>);
  define_operator("GRUBlockCellGrad(x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T, r: T, u: T, c: T, d_h: T) -> (d_x: T, d_h_prev: T, "
                  "d_c_bar: T, d_r_bar_u_bar: T)",
                  products, [](shape_context& c) {
                    shapes::want_rank(c, 1, 2);
                    const shape& cells = c.input(1).extent;
                    c.set(0, c.input(0).extent);
                    c.set(1, cells);
                    c.set(2, cells);
                    c.set(3, shapes::times_wider(cells, 2));
                  });

  constexpr facts summary{.is = nature::effect, .stops_gradient = true, .is_summary = true};
  define_operator("ScalarSummary(tags: string, values: T) -> (summary: string)", summary, shapes::numbers);
  define_operator("HistogramSummary(tag: string, values: T) -> (summary: string); T: type = float32", summary, shapes::numbers);
  define_operator("ImageSummary(tag: string, tensor: T) -> (summary: string); max_images: int >= 1 = 3; T: type = float32", summary,
                  shapes::numbers);
  define_operator("AudioSummary(tag: string, tensor: float32) -> (summary: string); sample_rate: float; max_outputs: int >= 1 = 3", summary,
                  shapes::numbers);
  define_operator("AudioSummaryV2(tag: string, tensor: float32, sample_rate: float32) -> (summary: string); max_outputs: int >= 1 = 3",
                  summary, shapes::numbers);
  define_operator("TensorSummaryV2(tag: string, tensor: T, serialized_summary_metadata: string) -> (summary: string)", summary,
                  shapes::numbers);
  define_operator("MergeSummary(inputs: N*string) -> (summary: string)", summary, shapes::numbers);
}

}  // namespace leat::detail
