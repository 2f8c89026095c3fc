#pragma once
// Kernels of sparse tensors, which are indices (a row for each value), values and a shape. Source: TensorFlow `SparseTensorDenseMatMul`,
// `SparseReorder`, `SparseConcat`, `SparseSplit`, `SparseSlice`.

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/moved_texts.hpp>
#include <leat/runtime/kernels/shape.hpp>
#include <leat/runtime/kernels/walk.hpp>

#include <algorithm>
#include <numeric>

namespace leat::runtime {

/// A sparse tensor in three inputs. Errors: invalid_argument if they do not fit each other.
struct sparse_parts {
  std::vector<std::int64_t> indices, sizes;
  tensor_value values;
  std::size_t rank = 0, count = 0;

  sparse_parts(kernel_context& c, int at_indices, int at_values, int at_shape) : values(c.input(at_values)) {
    const shape& s = c.extent(at_indices);
    if (s.rank != 2) throw invalid_argument("indices must be a matrix, got shape " + brackets(s));
    if (values.extent().rank != 1) throw invalid_argument("values must be a vector, got shape " + brackets(values.extent()));
    if (c.extent(at_shape).rank != 1) throw invalid_argument("shape must be a vector, got shape " + brackets(c.extent(at_shape)));
    if (s[0] != values.extent()[0])
      throw invalid_argument("Number of elements in indices (" + std::to_string(s[0]) + ") and values (" +
                             std::to_string(values.extent()[0]) + ") do not match");
    sizes = c.numbers(at_shape);
    rank = static_cast<std::size_t>(s[1]);
    count = static_cast<std::size_t>(s[0]);
    if (rank != sizes.size())
      throw invalid_argument("Index rank (" + std::to_string(rank) + ") and shape rank (" + std::to_string(sizes.size()) +
                             ") do not match");
    for (const std::int64_t size : sizes)
      if (size < 0) throw invalid_argument("a shape with the size " + std::to_string(size));
    indices = c.numbers(at_indices);
  }
  const std::int64_t* index(std::size_t k) const { return indices.data() + k * rank; }
  /// Errors: invalid_argument for an index outside of the shape.
  void want_indices_within() const {
    for (std::size_t k = 0; k < count; ++k)
      for (std::size_t d = 0; d < rank; ++d)
        if (index(k)[d] < 0 || index(k)[d] >= sizes[d]) {
          std::string text = "Sparse index tuple indices[" + std::to_string(k) + ", :] = [";
          for (std::size_t i = 0; i < rank; ++i) text += (i > 0 ? ", " : "") + std::to_string(index(k)[i]);
          throw invalid_argument(text + "] is out of bounds");
        }
  }
};
/// The values at these places, with their indices; results 0 and 1.
inline void set_sparse(kernel_context& c, const std::vector<std::int64_t>& indices, std::size_t rank, dtype type,
                       const std::vector<std::pair<const tensor_value*, std::size_t>>& values) {
  const auto count = static_cast<std::int64_t>(values.size());
  c.set(0, tensor_value({count, static_cast<std::int64_t>(rank)}, indices));
  tensor_value made(type, {count});
  with_storage(type, [&]<class S>(S) {
    for (std::size_t k = 0; k < values.size(); ++k) stored<S>(made)[k] = stored<S>(*values[k].first)[values[k].second];
  });
  c.set(1, std::move(made));
}
/// The order of indices by rows; those that are equal keep their order.
inline std::vector<std::size_t> row_order(const std::vector<const std::int64_t*>& indices, std::size_t rank) {
  std::vector<std::size_t> order(indices.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto [in_a, in_b] = std::mismatch(indices[a], indices[a] + rank, indices[b]);
    return in_a == indices[a] + rank ? a < b : *in_a < *in_b;
  });
  return order;
}

inline void run_sparse_matmul(kernel_context& c) {
  const shape &at = c.extent(0), &values = c.extent(1), &whole = c.extent(2);
  const tensor_value b = c.input(3);
  if (b.extent().rank != 2) throw invalid_argument("Tensor 'b' is not a matrix");
  if (whole.rank != 1) throw invalid_argument("Tensor 'a_shape' is not a vector");
  if (whole[0] != 2) throw invalid_argument("Tensor 'a_shape' must have 2 elements");
  if (values.rank != 1) throw invalid_argument("Tensor 'a_values' is not a vector");
  if (at.rank != 2) throw invalid_argument("Tensor 'a_indices' is not a matrix");
  if (at[0] != values[0]) throw invalid_argument("Number of rows of a_indices does not match number of entries in a_values");
  if (at[1] != 2) throw invalid_argument("Number of columns of a_indices does not match number of entries in a_shape");
  const auto sizes = c.numbers(2), indices = c.numbers(0);
  const bool ta = c.node.flag("adjoint_a"), tb = c.node.flag("adjoint_b");
  for (const std::int64_t size : sizes)
    if (size < 0) throw invalid_argument("a_shape has the size " + std::to_string(size));
  const std::int64_t rows = sizes[ta ? 1 : 0], inner = sizes[ta ? 0 : 1];
  const std::int64_t inner_b = b.extent()[tb ? 1 : 0], columns = b.extent()[tb ? 0 : 1];
  if (inner != inner_b)
    throw invalid_argument("Cannot multiply A and B because inner dimension does not match: " + std::to_string(inner) + " vs. " +
                           std::to_string(inner_b) + ".  Did you forget a transpose?");
  shape extent;
  extent.push(rows);
  extent.push(columns);
  for (std::int64_t k = 0; k < at[0]; ++k) {
    const std::int64_t* index = indices.data() + 2 * k;
    const auto check = [&](int which, std::int64_t below, const char* name) {
      if (index[which] < 0 || index[which] >= below)
        throw invalid_argument(std::string(name) + " (" + std::to_string(index[which]) + ") from index[" + std::to_string(k) + "," +
                               std::to_string(which) + "] out of bounds (>=" + std::to_string(below) + ")");
    };
    check(ta ? 0 : 1, inner, "k");
    check(ta ? 1 : 0, rows, "m");
  }
  tensor_value made = filled_number(b.type(), extent, 0);
  if (made.elements() > 0)
    with_number(b.type(), [&]<class T>(T) {
      const T* const a = std::as_const(c.input(1)).template values<T>().data();
      const T* const from = b.values<T>().data();
      T* const to = made.values<T>().data();
      for (std::int64_t k = 0; k < at[0]; ++k) {
        if (k % 4096 == 0) c.step.check();
        const std::int64_t m = indices[static_cast<std::size_t>(2 * k + (ta ? 1 : 0))],
                           i = indices[static_cast<std::size_t>(2 * k + (ta ? 0 : 1))];
        for (std::int64_t n = 0; n < columns; ++n) {
          T& sum = to[m * columns + n];
          sum = arithmetic<T>::add(sum, arithmetic<T>::multiply(a[k], tb ? from[n * inner + i] : from[i * columns + n]));
        }
      }
    });
  c.set(0, std::move(made));
}

inline void run_sparse_reorder(kernel_context& c) {
  const sparse_parts x(c, 0, 1, 2);
  std::vector<const std::int64_t*> rows;
  for (std::size_t k = 0; k < x.count; ++k) rows.push_back(x.index(k));
  std::vector<std::int64_t> indices;
  std::vector<std::pair<const tensor_value*, std::size_t>> values;
  for (const std::size_t k : row_order(rows, x.rank)) {
    indices.insert(indices.end(), x.index(k), x.index(k) + x.rank);
    values.emplace_back(&x.values, k);
  }
  set_sparse(c, indices, x.rank, x.values.type(), values);
}

/// Equal parts along an axis; those at the front are longer by one if the size is not a multiple of their count.
inline void run_sparse_split(kernel_context& c) {
  if (c.extent(0).rank != 0) throw invalid_argument("Input axis should be a scalar but received shape " + brackets(c.extent(0)));
  const sparse_parts x(c, 1, 2, 3);
  const std::int64_t given = c.number(0), limit = static_cast<std::int64_t>(x.rank);
  if (given < -limit || given >= limit)
    throw invalid_argument("Input axis should be in range [" + std::to_string(-limit) + ", " + std::to_string(limit) + "), got " +
                           std::to_string(given));
  const auto axis = static_cast<std::size_t>(given < 0 ? given + limit : given);
  const std::int64_t size = x.sizes[axis], parts = c.result_count() / 3;
  if (parts < 1 || parts > size)
    throw invalid_argument("Input num_split should be between 1 and the splitting dimension size (" + std::to_string(size) + "), got " +
                           std::to_string(parts));
  x.want_indices_within();
  const std::int64_t width = size / parts, longer = size % parts, turn = longer * (width + 1);
  std::vector<std::vector<std::size_t>> of_parts(static_cast<std::size_t>(parts));
  for (std::size_t k = 0; k < x.count; ++k) {
    const std::int64_t at = x.index(k)[axis];
    of_parts[static_cast<std::size_t>(at < turn ? at / (width + 1) : longer + (at - turn) / width)].push_back(k);
  }
  for (std::int64_t part = 0; part < parts; ++part) {
    const auto& its = of_parts[static_cast<std::size_t>(part)];
    const std::int64_t begin = part * width + std::min(part, longer);
    std::vector<std::int64_t> indices, sizes = x.sizes;
    sizes[axis] = width + (part < longer ? 1 : 0);
    tensor_value made(x.values.type(), {static_cast<std::int64_t>(its.size())});
    with_storage(made.type(), [&]<class S>(S) {
      for (std::size_t k = 0; k < its.size(); ++k) stored<S>(made)[k] = stored<S>(x.values)[its[k]];
    });
    for (const std::size_t k : its) {
      indices.insert(indices.end(), x.index(k), x.index(k) + x.rank);
      indices[indices.size() - x.rank + axis] -= begin;
    }
    c.set(static_cast<int>(part), tensor_value({static_cast<std::int64_t>(its.size()), limit}, indices));
    c.set(static_cast<int>(parts + part), std::move(made));
    c.set(static_cast<int>(2 * parts + part), tensor_value(sizes));
  }
}

inline void run_sparse_concat(kernel_context& c) {
  const int n = c.input_count() / 3;
  if (n < 2) throw invalid_argument("Value for attr 'N' of " + std::to_string(n) + " must be at least minimum 2");
  std::vector<sparse_parts> parts;
  for (int k = 0; k < n; ++k) parts.emplace_back(c, k, n + k, 2 * n + k);
  const std::size_t rank = parts[0].rank;
  std::int64_t given = c.node.integer("concat_dim");
  const auto limit = static_cast<std::int64_t>(rank);
  if (given < -limit || given >= limit)
    throw invalid_argument("Concat dimension must be in range [" + std::to_string(-limit) + ", " + std::to_string(limit) + "), got " +
                           std::to_string(given));
  const auto axis = static_cast<std::size_t>(given < 0 ? given + limit : given);
  std::vector<std::int64_t> sizes = parts[0].sizes, offsets{0};
  for (std::size_t k = 1; k < parts.size(); ++k) {
    if (parts[k].rank != rank)
      throw invalid_argument("Ranks of all input tensors must match: expected " + std::to_string(rank) + " but got " +
                             std::to_string(parts[k].rank) + " at position " + std::to_string(k));
    for (std::size_t d = 0; d < rank; ++d)
      if (d != axis && parts[k].sizes[d] != sizes[d])
        throw invalid_argument("Input shapes must match: expected " + std::to_string(sizes[d]) + " for dimension " + std::to_string(d) +
                               " but got " + std::to_string(parts[k].sizes[d]) + " at position " + std::to_string(k));
    offsets.push_back(sizes[axis]);
    if (__builtin_add_overflow(sizes[axis], parts[k].sizes[axis], &sizes[axis]))
      throw invalid_argument("the sizes along the axis are too large");
  }
  std::vector<std::int64_t> all;
  std::vector<std::pair<const tensor_value*, std::size_t>> from;
  for (std::size_t k = 0; k < parts.size(); ++k)
    for (std::size_t i = 0; i < parts[k].count; ++i) {
      for (std::size_t d = 0; d < rank; ++d) {
        std::int64_t index = parts[k].index(i)[d];
        if (d == axis && __builtin_add_overflow(index, offsets[k], &index)) throw invalid_argument("an index is too large");
        all.push_back(index);
      }
      from.emplace_back(&parts[k].values, i);
    }
  std::vector<const std::int64_t*> rows;
  for (std::size_t i = 0; i < from.size(); ++i) rows.push_back(all.data() + i * rank);
  std::vector<std::int64_t> indices;
  std::vector<std::pair<const tensor_value*, std::size_t>> values;
  for (const std::size_t i : row_order(rows, rank)) {
    indices.insert(indices.end(), rows[i], rows[i] + rank);
    values.push_back(from[i]);
  }
  set_sparse(c, indices, rank, parts[0].values.type(), values);
  c.set(2, tensor_value(sizes));
}

inline void run_sparse_slice(kernel_context& c) {
  const sparse_parts x(c, 0, 1, 2);
  const auto begin = c.numbers(3), size = c.numbers(4);
  const auto check = [&](const std::vector<std::int64_t>& list, const char* name) {
    if (list.size() != x.rank)
      throw invalid_argument(std::string("Expected ") + name + " to be a vector of length " + std::to_string(x.rank) + " but got length " +
                             std::to_string(list.size()));
  };
  check(begin, "start"), check(size, "size");
  std::vector<std::int64_t> sizes(x.rank), ends(x.rank);
  for (std::size_t d = 0; d < x.rank; ++d) {
    if (size[d] < 0) throw invalid_argument("Expected a non-negative size, got " + std::to_string(size[d]));
    if (__builtin_add_overflow(begin[d], size[d], &ends[d])) ends[d] = INT64_MAX;
    sizes[d] =
        begin[d] < x.sizes[d] ? (ends[d] < x.sizes[d] ? size[d] : std::min(size[d], x.sizes[d] - std::max<std::int64_t>(begin[d], 0))) : 0;
  }
  std::vector<std::int64_t> indices;
  std::vector<std::pair<const tensor_value*, std::size_t>> values;
  for (std::size_t k = 0; k < x.count; ++k) {
    bool is_inside = true;
    for (std::size_t d = 0; d < x.rank; ++d) is_inside = is_inside && x.index(k)[d] >= begin[d] && x.index(k)[d] < ends[d];
    if (!is_inside) continue;
    for (std::size_t d = 0; d < x.rank; ++d) {
      std::int64_t index = 0;
      if (__builtin_sub_overflow(x.index(k)[d], begin[d], &index)) throw invalid_argument("start is too small");
      indices.push_back(index);
    }
    values.emplace_back(&x.values, k);
  }
  set_sparse(c, indices, x.rank, x.values.type(), values);
  c.set(2, tensor_value(sizes));
}

LEAT_FILL(fill_sparse_kernels) {
  register_kernel("SparseTensorDenseMatMul", run_sparse_matmul);
  register_kernel("SparseReorder", run_sparse_reorder);
  register_kernel("SparseSplit", counting_texts(run_sparse_split));
  register_kernel("SparseConcat", run_sparse_concat);
  register_kernel("SparseSlice", run_sparse_slice);
}

}  // namespace leat::runtime
