#pragma once
// Normalization over neighboring channels: y = x / (bias + alpha Σ x²)^beta, summed over the channels of a pixel up to `depth_radius` away.
// Errors of all functions: rules.hpp. Source: TensorFlow `LRN`; Krizhevsky, Sutskever and Hinton, "ImageNet Classification with Deep
// Convolutional Neural Networks".

#include <leat/ops/reduction.hpp>

#include <bit>

namespace leat {

/// The gradient of LRN. Operands: the gradient of its result, x, its result. Attributes: as `local_response_op`. It has no form: graphs
/// with names make TensorFlow's node (named/gradients/images.hpp). Source: TensorFlow `LRNGrad`, which has no gradient.
struct local_response_grad_op {
  static constexpr std::string_view type = "LRNGrad";
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list& x) {
    return is_floating(x.type(1)) ? inference{x.type(1), x.extent(1)} : inference::wrong(rule::refusal(rule::takes::floating));
  }
};
/// Attributes: depth_radius, then the bits of bias, alpha and beta as float64. Source: TensorFlow `LRN`.
struct local_response_op {
  static constexpr std::string_view type = "LRN";
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr field form[]{{field_kind::operand, "input"},
                                {field_kind::integer, "depth_radius", 5},
                                {field_kind::real, "bias", std::bit_cast<std::int64_t>(1.0)},
                                {field_kind::real, "alpha", std::bit_cast<std::int64_t>(1.0)},
                                {field_kind::real, "beta", std::bit_cast<std::int64_t>(0.5)},
                                {field_kind::type_of, "T"}};
  static constexpr inference infer(const operand_list& x) {
    if (!is_floating(x.type(0))) return inference::wrong(rule::refusal(rule::takes::floating));
    if (x.extent(0).rank != 4) return inference::wrong("takes rank 4: images [batch, height, width, channels]");
    if (x.attribute(0) < 0) return inference::wrong("depth_radius must be 0 or more");
    return {x.type(0), x.extent(0)};
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const std::int64_t numbers[]{g.attribute(0), g.attribute(1), g.attribute(2), g.attribute(3)};
    if (g.wants(0)) give(g, 0, make_node<local_response_grad_op>(numbers, g.dy(), g.input(0), g.result()));
  }
};

namespace detail {
// As the node's attribute stores it, float32.
constexpr std::int64_t bits_of_real(double value) { return std::bit_cast<std::int64_t>(static_cast<double>(static_cast<float>(value))); }
template <std::int64_t Radius, double Bias, double Alpha, double Beta>
using local_response_attributes = attributes<Radius, bits_of_real(Bias), bits_of_real(Alpha), bits_of_real(Beta)>;
}  // namespace detail

/// Each pixel's channels divided by a norm of their neighbors: `local_response_normalization<2, 1.0, 1e-4, 0.75>(images)`; the arguments in
/// <> are depth_radius, bias, alpha and beta. Shapes: images [batch, height, width, channels]; result as images. Dtypes: floating point.
/// There is no second derivative. Source: TensorFlow `LRN`.
template <std::int64_t Radius = 5, double Bias = 1.0, double Alpha = 1.0, double Beta = 0.5, tensor_expression X>
  requires accepted_with<local_response_op, detail::local_response_attributes<Radius, Bias, Alpha, Beta>, X>
constexpr auto local_response_normalization(const X& images) {
  return make<local_response_op, detail::local_response_attributes<Radius, Bias, Alpha, Beta>>(images);
}
template <std::int64_t Radius = 5, double Bias = 1.0, double Alpha = 1.0, double Beta = 0.5, tensor_expression X>
  requires refused_with<local_response_op, detail::local_response_attributes<Radius, Bias, Alpha, Beta>, X>
why_with<local_response_op, detail::local_response_attributes<Radius, Bias, Alpha, Beta>, X> local_response_normalization(const X&) =
    delete;
LEAT_OTHERWISE_OF(local_response_normalization,
                  "<depth_radius, bias, alpha, beta>(images) takes one tensor of rank 4; the others are template "
                  "arguments; " LEAT_TENSORS);

}  // namespace leat
