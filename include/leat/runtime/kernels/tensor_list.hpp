#pragma once
// Kernels of lists of tensors (value_list.hpp), as graphs of TensorFlow 2 have them in loops that were lowered to nodes. The edge of a list
// has dtype variant; at run time its value is a handle of the list. Source: TensorFlow's list_kernels.

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/tensor_array.hpp>
#include <leat/runtime/kernels/value_list.hpp>

#include <algorithm>

namespace leat::runtime {

// ---- what the kernels have in common -----------------------------------------------------------------------------------

inline const value_list& list_at(kernel_context& c, int k) { return list_in(c.input(k)); }
/// The list at input `k`, whose elements must have the dtype of the node. A node that takes an element need not say it.
inline const value_list& typed_list(kernel_context& c, int k = 0) {
  const value_list& list = list_at(c, k);
  if (const dtype wanted = c.node.type_of("element_dtype"); wanted != dtype::invalid && wanted != list.type)
    throw invalid_argument("Invalid data types; op elements " + dtype_name(wanted) + " but list elements " + dtype_name(list.type));
  return list;
}
inline tensor_value handle_of(std::shared_ptr<value_list> list) { return tensor_value::handle(std::move(list)); }
/// Result 0: the list of input 0 after a change; the list itself if nothing else refers to it.
template <class Change>
void give_changed(kernel_context& c, Change change) {
  static_cast<void>(list_at(c, 0));
  tensor_value handle = c.take(0);
  auto list = std::static_pointer_cast<value_list>(handle.held());
  // The handle has one reference to the list, `list` is the other.
  if (!handle.is_alone() || list.use_count() > 2) {
    list = std::make_shared<value_list>(*list);
    handle = handle_of(list);
  }
  change(*list);
  c.set(0, std::move(handle));
}

/// A shape as an input gives it: -1 for an unknown rank, or sizes with -1 for those that are unknown.
inline shape open_shape(kernel_context& c, int k) {
  if (!is_integer(c.type(k))) throw invalid_argument("Expected an int32 or int64 shape tensor; found " + dtype_name(c.type(k)));
  const std::vector<std::int64_t> sizes = c.numbers(k);
  if (c.extent(k).rank == 0) {
    if (sizes[0] == -1) return shape::unknown();
    throw invalid_argument("The only valid scalar shape tensor is the fully unknown shape specified as -1.");
  }
  if (c.extent(k).rank > 1) throw invalid_argument("element_shape must be at most rank 1 but has the shape of " + brackets(c.extent(k)));
  shape s;
  for (const std::int64_t n : sizes) {
    if (n < -1) throw invalid_argument("Dimension " + std::to_string(n) + " must be >= -1");
    s.push(n < 0 ? unknown_dimension : n);
  }
  return s;
}
/// The shape of a list's elements, as far as the list, the elements that are set and input `k` say it.
inline shape known_element(const value_list& list, const shape& given) {
  shape known = merged_shapes(given, list.element);
  if (!list.element.is_static())
    for (const tensor_value& v : list.all())
      if (v) known = merged_shapes(known, v.extent());
  return known;
}
/// Elements as a tensor with one more dimension; those that are not set are zeros. Errors: invalid_argument for an element of another
/// shape.
inline tensor_value stacked_elements(dtype type, const shape& element, const std::vector<tensor_value>& elements) {
  const shape extent = with_first(static_cast<std::int64_t>(elements.size()), element);
  std::vector<tensor_value> values = elements;
  tensor_value zeros;
  for (tensor_value& v : values) {
    if (v && !(v.extent() == element))
      throw invalid_argument("Tried to stack elements of a list with the shape " + brackets(element) + ", and element " +
                             std::to_string(&v - values.data()) + " has the shape " + brackets(v.extent()));
    if (v) continue;
    if (!zeros) zeros = zero_element(type, element);
    v = zeros;
  }
  return in_one(type, extent, values);
}
inline std::int64_t list_index(kernel_context& c, const value_list& list, const char* doing) {
  const std::int64_t index = c.number(1);
  if (index < 0 || index >= list.size())
    throw invalid_argument(std::string("Trying to ") + doing + " element " + std::to_string(index) + " in a list with " +
                           std::to_string(list.size()) + " elements.");
  return index;
}
inline const tensor_value& rows_at(kernel_context& c, int k) {
  if (c.extent(k).rank == 0) throw invalid_argument("Tensor must be at least a vector, but saw shape: " + brackets(c.extent(k)));
  return c.input(k);
}

// ---- making, and single elements ---------------------------------------------------------------------------------------

inline void run_empty_list(kernel_context& c) {
  if (c.extent(1).rank != 0) throw invalid_argument("max_num_elements expected to be a scalar but got shape: " + brackets(c.extent(1)));
  auto list = std::make_shared<value_list>(c.node.type_of("element_dtype"), open_shape(c, 0));
  list->limit = c.number(1);
  c.set(0, handle_of(std::move(list)));
}
inline void run_reserve_list(kernel_context& c) {
  const std::int64_t count = c.number(1);
  if (count < 0) throw invalid_argument("The num_elements to reserve must be a non negative number, but got " + std::to_string(count));
  auto list = std::make_shared<value_list>(c.node.type_of("element_dtype"), open_shape(c, 0));
  list->resize(count);
  c.set(0, handle_of(std::move(list)));
}
inline void run_list_from_tensor(kernel_context& c) {
  const shape element = open_shape(c, 1);
  const tensor_value& value = rows_at(c, 0);
  if (!may_equal(element, without_first(value.extent())))
    throw invalid_argument("Specified a list with shape " + brackets(element) + " from a tensor with shape " +
                           brackets(without_first(value.extent())));
  auto list = std::make_shared<value_list>(value.type(), element);
  list->resize(value.extent()[0]);
  for (std::int64_t k = 0; k < list->size(); ++k) list->set(k, row_of(value, k));
  c.set(0, handle_of(std::move(list)));
}
inline void run_push_back(kernel_context& c) {
  const tensor_value v = c.input(1);
  const value_list& list = typed_list(c);
  if (!may_equal(list.element, v.extent()))
    throw invalid_argument("Tried to append a tensor with incompatible shape to a list. Op element shape: " + brackets(v.extent()) +
                           " list shape: " + brackets(list.element));
  if (list.limit != -1 && list.size() >= list.limit)
    throw invalid_argument("Tried to push item into a full list list size: " + std::to_string(list.size()) +
                           " max_num_elements: " + std::to_string(list.limit));
  give_changed(c, [&](value_list& to) { to.push(v); });
}
inline void run_pop_back(kernel_context& c) {
  const value_list& list = typed_list(c);
  if (list.size() == 0) throw invalid_argument("Trying to pop from an empty list.");
  tensor_value last = list.at(list.size() - 1);
  if (!last) {
    const shape element = merged_shapes(open_shape(c, 1), list.element);
    if (!element.is_static())
      throw invalid_argument("Trying to read an uninitialized tensor but element_shape is not fully defined." + brackets(element));
    last = zero_element(list.type, element);
  }
  give_changed(c, [](value_list& to) { to.resize(to.size() - 1); });
  c.set(1, std::move(last));
}
inline void run_list_item(kernel_context& c) {
  const value_list& list = typed_list(c);
  const std::int64_t index = list_index(c, list, "access");
  if (list.at(index)) {
    c.set(0, list.at(index));
    return;
  }
  const shape element = known_element(list, open_shape(c, 2));
  if (!element.is_static())
    throw invalid_argument("Trying to read an uninitialized tensor but element_shape is not fully defined: " + brackets(element) +
                           " and no list element is set.");
  c.set(0, zero_element(list.type, element));
}
inline void run_set_item(kernel_context& c) {
  const tensor_value v = c.input(2);
  const value_list& list = typed_list(c);
  std::int64_t index = c.number(1);
  const bool grows = c.node.flag("resize_if_index_out_of_bounds") && index >= list.size();
  if (!grows) index = list_index(c, list, "modify");
  if (!may_equal(list.element, v.extent()))
    throw invalid_argument("Tried to set a tensor with incompatible shape at a list index. Item element shape: " + brackets(v.extent()) +
                           " list shape: " + brackets(list.element));
  give_changed(c, [&](value_list& to) {
    if (grows) to.resize(value_array::size_with(index));
    to.set(index, v);
  });
}

// ---- several elements --------------------------------------------------------------------------------------------------

inline void run_list_stack(kernel_context& c) {
  const value_list& list = typed_list(c);
  if (const std::int64_t wanted = c.node.integer("num_elements", -1); wanted != -1 && wanted != list.size())
    throw invalid_argument("Operation expected a list with " + std::to_string(wanted) + " elements but got a list with " +
                           std::to_string(list.size()) + " elements.");
  const shape element = known_element(list, open_shape(c, 1));
  if (!element.is_static())
    throw invalid_argument((list.size() == 0
                                ? std::string("Tried to stack elements of an empty list with non-fully-defined element_shape: ")
                                : "Tried to stack list which only contains uninitialized tensors and has a "
                                  "non-fully-defined element_shape: ") +
                           brackets(element));
  c.set(0, stacked_elements(list.type, element, list.all()));
}
inline void run_list_gather(kernel_context& c) {
  const value_list& list = typed_list(c);
  const std::vector<std::int64_t> indices = c.numbers(1);
  shape element = merged_shapes(open_shape(c, 2), list.element);
  std::vector<tensor_value> some;
  for (const std::int64_t i : indices) {
    if (i < 0 || i >= list.size())
      throw invalid_argument("Index " + std::to_string(i) + " out of range; list only has " + std::to_string(list.size()) + " elements.");
    some.push_back(list.at(i));
    if (some.back()) element = merged_shapes(element, some.back().extent());
  }
  if (!element.is_static())
    throw invalid_argument((indices.empty() ? std::string("Tried to gather 0-elements from a list with non-fully-defined shape: ")
                                            : "Tried to gather uninitialized tensors from a list with non-fully-defined shape: ") +
                           brackets(element));
  c.set(0, stacked_elements(list.type, element, some));
}
inline void run_list_concat(kernel_context& c) {
  const value_list& list = typed_list(c);
  const bool is_second = c.input_count() > 1;
  const shape given = is_second ? open_shape(c, 1) : shape_attribute(c.node, "element_shape");
  if (given.has_rank() && given.rank == 0)
    throw invalid_argument("Concat requires elements to be at least vectors, found scalars instead.");
  const shape said = is_second ? merged_shapes(given, list.element) : given;
  shape rest = said.has_rank() && said.rank > 0 ? without_first(said) : shape::unknown();
  std::int64_t rows = is_second && said.has_rank() && said.rank > 0 ? said[0] : unknown_dimension;
  const bool is_said = rows != unknown_dimension;
  bool differ = false;
  if (list.size() == 0 && !rest.is_static())
    throw invalid_argument("All except the first dimension must be fully defined when concating an empty tensor list. element_shape: " +
                           brackets(rest));
  for (std::int64_t k = 0; k < list.size(); ++k) {
    if (!list.at(k)) continue;
    const shape& extent = list.at(k).extent();
    if (extent.rank == 0)
      throw invalid_argument("Concat saw a scalar shape at index " + std::to_string(k) + " but requires at least vectors.");
    rest = merged_shapes(rest, without_first(extent));
    if (is_said && rows != extent[0])
      throw invalid_argument("First entry of element_shape input does not match the first dim of list element at index: " +
                             std::to_string(k) + " Expected: " + std::to_string(rows) + " Actual: " + std::to_string(extent[0]));
    differ = differ || (rows != unknown_dimension && rows != extent[0]);
    if (!is_said) rows = extent[0];
  }
  if (differ) rows = unknown_dimension;
  if (!rest.is_static())
    throw invalid_argument(
        "Trying to concat list with only uninitialized tensors but element_shape_except_first_dim is not fully defined: " + brackets(rest));
  const std::vector<std::int64_t> leading = is_second ? c.numbers(2) : std::vector<std::int64_t>{};
  std::vector<std::int64_t> lengths;
  std::vector<tensor_value> values = list.all();
  std::int64_t total = 0;
  for (std::int64_t k = 0; k < list.size(); ++k) {
    tensor_value& v = values[static_cast<std::size_t>(k)];
    if (!v) {
      const bool has_own = k < static_cast<std::int64_t>(leading.size());
      if (!has_own && rows == unknown_dimension)
        throw invalid_argument("List contains uninitialized tensor at index " + std::to_string(k) + " but leading_dims has only " +
                               std::to_string(leading.size()) + " elements.");
      const std::int64_t its = has_own ? leading[static_cast<std::size_t>(k)] : rows;
      if (its < 0) throw invalid_argument("leading_dims has " + std::to_string(its) + ", which is no number of rows");
      v = zero_element(list.type, with_first(its, rest));
    }
    lengths.push_back(v.extent()[0]);
    if (__builtin_add_overflow(total, lengths.back(), &total)) throw resource_exhausted("more rows than 64 bits count");
  }
  c.set(0, in_one(list.type, with_first(total, rest), values));
  c.set(1, integer_tensor(dtype::int64, lengths));
}
inline void run_list_split(kernel_context& c) {
  const shape element = open_shape(c, 1);
  if (element.has_rank() && element.rank == 0)
    throw invalid_argument("TensorListSplit requires element_shape to be at least of rank 1, but saw: " + brackets(element));
  const tensor_value& value = rows_at(c, 0);
  const shape rest = without_first(value.extent());
  if (element.has_rank() && !may_equal(without_first(element), rest))
    throw invalid_argument("tensor shape " + brackets(value.extent()) + " is not compatible with element_shape " + brackets(element));
  if (c.extent(2).rank != 1) throw invalid_argument("Expected lengths to be a vector, received shape: " + brackets(c.extent(2)));
  auto list = std::make_shared<value_list>(value.type(), element);
  const std::int64_t rows = value.extent()[0];
  std::int64_t at = 0;
  for (const std::int64_t n : c.numbers(2)) {
    if (n < 0) throw invalid_argument("Invalid value in lengths: " + std::to_string(n));
    if (n > rows - at)
      throw invalid_argument("Attempting to slice [" + std::to_string(at) + ", " +
                             std::to_string(static_cast<std::uint64_t>(at) + static_cast<std::uint64_t>(n)) + "] from tensor with length " +
                             std::to_string(rows));
    list->push(some_rows(value, at, n, with_first(n, rest)));
    at += n;
  }
  if (at != rows)
    throw invalid_argument("Unused values in tensor. Length of tensor: " + std::to_string(rows) + " Values used: " + std::to_string(at));
  c.set(0, handle_of(std::move(list)));
}

inline void set_rows(value_list& list, const tensor_value& value, const std::vector<std::int64_t>& indices, std::int64_t least) {
  std::int64_t size = std::max(list.size(), least);
  for (const std::int64_t i : indices) {
    if (i < 0) throw invalid_argument("Indices in TensorListScatter must all be non-negative.");
    size = std::max(size, value_array::size_with(i));
  }
  list.resize(size);
  for (std::size_t k = 0; k < indices.size(); ++k) list.set(indices[k], row_of(value, static_cast<std::int64_t>(k)));
}
inline void run_list_scatter(kernel_context& c) {
  const std::vector<std::int64_t> indices = c.numbers(1);
  const shape element = open_shape(c, 2);
  const std::int64_t count = c.input_count() > 3 ? c.number(3) : -1;
  if (count < -1) throw invalid_argument("TensorListScatter expects num_elements >= -1, found: " + std::to_string(count));
  const tensor_value& value = rows_at(c, 0);
  if (!may_equal(element, without_first(value.extent())))
    throw invalid_argument("Specified a list with shape " + brackets(element) + " from a tensor with shape " +
                           brackets(without_first(value.extent())));
  if (static_cast<std::int64_t>(indices.size()) != value.extent()[0])
    throw invalid_argument("Invalid number of rows in input tensor. Expected: " + std::to_string(indices.size()) +
                           " Actual: " + std::to_string(value.extent()[0]));
  for (const std::int64_t i : indices)
    if (count != -1 && i >= count)
      throw invalid_argument("TensorListScatter: Trying to scatter at index " + std::to_string(i) + " in list with size " +
                             std::to_string(count));
  auto list = std::make_shared<value_list>(value.type(), element);
  set_rows(*list, value, indices, std::max<std::int64_t>(count, 0));
  c.set(0, handle_of(std::move(list)));
}
inline void run_scatter_into_list(kernel_context& c) {
  const value_list& list = list_at(c, 0);
  const tensor_value value = rows_at(c, 1);
  if (value.type() != list.type)
    throw invalid_argument("Invalid data types; input tensor type: " + dtype_name(value.type()) +
                           " list element_type: " + dtype_name(list.type));
  if (!may_equal(list.element, without_first(value.extent())))
    throw invalid_argument("Tried to scatter a tensor with incompatible shape into a list. Rows of the tensor: " +
                           brackets(without_first(value.extent())) + " list shape: " + brackets(list.element));
  if (c.extent(2).rank != 1) throw invalid_argument("Expected indices to be a vector, but received shape: " + brackets(c.extent(2)));
  const std::vector<std::int64_t> indices = c.numbers(2);
  if (static_cast<std::int64_t>(indices.size()) != value.extent()[0])
    throw invalid_argument("Expected len(indices) == tensor.shape[0], but saw: " + std::to_string(indices.size()) + " vs. " +
                           std::to_string(value.extent()[0]));
  give_changed(c, [&](value_list& to) { set_rows(to, value, indices, 0); });
}

inline void run_list_resize(kernel_context& c) {
  const std::int64_t size = c.number(1);
  if (size < 0) throw invalid_argument("TensorListSlice expects size to be non-negative. Got: " + std::to_string(size));
  give_changed(c, [&](value_list& to) { to.resize(size); });
}
inline void run_join_lists(kernel_context& c) {
  const value_list &a = typed_list(c, 0), &b = typed_list(c, 1);
  if (!(a.element == b.element))
    throw invalid_argument("input_a and input_b TensorList element shapes are not identical. Saw " + brackets(a.element) + " vs. " +
                           brackets(b.element));
  const std::vector<tensor_value> more = b.all();
  give_changed(c, [&](value_list& to) {
    const std::int64_t before = to.size();
    to.resize(before + static_cast<std::int64_t>(more.size()));
    for (std::size_t k = 0; k < more.size(); ++k)
      if (more[k]) to.set(before + static_cast<std::int64_t>(k), more[k]);
  });
}
inline void run_list_element_shape(kernel_context& c) {
  const shape& element = list_at(c, 0).element;
  const dtype type = c.node.type_of("shape_type", dtype::int32);
  std::vector<std::int64_t> sizes;
  for (int i = 0; i < element.rank; ++i) sizes.push_back(element[i] < 0 ? -1 : element[i]);
  c.set(0, element.has_rank() ? integer_tensor(type, sizes) : integer_tensor(type, {-1}, true));
}

LEAT_FILL(fill_tensor_list_kernels) {
  register_kernel("EmptyTensorList", run_empty_list);
  register_kernel("TensorListReserve", run_reserve_list);
  register_kernel("TensorListFromTensor", run_list_from_tensor);
  register_kernel("TensorListPushBack", run_push_back);
  register_kernel("TensorListPopBack", run_pop_back);
  register_kernel("TensorListGetItem", run_list_item);
  register_kernel("TensorListSetItem", run_set_item);
  register_kernel("TensorListStack", run_list_stack);
  register_kernel("TensorListGather", run_list_gather);
  register_kernels({"TensorListConcat", "TensorListConcatV2"}, run_list_concat);
  register_kernel("TensorListSplit", run_list_split);
  register_kernels({"TensorListScatter", "TensorListScatterV2"}, run_list_scatter);
  register_kernel("TensorListScatterIntoExistingList", run_scatter_into_list);
  register_kernel("TensorListResize", run_list_resize);
  register_kernel("TensorListConcatLists", run_join_lists);
  register_kernel("TensorListElementShape", run_list_element_shape);
  register_kernel("TensorListLength", [](kernel_context& c) { c.set(0, tensor_value(static_cast<std::int32_t>(list_at(c, 0).size()))); });
}

}  // namespace leat::runtime
