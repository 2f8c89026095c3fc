#pragma once
// Implementation of candidates.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/candidates.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/named/functions/nn.hpp>
#include <leat/named/functions/shape.hpp>
#include <leat/named/functions/slice.hpp>
#include <leat/named/graph/lookup.hpp>

namespace leat::detail {

/// A node that draws classes. Its seeds are written as those of random numbers.
LEAT_FUNCTION sampled_classes call_sampler(std::string_view type, const operand_value& true_classes, std::int64_t num_true,
                                           std::int64_t num_sampled, bool unique, std::uint64_t seed, std::string_view name,
                                           const std::source_location& where, attribute_map more = {}) {
  const output classes = raw_tensor(true_classes);
  graph& g = classes.owner();
  const source_scope line(g, where);
  more["num_true"] = num_true;
  more["num_sampled"] = num_sampled;
  more["unique"] = unique;
  const auto [first, second] = g.named().seeds.next(seed);
  more["seed"] = first;
  more["seed2"] = second;
  const graph_operation made = call_operator(g, type, {classes}, more, name);
  return {made.result(0), made.result(1), made.result(2)};
}

/// Arrays along an axis, the first of which is a constant.
LEAT_FUNCTION output behind_constant(const std::vector<std::int32_t>& first, const output& second) {
  graph& g = second.owner();
  const name_scope scope(g, "concat");
  const output both[]{g.named().make_constant(g, first, "values_0"), second};
  const std::int64_t numbers[]{0};
  return g.named().build(g, info_of<concat_op>, both, numbers, scope.text());
}
/// A number, and a constant behind it, as a vector.
LEAT_FUNCTION output pair_of(const output& first, std::int32_t second) {
  graph& g = first.owner();
  const name_scope scope(g, "stack");
  return stack({first, g.named().make_constant(g, second, "1")}, 0, scope.text());
}
/// The sum of each row, as a product with ones, whose gradient is cheaper than that of a sum.
LEAT_FUNCTION output row_sums(const output& x) {
  graph& g = x.owner();
  const output column = pair_of(index(shape_of(x), {axis_index(1)}), 1);
  output ones;
  {
    const name_scope scope(g, "ones");
    const output one = g.named().make_constant(g, {x.type(), {}, 1}, "Const");
    ones = call_operator(g, "Fill", {column, one}, {}, scope.text()).result();
  }
  return reshape(matmul(x, ones), {-1});
}

/// Logits and labels, [batch, num_true + num_sampled]; the true classes stand first.
struct sampled_logits {
  output logits;
  output labels;
};
LEAT_FUNCTION sampled_logits logits_of_sampled(const std::vector<output>& weights, const std::vector<output>& biases,
                                               const output& given_labels, const output& inputs, std::int64_t num_sampled,
                                               std::int64_t num_classes, const sampled_loss_options& options, std::string_view own_name,
                                               bool removes_hits) {
  const auto refuse = [&](const std::string& why) { throw invalid_argument(std::string(own_name) + ": " + why); };
  if (weights.empty() || biases.empty()) refuse("needs weights and biases");
  if (num_sampled < 1 || options.num_true < 1 || options.num_true > INT32_MAX || num_sampled > INT32_MAX)
    refuse("num_sampled and num_true are at least 1 and below 2^31, not " + std::to_string(num_sampled) + " and " +
           std::to_string(options.num_true));
  if (!is_floating(inputs.type())) refuse("inputs are floating point, not " + describe(inputs));
  graph& g = inputs.owner();
  named_part& nodes = g.named();
  const name_scope scope(g, options.name.empty() ? own_name : std::string_view(options.name));
  const auto num_true = static_cast<std::int32_t>(options.num_true);
  const output x = nodes.value_of(inputs);
  output labels = nodes.value_of(given_labels);
  if (labels.type() != dtype::int64) labels = cast(labels, dtype::int64);
  const output flat = reshape(labels, {-1});
  const sampled_classes drawn =
      options.sampled_values ? *options.sampled_values
                             : log_uniform_candidate_sampler(labels, num_true, num_sampled, true, num_classes, options.seed);
  output sampled = stop_gradient(drawn.sampled_candidates);
  const output of_true = stop_gradient(drawn.true_expected_count), of_sampled = stop_gradient(drawn.sampled_expected_count);
  if (sampled.type() != dtype::int64) sampled = cast(sampled, dtype::int64);
  const output ids = concat({flat, sampled}, 0);
  const auto rows_of_ids = [&](const std::vector<output>& tables) {
    const output rows = embedding_lookup(tables, ids, options.strategy);
    return rows.type() == x.type() ? rows : cast(rows, x.type());
  };
  const auto count = [&] { return index(shape_of(flat), {axis_index(0)}); };
  const output all_weights = rows_of_ids(weights);
  const output after_true = pair_of(count(), -1);
  const output true_weights = slice(all_weights, {0, 0}, after_true);
  // What TensorFlow infers from the values of sizes and shapes, where it knows the number of labels.
  const shape& extent = all_weights.extent();
  const std::int64_t known = flat.extent()[0];
  const bool is_known = known >= 0 && known % num_true == 0 && extent.has_rank() && extent.rank == 2 && extent[1] >= 0;
  if (is_known) set_shape(true_weights, {known, extent[1]});
  const output from_sampled = pair_of(count(), 0);
  const output sampled_weights = slice(all_weights, from_sampled, {-1, -1});
  if (is_known && sampled.extent().is_static()) set_shape(sampled_weights, {sampled.extent().elements(), extent[1]});
  output by_sampled = matmul(x, sampled_weights, {.transpose_b = true});
  const output all_biases = rows_of_ids(biases);
  output true_biases = slice(all_biases, {0}, shape_of(flat));
  const output sampled_biases = slice(all_biases, shape_of(flat), {-1});
  const output width = index(shape_of(true_weights), {along::between(1, 2)});
  const output per_class = behind_constant({-1, num_true}, width);
  const output wide = expand_dims(x, 1);
  const output by_class = reshape(true_weights, per_class);
  if (is_known) set_shape(by_class, {known / num_true, num_true, extent[1]});
  const output products = multiply(wide, by_class, "Mul");
  const output dots = reshape(products, behind_constant({-1}, width));
  if (is_known) set_shape(dots, {known, extent[1]});
  output by_true = reshape(row_sums(dots), {-1, num_true});
  true_biases = reshape(true_biases, {-1, num_true});
  by_true = by_true + true_biases;
  by_sampled = by_sampled + sampled_biases;
  if (removes_hits) {
    const accidental_hits hits = compute_accidental_hits(labels, sampled, num_true);
    const output rows = reshape(hits.indices, {-1, 1});
    const output columns = reshape(cast(hits.ids, dtype::int32), {-1, 1});
    const output places = concat({rows, columns}, 1, "sparse_indices");
    const output height = index(shape_of(labels), {along::until(1)});
    output one_size;
    {
      const name_scope part(g, "ExpandDims");
      const output number = nodes.make_constant(g, static_cast<std::int32_t>(num_sampled), "input");
      one_size = expand_dims(number, 0, part.text());
    }
    const output sizes = concat({height, one_size}, 0);
    const output added = hits.weights.type() == by_sampled.type() ? hits.weights : cast(hits.weights, by_sampled.type());
    by_sampled = by_sampled + call_operator(g, "SparseToDense", {places, sizes, added, tensor_literal(added.type(), {}, 0)},
                                            {{"validate_indices", false}})
                                  .result();
  }
  by_true = by_true - log(of_true);
  by_sampled = by_sampled - log(of_sampled);
  const output logits = concat({by_true, by_sampled}, 1);
  const output shares = divide(ones_like(by_true), tensor_literal(by_true.type(), {}, static_cast<double>(num_true)));
  return {logits, concat({shares, zeros_like(by_sampled)}, 1)};
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION sampled_classes uniform_candidate_sampler(const operand_value& true_classes, std::int64_t num_true, std::int64_t num_sampled,
                                                        bool unique, std::int64_t range_max, std::uint64_t seed, std::string_view name,
                                                        const std::source_location& where) {
  return detail::call_sampler("UniformCandidateSampler", true_classes, num_true, num_sampled, unique, seed, name, where,
                              {{"range_max", range_max}});
}
LEAT_FUNCTION sampled_classes log_uniform_candidate_sampler(const operand_value& true_classes, std::int64_t num_true,
                                                            std::int64_t num_sampled, bool unique, std::int64_t range_max,
                                                            std::uint64_t seed, std::string_view name, const std::source_location& where) {
  return detail::call_sampler("LogUniformCandidateSampler", true_classes, num_true, num_sampled, unique, seed, name, where,
                              {{"range_max", range_max}});
}
LEAT_FUNCTION sampled_classes learned_unigram_candidate_sampler(const operand_value& true_classes, std::int64_t num_true,
                                                                std::int64_t num_sampled, bool unique, std::int64_t range_max,
                                                                std::uint64_t seed, std::string_view name,
                                                                const std::source_location& where) {
  return detail::call_sampler("LearnedUnigramCandidateSampler", true_classes, num_true, num_sampled, unique, seed, name, where,
                              {{"range_max", range_max}});
}
LEAT_FUNCTION sampled_classes fixed_unigram_candidate_sampler(const operand_value& true_classes, std::int64_t num_true,
                                                              std::int64_t num_sampled, bool unique, std::int64_t range_max,
                                                              const fixed_unigram_options& options, std::uint64_t seed,
                                                              std::string_view name, const std::source_location& where) {
  attribute_map more{{"range_max", range_max},
                     {"vocab_file", options.vocab_file},
                     {"distortion", static_cast<float>(options.distortion)},
                     {"num_reserved_ids", options.num_reserved_ids},
                     {"num_shards", options.num_shards},
                     {"shard", options.shard}};
  more["unigrams"] = options.unigrams;
  return detail::call_sampler("FixedUnigramCandidateSampler", true_classes, num_true, num_sampled, unique, seed, name, where,
                              std::move(more));
}
LEAT_FUNCTION sampled_classes all_candidate_sampler(const operand_value& true_classes, std::int64_t num_true, std::int64_t num_sampled,
                                                    bool unique, std::uint64_t seed, std::string_view name,
                                                    const std::source_location& where) {
  return detail::call_sampler("AllCandidateSampler", true_classes, num_true, num_sampled, unique, seed, name, where);
}
LEAT_FUNCTION accidental_hits compute_accidental_hits(const operand_value& true_classes, const operand_value& sampled_candidates,
                                                      std::int64_t num_true, std::uint64_t seed, std::string_view name,
                                                      const std::source_location& where) {
  const operand_value both[]{true_classes, sampled_candidates};
  graph& g = detail::graph_of(both);
  const source_scope line(g, where);
  const auto argument = [](const operand_value& v) {
    return v.tensor() != nullptr ? number_argument(*v.tensor()) : number_argument(*v.literal());
  };
  const auto [first, second] = g.named().seeds.next(seed);
  const graph_operation made = call_operator(g, "ComputeAccidentalHits", {argument(true_classes), argument(sampled_candidates)},
                                             {{"num_true", num_true}, {"seed", first}, {"seed2", second}}, name);
  return {made.result(0), made.result(1), made.result(2)};
}

LEAT_FUNCTION output sampled_softmax_loss(const std::vector<output>& weights, const std::vector<output>& biases, const output& labels,
                                          const output& inputs, std::int64_t num_sampled, std::int64_t num_classes,
                                          const sampled_loss_options& options, const std::source_location& where) {
  const source_scope line(inputs.owner(), where);
  const auto [logits, shares] =
      detail::logits_of_sampled(weights, biases, labels, inputs, num_sampled, num_classes, options, "sampled_softmax_loss",
                                options.remove_accidental_hits.value_or(true));
  return softmax_cross_entropy_with_logits(stop_gradient(shares, "labels_stop_gradient"), logits);
}
LEAT_FUNCTION output nce_loss(const std::vector<output>& weights, const std::vector<output>& biases, const output& labels,
                              const output& inputs, std::int64_t num_sampled, std::int64_t num_classes, const sampled_loss_options& options,
                              const std::source_location& where) {
  const source_scope line(inputs.owner(), where);
  sampled_loss_options own = options;
  own.seed = 0;
  const auto [logits, shares] = detail::logits_of_sampled(weights, biases, labels, inputs, num_sampled, num_classes, own, "nce_loss",
                                                          options.remove_accidental_hits.value_or(false));
  return detail::row_sums(sigmoid_cross_entropy_with_logits(shares, logits, "sampled_losses"));
}

}  // namespace leat
