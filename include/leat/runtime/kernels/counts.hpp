#pragma once
// Kernels that count how often each number occurs in each row of a dense, sparse or ragged tensor, or add up its weights: as an array, or
// as a sparse tensor of the numbers that occur. Source: TensorFlow `RaggedBincount`, `SparseBincount`, `DenseCountSparseOutput`,
// `SparseCountSparseOutput`, `RaggedCountSparseOutput`.

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/shape.hpp>
#include <leat/runtime/kernels/walk.hpp>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace leat::runtime {

/// The row of each number that is counted.
struct counted_rows {
  std::vector<std::int64_t> row_of{}, numbers{};
  std::int64_t rows = 1;
  bool is_vector = false;  // the numbers have no rows
};

inline void want_no_negative(const std::vector<std::int64_t>& numbers, const char* text) {
  for (const std::int64_t n : numbers)
    if (n < 0) throw invalid_argument(text);
}
/// The rows of a ragged tensor, whose splits are input `k` and whose values are the next one.
inline counted_rows ragged_rows(kernel_context& c, int k) {
  const shape &splits = c.extent(k), &values = c.extent(k + 1);
  if (splits.rank != 1) throw invalid_argument("Splits must be a vector, got shape " + brackets(splits));
  if (values.rank != 1) throw invalid_argument("Values must be a vector, got shape " + brackets(values));
  const auto ends = c.numbers(k);
  if (ends.empty()) throw invalid_argument("Splits must be non-empty");
  if (ends.front() != 0) throw invalid_argument("Splits must start with 0, not with " + std::to_string(ends.front()));
  if (ends.back() != values[0])
    throw invalid_argument("Splits must end with the number of values, got " + std::to_string(ends.back()) + " instead of " +
                           std::to_string(values[0]));
  counted_rows made{.numbers = c.numbers(k + 1), .rows = static_cast<std::int64_t>(ends.size()) - 1};
  for (std::size_t row = 0; row + 1 < ends.size(); ++row) {
    if (ends[row + 1] < ends[row]) throw invalid_argument("Splits must be sorted");
    made.row_of.insert(made.row_of.end(), static_cast<std::size_t>(ends[row + 1] - ends[row]), static_cast<std::int64_t>(row));
  }
  return made;
}
/// The rows of a sparse tensor: indices, values and shape are inputs 0, 1 and 2. `refuse(n, indices, sizes)` throws for an index that is
/// out of bounds.
template <class Refuse>
counted_rows sparse_rows_counted(kernel_context& c, Refuse refuse) {
  const auto indices = c.numbers(0), sizes = c.numbers(2);
  counted_rows made{.numbers = c.numbers(1), .is_vector = sizes.size() == 1};
  const std::size_t rank = sizes.size();
  for (std::size_t k = 0; k < made.numbers.size(); ++k) {
    for (std::size_t d = 0; d < rank; ++d)
      if (indices[k * rank + d] < 0 || indices[k * rank + d] >= sizes[d]) refuse(k, d, indices, sizes);
    made.row_of.push_back(made.is_vector ? 0 : indices[k * rank]);
  }
  if (!made.is_vector) made.rows = sizes[0];
  return made;
}

// ---- arrays -----------------------------------------------------------------------------------------------------------

/// Input `k` is the number of bins, the next one the weights.
inline void set_bins(kernel_context& c, const counted_rows& in, int k) {
  if (c.extent(k).rank != 0) throw invalid_argument("Shape must be rank 0 but is rank " + std::to_string(c.extent(k).rank));
  const std::int64_t size = c.number(k);
  if (size < 0) throw invalid_argument("size (" + std::to_string(size) + ") must be non-negative");
  want_no_negative(in.numbers, "Input must be non-negative");
  const tensor_value weights = c.input(k + 1);
  const bool is_weighted = weights.elements() > 0, counts_once = c.node.flag("binary_output");
  if (is_weighted && weights.elements() != static_cast<std::int64_t>(in.numbers.size()))
    throw invalid_argument("Weights and values must have the same shape. Weight shape: " + brackets(weights.extent()) +
                           "; values shape: [" + std::to_string(in.numbers.size()) + "]");
  shape extent;
  if (!in.is_vector) extent.push(in.rows);
  extent.push(size);
  tensor_value made = filled_number(weights.type(), extent, 0);
  with_number(weights.type(), [&]<class T>(T) {
    T* const to = made.values<T>().data();
    for (std::size_t i = 0; i < in.numbers.size(); ++i) {
      if (in.numbers[i] >= size) continue;
      T& bin = to[in.row_of[i] * size + in.numbers[i]];
      bin = counts_once ? T(1) : arithmetic<T>::add(bin, is_weighted ? weights.values<T>()[i] : T(1));
    }
  });
  c.set(0, std::move(made));
}
inline void run_ragged_bincount(kernel_context& c) { set_bins(c, ragged_rows(c, 0), 2); }
inline void run_sparse_bincount(kernel_context& c) {
  const shape &indices = c.extent(0), &values = c.extent(1), &sizes = c.extent(2);
  if (indices.rank != 2) throw invalid_argument("Sparse indices must be rank 2 but is rank " + std::to_string(indices.rank));
  if (values.rank != 1 || sizes.rank != 1)
    throw invalid_argument("Sparse values and shape must be vectors, got " + brackets(values) + " and " + brackets(sizes));
  if (indices[0] != values[0])
    throw invalid_argument("Number of elements in indices (" + std::to_string(indices[0]) + ") and values (" + std::to_string(values[0]) +
                           ") do not match");
  if (indices[1] != sizes[0])
    throw invalid_argument("Index rank (" + std::to_string(indices[1]) + ") and shape rank (" + std::to_string(sizes[0]) +
                           ") do not match");
  if (sizes[0] != 1 && sizes[0] != 2)
    throw invalid_argument("Sparse tensors of rank 1 or 2 are counted, not of rank " + std::to_string(sizes[0]));
  for (const std::int64_t size : c.numbers(2))
    if (size < 0) throw invalid_argument("the shape of a sparse tensor has the size " + std::to_string(size));
  set_bins(c,
           sparse_rows_counted(
               c,
               [](std::size_t k, std::size_t, const std::vector<std::int64_t>& at, const std::vector<std::int64_t>& extent) {
                 std::string tuple;
                 for (std::size_t d = 0; d < extent.size(); ++d) tuple += (d > 0 ? ", " : "") + std::to_string(at[k * extent.size() + d]);
                 throw invalid_argument("Sparse index tuple indices[" + std::to_string(k) + ", :] = [" + tuple + "] is out of bounds");
               }),
           3);
}

// ---- sparse tensors ---------------------------------------------------------------------------------------------------

/// Sets the numbers that occur, by row and size, as the indices of a sparse tensor of their counts. Numbers from `maxlength` on are left
/// out.
inline void set_counts(kernel_context& c, const counted_rows& in, const tensor_value& weights) {
  want_no_negative(in.numbers, "Input values must all be non-negative");
  const std::int64_t least = c.node.integer("minlength", -1), most = c.node.integer("maxlength", -1);
  const bool is_weighted = weights.elements() > 0, counts_once = c.node.flag("binary_output");
  std::vector<std::size_t> order;
  std::int64_t largest = 0;
  for (std::size_t k = 0; k < in.numbers.size(); ++k) {
    if (most >= 0 && in.numbers[k] >= most) continue;
    order.push_back(k);
    largest = std::max(largest, in.numbers[k]);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(in.row_of[a], in.numbers[a]) < std::tie(in.row_of[b], in.numbers[b]);
  });
  const auto begins = [&](std::size_t i) {
    return i == 0 || in.row_of[order[i]] != in.row_of[order[i - 1]] || in.numbers[order[i]] != in.numbers[order[i - 1]];
  };
  std::vector<std::int64_t> indices;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (!begins(i)) continue;
    ++count;
    if (!in.is_vector) indices.push_back(in.row_of[order[i]]);
    indices.push_back(in.numbers[order[i]]);
  }
  tensor_value made(weights.type(), {count});
  with_number(weights.type(), [&]<class T>(T) {
    T* to = made.values<T>().data() - 1;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const T value = is_weighted ? weights.values<T>()[order[i]] : T(1);
      if (begins(i)) *++to = counts_once ? T(1) : value;
      else if (!counts_once) *to = arithmetic<T>::add(*to, value);
    }
  });
  std::vector<std::int64_t> extent{
      most >= 0 ? most : std::max(largest == std::numeric_limits<std::int64_t>::max() ? largest : largest + 1, least)};
  if (!in.is_vector) extent.insert(extent.begin(), in.rows);
  c.set(0, tensor_value({count, in.is_vector ? 1 : 2}, indices));
  c.set(1, std::move(made));
  c.set(2, tensor_value(extent));
}
inline void want_weights(kernel_context& c, int weights, int values, const char* what) {
  if (c.input(weights).elements() > 0 && !(c.extent(weights) == c.extent(values)))
    throw invalid_argument("Weights and " + std::string(what) + " must have the same shape. Weight shape: " + brackets(c.extent(weights)) +
                           "; " + what + " shape: " + brackets(c.extent(values)));
}
inline void run_dense_counts(kernel_context& c) {
  const shape& s = c.extent(0);
  if (s.rank != 1 && s.rank != 2) throw invalid_argument("Input must be a 1 or 2-dimensional tensor. Got: " + brackets(s));
  want_weights(c, 1, 0, "data");
  counted_rows in{.numbers = c.numbers(0), .rows = s.rank == 2 ? s[0] : 1, .is_vector = s.rank == 1};
  const std::int64_t width = s[s.rank - 1];
  for (std::size_t k = 0; k < in.numbers.size(); ++k) in.row_of.push_back(in.is_vector ? 0 : static_cast<std::int64_t>(k) / width);
  set_counts(c, in, c.input(1));
}
inline void run_sparse_counts(kernel_context& c) {
  const shape &indices = c.extent(0), &values = c.extent(1), &sizes = c.extent(2);
  if (indices.rank != 2) throw invalid_argument("Input indices must be a 2-dimensional tensor. Got: " + brackets(indices));
  if (values.rank != 1) throw invalid_argument("Input values must be a vector. Got: " + brackets(values));
  if (sizes.rank != 1) throw invalid_argument("Input shape must be a vector. Got: " + brackets(sizes));
  if (values[0] != indices[0])
    throw invalid_argument("Number of values must match first dimension of indices.Got " + std::to_string(values[0]) +
                           " values, indices shape: " + brackets(indices));
  if (sizes[0] != indices[1])
    throw invalid_argument("Number of dimensions must match second dimension of indices.Got " + std::to_string(sizes[0]) +
                           " dimensions, indices shape: " + brackets(indices));
  if (sizes[0] != 1 && sizes[0] != 2)
    throw invalid_argument("The shape argument requires 1 or 2 elements, not " + std::to_string(sizes[0]));
  want_weights(c, 3, 1, "values");
  set_counts(
      c,
      sparse_rows_counted(c,
                          [](std::size_t k, std::size_t d, const std::vector<std::int64_t>& at, const std::vector<std::int64_t>& extent) {
                            throw invalid_argument("Invalid index value at " + std::to_string(k) + ": dimension " + std::to_string(d) +
                                                   " has value " + std::to_string(at[k * extent.size() + d]) + " which is not in [0, " +
                                                   std::to_string(extent[d]) + ")");
                          }),
      c.input(3));
}
inline void run_ragged_counts(kernel_context& c) {
  if (c.input(0).elements() < 2) throw invalid_argument("Must provide at least 2 elements for the splits argument");
  want_weights(c, 2, 1, "values");
  set_counts(c, ragged_rows(c, 0), c.input(2));
}

LEAT_FILL(fill_count_kernels) {
  register_kernel("RaggedBincount", run_ragged_bincount);
  register_kernel("SparseBincount", run_sparse_bincount);
  register_kernel("DenseCountSparseOutput", run_dense_counts);
  register_kernel("SparseCountSparseOutput", run_sparse_counts);
  register_kernel("RaggedCountSparseOutput", run_ragged_counts);
}

}  // namespace leat::runtime
