#pragma once
// Definitions of operators that draw some of many classes, of numbers of events, and of the loss of labels whose places are not known.

#include <leat/core/fill.hpp>
#include <leat/named/definitions/shapes.hpp>

namespace leat::detail {

LEAT_FILL(fill_candidate_definitions) {
  constexpr facts draws{.is = nature::random, .work = work_kind::random, .stops_gradient = true};
  const auto sampled = [](shape_context& c) {
    shapes::want_rank(c, 0, 2);
    const std::int64_t count = c.integer("num_sampled");
    c.set(0, shapes::vector_of(count));
    c.set(1, c.input(0).extent);
    c.set(2, shapes::vector_of(count));
  };
  const std::string results =
      "(true_classes: int64) -> (sampled_candidates: int64, true_expected_count: float32, sampled_expected_count: float32); num_true: int "
      ">= 1; num_sampled: int >= 1; unique: bool; ";
  const std::string seeds = "seed: int = 0; seed2: int = 0";
  for (const char* type : {"UniformCandidateSampler", "LogUniformCandidateSampler", "LearnedUnigramCandidateSampler",
                           "ThreadUnsafeUnigramCandidateSampler"})
    define_operator(type + results + "range_max: int >= 1; " + seeds, draws, sampled);
  define_operator("FixedUnigramCandidateSampler" + results +
                      "range_max: int >= 1; vocab_file: string = \"\"; distortion: float = 1.0; num_reserved_ids: int = 0; num_shards: int "
                      ">= 1 = 1; shard: int >= 0 = 0; unigrams: list(float) = []; " +
                      seeds,
                  draws, sampled);
  define_operator("AllCandidateSampler" + results + seeds, draws, sampled);
  define_operator(
      "ComputeAccidentalHits(true_classes: int64, sampled_candidates: int64) -> (indices: int32, ids: int64, weights: float32); "
      "num_true: int; " +
          seeds,
      {.is = nature::pure, .stops_gradient = true}, [](shape_context& c) {
        shapes::want_rank(c, 0, 2);
        shapes::want_rank(c, 1, 1);
        c.set_all(shapes::vector_of(-1));
      });
  define_operator(
      "CTCLoss(inputs: T, labels_indices: int64, labels_values: int32, sequence_length: int32) -> (loss: T, gradient: T); "
      "preprocess_collapse_repeated: bool = false; ctc_merge_repeated: bool = true; ignore_longer_outputs_than_inputs: bool = false; "
      "T: {float32, float64} = float32",
      {.is = nature::pure}, [](shape_context& c) {
        shapes::want_rank(c, 0, 3);
        shapes::want_rank(c, 1, 2);
        shapes::want_rank(c, 2, 1);
        shapes::want_rank(c, 3, 1);
        const shape& x = c.input(0).extent;
        c.set(0, shapes::vector_of(x.has_rank() ? x[1] : unknown_dimension));
        c.set(1, x);
      });
}

}  // namespace leat::detail
