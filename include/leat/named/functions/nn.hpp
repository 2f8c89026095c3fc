#pragma once
// Functions of neural networks on named graphs, composed of the same nodes as in TensorFlow 1.x: biases, dropout, normalization, cross
// entropies, convolutions and pooling.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/array.hpp>
#include <leat/ops/windows.hpp>

namespace leat {

/// value + bias along the last dimension. Shapes: value [..., n], bias [n]; result like value. Source: `bias_add`.
output bias_add(const output& value, const operand_value& bias, std::string_view name = "BiasAdd",
                const std::source_location& where = std::source_location::current());

/// Dropout: each element becomes 0 with probability `rate`, and x / (1 - rate) otherwise, drawn anew in each run. Shapes: result like x.
/// Dtypes: floating point.
/// Errors: invalid_argument for a rate outside [0, 1), or if x is not floating point. Source: `dropout`.
output dropout(const output& x, double rate, std::uint64_t seed = 0, std::string_view name = "dropout",
               const std::source_location& where = std::source_location::current());

/// The results of `moments`.
struct moments_result {
  output mean;
  output variance;
};
/// Mean and biased variance along axes. Shapes: x without the axes, or with these as 1. Source: `moments`.
moments_result moments(const output& x, const std::vector<std::int32_t>& axes, keep_dims keep = keep_dims::no,
                       std::string_view name = "moments", const std::source_location& where = std::source_location::current());

/// x normalized along an axis: x / sqrt(max(Σ x², epsilon)). Shapes: result like x. Dtypes: floating point. Source: `l2_normalize`.
output l2_normalize(const output& x, std::int32_t axis, double epsilon = 1e-12, std::string_view name = "l2_normalize",
                    const std::source_location& where = std::source_location::current());

/// The Euclidean norm sqrt(Σ x²) of all elements, a scalar. Dtypes: floating point. Source: `norm`.
output norm(const output& x, std::string_view name = "norm", const std::source_location& where = std::source_location::current());

/// Options of `batch_normalization`; without a scale or an offset that step is left out.
struct normalization_options {
  std::optional<operand_value> offset{};  // added to the result: beta
  std::optional<operand_value> scale{};   // multiplies the result: gamma
  double epsilon = 1e-3;                  // added to the variance, against division by 0
};
/// Normalizes x by given moments: (x - mean) / sqrt(variance + epsilon) * scale + offset. The factors that do not depend on x are computed
/// first.
/// Source: `batch_normalization`.
output batch_normalization(const output& x, const operand_value& mean, const operand_value& variance,
                           const normalization_options& options = {}, std::string_view name = "batchnorm",
                           const std::source_location& where = std::source_location::current());

// ---- cross entropies ------------------------------------------------------------------------------------------------

/// The element-wise cross entropy of sigmoid(logits): max(x, 0) - x z + log(1 + e^-|x|) of logits x and labels z. Shapes: labels and logits
/// the same; result like these.
/// Errors: invalid_argument for labels of another shape. Source: `sigmoid_cross_entropy_with_logits`.
output sigmoid_cross_entropy_with_logits(const output& labels, const output& logits, std::string_view name = "logistic_loss",
                                         const std::source_location& where = std::source_location::current());

namespace detail {
// The shape of x without its last dimension, and x as a matrix whose rows are its last dimension.
output rows_of(const output& x, const std::source_location& where);
}  // namespace detail

/// The cross entropy -Σ labels log softmax(logits) along the last dimension. Shapes: labels and logits [..., classes]; result [...].
/// Source: `softmax_cross_entropy_with_logits_v2`.
output softmax_cross_entropy_with_logits(const output& labels, const output& logits, std::string_view name = {},
                                         const std::source_location& where = std::source_location::current());

/// `softmax_cross_entropy_with_logits` along another axis than the last. Errors: invalid_argument for an axis that is out of range, or if
/// the rank is unknown.
output softmax_cross_entropy_with_logits(const output& labels, const output& logits, std::int32_t axis, std::string_view name = {},
                                         const std::source_location& where = std::source_location::current());

/// The cross entropy -log softmax(logits)[label] with one label per row of logits. Shapes: logits [..., classes], integer labels [...];
/// result [...].
/// Source: `sparse_softmax_cross_entropy_with_logits`.
output sparse_softmax_cross_entropy_with_logits(const operand_value& labels, const output& logits, std::string_view name = {},
                                                const std::source_location& where = std::source_location::current());
inline output sparse_softmax_cross_entropy_with_logits(const output& labels, const output& logits, std::string_view name = {},
                                                       const std::source_location& where = std::source_location::current()) {
  return sparse_softmax_cross_entropy_with_logits(operand_value(labels), logits, name, where);
}

// ---- images ---------------------------------------------------------------------------------------------------------

namespace detail {
attribute_map window_attributes(std::vector<std::int64_t> strides, padding p);
}  // namespace detail

/// Convolution of images [batch, height, width, in] with filters [height, width, in, out]: the sums of the products of each window and each
/// filter. Strides are [1, down, right, 1]. Shapes: result [batch, windows down, windows right, out]. Dtypes: float32, float64, int32.
/// Errors in a run: invalid_argument if shapes or strides do not fit. Source: `conv2d`.
output conv2d(const output& images, const output& filters, const std::vector<std::int64_t>& strides, padding p,
              std::string_view name = "Conv2D", const std::source_location& where = std::source_location::current());
/// The largest element of each window [1, height, width, 1] of images [batch, height, width, channels]; padding does not count. Dtypes:
/// numbers. Errors in a run: invalid_argument if shapes, window or strides do not fit. Source: `max_pool`.
output max_pool(const output& images, const std::vector<std::int64_t>& window, const std::vector<std::int64_t>& strides, padding p,
                std::string_view name = "MaxPool", const std::source_location& where = std::source_location::current());
/// The mean of each window [1, height, width, 1] of images [batch, height, width, channels]; padding does not count. Dtypes: floating
/// point. Errors in a run: as for `max_pool`. Source: `avg_pool`.
output avg_pool(const output& images, const std::vector<std::int64_t>& window, const std::vector<std::int64_t>& strides, padding p,
                std::string_view name = "AvgPool", const std::source_location& where = std::source_location::current());

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/functions/impl/nn.hpp>
#endif
