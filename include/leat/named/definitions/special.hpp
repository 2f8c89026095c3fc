#pragma once
// Definitions of special functions, of short vectors and sorted rows, and of layers that a rewriter of graphs has joined.

#include <leat/core/fill.hpp>
#include <leat/named/definitions/nn.hpp>
#include <leat/named/definitions/shapes.hpp>

namespace leat::detail {

inline void fused_product_shape(shape_context& c) {
  shapes::want_rank(c, 0, 2);
  shapes::want_rank(c, 1, 2);
  const shape &a = c.input(0).extent, &b = c.input(1).extent;
  const bool ta = c.flag("transpose_a"), tb = c.flag("transpose_b");
  shape result = shapes::vector_of(a.has_rank() ? a[ta ? 1 : 0] : unknown_dimension);
  result.push(b.has_rank() ? b[tb ? 0 : 1] : unknown_dimension);
  c.set(0, result);
}

LEAT_FILL(fill_special_definitions) {
  constexpr facts pure{.is = nature::pure};
  constexpr facts steps{.is = nature::pure, .stops_gradient = true};
  const std::string fractions = "; T: {float32, float64}";
  for (const char* type : {"Igamma", "Igammac"}) define_operator(type + ("(a: T, x: T) -> (z: T)" + fractions), pure, shapes::broadcast);
  for (const char* type : {"Xlog1py", "MulNoNan"}) define_operator(type + ("(x: T, y: T) -> (z: T)" + fractions), pure, shapes::broadcast);
  define_operator("NextAfter(x1: T, x2: T) -> (output: T)" + fractions, steps, shapes::broadcast);
  define_operator("Betainc(a: T, b: T, x: T) -> (z: T)" + fractions, pure, [](shape_context& c) {
    for (int k = 0; k < 3; ++k)  // the others are of this shape, or scalars
      if (const shape& s = c.input(k).extent; !s.has_rank()) return;
      else if (s.rank > 0 || k == 2) return c.set(0, s);
  });
  for (const char* type : {"BesselI0", "BesselI1", "BesselI0e", "BesselI1e", "BesselJ0", "BesselJ1", "BesselK0", "BesselK0e", "BesselK1",
                           "BesselK1e", "BesselY0", "BesselY1", "Dawsn", "Erfinv", "Expint", "FresnelCos", "FresnelSin", "Ndtri", "Spence"})
    define_operator(type + ("(x: T) -> (y: T)" + fractions), pure, shapes::like<0>);
  define_operator("PopulationCount(x: T) -> (y: uint8)",
                  {.is = nature::pure, .narrow = narrow_rule::exact, .by_width = width_rule::bit_count, .stops_gradient = true},
                  shapes::like<0>);

  define_operator(
      "CumulativeLogsumexp(x: T, axis: Tidx) -> (out: T); exclusive: bool = false; reverse: bool = false; Tidx: {int32, int64} = int32",
      {.is = nature::pure, .values = {1, 1}}, shapes::like<0>);
  define_operator("Cross(a: T, b: T) -> (product: T)", pure, [](shape_context& c) {
    const shape &a = c.input(0).extent, &b = c.input(1).extent;
    if (!may_equal(a, b)) c.fail("Shapes must be equal, but are " + leat::shape_text(a) + " and " + leat::shape_text(b));
    c.set(0, known_of(a, b));
  });
  for (const char* type : {"DataFormatDimMap", "DataFormatVecPermute"})
    define_operator(
        type + std::string("(x: T) -> (y: T); T: {int32, int64} = int32; src_format: string = \"NHWC\"; dst_format: string = \"NCHW\""),
        steps, shapes::like<0>);
  for (const char* type : {"LowerBound", "UpperBound"})
    define_operator(type + std::string("(sorted_inputs: T, values: T) -> (output: out_type); out_type: {int32, int64} = int32"), steps,
                    shapes::like<1>);
  define_operator("HistogramFixedWidth(values: T, value_range: T, nbins: int32) -> (out: dtype); dtype: {int32, int64} = int32", steps,
                  [](shape_context& c) { c.set(0, shapes::vector_of(shapes::number(c, 2).value_or(-1))); });

  const std::string fused = "num_args: int >= 0; fused_ops: list(string) = []; epsilon: float = 0.0001; leakyrelu_alpha: float = 0.2; T: "
                            "{float32, float64}";
  define_operator(
      "_FusedMatMul(a: T, b: T, args: num_args*T) -> (product: T); transpose_a: bool = false; transpose_b: bool = false; " + fused,
      {.is = nature::pure, .work = work_kind::product}, fused_product_shape);
  const std::string windows =
      "strides: list(int); padding: string; explicit_paddings: list(int) = []; data_format: string = \"NHWC\"; dilations: list(int) = []; ";
  define_operator("_FusedConv2D(input: T, filter: T, args: num_args*T) -> (output: T); " + windows + fused,
                  {.is = nature::pure, .work = work_kind::convolution}, convolved_shape<2>);
  define_operator("_FusedDepthwiseConv2dNative(input: T, filter: T, args: num_args*T) -> (output: T); " + windows + fused,
                  {.is = nature::pure, .work = work_kind::convolution}, convolved_shape<2, true>);
}

}  // namespace leat::detail
