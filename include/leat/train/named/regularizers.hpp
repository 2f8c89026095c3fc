#pragma once
// The terms of regularizers (train/regularizers.hpp) in graphs with names, node for node as TensorFlow 1.x makes them.

#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/part.hpp>
#include <leat/train/regularizers.hpp>

#include <functional>

namespace leat {

/// The term of one regularizer, a scalar; empty for a scale of 0. Errors: invalid_argument for weights that are not floating point.
output regularization_term(regularizer_kind kind, double scale, const output& weights);
/// The sum of the terms of several functions, in a scope; empty if all terms are empty.
output sum_of_regularization_terms(std::string_view scope, const output& weights, const std::vector<variable_regularizer>& all);
/// Regularizes weights explicitly: returns the sum of their terms, which is added to the collection `regularization_losses`. Without
/// weights, those of the collection `weights` are regularized. Errors: invalid_argument for no weights. Source: TensorFlow 1.x
/// `apply_regularization`.
output apply_regularization(const variable_regularizer& regularizer, const std::vector<output>& weights = {});

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/train/named/impl/regularizers.hpp>
#endif
