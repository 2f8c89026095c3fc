#pragma once
// The array of values behind TensorFlow's TensorArray: a loop writes one element in each iteration, and what follows reads all of them.
// An element is written once, and read once if reading clears it. The gradients of an array are an array of the same size, one for each
// call of `gradients`: what is written to one of its elements adds up, and an element that nothing was written to is zero. An array exists
// as long as a run refers to it. Only elements that were written or read take memory, so an array may be declared longer than it becomes.
// Source: TensorFlow's tensor_array.h.

#include <leat/core/memory.hpp>
#include <leat/runtime/kernels/element_blocks.hpp>
#include <leat/runtime/kernels/walk.hpp>
#include <leat/runtime/state/tensor_value.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

namespace leat::runtime {

/// What two descriptions of a shape say together. Errors: invalid_argument if they contradict each other.
inline shape merged_shapes(const shape& a, const shape& b) {
  if (a.has_rank() && b.has_rank() && a.rank != b.rank)
    throw invalid_argument("PartialTensorShape: Incompatible ranks during merge: " + std::to_string(a.rank) + " vs. " +
                           std::to_string(b.rank));
  if (!may_equal(a, b))
    throw invalid_argument("PartialTensorShape: Incompatible shapes during merge: " + brackets(a) + " vs. " + brackets(b));
  return known_of(a, b);
}
inline tensor_value zero_element(dtype type, const shape& extent) {
  tensor_value made(type, extent);
  if (type != text_dtype) std::fill_n(made.data(), made.bytes(), std::byte{0});
  return made;
}
/// Adds the elements of another value of the same shape. Integers wrap around.
inline void add_elements(tensor_value& sum, const tensor_value& more) {
  if (!sum.is_alone()) sum = sum.copy();
  if (is_complex(sum.type()))
    return with_part(sum.type(), [&]<class T>(T) {
      combine(reinterpret_cast<T*>(sum.data()), reinterpret_cast<const T*>(more.data()), 2 * sum.elements(),
              [](T a, T b) { return a + b; });
    });
  with_number(sum.type(), [&]<class T>(T) {
    combine(sum.values<T>().data(), more.values<T>().data(), sum.elements(), [](T a, T b) { return arithmetic<T>::add(a, b); });
  });
}

class value_array final : public closed_resource {
 public:
  /// The largest number of elements: each takes a few hundred bytes beside its value.
  static constexpr std::int64_t most_elements = std::int64_t{1} << 24;
  /// The size that holds this index, without overflow.
  static std::int64_t size_with(std::int64_t index) { return std::min(index, std::numeric_limits<std::int64_t>::max() - 1) + 1; }

  struct settings {
    std::string name;
    dtype type = dtype::invalid;
    shape element = shape::unknown();  // of each element, as far as it is known
    bool grows = false;                // a write behind the end makes it longer
    bool clears = true;                // reading an element releases it
    bool identical = false;            // the first element written determines the shape of all
  };

  value_array(settings s, std::int64_t size) : settings_(std::move(s)), element_(settings_.element), grows_(settings_.grows) {
    if (size < 0) throw invalid_argument("Size should be >= 0, not " + std::to_string(size));
    set_size(size);
  }

  dtype type() const { return settings_.type; }
  const std::string& name() const { return settings_.name; }

  /// Writes an element; in an array of gradients, adds to it. Errors: invalid_argument for an index outside, another dtype or shape, or an
  /// element that was written or read before.
  void write(std::int64_t index, const tensor_value& value) {
    const std::lock_guard lock(guard_);
    check_open();
    if (index < 0 || (!grows_ && index >= size_))
      throw invalid_argument(title() + ": Tried to write to index " + std::to_string(index) +
                             " but array is not resizeable and size is: " + std::to_string(size_));
    const auto refuse = [&](const std::string& why) {
      throw invalid_argument(title() + ": Could not write to TensorArray index " + std::to_string(index) + " because " + why);
    };
    if (value.type() != type())
      refuse("the value dtype is " + dtype_name(value.type()) + " but TensorArray dtype is " + dtype_name(type()) + ".");
    // An array that holds itself, directly or through another resource, would never be released.
    if (value.type() == resource_dtype) throw unimplemented(title() + " is to hold a handle");
    if (!may_equal(element_, value.extent()))
      refuse("the value shape is " + brackets(value.extent()) + " which is incompatible with the TensorArray's inferred element shape: " +
             brackets(element_) + " (consider setting infer_shape=False).");
    if (index >= size_) set_size(size_with(index));
    slot& e = slot_at(index);
    if (e.is_read) refuse("it has already been read.");
    if (e.is_written && !is_gradient_) refuse("it has already been written to.");
    if (e.is_written && !(value.extent() == e.extent))
      throw invalid_argument(title() + ": Could not aggregate to TensorArray index " + std::to_string(index) +
                             " because the existing shape is " + brackets(e.extent) + " but the new input shape is " +
                             brackets(value.extent()) + ".");
    if (settings_.identical && !element_.is_static()) element_ = value.extent();
    if (e.value) {
      if (type() == text_dtype || type() == dtype::boolean)
        throw invalid_argument("tensor_array::AddToTensor type not supported: " + dtype_name(type()));
      add_elements(e.value, value);
      return;
    }
    e.value = value.kept();
    e.extent = value.extent();
    e.is_written = true;
  }

  /// Reads an element; one that was not written is zeros if its shape is known. Errors: invalid_argument for an index outside, an element
  /// that an earlier read has cleared, or one that was not written and whose shape is not known.
  tensor_value read(std::int64_t index) {
    const std::lock_guard lock(guard_);
    check_open();
    if (index < 0 || (!is_gradient_ && index >= size_))
      throw invalid_argument("Tried to read from index " + std::to_string(index) + " but array size is: " + std::to_string(size_));
    const auto known = slots_.find(index);
    if (known == slots_.end() && !element_.is_static())
      throw invalid_argument(title() + ": Could not read from TensorArray index " + std::to_string(index) +
                             ".  Furthermore, the element shape is not fully defined: " + brackets(element_) +
                             ".  It is possible you are working with a resizeable TensorArray and stop_gradients is not allowing the "
                             "gradients to be written.  If you set the full element_shape property on the forward TensorArray, the proper "
                             "all-zeros tensor will be returned instead of incurring this error.");
    if (index >= size_) set_size(size_with(index));
    slot& e = slot_at(index);
    if (!e.is_written) {
      e.extent = element_;
      e.is_written = true;
    }
    if (e.is_cleared)
      throw invalid_argument(title() + ": Could not read index " + std::to_string(index) +
                             " twice because it was cleared after a previous read (perhaps try setting clear_after_read = false?).");
    tensor_value value = e.value ? e.value : zeros(e.extent);
    e.is_read = true;
    e.is_cleared = settings_.clears;
    e.value = settings_.clears ? tensor_value{} : value;
    return value;
  }

  std::int64_t size() const {
    const std::lock_guard lock(guard_);
    check_open();
    return size_;
  }
  /// The number of elements that are joined again to the array from which they were split: for gradients, as many as were split.
  std::int64_t joined_size() const {
    const std::lock_guard lock(guard_);
    check_open();
    return is_gradient_ && split_size_ >= 0 ? split_size_ : size_;
  }
  /// Records into how many elements an array was split.
  void note_split(std::int64_t count) {
    const std::lock_guard lock(guard_);
    if (!is_gradient_) split_size_ = count;
  }
  bool may_grow() const {
    const std::lock_guard lock(guard_);
    return grows_;
  }
  /// Adds to what is known of the elements' shape. Errors: invalid_argument if it contradicts.
  void refine(const shape& element) {
    const std::lock_guard lock(guard_);
    element_ = merged_shapes(element_, element);
  }
  /// Releases all elements; later calls fail.
  void close() {
    const std::lock_guard lock(guard_);
    slots_.clear();
    zeros_ = {};
    is_closed_ = true;
  }

  /// The array of gradients that this source of gradients writes to, which is made at the first call. From then on this array has a fixed
  /// size. `outer`: dimensions that the gradients have in front of those of the elements.
  /// Errors: invalid_argument for an array of gradients.
  std::shared_ptr<value_array> gradients_of(const std::string& source, const shape& outer = {}) {
    const std::lock_guard lock(guard_);
    check_open();
    if (is_gradient_)
      throw invalid_argument(title() +
                             " is itself an array of gradients: Input container should be '_tensor_arrays',  but received "
                             "'_tensor_array_grads'");
    grows_ = false;
    std::shared_ptr<value_array>& made = gradients_[source];
    if (made != nullptr) return made;
    settings s = settings_;
    s.name += "@" + source;
    s.element = element_.has_rank() ? joined(outer, element_) : element_;
    s.grows = false;
    s.clears = true;
    auto array = std::make_shared<value_array>(std::move(s), size_);
    array->is_gradient_ = true;
    array->split_size_ = split_size_;
    for (const auto& [index, e] : slots_)
      if (e.is_written) array->slot_at(index) = {.value = {}, .extent = joined(outer, e.extent), .is_written = true};
    return made = std::move(array);
  }

 private:
  struct slot {
    tensor_value value{};
    shape extent{};
    bool is_written = false;  // without a value: zeros
    bool is_read = false;
    bool is_cleared = false;
  };

  slot& slot_at(std::int64_t index) {
    slot& e = slots_[index];
    if (slots_.size() > counted_) {
      taken_.take(2 * slots_.size() * 2 * sizeof(slot));  // a table's entry takes about twice its content
      counted_ = 2 * slots_.size();
    }
    return e;
  }
  std::string title() const { return "TensorArray " + settings_.name; }
  static shape joined(const shape& outer, const shape& inner) {
    shape all = outer;
    for (int i = 0; i < inner.rank; ++i) all.push(inner[i]);
    return all;
  }
  void check_open() const {
    if (is_closed_) throw invalid_argument(title() + " has already been closed.");
  }
  void set_size(std::int64_t size) {
    if (size > most_elements)
      throw resource_exhausted(title() + ": a size of " + std::to_string(size) + ", and an array has at most " +
                               std::to_string(most_elements) + " elements");
    size_ = size;
  }
  // Zeros of one shape are one value, however many elements consist of them.
  tensor_value zeros(const shape& extent) {
    if (zeros_ && zeros_.extent() == extent) return zeros_;
    if (type() == text_dtype && extent.elements() > 0) throw invalid_argument("tensor_array::TensorSetZero type not supported: string");
    return zeros_ = zero_element(type(), extent);
  }

  const settings settings_;
  mutable std::mutex guard_;
  std::unordered_map<std::int64_t, slot> slots_;
  std::size_t counted_ = 0;  // elements for which memory was taken from the session's limit
  metered_bytes taken_;
  std::map<std::string, std::shared_ptr<value_array>> gradients_;
  tensor_value zeros_;
  shape element_;
  std::int64_t size_ = 0;
  std::int64_t split_size_ = -1;
  bool grows_;
  bool is_gradient_ = false;
  bool is_closed_ = false;
};

}  // namespace leat::runtime
