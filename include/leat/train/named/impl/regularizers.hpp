#pragma once
// Implementation of named_regularizers.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/lookup.hpp>
#include <leat/train/named/kit.hpp>
#include <leat/train/named/regularizers.hpp>

namespace leat {

LEAT_FUNCTION output regularization_term(regularizer_kind kind, double scale, const output& weights) {
  detail::check_tensors("regularizer", {weights});
  if (!is_floating(weights.type())) throw invalid_argument("regularizer: weights are floating point, not " + describe(weights));
  detail::checked_scale(scale);
  if (scale == 0) return {};
  graph& g = weights.owner();
  const name_scope scope(g, kind == regularizer_kind::l1 ? "l1_regularizer" : "l2_regularizer");
  const output factor = g.named().make_constant(g, {weights.type(), {}, scale}, "scale");
  const output w = g.named().value_of(weights);
  const detail::named_kit kit;
  return kind == regularizer_kind::l1 ? losses::formula::l1(kit, factor, w) : losses::formula::l2(kit, factor, w);
}

LEAT_FUNCTION output sum_of_regularization_terms(std::string_view scope, const output& weights,
                                                 const std::vector<variable_regularizer>& all) {
  detail::check_tensors("regularizer", {weights});
  const name_scope names(weights.owner(), scope);
  std::vector<output> terms;
  for (const variable_regularizer& each : all)
    if (const output term = each(weights)) terms.push_back(term);
  return terms.empty() ? output{} : detail::sum_of_tensors(terms, names.text(), std::source_location());
}

LEAT_FUNCTION output apply_regularization(const variable_regularizer& regularizer, const std::vector<output>& weights) {
  const std::vector<output> all = weights.empty() ? get_tensors(default_graph(), "weights") : weights;
  if (all.empty()) throw invalid_argument("No weights to regularize");
  graph& g = all.front().owner();
  const name_scope names(g, "get_regularization_penalty");
  std::vector<output> terms;
  for (const output& w : all)
    if (const output term = regularizer(w)) terms.push_back(term);
  const output sum = terms.empty() ? g.named().make_constant(g, {dtype::float32, {}, 0}, "Const")
                                   : detail::sum_of_tensors(terms, names.text(), std::source_location());
  add_to_collection(g, collection::regularization_losses, sum);
  return sum;
}

}  // namespace leat
