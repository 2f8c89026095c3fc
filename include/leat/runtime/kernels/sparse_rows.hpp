#pragma once
// Kernels that give each row of a sparse tensor a value, that change its shape, and that compute softmax and sums along its axes. Source:
// TensorFlow `SparseFillEmptyRows`, `SparseFillEmptyRowsGrad`, `SparseReshape`, `SparseSoftmax`, `SparseReduceSum`, `SparseReduceMax`,
// `SparseReduceSumSparse`, `SparseReduceMaxSparse`, `SparseSliceGrad`.

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/moved_texts.hpp>
#include <leat/runtime/kernels/sparse_values.hpp>

#include <cmath>

namespace leat::runtime {

/// Rows without a value get a default one. Values keep their order within a row.
inline void run_fill_empty_rows(kernel_context& c) {
  const shape &at = c.extent(0), &values = c.extent(1), &whole = c.extent(2), &single = c.extent(3);
  if (whole.rank != 1) throw invalid_argument("dense_shape must be a vector, saw: " + brackets(whole));
  if (at.rank != 2) throw invalid_argument("indices must be a matrix, saw: " + brackets(at));
  if (values.rank != 1) throw invalid_argument("values must be a vector, saw: " + brackets(values));
  if (at[0] != values[0])
    throw invalid_argument("The length of `values` (" + std::to_string(values[0]) + ") must match the first dimension of `indices` (" +
                           std::to_string(at[0]) + ").");
  if (at[1] != whole[0])
    throw invalid_argument("The length of `dense_shape` (" + std::to_string(whole[0]) + ") must match the second dimension of `indices` (" +
                           std::to_string(at[1]) + ").");
  if (single.rank != 0) throw invalid_argument("default_value must be a scalar, saw: " + brackets(single));
  if (whole[0] == 0) throw invalid_argument("Dense shape cannot be empty.");
  const sparse_parts x(c, 0, 1, 2);
  const std::int64_t rows = x.sizes[0];
  if (rows == 0 && x.count > 0)
    throw invalid_argument("Received SparseTensor with dense_shape[0] = 0 but indices.shape[0] = " + std::to_string(x.count));
  tensor_value is_empty(dtype::boolean, {rows}), ends(dtype::int64, {rows}), places(dtype::int64, {static_cast<std::int64_t>(x.count)});
  const auto end = ends.values<std::int64_t>();  // of each row, first how many values it has, then where they end
  std::ranges::fill(end, std::int64_t{0});
  for (std::size_t k = 0; k < x.count; ++k) {
    const std::int64_t row = x.index(k)[0];
    if (row < 0 || row >= rows)
      throw invalid_argument("indices(" + std::to_string(k) + ", 0) is invalid: " + std::to_string(row) + " >= " + std::to_string(rows));
    ++end[static_cast<std::size_t>(row)];
  }
  std::int64_t total = 0;
  for (std::size_t r = 0; r < end.size(); ++r) {
    const std::int64_t count = end[r];
    is_empty.values<bool>()[r] = count == 0;
    end[r] = total;  // where they begin; each value that is placed moves it
    total += std::max<std::int64_t>(count, 1);
  }
  tensor_value indices(dtype::int64, {total, static_cast<std::int64_t>(x.rank)}), made(x.values.type(), {total});
  std::int64_t* const to = indices.values<std::int64_t>().data();
  with_storage(x.values.type(), [&]<class S>(S) {
    const tensor_value otherwise = c.input(3);
    for (std::size_t k = 0; k < x.count; ++k) {
      const std::int64_t place = end[static_cast<std::size_t>(x.index(k)[0])]++;
      places.values<std::int64_t>()[k] = place;
      std::copy_n(x.index(k), x.rank, to + place * static_cast<std::int64_t>(x.rank));
      stored<S>(made)[place] = stored<S>(x.values)[k];
    }
    for (std::size_t r = 0; r < end.size(); ++r) {
      if (!is_empty.values<bool>()[r]) continue;
      std::int64_t* const index = to + end[r] * static_cast<std::int64_t>(x.rank);
      std::fill_n(index, x.rank, std::int64_t{0});
      index[0] = static_cast<std::int64_t>(r);
      stored<S>(made)[end[r]] = *stored<S>(otherwise);
    }
  });
  c.set(0, std::move(indices));
  c.set(1, std::move(made));
  c.set(2, std::move(is_empty));
  c.set(3, std::move(places));
}
inline void run_fill_empty_rows_grad(kernel_context& c) {
  if (c.extent(0).rank != 1) throw invalid_argument("reverse_index_map must be a vector, saw: " + brackets(c.extent(0)));
  if (c.extent(1).rank != 1) throw invalid_argument("grad_values must be a vector, saw: " + brackets(c.extent(1)));
  const auto places = c.numbers(0);
  const tensor_value slopes = c.input(1);
  tensor_value by_value(slopes.type(), {static_cast<std::int64_t>(places.size())});
  with_number(slopes.type(), [&]<class T>(T) {
    const auto from = slopes.values<T>();
    std::vector<char> is_value(from.size(), 0);
    for (std::size_t k = 0; k < places.size(); ++k) {
      if (places[k] < 0 || places[k] >= static_cast<std::int64_t>(from.size()))
        throw invalid_argument("Elements in reverse index must be in [0, " + std::to_string(from.size()) + ") but got " +
                               std::to_string(places[k]));
      by_value.values<T>()[k] = from[static_cast<std::size_t>(places[k])];
      is_value[static_cast<std::size_t>(places[k])] = 1;
    }
    T sum = T(0);
    for (std::size_t k = 0; k < from.size(); ++k)
      if (is_value[k] == 0) sum = arithmetic<T>::add(sum, from[k]);
    c.set(1, tensor_value(sum));
  });
  c.set(0, std::move(by_value));
}

/// The same values in another shape: each index is that of the same element of the whole array.
inline void run_sparse_reshape(kernel_context& c) {
  const shape &at = c.extent(0), &from = c.extent(1), &to = c.extent(2);
  if (at.rank != 2) throw invalid_argument("Input must be a matrix.");
  if (from.rank != 1) throw invalid_argument("Input shape must be a vector.");
  if (at[1] != from[0]) throw invalid_argument("Input tensor rank must match input shape length.");
  if (to.rank != 1) throw invalid_argument("Target shape should be a vector but received shape " + brackets(to));
  const auto old_sizes = c.numbers(1), old_indices = c.numbers(0);
  auto sizes = c.numbers(2);
  const auto listed = [](const std::vector<std::int64_t>& list) {
    std::string text = "[";
    for (std::size_t k = 0; k < list.size(); ++k) text += (k == 0 ? "" : ",") + std::to_string(list[k]);
    return text + "]";
  };
  std::int64_t elements = 1, wanted = 1;
  for (const std::int64_t size : old_sizes) {
    if (size < 0) throw invalid_argument("Expected shape dimensions to be non-negative, got " + std::to_string(size));
    const std::int64_t before = elements;
    if (!multiplies(elements, size, elements))
      throw invalid_argument("Encountered overflow when multiplying " + std::to_string(before) + " with " + std::to_string(size) +
                             ", result: -1");
  }
  std::size_t open = sizes.size();
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == -1) {
      if (open < sizes.size())
        throw invalid_argument("only one output dimension may be -1, not both " + std::to_string(open) + " and " + std::to_string(d));
      open = d;
      continue;
    }
    if (sizes[d] < 0)
      throw invalid_argument("size " + std::to_string(d) + " must be non-negative, not " + std::to_string(sizes[d]));
    const std::int64_t before = wanted;
    if (!multiplies(wanted, sizes[d], wanted))
      throw invalid_argument("Encountered overflow when multiplying " + std::to_string(before) + " with " + std::to_string(sizes[d]) +
                             ", result: -1");
  }
  if (open < sizes.size()) {
    if (wanted == 0)
      throw invalid_argument(
          "reshape cannot infer the missing input size for an empty tensor unless all specified input sizes are non-zero");
    sizes[open] = elements / wanted;
    if (wanted * sizes[open] != elements)
      throw invalid_argument("Input to reshape is a SparseTensor with " + std::to_string(elements) +
                             " dense values, but the requested shape requires a multiple of " + std::to_string(wanted) +
                             ". input_shape=" + listed(old_sizes) + " output_shape=" + listed(sizes));
    wanted = elements;
  }
  if (wanted != elements)
    throw invalid_argument("Input to reshape is a tensor with " + std::to_string(elements) + " dense values, but the requested shape has " +
                           std::to_string(wanted) + ". input_shape=" + listed(old_sizes) + " output_shape=" + listed(sizes));
  tensor_value made(dtype::int64, {at[0], static_cast<std::int64_t>(sizes.size())});
  std::int64_t* target = made.values<std::int64_t>().data();
  // Sums wrap around: an index beyond the shape is no element of the array, and is not refused, as in TensorFlow.
  using whole = arithmetic<std::int64_t>;
  for (std::int64_t k = 0; made.elements() > 0 && k < at[0]; ++k, target += sizes.size()) {
    const std::int64_t* const index = old_indices.data() + k * at[1];
    std::int64_t place = 0;
    for (std::size_t d = 0; d < old_sizes.size(); ++d) place = whole::add(whole::multiply(place, old_sizes[d]), index[d]);
    for (std::size_t d = sizes.size(); d-- > 0;) {
      const std::int64_t size = std::max<std::int64_t>(sizes[d], 1);
      target[d] = d == 0 ? place : place % size;
      place /= size;
    }
  }
  c.set(0, std::move(made));
  c.set(1, tensor_value(sizes));
}

/// Softmax along the last axis, over the values that are there; in the order of sorted indices.
inline void run_sparse_softmax(kernel_context& c) {
  const sparse_parts x(c, 0, 1, 2);
  if (x.rank < 2)
    throw invalid_argument("Input should have rank >= 2, but received shape: " + (x.sizes.empty() ? "" : std::to_string(x.sizes[0])));
  std::vector<const std::int64_t*> rows;
  for (std::size_t k = 0; k < x.count; ++k) rows.push_back(x.index(k));
  const auto order = row_order(rows, x.rank);
  tensor_value made(x.values.type(), x.values.extent());
  with_fraction(made.type(), [&]<class T>(T) {
    const auto from = x.values.values<T>();
    const auto to = made.values<T>();
    for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
      T largest = from[order[begin]];
      for (end = begin; end < order.size() && compare_indices(rows[order[end]], rows[order[begin]], x.rank - 1) == 0; ++end)
        largest = std::max(largest, from[order[end]]);
      T sum = T(0);
      for (std::size_t k = begin; k < end; ++k) sum += to[k] = std::exp(from[order[k]] - largest);
      for (std::size_t k = begin; k < end; ++k) to[k] /= sum;
    }
  });
  c.set(0, std::move(made));
}

/// Whether each axis of a sparse tensor is among those of input 3.
inline std::vector<char> reduced_axes(kernel_context& c, const sparse_parts& x) {
  if (c.extent(3).rank > 1)
    throw invalid_argument("Expected reduction_axes to be a scalar or a vector; got shape: " + brackets(c.extent(3)));
  const auto limit = static_cast<std::int64_t>(x.rank);
  std::vector<char> is_reduced(x.rank, 0);
  for (const std::int64_t axis : c.numbers(3)) {
    if (axis < -limit || axis >= limit)
      throw invalid_argument("Invalid reduction dimension " + std::to_string(axis) + ", for input with " + std::to_string(limit) +
                             " dimensions.");
    is_reduced[static_cast<std::size_t>(axis < 0 ? axis + limit : axis)] = 1;
  }
  return is_reduced;
}
/// The sums, or the largest, of the values along axes, as a sparse tensor whose indices are sorted.
template <bool IsSum>
void run_sparse_reduce_to_sparse(kernel_context& c) {
  const sparse_parts x(c, 0, 1, 2);
  const std::vector<char> is_reduced = reduced_axes(c, x);
  const bool keeps = c.node.flag("keep_dims");
  std::vector<std::size_t> axes;  // those that stay, then the others
  for (const bool reduced : {false, true})
    for (std::size_t d = 0; d < x.rank; ++d)
      if ((is_reduced[d] != 0) == reduced) axes.push_back(d);
  const auto staying = static_cast<std::size_t>(std::ranges::count(is_reduced, 0));
  std::vector<std::int64_t> moved;
  std::vector<const std::int64_t*> rows;
  for (std::size_t k = 0; k < x.count; ++k)
    for (const std::size_t d : axes) moved.push_back(x.index(k)[d]);
  for (std::size_t k = 0; k < x.count; ++k) rows.push_back(moved.data() + k * x.rank);
  const auto order = row_order(rows, x.rank);
  std::vector<std::int64_t> indices, sizes;
  for (std::size_t d = 0; d < x.rank; ++d)
    if (is_reduced[d] == 0) sizes.push_back(x.sizes[d]);
    else if (keeps) sizes.push_back(1);
  with_number(x.values.type(), [&]<class T>(T) {
    std::vector<T> values;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const T value = x.values.values<T>()[order[i]];
      if (i > 0 && compare_indices(rows[order[i - 1]], rows[order[i]], staying) == 0) {
        if constexpr (IsSum) values.back() = arithmetic<T>::add(values.back(), value);
        else values.back() = values.back() < value ? value : values.back();
        continue;
      }
      for (std::size_t d = 0; d < x.rank; ++d)
        if (is_reduced[d] == 0) indices.push_back(x.index(order[i])[d]);
        else if (keeps) indices.push_back(0);
      values.push_back(value);
    }
    const auto count = static_cast<std::int64_t>(values.size());
    tensor_value made(x.values.type(), {count});
    std::ranges::copy(values, made.values<T>().begin());
    c.set(0, tensor_value({count, static_cast<std::int64_t>(sizes.size())}, indices));
    c.set(1, std::move(made));
  });
  c.set(2, tensor_value(sizes));
}
/// The same as an array; 0 where there is none.
template <bool IsSum>
void run_sparse_reduce(kernel_context& c) {
  const sparse_parts x(c, 0, 1, 2);
  const std::vector<char> is_reduced = reduced_axes(c, x);
  const bool keeps = c.node.flag("keep_dims");
  std::vector<std::int64_t> sizes;
  for (std::size_t d = 0; d < x.rank; ++d)
    if (is_reduced[d] == 0) sizes.push_back(x.sizes[d]);
    else if (keeps) sizes.push_back(1);
  tensor_value made = filled_number(x.values.type(), shape_from(sizes), 0);
  with_number(made.type(), [&]<class T>(T) {
    const auto to = made.values<T>();
    std::vector<char> is_filled(IsSum ? 0 : to.size(), 0);
    for (std::size_t k = 0; k < x.count; ++k) {
      std::int64_t at = 0;
      for (std::size_t d = 0; d < x.rank; ++d) {
        if (is_reduced[d] != 0) continue;
        if (x.index(k)[d] < 0 || x.index(k)[d] >= x.sizes[d])
          throw invalid_argument("Obtained a write index of " + std::to_string(x.index(k)[d]) + " which is outside of bounds of [0, " +
                                 std::to_string(x.sizes[d]) + ")");
        at = at * x.sizes[d] + x.index(k)[d];
      }
      const T value = x.values.values<T>()[k];
      T& all = to[static_cast<std::size_t>(at)];
      if constexpr (IsSum) {
        all = arithmetic<T>::add(all, value);
      } else {
        char& is_there = is_filled[static_cast<std::size_t>(at)];
        all = is_there != 0 && !(value > all) ? all : value;
        is_there = 1;
      }
    }
  });
  c.set(0, std::move(made));
}

/// The gradient of the values of which some are in a slice, in their order.
inline void run_sparse_slice_grad(kernel_context& c) {
  const shape &slopes = c.extent(0), &all = c.extent(1), &some = c.extent(3);
  if (all.rank != 2 || some.rank != 2)
    throw invalid_argument("Input and output indices should be matrices but received shapes: " + brackets(all) + " and " + brackets(some));
  if (slopes.rank != 1) throw invalid_argument("Input backprop_val_grad should be a vector but received shape: " + brackets(slopes));
  if (all[1] != some[1])
    throw invalid_argument("The input and output should have the same ndims: got: " + std::to_string(all[1]) + " and " +
                           std::to_string(some[1]));
  if (some[0] > all[0])
    throw invalid_argument("# rows of output_indices should be not greater than of input_indices, got " + std::to_string(some[0]) +
                           " and " + std::to_string(all[0]));
  if (slopes[0] != some[0])
    throw invalid_argument("# elements of backprop_val_grad and # rows of output_indices should match (#nnz of sum): got " +
                           std::to_string(slopes[0]) + " and " + std::to_string(some[0]));
  const auto start = c.numbers(2), indices = c.numbers(1), in_slice = c.numbers(3);
  if (static_cast<std::int64_t>(start.size()) != all[1])
    throw invalid_argument("The input_start should be a vector of length " + std::to_string(all[1]) + " but got length " +
                           std::to_string(start.size()));
  tensor_value made = filled_number(c.type(0), shapes::vector_of(all[0]), 0);
  const auto width = static_cast<std::size_t>(all[1]);
  with_number(made.type(), [&]<class T>(T) {
    const auto from = std::as_const(c.input(0)).template values<T>();
    const auto to = made.values<T>();
    std::size_t at = 0;
    for (std::size_t k = 0; k < to.size() && at < from.size(); ++k) {
      bool is_same = true;
      for (std::size_t d = 0; is_same && d < width; ++d)
        is_same = indices[k * width + d] == arithmetic<std::int64_t>::add(in_slice[at * width + d], start[d]);
      if (is_same) to[k] = from[at++];
    }
  });
  c.set(0, std::move(made));
}

LEAT_FILL(fill_sparse_row_kernels) {
  register_kernel("SparseFillEmptyRows", counting_texts(run_fill_empty_rows));
  register_kernel("SparseFillEmptyRowsGrad", run_fill_empty_rows_grad);
  register_kernel("SparseReshape", run_sparse_reshape);
  register_kernel("SparseSoftmax", run_sparse_softmax);
  register_kernel("SparseReduceSumSparse", run_sparse_reduce_to_sparse<true>);
  register_kernel("SparseReduceMaxSparse", run_sparse_reduce_to_sparse<false>);
  register_kernel("SparseReduceSum", run_sparse_reduce<true>);
  register_kernel("SparseReduceMax", run_sparse_reduce<false>);
  register_kernel("SparseSliceGrad", run_sparse_slice_grad);
}

}  // namespace leat::runtime
