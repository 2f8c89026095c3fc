#pragma once
// A list of tensors behind TensorFlow's TensorList. It is a value: a node that changes it gives another list, and the one that it took
// stays as it was. The elements are shared, and if nothing else holds the list it is changed in place (tensor_list.hpp). An element that was
// not set is zeros, as soon as its shape is known.

#include <leat/core/memory.hpp>
#include <leat/runtime/kernels/value_array.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace leat::runtime {

inline constexpr dtype variant_dtype = static_cast<dtype>(data_type::variant);

class value_list final : public closed_resource {
 public:
  static constexpr std::int64_t most_elements = value_array::most_elements;
  static constexpr int most_depth = 64;

  value_list(dtype its_type, const shape& element_shape) : type(its_type), element(element_shape) {}
  value_list(const value_list& other)
      : closed_resource(), type(other.type), element(other.element), limit(other.limit), elements_(other.elements_), depth_(other.depth_) {
    taken_.take(other.bytes());
  }
  value_list& operator=(const value_list&) = delete;

  const dtype type;
  shape element;            // of each element, as far as it is known
  std::int64_t limit = -1;  // on the number of elements; -1: none

  std::int64_t size() const { return static_cast<std::int64_t>(elements_.size()); }
  /// An element; empty if it was not set.
  const tensor_value& at(std::int64_t index) const { return elements_[static_cast<std::size_t>(index)]; }
  const std::vector<tensor_value>& all() const { return elements_; }
  /// Sets an element. Errors: invalid_argument for another dtype; unimplemented for a handle of anything but a list, because a list that a
  /// stack holds could hold the stack, and for lists in lists beyond a depth, because a list ends with those in it.
  void set(std::int64_t index, const tensor_value& v) {
    if (v.type() == resource_dtype) {
      const auto* inner = dynamic_cast<const value_list*>(v.held().get());
      if (inner == nullptr || type != variant_dtype) throw unimplemented("a list of dtype " + dtype_name(type) + " is to hold a handle");
      if (inner->depth_ >= most_depth) throw unimplemented("more than " + std::to_string(most_depth) + " lists in each other");
      depth_ = std::max(depth_, inner->depth_ + 1);
    } else if (v.type() != type) {
      throw invalid_argument("Invalid data types; list elements " + dtype_name(type) + " but tried to set " + dtype_name(v.type()));
    }
    elements_[static_cast<std::size_t>(index)] = v.kept();
  }
  void push(const tensor_value& v) {
    resize(size() + 1);
    set(size() - 1, v);
  }
  /// Shortens the list, or adds elements that are not set. Errors: resource_exhausted for more than a list has.
  void resize(std::int64_t count) {
    if (count > most_elements)
      throw resource_exhausted("a list of " + std::to_string(count) + " elements, and lists have at most " + std::to_string(most_elements));
    if (static_cast<std::size_t>(count) > elements_.capacity()) {
      const auto room = std::max(static_cast<std::size_t>(count), 2 * elements_.capacity());
      taken_.take(room * sizeof(tensor_value));
      elements_.reserve(room);
    }
    elements_.resize(static_cast<std::size_t>(count));
  }

 private:
  std::size_t bytes() const { return elements_.size() * sizeof(tensor_value); }

  std::vector<tensor_value> elements_;
  metered_bytes taken_;
  int depth_ = 1;
};

}  // namespace leat::runtime
