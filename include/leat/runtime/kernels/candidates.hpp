#pragma once
// Kernels that draw some of many classes, for losses that do not look at all of them, with how often each is expected to be drawn; those of
// given or learned weights are in unigrams.hpp. As in random.hpp, the numbers are not TensorFlow's. Source: TensorFlow
// `UniformCandidateSampler`, `LogUniformCandidateSampler`, `AllCandidateSampler`, `ComputeAccidentalHits`.

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/random.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace leat::runtime {

/// Each class with the same probability.
struct uniform_classes {
  std::int64_t range;
  std::int64_t at(double number) const { return std::min(static_cast<std::int64_t>(number * static_cast<double>(range)), range - 1); }
  double probability(std::int64_t) const { return 1 / static_cast<double>(range); }
};
/// Class k with the probability log((k + 2) / (k + 1)) / log(range + 1): classes in order of how frequent they are.
struct log_uniform_classes {
  std::int64_t range;
  std::int64_t at(double number) const {
    const double value = std::exp(number * std::log1p(static_cast<double>(range))) - 1;
    return value < 0x1p63 ? std::clamp(static_cast<std::int64_t>(value), std::int64_t{0}, range - 1) : range - 1;
  }
  double probability(std::int64_t k) const {
    return std::log1p(1 / (static_cast<double>(k) + 1)) / std::log1p(static_cast<double>(range));
  }
};

/// The true classes, input 0. Errors: invalid_argument unless they have `num_true` columns.
inline tensor_value true_classes(kernel_context& c) {
  tensor_value classes = c.input(0);
  const shape& s = classes.extent();
  if (s.rank != 2) throw invalid_argument("true_classes must be a matrix");
  if (s[1] != c.node.integer("num_true"))
    throw invalid_argument("true_classes must have num_true columns, expected: " + std::to_string(s[1]) +
                           " was: " + std::to_string(c.node.integer("num_true")));
  return classes;
}

/// The number of classes of a node that draws some. Errors: invalid_argument for too few of them, and for true classes beyond.
inline std::int64_t range_of_classes(const kernel_context& c, const tensor_value& given) {
  const std::int64_t count = c.node.integer("num_sampled"), range = c.node.integer("range_max");
  if (count < 1 || range < 1) throw invalid_argument("num_sampled and range_max must be at least 1");
  if (c.node.flag("unique") && count > range) throw invalid_argument("Sampler's range is too small.");
  for (const std::int64_t k : given.values<std::int64_t>())
    if (k < 0 || k >= range)
      throw invalid_argument("`true_candidate` out of range [0, " + std::to_string(range) + "), received " + std::to_string(k));
  return range;
}
/// Draws `num_sampled` classes; `classes` says which class a number from 0 to 1 means, and how probable each class is.
template <class Classes>
void draw_candidates(kernel_context& c, const tensor_value& given, const Classes& classes) {
  const std::int64_t count = c.node.integer("num_sampled");
  const bool unique = c.node.flag("unique");
  tensor_value drawn(dtype::int64, {count}), by_class(dtype::float32, given.extent()), by_draw(dtype::float32, {count});
  const auto [seed, begin] = draw(c, 2 * count);
  const auto to = drawn.values<std::int64_t>();
  std::int64_t tries = 0;
  if (unique) {
    // Given weights may be so uneven that some classes are practically never drawn.
    constexpr std::int64_t most = std::int64_t{1} << 28;
    std::unordered_set<std::int64_t> seen;
    const std::uint64_t own = mix(seed, begin);  // as many numbers as it takes
    for (std::size_t k = 0; k < to.size(); ++tries) {
      if (tries % 4096 == 4095) c.step.check();
      if (tries >= most)
        throw invalid_argument("only " + std::to_string(k) + " different classes of num_sampled " + std::to_string(count) + " in " +
                               std::to_string(most) + " draws: the others are too improbable");
      to[k] = classes.at(uniform<double>(own, static_cast<std::uint64_t>(tries)));
      if (seen.insert(to[k]).second) ++k;
    }
  } else {
    for (std::size_t k = 0; k < to.size(); ++k) to[k] = classes.at(uniform<double>(seed, begin / 2 + k));
    tries = count;
  }
  const auto expected = [&](std::int64_t k) {
    const double p = classes.probability(k);
    if (!unique || tries == count) return static_cast<float>(p * static_cast<double>(count));
    return static_cast<float>(-std::expm1(static_cast<double>(tries) * std::log1p(-p)));
  };
  std::ranges::transform(given.values<std::int64_t>(), by_class.values<float>().begin(), expected);
  std::ranges::transform(to, by_draw.values<float>().begin(), expected);
  c.set(0, std::move(drawn));
  c.set(1, std::move(by_class));
  c.set(2, std::move(by_draw));
}
template <class Classes>
void run_candidate_sampler(kernel_context& c) {
  const tensor_value given = true_classes(c);
  draw_candidates(c, given, Classes{range_of_classes(c, given)});
}
inline void run_all_candidates(kernel_context& c) {
  const tensor_value given = true_classes(c);
  const std::int64_t count = c.node.integer("num_sampled");
  tensor_value drawn(dtype::int64, {count}), by_class(dtype::float32, given.extent()), by_draw(dtype::float32, {count});
  for (std::int64_t k = 0; k < count; ++k) drawn.values<std::int64_t>()[static_cast<std::size_t>(k)] = k;
  std::ranges::fill(by_class.values<float>(), 1.0f);
  std::ranges::fill(by_draw.values<float>(), 1.0f);
  c.set(0, std::move(drawn));
  c.set(1, std::move(by_class));
  c.set(2, std::move(by_draw));
}
/// The places at which a class that was drawn is a true one, with weights that exclude it from a softmax.
inline void run_accidental_hits(kernel_context& c) {
  const tensor_value given = true_classes(c), drawn = c.input(1);
  if (drawn.extent().rank != 1)
    throw invalid_argument("sampled_candidates must be a vector, which is typically an output from CandidateSampler");
  std::unordered_map<std::int64_t, std::vector<std::int64_t>> at;
  for (std::size_t k = 0; k < drawn.values<std::int64_t>().size(); ++k)
    at[drawn.values<std::int64_t>()[k]].push_back(static_cast<std::int64_t>(k));
  const auto hits_of = [&](std::int64_t i) -> const std::vector<std::int64_t>* {
    const auto found = at.find(given.values<std::int64_t>()[static_cast<std::size_t>(i)]);
    return found == at.end() ? nullptr : &found->second;
  };
  // Counted before anything is made, because there may be as many as the product of both sizes.
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < given.elements(); ++i)
    if (const auto* hits = hits_of(i)) count += static_cast<std::int64_t>(hits->size());
  tensor_value rows(dtype::int32, {count}), places(dtype::int64, {count}), weights(dtype::float32, {count});
  std::ranges::fill(weights.values<float>(), -std::numeric_limits<float>::max());
  const std::int64_t width = given.extent()[1];
  std::int32_t* row = rows.values<std::int32_t>().data();
  std::int64_t* place = places.values<std::int64_t>().data();
  for (std::int64_t i = 0; i < given.elements(); ++i) {
    if (i % 1024 == 0) c.step.check();
    if (const auto* hits = hits_of(i)) {
      row = std::fill_n(row, hits->size(), static_cast<std::int32_t>(i / width));
      place = std::ranges::copy(*hits, place).out;
    }
  }
  c.set(0, std::move(rows));
  c.set(1, std::move(places));
  c.set(2, std::move(weights));
}

LEAT_FILL(fill_candidate_kernels) {
  register_kernel("UniformCandidateSampler", run_candidate_sampler<uniform_classes>);
  register_kernel("LogUniformCandidateSampler", run_candidate_sampler<log_uniform_classes>);
  register_kernel("AllCandidateSampler", run_all_candidates);
  register_kernel("ComputeAccidentalHits", run_accidental_hits);
}

}  // namespace leat::runtime
