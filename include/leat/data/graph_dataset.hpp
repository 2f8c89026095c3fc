#pragma once
// Datasets of TensorFlow's operators at run time. A node such as BatchDatasetV2 makes a dataset, which describes elements and holds none;
// an iterator starts a pass through it. Passes form a chain in which each takes elements from those before it, on the thread of the run
// that asks for an element. A graph is untrusted, so datasets have a limited depth, and passes a limited number.

#include <leat/core/error.hpp>
#include <leat/core/memory.hpp>
#include <leat/core/philox.hpp>
#include <leat/data/iterator_states.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/random_sequences.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leat::data::detail {

/// The components of an element.
using components = std::vector<tensor_value>;

class dataset_function;
struct function_recipe;
class graph_dataset;

/// What functions of datasets use of the session in which an iterator started.
struct pipeline_place {
  std::weak_ptr<resource_table> resources;
  std::string file_root;
};
inline pipeline_place place_of(const kernel_context& c) { return {c.step.session.kept_resources, c.step.session.file_root}; }

inline std::uint64_t random_pipeline_seed() {
  std::random_device device;
  return leat::mix(device(), device());
}

/// What the passes of one iterator share: the run that asks for an element, the functions, and the source of seeds.
class pipeline {
 public:
  static constexpr std::size_t most_passes = std::size_t{1} << 16;

  pipeline(pipeline_place its_place, std::uint64_t its_seed) : place(std::move(its_place)), seed(its_seed) {}
  pipeline(const pipeline&) = delete;
  pipeline& operator=(const pipeline&) = delete;

  /// Calls `f` on behalf of a run. Errors: failed_precondition if the session in which the iterator started has ended.
  template <class F>
  auto within(step_state& step, F f) {
    const auto alive = place.resources.lock();
    if (alive == nullptr) throw failed_precondition("the session in which the iterator started has ended");
    struct back {
      step_state*& to;
      step_state* before;
      ~back() { to = before; }
    } restore{step_, std::exchange(step_, &step)};
    return f();
  }
  step_state& step() const { return *step_; }
  /// The function of a node, made when the pipeline first needs it.
  dataset_function& function(const std::shared_ptr<const function_recipe>& recipe);
  /// The seed of a pass through a dataset that has none of its own.
  std::uint64_t draw_seed() { return leat::mix(seed, ++seeds_drawn_); }
  /// How many passes through this dataset have begun before.
  std::uint64_t count_pass(const std::shared_ptr<const graph_dataset>& of);

  const pipeline_place place;
  const std::uint64_t seed;
  std::size_t passes = 0, depth = 0;

 private:
  step_state* step_ = nullptr;
  std::uint64_t seeds_drawn_ = 0;
  std::map<std::shared_ptr<const function_recipe>, std::shared_ptr<dataset_function>> functions_;
  struct counted {
    std::weak_ptr<const graph_dataset> of;
    std::uint64_t passes = 0;
  };
  std::map<const graph_dataset*, counted> counts_;
  std::size_t most_counts_ = 64;
};

/// A pass through a dataset.
class dataset_pass {
 public:
  /// Errors: resource_exhausted for too many passes at one time.
  explicit dataset_pass(pipeline& its_pipeline) : pipeline_(its_pipeline) {
    if (pipeline_.passes >= pipeline::most_passes)
      throw resource_exhausted("a pipeline with more than " + std::to_string(pipeline::most_passes) +
                               " passes through datasets at one time");
    ++pipeline_.passes;
  }
  dataset_pass(const dataset_pass&) = delete;
  dataset_pass& operator=(const dataset_pass&) = delete;
  virtual ~dataset_pass() { --pipeline_.passes; }

  /// Writes the next element; false at the end. Errors: those of the step's check, so that no pipeline runs beyond its run.
  bool next(components& to) {
    static constexpr std::size_t most_depth = 1024;
    if (pipeline_.depth >= most_depth) throw resource_exhausted("passes through datasets are nested too deeply");
    pipeline_.step().check();
    struct back {
      std::size_t& depth;
      ~back() { --depth; }
    } leave{++pipeline_.depth};
    return advance(to);
  }

 protected:
  virtual bool advance(components& to) = 0;
  pipeline& pipeline_;
};

/// The dtypes and shapes of a dataset's components.
struct element_spec {
  std::vector<dtype> types;
  std::vector<shape> shapes;
};
/// Those that a node's attributes state.
inline element_spec spec_of(const kernel_node& n, std::string_view types = "output_types") {
  element_spec spec;
  for (const data_type t : n.list<data_type>(types)) spec.types.push_back(static_cast<dtype>(t));
  for (const tensor_shape_proto& p : n.list<tensor_shape_proto>("output_shapes")) spec.shapes.push_back(to_shape(p));
  if (spec.shapes.size() != spec.types.size())
    throw invalid_argument("has " + std::to_string(spec.types.size()) + " dtypes and " + std::to_string(spec.shapes.size()) +
                           " shapes of components");
  return spec;
}
inline bool is_handle(dtype type) { return type == resource_dtype || type == static_cast<dtype>(data_type::variant); }
/// Errors: invalid_argument for an element whose components have other dtypes or shapes.
inline void check_element(const components& element, const element_spec& spec) {
  if (element.size() != spec.types.size())
    throw invalid_argument("an element has " + std::to_string(element.size()) + " components instead of " +
                           std::to_string(spec.types.size()));
  for (std::size_t k = 0; k < element.size(); ++k) {
    const tensor_value& v = element[k];
    const dtype wanted = spec.types[k];
    if (!v || (v.type() != wanted && !(is_handle(v.type()) && is_handle(wanted))))
      throw invalid_argument("component " + std::to_string(k) + " of an element is " + (v ? dtype_name(v.type()) : "nothing") +
                             " instead of " + dtype_name(wanted));
    if (!may_equal(v.extent(), spec.shapes[k]))
      throw invalid_argument("component " + std::to_string(k) + " of an element has shape " + brackets(v.extent()) +
                             ", which does not fit " + brackets(spec.shapes[k]));
  }
}

/// A dataset, as the value of a node.
class graph_dataset : public resource, public std::enable_shared_from_this<graph_dataset> {
 public:
  static constexpr int most_depth = 256;
  using inputs = std::vector<std::shared_ptr<const graph_dataset>>;

  /// Errors: resource_exhausted for more than `most_depth` datasets that take elements from each other.
  graph_dataset(std::string its_type, inputs from) : type(std::move(its_type)), from_(std::move(from)) {
    for (const auto& one : from_) nest(one->depth_);
  }
  /// Starts a pass.
  virtual std::unique_ptr<dataset_pass> iterate(pipeline& p) const = 0;
  /// A function that starts an iterator.
  virtual source_maker maker(pipeline_place place) const;
  /// The datasets' operators, in a row through their first inputs.
  std::string description() const {
    std::string text = type;
    for (const graph_dataset* at = this; !at->from_.empty();) {
      at = at->from_[0].get();
      text += " of " + at->type;
    }
    return text;
  }
  const std::string type;

 protected:
  const graph_dataset& from(std::size_t k = 0) const { return *from_[k]; }
  const inputs& all_inputs() const { return from_; }
  /// Counts the datasets among captured values.
  void nest(const components& captured) {
    for (const tensor_value& v : captured)
      if (v && v.type() == resource_dtype)
        if (const auto* inner = dynamic_cast<const graph_dataset*>(v.held().get())) nest(inner->depth_);
  }

 private:
  void nest(int depth) {
    depth_ = std::max(depth_, depth + 1);
    if (depth_ > most_depth) throw resource_exhausted("more than " + std::to_string(most_depth) + " datasets that need each other");
  }
  const inputs from_;
  int depth_ = 1;
};

/// A pass through a dataset of class `D`, which it keeps alive.
template <class D>
class pass_of : public dataset_pass {
 public:
  pass_of(pipeline& p, const D& of) : dataset_pass(p), held_(of.shared_from_this()), of_(of) {}

 private:
  std::shared_ptr<const graph_dataset> held_;

 protected:
  const D& of_;
};

/// The dataset that a handle refers to. Errors: invalid_argument if it refers to something else.
inline std::shared_ptr<const graph_dataset> dataset_in(const tensor_value& handle) {
  auto found = handle && handle.type() == resource_dtype ? std::dynamic_pointer_cast<const graph_dataset>(handle.held()) : nullptr;
  if (found == nullptr) throw invalid_argument("the handle is none of a dataset");
  return found;
}

inline std::uint64_t pipeline::count_pass(const std::shared_ptr<const graph_dataset>& of) {
  if (counts_.size() >= most_counts_) {
    std::erase_if(counts_, [](const auto& entry) { return entry.second.of.expired(); });
    most_counts_ = 2 * std::max<std::size_t>(counts_.size(), 32);
  }
  counted& its = counts_[of.get()];
  if (its.of.lock() != of) its = {of, 0};
  return its.passes++;
}

/// A dataset as the source of an iterator. Its state is the number of elements that it has given: it is restored by taking them again.
class dataset_elements final : public value_source {
 public:
  dataset_elements(std::shared_ptr<const graph_dataset> of, pipeline_place place)
      : of_(std::move(of)), pipeline_(std::make_unique<pipeline>(std::move(place), random_pipeline_seed())) {}
  bool next(step_state& step, components& to) override {
    return pipeline_->within(step, [&] {
      if (pass_ == nullptr) pass_ = of_->iterate(*pipeline_);
      for (; skipped_ > 0; --skipped_, ++given_) {
        try {
          if (!pass_->next(to)) throw data_loss("the state of a pipeline is beyond its end: its data have changed");
        } catch (const error& e) {
          pass_on(e);
        }
      }
      try {
        if (!pass_->next(to)) return false;
      } catch (const error& e) {
        given_ += is_of_the_run(e) ? 0 : 1;
        throw;
      }
      ++given_;
      return true;
    });
  }
  std::string save_state() const override;
  void restore_state(std::string_view text) override;

 private:
  static bool is_of_the_run(const error& e) {
    return dynamic_cast<const cancelled*>(&e) != nullptr || dynamic_cast<const deadline_exceeded*>(&e) != nullptr;
  }
  // The errors of elements that are taken again were thrown before.
  static void pass_on(const error& e) {
    if (is_of_the_run(e) || dynamic_cast<const data_loss*>(&e) != nullptr) leat::detail::rethrow_saying(e, e.what());
  }

  std::shared_ptr<const graph_dataset> of_;
  std::unique_ptr<pipeline> pipeline_;
  std::unique_ptr<dataset_pass> pass_;
  std::uint64_t skipped_ = 0, given_ = 0;
};

inline source_maker graph_dataset::maker(pipeline_place place) const {
  return [of = shared_from_this(), place = std::move(place)] { return std::make_unique<dataset_elements>(of, place); };
}

/// Elements that a stage holds. Their number counts toward the session's limit, too, because small arrays by themselves do not.
class held_elements {
 public:
  std::size_t size() const { return list_.size(); }
  bool empty() const { return list_.empty(); }
  components& operator[](std::size_t k) { return list_[k]; }
  const std::vector<components>& all() const { return list_; }
  void push(components element) {
    if (list_.size() == list_.capacity()) {
      const std::size_t room = std::max<std::size_t>(16, 2 * list_.capacity());
      taken_.take(room * (sizeof(components) + element.size() * (sizeof(tensor_value) + of_small_array)));
      list_.reserve(room);
    }
    list_.push_back(std::move(element));
  }
  void pop() { list_.pop_back(); }
  void clear() { list_.clear(); }

 private:
  static constexpr std::size_t of_small_array = 128;
  std::vector<components> list_;
  metered_bytes taken_;
};

}  // namespace leat::data::detail

#if LEAT_WITH_BODIES
#include <leat/data/impl/graph_dataset.hpp>
#endif
