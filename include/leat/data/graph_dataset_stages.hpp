#pragma once
// Datasets of graphs that select, order and combine the elements of other datasets, without functions: batch, repeat, take, skip, shuffle,
// zip, concatenate, cache, shard, unbatch, window.

#include <leat/data/graph_dataset_sources.hpp>

#include <mutex>
#include <optional>

namespace leat::data::detail {

/// A dataset that gives its input's elements unchanged, as those do that only say how TensorFlow is to run a pipeline.
class passing_dataset final : public graph_dataset {
 public:
  passing_dataset(std::string its_type, inputs from) : graph_dataset(std::move(its_type), std::move(from)) {}
  std::unique_ptr<dataset_pass> iterate(pipeline& p) const override { return from().iterate(p); }
};

/// Elements in groups of `size`, each as one. `stacks` makes it of them.
class batch_dataset final : public graph_dataset {
 public:
  using makes_one = std::function<components(std::span<const components>)>;
  batch_dataset(std::string its_type, inputs from, std::int64_t size, bool drops_rest, makes_one stacks)
      : graph_dataset(std::move(its_type), std::move(from)), size_(size), drops_rest_(drops_rest), stacks_(std::move(stacks)) {
    if (size <= 0) throw invalid_argument("Batch size must be greater than zero.");
  }
  std::unique_ptr<dataset_pass> iterate(pipeline& p) const override { return std::make_unique<pass>(p, *this); }

 private:
  struct pass final : pass_of<batch_dataset> {
    pass(pipeline& p, const batch_dataset& of) : pass_of(p, of), from(of.from().iterate(p)) {}
    std::unique_ptr<dataset_pass> from;
    bool advance(components& to) override {
      if (from == nullptr) return false;
      held_elements rows;
      while (static_cast<std::int64_t>(rows.size()) < of_.size_) {
        components element;
        if (!from->next(element)) {
          from.reset();
          break;
        }
        rows.push(std::move(element));
      }
      if (rows.empty() || (from == nullptr && of_.drops_rest_ && static_cast<std::int64_t>(rows.size()) < of_.size_)) return false;
      to = of_.stacks_(rows.all());
      return true;
    }
  };
  const std::int64_t size_;
  const bool drops_rest_;
  const makes_one stacks_;
};

/// A negative count repeats without end.
class repeat_dataset final : public graph_dataset {
 public:
  repeat_dataset(std::string its_type, inputs from, std::int64_t count)
      : graph_dataset(std::move(its_type), std::move(from)), count_(count) {}
  std::unique_ptr<dataset_pass> iterate(pipeline& p) const override { return std::make_unique<pass>(p, *this); }

 private:
  struct pass final : pass_of<repeat_dataset> {
    using pass_of::pass_of;
    std::unique_ptr<dataset_pass> from;
    std::int64_t done = 0;
    bool advance(components& to) override {
      while (of_.count_ < 0 || done < of_.count_) {
        pipeline_.step().check();
        const bool is_first = from == nullptr;
        if (is_first) from = of_.from().iterate(pipeline_);
        if (from->next(to)) return true;
        from.reset();
        if (of_.count_ >= 0) ++done;
        else if (is_first) return false;  // nothing, without end
      }
      return false;
    }
  };
  const std::int64_t count_;
};

/// The first elements, or all for a negative count.
class take_dataset final : public graph_dataset {
 public:
  take_dataset(std::string its_type, inputs from, std::int64_t count)
      : graph_dataset(std::move(its_type), std::move(from)), count_(count) {}
  std::unique_ptr<dataset_pass> iterate(pipeline& p) const override { return std::make_unique<pass>(p, *this); }

 private:
  struct pass final : pass_of<take_dataset> {
    pass(pipeline& p, const take_dataset& of) : pass_of(p, of), from(of.from().iterate(p)) {}
    std::unique_ptr<dataset_pass> from;
    std::int64_t done = 0;
    bool advance(components& to) override {
      if (from == nullptr || (of_.count_ >= 0 && done >= of_.count_)) return false;
      ++done;
      if (from->next(to)) return true;
      from.reset();
      return false;
    }
  };
  const std::int64_t count_;
};

/// All elements but the first ones; none for a negative count.
class skip_dataset final : public graph_dataset {
 public:
  skip_dataset(std::string its_type, inputs from, std::int64_t count)
      : graph_dataset(std::move(its_type), std::move(from)), count_(count) {}
  std::unique_ptr<dataset_pass> iterate(pipeline& p) const override { return std::make_unique<pass>(p, *this); }

 private:
  struct pass final : pass_of<skip_dataset> {
    pass(pipeline& p, const skip_dataset& of) : pass_of(p, of), from(of.count_ < 0 ? nullptr : of.from().iterate(p)), left(of.count_) {}
    std::unique_ptr<dataset_pass> from;
    std::int64_t left;
    bool advance(components& to) override {
      while (from != nullptr) {
        if (!from->next(to)) from.reset();
        else if (left-- <= 0) return true;
      }
      return false;
    }
  };
  const std::int64_t count_;
};

/// Each `shards`th element.
class shard_dataset final : public graph_dataset {
 public:
  shard_dataset(std::string its_type, inputs from, std::int64_t shards, std::int64_t index)
      : graph_dataset(std::move(its_type), std::move(from)), shards_(shards), index_(index) {
    if (shards < 1)
      throw invalid_argument("Number of shards must be greater than zero (currently num_shards = " + std::to_string(shards) + ").");
    if (index < 0 || index >= shards)
      throw invalid_argument("Index must be between 0 and " + std::to_string(shards - 1) + " (currently index = " + std::to_string(index) +
                             ", num_shards = " + std::to_string(shards) + ").");
  }
  std::unique_ptr<dataset_pass> iterate(pipeline& p) const override { return std::make_unique<pass>(p, *this); }

 private:
  struct pass final : pass_of<shard_dataset> {
    pass(pipeline& p, const shard_dataset& of) : pass_of(p, of), from(of.from().iterate(p)) {}
    std::unique_ptr<dataset_pass> from;
    std::int64_t at = 0;
    bool advance(components& to) override {
      while (from->next(to)) {
        const bool is_mine = at == of_.index_;
        at = at + 1 == of_.shards_ ? 0 : at + 1;
        if (is_mine) return true;
      }
      return false;
    }
  };
  const std::int64_t shards_, index_;
};

/// Seeds of passes, as the resource that ShuffleDatasetV2 and V3 take. Source: TensorFlow `AnonymousSeedGenerator`.
struct seed_generator final : closed_resource {
  seed_generator(std::int64_t first, std::int64_t second, bool reshuffles_each) : seed(first), seed2(second), reshuffles(reshuffles_each) {}
  std::int64_t seed, seed2;
  bool reshuffles;
};

/// Elements in an order that the seeds decide, TensorFlow's: each is drawn from a buffer of the next ones.
class shuffle_dataset final : public graph_dataset {
 public:
  static constexpr std::int64_t whole_input = -2;
  shuffle_dataset(std::string its_type, inputs from, std::int64_t buffer, std::int64_t seed, std::int64_t seed2, bool reshuffles)
      : graph_dataset(std::move(its_type), std::move(from)), buffer_(buffer), seed_(seed), seed2_(seed2), reshuffles_(reshuffles) {
    if (buffer <= 0 && buffer != whole_input) throw invalid_argument("buffer_size must be greater than zero or UNKNOWN_CARDINALITY");
  }
  std::unique_ptr<dataset_pass> iterate(pipeline& p) const override { return std::make_unique<pass>(p, *this, words_of_pass(p)); }

 private:
  // Each pass that has an order of its own gets the next two words of the dataset's seeds as its seeds.
  kernels::seeded_sequence words_of_pass(pipeline& p) const {
    if (seed_ == 0 && seed2_ == 0) return {reshuffles_ ? p.draw_seed() : p.seed, 0, 0};
    const kernels::seeded_sequence of_node(static_cast<std::uint64_t>(seed_), 0, static_cast<std::uint64_t>(seed2_));
    if (!reshuffles_) return of_node;
    const std::uint64_t k = 2 * p.count_pass(shared_from_this());
    return {runtime::word_of(of_node, k), 0, runtime::word_of(of_node, k + 1)};
  }
  struct pass final : pass_of<shuffle_dataset> {
    pass(pipeline& p, const shuffle_dataset& of, const kernels::seeded_sequence& its_words)
        : pass_of(p, of), from(of.from().iterate(p)), words(its_words) {}
    std::unique_ptr<dataset_pass> from;
    held_elements buffer;  // a ring once it is full: the elements that wait are those from `first` on
    kernels::seeded_sequence words;
    std::uint64_t drawn = 0;
    std::size_t first = 0, waiting = 0;
    bool advance(components& to) override {
      while (from != nullptr && (of_.buffer_ == whole_input || static_cast<std::int64_t>(waiting) < of_.buffer_)) {
        components element;
        if (!from->next(element)) {
          from.reset();
          break;
        }
        if (of_.buffer_ == whole_input || static_cast<std::int64_t>(buffer.size()) < of_.buffer_) buffer.push(std::move(element));
        else buffer[(first + waiting) % buffer.size()] = std::move(element);
        ++waiting;
      }
      if (waiting == 0) return false;
      components& chosen = buffer[(first + runtime::word_of(words, drawn++) % waiting) % buffer.size()];
      to = std::move(chosen);
      chosen = std::move(buffer[first % buffer.size()]);
      ++first;
      --waiting;
      return true;
    }
  };
  const std::int64_t buffer_, seed_, seed2_;
  const bool reshuffles_;
};

/// The components of one element of each input, until one of them ends.
class zip_dataset final : public graph_dataset {
 public:
  zip_dataset(std::string its_type, inputs from) : graph_dataset(std::move(its_type), std::move(from)) {}
  std::unique_ptr<dataset_pass> iterate(pipeline& p) const override { return std::make_unique<pass>(p, *this); }

 private:
  struct pass final : pass_of<zip_dataset> {
    pass(pipeline& p, const zip_dataset& of) : pass_of(p, of) {
      for (const auto& one : of.all_inputs()) from.push_back(one->iterate(p));
    }
    std::vector<std::unique_ptr<dataset_pass>> from;
    bool advance(components& to) override {
      components all;
      for (const auto& one : from) {
        components part;
        if (!one->next(part)) {
          from.clear();
          break;
        }
        for (tensor_value& v : part) all.push_back(std::move(v));
      }
      to = std::move(all);
      return !from.empty();
    }
  };
};

/// The elements of one dataset, and then those of another.
class concatenated_dataset final : public graph_dataset {
 public:
  concatenated_dataset(std::string its_type, inputs from) : graph_dataset(std::move(its_type), std::move(from)) {}
  std::unique_ptr<dataset_pass> iterate(pipeline& p) const override { return std::make_unique<pass>(p, *this); }

 private:
  struct pass final : pass_of<concatenated_dataset> {
    using pass_of::pass_of;
    std::unique_ptr<dataset_pass> from;
    std::size_t at = 0;
    bool advance(components& to) override {
      for (; at < of_.all_inputs().size(); ++at, from.reset()) {
        if (from == nullptr) from = of_.from(at).iterate(pipeline_);
        if (from->next(to)) return true;
      }
      return false;
    }
  };
};

/// Elements that were kept during the first complete pass. Source: TensorFlow `CacheDataset`, in memory.
class cached_dataset final : public graph_dataset {
 public:
  cached_dataset(std::string its_type, inputs from) : graph_dataset(std::move(its_type), std::move(from)) {}
  std::unique_ptr<dataset_pass> iterate(pipeline& p) const override { return std::make_unique<pass>(p, *this); }

 private:
  struct pass final : pass_of<cached_dataset> {
    pass(pipeline& p, const cached_dataset& of) : pass_of(p, of), ready(of.known()) {
      if (ready != nullptr) return;
      from = of.from().iterate(p);
      filling = std::make_shared<held_elements>();
    }
    std::shared_ptr<held_elements> ready, filling;
    std::unique_ptr<dataset_pass> from;
    std::size_t at = 0;
    bool advance(components& to) override {
      if (ready != nullptr) {
        if (at == ready->size()) return false;
        to = ready->all()[at++];
        return true;
      }
      if (from == nullptr) return false;
      if (!from->next(to)) {
        of_.keep(std::move(filling));
        from.reset();
        return false;
      }
      filling->push(to);
      return true;
    }
  };
  std::shared_ptr<held_elements> known() const {
    const std::lock_guard lock(guard_);
    return known_;
  }
  void keep(std::shared_ptr<held_elements> all) const {
    const std::lock_guard lock(guard_);
    if (known_ == nullptr) known_ = std::move(all);
  }
  mutable std::mutex guard_;
  mutable std::shared_ptr<held_elements> known_;
};

/// The rows of elements. Source: TensorFlow `UnbatchDataset`.
class unbatched_dataset final : public graph_dataset {
 public:
  unbatched_dataset(std::string its_type, inputs from) : graph_dataset(std::move(its_type), std::move(from)) {}
  std::unique_ptr<dataset_pass> iterate(pipeline& p) const override { return std::make_unique<pass>(p, *this); }

 private:
  struct pass final : pass_of<unbatched_dataset> {
    pass(pipeline& p, const unbatched_dataset& of) : pass_of(p, of), from(of.from().iterate(p)) {}
    std::unique_ptr<dataset_pass> from;
    components element;
    std::int64_t at = 0, size = 0;
    bool advance(components& to) override {
      while (at == size) {
        at = size = 0;
        if (!from->next(element)) return false;
        for (const tensor_value& v : element) {
          if (v.extent().rank == 0) throw invalid_argument("Input element must have a non-scalar value in each component.");
          if (v.extent()[0] != element[0].extent()[0])
            throw invalid_argument("Input element must have the same batch size in each component. Component 0 had size " +
                                   std::to_string(element[0].extent()[0]) + " but another component had size " +
                                   std::to_string(v.extent()[0]) + ".");
        }
        size = element.empty() ? 0 : element[0].extent()[0];
      }
      to.clear();
      for (const tensor_value& v : element) to.push_back(row_of(v, at));
      ++at;
      return true;
    }
  };
};

/// Elements that are given, such as those of a window.
class dataset_of_elements final : public graph_dataset {
 public:
  dataset_of_elements(std::string its_type, std::shared_ptr<const held_elements> all, std::optional<std::size_t> component = std::nullopt)
      : graph_dataset(std::move(its_type), {}), all_(std::move(all)), component_(component) {
    for (const components& element : all_->all()) nest(element);
  }
  std::unique_ptr<dataset_pass> iterate(pipeline& p) const override { return std::make_unique<pass>(p, *this); }

 private:
  struct pass final : pass_of<dataset_of_elements> {
    using pass_of::pass_of;
    std::size_t at = 0;
    bool advance(components& to) override {
      if (at == of_.all_->size()) return false;
      const components& element = of_.all_->all()[at++];
      to = of_.component_ ? components{element.at(*of_.component_)} : element;
      return true;
    }
  };
  const std::shared_ptr<const held_elements> all_;
  const std::optional<std::size_t> component_;
};

/// Windows of elements, each component as a dataset. Source: TensorFlow `WindowDataset`.
class window_dataset final : public graph_dataset {
 public:
  window_dataset(std::string its_type, inputs from, std::int64_t size, std::int64_t shift, std::int64_t stride, bool drops_rest)
      : graph_dataset(std::move(its_type), std::move(from)), size_(size), shift_(shift), stride_(stride), drops_rest_(drops_rest) {
    if (size <= 0) throw invalid_argument("Window size must be greater than zero.");
    if (shift <= 0) throw invalid_argument("Window shift must be greater than zero.");
    if (stride <= 0) throw invalid_argument("Window stride must be greater than zero.");
    if (__builtin_mul_overflow(size - 1, stride, &reach_) || reach_ == INT64_MAX)
      throw invalid_argument("a window too large to be counted");
    ++reach_;
  }
  std::unique_ptr<dataset_pass> iterate(pipeline& p) const override { return std::make_unique<pass>(p, *this); }

 private:
  struct pass final : pass_of<window_dataset> {
    pass(pipeline& p, const window_dataset& of) : pass_of(p, of), from(of.from().iterate(p)) {}
    std::unique_ptr<dataset_pass> from;
    std::shared_ptr<held_elements> buffer = std::make_shared<held_elements>();
    std::int64_t to_skip = 0;
    bool advance(components& to) override {
      components element;
      for (; to_skip > 0 && from != nullptr; --to_skip)
        if (!from->next(element)) from.reset();
      while (from != nullptr && static_cast<std::int64_t>(buffer->size()) < of_.reach_) {
        if (!from->next(element)) from.reset();
        else buffer->push(element);
      }
      const auto held = static_cast<std::int64_t>(buffer->size());
      if (held == 0 || (of_.drops_rest_ && held < of_.reach_)) return false;
      const auto window = std::make_shared<held_elements>();
      for (std::int64_t k = 0; k < held && static_cast<std::int64_t>(window->size()) < of_.size_; k += of_.stride_)
        window->push((*buffer)[static_cast<std::size_t>(k)]);
      const auto rest = std::make_shared<held_elements>();
      for (std::int64_t k = of_.shift_; k < held; ++k) rest->push((*buffer)[static_cast<std::size_t>(k)]);
      to_skip = std::max<std::int64_t>(0, of_.shift_ - held);
      buffer = rest;
      const std::size_t count = window->all()[0].size();
      to.clear();
      for (std::size_t k = 0; k < count; ++k)
        to.push_back(tensor_value::handle(std::make_shared<dataset_of_elements>("WindowDataset", window, k)));
      return true;
    }
  };
  const std::int64_t size_, shift_, stride_;
  const bool drops_rest_;
  std::int64_t reach_ = 0;  // from a window's first element to behind its last
};

}  // namespace leat::data::detail
