#pragma once
// A list of tensors behind TensorFlow's TensorList. It is a value: a node that changes it gives another list, and the one that it took
// stays as it was. The elements are shared, and if nothing else holds the list it is changed in place (tensor_list.hpp). An element that
// was not set is zeros, as soon as its shape is known.

#include <leat/core/memory.hpp>
#include <leat/runtime/kernels/value_array.hpp>

#include <algorithm>
#include <memory>
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

/// The list that a handle refers to. Errors: invalid_argument if it refers to something else.
inline const value_list& list_in(const tensor_value& handle) {
  const auto* list = handle.type() == resource_dtype ? dynamic_cast<const value_list*>(handle.held().get()) : nullptr;
  if (list == nullptr) throw invalid_argument("Input handle is not a list.");
  return *list;
}

/// A list of zeros in the shapes of a list's elements.
inline tensor_value zeros_of_list(const tensor_value& handle) {
  const value_list& list = list_in(handle);
  auto made = std::make_shared<value_list>(list);
  for (std::int64_t k = 0; k < list.size(); ++k)
    if (const tensor_value& v = list.at(k))
      made->set(k, v.type() == resource_dtype ? zeros_of_list(v) : zero_element(v.type(), v.extent()));
  return tensor_value::handle(std::move(made));
}

/// The sum of two lists, element by element; an element that is not set counts as zeros. Errors: invalid_argument if their dtypes, lengths
/// or shapes differ.
inline tensor_value sum_of_lists(const tensor_value& a, const tensor_value& b) {
  const value_list &x = list_in(a), &y = list_in(b);
  const auto refuse = [](const std::string& what, const std::string& one, const std::string& other) {
    throw invalid_argument("Trying to add two " + what + ". One is " + one + " and the other is " + other);
  };
  if (x.type != y.type) refuse("lists of tensors of different dtypes", dtype_name(x.type), dtype_name(y.type));
  if (!may_equal(x.element, y.element))
    refuse("lists of tensors with incompatible element shapes", brackets(x.element), brackets(y.element));
  if (x.size() != y.size()) refuse("lists of tensors with different lengths", std::to_string(x.size()), std::to_string(y.size()));
  auto made = std::make_shared<value_list>(x);
  made->element = known_of(x.element, y.element);
  for (std::int64_t k = 0; k < y.size(); ++k) {
    const tensor_value &one = x.at(k), &other = y.at(k);
    if (!other) continue;
    if (!one) {
      made->set(k, other);
    } else if (one.type() == resource_dtype) {
      made->set(k, sum_of_lists(one, other));
    } else {
      if (!(one.extent() == other.extent()))
        refuse("tensors with incompatible element shapes", brackets(one.extent()), brackets(other.extent()));
      tensor_value sum = one;
      add_elements(sum, other);
      made->set(k, sum);
    }
  }
  return tensor_value::handle(std::move(made));
}

}  // namespace leat::runtime
