#pragma once
// Kernels that add sparse tensors to each other and to arrays, and that combine their values with an array's. Source: TensorFlow
// `SparseAdd`, `SparseAddGrad`, `SparseSparseMaximum`, `SparseSparseMinimum`, `SparseTensorDenseAdd`, `SparseDenseCwiseAdd`,
// `SparseDenseCwiseMul`, `SparseDenseCwiseDiv`.

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/sparse.hpp>

#include <cmath>

namespace leat::runtime {

/// How rows of indices are ordered: below 0, 0, above 0.
inline int compare_indices(const std::int64_t* a, const std::int64_t* b, std::size_t rank) {
  for (std::size_t d = 0; d < rank; ++d)
    if (a[d] != b[d]) return a[d] < b[d] ? -1 : 1;
  return 0;
}

/// The sum of two sparse tensors whose indices are sorted. Sums of two values that are less than a threshold are left out.
inline void run_sparse_add(kernel_context& c) {
  for (const int k : {0, 3})
    if (c.extent(k).rank != 2)
      throw invalid_argument("Input indices should be matrices but received shapes: " + brackets(c.extent(0)) + " and " +
                             brackets(c.extent(3)));
  if (c.extent(0)[1] != c.extent(3)[1])
    throw invalid_argument("Input indices must have the same dimension, got " + std::to_string(c.extent(0)[1]) + " and " +
                           std::to_string(c.extent(3)[1]));
  for (const int k : {1, 4})
    if (c.extent(k).rank == 1 && c.extent(k)[0] != c.extent(k - 1)[0])
      throw invalid_argument("Expected " + std::to_string(c.extent(0)[0]) + " and " + std::to_string(c.extent(3)[0]) +
                             " non-empty input values, got " + std::to_string(c.input(1).elements()) + " and " +
                             std::to_string(c.input(4).elements()));
  const sparse_parts a(c, 0, 1, 2), b(c, 3, 4, 5);
  for (std::size_t d = 0; d < a.rank; ++d)
    if (a.sizes[d] != b.sizes[d])
      throw invalid_argument("Operands' shapes do not match: got " + std::to_string(a.sizes[d]) + " and " + std::to_string(b.sizes[d]) +
                             " for dimension " + std::to_string(d));
  if (c.extent(6).rank != 0)
    throw invalid_argument("The magnitude threshold must be a scalar: got shape " + brackets(c.extent(6)));
  std::vector<std::int64_t> indices;
  with_number(a.values.type(), [&]<class T>(T) {
    const T least = with_number(c.type(6), [&]<class R>(R) { return static_cast<T>(c.input(6).as<R>()); });
    const auto from_a = a.values.values<T>(), from_b = b.values.values<T>();
    std::vector<T> values;
    for (std::size_t i = 0, j = 0; i < a.count || j < b.count;) {
      const int order = i == a.count ? 1 : j == b.count ? -1 : compare_indices(a.index(i), b.index(j), a.rank);
      const std::int64_t* const at = order <= 0 ? a.index(i) : b.index(j);
      const T value = order < 0 ? from_a[i] : order > 0 ? from_b[j] : arithmetic<T>::add(from_a[i], from_b[j]);
      i += order <= 0 ? 1 : 0, j += order >= 0 ? 1 : 0;
      T magnitude = value;
      if constexpr (std::is_signed_v<T> || std::is_floating_point_v<T>)
        if (value < T(0)) magnitude = arithmetic<T>::subtract(T(0), value);
      if (order == 0 && !(least <= magnitude)) continue;
      indices.insert(indices.end(), at, at + a.rank);
      values.push_back(value);
    }
    c.set(0, tensor_value({static_cast<std::int64_t>(values.size()), static_cast<std::int64_t>(a.rank)}, indices));
    tensor_value made(a.values.type(), {static_cast<std::int64_t>(values.size())});
    std::ranges::copy(values, made.values<T>().begin());
    c.set(1, std::move(made));
  });
  c.set(2, tensor_value(a.sizes));
}
/// The larger or smaller values of two sparse tensors whose indices are sorted; where only one has a value, the other's is 0.
template <bool IsLarger>
void run_sparse_extremum(kernel_context& c) {
  const sparse_parts a(c, 0, 1, 2), b(c, 3, 4, 5);
  if (a.rank != b.rank)
    throw invalid_argument("Operands do not have the same ranks; got shapes: " + brackets(shape_from(a.sizes)) + " and " +
                           brackets(shape_from(b.sizes)));
  for (std::size_t d = 0; d < a.rank; ++d)
    if (a.sizes[d] != b.sizes[d])
      throw invalid_argument("Operands' shapes do not match: got " + std::to_string(a.sizes[d]) + " and " + std::to_string(b.sizes[d]) +
                             " for dimension " + std::to_string(d));
  for (const sparse_parts* x : {&a, &b}) x->want_indices_within();
  std::vector<std::int64_t> indices;
  with_number(a.values.type(), [&]<class T>(T) {
    const auto from_a = a.values.values<T>(), from_b = b.values.values<T>();
    std::vector<T> values;
    for (std::size_t i = 0, j = 0; i < a.count || j < b.count;) {
      const int order = i == a.count ? 1 : j == b.count ? -1 : compare_indices(a.index(i), b.index(j), a.rank);
      const std::int64_t* const at = order <= 0 ? a.index(i) : b.index(j);
      const T x = order <= 0 ? from_a[i++] : T(0), y = order >= 0 ? from_b[j++] : T(0);
      indices.insert(indices.end(), at, at + a.rank);
      const bool is_first = x != x || (y == y && (IsLarger ? y < x : x < y));  // a NaN wins
      values.push_back(is_first ? x : y);
    }
    c.set(0, tensor_value({static_cast<std::int64_t>(values.size()), static_cast<std::int64_t>(a.rank)}, indices));
    tensor_value made(a.values.type(), {static_cast<std::int64_t>(values.size())});
    std::ranges::copy(values, made.values<T>().begin());
    c.set(1, std::move(made));
  });
}
/// The gradients of both operands' values: of each value, that of the sum at its place, or 0 if the sum was left out.
inline void run_sparse_add_grad(kernel_context& c) {
  const shape& slopes = c.extent(0);
  for (const int k : {1, 2, 3})
    if (c.extent(k).rank != 2)
      throw invalid_argument("Input indices should be matrices but received shapes: " + brackets(c.extent(1)) + " and " +
                             brackets(c.extent(2)));
  if (slopes.rank != 1) throw invalid_argument("Input backprop_val_grad should be a vector but received shape: " + brackets(slopes));
  const auto width = static_cast<std::size_t>(c.extent(3)[1]);
  if (c.extent(1)[1] != c.extent(3)[1] || c.extent(2)[1] != c.extent(3)[1])
    throw invalid_argument("The densified operands should have the same ndims: got " + std::to_string(c.extent(1)[1]) + ", " +
                           std::to_string(c.extent(2)[1]) + " and " + std::to_string(c.extent(3)[1]));
  if (slopes[0] != c.extent(3)[0])
    throw invalid_argument("# elements of backprop_val_grad and # rows of sum_indices should match (#nnz of sum): got " +
                           std::to_string(slopes[0]) + " and " + std::to_string(c.extent(3)[0]));
  const auto sums = c.numbers(3);
  for (const int k : {1, 2}) {
    const auto indices = c.numbers(k);
    tensor_value made = filled_number(c.type(0), shapes::vector_of(c.extent(k)[0]), 0);
    with_number(made.type(), [&]<class T>(T) {
      const auto from = std::as_const(c.input(0)).template values<T>();
      const auto to = made.values<T>();
      std::size_t at = 0;
      for (std::size_t i = 0; i < to.size(); ++i) {
        const std::int64_t* const index = indices.data() + i * width;
        while (at < from.size() && compare_indices(sums.data() + at * width, index, width) < 0) ++at;
        if (at < from.size() && compare_indices(sums.data() + at * width, index, width) == 0) to[i] = from[at];
      }
    });
    c.set(k - 1, std::move(made));
  }
}

inline void run_sparse_dense_add(kernel_context& c) {
  const sparse_parts a(c, 0, 1, 2);
  tensor_value made = c.input(3);
  const shape s = made.extent();
  if (a.rank != static_cast<std::size_t>(s.rank))
    throw invalid_argument("Two operands have different ranks; received: " + std::to_string(a.rank) + " and " + std::to_string(s.rank));
  for (int d = 0; d < s.rank; ++d)
    if (a.sizes[static_cast<std::size_t>(d)] != s[d])
      throw invalid_argument("Dimension " + std::to_string(d) + " does not equal (no broadcasting is supported): sparse side " +
                             std::to_string(a.sizes[static_cast<std::size_t>(d)]) + " vs dense side " + std::to_string(s[d]));
  made = made.copy();
  const auto strides = strides_of(s);
  with_number(made.type(), [&]<class T>(T) {
    for (std::size_t k = 0; k < a.count; ++k) {
      std::int64_t at = 0;
      for (int d = 0; d < s.rank; ++d) {
        const std::int64_t i = a.index(k)[d];
        if (i < 0 || i >= s[d])
          throw invalid_argument("Sparse tensor has an invalid index on dimension " + std::to_string(d) + ": a_indices(" +
                                 std::to_string(k) + "," + std::to_string(d) + ") = " + std::to_string(i) +
                                 ", dense tensor shape: " + brackets(s));
        at += i * strides[static_cast<std::size_t>(d)];
      }
      T& to = made.values<T>()[static_cast<std::size_t>(at)];
      to = arithmetic<T>::add(to, a.values.values<T>()[k]);
    }
  });
  c.set(0, std::move(made));
}

struct added_value {
  template <class T>
  static T of(T a, T b) {
    return arithmetic<T>::add(a, b);
  }
};
struct multiplied_value {
  template <class T>
  static T of(T a, T b) {
    return arithmetic<T>::multiply(a, b);
  }
};
struct divided_value {
  template <class T>
  static T of(T a, T b) {
    if constexpr (!std::is_floating_point_v<T>)
      if (b == T(0)) throw invalid_argument("Integer division by zero");
    return arithmetic<T>::divide(a, b);
  }
};
/// Combines each value with the array's element at its place; the array broadcasts to the sparse tensor's shape.
template <class Combine>
void run_with_dense(kernel_context& c) {
  const sparse_parts x(c, 0, 1, 2);
  const tensor_value dense = c.input(3);
  const shape& s = dense.extent();
  const auto rank = static_cast<std::size_t>(s.rank);
  bool fits = rank <= x.rank;
  for (std::size_t d = 0; fits && d < rank; ++d) {
    const std::int64_t size = s[static_cast<int>(d)];
    fits = size == 1 || size == x.sizes[x.rank - rank + d];
  }
  if (!fits)
    throw invalid_argument("SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible shapes: " +
                           brackets(shape_from(x.sizes)) + " vs. " + brackets(s));
  const auto strides = strides_of(s);
  tensor_value made(x.values.type(), x.values.extent());
  with_number(made.type(), [&]<class T>(T) {
    for (std::size_t k = 0; k < x.count; ++k) {
      std::int64_t at = 0;
      for (std::size_t d = 0; d < x.rank; ++d) {
        const std::int64_t i = x.index(k)[d];
        if (i < 0 || i >= x.sizes[d])
          throw invalid_argument("Provided indices are out-of-bounds w.r.t. dense side with broadcasted shape");
        if (d >= x.rank - rank && s[static_cast<int>(d - (x.rank - rank))] != 1) at += i * strides[d - (x.rank - rank)];
      }
      made.values<T>()[k] = Combine::of(x.values.values<T>()[k], dense.values<T>()[static_cast<std::size_t>(at)]);
    }
  });
  c.set(0, std::move(made));
}

LEAT_FILL(fill_sparse_value_kernels) {
  register_kernel("SparseAdd", run_sparse_add);
  register_kernel("SparseAddGrad", run_sparse_add_grad);
  register_kernel("SparseSparseMaximum", run_sparse_extremum<true>);
  register_kernel("SparseSparseMinimum", run_sparse_extremum<false>);
  register_kernel("SparseTensorDenseAdd", run_sparse_dense_add);
  register_kernel("SparseDenseCwiseAdd", run_with_dense<added_value>);
  register_kernel("SparseDenseCwiseMul", run_with_dense<multiplied_value>);
  register_kernel("SparseDenseCwiseDiv", run_with_dense<divided_value>);
}

}  // namespace leat::runtime
