#pragma once
// Kernels of tensor arrays (value_array.hpp). Their results `flow` carry no value: an edge of them makes a node run after the writes that
// it depends on. Arrays have had three forms of handles, a reference to a string, a string, and a resource; the functions are the same.

#include <leat/core/fill.hpp>
#include <leat/core/memory.hpp>
#include <leat/runtime/kernels/control.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/moved_texts.hpp>
#include <leat/runtime/kernels/value_array.hpp>

#include <algorithm>
#include <numeric>

namespace leat::runtime {

inline shape shape_attribute(const kernel_node& n, std::string_view name) {
  const auto* a = n.record->attributes.find(name);
  const auto* given = a != nullptr ? a->get_if<tensor_shape_proto>() : nullptr;
  return given != nullptr ? to_shape(*given) : shape::unknown();
}
/// The array that the first input refers to. Errors: invalid_argument if the node's dtype is another than the array's.
inline value_array& array_to_read(kernel_context& c) {
  auto& array = held_as<value_array>(c.input(0));
  if (const dtype wanted = c.node.type_of("dtype"); wanted != array.type())
    throw invalid_argument("TensorArray dtype is " + dtype_name(array.type()) + " but Op requested dtype " + dtype_name(wanted) + ".");
  return array;
}
inline value_array& array_to_write(kernel_context& c, int value) {
  auto& array = held_as<value_array>(c.input(0));
  if (c.type(value) != array.type())
    throw invalid_argument("TensorArray dtype is " + dtype_name(array.type()) + " but Op is trying to write dtype " +
                           dtype_name(c.type(value)) + ".");
  return array;
}
inline std::int64_t array_index(kernel_context& c) {
  if (c.extent(1).rank != 0) throw invalid_argument("TensorArray index must be scalar, but had shape: " + brackets(c.extent(1)));
  return c.number(1);
}
inline std::vector<std::int64_t> array_indices(kernel_context& c) {
  if (c.extent(1).rank != 1) throw invalid_argument("Expected indices to be a vector, but received shape: " + brackets(c.extent(1)));
  return c.numbers(1);
}
inline std::vector<std::int64_t> all_indices(std::int64_t count) {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(count));
  std::iota(indices.begin(), indices.end(), std::int64_t{0});
  return indices;
}
inline shape with_first(std::int64_t count, const shape& rest) {
  if (rest.rank == max_rank)
    throw unimplemented("elements of " + std::to_string(max_rank) + " dimensions cannot be joined along a new one");
  shape all;
  all.push(count);
  for (int i = 0; i < rest.rank; ++i) all.push(rest[i]);
  return all;
}

// ---- making --------------------------------------------------------------------------------------------------------

inline void run_new_array(kernel_context& c) {
  if (c.extent(0).rank != 0) throw invalid_argument("TensorArray size must be scalar, but had shape: " + brackets(c.extent(0)));
  const std::string own = c.node.text("tensor_array_name");
  value_array::settings s{.name = own.empty() ? c.node.name() : own,
                          .type = c.node.type_of("dtype"),
                          .element = shape_attribute(c.node, "element_shape"),
                          .grows = c.node.flag("dynamic_size"),
                          .clears = c.node.flag("clear_after_read", true),
                          .identical = c.node.flag("identical_element_shapes")};
  c.set(0, tensor_value::handle(std::make_shared<value_array>(std::move(s), c.number(0))));
  c.set(1, tensor_value(0.0f));
}
inline void run_array_gradient(kernel_context& c) {
  c.set(0, tensor_value::handle(held_as<value_array>(c.input(0)).gradients_of(c.node.text("source"))));
  c.set(1, tensor_value(0.0f));
}
inline void run_array_gradient_with_shape(kernel_context& c) {
  const shape outer = shape_from(c.numbers(2));
  c.set(0, tensor_value::handle(held_as<value_array>(c.input(0)).gradients_of(c.node.text("source"), outer)));
  c.set(1, tensor_value(0.0f));
}

// ---- elements ------------------------------------------------------------------------------------------------------

inline void run_array_write(kernel_context& c) {
  const std::int64_t index = array_index(c);
  array_to_write(c, 2).write(index, c.input(2));
  c.set(0, c.take(3));
}
inline void run_array_read(kernel_context& c) {
  const std::int64_t index = array_index(c);
  c.set(0, array_to_read(c).read(index));
}

/// Reads several elements. A run may be stopped meanwhile. An array may be declared much longer than it is, so room for the list counts
/// toward the session's limit.
inline std::vector<tensor_value> read_elements(kernel_context& c, value_array& array, const std::vector<std::int64_t>& indices) {
  metered_bytes room;
  room.take(indices.size() * sizeof(tensor_value));
  std::vector<tensor_value> values;
  values.reserve(indices.size());
  for (const std::int64_t index : indices) {
    if (values.size() % 1024 == 1023) c.step.check();
    values.push_back(array.read(index));
  }
  return values;
}
/// The elements of all values, one value after the other.
inline tensor_value in_one(dtype type, const shape& extent, const std::vector<tensor_value>& values) {
  tensor_value made(type, extent);
  std::size_t bytes = 0;
  for (const tensor_value& v : values) bytes += outer_bytes(v);
  text_room room;
  room.take(bytes);
  with_storage(type, [&]<class S>(S) {
    S* to = stored<S>(made);
    for (const tensor_value& v : values) to = std::copy_n(stored<S>(v), v.elements(), to);
  });
  room.give(made);
  return made;
}

inline void stack_elements(kernel_context& c, value_array& array, const std::vector<std::int64_t>& indices) {
  const shape element = shape_attribute(c.node, "element_shape");
  array.refine(element);
  if (indices.empty()) {
    if (!element.is_static())
      throw unimplemented("TensorArray has size zero, but element shape " + brackets(element) +
                          " is not fully defined. Currently only static shapes are supported when packing zero-size TensorArrays.");
    c.set(0, tensor_value(array.type(), with_first(0, element)));
    return;
  }
  const std::vector<tensor_value> values = read_elements(c, array, indices);
  const shape& first = values[0].extent();
  for (std::size_t k = 1; k < values.size(); ++k)
    if (!(values[k].extent() == first))
      throw invalid_argument("TensorArray has inconsistent shapes.  Index 0 has shape: " + brackets(first) + " but index " +
                             std::to_string(k) + " has shape: " + brackets(values[k].extent()));
  if (!may_equal(element, first))
    throw invalid_argument("TensorArray was passed element_shape " + brackets(element) +
                           " which does not match the Tensor at index 0: " + brackets(first));
  c.set(0, in_one(array.type(), with_first(static_cast<std::int64_t>(values.size()), first), values));
}
inline void run_array_gather(kernel_context& c) {
  const std::vector<std::int64_t> indices = array_indices(c);
  stack_elements(c, array_to_read(c), indices);
}
inline void run_array_pack(kernel_context& c) {
  value_array& array = array_to_read(c);
  stack_elements(c, array, all_indices(array.joined_size()));
}

inline void run_array_concat(kernel_context& c) {
  value_array& array = array_to_read(c);
  const shape rest = shape_attribute(c.node, "element_shape_except0");
  const std::int64_t count = array.joined_size();
  if (count == 0) {
    if (!rest.is_static())
      throw unimplemented("TensorArray has size zero, but element_shape_except0 " + brackets(rest) +
                          " is not fully defined. Currently only static shapes are supported when concatenating zero-size TensorArrays.");
    c.set(0, tensor_value(array.type(), with_first(0, rest)));
    c.set(1, integer_tensor(dtype::int64, {}));
    return;
  }
  const std::vector<tensor_value> values = read_elements(c, array, all_indices(count));
  std::vector<std::int64_t> lengths;
  std::int64_t total = 0;
  shape first;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const shape& extent = values[k].extent();
    if (extent.rank == 0)
      throw invalid_argument("Concat saw a scalar shape at index " + std::to_string(k) +
                             " but requires at least vectors.  Did you mean to call pack?");
    if (k == 0) first = without_first(extent);
    if (!(without_first(extent) == first))
      throw invalid_argument("TensorArray has inconsistent shapes.  Index 0 has (excepting dimension 0) shape: " + brackets(first) +
                             " but index " + std::to_string(k) + " has (excepting dimension 0) shape: " + brackets(without_first(extent)));
    lengths.push_back(extent[0]);
    if (__builtin_add_overflow(total, extent[0], &total)) throw resource_exhausted("more rows than 64 bits count");
  }
  if (!may_equal(rest, first))
    throw invalid_argument("TensorArray was passed element_shape_except0 " + brackets(rest) +
                           " and its elements have (excepting dimension 0) shape: " + brackets(first));
  c.set(0, in_one(array.type(), with_first(total, first), values));
  c.set(1, integer_tensor(dtype::int64, lengths));
}

/// Writes consecutive rows of a value: element k gets `lengths[k]` of them, or, with `alone`, one without its dimension.
inline void write_rows(kernel_context& c, value_array& array, const tensor_value& value, const std::vector<std::int64_t>& indices,
                       const std::vector<std::int64_t>& lengths, bool alone) {
  const shape rest = without_first(value.extent());
  std::int64_t at = 0;
  for (std::size_t k = 0; k < indices.size(); ++k) {
    if (k % 1024 == 1023) c.step.check();
    const std::int64_t rows = alone ? 1 : lengths[k];
    array.write(indices[k], some_rows(value, at, rows, alone ? rest : with_first(rows, rest)));
    at += rows;
  }
}
inline void unstack_rows(kernel_context& c, int value_at, const std::vector<std::int64_t>* indices) {
  value_array& array = array_to_write(c, value_at);
  const tensor_value& value = c.input(value_at);
  const shape& extent = value.extent();
  if (extent.rank == 0) throw invalid_argument("Input value for unpack must be at least a vector but received shape: " + brackets(extent));
  const std::int64_t size = array.size();
  if (indices == nullptr) {
    const std::int64_t wanted = array.may_grow() ? std::max(size, extent[0]) : size;
    if (extent[0] != wanted)
      throw invalid_argument("Input value must have first dimension equal to the array size (" + std::to_string(extent[0]) + " vs. " +
                             std::to_string(wanted) + ")");
    write_rows(c, array, value, all_indices(wanted), {}, true);
    array.note_split(wanted);
    return;
  }
  const auto count = static_cast<std::int64_t>(indices->size());
  if (extent[0] != count)
    throw invalid_argument("Expected len(indices) == values.shape[0], but saw: " + std::to_string(count) + " vs. " +
                           std::to_string(extent[0]));
  const std::int64_t largest = indices->empty() ? -1 : *std::max_element(indices->begin(), indices->end());
  if (!array.may_grow() && largest >= size)
    throw invalid_argument("Max scatter index must be < array size (" + std::to_string(largest) + " vs. " + std::to_string(size) + ")");
  write_rows(c, array, value, *indices, {}, true);
}
inline void run_array_scatter(kernel_context& c) {
  const std::vector<std::int64_t> indices = array_indices(c);
  unstack_rows(c, 2, &indices);
  c.set(0, c.take(3));
}
inline void run_array_unpack(kernel_context& c) {
  unstack_rows(c, 1, nullptr);
  c.set(0, c.take(2));
}

inline void run_array_split(kernel_context& c) {
  value_array& array = array_to_write(c, 1);
  const tensor_value& value = c.input(1);
  if (c.extent(2).rank != 1) throw invalid_argument("Expected lengths to be a vector, received shape: " + brackets(c.extent(2)));
  if (value.extent().rank == 0)
    throw invalid_argument("Expected value to be at least a vector, but received shape: " + brackets(value.extent()));
  const std::vector<std::int64_t> lengths = c.numbers(2);
  std::int64_t total = 0;
  for (const std::int64_t n : lengths) {
    if (n < 0) throw invalid_argument("Expected lengths to be at least 0, got " + std::to_string(n));
    if (__builtin_add_overflow(total, n, &total)) throw invalid_argument("Expected lengths whose sum fits in 64 bits");
  }
  if (total != value.extent()[0])
    throw invalid_argument("Expected sum of lengths to be equal to values.shape[0], but sum of lengths is " + std::to_string(total) +
                           " and value's shape is: " + brackets(value.extent()));
  const auto count = static_cast<std::int64_t>(lengths.size());
  const std::int64_t size = array.may_grow() ? std::max(array.size(), count) : array.size();
  if (size != count)
    throw invalid_argument("TensorArray's size is not equal to the size of lengths (" + std::to_string(size) + " vs. " +
                           std::to_string(count) + "), and the TensorArray is not marked as dynamically resizeable");
  write_rows(c, array, value, all_indices(count), lengths, false);
  array.note_split(count);
  c.set(0, c.take(3));
}

inline void run_array_size(kernel_context& c) {
  c.set(0, tensor_value(static_cast<std::int32_t>(held_as<value_array>(c.input(0)).size())));
}
inline void run_array_close(kernel_context& c) { held_as<value_array>(c.input(0)).close(); }

LEAT_FILL(fill_tensor_array_kernels) {
  register_kernels({"TensorArrayV3", "TensorArrayV2", "TensorArray"}, run_new_array);
  register_kernels({"TensorArrayGradV3", "TensorArrayGradV2", "TensorArrayGrad"}, run_array_gradient);
  register_kernel("TensorArrayGradWithShape", run_array_gradient_with_shape);
  register_kernels({"TensorArrayWriteV3", "TensorArrayWriteV2", "TensorArrayWrite"}, run_array_write);
  register_kernels({"TensorArrayReadV3", "TensorArrayReadV2", "TensorArrayRead"}, run_array_read);
  register_kernels({"TensorArrayGatherV3", "TensorArrayGatherV2", "TensorArrayGather"}, run_array_gather);
  register_kernels({"TensorArrayScatterV3", "TensorArrayScatterV2", "TensorArrayScatter"}, run_array_scatter);
  register_kernels({"TensorArrayConcatV3", "TensorArrayConcatV2", "TensorArrayConcat"}, run_array_concat);
  register_kernels({"TensorArraySplitV3", "TensorArraySplitV2", "TensorArraySplit"}, run_array_split);
  register_kernels({"TensorArraySizeV3", "TensorArraySizeV2", "TensorArraySize"}, run_array_size);
  register_kernels({"TensorArrayCloseV3", "TensorArrayCloseV2", "TensorArrayClose"}, run_array_close);
  register_kernel("TensorArrayPack", run_array_pack);
  register_kernel("TensorArrayUnpack", run_array_unpack);
}

}  // namespace leat::runtime
