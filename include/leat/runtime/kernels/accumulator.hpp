#pragma once
// Accumulators, which add up the gradients of a model's replicas. A gradient comes with the training step that it was computed for; a
// gradient whose step is earlier than the accumulator's is stale and is dropped. Taking the sum or mean waits until there are enough
// gradients, empties the accumulator and increments its step. Gradients of numbered replicas are stored separately until then: a replica's
// second gradient replaces its first, and sums are in the order of the replica numbers. When replicas leave, fewer gradients are enough
// (kernels_roster.hpp).
// Source: TensorFlow's ConditionalAccumulatorBase.

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/control.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/walk.hpp>

#include <algorithm>
#include <condition_variable>
#include <list>
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace leat::runtime {

/// What all accumulators have in common: a step, a count, and callers that wait for enough gradients.
class accumulator : public resource {
 public:
  accumulator(std::string name, dtype type, const shape& extent, bool is_mean)
      : name_(std::move(name)), type_(type), extent_(extent), is_mean_(is_mean) {}

  dtype type() const { return type_; }
  const shape& extent() const { return extent_; }
  /// Called when a chief begins or resumes training: sets the step and forgets how many gradients an earlier roster required.
  void set_step(std::int64_t step) {
    const std::lock_guard lock(guard_);
    step_ = step;
    version_ = 0;
    enough_ = -1;
  }
  /// From now on this many gradients are enough, even if a caller of `take` asks for more. Calls are ordered by `version`; late ones are
  /// ignored.
  void set_enough(std::int64_t version, std::int64_t gradients) {
    const std::lock_guard lock(guard_);
    if (version < version_) return;
    version_ = version;
    enough_ = gradients;
    changed_.notify_all();
  }
  std::int64_t count() const {
    const std::lock_guard lock(guard_);
    return count_;
  }
  /// The number of stale gradients.
  std::int64_t dropped() const {
    const std::lock_guard lock(guard_);
    return dropped_;
  }

 protected:
  void want_type(dtype given, std::string_view what) const {
    if (given != type_)
      throw invalid_argument("the accumulator '" + name_ + "' is " + dtype_name(type_) + ", the " + std::string(what) + " " +
                             dtype_name(given));
  }
  /// Whether a gradient of this step comes too late; it is counted. Called with the lock held, as are all that follow.
  bool is_stale(std::int64_t step) {
    if (step >= step_) return false;
    ++dropped_;
    return true;
  }
  /// Waits for at least `required` gradients, returns what `made` makes of them, and begins the next step. Callers are served in the order
  /// of arrival. Errors: invalid_argument if `required` is less than 1; those of the step's check.
  template <class Made>
  auto take_when_enough(std::int64_t required, step_state& step, Made made) {
    if (required <= 0) throw invalid_argument("Argument num_required must be positive, but was " + std::to_string(required));
    std::unique_lock lock(guard_);
    const auto mine = takers_.insert(takers_.end(), 0);
    struct leaving {
      accumulator& its;
      std::list<int>::iterator at;
      ~leaving() {
        its.takers_.erase(at);
        its.changed_.notify_all();
      }
    } const left{*this, mine};
    while (takers_.begin() != mine || count_ < enough(required)) {
      step.check();
      changed_.wait_for(lock, std::chrono::milliseconds(2));  // polls, because cancellation does not notify
    }
    auto result = made();
    count_ = 0;
    ++step_;
    return result;
  }

  const std::string name_;
  const dtype type_;
  const shape extent_;
  const bool is_mean_;
  mutable std::mutex guard_;
  std::condition_variable changed_;
  std::int64_t count_ = 0;

 private:
  std::int64_t enough(std::int64_t required) const {
    return enough_ < 0 ? required : std::min(required, std::max<std::int64_t>(1, enough_));
  }

  std::list<int> takers_;
  std::int64_t enough_ = -1;
  std::int64_t version_ = 0;
  std::int64_t step_ = 0;
  std::int64_t dropped_ = 0;
};

class gradient_accumulator final : public accumulator {
 public:
  using accumulator::accumulator;

  /// Adds a gradient, or drops it if it is stale. `replica`: the replica's number, or -1 if gradients are not numbered. Errors:
  /// invalid_argument for another dtype or shape.
  void add(std::int64_t step, const tensor_value& gradient, std::int64_t replica = -1) {
    want_type(gradient.type(), "gradient");
    if (!may_equal(extent_, gradient.extent()))
      throw invalid_argument("Shape mismatch: expected " + brackets(extent_) + ", got " + brackets(gradient.extent()));
    const std::lock_guard lock(guard_);
    if (is_stale(step)) return;
    if (replica >= 0) {
      const auto [at, is_new] = of_replicas_.try_emplace(replica);
      if (!is_new && !(at->second.extent() == gradient.extent()))
        throw invalid_argument("Shape mismatch: expected " + brackets(at->second.extent()) + ", got " + brackets(gradient.extent()));
      at->second = gradient.kept();
      count_ += is_new ? 1 : 0;
    } else {
      add_to_sum(gradient, count_ == 0);
      ++count_;
    }
    changed_.notify_all();
  }
  /// The mean or sum of all gradients present, once there are `required` of them. Errors: those of `take_when_enough`.
  tensor_value take(std::int64_t required, step_state& step) {
    return take_when_enough(required, step, [this] {
      for (bool is_first = count_ == static_cast<std::int64_t>(of_replicas_.size()); const auto& [replica, gradient] : of_replicas_)
        add_to_sum(gradient, std::exchange(is_first, false));
      of_replicas_.clear();
      tensor_value result = std::move(sum_);
      if (is_mean_ && count_ > 1)
        with_number(type_, [&]<class T>(T) {
          if constexpr (!std::is_same_v<T, bool>) {
            for (T& x : result.values<T>()) {
              if constexpr (std::is_floating_point_v<T>) x /= static_cast<T>(count_);
              else x = static_cast<T>(static_cast<std::int64_t>(x) / count_);  // a small integer may not hold the count
            }
          }
        });
      sum_ = {};
      return result;
    });
  }

 private:
  void add_to_sum(const tensor_value& gradient, bool is_first) {
    if (is_first) {
      sum_ = gradient.copy();
      return;
    }
    if (!(sum_.extent() == gradient.extent()))
      throw invalid_argument("Shape mismatch: expected " + brackets(sum_.extent()) + ", got " + brackets(gradient.extent()));
    with_number(type_, [&]<class T>(T) {
      if constexpr (!std::is_same_v<T, bool>) {
        const auto to = sum_.values<T>();
        const auto from = gradient.values<T>();
        for (std::size_t i = 0; i < to.size(); ++i) to[i] = arithmetic<T>::add(to[i], from[i]);
      }
    });
  }

  tensor_value sum_;
  std::map<std::int64_t, tensor_value> of_replicas_;
};

/// An accumulator of gradients that are rows of the variable's gradient, with their indices. The mean of a row is over the gradients that
/// have it. Two lists of indices are merged as if they were sorted, and the sums have the order of that. Source: TensorFlow's
/// SparseConditionalAccumulator.
class row_accumulator final : public accumulator {
 public:
  using accumulator::accumulator;
  /// Rows, their indices, and the shape of the variable's gradient, whose first size is -1 if the accumulator was not told it.
  struct rows {
    tensor_value indices, values, sizes;
  };

  /// Adds a gradient, or drops it if it is stale. `sizes`: its shape, or null if it is not known. Errors: invalid_argument for another
  /// dtype or shape, and for indices outside of the shape.
  void add(std::int64_t step, const tensor_value& indices, const tensor_value& values, const std::vector<std::int64_t>* sizes) {
    want_type(values.type(), "gradient");
    const std::lock_guard lock(guard_);
    if (is_stale(step)) return;
    check(indices, values, sizes);
    const auto at = indices.values<std::int64_t>();
    if (count_ == 0) {
      held_ = values.copy();
      indices_.assign(at.begin(), at.end());
      counts_.assign(at.size(), 1);
    } else {
      with_number(type_, [&]<class T>(T) { merge<T>(at, values); });
    }
    ++count_;
    changed_.notify_all();
  }
  /// The mean or sum of all gradients present, once there are `required` of them. Errors: those of `take_when_enough`.
  rows take(std::int64_t required, step_state& step) {
    return take_when_enough(required, step, [this] {
      rows made{tensor_value(indices_), std::move(held_), {}};
      const shape& s = made.values.extent();
      if (const std::int64_t width = product(s, 1, s.rank); is_mean_ && made.values.elements() > 0)
        with_number(type_, [&]<class T>(T) {
          if constexpr (!std::is_same_v<T, bool>) {
            T* x = made.values.values<T>().data();
            for (const std::int64_t n : counts_)
              for (std::int64_t j = 0; j < width; ++j, ++x) *x = static_cast<T>(*x / static_cast<T>(n));
          }
        });
      std::vector<std::int64_t> sizes{extent_.rank > 0 && extent_[0] >= 0 ? extent_[0] : -1};
      for (int i = 1; i < s.rank; ++i) sizes.push_back(s[i]);
      made.sizes = tensor_value(sizes);
      held_ = {};
      indices_.clear();
      counts_.clear();
      return made;
    });
  }

 private:
  void check(const tensor_value& indices, const tensor_value& values, const std::vector<std::int64_t>* sizes) const {
    const shape &places = indices.extent(), &s = values.extent();
    if (places.rank != 1) throw invalid_argument("Input indices should be vector but received shape: " + brackets(places));
    if (s.rank < 1) throw invalid_argument("Values cannot be 0-dimensional.");
    if (s[0] != places[0])
      throw invalid_argument("Expected " + std::to_string(places[0]) + " non-empty input values, got " + std::to_string(s[0]));
    const bool has_rank = extent_.has_rank();
    const int declared = has_rank ? extent_.rank : 0;
    if (sizes != nullptr) {
      if (static_cast<int>(sizes->size()) < declared)
        throw invalid_argument("Shape mismatch: expected shape rank at least " + std::to_string(declared) + ", got " +
                               std::to_string(sizes->size()));
      for (int i = 0; i < declared; ++i)
        if (extent_[i] >= 0 && (*sizes)[static_cast<std::size_t>(i)] != extent_[i])
          throw invalid_argument("Shape mismatch: expected shape dim " + std::to_string(i) + " to be " + std::to_string(extent_[i]) +
                                 ", got " + std::to_string((*sizes)[static_cast<std::size_t>(i)]));
    }
    const shape& wanted = count_ > 0 ? held_.extent() : extent_;
    if (wanted.has_rank() && wanted.rank != s.rank)
      throw invalid_argument("Shape mismatch: expected values rank " + std::to_string(wanted.rank) + ", got " + std::to_string(s.rank));
    for (int i = 1; i < s.rank && wanted.has_rank(); ++i)
      if (wanted[i] >= 0 && wanted[i] != s[i])
        throw invalid_argument("Shape mismatch: expected values dim " + std::to_string(i) + " to be " + std::to_string(wanted[i]) +
                               ", got " + std::to_string(s[i]));
    const std::int64_t most = declared > 0 ? extent_[0] : -1;
    for (std::int64_t k = 0; const std::int64_t i : indices.values<std::int64_t>()) {
      if (i < 0) throw invalid_argument("index of slice " + std::to_string(k) + " is negative: " + std::to_string(i));
      if (most >= 0 && i >= most)
        throw invalid_argument("Shape mismatch: index of slice " + std::to_string(k) + " exceeded limits of shape; index is " +
                               std::to_string(i) + " exceeded " + std::to_string(most));
      ++k;
    }
  }
  template <class T>
  void merge(std::span<const std::int64_t> indices, const tensor_value& values) {
    // Which row of the sum so far, and of the gradient, each row of the new sum is made of; -1: of none.
    std::vector<std::pair<std::int64_t, std::int64_t>> parts;
    std::size_t i = 0, j = 0;
    while (i < indices_.size() || j < indices.size()) {
      const bool first = j == indices.size() || (i < indices_.size() && indices_[i] <= indices[j]);
      const bool second = i == indices_.size() || (j < indices.size() && indices[j] <= indices_[i]);
      parts.emplace_back(first ? static_cast<std::int64_t>(i++) : -1, second ? static_cast<std::int64_t>(j++) : -1);
    }
    shape s = values.extent();
    const std::int64_t width = product(s, 1, s.rank);
    s.dim[0] = static_cast<std::int64_t>(parts.size());
    tensor_value sum(type_, s);
    std::vector<std::int64_t> its, counts;
    T* to = sum.values<T>().data();
    const T *const held = std::as_const(held_).values<T>().data(), *const added = values.values<T>().data();
    for (const auto& [a, b] : parts) {
      const auto at = static_cast<std::size_t>(a);
      its.push_back(a >= 0 ? indices_[at] : indices[static_cast<std::size_t>(b)]);
      counts.push_back((a >= 0 ? counts_[at] : 0) + (b >= 0 ? 1 : 0));
      for (std::int64_t x = 0; x < width; ++x, ++to)
        *to = a < 0 ? added[b * width + x] : b < 0 ? held[a * width + x] : arithmetic<T>::add(held[a * width + x], added[b * width + x]);
    }
    held_ = std::move(sum);
    indices_ = std::move(its);
    counts_ = std::move(counts);
  }

  tensor_value held_;
  std::vector<std::int64_t> indices_, counts_;
};

/// Makes an accumulator, or finds the one that nodes share by its name.
template <class Accumulator>
void run_accumulator(kernel_context& c) {
  const std::string kind = c.node.text("reduction_type");
  if (kind != "MEAN" && kind != "SUM") throw invalid_argument("reduction_type must be MEAN or SUM, not '" + kind + "'");
  const auto* a = c.node.record->attributes.find("shape");
  const auto* given = a != nullptr ? a->get_if<tensor_shape_proto>() : nullptr;
  const shape extent = given != nullptr ? to_shape(*given) : shape::unknown();
  const std::string shared = c.node.text("shared_name");
  const std::string& name = shared.empty() ? c.node.name() : shared;
  const dtype type = c.node.type_of("dtype");
  auto made = c.step.session.resources.find_or_make<Accumulator>(
      c.node.text("container"), "accumulator " + name, [&] { return std::make_shared<Accumulator>(name, type, extent, kind == "MEAN"); });
  if (made->type() != type || !may_equal(made->extent(), extent))
    throw invalid_argument("the accumulator '" + name + "' is " + dtype_name(made->type()) + " " + brackets(made->extent()) +
                           ", and this node shares it as " + dtype_name(type) + " " + brackets(extent));
  c.set(0, tensor_value::handle(std::move(made)));
}
/// The accumulator that a node takes gradients from. Errors: invalid_argument if it has another dtype than the node.
template <class Accumulator>
Accumulator& accumulator_to_take(kernel_context& c) {
  auto& held = held_as<Accumulator>(c.input(0));
  if (const dtype wanted = c.node.type_of("dtype", held.type()); wanted != held.type())
    throw invalid_argument("the accumulator is " + dtype_name(held.type()) + ", and this node takes " + dtype_name(wanted));
  return held;
}

inline std::int64_t replica_number(kernel_context& c, int k) {
  const std::int64_t number = c.number(k);
  if (number < 0) throw invalid_argument("a gradient of replica " + std::to_string(number) + "; they are counted from 0");
  return number;
}

LEAT_FILL(fill_accumulator_kernels) {
  // In older graphs handles are references to strings.
  for (const std::string by : {"", "Resource"}) {
    register_kernel(by + "ConditionalAccumulator", run_accumulator<gradient_accumulator>);
    register_kernel(by + "AccumulatorApplyGradient",
                    [](kernel_context& c) { held_as<gradient_accumulator>(c.input(0)).add(c.number(1), c.input(2)); });
    register_kernel(by + "AccumulatorTakeGradient",
                    [](kernel_context& c) { c.set(0, accumulator_to_take<gradient_accumulator>(c).take(c.number(1), c.step)); });
    register_kernel(by + "AccumulatorNumAccumulated",
                    [](kernel_context& c) { c.set(0, tensor_value(static_cast<std::int32_t>(held_as<accumulator>(c.input(0)).count()))); });
    register_kernel(by + "AccumulatorSetGlobalStep", [](kernel_context& c) { held_as<accumulator>(c.input(0)).set_step(c.number(1)); });
  }
  register_kernel("SparseConditionalAccumulator", run_accumulator<row_accumulator>);
  register_kernel("SparseAccumulatorApplyGradient", [](kernel_context& c) {
    const std::vector<std::int64_t> sizes = c.numbers(4);
    held_as<row_accumulator>(c.input(0)).add(c.number(1), c.input(2), c.input(3), c.node.flag("has_known_shape") ? &sizes : nullptr);
  });
  register_kernel("SparseAccumulatorTakeGradient", [](kernel_context& c) {
    auto taken = accumulator_to_take<row_accumulator>(c).take(c.number(1), c.step);
    c.set(0, std::move(taken.indices));
    c.set(1, std::move(taken.values));
    c.set(2, std::move(taken.sizes));
  });
  register_kernel("ReplicaAccumulatorGive",
                  [](kernel_context& c) { held_as<gradient_accumulator>(c.input(0)).add(c.number(1), c.input(3), replica_number(c, 2)); });
  register_kernel("ReplicaAccumulatorAwait", [](kernel_context& c) {
    const auto state = c.numbers(1);
    if (state.size() < 3) throw invalid_argument("the state of a roster has four numbers, not " + std::to_string(state.size()));
    held_as<gradient_accumulator>(c.input(0)).set_enough(state[0], state[2]);
  });
}

}  // namespace leat::runtime
