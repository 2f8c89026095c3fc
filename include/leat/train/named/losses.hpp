#pragma once
// Losses of graphs with names, node for node as TensorFlow 1.x's `tf.losses` makes them. train/losses.hpp has the losses of typed
// expressions, train/loss_formulas.hpp the formulas of both. Each loss casts labels and predictions to float32, multiplies the losses of
// the elements by the weights, reduces them, and adds the result to the collection `losses`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/operand.hpp>
#include <leat/named/graph/lookup.hpp>
#include <leat/train/loss_formulas.hpp>

namespace leat {

/// The element-wise cross entropy (1 - z) x + (1 + (q - 1) z) log(1 + e^-x) of logits x and labels z, in a stable form. `pos_weight` q is
/// the weight of positives. Shapes: labels and logits the same; result like these. Dtypes: floating point. Errors: invalid_argument for
/// labels of another shape. Source: `weighted_cross_entropy_with_logits`.
output weighted_cross_entropy_with_logits(const output& labels, const output& logits, double pos_weight,
                                          std::string_view name = "logistic_loss",
                                          const std::source_location& where = std::source_location::current());

}  // namespace leat

namespace leat::losses {

/// Options of a loss. Weights have rank 0, or the rank of the losses with each dimension 1 or equal.
struct loss_options {
  operand_value weights = 1.0f;                                             // multiply the losses of the elements
  losses::reduction reduction = losses::reduction::sum_by_nonzero_weights;  // how they become one loss
  std::string_view scope{};                                                 // scope of the nodes; empty: the loss's own name
  std::string_view collection = leat::collection::losses;                   // the collection that the result is added to; empty: none
};

/// Weights and reduces the losses of elements. Shapes: losses [...]; result [], or that of the losses if the reduction is `none`.
/// Dtypes: numeric; computed as float32; result like the losses. Errors: invalid_argument for weights that do not broadcast, thrown here if
/// static shapes show it, and in a run otherwise. Source: `compute_weighted_loss`.
output compute_weighted_loss(const output& losses, const loss_options& options = {},
                             const std::source_location& where = std::source_location::current());

/// The absolute error: |p - z|. Shapes: labels z and predictions p the same; result as for `compute_weighted_loss`. Dtypes: numeric; result
/// float32.
/// Errors: invalid_argument for labels of another shape, and as for `compute_weighted_loss`. Source: `absolute_difference`.
output absolute_difference(const output& labels, const output& predictions, const loss_options& options = {},
                           const std::source_location& where = std::source_location::current());
/// The squared error (p - z)². Shapes, dtypes, errors: as for `absolute_difference`. Source: `mean_squared_error`.
output mean_squared_error(const output& labels, const output& predictions, const loss_options& options = {},
                          const std::source_location& where = std::source_location::current());
/// The Huber loss: e²/2 of errors e = p - z with |e| up to `delta`, and delta |e| - delta²/2 beyond. Shapes, dtypes, errors: as for
/// `absolute_difference`.
/// Source: `huber_loss`.
output huber_loss(const output& labels, const output& predictions, const loss_options& options = {}, double delta = 1,
                  const std::source_location& where = std::source_location::current());
/// The log loss -z log(p + epsilon) - (1 - z) log(1 - p + epsilon) of probabilities p. Shapes, dtypes, errors: as for
/// `absolute_difference`.
/// Source: `log_loss`.
output log_loss(const output& labels, const output& predictions, const loss_options& options = {}, double epsilon = 1e-7,
                const std::source_location& where = std::source_location::current());
/// The hinge loss max(0, 1 - (2 z - 1) x) of labels z, 0 or 1, and logits x. Shapes, dtypes, errors: as for `absolute_difference`.
/// Source: `hinge_loss`.
output hinge_loss(const output& labels, const output& logits, const loss_options& options = {},
                  const std::source_location& where = std::source_location::current());
/// The cosine distance 1 - Σ p z along the axis, of vectors that are already normalized. Shapes: losses with a dimension of 1 at the axis.
/// Dtypes, errors: as for `absolute_difference`; invalid_argument for an axis that is out of range. Source: `cosine_distance`.
output cosine_distance(const output& labels, const output& predictions, std::int32_t axis, const loss_options& options = {},
                       const std::source_location& where = std::source_location::current());
/// The mean of the squared differences between all pairs of a sample's errors, summed over the samples. Shapes: [samples, ...]; weights [],
/// or [samples, 1, ...]; result []. Errors: as for `absolute_difference`; invalid_argument for a reduction other than the default.
/// Source: `mean_pairwise_squared_error`.
output mean_pairwise_squared_error(const output& labels, const output& predictions, const loss_options& options = {},
                                   const std::source_location& where = std::source_location::current());
/// The loss of `sigmoid_cross_entropy_with_logits`, for labels z (1 - s) + s/2 with a smoothing s. Shapes: labels and logits the same.
/// Dtypes: logits floating point; result like logits. Errors: as for `absolute_difference`. Source: `sigmoid_cross_entropy`.
output sigmoid_cross_entropy(const output& labels, const output& logits, const loss_options& options = {}, double label_smoothing = 0,
                             const std::source_location& where = std::source_location::current());
/// The loss of `softmax_cross_entropy_with_logits`, for labels z (1 - s) + s/classes with a smoothing s; labels get no gradient.
/// Shapes: labels and logits [..., classes]; losses [...]. Dtypes, errors: as for `sigmoid_cross_entropy`. Source: `softmax_cross_entropy`.
output softmax_cross_entropy(const output& onehot_labels, const output& logits, const loss_options& options = {},
                             double label_smoothing = 0, const std::source_location& where = std::source_location::current());
/// The loss of `sparse_softmax_cross_entropy_with_logits`. Shapes: logits [..., classes], labels [...] or [..., 1]; weights like the
/// labels. Dtypes: labels int32 or int64; result like logits. Errors: as for `absolute_difference`; in a run invalid_argument for labels
/// out of range.
/// Source: `sparse_softmax_cross_entropy`.
output sparse_softmax_cross_entropy(const output& labels, const output& logits, const loss_options& options = {},
                                    const std::source_location& where = std::source_location::current());

// ---- collections ----------------------------------------------------------------------------------------------------

/// Adds a loss that the program computed itself to a collection. Source: `add_loss`.
void add_loss(const output& loss, std::string_view collection = leat::collection::losses);
/// The losses of the default graph; with a scope, those whose names begin with it. Source: `get_losses`.
std::vector<output> get_losses(std::string_view scope = {}, std::string_view collection = leat::collection::losses);
/// The regularization losses of the default graph; with a scope, those whose names begin with it. Source: `get_regularization_losses`.
std::vector<output> get_regularization_losses(std::string_view scope = {});
/// The sum of the regularization losses, 0 if there is none. Source: `get_regularization_loss`.
output get_regularization_loss(std::string_view scope = {}, std::string_view name = "total_regularization_loss",
                               const std::source_location& where = std::source_location::current());
/// The sum of all losses, with or without the regularization losses. Errors: invalid_argument if there is none. Source: `get_total_loss`.
output get_total_loss(bool add_regularization_losses = true, std::string_view name = "total_loss", std::string_view scope = {},
                      const std::source_location& where = std::source_location::current());

}  // namespace leat::losses

#if LEAT_WITH_BODIES
#include <leat/train/named/impl/losses.hpp>
#endif
