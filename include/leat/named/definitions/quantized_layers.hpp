#pragma once
// Definitions of operators whose numbers are integers of 8, 16 or 32 bits, which stand for a range of real numbers that two more inputs
// give; each has the range of its result as two more results. Their kernels take such elements as they are. Source: TensorFlow's operators
// of the same names.

#include <leat/core/fill.hpp>
#include <leat/named/definitions/images.hpp>
#include <leat/named/definitions/nn.hpp>
#include <leat/named/definitions/shapes.hpp>

#include <algorithm>

namespace leat::detail {

/// Sets all results to scalars but the first, which gets the shape of `rule`.
inline void set_ranged(shape_context& c, const shape_rule& rule) {
  rule(c);
  for (int k = 1; k < c.result_count(); ++k) c.set(k, shapes::scalar);
}
/// The results of QuantizeV2: the ranges have as many elements as the numbers along `axis`.
inline void quantized_shape(shape_context& c) {
  const shape& x = c.input(0).extent;
  const std::int64_t axis = c.integer("axis");
  if (axis < -1) c.fail("axis should be at least -1, got " + std::to_string(axis));
  if (x.has_rank() && axis >= x.rank) c.fail("axis " + std::to_string(axis) + " is not in the range of shape " + leat::shape_text(x));
  c.set(0, x);
  for (const int k : {1, 2}) {
    if (axis < 0) shapes::want_rank(c, k, 0);
    c.set(k, axis < 0 ? shapes::scalar : shapes::vector_of(x.has_rank() ? x[static_cast<int>(axis)] : unknown_dimension));
  }
}
inline void reshaped_quantized(shape_context& c) {
  shape made = shapes::from_numbers(c, 1);
  const shape& x = c.input(0).extent;
  int open = 0, at = -1;
  for (int k = 0; k < made.rank; ++k)
    if (made[k] < 0) {
      ++open;
      at = k;
    }
  if (c.constant(1) && made.has_rank()) {
    if (open > 1) c.fail("Only one unknown dimension allowed in shape");
    if (x.is_static() && x.is_countable()) {
      shape known = made;
      if (open == 1) known.dim[at] = 1;
      const std::int64_t each = known.is_countable() ? known.elements() : 0, all = x.elements();
      if (open == 1 && each > 0 && all % each == 0) made.dim[at] = all / each;
      else if (open == 0 ? each != all : each > 0)
        c.fail("Cannot reshape a tensor with " + std::to_string(all) + " elements to shape " + leat::shape_text(made));
    }
  }
  c.set(0, made);
}
inline void concatenated_quantized(shape_context& c) {
  const int count = (c.input_count() - 1) / 3;
  shape made = c.input(1).extent;
  for (int k = 1; k <= count; ++k)
    if (!c.input(k).extent.has_rank()) return;
    else if (c.input(k).extent.rank != made.rank) c.fail("Ranks of all inputs should match");
  const auto given = shapes::number(c, 0);
  if (made.rank < 1) c.fail("Shape must be at least rank 1 but is rank 0");
  const int axis = given && c.constant(0) ? shapes::axis(c, *given, made.rank) : -1;
  for (int d = 0; d < made.rank; ++d)
    for (int k = 2; k <= count; ++k) {
      std::int64_t& size = made.dim[d];
      const std::int64_t next = c.input(k).extent[d];
      if (axis < 0) size = size == next ? size : unknown_dimension;
      else if (d == axis) size = size < 0 || next < 0 ? unknown_dimension : size + next;
      else if (size >= 0 && next >= 0 && size != next) c.fail("Dimensions of all inputs but that of the axis should match");
      else size = std::max(size, next);
    }
  if (axis < 0)
    for (int d = 0; d < made.rank; ++d) made.dim[d] = unknown_dimension;
  c.set(0, made);
}

LEAT_FILL(fill_quantized_layer_definitions) {
  constexpr facts pure{.is = nature::pure, .narrow = narrow_rule::any};
  constexpr facts sized{.is = nature::pure, .narrow = narrow_rule::any, .values = {1, 1}};
  const std::string kinds = ": {qint8, quint8, qint32, qint16, quint16}";
  const auto ranged = [](shape_rule rule) -> shape_rule { return [rule = std::move(rule)](shape_context& c) { set_ranged(c, rule); }; };
  const auto like_first = ranged([](shape_context& c) { c.set(0, c.input(0).extent); });
  const auto define = [&](const std::string& line, const facts& what, const shape_rule& rule) { define_operator(line, what, rule); };

  define("QuantizeV2(input: float32, min_range: float32, max_range: float32) -> (output: T, output_min: float32, output_max: float32); T" +
             kinds +
             "; mode: string = \"MIN_COMBINED\"; round_mode: string = \"HALF_AWAY_FROM_ZERO\"; narrow_range: bool = false; axis: int = -1; "
             "ensure_minimum_range: float = 0.01",
         pure, quantized_shape);
  define("Dequantize(input: T, min_range: float32, max_range: float32) -> (output: dtype); T" + kinds +
             "; mode: string = \"MIN_COMBINED\"; narrow_range: bool = false; axis: int = -1; dtype: {bfloat16, float32} = float32",
         pure, shapes::like<0>);
  const std::string from = "(input: Tinput, input_min: float32, input_max: float32", narrower = "; Tinput" + kinds + "; out_type" + kinds;
  const std::string to = " -> (output: out_type, output_min: float32, output_max: float32)";
  define("QuantizeDownAndShrinkRange" + from + ")" + to + narrower, pure, like_first);
  define("Requantize" + from + ", requested_output_min: float32, requested_output_max: float32)" + to + narrower, pure, like_first);
  define("RequantizationRange" + from + ") -> (output_min: float32, output_max: float32); Tinput" + kinds, pure, shapes::numbers);

  const std::string ranges_of_two = "min_a: float32, max_a: float32, min_b: float32, max_b: float32";
  define("QuantizedMatMul(a: T1, b: T2, " + ranges_of_two + ") -> (out: Toutput, min_out: float32, max_out: float32); T1" + kinds + "; T2" +
             kinds + "; Toutput" + kinds + " = qint32; transpose_a: bool = false; transpose_b: bool = false; Tactivation" + kinds +
             " = quint8",
         {.is = nature::pure, .work = work_kind::product, .narrow = narrow_rule::any}, ranged([](shape_context& c) {
           shapes::want_rank(c, 0, 2);
           shapes::want_rank(c, 1, 2);
           const shape &a = c.input(0).extent, &b = c.input(1).extent;
           const bool ta = c.flag("transpose_a"), tb = c.flag("transpose_b");
           if (a.has_rank() && b.has_rank() && a[ta ? 0 : 1] >= 0 && b[tb ? 1 : 0] >= 0 && a[ta ? 0 : 1] != b[tb ? 1 : 0])
             c.fail("Dimensions must be equal, but are " + std::to_string(a[ta ? 0 : 1]) + " and " + std::to_string(b[tb ? 1 : 0]));
           shape made = shapes::vector_of(a.has_rank() ? a[ta ? 1 : 0] : unknown_dimension);
           made.push(b.has_rank() ? b[tb ? 0 : 1] : unknown_dimension);
           c.set(0, made);
         }));
  define(
      "QuantizedConv2D(input: Tinput, filter: Tfilter, min_input: float32, max_input: float32, min_filter: float32, max_filter: float32) -> "
      "(output: out_type, min_output: float32, max_output: float32); Tinput" +
          kinds + "; Tfilter" + kinds + "; out_type" + kinds + " = qint32; strides: list(int); padding: string; dilations: list(int) = []",
      {.is = nature::pure, .work = work_kind::convolution, .narrow = narrow_rule::any}, ranged(convolved_shape<2>));
  const std::string sums = "; T1" + kinds + "; T2" + kinds;
  define("QuantizedBiasAdd(input: T1, bias: T2, min_input: float32, max_input: float32, min_bias: float32, max_bias: float32) -> (output: "
         "out_type, min_out: float32, max_out: float32); out_type" +
             kinds + sums,
         pure, ranged([](shape_context& c) {
           shapes::want_rank(c, 1, 1);
           if (const shape& x = c.input(0).extent; x.has_rank() && x.rank < 1) c.fail("Shape must be at least rank 1 but is rank 0");
           c.set(0, c.input(0).extent);
         }));
  for (const char* type : {"QuantizedAdd", "QuantizedMul"})
    define(type + ("(x: T1, y: T2, min_x: float32, max_x: float32, min_y: float32, max_y: float32) -> (z: Toutput, min_z: float32, max_z: "
                   "float32); Toutput" +
                   kinds + " = qint32" + sums),
           pure, [](shape_context& c) {
             shapes::broadcast(c);
             for (const int k : {1, 2}) c.set(k, shapes::scalar);
           });
  const std::string activated =
      "min_features: float32, max_features: float32) -> (activations: out_type, min_activations: float32, max_activations: float32); Tinput" +
      kinds + "; out_type" + kinds + " = quint8";
  for (const char* type : {"QuantizedRelu", "QuantizedRelu6"})
    define(std::string(type) + "(features: Tinput, " + activated, pure, like_first);
  define("QuantizedReluX(features: Tinput, max_value: float32, " + activated, pure, like_first);
  for (const char* type : {"QuantizedMaxPool", "QuantizedAvgPool"})
    define(
        std::string(type) +
            "(input: T, min_input: float32, max_input: float32) -> (output: T, min_output: float32, max_output: float32); ksize: list(int); "
            "strides: list(int); padding: string; T" +
            kinds,
        pure, ranged([](shape_context& c) {
          shapes::want_rank(c, 0, 4);
          if (c.input(0).extent.has_rank()) pooled_shape<4>(c);
        }));
  define(
      "QuantizedConcat(concat_dim: int32, values: N*T, input_mins: N*float32, input_maxes: N*float32) -> (output: T, output_min: float32, "
      "output_max: float32); N: int >= 2",
      {.is = nature::pure, .narrow = narrow_rule::any, .values = {0, 1}}, ranged(concatenated_quantized));
  define(
      "QuantizedReshape(tensor: T, shape: Tshape, input_min: float32, input_max: float32) -> (output: T, output_min: float32, output_max: "
      "float32); Tshape: {int32, int64} = int32",
      sized, ranged(reshaped_quantized));
  define(
      "QuantizedBatchNormWithGlobalNormalization(t: Tinput, t_min: float32, t_max: float32, m: Tinput, m_min: float32, m_max: float32, v: "
      "Tinput, v_min: float32, v_max: float32, beta: Tinput, beta_min: float32, beta_max: float32, gamma: Tinput, gamma_min: float32, "
      "gamma_max: float32) -> (result: out_type, result_min: float32, result_max: float32); Tinput" +
          kinds + "; out_type" + kinds + "; variance_epsilon: float; scale_after_normalization: bool",
      pure, ranged([](shape_context& c) {
        shapes::want_rank(c, 0, 4);
        for (const int k : {3, 6, 9, 12}) shapes::want_rank(c, k, 1);
        c.set(0, c.input(0).extent);
      }));
  define("QuantizedInstanceNorm(x: T, x_min: float32, x_max: float32) -> (y: T, y_min: float32, y_max: float32); T" + kinds +
             "; output_range_given: bool = false; given_y_min: float = 0; given_y_max: float = 0; variance_epsilon: float = 0.00001; "
             "min_separation: float = 0.001",
         pure, like_first);
  define("QuantizedResizeBilinear(images: T, size: int32, min: float32, max: float32) -> (resized_images: T, out_min: float32, out_max: "
         "float32); T: {quint8, qint32, float32}; align_corners: bool = false; half_pixel_centers: bool = false",
         sized, ranged([](shape_context& c) { resized_shape(c); }));
}

}  // namespace leat::detail
