#pragma once
// Gradients of operators that round numbers as if few bits held them, in graphs with names, as TensorFlow makes them.

#include <leat/core/fill.hpp>
#include <leat/named/gradients/functions.hpp>
#include <leat/named/gradients/nodes.hpp>
#include <leat/named/graph/call.hpp>

namespace leat::detail {

inline gradient_list gradient_of_quantize(const gradient_call& c) {
  return {call_operator(c.owner(), "FakeQuantWithMinMaxArgsGradient", {c.dy(), c.input(0)},
                        c.attributes({"min", "max", "num_bits", "narrow_range"}))
              .result()};
}
/// Of bounds that are inputs; `type` is the gradient's operator.
inline gradient_list gradient_of_quantize_between(const gradient_call& c, const char* type) {
  const graph_operation made =
      call_operator(c.owner(), type, {c.dy(), c.input(0), c.input(1), c.input(2)}, c.attributes({"num_bits", "narrow_range"}));
  return {made.result(0), made.result(1), made.result(2)};
}
/// Rounding passes the gradient on, as if it were no function; ranges get none.
inline gradient_list gradient_of_rounded(const gradient_call& c) {
  gradient_list list(static_cast<std::size_t>(c.input_count()));
  list[0] = c.dy();
  return list;
}
/// The gradient passes where the number is within its range.
inline gradient_list gradient_of_rounded_in_range(const gradient_call& c) {
  const graph_operation made = call_operator(c.owner(), "QuantizeAndDequantizeV4Grad", {c.dy(), c.input(0), c.input(1), c.input(2)},
                                             c.attributes({"axis"}));
  return {made.result(0), made.result(1), made.result(2)};
}

LEAT_FILL(fill_quantized_gradients) {
  enter_gradients({
      {"FakeQuantWithMinMaxArgs", gradient_of_quantize},
      {"FakeQuantWithMinMaxVars",
       [](const gradient_call& c) { return gradient_of_quantize_between(c, "FakeQuantWithMinMaxVarsGradient"); }},
      {"FakeQuantWithMinMaxVarsPerChannel",
       [](const gradient_call& c) { return gradient_of_quantize_between(c, "FakeQuantWithMinMaxVarsPerChannelGradient"); }},
      {"QuantizeAndDequantizeV2", gradient_of_rounded},
      {"QuantizeAndDequantizeV3", gradient_of_rounded},
      {"QuantizeAndDequantizeV4", gradient_of_rounded_in_range},
  });
}

}  // namespace leat::detail
