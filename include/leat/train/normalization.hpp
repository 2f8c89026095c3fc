#pragma once
// Batch normalization of typed expressions: a layer with moving averages of mean and variance, and the operation that updates them.

#include <leat/ops/nn.hpp>
#include <leat/train/averages.hpp>

namespace leat {

/// A batch normalization: its output in training, with the batch's own mean and variance; its output in evaluation, with the moving
/// averages; the operation that updates these; and its variables.
template <tensor_expression Output, tensor_expression Evaluated, expression Update, tensor_expression Variable, tensor_expression Scale,
          tensor_expression Mean, tensor_expression Variance>
struct batch_normalization_parts {
  Output output;        // normalized by the moments of the batch, for training
  Evaluated evaluated;  // normalized by the moving averages
  Update update;        // of the moving averages
  Variable beta;
  Scale gamma;
  Mean moving_mean;
  Variance moving_variance;
};

namespace detail {
template <class X>
concept normalized_operand =
    tensor_expression<X> && requires { requires X::rank >= 2 && X::extent.dim[X::rank - 1] >= 0 && is_floating(X::type); };

// (x - mean) / √(variance + ε) gamma + beta, with the factors that do not depend on x computed first.
template <class X, class Mean, class Variance, class Epsilon, class Gamma, class Beta>
constexpr auto normalized(const X& x, const Mean& mean, const Variance& variance, const Epsilon& epsilon, const Gamma& gamma,
                          const Beta& beta) {
  const auto factor = rsqrt(variance + epsilon) * gamma;
  return x * factor + (beta - mean * factor);
}
template <class X, std::size_t... K>
constexpr auto batch_moments(const X& x, std::index_sequence<K...>) {
  return moments<static_cast<int>(K)...>(x);
}
}  // namespace detail

/// Normalizes each channel (the last axis) over all other axes: `auto bn = batch_normalization<"bn">(x)`. `bn.output` is for training,
/// `bn.evaluated` for the use of a trained model; `bn.update`, which training must fetch or group with its step, updates the averages:
/// average -= (average - value of the batch)(1 - momentum). Variables: `Name/gamma` (ones), `Name/beta` (zeros), and untrainable
/// `Name/moving_mean` (zeros), `Name/moving_variance` (ones), each [channels].
/// Shapes: x […, channels] of rank 2 or more, `channels` a size; outputs like x. Dtypes: floating point.
/// Source: TensorFlow `layers.batch_normalization`; Ioffe and Szegedy 2015.
template <fixed_string Name, detail::normalized_operand X, detail::optimizer_setting Momentum = double,
          detail::optimizer_setting Epsilon = double, LEAT_SITE>
constexpr auto batch_normalization(const X& x, const Momentum& momentum = 0.99, const Epsilon& epsilon = 1e-3) {
  using T = typename X::element;
  using channels = dims<X::extent[X::rank - 1]>;
  const auto gamma = detail::make_variable<name_of<Name / "gamma">, T, channels, true>(ones);
  const auto beta = detail::make_variable<name_of<Name / "beta">, T, channels, true>(zeros);
  const auto moving_mean = detail::make_variable<name_of<Name / "moving_mean">, T, channels, false>(zeros);
  const auto moving_variance = detail::make_variable<name_of<Name / "moving_variance">, T, channels, false>(ones);
  const auto [mean, variance] = detail::batch_moments(x, std::make_index_sequence<static_cast<std::size_t>(X::rank - 1)>{});
  const auto small = cast<T>(detail::as_setting<Site, 61>(epsilon));
  const auto keeps = cast<T>(detail::as_setting<Site, 62>(momentum));
  const auto rest = constant_beside<1>(keeps) - keeps;
  const auto output = detail::normalized(x, mean, variance, small, gamma, beta);
  const auto evaluated = detail::normalized(x, moving_mean, moving_variance, small, gamma, beta);
  const auto update = group(assign_sub(moving_mean, average::change(moving_mean, mean, rest)),
                            assign_sub(moving_variance, average::change(moving_variance, variance, rest)));
  return batch_normalization_parts<std::remove_const_t<decltype(output)>, std::remove_const_t<decltype(evaluated)>,
                                   std::remove_const_t<decltype(update)>, std::remove_const_t<decltype(beta)>,
                                   std::remove_const_t<decltype(gamma)>, std::remove_const_t<decltype(moving_mean)>,
                                   std::remove_const_t<decltype(moving_variance)>>{output, evaluated,   update,         beta,
                                                                                   gamma,  moving_mean, moving_variance};
}
LEAT_OTHERWISE_OF(batch_normalization,
                  "<name>(x, momentum, epsilon) takes a tensor of floating point, [..., channels] with a size as channels, then perhaps "
                  "numbers or scalar tensors; the name is a template argument: <\"bn\">");
template <fixed_string Name>
LEAT_OTHERWISE("batch_normalization<name>(x, momentum, epsilon) takes a tensor of floating point, [..., channels] with a size as channels")
batch_normalization(...) LEAT_DELETED;

}  // namespace leat
