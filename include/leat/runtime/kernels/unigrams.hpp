#pragma once
// Kernels that draw some of many classes by weights: how often each was a true one before, or what a list or a file says. Source:
// TensorFlow `LearnedUnigramCandidateSampler`, `ThreadUnsafeUnigramCandidateSampler`, `FixedUnigramCandidateSampler`.

#include <leat/core/decimal.hpp>
#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/candidates.hpp>
#include <leat/runtime/kernels/file_root.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <limits>

namespace leat::runtime {

/// Classes weighted by how often they have been true ones, plus 1. A session keeps them for each node, whatever it fetches.
class learned_classes final : public closed_resource {
 public:
  static constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();  // of the sum of all weights, as in TensorFlow

  explicit learned_classes(std::int64_t range) : range_(range), total_(range) {}
  std::int64_t at(double number) const {
    std::int64_t rest = std::min(static_cast<std::int64_t>(number * static_cast<double>(total_)), total_ - 1), before = 0;
    for (auto step = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(range_))); step > 0; step /= 2)
      if (before + step <= range_ && step + sum_at(before + step) <= rest) {
        before += step;
        rest -= step + sum_at(before);
      }
    return std::min(before, range_ - 1);
  }
  double probability(std::int64_t k) const {
    const auto at = counts_.find(k);
    return static_cast<double>(1 + (at == counts_.end() ? 0 : at->second)) / static_cast<double>(total_);
  }
  void add(std::int64_t k) {
    if (total_ >= most) return;
    ++total_;
    ++counts_[k];
    for (std::int64_t i = k + 1; i <= range_; i += i & -i) ++sums_[i];
  }
  std::mutex guard;

 private:
  std::int64_t sum_at(std::int64_t i) const {
    const auto at = sums_.find(i);
    return at == sums_.end() ? 0 : at->second;
  }
  std::int64_t range_, total_;
  std::unordered_map<std::int64_t, std::int64_t> counts_;
  std::unordered_map<std::int64_t, std::int64_t> sums_;  // entry i: the counts of the last (i & -i) classes before class i (Fenwick's tree)
};
inline void run_learned_sampler(kernel_context& c) {
  const tensor_value given = true_classes(c);
  const std::int64_t range = range_of_classes(c, given);
  if (range >= learned_classes::most)
    throw invalid_argument("range_max must be below " + std::to_string(learned_classes::most) + ", not " + std::to_string(range));
  const auto classes = c.step.session.resources.find_or_make<learned_classes>(
      "", std::to_string(range) + " classes of " + c.node.name(), [&] { return std::make_shared<learned_classes>(range); });
  const std::lock_guard lock(classes->guard);
  draw_candidates(c, given, *classes);
  for (const std::int64_t k : given.values<std::int64_t>()) classes->add(k);
}

/// Classes by weights that do not change; those of the first `reserved` are 0.
class weighted_classes {
 public:
  explicit weighted_classes(kernel_context& c) : range_(c.node.integer("range_max")) {
    const std::string file = c.node.text("vocab_file");
    const auto unigrams = c.node.list<float>("unigrams");
    if (file.empty() && unigrams.empty()) throw invalid_argument("Must provide either vocab_file or unigrams.");
    if (!file.empty() && !unigrams.empty()) throw invalid_argument("Must only provide one of vocab_file and unigrams.");
    shards_ = c.node.integer("num_shards", 1), shard_ = c.node.integer("shard");
    const std::int64_t ids = c.node.integer("num_reserved_ids");
    if (shards_ < 1 || shard_ < 0) throw invalid_argument("num_shards must be at least 1, and shard not negative");
    reserved_ = shard_ < shards_ && ids > 0 ? ids / shards_ + (ids % shards_ > shard_ ? 1 : 0) : 0;
    distortion_ = c.node.attribute("distortion", 1.0f);
    std::int64_t word = reserved_;
    if (file.empty()) {
      for (const float weight : unigrams) add(word++, weight);
    } else {
      std::ifstream lines(leat::detail::path_within_root(c, file));
      if (!lines) throw not_found(file + "; No such file or directory");
      for (std::string line; std::getline(lines, line) && !is_beyond();) {
        if (line.ends_with('\r')) line.pop_back();
        if (line.empty()) continue;
        float weight = 0;
        if (is_ours(word) && !leat::detail::read_number(line.substr(line.rfind(',') + 1), weight))
          throw invalid_argument("Wrong vocabulary format at line: " + line);
        add(word++, weight);
        if (word % 4096 == 0) c.step.check();
      }
    }
    const auto size = static_cast<std::int64_t>(weights_.size());
    if (reserved_ > range_ || size != range_ - reserved_)
      throw invalid_argument("range is " + std::to_string(range_) + " must be equal to weights size " +
                             (is_beyond() ? "of more" : std::to_string(size + reserved_)));
    if (sums_.empty() || !(sums_.back() > 0) || !std::isfinite(sums_.back()))
      throw invalid_argument("the weights of classes must have a sum that is positive and finite");
  }
  std::int64_t at(double number) const {
    const auto above = std::upper_bound(sums_.begin(), sums_.end(), number * sums_.back());
    const auto last = std::lower_bound(sums_.begin(), sums_.end(), sums_.back());  // the last weight that is not 0
    return reserved_ + (std::min(above, last) - sums_.begin());
  }
  double probability(std::int64_t k) const {
    return k < reserved_ ? 0 : static_cast<double>(weights_[static_cast<std::size_t>(k - reserved_)] / total_);
  }
  std::int64_t drawable() const { return drawable_; }

 private:
  bool is_ours(std::int64_t word) const { return word % shards_ == shard_; }
  bool is_beyond() const { return static_cast<std::int64_t>(weights_.size()) > range_; }
  void add(std::int64_t word, float given) {
    if (!is_ours(word)) return;
    const float weight = std::pow(given, distortion_);
    if (!(weight >= 0))
      throw invalid_argument("a class of the weight " + summary_text(tensor_value(weight)) + ": weights are not negative");
    weights_.push_back(weight);
    total_ += weight;
    sums_.push_back((sums_.empty() ? 0 : sums_.back()) + static_cast<double>(weight));
    drawable_ += weight > 0 ? 1 : 0;
  }
  std::int64_t range_, reserved_ = 0, shards_ = 1, shard_ = 0, drawable_ = 0;
  float distortion_ = 1, total_ = 0;
  std::vector<float> weights_;
  std::vector<double> sums_;
};
/// The weights of a node, which are read once, with its position in its sequence of random numbers.
struct weighted_source final : random_source {
  explicit weighted_source(kernel_context& c) : classes(c) { seed = first_seed(c); }
  weighted_classes classes;
};
inline const weighted_classes& weights_of(kernel_context& c) {
  const std::lock_guard lock(c.node.guard);
  if (c.node.memory == nullptr) c.node.memory = std::make_unique<weighted_source>(c);
  return static_cast<const weighted_source&>(*c.node.memory).classes;
}
inline void run_fixed_sampler(kernel_context& c) {
  const tensor_value given = true_classes(c);
  range_of_classes(c, given);
  const weighted_classes& classes = weights_of(c);
  if (c.node.flag("unique") && c.node.integer("num_sampled") > classes.drawable())
    throw invalid_argument("num_sampled is " + std::to_string(c.node.integer("num_sampled")) + ", and only " +
                           std::to_string(classes.drawable()) + " classes have a weight above 0");
  draw_candidates(c, given, classes);
}

LEAT_FILL(fill_unigram_kernels) {
  register_kernel("LearnedUnigramCandidateSampler", run_learned_sampler);
  register_kernel("ThreadUnsafeUnigramCandidateSampler", run_learned_sampler);
  register_kernel("FixedUnigramCandidateSampler", run_fixed_sampler);
}

}  // namespace leat::runtime
