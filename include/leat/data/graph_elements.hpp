#pragma once
// Elements of datasets in graphs: rows of arrays, and arrays of elements as Batch and PaddedBatch make them.

#include <leat/data/graph_dataset.hpp>
#include <leat/runtime/kernels/moved_texts.hpp>

#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace leat::data::detail {

/// Copies `count` elements from one array into another of the same dtype.
inline void copy_elements(tensor_value& to, std::int64_t at, const tensor_value& from, std::int64_t begin, std::int64_t count) {
  if (to.type() == text_dtype) {
    std::copy_n(from.texts().begin() + begin, count, to.texts().begin() + at);
    return;
  }
  const auto size = static_cast<std::size_t>(element_bytes(to.type()));
  if (count > 0)
    std::memcpy(to.data() + static_cast<std::size_t>(at) * size, from.data() + static_cast<std::size_t>(begin) * size,
                static_cast<std::size_t>(count) * size);
}
inline void count_strings(tensor_value& v) {
  if (v.type() == text_dtype && memory_meter::current() != nullptr) v.count_texts(runtime::outer_bytes(v));
}

/// Row `k` of an array: what has index k along the first axis.
inline tensor_value row_of(const tensor_value& v, std::int64_t k) {
  shape row;
  for (int i = 1; i < v.extent().rank; ++i) row.push(v.extent()[i]);
  tensor_value made(v.type(), row);
  const std::int64_t count = row.elements();
  copy_elements(made, 0, v, k * count, count);
  count_strings(made);
  return made;
}

/// An array of this shape in front of which there is an axis of so many elements.
inline tensor_value array_of_rows(dtype type, std::size_t rows, const shape& row) {
  shape all;
  all.push(static_cast<std::int64_t>(rows));
  for (int i = 0; i < row.rank; ++i) all.push(row[i]);
  if (!all.is_countable()) throw resource_exhausted("a batch of shape " + brackets(all) + ", which no memory holds");
  if (is_handle(type)) throw unimplemented("a batch of elements of dtype variant");
  return tensor_value(type, all);
}

/// Elements as one, with an axis for them in front. Errors: invalid_argument if their dtypes or shapes differ.
inline components stacked(std::span<const components> elements) {
  components made;
  for (std::size_t c = 0; c < elements[0].size(); ++c) {
    const tensor_value& first = elements[0][c];
    const std::int64_t count = first.elements();
    tensor_value all = array_of_rows(first.type(), elements.size(), first.extent());
    for (std::size_t k = 0; k < elements.size(); ++k) {
      if (elements[k].size() != elements[0].size()) throw invalid_argument("Cannot batch elements with different numbers of components");
      const tensor_value& one = elements[k][c];
      if (one.type() != first.type())
        throw invalid_argument("Cannot batch elements with different types in component " + std::to_string(c) + ": " +
                               dtype_name(first.type()) + " and " + dtype_name(one.type()));
      if (!(one.extent() == first.extent()))
        throw invalid_argument("Cannot batch tensors with different shapes in component " + std::to_string(c) +
                               ". First element had shape " + brackets(first.extent()) + " and element " + std::to_string(k) +
                               " had shape " + brackets(one.extent()) + ".");
      copy_elements(all, static_cast<std::int64_t>(k) * count, one, 0, count);
    }
    count_strings(all);
    made.push_back(std::move(all));
  }
  return made;
}

// Sets all elements to a value.
inline void fill_with(tensor_value& to, const tensor_value& value) {
  if (to.type() == text_dtype) {
    std::fill(to.texts().begin(), to.texts().end(), value.texts().at(0));
    return;
  }
  const auto size = static_cast<std::size_t>(element_bytes(to.type()));
  for (std::size_t at = 0; at < to.bytes(); at += size) std::memcpy(to.data() + at, value.data(), size);
}
// Copies an array into the corner of a larger one of the same rank.
inline void copy_corner(tensor_value& to, std::int64_t at, const shape& room, const tensor_value& from) {
  const shape& size = from.extent();
  if (from.elements() == 0) return;
  if (size.rank == 0) return copy_elements(to, at, from, 0, 1);
  const std::int64_t length = size[size.rank - 1];
  std::int64_t index[max_rank]{};
  for (std::int64_t begin = 0; begin < from.elements(); begin += length) {
    std::int64_t place = 0;
    for (int i = 0; i < size.rank; ++i) place = place * room[i] + index[i];
    copy_elements(to, at + place, from, begin, length);
    for (int i = size.rank - 2; i >= 0 && ++index[i] == size[i]; --i) index[i] = 0;
  }
}

/// How PaddedBatch pads a component: to sizes, of which -1 is the largest of the batch, with a value.
struct padding_of_component {
  std::vector<std::int64_t> sizes;
  tensor_value value;
};
/// Elements as one, padded to equal shapes. Errors: invalid_argument for elements that do not fit.
inline components stacked(std::span<const components> elements, std::span<const padding_of_component> paddings) {
  components made;
  for (std::size_t c = 0; c < paddings.size(); ++c) {
    const padding_of_component& how = paddings[c];
    const auto rank = static_cast<int>(how.sizes.size());
    shape room;
    for (const std::int64_t size : how.sizes) room.push(std::max<std::int64_t>(size, 0));
    for (const components& element : elements) {
      if (element.size() != paddings.size())
        throw invalid_argument("an element has " + std::to_string(element.size()) + " components, and there are " +
                               std::to_string(paddings.size()) + " paddings");
      const tensor_value& one = element[c];
      if (one.type() != how.value.type())
        throw invalid_argument("component " + std::to_string(c) + " is " + dtype_name(one.type()) + ", and its padding value " +
                               dtype_name(how.value.type()));
      if (one.extent().rank != rank)
        throw invalid_argument("All elements in a batch must have the same rank as the padded shape for component" + std::to_string(c) +
                               ": expected rank " + std::to_string(rank) + " but got element with rank " +
                               std::to_string(one.extent().rank));
      for (int i = 0; i < rank; ++i) {
        const std::int64_t size = one.extent()[i], wanted = how.sizes[static_cast<std::size_t>(i)];
        if (wanted < 0) room.dim[i] = std::max(room.dim[i], size);
        else if (size > wanted) throw data_loss("Attempted to pad to a smaller size than the input element.");
      }
    }
    tensor_value all = array_of_rows(how.value.type(), elements.size(), room);
    fill_with(all, how.value);
    const std::int64_t count = room.elements();
    for (std::size_t k = 0; k < elements.size(); ++k) copy_corner(all, static_cast<std::int64_t>(k) * count, room, elements[k][c]);
    count_strings(all);
    made.push_back(std::move(all));
  }
  return made;
}

}  // namespace leat::data::detail
