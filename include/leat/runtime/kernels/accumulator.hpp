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
#include <utility>

namespace leat::runtime {

class gradient_accumulator final : public resource {
 public:
  gradient_accumulator(std::string name, dtype type, const shape& extent, bool is_mean)
      : name_(std::move(name)), type_(type), extent_(extent), is_mean_(is_mean) {}

  dtype type() const { return type_; }
  const shape& extent() const { return extent_; }

  /// Adds a gradient, or drops it if it is stale. `replica`: the replica's number, or -1 if gradients are not numbered. Errors:
  /// invalid_argument for another dtype or shape.
  void add(std::int64_t step, const tensor_value& gradient, std::int64_t replica = -1) {
    if (gradient.type() != type_)
      throw invalid_argument("the accumulator '" + name_ + "' is " + dtype_name(type_) + ", the gradient " + dtype_name(gradient.type()));
    if (!may_equal(extent_, gradient.extent()))
      throw invalid_argument("Shape mismatch: expected " + brackets(extent_) + ", got " + brackets(gradient.extent()));
    const std::lock_guard lock(guard_);
    if (step < step_) {
      ++dropped_;
      return;
    }
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
  /// Waits for at least `required` gradients, then returns the mean or sum of all gradients present. Callers are served in the order of
  /// arrival. Errors: invalid_argument if `required` is less than 1; those of the step's check.
  tensor_value take(std::int64_t required, step_state& step) {
    if (required <= 0) throw invalid_argument("Argument num_required must be at least 1, not " + std::to_string(required));
    std::unique_lock lock(guard_);
    const auto mine = takers_.insert(takers_.end(), 0);
    struct leaving {
      gradient_accumulator& its;
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
    count_ = 0;
    ++step_;
    return result;
  }
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

 private:
  std::int64_t enough(std::int64_t required) const {
    return enough_ < 0 ? required : std::min(required, std::max<std::int64_t>(1, enough_));
  }
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

  const std::string name_;
  const dtype type_;
  const shape extent_;
  const bool is_mean_;
  mutable std::mutex guard_;
  std::condition_variable changed_;
  std::list<int> takers_;
  tensor_value sum_;
  std::map<std::int64_t, tensor_value> of_replicas_;
  std::int64_t enough_ = -1;
  std::int64_t version_ = 0;
  std::int64_t count_ = 0;
  std::int64_t step_ = 0;
  std::int64_t dropped_ = 0;
};

inline std::int64_t replica_number(kernel_context& c, int k) {
  const std::int64_t number = c.number(k);
  if (number < 0) throw invalid_argument("a gradient of replica " + std::to_string(number) + "; they are counted from 0");
  return number;
}

LEAT_FILL(fill_accumulator_kernels) {
  register_kernel("ResourceConditionalAccumulator", [](kernel_context& c) {
    const std::string kind = c.node.text("reduction_type");
    if (kind != "MEAN" && kind != "SUM") throw invalid_argument("reduction_type must be MEAN or SUM, not '" + kind + "'");
    const auto* a = c.node.record->attributes.find("shape");
    const auto* given = a != nullptr ? a->get_if<tensor_shape_proto>() : nullptr;
    const shape extent = given != nullptr ? to_shape(*given) : shape::unknown();
    const std::string shared = c.node.text("shared_name");
    const std::string& name = shared.empty() ? c.node.name() : shared;
    const dtype type = c.node.type_of("dtype");
    auto made = c.step.session.resources.find_or_make<gradient_accumulator>(c.node.text("container"), "accumulator " + name, [&] {
      return std::make_shared<gradient_accumulator>(name, type, extent, kind == "MEAN");
    });
    if (made->type() != type || !may_equal(made->extent(), extent))
      throw invalid_argument("the accumulator '" + name + "' is " + dtype_name(made->type()) + " " + brackets(made->extent()) +
                             ", and this node shares it as " + dtype_name(type) + " " + brackets(extent));
    c.set(0, tensor_value::handle(std::move(made)));
  });
  register_kernel("ResourceAccumulatorApplyGradient",
                  [](kernel_context& c) { held_as<gradient_accumulator>(c.input(0)).add(c.number(1), c.input(2)); });
  register_kernel("ReplicaAccumulatorGive",
                  [](kernel_context& c) { held_as<gradient_accumulator>(c.input(0)).add(c.number(1), c.input(3), replica_number(c, 2)); });
  register_kernel("ReplicaAccumulatorAwait", [](kernel_context& c) {
    const auto state = c.numbers(1);
    if (state.size() < 3) throw invalid_argument("the state of a roster has four numbers, not " + std::to_string(state.size()));
    held_as<gradient_accumulator>(c.input(0)).set_enough(state[0], state[2]);
  });
  register_kernel("ResourceAccumulatorTakeGradient",
                  [](kernel_context& c) { c.set(0, held_as<gradient_accumulator>(c.input(0)).take(c.number(1), c.step)); });
  register_kernel("ResourceAccumulatorNumAccumulated", [](kernel_context& c) {
    c.set(0, tensor_value(static_cast<std::int32_t>(held_as<gradient_accumulator>(c.input(0)).count())));
  });
  register_kernel("ResourceAccumulatorSetGlobalStep",
                  [](kernel_context& c) { held_as<gradient_accumulator>(c.input(0)).set_step(c.number(1)); });
}

}  // namespace leat::runtime
