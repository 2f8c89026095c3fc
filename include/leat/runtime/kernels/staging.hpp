#pragma once
// Staging areas, in which one node puts tuples of values that another node of the same area takes, in their order. Nodes belong to one area
// by its name. Blocked calls check their run's deadline and cancellation. Source: TensorFlow `Stage`, `Unstage`, `StagePeek`, `StageSize`,
// `StageClear`.

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/moved_texts.hpp>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

namespace leat::runtime {

class staging_area final : public resource {
 public:
  using element = std::vector<tensor_value>;
  /// Limits of the count of elements and of their bytes; 0: none.
  staging_area(std::int64_t capacity, std::int64_t most_bytes) : capacity_(capacity), most_bytes_(most_bytes) {}

  /// Adds an element as soon as there is room. Errors: resource_exhausted if it alone exceeds the limit of bytes; those of the step's
  /// check.
  void put(element e, step_state& step) {
    const std::int64_t bytes = bytes_of(e);
    if (most_bytes_ > 0 && bytes > most_bytes_)
      throw resource_exhausted("Attempted to insert tensors with combined size of '" + std::to_string(bytes) +
                               "' bytes into Staging Area with a memory limit of '" + std::to_string(most_bytes_) + "'.");
    std::unique_lock lock(guard_);
    wait(lock, step, [&] { return (capacity_ <= 0 || size() < capacity_) && (most_bytes_ <= 0 || bytes_ + bytes <= most_bytes_); });
    elements_.push_back(std::move(e));
    bytes_ += bytes;
    changed_.notify_all();
  }
  /// Removes the first element, as soon as there is one.
  element get(step_state& step) {
    std::unique_lock lock(guard_);
    wait(lock, step, [&] { return size() > 0; });
    element first = std::move(elements_.front());
    elements_.pop_front();
    bytes_ -= bytes_of(first);
    changed_.notify_all();
    return first;
  }
  /// The element at this place, as soon as there are so many.
  element peek(std::int64_t place, step_state& step) {
    if (place < 0) throw invalid_argument("index must be at least 0, not " + std::to_string(place));
    std::unique_lock lock(guard_);
    wait(lock, step, [&] { return size() > place; });
    return elements_[static_cast<std::size_t>(place)];
  }
  std::int64_t count() const {
    const std::lock_guard lock(guard_);
    return size();
  }
  void clear() {
    const std::lock_guard lock(guard_);
    elements_.clear();
    bytes_ = 0;
    changed_.notify_all();
  }

 private:
  std::int64_t size() const { return static_cast<std::int64_t>(elements_.size()); }
  static std::int64_t bytes_of(const element& e) {
    constexpr std::size_t string_object = 24;  // TensorFlow's
    return std::accumulate(e.begin(), e.end(), std::int64_t{0}, [](std::int64_t sum, const tensor_value& v) {
      std::size_t bytes = v.bytes();
      if (v.type() == text_dtype) {
        bytes = string_object * v.texts().size();
        for (const std::string& text : v.texts()) bytes += text.size();
      }
      return sum + static_cast<std::int64_t>(bytes);
    });
  }
  template <class Until>
  void wait(std::unique_lock<std::mutex>& lock, step_state& step, Until until) {
    while (!until()) {
      step.check();
      changed_.wait_for(lock, std::chrono::milliseconds(2));  // polls, because cancellation does not notify
    }
  }

  const std::int64_t capacity_, most_bytes_;
  mutable std::mutex guard_;
  std::condition_variable changed_;
  std::deque<element> elements_;
  std::int64_t bytes_ = 0;
};

/// The area of a node, which the first of its nodes makes.
inline std::shared_ptr<staging_area> area_of(kernel_context& c) {
  const std::string shared = c.node.text("shared_name");
  return c.step.session.resources.find_or_make<staging_area>(
      c.node.text("container"), "staging area " + (shared.empty() ? c.node.name() : shared),
      [&] { return std::make_shared<staging_area>(c.node.integer("capacity"), c.node.integer("memory_limit")); });
}
/// Sets the node's results to an element. Errors: invalid_argument if it has other values than the node takes.
inline void set_element(kernel_context& c, staging_area::element e) {
  const auto wanted = c.node.list<data_type>("dtypes");
  if (e.size() != static_cast<std::size_t>(c.result_count()))
    throw invalid_argument("Mismatch stage/unstage: " + std::to_string(e.size()) + " vs. " + std::to_string(c.result_count()));
  for (std::size_t k = 0; k < e.size(); ++k) {
    if (k < wanted.size() && static_cast<dtype>(base_of(wanted[k])) != e[k].type())
      throw invalid_argument("component " + std::to_string(k) + " of the element is " + dtype_name(e[k].type()) + ", the node takes " +
                             dtype_name(static_cast<dtype>(base_of(wanted[k]))));
    c.set(static_cast<int>(k), std::move(e[k]));
  }
}

LEAT_FILL(fill_staging_kernels) {
  register_kernel("Stage", [](kernel_context& c) {
    staging_area::element e;
    for (int k = 0; k < c.input_count(); ++k) {
      // An area that holds itself, directly or through another resource, would never be released.
      if (c.type(k) == resource_dtype) throw unimplemented("a staging area of handles");
      e.push_back(c.input(k).kept());
    }
    area_of(c)->put(std::move(e), c.step);
  });
  register_kernel("Unstage", [](kernel_context& c) { set_element(c, area_of(c)->get(c.step)); });
  register_kernel("StagePeek", [](kernel_context& c) { set_element(c, area_of(c)->peek(c.number(0), c.step)); });
  register_kernel("StageSize", [](kernel_context& c) { c.set(0, tensor_value(static_cast<std::int32_t>(area_of(c)->count()))); });
  register_kernel("StageClear", [](kernel_context& c) { area_of(c)->clear(); });
}

}  // namespace leat::runtime
