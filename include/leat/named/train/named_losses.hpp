#pragma once
// Losses of graphs with names, node for node as TensorFlow 1.x's `tf.losses` makes them; train/losses.hpp has those of typed
// expressions, train/loss_formulas.hpp the formulas of both. Each casts labels and predictions to float32, multiplies the losses of the
// elements by the weights, reduces them, and adds the result to the collection `losses`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/named_operand.hpp>
#include <leat/named/graph/lookup.hpp>
#include <leat/train/loss_formulas.hpp>

namespace leat {

/// (1 - z) x + (1 + (q - 1) z) log(1 + e^-x) of logits x and labels z, element-wise, in a stable form: `pos_weight` q is the weight of
/// positives. Shapes: labels and logits the same; result like these. Dtypes: floating point. Errors: invalid_argument for labels of another
/// shape. Source: `weighted_cross_entropy_with_logits`.
output weighted_cross_entropy_with_logits(const output& labels, const output& logits, double pos_weight,
                                          std::string_view name = "logistic_loss",
                                          const std::source_location& where = std::source_location::current());

}  // namespace leat

namespace leat::losses {

/// Settings of a loss. Weights: rank 0, or the rank of the losses with each dimension 1 or equal.
struct loss_options {
  operand_value weights = 1.0f;
  losses::reduction reduction = losses::reduction::sum_by_nonzero_weights;
  std::string_view scope{};                                // of the nodes; none: the loss's own name
  std::string_view collection = leat::collection::losses;  // the result is added to it; empty: to none
};

/// Losses of elements, weighted and reduced. Shapes: losses [...]; result [], or that of the losses if the reduction is `none`. Dtypes:
/// numbers; computed as float32; result like the losses. Errors: invalid_argument for weights that do not broadcast, at once where
/// static shapes tell, otherwise in a run. Source: `compute_weighted_loss`.
output compute_weighted_loss(const output& losses, const loss_options& options = {},
                             const std::source_location& where = std::source_location::current());

/// |p - z|. Shapes: labels z and predictions p the same; result as above. Dtypes: numbers; result float32.
/// Errors: invalid_argument for labels of another shape, and as above. Source: `absolute_difference`.
output absolute_difference(const output& labels, const output& predictions, const loss_options& options = {},
                           const std::source_location& where = std::source_location::current());
/// (p - z)². Shapes, dtypes, errors: as `absolute_difference`. Source: `mean_squared_error`.
output mean_squared_error(const output& labels, const output& predictions, const loss_options& options = {},
                          const std::source_location& where = std::source_location::current());
/// e²/2 of errors e = p - z up to `delta`, delta |e| - delta²/2 beyond. Shapes, dtypes, errors: as `absolute_difference`.
/// Source: `huber_loss`.
output huber_loss(const output& labels, const output& predictions, const loss_options& options = {}, double delta = 1,
                  const std::source_location& where = std::source_location::current());
/// -z log(p + epsilon) - (1 - z) log(1 - p + epsilon) of probabilities p. Shapes, dtypes, errors: as `absolute_difference`.
/// Source: `log_loss`.
output log_loss(const output& labels, const output& predictions, const loss_options& options = {}, double epsilon = 1e-7,
                const std::source_location& where = std::source_location::current());
/// max(0, 1 - (2 z - 1) x) of labels z, 0 or 1, and logits x. Shapes, dtypes, errors: as `absolute_difference`.
/// Source: `hinge_loss`.
output hinge_loss(const output& labels, const output& logits, const loss_options& options = {},
                  const std::source_location& where = std::source_location::current());
/// 1 - Σ p z along the axis, of vectors that are normalized already. Shapes: losses with the axis as 1. Dtypes, errors: as
/// `absolute_difference`; invalid_argument for an axis that is out of range. Source: `cosine_distance`.
output cosine_distance(const output& labels, const output& predictions, std::int32_t axis, const loss_options& options = {},
                       const std::source_location& where = std::source_location::current());
/// The mean of the squared differences between all pairs of a sample's errors, summed over the samples. Shapes: [samples, ...]; weights
/// [], or [samples, 1, ...]; result []. Errors: as `absolute_difference`; invalid_argument for another reduction than the default.
/// Source: `mean_pairwise_squared_error`.
output mean_pairwise_squared_error(const output& labels, const output& predictions, const loss_options& options = {},
                                   const std::source_location& where = std::source_location::current());
/// `sigmoid_cross_entropy_with_logits`, of labels z (1 - s) + s/2 with a smoothing s. Shapes: labels and logits the same. Dtypes: logits
/// floating point; result like logits. Errors: as `absolute_difference`. Source: `sigmoid_cross_entropy`.
output sigmoid_cross_entropy(const output& labels, const output& logits, const loss_options& options = {}, double label_smoothing = 0,
                             const std::source_location& where = std::source_location::current());
/// `softmax_cross_entropy_with_logits`, of labels z (1 - s) + s/classes with a smoothing s, without a gradient for the labels. Shapes:
/// labels and logits [..., classes]; losses [...]. Dtypes, errors: as `sigmoid_cross_entropy`. Source: `softmax_cross_entropy`.
output softmax_cross_entropy(const output& onehot_labels, const output& logits, const loss_options& options = {},
                             double label_smoothing = 0, const std::source_location& where = std::source_location::current());
/// `sparse_softmax_cross_entropy_with_logits`. Shapes: logits [..., classes], labels [...] or [..., 1]; weights as the labels. Dtypes:
/// labels int32 or int64; result like logits. Errors: as above; in a run invalid_argument for labels out of range.
/// Source: `sparse_softmax_cross_entropy`.
output sparse_softmax_cross_entropy(const output& labels, const output& logits, const loss_options& options = {},
                                    const std::source_location& where = std::source_location::current());

// ---- collections ----------------------------------------------------------------------------------------------------

/// Adds a loss of the program's own. Source: `add_loss`.
void add_loss(const output& loss, std::string_view collection = leat::collection::losses);
/// The losses of the default graph, likewise of a scope. Source: `get_losses`.
std::vector<output> get_losses(std::string_view scope = {}, std::string_view collection = leat::collection::losses);
/// The regularization losses of the default graph. Source: `get_regularization_losses`.
std::vector<output> get_regularization_losses(std::string_view scope = {});
/// Their sum, 0 if there is none. Source: `get_regularization_loss`.
output get_regularization_loss(std::string_view scope = {}, std::string_view name = "total_regularization_loss",
                               const std::source_location& where = std::source_location::current());
/// The sum of all losses, and of all regularization losses. Errors: invalid_argument if there is none. Source: `get_total_loss`.
output get_total_loss(bool add_regularization_losses = true, std::string_view name = "total_loss", std::string_view scope = {},
                      const std::source_location& where = std::source_location::current());

}  // namespace leat::losses

#if LEAT_WITH_BODIES
#include <leat/named/train/named_losses_bodies.hpp>
#endif
