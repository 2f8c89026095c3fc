#pragma once
// The most probable labels of sequences, found by a beam search: after each step only the best `beam_width` sequences of labels are kept,
// with the probabilities of all ways to spread them over the steps so far. Sources: TensorFlow `CTCBeamSearchDecoder`; Graves, "Supervised
// sequence labelling with recurrent neural networks", chapter 7.

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/counted_memory.hpp>
#include <leat/runtime/kernels/ctc.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

namespace leat::runtime {

/// The beam search of one sequence. A prefix is a sequence of labels; it refers to the prefix without its last label.
template <class T>
class label_beams {
 public:
  label_beams(std::int64_t classes, std::int64_t width, bool merges)
      : classes_(classes), width_(static_cast<std::size_t>(width)), merges_(merges), prefixes_(1), leaves_(1, 0) {
    prefixes_[0].now = {T(0), T(0), none};
  }

  /// Extends the sequences by a step with these logits.
  void step(const T* logits, const step_state& run) {
    const T offset = log_of_sums(logits);
    const std::vector<std::size_t> branches = sorted();
    for (const std::size_t b : branches) prefixes_[b].before = prefixes_[b].now;
    const T blank = logits[classes_ - 1] - offset;
    for (const std::size_t b : branches) {
      prefix& its = prefixes_[b];
      if (b != 0) {
        const prefix& parent = prefixes_[its.parent];
        if (parent.is_kept()) its.now.label = log_of_sum(its.now.label, parent.before_of(its.label));
        its.now.label += logits[its.label] - offset;
      }
      its.now.blank = its.before.total + blank;
      its.now.total = log_of_sum(its.now.blank, its.now.label);
    }
    leaves_ = branches;
    std::ranges::make_heap(leaves_, better());
    const std::size_t old = prefixes_.size();
    for (const std::size_t b : branches) {
      run.check();
      if (!is_candidate(prefixes_[b].before.total)) continue;
      for (std::int64_t k = 0; k + 1 < classes_; ++k) grow(b, static_cast<std::int32_t>(k), logits[k] - offset, old);
    }
    keep_new(old);
  }

  /// The best `count` prefixes. Errors: invalid_argument if there are fewer.
  std::vector<std::size_t> best(std::int64_t count) const {
    if (static_cast<std::size_t>(count) > width_) throw invalid_argument("requested more paths than the beam width.");
    if (static_cast<std::size_t>(count) > leaves_.size()) throw invalid_argument("Less leaves in the beam search than requested.");
    std::vector<std::size_t> all = sorted();
    all.resize(static_cast<std::size_t>(count));
    return all;
  }
  T log_probability(std::size_t at) const { return prefixes_[at].now.total; }
  std::vector<std::int64_t> labels(std::size_t at) const {
    std::vector<std::int64_t> list;
    for (; at != 0; at = prefixes_[at].parent)
      if (!merges_ || list.empty() || list.back() != prefixes_[at].label) list.push_back(prefixes_[at].label);
    std::ranges::reverse(list);
    return list;
  }

 private:
  static constexpr T none = -std::numeric_limits<T>::infinity();
  /// Logarithms of the probabilities of the ways to a prefix: of all, of those that end with a blank, and with its last label.
  struct logarithms {
    T total = none, blank = none, label = none;
  };
  struct prefix {
    std::size_t parent = 0;
    std::int32_t label = -1;
    logarithms before{}, now{};

    bool is_kept() const { return now.total != none; }
    /// The ways that this label can follow. An equal label needs a blank between.
    T before_of(std::int32_t next) const { return next == label ? before.blank : before.total; }
  };

  /// A NaN counts as the least, so that the order is one.
  static T rank_of(T total) { return std::isnan(total) ? none : total; }
  auto better() const {
    return [this](std::size_t a, std::size_t b) {
      const T x = rank_of(prefixes_[a].now.total), y = rank_of(prefixes_[b].now.total);
      return x != y ? x > y : a < b;
    };
  }
  std::vector<std::size_t> sorted() const {
    std::vector<std::size_t> list = leaves_;
    std::ranges::sort(list, better());
    return list;
  }
  T log_of_sums(const T* logits) const {
    const T most = *std::max_element(logits, logits + classes_);
    T sum = 0;
    for (std::int64_t k = 0; k < classes_; ++k) sum += std::exp(logits[k] - most);
    return most + std::log(sum);
  }
  bool is_candidate(T total) const { return total > none && (leaves_.size() < width_ || total > prefixes_[leaves_.front()].now.total); }
  std::uint64_t key(std::size_t parent, std::int32_t label) const {
    return static_cast<std::uint64_t>(parent) * static_cast<std::uint64_t>(classes_) + static_cast<std::uint64_t>(label);
  }
  /// Adds `b` with another label to the beam if it is not there and better than the worst. Prefixes from `old` on are this step's.
  void grow(std::size_t b, std::int32_t label, T logarithm, std::size_t old) {
    const auto found = places_.find(key(b, label));
    if (found != places_.end() && prefixes_[found->second].is_kept()) return;
    const T total = logarithm + prefixes_[b].before_of(label);
    if (!is_candidate(total)) {
      if (found != places_.end()) prefixes_[found->second].before = {};  // as in TensorFlow it grows no further in this step
      return;
    }
    std::size_t at = found != places_.end() ? found->second : prefixes_.size();
    if (leaves_.size() == width_) {
      std::ranges::pop_heap(leaves_, better());
      const std::size_t worst = leaves_.back();
      leaves_.pop_back();
      prefixes_[worst].now = {};
      if (worst >= old && at == prefixes_.size()) at = worst;  // nothing refers to it
    }
    if (at == prefixes_.size()) prefixes_.emplace_back();
    if (prefixes_.size() > counted_) {
      memory_.add(sizeof(prefix) + 64);  // with its entry in `places_`
      counted_ = prefixes_.size();
    }
    prefix& its = prefixes_[at];
    its.parent = b;
    its.label = label;
    its.now = {total, none, total};
    leaves_.push_back(at);
    std::ranges::push_heap(leaves_, better());
  }
  /// Drops those of this step's prefixes that were replaced, and lets the others be found.
  void keep_new(std::size_t old) {
    std::ranges::sort(leaves_);
    std::size_t next = old;
    for (std::size_t& leaf : leaves_) {
      if (leaf < old) continue;
      if (leaf != next) prefixes_[next] = prefixes_[leaf];
      leaf = next;
      places_.emplace(key(prefixes_[next].parent, prefixes_[next].label), next);
      ++next;
    }
    prefixes_.resize(next);
  }

  std::int64_t classes_;
  std::size_t width_;
  bool merges_;
  std::vector<prefix> prefixes_;                          // the first is the empty one
  std::vector<std::size_t> leaves_;                       // those in the beam; while it grows a heap, with the worst first
  std::unordered_map<std::uint64_t, std::size_t> places_;  // of prefixes by parent and last label
  counted_memory memory_;
  std::size_t counted_ = 1;  // prefixes in `memory_`
};

inline void run_beam_decoder(kernel_context& c) {
  const tensor_value x = c.input(0);
  const shape& s = x.extent();
  if (s.rank != 3) throw invalid_argument("inputs is not a 3-Tensor");
  if (x.elements() == 0) throw invalid_argument("inputs must not be empty");
  const std::int64_t batch = s[1], classes = s[2];
  if (classes >= std::numeric_limits<std::int32_t>::max()) throw invalid_argument("num_classes cannot exceed max int");
  const auto lengths = lengths_of_sequences(c, 1, s);
  const std::int64_t width = c.node.integer("beam_width", 1), paths = c.node.integer("top_paths", 1);
  if (width < 1 || paths < 1)
    throw invalid_argument("beam_width " + std::to_string(width) + " and top_paths " + std::to_string(paths) + " must be at least 1");
  if (paths > width) throw invalid_argument("requested more paths than the beam width.");
  if (3 * paths + 1 != c.result_count())
    throw invalid_argument("top_paths " + std::to_string(paths) + " does not fit a node of " + std::to_string(c.result_count()) +
                           " results");
  const auto count = static_cast<std::size_t>(paths);
  std::vector<std::vector<std::int64_t>> indices(count), labels(count);
  std::vector<std::int64_t> longest(count, 0);
  with_fraction(x.type(), [&]<class T>(T) {
    tensor_value sums(x.type(), {batch, paths});
    for (std::int64_t b = 0; b < batch; ++b) {
      label_beams<T> beams(classes, width, c.node.flag("merge_repeated", true));
      for (std::int64_t t = 0; t < lengths[static_cast<std::size_t>(b)]; ++t)
        beams.step(x.values<T>().data() + (t * batch + b) * classes, c.step);
      const std::vector<std::size_t> best = beams.best(paths);
      for (std::size_t p = 0; p < count; ++p) {
        const std::vector<std::int64_t> its = beams.labels(best[p]);
        labels[p].insert(labels[p].end(), its.begin(), its.end());
        const auto length = static_cast<std::int64_t>(its.size());
        for (std::int64_t t = 0; t < length; ++t) indices[p].insert(indices[p].end(), {b, t});
        longest[p] = std::max(longest[p], length);
        sums.values<T>()[static_cast<std::size_t>(b) * count + p] = beams.log_probability(best[p]);
      }
    }
    c.set(static_cast<int>(3 * count), std::move(sums));
  });
  for (std::size_t p = 0; p < count; ++p) {
    c.set(static_cast<int>(p), tensor_value({static_cast<std::int64_t>(labels[p].size()), 2}, indices[p]));
    c.set(static_cast<int>(count + p), tensor_value(labels[p]));
    c.set(static_cast<int>(2 * count + p), tensor_value(std::vector<std::int64_t>{batch, longest[p]}));
  }
}

LEAT_FILL(fill_ctc_beam_kernels) { register_kernel("CTCBeamSearchDecoder", run_beam_decoder); }

}  // namespace leat::runtime
