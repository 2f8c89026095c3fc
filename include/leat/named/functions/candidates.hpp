#pragma once
// Losses that look at some of many classes, and functions that draw these, in graphs with names, node for node as TensorFlow 1.x makes
// them. The drawn numbers are not TensorFlow's. Source: TensorFlow `tf.nn` and `tf.random` of version 1.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/embedding.hpp>

#include <optional>
#include <string>
#include <vector>

namespace leat {

/// Classes that were drawn, int64 [num_sampled], with how often each true class, and each drawn one, is expected among as many draws.
struct sampled_classes {
  output sampled_candidates;
  output true_expected_count;
  output sampled_expected_count;
};

/// Draws classes below `range_max`, each with the same probability; with `unique` no class twice. Shapes: true_classes [batch, num_true];
/// results [num_sampled], [batch, num_true] and [num_sampled]. Dtypes: true_classes int64. Errors: invalid_argument, in a run, for true
/// classes outside of the range, and for more unique classes than there are. Source: `uniform_candidate_sampler`.
sampled_classes uniform_candidate_sampler(const operand_value& true_classes, std::int64_t num_true, std::int64_t num_sampled, bool unique,
                                          std::int64_t range_max, std::uint64_t seed = 0,
                                          std::string_view name = "UniformCandidateSampler",
                                          const std::source_location& where = std::source_location::current());
/// As `uniform_candidate_sampler`, of classes in the order of how frequent they are: class k has the probability log((k + 2) / (k + 1)) /
/// log(range_max + 1). Source: `log_uniform_candidate_sampler`.
sampled_classes log_uniform_candidate_sampler(const operand_value& true_classes, std::int64_t num_true, std::int64_t num_sampled,
                                              bool unique, std::int64_t range_max, std::uint64_t seed = 0,
                                              std::string_view name = "LogUniformCandidateSampler",
                                              const std::source_location& where = std::source_location::current());
/// As `uniform_candidate_sampler`, of probabilities that follow how often each class has been a true one in the runs before.
/// Source: `learned_unigram_candidate_sampler`.
sampled_classes learned_unigram_candidate_sampler(const operand_value& true_classes, std::int64_t num_true, std::int64_t num_sampled,
                                                  bool unique, std::int64_t range_max, std::uint64_t seed = 0,
                                                  std::string_view name = "LearnedUnigramCandidateSampler",
                                                  const std::source_location& where = std::source_location::current());

/// Options of `fixed_unigram_candidate_sampler`: the weights of the classes, as a list or as the last column of a file of comma-separated
/// values within `session_options::file_root`. Each weight is raised to the power `distortion`. The first `num_reserved_ids` classes are
/// never drawn. Of several shards, this one has each `num_shards`-th class.
struct fixed_unigram_options {
  std::string vocab_file{};
  std::vector<float> unigrams{};
  double distortion = 1;
  std::int64_t num_reserved_ids = 0;
  std::int64_t num_shards = 1;
  std::int64_t shard = 0;
};
/// As `uniform_candidate_sampler`, of probabilities that are given by weights. Errors in a run: in addition, invalid_argument unless there
/// are `range_max` weights. Source: `fixed_unigram_candidate_sampler`.
sampled_classes fixed_unigram_candidate_sampler(const operand_value& true_classes, std::int64_t num_true, std::int64_t num_sampled,
                                                bool unique, std::int64_t range_max, const fixed_unigram_options& options,
                                                std::uint64_t seed = 0, std::string_view name = "FixedUnigramCandidateSampler",
                                                const std::source_location& where = std::source_location::current());
/// All classes 0, 1, ... below `num_sampled`, in the form of a sampler's results. Source: `all_candidate_sampler`.
sampled_classes all_candidate_sampler(const operand_value& true_classes, std::int64_t num_true, std::int64_t num_sampled, bool unique,
                                      std::uint64_t seed = 0, std::string_view name = "AllCandidateSampler",
                                      const std::source_location& where = std::source_location::current());

/// Where classes that were drawn are true ones: rows of `true_classes`, positions among those drawn, and weights that exclude them from a
/// softmax.
struct accidental_hits {
  output indices;
  output ids;
  output weights;
};
/// Shapes: true_classes [batch, num_true], sampled_candidates [n]; results [hits]. Dtypes: classes int64; results int32, int64, float32.
/// Source: `compute_accidental_hits`.
accidental_hits compute_accidental_hits(const operand_value& true_classes, const operand_value& sampled_candidates, std::int64_t num_true,
                                        std::uint64_t seed = 0, std::string_view name = "ComputeAccidentalHits",
                                        const std::source_location& where = std::source_location::current());

/// Options of `sampled_softmax_loss` and `nce_loss`.
struct sampled_loss_options {
  std::int64_t num_true = 1;
  std::optional<sampled_classes> sampled_values{};  // none: those of `log_uniform_candidate_sampler`, unique
  std::optional<bool> remove_accidental_hits{};     // none: true for the softmax, false for `nce_loss`
  partition_strategy strategy = partition_strategy::mod;
  std::string name{};      // of the scope; empty: the function's own name
  std::uint64_t seed = 0;  // of the softmax's sampler
};
/// The loss of a softmax over the true classes and `num_sampled` others that are drawn, for training with very many classes. Weights and
/// biases may be given in shards. Shapes: weights [num_classes, dim], biases [num_classes], labels [batch, num_true], inputs [batch, dim];
/// result [batch]. Dtypes: labels int32 or int64; inputs like the expected counts, float32 of all samplers. Errors: invalid_argument
/// without weights or biases, and for fewer than one true or drawn class; in a run as for the sampler. Source: `sampled_softmax_loss`.
output sampled_softmax_loss(const std::vector<output>& weights, const std::vector<output>& biases, const output& labels,
                            const output& inputs, std::int64_t num_sampled, std::int64_t num_classes,
                            const sampled_loss_options& options = {}, const std::source_location& where = std::source_location::current());
inline output sampled_softmax_loss(const output& weights, const output& biases, const output& labels, const output& inputs,
                                   std::int64_t num_sampled, std::int64_t num_classes, const sampled_loss_options& options = {},
                                   const std::source_location& where = std::source_location::current()) {
  return sampled_softmax_loss(std::vector{weights}, std::vector{biases}, labels, inputs, num_sampled, num_classes, options, where);
}
/// The loss of noise-contrastive estimation: for each true class, and each of `num_sampled` that are drawn, whether it is a true one.
/// Shapes, dtypes, errors: as for `sampled_softmax_loss`. Source: `nce_loss`.
output nce_loss(const std::vector<output>& weights, const std::vector<output>& biases, const output& labels, const output& inputs,
                std::int64_t num_sampled, std::int64_t num_classes, const sampled_loss_options& options = {},
                const std::source_location& where = std::source_location::current());
inline output nce_loss(const output& weights, const output& biases, const output& labels, const output& inputs, std::int64_t num_sampled,
                       std::int64_t num_classes, const sampled_loss_options& options = {},
                       const std::source_location& where = std::source_location::current()) {
  return nce_loss(std::vector{weights}, std::vector{biases}, labels, inputs, num_sampled, num_classes, options, where);
}

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/functions/impl/candidates.hpp>
#endif
