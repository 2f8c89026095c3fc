#pragma once
// Definitions of operators that round numbers as if few bits held them, for training, and of their gradients.

#include <leat/core/fill.hpp>
#include <leat/named/definitions/shapes.hpp>

namespace leat::detail {

/// The gradients by the numbers and by the two bounds of their range, which are scalars, or with `ByChannel` vectors.
template <bool ByChannel>
void slopes_of_rounding(shape_context& c) {
  c.set(0, c.input(0).extent);
  for (const int k : {1, 2}) c.set(k, ByChannel ? c.input(k + 1).extent : shapes::scalar);
}

LEAT_FILL(fill_quantized_definitions) {
  constexpr facts pure{.is = nature::pure};
  const std::string bits = "num_bits: int = 8; narrow_range: bool = false";
  const std::string bounds = "min: float = -6.0; max: float = 6.0; " + bits;
  define_operator("FakeQuantWithMinMaxArgs(inputs: float32) -> (outputs: float32); " + bounds, pure, shapes::like<0>);
  define_operator("FakeQuantWithMinMaxArgsGradient(gradients: float32, inputs: float32) -> (backprops: float32); " + bounds, pure,
                  shapes::like<0>);
  define_operator("FakeQuantWithMinMaxVars(inputs: float32, min: float32, max: float32) -> (outputs: float32); " + bits, pure,
                  shapes::like<0>);
  define_operator(
      "FakeQuantWithMinMaxVarsGradient(gradients: float32, inputs: float32, min: float32, max: float32) -> (backprops_wrt_input: "
      "float32, backprop_wrt_min: float32, backprop_wrt_max: float32); " +
          bits,
      pure, slopes_of_rounding<false>);
  define_operator("FakeQuantWithMinMaxVarsPerChannel(inputs: float32, min: float32, max: float32) -> (outputs: float32); " + bits, pure,
                  shapes::like<0>);
  define_operator(
      "FakeQuantWithMinMaxVarsPerChannelGradient(gradients: float32, inputs: float32, min: float32, max: float32) -> "
      "(backprops_wrt_input: float32, backprop_wrt_min: float32, backprop_wrt_max: float32); " +
          bits,
      pure, slopes_of_rounding<true>);
  const std::string rounding =
      "signed_input: bool = true; range_given: bool = RANGE; T: {float32, float64}; narrow_range: bool = false; axis: int = -1";
  const auto with_range = [&](const char* is_given) {
    std::string text = rounding;
    return text.replace(text.find("RANGE"), 5, is_given);
  };
  define_operator("QuantizeAndDequantizeV2(input: T, input_min: T, input_max: T) -> (output: T); num_bits: int = 8; round_mode: string = "
                  "\"HALF_TO_EVEN\"; " +
                      with_range("false"),
                  pure, shapes::like<0>);
  define_operator("QuantizeAndDequantizeV4(input: T, input_min: T, input_max: T) -> (output: T); num_bits: int = 8; round_mode: string = "
                  "\"HALF_TO_EVEN\"; " +
                      with_range("false"),
                  pure, shapes::like<0>);
  define_operator(
      "QuantizeAndDequantizeV4Grad(gradients: T, input: T, input_min: T, input_max: T) -> (input_backprop: T, input_min_backprop: T, "
      "input_max_backprop: T); T: {float32, float64}; axis: int = -1",
      pure, [](shape_context& c) {
        for (const int k : {0, 1, 2}) c.set(k, c.input(k + 1).extent);
      });
  define_operator("QuantizeAndDequantizeV3(input: T, input_min: T, input_max: T, num_bits: int32) -> (output: T); " + with_range("true"),
                  pure, shapes::like<0>);
}

}  // namespace leat::detail
